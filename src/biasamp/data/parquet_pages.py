"""What a column of a Parquet file holds, by the headers of its pages. The file's footer says so too, but whoever made it may lie.

A header is a struct of Thrift's compact protocol (:mod:`.thrift`).
"""

from __future__ import annotations

import io
import os
import struct
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from .thrift import Numbers, numbers_and_structs

# Bytes of a page's header that are read at first, and at most, as Arrow has it: statistics of long texts make it long.
_FIRST, _MOST = 256, 16 << 20
# Arrow reads so many bytes more than the footer says, for the sake of an old writer.
_PADDING = 100
# Fields of a page's header, types of pages, and the fields in which data pages (also of version 2) say more.
_TYPE, _SIZE, _PACKED = 1, 2, 3
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_DETAILS = {_DATA: (5, 2), _DATA_2: (8, 4)}  # the field, and the number of the encoding within it
_BY_DICTIONARY, _BY_PREFIX = (2, 8), 7
# What stands before each text.
_LENGTH = struct.Struct("<I")


class ReadAt:
    """Reads bytes at places of a file."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream
        # What the system calls a file that can be read at any place at once.
        self._number = stream.fileno() if isinstance(stream, io.FileIO) and hasattr(os, "pread") else None

    @property
    def size(self) -> int:
        """Of the whole file."""
        return int(self._stream.seek(0, os.SEEK_END) or self._stream.tell())

    def __call__(self, place: int, size: int) -> bytes:
        """So many bytes, or as many as there are."""
        if place < 0:
            raise ValueError("it begins before the file does")
        if self._number is not None:
            return os.pread(self._number, size, place)
        self._stream.seek(place)
        return bytes(self._stream.read(size))


class Pages(NamedTuple):
    """The pages of a column of a row group: what they hold once decompressed, as far as Arrow will read them."""

    values: int
    stored: int  # bytes of all pages
    page: int  # of the largest
    dictionary: tuple[int, int, int] | None  # where its bytes begin, how many are stored, how many they become
    coded: bool  # whether values are codes of the dictionary
    prefixed: int  # bytes of pages whose values begin as the ones before

    @property
    def longest(self) -> int:
        """An upper bound of the bytes that one value takes beside those that are stored for it."""
        return self.prefixed + (self.dictionary[2] if self.coded and self.dictionary else 0)


def pages_of(chunk: Any, read_at: ReadAt) -> Pages:
    """Follow the pages of a column; ``pa.ArrowInvalid`` where they cannot be followed."""
    values = stored = largest = prefixed = 0
    dictionary: tuple[int, int, int] | None = None
    coded = False
    at = start = _start(chunk)
    wanted, ends = int(chunk.num_values), start + int(chunk.total_compressed_size)
    while values < wanted and at < ends + _PADDING:
        try:
            header, details, at = _header(at, read_at)
            if min(header.get(_SIZE, -1), header.get(_PACKED, -1)) < 0:
                raise ValueError("a page has no size")
        except ValueError as error:
            if start <= ends <= at:
                break
            raise pa.ArrowInvalid(f"the pages of {chunk.path_in_schema!r} cannot be followed: {error}") from None
        packed = header[_PACKED]
        # Without compression the first of the two sizes is read by nobody.
        size = max(header[_SIZE], packed)
        stored, largest = stored + size, max(largest, size)
        kind = header.get(_TYPE)
        if kind == _DICTIONARY:
            dictionary = dictionary or (at, packed, size)
        elif kind in _DETAILS:
            place, encoding_place = _DETAILS[kind]
            said = details.get(place, {})
            values += max(said.get(1, 0), 0)
            coded |= said.get(encoding_place) in _BY_DICTIONARY
            prefixed += size if said.get(encoding_place) == _BY_PREFIX else 0
        at += packed
    return Pages(values, stored, largest, dictionary, coded, prefixed)


def longest_text(chunk: Any, pages: Pages, read_at: ReadAt) -> int:
    """As :attr:`Pages.longest`, by the texts of the dictionary themselves."""
    if not pages.coded or pages.dictionary is None:
        return pages.longest
    place, packed, size = pages.dictionary
    raw = read_at(place, packed)
    if chunk.compression != "UNCOMPRESSED":
        try:
            raw = pa.Codec(chunk.compression.lower()).decompress(raw, size, asbytes=True)
        except (pa.ArrowException, ValueError, OSError):
            return pages.longest
    most = _longest_of(raw)
    return pages.longest if most is None else pages.prefixed + most


def _longest_of(raw: bytes) -> int | None:
    """The length of the longest of some texts, each behind four bytes with its length; None where they do not end so.

    >>> _longest_of(b"\\x02\\0\\0\\0ab\\x03\\0\\0\\0abc"), _longest_of(b"\\x02\\0\\0\\0abc")
    (3, None)
    """
    length_of = _LENGTH.unpack_from
    first = length_of(raw)[0] if len(raw) >= _LENGTH.size else 0
    if raw and len(raw) % (_LENGTH.size + first) == 0:
        # Ids mostly have one length: all are looked at together.
        texts = np.frombuffer(raw, dtype=np.uint8).reshape(-1, _LENGTH.size + first)
        if (texts[:, : _LENGTH.size] == texts[0, : _LENGTH.size]).all():
            return first
    at = most = 0
    while at + _LENGTH.size <= len(raw):
        (length,) = length_of(raw, at)
        most, at = max(most, length), at + _LENGTH.size + length
    return most if at == len(raw) else None


def _start(chunk: Any) -> int:
    """Where Arrow begins to read: at the dictionary, or at the data where that comes first."""
    data, dictionary = int(chunk.data_page_offset), chunk.dictionary_page_offset
    return min(data, int(dictionary)) if dictionary is not None and dictionary > 0 else data


def _header(at: int, read_at: ReadAt) -> tuple[Numbers, dict[int, Numbers], int]:
    """The header of a page, the structs in it, and where its content begins; ``ValueError`` where there is none."""
    size = _FIRST
    while True:
        raw = read_at(at, size)
        try:
            numbers, structs, end = numbers_and_structs(raw, 0)
            return numbers, structs, at + end
        except ValueError as error:
            raise ValueError(f"the header of a page {error}") from None
        except IndexError:
            pass  # more of it is needed
        if len(raw) < size or size >= _MOST:
            raise ValueError("the header of a page has no end")
        size = min(size * 16, _MOST)


@contextmanager
def reading_at(source: Any) -> Iterator[ReadAt]:
    """What reads bytes of a file, by its path or as a stream."""
    is_path = isinstance(source, (str, os.PathLike))
    with Path(source).open("rb", buffering=0) if is_path else nullcontext(source) as stream:
        yield ReadAt(stream)
