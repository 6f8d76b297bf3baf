"""What a file format is: the type of the entries of :data:`biasamp.data.formats.FORMATS`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from .nested_columns import Place, field_type, flat_schema, flattened, nested_types, roots
from .unzipping import open_unzipped, unzip

# What a column of few distinct words is asked for as; a format may give plain text instead.
CODED = pa.dictionary(pa.int32(), pa.string())


class Text(NamedTuple):
    """What the caller knows of columns before a file is read; it matters where values are written as text."""

    types: Mapping[str, Any] = {}  # Arrow types of columns, whatever their values look like
    blank: bool = True  # whether an empty field, and the spellings of missing values, are missing in a column of text
    counted: bool = True  # whether rows must be counted
    words: Mapping[str, frozenset[str]] = {}  # columns to be read as they are written, with their values; see Piece


class Layout(NamedTuple):
    """What is found out about a file before it is read in parts.

    ``types`` has the Arrow type of every column asked for, which holds for all rows. ``sizes`` are the rows of each
    group that can be read apart: one group for a file that is read as a whole, None where its rows were not counted.
    """

    types: Mapping[str, Any]
    sizes: Sequence[int | None]
    unit: str = "group"  # what a group is called


class Piece(NamedTuple):
    """What to read of a file: columns with their types in the layout (or ``CODED``), and groups (none: all of it).

    ``words`` are columns that are read as they are written, with their values: of these, a spelling of missing values
    (``NA``) is a value like others.
    """

    path: Path
    types: Mapping[str, Any]
    groups: tuple[int, ...] = ()
    blank: bool = True
    words: Mapping[str, frozenset[str]] = {}


@dataclass(frozen=True)
class Format:
    """A kind of file. Up to ``read`` is enough for files that fit into memory; the rest serves larger ones.

    Attributes
    ----------
    name, title : str
        In messages ("x.csv cannot be read as csv"), and in the list of what is read ("CSV (.csv, .tsv)").
    suffixes : tuple of str
        In lower case; each may be followed by ``.gz``.
    schema : callable
        ``schema(path)``: the Arrow schema of all columns, best without reading the rows.
    read : callable
        ``read(path, columns)``: an Arrow table with those columns, in any order, maybe others too.
    split : callable, optional
        ``split(path, columns, text)``: the :class:`Layout`. Without it a file is one part.
    batches : callable, optional
        ``batches(piece, rows)``: record batches of about so many rows, each read when it is asked for, with the
        columns in the order of the :class:`Piece`. Without it a part is read whole before its first batch is given.
    typed : bool
        False where values are written as text: then a column that looks like numbers in one file of a folder and
        like words in another is read as it is written.
    magic : bytes
        How files of this format begin.
    mistaken : mapping of bytes to str
        How files begin that are mistaken for this format, and what to do about them.
    note : callable, optional
        ``note(path)``: what was found out about how a file is written and should be said, such as "its values are separated
        by semicolons", or None.
    """

    name: str
    title: str
    suffixes: tuple[str, ...]
    schema: Callable[[Path], Any]
    read: Callable[[Path, list[str]], Any]
    split: Callable[[Path, list[str], Text], Layout] | None = None
    batches: Callable[[Piece, int], Iterator[Any]] | None = None
    typed: bool = True
    magic: bytes = b""
    mistaken: Mapping[bytes, str] = field(default_factory=dict)
    note: Callable[[Path], str | None] | None = None

    def flat_schema(self, path: Path) -> Any:
        """The columns of a file, the fields of nested ones by dotted names."""
        return flat_schema(self.schema(path))

    def table(self, path: Path, columns: list[str]) -> Any:
        """Some columns of a file, read whole."""
        schema, places = self._nested(path, columns)
        if places is None:
            return self.read(path, columns).select(columns)
        return flattened(self.read(path, _roots(schema, places)), schema, places)

    def layout(self, path: Path, columns: list[str], text: Text) -> Layout:
        """The types of columns and the groups of rows of a file."""
        schema, places = self._nested(path, columns)
        found = self._layout(path, columns if places is None else _roots(schema, places), text)
        if places is None:
            return found
        inner = {name: field_type(found.types[schema.field(way[0]).name], way[1:]) for name, way in places.items()}
        return found._replace(types=inner)

    def _layout(self, path: Path, columns: list[str], text: Text) -> Layout:
        if self.split is not None:
            return self.split(path, columns, text)
        table = self.read(path, columns)
        return Layout({name: table.schema.field(name).type for name in columns}, [table.num_rows])

    def record_batches(self, piece: Piece, rows: int) -> Iterator[Any]:
        """The batches of a piece of a file."""
        schema, places = self._nested(piece.path, list(piece.types))
        if places is None:
            yield from self._record_batches(piece, rows)
            return
        whole = piece._replace(types=nested_types(schema, places, piece.types))
        for batch in self._record_batches(whole, rows):
            yield flattened(batch, schema, places)

    def _record_batches(self, piece: Piece, rows: int) -> Iterator[Any]:
        if self.batches is not None:
            return self.batches(piece, rows)
        columns = list(piece.types)
        return iter(self.read(piece.path, columns).select(columns).to_batches(max_chunksize=rows))

    def _nested(self, path: Path, columns: list[str]) -> tuple[Any, dict[str, Place] | None]:
        """The schema of a file and where columns are in it; None where each is a column of the file itself."""
        if not self.typed or not any("." in name for name in columns):
            return None, None
        schema = self.schema(path)
        if all(name in schema.names for name in columns):
            return schema, None
        return schema, roots(schema, columns)


def _roots(schema: Any, places: Mapping[str, Place]) -> list[str]:
    """The columns of a file that others are fields of."""
    return list(dict.fromkeys(schema.field(way[0]).name for way in places.values()))


def is_zipped(path: Path) -> bool:
    """Whether a file is gzipped as a whole, by its name."""
    return path.suffix.lower() == ".gz"


def opened(path: Path) -> Any:
    """What pyarrow reads: :func:`for_pyarrow`, or the content where the file is gzipped as a whole."""
    return pa.BufferReader(unzip(path.read_bytes(), path.name)) if is_zipped(path) else for_pyarrow(path)


def for_pyarrow(path: Path) -> Any:
    """The path itself, or the open file where pyarrow would take the name for another, or not at all.

    It puts somebody's home in the place of ``~``, also where a folder is called so, and takes no name that is not UTF-8.
    """
    name = str(path)
    try:
        name.encode()
    except UnicodeEncodeError:
        return pa.OSFile(os.fsencode(path))
    return pa.OSFile(name) if name.startswith("~") else path


def byte_stream(path: Path) -> Any:
    """The bytes of a file one after another, unzipped where it is gzipped."""
    return open_unzipped(path) if is_zipped(path) else path.open("rb")
