r"""Test of ``P(y|x1) = P(y|x2)`` where records may carry both identities.

The two rates share the records that carry both, so they are correlated and no two-by-two table fits. With
``w = 1/C(x)`` the difference of the rates is a sum over records,

.. math:: D = \sum_i s_i (y_i - p), \qquad s_i = [x_1]/C(x_1) - [x_2]/C(x_2),

for any p; p is the pooled rate. Records come in six kinds (x1 alone, x2 alone or both; with or without y). The
null asks that the expectation of D be 0, not that y be equally frequent among the three groups: a label such
as *Couple* may be common where both identities are. The frequencies of the six kinds are estimated under the
null by empirical likelihood, and the tail of D under them by a saddlepoint approximation, which follows the
skewness of small counts that a normal approximation misses.

References
----------
A. B. Owen, "Empirical Likelihood", 2001.
R. Lugannani, S. Rice, "Saddle point approximation for the distribution of the sum of independent random
variables", Advances in Applied Probability 12, 1980.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .association_metric import Array

# Halving an interval this often exhausts the digits of a float.
_HALVINGS = 100
# Nearer to the mean the saddlepoint formula divides 0 by 0; the normal approximation is exact there.
_NEAR_MEAN = 1e-3


def overlap_test(only_1: Any, only_2: Any, both: Any, total_1: Any, total_2: Any, total_both: Any) -> Array:
    """Two-sided p-value of ``P(y|x1) = P(y|x2)`` with overlapping identities.

    Parameters
    ----------
    only_1, only_2, both : array-like
        Records with y that carry x1 alone, x2 alone, and both.
    total_1, total_2, total_both : array-like
        Records, with y or without, that carry x1 alone, x2 alone, and both.

    Returns
    -------
    ndarray
        NaN where no record with an identity has y, or where an identity has no records; 1 where every record
        that carries one of the identities carries both.

    Examples
    --------
    >>> p = overlap_test(30, 10, 20, 500, 500, 200)
    >>> bool(0.001 < p < 0.002)
    True
    """
    given = (only_1, only_2, both, total_1, total_2, total_both)
    tables = np.stack(np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in given)), axis=-1)
    kinds, place = np.unique(tables.reshape(-1, len(given)), axis=0, return_inverse=True)
    return _p_values(kinds)[place.reshape(tables.shape[:-1])]


def _p_values(kinds: Array) -> Array:
    out = np.full(len(kinds), np.nan)
    size_1, size_2 = kinds[:, 3] + kinds[:, 5], kinds[:, 4] + kinds[:, 5]
    tested = (size_1 > 0) & (size_2 > 0) & (kinds[:, :3].sum(axis=1) > 0)
    kinds, size_1, size_2 = kinds[tested], size_1[tested], size_2[tested]
    held = kinds[:, :3]
    missing = kinds[:, 3:] - held
    pooled = (held[:, 0] + held[:, 1] + 2 * held[:, 2]) / (size_1 + size_2)
    w1, w2 = 1.0 / size_1, 1.0 / size_2
    scale = 1.0 / np.maximum(w1, w2)
    weight = np.column_stack([w1, -w2, w1 - w2]) * scale[:, None]
    value = np.concatenate([weight * (1.0 - pooled)[:, None], -weight * pooled[:, None]], axis=1)
    count = np.concatenate([held, missing], axis=1)
    seen = (count * value).sum(axis=1)
    spread = np.sqrt((count * value**2).sum(axis=1))
    p = np.ones(len(kinds))
    work = np.flatnonzero(np.abs(seen) > 1e-12 * spread)
    if len(work):
        p[work] = _saddlepoint(count[work], value[work], seen[work])
    out[tested] = p
    return out


def _null_frequencies(count: Array, value: Array) -> Array:
    """Frequencies of the kinds, closest to those seen in likelihood, with which D is 0 on average.

    They are ``count / (1 + theta value)``, theta such that the mean is 0. A kind that was not seen gets
    frequency only where theta would otherwise pass the point at which its own denominator is 0.
    """
    mean = (count * value).sum(axis=1)
    # With a positive mean theta is positive, and bounded by the most negative value.
    sign = np.sign(mean)[:, None]
    value = value * sign
    limit = -1.0 / value.min(axis=1)
    low, high = np.zeros(len(count)), limit.copy()
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        with np.errstate(divide="ignore", invalid="ignore"):
            terms = np.where(count > 0, count * value / (1.0 + middle[:, None] * value), 0.0)
        positive = terms.sum(axis=1) > 0
        low, high = np.where(positive, middle, low), np.where(positive, high, middle)
    theta = low
    below = 1.0 + theta[:, None] * value
    with np.errstate(divide="ignore", invalid="ignore"):
        frequency = np.where(count > 0, count / below, 0.0)
    # At the bound the kind of the most negative value takes up what is left of the mean.
    left = (frequency * value).sum(axis=1)
    lowest = value.argmin(axis=1)
    row = np.arange(len(count))
    stuck = (theta > limit * (1.0 - 1e-9)) & (count[row, lowest] == 0)
    frequency[row[stuck], lowest[stuck]] = np.maximum(-left[stuck] / value[row, lowest][stuck], 0.0)
    return frequency


def _saddlepoint(count: Array, value: Array, seen: Array) -> Array:
    from scipy.special import erfc, ndtr

    frequency = _null_frequencies(count, value)
    # Measure the value in standard deviations and let the tail be the upper one.
    deviation = np.sqrt((frequency * value**2).sum(axis=1))
    sign = np.sign(seen)
    value = value * (sign / deviation)[:, None]
    seen = np.abs(seen) / deviation
    low, high = np.zeros(len(seen)), np.ones(len(seen))

    @np.errstate(over="ignore")
    def slope(t: Array) -> Array:
        return (frequency * value * np.exp(np.minimum(t[:, None] * value, 700.0))).sum(axis=1)

    for _ in range(_HALVINGS):
        short = slope(high) < seen
        if not short.any():
            break
        high = np.where(short, 2.0 * high, high)
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        short = slope(middle) < seen
        low, high = np.where(short, middle, low), np.where(short, high, middle)
    t = 0.5 * (low + high)
    growth = t[:, None] * value
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        cumulant = (frequency * np.expm1(growth)).sum(axis=1)
        curvature = (frequency * value**2 * np.exp(growth)).sum(axis=1)
        root = np.sqrt(np.maximum(2.0 * (t * seen - cumulant), 0.0))
        other = t * np.sqrt(curvature)
        density = np.exp(-0.5 * root**2) / np.sqrt(2.0 * np.pi)
        tail = ndtr(-root) + density * (1.0 / other - 1.0 / root)
    normal = 0.5 * erfc(seen / np.sqrt(2.0))
    tail = np.where((seen < _NEAR_MEAN) | ~np.isfinite(tail), normal, tail)
    return np.clip(2.0 * tail, 0.0, 1.0)
