"""The row groups of a Parquet file, by its footer.

pyarrow describes the columns of a row group too, but it ends the process where what they say of themselves does not fit together.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import pyarrow as pa

from .parquet_pages import ReadAt
from .thrift import I32, I64, LIST, STRUCT, after, field_head, list_head, whole_number

# Fields that are wanted: of a number its kind, of a struct its fields, of a list those of each of its structs.
_COLUMN = {4: I32, 5: I64, 7: I64, 9: I64, 11: I64}
_GROUP: dict[int, Any] = {1: [{3: _COLUMN}], 3: I64}
_FOOTER: dict[int, Any] = {4: [_GROUP]}
_CODECS = {0: "UNCOMPRESSED", 1: "SNAPPY", 2: "GZIP", 4: "BROTLI", 6: "ZSTD", 7: "LZ4_RAW"}
_END = 8  # bytes behind the footer: its length, and who it is


class Chunk(NamedTuple):
    """A column of a row group, in the words of pyarrow."""

    path_in_schema: str
    num_values: int
    total_compressed_size: int
    data_page_offset: int
    dictionary_page_offset: int | None
    compression: str


class RowGroup(NamedTuple):
    """A row group, and what the footer says of its columns."""

    rows: int
    columns: tuple[dict[int, int], ...]

    def chunk(self, place: int, path: str) -> Chunk:
        """A column by its place in the schema, where ``path`` is its name."""
        if place >= len(self.columns):
            raise pa.ArrowInvalid(f"a row group has {len(self.columns):,} columns, without {path!r}")
        said = self.columns[place]
        if not {5, 7, 9} <= said.keys():
            raise pa.ArrowInvalid(f"the footer does not say where {path!r} is")
        return Chunk(path, said[5], said[7], said[9], said.get(11), _CODECS.get(said.get(4, 0), "UNKNOWN"))


def row_groups(read_at: ReadAt) -> tuple[RowGroup, ...]:
    """The row groups of a file whose footer pyarrow has read; ``pa.ArrowInvalid`` where it cannot be followed."""
    end = read_at.size - _END
    length = int.from_bytes(read_at(max(end, 0), 4), "little")
    if length > end:
        raise pa.ArrowInvalid("the file has no footer")
    return _groups(read_at(end - length, length))


# The parts of a file have one footer, and each asks for it.
@lru_cache(maxsize=4)
def _groups(footer: bytes) -> tuple[RowGroup, ...]:
    try:
        held = _read(footer, 0, _FOOTER, {})[0]
    except IndexError:
        raise pa.ArrowInvalid("the footer has no end") from None
    except ValueError as error:
        raise pa.ArrowInvalid(f"the footer {error}") from None
    return tuple(
        RowGroup(group.get(3, 0), tuple(column.get(3, {}) for column in group.get(1, ()))) for group in held.get(4, ())
    )


def _read(raw: bytes, at: int, wanted: dict[int, Any], held: dict[int, Any]) -> tuple[dict[int, Any], int]:
    """The wanted fields of a struct, and where it ends. A struct that is there twice is filled twice, as Arrow does."""
    field = 0
    while raw[at]:
        kind, field, at = field_head(raw, at, field)
        want = wanted.get(field)
        if kind in (I32, I64) and want == kind:
            held[field], at = whole_number(raw, at, 32 if kind == I32 else 64)
        elif kind == STRUCT and isinstance(want, dict):
            held[field], at = _read(raw, at, want, held.get(field, {}))
        elif kind == LIST and isinstance(want, list):
            inner, count, at = list_head(raw, at)
            if inner != STRUCT and count:
                raise ValueError("has a list of something else than row groups or columns")
            items = held[field] = []
            for _ in range(count):
                item, at = _read(raw, at, want[0], {})
                items.append(item)
        elif kind > 2:  # true and false have no bytes of their own
            at = after(raw, at, kind, 1)
    return held, at + 1
