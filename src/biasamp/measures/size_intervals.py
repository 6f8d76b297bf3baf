"""Intervals for Multi, the mean size of the changes, which noise alone makes positive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.resampling import half_of
from biasamp.labels import Evaluation
from biasamp.labels.keys import Keys
from biasamp.results import Interval
from biasamp.uncertainty.aggregate import Aggregate
from biasamp.uncertainty.cautions import pair_errors
from biasamp.uncertainty.shared_noise import crossfit_covariance

from .intervals import Intervals

Floats = NDArray[np.float64]
# What has to fit in memory when resamples are asked for.
_USUAL_RESAMPLES = 1000


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


def size_intervals(
    blocks: Sequence[Callable[[], Evaluation]], value: float, units: Keys | None, cautions: tuple[str, ...]
) -> SizeIntervals:
    """Intervals for Multi over blocks of outcome labels of the same records."""
    first = blocks[0]()
    half = half_of(first.units)
    usable = bool(half.any() and not half.all())
    single = len(blocks) == 1

    def whole(evaluation: Evaluation) -> Aggregate:
        counts = PairCounts.from_labels(evaluation)
        return Aggregate(evaluation, counts, _leaning(counts))

    def crossed(evaluation: Evaluation) -> tuple[Aggregate, Aggregate]:
        parts = [evaluation.take(half), evaluation.take(~half)]
        counts = [PairCounts.from_labels(part) for part in parts]
        one, two = (Aggregate(parts[i], counts[i], _leaning(counts[1 - i])) for i in (0, 1))
        return one, two

    def shares() -> list[float]:
        widths = [1.0] if single else [float(block().truth.width) for block in blocks]
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
            out[half] += 0.5 * share * one.influence()
            out[~half] += 0.5 * share * two.influence()
        return out

    def lower_value() -> float:
        total = 0.0
        for share, block in zip(shares(), blocks, strict=True):
            one, two = crossed(block())
            total += 0.5 * share * (one.value() + two.value())
        return total

    fits = single and whole(first).replicable(_USUAL_RESAMPLES)
    many = first.given.width * first.truth.width > MOST_PAIRS
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
            evaluation = block()
            counts = PairCounts.from_labels(evaluation)
            with np.errstate(divide="ignore", invalid="ignore"):
                moved = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / floats(counts.given)
                z = np.nan_to_num(moved / pair_errors(counts))
            total += share**2 * crossfit_covariance(evaluation, counts, moved, z, own=True)
        return total

    def make(
        centre: float,
        influence: Callable[[], Floats],
        draw: Callable[[int, int], Floats] | None,
        added: Callable[[], float] | None = None,
    ) -> Intervals:
        return Intervals(
            centre,
            influence,
            draw,
            len(first),
            units=units,
            clustered=first.clusters is not None,
            cautions=cautions,
            added=added,
        )

    lower = make(lower_value(), lower_influence, draw_crossed, shared) if usable else None
    return SizeIntervals(make(value, upper_influence, draw_whole), lower)


# Beyond so many pairs of itemsets the closed form takes the place of resampling.
MOST_PAIRS = 50_000


def _leaning(counts: PairCounts) -> NDArray[np.int8]:
    """Which way delta points."""
    return np.sign(floats(counts.joint_predicted) - floats(counts.joint_truth)).astype(np.int8)
