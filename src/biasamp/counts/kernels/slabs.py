"""Counting wide 0/1 outcomes by adding rows in 8-bit accumulators: numpy alone, or numba where installed."""

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


def pair_tables(
    held: tuple[NDArray[np.int64], NDArray[np.int64]],
    groups: int,
    truth: NDArray[Any],
    predicted: NDArray[Any],
    accelerate: bool,
    exclusive: bool,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The tables ``C(g, o)``, ``C(g, o_hat)``, ``C(g, o and o_hat)``, with the marginals in a last row.

    Parameters
    ----------
    held : pair of ndarray
        Row and given label of every given label held.
    groups : int
        Number of given labels.
    truth, predicted : ndarray of shape (records, labels), uint8
    accelerate : bool
        Whether to use numba.
    exclusive : bool
        Whether a record holds one given label at most.

    Returns
    -------
    tables : ndarray of shape (groups + 1, 3, labels)
    sizes : ndarray of shape (groups + 1,)
        ``C(g)``, with the number of records last.
    """
    rows, labels = held
    width = truth.shape[1]
    total = np.zeros((groups + 1, 3, width), dtype=np.int64)
    sizes = np.zeros(groups + 1, dtype=np.int64)
    if accelerate:
        from .compiled_slabs import add_rows

        truth, predicted = np.ascontiguousarray(truth), np.ascontiguousarray(predicted)
        add_rows(rows, labels, truth, predicted, total.reshape(groups + 1, 3 * width), sizes)
    else:
        order = np.argsort(labels.astype(np.uint16) if groups < 1 << 16 else labels, kind="stable")
        edges = np.searchsorted(labels[order], np.arange(groups + 1))
        for g in range(groups):
            mine = rows[order[edges[g] : edges[g + 1]]]
            _add(total[g], truth[mine], predicted[mine])
        sizes[:groups] = np.diff(edges)
    if len(rows) == len(truth) and (exclusive or np.array_equal(rows, np.arange(len(rows)))):
        total[groups] = total[:groups].sum(axis=0)
    else:
        _add(total[groups], truth, predicted)
    sizes[groups] = len(truth)
    return total, sizes


def _add(total: NDArray[np.int64], truth: NDArray[Any], predicted: NDArray[Any]) -> None:
    total[0] += column_sums(truth)
    total[1] += column_sums(predicted)
    total[2] += column_sums(truth & predicted)
