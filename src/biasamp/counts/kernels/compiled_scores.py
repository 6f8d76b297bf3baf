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
# Sums from here on are moved into limbs before they leave 64 bits.
_FULL = np.int64(1 << 61)
# Sums of so many scores of at most 2**52 units stay below that.
FITTING = 1 << 9
# Records that are looked at together: what is made of them stays in cache.
_BLOCK = 1 << 10
# What is kept of a cell is one line of cache: sums of scores without truth and decision, with either and with both, two
# times two counts of the same kinds, and the sum of squares.
SLOTS = 8
_COUNTS, _SQUARES = 4, 6
_HALF = np.int64((1 << 32) - 1)
# The steps of thresholds and the coarser bins of reliability, which ``biasamp.counts.threshold_counts`` lays out.
STEPS = 1000
COARSE = 10
_WIDE = np.int32(STEPS // COARSE)
_LAST = np.int32(COARSE - 1)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_scores(
    records: NDArray[np.int64],
    cell: NDArray[np.uint32],
    label: NDArray[np.uint32],
    truth: NDArray[np.uint8],
    held: NDArray[np.uint8],
    score: NDArray[np.float64],
    edges: NDArray[np.float64],
    lines: NDArray[np.int64],
    deep: NDArray[np.int64],
    steps: NDArray[np.int32],
    sums: NDArray[np.int64],
) -> None:
    """Add the scores of one outcome to the lines of their cells, and to the bins of their given labels.

    Entry k is of record ``records[k]``, or of record k where there are no ``records``. ``deep`` has both limbs of what
    sums of a cell are beyond 64 bits; it has no row where no cell holds more than :data:`FITTING` records.

    ``steps`` has negative and positive records of every given label and step between ``edges``; ``sums`` has both limbs
    of the scores in the coarser bins of every given label. They have no row where bins are not wanted.
    """
    value, square = np.empty(_BLOCK), np.empty(_BLOCK)
    units, squared = value.view(np.int64), square.view(np.int64)
    step, bin_of = np.empty(_BLOCK, dtype=np.int32), np.empty(_BLOCK, dtype=np.int32)
    one, kind = np.empty(_BLOCK, dtype=np.uint8), np.empty(_BLOCK, dtype=np.uint8)
    groups, many = len(steps), len(cell)
    binned = np.zeros(groups * COARSE, dtype=np.int64)
    for start in range(0, many, _BLOCK):
        size = min(_BLOCK, many - start)
        # Short loops of their own: only so are they turned into vector instructions.
        if len(records):
            for k in range(size):
                i = records[start + k]
                value[k] = score[i]
                one[k] = truth[i]
                kind[k] = np.uint8(2) * truth[i] + held[i]
        else:
            score_here, one_here, held_here = (
                score[start : start + size],
                truth[start : start + size],
                held[start : start + size],
            )
            for k in range(size):
                value[k] = score_here[k]
            for k in range(size):
                one[k] = one_here[k]
            for k in range(size):
                kind[k] = np.uint8(2) * one_here[k] + held_here[k]
        if groups:
            rounded = False
            for k in range(size):
                scaled = value[k] * STEPS
                step[k] = np.int32(scaled)
                rounded |= scaled == step[k]
            if rounded:
                # A product may round up to an edge; the comparison does not.
                for k in range(size):
                    if value[k] < edges[np.uint32(step[k])]:
                        step[k] -= np.int32(1)
            for k in range(size):
                bin_of[k] = min(step[k] // _WIDE, _LAST)
            for k in range(size):
                step[k] = np.int32(2) * step[k] + one[k]
        for k in range(size):
            square[k] = value[k] * value[k] + 1.0
        for k in range(size):
            value[k] += 1.0
        for k in range(size):
            squared[k] -= _ONE
        for k in range(size):
            units[k] -= _ONE
        for k in range(size):
            line, c = lines[cell[start + k]], np.uint32(kind[k])
            line[c] += units[k]
            line[np.uint32(_COUNTS) + (c >> np.uint32(1))] += np.int64(1) << np.int64(
                (c & np.uint32(1)) * np.uint32(32)
            )
            line[_SQUARES] += squared[k]
        if len(deep):
            # A block adds less than a sum has room for beyond what is full.
            for k in range(size):
                line, spilled = lines[cell[start + k]], deep[cell[start + k]]
                for slot in range(_SQUARES + 1):
                    if line[slot] >= _FULL and (slot < _COUNTS or slot == _SQUARES):
                        spilled[slot, 0] += line[slot] >> _BITS
                        spilled[slot, 1] += line[slot] & _LOW
                        line[slot] = 0
        if groups:
            for k in range(size):
                steps[label[start + k], np.uint32(step[k])] += np.int32(1)
            for k in range(size):
                binned[label[start + k] * np.uint32(COARSE) + np.uint32(bin_of[k])] += units[k]
            for g in range(groups):
                for b in range(COARSE):
                    here = g * COARSE + b
                    sums[g, b, 0] += binned[here] >> _BITS
                    sums[g, b, 1] += binned[here] & _LOW
                    binned[here] = 0


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def lay_out(
    lines: NDArray[np.int64],
    deep: NDArray[np.int64],
    stratum: NDArray[np.int64],
    labels: int,
    first: int,
    whole: NDArray[np.int64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    squares: NDArray[np.int64],
) -> None:
    """Fill the columns from ``first`` on of the tables of ``biasamp.counts.score_tables`` with the lines of some outcomes.

    ``lines`` has those of every outcome, row and one of the ``labels``. Tables have a row of everyone after those of the
    labels: where there are no lines of it, it is their sum.
    """
    everyone = whole.shape[2] - 1
    for row in range(whole.shape[1]):
        layer = squares[stratum[row]]
        for g in range(labels):
            mine = row * labels + g
            for j in range(len(lines)):
                line, at = lines[j, mine], first + j
                both = line[_COUNTS + 1] >> np.int64(32)
                whole[0, row, g, at] = (line[_COUNTS + 1] & _HALF) + both
                whole[1, row, g, at] = (line[_COUNTS] >> np.int64(32)) + both
                whole[2, row, g, at] = both
                # Sums may be near 2**62: their limbs are added, not they.
                neither, said, one, each = line[0] >> _BITS, line[1] >> _BITS, line[2] >> _BITS, line[3] >> _BITS
                high[0, row, g, at] = neither + said + one + each
                high[1, row, g, at] = one + each
                high[2, row, g, at] = said + each
                neither, said, one, each = line[0] & _LOW, line[1] & _LOW, line[2] & _LOW, line[3] & _LOW
                low[0, row, g, at] = neither + said + one + each
                low[1, row, g, at] = one + each
                low[2, row, g, at] = said + each
                layer[g, 0, at] += line[_SQUARES] >> _BITS
                layer[g, 1, at] += line[_SQUARES] & _LOW
                if deep.shape[1]:
                    spilled = deep[j, mine]
                    for limb in range(2):
                        table = low if limb else high
                        for kind in range(_COUNTS):
                            table[0, row, g, at] += spilled[kind, limb]
                            table[1, row, g, at] += spilled[kind, limb] * (kind >> 1)
                            table[2, row, g, at] += spilled[kind, limb] * (kind & 1)
                        layer[g, limb, at] += spilled[_SQUARES, limb]
        if labels == everyone:
            for table in (whole, high, low):
                for part in range(3):
                    for g in range(labels):
                        for at in range(first, first + len(lines)):
                            table[part, row, everyone, at] += table[part, row, g, at]
