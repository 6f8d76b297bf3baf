"""How much a Parquet file holds once it is decoded, as far as a limit: a few kilobytes may stand for terabytes.

A column of one value is stored once, however many rows have it. Numbers take their width in every row. A text of a column's
dictionary may be in every row too, so rows of text are decoded few at a time where the dictionary is large.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from .byte_sizes import shown_bytes
from .unzipping import VARIABLE, unzipped_limit
from .ways_out import way_out

_WIDTHS = {"BOOLEAN": 1, "INT32": 4, "INT64": 8, "INT96": 12, "FLOAT": 4, "DOUBLE": 8}
# A text has an offset, and a list one for each of its items.
_OFFSET = 4
# Small batches are put together until they have so many bytes.
_TOGETHER = 64 << 20
# The beginning of a page's header that holds its size: three numbers of at most five bytes, each behind a mark.
_HEADER = 18
_NUMBER = 0x15


def read_parquet(source: Any, columns: Sequence[str] | None, name: str, raw: Any = None) -> Any:
    """Some columns of a Parquet file as a table; more than the limit is a ``ValueError`` before memory is taken.

    ``source`` is what pyarrow reads, ``name`` what messages call the file. ``raw`` is the content as
    a stream where it is not in a file.
    """
    with pq.ParquetFile(source) as file:
        limit = unzipped_limit()
        groups = range(file.metadata.num_row_groups)
        chunks = [chunk for group in groups for chunk in _chunks(file.metadata, group, columns)]
        least = sum(_least(chunk) for chunk in chunks)
        if least > limit:
            raise _too_large(name, limit, least)
        most = least + sum(chunk.num_values * _longest(chunk, source, raw) for chunk in chunks)
        if most <= limit:
            return file.read(columns=None if columns is None else list(columns))
        total, batches = 0, []
        for batch in _few_rows(file, list(groups), columns, (), 1 << 17, source, raw):
            total += batch.nbytes
            if total > limit:
                raise _too_large(name, limit)
            batches.append(batch)
        schema = batches[0].schema if batches else file.read(columns=columns).schema
        return pa.Table.from_batches(batches, schema)


def parquet_shape(path: Path) -> tuple[int, int]:
    """How many rows and columns a Parquet file has, by its footer."""
    metadata = pq.read_metadata(path)
    return metadata.num_rows, metadata.num_columns


def parquet_batches(
    source: Any, columns: Sequence[str], groups: Sequence[int], coded: Collection[str], rows: int, name: str, raw: Any
) -> Iterator[Any]:
    """Batches of at most ``rows`` rows of some row groups (none: all); columns ``coded`` are codes of their dictionary."""
    with pq.ParquetFile(source, read_dictionary=list(coded), pre_buffer=False) as file:
        limit = unzipped_limit()
        for group in groups or range(file.metadata.num_row_groups):
            # What is decoded of a group at once: its pages, and the items of its lists.
            held = sum(_at_once(chunk, rows) for chunk in _chunks(file.metadata, group, columns))
            if held > limit:
                raise _too_large(name, limit, held)
        yield from _few_rows(file, list(groups) or None, columns, coded, rows, source, raw)


def _few_rows(
    file: Any,
    groups: Sequence[int] | None,
    columns: Sequence[str] | None,
    coded: Collection[str],
    rows: int,
    source: Any,
    raw: Any,
) -> Iterator[Any]:
    """Batches for which there is room even if every row has the longest text; small ones are put together."""
    wanted = range(file.metadata.num_row_groups) if groups is None else groups
    chunks = [
        [chunk for chunk in _chunks(file.metadata, group, columns) if chunk.path_in_schema not in coded]
        for group in wanted
    ]
    longest = max((sum(_longest(chunk, source, raw) for chunk in held) for held in chunks), default=0)
    # Half of the limit for a batch, and half for those before it that it is put together with.
    most = unzipped_limit() // 2
    if raw is None and rows * longest > most:
        # Whole dictionaries are a bound that is too large for many short texts: look at them.
        pairs = zip(wanted, chunks, strict=True)
        longest = max(sum(_longest_text(chunk, source, group) for chunk in held) for group, held in pairs)
    few = max(1, min(rows, most // max(longest, 1)))
    names = None if columns is None else list(columns)
    batches = file.iter_batches(batch_size=few, row_groups=list(wanted), columns=names, use_threads=False)
    if few == rows:
        yield from batches
        return
    together: list[Any] = []
    count = size = 0
    for batch in batches:
        held = batch.nbytes
        if together and (count + len(batch) > rows or size + held > min(_TOGETHER, most)):
            yield _one_batch(together)
            together, count, size = [], 0, 0
        together.append(batch)
        count, size = count + len(batch), size + held
    if together:
        yield _one_batch(together)


def _one_batch(batches: list[Any]) -> Any:
    table = pa.Table.from_batches(batches).combine_chunks()
    return next(iter(table.to_batches()), batches[0])


def _chunks(metadata: Any, group: int, columns: Sequence[str] | None) -> Iterator[Any]:
    """What a row group holds of some columns; a column of lists or fields has several names below its own."""
    held = metadata.row_group(group)
    for place in range(held.num_columns):
        chunk = held.column(place)
        if columns is None or chunk.path_in_schema in columns or chunk.path_in_schema.partition(".")[0] in columns:
            yield chunk


def _least(chunk: Any) -> int:
    """Bytes that a column takes of a row group: as stored without compression, or a width for every value."""
    return max(int(chunk.total_uncompressed_size), int(chunk.num_values) * _width(chunk))


def _at_once(chunk: Any, rows: int) -> int:
    """Bytes that a batch takes: a page for each row at most, all of it where rows are lists of unknown length."""
    lists = "." in chunk.path_in_schema
    values = int(chunk.num_values) if lists else min(int(chunk.num_values), rows)
    return max(values * _width(chunk), int(chunk.total_uncompressed_size) if lists else 0)


def _width(chunk: Any) -> int:
    return _WIDTHS.get(chunk.physical_type, _OFFSET)


def _longest(chunk: Any, source: Any, raw: Any) -> int:
    """An upper bound of the bytes that one value takes beside those that are stored for it: all of its dictionary."""
    if chunk.physical_type not in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY") or not chunk.has_dictionary_page:
        return 0
    place = chunk.dictionary_page_offset
    stored = int(chunk.total_uncompressed_size)
    if place is None or place < 0:
        return stored
    if raw is None:
        with Path(source).open("rb") as file:
            file.seek(place)
            head = file.read(_HEADER)
    else:
        raw.seek(place)
        head = raw.read(_HEADER)
    size = _page_size(head)
    return stored if size is None else min(size, stored)


def _longest_text(chunk: Any, source: Any, group: int) -> int:
    """As :func:`_longest`, by the texts of the dictionary themselves."""
    bound, name = _longest(chunk, source, None), chunk.path_in_schema
    if not bound or "." in name:
        return bound
    with pq.ParquetFile(source, read_dictionary=[name], pre_buffer=False) as file:
        batch = next(file.iter_batches(batch_size=1, row_groups=[group], columns=[name], use_threads=False), None)
    column = None if batch is None else batch.column(0)
    if column is None or not pa.types.is_dictionary(column.type):
        return bound
    sizes = pc.binary_length(column.dictionary)
    # Each text is stored behind four bytes with its length: only a dictionary that fills its page is the whole one.
    whole = (pc.sum(sizes).as_py() or 0) + _OFFSET * len(sizes) == bound
    return int(pc.max(sizes).as_py() or 0) if whole else bound


def _page_size(head: bytes) -> int | None:
    """The size of a page once decompressed, its header's second number; None where it is not found."""
    numbers: list[int] = []
    at = 0
    while len(numbers) < 2:
        if at >= len(head) or head[at] != _NUMBER:
            return None
        at, number, shift = at + 1, 0, 0
        while at < len(head):
            byte = head[at]
            number |= (byte & 0x7F) << shift
            at, shift = at + 1, shift + 7
            if not byte & 0x80:
                break
        else:
            return None
        numbers.append(number >> 1 if not number & 1 else -1)
    return numbers[1] if numbers[1] >= 0 else None


def _too_large(name: str, limit: int, size: int | None = None) -> ValueError:
    found = f"more than {shown_bytes(limit)}" if size is None else f"{shown_bytes(size)}"
    return ValueError(
        f"{name} holds {found} once it is decoded, and {shown_bytes(limit)} is the limit for a compressed file that is read "
        f"into memory. If that is right, {way_out('parts')}, or raise the limit: {VARIABLE}=20GB in the environment"
    )
