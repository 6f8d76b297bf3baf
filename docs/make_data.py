"""Write the made-up tables that the site's first pages use: ``python docs/make_data.py``.

``applicants.csv`` is ready to be audited; ``exported.csv`` has the same people as a system might export them: answers in words, scores in
percent, ages in years, gaps and groups in several spellings, and training rows among them. ``tidy.py``, beside them, makes the one like the
other. ``photos.csv`` has tags of images, several in one field, which ``tags.py`` makes columns of 1 and 0.
"""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).parent / "_static" / "data"
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
# A second model sees skill better and does not see the group; it invites as many as were invited.
blind = 1.3 * (0.9 * skill + 0.3 * rng.normal(size=N)) + np.where(department == "technical", 0.35, -0.35)
years = np.where(age == "under 40", rng.integers(19, 40, N), rng.integers(40, 66, N))
gaps = {name: rng.choice(N, many, replace=False) for name, many in (("gender", 40), ("department", 25), ("score", 30))}
part = rng.choice(["train", "test"], N, p=[0.25, 0.75])


def write(name: str, columns: dict[str, Any]) -> None:
    """Columns as a CSV file."""
    with (FOLDER / name).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*(column.tolist() for column in columns.values()), strict=True))


ready = {
    "id": np.arange(1, N + 1),
    "gender": gender,
    "age": age,
    "department": department,
    "invited": invited.astype(int),
    "score": score,
    "model": (score >= 0.5).astype(int),
    "model_b": (blind >= np.quantile(blind, 1 - invited.mean())).astype(int),
}
write("applicants.csv", ready)
exported = {name: column.astype(object) for name, column in ready.items()} | {"age": years.astype(object)}
for name in ("invited", "model", "model_b"):
    exported[name] = np.where(ready[name] == 1, "yes", "no").astype(object)
exported["score"] = (100 * score).round(2).astype(object)
for (name, places), gap in zip(gaps.items(), ("", "unknown", "n/a"), strict=True):
    exported[name][places] = gap
exported["part"] = part
for name, spelled in (("F", "woman"), ("Woman ", "woman"), ("M", "man")):
    exported["gender"][rng.choice(np.flatnonzero(exported["gender"] == spelled), 60, replace=False)] = name
write("exported.csv", exported)

PHOTOS = 1200
tags = np.array(["child", "cup", "phone", "tie"])
who = rng.choice(["woman", "man"], PHOTOS, p=[0.45, 0.55])
share = np.where((who == "woman")[:, None], [0.35, 0.3, 0.4, 0.1], [0.2, 0.3, 0.4, 0.3])
seen = rng.random((PHOTOS, len(tags))) < share
# The model goes by who is in the picture where it cannot see.
found = np.where(rng.random(seen.shape) < 0.2, rng.random(seen.shape) < 2 * share - share.mean(axis=0), seen)
photos = {"image": np.array([f"{i:04d}.jpg" for i in range(1, PHOTOS + 1)]), "person": who}
for name, held in (("tags", seen), ("model tags", found)):
    photos[name] = np.array(["|".join(tags[row]) for row in held])
write("photos.csv", photos)
