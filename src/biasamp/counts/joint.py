"""Joint counts of two label sets: ``n``, ``C(left)``, ``C(right)`` and ``C(left, right)``."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Label, LabelSet
from biasamp.data.label import Mask

from .fixed import Count, add, exact_sums, floats
from .kernels.cross import by_product
from .tables import JOINT, WIDE, add_up, chunks, joint_tables

Index = NDArray[np.int64]

# A table of more cells than this would not be a result that a person or a page can hold.
MOST_CELLS = 50_000_000


@dataclass(frozen=True, eq=False)
class JointCounts:
    """Counts of every pair of a left and a right label; they add up over records.

    The marginals broadcast against ``joint``: ``left`` has one column and ``right`` one row, unless
    records with a missing label were left out of some pairs, when every array has the full shape.
    """

    left_labels: tuple[Label, ...]
    right_labels: tuple[Label, ...]
    records: int
    n: Count
    left: Count
    right: Count
    joint: Count
    squared: Count

    @classmethod
    def from_labels(cls, left: LabelSet, right: LabelSet, weights: NDArray[Any] | None = None) -> JointCounts:
        """Count the pairs of labels that records hold together."""
        left, right, weights = drop_missing_records(left, right, weights)
        refuse_too_many(left.labels, right.labels)
        arrays = {name: table[0] for name, table in joint_tables(left, right, weights).items()}
        return cls(left.labels, right.labels, len(left), **arrays, squared=squared_weights(weights, len(left)))

    def __add__(self, other: JointCounts) -> JointCounts:
        if not isinstance(other, JointCounts):
            return NotImplemented
        same_labels(self.left_labels, other.left_labels, "left")
        same_labels(self.right_labels, other.right_labels, "right")
        summed = {name: add(getattr(self, name), getattr(other, name)) for name in (*JOINT, "squared")}
        return JointCounts(self.left_labels, self.right_labels, self.records + other.records, **summed)

    def only(self, left: Mask, right: Mask) -> JointCounts:
        """The counts of some of the labels, of all records."""
        if left.all() and right.all():
            return self
        arrays: dict[str, Any] = {name: some_of(getattr(self, name), left, right) for name in JOINT}
        return replace(
            self, left_labels=kept(self.left_labels, left), right_labels=kept(self.right_labels, right), **arrays
        )

    @property
    def effective(self) -> NDArray[np.float64]:
        """The sample size that unequal weights leave (Kish): ``(sum w)**2 / sum w**2``."""
        n, squared = floats(self.n), floats(self.squared)
        total = n.max(axis=(-2, -1), keepdims=True, initial=0.0)
        # Strata may be a leading axis, of squared weights too.
        squared = squared if squared.ndim == n.ndim else squared.max(initial=0.0)
        return n * (total / np.maximum(squared, np.finfo(float).tiny))


def kept(labels: tuple[Label, ...], keep: Mask) -> tuple[Label, ...]:
    """Some of the labels."""
    return tuple(label for label, held in zip(labels, keep.tolist(), strict=True) if held)


def some_of(values: Count, left: Mask, right: Mask) -> Count:
    """Counts of some labels, of arrays whose last two axes are the labels or, where they do not differ, of length 1."""
    if values.shape[-2] == len(left):
        values = values[..., left, :]
    return values[..., right] if values.shape[-1] == len(right) else values


def squared_weights(weights: NDArray[Any] | None, records: int) -> Count:
    """Sum of squared weights."""
    if weights is None:
        return np.array([records], dtype=np.int64)
    if weights.dtype.kind == "f":
        return exact_sums(weights**2, lambda limb, _: limb.sum(keepdims=True))
    return np.array([int((weights.astype(object) ** 2).sum())], dtype=np.int64)


def drop_missing_records(
    left: LabelSet, right: LabelSet, weights: NDArray[Any] | None
) -> tuple[LabelSet, LabelSet, NDArray[Any] | None]:
    """Leave out the records with any missing label."""
    if not left.missing and not right.missing:
        return left, right, weights
    keep = left.complete() & right.complete()
    return left.take(keep), right.take(keep), None if weights is None else weights[keep]


def refuse_too_many(left: tuple[Label, ...], right: tuple[Label, ...]) -> None:
    """Raise when the table of pairs would be too large to be of use."""
    if len(left) * len(right) > MOST_CELLS:
        raise ValueError(
            f"{len(left):,} x {len(right):,} labels make {len(left) * len(right):,} pairs, more than the "
            f"{MOST_CELLS:,} that are counted. Is one of the columns an identifier or a number rather than a "
            "category? Group its rare values first"
        )


def same_labels(mine: tuple[Label, ...], theirs: tuple[Label, ...], what: str) -> None:
    """Raise when two counts have different label spaces, saying how they differ."""
    if mine == theirs:
        return
    extra = [str(label) for label in theirs if label not in set(mine)][:5]
    missing = [str(label) for label in mine if label not in set(theirs)][:5]
    if extra or missing:
        detail = f"only in the first: {missing or 'none'}; only in the second: {extra or 'none'}"
    else:
        detail = "the same labels in another order"
    raise ValueError(f"counts of different {what} labels do not add up: {detail}")


# Of predictions: ``sum w**2 t**2``, with ``a`` and with ``a**2``; of the truth alike; of both: ``sum w**2 t t_hat``, with
# ``a_hat``, with ``a`` and with both. Each of shape (attributes or 1, tasks).
Moments = tuple[Count, ...]


def count_moments(
    A: LabelSet, T: LabelSet, A_pred: LabelSet, T_pred: LabelSet, weights: NDArray[Any] | None
) -> Moments | None:
    """The sums of records that have all labels; None for so many tasks that they are not laid out."""
    if max(A.width, T.width) > WIDE:
        return None
    squares = None if weights is None else weights**2

    def part(start: int, stop: int) -> list[Count]:
        own = None if squares is None else squares[start:stop]
        a_hat, t_hat, a, t = (side.rows(start, stop) for side in (A_pred, T_pred, A, T))
        one = np.ones((stop - start, 1), dtype=np.uint8)
        sides = [(left, t_hat * t_hat) for left in (one, a_hat, a_hat * a_hat)]
        sides += [(left, t * t) for left in (one, a, a * a)]
        sides += [(left, t_hat * t) for left in (one, a_hat, a, a_hat * a)]
        return [by_product(left, right, own) for left, right in sides]

    return tuple(add_up(part(start, stop) for start, stop in chunks(len(A), A.width + T.width)))


def some_moments(moments: Moments | None, left: Mask, right: Mask) -> Moments | None:
    """The sums of some of the labels."""
    return None if moments is None else tuple(some_of(moment, left, right) for moment in moments)


def add_moments(one: Moments | None, two: Moments | None) -> Moments | None:
    """The sums of different records together."""
    if one is None or two is None:
        return None
    return tuple(add(a, b) for a, b in zip(one, two, strict=True))
