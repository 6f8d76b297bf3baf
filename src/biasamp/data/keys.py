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
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
# An odd multiplier has an inverse modulo 2**64, which lets one cumulative sum hash every string at once.
_RADIX = 0x9FB21C651E98DF25
RADIX_INVERSE = pow(_RADIX, -1, 1 << 64)


def mix(values: Keys) -> Keys:
    """Spread 64-bit integers over all 64 bits (the finalizer of SplitMix64)."""
    z = values + GOLDEN
    z = (z ^ (z >> np.uint64(30))) * _MIX_1
    z = (z ^ (z >> np.uint64(27))) * _MIX_2
    return z ^ (z >> np.uint64(31))


def row_keys(start: int, count: int, source: str = "") -> Keys:
    """Keys of records without an id: their row number, and the name of their source where there are several."""
    rows = np.arange(start, start + count, dtype=np.uint64)
    if not source:
        return mix(rows)
    return mix(rows ^ mix(text_keys(np.frombuffer(source.encode(), np.uint8), np.array([0, len(source.encode())]))))


def text_keys(characters: NDArray[np.uint8], offsets: NDArray[np.int64]) -> Keys:
    """Keys of strings laid end to end: string i is ``characters[offsets[i]:offsets[i + 1]]``."""
    offsets = offsets.astype(np.int64)
    first = int(offsets[0])
    used = characters[first : int(offsets[-1])].astype(np.uint64) + np.uint64(1)
    with np.errstate(over="ignore"):
        powers = np.cumprod(np.full(len(used) + 1, RADIX_INVERSE, dtype=np.uint64))
        sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(used * powers[:-1], dtype=np.uint64)])
        starts, stops = offsets[:-1] - first, offsets[1:] - first
        return mix((sums[stops] - sums[starts]) * _powers(starts) ^ (stops - starts).astype(np.uint64) * GOLDEN)


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
