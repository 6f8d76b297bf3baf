"""TensorBoard's event files, written without TensorFlow: framed records of a few protocol-buffer messages."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_FLOAT, _STRING = 1, 7
_TENSOR_DATA = 2
# Castagnoli's polynomial, bits reversed, and the constant by which TensorFlow's record files mask a checksum.
_POLYNOMIAL, _MASK_DELTA = 0x82F63B78, 0xA282EAD8
_VARINT, _FIXED64, _BYTES = 0, 1, 2


class Tensor(NamedTuple):
    """One tensor under a tag: a matrix of numbers, or a list of texts."""

    tag: str
    values: NDArray[np.float32] | Sequence[str]


def event_file(tensors: Iterable[Tensor], plugin: str, step: int, wall_time: float) -> bytes:
    """The content of an event file with one event for each tensor."""
    version = _field(1, _FIXED64, struct.pack("<d", wall_time)) + _text(3, "brain.Event:2")
    events = [version]
    for tensor in tensors:
        plugin_data = _text(1, plugin)
        metadata = _message(1, plugin_data) + _number(4, _TENSOR_DATA)
        value = _text(1, tensor.tag) + _message(8, _tensor(tensor.values)) + _message(9, metadata)
        events.append(
            _field(1, _FIXED64, struct.pack("<d", wall_time)) + _number(2, step) + _message(5, _message(1, value))
        )
    return b"".join(_framed(event) for event in events)


def _tensor(values: NDArray[np.float32] | Sequence[str]) -> bytes:
    if isinstance(values, np.ndarray):
        content = np.ascontiguousarray(values, dtype="<f4").tobytes()
        return _number(1, _FLOAT) + _shape(values.shape) + _field(4, _BYTES, _varint(len(content)) + content)
    return _number(1, _STRING) + _shape((len(values),)) + b"".join(_text(8, text) for text in values)


def _shape(sizes: Sequence[int]) -> bytes:
    return _message(2, b"".join(_message(2, _number(1, size)) for size in sizes))


def _field(number: int, kind: int, content: bytes) -> bytes:
    return _varint(number << 3 | kind) + content


def _number(number: int, value: int) -> bytes:
    return _field(number, _VARINT, _varint(value))


def _message(number: int, content: bytes) -> bytes:
    return _field(number, _BYTES, _varint(len(content)) + content)


def _text(number: int, text: str) -> bytes:
    return _message(number, text.encode("utf-8", "backslashreplace"))


def _varint(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _framed(record: bytes) -> bytes:
    length = struct.pack("<Q", len(record))
    return length + _masked(length) + record + _masked(record)


def _masked(data: bytes) -> bytes:
    checksum = crc32c(data)
    rotated = (checksum >> 15 | checksum << 17) & 0xFFFFFFFF
    return struct.pack("<I", (rotated + _MASK_DELTA) & 0xFFFFFFFF)


def crc32c(data: bytes) -> int:
    """Castagnoli's checksum.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    table, checksum = _table(), 0xFFFFFFFF
    for byte in data:
        checksum = table[(checksum ^ byte) & 0xFF] ^ checksum >> 8
    return checksum ^ 0xFFFFFFFF


@cache
def _table() -> tuple[int, ...]:
    out = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (_POLYNOMIAL if value & 1 else 0)
        out.append(value)
    return tuple(out)
