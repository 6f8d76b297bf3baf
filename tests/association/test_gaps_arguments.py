"""Counts that fit a table or miss it by one, shapes of arrays, and what gaps and slopes are asked with."""

from __future__ import annotations

import math

import numpy as np
import pytest

from associations import association
from biasamp.association.gaps import (
    association_gap,
    counts_of,
    gap_under_independence,
    orientation,
    rest_gap,
    slope,
)
from biasamp.association.metrics import METRICS


def test_counts_at_the_edge_of_a_table() -> None:
    for fits in (
        (10, 5, 5, 5),
        (10, 5, 5, 0),
        (10, 6, 5, 1),
        (10, 10, 10, 10),
        (10, 0, 10, 0),
        (1, 1, 1, 1),
        (0.5, 0.25, 0.5, 0.25),
    ):
        assert [float(part) for part in counts_of(*fits)] == list(fits)
    for wrong in (
        (10, 5, 6, 6),
        (10, 6, 5, 6),
        (10, 6, 5, 0),
        (10, 11, 5, 5),
        (10, 5, 5, -1),
        (0, 0, 0, 0),
        (-1, 0, 0, 0),
        (math.nan, 1, 1, 1),
        (10, 5, 5, math.nan),
    ):
        with pytest.raises(ValueError, match="fit no two-by-two table"):
            counts_of(*wrong)


def test_fractional_counts_may_miss_each_other_by_rounding() -> None:
    for fits in ((100, 5, 6, 5 + 9e-8), (100, 6, 5, 5 + 9e-8), (100, 60, 40 + 9e-8, 0), (1e6, 5, 6, 5 + 9e-4)):
        counts_of(*fits)
    for wrong in ((100, 5, 6, 5 + 2e-7), (100, 6, 5, 5 + 2e-7), (100, 60, 40 + 2e-7, 0), (100, 5, 6, -1e-12)):
        with pytest.raises(ValueError, match="fit no two-by-two table"):
            counts_of(*wrong)


def test_the_first_counts_that_fit_no_table_are_named() -> None:
    with pytest.raises(ValueError, match=r"the counts n=10, C\(x\)=4, C\(y\)=3, C\(x,y\)=3.5 fit no"):
        counts_of(10, [[4, 4], [4, 4]], 3, [[1, 2], [3.5, 9]])


def test_counts_are_given_one_shape() -> None:
    counts = counts_of(100, [[10], [20]], [5, 6, 7], 3)
    assert [part.shape for part in counts] == [(2, 3)] * 4
    assert counts.x.tolist() == [[10] * 3, [20] * 3]
    assert all(part.dtype == np.float64 for part in counts)
    found = association_gap("dp", 100, [[10], [20]], 30, [5, 6], 3, [[1, 2]])
    assert found == pytest.approx(np.array([[0.3 - 1 / 30, 0.3 - 2 / 30], [0.15 - 1 / 30, 0.15 - 2 / 30]]))


def test_metrics_are_as_defined_unless_their_print_is_asked_for() -> None:
    at = (100, 40, 50, 10, 8, 4)
    assert association_gap("npmi_xy", *at) == association_gap("npmi_xy", *at, paper_literal=False)
    assert association_gap("npmi_xy", *at) == -association_gap("npmi_xy", *at, paper_literal=True)
    assert gap_under_independence("sdc", *at[:4]) == 2 * gap_under_independence("sdc", *at[:4], paper_literal=True)
    shares = (100, 0.4, 0.5, 0.1, 0.08, 0.04)
    assert slope("sdc", 100, 0.4, 0.1, 0.08).xy == 2 * slope("sdc", 100, 0.4, 0.1, 0.08, paper_literal=True).xy
    assert orientation("sdc", *shares).x1y == 2 * orientation("sdc", *shares, paper_literal=True).x1y
    with pytest.raises(TypeError, match="paper_literal is 1"):
        orientation("sdc", *shares, paper_literal=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("identity", [0, 1, 2])
def test_against_the_rest_is_less_the_mean_of_the_others(identity: int) -> None:
    values = np.random.default_rng(0).normal(size=(2, 4, 3))
    others = [k for k in range(3) if k != identity]
    wanted = values[..., identity] - (values[..., others[0]] + values[..., others[1]]) / 2
    assert rest_gap(values, identity) == pytest.approx(wanted)
    assert rest_gap(values[..., :2], 1) == pytest.approx(values[..., 1] - values[..., 0])
    with pytest.raises(ValueError, match="one-vs-rest needs at least two identities"):
        rest_gap(np.zeros((3, 1)), 0)


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_the_gap_under_independence_is_that_of_expected_counts(metric: str, literal: bool) -> None:
    n, x1, x2, y = 200, np.array([[80], [40]]), 30, np.array([10, 50, 199])
    found = gap_under_independence(metric, n, x1, x2, y, paper_literal=literal)
    wanted = association(metric, n, x1, y, x1 * y / n, paper_literal=literal) - association(
        metric, n, x2, y, x2 * y / n, paper_literal=literal
    )
    assert found.shape == (2, 3)
    assert found == pytest.approx(wanted, abs=1e-13)
    if METRICS[metric].form(literal).zero_null:
        assert not found.any()


def test_the_gap_under_independence_is_undefined_where_the_metric_is() -> None:
    assert np.isnan(gap_under_independence("npmi_y", 100, 40, 20, [100, 10])).tolist() == [True, False]
    assert np.isnan(gap_under_independence("pmi", 100, [0, 40], 20, 10)).tolist() == [True, False]
    assert gap_under_independence("dp", 100, 40, [20, 30], 10).tolist() == [0, 0]


def test_the_orientation_is_a_difference_of_slopes() -> None:
    n, x1, x2, y, a, b = 50, 0.4, 0.3, np.array([0.2, 0.5]), 0.1, 0.15
    for metric in METRICS:
        first, second = slope(metric, n, x1, y, a), slope(metric, n, x2, y, b)
        found = orientation(metric, n, x1, x2, y, a, b)
        assert found.y == pytest.approx(first.y - second.y)
        assert found.x1y == pytest.approx(first.xy)
        assert found.x2y == pytest.approx(-second.xy)
    with pytest.raises(ValueError, match=r"shapes do not fit together: n has \(\), p_x1 has \(3,\), p_x2 has \(2,\)"):
        orientation("dp", 10, [0.1] * 3, [0.1] * 2, 0.1, 0.05, 0.05)
    with pytest.raises(TypeError, match="p_y is 'a'; numbers are needed"):
        orientation("dp", 10, 0.1, 0.1, "a", 0.05, 0.05)


def test_slopes_that_do_not_exist_cost_no_warning() -> None:
    assert slope("pmi", 10, 0.5, 0.5, 0.0).xy == math.inf
    assert np.isnan(slope("tau_b", 10, 1.0, 1.0, 1.0).y)
