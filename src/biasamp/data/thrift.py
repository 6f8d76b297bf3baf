"""Thrift's compact protocol, in which Parquet keeps its footer and the headers of its pages.

Numbers and structs are kept, everything else is passed over, as Arrow does when it reads the same bytes. ``IndexError`` says that
the bytes end too early, ``ValueError`` what is wrong with them, as in "the footer has a number without end".
"""

from __future__ import annotations

# Kinds of fields.
I32, I64, _BINARY, LIST, STRUCT = 5, 6, 8, 9, 12
_DEPTH = 16

Numbers = dict[int, int]


def numbers_and_structs(raw: bytes, at: int, depth: int = 0) -> tuple[Numbers, dict[int, Numbers], int]:
    """The numbers of a struct and those of the structs in it, the last of each field, and where it ends."""
    if depth > _DEPTH:
        raise ValueError("is nested too deeply")
    numbers: Numbers = {}
    structs: dict[int, Numbers] = {}
    field = 0
    # A large file has thousands of such structs, so that nothing is called for what most of them consist of.
    while head := raw[at]:
        at += 1
        kind = head & 15
        if head >> 4:
            field += head >> 4
        else:
            field, at = whole_number(raw, at, 16)
        if kind == I32:
            number = raw[at]
            if number < 0x80:
                numbers[field], at = (number >> 1) ^ -(number & 1), at + 1
            else:
                numbers[field], at = whole_number(raw, at)
        elif kind == _BINARY and raw[at] < 0x80:
            at += 1 + raw[at]
        elif kind == STRUCT:
            structs[field], _, at = numbers_and_structs(raw, at, depth + 1)
        elif kind > 2:  # true and false have no bytes of their own
            at = after(raw, at, kind, depth + 1)
    return numbers, structs, at + 1


def after(raw: bytes, at: int, kind: int, depth: int) -> int:
    """Where a value ends that is passed over."""
    if depth > _DEPTH:
        raise ValueError("is nested too deeply")
    if kind in (1, 2, 3):
        return at + 1
    if kind in (4, 5, 6):
        return _number(raw, at)[1]
    if kind == 7:
        return at + 8
    if kind == _BINARY:
        length, at = _number(raw, at)
        return at + length
    if kind in (9, 10):
        inner, count, at = list_head(raw, at)
        return _after_all(raw, at, [inner], count, depth)
    if kind == 11:
        count, at = _number(raw, at)
        if not count:
            return at
        return _after_all(raw, at + 1, [raw[at] >> 4, raw[at] & 15], count, depth)
    if kind == STRUCT:
        return numbers_and_structs(raw, at, depth)[2]
    raise ValueError("has a field of no known kind")


def _after_all(raw: bytes, at: int, kinds: list[int], count: int, depth: int) -> int:
    if count > len(raw):  # each has a byte at least
        raise IndexError
    for _ in range(count):
        for kind in kinds:
            at = after(raw, at, kind, depth + 1)
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
            raise ValueError("has a number without end")


def field_head(raw: bytes, at: int, field: int) -> tuple[int, int, int]:
    """The kind and the number of the field that follows ``field``, and where its value begins."""
    head, at = raw[at], at + 1
    if head >> 4:
        return head & 15, field + (head >> 4), at
    field, at = whole_number(raw, at, 16)
    return head & 15, field, at


def list_head(raw: bytes, at: int) -> tuple[int, int, int]:
    """The kind of a list's items, how many they are, and where they begin."""
    head, at = raw[at], at + 1
    count = head >> 4
    if count == 15:
        count, at = _number(raw, at)
    if count > len(raw):  # each has a byte at least
        raise IndexError
    return head & 15, count, at


def whole_number(raw: bytes, at: int, bits: int = 32) -> tuple[int, int]:
    """A number of so many bits whose lowest one is its sign."""
    number, at = _number(raw, at)
    number &= (1 << bits) - 1
    return (number >> 1) ^ -(number & 1), at
