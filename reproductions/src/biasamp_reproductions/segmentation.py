"""COCO's ways to write down which pixels belong to something: polygons and run lengths, read into masks.

Run lengths go down the columns of an image, from left to right, and say in turn how many pixels are out and how
many are in. Compressed, each number is written in groups of five bits, lowest first, as characters from '0' on;
a sixth bit says that more follow, and from the fourth number on it is the difference to the number two before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Bools = NDArray[np.bool_]

_FIRST = ord("0")
_MORE, _SIGN, _BITS = 0x20, 0x10, 5


def run_lengths(text: str | bytes) -> list[int]:
    """The run lengths of a compressed code.

    >>> run_lengths("52203")
    [5, 2, 2, 2, 5]
    """
    codes = text.encode("ascii", errors="replace") if isinstance(text, str) else text
    out: list[int] = []
    value = shift = 0
    for code in codes:
        chunk = code - _FIRST
        if not 0 <= chunk < 2 * _MORE:
            raise ValueError(f"the run-length code holds {chr(code)!r}, which is no part of one")
        value |= (chunk & (_MORE - 1)) << shift
        shift += _BITS
        if chunk & _MORE:
            continue
        if chunk & _SIGN:
            value -= 1 << shift
        out.append(value + out[-2] if len(out) > 2 else value)
        value = shift = 0
    if shift:
        raise ValueError("the run-length code breaks off within a number")
    return out


def from_run_lengths(counts: Sequence[int], height: int, width: int) -> Bools:
    """The mask of run lengths.

    >>> from_run_lengths([1, 2, 3], 2, 3).astype(int).tolist()
    [[0, 1, 0], [1, 0, 0]]
    """
    lengths = np.asarray(counts, dtype=np.int64)
    if (lengths < 0).any() or lengths.sum() != height * width:
        raise ValueError(
            f"run lengths sum to {lengths.sum():,}; an image of {height} x {width} has {height * width:,} pixels"
        )
    inside = np.repeat(np.arange(len(lengths)) % 2 == 1, lengths)
    return inside.reshape(width, height).T


def from_polygon(points: ArrayLike, height: int, width: int) -> Bools:
    """The pixels whose centre lies inside a polygon, given as ``x, y, x, y, ...``.

    Every row of pixel centres is crossed by the polygon's edges; between the first and the second crossing it is
    inside, between the third and the fourth too, and so on.

    >>> from_polygon([1, 0, 3, 0, 3, 2, 1, 2], 3, 4).astype(int).tolist()
    [[0, 1, 1, 0], [0, 1, 1, 0], [0, 0, 0, 0]]
    """
    corners = np.asarray(points, dtype=np.float64)
    if corners.ndim != 1 or len(corners) < 6 or len(corners) % 2:
        raise ValueError(f"a polygon needs three points or more, each with x and y; found {corners.size} numbers")
    if not np.isfinite(corners).all():
        raise ValueError("a polygon holds a number that is missing or not finite")
    x, y = corners[0::2], corners[1::2]
    next_x, next_y = np.roll(x, -1), np.roll(y, -1)
    out = np.zeros((height, width), dtype=bool)
    centres = np.arange(width) + 0.5
    for row in range(max(0, int(np.floor(y.min()))), min(height, int(np.ceil(y.max())))):
        level = row + 0.5
        crossed = (y <= level) != (next_y <= level)
        slope = (next_x[crossed] - x[crossed]) / (next_y[crossed] - y[crossed])
        at = np.sort(x[crossed] + (level - y[crossed]) * slope)
        out[row] = np.searchsorted(at, centres, side="right") % 2 == 1
    return out


def mask_of(segmentation: Any, size: tuple[int, int], shown: tuple[int, int]) -> Bools:
    """The mask of one annotation: polygons, run lengths, or compressed run lengths.

    Parameters
    ----------
    segmentation : list of polygons, or mapping with size and counts
    size : tuple of int
        Height and width of the image that was annotated.
    shown : tuple of int
        Height and width of the mask.
    """
    (height, width), (high, wide) = size, shown
    if isinstance(segmentation, Mapping):
        said, counts = segmentation.get("size"), segmentation.get("counts")
        if list(said or ()) != [height, width]:
            raise ValueError(f"a segmentation is of size {said}, its image of {[height, width]}")
        if isinstance(counts, (str, bytes)):
            counts = run_lengths(counts)
        if counts is None:
            raise ValueError("a segmentation has a size, but no counts")
        whole = from_run_lengths(counts, height, width)
        # The pixel under the centre of each pixel that is shown.
        rows, columns = ((np.arange(n) * 2 + 1) * of // (2 * n) for n, of in ((high, height), (wide, width)))
        return whole[np.ix_(rows, columns)]
    if not isinstance(segmentation, (list, tuple)):
        raise ValueError(f"a segmentation is {type(segmentation).__name__}: neither polygons nor run lengths")
    out = np.zeros(shown, dtype=bool)
    for polygon in segmentation:
        points = np.array(polygon, dtype=np.float64)
        points[0::2] *= wide / width
        points[1::2] *= high / height
        out |= from_polygon(points, high, wide)
    return out


def box_mask(box: Sequence[float], height: int, width: int) -> Bools:
    """The pixels that a box ``x, y, width, height`` touches.

    >>> box_mask([0.5, 1, 1, 1], 3, 3).astype(int).tolist()
    [[0, 0, 0], [1, 1, 0], [0, 0, 0]]
    """
    if len(box) != 4 or not np.isfinite(np.asarray(box, dtype=np.float64)).all():
        raise ValueError(f"a box needs x, y, width and height, found {list(box)}")
    left, top, wide, high = (float(edge) for edge in box)
    out = np.zeros((height, width), dtype=bool)
    rows = slice(max(0, int(np.floor(top))), max(0, int(np.ceil(top + high))))
    out[rows, max(0, int(np.floor(left))) : max(0, int(np.ceil(left + wide)))] = True
    return out
