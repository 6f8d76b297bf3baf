"""Sums of scores by cell and by bin in numba; imported only where it is installed and pays.

Scores are whole multiples of ``2**-52``: a score plus 1 has them as the last 52 bits of its float.
"""

from __future__ import annotations

from typing import Any

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
# Records that are looked at together: they stay in cache while sums are made by a loop or two, as the cells of all kinds
# would not stay there together.
_BLOCK = 1 << 13
# Rows that are turned into columns together.
_TURNED = 512
# What is kept of a cell: sums and counts of scores without truth and decision, with the decision, with the truth, with both.
KINDS = 4
# The steps of thresholds, which ``biasamp.counts.threshold_counts`` lays out.
STEPS = 1000
_GRID = np.uint32(STEPS + 1)
_TWO, _FOUR = np.uint32(2), np.uint32(KINDS)


@numba.njit(nogil=True, inline="always")  # type: ignore[untyped-decorator, unused-ignore]
def _move(sums: NDArray[np.int64], at: int, limbs: NDArray[np.int64]) -> None:
    """Move a sum into its limbs."""
    limbs[at, 0] += sums[at] >> _BITS
    limbs[at, 1] += sums[at] & _LOW
    sums[at] = 0


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def number_cells(
    codes: NDArray[np.int64],
    bag: NDArray[np.int64],
    label: NDArray[np.int64],
    finest: int,
    bags: int,
    labels: int,
    size: NDArray[np.int64],
    cell: NDArray[Any],
) -> None:
    """The cell ``(code * bags + bag) * labels + label`` of every record, and how many each has.

    ``bag`` are bags of the ``finest`` cut; the coarser one is that of :func:`biasamp.counts.bagging.fewer_bags`. Without
    ``codes`` there is one stratum.
    """
    ratio, shift = finest // bags, 0
    while ratio > 1:
        ratio //= 2
        shift += 1
    for k in range(len(bag)):
        row = bag[k] >> shift
        if len(codes):
            row += codes[k] * bags
        at = np.uint32(row * labels + label[k])
        size[at] += 1
        cell[k] = at


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def turn(rows: NDArray[Any], columns: NDArray[Any]) -> None:
    """Copy a matrix whose rows lie together to one whose columns do, which may have room for more of them."""
    for start in range(0, len(rows), _TURNED):
        stop = min(start + _TURNED, len(rows))
        for j in range(rows.shape[1]):
            column, values = columns[j, start:stop], rows[start:stop, j]
            for i in range(len(column)):
                column[i] = values[i]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def number_layers(cell: NDArray[Any], layer_of_cell: NDArray[Any], layer: NDArray[Any]) -> None:
    """The layer of every record by its cell."""
    for k in range(len(cell)):
        layer[k] = layer_of_cell[cell[k]]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_scores(
    cell: NDArray[Any],
    other: NDArray[Any],
    bag: NDArray[Any],
    label: NDArray[Any],
    layer: NDArray[Any],
    truth: NDArray[np.uint8],
    held: NDArray[np.uint8],
    score: NDArray[np.float64],
    edges: NDArray[np.float64],
    sums: NDArray[np.int64],
    counts: NDArray[Any],
    deep: NDArray[np.int64],
    other_sums: NDArray[np.int64],
    other_counts: NDArray[Any],
    other_deep: NDArray[np.int64],
    squares: NDArray[np.int64],
    steps: NDArray[np.int32],
    stepped: NDArray[np.int64],
    decided: NDArray[np.uint32],
) -> None:
    """Add the scores of one outcome to their cells, to the steps of their given labels, and their squares to layers.

    ``cell`` is each record's cell, ``label`` its given label, all numbers of 16 or of 32 bits. ``sums`` and
    ``counts`` have the four kinds of every cell one after another; ``deep`` has both limbs of what sums are
    beyond 64 bits, and no row where no cell holds more than :data:`FITTING` records. ``other`` and what is named after
    it are another cut of the records into cells, or empty. ``squares`` has both limbs of every
    layer, ``steps`` negative and positive records of every given label and step between ``edges``, and ``stepped`` the
    scores of every given label and step, summed modulo ``2**64``; the last two are flat, and empty where not wanted.
    ``bag`` is a cut of which ``decided`` has the counts alone, or empty.
    """
    squared = np.zeros(len(squares), dtype=np.int64)
    for start in range(0, len(score), _BLOCK):
        stop = min(start + _BLOCK, len(score))
        # Parts that begin at 0 spare a look at whether a place counts from the end.
        values, one, said = score[start:stop], truth[start:stop], held[start:stop]
        if len(steps):
            _add_to_steps(label[start:stop], layer[start:stop], one, values, edges, steps, stepped, squared, squares)
        else:
            _add_squares(layer[start:stop], values, squared, squares)
        if len(bag) and not len(deep):
            _add_to_cells_and_bags(cell[start:stop], bag[start:stop], one, said, values, sums, counts, decided)
        else:
            _add_to_cells(cell[start:stop], one, said, values, sums, counts, deep)
            if len(bag):
                _add_to_bags(bag[start:stop], one, said, decided)
        if len(other):
            _add_to_cells(other[start:stop], one, said, values, other_sums, other_counts, other_deep)
    for place in range(len(squared)):
        _move(squared, place, squares)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _add_to_steps(
    label: NDArray[Any],
    layer: NDArray[Any],
    one: NDArray[np.uint8],
    values: NDArray[np.float64],
    edges: NDArray[np.float64],
    steps: NDArray[np.int32],
    stepped: NDArray[np.int64],
    squared: NDArray[np.int64],
    squares: NDArray[np.int64],
) -> None:
    # Squares with them: their layers are few, and the score is at hand.
    for k in range(len(values)):
        value, over = values[k], layer[k]
        step = np.uint32(np.int32(value * STEPS))
        # A product may round up to an edge; the comparison does not.
        at = np.uint32(_GRID * label[k] + step - np.uint32(value < edges[step]))
        steps[np.uint32(_TWO * at + one[k])] += np.int32(1)
        stepped[at] += np.float64(value + 1.0).view(np.int64) - _ONE
        squared[over] += np.float64(value * value + 1.0).view(np.int64) - _ONE
        if squared[over] >= _FULL:
            _move(squared, over, squares)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _add_squares(
    layer: NDArray[Any], values: NDArray[np.float64], squared: NDArray[np.int64], squares: NDArray[np.int64]
) -> None:
    for k in range(len(values)):
        value, over = values[k], layer[k]
        squared[over] += np.float64(value * value + 1.0).view(np.int64) - _ONE
        if squared[over] >= _FULL:
            _move(squared, over, squares)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _add_to_cells(
    cell: NDArray[Any],
    one: NDArray[np.uint8],
    said: NDArray[np.uint8],
    values: NDArray[np.float64],
    sums: NDArray[np.int64],
    counts: NDArray[Any],
    deep: NDArray[np.int64],
) -> None:
    if len(deep):
        for k in range(len(values)):
            at = np.uint32(_FOUR * cell[k] + _TWO * one[k] + said[k])
            counts[at] += 1
            sums[at] += np.float64(values[k] + 1.0).view(np.int64) - _ONE
            if sums[at] >= _FULL:
                _move(sums, at, deep)
        return
    for k in range(len(values)):
        at = np.uint32(_FOUR * cell[k] + _TWO * one[k] + said[k])
        counts[at] += 1
        sums[at] += np.float64(values[k] + 1.0).view(np.int64) - _ONE


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _add_to_cells_and_bags(
    cell: NDArray[Any],
    bag: NDArray[Any],
    one: NDArray[np.uint8],
    said: NDArray[np.uint8],
    values: NDArray[np.float64],
    sums: NDArray[np.int64],
    counts: NDArray[Any],
    decided: NDArray[np.uint32],
) -> None:
    for k in range(len(values)):
        kind = np.uint32(_TWO * one[k] + said[k])
        at = np.uint32(_FOUR * cell[k] + kind)
        decided[np.uint32(_FOUR * bag[k] + kind)] += np.uint32(1)
        counts[at] += 1
        sums[at] += np.float64(values[k] + 1.0).view(np.int64) - _ONE


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def _add_to_bags(
    bag: NDArray[Any], one: NDArray[np.uint8], said: NDArray[np.uint8], decided: NDArray[np.uint32]
) -> None:
    for k in range(len(bag)):
        decided[np.uint32(_FOUR * bag[k] + _TWO * one[k] + said[k])] += np.uint32(1)


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
    """Add the cells of every row to the tables of ``biasamp.counts.score_cells`` at the place of the row.

    Cells lie outcome by outcome and are far more than the tables: they are read in the order in which they lie.
    """
    places, groups = whole.shape[1], sums.shape[2]
    # What is added up of one outcome lies together: counts, then limbs.
    held = np.zeros((places, groups, 3 * 3), dtype=np.int64)
    for j in range(len(sums)):
        held[:] = 0
        for row in range(len(place)):
            for g in range(groups):
                n, line, to = counts[j, row, g], sums[j, row, g], held[place[row], g]
                both = np.int64(n[3])
                to[0] += np.int64(n[2]) + both
                to[1] += np.int64(n[1]) + both
                to[2] += both
                # Sums may be near 2**62: their limbs are added, not they.
                neither, said, one, each = line[0] >> _BITS, line[1] >> _BITS, line[2] >> _BITS, line[3] >> _BITS
                to[3] += neither + said + one + each
                to[4] += one + each
                to[5] += said + each
                neither, said, one, each = line[0] & _LOW, line[1] & _LOW, line[2] & _LOW, line[3] & _LOW
                to[6] += neither + said + one + each
                to[7] += one + each
                to[8] += said + each
                if deep.shape[1]:
                    for limb in range(2):
                        for kind in range(KINDS):
                            spilled = deep[j, row, g, kind, limb]
                            to[3 + 3 * limb] += spilled
                            to[4 + 3 * limb] += spilled * (kind >> 1)
                            to[5 + 3 * limb] += spilled * (kind & 1)
        for row in range(places):
            for g in range(groups):
                for part in range(3):
                    whole[part, row, g, j] += held[row, g, part]
                    high[part, row, g, j] += held[row, g, 3 + part]
                    low[part, row, g, j] += held[row, g, 6 + part]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def lay_out_changes(counts: NDArray[np.uint16], out: NDArray[np.float64]) -> None:
    """Of every row and given label, how many more records are decided to have each outcome than have it."""
    for j in range(len(counts)):
        for row in range(len(out)):
            for g in range(out.shape[1]):
                n = counts[j, row, g]
                out[row, g, j] = np.float64(np.int64(n[1]) - np.int64(n[2]))
