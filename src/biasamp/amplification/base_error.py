"""The sampling error of a base: rates of other records, or of a table of counts, are estimates as well."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.pair import PairCounts
from biasamp.resampling.intervals import normal_statistic
from biasamp.resampling.significance import normal_quantile
from biasamp.resampling.unseen_errors import possible_sets

from .base import Base

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Two records that have the label and two that have not (Agresti and Coull at 95%): a rate of 0 is no certainty.
_ADDED = 4.0


def _shares(base: Base, shape: tuple[int, ...]) -> tuple[Floats, Floats] | None:
    """Base rates, and of how many records, with the records that are added; None where they are taken as exact."""
    if base.records is None or base.rates is None:
        return None
    n = np.broadcast_to(base.records, shape)
    rate = np.nan_to_num(np.broadcast_to(base.rates, shape))
    return (n * rate + _ADDED / 2.0) / (n + _ADDED), n + _ADDED


def pair_variance(base: Base, shape: tuple[int, ...]) -> Floats:
    """The variance of every base rate; 0 where they are taken as exact."""
    held = _shares(base, shape)
    if held is None:
        return np.zeros(shape)
    rate, n = held
    return np.asarray(rate * (1.0 - rate) / n)


def mean_variance(base: Base, counts: PairCounts, factor: NDArray[np.int8], counted: Mask) -> float:
    """What the error of a base adds to the variance of the mean of ``factor * delta`` over the pairs that are counted.

    The values of one variable exclude each other. How other labels of one record go together a base does not say, so that
    their errors are taken to go together; so are those of given labels that a record may have several of.
    """
    held = _shares(base, counted.shape)
    if held is None or not counted.any():
        return 0.0
    rate, n = held
    signed = np.where(counted, factor, 0).astype(np.float64)
    sets = [places for places, adds_up in possible_sets(counts) if adds_up]
    alone = np.setdiff1d(np.arange(counted.shape[1]), np.concatenate(sets) if sets else [])
    error = np.zeros(len(counted))
    for places in [*sets, *alone[:, None]]:
        f, r = signed[:, places], rate[:, places]
        once = f**2 * r * (1.0 - r) if len(places) == 1 else f**2 * r
        spread = once.sum(axis=1) - (0.0 if len(places) == 1 else (f * r).sum(axis=1) ** 2)
        error += np.sqrt(np.maximum(spread, 0.0) / n[:, places[0]])
    exclusive = len({label.variable for label in counts.given_labels}) == 1 and len(counts.given_labels) > 1
    total = (error**2).sum() if exclusive else error.sum() ** 2
    return float(total) / int(counted.sum()) ** 2


def widened(
    base: Base, delta: Floats, ends: tuple[Floats, Floats], p: Floats, level: float
) -> tuple[Floats, Floats, Floats]:
    """Intervals and p-values of pairs with the error of the base in them."""
    from scipy.special import ndtr

    (low, high), extra = ends, pair_variance(base, delta.shape)
    if not extra.any():
        return low, high, p
    z = normal_quantile(level)
    below, above = (np.sqrt((delta - end) ** 2 + z**2 * extra) for end in (low, high))
    own = ((high - low) / (2.0 * z)) ** 2
    with np.errstate(invalid="ignore", divide="ignore"):
        statistic = normal_statistic(p) * np.sqrt(own / (own + extra))
    return delta - below, delta + above, np.where(np.isnan(p), np.nan, 2.0 * ndtr(-statistic))
