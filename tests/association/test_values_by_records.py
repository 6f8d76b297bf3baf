"""Errors, limits, tests and smoothing of gaps against sums over the records themselves."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import false_discovery_control, fisher_exact, norm

import biasamp
from associations import association, covariance
from biasamp.association.gaps import association_gap, slope
from biasamp.association.metrics import METRICS
from biasamp.association.overlap_test import overlap_test
from biasamp.association.values import Moments, contrast_weights, gap_intervals, rate_tests

LABELS = ["often", "rare", "some"]


def drawn(many: int, seed: int, n: int = 120) -> tuple[Any, Any]:
    """Records of ``many`` identities, of which the last two exclude each other and the others overlap, and of three labels."""
    rng = np.random.default_rng(seed)
    x = rng.random((n, many)) < 0.4
    if many > 2:
        x[:, -1] &= ~x[:, -2]
    rates = np.array([0.55, 0.15, 0.3]) + 0.2 * x[:, :1] * [1, 0, 1]
    return x, rng.random((n, len(LABELS))) < rates


def moments_of(x: Any, y: Any, given: str = "cells") -> Moments:
    x, y = x.astype(float), y.astype(float)
    joint = np.einsum("ik,im,il->lkm", x, x, y)
    if given == "cells":
        return Moments(len(x), y.sum(axis=0), x.T @ x, joint)
    pairs = joint.copy()
    return Moments(len(x), y.sum(axis=0), x.T @ x, np.einsum("lkk->lk", joint), lambda k, m: pairs[:, k, m])


def by_records(x: Any, y: Any, weights: Any, metric: str, literal: bool) -> Any:
    """The variance of the mean over records of the linear part of the sum of A(x_k, y), one label."""
    n, both = len(x), x & y[:, None]
    at = slope(metric, n, x.mean(axis=0), y.mean(), both.mean(axis=0), paper_literal=literal)
    part = (at.x * x + at.y * y[:, None] + at.xy * both) @ np.array(weights)
    return part.var() / n


def result_of(x: Any, y: Any, **options: Any) -> biasamp.Association:
    names = [f"x{k}" for k in range(x.shape[1])]
    records = [
        [
            *(name for name, has in zip(names, who, strict=True) if has),
            *(label for label, has in zip(LABELS, said, strict=True) if has),
        ]
        for who, said in zip(x, y, strict=True)
    ]
    return biasamp.associate(records, names, min_expected=0, **options)


def places(result: biasamp.Association) -> list[int]:
    return [result.labels.index(label) for label in LABELS]


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_variances_are_those_of_sums_over_records(metric: str, literal: bool) -> None:
    x, y = drawn(4, 1)
    assert not (x[:, 2] & x[:, 3]).any()
    for weights in ([1, -1, 0, 0], [0, 0, 1, -1], [-0.5, 0, 2, 0], [1, -1 / 3, -1 / 3, -1 / 3], [0, 0, 0, 3]):
        wanted = [by_records(x, y[:, label], weights, metric, literal) for label in range(3)]
        for given in ("cells", "pairs"):
            found = moments_of(x, y, given).variance(metric, np.array(weights, dtype=float), paper_literal=literal)
            assert found == pytest.approx(wanted, rel=1e-9)


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
def test_variances_against_the_rest_are_those_of_sums_over_records(metric: str, literal: bool) -> None:
    for many in (2, 3, 5):
        x, y = drawn(many, 2)
        found = moments_of(x, y).rest_variances(metric, paper_literal=literal)
        for k in range(many):
            weights = [1 if m == k else -1 / (many - 1) for m in range(many)]
            wanted = [by_records(x, y[:, label], weights, metric, literal) for label in range(3)]
            assert found[:, k] == pytest.approx(wanted, rel=1e-8, abs=1e-15)


def test_weights_of_gaps() -> None:
    assert contrast_weights((0, 1), 2).tolist() == [1, -1]
    assert contrast_weights((1, 3), 4).tolist() == [0, 1, 0, -1]
    assert contrast_weights((0, None), 3).tolist() == [1, -0.5, -0.5]
    assert contrast_weights((2, None), 5).tolist() == [-0.25, -0.25, 1, -0.25, -0.25]


def test_moments_of_some_labels_and_of_two_sets_of_records() -> None:
    one, two = drawn(3, 3), drawn(3, 4, 90)
    first, second = moments_of(*one), moments_of(*two)
    both, whole = first + second, moments_of(*(np.concatenate(pair) for pair in zip(one, two, strict=True)))
    assert both.n == whole.n == 210
    some = both.of_labels(np.array([2, 0]))
    for found, rows in ((both, [0, 1, 2]), (some, [2, 0])):
        for name in ("count", "together", "filled"):
            assert (getattr(found, name) == getattr(whole, name)[rows]).all(), name
        assert (found.overlap == whole.overlap).all()
        assert (found.size == np.diag(whole.overlap)).all()
        for pair in ((0, 1), (1, 2), (0, 0)):
            assert (found.both(*pair) == whole.both(*pair)[rows]).all()


def test_half_a_record_stands_where_there_is_none_and_no_more_than_the_label_has() -> None:
    moments = Moments(
        50, [8, 3, 0, 0.25], [[20, 0], [0, 10]], [[[5, 0], [0, 0]], [[3, 0], [0, 0.75]], *np.zeros((2, 2, 2))]
    )
    assert moments.filled.tolist() == [[5, 0.5], [3, 0.75], [0, 0], [0.25, 0.25]]


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_limits_are_so_many_errors_away(metric: str, literal: bool, level: float) -> None:
    x, y = drawn(3, 5, 4000)
    moments, z = moments_of(x, y), norm.ppf((1 + level) / 2)
    sizes, count, both = x.sum(axis=0), y.sum(axis=0), np.stack([(x & y[:, [label]]).sum(axis=0) for label in range(3)])
    values = np.stack([association(metric, len(x), sizes, count[k], both[k], paper_literal=literal) for k in range(3)])
    for contrast, weights in (((0, 2), [1, 0, -1]), ((1, None), [-0.5, 1, -0.5])):
        gap = values @ weights
        error = np.sqrt([by_records(x, y[:, label], weights, metric, literal) for label in range(3)])
        found = gap_intervals(moments, metric, contrast, level=level, paper_literal=literal)
        assert found.error == pytest.approx(error, rel=1e-8)
        assert found.low == pytest.approx(gap - z * error, rel=1e-8)
        assert found.high == pytest.approx(gap + z * error, rel=1e-8)


def test_what_is_known_of_gaps_is_not_computed_again() -> None:
    moments = Moments(100, [40, 30], [[50, 0], [0, 40]], [[[20, 0], [0, 10]], [[10, 0], [0, 0]]])
    z = norm.ppf(0.975)
    known = {"gaps": np.array([0.1, 0.2]), "variance": np.array([0.0004, 0.0001]), "centre": np.array([9.0, 0.15])}
    low, high, error = gap_intervals(moments, "dp", (0, 1), **known)
    assert error == pytest.approx([0.02, 0.01])
    assert low == pytest.approx([0.1 - 0.02 * z, 0.15 - 0.01 * z])
    # Stretched to the gap itself, which lies outside of what half a record gives.
    assert high == pytest.approx([0.1 + 0.02 * z, 0.2])
    # A variance below 0 is what rounding leaves of 0.
    known |= {"variance": np.array([-1e-20, -1e-20])}
    assert gap_intervals(moments, "dp", (0, 1), **known).error.tolist() == [0, 0]


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("empty", [0, 1])
def test_limits_where_a_label_never_meets_an_identity(metric: str, empty: int) -> None:
    """By hand: the gap and its error with half a record there, stretched to the gap itself."""
    joint = [0, 30] if empty == 0 else [30, 0]
    n, sizes, count = 500, (120, 150), 80
    cells = [[[joint[0], 0], [0, joint[1]]]]
    low, high, error = gap_intervals(Moments(n, [count], np.diag(sizes), cells), metric, (0, 1))
    filled = [max(0.5, held) for held in joint]
    gap = float(association_gap(metric, n, *sizes, count, *joint))
    centre = float(association_gap(metric, n, *sizes, count, *filled))
    # Frequencies of the records: x1 and y, x2 and y, y alone, x1 alone, x2 alone, none.
    share = np.array([*filled, count - sum(filled), sizes[0] - filled[0], sizes[1] - filled[1], 0.0]) / n
    share[-1] = 1 - share.sum()
    at = slope(metric, n, np.array(sizes) / n, count / n, np.array(filled) / n)
    by_y = at.y[0] - at.y[1]
    part = np.array([at.x[0] + by_y + at.xy[0], by_y - at.x[1] - at.xy[1], by_y, at.x[0], -at.x[1], 0.0])
    # What all records with y have of it is by C(y); half a record of one identity is not taken from others.
    variance = (share * part**2).sum() - (share * part).sum() ** 2
    reach = 1.959963984540054 * math.sqrt(variance / n)
    bound = METRICS[metric].bound
    assert float(low[0]) == pytest.approx(max(min(centre - reach, gap), -bound), rel=1e-8)
    assert float(high[0]) == pytest.approx(min(max(centre + reach, gap), bound), rel=1e-8)
    assert (
        float(error[0]) == pytest.approx(math.sqrt(variance / n), rel=1e-8)
        if math.isfinite(gap)
        else np.isnan(error[0])
    )


def test_an_identity_that_is_not_compared_fills_nothing() -> None:
    cells = np.zeros((1, 3, 3))
    cells[0, [0, 1, 2], [0, 1, 2]] = [12, 6, 0]
    three = Moments(300, [20], np.diag([90, 80, 70]), cells)
    two = Moments(300, [20], np.diag([90, 80]), cells[:, :2, :2])
    assert [float(v[0]) for v in gap_intervals(three, "dp", (0, 1))] == pytest.approx(
        [float(v[0]) for v in gap_intervals(two, "dp", (0, 1))], rel=1e-12
    )
    low, high, _ = gap_intervals(two, "dp", (0, 1))
    assert low[0] + high[0] == pytest.approx(2 * (12 / 90 - 6 / 80), rel=1e-12)


def test_limits_do_not_pass_what_a_gap_can_be() -> None:
    moments = Moments(12, [4, 4], [[4, 0], [0, 4]], [[[3, 0], [0, 1]], [[1, 0], [0, 3]]])
    for metric, bound in (("dp", 1), ("sdc", 1), ("ji", 1), ("npmi_xy", 2), ("t_test", 2)):
        low, high, error = gap_intervals(moments, metric, (0, 1), level=0.9999)
        gap = moments.gaps(metric, (0, 1))
        z = norm.ppf(0.99995)
        assert low == pytest.approx(np.maximum(gap - z * error, -bound))
        assert high == pytest.approx(np.minimum(gap + z * error, bound))
        if metric != "npmi_xy":
            assert high[0] <= bound
            assert low[1] >= -bound
    low, high, _ = gap_intervals(moments, "dp", (0, 1), level=0.9999)
    assert (high[0], low[1]) == (1, -1)


def test_a_gap_that_is_undefined_has_no_limits() -> None:
    moments = Moments(40, [40, 9, 0], [[20, 0], [0, 20]], [[[20, 0], [0, 20]], [[5, 0], [0, 4]], [[0, 0], [0, 0]]])
    low, high, error = gap_intervals(moments, "npmi_y", (0, 1))
    for figures in (low, high, error):
        assert np.isnan(figures).tolist() == [True, False, True]


def test_rates_of_identities_that_exclude_each_other_have_fishers_test() -> None:
    moments = Moments(60, [9, 12], [[25, 0], [0, 30]], [[[7, 0], [0, 2]], [[4, 0], [0, 8]]])
    wanted = [fisher_exact([[7, 18], [2, 28]])[1], fisher_exact([[4, 21], [8, 22]])[1]]
    assert rate_tests(moments, 0, 1) == pytest.approx(wanted, rel=1e-9)


def test_rates_of_identities_that_overlap_are_tested_by_who_has_one_and_who_has_both() -> None:
    x, y = drawn(3, 6)
    one, two = x[:, 0] & ~x[:, 1], x[:, 1] & ~x[:, 0]
    both = x[:, 0] & x[:, 1]
    groups = (one, two, both)
    wanted = overlap_test(*((g[:, None] & y).sum(axis=0) for g in groups), *(g.sum() for g in groups))
    assert rate_tests(moments_of(x, y), 0, 1) == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize("literal", [False, True])
@pytest.mark.parametrize("many", [2, 3, 6])
def test_figures_of_a_result_are_those_of_its_records(many: int, literal: bool) -> None:
    """Values, gaps, limits and what independence gives, of every gap and metric."""
    x, y = drawn(many, 7, 300)
    result = result_of(x, y, paper_literal=literal, contrasts="pairs")
    rows, n = places(result), len(x)
    sizes, count, both = x.sum(axis=0), y.sum(axis=0), np.stack([(x & y[:, [k]]).sum(axis=0) for k in range(3)])
    for metric in METRICS:
        form = METRICS[metric].form(literal)
        values, null = (
            np.stack([association(metric, n, sizes, count[k], held[k], paper_literal=literal) for k in range(3)])
            for held in (both, np.outer(count, sizes) / n)
        )
        assert result.values.values(metric)[rows] == pytest.approx(values, rel=1e-12)
        for first, second in result.contrasts:
            weights = contrast_weights((first, second), many)
            gap = values @ weights
            assert result.values.gaps(metric, (first, second))[rows] == pytest.approx(gap, rel=1e-9, abs=1e-13)
            assert result.values.gaps_once(metric, (first, second))[rows] == pytest.approx(gap, rel=1e-9, abs=1e-13)
            under = result.values.independence(metric, (first, second))[rows]
            assert under == pytest.approx(null @ weights, rel=1e-9, abs=1e-12)
            assert (not under.any()) or not form.zero_null
            wanted = np.sqrt([by_records(x, y[:, k], weights, metric, literal) for k in range(3)])
            for level in (0.95, 0.5):
                low, high, error = result.values.interval(metric, (first, second), level)
                assert error[rows] == pytest.approx(wanted, rel=1e-7)
                z = norm.ppf((1 + level) / 2)
                assert low[rows] == pytest.approx(np.maximum(gap - z * wanted, -form.bound), rel=1e-7)
                assert high[rows] == pytest.approx(np.minimum(gap + z * wanted, form.bound), rel=1e-7)


@pytest.mark.parametrize("metric", ["dp", "npmi_xy", "sdc", "tau_b", "llr"])
@pytest.mark.parametrize("alpha", [0.25, 2.0])
def test_smoothing_adds_alpha_to_every_cell(metric: str, alpha: float) -> None:
    """n grows by 4 alpha, C(x) and C(y) by 2, C(x,y) by 1; how identities overlap stays, and tests go by the counts."""
    x, y = drawn(3, 8)
    result, plain = result_of(x, y, zero=("smooth", alpha)), result_of(x, y)
    rows, n = places(result), len(x) + 4 * alpha
    sizes, count = x.sum(axis=0) + 2 * alpha, y.sum(axis=0) + 2 * alpha
    overlap = (x.T.astype(int) @ x).tolist()
    for place, k in enumerate(rows):
        joint = (x & y[:, [place]]).sum(axis=0) + alpha
        both = np.einsum("ik,im,i->km", x, x, y[:, place].astype(int)).tolist()
        for contrast in result.contrasts:
            weights = contrast_weights(contrast, 3)
            values = association(metric, n, sizes, count[place], joint)
            assert result.values.values(metric)[k] == pytest.approx(values, rel=1e-12)
            assert result.values.gaps(metric, contrast)[k] == pytest.approx(values @ weights, rel=1e-9, abs=1e-13)
            error = math.sqrt(covariance(n, sizes, overlap, count[place], joint, both, weights, metric))
            assert result.values.interval(metric, contrast).error[k] == pytest.approx(error, rel=1e-8)
    for contrast in result.contrasts:
        for name in ("p_values", "q_values"):
            one, other = (getattr(found.values, name)(contrast) for found in (result, plain))
            np.testing.assert_array_equal(one, other)


def test_at_least_half_a_record_is_added_for_a_change() -> None:
    x, y = drawn(2, 9)
    for zero, more in (("limit", 0.5), ("drop", 0.5), (("smooth", 0.25), 0.5), ("smooth", 0.5), (("smooth", 3.0), 3.0)):
        moments = result_of(x, y, zero=zero).values.at_least_half
        assert moments.n == len(x) + 4 * more
        assert moments.size.tolist() == (x.sum(axis=0) + 2 * more).tolist()
        assert moments.overlap[0, 1] == (x[:, 0] & x[:, 1]).sum()


def test_tests_of_all_gaps_are_one_family() -> None:
    x, y = drawn(5, 10)
    result = result_of(x, y, contrasts="reference", correction="by")
    rows = places(result)
    pairs = [(0, k) for k in range(1, 5)]
    assert result.contrasts == tuple(pairs)
    p = np.stack([result.values.p_values(pair) for pair in pairs])
    others = [k for k in range(len(result.labels)) if k not in rows]
    assert np.isnan(p[:, others]).all()
    assert not np.isnan(p[:, rows]).any()
    q = np.stack([result.values.q_values(pair) for pair in pairs])
    assert q[:, rows].ravel() == pytest.approx(false_discovery_control(p[:, rows].ravel(), method="by"))
    # A pair that was not chosen is one more of the family.
    more = result.values.p_values((2, 4))
    wanted = false_discovery_control([*p[:, rows].ravel(), *more[rows]], method="by")[-len(rows) :]
    assert result.values.q_values((2, 4))[rows] == pytest.approx(wanted)
    for name in ("p_values", "q_values"):
        against_rest = getattr(result.values, name)((1, None))
        assert len(against_rest) == len(result.labels)
        assert np.isnan(against_rest).all()


def test_records_of_both_identities_stand_with_a_gap() -> None:
    x, y = drawn(3, 11)
    result = result_of(x, y)
    both = result.values.both((0, 1))
    assert both is not None
    assert both[places(result)].tolist() == (y & (x[:, [0]] & x[:, [1]])).sum(axis=0).tolist()
    assert result.values.both((0, None)) is None


def test_what_was_computed_is_kept_by_its_arguments() -> None:
    x, y = drawn(3, 12)
    values = result_of(x, y).values
    assert values.gaps("dp", (0, 1)) is values.gaps("dp", (0, 1))
    assert values.gaps("dp", (0, 1)) is not values.gaps("dp", (0, 2))
    assert values.gaps("dp", (0, 1)) is not values.gaps_once("dp", (0, 1))
    for contrast in ((0, 1), (0, None)):
        for usual, asked in zip(values.interval("dp", contrast), values.interval("dp", contrast, 0.95), strict=True):
            np.testing.assert_array_equal(usual, asked)
    wide, narrow = (values.interval("dp", (0, 1), level=level) for level in (0.95, 0.5))
    assert (wide.high - wide.low > narrow.high - narrow.low).any()


def test_figures_of_some_labels_are_theirs_among_all() -> None:
    x, y = drawn(5, 13)
    values = result_of(x, y).values
    some = values.of_labels(np.array([3, 0, 6]))
    for metric in ("dp", "llr", "tau_b"):
        for contrast in ((0, 1), (2, None)):
            assert (some.gaps(metric, contrast) == values.gaps(metric, contrast)[[3, 0, 6]]).all()
            for part, whole in zip(some.interval(metric, contrast), values.interval(metric, contrast), strict=True):
                np.testing.assert_array_equal(part, whole[[3, 0, 6]])
    np.testing.assert_array_equal(some.p_values((0, 1)), values.p_values((0, 1))[[3, 0, 6]])
    assert some.tested.tolist() == values.tested[[3, 0, 6]].tolist()


def test_labels_are_ranked_by_one_ratio_or_by_the_gap() -> None:
    x, y = drawn(3, 14, 600)
    for literal in (False, True):
        result = result_of(x, y, paper_literal=literal)
        rows = places(result)
        joint = np.stack([(x & y[:, [k]]).sum(axis=0) for k in range(3)]).astype(float)
        logs = np.log(joint)
        for metric in METRICS:
            for contrast in ((0, 2), (1, None)):
                lean = result.values.lean(metric, contrast)[rows]
                if METRICS[metric].ratio:
                    assert lean == pytest.approx(logs @ contrast_weights(contrast, 3), rel=1e-9, abs=1e-12)
                else:
                    turn = -1 if literal and metric.startswith("npmi") else 1
                    assert lean == pytest.approx(turn * result.values.gaps(metric, contrast)[rows])
        given = np.linspace(-1, 1, len(result.labels))
        assert (result.values.lean("npmi_xy", (0, 1), given) == (-given if literal else given)).all()


def test_a_lean_against_the_rest_is_undefined_where_the_gap_is() -> None:
    """No record has the label with any identity but the first of the others: -inf minus -inf."""
    records = [["a", "y"], ["b", "z"], ["c", "z"], ["a"], ["b"], ["c"], ["w"]] * 4
    result = biasamp.associate(records, ["a", "b", "c"], min_expected=0)
    y, w = (result.labels.index(label) for label in ("y", "w"))
    for metric in ("pmi", "pmi2", "llr"):
        leans = [result.values.lean(metric, (k, None)) for k in range(3)]
        assert leans[0][y] == math.inf
        assert all(np.isnan(lean[y]) for lean in leans[1:])
        assert all(np.isnan(lean[w]) for lean in leans)


def test_metrics_are_as_defined_unless_their_print_is_asked_for() -> None:
    x, y = drawn(3, 15)
    moments = moments_of(x, y)
    asked = {
        "variance": lambda **how: moments.variance("npmi_xy", np.array([1.0, -1.0, 0.0]), **how),
        "rest": lambda **how: moments.rest_variances("sdc", **how),
        "slopes": lambda **how: np.stack(moments.slopes("npmi_xy", np.arange(3), **how)),
        "values": lambda **how: moments.values("npmi_xy", **how),
        "gaps": lambda **how: moments.gaps("npmi_xy", (0, 1), **how),
        "against the rest": lambda **how: moments.gaps("npmi_xy", (0, None), **how),
        "intervals": lambda **how: np.stack(gap_intervals(moments, "sdc", (0, 1), **how)),
    }
    for name, of in asked.items():
        np.testing.assert_array_equal(of(), of(paper_literal=False), err_msg=name)
    for name in ("slopes", "values", "gaps", "against the rest"):
        np.testing.assert_allclose(asked[name](paper_literal=True), -asked[name](), err_msg=name, atol=1e-15)
    for name, factor in (("rest", 0.25), ("intervals", 0.5)):
        np.testing.assert_allclose(asked[name](paper_literal=True), factor * asked[name](), err_msg=name, rtol=1e-9)


def test_counts_are_filled_where_that_is_asked_for() -> None:
    moments = Moments(100, [10], np.diag([40, 50, 30]), [np.diag([8, 0, 4])])
    for filled, joint in ((False, [8, 0, 4]), (True, [8, 0.5, 4])):
        values = association("sdc", 100, [40, 50, 30], 10, joint)
        assert moments.values("sdc", filled=filled)[0] == pytest.approx(values)
        assert [part.tolist() for part in moments.counts(1, filled=filled)] == [[100], [50], [10], [joint[1]]]
        assert moments.gaps("sdc", (0, 1), filled=filled)[0] == pytest.approx(values[0] - values[1])
        assert moments.gaps("sdc", (1, None), filled=filled)[0] == pytest.approx(
            values[1] - (values[0] + values[2]) / 2
        )
    assert moments.values("dp").tolist() == moments.values("dp", filled=False).tolist()
    assert moments.gaps("dp", (0, 1)).tolist() == moments.gaps("dp", (0, 1), filled=False).tolist()
    assert moments.counts(1).xy.tolist() == [0]
