"""Every format of the table: the same columns and types whether a file is read whole or in parts."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.feather as feather
import pytest

from biasamp.data import formats
from biasamp.data.files import file_schema, open_files
from biasamp.data.formats import FORMATS, find_format, format_of
from biasamp.data.parts import read_table, split
from table_files import write

TABLE = pa.table(
    {"n": [1, 2, 3] * 30, "w": ["a", "b", "007"] * 30, "f": [0.5, 1.0, 2.0] * 30, "b": [True, False, True] * 30}
)
SUFFIXES = [suffix for entry in FORMATS.values() for suffix in entry.suffixes]


def test_no_two_formats_share_a_suffix() -> None:
    assert len(set(SUFFIXES)) == len(SUFFIXES)
    assert all(name == entry.name for name, entry in FORMATS.items())


@pytest.mark.parametrize("zipped", ["", ".gz"])
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_schema_whole_and_parts_agree(tmp_path: Path, suffix: str, zipped: str) -> None:
    plain = {".pq": ".parquet", ".ipc": ".arrow", ".ndjson": ".jsonl", ".json": ".jsonl"}.get(suffix, suffix)
    path = write(TABLE, tmp_path / f"x{plain}{zipped}").rename(tmp_path / f"x{suffix}{zipped}")
    assert file_schema(path).equals(TABLE.schema)
    order = ["w", "n", "b"]
    assert read_table(open_files(path), order).equals(TABLE.select(order))
    parts = split(open_files(path), order)
    assert pa.Table.from_batches(b for part in parts for b in part.batches()).equals(TABLE.select(order))
    for part in parts:
        for batch in part.batches(["w"], categories=["w"]):
            assert batch.column("w").cast(pa.string()).to_pylist() == TABLE["w"].to_pylist()


def test_names_of_formats() -> None:
    assert format_of(Path("A.B.CSV.GZ")).name == "csv"
    assert find_format(Path("csv")) is None
    assert find_format(Path("x.gz")) is None
    with pytest.raises(ValueError, match=r"'x.txt' is of no format that is read; Parquet \(\.parquet\), CSV"):
        format_of(Path("x.txt"))


@pytest.mark.filterwarnings("ignore:Feather V1:DeprecationWarning")
def test_feather_of_version_1_is_refused(tmp_path: Path) -> None:
    """Its reader believes every offset: a flipped bit ends the process."""
    feather.write_feather(TABLE, tmp_path / "x.feather", version=1)
    with pytest.raises(
        ValueError, match=r"x\.feather cannot be read as arrow: Feather of version 1 .* write version 2"
    ):
        split(open_files(tmp_path), ["n", "w"])


def test_a_damaged_arrow_file_is_not_told_to_be_another_format(tmp_path: Path) -> None:
    path = write(TABLE, tmp_path / "x.feather")
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(ValueError, match=r"x\.feather cannot be read as arrow: (?!its first bytes)"):
        read_table(open_files(path), ["n"])


def test_words_that_look_true_are_words_unless_all_are(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first block says whole numbers; later blocks decide between true/false and words."""
    monkeypatch.setattr(formats, "BLOCK", 32)
    (tmp_path / "x.csv").write_text("a,b\n" + "1,1\n" * 30 + "true,tRUE\n" * 30)
    files = open_files(tmp_path / "x.csv")
    table = read_table(files, ["a", "b"])
    assert table.schema.types == [pa.bool_(), pa.string()]
    assert pa.Table.from_batches(b for part in split(files, ["a", "b"]) for b in part.batches()).equals(table)


def test_json_objects_that_nobody_asks_for_may_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ['{"x": 1, "meta": {"a": 1}}'] * 20 + ['{"x": 2, "meta": ["b"]}'] * 20
    (tmp_path / "x.jsonl").write_text("\n".join(lines) + "\n")
    monkeypatch.setattr(formats, "BLOCK", 27 * 4)
    (part,) = split(open_files(tmp_path / "x.jsonl"), ["x"])
    assert [value for batch in part.batches() for value in batch["x"].to_pylist()] == [1] * 20 + [2] * 20
    with pytest.raises(ValueError, match=r"x\.jsonl cannot be read as json: values of .* stand in one column"):
        split(open_files(tmp_path / "x.jsonl"), ["meta"])


def test_a_json_line_without_end_is_refused_in_parts_too(tmp_path: Path) -> None:
    with (tmp_path / "x.jsonl").open("wb") as stream:
        stream.write(b'{"g": "')
        stream.truncate(2 << 30)
    with pytest.raises(ValueError, match="does not end within 16 MB"):
        split(open_files(tmp_path / "x.jsonl"), ["g"])


@pytest.mark.parametrize("kind", ["parquet", "csv", "feather", "jsonl"])
def test_reading_a_file_does_not_import_pandas(tmp_path: Path, kind: str) -> None:
    path = write(TABLE, tmp_path / f"x.{kind}")
    code = (
        "import sys; from biasamp.data.files import open_files\n"
        "from biasamp.data.parts import read_table, split\n"
        f"files = open_files({str(path)!r})\n"
        "read_table(files, ['n', 'w', 'b'])\n"
        "[list(part.batches(categories=['w'])) for part in split(files, ['n', 'w'])]\n"
        "assert 'pandas' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
