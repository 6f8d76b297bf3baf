"""Sums of scores by cell and by bin in numba; imported only where it is installed and pays.

Scores are whole multiples of ``2**-52``: a score plus 1 has them as the last 52 bits of its float.
"""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

_ONE = np.int64(0x3FF0000000000000)
_BITS = np.int64(26)
_LOW = np.int64((1 << 26) - 1)
# Sums of so many scores of at most 2**52 units stay within 64 bits.
_MOST = 1024
# Records whose rows are fetched together.
_NEAR = 256


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_scores(
    records: NDArray[np.int64],
    cell: NDArray[np.int64],
    layer: NDArray[np.int64],
    truth: NDArray[np.uint8],
    held: NDArray[np.uint8],
    scores: NDArray[np.float64],
    whole: NDArray[np.int64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    squares: NDArray[np.int64],
) -> None:
    """Add records to the tables of their cells: entry k is of record ``records[k]``, and entries of a cell come together.

    ``whole`` has rows of the truth, of decisions and of both for every cell; ``high`` and ``low`` are the limbs of scores,
    of scores where the truth holds, and of scores where the decision does. ``squares`` has both limbs of squared scores
    for every layer, and ``layer`` is that of each cell.
    """
    width = truth.shape[1]
    value, square = np.empty(width), np.empty(width)
    units, squared = value.view(np.int64), square.view(np.int64)
    # Of every label: records and scores by truth and decision, from which the three sums of either follow.
    counts, sums = np.zeros((width, 4), dtype=np.int64), np.zeros((width, 4), dtype=np.int64)
    squares_here = np.zeros(width, dtype=np.int64)
    near = np.empty((_NEAR, width))
    near_truth, near_held = np.empty((_NEAR, width), dtype=np.uint8), np.empty((_NEAR, width), dtype=np.uint8)
    start, ready = 0, 0
    while start < len(records):
        mine, stop, most = cell[start], start, min(start + _MOST, len(records))
        counts[:] = 0
        sums[:] = 0
        squares_here[:] = 0
        while stop < most and cell[stop] == mine:
            if stop == ready:
                # Rows from all over memory are fetched together: a processor waits for many of them at once.
                ready = min(stop + _NEAR, len(records))
                for k in range(stop, ready):
                    i, row = records[k], k % _NEAR
                    for j in range(width):
                        near[row, j] = scores[i, j]
                for k in range(stop, ready):
                    i, row = records[k], k % _NEAR
                    for j in range(width):
                        near_truth[row, j] = truth[i, j]
                    for j in range(width):
                        near_held[row, j] = held[i, j]
            i = stop % _NEAR
            for j in range(width):
                value[j] = near[i, j] + 1.0
                square[j] = near[i, j] * near[i, j] + 1.0
            for j in range(width):
                squares_here[j] += squared[j] - _ONE
            for j in range(width):
                which = np.intp(2 * near_truth[i, j] + near_held[i, j])
                counts[j, which] += 1
                sums[j, which] += units[j] - _ONE
            stop += 1
        for j in range(width):
            said, true, both = sums[j, 1], sums[j, 2], sums[j, 3]
            for part, found in ((0, sums[j, 0] + said + true + both), (1, true + both), (2, said + both)):
                high[mine, part, j] += found >> _BITS
                low[mine, part, j] += found & _LOW
            whole[mine, 0, j] += counts[j, 2] + counts[j, 3]
            whole[mine, 1, j] += counts[j, 1] + counts[j, 3]
            whole[mine, 2, j] += counts[j, 3]
            squares[layer[mine], 0, j] += squares_here[j] >> _BITS
            squares[layer[mine], 1, j] += squares_here[j] & _LOW
        start = stop


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_to_bins(
    records: NDArray[np.int64],
    label: NDArray[np.int64],
    truth: NDArray[np.uint8],
    scores: NDArray[np.float64],
    edges: NDArray[np.float64],
    counts: NDArray[np.int64],
    sums: NDArray[np.int64],
) -> None:
    """Add records to the bins of their scores: entry k says that record ``records[k]`` has the given label ``label[k]``.

    ``counts`` has negative and positive records of every given label, outcome and bin; bins begin at ``edges``. ``sums``
    has both limbs of scores in coarser bins of equal width.
    """
    width, many, coarse = truth.shape[1], len(edges) - 1, sums.shape[2]
    wide = many // coarse
    value = np.empty(width)
    units = value.view(np.int64)
    for k in range(len(records)):
        i, g = records[k], label[k]
        for j in range(width):
            value[j] = scores[i, j] + 1.0
        for j in range(width):
            score = scores[i, j]
            scaled = score * many
            place = np.intp(scaled)
            # A product may round up to an edge; the comparison does not.
            if scaled == place and score < edges[place]:
                place -= 1
            counts[g, j, place, truth[i, j]] += 1
            unit = units[j] - _ONE
            coarser = min(place // wide, coarse - 1)
            sums[g, j, coarser, 0] += unit >> _BITS
            sums[g, j, coarser, 1] += unit & _LOW
