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
# So many records are added up before their sums go into tables: their counts fit into a byte.
_MOST = 128
# Sums of so many scores of at most 2**52 units stay within 64 bits.
_FITTING = 1024
# Records whose rows are fetched together, and the floats of a line of cache.
_NEAR = 64
_LINE = 8
# The steps of thresholds and the coarser bins of reliability, which ``biasamp.counts.threshold_counts`` lays out.
STEPS = 1000
_COARSE = np.int32(10)
_WIDE = np.int32(100)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_scores(
    records: NDArray[np.int64],
    cell: NDArray[np.int64],
    layer: NDArray[np.int64],
    truth: NDArray[np.uint8],
    held: NDArray[np.uint8],
    scores: NDArray[np.float64],
    edges: NDArray[np.float64],
    whole: NDArray[np.int64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    squares: NDArray[np.int64],
    steps: NDArray[np.int32],
    sums: NDArray[np.int64],
) -> float:
    """Add records to the tables of their cells: entry k is of record ``records[k]``, and entries of a cell come together.

    ``whole`` has tables of the truth, of decisions and of both, a row for every cell; ``high`` and ``low`` are the limbs
    of scores, of scores where the truth holds, and of scores where the decision does. ``squares`` has both limbs of
    squared scores for every layer, and ``layer`` is that of each cell.

    ``steps`` has negative and positive records of every given label, outcome and step between ``edges``; ``sums`` has
    both limbs of the scores in the coarser bins of every given label. They have no row where bins are not wanted. The
    number that is returned means nothing.
    """
    width, groups = truth.shape[1], len(steps)
    value, square = np.empty(width), np.empty(width)
    units, squared = value.view(np.int64), square.view(np.int64)
    summed = np.zeros((3, width), dtype=np.int64)
    everything, where_true, where_held = summed[0], summed[1], summed[2]
    counted = np.zeros((3, width), dtype=np.uint8)
    true, said, both = counted[0], counted[1], counted[2]
    squares_here = np.zeros(width, dtype=np.int64)
    step, bin_of = np.empty(width, dtype=np.int32), np.empty(width, dtype=np.int32)
    first_step = np.arange(width).astype(np.int32) * np.int32(2 * (STEPS + 1))
    first_bin = np.arange(width).astype(np.int32) * _COARSE
    binned = np.zeros((groups, width * _COARSE), dtype=np.int64)
    start, ready, since, touched, fetched = 0, 0, 0, 0, 0.0
    while start < len(records):
        mine, stop, most = cell[start], start, min(start + _MOST, len(records))
        group = mine % groups if groups else 0
        counted[:] = 0
        summed[:] = 0
        squares_here[:] = 0
        while stop < most and cell[stop] == mine:
            if stop == ready:
                # Rows from all over memory are touched before they are used: a processor waits for many of them at once.
                ready = min(stop + _NEAR, len(records))
                for k in range(stop, ready):
                    i = records[k]
                    touched += truth[i, 0] + truth[i, width - 1] + held[i, 0] + held[i, width - 1]
                for k in range(stop, ready):
                    i = records[k]
                    for j in range(0, width, _LINE):
                        fetched += scores[i, j]
                    fetched += scores[i, width - 1]
            i = records[stop]
            one, held_here, score = truth[i], held[i], scores[i]
            # Short loops of their own: only so are they turned into vector instructions.
            for j in range(width):
                value[j] = score[j] + 1.0
            for j in range(width):
                square[j] = score[j] * score[j] + 1.0
            for j in range(width):
                squares_here[j] += squared[j] - _ONE
            for j in range(width):
                unit = units[j] - _ONE
                everything[j] += unit
                where_true[j] += unit & -np.int64(one[j])
                where_held[j] += unit & -np.int64(held_here[j])
            for j in range(width):
                true[j] = np.uint8(true[j] + one[j])
            for j in range(width):
                said[j] = np.uint8(said[j] + held_here[j])
            for j in range(width):
                both[j] = np.uint8(both[j] + (one[j] & held_here[j]))
            if groups:
                rounded = False
                for j in range(width):
                    scaled = score[j] * STEPS
                    step[j] = np.int32(scaled)
                    rounded |= scaled == step[j]
                if rounded:
                    # A product may round up to an edge; the comparison does not.
                    for j in range(width):
                        if score[j] < edges[np.uint32(step[j])]:
                            step[j] -= np.int32(1)
                for j in range(width):
                    bin_of[j] = min(step[j] // _WIDE, _COARSE - np.int32(1)) + first_bin[j]
                for j in range(width):
                    step[j] = np.int32(2) * step[j] + first_step[j] + one[j]
                fine, coarse = steps[group], binned[group]
                for j in range(width):
                    fine[np.uint32(step[j])] += 1
                for j in range(width):
                    coarse[np.uint32(bin_of[j])] += units[j] - _ONE
            stop += 1
        for part in range(3):
            for j in range(width):
                whole[part, mine, j] += counted[part, j]
            for j in range(width):
                high[part, mine, j] += summed[part, j] >> _BITS
            for j in range(width):
                low[part, mine, j] += summed[part, j] & _LOW
        here = squares[layer[mine]]
        for j in range(width):
            here[0, j] += squares_here[j] >> _BITS
            here[1, j] += squares_here[j] & _LOW
        since += stop - start
        if since > _FITTING - _MOST or stop == len(records):
            since = 0
            for g in range(groups):
                for j in range(binned.shape[1]):
                    sums[g, j, 0] += binned[g, j] >> _BITS
                    sums[g, j, 1] += binned[g, j] & _LOW
                    binned[g, j] = 0
        start = stop
    return touched + fetched
