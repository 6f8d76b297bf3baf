"""Masks read from polygons and run lengths, against slow ways to the same."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasamp_reproductions.segmentation import box_mask, from_polygon, mask_of, run_lengths


def runs_of(mask: np.ndarray) -> list[int]:
    """Down the columns, pixel by pixel: how many out, how many in, and so on."""
    out, inside = [0], False
    for column in range(mask.shape[1]):
        for row in range(mask.shape[0]):
            if bool(mask[row, column]) != inside:
                out.append(0)
                inside = not inside
            out[-1] += 1
    return out


def compressed(runs: list[int]) -> str:
    """Groups of five bits, lowest first, until what is left is all sign."""
    text = ""
    for place, length in enumerate(runs):
        number = length - runs[place - 2] if place > 2 else length
        while True:
            bits, number = number & 31, number >> 5
            done = (number == 0 and not bits & 16) or (number == -1 and bits & 16)
            text += chr(48 + (bits if done else bits | 32))
            if done:
                break
    return text


@given(st.integers(1, 9), st.integers(1, 60), st.integers(0, 2**32 - 1), st.floats(0, 1))
def test_run_lengths(height: int, width: int, seed: int, share: float) -> None:
    mask = np.random.default_rng(seed).random((height, width)) < share
    runs = runs_of(mask)
    assert run_lengths(compressed(runs)) == runs
    for counts in (runs, compressed(runs), compressed(runs).encode()):
        found = mask_of({"size": [height, width], "counts": counts}, (height, width), (height, width))
        assert (found == mask).all()


def test_long_runs_need_several_characters() -> None:
    # 1000 = 31 * 32 + 8: the low five bits, marked as not the last, then 31, whose sign bit asks for one more.
    assert compressed([1000]) == chr(48 + 8 + 32) + chr(48 + 31 + 32) + chr(48)
    assert run_lengths(compressed([1000, 3, 2, 70_000, 1])) == [1000, 3, 2, 70_000, 1]


def winds(x: float, y: float, corners: list[tuple[float, float]]) -> bool:
    """Whether angles to the corners go once round the point: convex polygons only."""
    angles = np.unwrap([np.arctan2(b - y, a - x) for a, b in [*corners, corners[0]]])
    return bool(abs(angles[-1] - angles[0]) > np.pi)


@given(st.integers(0, 10_000))
def test_polygons_hold_the_centres_inside_them(seed: int) -> None:
    rng = np.random.default_rng(seed)
    turns = np.sort(rng.uniform(0, 2 * np.pi, rng.integers(3, 9)))
    corners = [(6 + 7 * np.cos(a), 5 + 4 * np.sin(a)) for a in turns]
    found = from_polygon(np.array(corners).ravel(), 10, 12)
    assert found.tolist() == [[winds(c + 0.5, r + 0.5, corners) for c in range(12)] for r in range(10)]


def test_polygons_with_a_notch_and_several_parts() -> None:
    # A U: two towers, open between them; and a square apart.
    u = [0, 0, 2, 0, 2, 2, 4, 2, 4, 0, 6, 0, 6, 4, 0, 4]
    found = mask_of([u, [6, 4, 8, 4, 8, 6, 6, 6]], (6, 8), (6, 8)).astype(int)
    assert found.tolist() == [
        [1, 1, 0, 0, 1, 1, 0, 0],
        [1, 1, 0, 0, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 1, 0, 0],
        [1, 1, 1, 1, 1, 1, 0, 0],
        [0, 0, 0, 0, 0, 0, 1, 1],
        [0, 0, 0, 0, 0, 0, 1, 1],
    ]


def test_shown_smaller() -> None:
    left = [0, 0, 20, 0, 20, 30, 0, 30]
    half = [[1, 1, 0, 0]] * 3
    assert mask_of([left], (30, 40), (3, 4)).astype(int).tolist() == half
    runs = {"size": [30, 40], "counts": [0, 600, 600]}
    assert mask_of(runs, (30, 40), (3, 4)).astype(int).tolist() == half


def test_boxes_beyond_the_edge() -> None:
    assert box_mask([-2, 1, 4, 9], 3, 4).astype(int).tolist() == [[0, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 0]]


@pytest.mark.parametrize(
    "segmentation, message",
    [
        ({"size": [2, 2], "counts": [1, 1]}, "sum to 2"),
        ({"size": [2, 3], "counts": [4]}, "of size"),
        ({"size": [2, 2]}, "no counts"),
        ({"size": [2, 2], "counts": "\x01"}, "no part"),
        ({"size": [2, 2], "counts": "P"}, "breaks off"),
        ([[0, 0, 1, 1]], "three points"),
        ([[0, 0, 1, 1, float("nan"), 1]], "not finite"),
        ("all of it", "neither polygons nor run lengths"),
    ],
)
def test_bad_segmentations(segmentation: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        mask_of(segmentation, (2, 2), (2, 2))
