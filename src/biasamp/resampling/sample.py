"""The sample that a metric looks at: records in bags, in memory or as counts of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import bags_for, exact_product
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import Count, floats, subtract
from biasamp.counts.pair import PairCounts
from biasamp.counts.signed_sums import Block, Pull, SecondLook, SignedSums, look_at
from biasamp.data import Evaluation
from biasamp.data.packed_labels import PackedEvaluation

from .intervals import Intervals
from .significance import ClusterEffect, bag_cluster_effect
from .statistics_of_bags import Crossed, FixedSigns, Linear, Statistic, pull_of

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# The covariances are estimated from so many pairs; more would hardly change their sum.
_PAIRS = 1000
# A sign with a test statistic beyond this in half the records hardly goes with the noise.
_CLEAR = 4.0


def unclear_pairs(delta: Floats, z: Floats) -> tuple[Index, Index, float]:
    """The pairs whose sign goes with the noise, or some that stand for them, and for how many each of those stands."""
    half = np.abs(z) / np.sqrt(2.0)
    g, o = np.nonzero(~np.isnan(delta) & (half < _CLEAR))
    if len(g) <= _PAIRS:
        return g, o, 1.0
    # Some labels of the side that has more of them stand for all.
    side = o if len(np.unique(o)) >= len(np.unique(g)) else g
    keep = np.isin(side, np.unique(side)[:: -(-len(g) // _PAIRS)])
    return g[keep], o[keep], len(g) / int(keep.sum())


def bag_crossfit_covariance(bags: BagCounts, delta: Floats, z: Floats, pairs: tuple[Index, Index], own: bool) -> float:
    r"""What the two halves of the records share when each lends the other its signs, summed over these pairs.

    A cross-fitted value is the mean of :math:`S_1 = \sum_k y_{2k} \Delta_{1k}` and :math:`S_2 = \sum_k y_{1k} \Delta_{2k}`.
    Either is unbiased, but where signs are near chance they are not independent: the noise of :math:`\Delta_1` goes with
    :math:`y_1`, that of :math:`\Delta_2` with :math:`y_2`, and

    .. math:: \operatorname{Cov}(S_1, S_2) = \sum_{kl} M_{kl} M_{lk}, \quad
        M_{kl} = \operatorname{Cov}(\Delta_k, y_l) \approx 2 \phi(z_l) \operatorname{Cov}(\Delta_k, a_l) / \sigma_{a_l}

    with the statistic ``a`` whose sign ``y`` is and its test statistic ``z`` in half the records. Errors that hold the
    signs fixed leave it out, and come out up to a quarter too small.

    Parameters
    ----------
    bags : BagCounts
        The counts of all records.
    delta : ndarray of shape (given labels, outcome labels)
        The change of every pair; NaN where undefined.
    z : ndarray of shape (given labels, outcome labels)
        The test statistic of every sign in all the records.
    pairs : pair of ndarray
        Numbers of the given and of the outcome label of every pair.
    own : bool
        Whether the signs are those of delta itself (Multi), not of the association of the labels.
    """
    g, o = pairs
    counts = bags.whole
    size = np.broadcast_to(floats(counts.given), delta.shape)[g, o]
    held = subtract(bags.counts.joint_predicted, bags.counts.joint_truth)
    moved, given = (_of_pairs(part, bags.counts, g, o) for part in (held, bags.counts.given))
    noise = lean = (moved - given * delta[g, o]) / size
    if not own:
        left, right, apart = _association_rates(counts, g, o)
        n, truth, joint = (
            _of_pairs(part, bags.counts, g, o) for part in (bags.counts.n, bags.counts.truth, bags.counts.joint_truth)
        )
        lean = joint - left * truth - right * given + (left * right - apart) * n
    spread = np.sqrt((lean**2).sum(axis=0))
    # An observed statistic is further from 0 than the true one by about 1 where the true one is 0.
    half = np.abs(z)[g, o] / np.sqrt(2.0)
    density = np.exp(-0.5 * np.maximum(half - 1.0, 0.0) ** 2) / np.sqrt(2.0 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        lent = np.where(spread > 0, 2.0 * density / spread, 0.0)
    shared = _exact_product(noise, lean) * lent
    return max(float((shared * shared.T).sum()), 0.0)


def _exact_product(left: Floats, right: Floats) -> Floats:
    """``left.T @ right`` of numbers cut to 19 bits, which adds up without rounding: the same from every library."""
    a, first = _cut(left)
    # The product of a matrix with itself is symmetric, and libraries make half of it where both are one array.
    b, second = (a, first) if right is left else _cut(right)
    return exact_product(a.T, b) / (first * second)


def _cut(values: Floats) -> tuple[Floats, float]:
    """Numbers as whole ones of 19 bits at most, and what they were multiplied with."""
    largest = max(float(values.max(initial=0.0)), -float(values.min(initial=0.0)))
    scale = 2.0 ** (19 - int(np.ceil(np.log2(largest)))) if largest > 0 else 1.0
    out = values * scale
    return np.rint(out, out=out), scale


def _association_rates(counts: PairCounts, g: Index, o: Index) -> tuple[Floats, Floats, Floats]:
    """Both rates of some pairs, and by how much they hold together more often than by chance."""
    shape = counts.joint_truth.shape
    n = np.broadcast_to(floats(counts.n), shape)[g, o]
    left = np.broadcast_to(floats(counts.given), shape)[g, o] / n
    right = np.broadcast_to(floats(counts.truth), shape)[g, o] / n
    return left, right, floats(counts.joint_truth)[g, o] / n - left * right


def _of_pairs(part: Count, counts: PairCounts, g: Index, o: Index) -> Floats:
    """One number for each bag and pair, of shape (bags, pairs); where it does not differ by label it is drawn out."""
    values = floats(part)
    rows, left, right = values.shape
    flat = (g if left > 1 else np.zeros_like(g)) * right + (o if right > 1 else np.zeros_like(o))
    return np.take(values.reshape(rows, left * right), flat, axis=1)


Signs = NDArray[np.int8]
Mask = NDArray[np.bool_]

# Pairs whose pulls are held in memory for a second look at the records.
_MOST_PULLED = 1 << 22
TOO_MANY_PAIRS = (
    "there are so many pairs that no resamples of them are kept: the aggregate has no interval, each pair has its own"
)


@dataclass(frozen=True, eq=False)
class _KeptRecords:
    """A packed copy of records, as the block that they are when they are looked at."""

    kept: PackedEvaluation

    def __iter__(self) -> Iterator[Block]:
        return iter((Block(self.kept.evaluation),))


@dataclass(frozen=True, eq=False)
class Sample:
    """The records of one direction, counted when they are first asked for.

    Attributes
    ----------
    source : BagCounts or iterable of Block
        The counts, or the records: blocks with the same records and given labels, each with some outcome labels.
    clustered : bool
        Whether bags hold whole clusters of records.
    again : callable, optional
        What reads the records a second time, where ``source`` is counts.
    without : str, optional
        Why there can be no interval, whatever the counts.
    """

    source: BagCounts | Iterable[Block]
    clustered: bool = False
    again: Callable[[SecondLook], SignedSums] | None = None
    without: str | None = None

    @classmethod
    def of(cls, evaluation: Evaluation) -> Sample:
        """Records in memory."""
        return cls((Block(evaluation),), evaluation.clusters is not None)

    @classmethod
    def keeping(cls, evaluation: Evaluation) -> Sample:
        """Records in memory that their owner may change: they are counted at once, and a packed copy is kept."""
        sample = cls(_KeptRecords(PackedEvaluation(evaluation)), evaluation.clusters is not None)
        sample.__dict__["counts"] = Block(evaluation).pair_counts()
        return sample

    @cached_property
    def counts(self) -> PairCounts:
        """The pair counts of all records."""
        if isinstance(self.source, BagCounts) or "bags" in self.__dict__:
            return self.bags.whole
        parts = [block.pair_counts() for block in self.source]
        return parts[0] if len(parts) == 1 else PairCounts.side_by_side(parts)

    @cached_property
    def bags(self) -> BagCounts:
        """The pair counts by bag."""
        if isinstance(self.source, BagCounts):
            return self.source
        pairs = len(self.counts.given_labels) * len(self.counts.outcome_labels)
        return BagCounts.side_by_side([block.counted(bags_for(pairs)) for block in self.source])

    @property
    def records(self) -> int:
        """How many records there are."""
        return self.counts.records

    @property
    def has_intervals(self) -> bool:
        """Whether there is enough for the interval of an aggregate."""
        return self.without is None and (self.bags.resamplable or self.looks_again)

    @property
    def no_interval(self) -> tuple[str, ...]:
        """Why there is no interval, where there is none."""
        if self.has_intervals:
            return ()
        return (TOO_MANY_PAIRS if self.without is None else self.without,)

    @property
    def looks_again(self) -> bool:
        """Whether pairs are so many that intervals take a second look at the records, which can be had."""
        pairs = len(self.counts.given_labels) * len(self.counts.outcome_labels)
        readable = self.again is not None or not isinstance(self.source, BagCounts)
        return not self.bags.resamplable and readable and pairs <= _MOST_PULLED

    def look(self, asked: SecondLook) -> SignedSums:
        """The answer to a second look at the records."""
        if self.again is not None:
            return self.again(asked)
        assert not isinstance(self.source, BagCounts)
        return look_at(self.source, asked)

    @cached_property
    def halves(self) -> tuple[Sample, Sample] | None:
        """Two random halves, the upper one first; None where one of them holds no pair."""
        parts = self.bags.halves
        return None if parts is None else (replace(self, source=parts[0]), replace(self, source=parts[1]))

    def cluster_effect(self, moved: Floats, against_truth: bool) -> ClusterEffect | None:
        """How much clusters widen each pair's error, where bags can tell."""
        if not self.clustered or not self.bags.resamplable or self.records < 2:
            return None
        return bag_cluster_effect(self.bags, moved, against_truth)

    def intervals(
        self, statistic: Statistic, cautions: tuple[str, ...], added: Added | None = None, unseen: float = 0.0
    ) -> Intervals:
        """Intervals of a figure of this sample; ``unseen`` is the variance of errors that were not seen."""
        return Intervals(statistic, self.clustered, cautions, added, unseen)


@dataclass(frozen=True, eq=False)
class Aggregates:
    """The aggregates of a sample with fixed signs: of all records, of some pairs, cross-fitted, and with other signs.

    Attributes
    ----------
    sample : Sample
    factor : ndarray of shape (given labels, outcome labels)
        The signs of the whole.
    lent : pair of ndarray or None
        The signs that the upper and the lower half lend each other; None where they do not.
    base, counted : ndarray, optional
        Rates that take the place of ``P(o | g)``, and the pairs that :attr:`some` is of.
    delta, z : ndarray of shape (given labels, outcome labels)
        The change of every pair, and the test statistic of its sign: which pairs the halves share noise in.
    others : tuple of ndarray
        Other signs of the whole.
    """

    sample: Sample
    factor: Signs
    lent: tuple[Signs, Signs] | None
    delta: Floats
    z: Floats
    base: Floats | None = None
    counted: Mask | None = None
    others: tuple[Signs, ...] = ()

    @cached_property
    def whole(self) -> Statistic:
        """Of all pairs."""
        if self.sample.bags.resamplable:
            return FixedSigns(self.sample.bags, self.factor, self.base)
        return self._linear(0)

    @cached_property
    def some(self) -> Statistic:
        """Of the counted pairs."""
        if self.sample.bags.resamplable:
            return FixedSigns(self.sample.bags, self.factor, self.base, self.counted)
        return self._linear(1)

    @cached_property
    def crossed(self) -> Crossed | Linear:
        """Cross-fitted: each half with the signs of the other."""
        assert self.lent is not None
        assert self.sample.halves is not None
        upper, lower = self.sample.halves
        first, second = FixedSigns(upper.bags, self.lent[1]), FixedSigns(lower.bags, self.lent[0])
        return Crossed(first, second) if self.sample.bags.resamplable else self._linear(2)

    def other(self, number: int) -> Statistic:
        """Of all pairs, with the signs of that number among :attr:`others`."""
        if self.sample.bags.resamplable:
            return FixedSigns(self.sample.bags, self.others[number], self.base)
        return self._linear(number - len(self.others))

    @cached_property
    def pulls(self) -> tuple[Pull, ...]:
        """How records move each of them."""
        counts = self.sample.counts
        twice, signs = (counts, counts), (self.factor, self.factor)
        out = [pull_of(twice, signs, self.base), pull_of(twice, signs, self.base, self.counted)]
        if self.lent is not None and self.sample.halves is not None:
            upper, lower = self.sample.halves
            out.append(pull_of((lower.counts, upper.counts), self.lent, share=0.5))
        return (*out, *(pull_of(twice, (signs, signs), self.base) for signs in self.others))

    @cached_property
    def _found(self) -> SignedSums:
        g, o, _ = unclear_pairs(self.delta, self.z)
        return self.sample.look(SecondLook(self.pulls, np.unique(g), np.unique(o)))

    def found(self) -> SignedSums:
        """What the second look at the records gave; it is taken once."""
        return self._found

    def _linear(self, number: int) -> Linear:
        pull = self.pulls[number]
        value = sum(
            float((pull.each[side] * (pull.centre[side] - (0.0 if self.base is None else self.base)) * given).sum())
            for side, given in self._sizes(number)
        )
        return Linear(value, pull, number, self.found)

    def _sizes(self, number: int) -> list[tuple[int, Floats]]:
        """``C(g)`` of every pair in each half that the pull is about."""
        shape = self.sample.counts.joint_truth.shape
        if number != 2:
            return [(0, np.broadcast_to(floats(self.sample.counts.given), shape))]
        assert self.sample.halves is not None
        upper, lower = self.sample.halves
        return [(side, np.broadcast_to(floats(part.counts.given), shape)) for side, part in enumerate((lower, upper))]


@dataclass(frozen=True, eq=False)
class Added:
    """The variance that the sharing of noise between halves adds to a cross-fitted figure."""

    aggregates: Aggregates
    own: bool = False

    def __call__(self) -> float:
        """The variance."""
        made = self.aggregates
        sample = made.sample
        g, o, scale = unclear_pairs(made.delta, made.z)
        if not len(g):
            return 0.0
        pairs = int((~np.isnan(made.delta)).sum())
        if sample.bags.resamplable:
            return bag_crossfit_covariance(sample.bags, made.delta, made.z, (g, o), self.own) * scale / pairs**2
        few = made.found().few
        if few is None or not few.resamplable:
            return 0.0
        rows, columns = np.unique(g), np.unique(o)
        delta, z = (values[np.ix_(rows, columns)] for values in (made.delta, made.z))
        places = np.searchsorted(rows, g), np.searchsorted(columns, o)
        return bag_crossfit_covariance(few, delta, z, places, self.own) * scale / pairs**2
