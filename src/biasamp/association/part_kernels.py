"""What workers do with a part of a table of labels. Kernels travel to other processes, so they are plain data."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from biasamp.counts.long_columns import keys_of, plain_records
from biasamp.counts.long_part import LongPart
from biasamp.counts.long_table import LongCounter, ScatteredCounter, rows_of
from biasamp.data.label_plan import Batch
from biasamp.data.wide_rows import wide_labels
from biasamp.engines import counted

Threshold = float | Mapping[str, float] | None


@dataclass(frozen=True)
class WholeSource:
    """A source that is read one batch after another, here, as one part."""

    name: str
    read: Any
    number: int = 0
    rows: int | None = None

    def batches(self, rows: int) -> Iterator[Batch]:
        """The batches, in the size that they come in."""
        yield from self.read()


@dataclass(frozen=True)
class CountLabels:
    """Counts a part whose records' rows stand together.

    Parameters
    ----------
    shape : {"long", "lists", "wide"}
        ``"long"`` for all that says which record a row belongs to.
    members : sequence of sequence of str
        The labels of each identity.
    keep_keys : bool
        As in :class:`~biasamp.counts.long_table.LongCounter`.
    rows : int
        Rows of a batch.
    """

    shape: str
    members: Sequence[Sequence[str]]
    threshold: Threshold
    kernel: str
    rows: int
    keep_keys: bool = False
    # What a thread has learnt from its last part: the codes of labels.
    known: threading.local = field(default_factory=threading.local, init=False, compare=False, repr=False)

    def __reduce__(self) -> Any:
        given = (self.shape, self.members, self.threshold, self.kernel, self.rows, self.keep_keys)
        return CountLabels, given

    def __call__(self, part: Any) -> LongPart:
        """The counts of a part."""
        threshold = self.threshold if self.shape == "long" else None
        codes = getattr(self.known, "codes", None)
        counter = LongCounter(
            self.members, threshold=threshold, kernel=self.kernel, keep_keys=self.keep_keys, codes=codes
        )
        self.known.codes = counter.codes
        for batch in part.batches(self.rows):
            before = counter.rows
            if self.shape == "long":
                _refuse_no_score(batch, self.threshold)
                counter.add(batch.record, batch.label, batch.score)
            else:
                add_whole(counter, batch, self.shape, self.threshold)
            counted(part, counter.rows - before)
        return counter.part(part.number)


@dataclass(frozen=True)
class SpreadLabels:
    """Gives the rows of a part a key each, by which those of one record find each other."""

    threshold: Threshold
    rows: int

    def __call__(self, part: Any) -> Iterator[Any]:
        """Batches of key, label and, where there is a threshold, score."""
        import pyarrow as pa

        for batch in part.batches(self.rows):
            _refuse_no_score(batch, self.threshold)
            label = batch.label
            if pa.types.is_dictionary(label.type):
                # Codes mean nothing beyond their batch.
                label = label.cast(label.type.value_type)
            columns = {"key": pa.array(keys_of(plain_records(batch.record)).view(np.int64)), "label": label}
            if self.threshold is not None:
                columns["score"] = batch.score
            yield pa.record_batch(columns)
            counted(part, len(label))


@dataclass(frozen=True)
class CountSpread:
    """Counts rows in any order, when all rows of their records are there."""

    members: Sequence[Sequence[str]]
    threshold: Threshold
    kernel: str

    def __call__(self, batches: Iterable[Any]) -> LongPart:
        """The counts of the batches that :class:`SpreadLabels` gave."""
        counter = ScatteredCounter(self.members, threshold=self.threshold, kernel=self.kernel)
        for batch in batches:
            keys = batch.column(0).to_numpy(zero_copy_only=False).astype(np.int64, copy=False).view(np.uint64)
            counter.add_keys(keys, batch.column(1), batch.column(2) if batch.num_columns > 2 else None)
        return counter.part()


def _refuse_no_score(batch: Batch, threshold: Threshold) -> None:
    if threshold is not None and batch.score is None:
        raise ValueError("threshold= needs score=: name the column that holds the scores")


def add_whole(counter: LongCounter, batch: Batch, shape: str, threshold: Threshold) -> None:
    """Count a batch whose rows are whole records."""
    import pyarrow as pa

    if shape == "lists":
        if batch.score is not None:
            raise ValueError("score= is not read beside lists of labels without record=")
        if threshold is not None:
            raise ValueError("threshold= needs score=: lists of labels carry no scores")
        counter.add_lists(batch.label)
        return
    keys, sizes, columns = wide_labels(batch.label, threshold)
    codes = counter.codes.encode(pa.array(keys, type=pa.string()))
    starts, rows = rows_of(sizes, codes[columns])
    counter.add_rows(starts, rows)
