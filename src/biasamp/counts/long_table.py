"""Association counts of long tables: rows of (record, label[, score]), in Arrow batches.

Batches are counted as they come, in one pass, and memory holds one batch and the counts. Rows of one record
must stand together for that; whether they do is found out on the way (see
:class:`~biasamp.counts.long_columns.RecordRuns`). A part of a table gives a
:class:`~biasamp.counts.long_part.LongPart`, whose first and last record may continue in its neighbours.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data.arrow_numbers import arrow_of, numpy_of
from biasamp.data.keys import record_keys

from .kernels.long_tally import Index
from .label_counter import UNPAIRED, Codes, Counter, Pairing
from .long_columns import TABLE, LabelCodes, RecordRuns, keys_of, plain_records
from .long_part import Edge, Labels, LongPart, Scattered

# Rows that have arrays of codes at a time, whatever is added at once.
_ROWS = 1 << 17


class LongCounter(Counter):
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
        whole = self.codes.whole_numbers
        self._own = np.array(list(whole), dtype=np.int64)
        self._own_masks = self.masks[list(whole.values())]
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
        for start in range(0, len(record), _ROWS):
            columns = (record, label, score)
            self._add_coded(*(None if column is None else column[start : start + _ROWS] for column in columns))

    def _add_coded(self, record: Any, label: Any, score: Any) -> None:
        """Count rows whose labels are given codes."""
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
        at, begun = 0, self.tally.own_codes
        while at < len(ids):
            if not begun:
                # Room for the labels of this batch and, since more will come, for some more.
                top = int(labels[at:].max()) + 1
                if not 0 < top <= TABLE or not self.tally.begin_own_codes(self._own, self._own_masks, top):
                    break
            stopped = self.tally.add_integers(at, ids, labels)
            if stopped == at and not begun:
                # What is wrong with that row is not its label.
                break
            # Where labels were in the way, those of the rows that are left are looked at.
            at, begun = stopped, False
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
