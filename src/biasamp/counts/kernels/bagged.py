"""Counting bags of records in numba."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _add(mine: NDArray[np.int64], truth: NDArray[np.uint8], predicted: NDArray[np.uint8]) -> None:
    """Add the truth of a record, one, its prediction and their agreement."""
    width = len(truth)
    for j in range(width):
        mine[j] += truth[j]
    mine[width] += 1
    for j in range(width):
        mine[width + 1 + j] += predicted[j]
    for j in range(width):
        mine[2 * width + 1 + j] += truth[j] & predicted[j]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_listed(
    order: NDArray[np.int64],
    bag: NDArray[np.int64],
    ends: NDArray[np.int64],
    labels: NDArray[np.int64],
    truth: NDArray[np.uint8],
    predicted: NDArray[np.uint8],
    table: NDArray[np.int64],
) -> None:
    """Add each record to the totals (bags, given labels and everyone, columns) of its bag.

    The given labels of record i are ``labels[ends[i]:ends[i + 1]]``.
    """
    last = table.shape[1] - 1
    for k in range(len(order)):
        i = order[k]
        for e in range(ends[i], ends[i + 1]):
            _add(table[bag[i], labels[e]], truth[i], predicted[i])
        _add(table[bag[i], last], truth[i], predicted[i])


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_laid_out(
    order: NDArray[np.int64],
    bag: NDArray[np.int64],
    given: NDArray[np.uint8],
    truth: NDArray[np.uint8],
    predicted: NDArray[np.uint8],
    table: NDArray[np.int64],
) -> None:
    """As :func:`add_listed`, with the given labels as a 0/1 matrix."""
    last = table.shape[1] - 1
    for k in range(len(order)):
        i = order[k]
        for g in range(last):
            if given[i, g]:
                _add(table[bag[i], g], truth[i], predicted[i])
        _add(table[bag[i], last], truth[i], predicted[i])
