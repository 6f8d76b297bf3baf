"""The loops of naive Bayes over yes/no labels in numba; imported only where it is installed and pays."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np
from numpy.typing import NDArray

# An 8-bit accumulator holds 255 records before it must be emptied.
_BURST = 255


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_seen(
    codes: NDArray[np.uint8],
    records: NDArray[np.int64],
    target: NDArray[Any],
    first: NDArray[np.int64],
    seen: NDArray[np.int64],
) -> None:
    """Add some records to the counts (classes, labels) of labels with classes, a burst of bytes at a time.

    Class ``target[i, v]`` of variable ``v`` is row ``first[v] + target[i, v]``.
    """
    width = codes.shape[1]
    small = np.zeros(seen.shape, dtype=np.uint8)
    for start in range(0, len(records), _BURST):
        small[:] = 0
        for k in range(start, min(start + _BURST, len(records))):
            i = records[k]
            for v in range(len(first)):
                group = small[first[v] + target[i, v]]
                for j in range(width):
                    group[j] = np.uint8(group[j] + codes[i, j])
        for c in range(seen.shape[0]):
            for j in range(width):
                seen[c, j] += small[c, j]


# Weights are whole numbers whose sums are exact, so that the order of adding, which vector instructions change, is free.
@numba.njit(cache=True, nogil=True, fastmath={"reassoc"})  # type: ignore[untyped-decorator]
def add_evidence(
    codes: NDArray[np.uint8],
    records: NDArray[np.int64],
    weights: NDArray[np.float64],
    evidence: NDArray[np.float64],
) -> None:
    """Add the weights (classes, labels) of the labels that each record has to its evidence (records, classes)."""
    for k in range(len(records)):
        i = records[k]
        for c in range(weights.shape[0]):
            total = 0.0
            for j in range(weights.shape[1]):
                total += codes[i, j] * weights[c, j]
            evidence[k, c] += total
