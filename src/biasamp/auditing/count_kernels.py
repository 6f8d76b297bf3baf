"""From a part of the data to the counts of an audit: what runs on threads and workers alike."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.bagging import bags_for
from biasamp.counts.bags import BagCounts, BagJoint
from biasamp.counts.contingency import BAG, DIGITS, ContingencyTable, bounded, count_by_bag, digits_of
from biasamp.counts.fingerprints import Fingerprint, least_keys
from biasamp.counts.joint import JointCounts, Moments, count_moments
from biasamp.counts.kernels.cross import column_sums
from biasamp.counts.signed_sums import Block, SecondLook, SignedSums, look_at
from biasamp.counts.subject_counts import MOST_COMBINATIONS, TOO_LARGE, SubjectCounts, add_cells
from biasamp.counts.why_counts import WhyCounts
from biasamp.data import Dense, LabelSet
from biasamp.data.arguments import refuse_numbered
from biasamp.data.keys import Keys, row_keys
from biasamp.data.label import Mask
from biasamp.data.labelset import MOST_SQUARES
from biasamp.engines import counted
from biasamp.results.metric_registry import DIRECTIONS

from .content import contents_of
from .label_reader import Reader, Subject
from .plan import Plan
from .source import Source
from .survey import missing_values, read_batches

# Sets of more labels hardly ever repeat from record to record.
_MOST_LABELS = 1024


@dataclass(frozen=True, eq=False)
class Batch:
    """Some records in the label space of the whole.

    Attributes
    ----------
    source : Source
        Their columns.
    keys, units : ndarray of shape (records,)
        Keys of the records, and of what is resampled as one.
    weights : ndarray of shape (records,), optional
    subjects : sequence of Subject
        Their labels.
    """

    source: Source
    keys: Keys
    units: Keys
    weights: NDArray[Any] | None
    subjects: Sequence[Subject]


@dataclass(frozen=True, eq=False)
class PartReader(Reader):
    """Reads the records of parts into the label space of the whole."""

    batch_rows: int = 0

    def batches(self, part: Any) -> Iterator[Batch]:
        """The records of a part; an error names the part and the row where they begin."""
        for start, source in read_batches(part, self.plan.columns, self.batch_rows, self.plan.label_columns):
            try:
                yield self._batch(source, start)
            except (ValueError, TypeError) as error:
                where = f"{part.name}, from row {start + 1:,}" if start is not None else part.name
                raise type(error)(f"{error} (in {where})") from None
            counted(part, source.rows)

    def _batch(self, source: Source, start: int | None) -> Batch:
        ids, clusters = ids_of(source, self.plan)
        keys = ids
        if keys is None:
            keys = row_keys(start or 0, source.rows) if start is not None or clusters is None else clusters
        weights = None if self.plan.weights is None else _weights(source.numbers(self.plan.weights, "weights"))
        subjects = self.subjects(replace(source, record=self.plan.record))
        return Batch(source, keys, keys if clusters is None else clusters, weights, subjects)


def ids_of(source: Source, plan: Plan) -> tuple[Keys | None, Keys | None]:
    """Keys of the records and of their clusters, where columns say them."""
    ids = None if plan.record is None else source.ids(plan.record, "record")
    clusters = None if plan.cluster is None else source.ids(plan.cluster, "cluster")
    if ids is not None and not _ascending(source.column(plan.record or "").values):
        ranked = np.sort(ids)
        repeated = int((ranked[1:] == ranked[:-1]).sum())
        if repeated:
            raise ValueError(
                f"record column {plan.record!r} has {repeated:,} repeated ids: a record has one row. Rows that belong "
                "together without being the same record go into cluster="
            )
    return ids, clusters


def _ascending(values: NDArray[Any]) -> bool:
    """Whether ids, or the codes of their texts, ascend: then no two are the same."""
    return bool((values[1:] > values[:-1]).all())


@dataclass(frozen=True, eq=False)
class Kernel:
    """Counts one part batch by batch, or gives None where it has no records.

    ``of`` is what a batch gives after those before it, ``add`` the sum of two such.
    """

    reader: PartReader
    of: Callable[[Batch, Any], Any]
    add: Callable[[Any, Any], Any]

    def __call__(self, part: Any) -> Any:
        """The sum over the batches of a part."""
        total = None
        for batch in self.reader.batches(part):
            total = self.merged(total, self.of(batch, total))
        return total

    def merged(self, one: Any, two: Any) -> Any:
        """The sum of two parts, either of which may have no records."""
        return two if one is None else one if two is None else self.add(one, two)


def look_again(
    batch: Batch, before: Any, number: int, direction: str, kept: tuple[Mask, Mask], asked: SecondLook
) -> SignedSums:
    """A second look at the records of one subject and direction, of which some labels are kept."""
    held = batch.subjects[number].evaluation(direction, batch.weights, batch.units)
    return look_at((Block(held.only(*kept)),), asked)


TrainCounts = list[tuple[JointCounts, ContingencyTable | None]]


def count_train(batch: Batch, before: Any = None) -> TrainCounts:
    """Joint counts and combinations of the labels of each subject of train records."""
    return [train_counts(subject.A, subject.T) for subject in batch.subjects]


def train_counts(A: LabelSet, T: LabelSet) -> tuple[JointCounts, ContingencyTable | None]:
    """Joint counts and combinations of train labels."""
    return JointCounts.from_labels(A, T), _cells({"given": A, "truth": T}, None)[0]


def add_train(one: TrainCounts, two: TrainCounts) -> TrainCounts:
    """The counts of two parts of the train records together."""
    return [(a[0] + b[0], add_cells(a[1], b[1])) for a, b in zip(one, two, strict=True)]


# The counts other than those of pairs, each made only where a metric needs it.
ALL_COUNTS = frozenset(("cells", "itemsets", "mals", "why"))


def count_batch(
    batch: Batch, before: AuditCounts | None, plan: Plan, needs: frozenset[str], beyond: set[tuple[int, str]]
) -> AuditCounts:
    """The counts of some records; combinations that were too many ``before`` are not looked at again.

    ``beyond`` has subjects and directions of which another part of the data on this machine has too many, and so has
    the whole.
    """
    source, keys = batch.source, batch.keys
    content, known = contents_of(source.columns, keys, set(plan.of_train.columns))
    gone = [missing_values(column) for column in source.columns.values()]
    counted_keys = Fingerprint.of(keys)
    return AuditCounts(
        plan.described,
        tuple(
            _count_subject(subject, batch, needs, _marked(beyond, number, earlier), holes=plan.missing == "drop")
            for number, (subject, earlier) in enumerate(
                zip_longest(batch.subjects, () if before is None else before.subjects)
            )
        ),
        counted_keys if batch.units is keys else Fingerprint.of(batch.units),
        counted_keys,
        content,
        known,
        sum(int(missing.sum()) for missing in gone if missing is not None),
        least_keys(keys) if plan.record is not None else (),
    )


def _weights(values: NDArray[Any]) -> NDArray[Any]:
    """Checked weights of a batch; whole numbers become integers, so that counting stays exact."""
    values = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError("weights must be finite and not negative")
    refuse_numbered(values)
    with np.errstate(over="ignore"):
        if not float((values**2).sum()) <= MOST_SQUARES:
            raise ValueError(TOO_LARGE)
    if (values == np.rint(values)).all() and values.max(initial=0.0) < 2**31:
        return values.astype(np.int64)
    return values


def _marked(beyond: set[tuple[int, str]], number: int, before: SubjectCounts | None) -> Earlier:
    """What is known of a subject from batches before; what it has too many of is marked for all parts."""
    if before is not None:
        beyond.update((number, way) for way, held in before.cells.items() if held is None)
    ways = frozenset(way for at, way in tuple(beyond) if at == number)
    return Earlier(ways, None if before is None else before.by_bag)


class Earlier(NamedTuple):
    """What batches before have shown: the directions of too many combinations, and combinations by bag."""

    beyond: frozenset[str]
    by_bag: Mapping[str, ContingencyTable | None] | None


def _count_subject(
    subject: Subject, batch: Batch, needs: frozenset[str], before: Earlier, *, holes: bool
) -> SubjectCounts:
    units, weights = batch.units, batch.weights
    bags = bags_for(subject.A.width * subject.T.width)
    pairs: dict[str, BagCounts] = {}
    cells: dict[str, ContingencyTable | None] = {}
    by_bag: dict[str, ContingencyTable | None] = {}
    why: dict[str, WhyCounts] = {}
    for way in DIRECTIONS:
        given, truth, predicted = subject.sides(way)
        if predicted is None:
            continue
        held_records = subject.evaluation(way, weights, units)
        strata, scores = subject.strata, subject.scores(way)
        if "why" in needs and (strata is not None or scores is not None) and not predicted.soft:
            layers = () if strata is None else (strata.names, strata.codes)
            why[way], pairs[way] = WhyCounts.with_pairs(held_records, scores, *layers, holes=holes, bags=bags)
        else:
            pairs[way] = BagCounts.from_labels(held_records, bags, by_row=False)
        itemsets = "itemsets" in needs and not (given.exclusive and truth.exclusive)
        cells[way], table = None, None
        if way not in before.beyond and (itemsets or "cells" in needs):
            held = {"given": given, "truth": truth, "predicted": predicted}
            earlier = None if before.by_bag is None else before.by_bag.get(way)
            # What resamples of Multi are made of knows of no weights.
            wanted = (weights is None or not itemsets) and (before.by_bag is None or earlier is not None)
            cells[way], table = _cells(held, weights, units if wanted else None, digits_of(earlier))
        if itemsets or "cells" in needs:
            by_bag[way] = table
    mals, moments = _count_mals(subject, units, weights, bags, pairs) if "mals" in needs else (None, None)
    return SubjectCounts(
        subject.attribute,
        subject.A.variables,
        subject.T.variables,
        {"A": _held(subject.A), "T": _held(subject.T)},
        pairs,
        cells,
        mals,
        by_bag=by_bag,
        moments=moments,
        why=why,
    )


def _count_mals(
    subject: Subject, units: Keys, weights: NDArray[Any] | None, bags: int, pairs: Mapping[str, BagCounts]
) -> tuple[tuple[BagJoint, BagJoint] | None, Moments | None]:
    """Joint counts of predictions and of the truth by bag, and sums of squares; None where one side is not predicted."""
    A, T, A_pred, T_pred = subject.A, subject.T, subject.A_pred, subject.T_pred
    if A_pred is None or T_pred is None:
        return None, None
    # Both terms are about the same records: one that lacks any label is in neither.
    keep = _whole([A, T, A_pred, T_pred])
    if not keep.all():
        A, T, A_pred, T_pred = (labels.take(keep) for labels in (A, T, A_pred, T_pred))
        units, weights = units[keep], None if weights is None else weights[keep]
    predicted = BagJoint.from_labels(A_pred, T_pred, units, bags, weights)
    truth = BagJoint.of_truth(pairs["A->T"]) if keep.all() else BagJoint.from_labels(A, T, units, bags, weights)
    return (predicted, truth), count_moments(A, T, A_pred, T_pred, weights)


def _held(labels: LabelSet) -> NDArray[np.int64]:
    """How many records have each label."""
    if len(labels.blocks) == 1 and isinstance(labels.blocks[0], Dense):
        return column_sums(labels.blocks[0].values)
    return np.bincount(labels.nonzero()[1], minlength=labels.width)


def _whole(sets: Sequence[LabelSet]) -> NDArray[np.bool_]:
    """Which records lack no label."""
    return np.logical_and.reduce(
        [labels.complete() if labels.missing else np.ones(len(labels), dtype=bool) for labels in sets]
    )


def _cells(
    sets: Mapping[str, LabelSet], weights: NDArray[Any] | None, units: Keys | None = None, digits: int = DIGITS
) -> tuple[ContingencyTable | None, ContingencyTable | None]:
    """Combinations of labels of records that lack none, and, with the keys of ``units``, by bag too, numbered in ``digits``.

    None for probabilities, fractional weights and too many combinations.
    """
    if any(labels.soft or labels.width > _MOST_LABELS for labels in sets.values()):
        return None, None
    if weights is not None and weights.dtype.kind == "f":
        return None, None
    keep = _whole(list(sets.values()))
    if not keep.all():
        sets = {name: labels.take(keep) for name, labels in sets.items()}
        weights = None if weights is None else weights[keep]
        units = None if units is None else units[keep]
    by_bag = None if units is None else count_by_bag(sets, units, weights, digits)
    table = ContingencyTable.from_labels(sets, weights) if by_bag is None else by_bag.without(BAG)
    if len(table.cells) > MOST_COMBINATIONS:
        return None, None
    return table, None if by_bag is None else bounded(by_bag)
