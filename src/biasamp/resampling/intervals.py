"""What makes the intervals of a result when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.data.plain_arguments import shown
from biasamp.results.interval import FEWEST_CLUSTERS, TOO_FEW_CLUSTERS, UNCLEAR_SIGNS, Caution, Interval

from .statistics_of_bags import Statistic

Floats = NDArray[np.float64]

# Groups of fewer records than this have errors that are far from normal.
SMALL_GROUP = 30
# They matter where they hold at least this share of the pairs.
_SMALL_SHARE = 0.2
# A variance that rests on fewer degrees of freedom than this is itself poorly known.
FEW_FREEDOM = 30.0
CLUSTERS = "clusters"
# A bias of this many standard errors takes a nominal 95% interval to some 92%.
_BIAS_THAT_MATTERS = 0.5
# How closely the noise of a pair's sign and of its delta go together, where the model follows the truth.
_SHARED_NOISE = 0.5


def pair_errors(counts: PairCounts) -> Floats:
    """The standard error of delta of every pair, from its own counts."""
    size, first, second = counts.moments()
    given = np.broadcast_to(floats(counts.given), first.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        moved = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / given
        variance = (second - 2.0 * moved * first + moved**2 * size) / given**2
    return np.sqrt(np.maximum(np.nan_to_num(variance), 0.0))


def normal_statistic(p: Floats) -> Floats:
    """The size of the normal statistic that has a two-sided p-value."""
    from scipy.special import ndtri

    return np.asarray(-ndtri(np.clip(p, 1e-300, 1.0) / 2.0))


def sign_bias(sign_p: Floats, delta: Floats, error: Floats) -> float:
    r"""The bias that signs from the evaluated records may bring, in standard errors of the aggregate.

    A sign whose test statistic is ``z`` is wrong with chance :math:`\Phi(-|z|)`, which costs
    :math:`2 \Phi(-|z|) |\Delta|`; and as it leans on the same records as delta, it goes with the noise of
    delta, which costs :math:`2 \rho \phi(z)` standard errors of the pair.
    """
    from scipy.special import ndtr

    z = normal_statistic(sign_p)
    density = np.exp(-(z**2) / 2.0) / np.sqrt(2.0 * np.pi)
    bias = float(np.nansum(2.0 * ndtr(-z) * np.abs(delta) + 2.0 * _SHARED_NOISE * density * error))
    whole = float(np.sqrt(np.nansum(error**2)))
    return bias / whole if whole > 0 else 0.0


def sign_variance(sign_p: Floats, delta: Floats, error: Floats) -> float:
    """The variance that signs of half the records bring by themselves, relative to that of delta."""
    from scipy.special import ndtr

    z = normal_statistic(sign_p) / np.sqrt(2.0)
    wrong = ndtr(-z)
    extra = float(np.nansum(2.0 * wrong * (1.0 - wrong) * (delta**2 - error**2)))
    whole = float(np.nansum(error**2))
    return max(extra, 0.0) / whole if whole > 0 else 0.0


def sign_cautions(
    sign_p: Floats, delta: Floats, error: Floats, crossfit: bool, of_base: bool = False
) -> tuple[str, ...]:
    """What to say where signs come from the same records as what they are multiplied with, and these cannot tell them.

    Parameters
    ----------
    sign_p, delta, error : ndarray of shape (given labels, outcome labels)
        How sure each sign is, what it is multiplied with, and the standard error of that.
    crossfit : bool
        Whether the value is the cross-fitted one.
    of_base : bool
        Whether those are the records of a base, not the evaluated ones.
    """
    sign_p = np.broadcast_to(sign_p, delta.shape)
    unclear = int(((sign_p > 0.05) & ~np.isnan(delta)).sum())
    whose = "the records of the base" if of_base else "the records"
    unknown = f"{whose} cannot tell the direction of {unclear:,} of {int((~np.isnan(delta)).sum()):,} pairs"
    if crossfit:
        if sign_variance(sign_p, delta, error) <= _BIAS_THAT_MATTERS:
            return ()
        words = f"{unknown}: the interval holds for the signs as they fell, which another sample may change"
        return (Caution(words, UNCLEAR_SIGNS),)
    if sign_bias(sign_p, delta, error) <= _BIAS_THAT_MATTERS:
        return ()
    words = (
        f"{unknown}: with signs from the same records the value is biased, and its interval covers less often than "
        "its level; its bounds count either sign, and train labels would tell them"
    )
    return (Caution(words, UNCLEAR_SIGNS),)


def small_cautions(counts: PairCounts) -> tuple[str, ...]:
    """What to say where groups are so small that an interval of the aggregate covers less often than it says."""
    given = np.broadcast_to(floats(counts.given), counts.joint_truth.shape)
    defined = given > 0
    small = defined & (given < SMALL_GROUP)
    if small.sum() < _SMALL_SHARE * defined.sum() or not small.any():
        return ()
    least = int(np.ceil(given[defined].min()))
    return (
        f"{int(small.any(axis=1).sum())} of {int(defined.any(axis=1).sum())} groups hold fewer than {SMALL_GROUP} "
        f"records (the smallest {least}): intervals of so small groups cover less often than their level",
    )


def few_cautions(freedom: float, units: int, over: str) -> tuple[str, ...]:
    """What to say where few records or clusters carry all the variation."""
    # Influences that are all of one size have endless freedom by their own spread, but no more than their number gives.
    freedom = min(freedom, units - 1.0)
    # No record moves the value at all where every prediction is right: nothing to caution of.
    if freedom >= FEW_FREEDOM or freedom <= 0.0:
        return ()
    words = (
        f"the error rests on few of about {units:,} {over} (about {freedom:.0f} degrees of freedom): the interval covers less "
        "often than its level"
    )
    return (Caution(words, TOO_FEW_CLUSTERS) if over == CLUSTERS and units < FEWEST_CLUSTERS else words,)


def percentile_interval(values: Floats, level: float) -> tuple[float, float]:
    """The middle ``level`` of the resampled values; resamples without a value are left out.

    >>> import numpy as np
    >>> percentile_interval(np.arange(101.0), 0.5)
    (25.0, 75.0)
    """
    there = values[~np.isnan(values)]
    if not len(there):
        return float("nan"), float("nan")
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(there, [tail, 1.0 - tail])
    return float(low), float(high)


def bca_interval(value: float, values: Floats, influence: Floats, level: float) -> tuple[float, float]:
    r"""The bias-corrected and accelerated interval of Efron.

    Parameters
    ----------
    value : float
        The value of the data.
    values : ndarray
        The values of resamples.
    influence : ndarray
        The influence of each unit on the value, which gives the acceleration
        :math:`\sum \psi^3 / (6 (\sum \psi^2)^{3/2})`, as the jackknife does to first order.
    level : float
        The confidence level.

    References
    ----------
    Efron, B. (1987). Better bootstrap confidence intervals. Journal of the American Statistical Association 82.
    """
    from scipy.special import ndtr, ndtri

    there = values[~np.isnan(values)]
    square = float((influence**2).sum())
    if not len(there) or square == 0.0:
        return percentile_interval(values, level)
    # Ties count half, as the resampled values of few records take few values.
    below = (float((there < value).mean()) + float((there <= value).mean())) / 2.0
    edge = 0.5 / len(there)
    bias = float(ndtri(min(max(below, edge), 1.0 - edge)))
    acceleration = float((influence**3).sum()) / (6.0 * square**1.5)
    reach = float(ndtri(0.5 + level / 2.0))
    tails = []
    for side in (bias - reach, bias + reach):
        shrink = 1.0 - acceleration * side
        tails.append(float(ndtr(bias + side / shrink)) if shrink > 0 else float(side > 0))
    low, high = np.quantile(there, tails)
    return float(low), float(high)


def standard_error(influence: Floats) -> float:
    """The standard error that the influences of independent units give."""
    units = len(influence)
    return float(np.sqrt((influence**2).sum() * (units / max(units - 1, 1))))


def standard_errors_of(influences: Sequence[Floats], besides: Floats) -> Floats:
    """As :meth:`Intervals.standard_error` of many figures at once, each with the variance that its influences do not hold."""
    units = np.array([len(influence) for influence in influences])
    square = np.array([float((influence**2).sum()) for influence in influences])
    alone = np.sqrt(square * (units / np.maximum(units - 1, 1)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(square > 0, np.sqrt(1.0 + besides / square) * alone, np.sqrt(besides)))


def degrees_of_freedom(influence: Floats) -> float:
    r"""How well the influences determine their own variance.

    Satterthwaite's :math:`2 V^2 / \operatorname{Var} V` with :math:`V = \sum \psi^2` and
    :math:`\operatorname{Var} V \approx \sum \psi^4 - V^2 / n`: about ``n`` where influences are normal, about
    twice the number of records whose prediction is wrong where few are.
    """
    square = influence**2
    total = float(square.sum())
    if total == 0.0:
        return 0.0
    spread = float((square**2).sum()) - total**2 / len(influence)
    return float("inf") if spread <= 0.0 else min(2.0 * total**2 / spread, float(len(influence) - 1))


def student_interval(value: float, error: float, freedom: float, level: float) -> tuple[float, float]:
    """``value`` plus and minus Student's quantile times its error; the normal quantile with endless freedom."""
    from scipy.special import ndtri, stdtrit

    tail = 0.5 + level / 2.0
    quantile = float(stdtrit(max(freedom, 1.0), tail)) if np.isfinite(freedom) else float(ndtri(tail))
    reach = quantile * error
    return value - reach, value + reach


Seed = int | np.random.Generator

METHODS = ("auto", "bootstrap", "bca", "closed_form")
# What is said of an interval that counts errors which were not seen.
WIDENED = ", widened for errors not seen"
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
    unseen : float
        The variance that errors add which were not seen: see :mod:`biasamp.resampling.unseen_errors`.
    """

    statistic: Statistic
    clustered: bool = False
    cautions: tuple[str, ...] = ()
    added: Callable[[], float] | None = None
    unseen: float = 0.0
    _known: dict[object, Floats] = field(default_factory=dict, repr=False)

    @property
    def value(self) -> float:
        """The figure of the data."""
        return self.statistic.value

    def __call__(self, level: float, method: str, resamples: int, seed: Seed) -> Interval:
        """The interval by the named method."""
        number = check(method, resamples, seed)
        over = CLUSTERS if self.clustered else "records"
        influence = self.influence()
        if len(influence) < 2:
            only = f"there is one {over[:-1]} only"
            return Interval(np.nan, np.nan, level, "undefined", f"sampling of {over}", np.nan, (only,))
        error = self.standard_error()
        cautions = self.cautions
        # One more error of either kind makes up for few erring records, not for clusters that may all err.
        if self.clustered or not self.unseen:
            cautions += few_cautions(degrees_of_freedom(influence), len(influence), over)
        if not self._square:
            bounds, made = student_interval(self.value, error, np.inf, level), "closed form (no record moves the value)"
        elif method == "closed_form":
            bounds, made = student_interval(self.value, error, self._freedom(), level), "closed form"
        else:
            values = self.values(resamples, number)
            lost = int(np.isnan(values).sum())
            if lost:
                cautions += (f"{lost:,} of {resamples:,} resamples hold no defined pair and are left out",)
            if method == "bca":
                bounds, made = bca_interval(self.value, values, influence, level), "bootstrap BCa"
            else:
                bounds, made = percentile_interval(values, level), "bootstrap percentile"
            # Resamples of a biased figure lie to one side of it; an interval holds its figure all the same.
            bounds = float(np.fmin(bounds[0], self.value)), float(np.fmax(bounds[1], self.value))
            if self.statistic.first_order:
                made += " (to first order: there are too many pairs to resample each)"
        if self.unseen:
            made += WIDENED
        return Interval(*bounds, level, made, f"sampling of {over}", error, cautions)

    @property
    def first_order(self) -> bool:
        """Whether only the influences are resampled."""
        return self.statistic.first_order

    def replicates(self, resamples: int, seed: int) -> Floats:
        """The figure in every resample of the bags, as the statistic has it."""
        return self._remember((resamples, seed), lambda: self.statistic.replicates(resamples, seed))

    def values(self, resamples: int = 1000, seed: int = 0) -> Floats:
        """The values of keyed resamples: two models' on the same records are paired."""

        def stretched() -> Floats:
            values, stretch = self.replicates(resamples, seed), self._stretch
            return values if stretch == 1.0 else self.value + stretch * (values - self.value)

        return self._remember(("values", resamples, seed), stretched)

    def influence(self) -> Floats:
        """The influence of every unit."""
        return self._remember("influence", self.statistic.influence)

    def standard_error(self) -> float:
        """The closed-form standard error."""
        if not self._square:
            return float(np.sqrt(self._variance_besides))
        return self._stretch * standard_error(self.influence())

    @cached_property
    def _square(self) -> float:
        """The variance that the influences hold."""
        return float((self.influence() ** 2).sum())

    @property
    def _variance_besides(self) -> float:
        """The variance that the influences do not hold."""
        if self.added is None:
            return self.unseen
        return self.unseen + float(self._remember("added", lambda: np.array([self.added()]))[0])  # type: ignore[misc]

    @property
    def _stretch(self) -> float:
        """By how much errors widen for what the influences leave out."""
        return float(np.sqrt(1.0 + self._variance_besides / self._square)) if self._square else 1.0

    def _freedom(self) -> float:
        """The degrees of freedom of the variance, of which the part of unseen errors is fixed."""
        return degrees_of_freedom(self.influence()) * (1.0 + self.unseen / self._square) ** 2

    def _remember(self, key: object, make: Callable[[], Floats]) -> Floats:
        """Resamples asked for again are the same: keep the last few."""
        if key not in self._known:
            while len(self._known) >= _KEPT:
                self._known.pop(next(iter(self._known)))
            self._known[key] = make()
        return self._known[key]


def check(method: str, resamples: int, seed: Seed = 0) -> int:
    """Refuse methods, numbers of resamples and seeds that mean nothing; return the seed as a number."""
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method is {shown(method)}; use one of {', '.join(map(repr, METHODS))}")
    number = int(seed.integers(1 << 63)) if isinstance(seed, np.random.Generator) else seed
    for name, value in (("resamples", resamples), ("seed", number)):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name} is {shown(value)}; a whole number is needed")
    if resamples < 2:
        raise ValueError(f"resamples is {resamples}; an interval needs at least 2, better 1000")
    return int(number)
