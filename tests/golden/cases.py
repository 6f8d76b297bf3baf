"""The cases whose figures version 0.1 gave: each a function of the public interface that returns a document.

``CASES`` holds them by name. A case says what may move in its document (see ``comparing``) and whether it needs the folder
of real data. Cases of files read those in ``saved``, which version 0.1 wrote.
"""

from __future__ import annotations

import base64
import contextlib
import gzip
import io
import json
import os
import re
import subprocess
import sys
import tempfile
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from golden.comparing import COUNTED, EVERYTHING, GAPS, NOTHING, RECORDS, Moves, shortened

SAVED = Path(__file__).parent / "saved"


@dataclass(frozen=True)
class Case:
    """One document, and how it is compared."""

    name: str
    make: Callable[[], Any]
    moves: Moves
    needs_data: bool

    def document(self) -> Any:
        """The document in plain values, with long lists cut."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = self.make()
        return json.loads(json.dumps(shortened(made, self.moves), allow_nan=False))


CASES: dict[str, Case] = {}


def case(moves: Moves = NOTHING, *, data: bool = False) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register a case under its function's name."""

    def register(make: Callable[[], Any]) -> Callable[[], Any]:
        CASES[make.__name__] = Case(make.__name__, make, moves, data)
        return make

    return register


# --- data ------------------------------------------------------------------------------------------------------------

TASKS = 12


@cache
def people(n: int = 2400, seed: int = 1) -> dict[str, Any]:
    """Made records: two attributes, twelve yes/no tasks, a categorical one, predictions of all, scores, clusters, weights."""
    rng = np.random.default_rng(seed)
    woman = rng.random(n) < 0.45
    age = np.searchsorted([0.3, 0.8], rng.random(n))
    person = rng.integers(0, n // 3, n)
    out: dict[str, Any] = {
        "id": np.arange(n) * 7 + 3,
        "gender": np.where(woman, "w", "m"),
        "gender_said": np.where(rng.random(n) < 0.12, np.where(woman, "m", "w"), np.where(woman, "w", "m")),
        "age": np.array(["young", "middle", "old"])[age],
        "age_said": np.array(["young", "middle", "old"])[np.where(rng.random(n) < 0.2, (age + 1) % 3, age)],
        "person": person,
        "weight": np.round(0.5 + 1.5 * rng.random(n), 2),
    }
    mood = rng.random(n // 3)[person]  # what records of one person share
    for k in range(TASKS):
        chance = 0.08 + 0.05 * k + (0.15 if k % 2 else -0.06) * woman + 0.03 * (age == 2) * (k % 3) + 0.1 * (mood - 0.5)
        truth = rng.random(n) < chance
        score = np.clip(0.5 * truth + 0.3 * rng.random(n) + 0.08 * woman * (1 if k % 2 else -1) + 0.05, 0.0, 1.0)
        out[f"t{k}"] = truth.astype(np.int64)
        out[f"p{k}"] = np.where(rng.random(n) < 0.1, woman if k % 2 else ~woman, truth).astype(np.int64)
        out[f"s{k}"] = np.round(score, 3)
    job = np.searchsorted([0.3, 0.55, 0.85], rng.random(n) + 0.1 * woman)
    jobs = np.array(["nurse", "driver", "cook", "clerk"])
    out["job"] = jobs[job]
    out["job_said"] = jobs[np.where(rng.random(n) < 0.15, np.where(woman, 0, 1), job)]
    return out


def names(letter: str, count: int = TASKS) -> list[str]:
    return [f"{letter}{k}" for k in range(count)]


def rows(data: dict[str, Any], first: int, last: int) -> dict[str, Any]:
    return {name: values[first:last] for name, values in data.items()}


ONE: dict[str, Any] = {"attributes": "gender", "tasks": "job", "task_predictions": "job_said", "record": "id"}
MANY: dict[str, Any] = {
    "attributes": ["gender", "age"],
    "tasks": names("t"),
    "attribute_predictions": ["gender_said", "age_said"],
    "task_predictions": names("p"),
    "record": "id",
}
FEW: dict[str, Any] = {
    "attributes": "gender",
    "tasks": names("t", 4),
    "attribute_predictions": "gender_said",
    "task_predictions": names("p", 4),
    "record": "id",
}
CHEAP = ["directional", "multi", "mals", "parity"]


def gappy() -> dict[str, Any]:
    """The people with labels missing here and there."""
    rng = np.random.default_rng(5)
    out = dict(people())
    for name in ("gender", "job", "job_said"):
        out[name] = np.where(rng.random(len(out["id"])) < 0.03, None, out[name].astype(object))
    for name in ("t0", "t1", "p1"):
        out[name] = np.where(rng.random(len(out["id"])) < 0.03, np.nan, out[name].astype(float))
    return out


# Where counts of version 0.1 did not measure what records gave: without clusters' intervals, not with weights, and over
# complete records alone.
UNLIKE_COUNTS = {"audit_clustered": {"multi"}, "audit_weighted": {"multi"}, "audit_drop": {"multi"}}

# Audits of records in memory, by name: data, arguments, what may move. They are also audited through counts, by which
# the bounds on what may move were chosen.
AUDITS: dict[str, tuple[Callable[[], dict[str, Any]], dict[str, Any], Moves]] = {
    "audit_categorical": (people, {**ONE, "attribute_predictions": "gender_said"}, RECORDS),
    "audit_many": (people, {**MANY, "metrics": CHEAP}, RECORDS),
    "audit_intersections": (
        people,
        {**MANY, "tasks": names("t", 3), "task_predictions": names("p", 3), "metrics": CHEAP, "intersections": True},
        RECORDS,
    ),
    "audit_clustered": (people, {**FEW, "cluster": "person", "metrics": CHEAP}, EVERYTHING),
    "audit_weighted": (people, {**FEW, "weights": "weight", "metrics": CHEAP}, GAPS),
    "audit_weighted_clustered": (people, {**ONE, "weights": "weight", "cluster": "person"}, EVERYTHING),
    "audit_drop": (gappy, {**FEW, "missing": "drop", "metrics": CHEAP}, GAPS),
    # Without MALS: version 0.1's resamples of records without an attribute were wrong, and its interval missed its value.
    "audit_negative": (gappy, {**FEW, "missing": "negative", "metrics": ["directional", "multi", "parity"]}, GAPS),
    "audit_drop_categorical": (gappy, {**ONE, "missing": "drop", "metrics": CHEAP}, GAPS),
    "audit_train": (people, {**FEW, "train": people(3000, 2), "metrics": CHEAP}, RECORDS),
    "audit_base_records": (people, {**ONE, "base": people(1500, 3), "metrics": CHEAP}, RECORDS),
    "audit_other_settings": (
        people,
        {
            **FEW,
            "metrics": ["directional", "multi"],
            "confidence": 0.9,
            "resamples": 1500,
            "seed": 7,
            "min_group": 1200,
        },
        RECORDS,
    ),
    "audit_no_ids": (people, {**FEW, "record": None, "metrics": CHEAP}, RECORDS),
}


def _register_audits() -> None:
    for name, (data, arguments, moves) in AUDITS.items():
        CASES[name] = Case(name, lambda d=data, a=arguments: biasamp.audit(d(), **a).to_dict(), moves, False)


_register_audits()


@case(GAPS)
def audit_soft() -> Any:
    """Scores as predictions, which are swept over thresholds too."""
    return biasamp.audit(people(), **{**FEW, "task_predictions": names("s", 4)}, metrics=CHEAP).to_dict()


@case(GAPS)
def audit_soft_one() -> Any:
    """One yes/no task with scores, all metrics."""
    arguments = {"attributes": "gender", "tasks": "t5", "task_predictions": "s5"}
    return biasamp.audit(people(), **arguments).to_dict()


@case(RECORDS)
def audit_base_table() -> Any:
    """Base rates as a table of counts."""
    base = {
        "attribute": ["m"] * 4 + ["w"] * 4,
        "task": ["nurse", "driver", "cook", "clerk"] * 2,
        "count": [10, 40, 30, 20, 30, 15, 35, 20],
    }
    return biasamp.audit(people(), **ONE, base=base, metrics=["directional", "parity"]).to_dict()


@case(RECORDS)
def audit_binary_and_flat() -> Any:
    """One yes/no task as a variable of two values and as a yes/no label; figures as trackers take them; tables."""
    arguments = {"attributes": "gender", "task_predictions": "p3", "metrics": CHEAP}
    as_variable = biasamp.audit(people(), tasks="t3", **arguments)
    as_label = biasamp.audit(people(), tasks=biasamp.binary("t3"), **arguments)
    flat = as_variable.to_dict(flat=True)
    return {
        "variable": as_variable.to_dict(),
        "label": as_label.to_dict(),
        "flat names": dict.fromkeys(flat, True),
        "columns": {
            name: dict.fromkeys(getattr(as_variable, name).columns, True) for name in ("metrics", "pairs", "excluded")
        },
    }


@case(RECORDS)
def audit_label_sets() -> Any:
    """Label sets in a column of lists, of which some are empty."""
    import pyarrow as pa

    data = people()
    sets = {
        name: [
            [f"thing {k}" for k in range(8) if on[k]]
            for on in np.column_stack([data[f"{letter}{k}"] for k in range(8)])
        ]
        for name, letter in (("things", "t"), ("named", "p"))
    }
    table = pa.table({"gender": data["gender"], "id": data["id"], **sets})
    return biasamp.audit(
        table, attributes="gender", tasks="things", task_predictions="named", record="id", metrics=CHEAP
    ).to_dict()


@case(RECORDS)
def audit_tiny() -> Any:
    """Sixty records, with a group of four and a task that never occurs."""
    data = rows(people(), 0, 60)
    data["gender"] = np.where(np.arange(60) % 15 == 0, "x", data["gender"])
    data["t0"] = np.zeros(60, dtype=np.int64)
    return biasamp.audit(
        data,
        attributes="gender",
        tasks=names("t", 2),
        task_predictions=names("p", 2),
        metrics=["directional", "parity"],
    ).to_dict()


# --- counted audits: bags gave their intervals already ---------------------------------------------------------------


def _counted(roles: dict[str, Any], train: bool = False) -> Any:
    """Counts of three parts, added up."""
    data, arguments = people(), dict(roles)
    if train:
        arguments["train"] = people(3000, 2)
    first = biasamp.count(rows(data, 0, 900), **arguments)
    rest = [biasamp.count(rows(data, a, b), **arguments, labels=first) for a, b in ((900, 1000), (1000, 2400))]
    return first + rest[0] + rest[1]


@case(COUNTED)
def counted() -> Any:
    counts = _counted(FEW)
    return {"counts": counts.to_dict(), "audit": biasamp.audit(counts, metrics=CHEAP).to_dict()}


@case(COUNTED)
def counted_categorical() -> Any:
    counts = _counted({**ONE, "attribute_predictions": "gender_said"})
    return {"counts": counts.to_dict(), "audit": biasamp.audit(counts).to_dict()}


@case(EVERYTHING)
def counted_clustered() -> Any:
    """Clusters must not be cut apart: one part."""
    counts = biasamp.count(people(), **FEW, cluster="person")
    document = biasamp.audit(counts, metrics=CHEAP).to_dict()
    for entry in document["metrics"]:
        # Version 0.1 gave the pairs of itemsets the errors of single records: its counts could not tell clusters apart.
        if entry["metric"] == "multi":
            del entry["pairs"]
    return {"counts": counts.to_dict(), "audit": document}


@case(COUNTED)
def counted_weighted_intersections() -> Any:
    roles = {**MANY, "tasks": names("t", 2), "task_predictions": names("p", 2)}
    counts = _counted({**roles, "weights": "weight", "intersections": True})
    return {"counts": counts.to_dict(), "audit": biasamp.audit(counts, metrics=CHEAP).to_dict()}


@case(COUNTED)
def counted_train() -> Any:
    counts = biasamp.count(people(), **FEW, train=people(3000, 2))
    return {"counts": counts.to_dict(), "audit": biasamp.audit(counts, metrics=CHEAP).to_dict()}


# --- functions -------------------------------------------------------------------------------------------------------


def interval(made: Any) -> dict[str, Any]:
    return {
        "interval": [made.low, made.high],
        "level": made.level,
        "method": made.method,
        "varies": made.varies,
        "standard_error": made.standard_error,
        "cautions": list(made.cautions),
    }


def matrix(letter: str, count: int = TASKS) -> Any:
    data = people()
    return np.column_stack([data[f"{letter}{k}"] for k in range(count)])


def table(made: Any) -> list[dict[str, Any]]:
    """The rows of a table: null for what is not a number, text for limits."""

    def plain(value: Any) -> Any:
        if isinstance(value, float) and not np.isfinite(value):
            return None if np.isnan(value) else str(value)
        return value

    return [{name: plain(value) for name, value in row.items()} for row in made.rows()]


@case(RECORDS)
def directional() -> Any:
    data = people()
    given, truth, said = data["gender"], matrix("t"), matrix("p")
    plain = biasamp.directional(given, truth, said)
    few = biasamp.directional(given, truth[:, :3], said[:, :3])
    train = people(3000, 2)
    trained = (train["gender"], np.column_stack([train[f"t{k}"] for k in range(3)]))
    return {
        "plugin": plain.to_dict(),
        "crossfit": biasamp.directional(given, truth, said, signs="crossfit").to_dict(most_pairs=5),
        "ties": biasamp.directional(["a", "a", "b", "b"], [1, 0, 1, 0], [1, 1, 1, 0], ties="negative").to_dict(),
        "ties zero": biasamp.directional(["a", "a", "b", "b"], [1, 0, 1, 0], [1, 1, 1, 0]).to_dict(),
        "towards attributes": biasamp.directional(truth, given, data["gender_said"]).to_dict(),
        "categorical": biasamp.directional(data["age"], data["job"], data["job_said"]).to_dict(),
        "weighted": biasamp.directional(given, data["job"], data["job_said"], weights=data["weight"]).to_dict(),
        "train": biasamp.directional(given, truth[:, :3], said[:, :3], train=trained).to_dict(),
        "base": biasamp.directional(
            given, data["job"], data["job_said"], base="uniform", direction=(given, data["job"])
        ).to_dict(),
        "direction": biasamp.directional(given, truth[:, :3], said[:, :3], direction=trained).to_dict(),
        "soft": biasamp.directional(given, truth[:, :3], matrix("s", 3)).to_dict(),
        "intervals": {
            **{
                method: interval(few.confidence_interval(method=method))
                for method in ("bootstrap", "bca", "closed_form")
            },
            "of crossfit": interval(few.confidence_interval(of="crossfit")),
            "of clear value": interval(few.confidence_interval(of="clear_value")),
            "level": interval(few.confidence_interval(0.8, seed=3)),
        },
        "flat": dict.fromkeys(few.to_dict(flat=True), True),
    }


@case(EVERYTHING)
def directional_clustered() -> Any:
    data = people()
    made = biasamp.directional(data["gender"], matrix("t", 4), matrix("p", 4), cluster=data["person"])
    return {
        "result": made.to_dict(),
        **{method: interval(made.confidence_interval(method=method)) for method in ("bootstrap", "closed_form")},
    }


@case(RECORDS)
def multi() -> Any:
    data = people()
    given, truth, said = data["gender"], matrix("t", 4), matrix("p", 4)
    train = people(3000, 2)
    trained = (train["gender"], np.column_stack([train[f"t{k}"] for k in range(4)]))
    return {
        "records": biasamp.multi(given, truth, said).to_dict(),
        "subsets": biasamp.multi(given, truth, said, itemsets="subsets").to_dict(),
        "sizes": biasamp.multi(
            given, truth, said, itemsets="subsets", min_size=2, max_size=3, min_support=20
        ).to_dict(),
        "support": biasamp.multi(given, truth, said, min_support=40).to_dict(),
        "train": biasamp.multi(given, truth, said, train=trained, min_support=10).to_dict(),
        "weighted": biasamp.multi(given, truth, said, weights=data["weight"], min_support=20).to_dict(),
        "categorical": biasamp.multi(data["age"], data["job"], data["job_said"]).to_dict(),
    }


@case(EVERYTHING)
def multi_clustered() -> Any:
    data = people()
    return biasamp.multi(data["gender"], matrix("t", 3), matrix("p", 3), cluster=data["person"]).to_dict()


@case(RECORDS)
def mals() -> Any:
    data = people()
    labels = (data["gender"], matrix("t", 5), data["gender_said"], matrix("p", 5))
    train = people(3000, 2)
    trained = (train["gender"], np.column_stack([train[f"t{k}"] for k in range(5)]))
    return {
        "plain": biasamp.mals(*labels).to_dict(),
        "train": biasamp.mals(None, None, *labels[2:], train=trained).to_dict(),
        "weighted": biasamp.mals(*labels, weights=data["weight"]).to_dict(),
        "three groups": biasamp.mals(data["age"], data["job"], data["age_said"], data["job_said"]).to_dict(),
        "closed form": {"metric": "mals", **interval(biasamp.mals(*labels).confidence_interval(method="closed_form"))},
    }


@case(EVERYTHING)
def mals_clustered() -> Any:
    data = people()
    labels = (data["gender"], matrix("t", 3), data["gender_said"], matrix("p", 3))
    return biasamp.mals(*labels, cluster=data["person"]).to_dict()


@case()
def parity() -> Any:
    data = people()
    return {
        "many": biasamp.parity(data["age"], matrix("t"), matrix("p")).to_dict(),
        "categorical": biasamp.parity(data["gender"], data["job"], data["job_said"]).to_dict(),
        "weighted": biasamp.parity(data["gender"], matrix("t", 3), matrix("p", 3), weights=data["weight"]).to_dict(),
        "soft": biasamp.parity(data["gender"], matrix("t", 3), matrix("s", 3)).to_dict(),
    }


@case()
def classify_errors() -> Any:
    data = people()
    train = people(3000, 2)
    trained = (train["gender"], np.column_stack([train[f"t{k}"] for k in range(6)]))
    runs = {
        "both": biasamp.classify_errors(data["gender"], matrix("t", 6), data["gender_said"], matrix("p", 6)),
        "tasks": biasamp.classify_errors(data["gender"], matrix("t", 6), T_pred=matrix("p", 6), train=trained),
        "categorical": biasamp.classify_errors(data["age"], data["job"], data["age_said"], data["job_said"]),
    }
    return {
        name: {
            "counts": made.counts,
            "task_errors": made.task_errors,
            "attribute_errors": made.attribute_errors,
            "records": made.records,
            "table": table(made.table),
        }
        for name, made in runs.items()
    }


@case()
def predictability() -> Any:
    """DPA and leakage."""
    data = people()
    yes, said = data["t5"], data["p5"]
    return {
        "dpa": biasamp.dpa(data["gender"], yes, said, trials=10).to_dict(resamples=8),
        "dpa in sample": biasamp.dpa(
            data["gender"], yes, said, trials=10, equalize=None, evaluation="in_sample"
        ).to_dict(resamples=8),
        "dpa confusion": biasamp.dpa(
            data["gender"], data["job"], data["job_said"], trials=10, equalize="confusion", quality="f1"
        ).to_dict(resamples=8),
        "leakage": biasamp.leakage(data["gender"], matrix("t", 4), matrix("p", 4), trials=10).to_dict(resamples=8),
        "leakage naive": biasamp.leakage(
            data["gender"],
            matrix("t", 4),
            matrix("p", 4),
            trials=3,
            attacker="naive_bayes",
            quality="balanced_accuracy",
        ).to_dict(resamples=8),
        "leakage logistic": biasamp.leakage(
            data["gender"], matrix("t", 4), matrix("p", 4), trials=2, attacker="logistic", quality="auc", seed=4
        ).to_dict(resamples=3),
        "dpa soft": biasamp.dpa(data["gender"], yes, data["s5"], trials=10).to_dict(resamples=8),
    }


@case(RECORDS)
def thresholds() -> Any:
    """Sweeps and calibration."""
    data = people()
    one = biasamp.sweep(data["s5"], data["gender"], data["t5"])
    weighted = biasamp.sweep(data["s5"], data["gender"], data["t5"], weights=data["weight"], span=(0.1, 0.9))
    many = biasamp.sweep(matrix("s", 3), data["gender"], matrix("t", 3))
    calibrated = biasamp.calibrate(matrix("s", 3), rate=[0.1, 0.2, 0.3])
    return {
        "one": one.to_dict(25),
        "at": one.at(0.4),
        "at rate": one.at_rate(0.3),
        "interval": interval(one.confidence_interval()),
        "weighted": weighted.to_dict(25),
        "many": many.to_dict(25),
        "calibrated": calibrated.to_dict(),
        "one rate": biasamp.calibrate(data["s5"], rate=0.25).to_dict(),
        "positive": calibrated.apply(matrix("s", 3)).sum(axis=0).tolist(),
    }


@case(RECORDS)
def over_runs() -> Any:
    data = people()
    runs = []
    for seed in range(4):
        flip = np.random.default_rng(seed).random(matrix("t", 4).shape) < 0.1
        runs.append(biasamp.directional(data["gender"], matrix("t", 4), np.where(flip, 1, matrix("t", 4))))
    made = biasamp.over_runs(runs)
    return {
        "results": {**made.to_dict(), "sampling_variance": None},
        "standard_error": float(np.sqrt(made.sampling_variance)),
        "pairs": table(made.pairs),
        "numbers": biasamp.over_runs([0.10, 0.12, 0.11, 0.13, 0.09]).to_dict(),
        "normal": biasamp.over_runs([0.10, 0.12, 0.11, 0.13, 0.09]).confidence_interval(method="normal").low,
        "q_values": np.asarray(biasamp.q_values([0.001, 0.2, 0.03, 0.04])).tolist(),
    }


# --- associations ----------------------------------------------------------------------------------------------------


@cache
def pictures(n: int = 1500, seed: int = 4) -> list[list[str]]:
    """Label sets of made images: some with a man, a woman or a child, some with several."""
    rng = np.random.default_rng(seed)
    who = rng.random((n, 3)) < (0.35, 0.3, 0.12)
    lean = rng.random(30)
    things = rng.random((n, 30)) < 0.02 + 0.25 * lean**3 + 0.08 * who[:, :1] * (np.arange(30) % 3 == 0) * lean
    labels = [[name for name, on in zip(("man", "woman", "child"), mine, strict=True) if on] for mine in who]
    return [
        [*people, *(f"thing {k:02d}" for k in np.flatnonzero(on))] for people, on in zip(labels, things, strict=True)
    ]


def long_pictures() -> dict[str, Any]:
    rng = np.random.default_rng(8)
    pairs = [(i, label) for i, labels in enumerate(pictures()) for label in labels]
    return {
        "image": [i for i, _ in pairs],
        "label": [label for _, label in pairs],
        "score": np.round(rng.random(len(pairs)), 3).tolist(),
    }


@case()
def associate() -> Any:
    two = biasamp.associate(pictures(), ["man", "woman"])
    three = biasamp.associate(pictures(), {"man": "man", "woman": "woman", "child": "child"}, metrics=["dp", "npmi_xy"])
    long = biasamp.associate(
        biasamp_table(long_pictures()),
        {"grown": ["man", "woman"], "child": ["child"]},
        record="image",
        label="label",
        score="score",
        threshold=0.3,
        metrics=["npmi_xy", "llr", "t_test"],
        zero="smooth",
        min_count=20,
        correction="by",
    )
    return {
        "two": two.to_dict(),
        "three": three.to_dict(),
        "long": long.to_dict(),
        "drop": biasamp.associate(pictures(), ["man", "woman"], metrics="pmi", zero="drop", min_expected=0).to_dict(),
        "top": table(two.top("npmi_xy", 5, toward="woman")),
        "top of three": table(three.top("dp", 5, toward="child")),
        "top counts": table(two.top_counts(10)),
        "agreement": table(two.agreement(10)),
        "rank changes": table(two.rank_changes("dp", "pmi")),
        "columns": dict.fromkeys(two.table.columns, True),
        "excluded": list(two.excluded),
    }


def biasamp_table(columns: dict[str, Any]) -> Any:
    import pyarrow as pa

    return pa.table(columns)


@case()
def associate_as_printed() -> Any:
    made = biasamp.associate(pictures(), ["man", "woman"], paper_literal=True)
    return {"result": made.to_dict(), "top": {name: table(made.top(name, 3)) for name in made.metrics}}


@case()
def association_counts() -> Any:
    """Labels counted in three parts."""
    long = long_pictures()
    parts = []
    for first, last in ((0, 500), (500, 501), (501, 1500)):
        keep = [first <= i < last for i in long["image"]]
        part = {name: [v for v, on in zip(values, keep, strict=True) if on] for name, values in long.items()}
        parts.append(biasamp.count(biasamp_table(part), identities=["man", "woman"], record="image", label="label"))
    total = parts[0] + parts[1] + parts[2]
    return {"counts": total.to_dict(), "result": biasamp.associate(total, metrics=["dp", "npmi_xy"]).to_dict()}


@case()
def association_tables() -> Any:
    """Changes between two results, slopes of gaps, and the rank of a made-up label."""
    old = biasamp.associate(pictures(), ["man", "woman"])
    new = biasamp.associate(pictures(1200, 6), ["man", "woman"])
    slopes = {
        f"{metric}{' as printed' if literal else ''}": [
            value.item()
            for value in biasamp.orientation(metric, 1000, 0.4, 0.5, 0.1, 0.08, 0.05, paper_literal=literal)
        ]
        for metric in old.metrics
        for literal in (False, True)
    }
    return {
        "change": table(biasamp.association_change(old, new)),
        "change of dp": table(biasamp.association_change(old, new, "dp", toward="woman", level=0.9, correction="by")),
        "orientation": slopes,
        "movement": table(biasamp.movement(old, counts=(10, 100, 500), shares=(0.5, 0.3))),
    }


# --- the command line ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """What a command left behind."""

    code: int
    out: str
    err: str


def run(*arguments: object) -> Ran:
    """Run a command in this process."""
    from biasamp.cli import main

    out, err, before, code = io.StringIO(), io.StringIO(), sys.argv, 0
    with warnings.catch_warnings(), contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        sys.argv = ["biasamp", *map(str, arguments)]
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        finally:
            sys.argv = before
    return Ran(code, out.getvalue(), err.getvalue())


@contextlib.contextmanager
def in_folder() -> Iterator[Path]:
    """A new folder, which the work is done in."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)


def write_csv(path: str, data: dict[str, Any]) -> None:
    import csv

    with open(path, "w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([list(data), *zip(*(np.asarray(v).tolist() for v in data.values()), strict=True)])


def page_document(path: str) -> Any:
    """The document inside a page."""
    text = Path(path).read_text(encoding="utf-8")
    found = re.search(r'<script type="application/octet-stream" id="document">\s*([^<]+?)\s*</script>', text)
    assert found is not None, "the page holds no document"
    return json.loads(gzip.decompress(base64.b64decode(found[1])))


@case(RECORDS)
def demo() -> Any:
    with in_folder():
        ran = run("demo", "--folder", "made", "--json", "-")
        return {
            "code": ran.code,
            "audit": json.loads(ran.out),
            "files": sorted(path.name for path in Path("made").iterdir()),
            "file": {"schema": json.loads(Path("made/audit.json").read_text(encoding="utf-8"))["schema"]},
        }


def amplified(said: float, n: int = 400) -> dict[str, Any]:
    """Two groups, rates .7 and .3; a share ``said`` of the women without the task get it predicted."""
    group = np.repeat(["w", "m"], n // 2)
    truth = np.r_[np.arange(n // 2) % 10 < 7, np.arange(n // 2) % 10 < 3].astype(int)
    predicted = truth.copy()
    without = np.flatnonzero((group == "w") & (truth == 0))
    predicted[without[: round(said * len(without))]] = 1
    return {"g": group, "t": truth, "p": predicted}


_POLICY = '[data]\nattributes = "g"\ntasks = "t"\ntask_predictions = "p"\nmetrics = ["directional", "parity"]\n'


@case(EVERYTHING)
def check() -> Any:
    """Verdicts by JSON, Markdown and JUnit, with their exit codes."""
    out: dict[str, Any] = {}
    limits = {
        "pass": "max = 0.3",
        "fail": "max = 0.01",
        "untold": "max = 0.075",
        "mistake": "max = 7",
        "pairs": "max = 0.2\npairs = true",
    }
    with in_folder():
        write_csv("new.csv", amplified(0.5))
        write_csv("old.csv", amplified(0.0))
        for name, limit in limits.items():
            Path("policy.toml").write_text(f"{_POLICY}\n[[limit]]\nmetric = 'directional'\n{limit}\n", encoding="utf-8")
            files = ("--json", "v.json", "--junit", "v.xml", "--markdown", "v.md")
            ran = run("check", "new.csv", "--policy", "policy.toml", *files)
            out[name] = {"code": ran.code}
            if Path("v.json").exists():
                out[name] |= {
                    "verdict": json.loads(Path("v.json").read_text(encoding="utf-8")),
                    "junit": _junit(Path("v.xml").read_text(encoding="utf-8")),
                    "markdown": _markdown(Path("v.md").read_text(encoding="utf-8")),
                }
                for file in files[1::2]:
                    Path(file).unlink()
        # Against a baseline, and a policy made for the data.
        roles = ("--attributes", "g", "--tasks", "t", "--task-predictions", "p")
        for name in ("old", "new"):
            out[f"audit {name}"] = {"code": run("audit", f"{name}.csv", *roles, "--save", f"{name}.json.gz").code}
        Path("base.toml").write_text(
            f'{_POLICY}[baseline]\naudit = "old.json.gz"\n[[limit]]\nmetric = "directional"\nagainst = "baseline"\nmax = 0.01\n',
            encoding="utf-8",
        )
        for name in ("old", "new"):
            ran = run("check", f"{name}.json.gz", "--policy", "base.toml", "--json", "-")
            out[f"baseline {name}"] = {"code": ran.code, "verdict": json.loads(ran.out) if ran.out else None}
        made = run("check", "old.csv", "--init", "--policy", "made.toml", *roles)
        ran = run("check", "new.csv", "--policy", "made.toml", "--json", "-")
        out["init"] = {"code": made.code, "then": ran.code, "verdict": json.loads(ran.out)}
    return out


def _junit(text: str) -> Any:
    root = ET.fromstring(text)
    return [
        {
            "tag": node.tag,
            "attributes": {k: v for k, v in node.attrib.items() if k not in ("message", "time", "timestamp")},
        }
        for node in root.iter()
    ]


def _markdown(text: str) -> Any:
    lines = text.splitlines()
    return {"heading": lines[0], "rows": sum(line.startswith("|") for line in lines)}


@case(EVERYTHING)
def compare() -> Any:
    """Two models of the same records and of others, in memory and from files that are saved and loaded here."""
    data = people()
    other = dict(data)
    for k in range(4):
        other[f"p{k}"] = data[f"t{k}"].copy()
    one, two = (biasamp.audit(held, **FEW, metrics=CHEAP) for held in (data, other))
    fewer = biasamp.audit(rows(other, 0, 2000), **FEW, metrics=["directional"])
    with in_folder():
        one.save("one.json.gz")
        two.save("two.json.gz")
        write_csv(
            "all.csv",
            {**{k: data[k] for k in ("id", "gender", "t0", "p0", "t1", "p1")}, "q0": other["p0"], "q1": other["p1"]},
        )
        paired = run("compare", "one=one.json.gz", "two=two.json.gz", "--json", "-", "--html", "page.html")
        from_data = run(
            *("compare", "all.csv", "--attributes", "gender", "--tasks", "t0,t1", "--record", "id"),
            *("--model", "one=p0,p1", "--model", "two=q0,q1", "--json", "-"),
        )
        return {
            "paired": {"code": paired.code, **json.loads(paired.out)},
            "from data": {"code": from_data.code, **json.loads(from_data.out)},
            "unpaired": biasamp.compare({"one": one, "fewer": fewer}, level=0.9).to_dict(),
            "page": page_document("page.html"),
        }


@case()
def commands_of_associations() -> Any:
    """Counting, merging, associating and exploring by the command line."""
    import pyarrow.parquet as pq

    long = long_pictures()
    with in_folder():
        for name, first, last in (("a", 0, 700), ("b", 700, 1500)):
            keep = [first <= i < last for i in long["image"]]
            part = {key: [v for v, on in zip(values, keep, strict=True) if on] for key, values in long.items()}
            pq.write_table(biasamp_table(part), f"{name}.parquet")
            columns = ("--record", "image", "--label", "label")
            codes = [
                run("count", f"{name}.parquet", *columns, "-i", "man", "-i", "woman", "--save", f"c{name}.parquet").code
            ]
        merged = run("merge", "ca.parquet", "cb.parquet", "--save", "all.parquet", "--json", "-")
        made = run("associate", "all.parquet", "--json", "made.json", "--csv", "made.csv", "--html", "one.html")
        second = run(
            "associate", "b.parquet", *columns, "-i", "man", "-i", "woman", "--metrics", "dp,pmi", "--json", "b.json"
        )
        both = run("explore", "all=made.json", "b.json", "--html", "both.html")
        return {
            "codes": [*codes, merged.code, made.code, second.code, both.code],
            "merged": json.loads(merged.out),
            "csv": Path("made.csv").read_text(encoding="utf-8").splitlines()[0].split(","),
            "explorer": page_document("one.html"),
            "explorer of two": page_document("both.html"),
        }


@case(RECORDS)
def commands_of_audits() -> Any:
    """Auditing, counting, sweeping and calibrating by the command line, and the report's document."""
    data = people()
    kept = ["id", "gender", "job", "job_said", "t5", "s5"]
    roles = ("--attributes", "gender", "--tasks", "job", "--task-predictions", "job_said", "--record", "id")
    metrics = ("--metrics", "directional,multi,parity")
    with in_folder():
        write_csv("data.csv", {name: data[name] for name in kept})
        audited = run(
            "audit", "data.csv", *roles, *metrics, "--json", "a.json", "--html", "a.html", "--save", "a.json.gz"
        )
        counted = run("count", "data.csv", *roles, "--save", "c.parquet", "--json", "-")
        of_counts = run("audit", "c.parquet", *metrics, "--json", "-")
        page = run("explore", "a.json.gz", "--html", "explored.html")
        swept = run("sweep", "data.csv", "--scores", "s5", "--attributes", "gender", "--tasks", "t5", "--json", "-")
        calibrated = run("calibrate", "data.csv", "--scores", "s5", "--truth", "t5", "--json", "-")
        report = page_document("a.html")
        return {
            "codes": [x.code for x in (audited, counted, of_counts, page, swept, calibrated)],
            "audit": json.loads(Path("a.json").read_text(encoding="utf-8")),
            "counts": json.loads(counted.out),
            "of counts": json.loads(of_counts.out),
            "report": report,
            "explored": dict.fromkeys(page_document("explored.html"), True),
            "sweep": json.loads(swept.out),
            "calibration": json.loads(calibrated.out),
        }


@case()
def options() -> Any:
    """The options of every command: none may disappear."""
    out = {}
    listed = run("--help")
    commands = re.findall(r"^  ([a-z]+)  ", listed.out.partition("Commands:")[2], flags=re.M)
    for name in ["", *commands]:
        ran = run(*([name] if name else []), "--help")
        lines = [line.strip() for line in ran.out.splitlines() if re.match(r"\s{2,4}-", line)]
        shown = {flag for line in lines for flag in re.findall(r"(?<!\S)-{1,2}[a-z][a-z-]*", line.partition("  ")[0])}
        out[name or "biasamp"] = {"code": ran.code, "options": dict.fromkeys(sorted(shown), True)}
    listed_metrics = json.loads(run("metrics", "--json", "-").out)
    return {
        "commands": out,
        "metrics": {
            "schema": listed_metrics["schema"],
            "names": dict.fromkeys((m["name"] for m in listed_metrics["metrics"]), True),
        },
        "python": dict.fromkeys(biasamp.__all__, True),
    }


@case()
def exit_codes() -> Any:
    """Mistakes end with code 2 and a line on standard error, nothing else."""
    roles = ("--attributes", "g", "--tasks", "t", "--task-predictions", "p")
    mistakes = {
        "no command": (),
        "a command that is not there": ("audti",),
        "an option that is not there": ("audit", "new.csv", *roles, "--nothing"),
        "no data": ("audit",),
        "no file": ("audit", "none.csv", *roles),
        "no attributes": ("audit", "new.csv", "--tasks", "t"),
        "a column that is not there": (
            "audit",
            "new.csv",
            "--attributes",
            "gg",
            "--tasks",
            "t",
            "--task-predictions",
            "p",
        ),
        "no predictions": ("audit", "new.csv", "--attributes", "g", "--tasks", "t"),
        "a metric that is not there": ("audit", "new.csv", *roles, "--metrics", "magic"),
        "a level of 2": ("audit", "new.csv", *roles, "--confidence", "2"),
        "one resample": ("audit", "new.csv", *roles, "--resamples", "1"),
        "an option twice": ("audit", "new.csv", *roles, "--tasks", "t"),
        "an output folder that is not there": ("audit", "new.csv", *roles, "--json", "none/x.json"),
        "output over input": ("audit", "new.csv", *roles, "--json", "new.csv"),
        "roles with counts": ("audit", "counts.parquet", *roles),
        "an engine that is not there": ("audit", "new.csv", *roles, "--engine", "magic"),
        "missing by another name": ("audit", "new.csv", *roles, "--missing", "guess"),
        "no policy": ("check", "new.csv", "--policy", "none.toml"),
        "init without columns": ("check", "new.csv", "--init", "--policy", "p.toml"),
        "one audit to compare": ("compare", "a=new.csv"),
        "no identities": ("associate", "new.csv"),
        "no label to explore": ("explore", "new.csv", "--html", "x.html"),
        "nothing to merge": ("merge", "--save", "x.parquet"),
        "records to merge": ("merge", "new.csv", "--save", "x.parquet"),
        "counting to nowhere": ("count", "new.csv", *roles),
        "a rate and a truth": ("calibrate", "new.csv", "--scores", "p", "--truth", "t", "--rate", "0.5"),
        "a metric to show that is not there": ("metrics", "magic"),
        "version": ("--version",),
        "help": ("audit", "-h"),
    }
    out = {}
    with in_folder():
        write_csv("new.csv", amplified(0.5))
        assert run("count", "new.csv", *roles, "--save", "counts.parquet").code == 0
        for name, arguments in mistakes.items():
            ran = run(*arguments)
            out[name] = {"code": ran.code, "standard output": bool(ran.out), "standard error": bool(ran.err)}
        for name in ("no file", "version"):
            done = subprocess.run(
                [sys.executable, "-m", "biasamp", *mistakes[name]],
                capture_output=True,
                timeout=60,
                env={**os.environ, "PYTHONPATH": str(Path(biasamp.__file__).parent.parent)},
            )
            out[f"{name}, as a process"] = {"code": done.returncode}
    return out


# --- files of version 0.1 --------------------------------------------------------------------------------------------


def without_caution(document: Any) -> Any:
    """A document without the caution that its file has no checksum."""
    return {**document, "findings": [row for row in document["findings"] if row["code"] != "unchecked"]}


@case()
def saved_audit() -> Any:
    """Saved audits load, say the same, and are compared by their own resamples."""
    one, two = (biasamp.Audit.load(SAVED / f"{name}.json.gz") for name in ("audit", "audit_other"))
    with in_folder():
        one.save("again.json.gz")
        again = biasamp.Audit.load("again.json.gz")
        one.to_html("page.html")
        page = page_document("page.html")
    return {
        "document": without_caution(one.to_dict()),
        "source": one.source,
        "resamples": one.resamples,
        "saved again": again.to_dict() == one.to_dict() and again.resamples == one.resamples,
        "compared": biasamp.compare({"one": SAVED / "audit.json.gz", "two": two}).to_dict(),
        "metrics": table(one.metrics),
        "page": dict.fromkeys(page, True),
    }


def _saved_counts(name: str, metrics: Any = CHEAP) -> Any:
    counts = biasamp.AuditCounts.load(SAVED / f"{name}.parquet")
    of_file = biasamp.audit(SAVED / f"{name}.parquet", metrics=metrics)
    with in_folder():
        counts.save("again.parquet")
        again = biasamp.AuditCounts.load("again.parquet").to_dict()
    return {"counts": counts.to_dict(), "saved again": again == counts.to_dict(), "audit": of_file.to_dict()}


@case(COUNTED)
def saved_counts() -> Any:
    return _saved_counts("counts", "auto")


@case(COUNTED)
def saved_counts_labels() -> Any:
    return _saved_counts("counts_labels")


@case(COUNTED)
def saved_counts_train_clusters() -> Any:
    return _saved_counts("counts_train_clusters")


@case(COUNTED)
def saved_counts_added() -> Any:
    """Saved counts of other records add up, also with counts of this version."""
    one, two = (biasamp.AuditCounts.load(SAVED / f"{name}.parquet") for name in ("counts", "counts_more"))
    data = people()
    mine = biasamp.count(rows(data, 900, 1300), **ONE, labels=SAVED / "counts.parquet")
    return {
        "saved": biasamp.audit(one + two, metrics=["directional", "parity"]).to_dict(),
        "with mine": biasamp.audit(one + mine, metrics=["directional", "parity"]).to_dict(),
        "counts": (one + two + mine).to_dict(),
    }


@case()
def saved_association() -> Any:
    counts = biasamp.AssociationCounts.load(SAVED / "association_counts.parquet")
    with in_folder():
        # By the command line from saved counts and from a saved result.
        ran = run("associate", SAVED / "association_counts.parquet", "--metrics", "dp,npmi_xy", "--json", "-")
        explored = run("explore", f"saved={SAVED / 'association.json.gz'}", "--html", "page.html")
        shown = page_document("page.html")
        # A file of version 0.1 has a note now that it has no checksum.
        for held in shown["runs"]:
            held["notes"] = [note for note in held["notes"] if "no checksum" not in note]
        return {
            "counts": counts.to_dict(),
            "code": [ran.code, explored.code],
            "result": json.loads(ran.out),
            "explorer": shown,
        }


@case(EVERYTHING)
def saved_policy() -> Any:
    """A policy that ``check --init`` wrote, held against a saved audit and against data."""
    policy = biasamp.Policy.load(SAVED / "policy.toml")
    with in_folder():
        write_csv("data.csv", {name: people()[name][:900] for name in ("id", "gender", "job", "job_said")})
        of_data = run("check", "data.csv", "--policy", SAVED / "policy.toml", "--json", "-")
        of_audit = run("check", SAVED / "audit.json.gz", "--policy", SAVED / "policy.toml", "--json", "-")
    return {
        "data": dict(policy.data),
        "of data": {"code": of_data.code, "verdict": json.loads(of_data.out)},
        "of audit": {"code": of_audit.code, "verdict": json.loads(of_audit.out)},
    }


# --- real data -------------------------------------------------------------------------------------------------------


def real(name: str) -> Path:
    return Path(os.environ["BIASAMP_DATA"]) / name


@cache
def compas() -> Any:
    """ProPublica's people, with the score of 5 and above as the prediction."""
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    held = csv.read_csv(real("compas_two_years.csv"))
    keep = pc.and_(
        pc.less_equal(pc.abs(held["days_b_screening_arrest"]), 30),
        pc.and_(pc.not_equal(held["is_recid"], -1), pc.not_equal(held["score_text"], "N/A")),
    )
    held = held.filter(keep)
    deciles = held["decile_score"].to_numpy()
    return held.append_column("high", pa.array((deciles >= 5).astype(np.int64))).append_column(
        "risk", pa.array(deciles / 10.0)
    )


COMPAS: dict[str, Any] = {
    "attributes": ["race", "sex"],
    "tasks": "two_year_recid",
    "task_predictions": "high",
    "record": "id",
}


@case(RECORDS, data=True)
def compas_groups() -> Any:
    return biasamp.audit(compas(), **COMPAS, intersections=True, metrics=CHEAP).to_dict()


@case(RECORDS, data=True)
def compas_all_metrics() -> Any:
    return biasamp.audit(compas(), **{**COMPAS, "attributes": "sex"}).to_dict()


@case(GAPS, data=True)
def compas_scores() -> Any:
    roles = {**COMPAS, "task_predictions": "risk"}
    return biasamp.audit(compas(), **roles, metrics=["directional", "parity"]).to_dict()


@case(COUNTED, data=True)
def compas_counted() -> Any:
    counts = biasamp.count(compas(), **COMPAS, intersections=True)
    return {"counts": counts.to_dict(), "audit": biasamp.audit(counts, metrics=CHEAP).to_dict()}


@cache
def captions() -> Any:
    """Images with labels, and the gender and objects that two models' captions name."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    objects = [
        name
        for name in real("coco_objects_66.csv").read_text(encoding="utf-8").split()
        if name not in ("object", "person")
    ]
    words = {name: re.compile(rf"\b{name.replace('_', ' ')}s?\b") for name in objects}
    man, woman = re.compile(r"\b(man|boy|men|boys)\b"), re.compile(r"\b(woman|girl|women|girls|lady)\b")
    truth = {row["image_id"]: row for row in pq.read_table(real("coco_gender_objects_val.parquet")).to_pylist()}
    held = pq.read_table(
        real("coco_val2014_captions_6models.parquet"), columns=["image_id", "baseline_ft", "equalizer"]
    ).to_pylist()
    out: dict[str, list[Any]] = {name: [] for name in ("image", "gender", "objects")}
    out |= {f"{what}_{model}": [] for model in ("baseline_ft", "equalizer") for what in ("gender", "objects")}
    for row in held:
        labels = truth.get(row["image_id"])
        if labels is None:
            continue
        texts = {model: str(row[model]).lower() for model in ("baseline_ft", "equalizer")}
        genders = {m: (bool(woman.search(t)), bool(man.search(t))) for m, t in texts.items()}
        if any(a == b for a, b in genders.values()):
            continue
        out["image"].append(row["image_id"])
        out["gender"].append(str(labels["gender"]))
        out["objects"].append([name for name in labels["objects"] if name in words])
        for model, text in texts.items():
            out[f"gender_{model}"].append("woman" if genders[model][0] else "man")
            out[f"objects_{model}"].append([name for name in objects if words[name].search(text)])
    return pa.table(out)


def _captions(model: str, **more: Any) -> Any:
    return biasamp.audit(
        captions(),
        attributes="gender",
        tasks="objects",
        attribute_predictions=f"gender_{model}",
        task_predictions=f"objects_{model}",
        record="image",
        **{"metrics": ["directional", "mals", "parity"], **more},
    )


@case(RECORDS, data=True)
def coco_captions() -> Any:
    return _captions("baseline_ft").to_dict()


@case(RECORDS, data=True)
def coco_captions_multi() -> Any:
    return _captions("equalizer", metrics=["multi"]).to_dict()


@case(EVERYTHING, data=True)
def coco_captions_compared() -> Any:
    two = {name: _captions(name, metrics=["directional"]) for name in ("baseline_ft", "equalizer")}
    return biasamp.compare(two).to_dict()


@case(COUNTED, data=True)
def coco_captions_counted() -> Any:
    counts = biasamp.count(
        captions(), attributes="gender", tasks="objects", task_predictions="objects_equalizer", record="image"
    )
    return {"counts": counts.to_dict(), "audit": biasamp.audit(counts, metrics=["directional", "parity"]).to_dict()}


@case(data=True)
def coco_associated() -> Any:
    import pyarrow.parquet as pq

    held = pq.read_table(real("coco_gender_objects_test.parquet"), columns=["gender", "objects"]).to_pylist()
    sets = [[str(row["gender"]), *row["objects"]] for row in held]
    genders = sorted({labels[0] for labels in sets})
    return biasamp.associate(sets, genders).to_dict()
