"""Errors of MALS, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import FEWEST_BAGS
from biasamp.counts.bags import BagJoint
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.resampling.pair_intervals import normal_quantile

Floats = NDArray[np.float64]


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
    """``P(a | t)``, 0 where nobody has t, and ``C(t)``."""
    size = floats(counts.right)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.nan_to_num(floats(counts.joint) / size), size
