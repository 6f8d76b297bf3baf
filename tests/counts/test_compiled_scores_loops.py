"""The compiled loops over scores, each against a few lines of Python."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from extras import needs

needs("numba")

from biasamp.counts.bagging import fewer_bags  # noqa: E402
from biasamp.counts.kernels import compiled_scores  # noqa: E402
from biasamp.counts.threshold_counts import GRID  # noqa: E402


@pytest.mark.parametrize("finest, bags", [(16, 16), (16, 8), (16, 4), (16, 2), (4096, 256), (2, 2)])
@pytest.mark.parametrize("strata", [1, 3])
def test_cells_are_numbered(finest: int, bags: int, strata: int) -> None:
    rng = np.random.default_rng(bags)
    n, labels = 60, 3
    bag, label, codes = rng.integers(0, finest, n), rng.integers(0, labels, n), rng.integers(0, strata, n)
    bag[:2] = finest // 2 - 1, finest // 2
    size, cell = np.zeros(strata * bags * labels, dtype=np.int64), np.empty(n, dtype=np.uint16)
    given = codes if strata > 1 else codes[:0]
    compiled_scores.number_cells(given, bag, label, finest, bags, labels, size, cell)
    expected = (codes * bags + fewer_bags(bag, finest, bags)) * labels + label
    assert cell.tolist() == expected.tolist()
    assert size.tolist() == np.bincount(expected, minlength=len(size)).tolist()


@pytest.mark.parametrize("n", [0, 1, 511, 512, 513, 1100])
def test_rows_are_turned(n: int) -> None:
    rows = np.random.default_rng(n).random((n, 3))
    columns = np.full((4, n), -1.0)
    compiled_scores.turn(rows, columns)
    assert columns[:3].tolist() == rows.T.tolist()
    assert (columns[3] == -1.0).all()


def test_layers_of_cells() -> None:
    layer = np.zeros(4, dtype=np.uint16)
    compiled_scores.number_layers(np.array([2, 0, 1, 2], dtype=np.uint16), np.array([7, 8, 9], dtype=np.uint16), layer)
    assert layer.tolist() == [9, 7, 8, 9]


def added(
    n: int, *, deep: bool, other: bool, bag: bool, stepped: bool, score: Any = None, cells: int = 3
) -> tuple[Any, ...]:
    rng = np.random.default_rng(n)
    kind = np.uint16
    cell, second, mine = (rng.integers(0, many, n).astype(kind) for many in (cells, 2, 4))
    label, layer = rng.integers(0, 2, n).astype(kind), rng.integers(0, 5, n).astype(kind)
    truth, held = rng.integers(0, 2, (2, n)).astype(np.uint8)
    score = rng.integers(0, 1025, n) / 1024.0 if score is None else score
    limbs = np.zeros((4 * cells if deep else 0, 2), dtype=np.int64)
    sums, counts = np.zeros(4 * cells, dtype=np.int64), np.zeros(4 * cells, dtype=np.int64)
    more = (
        np.zeros(8, dtype=np.int64),
        np.zeros(8, dtype=np.int64),
        np.zeros((8, 2) if deep else (0, 2), dtype=np.int64),
    )
    squares = np.zeros((5, 2), dtype=np.int64)
    steps, sums_of_steps = (
        np.zeros(2 * 2 * 1001 if stepped else 0, dtype=np.int32),
        np.zeros(2 * 1001 if stepped else 0, dtype=np.int64),
    )
    decided = np.zeros(16 if bag else 0, dtype=np.uint32)
    compiled_scores.add_scores(
        cell, second if other else second[:0], mine if bag else mine[:0], label, layer, truth, held, score, GRID,
        sums, counts, limbs, *more, squares, steps, sums_of_steps, decided,
    )  # fmt: skip
    units = [round(value * 2**52) for value in score.tolist()]
    kinds = 2 * truth.astype(int) + held

    def summed(places: Any, many: int, values: list[int]) -> list[int]:
        out = [0] * many
        for place, value in zip(places.tolist(), values, strict=True):
            out[place] += value
        return out

    def whole(sums: Any, limbs: Any) -> list[int]:
        out = [int(value) for value in sums]
        return (
            [value + (int(high) << 26) + int(low) for value, (high, low) in zip(out, limbs.tolist(), strict=True)]
            if len(limbs)
            else out
        )

    assert whole(sums, limbs) == summed(4 * cell.astype(int) + kinds, 4 * cells, units)
    assert counts.tolist() == summed(4 * cell.astype(int) + kinds, 4 * cells, [1] * n)
    if other:
        assert whole(more[0], more[2]) == summed(4 * second.astype(int) + kinds, 8, units)
        assert more[1].tolist() == summed(4 * second.astype(int) + kinds, 8, [1] * n)
    else:
        assert not more[0].any()
        assert not more[1].any()
    if bag:
        assert decided.tolist() == summed(4 * mine.astype(int) + kinds, 16, [1] * n)
    squared = [round(value * value * 2**52) for value in score.tolist()]
    assert [(high << 26) + low for high, low in squares.tolist()] == summed(layer, 5, squared)
    if stepped:
        step = np.searchsorted(GRID, score, side="right") - 1
        at = label.astype(int) * 1001 + step
        assert steps.tolist() == summed(2 * at + truth, 2 * 2 * 1001, [1] * n)
        found = summed(at, 2 * 1001, units)
        assert [int(value) % 2**64 for value in sums_of_steps] == [value % 2**64 for value in found]
    return sums, limbs, squares


@pytest.mark.parametrize("deep", [False, True])
@pytest.mark.parametrize("other", [False, True])
@pytest.mark.parametrize("bag", [False, True])
@pytest.mark.parametrize("stepped", [False, True])
def test_scores_are_added(deep: bool, other: bool, bag: bool, stepped: bool) -> None:
    added(500, deep=deep, other=other, bag=bag, stepped=stepped)
    added((1 << 13) + 1, deep=True, other=other, bag=bag, stepped=stepped, cells=40)


def test_thresholds_and_what_lies_just_below_them() -> None:
    score = np.concatenate([GRID, np.nextafter(GRID[1:], 0.0)])
    # Squares of these are rounded: only their places and sums are looked at.
    n = len(score)
    steps, stepped = np.zeros(2 * 1001, dtype=np.int32), np.zeros(1001, dtype=np.int64)
    zero, none = np.zeros(n, dtype=np.uint16), np.zeros(0, dtype=np.uint16)
    sums, counts, deep = np.zeros(4, dtype=np.int64), np.zeros(4, dtype=np.int64), np.zeros((4, 2), dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64), np.zeros((0, 2), dtype=np.int64)
    ones = np.ones(n, dtype=np.uint8)
    compiled_scores.add_scores(
        zero, none, none, zero, zero, ones, ones * 0, score, GRID, sums, counts, deep, *nothing,
        np.zeros((1, 2), dtype=np.int64), steps, stepped, np.zeros(0, dtype=np.uint32),
    )  # fmt: skip
    assert steps.reshape(1001, 2)[:, 0].tolist() == [0] * 1001
    assert steps.reshape(1001, 2)[:, 1].tolist() == [2] * 1000 + [1]
    assert counts.tolist() == [0, 0, n, 0]


@pytest.mark.parametrize("stepped", [False, True])
def test_sums_beyond_64_bits_are_moved_to_limbs(stepped: bool) -> None:
    # Scores of 1 are 2**52 units each: 512 of them are moved.
    for n in (511, 512, 2000, 5000):
        sums, limbs, squares = added(n, deep=True, other=True, bag=True, stepped=stepped, score=np.ones(n), cells=1)
        assert (sums < 1 << 61).all()
        assert (limbs[:, 1] < 1 << 26).all()
        assert (squares >= 0).all()


@pytest.mark.parametrize("deep", [False, True])
def test_cells_are_laid_out(deep: bool) -> None:
    rng = np.random.default_rng(3)
    outcomes, rows, groups, places = 2, 5, 3, 4
    sums = rng.integers(0, 1 << 61, (outcomes, rows, groups, 4))
    counts = rng.integers(0, 100, (outcomes, rows, groups, 4)).astype(np.uint16)
    limbs = rng.integers(0, 1 << 30, (outcomes, rows if deep else 0, groups if deep else 0, 4, 2))
    place = np.array([2, 0, 2, 3, 0])
    whole, high, low = (np.full((3, places, groups + 1, outcomes), 5, dtype=np.int64) for _ in range(3))
    compiled_scores.lay_out(sums, counts, limbs, place, whole, high, low)
    expected_counts = np.full((3, places, groups, outcomes), 5, dtype=object)
    expected_scores = np.full((3, places, groups, outcomes), (5 << 26) + 5, dtype=object)
    # Of counts the truth, the decision and both; of scores all, the truth's, the decision's.
    of_counts, of_scores = ((2, 3), (1, 3), (3,)), ((0, 1, 2, 3), (2, 3), (1, 3))
    for j in range(outcomes):
        for row in range(rows):
            for g in range(groups):
                for part in range(3):
                    expected_counts[part, place[row], g, j] += sum(
                        int(counts[j, row, g, kind]) for kind in of_counts[part]
                    )
                    for kind in of_scores[part]:
                        own = int(sums[j, row, g, kind])
                        if deep:
                            own += (int(limbs[j, row, g, kind, 0]) << 26) + int(limbs[j, row, g, kind, 1])
                        expected_scores[part, place[row], g, j] += own
    assert whole[:, :, :-1].tolist() == expected_counts.tolist()
    found = high.astype(object) * (1 << 26) + low.astype(object)
    assert found[:, :, :-1].tolist() == expected_scores.tolist()
    # Everyone is not theirs to fill.
    assert (whole[:, :, -1] == 5).all()
    changes = np.zeros((rows, groups, outcomes))
    compiled_scores.lay_out_changes(counts, changes)
    assert changes.tolist() == np.moveaxis(counts[..., 1].astype(int) - counts[..., 2], 0, -1).tolist()
    fewer = np.zeros((rows, groups - 1, outcomes))
    compiled_scores.lay_out_changes(counts, fewer)
    assert fewer.tolist() == changes[:, :-1].tolist()
