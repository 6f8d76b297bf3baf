"""Files and folders of records as Arrow batches: Parquet, CSV, Arrow/Feather and JSON lines."""

from __future__ import annotations

import difflib
import gzip
import zlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from .label import printable

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
# How files begin that are something else than their name says.
_MAGIC = {
    b"PAR1": "a Parquet file",
    b"ARROW1": "an Arrow or Feather file",
    b"\x1f\x8b": "gzipped",
    b"PK\x03\x04": "a zip archive or a spreadsheet",
    b"\xff\xfe": "text in UTF-16, where UTF-8 is needed",
    b"\xfe\xff": "text in UTF-16, where UTF-8 is needed",
}
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
        return self.root.resolve().name

    def column_names(self) -> list[str]:
        """The columns of the first file."""
        return list(_schema(self.paths[0]))

    def source(self, path: Path) -> str:
        """What tells this file's rows from another's: nothing for a single file, else its name in the folder."""
        return "" if len(self.paths) == 1 else path.relative_to(self.root).as_posix()

    def read(self, columns: Sequence[str]) -> pa.Table:
        """Some columns of all files in one table, as if the files were one.

        A column that is text in one file is text in all. Records follow in the order of the files' names.
        """
        wanted = list(dict.fromkeys(columns))
        tables = [_read(path, wanted) for path in self.paths]
        if _format(self.paths[0]) == "csv":
            # A file whose values all look like numbers has them spelled as numbers: read them as they are written.
            mixed = [name for name in wanted if not _alike(table.column(name).type for table in tables)]
            if mixed:
                tables = [_read_csv(path, wanted, mixed) for path in self.paths]
        try:
            return unite(tables)
        except ValueError as error:
            raise ValueError(f"the files of {self.name!r} do not fit together: {error}") from None


def open_files(path: str | Path) -> Files:
    """Find the files of a path: a file, or a folder of files of one format."""
    root = Path(path).expanduser()
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
        names = ", ".join(f"'{printable(name, 40)}'" for name in shown)
        raise ValueError(
            f"{source} has no column '{printable(str(column), 60)}'; {lead} {names}{more}{'?' if near else ''}"
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
        try:
            arrays.append(pa.chunked_array([c for part in parts for c in _cast(part, target).chunks], type=target))
        except pa.ArrowException:
            shown = " and ".join(sorted(printable(str(kind), 60) for kind in kinds))
            raise ValueError(f"column {printable(name, 60)!r} holds {shown}, which have no type in common") from None
    return pa.table(arrays, names=tables[0].column_names)


def _alike(types: Iterable[pa.DataType]) -> bool:
    """Whether types are one, or all numbers; a column without any value goes with all."""
    kinds = {kind for kind in types if not pa.types.is_null(kind)}
    return len(kinds) < 2 or all(pa.types.is_integer(kind) or pa.types.is_floating(kind) for kind in kinds)


def _common(kinds: set[pa.DataType]) -> pa.DataType:
    """A type that values of several types can take without losing which category they are."""
    inner = {kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds}
    inner = {kind for kind in inner if not pa.types.is_null(kind)}
    if len(inner) < 2:
        return next(iter(inner), pa.null())
    lists = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    if all(any(test(kind) for test in lists) for kind in inner):
        return pa.large_list(_common({kind.value_type for kind in inner}))
    if all(pa.types.is_integer(kind) or pa.types.is_boolean(kind) for kind in inner):
        return pa.int64()
    numbers = (pa.types.is_integer, pa.types.is_boolean, pa.types.is_floating, pa.types.is_decimal)
    if all(any(test(kind) for test in numbers) for kind in inner):
        return pa.float64()
    return pa.large_string()


def _cast(part: Any, target: pa.DataType) -> Any:
    """Cast a column; true and false become 1 and 0 wherever they meet something else."""
    if pa.types.is_boolean(part.type) and not pa.types.is_boolean(target):
        part = part.cast(pa.int8())
    return part.cast(target)


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
    head = _head(path)
    disguise = next((what for magic, what in _MAGIC.items() if head.startswith(magic)), None)
    if disguise is not None and not (disguise == _MAGIC[b"PAR1"] and _format(path) == "parquet"):
        text = f"its first bytes say that it is {disguise}: rename or convert it"
    elif "straddl" in text or "cannot infer number of columns" in text:
        if len(head) < _CSV_BLOCK:
            return ValueError(f"{path.name} has no records: at most a header was found")
        text = "the header or a row does not end within 16 MB, so this does not look like a table with line breaks"
    elif _format(path) == "json" and head.lstrip()[:1] == b"[":
        text = "JSON lines are needed, one object a line, without brackets and commas around them"
    return ValueError(f"{path.name} cannot be read as {_format(path)}: {printable(text, 300)}")


def _head(path: Path) -> bytes:
    """The first bytes, as many as a row may have; unzipped where the name says so."""
    try:
        with gzip.open(path) if _zipped(path) else path.open("rb") as stream:
            return stream.read(_CSV_BLOCK)
    except (OSError, EOFError, zlib.error):
        return b""


def _schema(path: Path) -> list[str]:
    import pyarrow.parquet as pq

    try:
        if _format(path) == "parquet":
            return list(pq.read_schema(_opened(path)).names)
        if _format(path) == "arrow":
            return list(_arrow(path).schema.names)
        if _format(path) == "csv":
            with open_csv(path, None) as reader:
                return list(reader.schema.names)
        return list(_json(path).schema.names)
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise _explained(path, error) from None


def _read(path: Path, columns: list[str]) -> pa.Table:
    import pyarrow.parquet as pq

    try:
        if _format(path) == "parquet":
            file = pq.ParquetFile(_opened(path))
            _check(columns, file.schema_arrow.names, path)
            return file.read(columns=columns)
        if _format(path) == "csv":
            return _read_csv(path, columns)
        table = _arrow(path) if _format(path) == "arrow" else _json(path)
        _check(columns, table.column_names, path)
        return table.select(columns)
    except (pa.ArrowException, OSError, EOFError, zlib.error) as error:
        raise _explained(path, error) from None


def _check(wanted: Sequence[str], there: list[str], path: Path) -> None:
    """Every wanted column must be there, once."""
    for separator in ";\t|":
        if len(there) == 1 and separator in there[0]:
            raise ValueError(
                f"{path.name} has one column, {printable(there[0], 60)!r}: its values look separated by {separator!r}. "
                "Commas are read in .csv files, tabs in .tsv files"
            )
    check_columns(wanted, there, path.name)
    for column in wanted:
        if there.count(column) > 1:
            raise ValueError(
                f"{path.name} has {there.count(column)} columns named {printable(column, 60)!r}: rename them, so that "
                "the one that is meant can be told"
            )


def _opened(path: Path) -> Any:
    """The file itself, or its content where it is gzipped as a whole."""
    return pa.BufferReader(gzip.decompress(path.read_bytes())) if _zipped(path) else path


def _arrow(path: Path) -> pa.Table:
    from pyarrow import feather, ipc

    try:
        return feather.read_table(_opened(path))
    except pa.ArrowInvalid:
        with ipc.open_stream(_opened(path)) as reader:
            return reader.read_all()


def _json(path: Path) -> pa.Table:
    from pyarrow import json

    options = json.ReadOptions(block_size=_CSV_BLOCK)
    if _zipped(path):
        with gzip.open(path) as stream:
            return json.read_json(stream, read_options=options)
    return json.read_json(path, read_options=options)


def open_csv(
    path: Path, columns: list[str] | None, types: Mapping[str, Any] | None = None, *, blank: bool = True
) -> Any:
    """A reader of the batches of a CSV file; ``blank`` says whether spellings of missing values are missing as text."""
    from pyarrow import csv

    tab = ".tsv" in [suffix.lower() for suffix in path.suffixes]
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=_CSV_BLOCK),
        parse_options=csv.ParseOptions(delimiter="\t" if tab else ",", newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=columns,
            null_values=_NULLS,
            strings_can_be_null=blank,
            column_types=dict(types or {}),
        ),
    )


def _read_csv(path: Path, columns: list[str], text: Sequence[str] = ()) -> pa.Table:
    """Read a CSV, some columns as text; where a later row does not fit the type of the first rows, types are found anew."""
    with open_csv(path, None) as reader:
        _check(columns, reader.schema.names, path)
    try:
        with open_csv(path, columns, dict.fromkeys(text, pa.string())) as reader:
            return reader.read_all()
    except pa.ArrowInvalid as error:
        if "conversion error" not in str(error).lower():
            raise
    with open_csv(path, columns, dict.fromkeys(columns, pa.string())) as reader:
        table = reader.read_all()
    found = [table.column(name) if name in text else _typed(table.column(name)) for name in columns]
    return pa.table(found, names=columns)


def _typed(column: Any) -> Any:
    """Text as numbers or true/false, where all of it is."""
    for kind in (pa.int64(), pa.float64(), pa.bool_()):
        try:
            return column.cast(kind)
        except pa.ArrowInvalid:
            continue
    return column
