"""Where an interval covers less often than it says, told from the counts."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.results.interval import UNCLEAR_SIGNS, Caution

Floats = NDArray[np.float64]

# Groups of fewer records than this have errors that are far from normal.
SMALL_GROUP = 30
# They matter where they hold at least this share of the pairs.
_SMALL_SHARE = 0.2
# A variance that rests on fewer degrees of freedom than this is itself poorly known.
FEW_FREEDOM = 30.0
# A bias of this many standard errors takes a nominal 95% interval to some 92%.
_BIAS_THAT_MATTERS = 0.5
# How closely the noise of a pair's sign and of its delta go together, where the model follows the truth.
_SHARED_NOISE = 0.5


def pair_errors(counts: PairCounts) -> Floats:
    """The standard error of delta of every pair, from its own counts."""
    size, first, second = counts.moments()
    given = np.broadcast_to(floats(counts.given), first.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / given
        variance = (second - 2.0 * moved * first + moved**2 * size) / given**2
    return np.sqrt(np.maximum(np.nan_to_num(variance), 0.0))


def normal_statistic(p: Floats) -> Floats:
    """The size of the normal statistic that has a two-sided p-value."""
    from scipy.special import ndtri

    return np.asarray(-ndtri(np.clip(p, 1e-300, 1.0) / 2.0))


def sign_bias(sign_p: Floats, delta: Floats, error: Floats) -> float:
    r"""The bias that signs from the evaluated records may bring, in standard errors of the aggregate.

    A sign whose test statistic is ``z`` is wrong with chance :math:`\Phi(-|z|)`, which costs
    :math:`2 \Phi(-|z|) |\Delta|`; and as it leans on the same records as delta, it goes with the noise of
    delta, which costs :math:`2 \rho \phi(z)` standard errors of the pair.
    """
    from scipy.special import ndtr

    z = normal_statistic(sign_p)
    density = np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi)
    bias = float(np.nansum(2.0 * ndtr(-z) * np.abs(delta) + 2.0 * _SHARED_NOISE * density * error))
    whole = float(np.sqrt(np.nansum(error**2)))
    return bias / whole if whole > 0 else 0.0


def sign_variance(sign_p: Floats, delta: Floats, error: Floats) -> float:
    """The variance that signs of half the records bring by themselves, relative to that of delta."""
    from scipy.special import ndtr

    z = normal_statistic(sign_p) / np.sqrt(2.0)
    wrong = ndtr(-z)
    extra = float(np.nansum(2.0 * wrong * (1.0 - wrong) * (delta**2 - error**2)))
    whole = float(np.nansum(error**2))
    return max(extra, 0.0) / whole if whole > 0 else 0.0


def sign_cautions(sign_p: Floats, counts: PairCounts, delta: Floats, crossfit: bool) -> tuple[str, ...]:
    """What to say where signs come from the evaluated records and they cannot tell them."""
    error = pair_errors(counts)
    sign_p = np.broadcast_to(sign_p, delta.shape)
    unclear = int(((sign_p > 0.05) & ~np.isnan(delta)).sum())
    told = f"the records cannot tell the direction of {unclear:,} of {int((~np.isnan(delta)).sum()):,} pairs"
    if crossfit:
        if sign_variance(sign_p, delta, error) <= _BIAS_THAT_MATTERS:
            return ()
        words = f"{told}: the interval holds for the signs as they fell, which another sample may change"
        return (Caution(words, UNCLEAR_SIGNS),)
    if sign_bias(sign_p, delta, error) <= _BIAS_THAT_MATTERS:
        return ()
    words = (
        f"{told}: with signs from the same records the value is biased, and its interval covers less often than "
        "its level; use train labels, or .crossfit"
    )
    return (Caution(words, UNCLEAR_SIGNS),)


def small_cautions(counts: PairCounts) -> tuple[str, ...]:
    """What to say where groups are so small that an interval of the aggregate covers less often than it says."""
    given = np.broadcast_to(floats(counts.given), counts.joint_truth.shape)
    defined = given > 0
    small = defined & (given < SMALL_GROUP)
    if small.sum() < _SMALL_SHARE * max(int(defined.sum()), 1) or not small.any():
        return ()
    least = int(np.ceil(given[defined].min()))
    return (
        f"{int(small.any(axis=1).sum())} of {int(defined.any(axis=1).sum())} groups hold fewer than {SMALL_GROUP} "
        f"records (the smallest {least}): intervals of so small groups cover less often than their level",
    )


def few_cautions(freedom: float, over: str) -> tuple[str, ...]:
    """What to say where few records or clusters carry all the variation."""
    # No record moves the value at all where every prediction is right: nothing to caution of.
    if freedom >= FEW_FREEDOM or freedom <= 0.0:
        return ()
    return (
        f"the error rests on few {over} (about {freedom:.0f} degrees of freedom): the interval covers less often "
        "than its level",
    )
