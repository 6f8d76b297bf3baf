"""Many tests at once: q-values that bound the share of false discoveries."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

METHODS = ("bh", "by")


def q_values(p_values: Any, method: str = "bh") -> NDArray[np.float64]:
    r"""False-discovery-rate adjusted p-values.

    Calling every test with ``q <= a`` a discovery keeps the expected share of false ones among them at a or
    below. With m tests and ``p_(i)`` the i-th smallest,

    .. math:: q_{(i)} = \min_{j \ge i} \; \min(1, c \, m \, p_{(j)} / j),

    with ``c = 1`` for Benjamini-Hochberg (tests independent or positively dependent) and
    ``c = 1 + 1/2 + ... + 1/m`` for Benjamini-Yekutieli (any dependence).

    Parameters
    ----------
    p_values : array-like
        NaN is a test that was not made: it stays NaN and does not count among the m tests.
    method : {"bh", "by"}

    Returns
    -------
    ndarray
        Of the shape of ``p_values``.

    References
    ----------
    Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate", JRSS B 57, 1995.
    Y. Benjamini, D. Yekutieli, "The Control of the False Discovery Rate in Multiple Testing under
    Dependency", Annals of Statistics 29, 2001.

    Examples
    --------
    >>> q_values([0.01, 0.02, 0.03, 0.5]).tolist()
    [0.04, 0.04, 0.04, 0.5]
    """
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; 'bh' (Benjamini-Hochberg) or 'by' (Benjamini-Yekutieli)")
    p = np.asarray(p_values, dtype=np.float64)
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p_values must lie in [0, 1]")
    out = np.full(p.shape, np.nan)
    made = np.isfinite(p)
    values = p[made]
    m = len(values)
    if not m:
        return out
    factor = float((1.0 / np.arange(1, m + 1)).sum()) if method == "by" else 1.0
    order = np.argsort(values, kind="stable")
    raised = values[order] * (factor * m) / np.arange(1, m + 1)
    lowest = np.minimum.accumulate(raised[::-1])[::-1]
    q = np.empty(m)
    q[order] = np.minimum(lowest, 1.0)
    out[made] = q
    return out
