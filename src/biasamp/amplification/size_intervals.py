"""Intervals for Multi, the mean size of the changes, which noise alone makes positive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.resampling.interval_cautions import pair_errors
from biasamp.resampling.intervals import Intervals
from biasamp.resampling.samples import USUAL_RESAMPLES, FixedSigns, Sample
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

    def __call__(self, level: float, method: str, resamples: int, seed: int) -> Interval:
        """The interval by the named method."""
        high = self.upper(level, method, resamples, seed)
        if self.lower is None:
            return replace(high, low=0.0)
        low = self.lower(level, method, resamples, seed)
        return replace(high, low=float(np.clip(low.low, 0.0, self.upper.value)), high=max(high.high, self.upper.value))

    def values(self, resamples: int = 1000, seed: int = 0) -> Floats:
        """The values of keyed resamples, with the signs of delta as they are in the data."""
        return self.upper.values(resamples, seed)


def size_intervals(blocks: Sequence[Callable[[], Sample]], value: float, cautions: tuple[str, ...]) -> SizeIntervals:
    """Intervals for Multi over blocks of outcome labels of the same records."""
    first = blocks[0]()
    usable = first.halves() is not None
    single = len(blocks) == 1

    def whole(sample: Sample) -> FixedSigns:
        return sample.aggregate(_leaning(sample.counts))

    def crossed(sample: Sample) -> tuple[FixedSigns, FixedSigns]:
        halves = sample.halves()
        if halves is None:  # labels that one half lacks move nothing in it
            raise ValueError("one half of the records holds no pair")
        one, two = halves
        return one.aggregate(_leaning(two.counts)), two.aggregate(_leaning(one.counts))

    def shares() -> list[float]:
        widths = [1.0] if single else [float(len(block().counts.outcome_labels)) for block in blocks]
        return [width / sum(widths) for width in widths]

    def upper_influence() -> Floats:
        return sum(
            (share * whole(block()).influence() for share, block in zip(shares(), blocks, strict=True)),
            start=np.zeros(len(first)),
        )

    def lower_influence() -> Floats:
        out = np.zeros(len(first))
        for share, block in zip(shares(), blocks, strict=True):
            one, two = crossed(block())
            out += first.joined(0.5 * share * one.influence(), 0.5 * share * two.influence())
        return out

    def lower_value() -> float:
        total = 0.0
        for share, block in zip(shares(), blocks, strict=True):
            one, two = crossed(block())
            total += 0.5 * share * (one.value() + two.value())
        return total

    fits = single and whole(first).replicable(USUAL_RESAMPLES)
    many = first.counts.joint_truth.shape[0] * first.counts.joint_truth.shape[1] > MOST_PAIRS
    draw_whole = draw_crossed = None
    if fits and not many:
        full = whole(first)
        draw_whole = full.replicates

        def draw_crossed(resamples: int, seed: int) -> Floats:
            one, two = crossed(first)
            return 0.5 * (one.replicates(resamples, seed) + two.replicates(resamples, seed))

    def shared() -> float:
        total = 0.0
        for share, block in zip(shares(), blocks, strict=True):
            sample = block()
            counts = sample.counts
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / floats(counts.given)
                z = np.nan_to_num(moved / pair_errors(counts))
            total += share**2 * sample.covariance(moved, z, own=True)
        return total

    upper = first.intervals(value, None, draw_whole, influences=upper_influence, cautions=cautions)
    lower = None
    if usable:
        lower = first.intervals(
            lower_value(), None, draw_crossed, influences=lower_influence, cautions=cautions, added=shared
        )
    return SizeIntervals(upper, lower)


# Beyond so many pairs of itemsets the closed form takes the place of resampling.
MOST_PAIRS = 50_000


def _leaning(counts: PairCounts) -> NDArray[np.int8]:
    """Which way delta points."""
    return np.sign(floats(counts.joint_predicted) - floats(counts.joint_truth)).astype(np.int8)
