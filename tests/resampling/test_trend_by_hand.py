"""Slopes, control limits and what steps vary by besides, by the formulas of regression and plain loops."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasamp.resampling.trend import ROUNDING, Steps

AT = np.array([1.0, 2.0, 4.0, 7.0, 8.0, 11.0])


def case(seed: int, count: int = 6, records: float = 1.0, wander: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Values, and a covariance by records in which neighbours share some."""
    rng = np.random.default_rng(seed)
    sd = records * rng.uniform(0.3, 2.0, count)
    near = np.eye(count) + 0.3 * (np.eye(count, k=1) + np.eye(count, k=-1))
    return 0.2 * np.arange(count) + wander * rng.normal(size=count) + sd * rng.normal(size=count), near * np.outer(
        sd, sd
    )


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("level", [0.8, 0.95])
def test_slopes_of_regression(paired: bool, level: float) -> None:
    """Least squares by matrices: the slope, its error, how far steps scatter, and the largest of three p-values."""
    largest = set()
    for seed in range(40):
        values, covariance = case(seed, records=[0.1, 1.0, 3.0][seed % 3])
        made = Steps(AT, values, covariance, paired).slope(level)
        w = np.eye(6) if paired else np.diag(1 / np.diag(covariance))
        x = np.column_stack([np.ones(6), AT])
        solve = np.linalg.solve(x.T @ w @ x, x.T @ w)
        slope, error = (solve @ values)[1], np.sqrt((solve @ covariance @ solve.T)[1, 1])
        assert (made.value, made.standard_error) == pytest.approx((slope, error), rel=1e-9)
        ends = stats.norm.interval(level, slope, error)
        assert (made.low, made.high) == pytest.approx(ends, rel=1e-9)
        left = w - w @ x @ solve
        scatter = values @ left @ values / np.trace(left @ covariance)
        assert made.scatter == pytest.approx(scatter, rel=1e-9)
        chances = [
            2 * stats.norm.sf(abs(slope) / error),
            2 * stats.t.sf(abs(slope) / (error * np.sqrt(scatter)), 4),
            stats.linregress(AT, values).pvalue,
        ]
        assert made.records_p == pytest.approx(chances[0], rel=1e-9)
        assert made.p == pytest.approx(max(chances), rel=1e-9)
        largest.add(int(np.argmax(chances)))
    assert largest == ({0, 1, 2} if not paired else largest | {0})


def test_without_weights_all_steps_count_alike() -> None:
    """Also where one step has no variance by records, of which the inverse is none."""
    values, covariance = case(1)
    none = covariance.copy()
    none[2, :] = none[:, 2] = 0.0
    assert Steps(AT, values, none, paired=False).weights.tolist() == [1.0] * 6
    assert Steps(AT, values, covariance, paired=True).weights.tolist() == [1.0] * 6
    assert Steps(AT, values, covariance, paired=False).weights == pytest.approx(1 / np.diag(covariance))
    assert Steps(AT, values, none, False).slope().value == pytest.approx(np.polyfit(AT, values, 1)[0])


def test_two_steps_tell_nothing_of_how_steps_vary() -> None:
    made = Steps(np.array([1.0, 3.0]), np.array([0.5, 0.9]), np.diag([0.01, 0.03]), paired=False).slope()
    assert made.value == pytest.approx(0.2)
    assert made.standard_error == pytest.approx(0.1)
    assert np.isnan([made.p, made.scatter]).all()
    assert made.records_p == pytest.approx(2 * stats.norm.sf(2.0))


def test_three_steps_have_one_degree_of_freedom() -> None:
    values = np.array([0.0, 2.0, 3.0])
    made = Steps(np.arange(3.0), values, 0.01 * np.eye(3), paired=False).slope()
    assert made.p == pytest.approx(stats.linregress(np.arange(3.0), values).pvalue)
    # One step of three is 1/6 of its distance from the line: squared sums of 1/6, and one hundredth by records.
    assert made.scatter == pytest.approx((1 / 6) / 0.01)


def test_records_that_move_nothing() -> None:
    """No p-value by records, but for a slope of exactly 0; the scatter has nothing to be held against."""
    nothing = np.zeros((4, 4))
    made = Steps(np.arange(4.0), np.array([0.0, 2.0, 1.0, 3.0]), nothing, paired=True).slope()
    assert np.isnan([made.records_p, made.scatter]).all()
    assert (made.low, made.value, made.high) == pytest.approx((0.8, 0.8, 0.8))
    assert made.standard_error == 0.0
    flat = Steps(np.arange(4.0), np.zeros(4), nothing, paired=True).slope()
    assert flat.value == 0.0
    assert flat.records_p == 1.0


def test_steps_on_a_line() -> None:
    """Steps that lie on their line leave the p-value to the records."""
    values = np.array([0.0, 1.0, 2.0, 3.0])
    made = Steps(np.arange(4.0), values, np.eye(4), paired=False).slope()
    assert made.scatter == pytest.approx(0.0, abs=1e-25)
    assert made.p == made.records_p == pytest.approx(2 * stats.norm.sf(np.sqrt(5.0)))


def test_changes_and_contrasts() -> None:
    values, covariance = case(3)
    steps = Steps(AT, values, covariance, paired=False)
    made = steps.change(4, 1, 0.9)
    error = np.sqrt(covariance[4, 4] + covariance[1, 1] - 2 * covariance[4, 1])
    assert made.value == pytest.approx(values[4] - values[1])
    assert made.standard_error == pytest.approx(error)
    assert (made.low, made.high) == pytest.approx(stats.norm.interval(0.9, values[4] - values[1], error))
    same = steps.change(2, 2, 0.9)
    assert (same.value, same.standard_error) == (0.0, 0.0)
    # Rounding may leave a little less than nothing.
    below = Steps(AT, values, -1e-18 * np.eye(6), paired=True).contrast(np.ones(6), 0.9)
    assert below.standard_error == 0.0


USUAL = stats.norm.ppf(0.75) ** 2


def neighbours(values: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    own, pairs = np.diag(covariance), np.diag(covariance, k=1)
    return np.diff(values) ** 2, own[1:] + own[:-1] - 2 * pairs


@pytest.mark.parametrize("count", [5, 6, 9, 10])
def test_what_steps_vary_by_besides_makes_the_median_distance_usual(count: int) -> None:
    found = []
    for seed in range(12):
        values, covariance = case(seed, count, 0.5, 2.0)
        wander = Steps(np.arange(float(count)), values, covariance, paired=False).wander
        squares, variances = neighbours(values, covariance)
        left = np.median(squares / (variances + 2 * wander))
        if wander > 0.0:
            assert left == pytest.approx(USUAL, rel=1e-9)
        else:
            assert left <= USUAL
        found.append(wander > 0.0)
    assert any(found)


def test_distances_of_just_the_usual_size_are_explained_by_records() -> None:
    """The line between what records explain and what they do not."""
    values = np.cumsum([0.0, *np.sqrt(2.0 * USUAL) * np.array([1, -1, 1, -1, 1])])
    for more, explained in ((0.999, True), (1.001, False)):
        assert (Steps(np.arange(6.0), more * values, np.eye(6), False).wander == 0.0) == explained


def test_fewer_than_four_distances_tell_nothing() -> None:
    values = np.array([0.0, 9.0, -9.0, 9.0, -9.0])
    for count, told in ((3, False), (4, False), (5, True)):
        steps = Steps(np.arange(float(count)), values[:count], 0.01 * np.eye(count), paired=False)
        assert steps.tells_wander == told
        assert (steps.wander > 0.0) == told


def test_steps_vary_besides_where_records_move_nothing() -> None:
    """The median squared distance is 4 then: 2 for each of two neighbours, over the usual one. There is no warning."""
    values = np.array([0.0, 2.0, 0.0, 2.0, 0.0, 2.0])
    found = Steps(np.arange(6.0), values, np.zeros((6, 6)), paired=True).wander
    assert found == pytest.approx(4.0 / 2.0 / USUAL, rel=1e-9)


def limits(values: np.ndarray, covariance: np.ndarray, paired: bool, level: float, wander: float) -> list[Any]:
    """Step by step: the mean of those before that were within their limits, and how far one step more may lie from it."""
    count, own = len(values), np.diag(covariance)
    _, variances = neighbours(values, covariance)
    ends: list[Any] = []
    within: list[int] = [0]
    for step in range(1, count):
        w = np.array([1.0 if paired else 1.0 / (own[i] + wander) for i in within])
        factors = np.zeros(count)
        factors[within], factors[step] = -w / w.sum(), 1.0
        held = (factors**2).sum()
        variance = factors @ covariance @ factors + wander * held
        chance = 1 - (1 - level) / (count - 1) / 2
        quantile = stats.norm.ppf(chance)
        if wander > 0.0:
            # Degrees of freedom of the sum by records and besides, 0.6 for each distance.
            freedom = 0.6 * (count - 1) * (variance / (held * (wander + variances.mean() / 2))) ** 2
            quantile = stats.t.ppf(chance, max(freedom, 1.0))
        mean, reach = w @ values[within] / w.sum(), quantile * np.sqrt(variance)
        left = abs(values[step] - mean) > reach
        ends.append((mean - reach, mean + reach, left))
        if not left:
            within.append(step)
    return ends


@pytest.mark.parametrize("paired", [False, True])
@pytest.mark.parametrize("level", [0.6, 0.95])
def test_control_limits_by_a_loop(paired: bool, level: float) -> None:
    lefts = still = moving = 0
    for seed in range(30):
        count = 2 + seed % 7
        values, covariance = case(seed, count, 1.0, 2.0 * (seed % 2))
        values[count // 2] += 8.0 * (seed % 4 == 0)
        steps = Steps(np.arange(float(count)), values, covariance, paired)
        made = steps.control(level)
        expected = limits(values, covariance, paired, level, steps.wander)
        assert np.isnan([made.low[0], made.high[0]]).all()
        assert not made.left[0]
        for step, (low, high, left) in enumerate(expected, 1):
            assert (made.low[step], made.high[step]) == pytest.approx((low, high), rel=1e-9)
            assert made.left[step] == left
        first = next((step for step, (_, _, left) in enumerate(expected, 1) if left), None)
        assert made.first_left == first
        lefts += first is not None
        moving, still = moving + (steps.wander > 0.0), still + (steps.wander == 0.0)
    assert min(lefts, still, moving) >= 3
    assert lefts < 30


def test_control_limits_are_of_95_percent_by_default() -> None:
    values, covariance = case(4)
    steps = Steps(AT, values, covariance, paired=False)
    assert steps.control().low[1:].tolist() == steps.control(0.95).low[1:].tolist()
    assert steps.newest() == steps.newest(0.95)
    assert steps.slope() == steps.slope(0.95)


def test_one_step_has_no_limits() -> None:
    made = Steps(np.zeros(1), np.ones(1), np.ones((1, 1)), paired=False).control()
    assert np.isnan([made.low[0], made.high[0]]).all()
    assert made.first_left is None


def test_values_that_differ_by_rounding_do_not_leave_limits_without_width() -> None:
    nothing = np.zeros((3, 3))
    for away, left in (
        (0.9 * ROUNDING, False),
        (-0.9 * ROUNDING, False),
        (2.1 * ROUNDING, True),
        (-2.1 * ROUNDING, True),
    ):
        steps = Steps(np.arange(3.0), np.array([0.0, 0.0, away]), nothing, paired=True)
        assert steps.control().left.tolist() == [False, False, left]


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_the_newest_step_by_hand(level: float) -> None:
    """Student's of one value more; where the newest has fewer records than those before, by what it varies more; and never less than by records."""
    kinds = set()
    for seed in range(30):
        values, covariance = case(seed, 6, [0.1, 1.0, 3.0][seed % 3], 1.0)
        scale = [3.0, 0.2, 1.0][seed % 4 % 3]
        covariance[5, :] *= scale
        covariance[:, 5] *= scale
        values *= 0.05 if seed % 5 == 0 else 1.0  # steps that happen to agree
        low, high = Steps(AT, values, covariance, paired=False).newest(level)
        own, before = covariance[:5, :5], values[:5]
        records = covariance[5, 5] + own.sum() / 25 - 2 * covariance[5, :5].sum() / 5
        # What records add to the sample variance of the five.
        apart = sum((own[i, i] + own[j, j] - 2 * own[i, j]) / 2 for i in range(5) for j in range(5)) / 20
        seen = before.var(ddof=1) * 1.2 + max(records - apart * 1.2, 0.0)
        normal, student = (
            stats.norm.ppf(0.5 + level / 2) * np.sqrt(records),
            stats.t.ppf(0.5 + level / 2, 4) * np.sqrt(seen),
        )
        reach = max(normal, student)
        assert (low, high) == pytest.approx((before.mean() - reach, before.mean() + reach), rel=1e-9)
        kinds.add((normal > student, records > apart * 1.2))
    assert len(kinds) >= 3
