"""Counting by listing the pairs of labels that each record holds: for many labels, few a record."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fixed import Count, exact_sums

Held = tuple[NDArray[np.int64], NDArray[np.int64]]


def cross(left: Held, right: Held, shape: tuple[int, int], weights: NDArray[Any] | None = None) -> Count:
    """Sum weights over records for every pair of a left and a right label that one record holds.

    Parameters
    ----------
    left, right : pair of ndarray
        Row and label of every label held, sorted by row.
    shape : tuple of int
        Number of left and of right labels.
    """
    rows, places = _pairs(left, right, shape)
    return _sum(places, shape[0] * shape[1], None if weights is None else weights[rows], shape)


def marginal(held: Held, width: int, weights: NDArray[Any] | None = None) -> Count:
    """Sum weights over records for every label."""
    rows, labels = held
    return _sum(labels, width, None if weights is None else weights[rows], (width,))


def both(left: Held, right: Held, width: int) -> Held:
    """What both sides hold of the same labels."""
    mine = left[0] * width + left[1]
    theirs = right[0] * width + right[1]
    shared = np.intersect1d(mine, theirs, assume_unique=True)
    return shared // max(width, 1), shared % max(width, 1)


def _pairs(left: Held, right: Held, shape: tuple[int, int]) -> Held:
    """Row and flat pair number of every (left, right) pair that a record holds."""
    rows = int(max(left[0].max(initial=-1), right[0].max(initial=-1))) + 1
    per_row = np.bincount(right[0], minlength=rows)
    first = np.concatenate([[0], np.cumsum(per_row)])
    sizes = per_row[left[0]]
    ends = np.cumsum(sizes)
    total = int(ends[-1]) if len(ends) else 0
    within = np.arange(total) - np.repeat(ends - sizes, sizes)
    partner = right[1][np.repeat(first[left[0]], sizes) + within]
    return np.repeat(left[0], sizes), np.repeat(left[1], sizes) * shape[1] + partner


def _sum(places: NDArray[np.int64], size: int, weights: NDArray[Any] | None, shape: tuple[int, ...]) -> Count:
    if weights is None:
        return np.bincount(places, minlength=size).reshape(shape)
    if weights.dtype.kind == "f":
        return exact_sums(
            weights,
            lambda limb, rows: np.asarray(np.bincount(places[rows], limb, minlength=size), np.float64).reshape(shape),
        )
    total = np.zeros(size, dtype=np.int64)
    np.add.at(total, places, weights)
    return total.reshape(shape)
