"""``biasamp.count``: the counts of an audit, made part by part, wherever the data is."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from operator import add
from typing import Any

import numpy as np
import pyarrow as pa

from biasamp.association.associate import count_labels
from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.fixed import floats
from biasamp.counts.label_counter import Pairing
from biasamp.counts.signed_sums import SecondLook, SignedSums
from biasamp.counts.storage import is_counts, load_counts
from biasamp.counts.subject_counts import TOO_LARGE
from biasamp.data import Codes, LabelSet, Variable, weights_of
from biasamp.data.arguments import what_is_missing
from biasamp.data.binning import QUANTILES, refuse_quantiles
from biasamp.data.frames import arrow_column
from biasamp.data.keys import row_keys
from biasamp.data.label import Mask
from biasamp.data.label_source import LabelSource
from biasamp.data.labelset import LEAST_TOTAL
from biasamp.data.plain_arguments import path_of, whole_number, yes_or_no
from biasamp.data.row_numbers import row_numbers
from biasamp.data.same_columns import refuse_train_of_data
from biasamp.data.spelling import in_utf8
from biasamp.data.ways_out import way_out
from biasamp.engines import Engine, counted, engine_for
from biasamp.engines.engine import total_rows
from biasamp.engines.memory_budget import check_limits
from biasamp.engines.progress import RowsBar

from .count_kernels import (
    ALL_COUNTS,
    Batch,
    Kernel,
    PartReader,
    add_train,
    count_batch,
    count_train,
    ids_of,
    look_again,
    train_counts,
)
from .label_reader import AuditRecords, Reader, Subject, crossing_order, read_labels
from .plan import Plan, Spec, make_plan
from .published_counts import NO_IDENTITIES, published_counts, shared_counts
from .source import Source, data_parts, read_source
from .survey import Survey, survey
from .unseen_labels import check_vocabulary

# What a value of a column takes in memory while it is read, about.
_BYTES = 24
# Batches are as long as the engine says up to so many columns, and shorter beyond.
_COLUMNS, _FEWEST_ROWS = 128, 1024


@in_utf8
def count(
    data: Any,
    *,
    attributes: Any = None,
    tasks: Any = None,
    attribute_predictions: Any = None,
    task_predictions: Any = None,
    attribute_scores: Any = None,
    task_scores: Any = None,
    strata: Any = None,
    identities: Any = None,
    label: Any = None,
    score: str | None = None,
    threshold: Any = None,
    pairable: bool = False,
    train: Any = None,
    weights: str | None = None,
    record: str | None = None,
    cluster: str | None = None,
    missing: str = "error",
    intersections: bool = False,
    unseen: str = "invented",
    labels: AuditCounts | str | os.PathLike[str] | None = None,
    suppress: int | None = None,
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
        A file or folder (Parquet, CSV, Excel, Arrow, JSON lines) of any size, which is read part by part; a dataframe in
        memory; or a Dask or Spark dataframe, which stays on its cluster.
    attributes, tasks, attribute_predictions, task_predictions, attribute_scores, task_scores, strata, train, weights, record, cluster, missing, intersections, unseen
        As in :func:`biasamp.audit`; ``weights`` names a column. Rows without ``record`` are known by their number
        in the whole; those of a Dask or Spark dataframe have none, and need it.
    identities, label, score, threshold, pairable
        As in :func:`biasamp.associate`, instead of attributes and tasks: labels are counted with identities. With
        ``record``, counts that share records are refused when they are added up.
    labels : AuditCounts or path, optional
        Other counts, or the file they were saved to, whose label space this is counted in, so that the two add up even where a label does not occur
        here. A label that they do not know is an error.
    suppress : int, optional
        For others to see: withhold groups with counts below this number, and those that would give them away. The counts are
        made anew from the table of groups, truths and predictions, and say no more than it: they have no ids, are
        paired with no others, and MALS cannot be measured. ``data`` may be counts then, to withhold of a sum.
    engine, threads, memory
        As in :func:`biasamp.audit`; the counts are the same to the bit.

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
    yes_or_no(pairable, "pairable")
    if suppress is not None:
        whole_number(suppress, "suppress", least=2)
    roles = {
        "attributes": attributes,
        "tasks": tasks,
        "attribute_predictions": attribute_predictions,
        "task_predictions": task_predictions,
        "attribute_scores": attribute_scores,
        "task_scores": task_scores,
        "strata": strata,
        "train": train,
        "weights": weights,
        "record": record,
        "cluster": cluster,
        "missing": missing,
        "intersections": intersections,
        "unseen": unseen,
    }
    check_limits(memory, threads)
    if identities is None and isinstance(data, LabelSource):
        identities = data.identities or None
    if suppress is not None and isinstance(data, (str, os.PathLike)) and is_counts(data):
        data = load_counts(os.fspath(data))
    if isinstance(data, (AuditCounts, AssociationCounts)):
        given = {**roles, "identities": identities, "missing": None, "intersections": None, "unseen": None}
        return shared_counts(data, suppress, [name for name, value in given.items() if value is not None])
    if identities is not None:
        if suppress is not None:
            raise ValueError(NO_IDENTITIES)
        others = {**roles, "labels": labels, "record": None, "missing": None, "intersections": None, "unseen": None}
        strange = [name for name, value in others.items() if value is not None]
        if strange:
            raise TypeError(f"{strange[0]} has no meaning with identities: count one or the other")
        found, reading = count_labels(
            data,
            *(identities, label, record, score, threshold, engine, memory, threads),
            absent=True,
            pairing=Pairing(ids=True, bags=pairable),
        )
        for note in () if isinstance(data, LabelSource) and data.from_text else reading.notes:
            warnings.warn(note, UserWarning, stacklevel=2)
        return found
    if pairable:
        raise TypeError("pairable=True belongs to identities=: the counts of an audit can always be paired")
    if attributes is None or tasks is None:
        absent = "attributes" if attributes is None else "tasks"
        raise TypeError(
            f"{absent} is None: name attributes and tasks to be audited, or identities to be associated with"
        )
    if weights is not None and not isinstance(weights, str):
        raise TypeError("weights must name a column: counts are made part by part, and an array has no parts")
    if labels is not None and not isinstance(labels, AuditCounts):
        labels = AuditCounts.load(path_of(labels, "labels"))
    plan = make_plan(**roles)
    refuse_train_of_data(data, train)
    with RowsBar() as bar, engine_for(engine, data, threads=threads, memory=memory, progress=bar) as running:
        counted_all = count_plan(data, plan, train, running, labels)[0]
    check_vocabulary(counted_all)
    return counted_all if suppress is None else published_counts(counted_all, suppress)


def count_plan(
    data: Any,
    plan: Plan,
    train: Any,
    engine: Engine,
    labels: AuditCounts | None = None,
    needs: frozenset[str] = ALL_COUNTS,
) -> tuple[AuditCounts, StreamedData]:
    """Count data as a plan says, on an engine; also what reads the data again."""
    for spec, role in plan.labels:
        if spec.declared == QUANTILES:
            refuse_quantiles(f"{role} column {spec.title!r}")
    name, parts = data_parts(data, plan.columns, "data", plan.words)
    if parts[0].start is None and plan.record is None and plan.cluster is None:
        raise ValueError(
            "record is None: rows of a Dask or Spark dataframe have no number by which resampling could tell them "
            "apart. Name a column of ids with record="
        )
    if all(part.rows == 0 for part in parts):
        raise ValueError(f"{name} has no records")
    found = _surveyed(plan, parts, engine)
    train_parts, train_found = None, None
    if train is not None:
        _, train_parts = data_parts(train, plan.of_train.columns, "train", plan.words)
        train_found = _surveyed(plan.of_train, train_parts, engine, "train")
    subjects, truths = _spaces(plan, found, train_found, labels)
    # The budget is for rows of a few columns.
    rows = min(engine.batch_rows, max(_FEWEST_ROWS, engine.batch_rows * _COLUMNS // len(plan.columns)))
    reader = PartReader(plan, tuple(subjects), tuple(truths), batch_rows=rows)
    kernel = Kernel(reader, partial(count_batch, plan=plan, needs=needs, beyond=set()), AuditCounts.joined)
    total = _reduced(kernel, parts, engine, "counting")
    if total is None:
        raise ValueError(f"{name} has no records")
    if plan.weights is not None:
        weight = float(floats(next(iter(total.subjects[0].pairs.values())).whole.n).max())
        if not weight:
            raise ValueError("weights are all 0: nothing would be counted")
        if weight < LEAST_TOTAL:
            raise ValueError(TOO_LARGE.replace("large", "small"))
    if train_parts is not None:
        kernel = Kernel(replace(reader, plan=plan.of_train, lead="train "), count_train, add_train)
        total = _with_train(total, _reduced(kernel, train_parts, engine, "counting train") or [])
    if labels is not None:
        total = replace(total, plan=_declaring(plan, labels).to_dict())
    return total.of_source(name), StreamedData(reader, parts, train, engine)


@dataclass(frozen=True, eq=False)
class StreamedData:
    """Data that was counted part by part, read again where counts do not say enough."""

    reader: PartReader
    parts: Sequence[Any]
    train: Any
    engine: Engine

    @cached_property
    def records(self) -> AuditRecords:
        """All records in memory, as labels; refuses with a reason where they do not fit."""
        plan = self.reader.plan
        return read_records(self.source, plan, self.train, plan.weights)

    def counted(self, plan: Plan) -> AuditCounts:
        """The counts of pairs of all records by another plan, in memory."""
        return count_memory(self.source, plan, self.train, plan.weights, frozenset())[0]

    @cached_property
    def source(self) -> Source:
        """The columns of all records in memory; refuses with a reason where they do not fit."""
        plan = self.reader.plan
        rows = total_rows(self.parts)
        size = (rows or 0) * len(plan.columns) * _BYTES
        if rows is None or size > self.engine.memory:
            known = "an unknown number of" if rows is None else f"{rows:,}"
            raise ValueError(
                f"this needs all {known} records in memory at once, some {size / 1e6:,.0f} MB, and the budget is "
                f"{self.engine.memory / 1e6:,.0f} MB: raise memory=, or audit a sample of the records"
            )
        _pass(self.engine, "reading records")
        kernel = partial(_table, columns=plan.columns, rows=self.reader.batch_rows)
        tables = [table for _, table in sorted(self.engine.map(kernel, self.parts)) if table.num_rows]
        whole = pa.concat_tables(tables, promote_options="permissive")
        columns = {name: arrow_column(name, whole.column(name)) for name in plan.columns}
        return Source("data", columns, whole.num_rows)

    def look(self, number: int, direction: str, kept: tuple[Mask, Mask], asked: SecondLook) -> SignedSums:
        """A second look at the records of a subject, of which some labels are kept."""
        look = partial(look_again, number=number, direction=direction, kept=kept, asked=asked)
        found: SignedSums = _reduced(Kernel(self.reader, look, add), self.parts, self.engine, "second look")
        return found


def _table(part: Any, columns: Sequence[str], rows: int) -> pa.Table:
    """The columns of one part."""
    batches = [batch for batch in part.batches(columns, rows=rows) if batch.num_rows]
    counted(part, sum(batch.num_rows for batch in batches))
    return pa.Table.from_batches(batches) if batches else pa.table({})


def read_records(source: Source, plan: Plan, train: Any, weights: Any) -> AuditRecords:
    """All records of a source as labels."""
    values = weights_of(source.numbers(weights, "weights") if isinstance(weights, str) else weights, source.rows)
    ids, clusters = ids_of(source, plan)
    known = None if train is None else read_source(train, plan.of_train.columns, "train", plan.words)
    subjects = Reader(plan).subjects(replace(source, record=plan.record), known)
    return AuditRecords(subjects, values, ids, clusters)


def count_memory(
    source: Source, plan: Plan, train: Any, weights: Any, needs: frozenset[str]
) -> tuple[AuditCounts, AuditRecords]:
    """Count records in memory as one part: reading them tells the label space as the survey of parts does."""
    held = read_records(source, plan, train, weights)
    keys = row_keys(0, source.rows) if held.ids is None else held.ids
    units = keys if held.clusters is None else held.clusters
    counts = count_batch(Batch(source, keys, units, held.weights, held.subjects), None, plan, needs, set())
    if train is not None:
        counts = _with_train(
            counts, [train_counts(*known) for i in range(len(held.subjects)) if (known := held.train(i, "A->T"))]
        )
    return counts.of_source(source.name), held


def _with_train(counts: AuditCounts, known: Sequence[tuple[Any, Any]]) -> AuditCounts:
    subjects = tuple(
        replace(subject, train=joint, train_cells=cells)
        for subject, (joint, cells) in zip(counts.subjects, known, strict=True)
    )
    return replace(counts, subjects=subjects)


def _reduced(kernel: Kernel, parts: Sequence[Any], engine: Engine, title: str) -> Any:
    _pass(engine, title)
    return engine.reduce(kernel, parts, kernel.merged)


def _pass(engine: Engine, title: str) -> None:
    """Tell whoever waits that another pass over the rows begins."""
    progress = getattr(engine, "progress", None)
    if isinstance(progress, RowsBar):
        progress.begin(title)


def _surveyed(plan: Plan, parts: Sequence[Any], engine: Engine, of: str = "") -> Survey:
    """The survey of data or train records; refuses missing labels, and columns without any."""
    _pass(engine, f"looking for labels{of and f' of {of}'}")
    found = survey(plan, parts, engine)
    for one, argument in plan.labels:
        role, what = f"{of} {argument}".lstrip(), what_is_missing(argument)
        if all(name in found.columns and not found.columns[name].kind for name in one.names):
            raise ValueError(f"{role} column {one.title!r} holds no label: every value is missing")
        for name in one.names:
            facts = found.columns[name]
            if facts.missing and plan.missing not in (("drop",) if what != "labels" else ("drop", "negative")):
                place = f" ({row_numbers(sorted(facts.places), facts.missing)})" if facts.places else ""
                many = "" if facts.missing == 1 else "s"
                raise ValueError(
                    f"{role} has {facts.missing:,} record{many} with missing {what} in {name}{place}. {way_out(f'missing {what}')}"
                )
    return found


def _spaces(
    plan: Plan, found: Survey, train: Survey | None, labels: AuditCounts | None
) -> tuple[list[Subject], list[LabelSet]]:
    """Made-up records of each attribute in the label space of all parts, and their truths before predictions are seen."""
    predicted = plan.task_prediction, *plan.group_predictions
    example = found.example(*predicted, plan.task_scores, *(plan.group_scores or ()))
    declared: tuple[tuple[Variable, ...], ...] = ()
    if labels is not None:
        known = {subject.attribute: subject.A for subject in labels.subjects}
        declared = (labels.subjects[0].T, *(known.get(name, ()) for name in plan.groups))
    seen = replace(plan, missing="drop", intersections=False)
    reader = Reader(seen, records=found.rows, declared=declared)
    subjects = reader.subjects(example, None if train is None else train.example())
    truths = [read_labels(example, plan.task, "tasks", "drop", identifiers=True)]
    truths += [read_labels(example, one, "attributes", "drop", identifiers=True) for one in plan.groups.values()]
    if plan.intersections:
        names = [subject.attribute for subject in subjects]
        held = [subject.A.variables[0].categories for subject in subjects]
        combined = crossing_order(found.crossings | (set() if train is None else train.crossings), held)
        space = Variable(" x ".join(names), "categorical", tuple(combined))
        crossed = LabelSet((Codes((space,), np.zeros(1, dtype=np.int64)),))
        guessed = crossed if all(s.A_pred is not None and not s.A_pred.soft for s in subjects) else None
        first = subjects[0]
        subjects.append(Subject(" x ".join(names), crossed, first.T, guessed, first.T_pred))
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
    layers = next((why.strata for why in space.why.values() if why.stratified), None)
    if subject.strata is not None and layers is not None:
        strange = [name for name in subject.strata.names if name not in layers]
        if strange:
            raise ValueError(
                f"labels= does not know the strata {', '.join(map(repr, strange[:5]))}: count both with all of them"
            )
        moved["strata"] = replace(subject.strata, names=layers)
    return replace(subject, **moved)


def _declaring(plan: Plan, labels: AuditCounts) -> Plan:
    """The plan with the values of other counts declared, so that one which these records lack is known."""

    def declared(one: Spec, variables: tuple[Variable, ...]) -> Spec:
        known = len(variables) == 1 and variables[0].kind == "categorical" and one.categories is None
        return replace(one, declared="categorical", categories=variables[0].categories) if known else one

    spaces = {subject.attribute: subject.A for subject in labels.subjects}
    groups = {name: declared(one, spaces.get(name, ())) for name, one in plan.groups.items()}
    return replace(plan, task=declared(plan.task, labels.subjects[0].T), groups=groups)
