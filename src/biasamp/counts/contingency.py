"""Contingency tables of label combinations: what leakage and DPA need of discrete data."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Label, LabelSet
from biasamp.data.keys import mix

from .fixed import Count, Fixed, concatenate, exact_sums

_CHUNK = 1 << 16


@dataclass(frozen=True, eq=False)
class Side:
    """One side of the table: its labels, and the combinations of them that occur, one a row."""

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
        sides, columns = {}, []
        for name, labels in sets.items():
            if labels.soft:
                raise ValueError(f"{name} holds probabilities: a contingency table needs 0/1 labels")
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
    def _of_cells(
        cls, sides: dict[str, Side], cells: NDArray[np.int64], weights: Count | NDArray[np.float64] | None
    ) -> ContingencyTable:
        """The table of cells that may be named more than once."""
        distinct, codes = _distinct_cells(cells, [len(side.combinations) for side in sides.values()])
        counts = _sum_by(codes, len(distinct), weights)
        if isinstance(counts, Fixed):
            return cls(sides, distinct, counts.floats(), counts)
        return cls(sides, distinct, counts)

    def __add__(self, other: ContingencyTable) -> ContingencyTable:
        if not isinstance(other, ContingencyTable):
            return NotImplemented
        if [(k, s.labels) for k, s in self.sides.items()] != [(k, s.labels) for k, s in other.sides.items()]:
            raise ValueError("contingency tables of different labels do not add up")
        sides, mine, theirs = {}, [], []
        for place, (name, side) in enumerate(self.sides.items()):
            both = np.concatenate([side.combinations, other.sides[name].combinations])
            distinct, codes = _distinct_rows(np.packbits(both, axis=1))
            sides[name] = Side(side.labels, np.unpackbits(distinct, axis=1, count=len(side.labels)))
            first = len(side.combinations)
            mine.append(codes[:first][self.cells[:, place]])
            theirs.append(codes[first:][other.cells[:, place]])
        cells = np.concatenate([np.column_stack(mine), np.column_stack(theirs)])
        return self._of_cells(sides, cells, concatenate([self._summands, other._summands]))

    def tidied(self) -> ContingencyTable:
        """The same table where some combinations of a side, or some cells, may be named more than once."""
        sides, columns = {}, []
        for place, (name, side) in enumerate(self.sides.items()):
            distinct, codes = _distinct_rows(np.packbits(side.combinations, axis=1))
            sides[name] = Side(side.labels, np.unpackbits(distinct, axis=1, count=len(side.labels)))
            columns.append(codes[self.cells[:, place]])
        return self._of_cells(sides, np.column_stack(columns), self._summands)

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
    numbers = np.zeros(len(cells), dtype=np.int64)
    for i, size in enumerate(sizes):
        numbers = numbers * size + cells[:, i]
    found, codes = np.unique(numbers, return_inverse=True)
    columns = []
    for size in reversed(sizes):
        found, column = np.divmod(found, size)
        columns.append(column)
    return np.column_stack(columns[::-1]), codes


def _distinct_rows(packed: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Distinct rows in the order of their bytes, and for each row which of them it is."""
    rows, width = packed.shape
    if width == 0:
        return packed[:1], np.zeros(rows, dtype=np.int64)
    # Rows as whole numbers, the first byte the highest, sort as their bytes do, and much faster.
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


def _sum_by(codes: NDArray[np.int64], size: int, weights: Count | NDArray[np.float64] | None) -> Count:
    """Sum weights (each 1 without any) over the records of each code."""
    if weights is None:
        return np.bincount(codes, minlength=size)
    if isinstance(weights, Fixed):
        return Fixed(*(_whole_sums(codes, size, limb) for limb in (weights.whole, weights.high, weights.low)))
    if weights.dtype.kind == "f":
        return exact_sums(
            weights.astype(np.float64),
            lambda limb, rows: np.asarray(np.bincount(codes[rows], limb, minlength=size), np.float64),
        )
    return _whole_sums(codes, size, weights.astype(np.int64, copy=False))


def _whole_sums(codes: NDArray[np.int64], size: int, weights: NDArray[np.int64]) -> NDArray[np.int64]:
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, codes, weights)
    return total
