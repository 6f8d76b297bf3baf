"""Parquet files whose footer, or whose pages, do not tell what they hold: refused, or read in little memory."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
import forged_parquet as forged
from biasamp.data import parquet_footer, parquet_pages, parquet_sizes
from biasamp.data.files import open_files
from biasamp.data.parquet_footer import row_groups
from biasamp.data.parquet_pages import longest_text, pages_of, reading_at
from biasamp.data.parts import read_table, split
from biasamp.data.unzipping import VARIABLE

ROWS, LONG = 40_000, 20_000
TEXTS = [
    forged.element("g", forged.BYTES, note=0),
    forged.element("t", forged.INT64),
    forged.element("p", forged.INT64),
]
LISTS = [
    forged.element("g", None, fields=1, note=3),
    forged.element("list", None, fields=1, repeated=2),
    forged.element("element", forged.INT64),
    *TEXTS[1:],
]


def beside(rows: int) -> list[forged.Column]:
    return [forged.numbers("t", rows), forged.numbers("p", rows)]


def texts(path: Path, *, header: int | None = None, **said: Any) -> Path:
    """A long text, stored once, in every row: 800 MB."""
    pages = [
        forged.dictionary_page(forged.text(b"a" * LONG), header),
        forged.data_page(forged.codes(ROWS), ROWS),
    ]
    return forged.write_forged(
        path, TEXTS, [forged.column(["g"], forged.BYTES, pages, ROWS, **said), *beside(ROWS)], ROWS
    )


def prefixes(path: Path) -> Path:
    """Texts that begin as the one before, of which the rest is stored."""
    table = pa.table({"g": ["a" * LONG] * 2_000, "t": [0, 1] * 1_000, "p": [1, 1] * 1_000})
    encodings = {"g": "DELTA_BYTE_ARRAY", "t": "PLAIN", "p": "PLAIN"}
    with pq.ParquetWriter(path, table.schema, use_dictionary=False, column_encoding=encodings) as writer:
        for _ in range(ROWS // 2_000):
            writer.write_table(table)
    return path


HIDDEN: dict[str, Callable[[Path], Path]] = {
    "honest": lambda path: texts(path, first=1, dictionary=0),
    "a dictionary that the footer does not tell of": texts,
    "a dictionary that is elsewhere by the footer": lambda path: texts(path, dictionary=1),
    "a footer that says that a column is small": lambda path: texts(path, first=1, dictionary=0, size=1),
    "a header that says that a page is small": lambda path: texts(path, header=1, first=1, dictionary=0),
    "prefixes": prefixes,
}


@pytest.mark.parametrize("name", HIDDEN)
def test_long_texts_are_found_wherever_they_are_hidden(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = HIDDEN[name](tmp_path / "x.parquet")
    assert path.stat().st_size < 100_000
    monkeypatch.setenv(VARIABLE, "20MB")
    most = 0
    seen = parquet_sizes._few_rows

    def watched(*given: Any) -> Any:
        nonlocal most
        for batch in seen(*given):
            most = max(most, batch.nbytes)
            yield batch

    monkeypatch.setattr(parquet_sizes, "_few_rows", watched)
    with pytest.raises(ValueError, match=r"x\.parquet holds more than 20 MB once it is decoded"):
        read_table(open_files(path), ["g", "t"])
    first = next(split(open_files(path), ["g", "t"])[0].batches())
    assert first.column("g")[0].as_py() == "a" * LONG
    assert 0 < most <= 20 * 10**6


def items(path: Path, *, said: int, name: str) -> Path:
    """A row of so many items, whatever the footer says."""
    many = 3_000_000
    content = forged.levels((1, 0), (many - 2, 1), (1, 0)) + forged.levels((many, 1)) + forged.codes(many)
    pages = [forged.dictionary_page(struct.pack("<q", 1)), forged.data_page(content, many)]
    schema = LISTS if name == "list" else [forged.element("g", forged.INT64, repeated=2), *TEXTS[1:]]
    below = ["g", "list", "element"] if name == "list" else ["g"]
    held = forged.column(below, forged.INT64, pages, said, first=1, dictionary=0)
    return forged.write_forged(path, schema, [held, *beside(2)], 2)


@pytest.mark.parametrize("name", ["list", "repeated"])
@pytest.mark.parametrize("said", [2, 3_000_000])
def test_items_of_lists_are_counted_by_the_pages(
    name: str, said: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = items(tmp_path / "x.parquet", said=said, name=name)
    assert path.stat().st_size < 1_000
    monkeypatch.setenv(VARIABLE, "20MB")
    for read in (
        lambda: read_table(open_files(path), ["g"]),
        lambda: list(split(open_files(path), ["g"])[0].batches()),
    ):
        with pytest.raises(ValueError, match=r"x\.parquet holds 24 MB once it is decoded"):
            read()


def test_missing_values_of_a_fixed_length_take_it_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    schema = [forged.element("g", forged.FIXED, repeated=1, length=LONG), *TEXTS[1:]]
    pages = [forged.data_page(forged.levels((ROWS, 0)), ROWS, forged.PLAIN)]
    columns = [forged.column(["g"], forged.FIXED, pages, ROWS), *beside(ROWS)]
    path = forged.write_forged(tmp_path / "x.parquet", schema, columns, ROWS)
    monkeypatch.setenv(VARIABLE, "20MB")
    for read in (
        lambda: read_table(open_files(path), ["g"]),
        lambda: list(split(open_files(path), ["g"])[0].batches()),
    ):
        with pytest.raises(ValueError, match=r"x\.parquet holds 800 MB once it is decoded"):
            read()


@pytest.mark.parametrize(
    ("values", "rows", "words"),
    [
        (-5, ROWS, "column 'g' has -5 values for 40,000 rows"),
        (ROWS - 1, ROWS, "column 'g' has 39,999 values for 40,000 rows"),
        (ROWS + 9, ROWS + 9, "column 'g' has 40,000 of its 40,009 values"),
        (1 << 40, 1 << 40, "column 'g' has 40,000 of its 1,099,511,627,776 values"),
    ],
)
def test_rows_that_are_not_there(values: int, rows: int, words: str, tmp_path: Path) -> None:
    pages = [forged.dictionary_page(forged.text(b"a")), forged.data_page(forged.codes(ROWS), ROWS)]
    held = forged.column(["g"], forged.BYTES, pages, values, first=1, dictionary=0)
    path = forged.write_forged(tmp_path / "x.parquet", [*TEXTS[1:], TEXTS[0]], [*beside(rows), held], rows)
    for read in (
        lambda: read_table(open_files(path), ["g"]),
        lambda: list(split(open_files(path), ["g"])[0].batches()),
    ):
        with pytest.raises(ValueError, match=words):
            read()


def test_long_texts_in_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many short labels are read as ever; one long one among them may be in every place."""
    short = [[f"label {i}", f"label {i + 1}"] for i in range(1_000)] * 20
    monkeypatch.setenv(VARIABLE, "2MB")
    for name, rows in {"short.parquet": short, "long.parquet": [["x" * 1_000], *short]}.items():
        pq.write_table(pa.table({"g": rows}), tmp_path / name)
    parts = split(open_files(tmp_path / "short.parquet"), ["g"])
    assert [row for part in parts for batch in part.batches() for row in batch.column("g").to_pylist()] == short
    assert read_table(open_files(tmp_path / "short.parquet"), ["g"])["g"].to_pylist() == short
    with pytest.raises(ValueError, match=r"long\.parquet holds 40 MB once it is decoded"):
        list(split(open_files(tmp_path / "long.parquet"), ["g"])[0].batches())


@pytest.mark.parametrize("compression", ["NONE", "SNAPPY", "GZIP", "BROTLI", "ZSTD", "LZ4"])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
def test_pages_of_files_as_they_are_written(compression: str, version: str, tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    n = 50_000
    table = pa.table(
        {
            "g": rng.choice(["woman", "man", "x" * 300], n),
            "x": rng.random(n),
            "id": [f"record {i}" for i in range(n)],
            "labels": [["a", "b"], [], ["c"]] * (n // 3) + [[]] * (n % 3),
        }
    )
    path = tmp_path / "x.parquet"
    pq.write_table(table, path, compression=compression, data_page_version=version, data_page_size=5_000)
    metadata = pq.read_metadata(path)
    with reading_at(path) as read_at:
        (group,) = row_groups(read_at)
        assert (group.rows, len(group.columns)) == (n, metadata.num_columns)
        for place in range(metadata.num_columns):
            said = metadata.row_group(0).column(place)
            chunk = group.chunk(place, said.path_in_schema)
            names = ("num_values", "total_compressed_size", "data_page_offset", "dictionary_page_offset")
            assert [getattr(chunk, name) for name in names] == [getattr(said, name) for name in names]
            assert chunk.compression == {"LZ4": "LZ4_RAW"}.get(said.compression, said.compression)
            pages = pages_of(chunk, read_at)
            assert pages.values == chunk.num_values
            # Headers are counted there, and not here; what grows by compression here, and not there.
            assert 0.9 * said.total_uncompressed_size <= pages.stored <= 1.01 * said.total_uncompressed_size
            assert pages.page <= pages.stored
            if chunk.path_in_schema == "g":
                assert pages.longest == 5 + 3 + 300 + 3 * 4
                assert longest_text(chunk, pages, read_at) == 300


def test_prefixed_labels_are_read_in_parts_too(tmp_path: Path) -> None:
    """Arrow makes no codes of such columns."""
    rng = np.random.default_rng(1)
    n = 3_000
    table = pa.table({"g": rng.choice(["woman", "man"], n), "t": rng.integers(0, 2, n), "p": rng.choice([0, 1], n)})
    encodings = {"g": "DELTA_BYTE_ARRAY", "t": "PLAIN", "p": "PLAIN"}
    pq.write_table(table, tmp_path / "x.parquet", use_dictionary=False, column_encoding=encodings, row_group_size=1_000)
    settings: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "resamples": 20}
    whole, parts = (
        biasamp.audit(tmp_path / "x.parquet", **settings, metrics=["directional"], **more).document["metrics"]
        for more in ({}, {"engine": "local", "threads": 1})
    )
    assert parts == whole


def header(raw: bytes) -> Any:
    return parquet_pages._header(0, lambda place, size: raw[place : place + size])


def test_headers_with_fields_of_every_kind() -> None:
    """What is not known is passed over, as far as it ends."""
    number = bytes([0x15]) + b"\x0a"
    kinds = {
        "true": b"\x11",
        "byte": b"\x13\x07",
        "short": b"\x14\x80\x01",
        "double": b"\x17" + b"\x01" * 8,
        "text": b"\x18\x03abc",
        "list": b"\x19\x25\x02\x04",
        "long list": b"\x19\xf3\x10" + b"\x01" * 16,
        "set": b"\x1a\x11\x01",
        "map": b"\x1b\x01\x58\x02\x01x",
        "empty map": b"\x1b\x00",
        "struct": b"\x1c\x15\x04\x00",
        "list of structs": b"\x19\x2c\x15\x04\x00\x00",
    }
    for name, raw in kinds.items():
        numbers, _, end = header(number + raw + bytes([0x15]) + b"\x0c" + b"\x00")
        assert (numbers, end) == ({1: 5, 3: 6}, len(raw) + 5), name
    assert header(b"\x05\x06\x09\x00")[0] == {3: -5}  # the number of a field in full
    assert header(b"\x15\x02\x05\x02\x04\x00")[0] == {1: 2}  # the last of two
    assert header(b"\x1c\x15\x04\x00\x00")[1] == {1: {1: 2}}
    assert header(b"\x18\xac\x02" + b"x" * 300 + number + b"\x00")[0] == {2: 5}  # longer than what is read at first


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\x15",
        b"\x15\x04",
        b"\x15" + b"\xff" * 12,
        b"\x18\xff\xff\xff\x7f",
        b"\x1c" * 100,
        b"\x19\x19" * 100,
        b"\x1f\x00",
        b"\x19\xf3\xff\xff\xff\xff\xff\x7f",
    ],
)
def test_headers_that_have_no_end(raw: bytes) -> None:
    with pytest.raises(ValueError, match="header of a page"):
        header(raw)


def test_pages_that_cannot_be_followed(tmp_path: Path) -> None:
    pages = [forged.dictionary_page(forged.text(b"a")), b"\x15\x00\x15\x01\x15\x02\x00" * 3]
    held = forged.column(["g"], forged.BYTES, pages, 5, first=1, dictionary=0)
    path = forged.write_forged(tmp_path / "x.parquet", TEXTS, [held, *beside(5)], 5)
    with pytest.raises(
        ValueError, match=r"x\.parquet cannot be read .*pages of 'g' cannot be followed: a page has no size"
    ):
        read_table(open_files(path), ["g"])


_LEVELS = (forged.LIST, (forged.I64, [3, 2]))
_DOES_NOT_FIT: dict[str, dict[str, Any]] = {
    # Each of them ends the process where pyarrow is asked to describe the column.
    "definition levels": {"more": [(16, forged.STRUCT, [(3, *_LEVELS)])]},
    "repetition levels": {"more": [(16, forged.STRUCT, [(2, *_LEVELS)])]},
    "a key that is not there": {"beside": [(8, forged.STRUCT, [(2, forged.STRUCT, [(1, forged.LIST, (8, [b"g"]))])])]},
}


@pytest.mark.parametrize("name", _DOES_NOT_FIT)
def test_columns_that_contradict_themselves_are_refused(name: str, tmp_path: Path) -> None:
    pages = [forged.dictionary_page(forged.text(b"a")), forged.data_page(forged.codes(5), 5)]
    held = forged.column(["g"], forged.BYTES, pages, 5, first=1, dictionary=0, **_DOES_NOT_FIT[name])
    path = forged.write_forged(tmp_path / "x.parquet", TEXTS, [held, *beside(5)], 5)
    for read in (
        lambda: read_table(open_files(path), ["g"]),
        lambda: list(split(open_files(path), ["g"])[0].batches()),
    ):
        with pytest.raises(ValueError, match=r"x\.parquet cannot be read"):
            read()
    # What is not read is not looked at.
    assert read_table(open_files(path), ["t"])["t"].to_pylist() == [1] * 5


def test_names_of_columns_are_those_of_the_schema(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A row group that calls a column by another name does not keep it from being looked at."""
    pages = [forged.dictionary_page(forged.text(b"a" * LONG)), forged.data_page(forged.codes(ROWS), ROWS)]
    held = forged.column(["other"], forged.BYTES, pages, ROWS, first=1, dictionary=0)
    path = forged.write_forged(tmp_path / "x.parquet", TEXTS, [held, *beside(ROWS)], ROWS)
    monkeypatch.setenv(VARIABLE, "20MB")
    with pytest.raises(ValueError, match=r"x\.parquet holds more than 20 MB once it is decoded"):
        read_table(open_files(path), ["g"])


def test_row_groups_that_lack_columns(tmp_path: Path) -> None:
    path = forged.write_forged(tmp_path / "x.parquet", TEXTS[::-1], beside(5), 5)
    raw = path.read_bytes()
    # Three columns by the schema, two in the row group.
    path.write_bytes(raw.replace(b"schema\x15\x04", b"schema\x15\x06"))
    with pytest.raises(ValueError, match=r"x\.parquet .* a row group has 2 columns, without 'g'"):
        read_table(open_files(path), ["g"])
    assert read_table(open_files(path), ["t"])["t"].to_pylist() == [1] * 5


def footer(raw: bytes) -> Any:
    return parquet_footer._groups(raw)


def test_footers_are_read_as_arrow_reads_them() -> None:
    column = forged.packed([(3, forged.STRUCT, [(5, forged.I64, 7), (7, forged.I64, 1), (9, forged.I64, 4)])])
    twice = column[:-1] + b"\x0c\x06" + forged.packed([(5, forged.I64, 9)]) + b"\x00"  # the same field again
    for raw, values in ((column, 7), (twice, 9)):
        group = b"\x19\x1c" + raw + b"\x26\x0a\x00"
        (found,) = footer(b"\x49\x1c" + group + b"\x00")
        assert found == (5, ({5: values, 7: 1, 9: 4},))
        assert found.chunk(0, "g") == ("g", values, 1, 4, None, "UNCOMPRESSED")
    assert footer(b"\x49\x1c\x25\x0a\x00\x00") == ((0, ()),)  # a number of another kind is passed over


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"", "has no end"),
        (b"\x49\x1c", "has no end"),
        (b"\x49\x15\x02\x00", "has a list of something else"),
        (b"\x1f", "has a field of no known kind"),
        (b"\x49\xfc\xff\xff\xff\x7f", "has no end"),
        (b"\x19" * 99 + b"\x00", "is nested too deeply"),
    ],
)
def test_footers_that_are_none(raw: bytes, words: str) -> None:
    with pytest.raises(pa.ArrowInvalid, match=f"the footer {words}"):
        footer(raw)
