"""Poisson weights and their sums in numba: no array of draws is ever laid out for all resamples at once."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fill(
    keys: NDArray[np.uint64], streams: NDArray[np.uint64], steps: NDArray[np.uint16], out: NDArray[np.uint8]
) -> None:
    """Fill ``out`` (records, resamples): four weights from the 16-bit words of one hash, lowest first."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    first = np.uint64(0xBF58476D1CE4E5B9)
    second = np.uint64(0x94D049BB133111EB)
    resamples = out.shape[1]
    draws = np.empty(4 * len(streams), dtype=np.uint16)
    for j in range(len(keys)):
        for i in range(len(streams)):
            z = (keys[j] ^ streams[i]) + golden
            z = (z ^ (z >> np.uint64(30))) * first
            z = (z ^ (z >> np.uint64(27))) * second
            z = z ^ (z >> np.uint64(31))
            draws[4 * i] = np.uint16(z & np.uint64(0xFFFF))
            draws[4 * i + 1] = np.uint16((z >> np.uint64(16)) & np.uint64(0xFFFF))
            draws[4 * i + 2] = np.uint16((z >> np.uint64(32)) & np.uint64(0xFFFF))
            draws[4 * i + 3] = np.uint16(z >> np.uint64(48))
        row = out[j]
        for b in range(resamples):
            row[b] = np.uint8(draws[b] >= steps[0])
        for k in range(1, len(steps)):
            step = steps[k]
            for b in range(resamples):
                row[b] = np.uint8(row[b] + np.uint8(draws[b] >= step))


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_held(
    weights: NDArray[np.uint8],
    row: NDArray[np.int64],
    label: NDArray[np.int64],
    values: NDArray[np.uint8],
    total: NDArray[np.uint16],
) -> None:
    """Add each record's weights to the totals (labels, columns, resamples) of every column it holds."""
    for e in range(len(row)):
        mine = weights[row[e]]
        held = values[row[e]]
        for c in range(len(held)):
            if held[c]:
                sums = total[label[e], c]
                for b in range(len(mine)):
                    sums[b] = np.uint16(sums[b] + mine[b])


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_scores(
    weights: NDArray[np.uint8],
    row: NDArray[np.int64],
    label: NDArray[np.int64],
    own: NDArray[np.int64],
    score: NDArray[np.int64],
    total: NDArray[np.int64],
) -> None:
    """Add each record's weights, and its score times them, to the totals (2, labels, resamples) of its labels."""
    for e in range(len(row)):
        mine = weights[row[e]]
        size, sums = total[0, label[e]], total[1, label[e]]
        worth, scored = own[e], own[e] * score[e]
        for b in range(len(mine)):
            size[b] += worth * np.int64(mine[b])
        for b in range(len(mine)):
            sums[b] += scored * np.int64(mine[b])


def sums_of_held(
    weights: NDArray[np.uint8], row: Any, label: Any, values: NDArray[np.uint8], groups: int
) -> NDArray[np.int64]:
    """Sums of shape (resamples, groups, columns); a chunk must be short enough for 16 bits."""
    total = np.zeros((groups, values.shape[1], weights.shape[1]), dtype=np.uint16)
    add_held(weights, row, label, np.ascontiguousarray(values), total)
    return total.transpose(2, 0, 1)  # type: ignore[return-value]
