"""Sums of decisions and scores by cell in numba; imported only where it is installed and pays."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

_LIMB = float(1 << 26)
# Added and taken away again, this rounds a small float to the nearest whole number, halves to the even one.
_ROUND = float(1 << 52)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_scores(
    order: NDArray[np.int64],
    cell: NDArray[np.int64],
    layer: NDArray[np.int64],
    label: NDArray[np.int64],
    truth: NDArray[np.uint8],
    held: NDArray[np.uint8],
    scores: NDArray[np.float64],
    whole: NDArray[np.float64],
    high: NDArray[np.float64],
    low: NDArray[np.float64],
    squares: NDArray[np.float64],
    bins: NDArray[np.float64],
) -> None:
    """Add records to the tables of their cells, in an order in which those of one cell come together.

    ``whole`` has columns of the truth, of decisions and of both; ``high`` and ``low`` are the limbs of scores, of scores
    where the truth holds, and of scores where the decision does; ``squares`` has both limbs of squared scores, by
    ``layer``. ``bins`` has, of every given label, outcome and bin of the score, records, truth and both limbs of scores.
    """
    width = truth.shape[1]
    many = bins.shape[2]
    tops, rests, trues, saids = np.empty(width), np.empty(width), np.empty(width), np.empty(width)
    for k in range(len(order)):
        i = order[k]
        mine = cell[i]
        first, second, counts = high[mine], low[mine], whole[mine]
        squared = squares[layer[i]]
        group = bins[label[i]]
        # Loops of their own on floats that hold whole numbers: only so are they turned into vector instructions.
        for j in range(width):
            scaled = scores[i, j] * _LIMB
            tops[j] = np.floor(scaled)
            rests[j] = ((scaled - tops[j]) * _LIMB + _ROUND) - _ROUND
            trues[j] = truth[i, j]
            saids[j] = held[i, j]
        for j in range(width):
            counts[j] += trues[j]
            counts[width + j] += saids[j]
            counts[2 * width + j] += trues[j] * saids[j]
        for j in range(width):
            first[j] += tops[j]
            first[width + j] += tops[j] * trues[j]
            first[2 * width + j] += tops[j] * saids[j]
        for j in range(width):
            second[j] += rests[j]
            second[width + j] += rests[j] * trues[j]
            second[2 * width + j] += rests[j] * saids[j]
        for j in range(width):
            scaled = scores[i, j] * scores[i, j] * _LIMB
            top = np.floor(scaled)
            squared[j] += top
            squared[width + j] += ((scaled - top) * _LIMB + _ROUND) - _ROUND
        for j in range(width):
            place = min(np.int64(scores[i, j] * many), many - 1)
            group[j, place, 0] += 1.0
            group[j, place, 1] += trues[j]
            group[j, place, 2] += tops[j]
            group[j, place, 3] += rests[j]
