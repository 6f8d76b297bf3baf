"""Counts that may be shared: without small ones, and without what would give them away.

Counts by bag are nearly the records: of a thousand records in 4,096 bags nearly each has a bag of its own. What is shared is
therefore made of one table alone, that of groups, truths and predictions over all records, in which groups with small counts are
joined. Records are made up that have this table, in the order of its cells, and counted anew into bags. Bags are then a fair draw, as they
were, so intervals hold; and as all of it follows from the table, nobody learns more from the file than the table says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.subject_counts import SubjectCounts, labels_in
from biasamp.data import Codes, Column, Label, LabelSet, Variable, printable
from biasamp.data.keys import row_keys

from .count_kernels import ALL_COUNTS, Batch, count_batch
from .label_reader import Subject
from .plan import Plan
from .source import Source
from .subject import records_of
from .withholding import Cells, withheld_groups

# The group of all records whose group is withheld.
WITHHELD = "(withheld)"
# Made-up records that are counted at once.
_ROWS = 1 << 20
_REFUSED = {
    "weights": "weights have no counts of records",
    "cluster": "clusters cannot be told apart in a table of counts",
    "train": "train labels are counts of other records, which would be shared too",
}


NO_IDENTITIES = "suppress: counts of labels with identities are not shared with small ones withheld; give others the figures that associate() ranks"


def shared_counts(counts: AuditCounts | AssociationCounts, suppress: int | None, named: Sequence[str]) -> AuditCounts:
    """Counts that were made before, with small ones withheld; arguments that are ``named`` beside are refused."""
    if isinstance(counts, AssociationCounts):
        raise TypeError(NO_IDENTITIES)
    if suppress is None:
        raise TypeError("data are counts already: say with suppress= below which number counts are withheld")
    if named:
        raise ValueError(f"data are counts, which say how they were made: leave {', '.join(named)} out")
    return published_counts(counts, suppress)


def published_counts(counts: AuditCounts, limit: int) -> AuditCounts:
    """Counts for others: every count that can be computed from them is 0, or at least ``limit``, or known to within no less than it."""
    if counts.withheld is not None:
        raise ValueError(f"suppress: these counts have small ones withheld already, below {counts.withheld['below']}")
    for name, why in _REFUSED.items():
        if counts.plan.get(name):
            raise ValueError(f"suppress: counts with {name} are not shared: {why}")
    if any(subject.why for subject in counts.subjects):
        raise ValueError("suppress: scores and strata are not shared: count without them")
    if counts.missing_values:
        raise ValueError("suppress: labels are missing; leave those records out first")
    hidden = withheld_groups(counts, limit, _combinations)
    made = [_published(subject, counts, hidden[subject.attribute]) for subject in counts.subjects]
    first = made[0]
    total = replace(
        first,
        subjects=tuple(part.subjects[0] for part in made),
        content=sum(part.content for part in made) % (1 << 64),
        truths=sum(part.truths for part in made) % (1 << 64),
        withheld={
            "below": limit,
            "groups": {name: sorted(label.category or "" for label in labels) for name, labels in hidden.items()},
        },
    )
    return total.of_source(" + ".join(source.name for source in counts.sources) or "counts")


def _combinations(subject: SubjectCounts, way: str) -> Cells:
    """Of every group the records of each combination of truth and prediction that any record has."""
    table = _tables(subject)[way]
    side = list(table.sides).index("given" if way == "A->T" else "truth")
    group = _groups_of(table, side)
    others = [
        held.combinations[table.cells[:, place]] for place, held in enumerate(table.sides.values()) if place != side
    ]
    distinct, place = np.unique(np.concatenate(others, axis=1), axis=0, return_inverse=True)
    held = np.zeros((len(distinct), len(labels_in(subject.A))), dtype=np.int64)
    np.add.at(held, (place.reshape(-1), group), table.counts.astype(np.int64))
    return {row.tobytes(): records for row, records in zip(distinct, held, strict=True)}


def _tables(subject: SubjectCounts) -> Mapping[str, ContingencyTable]:
    """The table of each direction."""
    found = {}
    for way, bags in subject.pairs.items():
        table = subject.cells.get(way)
        if bags.soft or table is None:
            what = (
                "probabilities have no counts of records" if bags.soft else "there are too many combinations of labels"
            )
            raise ValueError(f"suppress: {printable(subject.attribute, 60)!r} {way} cannot be shared: {what}")
        found[way] = table
    return found


def _groups_of(table: ContingencyTable, side: int) -> NDArray[np.int64]:
    """The number of the group of each cell."""
    held = list(table.sides.values())[side].combinations
    return np.asarray(held.argmax(axis=1)[table.cells[:, side]], dtype=np.int64)


def _published(subject: SubjectCounts, counts: AuditCounts, hidden: frozenset[Label]) -> AuditCounts:
    """The counts of one attribute, made anew from its tables; both directions from a table of their own."""
    whole = None
    for way, table in _tables(subject).items():
        made = reduce(AuditCounts.joined, _batches(subject, table, way, counts, hidden))
        if whole is None:
            whole = made
            continue
        one, two = whole.subjects[0], made.subjects[0]
        joined = replace(
            one,
            pairs={**one.pairs, **two.pairs},
            cells={**one.cells, **two.cells},
            by_bag={**one.by_bag, **two.by_bag},
        )
        # Keys are those of one table: the other has as many records.
        whole = replace(
            whole,
            subjects=(joined,),
            content=(whole.content + made.content) % (1 << 64),
            truths=(whole.truths + made.truths) % (1 << 64),
        )
    assert whole is not None
    return whole


def _batches(
    subject: SubjectCounts, table: ContingencyTable, way: str, counts: AuditCounts, hidden: frozenset[Label]
) -> Iterator[AuditCounts]:
    """Counts of made-up records that have a table, some at a time."""
    plan = replace(Plan.from_dict(counts.plan), record=None)
    spaces = (subject.A, subject.T, subject.T) if way == "A->T" else (subject.T, subject.A, subject.A)
    sides = list(records_of(table, *spaces))
    for number in (0,) if way == "A->T" else (1, 2):
        sides[number] = _joined(sides[number], hidden)
    # Cells that are the same now that groups are joined stand together, whatever they were made of.
    rows = np.column_stack([_numbers(side) for side in sides])
    distinct, first, place = np.unique(rows, axis=0, return_index=True, return_inverse=True)
    sizes = np.zeros(len(distinct), dtype=np.int64)
    np.add.at(sizes, place.reshape(-1), table.counts.astype(np.int64))
    ends = np.cumsum(sizes)
    for start in range(0, int(ends[-1]), _ROWS):
        many = min(_ROWS, int(ends[-1]) - start)
        cell = np.searchsorted(ends, np.arange(start, start + many), side="right")
        given, truth, said = (side.take(first[cell]) for side in sides)
        mine = (
            Subject(subject.attribute, given, truth, None, said)
            if way == "A->T"
            else Subject(subject.attribute, truth, given, said, None)
        )
        keys = row_keys(start, many)
        # What the records say is the number of their cell; it stands for the truth too, as rows are known by nothing else.
        column = Column(plan.task.names[0], "int", cell)
        batch = Batch(Source("counts", {column.name: column}, many), keys, keys, None, [mine])
        yield count_batch(batch, None, plan, ALL_COUNTS, set())


def _joined(labels: LabelSet, hidden: frozenset[Label]) -> LabelSet:
    """Groups of which those that are hidden are one."""
    (block,) = labels.blocks
    assert isinstance(block, Codes)
    (variable,) = block.variables
    gone = {label.category for label in hidden}
    if not gone:
        return labels
    kept = tuple(category for category in variable.categories if category not in gone)
    if WITHHELD in kept:
        raise ValueError(f"suppress: a group is called {WITHHELD!r}, as those that are withheld are: rename it")
    place = [len(kept) if category in gone else kept.index(category) for category in variable.categories]
    codes = np.array(place, dtype=np.int64)[block.codes]
    return LabelSet((Codes((Variable(variable.name, "categorical", (*kept, WITHHELD)),), codes),))


def _numbers(labels: LabelSet) -> NDArray[np.int64]:
    """A number for each distinct set of labels, in an order that depends on the labels alone."""
    rows = labels.rows().astype(np.uint8)
    return np.asarray(np.unique(rows, axis=0, return_inverse=True)[1].reshape(-1), dtype=np.int64)


def withheld_labels(counts: AuditCounts) -> dict[str, frozenset[Label]]:
    """Of counts that were published, the groups that stand for those that are withheld."""
    return {
        subject.attribute: frozenset(label for label in labels_in(subject.A) if label.category == WITHHELD)
        for subject in counts.subjects
    }


def withheld_names(counts: AuditCounts) -> list[str]:
    """What is withheld, as an audit lists it."""
    groups: Mapping[str, Any] = {} if counts.withheld is None else counts.withheld["groups"]
    variables = {subject.attribute: subject.A[0].name for subject in counts.subjects}
    return sorted(str(Label(variables[name], category)) for name, held in groups.items() for category in held)
