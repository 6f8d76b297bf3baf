"""Figures of a sample that can be resampled: their value, how much every bag moves them, and their resamples."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import addends, bag_weights, weighted_sums
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import Fixed, floats, subtract
from biasamp.counts.pair import PairCounts
from biasamp.counts.signed_sums import Pull, SignedSums

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

# What a directional value needs of a resample; ``C(g, o and o_hat)`` and the marginal of predictions are not among it.
DIRECTIONAL = ("n", "given", "truth", "joint_truth", "joint_predicted")

# What is smaller than this share of its parts is rounding.
_ROUNDING = 1e-12


class Statistic(Protocol):
    """A figure of a sample."""

    @property
    def value(self) -> float:
        """The figure of the data."""

    @property
    def first_order(self) -> bool:
        """Whether there are too many pairs to resample each: then only the influences are resampled."""

    def influence(self) -> Floats:
        """How much every bag that holds records moves it, of shape (rows,)."""

    def replicates(self, resamples: int, seed: int) -> Floats:
        """Its value in every resample of the bags, of shape (resamples,)."""


@dataclass(frozen=True, eq=False)
class Ratios:
    r"""A mean of ratios of sums over bags: :math:`\sum_c [\sum_b m_{bc} / \sum_b s_{bc} - a_c] / \sum_c k_c`.

    A column whose size is 0 is undefined: it adds nothing, and does not count.

    Attributes
    ----------
    bags : BagCounts
        Whose bags are resampled.
    moved, size : ndarray of shape (rows, columns)
        What every bag adds to the numerator and the denominator of each ratio.
    pairs : ndarray of shape (columns,)
        For how many pairs each column counts.
    against : ndarray of shape (columns,) or float
        What is taken from each ratio.
    whole : bool
        Whether the numbers are whole.
    of_all : float, optional
        For how many pairs all columns count together, whether defined or not.
    """

    bags: BagCounts
    moved: Floats
    size: Floats
    pairs: Floats
    against: Floats | float = 0.0
    whole: bool = False
    of_all: float | None = None

    first_order = False

    def _mean(self, moved: Floats, size: Floats) -> Floats:
        there = size > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            each = np.where(there, moved / size - self.against, 0.0).sum(axis=-1)
            return np.asarray(each / ((there * self.pairs).sum(axis=-1) if self.of_all is None else self.of_all))

    @property
    def value(self) -> float:
        """The figure of the data."""
        return float(self._mean(self.moved.sum(axis=0), self.size.sum(axis=0)))

    def influence(self) -> Floats:
        """How much every bag moves it."""
        totals = self.moved.sum(axis=0), self.size.sum(axis=0)
        return influence_on_ratios(self.moved, self.size, totals, self.pairs, self.of_all)

    def replicates(self, resamples: int, seed: int) -> Floats:
        """Its value in every resample of the bags."""
        weights = self.bags.weights(resamples, seed)
        return self._mean(*(weighted_sums(weights, addends(part, self.whole)) for part in (self.moved, self.size)))


def influence_on_ratios(
    moved: Floats,
    size: Floats,
    totals: tuple[Floats, Floats],
    pairs: Floats,
    of_all: float | None = None,
    strata: NDArray[np.int64] | None = None,
) -> Floats:
    """How much every bag moves a mean of ratios (see :class:`Ratios`).

    ``totals`` are the sums of ``moved`` and ``size`` over bags. With ``strata``, the stratum of every row, they are those
    of every stratum, which has a mean of its own.
    """
    numerator, total = totals
    there = total > 0
    count = np.maximum((there * pairs).sum(axis=-1, keepdims=True), 1.0) if of_all is None else of_all
    with np.errstate(divide="ignore", invalid="ignore"):
        each = np.where(there, 1.0 / total, 0.0) / count
        mean = np.where(there, numerator / total, 0.0)
    if strata is not None:
        each, mean = each[strata], mean[strata]
    expected = size * mean
    rest = moved - expected
    # Where all bags have one ratio none moves the mean: what is left is rounding.
    rest[np.abs(rest) <= _ROUNDING * np.abs(expected)] = 0.0
    return np.asarray((each * rest).sum(axis=1))


@dataclass(frozen=True, eq=False)
class Known:
    """A figure whose influences are known, and that is not resampled."""

    value: float
    known: Floats

    first_order = True

    def influence(self) -> Floats:
        """How much every bag moves it."""
        return self.known

    def replicates(self, resamples: int, seed: int) -> Floats:
        """There are none."""
        raise NotImplementedError("only closed-form intervals are made of this figure")


@dataclass(frozen=True, eq=False)
class Difference:
    """One figure of a sample less another of the same bags: their resamples are paired."""

    first: Statistic
    second: Statistic

    @property
    def first_order(self) -> bool:
        """Whether only the influences of either are resampled."""
        return self.first.first_order or self.second.first_order

    @property
    def value(self) -> float:
        """The figure of the data."""
        return self.first.value - self.second.value

    def influence(self) -> Floats:
        """How much every bag moves it; 0 where all that is left of either figure is rounding."""
        first, second = self.first.influence(), self.second.influence()
        moved = first - second
        least = _ROUNDING**2 * (float((first**2).sum()) + float((second**2).sum()))
        return np.zeros(len(moved)) if float((moved**2).sum()) <= least else moved

    def replicates(self, resamples: int, seed: int) -> Floats:
        """Its value in every resample of the bags."""
        return self.first.replicates(resamples, seed) - self.second.replicates(resamples, seed)


@dataclass(frozen=True, eq=False)
class FixedSigns:
    r"""The mean of :math:`f_{go} \Delta_{go}` over the counted pairs that are defined, with fixed factors ``f``.

    Attributes
    ----------
    bags : BagCounts
        The sample.
    factor : ndarray of shape (given labels, outcome labels)
        What delta is multiplied with: -1, 0 or 1.
    base : ndarray, optional
        Rates that take the place of ``P(o | g)``.
    counted : ndarray of bool, optional
        Which pairs the mean is over; all by default.
    """

    bags: BagCounts
    factor: Signs
    base: Floats | None = None
    counted: NDArray[np.bool_] | None = None

    first_order = False

    @property
    def value(self) -> float:
        """The figure of the data."""
        return float(fixed_sign_value(self.bags.whole, self.factor, self.base, self.counted))

    @property
    def _turned(self) -> Signs:
        """The factors, 0 for pairs that do not count."""
        factor = np.broadcast_to(self.factor, self.bags.counts.joint_truth.shape[1:])
        return factor if self.counted is None else np.where(self.counted, factor, 0).astype(np.int8)

    @cached_property
    def _pulls(self) -> tuple[Floats, Floats, Floats]:
        """Of every bag, ``sum h f (o_hat - o)`` and ``sum h`` of each given label, and the pairs of each.

        Where pairs leave out records of their own, every pair is a column by itself.
        """
        moved, size = residuals(self.bags, self.base is None)
        if self.bags.counts.given.shape[-1] > 1:
            pairs = np.ones(moved.shape[1:]) if self.counted is None else self.counted.astype(float)
            rows = len(moved)
            return (self._turned * moved).reshape(rows, -1), size.reshape(rows, -1), pairs.ravel()
        counted = np.ones(moved.shape[1:], dtype=bool) if self.counted is None else self.counted
        return (self._turned * moved).sum(axis=-1), size[..., 0], counted.sum(axis=-1).astype(np.float64)

    @property
    def _against(self) -> Floats | float:
        if self.base is None:
            return 0.0
        each = self._turned * self.base
        return each.ravel() if self.bags.counts.given.shape[-1] > 1 else each.sum(axis=-1)

    @property
    def _ratios(self) -> Ratios:
        moved, size, pairs = self._pulls
        whole = not isinstance(self.bags.counts.joint_predicted, Fixed)
        return Ratios(self.bags, moved, size, pairs, self._against, whole)

    def influence(self) -> Floats:
        """How much every bag moves it."""
        return self._ratios.influence()

    def replicates(self, resamples: int, seed: int) -> Floats:
        """Its value in every resample of the bags."""
        return self._ratios.replicates(resamples, seed)


@dataclass(frozen=True, eq=False)
class Crossed:
    """The mean of two figures, each of one half of the records with the signs of the other."""

    first: Statistic
    second: Statistic

    first_order = False

    @property
    def value(self) -> float:
        """The figure of the data."""
        return 0.5 * (self.first.value + self.second.value)

    def influence(self) -> Floats:
        """How much every bag moves it."""
        return 0.5 * np.concatenate([self.second.influence(), self.first.influence()])

    def replicates(self, resamples: int, seed: int) -> Floats:
        """Its value in every resample of the bags."""
        return 0.5 * (self.first.replicates(resamples, seed) + self.second.replicates(resamples, seed))


@dataclass(frozen=True, eq=False)
class Redrawn:
    """A figure whose signs are decided anew in every resample."""

    fixed: Statistic
    bags: BagCounts
    formula: Callable[[PairCounts], Floats]

    first_order = False

    @property
    def value(self) -> float:
        """The figure of the data."""
        return self.fixed.value

    def influence(self) -> Floats:
        """How much every bag moves it, with the signs as they are."""
        return self.fixed.influence()

    def replicates(self, resamples: int, seed: int) -> Floats:
        """Its value in every resample of the bags."""
        parts = self.bags.resampled(resamples, seed, DIRECTIONAL)
        return np.concatenate([np.atleast_1d(self.formula(part)) for part in parts])


@dataclass(frozen=True, eq=False)
class Linear:
    """A figure with fixed signs of so many pairs that only its influences are known, to first order.

    Attributes
    ----------
    value : float
    pull : Pull
    number : int
        Which of the pulls that were asked for.
    sums : callable
        What gives the answer to the second look at the records.
    """

    value: float
    pull: Pull
    number: int
    sums: Callable[[], SignedSums]
    first_order = True

    def influence(self) -> Floats:
        """How much every bag moves it."""
        found = self.sums()
        return np.asarray(found.sums[self.number][found.filled > 0] / self.pull.steps)

    def replicates(self, resamples: int, seed: int) -> Floats:
        """Its value in every resample of the bags."""
        found = self.sums()
        numbers = np.flatnonzero(found.filled)
        weights = bag_weights(numbers, len(found.filled), resamples, seed)
        # Whole numbers of steps: the sums are the same in whatever order they are made.
        pulls = addends(found.sums[self.number][numbers].astype(np.float64), whole=False)[:, None]
        pulled = weighted_sums(weights, pulls)[:, 0] - pulls.sum()
        return self.value + np.asarray(pulled) / self.pull.steps


def fixed_sign_value(
    counts: PairCounts, factor: Signs, base: Floats | None = None, counted: NDArray[np.bool_] | None = None
) -> Floats:
    """The mean of ``factor * delta`` over the counted pairs that are defined, of any number of counts."""
    given, held, one = (floats(x) for x in (counts.given, counts.joint_predicted, counts.joint_truth))
    there = np.broadcast_to(given > 0, held.shape)
    if counted is not None:
        there = there & counted
    with np.errstate(divide="ignore", invalid="ignore"):
        delta: Any = (held - one) / given if base is None else held / given - base
        total = np.where(there, factor * delta, 0.0).sum(axis=(-2, -1))
        return np.asarray(total / there.sum(axis=(-2, -1)))


def pull_of(
    halves: tuple[PairCounts, PairCounts],
    factors: tuple[Signs, Signs],
    base: Floats | None = None,
    counted: NDArray[np.bool_] | None = None,
    share: float = 1.0,
) -> Pull:
    """How records of the lower and of the upper half move a mean of ``factor * delta``.

    Each half has counts and factors of its own; they are the same twice for an aggregate of all records.
    """
    each, centre = [], []
    for counts, factor in zip(halves, factors, strict=True):
        held, one = floats(counts.joint_predicted), floats(counts.joint_truth)
        given = np.broadcast_to(floats(counts.given), held.shape)
        there = given > 0 if counted is None else (given > 0) & counted
        with np.errstate(divide="ignore", invalid="ignore"):
            each.append(share * np.where(there, factor / given, 0.0) / max(int(there.sum()), 1))
            centre.append(np.where(given > 0, (held - one if base is None else held) / given, 0.0))
    return Pull(np.stack(each), np.stack(centre), base is None)


def residuals(bags: BagCounts, against_truth: bool = True) -> tuple[Floats, Floats]:
    """``sum w h (o_hat - o)`` (or of ``o_hat`` alone) and ``sum w h`` of every bag and pair."""
    counts = bags.counts
    held: Any = subtract(counts.joint_predicted, counts.joint_truth) if against_truth else counts.joint_predicted
    moved = held.floats() if isinstance(held, Fixed) else held.astype(np.float64)
    return moved, np.broadcast_to(floats(counts.given), moved.shape)
