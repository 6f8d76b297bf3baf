"""Signs are decided exactly, and their p-values are the textbook tests."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import biasamp
from biasamp.amplification.signs import association_p, association_signs, compare_products
from biasamp.counts.joint import JointCounts
from biasamp.data import Label


def joint_counts(n: Any, left: Any, right: Any, joint: Any) -> JointCounts:
    """Counts of many one-pair tables at once, as if each were a resample."""
    column = lambda x: np.asarray(x, dtype=np.int64).reshape(-1, 1, 1)
    return JointCounts(
        (Label("g"),), (Label("o"),), 0, column(n), column(left), column(right), column(joint), column(n)
    )


def all_tables(n: int) -> tuple[Any, Any, Any, Any]:
    """Every (n, C(g), C(o), C(g, o)) of n records."""
    left, right, joint = (x.ravel() for x in np.meshgrid(*(np.arange(n + 1),) * 3, indexing="ij"))
    possible = (joint <= np.minimum(left, right)) & (left + right - joint <= n)
    left, right, joint = left[possible], right[possible], joint[possible]
    return np.full(len(left), n), left, right, joint


@pytest.mark.parametrize("n", range(1, 61))
def test_every_table_up_to_60_records(n: int) -> None:
    """Independence found by divisibility, not by the product that the code compares."""
    n_s, left, right, joint = all_tables(n)
    # P(o|g) == P(o|not g) on whole numbers: the cross product of the 2x2 table.
    a, b, c = joint, left - joint, right - joint
    d = n_s - a - b - c
    signs = association_signs(joint_counts(n_s, left, right, joint))[:, 0, 0]
    np.testing.assert_array_equal(signs, np.sign(a * d - b * c))
    assert (signs == 0).sum() >= 4 * n  # groups or outcomes that no record or everybody has, at least


def test_floats_would_get_independent_tables_wrong() -> None:
    """The reason for integers: n=25, 5, 5, 1 is independent, and 1/25 - 5/25 * 5/25 is not 0 in floats."""
    assert 1 / 25 - (5 / 25) * (5 / 25) != 0
    group = np.repeat([1, 1, 0, 0], [1, 4, 4, 16])
    task = np.repeat([1, 0, 1, 0], [1, 4, 4, 16])
    result = biasamp.directional(biasamp.binary(group), biasamp.binary(task), biasamp.binary(1 - task))
    assert result.pairs["sign"].tolist() == [0]
    assert result.value == 0


@given(st.integers(1, 2**62), st.integers(1, 2**62), st.integers(-1, 1))
def test_products_beyond_64_bits(a: int, b: int, shift: int) -> None:
    column = lambda x: np.array([[x]], dtype=np.int64)
    sign = compare_products(column(a), column(b), column(b), column(a - shift if a > 1 else a))
    assert sign.item() == (shift if a > 1 else 0)


@given(st.lists(st.integers(0, 2**62), min_size=4, max_size=4))
def test_any_products_beyond_64_bits(numbers: list[int]) -> None:
    """Differences that 64 bits would wrap to any sign."""
    a, b, c, d = numbers
    sign = compare_products(*(np.array([[x]], dtype=np.int64) for x in numbers))
    assert sign.item() == (a * b > c * d) - (a * b < c * d)


def test_a_strong_association_of_billions_of_records() -> None:
    """n * C(g, o) - C(g) * C(o) is beyond 64 bits itself: 3/16 of n squared."""
    n = 2**33
    signs = association_signs(joint_counts([n, n], [n // 4, n // 4], [n // 4, 3 * n // 4], [n // 4, 0]))
    assert signs.ravel().tolist() == [1, -1]


def test_billions_of_records() -> None:
    """An independent table of 2**40 records, and its neighbours by one record."""
    n, left, right = 2**40, 2**39, 2**38
    exact = left * right // n
    joint = np.array([exact - 1, exact, exact + 1])
    signs = association_signs(joint_counts([n] * 3, [left] * 3, [right] * 3, joint))
    assert signs.ravel().tolist() == [-1, 0, 1]


def test_real_weights_use_a_tolerance() -> None:
    """0.1 and 0.3 have no exact float: an independent weighted table must still be a tie."""
    group, task = np.array([1, 1, 0, 0]), np.array([1, 0, 1, 0])
    weights = [0.1, 0.3, 0.2, 0.6]  # odds 1:3 in both groups
    result = biasamp.directional(biasamp.binary(group), biasamp.binary(task), biasamp.binary(1 - task), weights=weights)
    assert result.pairs["sign"].tolist() == [0]
    result = biasamp.directional(
        biasamp.binary(group), biasamp.binary(task), biasamp.binary(task.copy()), weights=[0.1 + 1e-6, 0.3, 0.2, 0.6]
    )
    assert result.pairs["sign"].tolist() == [1]


@given(st.lists(st.integers(1, 8), min_size=4, max_size=4), st.integers(1, 40))
def test_real_weights_agree_with_fractions(cells: list[int], unit: int) -> None:
    """Cells weighted by fractions that floats cannot hold."""
    a, b, c, d = (Fraction(cell, unit) for cell in cells)
    group, task, said = (biasamp.binary(values) for values in ([1, 1, 0, 0], [1, 0, 1, 0], [1, 0, 1, 0]))
    result = biasamp.directional(group, task, said, weights=[float(w) for w in (a, b, c, d)])
    assert result.pairs["sign"].item() == (a * d > b * c) - (a * d < b * c)


class TestPValues:
    @pytest.mark.parametrize("seed", range(20))
    def test_fisher_on_tables_of_hundreds(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        table = rng.integers(20, 200, (2, 2))
        p = association_p(joint_counts(table.sum(), table[0].sum(), table[:, 0].sum(), table[0, 0])).item()
        assert p == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-7)

    @pytest.mark.parametrize("seed", range(20))
    def test_chi_squared_on_tables_of_many_thousands(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        table = rng.multinomial(400_000, [0.26, 0.24, 0.25, 0.25]).reshape(2, 2)
        p = association_p(joint_counts(table.sum(), table[0].sum(), table[:, 0].sum(), table[0, 0])).item()
        assert p == pytest.approx(stats.chi2_contingency(table, correction=False).pvalue, rel=1e-3, abs=1e-12)

    def test_fisher_on_all_small_tables(self) -> None:
        """Every table of 14 records, where some cell is always expected to hold fewer than five."""
        tables = all_tables(14)
        ours = association_p(joint_counts(*tables)).ravel()
        for p, n, left, right, joint in zip(ours, *tables, strict=True):
            table = [[joint, left - joint], [right - joint, n - left - right + joint]]
            assert p == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-7)

    def test_fisher_on_large_tables(self) -> None:
        rng = np.random.default_rng(0)
        for _ in range(30):
            n = int(rng.integers(1000, 100_000))
            left, right = int(rng.integers(1, 40)), int(rng.integers(1, n))
            joint = int(rng.hypergeometric(right, n - right, left))
            table = [[joint, left - joint], [right - joint, n - left - right + joint]]
            p = association_p(joint_counts(n, left, right, joint)).item()
            assert p == pytest.approx(stats.fisher_exact(table).pvalue, rel=1e-6)

    def test_a_label_that_all_or_none_have_tells_nothing(self) -> None:
        assert association_p(joint_counts([10, 10, 10], [0, 10, 4], [5, 5, 0], [0, 5, 0])).ravel().tolist() == [1, 1, 1]

    def test_equal_weights_leave_the_p_value_alone(self) -> None:
        """Kish's effective size of equal weights is the number of records, whatever the weight."""
        rng = np.random.default_rng(3)
        group, task = rng.integers(0, 2, 300), rng.integers(0, 2, 300)
        plain = biasamp.directional(group, task, task.copy()).pairs["sign_p"]
        for weight in (3, 0.37):
            weighted = biasamp.directional(group, task, task.copy(), weights=np.full(300, weight)).pairs["sign_p"]
            np.testing.assert_allclose(weighted, plain, rtol=1e-9)

    @pytest.mark.parametrize("seed", range(10))
    def test_random_weights_give_a_p_value_in_0_1(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        n = int(rng.integers(2, 60))
        group, task = rng.integers(0, 3, n), (rng.random((n, 3)) < 0.2).astype(int)
        p = biasamp.directional(group, task, task.copy(), weights=rng.gamma(0.3, size=n)).pairs["sign_p"]
        assert ((p >= 0) & (p <= 1)).all()
