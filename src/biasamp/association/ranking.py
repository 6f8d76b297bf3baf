"""Ranks, and how far two rankings agree."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# Blocks this small are compared pair by pair.
_BLOCK = 64


def competition_ranks(values: Array, ranked: NDArray[np.bool_]) -> Array:
    """1 for the largest value; equal values share the better rank; NaN for what is not ranked.

    >>> import numpy as np
    >>> competition_ranks(np.array([1.0, 3.0, 3.0, 2.0]), np.array([True, True, True, False])).tolist()
    [3.0, 1.0, 1.0, nan]
    """
    out = np.full(len(values), np.nan)
    there = ranked & ~np.isnan(values)
    kept = values[there]
    ordered = np.sort(kept)
    out[there] = len(kept) - np.searchsorted(ordered, kept, side="right") + 1
    return out


def kept_order(a: Array, b: Array) -> float:
    """Share of pairs that two rankings put in the same order, ties by both included; NaN below two items.

    >>> import numpy as np
    >>> kept_order(np.array([1.0, 2.0, 3.0]), np.array([1.0, 3.0, 2.0]))
    0.6666666666666666
    """
    there = ~(np.isnan(a) | np.isnan(b))
    a, b = a[there], b[there]
    n = len(a)
    if n < 2:
        return float("nan")
    order = np.lexsort((b, a))
    a, b = a[order], b[order]
    total = n * (n - 1) // 2
    tied_a, tied_b = _tied_pairs(a), _tied_pairs(np.sort(b))
    same = np.ones(n - 1, dtype=bool)
    same &= (a[1:] == a[:-1]) & (b[1:] == b[:-1])
    tied_both = _run_pairs(same)
    # Sorted by a and then b, the inversions of b are the pairs that a and b order in opposite ways.
    opposite = _inversions(b)
    kept = total - opposite - (tied_a - tied_both) - (tied_b - tied_both)
    return kept / total


def _tied_pairs(ordered: Array) -> int:
    return _run_pairs(ordered[1:] == ordered[:-1])


def _run_pairs(same: NDArray[np.bool_]) -> int:
    edges = np.flatnonzero(np.concatenate([[True], ~same, [True]]))
    sizes = np.diff(edges)
    return int((sizes * (sizes - 1) // 2).sum())


def _inversions(values: Array) -> int:
    """Pairs i < j with values[i] > values[j]."""
    n = len(values)
    if n <= _BLOCK:
        return int(np.triu(values[:, None] > values[None, :], 1).sum())
    half = n // 2
    left, right = values[:half], values[half:]
    across = half * len(right) - int(np.searchsorted(np.sort(left), right, side="right").sum())
    return _inversions(left) + _inversions(right) + across
