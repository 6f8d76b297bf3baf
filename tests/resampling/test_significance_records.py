"""Intervals and tests of pairs, record by record: soft predictions, weights, clusters in bags, rates that are known."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasamp.counts.bags import BagCounts
from biasamp.counts.pair import PairCounts
from biasamp.resampling.significance import (
    ClusterEffect,
    adjusted_change,
    bag_cluster_effect,
    binomial_mid_p,
    delta_p,
    fair_coins_p,
    normal_quantile,
    pair_intervals,
    q_values,
    rate_intervals,
    rate_p,
    summed_p,
)
from evaluations import make


@dataclass
class Records:
    """Two groups, three outcomes, and what each record of a pair says."""

    group: np.ndarray
    truth: np.ndarray
    said: np.ndarray
    weights: np.ndarray | None = None

    @property
    def evaluation(self) -> Any:
        return make(self.group, self.truth, self.said, self.weights)

    @property
    def counts(self) -> PairCounts:
        return PairCounts.from_labels(self.evaluation)

    def pair(self, g: int, o: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The weights, truths and predictions of the records of one pair."""
        there = self.group == g
        weights = np.ones(len(there)) if self.weights is None else self.weights
        return weights[there], self.truth[there, o].astype(float), self.said[there, o].astype(float)


def records(kind: str, n: int = 60) -> Records:
    rng = np.random.default_rng(7)
    group, truth = rng.integers(0, 2, n), (rng.random((n, 3)) < 0.4).astype(int)
    said: np.ndarray = np.where(rng.random((n, 3)) < [0.3, 0.1, 0.0], 1 - truth, truth)
    if "soft" in kind:
        said = np.round(np.clip(0.7 * said + 0.3 * rng.random((n, 3)), 0, 1), 3)
    return Records(group, truth, said, rng.gamma(2.0, size=n) + 0.1 if "weights" in kind else None)


KINDS = ["hard", "soft", "weights", "soft weights"]
PAIRS = [(g, o) for g in (0, 1) for o in range(3)]


def effect(inflation: float, freedom: float, unseen: float) -> ClusterEffect:
    return ClusterEffect(*(np.full((2, 3), number) for number in (inflation, freedom, unseen)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inflation", [None, (2.5, 1.5), (1.5, 2.5)])
def test_intervals_of_changes(kind: str, inflation: tuple[float, float] | None) -> None:
    """One more error of either kind at the effective size, which the larger of both design effects divides."""
    held = records(kind)
    clusters = None if inflation is None else effect(inflation[0], 6.0, inflation[1])
    low, high = pair_intervals(held.counts, 0.9, clusters)
    quantile = stats.norm.ppf(0.95) if clusters is None else stats.t.ppf(0.95, 6)
    for g, o in PAIRS:
        w, one, said = held.pair(g, o)
        size = w.sum() ** 2 / (w**2).sum() / (1.0 if inflation is None else 2.5)
        mean, square = w @ (said - one) / w.sum(), w**2 @ (said - one) ** 2 / (w**2).sum()
        centre, spread = size * mean / (size + 2), (size * square + 2) / (size + 2)
        reach = quantile * np.sqrt((spread - centre**2) / (size + 2))
        assert (low[g, o], high[g, o]) == pytest.approx((centre - reach, centre + reach), rel=1e-9)
        shrunk, error, plain = (part[g, o] for part in adjusted_change(held.counts, np.full((2, 3), size)))
        assert (shrunk, error) == pytest.approx((centre, reach / quantile), rel=1e-9)
        assert plain == pytest.approx((square - mean**2) / size, rel=1e-9, abs=1e-15)


def test_intervals_of_changes_end_at_1() -> None:
    low, high = pair_intervals(Records(np.array([0, 1]), np.array([[0], [1]]), np.array([[1], [0]])).counts)
    reach = stats.norm.ppf(0.975) * np.sqrt((1 - 1 / 9) / 3)
    assert low[:, 0] == pytest.approx([1 / 3 - reach, -1.0])
    assert high[:, 0] == pytest.approx([1.0, reach - 1 / 3])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inflation", [None, (2.5, 1.5), (1.5, 2.5)])
def test_intervals_of_rates(kind: str, inflation: tuple[float, float] | None) -> None:
    """Agresti and Coull at the effective size."""
    held = records(kind)
    clusters = None if inflation is None else effect(inflation[0], 6.0, inflation[1])
    low, high = rate_intervals(held.counts, 0.9, clusters)
    z = stats.norm.ppf(0.95) if clusters is None else stats.t.ppf(0.95, 6)
    for g, o in PAIRS:
        w, _, said = held.pair(g, o)
        size = w.sum() ** 2 / (w**2).sum() / (1.0 if inflation is None else 2.5)
        centre = (size * (w @ said / w.sum()) + z**2 / 2) / (size + z**2)
        reach = z * np.sqrt(centre * (1 - centre) / (size + z**2))
        assert (low[g, o], high[g, o]) == pytest.approx((centre - reach, centre + reach), rel=1e-9)


def test_intervals_of_rates_end_at_0_and_1() -> None:
    said = np.array([0] * 8 + [1] * 8)[:, None]
    low, high = rate_intervals(Records(np.repeat([0, 1], 8), said, said).counts)
    z = stats.norm.ppf(0.975)
    reach = z * np.sqrt((z**2 / 2) * (8 + z**2 / 2) / (8 + z**2) ** 3)
    assert (low[0, 0], high[0, 0]) == (0.0, pytest.approx((z**2 / 2) / (8 + z**2) + reach))
    assert (low[1, 0], high[1, 0]) == (pytest.approx((8 + z**2 / 2) / (8 + z**2) - reach), 1.0)


@pytest.mark.parametrize("kind", ["soft", "weights", "soft weights"])
def test_p_of_weighted_changes(kind: str) -> None:
    held = records(kind)
    found = delta_p(held.counts)
    for g, o in PAIRS:
        w, one, said = held.pair(g, o)
        if not (said != one).any():
            assert found[g, o] == 1.0
            continue
        z = w @ (said - one) / np.sqrt(w**2 @ (said - one) ** 2)
        assert found[g, o] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)
    assert (found < 0.5).any()


def test_p_of_hard_changes_is_of_the_records_that_are_wrong() -> None:
    """Those that have the label in truth and in prediction, and those that have it in neither, say nothing."""
    held = records("hard")
    found = delta_p(held.counts)
    for g, o in PAIRS:
        _, one, said = held.pair(g, o)
        gained, lost = int((said > one).sum()), int((said < one).sum())
        assert ((said == 1) & (one == 1)).any()
        expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
        assert found[g, o] == pytest.approx(expected, rel=1e-12)


def test_p_of_fair_coins_is_scipys() -> None:
    heads, tails = np.meshgrid(np.arange(14.0), np.arange(14.0))
    found = fair_coins_p(heads, tails)
    for (i, j), p in np.ndenumerate(found):
        expected = stats.binomtest(j, i + j).pvalue if i + j else 1.0
        assert p == pytest.approx(expected, rel=1e-12)


def test_p_of_sums_of_units() -> None:
    """Student's t of the units that moved, about 0; with one of them nothing is known, and none is no evidence."""
    moved = np.array(
        [[1.0, 2.0, 0.0, 0.0, -3.0], [0.5, 0.0, 0.0, 0.0, 1.0], [-0.2, 0.0, 0.0, 1.0, 1.0], [2.0, 0.0, 0.0, 1.0, 0.0]]
    )
    found = summed_p(moved)
    for column, expected in ((0, 3), (4, 2), (3, 1)):
        t = moved[:, column].sum() / np.sqrt((moved[:, column] ** 2).sum())
        assert found[column] == pytest.approx(2 * stats.t.sf(abs(t), expected), rel=1e-12)
    assert found[[1, 2]].tolist() == [1.0, 1.0]
    # They cancel: no evidence at all.
    assert summed_p(np.array([[1.0], [-1.0]])).tolist() == [1.0]


def test_p_of_a_rate_that_is_known() -> None:
    said = np.array([1] * 3 + [0] * 9 + [1] * 5)[:, None]
    counts = Records(np.repeat([0, 1], [12, 5]), said, said).counts
    found = rate_p(counts, np.array([[0.4], [1.0]]))
    chances = stats.binom.pmf(np.arange(13), 12, 0.4)
    assert found[0, 0] == pytest.approx(2 * (chances[:3].sum() + chances[3] / 2), rel=1e-9)
    # Five of five at a rate of 1 is all that can be: half of it, twice.
    assert found[1, 0] == pytest.approx(1.0)
    assert rate_p(counts, np.array([[0.0], [0.4]]))[0, 0] == 0.0
    assert rate_p(counts, np.array([[0.0], [0.4]]))[1, 0] == pytest.approx(0.4**5, rel=1e-9)
    for outside in (-0.1, 1.1, np.nan):
        held = rate_p(counts, np.array([[outside], [0.5]]))
        assert np.isnan(held[0, 0])
        assert held[1, 0] == pytest.approx(0.5**5, rel=1e-9)


def test_p_of_a_rate_of_a_group_without_records_is_nan() -> None:
    import biasamp

    group = biasamp.categorical(np.array([0, 0, 1]), categories=[0, 1, 2])
    counts = PairCounts.from_labels(make(group, [[1], [0], [1]], [[1], [1], [1]]))
    assert np.isnan(rate_p(counts, np.full((3, 1), 0.5)))[:, 0].tolist() == [False, False, True]
    soft = PairCounts.from_labels(make(group, [[1], [0], [1]], [[0.5], [1.0], [0.25]]))
    assert np.isnan(rate_p(soft, np.full((3, 1), 0.5)))[:, 0].tolist() == [False, False, True]


@pytest.mark.parametrize("kind", ["soft", "weights", "soft weights"])
def test_p_of_a_rate_that_is_known_with_weights(kind: str) -> None:
    held = records(kind)
    rates = np.array([[0.3, 0.5, 0.7], [0.25, 0.45, 1.2]])
    found = rate_p(held.counts, rates)
    for g, o in PAIRS[:-1]:
        w, _, said = held.pair(g, o)
        rate = rates[g, o]
        z = (w @ said / w.sum() - rate) / np.sqrt(rate * (1 - rate) * (w**2).sum() / w.sum() ** 2)
        assert found[g, o] == pytest.approx(2 * stats.norm.sf(abs(z)), rel=1e-9)
    assert np.isnan(found[1, 2])


@pytest.mark.parametrize("chance", [0.0, 0.02, 0.5, 1.0])
def test_mid_p_at_the_ends_of_chances(chance: float) -> None:
    for n in (1, 2, 9):
        k = np.arange(n + 1.0)
        seen, below = stats.binom.pmf(k, n, chance), stats.binom.cdf(k - 1, n, chance)
        lower, upper = below + seen / 2, 1 - below - seen / 2
        expected = np.minimum(2 * np.minimum(lower, upper), 1.0)
        np.testing.assert_allclose(
            binomial_mid_p(k, np.array(float(n)), np.array(chance)), expected, rtol=1e-10, atol=1e-15
        )


def test_quantiles() -> None:
    for level in (0.5, 0.9, 0.95, 0.99):
        assert normal_quantile(level) == pytest.approx(stats.norm.ppf(0.5 + level / 2), rel=1e-12)


def test_clusters_widen_p_by_students_t() -> None:
    made = ClusterEffect(np.array([1.0, 4.0, 2.0]), np.array([5.0, 3.0, 1e6]), np.array([3.0, 1.0, 2.0]))
    assert made.of_intervals.tolist() == [3.0, 4.0, 2.0]
    p = np.array([0.04, 0.001, 0.3])
    expected = [2 * stats.t.sf(stats.norm.isf(p[i] / 2) / np.sqrt([1, 4, 2][i]), [5, 3, 1e6][i]) for i in range(3)]
    assert made.widened(p) == pytest.approx(expected, rel=1e-9)
    # A p-value of 0 is taken for the smallest there is; 1 stays 1.
    assert made.widened(np.array([0.0, 1.0, 1.0]))[1:].tolist() == [1.0, 1.0]
    most = stats.norm.isf(0.5e-300)
    assert made.widened(np.zeros(3)) == pytest.approx(
        [2 * stats.t.sf(most, 5), 2 * stats.t.sf(most / 2, 3), 2 * stats.t.sf(most / np.sqrt(2), 1e6)], rel=1e-6
    )


@pytest.mark.parametrize("bags", [8, 4096])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("against_truth", [True, False])
def test_the_design_effect_of_clusters(kind: str, bags: int, against_truth: bool) -> None:
    """Squares of the sums over bags over the sum of squares; records without clusters are clusters of their own."""
    from biasamp.counts.bagging import bag_of
    from biasamp.data.keys import row_keys

    held = records(kind, 60)
    counted = BagCounts.from_labels(held.evaluation, bags)
    bag = bag_of(row_keys(0, 60), bags)
    rates = np.array([[0.3, 0.5, 0.7], [0.25, 0.45, 0.6]])
    change = np.array(
        [
            [np.average(held.pair(g, o)[2] - held.pair(g, o)[1], weights=held.pair(g, o)[0]) for o in range(3)]
            for g in (0, 1)
        ]
    )
    centre = change if against_truth else rates
    made = bag_cluster_effect(counted, centre, against_truth)
    for g, o in PAIRS:
        w, one, said = held.pair(g, o)
        plain = (said - one if against_truth else said) - centre[g, o]
        moved = w * plain
        where = bag[held.group == g]
        together, apart = (np.bincount(where, moved) ** 2).sum(), (moved**2).sum()
        if not against_truth and kind != "hard":
            # Of predictions alone the variance is that of hard ones, at the mean squared weight.
            apart = (w @ said * (1 - 2 * centre[g, o]) + centre[g, o] ** 2 * w.sum()) * (w**2).sum() / w.sum()
        ratio = max(together / apart, 1.0) if apart > 0 else 1.0
        filled = len(set(where.tolist()))
        assert made.inflation[g, o] == pytest.approx(ratio, rel=1e-9)
        assert made.freedom[g, o] == filled - 1
        # So many clusters fill so many of the bags; where all are full, half a bag is taken to be empty.
        clusters = -bags * np.log(1 - min(filled, bags - 0.5) / bags)
        size = w.sum() ** 2 / (w**2).sum()
        errors = size * max(apart, 0.0) / (w**2).sum()
        unseen = (ratio * errors + max(size / clusters, 1.0)) / (errors + 1)
        assert made.unseen[g, o] == pytest.approx(unseen, rel=1e-9)


@pytest.mark.parametrize("against_truth", [True, False])
@pytest.mark.parametrize("scale", [37.0, 1 / 128])
def test_the_scale_of_weights_is_no_effect_of_clusters(scale: float, against_truth: bool) -> None:
    held = records("hard", 200)
    rates = np.array([[0.3, 0.2, 0.4], [0.25, 0.45, 0.6]])
    plain, scaled = (
        bag_cluster_effect(BagCounts.from_labels(part.evaluation, 16), rates, against_truth)
        for part in (held, Records(held.group, held.truth, held.said, np.full(200, scale)))
    )
    assert plain.inflation.max() > 1.0
    assert scaled.inflation == pytest.approx(plain.inflation, rel=1e-12)
    assert scaled.unseen == pytest.approx(plain.unseen, rel=1e-12)


def test_a_group_without_records_or_with_one_has_no_design_effect() -> None:
    import biasamp

    group = biasamp.categorical(np.array([0, 0, 0, 1]), categories=[0, 1, 2])
    counted = BagCounts.from_labels(make(group, [[0], [0], [1], [0]], [[1], [0], [0], [1]]), 4096)
    made = bag_cluster_effect(counted, np.array([[0.0], [1.0], [np.nan]]))
    assert made.inflation[:, 0].tolist() == [1.0, 1.0, 1.0]
    assert made.freedom[:, 0].tolist() == [2.0, 1.0, 1.0]
    assert made.unseen[2, 0] == 1.0


@pytest.mark.parametrize("method", ["bh", "by"])
def test_q_values_of_arrays_of_any_shape(method: str) -> None:
    p = np.array([[0.2, np.nan, 0.001], [0.0, 1.0, 0.04]])
    found = q_values(p, method)
    expected = stats.false_discovery_control(p[~np.isnan(p)], method=method)
    assert found.shape == p.shape
    assert found[~np.isnan(p)] == pytest.approx(expected, rel=1e-12)
    assert np.isnan(found[0, 1])
    for wrong in ([-0.1, 0.5], [0.5, 1.0001], [-1e-9], [0.5, np.nan, 2.0]):
        with pytest.raises(ValueError, match="must lie in"):
            q_values(wrong, method)
    assert q_values([], method).shape == (0,)


@pytest.mark.parametrize("method", ["holm", None, ["bh"], 1])
def test_unknown_methods_are_named(method: Any) -> None:
    with pytest.raises(ValueError, match=r"'bh' \(Benjamini-Hochberg\) or 'by' \(Benjamini-Yekutieli\)"):
        q_values([0.5], method)
