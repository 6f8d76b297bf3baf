"""One protected attribute with the tasks: its labels where records are in memory, or its counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification.base import Base, read_base
from biasamp.amplification.mals_sample import MalsSample
from biasamp.counts.bags import BagCounts
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.signed_sums import SecondLook, SignedSums
from biasamp.counts.subject_counts import SubjectCounts
from biasamp.data import Codes, Dense, Evaluation, Label, LabelSet, Sparse, Variable
from biasamp.data.keys import Keys, row_keys
from biasamp.resampling.sample import Sample

from .audit_base import BaseSource
from .margins import Margins
from .plan import Plan


@dataclass(frozen=True, eq=False)
class Subject:
    """One protected attribute with the tasks, in one label space each."""

    attribute: str
    A: LabelSet
    T: LabelSet
    A_pred: LabelSet | None
    T_pred: LabelSet | None
    A_train: LabelSet | None = None
    T_train: LabelSet | None = None

    def sides(self, direction: str) -> tuple[LabelSet, LabelSet, LabelSet | None]:
        """Given, truth and predicted labels of a direction; None where there are no predictions."""
        return (self.A, self.T, self.T_pred) if direction == "A->T" else (self.T, self.A, self.A_pred)


@dataclass(frozen=True, eq=False)
class AuditRecords:
    """The records of an audit in memory: what needs more of them than counts looks here.

    Attributes
    ----------
    subjects : sequence of Subject
    weights, ids, clusters : ndarray of shape (records,), optional
    """

    subjects: Sequence[Subject]
    weights: NDArray[Any] | None = None
    ids: Keys | None = None
    clusters: Keys | None = None

    def evaluation(self, number: int, direction: str) -> Evaluation:
        """The records of a subject, in the order of their ids where they have any.

        Sums of fractions depend on the order of their addends, and must not on that of a file's rows.
        """
        given, truth, predicted = self.subjects[number].sides(direction)
        assert predicted is not None
        held = Evaluation(given, truth, predicted, self.weights, self.ids, self.clusters)
        return held if self.ids is None else held.take(np.argsort(self.ids))

    def train(self, number: int, direction: str) -> tuple[LabelSet, LabelSet] | None:
        """Train labels as (given, truth)."""
        subject = self.subjects[number]
        if subject.A_train is None or subject.T_train is None:
            return None
        sides = subject.A_train, subject.T_train
        return sides if direction == "A->T" else (sides[1], sides[0])

    def mals_sample(self, number: int, against_truth: bool) -> MalsSample:
        """What MALS looks at: the records of a subject that have all labels."""
        subject = self.subjects[number]
        assert subject.A_pred is not None
        assert subject.T_pred is not None
        sides = [subject.A, subject.T, subject.A_pred, subject.T_pred]
        keep = np.logical_and.reduce([labels.complete() for labels in sides])
        A, T, A_pred, T_pred = (labels.take(keep) for labels in sides)
        units = row_keys(0, len(keep)) if self.ids is None else self.ids
        units = (units if self.clusters is None else self.clusters)[keep]
        weights = None if self.weights is None else self.weights[keep]
        truth = (A, T) if against_truth else None
        return MalsSample((A_pred, T_pred), truth, weights, units, self.clusters is not None)


class Rereadable(Protocol):
    """Data that can be read a second time."""

    def records(self) -> AuditRecords:
        """All records in memory; refuses with a reason where they do not fit."""

    def look(self, number: int, direction: str, asked: SecondLook) -> SignedSums:
        """A second look at the records of a subject."""


class Counted:
    """The counts of one protected attribute, as an audit sees them.

    Parameters
    ----------
    counts : SubjectCounts
    records : int
        How many records there are.
    plan : Plan
    base : BaseSource or None
    source : Rereadable or None
        The data, where it can be read again.
    number : int
        Which of the subjects of the data it is.
    weighted : bool
        Whether records have weights.
    """

    def __init__(
        self,
        counts: SubjectCounts,
        records: int,
        plan: Plan,
        base: BaseSource | None,
        source: Rereadable | None = None,
        number: int = 0,
        weighted: bool = False,
    ) -> None:
        self.counts, self.records, self.plan, self.base = counts, records, plan, base
        self.data, self.number, self.weighted = source, number, weighted
        self.attribute = counts.attribute
        self.clustered = plan.cluster is not None

    @property
    def predicts_attribute(self) -> bool:
        """Whether the model predicts the attribute."""
        return "T->A" in self.counts.pairs

    @cached_property
    def sizes(self) -> dict[str, tuple[tuple[Label, ...], NDArray[np.int64], bool]]:
        """Of both sides: the labels, how many records have each, and whether a record has one at most."""
        sides = {"A": no_records(self.counts.A), "T": no_records(self.counts.T)}
        return {side: (held.labels, self.counts.sizes[side], held.exclusive) for side, held in sides.items()}

    def margins(self, direction: str) -> Margins | None:
        """Totals of the outcome labels; None where its predictions are not there."""
        bags = self.counts.pairs.get(direction)
        if bags is None:
            return None
        outcome = self.counts.T if direction == "A->T" else self.counts.A
        return Margins.of_counts(bags.whole, floats(bags.agreeing), no_records(outcome).exclusive)

    def sample(self, direction: str, bags: BagCounts) -> Sample:
        """The pairs of a direction as a sample."""
        again: Callable[[SecondLook], SignedSums] | None = None
        if self.data is not None and not bags.resamplable:
            again = partial(self.data.look, self.number, direction)
        return Sample(bags, self.clustered, again)

    def sides(self, direction: str) -> tuple[LabelSet, LabelSet]:
        """Given and outcome of a direction, without records."""
        A, T = no_records(self.counts.A), no_records(self.counts.T)
        return (A, T) if direction == "A->T" else (T, A)

    def train(self, direction: str) -> JointCounts | None:
        """Joint counts of the train labels as (given, truth)."""
        train = self.counts.train
        return train if train is None or direction == "A->T" else turned(train)

    def base_source(self, direction: str) -> Base:
        """Where signs and base rates come from."""
        given, outcome = self.sides(direction)
        base = None
        if self.base is not None and self.attribute in self.plan.groups:
            base = self.base.argument(self.plan.groups[self.attribute], self.plan.task, direction)
        return read_base(base, None, Evaluation(given, outcome, outcome), self.train(direction))


def no_records(variables: tuple[Variable, ...]) -> LabelSet:
    """A label space without records: yes/no labels side by side, every other variable by itself."""
    blocks: list[Codes | Dense | Sparse] = []
    for variable in variables:
        last = blocks[-1] if blocks else None
        if variable.kind == "binary" and isinstance(last, Dense):
            merged = (*last.variables, variable)
            blocks[-1] = Dense(merged, np.zeros((0, len(merged)), dtype=np.uint8))
        elif variable.kind == "binary":
            blocks.append(Dense((variable,), np.zeros((0, 1), dtype=np.uint8)))
        elif variable.kind == "multilabel":
            blocks.append(Sparse((variable,), np.zeros(1, dtype=np.int64), np.zeros(0, dtype=np.int64)))
        else:
            blocks.append(Codes((variable,), np.zeros(0, dtype=np.int64)))
    return LabelSet(tuple(blocks))


def records_of(table: ContingencyTable, *spaces: tuple[Variable, ...]) -> list[LabelSet]:
    """The cells of a table as records of each side, one record for each cell."""
    out = []
    for (place, side), variables in zip(enumerate(list(table.sides.values())[: len(spaces)]), spaces, strict=True):
        rows = side.combinations[table.cells[:, place]]
        blocks: list[Codes | Dense | Sparse] = []
        first = 0
        for block in no_records(variables).blocks:
            mine = rows[:, first : first + block.width]
            first += block.width
            if isinstance(block, Codes):
                codes = np.where(mine.any(axis=1), mine.argmax(axis=1), -1)
                blocks.append(Codes(block.variables, codes, sparse=bool((codes < 0).any())))
            elif isinstance(block, Sparse):
                row, column = np.nonzero(mine)
                indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(mine)))])
                blocks.append(Sparse(block.variables, indptr.astype(np.int64), column))
            else:
                blocks.append(Dense(block.variables, np.ascontiguousarray(mine)))
        out.append(LabelSet(tuple(blocks)))
    return out


def turned(joint: JointCounts) -> JointCounts:
    """Joint counts with the sides exchanged."""

    def swap(values: Any) -> Any:
        if isinstance(values, Fixed):
            return Fixed(*(np.swapaxes(part, -1, -2) for part in (values.whole, values.high, values.low)))
        return np.swapaxes(values, -1, -2)

    return JointCounts(
        joint.right_labels,
        joint.left_labels,
        joint.records,
        swap(joint.n),
        swap(joint.right),
        swap(joint.left),
        swap(joint.joint),
        joint.squared,
    )
