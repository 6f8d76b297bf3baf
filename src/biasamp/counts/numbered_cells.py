"""Combinations of labels as whole numbers, which are counted instead of sorted row by row.

A side's combination is a number that sorts as the bytes of its row of 0 and 1 do; a cell is the numbers of all sides in
one. What comes out is what sorting the rows gives, in the same order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Codes, Dense, LabelSet

from .fixed import EXACT
from .kernels.coded import by_label

Index = NDArray[np.int64]
Rows = NDArray[np.uint8]

# A table of all numbers is looked through where it has at most so many places for each record, or so many in all.
_PLACES, _SMALL = 16, 1 << 16
# Labels whose combinations are numbered.
_MOST_BITS = 48


class NumberedSide(NamedTuple):
    """The combinations of one side.

    Attributes
    ----------
    numbers : ndarray of shape (records,)
    size : int
        All numbers are below it.
    rows : callable
        From numbers to labels, of shape (numbers, labels).
    """

    numbers: Index
    size: int
    rows: Callable[[Index], Rows]


def number_labels(labels: LabelSet) -> NumberedSide | None:
    """The labels of records as numbers; None where they are several variables, or too many."""
    block = labels.blocks[0]
    if len(labels.blocks) > 1 or labels.soft:
        return None
    if isinstance(block, Codes):
        # None sorts first, then the last label, and the first label last.
        width = block.width
        if len(block) and block.codes.min() >= 0:
            return NumberedSide(width - 1 - block.codes, width, lambda found: _one_label(found + 1, width))
        ranks = np.append(width - np.arange(width), 0)
        return NumberedSide(ranks[block.codes], width + 1, lambda found: _one_label(found, width))
    if isinstance(block, Dense) and 0 < block.width <= _MOST_BITS:
        width = block.width
        return NumberedSide(_bits_as_number(by_label(block.values)), 1 << width, lambda found: digits(found, width))
    return None


def number_bags(numbers: Index, width: int) -> NumberedSide:
    """The bags of records as a side of yes/no digits."""
    return NumberedSide(numbers, 1 << width, lambda found: digits(found, width))


def count_cells(
    sides: Sequence[NumberedSide], weights: NDArray[Any] | None = None
) -> tuple[list[Rows], Index, Index] | None:
    """Count how often combinations of all sides occur; ``weights`` are whole numbers.

    Returns
    -------
    combinations : list of ndarray of shape (combinations, labels)
        Of each side, those that occur, in order.
    cells : ndarray of shape (cells, sides)
        The number of the combination of each side.
    counts : ndarray of shape (cells,)

    None where numbers or sums would not fit.
    """
    sizes = [side.size for side in sides]
    if math.prod(sizes) >= 1 << 63:
        return None
    numbers = sides[0].numbers
    for side in sides[1:]:
        numbers = numbers * side.size + side.numbers
    summed = sum_numbers(numbers, math.prod(sizes), weights)
    if summed is None:
        return None
    found, counts = summed
    combinations, columns = [], []
    for place, side in enumerate(sides):
        mine = found // math.prod(sizes[place + 1 :]) % side.size
        there, column = distinct_numbers(mine, side.size)
        combinations.append(side.rows(there))
        columns.append(column)
    return combinations, np.column_stack(columns), counts


def sum_numbers(numbers: Index, size: int, weights: NDArray[Any] | None = None) -> tuple[Index, Index] | None:
    """Distinct numbers below ``size`` that weigh anything or were named, in order, and the sum of weights of each.

    None where sums of weights might not be exact.
    """
    if weights is not None and (weights.dtype.kind == "f" or float(weights.sum(dtype=np.float64)) >= EXACT):
        return None
    if size <= _tabled(len(numbers)):
        counts = np.bincount(numbers, minlength=size)
        found = np.flatnonzero(counts)
        if weights is not None:
            counts = np.bincount(numbers, weights, minlength=size).astype(np.int64)
        return found, counts[found]
    if weights is None:
        found, counts = np.unique(numbers, return_counts=True)
        return found, counts.astype(np.int64)
    found, codes = np.unique(numbers, return_inverse=True)
    return found, np.bincount(codes, weights, minlength=len(found)).astype(np.int64)


def distinct_numbers(numbers: Index, size: int) -> tuple[Index, Index]:
    """Distinct numbers below ``size`` in order, and for each number which of them it is."""
    if size > _tabled(len(numbers)):
        found, codes = np.unique(numbers, return_inverse=True)
        return found, codes.astype(np.int64)
    there = np.bincount(numbers, minlength=size) > 0
    return np.flatnonzero(there), (np.cumsum(there) - 1)[numbers]


def _tabled(records: int) -> int:
    return max(_SMALL, _PLACES * records)


def digits(numbers: Index, width: int) -> Rows:
    """The binary digits of each number, the highest first, of shape (numbers, width)."""
    return ((numbers[:, None] >> np.arange(width)[::-1]) & 1).astype(np.uint8)


def _bits_as_number(columns: Rows) -> Index:
    """Yes/no columns, of shape (labels, records), as the digits of a number for each record."""
    out = np.zeros(columns.shape[1], dtype=np.int64)
    for start in range(0, len(columns), 8):
        eight = columns[start : start + 8]
        # Bytes are put together first, which are quicker to move than whole numbers.
        byte = eight[0].copy()
        for column in eight[1:]:
            byte <<= 1
            byte |= column
        out <<= len(eight)
        out |= byte
    return out


def _one_label(ranks: Index, width: int) -> Rows:
    """The labels of combinations of at most one label, by their rank."""
    out = np.zeros((len(ranks), width), dtype=np.uint8)
    held = ranks > 0
    out[np.flatnonzero(held), width - ranks[held]] = 1
    return out
