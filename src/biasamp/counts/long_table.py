"""Association counts of long tables: rows of (record, label[, score]), in Arrow batches.

Batches are counted as they come, in one pass, and memory holds one batch and the counts. Rows of one record
must stand together for that; whether they do is found out on the way (see
:class:`~biasamp.counts.long_columns.RecordRuns`). A part of a table gives a
:class:`~biasamp.counts.long_part.LongPart`, whose first and last record may continue in its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.data.arrow_numbers import arrow_of, is_number, numpy_of
from biasamp.data.keys import record_keys

from .association_counts import AssociationCounts, from_pairs, from_patterns
from .kernels.long_tally import Index, NumpyTally, new_tally
from .known_records import KnownRecords
from .label_bags import BAG_LABELS, BAG_SHIFT, label_bags_of
from .long_columns import TABLE, Keys, LabelCodes, RecordRuns, keys_of, plain_records
from .long_part import Edge, Labels, LongPart, Scattered
from .shared_counts import SharedTable

Codes = NDArray[np.int32]

# A record's identities are the bits of one whole number.
MOST_IDENTITIES = 63
# Rows in any order are sorted in so many shares, by the last bits of their record's key, to spare memory.
_SHARES = 8
_SORTED_AT_ONCE = 1 << 18


class Pairing(NamedTuple):
    """What is kept of records' ids: which they are, and in which bag each is counted; bags need ids."""

    ids: bool = False
    bags: bool = False


UNPAIRED = Pairing()


def label_codes(members: Sequence[Sequence[str]], pairing: Pairing, kernel: str) -> LabelCodes:
    """Codes for the labels of a table, of which the identities' and the bags' come first."""
    reserved = [label for group in members for label in group]
    return LabelCodes([*reserved, *(BAG_LABELS if pairing.bags else ())], compiled=kernel == "numba")


class _Counter:
    """What counters of long tables share: the tally, the codes of labels, and what makes up identities."""

    def __init__(
        self,
        members: Sequence[Sequence[str]],
        threshold: float | Mapping[str, float] | None,
        kernel: str,
        pairing: Pairing,
        codes: LabelCodes | None = None,
        shared_bytes: int = 0,
    ) -> None:
        self.members = members
        self.pairing = pairing
        _refuse_many(len(members), pairing.bags)
        self.tally = new_tally(kernel, len(members), bagged=pairing.bags, shared_bytes=shared_bytes)
        self.compiled = not isinstance(self.tally, NumpyTally)
        self.codes = label_codes(members, pairing, "numba" if self.compiled else "numpy") if codes is None else codes
        self.masks = _masks(members, self.codes.places, pairing.bags)
        self.known: KnownRecords | None = KnownRecords.of(_joined([], np.uint64)) if pairing.ids else None
        self._heads: list[Keys] = []
        self.threshold = _Threshold(threshold, self.codes)

    def _counts(self) -> AssociationCounts:
        """The counts of all runs but those that were cut off."""
        tally, names = self.tally, list(self.codes.labels)
        tally.settle()
        rare = tally.rare()
        if tally.by_pair:
            rows = np.full(len(names), -1, dtype=np.int64)
            place = tally.shared_places()
            rows[: len(place)] = place[: len(names)]
            table = SharedTable(len(self.members), tally.shared, rows)
            count = _as_long(tally.count, len(names))
            return from_pairs(names, self.members, int(tally.records[0]), count, tally.overlap, table, rare)
        return from_patterns(
            names,
            [str(k) for k in range(len(self.members))],
            self.members,
            np.array(tally.masks, dtype=np.int64),
            np.asarray(tally.records),
            _as_long(tally.table, len(names)),
            rare,
            self.pairing.bags,
        )

    def _cut(self) -> tuple[Labels, ...]:
        """The labels of the first and the last run of a stretch, as far as there are two, which the tally forgets."""
        names = self.codes.labels
        return tuple(tuple(names[code] for code in run.tolist()) for run in self.tally.cut())

    def _with_bags(self, starts: NDArray[np.bool_], codes: Codes, heads: Keys) -> tuple[NDArray[np.bool_], Codes]:
        """The rows, with one more where each run begins that says the bag of its record; ``heads`` has their keys."""
        self._heads.append(heads)
        if not self.pairing.bags:
            return starts, codes
        at = np.flatnonzero(starts)
        longer = np.zeros(len(codes) + len(at), dtype=bool)
        longer[at + np.arange(len(at))] = True
        said = self.codes.places[BAG_LABELS[0]] + label_bags_of(heads)
        return longer, np.insert(codes, at, said.astype(np.int32))

    def _settle_heads(self) -> None:
        """Add the records met since to those that are known."""
        if self.known is not None and self._heads:
            self.known = self.known + KnownRecords.of(_joined(self._heads, np.uint64))
        self._heads = []


class LongCounter(_Counter):
    """Counts Arrow batches of a long table, one stretch of its rows after another.

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
        out of order raises :class:`~biasamp.counts.long_columns.Unordered`.
    codes : LabelCodes, optional
        Those of another counter of the same identities and pairing, which need not be found again.
    pairing : Pairing
        What is kept of the records' ids.
    shared_bytes : int
        Bytes for the table of labels and pairs of many identities; 0 for the usual.

    Examples
    --------
    >>> import pyarrow as pa
    >>> counter = LongCounter([["man"], ["woman"]])
    >>> counter.add(pa.array([1, 1, 2, 2]), pa.array(["man", "bike", "woman", "bike"]))
    >>> counts = counter.part().finished(["man", "woman"], [["man"], ["woman"]])
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
        codes: LabelCodes | None = None,
        pairing: Pairing = UNPAIRED,
        shared_bytes: int = 0,
    ) -> None:
        super().__init__(members, threshold, kernel, pairing, codes, shared_bytes)
        self.keep_keys = keep_keys
        self.rows = 0
        self._edges: list[Edge] = []
        self._closed: list[Labels] = []
        # The identities' labels that are whole numbers, and the identities of each.
        spelled = [label for label in self.codes.labels[: len(self.masks)] if label.isdecimal() and len(label) < 8]
        held = [label for label in spelled if str(int(label)) == label and int(label) < TABLE]
        self._own = np.array([int(label) for label in held], dtype=np.int64)
        self._own_masks = self.masks[[self.codes.places[label] for label in held]]
        self._begin()

    def _begin(self) -> None:
        """Begin a stretch of rows."""
        self.runs = RecordRuns(keep_keys=self.keep_keys, compiled=self.compiled)
        # Until some rows are of another kind.
        self._in_one_go = True

    def add(self, record: Any, label: Any, score: Any = None) -> None:
        """Count one batch: Arrow arrays of equal length. A null label is a record without a label here."""
        if self._in_one_go and len(record):
            at = self._integers(record, label, score)
            self._in_one_go = at == len(record)
            record, label, score = (None if column is None else column[at:] for column in (record, label, score))
        if not len(record):
            return
        self._give_codes()
        starts = self.runs.starts(record)
        if self.runs.scattered():
            raise Scattered
        codes = self._codes(label, score)
        self.rows += len(codes)
        if self.pairing.ids:
            heads = keys_of(plain_records(record).filter(arrow_of(starts)))
            starts, codes = self._with_bags(starts, codes, heads)
        self.tally.add(starts, codes, self.masks)

    def _integers(self, record: Any, label: Any, score: Any) -> int:
        """Count rows of whole numbers in one go as far as that is possible; how many were."""
        import pyarrow as pa

        plain = all(pa.types.is_integer(column.type) and not column.null_count for column in (record, label))
        scored = score is not None and self.threshold.given
        # Ids beyond 63 bits, and rows of which something else must be known, go the longer way.
        longer = scored or self.keep_keys or self.pairing.bags or pa.types.is_uint64(record.type)
        if longer or not (plain and self.compiled):
            return 0
        ids, labels = numpy_of(record), numpy_of(label)
        at, top = 0, 0
        while at < len(ids):
            # Room for the labels of this batch and, since more will come, for some more.
            top = max(top, int(labels[at:].max()) + 1)
            if not 0 < top <= TABLE or not self.tally.begin_own_codes(self._own, self._own_masks, top):
                break
            stopped = self.tally.add_integers(at, ids, labels)
            if stopped == at or stopped == len(ids):
                at = stopped
                break
            at = stopped
        if at:
            if self.pairing.ids:
                changed = np.concatenate([[ids[0] != self.runs.last], ids[1:at] != ids[: at - 1]])
                self._heads.append(record_keys(ids[:at][changed]))
            self.runs.first = int(ids[0]) if self.runs.first is None else self.runs.first
            self.runs.last = int(ids[at - 1])
            self.rows += at
        return at

    def _give_codes(self) -> None:
        """Whole numbers that were their own codes get those of all labels."""
        if self.compiled and self.tally.own_codes:
            values = self.tally.own_labels()
            self.codes.learn(values)
            self.tally.recode(values, self.codes.lookup[values], len(self.codes))

    def add_lists(self, labels: Any) -> None:
        """Count one batch of lists of labels, one list per record."""
        self.add_rows(*flatten(labels, self.codes))

    def add_rows(self, starts: NDArray[np.bool_], codes: Codes) -> None:
        """Count rows of whole records, whose codes are those of ``self.codes``."""
        self._give_codes()
        self._widen()
        self.tally.add(starts, codes, self.masks)
        self.rows += int((codes >= 0).sum())

    def _codes(self, label: Any, score: Any) -> Codes:
        codes = self.threshold.apply(self.codes.encode(label), score)
        self._widen()
        return codes

    def _widen(self) -> None:
        self.tally.widen(len(self.codes))

    def end(self, number: int = 0) -> None:
        """End a stretch of rows; raises :class:`Scattered` when rows of a record do not stand together.

        Parameters
        ----------
        number : int
            The place of the part among all.
        """
        runs = self.runs
        if runs.scattered(final=True):
            raise Scattered
        self._settle_heads()
        ends = self._cut()
        if runs.first is None:
            # No rows at all, or rows of whole records, the first and the last of which go on nowhere.
            self._closed.extend(ends)
            self._edges.append(Edge(number, number + 1, keys=runs.keys))
        else:
            spans = ((runs.first, runs.last),) if runs.ordered else None
            first = ends[0] if len(ends) > 1 else None
            self._edges.append(Edge(number, number + 1, first, ends[-1], runs.first, runs.last, spans, runs.keys))
        self._begin()

    def _cut(self) -> tuple[Labels, ...]:
        if self.compiled and self.tally.own_codes:
            return tuple(tuple(map(str, run.tolist())) for run in self.tally.cut())
        return super()._cut()

    def counted(self) -> LongPart:
        """What has been counted of the stretches that have ended."""
        self._give_codes()
        read = (self.rows, self.tally.duplicates, self.threshold.below, self.known)
        return LongPart(self._counts(), tuple(self._edges), tuple(self._closed), *read).contracted()

    def part(self, number: int = 0) -> LongPart:
        """What has been counted, as one stretch that is the part of that number."""
        self.end(number)
        return self.counted()


class ScatteredCounter(_Counter):
    """Counts rows in any order: all are kept, as 12 bytes each, and sorted. Records are known by 64-bit keys.

    Parameters as in :class:`LongCounter`.
    """

    def __init__(
        self,
        members: Sequence[Sequence[str]],
        *,
        threshold: float | Mapping[str, float] | None = None,
        kernel: str = "auto",
        pairing: Pairing = UNPAIRED,
        codes: LabelCodes | None = None,
        shared_bytes: int = 0,
    ) -> None:
        super().__init__(members, threshold, kernel, pairing, codes, shared_bytes)
        self.rows = 0
        self._records: list[Keys] = []
        self._labels: list[Codes] = []

    def add(self, record: Any, label: Any, score: Any = None) -> None:
        """Keep one batch; as :meth:`LongCounter.add`."""
        self.add_keys(keys_of(plain_records(record)), label, score)

    def add_keys(self, keys: Keys, label: Any, score: Any = None) -> None:
        """Keep one batch of rows whose records are given by their keys."""
        self.add_codes(keys, self.codes.encode(label), score)

    def add_codes(self, keys: Keys, codes: Codes, score: Any = None) -> None:
        """Keep one batch of rows whose records are given by their keys and labels by their codes."""
        if len(keys):
            self._records.append(keys)
            self._labels.append(self.threshold.apply(codes, score))

    def part(self) -> LongPart:
        """Sort and count, one share of the records after another."""
        self.count()
        return self.counted()

    def count(self) -> None:
        """Count the rows that were kept, and keep none of them."""
        tally = self.tally
        tally.widen(len(self.codes))
        many = _SHARES if sum(map(len, self._records)) > _SORTED_AT_ONCE else 1
        for share in range(many):
            if many == 1:
                keys, codes = _joined(self._records, np.uint64), _joined(self._labels, np.int32)
            else:
                mine = [keys & np.uint64(many - 1) == share for keys in self._records]
                keys = _joined([part[own] for part, own in zip(self._records, mine, strict=True)], np.uint64)
                codes = _joined([part[own] for part, own in zip(self._labels, mine, strict=True)], np.int32)
            starts, codes, heads = _grouped(keys, codes, self.compiled)
            self.rows += len(keys)
            if self.pairing.ids:
                starts, codes = self._with_bags(starts, codes, heads)
            tally.add(starts, codes, self.masks)
        self._records, self._labels = [], []
        self._settle_heads()

    def counted(self) -> LongPart:
        """What has been counted."""
        ends = self._cut()
        return LongPart(self._counts(), (), ends, self.rows, self.tally.duplicates, self.threshold.below, self.known)


def _grouped(keys: Keys, codes: Codes, compiled: bool) -> tuple[NDArray[np.bool_], Codes, Keys]:
    """Codes with those of one key together: where each key begins, the codes, and the keys."""
    starts = np.zeros(len(keys), dtype=bool)
    if compiled:
        from .kernels.long_compiled import bring_together

        slots = np.full(1 << (2 * len(keys) + 1).bit_length(), -1, dtype=np.int32)
        heads, out = np.empty_like(keys), np.empty_like(codes)
        run, place = (np.empty(len(keys), dtype=np.int32) for _ in range(2))
        many = bring_together(keys, codes, slots, heads, run, place, starts, out)
        return starts, out, heads[:many]
    order = _together(keys)
    keys = keys[order]
    starts[:1] = True
    starts[1:] = keys[1:] != keys[:-1]
    return starts, codes[order], keys[starts]


def _together(keys: Keys) -> Index:
    """An order of rows that brings equal keys together.

    The lowest bits of a key with the number of its row below them are sorted as one whole number, several times quicker
    than the order of the keys themselves is found. Where different keys have these bits in common that is done after all.
    """
    bits = max(1, len(keys).bit_length())
    packed = np.sort((keys << np.uint64(bits)) | np.arange(len(keys), dtype=np.uint64))
    order = (packed & np.uint64((1 << bits) - 1)).astype(np.int64)
    same = packed[1:] >> np.uint64(bits) == packed[:-1] >> np.uint64(bits)
    found = keys[order]
    return np.argsort(keys) if (same & (found[1:] != found[:-1])).any() else order


def _joined(parts: list[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)


def _as_long(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The first rows of an array, or with rows of zeros at its end."""
    if len(array) >= length:
        return array[:length]
    out = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


def _refuse_many(many: int, bags: bool) -> None:
    most = BAG_SHIFT if bags else MOST_IDENTITIES
    if not 1 <= many <= most:
        why = " where runs are to be paired" if bags else ""
        raise ValueError(f"identities names {many}; 1 to {most} identities are counted{why}")


def _masks(members: Sequence[Sequence[str]], codes: Mapping[str, int], bags: bool) -> Index:
    """The bits that each label adds to its record's pattern: of the identities it makes up, or of the bag it says."""
    own = {label for group in members for label in group}
    masks = np.zeros(len(own) + (len(BAG_LABELS) if bags else 0), dtype=np.int64)
    for bit, group in enumerate(members):
        for label in group:
            masks[codes[label]] |= 1 << bit
    for bag, label in enumerate(BAG_LABELS if bags else ()):
        masks[codes[label]] = bag << BAG_SHIFT
    return masks


def flatten(lists: Any, codes: LabelCodes) -> tuple[NDArray[np.bool_], Codes]:
    """Lists of labels as rows: where each list begins, and the label codes, -1 for an empty list."""
    import pyarrow.compute as pc

    sizes = numpy_of(pc.list_value_length(lists), 0).astype(np.int64)
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
        self.given = threshold is not None
        self._threshold = threshold
        self._codes = codes
        self._of_label = np.zeros(0)

    def apply(self, codes: Codes, score: Any) -> Codes:
        if self._threshold is None or score is None:
            return codes
        if not is_number(score.type):
            raise TypeError(f"the score column holds {score.type} values; numbers are needed")
        values = numpy_of(score.cast("float64") if score.null_count else score, np.nan)
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
