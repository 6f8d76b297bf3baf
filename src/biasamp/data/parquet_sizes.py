"""How much a Parquet file holds once it is decoded, as far as a limit: a few kilobytes may stand for terabytes.

A column of one value is stored once, however many rows have it. Numbers take their width in every row. A text of a column's
dictionary may be in every row too, so rows of text are decoded few at a time where the dictionary is large. What the footer
says is held against the headers of the pages themselves (:mod:`.parquet_pages`).
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from .byte_sizes import shown_bytes
from .file_format import for_pyarrow
from .parquet_footer import Chunk, RowGroup, row_groups
from .parquet_pages import Pages, ReadAt, longest_text, pages_of, reading_at
from .unzipping import VARIABLE, unzipped_limit
from .ways_out import way_out

_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
# A text has an offset, and a list one for each of its items; a decimal number has its largest width.
_OFFSET, _DECIMAL = 4, 32
# Small batches are put together until they have so many bytes.
_TOGETHER = 64 << 20


def read_parquet(source: Any, columns: Sequence[str] | None, name: str) -> Any:
    """Some columns of a Parquet file as a table; more than the limit is a ``ValueError`` before memory is taken.

    ``source`` is what pyarrow reads, ``name`` what messages call the file.
    """
    with pq.ParquetFile(source) as file, reading_at(source) as read_at:
        limit = unzipped_limit()
        groups = row_groups(read_at)
        held = [[*_columns(file.metadata, group, columns, read_at)] for group in groups]
        least = sum(column.least for group in held for column in group)
        if least > limit:
            raise _too_large(name, limit, least)
        if least + sum(column.values * column.longest(read_at, limit) for group in held for column in group) <= limit:
            table = file.read(columns=None if columns is None else list(columns))
            _check_rows(table.num_rows, [group.rows for group in groups])
            return table
        total, batches = 0, []
        for batch in _few_rows(file, range(len(groups)), held, columns, (), 1 << 17, read_at, name):
            total += batch.nbytes
            if total > limit:
                raise _too_large(name, limit)
            batches.append(batch)
        schema = batches[0].schema if batches else file.read(columns=columns).schema
        return pa.Table.from_batches(batches, schema)


def parquet_shape(path: Path) -> tuple[int, int]:
    """How many rows and columns a Parquet file has, by its footer."""
    metadata = pq.read_metadata(for_pyarrow(path))
    return metadata.num_rows, metadata.num_columns


def parquet_rows(source: Any) -> list[int]:
    """How many rows each row group has."""
    with reading_at(source) as read_at:
        return [group.rows for group in row_groups(read_at)]


def parquet_batches(
    source: Any, columns: Sequence[str], groups: Sequence[int], coded: Collection[str], rows: int, name: str
) -> Iterator[Any]:
    """Batches of at most ``rows`` rows of some row groups (none: all).

    Columns ``coded`` are codes of their dictionary, or text where they are stored so that Arrow makes no codes of them.
    """
    with reading_at(source) as read_at:
        metadata = pq.read_metadata(source)
        there = row_groups(read_at)
        wanted = groups or range(len(there))
        limit = unzipped_limit()
        held = []
        for group in wanted:
            held.append([*_columns(metadata, there[group], columns, read_at)])
            # What is decoded of a group at once: its pages, and the items of its lists.
            size = sum(column.at_once(rows) for column in held[-1])
            if size > limit:
                raise _too_large(name, limit, size)
        text = {column.name for group in held for column in group if column.pages.prefixed}
        codes = [column for column in coded if column not in text]
        with pq.ParquetFile(source, metadata=metadata, read_dictionary=codes, pre_buffer=False) as file:
            yield from _few_rows(file, wanted, held, columns, codes, rows, read_at, name)


def _few_rows(
    file: Any,
    groups: Sequence[int],
    held: Sequence[Sequence[_Column]],
    columns: Sequence[str] | None,
    coded: Collection[str],
    rows: int,
    read_at: ReadAt,
    name: str,
) -> Iterator[Any]:
    """Batches for which there is room even if every row has the longest text; small ones are put together."""
    # Half of the limit for a batch, and half for those before it that it is put together with.
    limit = unzipped_limit()
    most, longest = limit // 2, 0
    for group in held:
        texts = [column for column in group if column.name not in coded]
        # All items of a list may be in one row.
        listed = sum(column.values * column.longest(read_at, limit) for column in texts if column.is_list)
        if listed > limit:
            raise _too_large(name, limit, listed)
        longest = max(longest, sum(column.longest(read_at, most, rows) for column in texts if not column.is_list))
    few = max(1, min(rows, most // max(longest, 1)))
    names = None if columns is None else list(columns)
    there = row_groups(read_at)
    sizes = [there[group].rows for group in groups]
    # Batches that begin with a row group, where that does not make them small: Arrow need not copy what it decodes.
    apart = max(sizes, default=0) <= few < 2 * sum(sizes) // max(len(sizes), 1)
    runs = [[group] for group in groups] if apart else [list(groups)]
    batches = chain.from_iterable(
        file.iter_batches(batch_size=few, row_groups=run, columns=names, use_threads=False) for run in runs
    )
    found = 0
    together: list[Any] = []
    count = size = 0
    for batch in batches:
        found += len(batch)
        if few == rows:
            yield batch
            continue
        more = batch.nbytes
        if together and (count + len(batch) > rows or size + more > min(_TOGETHER, most)):
            yield _one_batch(together)
            together, count, size = [], 0, 0
        together.append(batch)
        count, size = count + len(batch), size + more
    if together:
        yield _one_batch(together)
    _check_rows(found, sizes)


def _one_batch(batches: list[Any]) -> Any:
    table = pa.Table.from_batches(batches).combine_chunks()
    return next(iter(table.to_batches()), batches[0])


def _check_rows(found: int, sizes: Sequence[int]) -> None:
    """Refuse a file whose pages end before the rows of its row groups do."""
    said = sum(sizes)
    if found != said:
        raise pa.ArrowInvalid(f"{found:,} of its {said:,} rows are there")


class _Column(NamedTuple):
    """A column of a row group."""

    name: str
    chunk: Chunk
    pages: Pages
    width: int
    is_text: bool
    is_list: bool

    @property
    def values(self) -> int:
        """How many are read: all of a list's, whatever the footer says."""
        return self.pages.values if self.is_list else int(self.chunk.num_values)

    @property
    def least(self) -> int:
        """Bytes that it takes: as stored without compression, or a width for every value."""
        return max(self.pages.stored, self.values * self.width)

    def at_once(self, rows: int) -> int:
        """Bytes that a batch takes: a page and a width for each row, all of it where rows are lists of unknown length."""
        return self.least if self.is_list else max(self.pages.page, min(self.values, rows) * self.width)

    def longest(self, read_at: ReadAt, room: int, rows: int | None = None) -> int:
        """An upper bound of the bytes that one value takes beside those that are stored for it.

        Whole dictionaries are a bound that is too large for many short texts. Where there is no room for so many values, their
        texts are looked at.
        """
        bound = self.pages.longest if self.is_text else 0
        values = self.values if rows is None else min(rows, self.values)
        return bound if values * bound <= room else longest_text(self.chunk, self.pages, read_at)


def _columns(metadata: Any, group: RowGroup, columns: Sequence[str] | None, read_at: ReadAt) -> Iterator[_Column]:
    """What a row group holds of some columns; a column of lists or fields has several names below its own."""
    for place in range(metadata.num_columns):
        schema = metadata.schema.column(place)
        name = schema.path
        if columns is not None and name not in columns and name.partition(".")[0] not in columns:
            continue
        chunk = group.chunk(place, name)
        is_list = schema.max_repetition_level > 0
        if not is_list and chunk.num_values != group.rows:
            raise pa.ArrowInvalid(f"column {name!r} has {chunk.num_values:,} values for {group.rows:,} rows")
        pages = pages_of(chunk, read_at)
        if pages.values < chunk.num_values:
            raise pa.ArrowInvalid(f"column {name!r} has {pages.values:,} of its {chunk.num_values:,} values")
        kind = schema.physical_type
        width = schema.length if kind == "FIXED_LEN_BYTE_ARRAY" else _WIDTHS.get(kind, 0)
        if schema.converted_type == "DECIMAL":
            width = max(width, _DECIMAL)
        yield _Column(name, chunk, pages, max(width, _OFFSET), kind == "BYTE_ARRAY", is_list)


def _too_large(name: str, limit: int, size: int | None = None) -> ValueError:
    found = f"more than {shown_bytes(limit)}" if size is None else f"{shown_bytes(size)}"
    return ValueError(
        f"{name} holds {found} once it is decoded, and {shown_bytes(limit)} is the limit for a compressed file that is read "
        f"into memory. If that is right, {way_out('parts')}, or raise the limit: {VARIABLE}=20GB in the environment"
    )
