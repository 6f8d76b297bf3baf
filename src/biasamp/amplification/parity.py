"""``biasamp.parity``: how the model's error rates differ between groups."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.data.arguments import read_evaluation
from biasamp.resampling.intervals import percentile_interval
from biasamp.resampling.significance import normal_quantile
from biasamp.results import Table, text
from biasamp.results.flat import put
from biasamp.results.interval import plain

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupRates:
    """Rates of every (group, outcome); NaN where a group has nobody to take the rate over."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    accuracy: Floats
    mean_per_class_accuracy: Floats
    selection_rate: Floats


def group_rates(counts: PairCounts) -> GroupRates:
    r"""Error rates of each group for each outcome label.

    .. math::
        FPR = \frac{C(g, \hat o) - C(g, o \hat o)}{C(g) - C(g, o)}, \quad TPR = \frac{C(g, o \hat o)}{C(g, o)}, \quad
        accuracy = \frac{C(g) - C(g, o) - C(g, \hat o) + 2 C(g, o \hat o)}{C(g)}

    and mean per-class accuracy, the mean of TPR and 1 - FPR.
    """
    joint, held, both = (floats(x) for x in (counts.joint_truth, counts.joint_predicted, counts.joint_both))
    given = np.broadcast_to(floats(counts.given), joint.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        fpr = (held - both) / (given - joint)
        tpr = both / joint
        accuracy = (given - joint - held + 2.0 * both) / given
        selection = held / given
    # 0/0 is undefined; rounding may leave a hair where a count is 0.
    fpr = np.where(given - joint > 0, fpr, np.nan)
    tpr = np.where(joint > 0, tpr, np.nan)
    empty = given <= 0
    return GroupRates(
        fpr,
        tpr,
        np.where(empty, np.nan, accuracy),
        0.5 * (tpr + 1.0 - fpr),
        np.where(empty, np.nan, selection),
    )


def between_groups(rates: Floats) -> Floats:
    """The largest difference between two groups; NaN where fewer than two have a rate."""
    there = ~np.isnan(rates)
    largest = np.where(there, rates, -np.inf).max(axis=-2)
    smallest = np.where(there, rates, np.inf).min(axis=-2)
    with np.errstate(invalid="ignore"):
        return np.where(there.sum(axis=-2) >= 2, largest - smallest, np.nan)


def over_groups(rates: Floats) -> Floats:
    """The unweighted mean over the groups that have a rate."""
    there = ~np.isnan(rates)
    count = there.sum(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(there, rates, 0.0).sum(axis=-2) / count, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Parity:
    """Four companions of amplification, for every outcome label.

    Attributes
    ----------
    table : Table
        One row per outcome: fpr_difference, tpr_difference, accuracy_difference (the largest difference
        between two groups) and mean_per_class_accuracy (its mean over groups).
    groups : Table
        One row per group and outcome: the rates themselves, with the counts they rest on.
    excluded : tuple of dict
        Rates that are undefined, with the reason.
    n : float
        The total weight of the records.
    """

    table: Table
    groups: Table
    excluded: tuple[dict[str, Any], ...]
    n: float
    direction: str | None = None
    _draw: Callable[[int, int], Mapping[str, NDArray[np.float64]]] | None = field(default=None, repr=False)

    def to_dict(self, *, flat: bool = False) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold, or with ``flat`` figures by name, as trackers take them."""
        if flat:
            out: dict[str, Any] = {}
            for row in self.table.rows():
                for name, value in row.items():
                    put(out, (row["outcome"], name), {"": plain(value)})
            return out
        return {
            "metric": "parity",
            "direction": self.direction,
            "n": plain(self.n),
            "outcomes": [{k: plain(v) for k, v in row.items()} for row in self.table.rows()],
            "groups": [{k: plain(v) for k, v in row.items()} for row in self.groups.rows()],
            "excluded": [{k: plain(v) for k, v in row.items()} for row in self.excluded],
        }


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


def parity(given: Any, truth: Any, predicted: Any, *, weights: Any = None) -> Parity:
    """Parity companions of amplification, over any number of groups.

    FPR, TPR and accuracy difference, each the largest difference between two groups, and mean per-class
    accuracy averaged over the groups (2021 paper, Fig. 2), for every outcome label.

    Parameters
    ----------
    given : array-like
        The groups.
    truth, predicted : array-like
        True and predicted labels; soft predictions count as fractions.
    weights : array-like, optional
        One weight per record.

    Returns
    -------
    Parity

    See Also
    --------
    directional : amplification, which these cannot see the sign of.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML, Fig. 2.

    Examples
    --------
    >>> import biasamp
    >>> result = biasamp.parity(["w", "w", "m", "m"], biasamp.binary([1, 0, 1, 0]), biasamp.binary([1, 1, 1, 0]))
    >>> result.table["fpr_difference"].tolist(), result.table["tpr_difference"].tolist()
    ([1.0], [0.0])
    """
    evaluation, _, _ = read_evaluation(given, truth, predicted, None, weights)
    result = from_counts(PairCounts.from_labels(evaluation))
    if result.excluded:
        first, more = result.excluded[0], len(result.excluded) > 1
        warnings.warn(
            f"{len(result.excluded)} rate{'s are' if more else ' is'} undefined and left out, such as the "
            f"{first['rate'].replace('_', ' ')} of "
            f"({first['given']}, {first['outcome']}): {first['reason']}; .excluded lists them",
            UserWarning,
            stacklevel=2,
        )
    return result


def from_counts(counts: PairCounts, direction: str | None = None) -> Parity:
    """The result for pair counts."""
    rates = group_rates(counts)
    shape = counts.joint_truth.shape
    given, outcome = text(counts.given_labels), text(counts.outcome_labels)
    rows, columns = (index.ravel() for index in np.indices(shape))
    size = np.broadcast_to(floats(counts.given), shape)
    positives = floats(counts.joint_truth)
    groups = Table(
        {
            "given": given[rows],
            "outcome": outcome[columns],
            "false_positive_rate": rates.false_positive_rate.ravel(),
            "true_positive_rate": rates.true_positive_rate.ravel(),
            "accuracy": rates.accuracy.ravel(),
            "mean_per_class_accuracy": rates.mean_per_class_accuracy.ravel(),
            "selection_rate": rates.selection_rate.ravel(),
            "positives": positives.ravel(),
            "negatives": (size - positives).ravel(),
        }
    )
    table = Table(
        {
            "outcome": outcome,
            "fpr_difference": between_groups(rates.false_positive_rate),
            "tpr_difference": between_groups(rates.true_positive_rate),
            "accuracy_difference": between_groups(rates.accuracy),
            "mean_per_class_accuracy": over_groups(rates.mean_per_class_accuracy),
        }
    )
    return Parity(table, groups, _undefined(rates, given, outcome), float(floats(counts.n).max()), direction)


def _undefined(rates: GroupRates, given: Any, outcome: Any) -> tuple[dict[str, Any], ...]:
    reasons = (
        ("accuracy", rates.accuracy, "no record has the group"),
        ("true_positive_rate", rates.true_positive_rate, "no record of the group truly has the outcome"),
        ("false_positive_rate", rates.false_positive_rate, "everybody in the group truly has the outcome"),
    )
    empty = np.isnan(rates.accuracy)
    out = []
    for name, values, reason in reasons:
        gone = np.isnan(values) & (~empty | (name == "accuracy"))
        for i, j in np.argwhere(gone).tolist():
            out.append({"given": given[i], "outcome": outcome[j], "rate": name, "reason": reason})
    return tuple(out)
