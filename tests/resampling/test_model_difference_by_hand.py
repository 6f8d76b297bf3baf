"""Differences of two models by hand: intervals, what unseen records add, verdicts in words, and each option."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from biasamp.resampling import model_difference
from biasamp.resampling.model_difference import SAME, UNDECIDED, compare_errors, compare_extremes, compare_values

RNG = np.random.default_rng(4)
SHARED = 0.5 * RNG.normal(size=201)
OWN = 0.1 * RNG.normal(size=201)
NAN = float("nan")
FIRST, SECOND = 0.2 + SHARED, 0.5 + SHARED + OWN
Z = stats.norm.ppf(0.95)


def test_paired_resamples_are_taken_one_by_one() -> None:
    made = compare_values(0.2, 0.5, FIRST, SECOND, level=0.9)
    moved = SECOND - FIRST
    assert made.value == pytest.approx(0.3)
    assert (made.low, made.high) == pytest.approx(tuple(np.quantile(moved, [0.05, 0.95])))
    assert made.standard_error == pytest.approx(moved.std(ddof=1))
    assert (made.level, made.paired, made.method) == (0.9, True, "paired bootstrap percentile")
    assert made.verdict == "the second amplifies more than the first"
    assert made.decided


def test_unpaired_resamples_are_taken_half_the_list_away() -> None:
    made = compare_values(0.2, 0.5, FIRST, SECOND, unpaired="other records", level=0.9)
    moved = np.array([SECOND[(i - 100) % 201] - FIRST[i] for i in range(201)])
    assert (made.low, made.high) == pytest.approx(tuple(np.quantile(moved, [0.05, 0.95])))
    assert made.standard_error == pytest.approx(moved.std(ddof=1))
    assert (made.paired, made.method) == (False, "unpaired bootstrap percentile (other records)")
    assert made.verdict == UNDECIDED
    assert not made.decided
    # Unseen records are of paired models alone.
    assert compare_values(0.2, 0.5, FIRST, SECOND, unpaired="other records", unseen=0.5, level=0.9) == made


@pytest.mark.parametrize("shorter", [0, 1])
def test_resamples_of_different_numbers_are_not_paired(shorter: int) -> None:
    held = [FIRST, SECOND]
    held[shorter] = held[shorter][:100]
    made = compare_values(0.2, 0.5, *held, level=0.9)
    sizes = ("100 resamples of one and 201 of the other", "201 resamples of one and 100 of the other")
    assert (made.paired, made.method) == (False, f"unpaired bootstrap percentile ({sizes[shorter]})")
    moved = np.array([SECOND[(i - 50) % 100] - FIRST[i] for i in range(100)])
    assert (made.low, made.high) == pytest.approx(tuple(np.quantile(moved, [0.05, 0.95])))
    many = compare_values(0.2, 0.5, np.zeros(1200), np.zeros(1201))
    assert many.method.startswith("unpaired bootstrap percentile (1,200 resamples of one and 1,201 of the other)")


def test_resamples_without_a_value_are_left_out() -> None:
    first = np.where(np.arange(201) < 5, NAN, FIRST)
    made = compare_values(0.2, 0.5, first, SECOND, level=0.9)
    moved = (SECOND - FIRST)[5:]
    assert (made.low, made.high) == pytest.approx(tuple(np.quantile(moved, [0.05, 0.95])))
    assert made.standard_error == pytest.approx(moved.std(ddof=1))
    for there in (0, 1):
        few = compare_values(0.2, 0.5, np.where(np.arange(201) < there, 0.0, NAN), SECOND)
        assert np.isnan([few.standard_error, few.low, few.high]).all()
        assert few.verdict == "the difference is undefined: too few resamples hold a value"
    two = compare_values(0.2, 0.5, np.where(np.arange(201) < 2, 0.0, NAN), SECOND)
    assert two.standard_error == pytest.approx(np.std(SECOND[:2], ddof=1))
    none = compare_values(0.2, 0.5, FIRST * NAN, SECOND, unseen=0.1)
    assert np.isnan([none.standard_error, none.low, none.high]).all()
    assert none.verdict == "the difference is undefined: too few resamples hold a value"
    assert not none.decided


def test_unseen_records_stretch_paired_resamples() -> None:
    moved = SECOND - FIRST
    error = moved.std(ddof=1)
    low, high = np.quantile(moved, [0.05, 0.95])
    # The figures lie in the middle of resamples, to one side of them, and to the other.
    for second in (0.5, 0.2 + low + 0.01, 0.2 + high - 0.01):
        value = second - 0.2
        made = compare_values(0.2, second, FIRST, SECOND, unseen=0.002, level=0.9)
        wider = np.sqrt(error**2 + 0.002)
        assert made.standard_error == pytest.approx(wider)
        expected_low = min(value - (value - low) * wider / error, value - Z * wider)
        expected_high = max(value + (high - value) * wider / error, value + Z * wider)
        assert (made.low, made.high) == pytest.approx((expected_low, expected_high))
        assert made.method == "paired bootstrap percentile"
    # Where records cannot be unseen, the number of records does nothing.
    assert compare_values(0.2, 0.5, FIRST, SECOND, fewest=7.0) == compare_values(0.2, 0.5, FIRST, SECOND)


def test_models_that_never_differ_have_the_interval_of_records_that_were_not_seen() -> None:
    def made(**options: Any) -> model_difference.Difference:
        return compare_values(0.3, 0.3, FIRST, FIRST.copy(), level=0.9, **options)

    missed = 1 - 0.05 ** (1 / 20)
    for options, reach in (
        ({"unseen": 0.0004}, Z * 0.02),
        ({"fewest": 20.0}, missed),
        ({"unseen": 0.0004, "fewest": 20.0}, max(Z * 0.02, missed)),
        ({"unseen": 0.04, "fewest": 20.0}, Z * 0.2),
        # Figures that resamples move are no figures at the end of their range.
        ({"unseen": 0.0004, "apart": 5.0}, Z * 0.02),
    ):
        difference = made(**options)
        assert (difference.low, difference.high) == pytest.approx((-reach, reach))
        assert difference.standard_error == pytest.approx(reach / Z)
        assert difference.verdict == SAME
        assert (difference.value, difference.method) == (0.0, "paired bootstrap percentile")
    nothing = made()
    assert np.isnan([nothing.low, nothing.high]).all()
    assert nothing.standard_error == 0.0
    assert nothing.verdict == SAME
    assert nothing.method == (
        "paired bootstrap percentile; no resample moves the difference, so that there is no interval"
    )


def test_a_constant_difference_is_decided_by_what_was_not_seen() -> None:
    made = compare_values(0.3, 0.55, FIRST - FIRST, FIRST - FIRST + 0.25, unseen=0.0004, level=0.9)
    assert (made.low, made.high) == pytest.approx((0.25 - Z * 0.02, 0.25 + Z * 0.02))
    assert made.verdict == "the second amplifies more than the first"
    # Resamples agree and the figures differ: they are not the same.
    other = compare_values(0.3, 0.55, FIRST - FIRST, FIRST - FIRST, unseen=0.04, level=0.9)
    assert (other.value, other.verdict) == (pytest.approx(0.25), UNDECIDED)


def test_figures_that_no_resample_moves_go_by_the_intervals_of_both() -> None:
    still = np.zeros(50)
    made = compare_values(0.0, 0.0, still, still, unseen=0.0004, apart=0.05, level=0.9)
    assert (made.low, made.high) == pytest.approx((-Z * 0.05, Z * 0.05))
    assert made.standard_error == pytest.approx(0.05)
    assert made.method == "of the intervals of both: no resample moves the figures"
    assert made.verdict == UNDECIDED
    # What was not seen reaches further, or as far.
    for apart in (0.019, 0.02):
        same = compare_values(0.0, 0.0, still, still, unseen=0.0004, apart=apart, level=0.9)
        assert (same.low, same.high) == pytest.approx((-Z * 0.02, Z * 0.02))
        assert (same.verdict, same.method) == (SAME, "paired bootstrap percentile")
    for one, two in ((still, still + 1.0), (still, FIRST[:50])):
        assert compare_values(0.0, 0.0, one, two, unseen=0.0004, apart=0.05).verdict != SAME
    no_rule = compare_values(0.0, 0.0, still, still, apart=0.05)
    assert np.isnan(no_rule.low)


@pytest.mark.parametrize("call", [compare_values, compare_extremes, compare_errors])
@pytest.mark.parametrize(
    ("second", "words"), [(0.9, "B leaks more than A"), (-0.5, "B leaks less than A"), (0.21, UNDECIDED)]
)
def test_verdicts_in_the_words_of_the_figure(call: Any, second: float, words: str) -> None:
    ends: dict[Any, tuple[Any, Any]] = {
        compare_values: (OWN, second - 0.2 + OWN[::-1]),
        compare_extremes: ((0.1, 0.3), (second - 0.1, second + 0.1)),
        compare_errors: (0.1, 0.1),
    }
    made = call(0.2, second, *ends[call], names=("A", "B"), more="leaks more", less="leaks less")
    assert made.verdict == words
    assert made.decided == (words != UNDECIDED)
    plain = call(0.2, second, *ends[call])
    assert plain.verdict.replace("the second", "B").replace("the first", "A").replace("amplifies", "leaks") == words
    assert plain.level == 0.95


def test_an_interval_that_ends_at_0_decides_nothing() -> None:
    for low, high in ((0.0, 0.2), (-0.2, 0.0)):
        made = compare_values(0.0, 0.1, np.zeros(2), np.array([low, high]), level=0.5)
        held = compare_extremes(0.0, low + 0.1, (0.0, 0.0), (0.1, high + 0.1) if low == 0.0 else (-0.1, 0.1))
        assert not made.decided or made.low > 0.0 or made.high < 0.0
        assert held.value == pytest.approx(low + 0.1)
    edge = model_difference.Difference(0.1, 0.0, 0.2, 0.95, True, 0.1, "", "")
    below = model_difference.Difference(-0.1, -0.2, 0.0, 0.95, True, 0.1, "", "")
    assert not edge.decided
    assert not below.decided
    exact = compare_extremes(0.0, 0.5, (0.0, 0.0), (0.5, 0.75))
    assert (exact.low, exact.verdict) == (0.5, "the second amplifies more than the first")
    for ends, first in (((0.0, 0.75), 0.0), ((-0.75, 0.0), 0.0)):
        zero = compare_extremes(first, sum(ends) / 2, (0.0, 0.0), ends)
        assert 0.0 in (zero.low, zero.high)
        assert zero.verdict == UNDECIDED


@pytest.mark.parametrize("correlation", [0.0, 0.6])
@pytest.mark.parametrize("biases", [(0.0, 0.0), (0.03, 0.02), (-1.0, -1.0), (9.0, 9.0)])
def test_extremes_by_mover(correlation: float, biases: tuple[float, float]) -> None:
    (low1, first, high1), (low2, second, high2) = (0.1, 0.2, 0.4), (0.2, 0.35, 0.4)
    up1, up2 = (min(max(bias, 0.0), reach) for bias, reach in zip(biases, (first - low1, second - low2), strict=True))
    a, b = second - low2 - up2, high1 - first
    c, d = high2 - second, first - low1 - up1
    low = second - first - up2 - np.sqrt(a * a + b * b - 2 * correlation * a * b)
    high = second - first + up1 + np.sqrt(c * c + d * d - 2 * correlation * c * d)
    made = compare_extremes(first, second, (low1, high1), (low2, high2), correlation, biases=biases, level=0.9)
    assert (made.low, made.high) == pytest.approx((low, high))
    assert made.value == pytest.approx(0.15)
    assert made.standard_error == pytest.approx((high - low) / (2 * Z))
    assert (made.level, made.paired) == (0.9, True)
    assert made.method == "of the intervals of both (MOVER), as each was selected of several"
    apart = compare_extremes(first, second, (low1, high1), (low2, high2), unpaired="other records")
    assert not apart.paired
    assert apart.method == "unpaired (other records), of the intervals of both (MOVER), as each was selected of several"


def test_extremes_that_go_together_entirely() -> None:
    """With a correlation of 1 the distances are taken from each other; rounding below 0 is 0."""
    made = compare_extremes(0.2, 0.5, (0.1, 0.3), (0.4, 0.6), 1.0)
    assert (made.low, made.high) == pytest.approx((0.3, 0.3), abs=1e-8)
    beyond = compare_extremes(0.2, 0.5, (0.1, 0.3), (0.4, 0.6), 1.0 + 1e-9)
    assert (beyond.low, beyond.high) == (beyond.value, beyond.value)


def test_errors_of_models_with_nothing_in_common() -> None:
    made = compare_errors(0.2, 0.5, 0.3, 0.4, level=0.9)
    assert (made.low, made.high) == pytest.approx((0.3 - Z * 0.5, 0.3 + Z * 0.5))
    assert made.standard_error == pytest.approx(0.5)
    assert (made.paired, made.level, made.method) == (False, 0.9, "unpaired closed form (no resamples)")
    told = compare_errors(0.2, 0.5, 0.3, 0.4, unpaired="other records")
    assert told.method == "unpaired closed form (other records)"
    assert not told.paired


@pytest.mark.parametrize(("halves", "freedom"), [(12, 11), (2, 1), (1, 1), (0, 1)])
def test_errors_of_halves_have_students_interval(halves: int, freedom: int) -> None:
    made = compare_errors(0.2, 0.5, 0.3, 0.4, paired_error=0.1, halves=halves, level=0.9)
    assert (made.low, made.high) == pytest.approx(stats.t.interval(0.9, freedom, 0.3, 0.1))
    assert (made.paired, made.standard_error) == (True, 0.1)
    assert made.method == f"paired, of {halves} halves of the records"
    many = compare_errors(0.2, 0.5, 0.3, 0.4, paired_error=0.1, halves=1200)
    assert many.method == "paired, of 1,200 halves of the records"


def test_models_that_no_half_tells_apart() -> None:
    missed = 1 - 0.05 ** (1 / 20)
    made = compare_errors(0.3, 0.3, 0.1, 0.1, paired_error=0.0, halves=12, fewest=20.0, level=0.9)
    assert (made.low, made.high) == pytest.approx((-missed, missed))
    assert made.standard_error == pytest.approx(missed / stats.t.ppf(0.95, 11))
    assert made.verdict == SAME
    unknown = compare_errors(0.3, 0.3, 0.1, 0.1, paired_error=0.0, halves=12, level=0.9)
    assert np.isnan([unknown.low, unknown.high]).all()
    assert unknown.verdict == SAME
    other = compare_errors(0.3, 0.4, 0.1, 0.1, paired_error=0.0, halves=12, fewest=20.0, level=0.9)
    assert np.isnan([other.low, other.high]).all()
    assert other.verdict == "the difference is undefined: too few resamples hold a value"
    differ = compare_errors(0.3, 0.3, 0.1, 0.1, paired_error=0.1, halves=12, fewest=20.0, level=0.9)
    assert differ.verdict == UNDECIDED
    assert differ.standard_error == 0.1


@pytest.mark.parametrize("level", [0.0, 1.0, -0.5, 95.0, NAN])
def test_levels_lie_between_0_and_1(level: float) -> None:
    for call, ends in ((compare_values, (FIRST, SECOND)), (compare_errors, (0.1, 0.1))):
        with pytest.raises(ValueError, match=r"must lie strictly between 0 and 1, such as 0\.95"):
            call(0.2, 0.5, *ends, level=level)  # type: ignore[operator]
