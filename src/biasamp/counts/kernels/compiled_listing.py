"""Counting labels of which a record has few among very many, in numba."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def add_listed(
    columns: NDArray[np.bool_], row: Index, label: Index, other_row: Index, other: Index, table: Index
) -> None:
    """Add records to the totals of their keys.

    Parameters
    ----------
    columns : ndarray of shape (records, keys)
        Whether a record counts for a key.
    row, label, other_row, other : ndarray
        Row and label of every label held on the first and on the second side, sorted by row and label.
    table : ndarray of shape (3 * labels + 1, keys)
        Totals of the first side, of one, of the second side, and of labels held on both. Keys lie side by side, so that
        those of one record are in one place of memory.
    """
    width = (table.shape[0] - 1) // 3
    mine = np.empty(columns.shape[1], dtype=np.int64)
    at = there = 0
    for i in range(len(columns)):
        many = 0
        for key in range(columns.shape[1]):
            if columns[i, key]:
                mine[many] = key
                many += 1
                table[width, key] += 1
        start = at
        while at < len(row) and row[at] == i:
            for k in range(many):
                table[label[at], mine[k]] += 1
            at += 1
        while there < len(other_row) and other_row[there] == i:
            held = other[there]
            for k in range(many):
                table[width + 1 + held, mine[k]] += 1
            while start < at and label[start] < held:
                start += 1
            if start < at and label[start] == held:
                for k in range(many):
                    table[2 * width + 1 + held, mine[k]] += 1
            there += 1
