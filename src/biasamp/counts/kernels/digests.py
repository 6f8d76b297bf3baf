"""Digests of one-byte columns in numba: a lookup, two exclusive ors, a product and a shift for each record."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

_ODD = np.uint64(0xD1342543DE82EF95)
_SHIFT = np.uint64(29)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def mix_bytes(
    one: NDArray[np.uint64],
    two: NDArray[np.uint64],
    values: NDArray[np.uint8],
    table: NDArray[np.uint64],
    both: bool,
) -> None:
    """Mix a column into the digests of its records, of shape (records,), in place.

    ``table`` has the hash of every byte; ``both`` says whether the column is part of the second digest too.
    """
    for i in range(len(values)):
        hashed = table[values[i]]
        total = (one[i] ^ hashed) * _ODD
        one[i] = total ^ (total >> _SHIFT)
        if both:
            total = (two[i] ^ hashed) * _ODD
            two[i] = total ^ (total >> _SHIFT)
