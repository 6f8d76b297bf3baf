"""The co-occurrence formulas on counts: directional BiasAmp, Multi and MALS.

Every function works on arrays whose last two axes are (given, outcome), so that the counts of a thousand
resamples go through the same lines as the counts of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import Count, floats, subtract
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts

from .signs import association_signs, compare_products

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PairValues:
    """What a metric says of every pair; NaN where the pair is undefined."""

    sign: NDArray[np.int8]
    truth_rate: Floats
    predicted_rate: Floats
    delta: Floats
    amplification: Floats
    defined: NDArray[np.bool_]


def oriented(signs: NDArray[np.int8], ties: str) -> NDArray[np.int8]:
    """The factor of delta: the sign, with ties at 0 or, as the formula is printed, at -1."""
    return np.where(signs == 0, -1, signs).astype(np.int8) if ties == "negative" else signs


def directional_pairs(
    counts: PairCounts, signs: NDArray[np.int8], ties: str = "zero", base: Floats | None = None
) -> PairValues:
    r"""Directional amplification of every pair (Wang & Russakovsky 2021, eq. 2).

    .. math:: y_{go} \Delta_{go}, \quad \Delta_{go} = P(\hat o = 1 | g = 1) - P(o = 1 | g = 1)

    A pair whose given label nobody has is undefined. ``base`` takes the place of ``P(o | g)``.
    """
    given, held = np.broadcast_arrays(floats(counts.given), floats(counts.joint_predicted))
    defined = given > 0
    with np.errstate(divide="ignore", invalid="ignore"):
        predicted_rate = held / given
        if base is None:
            truth_rate = floats(counts.joint_truth) / given
            delta = _difference(counts.joint_predicted, counts.joint_truth) / given
        else:
            truth_rate = np.broadcast_to(base, given.shape)
            delta = predicted_rate - truth_rate
    signs = np.broadcast_to(signs, delta.shape)
    # Not ``sign * delta``: a tie must give 0, also where delta is undefined, and never -0.
    amplification = np.where(signs == 0, 0.0, oriented(signs, ties) * delta)
    if ties == "negative":
        amplification = oriented(signs, ties) * delta
    return PairValues(
        signs,
        np.where(defined, truth_rate, np.nan),
        np.where(defined, predicted_rate, np.nan),
        np.where(defined, delta, np.nan),
        np.where(defined, amplification + 0.0, np.nan),
        defined & ~np.isnan(delta),
    )


def _difference(held: Count, one: Count) -> Floats:
    """``C(g, o_hat) - C(g, o)``, exactly before it is rounded to a float."""
    return floats(subtract(held, one))


def mean_over_pairs(values: Floats, defined: NDArray[np.bool_]) -> Floats:
    """The mean over the pairs that are defined; NaN where none is."""
    count = defined.sum(axis=(-2, -1))
    total = np.where(defined, values, 0.0).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / count, dtype=np.float64)


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
    if counts.spread is None:
        m = np.maximum(square, 1.0)
        half = np.floor((m - 1) / 2)
        log_walk = np.log(m) + gammaln(m) - gammaln(half + 1) - gammaln(m - half) - (m - 1) * np.log(2.0)
        walk = np.where(square > 0, np.exp(log_walk), 0.0)
    else:
        walk = np.sqrt(2.0 / np.pi * np.maximum(square, 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        return float(mean_over_pairs(walk / given, given > 0))


@dataclass(frozen=True, eq=False)
class MalsValues(PairValues):
    """MALS pair by pair, with the flag of Sec. 3.2 of the 2021 paper."""

    wrong_group: NDArray[np.bool_]


def mals_pairs(labels: JointCounts, predictions: JointCounts) -> MalsValues:
    r"""MALS of every pair (Zhao et al. 2017), attributes by rows, tasks by columns.

    .. math:: y_{at} [P(\hat a | \hat t) - P(a | t)], \quad y_{at} = 1[P(a | t) > 1 / |A|]

    The indicator is decided on whole numbers, ``|A| C(a, t) > C(t)``. A task that nobody has, or that is
    never predicted, is undefined.
    """
    groups = np.array(labels.joint.shape[-2], dtype=np.int64)
    one = np.ones((1, 1), dtype=np.int64)
    above = compare_products(one * groups, labels.joint, one, labels.right)
    associated = association_signs(labels)
    t, t_hat = floats(labels.right), floats(predictions.right)
    defined = np.broadcast_to((t > 0) & (t_hat > 0), np.broadcast_shapes(above.shape, t_hat.shape))
    with np.errstate(divide="ignore", invalid="ignore"):
        truth_rate = floats(labels.joint) / t
        predicted_rate = floats(predictions.joint) / t_hat
        delta = predicted_rate - truth_rate
    indicator = (above > 0).astype(np.int8)
    shape = delta.shape
    amplification = np.where(indicator > 0, delta, 0.0)
    return MalsValues(
        np.broadcast_to(indicator, shape),
        np.where(defined, truth_rate, np.nan),
        np.where(defined, predicted_rate, np.nan),
        np.where(defined, delta, np.nan),
        np.where(defined, amplification + 0.0, np.nan),
        defined,
        np.broadcast_to(above * associated < 0, shape),
    )


def mals_value(pairs: PairValues) -> Floats:
    r"""The sum over pairs divided by the number of tasks that are defined."""
    tasks = pairs.defined.any(axis=-2).sum(axis=-1)
    total = np.where(pairs.defined, pairs.amplification, 0.0).sum(axis=(-2, -1))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(total / tasks, dtype=np.float64)
