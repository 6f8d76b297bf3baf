"""Parts of a long table put together: a record that two neighbours share is counted once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any

import numpy as np

from .association_counts import AssociationCounts, from_patterns
from .known_records import KnownRecords
from .label_bags import BAG_OF_LABEL, BAG_SHIFT
from .long_columns import Keys, before, has_repeats, keys_of

Labels = tuple[str, ...]

# Records that wait to be counted one by one.
_MOST_CLOSED = 1 << 12


class Scattered(Exception):
    """The rows of some record do not stand together."""


@dataclass(frozen=True, eq=False)
class Edge:
    """The two ends of a stretch of neighbouring parts, whose records may go on beyond them.

    Attributes
    ----------
    start, stop : int
        The numbers of the parts, from the first to the one after the last.
    first : tuple of str or None
        The labels of the first record; None where the stretch is one record only, or empty.
    last : tuple of str or None
        The labels of the last record; None where the stretch has no rows.
    first_record, last_record
        Their ids.
    spans : tuple of tuple or None
        First and last record of each stretch of ascending records; None where that is not known.
    keys : ndarray or None
        The key of each run of rows, where they were kept.
    """

    start: int
    stop: int
    first: Labels | None = None
    last: Labels | None = None
    first_record: Any = None
    last_record: Any = None
    spans: tuple[tuple[Any, Any], ...] | None = ()
    keys: Keys | None = None


@dataclass(frozen=True, eq=False)
class LongPart:
    """Counts of some parts of a long table; they add up in any order.

    Attributes
    ----------
    counts : AssociationCounts
        Of the records that lie wholly inside.
    edges : tuple of Edge
        The stretches that the parts make up, by number.
    closed : tuple of tuple of str
        Whole records that are not in the counts yet.
    rows, duplicates, below : int
        Rows; rows that named a label of their record again; rows under the threshold.
    known : KnownRecords or None
        Which records they are of, where that was asked for.
    """

    counts: AssociationCounts
    edges: tuple[Edge, ...]
    closed: tuple[Labels, ...]
    rows: int
    duplicates: int
    below: int
    known: KnownRecords | None = None

    @property
    def runs(self) -> bool:
        """Whether there is any record."""
        return bool(self.counts.n or self.closed or any(edge.last is not None for edge in self.edges))

    def __add__(self, other: LongPart) -> LongPart:
        return self._sum(self.counts + other.counts, other)

    def __iadd__(self, other: LongPart) -> LongPart:
        counts = self.counts
        counts += other.counts
        return self._sum(counts, other)

    def _sum(self, counts: AssociationCounts, other: LongPart) -> LongPart:
        known = None if self.known is None or other.known is None else self.known + other.known
        return LongPart(
            counts,
            (*self.edges, *other.edges),
            (*self.closed, *other.closed),
            self.rows + other.rows,
            self.duplicates + other.duplicates,
            self.below + other.below,
            known,
        ).contracted()

    def contracted(self) -> LongPart:
        """The same with neighbouring stretches as one."""
        edges, closed, again, met = _contracted(sorted(self.edges, key=lambda edge: edge.start))
        out = replace(
            self,
            edges=tuple(edges),
            closed=(*self.closed, *closed),
            duplicates=self.duplicates + again,
            known=None if self.known is None else self.known.once(_keys_of_ids(met)),
        )
        return out if len(out.closed) < _MOST_CLOSED else out._settled()

    def _settled(self) -> LongPart:
        """The same with every closed record in the counts."""
        if not self.closed:
            return self
        return replace(self, counts=self.counts + _count_sets(self.closed, self.counts), closed=())

    @property
    def ordered(self) -> bool:
        """Whether the records ascend from the first row to the last."""
        return all(edge.spans is not None for edge in self.edges) and sum(len(e.spans or ()) for e in self.edges) < 2

    def finished(
        self, identities: Sequence[str], members: Sequence[Sequence[str]], names: Mapping[str, str] | None = None
    ) -> AssociationCounts:
        """The counts of all records, when every part is there.

        Raises
        ------
        Scattered
            When a record occurs in parts that are not neighbours.
        """
        for edge in self.edges:
            if _scattered(edge):
                raise Scattered
        open_runs = [run for edge in self.edges for run in (edge.first, edge.last) if run is not None]
        counts = replace(self, closed=(*self.closed, *open_runs))._settled().counts
        assert counts.members == tuple(tuple(group) for group in members)
        there = sorted(np.flatnonzero(counts.count).tolist(), key=counts.labels.__getitem__)
        counts = counts.take(there)
        counts = replace(counts, shared=counts.shared.kept())
        shown = tuple(names.get(label, label) for label in counts.labels) if names else counts.labels
        return replace(counts, identities=tuple(identities), names=shown, known=self.known)


def _contracted(edges: Sequence[Edge]) -> tuple[list[Edge], list[Labels], int, list[Any]]:
    """Neighbouring stretches as one; the records that are whole by that, the labels and the records that two parts name."""
    out: list[Edge] = []
    closed: list[Labels] = []
    again = 0
    met: list[Any] = []
    for edge in edges:
        if out and out[-1].stop == edge.start:
            if out[-1].last is not None and edge.last is not None and out[-1].last_record == edge.first_record:
                met.append(edge.first_record)
            out[-1], whole, twice = _pair(out[-1], edge)
            closed.extend(whole)
            again += twice
        else:
            out.append(edge)
    return out, closed, again, met


def _keys_of_ids(ids: Sequence[Any]) -> Keys:
    """The keys of some records."""
    import pyarrow as pa

    return np.concatenate([np.zeros(0, np.uint64), *(keys_of(pa.array([record])) for record in ids)])


def _pair(left: Edge, right: Edge) -> tuple[Edge, list[Labels], int]:
    if left.last is None:
        return replace(right, start=left.start), [], 0
    if right.last is None:
        return replace(left, stop=right.stop), [], 0
    same = left.last_record == right.first_record
    next_run = right.last if right.first is None else right.first
    # The runs that meet, the outer ones of several aside.
    inner = [tuple(dict.fromkeys((*left.last, *next_run)))] if same else [left.last, next_run]
    # Both parts name the record's bag, as no row does.
    again = len(set(left.last).intersection(next_run).difference(BAG_OF_LABEL)) if same else 0
    runs = [*([] if left.first is None else [left.first]), *inner, *([] if right.first is None else [right.last])]
    edge = Edge(
        left.start,
        right.stop,
        runs[0] if len(runs) > 1 else None,
        runs[-1],
        left.first_record,
        right.last_record,
        _spans(left, right, same),
        _keys(left, right, same),
    )
    return edge, runs[1:-1], again


def _keys(left: Edge, right: Edge, same: bool) -> Keys | None:
    if left.keys is None or right.keys is None:
        return None
    # A run that goes on in the next part is one run.
    return np.concatenate([left.keys, right.keys[int(same) :]])


def _spans(left: Edge, right: Edge, same: bool) -> tuple[tuple[Any, Any], ...] | None:
    if left.spans is None or right.spans is None:
        return None
    if same or before(left.last_record, right.first_record):
        return (*left.spans[:-1], (left.spans[-1][0], right.spans[0][1]), *right.spans[1:])
    return (*left.spans, *right.spans)


def _scattered(edge: Edge) -> bool:
    """Whether a record may come back after others."""
    if edge.spans is not None and len(edge.spans) < 2:
        return False
    if edge.spans is not None and len({type(record) for span in edge.spans for record in span}) == 1:
        spans = sorted(edge.spans)
        if all(before(a[1], b[0]) for a, b in pairwise(spans)):
            return False
    return edge.keys is None or has_repeats(edge.keys)


def _count_sets(sets: Sequence[Labels], like: AssociationCounts) -> AssociationCounts:
    """The counts of whole records, given by their labels."""
    of_label: dict[str, int] = {}
    for bit, group in enumerate(like.members):
        for label in group:
            of_label[label] = of_label.get(label, 0) | 1 << bit
    bagged = like.bags is not None
    if bagged:
        of_label.update({label: bag << BAG_SHIFT for label, bag in BAG_OF_LABEL.items()})
    masks = [reduce(or_, (of_label.get(label, 0) for label in labels), 0) for labels in sets]
    patterns, pattern = np.unique(np.array(masks, dtype=np.int64), return_inverse=True)
    place: dict[str, int] = {}
    own = np.array([place.setdefault(label, len(place)) for labels in sets for label in labels], dtype=np.int64)
    cells = (np.repeat(pattern, [len(labels) for labels in sets]), own, np.ones_like(own))
    no_table = np.zeros((len(place), 0), dtype=np.int64)
    whole = (tuple(place), like.identities, like.members, patterns, np.bincount(pattern))
    return from_patterns(*whole, no_table, cells, bagged)
