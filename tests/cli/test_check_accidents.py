"""Everyday mistakes at the command line that must not open a gate: each is an error, a failure or not enough evidence."""

from __future__ import annotations

import csv
import gzip
import json
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.policy.template import toml

N = 2000
USAGE, FAILED, UNKNOWN = 2, 1, 3
ROLES = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
QUICK = {"metrics": ["directional", "parity"], "resamples": 50}
LIMIT = {"metric": "directional", "max": 0.1}


def columns() -> dict[str, Any]:
    """Groups with rates .7 and .3; p errs in 3% of records whatever the group, ``bad`` follows the group in 60%."""
    rng = np.random.default_rng(11)
    group = rng.choice(["w", "m", "x"], N, p=[0.45, 0.45, 0.1])
    truth = (rng.random(N) < np.where(group == "w", 0.7, 0.3)).astype(int)
    wrong = [rng.random(N) < 0.03 for _ in range(2)]
    follows = np.where(rng.random(N) < 0.6, (group == "w").astype(int), truth)
    return {
        "id": np.arange(N),
        "g": group,
        "h": rng.choice(["old", "young"], N),
        "t": truth,
        "p": np.where(wrong[0], 1 - truth, truth),
        "p2": np.where(wrong[1], 1 - truth, truth),
        "bad": follows,
        "weight": rng.integers(1, 4, N),
        "person": np.arange(N) // 4,
    }


DATA = columns()


def write(name: str, data: Mapping[str, Any], rows: Any = slice(None)) -> str:
    held = {column: np.asarray(values)[rows] for column, values in data.items()}
    with open(name, "w", newline="") as file:
        csv.writer(file).writerows([held, *zip(*held.values(), strict=True)])
    return name


def policy(limit: Mapping[str, Any] | str = LIMIT, data: Mapping[str, Any] | None = None, more: str = "") -> None:
    """The policy of the folder; a value of None leaves a column out."""
    held = {**ROLES, **QUICK, **(data or {})}
    lines = ["[data]", *(f"{name} = {toml(value)}" for name, value in held.items() if value is not None), more]
    text = limit if isinstance(limit, str) else "\n".join(f"{name} = {toml(value)}" for name, value in limit.items())
    Path("policy.toml").write_text("\n".join([*lines, "[[limit]]", text, ""]))


def saved(name: str, data: Any = None, **options: Any) -> str:
    audit = biasamp.audit(DATA if data is None else data, **{**ROLES, **QUICK, **options})
    audit.save(name)
    return name


def changed(name: str, **changes: Any) -> str:
    return write(name, {**DATA, **changes})


def copied(name: str, other: str) -> str:
    shutil.copy(name, other)
    return other


def edited(name: str, change: Callable[[dict[str, Any]], None]) -> str:
    """A saved audit that somebody wrote a better figure into."""
    with gzip.open(name, "rt") as file:
        document = json.load(file)
    change(document)
    with gzip.open(name, "wt") as file:
        json.dump(document, file)
    return name


def cut_short(name: str) -> str:
    held = Path(name).read_bytes()
    Path(name).write_bytes(held[: len(held) // 2])
    return name


def then(_: Any, *line: str) -> tuple[str, ...]:
    """A command line, after what it needs was made."""
    return line


AGAINST = {**LIMIT, "against": "baseline"}
BETTER = {"value": 0.0, "interval": [-0.01, 0.01], "bounds": [-0.01, 0.01]}
# What happened, how the command line then reads, and what it must exit with.
ACCIDENTS: dict[str, tuple[Callable[[], tuple[str, ...] | str], int]] = {
    # A ready audit that was made otherwise.
    "audit of another model's column": (lambda: then(policy(), saved("a.json.gz", task_predictions="p2")), UNKNOWN),
    "audit of another attribute": (lambda: then(policy(), saved("a.json.gz", attributes="h")), UNKNOWN),
    "audit of one attribute of two": (
        lambda: then(policy(data={"attributes": ["g", "h"]}), saved("a.json.gz")),
        UNKNOWN,
    ),
    "audit with the other positive value": (
        lambda: then(policy(data={"positive": 1}), saved("a.json.gz", positive=0)),
        UNKNOWN,
    ),
    "audit without the weights": (lambda: then(policy(data={"weights": "weight"}), saved("a.json.gz")), UNKNOWN),
    "audit with other weights": (
        lambda: then(policy(data={"weights": "weight"}), saved("a.json.gz", weights="person")),
        UNKNOWN,
    ),
    "audit without the clusters": (lambda: then(policy(data={"cluster": "person"}), saved("a.json.gz")), UNKNOWN),
    "audit without the strata": (lambda: then(policy(data={"strata": "h"}), saved("a.json.gz")), UNKNOWN),
    "audit without the declared groups": (
        lambda: then(policy(data={"categories": {"attributes": ["w", "m", "x", "z"]}}), saved("a.json.gz")),
        UNKNOWN,
    ),
    "audit of other bands of age": (
        lambda: then(
            policy(data={"attributes": "person", "bins": {"person": [100, 300]}}),
            saved("a.json.gz", attributes=biasamp.binned("person", edges=[250])),
        ),
        UNKNOWN,
    ),
    "audit with other train labels": (
        lambda: then(
            policy(data={"train": write("train.csv", DATA, slice(0, 900))}),
            saved("a.json.gz", train=write("train_old.csv", DATA, slice(100, 900))),
        ),
        UNKNOWN,
    ),
    "audit that dropped missing labels": (
        lambda: then(policy(data={"missing": "error"}), saved("a.json.gz", missing="drop")),
        UNKNOWN,
    ),
    "audit without the crossing": (
        lambda: then(
            policy(data={"attributes": ["g", "h"], "intersections": True}), saved("a.json.gz", attributes=["g", "h"])
        ),
        UNKNOWN,
    ),
    "audit with another reference": (
        lambda: then(policy(data={"reference": "m"}), saved("a.json.gz", reference="w")),
        UNKNOWN,
    ),
    "audit without a metric of the policy": (
        lambda: then(policy(data={"metrics": ["directional", "multi"]}), saved("a.json.gz")),
        UNKNOWN,
    ),
    "audit with fewer resamples": (lambda: then(policy(), saved("a.json.gz", resamples=41)), UNKNOWN),
    "audit with a luckier seed": (lambda: then(policy(data={"seed": 0}), saved("a.json.gz", seed=7)), UNKNOWN),
    "audit at a laxer level": (lambda: then(policy(), saved("a.json.gz", confidence=0.9)), UNKNOWN),
    "audit at a laxer level than the policy's": (
        lambda: then(policy(more="[evidence]\nconfidence = 0.99"), saved("a.json.gz")),
        UNKNOWN,
    ),
    "audit in which small groups decide nothing": (
        lambda: then(
            policy({"metric": "tpr_difference", "max": 0.1}),
            saved("a.json.gz", {**DATA, "p": np.where(DATA["g"] == "x", 0, DATA["p"])}, min_group=250),
        ),
        FAILED,
    ),
    "audit that ignores a group": (lambda: then(policy(), saved("a.json.gz", ignore_groups=["x"])), UNKNOWN),
    "counts of another column": (
        lambda: then(
            policy(), biasamp.count(DATA, **{**ROLES, "task_predictions": "p2"}).save("c.counts") or "c.counts"
        ),
        UNKNOWN,
    ),
    "counts without the clusters": (
        lambda: then(policy(data={"cluster": "person"}), biasamp.count(DATA, **ROLES).save("c.counts") or "c.counts"),
        UNKNOWN,
    ),
    "a figure written by hand": (
        lambda: then(policy(), edited(saved("a.json.gz"), lambda d: d["metrics"][0].update(BETTER))),
        USAGE,
    ),
    "half a file": (lambda: then(policy(), cut_short(saved("a.json.gz"))), USAGE),
    # Runs.
    "one file as two runs": (
        lambda: then(policy(data={"task_predictions": None}), saved("a.json.gz"), "a.json.gz"),
        USAGE,
    ),
    "a copy of a file as a run": (
        lambda: then(policy(data={"task_predictions": None}), saved("a.json.gz"), copied("a.json.gz", "b.json.gz")),
        UNKNOWN,
    ),
    "a copy of a column as a run": (
        lambda: then(
            policy(data={"task_predictions": None}),
            saved("a.json.gz"),
            saved("b.json.gz", {**DATA, "again": DATA["p"].copy()}, task_predictions="again"),
            saved("c.json.gz", task_predictions="p2"),
        ),
        UNKNOWN,
    ),
    "counts of the same run": (
        lambda: then(
            policy(data={"task_predictions": None}),
            saved("a.json.gz"),
            biasamp.count(DATA, **ROLES).save("c.counts") or "c.counts",
        ),
        UNKNOWN,
    ),
    "runs with and without weights": (
        lambda: then(
            policy(data={"task_predictions": None}),
            saved("a.json.gz"),
            saved("b.json.gz", task_predictions="p2", weights="weight"),
        ),
        UNKNOWN,
    ),
    "a lucky run and a bad one": (
        lambda: then(
            policy({**LIMIT, "max": 0.05}, {"task_predictions": None}),
            saved("a.json.gz"),
            saved("b.json.gz", task_predictions="bad"),
        ),
        UNKNOWN,
    ),
    # Baselines.
    "its own baseline": (lambda: then(policy(AGAINST), saved("a.json.gz"), "--baseline", "a.json.gz"), USAGE),
    "a copy as the baseline": (
        lambda: then(policy(AGAINST), saved("a.json.gz"), "--baseline", copied("a.json.gz", "b.json.gz")),
        UNKNOWN,
    ),
    "its own column as the baseline": (
        lambda: then(
            policy(AGAINST),
            saved("a.json.gz"),
            "--baseline",
            saved("b.json.gz", {**DATA, "old": DATA["p"].copy()}, task_predictions="old"),
        ),
        UNKNOWN,
    ),
    "a baseline that no limit uses": (
        lambda: then(policy(), saved("a.json.gz"), "--baseline", saved("b.json.gz", task_predictions="p2")),
        USAGE,
    ),
    "a baseline of other records": (
        lambda: then(
            policy(AGAINST),
            saved("a.json.gz"),
            "--baseline",
            saved("b.json.gz", {name: values[:1900] for name, values in DATA.items()}, task_predictions="p2"),
        ),
        USAGE,
    ),
    "a baseline with the other positive value": (
        lambda: then(
            policy({"metric": "fpr_difference", "max": 0.3, "against": "baseline"}),
            saved("a.json.gz"),
            "--baseline",
            saved("b.json.gz", task_predictions="p2", positive=0),
        ),
        UNKNOWN,
    ),
    "no baseline": (lambda: then(policy(AGAINST), saved("a.json.gz")), USAGE),
    "this window as an earlier one": (
        lambda: then(policy(), saved("a.json.gz"), "--against-trend", "a.json.gz"),
        USAGE,
    ),
    # Records.
    "another file": (lambda: then(policy(), write("other.csv", {"a": [1, 2], "b": [3, 4]})), USAGE),
    "a file without records": (lambda: then(policy(), write("d.csv", DATA, slice(0, 0))), USAGE),
    "a handful of records": (lambda: then(policy(), write("d.csv", DATA, slice(0, 25))), UNKNOWN),
    "one group only": (lambda: then(policy(), write("d.csv", DATA, DATA["g"] == "w")), UNKNOWN),
    "a group that is gone": (
        lambda: then(policy(more='[evidence]\ngroups = ["g=x"]'), write("d.csv", DATA, DATA["g"] != "x")),
        UNKNOWN,
    ),
    "half of the records": (
        lambda: then(policy(more="[evidence]\nmin_records = 1500"), write("d.csv", DATA, slice(0, 1000))),
        UNKNOWN,
    ),
    "every prediction 0": (lambda: then(policy(), changed("d.csv", p=np.zeros(N, dtype=int))), UNKNOWN),
    "every prediction 1": (lambda: then(policy(), changed("d.csv", p=np.ones(N, dtype=int))), UNKNOWN),
    "every score 0.5": (lambda: then(policy(), changed("d.csv", p=np.full(N, 0.5))), UNKNOWN),
    "every prediction 0, with train labels": (
        lambda: then(
            policy(data={"train": write("train.csv", DATA, slice(0, 900))}),
            changed("d.csv", p=np.zeros(N, dtype=int)),
        ),
        UNKNOWN,
    ),
    "one true value": (lambda: then(policy(), write("d.csv", DATA, DATA["t"] == 1)), UNKNOWN),
    "predictions moved by a row": (lambda: then(policy(), changed("d.csv", p=np.roll(DATA["p"], 1))), UNKNOWN),
    "predictions turned round": (lambda: then(policy(), changed("d.csv", p=1 - DATA["p"])), UNKNOWN),
    "scores of the other class": (lambda: then(policy(), changed("d.csv", p=0.9 - 0.8 * DATA["p"])), UNKNOWN),
    "predictions in words": (
        lambda: then(policy(), changed("d.csv", p=np.where(DATA["p"] == 1, "yes", "no"))),
        USAGE,
    ),
    "groups as the predictions": (lambda: then(policy(data={"task_predictions": "g"}), changed("d.csv")), USAGE),
    "the truth as the predictions": (lambda: then(policy(data={"task_predictions": "t"}), changed("d.csv")), USAGE),
    "ids as groups": (lambda: then(policy(data={"attributes": "id"}), changed("d.csv")), USAGE),
    "weights of 0": (
        lambda: then(policy(data={"weights": "weight"}), changed("d.csv", weight=np.zeros(N))),
        USAGE,
    ),
    "weights of 0 but for one group": (
        lambda: then(policy(data={"weights": "weight"}), changed("d.csv", weight=(DATA["g"] == "w").astype(int))),
        UNKNOWN,
    ),
    "records twice": (
        lambda: then(policy(data={"record": "id"}), write("d.csv", DATA, np.r_[0:1000, 0:1000])),
        USAGE,
    ),
    "the test records as train": (
        lambda: then(policy(data={"train": "d.csv"}), write("d.csv", DATA)),
        USAGE,
    ),
    "a copy of the test records as train": (
        lambda: then(policy(data={"train": write("train.csv", DATA)}), write("d.csv", DATA)),
        USAGE,
    ),
    "most labels missing": (
        lambda: then(
            policy(data={"missing": "drop"}),
            changed("d.csv", p=np.where(np.arange(N) % 100, "", DATA["p"].astype(str))),
        ),
        UNKNOWN,
    ),
    "hardly any resamples": (lambda: then(policy(), changed("d.csv"), "--resamples", "5"), UNKNOWN),
    "a level on the command line": (lambda: then(policy(), changed("d.csv"), "--confidence", "0.05"), USAGE),
    # Policies.
    "no policy": (lambda: (changed("d.csv"),), USAGE),
    "an empty policy": (lambda: then(Path("policy.toml").write_text(""), changed("d.csv")), USAGE),
    "a policy without limits": (
        lambda: then(Path("policy.toml").write_text('[data]\nattributes = "g"\n'), changed("d.csv")),
        USAGE,
    ),
    "limits in a table of another name": (
        lambda: then(
            Path("policy.toml").write_text("[[limits]]\nmetric = 'directional'\nmax = 0.1\n"), changed("d.csv")
        ),
        USAGE,
    ),
    "evidence in a table of another name": (
        lambda: then(policy(more="[evidance]\nmin_records = 9000"), changed("d.csv")),
        USAGE,
    ),
    "everything allowed": (lambda: then(policy({**LIMIT, "allow": "all"}), changed("d.csv")), USAGE),
    "a limit without a number": (lambda: then(policy({"metric": "directional"}), changed("d.csv")), USAGE),
    "a limit in percent": (lambda: then(policy({**LIMIT, "max": 5}), changed("d.csv")), USAGE),
    "a limit in text": (lambda: then(policy({**LIMIT, "max": "0.1"}), changed("d.csv")), USAGE),
    "an infinite limit": (lambda: then(policy("metric = 'directional'\nmax = inf"), changed("d.csv")), USAGE),
    "a limit of nan": (lambda: then(policy("metric = 'directional'\nmax = nan"), changed("d.csv")), USAGE),
    "a metric misspelled": (lambda: then(policy({**LIMIT, "metric": "directionl"}), changed("d.csv")), USAGE),
    "min for max": (lambda: then(policy({"metric": "directional", "min": 0.1}), changed("d.csv")), USAGE),
    "min for max of a difference": (
        lambda: then(policy({"metric": "tpr_difference", "min": 0.01}), changed("d.csv")),
        USAGE,
    ),
    "max for min of accuracy": (
        lambda: then(policy({"metric": "mean_per_class_accuracy", "max": 0.99}), changed("d.csv")),
        USAGE,
    ),
    "a metric that was not run": (lambda: then(policy({"metric": "multi", "max": 0.5}), changed("d.csv")), UNKNOWN),
    "a direction that was not run": (
        lambda: then(policy({**LIMIT, "direction": "T->A"}), changed("d.csv")),
        UNKNOWN,
    ),
    "a pair that does not exist": (lambda: then(policy({**LIMIT, "given": "g=z"}), changed("d.csv")), UNKNOWN),
    "a label in capitals": (lambda: then(policy({**LIMIT, "given": "g=W"}), changed("d.csv")), UNKNOWN),
    "an attribute that does not exist": (
        lambda: then(policy({**LIMIT, "attribute": "race"}), changed("d.csv")),
        UNKNOWN,
    ),
    "only to be measured": (
        lambda: then(
            Path("policy.toml").write_text(
                '[data]\nattributes = "g"\ntasks = "t"\ntask_predictions = "p"\n[companions]\ntpr_difference = true\n'
            ),
            changed("d.csv"),
        ),
        UNKNOWN,
    ),
    "all groups but one ignored": (
        lambda: then(policy(more='[evidence]\nignore_groups = ["x", "m"]'), changed("d.csv")),
        UNKNOWN,
    ),
    "an ignored group misspelled": (
        lambda: then(policy(more='[evidence]\nignore_groups = ["X"]'), changed("d.csv")),
        USAGE,
    ),
    "the chance of an error for the level": (
        lambda: then(policy(more="[evidence]\nconfidence = 0.05"), changed("d.csv")),
        USAGE,
    ),
    "a level in percent": (lambda: then(policy(more="[evidence]\nconfidence = 95"), changed("d.csv")), USAGE),
    "a verdict for an audit": (
        lambda: then(
            policy(), Path("v.json").write_text('{"schema": 1, "outcome": "pass", "checks": []}') and "v.json"
        ),
        USAGE,
    ),
}


def appended(name: str, *rows: Mapping[str, Any]) -> str:
    """The table with rows of another kind below it."""
    write(name, DATA)
    with open(name, "a", newline="") as file:
        csv.writer(file).writerows([[row.get(column, "") for column in DATA] for row in rows])
    return name


PLACES = np.array(["a", "b", "c", "d"])
PLACE = np.random.default_rng(1).choice(4, N, p=[0.4, 0.3, 0.2, 0.1])
GUESS = np.where(np.random.default_rng(2).random(N) < 0.1, (PLACE + 1) % 4, PLACE)
OF_PLACE = {"tasks": "place", "task_predictions": "guess"}
YES = {f"y_{name}": (place == PLACE).astype(int) for place, name in enumerate(PLACES)}
SAID = {f"z_{name}": (place == GUESS).astype(int) for place, name in enumerate(PLACES)}


def coded(*order: int) -> str:
    """Four places, of which the predictions are coded in another order."""
    return changed("d.csv", place=PLACES[PLACE], guess=PLACES[list(order)][GUESS])


def in_columns(*names: str) -> tuple[str, ...]:
    """Columns of one place each, predicted by columns in some order."""
    policy(data={"tasks": list(YES), "task_predictions": [f"z_{name}" for name in names]})
    return (changed("d.csv", **YES, **SAID),)


ACCIDENTS |= {
    # Rows.
    "a header within the table": (lambda: then(policy(), appended("d.csv", {name: name for name in DATA})), USAGE),
    "a row of totals": (lambda: then(policy(), appended("d.csv", {"id": "Total", "t": 1000, "p": 990})), USAGE),
    "a group of totals": (lambda: then(policy(), appended("d.csv", {"id": N, "g": "Total", "t": 1, "p": 1})), UNKNOWN),
    "a row of means": (lambda: then(policy(), appended("d.csv", {"g": "All", "t": 0.51, "p": 0.52})), USAGE),
    "a row of units": (lambda: then(policy(), appended("d.csv", {"g": "sex", "t": "0/1", "p": "0/1"})), USAGE),
    "the table below itself": (lambda: then(policy(), write("d.csv", DATA, np.r_[0:N, 0:N])), UNKNOWN),
    "a few records many times": (lambda: then(policy(), write("d.csv", DATA, np.tile(np.arange(200), 10))), UNKNOWN),
    "sorted predictions": (lambda: then(policy(), changed("d.csv", p=np.sort(DATA["p"]))), UNKNOWN),
    "a coin for predictions": (
        lambda: then(policy(), changed("d.csv", p=np.random.default_rng(0).integers(0, 2, N))),
        UNKNOWN,
    ),
    # Codes.
    "codes in another order": (lambda: then(policy(data=OF_PLACE), coded(1, 2, 3, 0)), UNKNOWN),
    "two frequent codes swapped": (lambda: then(policy(data=OF_PLACE), coded(1, 0, 2, 3)), UNKNOWN),
    "two rare codes swapped": (lambda: then(policy(data=OF_PLACE), coded(0, 1, 3, 2)), UNKNOWN),
    "columns turned round": (lambda: in_columns(*"dcba"), UNKNOWN),
    "two columns swapped": (lambda: in_columns(*"abdc"), UNKNOWN),
    "a column twice": (lambda: in_columns(*"abcc"), USAGE),
    "a column too few": (lambda: in_columns(*"abc"), USAGE),
    "predictions in percent": (lambda: then(policy(), changed("d.csv", p=13.5 + 70 * DATA["p"])), USAGE),
    "predictions in log-odds": (lambda: then(policy(), changed("d.csv", p=4.5 * DATA["p"] - 2.25)), USAGE),
    "groups by another name of theirs": (
        lambda: then(policy(), changed("d.csv", g=np.where(np.arange(N) < 300, "W", DATA["g"]))),
        USAGE,
    ),
    "a truth made from the group": (
        lambda: then(policy(), changed("d.csv", t=(DATA["g"] == "w").astype(int))),
        UNKNOWN,
    ),
    "predictions made from the group": (
        lambda: then(policy(), changed("d.csv", p=(DATA["g"] == "w").astype(int))),
        FAILED,
    ),
    # Groups predicted.
    "predicted groups moved by a row": (
        lambda: then(
            policy({**LIMIT, "direction": "T->A"}, {"attribute_predictions": "said"}),
            changed("d.csv", said=np.roll(DATA["g"], 1)),
        ),
        UNKNOWN,
    ),
    "two predicted groups swapped": (
        lambda: then(
            policy({**LIMIT, "direction": "T->A"}, {"attribute_predictions": "said"}),
            changed("d.csv", said=np.where(DATA["g"] == "m", "x", np.where(DATA["g"] == "x", "m", "w"))),
        ),
        UNKNOWN,
    ),
    # Weights, train labels, policies.
    "weights below 0": (
        lambda: then(policy(data={"weights": "weight"}), changed("d.csv", weight=DATA["weight"] - 2)),
        USAGE,
    ),
    "train labels turned round": (
        lambda: then(
            policy(data={"train": write("train.csv", {"g": DATA["g"], "t": 1 - DATA["t"]}, slice(0, 900))}),
            changed("d.csv"),
        ),
        UNKNOWN,
    ),
    "train labels without a group": (
        lambda: then(policy(data={"train": write("train.csv", DATA, DATA["g"] != "x")}), changed("d.csv")),
        UNKNOWN,
    ),
    "a key misspelled": (lambda: then(policy({"metric": "directional", "maximum": 0.1}), changed("d.csv")), USAGE),
    "a column's key misspelled": (lambda: then(policy(data={"task_prediction": "p"}), changed("d.csv")), USAGE),
    "a limit of the other sign": (lambda: then(policy({**LIMIT, "max": -0.1}), changed("d.csv")), FAILED),
    "a direction in small letters": (lambda: then(policy({**LIMIT, "direction": "a->t"}), changed("d.csv")), USAGE),
    "a companion misspelled": (lambda: then(policy(more="[companions]\ntpr_diff = 0.1"), changed("d.csv")), USAGE),
    "a companion in percent": (
        lambda: then(policy(more="[companions]\ntpr_difference = 10"), changed("d.csv")),
        USAGE,
    ),
    "a limit on accuracy in percent": (
        lambda: then(policy({"metric": "mean_per_class_accuracy", "min": 80}), changed("d.csv")),
        USAGE,
    ),
    "records in quotes": (lambda: then(policy(more='[evidence]\nmin_records = "1000"'), changed("d.csv")), USAGE),
    "a positive value that is none": (lambda: then(policy(data={"positive": 2}), changed("d.csv")), USAGE),
    "edges that leave one bin": (
        lambda: then(policy(data={"attributes": "person", "bins": {"person": [9000]}}), changed("d.csv")),
        UNKNOWN,
    ),
    "edges that descend": (
        lambda: then(policy(data={"attributes": "person", "bins": {"person": [300, 100]}}), changed("d.csv")),
        USAGE,
    ),
    "the truth as strata": (lambda: then(policy(data={"strata": "t"}), changed("d.csv")), USAGE),
    "the group as clusters": (lambda: then(policy(data={"cluster": "g"}), changed("d.csv")), USAGE),
    "an attribute twice": (lambda: then(policy(data={"attributes": ["g", "g"]}), changed("d.csv")), USAGE),
}


@pytest.mark.filterwarnings("ignore:scores are all")
@pytest.mark.parametrize("accident", ACCIDENTS)
def test_no_accident_opens_the_gate(accident: str, run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made, code = ACCIDENTS[accident]
    ran = run("check", *made(), "--policy", "policy.toml")
    assert ran.code == code, ran
    assert ran.out if code in (FAILED, UNKNOWN) else ran.err


def test_what_is_right_passes(run: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same data, policy, audits, runs and baseline without a mistake, so that each accident shows what it alone does."""
    monkeypatch.chdir(tmp_path)
    policy()
    assert run("check", changed("d.csv"), "--policy", "policy.toml").code == 0
    assert run("check", saved("a.json.gz"), "--policy", "policy.toml").code == 0
    saved("b.json.gz", task_predictions="p2")
    policy(AGAINST)
    assert run("check", "a.json.gz", "--policy", "policy.toml", "--baseline", "b.json.gz").code == 0
    policy(data={"task_predictions": None})
    assert run("check", "a.json.gz", "b.json.gz", "--policy", "policy.toml").code == 0
    policy()
    assert run("check", changed("d.csv", p=DATA["bad"]), "--policy", "policy.toml").code == 1
