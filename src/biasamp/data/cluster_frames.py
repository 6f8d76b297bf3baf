"""Dask and Spark dataframes as parts whose rows stay on their cluster until a task there reads them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from .columns import check_columns
from .parts import BATCH_ROWS, alike_batches


@dataclass(frozen=True)
class FramePart:
    """A partition of a Dask dataframe, or a whole Spark dataframe.

    Its rows are in no file and have no number in the whole: ``start`` and ``rows`` are None. An engine takes
    ``lazy``, and gives a task on the cluster what it stands for by :meth:`with_rows`.

    Attributes
    ----------
    fields : tuple of (str, DataType or None)
        The columns and their types; None for Python objects, whose type a partition alone does not tell.
    lazy
        A Dask ``Delayed`` of a pandas frame, or a Spark dataframe.
    held
        The rows, on the worker: a pandas frame or Arrow batches.
    """

    name: str
    number: int
    fields: tuple[tuple[str, Any], ...]
    lazy: Any = None
    held: Any = None
    start: int | None = None
    rows: int | None = None

    def without_rows(self) -> FramePart:
        """The part as it travels to a task."""
        return replace(self, lazy=None)

    def with_rows(self, held: Any, number: int | None = None) -> FramePart:
        """The part as a task sees it."""
        if number is None:
            return replace(self, lazy=None, held=held)
        return replace(self, lazy=None, held=held, number=number, name=f"partition {number}")

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
