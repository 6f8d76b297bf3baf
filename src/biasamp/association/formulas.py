r"""Ten association metrics between an identity label x and any label y, from four counts.

With ``P(x) = C(x)/n``, ``P(y) = C(y)/n`` and ``P(x,y) = C(x,y)/n``:

===========  ==============================================  ======================
name         A(x, y)                                         range
===========  ==============================================  ======================
``dp``       P(y|x)                                          [0, 1]
``pmi``      ln P(x,y) / (P(x) P(y))                         [-inf, inf)
``npmi_y``   pmi / -ln P(y)                                  [-inf, 1]
``npmi_xy``  pmi / -ln P(x,y)                                [-1, 1]
``pmi2``     ln P(x,y)^2 / (P(x) P(y))                       [-inf, 0]
``sdc``      2 P(x,y) / (P(x) + P(y))                        [0, 1]
``ji``       P(x,y) / (P(x) + P(y) - P(x,y))                 [0, 1]
``llr``      ln P(x|y)                                       [-inf, 0]
``tau_b``    (P(x,y) - P(x)P(y)) / sqrt(P(x)Q(x)P(y)Q(y))    [-1, 1]
``t_test``   (P(x,y) - P(x)P(y)) / sqrt(P(x)P(y))            (-1, 1)
===========  ==============================================  ======================

where Q is 1 - P. ``tau_b`` is Kendall's tau-b of two yes/no variables, which is their phi coefficient. ``llr`` and
``t_test`` carry the paper's names; neither is a test statistic.

Where a value is a limit it is that limit (a PMI of two labels that never meet is minus infinity); where it
is undefined (0/0) it is NaN. Every such branch is written out in the function of its metric.

References
----------
O. Aka, K. Burke, A. Bäuerle, C. Greer, M. Mitchell, "Measuring Model Biases in the Absence of Ground
Truth", AIES 2021.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification.exact import product_difference

Array = NDArray[np.float64]

METRICS = ("dp", "pmi", "npmi_y", "npmi_xy", "pmi2", "sdc", "ji", "llr", "tau_b", "t_test")


class Counts(NamedTuple):
    """The four counts of each (x, y), as floats of one shape."""

    n: Array
    x: Array
    y: Array
    xy: Array


def counts_of(n: Any, count_x: Any, count_y: Any, count_xy: Any) -> Counts:
    """Check four counts and give them one shape; they must fit a two-by-two table."""
    arrays = [np.asarray(value, dtype=np.float64) for value in (n, count_x, count_y, count_xy)]
    counts = Counts(*np.broadcast_arrays(*arrays))
    n_, x, y, xy = counts
    slack = 1e-9 * n_  # fractional counts add up with rounding
    impossible = ~((xy >= 0) & (xy <= np.minimum(x, y) + slack) & (x + y - xy <= n_ + slack) & (n_ > 0))
    if impossible.any():
        place = np.argwhere(impossible)[0]
        at = tuple(int(i) for i in place)
        found = ", ".join(
            f"{name}={value[at]:g}" for name, value in zip(("n", "C(x)", "C(y)", "C(x,y)"), counts, strict=True)
        )
        raise ValueError(
            f"the counts {found} fit no two-by-two table: 0 <= C(x,y) <= min(C(x), C(y)) and "
            "C(x) + C(y) - C(x,y) <= n are needed, with n above 0"
        )
    return counts


def log_ratio(a: Any, b: Any, difference: Any = None) -> Array:
    """``ln(a/b)`` for a, b >= 0, accurate also where a is close to b; ``difference`` is a - b where known better."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = (a - b if difference is None else difference) / b
        near = np.abs(relative) < 0.5
        out: Array = np.where(near, np.log1p(np.where(near, relative, 0.0)), np.log(a / b))
    return out


def _excess(c: Counts) -> Array:
    """``n C(x,y) - C(x) C(y)``: how far the pair is from independence."""
    return product_difference(c.n, c.xy, c.x, c.y)


def _divide(a: Any, b: Any) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        out: Array = np.asarray(a / b, dtype=np.float64)
    return out


def _dp(c: Counts) -> Array:
    # C(x) = 0: nobody to condition on, undefined. C(y) = 0: the rate is 0.
    return _divide(c.xy, c.x)


def _pmi(c: Counts) -> Array:
    # C(x) = 0 or C(y) = 0: undefined. C(x,y) = 0 otherwise: -inf.
    value = log_ratio(c.n * c.xy, c.x * c.y, _excess(c))
    return np.where((c.x > 0) & (c.y > 0), value, np.nan)


def _npmi_y(c: Counts) -> Array:
    # C(x,y) = 0: -inf. C(y) = n: 0/0, undefined.
    return np.where(c.y < c.n, _divide(_pmi(c), -log_ratio(c.y, c.n)), np.nan)


def _npmi_xy(c: Counts) -> Array:
    # C(x,y) = 0: the limit of pmi / -ln P(x,y) is -1. C(x,y) = n: 0/0, undefined.
    value = _divide(_pmi(c), -log_ratio(c.xy, c.n))
    value = np.where((c.xy == 0) & (c.x > 0) & (c.y > 0), -1.0, value)
    return np.where(c.xy < c.n, value, np.nan)


def _pmi2(c: Counts) -> Array:
    # As pmi: undefined for C(x) = 0 or C(y) = 0, else -inf for C(x,y) = 0.
    value = log_ratio(c.xy, c.x) + log_ratio(c.xy, c.y)
    return np.where((c.x > 0) & (c.y > 0), value, np.nan)


def _sdc(c: Counts) -> Array:
    # C(x) = C(y) = 0: undefined. C(x,y) = 0 otherwise: 0.
    return _divide(2.0 * c.xy, c.x + c.y)


def _ji(c: Counts) -> Array:
    # As sdc.
    return _divide(c.xy, c.x + c.y - c.xy)


def _llr(c: Counts) -> Array:
    # C(y) = 0: undefined. C(x,y) = 0 otherwise, C(x) = 0 included: -inf.
    return np.where(c.y > 0, log_ratio(c.xy, c.y), np.nan)


def _tau_b(c: Counts) -> Array:
    # A label that every record has, or none, has no rank: undefined.
    spread = np.sqrt(c.x * (c.n - c.x)) * np.sqrt(c.y * (c.n - c.y))
    return np.where(spread > 0, _divide(_excess(c), spread), np.nan)


def _t_test(c: Counts) -> Array:
    # C(x) = 0 or C(y) = 0: undefined.
    return np.where((c.x > 0) & (c.y > 0), _divide(_excess(c), c.n * np.sqrt(c.x * c.y)), np.nan)


_VALUES: dict[str, Callable[[Counts], Array]] = {
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


def metric_names(metrics: str | Iterable[str]) -> tuple[str, ...]:
    """The metrics asked for, checked; ``"all"`` is all ten."""
    if isinstance(metrics, str):
        metrics = METRICS if metrics == "all" else (metrics,)
    names = tuple(dict.fromkeys(metrics))
    strange = [name for name in names if name not in METRICS]
    if strange or not names:
        found = ", ".join(repr(name) for name in strange) or "nothing"
        raise ValueError(f"metrics asks for {found}; 'all', or names among {', '.join(METRICS)} are accepted")
    return names


def association(
    metric: str, n: Any, count_x: Any, count_y: Any, count_xy: Any, *, paper_literal: bool = False
) -> Array:
    """Association of x and y from counts, element by element.

    Parameters
    ----------
    metric : str
        One of :data:`METRICS`; the module's table has the formulas.
    n, count_x, count_y, count_xy : array-like
        Records in all, with x, with y, and with both. They broadcast.
    paper_literal : bool
        The formula as the paper prints it, where it differs: nPMI with the sign flipped, SDC without its
        factor 2, tau_b by equation 23.

    Returns
    -------
    ndarray
        Infinite where the value is a limit, NaN where it is undefined.

    See Also
    --------
    association_gap : the difference between two identities.

    References
    ----------
    Aka et al., AIES 2021, Appendix A.

    Examples
    --------
    Of 100 images, 40 show a man, 10 a bike, 8 both.

    >>> round(float(association("pmi", 100, 40, 10, 8)), 6)   # ln 2
    0.693147
    >>> float(association("npmi_xy", 100, 40, 10, 0))
    -1.0
    """
    (metric,) = metric_names(metric)
    counts = counts_of(n, count_x, count_y, count_xy)
    if paper_literal:
        from .literal import LITERAL

        return LITERAL.get(metric, _VALUES[metric])(counts)
    return _VALUES[metric](counts)
