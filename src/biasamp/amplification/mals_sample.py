"""The errors of MALS: how much every bag of records moves its rates."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import FEWEST_BAGS, MOST_CELLS, bags_for
from biasamp.counts.bags import BagJoint
from biasamp.counts.fixed import floats
from biasamp.counts.itemsets import expand
from biasamp.counts.joint import JointCounts, Moments, count_moments
from biasamp.data import LabelSet
from biasamp.data.keys import Keys, row_keys
from biasamp.resampling.significance import normal_quantile

Floats = NDArray[np.float64]
Sides = tuple[LabelSet, LabelSet]
# Bags in which blocks of tasks are counted, where there are too many tasks to count all at once.
_BLOCK_BAGS = 1024


@dataclass(frozen=True, eq=False)
class MalsErrors:
    """What the error of ``P(a_hat | t_hat) - P(a | t)`` of every pair is made of."""

    predicted: Floats
    truth: Floats
    shared: Floats

    @property
    def variance(self) -> Floats:
        """The variance of the difference."""
        return np.maximum(self.predicted + self.truth - 2.0 * self.shared, 0.0)


def mals_errors(
    labels: JointCounts, predictions: JointCounts, truth: BagJoint | None, predicted: BagJoint
) -> MalsErrors:
    r"""Variances of both rates of every pair, and their covariance on the same records.

    The influence of a record on ``P(a | t)`` is :math:`w t (a - P(a | t)) / C(t)`; influences of a bag are summed
    before they are squared. A record is added to each rate that has the label and one that has not (Agresti and
    Caffo 2000), so that rates of 0 and 1 keep an error. Without evaluated truth (``truth=None``: train labels, held
    fixed) only the predicted rate varies. With too few bags for their sums to tell, each rate has its binomial error
    and what the two share is left out, which makes intervals wider than they need be.
    """
    numbers = predicted.numbers if truth is None else np.union1d(predicted.numbers, truth.numbers)
    parts = [_moved(predicted.in_rows(numbers), predictions)]
    parts += [] if truth is None else [_moved(truth.in_rows(numbers), labels)]
    added = [((1 - rate) ** 2 + rate**2) / (size + 2.0) ** 2 for _, rate, size in parts]
    enough = predicted.bags >= FEWEST_BAGS
    spread = [
        (moved**2).sum(axis=0) if enough else rate * (1 - rate) * size / (size + 2.0) ** 2
        for moved, rate, size in parts
    ]
    nothing = np.zeros(spread[0].shape)
    return MalsErrors(
        spread[0] + added[0],
        nothing if truth is None else spread[1] + added[1],
        (parts[0][0] * parts[1][0]).sum(axis=0) if enough and truth is not None else nothing,
    )


def unseen_variance(labels: JointCounts, predictions: JointCounts, sampled: bool, factor: Floats) -> float:
    """What the records that are added to both rates bring to the variance of ``sum factor (P(a_hat|t_hat) - P(a|t))``.

    Without them, a model that errs in no record would have no error at all. ``sampled`` says that the truth is of the
    evaluated records; else it is fixed.
    """
    total = np.zeros(factor.shape)
    for counts in (predictions, labels) if sampled else (predictions,):
        rate, size = rates_of(counts)
        with np.errstate(divide="ignore", invalid="ignore"):
            effective = size * np.broadcast_to(counts.effective, size.shape) / floats(counts.n)
        total = total + ((1 - rate) ** 2 + rate**2) / (effective + 2.0) ** 2
    return float((factor**2 * total).sum())


def all_errors(labels: JointCounts, predictions: JointCounts, sample: MalsSample) -> MalsErrors:
    """The errors of every pair, block after block of tasks."""
    if not sample.clustered and sample.known_moments is not None:
        return _independent_errors(labels, predictions, sample.known_moments, sample.truth is not None)
    parts = [
        mals_errors(tasks_of(labels, tasks), tasks_of(predictions, tasks), truth, predicted)
        for tasks, predicted, truth in sample.blocks()
    ]
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts], axis=1)
        for name in ("predicted", "truth", "shared")
    }
    return MalsErrors(**joined)


def _independent_errors(labels: JointCounts, predictions: JointCounts, moments: Moments, sampled: bool) -> MalsErrors:
    """As :func:`mals_errors` for independent records: the squared influences of each are summed, whatever its bag."""
    rate, size = rates_of(predictions)
    base, base_size = rates_of(labels)
    p0, p1, p2, t0, t1, t2, s0, s1, s2, s3 = (floats(moment) for moment in moments)
    nothing = np.zeros(rate.shape)
    predicted = (p2 - 2.0 * rate * p1 + rate**2 * p0 + (1 - rate) ** 2 + rate**2) / (size + 2.0) ** 2
    if not sampled:
        return MalsErrors(predicted, nothing, nothing)
    truth = (t2 - 2.0 * base * t1 + base**2 * t0 + (1 - base) ** 2 + base**2) / (base_size + 2.0) ** 2
    shared = (s3 - base * s1 - rate * s2 + rate * base * s0) / ((size + 2.0) * (base_size + 2.0))
    return MalsErrors(predicted, truth, shared)


def influence_of_bags(
    labels: JointCounts, predictions: JointCounts, sample: MalsSample, factor: Floats
) -> tuple[NDArray[np.int64], int, Floats]:
    """How much every bag moves ``sum factor (P(a_hat | t_hat) - P(a | t))``.

    Returns
    -------
    numbers : ndarray of shape (rows,)
        The bags that hold records.
    bags : int
        How many bags there are in all.
    influence : ndarray of shape (rows,)
    """
    total, filled = np.zeros(0), np.zeros(0, dtype=bool)
    for tasks, predicted, truth in sample.blocks():
        if not len(total):
            total, filled = np.zeros(predicted.bags), np.zeros(predicted.bags, dtype=bool)
        mine = factor[:, tasks]
        total[predicted.numbers] += ratio_influence(predicted, tasks_of(predictions, tasks), mine)
        filled[predicted.numbers] = True
        if truth is not None:
            total[truth.numbers] -= ratio_influence(truth, tasks_of(labels, tasks), mine)
            filled[truth.numbers] = True
    return np.flatnonzero(filled), len(total), total[filled]


def tasks_of(joint: JointCounts, tasks: slice) -> JointCounts:
    """The joint counts of some tasks, which are the right labels."""
    if tasks == slice(None):
        return joint
    right = joint.right_labels[tasks]
    return replace(joint, right_labels=right, right=joint.right[..., tasks], joint=joint.joint[..., tasks])


def _moved(bags: JointCounts, counts: JointCounts) -> tuple[Floats, Floats, Floats]:
    """Of every bag and pair, the sum of the influences on its rate; and the rate and the size of every pair."""
    rate, size = rates_of(counts)
    return (floats(bags.joint) - rate * floats(bags.right)) / (size + 2.0), rate, size


def ratio_influence(bags: BagJoint, counts: JointCounts, factor: Floats) -> Floats:
    """How much every bag moves ``sum factor P(a | t)``."""
    rate, size = rates_of(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(size > 0, factor / size, 0.0)
    return np.asarray((each * (floats(bags.counts.joint) - rate * floats(bags.counts.right))).sum(axis=(-2, -1)))


def mals_intervals(delta: Floats, errors: MalsErrors, level: float = 0.95) -> tuple[Floats, Floats]:
    """An interval for the change of every pair."""
    reach = normal_quantile(level) * np.sqrt(errors.variance)
    return np.clip(delta - reach, -1.0, 1.0), np.clip(delta + reach, -1.0, 1.0)


def mals_p(delta: Floats, errors: MalsErrors) -> Floats:
    """Two-sided p-value that the change of a pair is 0, by the normal approximation."""
    from scipy.special import ndtr

    with np.errstate(divide="ignore", invalid="ignore"):
        z = delta / np.sqrt(errors.variance)
    return np.asarray(2.0 * ndtr(-np.abs(z)))


def rates_of(counts: JointCounts) -> tuple[Floats, Floats]:
    """``P(a | t)``, 0 where no record has t, and ``C(t)``."""
    size = floats(counts.right)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(floats(counts.joint) / size), size


@dataclass(frozen=True, eq=False)
class MalsSample:
    """What MALS looks at: the records in memory, or joint counts of bags of them.

    Attributes
    ----------
    predicted, truth : pair of LabelSet, BagJoint
        Attributes and tasks; ``truth`` is None where the labels come from elsewhere (train) and are fixed.
    weights, units : ndarray, optional
        Of the records, where they are in memory: their weights, and the keys of what is resampled as one.
    clustered : bool
        Whether bags hold whole clusters of records.
    moments : tuple of counts, optional
        Sums of squares over records, where counts by bag are all that is left of them.
    """

    predicted: Sides | BagJoint
    truth: Sides | BagJoint | None = None
    weights: NDArray[Any] | None = None
    units: Keys | None = None
    clustered: bool = False
    moments: Moments | None = None

    @cached_property
    def known_moments(self) -> Moments | None:
        """Sums of squares over records; None where only bags are known."""
        if self.moments is not None or isinstance(self.predicted, BagJoint) or isinstance(self.truth, BagJoint):
            return self.moments
        # Without evaluated truth the moments of the predictions alone are looked at.
        return count_moments(*(self.truth or self.predicted), *self.predicted, self.weights)

    @cached_property
    def bags(self) -> tuple[BagJoint, BagJoint | None]:
        """Joint counts of the predictions and of the truth, by bag."""
        return self._counted(self.predicted), None if self.truth is None else self._counted(self.truth)

    def _counted(self, held: Sides | BagJoint, tasks: slice | None = None) -> BagJoint:
        if isinstance(held, BagJoint):
            return held
        left, right = held
        units = row_keys(0, len(left)) if self.units is None else self.units
        bags = bags_for(left.width * right.width)
        if tasks is not None:
            bags = _BLOCK_BAGS
            right = expand(right, [(task,) for task in range(right.width)[tasks]])
        return BagJoint.from_labels(left, right, units, bags, self.weights)

    @property
    def has_bags(self) -> bool:
        """Whether there are counts of enough bags for an interval, or records to make them of."""
        return not isinstance(self.predicted, BagJoint) or self.predicted.bags >= FEWEST_BAGS

    def blocks(self) -> Iterator[tuple[slice, BagJoint, BagJoint | None]]:
        """The joint counts by bag, of all tasks at once or, where that would not fit, of some after others."""
        if isinstance(self.predicted, BagJoint) or self.bags[0].bags >= FEWEST_BAGS:
            yield slice(None), *self.bags
            return
        left, right = self.predicted
        width = max(1, MOST_CELLS // (_BLOCK_BAGS * left.width))
        for start in range(0, right.width, width):
            tasks = slice(start, start + width)
            truth = None if self.truth is None else self._counted(self.truth, tasks)
            yield tasks, self._counted(self.predicted, tasks), truth
