"""Ratios of rates to the highest of them, with intervals that know that the highest was selected."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.resampling.significance import normal_quantile

from .group_rates import one_of_many, share, wilson

Floats = NDArray[np.float64]

# Of the chance that an interval errs, so much is for leaving the truly highest group out of those that may be it.
_FOR_CHOICE = 0.2


@dataclass(frozen=True, eq=False)
class RatiosToHighest:
    """The ratio of each group's rate to the highest, its limits, and which groups may truly be the highest."""

    value: Floats
    low: Floats
    high: Floats
    may_be_highest: NDArray[np.bool_]


def ratios_to_highest(selected: Floats, applicants: Floats, level: float = 0.95) -> RatiosToHighest:
    r"""The impact ratio of every group, :math:`p_g / \max_h p_h`, with its interval.

    The highest observed rate is one of several that may truly be the highest, and it is too high by selection: an interval
    that takes it as given covers too seldom (a percentile bootstrap 64-74% with eight equal groups). So a group stays a
    candidate unless another group's rate is higher beyond doubt (one-sided, Bonferroni over the others, a fifth of the
    error), and the interval is the union, over the candidates :math:`h`, of the intervals of :math:`p_g / p_h` (MOVER-R of
    Wilson limits, four fifths of the error), cut at 1. A candidate itself may be the highest: its interval reaches 1.

    Parameters
    ----------
    selected, applicants : ndarray of shape (groups,)
        How many of how many; NaN results where nobody applied, or where no group has anybody selected.
    level : float
        The level of each interval.

    References
    ----------
    Donner, A. and Zou, G. (2012). Closed-form confidence intervals for functions of the normal mean and standard
    deviation. Statistical Methods in Medical Research 21, 347-359.

    Examples
    --------
    >>> made = ratios_to_highest(np.array([667.0, 555.0]), np.array([1390.0, 1181.0]))
    >>> [round(float(part[1]), 3) for part in (made.value, made.low, made.high)]
    [0.979, 0.899, 1.0]
    """
    rate = share(selected, applicants)
    there = np.flatnonzero(~np.isnan(rate))
    value, low, high = (np.full(len(rate), np.nan) for _ in range(3))
    candidates = np.zeros(len(rate), dtype=bool)
    if not len(there) or not rate[there].max() > 0:
        return RatiosToHighest(value, low, high, candidates)
    p, n = rate[there], applicants[there]
    value[there] = p / p.max()
    may = _candidates(p, n, (1.0 - level) * _FOR_CHOICE)
    candidates[there] = may
    least, most = _ratio_limits(p, n, 1.0 - (1.0 - level) * (1.0 - _FOR_CHOICE))
    others = ~np.eye(len(p), dtype=bool) & may[None, :]
    # A group is compared with the other candidates; with itself it is exactly 1.
    least = np.where(others, least, np.where(may, 1.0, np.inf)[:, None] + np.zeros_like(least))
    # The highest observed is a candidate: no lower limit is above 1.
    low[there] = least.min(axis=1)
    reach = np.where(others, most, -np.inf).max(axis=1, initial=-np.inf)
    high[there] = np.where(may, 1.0, np.minimum(reach, 1.0))
    return RatiosToHighest(value, low, high, candidates)


def _candidates(p: Floats, n: Floats, error: float) -> NDArray[np.bool_]:
    """Which groups no other one is beyond doubt above."""
    if len(p) == 1:
        return np.ones(1, dtype=bool)
    one, two = np.meshgrid(np.arange(len(p)), np.arange(len(p)), indexing="ij")
    above, _ = one_of_many(p[one], n[one], p[two], n[two], 1.0 - 2.0 * error, len(p) - 1)
    above[np.eye(len(p), dtype=bool)] = -1.0
    may = ~(above > 0.0).any(axis=0)
    # The highest observed is one of them, whatever the limits of small groups are.
    return np.asarray(may | (p == p.max()))


def _ratio_limits(p: Floats, n: Floats, level: float) -> tuple[Floats, Floats]:
    """MOVER-R limits of ``p[i] / p[j]``, of shape (groups, groups), in a form that holds where counts are 0.

    The lower limit is written without the difference that loses its digits: where ``p[j]`` is 0 it is still defined, the
    upper one is then infinite.
    """
    z = normal_quantile(level)
    low, high = wilson(p, n, z)
    v1, l1, u1 = p[:, None], low[:, None], high[:, None]
    v2, l2, u2 = p[None, :], low[None, :], high[None, :]
    both = v1 * v2
    with np.errstate(divide="ignore", invalid="ignore"):
        inner = np.sqrt(np.maximum(both**2 - l1 * u2 * (2 * v1 - l1) * (2 * v2 - u2), 0.0))
        outer = np.sqrt(np.maximum(both**2 - u1 * l2 * (2 * v1 - u1) * (2 * v2 - l2), 0.0))
        least = np.where(l1 > 0, l1 * (2 * v1 - l1) / (both + inner), 0.0)
        most = np.where(l2 > 0, (both + outer) / (l2 * (2 * v2 - l2)), np.inf)
    return np.maximum(least, 0.0), most
