"""Excel workbooks: values and types, one sheet with data, formulas, limits."""

from __future__ import annotations

import datetime
import gzip
import io
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import biasamp
from biasamp.data.files import open_files
from biasamp.data.parts import read_table, split
from extras import needs

openpyxl = needs("openpyxl")


def book(path: Path, **sheets: list[list[Any]]) -> Path:
    made = openpyxl.Workbook()
    made.remove(made.active)
    for name, rows in sheets.items():
        sheet = made.create_sheet(name)
        for row in rows:
            sheet.append(row)
    made.save(path)
    return path


DAY = datetime.datetime(2026, 1, 5)
ROWS: list[list[Any]] = [
    ["name", "whole", "number", "flag", "day", "time", "mixed", "none", 7],
    ["Müller", 1, 0.5, True, DAY, DAY.replace(hour=3), "01", None, "x"],
    [None, 2, 2, False, None, DAY, 1, None, "y"],
    ["x", None, None, None, DAY, None, True, None, "z"],
]
TYPES = {
    "name": pa.string(),
    "whole": pa.int64(),
    "number": pa.float64(),
    "flag": pa.bool_(),
    "day": pa.date32(),
    "time": pa.timestamp("s"),
    "mixed": pa.string(),
    "none": pa.null(),
    "7": pa.string(),
}


def check_values(path: Path) -> None:
    whole = read_table(open_files(path), list(TYPES))
    assert dict(zip(whole.schema.names, whole.schema.types, strict=True)) == TYPES
    assert whole["whole"].to_pylist() == [1, 2, None]
    assert whole["number"].to_pylist() == [0.5, 2.0, None]
    assert whole["day"].to_pylist() == [DAY.date(), None, DAY.date()]
    assert whole["time"].to_pylist() == [DAY.replace(hour=3), DAY, None]
    assert whole["mixed"].to_pylist() == ["01", "1", "TRUE"]
    parts = split(open_files(path), list(TYPES))
    streamed = pa.Table.from_batches([b for part in parts for b in part.batches()], pa.schema(parts[0].fields))
    assert streamed.to_pylist() == whole.to_pylist()


def test_values_and_types(tmp_path: Path) -> None:
    path = book(tmp_path / "x.xlsx", data=[*ROWS, [None] * 9, []], empty=[], blank=[[None, None]])
    check_values(path)
    (tmp_path / "x.xlsx.gz").write_bytes(gzip.compress(path.read_bytes()))
    check_values(tmp_path / "x.xlsx.gz")


def test_rows_before_the_header_may_be_empty(tmp_path: Path) -> None:
    path = book(tmp_path / "x.xlsx", data=[[], [], ["a", None, "b"], [1, None, 2], [], [3, None, 4]])
    table = read_table(open_files(path), ["a", "b"])
    assert table.to_pylist() == [{"a": 1, "b": 2}, {"a": None, "b": None}, {"a": 3, "b": 4}]
    assert open_files(path).column_names() == ["a", "b"]


def with_formulas(path: Path, cached: str) -> Path:
    """A workbook as spreadsheet programs write it: formulas, and the values that they had."""
    book(path, data=[["a", "b"], [1, "=A2+1"], [2, "=A3+1"]])
    raw = io.BytesIO()
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(raw, "w") as new:
        for entry in old.namelist():
            text = old.read(entry)
            if entry == "xl/worksheets/sheet1.xml":
                text = text.replace(b"<f>A2+1</f><v />", b"<f>A2+1</f><v>2</v>").replace(b"<v></v>", b"<v />")
                text = text.replace(b"<f>A3+1</f><v />", f"<f>A3+1</f>{cached}".encode())
            new.writestr(entry, text)
    path.write_bytes(raw.getvalue())
    return path


def test_formulas_have_the_values_that_were_saved(tmp_path: Path) -> None:
    path = with_formulas(tmp_path / "x.xlsx", "<v>3</v>")
    assert read_table(open_files(path), ["b"])["b"].to_pylist() == [2, 3]
    path = with_formulas(tmp_path / "y.xlsx", "<v />")
    with pytest.raises(
        ValueError, match=r"y\.xlsx cannot be read as excel: the cell B3 of sheet 'data' holds a formula"
    ):
        read_table(open_files(path), ["b"])


def test_errors_in_cells_are_refused(tmp_path: Path) -> None:
    path = book(tmp_path / "x.xlsx", data=[["a"], [1], ["#DIV/0!"]])
    with pytest.raises(ValueError, match=r"x\.xlsx .* the cell A3 of sheet 'data' holds the error #DIV/0!"):
        read_table(open_files(path), ["a"])


@pytest.mark.parametrize(
    ("sheets", "message"),
    [
        ({"a": [["x"], [1]], "b": [["x"], [2]]}, r"x\.xlsx has several sheets with data, 'a', 'b': .*sheet_name"),
        ({"a": [], "b": []}, r"x\.xlsx has no records: all of its sheets are empty"),
        ({"a": [["y", "x ", "x1"], [1, 2, 3]]}, r"x\.xlsx has no column 'x'; did you mean"),
        ({"a": [["x", "x"], [1, 2]]}, r"x\.xlsx has 2 columns named 'x'"),
    ],
)
def test_what_is_wrong_names_the_file(tmp_path: Path, sheets: Any, message: str) -> None:
    path = book(tmp_path / "x.xlsx", **sheets)
    with pytest.raises(ValueError, match=message):
        read_table(open_files(path), ["x"])


def test_nothing_is_unzipped_beyond_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "x.xlsx", data=[["a"], *([["x" * 30_000]] * 5)])
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/more.xml", b" " * 3_000_000)
    monkeypatch.setenv("BIASAMP_MAX_UNZIPPED", "2MB")
    with pytest.raises(ValueError, match=r"x\.xlsx holds 3.* MB unzipped, and 2.* MB is the limit"):
        read_table(open_files(path), ["a"])


@pytest.mark.parametrize("place", [(20_000, 300), (3, 16_384)], ids=["far away", "wide rows"])
def test_a_value_far_away_makes_no_large_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: tuple[int, int]
) -> None:
    """Two cells, or a few rows of two cells each, whose table would have millions."""
    made = openpyxl.Workbook()
    rows = [place[0]] if place[0] > 3 else range(1, 400)
    for row in rows:
        made.active.cell(row, place[1], 1)
    made.active.cell(1, 1, "g")
    made.save(tmp_path / "far.xlsx")
    assert (tmp_path / "far.xlsx").stat().st_size < 20_000
    monkeypatch.setenv("BIASAMP_MAX_UNZIPPED", "40MB")
    with pytest.raises(ValueError, match=r"far\.xlsx has [\d,]+ cells .* 5,000,000 is the limit"):
        read_table(open_files(tmp_path / "far.xlsx"), ["g"])


def test_a_missing_package_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = book(tmp_path / "x.xlsx", data=[["a"], [1]])
    monkeypatch.setitem(__import__("sys").modules, "openpyxl", None)
    with pytest.raises(ImportError, match=r"x\.xlsx is an Excel file, .* pip install 'biasamp\[excel\]'"):
        read_table(open_files(path), ["a"])


def test_audits_and_locks_of_open_workbooks(tmp_path: Path) -> None:
    rows = [["w", 1, 1], ["m", 0, 1], ["m", 1, 0], ["w", 0, 0]] * 20
    roles: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": ["directional"]}
    expected = biasamp.audit(pa.table(dict(zip("gtp", zip(*rows, strict=True), strict=True))), **roles).to_dict()
    folder = tmp_path / "data"
    folder.mkdir()
    book(folder / "x.xlsx", data=[list("gtp"), *rows])
    (folder / "~$x.xlsx").write_bytes(b"lock")
    for engine in ("auto", "local"):
        assert biasamp.audit(folder, **roles, engine=engine).to_dict()["metrics"] == expected["metrics"]
