"""Counts that no records can give are refused, whoever wrote them with whatever checksum."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts.storage import read_arrays, write_arrays

rng = np.random.default_rng(3)
N = 120
DATA: dict[str, Any] = {
    "id": np.arange(N),
    "g": rng.choice(["w", "m"], N),
    "h": rng.choice(["w", "m"], N),
    "t": rng.integers(0, 2, N),
    "p": rng.integers(0, 2, N),
    "s": rng.random(N),
    "tags": [["a"], ["a", "b"], []] * (N // 3),
    "said": [["b"], ["a", "b"], ["a"]] * (N // 3),
    "gap": [None if i % 7 == 0 else i % 2 for i in range(N)],
    "w": rng.random(N),
}
CASES: dict[str, dict[str, Any]] = {
    "hard": {"attributes": "g", "tasks": "t", "task_predictions": "p"},
    "both ways": {"attributes": "g", "tasks": "t", "task_predictions": "p", "attribute_predictions": "h"},
    "soft": {"attributes": "g", "tasks": "t", "task_predictions": "s"},
    "sets": {"attributes": "g", "tasks": "tags", "task_predictions": "said"},
    "weighted": {"attributes": "g", "tasks": "t", "task_predictions": "p", "weights": "w"},
    "missing": {"attributes": "g", "tasks": "gap", "task_predictions": "p", "missing": "drop"},
    "train": {"attributes": "g", "tasks": "t", "task_predictions": "p", "train": {"g": ["w", "m"], "t": [0, 1]}},
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("record", [None, "id"])
def test_true_counts_are_read(case: str, record: str | None, tmp_path: Path) -> None:
    counts = biasamp.count(DATA, **CASES[case], record=record)
    counts.save(tmp_path / "c.parquet")
    assert biasamp.AuditCounts.load(tmp_path / "c.parquet").records == N


def forged(path: Path, change: Callable[[dict[str, Any], dict[str, Any]], None]) -> None:
    """Write the file anew with something changed and a checksum that agrees."""
    header, arrays = read_arrays(path)
    arrays = {name: array.copy() for name, array in arrays.items()}
    change(header, arrays)
    write_arrays(path, {name: held for name, held in header.items() if name != "schema"}, arrays)


def put(name: str, value: Any) -> Callable[[dict[str, Any], dict[str, Any]], None]:
    def change(header: dict[str, Any], arrays: dict[str, Any]) -> None:
        if arrays[name].dtype.kind != np.asarray(value).dtype.kind:
            arrays[name] = arrays[name].astype(float)
        arrays[name].flat[np.flatnonzero(arrays[name])[0]] = value

    return change


def relabel(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    header["subjects"][0]["A"][0][2] = ["other", "labels"]


def shorter(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    arrays["0/sizes/A"] = arrays["0/sizes/A"][:1]


def more_records(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    header["sources"][0][1] += 5


def no_fingerprint(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    header["units"] = "many"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("0/pairs/A->T//joint_truth", -1), "'g': A->T: joint_truth is below 0"),
        (put("0/pairs/A->T//joint_truth", 10**6), "joint_truth is above given"),
        (put("0/pairs/A->T//n", 10**6), "n adds up to .* more than all 120 records"),
        (put("0/pairs/A->T//predicted", float("nan")), "predicted holds no whole numbers"),
        (put("0/pairs/A->T//joint_both", 0), "combinations do not add up to the counts of pairs"),
        (put("0/cells/A->T//counts", 77), "combinations do not add up"),
        (put("0/cells/A->T//counts", -1), "combinations: a count is below 0"),
        (put("0/cells/A->T//cells", 99), "a cell names a combination that is not there"),
        (put("0/sizes/A", 500), "sizes of A are below 0 or above all 120 records"),
        (put("0/agreeing/A->T", -3), "agreeing does not match the labels, or is below 0"),
        (relabel, "labels are not those of the attribute"),
        (shorter, "labels of A and their sizes do not match"),
        (more_records, "records of its sources do not add up"),
        (no_fingerprint, "not a fingerprint of records"),
    ],
    ids=lambda value: "" if callable(value) else value[:30],
)
def test_forged_counts_are_refused(change: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    biasamp.count(DATA, **CASES["hard"], record="id").save(path)
    forged(path, change)
    for reading in (lambda: biasamp.AuditCounts.load(path), lambda: biasamp.audit(path)):
        with pytest.raises(ValueError, match=rf"c\.parquet is damaged.*{message}"):
            reading()


def twice(header: dict[str, Any], arrays: dict[str, Any]) -> None:
    header["labels"][1] = header["labels"][0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (put("count", -1), "a count is below 0"),
        (put("count", 10**6), "a count is above all 120 records"),
        (put("identity_joint", 119), "records with a label and an identity are more"),
        (put("overlap", 119.5), "a count is no whole number"),
        (put("overlap", 1), "records with .* are more than those with one of them"),
        (put("shared_values", 119), "records with a label and two identities are more"),
        (put("bag_values", 99), "counts by bag do not add up"),
        (twice, "a label stands in it twice"),
    ],
    ids=lambda value: "" if callable(value) else value[:30],
)
def test_forged_counts_of_associations_are_refused(change: Any, message: str, tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    biasamp.count(DATA, identities=["a", "b"], label="tags", record="id", pairable=True).save(path)
    assert biasamp.AssociationCounts.load(path).n == N
    forged(path, change)
    with pytest.raises(ValueError, match=rf"c\.parquet is damaged or forged: .*{message}"):
        biasamp.AssociationCounts.load(path)
