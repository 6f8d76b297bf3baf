"""Files and folders of records as Arrow batches: Parquet, CSV, Arrow/Feather and JSON lines."""

from __future__ import annotations

import difflib
import gzip
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from biasamp.labels import printable

_FORMATS = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "csv",
    ".feather": "arrow",
    ".arrow": "arrow",
    ".ipc": "arrow",
    ".jsonl": "json",
    ".ndjson": "json",
    ".json": "json",
}
_KNOWN = "Parquet (.parquet), CSV (.csv, .tsv), Arrow/Feather (.arrow, .feather) and JSON lines (.jsonl), also gzipped"
# An empty field is missing, and so are the spellings that other tools write for it.
_NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A", "<NA>"]
# A header or a row longer than this is no table.
_CSV_BLOCK = 1 << 24


@dataclass(frozen=True)
class Files:
    """The files of one data set, in the order of their names."""

    root: Path
    paths: tuple[Path, ...]

    @property
    def name(self) -> str:
        """What the data set is called in messages and reports."""
        return self.root.name

    def column_names(self) -> list[str]:
        """The columns of the first file."""
        return list(_schema(self.paths[0]))

    def source(self, path: Path) -> str:
        """What tells this file's rows from another's: nothing for a single file, else its name in the folder."""
        return "" if len(self.paths) == 1 else path.relative_to(self.root).as_posix()

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all files in one table; a column that is text in one file is text in all."""
        check_columns(columns, self.column_names(), self.name)
        return unite([_read(path, list(dict.fromkeys(columns))) for path in self.paths])


def open_files(path: str | Path) -> Files:
    """Find the files of a path: a file, or a folder of files of one format."""
    root = Path(path)
    if root.is_dir():
        paths = tuple(
            sorted(p for p in root.rglob("*") if p.is_file() and not _hidden(p.relative_to(root)) and _format(p))
        )
        if not paths:
            raise ValueError(f"the folder {root.name!r} holds no data file; {_KNOWN} are read")
        formats = {_format(p) for p in paths}
        if len(formats) > 1:
            raise ValueError(
                f"the folder {root.name!r} mixes {', '.join(sorted(map(str, formats)))} files: keep one format"
            )
    elif root.is_file():
        if _format(root) is None:
            raise ValueError(f"{root.name!r} is of no format that is read; {_KNOWN} are")
        paths = (root,)
    else:
        raise FileNotFoundError(f"no file or folder {str(path)!r}")
    for file in paths:
        if file.stat().st_size == 0:
            raise ValueError(f"{file.name} is empty (0 bytes)")
    return Files(root, paths)


def check_columns(wanted: Sequence[str], there: Sequence[str], source: str) -> None:
    """Raise for columns that do not exist, offering the nearest names."""
    for column in wanted:
        if column in there:
            continue
        near = difflib.get_close_matches(str(column), [str(name) for name in there], n=3, cutoff=0.5)
        shown = near or [str(name) for name in there[:8]]
        lead = "did you mean" if near else "it has"
        more = "" if near or len(there) <= 8 else f" and {len(there) - 8} more"
        names = ", ".join(repr(printable(name, 40)) for name in shown)
        raise ValueError(
            f"{source} has no column {printable(str(column), 60)!r}; {lead} {names}{more}{'?' if near else ''}"
        )


def unite(tables: Sequence[pa.Table]) -> pa.Table:
    """Tables of the same columns, one after another, each column in a type that all can take."""
    if len(tables) == 1:
        return tables[0]
    arrays = []
    for name in tables[0].column_names:
        parts = [table.column(name) for table in tables]
        kinds = {part.type for part in parts if not pa.types.is_null(part.type)}
        target = next(iter(kinds)) if len(kinds) == 1 else _common(kinds)
        arrays.append(pa.chunked_array([c for part in parts for c in part.cast(target).chunks], type=target))
    return pa.table(arrays, names=tables[0].column_names)


def _common(kinds: set[pa.DataType]) -> pa.DataType:
    if not kinds:
        return pa.null()
    if all(pa.types.is_integer(kind) for kind in kinds):
        return pa.int64()
    if all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds):
        return pa.float64()
    return pa.large_string()


def _hidden(path: Path) -> bool:
    return any(part.startswith((".", "_")) for part in path.parts)


def _format(path: Path) -> str | None:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if suffixes and suffixes[-1] == ".gz":
        suffixes.pop()
    return _FORMATS.get(suffixes[-1]) if suffixes else None


def _zipped(path: Path) -> bool:
    return path.suffix.lower() == ".gz"


def _explained(path: Path, error: Exception) -> ValueError:
    """An Arrow error in words that name the file."""
    text = str(error)
    if "straddl" in text or "cannot infer number of columns" in text:
        text = "the header or a row does not end within 16 MB, so this does not look like a table with line breaks"
    return ValueError(f"{path.name} cannot be read as {_format(path)}: {printable(text, 300)}")


def _schema(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    try:
        if _format(path) == "parquet":
            return list(pq.read_schema(path).names)
        if _format(path) == "arrow":
            return list(_arrow(path).schema.names)
        if _format(path) == "csv":
            with _csv(path, None) as reader:
                return list(reader.schema.names)
        return list(_json(path).schema.names)
    except (pa.ArrowException, OSError, EOFError) as error:
        raise _explained(path, error) from None


def _read(path: Path, columns: list[str]) -> pa.Table:
    import pyarrow.parquet as pq

    try:
        if _format(path) == "parquet":
            return pq.ParquetFile(path).read(columns=columns)
        if _format(path) == "arrow":
            return _arrow(path).select(columns)
        if _format(path) == "csv":
            return _read_csv(path, columns)
        table = _json(path)
        check_columns(columns, table.column_names, path.name)
        return table.select(columns)
    except (pa.ArrowException, OSError, EOFError, KeyError) as error:
        raise _explained(path, error) from None


def _arrow(path: Path) -> pa.Table:
    from pyarrow import feather, ipc

    try:
        return feather.read_table(path)
    except pa.ArrowInvalid:
        with ipc.open_stream(path) as reader:
            return reader.read_all()


def _json(path: Path) -> pa.Table:
    from pyarrow import json

    options = json.ReadOptions(block_size=_CSV_BLOCK)
    if _zipped(path):
        with gzip.open(path) as stream:
            return json.read_json(stream, read_options=options)
    return json.read_json(path, read_options=options)


def _csv(path: Path, columns: list[str] | None, as_text: bool = False) -> Any:
    from pyarrow import csv

    tab = ".tsv" in [suffix.lower() for suffix in path.suffixes]
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=_CSV_BLOCK),
        parse_options=csv.ParseOptions(delimiter="\t" if tab else ",", newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=columns,
            null_values=_NULLS,
            strings_can_be_null=True,
            column_types=dict.fromkeys(columns or [], pa.string()) if as_text else None,
        ),
    )


def _read_csv(path: Path, columns: list[str]) -> pa.Table:
    """Read a CSV; where a later row does not fit the type of the first rows, the columns are text."""
    try:
        with _csv(path, columns) as reader:
            return reader.read_all()
    except pa.ArrowInvalid as error:
        if "conversion error" not in str(error).lower():
            raise
    with _csv(path, columns, as_text=True) as reader:
        return reader.read_all()
