"""Counting wide 0/1 outcomes by adding rows in 8-bit accumulators, with numpy alone."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

# An 8-bit accumulator holds 255 records before it must be emptied.
BURST = 255


def column_sums(rows: NDArray[np.uint8]) -> NDArray[np.int64]:
    """Sum 0/1 rows: 255 slabs of them are added as bytes, whole slabs at a time."""
    count, width = rows.shape
    depth = count // BURST
    total = rows[BURST * depth :].sum(axis=0, dtype=np.int64)
    if depth:
        slabs = rows[: BURST * depth].reshape(BURST, depth * width)
        total += np.add.reduce(slabs, axis=0, dtype=np.uint8).reshape(depth, width).sum(axis=0, dtype=np.int64)
    return total


def row_sums(
    held: tuple[NDArray[np.int64], NDArray[np.int64]],
    groups: int,
    truth: NDArray[Any],
    predicted: NDArray[Any],
    exclusive: bool,
) -> NDArray[np.int64]:
    """The sums of truth, one, prediction and both over the records of each given label, and of all in a last row.

    Parameters
    ----------
    held : pair of ndarray
        Row and given label of every given label held.
    groups : int
        Number of given labels.
    truth, predicted : ndarray of shape (records, labels), uint8
    exclusive : bool
        Whether a record holds one given label at most.

    Returns
    -------
    ndarray of shape (groups + 1, 3 * labels + 1)
    """
    rows, labels = held
    order = np.argsort(labels.astype(np.uint16) if groups < 1 << 16 else labels, kind="stable")
    edges = np.searchsorted(labels[order], np.arange(groups + 1))
    sums = []
    for g in range(groups):
        mine = rows[order[edges[g] : edges[g + 1]]]
        sums.append(_sums(truth[mine], predicted[mine]))
    if len(rows) == len(truth) and (exclusive or np.array_equal(rows, np.arange(len(rows)))):
        return np.stack([*sums, np.sum(sums, axis=0)])
    return np.stack([*sums, _sums(truth, predicted)])


def _sums(truth: NDArray[Any], predicted: NDArray[Any]) -> NDArray[np.int64]:
    parts = column_sums(truth), np.array([len(truth)]), column_sums(predicted), column_sums(truth & predicted)
    return np.concatenate(parts)
