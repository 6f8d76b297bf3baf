"""The data of an audit as named columns, whatever it came as."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasamp.counts.storage import is_counts
from biasamp.data import Column, check_columns
from biasamp.data.files import open_files
from biasamp.data.keys import Keys, record_keys
from biasamp.engines import home_of

# Files of more bytes than this are not read into memory unless asked to.
_LARGE = 256 << 20


@dataclass(frozen=True, eq=False)
class Source:
    """Named columns of the same records."""

    name: str
    columns: Mapping[str, Column]
    rows: int

    def column(self, name: str) -> Column:
        """One column; an unknown name is an error that offers the nearest ones."""
        check_columns([name], list(self.columns), self.name)
        return self.columns[name]

    def numbers(self, name: str, role: str) -> Any:
        """A column of numbers without missing values."""
        column = self.column(name)
        if column.kind not in ("bool", "int", "float"):
            raise TypeError(f"{role} column {name!r} holds {column.kind}, not numbers")
        if column.missing is not None:
            raise ValueError(f"{role} column {name!r} has {int(column.missing.sum()):,} missing values")
        return column.values

    def ids(self, name: str, role: str) -> Keys:
        """Keys of the records from an id column of integers or text."""
        column = self.column(name)
        if column.kind == "text":
            if (column.values < 0).any():
                raise ValueError(f"{role} column {name!r} has missing values: every record needs its id")
            return record_keys(np.array(column.categories, dtype=object))[column.values]
        values = self.numbers(name, role)
        if column.kind == "float":
            if (values != np.rint(values)).any():
                raise TypeError(f"{role} column {name!r} holds fractions; ids are whole numbers or text")
            values = values.astype(np.int64)
        return record_keys(values)


def read_source(data: Any, wanted: Sequence[str], role: str = "data") -> Source:
    """The wanted columns of a path, a frame or a mapping of arrays."""
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        from biasamp.data.frames import arrow_column
        from biasamp.data.parts import read_table

        files = open_files(os.fspath(data))
        table = read_table(files, wanted)
        columns = {name: arrow_column(name, table.column(name)) for name in table.column_names}
        source = Source(files.name, columns, table.num_rows)
    else:
        from biasamp.data.frames import named_columns

        columns = named_columns(data, list(dict.fromkeys(wanted)), role)
        source = Source(role, columns, len(next(iter(columns.values()))))
    if source.rows == 0:
        raise ValueError(f"{source.name} has no records")
    return source


def data_parts(data: Any, columns: Sequence[str], role: str) -> tuple[str, list[Any]]:
    """What data is called, and the parts in which it is counted: of files, of a cluster's dataframe, or of a frame."""
    if isinstance(data, (str, os.PathLike)):
        from biasamp.data.parts import split

        files = open_files(os.fspath(data))
        counted = next((path for path in files.paths if is_counts(path)), None)
        if counted is not None:
            raise ValueError(f"{counted.name} holds counts, not records: add counts up (+ or merge) and audit the sum")
        return files.name, list(split(files, columns))
    if home_of(data) != "local":
        from biasamp.data.parts import split_frame

        return role, list(split_frame(data, columns, role))
    from biasamp.data.frames import arrow_table
    from biasamp.data.parts import split_table

    return role, list(split_table(arrow_table(data, columns, role)))


def in_parts(data: Any, engine: Any) -> bool:
    """Whether data is counted part by part: where an engine is named, on clusters, and from large files."""
    if not (isinstance(engine, str) and engine == "auto") or home_of(data) != "local":
        return True
    if not isinstance(data, (str, os.PathLike)):
        return False
    return sum(path.stat().st_size for path in open_files(os.fspath(data)).paths) > _LARGE
