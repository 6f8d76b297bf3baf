"""``biasamp.multi``: how much a model changes the rates of labels and sets of labels, whatever the sign."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.itemsets import carried, expand, occurring, one_a_record, support
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.counts.signed_sums import Block
from biasamp.data import LabelSet
from biasamp.data.arguments import read_evaluation
from biasamp.data.plain_arguments import one_of, whole_number
from biasamp.resampling.intervals import Intervals, Seed, check, pair_errors, small_cautions
from biasamp.resampling.sample import Added, Aggregates, Sample
from biasamp.resampling.significance import delta_p, pair_intervals
from biasamp.resampling.unseen_errors import Unseen
from biasamp.results import Table
from biasamp.results.interval import ONE_LABEL, Caution, Interval

from .directional import directional_pairs
from .invented import with_apart
from .pair_table import PairValues, mean_over_pairs, pair_table, pairs_without_given
from .result import Amplification, Estimate
from .signs import association_p, association_signs

Floats = NDArray[np.float64]


def multi_value(pairs: PairValues) -> Floats:
    r"""Multi (Zhao, Andrews & Xiang 2023): the mean of :math:`|\Delta|` over all pairs of itemsets."""
    return mean_over_pairs(np.abs(pairs.delta), pairs.defined)


def multi_variance(pairs: PairValues) -> Floats:
    r"""The population variance of :math:`\Delta` over all pairs."""
    centre = mean_over_pairs(pairs.delta, pairs.defined)
    return mean_over_pairs((pairs.delta - np.asarray(centre)[..., None, None]) ** 2, pairs.defined)


def multi_floor(counts: PairCounts) -> float:
    r"""The expected :math:`|\Delta|` of a model without amplification that errs as often as this one.

    Without amplification each of the ``m`` records of a group whose prediction differs from the truth is as
    likely to gain the label as to lose it, so :math:`E|\Delta|` is the mean absolute value of a walk of
    ``m`` fair steps, :math:`m \binom{m-1}{\lfloor (m-1)/2 \rfloor} / 2^{m-1}`, over ``C(g)``. With weights
    or soft predictions the steps differ in size, and the normal approximation takes its place.
    """
    from scipy.special import gammaln

    given = np.broadcast_to(floats(counts.given), counts.joint_truth.shape)
    _, _, square = counts.moments()
    if counts.unweighted:
        m = np.maximum(square, 1.0)
        half = np.floor((m - 1) / 2)
        log_walk = np.log(m) + gammaln(m) - gammaln(half + 1) - gammaln(m - half) - (m - 1) * np.log(2.0)
        walk = np.where(square > 0, np.exp(log_walk), 0.0)
    else:
        walk = np.sqrt(2.0 / np.pi * np.maximum(square, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(mean_over_pairs(walk / given, given > 0))


@dataclass(frozen=True, eq=False)
class SizeIntervals:
    r"""Intervals for the mean of :math:`|\Delta|` over pairs.

    The sample's mean of :math:`|\hat\Delta|` lies above that of the population, since noise adds to the size
    of what is near 0, and resampling adds the same again: a percentile interval may miss even the value it is
    for. Two facts give an interval that holds. For signs ``s`` that do not depend on the records,
    :math:`\sum s \Delta \le \sum |\Delta|`, so the cross-fitted mean, with the signs of ``delta`` in the other
    half of the records, is not above the population's on average: its lower bound is the interval's. And the
    sample's own mean is not below the population's on average: its upper bound, with the signs as they are, is
    the interval's. Where every change is clear both are the usual bounds; where none is, the interval reaches
    down to 0 and covers more often than its level. It always holds the value itself, and without amplification
    the floor. A change of exactly 0, where errors cancel, leans neither way: its variance is counted apart.
    """

    upper: Intervals
    lower: Intervals | None

    @property
    def cautions(self) -> tuple[str, ...]:
        """Where the interval covers less often than its level."""
        return self.upper.cautions

    def __call__(self, level: float, method: str, resamples: int, seed: Seed) -> Interval:
        """The interval by the named method."""
        seed = check(method, resamples, seed)
        high = self.upper(level, method, resamples, seed)
        low = -np.inf if self.lower is None else self.lower(level, method, resamples, seed).low
        return replace(high, low=min(low, self.upper.value), high=max(high.high, self.upper.value))

    def values(self, resamples: int = 1000, seed: int = 0) -> Floats:
        """The values of keyed resamples, with the signs of delta as they are in the data."""
        return self.upper.values(resamples, seed)


def size_intervals(sample: Sample, cautions: tuple[str, ...]) -> SizeIntervals:
    """Intervals for Multi of a sample."""
    counts = sample.counts
    factor = _leaning(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / floats(counts.given)
        z = np.nan_to_num(moved / pair_errors(counts))
    lent = None
    if sample.halves is not None:
        upper, lower = sample.halves
        lent = (_leaning(upper.counts), _leaning(lower.counts))
    made = Aggregates(sample, factor, lent, moved, z)
    unseen = Unseen(counts, sample.cluster_effect(moved, True)).of_sizes(factor)
    lower_bound = None if lent is None else sample.intervals(made.crossed, cautions, Added(made, own=True), unseen)
    return SizeIntervals(sample.intervals(made.whole, cautions, None, unseen), lower_bound)


def _leaning(counts: PairCounts) -> NDArray[np.int8]:
    """Which way delta points."""
    return np.sign(floats(counts.joint_predicted) - floats(counts.joint_truth)).astype(np.int8)


_ITEMSETS = ("records", "subsets")
# Products of soft labels are laid out for so many itemsets at a time.
_SOFT_BLOCK = 256


def multi(
    given: Any,
    truth: Any,
    predicted: Any,
    *,
    train: Any = None,
    weights: Any = None,
    cluster: Any = None,
    itemsets: str = "records",
    min_size: int = 1,
    max_size: int | None = None,
    min_support: int = 1,
    unseen: str = "invented",
) -> Amplification:
    r"""Multi-attribute bias amplification, Multi→.

    .. math:: \frac{1}{|G||O|} \sum_{g, o} |P(\hat o = 1 | g = 1) - P(o = 1 | g = 1)|

    over itemsets ``g`` and ``o``: sets of labels that hold together. The value is never negative and cannot
    tell amplification from reduction. It is above 0 even for a model without amplification: ``.floor`` is
    the value expected of one that errs as often as this model.

    Parameters
    ----------
    given, truth, predicted, train, weights, cluster, unseen
        As for :func:`biasamp.directional`. Itemsets come from the train labels where they are given.
    itemsets : {"records", "subsets"}
        ``"records"``: the distinct label sets that records carry. ``"subsets"``: every set of labels that
        records have among theirs. A side with one label per record stays as it is.
    min_size, max_size : int
        The smallest and the largest number of labels of an itemset. A side with one label per record stays as it is
        whatever ``min_size``, as it has no sets of two labels; ``.cautions`` says so.
    min_support : int
        An itemset needs this many train records that carry it (with ``"records"`` exactly, with
        ``"subsets"`` among theirs) and this many evaluated records that have it among their true labels.

    Returns
    -------
    Amplification
        With ``.variance``, the population variance of the changes, and ``.floor``.

    See Also
    --------
    directional : with the sign.

    References
    ----------
    Zhao, D., Andrews, J. and Xiang, A. (2023). Men also do laundry: multi-attribute bias amplification. ICML.

    Examples
    --------
    >>> import biasamp
    >>> gender = ["f", "f", "m", "m"]
    >>> objects = [["fork", "knife"], ["fork"], ["fork"], ["knife"]]
    >>> model = [["fork", "knife"], ["fork", "knife"], ["fork"], ["knife"]]
    >>> result = biasamp.multi(gender, objects, model)
    >>> sorted({row["outcome"] for row in result.pairs.rows()})
    ['fork', 'fork & knife', 'knife']
    >>> round(result.value, 4)
    0.1667
    """
    one_of(itemsets, "itemsets", _ITEMSETS)
    whole_number(min_size, "min_size", least=1)
    whole_number(min_support, "min_support", least=1)
    if max_size is not None and whole_number(max_size, "max_size", least=1) < min_size:
        raise ValueError(f"max_size is {max_size}, below min_size {min_size}: no itemset would be left")
    # Sizes of changes are of each group by itself.
    evaluation, train_sets, invented = read_evaluation(
        given, truth, predicted, train, weights, unseen=unseen, cluster=cluster, compared=False
    )
    result = from_records(
        Block(evaluation.owned()),
        None if train_sets is None else (*train_sets, None),
        Choice(itemsets, min_size, max_size, min_support),
        clustered=cluster is not None,
    )
    return with_apart(result, (), evaluation, invented)


@dataclass(frozen=True)
class Choice:
    """Which itemsets are looked at."""

    itemsets: str = "records"
    min_size: int = 1
    max_size: int | None = None
    min_support: int = 1

    def find(self, source: LabelSet, evaluated: LabelSet, side: str) -> list[tuple[int, ...]] | None:
        """The itemsets of a side, or None when it has one label per record and stays as it is."""
        if one_a_record(source, evaluated):
            return None
        search = carried if self.itemsets == "records" else occurring
        found = search(source, self.min_size, self.max_size, self.min_support)
        kept = found
        if source is not evaluated:
            enough = support(evaluated, found) >= self.min_support
            kept = [items for items, held in zip(found, enough.tolist(), strict=True) if held]
        if not kept:
            raise ValueError(
                f"no itemset of {side} is left: {len(found)} of {self.min_size} labels or more occur, and none has "
                f"min_support={self.min_support} in both the train and the evaluated records"
            )
        return kept


@dataclass(frozen=True, eq=False)
class ItemsetBlocks:
    """Records in terms of their itemsets, in as many blocks of outcome sets as memory asks for.

    Attributes
    ----------
    block : Block
        The records with their labels.
    given_sets, outcome_sets : list of tuples of int, or None
        The itemsets of either side, as numbers of labels; None where a side stays as it is.
    """

    block: Block
    given_sets: list[tuple[int, ...]] | None
    outcome_sets: list[tuple[int, ...]] | None

    @cached_property
    def _given(self) -> LabelSet:
        return _expanded(self.block.evaluation.given, self.given_sets)

    @cached_property
    def _only(self) -> Block:
        """All of it, where it is one block."""
        return self._some(self.outcome_sets)

    def _some(self, outcome_sets: list[tuple[int, ...]] | None) -> Block:
        held = self.block.evaluation
        truth = _expanded(held.truth, outcome_sets)
        predicted = held.predicted if outcome_sets is None else expand(held.predicted, outcome_sets, truth.variables)
        return replace(self.block, evaluation=replace(held, given=self._given, truth=truth, predicted=predicted))

    def __iter__(self) -> Iterator[Block]:
        if self.outcome_sets is None or not self.block.evaluation.predicted.soft:
            yield self._only
            return
        for start in range(0, len(self.outcome_sets), _SOFT_BLOCK):
            yield self._some(self.outcome_sets[start : start + _SOFT_BLOCK])


def _expanded(labels: LabelSet, itemsets: list[tuple[int, ...]] | None) -> LabelSet:
    return labels if itemsets is None else expand(labels, itemsets)


def from_records(
    block: Block,
    train: tuple[LabelSet, LabelSet, NDArray[np.int64] | None] | None = None,
    choice: Choice | None = None,
    *,
    clustered: bool = False,
    direction: str | None = None,
    level: float = 0.95,
    without: str | None = None,
) -> Amplification:
    """The result for records, or for cells that stand for several; ``train`` is given, truth and how many of each."""
    choice = choice or Choice()
    records = block.evaluation
    source = train or (records.given, records.truth, None)
    given_sets = choice.find(source[0], records.given, "given")
    outcome_sets = choice.find(source[1], records.truth, "truth")
    sample = Sample(ItemsetBlocks(block, given_sets, outcome_sets), clustered, without=without)
    single = [name for name, sets in (("given", given_sets), ("truth", outcome_sets)) if sets is None]
    notes: tuple[str, ...] = ()
    if choice.min_size > 1 and single:
        words = (
            f"min_size={choice.min_size} does not apply to {' and '.join(single)}: a record has one label there, so that "
            "there are no sets of labels, and each label stands for itself"
        )
        notes = (Caution(words, ONE_LABEL),)
    joint = None
    if train is not None:
        sides = _expanded(train[0], given_sets), _expanded(train[1], outcome_sets)
        joint = JointCounts.from_labels(*sides, train[2])
        if train[2] is not None:
            held = int(train[2].sum())
            joint = replace(joint, records=held, squared=np.array([held]))
    return from_sample(sample, joint, direction, level, notes)


@dataclass(frozen=True, eq=False)
class Multi(Estimate):
    """Multi of one sample; ``train`` are the joint counts of the train labels, ``notes`` further cautions."""

    sample: Sample
    train: JointCounts | None = None
    level: float = 0.95
    notes: tuple[str, ...] = ()

    @cached_property
    def joint(self) -> JointCounts:
        """What decides the signs that are shown with the changes."""
        return self.sample.counts.truth_joint if self.train is None else self.train

    @cached_property
    def values(self) -> PairValues:
        """What every pair contributes."""
        return directional_pairs(self.sample.counts, association_signs(self.joint))

    def pairs(self) -> Table:
        """One row for each pair."""
        counts, values = self.sample.counts, self.values
        clusters = self.sample.cluster_effect(values.delta, True)
        low, high = pair_intervals(counts, self.level, clusters=clusters)
        p = delta_p(counts)
        crosses = (low <= 0) & (high >= 0)
        return pair_table(
            counts.given_labels,
            counts.outcome_labels,
            replace(values, amplification=np.abs(values.delta)),
            factor=np.ones(values.sign.shape),
            sign_p=association_p(self.joint),
            low=np.where(crosses, 0.0, np.minimum(np.abs(low), np.abs(high))),
            high=np.maximum(np.abs(low), np.abs(high)),
            support=floats(counts.given),
            p=p if clusters is None else clusters.widened(p),
        )

    def between_models(self) -> float:
        """What records in which two models differ, and that were not seen, add to the variance of their difference."""
        counts = self.sample.counts
        clusters = self.sample.cluster_effect(self.values.delta, True)
        return Unseen(counts, clusters).between_models(_leaning(counts), self.values.defined)

    def figure(self, name: str) -> float | None:
        """The variance of the changes, or the value expected without amplification."""
        if name == "variance":
            return float(multi_variance(self.values))
        return multi_floor(self.sample.counts) if name == "floor" else None

    def cautions(self) -> tuple[str, ...]:
        """Where the interval covers less often than its level."""
        return self.notes + small_cautions(self.sample.counts) + self.sample.no_interval

    def interval(self, of: str) -> SizeIntervals | None:
        """What makes the intervals of the value."""
        return size_intervals(self.sample, self.cautions()) if of == "value" and self.sample.has_intervals else None


def from_sample(
    sample: Sample,
    train: JointCounts | None = None,
    direction: str | None = None,
    level: float = 0.95,
    notes: tuple[str, ...] = (),
) -> Amplification:
    """The result for a sample whose labels are the itemsets; ``notes`` are further cautions."""
    estimate = Multi(sample, train, level, notes)
    counts, values = sample.counts, estimate.values
    if not values.defined.any():
        raise ValueError("no pair is defined: no record has any of the given labels")
    return Amplification(
        metric="multi",
        value=float(multi_value(values)),
        n=float(floats(counts.n).max()),
        direction=direction,
        sign_source="the evaluated labels" if train is None else "the train labels",
        excluded=pairs_without_given(counts, values),
        _estimate=estimate,
    )
