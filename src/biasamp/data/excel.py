"""Excel workbooks (.xlsx) as tables, read by openpyxl where it is installed."""

from __future__ import annotations

import datetime
import io
import warnings
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import zip_longest
from pathlib import Path
from typing import IO, Any

import pyarrow as pa

from .byte_sizes import shown_bytes
from .file_format import is_zipped
from .label import printable
from .unzipping import VARIABLE, unzip, unzipped_limit
from .ways_out import way_out

_MIDNIGHT = datetime.time()
# Bytes that a cell takes in memory, an empty one too.
_CELL = 8


def read_excel(path: Path, columns: Sequence[str]) -> Any:
    """Some columns of a workbook's only sheet with data; one that is missing, or there twice, is a ``KeyError``."""
    table = _table(path)
    for name in columns:
        if table.column_names.count(name) != 1:
            raise KeyError(name)
    return table.select(list(columns))


def excel_schema(path: Path) -> Any:
    """The columns and their types, for which all rows are read."""
    return _table(path).schema


def sheet_rows(path: Path, sheet: str | None = None) -> tuple[str, list[tuple[Any, ...]]]:
    """The name and the rows of a sheet, by default of the only one with data, all rows as long as the longest.

    Formulas give the value that was saved with them. Empty rows and columns at the end are left out. A damaged workbook,
    errors in cells and formulas without a value raise ``pa.ArrowInvalid``, to which the caller adds the file's name.
    """
    _refuse_large(path)
    with _workbook(path, values=True) as book:
        sheets = {one.title: one for one in book.worksheets}
        if sheet is not None and sheet not in sheets:
            raise _Refused(f"{path.name} has no sheet {printable(sheet, 60)!r}; it has {_listed(sheets)}")
        filled = [name for name, one in sheets.items() if any(row for row in _rows(one))] if sheet is None else [sheet]
        if len(filled) > 1:
            raise _Refused(f"{path.name} has several sheets with data, {_listed(filled)}: {way_out('sheet')}")
        if not filled:
            return "", []
        held, cells = [], 0
        for row in _rows(sheets[filled[0]]):
            held.append(row)
            cells += len(row)
            _refuse_many(path, cells)
    _refuse_formulas(path, filled[0], held)
    while held and not held[-1]:
        held.pop()
    width = max(map(len, held), default=0)
    _refuse_many(path, len(held) * width)
    return filled[0], [row + (None,) * (width - len(row)) for row in held]


class _Refused(ValueError):
    """A refusal that names the file itself, and a way out."""


def _table(path: Path) -> Any:
    rows = iter(sheet_rows(path)[1])
    header = next((row for row in rows if row.count(None) < len(row)), None)
    if header is None:
        raise _Refused(f"{path.name} has no records: all of its sheets are empty")
    columns = list(zip(*rows, strict=True)) or [()] * len(header)
    named = [("" if name is None else _spelled(name), held) for name, held in zip(header, columns, strict=True)]
    # A column with neither a name nor a value is a gap between columns.
    kept = [(name, held) for name, held in named if name or any(value is not None for value in held)]
    return pa.Table.from_arrays([_array(held) for _, held in kept], names=[name for name, _ in kept])


def _array(values: Sequence[Any]) -> Any:
    """A column in the type that all of its values have, as other formats give it; values of several types are text."""
    kinds = {type(value) for value in values if value is not None}
    if kinds <= {int, float} or kinds in ({bool}, {str}, {datetime.time}):
        whole = kinds == {int} and all(-(2**63) <= value < 2**63 for value in values if value is not None)
        wide = float in kinds or (kinds == {int} and not whole)
        return pa.array(values, pa.float64() if wide else None)
    if kinds == {datetime.datetime}:
        times = [value for value in values if value is not None]
        if all(value.time() == _MIDNIGHT for value in times):
            return pa.array([None if value is None else value.date() for value in values], pa.date32())
        return pa.array(values, pa.timestamp("us" if any(value.microsecond for value in times) else "s"))
    return pa.array([None if value is None else _spelled(value) for value in values], pa.string())


def _spelled(value: Any) -> str:
    """A value as a workbook shows it, and as it stands in a CSV file that it is saved to."""
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, datetime.datetime):
        return str(value.date() if value.time() == _MIDNIGHT else value)
    return str(value)


def _rows(sheet: Any) -> Iterator[tuple[Any, ...]]:
    """Rows without the empty cells at their end; those of an empty row are none."""
    sheet.reset_dimensions()  # what a file says of its size may be wrong
    for row in sheet.iter_rows():
        values = [cell.value for cell in row]
        error = next((cell for cell in row if cell.data_type == "e"), None)
        if error is not None:
            raise pa.ArrowInvalid(f"the cell {error.coordinate} of sheet {sheet.title!r} holds the error {error.value}")
        while values and values[-1] is None:
            values.pop()
        yield tuple(values)


def _refuse_formulas(path: Path, sheet: str, held: list[tuple[Any, ...]]) -> None:
    """Refuse a formula whose value was not saved, which reads as an empty cell."""
    with _workbook(path, values=False) as book:
        one = book[sheet]
        one.reset_dimensions()
        for row, values in zip_longest(one.iter_rows(), held, fillvalue=()):
            for cell, value in zip_longest(row, values):
                if value is None and cell is not None and cell.data_type == "f":
                    raise pa.ArrowInvalid(
                        f"the cell {cell.coordinate} of sheet {sheet!r} holds a formula whose value was not saved: open the "
                        "file in a spreadsheet program and save it there"
                    )


@contextmanager
def _workbook(path: Path, values: bool) -> Iterator[Any]:
    """A workbook that is open for reading, by the values of formulas or by formulas."""
    try:
        import openpyxl
    except ImportError:
        raise ImportError(f"{path.name} is an Excel file, which needs openpyxl: pip install 'biasamp[excel]'") from None
    source = io.BytesIO(unzip(path.read_bytes(), path.name)) if is_zipped(path) else path
    try:
        with warnings.catch_warnings():
            # Of styles and forms that it leaves out, which hold no values.
            warnings.filterwarnings("ignore", module="openpyxl")
            book = openpyxl.load_workbook(source, read_only=True, data_only=values, keep_links=False)
            try:
                yield book
            finally:
                book.close()
    except (_Refused, pa.ArrowInvalid, OSError, MemoryError):
        raise
    except Exception as error:
        raise pa.ArrowInvalid(f"{type(error).__name__}: {error}") from None


def _refuse_large(path: Path) -> None:
    """Hold what a workbook unzips to against the limit of gzipped files, before anything of it is unzipped."""
    source = io.BytesIO(unzip(path.read_bytes(), path.name)) if is_zipped(path) else path
    try:
        with zipfile.ZipFile(source) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
    except (zipfile.BadZipFile, ValueError, NotImplementedError) as error:
        raise pa.ArrowInvalid(f"it is no workbook: {error}") from None
    if size > unzipped_limit():
        raise _Refused(
            f"{path.name} holds {shown_bytes(size)} unzipped, and {shown_bytes(unzipped_limit())} is the limit for a zipped "
            f"file. If that is right, save it as CSV, or raise the limit: {VARIABLE}=20GB in the environment"
        )


def _refuse_many(path: Path, cells: int) -> None:
    """Hold cells against the same limit: one value far away from the others makes a small file a large table."""
    if cells * _CELL > unzipped_limit():
        raise _Refused(
            f"{path.name} has {cells:,} cells with the empty ones before its last row and column, and {unzipped_limit() // _CELL:,} is the "
            f"limit. Remove what stands far away from the table, save it as CSV, or raise the limit: {VARIABLE}=20GB in the environment"
        )


def _listed(sheets: Any) -> str:
    names = [repr(printable(name, 40)) for name in sheets]
    return ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")


def write_sheet(stream: IO[bytes], name: str, rows: Iterable[Sequence[Any]]) -> None:
    """Write a workbook of one sheet, values only: text that begins as a formula does stays text."""
    import openpyxl
    from openpyxl.cell import WriteOnlyCell

    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet(name)
    for row in rows:
        cells = []
        for value in row:
            cell = WriteOnlyCell(sheet, value)
            if isinstance(value, str):
                cell.data_type = "s"
            cells.append(cell)
        sheet.append(cells)
    book.save(stream)
