"""Sums of fractions that do not depend on the order of summation.

Counts of soft predictions and real weights are sums of fractions. Added as floats, their last bits would
depend on how the records were cut into batches. Here every addend is rounded once to a multiple of
``2**-52``, split into a whole number and two limbs of 26 bits, and each is added as integers: any batching,
engine or number of threads gives the same sum to the bit.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

LIMB_BITS = 26
_LIMB = float(1 << LIMB_BITS)
_ONE = np.float64(1.0).view(np.int64)
# Every partial sum of a limb must stay below this, where floats stop being exact integers.
EXACT = float(1 << 53)

Reduce = Callable[[NDArray[np.float64], slice], NDArray[np.float64]]


@dataclass(frozen=True, eq=False)
class Fixed:
    """An array of exact sums: ``whole + high * 2**-26 + low * 2**-52``."""

    whole: NDArray[np.int64]
    high: NDArray[np.int64]
    low: NDArray[np.int64]

    # An array of whole counts leaves sums with these to them, and does not make an array of objects.
    __array_ufunc__ = None

    @classmethod
    def zeros(cls, shape: tuple[int, ...]) -> Fixed:
        """Sums of nothing."""
        return cls(*(np.zeros(shape, dtype=np.int64) for _ in range(3)))

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the array."""
        return self.high.shape

    @property
    def size(self) -> int:
        """How many sums there are."""
        return self.high.size

    def __add__(self, other: Fixed | NDArray[np.int64]) -> Fixed:
        other = as_fixed(other)
        return Fixed(self.whole + other.whole, self.high + other.high, self.low + other.low)

    __radd__ = __add__

    def __sub__(self, other: Fixed | NDArray[np.int64]) -> Fixed:
        other = as_fixed(other)
        return Fixed(self.whole - other.whole, self.high - other.high, self.low - other.low)

    def __getitem__(self, index: Any) -> Fixed:
        return self.each(lambda part: part[index])

    def each(self, change: Callable[[NDArray[np.int64]], NDArray[np.int64]]) -> Fixed:
        """The sums whose three arrays are changed in the same linear way."""
        return Fixed(change(self.whole), change(self.high), change(self.low))

    def carried(self) -> Fixed:
        """The same sums with limbs of 26 bits: one way to write each, whatever the addends were."""
        carry, low = np.divmod(self.low, 1 << LIMB_BITS)
        carry, high = np.divmod(self.high + carry, 1 << LIMB_BITS)
        return Fixed(self.whole + carry, high, low)

    def floats(self) -> NDArray[np.float64]:
        """The sums as floats: the carries first, so that there is one rounding and it is the same everywhere."""
        sums = self.carried()
        out: NDArray[np.float64] = sums.whole + (sums.high * (1 << LIMB_BITS) + sums.low) / (_LIMB * _LIMB)
        return out


Count = NDArray[np.int64] | Fixed


def as_fixed(values: Count) -> Fixed:
    """Whole counts as exact sums."""
    if isinstance(values, Fixed):
        return values
    return Fixed(values, np.zeros_like(values), np.zeros_like(values))


def floats(values: Count) -> NDArray[np.float64]:
    """Counts as floats."""
    return values.floats() if isinstance(values, Fixed) else values.astype(np.float64)


def limbs(values: NDArray[np.float64]) -> list[NDArray[np.float64] | None]:
    """The whole number and the two limbs of each addend, as floats that hold integers.

    Where no addend exceeds 1 there is no whole number to speak of: None saves a third of the work.
    """
    whole = np.floor(values) if values.max(initial=0.0) > 1.0 else None
    rest = (values if whole is None else values - whole) * _LIMB
    high = np.floor(rest)
    return [whole, high, np.rint((rest - high) * _LIMB)]


def units_of(chances: NDArray[np.float64]) -> NDArray[np.int64]:
    """Numbers in [0, 1] as whole multiples of ``2**-52``, the nearest ones.

    With 1 added, a float has just these as its last bits.
    """
    units: NDArray[np.int64] = (chances + 1.0).view(np.int64) - _ONE
    return units


def exact_sums(values: NDArray[np.float64], reduce: Reduce) -> Fixed:
    """Sum addends exactly with any linear ``reduce`` (a sum, a matrix product with 0/1).

    ``reduce`` is given a slice of the limbs and which records it is of: as many slices as keep every
    partial sum an exact integer.
    """
    largest = max(float(values.max(initial=0.0)), _LIMB)
    size = max(1, min(len(values), int(EXACT / largest)))
    total: Fixed | None = None
    for start in range(0, max(len(values), 1), size):
        rows = slice(start, start + size)
        parts = [None if limb is None else reduce(limb, rows).astype(np.int64) for limb in limbs(values[rows])]
        part = Fixed(*(np.zeros_like(parts[1]) if limb is None else limb for limb in parts))
        total = part if total is None else total + part
    assert total is not None
    return total


def add(left: Count, right: Count) -> Count:
    """Add counts of either kind."""
    if isinstance(left, Fixed) or isinstance(right, Fixed):
        return as_fixed(left) + as_fixed(right)
    return left + right


def subtract(left: Count, right: Count) -> Count:
    """Take counts of either kind from one another, exactly."""
    if isinstance(left, Fixed) or isinstance(right, Fixed):
        return as_fixed(left) - as_fixed(right)
    return left - right


def concatenate(arrays: Sequence[Count], axis: int = 0) -> Count:
    """Join counts of either kind along an axis."""
    if not any(isinstance(array, Fixed) for array in arrays):
        return np.concatenate(arrays, axis=axis)  # type: ignore[arg-type]
    split = zip(*((part.whole, part.high, part.low) for part in map(as_fixed, arrays)), strict=True)
    return Fixed(*(np.concatenate(limb, axis=axis) for limb in split))


def total(values: Count) -> Count:
    """Counts summed over the leading axis."""
    if isinstance(values, Fixed):
        return values.each(lambda part: part.sum(axis=0))
    return values.sum(axis=0)
