"""The sampling error of a base: rates of other records, or of a table of counts, are estimates as well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.pair import PairCounts
from biasamp.resampling.intervals import normal_statistic
from biasamp.resampling.significance import normal_quantile
from biasamp.resampling.unseen_errors import possible_sets

from .base import Base
from .base_records import BaseRecords

Floats = NDArray[np.float64]
Mask = NDArray[np.bool_]

# Two records that have the label and two that have not (Agresti and Coull at 95%): a rate of 0 is no certainty.
_ADDED = 4.0


def _excess(rate: Floats, n: Floats) -> Floats:
    """What a rate of ``n`` records varies by more than the records show: as if each label had been seen and missed twice more."""
    added = (n * rate + _ADDED / 2.0) / (n + _ADDED)
    return np.maximum(added * (1.0 - added) / (n + _ADDED) - rate * (1.0 - rate) / np.maximum(n, 1.0), 0.0)


def pair_variance(base: Base, shape: tuple[int, ...]) -> Floats:
    """The variance of every base rate; 0 where they are taken as exact."""
    if base.records is None or base.rates is None:
        return np.zeros(shape)
    n, rate = np.broadcast_to(base.records, shape), np.nan_to_num(np.broadcast_to(base.rates, shape))
    return np.asarray(rate * (1.0 - rate) / np.maximum(n, 1.0) + _excess(rate, n))


def mean_variance(base: Base, counts: PairCounts, factor: NDArray[np.int8], counted: Mask) -> float:
    """What the error of a base adds to the variance of the mean of ``factor * delta`` over the pairs that are counted."""
    if base.records is None or base.rates is None or not counted.any():
        return 0.0
    shape = counted.shape
    size, rates = (np.broadcast_to(held, shape)[None] for held in (base.records, base.rates))
    error = BaseError(counts, size[..., 0], rates, base.labels)
    signed = np.where(counted, factor, 0).astype(np.float64)
    return error.variance(np.ones((1, shape[0])), signed) / int(counted.sum()) ** 2


@dataclass(frozen=True, eq=False)
class BaseError:
    """What the error of a base adds to the variance of sums over strata, given labels and outcomes.

    Labels of the base's records say how their errors go together. Where there are counts alone, the values of one variable
    exclude each other; errors of other labels, and of given labels that a record may have several of, are taken to go together.

    Attributes
    ----------
    counts : PairCounts
        Those of the evaluated records: which labels exclude each other.
    size : ndarray of shape (strata, given labels)
        ``C(g, s)`` of the base.
    rates : ndarray of shape (strata, given labels, outcome labels)
        ``P(o | g, s)`` of the base; NaN where it has no record.
    labels : BaseRecords, optional
        The records of the base.
    """

    counts: PairCounts
    size: Floats
    rates: Floats
    labels: BaseRecords | None = None

    @property
    def shares(self) -> Floats:
        """``P(s | g)`` of the base."""
        return self.size / np.maximum(self.size.sum(axis=0), np.finfo(float).tiny)

    def variance(self, weight: Floats, signed: Floats, moved: Floats | None = None) -> float:
        """That of ``sum_s weight(s, g) sum_o signed(g, o) rates(s, g, o)``, and of the shares of strata.

        Parameters
        ----------
        weight : ndarray of shape (strata, given labels)
            Taken as known.
        signed : ndarray of shape ([strata,] given labels, outcome labels)
        moved : ndarray of shape (strata, given labels), optional
            What a record of the base stands for by its stratum, where shares of the base are in the sum.
        """
        rates, size = np.nan_to_num(self.rates), np.maximum(self.size, 1.0)
        signed = np.broadcast_to(signed, rates.shape)
        of_mix = np.zeros(size.shape) if moved is None else moved - (self.shares * moved).sum(axis=0)
        groups = np.maximum(self.size.sum(axis=0), 1.0)
        excess = ((weight[..., None] * signed) ** 2 * _excess(rates, self.size[..., None])).sum()
        if self.labels is not None:
            each = (weight / size)[..., None] * signed
            return float(self.labels.squares(each, of_mix / groups - (each * rates).sum(axis=-1)) + excess)
        variance = ((weight * _rate_errors(self.counts, signed, rates, size)) ** 2).sum(axis=0)
        variance += (self.shares * of_mix**2).sum(axis=0) / groups
        return float(_over_groups(self.counts, variance) + excess)


def _rate_errors(counts: PairCounts, signed: Floats, rate: Floats, n: Floats) -> Floats:
    """The standard error of the sum of ``signed * rate`` over outcomes, of shape (strata, given labels)."""
    sets = [places for places, adds_up in possible_sets(counts) if adds_up]
    alone = np.setdiff1d(np.arange(signed.shape[-1]), np.concatenate(sets) if sets else [])
    error = np.zeros(signed.shape[:-1])
    for places in [*sets, *alone[:, None]]:
        f, r = signed[..., places], rate[..., places]
        once = f**2 * r * (1.0 - r) if len(places) == 1 else f**2 * r
        spread = once.sum(axis=-1) - (0.0 if len(places) == 1 else (f * r).sum(axis=-1) ** 2)
        error += np.sqrt(np.maximum(spread, 0.0) / n)
    return error


def _over_groups(counts: PairCounts, variance: Floats) -> float:
    """The variance of a sum over given labels, from that of each: records of a base have one of them, or several."""
    exclusive = len({label.variable for label in counts.given_labels}) == 1 and len(counts.given_labels) > 1
    return float(variance.sum() if exclusive else np.sqrt(variance).sum() ** 2)


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
