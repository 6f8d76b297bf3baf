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
# Records that are looked at together: bins and cells have a loop each, so that a wait for a cell holds up nothing else.
_BLOCK = 1 << 12
# What is kept of a cell: sums and counts of scores without truth and decision, with the decision, with the truth, with both.
KINDS = 4
# The steps of thresholds and the coarser bins of reliability, which ``biasamp.counts.threshold_counts`` lays out.
STEPS = 1000
COARSE = 10
_WIDE = np.uint32(STEPS // COARSE)
_LAST = np.uint32(COARSE - 1)
_TWO = np.uint32(2)


@numba.njit(nogil=True, inline="always")  # type: ignore[untyped-decorator, unused-ignore]
def _move(sums: NDArray[np.int64], at: int, limbs: NDArray[np.int64]) -> None:
    """Move a sum into its limbs."""
    limbs[at, 0] += sums[at] >> _BITS
    limbs[at, 1] += sums[at] & _LOW
    sums[at] = 0


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_scores(
    cell: NDArray[np.uint32],
    label: NDArray[np.uint32],
    layer: NDArray[np.uint32],
    truth: NDArray[np.uint8],
    held: NDArray[np.uint8],
    score: NDArray[np.float64],
    edges: NDArray[np.float64],
    sums: NDArray[np.int64],
    counts: NDArray[np.uint16],
    deep: NDArray[np.int64],
    squares: NDArray[np.int64],
    steps: NDArray[np.int32],
    binned: NDArray[np.int64],
) -> None:
    """Add the scores of one outcome to their cells, to the bins of their given labels, and their squares to layers.

    ``sums`` and ``counts`` have the four kinds of every cell one after another; ``deep`` has both limbs of what sums are
    beyond 64 bits, and no row where no cell holds more than :data:`FITTING` records. ``squares`` has both limbs of every
    layer, ``steps`` negative and positive records of every given label and step between ``edges``, and ``binned`` both
    limbs of the scores in the coarser bins of every given label; the last two have no row where bins are not wanted.
    """
    squared, coarse = np.zeros(len(squares), dtype=np.int64), np.zeros(len(binned), dtype=np.int64)
    for start in range(0, len(cell), _BLOCK):
        here = slice(start, min(start + _BLOCK, len(cell)))
        # Parts that begin at 0 spare a look at whether a place counts from the end.
        places, groups, layers = cell[here], label[here], layer[here]
        values, one, said = score[here], truth[here], held[here]
        if len(steps):
            for k in range(len(values)):
                value = values[k]
                step = np.uint32(np.int32(value * STEPS))
                # A product may round up to an edge; the comparison does not.
                step = np.uint32(step - np.uint32(value < edges[step]))
                steps[groups[k], np.uint32(_TWO * step + one[k])] += np.int32(1)
                at = np.uint32(groups[k] * np.uint32(COARSE) + min(np.uint32(step // _WIDE), _LAST))
                coarse[at] += np.float64(value + 1.0).view(np.int64) - _ONE
                if coarse[at] >= _FULL:
                    _move(coarse, at, binned)
        for k in range(len(values)):
            value, over = values[k], layers[k]
            at = np.uint32(places[k] * np.uint32(KINDS) + _TWO * one[k] + said[k])
            counts[at] += np.uint16(1)
            sums[at] += np.float64(value + 1.0).view(np.int64) - _ONE
            if sums[at] >= _FULL:
                _move(sums, at, deep)
            squared[over] += np.float64(value * value + 1.0).view(np.int64) - _ONE
            if squared[over] >= _FULL:
                _move(squared, over, squares)
    for place in range(len(coarse)):
        _move(coarse, place, binned)
    for place in range(len(squared)):
        _move(squared, place, squares)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def lay_out(
    sums: NDArray[np.int64],
    counts: NDArray[np.uint16],
    deep: NDArray[np.int64],
    labels: int,
    first: int,
    whole: NDArray[np.int64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
) -> None:
    """Fill the columns from ``first`` on of the tables of ``biasamp.counts.score_tables`` with the cells of some outcomes.

    ``sums`` and ``counts`` have those of every outcome, row and one of the ``labels``. Tables have a row of everyone after
    those of the labels: where there are no cells of it, it is their sum.
    """
    everyone = whole.shape[2] - 1
    for row in range(whole.shape[1]):
        for g in range(labels):
            mine = KINDS * (row * labels + g)
            for j in range(len(sums)):
                at, n, line = first + j, counts[j, mine : mine + KINDS], sums[j, mine : mine + KINDS]
                whole[0, row, g, at] = np.int64(n[2]) + np.int64(n[3])
                whole[1, row, g, at] = np.int64(n[1]) + np.int64(n[3])
                whole[2, row, g, at] = n[3]
                # Sums may be near 2**62: their limbs are added, not they.
                neither, said, one, each = line[0] >> _BITS, line[1] >> _BITS, line[2] >> _BITS, line[3] >> _BITS
                high[0, row, g, at] = neither + said + one + each
                high[1, row, g, at] = one + each
                high[2, row, g, at] = said + each
                neither, said, one, each = line[0] & _LOW, line[1] & _LOW, line[2] & _LOW, line[3] & _LOW
                low[0, row, g, at] = neither + said + one + each
                low[1, row, g, at] = one + each
                low[2, row, g, at] = said + each
                if deep.shape[1]:
                    for limb in range(2):
                        table = low if limb else high
                        for kind in range(KINDS):
                            spilled = deep[j, mine + kind, limb]
                            table[0, row, g, at] += spilled
                            table[1, row, g, at] += spilled * (kind >> 1)
                            table[2, row, g, at] += spilled * (kind & 1)
        if labels == everyone:
            for table in (whole, high, low):
                for part in range(3):
                    for g in range(labels):
                        for at in range(first, first + len(sums)):
                            table[part, row, everyone, at] += table[part, row, g, at]
