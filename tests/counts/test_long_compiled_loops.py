"""The compiled loops of long tables, each against a few lines of Python."""

from __future__ import annotations

from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pytest

from biasamp.data.keys import mix, text_keys
from extras import needs

needs("numba")

from biasamp.counts.kernels import long_compiled, long_pairs  # noqa: E402
from biasamp.counts.long_columns import _POWERS  # noqa: E402


def test_values_are_looked_up_where_all_are_there() -> None:
    table = np.array([5, -1, 7, 0], dtype=np.int32)
    codes = np.full(3, 99, dtype=np.int32)
    assert long_compiled.look_up(np.array([2, 0, 3]), table, codes)
    assert codes.tolist() == [7, 5, 0]
    for wrong in (1, -1, 4, -4):
        assert not long_compiled.look_up(np.array([2, wrong, 0]), table, codes)
    assert long_compiled.look_up(np.array([], dtype=np.int64), table, codes)


def keep(kept: Any, mask: int, labels: Any, start: int, stop: int) -> int:
    """Keep the rows of a record."""
    many, packed = long_pairs.settle_record(mask, kept.pairs, kept.overlap, kept.columns, kept.state)
    held = np.asarray(labels, dtype=np.int32)
    size, above = np.uint64(many), np.uint64(packed)
    long_pairs.keep_rows(size, above, held, start, stop, kept.rows, kept.ends, kept.links, kept.state)
    return int(many)


def test_where_values_change_and_whether_they_fall() -> None:
    for values, expected, ordered in (
        ([3, 3, 4, 9, 9], [False, True, True, False], True),
        ([3, 2, 2], [True, False], False),
        ([2, 3, 2, 5], [True, True, True], False),
        ([7], [], True),
    ):
        starts = np.zeros(len(values), dtype=bool)
        starts[0] = True
        assert bool(long_compiled.mark_starts(np.array(values), starts)) is ordered
        assert starts.tolist() == [True, *expected]


@pytest.mark.parametrize("size", [0, 1, 2, 63, 64, 65, 66, 130])
def test_texts_of_every_length_have_their_keys(size: int) -> None:
    rng = np.random.default_rng(size)
    lengths = [size, 3, size, 0, size + 1]
    ends = np.concatenate([[2], 2 + np.cumsum(lengths)])
    characters = rng.integers(0, 256, int(ends[-1])).astype(np.uint8)
    out = np.zeros(len(lengths), dtype=np.uint64)
    long_compiled.hash_texts(characters, ends, _POWERS, out)
    for place, (start, stop) in enumerate(pairwise(ends)):
        alone = mix(text_keys(characters[start:stop], np.array([0, stop - start])))
        assert int(out[place]) == int(alone[0])


def together(keys: list[int], codes: list[int]) -> list[tuple[int, list[int]]]:
    found: dict[int, list[int]] = {}
    for key, code in zip(keys, codes, strict=True):
        found.setdefault(key, []).append(code)
    return list(found.items())


@pytest.mark.parametrize("many", [0, 1, 2, 40])
def test_rows_of_one_key_are_brought_together(many: int) -> None:
    rng = np.random.default_rng(many)
    # Keys whose places in the table are the same are told apart.
    keys = (rng.integers(0, max(many // 3, 1), many) << rng.integers(0, 2, many) * 40).astype(np.uint64)
    codes = rng.integers(0, 9, many).astype(np.int32)
    slots = np.full(64, -1, dtype=np.int32)
    heads, out = np.zeros(many, dtype=np.uint64), np.zeros(many, dtype=np.int32)
    run, place = np.zeros(many, dtype=np.int32), np.full(many, 77, dtype=np.int32)
    starts = np.zeros(many, dtype=bool)
    found = long_compiled.bring_together(keys, codes, slots, heads, run, place, starts, out)
    expected = together(keys.tolist(), codes.tolist())
    assert found == len(expected)
    assert heads[:found].tolist() == [key for key, _ in expected]
    assert out.tolist() == [code for _, mine in expected for code in mine]
    assert np.flatnonzero(starts).tolist() == np.cumsum([0, *(len(mine) for _, mine in expected)])[:-1].tolist()


def test_patterns_find_their_places() -> None:
    columns = np.array([0, 5, 1 << 40, 77, 9, 1 << 62], dtype=np.int64)
    slots = np.full(8, -1, dtype=np.int64)
    long_compiled.place_patterns(slots, columns, 5)
    assert sorted(slots.tolist()) == [-1, -1, -1, 0, 1, 2, 3, 4]
    for column in range(5):
        at = long_compiled.slot_of(columns[column], slots, columns)
        assert slots[at] == column
    assert slots[long_compiled.slot_of(1 << 62, slots, columns)] == -1
    for mask in range(300):
        held = slots[long_compiled.slot_of(mask, slots, columns)]
        assert held == (columns[:5].tolist().index(mask) if mask in columns[:5] else -1)


def usable_by_hand(at: int, stop: int, ids: list[int], labels: list[int], top: int, last: int) -> int:
    for place in range(at, stop):
        if labels[place] >= top or ids[place] < last:
            return place
        last = ids[place]
    return stop


def test_rows_that_are_of_use() -> None:
    rng = np.random.default_rng(0)
    for _ in range(200):
        many = int(rng.integers(1, 8))
        ids, labels = np.sort(rng.integers(0, 5, many)), rng.integers(0, 6, many).astype(np.uint64)
        if rng.random() < 0.4:
            ids = rng.permutation(ids)
        at = int(rng.integers(0, many))
        stop, top, last = int(rng.integers(at + 1, many + 1)), int(rng.integers(3, 7)), int(rng.integers(-1, 3))
        expected = usable_by_hand(at, stop, ids.tolist(), labels.tolist(), top, last)
        assert long_compiled.usable_rows(at, stop, ids, labels, top, last) == expected
    # Both limits: a label that is the first without room, and an id that stays.
    ids, labels = np.array([3, 3, 4]), np.array([1, 4, 0], dtype=np.uint64)
    assert long_compiled.usable_rows(0, 3, ids, labels, 5, 3) == 3
    assert long_compiled.usable_rows(0, 3, ids, labels, 4, 3) == 1
    assert long_compiled.usable_rows(0, 3, ids, labels, 5, 4) == 0


def test_labels_of_a_run_each_once() -> None:
    seen = np.zeros(6, dtype=np.uint64)
    seen[:] = (np.uint64(4) << np.uint64(32)) | np.uint64(2)
    buffer = np.full(6, -1, dtype=np.int32)
    labels = np.array([9, 5, 3, 5, 3, 0, 9], dtype=np.int64)
    many = long_compiled.distinct(1, 6, labels, seen, buffer, 7)
    assert many == 3
    assert buffer[:3].tolist() == [5, 3, 0]
    # How many runs named a label stays, the last run is this one.
    assert [divmod(int(number), 1 << 32) for number in seen] == [(7, 2), (4, 2), (4, 2), (7, 2), (4, 2), (7, 2)]


@pytest.mark.parametrize("many", [1, 2, 5, 6, 7, 12, 62, 63])
def test_records_are_settled_and_their_rows_kept_and_counted(many: int) -> None:
    """A record of so many identities of 63: up to five stand in the row, more in columns."""
    rng = np.random.default_rng(many)
    identities, labels = 63, 600
    numbers = np.full((identities, identities), -1, dtype=np.int64)
    numbers[np.diag_indices(identities)] = np.arange(identities)
    first, second = np.triu_indices(identities, 1)
    numbers[first, second] = identities + np.arange(len(first))
    kept = long_pairs.for_labels(long_pairs.no_rows(numbers, 1 << 12), labels)
    single = np.zeros((labels, identities), dtype=np.int32)
    shared = np.zeros((labels, len(first)), dtype=np.uint16)
    expected_single, expected_shared = np.zeros_like(single), np.zeros_like(shared)
    overlap = np.zeros((identities, identities), dtype=np.int64)
    pair = {(int(a), int(b)): place for place, (a, b) in enumerate(zip(first, second, strict=True))}
    for place in range(12):
        own = np.sort(rng.permutation(identities)[:many])
        if place == 0:
            own = np.arange(identities - many, identities)
        mask = int(sum(1 << int(k) for k in own))
        assert long_pairs.cells_of_mask(mask) == many * (many + 1) // 2
        held = rng.permutation(labels)[:90].astype(np.int32)
        assert keep(kept, mask, held, 2, 80) == many
        columns = [pair[int(one), int(two)] for one, two in combinations(own.tolist(), 2)]
        expected_single[np.ix_(held[2:80], own)] += 1
        expected_shared[np.ix_(held[2:80], columns)] += 1
        overlap[np.ix_(own, own)] += 1
    assert kept.state[long_pairs.USED_ROWS] == 12
    assert kept.state[long_pairs.COLUMNS] == (12 * (1 + many * (many + 1) // 2) if many > 5 else 0)
    assert np.triu(kept.overlap).tolist() == np.triu(overlap).tolist()
    long_pairs.settle_pairs(kept, single, shared)
    assert single.tolist() == expected_single.tolist()
    assert shared.tolist() == expected_shared.tolist()
    # Nothing is kept any more: to settle again changes nothing.
    assert kept.state[[long_pairs.USED_ROWS, long_pairs.COLUMNS]].tolist() == [0, 0]
    assert kept.state[long_pairs.BLOCKS] == len(kept.heads)
    long_pairs.settle_pairs(kept, single, shared)
    assert single.tolist() == expected_single.tolist()


def test_rows_fill_blocks_one_after_another() -> None:
    """One label's rows alone, beyond several blocks."""
    numbers = np.array([[0, 2], [-1, 1]])
    kept = long_pairs.for_labels(long_pairs.no_rows(numbers, 1 << 12), 3)
    single, shared = np.zeros((3, 2), dtype=np.int32), np.zeros((3, 1), dtype=np.uint16)
    for rows in range(700):
        keep(kept, 3 if rows % 2 else 1, [2], 0, 1)
    # 350 rows of either size, in blocks of 256: each has begun a second one.
    assert kept.state[long_pairs.BLOCKS] == len(kept.heads) + 2
    long_pairs.settle_pairs(kept, single, shared)
    assert single.tolist() == [[0, 0], [0, 0], [700, 350]]
    assert shared.tolist() == [[0], [0], [350]]
    assert np.triu(kept.overlap).tolist() == [[700, 350], [0, 350]]
    for _ in range(256):
        keep(kept, 1, [1], 0, 1)
    assert kept.state[long_pairs.BLOCKS] == len(kept.heads) + 1
    long_pairs.settle_pairs(kept, single, shared)
    assert single.tolist() == [[0, 0], [256, 0], [700, 350]]


def test_stretches_of_labels() -> None:
    """At most 256, of as many labels each as a power of two."""
    numbers = np.array([[0, 2], [-1, 1]])
    kept = long_pairs.no_rows(numbers, 10)
    for labels, bits, stretches in (
        (0, 0, 0),
        (1, 0, 1),
        (256, 0, 256),
        (257, 1, 129),
        (512, 1, 256),
        (513, 2, 129),
        (1024, 2, 256),
    ):
        made = long_pairs.for_labels(kept, labels)
        assert made.state[long_pairs.BITS] == bits
        assert made.state[long_pairs.LABELS] == labels
        assert len(made.heads) == len(made.ends) == 6 * stretches
        assert made.heads.tolist() == list(range(6 * stretches))
        assert made.ends.tolist() == [256 * place for place in range(6 * stretches)]
        assert made.state[long_pairs.BLOCKS] == 6 * stretches
        assert (made.links[: 6 * stretches] == -1).all()
    assert len(long_pairs.no_rows(numbers[:0, :0], 10).links) == 0


def test_whether_rows_have_room() -> None:
    ends, links, columns = np.zeros(4, dtype=np.int64), np.zeros(20, dtype=np.int64), np.zeros(100, dtype=np.uint16)
    state = np.zeros(5, dtype=np.int64)

    def room(rows: int, records: int = 0, many: int = 3) -> bool:
        return bool(long_pairs.has_room(rows, records, many, columns, ends, links, state))

    # A block for each of up to four stretches, one for every 256 rows, and one more.
    state[long_pairs.BLOCKS] = 14
    assert room(4)
    assert room(255)
    assert not room(256)
    state[long_pairs.BLOCKS] = 15
    assert room(3)
    assert not room(4)
    state[long_pairs.BLOCKS] = 0
    # Three identities take seven columns: how many, which, and their pairs.
    assert room(1, 14)
    assert not room(1, 15)
    state[long_pairs.COLUMNS] = 2
    assert room(1, 14)
    state[long_pairs.COLUMNS] = 3
    assert not room(1, 14)
    assert room(1, 9, 4 - 1)


def test_labels_without_a_row_are_set_apart() -> None:
    identities = 3
    pairs = np.array([[0, 0, 1], [0, 0, 2], [0, 0, 0]], dtype=np.uint16)
    state = np.zeros(5, dtype=np.int64)
    state[long_pairs.LABELS] = 5
    own = np.array([9, 4, 5, 0, 7], dtype=np.int32)
    waiting, used = np.zeros(40, dtype=np.int64), np.array([2], dtype=np.int64)
    front = long_pairs.set_apart(0b101, own, 4, waiting, used, pairs, state)
    assert front == 2
    assert own[:2].tolist() == [4, 0]
    expected = [(column, label) for label in (9, 5) for column in (0, identities + 1, 2)]
    found = [(int(cell) >> 32, int(cell) & ((1 << 32) - 1)) for cell in waiting[2 : used[0]]]
    assert found == expected


@pytest.mark.parametrize("kind", [np.uint16, np.int32])
def test_cells_of_a_table(kind: Any) -> None:
    rng = np.random.default_rng(1)
    table = (rng.integers(0, 5, (9, 7)) * (rng.random((9, 7)) < 0.5)).astype(kind)
    table[:, 3] = 0
    rows, names = np.array([4, 0, 8, 2]), np.array([10, 20, 30, 40])
    many = long_pairs.filled(table, rows)
    assert many.tolist() == (table[rows] != 0).sum(axis=0).tolist()
    ends = np.cumsum(many)
    keys, values = (np.zeros(int(ends[-1]), dtype=np.int64) for _ in range(2))
    high = np.arange(7) << 32
    long_pairs.cells_of(table, rows, names, np.concatenate([[0], ends[:-1]]), high, keys, values)
    expected = [
        (column << 32 | int(name), int(table[row, column]))
        for column in range(7)
        for row, name in zip(rows, names, strict=True)
        if table[row, column]
    ]
    assert list(zip(keys.tolist(), values.tolist(), strict=True)) == expected
