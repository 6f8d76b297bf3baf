"""From a source of label sets to association counts, whatever the order of its rows."""

from __future__ import annotations

import operator
import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Any, NamedTuple

from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.long_columns import Unordered
from biasamp.counts.long_part import LongPart, Scattered
from biasamp.data import canonical, printable
from biasamp.data.label_source import LabelSource
from biasamp.engines import Engine
from biasamp.engines.engine import total_rows
from biasamp.engines.local import LocalEngine

from .part_kernels import CountLabels, CountSpread, SpreadLabels, Threshold, WholeSource

# A record's key, and its copy when keys are sorted.
_KEY_BYTES = 16


@dataclass(frozen=True)
class Reading:
    """What was met while reading.

    ``order`` is ``"sorted"`` (records ascend), ``"grouped"`` (each record's rows stand together) or
    ``"unsorted"``; ``duplicates`` are rows that named a label of their record again, ``below`` rows under the
    threshold.
    """

    rows: int
    order: str
    duplicates: int
    below: int
    notes: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """What a result says of how its data was read; its notes stand apart."""
        return {
            "rows": self.rows,
            "order": self.order,
            "duplicates": self.duplicates,
            "below_threshold": self.below,
        }


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
        listed = [canonical(label) for label in identities]
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
        given = [labels] if isinstance(labels, str) or not hasattr(labels, "__iter__") else list(labels)
        if not given:
            raise ValueError(f"identities[{name!r}] is empty; it needs at least one label")
        members.append(tuple(dict.fromkeys(_key(canonical(label), names, of_name) for label in given)))
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
) -> tuple[AssociationCounts, Reading]:
    """Count a source; ``absent`` allows identities that no record has, as one of several sources may not have all.

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
    parts: Sequence[Any] = source.parts or [WholeSource(source.origin, source.batches)]
    notes: list[str] = []
    part, counts, order = _Counting(source, parts, names, members, threshold, kernel, engine, notes).run()
    notes.extend(source.notes())
    if part.duplicates:
        note = (
            f"{part.duplicates} of {part.rows} rows name a label that their record has already: each was counted once"
        )
        notes.append(note)
        warnings.warn(note, UserWarning, stacklevel=4)
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
    _refuse_unknown(counts, part, source.names, notes, absent)
    return counts, Reading(part.rows, order, part.duplicates, part.below, tuple(notes))


class _Counting(NamedTuple):
    """One count of a source, whatever the order of its rows turns out to be."""

    source: LabelSource
    parts: Sequence[Any]
    names: Sequence[str]
    members: Sequence[Sequence[str]]
    threshold: Threshold
    kernel: str
    engine: Engine
    notes: list[str]

    def run(self) -> tuple[LongPart, AssociationCounts, str]:
        """What was counted, and the order that rows were found in."""
        began = time.perf_counter()
        shape = "long" if self.source.has_records else self.source.shape
        count = CountLabels(shape, self.members, self.threshold, self.kernel, self.engine.batch_rows)
        try:
            part = self.engine.reduce(count, self.parts, operator.add)
            counts = self._finished(part)
            if shape == "long" and not part.ordered:
                self._say_grouped("")
            return part, counts, "sorted" if shape == "long" and part.ordered else "grouped"
        except (Unordered, Scattered):
            pass
        if self._keys_fit():
            again = time.perf_counter()
            try:
                part = self.engine.reduce(replace(count, keep_keys=True), self.parts, operator.add)
                counts = self._finished(part)
                self._say_grouped(
                    f", with 8 bytes per record to make sure ({_seconds(again - began)} lost on finding out)"
                )
                return part, counts, "grouped"
            except Scattered:
                pass
        again = time.perf_counter()
        spread, gather = (
            SpreadLabels(self.threshold, self.engine.batch_rows),
            CountSpread(self.members, self.threshold, self.kernel),
        )
        part = self.engine.regroup(spread, self.parts, gather, operator.add)
        where = (
            "in files of a temporary directory" if self.engine.name == "local" else f"by {self.engine.name}'s shuffle"
        )
        self.notes.append(
            f"rows are not sorted by record: {part.rows} rows were brought together by record {where} and sorted "
            f"({_seconds(time.perf_counter() - again)}, after {_seconds(again - began)} lost on finding out); sort the "
            "table by record to count it in one pass"
        )
        return part, self._finished(part), "unsorted"

    def _say_grouped(self, cost: str) -> None:
        self.notes.append(
            f"records do not come in ascending order, but the rows of each stand together: counted in one pass{cost}"
        )

    def _keys_fit(self) -> bool:
        """Whether a key of each record may be held: here, and never on a cluster's driver."""
        rows = total_rows(self.parts)
        return self.engine.name == "local" and (rows is None or rows * _KEY_BYTES <= self.engine.memory)

    def _finished(self, part: LongPart) -> AssociationCounts:
        if not part.runs:
            raise ValueError(f"data has no rows ({self.source.origin}): at least one record is needed")
        return part.finished(self.names, self.members, self.source.names)


def _seconds(value: float) -> str:
    return f"{value:.2g} s"


def _refuse_unknown(
    counts: AssociationCounts, part: LongPart, names: Mapping[str, str], notes: list[str], absent: bool = False
) -> None:
    """An identity none of whose labels occurs is an error; one without some of them is a note."""
    there = set(counts.labels)
    for name, labels, size in zip(counts.identities, counts.members, counts.identity_count.tolist(), strict=True):
        missing = [label for label in labels if label not in there]
        if not missing:
            continue
        known = list(dict.fromkeys([*(names.get(label, label) for label in counts.labels), *counts.labels]))
        if size == 0 and not absent:
            alone = len(labels) == 1 and name in (labels[0], names.get(labels[0]))
            raise ValueError(
                f"identities: no record has the label {', '.join(_quoted(label, names) for label in missing[:5])}"
                + (" with a score that reaches the threshold" if part.below else "")
                + ("" if alone else f" of the identity {printable(name, 60)!r}")
                + f"; {_nearest(missing[0], known, names, len(there))}"
            )
        shown = ", ".join(_quoted(label, names) for label in missing)
        near = dict.fromkeys(text for label in missing if label not in names for text in _close(label, known))
        notes.append(
            f"identity {printable(name, 60)!r}: no record has the label {shown}"
            + (f"; did you mean {' or '.join(near)}?" if near else "")
        )


def _quoted(label: str, names: Mapping[str, str]) -> str:
    name = names.get(label, label)
    return repr(printable(name, 60)) + ("" if name == label else f" ({printable(label, 60)})")


def _close(label: str, known: list[str]) -> list[str]:
    """The labels most like this one, quoted."""
    # Long labels would make the comparison slow, and nobody mistypes them.
    short = {text.casefold(): text for text in known if len(text) <= 200}
    near = get_close_matches(label[:200].casefold(), list(short), n=3, cutoff=0.6)
    return [repr(printable(short[match], 60)) for match in near]


def _nearest(label: str, known: list[str], names: Mapping[str, str], held: int) -> str:
    if not known:
        return "the data holds no label at all"
    # A class that has a description is no slip of the pen.
    near = [] if label in names else _close(label, known)
    if near:
        return f"did you mean {' or '.join(near)}?"
    shown = ", ".join(repr(printable(text, 40)) for text in known[:5])
    return f"the data holds {held} labels, such as {shown}"
