"""Sweeps from counts, against those of the records whose scores lie on the grid."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import biasamp
from biasamp.amplification.counted_sweep import CountedCurves, counted_sweep
from biasamp.amplification.threshold_curves import Curves
from biasamp.counts.threshold_counts import GRID, count_scores
from biasamp.data.scores import read_scored


def case(seed: int, tasks: int, weighted: bool) -> tuple[Curves, CountedCurves, Any, Any]:
    """Records with scores of thousandths, their own curves and those of their counts."""
    rng = np.random.default_rng(seed)
    n = 90
    group = rng.choice(["a", "b", "c"], n)
    truth = (rng.random((n, tasks)) < 0.3 + 0.3 * (group == "a")[:, None]).astype(int)
    scores = np.round(np.clip(0.3 * truth + 0.7 * rng.random((n, tasks)), 0, 1), 2)
    weights = rng.integers(1, 4, n) if weighted else None
    swept = biasamp.sweep(scores, group, truth, weights=weights)
    held = read_scored(group, truth, scores, weights=weights).scored
    counts, _ = count_scores(held)
    assert counts is not None
    known = swept._known()
    return (
        known,
        CountedCurves.of_counts(counts, known.signs, known.given, known.outcome, True),
        swept,
        (scores, group, truth),
    )


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tasks", [1, 2])
def test_curves_are_those_of_the_records(tasks: int, weighted: bool) -> None:
    known, curves, swept, _ = case(1, tasks, weighted)
    at = GRID[[0, 3, 250, 500, 501, 1000]]
    for label in range(tasks):
        for power in (1, 2):
            one, two = known.hits(label, at, power), curves.hits(label, at, power)
            for name in ("true", "false", "positive", "negative"):
                np.testing.assert_allclose(getattr(two, name), getattr(one, name))
    assert curves.hits(0, at) is curves.hits(0, at)
    np.testing.assert_allclose(curves.hits(0, at[:2]).true, known.hits(0, at[:2]).true)
    assert curves.distinct().tolist() == [*GRID, np.nextafter(1.0, np.inf)]
    assert curves.distinct(0).tolist() == curves.distinct().tolist()
    assert curves.band_is_cheap(10**9)
    expected = [swept.at(float(threshold))["amplification"] for threshold in at]
    np.testing.assert_allclose(curves.amplification(at), expected, atol=1e-12)
    each = [known.directional(known.hits(k, np.array([0.3, 0.6])[k : k + 1]), k)[0] for k in range(tasks)]
    assert curves.at(np.array([0.3, 0.6])[:tasks]) == pytest.approx(np.mean(each))


@pytest.mark.parametrize("tasks", [1, 2])
def test_the_band_adds_up_what_labels_have(tasks: int) -> None:
    """Errors of several labels as if they went together: their mean."""
    known, curves, _, _ = case(2, tasks, True)
    at = np.array([0.2, 0.5])
    parts = [known._by_group(at, label) for label in range(tasks)]
    value, error = (np.mean([part[k] for part in parts], axis=0) for k in range(2))
    for level in (0.95, 0.8):
        made = curves.band(at, **({} if level == 0.95 else {"level": level}))
        reach = norm.ppf(0.5 + level / 2) * error
        np.testing.assert_allclose(made["amplification"], value)
        np.testing.assert_allclose(made["low"], value - reach)
        np.testing.assert_allclose(made["high"], value + reach)
        assert made["threshold"].tolist() == at.tolist()
    assert len(curves.band()["threshold"]) == 1002


@pytest.mark.parametrize("seed", range(4))
def test_thresholds_that_keep_the_base_rate(seed: int) -> None:
    """The nearest rate of the grid; of two as near, the one with fewer positives."""
    _, curves, _, (scores, _, truth) = case(seed, 2, False)
    thresholds, rates, base = curves.calibrated()
    grid = curves.distinct()
    for k in range(2):
        wanted = truth[:, k].mean()
        own = [float((scores[:, k] >= at).mean()) for at in grid]
        near = min(abs(rate - wanted) for rate in own)
        best = [i for i, rate in enumerate(own) if abs(rate - wanted) <= near + 1e-12]
        alike = len({round(own[i], 9) for i in best}) == 1
        assert (rates[k], base[k]) == (
            pytest.approx(own[best[-1]] if alike else wanted, abs=near + 1e-9),
            pytest.approx(wanted),
        )
        if alike:  # rates as near on either side are told apart by rounding
            assert thresholds[k] == grid[best[-1]]


def test_the_threshold_that_was_used() -> None:
    """One half where it gives the decisions, else the highest that does; none where none does."""
    _, curves, _, (scores, group, _) = case(3, 2, False)

    def decided(least: float) -> np.ndarray:
        return np.array(
            [[((group == g) & (scores[:, k] >= least)).sum() for k in range(2)] for g in "abc"], dtype=float
        )

    assert curves.used(decided(0.5)) == 0.5
    found = curves.used(decided(0.305))
    assert found is not None
    assert decided(found).tolist() == decided(0.305).tolist()
    assert decided(found + 0.001).tolist() != decided(0.305).tolist()
    assert curves.used(decided(0.3) + np.array([[0, 0], [0, 1], [0, 0]])) is None


@pytest.mark.parametrize("tasks", [1, 2])
def test_the_sweep(tasks: int) -> None:
    _, curves, swept, (scores, group, truth) = case(4, tasks, False)
    made = counted_sweep(curves, 0.125, "a table", 90)
    assert (made.integral, made.sign_source, made.n, made.used, made.span) == (0.125, "a table", 90, 0.5, (0.0, 1.0))
    assert counted_sweep(curves, 0.125, "a table", 90, None).used is None
    assert made.base_rate == pytest.approx(truth.mean())
    assert len(made.curve) == 1002
    for place in (0, 123, 500, 1001):
        row = list(made.curve.rows())[place]
        exact = swept.at(row["threshold"])
        assert row["amplification"] == pytest.approx(exact["amplification"], abs=1e-12)
        assert row["rate"] == pytest.approx(exact["rate"])
        assert ("parity" in row) == (tasks == 1)
        if tasks == 1:
            assert row["parity"] == pytest.approx(exact["parity"])
            for g in "abc":
                assert row[f"rate of {g}"] == pytest.approx((scores[group == g, 0] >= row["threshold"]).mean())


def test_means_lie_between_thresholds() -> None:
    _, curves, _, _ = case(5, 1, False)
    values = np.array([0.2, 0.4, 1.0])
    assert curves._steps(values).tolist() == pytest.approx([0.2, 0.3, 0.7])
