"""Tallies over runs of rows of one record, with numpy alone or with numba when it is installed.

A *run* is a stretch of rows that name the same record. A record counts a label once however often its run
names it, and a record's *pattern* is the set of identities that the labels of its run belong to. Both are
known only when the run ends, so the tally of a run waits until then, across batches if need be.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..cells import summed
from ..shared_counts import pair_columns

Index = NDArray[np.int64]
Flags = NDArray[np.bool_]
Codes = NDArray[np.int32]

# A batch of this many rows keeps its work arrays inside the processor's cache.
_SLICE = 1 << 16
# Rows that are hashed together, and those of them that are looked at first.
_HASHED = 1 << 16
_GLANCE = 256
# Odd multipliers with well mixed bits, for hashing.
_ODD_1, _ODD_2 = np.uint32(2654435761), np.uint32(0x85EBCA6B)
_ODD_3 = np.uint64(0x9E3779B97F4A7C15)
# Patterns that have a column of the table, which at 20,000 labels is ten megabytes.
MOST_COLUMNS = 64
# A cell's key: the pattern above these bits, the label in them.
CELL_BITS = 32
CELL_LABEL = (1 << CELL_BITS) - 1
# Cells that wait to be added up, eight bytes each.
WAITING = 1 << 20
# Bytes of the table of labels and pairs of identities, unless a tally is told otherwise.
SHARED_BYTES = 1 << 28
# Below so many rows, loading the compiler takes longer than counting them without it; of so many identities, as what has to be
# counted of a row grows with those of its record.
_WORTH_COMPILING, _FEW_IDENTITIES = 1 << 24, 8
# From so many rows on it is said that counting goes quicker with it.
_WORTH_SAYING = 1 << 25


def numba_installed() -> bool:
    """Whether the extra ``fast`` is there."""
    return importlib.util.find_spec("numba") is not None


def kernel_for(rows: int | None, here: bool = True, identities: int = 2) -> str:
    """The kernel that counts so many rows soonest in a process that runs once; None where their number is not known.

    ``here``: whether rows are counted in this process, where the compiler may be loaded already.
    """
    if not numba_installed():
        if rows is not None and rows >= _WORTH_SAYING:
            _say_once()
        return "numpy"
    loaded = here and "numba" in sys.modules
    if loaded or rows is None:
        return "numba"
    return "numba" if rows * max(identities, _FEW_IDENTITIES) >= _FEW_IDENTITIES * _WORTH_COMPILING else "numpy"


@cache
def _say_once() -> None:
    warnings.warn(
        "numba is not installed: counting this many rows takes two to three times as long without it; "
        'pip install "biasamp[fast]"',
        UserWarning,
        stacklevel=2,
    )


class Tally:
    """Counts of labels by pattern or by pair of identities, and the run that is still open.

    The labels that make up identities have the first codes; ``masks`` gives the identities of each of these, as
    bits, and ends with the last of them.

    Where identities are few, a record is counted by its *pattern*. The first patterns have a column of the table each; what
    later ones have with which label is kept cell by cell. Where identities are many, patterns are nearly as many as
    records, and a record is counted under each of its identities (``single``) and pairs of them (``shared``) instead: of the first
    labels, which are the most frequent for the greater part, in a table, of later ones cell by cell.

    The first run of a stretch of rows is kept apart because it may continue a run of the part before.

    Parameters
    ----------
    identities : int
    bagged : bool
        Whether patterns hold the bag of their records.
    shared_bytes : int
        Bytes that the table of labels and pairs may take; 0 for the usual.
    """

    def __init__(self, identities: int, *, bagged: bool = False, shared_bytes: int = 0) -> None:
        self.by_pair = 1 << identities > MOST_COLUMNS and not bagged
        columns = identities * (identities - 1) // 2 if self.by_pair else 0
        self.shared_rows = max(1, (shared_bytes or SHARED_BYTES) // (4 * (identities + columns)))
        self.masks: list[int] = [0]
        self.table: Index = np.zeros((0, 1), dtype=np.int64)
        self.records: Index = np.zeros(1, dtype=np.int64)
        self.count: Index = np.zeros(0, dtype=np.int64)
        self.single: NDArray[np.int32] = np.zeros((0, identities if self.by_pair else 0), dtype=np.int32)
        # Small numbers, as long as they do.
        self.shared: NDArray[Any] = np.zeros((0, columns), dtype=np.uint16)
        self.overlap: Index = np.zeros((identities, identities), dtype=np.int64)
        self._cells = (np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    def shared_places(self) -> Index:
        """The row of ``shared`` of each of the first labels."""
        return np.arange(len(self.shared))

    def _fit(self, overlap: Index) -> None:
        """Make the numbers of the table large enough: no label is in more records with two identities than they share."""
        if np.triu(overlap, 1).max(initial=0) > np.iinfo(self.shared.dtype).max:
            self.shared = self.shared.astype(np.int32)

    def rare(self) -> tuple[Index, Index, Index]:
        """Pattern or pair of identities, label and records of both, for what is in no table."""
        keys, values = self._cells
        return keys >> CELL_BITS, keys & CELL_LABEL, values

    def _keep(self, cells: Index) -> None:
        """Add one to each cell, as often as it is named."""
        old, values = self._cells
        self._cells = summed(np.concatenate([old, cells]), np.concatenate([values, np.ones_like(cells)]))


class NumpyTally(Tally):
    """The tally with numpy alone."""

    def __init__(self, identities: int, *, bagged: bool = False, shared_bytes: int = 0) -> None:
        super().__init__(identities, bagged=bagged, shared_bytes=shared_bytes)
        self.duplicates = 0
        self._opened = False
        self._first: Codes | None = None
        self._open: Codes = np.zeros(0, dtype=np.int32)
        self._place: dict[int, int] = {0: 0}
        self._waiting: list[Index] = []
        self._pairs = pair_columns(identities)

    def widen(self, labels: int) -> None:
        """Make room for labels that were not known before."""
        if labels <= len(self.count):
            return
        more = max(labels, 2 * len(self.count)) - len(self.count)
        self.count = longer(self.count, more)
        if self.by_pair:
            rows = max(min(len(self.count), self.shared_rows) - len(self.shared), 0)
            self.single, self.shared = longer(self.single, rows), longer(self.shared, rows)
        else:
            self.table = longer(self.table, more)

    def cut(self) -> tuple[Codes, ...]:
        """End a stretch of rows: the labels of its first and its last run, as far as there are two, which it forgets."""
        runs = ([] if self._first is None else [self._first]) + ([self._open] if self._opened else [])
        self._first, self._opened, self._open = None, False, np.zeros(0, dtype=np.int32)
        return tuple(runs)

    def patterns(self, masks: Index) -> Index:
        """The number of each mask, with new ones for masks not met before."""
        distinct, inverse = np.unique(masks, return_inverse=True)
        place = np.array([self._place.setdefault(mask, len(self._place)) for mask in distinct.tolist()], np.int64)
        more = len(self._place) - len(self.masks)
        if more:
            self.masks.extend(list(self._place)[-more:])
            self.records = longer(self.records, more)
            columns = min(len(self.masks), MOST_COLUMNS) - self.table.shape[1]
            self.table = np.ascontiguousarray(longer(self.table.T, columns).T)
        return place[inverse]

    def settle(self) -> None:
        """Make what has been counted so far readable."""
        self._add_up()
        if not self.by_pair:
            # What labels have with no identity is what all have, less the rest.
            _, label, values = self.rare()
            self.table[:, 0] = self.count - self.table[:, 1:].sum(axis=1)
            np.subtract.at(self.table[:, 0], label, values)

    def add(self, starts: Flags, codes: Codes, masks: Index) -> None:
        """Count rows. ``starts`` marks the first row of each run; a code below 0 is a row without a label."""
        for at in range(0, len(codes), _SLICE):
            self._slice(starts[at : at + _SLICE], codes[at : at + _SLICE], masks)

    def _slice(self, starts: Flags, codes: Codes, masks: Index) -> None:
        edges = np.flatnonzero(starts)
        if not len(edges):  # the open run goes on
            self._extend(codes)
            return
        head = int(edges[0])
        if head:
            self._extend(codes[:head])
        if self._opened:
            self._close(masks)
        self._opened = True
        last = int(edges[-1])
        sizes = np.diff(edges)
        labels = codes[head:last]
        if len(labels) and labels.min() < 0:
            held = labels >= 0
            sizes = np.add.reduceat(held, edges[:-1] - head, dtype=np.int64)
            labels = labels[held]
        # Bounds of the hash that repeated() makes.
        run = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        again = repeated(run, labels, len(self.count))
        if again is not None:
            self.duplicates += int(again.sum())
            run, labels = run[~again], labels[~again]
            sizes = np.bincount(run, minlength=len(sizes))
        if len(sizes):
            if self._first is None:
                self._first = labels[: sizes[0]].copy()
                labels, run, sizes = labels[sizes[0] :], run[sizes[0] :] - 1, sizes[1:]
            of_run = np.zeros(len(sizes), dtype=np.int64)
            # Few rows name an identity; the others add nothing to their run's mask.
            named = np.flatnonzero(labels < len(masks))
            np.bitwise_or.at(of_run, run[named], masks[labels[named]])
            (self._by_pair if self.by_pair else self._by_pattern)(of_run, sizes, labels)
        self._open = np.zeros(0, dtype=np.int32)
        self._extend(codes[last:])

    def _by_pattern(self, of_run: Index, sizes: Index, labels: Codes) -> None:
        """Count whole runs of so many labels each under their patterns."""
        some = np.flatnonzero(of_run)
        column = self.patterns(of_run[some])
        self.records += np.bincount(column, minlength=len(self.records))
        self.records[0] += len(of_run) - len(some)
        width = self.table.shape[1]
        self.count += np.bincount(labels, minlength=len(self.count))
        of_row, own = _expanded(some, column, sizes, labels)
        if len(self.masks) > width:
            beyond = of_row >= width
            self._wait((of_row[beyond] << CELL_BITS) | own[beyond])
            of_row, own = of_row[~beyond], own[~beyond]
        # The table is larger than what a slice adds to it.
        np.add.at(self.table.ravel(), own * np.int64(width) + of_row, np.int64(1))

    def _by_pair(self, of_run: Index, sizes: Index, labels: Codes) -> None:
        """Count whole runs under their identities and pairs of them."""
        self.records[0] += len(of_run)
        self.count += np.bincount(labels, minlength=len(self.count))
        some = np.flatnonzero(of_run)
        bits = (of_run[some][:, None] >> np.arange(len(self.overlap))) & 1
        row, identity = np.nonzero(bits)
        held = bits.astype(np.float64)
        self.overlap += np.triu(held.T @ held).astype(np.int64)
        self._fit(self.overlap)
        self._tables((some[row], identity), self.single, 0, sizes, labels)
        # Pairs of identities of one run: each with the first, the second, ... after it.
        runs, columns = [row[:0]], [identity[:0]]
        for after in range(1, int(bits.sum(axis=1).max(initial=0))):
            same = np.flatnonzero(row[after:] == row[:-after])
            runs.append(some[row[same]])
            columns.append(self._pairs[identity[same], identity[same + after]] - len(self.overlap))
        self._tables((np.concatenate(runs), np.concatenate(columns)), self.shared, len(self.overlap), sizes, labels)

    def _tables(self, held: tuple[Index, Index], table: NDArray[Any], first: int, sizes: Index, labels: Codes) -> None:
        """Count the labels of runs under columns of a table, the first of which has the number ``first`` among all."""
        of_row, own = _expanded(*held, sizes, labels)
        if len(table) < len(self.count):
            beyond = own >= len(table)
            self._wait(((of_row[beyond] + first) << CELL_BITS) | own[beyond])
            of_row, own = of_row[~beyond], own[~beyond]
        np.add.at(table.ravel(), own * np.int64(table.shape[1]) + of_row, table.dtype.type(1))

    def _wait(self, cells: Index) -> None:
        self._waiting.append(cells)
        if sum(map(len, self._waiting)) > WAITING:
            self._add_up()

    def _add_up(self) -> None:
        if self._waiting:
            self._keep(np.concatenate(self._waiting))
            self._waiting = []

    def _extend(self, codes: Codes) -> None:
        """Add labels to the open run, each once."""
        codes = codes[codes >= 0]
        distinct = np.union1d(self._open, codes).astype(np.int32)
        self.duplicates += len(self._open) + len(codes) - len(distinct)
        self._open = distinct

    def _close(self, masks: Index) -> None:
        if self._first is None:
            self._first = self._open
            return
        mask = np.bitwise_or.reduce(masks[self._open[self._open < len(masks)]], initial=0)
        count = self._by_pair if self.by_pair else self._by_pattern
        count(np.array([mask], dtype=np.int64), np.array([len(self._open)]), self._open)


def _expanded(runs: Index, values: Index, sizes: Index, labels: Codes) -> tuple[Index, Codes]:
    """Each value with every label of its run: rows of values and labels."""
    ends = np.cumsum(sizes)
    many = sizes[runs]
    stops = np.cumsum(many)
    place = np.repeat((ends - sizes)[runs] - (stops - many), many)
    place += np.arange(len(place))
    return np.repeat(values, many), labels[place]


def repeated(run: NDArray[Any], labels: Codes, width: int) -> Flags | None:
    """Which rows name a label that their run has named before; None when no row does. The numbers of runs ascend.

    Some runs are looked at together, so that the work arrays stay in the cache.
    """
    cuts = np.searchsorted(run, run[_HASHED::_HASHED]).tolist()
    out: Flags | None = None
    for start, stop in pairwise([0, *cuts, len(run)]):
        again = _repeated(run[start:stop], labels[start:stop], width)
        if again is not None:
            out = np.zeros(len(run), dtype=bool) if out is None else out
            out[start:stop] = again
    return out


def _repeated(run: NDArray[Any], labels: Codes, width: int) -> Flags | None:
    """As :func:`repeated`, all runs together.

    Labels that ascend within each run settle it at a glance. Otherwise every row writes its number into a
    hash table and reads it back: a row that finds another row's number there has met either its own double or
    a stranger of the same hash, and only those few are compared, and hashed anew among themselves.
    """
    if len(run) < 2:
        return None
    # A look at the first rows mostly says that labels do not ascend.
    looked_at = (min(_GLANCE, len(run)), len(run))
    if all(((labels[1:stop] > labels[: stop - 1]) | (run[1:stop] > run[: stop - 1])).all() for stop in looked_at):
        return None
    bits = min(max(8, len(run).bit_length() + 2), 31)
    # Only places that were written are read.
    kind = np.uint16 if len(run) <= 1 << 16 else np.int32
    table = np.empty(1 << bits, dtype=kind)
    row = np.arange(len(run), dtype=kind)
    few = run.astype(np.uint32, copy=False) * _ODD_1
    few ^= labels.view(np.uint32) * _ODD_2
    few >>= np.uint32(32 - bits)
    slot = few.astype(np.intp)
    table[slot] = row
    winner = table.take(slot)
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


def longer(array: NDArray[Any], more: int) -> NDArray[Any]:
    """The array with so many zeros, or rows of zeros, at its end, which take no memory before they are used."""
    out = np.zeros((len(array) + more, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


def new_tally(kernel: str, identities: int, *, bagged: bool = False, shared_bytes: int = 0) -> Any:
    """An empty tally: compiled when numba is installed, unless ``kernel`` says ``"numpy"`` or ``"numba"``."""
    if kernel not in ("auto", "numba", "numpy"):
        raise ValueError(f"kernel is {kernel!r}; 'auto', 'numba' or 'numpy' are accepted")
    if kernel == "numba" or (kernel == "auto" and numba_installed()):
        from .long_numba import NumbaTally

        return NumbaTally(identities, bagged=bagged, shared_bytes=shared_bytes)
    return NumpyTally(identities, bagged=bagged, shared_bytes=shared_bytes)
