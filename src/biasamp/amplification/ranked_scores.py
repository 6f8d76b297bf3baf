"""Scores in their order: all thresholds of a column of scores for the cost of one sort."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Fewer scores than this are sorted at once.
_WORTH_BUCKETS = 1 << 14


def ascending(scores: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The order of the scores, and the scores in it.

    First a rough order by 16 bits, which is linear, then a stable sort that profits of it.
    """
    low, high = scores.min(), scores.max()
    if len(scores) < _WORTH_BUCKETS or not np.isfinite(high - low) or high == low:
        order = np.argsort(scores, kind="stable")
        return order, scores[order]
    bucket = scores - low
    bucket *= 65535.0 / (high - low)
    rough = np.argsort(bucket.astype(np.uint16), kind="stable")
    nearly = scores[rough]
    fine = np.argsort(nearly, kind="stable")
    return rough[fine], nearly[fine]


def edges_of(ranked: Floats) -> NDArray[np.int64]:
    """Where each distinct score begins among ascending ones, and their number as the place above all."""
    return np.concatenate([[0], np.flatnonzero(ranked[1:] != ranked[:-1]) + 1, [len(ranked)]])


def thresholds_of(ranked: Floats, edges: NDArray[np.int64]) -> Floats:
    """Every distinct score, and one above all."""
    out = np.empty(len(edges))
    out[:-1] = ranked if len(edges) == len(ranked) + 1 else ranked[edges[:-1]]
    out[-1] = np.nextafter(ranked[-1], np.inf)
    return out


def at_or_above(values: NDArray[Any], edges: NDArray[np.int64]) -> NDArray[Any]:
    """Sums of the values from each edge to the end: whole numbers of flags, floats of weights."""
    flags = values.dtype.kind == "b"
    small = np.int32 if len(values) < 1 << 31 else np.int64
    sums = np.empty(len(values) + 1, dtype=small if flags else np.float64)
    sums[0] = 0
    np.cumsum(values, out=sums[1:])
    if len(edges) < len(sums):
        sums = sums[edges]
    out: NDArray[Any] = sums[-1] - sums
    return out
