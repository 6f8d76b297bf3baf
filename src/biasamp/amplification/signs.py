"""Which way two labels are associated, decided exactly, and how sure the data are of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import Count, Fixed, floats
from biasamp.counts.joint import JointCounts
from biasamp.resampling.significance import fisher_exact

Array = NDArray[np.float64]

# Veltkamp's constant cuts a 53-bit significand into two halves whose products are exact.
_SPLIT = float(2**27 + 1)


def _split(a: Array) -> tuple[Array, Array]:
    scaled = _SPLIT * a
    high = scaled - (scaled - a)
    return high, a - high


def two_product(a: Any, b: Any) -> tuple[Array, Array]:
    """The rounded product and the exact error of its rounding (Dekker 1971)."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    product: Array = a * b
    a_high, a_low = _split(a)
    b_high, b_low = _split(b)
    rest: Array = a_low * b_low - (((product - a_high * b_high) - a_low * b_high) - a_high * b_low)
    return product, rest


def product_difference(a: Any, b: Any, c: Any, d: Any) -> Array:
    """``a b - c d`` with an error of a few units in the last place of the difference itself.

    >>> float(product_difference(2.0**53 - 1, 2.0**53 - 1, 2.0**53 - 2, 2.0**53))
    1.0
    """
    left, left_rest = two_product(a, b)
    right, right_rest = two_product(c, d)
    # Where the leading parts are close their difference is exact; where they are not the rests hardly matter.
    difference = left - right
    kept = left - difference - right
    out: Array = difference + (kept + (left_rest - right_rest))
    return out


# The largest total whose products of counts stay below 2**63.
_SAFE_TOTAL = 3_037_000_499
# Real weights carry rounding errors: products closer than this, relative to their size, are equal.
WEIGHT_TOLERANCE = 1e-10


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

    Fisher's exact test of the 2x2 table, and its normal approximation where counts are large. With weights the
    effective sample size of Kish takes the place of ``n``. A table that cannot tell has p-value 1.
    """
    return association_p_of([counts])[0]


def association_p_of(several: Sequence[JointCounts]) -> NDArray[np.float64]:
    """As :func:`association_p` of several counts of the same labels at once, of shape (counts, left, right)."""
    tables = [_two_by_two(counts) for counts in several]
    p = fisher_exact(*(np.stack(part) for part in zip(*tables, strict=True)))
    return np.where(np.isnan(p), 1.0, p)


def _two_by_two(counts: JointCounts) -> tuple[NDArray[np.float64], ...]:
    """Of every pair, how many records have both labels, the left one, the right one alone, and not the left one."""
    n, left, right, joint = np.broadcast_arrays(
        *(floats(x) for x in (counts.n, counts.left, counts.right, counts.joint))
    )
    scale = np.broadcast_to(counts.effective, n.shape) / np.maximum(n, np.finfo(float).tiny)
    n, left, right, joint = (np.rint(scale * x) for x in (n, left, right, joint))
    # Rounded separately, the counts of a weighted table may miss each other by one.
    joint = np.clip(joint, np.maximum(left + right - n, 0.0), np.minimum(left, right))
    return joint, left, right - joint, n - left
