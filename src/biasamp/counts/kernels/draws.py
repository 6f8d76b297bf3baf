"""Poisson weights in numba: hash and lookup in one pass over the records."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def fill(
    keys: NDArray[np.uint64],
    streams: NDArray[np.uint64],
    table: NDArray[np.float32],
    out: NDArray[np.float32],
) -> None:
    """Fill ``out`` (resamples, records): four rows from the 16-bit words of one hash, lowest first."""
    golden = np.uint64(0x9E3779B97F4A7C15)
    first = np.uint64(0xBF58476D1CE4E5B9)
    second = np.uint64(0x94D049BB133111EB)
    word = np.uint64(0xFFFF)
    resamples = out.shape[0]
    for i in range(len(streams)):
        rows = min(4, resamples - 4 * i)
        for j in range(len(keys)):
            z = (keys[j] ^ streams[i]) + golden
            z = (z ^ (z >> np.uint64(30))) * first
            z = (z ^ (z >> np.uint64(27))) * second
            z = z ^ (z >> np.uint64(31))
            for k in range(rows):
                out[4 * i + k, j] = table[z & word]
                z = z >> np.uint64(16)
