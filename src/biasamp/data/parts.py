"""A data set in parts that are read apart, in any order and on any machine, as :meth:`Files.read` reads the whole.

What the parts must agree on is found out once, up front: the type of every column over all files, and the number
of the first row of each part. A part then says all that reading it needs, and travels to a worker by itself.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from .files import Files, _alike, _cast, _check, _common, _explained, _format, _opened, _zipped
from .text_files import CsvPlan, JsonPlan, survey_csv, survey_json

# Rows of a batch: large enough that a batch's overhead vanishes, small enough to stay in cache.
BATCH_ROWS = 1 << 17
# Row groups and record batches are put together until a part has so many rows: a part costs a task.
PART_ROWS = 1 << 20
# A longer list of parts would be a burden of its own: then neighbours in one file are put together.
MOST_PARTS = 1 << 13

_DAMAGE = (pa.ArrowException, OSError, EOFError, zlib.error)


@dataclass(frozen=True)
class Part:
    """Some rows of a data set, which :meth:`batches` reads.

    Attributes
    ----------
    name : str
        File and row groups, for messages and logs.
    number : int
        Its place among the parts.
    start : int or None
        The number of its first row in the whole data set, files in the order of their names; None where rows were
        not counted.
    rows : int or None
    path : Path or None
        None for rows in memory.
    groups : tuple of int
        Row groups of a Parquet file or record batches of an Arrow file; empty for a whole file.
    fields : tuple of (str, DataType)
        The columns, in the types that all parts have.
    plan : CsvPlan or JsonPlan, optional
        How text becomes values.
    table : pyarrow.Table, optional
        The rows themselves, where they are in memory.
    """

    name: str
    number: int
    start: int | None
    rows: int | None
    path: Path | None
    groups: tuple[int, ...]
    fields: tuple[tuple[str, Any], ...]
    plan: CsvPlan | JsonPlan | None = None
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
        """Record batches of some columns, of at most ``rows`` rows, in the types of all parts.

        Parameters
        ----------
        columns : sequence of str, optional
            By default all that the data set was split for.
        categories : sequence of str
            Text columns of few distinct values, to be read as codes where the format allows.
        """
        types = dict(self.fields)
        wanted = list(types) if columns is None else list(dict.fromkeys(columns))
        coded = {
            name for name in categories if pa.types.is_string(types[name]) or pa.types.is_large_string(types[name])
        }
        target = pa.schema([(name, types[name]) for name in wanted])
        try:
            for batch in self._read(wanted, rows, coded):
                for start in range(0, batch.num_rows, rows):
                    piece = batch.slice(start, rows)
                    yield piece if piece.schema.equals(target) else _alike_batch(piece, target, coded)
        except _DAMAGE as error:
            if self.path is None:
                raise
            raise _explained(self.path, error) from None

    def _read(self, columns: list[str], rows: int, coded: set[str]) -> Iterator[Any]:
        if self.table is not None:
            yield from self.table.select(columns).to_batches()
            return
        assert self.path is not None
        kind = _format(self.path)
        if self.plan is not None:
            yield from self.plan.batches(self.path, columns)
        elif kind == "parquet":
            yield from _parquet(self.path, columns, self.groups, rows, coded)
        else:
            yield from _arrow(self.path, columns, self.groups)


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
    streamed, one part a file.

    Parameters
    ----------
    files : Files or sequence of Path
    columns : sequence of str
    types : mapping of str to DataType, optional
        What columns of CSV files are read as, whatever their values look like.
    blank : bool
        Whether an empty field of a CSV, and the spellings of missing values, are missing in a column of text.
    counted : bool
        Whether rows must be counted, which takes a first pass over text files. A pass is made anyway where a
        column's type has to be found out.
    part_rows : int
        Least rows of a part, where the file allows.

    Raises
    ------
    ValueError
        For a file that cannot be read, or lacks a column, and for columns whose types do not go together.
    """
    paths = list(files.paths if isinstance(files, Files) else files)
    wanted = list(dict.fromkeys(columns))
    given = dict(types or {})
    parts: list[Part] = []
    seen: list[dict[str, Any]] = []
    for path in paths:
        try:
            own = _split_file(path, wanted, given, blank, counted, part_rows)
        except _DAMAGE as error:
            raise _explained(path, error) from None
        seen.append(dict(own[0].fields) if own else {})
        parts.extend(own)
    name = files.name if isinstance(files, Files) else paths[0].name
    if isinstance(parts[0].plan, CsvPlan):
        # A file whose values all look like numbers has them spelled as numbers: read them as they are written.
        mixed = {name for name in wanted if not _alike(kinds[name] for kinds in seen)}
        if mixed:
            parts = [replace(part, plan=part.plan.as_text(mixed)) for part in parts if isinstance(part.plan, CsvPlan)]
            seen = [{**kinds, **dict.fromkeys(mixed, pa.string())} for kinds in seen]
    fields = tuple((column, _united(column, [kinds[column] for kinds in seen], name)) for column in wanted)
    return _numbered(_fewer(parts), fields)


def split_table(table: Any, columns: Sequence[str] | None = None, *, part_rows: int = PART_ROWS) -> list[Part]:
    """The parts of an Arrow table in memory."""
    if columns is not None:
        table = table.select(list(dict.fromkeys(columns)))
    fields = tuple((name, table.schema.field(name).type) for name in table.column_names)
    starts = range(0, max(table.num_rows, 1), part_rows)
    return [
        Part(f"rows {start} on", number, start, piece.num_rows, None, (), fields, table=piece)
        for number, start in enumerate(starts)
        for piece in (table.slice(start, part_rows),)
    ]


def _fewer(parts: Sequence[Part]) -> list[Part]:
    """Neighbouring parts of a file together, where there are very many."""
    step = -(-len(parts) // MOST_PARTS)
    if step == 1:
        return list(parts)
    out: list[list[Part]] = []
    for part in parts:
        if out and out[-1][0].path == part.path and len(out[-1]) < step and part.groups:
            out[-1].append(part)
        else:
            out.append([part])
    return [
        replace(
            own[0],
            name=own[0].name if len(own) == 1 else f"{own[0].name} to {own[-1].groups[-1]}",
            rows=sum(part.rows or 0 for part in own) if own[0].groups else own[0].rows,
            groups=tuple(group for part in own for group in part.groups),
        )
        for own in out
    ]


def _numbered(parts: Sequence[Part], fields: tuple[tuple[str, Any], ...]) -> list[Part]:
    out: list[Part] = []
    start: int | None = 0
    for number, part in enumerate(parts):
        out.append(replace(part, number=number, start=start, fields=fields))
        start = None if start is None or part.rows is None else start + part.rows
    return out


def _split_file(
    path: Path, columns: list[str], types: dict[str, Any], blank: bool, counted: bool, part_rows: int
) -> list[Part]:
    """The parts of one file, with the types that the columns have in it."""
    kind = _format(path)
    if kind == "parquet":
        return _split_parquet(path, columns, part_rows)
    if kind == "arrow":
        return _split_arrow(path, columns, part_rows)
    if kind == "csv":
        csv, rows, found = survey_csv(path, columns, types, blank, counted)
        return [Part(path.name, 0, None, rows, path, (), tuple(found.items()), csv)]
    json, rows, found = survey_json(path, columns)
    return [Part(path.name, 0, None, rows, path, (), tuple(found.items()), json)]


def _split_parquet(path: Path, columns: list[str], part_rows: int) -> list[Part]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(_opened(path)) as file:
        schema, metadata = file.schema_arrow, file.metadata
        _check(columns, schema.names, path)
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    fields = tuple((name, schema.field(name).type) for name in columns)
    # A file zipped as a whole is unzipped as a whole.
    return _grouped(path, sizes, fields, "row group", sum(sizes) if _zipped(path) else part_rows)


def _split_arrow(path: Path, columns: list[str], part_rows: int) -> list[Part]:
    with _ArrowFile(path) as reader:
        _check(columns, reader.schema.names, path)
        fields = tuple((name, reader.schema.field(name).type) for name in columns)
        sizes = [batch.num_rows for batch in reader.batches()]
        whole = not reader.random
    return _grouped(path, sizes, fields, "batch", sum(sizes) if whole else part_rows)


def _grouped(path: Path, sizes: Sequence[int], fields: Any, what: str, part_rows: int) -> list[Part]:
    """Neighbouring groups of rows together until they have enough rows."""
    parts: list[Part] = []
    held: list[int] = []
    for group, _ in enumerate(sizes):
        held.append(group)
        rows = sum(sizes[i] for i in held)
        if rows >= part_rows or group == len(sizes) - 1:
            span = f"{held[0]}" if len(held) == 1 else f"{held[0]}-{held[-1]}"
            whole = len(held) == len(sizes)
            name = path.name if whole else f"{path.name}, {what} {span}"
            parts.append(Part(name, 0, None, rows, path, tuple(held), fields))
            held = []
    return parts or [Part(path.name, 0, None, 0, path, (), fields)]


def _parquet(path: Path, columns: list[str], groups: Sequence[int], rows: int, coded: set[str]) -> Iterator[Any]:
    import pyarrow.parquet as pq

    with pq.ParquetFile(_opened(path), read_dictionary=sorted(coded), pre_buffer=False) as file:
        for batch in file.iter_batches(batch_size=rows, row_groups=list(groups), columns=columns, use_threads=False):
            yield batch.select(columns)


def _arrow(path: Path, columns: list[str], groups: Sequence[int]) -> Iterator[Any]:
    with _ArrowFile(path) as reader:
        for batch in reader.batches(groups):
            yield batch.select(columns)


class _ArrowFile:
    """An Arrow or Feather file: batches by number, or one after another where it is a stream."""

    def __init__(self, path: Path) -> None:
        self._source = _opened(path) if _zipped(path) else pa.memory_map(str(path))
        try:
            self._reader, self.random = pa.ipc.open_file(self._source), True
        except pa.ArrowInvalid:
            self._source.seek(0)
            try:
                self._reader, self.random = pa.ipc.open_stream(self._source), False
            except pa.ArrowInvalid:
                from pyarrow import feather

                # Feather of version 1 is no Arrow file, and read as a whole.
                self._source.seek(0)
                self._reader, self.random = feather.read_table(self._source), False
        self.schema = self._reader.schema

    def __enter__(self) -> _ArrowFile:
        return self

    def __exit__(self, *_: object) -> None:
        self._source.close()

    def batches(self, numbers: Sequence[int] | None = None) -> Iterator[Any]:
        if self.random:
            yield from map(
                self._reader.get_batch, range(self._reader.num_record_batches) if numbers is None else numbers
            )
        elif isinstance(self._reader, pa.Table):
            yield from self._reader.to_batches()
        else:
            yield from self._reader


def _united(column: str, kinds: Sequence[Any], source: str) -> Any:
    """The type of a column over all files."""
    known = {kind for kind in kinds if not pa.types.is_null(kind)}
    if len(known) < 2:
        return next(iter(known), pa.null())
    target = _common(known)
    for kind in known:
        try:
            _cast(pa.array([], type=kind), target)
        except pa.ArrowException:
            from .label import printable

            shown = " and ".join(sorted(printable(str(kind), 60) for kind in known))
            raise ValueError(
                f"the files of {source!r} do not fit together: column {printable(column, 60)!r} holds {shown}, "
                "which have no type in common"
            ) from None
    return target


def _alike_batch(batch: Any, target: Any, coded: set[str]) -> Any:
    """A batch in the types of all parts; codes of categories stay codes."""
    arrays = [
        array
        if (field.name in coded and pa.types.is_dictionary(array.type)) or array.type == field.type
        else _cast(array, field.type)
        for array, field in zip(batch.columns, target, strict=True)
    ]
    return pa.record_batch(arrays, names=target.names)
