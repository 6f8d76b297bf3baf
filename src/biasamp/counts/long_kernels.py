"""Tallies over runs of rows of one record, with numpy alone or with numba when it is installed.

A *run* is a stretch of rows that name the same record. A record counts a label once however often its run
names it, and a record's *pattern* is the set of identities that the labels of its run belong to. Both are
known only when the run ends, so the tally of a run waits until then, across batches if need be.
"""

from __future__ import annotations

import importlib.util
from typing import Any

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int32]

# A batch of this many rows keeps its work arrays inside the processor's cache.
_SLICE = 1 << 16
# Odd multipliers with well mixed bits, for hashing.
_ODD_1, _ODD_2 = np.uint32(2654435761), np.uint32(0x85EBCA6B)
_ODD_3 = np.uint64(0x9E3779B97F4A7C15)


def numba_installed() -> bool:
    """Whether the extra ``fast`` is there."""
    return importlib.util.find_spec("numba") is not None


class Tally:
    """Counts of labels by pattern, and the run that is still open.

    The labels that make up identities have the first codes; ``masks`` gives the identities of each of these, as
    bits, and ends with the last of them.

    ``first`` is the labels of the first run, kept apart because the run may continue a run of the part before.
    """

    def __init__(self, many_identities: int) -> None:
        self.masks: list[int] = [0]
        self.table: Index = np.zeros((0, 1), dtype=np.int64)
        self.records: Index = np.zeros(1, dtype=np.int64)
        self.duplicates = 0
        self.runs = 0
        self.first: Codes | None = None
        self.open: Codes = np.zeros(0, dtype=np.int32)
        self._place = np.full(1 << many_identities, -1, dtype=np.int64)
        self._place[0] = 0

    def widen(self, labels: int) -> None:
        """Make room for labels that were not known before."""
        if labels > len(self.table):
            room = max(labels, 2 * len(self.table))
            more = np.zeros((room - len(self.table), self.table.shape[1]), dtype=np.int64)
            self.table = np.concatenate([self.table, more])

    def patterns(self, masks: Index) -> Index:
        """The column of each mask, with new columns for masks not met before."""
        place = self._place[masks]
        if (place < 0).any():
            for mask in np.unique(masks[place < 0]).tolist():
                self._place[mask] = len(self.masks)
                self.masks.append(mask)
            extra = len(self.masks) - self.table.shape[1]
            self.table = np.concatenate([self.table, np.zeros((len(self.table), extra), dtype=np.int64)], axis=1)
            self.records = np.concatenate([self.records, np.zeros(extra, dtype=np.int64)])
            place = self._place[masks]
        return place

    def count_run(self, labels: Codes, masks: Index) -> None:
        """Count one whole run whose labels are distinct."""
        mask = np.bitwise_or.reduce(masks[labels[labels < len(masks)]], initial=0)
        column = int(self.patterns(np.array([mask], dtype=np.int64))[0])
        self.table[labels, column] += 1
        self.records[column] += 1


class NumpyTally(Tally):
    """The tally with numpy alone."""

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
            self.records += np.bincount(column, minlength=width)
            flat = labels * np.int64(width) + column[run]
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
        else:
            self.count_run(self.open, masks)


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

    def __init__(self, many_identities: int) -> None:
        super().__init__(many_identities)
        self._seen = np.full(0, -1, dtype=np.int32)
        self._buffer = np.zeros(0, dtype=np.int32)
        # held labels of the open run, its mask, runs begun, patterns known, duplicates, the first run's length
        self._state = np.array([0, 0, 0, 1, 0, -1], dtype=np.int64)
        self._room = min(1 << many_identities, 64)
        self._columns = np.zeros(self._room, dtype=np.int64)
        # One row a pattern: the labels of the commonest pattern then stand close together in memory.
        self._wide: Index = np.zeros((self._room, 0), dtype=np.int64)
        self._records = np.zeros(self._room, dtype=np.int64)
        self._first = np.zeros(0, dtype=np.int32)

    def widen(self, labels: int) -> None:
        """Make room for labels that were not known before."""
        old = self._wide.shape[1]
        if labels > old:
            room = max(labels, 2 * old)
            more = room - old
            self._wide = np.concatenate([self._wide, np.zeros((self._room, more), dtype=np.int64)], axis=1)
            self._seen = np.concatenate([self._seen, np.full(more, -1, dtype=np.int32)])
            self._buffer = np.concatenate([self._buffer, np.zeros(more, dtype=np.int32)])
            self._first = np.concatenate([self._first, np.zeros(more, dtype=np.int32)])

    def add(self, starts: Flags, codes: Codes, masks: Index) -> None:
        """Count rows; as :meth:`NumpyTally.add`."""
        from .long_fast import add_runs

        at = 0
        while at < len(codes):
            at = add_runs(
                at, starts, codes, masks, self._place, self._columns, self._seen, self._buffer, self._first,
                self._wide, self._records, self._state,
            )  # fmt: skip
            if at < len(codes):  # no column left for a new pattern
                self._wide = np.concatenate([self._wide, np.zeros_like(self._wide)])
                self._records = np.concatenate([self._records, np.zeros_like(self._records)])
                self._columns = np.concatenate([self._columns, np.zeros_like(self._columns)])
                self._room *= 2
        self._publish()

    def _publish(self) -> None:
        held, _, runs, known, duplicates, first = self._state.tolist()
        self.masks = self._columns[:known].tolist()
        self.table, self.records = self._wide[:known].T, self._records[:known]
        self.duplicates, self.runs = duplicates, runs
        self.open = self._buffer[:held]
        self.first = None if first < 0 else self._first[:first]


def new_tally(many_identities: int, kernel: str = "auto") -> Any:
    """An empty tally: compiled when numba is installed, unless ``kernel`` says ``"numpy"`` or ``"numba"``."""
    if kernel not in ("auto", "numba", "numpy"):
        raise ValueError(f"kernel is {kernel!r}; 'auto', 'numba' or 'numpy' are accepted")
    if kernel == "numba" or (kernel == "auto" and numba_installed()):
        return NumbaTally(many_identities)
    return NumpyTally(many_identities)
