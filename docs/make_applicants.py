"""Write the made-up applicants that the site's first pages use: ``python docs/make_applicants.py``."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np

N = 3000
rng = np.random.default_rng(2026)
gender = rng.choice(["woman", "man"], N, p=[0.45, 0.55])
age = rng.choice(["under 40", "40 and over"], N, p=[0.6, 0.4])
department = np.where(rng.random(N) < np.where(gender == "woman", 0.6, 0.35), "care", "technical")
skill = rng.normal(size=N)
lean = np.where(gender == "man", 0.25, -0.25) + np.where(department == "technical", 0.35, -0.35) - 0.75
invited = rng.random(N) < 1 / (1 + np.exp(-(1.3 * skill + lean)))
# The model sees skill through noise, and the lean as it is.
score = 1 / (1 + np.exp(-(0.78 * (0.75 * skill + 0.66 * rng.normal(size=N)) + lean)))
score = score.round(4)
columns = {
    "id": np.arange(1, N + 1),
    "gender": gender,
    "age": age,
    "department": department,
    "invited": invited.astype(int),
    "score": score,
    "model": (score >= 0.5).astype(int),
}
with (Path(__file__).parent / "_static" / "data" / "applicants.csv").open("w", newline="", encoding="utf-8") as file:
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))
