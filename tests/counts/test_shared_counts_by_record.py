"""Counts of records with two identities: as cells, as a table, on demand, added and moved; against a dictionary."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from itertools import combinations
from typing import Any

import numpy as np
import pytest

from biasamp.counts import shared_counts
from biasamp.counts.kernels.long_tally import numba_installed
from biasamp.counts.shared_counts import (
    CellsOnDemand,
    SharedCounts,
    SharedTable,
    _kind,
    _padded,
    pair_columns,
    shared_of_patterns,
)

Held = dict[tuple[int, int, int], int]


def key(many: int, first: int, second: int, label: int) -> int:
    return (first * many + second) << 32 | label


def cells(many: int, held: Held) -> SharedCounts:
    entries = sorted((key(many, *place), value) for place, value in held.items())
    keys, values = (np.array([entry[side] for entry in entries], dtype=np.int64) for side in (0, 1))
    return SharedCounts(many, keys, values)


def table(
    many: int, held: Held, rows: list[int], kind: Any = np.uint16, more: Held | None = None, spare: int = 0
) -> SharedTable:
    """A table whose label ``i`` has the row ``rows[i]``."""
    columns = {pair: place for place, pair in enumerate(combinations(range(many), 2))}
    values = np.zeros((max(rows) + 1 + spare, len(columns)), dtype=kind)
    for (first, second, label), value in held.items():
        values[rows[label], columns[first, second]] = value
    most = max(held.values(), default=0)
    return SharedTable(many, values, np.array(rows), most, None if more is None else cells(many, more))


def held_in(counts: SharedCounts) -> Held:
    made = counts.sparse()
    assert (np.diff(made.keys) > 0).all()
    assert made.keys.dtype == made.values.dtype == np.int64
    out = {}
    for pair, label, value in zip(counts.pair.tolist(), counts.label.tolist(), counts.values.tolist(), strict=True):
        first, second = divmod(pair, counts.many)
        out[first, second, label] = value
    assert all(out.values())
    return out


def some(seed: int, many: int = 4, labels: int = 6, chance: float = 0.4) -> Held:
    rng = np.random.default_rng(seed)
    return {
        (first, second, label): int(rng.integers(1, 50))
        for first, second in combinations(range(many), 2)
        for label in range(labels)
        if rng.random() < chance
    }


def total(*parts: Held) -> Held:
    out: Counter[tuple[int, int, int]] = Counter()
    for part in parts:
        out.update(part)
    return dict(out)


@pytest.fixture(params=["numpy", *(["numba"] if numba_installed() else [])])
def loops(request: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells of tables are found in numba where it is loaded."""
    if request.param == "numba":
        import numba  # noqa: F401
    else:
        monkeypatch.delitem(sys.modules, "numba", raising=False)


def test_cells() -> None:
    counts = SharedCounts.of_cells(
        3, np.array([5, 1, 5, 2]), np.array([7, 0, 7, (1 << 32) - 1]), np.array([2, 3, 4, 1])
    )
    assert counts.pair.tolist() == [1, 2, 5]
    assert counts.label.tolist() == [0, (1 << 32) - 1, 7]
    assert counts.values.tolist() == [3, 1, 6]
    assert counts.sparse() is counts
    assert counts.kept() is counts
    none = SharedCounts.none(3)
    assert (none.many, none.keys.tolist(), none.values.tolist()) == (3, [], [])
    assert none.keys.dtype == none.values.dtype == np.int64


def test_all_labels_of_a_pair() -> None:
    held = some(0)
    counts = cells(4, held)
    for first, second in combinations(range(4), 2):
        expected = [held.get((first, second, label), 0) for label in range(6)]
        assert counts.of_pair(first, second, 6).tolist() == expected
        assert counts.of_pair(second, first, 6).tolist() == expected
    assert cells(2, {}).of_pair(0, 1, 3).tolist() == [0, 0, 0]


@pytest.mark.parametrize(
    "target",
    [[0, 1, 2, 3, 4, 5], [1, 2, 4, 6, 7, 9], [5, 4, 3, 2, 1, 0], [2, -1, 0, -1, 1, 3], [-1, 0, -1, 1, -1, 2], [-1] * 6],
)
def test_labels_are_moved(target: list[int], loops: None) -> None:
    held = some(1)
    expected = {
        (first, second, target[label]): value for (first, second, label), value in held.items() if target[label] >= 0
    }
    where = np.array(target)
    assert held_in(cells(4, held).moved(where)) == expected
    laid = table(4, held, [3, 0, 1, 5, 2, 4])
    assert held_in(laid.moved(where)) == expected
    assert held_in(laid.kept().moved(where)) == expected
    more = {(0, 1, 2): 7, (2, 3, 5): 1}
    expected = total(
        expected,
        {(first, second, target[label]): value for (first, second, label), value in more.items() if target[label] >= 0},
    )
    assert held_in(table(4, held, [3, 0, 1, 5, 2, 4], more=more).moved(where)) == expected
    if target == list(range(6)):
        same = cells(4, held)
        assert same.moved(where) is same


def test_two_labels_may_become_one() -> None:
    held = {(0, 1, 0): 2, (0, 1, 1): 3, (0, 1, 2): 4, (1, 2, 1): 5}
    assert held_in(cells(3, held).moved(np.array([1, 1, 0]))) == {(0, 1, 1): 5, (0, 1, 0): 4, (1, 2, 1): 5}


@pytest.mark.parametrize("few", [64, 0])
def test_cells_are_added(few: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many to many are sorted, few find their places among many."""
    monkeypatch.setattr(shared_counts, "_FEW", few)
    many = some(2)
    for other in (some(3), {}, {(0, 1, 0): 5}, {(2, 3, 5): 5, (0, 1, 0): 1}, {(2, 3, 9): 1}, many):
        expected = total(many, other)
        one, two = cells(4, many), cells(4, other)
        assert held_in(one + two) == expected
        assert held_in(two + one) == expected
        assert held_in(one) == many
        assert held_in(two) == other
    assert held_in(cells(4, {}) + cells(4, {})) == {}


def test_columns_of_pairs() -> None:
    assert pair_columns(3).tolist() == [[0, 3, 4], [-1, 1, 5], [-1, -1, 2]]
    assert pair_columns(1).tolist() == [[0]]
    assert pair_columns(0).shape == (0, 0)


def test_a_table_holds_cells(loops: None) -> None:
    held = some(4)
    for rows in ([0, 1, 2, 3, 4, 5], [5, 3, 1, 0, 2, 4]):
        for kind in (np.uint16, np.int32, np.int64):
            laid = table(4, held, rows, kind, spare=2)
            assert held_in(laid) == held
            assert laid.keys.tolist() == cells(4, held).keys.tolist()
            assert laid.values.tolist() == cells(4, held).values.tolist()
    # A label without a row has no cells; rows that no label has are not looked at.
    laid = table(4, held, rows)
    gone = SharedTable(4, laid.table, np.array([5, -1, 1, 0, -1, 4]), 50)
    assert held_in(gone) == {place: value for place, value in held.items() if place[2] not in (1, 4)}
    empty = SharedTable(4, np.zeros((0, 6), dtype=np.uint16), np.zeros(0, dtype=np.int64), 0)
    assert held_in(empty) == {}
    assert held_in(SharedTable(4, np.zeros((3, 6), dtype=np.uint16), np.full(2, -1), 0)) == {}
    sent = pickle.loads(pickle.dumps(table(4, held, rows)))
    assert type(sent) is SharedCounts
    assert held_in(sent) == held


def test_a_few_cells_beside_a_table(loops: None) -> None:
    held = {(0, 1, 0): 65_530, (0, 2, 1): 4, (1, 2, 1): 9}
    # Beside those of the table, beyond what its numbers hold, and of labels that have no row.
    for more in ({(0, 1, 0): 5}, {(0, 1, 0): 6}, {(0, 1, 1): 2, (1, 2, 0): 1}):
        laid = table(3, held, [1, 0], more=more)
        before = laid.table.copy()
        assert held_in(laid) == total(held, more)
        assert laid.table.tolist() == before.tolist()
        laid.table.flags.writeable = False
        assert held_in(laid) == total(held, more)
        assert not laid.table.flags.writeable
    beyond = SharedTable(3, table(3, held, [1, 0]).table, np.array([1, 0, -1]), 65_530, cells(3, {(0, 1, 2): 3}))
    assert held_in(beyond) == total(held, {(0, 1, 2): 3})


def test_tables_are_added(loops: None) -> None:
    one, two = some(5), some(6)
    rows = [2, 0, 1, 3, 5, 4]
    for other_rows in (rows, [0, 1, 2, 3, 4, 5]):
        for more in (None, {(0, 1, 2): 7}):
            mine, theirs = table(4, one, rows, more=more), table(4, two, other_rows, more={(1, 3, 0): 2})
            expected = total(one, two, more or {}, {(1, 3, 0): 2})
            made = mine + theirs
            assert held_in(made) == expected
            assert isinstance(made, SharedTable) is (rows == other_rows)
            assert held_in(mine) == total(one, more or {})
            assert held_in(theirs) == total(two, {(1, 3, 0): 2})
            into = table(4, one, rows, more=more)
            own = into.table
            into += theirs
            assert held_in(into) == expected
            if rows == other_rows:
                assert into.table is own
    # Cells come beside the table, on either side.
    for made in (table(4, one, rows) + cells(4, two), cells(4, two) + table(4, one, rows)):
        assert isinstance(made, SharedTable)
        assert held_in(made) == total(one, two)


def test_tables_of_some_labels_each_are_added(loops: None) -> None:
    """Where a label has a row in one table only, the other may not use the row for another label."""
    base = table(4, some(7), [0, 1, 2, 3, 4, 5])
    values = base.table

    def with_rows(rows: list[int]) -> SharedTable:
        own = np.zeros_like(values)
        for row in rows:
            if row >= 0:
                own[row] = values[row]
        return SharedTable(4, own, np.array(rows), 50)

    one, two = with_rows([0, -1, 2]), with_rows([0, 1, -1, 3])
    expected = total(held_in(one), held_in(two))
    assert isinstance(one + two, SharedTable)
    assert held_in(one + two) == expected
    assert held_in(two + one) == expected
    # Label 1 has row 2 there, which is that of label 2 here.
    crossed = with_rows([0, 2])
    made = one + crossed
    assert not isinstance(made, SharedTable)
    assert held_in(made) == total(held_in(one), held_in(crossed))
    held = some(8, labels=3)
    assert held_in(one + table(4, held, [0, 1, 2], spare=9)) == total(held_in(one), held)


def test_numbers_of_a_sum_are_as_large_as_they_must_be() -> None:
    small, wide, long = (np.zeros((1, 1), dtype=kind) for kind in (np.uint16, np.int32, np.int64))
    assert _kind(small, small, (1 << 16) - 1) == np.uint16
    assert _kind(small, small, 1 << 16) == np.int32
    assert _kind(small, wide, 1 << 16) == np.int32
    assert _kind(wide, small, (1 << 31) - 1) == np.int32
    assert _kind(small, small, 1 << 31) == np.int64
    assert _kind(small, long, 1 << 16) == np.int64
    held = {(0, 1, 0): 40_000}
    one, two = table(2, held, [0]), table(2, held, [0])
    own = one.table
    one += two
    assert held_in(one) == {(0, 1, 0): 80_000}
    assert isinstance(one, SharedTable)
    assert one.table is not own
    assert one.most == 80_000
    # A table that may not be written to is left as it is.
    fixed = table(2, {(0, 1, 0): 4}, [0])
    fixed.table.flags.writeable = False
    total_of = fixed
    total_of += table(2, {(0, 1, 0): 5}, [0])
    assert held_in(total_of) == {(0, 1, 0): 9}
    assert held_in(fixed) == {(0, 1, 0): 4}


def test_padded_rows() -> None:
    assert _padded(np.array([3, 0]), 4).tolist() == [3, 0, -1, -1]
    assert _padded(np.array([3, 0]), 2).tolist() == [3, 0]


def test_a_table_is_kept_until_cells_are_asked_for(monkeypatch: pytest.MonkeyPatch, loops: None) -> None:
    held = some(9)
    laid = table(4, held, [0, 1, 2, 3, 4, 5], spare=50)
    # Six labels of six pairs, two bytes each.
    monkeypatch.setattr(shared_counts, "_KEPT_BYTES", 6 * 6 * 2)
    late = laid.kept()
    assert isinstance(late, CellsOnDemand)
    assert not laid.table.flags.writeable
    assert late.many == 4
    made = late.sparse()
    assert late.sparse() is made
    assert late.keys is made.keys
    assert late.values is made.values
    assert late._table is None
    assert held_in(late) == held
    assert held_in(late + cells(4, {(0, 1, 0): 1})) == total(held, {(0, 1, 0): 1})
    assert held_in(late.kept()) == held
    assert held_in(pickle.loads(pickle.dumps(late))) == held
    monkeypatch.setattr(shared_counts, "_KEPT_BYTES", 6 * 6 * 2 - 1)
    other = table(4, held, [0, 1, 2, 3, 4, 5])
    at_once = other.kept()
    assert type(at_once) is SharedCounts
    assert held_in(at_once) == held
    assert other.table.flags.writeable


@pytest.mark.parametrize("many", [1, 2, 5, 62])
def test_pairs_of_patterns(many: int) -> None:
    rng = np.random.default_rng(many)
    sets = [rng.permutation(many)[: rng.integers(0, min(many, 5) + 1)].tolist() for _ in range(30)]
    masks = np.array([sum(1 << k for k in held) for held in sets], dtype=np.int64)
    pattern, label, values = rng.integers(0, 30, 80), rng.integers(0, 9, 80), rng.integers(1, 20, 80)
    expected: Counter[tuple[int, int, int]] = Counter()
    for at, own, value in zip(pattern.tolist(), label.tolist(), values.tolist(), strict=True):
        for first, second in combinations(sorted(sets[at]), 2):
            expected[first, second, own] += value
    assert held_in(shared_of_patterns(many, masks, pattern, label, values)) == dict(expected)
    none = np.zeros(0, dtype=np.int64)
    assert held_in(shared_of_patterns(many, none, none, none, none)) == {}
    # Bits above the identities, as those of bags, are none.
    high = masks | (1 << 62 if many == 62 else 5 << many)
    assert held_in(shared_of_patterns(many, high, pattern, label, values)) == dict(expected)
