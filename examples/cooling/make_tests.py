"""Makes tests.csv: 40 inspections of a cooling system that does not exist, drawn with a fixed seed.

Each inspection looked at some of the 15 components and notes whether they had failed; a component that nobody looked
at is an empty cell. The cooling itself was watched in every inspection.

Run it in this folder: python make_tests.py
"""

import csv
import random

choose = random.Random(7)
RATES = {
    "grid": 8e-3, "diesel_a": 1e-2, "diesel_b": 1e-2, "battery_a": 2e-3, "battery_b": 2e-3, "pump_a": 1e-2,
    "pump_b": 1e-2, "pump_c": 1e-2, "valve_a": 1e-3, "valve_b": 1e-3, "filter": 5e-5, "exchanger": 3e-6,
    "sensor_a": 5e-4, "sensor_b": 5e-4, "sensor_c": 5e-4,
}  # fmt: skip
LOOKED_AT = 0.7


def inspection() -> list[str]:
    failed = {name: choose.random() < rate for name, rate in RATES.items()}
    power = failed["grid"] and failed["diesel_a"] and failed["diesel_b"]
    pumping = sum(failed[name] for name in ("pump_a", "pump_b", "pump_c")) >= 2
    water = pumping or (failed["valve_a"] and failed["valve_b"]) or failed["filter"] or failed["exchanger"]
    sensors = sum(failed[name] for name in ("sensor_a", "sensor_b", "sensor_c")) >= 2
    control = sensors or (failed["battery_a"] and failed["battery_b"])
    seen = [("failed" if failed[name] else "ok") if choose.random() < LOOKED_AT else "" for name in RATES]
    return [*seen, "failed" if power or water or control else "ok"]


with open("tests.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow([*RATES, "cooling"])
    writer.writerows(inspection() for _ in range(40))
