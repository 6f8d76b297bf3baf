"""An interval for each pair, from its counts alone."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts

from .significance import ClusterEffect

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
