"""The association metrics that are shares and correlations: DP, SDC, JI, tau_b and the paper's t-test."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from biasamp.amplification.exact import product_difference, two_product
from biasamp.results.metric_registry import AKA_2021

from .association_metric import SHIFTED, Array, AssociationMetric, Counts, Slope, divide, excess, times


def _dp(c: Counts) -> Array:
    # C(x) = 0: no record to condition on, undefined. C(y) = 0: the rate is 0.
    return divide(c.xy, c.x)


def _dp_gap(first: Counts, second: Counts) -> Array:
    return divide(product_difference(first.xy, second.x, second.xy, first.x), first.x * second.x)


def _dp_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(-xy / x**2, 0.0 * y, 1.0 / x)


DP = AssociationMetric(
    name="dp",
    symbol="DP",
    title="Demographic parity",
    formula="P(y|x)",
    low=0.0,
    high=1.0,
    independent="P(y)",
    zero_null=True,
    words="The share of the identity's records that carry the label; the gap is the difference of demographic parity.",
    cautions=("common labels dominate it",),
    value=_dp,
    closed_gap=_dp_gap,
    slope=_dp_slope,
    paper=AKA_2021,
    page_formula=True,
)


def _sdc(c: Counts) -> Array:
    # C(x) = C(y) = 0: undefined. C(x,y) = 0 otherwise: 0.
    return divide(2.0 * c.xy, c.x + c.y)


def _sdc_gap(first: Counts, second: Counts) -> Array:
    below, other = first.x + first.y, second.x + second.y
    return divide(2.0 * product_difference(first.xy, other, second.xy, below), below * other)


def _sdc_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    slope = -2.0 * xy / (x + y) ** 2
    return Slope(slope, slope, 2.0 / (x + y))


_SDC = AssociationMetric(
    name="sdc",
    symbol="SDC",
    title="Sørensen-Dice coefficient",
    formula="2 P(x,y) / (P(x) + P(y))",
    low=0.0,
    high=1.0,
    independent="2 P(x) P(y) / (P(x) + P(y))",
    zero_null=False,
    words="The overlap of the records with the identity and those with the label.",
    cautions=(SHIFTED,),
    value=_sdc,
    closed_gap=_sdc_gap,
    slope=_sdc_slope,
    paper=AKA_2021,
    page_formula=True,
)
SDC = replace(_SDC, as_printed=times(_SDC, 0.5, "P(x,y) / (P(x) + P(y)), without the factor 2"))


def _ji(c: Counts) -> Array:
    # C(x) = C(y) = 0: undefined. C(x,y) = 0 otherwise: 0.
    return divide(c.xy, c.x + c.y - c.xy)


def _ji_gap(first: Counts, second: Counts) -> Array:
    below, other = first.x + first.y - first.xy, second.x + second.y - second.xy
    return divide(product_difference(first.xy, other, second.xy, below), below * other)


def _ji_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    union = x + y - xy
    slope = -xy / union**2
    return Slope(slope, slope, (x + y) / union**2)


JI = AssociationMetric(
    name="ji",
    symbol="JI",
    title="Jaccard index",
    formula="P(x,y) / (P(x) + P(y) - P(x,y))",
    low=0.0,
    high=1.0,
    independent="P(x) P(y) / (P(x) + P(y) - P(x) P(y))",
    zero_null=False,
    words="The records with both as a share of the records with either.",
    cautions=(SHIFTED,),
    value=_ji,
    closed_gap=_ji_gap,
    slope=_ji_slope,
    paper=AKA_2021,
    page_formula=True,
)


def _tau_b(c: Counts) -> Array:
    # A label that every record has, or none, has no rank: undefined.
    spread = np.sqrt(c.x * (c.n - c.x)) * np.sqrt(c.y * (c.n - c.y))
    return np.where(spread > 0, divide(excess(c), spread), np.nan)


def _tau_b_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    spread = np.sqrt(x * (1.0 - x) * y * (1.0 - y))
    return _over_spread(Slope(-y, -x, np.ones_like(xy)), xy - x * y, spread, x, y)


def _over_spread(top: Slope, value: Array, spread: Array, x: Array, y: Array) -> Slope:
    """Derivatives of ``value / spread``, ``spread = sqrt(x (1-x) y (1-y))``; ``top`` has those of the value."""
    tau = value / spread
    return Slope(
        top.x / spread - tau * (1.0 - 2.0 * x) / (2.0 * x * (1.0 - x)),
        top.y / spread - tau * (1.0 - 2.0 * y) / (2.0 * y * (1.0 - y)),
        top.xy / spread,
    )


def _tau_b_printed(c: Counts) -> Array:
    """Equation 23: ``2 (n_c - n_d) / sqrt(...)`` with ``n_c = C(a,2) + C(d,2)``, ``n_d = C(b,2) + C(c,2)``.

    With the cells a (both), b (x alone), c (y alone), d (neither), ``2 (n_c - n_d)`` is
    ``(a+b)(a-b) + (c+d)(d-c) - (a+d-b-c)``.
    """
    agree = c.n - 2.0 * c.x - 2.0 * c.y + 4.0 * c.xy
    first, first_rest = two_product(c.x, 2.0 * c.xy - c.x)
    second, second_rest = two_product(c.n - c.x, c.n - c.x - 2.0 * c.y + 2.0 * c.xy)
    # The sum of the two leading products with the error of its rounding (Knuth's two-sum).
    total = first + second
    back = total - first
    lost = (first - (total - back)) + (second - back)
    numerator = total + (lost + first_rest + second_rest - agree)
    spread = np.sqrt(c.x * (c.n - c.x)) * np.sqrt(c.y * (c.n - c.y))
    return np.where(spread > 0, divide(numerator, spread), np.nan)


def _tau_b_printed_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    spread = np.sqrt(x * (1.0 - x) * y * (1.0 - y))
    pairs = 1.0 - 2.0 * x - 2.0 * y + 2.0 * xy + 2.0 * x * y + (2.0 * x + 2.0 * y - 4.0 * xy - 1.0) / n
    return _over_spread(Slope(2.0 * y - 2.0 + 2.0 / n, 2.0 * x - 2.0 + 2.0 / n, 2.0 - 4.0 / n), pairs, spread, x, y)


_TAU_B = AssociationMetric(
    name="tau_b",
    symbol="τ_b",
    title="Kendall's tau-b, which is phi",
    formula="(P(x,y) - P(x) P(y)) / √(P(x) (1-P(x)) P(y) (1-P(y)))",
    low=-1.0,
    high=1.0,
    independent="0",
    zero_null=True,
    words="Kendall's rank correlation of two yes/no variables, which is their phi coefficient.",
    cautions=("common labels dominate it", "undefined where every record has the label"),
    value=_tau_b,
    slope=_tau_b_slope,
    paper=AKA_2021,
    page_formula=True,
)
TAU_B = replace(
    _TAU_B,
    as_printed=replace(
        _TAU_B,
        formula="equation 23, which counts tied pairs as concordant and is twice its own definition",
        low=-float("inf"),
        high=float("inf"),
        zero_null=False,
        value=_tau_b_printed,
        slope=_tau_b_printed_slope,
    ),
)


def _t_test(c: Counts) -> Array:
    # C(x) = 0 or C(y) = 0: undefined.
    return np.where((c.x > 0) & (c.y > 0), divide(excess(c), c.n * np.sqrt(c.x * c.y)), np.nan)


def _t_test_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    root = np.sqrt(x * y)
    return Slope(-(xy / x + y) / (2.0 * root), -(xy / y + x) / (2.0 * root), 1.0 / root)


T_TEST = AssociationMetric(
    name="t_test",
    symbol="t-test",
    title="Excess over chance (the paper's t-test)",
    formula="(P(x,y) - P(x) P(y)) / √(P(x) P(y))",
    low=-1.0,
    high=1.0,
    independent="0",
    zero_null=True,
    words="The excess over chance in units of its size.",
    cautions=("common labels dominate it", "it is no test"),
    value=_t_test,
    slope=_t_test_slope,
    paper=AKA_2021,
    page_formula=True,
)
