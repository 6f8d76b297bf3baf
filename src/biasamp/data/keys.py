"""A record's key: 64 bits that decide its resampling weights, whatever the batch, engine or machine.

A key comes from the record's id, or else from its place (source and row), never from what the record
says: two records that say the same are still two records.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Keys = NDArray[np.uint64]

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
MIX_2 = np.uint64(0x94D049BB133111EB)
# An odd multiplier has an inverse modulo 2**64, which lets one cumulative sum hash every string at once.
_RADIX = 0x9FB21C651E98DF25
RADIX_INVERSE = pow(_RADIX, -1, 1 << 64)
# Strings for each byte of the longest, from which on those of one length are taken together.
_MANY = 64
# Strings whose bytes are looked at together.
_AT_ONCE = 1 << 13


def mix(values: Keys) -> Keys:
    """Spread 64-bit integers over all 64 bits (the finalizer of SplitMix64)."""
    z = values + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * MIX_1
    z = (z ^ (z >> np.uint64(27))) * MIX_2
    return z ^ (z >> np.uint64(31))


def row_keys(start: int, count: int, source: str = "") -> Keys:
    """Keys of records without an id: their row number, and the name of their source where there are several."""
    rows = np.arange(start, start + count, dtype=np.uint64)
    if not source:
        return mix(rows)
    return mix(rows ^ mix(text_keys(np.frombuffer(source.encode(), np.uint8), np.array([0, len(source.encode())]))))


def text_keys(characters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Keys:
    """Keys of strings laid end to end: string i is ``characters[offsets[i]:offsets[i + 1]]``.

    Each is a polynomial of its bytes. Ids mostly have few lengths, and strings of one length are a matrix.
    """
    offsets = offsets.astype(np.int64)
    starts, lengths = offsets[:-1], np.diff(offsets)
    with np.errstate(over="ignore"):
        if len(lengths) and (lengths == lengths[0]).all() and len(lengths) >= _MANY * lengths[0]:
            size = int(lengths[0])
            sums = _of_one_length(characters[int(offsets[0]) : int(offsets[-1])].reshape(len(lengths), size))
        elif len(lengths) >= _MANY * lengths.max(initial=0):
            sums = np.zeros(len(lengths), dtype=np.uint64)
            for size in np.flatnonzero(np.bincount(lengths)).tolist():
                mine = np.flatnonzero(lengths == size)
                sums[mine] = _of_one_length(characters[starts[mine][:, None] + np.arange(size)])
        else:
            sums = _of_any_length(characters, offsets)
        return mix(sums ^ lengths.astype(np.uint64) * GOLDEN)


def _of_one_length(strings: NDArray[np.uint8]) -> Keys:
    """The polynomials of strings of shape (strings, bytes), some strings at a time, which stay in cache."""
    out = np.zeros(len(strings), dtype=np.uint64)
    for start in range(0, len(strings), _AT_ONCE):
        part, power = out[start : start + _AT_ONCE], np.uint64(1)
        for column in strings[start : start + _AT_ONCE].T:
            power *= np.uint64(RADIX_INVERSE)
            part += (column.astype(np.uint64) + np.uint64(1)) * power
    return out


def _of_any_length(characters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Keys:
    """The same polynomials from one cumulative sum over all strings, whatever their lengths."""
    first = int(offsets[0])
    used = characters[first : int(offsets[-1])].astype(np.uint64) + np.uint64(1)
    powers = np.cumprod(np.full(len(used) + 1, RADIX_INVERSE, dtype=np.uint64))
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(used * powers[:-1], dtype=np.uint64)])
    starts, stops = offsets[:-1] - first, offsets[1:] - first
    return (sums[stops] - sums[starts]) * _powers(starts)


def _powers(exponents: NDArray[np.int64]) -> Keys:
    """The radix to each exponent modulo 2**64, by repeated squaring."""
    out = np.ones(len(exponents), dtype=np.uint64)
    square, left = np.uint64(_RADIX), exponents.astype(np.uint64)
    with np.errstate(over="ignore"):
        while left.any():
            out = np.where(left & np.uint64(1), out * square, out)
            square = square * square
            left = left >> np.uint64(1)
    return out


def record_keys(ids: Any) -> Keys:
    """Keys of records from their ids: integers of any width, or text.

    >>> import numpy as np
    >>> a, b = record_keys(np.array([7, 8])), record_keys(np.array([8, 7], dtype=np.uint8))
    >>> bool((a == b[::-1]).all())
    True
    """
    ids = np.asarray(ids)
    if ids.dtype.kind in "iub":
        return mix(mix(ids.astype(np.int64).view(np.uint64) if ids.dtype.kind == "i" else ids.astype(np.uint64)))
    encoded = [str(value).encode("utf-8", "surrogatepass") for value in ids.tolist()]
    offsets = np.concatenate([[0], np.cumsum([len(text) for text in encoded])]).astype(np.int64)
    return text_keys(np.frombuffer(b"".join(encoded), dtype=np.uint8), offsets)
