"""Files and folders: every format reads alike, a shard like the whole, and what cannot be read is explained."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
from biasamp.data import Column, column_codes, formats
from biasamp.data.files import open_files
from biasamp.data.frames import arrow_column
from biasamp.data.parts import read_table
from table_files import write

TABLE = pa.table(
    {
        "g": ["w", "m", None, "w"] * 5,
        "t": [0, 1, 1, 0] * 5,
        "p": [0.25, 0.5, 1.0, None] * 5,
        "b": [True, False, None, True] * 5,
    }
)
NAMES = TABLE.column_names


def labels(path: Path, columns: list[str] = NAMES) -> list[list[str | None]]:
    """Every value as its canonical category, which is what an audit counts."""
    table = read_table(open_files(path), columns)
    return [spelled(arrow_column(name, table.column(name))) for name in columns]


def spelled(column: Column) -> list[str | None]:
    codes, categories = column_codes(column)
    return [None if code < 0 else categories[code] for code in codes.tolist()]


EXPECTED = [
    ["w", "m", None, "w"] * 5,
    ["0", "1", "1", "0"] * 5,
    ["0.25", "0.5", "1", None] * 5,
    ["1", "0", None, "1"] * 5,
]


@pytest.mark.parametrize("zipped", ["", ".gz"])
@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow", "csv", "tsv", "jsonl"])
def test_every_format_reads_alike(tmp_path: Path, kind: str, zipped: str) -> None:
    assert labels(write(TABLE, tmp_path / f"data.{kind}{zipped}")) == EXPECTED


@pytest.mark.parametrize("kind", ["parquet", "feather", "arrow", "csv", "jsonl", "csv.gz"])
def test_a_folder_reads_like_its_files_joined(tmp_path: Path, kind: str) -> None:
    """Also where a category, or any value at all, is missing in a shard."""
    folder = tmp_path / "folder"
    (folder / "nested").mkdir(parents=True)
    write(TABLE.slice(0, 2), folder / f"a.{kind}")
    write(TABLE.slice(2, 1), folder / f"b.{kind}")
    write(TABLE.slice(3), folder / "nested" / f"c.{kind}")
    (folder / "_SUCCESS").write_text("")
    (folder / ".hidden.csv").write_text("")
    if kind == "jsonl":  # a JSON line without a value does not name the column
        (folder / "b.jsonl").write_text('{"g": null, "t": 1, "p": 1.0, "b": null}\n')
    assert labels(folder) == EXPECTED


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("1\n2\n", "1\nb\n", ["1", "2", "1", "b"]),
        ("1.0\n2.0\n", "1.0\nb\n", ["1.0", "2.0", "1.0", "b"]),
        ("01\n02\n", "1\nb\n", ["01", "02", "1", "b"]),
        ("true\nfalse\n", "true\nmaybe\n", ["true", "false", "true", "maybe"]),
        ("1\n0\n", "0.5\n1\n", ["1", "0", "0.5", "1"]),
        ("2020-01-01\n2020-01-02\n", "x\n2020-01-01\n", ["2020-01-01", "2020-01-02", "x", "2020-01-01"]),
        ("\n\n", "a\nb\n", None),
    ],
)
def test_shards_of_a_csv_whose_types_differ(tmp_path: Path, first: str, second: str, expected: Any) -> None:
    header = "k,x\n"
    parts = ["".join(f"r,{line}\n" for line in text.splitlines()) for text in (first, second)]
    (tmp_path / "whole.csv").write_text(header + parts[0] + parts[1])
    folder = tmp_path / "parts"
    folder.mkdir()
    for name, part in zip("ab", parts, strict=True):
        (folder / f"{name}.csv").write_text(header + part)
    (whole,) = labels(tmp_path / "whole.csv", ["x"])
    assert labels(folder, ["x"]) == [whole]
    assert whole == ([None, None, "a", "b"] if expected is None else expected)


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ([True, False], [1, 0], ["1", "0", "1", "0"]),
        ([True, False], ["1", "x"], ["1", "0", "1", "x"]),
        ([1, 2], [1.5, 2.0], ["1", "2", "1.5", "2"]),
        ([1, 2], ["1", "b"], ["1", "2", "1", "b"]),
        ([None, None], ["a", "b"], [None, None, "a", "b"]),
    ],
)
def test_shards_of_parquet_whose_types_differ(tmp_path: Path, first: Any, second: Any, expected: Any) -> None:
    pq.write_table(pa.table({"x": first}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": second}), tmp_path / "b.parquet")
    assert labels(tmp_path, ["x"]) == [expected]


def test_shards_with_dictionaries_of_their_own(tmp_path: Path) -> None:
    for name, values in (("a", ["x", "y", "x"]), ("b", ["z", "y", None])):
        pq.write_table(pa.table({"x": pa.array(values).dictionary_encode()}), tmp_path / f"{name}.parquet")
    pq.write_table(pa.table({"x": ["x"]}), tmp_path / "c.parquet")
    assert labels(tmp_path, ["x"]) == [["x", "y", "x", "z", "y", None, "x"]]


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_lists_of_labels_in_shards(tmp_path: Path, kind: str) -> None:
    """A shard in which no record has a label has lists without a type."""
    parts = [[[], []], [["a"], ["b", "a"]], [[]]]
    for i, part in enumerate(parts):
        write(pa.table({"x": part}), tmp_path / f"{i}.{kind}")
    column = arrow_column("x", read_table(open_files(tmp_path), ["x"]).column("x"))
    assert column.indptr is not None
    assert column.categories == ("a", "b")
    assert column.indptr.tolist() == [0, 0, 0, 1, 3, 3]


def test_types_without_anything_in_common_are_explained(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [["a"]]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": ["a"]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"do not fit together: column 'x' holds .*list.* and .*string"):
        read_table(open_files(tmp_path), ["x"])


@pytest.mark.parametrize("late", ["0.5", "b", "2020-01-01"])
def test_a_value_far_down_a_csv_may_change_its_type(tmp_path: Path, late: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrow guesses types from the first block: a later value that does not fit must not spoil the other columns."""
    monkeypatch.setattr(formats, "BLOCK", 64)
    rows = ["0,0.25,yes"] * 50 + [f"{late},0.75,no"]
    (tmp_path / "x.csv").write_text("a,b,c\n" + "\n".join(rows) + "\n")
    a, b, c = labels(tmp_path / "x.csv", ["a", "b", "c"])
    assert a == ["0"] * 50 + [late]
    assert b == ["0.25"] * 50 + ["0.75"]
    assert c == ["yes"] * 50 + ["no"]
    assert pa.types.is_floating(read_table(open_files(tmp_path / "x.csv"), ["b"]).schema.field("b").type)


def test_what_stands_for_a_missing_value_in_a_csv(tmp_path: Path) -> None:
    spellings = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A", "<NA>"]
    (tmp_path / "x.csv").write_text("a,b\n" + "\n".join(f"{text},1" for text in [*spellings, "none"]) + "\n")
    assert labels(tmp_path / "x.csv", ["a"]) == [[None] * len(spellings) + ["none"]]


def test_byte_order_mark_quotes_and_line_breaks(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes('g,"a ""b"", c"\r\n"x\ny",1\r\nz,2\r\n'.encode("utf-8-sig"))
    assert labels(tmp_path / "x.csv", ["g", 'a "b", c']) == [["x\ny", "z"], ["1", "2"]]


GOOD = b"g,t,p\n" + b"w,1,0\nm,0,1\n" * 20


def parquet(tmp_path: Path) -> bytes:
    pq.write_table(TABLE, tmp_path / "scratch.parquet")
    raw = (tmp_path / "scratch.parquet").read_bytes()
    (tmp_path / "scratch.parquet").unlink()
    return raw


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("x.csv", b"", r"x\.csv is empty \(0 bytes\)"),
        ("x.parquet", b"", r"x\.parquet is empty \(0 bytes\)"),
        ("x.csv", b"\n", r"x\.csv has no records"),
        ("x.csv", b"g,t,p", r"x\.csv has no records"),
        ("x.csv.gz", gzip.compress(b""), r"x\.csv\.gz cannot be read as csv: Empty CSV file"),
        ("x.csv.gz", gzip.compress(b"\n"), r"x\.csv\.gz has no records"),
        ("x.csv.gz", gzip.compress(GOOD, mtime=0)[:30], r"x\.csv\.gz cannot be read as csv: Compressed file ended"),
        ("x.csv.gz", GOOD, r"x\.csv\.gz cannot be read as csv: Not a gzipped file"),
        ("x.jsonl.gz", b'{"g": 1}\n', r"x\.jsonl\.gz cannot be read as json: Not a gzipped file"),
        ("x.csv", gzip.compress(GOOD, mtime=0), r"x\.csv cannot be read as csv: .* it is gzipped"),
        (
            "x.csv",
            GOOD.replace(b"w", b"\xe9"),
            r"x\.csv cannot be read as csv: .*not UTF-8: save it as UTF-8, or .*='cp1252'",
        ),
        (
            "x.csv",
            GOOD.replace(b"g,", b"\xe9,"),
            r"x\.csv cannot be read as csv: it holds text that is not UTF-8: save",
        ),
        ("x.csv", b"g,t,p\nw,1\n", r"x\.csv cannot be read as csv: .*Expected 3 columns, got 2"),
        (
            "x.csv",
            b"g;t;p\nw;1;0\nm;0\n",
            r"x\.csv has one column, 'g;t;p': its values look separated by ';', but its rows",
        ),
        ("x.csv", b"g,t,p,t\nw,1,0,1\n", r"x\.csv has 2 columns named 't': rename them"),
        ("x.parquet", GOOD, r"x\.parquet cannot be read as parquet: Parquet magic bytes not found"),
        ("x.feather", b"hello", r"x\.feather cannot be read as arrow"),
        ("x.json", b'[{"g": 1, "t": 1, "p": 1}]', r"JSON lines are needed, one object per line"),
        ("x.jsonl", b"hello\n", r"x\.jsonl cannot be read as json: line 1 is no object"),
        ("x.jsonl", b'{"g": 1, "t": 1}\n', r"x\.jsonl has no column 'p'; it has 'g', 't'"),
        ("x.xls", b"\xd0\xcf\x11\xe0", r"'x\.xls' is of no format that is read; Parquet"),
        ("x.xlsx", b"PK\x03\x04", r"x\.xlsx cannot be read as excel: it is no workbook: File is not a zip file"),
        ("x.xlsx", b"\xd0\xcf\x11\xe0", r"x\.xlsx cannot be read as excel: .* an Excel file with a password, or one"),
        ("x", GOOD, r"'x' is of no format that is read"),
    ],
    ids=lambda value: value if isinstance(value, str) and value.startswith("x") else "",
)
def test_files_that_cannot_be_read_are_explained(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(ValueError, match=message):
        read_table(open_files(path), ["g", "t", "p"])


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.95])
def test_truncated_parquet(tmp_path: Path, cut: float) -> None:
    raw = parquet(tmp_path)
    (tmp_path / "x.parquet").write_bytes(raw[: int(len(raw) * cut)])
    with pytest.raises(ValueError, match=r"x\.parquet cannot be read as parquet"):
        read_table(open_files(tmp_path / "x.parquet"), NAMES)


def test_parquet_under_another_name(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(parquet(tmp_path))
    with pytest.raises(
        ValueError, match=r"x\.csv cannot be read as csv: its first bytes say that it is a Parquet file"
    ):
        read_table(open_files(tmp_path / "x.csv"), NAMES)


@pytest.mark.parametrize("kind", ["parquet", "feather", "csv", "jsonl"])
def test_a_shard_that_lacks_a_column_is_named(tmp_path: Path, kind: str) -> None:
    write(TABLE, tmp_path / f"a.{kind}")
    write(TABLE.drop_columns(["p"]), tmp_path / f"b.{kind}")
    with pytest.raises(ValueError, match=rf"b\.{kind} has no column 'p'"):
        read_table(open_files(tmp_path), ["g", "p"])


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_two_columns_of_one_name(tmp_path: Path, kind: str) -> None:
    table = pa.table([[1], [2], [3]], names=["g", "t", "t"])
    path = write(table, tmp_path / f"x.{kind}")
    with pytest.raises(ValueError, match=rf"x\.{kind} has 2 columns named 't': rename them"):
        read_table(open_files(path), ["g", "t"])
    assert read_table(open_files(path), ["g"]).column("g").to_pylist() == [1]


def test_what_a_data_set_is_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "run").mkdir()
    write(TABLE, tmp_path / "run" / "a.csv")
    monkeypatch.chdir(tmp_path / "run")
    monkeypatch.setenv("HOME", str(tmp_path))
    for path, name in ((".", "run"), ("a.csv", "a.csv"), ("~/run/", "run"), ("../run/a.csv", "a.csv")):
        assert open_files(path).name == name


def test_folders_without_data_or_of_several_formats(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("x")
    with pytest.raises(ValueError, match=r"holds no data file; Parquet .* are read"):
        open_files(tmp_path)
    write(TABLE, tmp_path / "a.csv")
    write(TABLE, tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"mixes csv, parquet files: keep one format"):
        open_files(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no file or folder '.*nothing\.csv'"):
        open_files(tmp_path / "nothing.csv")


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("start", [b"", b'g,t,p\nw,1,0\nm,1,"', b'{"g": "'], ids=["nothing", "quoted", "json"])
def test_a_file_without_line_breaks_is_refused_at_once(tmp_path: Path, start: bytes) -> None:
    """A sparse file of 2 GB, which costs no disk; only its beginning may be looked at."""
    path = tmp_path / ("x.jsonl" if start.startswith(b"{") else "x.csv")
    with path.open("wb") as stream:
        stream.write(start)
        stream.truncate(2 << 30)
    with pytest.raises(ValueError, match="does not end within 16 MB"):
        read_table(open_files(path), ["g"])


def test_a_file_that_is_another_kind_is_not_described_as_its_name_says(tmp_path: Path) -> None:
    """The time in the head of a gzipped file may be a tab; what such bytes seem to be separated by helps nobody."""
    path = tmp_path / "x.csv"
    path.write_bytes(gzip.compress(GOOD, mtime=0x09090909))
    with pytest.raises(ValueError, match="it is gzipped"):
        biasamp.audit(path, attributes="g", tasks="t", task_predictions="p")
