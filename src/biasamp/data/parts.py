"""A data set read as a whole, or in parts that are read apart, in any order and on any machine, with the same result.

What the parts must agree on is found out once, up front: the type of every column over all files, and the number
of the first row of each part. A part then says all that reading it needs, and travels to a worker by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from .columns import check_columns
from .file_format import CODED, Layout, Piece, Text
from .files import Files, readable
from .formats import format_of
from .frames import in_types, is_mixed, is_text, shared_schema

# Rows of a batch: large enough that a batch's overhead vanishes, small enough to stay in cache.
BATCH_ROWS = 1 << 17
# Row groups and record batches are put together until a part has so many rows: a part costs a task.
PART_ROWS = 1 << 20
# A longer list of parts would be a burden of its own: then parts have more rows.
MOST_PARTS = 1 << 13


@dataclass(frozen=True)
class Part:
    """Some rows of a data set, which :meth:`batches` reads: of a file, or of a table in memory."""

    name: str  # file and row groups, for messages and logs
    number: int  # its place among the parts
    start: int | None  # the number of its first row, files in the order of their names; None where none were counted
    rows: int | None
    fields: tuple[tuple[str, Any], ...]  # columns and Arrow types, those that all parts have
    path: Path | None = None
    groups: tuple[int, ...] = ()  # groups of rows of the file; empty for the whole file
    types: tuple[tuple[str, Any], ...] = ()  # columns and Arrow types, those that the file has
    blank: bool = True  # whether the spellings of missing values are missing in a column of text
    table: Any = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        """What travels of a table is the part's own rows, not the whole that they are a slice of."""
        state = dict(self.__dict__)
        if self.table is not None:
            sink = pa.BufferOutputStream()
            with pa.ipc.new_stream(sink, self.table.schema) as writer:
                writer.write_table(self.table)
            state["table"] = sink.getvalue().to_pybytes()
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        if state["table"] is not None:
            state = {**state, "table": pa.ipc.open_stream(state["table"]).read_all()}
        self.__dict__.update(state)

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS, categories: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Record batches of some columns (by default all), of at most ``rows`` rows, in the types of all parts.

        ``categories`` are text columns of few distinct values, to be read as codes where the format allows.
        """
        types, own = dict(self.fields), dict(self.types)
        wanted = list(types) if columns is None else list(dict.fromkeys(columns))
        target = pa.schema([(name, types[name]) for name in wanted])
        if self.path is None:
            yield from alike_batches(self.table.select(wanted).to_batches(), target, rows)
            return
        coded = {name for name in categories if is_text(types[name]) and is_text(own[name])}
        read = {name: CODED if name in coded else own[name] for name in wanted}
        piece = Piece(self.path, read, self.groups, self.blank)
        with readable(self.path, wanted):
            yield from alike_batches(format_of(self.path).record_batches(piece, rows), target, rows, coded)


@dataclass(frozen=True)
class FramePart:
    """A partition of a Dask dataframe, or a whole Spark dataframe.

    Its rows are in no file and have no number in the whole. An engine takes ``lazy`` (a Dask ``Delayed`` of a pandas
    frame, or a Spark dataframe), and gives a task on the cluster what it stands for by :meth:`with_rows`.
    """

    name: str
    number: int
    fields: tuple[tuple[str, Any], ...]  # None for the type of Python objects, which a partition alone does not tell
    lazy: Any = None
    held: Any = None  # the rows, on the worker: a pandas frame or Arrow batches
    start: int | None = None
    rows: int | None = None

    def with_rows(self, held: Any, number: int | None = None) -> FramePart:
        """The part as a task sees it; ``held`` is None while it travels there."""
        renamed = self if number is None else replace(self, number=number, name=f"partition {number}")
        return replace(renamed, lazy=None, held=held)

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS, categories: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Record batches of some columns; as :meth:`biasamp.data.parts.Part.batches`."""
        types = dict(self.fields)
        wanted = list(types) if columns is None else list(dict.fromkeys(columns))
        for batch in _arrow_batches(self.held, wanted):
            kinds = [batch.schema.field(name).type if types[name] is None else types[name] for name in wanted]
            target = pa.schema(list(zip(wanted, kinds, strict=True)))
            yield from alike_batches([batch], target, rows)


def alike_batches(batches: Iterable[Any], target: Any, rows: int, coded: Iterable[str] = ()) -> Iterator[Any]:
    """Record batches of at most ``rows`` rows in the types of a schema; codes of the columns ``coded`` stay codes."""
    kept = set(coded)
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield in_types(batch.slice(start, rows), target, kept)


def read_table(files: Files, columns: Sequence[str]) -> Any:
    """Some columns of all files in one table, as if the files were one, in the types that :func:`split` gives them.

    Records follow in the order of the files' names.
    """
    wanted = list(dict.fromkeys(columns))
    tables = []
    for path in files.paths:
        with readable(path, wanted):
            tables.append(format_of(path).read(path, wanted).select(wanted))
    types = [dict(zip(wanted, table.schema.types, strict=True)) for table in tables]
    if not format_of(files.paths[0]).typed and any(is_mixed(kinds[name] for kinds in types) for name in wanted):
        parts = split(files, wanted, counted=False)
        return pa.Table.from_batches((batch for part in parts for batch in part.batches()), pa.schema(parts[0].fields))
    target = shared_schema(wanted, types, files.name)
    return pa.concat_tables([in_types(table, target) for table in tables])


def split(
    files: Files | Sequence[Path],
    columns: Sequence[str],
    *,
    types: Mapping[str, Any] | None = None,
    blank: bool = True,
    counted: bool = True,
    part_rows: int = PART_ROWS,
) -> list[Part]:
    """The parts of some files, in the order of their rows.

    Parquet is split by row groups and Arrow by record batches, several small ones together; CSV and JSON lines are
    streamed, one part per file. A file that cannot be read or has no such column, and columns whose types do not go
    together, are a ``ValueError``.

    Parameters
    ----------
    types : mapping of str to DataType, optional
        What columns of CSV files are read as, whatever their values look like.
    blank : bool
        Whether an empty field of a CSV, and the spellings of missing values, are missing in a column of text.
    counted : bool
        Whether rows must be counted, which takes a first pass over text files. A pass is made anyway where a
        column's type has to be found out.
    part_rows : int
        Least rows of a part, where the file allows.
    """
    paths = list(files.paths if isinstance(files, Files) else files)
    wanted = list(dict.fromkeys(columns))
    layouts: list[Layout] = []
    for path in paths:
        with readable(path, wanted):
            layouts.append(format_of(path).layout(path, wanted, Text(dict(types or {}), blank, counted)))
    spelled = [not format_of(path).typed for path in paths]
    # A file whose values all look like numbers has them spelled as numbers: read them as they are written.
    own = [layout.types for layout, text in zip(layouts, spelled, strict=True) if text]
    mixed = {name: pa.string() for name in wanted if is_mixed(kinds[name] for kinds in own)}
    read = [{**layout.types, **mixed} if text else layout.types for layout, text in zip(layouts, spelled, strict=True)]
    name = files.name if isinstance(files, Files) else paths[0].name
    fields = _pairs(shared_schema(wanted, read, name))
    # A part of more rows where there would be too many parts.
    least = max(part_rows, -(-sum(size or 0 for layout in layouts for size in layout.sizes) // MOST_PARTS))
    parts: list[Part] = []
    start: int | None = 0
    for path, layout, kinds in zip(paths, layouts, read, strict=True):
        for title, rows, groups in _grouped(path, layout, least):
            parts.append(Part(title, len(parts), start, rows, fields, path, groups, tuple(kinds.items()), blank))
            start = None if start is None or rows is None else start + rows
    return parts


def split_table(table: Any, columns: Sequence[str] | None = None, *, part_rows: int = PART_ROWS) -> list[Part]:
    """The parts of an Arrow table in memory."""
    if columns is not None:
        table = table.select(list(dict.fromkeys(columns)))
    fields = _pairs(table.schema)
    starts = range(0, max(table.num_rows, 1), part_rows)
    return [
        Part(f"rows {start} on", number, start, piece.num_rows, fields, table=piece)
        for number, start in enumerate(starts)
        for piece in (table.slice(start, part_rows),)
    ]


def split_frame(data: Any, columns: Sequence[str], role: str = "data") -> list[FramePart]:
    """The parts of a Dask dataframe, a partition each, or the one part that stands for a Spark dataframe."""
    check_columns(list(columns), [str(name) for name in data.columns], role)
    wanted = list(dict.fromkeys(columns))
    schema = frame_schema(data)
    fields = tuple((name, None if name not in schema.names else schema.field(name).type) for name in wanted)
    if hasattr(data, "mapInArrow"):
        return [FramePart("a Spark dataframe", 0, fields, lazy=data.select(*wanted))]
    return [
        FramePart(f"partition {number}", number, fields, lazy=lazy)
        for number, lazy in enumerate(data[wanted].to_delayed())
    ]


def frame_schema(data: Any) -> Any:
    """The Arrow types of a frame's columns, as far as they are known without its rows."""
    if hasattr(data, "mapInArrow"):
        from pyspark.sql.pandas.types import to_arrow_schema

        return to_arrow_schema(data.schema)
    known = data._meta_nonempty.select_dtypes(exclude=object)
    return pa.Schema.from_pandas(known, preserve_index=False).remove_metadata()


def _arrow_batches(held: Any, columns: list[str]) -> Iterable[Any]:
    """A pandas frame or a task's batches, as batches of some columns in that order."""
    if hasattr(held, "iloc"):
        table = pa.Table.from_pandas(held[columns], preserve_index=False)
        return table.replace_schema_metadata(None).to_batches()
    return (batch.select(columns) for batch in held)


def _grouped(path: Path, layout: Layout, part_rows: int) -> list[tuple[str, int | None, tuple[int, ...]]]:
    """Name, rows and groups of each part of a file: neighbouring groups together until they have enough rows."""
    parts: list[tuple[str, int | None, tuple[int, ...]]] = []
    first = rows = 0
    for group, size in enumerate(layout.sizes):
        rows += size or 0
        if rows >= part_rows or group == len(layout.sizes) - 1:
            span = f"{first}" if group == first else f"{first}-{group}"
            parts.append((f"{path.name}, {layout.unit} {span}", rows, tuple(range(first, group + 1))))
            first, rows = group + 1, 0
    if len(parts) > 1:
        return parts
    return [(path.name, None if None in layout.sizes else sum(size or 0 for size in layout.sizes), ())]


def _pairs(schema: Any) -> tuple[tuple[str, Any], ...]:
    return tuple((field.name, field.type) for field in schema)
