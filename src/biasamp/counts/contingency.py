"""Contingency tables of label combinations: what leakage and DPA need of discrete data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.labels import Label, LabelSet

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
    """

    sides: dict[str, Side]
    cells: NDArray[np.int64]
    counts: NDArray[np.int64] | NDArray[np.float64]

    @classmethod
    def from_labels(
        cls, sets: Mapping[str, LabelSet], weights: NDArray[np.int64] | NDArray[np.float64] | None = None
    ) -> ContingencyTable:
        """Count the label combinations of records.

        >>> import numpy as np
        >>> from biasamp.labels import label_set
        >>> from biasamp.readers import read_columns
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
                [np.packbits(labels.rows(start, start + _CHUNK), axis=1) for start in range(0, len(labels), _CHUNK)]
            )
            distinct, codes = _distinct_rows(packed)
            sides[name] = Side(labels.labels, np.unpackbits(distinct, axis=1, count=labels.width))
            columns.append(codes)
        cells, counts = _sum_cells(np.column_stack(columns), weights)
        return cls(sides, cells, counts)

    def __add__(self, other: ContingencyTable) -> ContingencyTable:
        if not isinstance(other, ContingencyTable):
            return NotImplemented
        if {k: s.labels for k, s in self.sides.items()} != {k: s.labels for k, s in other.sides.items()}:
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
        cells, counts = _sum_cells(cells, np.concatenate([self.counts, other.counts]))
        return ContingencyTable(sides, cells, counts)


def _distinct_rows(packed: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Distinct rows in order, and for each row which of them it is."""
    if packed.shape[1] == 0:
        return packed[:1], np.zeros(len(packed), dtype=np.int64)
    rows = np.ascontiguousarray(packed)
    distinct, codes = np.unique(rows.view(np.dtype((np.void, rows.shape[1])))[:, 0], return_inverse=True)
    return distinct.view(np.uint8).reshape(-1, rows.shape[1]), codes.astype(np.int64)


def _sum_cells(
    cells: NDArray[np.int64], weights: NDArray[np.int64] | NDArray[np.float64] | None
) -> tuple[NDArray[np.int64], NDArray[np.int64] | NDArray[np.float64]]:
    distinct, codes = np.unique(cells, axis=0, return_inverse=True)
    codes = codes.reshape(-1)
    if weights is None:
        return distinct, np.bincount(codes, minlength=len(distinct))
    if weights.dtype.kind == "f":
        return distinct, np.bincount(codes, weights=weights, minlength=len(distinct))
    total = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(total, codes, weights)
    return distinct, total
