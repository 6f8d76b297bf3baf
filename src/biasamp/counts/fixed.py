"""Sums of fractions that do not depend on the order of summation.

Counts of soft predictions and real weights are sums of fractions. Added as floats, their last bits would
depend on how the records were cut into batches. Here every addend is rounded once to a multiple of
``2**-52`` and the multiples are added as integers, in two limbs of 26 bits: any batching, engine or number
of threads gives the same sum to the bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_LIMB = float(1 << 26)
# The high limb must keep every partial sum of a chunk below 2**53, where floats stop being exact integers.
EXACT = float(1 << 53)


@dataclass(frozen=True, eq=False)
class Fixed:
    """An array of exact sums: ``(high * 2**26 + low) * 2**-52``."""

    high: NDArray[np.int64]
    low: NDArray[np.int64]

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.high.shape

    def __add__(self, other: Fixed | NDArray[np.int64]) -> Fixed:
        other = as_fixed(other)
        return Fixed(self.high + other.high, self.low + other.low)

    __radd__ = __add__

    def __getitem__(self, index: Any) -> Fixed:
        return Fixed(self.high[index], self.low[index])

    def floats(self) -> NDArray[np.float64]:
        """The sums as floats: the low limb's carry first, so that the rounding is the same everywhere."""
        carry, rest = np.divmod(self.low, 1 << 26)
        out: NDArray[np.float64] = (self.high + carry) / _LIMB + rest / (_LIMB * _LIMB)
        return out


Count = NDArray[np.int64] | Fixed


def as_fixed(values: Count) -> Fixed:
    """Whole counts as exact sums."""
    if isinstance(values, Fixed):
        return values
    return Fixed(values * np.int64(1 << 26), np.zeros_like(values))


def floats(values: Count) -> NDArray[np.float64]:
    """Counts as floats."""
    return values.floats() if isinstance(values, Fixed) else values.astype(np.float64)


def limbs(values: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The two limbs of each addend, as floats that hold integers."""
    high = np.floor(values * _LIMB)
    return high, np.rint((values * _LIMB - high) * _LIMB)


def exact_sums(values: NDArray[np.float64], reduce: Callable[[NDArray[np.float64]], NDArray[np.float64]]) -> Fixed:
    """Sum addends exactly with any linear ``reduce`` (a sum, a matrix product with 0/1)."""
    high, low = limbs(values)
    return Fixed(reduce(high).astype(np.int64), reduce(low).astype(np.int64))


def add(left: Count, right: Count) -> Count:
    """Add counts of either kind."""
    if isinstance(left, Fixed) or isinstance(right, Fixed):
        return as_fixed(left) + as_fixed(right)
    return left + right
