"""One protected attribute with the tasks, as an audit and its findings see it: through its counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification.base import Base, read_base
from biasamp.counts.bags import BagCounts
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.signed_sums import SecondLook, SignedSums
from biasamp.counts.subject_counts import SubjectCounts
from biasamp.data import Codes, Dense, Evaluation, Label, LabelSet, Sparse, Variable
from biasamp.resampling.sample import Sample
from biasamp.resampling.significance import fair_coins_p, summed_p

from .label_reader import AuditRecords
from .plan import Plan
from .source import BaseSource

if TYPE_CHECKING:
    from .counting import StreamedData


@dataclass(frozen=True, eq=False)
class Margins:
    """Totals of the outcome labels of one direction, over all records.

    ``truth``, ``predicted`` and ``p`` are of shape (labels,); the last is of the test that both rates are one.
    """

    labels: tuple[Label, ...]
    exclusive: bool
    n: float
    truth: NDArray[np.float64]
    predicted: NDArray[np.float64]
    p: NDArray[np.float64]


@dataclass(eq=False)
class Counted:
    """The counts of one protected attribute, as an audit sees them.

    ``data`` is there where it can be read again, ``number`` which of its subjects this is.
    """

    counts: SubjectCounts
    records: int
    plan: Plan
    base: BaseSource | None
    data: AuditRecords | StreamedData | None = None
    number: int = 0
    weighted: bool = False

    def __post_init__(self) -> None:
        self.attribute = self.counts.attribute
        self.clustered = self.plan.cluster is not None

    @property
    def predicts_attribute(self) -> bool:
        """Whether the model predicts the attribute."""
        return "T->A" in self.counts.pairs

    @cached_property
    def sizes(self) -> dict[str, tuple[tuple[Label, ...], NDArray[np.int64], bool]]:
        """Of both sides: the labels, how many records have each, and whether a record has one at most."""
        sides = {"A": no_records(self.counts.A), "T": no_records(self.counts.T)}
        return {side: (held.labels, self.counts.sizes[side], held.exclusive) for side, held in sides.items()}

    @property
    def independent_tasks(self) -> dict[str, float]:
        """How many independent records have each task: with clusters no more of them than there are clusters."""
        labels, sizes, _ = self.sizes["T"]
        filled = max((len(bags.numbers) for bags in self.counts.pairs.values()), default=0)
        share = min(filled / max(self.records, 1), 1.0) if self.clustered else 1.0
        return {str(label): float(size) * share for label, size in zip(labels, sizes, strict=True)}

    def margins(self, direction: str) -> Margins | None:
        """Totals of the outcome labels; None where its predictions are not there."""
        bags = self.counts.pairs.get(direction)
        if bags is None:
            return None
        _, outcome = self.sides(direction)
        counts = bags.whole
        truth, predicted = (floats(held).max(axis=0) for held in (counts.truth, counts.predicted))
        n = float(floats(counts.n).max())
        return Margins(counts.outcome_labels, outcome.exclusive, n, truth, predicted, self._rate_p(bags))

    def _rate_p(self, bags: BagCounts) -> NDArray[np.float64]:
        """Two-sided p-values that outcomes are predicted as often as they occur: only wrong predictions tell."""
        counts = bags.whole
        truth, predicted = (floats(held).max(axis=0) for held in (counts.truth, counts.predicted))
        both = floats(bags.agreeing)
        if not bags.resamplable or (counts.unweighted and not self.clustered):
            return fair_coins_p(predicted - both, truth - both)
        moved = (floats(bags.counts.predicted) - floats(bags.counts.truth)).sum(axis=1)
        return summed_p(moved)

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
    none = np.zeros(0, dtype=np.int64)
    for yes_no, group in groupby(variables, key=lambda variable: variable.kind == "binary"):
        held = tuple(group)
        if yes_no:
            blocks.append(Dense(held, np.zeros((0, len(held)), dtype=np.uint8)))
        else:
            blocks += [
                Sparse((one,), np.zeros(1, np.int64), none) if one.kind == "multilabel" else Codes((one,), none)
                for one in held
            ]
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

    labels = joint.right_labels, joint.left_labels
    n, left, right, both = (swap(values) for values in (joint.n, joint.right, joint.left, joint.joint))
    return JointCounts(*labels, joint.records, n, left, right, both, joint.squared)
