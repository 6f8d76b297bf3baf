"""Ways to cover the person in an image: what is hidden, and what is left to see."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Bools = NDArray[np.bool_]

ORIGINAL, NOISY, PARTIAL, SEGMENT, BOX = "original", "noisy", "partial", "segment", "box"
CONDITIONS = (ORIGINAL, NOISY, PARTIAL, SEGMENT, BOX)
IN_WORDS = {
    ORIGINAL: "the image as it is",
    NOISY: "random colours on three in four of the person's pixels",
    PARTIAL: "the person black from the top down to a random height",
    SEGMENT: "the person black",
    BOX: "the person's bounding box black",
}
_NOISY_SHARE = 0.75


def bounding_box(person: Bools) -> Bools:
    """The smallest upright box around the person of every image, as a mask.

    >>> bounding_box(np.array([[[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]], dtype=bool)).astype(int).tolist()
    [[[1, 1, 0, 0], [1, 1, 0, 0], [0, 0, 0, 0]]]
    """
    return _span(np.any(person, axis=2))[:, :, None] & _span(np.any(person, axis=1))[:, None, :]


def _span(line: Any) -> Bools:
    """From the first to the last that is set."""
    return np.logical_or.accumulate(line, axis=1) & np.logical_or.accumulate(line[:, ::-1], axis=1)[:, ::-1]


def hidden(person: Bools, condition: str, seed: Any = 0, box: Bools | None = None) -> Bools:
    """The pixels that a condition hides.

    Parameters
    ----------
    person : bool ndarray of shape (images, height, width)
    condition : {"original", "noisy", "partial", "segment", "box"}
    seed : int, sequence of int or Generator
        For the noisy and the partial mask.
    box : bool ndarray, optional
        The boxes of annotators, in place of those around ``person``.
    """
    if condition == ORIGINAL:
        return np.zeros_like(person)
    if condition == NOISY:
        return person & (np.random.default_rng(seed).random(person.shape) < _NOISY_SHARE)
    if condition == PARTIAL:
        rows = _span(np.any(person, axis=2))
        share = np.random.default_rng(seed).random((len(person), 1))
        return person & (np.cumsum(rows, axis=1) <= np.ceil(share * rows.sum(axis=1, keepdims=True)))[:, :, None]
    if condition == SEGMENT:
        return person
    if condition == BOX:
        return bounding_box(person) if box is None else box
    raise ValueError(f"condition must be one of {', '.join(CONDITIONS)}, found {condition!r}")


def masked(
    images: NDArray[Any], person: Bools, condition: str, seed: Any = 0, box: Bools | None = None
) -> NDArray[Any]:
    """Images of shape (images, 3, height, width) under a condition; those given are left as they are.

    Floats from 0 to 1 stay floats, bytes stay bytes.
    """
    if condition == ORIGINAL:
        return images
    rng = np.random.default_rng(seed)
    hide = hidden(person, condition, rng, box)[:, None]
    fill: Any = images.dtype.type(0)
    if condition == NOISY:
        whole = np.issubdtype(images.dtype, np.integer)
        fill = rng.integers(0, 256, images.shape, np.uint8) if whole else rng.random(images.shape, np.float32)
    return np.where(hide, fill, images)
