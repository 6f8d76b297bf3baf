"""Where label sets come from: long tables, lists, wide 0/1 tables, sparse matrices, files and folders.

A :class:`LabelSource` can be read any number of times and hands out batches; what they hold depends on its
``shape``: ``"long"`` rows of (record, label[, score]), ``"lists"`` one list of labels a record, ``"wide"`` one
column a label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple

from .batches import BATCH_ROWS, file_schema, list_files
from .files import check_columns

# A part has labels of its own, which merging has to bring together: it takes many rows for that to cost little.
_PART_ROWS = 1 << 21

_DEFAULT = {"record": "record", "label": "label", "score": "score"}


class Batch(NamedTuple):
    """Arrow arrays of equal length; ``label`` is a list array in the shape ``"lists"``, a record batch in ``"wide"``."""

    record: Any
    label: Any
    score: Any


@dataclass(frozen=True, eq=False)
class LabelSource:
    """Label sets that can be read again and again.

    Attributes
    ----------
    shape : {"long", "lists", "wide"}
    batches : callable
        Begins reading anew and gives the batches.
    names : mapping of str to str
        What to show for a label, where it is not its key.
    origin : str
        A short description, for messages and reports.
    notes : callable
        What the reading left out, in words, after the batches have been read.
    parts : sequence of LabelPart, optional
        Parts that are read apart, on any machine; without them the batches are read one after another, here.
    has_records, has_scores : bool
        Whether batches say which record a row belongs to, and what it scores.
    """

    shape: str
    batches: Callable[[], Iterator[Batch]]
    names: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    notes: Callable[[], tuple[str, ...]] = tuple
    parts: Sequence[LabelPart] | None = None
    has_records: bool = True
    has_scores: bool = False


@dataclass(frozen=True)
class LabelPart:
    """A part of a table of labels, and what its columns mean."""

    part: Any
    plan: _Plan

    name = property(lambda self: self.part.name)
    number = property(lambda self: self.part.number)
    rows = property(lambda self: self.part.rows)
    path = property(lambda self: getattr(self.part, "path", None))
    lazy = property(lambda self: getattr(self.part, "lazy", None))

    def without_rows(self) -> LabelPart:
        """The part as it travels to a task on the cluster that has its rows."""
        return replace(self, part=self.part.without_rows())

    def with_rows(self, held: Any, number: int | None = None) -> LabelPart:
        """The part as that task sees it."""
        return replace(self, part=self.part.with_rows(held, number))

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[Batch]:
        """The arrays of each batch."""
        coded = [self.plan.label] if self.plan.shape == "long" and self.plan.label else []
        for batch in self.part.batches(self.plan.columns, rows=rows, categories=coded):
            yield self.plan.batch(batch)


def label_source(
    data: Any,
    *,
    label: str | Sequence[str] | None = None,
    record: str | None = None,
    score: str | None = None,
) -> LabelSource:
    """Find out what data holds and how to read it.

    Parameters
    ----------
    data : path, list of paths, frame, Arrow table, mapping, sparse matrix, array or list of lists
    label : str or sequence of str, optional
        Long tables and lists: the column of labels. Wide tables: the columns that are labels (default: all
        but ``record``); arrays and sparse matrices: the name of each column.
    record : str, optional
        Long tables: the column that says which record a row belongs to.
    score : str, optional
        Long tables: the column of scores.
    """
    if isinstance(data, LabelSource):
        if label is not None or record is not None or score is not None:
            raise ValueError(
                "label, record and score have no meaning for data that was read already; give them to the reader"
            )
        return data
    if data is None:
        raise TypeError("data is None; a table, a file, a folder or a matrix of labels is needed")
    if isinstance(data, (str, Path)) or (
        isinstance(data, (list, tuple)) and data and all(isinstance(item, Path) for item in data)
    ):
        return _files(data, label, record, score)
    if type(data).__module__.split(".")[0] == "scipy" or _is_array(data):
        return _matrix(data, label)
    if hasattr(data, "mapInArrow") or (hasattr(data, "to_delayed") and hasattr(data, "npartitions")):
        return _cluster_frame(data, label, record, score)
    if isinstance(data, (list, tuple)):
        return _python_lists(data)
    return _frame(data, label, record, score)


def _is_array(data: Any) -> bool:
    kind = type(data).__module__.split(".")[0]
    return kind in ("numpy", "torch") and hasattr(data, "ndim")


def _files(data: Any, label: Any, record: str | None, score: str | None) -> LabelSource:
    import pyarrow as pa

    from .parts import split

    files = list_files(data)
    plan = _plan(file_schema(files[0]), label, record, score)
    types: dict[str, Any] = {}
    if plan.shape == "long":
        # Labels and ids are text whatever they look like: a label called NA is a label, record 007 is not record 7.
        types = {name: pa.string() for name in (plan.record, plan.label) if name}
        if plan.score:
            types[plan.score] = pa.float64()
    parts = split(files, plan.columns, types=types, blank=False, counted=False, part_rows=_PART_ROWS)
    many = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return _of_parts(parts, plan, f"{files[0].name}{many}")


def _of_parts(parts: Sequence[Any], plan: _Plan, origin: str) -> LabelSource:
    own = [LabelPart(part, plan) for part in parts]

    def batches() -> Iterator[Batch]:
        for part in own:
            yield from part.batches()

    return LabelSource(
        plan.shape,
        batches,
        origin=origin,
        parts=own,
        has_records=plan.record is not None and plan.shape != "wide",
        has_scores=plan.score is not None and plan.shape != "wide",
    )


class _Plan(NamedTuple):
    """Which columns to read, and as what."""

    shape: str
    columns: list[str]
    record: str | None
    label: str | None
    score: str | None

    def batch(self, batch: Any) -> Batch:
        """The arrays of one record batch."""
        if self.shape == "wide":
            return Batch(None, batch, None)

        def column(name: str | None) -> Any:
            return None if name is None else batch.column(batch.schema.get_field_index(name))

        record, label, score = column(self.record), column(self.label), column(self.score)
        if self.shape == "lists" and record is not None:
            return _unfolded(record, label, score)
        return Batch(record, label, score)


def _plan(schema: Any, label: Any, record: str | None, score: str | None) -> _Plan:
    names = list(schema.names)
    if not names:
        raise ValueError("data has no columns")
    check_columns([name for name in (record, score) if name is not None], names, "data")
    if label is not None and not isinstance(label, str):
        wide = list(label)
        check_columns(wide, names, "data")
        return _Plan("wide", wide, None, None, None)
    if label is None and _DEFAULT["label"] in names and (record or _DEFAULT["record"] in names):
        label = _DEFAULT["label"]
        record = record or _DEFAULT["record"]
    if label is None:
        lists = [name for name in names if _is_list(schema.field(name).type)]
        if len(lists) == 1:
            label = lists[0]
        elif lists:
            raise ValueError(f"label= must say which of the list columns {lists} holds the labels")
    if label is None:
        wide = [name for name in names if name not in (record, score)]
        strange = [name for name in wide if not _is_number(schema.field(name).type)]
        if strange:
            raise ValueError(
                f"label= is needed: the column {strange[0]!r} holds {schema.field(strange[0]).type}, so this is "
                f"no table of 0/1 columns; name the columns of a long table with label= and record=. "
                f"There are {', '.join(repr(n) for n in names[:12])}"
            )
        return _Plan("wide", wide, None, None, None)
    check_columns([label], names, "data")
    if _is_list(schema.field(label).type):
        columns = [name for name in (record, label, score) if name]
        shape = "lists"
        return _Plan(shape, columns, record, label, score)
    if record is None:
        raise ValueError(
            f"record= is needed: the column {label!r} holds one label a row, and record= names the column that "
            f"says which record the row belongs to. There are {', '.join(repr(n) for n in names[:12])}"
        )
    return _Plan("long", [name for name in (record, label, score) if name], record, label, score)


def _is_list(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind))


def _is_number(kind: Any) -> bool:
    import pyarrow as pa

    return bool(
        pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind)
    )


def _unfolded(record: Any, label: Any, score: Any) -> Batch:
    """Lists with a record column as long rows; an empty list is one row with a null label."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    sizes = pc.list_value_length(label).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    room = np.maximum(sizes, 1)
    full = np.ones(int(room.sum()), dtype=bool)
    full[(np.cumsum(room) - room)[sizes == 0]] = False
    place = np.where(full, np.cumsum(full) - 1, 0)
    index = pa.array(place, mask=~full)

    def spread(column: Any) -> Any:
        return None if column is None else column.flatten().take(index)

    rows = pa.array(np.repeat(np.arange(len(sizes)), room))
    scores = score
    if score is not None:
        scores = spread(score) if _is_list(score.type) else score.take(rows)
    return Batch(record.take(rows), spread(label), scores)


def _frame(data: Any, label: Any, record: str | None, score: str | None) -> LabelSource:
    from .parts import split_table

    table = _as_table(data, [name for name in (record, score) if name], label)
    plan = _plan(table.schema, label, record, score)
    parts = split_table(table, plan.columns, part_rows=_PART_ROWS)
    return _of_parts(parts, plan, f"a table of {table.num_rows} rows")


def _cluster_frame(data: Any, label: Any, record: str | None, score: str | None) -> LabelSource:
    import pyarrow as pa

    from .cluster_frames import frame_schema, split_frame

    known = frame_schema(data)
    # Python objects whose type the frame does not know are text, unless their partitions say otherwise.
    fields = [
        (str(name), known.field(str(name)).type if str(name) in known.names else pa.string()) for name in data.columns
    ]
    plan = _plan(pa.schema(fields), label, record, score)
    kind = "Spark" if hasattr(data, "mapInArrow") else "Dask"
    return _of_parts(split_frame(data, plan.columns), plan, f"a {kind} dataframe")


def _as_table(data: Any, others: list[str], label: Any) -> Any:
    """Any frame as an Arrow table; columns of mixed Python objects are spelled out as text."""
    import pyarrow as pa

    if isinstance(data, pa.Table):
        return data
    if isinstance(data, pa.RecordBatch):
        return pa.Table.from_batches([data])
    if isinstance(data, Mapping):
        return pa.table({str(name): _arrow_column(values) for name, values in data.items()})
    import narwhals as nw

    native = nw.from_native(data, pass_through=True)
    if isinstance(native, nw.LazyFrame):
        raise TypeError("data is a lazy frame; collect() it first, or give the path of the files")
    if isinstance(native, nw.DataFrame):
        names = native.columns
        wanted = [name for name in names if label is None or name in others or name == label or name in (label or ())]
        asked = [*others, *([label] if isinstance(label, str) else label or [])]
        check_columns(asked, [str(name) for name in names], "data")
        return pa.table({str(name): _series(native[name]) for name in wanted})
    if hasattr(data, "__arrow_c_stream__"):
        return pa.table(data)
    raise TypeError(
        f"data is a {type(data).__name__}; a table (pandas, polars, pyarrow), a file or folder, a scipy.sparse "
        "matrix, a 2-D array or a list of lists of labels is read"
    )


def _series(series: Any) -> Any:
    import pyarrow as pa

    try:
        return series.to_arrow()
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError, TypeError):
        return _arrow_column(series.to_list())


def _arrow_column(values: Any) -> Any:
    import pyarrow as pa

    from .columns import is_missing
    from .label import canonical

    try:
        return pa.array(values, from_pandas=True)
    except (pa.ArrowInvalid, pa.ArrowTypeError):
        pass

    def spell(value: Any) -> Any:
        if isinstance(value, (list, tuple, set, frozenset)):
            return [canonical(item) for item in value if not is_missing(item)]
        return None if is_missing(value) else canonical(value)

    return pa.array([spell(value) for value in values])


def _python_lists(data: Any) -> LabelSource:
    import pyarrow as pa

    from .columns import is_missing
    from .label import canonical
    from .parts import split_table

    for place, item in enumerate(data):
        if not isinstance(item, (list, tuple, set, frozenset)):
            raise TypeError(
                f"data is a list whose item {place} is a {type(item).__name__}; a list of lists of labels, one a "
                "record, is read; files are listed as pathlib.Path objects"
            )
    lists = pa.array(
        [[canonical(value) for value in item if not is_missing(value)] for item in data],
        type=pa.list_(pa.string()),
    )
    table = pa.table({"label": lists})
    plan = _Plan("lists", ["label"], None, "label", None)
    return _of_parts(split_table(table, part_rows=_PART_ROWS), plan, f"{len(lists)} lists")


def _matrix(data: Any, label: Any) -> LabelSource:
    """Matrices stay as they are: a batch is a slice of rows."""
    sparse = hasattr(data, "tocsr")
    rows = data.tocsr() if sparse else data
    if rows.ndim != 2:
        raise ValueError(
            f"data has {rows.ndim} dimensions; a matrix with one row a record and one column a label is read"
        )
    if hasattr(rows, "detach"):
        rows = rows.detach().cpu().numpy()
    width = int(rows.shape[1])
    if isinstance(label, str):
        raise TypeError("label= must list the name of every column of a matrix, not be one text")
    keys = [str(i) for i in range(width)] if label is None else [str(name) for name in label]
    if len(keys) != width or len(set(keys)) != width:
        raise ValueError(f"label= lists {len(set(keys))} distinct names; the matrix has {width} columns")

    def batches() -> Iterator[Batch]:
        step = max(1, min(BATCH_ROWS, (1 << 24) // max(width, 1))) if not sparse else BATCH_ROWS
        for start in range(0, rows.shape[0], step):
            yield Batch(None, MatrixRows(keys, rows[start : start + step]), None)

    return LabelSource("wide", batches, origin=f"a matrix of {rows.shape[0]} x {width}", has_records=False)


class MatrixRows(NamedTuple):
    """Some rows of a dense or sparse matrix, and the names of its columns."""

    keys: list[str]
    rows: Any
