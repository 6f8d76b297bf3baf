"""Differences of figures that were selected: the largest difference of rates, of another outcome in each model."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import biasamp


def audited(said: dict[str, np.ndarray], data: dict[str, np.ndarray], **more: Any) -> biasamp.Audit:
    roles = {"tasks": ["t0", "t1"], "task_predictions": list(said), "metrics": ["parity"], "resamples": 200}
    return biasamp.audit({**data, **said}, attributes="g", **roles, **more)


@pytest.fixture
def models() -> dict[str, biasamp.Audit]:
    """One model misses the first task in one group, the other the second."""
    rng = np.random.default_rng(0)
    group = np.arange(400) % 2
    data = {"g": group.astype(str), "t0": np.ones(400, dtype=int), "t1": np.ones(400, dtype=int)}
    data["t0"][::7] = data["t1"][::5] = 0
    out = {}
    for place, name in enumerate(("one", "two")):
        said = {f"p{k}": data[f"t{k}"].copy() for k in (0, 1)}
        missed = (group == 1) & (rng.random(400) < 0.2 + 0.1 * place)
        said[f"p{place}"][missed] = 0
        out[name] = audited(said, data)
    return out


def test_other_outcomes_are_compared_by_their_intervals(models: dict[str, biasamp.Audit]) -> None:
    entries = [
        next(e for e in audit.document["metrics"] if e["metric"] == "tpr_difference") for audit in models.values()
    ]
    assert [entry["outcome"] for entry in entries] == ["t0", "t1"]
    (row,) = [r for r in biasamp.compare(models).document["differences"] if r["metric"] == "tpr_difference"]
    values = [entry["value"] for entry in entries]
    (low1, high1), (low2, high2) = (entry["interval"] for entry in entries)
    resamples = [np.array(audit.resamples["values"]["tpr_difference/A->T/g"]) for audit in models.values()]
    r = np.corrcoef(*resamples)[0, 1]
    # What was drawn up by chance counts as it is, the rest by Zou's formula for correlated figures.
    drawn = [min(entry["expected"], entry["value"] - entry["interval"][0]) for entry in entries]
    above, under = high2 - values[1], values[0] - low1 - drawn[0]
    below, over = values[1] - low2 - drawn[1], high1 - values[0]
    apart = values[1] - values[0]
    assert row["high"] == pytest.approx(apart + drawn[0] + np.sqrt(above**2 + under**2 - 2 * r * above * under))
    assert row["low"] == pytest.approx(apart - drawn[1] - np.sqrt(below**2 + over**2 - 2 * r * below * over))
    assert row["paired"]
    assert "MOVER" in row["method"]


def test_the_level_of_a_comparison_need_not_be_that_of_the_audits(models: dict[str, biasamp.Audit]) -> None:
    wide, usual = (
        next(r for r in biasamp.compare(models, level=level).document["differences"] if r["metric"] == "tpr_difference")
        for level in (0.99, 0.95)
    )
    assert wide["low"] < usual["low"]
    assert wide["high"] > usual["high"]


def test_rates_of_few_clusters_have_a_caution() -> None:
    rng = np.random.default_rng(0)
    person = np.repeat(np.arange(40), 10)
    data = {"g": (person % 2).astype(str), "who": person}
    said = {}
    for k in (0, 1):
        data[f"t{k}"] = rng.integers(0, 2, 400)
        said[f"p{k}"] = np.where(rng.random(400) < 0.2, 1 - data[f"t{k}"], data[f"t{k}"])
    entries = audited(said, data, cluster="who").document["metrics"]
    assert all("few-clusters" in entry["caution_kinds"] for entry in entries)
    # Two of twenty may share a bag.
    assert re.search(r"about (19|20) clusters", entries[0]["cautions"][0])
    assert not any(entry.get("cautions") for entry in audited(said, data).document["metrics"])
