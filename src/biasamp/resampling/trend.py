"""A figure measured step after step: its slope, its changes, and the first step that leaves its control limits.

All of them are sums of the steps' values with factors. Their errors come from the covariance of the values, which knows
where steps are of the same records. That speaks of other records, with the steps as they are. Steps may vary besides, more
than records explain: then p-values of slopes and control limits know of that, too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# The chance that a figure which does not change has any step outside its limits.
FALSE_ALARM = 0.05


@dataclass(frozen=True)
class Contrast:
    """A sum of values with factors, its standard error and interval."""

    value: float
    standard_error: float
    low: float
    high: float


@dataclass(frozen=True)
class Slope(Contrast):
    """The change per unit along the steps.

    Attributes
    ----------
    scatter : float
        How many times as far from the line steps are, squared, as records explain; NaN with two steps.
    p : float
        Of no slope, for other records and for other steps: the larger of the normal one and that of an ordinary regression of the steps. NaN with two
        steps, which show nothing of how steps vary.
    records_p : float
        Of no slope along these very steps, for other records alone.
    """

    scatter: float
    p: float
    records_p: float


@dataclass(frozen=True)
class ControlLimits:
    """Between which values a step stays while nothing changes, judged by the steps before it; NaN for the first."""

    low: Floats
    high: Floats
    left: NDArray[np.bool_]

    @property
    def first_left(self) -> int | None:
        """The first step outside its limits."""
        return int(np.argmax(self.left)) if self.left.any() else None


@dataclass(frozen=True, eq=False)
class Steps:
    """Values of one figure along steps.

    Attributes
    ----------
    at : ndarray of shape (steps,)
        Where the steps are: times, generations, sizes.
    values : ndarray of shape (steps,)
    covariance : ndarray of shape (steps, steps)
        By the sampling of records.
    paired : bool
        Whether all steps are of the same records. Then all of them count alike, else by the inverse of their variance.
    """

    at: Floats
    values: Floats
    covariance: Floats
    paired: bool

    def contrast(self, factors: Floats, level: float) -> Contrast:
        """The sum of the values with some factors."""
        value, error = float(factors @ self.values), self._error(factors)
        reach = _normal(level) * error
        return Contrast(value, error, value - reach, value + reach)

    def change(self, step: int, before: int, level: float) -> Contrast:
        """A step's value less another's."""
        factors = np.zeros(len(self.values))
        factors[step] += 1.0
        factors[before] -= 1.0
        return self.contrast(factors, level)

    def _error(self, factors: Floats) -> float:
        return float(np.sqrt(max(float(factors @ self.covariance @ factors), 0.0)))

    @cached_property
    def weights(self) -> Floats:
        """How much each step counts."""
        own = np.diag(self.covariance)
        return np.ones(len(own)) if self.paired or (own <= 0.0).any() else 1.0 / own

    def slope(self, level: float = 0.95) -> Slope:
        """Least squares; the interval is that of other records, and p is also that of other steps."""
        w = self.weights
        centred = self.at - (w @ self.at) / w.sum()
        factors = w * centred / (w @ centred**2)
        made = self.contrast(factors, level)
        scatter, freedom = self._scatter()
        by_records = _tail_by_records(abs(made.value), made.standard_error)
        p = _tail(abs(made.value), made.standard_error, scatter, freedom)
        if freedom:  # Steps that vary by themselves vary alike, however many records they have.
            p = max(p, self._ordinary_p(freedom))
        return Slope(made.value, made.standard_error, made.low, made.high, scatter, p, by_records)

    def control(self, level: float = 1.0 - FALSE_ALARM) -> ControlLimits:
        """Limits of each step from the mean of those before it that were within theirs.

        Together they hold with the chance ``level`` while nothing changes: each has the level of Bonferroni. Where steps vary more than
        records explain, by how much is itself an estimate of few steps: quantiles are then Student's.
        """
        count = len(self.values)
        low, high = np.full((2, count), np.nan)
        left = np.zeros(count, dtype=bool)
        each = 1.0 - (1.0 - level) / max(count - 1, 1)
        weights = self.weights if self.paired else 1.0 / (1.0 / self.weights + self.wander)
        for step in range(1, count):
            before = np.flatnonzero(~left[:step])
            factors = np.zeros(count)
            factors[before] = -weights[before] / weights[before].sum()
            mean = -float(factors @ self.values)
            factors[step] = 1.0
            variance = self._error(factors) ** 2 + self.wander * float(factors @ factors)
            reach = self._quantile(each, variance, float(factors @ factors)) * np.sqrt(variance)
            low[step], high[step] = mean - reach, mean + reach
            left[step] = not low[step] - ROUNDING <= self.values[step] <= high[step] + ROUNDING
        return ControlLimits(low, high, left)

    def newest(self, level: float = 1.0 - FALSE_ALARM) -> tuple[float, float]:
        """Between which values the last step lies with the chance ``level`` while nothing changes, judged by all steps before it.

        It alone is asked about, so that nothing is lost to other steps: it is Student's prediction interval of one value more, no shorter than
        records alone make it, and longer where the last step has fewer records than those before it.

        Examples
        --------
        Values on records that move nothing, ten units from each other at most:

        >>> import numpy as np
        >>> steps = Steps(np.arange(5.0), np.array([0.0, 10.0, 4.0, 6.0, 30.0]), np.zeros((5, 5)), True)
        >>> [round(end, 2) for end in steps.newest()]
        [-9.81, 19.81]
        """
        from scipy.special import stdtrit

        before = len(self.values) - 1
        known = self.values[:-1]
        factors = np.append(np.full(before, -1.0 / before), 1.0)
        by_records = self._error(factors) ** 2
        covariance = self.covariance[:-1, :-1]
        apart = (np.trace(covariance) - covariance.sum() / before) / (before - 1)
        further = 1.0 + 1.0 / before
        seen = float(known.var(ddof=1)) * further + max(by_records - float(apart) * further, 0.0)
        reach = max(_normal(level) * np.sqrt(by_records), float(stdtrit(before - 1, 0.5 + level / 2.0)) * np.sqrt(seen))
        return float(known.mean() - reach), float(known.mean() + reach)

    def _quantile(self, level: float, variance: float, factors: float) -> float:
        """How many standard errors limits are away; ``factors`` is how many times a step's variance they hold.

        The distances of neighbours tell the variance of steps by records and by themselves together, so that the freedom of
        Satterthwaite is that of this sum.
        """
        from scipy.special import stdtrit

        if not self.wander > 0.0:
            return _normal(level)
        told = factors * (self.wander + 0.5 * float(np.mean(self._neighbours[1])))
        freedom = _FREEDOM * (len(self.values) - 1) * (variance / told) ** 2
        return float(stdtrit(max(freedom, 1.0), 0.5 + level / 2.0))

    @cached_property
    def wander(self) -> float:
        """The variance of steps besides that by records, from the distances of neighbouring steps; at least 0.

        It makes their median what it is by chance, so that neither a trend nor one jump moves it much. Fewer than four
        distances tell nothing.
        """
        if not self.tells_wander:
            return 0.0
        squares, variances = self._neighbours
        usual = _normal(0.5) ** 2

        def excess(wander: float) -> float:
            spread = np.maximum(variances + 2.0 * wander, np.finfo(float).tiny)
            with np.errstate(over="ignore"):
                return float(np.median(squares / spread)) - usual

        low, high = 0.0, float(squares.max()) / usual
        if excess(low) <= 0.0:
            return 0.0
        for _ in range(_HALVINGS):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if excess(middle) > 0.0 else (low, middle)
        return high

    @property
    def tells_wander(self) -> bool:
        """Whether there are enough steps to tell how much they vary by themselves."""
        return len(self.values) > FEWEST_CHANGES

    @cached_property
    def _neighbours(self) -> tuple[Floats, Floats]:
        """The squared distance of each two neighbouring steps, and its variance by records."""
        changes = [self.change(step, step - 1, 0.95) for step in range(1, len(self.values))]
        return np.array([made.value**2 for made in changes]), np.array([made.standard_error**2 for made in changes])

    def _ordinary_p(self, freedom: int) -> float:
        """The p-value of no slope in an ordinary regression, which counts all steps alike."""
        from scipy.special import stdtr

        centred = self.at - self.at.mean()
        slope = float(centred @ self.values) / float(centred @ centred)
        residual = self.values - self.values.mean() - slope * centred
        error = np.sqrt(float(residual @ residual) / freedom / float(centred @ centred))
        return 2.0 * float(stdtr(freedom, -abs(slope) / error)) if error > 0.0 else 0.0

    def _scatter(self) -> tuple[float, int]:
        """How far steps are from their line, squared, in units of what records explain; and degrees of freedom."""
        freedom = len(self.values) - 2
        if freedom < 1:
            return float("nan"), 0
        root = np.sqrt(self.weights)
        basis, _ = np.linalg.qr(root[:, None] * np.column_stack([np.ones(len(root)), self.at]))
        away = (np.eye(len(root)) - basis @ basis.T) * root
        expected = float(np.trace(away @ self.covariance @ away.T))
        seen = float(((away @ self.values) ** 2).sum())
        return (seen / expected if expected > 0.0 else float("nan")), freedom


# Changes from step to step that tell how much steps vary by themselves.
FEWEST_CHANGES = 4
_HALVINGS = 50
# Degrees of freedom that the median of the distances of neighbours has for each of them: as few as simulated false alarms allow.
_FREEDOM = 0.6
# Values that differ by rounding alone are the same.
ROUNDING = 1e-12


def _normal(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2.0))


def _tail_by_records(size: float, error: float) -> float:
    """The chance of a sum at least as large, either way, by the sampling of records; NaN where they move nothing."""
    from scipy.special import ndtr

    if size == 0.0:
        return 1.0
    return 2.0 * float(ndtr(-size / error)) if error > 0.0 else float("nan")


def _tail(size: float, error: float, scatter: float, freedom: int) -> float:
    """The same by records and by the scatter of steps with Student's t, whichever is larger; NaN with too few steps.

    That steps scatter little may be chance, with few of them: that records explain it is no proof that steps do not vary.
    """
    from scipy.special import stdtr

    if not freedom:
        return float("nan")
    by_steps = 2.0 * float(stdtr(freedom, -size / (error * np.sqrt(scatter)))) if error * scatter > 0.0 else 0.0
    return max(_tail_by_records(size, error), by_steps)
