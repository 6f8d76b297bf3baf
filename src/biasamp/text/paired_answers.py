"""Answers to the same items asked of several groups: paired differences, their errors and tests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
MCNEMAR, CLUSTERED, SIGN = "exact McNemar", "t of items as clusters", "sign of items"


@dataclass(frozen=True, eq=False)
class Answers:
    """Values of answers (NaN where there is none) with the codes of their item and group."""

    value: Floats
    item: Index
    group: Index
    items: int
    groups: int

    def means(self) -> tuple[Floats, Index]:
        """Mean of each item and group over its repeats, NaN where none was answered; and how many were."""
        there = ~np.isnan(self.value)
        cell = self.item[there] * self.groups + self.group[there]
        size = self.items * self.groups
        count = np.bincount(cell, minlength=size)
        total = np.bincount(cell, self.value[there], minlength=size)
        with np.errstate(invalid="ignore"):
            mean = np.where(count > 0, total / np.maximum(count, 1), np.nan)
        return mean.reshape(self.items, self.groups), count.reshape(self.items, self.groups)


class Paired(NamedTuple):
    """One group against another over the items that both answered.

    ``difference`` is the mean over items of the group's mean answer less the reference's, ``error`` its standard error with items as
    clusters; the four counts are those of the discordant table, where answers are yes or no and each item was asked once.
    """

    items: int
    unpaired: int
    group_mean: float
    reference_mean: float
    difference: float
    low: float
    high: float
    error: float
    p: float
    test: str
    table: tuple[int, int, int, int] | None  # both, group alone, reference alone, neither


def clustered_error(first: Floats, second: Floats) -> float:
    r"""The standard error of the difference of two groups' means with items as clusters.

    What OLS of the item means on the group gives with a cluster-robust covariance and the usual small-sample factor,
    G / (G - 1) * (N - 1) / (N - 2) for G items and N = 2 G means:

    .. math:: \sqrt{\tfrac{G}{G-1} \tfrac{2G-1}{2G-2} \sum_i (d_i - \bar d)^2 / G^2}
    """
    items = len(first)
    if items < 2:
        return float("nan")
    apart = (second - first) - (second - first).mean()
    factor = items / (items - 1) * (2 * items - 1) / (2 * items - 2)
    return float(np.sqrt(factor * (apart**2).sum()) / items)


def paired(means: Floats, counts: Index, group: int, reference: int, *, binary: bool, confidence: float) -> Paired:
    """Compare two groups, columns of item means and of how many answers each has."""
    both = ~np.isnan(means[:, group]) & ~np.isnan(means[:, reference])
    one, other = means[both, group], means[both, reference]
    either = ~np.isnan(means[:, group]) | ~np.isnan(means[:, reference])
    items = int(both.sum())
    unpaired = int(either.sum()) - items
    nan = float("nan")
    if not items:
        return Paired(0, unpaired, nan, nan, nan, nan, nan, nan, nan, CLUSTERED, None)
    difference = float((one - other).mean())
    error = clustered_error(other, one)
    once = binary and bool((counts[both][:, [group, reference]] == 1).all())
    table = None
    if once:
        alone, missed = int(((one == 1) & (other == 0)).sum()), int(((one == 0) & (other == 1)).sum())
        table = (int(((one == 1) & (other == 1)).sum()), alone, missed, int(((one == 0) & (other == 0)).sum()))
        p = float(stats.binomtest(alone, alone + missed).pvalue) if alone + missed else 1.0
        low, high = _bonett_price(alone, missed, items, confidence)
        test = MCNEMAR
    elif error > 0:
        p = float(2 * stats.t.sf(abs(difference) / error, items - 1))
        reach = float(stats.t.ppf(0.5 + confidence / 2, items - 1)) * error
        low, high, test = difference - reach, difference + reach, CLUSTERED
    else:
        # All items differ alike, or there is one: no error can be told, only how many items agree in sign.
        moved = int((one != other).sum())
        p = float(stats.binomtest(int((one > other).sum()), moved).pvalue) if moved else 1.0
        low, high, test = nan, nan, SIGN
    if binary:
        low, high = max(low, -1.0) if low == low else low, min(high, 1.0) if high == high else high
    return Paired(items, unpaired, float(one.mean()), float(other.mean()), difference, low, high, error, p, test, table)


def _bonett_price(alone: int, missed: int, items: int, confidence: float) -> tuple[float, float]:
    """The interval of a difference of paired shares of Bonett and Price (2012), which holds with few discordant pairs too."""
    first, second = (alone + 1) / (items + 2), (missed + 1) / (items + 2)
    reach = float(stats.norm.ppf(0.5 + confidence / 2)) * np.sqrt(
        (first + second - (first - second) ** 2) / (items + 2)
    )
    return float(first - second - reach), float(first - second + reach)
