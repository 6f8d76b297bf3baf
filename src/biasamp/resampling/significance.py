"""Whether a pair changed at all: tests that delta is 0, and what clusters do to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.scores import change, there
from biasamp.data import Evaluation

Floats = NDArray[np.float64]

# Records of whole clusters that are looked at together.
_CHUNK = 8192


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


def cluster_effect(evaluation: Evaluation, delta: Floats, against_truth: bool = True) -> ClusterEffect | None:
    r"""The design effect of every pair where records come in clusters.

    The variance of delta with the residuals of a cluster summed before squaring, over the variance with each
    record by itself; never below 1. None without clusters.
    """
    if evaluation.clusters is None:
        return None
    _, cluster = np.unique(evaluation.clusters, return_inverse=True)
    order = np.argsort(cluster, kind="stable")
    cluster, sorted_records = cluster[order], evaluation.take(order)
    first = np.flatnonzero(np.concatenate([[True], np.diff(cluster) > 0]))
    ends = np.append(first[1:], len(cluster))
    delta = np.nan_to_num(delta)
    together, apart = np.zeros(delta.shape), np.zeros(delta.shape)
    clusters = np.zeros((delta.shape[0], 1))
    complete = not (evaluation.truth.missing or evaluation.predicted.missing)
    place = 0
    while place < len(first):
        last = int(np.searchsorted(ends, first[place] + _CHUNK))
        last = max(min(last, len(first)), place + 1)
        start, stop = int(first[place]), int(ends[last - 1])
        moved = change(sorted_records, start, stop, against_truth)
        moved = np.asarray(moved.todense() if hasattr(moved, "todense") else moved, dtype=np.float64)
        known = 1.0 if complete else there(sorted_records, start, stop)
        weights = 1.0 if evaluation.weights is None else sorted_records.weights[start:stop, None]  # type: ignore[index]
        held = sorted_records.given.rows(start, stop)
        edges = first[place:last] - start
        for g in range(delta.shape[0]):
            if not held[:, g].any():
                continue
            rest = held[:, g : g + 1] * (moved - known * delta[g]) * weights
            together[g] += (np.add.reduceat(rest, edges, axis=0) ** 2).sum(axis=0)
            apart[g] += (rest**2).sum(axis=0)
            clusters[g] += (np.add.reduceat(held[:, g].astype(np.int64), edges) > 0).sum()
        place = last
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = np.where(apart > 0, together / apart, 1.0)
    return ClusterEffect(np.maximum(ratio, 1.0), np.broadcast_to(np.maximum(clusters - 1.0, 1.0), delta.shape))
