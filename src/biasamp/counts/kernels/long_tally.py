"""Tallies over runs of rows of one record, with numpy alone or with numba when it is installed.

A *run* is a stretch of rows that name the same record. A record counts a label once however often its run
names it, and a record's *pattern* is the set of identities that the labels of its run belong to. Both are
known only when the run ends, so the tally of a run waits until then, across batches if need be.
"""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import summed

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int32]

# A batch of this many rows keeps its work arrays inside the processor's cache.
_SLICE = 1 << 16
# Odd multipliers with well mixed bits, for hashing.
_ODD_1, _ODD_2 = np.uint32(2654435761), np.uint32(0x85EBCA6B)
_ODD_3 = np.uint64(0x9E3779B97F4A7C15)
# Patterns that have a column of the table, which at 20,000 labels is ten megabytes.
MOST_COLUMNS = 64
# A cell's key: the pattern above these bits, the label in them.
CELL_BITS = 32
CELL_LABEL = (1 << CELL_BITS) - 1
# Cells that wait to be added up, eight bytes each.
_WAITING = 1 << 20
# The number of a run has 32 bits.
_MOST_RUNS = 1 << 32
# Room for patterns to begin with.
_FIRST_ROOM = 4


# Below so many rows, loading the compiler takes longer than counting them without it.
_WORTH_COMPILING = 1 << 24


def numba_installed() -> bool:
    """Whether the extra ``fast`` is there."""
    return importlib.util.find_spec("numba") is not None


def kernel_for(rows: int | None) -> str:
    """The kernel that counts so many rows soonest in a process that runs once; None where their number is not known."""
    if not numba_installed():
        return "numpy"
    loaded = "numba" in sys.modules
    return "numba" if loaded or rows is None or rows >= _WORTH_COMPILING else "numpy"


class Tally:
    """Counts of labels by pattern, and the run that is still open.

    The labels that make up identities have the first codes; ``masks`` gives the identities of each of these, as
    bits, and ends with the last of them.

    The first patterns have a column of the table each; what later ones have with which label is kept cell by cell,
    so that thousands of patterns take no more room than their records need.

    ``first`` is the labels of the first run, kept apart because the run may continue a run of the part before.
    """

    def __init__(self) -> None:
        self.masks: list[int] = [0]
        self.table: Index = np.zeros((0, 1), dtype=np.int64)
        self.records: Index = np.zeros(1, dtype=np.int64)
        self.duplicates = 0
        self.runs = 0
        self.first: Codes | None = None
        self.open: Codes = np.zeros(0, dtype=np.int32)
        self._cells = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def rare(self) -> tuple[Index, Index, Index]:
        """Pattern, label and records of both, for the patterns without a column of the table."""
        keys, values = self._cells
        return keys >> CELL_BITS, keys & CELL_LABEL, values

    def _keep(self, cells: Index) -> None:
        """Add one to each cell, as often as it is named."""
        old, values = self._cells
        self._cells = summed(np.concatenate([old, cells]), np.concatenate([values, np.ones_like(cells)]))


class NumpyTally(Tally):
    """The tally with numpy alone."""

    def __init__(self) -> None:
        super().__init__()
        self._place: dict[int, int] = {0: 0}
        self._waiting: list[Index] = []

    def widen(self, labels: int) -> None:
        """Make room for labels that were not known before."""
        if labels > len(self.table):
            self.table = _longer(self.table, max(labels, 2 * len(self.table)) - len(self.table))

    def patterns(self, masks: Index) -> Index:
        """The number of each mask, with new ones for masks not met before."""
        distinct, inverse = np.unique(masks, return_inverse=True)
        place = np.array([self._place.setdefault(mask, len(self._place)) for mask in distinct.tolist()], np.int64)
        more = len(self._place) - len(self.masks)
        if more:
            self.masks.extend(list(self._place)[-more:])
            self.records = _longer(self.records, more)
            columns = min(len(self.masks), MOST_COLUMNS) - self.table.shape[1]
            self.table = np.ascontiguousarray(_longer(self.table.T, columns).T)
        return place[inverse]

    def settle(self) -> None:
        """Make what has been counted so far readable."""
        if self._waiting:
            self._keep(np.concatenate(self._waiting))
            self._waiting = []

    def add(self, starts: Flags, codes: Codes, masks: Index) -> None:
        """Count rows. ``starts`` marks the first row of each run; a code below 0 is a row without a label."""
        # Each slice adds a whole table: with a large table the slices must be larger too.
        step = max(_SLICE, self.table.size)
        for at in range(0, len(codes), step):
            self._slice(starts[at : at + step], codes[at : at + step], masks)

    def _slice(self, starts: Flags, codes: Codes, masks: Index) -> None:
        edges = np.flatnonzero(starts)
        if not len(edges):  # the open run goes on
            self._extend(codes)
            return
        head = int(edges[0])
        if head:
            self._extend(codes[:head])
        if self.runs:
            self._close(masks)
        self.runs += len(edges)
        last = int(edges[-1])
        run = np.cumsum(starts[head:last], dtype=np.int64) - 1
        labels = codes[head:last]
        held = labels >= 0
        if not held.all():
            run, labels = run[held], labels[held]
        again = repeated(run, labels, len(self.table))
        if again is not None:
            self.duplicates += int(again.sum())
            run, labels = run[~again], labels[~again]
        whole = len(edges) - 1
        if whole:
            if self.first is None:
                mine = run == 0
                self.first = labels[mine].copy()
                labels, run, whole = labels[~mine], run[~mine] - 1, whole - 1
            of_run = np.zeros(whole, dtype=np.int64)
            # Few rows name an identity; the others add nothing to their run's mask.
            named = np.flatnonzero(labels < len(masks))
            np.bitwise_or.at(of_run, run[named], masks[labels[named]])
            column = self.patterns(of_run)
            width = self.table.shape[1]
            self.records += np.bincount(column, minlength=len(self.records))
            of_row = column[run]
            if len(self.masks) > width:
                beyond = of_row >= width
                self._waiting.append((of_row[beyond] << CELL_BITS) | labels[beyond])
                if sum(map(len, self._waiting)) > _WAITING:
                    self.settle()
                of_row, labels = of_row[~beyond], labels[~beyond]
            flat = labels * np.int64(width) + of_row
            self.table += np.bincount(flat, minlength=self.table.size).reshape(self.table.shape)
        self.open = np.zeros(0, dtype=np.int32)
        self._extend(codes[last:])

    def _extend(self, codes: Codes) -> None:
        """Add labels to the open run, each once."""
        codes = codes[codes >= 0]
        distinct = np.union1d(self.open, codes).astype(np.int32)
        self.duplicates += len(self.open) + len(codes) - len(distinct)
        self.open = distinct

    def _close(self, masks: Index) -> None:
        if self.first is None:
            self.first = self.open
            return
        mask = np.bitwise_or.reduce(masks[self.open[self.open < len(masks)]], initial=0)
        column = int(self.patterns(np.array([mask], dtype=np.int64))[0])
        self.records[column] += 1
        if column < self.table.shape[1]:
            self.table[self.open, column] += 1
        else:
            self._waiting.append((column << CELL_BITS) | self.open.astype(np.int64))


def repeated(run: Index, labels: Codes, width: int) -> Flags | None:
    """Which rows name a label that their run has named before; None when no row does.

    Labels that ascend within each run settle it at a glance. Otherwise every row writes its number into a
    hash table and reads it back: a row that finds another row's number there has met either its own double or
    a stranger of the same hash, and only those few are compared, and hashed anew among themselves.
    """
    if len(run) < 2:
        return None
    if ((labels[1:] > labels[:-1]) | (run[1:] > run[:-1])).all():
        return None
    bits = min(max(8, len(run).bit_length() + 3), 31)
    table = np.zeros(1 << bits, dtype=np.int32)
    row = np.arange(len(run), dtype=np.int32)
    few = run.astype(np.uint32) * _ODD_1 ^ labels.view(np.uint32) * _ODD_2
    slot = (few >> np.uint32(32 - bits)).astype(np.intp)
    table[slot] = row
    winner = table[slot]
    left = np.flatnonzero(winner != row)
    if not len(left):
        return None
    out = np.zeros(len(run), dtype=bool)
    rival = winner[left]
    multiplier = _ODD_3
    while len(left):
        same = (run[rival] == run[left]) & (labels[rival] == labels[left])
        out[left[same]] = True
        left = left[~same]
        keys = (run[left] * np.int64(max(width, 1)) + labels[left]).astype(np.uint64)
        with np.errstate(over="ignore"):
            slot = (keys * multiplier >> np.uint64(64 - bits)).astype(np.intp)
            multiplier = multiplier * _ODD_3 + np.uint64(2)
        table[slot] = left
        rival = table[slot]
        lost = rival != left
        left, rival = left[lost], rival[lost]
    return out if out.any() else None


class NumbaTally(Tally):
    """The tally as one compiled loop over the rows."""

    def __init__(self) -> None:
        super().__init__()
        from . import long_compiled

        self._compiled = long_compiled
        labels, patterns = (np.zeros(size, dtype=np.int64) for size in (0, _FIRST_ROOM))
        self._room = long_compiled.Room(
            slots=np.zeros(0, dtype=np.int64),
            columns=patterns,
            seen=labels.astype(np.uint64),
            buffer=labels.astype(np.int32),
            first=labels.astype(np.int32),
            # One row per pattern: the labels of the commonest pattern then stand close together in memory.
            table=np.zeros((_FIRST_ROOM, 0), dtype=np.int64),
            waiting=labels,
            records=np.zeros_like(patterns),
            state=np.array([0, 0, 0, 1, 0, -1, 0, 0], dtype=np.int64),
        )
        self._hash()

    def _hash(self) -> None:
        """Make the hash table of the patterns: four places for each there is room for; -1 is free."""
        slots = np.full(4 * len(self._room.columns), -1, dtype=np.int64)
        self._compiled.place_patterns(slots, self._room.columns, int(self._room.state[self._compiled.KNOWN]))
        self._room = self._room._replace(slots=slots)

    def widen(self, labels: int) -> None:
        """Make room for labels that were not known before."""
        room = self._room
        old = room.table.shape[1]
        if labels > old:
            more = max(labels, 2 * old) - old
            longer = {name: _longer(getattr(room, name), more) for name in ("seen", "buffer", "first")}
            self._room = room._replace(table=_longer(room.table.T, more).T.copy(), **longer)

    def add(self, starts: Flags, codes: Codes, masks: Index) -> None:
        """Count rows; as :meth:`NumpyTally.add`."""
        self._refuse_too_many(len(codes))
        at = 0
        while at < len(codes):
            at = self._compiled.add_runs(at, starts, codes, masks, self._room)
            if at < len(codes):
                self._make_room()

    def add_integers(self, at: int, ids: Index, labels: NDArray[Any], lookup: Codes, masks: Index) -> int:
        """Count rows of whole numbers from ``at`` on, as far as labels have a code and ids do not fall."""
        self._refuse_too_many(len(ids))
        while True:
            stopped: int = self._compiled.add_integer_rows(at, ids, labels, lookup, masks, self._room)
            known = stopped == len(ids) or not 0 <= labels[stopped] < len(lookup) or lookup[labels[stopped]] < 0
            if known or ids[stopped] < self._room.state[self._compiled.LAST]:
                return stopped
            at = stopped
            self._make_room()

    def _refuse_too_many(self, rows: int) -> None:
        if self._room.state[self._compiled.RUNS] + rows >= _MOST_RUNS:
            raise ValueError(f"one part of the data has more than {_MOST_RUNS:,} records: write it as several files")

    def _make_room(self) -> None:
        """For a new pattern, or for cells of patterns without a row of the table."""
        room, patterns = self._room, len(self._room.columns)
        if room.state[self._compiled.KNOWN] == patterns:
            self._room = room._replace(
                columns=_longer(room.columns, patterns),
                records=_longer(room.records, patterns),
                table=_longer(room.table, min(2 * patterns, MOST_COLUMNS) - len(room.table)),
            )
            self._hash()
            return
        self._add_up()
        size = _WAITING + len(room.buffer)
        if len(room.waiting) < size:
            self._room = room._replace(waiting=np.zeros(size, dtype=np.int64))

    def _add_up(self) -> None:
        used = self._compiled.USED
        self._keep(self._room.waiting[: self._room.state[used]])
        self._room.state[used] = 0

    def settle(self) -> None:
        """Make what has been counted so far readable."""
        self._add_up()
        room = self._room
        held, _, self.runs, known, self.duplicates, first, _, _ = room.state.tolist()
        self.masks = room.columns[:known].tolist()
        self.open = room.buffer[:held]
        self.first = None if first < 0 else room.first[:first]
        none = (room.seen & np.uint64((1 << 32) - 1)).astype(np.int64)
        for run in (self.open, self.first):
            if run is not None:
                none[run] -= 1
        none -= room.table[1:].sum(axis=0)
        _, label, values = self.rare()
        np.subtract.at(none, label, values)
        room.table[0] = none
        self.table, self.records = room.table[: min(known, MOST_COLUMNS)].T, room.records[:known]


def _longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    """The array with so many zeros, or rows of zeros, at its end."""
    return np.concatenate([array, np.zeros((more, *array.shape[1:]), dtype=array.dtype)])


def new_tally(kernel: str = "auto") -> Any:
    """An empty tally: compiled when numba is installed, unless ``kernel`` says ``"numpy"`` or ``"numba"``."""
    if kernel not in ("auto", "numba", "numpy"):
        raise ValueError(f"kernel is {kernel!r}; 'auto', 'numba' or 'numpy' are accepted")
    if kernel == "numba" or (kernel == "auto" and numba_installed()):
        return NumbaTally()
    return NumpyTally()
