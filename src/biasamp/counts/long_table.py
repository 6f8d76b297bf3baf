"""Association counts of long tables: rows of (record, label[, score]), in Arrow batches.

Batches are counted as they come, in one pass, and memory holds one batch and the counts. Rows of one record
must stand together for that; whether they do is found out on the way (see
:class:`~biasamp.counts.record_runs.RecordRuns`). A part of a table gives a :class:`LongPart`, whose first and
last record may continue in its neighbours; :func:`join` puts parts together in order, so an engine may count
the parts wherever it likes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .association import AssociationCounts, from_patterns
from .label_codes import LabelCodes
from .long_kernels import Index, NumpyTally, new_tally
from .record_runs import Keys, RecordRuns, Unordered, has_repeats, keys_of, plain_records

Codes = NDArray[np.int32]

# A record's identities are the bits of one index into a table.
MOST_IDENTITIES = 16
# Rows in any order are sorted in so many shares, by the first bits of their record's key, to spare memory.
_SHARES = 8
_SHARE_SHIFT = np.uint64(64 - 3)


__all__ = ["LongCounter", "LongPart", "Scattered", "ScatteredCounter", "Unordered", "join"]


class Scattered(Exception):
    """The rows of some record do not stand together: count with :class:`ScatteredCounter` instead."""


@dataclass(frozen=True, eq=False)
class LongPart:
    """Counts of a stretch of a long table, with its first and last record still open.

    ``first_record`` and ``last_record`` are None where the rows were whole records, none of which goes on in
    another part.
    """

    labels: tuple[str, ...]
    masks: tuple[int, ...]
    records: Index
    table: Index
    runs: int
    first: Codes | None
    last: Codes
    first_record: Any
    last_record: Any
    ordered: bool
    keys: Keys | None
    rows: int
    duplicates: int
    below: int


class LongCounter:
    """Counts Arrow batches of one stretch of a long table.

    Parameters
    ----------
    members : sequence of sequence of str
        The labels of each identity.
    threshold : float, mapping or None
        Rows with a lower score are left out; a mapping gives each label its own, and labels it does not
        name keep all their rows.
    kernel : {"auto", "numba", "numpy"}
        ``"auto"`` uses numba when it is installed.
    keep_keys : bool
        Whether records may come in any order as long as the rows of each stand together. Without it, a record
        out of order raises :class:`~biasamp.counts.record_runs.Unordered`.

    Examples
    --------
    >>> import pyarrow as pa
    >>> counter = LongCounter([["man"], ["woman"]])
    >>> counter.add(pa.array([1, 1, 2, 2]), pa.array(["man", "bike", "woman", "bike"]))
    >>> counts = join([counter.part()], ["man", "woman"], [["man"], ["woman"]])
    >>> counts.n, counts.identity_joint[counts.labels.index("bike")].tolist()
    (2, [1, 1])
    """

    def __init__(
        self,
        members: Sequence[Sequence[str]],
        *,
        threshold: float | Mapping[str, float] | None = None,
        kernel: str = "auto",
        keep_keys: bool = False,
    ) -> None:
        self.tally = new_tally(len(members), kernel)
        self.codes = _codes_for(members, self.tally)
        self.masks = _member_masks(members, self.codes.places)
        self.runs = RecordRuns(keep_keys=keep_keys, compiled=not isinstance(self.tally, NumpyTally))
        self.threshold = _Threshold(threshold, self.codes)
        self.rows = 0

    def add(self, record: Any, label: Any, score: Any = None) -> None:
        """Count one batch: Arrow arrays of equal length. A null label is a record without a label here."""
        if not len(record):
            return
        starts = self.runs.starts(record)
        if self.runs.scattered():
            raise Scattered
        codes = self._codes(label, score)
        self.tally.add(starts, codes, self.masks)
        self.rows += len(codes)

    def add_lists(self, labels: Any) -> None:
        """Count one batch of lists of labels, one list a record."""
        self.add_rows(*flatten(labels, self.codes))

    def add_rows(self, starts: NDArray[np.bool_], codes: Codes) -> None:
        """Count rows of whole records, whose codes are those of ``self.codes``."""
        self._widen()
        self.tally.add(starts, codes, self.masks)
        self.rows += int((codes >= 0).sum())

    def _codes(self, label: Any, score: Any) -> Codes:
        codes = self.threshold.apply(self.codes.encode(label), score)
        self._widen()
        return codes

    def _widen(self) -> None:
        self.tally.widen(len(self.codes))

    def part(self) -> LongPart:
        """What has been counted; raises :class:`Scattered` when rows of a record do not stand together."""
        if self.runs.scattered(final=True):
            raise Scattered
        tally = self.tally
        width = len(self.codes)
        table = np.zeros((width, len(tally.masks)), dtype=np.int64)
        table[: len(tally.table)] = tally.table[:width]
        return LongPart(
            tuple(self.codes.labels),
            tuple(tally.masks),
            np.array(tally.records),
            table,
            tally.runs,
            None if tally.first is None else np.array(tally.first),
            np.array(tally.open),
            self.runs.first,
            self.runs.last,
            self.runs.ordered,
            self.runs.keys,
            self.rows,
            tally.duplicates,
            self.threshold.below,
        )


class ScatteredCounter:
    """Counts a long table whose rows come in any order: all rows are kept, as 12 bytes each, and sorted.

    Records are told apart by 64-bit keys.
    """

    def __init__(
        self,
        members: Sequence[Sequence[str]],
        *,
        threshold: float | Mapping[str, float] | None = None,
        kernel: str = "auto",
    ) -> None:
        self.tally = new_tally(len(members), kernel)
        self.codes = _codes_for(members, self.tally)
        self.members = members
        self.threshold = _Threshold(threshold, self.codes)
        self._records: list[Keys] = []
        self._labels: list[Codes] = []

    def add(self, record: Any, label: Any, score: Any = None) -> None:
        """Keep one batch; as :meth:`LongCounter.add`."""
        if len(record):
            self._records.append(keys_of(plain_records(record)))
            self._labels.append(self.threshold.apply(self.codes.encode(label), score))

    def part(self) -> LongPart:
        """Sort and count, one share of the records after another."""
        tally = self.tally
        tally.widen(len(self.codes))
        masks = _member_masks(self.members, self.codes.places)
        rows = 0
        for share in range(_SHARES):
            mine = [keys >> _SHARE_SHIFT == share for keys in self._records]
            keys = _joined([part[own] for part, own in zip(self._records, mine, strict=True)], np.uint64)
            codes = _joined([part[own] for part, own in zip(self._labels, mine, strict=True)], np.int32)
            order = np.argsort(keys)
            keys, codes = keys[order], codes[order]
            starts = np.empty(len(keys), dtype=bool)
            starts[:1] = True
            starts[1:] = keys[1:] != keys[:-1]
            tally.add(starts, codes, masks)
            rows += len(keys)
        table = np.zeros((len(self.codes), len(tally.masks)), dtype=np.int64)
        table[: len(tally.table)] = tally.table[: len(self.codes)]
        return LongPart(
            tuple(self.codes.labels),
            tuple(tally.masks),
            np.array(tally.records),
            table,
            tally.runs,
            None if tally.first is None else np.array(tally.first),
            np.array(tally.open),
            None,
            None,
            True,
            None,
            rows,
            tally.duplicates,
            self.threshold.below,
        )


def _joined(parts: list[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)


def join(
    parts: Sequence[LongPart],
    identities: Sequence[str],
    members: Sequence[Sequence[str]],
    names: Mapping[str, str] | None = None,
) -> AssociationCounts:
    """Put parts together in their order; a record that two neighbours share is counted once.

    Raises :class:`Scattered` when a record occurs in parts that are not neighbours.
    """
    parts = [part for part in parts if part.runs]
    if len(parts) > 1 and _scattered(parts):
        raise Scattered
    tally = NumpyTally(len(members))
    labels, targets = _united(parts, members)
    codes = {label: code for code, label in enumerate(labels[: sum(map(len, members))])}
    masks = _member_masks(members, codes)
    tally.widen(len(labels))
    open_record, held = None, None
    for part, target in zip(parts, targets, strict=True):
        fragments = [(part.last_record, target[part.last])]
        if part.first is not None:
            fragments.insert(0, (part.first_record, target[part.first]))
        for record, own in fragments:
            if held is not None and record is not None and record == open_record:
                held = np.union1d(held, own).astype(np.int32)
                continue
            if held is not None:
                tally.count_run(held, masks)
            open_record, held = record, own
        columns = tally.patterns(np.array(part.masks, dtype=np.int64))
        tally.records[columns] += part.records
        for column, place in enumerate(columns.tolist()):
            tally.table[target, place] += part.table[:, column]
    if held is not None:
        tally.count_run(held, masks)
    there = np.flatnonzero(tally.table[: len(labels)].sum(axis=1))
    keys = [labels[i] for i in there.tolist()]
    shown = keys if names is None else [names.get(key, key) for key in keys]
    return from_patterns(
        keys,
        identities,
        members,
        np.array(tally.masks, dtype=np.int64),
        tally.records,
        tally.table[there],
        shown,
    ).sorted()


def _united(parts: Sequence[LongPart], members: Sequence[Sequence[str]]) -> tuple[Sequence[str], list[Codes]]:
    """The labels of all parts, those of identities first, and for each part the place of its own among them."""
    if len(parts) == 1:
        return parts[0].labels, [np.arange(len(parts[0].labels), dtype=np.int32)]
    place = {label: code for code, label in enumerate(dict.fromkeys(x for group in members for x in group))}
    targets = [
        np.array([place.setdefault(label, len(place)) for label in part.labels], dtype=np.int32) for part in parts
    ]
    return list(place), targets


def _scattered(parts: Sequence[LongPart]) -> bool:
    """Whether a record may occur in parts that are not neighbours."""
    parts = [part for part in parts if part.first_record is not None]
    if all(part.ordered for part in parts):
        spans = sorted((part.first_record, part.last_record) for part in parts)
        if spans == [(part.first_record, part.last_record) for part in parts]:
            return any(a[1] > b[0] for a, b in pairwise(spans))
        if all(a[1] < b[0] for a, b in pairwise(spans)):
            return False
    keys: list[Keys] = []
    previous = None
    for part in parts:
        if part.keys is None:
            return True
        # A run that goes on in the next part is one run.
        keys.append(part.keys[1:] if previous is not None and previous == part.first_record else part.keys)
        previous = part.last_record
    return has_repeats(np.concatenate(keys))


def _codes_for(members: Sequence[Sequence[str]], tally: Any) -> LabelCodes:
    return LabelCodes([label for group in members for label in group], compiled=not isinstance(tally, NumpyTally))


def _member_masks(members: Sequence[Sequence[str]], codes: Mapping[str, int]) -> Index:
    if not 1 <= len(members) <= MOST_IDENTITIES:
        raise ValueError(f"identities names {len(members)}; 1 to {MOST_IDENTITIES} identities are counted")
    masks = np.zeros(len({label for group in members for label in group}), dtype=np.int64)
    for bit, group in enumerate(members):
        for label in group:
            masks[codes[label]] |= 1 << bit
    return masks


def flatten(lists: Any, codes: LabelCodes) -> tuple[NDArray[np.bool_], Codes]:
    """Lists of labels as rows: where each list begins, and the label codes, -1 for an empty list."""
    import pyarrow.compute as pc

    sizes = pc.list_value_length(lists).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    inner = codes.encode(lists.flatten())
    return rows_of(sizes, inner)


def rows_of(sizes: Index, inner: Codes) -> tuple[NDArray[np.bool_], Codes]:
    """Rows of records that have ``sizes`` labels each: a record without any still is a row."""
    room = np.maximum(sizes, 1)
    begin = np.cumsum(room) - room
    starts = np.zeros(int(room.sum()), dtype=bool)
    starts[begin] = True
    out = np.full(len(starts), -1, dtype=np.int32)
    full = np.ones(len(starts), dtype=bool)
    full[begin[sizes == 0]] = False
    out[full] = inner
    return starts, out


class _Threshold:
    """Which rows score high enough."""

    def __init__(self, threshold: float | Mapping[str, float] | None, codes: LabelCodes) -> None:
        self.below = 0
        self._threshold = threshold
        self._codes = codes
        self._of_label = np.zeros(0)

    def apply(self, codes: Codes, score: Any) -> Codes:
        if self._threshold is None or score is None:
            return codes
        values = score.to_numpy(zero_copy_only=False)
        if values.dtype.kind not in "iufb":
            raise TypeError(f"the score column holds {score.type} values; numbers are needed")
        if isinstance(self._threshold, Mapping):
            known = len(self._of_label)
            if len(self._codes) > known:
                more = [self._threshold.get(label, -np.inf) for label in self._codes.labels[known:]]
                self._of_label = np.concatenate([self._of_label, np.array(more, dtype=np.float64)])
            least = np.where(codes >= 0, self._of_label[codes], -np.inf)
            # A label without a threshold of its own keeps its rows, those without a score too.
            low = ~(values >= least) & (least > -np.inf)
        else:
            low = ~(values >= self._threshold)
        low &= codes >= 0
        self.below += int(low.sum())
        return np.where(low, np.int32(-1), codes) if low.any() else codes
