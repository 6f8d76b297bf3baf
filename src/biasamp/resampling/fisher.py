"""Fisher's exact test of two rates, for many labels at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Above this variance of the count (a standard deviation of 50) the normal approximation is used: the two
# tails' errors of skewness cancel, and what is left is below a tenth of the p-value down to 1e-8.
_EXACT_VARIANCE = 2500.0
# Tables whose probability agrees so closely are equally probable; the logarithms are rounded.
_TIE = 1e-7


def fisher_exact(count_1: Any, total_1: Any, count_2: Any, total_2: Any) -> Array:
    r"""Two-sided p-value of ``P1 = P2`` from ``count_1`` of ``total_1`` and ``count_2`` of ``total_2``.

    Given the sum m of the counts, ``count_1`` is hypergeometric if the rates are equal; the p-value is the
    probability of all outcomes that are no more probable than the one seen. It never rejects a true null
    more often than its level says. With large counts the normal approximation of the same hypergeometric
    distribution takes over.

    Parameters
    ----------
    count_1, total_1, count_2, total_2 : array-like of whole numbers
        They broadcast.

    Returns
    -------
    ndarray
        NaN where a total is 0 or both counts are 0: there is nothing to compare.

    References
    ----------
    A. Agresti, "Categorical Data Analysis", 3rd ed., 2013, Section 3.5.

    Examples
    --------
    The lady tasting tea: 3 of 4 against 1 of 4.

    >>> round(float(fisher_exact(3, 4, 1, 4)), 6)
    0.485714
    """
    arrays = [np.asarray(v, dtype=np.float64) for v in (count_1, total_1, count_2, total_2)]
    a, n1, b, n2 = np.broadcast_arrays(*arrays)
    shape = a.shape
    tables = np.column_stack([part.ravel() for part in (a, n1, b, n2)])
    distinct, place = np.unique(tables, axis=0, return_inverse=True)
    return _p_values(*distinct.T)[place.reshape(-1)].reshape(shape)


def _p_values(a: Array, n1: Array, b: Array, n2: Array) -> Array:
    from scipy.special import erfc

    total, m = n1 + n2, a + b
    out = np.full(len(a), np.nan)
    tested = (n1 > 0) & (n2 > 0) & (m > 0)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = m * n1 / total
        variance = mean * (n2 / total) * ((total - m) / np.maximum(total - 1, 1))
        z = np.abs(a - mean) / np.sqrt(variance)
    large = tested & (variance > _EXACT_VARIANCE)
    out[large] = erfc(z[large] / np.sqrt(2.0))
    small = np.flatnonzero(tested & ~large)
    if len(small):
        out[small] = _exact(a[small], n1[small], n2[small], m[small])
    return out


def _exact(a: Array, n1: Array, n2: Array, m: Array) -> Array:
    low, high = np.maximum(0.0, m - n2), np.minimum(n1, m)
    mode = np.clip(np.floor((m + 1) * (n1 + 1) / (n1 + n2 + 2)), low, high)
    log_seen = _log_probability(a, n1, n2, m)
    limit = log_seen + _TIE
    # On the other side of the mode, the outcome nearest to it that is no more probable than the one seen.
    above = a >= mode
    inner, outer = mode.copy(), np.where(above, low, high)
    reachable = _log_probability(outer, n1, n2, m) <= limit
    far = outer.copy()
    while True:
        gap = np.abs(inner - far)
        if not (gap > 1).any():
            break
        middle = np.where(gap > 1, np.floor((inner + far) / 2), far)
        within = _log_probability(middle, n1, n2, m) <= limit
        step = gap > 1
        far = np.where(step & within, middle, far)
        inner = np.where(step & ~within, middle, inner)
    # The mode itself is the meeting point when it is no more probable either.
    whole = _log_probability(mode, n1, n2, m) <= limit
    near_tail = _tail(a, np.where(above, 1.0, -1.0), n1, n2, m, low, high)
    far_tail = _tail(far, np.where(above, -1.0, 1.0), n1, n2, m, low, high)
    p = near_tail + np.where(reachable, far_tail, 0.0)
    return np.where(whole, 1.0, np.minimum(p, 1.0))


def _log_probability(k: Array, n1: Array, n2: Array, m: Array) -> Array:
    from scipy.special import gammaln

    def choose(n: Array, r: Array) -> Array:
        out: Array = gammaln(n + 1) - gammaln(r + 1) - gammaln(n - r + 1)
        return out

    return choose(n1, k) + choose(n2, m - k) - choose(n1 + n2, m)


def _tail(k: Array, step: Array, n1: Array, n2: Array, m: Array, low: Array, high: Array) -> Array:
    """Probability of k and everything beyond it in the direction of ``step``."""
    total = np.ones(len(k))
    term = np.ones(len(k))
    place = k.copy()
    active = np.arange(len(k))
    while len(active):
        at, up = place[active], step[active] > 0
        n1_, n2_, m_ = n1[active], n2[active], m[active]
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where(
                up,
                (n1_ - at) * (m_ - at) / ((at + 1) * (n2_ - m_ + at + 1)),
                at * (n2_ - m_ + at) / ((n1_ - at + 1) * (m_ - at + 1)),
            )
        ended = np.where(up, at >= high[active], at <= low[active])
        term[active] = np.where(ended, 0.0, term[active] * ratio)
        total[active] += term[active]
        place[active] += step[active]
        active = active[term[active] > 1e-18 * total[active]]
    out: Array = np.exp(_log_probability(k, n1, n2, m)) * total
    return out
