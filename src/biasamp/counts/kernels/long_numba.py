"""The tally of :mod:`~biasamp.counts.kernels.long_tally` as compiled loops over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..shared_counts import pair_columns
from . import long_compiled as compiled
from . import long_pairs
from .long_tally import MOST_COLUMNS, SHARED_BYTES, WAITING, Codes, Flags, Index, Tally, longer

# The number of a run has 32 bits.
_MOST_RUNS = 1 << 32
# Of the lower half of ``seen``, the bits that count: the highest one marks labels of identities.
_COUNT = np.uint64((1 << 31) - 1)
_NAMED = np.uint64(1 << 31)
# Room for patterns to begin with.
_FIRST_ROOM = 4
# Bytes that the table of patterns may take where labels are their own codes.
_MOST_OWN = 1 << 27
# Rows of records of many identities that are kept before they are counted, and the bytes of the table that allow one.
_MOST_KEPT, _BYTES_OF_KEPT = 1 << 22, 64


class NumbaTally(Tally):
    """The tally as one compiled loop over the rows.

    ``own_codes``: whether the labels so far are whole numbers that are their own codes, as :meth:`add_integers` counts
    them. :meth:`recode` ends that.
    """

    def __init__(self, identities: int, *, bagged: bool = False, shared_bytes: int = 0) -> None:
        super().__init__(identities, bagged=bagged, shared_bytes=shared_bytes)
        self.own_codes = False
        self._own_masks: Index = np.zeros(0, dtype=np.int64)
        self._rows: Index | None = None
        self._work: NDArray[np.int32] = np.zeros((2, long_pairs.AT_ONCE + 1), dtype=np.int32)
        # Every set of few identities has its row of the table from the beginning.
        self._few = not self.by_pair and not bagged and 1 << identities <= MOST_COLUMNS
        rows = 1 if self.by_pair else 1 << identities if self._few else _FIRST_ROOM
        pairs = pair_columns(identities if self.by_pair else 0)
        self._most_kept = min((shared_bytes or SHARED_BYTES) // _BYTES_OF_KEPT, _MOST_KEPT)
        none, patterns = np.zeros(0, dtype=np.int64), np.zeros(rows, dtype=np.int64)
        self._room = compiled.Room(
            slots=none,
            columns=patterns,
            seen=none.astype(np.uint64),
            buffer=none.astype(np.int32),
            first=none.astype(np.int32),
            # One row per pattern: the labels of the commonest pattern then stand close together in memory. Records are fewer
            # than 32 bits have room for.
            table=np.zeros((rows, 0), dtype=np.uint32),
            waiting=none,
            records=np.zeros_like(patterns),
            state=np.array([0, 0, 0, 1, 0, -1, 0, 0, 0], dtype=np.int64),
            kept=long_pairs.no_rows(pairs, self._most_kept),
        )
        self._hash()

    def _hash(self) -> None:
        """Make the hash table of the patterns: four places for each there is room for; -1 is free."""
        slots = np.full(4 * len(self._room.columns), -1, dtype=np.int64)
        compiled.place_patterns(slots, self._room.columns, int(self._room.state[compiled.KNOWN]))
        self._room = self._room._replace(slots=slots)

    def widen(self, labels: int) -> None:
        """Make room for labels that were not known before."""
        self._give_rows()
        room = self._room
        old = len(room.seen)
        if labels <= old:
            return
        more = max(labels, 2 * old) - old
        wider: dict[str, Any] = {name: longer(getattr(room, name), more) for name in ("seen", "buffer", "first")}
        if self.by_pair:
            self._settle_pairs()
            rows = max(min(old + more, self.shared_rows) - len(self.shared), 0)
            self.single, self.shared = longer(self.single, rows), longer(self.shared, rows)
            kept = room.kept
            if old + more > self._most_kept:
                # A record may have all labels.
                self._most_kept = old + more
                kept = long_pairs.no_rows(pair_columns(len(kept.pairs)), self._most_kept)._replace(overlap=kept.overlap)
            wider["kept"] = long_pairs.for_labels(kept, len(self.shared))
        else:
            table = np.zeros((len(room.table), old + more), dtype=np.uint32)
            table[:, :old] = room.table
            wider["table"] = table
        self._room = room._replace(**wider)

    # --- rows ------------------------------------------------------------------------------------------------

    def add(self, starts: Flags, codes: Codes, masks: Index) -> None:
        """Count rows; as :meth:`~biasamp.counts.kernels.long_tally.NumpyTally.add`."""
        self._give_rows()
        self._refuse_too_many(len(codes))
        at = 0
        while at < len(codes):
            at = compiled.add_runs(at, starts, codes, masks, self._room)
            if at < len(codes):
                self._make_room()

    def begin_own_codes(self, members: NDArray[Any], masks: Index, top: int) -> bool:
        """Prepare for rows of whole numbers below ``top`` that are their own codes; False where there is no room for it.

        ``members`` are the labels that make up identities, and ``masks`` the identities of each.
        """
        most = self.shared_rows if self.by_pair else _MOST_OWN // (4 * len(self._room.table)) if self._few else 0
        if top > most or not (self.own_codes or not self._room.state[compiled.RUNS]):
            return False
        self.own_codes = True
        # Somewhat more, since later rows may have larger ones.
        self.widen(min(1 << (top - 1).bit_length(), most))
        width = len(self._room.seen)
        if len(self._own_masks) < width:
            self._own_masks = longer(self._own_masks, width - len(self._own_masks))
            there = members < width
            self._own_masks[members[there]] = masks[there]
            self._room.seen[members[there]] |= _NAMED
        return True

    def add_integers(self, at: int, ids: Index, labels: NDArray[Any]) -> int:
        """Count rows of whole numbers from ``at`` on, as far as there is room for the labels and ids do not fall."""
        self._refuse_too_many(len(ids))
        unsigned = labels.view(f"u{labels.itemsize}")
        while True:
            stopped = int(compiled.add_integer_rows(at, ids, unsigned, self._own_masks, *self._work, self._room))
            if stopped == len(ids) or not self.by_pair or not self._room.kept.state[long_pairs.USED_ROWS]:
                return stopped
            # There may have been no room for more rows to be kept.
            self._settle_pairs()
            at = stopped

    def own_labels(self) -> Index:
        """The whole numbers that were met."""
        return np.flatnonzero(self._room.seen & ~_NAMED)

    def recode(self, values: Index, codes: Codes, width: int) -> None:
        """From now on the label ``values[i]`` has the code ``codes[i]``, which is below ``width``."""
        room, self.own_codes = self._room, False
        place = np.zeros(len(room.seen), dtype=np.int32)
        place[values] = codes
        new: dict[str, Any] = {name: place[getattr(room, name)] for name in ("buffer", "first")}
        new.update({name: longer(new[name], max(width - len(place), 0)) for name in new})
        new["seen"] = np.zeros(width, dtype=np.uint64)
        new["seen"][codes] = room.seen[values] & ~_NAMED
        if self.by_pair:
            # All of them had a row before, and keep it as long as no other labels come.
            self._rows = np.full(width, -1, dtype=np.int64)
            self._rows[codes] = values
        else:
            new["table"] = np.zeros((len(room.table), width), dtype=np.uint32)
            new["table"][:, codes] = room.table[:, values]
        self._room = room._replace(**new)

    def _give_rows(self) -> None:
        """Put the rows of labels that were their own codes where their codes say, before other labels come."""
        if self._rows is None:
            return
        self._settle_pairs()
        there, rows = self._rows >= 0, max(len(self._rows), 1)
        for name in ("single", "shared"):
            old = getattr(self, name)
            new = np.zeros((rows, old.shape[1]), dtype=old.dtype)
            new[: len(self._rows)][there] = old[self._rows[there]]
            setattr(self, name, new)
        self._room, self._rows = self._room._replace(kept=long_pairs.for_labels(self._room.kept, rows)), None

    def _settle_pairs(self) -> None:
        """Count the rows that were kept."""
        kept = self._room.kept
        if not kept.state[long_pairs.USED_ROWS]:
            return
        self._fit(kept.overlap)
        long_pairs.settle_pairs(kept, self.single, self.shared)

    def shared_places(self) -> Index:
        """The row of ``shared`` of each of the first labels."""
        return super().shared_places() if self._rows is None else self._rows

    def _refuse_too_many(self, rows: int) -> None:
        if self._room.state[compiled.RUNS] + rows >= _MOST_RUNS:
            raise ValueError(f"one part of the data has more than {_MOST_RUNS:,} records: write it as several files")

    def _make_room(self) -> None:
        """For a new pattern, or for cells of patterns without a row of the table."""
        room, patterns = self._room, len(self._room.columns)
        if not self.by_pair and room.state[compiled.KNOWN] == patterns:
            self._room = room._replace(
                columns=longer(room.columns, patterns),
                records=longer(room.records, patterns),
                table=longer(room.table, max(min(2 * patterns, MOST_COLUMNS) - len(room.table), 0)),
            )
            self._hash()
            return
        self._add_up()
        self._settle_pairs()
        size = WAITING + len(room.buffer)
        if self.by_pair:
            many = int(room.state[compiled.MASK]).bit_count()
            size = max(size, many * (many + 1) // 2 * int(room.state[compiled.HELD]))
        if len(room.waiting) < size:
            self._room = room._replace(waiting=np.zeros(size, dtype=np.int64))

    def _add_up(self) -> None:
        self._keep(self._room.waiting[: self._room.state[compiled.USED]])
        self._room.state[compiled.USED] = 0

    # --- results ---------------------------------------------------------------------------------------------

    def cut(self) -> tuple[Codes, ...]:
        """End a stretch of rows: the labels of its first and its last run, as far as there are two, which it forgets."""
        state = self._room.state
        held, first, opened = (int(state[at]) for at in (compiled.HELD, compiled.FIRST, compiled.OPEN))
        runs = ([] if first < 0 else [self._room.first[:first].copy()]) + (
            [self._room.buffer[:held].copy()] if opened else []
        )
        for run in runs:
            self._room.seen[run] -= np.uint64(1)
        state[[compiled.HELD, compiled.MASK, compiled.OPEN]] = 0
        state[compiled.FIRST] = -1
        return tuple(runs)

    @property
    def duplicates(self) -> int:
        """Rows that named a label of their run again."""
        return int(self._room.state[compiled.DUPLICATES])

    def settle(self) -> None:
        """Make what has been counted so far readable; every stretch has been cut."""
        self._add_up()
        room = self._room
        count = (room.seen & _COUNT).astype(np.int64)
        known = int(room.state[compiled.KNOWN])
        self.records = room.records[:known]
        if self.by_pair:
            self._settle_pairs()
            self.count, self.overlap = count, room.kept.overlap
            return
        self.masks = room.columns[:known].tolist()
        none = count - room.table[1:].sum(axis=0, dtype=np.int64)
        _, label, values = self.rare()
        np.subtract.at(none, label, values)
        room.table[0] = none
        self.table = room.table[: min(known, MOST_COLUMNS)].T.astype(np.int64)
