"""Makes inspections.csv: 180 inspections of bearings that do not exist, drawn from the model below with a fixed seed.

    years        uniform from 0 to 20
    load         high in 35% of the turbines
    grease       old in 30%
    wear         severe with probability 2% + 1.5% a year, + 12% with high load, + 15% with old grease
    vibration    normal, mean 2.5 millimetres a second without severe wear, 4.5 with it, standard deviation 1
    particles    found with probability 10% without severe wear, 70% with it; looked for in 60% of the inspections
    failure      within a year, with probability 2% without severe wear, 40% with it

Wear is known where the bearing was opened: one inspection in six. Run it in this folder: python make_inspections.py
"""

import csv
import random

choose = random.Random(21)


def happens(probability: float) -> bool:
    return choose.random() < probability


def inspection(number: int) -> list[object]:
    years, high, old = round(choose.uniform(0, 20), 1), happens(0.35), happens(0.3)
    severe = happens(0.02 + 0.015 * years + 0.12 * high + 0.15 * old)
    vibration = round(max(0.3, choose.gauss(4.5 if severe else 2.5, 1)), 1)
    particles = "found" if happens(0.7 if severe else 0.1) else "none"
    failure = "yes" if happens(0.4 if severe else 0.02) else "no"
    wear = ("severe" if severe else "mild") if happens(1 / 6) else ""
    looked = particles if happens(0.6) else ""
    return [
        f"t{number:03d}",
        years,
        "high" if high else "low",
        "old" if old else "new",
        wear,
        vibration,
        looked,
        failure,
    ]


with open("inspections.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["turbine", "years", "load", "grease", "wear", "vibration", "particles", "failure"])
    writer.writerows(inspection(number) for number in range(1, 181))
