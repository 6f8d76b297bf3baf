"""One protected attribute with the tasks, as an audit and its findings see it: through its counts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification.base import Base, read_base
from biasamp.counts.bags import BagCounts
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.joint import JointCounts, some_cells
from biasamp.counts.signed_sums import SecondLook, SignedSums
from biasamp.counts.subject_counts import SubjectCounts, labels_in
from biasamp.data import Codes, Dense, Evaluation, Label, LabelSet, Sparse, Variable
from biasamp.resampling.sample import Sample
from biasamp.resampling.significance import fair_coins_p, summed_p

from .group_choice import without_labels
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
    ``whole`` is what this was taken from, where ignored groups were left out of it.
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
    whole: Counted | None = None

    def __post_init__(self) -> None:
        self.attribute = self.counts.attribute
        self.clustered = self.plan.cluster is not None

    @property
    def predicts_attribute(self) -> bool:
        """Whether the model predicts the attribute."""
        return "T->A" in self.counts.pairs

    @property
    def kept(self) -> NDArray[np.bool_]:
        """Which groups are not ignored, in the order of their labels."""
        return np.array([label not in self.ignored for label in labels_in(self.counts.A)], dtype=bool)

    @cached_property
    def compared(self) -> Counted:
        """The same records without the pairs of ignored groups: what aggregates over groups are of."""
        if not self.ignored:
            return self
        keep = np.flatnonzero(self.kept)
        pairs = {
            way: bags.some_labels(given=keep) if way == "A->T" else bags.some_labels(outcome=keep)
            for way, bags in self.counts.pairs.items()
        }
        train = None if self.counts.train is None else self.counts.train.some_labels(left=keep)
        counts = replace(self.counts, A=without_labels(self.counts.A, self.ignored), pairs=pairs, train=train)
        data = None if self.data is None else _SomeGroups(self.data, keep, len(self.kept))
        return replace(self, counts=counts, data=data, ignored=frozenset(), whole=self)  # type: ignore[arg-type]

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
        if self.whole is not None:
            return _of_some(self.whole.base_source(direction), np.flatnonzero(self.whole.kept), direction)
        given, outcome = self.sides(direction)
        base = None
        if self.base is not None and self.attribute in self.plan.groups:
            base = self.base.argument(self.plan.groups[self.attribute], self.plan.task, direction)
        return read_base(base, None, Evaluation(given, outcome, outcome), self.train(direction))


@dataclass(frozen=True, eq=False)
class _SomeGroups:
    """Data that is asked about some groups only, and answers a second look at its records for all of them."""

    data: AuditRecords | StreamedData
    keep: NDArray[np.int64]
    groups: int

    def look(self, number: int, direction: str, asked: SecondLook) -> SignedSums:
        """A second look at the records; pairs of the other groups pull nothing."""
        axis = 1 if direction == "A->T" else 2
        pulls = tuple(
            replace(pull, each=self._all(pull.each, axis), centre=self._all(pull.centre, axis)) for pull in asked.pulls
        )
        given, outcome = asked.given, asked.outcome
        if direction == "A->T":
            given = self.keep[given]
        else:
            outcome = self.keep[outcome]
        return self.data.look(number, direction, SecondLook(pulls, given, outcome))

    def _all(self, values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        shape = list(values.shape)
        shape[axis] = self.groups
        out = np.zeros(shape)
        out[(slice(None),) * axis + (self.keep,)] = values
        return out


def _of_some(base: Base, keep: NDArray[np.int64], direction: str) -> Base:
    """Signs and base rates of some groups."""
    some = (keep, None) if direction == "A->T" else (None, keep)
    arrays = {name: getattr(base, name) for name in ("signs", "sign_p", "rates")}
    sliced: dict[str, Any] = {
        name: None if values is None else some_cells(values, *some) for name, values in arrays.items()
    }
    counts = None if base.sign_counts is None else base.sign_counts.some_labels(*some)
    return replace(base, **sliced, sign_counts=counts)


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
