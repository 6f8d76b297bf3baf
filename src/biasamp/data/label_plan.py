"""Which columns of a table are the records, the labels and the scores, and the arrays that they give."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .column_types import is_list, is_number
from .columns import check_columns

_RECORD, _LABEL = "record", "label"  # what the columns of a long table are called by default


class Batch(NamedTuple):
    """Arrow arrays of equal length; ``label`` is a list array in the shape ``"lists"``, a record batch in ``"wide"``."""

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

    def batch(self, batch: Any) -> Batch:
        """The arrays of one record batch."""
        if self.shape == "wide":
            return Batch(None, batch, None)
        record, label, score = (
            None if name is None else batch.column(name) for name in (self.record, self.label, self.score)
        )
        if self.shape == "lists" and record is not None:
            return _unfolded(record, label, score)
        return Batch(record, label, score)


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
        label = _LABEL
        record = record or _RECORD
    if label is None:
        lists = [name for name in names if is_list(schema.field(name).type)]
        if len(lists) == 1:
            label = lists[0]
        elif lists:
            raise ValueError(f"label= must say which of the list columns {lists} holds the labels")
    if label is None:
        wide = [name for name in names if name not in (record, score)]
        strange = [name for name in wide if not _can_be_zero_one(schema.field(name).type)]
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


def _can_be_zero_one(kind: Any) -> bool:
    return is_number(kind) or bool(pa.types.is_boolean(kind) or pa.types.is_null(kind))


def _unfolded(record: Any, label: Any, score: Any) -> Batch:
    """Lists with a record column as long rows; an empty list is one row with a null label."""
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
        scores = spread(score) if is_list(score.type) else score.take(rows)
    return Batch(record.take(rows), spread(label), scores)
