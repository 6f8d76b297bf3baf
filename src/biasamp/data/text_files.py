"""CSV and JSON-lines files as batches of known types, in one pass after a survey that finds the types."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from .files import _CSV_BLOCK, _check, _zipped, open_csv

# What text is tried as, in this order, where the type of a CSV's first rows does not hold for all.
_TRIED = (pa.int64(), pa.float64(), pa.bool_())


@dataclass(frozen=True)
class CsvPlan:
    """How a CSV file becomes columns.

    Attributes
    ----------
    read : tuple of (str, DataType)
        Types that columns are read as; the type of the others is that of the first rows.
    cast : tuple of (str, DataType)
        Types that columns of text are turned into afterwards.
    blank : bool
        Whether the spellings of missing values are missing in a column of text.
    """

    read: tuple[tuple[str, Any], ...] = ()
    cast: tuple[tuple[str, Any], ...] = ()
    blank: bool = True

    def as_text(self, columns: set[str]) -> CsvPlan:
        """The plan with some columns read as they are written."""
        read = {**dict(self.read), **dict.fromkeys(columns, pa.string())}
        return replace(self, read=tuple(read.items()), cast=tuple(c for c in self.cast if c[0] not in columns))

    def batches(self, path: Path, columns: list[str]) -> Iterator[Any]:
        """The batches of some columns."""
        cast = dict(self.cast)
        read = {name: kind for name, kind in self.read if name in columns}
        with open_csv(path, columns, read, blank=self.blank) as reader:
            for batch in reader:
                if not cast:
                    yield batch
                    continue
                arrays = [
                    array.cast(cast[name]) if name in cast else array
                    for name, array in zip(batch.schema.names, batch.columns, strict=True)
                ]
                yield pa.record_batch(arrays, names=batch.schema.names)


@dataclass(frozen=True)
class JsonPlan:
    """How a JSON-lines file becomes columns: the type of each."""

    read: tuple[tuple[str, Any], ...]

    def batches(self, path: Path, columns: list[str]) -> Iterator[Any]:
        """The batches of some columns."""
        kinds = dict(self.read)
        schema = pa.schema([(name, kinds[name]) for name in columns])
        for block in _json_blocks(path):
            yield from _read_json(block, schema).select(columns).to_batches()


def survey_csv(
    path: Path, columns: list[str], types: Mapping[str, Any], blank: bool, counted: bool
) -> tuple[CsvPlan, int | None, dict[str, Any]]:
    """How to read a CSV file, how many rows it has, and the type of each column.

    As in :meth:`Files.read <biasamp.data.files.Files.read>`: the first rows say what the types are; where a
    later row does not fit, all columns are read as text and turned into numbers or true/false where all of it is.
    """
    given = {name: kind for name, kind in types.items() if name in columns}
    with open_csv(path, None, {}) as reader:
        _check(columns, reader.schema.names, path)
    if not counted and len(given) == len(columns):
        return CsvPlan(tuple(given.items()), blank=blank), None, given
    rows = 0
    try:
        with open_csv(path, columns, given, blank=blank) as reader:
            found = {name: reader.schema.field(name).type for name in columns}
            for batch in reader:
                rows += batch.num_rows
        return CsvPlan(tuple(given.items()), blank=blank), rows, found
    except pa.ArrowInvalid as error:
        if "conversion error" not in str(error).lower():
            raise
    read = {name: given.get(name, pa.string()) for name in columns}
    possible = {name: list(_TRIED) for name in columns if name not in given}
    rows = 0
    with open_csv(path, columns, read, blank=blank) as reader:
        for batch in reader:
            rows += batch.num_rows
            for name, kinds in possible.items():
                column = batch.column(batch.schema.get_field_index(name))
                possible[name] = [kind for kind in kinds if _casts(column, kind)]
    cast = {name: kinds[0] for name, kinds in possible.items() if kinds}
    return CsvPlan(tuple(read.items()), tuple(cast.items()), blank), rows, {**read, **cast}


def survey_json(path: Path, columns: list[str]) -> tuple[JsonPlan, int, dict[str, Any]]:
    """How to read a JSON-lines file, how many rows it has, and the type of each column."""
    found: dict[str, Any] = {}
    rows = 0
    for block in _json_blocks(path):
        table = _read_json(block, pa.schema([]), infer=True)
        rows += table.num_rows
        for name, kind in zip(table.column_names, table.schema.types, strict=True):
            found[name] = kind if name not in found else _promoted(found[name], kind)
    _check(columns, list(found), path)
    kept = {name: found[name] for name in columns}
    return JsonPlan(tuple(kept.items())), rows, kept


def _casts(column: Any, kind: Any) -> bool:
    try:
        column.cast(kind)
    except pa.ArrowInvalid:
        return False
    return True


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
    with gzip.open(path) if _zipped(path) else path.open("rb") as stream:
        rest = b""
        while True:
            read = stream.read(_CSV_BLOCK)
            if not read:
                break
            end = read.rfind(b"\n")
            if end < 0:
                rest += read
                continue
            yield rest + read[: end + 1]
            rest = read[end + 1 :]
        if rest.strip():
            yield rest


def _read_json(block: bytes, schema: Any, *, infer: bool = False) -> Any:
    from pyarrow import json

    return json.read_json(
        pa.BufferReader(block),
        # The block is read whole, so that one type is found for all its rows.
        read_options=json.ReadOptions(block_size=max(len(block), 1) + 1, use_threads=False),
        parse_options=json.ParseOptions(
            explicit_schema=schema if len(schema) else None, unexpected_field_behavior="infer" if infer else "ignore"
        ),
    )
