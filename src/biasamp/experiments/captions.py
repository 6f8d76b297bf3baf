"""2021 paper, Fig. 3 and Sec. 5.1: captions of six models. Does Equalizer trade T→A for A→T?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .caption_labels import Objects, gender, neutral
from .experiment import REAL, Experiment, Outcome, Row, Setting, interval_of, measured

CAPTIONS = "coco_val2014_captions_6models.parquet"
OBJECTS = "coco_objects_66.csv"
LABELS = ("coco_gender_objects_val.parquet", "coco_gender_objects_test.parquet")
FILES = (CAPTIONS, OBJECTS, *LABELS)
BASELINE = "baseline_ft"
MODELS = (BASELINE, "balanced", "upweight", "confusion", "confident", "equalizer")
RESAMPLES = 200


def read(setting: Setting) -> dict[str, Any]:
    """Images that all six models give a gender for, with true gender and objects and what each caption names."""
    names = [name for name in setting.columns(OBJECTS, ("object",))["object"] if name != "person"]
    truth: dict[int, tuple[str, list[str]]] = {}
    for file in LABELS:
        columns = setting.columns(file, ("image_id", "gender", "objects"))
        truth.update(zip(columns["image_id"], zip(columns["gender"], columns["objects"], strict=True), strict=True))
    captions = setting.columns(CAPTIONS, ("image_id", *MODELS))
    find, wanted = Objects(names), set(names)
    labelled = [i for i, image in enumerate(captions["image_id"]) if image in truth]
    genders = {model: {i: gender(captions[model][i]) for i in labelled} for model in MODELS}
    common = [i for i in labelled if all(genders[model][i] is not None for model in MODELS)]
    out: dict[str, Any] = {
        "names": names,
        "labelled": len(labelled),
        "gendered": {model: sum(found is not None for found in genders[model].values()) for model in MODELS},
        "A": np.array([truth[captions["image_id"][i]][0] for i in common]),
        "T": matrix([[o for o in truth[captions["image_id"][i]][1] if o in wanted] for i in common], names),
    }
    for model in MODELS:
        out[model, "A"] = np.array([genders[model][i] for i in common])
        texts = [captions[model][i] for i in common]
        out[model, "T"] = matrix([find.named(text) for text in texts], names)
        out[model, "neutral"] = sum(gender(neutral(text)) is not None for text in texts)
        out[model, "same objects"] = [find.named(neutral(text)) for text in texts] == [
            find.named(text) for text in texts
        ]
    return out


def matrix(lists: list[list[str]], names: list[str]) -> Any:
    """Lists of objects as a 0/1 matrix, a column an object."""
    place = {name: i for i, name in enumerate(names)}
    out = np.zeros((len(lists), len(names)), dtype=np.uint8)
    for row, held in enumerate(lists):
        out[row, [place[name] for name in held]] = 1
    return out


def metrics(data: dict[str, Any], model: str) -> dict[str, Any]:
    """A→T, T→A and MALS of one model."""
    import biasamp

    a, t = data["A"], data["T"]
    return {
        "A→T": biasamp.directional(a, t, data[model, "T"]),
        "T→A": biasamp.directional(t, a, data[model, "A"]),
        "MALS": biasamp.mals(a, t, data[model, "A"], data[model, "T"]),
    }


def paired(data: dict[str, Any], metric: str, model: str, seed: int) -> tuple[float, float, float]:
    """Difference from the baseline with a 95% interval: the same resampled images for both models."""
    rng = np.random.default_rng([seed, 4])
    count = len(data["A"])
    draws = []
    for _ in range(RESAMPLES):
        rows = rng.integers(0, count, count)
        draws.append(_change(data, metric, model, rows))
    low, high = np.quantile(draws, [0.025, 0.975])
    return _change(data, metric, model, np.arange(count)), float(low), float(high)


def _change(data: dict[str, Any], metric: str, model: str, rows: Any) -> float:
    import warnings

    import biasamp

    a, t = data["A"][rows], data["T"][rows]
    values = []
    with warnings.catch_warnings():
        # A rare object may be missing from a resample; its pairs are then undefined there.
        warnings.simplefilter("ignore", UserWarning)
        for name in (model, BASELINE):
            a_hat, t_hat = data[name, "A"][rows], data[name, "T"][rows]
            if metric == "A→T":
                values.append(biasamp.directional(a, t, t_hat).value)
            elif metric == "T→A":
                values.append(biasamp.directional(t, a, a_hat).value)
            else:
                values.append(biasamp.mals(a, t, a_hat, t_hat).value)
    return values[0] - values[1]
