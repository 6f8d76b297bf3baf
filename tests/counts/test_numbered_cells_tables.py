"""Combinations as numbers: tables that are looked through, and numbers that are sorted; with weights and without."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts import numbered_cells
from biasamp.counts.numbered_cells import (
    NumberedSide,
    count_cells,
    digits,
    distinct_numbers,
    number_bags,
    number_labels,
    sum_numbers,
)
from biasamp.data import Codes, Dense, LabelSet, Variable


@pytest.mark.parametrize("tabled", [True, False])
def test_numbers_are_summed(tabled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not tabled:
        monkeypatch.setattr(numbered_cells, "_tabled", lambda _: 0)
    numbers = np.array([5, 0, 5, 3])

    def summed(weights: Any = None) -> Any:
        found = sum_numbers(numbers, 6, None if weights is None else np.array(weights))
        return None if found is None else tuple(part.tolist() for part in found)

    assert summed() == ([0, 3, 5], [1, 1, 2])
    assert summed([2, 3, 4, 0]) == ([0, 3, 5], [3, 0, 6])
    assert summed([0, 0, 0, 1]) == ([0, 3, 5], [0, 1, 0])
    assert summed([1.0, 1.0, 1.0, 1.0]) is None
    most = 1 << 53
    assert summed([most - 3, 1, 1, 0]) == ([0, 3, 5], [1, 0, most - 2])
    assert summed([most - 2, 1, 1, 0]) is None
    for weights in (None, [1, 1, 1, 1]):
        found = sum_numbers(numbers, 6, None if weights is None else np.array(weights))
        assert found is not None
        assert found[1].dtype == np.int64
    distinct, codes = distinct_numbers(numbers, 6)
    assert distinct.tolist() == [0, 3, 5]
    assert codes.tolist() == [2, 0, 2, 1]
    assert codes.dtype == np.int64


def test_tables_of_so_many_places() -> None:
    """At least 65,536, and sixteen for each record."""
    assert numbered_cells._tabled(0) == numbered_cells._tabled(4096) == 1 << 16
    assert numbered_cells._tabled(4097) == 4097 * 16
    asked = []
    numbers = np.array([1, 0])
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(numbered_cells, "_tabled", lambda records: asked.append(records) or 7)
        real = np.unique
        patched.setattr(np, "unique", lambda *a, **k: asked.append("sorted") or real(*a, **k))
        sum_numbers(numbers, 7)
        distinct_numbers(numbers, 7)
        assert asked == [2, 2]
        sum_numbers(numbers, 8)
        distinct_numbers(numbers, 8)
        assert asked == [2, 2, 2, "sorted", 2, "sorted"]


def codes_of(codes: Any) -> LabelSet:
    return LabelSet((Codes((Variable("a", "categorical", ("x", "y", "z")),), np.asarray(codes), True),))


def rows_of(rows: Any) -> LabelSet:
    rows = np.asarray(rows)
    return LabelSet((Dense(tuple(Variable(f"t{i}", "binary") for i in range(rows.shape[1])), rows),))


def test_labels_are_numbered_as_their_rows_sort() -> None:
    side = number_labels(codes_of([0, 2, 1, 0]))
    assert side is not None
    assert side.numbers.tolist() == [2, 0, 1, 2]
    assert side.size == 3
    assert side.rows(np.arange(3)).tolist() == [[0, 0, 1], [0, 1, 0], [1, 0, 0]]
    side = number_labels(codes_of([0, -1, 2]))
    assert side is not None
    assert side.numbers.tolist() == [3, 0, 1]
    assert side.size == 4
    assert side.rows(np.arange(4)).tolist() == [[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 0, 0]]
    side = number_labels(codes_of(np.zeros(0, dtype=np.int64)))
    assert side is not None
    assert side.size == 4
    rows = np.array([[1, 0, 1], [0, 1, 1]], dtype=np.uint8)
    for held in (rows, np.asfortranarray(rows)):
        side = number_labels(rows_of(held))
        assert side is not None
        assert side.numbers.tolist() == [5, 3]
        assert side.size == 8
        assert side.rows(np.array([5, 0])).tolist() == [[1, 0, 1], [0, 0, 0]]
    assert number_labels(rows_of(rows * 0.5)) is None
    assert number_labels(LabelSet((*codes_of([0, 1]).blocks, *rows_of(rows).blocks))) is None
    for width in (1, 7, 8, 9, 16, 17, 47, 48):
        many = np.random.default_rng(width).integers(0, 2, (5, width)).astype(np.uint8)
        side = number_labels(rows_of(many))
        assert side is not None
        assert side.size == 1 << width
        assert side.numbers.tolist() == [int("".join(map(str, row)), 2) for row in many.tolist()]
        assert side.rows(side.numbers).tolist() == many.tolist()
    assert number_labels(rows_of(np.zeros((2, 49), dtype=np.uint8))) is None
    assert number_labels(rows_of(np.zeros((2, 0), dtype=np.uint8))) is None


def test_digits_of_numbers() -> None:
    assert digits(np.array([5, 1]), 4).tolist() == [[0, 1, 0, 1], [0, 0, 0, 1]]
    assert digits(np.array([5]), 2).tolist() == [[0, 1]]
    side = number_bags(np.array([2, 3]), 3)
    assert (side.numbers.tolist(), side.size) == ([2, 3], 8)
    assert side.rows(np.array([6])).tolist() == [[1, 1, 0]]


def test_cells_of_several_sides() -> None:
    def side(numbers: list[int], size: int) -> NumberedSide:
        return NumberedSide(np.array(numbers), size, lambda found: found[:, None].astype(np.uint8))

    sides = [side([1, 0, 1, 1], 2), side([4, 4, 2, 4], 5), side([0, 0, 2, 0], 3)]
    combinations, cells, counts = count_cells(sides)  # type: ignore[misc]
    assert [rows.ravel().tolist() for rows in combinations] == [[0, 1], [2, 4], [0, 2]]
    assert cells.tolist() == [[0, 1, 0], [1, 0, 1], [1, 1, 0]]
    assert counts.tolist() == [1, 1, 2]
    assert count_cells(sides, np.array([1, 2, 3, 4]))[2].tolist() == [2, 3, 5]  # type: ignore[index]
    assert count_cells(sides, np.array([0.5, 1, 1, 1])) is None
    # Numbers of all sides together have 63 bits.
    large = [side([1, 0, 1, 1], 1 << 32), side([4, 4, 2, 4], (1 << 31) - 1)]
    assert count_cells(large)[1].tolist() == [[0, 1], [1, 0], [1, 1]]  # type: ignore[index]
    assert count_cells([large[0], side([4, 4, 2, 4], 1 << 31)]) is None
