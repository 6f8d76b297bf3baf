"""Where label sets come from: long tables, lists, wide 0/1 tables, sparse matrices, files and folders.

A :class:`LabelSource` can be read any number of times and hands out batches; what they hold depends on its
``shape``: ``"long"`` rows of (record, label[, score]), ``"lists"`` one list of labels per record, ``"wide"`` one
column per label.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa

from .arrays import tensor_array
from .cluster_frames import frame_schema, split_frame
from .columns import is_missing
from .files import file_schema, list_files
from .frames import arrow_table
from .label import canonical
from .label_plan import Batch, LabelPlan, label_plan
from .parts import BATCH_ROWS, split, split_table
from .wide_rows import MatrixRows

# A part has labels of its own, which merging has to bring together: it takes many rows for that to cost little.
_PART_ROWS = 1 << 21
_ACCEPTED = "a table (pandas, polars, pyarrow), a file or folder, a scipy.sparse matrix, a 2-D array or a list of lists of labels"
# Values of a dense matrix that are looked at together.
_BATCH_VALUES = 1 << 24


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
    plan: LabelPlan

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


def _frame(data: Any, label: Any, record: str | None, score: str | None) -> LabelSource:
    if isinstance(data, pa.Table):
        table = data
    else:
        labels = [label] if isinstance(label, str) else list(label or [])
        wanted = None if label is None else [name for name in (record, score, *labels) if name]
        table = arrow_table(data, wanted, "data", _ACCEPTED)
    plan = label_plan(table.schema, label, record, score)
    parts = split_table(table, plan.columns, part_rows=_PART_ROWS)
    return _of_parts(parts, plan, f"a table of {table.num_rows} rows")


def _cluster_frame(data: Any, label: Any, record: str | None, score: str | None) -> LabelSource:
    known = frame_schema(data)
    # Python objects whose type the frame does not know are text, unless their partitions say otherwise.
    fields = [
        (str(name), known.field(str(name)).type if str(name) in known.names else pa.string()) for name in data.columns
    ]
    plan = label_plan(pa.schema(fields), label, record, score)
    kind = "Spark" if hasattr(data, "mapInArrow") else "Dask"
    return _of_parts(split_frame(data, plan.columns), plan, f"a {kind} dataframe")


def _python_lists(data: Any) -> LabelSource:
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
    plan = LabelPlan("lists", ["label"], label="label")
    return _of_parts(split_table(table, part_rows=_PART_ROWS), plan, f"{len(lists)} lists")


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
        raise TypeError("label= must list the name of every column of a matrix, not be one text")
    keys = [str(i) for i in range(width)] if label is None else [str(name) for name in label]
    if len(keys) != width or len(set(keys)) != width:
        raise ValueError(f"label= lists {len(set(keys))} distinct names; the matrix has {width} columns")

    def batches() -> Iterator[Batch]:
        step = BATCH_ROWS if sparse else max(1, min(BATCH_ROWS, _BATCH_VALUES // max(width, 1)))
        for start in range(0, rows.shape[0], step):
            yield Batch(None, MatrixRows(keys, rows[start : start + step]), None)

    return LabelSource("wide", batches, origin=f"a matrix of {rows.shape[0]} x {width}", has_records=False)
