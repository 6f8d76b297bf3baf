"""Counting by matrix product: left labels against right columns, a few thousand records at a time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fixed import EXACT, Count, concatenate, exact_sums

# Big enough to amortise the call, small enough to stay in cache; float32 counts are exact up to 2**24.
CHUNK = 1024


def cross(left: NDArray[Any], right: NDArray[Any], weights: NDArray[Any] | None = None) -> Count:
    """Sum ``w * left[:, i] * right[:, j]`` over the records of one chunk.

    Parameters
    ----------
    left, right : ndarray of shape (records, labels)
        0/1 (uint8) or probabilities (float64).
    weights : ndarray of shape (records,), optional
        Integers or floats.
    """
    if left.dtype.kind == "f":
        return _soft_left(left, right, weights)
    if right.dtype.kind != "f" and (weights is None or weights.dtype.kind != "f"):
        return _whole(left, right, weights)
    values = right.astype(np.float64)
    if weights is not None:
        values = values * weights[:, None]
    transposed = np.ascontiguousarray(left.T, dtype=np.float64)
    return exact_sums(values, lambda part, rows: transposed[:, rows] @ part)


def _whole(left: NDArray[Any], right: NDArray[Any], weights: NDArray[Any] | None) -> NDArray[np.int64]:
    if weights is None:
        product = left.T.astype(np.float32) @ right.astype(np.float32)
        return product.astype(np.int64)
    if float(weights.sum()) >= EXACT:
        exact: NDArray[np.int64] = left.T.astype(np.int64) @ (right.astype(np.int64) * weights[:, None])
        return exact
    weighted = left.T.astype(np.float64) * weights
    return (weighted @ right.astype(np.float64)).astype(np.int64)


def _soft_left(left: NDArray[Any], right: NDArray[Any], weights: NDArray[Any] | None) -> Count:
    """Both sides soft: the product of each pair is formed record by record, then summed exactly."""
    rows: list[Count] = []
    for i in range(left.shape[1]):
        chance = left[:, i] if weights is None else left[:, i] * weights
        values = right * chance[:, None]
        rows.append(exact_sums(values, lambda part, _: part.sum(axis=0)[None, :]))
    if not rows:
        return np.zeros((0, right.shape[1]), dtype=np.int64)
    return concatenate(rows)
