"""From a source of label sets to association counts, whatever the order of its rows.

What workers do with a part of a table travels to other processes, so kernels are plain data.
"""

from __future__ import annotations

import operator
import time
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

import numpy as np

from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.kernels.long_tally import SHARED_BYTES, kernel_for
from biasamp.counts.label_counter import UNPAIRED, Pairing, label_codes
from biasamp.counts.long_columns import LabelCodes, Unordered, keys_of, plain_records
from biasamp.counts.long_part import LongPart, Scattered
from biasamp.counts.long_table import LongCounter, rows_of
from biasamp.counts.scattered_table import ScatteredCounter
from biasamp.data import printable
from biasamp.data.arrow_numbers import arrow_of, arrow_text, numpy_of
from biasamp.data.label_source import Batch, LabelSource, wide_labels
from biasamp.data.plain_arguments import categories_of
from biasamp.engines import Engine, counted
from biasamp.engines.engine import fold, total_rows
from biasamp.engines.local import LocalEngine

# A record's key, and its copy when keys are sorted.
_KEY_BYTES = 16
# The part of a thread's memory that its table of labels and pairs of identities may take; what waits to be counted there
# has its room beside it.
_SHARE = 4
# Whole numbers take little room and are mostly counted as they are read: their batches are so many times larger.
_MORE_ROWS = 8
# Rows that are counted before counts are taken: the numbers of a tally have 31 bits.
_MOST_ROWS = 1 << 30
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

    ``shape`` is "long" for all that says which record a row belongs to, else "lists" or "wide"; ``members`` are the
    labels of each identity, ``rows`` those of a batch, ``pairing``, ``keep_keys`` and ``shared_bytes`` as in
    :class:`~biasamp.counts.long_table.LongCounter`.
    """

    shape: str
    members: Sequence[Sequence[str]]
    threshold: Threshold
    kernel: str
    rows: int
    keep_keys: bool = False
    pairing: Pairing = UNPAIRED
    shared_bytes: int = 0
    # What the threads of this process have learnt: the codes of labels.
    known: dict[str, LabelCodes] = field(default_factory=dict, init=False, compare=False, repr=False)

    def __reduce__(self) -> Any:
        options = (self.shape, self.members, self.threshold, self.kernel, self.rows, self.keep_keys, self.pairing)
        return CountLabels, (*options, self.shared_bytes)

    def __call__(self, part: Any) -> LongPart:
        """The counts of a part."""
        return self.together([part])[0]

    def together(self, parts: Iterable[Any]) -> list[LongPart]:
        """The counts of some parts, made once for all of them; none where there are no parts."""
        out: list[LongPart] = []
        counter: LongCounter | None = None
        for part in parts:
            if counter is None:
                counter = self._counter()
            self._add(counter, part)
            if counter.rows > _MOST_ROWS:
                out, counter = fold(operator.iadd, [*out, counter.counted()]), None
        return out if counter is None else fold(operator.iadd, [*out, counter.counted()])

    def _counter(self) -> LongCounter:
        counter = LongCounter(
            self.members,
            threshold=self.threshold if self.shape == "long" else None,
            kernel=self.kernel,
            keep_keys=self.keep_keys,
            codes=self.known.get("codes"),
            pairing=self.pairing,
            shared_bytes=self.shared_bytes,
        )
        if self.known.setdefault("codes", counter.codes) is counter.codes:
            return counter
        # Another thread was first.
        return self._counter()

    def _add(self, counter: LongCounter, part: Any) -> None:
        plain = getattr(part, "whole_numbers", False)
        for batch in part.batches(_MORE_ROWS * self.rows if plain else self.rows):
            before = counter.rows
            if self.shape == "long":
                _refuse_no_score(batch, self.threshold)
                counter.add(batch.record, batch.label, batch.score)
            else:
                add_whole(counter, batch, self.shape, self.threshold)
            counted(part, counter.rows - before)
        counter.end(part.number)


@dataclass(frozen=True)
class SpreadLabels:
    """Gives the rows of a part a key each, by which those of one record find each other.

    With ``codes``, which threads of one process share, labels are given as codes.
    """

    threshold: Threshold
    rows: int
    kernel: str = "auto"
    codes: LabelCodes | None = None

    def __call__(self, part: Any) -> Iterator[Any]:
        """Batches of key, label and, where there is a threshold, score."""
        import pyarrow as pa

        for batch in part.batches(self.rows):
            _refuse_no_score(batch, self.threshold)
            label = batch.label
            if self.codes is not None:
                label = arrow_of(self.codes.encode(label))
            elif pa.types.is_dictionary(label.type):
                # Codes mean nothing beyond their batch.
                label = label.cast(label.type.value_type)
            keys = keys_of(plain_records(batch.record), self.kernel)
            columns = {"key": arrow_of(keys.view(np.int64)), "label": label}
            if self.threshold is not None:
                columns["score"] = batch.score
            yield pa.record_batch(columns)
            counted(part, len(label))


@dataclass(frozen=True)
class CountSpread:
    """Counts rows in any order, when all rows of their records are there; ``codes`` as in :class:`SpreadLabels`."""

    members: Sequence[Sequence[str]]
    threshold: Threshold
    kernel: str
    pairing: Pairing = UNPAIRED
    shared_bytes: int = 0
    codes: LabelCodes | None = None

    def __call__(self, batches: Iterable[Any]) -> LongPart:
        """The counts of the batches that :class:`SpreadLabels` gave."""
        return self.together([batches])[0]

    def together(self, groups: Iterable[Iterable[Any]]) -> list[LongPart]:
        """The counts of several groups of batches, each with all rows of its records."""
        counter = ScatteredCounter(
            self.members,
            threshold=self.threshold,
            kernel=self.kernel,
            pairing=self.pairing,
            codes=self.codes,
            shared_bytes=self.shared_bytes,
        )
        for batches in groups:
            for batch in batches:
                keys = numpy_of(batch.column(0)).astype(np.int64, copy=False).view(np.uint64)
                score = batch.column(2) if batch.num_columns > 2 else None
                if self.codes is None:
                    counter.add_keys(keys, batch.column(1), score)
                else:
                    counter.add_codes(keys, numpy_of(batch.column(1)), score)
            counter.count()
        return [counter.counted()]


def _refuse_no_score(batch: Batch, threshold: Threshold) -> None:
    if threshold is not None and batch.score is None:
        raise ValueError("threshold= needs score=: name the column that holds the scores")


def add_whole(counter: LongCounter, batch: Batch, shape: str, threshold: Threshold) -> None:
    """Count a batch whose rows are whole records."""
    if shape == "lists":
        if batch.score is not None:
            raise ValueError("score= is not read with lists of labels without record=")
        if threshold is not None:
            raise ValueError("threshold= needs score=: lists of labels carry no scores")
        counter.add_lists(batch.label)
        return
    keys, sizes, columns = wide_labels(batch.label, threshold)
    codes = counter.codes.encode(arrow_text(keys))
    starts, rows = rows_of(sizes, codes[columns])
    counter.add_rows(starts, rows)


@dataclass(frozen=True)
class Reading:
    """What was met while reading.

    ``order`` is ``"sorted"`` (records ascend), ``"grouped"`` (each record's rows stand together) or
    ``"unsorted"``; ``duplicates`` are rows that named a label of their record again.
    """

    rows: int
    order: str
    duplicates: int
    below_threshold: int
    notes: tuple[str, ...]


def identity_members(identities: Any, names: Mapping[str, str]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """The names of the identities and the keys of the labels that make up each.

    A label may be given by its key, or by its name where only one label has that name.
    """
    if isinstance(identities, str):
        raise TypeError(
            f"identities is the text {identities!r}; a list of labels, or a mapping from a name to its labels, is needed"
        )
    if isinstance(identities, Mapping):
        groups = {str(name): labels for name, labels in identities.items()}
    else:
        listed = categories_of(identities, "identities")
        if len(set(listed)) < len(listed):
            raise ValueError(f"identities names a label twice: {listed}")
        groups = {label: [label] for label in listed}
    if not groups:
        raise ValueError("identities is empty; at least one identity label is needed, two for a gap")
    of_name: dict[str, list[str]] = {}
    for key, name in names.items():
        of_name.setdefault(name, []).append(key)
    members = []
    for name, labels in groups.items():
        several = [labels] if isinstance(labels, str) or not hasattr(labels, "__iter__") else labels
        given = categories_of(several, f"identities[{name!r}]")
        if not given:
            raise ValueError(f"identities[{name!r}] is empty; it needs at least one label")
        members.append(tuple(dict.fromkeys(_key(label, names, of_name) for label in given)))
    return tuple(groups), tuple(members)


def _key(label: str, names: Mapping[str, str], of_name: Mapping[str, list[str]]) -> str:
    if label in names or label not in of_name:
        return label
    keys = of_name[label]
    if len(keys) > 1:
        raise ValueError(
            f"identities: {len(keys)} labels are named {printable(label)!r}; give the key of one: {', '.join(keys[:6])}"
        )
    return keys[0]


def count_source(
    source: LabelSource,
    identities: Any,
    *,
    threshold: Threshold = None,
    kernel: str = "auto",
    engine: Engine | None = None,
    absent: bool = False,
    pairing: Pairing = UNPAIRED,
) -> tuple[AssociationCounts, Reading]:
    """Count a source; ``absent`` allows identities that no record has, as one of several sources may not have all.

    ``pairing`` says what is kept of the records' ids; without ids nothing is, and bags are refused.

    Rows in the order of their records, or with each record's rows together, are counted in one pass. Where a
    record comes back after others, the source is read again and rows are brought together by record: in temporary
    files on this machine, or by the cluster's own shuffle. ``Reading`` says so.
    """
    names, members = identity_members(identities, source.names)
    engine = LocalEngine() if engine is None else engine
    if source.parts is None and engine.name != "local":
        raise ValueError(
            f"engine is {engine.name!r}, which counts files and tables; this data ({source.origin}) is read on this "
            "machine: use engine='local'"
        )
    if pairing.bags and not source.has_records:
        raise ValueError(
            f"pairable=True needs ids, by which the records of two runs are known to be the same: this data "
            f"({source.origin}) has none. Give a long table, or a table with a column of lists, and name its ids with "
            "record="
        )
    if not source.has_records:
        pairing = UNPAIRED
    if kernel == "auto":
        rows = None if source.parts is None else total_rows(source.parts)
        kernel = kernel_for(rows, engine.name == "local", len(members))
    notes: list[str] = []
    count = CountLabels(
        "long" if source.has_records else source.shape,
        members,
        threshold,
        kernel,
        engine.batch_rows,
        pairing=pairing,
        shared_bytes=min(engine.memory // (_SHARE * getattr(engine, "threads", 1)), SHARED_BYTES),
    )
    part, counts, order = _counted(source, names, count, engine, notes)
    notes.extend(source.notes())
    if part.duplicates and not source.from_text:
        notes.append(
            f"{part.duplicates} of {part.rows} rows name a label that their record has already: each was counted once"
        )
        warnings.warn(notes[-1], UserWarning, stacklevel=4)
    if threshold is None and source.has_scores:
        notes.append("score= is given without threshold=: every row counts, whatever its score")
    if part.below:
        notes.append(f"{part.below} of {part.rows} rows score below the threshold and were left out")
    if isinstance(threshold, Mapping):
        held = set(counts.labels)
        unmet = [label for label in threshold if label not in held]
        if unmet:
            shown = ", ".join(repr(printable(label, 60)) for label in unmet[:5]) + (", …" if len(unmet) > 5 else "")
            notes.append(
                f"threshold: no record has {shown}, or none with so high a score ({len(unmet)} of the "
                f"{len(threshold)} labels it names)"
            )
    # A list of words names more than any texts have.
    _refuse_unknown(counts, part, source.names, [] if source.from_text else notes, absent)
    return counts, Reading(part.rows, order, part.duplicates, part.below, tuple(notes))


def _counted(
    source: LabelSource, names: Sequence[str], count: CountLabels, engine: Engine, notes: list[str]
) -> tuple[LongPart, AssociationCounts, str]:
    """What was counted, and the order that rows were found in."""
    parts: Sequence[Any] = source.parts or [WholeSource(source.origin, source.batches)]
    shape, members = count.shape, count.members

    def finished(part: LongPart) -> AssociationCounts:
        if not part.runs:
            raise ValueError(f"data has no rows ({source.origin}): at least one record is needed")
        return part.finished(names, members, source.names)

    def lost() -> str:
        return f"{_seconds(again - began)} lost on finding out"

    began = again = time.perf_counter()
    for keep_keys in (False, True):
        if keep_keys and not _keys_fit(parts, engine):
            break
        try:
            part = engine.reduce(replace(count, keep_keys=keep_keys), parts, operator.iadd)
            counts = finished(part)
        except (Unordered, Scattered) as found:
            again = time.perf_counter()
            if getattr(found, "scattered", False):
                break
            continue
        if shape == "long" and part.ordered and not keep_keys:
            return part, counts, "sorted"
        if shape == "long":
            cost = f", with 8 bytes per record to make sure ({lost()})" if keep_keys else ""
            notes.append(
                f"records do not come in ascending order, but the rows of each stand together: counted in one pass{cost}"
            )
        return part, counts, "grouped"
    codes = label_codes(members, count.pairing, count.kernel) if engine.name == "local" else None
    spread = SpreadLabels(count.threshold, count.rows, count.kernel, codes)
    gather = CountSpread(members, count.threshold, count.kernel, count.pairing, count.shared_bytes, codes)
    part = engine.regroup(spread, parts, gather, operator.iadd)
    where = "in memory or files of a temporary directory" if engine.name == "local" else f"by {engine.name}'s shuffle"
    notes.append(
        f"rows are not sorted by record: {part.rows} rows were brought together by record {where} and sorted "
        f"({_seconds(time.perf_counter() - again)}, after {lost()}); sort the table by record to count it in one pass"
    )
    return part, finished(part), "unsorted"


def _keys_fit(parts: Sequence[Any], engine: Engine) -> bool:
    """Whether a key of each record may be held: here, and never on a cluster's driver."""
    rows = total_rows(parts)
    return engine.name == "local" and (rows is None or rows * _KEY_BYTES <= engine.memory)


def _seconds(value: float) -> str:
    return f"{value:.2g} s"


def _refuse_unknown(
    counts: AssociationCounts, part: LongPart, names: Mapping[str, str], notes: list[str], absent: bool = False
) -> None:
    """An identity none of whose labels occurs is an error; one without some of them is a note."""
    there = {label for group in counts.members for label in group}.intersection(counts.labels)
    for name, labels, size in zip(counts.identities, counts.members, counts.identity_count.tolist(), strict=True):
        missing = [label for label in labels if label not in there]
        if not missing:
            continue
        known = list(dict.fromkeys([*(names.get(label, label) for label in counts.labels), *counts.labels]))
        shown = [_quoted(label, names) for label in missing]
        # A class that has a description is no slip of the pen.
        near = [[] if label in names else _close(label, known) for label in missing]
        if size == 0 and not absent:
            alone = len(labels) == 1 and name in (labels[0], names.get(labels[0]))
            raise ValueError(
                f"identities or strata: no record has the label {', '.join(shown[:5])}"
                + (" with a score that reaches the threshold" if part.below else "")
                + ("" if alone else f" of the identity {printable(name, 60)!r}")
                + f"; {_mean(near[0]) or _such_as(known, len(counts.labels))}"
            )
        meant = _mean(dict.fromkeys(text for texts in near for text in texts))
        notes.append(
            f"identity {printable(name, 60)!r}: no record has the label {', '.join(shown)}{meant and '; '}{meant}"
        )


def _mean(near: Iterable[str]) -> str:
    return f"did you mean {' or '.join(near)}?" if near else ""


def _such_as(known: list[str], held: int) -> str:
    shown = ", ".join(repr(printable(text, 40)) for text in known[:5])
    return f"the data holds {held} labels, such as {shown}" if known else "the data holds no label at all"


def _quoted(label: str, names: Mapping[str, str]) -> str:
    name = names.get(label, label)
    return repr(printable(name, 60)) + ("" if name == label else f" ({printable(label, 60)})")


def _close(label: str, known: list[str]) -> list[str]:
    """The labels most like this one, quoted."""
    # Long labels would make the comparison slow, and nobody mistypes them.
    short = {text.casefold(): text for text in known if len(text) <= 200}
    near = get_close_matches(label[:200].casefold(), list(short), n=3, cutoff=0.6)
    return [repr(printable(short[match], 60)) for match in near]
