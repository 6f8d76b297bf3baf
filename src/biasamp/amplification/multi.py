"""``biasamp.multi``: how much a model changes the rates of labels and sets of labels, whatever the sign."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.itemsets import carried, expand, holders, occurring, one_a_record
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation, LabelSet
from biasamp.data.arguments import read_clusters, read_evaluation
from biasamp.resampling.interval_cautions import small_cautions
from biasamp.resampling.pair_intervals import pair_intervals
from biasamp.resampling.samples import BagSample, RecordSample, Sample
from biasamp.resampling.significance import delta_p
from biasamp.results.interval import Interval

from .pair_table import excluded_pairs, pair_table
from .pair_values import PairValues, directional_pairs, multi_floor, multi_value, multi_variance
from .result import Amplification
from .signs import association_p, association_signs
from .size_intervals import SizeIntervals, size_intervals

Blocks = list[Callable[[], Sample]]

_ITEMSETS = ("records", "subsets")
# The floor and the value agree on average without amplification; soft products are counted in blocks.
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
) -> Amplification:
    r"""Multi-attribute bias amplification, Multi→.

    .. math:: \frac{1}{|G||O|} \sum_{g, o} |P(\hat o = 1 | g = 1) - P(o = 1 | g = 1)|

    over itemsets ``g`` and ``o``: sets of labels that hold together. The value is never negative and cannot
    tell amplification from reduction. It is above 0 even for a model without amplification: ``.floor`` is
    the value expected of one that errs as often as this model.

    Parameters
    ----------
    given, truth, predicted, train, weights, cluster
        As for :func:`biasamp.directional`. Itemsets come from the train labels where they are given.
    itemsets : {"records", "subsets"}
        ``"records"``: the distinct label sets that records carry. ``"subsets"``: every set of labels that
        records have among theirs. A side with one label a record stays as it is.
    min_size, max_size : int
        The smallest and the largest number of labels of an itemset.
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
    if itemsets not in _ITEMSETS:
        raise ValueError(f"itemsets is {itemsets!r}; use one of {', '.join(map(repr, _ITEMSETS))}")
    for name, number in (("min_size", min_size), ("max_size", max_size), ("min_support", min_support)):
        if number is not None and (isinstance(number, bool) or not isinstance(number, (int, np.integer))):
            raise TypeError(f"{name} is {number!r}; a whole number is needed")
    for name, number in (("min_size", min_size), ("min_support", min_support)):
        if number < 1:
            raise ValueError(f"{name} is {number}; it must be at least 1")
    if max_size is not None and max_size < min_size:
        raise ValueError(f"max_size is {max_size}, below min_size {min_size}: no itemset would be left")
    evaluation, train_sets = read_evaluation(given, truth, predicted, train, weights)
    evaluation = replace(evaluation, clusters=read_clusters(cluster, len(evaluation)))
    choice = _Choice(itemsets, min_size, max_size, min_support)
    return from_samples(*_sampled(evaluation, train_sets, choice))


@dataclass(frozen=True)
class _Choice:
    """Which itemsets are looked at."""

    itemsets: str = "records"
    min_size: int = 1
    max_size: int | None = None
    min_support: int = 1

    def find(self, source: LabelSet, evaluated: LabelSet, side: str) -> list[tuple[int, ...]] | None:
        """The itemsets of a side, or None when it has one label a record and stays as it is."""
        if one_a_record(source, evaluated):
            return None
        search = carried if self.itemsets == "records" else occurring
        found = search(source, self.min_size, self.max_size, self.min_support)
        support = {number: len(records) for number, records in holders(evaluated, found)}
        kept = [items for number, items in enumerate(found) if support[number] >= self.min_support]
        if not kept:
            raise ValueError(
                f"no itemset of {side} is left: {len(found)} of {self.min_size} labels or more occur, and none has "
                f"min_support={self.min_support} in both the train and the evaluated records"
            )
        return kept


def from_evaluation(
    evaluation: Evaluation,
    train: tuple[LabelSet, LabelSet] | None = None,
    direction: str | None = None,
    level: float = 0.95,
) -> Amplification:
    """The result for labels that have been read already; ``level`` is that of the pairs' intervals."""
    return from_samples(*_sampled(evaluation, train, _Choice()), direction, level)


def _sampled(
    evaluation: Evaluation, train: tuple[LabelSet, LabelSet] | None, choice: _Choice
) -> tuple[Blocks, JointCounts | None]:
    """The records in terms of their itemsets, and the joint counts of the train labels."""
    source = train or (evaluation.given, evaluation.truth)
    given_sets = choice.find(source[0], evaluation.given, "given")
    outcome_sets = choice.find(source[1], evaluation.truth, "truth")
    if given_sets is not None:
        evaluation = replace(evaluation, given=expand(evaluation.given, given_sets))
        source = (expand(source[0], given_sets), source[1])
    blocks = _blocks(evaluation, outcome_sets)
    if train is None:
        return blocks, None
    outcome = source[1] if outcome_sets is None else expand(source[1], outcome_sets)
    return blocks, JointCounts.from_labels(source[0], outcome)


def from_cells(
    cells: Evaluation,
    train: tuple[LabelSet, LabelSet, NDArray[np.int64]] | None = None,
    direction: str | None = None,
    level: float = 0.95,
    clustered: bool = False,
) -> Amplification:
    """The result for the cells of a contingency table, whose weights say how many records each of them holds.

    ``train`` are the cells of the train labels: given, truth, and how many records. Records in clusters are not told
    apart by their cells, so that there is no interval for them.
    """
    choice = _Choice()
    counts = cells.weights
    assert counts is not None
    source = (cells.given, cells.truth, counts) if train is None else train
    given_sets = choice.find(source[0], cells.given, "given")
    outcome_sets = choice.find(source[1], cells.truth, "truth")
    given = cells.given if given_sets is None else expand(cells.given, given_sets)
    truth, predicted = (
        side if outcome_sets is None else expand(side, outcome_sets) for side in (cells.truth, cells.predicted)
    )
    sample = BagSample(BagCounts.from_cells(given, truth, predicted, counts))
    joint = None
    if train is not None:
        train_given = train[0] if given_sets is None else expand(train[0], given_sets)
        train_truth = train[1] if outcome_sets is None else expand(train[1], outcome_sets)
        joint = JointCounts.from_labels(train_given, train_truth, train[2])
        joint = replace(joint, records=int(train[2].sum()), squared=np.array([int(train[2].sum())]))
    result = from_samples([lambda: sample], joint, direction, level)
    return replace(result, _interval=None) if clustered else result


def from_samples(
    blocks: Blocks, train: JointCounts | None = None, direction: str | None = None, level: float = 0.95
) -> Amplification:
    """The result for samples of the same records, each with some of the outcome labels."""
    samples = [blocks[0]()] if len(blocks) == 1 else []
    counts = samples[0].counts if samples else PairCounts.side_by_side([block().counts for block in blocks])
    joint = counts.truth_joint if train is None else train
    sign = association_signs(joint)
    pairs = directional_pairs(counts, sign)
    if not pairs.defined.any():
        raise ValueError("no pair is defined: nobody has any of the given labels")
    # Blocks of soft products are not held together: their clusters show in the aggregate alone.
    clusters = samples[0].cluster_effect(pairs.delta, True) if samples else None
    low, high = pair_intervals(counts, level, clusters=clusters)
    p = delta_p(counts) if clusters is None else clusters.widened(delta_p(counts))
    value = float(multi_value(pairs))
    small = small_cautions(counts)
    size = PairValues(
        pairs.sign, pairs.truth_rate, pairs.predicted_rate, pairs.delta, np.abs(pairs.delta), pairs.defined
    )
    crosses = (low <= 0) & (high >= 0)
    least = np.where(crosses, 0.0, np.minimum(np.abs(low), np.abs(high)))
    most = np.maximum(np.abs(low), np.abs(high))
    return Amplification(
        metric="multi",
        value=value,
        pairs=pair_table(
            counts.given_labels,
            counts.outcome_labels,
            size,
            factor=np.ones(sign.shape),
            sign_p=association_p(joint),
            low=least,
            high=most,
            support=floats(counts.given),
            p=p,
        ),
        excluded=excluded_pairs(
            counts.given_labels,
            counts.outcome_labels,
            pairs,
            "no record has the given label",
            given_count=floats(counts.given),
            outcome_count=floats(counts.truth),
            joint_count=floats(counts.joint_truth),
        ),
        n=float(floats(counts.n).max()),
        direction=direction,
        sign_source="the evaluated labels" if train is None else "the train labels",
        variance=float(multi_variance(pairs)),
        floor=multi_floor(counts),
        cautions=small,
        _interval=_Later(blocks, value, small) if blocks[0]().resamplable else None,
    )


def _blocks(evaluation: Evaluation, outcome_sets: list[tuple[int, ...]] | None) -> Blocks:
    """The evaluation in terms of the itemsets, in as many parts as memory asks for."""
    if outcome_sets is None:
        whole = RecordSample(evaluation)
        return [lambda: whole]
    width = _SOFT_BLOCK if evaluation.predicted.soft else len(outcome_sets)
    parts = [outcome_sets[start : start + width] for start in range(0, len(outcome_sets), width)]

    def expanded(part: list[tuple[int, ...]]) -> RecordSample:
        return RecordSample(
            replace(evaluation, truth=expand(evaluation.truth, part), predicted=expand(evaluation.predicted, part))
        )

    if len(parts) == 1:
        only = expanded(parts[0])
        return [lambda: only]
    return [partial(expanded, part) for part in parts]


@dataclass(frozen=True, eq=False)
class _Later:
    """Prepares the intervals when the first is asked for: they count both halves of the records."""

    blocks: Blocks
    value: float
    cautions: tuple[str, ...]

    @cached_property
    def made(self) -> SizeIntervals:
        return size_intervals(self.blocks, self.value, self.cautions)

    def __call__(self, level: float, method: str, resamples: int, seed: int) -> Interval:
        return self.made(level, method, resamples, seed)

    def values(self, resamples: int = 1000, seed: int = 0) -> NDArray[np.float64]:
        """The values of keyed resamples."""
        return self.made.values(resamples, seed)
