"""Parts, one after another, are what reading the files as a whole gives; what cannot be read names its file."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from biasamp.data import formats
from biasamp.data.files import open_files
from biasamp.data.frames import arrow_column
from biasamp.data.parts import Part, read_table, split, split_table
from table_files import write

TABLE = pa.table(
    {
        "g": ["w", "m", None, "w"] * 50,
        "t": list(range(200)),
        "p": [0.25, 0.5, 1.0, None] * 50,
        "b": [True, False, None, True] * 50,
        "l": [["x", "y"], [], ["y"], ["z", "x"]] * 50,
    }
)
NAMES = ["g", "t", "p", "b"]


def joined(parts: list[Part], columns: list[str] | None = None, **options: Any) -> pa.Table:
    """The parts one after another; each must begin where the ones before it end."""
    rows = 0
    batches = []
    for number, part in enumerate(parts):
        part = pickle.loads(pickle.dumps(part))
        assert (part.number, part.start) == (number, rows)
        own = list(part.batches(columns, **options))
        assert sum(batch.num_rows for batch in own) == part.rows
        rows += part.rows
        batches += own
    return pa.Table.from_batches(batches)


def same(a: pa.Table, b: pa.Table) -> bool:
    """Whether tables hold the same values in the same types, whatever their chunks."""
    return a.schema.types == b.schema.types and a.to_pydict() == b.to_pydict()


@pytest.mark.parametrize("rows", [1 << 17, 7])
@pytest.mark.parametrize(
    "kind", ["parquet", "feather", "arrow", "csv", "tsv", "jsonl", "csv.gz", "jsonl.gz", "parquet.gz"]
)
def test_parts_give_the_whole(tmp_path: Path, kind: str, rows: int) -> None:
    names = NAMES if "csv" in kind or "tsv" in kind else [*NAMES, "l"]
    table = TABLE.select(names)
    for name, piece in (("a", table.slice(0, 90)), ("b", table.slice(90, 1)), ("c", table.slice(91))):
        write(piece, tmp_path / f"{name}.{kind}")
    files = open_files(tmp_path)
    # A JSON line without a value does not name its column: a whole column may be missing in a short file.
    names = [name for name in names if name not in ("g", "p", "b")] if kind.startswith("jsonl") else names
    assert same(joined(split(files, names), rows=rows), read_table(files, names))
    assert all(batch.num_rows <= rows for part in split(files, names) for batch in part.batches(rows=rows))


@pytest.mark.parametrize("size", [1, 30, 64, 1000])
def test_parquet_is_split_by_row_groups(tmp_path: Path, size: int) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet", row_group_size=size)
    files = open_files(tmp_path / "t.parquet")
    parts = split(files, NAMES, part_rows=60)
    assert same(joined(parts), TABLE.select(NAMES))
    assert len(parts) == {1: 4, 30: 4, 64: 4, 1000: 1}[size]
    assert parts[-1].name == ("t.parquet" if size == 1000 else f"t.parquet, row group {parts[-1].name.split()[-1]}")
    assert same(joined(parts, ["t"]), TABLE.select(["t"]))


def test_very_many_parts_are_put_together(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, piece in (("a", TABLE.slice(0, 120)), ("b", TABLE.slice(120))):
        pq.write_table(piece, tmp_path / f"{name}.parquet", row_group_size=5)
    files = open_files(tmp_path)
    monkeypatch.setattr("biasamp.data.parts.MOST_PARTS", 7)
    parts = split(files, NAMES, part_rows=1)
    assert [part.rows for part in parts] == [30, 30, 30, 30, 30, 30, 20]
    assert parts[0].name == "a.parquet, row group 0-5"
    assert same(joined(parts), TABLE.select(NAMES))


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("1\n2\n", "1\nb\n"),
        ("01\n02\n", "1\nb\n"),
        ("1\n0\n", "0.5\n1\n"),
        ("true\nfalse\n", "1\n0\n"),
        ("NA\n\n", "a\nb\n"),
        ("2020-01-01\n", "x\n"),
        ("1\n", "2\n"),
    ],
)
def test_types_of_csv_files_agree_as_in_the_whole(tmp_path: Path, first: str, second: str) -> None:
    for name, text in (("a", first), ("b", second)):
        (tmp_path / f"{name}.csv").write_text("k,x\n" + "".join(f"r,{line}\n" for line in text.splitlines()))
    files = open_files(tmp_path)
    assert same(joined(split(files, ["x", "k"])), read_table(files, ["x", "k"]))


@pytest.mark.parametrize("later", ["0.5", "b", "true", ""])
def test_a_late_row_of_another_type_changes_the_column(
    tmp_path: Path, later: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The type is found from the first block, and found anew where a later block does not fit."""
    monkeypatch.setattr(formats, "BLOCK", 64)
    (tmp_path / "t.csv").write_text("x,y\n" + "1,1\n" * 100 + f"{later},0\n" + "1,1\n" * 100)
    files = open_files(tmp_path / "t.csv")
    parts = split(files, ["x", "y"])
    assert parts[0].rows == 201
    assert same(joined(parts), read_table(files, ["x", "y"]))


def test_json_types_hold_over_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ['{"x": 1, "l": []}'] * 50 + ['{"x": 0.5, "l": ["a"]}'] * 50 + ['{"x": null, "l": null}'] * 3
    (tmp_path / "t.jsonl").write_text("\n".join(lines))
    whole = read_table(open_files(tmp_path / "t.jsonl"), ["x", "l"])
    monkeypatch.setattr(formats, "BLOCK", 100)
    parts = split(open_files(tmp_path / "t.jsonl"), ["x", "l"])
    assert same(joined(parts), whole)


def test_types_of_parquet_files_agree_as_in_the_whole(tmp_path: Path) -> None:
    columns = ([1, 2], [0.5, 1.0], [True, False], pa.nulls(2))
    for number, values in enumerate(columns):
        pq.write_table(
            pa.table({"x": values, "c": pa.array(["u", "v"]).dictionary_encode()}), tmp_path / f"{number}.parquet"
        )
    files = open_files(tmp_path)
    assert same(joined(split(files, ["x"])), read_table(files, ["x"]))
    pq.write_table(pa.table({"x": ["a"], "c": ["u"]}), tmp_path / "9.parquet")
    files = open_files(tmp_path)
    read = joined(split(files, ["x", "c"]))
    whole = read_table(files, ["x", "c"])
    for name in ("x", "c"):
        mine, theirs = arrow_column(name, read.column(name)), arrow_column(name, whole.column(name))
        assert [mine.categories[c] if c >= 0 else None for c in mine.values] == [
            theirs.categories[c] if c >= 0 else None for c in theirs.values
        ]


def test_columns_whose_types_do_not_go_together_are_refused(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [[1]]}), tmp_path / "a.parquet")
    pq.write_table(pa.table({"x": [1]}), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match="no type in common"):
        split(open_files(tmp_path), ["x"])


def test_text_of_few_words_is_read_as_codes(tmp_path: Path) -> None:
    pq.write_table(TABLE, tmp_path / "t.parquet")
    (part,) = split(open_files(tmp_path / "t.parquet"), ["g"])
    (batch,) = part.batches(categories=["g"])
    assert pa.types.is_dictionary(batch.column(0).type)
    assert batch.column(0).cast(pa.string()).to_pylist() == TABLE["g"].to_pylist()


def test_columns_that_are_said_to_be_text_need_no_first_pass(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("x,y\n007,NA\n008,b\n")
    (part,) = split(
        [tmp_path / "t.csv"], ["x", "y"], types={"x": pa.string(), "y": pa.string()}, blank=False, counted=False
    )
    assert part.rows is None
    (batch,) = part.batches()
    assert batch.to_pydict() == {"x": ["007", "008"], "y": ["NA", "b"]}


def test_columns_with_known_values_are_read_as_they_are_written(tmp_path: Path) -> None:
    """NA is a value where it is declared, and missing elsewhere; 1.1 and 1.10 are two."""
    (tmp_path / "t.csv").write_text('x,y,z\nNA,NA,1.1\nEU,b,1.10\n,NULL,NA\n"N/A",c,2\n')
    words = {"x": frozenset({"NA", "EU"}), "z": frozenset({"1.1", "1.10"})}
    files = open_files(tmp_path / "t.csv")
    expected = {"x": ["NA", "EU", None, None], "y": [None, "b", None, "c"], "z": ["1.1", "1.10", None, "2"]}
    assert read_table(files, ["x", "y", "z"], words).to_pydict() == expected
    assert joined(split(files, ["x", "y", "z"], words=words)).to_pydict() == expected
    coded = joined(split(files, ["x"], words=words), categories=["x"])
    assert coded.column("x").cast(pa.string()).to_pylist() == expected["x"]
    assert read_table(files, ["x", "z"]).to_pydict() == {"x": [None, "EU", None, None], "z": [1.1, 1.1, None, 2.0]}


def test_a_truncated_file_is_named(tmp_path: Path) -> None:
    for name in ("a", "b"):
        write(TABLE, tmp_path / f"{name}.parquet")
    whole = (tmp_path / "b.parquet").read_bytes()
    (tmp_path / "b.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"b\.parquet"):
        split(open_files(tmp_path), NAMES)


def test_damage_inside_a_file_is_named(tmp_path: Path) -> None:
    path = write(TABLE, tmp_path / "a.parquet")
    parts = split(open_files(path), ["t"])
    chunk = pq.ParquetFile(path).metadata.row_group(0).column(1)
    whole = bytearray(path.read_bytes())
    start = chunk.dictionary_page_offset or chunk.data_page_offset
    whole[start : start + chunk.total_compressed_size] = np.random.default_rng(0).bytes(chunk.total_compressed_size)
    path.write_bytes(bytes(whole))
    with pytest.raises(ValueError, match=r"a\.parquet"):
        list(parts[0].batches())


def test_a_column_that_is_not_there_is_named(tmp_path: Path) -> None:
    write(TABLE, tmp_path / "a.parquet")
    write(TABLE.select(["g"]), tmp_path / "b.parquet")
    with pytest.raises(ValueError, match=r"b\.parquet has no column 't'"):
        split(open_files(tmp_path), ["g", "t"])


@pytest.mark.parametrize("size", [1, 60, 1000])
def test_a_table_in_memory_has_parts_too(size: int) -> None:
    parts = split_table(TABLE, NAMES, part_rows=size)
    assert same(joined(parts), TABLE.select(NAMES))
    assert len(pickle.dumps(parts[0])) < 3000 + 60 * size, "a slice travels without the rest of its table"


def test_files_of_several_formats_in_one_list(tmp_path: Path) -> None:
    """CSV files that disagree are read as text; the others keep their rows and join them."""
    (tmp_path / "a.csv").write_text("x\n1\n02\n")
    (tmp_path / "b.csv").write_text("x\nb\n")
    write(pa.table({"x": [3, 4]}), tmp_path / "c.parquet")
    parts = split([tmp_path / "a.csv", tmp_path / "b.csv", tmp_path / "c.parquet"], ["x"])
    assert joined(parts)["x"].to_pylist() == ["1", "02", "b", "3", "4"]
