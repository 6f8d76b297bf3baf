"""Contingency tables by cell: every number of labels a side, sums, weights beyond floats, and bags that are joined."""

from __future__ import annotations

from collections import Counter
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from biasamp.counts import contingency
from biasamp.counts.bagging import bag_of, shuffled_numbers
from biasamp.counts.contingency import (
    BAG,
    DIGITS,
    ContingencyTable,
    Side,
    _distinct_cells,
    _distinct_rows,
    _fewer_digits,
    _in_one_number,
    _taken_apart,
    add_by_bag,
    bags_of_cells,
    bounded,
    count_by_bag,
    digits_of,
    shuffle_bags,
)
from biasamp.counts.fixed import Fixed
from biasamp.data import Codes, Dense, Label, LabelSet, Variable
from biasamp.data.keys import row_keys


def several(rows: Any) -> LabelSet:
    rows = np.asarray(rows, dtype=np.uint8)
    return LabelSet((Dense(tuple(Variable(f"t{i}", "binary") for i in range(rows.shape[1])), rows),))


def one_of(codes: Any) -> Codes:
    return Codes((Variable("a", "categorical", ("x", "y", "z")),), np.asarray(codes), True)


def of_table(table: ContingencyTable) -> dict[Any, float]:
    out: Counter[Any] = Counter()
    for cell, count in zip(table.cells.tolist(), np.asarray(table.counts).tolist(), strict=True):
        out[
            tuple(tuple(side.combinations[at].tolist()) for at, side in zip(cell, table.sides.values(), strict=True))
        ] += count
    return dict(out)


def by_record(sides: list[Any], weights: Any = None) -> dict[Any, float]:
    out: Counter[Any] = Counter()
    for i in range(len(sides[0])):
        out[tuple(tuple(side[i].tolist()) for side in sides)] += 1 if weights is None else weights[i]
    return dict(out)


def tidy(table: ContingencyTable) -> None:
    """Combinations and cells stand once, in order."""
    for side in table.sides.values():
        rows = [row.tobytes() for row in side.combinations]
        assert rows == sorted(set(rows))
    cells = table.cells.tolist()
    assert cells == sorted(set(map(tuple, cells))) or cells == sorted(map(list, set(map(tuple, cells))))


@pytest.mark.parametrize("width", [1, 7, 8, 9, 16, 17, 24, 47, 48, 49, 64, 65, 130])
@pytest.mark.parametrize("weights", ["none", "whole", "real", "large"])
def test_sides_of_every_width(width: int, weights: str) -> None:
    rng = np.random.default_rng(width)
    n = 60
    rows = (rng.random((n, width)) < 0.3).astype(np.uint8)
    rows[n // 2 :] = rows[: n - n // 2]
    # Rows that differ in their first and in their last label only.
    rows[1], rows[2] = rows[0], rows[0]
    rows[1, 0] ^= 1
    rows[2, -1] ^= 1
    other = rng.integers(0, 2, (n, 2)).astype(np.uint8)
    own = {
        "none": None,
        "whole": rng.integers(0, 5, n),
        "real": rng.integers(0, 64, n) / 16.0,
        "large": rng.integers(0, 1 << 58, n) >> 4,
    }[weights]
    table = ContingencyTable.from_labels({"given": several(other), "truth": several(rows)}, own)
    expected = by_record([other, rows], None if own is None else own.tolist())
    found = of_table(table)
    assert {place: count for place, count in found.items() if count} == {
        place: count for place, count in expected.items() if count
    }
    tidy(table)
    assert table.sides["truth"].labels == several(rows).labels
    assert (table.exact is not None) is (weights == "real")
    again = table.tidied()
    assert again.cells.tolist() == table.cells.tolist()
    assert np.asarray(again.counts).tolist() == np.asarray(table.counts).tolist()
    # The same rows among several blocks.
    blocks = LabelSet((one_of(rng.integers(-1, 3, n)), *several(rows).blocks))
    mixed = ContingencyTable.from_labels({"truth": blocks})
    assert of_table(mixed) == by_record([blocks.rows()])
    tidy(mixed)


@pytest.mark.parametrize("chunk", [1 << 16, 7])
def test_records_are_packed_some_at_a_time(chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contingency, "_CHUNK", chunk)
    rows = np.random.default_rng(0).integers(0, 2, (30, 70)).astype(np.uint8)
    assert of_table(ContingencyTable.from_labels({"truth": several(rows)})) == by_record([rows])
    empty = ContingencyTable.from_labels({"truth": several(rows[:0])})
    assert len(empty.cells) == len(empty.counts) == 0


@pytest.mark.parametrize("same", [True, False])
@pytest.mark.parametrize("width", [3, 70])
@pytest.mark.parametrize("weights", ["none", "real"])
def test_sums_of_tables(same: bool, width: int, weights: str) -> None:
    rng = np.random.default_rng(width)
    n = 90
    rows, other = rng.integers(0, 2, (n, width)).astype(np.uint8), rng.integers(0, 2, (n, 2)).astype(np.uint8)
    if width > 10:
        rows = rows[rng.integers(0, 6, n)]
    if same:
        rows[45:], other[:45] = rows[:45], other[45:]
    own = None if weights == "none" else rng.integers(0, 64, n) / 16.0

    def counted(part: slice) -> ContingencyTable:
        sets = {"given": several(other[part]), "truth": several(rows[part])}
        return ContingencyTable.from_labels(sets, None if own is None else own[part])

    both, whole = counted(slice(0, 45)) + counted(slice(45, n)), counted(slice(0, n))
    assert of_table(both) == of_table(whole)
    assert both.cells.tolist() == whole.cells.tolist()
    assert np.asarray(both.counts).dtype == np.asarray(whole.counts).dtype
    tidy(both)
    alone = ContingencyTable.from_labels({"truth": several(rows)}, own)
    assert of_table(whole.without("given")) == of_table(alone)
    with pytest.raises(ValueError, match="contingency tables of different labels do not add up"):
        _ = whole + alone
    assert whole.__add__(3) is NotImplemented  # type: ignore[operator]


def test_cells_as_one_number() -> None:
    cells = np.array([[1, 2, 0], [0, 0, 0], [1, 2, 3], [1, 2, 0]])
    assert _in_one_number(cells, [2, 3, 4]).tolist() == [20, 0, 23, 20]
    assert _taken_apart(np.array([20, 0, 23]), [2, 3, 4]).tolist() == [[1, 2, 0], [0, 0, 0], [1, 2, 3]]
    # As numbers, and where these would have more than 63 bits.
    for sizes in ([2, 3, 4], [1 << 21] * 3, [1 << 32, 1 << 31, 4]):
        distinct, codes = _distinct_cells(cells, sizes)
        assert distinct.tolist() == [[0, 0, 0], [1, 2, 0], [1, 2, 3]]
        assert codes.tolist() == [1, 0, 2, 1]
    large = np.array([[(1 << 32) - 1, 5], [(1 << 32) - 1, 4], [0, 5]])
    for sizes in ([1 << 32, (1 << 31) - 1], [1 << 32, 1 << 31]):
        distinct, codes = _distinct_cells(large, sizes)
        assert distinct.tolist() == [[0, 5], [(1 << 32) - 1, 4], [(1 << 32) - 1, 5]]
        assert codes.tolist() == [2, 1, 0]


@pytest.mark.parametrize("width", [0, 1, 2, 3, 7, 8, 9, 16, 17, 33])
def test_distinct_rows_of_bytes(width: int) -> None:
    rng = np.random.default_rng(width)
    rows = rng.integers(0, 256, (40, width)).astype(np.uint8)[rng.integers(0, 12, 200)]
    found, codes = _distinct_rows(rows)
    expected = sorted(set(map(bytes, rows)))
    assert [bytes(row) for row in found] == expected
    assert codes.tolist() == [expected.index(bytes(row)) for row in rows]


def test_rows_of_one_hash_are_told_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(1)
    rows = rng.integers(0, 256, (12, 20)).astype(np.uint8)[rng.integers(0, 12, 90)]
    monkeypatch.setattr(contingency, "mix", lambda values: values & np.uint64(0))
    # Now the last eight bytes alone make the hash; these are all the same.
    rows[:, 16:] = 7
    found, codes = _distinct_rows(rows)
    expected = sorted(set(map(bytes, rows)))
    assert [bytes(row) for row in found] == expected
    assert codes.tolist() == [expected.index(bytes(row)) for row in rows]


@pytest.mark.parametrize("width", [5, 70])
@pytest.mark.parametrize("digits", [2, 8, 12])
def test_combinations_by_bag(width: int, digits: int) -> None:
    """Numbered, and where labels are too many for numbers."""
    rng = np.random.default_rng(width)
    n = 120
    rows, keys = rng.integers(0, 2, (n, width)).astype(np.uint8), row_keys(0, n)
    weights = rng.integers(1, 4, n)
    bag = bag_of(keys, 1 << digits)
    spelled = (bag[:, None] >> np.arange(digits)[::-1]) & 1
    for own in (None, weights):
        table = count_by_bag({"truth": several(rows)}, keys, own, digits)
        assert list(table.sides) == ["truth", BAG]
        assert of_table(table) == by_record([rows, spelled.astype(np.uint8)], None if own is None else own.tolist())
        numbers, bags = bags_of_cells(table)
        assert bags == 1 << digits
        expected = np.bincount(bag, own, minlength=bags)
        assert np.bincount(numbers, table.counts, minlength=bags).tolist() == expected.tolist()
        assert table.sides[BAG].labels == tuple(Label(f"digit {i}") for i in range(digits))
        assert digits_of(table) == digits
        # Without the last digit there are half as many bags.
        fewer = _fewer_digits(table, digits - 1)
        assert of_table(fewer) == of_table(count_by_bag({"truth": several(rows)}, keys, own, digits - 1))
        assert _fewer_digits(table, digits) is table
    assert digits_of(None) == DIGITS == 12
    assert digits_of(count_by_bag({"truth": several(rows)}, keys)) == 12


def test_tables_in_as_many_bags_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    n = 4000
    rows, keys = rng.integers(0, 2, (n, 2)).astype(np.uint8), row_keys(0, n)
    sizes = {digits: len(count_by_bag({"t": several(rows)}, keys, None, digits).cells) for digits in range(8, 13)}
    assert all(sizes[one] < sizes[two] for one, two in pairwise(range(8, 13)))
    table = count_by_bag({"t": several(rows)}, keys)
    for digits in range(8, 13):
        monkeypatch.setattr(contingency, "MOST_ENTRIES", sizes[digits])
        made = bounded(table)
        assert made is not None
        assert digits_of(made) == digits
    monkeypatch.setattr(contingency, "MOST_ENTRIES", sizes[8] - 1)
    assert bounded(table) is None
    monkeypatch.setattr(contingency, "MOST_ENTRIES", 1 << 18)
    assert bounded(table) is table
    half = slice(0, 2000), slice(2000, n)
    one, two = (
        count_by_bag({"t": several(rows[part])}, keys[part], None, digits)
        for part, digits in zip(half, (12, 10), strict=True)
    )
    both = add_by_bag(one, two)
    assert both is not None
    assert digits_of(both) == 10
    assert of_table(both) == of_table(count_by_bag({"t": several(rows)}, keys, None, 10))
    assert of_table(add_by_bag(two, one)) == of_table(both)  # type: ignore[arg-type]
    assert add_by_bag(None, one) is None
    assert add_by_bag(one, None) is None
    monkeypatch.setattr(contingency, "MOST_ENTRIES", 5)
    assert add_by_bag(one, two) is None


def test_bags_in_another_order() -> None:
    n = 50
    rows, keys = np.random.default_rng(4).integers(0, 2, (n, 2)).astype(np.uint8), row_keys(0, n)
    table = count_by_bag({"t": several(rows)}, keys, None, 8)
    turned = shuffle_bags(table, 7)
    assert turned is not None
    everyone = np.arange(256)
    moved, old = shuffled_numbers(everyone, 256, 7)
    place = np.empty(256, dtype=int)
    place[old] = moved
    assert bags_of_cells(turned)[0].tolist() == place[bags_of_cells(table)[0]].tolist()
    assert turned.cells.tolist() == table.cells.tolist()
    assert of_table(turned.without(BAG)) == of_table(table.without(BAG))
    assert shuffle_bags(None, 7) is None


def test_cells_that_are_named_twice() -> None:
    side = Side((Label("a"), Label("b")), np.array([[0, 1], [1, 0], [0, 1]], dtype=np.uint8))
    cells = np.array([[0], [2], [1], [1]])
    table = ContingencyTable({"t": side}, cells, np.array([1, 2, 3, 4])).tidied()
    assert of_table(table) == {((0, 1),): 3, ((1, 0),): 7}
    assert table.sides["t"].combinations.tolist() == [[0, 1], [1, 0]]
    exact = Fixed(np.array([0, 0, 1, 0]), np.array([1, 1, 0, 1 << 25]), np.zeros(4, dtype=np.int64))
    table = ContingencyTable({"t": side}, cells, exact.floats(), exact).tidied()
    assert of_table(table) == {((0, 1),): 2.0**-25, ((1, 0),): 1.5}
    assert table.exact is not None


def test_sides_of_more_combinations_than_numbers_have() -> None:
    """Cells are one number of 63 bits where that holds them all."""
    for first, second in ((1 << 32, (1 << 31) - 1), (1 << 32, 1 << 31), (1 << 32, 1 << 32)):
        sides = {
            name: Side((Label(name),), np.broadcast_to(np.uint8(0), (size, 1)))
            for name, size in (("given", first), ("truth", second))
        }
        cells = np.array([[first - 1, second - 1], [0, second - 1], [first - 1, second - 1]])
        table = ContingencyTable._of_cells(sides, cells, np.array([1, 2, 4]))
        assert table.cells.tolist() == [[0, second - 1], [first - 1, second - 1]]
        assert table.counts.tolist() == [2, 5]
