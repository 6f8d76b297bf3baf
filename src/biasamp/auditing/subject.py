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
from biasamp.counts.subject_counts import SubjectCounts, labels_in
from biasamp.data import Codes, Dense, Evaluation, Label, LabelSet, Sparse, Variable
from biasamp.data.label import Mask
from biasamp.data.vocabulary import true_labels
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

    ``data`` is there where it can be read again, ``number`` which of its subjects this is. Groups that are
    ``ignored`` are in no comparison; ``reference`` is the group that the rates of others are held against.
    """

    counts: SubjectCounts
    records: int
    plan: Plan
    base: BaseSource | None
    data: AuditRecords | StreamedData | None = None
    number: int = 0
    weighted: bool = False
    ignored: frozenset[Label] = frozenset()
    reference: Label | None = None

    def __post_init__(self) -> None:
        self.attribute = self.counts.attribute
        self.clustered = self.plan.cluster is not None

    @property
    def predicts_attribute(self) -> bool:
        """Whether the model predicts the attribute."""
        return "T->A" in self.counts.pairs

    @cached_property
    def compared(self) -> Mask:
        """Which groups are not ignored, in the order of all labels."""
        return np.array([label not in self.ignored for label in labels_in(self.counts.A)], dtype=bool)

    @cached_property
    def known(self) -> dict[str, Mask]:
        """Of both sides, which labels have truth: in these records or in the train labels."""
        counts, train = self.counts, self.counts.train
        left, right = ([], []) if train is None else ([floats(train.left)], [floats(train.right)])
        return {
            "A": true_labels(counts.A, counts.sizes["A"], *(held.max(axis=-1) for held in left)),
            "T": true_labels(counts.T, counts.sizes["T"], *(held.max(axis=-2) for held in right)),
        }

    def with_truth(self, direction: str) -> tuple[Mask, Mask]:
        """Which given labels and which outcomes of a direction have truth."""
        sides = self.known["A"], self.known["T"]
        return sides if direction == "A->T" else sides[::-1]

    def kept(self, direction: str) -> tuple[Mask, Mask]:
        """Which of these aggregates over pairs are of: those of ignored groups are left out."""
        sides = self.known["A"] & self.compared, self.known["T"]
        return sides if direction == "A->T" else sides[::-1]

    @cached_property
    def sizes(self) -> dict[str, tuple[tuple[Label, ...], NDArray[np.int64], bool]]:
        """Of both sides: the labels with truth, how many records have each, and whether a record has one at most."""
        sides = {"A": no_records(self.counts.A), "T": no_records(self.counts.T)}
        return {
            side: (held.only(self.known[side]).labels, self.counts.sizes[side][self.known[side]], held.exclusive)
            for side, held in sides.items()
        }

    @property
    def true_tasks(self) -> tuple[Variable, ...]:
        """The tasks with the labels that have truth."""
        return no_records(self.counts.T).only(self.known["T"]).variables

    @property
    def invented_tasks(self) -> frozenset[str]:
        """The tasks that are predicted to have values which no record has in truth."""
        bags = self.counts.pairs.get("A->T")
        if bags is None:
            return frozenset()
        said = ~self.known["T"] & (floats(bags.whole.predicted).max(axis=0) > 0)
        return frozenset(label.variable for label, apart in zip(labels_in(self.counts.T), said, strict=True) if apart)

    def pairs(self, direction: str) -> BagCounts | None:
        """The pair counts of the labels with truth; None where predictions are not there."""
        bags = self.counts.pairs.get(direction)
        return None if bags is None else bags.only(*self.with_truth(direction))

    @property
    def independent_tasks(self) -> dict[str, float]:
        """How many independent records have each task: with clusters no more of them than there are clusters."""
        labels, sizes, _ = self.sizes["T"]
        filled = max((len(bags.numbers) for bags in self.counts.pairs.values()), default=0)
        share = min(filled / max(self.records, 1), 1.0) if self.clustered else 1.0
        return {str(label): float(size) * share for label, size in zip(labels, sizes, strict=True)}

    def margins(self, direction: str) -> Margins | None:
        """Totals of the outcome labels; None where its predictions are not there."""
        bags = self.pairs(direction)
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

    def sample(self, direction: str, signed: tuple[Mask, Mask] | None = None) -> Sample:
        """The pairs that aggregates are of, as a sample; ``signed`` says which of the kept labels have a sign."""
        given, outcome = self.kept(direction)
        if signed is not None:
            given, outcome = within(given, signed[0]), within(outcome, signed[1])
        bags = self.counts.pairs[direction].only(given, outcome)
        again: Callable[[SecondLook], SignedSums] | None = None
        if self.data is not None and not bags.resamplable:
            again = partial(self.data.look, self.number, direction, (given, outcome))
        return Sample(bags, self.clustered, again)

    def sides(self, direction: str) -> tuple[LabelSet, LabelSet]:
        """Given and outcome of a direction, without records, with all labels that any of them has."""
        A, T = no_records(self.counts.A), no_records(self.counts.T)
        return (A, T) if direction == "A->T" else (T, A)

    def train(self, direction: str) -> JointCounts | None:
        """Joint counts of the train labels as (given, truth), of the labels that are kept."""
        train = self.counts.train
        if train is None:
            return None
        return (train if direction == "A->T" else turned(train)).only(*self.kept(direction))

    def base_source(self, direction: str) -> Base:
        """Where signs and base rates come from."""
        given, outcome = (
            side.only(keep) for side, keep in zip(self.sides(direction), self.kept(direction), strict=True)
        )
        base = None
        if self.base is not None and self.attribute in self.plan.groups:
            base = self.base.argument(self.plan.groups[self.attribute], self.plan.task, direction)
        return read_base(base, None, Evaluation(given, outcome, outcome), self.train(direction))


def within(kept: Mask, signed: Mask) -> Mask:
    """Of all labels, those that are kept and, among these, signed."""
    out = kept.copy()
    out[kept] = signed
    return out


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
