r"""The ten association metrics of Aka et al. (AIES 2021) between an identity x and a label y, and their registry.

P(x), P(y) and P(x,y) are the shares of the records with x, with y and with both. ``llr`` and ``t_test`` carry the
paper's names; neither is a test statistic. What a zero count gives is written above each formula.

PMI, PMI2 and LLR gaps are increasing functions of one ratio, ``C(x1,y)/C(x2,y)``; reduced by the greatest common
divisor, equal ratios give equal gaps to the last bit, and so the three metrics rank labels identically, ties included.

Several derivatives that the paper prints carry errors (signs of ``ln p(y)`` terms in equations 56-59, minus signs in
37, 47 and 63, squares in Table 4's JI, a missing term in 66); the slopes here follow from the definitions and are
checked against finite differences.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from biasamp.amplification.signs import product_difference, two_product
from biasamp.data.plain_arguments import names_of, one_of
from biasamp.results.metric_registry import AKA_2021

from .association_metric import Array, AssociationMetric, Counts, Slope, divide, log_ratio, times

_INFINITE = float("inf")
# Counts from here on have no place in 64 bits.
_MOST = 2.0**63
_SHIFTED = "its gap is not 0 under independence when the identities differ in size: compare it with the value there"
_aka = partial(AssociationMetric, paper=AKA_2021, page_formula=True)
# Metrics that are 0 under independence, and those whose gap is not.
_zero = partial(_aka, independent="0", zero_null=True)
_shifted = partial(_aka, zero_null=False, cautions=(_SHIFTED,))


def _excess(c: Counts) -> Array:
    """``n C(x,y) - C(x) C(y)``: how far the pair is from independence."""
    return product_difference(c.n, c.xy, c.x, c.y)


def _reduced(first: Counts, second: Counts) -> tuple[Array, Array]:
    """``C(x1,y)`` and ``C(x2,y)`` without their common divisor, where they are whole."""
    a, b = first.xy, second.xy
    if ((a >= _MOST) | (b >= _MOST) | (a != np.rint(a)) | (b != np.rint(b))).any():
        return a, b
    divisor = np.maximum(np.gcd(a.astype(np.int64), b.astype(np.int64)), 1)
    return a / divisor, b / divisor


def _share_gap(first: tuple[Array, Array], second: tuple[Array, Array]) -> Array:
    """``a/b - c/d`` of two fractions, without the loss of the digits that they share."""
    (a, b), (c, d) = first, second
    return divide(product_difference(a, d, c, b), b * d)


DP = _aka(
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
    # C(x) = 0: no record to condition on, undefined. C(y) = 0: the rate is 0.
    value=lambda c: divide(c.xy, c.x),
    closed_gap=lambda first, second: _share_gap((first.xy, first.x), (second.xy, second.x)),
    slope=lambda n, x, y, xy: Slope(-xy / x**2, 0.0 * y, 1.0 / x),
)


def _pmi(c: Counts) -> Array:
    # C(x) = 0 or C(y) = 0: undefined. C(x,y) = 0 otherwise: -inf.
    value = log_ratio(c.n * c.xy, c.x * c.y, _excess(c))
    return np.where((c.x > 0) & (c.y > 0), value, np.nan)


def _pmi_gap(first: Counts, second: Counts) -> Array:
    a, b = _reduced(first, second)
    value = log_ratio(a * second.x, b * first.x, product_difference(a, second.x, b, first.x))
    return np.where((first.x > 0) & (second.x > 0) & (first.y > 0), value, np.nan)


PMI = _zero(
    name="pmi",
    symbol="PMI",
    title="Pointwise mutual information",
    formula="ln(P(x,y) / (P(x) P(y)))",
    low=-_INFINITE,
    high=_INFINITE,
    words="How many times more often they occur together than by chance, as a logarithm.",
    cautions=("rare labels dominate it",),
    value=_pmi,
    closed_gap=_pmi_gap,
    slope=lambda n, x, y, xy: Slope(-1.0 / x, -1.0 / y, 1.0 / xy),
    ratio=True,
)


def _npmi_y_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    information, pmi = -np.log(y), np.log(xy / (x * y))
    by_y = (pmi / information - 1.0) / (y * information)
    return Slope(-1.0 / (x * information), by_y, 1.0 / (xy * information))


NPMI_Y = _zero(
    name="npmi_y",
    symbol="nPMI_y",
    title="PMI normalized by the label",
    formula="ln(P(x,y) / (P(x) P(y))) / -ln P(y)",
    low=-_INFINITE,
    high=1.0,
    words="PMI as a share of the information in the label; at most ln P(x) / ln P(y).",
    cautions=("undefined where every record has the label",),
    # C(x,y) = 0: -inf. C(y) = n: 0/0, undefined.
    value=lambda c: np.where(c.y < c.n, divide(_pmi(c), -log_ratio(c.y, c.n)), np.nan),
    closed_gap=lambda first, second: np.where(
        first.y < first.n, divide(_pmi_gap(first, second), -log_ratio(first.y, first.n)), np.nan
    ),
    slope=_npmi_y_slope,
)
NPMI_Y = replace(NPMI_Y, as_printed=times(NPMI_Y, -1.0, "ln(P(x,y) / (P(x) P(y))) / ln P(y), the sign flipped"))


def _npmi_xy(c: Counts) -> Array:
    # C(x,y) = 0: the limit of pmi / -ln P(x,y) is -1. C(x,y) = n: 0/0, undefined.
    value = divide(_pmi(c), -log_ratio(c.xy, c.n))
    value = np.where((c.xy == 0) & (c.x > 0) & (c.y > 0), -1.0, value)
    return np.where(c.xy < c.n, value, np.nan)


def _npmi_xy_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    information, pmi = -np.log(xy), np.log(xy / (x * y))
    by_xy = (1.0 + pmi / information) / (xy * information)
    return Slope(-1.0 / (x * information), -1.0 / (y * information), by_xy)


NPMI_XY = _zero(
    name="npmi_xy",
    symbol="nPMI_xy",
    title="PMI normalized by the co-occurrence",
    formula="ln(P(x,y) / (P(x) P(y))) / -ln P(x,y)",
    low=-1.0,
    high=1.0,
    words="PMI as a share of the information in occurring together: 1 where they only occur together, 0 under "
    "independence, -1 where they never do.",
    cautions=("finds rare and common labels alike: read the counts with it",),
    value=_npmi_xy,
    slope=_npmi_xy_slope,
)
NPMI_XY = replace(NPMI_XY, as_printed=times(NPMI_XY, -1.0, "ln(P(x,y) / (P(x) P(y))) / ln P(x,y), the sign flipped"))


def _llr_gap(first: Counts, second: Counts) -> Array:
    return np.where(first.y > 0, log_ratio(*_reduced(first, second)), np.nan)


@np.errstate(invalid="ignore")
def _pmi2_gap(first: Counts, second: Counts) -> Array:
    return _pmi_gap(first, second) + _llr_gap(first, second)


PMI2 = _shifted(
    name="pmi2",
    symbol="PMI²",
    title="Squared pointwise mutual information",
    formula="ln(P(x,y)² / (P(x) P(y)))",
    low=-_INFINITE,
    high=0.0,
    independent="ln(P(x) P(y))",
    words="PMI that favours common labels.",
    # As pmi: undefined for C(x) = 0 or C(y) = 0, else -inf for C(x,y) = 0.
    value=lambda c: np.where((c.x > 0) & (c.y > 0), log_ratio(c.xy, c.x) + log_ratio(c.xy, c.y), np.nan),
    closed_gap=_pmi2_gap,
    slope=lambda n, x, y, xy: Slope(-1.0 / x, -1.0 / y, 2.0 / xy),
    ratio=True,
)

SDC = _shifted(
    name="sdc",
    symbol="SDC",
    title="Sørensen-Dice coefficient",
    formula="2 P(x,y) / (P(x) + P(y))",
    low=0.0,
    high=1.0,
    independent="2 P(x) P(y) / (P(x) + P(y))",
    words="The overlap of the records with the identity and those with the label.",
    # C(x) = C(y) = 0: undefined. C(x,y) = 0 otherwise: 0.
    value=lambda c: divide(2.0 * c.xy, c.x + c.y),
    closed_gap=lambda first, second: 2.0 * _share_gap((first.xy, first.x + first.y), (second.xy, second.x + second.y)),
    slope=lambda n, x, y, xy: Slope(-2.0 * xy / (x + y) ** 2, -2.0 * xy / (x + y) ** 2, 2.0 / (x + y)),
)
SDC = replace(SDC, as_printed=times(SDC, 0.5, "P(x,y) / (P(x) + P(y)), without the factor 2"))


def _ji_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    union = x + y - xy
    return Slope(-xy / union**2, -xy / union**2, (x + y) / union**2)


JI = _shifted(
    name="ji",
    symbol="JI",
    title="Jaccard index",
    formula="P(x,y) / (P(x) + P(y) - P(x,y))",
    low=0.0,
    high=1.0,
    independent="P(x) P(y) / (P(x) + P(y) - P(x) P(y))",
    words="The records with both as a share of the records with either.",
    # C(x) = C(y) = 0: undefined. C(x,y) = 0 otherwise: 0.
    value=lambda c: divide(c.xy, c.x + c.y - c.xy),
    closed_gap=lambda first, second: _share_gap(
        (first.xy, first.x + first.y - first.xy), (second.xy, second.x + second.y - second.xy)
    ),
    slope=_ji_slope,
)

LLR = _shifted(
    name="llr",
    symbol="LLR",
    title="Log of the identity's share (the paper's log-likelihood ratio)",
    formula="ln P(x|y)",
    low=-_INFINITE,
    high=0.0,
    independent="ln P(x)",
    words="The share of the identity among the records with the label, as a logarithm.",
    cautions=(_SHIFTED, "it is no likelihood-ratio statistic"),
    # C(y) = 0: undefined. C(x,y) = 0 otherwise, C(x) = 0 included: -inf.
    value=lambda c: np.where(c.y > 0, log_ratio(c.xy, c.y), np.nan),
    closed_gap=_llr_gap,
    slope=lambda n, x, y, xy: Slope(0.0 * x, -1.0 / y, 1.0 / xy),
    ratio=True,
)


def _over_spread(c: Counts, numerator: Array) -> Array:
    """``numerator / sqrt(C(x) (n - C(x)) C(y) (n - C(y)))``; a label that all records have, or none, has no rank: NaN."""
    spread = np.sqrt(c.x * (c.n - c.x)) * np.sqrt(c.y * (c.n - c.y))
    return np.where(spread > 0, divide(numerator, spread), np.nan)


def _over_spread_slope(value: Array, by: Slope, x: Array, y: Array) -> Slope:
    """Derivatives of ``value / sqrt(x (1-x) y (1-y))``; ``by`` has those of the value."""
    spread = np.sqrt(x * (1.0 - x) * y * (1.0 - y))
    tau = value / spread
    return Slope(
        by.x / spread - tau * (1.0 - 2.0 * x) / (2.0 * x * (1.0 - x)),
        by.y / spread - tau * (1.0 - 2.0 * y) / (2.0 * y * (1.0 - y)),
        by.xy / spread,
    )


def _tau_b_printed(c: Counts) -> Array:
    """Equation 23: ``2 (n_c - n_d) / sqrt(...)`` with ``n_c = C(a,2) + C(d,2)``, ``n_d = C(b,2) + C(c,2)``.

    With the cells a (both), b (x alone), c (y alone), d (neither), ``2 (n_c - n_d)`` is
    ``(a+b)(a-b) + (c+d)(d-c) - (a+d-b-c)``.
    """
    agree = c.n - 2.0 * c.x - 2.0 * c.y + 4.0 * c.xy
    first, first_rest = two_product(c.x, 2.0 * c.xy - c.x)
    second, second_rest = two_product(c.n - c.x, c.n - c.x - 2.0 * c.y + 2.0 * c.xy)
    # Where the two products all but cancel their sum is exact, and what they were rounded by is most of it.
    return _over_spread(c, first + second + (first_rest + second_rest - agree))


def _tau_b_printed_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    pairs = 1.0 - 2.0 * x - 2.0 * y + 2.0 * xy + 2.0 * x * y + (2.0 * x + 2.0 * y - 4.0 * xy - 1.0) / n
    return _over_spread_slope(pairs, Slope(2.0 * y - 2.0 + 2.0 / n, 2.0 * x - 2.0 + 2.0 / n, 2.0 - 4.0 / n), x, y)


TAU_B = _zero(
    name="tau_b",
    symbol="τ_b",
    title="Kendall's tau-b, which is phi",
    formula="(P(x,y) - P(x) P(y)) / √(P(x) (1-P(x)) P(y) (1-P(y)))",
    low=-1.0,
    high=1.0,
    words="Kendall's rank correlation of two yes/no variables, which is their phi coefficient.",
    cautions=("common labels dominate it", "undefined where every record has the label"),
    value=lambda c: _over_spread(c, _excess(c)),
    slope=lambda n, x, y, xy: _over_spread_slope(xy - x * y, Slope(-y, -x, np.ones_like(xy)), x, y),
)
_TAU_B_PRINTED = replace(
    TAU_B,
    formula="equation 23, which counts tied pairs as concordant and is twice its own definition",
    low=-_INFINITE,
    high=_INFINITE,
    zero_null=False,
    value=_tau_b_printed,
    slope=_tau_b_printed_slope,
)
TAU_B = replace(TAU_B, as_printed=_TAU_B_PRINTED)


def _t_test(c: Counts) -> Array:
    # C(x) = 0 or C(y) = 0: undefined.
    return np.where((c.x > 0) & (c.y > 0), divide(_excess(c), c.n * np.sqrt(c.x * c.y)), np.nan)


def _t_test_slope(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    root = np.sqrt(x * y)
    return Slope(-(xy / x + y) / (2.0 * root), -(xy / y + x) / (2.0 * root), 1.0 / root)


T_TEST = _zero(
    name="t_test",
    symbol="t-test",
    title="Excess over chance (the paper's t-test)",
    formula="(P(x,y) - P(x) P(y)) / √(P(x) P(y))",
    low=-1.0,
    high=1.0,
    words="The excess over chance in units of its size.",
    cautions=("common labels dominate it", "it is no test"),
    value=_t_test,
    slope=_t_test_slope,
)

METRICS: dict[str, AssociationMetric] = {
    metric.name: metric for metric in (DP, PMI, NPMI_Y, NPMI_XY, PMI2, SDC, JI, LLR, TAU_B, T_TEST)
}


def register(metric: AssociationMetric) -> None:
    """Make a metric known to results, commands, reports and the explorer.

    ``tests/association/test_metric_recipe.py`` registers one and looks for it everywhere.
    """
    if metric.name in METRICS:
        raise ValueError(f"an association metric {metric.name!r} is registered already")
    METRICS[metric.name] = metric


def metric_names(metrics: str | Iterable[str]) -> tuple[str, ...]:
    """The metrics asked for, checked; ``"all"`` is all that are registered."""
    names = tuple(METRICS) if isinstance(metrics, str) and metrics == "all" else ()
    names = names or tuple(dict.fromkeys(names_of(metrics, "metrics", "names of metrics")))
    strange = [name for name in names if name not in METRICS]
    if strange or not names:
        found = ", ".join(repr(name) for name in strange) or "nothing"
        raise ValueError(f"metrics asks for {found}; 'all', or names among {', '.join(METRICS)} are accepted")
    return names


def metric_form(metric: str, paper_literal: bool = False) -> AssociationMetric:
    """The record of a metric by its name: as defined, or as printed."""
    return METRICS[one_of(metric, "metric", tuple(METRICS))].form(paper_literal)


def usual_metric(metrics: Sequence[str]) -> str:
    """The metric that a result of these shows where none is asked for: ``npmi_xy`` if it is there."""
    return "npmi_xy" if "npmi_xy" in metrics else metrics[0]
