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
# Records that are looked at together: steps, cells and squares have a loop each, so that a wait for a cell holds up nothing else.
_BLOCK = 1 << 12
# What is kept of a cell: sums and counts of scores without truth and decision, with the decision, with the truth, with both.
KINDS = 4
# The steps of thresholds, which ``biasamp.counts.threshold_counts`` lays out.
STEPS = 1000
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
    other: NDArray[np.uint32],
    first: NDArray[np.uint32],
    layer: NDArray[np.uint32],
    truth: NDArray[np.uint8],
    held: NDArray[np.uint8],
    score: NDArray[np.float64],
    edges: NDArray[np.float64],
    sums: NDArray[np.int64],
    counts: NDArray[np.uint16],
    deep: NDArray[np.int64],
    other_sums: NDArray[np.int64],
    other_counts: NDArray[np.uint16],
    other_deep: NDArray[np.int64],
    squares: NDArray[np.int64],
    steps: NDArray[np.int32],
    stepped: NDArray[np.int64],
    bag: NDArray[np.uint32],
    decided: NDArray[np.uint32],
) -> None:
    """Add the scores of one outcome to their cells, to the steps of their given labels, and their squares to layers.

    ``cell`` is where the kinds of each record's cell begin, ``first`` where the steps of its given label do. ``sums`` and
    ``counts`` have the four kinds of every cell one after another; ``deep`` has both limbs of what sums are
    beyond 64 bits, and no row where no cell holds more than :data:`FITTING` records. ``other`` and what is named after
    it are another cut of the records into cells, or empty. ``squares`` has both limbs of every
    layer, ``steps`` negative and positive records of every given label and step between ``edges``, and ``stepped`` the
    scores of every given label and step, summed modulo ``2**64``; the last two are flat, and empty where not wanted.
    ``bag`` is a cut of which ``decided`` has the counts alone, or empty.
    """
    squared = np.zeros(len(squares), dtype=np.int64)
    for start in range(0, len(cell), _BLOCK):
        here = slice(start, min(start + _BLOCK, len(cell)))
        # Parts that begin at 0 spare a look at whether a place counts from the end.
        places, groups, layers = cell[here], first[here], layer[here]
        values, one, said = score[here], truth[here], held[here]
        if len(steps):
            for k in range(len(values)):
                value = values[k]
                step = np.uint32(np.int32(value * STEPS))
                # A product may round up to an edge; the comparison does not.
                at = np.uint32(groups[k] + step - np.uint32(value < edges[step]))
                steps[np.uint32(_TWO * at + one[k])] += np.int32(1)
                stepped[at] += np.float64(value + 1.0).view(np.int64) - _ONE
        _add_to_cells(places, one, said, values, sums, counts, deep)
        for k in range(len(values)):
            value, over = values[k], layers[k]
            squared[over] += np.float64(value * value + 1.0).view(np.int64) - _ONE
            if squared[over] >= _FULL:
                _move(squared, over, squares)
    for place in range(len(squared)):
        _move(squared, place, squares)
    # Cells of one cut at a time fit into cache; those of both may not.
    if len(other):
        _add_to_cells(other, truth, held, score, other_sums, other_counts, other_deep)
    for k in range(len(bag)):
        decided[np.uint32(bag[k] + _TWO * truth[k] + held[k])] += np.uint32(1)


@numba.njit(nogil=True, inline="always")  # type: ignore[untyped-decorator, unused-ignore]
def _add_to_cells(
    places: NDArray[np.uint32],
    one: NDArray[np.uint8],
    said: NDArray[np.uint8],
    values: NDArray[np.float64],
    sums: NDArray[np.int64],
    counts: NDArray[np.uint16],
    deep: NDArray[np.int64],
) -> None:
    for k in range(len(values)):
        at = np.uint32(places[k] + _TWO * one[k] + said[k])
        counts[at] += np.uint16(1)
        sums[at] += np.float64(values[k] + 1.0).view(np.int64) - _ONE
        if len(deep) and sums[at] >= _FULL:
            _move(sums, at, deep)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def lay_out(
    sums: NDArray[np.int64],
    counts: NDArray[np.uint16],
    deep: NDArray[np.int64],
    place: NDArray[np.int64],
    whole: NDArray[np.int64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
) -> None:
    """Add the cells of every row to the tables of ``biasamp.counts.score_cells`` at the place of the row."""
    for row in range(len(place)):
        to = place[row]
        for g in range(sums.shape[2]):
            for j in range(len(sums)):
                n, line = counts[j, row, g], sums[j, row, g]
                both = np.int64(n[3])
                whole[0, to, g, j] += np.int64(n[2]) + both
                whole[1, to, g, j] += np.int64(n[1]) + both
                whole[2, to, g, j] += both
                # Sums may be near 2**62: their limbs are added, not they.
                neither, said, one, each = line[0] >> _BITS, line[1] >> _BITS, line[2] >> _BITS, line[3] >> _BITS
                high[0, to, g, j] += neither + said + one + each
                high[1, to, g, j] += one + each
                high[2, to, g, j] += said + each
                neither, said, one, each = line[0] & _LOW, line[1] & _LOW, line[2] & _LOW, line[3] & _LOW
                low[0, to, g, j] += neither + said + one + each
                low[1, to, g, j] += one + each
                low[2, to, g, j] += said + each
                if deep.shape[1]:
                    for limb in range(2):
                        table = low if limb else high
                        for kind in range(KINDS):
                            spilled = deep[j, row, g, kind, limb]
                            table[0, to, g, j] += spilled
                            table[1, to, g, j] += spilled * (kind >> 1)
                            table[2, to, g, j] += spilled * (kind & 1)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def lay_out_changes(counts: NDArray[np.uint16], out: NDArray[np.float64]) -> None:
    """Of every row and given label, how many more records are decided to have each outcome than have it."""
    for row in range(len(out)):
        for g in range(out.shape[1]):
            for j in range(len(counts)):
                n = counts[j, row, g]
                out[row, g, j] = np.float64(np.int64(n[1]) - np.int64(n[2]))
