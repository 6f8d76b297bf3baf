"""Whether figures are those of some data."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from amplified import columns

ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p"}
QUICK: dict[str, Any] = {"metrics": ["directional", "parity"], "resamples": 50}


def records(n: int = 400, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["w", "m"], n)
    truth = (rng.random(n) < np.where(group == "w", 0.3, 0.6)).astype(int)
    return {
        "g": group,
        "h": rng.choice(["x", "y", "z"], n),
        "t": truth,
        "p": np.where(rng.random(n) < 0.2, 1 - truth, truth),
        "w": rng.integers(1, 4, n),
        "id": np.arange(n) * 7,
    }


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"record": "id", "weights": "w", "seed": 7, "confidence": 0.9, "min_group": 5},
        {"attributes": ["g", "h"], "intersections": True, "reference": {"h": "x"}, "ignore_groups": ["y"]},
        {
            "attributes": biasamp.categorical("g", categories=["w", "m", "n"]),
            "positive": 1,
            "provenance": {"g": "said"},
        },
        {"provenance": {"g": {"source": "guessed", "error": {"w": 0.05}}}},
    ],
)
def test_every_setting_is_kept(options: dict[str, Any], tmp_path: Path) -> None:
    data = records()
    audit = biasamp.audit(data, **{**ROLES, **QUICK, **options})
    audit.save(tmp_path / "audit.json.gz")
    found = biasamp.verify(tmp_path / "audit.json.gz", data)
    assert found.same, found.summary
    assert found.figures > 20
    data["p"][3] = 1 - data["p"][3]
    changed = biasamp.verify(tmp_path / "audit.json.gz", data)
    assert not changed.same
    assert not changed.same_data
    assert changed.differences


def test_train_and_base_are_asked_for() -> None:
    data, train = records(), records(300, seed=1)
    audit = biasamp.audit(data, **ROLES, **QUICK, train=train)
    with pytest.raises(ValueError, match="was made with train: give the same"):
        biasamp.verify(audit, data)
    assert biasamp.verify(audit, data, train=train)
    train["t"][0] = 1 - train["t"][0]
    assert not biasamp.verify(audit, data, train=train)


def test_files_counts_and_arrays_are_the_same_data(tmp_path: Path) -> None:
    import pandas as pd

    data = records()
    pd.DataFrame(data).to_csv(tmp_path / "a.csv", index=False)
    audit = biasamp.audit(data, **ROLES, **QUICK, record="id")
    assert biasamp.verify(audit, tmp_path / "a.csv")
    assert biasamp.verify(audit, tmp_path / "a.csv", engine="local")
    counts = biasamp.count(tmp_path / "a.csv", **ROLES, record="id")
    assert biasamp.verify(audit, counts)


def test_an_audit_whose_figure_was_changed_is_not_that_of_its_data() -> None:
    data = records()
    audit = biasamp.audit(data, **ROLES, **QUICK)
    document = json.loads(json.dumps(audit.document))
    document["metrics"][0]["value"] += 1e-4
    found = biasamp.verify(biasamp.Audit(document), data)
    assert found.same_data
    assert not found.same
    (row,) = found.differences
    assert row["field"] == "metrics[0].value"


def test_an_audit_that_does_not_say_how_it_was_made_is_refused() -> None:
    audit = biasamp.audit(columns(), **ROLES, **QUICK).named("x")
    document = {**audit.document, "provenance": {"source": "x"}}
    with pytest.raises(ValueError, match="does not say how it was made"):
        biasamp.verify(biasamp.Audit(document), columns())  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="a saved audit is needed"):
        biasamp.verify(3, columns())


@pytest.mark.slow
@pytest.mark.parametrize(
    ("path", "value", "words"),
    [
        (("plan",), 3, "plan is 3"),
        (("plan", "groups"), [], "no attribute"),
        (("plan", "task"), None, "no attribute or no task"),
        (("plan", "task"), [["t"], None], "plan.task does not name columns"),
        (("plan", "task"), [[3], None, None], "plan.task does not name columns"),
        (("plan", "task"), [[], None, None], "plan.task does not name columns"),
        (("plan", "task_prediction"), [["p"], 3, None], "plan.task_prediction does not name columns"),
        (("plan", "task"), [["t"], "binned", ["inf"]], "plan.task does not name columns"),
        (("plan", "group_predictions"), [None, None, None], "one entry for each attribute"),
        (("plan", "weights"), 3, "plan.weights is 3"),
        (("plan", "intersections"), "yes", "plan.intersections is 'yes'"),
        (("plan", "missing"), "perhaps", "plan.missing is 'perhaps'"),
        (("plan", "unseen"), "perhaps", "plan.unseen is 'perhaps'"),
        (("plan", "added"), 1, "does not say which columns are read"),
        (("metrics",), [3], "metrics has 3"),
        (("resamples",), 10**9, "resamples is 1000000000"),
        (("confidence",), 2, "confidence is 2"),
        (("intervals",), "other", "intervals is 'other'"),
    ],
)
def test_settings_that_nobody_can_have_asked_for_are_refused(path: tuple[str, ...], value: Any, words: str) -> None:
    data = {"g": ["w", "m"] * 20, "t": [1, 0] * 20, "p": [1, 0] * 16 + [0, 1] * 4}
    made = biasamp.audit(data, attributes="g", tasks="t", task_predictions="p", metrics=["directional"], resamples=20)
    document: Any = copy.deepcopy(made.document)
    held = document["provenance"]["settings"]
    for name in path[:-1]:
        held = held[name]
    held[path[-1]] = value
    with pytest.raises(ValueError, match="do not say how the audit was made: ") as error:
        biasamp.verify(replace(made, document=document), data)
    assert words in str(error.value)


def test_one_changed_label_of_a_million_is_found() -> None:
    """Also one that moves no count: two people of one group who change places."""
    data = records(1_000_000)
    audit = biasamp.audit(data, **ROLES, metrics=["directional"], resamples=20)
    data["g"][777_777] = "m" if data["g"][777_777] == "w" else "w"
    assert not biasamp.verify(audit, data).same
    data = records(1_000_000)
    one, two = (
        np.flatnonzero((data["g"] == "w") & (data["t"] != data["p"]) & (data["t"] == 1))[0],
        np.flatnonzero((data["g"] == "w") & (data["t"] == 0) & (data["p"] == 1))[0],
    )
    for name in ("t", "p"):
        data[name][[one, two]] = data[name][[two, one]]
    found = biasamp.verify(audit, data)
    assert not found.same_data


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("n", [2_000, 100_000])
def test_a_change_of_any_role_is_found(n: int) -> None:
    """Truth, prediction, group, score, weight, two records swapped, one replaced; and nothing is found where nothing changed."""
    from benchmarks.auditors.verifying import noticed

    assert set(noticed(n).values()) == {True}
