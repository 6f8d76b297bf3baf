"""Sums of outcomes by bag and group, against loops over bags and Hall's transformation as it is printed."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

import biasamp
from biasamp.amplification.mean_sums import Sums, _reaches, _skewness
from biasamp.counts.bagging import MOST_BAGS, bag_weights


def drawn_sums(seed: int, bags: int = 25, apart: float = 1.0, empty: bool = False) -> Sums:
    """Bags of some records; a group that some bags lack, and one that may have no record at all."""
    rng = np.random.default_rng(seed)
    size = rng.integers(0, 4, (bags, 4)).astype(float)
    size[: bags // 2, 3] = 0.0
    said_size = np.maximum(size + rng.integers(-1, 2, size.shape), 0.0)
    if empty:
        size[:, 2] = 0.0
    centre = apart * np.array([-2.0, 1.0, 0.5, 3.0])
    true = size * centre + rng.normal(size=size.shape) * np.sqrt(size)
    said = said_size * (centre + np.array([0.3, -0.2, 0.1, 0.9])) + rng.normal(size=size.shape) ** 2 * np.sqrt(
        said_size
    )
    numbers = np.sort(rng.choice(MOST_BAGS, bags, replace=False))
    return Sums(numbers, size, true, said_size, said, size.sum(axis=1), true.sum(axis=1))


def mean(above: Any, below: Any) -> float:
    return float(sum(above) / sum(below)) if sum(below) else float("nan")


class Slow:
    """Group by group, bag by bag."""

    def __init__(self, sums: Sums, trained: Any = None, weights: Any = None) -> None:
        self.sums, self.trained = sums, trained
        self.w = np.ones(len(sums.numbers)) if weights is None else weights
        self.groups = range(sums.size.shape[1])
        self.true = [mean(self.w * sums.true[:, g], self.w * sums.size[:, g]) for g in self.groups]
        self.said = [mean(self.w * sums.said[:, g], self.w * sums.said_size[:, g]) for g in self.groups]
        self.all = mean(self.w * sums.all_outcome, self.w * sums.all_size)

    def again(self, resamples: int, seed: int) -> list[Slow]:
        weights = np.asarray(bag_weights(self.sums.numbers, MOST_BAGS, resamples, seed), dtype=float)
        return [Slow(self.sums, self.trained, row) for row in weights]

    def sign(self, g: int) -> float:
        where = self.true[g] - self.all if self.trained is None else self.trained[g]
        return float(np.sign(where))

    def freedom(self, g: int) -> int:
        return max(int((self.sums.size[:, g] > 0).sum()) - 1, 1)

    def side_p(self, g: int) -> float:
        if np.isnan(self.true[g]):
            return 1.0
        error = np.nanstd([one.true[g] - one.all for one in self.again(500, 0)])
        return float(2 * student.sf(abs(self.true[g] - self.all) / error, self.freedom(g)))

    def influence(self, g: int) -> np.ndarray:
        """What each bag adds to the change of a group."""
        held = self.sums
        said = (held.said[:, g] - self.said[g] * held.said_size[:, g]) / sum(held.said_size[:, g])
        true = (held.true[:, g] - self.true[g] * held.size[:, g]) / sum(held.size[:, g])
        return np.asarray(said - true)


def hall(skewness: float, quantile: float) -> tuple[float, float]:
    """Where Hall's cubic, ``t + a t**2 / 3 + a**2 t**3 / 27 + a / 6``, is the quantile; from once to twice that."""
    a = skewness / (2 / 3)

    def solved(z: float) -> float:
        roots = np.roots([a * a / 27, a / 3, 1.0, a / 6 - z]) if abs(a) > 1e-6 else np.array([z + 0j])
        (real,) = roots[np.abs(roots.imag) < 1e-6].real[:1]
        return float(real)

    return tuple(min(max(reach, quantile), 2 * quantile) for reach in (solved(quantile), -solved(-quantile)))  # type: ignore[return-value]


@pytest.mark.parametrize("skewness", [-2.0, -0.5, -0.1, 0.05, 0.3, 1.0])
@pytest.mark.parametrize("quantile", [1.0, 1.96, 4.0])
def test_reaches_are_halls(skewness: float, quantile: float) -> None:
    below, above = _reaches(np.array(quantile), np.array(skewness))
    assert (float(below), float(above)) == pytest.approx(hall(skewness, quantile), rel=1e-6)
    swapped = _reaches(np.array(quantile), np.array(-skewness))
    assert (float(swapped[1]), float(swapped[0])) == pytest.approx((float(below), float(above)))


def test_reaches_without_skewness() -> None:
    below, above = _reaches(np.array([2.0, 1.0]), np.array([0.0, 1e-9]))
    assert below == pytest.approx([2.0, 1.0], rel=1e-5)
    assert above == pytest.approx([2.0, 1.0], rel=1e-5)
    near = _reaches(np.array(2.0), np.array(4e-3))
    assert near[1] == pytest.approx(hall(4e-3, 2.0)[1], rel=1e-9)


def test_skewness_of_sums() -> None:
    added = np.array([[1.0, 0.0, -2.0], [2.0, 0.0, 0.5], [-3.0, 0.0, 1.0]])
    expected = [(1 + 8 - 27) / 14**1.5, 0.0, (-8 + 0.125 + 1) / 5.25**1.5]
    assert _skewness(added).tolist() == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("trained", [None, (1.0, -0.5, 0.0, 2.0)])
@pytest.mark.parametrize("apart", [1.0, 0.05])
def test_every_figure_is_that_of_loops(seed: int, trained: Any, apart: float) -> None:
    sums = drawn_sums(seed, apart=apart, empty=seed == 3)
    held = None if trained is None else np.array(trained)
    slow = Slow(sums, trained)
    true, said, overall = sums.means()
    assert true.tolist() == pytest.approx(slow.true, nan_ok=True)
    assert said.tolist() == pytest.approx(slow.said, nan_ok=True)
    assert float(overall) == pytest.approx(slow.all)
    there = [g for g in slow.groups if not np.isnan(slow.said[g] - slow.true[g])]
    signs = sums.sides(held)
    assert [signs[g] for g in there] == [slow.sign(g) for g in there]
    p = [slow.side_p(g) for g in slow.groups]
    assert sums.side_p().tolist() == pytest.approx(p, rel=1e-6)
    clear = [trained is not None or one < 0.01 / (len(there) - 1) for one in p]
    assert sums.clear(held).tolist() == clear
    for g in there:
        assert sums.influences()[:, g] == pytest.approx(slow.influence(g))
    change = {g: slow.said[g] - slow.true[g] for g in there}
    again = slow.again(40, 7)

    def value(one: Slow) -> float:
        return float(np.nanmean([slow.sign(g) * (one.said[g] - one.true[g]) for g in slow.groups if g in there]))

    drawn = sums.drawn(40, 7, held)
    assert drawn.tolist() == pytest.approx([value(one) for one in again])
    # The interval: Satterthwaite's degrees of freedom, and the long tail of what bags add.
    lots = {g: slow.sign(g) * slow.influence(g) / len(there) for g in there}
    each = {g: float((lots[g] ** 2).sum()) for g in there}
    total = sum(each.values())
    error = float(np.std([value(one) for one in again]))
    error *= sqrt(sum(each[g] * (slow.freedom(g) + 1) / slow.freedom(g) for g in there) / total)
    freedom = total**2 / sum(each[g] ** 2 / slow.freedom(g) for g in there)
    added = sum(lots.values())
    skewness = float((added**3).sum() / (added**2).sum() ** 1.5)
    below, above = hall(skewness, student.ppf(0.95, max(freedom, 1.0)))
    if not all(clear[g] for g in there):
        below = above = max(below, above)
    known = sum(slow.sign(g) * change[g] for g in there if clear[g]) / len(there)
    either = sum(abs(change[g]) for g in there if not clear[g]) / len(there)
    expected = known - either - below * error, known + either + above * error, error
    assert sums.interval(0.9, 40, 7, held) == pytest.approx(expected, rel=1e-6)
    # Each group by itself.
    low, high, own_p = sums.each(0.9)
    resampled = slow.again(500, 0)
    for g in there:
        own = float(np.nanstd([one.said[g] - one.true[g] for one in resampled]))
        moved = slow.influence(g)
        reach = hall(float((moved**3).sum() / (moved**2).sum() ** 1.5), float(student.ppf(0.95, slow.freedom(g))))
        ends = change[g] - reach[0] * own, change[g] + reach[1] * own
        assert (low[g], high[g]) == pytest.approx(ends, rel=1e-6)
        assert own_p[g] == pytest.approx(2 * student.sf(abs(change[g]) / own, slow.freedom(g)), rel=1e-6)


def test_groups_at_the_mean_have_no_side() -> None:
    """A hair of rounding is none."""
    sums = drawn_sums(0)
    one = np.ones((2, 2))
    even = replace(
        sums,
        size=one,
        true=np.array([[0.1, 0.2], [0.2, 0.1]]),
        all_size=one.sum(axis=1),
        all_outcome=np.array([0.3, 0.3]),
    )
    assert even.sides(None).tolist() == [0.0, 0.0]
    hair = replace(even, true=np.array([[0.1, 0.2], [0.2, 0.1 - 1e-9]]))
    assert hair.sides(None).tolist() == [0.0, -1.0]
    assert even.sides(np.array([-3.0, 0.0])).tolist() == [-1.0, 0.0]


def test_changes_without_any_spread() -> None:
    """All records are predicted right: nothing varies, and nothing is found. All a step too high: it is certain."""
    group, outcome = ["a", "b"] * 30, [1.0, 3.0] * 30
    right = biasamp.mean_amplification(group, outcome, predicted=[1.0, 3.0] * 30)
    assert right.groups["p"].tolist() == [1.0, 1.0]
    assert tuple(right.confidence_interval())[:2] == (0.0, 0.0)
    moved = biasamp.mean_amplification(group, outcome, predicted=[1.0, 4.0] * 30)
    assert moved.groups["p"].tolist() == [1.0, 0.0]
    assert tuple(moved.confidence_interval())[:2] == pytest.approx((0.5, 0.5))


def test_one_group_has_no_side_to_miss() -> None:
    """A single group lies at the mean."""
    one = np.ones((3, 1))
    sums = Sums(np.arange(3), one, 0.0 * one, one, 0.5 * one, one[:, 0], 0.0 * one[:, 0])
    assert (sums.sides(None).tolist(), sums.side_p().tolist(), sums.clear(None).tolist()) == ([0.0], [1.0], [False])


def test_the_fields_of_a_result() -> None:
    rng = np.random.default_rng(4)
    group = rng.choice(["a", "b", "c"], 90)
    outcome = rng.normal(size=90) + np.where(group == "a", 2.0, 0.0)
    said = outcome + np.where(group == "a", 0.5, -0.25) + 0.1 * rng.normal(size=90)
    weights = rng.random(90) + 0.5
    made = biasamp.mean_amplification(group, outcome, predicted=said, weights=weights, level=0.9)
    overall = np.average(outcome, weights=weights)
    deviation = sqrt(np.average((outcome - overall) ** 2, weights=weights))
    assert (made.n, made.level, made.direction) == (pytest.approx(weights.sum()), 0.9, "A->T")
    assert made.deviation == pytest.approx(deviation)
    total = 0.0
    low, high, p = made._sums.each(0.9)
    for k, row in enumerate(made.groups.rows()):
        mine = group == row["given"]
        true, predicted = (np.average(part[mine], weights=weights[mine]) for part in (outcome, said))
        sign = np.sign(true - overall)
        found = [row[name] for name in ("support", "true_mean", "predicted_mean", "delta", "sign", "amplification")]
        change = predicted - true
        assert found == pytest.approx([weights[mine].sum(), true, predicted, change, sign, sign * change])
        assert row["standardised"] == pytest.approx(sign * change / deviation)
        ends = (low[k], high[k]) if sign > 0 else (-high[k], -low[k])
        assert (row["low"], row["high"], row["p"]) == pytest.approx((*ends, p[k]))
        total += sign * change
    assert made.value == pytest.approx(total / 3)
    assert made.standardised == pytest.approx(total / 3 / deviation)
    assert made.unclear == int((~made._sums.clear(None)).sum())
    interval = made.confidence_interval(0.8, 60, 3)
    assert tuple(interval)[:2] == made._sums.interval(0.8, 60, 3, None)[:2]
    assert interval.standard_error == made._sums.interval(0.8, 60, 3, None)[2]
    scaled = made.confidence_interval(0.8, 60, 3, of="standardised")
    assert (scaled.low, scaled.high, scaled.standard_error) == pytest.approx(
        (interval.low / deviation, interval.high / deviation, interval.standard_error / deviation)  # type: ignore[operator]
    )
    assert (interval.level, interval.method) == (0.8, "bags of records, either sign where it is not clear")
    assert tuple(made.confidence_interval()) == tuple(made.confidence_interval(0.95, 1000, 0, of="value"))
    assert made.resampled(5, 2).tolist() == made._sums.drawn(5, 2, None).tolist()
    low, high = made.confidence_interval(0.9)
    assert made.to_dict() == {
        "metric": "mean_difference",
        "direction": "A->T",
        "value": made.value,
        "interval": [low, high],
        "standardised": made.standardised,
        "deviation": made.deviation,
        "n": made.n,
        "groups": made.groups.plain_rows(),
    }
    for wrong in ({"level": 1.0}, {"resamples": 1}, {"seed": -1}, {"of": "delta"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            made.confidence_interval(**wrong)
    assert made.confidence_interval(resamples=2).level == 0.95


def test_outcomes_that_are_all_alike() -> None:
    """There is no deviation to standardise with."""
    made = biasamp.mean_amplification(["a", "b"] * 5, [2.0] * 10, predicted=[2.0, 2.5] * 5)
    assert np.isnan(made.standardised)
    assert np.isnan(made.groups["standardised"]).all()
    assert made.groups["sign"].tolist() == [0, 0]
    assert made.value == 0.0


def test_train_labels_that_lack_a_group() -> None:
    group, outcome, said = ["a", "b", "c"] * 8, [1.0, 2.0, 6.0] * 8, [1.5, 2.25, 5.0] * 8
    made = biasamp.mean_amplification(group, outcome, predicted=said, train=(["a", "b", "b"], [5.0, 1.0, 3.0]))
    assert made.groups["sign"].tolist() == [1, -1, 0]
    assert made.groups["amplification"].tolist() == pytest.approx([0.5, -0.25, 0.0])
    assert made.unclear == 0
    with pytest.raises(TypeError, match="train must be a pair"):
        biasamp.mean_amplification(group, outcome, predicted=said, train=(group, outcome, said))
    with pytest.raises(ValueError, match="train outcome has shape"):
        biasamp.mean_amplification(group, outcome, predicted=said, train=(["a", "b"], [5.0, 1.0, 3.0]))


def test_same_columns_and_clusters() -> None:
    rng = np.random.default_rng(5)
    group = rng.choice(["a", "b"], 60)
    outcome = rng.normal(size=60)
    said = outcome + 0.3 * rng.normal(size=60)
    with pytest.raises(ValueError, match="outcome and predicted are the same column"):
        biasamp.mean_amplification(group, outcome, predicted=outcome)
    alone = biasamp.mean_amplification(group, outcome, predicted=said)
    four = [np.repeat(part, 4) for part in (group, outcome, said, np.arange(60))]
    clustered = biasamp.mean_amplification(*four[:2], predicted=four[2], cluster=four[3])
    copied = biasamp.mean_amplification(*four[:2], predicted=four[2])
    wide = [one.confidence_interval().standard_error for one in (alone, clustered, copied)]
    assert wide[1] == pytest.approx(wide[0], rel=0.2)
    assert wide[2] < 0.7 * wide[1]  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"there is nan \(row 2, counted from 1.*; 2 such records\)"):
        biasamp.mean_amplification(group[:3], [1.0, float("nan"), float("nan")], predicted=said[:3])
    with pytest.raises(ValueError, match="level"):
        biasamp.mean_amplification(group, outcome, predicted=said, level=0.0)


def test_a_group_that_nobody_has_is_no_warning() -> None:
    """Declared values need not be there: the others are as without it."""
    outcome, said = [1.0, 2.0, 4.0] * 8, [1.5, 2.0, 3.0] * 8
    declared = biasamp.categorical(["a", "b", "b"] * 8, categories=["a", "b", "c"])
    made = biasamp.mean_amplification(declared, outcome, predicted=said)
    plain = biasamp.mean_amplification(["a", "b", "b"] * 8, outcome, predicted=said)
    assert made.value == plain.value
    assert tuple(made.confidence_interval()) == pytest.approx(tuple(plain.confidence_interval()))
    for name in ("delta", "p", "q"):
        assert made.groups[name][:2].tolist() == plain.groups[name].tolist()
        assert np.isnan(made.groups[name][2])
    assert made.groups["sign"].tolist() == [*plain.groups["sign"].tolist(), 0]
    assert made.groups["sign_p"][2] == 1.0


def test_outcomes_of_small_units() -> None:
    """Thousandths are standardised as thousands are."""
    group, outcome, said = ["a", "b"] * 20, np.array([1.0, 3.0] * 20), np.array([0.5, 3.25] * 20)
    for unit in (1e-3, 1.0, 1e3):
        made = biasamp.mean_amplification(group, unit * outcome, predicted=unit * said)
        assert made.deviation == pytest.approx(unit)
        assert made.groups["standardised"].tolist() == pytest.approx([0.5, 0.25])
        assert made.standardised == pytest.approx(0.375)


def test_resamples_without_any_record() -> None:
    """Of two records a resample may hold none: it is passed over without a word."""
    made = biasamp.mean_amplification(["a", "b"], [1.0, 3.0], predicted=[0.5, 3.25])
    drawn = made.resampled(200, 0)
    assert np.isnan(drawn).any()
    assert np.isfinite(made.confidence_interval(resamples=200).standard_error)
    assert made.groups["delta"].tolist() == [-0.5, 0.25]
