"""Sums of decisions and scores by cell in numba; imported only where it is installed and pays."""

from __future__ import annotations

import numba
import numpy as np
from numpy.typing import NDArray

_LIMB = float(1 << 26)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def add_scores(
    order: NDArray[np.int64],
    cell: NDArray[np.int64],
    layer: NDArray[np.int64],
    label: NDArray[np.int64],
    truth: NDArray[np.uint8],
    held: NDArray[np.uint8],
    scores: NDArray[np.float64],
    whole: NDArray[np.int64],
    high: NDArray[np.int64],
    low: NDArray[np.int64],
    squares: NDArray[np.int64],
    bins: NDArray[np.int64],
) -> None:
    """Add records to the tables of their cells, in an order in which those of one cell come together.

    ``whole`` has columns of the truth, of decisions and of both; ``high`` and ``low`` are the limbs of scores, of scores
    where the truth holds, and of scores where the decision does; ``squares`` has both limbs of squared scores, by
    ``layer``. ``bins`` has, of every given label, outcome and bin of the score, records, truth and both limbs of scores.
    """
    width = truth.shape[1]
    many = bins.shape[2]
    for k in range(len(order)):
        i = order[k]
        mine = cell[i]
        own = layer[i]
        group = bins[label[i]]
        for j in range(width):
            one = truth[i, j]
            said = held[i, j]
            score = scores[i, j]
            rest = score * _LIMB
            top = np.floor(rest)
            first = np.int64(top)
            second = np.int64(np.rint((rest - top) * _LIMB))
            whole[mine, j] += one
            whole[mine, width + j] += said
            whole[mine, 2 * width + j] += one & said
            high[mine, j] += first
            low[mine, j] += second
            if one:
                high[mine, width + j] += first
                low[mine, width + j] += second
            if said:
                high[mine, 2 * width + j] += first
                low[mine, 2 * width + j] += second
            rest = score * score * _LIMB
            top = np.floor(rest)
            squares[own, j] += np.int64(top)
            squares[own, width + j] += np.int64(np.rint((rest - top) * _LIMB))
            place = min(np.int64(score * many), many - 1)
            group[j, place, 0] += 1
            group[j, place, 1] += one
            group[j, place, 2] += first
            group[j, place, 3] += second
