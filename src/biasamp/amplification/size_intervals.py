"""Intervals for Multi, the mean size of the changes, which noise alone makes positive."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.resampling.interval_cautions import pair_errors
from biasamp.resampling.intervals import Intervals, Seed, check
from biasamp.resampling.sample import Added, Aggregates, Sample
from biasamp.results.interval import Interval

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SizeIntervals:
    r"""Intervals for the mean of :math:`|\Delta|` over pairs.

    The sample's mean of :math:`|\hat\Delta|` lies above that of the population, since noise adds to the size
    of what is near 0, and resampling adds the same again: a percentile interval may miss even the value it is
    for. Two facts give an interval that holds. For signs ``s`` that do not depend on the records,
    :math:`\sum s \Delta \le \sum |\Delta|`, so the cross-fitted mean, with the signs of ``delta`` in the other
    half of the records, is not above the population's on average: its lower bound is the interval's. And the
    sample's own mean is not below the population's on average: its upper bound, with the signs as they are, is
    the interval's. Where every change is clear both are the usual bounds; where none is, the interval reaches
    down to 0 and covers more often than its level. It always holds the value itself, and without amplification
    the floor.
    """

    upper: Intervals
    lower: Intervals | None

    @property
    def cautions(self) -> tuple[str, ...]:
        """Where the interval covers less often than its level."""
        return self.upper.cautions

    def __call__(self, level: float, method: str, resamples: int, seed: Seed) -> Interval:
        """The interval by the named method."""
        seed = check(method, resamples, seed)
        high = self.upper(level, method, resamples, seed)
        if self.lower is None:
            return replace(high, low=0.0)
        low = self.lower(level, method, resamples, seed)
        return replace(high, low=float(np.clip(low.low, 0.0, self.upper.value)), high=max(high.high, self.upper.value))

    def values(self, resamples: int = 1000, seed: int = 0) -> Floats:
        """The values of keyed resamples, with the signs of delta as they are in the data."""
        return self.upper.values(resamples, seed)


def size_intervals(sample: Sample, cautions: tuple[str, ...]) -> SizeIntervals:
    """Intervals for Multi of a sample."""
    counts = sample.counts
    factor = _leaning(counts)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / floats(counts.given)
        z = np.nan_to_num(moved / pair_errors(counts))
    lent = None
    if sample.halves is not None:
        upper, lower = sample.halves
        lent = (_leaning(upper.counts), _leaning(lower.counts))
    made = Aggregates(sample, factor, lent, moved, z)
    lower_bound = None if lent is None else sample.intervals(made.crossed, cautions, Added(made, own=True))
    return SizeIntervals(sample.intervals(made.whole, cautions), lower_bound)


def _leaning(counts: PairCounts) -> NDArray[np.int8]:
    """Which way delta points."""
    return np.sign(floats(counts.joint_predicted) - floats(counts.joint_truth)).astype(np.int8)
