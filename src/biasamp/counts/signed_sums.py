"""A second look at the records, with signs that are known by now: one number per bag for each aggregate.

Where there are too many pairs to keep a table of them for every bag, the first pass over the records gives the values
and the signs. With fixed signs each record moves an aggregate by one number, its influence; the sums of these over
bags are all that errors and resamples need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Dense, Evaluation, LabelSet, Variable

from .bagging import MOST_BAGS, bag_of, bags_for, fewer_bags
from .bags import BagCounts
from .itemsets import expand
from .kernels.cross import indicator
from .pair import PairCounts, drop_records

Index = NDArray[np.int64]
Floats = NDArray[np.float64]

# Cells of the matrices that some records are laid out in.
_CELLS = 1 << 22
# Influences are summed as whole multiples of the largest possible one over this: the same in any order of records.
_STEPS = 2.0**40


@dataclass(frozen=True, eq=False)
class Pull:
    """How records move one aggregate.

    Attributes
    ----------
    each : ndarray of shape (2, given labels, outcome labels)
        What a change of a pair by one record weighs in the aggregate, for records of either half.
    centre : ndarray of shape (2, given labels, outcome labels)
        The mean change of each pair among the records of either half.
    against_truth : bool
        Whether the change is ``o_hat - o``; else it is ``o_hat``.
    """

    each: Floats
    centre: Floats
    against_truth: bool = True

    @property
    def steps(self) -> float:
        """By what influences are multiplied before they are rounded to whole numbers."""
        largest = float(np.abs(self.each).sum(axis=-1).max(initial=0.0))
        return _STEPS / largest if largest > 0 else 1.0


@dataclass(frozen=True, eq=False)
class SecondLook:
    """What is asked of the records: the pulls, and the counts by bag of a few pairs.

    Attributes
    ----------
    pulls : tuple of Pull
    given, outcome : ndarray of int
        The labels whose pairs are counted bag by bag.
    """

    pulls: tuple[Pull, ...]
    given: Index
    outcome: Index


@dataclass(frozen=True, eq=False)
class SignedSums:
    """The answer to a :class:`SecondLook`; it adds up over records.

    Attributes
    ----------
    filled : ndarray of shape (bags,)
        How many records each bag holds.
    sums : ndarray of shape (pulls, bags)
        Whole multiples of ``1 / pull.steps``.
    few : BagCounts or None
        The counts of the pairs that were asked for.
    """

    filled: Index
    sums: Index
    few: BagCounts | None

    def __add__(self, other: SignedSums) -> SignedSums:
        few = other.few if self.few is None else self.few if other.few is None else self.few + other.few
        return SignedSums(self.filled + other.filled, self.sums + other.sums, few)


@dataclass(frozen=True, eq=False)
class Block:
    """Records with some of the outcome labels, and the bags they are in where their keys do not say.

    Attributes
    ----------
    evaluation : Evaluation
    bag : ndarray, optional
        The bag of each row, of which there are ``bags``. Rows then stand for as many records as they weigh.
    """

    evaluation: Evaluation
    bag: Index | None = None
    bags: int = MOST_BAGS

    def counted(self, bags: int) -> BagCounts:
        """The pair counts by bag."""
        if self.bag is None:
            return BagCounts.from_labels(self.evaluation, bags)
        return BagCounts.of_cells(self.evaluation, fewer_bags(self.bag, self.bags, bags), bags)

    def pair_counts(self) -> PairCounts:
        """The pair counts of all records."""
        return PairCounts.from_labels(self.evaluation) if self.bag is None else self.counted(2).whole

    def look(self, asked: SecondLook, first: int = 0) -> SignedSums:
        """The signed sums of these records, whose outcome labels begin at number ``first`` of those asked about."""
        whole = drop_records(self.evaluation) if self.bag is None else self.evaluation
        bags = MOST_BAGS if self.bag is None else self.bags
        bag = bag_of(whole.units, bags) if self.bag is None else self.bag
        stop = first + whole.truth.width
        sums = _pulled(whole, bag, bags, asked.pulls, slice(first, stop))
        mine = asked.outcome[(asked.outcome >= first) & (asked.outcome < stop)] - first
        few = None
        if len(mine) and len(asked.given):
            part = _narrowed(whole, asked.given, mine)
            few = Block(part, self.bag, self.bags).counted(bags_for(len(asked.given) * len(asked.outcome)))
        return SignedSums(np.bincount(bag, minlength=bags), sums, few)


def look_at(blocks: Sequence[Block] | Any, asked: SecondLook) -> SignedSums:
    """The signed sums of records whose outcome labels come in several blocks."""
    first, filled, sums, few = 0, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), []
    for block in blocks:
        part = block.look(asked, first)
        filled, sums = part.filled, part.sums if not first else sums + part.sums
        few += [] if part.few is None else [part.few]
        first += block.evaluation.truth.width
    return SignedSums(filled, sums, BagCounts.side_by_side(few) if few else None)


def _narrowed(evaluation: Evaluation, given: Index, outcome: Index) -> Evaluation:
    """The same records with some of their labels, each as a yes/no label."""
    truth = _some(evaluation.truth, outcome)
    return Evaluation(
        _some(evaluation.given, given),
        truth,
        _some(evaluation.predicted, outcome, truth.variables),
        evaluation.weights,
        evaluation.ids,
        evaluation.clusters,
    )


def _some(labels: LabelSet, wanted: Index, variables: tuple[Variable, ...] | None = None) -> LabelSet:
    """Some of the labels; where one is missing, it stays so."""
    held = expand(labels, [(int(label),) for label in wanted], variables)
    there = labels.present()
    return held if there is None else LabelSet((Dense(held.variables, held.rows(), there[:, wanted]),))


def _pulled(evaluation: Evaluation, bag: Index, bags: int, pulls: Sequence[Pull], columns: slice) -> Index:
    """The sums of influences over bags, of shape (pulls, bags), as whole multiples of ``1 / pull.steps``."""
    complete = not (evaluation.truth.missing or evaluation.predicted.missing)
    out = np.zeros((len(pulls), bags), dtype=np.int64)
    width = min(evaluation.given.width, evaluation.truth.width)
    step = max(64, _CELLS // max(width, 1))
    for start in range(0, len(evaluation), step):
        stop = min(start + step, len(evaluation))
        row, label = evaluation.given.nonzero(start, stop)
        here = bag[start:stop]
        half = (here >= bags // 2).astype(np.int64)
        changes = {kind: _changes(evaluation, start, stop, kind) for kind in {p.against_truth for p in pulls}}
        for pull, sums in zip(pulls, out, strict=True):
            each, centre = pull.each[..., columns], pull.centre[..., columns]
            moved, known = changes[pull.against_truth]
            mine = np.zeros(len(row))
            for side in (0, 1):
                these = np.flatnonzero(half[row] == side)
                rows, labels = row[these], label[these]
                mine[these] = _products(moved, each[side], rows, labels)
                if complete:
                    mine[these] -= (each[side] * centre[side]).sum(axis=-1)[labels]
                else:
                    mine[these] -= _products(known, each[side] * centre[side], rows, labels)
            pulled = np.bincount(row, mine, minlength=stop - start)
            if evaluation.weights is not None:
                pulled = pulled * evaluation.weights[start:stop]
            np.add.at(sums, here, np.rint(pulled * pull.steps).astype(np.int64))
    return out


def _changes(evaluation: Evaluation, start: int, stop: int, against_truth: bool) -> tuple[Any, Any]:
    """``o_hat - o`` (or ``o_hat``) of some records as a sparse matrix, 0 where missing, and which labels are known."""
    from scipy.sparse import csr_array

    shape = stop - start, evaluation.truth.width
    complete = not (evaluation.truth.missing or evaluation.predicted.missing)
    if complete and not evaluation.predicted.soft:
        held = [indicator(side.nonzero(start, stop), shape) for side in (evaluation.predicted, evaluation.truth)]
        return (held[0] - held[1] if against_truth else held[0]), None
    known = np.ones(shape, dtype=bool)
    for labels in (evaluation.truth, evaluation.predicted):
        present = labels.present(start, stop)
        if present is not None:
            known &= present
    moved = evaluation.predicted.rows(start, stop).astype(np.float64)
    if against_truth:
        moved = moved - evaluation.truth.rows(start, stop)
    return csr_array(moved * known), csr_array(known.astype(np.float64))


def _products(matrix: Any, weights: Floats, row: Index, label: Index) -> Floats:
    """``sum_o matrix[row, o] * weights[label, o]`` of every (row, label); rows do not depend on one another."""
    if weights.shape[0] <= weights.shape[1]:
        return np.asarray(matrix @ np.ascontiguousarray(weights.T))[row, label]
    dense = matrix.toarray()
    return np.asarray((dense[row] * weights[label]).sum(axis=1))
