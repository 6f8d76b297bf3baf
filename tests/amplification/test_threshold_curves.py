"""Rates of groups at thresholds, and means over all thresholds, against loops over every threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import biasamp


def case(seed: int, n: int = 80, tasks: int | None = None, groups: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = rng.integers(groups, size=n)
    shape: Any = n if tasks is None else (n, tasks)
    lean = group if tasks is None else group[:, None]
    truth = (rng.random(shape) < 0.2 + 0.2 * lean).astype(int)
    return np.round(np.clip(0.3 * truth + 0.7 * rng.random(shape), 0, 1), 1), group, truth


def steps(scores: Any, low: float, high: float) -> list[tuple[float, float]]:
    """Every threshold at which something changes inside a span, and the width of the step that ends there."""
    inside = [score for score in sorted(set(np.ravel(scores).tolist())) if low < score < high]
    edges = [low, *inside, high]
    return [(edges[i + 1], edges[i + 1] - edges[i]) for i in range(len(edges) - 1)]


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("weighted", [False, True])
def test_rates_of_groups_are_those_of_decisions(seed: int, weighted: bool) -> None:
    scores, group, truth = case(seed)
    weights = np.random.default_rng(seed).random(80) + 0.1 if weighted else np.ones(80)
    swept = biasamp.sweep(scores, group, truth, weights=weights if weighted else None)
    rows = list(swept.rates().rows())
    assert len(rows) == 3 * len(swept.curve)
    for row in rows:
        mine = group == int(row["given"])
        said = scores >= row["threshold"]
        assert row["rate"] == pytest.approx(np.average(said[mine], weights=weights[mine]), abs=1e-12)
        for name, side in (("tpr", truth == 1), ("fpr", truth == 0)):
            few = mine & side
            assert row[name] == pytest.approx(np.average(said[few], weights=weights[few]), abs=1e-12)
            assert row[f"{name}_low"] <= row[name] <= row[f"{name}_high"]


def test_bands_of_rates_are_wilsons() -> None:
    stats = pytest.importorskip("scipy.stats")
    scores, group, truth = case(1)
    row = next(row for row in biasamp.sweep(scores, group, truth).rates([0.5]).rows() if row["given"] == "1")
    mine = group == 1
    theirs = stats.binomtest(int((scores[mine] >= 0.5).sum()), int(mine.sum())).proportion_ci(method="wilson")
    assert (row["rate_low"], row["rate_high"]) == pytest.approx((theirs.low, theirs.high))


@pytest.mark.parametrize("seed", range(4))
def test_means_over_thresholds_are_exact(seed: int) -> None:
    scores, group, truth = case(seed)
    swept = biasamp.sweep(scores, group, truth)
    found = {row["metric"]: row for row in swept.agnostic.rows()}
    sums: dict[str, list[float]] = {name: [0.0, 0.0] for name in found}
    yes = biasamp.binary(truth)
    for threshold, width in steps(scores, 0.0, 1.0):
        said = (scores >= threshold).astype(int)
        held = biasamp.binary(said)
        values = {
            "directional": biasamp.directional(group, yes, held).value,
            "multi": biasamp.multi(group, yes, held).value,
        }
        if said.any():
            values["mals"] = biasamp.mals(group, yes, group, held).value
        parity = biasamp.parity(group, yes, held).table
        values |= {name: float(parity[name][0]) for name in ("tpr_difference", "fpr_difference", "accuracy_difference")}
        rates = [said[group == g].mean() for g in range(3)]
        values["selection_rate_difference"] = max(rates) - min(rates)
        for name, value in values.items():
            sums[name][0] += width * value
            sums[name][1] += width
    for name, (total, width) in sums.items():
        assert found[name]["share"] == pytest.approx(width)
        assert found[name]["value"] == pytest.approx(total / width, abs=1e-12), name
    assert found["directional"]["value"] == pytest.approx(swept.integral, abs=1e-12)


def test_means_of_several_labels_and_another_span() -> None:
    scores, group, truth = case(7, 90, tasks=3)
    swept = biasamp.sweep(scores, group, truth, span=(0.25, 0.6))
    whole = {row["metric"]: row["value"] for row in swept.agnostic.rows() if row["outcome"] == ""}
    assert whole["directional"] == pytest.approx(swept.integral, abs=1e-12)
    total = 0.0
    for threshold, width in steps(scores, 0.25, 0.6):
        said = (scores >= threshold).astype(int)
        rates = [[(said[group == g, k].mean() - truth[group == g, k].mean()) for k in range(3)] for g in range(3)]
        total += width * float(np.abs(rates).mean()) / 0.35
    assert whole["multi"] == pytest.approx(total, abs=1e-12)


@pytest.mark.parametrize("tasks", [None, 3])
def test_the_band_is_that_of_the_decided_value(tasks: int | None) -> None:
    scores, group, truth = case(3, 600, tasks)
    swept = biasamp.sweep(scores, group, truth)
    for row in swept.band([0.3, 0.5]).rows():
        said = (scores >= row["threshold"]).astype(int)
        alone = biasamp.directional(group, biasamp.binary(truth), biasamp.binary(said))
        held = alone.quiet_interval(method="closed_form")
        assert row["amplification"] == pytest.approx(alone.value, abs=1e-12)
        # Bags put a few records together, which moves an error by some percent.
        assert row["high"] - row["low"] == pytest.approx(held.high - held.low, rel=0.1)


def test_groups_that_overlap_have_a_band() -> None:
    scores, _, truth = case(4, 500)
    both = np.random.default_rng(0).integers(2, size=(500, 2))
    row = next(biasamp.sweep(scores, both, truth).band([0.4]).rows())
    held = biasamp.directional(both, biasamp.binary(truth), biasamp.binary((scores >= 0.4).astype(int)))
    width = held.quiet_interval(method="closed_form")
    assert row["high"] - row["low"] == pytest.approx(width.high - width.low, rel=0.1)


def test_marked_thresholds() -> None:
    scores, group, truth = case(5, 2000)
    swept = biasamp.sweep(scores, group, truth, threshold=0.4)
    marks = swept.marks
    assert list(marks) == ["used", "base_rate", "zero"]
    assert marks["used"]["amplification"] == swept.at(0.4)["amplification"]
    assert marks["base_rate"]["rate"] == swept.at_rate(truth.mean())["rate"]
    mixed = [row["amplification"] for row in swept.curve.rows() if 0 < row["rate"] < 1]
    assert abs(marks["zero"]["amplification"]) == min(map(abs, mixed))
    assert all(row["low"] < row["amplification"] < row["high"] for row in marks.values())
    assert biasamp.sweep(scores, group, truth).used == 0.5
    assert "used" not in biasamp.sweep(scores * 3, group, truth).marks
    with pytest.raises(ValueError, match="threshold is nan"):
        biasamp.sweep(scores, group, truth, threshold=float("nan"))


def test_the_document_and_the_picture_have_groups() -> None:
    scores, group, truth = case(6, 200)
    swept = biasamp.sweep(scores, group, truth)
    held = swept.to_dict(5, groups=True)
    assert {row["given"] for row in held["groups"]} == {"0", "1", "2"}
    assert len(held["band"]) == len(held["curve"]) == 5
    assert "groups" not in swept.to_dict(5)
    pytest.importorskip("matplotlib")
    assert len(swept.plot().axes) == 4


def test_wrong_thresholds_are_refused() -> None:
    swept = biasamp.sweep(*case(8))
    with pytest.raises(ValueError, match="finite numbers"):
        swept.rates([0.1, float("inf")])
    with pytest.raises(TypeError, match="numbers are needed"):
        swept.band("all")
    with pytest.raises(ValueError, match="level is 2"):
        swept.band([0.1], level=2)
