"""Fisher's exact test against sums of whole numbers, and its parts against mpmath."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from math import comb, erfc, sqrt

import numpy as np
import pytest

from biasamp.resampling import significance
from biasamp.resampling.significance import fisher_exact


def chances(n1: int, n2: int, m: int) -> dict[int, int]:
    """How many of all ways to draw m of n1 + n2 records draw so many of the first."""
    return {k: comb(n1, k) * comb(n2, m - k) for k in range(max(0, m - n2), min(n1, m) + 1)}


def by_enumeration(a: int, n1: int, b: int, n2: int) -> float:
    """The chance of all outcomes that are no more probable than the one seen, without any rounding."""
    if n1 == 0 or n2 == 0 or a + b == 0:
        return float("nan")
    ways = chances(n1, n2, a + b)
    return float(Fraction(sum(way for way in ways.values() if way <= ways[a]), comb(n1 + n2, a + b)))


def of_many(a: int, n1: int, b: int, n2: int) -> float:
    """As :func:`by_enumeration`, by the outcomes that are more probable: from the one seen to the other side of the mode."""
    m, seen = a + b, comb(n1, a) * comb(n2, b)
    likelier = 0
    for step in (1, -1):
        k, way = a, seen
        while max(0, m - n2) <= k + step <= min(n1, m):
            more, less = (k, m - k) if step > 0 else (k - 1, m - k + 1)
            there, back = (n1 - more) * less, (more + 1) * (n2 - less + 1)
            way, k = (way * there // back, k + 1) if step > 0 else (way * back // there, k - 1)
            if way <= seen:
                break
            likelier += way
    return float(1 - Fraction(likelier, comb(n1 + n2, m)))


def test_every_small_table() -> None:
    """Totals of 0 to 6 and 7, all counts: ties of chances, outcomes at either end, and what cannot be compared."""
    sizes = product(range(7), range(8))
    tables = [(a, n1, b, n2) for n1, n2 in sizes for a in range(n1 + 1) for b in range(n2 + 1)]
    found = fisher_exact(*np.array(tables).T)
    expected = np.array([by_enumeration(*table) for table in tables])
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    assert np.isnan(found).sum() == sum(n1 == 0 or n2 == 0 or a + b == 0 for a, n1, b, n2 in tables)


def test_every_count_of_tables_of_some_records() -> None:
    """Long tails, skewed both ways, and groups of very different sizes."""
    for n1, n2, m in ((40, 60, 30), (13, 200, 50), (200, 13, 150), (90, 90, 90), (50, 49, 98), (1, 100, 20)):
        first = list(chances(n1, n2, m))
        found = fisher_exact(first, n1, m - np.array(first), n2)
        expected = [by_enumeration(a, n1, m - a, n2) for a in first]
        np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("a", "n1", "b", "n2"),
    [
        (3, 4_000, 12, 6_000),  # the last whose logarithms are those of factorials
        (3, 4_000, 12, 6_001),
        (0, 5_000, 9, 6_000),
        (9, 5_000, 0, 6_000),
        (30, 9_000, 60, 12_000),
        (11, 2_000_000, 31, 1_500_000),
        (4_990, 5_000, 5_980, 6_000),  # nearly all have it: the others are few
        (5_000, 5_000, 5_985, 6_000),
        (7_000, 7_000, 5_990, 6_000),
        (1_600, 7_000, 1_400, 5_500),
        (14, 20, 5_000, 12_000),
        (20, 20, 9_000, 12_000),
        (0, 20, 9_000, 12_000),
        (5, 20, 11_900, 12_000),
    ],
)
def test_large_tables_to_ten_digits(a: int, n1: int, b: int, n2: int) -> None:
    expected = of_many(a, n1, b, n2)
    assert 0.0 < expected < 1.0
    assert float(fisher_exact(a, n1, b, n2)) == pytest.approx(expected, rel=1e-9)
    assert float(fisher_exact(b, n2, a, n1)) == pytest.approx(expected, rel=1e-9)
    # What has the label against what has it not.
    assert float(fisher_exact(n1 - a, n1, n2 - b, n2)) == pytest.approx(expected, rel=1e-9)


def test_the_normal_approximation_begins_at_a_variance_of_2500() -> None:
    """As many of each of two halves of N records: the variance of one count is N**2 / 16 / (N - 1)."""
    below, above = 19_999, 20_000
    for half, exact in ((below, True), (above, False)):
        a, b = half // 2 + 60, half // 2 - 60
        m, n = a + b, 2 * half
        variance = Fraction(m * half * half * (n - m), n * n * (n - 1))
        assert (variance <= 2500) == exact
        assert abs(float(variance) - 2500) < 0.5
        normal = erfc(abs(a - m / 2) / sqrt(2 * float(variance)))
        enumerated = of_many(a, half, b, half)
        assert enumerated != pytest.approx(normal, rel=1e-4)
        assert float(fisher_exact(a, half, b, half)) == pytest.approx(enumerated if exact else normal, rel=1e-8)


def test_the_normal_approximation_of_uneven_groups() -> None:
    """Score test with the variance of the hypergeometric distribution, which has one record less below."""
    a, n1, b, n2 = 5_300, 20_000, 23_900, 100_000
    m, n = a + b, n1 + n2
    z = (a - m * n1 / n) / sqrt(m * (n1 / n) * (n2 / n) * (n - m) / (n - 1))
    assert float(fisher_exact(a, n1, b, n2)) == pytest.approx(erfc(abs(z) / sqrt(2)), rel=1e-12)
    assert float(fisher_exact(b, n2, a, n1)) == pytest.approx(erfc(abs(z) / sqrt(2)), rel=1e-12)


def test_the_two_groups_may_be_named_in_either_order_to_the_bit() -> None:
    rng = np.random.default_rng(0)
    n1, n2 = rng.integers(1, 400, (2, 500))
    a, b = rng.integers(0, n1 + 1), rng.integers(0, n2 + 1)
    assert fisher_exact(a, n1, b, n2).tobytes() == fisher_exact(b, n2, a, n1).tobytes()


def test_counts_broadcast_and_keep_their_shape() -> None:
    a = np.array([[3, 1, 0], [4, 3, 2]])
    found = fisher_exact(a, 4, np.array([[1], [2]]), 5)
    assert found.shape == (2, 3)
    for (i, j), p in np.ndenumerate(found):
        assert p == pytest.approx(by_enumeration(int(a[i, j]), 4, i + 1, 5), rel=1e-12)
    assert fisher_exact(3, 4, 1, 4).shape == ()


def test_outcomes_as_probable_as_the_one_seen_count() -> None:
    """5 of 10 against 5 of 10 is the most probable; 3 and 7 of 10 mirror each other: both tails."""
    assert float(fisher_exact(5, 10, 5, 10)) == 1.0
    one_tail = sum(comb(10, k) * comb(10, 10 - k) for k in range(4)) / comb(20, 10)
    assert float(fisher_exact(3, 10, 7, 10)) == pytest.approx(2 * one_tail, rel=1e-12)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10, 15, 16, 17, 25, 100, 10**4, 10**7])
def test_what_stirling_misses(n: int) -> None:
    mpmath = pytest.importorskip("mpmath")
    with mpmath.workdps(40):
        k = mpmath.mpf(n)
        missed = mpmath.log(mpmath.factorial(n)) - (
            (k + mpmath.mpf(1) / 2) * mpmath.log(k) - k + mpmath.log(2 * mpmath.pi) / 2 if n else 0
        )
        expected = float(missed)
    found = float(significance._stirling_error(np.array([float(n)]))[0])
    # Few records by logarithms of factorials, which are rounded; from 16 on by a series.
    assert found == pytest.approx(expected, rel=1e-14 if n >= 16 else 0.0, abs=0.0 if n >= 16 else 2e-14)


CHANCES = [Fraction(1, 1000), Fraction(1, 5), Fraction(1, 2), Fraction(4, 5), Fraction(999, 1000)]


@pytest.mark.parametrize("chance", CHANCES)
@pytest.mark.parametrize("n", [1, 7, 40, 3000])
def test_binomial_chances_to_the_last_digits(n: int, chance: Fraction) -> None:
    mpmath = pytest.importorskip("mpmath")
    for k in sorted({0, 1, n // 3, n // 2, n - 1, n} & set(range(n + 1))):
        with mpmath.workdps(40):
            p = mpmath.mpf(chance.numerator) / chance.denominator
            expected = float(mpmath.log(mpmath.binomial(n, k)) + k * mpmath.log(p) + (n - k) * mpmath.log(1 - p))
        found = significance._log_binomial(*(np.array([float(x)]) for x in (k, n, chance, 1 - chance)))
        assert float(found[0]) == pytest.approx(expected, rel=1e-13, abs=1e-13)


def test_a_deviance_near_0() -> None:
    mpmath = pytest.importorskip("mpmath")
    for x, mean in ((1_000_001.0, 1_000_000.0), (3.0, 10.0), (10.0, 3.0), (5.0, 5.0)):
        with mpmath.workdps(40):
            expected = float(x * mpmath.log(mpmath.mpf(x) / mean) + mean - x)
        assert float(significance._deviance(np.array(x), np.array(mean))) == pytest.approx(expected, rel=1e-12)
