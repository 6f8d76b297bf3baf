"""Which way two labels are associated, decided exactly, and how sure the data are of it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import Count, Fixed, floats
from biasamp.counts.joint import JointCounts

# The largest total whose products of counts stay below 2**63.
_SAFE_TOTAL = 3_037_000_499
# Real weights carry rounding errors: products closer than this, relative to their size, are equal.
WEIGHT_TOLERANCE = 1e-10
# With any expected cell count below this the chi-squared approximation is replaced by the exact test.
_FEW_EXPECTED = 5.0
# How many chances the exact test holds in memory at once.
_FISHER_CELLS = 1 << 21


def compare_products(a: Count, b: Count, c: Count, d: Count) -> NDArray[np.int8]:
    """The sign of ``a * b - c * d``, exactly for whole counts, within a tolerance for real weights."""
    if any(isinstance(x, Fixed) for x in (a, b, c, d)):
        left, right = floats(a) * floats(b), floats(c) * floats(d)
        difference = left - right
        close = np.abs(difference) <= WEIGHT_TOLERANCE * np.maximum(left, right)
        return np.where(close, 0, np.sign(difference)).astype(np.int8)
    arrays: list[Any] = [a, b, c, d]
    if any(x.max(initial=0) > _SAFE_TOTAL for x in arrays):
        arrays = [x.astype(object) for x in arrays]
    difference = arrays[0] * arrays[1] - arrays[2] * arrays[3]
    return ((difference > 0).astype(np.int8) - (difference < 0).astype(np.int8)).astype(np.int8)


def association_signs(counts: JointCounts) -> NDArray[np.int8]:
    """``sign(P(g, o) - P(g) P(o))`` of every pair, decided on ``n C(g, o)`` against ``C(g) C(o)``.

    Whole counts are compared as integers, beyond 64 bits where needed: an exactly independent table has
    sign 0. Sums of real weights are compared within a relative tolerance of 1e-10.
    """
    return compare_products(counts.n, counts.joint, counts.left, counts.right)


def association_p(counts: JointCounts) -> NDArray[np.float64]:
    """Two-sided p-value of independence for every pair: how sure the data are that the sign is not chance.

    Pearson's chi-squared test of the 2x2 table, or Fisher's exact test where a cell is expected to hold
    fewer than five records. With weights the effective sample size of Kish takes the place of ``n``.
    """
    from scipy.special import chdtrc

    n, left, right, joint = (floats(x) for x in (counts.n, counts.left, counts.right, counts.joint))
    n, left, right, joint = np.broadcast_arrays(n, left, right, joint)
    scale = np.broadcast_to(counts.effective, n.shape) / np.maximum(n, np.finfo(float).tiny)
    spread = left * (n - left) * right * (n - right)
    with np.errstate(divide="ignore", invalid="ignore"):
        statistic = scale * n * (n * joint - left * right) ** 2 / spread
        least = scale * np.minimum(left, n - left) * np.minimum(right, n - right) / n
    p = np.where(spread > 0, chdtrc(1.0, np.nan_to_num(statistic)), 1.0)
    few = (spread > 0) & (least < _FEW_EXPECTED)
    if few.any():
        p[few] = fisher_exact(*(np.rint(scale[few] * x[few]) for x in (n, left, right, joint)))
    return p


def fisher_exact(n: Any, left: Any, right: Any, joint: Any) -> NDArray[np.float64]:
    """Two-sided p-values of Fisher's exact test: the chance of a table no likelier than this one.

    >>> fisher_exact([10], [5], [5], [5]).round(6)
    array([0.007937])
    """
    n, left, right, joint = (np.atleast_1d(np.asarray(x, dtype=np.float64)) for x in (n, left, right, joint))
    low = np.maximum(0.0, left + right - n)
    size = (np.minimum(left, right) - low + 1).astype(np.int64)
    p = np.empty(len(n))
    order = np.argsort(size, kind="stable")
    start = 0
    while start < len(order):
        # Tables with about as many possible outcomes go together, as many as memory likes.
        room = max(1, _FISHER_CELLS // (2 * int(size[order[start]])))
        mine = order[start : start + room]
        mine = mine[size[mine] <= max(2 * int(size[mine[0]]), 32)]
        p[mine] = _fisher_rows(n[mine], left[mine], right[mine], joint[mine], low[mine], size[mine])
        start += len(mine)
    return p


def _fisher_rows(n: Any, left: Any, right: Any, joint: Any, low: Any, size: Any) -> NDArray[np.float64]:
    from scipy.special import gammaln

    step = np.arange(int(size.max()))
    inside = step < size[:, None]
    k = np.where(inside, low[:, None] + step, low[:, None])

    def log_choose(total: Any, chosen: Any) -> Any:
        return gammaln(total + 1) - gammaln(chosen + 1) - gammaln(total - chosen + 1)

    n, left, right = n[:, None], left[:, None], right[:, None]
    log_chance = log_choose(left, k) + log_choose(n - left, right - k) - log_choose(n, right)
    place = np.clip((joint - low).astype(np.int64), 0, size - 1)
    observed = np.take_along_axis(log_chance, place[:, None], axis=1)
    # Tables of exactly the same chance may differ in the last bits of their logarithms.
    chance = np.where(inside & (log_chance <= observed + 1e-7), np.exp(log_chance), 0.0)
    return np.minimum(chance.sum(axis=1), 1.0)
