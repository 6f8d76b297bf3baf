"""Rates of groups: how many of how many, with intervals that know weights, soft predictions and clusters."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.resampling.significance import normal_quantile

Floats = NDArray[np.float64]

# The rates of a group that a table shows, in this order.
RATES = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "precision")
# Records of either kind that Agresti and Coull add, which keep a spread where every record is alike.
_ADDED = 2.0


@dataclass(frozen=True, eq=False)
class GroupRates:
    """Rates of every (group, outcome); NaN where a group has nobody to take the rate over."""

    false_positive_rate: Floats
    true_positive_rate: Floats
    accuracy: Floats
    mean_per_class_accuracy: Floats
    selection_rate: Floats
    precision: Floats


def rate_parts(counts: PairCounts, rate: str) -> tuple[Floats, Floats]:
    r"""How many of how many make a rate, for every group and outcome.

    .. math::
        FPR = \frac{C(g, \hat o) - C(g, o \hat o)}{C(g) - C(g, o)}, \quad TPR = \frac{C(g, o \hat o)}{C(g, o)}, \quad
        accuracy = \frac{C(g) - C(g, o) - C(g, \hat o) + 2 C(g, o \hat o)}{C(g)}

    The selection rate is ``C(g, o_hat) / C(g)``, precision ``C(g, o and o_hat) / C(g, o_hat)``.
    """
    joint, held, both = (floats(x) for x in (counts.joint_truth, counts.joint_predicted, counts.joint_both))
    given = np.broadcast_to(floats(counts.given), joint.shape)
    if rate == "true_positive_rate":
        return both, joint
    if rate == "false_positive_rate":
        return held - both, given - joint
    if rate == "selection_rate":
        return held, given
    if rate == "precision":
        return both, held
    return given - joint - held + 2.0 * both, given


def group_rates(counts: PairCounts) -> GroupRates:
    """Rates of each group for each outcome label, and mean per-class accuracy, the mean of TPR and 1 - FPR."""
    made = {rate: share(*rate_parts(counts, rate)) for rate in RATES}
    mean = 0.5 * (made["true_positive_rate"] + 1.0 - made["false_positive_rate"])
    return GroupRates(mean_per_class_accuracy=mean, **made)


def share(hits: Floats, size: Floats) -> Floats:
    """``hits / size``, NaN where there is nobody; rounding may leave a hair where a count is 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(size > 0, hits / size, np.nan)


def between_groups(rates: Floats) -> Floats:
    """The largest difference between two groups; NaN where fewer than two have a rate."""
    there = ~np.isnan(rates)
    largest = np.where(there, rates, -np.inf).max(axis=-2)
    smallest = np.where(there, rates, np.inf).min(axis=-2)
    with np.errstate(invalid="ignore"):
        return np.where(there.sum(axis=-2) >= 2, largest - smallest, np.nan)


def over_groups(rates: Floats) -> Floats:
    """The unweighted mean over the groups that have a rate.

    Groups are added one after another, 0 for those without a rate; a single outcome's in numpy's pairwise summation.
    """
    there = ~np.isnan(rates)
    count = there.sum(axis=-2)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(there, rates, 0.0).sum(axis=-2) / count, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class Proportion:
    """A rate of every (group, outcome) as a binomial proportion.

    Attributes
    ----------
    hits, size : ndarray of shape (groups, outcomes)
        The rate is ``hits / size``; both are sums of weights.
    records : ndarray of shape (groups, outcomes)
        How many records the rate is taken over; with weights, Kish's effective number of them.
    effective : ndarray of shape (groups, outcomes)
        How many single yes/no records say as much of the rate as these do.
    units : ndarray of shape (groups, outcomes) or None
        With clusters, how many of them the rate rests on, at most as many as there are bags.
    """

    hits: Floats
    size: Floats
    records: Floats
    effective: Floats
    units: Floats | None = None

    @property
    def value(self) -> Floats:
        """The rate; NaN where there is nobody."""
        return share(self.hits, self.size)

    def sizes(self, level: float) -> Floats:
        """The size that a normal quantile goes with; few clusters say little of how much they differ (Student's t)."""
        if self.units is None:
            return self.effective
        from scipy.special import stdtrit

        wide = stdtrit(np.maximum(self.units - 1.0, 1.0), 0.5 + level / 2.0)
        return np.asarray(self.effective * (normal_quantile(level) / wide) ** 2)

    def interval(self, level: float) -> tuple[Floats, Floats]:
        """Wilson's score interval of every rate."""
        return wilson(self.value, self.sizes(level), normal_quantile(level))


def proportion(bags: BagCounts, rate: str, clustered: bool = False) -> Proportion:
    """A rate with the sizes that its intervals go by; these are NaN where bags do not tell clusters apart.

    Weights leave Kish's effective size, ``(sum w)**2 / sum w**2`` of the group's records. What clusters take from it
    and what soft predictions add to it is the design effect: the variance of the rate over bags, against that of as
    many single yes/no records; with clusters that of the jackknife over bags, which few and unequal ones do not bring
    below the truth. The larger of the group's own and that over all groups is taken; of yes/no
    predictions it is never below 1, since a group without any error says nothing of how errors go together.
    """
    whole = bags.whole
    hits, size = rate_parts(whole, rate)
    if whole.unweighted and not clustered:
        return Proportion(hits, size, size, size)
    unit = np.ones(size.shape)
    if whole.spread is not None:
        given = np.broadcast_to(floats(whole.given), size.shape)
        unit = np.where(given > 0, share(np.broadcast_to(floats(whole.spread[0]), size.shape), given), 1.0)
    alone = size / unit
    if not bags.resamplable:
        return Proportion(hits, size, alone, np.full(size.shape, np.nan) if clustered else alone)
    drawn, sizes = rate_parts(bags.counts, rate)
    moved = drawn - np.nan_to_num(share(hits, size)) * sizes
    filled = (sizes > 0).sum(axis=0).astype(np.float64)
    several = np.where(filled > 1, filled / np.maximum(filled - 1.0, 1.0), 1.0)
    if clustered:
        # A large cluster draws the rate to itself; the jackknife holds it against the others.
        rest = 1.0 - np.nan_to_num(share(sizes, np.broadcast_to(size, sizes.shape)))
        moved, several = moved / np.where(rest > 0, rest, 1.0), 1.0 / several
    variance = (moved**2).sum(axis=0) * several / unit**2
    middle = (hits / unit + _ADDED) / (alone + 2.0 * _ADDED)
    yes_no = middle * (1.0 - middle)
    pseudo = 2.0 * _ADDED * yes_no
    own = (variance + pseudo) / (alone * yes_no + pseudo)
    pooled = (variance + pseudo).sum(axis=0) / (alone * yes_no + pseudo).sum(axis=0)
    effect = np.maximum(np.maximum(own, pooled), 0.0 if bags.soft else 1.0)
    return Proportion(hits, size, alone, alone / effect, filled if clustered else None)


def rate_figures(made: Proportion, level: float, reference: int | None = None) -> dict[str, Floats]:
    """What a table says of a rate, by name, each of shape (groups, outcomes).

    ``value``, ``low``, ``high`` (Wilson) and ``size``, the records it is taken over. With the number of a reference
    group also ``difference`` (Newcombe) and ``ratio`` (MOVER-R of Wilson limits) of each group to it, with limits; of
    the reference itself they are NaN.
    """
    value, size = made.value, made.sizes(level)
    low, high = made.interval(level)
    out = {"value": value, "low": low, "high": high, "size": made.size}
    if reference is None:
        return out
    against = value[[reference]], size[[reference]]
    pairs = {
        "difference": (value - against[0], *newcombe(value, size, *against, level)),
        "ratio": (
            share(value, np.broadcast_to(against[0], value.shape)),
            *ratio_interval(value, size, *against, level),
        ),
    }
    itself = np.arange(len(value))[:, None] == reference
    for name, parts in pairs.items():
        for end, part in zip(("", "_low", "_high"), parts, strict=True):
            out[name + end] = np.where(itself, np.nan, part)
    return out


def wilson(value: Any, size: Any, z: float) -> tuple[Any, Any]:
    """Wilson's score interval for one proportion; NaN without records."""
    with np.errstate(divide="ignore", invalid="ignore"):
        middle = (value + z * z / (2 * size)) / (1 + z * z / size)
        reach = z / (1 + z * z / size) * np.sqrt(value * (1 - value) / size + z * z / (4 * size * size))
        low, high = np.clip(middle - reach, 0.0, 1.0), np.clip(middle + reach, 0.0, 1.0)
    # Rounding: the limits of none and of all are 0 and 1.
    return np.where(value <= 0, 0.0, low) + 0.0 * value, np.where(value >= 1, 1.0, high) + 0.0 * value


def newcombe(value1: Any, size1: Any, value2: Any, size2: Any, level: float) -> tuple[Any, Any]:
    """Newcombe's interval (his method 10) for the difference of two independent proportions.

    It keeps its level for small groups and rates near 0 and 1.

    References
    ----------
    Newcombe, R. G. (1998). Interval estimation for the difference between independent proportions. Statistics in
    Medicine 17, 873-890.

    Examples
    --------
    >>> low, high = newcombe(56 / 70, 70, 48 / 80, 80, 0.95)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0524, 0.3339)
    """
    z = normal_quantile(level)
    return apart(value1, wilson(value1, size1, z), value2, wilson(value2, size2, z))


def one_of_many(value1: Any, size1: Any, value2: Any, size2: Any, level: float, compared: int) -> tuple[Any, Any]:
    """An interval for one of several differences, at a level that Bonferroni's inequality makes simultaneous.

    A single difference has Newcombe's interval. Wilson's limits, which that is made of, are too near at the far levels
    that many differences need: with 40 records of which 2% have the outcome, one of 20 differences missed an equal
    large group in 17% of samples. There the limits of Clopper and Pearson take their place.

    Parameters
    ----------
    value1, size1, value2, size2 : array-like
        The rates and the sizes that they rest on.
    level : float
        The level of all intervals together.
    compared : int
        How many differences there are.

    Examples
    --------
    >>> low, high = one_of_many(4 / 40, 40, 40 / 2000, 2000, 0.95, 20)
    >>> bool(low < 0.0 < high)
    True
    >>> bool(newcombe(4 / 40, 40, 40 / 2000, 2000, 1 - 0.05 / 20)[0] > 0.0)
    True
    """
    limits = limits_of_many(value1, size1, level, compared), limits_of_many(value2, size2, level, compared)
    return apart(value1, limits[0], value2, limits[1])


def limits_of_many(value: Any, size: Any, level: float, compared: int) -> tuple[Any, Any]:
    """The limits of single rates that :func:`one_of_many` makes intervals of."""
    if compared <= 1:
        return wilson(value, size, normal_quantile(level))
    return clopper_pearson(value, size, 1.0 - (1.0 - level) / compared)


def clopper_pearson(value: Any, size: Any, level: float) -> tuple[Any, Any]:
    """The exact interval for one proportion; NaN without records. Sizes need not be whole.

    >>> low, high = clopper_pearson(4 / 40, 40, 0.95)
    >>> round(float(low), 4), round(float(high), 4)
    (0.0279, 0.2366)
    """
    from scipy.special import betaincinv

    value, size = np.broadcast_arrays(np.asarray(value, dtype=np.float64), np.asarray(size, dtype=np.float64))
    tail = (1.0 - level) / 2.0
    # Rounding may leave a hair above all or below none.
    hits = np.clip(value, 0.0, 1.0) * size
    rest = np.maximum(size - hits, 0.0)
    some, others = hits > 0, rest > 0
    low = np.where(some, betaincinv(np.where(some, hits, 1.0), rest + 1.0, tail), 0.0)
    high = np.where(others, betaincinv(hits + 1.0, np.where(others, rest, 1.0), 1.0 - tail), 1.0)
    there = size > 0
    return np.where(there, low, np.nan), np.where(there, high, np.nan)


def apart(value1: Any, limits1: Any, value2: Any, limits2: Any) -> tuple[Any, Any]:
    """Limits of a difference from the two of each of two independent rates (Newcombe's method 10)."""
    (low1, high1), (low2, high2) = limits1, limits2
    difference = value1 - value2
    low = difference - np.sqrt((value1 - low1) ** 2 + (high2 - value2) ** 2)
    high = difference + np.sqrt((high1 - value1) ** 2 + (value2 - low2) ** 2)
    return low, high


def ratio_interval(value1: Any, size1: Any, value2: Any, size2: Any, level: float) -> tuple[Any, Any]:
    """An interval for the ratio of two independent proportions from their Wilson limits (MOVER-R).

    It needs no addition for zero counts; the upper limit is NaN where the second proportion is 0.

    References
    ----------
    Donner, A. and Zou, G. (2012). Closed-form confidence intervals for functions of the normal mean and standard
    deviation. Statistical Methods in Medical Research 21, 347-359.

    Examples
    --------
    >>> low, high = ratio_interval(56 / 70, 70, 48 / 80, 80, 0.95)
    >>> round(float(low), 4), round(float(high), 4)
    (1.0783, 1.6629)
    """
    z = normal_quantile(level)
    low1, high1 = wilson(value1, size1, z)
    low2, high2 = wilson(value2, size2, z)
    both = value1 * value2
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.sqrt(np.maximum(both**2 - low1 * high2 * (2 * value1 - low1) * (2 * value2 - high2), 0.0))
        outer = np.sqrt(np.maximum(both**2 - high1 * low2 * (2 * value1 - high1) * (2 * value2 - low2), 0.0))
        low = (both - inner) / (high2 * (2 * value2 - high2))
        high = (both + outer) / (low2 * (2 * value2 - low2))
        defined = np.asarray(value2) > 0
    return np.where(defined, np.maximum(low, 0.0), np.nan), np.where(defined, high, np.nan)
