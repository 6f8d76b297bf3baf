"""Orientations: how each association metric moves with p(x), p(y) and p(x,y).

The paper compares metrics by the partial derivatives of their gaps. Several printed derivatives carry errors
(signs of ``ln p(y)`` terms in equations 56-59, minus signs in 37, 47 and 63, squares in Table 4's JI, a missing term
in 66); these follow from the formulas of :mod:`biasamp.association.formulas` and are checked against finite
differences.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .formulas import metric_names

Array = NDArray[np.float64]


class Slope(NamedTuple):
    """Partial derivatives of A(x, y) by p(x), p(y) and p(x, y)."""

    x: Array
    y: Array
    xy: Array


class Orientation(NamedTuple):
    """Partial derivatives of a gap by p(y), p(x1, y) and p(x2, y), the p(x) held fixed."""

    y: Array
    x1y: Array
    x2y: Array


def _dp(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(-xy / x**2, 0.0 * y, 1.0 / x)


def _pmi(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(-1.0 / x, -1.0 / y, 1.0 / xy)


def _npmi_y(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    information = -np.log(y)
    pmi = np.log(xy / (x * y))
    return Slope(
        -1.0 / (x * information),
        (pmi / information - 1.0) / (y * information),
        1.0 / (xy * information),
    )


def _npmi_xy(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    information = -np.log(xy)
    pmi = np.log(xy / (x * y))
    return Slope(
        -1.0 / (x * information),
        -1.0 / (y * information),
        (1.0 + pmi / information) / (xy * information),
    )


def _pmi2(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(-1.0 / x, -1.0 / y, 2.0 / xy)


def _sdc(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    slope = -2.0 * xy / (x + y) ** 2
    return Slope(slope, slope, 2.0 / (x + y))


def _ji(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    union = x + y - xy
    slope = -xy / union**2
    return Slope(slope, slope, (x + y) / union**2)


def _llr(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    return Slope(0.0 * x, -1.0 / y, 1.0 / xy)


def _tau_b(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    spread = np.sqrt(x * (1.0 - x) * y * (1.0 - y))
    tau = (xy - x * y) / spread
    return Slope(
        -y / spread - tau * (1.0 - 2.0 * x) / (2.0 * x * (1.0 - x)),
        -x / spread - tau * (1.0 - 2.0 * y) / (2.0 * y * (1.0 - y)),
        1.0 / spread,
    )


def _t_test(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    root = np.sqrt(x * y)
    return Slope(-(xy / x + y) / (2.0 * root), -(xy / y + x) / (2.0 * root), 1.0 / root)


_SLOPES: dict[str, Callable[[Array, Array, Array, Array], Slope]] = {
    "dp": _dp,
    "pmi": _pmi,
    "npmi_y": _npmi_y,
    "npmi_xy": _npmi_xy,
    "pmi2": _pmi2,
    "sdc": _sdc,
    "ji": _ji,
    "llr": _llr,
    "tau_b": _tau_b,
    "t_test": _t_test,
}


def _tau_b_printed(n: Array, x: Array, y: Array, xy: Array) -> Slope:
    spread = np.sqrt(x * (1.0 - x) * y * (1.0 - y))
    pairs = 1.0 - 2.0 * x - 2.0 * y + 2.0 * xy + 2.0 * x * y + (2.0 * x + 2.0 * y - 4.0 * xy - 1.0) / n
    tau = pairs / spread
    return Slope(
        (2.0 * y - 2.0 + 2.0 / n) / spread - tau * (1.0 - 2.0 * x) / (2.0 * x * (1.0 - x)),
        (2.0 * x - 2.0 + 2.0 / n) / spread - tau * (1.0 - 2.0 * y) / (2.0 * y * (1.0 - y)),
        (2.0 - 4.0 / n) / spread,
    )


# As printed, these are the defined metrics times a constant.
_PRINTED_FACTOR = {"npmi_y": -1.0, "npmi_xy": -1.0, "sdc": 0.5}


def slope(metric: str, n: Any, p_x: Any, p_y: Any, p_xy: Any, *, paper_literal: bool = False) -> Slope:
    """Partial derivatives of A(x, y) by p(x), p(y) and p(x, y).

    Infinite or NaN where the metric has none, for instance of PMI at ``p(x,y) = 0``.

    >>> slope("pmi", 100, 0.4, 0.1, 0.08).xy.item()
    12.5
    """
    (metric,) = metric_names(metric)
    arrays = [np.asarray(v, dtype=np.float64) for v in np.broadcast_arrays(n, p_x, p_y, p_xy)]
    with np.errstate(divide="ignore", invalid="ignore"):
        if paper_literal and metric == "tau_b":
            return _tau_b_printed(*arrays)
        found = _SLOPES[metric](*arrays)
        factor = _PRINTED_FACTOR.get(metric, 1.0) if paper_literal else 1.0
        return found if factor == 1.0 else Slope(*(factor * part for part in found))


def orientation(
    metric: str,
    n: Any,
    p_x1: Any,
    p_x2: Any,
    p_y: Any,
    p_x1y: Any,
    p_x2y: Any,
    *,
    paper_literal: bool = False,
) -> Orientation:
    """Partial derivatives of the gap ``A(x1,y) - A(x2,y)`` by p(y), p(x1,y) and p(x2,y).

    Parameters
    ----------
    metric : str
    n : array-like
        Records in all, which only the printed ``tau_b`` depends on.
    p_x1, p_x2, p_y, p_x1y, p_x2y : array-like
        Shares of the records with x1, with x2, with y, with x1 and y, with x2 and y.
    paper_literal : bool
        The metric as printed, where the print differs from the definition.

    Returns
    -------
    Orientation
        The derivatives ``y``, ``x1y`` and ``x2y``.

    References
    ----------
    Aka et al., AIES 2021, Appendix C (Table 4).

    Examples
    --------
    PMI does not move with p(y), nPMI does:

    >>> orientation("pmi", 1000, 0.4, 0.5, 0.1, 0.08, 0.05).y.item()
    0.0
    >>> round(orientation("npmi_y", 1000, 0.4, 0.5, 0.1, 0.08, 0.05).y.item(), 4)
    1.3074
    """
    first = slope(metric, n, p_x1, p_y, p_x1y, paper_literal=paper_literal)
    second = slope(metric, n, p_x2, p_y, p_x2y, paper_literal=paper_literal)
    return Orientation(first.y - second.y, first.xy, -second.xy)
