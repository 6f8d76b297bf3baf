"""The association metrics that are logarithms: PMI, its two normalized forms, PMI2 and LLR.

PMI, PMI2 and LLR gaps are increasing functions of one ratio, ``C(x1,y)/C(x2,y)``; reduced by the greatest common
divisor, equal ratios give equal gaps to the last bit, and so the three metrics rank labels identically, ties included.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from biasamp.amplification.exact import product_difference
from biasamp.results.metric_registry import AKA_2021

from .association_metric import SHIFTED, Array, AssociationMetric, Counts, Slope, divide, excess, log_ratio, times

_INFINITE = float("inf")


def _reduced(first: Counts, second: Counts) -> tuple[Array, Array]:
    """``C(x1,y)`` and ``C(x2,y)`` without their common divisor, where they are whole."""
    a, b = first.xy, second.xy
    if not a.size or a.max() >= 2**53 or b.max() >= 2**53 or (a != np.rint(a)).any() or (b != np.rint(b)).any():
        return a, b
    divisor = np.maximum(np.gcd(a.astype(np.int64), b.astype(np.int64)), 1)
    return a / divisor, b / divisor


def _pmi(c: Counts) -> Array:
    # C(x) = 0 or C(y) = 0: undefined. C(x,y) = 0 otherwise: -inf.
    value = log_ratio(c.n * c.xy, c.x * c.y, excess(c))
    return np.where((c.x > 0) & (c.y > 0), value, np.nan)


def _pmi_gap(first: Counts, second: Counts) -> Array:
    a, b = _reduced(first, second)
    value = log_ratio(a * second.x, b * first.x, product_difference(a, second.x, b, first.x))
    defined = (first.x > 0) & (second.x > 0) & (first.y > 0)
    return np.where(defined, value, np.nan)


def _pmi_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(-1.0 / x, -1.0 / y, 1.0 / xy)


PMI = AssociationMetric(
    name="pmi",
    symbol="PMI",
    title="Pointwise mutual information",
    formula="ln(P(x,y) / (P(x) P(y)))",
    low=-_INFINITE,
    high=_INFINITE,
    independent="0",
    zero_null=True,
    words="How many times more often they occur together than by chance, as a logarithm.",
    cautions=("rare labels dominate it",),
    value=_pmi,
    closed_gap=_pmi_gap,
    slope=_pmi_slope,
    ratio=True,
    paper=AKA_2021,
    page_formula=True,
)


def _npmi_y(c: Counts) -> Array:
    # C(x,y) = 0: -inf. C(y) = n: 0/0, undefined.
    return np.where(c.y < c.n, divide(_pmi(c), -log_ratio(c.y, c.n)), np.nan)


def _npmi_y_gap(first: Counts, second: Counts) -> Array:
    return np.where(first.y < first.n, divide(_pmi_gap(first, second), -log_ratio(first.y, first.n)), np.nan)


def _npmi_y_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    information = -np.log(y)
    pmi = np.log(xy / (x * y))
    return Slope(
        -1.0 / (x * information),
        (pmi / information - 1.0) / (y * information),
        1.0 / (xy * information),
    )


_NPMI_Y = AssociationMetric(
    name="npmi_y",
    symbol="nPMI_y",
    title="PMI normalized by the label",
    formula="ln(P(x,y) / (P(x) P(y))) / -ln P(y)",
    low=-_INFINITE,
    high=1.0,
    independent="0",
    zero_null=True,
    words="PMI as a share of the information in the label; at most ln P(x) / ln P(y).",
    cautions=("undefined where every record has the label",),
    value=_npmi_y,
    closed_gap=_npmi_y_gap,
    slope=_npmi_y_slope,
    paper=AKA_2021,
    page_formula=True,
)
NPMI_Y = replace(_NPMI_Y, as_printed=times(_NPMI_Y, -1.0, "ln(P(x,y) / (P(x) P(y))) / ln P(y), the sign flipped"))


def _npmi_xy(c: Counts) -> Array:
    # C(x,y) = 0: the limit of pmi / -ln P(x,y) is -1. C(x,y) = n: 0/0, undefined.
    value = divide(_pmi(c), -log_ratio(c.xy, c.n))
    value = np.where((c.xy == 0) & (c.x > 0) & (c.y > 0), -1.0, value)
    return np.where(c.xy < c.n, value, np.nan)


def _npmi_xy_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    information = -np.log(xy)
    pmi = np.log(xy / (x * y))
    return Slope(
        -1.0 / (x * information),
        -1.0 / (y * information),
        (1.0 + pmi / information) / (xy * information),
    )


_NPMI_XY = AssociationMetric(
    name="npmi_xy",
    symbol="nPMI_xy",
    title="PMI normalized by the co-occurrence",
    formula="ln(P(x,y) / (P(x) P(y))) / -ln P(x,y)",
    low=-1.0,
    high=1.0,
    independent="0",
    zero_null=True,
    words="PMI as a share of the information in occurring together: 1 where they only occur together, 0 under "
    "independence, -1 where they never do.",
    cautions=("finds rare and common labels alike: read the counts beside it",),
    value=_npmi_xy,
    slope=_npmi_xy_slope,
    paper=AKA_2021,
    page_formula=True,
)
NPMI_XY = replace(_NPMI_XY, as_printed=times(_NPMI_XY, -1.0, "ln(P(x,y) / (P(x) P(y))) / ln P(x,y), the sign flipped"))


def _pmi2(c: Counts) -> Array:
    # As pmi: undefined for C(x) = 0 or C(y) = 0, else -inf for C(x,y) = 0.
    value = log_ratio(c.xy, c.x) + log_ratio(c.xy, c.y)
    return np.where((c.x > 0) & (c.y > 0), value, np.nan)


def _pmi2_gap(first: Counts, second: Counts) -> Array:
    with np.errstate(invalid="ignore"):
        out: Array = _pmi_gap(first, second) + _llr_gap(first, second)
    return out


def _pmi2_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(-1.0 / x, -1.0 / y, 2.0 / xy)


PMI2 = AssociationMetric(
    name="pmi2",
    symbol="PMI²",
    title="Squared pointwise mutual information",
    formula="ln(P(x,y)² / (P(x) P(y)))",
    low=-_INFINITE,
    high=0.0,
    independent="ln(P(x) P(y))",
    zero_null=False,
    words="PMI that favours common labels.",
    cautions=(SHIFTED,),
    value=_pmi2,
    closed_gap=_pmi2_gap,
    slope=_pmi2_slope,
    ratio=True,
    paper=AKA_2021,
    page_formula=True,
)


def _llr(c: Counts) -> Array:
    # C(y) = 0: undefined. C(x,y) = 0 otherwise, C(x) = 0 included: -inf.
    return np.where(c.y > 0, log_ratio(c.xy, c.y), np.nan)


def _llr_gap(first: Counts, second: Counts) -> Array:
    a, b = _reduced(first, second)
    return np.where(first.y > 0, log_ratio(a, b), np.nan)


def _llr_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(0.0 * x, -1.0 / y, 1.0 / xy)


LLR = AssociationMetric(
    name="llr",
    symbol="LLR",
    title="Log of the identity's share (the paper's log-likelihood ratio)",
    formula="ln P(x|y)",
    low=-_INFINITE,
    high=0.0,
    independent="ln P(x)",
    zero_null=False,
    words="The share of the identity among the records with the label, as a logarithm.",
    cautions=(SHIFTED, "it is no likelihood-ratio statistic"),
    value=_llr,
    closed_gap=_llr_gap,
    slope=_llr_slope,
    ratio=True,
    paper=AKA_2021,
    page_formula=True,
)
