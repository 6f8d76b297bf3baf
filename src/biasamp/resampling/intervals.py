"""What makes the intervals of a result when they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from biasamp.results.interval import Interval

from .bootstrap import bca_interval, percentile_interval
from .closed_form import degrees_of_freedom, standard_error, student_interval
from .interval_cautions import few_cautions
from .statistics_of_bags import Linear, Statistic

Floats = NDArray[np.float64]
Seed = int | np.random.Generator

METHODS = ("auto", "bootstrap", "bca", "closed_form")
_KEPT = 6


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of one figure.

    Attributes
    ----------
    statistic : Statistic
        The figure.
    clustered : bool
        Whether what is resampled are clusters of records.
    cautions : tuple of str
    added : callable, optional
        A variance that neither the influences nor the resamples hold.
    """

    statistic: Statistic
    clustered: bool = False
    cautions: tuple[str, ...] = ()
    added: Callable[[], float] | None = None
    _known: dict[object, Floats] = field(default_factory=dict, repr=False)

    @property
    def value(self) -> float:
        """The figure of the data."""
        return self.statistic.value

    def __call__(self, level: float, method: str, resamples: int, seed: Seed) -> Interval:
        """The interval by the named method."""
        number = check(method, resamples, seed)
        over = "clusters" if self.clustered else "records"
        influence = self.influence()
        if len(influence) < 2:
            only = f"there is one {over[:-1]} only"
            return Interval(np.nan, np.nan, level, "undefined", f"sampling of {over}", np.nan, (only,))
        stretch = self._stretch()
        error = stretch * standard_error(influence)
        cautions = (*self.cautions, *few_cautions(degrees_of_freedom(influence), over))
        if method == "closed_form":
            bounds, made = student_interval(self.value, influence * stretch, level), "closed form"
        else:
            values = self.values(resamples, number)
            lost = int(np.isnan(values).sum())
            if lost:
                cautions += (f"{lost:,} of {resamples:,} resamples hold no defined pair and are left out",)
            if method == "bca":
                bounds, made = bca_interval(self.value, values, influence, level), "bootstrap BCa"
            else:
                bounds, made = percentile_interval(values, level), "bootstrap percentile"
            if isinstance(self.statistic, Linear):
                made += " (to first order: there are too many pairs to resample each)"
        return Interval(*bounds, level, made, f"sampling of {over}", error, cautions)

    def values(self, resamples: int = 1000, seed: int = 0) -> Floats:
        """The values of keyed resamples: two models' on the same records are paired."""

        def drawn() -> Floats:
            values = self.statistic.replicates(resamples, seed)
            return values if self.added is None else self.value + self._stretch() * (values - self.value)

        return self._remember((resamples, seed), drawn)

    def influence(self) -> Floats:
        """The influence of every unit."""
        return self._remember("influence", self.statistic.influence)

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

    def _remember(self, key: object, make: Callable[[], Floats]) -> Floats:
        """Resamples asked for again are the same: keep the last few."""
        if key not in self._known:
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = make()
        return self._known[key]


def check(method: str, resamples: int, seed: Seed = 0) -> int:
    """Refuse methods, numbers of resamples and seeds that mean nothing; return the seed as a number."""
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; use one of {', '.join(map(repr, METHODS))}")
    number = int(seed.integers(1 << 63)) if isinstance(seed, np.random.Generator) else seed
    for name, value in (("resamples", resamples), ("seed", number)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name} is {value!r}; a whole number is needed")
    if resamples < 2:
        raise ValueError(f"resamples is {resamples}; an interval needs at least 2, better 1000")
    return int(number)
