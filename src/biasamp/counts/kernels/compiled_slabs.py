"""The row-adding kernel in numba: additions of bytes, which the compiler turns into vector instructions."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

from .slabs import BURST


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_rows(
    rows: NDArray[np.int64],
    labels: NDArray[np.int64],
    truth: NDArray[np.uint8],
    predicted: NDArray[np.uint8],
    total: NDArray[np.int64],
    sizes: NDArray[np.int64],
) -> None:
    """Add the truth, prediction and agreement of each row to the totals of the given label it holds, and count it."""
    width = truth.shape[1]
    small = np.zeros((total.shape[0], 3 * width), dtype=np.uint8)
    start = 0
    while start < len(rows):
        stop = min(start + BURST, len(rows))
        small[:] = 0
        for k in range(start, stop):
            i = rows[k]
            group = small[labels[k]]
            sizes[labels[k]] += 1
            # Loops of their own, and not a function: only so are they turned into vector instructions.
            for j in range(width):
                group[j] = np.uint8(group[j] + truth[i, j])
            for j in range(width):
                group[width + j] = np.uint8(group[width + j] + predicted[i, j])
            for j in range(width):
                group[2 * width + j] = np.uint8(group[2 * width + j] + (truth[i, j] & predicted[i, j]))
        for g in range(total.shape[0]):
            for j in range(3 * width):
                total[g, j] += small[g, j]
        start = stop
