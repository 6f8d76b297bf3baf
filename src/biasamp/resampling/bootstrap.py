"""Intervals from the values of resamples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


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
