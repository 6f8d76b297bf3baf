"""From a part of the data to the counts of an audit: what runs on threads and workers alike."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.audit_counts import MOST_COMBINATIONS, TOO_LARGE, AuditCounts, SubjectCounts, add_cells
from biasamp.counts.bag_joints import bag_joint, truth_joint
from biasamp.counts.bags import BagCounts, bags_for
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.joint import JointCounts
from biasamp.counts.kernels.slabs import column_sums
from biasamp.counts.poisson import Fingerprint, least_keys
from biasamp.data import Column, Columns, Dense, Evaluation, LabelSet, align, label_set, refuse_missing
from biasamp.data.evaluation import MOST_SQUARES
from biasamp.data.keys import Keys, row_keys
from biasamp.engines import counted

from .content import content_of
from .memory_reader import gaps
from .metrics_of import Subject
from .plan import Plan
from .roles import HINT, Spec, crossing
from .source import Source
from .survey import read_batches

# Sets of more labels hardly ever repeat from record to record.
_MOST_LABELS = 1024


@dataclass(frozen=True, eq=False)
class CountKernel:
    """Counts one part, batch by batch.

    Attributes
    ----------
    subjects : tuple of Subject
        Made-up records in the label space of the whole, one a protected attribute.
    truths : tuple of LabelSet
        The true labels of the attributes and, last, of the tasks, before predictions were seen: they decide how
        predictions are read.
    """

    plan: Plan
    subjects: tuple[Subject, ...]
    truths: tuple[LabelSet, ...]
    batch_rows: int

    def __call__(self, part: Any) -> AuditCounts:
        """The counts of a part."""
        total: AuditCounts | None = None
        for start, columns in read_batches(part, self.plan.columns, self.batch_rows):
            rows = len(next(iter(columns.values())))
            try:
                made = self._batch(Source(part.name, columns, rows), start, total)
            except (ValueError, TypeError) as error:
                where = f"{part.name}, from row {start:,}" if start is not None else part.name
                raise type(error)(f"{error} (in {where})") from None
            total = made if total is None else total.joined(made)
            counted(part, rows)
        if total is None:
            return AuditCounts(self.plan.to_dict(), (), Fingerprint(0, 0, 0), Fingerprint(0, 0, 0), 0, 0, 0)
        return total

    def _batch(self, source: Source, start: int | None, before: AuditCounts | None) -> AuditCounts:
        plan = self.plan
        if plan.record is not None:
            keys = source.ids(plan.record, "record")
            ranked = np.sort(keys)
            if (ranked[1:] == ranked[:-1]).any():
                raise ValueError(
                    f"record column {plan.record!r} has repeated ids: a record has one row. Rows that belong together "
                    "without being the same record go into cluster="
                )
        elif start is not None:
            keys = row_keys(start, source.rows)
        else:
            keys = source.ids(plan.cluster or "", "cluster")
        units = keys if plan.cluster is None else source.ids(plan.cluster, "cluster")
        weights = None if plan.weights is None else _weights(source.numbers(plan.weights, "weights"))
        return AuditCounts(
            plan.to_dict(),
            tuple(
                _count_subject(subject, sides, units, weights, {} if before is None else before.subjects[i].cells)
                for i, (subject, sides) in enumerate(zip(self.subjects, self._sides(source), strict=True))
            ),
            Fingerprint.of(units),
            Fingerprint.of(keys),
            content_of(source.columns, keys),
            content_of({name: source.columns[name] for one, _ in plan.truths for name in one.names}, keys),
            sum(gaps(column) for column in source.columns.values()),
            least_keys(keys) if plan.record is not None else (),
        )

    def _sides(self, source: Source) -> list[tuple[LabelSet | None, ...]]:
        """Attribute, tasks and the predictions of both, for each subject, in the label space of the whole."""
        plan = self.plan
        first = self.subjects[0]
        T = self._read(source, plan.task, "tasks", first.T)
        T_pred = self._read(source, plan.task_prediction, "task_predictions", first.T, self.truths[-1])
        out: list[tuple[LabelSet | None, ...]] = []
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
    subject: Subject,
    sides: Sequence[LabelSet | None],
    units: Keys,
    weights: NDArray[Any] | None,
    before: Mapping[str, ContingencyTable | None],
) -> SubjectCounts:
    """The counts of one subject; combinations that were too many ``before`` are not looked at again."""
    A, T, A_pred, T_pred = sides
    assert A is not None
    assert T is not None
    bags = bags_for(A.width * T.width)
    sizes = {"A": _held(A), "T": _held(T)}
    pairs: dict[str, BagCounts] = {}
    cells: dict[str, ContingencyTable | None] = {}
    for way, given, truth, said in (("A->T", A, T, T_pred), ("T->A", T, A, A_pred)):
        if said is None:
            continue
        pairs[way] = BagCounts.from_labels(Evaluation(given, truth, said, weights, units), bags)
        known = way not in before or before[way] is not None
        cells[way] = _cells({"given": given, "truth": truth, "predicted": said}, weights) if known else None
    mals = None
    if A_pred is not None and T_pred is not None:
        # Both terms are about the same records: one that lacks any label is in neither.
        keep = _whole([A, T, A_pred, T_pred])
        if keep.all():
            mals = bag_joint(A_pred, T_pred, units, bags, weights), truth_joint(pairs["A->T"])
        else:
            own = None if weights is None else weights[keep]
            A, T, A_pred, T_pred = (labels.take(keep) for labels in (A, T, A_pred, T_pred))
            mals = (
                bag_joint(A_pred, T_pred, units[keep], bags, own),
                bag_joint(A, T, units[keep], bags, own),
            )
    return SubjectCounts(
        subject.attribute,
        subject.A.variables,
        subject.T.variables,
        sizes,
        pairs,
        cells,
        mals,
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


def _cells(sets: Mapping[str, LabelSet], weights: NDArray[Any] | None) -> ContingencyTable | None:
    """Combinations of labels of records that lack none; None for probabilities, fractional weights and too many."""
    if any(labels.soft or labels.width > _MOST_LABELS for labels in sets.values()):
        return None
    if weights is not None and weights.dtype.kind == "f":
        return None
    keep = _whole(list(sets.values()))
    if not keep.all():
        sets = {name: labels.take(keep) for name, labels in sets.items()}
        weights = None if weights is None else weights[keep]
    table = ContingencyTable.from_labels(sets, weights)
    return table if len(table.cells) <= MOST_COMBINATIONS else None


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
        return [(JointCounts.from_labels(A, T), _cells({"given": A, "truth": T}, None)) for A in sets]


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
