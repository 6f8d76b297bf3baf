"""How far amplification may reach, where the records do not tell the direction of every pair.

A value with signs from the evaluated records is drawn to 0 where associations are weak, and so is the cross-fitted one:
neither shows how large amplification may be. Here a pair whose direction the records do not tell counts with the
worse of its two signs. That is never below the rightly signed value unless a clear sign is wrong, and clear signs are
tested so strictly that one is wrong in at most 1% of samples.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.resampling.intervals import Intervals
from biasamp.resampling.unseen_errors import alternating, complementary, exclusive_sets
from biasamp.results.interval import Interval

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]

# A sign is clear when its p-value is below this, divided by the number of signs that are free of each other.
CLEAR_OF_ALL = 0.01
# Standard errors from the signed sum to its one-sided 95% bound: 1.645, and what 1% of wrong signs costs.
REACH = 1.70
# The level of bounds whose distance in standard errors p-values go by.
_LEVEL = 0.975
# Errors more of either kind that a one-sided bound counts. With one, as in the two-sided interval of Bonett and Price, a
# model whose rare errors all go one way passed at its limit in 9% of samples; with two in 4%.
ERRORS_MORE = 2.0


# Signs of other records that those tell no better than this give way where the evaluated ones say the opposite.
DOUBTFUL = 0.05


@dataclass(frozen=True, eq=False)
class WorseSigns:
    """The factors of delta that make the aggregate as large and as small as the records allow.

    Attributes
    ----------
    up, down : ndarray of shape (given labels, outcome labels)
        Of the upper and of the lower bound: clear signs as they are, the others turned the worse way.
    unknown : ndarray of bool
        Which pairs have a direction that the records do not tell.
    """

    up: Signs
    down: Signs
    unknown: Mask


def tied_signs(counts: PairCounts, sets: list[Index] | None = None) -> Index:
    """A number for every pair; pairs whose signs follow from one another have the same.

    With two groups that make up all records, what is more frequent in one is less frequent in the other; the same holds
    for the two values of an outcome. Three signs or more are not tied so tightly, and each stands for itself. ``sets`` are
    those of :func:`biasamp.resampling.unseen_errors.exclusive_sets`, where they are known.
    """
    sets = exclusive_sets(counts) if sets is None else sets
    return _tied(counts.joint_truth.shape, bool(complementary(counts)), sets)


def _tied(shape: tuple[int, ...], opposite: bool, sets: list[Index]) -> Index:
    """The numbers of :func:`tied_signs`; ``opposite`` says that signs of the two given labels are."""
    rows, columns = shape
    row = np.zeros(rows, dtype=np.int64) if opposite else np.arange(rows)
    column = np.arange(columns)
    for places in sets:
        if len(places) == 2:
            column[places] = places[0]
    return np.unique(row[:, None] * columns + column, return_inverse=True)[1].reshape(rows, columns)


def worse_signs(counts: PairCounts, factor: Signs, delta: Floats, sign_p: Floats) -> WorseSigns:
    """The signs of both bounds, from plug-in signs and their p-values."""
    tied = bool(complementary(counts)), exclusive_sets(counts)
    held = worse_signs_of_all(*tied, factor[None], delta[None], sign_p[None])
    return WorseSigns(held.up[0], held.down[0], held.unknown[0])


def worse_signs_of_all(opposite: bool, sets: list[Index], factor: Signs, delta: Floats, sign_p: Floats) -> WorseSigns:
    """As :func:`worse_signs` of many counts, a leading axis, whose given labels and outcomes are tied in the same way."""
    defined = ~np.isnan(delta)
    many = len(delta)
    tied = _tied(delta.shape[1:], opposite, sets)
    several = int(tied.max()) + 1
    place = np.arange(many)[:, None, None] * several + tied
    free = (np.bincount(place[defined], minlength=many * several).reshape(many, several) > 0).sum(axis=1)
    least_sure = np.zeros(many * several)
    np.maximum.at(least_sure, place[defined], sign_p[defined])
    sure = least_sure.reshape(many, several) < (CLEAR_OF_ALL / np.maximum(free, 1))[:, None]
    known = sure[:, tied]
    # A sign of 0 says that the records do not tell; tied pairs still turn together.
    turned = np.where(factor == 0, alternating(factor.shape, sets), factor)
    moved = np.bincount(place.ravel(), np.where(defined, turned * delta, 0.0).ravel(), minlength=many * several)
    worse = np.where(moved.reshape(many, several)[:, tied] < 0, -turned, turned)
    up, down = (np.where(known, factor, signs).astype(np.int8) for signs in (worse, -worse))
    return WorseSigns(up, down, ~known & defined)


@dataclass(frozen=True, eq=False)
class LentSigns:
    """Signs that other records lend (train labels, a base of records), held against the evaluated records.

    Signs of other records are as they are: those records are what the model is held against. But four records tell no
    direction. So a sign is not taken as told where it is 0; where the others are fewer than the evaluated records and do
    not tell it clearly; and where they hardly tell it while the evaluated records clearly say the opposite.

    Attributes
    ----------
    told : ndarray of bool
        Which pairs have a sign that can be gone by.
    contradicted, both : int
        Of the pairs whose sign is clear on both sides, how many have opposite ones, and how many there are.
    """

    told: Mask
    contradicted: int
    both: int

    @classmethod
    def compare(
        cls,
        counts: PairCounts,
        lent: tuple[Signs, Floats, float],
        own: tuple[Signs, Floats],
        defined: Mask,
    ) -> LentSigns:
        """``lent`` are the signs, their p-values and the number of records; ``own`` signs and p-values of these records."""
        (signs, p, records), (here, here_p) = lent, own
        tied = tied_signs(counts)
        clear = CLEAR_OF_ALL / max(len(np.unique(tied[defined])), 1)
        opposite = (here_p < clear) & (here != signs)
        few = (records < float(floats(counts.n).max())) & (p >= clear)
        told = (signs != 0) & ~few & ~(opposite & (p >= DOUBTFUL))
        both = defined & (here_p < clear) & (p < clear)
        return cls(told, int((both & (here != signs)).sum()), int(both.sum()))


def clustered_sign_p(bags: BagCounts, sign_p: Floats) -> Floats:
    """P-values of signs where records come in clusters, which bags hold whole; never below those of single records."""
    from scipy.special import stdtr

    counts = bags.whole
    shape = counts.joint_truth.shape
    n = np.broadcast_to(floats(counts.n), shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        left, right = floats(counts.given) / n, floats(counts.truth) / n
        apart = floats(counts.joint_truth) / n - left * right
        each = bags.counts
        lean = floats(each.joint_truth) - left * floats(each.truth) - right * floats(each.given)
        lean = lean + (left * right - apart) * floats(each.n)
        z = np.abs(apart * n) / np.sqrt((lean**2).sum(axis=0))
    freedom = max(len(bags.numbers) - 1, 1)
    return np.maximum(sign_p, np.where(np.isnan(z), 1.0, 2.0 * stdtr(freedom, -z)))


def standard_errors(level: float) -> float:
    """How many standard errors a one-sided bound of this level is away: 1.70 at 95%."""
    from scipy.special import ndtri

    return REACH * float(ndtri(level) / ndtri(0.95))


def bounds_of(up: Intervals, down: Intervals, unknown: int, level: float) -> Interval:
    """Both one-sided bounds of a level, from the signed sums of the worse signs; 1.70 standard errors away at 95%."""
    reach = standard_errors(level)
    low, high = down.value - reach * down.standard_error(), up.value + reach * up.standard_error()
    method = f"worse sign of {unknown:,} pairs of unknown direction, and {reach:.2f} standard errors"
    varies = f"sampling of {'clusters' if up.clustered else 'records'}"
    return Interval(low, high, level, method, varies, up.standard_error())


def bounds_p(up: tuple[Floats, Floats], down: tuple[Floats, Floats]) -> Floats:
    """The two-sided p-values of values of 0 that their bounds give: pairs of unknown direction count with the worse sign.

    Bounds are values and their standard errors.
    """
    from scipy.special import ndtr, ndtri

    scale = standard_errors(_LEVEL) / float(ndtri(_LEVEL))
    tails = []
    for centre, error in (down, (-up[0], up[1])):
        with np.errstate(divide="ignore", invalid="ignore"):
            tails.append(np.where(error > 0, ndtr(-centre / (scale * error)), 0.5))
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(*tails)))
