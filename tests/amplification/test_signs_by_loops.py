"""Signs and tests of associations, table by table."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import fisher_exact

from biasamp.amplification.signs import (
    WEIGHT_TOLERANCE,
    association_p,
    association_p_of,
    association_signs,
    compare_products,
    product_difference,
    two_product,
)
from biasamp.counts.joint import JointCounts
from biasamp.data.arguments import read_evaluation

RNG = np.random.default_rng(2)


def counted(n: int, weights: Any = None, seed: int = 1) -> tuple[JointCounts, Any, Any]:
    rng = np.random.default_rng(seed)
    group, truth = rng.choice(["a", "b", "c"], n), (rng.random((n, 2)) < 0.4).astype(int)
    read, _, _ = read_evaluation(group, truth, truth.copy(), None, None)
    return JointCounts.from_labels(read.given, read.truth, weights), group, truth


@pytest.mark.parametrize("kind", ["none", "twos", "real"])
@pytest.mark.parametrize("n", [8, 40])
def test_every_pair_has_fishers_test(kind: str, n: int) -> None:
    """Of records that weigh, at the size that is left by Kish, to whole records."""
    weights = {"none": None, "twos": np.full(n, 2), "real": RNG.random(n) + 0.2}[kind]
    counts, group, truth = counted(n, weights)
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=float)
    scale = w.sum() / (w**2).sum()
    found, signs = association_p(counts), association_signs(counts)
    for g, name in enumerate("abc"):
        for o in range(2):
            mine, one = group == name, truth[:, o] == 1
            total, left, right, both = (round(scale * w[part].sum()) for part in (mine | ~mine, mine, one, mine & one))
            both = min(max(both, left + right - total), left, right)
            table = [[both, left - both], [right - both, total - left - right + both]]
            assert found[g, o] == pytest.approx(fisher_exact(table)[1])
            apart = w.sum() * w[mine & one].sum() - w[mine].sum() * w[one].sum()
            assert signs[g, o] == (0 if abs(apart) < 1e-9 else np.sign(apart))
    several = association_p_of([counts, counted(n, seed=5)[0]])
    np.testing.assert_array_equal(several[0], found)
    assert several.shape == (2, 3, 2)


def test_a_table_that_cannot_tell() -> None:
    """Everybody has the label: a p-value of 1, and no sign."""
    rng = np.random.default_rng(0)
    group = rng.choice(["a", "b"], 30)
    truth = np.stack([np.ones(30, dtype=int), rng.integers(0, 2, 30)], axis=1)
    read, _, _ = read_evaluation(group, truth, truth.copy(), None, None)
    counts = JointCounts.from_labels(read.given, read.truth)
    assert association_p(counts)[:, 0].tolist() == [1.0, 1.0]
    assert association_signs(counts)[:, 0].tolist() == [0, 0]


@pytest.mark.parametrize("most", [3, 10**5, 3_037_000_499, 3_037_000_500, 10**15])
def test_products_are_compared_exactly(most: int) -> None:
    """Up to the largest whole numbers, and one apart."""
    for a, b in ((most, most), (most - 1, most), (most, 1)):
        for c, d in ((a, b), (a - 1, b), (a, b + 1), (b, a)):
            held = [np.array([[value]], dtype=np.int64) for value in (a, b, c, d)]
            assert compare_products(*held).tolist() == [[(a * b > c * d) - (a * b < c * d)]]
    assert compare_products(*(np.zeros((0, 2), dtype=np.int64) for _ in range(4))).shape == (0, 2)


@pytest.mark.parametrize("off", [0.0, 2e-11, -2e-11, 1e-8, -1e-8])
def test_weights_are_compared_but_for_rounding(off: float) -> None:
    """Independent weights are so whatever a hair says; a hundred times the tolerance is an association."""
    weights = np.array([0.3 + off, 0.3, 0.7, 0.7])
    read, _, _ = read_evaluation(
        ["a", "b", "a", "b"], [[1, 0], [1, 1], [0, 1], [0, 0]], [[1, 0], [1, 0], [0, 1], [0, 0]], None, None
    )
    signs = association_signs(JointCounts.from_labels(read.given, read.truth, weights))[:, 0]
    expected = 0 if abs(off) < WEIGHT_TOLERANCE else int(np.sign(off))
    assert signs.tolist() == [expected, -expected]


def test_products_and_their_rests() -> None:
    """The rounded product and what rounding took are the product, in fractions; so are differences."""
    values = [*(RNG.random(12) * 10.0 ** RNG.integers(-6, 7, 12)), 1.0, 1.0 + 2.0**-52, 2.0**27 + 1]
    for a in values:
        for b in values:
            product, rest = two_product(a, b)
            assert Fraction(float(product)) + Fraction(float(rest)) == Fraction(a) * Fraction(b)
            assert float(product) == a * b
            for c, d in ((b, a), (a * (1 + 2.0**-50), b), (b, b)):
                exact = Fraction(a) * Fraction(b) - Fraction(c) * Fraction(d)
                assert float(product_difference(a, b, c, d)) == pytest.approx(float(exact), rel=1e-14, abs=0.0)
