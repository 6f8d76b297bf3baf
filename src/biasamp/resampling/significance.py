"""Whether a pair changed at all: tests that delta is 0, and what clusters do to them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.data.plain_arguments import numbers_of, shown

from .statistics_of_bags import residuals

Array = NDArray[np.float64]

# Above this variance of the count (a standard deviation of 50) the normal approximation is used: the two
# tails' errors of skewness cancel, and what is left is below a tenth of the p-value down to 1e-8.
_EXACT_VARIANCE = 2500.0
# Terms of a tail that are added before it is asked whether more are needed.
_TERMS = 8
# With more records than this, logarithms of factorials lose more than a tenth of 1e-10 where they cancel.
_LARGE = 10_000.0
# Tables whose probability agrees so closely are equally probable; the logarithms are rounded.
_TIE = 1e-7


def fisher_exact(count_1: Any, total_1: Any, count_2: Any, total_2: Any) -> Array:
    r"""Two-sided p-value of ``P1 = P2`` from ``count_1`` of ``total_1`` and ``count_2`` of ``total_2``.

    Given the sum m of the counts, ``count_1`` is hypergeometric if the rates are equal; the p-value is the
    probability of all outcomes that are no more probable than the one seen. It never rejects a true null
    more often than its level says. With large counts the normal approximation of the same hypergeometric
    distribution takes over. The counts broadcast; NaN where a total is 0 or both counts are 0: there is nothing
    to compare.

    References
    ----------
    A. Agresti, "Categorical Data Analysis", 3rd ed., 2013, Section 3.5.

    Examples
    --------
    The lady tasting tea: 3 of 4 against 1 of 4.

    >>> round(float(fisher_exact(3, 4, 1, 4)), 6)
    0.485714
    """
    arrays = [np.asarray(v, dtype=np.float64) for v in (count_1, total_1, count_2, total_2)]
    a, n1, b, n2 = np.broadcast_arrays(*arrays)
    shape = a.shape
    tables = np.column_stack([part.ravel() for part in (a, n1, b, n2)])
    # The first against the second is the second against the first, as in two groups that make up all records. Exact tests
    # of both are the same to the bit.
    turned = (_variance(*tables.T) <= _EXACT_VARIANCE) & (tables[:, 1] > tables[:, 3])
    tables[turned] = tables[turned][:, [2, 3, 0, 1]]
    distinct, place = np.unique(tables, axis=0, return_inverse=True)
    return _p_values(*distinct.T)[place.ravel()].reshape(shape)


def _p_values(a: Array, n1: Array, b: Array, n2: Array) -> Array:
    from scipy.special import erfc

    m = a + b
    out = np.full(len(a), np.nan)
    tested = (np.minimum(n1, n2) > 0) & (m > 0)
    variance = _variance(a, n1, b, n2)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.abs(a - m * n1 / (n1 + n2)) / np.sqrt(variance)
    large = tested & (variance > _EXACT_VARIANCE)
    out[large] = erfc(z[large] / np.sqrt(2.0))
    small = np.flatnonzero(tested & ~large)
    if len(small):
        out[small] = _exact(a[small], n1[small], n2[small], m[small])
    return out


def _variance(a: Array, n1: Array, b: Array, n2: Array) -> Array:
    """The variance of the first count where the rates are equal."""
    total, m = n1 + n2, a + b
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(m * n1 / total * (n2 / total) * ((total - m) / (total - 1)))


def _exact(a: Array, n1: Array, n2: Array, m: Array) -> Array:
    low, high = np.maximum(0.0, m - n2), np.minimum(n1, m)
    mode = np.clip(np.floor((m + 1) * (n1 + 1) / (n1 + n2 + 2)), low, high)
    log_seen = _log_probability(a, n1, n2, m)
    limit = log_seen + _TIE
    # On the other side of the mode, the outcome nearest to it that is no more probable than the one seen.
    above = a >= mode
    inner, outer = mode.copy(), np.where(above, low, high)
    reachable = _log_probability(outer, n1, n2, m) <= limit
    far = outer.copy()
    while True:
        gap = np.abs(inner - far)
        if not (gap > 1).any():
            break
        middle = np.where(gap > 1, np.floor((inner + far) / 2), far)
        within = _log_probability(middle, n1, n2, m) <= limit
        step = gap > 1
        far = np.where(step & within, middle, far)
        inner = np.where(step & ~within, middle, inner)
    # The mode itself is the meeting point when it is no more probable either.
    whole = _log_probability(mode, n1, n2, m) <= limit
    near_tail = _tail(a, np.where(above, 1.0, -1.0), n1, n2, m)
    far_tail = _tail(far, np.where(above, -1.0, 1.0), n1, n2, m)
    p = near_tail + np.where(reachable, far_tail, 0.0)
    return np.where(whole, 1.0, np.minimum(p, 1.0))


def _log_probability(k: Array, n1: Array, n2: Array, m: Array) -> Array:
    from scipy.special import gammaln

    def choose(n: Array, r: Array) -> Array:
        out: Array = gammaln(n + 1) - gammaln(r + 1) - gammaln(n - r + 1)
        return out

    return choose(n1, k) + choose(n2, m - k) - choose(n1 + n2, m)


def _tail(k: Array, step: Array, n1: Array, n2: Array, m: Array) -> Array:
    """Probability of k and everything beyond it in the direction of ``step``."""
    # Fewer of the first are more of the second: the other direction is that of ``m - k`` among ``n2``.
    at, mine, other = np.where(step > 0, (k, n1, n2), (m - k, n2, n1))
    left, rest, after, apart = mine - at, m - at, at + 1.0, other - m + at + 1.0
    total = np.ones(len(k))
    active, term, summed = np.arange(len(k)), np.ones(len(k)), np.ones(len(k))
    while len(active):
        # Terms that are too small change no sum, and beyond the last outcome they are 0: a few more of them do no harm.
        for _ in range(_TERMS):
            term *= left * rest / (after * apart)
            summed += term
            left -= 1.0
            rest -= 1.0
            after += 1.0
            apart += 1.0
        total[active] = summed
        going = term > 1e-18 * summed
        active, term, summed = active[going], term[going], summed[going]
        left, rest, after, apart = left[going], rest[going], after[going], apart[going]
    log_seen, large = _log_probability(k, n1, n2, m), n1 + n2 > _LARGE
    if large.any():
        log_seen[large] = _log_of_large(k[large], n1[large], n2[large], m[large])
    out: Array = np.exp(log_seen) * total
    return out


def _log_of_large(k: Array, n1: Array, n2: Array, m: Array) -> Array:
    """As :func:`_log_probability`, to 1e-13 whatever the counts.

    Logarithms of factorials of a million lose nine digits where they cancel. Here the chance is made of binomial ones, and each of
    those of how far counts are from their means (Loader's saddle-point form).

    References
    ----------
    C. Loader, "Fast and Accurate Computation of Binomial Probabilities", 2000.
    """
    n = n1 + n2
    p, q = m / n, (n - m) / n
    return _log_binomial(k, n1, p, q) + _log_binomial(m - k, n2, p, q) - _log_binomial(m, n, p, q)


def _log_binomial(k: Array, n: Array, p: Array, q: Array) -> Array:
    """The logarithm of the chance of ``k`` of ``n`` at a chance ``p``, with ``q = 1 - p``."""
    from scipy.special import xlog1py, xlogy

    rest = n - k
    with np.errstate(divide="ignore", invalid="ignore"):
        apart = _deviance(k, n * p) + _deviance(rest, n * q)
        out = _stirling_error(n) - _stirling_error(k) - _stirling_error(rest) - apart
        out = out + 0.5 * np.log(n / (k * rest)) - 0.5 * np.log(2.0 * np.pi)
        none = np.where(p < 0.5, xlog1py(n, -p), xlogy(n, q))
        every = np.where(q < 0.5, xlog1py(n, -q), xlogy(n, p))
    return np.where(k == 0, none, np.where(rest == 0, every, out))


def _deviance(x: Array, mean: Array) -> Array:
    """``x log(x / mean) + mean - x``, also where ``x`` is near its mean."""
    from scipy.special import xlog1py

    moved = (x - mean) / mean
    return np.asarray(mean * (xlog1py(1.0 + moved, moved) - moved))


def _stirling_error(n: Array) -> Array:
    """What Stirling's formula misses of the logarithm of ``n!``."""
    from scipy.special import gammaln

    some = np.maximum(n, 1.0)
    small = gammaln(some + 1.0) - (some + 0.5) * np.log(some) + some - 0.5 * np.log(2.0 * np.pi)
    s = 1.0 / some**2
    series = 1 / 12 - (1 / 360 - (1 / 1260 - (1 / 1680 - (1 / 1188 - (691 / 360360 - s / 156) * s) * s) * s) * s) * s
    return np.where(n == 0, 0.0, np.where(n < 16, small, series * np.sqrt(s)))


METHODS = ("bh", "by")


def q_values(p_values: Any, method: str = "bh") -> NDArray[np.float64]:
    r"""False-discovery-rate adjusted p-values.

    Calling every test with ``q <= a`` a discovery keeps the expected share of false ones among them at a or
    below. With m tests and ``p_(i)`` the i-th smallest,

    .. math:: q_{(i)} = \min_{j \ge i} \; \min(1, c \, m \, p_{(j)} / j),

    with ``c = 1`` for Benjamini-Hochberg (tests independent or positively dependent) and
    ``c = 1 + 1/2 + ... + 1/m`` for Benjamini-Yekutieli (any dependence).

    Parameters
    ----------
    p_values : array-like
        NaN is a test that was not made: it stays NaN and does not count among the m tests.
    method : {"bh", "by"}

    Returns
    -------
    ndarray
        Of the shape of ``p_values``.

    References
    ----------
    Y. Benjamini, Y. Hochberg, "Controlling the False Discovery Rate", JRSS B 57, 1995.
    Y. Benjamini, D. Yekutieli, "The Control of the False Discovery Rate in Multiple Testing under
    Dependency", Annals of Statistics 29, 2001.

    Examples
    --------
    >>> q_values([0.01, 0.02, 0.03, 0.5]).tolist()
    [0.04, 0.04, 0.04, 0.5]
    """
    if not isinstance(method, str) or method not in METHODS:
        raise ValueError(f"method is {shown(method)}; 'bh' (Benjamini-Hochberg) or 'by' (Benjamini-Yekutieli)")
    p = numbers_of(p_values, "p_values")
    if ((p < 0) | (p > 1)).any():
        raise ValueError("p_values must lie in [0, 1]")
    out = np.full(p.shape, np.nan)
    made = np.isfinite(p)
    values = p[made]
    m = len(values)
    if not m:
        return out
    factor = float((1.0 / np.arange(1, m + 1)).sum()) if method == "by" else 1.0
    order = np.argsort(values, kind="stable")
    raised = values[order] * (factor * m) / np.arange(1, m + 1)
    lowest = np.minimum.accumulate(raised[::-1])[::-1]
    q = np.empty(m)
    q[order] = np.minimum(lowest, 1.0)
    out[made] = q
    return out


Floats = NDArray[np.float64]


def normal_quantile(level: float) -> float:
    """The quantile of the standard normal that leaves ``1 - level`` in both tails together."""
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2.0))


def _quantile(level: float, clusters: ClusterEffect | None) -> float | Floats:
    """The normal quantile, or Student's at the number of clusters."""
    if clusters is None:
        return normal_quantile(level)
    from scipy.special import stdtrit

    return np.asarray(stdtrit(clusters.freedom, 0.5 + level / 2.0))


def pair_intervals(
    counts: PairCounts, level: float = 0.95, clusters: ClusterEffect | None = None
) -> tuple[Floats, Floats]:
    r"""An interval for :math:`\Delta = P(\hat o | g) - P(o | g)` of every pair.

    Truth and prediction are two readings of the same records, so :math:`\Delta` is a difference of paired
    proportions. For hard predictions without weights the interval is that of Bonett and Price (2012): a Wald
    interval after adding one discordant record of either kind, which has a width where no prediction is wrong and
    covers in 92% or more of samples, however small and sparse the group. With weights or soft predictions the same
    correction is applied at the effective sample size, which clusters divide by their design effect.

    References
    ----------
    Bonett, D. G. and Price, R. M. (2012). Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data. Journal of Educational and Behavioral Statistics 37, 479-488.
    """
    size, first, _ = counts.moments()
    given = np.broadcast_to(floats(counts.given), first.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = given**2 / size
        if clusters is not None:
            effective = effective / clusters.of_intervals
        shrunk, error, _ = adjusted_change(counts, effective)
    reach = _quantile(level, clusters) * error
    return np.maximum(shrunk - reach, -1.0), np.minimum(shrunk + reach, 1.0)


def adjusted_change(counts: PairCounts, effective: Floats) -> tuple[Floats, Floats, Floats]:
    """The change of every pair with one more error of either kind, its standard error, and the plain variance."""
    size, first, second = counts.moments()
    given = np.broadcast_to(floats(counts.given), first.shape)
    mean_difference = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / given
    mean_square = second / size
    shrunk = effective * mean_difference / (effective + 2.0)
    square = (effective * mean_square + 2.0) / (effective + 2.0)
    error = np.sqrt(np.maximum(square - shrunk**2, 0.0) / (effective + 2.0))
    return shrunk, error, np.maximum(mean_square - mean_difference**2, 0.0) / effective


def rate_intervals(
    counts: PairCounts, level: float = 0.95, clusters: ClusterEffect | None = None
) -> tuple[Floats, Floats]:
    r"""An interval for :math:`P(\hat o | g)` alone, for use against a base that is not estimated here.

    The adjusted Wald interval of Agresti and Coull, on the effective sample size.
    """
    size, _, _ = counts.moments()
    given = np.broadcast_to(floats(counts.given), size.shape)
    z = _quantile(level, clusters)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = given**2 / size
        if clusters is not None:
            effective = effective / clusters.of_intervals
        rate = floats(counts.joint_predicted) / given
        centre = (effective * rate + z * z / 2.0) / (effective + z * z)
        reach = z * np.sqrt(centre * (1.0 - centre) / (effective + z * z))
    return np.maximum(centre - reach, 0.0), np.minimum(centre + reach, 1.0)


def delta_p(counts: PairCounts) -> Floats:
    r"""Two-sided p-value of :math:`\Delta = 0` for every pair.

    Of the records of a group whose prediction is wrong, as many gain the label as lose it when nothing is
    amplified: McNemar's test, exact. With weights other than 1 or soft predictions the normal approximation
    :math:`\sum w d / \sqrt{\sum w^2 d^2}`.
    """
    from scipy.special import ndtr

    held, one = floats(counts.joint_predicted), floats(counts.joint_truth)
    if not counts.unweighted:
        _, _, second = counts.moments()
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(second > 0, (held - one) / np.sqrt(second), 0.0)
        return np.asarray(2.0 * ndtr(-np.abs(z)))
    both = floats(counts.joint_both)
    return fair_coins_p(held - both, one - both)


def fair_coins_p(heads: Floats, tails: Floats) -> Floats:
    """Two-sided p-value of the exact test that both sides are as likely.

    >>> fair_coins_p(np.array([1.0]), np.array([3.0]))
    array([0.625])
    """
    from scipy.special import betainc

    more, less = np.maximum(heads, tails), np.minimum(heads, tails)
    # P(X >= more) of that many fair coins; of none a half, which is a p-value of 1, too.
    tail = betainc(np.maximum(more, 1.0), less + 1.0, 0.5)
    return np.asarray(np.minimum(2.0 * tail, 1.0))


def summed_p(moved: Floats) -> Floats:
    """Two-sided p-values that the sums over independent units (rows) are 0 on average, by Student's distribution."""
    from scipy.special import stdtr

    units = (moved != 0).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.abs(moved.sum(axis=0)) / np.sqrt((moved**2).sum(axis=0))
    return np.where(units > 1, 2.0 * stdtr(np.maximum(units - 1.0, 1.0), -np.nan_to_num(t)), 1.0)


def rate_p(counts: PairCounts, rates: Floats) -> Floats:
    """Two-sided p-value that ``P(o_hat | g)`` is the rate of a base that is not estimated here."""
    from scipy.special import ndtr

    given = np.broadcast_to(floats(counts.given), rates.shape)
    held = floats(counts.joint_predicted)
    known = (rates >= 0) & (rates <= 1) & (given > 0)
    chance = np.where(known, rates, 0.5)
    if counts.unweighted:
        return np.where(known, binomial_mid_p(held, given, chance), np.nan)
    size, _, _ = counts.moments()
    with np.errstate(divide="ignore", invalid="ignore"):
        z = (held / given - chance) / np.sqrt(chance * (1.0 - chance) * size / given**2)
    return np.where(known, 2.0 * ndtr(-np.abs(z)), np.nan)


def binomial_mid_p(successes: Floats, trials: Floats, chance: Floats) -> Floats:
    """Two-sided mid-p value of a binomial test: twice the smaller tail, with half the chance of what was seen.

    >>> binomial_mid_p(np.array([1.0]), np.array([4.0]), np.array(0.5)).round(4)
    array([0.375])
    """
    from scipy.special import betainc, gammaln, xlog1py, xlogy

    k, n, p = np.broadcast_arrays(successes, trials, chance)
    log_seen = gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1) + xlogy(k, p) + xlog1py(n - k, -p)
    seen = np.exp(log_seen)
    above = np.where(k > 0, betainc(np.maximum(k, 1.0), n - k + 1.0, p), 1.0)  # P(X >= k)
    upper = above - 0.5 * seen
    return np.clip(2.0 * np.minimum(upper, 1.0 - upper), 0.0, 1.0)


@dataclass(frozen=True, eq=False)
class ClusterEffect:
    """How much clusters widen each pair's error: by the root of ``inflation``, at ``freedom`` degrees of freedom.

    ``unseen`` is the inflation for errors that were not seen: as if one error more had all of its cluster err with it.
    """

    inflation: Floats
    freedom: Floats
    unseen: Floats

    @property
    def of_intervals(self) -> Floats:
        """The inflation that intervals go by: few errors say little of how far those of one cluster go together."""
        return np.maximum(self.inflation, self.unseen)

    def widened(self, p: Floats) -> Floats:
        """P-values of independent records, as the clusters let them be."""
        from scipy.special import ndtri, stdtr

        z = ndtri(np.clip(p, 1e-300, 1.0) / 2.0) / np.sqrt(self.inflation)
        return np.asarray(2.0 * stdtr(self.freedom, z))


def bag_cluster_effect(bags: BagCounts, delta: Floats, against_truth: bool = True) -> ClusterEffect:
    """The design effect of every pair, where the bags hold whole clusters.

    The variance of delta with the residuals of a bag summed before squaring, over the variance with each record by
    itself; never below 1. The squared residuals of a bag have the mean of its clusters' squared residuals, as
    clusters fall into bags at random.
    """
    moved, size = residuals(bags, against_truth)
    centre = np.nan_to_num(delta)
    together = ((moved - size * centre) ** 2).sum(axis=0)
    zero, first, second = bags.whole.moments()
    if against_truth:
        apart = second - 2.0 * centre * first + centre**2 * zero
    else:
        given, held = floats(bags.whole.given), floats(bags.whole.joint_predicted)
        with np.errstate(divide="ignore", invalid="ignore"):
            # Of squared weights: the scale of weights is no effect of clusters.
            apart = (held * (1.0 - 2.0 * centre) + centre**2 * given) * (zero / given)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(apart > 0, together / apart, 1.0)
    filled = np.broadcast_to((size > 0).sum(axis=0), centre.shape)
    inflation = np.maximum(ratio, 1.0)
    return ClusterEffect(inflation, np.maximum(filled - 1.0, 1.0), _unseen_inflation(bags, inflation, apart, filled))


def _unseen_inflation(bags: BagCounts, inflation: Floats, apart: Floats, filled: Floats) -> Floats:
    """The mean inflation of the errors that were seen and one more, whose whole cluster errs."""
    weights, _, _ = bags.whole.moments()
    given = np.broadcast_to(floats(bags.whole.given), weights.shape)
    # Clusters that share a bag: so many fill so many bags.
    clusters = -bags.bags * np.log1p(-np.minimum(filled, bags.bags - 0.5) / bags.bags)
    with np.errstate(divide="ignore", invalid="ignore"):
        records = given**2 / weights
        each = np.maximum(records / clusters, 1.0)
        errors = records * np.maximum(apart, 0.0) / weights
        return np.where(given > 0, (inflation * errors + each) / (errors + 1.0), 1.0)
