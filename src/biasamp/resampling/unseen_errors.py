"""What the errors that were not seen add to the variance of an aggregate.

Records tell how much an aggregate varies only as far as they err: a model without an observed error moves nothing, and
with three observed errors the variance is as poorly known as the count of three is. The interval of Bonett and Price
for a single pair counts one more error of either kind. What that adds to the plain variance of a pair, its *excess*,
is added to the variance of the aggregate too, so that an aggregate is not surer than what it is made of.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import Count, floats, subtract
from biasamp.counts.pair import PairCounts

from .intervals import pair_errors
from .significance import ClusterEffect, adjusted_change

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Signs = NDArray[np.int8]
Mask = NDArray[np.bool_]

# Of rates against a fixed base: two records that have the label and two that have not (Agresti and Coull at 95%).
_ADDED_RATES = 4.0
# Chances of classes add up to 1 but for rounding.
_CLOSE = 1e-6


def pair_excess(counts: PairCounts, clusters: ClusterEffect | None = None, against_truth: bool = True) -> Floats:
    r"""By how much one more error of either kind raises the variance of every pair's change.

    For ``n`` records with mean change ``d`` and mean squared change ``s`` that is
    :math:`\frac{1}{n + 2} \left[\frac{n s + 2}{n + 2} - \left(\frac{n d}{n + 2}\right)^2\right] - \frac{s - d^2}{n}`,
    about ``2 / n**2`` where errors are rare; never below 0. ``n`` is the effective number of records. Against a base
    that is not estimated here (``against_truth=False``) the rate of predictions takes the place of the change.
    """
    size, _, _ = counts.moments()
    given = np.broadcast_to(floats(counts.given), size.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = given**2 / size
        if clusters is not None:
            n = n / clusters.unseen
        if against_truth:
            _, error, plain = adjusted_change(counts, n)
            excess = error**2 - plain
        else:
            rate = floats(counts.joint_predicted) / given
            centre = (n * rate + _ADDED_RATES / 2.0) / (n + _ADDED_RATES)
            excess = centre * (1.0 - centre) / (n + _ADDED_RATES) - rate * (1.0 - rate) / n
    return np.maximum(np.nan_to_num(excess), 0.0)  # 0 of a group without records


def discordance_excess(counts: PairCounts, clusters: ClusterEffect | None = None) -> Floats:
    """The variance of every pair's change that one more record of either kind adds in which two models differ.

    Two models on the same records differ by -1, 0 or 1 in each of them, as a prediction does from the truth. Where they
    differ in none that was seen, :func:`pair_excess` is ``2 / (n + 2)**2``, and it is never more.
    """
    size, _, _ = counts.moments()
    given = np.broadcast_to(floats(counts.given), size.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        n = given**2 / size if clusters is None else given**2 / size / clusters.unseen
    return np.asarray(np.nan_to_num(2.0 / (n + 2.0) ** 2))  # 0 of a group without records


def exclusive_sets(counts: PairCounts) -> list[Index]:
    """The outcome labels of which every record has exactly one, in truth and in prediction, set by set.

    An error that takes one of them gives another: their changes are tied by arithmetic.
    """
    return [places for places, adds_up in possible_sets(counts) if adds_up]


def possible_sets(counts: PairCounts) -> list[tuple[Index, Mask]]:
    """The outcome labels of each variable, and whether every record has exactly one of them; strata may be a leading axis."""
    by_variable: dict[str, list[int]] = {}
    for place, label in enumerate(counts.outcome_labels):
        if label.category is not None:
            by_variable.setdefault(label.variable, []).append(place)
    sets = [np.array(places) for places in by_variable.values() if len(places) > 1]
    if not sets:
        return []
    given, tables = floats(counts.given), [floats(table) for table in (counts.joint_truth, counts.joint_predicted)]

    def adds_up(places: Index) -> Mask:
        # The labels of a set are of the same records.
        whole = np.broadcast_to(given, tables[0].shape)[..., places[0]]
        close = [np.abs(held[..., places].sum(axis=-1) - whole) <= _CLOSE * whole for held in tables]
        return np.asarray((close[0] & close[1]).all(axis=-1))

    return [(places, adds_up(places)) for places in sets]


def complementary(counts: PairCounts) -> Mask:
    """Whether there are two given labels and every record has exactly one of them: signs are then opposite."""
    if len(counts.given_labels) != 2:
        return np.zeros(counts.joint_truth.shape[:-2], dtype=bool)

    def rest(whole: Count, parts: Count) -> Count:
        return subtract(subtract(whole[..., 0, :], parts[..., 0, :]), parts[..., 1, :])

    left = rest(counts.n, counts.given), rest(counts.truth, counts.joint_truth)
    return np.asarray(~(floats(left[0]).any(axis=-1) | floats(left[1]).any(axis=-1)))


def alternating(shape: tuple[int, ...], sets: list[Index]) -> Signs:
    """Signs for pairs that have none: opposite in neighbouring given labels and within a set of exclusive outcomes."""
    place = np.zeros(shape[-1], dtype=np.int64)
    for places in sets:
        place[places] = np.arange(len(places))
    return np.where((np.arange(shape[-2])[:, None] + place) % 2, -1, 1).astype(np.int8)


@dataclass(frozen=True, eq=False)
class Unseen:
    """What errors that were not seen add to the variance of means over the pairs of one sample.

    Attributes
    ----------
    counts : PairCounts
    clusters : ClusterEffect, optional
    against_truth : bool
        Whether changes are ``o_hat - o``; else ``o_hat`` against a base that is not estimated here.
    """

    counts: PairCounts
    clusters: ClusterEffect | None = None
    against_truth: bool = True

    @cached_property
    def _excess(self) -> Floats:
        return pair_excess(self.counts, self.clusters, self.against_truth)

    @cached_property
    def _sets(self) -> list[Index]:
        return exclusive_sets(self.counts)

    @cached_property
    def _shares(self) -> Floats:
        return overlap(self.counts)

    def variance(self, factor: Signs, counted: Mask, free: bool) -> float:
        """What they add to the variance of the mean of ``factor * delta`` over the counted pairs.

        With ``free``, a factor of 0 only says that these records do not tell the sign.
        """
        return float(aggregate_variance(self._excess, factor, counted, free, self._sets, self._shares))

    def variances(self, factor: Signs, counted: Mask, free: bool, sets: list[Index], strata: Index) -> Floats:
        """As :meth:`variance`, of some ``strata``, a leading axis of the counts, which have the same exclusive ``sets``."""
        excess, shares = self._excess[strata], self._shares[strata]
        return aggregate_variance(excess, factor[strata], counted[strata], free, sets, shares)

    def between_models(self, factor: Signs, counted: Mask) -> float:
        """What records that were not seen, in which two models differ, add to the variance of their difference."""
        excess = discordance_excess(self.counts, self.clusters)
        return float(aggregate_variance(excess, factor, counted, True, self._sets, self._shares))

    def of_sizes(self, lean: Signs) -> float:
        """What they, and errors that cancel, add to the variance of the mean of ``|delta|``.

        A change of exactly 0 has no sign (``lean``) for records to move it along. Its own variance is added; twice where
        one outcome excludes the others, as an error then moves two of them.
        """
        defined = np.broadcast_to(floats(self.counts.given) > 0, lean.shape)
        times = np.ones(lean.shape[1])
        for places in self._sets:
            times[places] = 2.0
        each = pair_errors(self.counts) ** 2 * (1.0 if self.clusters is None else self.clusters.inflation)
        cancelled = float((times * np.where(defined & (lean == 0), each, 0.0)).sum())
        return self.variance(lean, defined, free=True) + cancelled / max(int(defined.sum()), 1) ** 2


def overlap(counts: PairCounts) -> Floats:
    """The share of records that each given label has, of shape (given labels,); 0 where records have one label each."""
    n, given = floats(counts.n).max(axis=(-2, -1))[..., None], floats(counts.given).max(axis=-1)
    several = given.sum(axis=-1, keepdims=True) > n * (1.0 + _CLOSE)
    return np.divide(given, n, out=np.zeros(given.shape), where=several)


def aggregate_variance(
    excess: Floats, factor: Signs, counted: Mask, free: bool, sets: list[Index], shares: Floats
) -> Floats:
    """What the excess of pairs adds to the variance of the mean of ``factor * delta`` over the counted pairs."""
    if free:
        factor = np.where(factor == 0, alternating(factor.shape, sets), factor)
    counting = np.where(counted, factor, 0)
    pairs = np.maximum(counted.sum(axis=(-2, -1)), 1)
    return np.asarray(aggregate_excess(excess, counting, sets, shares) / pairs**2)


def aggregate_excess(excess: Floats, factor: NDArray[Any], sets: list[Index], shares: Floats) -> Floats:
    """What the excess of pairs adds to the variance of ``sum factor * delta``; strata may be a leading axis.

    Parameters
    ----------
    excess : ndarray of shape (given labels, outcome labels)
    factor : ndarray of shape (given labels, outcome labels)
        What the change of each pair is multiplied with; 0 where it does not count.
    sets : list of ndarray
        Sets of outcome labels of which every record has exactly one. An error moves two of them by one each way, so
        that a set is worth the squared distance of its factors, not the sum of its squares: for two values twice as
        much, for many values less.
    shares : ndarray of shape (given labels,)
        How far given labels overlap: an error of a record that has several of them moves the outcome in all. They are
        taken to overlap as independent labels of these shares would.
    """
    single = np.ones(excess.shape[-1], dtype=bool)
    moved = []
    for places in sets:
        single[places] = False
        held = factor[..., places].astype(np.float64)
        apart = held[..., 0] - held[..., 1] if len(places) == 2 else held.max(axis=-1) - held.min(axis=-1)
        moved.append((apart * np.sqrt(excess[..., places].max(axis=-1)))[..., None])
    each = np.concatenate([*moved, factor[..., single] * np.sqrt(excess[..., single])], axis=-1)
    # The last bit of a sum depends on the order in memory: that of each stratum is as if it were alone.
    turned = (-2, -1) if single.sum() > 1 else (-1, -1)
    each = np.ascontiguousarray(each.swapaxes(*turned)).swapaxes(*turned)
    apart_from_others = ((1.0 - shares)[..., None] * each**2).sum(axis=(-2, -1))
    together = ((np.sqrt(shares)[..., None] * each).sum(axis=-2) ** 2).sum(axis=-1)
    return np.asarray(apart_from_others + together)
