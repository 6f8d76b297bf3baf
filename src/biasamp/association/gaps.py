"""Associations of an identity and a label, and their gaps between identities, from counts.

``G(y|x1,x2) = A(x1,y) - A(x2,y)``. A positive gap means that label y leans to x1 (as printed, nPMI gaps lean the other
way). The difference of two rounded values loses the digits they share, so the gaps that have a closed form are computed
by it. Orientations say how a gap moves with p(y), p(x1,y) and p(x2,y).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from biasamp.data.plain_arguments import numbers_of, yes_or_no

from .association_metric import Array, Counts, Slope
from .metrics import metric_form


def counts_of(n: Any, count_x: Any, count_y: Any, count_xy: Any) -> Counts:
    """Check four counts and give them one shape; they must fit a two-by-two table."""
    counts = Counts(*np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (n, count_x, count_y, count_xy))))
    n_, x, y, xy = counts
    slack = 1e-9 * n_  # fractional counts add up with rounding
    impossible = ~((xy >= 0) & (xy <= np.minimum(x, y) + slack) & (x + y - xy <= n_ + slack) & (n_ > 0))
    if impossible.any():
        at = tuple(np.argwhere(impossible)[0])
        names = ("n", "C(x)", "C(y)", "C(x,y)")
        found = ", ".join(f"{name}={value[at]:g}" for name, value in zip(names, counts, strict=True))
        raise ValueError(
            f"the counts {found} fit no two-by-two table: 0 <= C(x,y) <= min(C(x), C(y)) and "
            "C(x) + C(y) - C(x,y) <= n are needed, with n above 0"
        )
    return counts


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
    """Gap ``A(x1,y) - A(x2,y)``, element by element, from the records in all, with each label, and with each and y.

    The counts broadcast; how far the identities overlap need not be known. Infinite where y never meets one of the
    two (PMI-type metrics); NaN where it meets neither, where every record has y (``npmi_y``, ``tau_b``), and where an
    identity has no records.

    >>> round(float(association_gap("dp", 100, 40, 50, 10, 8, 5)), 6)
    0.1
    >>> float(association_gap("pmi", 100, 40, 50, 10, 8, 0))
    inf
    """
    first = counts_of(n, count_x1, count_y, count_x1y)
    second = counts_of(n, count_x2, count_y, count_x2y)
    arrays = np.broadcast_arrays(*first, *second)
    return metric_form(metric, paper_literal).gap(Counts(*arrays[:4]), Counts(*arrays[4:]))


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
        return values[..., identity] - others.mean(axis=-1)


def gap_under_independence(
    metric: str, n: Any, count_x1: Any, count_x2: Any, count_y: Any, *, paper_literal: bool = False
) -> Array:
    """What the gap would be if y were independent of both identities: ``C(x,y) = C(x) C(y) / n``.

    Where the metric's record says so it is 0, and exactly 0; for the other metrics it is not when the identities
    differ in size: a gap of 0 is not the null there.

    >>> round(float(gap_under_independence("llr", 100, 40, 20, 10)), 6)   # ln 2
    0.693147
    """
    n, x1, x2, y = (np.asarray(v, dtype=np.float64) for v in (n, count_x1, count_x2, count_y))
    if metric_form(metric, paper_literal).zero_null:
        gap = association_gap(metric, n, x1, x1, y, x1 * y / n, x1 * y / n)
        return np.where(np.isnan(gap), np.nan, np.zeros(np.broadcast(n, x1, x2, y).shape))
    return association_gap(metric, n, x1, x2, y, x1 * y / n, x2 * y / n, paper_literal=paper_literal)


class Orientation(NamedTuple):
    """Partial derivatives of a gap by p(y), p(x1, y) and p(x2, y), the p(x) held fixed.

    Examples
    --------
    >>> import biasamp
    >>> found = biasamp.orientation("dp", 100, 0.5, 0.5, 0.2, 0.1, 0.05)
    >>> bool(found.x1y > 0 > found.x2y)
    True
    """

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
    yes_or_no(paper_literal, "paper_literal")
    n = numbers_of(n, "n")
    shares = {"p_x1": p_x1, "p_x2": p_x2, "p_y": p_y, "p_x1y": p_x1y, "p_x2y": p_x2y}
    p_x1, p_x2, p_y, p_x1y, p_x2y = (numbers_of(share, name) for name, share in shares.items())
    try:
        np.broadcast_shapes(*(array.shape for array in (n, p_x1, p_x2, p_y, p_x1y, p_x2y)))
    except ValueError:
        sizes = ", ".join(f"{name} has {np.shape(held)}" for name, held in {"n": n, **shares}.items())
        raise ValueError(f"shapes do not fit together: {sizes}") from None
    first = slope(metric, n, p_x1, p_y, p_x1y, paper_literal=paper_literal)
    second = slope(metric, n, p_x2, p_y, p_x2y, paper_literal=paper_literal)
    return Orientation(first.y - second.y, first.xy, -second.xy)
