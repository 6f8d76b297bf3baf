"""``biasamp.sweep``: amplification at every threshold, and over all of them."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import FEWEST_BAGS, bags_for
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.data import Evaluation, LabelSet, Variable
from biasamp.data.label import Dense
from biasamp.data.plain_arguments import number, pair_of
from biasamp.data.scores import USUAL
from biasamp.resampling.sample import Aggregates, Sample
from biasamp.resampling.unseen_errors import Unseen
from biasamp.results import Table
from biasamp.results.interval import Interval

from .calibrate import Sweep
from .ranked_scores import ascending, at_or_above, edges_of, thresholds_of
from .scored_labels import read_scored_labels, total
from .threshold_curves import Curves

Floats = NDArray[np.float64]


def sweep(
    scores: Any,
    given: Any,
    truth: Any,
    *,
    train: Any = None,
    weights: Any = None,
    span: tuple[float, float] | None = None,
    threshold: float | None = None,
) -> Sweep:
    r"""Directional amplification, parity and rates at every distinct threshold of the scores.

    A record is predicted positive when its score is at or above the threshold. All thresholds cost one sort.
    The integral

    .. math:: \frac{1}{b - a} \int_a^b \text{BiasAmp}_\rightarrow(\tau) \, d\tau

    asks for no threshold at all. Over [0, 1] it equals the metric of the scores as soft predictions, since
    :math:`\int_0^1 1[s \ge \tau] d\tau = s`; that is not so for MALS, Multi or scores that are mere ranks.

    Parameters
    ----------
    scores : array-like of shape (records,) or (records, labels)
        Higher for more likely. One column for a yes/no outcome, else one column per label, in the order of the
        labels of ``truth``; the same threshold then holds for all of them.
    given, truth : array-like
        As for :func:`biasamp.directional`.
    train : pair of array-like, optional
        ``(given, truth)`` of the training set, which then decides the signs.
    weights : array-like, optional
        One weight per record.
    span : pair of float, optional
        The range of thresholds of the integral: [0, 1] where all scores lie in it, else from the lowest to the
        highest score.
    threshold : float, optional
        The threshold that the model decides at, which is marked: 0.5 where all scores lie in [0, 1], else none.

    Returns
    -------
    Sweep
        ``.curve``; ``.rates()`` and ``.band()``: TPR, FPR and positive rate of each group and amplification at every
        threshold, with intervals; ``.marks``: the thresholds that the model used, that keeps the base rate and that
        makes amplification 0; ``.agnostic``: means over all thresholds, of MALS, Multi and parity differences too.

    See Also
    --------
    calibrate : the threshold for a wanted rate.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML. Sec. 3.3 and 5.3, Fig. 6.

    Examples
    --------
    >>> import biasamp
    >>> group = ["f", "f", "f", "m", "m", "m"]
    >>> truth = [1, 1, 0, 1, 0, 0]
    >>> result = biasamp.sweep([0.9, 0.8, 0.6, 0.5, 0.2, 0.1], group, truth)
    >>> [round(float(value), 3) for value in result.curve["amplification"]]
    [-0.167, 0.0, 0.167, 0.333, 0.167, 0.0, -0.167]
    >>> round(result.integral, 4) == round(biasamp.directional(group, truth, [0.9, 0.8, 0.6, 0.5, 0.2, 0.1]).value, 4)
    True
    """
    read = read_scored_labels(scores, given, truth, train=train, weights=weights)
    values, held, outcome, columns = read.scores, read.given, read.outcome, read.columns
    member, flags, signs, size, hits, own = read.member, read.flags, read.signs, read.size, read.hits, read.weights
    count, whole = len(values), None if own is None else own.astype(np.float64)
    low, high = _span(values, span)
    soft = _soft(values, low, high)
    row, label = held.nonzero()
    chances = [soft[:, k] if whole is None else soft[:, k] * whole for k in range(len(columns))]
    expected = np.stack([np.bincount(label, chance[row], minlength=held.width) for chance in chances], axis=1)
    there = size > 0
    moved = (expected[there] - hits[there]) / size[there, None]
    integral = float((signs[there] * moved).sum() / moved.size)
    if len(columns) == 1:
        curve = _one_label(values[:, 0], held, member, hits[:, 0], signs[:, 0], size, whole)
    else:
        curve = _common_threshold(values, member, flags, signs, size, whole)
    everyone = float(count) if whole is None else float(whole.sum())
    return Sweep(
        curve,
        integral,
        (low, high),
        sum(total(flag, whole) for flag in flags) / (everyone * len(columns)),
        "the evaluated labels" if train is None else "the train labels",
        count,
        _Later(held.owned(), outcome.owned(), columns, soft.copy(), None if own is None else own.copy(), signs),
        _used(threshold, low, high),
        Curves(
            values.copy(),
            member,
            flags,
            signs,
            None if whole is None else whole.copy(),
            held.labels,
            tuple(outcome.labels[place] for place in columns),
            held.exclusive,
        ),
    )


def _used(threshold: float | None, low: float, high: float) -> float | None:
    """The threshold that is marked as the model's."""
    if threshold is None:
        return USUAL if (low, high) == (0.0, 1.0) else None
    return number(threshold, "threshold")


class _Later:
    """Makes the interval of the integral, as of the metric of the soft scores."""

    def __init__(
        self,
        given: LabelSet,
        outcome: LabelSet,
        columns: NDArray[np.int64],
        soft: Floats,
        weights: NDArray[Any] | None,
        signs: NDArray[np.int8],
    ) -> None:
        self._parts = given, outcome, columns, soft, weights, signs

    def __call__(self, level: float, method: str, resamples: int, seed: int) -> Interval:
        given, outcome, columns, soft, weights, signs = self._parts
        variables = tuple(variable for variable in outcome.variables if variable.kind == "binary")
        if len(variables) != len(columns):
            variables = tuple(Variable(str(outcome.labels[i]), "binary") for i in columns)
        flags = np.ascontiguousarray(outcome.rows()[:, columns])
        evaluation = Evaluation(
            given, LabelSet((Dense(variables, flags),)), LabelSet((Dense(variables, soft),)), weights
        )
        bags = bags_for(given.width * len(columns))
        # Counted once, by bag; where pairs are too many for that, the records themselves are looked at again.
        sample = Sample(BagCounts.from_labels(evaluation, bags)) if bags >= FEWEST_BAGS else Sample.of(evaluation)
        shape = sample.counts.joint_truth.shape
        signs = np.broadcast_to(signs, shape)
        fixed = Aggregates(sample, signs, None, np.full(shape, np.nan), np.zeros(shape))
        there = np.broadcast_to(floats(sample.counts.given) > 0, shape)
        unseen = Unseen(sample.counts).variance(signs, there, free=True)
        return sample.intervals(fixed.whole, (), None, unseen)(level, method, resamples, seed)


def _span(values: Floats, span: tuple[float, float] | None) -> tuple[float, float]:
    if span is not None:
        low, high = pair_of(span, "span", least=-math.inf, most=math.inf)
        if not (np.isfinite(low) and np.isfinite(high) and low < high):
            raise ValueError(f"span is {span}; it must be two finite numbers, the lower first")
        return low, high
    low, high = float(values.min()), float(values.max())
    chances = low >= 0.0 and high <= 1.0
    if low == high:
        integral = "that of the one score for all" if chances else "that of none"
        warnings.warn(
            f"scores are all {low}: every record is positive or none is, and the integral is {integral}",
            UserWarning,
            stacklevel=3,
        )
    return (0.0, 1.0) if chances else (low, high)


def _soft(values: Floats, low: float, high: float) -> Floats:
    """The share of the thresholds from low to high that a score is at or above."""
    if (low, high) == (0.0, 1.0) and values.min() >= 0.0 and values.max() <= 1.0:
        return values
    return np.clip((values - low) / (high - low), 0.0, 1.0) if high > low else np.zeros_like(values)


def _one_label(
    scores: Floats,
    held: LabelSet,
    member: NDArray[np.bool_],
    hits: Floats,
    signs: NDArray[np.int8],
    size: Floats,
    weights: Floats | None,
) -> Table:
    order, ranked = ascending(scores)
    edges = edges_of(ranked)
    weight = None if weights is None else weights[order]
    there = np.flatnonzero(size > 0)
    rates = {f"rate of {label}": np.empty(len(edges)) for label in held.labels}
    amplification, scratch = np.zeros(len(edges)), np.empty(len(edges))
    highest: Floats | None = None
    for g, rate in enumerate(rates.values()):
        if size[g] == 0:
            rate[:] = np.nan
            continue
        mine = member[g][order]
        np.divide(at_or_above(mine if weight is None else mine * weight, edges), size[g], out=rate)
        if signs[g]:
            # In place: at a million thresholds fresh arrays cost more than the arithmetic.
            np.subtract(rate, hits[g] / size[g], out=scratch)
            scratch *= float(signs[g]) / len(there)
            amplification += scratch
        if highest is None:
            highest, lowest = rate.copy(), rate.copy()
        else:
            np.maximum(highest, rate, out=highest)
            np.minimum(lowest, rate, out=lowest)
    assert highest is not None
    highest -= lowest
    if weight is None:
        np.divide(len(scores) - edges, len(scores), out=scratch)
    else:
        np.divide(at_or_above(weight, edges), weight.sum(), out=scratch)
    return Table(
        {
            "threshold": thresholds_of(ranked, edges),
            "amplification": amplification,
            "rate": scratch,
            "parity": highest,
            **rates,
        }
    )


def _common_threshold(
    scores: Floats,
    member: NDArray[np.bool_],
    truth: NDArray[np.bool_],
    signs: NDArray[np.int8],
    size: Floats,
    weights: Floats | None,
) -> Table:
    """One threshold for all labels: every score steps the mean by what its record and label weigh in it."""
    there = size > 0
    pairs = int(there.sum()) * scores.shape[1]
    each = np.where(there[:, None], signs / np.where(there, size, 1.0)[:, None], 0.0) / pairs
    whole = np.ones(len(scores)) if weights is None else weights
    step = (member.T @ each) * whole[:, None]
    start = -float((step * truth.T).sum())
    flat = scores.reshape(-1)
    order, ranked = ascending(flat)
    edges = edges_of(ranked)
    above = at_or_above(step.reshape(-1)[order], edges)
    rate = at_or_above(np.repeat(whole, scores.shape[1])[order], edges)
    return Table(
        {
            "threshold": thresholds_of(ranked, edges),
            "amplification": above + start,
            "rate": rate / rate[0],
        }
    )
