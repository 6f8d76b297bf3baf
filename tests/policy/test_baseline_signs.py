"""Against a baseline, pairs whose direction the records do not tell count with the worse of their signs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.policy import Policy


def audits(lean: float, train: bool = False) -> tuple[dict[str, Any], list[biasamp.Audit]]:
    """Six tasks that lean by ``lean``; the new model moves all of them with the group, the old one none."""
    rng = np.random.default_rng(3)
    group = rng.integers(0, 2, 600)
    truth = (rng.random((600, 6)) < 0.4 + lean * (2 * group[:, None] - 1)).astype(int)
    wrong = rng.random((600, 6)) < 0.1
    old = np.where(wrong, 1 - truth, truth)
    new = np.where((rng.random((600, 6)) < 0.2) & (np.arange(6) % 2 == group[:, None]), 1, old)
    names = [f"t{k}" for k in range(6)]
    data = {"g": group.astype(str), **dict(zip(names, truth.T, strict=True))}
    made = []
    for said in (new, old):
        columns = {f"p{k}": said[:, k] for k in range(6)}
        more = {"train": {name: np.tile(values, 2) for name, values in data.items()}} if train else {}
        roles = {"tasks": names, "task_predictions": list(columns), "metrics": ["directional"], "resamples": 200}
        made.append(biasamp.audit({**data, **columns}, attributes="g", **roles, **more))
    return {"group": group, "truth": truth, "new": new, "old": old}, made


def checked(new: biasamp.Audit, old: biasamp.Audit, limit: float = 0.02) -> Any:
    limits = [{"metric": "directional", "direction": "A->T", "max": limit, "against": "baseline"}]
    verdict = Policy(limits=limits, baseline=old, min_group=0).check(new)
    (check,) = [check for check in verdict.checks if check.against == "baseline"]
    return check


def test_unknown_directions_widen_the_difference() -> None:
    data, (new, old) = audits(lean=0.0)
    (row,) = biasamp.compare({"old": old, "new": new}).document["differences"]
    entry = new.document["metrics"][0]
    assert entry["unknown"] == 12
    group, moved, shift, signed = data["group"], data["new"] - data["old"], 0.0, 0.0
    for k in range(6):
        lean = data["truth"][group == 0, k].mean() - data["truth"][group == 1, k].mean()
        # Two groups: what one gains is for it, what the other gains is against it.
        change = np.sign(lean) * (moved[group == 0, k].mean() - moved[group == 1, k].mean()) / 12
        signed, shift = signed + change, shift + abs(change)
    check = checked(new, old)
    assert row["difference"] == pytest.approx(signed)
    assert check.high == pytest.approx(row["high"] + shift - signed)
    assert check.low == pytest.approx(row["low"] - shift - signed)
    assert check.outcome == "not enough evidence"
    assert "worse sign" in check.reason


def test_known_directions_are_judged_as_they_are() -> None:
    _, (new, old) = audits(lean=0.3)
    (row,) = biasamp.compare({"old": old, "new": new}).document["differences"]
    check = checked(new, old)
    assert new.document["metrics"][0]["unknown"] == 0
    assert (check.low, check.high) == (row["low"], row["high"])


def test_train_labels_know_all_directions() -> None:
    _, (new, old) = audits(lean=0.0, train=True)
    (row,) = biasamp.compare({"old": old, "new": new}).document["differences"]
    check = checked(new, old)
    assert (check.low, check.high) == (row["low"], row["high"])
