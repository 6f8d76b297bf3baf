"""Parquet files byte by byte, so that footers and headers of pages may lie. No writer makes such files."""

from __future__ import annotations

import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

# Kinds of fields in Thrift's compact protocol.
I32, I64, TEXT, LIST, STRUCT = 5, 6, 8, 9, 12
INT64, BYTES, FIXED = 2, 6, 7
PLAIN, PREFIXED, BY_DICTIONARY = 0, 7, 8
Fields = Sequence[tuple[int, int, Any]]
Column = tuple[Callable[[int], Fields], Sequence[bytes]]


def varint(number: int) -> bytes:
    out = bytearray()
    while number > 0x7F:
        out.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*out, number])


def packed(fields: Fields) -> bytes:
    """A struct."""
    out, last = b"", 0
    for number, kind, held in fields:
        out += bytes([(number - last) << 4 | kind]) + _value(kind, held)
        last = number
    return out + b"\0"


def _value(kind: int, held: Any) -> bytes:
    if kind in (I32, I64):
        return varint(held << 1 if held >= 0 else (-held << 1) - 1)
    if kind == TEXT:
        return varint(len(held)) + bytes(held)
    if kind == STRUCT:
        return packed(held)
    inner, items = held
    head = bytes([len(items) << 4 | inner]) if len(items) < 15 else bytes([0xF0 | inner]) + varint(len(items))
    return head + b"".join(_value(inner, item) for item in items)


def same(times: int, value: int) -> bytes:
    """A run of one value of one bit."""
    return varint(times << 1) + bytes([value])


def levels(*runs: tuple[int, int]) -> bytes:
    """Runs of levels, behind their length."""
    raw = b"".join(same(*run) for run in runs)
    return struct.pack("<I", len(raw)) + raw


def dictionary_page(content: bytes, size: int | None = None) -> bytes:
    """A dictionary of one value, whose header may say another size."""
    fields = [(1, I32, 2), (2, I32, len(content) if size is None else size), (3, I32, len(content))]
    return packed([*fields, (7, STRUCT, [(1, I32, 1), (2, I32, PLAIN)])]) + content


def data_page(content: bytes, values: int, encoding: int = BY_DICTIONARY) -> bytes:
    fields = [(1, I32, 0), (2, I32, len(content)), (3, I32, len(content))]
    said = [(1, I32, values), (2, I32, encoding), (3, I32, 3), (4, I32, 3)]
    return packed([*fields, (5, STRUCT, said)]) + content


def codes(values: int) -> bytes:
    """As many codes of the first value of the dictionary, in a few bytes."""
    return bytes([1]) + same(values, 0)


def text(content: bytes) -> bytes:
    return struct.pack("<I", len(content)) + content


def column(
    path: Sequence[str],
    kind: int,
    pages: Sequence[bytes],
    values: int,
    *,
    size: int | None = None,
    first: int = 0,
    dictionary: int | None = None,
    more: Fields = (),
    beside: Fields = (),
) -> Column:
    """A column of a row group; ``first`` is the page at which data begin, ``dictionary`` the one of the dictionary.

    ``more`` are further fields of what it says of itself, ``beside`` of what is said beside that.
    """

    def said(start: int) -> Fields:
        total, places = sum(map(len, pages)), [start + sum(map(len, pages[:i])) for i in range(len(pages))]
        fields: list[tuple[int, int, Any]] = [
            (1, I32, kind),
            (2, LIST, (I32, [PLAIN, 3, BY_DICTIONARY])),
            (3, LIST, (TEXT, [name.encode() for name in path])),
            (4, I32, 0),
            (5, I64, values),
            (6, I64, total if size is None else size),
            (7, I64, total),
            (9, I64, places[first]),
        ]
        if dictionary is not None:
            fields.append((11, I64, places[dictionary]))
        return [(2, I64, 0), (3, STRUCT, [*fields, *more]), *beside]

    return said, pages


def numbers(name: str, rows: int) -> Column:
    """A right column of ones."""
    pages = [dictionary_page(struct.pack("<q", 1)), data_page(codes(rows), rows)]
    return column([name], INT64, pages, rows, first=1, dictionary=0)


def element(
    name: str, kind: int | None, *, fields: int = 0, repeated: int = 0, length: int = 0, note: int | None = None
) -> Fields:
    """A field of the schema: ``repeated`` is 1 where values may be missing, 2 where there are many."""
    out: list[tuple[int, int, Any]] = [] if kind is None else [(1, I32, kind)]
    out += [(2, I32, length)] if length else []
    out += [(3, I32, repeated), (4, TEXT, name.encode())]
    out += [(5, I32, fields)] if fields else []
    return out + ([] if note is None else [(6, I32, note)])


def write_forged(path: Path, schema: Sequence[Fields], columns: Sequence[Column], rows: int) -> Path:
    """A file of one row group."""
    out = bytearray(b"PAR1")
    said = []
    for tells, pages in columns:
        said.append(tells(len(out)))
        out += b"".join(pages)
    top = [(4, TEXT, b"schema"), (5, I32, len(columns))]
    groups = [[(1, LIST, (STRUCT, said)), (2, I64, len(out)), (3, I64, rows)]]
    footer = packed([(1, I32, 2), (2, LIST, (STRUCT, [top, *schema])), (3, I64, rows), (4, LIST, (STRUCT, groups))])
    path.write_bytes(bytes(out) + footer + struct.pack("<I", len(footer)) + b"PAR1")
    return path
