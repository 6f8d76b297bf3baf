"""The walk along the prefixes of itemsets in numba."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
# A lot has fewer records than these numbers can count; half the bytes pass through memory.
Records = NDArray[np.int32]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def _room(records: Records, needed: int) -> Records:
    """The same records in an array with room for so many."""
    if needed <= len(records):
        return records
    larger = np.empty(max(needed, 2 * len(records)), dtype=np.int32)
    larger[: len(records)] = records
    return larger


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def walk(items: Index, sizes: Index, postings: Index, edges: Index, flags: NDArray[np.bool_]) -> tuple[Index, Records]:
    """The records that have all labels of each itemset: how many, and one after another.

    Parameters
    ----------
    items : ndarray of shape (itemsets, most labels)
        The labels of each itemset, of which the first ``sizes`` count; those that begin alike follow each other.
    postings : ndarray
        The records of label ``i`` are ``postings[edges[i]:edges[i + 1]]``.
    flags : ndarray of shape (labels, records)
        Whether a record has a label.
    """
    # What the prefixes of the present itemset left over, one after another.
    stack = np.empty(1024, dtype=np.int32)
    ends = np.zeros(items.shape[1] + 1, dtype=np.int64)
    depth = 0
    found = np.empty(1024, dtype=np.int32)
    held = np.zeros(len(sizes), dtype=np.int64)
    total = 0
    for k in range(len(sizes)):
        shared = 0
        while shared < min(depth, sizes[k]) and items[k - 1, shared] == items[k, shared]:
            shared += 1
        for depth in range(shared, sizes[k]):
            label, end = items[k, depth], ends[depth]
            if depth == 0:
                first, last = edges[label], edges[label + 1]
                stack = _room(stack, last - first)
                for at in range(last - first):
                    stack[at] = postings[first + at]
                ends[1] = last - first
                continue
            first = ends[depth - 1]
            stack = _room(stack, end + end - first)
            mine = flags[label]
            write = end
            for at in range(first, end):
                record = stack[at]
                stack[write] = record
                write += mine[record]
            ends[depth + 1] = write
        depth = sizes[k]
        first, last = ends[depth - 1], ends[depth]
        held[k] = last - first
        found = _room(found, total + held[k])
        found[total : total + held[k]] = stack[first:last]
        total += held[k]
    return held, found[:total]


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def transposed(starts: Index, sizes: Index, records: Records, many: int) -> tuple[Index, Index]:
    """The itemsets of each of so many records, ascending, and where those of each begin.

    The records of itemset ``i`` are ``records[starts[i]:starts[i] + sizes[i]]``.
    """
    indptr = np.zeros(many + 1, dtype=np.int64)
    for record in records:
        indptr[record + 1] += 1
    for i in range(many):
        indptr[i + 1] += indptr[i]
    place = indptr[:-1].copy()
    out = np.empty(len(records), dtype=np.int64)
    for i in range(len(starts)):
        for at in range(starts[i], starts[i] + sizes[i]):
            record = records[at]
            out[place[record]] = i
            place[record] += 1
    return indptr, out
