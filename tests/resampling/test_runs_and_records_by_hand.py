"""Means over runs, one figure at a time in plain numbers: variances, Cochran's quantile, p-values, and what would decide."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasamp.resampling.runs_and_records import (
    MOST_RUNS,
    MOST_TIMES,
    CrossedMean,
    Seeds,
    difference_of_runs,
    margin,
    mean_of_runs,
)

BEYOND = stats.norm.ppf(0.8)
# Runs, their variance, and the part of it that other records would make otherwise.
Kind = tuple[int, float, float]


@dataclass
class Plain:
    """A mean over runs of which everything is a number."""

    value: float
    records: float
    kinds: list[Kind]
    units: float = float("inf")

    @property
    def made(self) -> CrossedMean:
        seeds = tuple(Seeds(n, np.array([spread]), np.array([apart])) for n, spread, apart in self.kinds)
        return CrossedMean(np.array([self.value]), np.array([self.records]), seeds, self.units)

    @property
    def by_runs(self) -> float:
        return sum(spread / n for n, spread, _ in self.kinds)

    @property
    def interaction(self) -> float:
        return sum(apart / n for n, _, apart in self.kinds)

    def parts(self) -> tuple[float, float]:
        """The variance that runs tell, and that by records; runs that agree far more than records let them tell nothing."""
        shared = max(self.records - self.interaction, 0.0)
        if self.by_runs < 0.01 * self.interaction:
            return 0.0, shared + self.interaction
        return self.by_runs, shared

    def quantile(self, level: float) -> float:
        runs, records = self.parts()
        tail = 0.5 + level / 2
        sizes, each = [n for n, _, _ in self.kinds], [spread / n for n, spread, _ in self.kinds]
        several = [n - 1 for n in sizes if n > 1]
        freedom = float(min(several, default=1))
        if len(several) == len(sizes) and self.by_runs > 0:
            freedom = max(freedom, self.by_runs**2 / sum(v**2 / (n - 1) for v, n in zip(each, sizes, strict=True)))
        of_runs = stats.t.ppf(tail, freedom)
        if len(several) == len(sizes) and runs > 0:
            cochran = sum(v * stats.t.ppf(tail, n - 1) for v, n in zip(each, sizes, strict=True)) / runs
            of_runs += (1 - min(sizes) / max(sizes)) * (cochran - of_runs)
        of_records = stats.norm.ppf(tail) if np.isinf(self.units) else stats.t.ppf(tail, max(self.units - 1, 1))
        return (runs * of_runs + records * of_records) / (runs + records)

    def reach(self, level: float) -> float:
        return self.quantile(level) * np.sqrt(sum(self.parts()))

    def with_runs(self, more: int, scale: float = 1.0) -> Plain:
        """Of more runs: what records shared stays, and runs vary by no less than records make them vary."""
        shared = max(self.records - self.interaction, 0.0)
        kinds = [(n + more, max(scale * spread, apart), apart) for n, spread, apart in self.kinds]
        out = Plain(self.value, 0.0, kinds, self.units)
        out.records = shared + out.interaction
        return out

    def decides(self, level: float, more: int, scale: float = 1.0) -> bool:
        later = self.with_runs(more, scale)
        return abs(self.value) > later.reach(level) + BEYOND * np.sqrt(later.parts()[0])

    def decides_by_records(self, level: float, times: float) -> bool:
        shared = max(self.records - self.interaction, 0.0)
        seeds = max(self.by_runs - self.interaction, 0.0)
        left = (seeds + (self.by_runs - seeds) / times) / self.by_runs
        kinds = [(n, left * spread, apart / times) for n, spread, apart in self.kinds]
        later = Plain(self.value, 0.0, kinds, self.units)
        later.records = shared / times + later.interaction
        return abs(self.value) > later.reach(level) + BEYOND * np.sqrt(self.records / times)


CASES = [
    Plain(0.05, records, [first, *second], units)
    for records, first, second, units in product(
        (0.0, 0.0004, 0.003),
        ((4, 0.002, 0.0), (3, 0.001, 0.0008), (2, 1e-7, 0.001), (1, 0.0, 0.0)),
        ((), ((4, 0.001, 0.0005),), ((9, 0.004, 0.0),)),
        (float("inf"), 12.0, 1.5),
    )
]
CASES = [case for case in CASES if sum(case.parts()) > 0]


def test_variances_of_every_kind() -> None:
    for case in CASES:
        made = case.made
        runs, records = case.parts()
        assert made.by_runs[0] == pytest.approx(case.by_runs)
        assert made.interaction[0] == pytest.approx(case.interaction)
        assert made.by_seeds[0] == pytest.approx(max(case.by_runs - case.interaction, 0.0))
        assert made.shared[0] == pytest.approx(max(case.records - case.interaction, 0.0))
        assert made.variance[0] == pytest.approx(runs + records)
        assert made.standard_error[0] == pytest.approx(np.sqrt(runs + records))


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_reach_freedom_and_p_of_every_kind(level: float) -> None:
    for case in CASES:
        made = case.made
        assert made.reach(level)[0] == pytest.approx(case.reach(level), rel=1e-6)
        freedom = made.freedom(level)[0]
        assert stats.t.ppf(0.5 + level / 2, freedom) == pytest.approx(case.quantile(level), rel=1e-6)
        if level == 0.5:
            # Also where so few parts of the records tell less than the runs do.
            assert case.reach(1.0 - made.p()[0]) == pytest.approx(case.value, rel=1e-5)


def test_several_figures_at_once_are_each_by_itself() -> None:
    some = [case for case in CASES if len(case.kinds) == 2 and case.units == 12.0 and case.records > 0.0]
    for sizes in {tuple(n for n, _, _ in case.kinds) for case in some}:
        held = [case for case in some if tuple(n for n, _, _ in case.kinds) == sizes][:3]
        seeds = tuple(
            Seeds(n, np.array([case.kinds[i][1] for case in held]), np.array([case.kinds[i][2] for case in held]))
            for i, n in enumerate(sizes)
        )
        made = CrossedMean(np.full(len(held), 0.05), np.array([case.records for case in held]), seeds, 12.0)
        for place, case in enumerate(held):
            alone = case.made
            for name in ("reach", "freedom"):
                assert getattr(made, name)(0.9)[place] == getattr(alone, name)(0.9)[0]
            assert made.p()[place] == alone.p()[0]
        last = held[-1].made
        assert made.runs_needed(0.9, len(held) - 1) == last.runs_needed(0.9)
        assert made.more_records(0.9, len(held) - 1) == last.more_records(0.9)
        assert made.more_runs(0.9, len(held) - 1) == last.more_runs(0.9)


def test_where_nothing_varies_there_is_no_p() -> None:
    made = Plain(0.1, 0.0, [(3, 0.0, 0.0)]).made
    assert np.isnan(made.p()[0])
    assert made.reach(0.95)[0] == 0.0
    # A difference of 0 is no evidence, one far beyond all chance is.
    assert Plain(0.0, 0.01, [(3, 0.02, 0.0)]).made.p()[0] == pytest.approx(1.0)
    assert Plain(-0.05, 0.0004, [(3, 0.001, 0.0008)]).made.p() == Plain(0.05, 0.0004, [(3, 0.001, 0.0008)]).made.p()
    assert Plain(50.0, 0.0001, [(1, 0.0, 0.0)]).made.p()[0] == 0.0


def test_p_of_a_difference_that_records_alone_would_never_give() -> None:
    """Two degrees of freedom of the runs leave some chance of it."""
    case = Plain(50.0, 0.0001, [(3, 0.001, 0.0)])
    p = float(case.made.p()[0])
    assert 1e-9 < p < 1e-6
    assert case.reach(1.0 - p) == pytest.approx(50.0, rel=1e-4)


def test_an_interval_that_is_sure_has_no_end() -> None:
    for records, spread in ((0.0, 1.0), (1.0, 0.0), (1.0, 1.0)):
        assert Plain(0.1, records, [(3, spread, 0.0)]).made.reach(1.0).tolist() == [np.inf]


def test_figures_far_beyond_all_chance_raise_no_warning() -> None:
    """One that runs move beside one that they do not: its quantile is beyond all numbers."""
    seeds = (Seeds(3, np.array([0.0, 1e-4]), np.zeros(2)),)
    made = CrossedMean(np.array([0.5, 0.1]), np.array([1e-6, 1e-6]), seeds)
    p = made.p()
    assert p[0] == 0.0
    assert p[1] == Plain(0.1, 1e-6, [(3, 1e-4, 0.0)]).made.p()[0]


def test_units_are_those_of_the_records_alone() -> None:
    for units, freedom in ((1.0, 1.0), (0.0, 1.0), (2.0, 1.0), (7.5, 6.5)):
        made = Plain(0.05, 0.001, [(1, 0.0, 0.0)], units).made
        assert made.freedom(0.95)[0] == freedom
        assert made.reach(0.95)[0] == pytest.approx(stats.t.ppf(0.975, freedom) * np.sqrt(0.001), rel=1e-6)
        assert made.p()[0] == pytest.approx(2 * stats.t.sf(0.05 / np.sqrt(0.001), freedom), rel=1e-6)
    assert Plain(0.05, 0.001, [(1, 0.0, 0.0)]).made.freedom(0.95)[0] == 1e9


def test_runs_that_agree_far_more_than_records_let_them_tell_nothing() -> None:
    """The limit is a hundredth of what records make them vary by."""
    for spread, told in ((0.0099, False), (0.01, True), (0.0101, True)):
        made = Plain(0.5, 2.0, [(2, spread, 1.0)]).made
        assert made.variance[0] == pytest.approx(1.5 + (spread / 2 if told else 0.5))
        assert (made.freedom(0.95)[0] < 1e9) == told


DECIDED = [
    Plain(value, 0.0002, kinds, units)
    for value, kinds, units in product(
        (0.04, -0.1),
        ([(3, 0.004, 0.0)], [(3, 0.0005, 0.0002), (5, 0.004, 0.0)], [(4, 0.003, 0.0001), (1, 0.003, 0.0001)]),
        (float("inf"), 20.0),
    )
]


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("scale", [None, 0.3, 4.0])
def test_needed_runs_are_the_fewest(level: float, scale: float | None) -> None:
    numbers = set()
    for case in DECIDED:
        found = case.made.runs_needed(level) if scale is None else case.made.runs_needed(level, 0, scale)
        of = scale or 1.0
        assert found is not None
        assert case.decides(level, found, of)
        assert not any(case.decides(level, more, of) for more in {found - 1, found // 2} if 0 < more < found)
        numbers.add(found)
    assert len(numbers) >= 4


def test_more_runs_than_ten_thousand_are_none() -> None:
    """A difference that just so many runs would decide, and one that they just would not."""
    case = Plain(0.0, 0.0, [(3, 1.0, 0.0)])

    def least(more: int) -> float:
        later = case.with_runs(more)
        return later.reach(0.95) + BEYOND * np.sqrt(later.parts()[0])

    for more, expected in (
        (MOST_RUNS, MOST_RUNS),
        (MOST_RUNS + 1, None),
        (1, 1),
        (2, 2),
        (3, 3),
        (1024, 1024),
        (1025, 1025),
    ):
        case.value = (least(more) + least(more - 1)) / 2 if more > 1 else 1.001 * least(1)
        assert case.made.runs_needed(0.95) == expected
    # One more run is the least that is said, though none were needed.
    case.value = 100.0
    assert case.made.runs_needed(0.95) == 1


@pytest.mark.parametrize("case", DECIDED)
def test_the_range_of_needed_runs_is_that_of_a_variances_interval(case: Plain) -> None:
    """The chi-square interval of the variance of one run more of each, at 90%."""
    several = [(n, spread) for n, spread, _ in case.kinds if n > 1]
    freedom = float(sum(n - 1 for n, _ in several))
    if len(several) == len(case.kinds):
        freedom = sum(s for _, s in several) ** 2 / sum(s**2 / (n - 1) for n, s in several)
    scales = [freedom / stats.chi2.ppf(chance, freedom) for chance in (0.95, 0.05)]
    made = case.made
    assert made.more_runs(0.95) == tuple(made.runs_needed(0.95, 0, scale) for scale in scales)


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_needed_records_by_trying_each_number(level: float) -> None:
    found = set()
    for value, records, kinds in product(
        (0.05, -0.09), (0.0005, 0.004), ([(3, 0.0012, 0.001)], [(4, 0.0004, 0.0003), (9, 0.001, 0.0)])
    ):
        case = Plain(value, records, kinds)
        times = case.made.more_records(level)
        found.add(times)
        expected = next((1.02**k for k in range(1, 349) if case.decides_by_records(level, 1.02**k)), None)
        assert times == (None if expected is None else pytest.approx(expected, rel=1e-9))
    assert len(found) > 3


def test_more_than_a_thousand_times_the_records_are_none() -> None:
    """Where runs do not vary: the reach and the margin of records alone, both by the root of their number."""
    last = 1.02 ** int(np.log(MOST_TIMES) / np.log(1.02))
    for times, expected in ((last, last), (last * 1.02, None), (1.02, 1.02)):
        value = 1.0001 * (stats.norm.ppf(0.975) + BEYOND) / np.sqrt(times)
        found = Plain(value, 1.0, [(1, 0.0, 0.0)]).made.more_records(0.95)
        assert found == (None if expected is None else pytest.approx(expected))


def test_the_margin_of_four_fifths() -> None:
    for variance in (0.0, 0.25, 4.0):
        assert margin(variance) == pytest.approx(BEYOND * np.sqrt(variance))


RNG = np.random.default_rng(9)
VALUES = RNG.normal(size=(7, 2))
ROOT = RNG.normal(size=(7, 12, 2))
COVARIANCE = np.einsum("iks,jks->ijs", ROOT, ROOT) / 50


def apart(covariance: np.ndarray) -> np.ndarray:
    """How far records move runs apart: half the mean squared distance of two of them."""
    n = len(covariance)
    pairs = [
        (covariance[i, i] + covariance[j, j] - 2 * covariance[i, j]) / 2 for i in range(n) for j in range(n) if i != j
    ]
    return np.asarray(sum(pairs) / len(pairs))


def test_a_mean_of_runs_by_pairs_of_runs() -> None:
    made = mean_of_runs(VALUES, COVARIANCE, 33.0)
    assert made.value == pytest.approx(VALUES.mean(axis=0))
    assert made.records == pytest.approx(COVARIANCE.sum(axis=(0, 1)) / 49)
    (seeds,) = made.seeds
    assert (seeds.runs, made.units) == (7, 33.0)
    assert seeds.spread == pytest.approx(VALUES.var(axis=0, ddof=1))
    assert seeds.apart == pytest.approx(apart(COVARIANCE))
    assert mean_of_runs(VALUES, COVARIANCE).units == float("inf")


def test_one_run_varies_by_records_alone() -> None:
    made = mean_of_runs(VALUES[:1], COVARIANCE[:1, :1])
    (seeds,) = made.seeds
    assert (seeds.runs, seeds.spread.tolist(), seeds.apart.tolist()) == (1, [0.0, 0.0], [0.0, 0.0])
    assert made.variance == pytest.approx(COVARIANCE[0, 0])
    two = mean_of_runs(VALUES[:2], COVARIANCE[:2, :2])
    assert two.seeds[0].runs == 2
    assert two.seeds[0].spread == pytest.approx((VALUES[0] - VALUES[1]) ** 2 / 2)


def test_runs_that_records_move_together_are_not_moved_apart() -> None:
    """A covariance that rounding took below 0."""
    made = mean_of_runs(VALUES[:2], np.array([[1.0, 1.1], [1.1, 1.0]])[:, :, None] * np.ones(2))
    assert made.seeds[0].apart.tolist() == [0.0, 0.0]


@pytest.mark.parametrize("same", [True, False])
def test_a_difference_of_runs_by_pairs_of_runs(same: bool) -> None:
    first, second = [5, 0, 3], [1, 6, 2] if same else [1, 6, 2, 4]
    made = difference_of_runs(VALUES, COVARIANCE, first, second, same_seeds=same, units=9.0)
    factors = np.zeros(7)
    factors[first], factors[second] = -1 / 3, 1 / len(second)
    assert made.value == pytest.approx(VALUES[second].mean(axis=0) - VALUES[first].mean(axis=0))
    assert made.records == pytest.approx(
        sum(factors[i] * factors[j] * COVARIANCE[i, j] for i in range(7) for j in range(7))
    )
    assert made.units == 9.0
    if same:
        (seeds,) = made.seeds
        change = np.zeros((3, 7))
        for row, (one, two) in enumerate(zip(first, second, strict=True)):
            change[row, one], change[row, two] = -1.0, 1.0
        assert seeds.runs == 3
        assert seeds.spread == pytest.approx((change @ VALUES).var(axis=0, ddof=1))
        assert seeds.apart == pytest.approx(apart(np.einsum("ai,ijs,bj->abs", change, COVARIANCE, change)))
    else:
        for seeds, runs in zip(made.seeds, (first, second), strict=True):
            assert seeds.runs == len(runs)
            assert seeds.spread == pytest.approx(VALUES[runs].var(axis=0, ddof=1))
            assert seeds.apart == pytest.approx(apart(COVARIANCE[np.ix_(runs, runs)]))


@pytest.mark.parametrize(("first", "second"), [([0], [1, 2, 3]), ([1, 2, 3], [0])])
def test_one_run_is_lent_how_the_others_vary(first: list[int], second: list[int]) -> None:
    made = difference_of_runs(VALUES, COVARIANCE, first, second, same_seeds=False)
    for seeds, runs in zip(made.seeds, (first, second), strict=True):
        assert seeds.runs == len(runs)
        assert seeds.spread == pytest.approx(VALUES[1:4].var(axis=0, ddof=1))
        assert seeds.apart == pytest.approx(apart(COVARIANCE[1:4, 1:4]))
    assert made._spread_freedom(0) == 2.0
    both: Any = difference_of_runs(VALUES, COVARIANCE, [0], [1], same_seeds=False)
    assert [part.spread.tolist() for part in both.seeds] == [[0.0, 0.0], [0.0, 0.0]]


def test_a_difference_never_varies_less_than_nothing_by_records() -> None:
    wrong = np.array([[1.0, 1.1], [1.1, 1.0]])[:, :, None]
    made = difference_of_runs(np.array([[0.0], [1.0]]), wrong, [0], [1], same_seeds=False)
    assert made.records.tolist() == [0.0]
