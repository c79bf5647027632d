"""Makes batches.csv: 150 batches of cheese that do not exist, drawn from the model below with a fixed seed.

    mastitis     yes in 15% of the herds
    raw_milk     contaminated with probability 60% where there is mastitis, 10% elsewhere
    heating      full in 92% of the batches, short in the others
    storage      degrees: normal, mean 6, standard deviation 2, at least 1
    cheese       contaminated with probability 2% after full heating of contaminated milk, 50% after short heating;
                 from clean milk 0.5%, times 3 for storage above 8 degrees in every case (at most 90%)
    test         positive in 85% of contaminated cheeses, in 2% of the others; made for half of the batches

Whether milk and cheese are contaminated is known for one batch in five: a culture takes a week. Run it in this folder:
python make_batches.py
"""

import csv
import random

choose = random.Random(7)


def happens(probability: float) -> bool:
    return choose.random() < probability


def batch(number: int) -> list[object]:
    mastitis = happens(0.15)
    raw_milk = happens(0.6 if mastitis else 0.1)
    full = happens(0.92)
    storage = round(max(1.0, choose.gauss(6, 2)), 1)
    risk = (0.02 if full else 0.5) if raw_milk else 0.005
    cheese = happens(min(0.9, 3 * risk) if storage >= 8 else risk)
    test = "positive" if happens(0.85 if cheese else 0.02) else "negative"
    cultured, tested = happens(0.2), happens(0.5)
    states = ["contaminated" if each else "clean" for each in (raw_milk, cheese)]
    return [
        f"b{number:03d}",
        "yes" if mastitis else "no",
        states[0] if cultured else "",
        "full" if full else "short",
        storage,
        states[1] if cultured else "",
        test if tested else "",
    ]


with open("batches.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["batch", "mastitis", "raw_milk", "heating", "storage", "cheese", "test"])
    writer.writerows(batch(number) for number in range(1, 151))
