"""Which rows of published tables go, so that no small count can be computed from those that stay.

A row of a table says how many people are in a group, or in a crossing of groups, and how many of them were selected. It is
published or withheld whole, so rates and ratios of published rows are functions of published counts. What somebody else
can find out of a withheld row is then the range of its counts over all tables that have the published sums: two linear programs.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

# Solvers stop at a small error.
_TOLERANCE = 1e-6
# More cells than this are a table for a database.
_MOST_CELLS = 50_000


@dataclass(frozen=True)
class PublishedRow:
    """One row: the ``groups`` of some ``attributes``, or without groups the people of whom one of them is not known.

    Without attributes it is the row of all people. ``cells`` are its counts where they are others than selected and not selected.
    """

    attributes: tuple[str, ...]
    groups: tuple[str, ...] | None
    applicants: int
    selected: int
    cells: tuple[int, ...] | None = None

    @property
    def counts(self) -> tuple[int, ...]:
        """The counts that must not be small: how many were selected and how many were not, or the cells that are named."""
        return (self.selected, self.applicants - self.selected) if self.cells is None else self.cells


def rows_to_withhold(rows: Sequence[PublishedRow], limit: int, also: Collection[int] = ()) -> list[bool]:
    """Which rows are withheld: those with counts from 1 to ``limit - 1``, and more until nobody can compute those.

    Every count of a withheld row then has a range of at least ``limit`` in view of all rows that stay. Rows whose places are in
    ``also`` are withheld too, for whatever reason.

    Examples
    --------
    One small row alone would be the total less all others, and so takes a second one with it:

    >>> rows = [PublishedRow((), (), 150, 58), PublishedRow(("race",), ("a",), 40, 3)]
    >>> rows += [PublishedRow(("race",), ("b",), 50, 25), PublishedRow(("race",), ("c",), 60, 30)]
    >>> rows_to_withhold(rows, 10)
    [False, True, True, False]
    """
    attack = _Attack(rows)
    withheld = np.array([any(0 < count < limit for count in (*row.counts, row.applicants)) for row in rows])
    withheld[list(also)] = True
    unsafe = set(np.flatnonzero(withheld).tolist())
    while unsafe:
        # Withholding more never narrows a range: a row that is safe stays safe.
        unsafe = {place for place in unsafe if attack.range_of(place, withheld) < limit}
        added = {_further_row(rows, place, withheld, limit) for place in sorted(unsafe)} - {None}
        for place in added:
            assert place is not None
            withheld[place] = True
            unsafe.add(place)
        if not added:
            break
    return [bool(gone) for gone in withheld]


def _further_row(rows: Sequence[PublishedRow], place: int, withheld: NDArray[np.bool_], limit: int) -> int | None:
    """The row that goes next for the sake of an unsafe one: the smallest of the sums that give it away."""

    def free(places: Sequence[int]) -> list[int]:
        return sorted(
            (i for i in places if not withheld[i] and rows[i].applicants > 0), key=lambda i: rows[i].applicants
        )

    lines = _lines(rows, place)
    for line in lines:
        gone = [rows[i].counts for i in line if withheld[i]]
        if (min(np.sum(gone, axis=0)) if gone else 0) < limit and free(line):
            return free(line)[0]
    for line in lines:
        if free(line):
            return free(line)[0]
    margins = [i for i, row in enumerate(rows) if row.groups is not None and len(row.attributes) <= 1]
    mine = _groups(rows[place])
    over = [i for i in margins if rows[i].attributes and _groups(rows[i]) <= mine]
    for choice in (free(over), free([i for i in margins if not rows[i].attributes]), free(range(len(rows)))):
        if choice:
            return choice[0]
    return None


def _groups(row: PublishedRow) -> set[tuple[str, str]]:
    """The groups of a row, each with its attribute."""
    return set() if row.groups is None else set(zip(row.attributes, row.groups, strict=True))


def _lines(rows: Sequence[PublishedRow], place: int) -> list[list[int]]:
    """The sums that a row is part of: its table, and the parts of crossings that make up a group."""
    row = rows[place]
    if not row.attributes:
        return []
    lines = [[i for i, other in enumerate(rows) if other.attributes == row.attributes]]
    for group in sorted(_groups(row)):
        line = [i for i, other in enumerate(rows) if len(other.attributes) > 1 and group in _groups(other)]
        if line:
            lines.insert(0, line)
    return lines


class _Attack:
    """What somebody can compute who knows all published rows."""

    def __init__(self, rows: Sequence[PublishedRow]) -> None:
        self.rows = rows
        names = list(dict.fromkeys(name for row in rows for name in row.attributes))
        levels: dict[str, list[str | None]] = {name: [None] for name in names}
        for row in rows:
            for name, group in sorted(_groups(row)):
                if group not in levels[name]:
                    levels[name].append(group)
        size = int(np.prod([len(values) for values in levels.values()]))
        if size > _MOST_CELLS:
            raise ValueError(
                f"suppress: the groups make {size:,} crossings, more than the {_MOST_CELLS:,} that can be checked: give fewer attributes"
            )
        crossings = {(row.attributes, row.groups) for row in rows if len(row.attributes) > 1 and row.groups is not None}
        crossed = {attributes for attributes, _ in crossings}
        cells = [dict(zip(names, cell, strict=True)) for cell in product(*levels.values())]
        # A crossing of known groups that has no row has nobody.
        self.cells = [
            cell
            for cell in cells
            if all(
                None in (there := tuple(cell[name] for name in attributes)) or (attributes, there) in crossings
                for attributes in crossed
            )
        ]
        self.within = np.array([[self._holds(row, cell) for cell in self.cells] for row in rows], dtype=np.float64)

    @staticmethod
    def _holds(row: PublishedRow, cell: dict[str, str | None]) -> bool:
        there = tuple(cell[name] for name in row.attributes)
        return None in there if row.groups is None else there == row.groups

    def range_of(self, place: int, withheld: NDArray[np.bool_]) -> float:
        """The narrowest range of the counts of a row, over all tables that have the published sums."""
        from scipy.optimize import linprog

        shown = self.within[~withheld]
        narrowest = np.inf
        for kind in range(len(self.rows[place].counts)):
            sums = np.array([row.counts[kind] for row, gone in zip(self.rows, withheld, strict=True) if not gone])
            ends = []
            for sign in (1.0, -1.0):
                found = linprog(sign * self.within[place], A_eq=shown, b_eq=sums) if len(sums) else None
                # Without an end the count may be any number.
                ends.append(np.inf if found is None or found.status == 3 else sign * found.fun)
            narrowest = min(narrowest, np.inf if np.inf in ends else ends[1] - ends[0])
        return float(narrowest + _TOLERANCE)
