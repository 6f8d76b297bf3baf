"""Damaged, hostile and changing files end in an error that names the file, never in a dead process."""

from __future__ import annotations

import base64
import gzip
import io
import os
import zlib
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
from biasamp.data.files import open_files
from biasamp.data.json_lines import DEEPEST, check_lines
from biasamp.data.parts import read_table, split
from biasamp.data.unzipping import unzip, unzipped
from damaged_files import KINDS, read_damaged
from extras import needs
from table_files import write

TABLE = pa.table({"g": ["w", "m"] * 50, "t": [0, 1, 1, 0] * 25, "p": [0.25, 1.0] * 50})
NAMES = TABLE.column_names
FORMATS = ["csv", "jsonl", "parquet", "feather", "arrow", "csv.gz", "jsonl.gz", "parquet.gz", "feather.gz"]


def test_damaged_files_of_every_kind() -> None:
    """A few of those that ``python tests/damaged_files.py 2000`` reads."""
    results = read_damaged(10 * len(KINDS), seed=20)
    assert {result.kind for result in results} == set(KINDS)
    assert [result for result in results if result.verdict in ("crash", "silent")] == []


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        (b"null", "line 3 is no object"),
        (b"[1]", "line 3 is no object"),
        (b'"{}"', "line 3 is no object"),
        (b"{}, {}", "line 3 is no object"),
        (b'{"g": ' + b"[" * 200_000 + b"]" * 200_000 + b"}", "line 3 nests lists or objects more than 64 deep"),
        (b'{"g":' * 200_000 + b"1" + b"}" * 200_000, "line 3 nests lists or objects more than 64 deep"),
        (b'{"g": "w"', "line 3 has brackets or quotes that do not match"),
        (b'{"g": "w}', "brackets or quotes that do not match"),
        (b'}{"g": "w"', "line 3 has brackets or quotes that do not match"),
        (b'{"g": "\xff", "t": 1, "p": 1.0}', "[Ii]nvalid UTF8"),
    ],
    ids=lambda value: "" if isinstance(value, str) else value[:12].decode("latin-1"),
)
@pytest.mark.parametrize("zipped", ["", ".gz"])
def test_lines_that_are_no_objects(tmp_path: Path, line: bytes, problem: str, zipped: str) -> None:
    raw = b'{"g": "w", "t": 1, "p": 1.0}\n\n' + line + b'\n{"g": "m", "t": 1, "p": 1.0}\n'
    path = tmp_path / f"x.jsonl{zipped}"
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    for reading in (lambda: read_table(open_files(path), NAMES), lambda: list(all_batches(path))):
        with pytest.raises(ValueError, match=rf"x\.jsonl.* cannot be read as json: .*{problem}"):
            reading()


def test_a_column_whose_name_is_damaged(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"g,t,\xffp\nw,1,0\n")
    with pytest.raises(ValueError, match=r"x\.csv cannot be read as csv: it holds text that is not UTF-8"):
        read_table(open_files(tmp_path / "x.csv"), NAMES)


def test_a_parquet_file_that_speaks_of_integers_nobody_has(tmp_path: Path) -> None:
    """Libraries call it neither damage nor a wrong value, but something not implemented."""
    path = write(TABLE, tmp_path / "x.parquet")
    stored = pq.read_metadata(path).metadata[b"ARROW:schema"]
    wide = base64.b64decode(stored).replace(b"\x40\0\0\0", b"\x80\0\0\0")
    path.write_bytes(path.read_bytes().replace(stored, base64.b64encode(wide)))
    for read in (biasamp.audit, biasamp.count):
        with pytest.raises(ValueError, match=r"x\.parquet cannot be read as parquet"):
            read(path, attributes="g", tasks="t", task_predictions="p")
    with pytest.raises(ValueError, match=r"x\.parquet is damaged"):
        biasamp.AuditCounts.load(path)


def all_batches(path: Path) -> Any:
    return (batch for part in split(open_files(path), NAMES) for batch in part.batches())


def test_brackets_and_quotes_in_text_are_text() -> None:
    deep = b"[" * DEEPEST * 2
    for text in (deep, b'\\"' + deep, b"\\\\", b'\\\\\\"{', b"}", b"\xc3\xa9 \\u005b"):
        check_lines(b'{"a": "' + text + b'", "b": [{"c": [1]}]}\r\n{"a": "' + text + b'"}')
    check_lines(b"")
    check_lines(b"\n\n")
    check_lines(b'\xef\xbb\xbf{"a": 1}\n')
    check_lines(b'{"a":\n 1}\n{"a": 2}')
    check_lines(b'{"a": ' + b"[" * (DEEPEST - 1) + b"]" * (DEEPEST - 1) + b"}")
    with pytest.raises(pa.ArrowInvalid, match="line 11 nests"):
        check_lines(b'\n{"a": ' + b"[" * DEEPEST + b"]" * DEEPEST + b"}", before=9)


@pytest.mark.parametrize("kind", ["csv.gz", "jsonl.gz", "parquet.gz", "feather.gz"])
def test_what_a_gzipped_file_may_hold(tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(pa.concat_tables([TABLE] * 2000), tmp_path / f"x.{kind}")
    monkeypatch.setenv("BIASAMP_MAX_UNZIPPED", "2KB")
    message = r"x\..* holds more than 2 KB unzipped.*unzip it first, or raise the limit: BIASAMP_MAX_UNZIPPED="
    for reading in (lambda: read_table(open_files(path), NAMES), lambda: list(all_batches(path))):
        with pytest.raises(ValueError, match=message):
            reading()
    monkeypatch.setenv("BIASAMP_MAX_UNZIPPED", "1GB")
    assert read_table(open_files(path), NAMES).num_rows == 200_000
    monkeypatch.setenv("BIASAMP_MAX_UNZIPPED", "much")
    with pytest.raises(ValueError, match="BIASAMP_MAX_UNZIPPED is 'much'"):
        read_table(open_files(path), NAMES)


def test_a_bomb_is_not_unzipped_further_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    bomb = gzip.compress(b"\0" * (64 << 20))
    monkeypatch.setenv("BIASAMP_MAX_UNZIPPED", "3MB")
    sizes = map(len, unzipped(io.BytesIO(bomb * 3), "x"))
    assert [next(sizes), next(sizes)] == [1 << 20, 1 << 20]
    with pytest.raises(ValueError, match="x holds more than 3 MB"):
        next(sizes)


def test_unzipping_is_that_of_gzip() -> None:
    """Members one after another, an empty one, and zeros at the end, as the standard library reads them."""
    one, two = gzip.compress(b"abc" * 900_000), gzip.compress(b"def")
    for raw in (one, two, one + two, gzip.compress(b""), two + gzip.compress(b"") + one, one + b"\0" * 70):
        assert unzip(raw, "x") == gzip.decompress(raw)
    for raw in (
        b"",
        b"\x1f",
        one + b"x",
        one[:-1],
        one[:100],
        two[:-8],
        bytes([*two[:-8], 1, *two[-7:]]),
        two + b"\x1f\x8b",
    ):
        with pytest.raises((OSError, EOFError, zlib.error)):
            unzip(raw, "x")
    for cut in range(1, len(two)):
        with pytest.raises((OSError, EOFError, zlib.error)):
            unzip(two[:cut], "x")


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_that_changes_between_looks(tmp_path: Path, kind: str) -> None:
    """Types and numbers of rows are found out first: they must be those of what is read then."""
    path = write(TABLE, tmp_path / f"x.{kind}")
    parts = split(open_files(path), NAMES)
    os.utime(path, ns=(0, 0))
    with pytest.raises(ValueError, match=r"x\..* changed while it was read: read it again"):
        list(parts[0].batches())
    path.unlink()
    with pytest.raises(ValueError, match=r"x\..* was removed while it was read"):
        list(parts[0].batches())


@pytest.mark.parametrize("kind", FORMATS)
def test_a_file_that_shrinks_while_it_is_read(tmp_path: Path, kind: str) -> None:
    path = write(pa.concat_tables([TABLE] * 500), tmp_path / f"x.{kind}")
    (part,) = split(open_files(path), NAMES)
    batches = part.batches(rows=1000)
    next(batches)
    with path.open("r+b") as stream:
        stream.truncate(100)
    with pytest.raises(ValueError, match=r"x\..* changed while it was read"):
        list(batches)


def test_a_part_that_travelled_knows_the_size_of_its_file(tmp_path: Path) -> None:
    """On another machine the file may be a copy with another time."""
    import pickle

    path = write(TABLE, tmp_path / "x.csv")
    (part,) = pickle.loads(pickle.dumps(split(open_files(path), NAMES)))
    os.utime(path, ns=(0, 0))
    assert sum(batch.num_rows for batch in part.batches()) == 100
    with path.open("ab") as stream:
        stream.write(b"w,1,1\n")
    with pytest.raises(ValueError, match=r"x\.csv changed while it was read"):
        list(part.batches())


def test_a_file_that_grows_during_an_audit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from biasamp.auditing import counting

    path = write(TABLE, tmp_path / "x.csv")
    look = counting.survey

    def slowly(*given: Any) -> Any:
        found = look(*given)
        with path.open("ab") as stream:
            stream.write(b"w,1,1\n")
        return found

    monkeypatch.setattr(counting, "survey", slowly)
    with pytest.raises(ValueError, match=r"x\.csv changed while it was read"):
        biasamp.audit(path, attributes="g", tasks="t", task_predictions="p", engine="local")


def test_pipes_are_said_to_be_pipes(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "x.csv")
    with pytest.raises(ValueError, match=r"x\.csv' is a pipe or a device, and data are read more than once: save them"):
        open_files(tmp_path / "x.csv")
    with pytest.raises(ValueError, match="'/dev/null' is a pipe or a device"):
        open_files("/dev/null")


def test_a_file_named_like_a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    with pytest.raises(FileNotFoundError, match=r"no file or folder '~\.csv'"):
        open_files("~.csv")
    for name in ("~.csv", "~nobody.csv"):
        write(TABLE, tmp_path / name)
        assert read_table(open_files(name), NAMES).num_rows == 100
    (tmp_path / "home").mkdir()
    write(TABLE.slice(0, 3), tmp_path / "home" / "x.csv")
    assert read_table(open_files("~/x.csv"), NAMES).num_rows == 3


def _named(folder: Path, kind: str, name: bytes) -> str:
    """The name of a file, taken as bytes, that holds the table."""
    write(TABLE, folder / f"plain.{kind}")
    path = os.path.join(os.fsencode(folder), name + b"." + kind.encode())
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.rename(folder / f"plain.{kind}", path)
    return os.fsdecode(name + b"." + kind.encode())


@pytest.mark.parametrize("kind", [*FORMATS, "xlsx", "tsv"])
@pytest.mark.parametrize("name", [b"~/x", b"~root/x", b"~x", b"\xff"], ids=str)
def test_names_that_arrow_takes_for_others(
    tmp_path: Path, kind: str, name: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A file in a folder called ``~`` is not that of the same name at home, and a name need not be UTF-8."""
    if kind == "xlsx":
        needs("openpyxl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    write(TABLE.slice(0, 3), tmp_path / "home" / f"x.{kind}")
    files = open_files(os.path.join(".", _named(tmp_path, kind, name)))
    assert read_table(files, NAMES).to_pydict() == TABLE.to_pydict()
    parts = [batch for part in split(files, NAMES) for batch in part.batches(rows=7)]
    assert pa.Table.from_batches(parts).num_rows == 100
    roles = {"attributes": "g", "tasks": "t", "task_scores": "p", "engine": "local"}
    assert biasamp.audit(str(files.paths[0]), **roles).document["data"]["records"] == 100


@pytest.mark.parametrize("name", [b"~/x", b"\xff"], ids=str)
def test_saved_results_of_such_names(tmp_path: Path, name: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "~").mkdir()
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "said"}
    counts, audit = (os.fsdecode(name + ending) for ending in (b".parquet", b".json.gz"))
    held = TABLE.append_column("said", TABLE["t"])
    biasamp.count(held, **roles).save(counts)
    biasamp.audit(held, **roles).save(audit)
    assert biasamp.audit(counts).document["data"]["records"] == 100
    assert biasamp.Audit.load(audit).document["data"]["records"] == 100
