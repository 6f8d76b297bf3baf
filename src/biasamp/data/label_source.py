"""Where label sets come from: long tables, lists, wide 0/1 tables, sparse matrices, files and folders.

A :class:`LabelSource` can be read any number of times and hands out batches; what they hold depends on its
``shape``: ``"long"`` rows of (record, label[, score]), ``"lists"`` one list of labels per record, ``"wide"`` one
column per label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .argument_columns import tensor_array
from .arrow_numbers import arrow_of, numpy_of
from .columns import check_columns, is_missing
from .files import file_schema, list_files
from .frames import arrow_series, arrow_table, is_lazy, is_list, is_number
from .label import canonical
from .parts import BATCH_ROWS, frame_schema, split, split_frame, split_table
from .plain_arguments import column_name, names_of

Index = NDArray[np.int64]
_RECORD, _LABEL = "record", "label"  # what the columns of a long table are called by default
# A part has labels of its own, which merging has to bring together: it takes many rows for that to cost little.
_PART_ROWS = 1 << 21
_ACCEPTED = "a table (pandas, polars, pyarrow), a file or folder, a scipy.sparse matrix, a 2-D array or a list of lists of labels"
# Values of a dense matrix that are looked at together.
_BATCH_VALUES = 1 << 24


class Batch(NamedTuple):
    """Arrow arrays of equal length; ``label`` is a list array in the shape ``"lists"``.

    In ``"wide"`` it is a record batch, or the names of the columns of a dense or sparse matrix and some of its rows.
    """

    record: Any
    label: Any
    score: Any


class LabelPlan(NamedTuple):
    """Which columns to read, and as what; ``shape`` is ``"long"``, ``"lists"`` or ``"wide"``."""

    shape: str
    columns: list[str]
    record: str | None = None
    label: str | None = None
    score: str | None = None


@dataclass(frozen=True, eq=False)
class LabelSource:
    """Label sets that can be read again and again: ``batches()`` begins reading anew.

    ``names`` says what to show for a label, where it is not its key. ``origin`` describes the data for messages and
    reports; ``notes()`` says what the reading left out, after the batches have been read. ``parts`` are read apart, on
    any machine; without them the batches are read one after another, here. ``has_records`` and ``has_scores``: whether
    batches say which record a row belongs to, and what it scores. ``identities`` are the labels of each identity, where the
    source knows them; ``from_text`` says that labels are words of texts, which may repeat and of which
    lists name more than there are; ``frame`` is the dataframe
    on a cluster that the parts are of.
    """

    shape: str
    batches: Callable[[], Iterator[Batch]]
    names: Mapping[str, str] = field(default_factory=dict)
    origin: str = ""
    notes: Callable[[], tuple[str, ...]] = tuple
    parts: Sequence[Any] | None = None
    has_records: bool = True
    has_scores: bool = False
    identities: Mapping[str, Sequence[str]] = field(default_factory=dict)
    from_text: bool = False
    frame: Any = None


@dataclass(frozen=True)
class LabelPart:
    """A part of a table of labels, and what its columns mean."""

    part: Any
    plan: LabelPlan

    name = property(lambda self: self.part.name)
    number = property(lambda self: self.part.number)
    rows = property(lambda self: self.part.rows)
    path = property(lambda self: self.part.path)
    lazy = property(lambda self: self.part.lazy)

    @property
    def key_column(self) -> str | None:
        """The column by which rows of one record are known, for an engine that brings them together itself."""
        return self.plan.record

    @property
    def whole_numbers(self) -> bool:
        """Whether records and labels are whole numbers, without scores."""
        kinds = dict(self.part.fields)
        _, _, record, label, score = self.plan
        return score is None and all(
            name is not None and kinds[name] is not None and pa.types.is_integer(kinds[name])
            for name in (record, label)
        )

    def with_rows(self, held: Any, number: int | None = None) -> LabelPart:
        """The part as :meth:`biasamp.data.parts.Part.with_rows` gives it."""
        return replace(self, part=self.part.with_rows(held, number))

    def batches(self, rows: int = BATCH_ROWS) -> Iterator[Batch]:
        """The arrays of each batch."""
        shape, columns, *roles = self.plan
        coded = [self.plan.label] if shape == "long" and self.plan.label else []
        for batch in self.part.batches(columns, rows=rows, categories=coded):
            if shape == "wide":
                yield Batch(None, batch, None)
                continue
            record, label, score = (None if name is None else batch.column(name) for name in roles)
            unfold = shape == "lists" and record is not None
            yield unfolded(record, label, score) if unfold else Batch(record, label, score)


def label_source(
    data: Any, *, label: str | Sequence[str] | None = None, record: str | None = None, score: str | None = None
) -> LabelSource:
    """Find out what data holds and how to read it.

    Parameters
    ----------
    data : path, list of paths, frame, Arrow table, mapping, sparse matrix, array or list of lists
    label : str or sequence of str, optional
        Long tables and lists: the column of labels. Wide tables: the columns that are labels (default: all
        but ``record``); arrays and sparse matrices: the name of each column.
    record, score : str, optional
        Long tables: the column that says which record a row belongs to, and the column of scores.
    """
    if isinstance(data, LabelSource):
        if label is not None or record is not None or score is not None:
            raise ValueError(
                "label, record and score have no meaning for data that was read already; give them to the reader"
            )
        return data
    column_name(record, "record")
    column_name(score, "score")
    if label is not None and not isinstance(label, str):
        label = names_of(label, "label", "names of columns")
        if not label:
            raise ValueError("label is an empty list: name at least one column, or leave it out")
    if data is None:
        raise TypeError("data is None; a table, a file, a folder or a matrix of labels is needed")
    paths = isinstance(data, (list, tuple)) and data and all(isinstance(item, Path) for item in data)
    if paths or isinstance(data, (str, Path)):
        return _files(data, label, record, score)
    kind = type(data).__module__.split(".")[0]
    if isinstance(data, np.ndarray) and data.dtype == object and data.ndim == 1:
        return _python_lists(data.tolist())
    if kind == "scipy" or (kind in ("numpy", "torch") and hasattr(data, "ndim")):
        return _matrix(data, label)
    if hasattr(data, "mapInArrow") or (hasattr(data, "to_delayed") and hasattr(data, "npartitions")):
        return _cluster_frame(data, label, record, score)
    if isinstance(data, (list, tuple)):
        return _python_lists(data)
    series = arrow_series(data)
    if series is not None:
        return _list_series(series)
    return _frame(data, label, record, score)


def _files(data: Any, label: Any, record: str | None, score: str | None) -> LabelSource:
    files = list_files(data)
    plan = label_plan(file_schema(files[0]), label, record, score)
    types: dict[str, Any] = {}
    if plan.shape == "long":
        # Labels and ids are text whatever they look like: a label called NA is a label, record 007 is not record 7.
        types = {name: pa.string() for name in (plan.record, plan.label) if name}
        if plan.score:
            types[plan.score] = pa.float64()
    parts = split(files, plan.columns, types=types, blank=False, counted=False, part_rows=_PART_ROWS)
    many = f" and {len(files) - 1} more" if len(files) > 1 else ""
    return _of_parts(parts, plan, f"{files[0].name}{many}")


def _of_parts(parts: Sequence[Any], plan: LabelPlan, origin: str) -> LabelSource:
    own = [LabelPart(part, plan) for part in parts]

    def batches() -> Iterator[Batch]:
        return chain.from_iterable(part.batches() for part in own)

    records, scores = plan.record is not None, plan.score is not None
    return LabelSource(plan.shape, batches, origin=origin, parts=own, has_records=records, has_scores=scores)


def _frame(data: Any, label: Any, record: str | None, score: str | None) -> LabelSource:
    labels = [label] if isinstance(label, str) else list(label or [])
    wanted = None if label is None else [name for name in (record, score, *labels) if name]
    if wanted is None and is_lazy(data):
        # What is needed is seen from names and types; no other column is collected.
        wanted = label_plan(arrow_table(data.head(0), None, "data").schema, label, record, score).columns
    table = data if isinstance(data, pa.Table) else arrow_table(data, wanted, "data", _ACCEPTED)
    plan = label_plan(table.schema, label, record, score)
    parts = split_table(table, plan.columns, part_rows=_PART_ROWS)
    return _of_parts(parts, plan, f"a table of {table.num_rows} rows")


def _cluster_frame(data: Any, label: Any, record: str | None, score: str | None) -> LabelSource:
    known = frame_schema(data)
    # Python objects whose type the frame does not know are text, unless their partitions say otherwise.
    names = [str(name) for name in data.columns]
    types = [known.field(name).type if name in known.names else pa.string() for name in names]
    plan = label_plan(pa.schema(list(zip(names, types, strict=True))), label, record, score)
    kind = "Spark" if hasattr(data, "mapInArrow") else "Dask"
    return _of_parts(split_frame(data, plan.columns), plan, f"a {kind} dataframe")


def _list_series(series: Any) -> LabelSource:
    """A series of lists, one of each record."""
    if not is_list(series.type):
        raise TypeError(
            f"data is a series of {series.type}; a series of lists of labels is read, or a table with the columns that label= "
            "and record= name"
        )
    table = pa.table({_LABEL: series})
    plan = LabelPlan("lists", [_LABEL], label=_LABEL)
    return _of_parts(split_table(table, part_rows=_PART_ROWS), plan, f"{len(series)} lists")


def _python_lists(data: Any) -> LabelSource:
    for place, item in enumerate(data):
        if not isinstance(item, (list, tuple, set, frozenset, np.ndarray)):
            raise TypeError(
                f"data is a list whose item {place} is a {type(item).__name__}; a list of lists of labels, one a "
                "record, is read; files are listed as pathlib.Path objects"
            )
    try:
        spelled = [[canonical(value) for value in item if not is_missing(value)] for item in data]
    except TypeError as error:
        raise TypeError(f"data: {error}") from None
    table = pa.table({_LABEL: pa.array(spelled, type=pa.list_(pa.string()))})
    plan = LabelPlan("lists", [_LABEL], label=_LABEL)
    return _of_parts(split_table(table, part_rows=_PART_ROWS), plan, f"{len(data)} lists")


def _matrix(data: Any, label: Any) -> LabelSource:
    """Matrices stay as they are: a batch is a slice of rows."""
    sparse = hasattr(data, "tocsr")
    rows = data.tocsr() if sparse else data
    if rows.ndim != 2:
        raise ValueError(
            f"data has {rows.ndim} dimensions; a matrix with one row per record and one column per label is read"
        )
    if hasattr(rows, "detach"):
        rows = tensor_array(rows)
    width = int(rows.shape[1])
    if isinstance(label, str):
        raise TypeError("data is a matrix: label= must list the name of each of its columns, not be one text")
    keys = [str(i) for i in range(width)] if label is None else [str(name) for name in label]
    if len(keys) != width or len(set(keys)) != width:
        raise ValueError(f"label= lists {len(set(keys))} distinct names; the matrix has {width} columns")

    def batches() -> Iterator[Batch]:
        step = BATCH_ROWS if sparse else max(1, min(BATCH_ROWS, _BATCH_VALUES // max(width, 1)))
        for start in range(0, rows.shape[0], step):
            yield Batch(None, (keys, rows[start : start + step]), None)

    return LabelSource("wide", batches, origin=f"a matrix of {rows.shape[0]} x {width}", has_records=False)


def label_plan(schema: Any, label: Any, record: str | None, score: str | None) -> LabelPlan:
    """Find out from names and types what a table holds; arguments as in :func:`biasamp.data.label_source.label_source`."""
    names = list(schema.names)
    if not names:
        raise ValueError("data has no columns")
    check_columns([name for name in (record, score) if name is not None], names, "data")
    if label is not None and not isinstance(label, str):
        wide = list(label)
        check_columns(wide, names, "data")
        return LabelPlan("wide", wide)
    if label is None and _LABEL in names and (record or _RECORD in names):
        label, record = _LABEL, record or _RECORD
    if label is None:
        check_columns(names, names, "data")
        lists = [name for name in names if is_list(schema.field(name).type)]
        if len(lists) == 1:
            label = lists[0]
        elif lists:
            raise ValueError(f"label= must say which of the list columns {lists} holds the labels")
    if label is None:
        wide = [name for name in names if name not in (record, score)]
        kinds = [schema.field(name).type for name in wide]
        zero_one = [is_number(kind) or pa.types.is_boolean(kind) or pa.types.is_null(kind) for kind in kinds]
        strange = [name for name, fits in zip(wide, zero_one, strict=True) if not fits]
        if strange:
            raise ValueError(
                f"label= is needed: the column {strange[0]!r} holds {schema.field(strange[0]).type}, so this is "
                f"no table of 0/1 columns; name the columns of a long table with label= and record=. "
                f"There are {', '.join(repr(n) for n in names[:12])}"
            )
        return LabelPlan("wide", wide)
    check_columns([label], names, "data")
    columns = [name for name in (record, label, score) if name]
    if is_list(schema.field(label).type):
        return LabelPlan("lists", columns, record, label, score)
    if record is None:
        raise ValueError(
            f"record= is needed: the column {label!r} holds one label per row, and record= names the column that "
            f"says which record the row belongs to. There are {', '.join(repr(n) for n in names[:12])}"
        )
    return LabelPlan("long", columns, record, label, score)


def unfolded(record: Any, label: Any, score: Any) -> Batch:
    """Lists with a record column as long rows; an empty list is one row with a null label."""
    sizes = numpy_of(pc.list_value_length(label), 0).astype(np.int64)
    room = np.maximum(sizes, 1)
    full = np.ones(int(room.sum()), dtype=bool)
    full[(np.cumsum(room) - room)[sizes == 0]] = False
    index = arrow_of(np.where(full, np.cumsum(full) - 1, 0), ~full)
    rows = arrow_of(np.repeat(np.arange(len(sizes)), room))
    if score is not None:
        score = score.flatten().take(index) if is_list(score.type) else score.take(rows)
    return Batch(record.take(rows), label.flatten().take(index), score)


def wide_labels(batch: Any, threshold: float | Mapping[str, float] | None) -> tuple[list[str], Index, Index]:
    """The names of the columns, how many labels each record has, and their columns, record by record.

    Without a threshold values must be 0 or 1; with one, a value that reaches it is a label.
    """
    if isinstance(batch, tuple):
        keys, rows = batch
        if hasattr(rows, "tocsr"):
            return keys, *_sparse(rows, keys, threshold)
        return keys, *_dense(np.asarray(rows), keys, threshold)
    keys = [str(name) for name in batch.schema.names]
    for name, column in zip(keys, batch.columns, strict=True):
        if column.null_count:
            raise ValueError(
                f"the column {name!r} has {column.null_count} missing values; 0 or 1 is needed for every record"
            )
    columns = [numpy_of(column) for column in batch.columns]
    return keys, *_dense(np.column_stack(columns), keys, threshold)


def _limits(keys: list[str], threshold: float | Mapping[str, float]) -> NDArray[np.float64]:
    if not isinstance(threshold, Mapping):
        return np.full(len(keys), float(threshold))
    missing = [key for key in keys if key not in threshold]
    if missing:
        raise ValueError(f"threshold names no value for the column {missing[0]!r}; every column needs one")
    return np.array([threshold[key] for key in keys], dtype=np.float64)


def _dense(values: NDArray[Any], keys: list[str], threshold: Any) -> tuple[Index, Index]:
    if values.dtype.kind not in "biuf":
        raise TypeError(f"the matrix of labels holds {values.dtype} values; 0 and 1, or scores, are needed")
    if threshold is None:
        if values.dtype.kind != "b" and (strange := (values != 0) & (values != 1)).any():
            row, column = np.argwhere(strange)[0]
            raise ValueError(
                f"the column {keys[column]!r} holds {values[row, column]!s} (row {row + 1} of its batch, counted from 1); 0 and 1 are "
                "needed, or scores with threshold="
            )
        held = values != 0
    else:
        if values.dtype.kind == "f" and np.isnan(values).any():
            raise ValueError("the matrix of scores has missing values; a score is needed for every record")
        held = values >= _limits(keys, threshold)
    row, column = np.nonzero(held)
    return np.bincount(row, minlength=len(values)), column.astype(np.int64)


def _sparse(rows: Any, keys: list[str], threshold: Any) -> tuple[Index, Index]:
    rows = rows.copy()
    rows.sum_duplicates()
    if threshold is None:
        strange = rows.data[(rows.data != 0) & (rows.data != 1)]
        if len(strange):
            raise ValueError(f"the sparse matrix holds {strange[0]!s}; 0 and 1 are needed, or scores with threshold=")
        held = rows.data != 0
    else:
        limits = _limits(keys, threshold)
        if (limits <= 0).any():
            raise ValueError("threshold must be above 0 for a sparse matrix, whose unstored values are 0")
        held = rows.data >= limits[rows.indices]
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[held]
    return np.bincount(row, minlength=rows.shape[0]), rows.indices[held].astype(np.int64)
