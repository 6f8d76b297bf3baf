"""``biasamp.count``: the counts of an audit, made part by part, wherever the data is."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association import AssociationCounts
from biasamp.counts.audit_counts import (
    MOST_COMBINATIONS,
    TOO_LARGE,
    AuditCounts,
    SubjectCounts,
    add_cells,
)
from biasamp.counts.bags import BagCounts, bag_joint, bags_for, truth_joint
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.engines import Engine, counted, engine_for
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.kernels.slabs import column_sums
from biasamp.counts.resampling import Fingerprint, least_keys
from biasamp.labels import (
    Codes,
    Column,
    Columns,
    Dense,
    Evaluation,
    LabelSet,
    Variable,
    align,
    label_set,
    refuse_missing,
)
from biasamp.labels.evaluation import LEAST_TOTAL, MOST_SQUARES
from biasamp.labels.keys import Keys, row_keys
from biasamp.measures.associate import count_labels
from biasamp.measures.progress import RowsBar

from .content import content_of
from .measure import Subject
from .plan import Plan, make_plan
from .reading import Reader, gaps
from .roles import HINT, Spec, crossing
from .source import Source, data_parts
from .survey import Survey, read_batches, survey

# Sets of more labels hardly ever repeat from record to record.
_MOST_LABELS = 1024
# Batches are as long as the engine says up to so many columns, and shorter beyond.
_COLUMNS, _FEWEST_ROWS = 128, 1024


def count(
    data: Any,
    *,
    attributes: Any = None,
    tasks: Any = None,
    attribute_predictions: Any = None,
    task_predictions: Any = None,
    identities: Any = None,
    label: Any = None,
    score: str | None = None,
    threshold: Any = None,
    train: Any = None,
    weights: str | None = None,
    record: str | None = None,
    cluster: str | None = None,
    missing: str = "error",
    intersections: bool = False,
    labels: AuditCounts | str | os.PathLike[str] | None = None,
    engine: Any = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
) -> AuditCounts | AssociationCounts:
    """Count what an audit or an association needs, and leave the records where they are.

    The counts hold no record. They add up (``a + b``) over files, days or sites, are saved and loaded, and
    ``biasamp.audit(counts)`` or ``biasamp.associate(counts)`` measures them, intervals included.

    Parameters
    ----------
    data : path, dataframe or mapping of arrays
        A file or folder (Parquet, CSV, Arrow, JSON lines) of any size, which is read part by part; a dataframe in
        memory; or a Dask or Spark dataframe, which stays on its cluster.
    attributes, tasks, attribute_predictions, task_predictions, train, weights, record, cluster, missing, intersections
        As in :func:`biasamp.audit`; ``weights`` names a column. Rows without ``record`` are told apart by their number
        in the whole; those of a Dask or Spark dataframe have none, and need it.
    identities, label, score, threshold
        As in :func:`biasamp.associate`, instead of attributes and tasks: labels are counted with identities.
    labels : AuditCounts or path, optional
        Other counts, or the file they were saved to, whose label space this is counted in, so that the two add up even where a label does not occur
        here. A label that they do not know is an error.
    engine : {"auto", "local", "dask", "spark"}, distributed.Client or SparkSession
        Where the counting runs; the counts are the same to the bit.
    threads : int, optional
        Threads of the local engine, or processes of a Dask cluster that is started here; by default all processors.
    memory : int or str, optional
        Budget of one process, such as ``"512MB"``.

    Returns
    -------
    AuditCounts, or AssociationCounts where ``identities`` are named

    Examples
    --------
    >>> import biasamp
    >>> roles = dict(attributes="gender", tasks="paints", task_predictions="said", record="id")
    >>> site = lambda first: {
    ...     "id": range(first, first + 100), "gender": ["w", "m"] * 50, "paints": [1, 0] * 50, "said": [1, 1, 0, 0] * 25
    ... }
    >>> both = biasamp.count(site(0), **roles) + biasamp.count(site(100), **roles)
    >>> both.records
    200
    >>> bool(biasamp.audit(both).metrics["value"][0] == biasamp.audit(site(0), **roles).metrics["value"][0])
    True
    """
    if identities is not None:
        _refuse_beside(
            attributes=attributes,
            tasks=tasks,
            attribute_predictions=attribute_predictions,
            task_predictions=task_predictions,
            train=train,
            weights=weights,
            cluster=cluster,
            labels=labels,
        )
        found, reading = count_labels(
            data, identities, label, record, score, threshold, engine, memory, threads, absent=True
        )
        for note in reading.notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        return found
    if attributes is None or tasks is None:
        lacking = "attributes" if attributes is None else "tasks"
        raise TypeError(
            f"{lacking} is None: name attributes and tasks to be audited, or identities to be associated with"
        )
    if weights is not None and not isinstance(weights, str):
        raise TypeError("weights must name a column: counts are made part by part, and an array has no parts")
    if labels is not None and not isinstance(labels, AuditCounts):
        labels = AuditCounts.load(os.fspath(labels))
    plan = make_plan(
        attributes,
        tasks,
        attribute_predictions,
        task_predictions,
        missing=missing,
        weights=weights,
        record=record,
        cluster=cluster,
        intersections=bool(intersections),
        train=train is not None,
    )
    with RowsBar() as bar, engine_for(engine, data, threads=threads, memory=memory, progress=bar) as running:
        return count_plan(data, plan, train, running, labels)


def _refuse_beside(**given: Any) -> None:
    """Refuse what has no meaning where labels are counted with identities."""
    strange = [name for name, value in given.items() if value is not None]
    if strange:
        raise TypeError(f"{strange[0]} has no meaning beside identities: count one or the other")


def count_plan(data: Any, plan: Plan, train: Any, engine: Engine, labels: AuditCounts | None = None) -> AuditCounts:
    """Count data as a plan says, on an engine."""
    name, parts = data_parts(data, plan.columns, "data")
    if parts[0].start is None and plan.record is None and plan.cluster is None:
        raise ValueError(
            "record is None: rows of a Dask or Spark dataframe have no number by which resampling could tell them "
            "apart. Name a column of ids with record="
        )
    if all(part.rows == 0 for part in parts):
        raise ValueError(f"{name} has no records")
    _pass(engine, "looking for labels")
    found = survey(plan, parts, engine, plan.labels)
    _refuse(found, plan)
    train_parts, train_found = None, None
    if train is not None:
        columns = list(dict.fromkeys(column for one, _ in plan.truths for column in one.names))
        _, train_parts = data_parts(train, columns, "train")
        _pass(engine, "looking for labels of train")
        train_found = survey(plan, train_parts, engine, plan.truths)
        _refuse(train_found, plan, "train ")
    subjects, truths = _spaces(plan, found, train_found, labels)
    # The budget is for rows of a few columns.
    rows = min(engine.batch_rows, max(_FEWEST_ROWS, engine.batch_rows * _COLUMNS // len(plan.columns)))
    kernel = CountKernel(plan, tuple(subjects), tuple(truths), rows)
    _pass(engine, "counting")
    total = engine.reduce(kernel, parts, _merged)
    if not total.records:
        raise ValueError(f"{name} has no records")
    if plan.weights is not None:
        _check_total(total)
    if train_parts is not None:
        _pass(engine, "counting train")
        known = engine.reduce(TrainKernel(plan, tuple(subjects), engine.batch_rows), train_parts, _merged_train)
        total = replace(
            total,
            subjects=tuple(
                replace(subject, train=joint, train_cells=cells)
                for subject, (joint, cells) in zip(total.subjects, known, strict=True)
            ),
        )
    return total.of_source(name)


def _pass(engine: Engine, title: str) -> None:
    """Tell whoever waits that another pass over the rows begins."""
    progress = getattr(engine, "progress", None)
    if isinstance(progress, RowsBar):
        progress.begin(title)


def _check_total(total: AuditCounts) -> None:
    """Refuse weights that are all 0, or too small to be summed exactly."""
    weight = float(floats(next(iter(total.subjects[0].pairs.values())).whole.n).max())
    if not weight:
        raise ValueError("weights are all 0: nothing would be counted")
    if weight < LEAST_TOTAL:
        raise ValueError(TOO_LARGE.replace("large", "small"))


def _merged(one: AuditCounts, two: AuditCounts) -> AuditCounts:
    if not one.records or not two.records:
        return one if one.records else two
    return one.joined(two)


def _refuse(found: Survey, plan: Plan, lead: str = "") -> None:
    """Refuse missing labels, and columns without any."""
    for one, role in plan.truths if lead else plan.labels:
        if all(name in found.columns and not found.columns[name].kind for name in one.names):
            raise ValueError(f"{role} column {one.title!r} holds no label: every value is missing")
        for name in one.names:
            facts = found.columns[name]
            if facts.missing and plan.missing == "error":
                where = ", ".join(map(str, sorted(facts.places)[:5]))
                place = f" (record {where}{', …' if facts.missing > 5 else ''})" if where else ""
                many = "" if facts.missing == 1 else "s"
                raise ValueError(
                    f"{role} has {facts.missing:,} record{many} with missing labels in {name}{place}. {HINT}"
                )


def _spaces(
    plan: Plan, found: Survey, train: Survey | None, labels: AuditCounts | None
) -> tuple[list[Subject], list[LabelSet]]:
    """Made-up records of each attribute in the label space of all parts, and their truths before predictions are seen."""
    example = found.example()
    reader = Reader(example, "drop", None if train is None else train.example(), None, None, None, None)
    subjects = reader.subjects(plan.groups, plan.task, plan.group_predictions, plan.task_prediction, False)
    truths = [reader.read(one, "attributes") for one in plan.groups.values()]
    truths.append(reader.read(plan.task, "tasks"))
    if plan.intersections:
        if len(subjects) < 2:
            raise ValueError("intersections=True crosses several attributes, but only one is given")
        names = [subject.attribute for subject in subjects]
        known = sorted(found.crossings | (set() if train is None else train.crossings))
        space = Variable(" x ".join(names), "categorical", tuple(known))
        crossed = LabelSet((Codes((space,), np.zeros(1, dtype=np.int64)),))
        predicted = crossed if all(s.A_pred is not None and not s.A_pred.soft for s in subjects) else None
        first = subjects[0]
        subjects.append(Subject(" x ".join(names), crossed, first.T, predicted, first.T_pred))
    if labels is not None:
        subjects = [_in_space(subject, labels) for subject in subjects]
    return subjects, truths


def _in_space(subject: Subject, labels: AuditCounts) -> Subject:
    """The subject in the label space of other counts, which must know all its labels."""
    known = {held.attribute: held for held in labels.subjects}
    if subject.attribute not in known:
        raise ValueError(f"labels= has counts of {', '.join(known)}, but not of {subject.attribute!r}")
    space = known[subject.attribute]
    moved: dict[str, Any] = {}
    for side, variables in (("A", space.A), ("T", space.T)):
        mine: LabelSet = getattr(subject, side)
        there = {label for variable in variables for label in variable.labels}
        strange = [str(label) for label in mine.labels if label not in there]
        if strange or len(mine.variables) != len(variables):
            raise ValueError(
                f"labels= does not know {', '.join(map(repr, strange[:5])) or 'these columns'}: count both in a label "
                "space that has them, categorical(column, categories=[...])"
            )
        moved[side] = mine.into(variables)
        predicted: LabelSet | None = getattr(subject, f"{side}_pred")
        moved[f"{side}_pred"] = None if predicted is None else predicted.into(variables)
    return replace(subject, **moved)


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
            total = _merged_train(total, made)
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


def _merged_train(one: _Train, two: _Train) -> _Train:
    if not one or not two:
        return one or two
    return [(a[0] + b[0], add_cells(a[1], b[1])) for a, b in zip(one, two, strict=True)]
