"""A data set read as a whole, or in parts that are read apart, in any order and on any machine, with the same result.

What the parts must agree on is found out once, up front: the type of every column over all files, and the number
of the first row of each part. A part then says all that reading it needs, and travels to a worker by itself.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from .columns import check_columns
from .file_format import CODED, Layout, Piece, Text
from .files import Files, Stamp, readable
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
    """Some rows of a data set, which :meth:`batches` reads: of a file, of a table in memory, or of a frame on a cluster.

    A partition of a Dask dataframe, or a whole Spark dataframe, is in no file and its rows have no number in the whole.
    An engine takes ``lazy`` (a Dask ``Delayed`` of a pandas frame, or a Spark dataframe), and gives a task on the
    cluster what it stands for by :meth:`with_rows`.
    """

    name: str  # file and row groups, for messages and logs
    number: int  # its place among the parts
    start: int | None  # the number of its first row, files in the order of their names; None where none were counted
    rows: int | None
    # Columns and Arrow types, those that all parts have; None for Python objects, whose type a partition does not tell.
    fields: tuple[tuple[str, Any], ...]
    path: Path | None = None
    groups: tuple[int, ...] = ()  # groups of rows of the file; empty for the whole file
    types: tuple[tuple[str, Any], ...] = ()  # columns and Arrow types, those that the file has
    blank: bool = True  # whether the spellings of missing values are missing in a column of text
    words: Mapping[str, frozenset[str]] = field(default_factory=dict)  # columns that are read as they are written
    stamp: Stamp | None = None  # of the file, when its types were found
    table: Any = field(default=None, repr=False, compare=False)
    lazy: Any = field(default=None, repr=False, compare=False)
    held: Any = field(default=None, repr=False, compare=False)  # the rows, on a worker: a pandas frame or Arrow batches

    def __getstate__(self) -> dict[str, Any]:
        """What travels of a table is the part's own rows, not the whole that they are a slice of."""
        state = dict(self.__dict__)
        if self.stamp is not None:
            state["stamp"] = self.stamp._replace(modified=None)
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

    def with_rows(self, held: Any, number: int | None = None) -> Part:
        """The part as a task on the cluster sees it; ``held`` is None while it travels there."""
        renamed = self if number is None else replace(self, number=number, name=f"partition {number}")
        return replace(renamed, lazy=None, held=held)

    def batches(
        self, columns: Sequence[str] | None = None, *, rows: int = BATCH_ROWS, categories: Sequence[str] = ()
    ) -> Iterator[Any]:
        """Record batches of some columns (by default all), of at most ``rows`` rows, in the types of all parts.

        ``categories`` are text columns of few distinct values, to be read as codes where the format allows.
        """
        types, own = dict(self.fields), dict(self.types)
        wanted = list(types) if columns is None else list(dict.fromkeys(columns))
        if self.path is None:
            for batch in _arrow_batches(self.table if self.held is None else self.held, wanted):
                own = dict(zip(wanted, batch.schema.types, strict=True))
                target = pa.schema([(name, own[name] if types[name] is None else types[name]) for name in wanted])
                yield from _alike_batches([batch], target, rows)
            return
        target = pa.schema([(name, types[name]) for name in wanted])
        coded = {name for name in categories if is_text(types[name]) and is_text(own[name])}
        read = {name: CODED if name in coded else own[name] for name in wanted}
        piece = Piece(self.path, read, self.groups, self.blank, self.words)
        with readable(self.path, wanted, self.stamp):
            batches = map(_checked, format_of(self.path).record_batches(piece, rows))
            yield from _alike_batches(batches, target, rows, coded)


def _checked(data: Any) -> Any:
    """A table or a batch whose every offset, code and character is known to be right: damage may be in any of them."""
    data.validate(full=True)
    return data


def _alike_batches(batches: Iterable[Any], target: Any, rows: int, coded: Collection[str] = ()) -> Iterator[Any]:
    """Record batches of at most ``rows`` rows in the types of a schema; codes of the columns ``coded`` stay codes."""
    for batch in batches:
        for start in range(0, batch.num_rows, rows):
            yield in_types(batch.slice(start, rows), target, coded)


def read_table(files: Files, columns: Sequence[str], words: Mapping[str, frozenset[str]] | None = None) -> Any:
    """Some columns of all files in one table, as if the files were one, in the types that :func:`split` gives them.

    Records follow in the order of the files' names. ``words`` are those of :func:`split`.
    """
    wanted = list(dict.fromkeys(columns))
    if words and not format_of(files.paths[0]).typed:
        return _of_parts(split(files, wanted, counted=False, words=words))
    tables = []
    for path in files.paths:
        with readable(path, wanted):
            tables.append(_checked(format_of(path).table(path, wanted)))
    types = [dict(zip(wanted, table.schema.types, strict=True)) for table in tables]
    if not format_of(files.paths[0]).typed and any(is_mixed(kinds[name] for kinds in types) for name in wanted):
        return _of_parts(split(files, wanted, counted=False))
    target = shared_schema(wanted, types, files.name)
    return pa.concat_tables([in_types(table, target) for table in tables])


def _of_parts(parts: Sequence[Part]) -> Any:
    return pa.Table.from_batches((batch for part in parts for batch in part.batches()), pa.schema(parts[0].fields))


def split(
    files: Files | Sequence[Path],
    columns: Sequence[str],
    *,
    types: Mapping[str, Any] | None = None,
    blank: bool = True,
    counted: bool = True,
    part_rows: int = PART_ROWS,
    words: Mapping[str, frozenset[str]] | None = None,
) -> list[Part]:
    """The parts of some files, in the order of their rows.

    Parquet is split by row groups and Arrow by record batches, several small ones together until they have
    ``part_rows``; CSV and JSON lines are streamed, one part per file. A file that cannot be read or has no such column,
    and columns whose types do not go together, are a ``ValueError``.

    ``types``, ``blank`` and ``counted`` are those of :class:`~biasamp.data.file_format.Text`. To count rows takes a first
    pass over text files, which is made anyway where a column's type has to be found out. ``words`` are columns whose values
    are known and are not what they look like: in text files they are read as they are written.
    """
    paths = list(files.paths if isinstance(files, Files) else files)
    wanted = list(dict.fromkeys(columns))
    layouts: list[Layout] = []
    stamps = [Stamp.of(path) for path in paths]
    for path, stamp in zip(paths, stamps, strict=True):
        with readable(path, wanted, stamp):
            layouts.append(format_of(path).layout(path, wanted, Text(dict(types or {}), blank, counted, words or {})))
    spelled = [not format_of(path).typed for path in paths]
    # A file whose values all look like numbers has them spelled as numbers: read them as they are written.
    own = [layout.types for layout, text in zip(layouts, spelled, strict=True) if text]
    mixed = {name: pa.string() for name in wanted if is_mixed(kinds[name] for kinds in own)}
    read = [{**layout.types, **mixed} if text else layout.types for layout, text in zip(layouts, spelled, strict=True)]
    name = files.name if isinstance(files, Files) else paths[0].name
    fields = tuple(zip(wanted, shared_schema(wanted, read, name).types, strict=True))
    # A part of more rows where there would be too many parts.
    least = max(part_rows, -(-sum(size or 0 for layout in layouts for size in layout.sizes) // MOST_PARTS))
    parts: list[Part] = []
    start: int | None = 0
    for path, layout, kinds, stamp in zip(paths, layouts, read, stamps, strict=True):
        for title, rows, groups in _grouped(path, layout, least):
            parts.append(
                Part(
                    title,
                    len(parts),
                    start,
                    rows,
                    fields,
                    path,
                    groups,
                    tuple(kinds.items()),
                    blank,
                    words or {},
                    stamp,
                )
            )
            start = None if start is None or rows is None else start + rows
    return parts


def split_table(table: Any, columns: Sequence[str] | None = None, *, part_rows: int = PART_ROWS) -> list[Part]:
    """The parts of an Arrow table in memory."""
    if columns is not None:
        table = table.select(list(dict.fromkeys(columns)))
    fields = tuple(zip(table.schema.names, table.schema.types, strict=True))
    starts = range(0, max(table.num_rows, 1), part_rows)
    return [
        Part(f"rows {start} on", number, start, piece.num_rows, fields, table=piece)
        for number, start in enumerate(starts)
        for piece in (table.slice(start, part_rows),)
    ]


def split_frame(data: Any, columns: Sequence[str], role: str = "data") -> list[Part]:
    """The parts of a Dask dataframe, a partition each, or the one part that stands for a Spark dataframe."""
    check_columns(list(columns), [str(name) for name in data.columns], role)
    wanted = list(dict.fromkeys(columns))
    schema = frame_schema(data)
    fields = tuple((name, None if name not in schema.names else schema.field(name).type) for name in wanted)
    if hasattr(data, "mapInArrow"):
        return [Part("a Spark dataframe", 0, None, None, fields, lazy=data.select(*wanted))]
    return [
        Part(f"partition {number}", number, None, None, fields, lazy=lazy)
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
    """A table, a pandas frame or a task's batches, as batches of some columns in that order."""
    if hasattr(held, "iloc"):
        held = pa.Table.from_pandas(held[columns], preserve_index=False).replace_schema_metadata(None)
    return (batch.select(columns) for batch in (held.to_batches() if isinstance(held, pa.Table) else held))


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
