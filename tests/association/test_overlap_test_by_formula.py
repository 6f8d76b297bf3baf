"""The overlap test against its formulas for one label at a time, with roots found in 40 digits."""

from __future__ import annotations

from itertools import product
from typing import Any

import mpmath as mp
import numpy as np
import pytest

from biasamp.association.overlap_test import overlap_test


def root_of(f: Any, low: Any, high: Any) -> Any:
    """Where a function that falls, or rises, through 0 does so."""
    rises = f(low) < 0
    for _ in range(160):
        middle = (low + high) / 2
        low, high = (middle, high) if (f(middle) < 0) == rises else (low, middle)
    return (low + high) / 2


def by_formula(only_1: int, only_2: int, both: int, total_1: int, total_2: int, total_both: int) -> float:
    """Empirical likelihood under the null, and the tail of Lugannani and Rice."""
    with mp.workdps(40):
        one, two = mp.mpf(total_1 + total_both), mp.mpf(total_2 + total_both)
        rate = (only_1 + only_2 + 2 * both) / (one + two)
        weights = (1 / one, -1 / two, 1 / one - 1 / two)
        held, sizes = (only_1, only_2, both), (total_1, total_2, total_both)
        counts = [*held, *(size - have for size, have in zip(sizes, held, strict=True))]
        values = [*(w * (1 - rate) for w in weights), *(-w * rate for w in weights)]
        seen = sum(c * v for c, v in zip(counts, values, strict=True))
        if seen < 0:
            seen, values = -seen, [-v for v in values]
        if seen < mp.mpf(10) ** -30:
            return 1.0
        # Frequencies with which the sum is 0 on average.
        worst = min(range(6), key=lambda k: values[k])
        met = any(c and abs(v - values[worst]) < mp.mpf(10) ** -30 for c, v in zip(counts, values, strict=True))
        limit = -1 / values[worst]

        def mean(theta: Any) -> Any:
            return sum(c * v / (1 + theta * v) for c, v in zip(counts, values, strict=True) if c)

        filled = [mp.mpf(0)] * 6
        if not met and mean(limit) >= 0:
            theta = limit
            filled[worst] = mean(limit) / -values[worst]
        else:
            theta = root_of(mean, mp.mpf(0), limit)
        frequency = [c / (1 + theta * v) if c else extra for c, v, extra in zip(counts, values, filled, strict=True)]
        pairs = list(zip(frequency, values, strict=True))
        deviation = mp.sqrt(sum(f * v**2 for f, v in pairs))
        if seen / deviation < mp.mpf("1e-3"):
            return float(mp.erfc(seen / deviation / mp.sqrt(2)))
        high = mp.mpf(1)
        while sum(f * v * mp.exp(high * v) for f, v in pairs) < seen:
            high *= 2
        t = root_of(lambda t: sum(f * v * mp.exp(t * v) for f, v in pairs) - seen, mp.mpf(0), high)
        r = mp.sqrt(2 * (t * seen - sum(f * mp.expm1(t * v) for f, v in pairs)))
        u = t * mp.sqrt(sum(f * v**2 * mp.exp(t * v) for f, v in pairs))
        tail = mp.ncdf(-r) + mp.npdf(r) * (1 / u - 1 / r)
        return float(min(1, max(0, 2 * tail)))


CASES = [
    (30, 10, 20, 500, 500, 200),
    (10, 30, 20, 500, 500, 200),
    (3, 0, 1, 40, 60, 10),
    (0, 3, 1, 40, 60, 10),
    (5, 2, 0, 9, 300, 4),
    (2, 5, 3, 300, 9, 4),
    # All records of x1 alone have it: none is left that does not.
    (6, 1, 2, 6, 30, 12),
    (6, 0, 0, 6, 30, 12),
    (1, 6, 2, 30, 6, 12),
    (0, 6, 0, 30, 6, 12),
    # All of both, or none of x1 alone.
    (0, 9, 12, 5, 40, 12),
    (0, 4, 3, 0, 40, 12),
    (4, 0, 3, 40, 0, 12),
    (0, 40, 3, 0, 40, 12),
    (1, 0, 0, 1000, 1000, 1),
    (0, 1, 0, 1000, 1000, 1),
    (400, 100, 50, 1000, 1000, 100),
    (150, 149, 30, 1000, 1000, 100),
    (2000, 1999, 400, 4000, 4010, 1000),
    (20, 7, 5, 20, 7, 8),
    (1, 1, 1, 2, 5, 3),
    (0, 1, 2, 2, 1, 2),
    # The formula passes 1 here.
    (0, 3, 1, 1, 27, 8),
    (1, 4, 0, 1, 27, 8),
    (19, 33, 0, 21, 38, 2),
]


@pytest.mark.parametrize("counts", CASES)
def test_p_values_are_those_of_the_formula(counts: tuple[int, ...]) -> None:
    assert float(overlap_test(*counts)) == pytest.approx(by_formula(*counts), rel=1e-7, abs=1e-14)


def test_all_small_tables() -> None:
    """Every table with totals of 2, 2 and 1: kinds that nobody is of, in every way."""
    totals = (2, 2, 1)
    held = [counts for counts in product(*(range(total + 1) for total in totals)) if sum(counts)]
    found = overlap_test(*np.array(held).T, *totals)
    assert found == pytest.approx([by_formula(*counts, *totals) for counts in held], rel=1e-6)


def test_a_difference_that_is_next_to_nothing_has_the_normal_tail() -> None:
    """One record in ten millions."""
    for more in (1, 30, 400):
        counts = (2_500_000 + more, 2_500_000, 1_000_000, 5_000_000, 5_000_000, 2_000_000)
        assert float(overlap_test(*counts)) == pytest.approx(by_formula(*counts), rel=1e-6)


def test_differences_that_cannot_be_by_chance() -> None:
    for counts in ((900, 10, 0, 1000, 1000, 5), (10, 900, 0, 1000, 1000, 5), (5000, 0, 0, 5000, 5000, 10)):
        found = float(overlap_test(*counts))
        assert 0 <= found < 1e-200
        assert found == pytest.approx(by_formula(*counts), rel=1e-5, abs=1e-300)


def test_what_cannot_be_tested_has_no_p_value() -> None:
    nothing = {
        "no record with an identity has the label": (0, 0, 0, 10, 20, 5),
        "no record of the first": (0, 3, 0, 0, 20, 0),
        "no record of the second": (3, 0, 0, 20, 0, 0),
        "no record at all": (0, 0, 0, 0, 0, 0),
    }
    for why, counts in nothing.items():
        assert np.isnan(overlap_test(*counts)), why
    # One record of each is enough, as is one that has the label.
    assert float(overlap_test(1, 0, 0, 1, 1, 0)) == pytest.approx(by_formula(1, 0, 0, 1, 1, 0), rel=1e-6)
    assert float(overlap_test(0, 0, 1, 1, 0, 1)) == pytest.approx(by_formula(0, 0, 1, 1, 0, 1), rel=1e-6)
    assert float(overlap_test(1, 0, 0, 1, 0, 1)) == pytest.approx(by_formula(1, 0, 0, 1, 0, 1), rel=1e-6)


def test_equal_rates_have_1() -> None:
    for counts in (
        (10, 10, 5, 100, 100, 50),
        (3, 6, 0, 100, 200, 0),
        (5, 5, 5, 5, 5, 5),
        (0, 0, 4, 0, 0, 9),
        (1, 2, 1, 3, 6, 3),
    ):
        assert float(overlap_test(*counts)) == 1.0, counts


def test_many_labels_are_tested_at_once_as_each_alone() -> None:
    rng = np.random.default_rng(0)
    totals = np.array([30, 50, 20])
    held = rng.integers(0, totals + 1, (40, 3)).T
    held[:, 3] = 0
    held[:, 5] = held[:, 4]
    whole = overlap_test(*held.reshape(3, 8, 5), *totals)
    assert whole.shape == (8, 5)
    alone = [float(overlap_test(*one, *totals)) for one in held.T]
    np.testing.assert_allclose(whole.ravel(), alone, rtol=1e-9)
    assert np.isnan(whole.ravel()).tolist() == [k == 3 for k in range(40)]
    assert overlap_test(30, [10, 12], 20, 500, 500, [200, 300]).shape == (2,)
