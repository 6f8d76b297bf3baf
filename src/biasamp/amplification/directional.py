"""``biasamp.directional``: in which direction, and for which pairs, a model amplifies."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation
from biasamp.data.arguments import read_clusters, read_evaluation
from biasamp.resampling.interval_cautions import normal_statistic, sign_cautions, small_cautions
from biasamp.resampling.pair_intervals import pair_intervals, rate_intervals
from biasamp.resampling.samples import USUAL_RESAMPLES, FixedSigns, RecordSample, Sample
from biasamp.resampling.significance import delta_p, rate_p

from .base import Base, read_base
from .pair_table import CLEAR_SIGN, excluded_pairs, pair_table
from .pair_values import directional_pairs, mean_over_pairs, oriented
from .result import Amplification
from .signs import association_p, association_signs

_SIGNS = ("plugin", "crossfit")
_TIES = ("zero", "negative")
# A sign with a p-value below this does not change in any of a thousand resamples.
_DECIDED = 1e-5


def directional(
    given: Any,
    truth: Any,
    predicted: Any,
    *,
    train: Any = None,
    base: Any = None,
    direction: Any = None,
    weights: Any = None,
    cluster: Any = None,
    signs: str = "plugin",
    ties: str = "zero",
) -> Amplification:
    r"""Directional bias amplification, BiasAmp→.

    .. math::
        \frac{1}{|G||O|} \sum_{g, o} y_{go} \, [P(\hat o = 1 | g = 1) - P(o = 1 | g = 1)], \quad
        y_{go} = \operatorname{sign}[P(g, o) - P(g) P(o)]

    For A→T give ``(A, T, T_hat)``, for T→A give ``(T, A, A_hat)``. A positive value means that the model
    strengthens the association that the labels already have. The arrow is no claim of causality, values of
    the two directions are not comparable, and zero amplification is not fairness.

    Parameters
    ----------
    given, truth : array-like
        The labels conditioned on, and the true labels of what is predicted. One column is a variable whose
        every value is a label; several columns are yes/no labels. ``truth`` may be None when ``base`` says
        what to compare with.
    predicted : array-like
        The model's labels, hard or as probabilities, which count as fractions.
    train : pair of array-like, optional
        ``(given, truth)`` of the training set, which then decides the signs ``y``.
    base : optional
        Another source for ``P(o | g)``: a pair ``(given, truth)`` of labels, a joint table, conditionals with
        the given's marginal, or ``"uniform"``. See :func:`biasamp.amplification.base.read_base`.
    direction : optional
        Where the signs come from instead: a pair of labels, or a table of signs.
    weights : array-like, optional
        One weight a record.
    cluster : array-like, optional
        What each record belongs to, such as the person on an image: intervals then resample clusters.
    signs : {"plugin", "crossfit"}
        Without train labels, ``"plugin"`` takes the signs from the evaluated labels, as the paper does; sign
        and delta then share their noise and the value is biased down. ``"crossfit"`` takes them from the
        other half of the records and is unbiased. Either way ``.crossfit`` holds the latter.
    ties : {"zero", "negative"}
        Pairs without association count 0 but stay in the mean, or ``-delta`` as the formula is printed.

    Returns
    -------
    Amplification

    See Also
    --------
    multi : the size of the changes, also for sets of labels, without regard to sign.
    mals : the earlier metric, which mixes both directions.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML.

    Examples
    --------
    Shortcoming 2 of the paper: 90 people of one group and 30 of another; the model gives the task to the whole
    second group and to nobody in the first.

    >>> import biasamp
    >>> group = ["first"] * 90 + ["second"] * 30
    >>> task = [0] * 60 + [1] * 30 + [0] * 10 + [1] * 20
    >>> model = [0] * 90 + [1] * 30
    >>> round(biasamp.directional(group, task, model).value, 4)
    0.3333
    """
    if signs not in _SIGNS:
        raise ValueError(f"signs is {signs!r}; use one of {', '.join(map(repr, _SIGNS))}")
    if ties not in _TIES:
        raise ValueError(f"ties is {ties!r}; use one of {', '.join(map(repr, _TIES))}")
    if truth is None and base is None:
        raise ValueError("truth is None: give the true labels, or a base to compare the predictions with")
    if direction is not None and base is None and train is not None:
        raise ValueError("both train and direction say where the signs come from: give one of them")
    without_truth = truth is None
    evaluation, train_sets = read_evaluation(
        given, predicted_as_truth(predicted) if without_truth else truth, predicted, train, weights
    )
    evaluation = replace(evaluation, clusters=read_clusters(cluster, len(evaluation)))
    train_counts = None if train_sets is None else JointCounts.from_labels(*train_sets)
    source = read_base(base, direction, evaluation, train_counts, without_truth)
    if signs == "crossfit" and source.signs is not None:
        raise ValueError("signs='crossfit' is for signs from the evaluated labels; here they come from elsewhere")
    return from_sample(RecordSample(evaluation), source, signs=signs, ties=ties)


def predicted_as_truth(predicted: Any) -> Any:
    """Without truth, the label space is that of the predictions."""
    from biasamp.data import Columns, label_set, read_columns
    from biasamp.data.columns import IndexMatrix

    columns = read_columns(predicted, "predicted")
    labels = label_set(columns, "predicted", soft=True)
    if labels.exclusive and labels.variables[0].kind == "categorical":
        from biasamp.data import Column

        codes = np.zeros(len(labels), dtype=np.int64)
        column = Column(labels.variables[0].name, "text", codes, None, labels.variables[0].categories)
        return Columns([column], single=True, declared="categorical", categories=labels.variables[0].categories)
    names = tuple(variable.name for variable in labels.variables)
    nothing = np.zeros(len(labels) + 1, dtype=np.int64)
    return Columns([IndexMatrix(names, nothing, nothing[:0])], single=False)


@dataclass(frozen=True, eq=False)
class _Estimate:
    """How the value follows from counts: the same for the data and for every resample."""

    source: Base
    ties: str

    def signs(self, counts: PairCounts) -> NDArray[np.int8]:
        return association_signs(counts.truth_joint) if self.source.signs is None else self.source.signs

    def value(self, counts: PairCounts, signs: NDArray[np.int8] | None = None) -> NDArray[np.float64]:
        pairs = directional_pairs(counts, self.signs(counts) if signs is None else signs, self.ties, self.source.rates)
        return mean_over_pairs(pairs.amplification, pairs.defined)


def from_evaluation(
    evaluation: Evaluation,
    source: Base,
    *,
    signs: str = "plugin",
    ties: str = "zero",
    direction: str | None = None,
    level: float = 0.95,
) -> Amplification:
    """The result for labels that have been read already; ``level`` is that of the pairs' intervals."""
    return from_sample(RecordSample(evaluation), source, signs=signs, ties=ties, direction=direction, level=level)


def from_sample(
    sample: Sample,
    source: Base,
    *,
    signs: str = "plugin",
    ties: str = "zero",
    direction: str | None = None,
    level: float = 0.95,
) -> Amplification:
    """The result for records, or for the counts of bags of them."""
    counts = sample.counts
    estimate = _Estimate(source, ties)
    sign = estimate.signs(counts)
    pairs = directional_pairs(counts, sign, ties, source.rates)
    if not pairs.defined.any():
        raise ValueError("no pair is defined: nobody has any of the given labels")
    sign_p = association_p(source.sign_counts or counts.truth_joint) if source.told is None else source.told
    against_truth = source.rates is None
    moved = pairs.delta if against_truth else pairs.predicted_rate
    clusters = sample.cluster_effect(moved, against_truth)
    if source.rates is None:
        (low, high), p = pair_intervals(counts, level, clusters=clusters), delta_p(counts)
    else:
        low, high = (bound - source.rates for bound in rate_intervals(counts, level, clusters=clusters))
        p = rate_p(counts, np.broadcast_to(source.rates, pairs.delta.shape))
    support = floats(counts.given)
    factor = oriented(pairs.sign, ties)
    table = pair_table(
        counts.given_labels,
        counts.outcome_labels,
        pairs,
        factor=factor,
        sign_p=sign_p,
        low=low,
        high=high,
        support=support,
        p=p if clusters is None else clusters.widened(p),
        either_way=source.signs is None,
    )
    value = float(mean_over_pairs(pairs.amplification, pairs.defined))
    halves = _crossed(sample, ties) if source.signs is None else None
    if signs == "crossfit" and halves is None:
        raise ValueError("signs='crossfit' needs records in both halves; there are too few")
    sign_p = np.broadcast_to(sign_p, pairs.defined.shape)
    clear = pairs.defined & (sign_p <= CLEAR_SIGN)
    told = source.signs is not None or bool((sign_p[pairs.defined] <= _DECIDED).all())
    small = small_cautions(counts)
    doubts = small
    beside = {}
    if halves is not None:
        doubts += sign_cautions(sign_p, counts, pairs.delta, crossfit=False)
        crossed = small + sign_cautions(sign_p, counts, pairs.delta, crossfit=True)
        shared = partial(sample.covariance, pairs.delta, normal_statistic(sign_p), False)
        beside["crossfit"] = _crossed_intervals(sample, halves, crossed, shared)
    whole = sample.aggregate(factor, source.rates)
    # Signs that the records cannot tell are decided anew in every resample, where those fit in memory.
    redrawn = None if told else sample.redrawing(estimate.value)
    maker = sample.intervals(value, whole, redrawn, cautions=doubts)
    if clear.any():
        without = sample.aggregate(factor, source.rates, clear)
        beside["clear_value"] = sample.intervals(without.value(), without, None, cautions=small)
    crossfit = None if halves is None else 0.5 * (halves[0].value() + halves[1].value())
    result = Amplification(
        metric="directional",
        value=value,
        pairs=table,
        excluded=excluded_pairs(
            counts.given_labels,
            counts.outcome_labels,
            pairs,
            "no record has the given label",
            given_count=support,
            outcome_count=floats(counts.truth),
            joint_count=floats(counts.joint_truth),
        ),
        n=float(floats(counts.n).max()),
        direction=direction,
        sign_source=source.sign_source,
        base_source=source.rate_source,
        crossfit=crossfit,
        clear_value=float(mean_over_pairs(pairs.amplification, clear)) if clear.any() else None,
        cautions=doubts,
        _interval=maker,
        _beside={name: made for name, made in beside.items() if made is not None},
    )
    if signs == "crossfit" and crossfit is not None:
        return replace(result, value=crossfit, cautions=crossed, _interval=beside["crossfit"])
    return result


def _crossed(sample: Sample, ties: str) -> tuple[FixedSigns, FixedSigns] | None:
    """Two halves of the records, each with the signs of the other; None where one of them holds no pair."""
    halves = sample.halves()
    if halves is None:
        return None
    one, two = halves
    first, second = (oriented(association_signs(half.counts.truth_joint), ties) for half in halves)
    return one.aggregate(second), two.aggregate(first)


def _crossed_intervals(
    sample: Sample,
    halves: tuple[FixedSigns, FixedSigns],
    cautions: tuple[str, ...],
    shared: Callable[[], float],
) -> Any:
    """Intervals of the cross-fitted value: the signs of the other half are fixed for each half."""
    first, second = halves

    def draw(resamples: int, seed: int) -> NDArray[np.float64]:
        return 0.5 * (first.replicates(resamples, seed) + second.replicates(resamples, seed))

    def influences() -> NDArray[np.float64]:
        return sample.joined(0.5 * first.influence(), 0.5 * second.influence())

    fits = first.replicable(USUAL_RESAMPLES) and second.replicable(USUAL_RESAMPLES)
    return sample.intervals(
        0.5 * (first.value() + second.value()),
        None,
        draw if fits else None,
        influences=influences,
        cautions=cautions,
        added=shared,
    )
