"""Arrow arrays of numbers as numpy arrays, from their buffers.

pyarrow's own ways (``to_numpy``, ``fill_null``, ``scalar``) import pandas where it is installed, which takes longer than
most audits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Mask = NDArray[np.bool_]


def numpy_of(data: Any, missing: float | None = None) -> NDArray[Any]:
    """An Arrow array of numbers or true/false as a numpy array, which shares its memory if it can.

    ``missing`` takes the place of missing values; without it there must be none.

    >>> numpy_of(pa.array([3, 1, 2])[1:]).tolist(), numpy_of(pa.array([True, None, False]), 0).tolist()
    ([1, 2], [True, False, False])
    """
    if isinstance(data, pa.ChunkedArray):
        parts = [numpy_of(chunk, missing) for chunk in data.chunks]
        return parts[0] if len(parts) == 1 else np.concatenate([*parts, np.empty(0, _dtype(data.type))])
    if data.null_count and missing is None:
        raise ValueError(f"{data.null_count:,} values are missing: say what takes their place")
    if pa.types.is_boolean(data.type):
        out: NDArray[Any] = _bits(data, 1)
    else:
        dtype = _dtype(data.type)
        buffer = data.buffers()[1]
        out = (
            np.empty(0, dtype)
            if not len(data)
            else np.frombuffer(buffer, dtype, len(data), data.offset * dtype.itemsize)
        )
    if data.null_count:
        out = out.copy()
        out[null_mask(data)] = missing
    return out


def float_of(data: Any) -> NDArray[np.float64]:
    """Decimals of at most 15 digits as the floats nearest to them; a missing one is 0.

    Arrow multiplies by a power of ten that no float is, which makes 0.35 a 0.35000000000000003.

    >>> from decimal import Decimal
    >>> float_of(pa.array([Decimal("0.35"), None, Decimal("-57.10")], pa.decimal128(6, 2))).tolist()
    [0.35, 0.0, -57.1]
    """
    if not len(data):
        return np.empty(0)
    words = data.type.bit_width // 64
    # The lower half of so few digits holds them all.
    kind, words = (np.dtype("<i4"), 1) if not words else (np.dtype("<i8"), words)
    digits = np.frombuffer(data.buffers()[1], kind)[data.offset * words : (data.offset + len(data)) * words : words]
    # Both are whole numbers that floats hold, so that their quotient is the nearest float.
    out = digits.astype(np.float64) / 10.0**data.type.scale
    out[null_mask(data)] = 0.0
    return out


def null_mask(data: Any) -> Mask:
    """Which values of an Arrow array are missing.

    >>> null_mask(pa.array([1, None, 3])[1:]).tolist()
    [True, False]
    """
    if isinstance(data, pa.ChunkedArray):
        return np.concatenate([np.zeros(0, dtype=bool), *(null_mask(chunk) for chunk in data.chunks)])
    if not data.null_count:
        return np.zeros(len(data), dtype=bool)
    if pa.types.is_null(data.type):
        return np.ones(len(data), dtype=bool)
    return ~_bits(data, 0)


def _bits(data: Any, buffer: int) -> Mask:
    """One of an array's buffers that has a bit for each value."""
    held = data.buffers()[buffer]
    if held is None or not len(data):
        return np.zeros(len(data), dtype=bool)
    first, last = data.offset // 8, -(-(data.offset + len(data)) // 8)
    bits = np.unpackbits(np.frombuffer(held, np.uint8, last - first, first), bitorder="little")
    start = data.offset - 8 * first
    return bits[start : start + len(data)].view(bool)


def is_number(kind: Any) -> bool:
    """Whether values of an Arrow type are whole numbers, floats or true/false."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind))


def _dtype(kind: Any) -> np.dtype[Any]:
    if not is_number(kind):
        raise TypeError(f"{kind} values are no numbers")
    if pa.types.is_boolean(kind):
        return np.dtype(bool)
    letter = "f" if pa.types.is_floating(kind) else "i" if pa.types.is_signed_integer(kind) else "u"
    return np.dtype(f"{letter}{kind.bit_width // 8}")


def arrow_of(values: NDArray[Any], missing: Mask | None = None) -> Any:
    """Numbers or true/false as an Arrow array, which shares their memory where it can.

    >>> arrow_of(np.array([1, 2]), np.array([False, True])).to_pylist(), arrow_of(np.array([True, False])).to_pylist()
    ([1, None], [True, False])
    """
    kind = pa.bool_() if values.dtype == bool else pa.from_numpy_dtype(values.dtype)
    held = _packed(values) if values.dtype == bool else pa.py_buffer(np.ascontiguousarray(values))
    there = None if missing is None else _packed(~missing)
    return pa.Array.from_buffers(kind, len(values), [there, held])


def arrow_text(values: Sequence[str], kind: Any = None) -> Any:
    """Text as an Arrow array of strings, or of a type of text.

    >>> arrow_text(["a", "", "é"]).to_pylist()
    ['a', '', 'é']
    """
    raw = [value.encode() for value in values]
    ends = np.zeros(len(raw) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in raw], out=ends[1:])
    made = pa.LargeStringArray.from_buffers(len(raw), pa.py_buffer(ends), pa.py_buffer(b"".join(raw)))
    return made.cast(pa.string() if kind is None else kind)


def _packed(bits: Mask) -> Any:
    return pa.py_buffer(np.packbits(bits, bitorder="little"))
