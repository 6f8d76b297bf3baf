"""Tallies of rows against sets of labels a record: few identities and many, columns and rows that run out, parts of rows."""

from __future__ import annotations

import sys
import warnings
from itertools import combinations
from typing import Any

import numpy as np
import pytest

pytest.importorskip("numba")

from biasamp.counts.kernels import long_numba, long_pairs, long_tally
from biasamp.counts.kernels.long_tally import (
    MOST_COLUMNS,
    NumpyTally,
    Tally,
    _expanded,
    kernel_for,
    longer,
    new_tally,
    numba_installed,
    repeated,
)

KERNELS = ["numpy", *(["numba"] if numba_installed() else [])]
Rows = list[list[int]]


def some_records(seed: int, records: int, labels: int, most: int = 6) -> Rows:
    """Rows of labels, some of them twice, some -1, which is a row without a label."""
    rng = np.random.default_rng(seed)
    return [rng.integers(-1, labels, rng.integers(1, most)).tolist() for _ in range(records)]


def rows_of(records: Rows) -> tuple[Any, Any]:
    starts = np.concatenate([[True, *[False] * (len(row) - 1)] for row in records])
    return starts, np.concatenate(records).astype(np.int32)


def counted(kernel: str, records: Rows, masks: Any, cuts: list[int], **options: Any) -> Any:
    """A tally of rows that are added in parts; the records that are open at the ends of the stretch are not in it."""
    starts, codes = rows_of(records)
    identities = options.pop("identities")
    tally = new_tally(kernel, identities, **options)
    for start, stop in zip([0, *cuts], [*cuts, len(codes)], strict=True):
        tally.widen(int(codes[start:stop].max(initial=-1)) + 1)
        tally.add(starts[start:stop], codes[start:stop], masks)
    ends = tally.cut()
    tally.settle()
    return tally, [sorted(run.tolist()) for run in ends]


def sets_of(records: Rows) -> list[set[int]]:
    return [{label for label in row if label >= 0} for row in records]


def mask_of(held: set[int], masks: Any) -> int:
    out = 0
    for label in held:
        if label < len(masks):
            out |= int(masks[label])
    return out


def by_pattern(tally: Any) -> dict[tuple[int, int], int]:
    """Records by (set of identities, label), from the table and the cells beyond it."""
    out = {}
    for label, column in np.argwhere(tally.table):
        out[tally.masks[column], int(label)] = int(tally.table[label, column])
    for pattern, label, many in zip(*(part.tolist() for part in tally.rare()), strict=True):
        assert pattern >= tally.table.shape[1]
        out[tally.masks[pattern], label] = many
    return out


def check_patterns(tally: Any, inner: list[set[int]], masks: Any) -> None:
    expected: dict[tuple[int, int], int] = {}
    records: dict[int, int] = {}
    for held in inner:
        mask = mask_of(held, masks)
        records[mask] = records.get(mask, 0) + 1
        for label in held:
            expected[mask, label] = expected.get((mask, label), 0) + 1
    assert by_pattern(tally) == expected
    found = {mask: many for mask, many in zip(tally.masks, tally.records.tolist(), strict=True) if many}
    assert found == records
    assert len(set(tally.masks)) == len(tally.masks)


def check_pairs(tally: Any, inner: list[set[int]], masks: Any, identities: int) -> None:
    labels = len(tally.count)
    single = np.zeros((labels, identities), dtype=int)
    overlap = np.zeros((identities, identities), dtype=int)
    pairs = list(combinations(range(identities), 2))
    shared = np.zeros((labels, len(pairs)), dtype=int)
    count = np.zeros(labels, dtype=int)
    for held in inner:
        mask = mask_of(held, masks)
        mine = [k for k in range(identities) if mask >> k & 1]
        for label in held:
            count[label] += 1
            single[label, mine] += 1
            for pair in combinations(mine, 2):
                shared[label, pairs.index(pair)] += 1
        for one in mine:
            overlap[one, one] += 1
        for one, two in combinations(mine, 2):
            overlap[one, two] += 1
    assert int(tally.records[0]) == len(inner)
    assert tally.count.tolist() == count.tolist()
    assert np.triu(tally.overlap).tolist() == overlap.tolist()
    found_single, found_shared = np.zeros_like(single), np.zeros_like(shared)
    places = tally.shared_places()
    for label, row in enumerate(places.tolist()):
        if row >= 0:
            found_single[label], found_shared[label] = tally.single[row], tally.shared[row]
    for column, label, many in zip(*(part.tolist() for part in tally.rare()), strict=True):
        assert label >= len(places)
        (found_single[label] if column < identities else found_shared[label])[
            column if column < identities else column - identities
        ] += many
    assert found_single.tolist() == single.tolist()
    assert found_shared.tolist() == shared.tolist()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("cuts", [[], [1], [3, 4, 40, 41, 200], list(range(1, 300, 7))])
@pytest.mark.parametrize("identities", [1, 3, 6])
def test_few_identities(kernel: str, cuts: list[int], identities: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_tally, "_SLICE", 50)
    records = some_records(identities, 130, 12)
    masks = np.array([1 << k for k in range(identities)] + [3 if identities > 1 else 1])
    tally, ends = counted(kernel, records, masks, cuts, identities=identities)
    held = sets_of(records)
    assert ends == [sorted(held[0]), sorted(held[-1])]
    check_patterns(tally, held[1:-1], masks)
    assert tally.duplicates == sum(label >= 0 for row in records for label in row) - sum(map(len, held))
    count = (
        [sum(label in one for one in held[1:-1]) for label in range(len(tally.count))] if kernel == "numpy" else None
    )
    assert count is None or tally.count.tolist() == count
    assert not tally.by_pair
    assert tally.shared.size == 0


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("waiting", [1 << 20, 5])
def test_patterns_beyond_the_columns_of_the_table(kernel: str, waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As bags make patterns many; the table has columns for the first 64 alone."""
    monkeypatch.setattr(long_tally, "WAITING", waiting)
    monkeypatch.setattr(long_numba, "WAITING", waiting)
    rng = np.random.default_rng(0)
    labels, masks = 90, np.array([1, 2, *((bag << 5) for bag in range(80))])
    records = [
        [int(rng.integers(2, 82)), *rng.integers(0, 2, 2).tolist(), *rng.integers(82, labels, 3).tolist()]
        for _ in range(700)
    ]
    tally, _ = counted(kernel, records, masks, [100, 101, 1500], identities=3, bagged=True)
    assert len(tally.masks) > MOST_COLUMNS + 30
    assert tally.table.shape[1] == MOST_COLUMNS
    assert len(tally.rare()[0])
    check_patterns(tally, sets_of(records)[1:-1], masks)


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("shared_bytes", [0, 4 * (9 + 36) * 5, 1])
@pytest.mark.parametrize("waiting", [1 << 20, 7])
def test_many_identities(kernel: str, shared_bytes: int, waiting: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of all labels, of the first five, or of the first, there is a row; of the others there are cells."""
    monkeypatch.setattr(long_tally, "WAITING", waiting)
    monkeypatch.setattr(long_numba, "WAITING", waiting)
    identities = 9
    records = [*some_records(1, 150, 30, 9), list(range(12)), [29], [], *some_records(2, 60, 40, 9)]
    records = [row or [-1] for row in records]
    masks = np.array([1 << k for k in range(identities)] + [0b101])
    tally, ends = counted(kernel, records, masks, [5, 6, 300], identities=identities, shared_bytes=shared_bytes)
    held = sets_of(records)
    assert ends == [sorted(held[0]), sorted(held[-1])]
    assert tally.by_pair
    assert len(tally.shared) == min(len(tally.count), {0: 1 << 28, 4 * 45 * 5: 5, 1: 1}[shared_bytes])
    check_pairs(tally, held[1:-1], masks, identities)
    assert tally.duplicates == sum(label >= 0 for row in records for label in row) - sum(map(len, held))


@pytest.mark.parametrize("kernel", KERNELS)
def test_several_stretches_of_rows(kernel: str) -> None:
    for identities in (2, 8):
        masks = np.array([1 << k for k in range(identities)])
        tally = new_tally(kernel, identities)
        tally.widen(10)
        inner, again = [], 0
        for seed in range(4):
            records = some_records(seed, 1 + 4 * seed, 10)
            tally.add(*rows_of(records), masks)
            ends = [sorted(run.tolist()) for run in tally.cut()]
            held = sets_of(records)
            assert ends == [sorted(run) for run in ([held[0]] if len(held) == 1 else [held[0], held[-1]])]
            inner += held[1:-1]
            again += sum(label >= 0 for row in records for label in row) - sum(map(len, held))
        assert tally.cut() == ()
        tally.settle()
        (check_pairs if identities == 8 else check_patterns)(
            *((tally, inner, masks, 8) if identities == 8 else (tally, inner, masks))
        )
        assert tally.duplicates == again


@pytest.mark.parametrize("kernel", KERNELS)
def test_no_rows(kernel: str) -> None:
    for identities in (2, 8):
        tally = new_tally(kernel, identities)
        tally.widen(0)
        tally.add(np.zeros(0, dtype=bool), np.zeros(0, dtype=np.int32), np.array([1]))
        assert tally.cut() == ()
        tally.settle()
        assert tally.records.tolist() == [0]
        assert tally.duplicates == 0
        assert len(tally.count) == 0


def test_what_a_tally_has_room_for() -> None:
    """Identities have patterns while all of them have columns of the table, or where bags are in them."""
    assert not Tally(6).by_pair
    assert Tally(7).by_pair
    assert not Tally(7, bagged=True).by_pair
    assert Tally(7).single.shape == (0, 7)
    assert Tally(6).single.shape == (0, 0)
    assert Tally(7).shared.shape == (0, 21)
    assert Tally(6).shared.shape == (0, 0)
    assert Tally(7).shared.dtype == np.uint16
    # Four bytes for each identity and each pair of them.
    assert Tally(7).shared_rows == (1 << 28) // (4 * 28)
    assert Tally(7, shared_bytes=4 * 28 * 3).shared_rows == 3
    assert Tally(7, shared_bytes=4 * 28 * 3 - 1).shared_rows == 2
    assert Tally(7, shared_bytes=5).shared_rows == 1
    assert Tally(6, shared_bytes=24 * 5).shared_rows == 5
    assert Tally(7).overlap.shape == (7, 7)
    assert Tally(2).masks == [0]
    assert Tally(2).records.tolist() == [0]
    assert Tally(2).table.shape == (0, 1)
    assert Tally(2).count.shape == (0,)
    assert [part.tolist() for part in Tally(2).rare()] == [[], [], []]


def test_numbers_of_the_table_grow_where_records_are_many() -> None:
    tally = Tally(7)
    most = np.iinfo(np.uint16).max
    overlap = np.zeros((7, 7), dtype=np.int64)
    overlap[2, 2] = most + 9
    overlap[1, 3] = most
    tally._fit(overlap)
    assert tally.shared.dtype == np.uint16
    overlap[1, 3] += 1
    tally._fit(overlap)
    assert tally.shared.dtype == np.int32


def test_cells_are_added_up() -> None:
    tally = Tally(2)
    cells = np.array([(3 << 32) | 7, (1 << 32) | (1 << 32) - 1, (3 << 32) | 7])
    tally._keep(cells)
    tally._keep(cells[:1])
    pattern, label, values = (part.tolist() for part in tally.rare())
    assert pattern == [1, 3]
    assert label == [(1 << 32) - 1, 7]
    assert values == [1, 3]


def test_room_grows_by_doubling() -> None:
    tally = NumpyTally(2)
    tally.widen(5)
    assert len(tally.count) == len(tally.table) == 5
    tally.count[4] = 3
    tally.widen(5)
    tally.widen(3)
    assert len(tally.count) == 5
    tally.widen(6)
    assert len(tally.count) == len(tally.table) == 10
    assert tally.count.tolist() == [0, 0, 0, 0, 3, 0, 0, 0, 0, 0]
    tally.widen(50)
    assert len(tally.count) == 50
    pairs = NumpyTally(7, shared_bytes=4 * 28 * 8)
    for labels, rows in ((5, 5), (6, 8), (60, 8)):
        pairs.widen(labels)
        assert pairs.single.shape == (rows, 7)
        assert pairs.shared.shape == (rows, 21)
    assert pairs.table.shape == (0, 1)


def test_patterns_have_numbers_in_the_order_in_which_they_are_met() -> None:
    tally = NumpyTally(3)
    tally.widen(4)
    assert tally.patterns(np.array([4, 1, 4])).tolist() == [2, 1, 2]
    assert tally.masks == [0, 1, 4]
    assert tally.patterns(np.array([0, 2, 1])).tolist() == [0, 3, 1]
    assert tally.masks == [0, 1, 4, 2]
    assert tally.records.tolist() == [0, 0, 0, 0]
    assert tally.table.shape == (4, 4)
    assert tally.patterns(np.zeros(0, dtype=np.int64)).tolist() == []


def test_the_kernel_that_is_soonest_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_tally, "numba_installed", lambda: True)
    monkeypatch.setitem(sys.modules, "numba", sys)
    assert kernel_for(1) == "numba"
    assert kernel_for(1, here=False) == "numpy"
    monkeypatch.delitem(sys.modules, "numba")
    assert kernel_for(None) == "numba"
    assert kernel_for(None, here=False) == "numba"
    for here in (True, False):
        assert kernel_for((1 << 24) - 1, here) == "numpy"
        assert kernel_for(1 << 24, here) == "numba"
        assert kernel_for((1 << 24) - 1, here, 8) == "numpy"
        assert kernel_for(1 << 23, here, 16) == "numba"
        assert kernel_for((1 << 23) - 1, here, 16) == "numpy"
        assert kernel_for(1 << 23, here, 15) == "numpy"


def test_many_rows_without_numba_are_told_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_tally, "numba_installed", lambda: False)
    long_tally._say_once.cache_clear()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel_for(None) == "numpy"
        assert kernel_for((1 << 25) - 1) == "numpy"
    with pytest.warns(UserWarning, match="numba is not installed"):
        assert kernel_for(1 << 25) == "numpy"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel_for(1 << 25) == "numpy"
    assert isinstance(new_tally("auto", 2), NumpyTally)
    long_tally._say_once.cache_clear()


def test_the_kernel_that_is_asked_for() -> None:
    assert isinstance(new_tally("numpy", 2), NumpyTally)
    with pytest.raises(ValueError, match="kernel is 'fast'; 'auto', 'numba' or 'numpy' are accepted"):
        new_tally("fast", 2)
    if numba_installed():
        for kernel in ("numba", "auto"):
            tally = new_tally(kernel, 7, bagged=True, shared_bytes=4 * 7 * 3)
            assert isinstance(tally, long_numba.NumbaTally)
            assert not tally.by_pair
            assert tally.shared_rows == 3
    tally = new_tally("numpy", 7, bagged=True, shared_bytes=4 * 7 * 3)
    assert not tally.by_pair
    assert tally.shared_rows == 3


@pytest.mark.parametrize("rows", [2, 255, 256, 257, 258, 3000])
def test_repeats_are_found_wherever_they_are(rows: int) -> None:
    """The first rows are looked at before the others; labels that ascend in each run settle it."""
    run, labels = np.arange(rows) // 100, (np.arange(rows) % 100).astype(np.int32)
    assert repeated(run, labels, 100) is None
    for place in {1, rows // 2, rows - 1}:
        if run[place] != run[place - 1]:
            continue
        twice = labels.copy()
        twice[place] = twice[place - 1]
        expected = np.zeros(rows, dtype=bool)
        expected[place] = True
        found = repeated(run, twice, 100)
        assert found is not None
        assert found.sum() == 1
        assert found[[place - 1, place]].sum() == 1
    # Labels that fall, each once.
    assert repeated(run, labels[::-1].copy(), 100) is None
    assert repeated(run[:1], labels[:1], 100) is None
    assert repeated(run[:0], labels[:0], 100) is None


@pytest.mark.parametrize("together", [1 << 16, 100])
def test_all_repeats_of_many_are_found(together: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_tally, "_HASHED", together)
    rng = np.random.default_rng(1)
    for runs, labels, rows in ((1, 3, 400), (40, 5, 2000), (300, 1000, 3000), (2, 1, 9)):
        run = np.sort(rng.integers(0, runs, rows))
        label = rng.integers(0, labels, rows).astype(np.int32)
        found = repeated(run.astype(np.int32), label, labels)
        pairs = list(zip(run.tolist(), label.tolist(), strict=True))
        assert found is not None
        kept = [pair for pair, again in zip(pairs, found.tolist(), strict=True) if not again]
        assert sorted(kept) == sorted(set(pairs))


def test_repeats_of_a_run_longer_than_small_numbers_count() -> None:
    rng = np.random.default_rng(2)
    label = rng.integers(0, 60_000, 70_000).astype(np.int32)
    found = repeated(np.zeros(70_000, dtype=np.int32), label, 60_000)
    assert found is not None
    kept = label[~found]
    assert sorted(kept.tolist()) == sorted(set(label.tolist()))


def test_values_with_every_label_of_their_runs() -> None:
    labels = np.array([7, 8, 9, 4, 5], dtype=np.int32)
    values, own = _expanded(np.array([2, 0, 0]), np.array([10, 20, 30]), np.array([3, 0, 2]), labels)
    assert values.tolist() == [10, 10, 20, 20, 20, 30, 30, 30]
    assert own.tolist() == [4, 5, 7, 8, 9, 7, 8, 9]
    values, own = _expanded(np.array([1]), np.array([10]), np.array([3, 0, 2]), labels)
    assert values.tolist() == own.tolist() == []


def test_longer_arrays() -> None:
    assert longer(np.array([1, 2]), 3).tolist() == [1, 2, 0, 0, 0]
    assert longer(np.array([1, 2]), 0).tolist() == [1, 2]
    rows = longer(np.array([[1, 2]], dtype=np.uint16), 1)
    assert rows.tolist() == [[1, 2], [0, 0]]
    assert rows.dtype == np.uint16


@pytest.mark.skipif(not numba_installed(), reason="numba is not installed")
class TestWholeNumbers:
    """Rows of whole numbers that are their own codes."""

    def tally(self, identities: int, ids: Any, labels: Any, parts: list[int], **options: Any) -> Any:
        tally = new_tally("numba", identities, **options)
        members, masks = np.arange(identities), 1 << np.arange(identities)
        ids, labels = np.asarray(ids, dtype=np.int64), np.asarray(labels)
        for start, stop in zip([0, *parts], [*parts, len(ids)], strict=True):
            at = start
            while at < stop:
                assert tally.begin_own_codes(members, masks, int(labels[at:stop].max()) + 1)
                at += tally.add_integers(0, ids[at:stop], labels[at:stop])
        return tally

    @pytest.mark.parametrize("identities", [1, 3, 8, 12])
    @pytest.mark.parametrize("parts", [[], [1, 2, 90], [700]])
    @pytest.mark.parametrize("repeats", [False, True])
    def test_they_are_counted(self, identities: int, parts: list[int], repeats: bool) -> None:
        rng = np.random.default_rng(identities)
        records: Rows = []
        for _ in range(260):
            row = rng.integers(0, 30, rng.integers(1, 9)).tolist()
            records.append(row if repeats else list(dict.fromkeys(row)))
        ids = np.repeat(np.arange(len(records)) * 2, list(map(len, records)))
        labels = np.concatenate(records)
        tally = self.tally(identities, ids, labels, parts)
        held = sets_of(records)
        assert tally.own_labels().tolist() == sorted(set().union(*held))
        first, last = tally.cut()
        assert sorted(first.tolist()) == sorted(held[0])
        assert sorted(last.tolist()) == sorted(held[-1])
        assert tally.duplicates == len(labels) - sum(map(len, held))
        tally.settle()
        masks = 1 << np.arange(identities)
        if identities < 7:
            check_patterns(tally, held[1:-1], masks)
        else:
            check_pairs(tally, held[1:-1], masks, identities)

    @pytest.mark.parametrize("identities", [2, 8])
    def test_they_get_other_codes(self, identities: int) -> None:
        """Then rows of any labels are added, and what was counted is under the new codes."""
        rng = np.random.default_rng(identities)
        records = [list(dict.fromkeys(rng.integers(0, 20, 5).tolist())) for _ in range(60)]
        ids = np.repeat(np.arange(60), list(map(len, records)))
        tally = self.tally(identities, ids, np.concatenate(records), [100])
        values = tally.own_labels()
        # Labels of identities have the first codes.
        others = [value for value in values.tolist() if value >= identities]
        code = {value: value for value in range(identities)} | {
            value: identities + 3 + place for place, value in enumerate(reversed(others))
        }
        width = identities + 3 + len(others)
        tally.recode(values, np.array([code[value] for value in values.tolist()], dtype=np.int32), width)
        assert not tally.own_codes
        coded = [[code[label] for label in row] for row in records]
        more = some_records(5, 40, width + 6)
        tally.widen(width + 6)
        masks = 1 << np.arange(identities)
        tally.add(*rows_of(more), masks)
        first, last = tally.cut()
        held = sets_of([*coded, *more])
        assert sorted(first.tolist()) == sorted(held[0])
        assert sorted(last.tolist()) == sorted(held[-1])
        tally.settle()
        if identities == 2:
            check_patterns(tally, held[1:-1], masks)
        else:
            check_pairs(tally, held[1:-1], masks, identities)

    def test_room_for_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        members, masks = np.arange(2), np.array([1, 2])
        # Bytes of a table of four patterns.
        monkeypatch.setattr(long_numba, "_MOST_OWN", 4 * 4 * 100)
        assert not new_tally("numba", 2).begin_own_codes(members, masks, 101)
        tally = new_tally("numba", 2)
        assert tally.begin_own_codes(members, masks, 33)
        assert len(tally._room.seen) == 64
        assert tally.begin_own_codes(members, masks, 100)
        assert len(tally._room.seen) >= 100
        assert not new_tally("numba", 2, bagged=True).begin_own_codes(members, masks, 1)
        pairs = new_tally("numba", 8, shared_bytes=4 * 36 * 10)
        assert pairs.begin_own_codes(np.arange(8), 1 << np.arange(8), 10)
        assert not new_tally("numba", 8, shared_bytes=4 * 36 * 10).begin_own_codes(np.arange(8), 1 << np.arange(8), 11)
        # Once labels have other codes, whole numbers are labels as all others.
        coded = new_tally("numba", 2)
        coded.widen(3)
        coded.add(np.array([True]), np.array([1], dtype=np.int32), masks)
        assert not coded.begin_own_codes(members, masks, 3)

    def test_rows_up_to_one_that_cannot_be_counted(self) -> None:
        tally = new_tally("numba", 2)
        members, masks = np.arange(2), np.array([1, 2])
        assert tally.begin_own_codes(members, masks, 4)
        width = len(tally._room.seen)
        assert width == 4
        ids, labels = np.array([1, 1, 2, 2, 3]), np.array([0, 3, 1, width, 2])
        assert tally.add_integers(0, ids, labels) == 3
        assert tally.add_integers(4, ids, labels) == 5
        # An id below the last one, a label below 0.
        assert tally.add_integers(0, np.array([2, 4]), np.array([0, 0])) == 0
        assert tally.add_integers(0, np.array([3, 4, 3]), np.array([0, 0, 0])) == 2
        assert tally.add_integers(0, np.array([4, 5]), np.array([1, -1])) == 1
        first, last = tally.cut()
        assert first.tolist() == [0, 3]
        assert sorted(last.tolist()) == [0, 1]
        tally.settle()
        assert by_pattern(tally) == {(2, 1): 1, (1, 0): 1, (1, 2): 1}

    def test_a_part_has_so_many_records_at_most(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(long_numba, "_MOST_RUNS", 5)
        tally = new_tally("numba", 2)
        tally.widen(3)
        rows = np.ones(3, dtype=bool), np.array([0, 1, 2], dtype=np.int32), np.array([1, 2])
        tally.add(*rows)
        with pytest.raises(ValueError, match="one part of the data has more than 5 records: write it as several files"):
            tally.add(rows[0][:2], rows[1][:2], rows[2])
        tally.add(rows[0][:1], rows[1][:1], rows[2])

    @pytest.mark.parametrize("blocks", [4, 30])
    def test_rows_that_are_kept_are_counted_when_there_is_no_more_room(
        self, blocks: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Records of one to twelve identities, of labels in several stretches."""
        rng = np.random.default_rng(8)
        identities, labels = 12, 700
        records: Rows = []
        for place in range(500):
            row = [*rng.permutation(identities)[: place % 13].tolist(), *rng.integers(identities, labels, 4).tolist()]
            records.append(list(dict.fromkeys(row)))
        real = long_pairs.no_rows

        def fewer(pairs: Any, rows: int) -> Any:
            kept = real(pairs, rows)
            return kept._replace(links=kept.links[: 2 * 6 * 256 + blocks + 10])

        monkeypatch.setattr(long_numba.long_pairs, "no_rows", fewer)
        masks = 1 << np.arange(identities)
        held = sets_of(records)
        for own in (False, True):
            if own:
                ids = np.repeat(np.arange(len(records)), list(map(len, records)))
                tally = self.tally(identities, ids, np.concatenate(records), [1000])
                tally.cut()
                tally.settle()
            else:
                tally, _ = counted("numba", records, masks, [1000], identities=identities)
            check_pairs(tally, held[1:-1], masks, identities)
