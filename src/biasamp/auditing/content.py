"""A digest of what records say, which adds up over batches in any order."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from functools import cache

import numpy as np

from biasamp.counts.tables import worth_compiling
from biasamp.data import Column, canonical
from biasamp.data.keys import Keys, mix, record_keys

_MISSING = np.uint64(0xA24BAED4963EE407)
_ODD = np.uint64(0xD1342543DE82EF95)
_EMPTY = np.uint64(0x9FB21C651E98DF25)
_SHIFT = np.uint64(29)
# Records that are digested together stay in cache.
_CHUNK = 1 << 15
# Takes the digests of some records and where those begin and end.
Mixer = Callable[[Keys, Keys, int, int], None]


def contents_of(columns: Mapping[str, Column], keys: Keys, few: Collection[str] = ()) -> tuple[int, int]:
    """Digests of all columns and of a few of them.

    Each is the sum over records of a hash of the record's key and of all its values, modulo ``2**64``. Numbers and
    their spellings are the same value: 1, 1.0, True and "1".

    Parameters
    ----------
    columns : mapping of names to columns
    keys : ndarray of shape (records,)
        The key of each record.
    few : collection of str
        The columns of the second digest.
    """
    mixed = _compiled if worth_compiling(len(keys) * len(columns), None) else _mixed
    mixers = [mixed(columns[name], _name_key(name), name in few) for name in sorted(columns)]
    whole, part = 0, 0
    with np.errstate(over="ignore"):
        for start in range(0, len(keys), _CHUNK):
            stop = min(start + _CHUNK, len(keys))
            one, two = keys[start:stop].copy(), keys[start:stop].copy()
            for mixer in mixers:
                mixer(one, two, start, stop)
            whole += int(mix(one).sum(dtype=np.uint64))
            part += int(mix(two).sum(dtype=np.uint64))
    return whole % (1 << 64), part % (1 << 64)


def _mixed(column: Column, name: np.uint64, both: bool) -> Mixer:
    """What mixes a column into the digests of some records."""
    hashed = _hasher(column, name)

    def into(one: Keys, two: Keys, start: int, stop: int) -> None:
        values = hashed(start, stop)
        for total in (one, two) if both else (one,):
            total ^= values
            total *= _ODD
            total ^= total >> _SHIFT

    return into


def _compiled(column: Column, name: np.uint64, both: bool) -> Mixer:
    """As :func:`_mixed`, in numba where values are bytes or floats."""
    if column.missing is not None or not (_of_bytes(column) or _of_floats(column)):
        return _mixed(column, name, both)
    from biasamp.counts.kernels.compiled_bags import mix_bytes, mix_floats

    if _of_floats(column):
        numbers = np.ascontiguousarray(column.values)
        return lambda one, two, start, stop: mix_floats(one, two, numbers[start:stop], name, both)
    table, values = _byte_table(column) ^ name, column.values.view(np.uint8)
    return lambda one, two, start, stop: mix_bytes(one, two, values[start:stop], table, both)


@cache
def _name_key(name: str) -> np.uint64:
    return np.uint64(record_keys(np.array([name], dtype=object))[0])


def _hasher(column: Column, name: np.uint64) -> Callable[[int, int], Keys]:
    """What gives the hash of the values of some records, and of the column's name."""
    values, missing, indptr, table = column.values, column.missing, column.indptr, None
    if column.kind == "list":
        assert indptr is not None
        with np.errstate(over="ignore"):
            sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(_categories(column)[values])])
            values = sums[indptr[1:]] - sums[indptr[:-1]] + _EMPTY
    elif column.kind == "text":
        # The code of a missing value is -1, the last place of the table.
        table = np.append(_categories(column), _MISSING) ^ name
    elif _of_bytes(column):
        table, values = _byte_table(column) ^ name, values.view(np.uint8)

    def hashed(start: int, stop: int) -> Keys:
        part = values[start:stop]
        if table is not None:
            part = np.take(table, part, mode="wrap")
        elif column.kind != "list":
            part = _numbers(part.astype(np.float64)) ^ name
        else:
            part = part ^ name
        return part if missing is None else np.where(missing[start:stop], _MISSING ^ name, part)

    return hashed


def _of_bytes(column: Column) -> bool:
    return column.kind == "bool" or (column.kind == "int" and column.values.dtype.itemsize == 1)


def _of_floats(column: Column) -> bool:
    return column.kind == "float" and column.values.dtype == np.float64


def _byte_table(column: Column) -> Keys:
    """The hash of every byte; negative numbers are those above 127."""
    kind = np.int8 if column.values.dtype.kind == "i" else np.uint8
    return _numbers(np.arange(256, dtype=np.uint8).view(kind).astype(np.float64))


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
