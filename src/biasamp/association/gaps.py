"""Gaps of association between two identities, or between one and the rest.

``G(y|x1,x2) = A(x1,y) - A(x2,y)``. A positive gap means that label y leans to x1 (as printed, nPMI gaps
lean the other way). The difference of two rounded values loses the digits they share, so the gaps that have
a closed form are computed by it. PMI, PMI2 and LLR gaps are increasing functions of one ratio,
``C(x1,y)/C(x2,y)``; reduced by the greatest common divisor, equal ratios give equal gaps to the last bit,
and so the three metrics rank labels identically, ties included.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from biasamp.amplification.exact import product_difference

from .formulas import _VALUES, Array, Counts, _divide, counts_of, log_ratio, metric_names


def subtract(a: Array, b: Array) -> Array:
    """``a - b``; two infinities of one sign have no difference: NaN."""
    with np.errstate(invalid="ignore"):
        out: Array = a - b
    return out


def _reduced(first: Counts, second: Counts) -> tuple[Array, Array]:
    """``C(x1,y)`` and ``C(x2,y)`` without their common divisor, where they are whole."""
    a, b = first.xy, second.xy
    if not a.size or a.max() >= 2**53 or b.max() >= 2**53 or (a != np.rint(a)).any() or (b != np.rint(b)).any():
        return a, b
    divisor = np.maximum(np.gcd(a.astype(np.int64), b.astype(np.int64)), 1)
    return a / divisor, b / divisor


def _dp(first: Counts, second: Counts) -> Array:
    return _divide(product_difference(first.xy, second.x, second.xy, first.x), first.x * second.x)


def _pmi(first: Counts, second: Counts) -> Array:
    a, b = _reduced(first, second)
    value = log_ratio(a * second.x, b * first.x, product_difference(a, second.x, b, first.x))
    defined = (first.x > 0) & (second.x > 0) & (first.y > 0)
    return np.where(defined, value, np.nan)


def _llr(first: Counts, second: Counts) -> Array:
    a, b = _reduced(first, second)
    return np.where(first.y > 0, log_ratio(a, b), np.nan)


def _pmi2(first: Counts, second: Counts) -> Array:
    with np.errstate(invalid="ignore"):
        out: Array = _pmi(first, second) + _llr(first, second)
    return out


def _npmi_y(first: Counts, second: Counts) -> Array:
    return np.where(first.y < first.n, _divide(_pmi(first, second), -log_ratio(first.y, first.n)), np.nan)


def _sdc(first: Counts, second: Counts) -> Array:
    below, other = first.x + first.y, second.x + second.y
    return _divide(2.0 * product_difference(first.xy, other, second.xy, below), below * other)


def _ji(first: Counts, second: Counts) -> Array:
    below, other = first.x + first.y - first.xy, second.x + second.y - second.xy
    return _divide(product_difference(first.xy, other, second.xy, below), below * other)


_CLOSED = {
    "dp": _dp,
    "pmi": _pmi,
    "npmi_y": _npmi_y,
    "pmi2": _pmi2,
    "sdc": _sdc,
    "ji": _ji,
    "llr": _llr,
}


def gap_of(metric: str, first: Counts, second: Counts, *, paper_literal: bool = False) -> Array:
    """The gap between two identities whose counts have been checked."""
    if paper_literal:
        from .literal import LITERAL

        if metric == "npmi_y":
            out: Array = 0.0 - _npmi_y(first, second)
            return out
        if metric == "sdc":
            return 0.5 * _sdc(first, second)
        if metric in LITERAL:
            return subtract(LITERAL[metric](first), LITERAL[metric](second))
    if metric in _CLOSED:
        return _CLOSED[metric](first, second)
    return subtract(_VALUES[metric](first), _VALUES[metric](second))


def association_gap(
    metric: str,
    n: Any,
    count_x1: Any,
    count_x2: Any,
    count_y: Any,
    count_x1y: Any,
    count_x2y: Any,
    *,
    paper_literal: bool = False,
) -> Array:
    """Gap ``A(x1,y) - A(x2,y)`` from counts, element by element.

    Parameters
    ----------
    metric : str
        One of :data:`~biasamp.association.formulas.METRICS`.
    n, count_x1, count_x2, count_y, count_x1y, count_x2y : array-like
        Records in all, with each label, and with each identity and y. They broadcast. The identities may
        overlap: the gap does not need to know how much.
    paper_literal : bool
        The metrics as the paper prints them.

    Returns
    -------
    ndarray
        Infinite where y never meets one of the two (PMI-type metrics); NaN where it meets neither, where
        every record has y (``npmi_y``, ``tau_b``), and where an identity has no records.

    See Also
    --------
    biasamp.association.formulas.association : the association of one identity.

    References
    ----------
    Aka et al., AIES 2021, Section 3.

    Examples
    --------
    >>> round(float(association_gap("dp", 100, 40, 50, 10, 8, 5)), 6)
    0.1
    >>> float(association_gap("pmi", 100, 40, 50, 10, 8, 0))
    inf
    """
    (metric,) = metric_names(metric)
    first = counts_of(n, count_x1, count_y, count_x1y)
    second = counts_of(n, count_x2, count_y, count_x2y)
    arrays = np.broadcast_arrays(*first, *second)
    return gap_of(metric, Counts(*arrays[:4]), Counts(*arrays[4:]), paper_literal=paper_literal)


def rest_gap(values: Array, identity: int) -> Array:
    """``A(x,y)`` minus the unweighted mean over the other identities; identities are the last axis.

    >>> import numpy as np
    >>> rest_gap(np.array([[0.6, 0.2, 0.1]]), 0).round(6).tolist()
    [0.45]
    """
    others = np.delete(values, identity, axis=-1)
    if others.shape[-1] == 0:
        raise ValueError("one-vs-rest needs at least two identities")
    with np.errstate(invalid="ignore"):
        mean: Array = others.mean(axis=-1)
    return subtract(values[..., identity], mean)


def gap_under_independence(
    metric: str, n: Any, count_x1: Any, count_x2: Any, count_y: Any, *, paper_literal: bool = False
) -> Array:
    """What the gap would be if y were independent of both identities: ``C(x,y) = C(x) C(y) / n``.

    It is 0 for ``dp``, ``pmi``, ``npmi_y``, ``npmi_xy``, ``tau_b`` and ``t_test``. For ``pmi2``, ``sdc``,
    ``ji`` and ``llr`` it is not when the identities differ in size: a gap of 0 is not the null there.

    >>> round(float(gap_under_independence("llr", 100, 40, 20, 10)), 6)   # ln 2
    0.693147
    """
    (metric,) = metric_names(metric)
    n, x1, x2, y = (np.asarray(v, dtype=np.float64) for v in (n, count_x1, count_x2, count_y))
    if metric in ("dp", "pmi", "npmi_y", "npmi_xy", "t_test") or (metric == "tau_b" and not paper_literal):
        gap = association_gap(metric, n, x1, x1, y, x1 * y / n, x1 * y / n)
        return np.where(np.isnan(gap), np.nan, np.zeros(np.broadcast(n, x1, x2, y).shape))
    return association_gap(metric, n, x1, x2, y, x1 * y / n, x2 * y / n, paper_literal=paper_literal)
