"""Loops over bytes in numba: counting bags of records, and digests of columns."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from .slabs import BURST

_ODD = np.uint64(0xD1342543DE82EF95)
_SHIFT = np.uint64(29)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_to_bags(
    order: NDArray[np.int64],
    bag: NDArray[np.int64],
    ends: NDArray[np.int64],
    labels: NDArray[np.int64],
    truth: NDArray[np.uint8],
    predicted: NDArray[np.uint8],
    table: NDArray[np.int64],
    everyone: bool,
) -> None:
    """Add each record to the totals (bags, given labels and everyone, columns) of its bag.

    Bytes are added for a bag at a time, which fit the fastest memory.
    Columns are those of the truth, one, those of the prediction, and those of both. Records come in ``order``, those of
    one bag together; the given labels of record i are ``labels[ends[i]:ends[i + 1]]``. Without ``everyone`` the totals
    of all records, the last of each bag, are left at 0.
    """
    width, last = truth.shape[1], table.shape[1] - 1
    small = np.zeros((last + 1, 3 * width), dtype=np.uint8)
    k = 0
    while k < len(order):
        mine = bag[order[k]]
        stop = k
        small[:] = 0
        while stop < len(order) and stop - k < BURST and bag[order[stop]] == mine:
            i = order[stop]
            first = ends[i]
            # The last turn is that of everyone.
            for e in range(first, ends[i + 1] + (1 if everyone else 0)):
                g = labels[e] if e < ends[i + 1] else last
                table[mine, g, width] += 1
                group = small[g]
                # Loops of their own, and not a function: only so are they turned into vector instructions.
                for j in range(width):
                    group[j] = np.uint8(group[j] + truth[i, j])
                for j in range(width):
                    group[width + j] = np.uint8(group[width + j] + predicted[i, j])
                for j in range(width):
                    group[2 * width + j] = np.uint8(group[2 * width + j] + (truth[i, j] & predicted[i, j]))
            stop += 1
        for g in range(last + 1):
            for j in range(width):
                table[mine, g, j] += small[g, j]
            for j in range(2 * width):
                table[mine, g, width + 1 + j] += small[g, width + j]
        k = stop


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
