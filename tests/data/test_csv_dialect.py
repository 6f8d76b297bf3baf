"""How CSV files are written is found out and said; whole, in parts and on the command line they are read alike."""

from __future__ import annotations

import gzip
import warnings
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from click.testing import CliRunner

import biasamp
from biasamp.cli import group
from biasamp.data.csv_dialect import Dialect, csv_stream, dialect_of
from biasamp.data.files import open_files
from biasamp.data.parts import read_table, split

ROWS = [
    ("Müller", "01", 1, 0),
    ("Zoë, the first", "1", 0, 0),
    ('say "a"', "007", 1, 1),
    ("line\nbreak", "2", 0, 1),
] * 10
NAMES = ["name", "code", "t", "p"]


def spelled(separator: str) -> str:
    quoted = [[f'"{name}"'.replace('"a"', '""a""'), code, str(t), str(p)] for name, code, t, p in ROWS]
    return "\n".join(separator.join(row) for row in [NAMES, *quoted]) + "\n"


@pytest.mark.parametrize("zipped", [False, True])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32"])
@pytest.mark.parametrize(("separator", "words"), [(",", None), (";", "semicolons"), ("\t", "tabs"), ("|", "bars")])
def test_every_separator_and_encoding_gives_the_same_values(
    tmp_path: Path, separator: str, words: str | None, encoding: str, zipped: bool
) -> None:
    marks = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}
    raw = marks.get(encoding, b"") + spelled(separator).encode(encoding)
    path = tmp_path / ("x.csv.gz" if zipped else "x.csv")
    path.write_bytes(gzip.compress(raw) if zipped else raw)
    expected = [w for w in (words, None if encoding.startswith("utf-8") else encoding[:6].upper()) if w]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("default")
        files = open_files(path)
        open_files(path)
    assert len(said) == bool(expected)
    assert all(word in str(said[0].message) and path.name in str(said[0].message) for word in expected)
    whole = read_table(files, NAMES)
    assert whole.to_pylist() == [dict(zip(NAMES, row, strict=True)) for row in ROWS]
    parts = split(files, NAMES)
    streamed = pa.Table.from_batches([b for part in parts for b in part.batches()], pa.schema(parts[0].fields))
    assert streamed.to_pylist() == whole.to_pylist()
    assert parts[0].rows == len(ROWS)


@pytest.mark.parametrize(
    ("text", "separator"),
    [
        ("label\na;b\nc|d;e\n", ","),
        ("g,labels\nw,a;b\nm,c;d\n", ","),
        ('g;t\n"a,b";1\n', ";"),
        ('"a;b",t\n1,2\n', ","),
        ("a;b;c\n1;0,5;2\n", ";"),
        ("a,b;c\n1;2\n", ";"),
        ("a|b|c\n", "|"),
        ("a\tb;c\n1\t2;3\n", "\t"),
        ("g,t,p\nw,1\n", ","),
        ("", ","),
        ("\n\n", ","),
        ('"never closed;\n1;2\n', ","),
    ],
)
def test_a_separator_fits_header_and_rows(tmp_path: Path, text: str, separator: str) -> None:
    (tmp_path / "x.csv").write_text(text)
    found = dialect_of(tmp_path / "x.csv")
    assert found.separator == separator


def test_tabs_are_what_a_tsv_has(tmp_path: Path) -> None:
    (tmp_path / "x.tsv").write_text("a,b\tc\nx,2\t3\n")
    assert dialect_of(tmp_path / "x.tsv") == Dialect("\t")
    open_files(tmp_path / "x.tsv")  # no warning


def test_a_row_that_the_look_cuts_does_not_count(tmp_path: Path) -> None:
    wide = ";".join(f"column{i}" for i in range(20_000))
    (tmp_path / "x.csv").write_text(wide + "\n" + ";".join("1" * 20_000) + "\n")
    assert dialect_of(tmp_path / "x.csv").separator == ";"
    (tmp_path / "y.csv").write_text("a;b\n" + "".join(f"{'x' * 3000};{i}\n" for i in range(40)))
    assert dialect_of(tmp_path / "y.csv").separator == ";"


def test_a_file_that_changes_is_looked_at_again(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("a;b\n1;2\n")
    assert dialect_of(path).separator == ";"
    path.write_text("a|b|c\n1|2|3\n")
    assert dialect_of(path).separator == "|"


def test_a_character_may_lie_across_two_reads(tmp_path: Path) -> None:
    text = "x" * ((1 << 19) - 2) + "𝔘" * 9
    (tmp_path / "x.csv").write_bytes(b"\xff\xfe" + text.encode("utf-16-le"))
    with csv_stream(tmp_path / "x.csv", "utf-16") as stream:
        assert stream.read().decode() == text


def test_damaged_utf_16_names_the_file(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(("a,b\n" + "1,2\n" * 9).encode("utf-16")[:-1])
    with (
        pytest.warns(UserWarning, match="UTF-16"),
        pytest.raises(ValueError, match=r"x\.csv cannot be read as csv: .*truncated data"),
    ):
        read_table(open_files(tmp_path / "x.csv"), ["a", "b"])


ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": ["directional"]}
COMMAS = "g,t,p,s\n" + "w,1,1,0.7\nm,0,1,0.2\nm,1,0,0.5\nw,0,0,1\n" * 20


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_decimal_commas_are_no_text(tmp_path: Path, engine: str) -> None:
    (tmp_path / "x.csv").write_text(COMMAS.replace(",", ";").replace(".", ","))
    with (
        pytest.warns(UserWarning, match="semicolons"),
        pytest.raises(ValueError, match=r"'s' of x\.csv holds numbers with decimal commas, .*decimal=','"),
    ):
        biasamp.audit(tmp_path / "x.csv", **ROLES, task_scores="s", engine=engine)


@pytest.mark.parametrize("engine", ["auto", "local"])
def test_audits_are_the_same(tmp_path: Path, engine: str) -> None:
    (tmp_path / "x.csv").write_text(COMMAS)
    expected = biasamp.audit(tmp_path / "x.csv", **ROLES, engine=engine).to_dict()["metrics"]
    (tmp_path / "x.csv").write_text(COMMAS.replace(",", ";"), "utf-16")
    with pytest.warns(UserWarning, match=r"x\.csv is read as .* separated by semicolons and its text is in UTF-16$"):
        assert biasamp.audit(tmp_path / "x.csv", **ROLES, engine=engine).to_dict()["metrics"] == expected


def test_files_of_a_folder_may_be_written_differently(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(COMMAS)
    for name in "bc":
        (tmp_path / f"{name}.csv").write_text(COMMAS.replace(",", "|"))
    with pytest.warns(UserWarning, match=r"b\.csv is read .* by bars \(as are 1 more files\)") as said:
        files = open_files(tmp_path)
    assert len(said) == 1
    assert read_table(files, ["g", "s"]).num_rows == 240


def test_the_command_line_says_it_as_a_note(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_text(COMMAS.replace(",", ";"))
    roles = ["--attributes", "g", "--tasks", "t", "--task-predictions", "p", "--metrics", "directional", "--json", "-"]
    with pytest.warns(UserWarning, match="semicolons"):
        done = CliRunner().invoke(group, ["audit", str(tmp_path / "x.csv"), *roles])
    assert done.exit_code == 0, done.output
