"""Pair counts of one direction: what every directional metric and parity companion is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, Label
from biasamp.data.label import Mask

from .fixed import Count, Fixed, add, as_fixed, concatenate, floats, subtract
from .joint import JointCounts, kept, refuse_too_many, same_labels, some_of, squared_weights
from .kernels.cross import by_product
from .kernels.scored import scored_spread
from .tables import PAIR, add_up, chunks, pair_tables, present_rows, scored_places

Index = NDArray[np.int64]

NO_RECORD = "no record has all labels: each one misses its group, its truth or its prediction"


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counts of every pair (given g, outcome o) of one direction; they add up over records.

    Attributes
    ----------
    n, given, truth, predicted : counts
        ``n``, ``C(g)``, ``C(o)``, ``C(o_hat)``; they broadcast against the pair tables. Where records with
        a missing label are left out of some pairs they have the full shape.
    joint_truth, joint_predicted, joint_both : counts of shape (given labels, outcome labels)
        ``C(g, o)``, ``C(g, o_hat)`` and ``C(g, o and o_hat)``.
    spread : tuple of counts or None
        With weights ``w`` or soft predictions, ``sum w**2``, ``sum w**2 d`` and ``sum w**2 d**2`` over the
        records with g, where ``d = o_hat - o``; None where the tables above say the same.
    """

    given_labels: tuple[Label, ...]
    outcome_labels: tuple[Label, ...]
    records: int
    n: Count
    given: Count
    truth: Count
    predicted: Count
    joint_truth: Count
    joint_predicted: Count
    joint_both: Count
    squared: Count
    spread: tuple[Count, Count, Count] | None = None

    @classmethod
    def from_labels(cls, evaluation: Evaluation, *, accelerate: bool | None = None) -> PairCounts:
        """Count the pairs of an evaluation.

        Parameters
        ----------
        evaluation : Evaluation
            Labels in one label space.
        accelerate : bool, optional
            Whether to use numba; by default where it is installed and pays.
        """
        refuse_too_many(evaluation.given.labels, evaluation.truth.labels)
        evaluation = drop_records(evaluation)
        if not len(evaluation):
            raise ValueError(NO_RECORD)
        arrays, _ = pair_tables(evaluation, accelerate=accelerate)
        return cls.of_tables(evaluation, {name: table[0] for name, table in arrays.items()})

    @classmethod
    def of_tables(cls, evaluation: Evaluation, arrays: dict[str, Any]) -> PairCounts:
        """The counts of an evaluation whose tables are known."""
        weights, records = evaluation.weights, len(evaluation)
        uneven = evaluation.truth.soft or evaluation.predicted.soft or weights is not None or evaluation.missing
        return cls(
            evaluation.given.labels,
            evaluation.truth.labels,
            records,
            **arrays,
            squared=squared_weights(weights, records),
            spread=pair_spread(evaluation) if uneven else None,
        )

    @classmethod
    def side_by_side(cls, parts: Sequence[PairCounts], wholes: Sequence[PairCounts] | None = None) -> PairCounts:
        """The counts of the same records and given labels for several lots of outcome labels.

        Where the parts are of bags, ``wholes`` are their counts of all records, which the spread is of.
        """
        first = parts[0]
        wide = {
            name: concatenate([getattr(part, name) for part in parts], axis=-1)
            for name in ("truth", "predicted", "joint_truth", "joint_predicted", "joint_both")
        }
        spread = None
        if any(part.spread is not None for part in parts):
            lots = [whole_spread(part) for part in (wholes or parts)]
            spread = tuple(concatenate([lot[i] for lot in lots], axis=-1) for i in range(3))
        labels = tuple(label for part in parts for label in part.outcome_labels)
        return replace(first, outcome_labels=labels, **wide, spread=spread)  # type: ignore[arg-type]

    def only(self, given: Mask, outcome: Mask) -> PairCounts:
        """The counts of some of the given labels and outcomes, of all records; bags may be a leading axis."""
        if given.all() and outcome.all():
            return self
        arrays: dict[str, Any] = {name: some_of(getattr(self, name), given, outcome) for name in PAIR}
        spread = None if self.spread is None else tuple(some_of(part, given, outcome) for part in self.spread)
        labels = {"given_labels": kept(self.given_labels, given), "outcome_labels": kept(self.outcome_labels, outcome)}
        return replace(self, **labels, **arrays, spread=spread)  # type: ignore[arg-type]

    @property
    def truth_joint(self) -> JointCounts:
        """The joint counts of given and truth alone."""
        arrays = self.n, self.given, self.truth, self.joint_truth, self.squared
        return JointCounts(self.given_labels, self.outcome_labels, self.records, *arrays)

    def moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
        """``sum w**2``, ``sum w**2 d`` and ``sum w**2 d**2`` over the records with g, ``d = o_hat - o``."""
        if self.spread is not None:
            zero, first, second = self.spread
            return floats(zero), floats(first), floats(second)
        one, held = floats(self.joint_truth), floats(self.joint_predicted)
        discordant = one + held - 2.0 * floats(self.joint_both)
        return np.broadcast_to(floats(self.given), one.shape), held - one, discordant

    @property
    def unweighted(self) -> bool:
        """Whether every record counts as one or not at all, and predictions are hard: the tables then say it all."""
        if self.spread is None:
            return True
        if any(isinstance(part, Fixed) for part in (self.given, self.joint_truth, self.joint_predicted)):
            return False
        # Of whole weights, the squares add up to the weights only where each is 0 or 1.
        size, _, _ = self.moments()
        return bool((size == np.broadcast_to(floats(self.given), size.shape)).all())

    def __add__(self, other: PairCounts) -> PairCounts:
        if not isinstance(other, PairCounts):
            return NotImplemented
        same_labels(self.given_labels, other.given_labels, "given")
        same_labels(self.outcome_labels, other.outcome_labels, "outcome")
        spread = None
        if self.spread is not None or other.spread is not None:
            mine, theirs = whole_spread(self), whole_spread(other)
            spread = tuple(add(a, b) for a, b in zip(mine, theirs, strict=True))
        summed: dict[str, Any] = {name: add(getattr(self, name), getattr(other, name)) for name in (*PAIR, "squared")}
        return replace(self, records=self.records + other.records, **summed, spread=spread)  # type: ignore[arg-type]


def outcome_masks(counts: PairCounts, columns: NDArray[np.int64]) -> tuple[Mask, Mask]:
    """All given labels, and some outcomes by number."""
    some = np.zeros(len(counts.outcome_labels), dtype=bool)
    some[columns] = True
    return np.ones(len(counts.given_labels), dtype=bool), some


def drop_records(evaluation: Evaluation) -> Evaluation:
    """A record whose one variable is missing is in none of its pairs: leave it out whole."""
    keep = np.ones(len(evaluation), dtype=bool)
    for labels in (evaluation.given, evaluation.truth, evaluation.predicted):
        if labels.missing and len(labels.variables) == 1:
            keep &= labels.complete()
    return evaluation if keep.all() else evaluation.take(keep)


def pair_spread(evaluation: Evaluation) -> tuple[Count, Count, Count]:
    """Moments of ``d = o_hat - o`` under squared weights, for standard errors."""
    place = (
        None
        if evaluation.weights is not None
        else scored_places(evaluation.given, evaluation.truth, evaluation.predicted)
    )
    if place is not None:
        rows = evaluation.truth.rows(), evaluation.predicted.rows()
        held, gained, lost, square = scored_spread(place, evaluation.given.width, *rows)
        return as_fixed(held), gained - lost, square

    def part(start: int, stop: int) -> list[Count]:
        given, one, held, _, there = present_rows(evaluation, start, stop)
        squares = None if evaluation.weights is None else evaluation.weights[start:stop].astype(np.float64) ** 2
        up = np.maximum(held - one.astype(np.float64), 0.0)
        down = np.maximum(one - held.astype(np.float64), 0.0)
        return [by_product(given, columns, squares) for columns in (there, up, down, (up + down) ** 2)]

    cut = chunks(len(evaluation), evaluation.given.width + 3 * evaluation.truth.width)
    size, gained, lost, square = map(as_fixed, add_up(part(start, stop) for start, stop in cut))
    return size, gained - lost, square


def whole_spread(counts: PairCounts) -> tuple[Count, Count, Count]:
    """The spread of counts, which follows from the tables where it is not kept apart."""
    if counts.spread is not None:
        return counts.spread
    one, held, both = counts.joint_truth, counts.joint_predicted, counts.joint_both
    size = add(counts.given, np.zeros(one.shape, dtype=np.int64))
    gained, lost = subtract(held, both), subtract(one, both)
    return as_fixed(size), as_fixed(subtract(gained, lost)), as_fixed(add(gained, lost))
