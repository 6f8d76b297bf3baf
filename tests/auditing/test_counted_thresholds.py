"""Curves of counts: at the fixed thresholds they are those of the records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts.audit_counts import AuditCounts
from biasamp.datasets import berkeley

ROLES: dict[str, Any] = {"attributes": "group", "record": "id"}


def table(n: int = 900, seed: int = 0, tied: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n)
    out: dict[str, Any] = {"id": np.arange(n), "group": group, "w": rng.random(n)}
    for place, name in enumerate(("x", "y")):
        score = np.clip(0.45 + (1 - 2 * place) * 0.1 * (group == "a") + 0.25 * rng.standard_normal(n), 0, 1)
        out[f"{name}_score"] = np.round(score, 2) if tied else score
        out[name] = (rng.random(n) < score).astype(int)
    return out


def both(data: dict[str, Any], **roles: Any) -> tuple[Any, Any]:
    """What records give, and what counts of two halves of them do."""
    import pandas as pd

    frame = pd.DataFrame(data)
    whole = biasamp.count(frame, **ROLES, **roles)
    parts = [biasamp.count(part, **ROLES, **roles, labels=whole) for part in (frame[:300], frame[300:])]
    added = biasamp.audit(parts[0] + parts[1], metrics="directional")
    return biasamp.audit(data, **ROLES, **roles, metrics="directional").document, added.document


@pytest.mark.parametrize("weights", [None, "w"])
@pytest.mark.parametrize("tasks", [["x"], ["x", "y"]], ids=["one label", "two labels"])
def test_counts_give_the_curve_of_the_records(tasks: list[str], weights: str | None) -> None:
    # All scores lie on the grid: nothing is lost.
    data = table(tied=True)
    roles = {"tasks": tasks, "task_scores": [f"{name}_score" for name in tasks], "weights": weights}
    records, counted = (held["sweep"][0] for held in both(data, **roles))
    assert counted["grid"] == 1001
    assert "grid" not in records
    assert counted["thresholds"] == 1002
    for name in ("integral", "base_rate", "span", "outcome", "n"):
        assert counted[name] == pytest.approx(records[name], abs=1e-12), name
    assert counted["usual"]["amplification"] == pytest.approx(records["usual"]["amplification"], abs=1e-12)
    assert counted["usual"]["rates"] == pytest.approx(records["usual"]["rates"], abs=1e-12)
    if weights is None:
        assert counted["usual"]["rate_p"] == pytest.approx(records["usual"]["rate_p"], abs=1e-12)
    assert counted["calibrated"]["rate"] == pytest.approx(records["calibrated"]["rate"], abs=1e-12)
    assert counted["calibrated"]["amplification"] == pytest.approx(records["calibrated"]["amplification"], abs=1e-12)
    swept = biasamp.sweep(
        np.column_stack([data[f"{name}_score"] for name in tasks]) if len(tasks) > 1 else data["x_score"],
        data["group"],
        np.column_stack([data[name] for name in tasks]) if len(tasks) > 1 else data["x"],
        weights=None if weights is None else data["w"],
    )
    for row in counted["curve"]:
        there = swept.at(row["threshold"])
        for name in row:
            if name != "threshold":
                assert row[name] == pytest.approx(there[name.replace("group=", "")], abs=1e-12), name


def test_counts_say_all_of_the_parts_and_no_more_is_left_out() -> None:
    data = table()
    records, counted = both(data, tasks=["x", "y"], task_scores=["x_score", "y_score"])
    assert records["why"] == counted["why"]
    assert [row["metric"] for row in counted["not_run"]] == [row["metric"] for row in records["not_run"]]
    (said,) = [row["text"] for row in counted["findings"] if row["code"] == "why"]
    assert "at the threshold that keeps the base rate" in said
    # Off the grid: as near as a step.
    assert counted["sweep"][0]["calibrated"]["rate"] == pytest.approx(
        records["sweep"][0]["calibrated"]["rate"], abs=0.005
    )


def test_many_scores_are_counted_and_not_sorted(monkeypatch: pytest.MonkeyPatch) -> None:
    from biasamp.auditing import measuring

    data, roles = table(), {"tasks": ["x", "y"], "task_scores": ["x_score", "y_score"]}
    _, counted = both(data, **roles)
    monkeypatch.setattr(measuring, "MOST_SWEPT", 1000)
    assert biasamp.audit(data, **ROLES, **roles, metrics="directional").document["sweep"] == counted["sweep"]


def test_the_demo_from_saved_counts(tmp_path: Path) -> None:
    data = berkeley.with_predictions()
    roles = {"attributes": "gender", "tasks": "admitted", "task_predictions": "admitted_pred"}
    biasamp.count(data, **roles, task_scores="admitted_score", strata="department").save(tmp_path / "counts.parquet")
    held = biasamp.audit(AuditCounts.load(tmp_path / "counts.parquet"), metrics="directional")
    (swept,) = held.document["sweep"]
    assert swept["usual"]["amplification"] == pytest.approx(0.1503, abs=5e-5)


def test_means_over_the_grid_are_near_those_over_all_thresholds() -> None:
    from biasamp.amplification.counted_sweep import CountedCurves
    from biasamp.counts.threshold_counts import count_scores
    from biasamp.data.scores import read_scored

    data = table(3000)
    swept = biasamp.sweep(data["x_score"], data["group"], data["x"])
    held = read_scored(data["group"], data["x"][:, None], data["x_score"][:, None]).scored
    counts, _ = count_scores(held)
    assert counts is not None
    known = swept._known()
    curves = CountedCurves.of_counts(counts, known.signs, known.given, held.truth.labels, True)
    exact, near = swept.agnostic, curves.agnostic((0.0, 1.0))
    assert near["metric"].tolist() == exact["metric"].tolist()
    for one, two in zip(near["value"], exact["value"], strict=True):
        assert one == pytest.approx(two, abs=5e-4)
    at = np.array([0.25, 0.5, 0.75])
    for name in ("rate", "tpr", "fpr", "rate_low", "tpr_high"):
        np.testing.assert_allclose(curves.rates(at)[name], swept.rates(at)[name], atol=1e-12)
    for name in ("amplification", "low", "high"):
        np.testing.assert_allclose(curves.band(at)[name], swept.band(at)[name], atol=1e-12)


@pytest.mark.parametrize("alike", [False, True], ids=["labels apart", "labels alike"])
def test_the_band_of_several_labels_is_never_too_narrow(alike: bool) -> None:
    from biasamp.amplification.counted_sweep import CountedCurves
    from biasamp.counts.threshold_counts import count_scores
    from biasamp.data.scores import read_scored

    data = table(3000, seed=1)
    truth, scores = (
        np.column_stack([data[f"{name}{of}"] for name in ("x", "x" if alike else "y")]) for of in ("", "_score")
    )
    swept = biasamp.sweep(scores, data["group"], truth)
    held = read_scored(data["group"], truth, scores).scored
    counts, _ = count_scores(held)
    assert counts is not None
    known = swept._known()
    curves = CountedCurves.of_counts(counts, known.signs, known.given, held.truth.labels, True)
    at = np.array([0.25, 0.5, 0.75])
    exact, wide = swept.band(at), curves.band(at)
    np.testing.assert_allclose(wide["amplification"], exact["amplification"], atol=1e-12)
    ratio = (wide["high"] - wide["low"]) / (exact["high"] - exact["low"])
    # Labels that are one and the same go together as far as any can.
    assert (ratio < 1.02).all() if alike else (ratio > 1.1).all()
    assert (ratio > 0.99).all()
