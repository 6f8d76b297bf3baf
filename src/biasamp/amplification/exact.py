"""Differences of products of counts without cancellation.

``n C(x,y) - C(x) C(y)`` decides the sign and size of most association metrics. Near independence the two
products agree in all their leading digits, and beyond 2**53 neither is a float. Each product is split into
its rounded value and the exact rest of the rounding, so that the difference keeps full precision.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

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
