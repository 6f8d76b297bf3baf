"""Whether a pair changed at all: tests that delta is 0, and what clusters do to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts

from .statistics_of_bags import residuals

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
    interval after adding one discordant record of either kind, which keeps its level for small and sparse
    groups, where the plain interval may have no width at all. With weights or soft predictions the same
    correction is applied at the effective sample size, which clusters divide by their design effect.

    References
    ----------
    Bonett, D. G. and Price, R. M. (2012). Adjusted Wald confidence interval for a difference of binomial
    proportions based on paired data. Journal of Educational and Behavioral Statistics 37, 479-488.
    """
    size, first, second = counts.moments()
    given = np.broadcast_to(floats(counts.given), first.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        effective = given**2 / size
        if clusters is not None:
            effective = effective / clusters.inflation
        mean_difference = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / given
        mean_square = second / size
        shrunk = effective * mean_difference / (effective + 2.0)
        square = (effective * mean_square + 2.0) / (effective + 2.0)
        error = np.sqrt(np.maximum(square - shrunk**2, 0.0) / (effective + 2.0))
    reach = _quantile(level, clusters) * error
    return np.clip(shrunk - reach, -1.0, 1.0), np.clip(shrunk + reach, -1.0, 1.0)


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
            effective = effective / clusters.inflation
        rate = floats(counts.joint_predicted) / given
        centre = (effective * rate + z * z / 2.0) / (effective + z * z)
        reach = z * np.sqrt(centre * (1.0 - centre) / (effective + z * z))
    return np.clip(centre - reach, 0.0, 1.0), np.clip(centre + reach, 0.0, 1.0)


def delta_p(counts: PairCounts) -> Floats:
    r"""Two-sided p-value of :math:`\Delta = 0` for every pair.

    Of the records of a group whose prediction is wrong, as many gain the label as lose it when nothing is
    amplified: McNemar's test, exact with mid-p. With weights or soft predictions the normal approximation
    :math:`\sum w d / \sqrt{\sum w^2 d^2}`.

    References
    ----------
    Fagerland, M. W., Lydersen, S. and Laake, P. (2013). The McNemar test for binary matched-pairs data: mid-p
    and asymptotic are better than exact conditional. BMC Medical Research Methodology 13.
    """
    from scipy.special import ndtr

    held, one = floats(counts.joint_predicted), floats(counts.joint_truth)
    if counts.spread is not None:
        _, _, second = counts.moments()
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(second > 0, (held - one) / np.sqrt(second), 0.0)
        return np.asarray(2.0 * ndtr(-np.abs(z)))
    both = floats(counts.joint_both)
    return binomial_mid_p(held - both, held + one - 2.0 * both, np.array(0.5))


def rate_p(counts: PairCounts, rates: Floats) -> Floats:
    """Two-sided p-value that ``P(o_hat | g)`` is the rate of a base that is not estimated here."""
    from scipy.special import ndtr

    given = np.broadcast_to(floats(counts.given), rates.shape)
    held = floats(counts.joint_predicted)
    known = (rates >= 0) & (rates <= 1) & (given > 0)
    chance = np.where(known, rates, 0.5)
    if counts.spread is None:
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
    """How much clusters widen each pair's error: by the root of ``inflation``, at ``freedom`` degrees of freedom."""

    inflation: Floats
    freedom: Floats

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
    given, held = bags.whole.given, floats(bags.whole.joint_predicted)
    if against_truth:
        zero, first, second = bags.whole.moments()
        apart = second - 2.0 * centre * first + centre**2 * zero
    else:
        apart = held * (1.0 - 2.0 * centre) + centre**2 * np.broadcast_to(floats(given), held.shape)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(apart > 0, together / apart, 1.0)
    filled = np.broadcast_to((size > 0).sum(axis=0), centre.shape)
    return ClusterEffect(np.maximum(ratio, 1.0), np.maximum(filled - 1.0, 1.0))
