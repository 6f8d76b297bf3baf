"""What a measure needs of the sample it looks at, whether that is records or the counts of bags of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.poisson import half_of
from biasamp.counts.replicates import ReplicateCounts
from biasamp.data import Evaluation
from biasamp.data.keys import Keys

from .aggregate import MOST_REPLICATED, Aggregate, resampled_values
from .bagged import BagAggregate, bag_cluster_effect, bag_crossfit_covariance
from .intervals import Draw, Intervals, units_of
from .shared_noise import crossfit_covariance
from .significance import ClusterEffect, cluster_effect

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Value = Callable[[PairCounts], Floats]

# What has to fit in memory when resamples are asked for.
USUAL_RESAMPLES = 1000


class FixedSigns(Protocol):
    """An aggregate whose signs are fixed."""

    def value(self) -> float: ...  # noqa: D102
    def influence(self) -> Floats: ...  # noqa: D102
    def replicable(self, resamples: int) -> bool: ...  # noqa: D102
    def replicates(self, resamples: int, seed: int) -> Floats: ...  # noqa: D102


class Sample(Protocol):
    """Records, or bags of them, of one direction."""

    @property
    def counts(self) -> PairCounts:
        """The pair counts of all."""

    @property
    def clustered(self) -> bool:
        """Whether records come in clusters."""

    @property
    def resamplable(self) -> bool:
        """Whether there is enough to resample for any interval of an aggregate."""

    def __len__(self) -> int: ...

    def aggregate(self, factor: Signs, base: Floats | None = None, counted: Any = None) -> FixedSigns:
        """The aggregate with these signs."""

    def halves(self) -> tuple[Sample, Sample] | None:
        """Two random halves; None where one of them holds no pair."""

    def joined(self, first: Floats, second: Floats) -> Floats:
        """Influences of the two halves, in the order of the whole."""

    def cluster_effect(self, moved: Floats, against_truth: bool) -> ClusterEffect | None:
        """How much clusters widen each pair's error."""

    def covariance(self, delta: Floats, z: Floats, own: bool) -> float:
        """The variance that two halves share when each lends the other its signs."""

    def redrawing(self, value: Value) -> Draw | None:
        """What draws ``value`` anew from the counts of every resample; None where they do not fit in memory."""

    def intervals(self, value: float, aggregate: FixedSigns | None, draw: Draw | None, **more: Any) -> Intervals:
        """Intervals of a value."""


@dataclass(frozen=True, eq=False)
class RecordSample:
    """Records in memory."""

    evaluation: Evaluation

    @cached_property
    def counts(self) -> PairCounts:
        """The pair counts of all."""
        return PairCounts.from_labels(self.evaluation)

    @cached_property
    def units(self) -> Keys | None:
        """What is sampled as one, where it may not be the record."""
        return units_of(self.evaluation)

    @property
    def clustered(self) -> bool:
        """Whether records come in clusters."""
        return self.evaluation.clusters is not None

    @property
    def resamplable(self) -> bool:
        """Records can always be resampled."""
        return True

    def __len__(self) -> int:
        return len(self.evaluation)

    def aggregate(self, factor: Signs, base: Floats | None = None, counted: Any = None) -> Aggregate:
        """The aggregate with these signs."""
        return Aggregate(
            self.evaluation, self.counts, np.broadcast_to(factor, self.counts.joint_truth.shape), base, counted
        )

    @cached_property
    def _half(self) -> NDArray[np.bool_]:
        return half_of(self.evaluation.units)

    def halves(self) -> tuple[RecordSample, RecordSample] | None:
        """Two random halves; None where one of them holds no pair."""
        half = self._half
        if not half.any() or half.all():
            return None
        first, second = (RecordSample(self.evaluation.take(part)) for part in (half, ~half))
        return (first, second) if all(floats(part.counts.given).any() for part in (first, second)) else None

    def joined(self, first: Floats, second: Floats) -> Floats:
        """Influences of the two halves, in the order of the whole."""
        out = np.empty(len(self.evaluation))
        out[self._half], out[~self._half] = first, second
        return out

    def cluster_effect(self, moved: Floats, against_truth: bool) -> ClusterEffect | None:
        """How much clusters widen each pair's error."""
        return cluster_effect(self.evaluation, moved, against_truth)

    def covariance(self, delta: Floats, z: Floats, own: bool) -> float:
        """The variance that two halves share when each lends the other its signs."""
        return crossfit_covariance(self.evaluation, self.counts, delta, z, own)

    def redrawing(self, value: Value) -> Draw | None:
        """What draws ``value`` anew from the counts of every resample; None where they do not fit in memory."""
        if self.counts.joint_truth.shape[0] * self.counts.joint_truth.shape[1] * USUAL_RESAMPLES > MOST_REPLICATED:
            return None
        return lambda resamples, seed: resampled_values(
            ReplicateCounts.from_labels(self.evaluation, resamples, seed), value
        )

    def intervals(self, value: float, aggregate: Any, draw: Draw | None, **more: Any) -> Intervals:
        """Intervals of a value; those of an aggregate with fixed signs may use its collapsed records."""
        if aggregate is not None:
            if draw is None:
                draw = aggregate.replicates if aggregate.replicable(USUAL_RESAMPLES) else None
                more.setdefault("quick", aggregate.quick_replicates)
            more.setdefault("influences", aggregate.influence)
        return Intervals(
            value, draw=draw, records=len(self.evaluation), units=self.units, clustered=self.clustered, **more
        )


@dataclass(frozen=True, eq=False)
class BagSample:
    """Bags of records, of which the counts are known."""

    bags: BagCounts
    clustered: bool = False

    @property
    def counts(self) -> PairCounts:
        """The pair counts of all."""
        return self.bags.whole

    @property
    def resamplable(self) -> bool:
        """Whether there are enough bags, and more than one record, for an interval."""
        return self.bags.resamplable and self.counts.records > 1

    def __len__(self) -> int:
        return self.bags.bags if self.bags.numbers is None else len(self.bags.numbers)

    def aggregate(self, factor: Signs, base: Floats | None = None, counted: Any = None) -> BagAggregate:
        """The aggregate with these signs."""
        return BagAggregate(self.bags, np.broadcast_to(factor, self.counts.joint_truth.shape), base, counted)

    def halves(self) -> tuple[BagSample, BagSample] | None:
        """Two random halves; None where one of them holds no pair."""
        parts = self.bags.halves
        return None if parts is None else (replace(self, bags=parts[0]), replace(self, bags=parts[1]))

    def joined(self, first: Floats, second: Floats) -> Floats:
        """Influences of the two halves, in the order of the whole."""
        return np.concatenate([second, first])

    def cluster_effect(self, moved: Floats, against_truth: bool) -> ClusterEffect | None:
        """How much clusters widen each pair's error; bags of clusters tell."""
        if not self.clustered or not self.resamplable:
            return None
        return bag_cluster_effect(self.bags, moved, against_truth)

    def covariance(self, delta: Floats, z: Floats, own: bool) -> float:
        """The variance that two halves share when each lends the other its signs."""
        return bag_crossfit_covariance(self.bags, delta, z, own)

    def redrawing(self, value: Value) -> Draw | None:
        """What draws ``value`` anew from the counts of every resample; None where there are too few bags."""
        return partial(self._redrawn, value) if self.resamplable else None

    def _redrawn(self, value: Value, resamples: int, seed: int) -> Floats:
        return np.concatenate([np.atleast_1d(value(part)) for part in self.bags.resampled(resamples, seed)])

    def intervals(self, value: float, aggregate: Any, draw: Draw | None, **more: Any) -> Any:
        """Intervals of a value; None where there are too few bags for any."""
        if not self.resamplable:
            return None
        if aggregate is not None:
            draw = aggregate.replicates if draw is None else draw
            more.setdefault("influences", aggregate.influence)
        return Intervals(value, draw=draw, records=len(self), clustered=self.clustered, **more)
