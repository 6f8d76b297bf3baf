"""Parquet and Arrow/Feather files, whose columns have types and whose rows stand in groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import feather

from .file_format import CODED, Format, Layout, Piece, Text, is_zipped, opened


def _read_parquet(path: Path, columns: list[str]) -> Any:
    with pq.ParquetFile(opened(path)) as file:
        return file.read(columns=columns)


def _split_parquet(path: Path, columns: list[str], _: Text) -> Layout:
    """The row groups; a file that is gzipped as a whole is read as a whole."""
    with pq.ParquetFile(opened(path)) as file:
        schema, metadata = file.schema_arrow, file.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    types = {name: schema.field(name).type for name in columns}
    return Layout(types, [sum(sizes)] if is_zipped(path) else sizes, "row group")


def _parquet_batches(piece: Piece, rows: int) -> Iterator[Any]:
    columns = list(piece.types)
    coded = [name for name, kind in piece.types.items() if kind == CODED]
    with pq.ParquetFile(opened(piece.path), read_dictionary=coded, pre_buffer=False) as file:
        groups = list(piece.groups) or None
        for batch in file.iter_batches(batch_size=rows, row_groups=groups, columns=columns, use_threads=False):
            yield batch.select(columns)


PARQUET = Format(
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
    with _arrow_reader(path) as reader:
        return pa.Table.from_batches(_record_batches(reader), reader.schema).select(columns)


def _split_arrow(path: Path, columns: list[str], _: Text) -> Layout:
    """The record batches; streams and Feather of version 1 are read as a whole."""
    with _arrow_reader(path) as reader:
        sizes = [batch.num_rows for batch in _record_batches(reader)]
        types = {name: reader.schema.field(name).type for name in columns}
        return Layout(types, sizes if hasattr(reader, "get_batch") else [sum(sizes)], "batch")


def _arrow_batches(piece: Piece, _: int) -> Iterator[Any]:
    """Some record batches, in the size that they were written in."""
    with _arrow_reader(piece.path) as reader:
        for batch in _record_batches(reader, piece.groups):
            yield batch.select(list(piece.types))


@contextmanager
def _arrow_reader(path: Path) -> Iterator[Any]:
    """A reader of an Arrow file or of a stream, or the table of a Feather file of version 1."""
    with opened(path) if is_zipped(path) else pa.memory_map(str(path)) as source:
        for read in (pa.ipc.open_file, pa.ipc.open_stream):
            try:
                reader = read(source)
                break
            except pa.ArrowInvalid:
                source.seek(0)
        else:
            reader = feather.read_table(source)
        yield reader


def _record_batches(reader: Any, groups: Sequence[int] = ()) -> Iterable[Any]:
    if isinstance(reader, pa.Table):
        return reader.to_batches()
    if hasattr(reader, "get_batch"):
        return map(reader.get_batch, groups or range(reader.num_record_batches))
    return reader


ARROW = Format(
    "arrow",
    "Arrow/Feather (.arrow, .feather)",
    (".arrow", ".feather", ".ipc"),
    schema=_arrow_schema,
    read=_read_arrow,
    split=_split_arrow,
    batches=_arrow_batches,
    magic=b"ARROW1",
)
