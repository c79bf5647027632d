"""Makes lakes.csv: 160 lakes that do not exist, drawn from the model below with a fixed seed.

    phosphorus   log-normal, median 30 micrograms a litre, factor 2 for one standard deviation
    health       good with probability 92%, 60%, 15% for phosphorus below 20, from 20 to 50, above: nobody sees it
    clarity      normal, mean 3.4 metres in good lakes, 1.6 in poor ones, standard deviation 0.9, at least 0.2
    algae        bloom in 15% of the good lakes, in 70% of the poor ones
    mayflies     present in 80% of the good lakes, in 20% of the poor ones
    pike         present in 70% of the good lakes, in 35% of the poor ones

The column health is not written. One value of pike in ten is missing. Run it in this folder: python make_lakes.py
"""

import csv
import math
import random

choose = random.Random(12)


def present(probability: float) -> str:
    return "present" if choose.random() < probability else "absent"


def lake(number: int) -> list[object]:
    phosphorus = round(30 * math.exp(math.log(2) * choose.gauss(0, 1)), 1)
    good = choose.random() < (0.92 if phosphorus < 20 else 0.6 if phosphorus < 50 else 0.15)
    clarity = round(max(0.2, choose.gauss(3.4 if good else 1.6, 0.9)), 1)
    algae = "bloom" if choose.random() < (0.15 if good else 0.7) else "none"
    mayflies, pike = present(0.8 if good else 0.2), present(0.7 if good else 0.35)
    return [f"lake {number}", phosphorus, clarity, algae, mayflies, "" if choose.random() < 0.1 else pike]


with open("lakes.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["name", "phosphorus", "clarity", "algae", "mayflies", "pike"])
    writer.writerows(lake(number) for number in range(1, 161))
