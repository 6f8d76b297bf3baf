"""Exact sums of probabilities by place, where each record has one place and weighs one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..fixed import EXACT, LIMB_BITS, Fixed, limbs

Index = NDArray[np.int64]
Floats = NDArray[np.float64]

# Sums of so many limbs are exact in floats.
_MOST = int(EXACT) >> LIMB_BITS


def fits(records: int) -> bool:
    """Whether sums over so many records are exact."""
    return records < _MOST


def scored_pairs(place: Index, places: int, truth: NDArray[Any], scores: Floats) -> tuple[Index, Fixed]:
    """Sums over the records of every place of the truth and one, and of scores and of scores where the truth holds.

    Parameters
    ----------
    place : ndarray of shape (records,)
        Numbers below ``places``.
    truth : ndarray of shape (records, labels), 0 or 1
    scores : ndarray of shape (records, labels), in [0, 1]

    Returns
    -------
    counts : ndarray of shape (places, labels + 1)
    sums : Fixed of shape (places, 2 * labels)
    """
    width = truth.shape[1]
    counts = np.empty((places, width + 1), dtype=np.int64)
    sums = np.zeros((3, places, 2 * width), dtype=np.int64)
    for j in range(width):
        cell = place * 2 + truth[:, j]
        held = np.bincount(cell, minlength=2 * places).reshape(places, 2)
        counts[:, j], counts[:, width] = held[:, 1], held.sum(axis=1)
        for limb, table in zip(_limb_sums(cell, 2 * places, scores[:, j]), sums, strict=True):
            if limb is not None:
                by_truth = limb.reshape(places, 2)
                table[:, j], table[:, width + j] = by_truth.sum(axis=1), by_truth[:, 1]
    return counts, Fixed(*sums)


def scored_spread(place: Index, places: int, truth: NDArray[Any], scores: Floats) -> tuple[Index, Fixed, Fixed, Fixed]:
    """Records of every place, sums of what scores add and take away, and of squared differences.

    Returns
    -------
    size : ndarray of shape (places, labels)
    gained, lost, square : Fixed of shape (places, labels)
    """
    width = truth.shape[1]
    size = np.repeat(np.bincount(place, minlength=places)[:, None], width, axis=1)
    moved = np.zeros((3, 2, places, width), dtype=np.int64)
    square = np.zeros((3, places, width), dtype=np.int64)
    for j in range(width):
        apart = np.abs(scores[:, j] - truth[:, j])
        # Where the truth holds a score can only take away, else only add.
        for limb, table in zip(_limb_sums(place * 2 + truth[:, j], 2 * places, apart), moved, strict=True):
            if limb is not None:
                table[..., j] = limb.reshape(places, 2).T
        for limb, table in zip(_limb_sums(place, places, apart**2), square, strict=True):
            if limb is not None:
                table[:, j] = limb
    return size, Fixed(*moved[:, 0]), Fixed(*moved[:, 1]), Fixed(*square)


def _limb_sums(place: Index, places: int, values: Floats) -> list[Index | None]:
    return [
        None if limb is None else np.bincount(place, limb, minlength=places).astype(np.int64) for limb in limbs(values)
    ]
