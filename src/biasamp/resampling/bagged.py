"""Errors of aggregates from the pair counts of bags of records: all of them follow from sums over each bag."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats, subtract
from biasamp.counts.pair import PairCounts

from .aggregate import fixed_sign_value
from .shared_noise import association_rates, covariance_of, unclear_pairs
from .significance import ClusterEffect

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class BagAggregate:
    """A directional aggregate whose signs are fixed, as :class:`~biasamp.resampling.aggregate.Aggregate` is."""

    bags: BagCounts
    factor: NDArray[np.int8]
    base: Floats | None = None
    counted: NDArray[np.bool_] | None = None

    def value(self) -> float:
        """The value of the data."""
        return float(fixed_sign_value(self.bags.whole, self.factor, self.base, self.counted))

    def influence(self) -> Floats:
        """How much every bag moves the value."""
        given = np.broadcast_to(floats(self.bags.whole.given), self.factor.shape)
        there = given > 0 if self.counted is None else (given > 0) & self.counted
        moved, size = residuals(self.bags, self.base is None)
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(there, self.factor / given, 0.0) / max(int(there.sum()), 1)
            rest = moved - size * np.where(there, moved.sum(axis=0) / given, 0.0)
        return np.asarray((each * rest).sum(axis=(-2, -1)))

    def replicable(self, resamples: int) -> bool:
        """Whether there are enough bags to resample."""
        return self.bags.resamplable

    def replicates(self, resamples: int, seed: int) -> Floats:
        """The value of every resample of the bags."""
        return np.concatenate(
            [
                np.atleast_1d(fixed_sign_value(part, self.factor, self.base, self.counted))
                for part in self.bags.resampled(resamples, seed)
            ]
        )


def residuals(bags: BagCounts, against_truth: bool = True) -> tuple[Floats, Floats]:
    """``sum w h (o_hat - o)`` (or of ``o_hat`` alone) and ``sum w h`` of every bag and pair."""
    counts = bags.counts
    held = subtract(counts.joint_predicted, counts.joint_truth) if against_truth else counts.joint_predicted
    moved = floats(held)
    return moved, np.broadcast_to(floats(counts.given), moved.shape)


def bag_cluster_effect(bags: BagCounts, delta: Floats, against_truth: bool = True) -> ClusterEffect:
    """The design effect of every pair, where the bags hold whole clusters.

    The squared residuals of a bag have the mean of its clusters' squared residuals, as clusters fall into bags at
    random.
    """
    moved, size = residuals(bags, against_truth)
    centre = np.nan_to_num(delta)
    together = ((moved - size * centre) ** 2).sum(axis=0)
    given, held = bags.whole.given, floats(bags.whole.joint_predicted)
    if against_truth:
        zero, first, second = bags.whole.moments()
        apart = second - 2.0 * centre * first + centre**2 * zero
    else:
        apart = held * (1.0 - 2.0 * centre) + centre**2 * np.broadcast_to(floats(given), held.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(apart > 0, together / apart, 1.0)
    filled = np.broadcast_to((size > 0).sum(axis=0), centre.shape)
    return ClusterEffect(np.maximum(ratio, 1.0), np.maximum(filled - 1.0, 1.0))


def bag_crossfit_covariance(bags: BagCounts, delta: Floats, z: Floats, own: bool) -> float:
    """As :func:`~biasamp.resampling.shared_noise.crossfit_covariance`, from bags."""
    g, o, scale = unclear_pairs(delta, z)
    if not len(g):
        return 0.0
    counts = bags.whole
    size = np.broadcast_to(floats(counts.given), delta.shape)[g, o]
    moved, there = residuals(bags)
    noise = lean = (moved[:, g, o] - there[:, g, o] * delta[g, o]) / size
    if not own:
        left, right, apart = association_rates(counts, g, o)
        n, given, truth = (_pairs(part, bags.counts, g, o) for part in ("n", "given", "truth"))
        joint = floats(bags.counts.joint_truth)[:, g, o]
        lean = joint - left * truth - right * given + (left * right - apart) * n
    return covariance_of(noise, lean, delta, z, g, o, scale)


def _pairs(name: str, counts: PairCounts, g: NDArray[np.int64], o: NDArray[np.int64]) -> Floats:
    values: Floats = floats(getattr(counts, name))
    return np.broadcast_to(values, counts.joint_truth.shape)[:, g, o]
