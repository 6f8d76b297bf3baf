"""Loops over bytes in numba: counting bags of records, and digests of columns."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from biasamp.data.keys import mix

from .cross import BURST

_ODD = np.uint64(0xD1342543DE82EF95)
_SHIFT = np.uint64(29)
_MINUS_ZERO = np.uint64(1 << 63)
_mix = numba.njit(cache=True, nogil=True)(mix)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_to_bags(
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    bag: NDArray[np.int64],
    truth: NDArray[np.uint8],
    predicted: NDArray[np.uint8],
    table: NDArray[np.int64],
) -> None:
    """Add records to the totals (bags, given labels, columns) of their bags, a burst of bytes at a time.

    Columns are those of the truth, one, those of the prediction, and those of both. Entry k says that record
    ``rows[k]`` of ``bag[k]`` has the given label ``labels[k]``; entries of one bag come together, and ``bag`` is empty
    where there is one bag only.
    """
    width = truth.shape[1]
    small = np.zeros((table.shape[1], 3 * width), dtype=np.uint8)
    start = 0
    while start < len(rows):
        mine, stop = 0, min(start + BURST, len(rows))
        if len(bag) > 0:
            mine, most, stop = bag[start], stop, start
            while stop < most and bag[stop] == mine:
                stop += 1
        total = table[mine]
        small[:] = 0
        for k in range(start, stop):
            i = rows[k]
            group = small[labels[k]]
            total[labels[k], width] += 1
            # Loops of their own, and not a function: only so are they turned into vector instructions.
            for j in range(width):
                group[j] = np.uint8(group[j] + truth[i, j])
            for j in range(width):
                group[width + j] = np.uint8(group[width + j] + predicted[i, j])
            for j in range(width):
                group[2 * width + j] = np.uint8(group[2 * width + j] + (truth[i, j] & predicted[i, j]))
        for g in range(table.shape[1]):
            for j in range(width):
                total[g, j] += small[g, j]
            for j in range(2 * width):
                total[g, width + 1 + j] += small[g, width + j]
        start = stop


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


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def mix_floats(
    one: NDArray[np.uint64], two: NDArray[np.uint64], values: NDArray[np.float64], name: np.uint64, both: bool
) -> None:
    """Mix a column of numbers into the digests of its records, as :func:`mix_bytes` one of bytes.

    ``name`` is the hash of the column's name.
    """
    bits = values.view(np.uint64)
    for i in range(len(bits)):
        number = np.uint64(0) if bits[i] == _MINUS_ZERO else bits[i]
        hashed = _mix(number) ^ name
        total = (one[i] ^ hashed) * _ODD
        one[i] = total ^ (total >> _SHIFT)
        if both:
            total = (two[i] ^ hashed) * _ODD
            two[i] = total ^ (total >> _SHIFT)
