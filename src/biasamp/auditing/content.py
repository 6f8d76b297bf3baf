"""A digest of what records say, which adds up over batches in any order."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from biasamp.data import Column, canonical
from biasamp.data.keys import Keys, mix, record_keys

_MISSING = np.uint64(0xA24BAED4963EE407)
_ODD = np.uint64(0xD1342543DE82EF95)
_EMPTY = np.uint64(0x9FB21C651E98DF25)


def content_of(columns: Mapping[str, Column], keys: Keys) -> int:
    """The sum over records of a hash of the record's key and of all its values, modulo ``2**64``.

    Numbers and their spellings are the same value: 1, 1.0, True and "1".
    """
    total = keys
    with np.errstate(over="ignore"):
        for name in sorted(columns):
            total = (total ^ _values(columns[name]) ^ record_keys(np.array([name], dtype=object))) * _ODD
            total = total ^ (total >> np.uint64(29))
        return int(mix(total).sum(dtype=np.uint64))


def _values(column: Column) -> Keys:
    """A hash of each record's value."""
    if column.kind == "list":
        assert column.indptr is not None
        with np.errstate(over="ignore"):
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_categories(column)[column.values])])
            out: Keys = sums[column.indptr[1:]] - sums[column.indptr[:-1]] + _EMPTY
    elif column.kind == "text":
        out = np.append(_categories(column), _MISSING)[column.values]
    elif column.kind == "bool":
        out = _numbers(np.array([0.0, 1.0]))[column.values.astype(np.int64)]
    elif column.kind == "int" and column.values.dtype.itemsize == 1:
        out = _numbers(np.arange(-128, 256).astype(np.float64))[column.values.astype(np.int64) + 128]
    else:
        out = _numbers(column.values.astype(np.float64))
    return out if column.missing is None else np.where(column.missing, _MISSING, out)


def _categories(column: Column) -> Keys:
    if not column.categories:
        return np.zeros(0, dtype=np.uint64)
    out = record_keys(np.array(column.categories, dtype=object))
    for i, category in enumerate(column.categories):
        try:
            number = float(category)
        except ValueError:
            continue
        if np.isfinite(number) and canonical(number) == category:
            out[i] = _numbers(np.array([number]))[0]
    return out


def _numbers(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Keys:
    # Adding 0 turns -0 into 0, which is the same number.
    return mix((values + 0.0).view(np.uint64))
