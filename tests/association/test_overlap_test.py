"""Fisher's test against scipy, the overlap test against enumeration and its own null."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2_contingency, norm
from scipy.stats import fisher_exact as scipy_fisher

from biasamp.association.overlap_test import overlap_test
from biasamp.resampling.significance import fisher_exact


def test_fisher_agrees_with_scipy():
    rng = np.random.default_rng(2)
    for _ in range(300):
        n1, n2 = (int(10 ** rng.uniform(0.3, 5)) for _ in range(2))
        rate = 10 ** rng.uniform(-4, -0.05)
        a, b = rng.binomial(n1, rate), rng.binomial(n2, min(1.0, rate * 10 ** rng.uniform(-0.4, 0.4)))
        if not 0 < a + b < 3000:
            continue
        expected = scipy_fisher([[a, n1 - a], [b, n2 - b]])[1]
        assert float(fisher_exact(a, n1, b, n2)) == pytest.approx(expected, rel=1e-6, abs=1e-300)


def test_large_counts_agree_with_the_score_test():
    a, n1, b, n2 = 30_400, 100_000, 29_600, 100_000
    expected = chi2_contingency([[a, n1 - a], [b, n2 - b]], correction=False).pvalue
    assert float(fisher_exact(a, n1, b, n2)) == pytest.approx(expected, rel=1e-4)


def test_nothing_to_compare_is_nan():
    assert np.isnan(fisher_exact([0, 3], [10, 3], [0, 0], [10, 0])).all()
    assert np.isnan(overlap_test([0], [0], [0], 10, 10, 5)).all()


def paired_score(a, b, c, n1, n2, both):
    """The normal approximation with the covariance of the shared records, from record-level arithmetic."""
    x1 = np.repeat([1, 1, 0, 0, 1, 1], [a, n1 - a, b, n2 - b, c, both - c])
    x2 = np.repeat([0, 0, 1, 1, 1, 1], [a, n1 - a, b, n2 - b, c, both - c])
    y = np.repeat([1, 0, 1, 0, 1, 0], [a, n1 - a, b, n2 - b, c, both - c])
    pooled = (y * (x1 + x2)).sum() / (x1 + x2).sum()
    part = (x1 / x1.sum() - x2 / x2.sum()) * (y - pooled)
    return 2 * norm.sf(abs(part.sum()) / np.sqrt((part**2).sum()))


@pytest.mark.parametrize(
    "counts",
    [(900, 820, 600, 5000, 5000, 3000), (300, 1500, 700, 1000, 6000, 3000), (2000, 2100, 900, 4000, 4500, 1000)],
)
def test_overlap_test_agrees_with_the_normal_limit(counts):
    assert float(overlap_test(*counts)) == pytest.approx(paired_score(*counts), rel=0.05)


def test_overlap_test_is_symmetric_in_the_identities():
    one, other = overlap_test(30, 12, 9, 500, 700, 200), overlap_test(12, 30, 9, 700, 500, 200)
    assert float(one) == pytest.approx(float(other), rel=1e-9)


def test_identities_that_are_the_same_records_never_differ():
    assert float(overlap_test(0, 0, 7, 0, 0, 50)) == 1.0


def test_overlap_test_without_overlap_is_close_to_fisher():
    p, exact = float(overlap_test(40, 15, 0, 5000, 5000, 0)), float(fisher_exact(40, 5000, 15, 5000))
    assert p == pytest.approx(exact, rel=0.5)


@pytest.mark.parametrize(
    ("totals", "rates"),
    [
        ((3500, 3500, 3000), (0.004, 0.004, 0.004)),  # y independent of both
        ((1000, 6000, 3000), (0.003, 0.003, 0.003)),  # unequal identities
        ((3500, 3500, 3000), (0.002, 0.002, 0.012)),  # more frequent where both are: still equal rates
        ((200, 6800, 3000), (0.002, 0.002, 0.002)),  # hardly any record of x1 alone
    ],
)
def test_overlap_test_keeps_its_level(totals, rates):
    rng = np.random.default_rng(3)
    size = 20_000
    counts = [rng.binomial(n, p, size) for n, p in zip(totals, rates, strict=True)]
    p = overlap_test(*counts, *totals)
    p = p[~np.isnan(p)]
    for level in (0.05, 0.01, 0.001):
        allowed = level * size + 4 * np.sqrt(level * size)
        assert (p <= level).sum() <= allowed
    assert (p <= 0.05).mean() > 0.005, "a test that never rejects keeps its level too"


def test_overlap_test_finds_what_is_there():
    rng = np.random.default_rng(4)
    p = overlap_test(
        rng.binomial(3500, 0.012, 500), rng.binomial(3500, 0.004, 500), rng.binomial(3000, 0.008, 500), 3500, 3500, 3000
    )
    assert (p < 0.01).mean() > 0.6


def test_identities_of_one_rate_do_not_differ_at_all():
    """The shares are equal to the record, with records of both and without: p is 1 and no number beside it."""
    for counts in ((10, 10, 5, 100, 100, 50), (3, 6, 0, 100, 200, 0), (7, 7, 0, 70, 70, 10), (0, 0, 5, 20, 20, 20)):
        assert float(overlap_test(*counts)) == 1.0
