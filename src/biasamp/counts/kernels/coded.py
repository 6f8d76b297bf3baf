"""Sums over records by counting codes: one pass over columns, no sorting and no matrix products.

A record's bag, given label, truth and prediction are one whole number; how often each number occurs says all. Whole
numbers are counted, so the sums are those of every other kernel.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]
Bytes = NDArray[np.uint8]

# Cells that are counted at once fit a processor's cache.
_AT_ONCE = 1 << 18
# Tables of more places than so many for each record are mostly empty, and sorting is quicker.
_SPARSE = 8
# Records that are turned from rows to columns at once: neighbours in both fit into cache.
_TURNED = 512


def worth_coding(places: int, records: int) -> bool:
    """Whether so many places are counted for so many records by their codes."""
    return places <= max(_SPARSE * records, _AT_ONCE >> 2)


def pairs_of_codes(place: Index, places: int, truth: Index, predicted: Index, width: int) -> Index:
    """Count truth and prediction of one variable at every place.

    Parameters
    ----------
    place : ndarray of shape (records,)
        Where each record is counted: its bag and its given label, as one number below ``places``.
    truth, predicted : ndarray of shape (records,)
        Codes below ``width``; -1 where a record has no label.

    Returns
    -------
    ndarray of shape (places, 3 * width + 1)
        Records by truth, all of them, records by prediction, and records by label where truth and prediction agree.
    """
    (one, held), size = _from_zero(truth, predicted, width)
    skipped = size - width
    if places * size * size <= _AT_ONCE:
        # The place comes last, so that sums over truth or prediction are of whole stretches of memory.
        joint = _counted((one * size + held) * places + place, places * size * size).reshape(size, size, places)
        by_truth, by_prediction = joint.sum(axis=1), joint.sum(axis=0)
        agreeing = joint[np.arange(skipped, size), np.arange(skipped, size)]
    else:
        by_truth, by_prediction = (
            _counted(codes * places + place, places * size).reshape(size, places) for codes in (one, held)
        )
        same = truth == predicted
        agreeing = _counted(one[same] * places + place[same], places * size).reshape(size, places)[skipped:]
    everyone = by_truth.sum(axis=0, keepdims=True)
    return np.concatenate([by_truth[skipped:], everyone, by_prediction[skipped:], agreeing]).T


def _from_zero(truth: Index, predicted: Index, width: int) -> tuple[tuple[Index, Index], int]:
    """Codes from 0 on, and how many there are: one more where a record may have no label, which is then the first."""
    if not len(truth) or min(truth.min(), predicted.min()) >= 0:
        return (truth, predicted), width
    return (truth + 1, predicted + 1), width + 1


def pairs_of_columns(place: Index, places: int, truth: Bytes, predicted: Bytes) -> Index:
    """As :func:`pairs_of_codes` for yes/no labels, a column each, of shape (labels, records)."""
    width = len(truth)
    out = np.empty((3 * width + 1, places), dtype=np.int64)
    # Two labels at a time where the table of both fits a processor's cache.
    step = 2 if 16 * places <= _AT_ONCE else 1
    lead = np.arange(4**step) * places
    for first in range(0, width, step):
        here = range(first, min(first + step, width))
        code = truth[first] << 1 | predicted[first]
        for j in here[1:]:
            code = code << 2 | truth[j] << 1 | predicted[j]
        shape = *(4 for _ in here), places
        joint = _counted(np.take(lead, code) + place, 4 ** len(here) * places).reshape(shape)
        for axis, j in enumerate(here):
            cells = joint if len(here) == 1 else joint.sum(axis=1 - axis)
            out[2 * width + 1 + j] = cells[3]
            np.add(cells[2], cells[3], out=out[j])
            np.add(cells[1], cells[3], out=out[width + 1 + j])
    out[width] = _counted(place, places)
    return out.T


def pairs_given_columns(
    bag: Index, bags: int, given: Bytes, truth: Index, predicted: Index, width: int
) -> NDArray[np.int64]:
    """Count truth and prediction of one variable for every yes/no given label, of shape (labels, records).

    Returns
    -------
    ndarray of shape (bags, given labels + 1, 3 * width + 1)
        The columns of :func:`pairs_of_codes`; the last given label is everyone.
    """
    (one, held), size = _from_zero(truth, predicted, width)
    skipped = np.arange(size - width, size)
    cell = (one * size + held) * bags + bag
    cells = bags * size * size
    out = np.empty((len(given) + 1, 3 * width + 1, bags), dtype=np.int64)
    for j in range(len(given) + 1):
        mine = cell if j == len(given) else np.take(np.array([cells, 0]), given[j]) + cell
        joint = _counted(mine, cells)[:cells].reshape(size, size, bags)
        by_truth = joint.sum(axis=1)
        out[j, :width], out[j, width] = by_truth[skipped], by_truth.sum(axis=0)
        out[j, width + 1 : 2 * width + 1] = joint.sum(axis=0)[skipped]
        out[j, 2 * width + 1 :] = joint[skipped, skipped]
    return np.moveaxis(out, -1, 0)


def by_label(rows: Bytes) -> Bytes:
    """Yes/no labels of shape (records, labels) as columns that lie together, of shape (labels, records)."""
    if rows.flags.f_contiguous:
        return rows.T
    out = np.empty(rows.shape[::-1], dtype=rows.dtype)
    for start in range(0, len(rows), _TURNED):
        out[:, start : start + _TURNED] = rows[start : start + _TURNED].T
    return out


def _counted(codes: Index, size: int) -> Index:
    return np.bincount(codes, minlength=size)
