"""Whether scores promise what comes true, against hand counts."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2

from biasamp.amplification.reliability import reliability_table
from biasamp.counts.reliability import BINS, ReliabilityCounts
from biasamp.data import Label


def counted(n: list[float], truth: list[float], scores: list[float]) -> ReliabilityCounts:
    """Records of weight 1 in the first bins."""
    n_, truth_, scores_ = (
        np.array([[[*held, *[0.0] * (BINS - len(held))]]], dtype=np.float64) for held in (n, truth, scores)
    )
    return ReliabilityCounts(n_, truth_, scores_, n_)


def row(*held: list[float], **options: bool) -> dict[str, float]:
    found = reliability_table(counted(*held), [Label("g", "a")], [Label("t")], **options)
    return {name: float(found[name][0]) for name in ("score", "rate", "error", "expected", "p")}


def test_scores_of_nought_that_come_true_are_off_beyond_chance() -> None:
    """Nothing that has no chance happens, and no number of degrees of freedom is needed to say so."""
    assert row([10.0], [1.0], [0.0])["p"] == 0.0
    assert np.isnan(row([10.0], [0.0], [0.0])["p"])
    # Beside a bin that is right to the record.
    assert row([10.0, 20.0], [0.0, 3.0], [0.0, 3.0])["p"] == 1.0
    assert row([10.0, 20.0], [2.0, 3.0], [0.0, 3.0])["p"] == 0.0
    assert np.isnan(row([10.0], [1.0], [0.0], clustered=True)["p"])


def test_the_test_by_hand() -> None:
    """Two bins of 100: scores of 0.05 and 0.15, rates of 0.08 and 0.10."""
    found = row([100.0, 100.0], [8.0, 10.0], [5.0, 15.0])
    statistic = 100 * 0.03**2 / (0.05 * 0.95) + 100 * 0.05**2 / (0.15 * 0.85)
    assert found["p"] == pytest.approx(chi2.sf(statistic, 2), rel=1e-12)
    assert found["error"] == pytest.approx((0.03 + 0.05) / 2)
    assert (found["score"], found["rate"]) == (pytest.approx(0.1), pytest.approx(0.09))
    expected = sum(np.sqrt(2 * p * (1 - p) / np.pi / 100) for p in (0.05, 0.15)) / 2
    assert found["expected"] == pytest.approx(expected)


def test_every_group_and_outcome_by_its_bins() -> None:
    """Weighted sums of bins: figures go by weights, tests by the effective number of records in each bin."""
    from scipy.stats import chi2

    from biasamp.resampling.significance import q_values

    rng = np.random.default_rng(1)
    n = rng.random((3, 2, BINS)) * 40 + 0.3
    n[1, 1], n[0, 0, 3:] = 0.0, 0.0
    n[2] = 0.0
    n[2, 0, 4] = 0.7
    middle = (np.arange(BINS) + 0.5) / BINS
    scores, truth = n * middle, n * np.clip(middle + rng.normal(0, 0.15, n.shape), 0, 1)
    squared = n * 1.7
    made = reliability_table(
        ReliabilityCounts(n, truth, scores, squared), [Label("g", name) for name in "abc"], [Label("x"), Label("y")]
    )
    rows = list(made.rows())
    places = [(g, o) for g in range(3) for o in range(2) if n[g, o].sum() > 0]
    assert [(found["given"], found["outcome"]) for found in rows] == [(f"g={'abc'[g]}", "xy"[o]) for g, o in places]
    p = []
    for found, (g, o) in zip(rows, places, strict=True):
        total = n[g, o].sum()
        error = expected = statistic = 0.0
        bins = 0
        for b in np.flatnonzero(n[g, o] > 0):
            size, score, rate = n[g, o, b], middle[b], truth[g, o, b] / n[g, o, b]
            effective = size**2 / squared[g, o, b]
            error += size / total * abs(score - rate)
            expected += size / total * np.sqrt(2 * score * (1 - score) / np.pi / max(effective, 1.0))
            statistic += effective * (score - rate) ** 2 / (score * (1 - score))
            bins += 1
        p.append(chi2.sf(statistic, bins))
        names = ("n", "score", "rate", "error", "expected", "p")
        want = (total, scores[g, o].sum() / total, truth[g, o].sum() / total, error, expected, p[-1])
        assert [found[name] for name in names] == pytest.approx(want)
    assert [found["q"] for found in rows] == pytest.approx(q_values(np.array(p)).tolist())
