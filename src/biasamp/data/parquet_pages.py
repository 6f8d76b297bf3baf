"""What a column of a Parquet file holds, by the headers of its pages. The file's footer says so too, but whoever made it may lie.

A header is a struct of Thrift's compact protocol. Numbers and structs are kept, everything else is passed over, as Arrow does
when it reads the same bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

# Bytes of a page's header that are read at first, and at most, as Arrow has it: statistics of long texts make it long.
_FIRST, _MOST = 256, 16 << 20
_DEPTH = 16
# Arrow reads so many bytes more than the footer says, for the sake of an old writer.
_PADDING = 100
# Kinds of fields: a number of 32 bits, and a struct.
_I32, _STRUCT = 5, 12
# Fields of a page's header, types of pages, and the fields in which data pages (also of version 2) say more.
_TYPE, _SIZE, _PACKED = 1, 2, 3
_DATA, _DICTIONARY, _DATA_2 = 0, 2, 3
_DETAILS = {_DATA: (5, 2), _DATA_2: (8, 4)}  # the field, and the number of the encoding within it
_BY_DICTIONARY, _BY_PREFIX = (2, 8), 7

ReadAt = Callable[[int, int], bytes]
Numbers = dict[int, int]


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
        name = {"LZ4": "lz4_raw"}.get(chunk.compression, chunk.compression.lower())
        try:
            raw = pa.Codec(name).decompress(raw, size, asbytes=True)
        except (pa.ArrowException, ValueError, OSError):
            return pages.longest
    # Each text stands behind four bytes with its length.
    at = most = 0
    while at + 4 <= len(raw):
        length = int.from_bytes(raw[at : at + 4], "little")
        most, at = max(most, length), at + 4 + length
    return pages.prefixed + most if at == len(raw) else pages.longest


def _start(chunk: Any) -> int:
    """Where Arrow begins to read: at the dictionary, or at the data where that comes first."""
    data, dictionary = int(chunk.data_page_offset), chunk.dictionary_page_offset
    return min(data, int(dictionary)) if dictionary is not None and dictionary > 0 else data


def _header(at: int, read_at: ReadAt) -> tuple[Numbers, dict[int, Numbers], int]:
    """The header of a page, the structs in it, and where its content begins; ``ValueError`` where there is none."""
    size = _FIRST
    while True:
        raw = read_at(at, size)
        with suppress(IndexError):  # more of it is needed
            numbers, structs, end = _struct(raw, 0, 0)
            return numbers, structs, at + end
        if len(raw) < size or size >= _MOST:
            raise ValueError("the header of a page has no end")
        size = min(size * 16, _MOST)


def _struct(raw: bytes, at: int, depth: int) -> tuple[Numbers, dict[int, Numbers], int]:
    """The numbers of a struct and those of the structs in it, the last of each field, and where it ends."""
    if depth > _DEPTH:
        raise ValueError("the header of a page is nested too deeply")
    numbers: Numbers = {}
    structs: dict[int, Numbers] = {}
    field = 0
    while head := raw[at]:
        at += 1
        if head >> 4:
            field += head >> 4
        else:
            field, at = _whole_number(raw, at)
        kind = head & 15
        if kind == _I32:
            numbers[field], at = _whole_number(raw, at)
        elif kind == _STRUCT:
            structs[field], _, at = _struct(raw, at, depth + 1)
        elif kind > 2:  # true and false have no bytes of their own
            at = _after(raw, at, kind, depth + 1)
    return numbers, structs, at + 1


def _after(raw: bytes, at: int, kind: int, depth: int) -> int:
    """Where a value ends that is passed over."""
    if depth > _DEPTH:
        raise ValueError("the header of a page is nested too deeply")
    if kind in (1, 2, 3):
        return at + 1
    if kind in (4, 5, 6):
        return _number(raw, at)[1]
    if kind == 7:
        return at + 8
    if kind == 8:
        length, at = _number(raw, at)
        return at + length
    if kind in (9, 10):
        head, at = raw[at], at + 1
        count = head >> 4
        if count == 15:
            count, at = _number(raw, at)
        return _after_all(raw, at, [head & 15], count, depth)
    if kind == 11:
        count, at = _number(raw, at)
        if not count:
            return at
        return _after_all(raw, at + 1, [raw[at] >> 4, raw[at] & 15], count, depth)
    if kind == _STRUCT:
        return _struct(raw, at, depth)[2]
    raise ValueError("the header of a page has a field of no known kind")


def _after_all(raw: bytes, at: int, kinds: list[int], count: int, depth: int) -> int:
    if count > len(raw):  # each has a byte at least
        raise IndexError
    for _ in range(count):
        for kind in kinds:
            at = _after(raw, at, kind, depth + 1)
            if at > len(raw):
                raise IndexError
    return at


def _number(raw: bytes, at: int) -> tuple[int, int]:
    """A number in groups of seven bits, the lowest first, and where it ends."""
    number = shift = 0
    while True:
        byte = raw[at]
        number |= (byte & 0x7F) << shift
        at, shift = at + 1, shift + 7
        if not byte & 0x80:
            return number, at
        if shift > 63:
            raise ValueError("the header of a page has a number without end")


def _whole_number(raw: bytes, at: int) -> tuple[int, int]:
    """A number of 32 bits whose lowest bit is its sign."""
    number, at = _number(raw, at)
    number &= 0xFFFFFFFF
    return (number >> 1) ^ -(number & 1), at


@contextmanager
def reading_at(source: Any, raw: Any) -> Iterator[ReadAt]:
    """A function that reads bytes of a file, or of its content where ``raw`` is a stream of it."""
    with nullcontext(raw) if raw is not None else Path(source).open("rb", buffering=0) as stream:

        def read_at(place: int, size: int) -> bytes:
            if place < 0:
                raise ValueError("it begins before the file does")
            stream.seek(place)
            return bytes(stream.read(size))

        yield read_at
