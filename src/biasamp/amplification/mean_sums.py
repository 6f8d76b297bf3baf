"""Sums of outcomes by bag and group: means of groups, on which side of the mean of all they lie, and limits of their changes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import MOST_BAGS, bag_weights

Floats = NDArray[np.float64]

# Signs of which chance is the cause in fewer than so many of 100 samples, all groups counted, are clear.
_CLEAR = 0.01
# Means that differ by less than rounding are equal.
_EQUAL = 1e-12
# So much of the skewness is seen in some twenty records of a long tail.
_SKEWNESS_SEEN = 2 / 3


@dataclass(frozen=True, eq=False)
class Sums:
    """Sums over the records of each bag, of shape (bags, groups): sizes and outcomes of true and of predicted groups.

    Outcomes are less their overall mean, so that large numbers lose no digits. ``all_size`` and ``all_outcome`` are of all records.
    """

    numbers: NDArray[np.int64]
    size: Floats
    true: Floats
    said_size: Floats
    said: Floats
    all_size: Floats
    all_outcome: Floats

    def means(self, weights: Floats | None = None) -> tuple[Floats, Floats, Floats]:
        """True and predicted means of groups, and the mean of all, of the sample or of resamples of its bags."""

        def total(part: Floats) -> Floats:
            return part.sum(axis=0) if weights is None else weights @ part

        with np.errstate(divide="ignore", invalid="ignore"):
            true = total(self.true) / total(self.size)
            said = total(self.said) / total(self.said_size)
            overall = total(self.all_outcome) / total(self.all_size)
        return true, said, overall

    def sides(self, trained: Floats | None) -> Floats:
        """On which side of the mean of all each group lies."""
        if trained is not None:
            return np.sign(trained)
        true, _, overall = self.means()
        apart = true - overall
        near = np.isnan(apart) | (np.abs(apart) <= _EQUAL * np.nanmax(np.abs(np.append(true, 1e-300))))
        return np.where(near, 0.0, np.sign(apart))

    @cached_property
    def _resampled(self) -> tuple[Floats, Floats, Floats]:
        return self.means(np.asarray(bag_weights(self.numbers, MOST_BAGS, 500, 0), dtype=np.float64))

    def side_p(self) -> Floats:
        """Two-sided p-values that groups have the mean of all."""
        from scipy.special import stdtr

        true, _, overall = self.means()
        drawn, _, all_drawn = self._resampled
        with np.errstate(divide="ignore", invalid="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)  # of a group without any record
            t = np.abs(true - overall) / np.nanstd(drawn - all_drawn[:, None], axis=0)
        freedom = self._freedom()
        return np.where(np.isnan(t), 1.0, 2.0 * stdtr(freedom, -t))

    def clear(self, trained: Floats | None) -> NDArray[np.bool_]:
        """Whether the side of each group is known: from train labels, or beyond chance."""
        if trained is not None:
            return np.ones(self.size.shape[1], dtype=bool)
        groups = int(self.size.any(axis=0).sum())
        return np.asarray(self.side_p() < _CLEAR / max(groups - 1, 1))

    def drawn(self, resamples: int, seed: int, trained: Floats | None) -> Floats:
        """The value of every resample, signs held fixed."""
        weights = np.asarray(bag_weights(self.numbers, MOST_BAGS, resamples, seed), dtype=np.float64)
        true, said, _ = self.means(weights)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            return np.asarray(np.nanmean(self.sides(trained) * (said - true), axis=-1))

    def influences(self) -> Floats:
        """How much each bag adds to the change of each group, of shape (bags, groups); their squares sum to its variance."""
        true, said, _ = self.means()
        with np.errstate(divide="ignore", invalid="ignore"):
            found = (self.said - said * self.said_size) / self.said_size.sum(axis=0)
            found -= (self.true - true * self.size) / self.size.sum(axis=0)
        return np.asarray(np.nan_to_num(found))

    def _freedom(self) -> Floats:
        """Degrees of freedom of each group: its independent records less one."""
        return np.maximum((self.size > 0).sum(axis=0) - 1.0, 1.0)

    def interval(self, level: float, resamples: int, seed: int, trained: Floats | None) -> tuple[float, float, float]:
        """Limits of the value, and its standard error.

        A rare group has few records, and most of the variance: degrees of freedom are Satterthwaite's. Skewed outcomes move
        the limits (Hall 1992), and never inwards.
        """
        from scipy.special import stdtrit

        true, said, _ = self.means()
        change = np.nan_to_num(said - true)
        there = ~np.isnan(said - true)
        groups = max(int(there.sum()), 1)
        sign, clear = self.sides(trained), self.clear(trained)
        added = self.influences() * np.where(there, sign, 0.0) / groups
        each, freedom = (added**2).sum(axis=0), self._freedom()
        known = float((sign * change)[there & clear].sum()) / groups
        either = float(np.abs(change)[there & ~clear].sum()) / groups
        spread = float(each.sum())
        error = float(np.nanstd(self.drawn(resamples, seed, trained)))
        if spread > 0:
            error *= float(np.sqrt((each * (freedom + 1.0) / freedom).sum() / spread))
        effective = spread**2 / float((each**2 / freedom).sum()) if spread > 0 else 1.0
        below, above = _reaches(
            np.asarray(stdtrit(max(effective, 1.0), 0.5 + level / 2.0)), _skewness(added.sum(axis=1, keepdims=True))[0]
        )
        if not clear[there].all():  # where a sign may be either, so may the side of the long tail
            below = above = np.maximum(below, above)
        return known - either - float(below) * error, known + either + float(above) * error, error

    def each(self, level: float) -> tuple[Floats, Floats, Floats]:
        """Limits of every group's change, and the p-value that it is 0."""
        from scipy.special import stdtr, stdtrit

        true, said, _ = self.means()
        drawn_true, drawn_said, _ = self._resampled
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            error = np.nanstd(drawn_said - drawn_true, axis=0)
        freedom = self._freedom()
        below, above = _reaches(stdtrit(freedom, 0.5 + level / 2.0), _skewness(self.influences()))
        change = said - true
        with np.errstate(divide="ignore", invalid="ignore"):
            p = np.where(error > 0, 2.0 * stdtr(freedom, -np.abs(change) / error), np.where(change == 0, 1.0, 0.0))
        p = np.where(np.isnan(change), np.nan, p)
        return change - below * error, change + above * error, p


def _skewness(added: Floats) -> Floats:
    """The skewness of sums over bags, by what each bag adds to them."""
    squares = (added**2).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(squares > 0, (added**3).sum(axis=0) / squares**1.5, 0.0))


def _reaches(quantile: Floats, skewness: Floats) -> tuple[Floats, Floats]:
    """How many standard errors an interval goes below and above its value: Hall's cubic transformation, from once to twice ``quantile``.

    >>> below, above = _reaches(np.array(2.0), np.array(0.1))
    >>> round(float(below), 2), round(float(above), 2)
    (2.0, 2.27)
    """
    skewed = skewness / _SKEWNESS_SEEN
    some = np.where(np.abs(skewed) < 1e-6, 1e-6, skewed)

    def inverse(z: Floats) -> Floats:
        return np.asarray(3.0 / some * (np.cbrt(1.0 + some * (z - some / 6.0)) - 1.0))

    below, above = (np.clip(reach, quantile, 2.0 * quantile) for reach in (inverse(quantile), -inverse(-quantile)))
    return below, above
