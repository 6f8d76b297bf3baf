"""Columns of every kind: the codes of labels, where records begin, the order of records and their keys."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from biasamp.counts import long_columns
from biasamp.counts.kernels.long_tally import numba_installed
from biasamp.counts.long_columns import (
    TABLE,
    LabelCodes,
    RecordRuns,
    Unordered,
    _ascending,
    _is_whole_number,
    before,
    has_repeats,
    keys_of,
    plain_records,
)
from biasamp.data.keys import mix, record_keys

COMPILED = [False, *([True] if numba_installed() else [])]


def words(codes: LabelCodes, column: Any) -> list[str | None]:
    found = codes.encode(column)
    assert found.dtype == np.int32
    return [None if code < 0 else codes.labels[code] for code in found.tolist()]


@pytest.mark.parametrize("compiled", COMPILED)
def test_labels_of_every_kind(compiled: bool) -> None:
    codes = LabelCodes(["b", "7"], compiled=compiled)
    assert codes.labels == ["b", "7"]
    assert len(codes) == 2
    cases: list[tuple[Any, list[str | None]]] = [
        (pa.array(["a", None, "b", "a"]), ["a", None, "b", "a"]),
        (pa.array(["a", "c"], pa.large_string()), ["a", "c"]),
        (pa.array(["d", None, "b"]).dictionary_encode(), ["d", None, "b"]),
        (pa.array([7, 3, 7]), ["7", "3", "7"]),
        (pa.array([7, None, 5]), ["7", None, "5"]),
        (pa.array([-2, 7]), ["-2", "7"]),
        (pa.array([TABLE, 1]), [str(TABLE), "1"]),
        (pa.array([TABLE - 1, 1]), [str(TABLE - 1), "1"]),
        (pa.array([3, 200], pa.uint8()), ["3", "200"]),
        (pa.array([True, False, None]), ["1", "0", None]),
        (pa.array([1.5, None, 2.0]), ["1.5", None, "2"]),
        (pa.array([], pa.int64()), []),
        (pa.array([], pa.string()), []),
        (pa.array([None, None], pa.string()), [None, None]),
        (pa.array([4, 4, None], pa.int16()).dictionary_encode(), ["4", "4", None]),
    ]
    for column, expected in cases:
        assert words(codes, column) == expected
        assert words(codes, column) == expected
    assert len(set(codes.labels)) == len(codes.labels)
    assert codes.places == {label: place for place, label in enumerate(codes.labels)}
    with pytest.raises(TypeError, match=r"the label column holds list<.*int64> values; one label per row"):
        codes.encode(pa.array([[1]]))


@pytest.mark.parametrize("compiled", COMPILED)
def test_whole_numbers_get_codes_as_they_come(compiled: bool) -> None:
    codes = LabelCodes(["9", "x", "2"], compiled=compiled)
    assert codes.whole_numbers == {9: 0, 2: 2}
    assert codes.encode(pa.array([5, 2])).tolist() == [3, 2]
    assert len(codes.lookup) == 6
    # A table that grows keeps what it has, and learns reserved numbers that it had no room for.
    assert codes.encode(pa.array([9, 5, 6])).tolist() == [0, 3, 4]
    assert len(codes.lookup) == 12
    assert codes.encode(pa.array([11, 0])).tolist() == [6, 5]
    assert len(codes.lookup) == 12
    assert codes.encode(pa.array([100])).tolist() == [7]
    assert len(codes.lookup) == 101
    assert codes.labels == ["9", "x", "2", "5", "6", "0", "11", "100"]
    assert codes.learn(np.zeros(0, dtype=np.int64))
    assert codes.learn(np.array([3]))
    assert codes.learn(np.array([0]))
    assert not codes.learn(np.array([-1, 3]))
    assert codes.learn(np.array([TABLE - 1]))
    assert not codes.learn(np.array([TABLE]))
    # Numbers whose table is there but that had no code.
    assert words(codes, pa.array([50, 51])) == ["50", "51"]
    # Numbers below 0 are no places from the end.
    assert words(codes, pa.array([-1, 50])) == ["-1", "50"]


def test_numbers_as_the_table_spells_them() -> None:
    assert _is_whole_number("0")
    assert _is_whole_number(str(TABLE - 1))
    assert not _is_whole_number(str(TABLE))
    assert not _is_whole_number("1" * 50)
    assert not _is_whole_number("007")
    assert not _is_whole_number("-1")
    assert not _is_whole_number("1.0")
    assert not _is_whole_number("²")
    assert not _is_whole_number("٣")
    assert not _is_whole_number("")


def test_words_of_a_dictionary_that_is_met_again() -> None:
    codes = LabelCodes()
    one, two = pa.array(["a", "b"]), pa.array(["b", "c"])

    def column(dictionary: Any, indices: list[int | None]) -> Any:
        return pa.DictionaryArray.from_arrays(pa.array(indices, pa.int8()), dictionary)

    assert words(codes, column(one, [1, 0, None])) == ["b", "a", None]
    assert words(codes, column(two, [1, 0])) == ["c", "b"]
    assert words(codes, column(pa.array(["b", "c"]), [0, 1])) == ["b", "c"]
    assert words(codes, column(pa.array(["c", None], pa.string()), [0, 1, None])) == ["c", None, None]
    assert words(codes, column(pa.array([1, 2]), [1, 0])) == ["2", "1"]
    large = pa.array(["z", "a"], pa.large_string())
    assert words(codes, column(large, [0, 1])) == ["z", "a"]
    assert codes.labels == ["a", "b", "c", "1", "2", "z"]


def parts_of(values: list[Any], kind: Any, cuts: list[int]) -> list[Any]:
    column = pa.array(values, kind)
    return [column[start:stop] for start, stop in zip([0, *cuts], [*cuts, len(values)], strict=True)]


KINDS: list[tuple[Any, Any]] = [
    (pa.int64(), int),
    (pa.int8(), int),
    (pa.string(), "r{:02d}".format),
    (pa.large_string(), "r{:02d}".format),
]


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("kind, spelled", KINDS)
@pytest.mark.parametrize("coded", [False, True])
def test_runs_of_ascending_records(compiled: bool, kind: Any, spelled: Any, coded: bool) -> None:
    numbers = [1, 1, 2, 4, 4, 4, 7, 8, 8]
    starts = [True, False, True, True, False, False, True, True, False]
    for cuts in ([], [1], [3, 4], [2, 2, 5, 9]):
        runs = RecordRuns(compiled=compiled)
        found = []
        for part in parts_of([spelled(n) for n in numbers], kind, cuts):
            found += runs.starts(part.dictionary_encode() if coded else part).tolist()
        assert found == starts
        assert runs.ordered
        assert (runs.first, runs.last) == (spelled(1), spelled(8))
        assert runs.keys is None
        assert not runs.scattered(final=True)
    # Nothing at all.
    runs = RecordRuns(compiled=compiled)
    assert runs.starts(pa.array([], kind)).tolist() == []
    assert runs.first is runs.last is None


@pytest.mark.parametrize("compiled", COMPILED)
@pytest.mark.parametrize("kind, spelled", KINDS)
def test_records_that_do_not_ascend(compiled: bool, kind: Any, spelled: Any) -> None:
    for numbers, cuts, again in (
        ([2, 2, 1], [], False),
        ([2, 2, 1], [2], False),
        ([1, 2, 1], [], True),
        ([1, 2, 1], [2], False),
        ([3, 3, 1, 2, 1], [2], True),
    ):
        runs = RecordRuns(compiled=compiled)
        parts = parts_of([spelled(n) for n in numbers], kind, cuts)
        for part in parts[:-1]:
            runs.starts(part)
        with pytest.raises(Unordered) as stopped:
            runs.starts(parts[-1])
        # Only the rows of the part itself are looked at.
        assert stopped.value.scattered is again
        kept = RecordRuns(keep_keys=True, compiled=compiled)
        found = [start for part in parts for start in kept.starts(part).tolist()]
        expected = [place == 0 or numbers[place] != numbers[place - 1] for place in range(len(numbers))]
        assert found == expected
        assert not kept.ordered
        heads = [spelled(n) for n, start in zip(numbers, expected, strict=True) if start]
        assert kept.keys is not None
        keys = record_keys(np.array(heads))
        assert kept.keys.tolist() == (mix(keys) if isinstance(heads[0], str) else keys).tolist()
        assert kept.scattered(final=True) is (len(set(heads)) < len(heads))
        assert not kept.scattered()


def test_records_that_come_again_are_looked_for_now_and_then() -> None:
    """When the runs are 1,024, and whenever they have doubled."""
    runs = RecordRuns(keep_keys=True)
    assert runs.keys is not None
    assert runs.keys.tolist() == []
    runs.starts(pa.array([5, 4, 5]))
    assert not runs.scattered()
    runs.starts(pa.array(np.arange(10_000, 10_000 + 1020)))
    assert runs.keys is not None
    assert len(runs.keys) == 1023
    assert not runs.scattered()
    runs.starts(pa.array([1]))
    assert runs.scattered()
    good = RecordRuns(keep_keys=True)
    good.starts(pa.array([9, 8]))
    good.starts(pa.array(np.arange(100, 100 + 1022)))
    assert not good.scattered()
    good.starts(pa.array([9]))
    # Looked for again at 2,048.
    assert not good.scattered()
    good.starts(pa.array(np.arange(10_000, 10_000 + 1022)))
    assert not good.scattered()
    good.starts(pa.array([7]))
    assert good.scattered()
    # Records in order cannot come again.
    ordered = RecordRuns(keep_keys=True)
    ordered.starts(pa.array(np.arange(3000)))
    assert not ordered.scattered()
    assert not ordered.scattered(final=True)


def test_repeats() -> None:
    assert not has_repeats(np.zeros(0, dtype=np.uint64))
    assert not has_repeats(np.array([5, 3, 4], dtype=np.uint64))
    assert has_repeats(np.array([5, 3, 5], dtype=np.uint64))


def test_records_of_every_kind() -> None:
    def same(column: Any, expected: Any) -> None:
        found = plain_records(column)
        assert found.type == expected.type
        assert found.to_pylist() == expected.to_pylist()

    same(pa.array([1, 2], pa.int16()), pa.array([1, 2], pa.int16()))
    same(pa.array(["a"]), pa.array(["a"]))
    same(pa.array(["a"], pa.large_string()), pa.array(["a"], pa.large_string()))
    text = pa.array(["a", "b"]).dictionary_encode()
    assert plain_records(text) is text
    same(pa.array([3, 4]).dictionary_encode(), pa.array([3, 4]))
    same(pa.array([True, False]), pa.array([1, 0], pa.int8()))
    same(pa.array([1.0, 2.0]), pa.array([1, 2]))
    same(pa.array([1.5, 2.0]), pa.array(["1.5", "2"]))
    same(pa.array([5], pa.date32()), pa.array(["1970-01-06"]))
    with pytest.raises(
        TypeError, match=r"the record column holds list<.*int64> values; a number or a text a row is read"
    ):
        plain_records(pa.array([[1]]))
    with pytest.raises(ValueError, match="the record column has 2 empty values in one batch"):
        plain_records(pa.array([1, None, None]))


def test_the_order_of_ids() -> None:
    assert before(1, 2)
    assert not before(2, 2)
    assert not before(3, 2)
    assert before("a", "b")
    assert not before("b", "b")
    # As UTF-8 sorts them, and never texts with numbers.
    assert before("z", "é")
    assert before("\uffff", "\U00010000")
    assert not before(1, "2")
    assert not before("1", 2)
    assert not before(1, 2.5)


def test_heads_that_ascend() -> None:
    for column in (pa.array(["a", "b", "c"]), pa.array(["a"]), pa.array([], pa.string())):
        assert _ascending(column)
        assert _ascending(column.dictionary_encode())
    for column in (pa.array(["a", "a"]), pa.array(["b", "a"]), pa.array(["a", "c", "b"])):
        assert not _ascending(column)
        assert not _ascending(column.dictionary_encode())


@pytest.mark.parametrize("kernel", ["numpy", *(["numba"] if numba_installed() else [])])
def test_keys_are_those_of_records_ids(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_columns, "_HASHED_AT_ONCE", 3)
    texts = ["", "a", "ab", "ba", "é", "x" * 63, "y" * 64, "z" * 65, "w" * 200]
    expected = [int(mix(record_keys([text]))[0]) for text in texts]
    for column in (pa.array(texts), pa.array(texts, pa.large_string()), pa.array(texts).dictionary_encode()):
        assert keys_of(column, kernel).tolist() == expected
    assert keys_of(pa.array(["skipped", *texts])[1:], kernel).tolist() == expected
    assert keys_of(pa.array(["", ""]), kernel).tolist() == expected[:1] * 2
    assert keys_of(pa.array([], pa.string()), kernel).dtype == np.uint64
    assert len(keys_of(pa.array([], pa.string()), kernel)) == 0
    numbers = np.array([0, 5, 127])
    for kind in (pa.int8(), pa.int64(), pa.uint8(), pa.uint64()):
        assert keys_of(pa.array(numbers, kind), kernel).tolist() == record_keys(numbers).tolist()
    assert keys_of(pa.array(numbers).dictionary_encode(), kernel).tolist() == record_keys(numbers).tolist()
    large = np.array([(1 << 64) - 1], dtype=np.uint64)
    assert keys_of(pa.array(large), kernel).tolist() == record_keys(large).tolist()


def test_many_texts_are_hashed_in_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []
    monkeypatch.setattr(long_columns, "kernel_for", lambda rows: asked.append(rows) or "numpy")
    keys_of(pa.array(["a", "b"]))
    keys_of(pa.array([1, 2]))
    assert asked == [2]
