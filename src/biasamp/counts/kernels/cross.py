"""Sums over records for pairs of labels: by matrix product, by bag, by adding rows of bytes, or by listing pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fixed import EXACT, Count, Fixed, concatenate, exact_sums, limbs

Index = NDArray[np.int64]
Held = tuple[Index, Index]
Weights = NDArray[Any] | None

# Sums of more keys than so many for each record are mostly of nothing.
_SPARSE = 4
# An 8-bit accumulator holds 255 records before it must be emptied.
BURST = 255


def by_product(left: NDArray[Any], right: NDArray[Any], weights: Weights = None) -> Count:
    """Sum ``w * left[:, i] * right[:, j]`` over the records of one chunk.

    Parameters
    ----------
    left, right : ndarray of shape (records, labels)
        0/1 (uint8) or probabilities (float64). A chunk has fewer than ``2**24`` records: float32 counts are exact.
    weights : ndarray of shape (records,), optional
        Integers or floats.
    """
    if left.dtype.kind == "f":
        # Both sides soft: the product of each pair is formed record by record, then summed exactly.
        chances = left if weights is None else left * weights[:, None]
        none = np.zeros((0, right.shape[1]), dtype=np.int64)
        return concatenate([none, *(_column_sums(right * chance[:, None]) for chance in chances.T)])
    if right.dtype.kind != "f" and (weights is None or weights.dtype.kind != "f"):
        return _whole_product(left, right, weights)
    values = right.astype(np.float64)
    if weights is not None:
        values = values * weights[:, None]
    transposed = np.ascontiguousarray(left.T, dtype=np.float64)
    return exact_sums(values, lambda part, rows: transposed[:, rows] @ part)


def _column_sums(values: NDArray[np.float64]) -> Count:
    return exact_sums(values, lambda part, _: part.sum(axis=0)[None, :])


def _whole_product(left: NDArray[Any], right: NDArray[Any], weights: Weights) -> Index:
    if weights is None:
        product = left.T.astype(np.float32) @ right.astype(np.float32)
        return product.astype(np.int64)
    if float(weights.sum()) >= EXACT:
        exact: Index = left.T.astype(np.int64) @ (right.astype(np.int64) * weights[:, None])
        return exact
    weighted = left.T.astype(np.float64) * weights
    return (weighted @ right.astype(np.float64)).astype(np.int64)


def sums_by(
    keys: Index, groups: int, values: NDArray[Any], weights: Weights = None, rows: Index | slice = slice(None)
) -> Count:
    """Sum rows of ``values`` over the records of each key, exactly: whole numbers, or fractions in limbs.

    Parameters
    ----------
    keys : ndarray of shape (entries,)
        Which of ``groups`` sums each entry goes to.
    values : ndarray of shape (records, columns)
    weights : ndarray of shape (records,), optional
    rows : ndarray of shape (entries,), optional
        The record of each entry; by default there is one entry per record.
    """
    values = (values if weights is None else values * weights[:, None])[rows]
    if values.dtype.kind == "f":
        nothing = np.zeros((groups, values.shape[1]), dtype=np.int64)
        return Fixed(*(nothing if limb is None else _whole_sums(keys, groups, limb) for limb in limbs(values)))
    return _whole_sums(keys, groups, values)


def _whole_sums(keys: Index, groups: int, values: NDArray[Any]) -> Index:
    out = np.zeros((groups, values.shape[1]), dtype=np.int64)
    used: Index | slice = slice(None)
    if groups > _SPARSE * len(keys):
        # Most sums are of nothing: only the others are made.
        used, keys = np.unique(keys, return_inverse=True)
        keys, groups = keys.reshape(-1), len(used)
    for column in range(values.shape[1]):
        # Whole numbers whose sums floats hold exactly.
        out[used, column] = np.bincount(keys, values[:, column], minlength=groups)
    return out


def by_listing(left: Held, right: Held, shape: tuple[int, int], weights: Weights = None) -> Count:
    """Sum weights over records for every pair of a left and a right label that one record holds.

    Parameters
    ----------
    left, right : pair of ndarray
        Row and label of every label held, sorted by row.
    shape : tuple of int
        Number of left and of right labels.
    """
    many = int(max(left[0].max(initial=-1), right[0].max(initial=-1))) + 1
    per_row = np.bincount(right[0], minlength=many)
    first = np.concatenate([[0], np.cumsum(per_row)])
    sizes = per_row[left[0]]
    within = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    partner = right[1][np.repeat(first[left[0]], sizes) + within]
    places = np.repeat(left[1], sizes) * shape[1] + partner
    own = None if weights is None else weights[np.repeat(left[0], sizes)]
    return sum_at(places, shape, own)


def indicator(held: Held, shape: tuple[int, int]) -> Any:
    """A sparse matrix with a one for every label held, sorted by row and label."""
    from scipy.sparse import csr_array

    indptr = np.concatenate([[0], np.cumsum(np.bincount(held[0], minlength=shape[0]))])
    return csr_array((np.ones(len(held[1])), held[1], indptr), shape=shape)


def marginal(held: Held, width: int, weights: Weights = None) -> Count:
    """Sum weights over records for every label."""
    return sum_at(held[1], (width,), None if weights is None else weights[held[0]])


def held_by_both(left: Held, right: Held, width: int) -> Held:
    """What both sides hold of the same labels."""
    mine, theirs = (row * width + label for row, label in (left, right))
    shared = np.intersect1d(mine, theirs, assume_unique=True)
    return shared // max(width, 1), shared % max(width, 1)


def sum_at(places: Index, shape: tuple[int, ...], weights: Count | NDArray[np.float64] | None) -> Count:
    """Sum weights (each 1 without any) over the entries of each place in an array of this shape."""
    size = int(np.prod(shape))
    if weights is None:
        return np.bincount(places, minlength=size).reshape(shape)
    if isinstance(weights, Fixed):
        return weights.each(lambda limb: _added_at(places, shape, limb))
    if weights.dtype.kind == "f":
        return exact_sums(
            weights.astype(np.float64, copy=False),
            lambda limb, rows: np.asarray(np.bincount(places[rows], limb, minlength=size), np.float64).reshape(shape),
        )
    return _added_at(places, shape, weights.astype(np.int64, copy=False))


def _added_at(places: Index, shape: tuple[int, ...], weights: Index) -> Index:
    out = np.zeros(int(np.prod(shape)), dtype=np.int64)
    np.add.at(out, places, weights)
    return out.reshape(shape)


def column_sums(rows: NDArray[np.uint8]) -> Index:
    """Sum 0/1 rows: 255 slabs of them are added as bytes, whole slabs at a time."""
    if rows.flags.f_contiguous:
        # Rows of columns that lie together would have to be copied.
        return np.array([np.count_nonzero(column) for column in rows.T], dtype=np.int64)
    count, width = rows.shape
    depth = count // BURST
    total = rows[BURST * depth :].sum(axis=0, dtype=np.int64)
    if depth:
        slabs = rows[: BURST * depth].reshape(BURST, depth * width)
        total += np.add.reduce(slabs, axis=0, dtype=np.uint8).reshape(depth, width).sum(axis=0, dtype=np.int64)
    return total


def row_sums(
    held: Held,
    groups: int,
    truth: NDArray[Any],
    predicted: NDArray[Any],
    exclusive: bool,
) -> Index:
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


def _sums(truth: NDArray[Any], predicted: NDArray[Any]) -> Index:
    parts = column_sums(truth), np.array([len(truth)]), column_sums(predicted), column_sums(truth & predicted)
    return np.concatenate(parts)
