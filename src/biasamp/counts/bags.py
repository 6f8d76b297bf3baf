"""Pair counts of bags of records: the one statistic that values, halves and resamples all follow from.

A record falls into one of a few thousand bags by its key. Counts of bags add up over batches, files and machines as
all counts do, and resampling whole bags is resampling records to first order: bags are random groups of records, so
that the squared sums of their influences have the mean that those of single records have, with a relative spread of
``sqrt(2 / bags)``. A resample then costs a product of small matrices, however many records there are.

Only bags that hold records have rows, so that sixty records cost sixty rows and not thousands.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, LabelSet
from biasamp.data.keys import Keys
from biasamp.data.label import Mask

from .bagging import (
    FEWEST_BAGS,
    bag_of,
    bag_of_record,
    bag_weights,
    bags_for,
    exact_floats,
    occupied,
    shuffled_numbers,
    weighted_sums,
)
from .fixed import Count, Fixed, add, concatenate, floats, total
from .joint import JointCounts, same_labels, squared_weights
from .pair import PairCounts, drop_records, whole_spread
from .tables import JOINT, PAIR, joint_tables, pair_tables, pair_tables_of_kinds

Index = NDArray[np.int64]
C = TypeVar("C", PairCounts, JointCounts)

# Resampled counts that formulas see at a time; they make a dozen temporary arrays.
_BLOCK = 1 << 20


def filled_rows(numbers: Index, arrays: dict[str, Any]) -> tuple[Index, dict[str, Any]]:
    """The rows of bags that weigh anything: not those of records without weight, or without any known label."""
    filled = floats(arrays["n"]).any(axis=(1, 2))
    if filled.all():
        return numbers, arrays
    return numbers[filled], {name: values[filled] for name, values in arrays.items()}


def rows_at(values: Count, places: Index, size: int) -> Count:
    """``values`` as the rows ``places`` of ``size`` rows; the others are 0."""
    if isinstance(values, Fixed):
        return values.each(lambda part: rows_at(part, places, size))  # type: ignore[arg-type, return-value]
    if len(places) == size:
        return values
    out = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    out[places] = values
    return out


@dataclass(frozen=True, eq=False, repr=False)
class InBags(Generic[C]):
    """Counts of records by bag; they add up over records.

    Attributes
    ----------
    bags : int
        Into how many bags the records fall.
    numbers : ndarray of shape (rows,)
        Which bags hold records, ascending.
    counts : PairCounts or JointCounts
        Its arrays have a leading axis of ``rows``, but for ``spread`` and ``squared``, which are of all records.
    """

    bags: int
    numbers: Index
    counts: C
    names: ClassVar[tuple[str, ...]]

    def with_each(self, change: Callable[[Count], Any], **more: Any) -> C:
        """The counts whose arrays by bag are changed, each in the same way."""
        return replace(self.counts, **{name: change(getattr(self.counts, name)) for name in self.names}, **more)

    @cached_property
    def whole(self) -> C:
        """The counts of all these bags together."""
        return self.with_each(total)

    def with_whole(self, whole: C) -> Self:
        """These counts, of whose sum over bags the caller knows what it is."""
        self.__dict__["whole"] = whole
        return self

    def shuffled(self, seed: int) -> Self:
        """The same counts with the bags in another order."""
        numbers, rows = shuffled_numbers(self.numbers, self.bags, seed)
        return replace(self, numbers=numbers, counts=self.with_each(lambda values: values[rows]))

    def laid_out(self) -> Self:
        """The same counts, those of a bag together in memory: sums of floats depend on it in their last bit."""

        def by_row(values: Any) -> Any:
            return values if isinstance(values, Fixed) else np.ascontiguousarray(values)

        return replace(self, counts=self.with_each(by_row))

    def in_rows(self, numbers: Index) -> C:
        """The counts with a row for each of these bags, among them all that hold records."""
        places = np.searchsorted(numbers, self.numbers)
        return self.with_each(lambda values: rows_at(values, places, len(numbers)))

    def _all_numbers(self, other: InBags[C]) -> Index:
        """The numbers of the bags that either holds."""
        if self.bags != other.bags:
            raise ValueError(f"counts of {self.bags} and of {other.bags} bags do not add up")
        if np.array_equal(self.numbers, other.numbers):
            return self.numbers
        return np.union1d(self.numbers, other.numbers)


@dataclass(frozen=True, eq=False, repr=False)
class BagCounts(InBags[PairCounts]):
    """Pair counts of one direction, bag by bag; they add up over records.

    Attributes
    ----------
    agreeing : counts of shape (outcome labels,)
        ``C(o and o_hat)`` over all records, whatever their given labels.
    soft : bool
        Whether any prediction is a probability.
    """

    agreeing: Count
    soft: bool = False
    names = PAIR

    @classmethod
    def from_labels(
        cls,
        evaluation: Evaluation,
        bags: int | None = None,
        *,
        accelerate: bool | None = None,
        by_row: bool = True,
    ) -> BagCounts:
        """Count the pairs of an evaluation, whose keys decide the bags.

        Parameters
        ----------
        evaluation : Evaluation
            Labels in one label space.
        bags : int, optional
            How many bags; by default as many as fit.
        accelerate : bool, optional
            Whether to use numba; by default where it is installed and pays.
        by_row : bool
            Whether the counts of a bag lie together in memory; else :meth:`laid_out` sees to it.
        """
        bags = bags or bags_for(evaluation.given.width * evaluation.truth.width)
        evaluation = drop_records(evaluation)
        numbers, place = occupied(bag_of_record(evaluation, bags), bags)
        arrays, agreeing = pair_tables(evaluation, place, len(numbers), accelerate, by_row)
        numbers, arrays = filled_rows(numbers, arrays)
        counts = PairCounts.of_tables(evaluation, arrays)
        return cls(bags, numbers, counts, agreeing, evaluation.predicted.soft)

    @classmethod
    def of_kinds(
        cls, evaluation: Evaluation, bags: int, numbers: Index, kinds: NDArray[np.uint32], size: Index
    ) -> BagCounts:
        """As :meth:`from_labels`, of kinds of records as :func:`biasamp.counts.tables.pair_tables_of_kinds` takes them."""
        arrays, agreeing = pair_tables_of_kinds(kinds, size)
        return cls(bags, numbers, PairCounts.of_tables(evaluation, arrays), agreeing)

    @classmethod
    def of_cells(cls, evaluation: Evaluation, bag: Index, bags: int) -> BagCounts:
        """Counts of cells whose weights say how many records each of them holds, all of them in its ``bag``."""
        numbers, place = occupied(bag, bags)
        arrays, agreeing = pair_tables(evaluation, place, len(numbers), False)
        numbers, arrays = filled_rows(numbers, arrays)
        assert evaluation.weights is not None
        n = int(evaluation.weights.sum())
        # Records of one cell are alike and weigh one each: their spread follows from the tables.
        labels = evaluation.given.labels, evaluation.truth.labels
        counts = PairCounts(*labels, n, **arrays, squared=np.array([n], dtype=np.int64))
        return cls(bags, numbers, counts, agreeing, evaluation.predicted.soft)

    @classmethod
    def of_rows(cls, bags: int, counts: PairCounts, agreeing: Count, soft: bool) -> BagCounts:
        """Counts with a row for every bag, as they are saved."""
        arrays = {name: getattr(counts, name) for name in PAIR}
        numbers, filled = filled_rows(np.arange(bags), arrays)
        return cls(bags, numbers, replace(counts, **filled), agreeing, soft)

    @classmethod
    def side_by_side(cls, parts: Sequence[BagCounts]) -> BagCounts:
        """The counts of the same records and given labels for several lots of outcome labels."""
        if len(parts) == 1:
            return parts[0]
        agreeing = concatenate([part.agreeing for part in parts])
        counts = PairCounts.side_by_side([part.counts for part in parts], [part.whole for part in parts])
        return replace(parts[0], counts=counts, agreeing=agreeing)

    def only(self, given: Mask, outcome: Mask) -> BagCounts:
        """The counts of some of the given labels and outcomes, of all records."""
        if given.all() and outcome.all():
            return self
        return replace(self, counts=self.counts.only(given, outcome), agreeing=self.agreeing[outcome])

    @cached_property
    def halves(self) -> tuple[BagCounts, BagCounts] | None:
        """The two halves of the records, in the order in which signs are lent; None where one has no pair."""
        upper = self.numbers >= self.bags // 2
        first, second = self._some(upper), self._some(~upper)
        if all(floats(part.whole.given).any() for part in (first, second)):
            return first, second
        return None

    def _some(self, rows: NDArray[np.bool_]) -> BagCounts:
        counts = self.with_each(lambda values: values[rows], spread=None)
        return replace(self, counts=counts, numbers=self.numbers[rows])

    @property
    def resamplable(self) -> bool:
        """Whether there are enough bags to resample."""
        return self.bags >= FEWEST_BAGS

    def weights(self, resamples: int, seed: int) -> NDArray[np.float32]:
        """The weight of every bag in every resample, of shape (resamples, rows)."""
        return bag_weights(self.numbers, self.bags, resamples, seed)

    def resampled(self, resamples: int, seed: int, names: Sequence[str] = PAIR) -> Iterator[PairCounts]:
        """The named counts of a few resamples at a time, with a leading axis of resamples; the others are of all."""
        weights = self.weights(resamples, seed)
        size = int(np.prod(self.counts.joint_truth.shape[1:]))
        step = max(1, _BLOCK // max(size, 1))
        columns = {name: exact_floats(getattr(self.counts, name)) for name in names}
        for start in range(0, resamples, step):
            drawn = weights[start : start + step]
            arrays: dict[str, Any] = {name: weighted_sums(drawn, values) for name, values in columns.items()}
            yield replace(self.whole, **arrays, spread=None)

    def replicates(self, resamples: int, seed: int, names: Sequence[str] = PAIR) -> PairCounts:
        """The named counts of all resamples at once."""
        parts = list(self.resampled(resamples, seed, names))
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return replace(parts[0], **arrays)

    def __repr__(self) -> str:
        return f"<BagCounts of {self.counts.records:,} records in {self.bags:,} bags>"

    def __add__(self, other: BagCounts) -> BagCounts:
        if not isinstance(other, BagCounts):
            return NotImplemented
        same_labels(self.counts.given_labels, other.counts.given_labels, "given")
        same_labels(self.counts.outcome_labels, other.counts.outcome_labels, "outcome")
        numbers = self._all_numbers(other)
        mine, theirs = (part.in_rows(numbers) for part in (self, other))
        if mine.spread is not None or theirs.spread is not None:
            mine = replace(mine, spread=whole_spread(self.whole))
            theirs = replace(theirs, spread=whole_spread(other.whole))
        return BagCounts(self.bags, numbers, mine + theirs, add(self.agreeing, other.agreeing), self.soft or other.soft)


@dataclass(frozen=True, eq=False)
class BagJoint(InBags[JointCounts]):
    """Joint counts of two label sets by bag: what MALS needs."""

    names = JOINT

    @classmethod
    def from_labels(
        cls, left: LabelSet, right: LabelSet, units: Keys, bags: int, weights: NDArray[Any] | None = None
    ) -> BagJoint:
        """Count two label sets, hard or soft, of records without missing labels."""
        numbers, bag = occupied(bag_of(units, bags), bags)
        arrays = joint_tables(left, right, weights, bag, len(numbers))
        numbers, arrays = filled_rows(numbers, arrays)
        squared = squared_weights(weights, len(left))
        return cls(bags, numbers, JointCounts(left.labels, right.labels, len(left), **arrays, squared=squared))

    @classmethod
    def of_rows(cls, counts: JointCounts) -> BagJoint:
        """Counts with a row for every bag, as they are saved."""
        bags = counts.n.shape[0]
        numbers, filled = filled_rows(np.arange(bags), {name: getattr(counts, name) for name in JOINT})
        return cls(bags, numbers, replace(counts, **filled))

    @classmethod
    def of_truth(cls, bags: BagCounts) -> BagJoint:
        """The joint counts of given and truth."""
        return cls(bags.bags, bags.numbers, bags.counts.truth_joint)

    def only(self, left: Mask, right: Mask) -> BagJoint:
        """The counts of some of the labels, of all records."""
        return self if left.all() and right.all() else replace(self, counts=self.counts.only(left, right))

    def resampled(self, resamples: int, seed: int) -> JointCounts:
        """The joint counts of every resample of the bags, with a leading axis of resamples."""
        weights = bag_weights(self.numbers, self.bags, resamples, seed)
        return self.with_each(lambda values: weighted_sums(weights, exact_floats(values)))

    def __add__(self, other: BagJoint) -> BagJoint:
        if not isinstance(other, BagJoint):
            return NotImplemented
        numbers = self._all_numbers(other)
        return BagJoint(self.bags, numbers, self.in_rows(numbers) + other.in_rows(numbers))
