"""CSV and JSON-lines files: values are text, whose types a first pass finds out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import csv, json

from .file_format import Format, Layout, Piece, Text, byte_stream

# A header or a row of more bytes than this is no table.
BLOCK = 1 << 24
# An empty field is missing, and so are the spellings that other tools write for it.
_NULLS = ["", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A", "<NA>"]
_TRUE_OR_FALSE = "^(0|1|true|false|True|False|TRUE|FALSE)$"


def _csv(path: Path, columns: Sequence[str] | None, types: Mapping[str, Any] | None = None, blank: bool = True) -> Any:
    """A reader of batches of a CSV file; types that are not given are those of the first rows."""
    tabs = ".tsv" in [suffix.lower() for suffix in path.suffixes]
    return csv.open_csv(
        path,
        read_options=csv.ReadOptions(block_size=BLOCK),
        # A label may hold a line break within quotes.
        parse_options=csv.ParseOptions(delimiter="\t" if tabs else ",", newlines_in_values=True),
        convert_options=csv.ConvertOptions(
            include_columns=columns, null_values=_NULLS, strings_can_be_null=blank, column_types=dict(types or {})
        ),
    )


def _csv_schema(path: Path) -> Any:
    """The columns, in the types of the first rows."""
    with _csv(path, None) as reader:
        return reader.schema


def _read_csv(path: Path, columns: list[str]) -> Any:
    """Columns in the types of the first rows or, where later rows do not fit, in types that fit all."""
    _refuse_unclear(path, columns)
    try:
        with _csv(path, columns) as reader:
            return reader.read_all()
    except pa.ArrowInvalid:
        types, _ = _types_of_all_rows(path, columns, Text())
    with _csv(path, columns, types) as reader:
        return reader.read_all()


def _split_csv(path: Path, columns: list[str], text: Text) -> Layout:
    """One group; there is no pass over the file where the caller knows all types and needs no count."""
    _refuse_unclear(path, columns)
    known = {name: kind for name, kind in text.types.items() if name in columns}
    if len(known) == len(columns) and not text.counted:
        return Layout(known, [None])
    try:
        with _csv(path, columns, known, text.blank) as reader:
            types = {name: reader.schema.field(name).type for name in columns}
            return Layout(types, [sum(batch.num_rows for batch in reader)])
    except pa.ArrowInvalid:
        types, rows = _types_of_all_rows(path, columns, text)
        return Layout(types, [rows])


def _csv_batches(piece: Piece, _: int) -> Iterator[Any]:
    with _csv(piece.path, list(piece.types), piece.types, piece.blank) as reader:
        yield from reader


def _refuse_unclear(path: Path, columns: Sequence[str]) -> None:
    """Raise KeyError for a column that is missing or there twice, of which the reader would take one."""
    times = Counter(_csv_schema(path).names)
    for column in columns:
        if times[column] != 1:
            raise KeyError(column)


def _types_of_all_rows(path: Path, columns: list[str], text: Text) -> tuple[dict[str, Any], int]:
    """Types and number of rows: read as text, columns are whole numbers, numbers or true/false where all of it is."""
    read = {name: text.types.get(name, pa.string()) for name in columns}
    possible = {name: [pa.int64(), pa.float64(), pa.bool_()] for name in columns if name not in text.types}
    rows = 0
    with _csv(path, columns, read, text.blank) as reader:
        for batch in reader:
            rows += batch.num_rows
            for name, kinds in possible.items():
                possible[name] = [kind for kind in kinds if _can_be(batch.column(name), kind)]
    return {**read, **{name: kinds[0] for name, kinds in possible.items() if kinds}}, rows


def _can_be(column: Any, kind: Any) -> bool:
    """Whether all text of a column spells values of a type."""
    if pa.types.is_boolean(kind):
        return bool(pc.all(pc.match_substring_regex(column, _TRUE_OR_FALSE)).as_py() in (True, None))
    try:
        column.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


CSV = Format(
    "csv",
    "CSV (.csv, .tsv)",
    (".csv", ".tsv"),
    schema=_csv_schema,
    read=_read_csv,
    split=_split_csv,
    batches=_csv_batches,
    typed=False,
)


def _read_json(path: Path, columns: list[str]) -> Any:
    with byte_stream(path) as stream:
        return json.read_json(stream, read_options=json.ReadOptions(block_size=BLOCK)).select(columns)


def _split_json(path: Path, columns: list[str], _: Text) -> Layout:
    types, rows = _json_types(path, columns)
    return Layout({name: types[name] for name in columns}, [rows])


def _json_batches(piece: Piece, _: int) -> Iterator[Any]:
    """Batches in the types of the layout, with text where codes are asked for."""
    kinds = {n: kind.value_type if pa.types.is_dictionary(kind) else kind for n, kind in piece.types.items()}
    for block in _json_blocks(piece.path):
        yield from _json_table(block, pa.schema(list(kinds.items()))).select(list(kinds)).to_batches()


def _json_types(path: Path, columns: Sequence[str] = ()) -> tuple[dict[str, Any], int]:
    """The type of each column over all lines, and their number; only ``columns`` must have one type that fits all."""
    found: dict[str, Any] = {}
    rows = 0
    for block in _json_blocks(path):
        table = _json_table(block)
        rows += table.num_rows
        for name, kind in zip(table.column_names, table.schema.types, strict=True):
            try:
                found[name] = _promoted(found.get(name, kind), kind)
            except pa.ArrowInvalid:
                if name in columns:
                    raise
    return found, rows


def _promoted(a: Any, b: Any) -> Any:
    """The type that a JSON reader gives values of two types when it meets them in one file."""
    if a == b or pa.types.is_null(b):
        return a
    if pa.types.is_null(a):
        return b
    if pa.types.is_list(a) and pa.types.is_list(b):
        return pa.list_(_promoted(a.value_type, b.value_type))
    if {a, b} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if {a, b} == {pa.timestamp("s"), pa.string()}:
        return pa.string()
    raise pa.ArrowInvalid(f"values of {a} and of {b} stand in one column")


def _json_blocks(path: Path) -> Iterator[bytes]:
    """Whole lines, a block of some megabytes after another."""
    with byte_stream(path) as stream:
        rest = b""
        while read := stream.read(BLOCK):
            end = read.rfind(b"\n") + 1
            if not end and len(read) == BLOCK:
                raise pa.ArrowInvalid("straddling object: a line is longer than a block")
            if end:
                yield rest + read[:end]
                rest = b""
            rest += read[end:]
        if rest.strip():
            yield rest


def _json_table(block: bytes, schema: Any = None) -> Any:
    """The rows of a block, in given types or in types that are found for all its rows at once."""
    return json.read_json(
        pa.BufferReader(block),
        read_options=json.ReadOptions(block_size=len(block) + 1, use_threads=False),
        parse_options=json.ParseOptions(
            explicit_schema=schema, unexpected_field_behavior="infer" if schema is None else "ignore"
        ),
    )


JSON = Format(
    "json",
    "JSON lines (.jsonl)",
    (".jsonl", ".ndjson", ".json"),
    schema=lambda path: pa.schema(list(_json_types(path)[0].items())),
    read=_read_json,
    split=_split_json,
    batches=_json_batches,
    mistaken={b"[": "JSON lines are needed, one object per line, without brackets and commas around them"},
)
