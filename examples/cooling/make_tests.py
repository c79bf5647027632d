"""Makes tests.csv: 180 tests of a cooling system that does not exist, drawn from the model below with a fixed seed.

    grid, diesel, pump_a, pump_b, valve     fail with probability 12%, 15%, 10%, 10% and 6%, on their own
    power                                   fails in 98% of the tests in which grid and diesel do, else never
    pumps                                   fail in 95% of the tests in which both pumps do, else never
    cooling                                 brought down by lost power in 97% of the cases, by the pumps in 95%, by the
                                            valve in 60%, each on its own, and by anything else in 1%

Run it in this folder: python make_tests.py
"""

import csv
import random

choose = random.Random(7)
LIKELY = {"grid": 0.12, "diesel": 0.15, "pump_a": 0.10, "pump_b": 0.10, "valve": 0.06}


def happens(probability: float) -> bool:
    return choose.random() < probability


def test() -> list[str]:
    failed = {name: happens(probability) for name, probability in LIKELY.items()}
    failed["power"] = failed["grid"] and failed["diesel"] and happens(0.98)
    failed["pumps"] = failed["pump_a"] and failed["pump_b"] and happens(0.95)
    causes = (("power", 0.97), ("pumps", 0.95), ("valve", 0.60))
    failed["cooling"] = any([failed[name] and happens(strength) for name, strength in causes] + [happens(0.01)])
    return ["failed" if failed[name] else "ok" for name in NAMES]


NAMES = [*LIKELY, "power", "pumps", "cooling"]
with open("tests.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(NAMES)
    writer.writerows(test() for _ in range(180))
