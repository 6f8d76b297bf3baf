"""Contingency tables of label combinations: what leakage and DPA need of discrete data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Dense, Label, LabelSet, Variable
from biasamp.data.keys import Keys, mix
from biasamp.data.label import labels_of

from .bagging import FEWEST_BAGS, MOST_BAGS, bag_of, shuffled_numbers
from .fixed import Count, Fixed, concatenate
from .kernels.cross import sum_at
from .numbered_cells import (
    NumberedSide,
    count_cells,
    digits,
    distinct_numbers,
    number_bags,
    number_labels,
    sum_numbers,
)

Index = NDArray[np.int64]

_CHUNK = 1 << 16
# Rows of so many bytes are few enough to be listed.
_SHORT = 2

BAG = "bag"
# Combinations of labels and bags that are kept; with more of them, bags are joined and in the end left out.
MOST_ENTRIES = 1 << 18
DIGITS = MOST_BAGS.bit_length() - 1


@dataclass(frozen=True, eq=False)
class Side:
    """One side of the table: its labels, and the combinations of them that occur, one per row."""

    labels: tuple[Label, ...]
    combinations: NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class ContingencyTable:
    """How often each combination of labels occurs.

    Attributes
    ----------
    sides : dict of str to Side
        For instance ``given``, ``truth`` and ``predicted``.
    cells : ndarray of shape (cells, sides)
        The combination of each side, as a row number of ``Side.combinations``.
    counts : ndarray
        How many records (or how much weight) each cell holds.
    exact : Fixed or None
        With real weights, the sums that ``counts`` rounds to floats: what adds up to the bit.
    """

    sides: dict[str, Side]
    cells: NDArray[np.int64]
    counts: NDArray[np.int64] | NDArray[np.float64]
    exact: Fixed | None = None

    @classmethod
    def from_labels(
        cls, sets: Mapping[str, LabelSet], weights: NDArray[np.int64] | NDArray[np.float64] | None = None
    ) -> ContingencyTable:
        """Count the label combinations of records.

        >>> import numpy as np
        >>> from biasamp.data import label_set
        >>> from biasamp.data import read_columns
        >>> read = lambda values: label_set(read_columns(values, "x"), "x")
        >>> table = ContingencyTable.from_labels({"given": read([0, 0, 1]), "truth": read([1, 1, 1])})
        >>> table.counts.tolist()
        [1, 2]
        """
        for name, labels in sets.items():
            if labels.soft:
                raise ValueError(f"{name} holds probabilities: a contingency table needs 0/1 labels")
        numbered = [number_labels(labels) for labels in sets.values()]
        table = cls.of_numbers({name: labels.labels for name, labels in sets.items()}, numbered, weights)
        if table is not None:
            return table
        sides, columns = {}, []
        for name, labels in sets.items():
            packed = np.concatenate(
                [
                    np.packbits(labels.rows(start, start + _CHUNK), axis=1)
                    for start in range(0, max(len(labels), 1), _CHUNK)
                ]
            )
            distinct, codes = _distinct_rows(packed)
            sides[name] = Side(labels.labels, np.unpackbits(distinct, axis=1, count=labels.width))
            columns.append(codes)
        return cls._of_cells(sides, np.column_stack(columns), weights)

    @classmethod
    def of_numbers(
        cls,
        labels: Mapping[str, tuple[Label, ...]],
        sides: Sequence[NumberedSide | None],
        weights: NDArray[np.int64] | NDArray[np.float64] | None,
    ) -> ContingencyTable | None:
        """The table of records whose sides are numbered; None where one is not."""
        numbered = [side for side in sides if side is not None]
        found = None if len(numbered) < len(sides) else count_cells(numbered, weights)
        if found is None:
            return None
        combinations, cells, counts = found
        held = {name: Side(mine, rows) for (name, mine), rows in zip(labels.items(), combinations, strict=True)}
        return cls(held, cells, counts)

    @classmethod
    def _of_cells(
        cls, sides: dict[str, Side], cells: NDArray[np.int64], weights: Count | NDArray[np.float64] | None
    ) -> ContingencyTable:
        """The table of cells that may be named more than once."""
        sizes = [len(side.combinations) for side in sides.values()]
        if not isinstance(weights, Fixed) and math.prod(sizes) < 1 << 63:
            summed = sum_numbers(_in_one_number(cells, sizes), math.prod(sizes), weights)
            if summed is not None:
                return cls(sides, _taken_apart(summed[0], sizes), summed[1])
        distinct, codes = _distinct_cells(cells, [len(side.combinations) for side in sides.values()])
        counts = sum_at(codes, (len(distinct),), weights)
        if isinstance(counts, Fixed):
            return cls(sides, distinct, counts.floats(), counts)
        return cls(sides, distinct, counts)

    def __add__(self, other: ContingencyTable) -> ContingencyTable:
        if not isinstance(other, ContingencyTable):
            return NotImplemented
        if [(k, s.labels) for k, s in self.sides.items()] != [(k, s.labels) for k, s in other.sides.items()]:
            raise ValueError("contingency tables of different labels do not add up")
        theirs = {name: side.combinations for name, side in other.sides.items()}
        if all(np.array_equal(side.combinations, theirs[name]) for name, side in self.sides.items()):
            cells = np.concatenate([self.cells, other.cells])
            return self._of_cells(self.sides, cells, concatenate([self._summands, other._summands]))
        sides = {
            name: Side(side.labels, np.concatenate([side.combinations, theirs[name]]))
            for name, side in self.sides.items()
        }
        first = [len(side.combinations) for side in self.sides.values()]
        cells = np.concatenate([self.cells, other.cells + np.array(first, dtype=np.int64)])
        return self._tidied(sides, cells, concatenate([self._summands, other._summands]))

    def tidied(self) -> ContingencyTable:
        """The same table where some combinations of a side, or some cells, may be named more than once."""
        return self._tidied(self.sides, self.cells, self._summands)

    @classmethod
    def _tidied(cls, sides: dict[str, Side], cells: NDArray[np.int64], weights: Count) -> ContingencyTable:
        distinct, columns = {}, []
        for place, (name, side) in enumerate(sides.items()):
            rows, codes = _distinct_rows(np.packbits(side.combinations, axis=1))
            distinct[name] = Side(side.labels, np.unpackbits(rows, axis=1, count=len(side.labels)))
            columns.append(codes[cells[:, place]])
        return cls._of_cells(distinct, np.column_stack(columns), weights)

    def without(self, name: str) -> ContingencyTable:
        """The table summed over one of its sides."""
        place = list(self.sides).index(name)
        sides = {key: side for key, side in self.sides.items() if key != name}
        return self._of_cells(sides, np.delete(self.cells, place, axis=1), self._summands)

    @property
    def _summands(self) -> Count:
        return self.counts if self.exact is None else self.exact  # type: ignore[return-value]


def _distinct_cells(cells: NDArray[np.int64], sizes: list[int]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Distinct cells in order, and for each row which of them it is."""
    if math.prod(sizes) >= 1 << 63:
        distinct, codes = np.unique(cells, axis=0, return_inverse=True)
        return distinct, codes.reshape(-1)
    found, codes = distinct_numbers(_in_one_number(cells, sizes), math.prod(sizes))
    return _taken_apart(found, sizes), codes


def _in_one_number(cells: NDArray[np.int64], sizes: list[int]) -> NDArray[np.int64]:
    numbers = np.zeros(len(cells), dtype=np.int64)
    for i, size in enumerate(sizes):
        numbers = numbers * size + cells[:, i]
    return numbers


def _taken_apart(numbers: NDArray[np.int64], sizes: list[int]) -> NDArray[np.int64]:
    columns = []
    for size in reversed(sizes):
        numbers, column = np.divmod(numbers, size)
        columns.append(column)
    return np.column_stack(columns[::-1])


def _distinct_rows(packed: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Distinct rows in the order of their bytes, and for each row which of them it is."""
    rows, width = packed.shape
    if width == 0:
        return packed[:1], np.zeros(rows, dtype=np.int64)
    # Rows as whole numbers, the first byte the highest, sort as their bytes do, and much faster.
    if width <= _SHORT:
        short = packed.astype(np.int64) @ (1 << 8 * np.arange(width)[::-1])
        held, places = distinct_numbers(short, 1 << 8 * width)
        return _bytes(held.astype(np.uint64)[:, None] << np.uint64(8 * (8 - width)), width), places
    padded = np.zeros((rows, -(-width // 8) * 8), dtype=np.uint8)
    padded[:, :width] = packed
    words = padded.view(">u8").astype(np.uint64)
    if words.shape[1] == 1:
        distinct, codes = np.unique(words[:, 0], return_inverse=True)
        return _bytes(distinct[:, None], width), codes.astype(np.int64)
    hashed = words[:, 0]
    for i in range(1, words.shape[1]):
        hashed = mix(hashed) ^ words[:, i]
    _, first, codes = np.unique(mix(hashed), return_index=True, return_inverse=True)
    found = words[first]
    if not (found[codes] == words).all():  # two rows of one hash
        found, codes = np.unique(words, axis=0, return_inverse=True)
        codes = codes.reshape(-1)
    order = np.lexsort(found.T[::-1])
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    return _bytes(found[order], width), place[codes]


def _bytes(words: NDArray[np.uint64], width: int) -> NDArray[np.uint8]:
    return np.ascontiguousarray(words.astype(">u8")).view(np.uint8).reshape(len(words), 8 * words.shape[1])[:, :width]


# The bag of each record as one more side of a table, for sets of labels whose itemsets are known only later: the
# digits of its number, the highest first. Leaving out the last digit joins two bags of one half, as counting in half
# as many bags would.


def count_by_bag(
    sets: Mapping[str, LabelSet], units: Keys, weights: NDArray[np.int64] | None = None, width: int = DIGITS
) -> ContingencyTable:
    """Count the combinations of labels and bags of records; the numbers of bags have so many digits."""
    numbers = bag_of(units, 1 << width)
    variables = tuple(Variable(f"digit {i}", "binary") for i in range(width))
    names = {**{name: labels.labels for name, labels in sets.items()}, BAG: labels_of(variables)}
    sides = [*(number_labels(labels) for labels in sets.values()), number_bags(numbers, width)]
    table = ContingencyTable.of_numbers(names, sides, weights)
    if table is not None:
        return table
    bag = LabelSet((Dense(variables, digits(numbers, width)),))
    return ContingencyTable.from_labels({**sets, BAG: bag}, weights)


def digits_of(table: ContingencyTable | None) -> int:
    """How many digits the numbers of a table's bags have, or those of a new one where there is none."""
    return DIGITS if table is None else _width(table)


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
    return _numbers(table)[table.cells[:, list(table.sides).index(BAG)]], 1 << _width(table)


def shuffle_bags(table: ContingencyTable | None, seed: int) -> ContingencyTable | None:
    """The same table with the bags in another order."""
    if table is None:
        return None
    side, width = table.sides[BAG], _width(table)
    moved, rows = shuffled_numbers(_numbers(table), 1 << width, seed)
    combinations = np.empty_like(side.combinations)
    combinations[rows] = digits(moved, width)
    return replace(table, sides={**table.sides, BAG: replace(side, combinations=combinations)})


def _width(table: ContingencyTable) -> int:
    return len(table.sides[BAG].labels)


def _numbers(table: ContingencyTable) -> Index:
    return table.sides[BAG].combinations.astype(np.int64) @ (1 << np.arange(_width(table))[::-1])


def _fewer_digits(table: ContingencyTable, digits: int) -> ContingencyTable:
    if digits == _width(table):
        return table
    side = table.sides[BAG]
    sides = {**table.sides, BAG: replace(side, labels=side.labels[:digits], combinations=side.combinations[:, :digits])}
    return replace(table, sides=sides).tidied()
