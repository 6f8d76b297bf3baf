"""A directional aggregate whose signs are fixed: its value, its resamples, its influences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.replicates import ReplicateCounts
from biasamp.counts.scores import MOST_GIVEN, collapsed, collapsed_replicates, scorable, score_replicates
from biasamp.data import Evaluation

from .closed_form import directional_influence

Floats = NDArray[np.float64]

# Pair counts of all resamples held in memory at once.
MOST_REPLICATED = 20_000_000
# Formulas on resamples make a dozen temporary arrays: they see so many pair counts at a time.
_BLOCK = 1 << 20


@dataclass(frozen=True, eq=False)
class Aggregate:
    r"""The mean of :math:`f_{go} \Delta_{go}` over the counted pairs that are defined.

    Attributes
    ----------
    evaluation : Evaluation
        The records.
    counts : PairCounts
        Their pair counts.
    factor : ndarray of shape (given labels, outcome labels)
        What delta is multiplied with, -1, 0 or 1, held fixed.
    base : ndarray, optional
        Rates that take the place of ``P(o | g)``.
    counted : ndarray of bool, optional
        Which pairs the mean is over; all by default.
    """

    evaluation: Evaluation
    counts: PairCounts
    factor: NDArray[np.int8]
    base: Floats | None = None
    counted: NDArray[np.bool_] | None = None

    @property
    def turned(self) -> NDArray[np.int8]:
        """The factors, 0 for pairs that do not count."""
        if self.counted is None:
            return self.factor
        return np.where(self.counted, self.factor, 0).astype(np.int8)

    def value(self) -> float:
        """The value of the data."""
        return float(self._of_counts(self.counts))

    def influence(self) -> Floats:
        """How much every record moves the value."""
        moved = directional_influence(self.evaluation, self.counts, self.turned, self.base)
        if self.counted is None:
            return moved
        defined = np.broadcast_to(floats(self.counts.given) > 0, self.factor.shape)
        return moved * (int(defined.sum()) / max(int((defined & self.counted).sum()), 1))

    def replicable(self, resamples: int) -> bool:
        """Whether keyed resamples of all that is needed fit in memory."""
        if self._collapses_to_scores():
            return True
        return self.factor.size * resamples <= MOST_REPLICATED

    def replicates(self, resamples: int, seed: int) -> Floats:
        """The value of every keyed Poisson resample."""
        if self._collapses_to_scores():
            return self._of_sums(*score_replicates(self.evaluation, self.turned, resamples, seed, self.base is None))
        drawn = ReplicateCounts.from_labels(self.evaluation, resamples, seed)
        step = max(1, _BLOCK // self.factor.size)
        return np.concatenate([np.atleast_1d(self._of_counts(part)) for part in drawn.parts(step)])

    def quick_replicates(self, resamples: int, seed: int) -> Floats | None:
        """The value of every multinomial resample of collapsed records; None where they do not collapse."""
        cells = collapsed(self.evaluation, self.turned, self.base is None)
        if cells is None:
            return None
        return self._of_sums(*collapsed_replicates(cells, len(self.factor), resamples, seed))

    def _collapses_to_scores(self) -> bool:
        return scorable(self.evaluation) and len(self.factor) <= MOST_GIVEN

    def _of_sums(self, size: Floats, total: Floats) -> Floats:
        pairs = np.full(len(self.factor), self.factor.shape[1]) if self.counted is None else self.counted.sum(axis=1)
        against = 0.0 if self.base is None else (self.turned * self.base).sum(axis=1)
        there = size > 0
        with np.errstate(divide="ignore", invalid="ignore"):
            moved = np.where(there, total / size - against, 0.0).sum(axis=-1)
            return np.asarray(moved / (there * pairs).sum(axis=-1))

    def _of_counts(self, counts: PairCounts) -> Floats:
        return fixed_sign_value(counts, self.factor, self.base, self.counted)


def fixed_sign_value(
    counts: PairCounts, factor: NDArray[np.int8], base: Floats | None = None, counted: NDArray[np.bool_] | None = None
) -> Floats:
    """The mean of ``factor * delta`` over the counted pairs that are defined, of any number of counts."""
    given, held, one = (floats(x) for x in (counts.given, counts.joint_predicted, counts.joint_truth))
    there = np.broadcast_to(given > 0, held.shape)
    if counted is not None:
        there = there & counted
    with np.errstate(divide="ignore", invalid="ignore"):
        delta: Any = (held - one) / given if base is None else held / given - base
        total = np.where(there, factor * delta, 0.0).sum(axis=(-2, -1))
        return np.asarray(total / there.sum(axis=(-2, -1)))


def resampled_values(drawn: ReplicateCounts, value: Any) -> Floats:
    """``value`` of the pair counts of every resample, a few resamples at a time."""
    size = int(np.prod(drawn.counts.joint_truth.shape[1:]))
    parts = drawn.parts(max(1, _BLOCK // max(size, 1)))
    return np.concatenate([np.atleast_1d(value(part)) for part in parts])
