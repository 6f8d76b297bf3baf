"""The file formats that are read. Whatever depends on the kind of a file is in one entry of :data:`FORMATS`.

To read another format, add a :class:`~biasamp.data.file_format.Format`; audits, counts, associations, every engine and
the command line read it from then on. What a format need not do: columns that do not exist may raise ``KeyError``, and
damaged files any error of Arrow or of the system; the message to the user, with the file's name and the nearest names of
columns, is made in one place for all formats. Files of a folder whose types differ are brought together outside as well.
Open a file by :func:`~biasamp.data.file_format.opened`, and it is read gzipped too.
"""

from __future__ import annotations

import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv, json

from .csv_dialect import csv_stream, dialect_of, is_tsv
from .excel import excel_schema, read_excel
from .file_format import CODED, Format, Layout, Piece, Text, byte_stream, for_pyarrow, is_zipped, opened
from .json_lines import check_lines
from .label import printable
from .parquet_sizes import parquet_batches, parquet_rows, read_parquet
from .spelling import NULLS
from .unzipping import Chunks
from .ways_out import way_out

# A header or a row of more bytes than this is no table.
BLOCK = 1 << 24
# A code with a leading zero, and where one may stand in a file.
_CODE = "^0[0-9]+$"
# Bytes before a field, and the bytes that are looked at together: what fits in a cache.
_BEFORE = np.isin(np.arange(256), np.frombuffer(b'\n\r,;\t|"', dtype=np.uint8))
_LOOK = 1 << 18
_TRUE_OR_FALSE = "^(0|1|true|false|True|False|TRUE|FALSE)$"


def _read_parquet(path: Path, columns: list[str]) -> Any:
    source = opened(path)
    return read_parquet(source, columns, path.name)


def _split_parquet(path: Path, columns: list[str], _: Text) -> Layout:
    """The row groups; a file that is gzipped as a whole is read as a whole."""
    source = opened(path)
    with pq.ParquetFile(source) as file:
        schema, sizes = file.schema_arrow, parquet_rows(source)
    types = {name: schema.field(name).type for name in columns}
    return Layout(types, [sum(sizes)] if is_zipped(path) else sizes, "row group")


def _parquet_batches(piece: Piece, rows: int) -> Iterator[Any]:
    columns = list(piece.types)
    coded = [name for name, kind in piece.types.items() if kind == CODED]
    source = opened(piece.path)
    for batch in parquet_batches(source, columns, piece.groups, coded, rows, piece.path.name):
        yield batch.select(columns)


_PARQUET = Format(
    "parquet",
    "Parquet (.parquet)",
    (".parquet", ".pq"),
    schema=lambda path: pq.read_schema(opened(path)),
    read=_read_parquet,
    split=_split_parquet,
    batches=_parquet_batches,
    magic=b"PAR1",
)


def _arrow_schema(path: Path) -> Any:
    with _arrow_reader(path) as reader:
        return reader.schema


def _read_arrow(path: Path, columns: list[str]) -> Any:
    with _arrow_reader(path, columns) as reader:
        return pa.Table.from_batches(_record_batches(reader), reader.schema).select(columns)


def _split_arrow(path: Path, columns: list[str], _: Text) -> Layout:
    """The record batches; streams are read as a whole."""
    types = {name: _field(_arrow_schema(path), name).type for name in columns}
    # One column is enough to count rows by: the one that takes least to read.
    least = min(
        columns, key=lambda name: getattr(types[name], "num_fields", 0) + (not pa.types.is_primitive(types[name]))
    )
    with _arrow_reader(path, [least]) as reader:
        sizes = [batch.num_rows for batch in _record_batches(reader)]
        return Layout(types, sizes if hasattr(reader, "get_batch") else [sum(sizes)], "batch")


def _arrow_batches(piece: Piece, _: int) -> Iterator[Any]:
    """Some record batches, in the size that they were written in."""
    with _arrow_reader(piece.path, list(piece.types)) as reader:
        for batch in _record_batches(reader, piece.groups):
            yield batch.select(list(piece.types))


@contextmanager
def _arrow_reader(path: Path, columns: Sequence[str] | None = None) -> Iterator[Any]:
    """A reader of some columns of an Arrow file or of a stream.

    Nothing is mapped into memory: a file that shrinks then ends the process.
    """
    with opened(path) if is_zipped(path) else pa.OSFile(os.fsencode(path)) as source:
        head = source.read(len(_ARROW_MAGIC))
        if head.startswith(_FEATHER_1):
            raise pa.ArrowInvalid("Feather of version 1 cannot be checked for damage and is not read: write version 2")
        read = pa.ipc.open_file if head == _ARROW_MAGIC else pa.ipc.open_stream
        source.seek(0)
        reader = read(source)
        if columns is not None:
            places = [reader.schema.names.index(_field(reader.schema, name).name) for name in columns]
            source.seek(0)
            reader = read(source, options=pa.ipc.IpcReadOptions(included_fields=sorted(places)))
        yield reader


_ARROW_MAGIC, _FEATHER_1 = b"ARROW1", b"FEA1"


def _field(schema: Any, name: str) -> Any:
    """A column that is there once; else KeyError."""
    if schema.names.count(name) != 1:
        raise KeyError(name)
    return schema.field(name)


def _record_batches(reader: Any, groups: Sequence[int] = ()) -> Iterable[Any]:
    if hasattr(reader, "get_batch"):
        return map(reader.get_batch, groups or range(reader.num_record_batches))
    return reader


_ARROW = Format(
    "arrow",
    "Arrow/Feather (.arrow, .feather)",
    (".arrow", ".feather", ".ipc"),
    schema=_arrow_schema,
    read=_read_arrow,
    split=_split_arrow,
    batches=_arrow_batches,
    magic=_ARROW_MAGIC,
)


@contextmanager
def _csv(
    path: Path, columns: Sequence[str] | None, types: Mapping[str, Any] | None = None, blank: bool = True
) -> Iterator[Any]:
    """A reader of batches of a CSV file; types that are not given are those of the first rows."""
    dialect = dialect_of(path)
    with (
        nullcontext(for_pyarrow(path))
        if dialect.is_plain and not is_zipped(path)
        else csv_stream(path, dialect.encoding) as stream,
        csv.open_csv(
            stream,
            read_options=csv.ReadOptions(block_size=BLOCK),
            # A label may hold a line break within quotes.
            parse_options=csv.ParseOptions(delimiter=dialect.separator, newlines_in_values=True),
            convert_options=csv.ConvertOptions(
                include_columns=columns,
                null_values=list(NULLS),
                strings_can_be_null=blank,
                column_types=dict(types or {}),
            ),
        ) as reader,
    ):
        strange = [field.name for field in reader.schema if pa.types.is_binary(field.type)]
        if strange and columns is not None:
            raise UnicodeError(f"the column {strange[0]!r} holds text that is not UTF-8: {way_out('encoding')}")
        yield reader


def _csv_schema(path: Path) -> Any:
    """The columns, in the types of the first rows."""
    with _csv(path, None) as reader:
        return reader.schema


def _read_csv(path: Path, columns: list[str]) -> Any:
    """Columns in the types of the first rows or, where later rows do not fit, in types that fit all."""
    _refuse_unclear(path, columns)
    codes = _codes(path, columns)
    try:
        with _csv(path, columns, codes) as reader:
            return reader.read_all()
    except pa.ArrowInvalid:
        with _csv(path, columns, _types_of_all_rows(path, columns, Text(codes))[0]) as reader:
            return reader.read_all()


def _split_csv(path: Path, columns: list[str], text: Text) -> Layout:
    """One group; there is no pass over the file where the caller knows all types and needs no count."""
    _refuse_unclear(path, columns)
    asked = {**text.types, **dict.fromkeys(text.words, pa.string())}
    known = {name: kind for name, kind in asked.items() if name in columns}
    if len(known) == len(columns) and not text.counted:
        return Layout(known, [None])
    known = {**_codes(path, [name for name in columns if name not in known]), **known}
    text = text._replace(types=known)
    try:
        with _csv(path, columns, known, text.blank) as reader:
            types = {name: reader.schema.field(name).type for name in columns}
            return Layout(types, [sum(batch.num_rows for batch in reader)])
    except pa.ArrowInvalid:
        types, rows = _types_of_all_rows(path, columns, text)
        return Layout(types, [rows])


def _csv_batches(piece: Piece, _: int) -> Iterator[Any]:
    apart = piece.blank and bool(piece.words)
    with _csv(piece.path, list(piece.types), piece.types, piece.blank and not apart) as reader:
        for batch in reader:
            yield _without_nulls(batch, piece.words) if apart else batch


def _without_nulls(batch: Any, words: Mapping[str, frozenset[str]]) -> Any:
    """Rows whose text is missing where it spells that, unless the word is a value of its column."""
    held = []
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        kind = column.type
        if pa.types.is_string(kind) or pa.types.is_dictionary(kind):
            column = column.cast(pa.string())
            nulls = pa.array([word for word in NULLS if word not in words.get(name, ())])
            column = pc.if_else(pc.is_in(column, nulls), pa.scalar(None, pa.string()), column).cast(kind)
        held.append(column)
    return pa.RecordBatch.from_arrays(held, schema=batch.schema)


def _refuse_unclear(path: Path, columns: Sequence[str]) -> None:
    """Raise for a column of decimal commas, and KeyError for one that is missing or there twice, of which one would be taken."""
    times = Counter(_csv_schema(path).names)
    unclear = [column for column in columns if times[column] != 1]
    if unclear:
        raise KeyError(unclear[0])
    commas = [column for column in columns if column in dialect_of(path).decimal_commas]
    if commas:
        raise ValueError(
            f"the column {printable(commas[0], 60)!r} of {path.name} holds numbers with decimal commas, such as 0,7: "
            f"{way_out('decimal')}"
        )


def _codes(path: Path, columns: Sequence[str]) -> dict[str, Any]:
    """The columns that hold codes such as 01, which are text: 01 and 1 are two codes."""
    if not columns or not _may_have_codes(path):
        return {}
    found: set[str] = set()
    with _csv(path, columns, dict.fromkeys(columns, pa.string())) as reader:
        for batch in reader:
            rest = [name for name in columns if name not in found]
            found |= {name for name in rest if pc.any(pc.match_substring_regex(batch.column(name), _CODE)).as_py()}
    return dict.fromkeys(sorted(found), pa.string())


def _may_have_codes(path: Path) -> bool:
    """Whether a field may begin with 0 and a digit: a look at bytes, which is quick."""
    with csv_stream(path, dialect_of(path).encoding) as stream:
        end = b"\n"
        while block := stream.read(_LOOK):
            seen = np.frombuffer(end + block, dtype=np.uint8)
            zeros = seen[1:-1] == ord("0")
            if zeros.any() and np.any(zeros & (seen[2:] - np.uint8(ord("0")) < 10) & _BEFORE[seen[:-2]]):
                return True
            end = bytes(seen[-2:])
    return False


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
    with suppress(pa.ArrowInvalid):
        column.cast(kind)
        return True
    return False


_CSV = Format(
    "csv",
    "CSV (.csv, .tsv)",
    (".csv", ".tsv"),
    schema=_csv_schema,
    read=_read_csv,
    split=_split_csv,
    batches=_csv_batches,
    typed=False,
    note=lambda path: dialect_of(path).note(is_tsv(path)),
)


def _read_json(path: Path, columns: list[str]) -> Any:
    with io.BufferedReader(Chunks(_json_blocks(path)), BLOCK) as stream:
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
    if pa.types.is_struct(a) and pa.types.is_struct(b):
        fields = {one.name: one.type for one in a}
        for one in b:
            fields[one.name] = _promoted(fields.get(one.name, one.type), one.type)
        return pa.struct(list(fields.items()))
    if {a, b} == {pa.int64(), pa.float64()}:
        return pa.float64()
    if {a, b} == {pa.timestamp("s"), pa.string()}:
        return pa.string()
    raise pa.ArrowInvalid(f"values of {a} and of {b} stand in one column")


def _json_blocks(path: Path) -> Iterator[bytes]:
    """Whole lines, a block of some megabytes after another; each line is known to be an object."""
    before = 0
    for block in _whole_lines(path):
        check_lines(block, before)
        before += block.count(b"\n")
        yield block


def _whole_lines(path: Path) -> Iterator[bytes]:
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


_JSON = Format(
    "json",
    "JSON lines (.jsonl)",
    (".jsonl", ".ndjson", ".json"),
    schema=lambda path: pa.schema(list(_json_types(path)[0].items())),
    read=_read_json,
    split=_split_json,
    batches=_json_batches,
    mistaken={b"[": "JSON lines are needed, one object per line, without brackets and commas around them"},
)


_EXCEL = Format("excel", "Excel (.xlsx)", (".xlsx",), schema=excel_schema, read=read_excel, magic=b"PK\x03\x04")


FORMATS: dict[str, Format] = {entry.name: entry for entry in (_PARQUET, _CSV, _EXCEL, _ARROW, _JSON)}


def find_format(path: Path) -> Format | None:
    """The format of a file by its name, or None."""
    suffix = Path(path.name.lower().removesuffix(".gz")).suffix
    return next((entry for entry in FORMATS.values() if suffix in entry.suffixes), None)


def format_of(path: Path) -> Format:
    """The format of a file by its name; an unknown one is an error."""
    found = find_format(path)
    if found is None:
        raise ValueError(f"{path.name!r} is of no format that is read; {formats_read()} are")
    return found


def formats_read() -> str:
    """All formats, in words."""
    *most, last = (entry.title for entry in FORMATS.values())
    return f"{', '.join(most)} and {last}, also gzipped"
