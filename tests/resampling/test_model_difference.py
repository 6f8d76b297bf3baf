"""Two models on the same records differ less than their intervals suggest."""

from __future__ import annotations

import numpy as np
import pytest

import biasamp
from biasamp.resampling.model_difference import SAME, UNDECIDED, compare_errors, compare_extremes, compare_values


def models(seed: int, n: int = 1500, further: float = 0.0) -> tuple[biasamp.directional, biasamp.directional]:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 2, n)
    truth = (rng.random((n, 5)) < 0.3 + 0.3 * groups[:, None]).astype(int)
    first = np.where(rng.random(truth.shape) < 0.15, 1 - truth, truth)
    second = np.where(rng.random(truth.shape) < 0.03, 1 - first, first)
    second = np.where((groups[:, None] == 1) & (rng.random(truth.shape) < further), 1, second)
    return tuple(biasamp.directional(groups, truth, said) for said in (first, second))  # type: ignore[return-value]


def differ(one: object, two: object, **options: object):  # type: ignore[no-untyped-def]
    values = [result.interval_maker().values(500, 3) for result in (one, two)]  # type: ignore[attr-defined]
    return compare_values(one.value, two.value, *values, **options)  # type: ignore[attr-defined, arg-type]


def test_paired_is_narrower_and_right() -> None:
    one, two = models(0)
    paired, unpaired = differ(one, two), differ(one, two, unpaired="for the test")
    assert paired.value == pytest.approx(two.value - one.value)
    assert (paired.high - paired.low) < 0.7 * (unpaired.high - unpaired.low)
    errors = [result.interval_maker().standard_error() for result in (one, two)]
    assert unpaired.standard_error == pytest.approx(np.hypot(*errors), rel=0.1)
    # The closed form of the difference: influences of the same records are subtracted first.
    moved = two.interval_maker().influence() - one.interval_maker().influence()
    assert paired.standard_error == pytest.approx(np.sqrt((moved**2).sum()), rel=0.1)
    assert paired.paired
    assert not unpaired.paired
    assert "for the test" in unpaired.method


@pytest.mark.slow
def test_the_paired_interval_covers() -> None:
    """The second model flips 3% of the first one's answers: P moves by .03 (1 - 2 P(first)), whatever the sign."""
    first = 0.15 + 0.7 * np.array([0.3, 0.6])
    expected = float((np.array([-1, 1]) * 0.03 * (1 - 2 * first)).mean())
    held = 0
    for seed in range(150):
        made = differ(*models(100 + seed, n=600))
        held += made.low <= expected <= made.high
    assert 0.92 <= held / 150 <= 0.98


def test_verdicts() -> None:
    same = differ(*models(1, n=200))
    assert same.verdict == UNDECIDED
    assert not same.decided
    one, two = models(2, further=0.2)
    more = differ(one, two, names=("old", "new"))
    assert more.verdict == "new amplifies more than old"
    assert differ(two, one, names=("new", "old")).verdict == "old amplifies less than new"
    assert differ(one, one).verdict == "they are the same on every resample"


def test_resamples_that_share_their_random_numbers_are_taken_apart() -> None:
    shared = np.random.default_rng(0).normal(size=4000)
    apart = compare_values(0.0, 0.0, shared, shared, unpaired="the records differ")
    assert apart.standard_error == pytest.approx(np.sqrt(2), rel=0.05)
    assert compare_errors(0.0, 3.0, 1.0, 1.0).decided
    assert not compare_errors(0.0, 2.0, 1.0, 1.0).decided


def test_other_numbers_of_resamples_are_unpaired() -> None:
    values = np.random.default_rng(0).normal(size=300)
    made = compare_values(0.0, 0.0, values, values[:200])
    assert not made.paired
    assert "300 resamples" in made.method


def test_few_records_that_differ_do_not_decide() -> None:
    """Two models differ in four of 200 records, all one way: McNemar's exact test has p = .125."""
    weights = np.random.default_rng(0).poisson(1.0, (4000, 4)).sum(axis=1) / 200.0
    still = np.zeros(4000)
    plain = compare_values(0.0, 4 / 200, still, weights)
    assert plain.decided
    made = compare_values(0.0, 4 / 200, still, weights, unseen=2.0 / 202.0**2)
    assert not made.decided
    # The variance is that of four records and of two more.
    assert made.standard_error == pytest.approx(np.sqrt(plain.standard_error**2 + 2.0 / 202.0**2))
    stretch = made.standard_error / plain.standard_error
    assert made.low == pytest.approx(0.02 - 1.959964 * made.standard_error)
    assert made.high == pytest.approx(0.02 + stretch * (plain.high - 0.02))
    # Six of them do (p = .031).
    six = np.random.default_rng(0).poisson(1.0, (4000, 6)).sum(axis=1) / 200.0
    assert compare_values(0.0, 6 / 200, still, six, unseen=2.0 / 202.0**2).decided
    same = compare_values(0.0, 0.0, still, still, unseen=2.0 / 202.0**2)
    assert same.verdict == "they are the same on every resample"
    # Without a record that differs, the unseen ones are all there is; and no less than a group of 50 may miss.
    assert (same.low, same.high) == pytest.approx((-1.959964 * np.sqrt(2.0) / 202.0, 1.959964 * np.sqrt(2.0) / 202.0))
    few = compare_values(0.0, 0.0, still, still, unseen=2.0 / 202.0**2, fewest=50)
    assert few.high == pytest.approx(1.0 - 0.025 ** (1 / 50))
    assert np.isnan(compare_values(0.0, 0.0, still, still).low)


def test_differences_of_selected_figures_by_hand() -> None:
    ends = (0.0, 0.22), (0.12, 0.37)
    made = compare_extremes(0.10, 0.25, *ends)
    assert made.low == pytest.approx(0.15 - np.hypot(0.13, 0.12))
    assert made.high == pytest.approx(0.15 + np.hypot(0.12, 0.10))
    paired = compare_extremes(0.10, 0.25, *ends, 0.5)
    assert paired.low == pytest.approx(0.15 - np.sqrt(0.13**2 + 0.12**2 - 0.13 * 0.12))
    # What the first was drawn up by moves the difference up as it is; no further than its own interval goes.
    drawn = compare_extremes(0.10, 0.25, *ends, biases=(0.04, 0.0))
    assert (drawn.low, drawn.high) == pytest.approx((made.low, 0.15 + 0.04 + np.hypot(0.12, 0.06)))
    most = compare_extremes(0.10, 0.25, *ends, biases=(5.0, 0.0))
    assert most.high == pytest.approx(0.37)
    assert not made.decided


def test_bad_input() -> None:
    with pytest.raises(ValueError, match="level is 1"):
        compare_values(0.0, 0.0, np.zeros(5), np.zeros(5), level=1.5)
    gone = np.full(5, np.nan)
    assert "undefined" in compare_values(0.0, 0.0, gone, gone).verdict


def test_differences_by_standard_errors_are_said_to_be_unpaired() -> None:
    found = compare_errors(0.1, 0.4, 0.03, 0.04)
    assert not found.paired
    assert found.value == pytest.approx(0.3)
    # 1.96 standard errors of the difference, which is sqrt(0.03^2 + 0.04^2) = 0.05.
    assert (found.low, found.high) == pytest.approx((0.3 - 1.959964 * 0.05, 0.3 + 1.959964 * 0.05), abs=1e-6)


def test_models_are_the_same_only_where_no_resample_differs() -> None:
    """Two of a thousand resamples differ: the interval is of no width, and yet the models are not the same."""
    first = np.zeros(1000)
    second = first.copy()
    second[:2] = 0.1, -0.1
    assert compare_values(0.0, 0.0, first, first.copy()).verdict == SAME
    assert compare_values(0.0, 0.0, first, second).verdict == UNDECIDED
    # Nor where all resamples differ by the same.
    assert compare_values(0.0, 0.1, first, first + 0.1).verdict != SAME
