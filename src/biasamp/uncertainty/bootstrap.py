"""Intervals from the values of resamples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def percentile_interval(values: NDArray[np.float64], level: float) -> tuple[float, float]:
    """The middle ``level`` of the resampled values; resamples without a value are left out."""
    there = values[~np.isnan(values)]
    if not len(there):
        return float("nan"), float("nan")
    tail = (1.0 - level) / 2.0
    low, high = np.quantile(there, [tail, 1.0 - tail])
    return float(low), float(high)
