"""Contingency tables that know the bag of each record, for sets of labels whose itemsets are known only later.

The bag is one more side of the table: the digits of its number, the highest first. Leaving out the last digit joins
two bags of one half, as counting in half as many bags would.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Dense, LabelSet, Variable
from biasamp.data.keys import Keys

from .bags import FEWEST_BAGS, MOST_BAGS, bag_of, shuffled_numbers
from .contingency import ContingencyTable

Index = NDArray[np.int64]

BAG = "bag"
# Combinations of labels and bags that are kept; with more of them, bags are joined and in the end left out.
MOST_ENTRIES = 1 << 18
_DIGITS = MOST_BAGS.bit_length() - 1


def count_by_bag(sets: Mapping[str, LabelSet], units: Keys) -> ContingencyTable:
    """Count the combinations of labels and bags of records."""
    numbers = bag_of(units, MOST_BAGS)
    variables = tuple(Variable(f"digit {i}", "binary") for i in range(_DIGITS))
    bag = LabelSet((Dense(variables, _digits(numbers, _DIGITS)),))
    return ContingencyTable.from_labels({**sets, BAG: bag})


def bounded(table: ContingencyTable) -> ContingencyTable | None:
    """The table in as many bags as fit; None where too few would."""
    while len(table.cells) > MOST_ENTRIES:
        if 1 << _width(table) <= FEWEST_BAGS:
            return None
        table = _fewer_digits(table, _width(table) - 1)
    return table


def add_by_bag(one: ContingencyTable | None, two: ContingencyTable | None) -> ContingencyTable | None:
    """The sum of two tables, in as many bags as fit; None where one was too large already."""
    if one is None or two is None:
        return None
    digits = min(_width(one), _width(two))
    return bounded(_fewer_digits(one, digits) + _fewer_digits(two, digits))


def bags_of_cells(table: ContingencyTable) -> tuple[Index, int]:
    """The number of the bag of each cell, and how many bags there are."""
    place = list(table.sides).index(BAG)
    powers = 1 << np.arange(_width(table))[::-1]
    return (table.sides[BAG].combinations.astype(np.int64) @ powers)[table.cells[:, place]], 1 << _width(table)


def shuffle_bags(table: ContingencyTable | None, seed: int) -> ContingencyTable | None:
    """The same table with the bags in another order."""
    if table is None:
        return None
    side, width = table.sides[BAG], _width(table)
    powers = 1 << np.arange(width)[::-1]
    numbers = side.combinations.astype(np.int64) @ powers
    moved, rows = shuffled_numbers(numbers, 1 << width, seed)
    combinations = np.empty_like(side.combinations)
    combinations[rows] = _digits(moved, width)
    return replace(table, sides={**table.sides, BAG: replace(side, combinations=combinations)})


def _width(table: ContingencyTable) -> int:
    return len(table.sides[BAG].labels)


def _fewer_digits(table: ContingencyTable, digits: int) -> ContingencyTable:
    if digits == _width(table):
        return table
    side = table.sides[BAG]
    sides = {**table.sides, BAG: replace(side, labels=side.labels[:digits], combinations=side.combinations[:, :digits])}
    return replace(table, sides=sides).tidied()


def _digits(numbers: Index, width: int) -> NDArray[np.uint8]:
    """The digits of each number, the highest first, of shape (numbers, width)."""
    return ((numbers[:, None] >> np.arange(width)[::-1]) & 1).astype(np.uint8)
