"""The data of an audit as named columns, whatever it came as, and where its base rates come from."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from biasamp.counts.storage import is_counts
from biasamp.data import Column, check_columns, column_codes
from biasamp.data.file_format import is_zipped
from biasamp.data.files import DAMAGE, open_files
from biasamp.data.formats import format_of
from biasamp.data.frames import arrow_column, arrow_table, column_names, named_columns
from biasamp.data.keys import Keys, record_keys
from biasamp.data.label import Mask, canonical
from biasamp.data.label_rules import refuse_rounded
from biasamp.data.parquet_sizes import parquet_shape
from biasamp.data.parts import read_table, split, split_frame, split_table
from biasamp.data.row_numbers import records_known, row_numbers
from biasamp.engines import home_of

if TYPE_CHECKING:
    from .plan import Spec

# A table of base rates: its columns of labels, and what its numbers may be called.
_LONG = ("attribute", "task")
_NUMBERS = ("count", "joint", "probability")
# Tables that take more bytes than this are not read into memory unless asked to.
_LARGE = 256 << 20
# What a value takes in memory while it is counted, and how often a byte of text or of compressed text becomes such.
_VALUE_BYTES = 24
_TEXT_FACTOR, _ZIPPED_FACTOR = 4, 24


@dataclass(frozen=True, eq=False)
class Source:
    """Named columns of the same records."""

    name: str
    columns: Mapping[str, Column]
    rows: int
    before: int = 0  # rows of the whole before the first of these
    record: str | None = None  # the column of ids, where there is one

    def rows_known(self) -> AbstractContextManager[None]:
        """While it lasts, messages name records by their ids, or by their rows in the whole."""
        return records_known(self.before, *(() if self.record is None else (self.record, self._id)))

    def _id(self, place: int) -> str | None:
        column = self.columns[self.record or ""]
        value = column.values[place]
        if column.kind == "text":
            return column.categories[value] if value >= 0 else None
        return None if column.gone[place] else canonical(value)

    def column(self, name: str) -> Column:
        """One column; an unknown name is an error that offers the nearest ones."""
        if name not in self.columns:
            check_columns([name], list(self.columns), self.name)
        return self.columns[name]

    def take(self, records: Mask) -> Source:
        """Some of the records."""
        columns = {name: column.take(records) for name, column in self.columns.items()}
        return replace(self, columns=columns, rows=int(records.sum()))

    def numbers(self, name: str, role: str) -> Any:
        """A column of numbers without missing values."""
        column = self.column(name)
        if column.kind not in ("bool", "int", "float"):
            raise TypeError(f"{role} column {name!r} holds {column.kind}, not numbers")
        if column.missing is not None:
            gone = np.flatnonzero(column.missing)
            with self.rows_known():
                where = row_numbers(gone)
            raise ValueError(
                f"{role} column {name!r} has {len(gone):,} missing values ({where}). Fill them in, or leave those records out"
            )
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
            refuse_rounded(values, f"{role} column {name!r}")
            values = values.astype(np.int64)
        return record_keys(values)


def read_source(
    data: Any, wanted: Sequence[str], role: str = "data", words: Mapping[str, frozenset[str]] | None = None
) -> Source:
    """The wanted columns of a path, a frame or a mapping of arrays; ``words`` are read from text files as written there."""
    if isinstance(data, Source):
        return data
    if isinstance(data, (str, os.PathLike)):
        files = open_files(os.fspath(data))
        table = read_table(files, wanted, words)
        columns = {name: arrow_column(name, table.column(name)) for name in table.column_names}
        source = Source(files.name, columns, table.num_rows)
    else:
        columns = named_columns(data, list(dict.fromkeys(wanted)), role)
        source = Source(role, columns, len(next(iter(columns.values()))))
    if source.rows == 0:
        raise ValueError(f"{source.name} has no records")
    return source


def data_parts(
    data: Any, columns: Sequence[str], role: str, words: Mapping[str, frozenset[str]] | None = None
) -> tuple[str, list[Any]]:
    """What data is called, and the parts in which it is counted: of files, of a cluster's dataframe, or of a frame."""
    if isinstance(data, (str, os.PathLike)):
        files = open_files(os.fspath(data))
        counted = next((path for path in files.paths if is_counts(path)), None)
        if counted is not None:
            raise ValueError(f"{counted.name} holds counts, not records: add counts up (+ or merge) and audit the sum")
        return files.name, list(split(files, columns, words=words))
    if home_of(data) != "local":
        return role, list(split_frame(data, columns, role))

    return role, list(split_table(arrow_table(data, columns, role)))


def in_parts(data: Any, engine: Any, columns: Sequence[str] | None = None, memory: int | None = None) -> bool:
    """Whether data is counted part by part: where an engine is named, on clusters, and from files of many values.

    ``columns`` are those that are read, by default all; ``memory`` is a budget in bytes.
    """
    if not (isinstance(engine, str) and engine == "auto") or home_of(data) != "local":
        return True
    if not isinstance(data, (str, os.PathLike)):
        return False
    most = _LARGE if memory is None else min(memory, _LARGE)
    size = 0
    for path in open_files(os.fspath(data)).paths:
        size += _size_in_memory(path, columns)
        if size > most:
            return True
    return False


def _size_in_memory(path: Path, columns: Sequence[str] | None) -> int:
    """Bytes that some columns of a file take in memory, about: by rows and columns where the file tells them at once."""
    stored = path.stat().st_size
    if is_zipped(path):
        return _ZIPPED_FACTOR * stored
    if format_of(path).name == "parquet":
        try:
            rows, width = parquet_shape(path)
        except (*DAMAGE, ValueError):
            return stored  # whatever is wrong with the file is said by whoever reads it
        return rows * (width if columns is None else len(columns)) * _VALUE_BYTES
    return stored if format_of(path).typed else _TEXT_FACTOR * stored


@dataclass(frozen=True, eq=False)
class BaseSource:
    """Where base rates come from: records with the same columns, or a joint table of attribute and task labels."""

    name: str
    records: Source | None = None
    joint: Mapping[str, Mapping[str, float]] | None = None

    def argument(self, attribute: Spec, tasks: Spec, direction: str) -> Any:
        """The ``base`` argument of one direction."""
        if self.records is not None:
            sides = [spec.columns(self.records) for spec in (attribute, tasks)]
            return (sides[0], sides[1]) if direction == "A->T" else (sides[1], sides[0])
        joint: Mapping[str, Mapping[str, float]] = self.joint or {}
        if direction == "T->A":
            columns = dict.fromkeys(column for row in joint.values() for column in row)
            joint = {c: {name: row[c] for name, row in joint.items() if c in row} for c in columns}
        return {"joint": joint, "source": self.name}


def read_audit_base(
    base: Any, attributes: Mapping[str, Spec], tasks: Spec, words: Mapping[str, frozenset[str]] | None = None
) -> BaseSource | None:
    """Read the ``base`` of an audit.

    A path or a frame with the audit's own columns is read as records, or with a column of counts and each pair once as a
    joint table; one with the columns ``attribute``, ``task``
    and ``count`` (or ``probability``) as a joint table; a mapping ``{attribute: {task: number}}`` likewise.
    """
    if base is None:
        return None
    if isinstance(base, Mapping) and base and all(isinstance(row, Mapping) for row in base.values()):
        return BaseSource("joint table", joint=base)
    wanted = [name for spec in (*attributes.values(), tasks) for name in spec.names]
    there = _names(base)
    label = os.path.basename(os.fspath(base)) if isinstance(base, (str, os.PathLike)) else "the base data"
    number = next((name for name in _NUMBERS if name in there and name not in wanted), None)
    if set(wanted) <= set(there):
        if number is not None and len(wanted) == len(set(wanted)):
            source = read_source(base, [*wanted, number], "base", words)
            if _each_once(source, wanted):
                return BaseSource(label, joint=_of_own_columns(source, wanted, number))
        return BaseSource(label, records=read_source(base, wanted, "base", words))
    if number is not None and set(_LONG) <= set(there):
        source = read_source(base, [*_LONG, number], "base")
        return BaseSource(label, joint=_long(source, number, *_LONG))
    raise ValueError(
        f"base has the columns {', '.join(there[:8])}; it needs either those of the audit ({', '.join(wanted[:6])}) to "
        "be counted, or 'attribute', 'task' and 'count' (or 'probability') to be a table of joint counts"
    )


def _names(base: Any) -> list[str]:
    if isinstance(base, (str, os.PathLike)):
        return open_files(os.fspath(base)).column_names()
    names = column_names(base)
    if names is not None:
        return names
    raise TypeError(f"base is a {type(base).__name__}; a path, a frame or a mapping is needed")


def _each_once(source: Source, columns: Sequence[str]) -> bool:
    """Whether no two rows have the same labels, as in a table of counts."""
    held = zip(*(column_codes(source.column(name))[0].tolist() for name in columns), strict=True)
    return len(set(held)) == source.rows


def _of_own_columns(source: Source, columns: Sequence[str], number: str) -> dict[str, dict[str, float]]:
    """A table of counts in the columns of the audit, which are one attribute and one task."""
    if len(columns) != 2:
        raise ValueError(
            f"base has the columns of the audit and '{number}', each combination once: it looks like a table of counts. "
            f"Such a table is of one attribute and one task ({len(columns)} columns are named). Give the records "
            f"themselves, or leave '{number}' out"
        )
    return _long(source, number, *columns)


def _long(source: Source, number: str, attribute: str, task: str) -> dict[str, dict[str, float]]:
    rows, columns = _texts(source.column(attribute)), _texts(source.column(task))
    values = np.asarray(source.numbers(number, "base"), dtype=np.float64)
    out: dict[str, dict[str, float]] = {}
    for row, column, value in zip(rows, columns, values.tolist(), strict=True):
        if column in out.setdefault(row, {}):
            raise ValueError(f"base names the pair ({row!r}, {column!r}) twice")
        out[row][column] = value
    for entries in out.values():
        for column in columns:
            entries.setdefault(column, 0.0)
    return out


def _texts(column: Column) -> list[str]:
    codes, categories = column_codes(column)
    if (codes < 0).any():
        raise ValueError(f"base column {column.name!r} has {int((codes < 0).sum()):,} missing values: name every pair")
    return [categories[code] for code in codes.tolist()]
