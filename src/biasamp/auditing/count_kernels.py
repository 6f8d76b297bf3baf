"""From a part of the data to the counts of an audit: what runs on threads and workers alike."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.audit_counts import AuditCounts, Fingerprint, least_keys
from biasamp.counts.bagging import bags_for
from biasamp.counts.bags import BagCounts, BagJoint
from biasamp.counts.contingency import BAG, ContingencyTable, bounded, count_by_bag
from biasamp.counts.joint import JointCounts
from biasamp.counts.kernels.cross import column_sums
from biasamp.counts.signed_sums import Block, SecondLook, SignedSums, look_at
from biasamp.counts.subject_counts import MOST_COMBINATIONS, TOO_LARGE, SubjectCounts, add_cells
from biasamp.data import Column, Columns, Dense, Evaluation, LabelSet, align, label_set, refuse_missing
from biasamp.data.evaluation import MOST_SQUARES
from biasamp.data.keys import Keys, row_keys
from biasamp.engines import counted

from .content import contents_of
from .memory_reader import gaps
from .plan import Plan
from .roles import HINT, Spec, crossing
from .source import Source
from .subject import Subject
from .survey import read_batches

Sides = tuple[LabelSet | None, ...]

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
    sides : list of tuples
        Attribute, tasks and the predictions of both, for each subject.
    """

    source: Source
    keys: Keys
    units: Keys
    weights: NDArray[Any] | None
    sides: Sequence[Sides]


@dataclass(frozen=True, eq=False)
class PartReader:
    """Reads the records of parts into the label space of the whole.

    Attributes
    ----------
    subjects : tuple of Subject
        Made-up records in the label space of the whole, one subject for each protected attribute.
    truths : tuple of LabelSet
        The true labels of the attributes and, last, of the tasks, before predictions were seen: they decide how
        predictions are read.
    """

    plan: Plan
    subjects: tuple[Subject, ...]
    truths: tuple[LabelSet, ...]
    batch_rows: int

    def batches(self, part: Any) -> Iterator[Batch]:
        """The records of a part; an error names the part and the row where they begin."""
        for start, columns in read_batches(part, self.plan.columns, self.batch_rows):
            rows = len(next(iter(columns.values())))
            try:
                yield self._batch(Source(part.name, columns, rows), start)
            except (ValueError, TypeError) as error:
                where = f"{part.name}, from row {start:,}" if start is not None else part.name
                raise type(error)(f"{error} (in {where})") from None
            counted(part, rows)

    def _batch(self, source: Source, start: int | None) -> Batch:
        plan = self.plan
        if plan.record is not None:
            keys = source.ids(plan.record, "record")
            refuse_repeated(keys, plan.record)
        elif start is not None:
            keys = row_keys(start, source.rows)
        else:
            keys = source.ids(plan.cluster or "", "cluster")
        units = keys if plan.cluster is None else source.ids(plan.cluster, "cluster")
        weights = None if plan.weights is None else _weights(source.numbers(plan.weights, "weights"))
        return Batch(source, keys, units, weights, self._sides(source))

    def _sides(self, source: Source) -> list[Sides]:
        """Attribute, tasks and the predictions of both, for each subject, in the label space of the whole."""
        plan = self.plan
        first = self.subjects[0]
        T = self._read(source, plan.task, "tasks", first.T)
        T_pred = self._read(source, plan.task_prediction, "task_predictions", first.T, self.truths[-1])
        out: list[Sides] = []
        for i, (one, predictions) in enumerate(zip(plan.groups.values(), plan.group_predictions, strict=True)):
            A = self._read(source, one, "attributes", self.subjects[i].A)
            A_pred = self._read(source, predictions, "attribute_predictions", self.subjects[i].A, self.truths[i])
            out.append((A, T, A_pred, T_pred))
        if plan.intersections:
            last = self.subjects[-1]
            names = list(plan.groups)
            known = last.A.variables[0].categories
            A = crossing([sides[0] for sides in out if sides[0] is not None], names, known)
            said = [sides[2] for sides in out if sides[2] is not None]
            A_pred = crossing(said, names, known) if last.A_pred is not None else None
            out.append((A, T, A_pred, T_pred))
        return out

    def _read(
        self, source: Source, one: Spec | None, role: str, space: LabelSet, like: LabelSet | None = None
    ) -> LabelSet | None:
        if one is None:
            return None
        labels = label_set(_columns(source, one), role, soft=like is not None, like=like)
        return fitted(labels, space, role, self.plan.missing)


@dataclass(frozen=True, eq=False)
class CountKernel:
    """Counts one part, batch by batch; ``needs`` says which counts."""

    reader: PartReader
    needs: Needs

    def __call__(self, part: Any) -> AuditCounts:
        """The counts of a part."""
        total: AuditCounts | None = None
        for batch in self.reader.batches(part):
            made = count_batch(batch, self.reader.plan, self.reader.subjects, self.needs, total)
            total = made if total is None else total.joined(made)
        return nothing_counted(self.reader.plan) if total is None else total


@dataclass(frozen=True, eq=False)
class LookKernel:
    """Takes a second look at the records of one subject and direction in a part."""

    reader: PartReader
    number: int
    direction: str
    asked: SecondLook

    def __call__(self, part: Any) -> SignedSums | None:
        """The signed sums of a part; None where it has no records."""
        total: SignedSums | None = None
        for batch in self.reader.batches(part):
            A, T, A_pred, T_pred = batch.sides[self.number]
            given, truth, predicted = (A, T, T_pred) if self.direction == "A->T" else (T, A, A_pred)
            assert given is not None
            assert truth is not None
            assert predicted is not None
            held = Evaluation(given, truth, predicted, batch.weights, batch.units)
            total = added_looks(total, look_at((Block(held),), self.asked))
        return total


def added_looks(one: SignedSums | None, two: SignedSums | None) -> SignedSums | None:
    """The signed sums of two parts together."""
    return two if one is None else one if two is None else one + two


@dataclass(frozen=True)
class Needs:
    """Which counts an audit needs beside the pair counts: those that no metric asks for are not made."""

    cells: bool = True
    itemsets: bool = True
    mals: bool = True


def nothing_counted(plan: Plan) -> AuditCounts:
    """The counts of no records."""
    return AuditCounts(plan.to_dict(), (), Fingerprint(0, 0, 0), Fingerprint(0, 0, 0), 0, 0, 0)


def count_batch(
    batch: Batch, plan: Plan, subjects: Sequence[Subject], needs: Needs, before: AuditCounts | None = None
) -> AuditCounts:
    """The counts of some records; combinations that were too many ``before`` are not looked at again."""
    source, keys = batch.source, batch.keys
    truths = {name for one, _ in plan.truths for name in one.names}
    content, known = contents_of(source.columns, keys, truths)
    return AuditCounts(
        plan.to_dict(),
        tuple(
            _count_subject(subject, sides, batch, needs, None if before is None else before.subjects[i])
            for i, (subject, sides) in enumerate(zip(subjects, batch.sides, strict=True))
        ),
        Fingerprint.of(batch.units),
        Fingerprint.of(keys),
        content,
        known,
        sum(gaps(column) for column in source.columns.values()),
        least_keys(keys) if plan.record is not None else (),
    )


def refuse_repeated(keys: Keys, column: str) -> None:
    """Raise where two records have the same id."""
    ranked = np.sort(keys)
    repeated = int((ranked[1:] == ranked[:-1]).sum())
    if repeated:
        raise ValueError(
            f"record column {column!r} has {repeated:,} repeated ids: a record has one row. Rows that belong together "
            "without being the same record go into cluster="
        )


def fitted(labels: LabelSet, space: LabelSet, role: str, missing: str) -> LabelSet:
    """Labels of a batch in the label space of the whole, under the policy for missing ones."""
    if missing == "error":
        refuse_missing({role: labels}, HINT)
    elif missing == "negative":
        labels = labels.without_missing()
    _, placed = align([space, labels], [role, role])
    if placed.variables != space.variables:
        raise ValueError(f"{role} holds labels that were not there at first: the data changed while it was counted")
    return placed


def _columns(source: Source, one: Spec) -> Columns:
    items: list[Column] = [source.column(name) for name in one.names]
    return Columns(items, len(one.names) == 1, one.declared, one.categories)


def _weights(values: NDArray[Any]) -> NDArray[Any]:
    """Checked weights of a batch; whole numbers become integers, so that counting stays exact."""
    values = np.asarray(values, dtype=np.float64)
    if not (np.isfinite(values) & (values >= 0)).all():
        raise ValueError("weights must be finite and not negative")
    with np.errstate(over="ignore"):
        if not float((values**2).sum()) <= MOST_SQUARES:
            raise ValueError(TOO_LARGE)
    if (values == np.rint(values)).all() and values.max(initial=0.0) < 2**31:
        return values.astype(np.int64)
    return values


def _count_subject(
    subject: Subject, sides: Sides, batch: Batch, needs: Needs, before: SubjectCounts | None
) -> SubjectCounts:
    A, T, A_pred, T_pred = sides
    assert A is not None
    assert T is not None
    units, weights = batch.units, batch.weights
    bags = bags_for(A.width * T.width)
    sizes = {"A": _held(A), "T": _held(T)}
    pairs: dict[str, BagCounts] = {}
    cells: dict[str, ContingencyTable | None] = {}
    by_bag: dict[str, ContingencyTable | None] = {}
    for way, given, truth, predicted in (("A->T", A, T, T_pred), ("T->A", T, A, A_pred)):
        if predicted is None:
            continue
        pairs[way] = BagCounts.from_labels(Evaluation(given, truth, predicted, weights, units), bags)
        sets = not (given.exclusive and truth.exclusive)
        known = before is None or before.cells[way] is not None
        cells[way] = None
        if needs.itemsets and sets:
            by_bag[way] = None
        if not known or not (needs.cells or (needs.itemsets and sets)):
            continue
        held = {"given": given, "truth": truth, "predicted": predicted}
        wanted = way in by_bag and weights is None and (before is None or before.by_bag.get(way) is not None)
        cells[way], table = _cells(held, weights, units if wanted else None)
        if way in by_bag:
            by_bag[way] = table
    return SubjectCounts(
        subject.attribute,
        subject.A.variables,
        subject.T.variables,
        sizes,
        pairs,
        cells,
        _count_mals(sides, units, weights, bags, pairs) if needs.mals else None,
        by_bag=by_bag,
    )


def _count_mals(
    sides: Sides, units: Keys, weights: NDArray[Any] | None, bags: int, pairs: Mapping[str, BagCounts]
) -> tuple[BagJoint, BagJoint] | None:
    A, T, A_pred, T_pred = sides
    if A is None or T is None or A_pred is None or T_pred is None:
        return None
    # Both terms are about the same records: one that lacks any label is in neither.
    keep = _whole([A, T, A_pred, T_pred])
    if keep.all():
        return BagJoint.from_labels(A_pred, T_pred, units, bags, weights), BagJoint.of_truth(pairs["A->T"])
    own = None if weights is None else weights[keep]
    A, T, A_pred, T_pred = (labels.take(keep) for labels in (A, T, A_pred, T_pred))
    return (
        BagJoint.from_labels(A_pred, T_pred, units[keep], bags, own),
        BagJoint.from_labels(A, T, units[keep], bags, own),
    )


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
    sets: Mapping[str, LabelSet], weights: NDArray[Any] | None, units: Keys | None = None
) -> tuple[ContingencyTable | None, ContingencyTable | None]:
    """Combinations of labels of records that lack none, and, with the keys of ``units``, by bag too.

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
    by_bag = None if units is None else count_by_bag(sets, units)
    table = ContingencyTable.from_labels(sets, weights) if by_bag is None else by_bag.without(BAG)
    if len(table.cells) > MOST_COMBINATIONS:
        return None, None
    return table, None if by_bag is None else bounded(by_bag)


_Train = list[tuple[JointCounts, ContingencyTable | None]]


@dataclass(frozen=True, eq=False)
class TrainKernel:
    """Counts one part of the train records."""

    plan: Plan
    subjects: tuple[Subject, ...]
    batch_rows: int

    def __call__(self, part: Any) -> _Train:
        """Joint counts and combinations of the labels of each subject."""
        plan = self.plan
        columns = list(dict.fromkeys(name for one, _ in plan.truths for name in one.names))
        total: _Train = []
        for _, held in read_batches(part, columns, self.batch_rows):
            source = Source(part.name, held, len(next(iter(held.values()))))
            made = self._batch(source)
            total = merged_train(total, made)
            counted(part, source.rows)
        return total

    def _batch(self, source: Source) -> _Train:
        plan = self.plan
        T = fitted(
            label_set(_columns(source, plan.task), "train tasks"), self.subjects[0].T, "train tasks", plan.missing
        )
        sets = [
            fitted(label_set(_columns(source, one), "train attributes"), subject.A, "train attributes", plan.missing)
            for one, subject in zip(plan.groups.values(), self.subjects, strict=False)
        ]
        if plan.intersections:
            known = self.subjects[-1].A.variables[0].categories
            sets.append(crossing(sets, list(plan.groups), known))
        return [count_train(A, T) for A in sets]


def count_train(A: LabelSet, T: LabelSet) -> tuple[JointCounts, ContingencyTable | None]:
    """Joint counts and combinations of train labels."""
    return JointCounts.from_labels(A, T), _cells({"given": A, "truth": T}, None)[0]


def merged_train(one: _Train, two: _Train) -> _Train:
    """The counts of two parts of the train records together."""
    if not one or not two:
        return one or two
    return [(a[0] + b[0], add_cells(a[1], b[1])) for a, b in zip(one, two, strict=True)]


def merged(one: AuditCounts, two: AuditCounts) -> AuditCounts:
    """The counts of two parts together; a part without records has no counts."""
    if not one.records or not two.records:
        return one if one.records else two
    return one.joined(two)
