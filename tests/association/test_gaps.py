"""Gaps between identities: their limits and the laws they must obey."""

from __future__ import annotations

import math
from math import inf, nan

import numpy as np
import pytest

from associations import association
from biasamp.association.gaps import association_gap, gap_under_independence, rest_gap
from biasamp.association.metrics import METRICS


def test_gaps_at_zero_co_occurrence():
    one_zero = {m: float(association_gap(m, 100, 40, 50, 10, 8, 0)) for m in METRICS}
    assert [m for m in METRICS if one_zero[m] == inf] == ["pmi", "npmi_y", "pmi2", "llr"]
    assert one_zero["npmi_xy"] == pytest.approx(math.log(2) / -math.log(0.08) + 1)
    both_zero = {m: float(association_gap(m, 100, 40, 50, 10, 0, 0)) for m in METRICS}
    assert {m for m in METRICS if math.isnan(both_zero[m])} == {"pmi", "npmi_y", "pmi2", "llr"}
    assert both_zero["npmi_xy"] == 0
    assert association_gap("npmi_xy", 100, 40, 50, 10, 8, 0, paper_literal=True) == -one_zero["npmi_xy"]


def test_a_gap_turns_its_sign_with_the_identities():
    n, x1, x2, y = 10_000, *np.random.default_rng(4).integers(100, 5_000, (3, 500))
    a, b = (np.minimum(x, y) * share for x, share in ((x1, 0.4), (x2, 0.7)))
    for metric in METRICS:
        assert association_gap(metric, n, x1, x2, y, a, b) == pytest.approx(
            -association_gap(metric, n, x2, x1, y, b, a), rel=1e-12, abs=1e-14
        )


def test_pmi_pmi2_and_llr_gaps_rank_identically_ties_included():
    rng = np.random.default_rng(6)
    first = rng.integers(0, 60, 4000)
    second = rng.integers(0, 60, 4000)
    first, second = np.concatenate([first, 7 * first]), np.concatenate([second, 7 * second])
    count = first + second + rng.integers(0, 300, len(first))
    order = []
    for metric in ("pmi", "pmi2", "llr"):
        gap = association_gap(metric, 10**6, 300_000, 170_000, count, first, second)
        order.append(np.unique(gap, return_inverse=True)[1])  # NaN sorts last and equals itself
    assert (order[0] == order[1]).all()
    assert (order[0] == order[2]).all()
    half = len(first) // 2
    defined = first[:half] + second[:half] > 0
    assert (order[0][:half][defined] == order[0][half:][defined]).all(), "equal ratios give equal gaps"


def test_gap_under_independence_is_the_gap_of_expected_counts():
    for metric in METRICS:
        found = float(gap_under_independence(metric, 1000, 400, 100, 50))
        expected = association(metric, 1000, 400, 50, 20) - association(metric, 1000, 100, 50, 5)
        assert found == pytest.approx(float(expected), abs=1e-14)
        assert (found == 0) == METRICS[metric].zero_null, f"{metric}: zero_null is wrong"
    printed = association_gap("tau_b", 1000, 400, 100, 50, 20, 5, paper_literal=True)
    assert gap_under_independence("tau_b", 1000, 400, 100, 50, paper_literal=True) == pytest.approx(printed)


def test_one_against_the_rest_is_the_unweighted_mean():
    values = np.array([[0.6, 0.2, 0.1], [-inf, 0.0, 1.0], [0.0, -inf, 1.0], [-inf, -inf, 1.0]])
    assert rest_gap(values, 0) == pytest.approx(np.array([0.45, -inf, inf, nan]), nan_ok=True)


def test_counts_that_fit_no_table_are_refused():
    for counts in [(10, 5, 5, 6), (10, 8, 8, 1), (0, 0, 0, 0), (10, 5, 5, -1)]:
        with pytest.raises(ValueError, match="fit no two-by-two table"):
            association("dp", *counts)
