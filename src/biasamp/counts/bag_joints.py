"""Joint counts of two label sets, bag by bag: what MALS needs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, LabelSet
from biasamp.data.keys import Keys

from .bag_tables import CHUNK, compiled_tables, held_in_bags, shaped, sums_by, weighted, worth_compiling
from .bags import (
    BagCounts,
    bag_of,
    bag_weights,
    exact_floats,
    filled_rows,
    occupied,
    rows_at,
    shuffled_numbers,
    weighted_sums,
)
from .fixed import Count, add, concatenate, total
from .joint import WIDE, JointCounts, squared_weights
from .kernels import sparse

Index = NDArray[np.int64]
_ARRAYS = ("n", "left", "right", "joint")


@dataclass(frozen=True, eq=False)
class BagJoint:
    """Joint counts of two label sets by bag; they add up over records.

    Attributes
    ----------
    bags : int
        Into how many bags the records fall.
    numbers : ndarray of shape (rows,)
        Which bags hold records, ascending.
    counts : JointCounts
        Its arrays have a leading axis of ``rows``, but for ``squared``, which is of all records.
    """

    bags: int
    numbers: Index
    counts: JointCounts

    @classmethod
    def from_labels(
        cls, left: LabelSet, right: LabelSet, units: Keys, bags: int, weights: NDArray[Any] | None = None
    ) -> BagJoint:
        """Count two label sets, hard or soft, of records without missing labels."""
        numbers, bag = occupied(bag_of(units, bags), bags)
        rows = len(numbers)
        hard = not (left.soft or right.soft)
        if right.width > WIDE and hard:
            table = _listed(left, right, bag, rows, weights)
        elif hard and weights is None and worth_compiling(len(left) * right.width, None):
            table, _ = compiled_tables(Evaluation(left, right, right), bag, rows)
        else:
            table = _products(left, right, bag, rows, weights)
        arrays = {
            "n": table[:, -1:, -1:],
            "left": table[:, :-1, -1:],
            "right": table[:, -1:, :-1],
            "joint": table[:, :-1, :-1],
        }
        numbers, arrays = filled_rows(numbers, arrays)
        squared = squared_weights(weights, len(left))
        return cls(bags, numbers, JointCounts(left.labels, right.labels, len(left), **arrays, squared=squared))

    @classmethod
    def of_rows(cls, counts: JointCounts) -> BagJoint:
        """Counts with a row for every bag, as they are saved."""
        bags = counts.n.shape[0]
        numbers, filled = filled_rows(np.arange(bags), {name: getattr(counts, name) for name in _ARRAYS})
        return cls(bags, numbers, replace(counts, **filled))

    @classmethod
    def of_truth(cls, bags: BagCounts) -> BagJoint:
        """The joint counts of given and truth."""
        return cls(bags.bags, bags.numbers, bags.counts.truth_joint)

    @cached_property
    def whole(self) -> JointCounts:
        """The joint counts of all bags together."""
        arrays: dict[str, Any] = {name: total(getattr(self.counts, name)) for name in _ARRAYS}
        return replace(self.counts, **arrays)

    def resampled(self, resamples: int, seed: int) -> JointCounts:
        """The joint counts of every resample of the bags, with a leading axis of resamples."""
        weights = bag_weights(self.numbers, self.bags, resamples, seed)
        arrays: dict[str, Any] = {}
        for name in _ARRAYS:
            values = exact_floats(getattr(self.counts, name))
            arrays[name] = weighted_sums(weights, values.reshape(len(values), -1)).reshape(-1, *values.shape[1:])
        return replace(self.counts, **arrays)

    def shuffled(self, seed: int) -> BagJoint:
        """The same counts with the bags in another order."""
        numbers, rows = shuffled_numbers(self.numbers, self.bags, seed)
        arrays: dict[str, Any] = {name: getattr(self.counts, name)[rows] for name in _ARRAYS}
        return replace(self, numbers=numbers, counts=replace(self.counts, **arrays))

    def in_rows(self, numbers: Index) -> JointCounts:
        """The counts with a row for each of these bags, among them all that hold records."""
        places = np.searchsorted(numbers, self.numbers)
        arrays: dict[str, Any] = {name: rows_at(getattr(self.counts, name), places, len(numbers)) for name in _ARRAYS}
        return replace(self.counts, **arrays)

    def __add__(self, other: BagJoint) -> BagJoint:
        if not isinstance(other, BagJoint):
            return NotImplemented
        if self.bags != other.bags:
            raise ValueError(f"counts of {self.bags} and of {other.bags} bags do not add up")
        numbers = np.union1d(self.numbers, other.numbers)
        return BagJoint(self.bags, numbers, self.in_rows(numbers) + other.in_rows(numbers))


def _products(left: LabelSet, right: LabelSet, bag: Index, bags: int, weights: NDArray[Any] | None) -> Count:
    """A table (bags, left labels and everyone, right labels and one), whatever the labels."""
    width, other = left.width + 1, right.width + 1
    table: Count | None = None
    step = max(256, min(CHUNK, (1 << 22) // (width * other)))
    for start in range(0, len(left), step):
        stop = min(start + step, len(left))
        a, t = (_and_one(side.rows(start, stop)) for side in (left, right))
        values = (a[:, :, None] * t[:, None, :]).reshape(stop - start, -1)
        part = sums_by(bag[start:stop], bags, weighted(values, weights, start, stop))
        table = part if table is None else add(table, part)
    return shaped(table, bags, width, other)


def _and_one(rows: NDArray[Any]) -> NDArray[Any]:
    return np.concatenate([rows, np.ones((len(rows), 1), dtype=rows.dtype)], axis=1)


def _listed(left: LabelSet, right: LabelSet, bag: Index, bags: int, weights: NDArray[Any] | None) -> Count:
    """As :func:`_products` for many right labels of which a record has few."""
    groups = left.width + 1
    joint: Count | None = None
    size: Count | None = None
    for start in range(0, len(left), 1 << 17):
        stop = min(start + (1 << 17), len(left))
        own = None if weights is None else weights[start:stop]
        rows, keys = held_in_bags(left, bag, start, stop, groups)
        order = np.argsort(rows, kind="stable")
        mine = rows[order], keys[order]
        part = sparse.cross(mine, right.nonzero(start, stop), (bags * groups, right.width), own)
        many = sparse.marginal(mine, bags * groups, own)
        joint = part if joint is None else add(joint, part)
        size = many if size is None else add(size, many)
    return concatenate([shaped(joint, bags, groups, right.width), shaped(size, bags, groups, 1)], axis=-1)
