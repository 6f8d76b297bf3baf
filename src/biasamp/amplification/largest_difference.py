"""The largest difference of a rate over outcomes and pairs of groups, with an interval that knows it was selected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.data.keys import row_keys
from biasamp.resampling.significance import normal_quantile

from .group_rates import Floats, Proportion, apart, limits_of_many, over_groups, share

Mask = NDArray[np.bool_]
Numbers = NDArray[np.int64]
# Draws of the largest difference under equality, and normal numbers that are held at once.
_DRAWS, _MOST_DRAWN = 1000, 1 << 22


@dataclass(frozen=True)
class Largest:
    """The largest difference of a rate.

    Attributes
    ----------
    value, low, high : float
        The observed maximum, and an interval of the true one at a level that is simultaneous over all differences.
    outcome, higher, lower : int
        Of which outcome it is, and of which two groups.
    expected : float
        What samples of these sizes show on average where the rates of all groups are equal.
    compared : int
        How many differences it is the largest of.
    by_outcome : ndarray of shape (3, outcomes)
        The largest difference of each outcome and its interval, simultaneous over the groups of that outcome alone; NaN
        where fewer than two groups have the rate.
    """

    value: float
    low: float
    high: float
    outcome: int
    higher: int
    lower: int
    expected: float
    compared: int
    by_outcome: Floats


@dataclass(frozen=True, eq=False)
class Deciding:
    """Which rates decide a difference, as masks of shape (groups, outcomes).

    A group whose rate rests on fewer records than ``min_group`` does not. Only where no two groups are of that size do
    all decide, since there is no other comparison: in no outcome for the largest difference of ``all``, in this one for
    that of ``each`` outcome by itself.
    """

    all: Mask
    each: Mask

    @classmethod
    def of(cls, made: Proportion, min_group: float, kept: Mask) -> Deciding:
        """Which of the ``kept`` groups decide."""
        there = (made.size > 0) & kept[:, None]
        there &= there.sum(axis=0) >= 2
        enough = there & (made.records >= min_group)
        enough &= enough.sum(axis=0) >= 2
        return cls(enough if enough.any() else there, np.where(enough.any(axis=0), enough, there))


def largest_difference(made: Proportion, decides: Deciding, level: float) -> Largest | None:
    """The largest difference between two groups over all outcomes; None where no outcome has two groups.

    Every difference has its interval at a level that Bonferroni's inequality makes simultaneous. The largest
    true difference then lies between the largest lower and the largest upper bound of the sizes of differences. Bounds
    are NaN where sizes are.
    """
    counts = decides.all.sum(axis=0)
    compared = int((counts * (counts - 1) // 2).sum())
    if not compared:
        return None
    there = np.flatnonzero(counts)
    low, high = _bounds(made, decides.all, there, level, compared)
    value, top, bottom = _furthest(made, decides.all, there)
    best = int(np.argmax(value))
    by_outcome = np.full((3, len(counts)), np.nan)
    groups = decides.each.sum(axis=0)
    for several in np.unique(groups[groups > 0]).tolist():
        same = np.flatnonzero(groups == several)
        own = several * (several - 1) // 2
        by_outcome[:, same] = _furthest(made, decides.each, same)[0], *_bounds(made, decides.each, same, level, own)
    return Largest(
        float(value[best]),
        float(low.max()),
        float(high.max()),
        int(there[best]),
        int(top[best]),
        int(bottom[best]),
        _expected(made, decides.all),
        compared,
        by_outcome,
    )


def _furthest(made: Proportion, decides: Mask, outcomes: Numbers) -> tuple[Floats, Numbers, Numbers]:
    """Of each outcome the difference of the groups with the highest and the lowest rate, and their numbers."""
    rates, decides = made.value[:, outcomes], decides[:, outcomes]
    top = np.argmax(np.where(decides, rates, -np.inf), axis=0)
    bottom = np.argmin(np.where(decides, rates, np.inf), axis=0)
    # Groups that are all alike have no furthest two; name two, not one twice.
    others = decides & (np.arange(len(rates))[:, None] != top)
    bottom = np.where(bottom == top, np.argmax(others, axis=0), bottom)
    place = np.arange(len(outcomes))
    return rates[top, place] - rates[bottom, place], top, bottom


def _bounds(made: Proportion, decides: Mask, outcomes: Numbers, level: float, compared: int) -> tuple[Floats, Floats]:
    """Of each outcome the largest lower and the largest upper bound of the sizes of differences, cut at 0 and 1.

    The level is simultaneous over as many differences as are ``compared``.
    """
    rates, decides = made.value[:, outcomes], decides[:, outcomes]
    size = made.sizes(1.0 - (1.0 - level) / compared)[:, outcomes]
    limits = np.stack(limits_of_many(rates, size, level, compared))
    low, high = np.full((2, len(outcomes)), -np.inf)
    for first in range(len(rates) - 1):
        rest = slice(first + 1, None)
        least, most = apart(rates[first], limits[:, first], rates[rest], limits[:, rest])
        both = decides[first] & decides[rest]
        low = np.maximum(low, np.where(both, np.maximum(least, -most), -np.inf).max(axis=0))
        high = np.maximum(high, np.where(both, np.maximum(most, -least), -np.inf).max(axis=0))
    return np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)


def lowest_mean_accuracy(
    positive: Proportion, negative: Proportion, keep: Mask, level: float
) -> tuple[Floats, int, float, float]:
    """Mean per-class accuracy averaged over groups: of every outcome, and the lowest with its interval.

    The variance of each rate is that of Agresti and Coull's middle over its own size: small groups and rates near 0 and 1
    have a spread, on the safe side.

    ``positive`` and ``negative`` are the true and the false positive rates, ``keep`` the groups. The lowest of several
    outcomes was selected: intervals are simultaneous over them, and it lies between their lowest bounds.
    """
    each = 0.5 * (positive.value + 1.0 - negative.value)[keep]
    values = over_groups(each)
    outcomes = int((~np.isnan(values)).sum())
    level = 1.0 - (1.0 - level) / max(outcomes, 1)
    variance = np.zeros(len(values))
    for rate in (positive, negative):
        size = np.where(np.isnan(each), 1.0, rate.sizes(level)[keep])
        middle = (rate.value[keep] * size + 2.0) / (size + 4.0)
        variance += np.where(np.isnan(each), 0.0, 0.25 * middle * (1.0 - middle) / size).sum(axis=0)
    if not outcomes:
        return values, 0, np.nan, np.nan
    reach = normal_quantile(level) * np.sqrt(variance) / np.maximum((~np.isnan(each)).sum(axis=0), 1)
    there = ~np.isnan(values)
    low, high = (np.clip(ends[there].min(), 0.0, 1.0) for ends in (values - reach, values + reach))
    return values, int(np.nanargmin(values)), float(low), float(high)


def _expected(made: Proportion, decides: Mask) -> float:
    """The mean of the largest difference in samples of these sizes whose groups have the rate of all of them together.

    By normal draws that are a function of their number alone, so that every machine gives the same figure.
    """
    from scipy.special import ndtri

    columns = np.flatnonzero(decides.sum(axis=0) >= 2)
    held, there = made.effective[:, columns], decides[:, columns]
    size = np.where(there, held, 0.0)
    common = share((size * np.nan_to_num(made.value[:, columns])).sum(axis=0), size.sum(axis=0))
    error = np.sqrt(np.where(there, common * (1.0 - common) / np.where(there, held, 1.0), 0.0))
    draws = max(1, min(_DRAWS, _MOST_DRAWN // error.size))
    chance = (row_keys(0, draws * error.size) >> np.uint64(11)).astype(np.float64)
    moved = np.clip(common + ndtri((chance + 0.5) / 2.0**53).reshape(draws, *error.shape) * error, 0.0, 1.0)
    top = np.where(there, moved, -np.inf).max(axis=1)
    bottom = np.where(there, moved, np.inf).min(axis=1)
    return float((top - bottom).max(axis=1).mean())
