"""Makes patients.csv: 220 patients who never existed, drawn from the model below with a fixed seed.

    age          normal, mean 56, standard deviation 13, between 28 and 86
    smoker       yes with probability 30%
    pressure     normal, mean 100 + 0.6 age + 6 if a smoker, standard deviation 13 (mmHg, systolic)
    disease      yes with probability 1 / (1 + exp(-x)), where
                 x = -2.2 + 0.06 (age - 50) + 1.1 if a smoker + 0.04 (pressure - 130)
    ecg          abnormal in 65% of those with the disease, in 12% of those without (exercise ECG)

One pressure in ten and one ECG in ten are missing, whatever their values.
Run it in this folder: python make_patients.py
"""

import csv
import math
import random

choose = random.Random(54)


def patient(number: int) -> list[object]:
    age = min(86, max(28, round(choose.gauss(56, 13))))
    smoker = choose.random() < 0.3
    pressure = round(2 * choose.gauss(100 + 0.6 * age + 6 * smoker, 13)) / 2
    risk = 1 / (1 + math.exp(2.2 - 0.06 * (age - 50) - 1.1 * smoker - 0.04 * (pressure - 130)))
    disease = choose.random() < risk
    abnormal = choose.random() < (0.65 if disease else 0.12)
    return [
        f"p{number:03}",
        age,
        "yes" if smoker else "no",
        "" if choose.random() < 0.1 else pressure,
        int(disease),
        "" if choose.random() < 0.1 else ("abnormal" if abnormal else "normal"),
    ]


with open("patients.csv", "w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["id", "age", "smoker", "pressure", "disease", "ecg"])
    writer.writerows(patient(number) for number in range(1, 221))
