"""Orientations: how the gap of an association metric moves with p(y), p(x1,y) and p(x2,y)."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .association_metric import Array, Slope
from .metrics import metric_form


class Orientation(NamedTuple):
    """Partial derivatives of a gap by p(y), p(x1, y) and p(x2, y), the p(x) held fixed."""

    y: Array
    x1y: Array
    x2y: Array


def slope(metric: str, n: Any, p_x: Any, p_y: Any, p_xy: Any, *, paper_literal: bool = False) -> Slope:
    """Partial derivatives of A(x, y) by p(x), p(y) and p(x, y).

    Infinite or NaN where the metric has none, for instance of PMI at ``p(x,y) = 0``.

    >>> slope("pmi", 100, 0.4, 0.1, 0.08).xy.item()
    12.5
    """
    arrays = [np.asarray(v, dtype=np.float64) for v in np.broadcast_arrays(n, p_x, p_y, p_xy)]
    with np.errstate(divide="ignore", invalid="ignore"):
        return metric_form(metric, paper_literal).slope(*arrays)


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
