"""Errors of MALS, pair by pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import FEWEST_BAGS
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts, chunks
from biasamp.data import LabelSet
from biasamp.data.keys import Keys
from biasamp.resampling.pair_intervals import normal_quantile

Floats = NDArray[np.float64]
Sides = tuple[LabelSet, LabelSet]
# Records of whole clusters that are looked at together.
_CHUNK = 1024


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
    labels: JointCounts,
    predictions: JointCounts,
    truth: Sides | None,
    predicted: Sides,
    weights: NDArray[Any] | None,
    clusters: Keys | None = None,
) -> MalsErrors:
    r"""Variances of both rates of every pair, and their covariance on the same records.

    The influence of a record on ``P(a | t)`` is :math:`w t (a - P(a | t)) / C(t)`. A record is added to each
    rate that has the label and one that has not (Agresti and Caffo 2000), so that rates of 0 and 1 keep an
    error. Influences of a cluster are summed before they are squared. Without evaluated truth (``truth=None``: train labels, held fixed) only the predicted rate varies.
    """
    there = predicted[0].complete() & predicted[1].complete()
    if truth is not None:
        there &= truth[0].complete() & truth[1].complete()
    rate, size = rates_of(predictions)
    base, base_size = rates_of(labels)
    shape = rate.shape
    added = ((1 - rate) ** 2 + rate**2) / (size + 2.0) ** 2
    added_truth = np.zeros(shape) if truth is None else ((1 - base) ** 2 + base**2) / (base_size + 2.0) ** 2
    if clusters is not None:
        sides = [(predicted, rate, size)] + ([] if truth is None else [(truth, base, base_size)])
        together = _clustered(sides, there * (1.0 if weights is None else weights), clusters)
        return MalsErrors(together + added, added_truth, np.zeros(shape))
    one, two, both = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    count = len(predicted[0])
    for start, stop in chunks(count, predicted[0].width + predicted[1].width):
        own = there[start:stop] * (1.0 if weights is None else weights[start:stop].astype(np.float64))
        a, t = (side.rows(start, stop).astype(np.float64) for side in predicted)
        one += _square(a, t * own[:, None], rate)
        if truth is None:
            continue
        a_true, t_true = (side.rows(start, stop).astype(np.float64) for side in truth)
        two += _square(a_true, t_true * own[:, None], base)
        together = t * t_true * own[:, None] ** 2
        both += (a * a_true).T @ together - base * (a.T @ together) - rate * (a_true.T @ together)
        both += rate * base * together.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return MalsErrors(
            one / (size + 2.0) ** 2 + added,
            two / (base_size + 2.0) ** 2 + added_truth,
            both / ((size + 2.0) * (base_size + 2.0)) if truth is not None else np.zeros(shape),
        )


def _clustered(sides: list[tuple[Sides, Floats, Floats]], own: Floats, clusters: Keys) -> Floats:
    """The sum over clusters of the squared sum of influences, predicted minus truth."""
    order = np.argsort(clusters, kind="stable")
    ranked = clusters[order]
    first = np.flatnonzero(np.concatenate([[True], ranked[1:] != ranked[:-1]]))
    ends = np.append(first[1:], len(ranked))
    total = np.zeros(sides[0][1].shape)
    place = 0
    while place < len(first):
        last = max(int(np.searchsorted(ends, first[place] + _CHUNK)), place + 1)
        rows = order[first[place] : ends[last - 1]]
        moved = np.zeros((len(rows), total.size))
        for sign, ((left, right), rate, size) in zip((1.0, -1.0), sides, strict=False):
            a, t = (side.take(rows).rows().astype(np.float64) for side in (left, right))
            part = t[:, None, :] * (a[:, :, None] - rate) / (size + 2.0)
            moved += sign * own[rows, None] * part.reshape(len(rows), -1)
        sums = np.add.reduceat(moved, first[place:last] - first[place], axis=0)
        total += (sums**2).sum(axis=0).reshape(total.shape)
        place = last
    return total


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


def _square(a: Floats, t: Floats, rate: Floats) -> Floats:
    """``sum t**2 (a - rate)**2`` of every pair."""
    square = t**2
    return (a**2).T @ square - 2.0 * rate * (a.T @ square) + rate**2 * square.sum(axis=0)


def bag_ratio_influence(bags: JointCounts, counts: JointCounts, factor: Floats) -> Floats:
    """How much every bag moves ``sum factor P(a | t)``, as ``ratio_influence`` says of every record."""
    rate, size = rates_of(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(size > 0, factor / size, 0.0)
    return np.asarray((each * (floats(bags.joint) - rate * floats(bags.right))).sum(axis=(-2, -1)))


def bag_mals_errors(
    labels: JointCounts, predictions: JointCounts, truth: JointCounts | None, predicted: JointCounts
) -> MalsErrors:
    """As :func:`~biasamp.amplification.mals_errors.mals_errors`, from joint counts of bags of records.

    With too few bags for their sums to tell, each rate has its binomial error and what the two share is left out,
    which makes intervals wider than they need be.
    """
    parts = [_mals_part(predicted, predictions)]
    parts += [] if truth is None else [_mals_part(truth, labels)]
    added = [((1 - rate) ** 2 + rate**2) / (size + 2.0) ** 2 for _, rate, size in parts]
    enough = predicted.n.shape[0] >= FEWEST_BAGS
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


def _mals_part(bags: JointCounts, counts: JointCounts) -> tuple[Floats, Floats, Floats]:
    rate, size = rates_of(counts)
    return (floats(bags.joint) - rate * floats(bags.right)) / (size + 2.0), rate, size
