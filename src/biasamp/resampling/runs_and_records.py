r"""Figures of several training runs on test records: how much they vary by seeds, by records, and by both together.

A figure of run :math:`r` on a sample of records is :math:`\theta + a_r + b + c_r`: what the seed adds whatever the records, what the
records add whatever the seed, and what they add to this run alone. The mean over :math:`R` runs varies by

.. math:: \sigma_a^2 / R + \sigma_b^2 + \sigma_c^2 / R .

Runs on the same records differ by :math:`\sigma_a^2 + \sigma_c^2`, and resampling the records of all runs together moves their mean by
:math:`\sigma_b^2 + \sigma_c^2 / R`. The sum of both counts :math:`\sigma_c^2 / R` twice, which resamples tell by how runs move apart. So
the variance is that over runs, plus that over records, less their interaction.

Few runs tell the first part, many records the rest, so that no one Student's t has the right quantile. It is Cochran's: the quantiles of
both parts, weighted by their variances. With Satterthwaite's degrees of freedom of the sum intervals are too short where runs happen to agree, as the
variance is then low and its degrees of freedom are high: 95% intervals held in 92.3% with 3 runs of the same seeds, and in 87% with 2.

Of two models with seeds of their own the part of runs has Welch's degrees of freedom. Where one has fewer runs, these err in the same way (95% intervals held in 92.8%
with 3 runs against 10): so the quantile goes over to Cochran's of the two models, by ``1 - fewer / more`` of the way. With 3, 5 and 10 runs,
as many or not, intervals hold in 94.1 to 97.2%, whatever seeds, records and interaction add, and in 93.6 to 99.0% where a model has 2.

Nothing else is cut off, except where runs agree more than records let them: there the variance is that by records.

References
----------
Cochran, W. G. (1964). Approximate significance levels of the Behrens-Fisher test. Biometrics 20, 191-195.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.results.interval import CHANCE

Floats = NDArray[np.float64]

# More runs or times as many records than these are not called a number that would decide.
MOST_RUNS = 10_000
MOST_TIMES = 1000.0
_STEP = 1.02
# Runs that vary by less than this part of what records make them vary by agree by chance, or by the coarseness of a figure of few errors.
_TOO_ALIKE = 0.01
# How sure the range of needed runs is.
RANGE_LEVEL = 0.9
# Student's t of so many degrees of freedom is normal.
_MOST_FREEDOM = 1e9
# Halvings that find a p-value.
_HALVINGS = 50


@dataclass(frozen=True, eq=False)
class Seeds:
    """How much runs of one kind vary: of one model, or of the differences of two models with the same seeds.

    Attributes
    ----------
    runs : int
    spread : ndarray
        The sample variance over runs, on the same records.
    apart : ndarray
        The part of it that other records would make otherwise.
    """

    runs: int
    spread: Floats
    apart: Floats


@dataclass(frozen=True, eq=False)
class CrossedMean:
    """A mean over runs, or a difference of two, and what it varies by; arrays have one number for each figure.

    Attributes
    ----------
    value : ndarray
    records : ndarray
        The variance by records, of all runs together.
    seeds : tuple of Seeds
        One for each kind of runs.
    units : float
        How many independent parts of the records ``records`` was estimated from.
    """

    value: Floats
    records: Floats
    seeds: tuple[Seeds, ...]
    units: float = float("inf")

    @property
    def by_runs(self) -> Floats:
        """The variance by runs, on these records."""
        return np.asarray(sum(part.spread / part.runs for part in self.seeds))

    @property
    def interaction(self) -> Floats:
        """What the variances by runs and by records both hold."""
        return np.asarray(sum(part.apart / part.runs for part in self.seeds))

    @property
    def by_seeds(self) -> Floats:
        """The variance by seeds, whatever the records; at least 0."""
        return np.maximum(self.by_runs - self.interaction, 0.0)

    @property
    def shared(self) -> Floats:
        """The variance by records that all runs share; at least 0."""
        return np.maximum(self.records - self.interaction, 0.0)

    @property
    def variance(self) -> Floats:
        """By seeds and records."""
        return self._parts.variance

    @property
    def standard_error(self) -> Floats:
        """The root of the variance."""
        return np.sqrt(self.variance)

    def freedom(self, level: float) -> Floats:
        """The degrees of freedom at which Student's t reaches as far as an interval of this level."""
        return self._parts.freedom(level)

    def reach(self, level: float) -> Floats:
        """How far an interval of this level goes either way."""
        return self._parts.reach(level)

    def p(self) -> Floats:
        """Two-sided p-values of 0; NaN where nothing varies."""
        return self._parts.p(self.value)

    @property
    def _parts(self) -> _Parts:
        return _parts(self.shared, self.seeds, [part.runs for part in self.seeds], self.units)

    def more_runs(self, level: float, place: int = 0) -> tuple[int | None, int | None]:
        """How many more runs of each kind would decide a difference of this size with a chance of 80%, as a 90% range.

        The variance over runs is itself an estimate of few runs: the range is that of its chi-square interval. None where no
        number of runs would, on these records.
        """
        from scipy.special import chdtri

        freedom = self._spread_freedom(place)
        tail = (1.0 - RANGE_LEVEL) / 2.0
        # ``chdtri`` is the quantile of an upper tail.
        scales = [freedom / float(chdtri(freedom, p)) for p in (tail, 1.0 - tail)]
        low, high = (self.runs_needed(level, place, scale) for scale in scales)
        return low, high

    def _spread_freedom(self, place: int) -> float:
        """The degrees of freedom of the variance that one run more of each kind adds: of two kinds, Satterthwaite's."""
        known = [part for part in self.seeds if part.runs > 1]
        spreads = [float(part.spread.flat[place]) for part in known]
        if len(known) < len(self.seeds) or not sum(spreads) > 0.0:
            return float(sum(part.runs - 1 for part in known))
        return sum(spreads) ** 2 / sum(held**2 / (part.runs - 1) for held, part in zip(spreads, known, strict=True))

    def runs_needed(self, level: float, place: int = 0, scale: float = 1.0) -> int | None:
        """How many more runs would, if runs vary by ``scale`` times as much as they did, and no less than records alone make them vary."""
        size, shared = abs(float(self.value.flat[place])), np.asarray(self.shared.flat[place])
        seeds = [
            Seeds(part.runs, np.asarray(max(scale * part.spread.flat[place], apart)), np.asarray(apart))
            for part in self.seeds
            for apart in [part.apart.flat[place]]
        ]

        def decided(more: int) -> bool:
            parts = _parts(shared, seeds, [part.runs + more for part in seeds], self.units)
            # On these records the mean moves by its runs alone.
            return size > float(parts.reach(level)) + margin(float(parts.runs))

        if not decided(MOST_RUNS):
            return None
        low, high = 0, 1
        while not decided(high):
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if decided(middle) else (middle, high)
        return high

    def more_records(self, level: float, place: int = 0) -> float | None:
        """How many times as many records would decide a difference of this size with these runs, with a chance of 80%; None where none would."""
        size, shared = abs(float(self.value.flat[place])), float(self.shared.flat[place])
        seeds = float(self.by_seeds.flat[place])
        by_runs = max(float(self.by_runs.flat[place]), np.finfo(float).tiny)
        runs = [part.runs for part in self.seeds]
        times = _STEP
        while times < MOST_TIMES:
            # With more records the variance over runs comes closer to that by seeds alone.
            left = (seeds + (by_runs - seeds) / times) / by_runs
            scaled = [
                Seeds(part.runs, np.asarray(left * part.spread.flat[place]), np.asarray(part.apart.flat[place] / times))
                for part in self.seeds
            ]
            reach = float(_parts(np.asarray(shared / times), scaled, runs, self.units).reach(level))
            # With these runs the mean moves by records alone.
            if size > reach + margin(float(self.records.flat[place]) / times):
                return times
            times *= _STEP
        return None


def margin(variance: float) -> float:
    """How far beyond its interval's reach an estimate must lie that it stays there with a chance of 80%.

    >>> round(margin(1.0), 4)
    0.8416
    """
    from scipy.special import ndtri

    return float(ndtri(CHANCE)) * float(np.sqrt(variance))


def mean_of_runs(values: Floats, covariance: Floats, units: float = float("inf")) -> CrossedMean:
    """The mean over runs of one model.

    Parameters
    ----------
    values : ndarray of shape (runs, figures)
    covariance : ndarray of shape (runs, runs, figures)
        Of the values by the sampling of records; 0 between runs on different records.
    units : float
        How many independent parts of the records it was estimated from.
    """
    return CrossedMean(values.mean(axis=0), covariance.mean(axis=(0, 1)), (_seeds(values, covariance),), units)


def difference_of_runs(
    values: Floats,
    covariance: Floats,
    first: Sequence[int],
    second: Sequence[int],
    *,
    same_seeds: bool,
    units: float = float("inf"),
) -> CrossedMean:
    """The mean over the runs ``second`` less that over the runs ``first``.

    ``values`` and ``covariance`` are those of all runs. With ``same_seeds``, run ``i`` of one has the seed of run ``i`` of the other:
    what a seed adds to both drops out.

    Examples
    --------
    Three runs of each on records that move nothing: Student's t of the paired differences, or Welch's.

    >>> import numpy as np
    >>> values = np.array([0.10, 0.14, 0.12, 0.16, 0.19, 0.18])[:, None]
    >>> nothing = np.zeros((6, 6, 1))
    >>> for same in (True, False):
    ...     made = difference_of_runs(values, nothing, [0, 1, 2], [3, 4, 5], same_seeds=same)
    ...     print(round(float(made.value[0]), 4), round(float(made.freedom(0.95)[0]), 3), round(float(made.p()[0]), 4))
    0.0567 2.0 0.0034
    0.0567 3.741 0.0199
    """
    one, two = np.asarray(first), np.asarray(second)
    factors = np.zeros(len(values))
    factors[two] += 1.0 / len(two)
    factors[one] -= 1.0 / len(one)
    value = np.tensordot(factors, values, axes=1)
    records = np.einsum("i,ij...,j->...", factors, covariance, factors)
    if same_seeds:
        apart = (
            covariance[np.ix_(two, two)]
            + covariance[np.ix_(one, one)]
            - covariance[np.ix_(two, one)]
            - covariance[np.ix_(one, two)]
        )
        seeds: tuple[Seeds, ...] = (_seeds(values[two] - values[one], apart),)
    else:
        seeds = tuple(_seeds(values[runs], covariance[np.ix_(runs, runs)]) for runs in (one, two))
        seeds = _lent(seeds)
    return CrossedMean(value, np.maximum(records, 0.0), seeds, units)


def _seeds(values: Floats, covariance: Floats) -> Seeds:
    """How runs vary, and how far apart records move them."""
    runs = len(values)
    if runs < 2:
        nothing = np.zeros(values.shape[1:])
        return Seeds(1, nothing, nothing)
    own = np.einsum("ii...->...", covariance) / runs
    apart = (own - covariance.mean(axis=(0, 1))) * runs / (runs - 1)
    return Seeds(runs, values.var(axis=0, ddof=1), np.maximum(apart, 0.0))


def _lent(seeds: tuple[Seeds, ...]) -> tuple[Seeds, ...]:
    """A model with one run is taken to vary as the other does."""
    several = [part for part in seeds if part.runs > 1]
    if not several or len(several) == len(seeds):
        return seeds
    return tuple(part if part.runs > 1 else Seeds(1, several[0].spread, several[0].apart) for part in seeds)


@dataclass(frozen=True, eq=False)
class _Parts:
    """The variance of a mean over runs in two parts: what few runs tell, and what records do, each with its degrees of freedom.

    ``kinds`` are the variance and the degrees of freedom of each kind of runs, ``uneven`` how far their numbers are from equal, from 0 to 1.
    """

    runs: Floats
    records: Floats
    runs_freedom: Floats
    records_freedom: Floats
    kinds: tuple[tuple[Floats, int], ...] = ()
    uneven: float = 0.0

    @property
    def variance(self) -> Floats:
        return self.runs + self.records

    def quantile(self, level: float) -> Floats:
        """Cochran's: those of both parts, weighted by their variances."""
        tail = np.full(self.runs.shape, 0.5 - level / 2.0)
        return self._weighted(self._of_runs(tail), _student(tail, self.records_freedom))

    def _of_runs(self, tail: Floats) -> Floats:
        """The quantile of runs: Welch's of two kinds with as many runs, and the nearer to Cochran's the more their numbers differ."""
        welch = _student(tail, self.runs_freedom)
        if not self.uneven:
            return welch
        weighted = np.zeros(tail.shape)
        for variance, freedom in self.kinds:
            weighted += variance * _student(tail, np.full(tail.shape, float(freedom)))
        with np.errstate(divide="ignore", invalid="ignore"):
            cochran = np.where(self.runs > 0.0, weighted / self.runs, welch)
        return np.where(np.isfinite(welch), welch + self.uneven * (cochran - welch), welch)

    def _weighted(self, runs: Floats, records: Floats) -> Floats:
        with np.errstate(divide="ignore", invalid="ignore"):
            share = np.where(self.variance > 0.0, self.runs / self.variance, 0.0)
            # A part that is not there has no say, though its quantile be infinite.
            return np.where(share > 0.0, share * runs, 0.0) + np.where(share < 1.0, (1.0 - share) * records, 0.0)

    def reach(self, level: float) -> Floats:
        return self.quantile(level) * np.sqrt(self.variance)

    def freedom(self, level: float) -> Floats:
        from scipy.special import stdtridf

        mixed = (self.runs > 0.0) & ((self.records > 0.0) | (self.uneven > 0.0))
        found = np.where(self.runs > 0.0, self.runs_freedom, self.records_freedom)
        if mixed.any():
            found = np.where(mixed, stdtridf(0.5 + level / 2.0, self.quantile(level)), found)
        return found

    def p(self, value: Floats) -> Floats:
        """The level at which an interval would just hold 0, from 1."""
        from scipy.special import stdtr

        with np.errstate(divide="ignore", invalid="ignore"):
            size = np.where(self.variance > 0.0, np.abs(value) / np.sqrt(self.variance), 0.0)

        def below(quantile: Floats) -> NDArray[np.bool_]:
            """Whether an interval that goes so far by records alone would not reach as far as 0."""
            tail = np.asarray(stdtr(self.records_freedom, -quantile))
            return np.asarray(self._weighted(self._of_runs(tail), quantile) < size)

        # The quantile of records alone is ``size`` at most, but where few parts of them tell less than runs do.
        low, high = np.zeros_like(size), size
        if (self.runs > 0.0).any():
            while (short := below(high)).any():
                high = np.where(short, 2.0 * high, high)
            for _ in range(_HALVINGS):
                middle = (low + high) / 2.0
                short = below(middle)
                low, high = np.where(short, middle, low), np.where(short, high, middle)
        tail = 2.0 * stdtr(self.records_freedom, -high)
        return np.where(self.variance > 0.0, np.minimum(tail, 1.0), np.nan)


def _parts(shared: Floats, seeds: Sequence[Seeds], runs: Sequence[int], units: float) -> _Parts:
    """The variance of a mean over so many runs, or of a difference of two; one run has the degrees of freedom of the other's."""
    each = [part.spread / n for part, n in zip(seeds, runs, strict=True)]
    by_runs = np.asarray(sum(each), dtype=np.float64)
    interaction = np.asarray(sum(part.apart / n for part, n in zip(seeds, runs, strict=True)), dtype=np.float64)
    known = [n - 1 for n in runs if n > 1]
    freedom = np.full(by_runs.shape, float(min(known, default=1)))
    alone = len(known) < len(seeds)
    if not alone:
        with np.errstate(divide="ignore", invalid="ignore"):
            welch = by_runs**2 / sum(spread**2 / n for spread, n in zip(each, known, strict=True))
        freedom = np.where(by_runs > 0.0, np.maximum(np.nan_to_num(welch), freedom), freedom)
    alike = by_runs < _TOO_ALIKE * interaction
    return _Parts(
        np.where(alike, 0.0, by_runs),
        shared + np.where(alike, interaction, 0.0),
        freedom,
        np.full(by_runs.shape, min(max(units - 1.0, 1.0), _MOST_FREEDOM)),
        () if alone else tuple(zip(each, known, strict=True)),
        0.0 if alone else 1.0 - min(runs) / max(runs),
    )


def _student(tail: Floats, freedom: Floats) -> Floats:
    """The quantile of Student's t of an upper tail; infinite where there is none."""
    from scipy.special import stdtrit

    return np.where(tail > 0.0, -stdtrit(freedom, tail), np.inf)
