"""Every part of an interval by hand: errors, quantiles, cautions and their limits, and what an interval says of itself."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from scipy import stats

import biasamp
from biasamp.counts.pair import PairCounts
from biasamp.resampling import intervals
from biasamp.resampling.intervals import Intervals
from biasamp.results.interval import TOO_FEW_CLUSTERS, UNCLEAR_SIGNS, Caution
from evaluations import make

NAN = float("nan")


@dataclass(eq=False)
class Figure:
    """A figure whose influences and resamples are written down."""

    value: float
    moves: np.ndarray
    drawn: np.ndarray = field(default_factory=lambda: np.zeros(0))
    first_order: bool = False
    asked: list[tuple[int, int]] = field(default_factory=list)

    def influence(self) -> np.ndarray:
        return self.moves

    def replicates(self, resamples: int, seed: int) -> np.ndarray:
        self.asked.append((resamples, seed))
        return self.drawn if len(self.drawn) else np.random.default_rng(seed).normal(self.value, 1.0, resamples)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_errors_of_pairs_are_of_the_records_own_changes(weighted: bool, soft: bool) -> None:
    rng = np.random.default_rng(1)
    group, truth = rng.integers(0, 3, 50), rng.integers(0, 2, (50, 2))
    said: Any = np.where(rng.random((50, 2)) < 0.3, 1 - truth, truth)
    said = np.round(0.8 * said + 0.1, 2) if soft else said
    weights = rng.gamma(2.0, size=50) if weighted else None
    labels = biasamp.categorical(group, categories=[0, 1, 2, 3])
    found = intervals.pair_errors(PairCounts.from_labels(make(labels, truth, said, weights)))
    for g in range(3):
        there = group == g
        w = np.ones(there.sum()) if weights is None else weights[there]
        for o in range(2):
            moved = said[there, o] - truth[there, o]
            mean = w @ moved / w.sum()
            assert found[g, o] == pytest.approx(np.sqrt(w**2 @ (moved - mean) ** 2) / w.sum(), rel=1e-9)
    assert found[3].tolist() == [0.0, 0.0]


def test_the_normal_statistic_of_a_p_value() -> None:
    p = np.array([1.0, 0.3, 0.05, 1e-9, 0.0, 2.0])
    found = intervals.normal_statistic(p)
    assert found[:4] == pytest.approx(stats.norm.isf(p[:4] / 2), abs=1e-15)
    assert found[4] == pytest.approx(stats.norm.isf(0.5e-300))
    assert found[5] == 0.0


def test_the_bias_of_signs_of_several_pairs() -> None:
    """Each costs twice the chance to be wrong times its change, and what the noise of both shares."""
    p = np.array([[0.2, 0.6], [0.01, NAN]])
    delta, error = np.array([[0.04, -0.03], [0.2, NAN]]), np.array([[0.02, 0.03], [0.05, NAN]])
    bias = square = 0.0
    for i, j in ((0, 0), (0, 1), (1, 0)):
        z = stats.norm.isf(p[i, j] / 2)
        bias += 2 * stats.norm.sf(z) * abs(delta[i, j]) + 2 * 0.5 * stats.norm.pdf(z) * error[i, j]
        square += error[i, j] ** 2
    assert intervals.sign_bias(p, delta, error) == pytest.approx(bias / np.sqrt(square), rel=1e-12)
    assert intervals.sign_bias(p, delta, 0.0 * error) == 0.0


def test_the_variance_of_signs_of_several_pairs() -> None:
    p = np.array([[0.2, 0.6], [0.01, NAN]])
    delta, error = np.array([[0.04, -0.03], [0.2, NAN]]), np.array([[0.02, 0.03], [0.05, NAN]])
    extra = square = 0.0
    for i, j in ((0, 0), (0, 1), (1, 0)):
        wrong = stats.norm.sf(stats.norm.isf(p[i, j] / 2) / np.sqrt(2))
        extra += 2 * wrong * (1 - wrong) * (delta[i, j] ** 2 - error[i, j] ** 2)
        square += error[i, j] ** 2
    assert intervals.sign_variance(p, delta, error) == pytest.approx(extra / square, rel=1e-12)
    assert intervals.sign_variance(p, delta, 0.0 * error) == 0.0


ONE = np.ones((1, 2))


def test_half_a_standard_error_of_bias_is_not_cautioned_of() -> None:
    """A sign at chance costs its whole change where that has no noise; one that is sure costs nothing and has noise 1."""
    p, error = np.array([[1.0, 0.0]]), np.array([[0.0, 1.0]])
    for change, said in ((0.5, False), (0.5001, True)):
        assert bool(intervals.sign_cautions(p, np.array([[change, 0.0]]), error, crossfit=False)) == said


def test_half_a_variance_of_signs_is_not_cautioned_of() -> None:
    """Two signs at chance: half of ``2**2 + 0 - 1 - 1``, against ``1 + 1``."""
    for change, said in ((2.0, False), (2.001, True)):
        assert bool(intervals.sign_cautions(ONE, np.array([[change, 0.0]]), ONE, crossfit=True)) == said


@pytest.mark.parametrize("of_base", [False, True])
def test_cautions_of_signs_count_the_pairs_that_are_told_by_none(of_base: bool) -> None:
    p = np.array([[0.05, 0.0501, 0.9], [0.9, 0.04, 0.9]])
    delta = np.array([[0.3, 0.3, 0.3], [0.3, 0.3, NAN]])
    error = np.where(np.isnan(delta), NAN, 0.1)
    whose = "the records of the base" if of_base else "the records"
    told = f"{whose} cannot tell the direction of 3 of 5 pairs: "
    (plug,) = intervals.sign_cautions(p, delta, error, crossfit=False, of_base=of_base)
    assert plug == (
        f"{told}with signs from the same records the value is biased, and its interval covers less often than its level; "
        "its bounds count either sign, and train labels would tell them"
    )
    (crossed,) = intervals.sign_cautions(p, delta, error, crossfit=True, of_base=of_base)
    assert crossed == f"{told}the interval holds for the signs as they fell, which another sample may change"
    assert {Caution.kind_of(plug), Caution.kind_of(crossed)} == {UNCLEAR_SIGNS}
    # One p-value for all pairs.
    (all_alike,) = intervals.sign_cautions(np.array(0.5), delta, error, crossfit=False)
    assert all_alike.startswith("the records cannot tell the direction of 5 of 5 pairs")


def in_groups(*sizes: int, weights: Any = None) -> PairCounts:
    group = biasamp.categorical(np.repeat(np.arange(len(sizes)), sizes), categories=list(range(len(sizes))))
    truth = (np.arange(sum(sizes)) % 2)[:, None] * np.ones((1, 2), dtype=int)
    return PairCounts.from_labels(make(group, truth, truth, weights))


@pytest.mark.parametrize(
    ("sizes", "small", "least"),
    [
        ((29, 30, 40, 50, 60), 1, 29),  # a fifth of the groups
        ((30, 30, 40, 50, 60), 0, 0),
        ((29, 30, 40, 50, 60, 70), 0, 0),  # less than a fifth
        ((5, 30, 40, 12, 60, 70), 2, 5),
        ((0, 29, 30, 40, 50, 60), 1, 29),  # one without records does not count
        ((40,), 0, 0),
        ((7,), 1, 7),
    ],
)
def test_small_groups_are_told_where_they_are_a_fifth(sizes: tuple[int, ...], small: int, least: int) -> None:
    defined = sum(size > 0 for size in sizes)
    expected = (
        f"{small} of {defined} groups hold fewer than 30 records (the smallest {least}): "
        "intervals of so small groups cover less often than their level",
    )
    assert intervals.small_cautions(in_groups(*sizes)) == (expected if small else ())


def test_small_groups_by_weight() -> None:
    (said,) = intervals.small_cautions(in_groups(10, 60, weights=[1.25] * 10 + [1.0] * 60))
    assert said.startswith("1 of 2 groups hold fewer than 30 records (the smallest 13)")


def test_no_group_at_all_is_no_small_one() -> None:
    none = in_groups(4, 4, weights=[0.0] * 8)
    assert intervals.small_cautions(none) == ()


@pytest.mark.parametrize(
    ("freedom", "units", "told"),
    [
        (29.9, 500, 30),
        (30.0, 500, None),
        (0.0, 500, None),
        (0.2, 500, 0),
        (float("inf"), 30, 29),  # no more than their number gives
        (float("inf"), 31, None),
        (12.3, 9, 8),
        (4.0, 1234, 4),
        (5.0, 1, None),
    ],
)
@pytest.mark.parametrize("over", ["records", "clusters"])
def test_few_units_are_told(freedom: float, units: int, told: int | None, over: str) -> None:
    said = intervals.few_cautions(freedom, units, over)
    if told is None:
        assert said == ()
        return
    assert said == (
        f"the error rests on few of about {units:,} {over} (about {told} degrees of freedom): the interval covers less often "
        "than its level",
    )
    assert (Caution.kind_of(said[0]) == TOO_FEW_CLUSTERS) == (over == "clusters" and units < 10)


@pytest.mark.parametrize(("units", "too_few"), [(9, True), (10, False)])
def test_fewer_clusters_than_ten_are_too_few(units: int, too_few: bool) -> None:
    (said,) = intervals.few_cautions(3.0, units, "clusters")
    assert (Caution.kind_of(said) == TOO_FEW_CLUSTERS) == too_few


def test_the_middle_of_resamples() -> None:
    values = np.array([3.0, NAN, 0.0, 4.0, 1.0, 2.0])
    assert intervals.percentile_interval(values, 0.5) == (1.0, 3.0)
    assert intervals.percentile_interval(values, 0.9) == pytest.approx((0.2, 3.8))
    assert np.isnan(intervals.percentile_interval(values[1:2], 0.5)).all()
    assert np.isnan(intervals.percentile_interval(values[:0], 0.5)).all()


def efron(value: float, values: np.ndarray, moved: np.ndarray, level: float) -> tuple[float, float]:
    """BCa of the book, with ties counted half."""
    share = np.mean(values < value) + np.mean(values == value) / 2
    z0 = stats.norm.ppf(np.clip(share, 0.5 / len(values), 1 - 0.5 / len(values)))
    skew = (moved**3).sum() / (6 * (moved**2).sum() ** 1.5)
    ends = []
    for alpha in ((1 - level) / 2, (1 + level) / 2):
        side = z0 + stats.norm.ppf(alpha)
        ends.append(stats.norm.cdf(z0 + side / (1 - skew * side)))
    low, high = np.quantile(values, ends)
    return low, high


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_bca_is_that_of_the_book(level: float) -> None:
    rng = np.random.default_rng(3)
    values, moved = np.round(rng.gamma(2.0, size=999), 1), rng.exponential(size=30) - 1.0
    for value in (0.5, 1.7, 2.0, 5.0):
        found = intervals.bca_interval(value, np.append(values, NAN), moved, level)
        assert found == pytest.approx(efron(value, values, moved, level), rel=1e-9)
    # On one side of all resamples: half of one is taken to lie beyond.
    for value in (-1.0, 99.0):
        assert intervals.bca_interval(value, values, moved, level) == pytest.approx(efron(value, values, moved, level))


def test_bca_of_nothing_and_of_no_influence_is_the_percentile() -> None:
    values = np.arange(101.0)
    assert intervals.bca_interval(3.0, values, np.zeros(4), 0.5) == (25.0, 75.0)
    assert np.isnan(intervals.bca_interval(3.0, values * NAN, np.ones(4), 0.5)).all()


def test_bca_ends_at_the_outermost_resamples_where_the_skew_is_beyond_its_formula() -> None:
    """One unit of all the influence: an acceleration of 1/6, of which 6 standard errors make a fraction without a value."""
    values, moved = np.arange(1000.0), np.array([1.0])
    low, high = intervals.bca_interval(999.5, values, moved, 0.9999)
    assert high == 999.0
    assert low == pytest.approx(efron(999.5, values, moved, 0.9999)[0])
    low, high = intervals.bca_interval(-0.5, values, -moved, 0.9999)
    assert low == 0.0


def test_standard_errors() -> None:
    moved = np.array([0.3, -0.1, 0.4])
    expected = np.sqrt((0.09 + 0.01 + 0.16) * 3 / 2)
    assert intervals.standard_error(moved) == pytest.approx(expected, rel=1e-12)
    assert intervals.standard_error(np.array([0.5])) == 0.5
    found = intervals.standard_errors_of([moved, np.array([0.5]), np.zeros(4)], np.array([0.13, 0.0, 0.09]))
    assert found == pytest.approx([expected * np.sqrt(1 + 0.13 / 0.26), 0.5, 0.3], rel=1e-12)


def test_degrees_of_freedom_by_hand() -> None:
    moved = np.array([2.0, 1.0, 1.0, 0.0])
    # V = 6, and the sum of fourth powers is 18: 2 * 36 / (18 - 36 / 4) = 8, but four units have 3 at most.
    assert intervals.degrees_of_freedom(moved) == 3.0
    assert intervals.degrees_of_freedom(np.append(moved, np.zeros(20))) == pytest.approx(72 / (18 - 36 / 24))
    assert intervals.degrees_of_freedom(np.ones(5)) == float("inf")
    assert intervals.degrees_of_freedom(np.zeros(5)) == 0.0


def test_students_interval_has_one_degree_of_freedom_at_least() -> None:
    for freedom in (0.0, 0.3, 1.0):
        assert intervals.student_interval(0.5, 0.1, freedom, 0.9) == pytest.approx(stats.cauchy.interval(0.9, 0.5, 0.1))
    assert intervals.student_interval(0.5, 0.1, 1.5, 0.9) == pytest.approx(stats.t.interval(0.9, 1.5, 0.5, 0.1))


MOVES = np.array([0.05, -0.02, 0.01, -0.04, 0.0, 0.0])
ERROR = float(np.sqrt((MOVES**2).sum() * 6 / 5))
DRAWN = np.linspace(-0.2, 0.6, 41)


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("unseen", [0.0, 0.003])
@pytest.mark.parametrize("first_order", [False, True])
def test_what_an_interval_says_of_itself(clustered: bool, unseen: float, first_order: bool) -> None:
    figure = Figure(0.1, MOVES, DRAWN, first_order)
    made = Intervals(figure, clustered, ("as it is",), None, unseen)
    square = float((MOVES**2).sum())
    stretch = np.sqrt(1 + unseen / square)
    freedom = intervals.degrees_of_freedom(MOVES)
    few = intervals.few_cautions(freedom, 6, "clusters" if clustered else "records") if clustered or not unseen else ()
    values = 0.1 + stretch * (DRAWN - 0.1)
    student = stats.t.interval(0.8, freedom * (1 + unseen / square) ** 2, 0.1, stretch * ERROR)
    tail = " (to first order: there are too many pairs to resample each)" if first_order else ""
    widened = ", widened for errors not seen" if unseen else ""
    for method, words, ends in (
        ("closed_form", "closed form", student),
        ("bca", "bootstrap BCa" + tail, intervals.bca_interval(0.1, values, MOVES, 0.8)),
        ("bootstrap", "bootstrap percentile" + tail, intervals.percentile_interval(values, 0.8)),
        ("auto", "bootstrap percentile" + tail, intervals.percentile_interval(values, 0.8)),
    ):
        interval = made(0.8, method, 41, 5)
        assert (interval.low, interval.high) == pytest.approx(ends, rel=1e-9)
        assert interval.method == words + widened
        assert interval.varies == ("sampling of clusters" if clustered else "sampling of records")
        assert interval.level == 0.8
        assert interval.standard_error == pytest.approx(stretch * ERROR, rel=1e-12)
        assert interval.cautions == ("as it is", *few)
    # Asked for once, however many methods make use of them.
    assert figure.asked == [(41, 5)]
    assert made.value == 0.1
    assert made.first_order == first_order


def test_an_interval_holds_its_figure_wherever_resamples_lie() -> None:
    above = Intervals(Figure(0.1, MOVES, DRAWN + 5.0))(0.8, "bootstrap", 41, 0)
    below = Intervals(Figure(0.1, MOVES, DRAWN - 5.0))(0.8, "bootstrap", 41, 0)
    assert (above.low, above.high) == pytest.approx((0.1, 5.52))
    assert (below.low, below.high) == pytest.approx((-5.12, 0.1))


def test_resamples_without_a_value_are_counted() -> None:
    drawn = np.where(np.arange(41) < 3, NAN, DRAWN)
    interval = Intervals(Figure(0.1, MOVES, drawn))(0.8, "bootstrap", 1200, 0)
    assert interval.cautions[-1] == "3 of 1,200 resamples hold no defined pair and are left out"
    assert (interval.low, interval.high) == pytest.approx(tuple(np.quantile(drawn[3:], [0.1, 0.9])))


@pytest.mark.parametrize(("clustered", "unit"), [(False, "record"), (True, "cluster")])
def test_one_unit_has_no_interval(clustered: bool, unit: str) -> None:
    for moves in (np.array([0.3]), np.zeros(0)):
        interval = Intervals(Figure(0.1, moves), clustered)(0.9, "bootstrap", 100, 0)
        assert np.isnan([interval.low, interval.high, interval.standard_error]).all()
        assert (interval.method, interval.varies) == ("undefined", f"sampling of {unit}s")
        assert interval.cautions == (f"there is one {unit} only",)
        assert interval.level == 0.9
    two = Intervals(Figure(0.1, np.array([0.3, -0.3]), DRAWN), clustered)(0.9, "bootstrap", 100, 0)
    assert two.method == "bootstrap percentile"


@pytest.mark.parametrize("method", intervals.METHODS)
def test_a_figure_that_no_record_moves(method: str) -> None:
    figure = Figure(0.25, np.zeros(5), DRAWN)
    interval = Intervals(figure, unseen=0.0004)(0.9, method, 41, 0)
    assert (interval.low, interval.high) == pytest.approx(stats.norm.interval(0.9, 0.25, 0.02))
    assert interval.method == "closed form (no record moves the value), widened for errors not seen"
    assert interval.standard_error == pytest.approx(0.02)
    assert figure.asked == []
    still = Intervals(figure)(0.9, method, 41, 0)
    assert (still.low, still.high, still.standard_error) == (0.25, 0.25, 0.0)
    assert still.method == "closed form (no record moves the value)"


def test_a_variance_besides_is_asked_for_once_and_added() -> None:
    asked = []

    def besides() -> float:
        asked.append(1)
        return 0.002

    made = Intervals(Figure(0.1, MOVES, DRAWN), added=besides, unseen=0.001)
    square = float((MOVES**2).sum())
    stretch = np.sqrt(1 + 0.003 / square)
    assert made.standard_error() == pytest.approx(stretch * ERROR, rel=1e-12)
    assert made.values(41, 0) == pytest.approx(0.1 + stretch * (DRAWN - 0.1), rel=1e-12)
    assert made.replicates(41, 0).tolist() == DRAWN.tolist()
    assert len(asked) == 1
    # Only the part of unseen errors is known; that of signs is an estimate as well.
    known = intervals.degrees_of_freedom(MOVES) * (1 + 0.001 / square) ** 2
    ends = made(0.8, "closed_form", 41, 0)
    assert (ends.low, ends.high) == pytest.approx(stats.t.interval(0.8, known, 0.1, stretch * ERROR), rel=1e-9)
    alone = Intervals(Figure(0.1, np.zeros(4)), added=besides, unseen=0.001)
    assert alone.standard_error() == pytest.approx(np.sqrt(0.003))


def test_a_figure_that_no_record_moves_has_its_resamples() -> None:
    assert Intervals(Figure(0.25, np.zeros(5), DRAWN), unseen=0.1).values(41, 0).tolist() == DRAWN.tolist()


def test_the_last_few_resamples_are_kept() -> None:
    figure = Figure(0.1, MOVES)
    made = Intervals(figure)
    for seed in range(20):
        made.values(10, seed)
        made.values(10, seed)
        assert len(made._known) < 10
    assert figure.asked == [(10, seed) for seed in range(20)]
    again = made.values(10, 19)
    assert len(figure.asked) == 20
    assert made.values(10, 0).tolist() != again.tolist()
    assert len(figure.asked) == 21


def test_resamples_are_those_of_their_number_and_seed() -> None:
    figure = Figure(0.1, MOVES)
    made = Intervals(figure)
    assert len(made.values()) == 1000
    assert figure.asked == [(1000, 0)]
    assert made.values(1000, 0) is made.values()
    assert made.values(20, 3).tolist() == np.random.default_rng(3).normal(0.1, 1.0, 20).tolist()
    assert figure.asked == [(1000, 0), (20, 3)]


def test_methods_resamples_and_seeds_are_checked() -> None:
    assert intervals.check("auto", 2) == 0
    assert intervals.check("bca", 1000, np.int64(7)) == 7
    assert type(intervals.check("bca", 1000, np.int64(7))) is int
    for resamples in (1, 0, -3):
        with pytest.raises(ValueError, match=f"resamples is {resamples}; an interval needs at least 2"):
            intervals.check("auto", resamples)
    wrong: list[tuple[Any, Any, str]] = [
        (True, 0, "resamples is True"),
        (10.0, 0, "resamples is 10.0"),
        (10, False, "seed is False"),
        (10, None, "seed is None"),
        (10, 0.5, "seed is 0.5"),
    ]
    for resamples, seed, words in wrong:
        with pytest.raises(TypeError, match=words):
            intervals.check("auto", resamples, seed)
    for method in ("wald", None, ["auto"]):
        with pytest.raises(ValueError, match=r"method is .*; use one of 'auto', 'bootstrap', 'bca', 'closed_form'"):
            intervals.check(method, 10)  # type: ignore[arg-type]
    assert intervals.check("auto", 10, np.random.default_rng(5)) == np.random.default_rng(5).integers(1 << 63)
