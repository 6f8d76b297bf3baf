"""Intervals for parity companions: differences between the two groups that are furthest apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.resampling.bootstrap import percentile_interval
from biasamp.resampling.pair_intervals import normal_quantile

from .parity_rates import GroupRates, group_rates, over_groups

Floats = NDArray[np.float64]

# What the rates of groups need of a resample.
RATES = ("given", "joint_truth", "joint_predicted", "joint_both")
# The rate that each difference between groups is of.
DIFFERENCES = {
    "fpr_difference": "false_positive_rate",
    "tpr_difference": "true_positive_rate",
    "accuracy_difference": "accuracy",
}


@dataclass(frozen=True)
class Apart:
    """The two groups that are furthest apart in a rate, and an interval for their difference."""

    higher: int
    lower: int
    low: float
    high: float
    method: str


def furthest(rates: Floats, outcome: int) -> tuple[int, int]:
    """The groups with the highest and the lowest rate of an outcome."""
    column = rates[:, outcome]
    return int(np.nanargmax(column)), int(np.nanargmin(column))


def difference_interval(
    counts: PairCounts, rate: str, outcome: int, level: float, resampled: PairCounts | None = None
) -> Apart:
    """An interval for the difference of a rate between the two groups that are furthest apart.

    From resamples where they are given (overlapping groups, weights, soft predictions, clusters); else Newcombe's
    hybrid score interval, which keeps its level for small groups and rates near 0 and 1.

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions. Statistics in
    Medicine 17, 873-890.
    """
    higher, lower = furthest(_rate(group_rates(counts), rate), outcome)
    if resampled is not None:
        drawn = _rate(group_rates(resampled), rate)[..., outcome]
        low, high = percentile_interval(drawn[:, higher] - drawn[:, lower], level)
        return Apart(higher, lower, low, high, "bootstrap percentile")
    hits, size = _parts(counts, rate)
    low, high = newcombe(
        hits[higher, outcome], size[higher, outcome], hits[lower, outcome], size[lower, outcome], level
    )
    return Apart(higher, lower, low, high, "Newcombe score")


def accuracy_interval(
    counts: PairCounts, outcome: int, level: float, resampled: PairCounts | None = None
) -> tuple[float, float]:
    """An interval for mean per-class accuracy averaged over groups."""
    if resampled is not None:
        drawn = over_groups(group_rates(resampled).mean_per_class_accuracy)[..., outcome]
        return percentile_interval(drawn, level)
    rates = group_rates(counts)
    value = over_groups(rates.mean_per_class_accuracy)[outcome]
    variance, groups = 0.0, 0
    for g in range(counts.joint_truth.shape[0]):
        if np.isnan(rates.mean_per_class_accuracy[g, outcome]):
            continue
        groups += 1
        for rate in ("true_positive_rate", "false_positive_rate"):
            hits, size = _parts(counts, rate)
            # Agresti and Coull's addition keeps a spread where every record is right.
            share = (hits[g, outcome] + 2.0) / (size[g, outcome] + 4.0)
            variance += 0.25 * share * (1.0 - share) / (size[g, outcome] + 4.0)
    reach = normal_quantile(level) * float(np.sqrt(variance)) / max(groups, 1)
    return float(np.clip(value - reach, 0.0, 1.0)), float(np.clip(value + reach, 0.0, 1.0))


def resampled_rates(
    bags: BagCounts, worst: Mapping[str, int], groups: Mapping[str, tuple[int, int]], resamples: int, seed: int
) -> dict[str, Floats]:
    """The figure of every keyed resample, so that two models on the same records can be compared in pairs.

    Parameters
    ----------
    bags : BagCounts
        The sample.
    worst : mapping
        The outcome label that each figure is about.
    groups : mapping
        For a difference of rates, the groups that are furthest apart in the data: they are held fixed, as in the
        interval. A figure without them is mean per-class accuracy.
    """
    parts = [_figures(part, worst, groups) for part in bags.resampled(resamples, seed, RATES)]
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _figures(
    resampled: PairCounts, worst: Mapping[str, int], groups: Mapping[str, tuple[int, int]]
) -> dict[str, Floats]:
    rates = group_rates(resampled)
    out = {}
    for name, outcome in worst.items():
        if name in groups:
            drawn = _rate(rates, DIFFERENCES[name])[..., outcome]
            higher, lower = groups[name]
            out[name] = drawn[:, higher] - drawn[:, lower]
        else:
            out[name] = over_groups(rates.mean_per_class_accuracy)[..., outcome]
    return out


def newcombe(hits1: float, size1: float, hits2: float, size2: float, level: float) -> tuple[float, float]:
    """Newcombe's interval (his method 10) for the difference of two independent proportions.

    >>> low, high = newcombe(56, 70, 48, 80, 0.95)
    >>> round(low, 4), round(high, 4)
    (0.0524, 0.3339)
    """
    z = normal_quantile(level)
    p1, p2 = hits1 / size1, hits2 / size2
    low1, high1 = wilson(hits1, size1, z)
    low2, high2 = wilson(hits2, size2, z)
    difference = p1 - p2
    low = difference - np.sqrt((p1 - low1) ** 2 + (high2 - p2) ** 2)
    high = difference + np.sqrt((high1 - p1) ** 2 + (p2 - low2) ** 2)
    return float(low), float(high)


def wilson(hits: float, size: float, z: float) -> tuple[float, float]:
    """Wilson's score interval for one proportion."""
    p = hits / size
    middle = (p + z * z / (2 * size)) / (1 + z * z / size)
    reach = z / (1 + z * z / size) * np.sqrt(p * (1 - p) / size + z * z / (4 * size * size))
    return float(middle - reach), float(middle + reach)


def _rate(rates: GroupRates, name: str) -> Floats:
    values: Floats = getattr(rates, name)
    return values


def _parts(counts: PairCounts, rate: str) -> tuple[Floats, Floats]:
    """How many of how many make a rate."""
    joint, held, both = (floats(x) for x in (counts.joint_truth, counts.joint_predicted, counts.joint_both))
    given = np.broadcast_to(floats(counts.given), joint.shape)
    if rate == "true_positive_rate":
        return both, joint
    if rate == "false_positive_rate":
        return held - both, given - joint
    return given - joint - held + 2.0 * both, given
