"""What makes the intervals of a result when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.poisson import Drawing, told
from biasamp.data import Evaluation
from biasamp.data.arguments import refuse_one_cluster
from biasamp.data.keys import Keys, mix, row_keys
from biasamp.engines.progress import Bar
from biasamp.results.interval import Interval

from .bootstrap import bca_interval, percentile_interval
from .closed_form import by_unit, degrees_of_freedom, standard_error, student_interval
from .interval_cautions import few_cautions

Floats = NDArray[np.float64]
Draw = Callable[[int, int], Floats]

METHODS = ("auto", "bootstrap", "bca", "closed_form")
# Weights to draw beyond which resampling takes many seconds and the closed form takes its place.
MOST_WEIGHTS = 1_000_000_000
# Bags of records that are resampled together where records are too many; enough that few influences share one.
_BAG_BITS = 14
_BAG = np.uint64(0x2545F4914F6CDD1D)


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of one value.

    Attributes
    ----------
    value : float
        The value of the data.
    influences : callable
        The influence of every record, on demand.
    draw : callable or None
        ``(resamples, seed)`` to the values of keyed resamples; None where they would not fit in memory.
    quick : callable or None
        As ``draw`` from collapsed records, which need no keys; it returns None where they do not collapse.
    units : ndarray or None
        What is sampled as one, where that is not simply the record.
    records : int
        How many records a resample weighs.
    added : callable or None
        A variance that neither the influences nor the resamples hold.
    """

    value: float
    influences: Callable[[], Floats]
    draw: Draw | None
    records: int
    quick: Callable[[int, int], Floats | None] | None = None
    units: Keys | None = None
    clustered: bool = False
    cautions: tuple[str, ...] = ()
    added: Callable[[], float] | None = None
    _known: dict[object, Floats] = field(default_factory=dict, repr=False)

    def __call__(self, level: float, method: str, resamples: int, seed: int) -> Interval:
        """The interval by the named method."""
        check(method, resamples, seed)
        over = "clusters" if self.clustered else "records"
        influence = self.influence()
        if len(influence) < 2:
            return self._interval((np.nan, np.nan), level, "undefined", over, np.nan, ("there is one record only",))
        freedom = degrees_of_freedom(influence)
        stretch = self._stretch()
        error = stretch * standard_error(influence)
        cautions = (*self.cautions, *few_cautions(freedom, over))
        values, reason = self._resample(method, resamples, seed)
        if values is None:
            bounds = student_interval(self.value, influence * stretch, level)
            return self._interval(bounds, level, f"closed form{reason}", over, error, cautions)
        lost = int(np.isnan(values).sum())
        if lost:
            cautions += (f"{lost:,} of {resamples:,} resamples hold no defined pair and are left out",)
        if method == "bca":
            bounds = bca_interval(self.value, values, influence, level)
            return self._interval(bounds, level, "bootstrap BCa", over, error, cautions)
        return self._interval(percentile_interval(values, level), level, "bootstrap percentile", over, error, cautions)

    def values(self, resamples: int = 1000, seed: int = 0) -> Floats:
        """The values of keyed resamples: two models' on the same records are paired.

        Where resampling would be slow, or not fit in memory, the records' influences are resampled instead, in
        bags of records that fall together by their keys: the same to first order.
        """
        draw = self.draw
        if draw is None or self.slow(resamples):
            return self._remember(("bags", resamples, seed), lambda: self._bags(resamples, seed))

        def stretched() -> Floats:
            bar = Bar("resamples")
            try:
                with told(bar):
                    drawn = draw(resamples, seed)
            finally:
                bar.close()
            return drawn if self.added is None else self.value + self._stretch() * (drawn - self.value)

        return self._remember(("keyed", resamples, seed), stretched)

    def slow(self, resamples: int) -> bool:
        """Whether so many resamples of all records would take long."""
        return self.records * resamples > MOST_WEIGHTS

    def _bags(self, resamples: int, seed: int) -> Floats:
        keys = row_keys(0, self.records) if self.units is None else self.units
        bag = (mix(keys ^ _BAG) >> np.uint64(64 - _BAG_BITS)).astype(np.int64)
        pull = np.bincount(bag, self._remember("records", self.influences), minlength=1 << _BAG_BITS)
        weights = Drawing(resamples, seed, len(pull)).weights(row_keys(0, len(pull)))
        return self.value + self._stretch() * (weights.astype(np.float64) @ pull - pull.sum())

    def influence(self) -> Floats:
        """The influence of every unit."""
        return self._remember("influence", lambda: by_unit(self._remember("records", self.influences), self.units))

    def standard_error(self) -> float:
        """The closed-form standard error."""
        return self._stretch() * standard_error(self.influence())

    def _stretch(self) -> float:
        """By how much errors widen for what the influences leave out."""
        square = float((self.influence() ** 2).sum())
        if self.added is None or square == 0.0:
            return 1.0
        made = self._remember("added", lambda: np.array([self.added()]))  # type: ignore[misc]
        return float(np.sqrt(1.0 + made[0] / square))

    def _resample(self, method: str, resamples: int, seed: int) -> tuple[Floats | None, str]:
        if method == "closed_form":
            return None, ""
        if self.quick is not None:
            key = ("quick", resamples, seed)
            if key not in self._known:
                values = self.quick(resamples, seed)
                if values is not None:
                    self._known[key] = values
            if key in self._known:
                return self._known[key], ""
        if self.draw is None:
            return None, " (the resamples of so many pairs would not fit in memory)"
        if method != "bca" and self.slow(resamples):
            return None, f" ({self.records:,} records: resampling them would be slow)"
        return self.values(resamples, seed), ""

    def _interval(
        self,
        bounds: tuple[float, float],
        level: float,
        method: str,
        over: str,
        error: float,
        cautions: tuple[str, ...],
    ) -> Interval:
        return Interval(*bounds, level, method, f"sampling of {over}", error, cautions)

    def _remember(self, key: object, make: Callable[[], Floats]) -> Floats:
        """Resamples asked for again are the same: keep the last few."""
        if key not in self._known:
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = make()
        return self._known[key]


_KEPT = 6


def check(method: str, resamples: int, seed: int = 0) -> None:
    """Refuse methods, numbers of resamples and seeds that mean nothing."""
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; use one of {', '.join(map(repr, METHODS))}")
    for name, number in (("resamples", resamples), ("seed", seed)):
        if isinstance(number, bool) or not isinstance(number, (int, np.integer)):
            raise TypeError(f"{name} is {number!r}; a whole number is needed")
    if resamples < 2:
        raise ValueError(f"resamples is {resamples}; an interval needs at least 2, better 1000")


def units_of(evaluation: Evaluation) -> Keys | None:
    """What is sampled as one where it may not be the record; refuses a single cluster."""
    if evaluation.clusters is not None:
        refuse_one_cluster(evaluation.clusters)
        return evaluation.clusters
    return evaluation.ids
