"""Means over runs: scipy's t-tests where records move nothing, and hand sums where they do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from biasamp.resampling.runs_and_records import CrossedMean, Seeds, difference_of_runs, mean_of_runs

OLD, NEW = [0.10, 0.14, 0.12, 0.13], [0.16, 0.19, 0.18, 0.11]
VALUES = np.array([*OLD, *NEW])[:, None]
NOTHING = np.zeros((8, 8, 1))
FIRST, SECOND = range(4), range(4, 8)


def test_without_records_it_is_students_and_welchs_t() -> None:
    for same, judge in ((True, stats.ttest_rel(NEW, OLD)), (False, stats.ttest_ind(NEW, OLD, equal_var=False))):
        made = difference_of_runs(VALUES, NOTHING, FIRST, SECOND, same_seeds=same)
        interval = judge.confidence_interval(0.9)
        assert made.p()[0] == pytest.approx(judge.pvalue)
        assert made.freedom(0.95)[0] == pytest.approx(judge.df)
        reach = made.reach(0.9)[0]
        assert (made.value[0] - reach, made.value[0] + reach) == pytest.approx((interval.low, interval.high))
    one = mean_of_runs(VALUES[:4], NOTHING[:4, :4])
    expected = stats.ttest_1samp(OLD, 0).confidence_interval()
    assert one.value[0] + one.reach(0.95)[0] == pytest.approx(expected.high)


def test_the_interaction_is_counted_once() -> None:
    # Records move all runs by .02 and each run by .01 besides: the variance by hand.
    covariance = np.full((4, 4), 0.02**2) + np.eye(4) * 0.01**2
    made = mean_of_runs(VALUES[:4], covariance[:, :, None])
    over_runs = np.var(OLD, ddof=1)
    assert made.records[0] == pytest.approx(0.02**2 + 0.01**2 / 4)
    assert made.interaction[0] == pytest.approx(0.01**2 / 4)
    assert made.variance[0] == pytest.approx(over_runs / 4 + 0.02**2 + 0.01**2 / 4 - 0.01**2 / 4)


def test_runs_on_records_of_their_own_are_a_t_test() -> None:
    # Each run has other records: what these move is in how runs vary already.
    made = mean_of_runs(VALUES[:4], (np.eye(4) * 0.005**2)[:, :, None])
    assert made.variance[0] == pytest.approx(np.var(OLD, ddof=1) / 4)
    assert made.freedom(0.95)[0] == pytest.approx(3.0)


def test_the_variance_is_never_below_that_of_records() -> None:
    same = np.full((3, 1), 0.1)
    made = mean_of_runs(same, np.full((3, 3, 1), 0.01**2) + np.eye(3)[:, :, None] * 0.02**2)
    assert made.by_seeds[0] == 0.0
    assert made.variance[0] == pytest.approx(0.01**2 + 0.02**2 / 3)


def test_needed_runs_are_the_fewest_that_decide() -> None:
    made = difference_of_runs(VALUES - 0.5 * (VALUES - VALUES.mean()), NOTHING, FIRST, SECOND, same_seeds=False)
    value = np.array([0.01])
    made = type(made)(value, made.records, made.seeds)
    needed = made.runs_needed(0.95)
    assert needed is not None

    def decides(more: int) -> bool:
        n = 4 + more
        spread = [float(part.spread[0]) / n for part in made.seeds]
        freedom = sum(spread) ** 2 / sum(part**2 / (n - 1) for part in spread)
        # The mean lies within so many standard errors below the difference with a chance of 80%.
        return bool((stats.t.ppf(0.975, freedom) + stats.norm.ppf(0.8)) * np.sqrt(sum(spread)) < 0.01)

    assert decides(needed)
    assert not decides(needed - 1)
    low, high = made.more_runs(0.95)
    assert low is not None
    assert high is not None
    assert low <= needed <= high


def test_runs_that_agree_by_chance_are_not_taken_to_agree_further() -> None:
    # Records move each run by .02 by itself, and three runs of each happen to lie within .0002: whatever their seeds do, further
    # runs vary by .02 at least. The number is then that of runs which vary so much, by hand, at either end of the range.
    values = np.array([0.1000, 0.1001, 0.1002, 0.1160, 0.1161, 0.1162])[:, None]
    made = difference_of_runs(values, 0.02**2 * np.eye(6)[:, :, None], range(3), range(3, 6), same_seeds=False)

    def decides(more: int) -> bool:
        n = 3 + more
        quantile = stats.t.ppf(0.975, 2 * (n - 1)) + stats.norm.ppf(0.8)
        return bool(quantile * 0.02 * np.sqrt(2 / n) < 0.016)

    expected = next(more for more in range(1, 1000) if decides(more))
    assert made.more_runs(0.95) == (expected, expected)


@pytest.mark.parametrize("same", [True, False])
def test_the_range_of_needed_runs_is_in_order(same: bool) -> None:
    """Whatever runs and records add, also where runs vary far less than records let them."""
    rng = np.random.default_rng(5)
    samples = 300
    values = rng.normal(size=(6, samples)) * 10.0 ** rng.uniform(-4, 0, samples)
    values[3:] += 0.7
    apart, shared = 10.0 ** rng.uniform(-3, 0, (2, samples))
    covariance = np.eye(6)[:, :, None] * apart**2 + np.kron(np.eye(2), np.ones((3, 3)))[:, :, None] * shared**2
    made = difference_of_runs(values, covariance, range(3), range(3, 6), same_seeds=same)
    ranges = [made.more_runs(0.95, place) for place in range(samples)]
    ends = np.array([[np.inf if end is None else end for end in one] for one in ranges])
    assert (ends[:, 0] <= ends[:, 1]).all()
    assert len(np.unique(ends[np.isfinite(ends[:, 0]), 0])) > 10


def test_records_that_outweigh_the_difference_need_more_records_not_runs() -> None:
    covariance = np.zeros((8, 8, 1))
    covariance[:4, :4], covariance[4:, 4:] = 0.1**2, 0.1**2
    close = np.array([0.120, 0.121, 0.122, 0.121, 0.160, 0.161, 0.162, 0.161])[:, None]
    made = difference_of_runs(close, covariance, FIRST, SECOND, same_seeds=False)
    assert made.more_runs(0.95) == (None, None)
    times = made.more_records(0.95)
    assert times is not None
    seeds, records = float(made.by_seeds[0]), float(made.records[0])
    beyond = stats.norm.ppf(0.8)
    assert made.value[0] > 1.96 * np.sqrt(seeds + records / times) + beyond * np.sqrt(records / times)
    fewer = records / (times / 1.03)
    assert made.value[0] < 3.2 * np.sqrt(seeds + fewer) + beyond * np.sqrt(fewer)


def test_so_many_records_decide_in_four_of_five_samples() -> None:
    """One run of each, where nothing but records varies: means of so many are drawn."""
    made = difference_of_runs(
        np.array([0.0, 0.03])[:, None], 0.02**2 * np.eye(2)[:, :, None], [0], [1], same_seeds=False
    )
    times = made.more_records(0.95)
    assert times is not None
    error = 0.02 * np.sqrt(2.0 / times)
    found = np.random.default_rng(3).normal(0.03, error, 20_000)
    assert np.mean(found > stats.norm.ppf(0.975) * error) == pytest.approx(0.8, abs=0.02)


def test_a_model_with_one_run_is_taken_to_vary_as_the_other() -> None:
    made = difference_of_runs(VALUES[[0, 4, 5, 6]], NOTHING[:4, :4], [0], [1, 2, 3], same_seeds=False)
    spread = np.var(NEW[:3], ddof=1)
    assert made.variance[0] == pytest.approx(spread + spread / 3)
    assert made.freedom(0.95)[0] == pytest.approx(2.0)


def test_the_quantile_weighs_those_of_runs_and_of_records() -> None:
    # Records move all runs by .02, runs vary by themselves: Cochran's quantile by hand.
    made = mean_of_runs(VALUES[:4], np.full((4, 4, 1), 0.02**2))
    runs, records = np.var(OLD, ddof=1) / 4, 0.02**2
    quantile = (runs * stats.t.ppf(0.975, 3) + records * stats.norm.ppf(0.975)) / (runs + records)
    assert made.reach(0.95)[0] == pytest.approx(quantile * np.sqrt(runs + records), rel=1e-6)
    assert stats.t.ppf(0.975, made.freedom(0.95)[0]) == pytest.approx(quantile, rel=1e-6)
    # Few parts of the records tell less of them.
    few = mean_of_runs(VALUES[:4], np.full((4, 4, 1), 0.02**2), units=6)
    wider = (runs * stats.t.ppf(0.975, 3) + records * stats.t.ppf(0.975, 5)) / (runs + records)
    assert few.reach(0.95)[0] == pytest.approx(wider * np.sqrt(runs + records), rel=1e-6)


@pytest.mark.parametrize("same", [True, False])
def test_p_is_the_level_whose_interval_ends_at_0(same: bool) -> None:
    rng = np.random.default_rng(4)
    values = rng.normal(size=(6, 200)) * 10.0 ** rng.uniform(-3, 2, 200)
    covariance = np.broadcast_to(
        (np.eye(6) * 0.3**2 + np.kron(np.eye(2), np.full((3, 3), 0.4**2)))[:, :, None], (6, 6, 200)
    )
    made = difference_of_runs(values, covariance, range(3), range(3, 6), same_seeds=same)
    p = made.p()
    assert ((p > 0.0) & (p <= 1.0)).all()
    for k in range(200):
        assert made.reach(1.0 - p[k])[k] == pytest.approx(abs(made.value[k]), rel=1e-6, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("runs", [3, 5, 10])
@pytest.mark.parametrize("same", [True, False])
def test_coverage(runs: int, same: bool) -> None:
    """Seeds, records and their interaction of known sizes; the records' covariance is known."""
    rng = np.random.default_rng(runs)
    samples, many = 1500, 2 * runs
    covariance = np.eye(many) * 0.5**2 + 0.3**2
    for part in (slice(0, runs), slice(runs, many)):
        covariance[part, part] += 0.5**2
    seeds = rng.normal(size=(many, samples))
    if same:
        seeds += np.tile(rng.normal(size=(runs, samples)), (2, 1))
    shared = np.repeat(0.5 * rng.normal(size=(2, samples)), runs, axis=0) + 0.3 * rng.normal(size=samples)
    values = seeds + shared + 0.5 * rng.normal(size=(many, samples))
    held = np.broadcast_to(covariance[:, :, None], (many, many, samples))
    made = difference_of_runs(values, held, range(runs), range(runs, many), same_seeds=same)
    covered = float((np.abs(made.value) <= made.reach(0.95)).mean())
    assert 0.92 <= covered <= 0.975


@pytest.mark.parametrize(
    ("runs", "same"),
    [
        *(((n, n), same) for n in (3, 5, 10) for same in (True, False)),
        *((runs, False) for runs in ((3, 5), (3, 10), (10, 3), (5, 10))),
    ],
)
def test_intervals_hold_whatever_seeds_and_records_add(runs: tuple[int, int], same: bool) -> None:
    from benchmarks.models import PROPORTIONS, RATIOS, variances

    held = [variances(runs, same, parts, ratio, 4000) for parts in PROPORTIONS for ratio in RATIOS]
    # 94.1 to 97.2%, and what chance adds to shares of 4,000. Welch's freedom alone held in 92.8% with 3 against 10 runs.
    assert min(held) >= 0.933
    assert max(held) <= 0.98


def test_unequal_numbers_of_runs_are_between_welch_and_cochran() -> None:
    first, second = VALUES[:2], VALUES[2:8]
    made = difference_of_runs(VALUES, NOTHING, range(2), range(2, 8), same_seeds=False)
    one, two = np.var(first, ddof=1) / 2, np.var(second, ddof=1) / 6
    welch = stats.t.ppf(0.975, (one + two) ** 2 / (one**2 / 1 + two**2 / 5))
    cochran = (one * stats.t.ppf(0.975, 1) + two * stats.t.ppf(0.975, 5)) / (one + two)
    quantile = welch + (1 - 2 / 6) * (cochran - welch)
    assert made.reach(0.95)[0] == pytest.approx(quantile * np.sqrt(one + two), rel=1e-6)
    assert made.reach(1.0 - made.p()[0])[0] == pytest.approx(abs(made.value[0]), rel=1e-6)
    assert stats.t.ppf(0.975, made.freedom(0.95)[0]) == pytest.approx(quantile, rel=1e-6)


@pytest.mark.parametrize(("runs", "ratio"), [((3, 3), 1.0), ((3, 3), 9.0), ((10, 3), 9.0), ((5, 5), 9.0)])
def test_the_range_of_needed_runs_holds_the_right_number(runs: tuple[int, int], ratio: float) -> None:
    """Also where seeds move one model far more than the other: the variance that more runs divide is known by its runs alone."""
    rng = np.random.default_rng(11)
    first, many, samples = runs[0], sum(runs), 600
    sd = np.repeat([2.0 / (1.0 + ratio), 2.0 * ratio / (1.0 + ratio)], runs)
    values = sd[:, None] * rng.normal(size=(many, samples))
    nothing = np.zeros((many, many, samples))
    made = difference_of_runs(values, nothing, range(first), range(first, many), same_seeds=False)
    true = [Seeds(n, np.full(samples, s**2), np.zeros(samples)) for n, s in zip(runs, (sd[0], sd[-1]), strict=True)]
    right = CrossedMean(made.value, made.records, tuple(true))
    asked = np.flatnonzero(np.abs(made.value) <= made.reach(0.95))[:250]
    held = 0
    for place in asked.tolist():
        low, high, number = (
            np.inf if n is None else n for n in (*made.more_runs(0.95, place), right.runs_needed(0.95, place))
        )
        held += low <= number <= high
    # 90% by its making; the sum of the runs' degrees of freedom held in 53% of the third.
    assert held / len(asked) >= 0.82


def test_runs_that_are_all_alike_have_the_freedom_of_their_number() -> None:
    """Where neither kind of runs varies at all there is nothing to weigh the two by."""
    nothing = np.zeros(1)
    made = difference_of_runs(np.full((8, 1), 0.1), NOTHING, FIRST, SECOND, same_seeds=False)
    assert [float(part.spread[0]) for part in made.seeds] == [0.0, 0.0]
    assert made._spread_freedom(0) == (4 - 1) + (4 - 1)
    one_moves = np.concatenate([np.full((4, 1), 0.1), VALUES[4:]])
    # Satterthwaite's of one that varies and one that does not is that of the first alone.
    assert difference_of_runs(one_moves, NOTHING, FIRST, SECOND, same_seeds=False)._spread_freedom(0) == pytest.approx(
        3.0
    )
    assert made.by_runs == nothing
