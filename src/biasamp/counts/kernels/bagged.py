"""Counting bags of records in numba."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_bagged(
    rows: NDArray[np.int64],
    keys: NDArray[np.int64],
    truth: NDArray[np.uint8],
    predicted: NDArray[np.uint8],
    table: NDArray[np.int64],
) -> None:
    """Add the truth of each row, one, its prediction and their agreement to the totals of its key."""
    width = truth.shape[1]
    for k in range(len(rows)):
        i, mine = rows[k], table[keys[k]]
        for j in range(width):
            mine[j] += truth[i, j]
        mine[width] += 1
        for j in range(width):
            mine[width + 1 + j] += predicted[i, j]
        for j in range(width):
            mine[2 * width + 1 + j] += truth[i, j] & predicted[i, j]
