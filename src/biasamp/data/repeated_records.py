"""Records that are there twice: a table that was put below itself, or read twice, or joined to another that has several rows of each.

Every record then weighs twice, and intervals are shorter than the records allow. Ids tell it wherever there are some; without
them it is told by the order of the rows, which no accident repeats.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from .columns import Column

# So many times a table may be below itself to be looked for.
_TIMES = 10
# Fewer rows than these repeat in a design that was made by hand, such as woman, man, woman, man.
_LEAST_ROWS = 50
# Rows that repeat are in another order by chance with all but this many orders of ten; a block of few runs is sorted, or made by hand.
_ORDERS, _RUNS = 20.0, 0.1
# So many runs of equal rows are all of an even length, or all a multiple of three, by no accident, and in no table of a few counts.
_LEAST_RUNS = 60
# The first rows that are compared before all of them are.
_FIRST = 64


def repeats_of(columns: Iterable[Column], truths: Iterable[Column], rows: int) -> dict[str, int]:
    """How rows repeat, by what an audit's document calls it; empty where they do not.

    ``repeated`` is after how many rows the whole table repeats, ``in_succession`` how many times each row stands in succession,
    ``repeated_truth`` after how many rows the columns of ``truths`` repeat, with other predictions.
    """
    columns, found = list(columns), {}
    found["repeated"] = repeated_rows(columns, rows)
    if found["repeated"] is None:
        found["in_succession"] = rows_in_succession(columns, rows)
        found["repeated_truth"] = repeated_rows(truths, rows)
    return {name: times for name, times in found.items() if times is not None}


def repeated_rows(columns: Iterable[Column], rows: int) -> int | None:
    """After how many rows the whole table repeats, row for row; None where it does not.

    >>> people = Column("g", "int", np.random.default_rng(0).integers(0, 2, 100))
    >>> repeated_rows([people], 100), repeated_rows([Column("g", "int", np.tile(people.values, 2))], 200)
    (None, 100)
    """
    held = [part for column in columns for part in _parts(column)]
    return None if not held or any(len(part) != rows for part in held) else _period(held, rows)


def rows_in_succession(columns: Iterable[Column], rows: int) -> int | None:
    """How many times every row stands in succession; None where they do not.

    >>> people = Column("g", "int", np.random.default_rng(0).integers(0, 2, 200))
    >>> rows_in_succession([people], 200), rows_in_succession([Column("g", "int", np.repeat(people.values, 3))], 600)
    (None, 3)
    """
    held = [part for column in columns for part in _parts(column)]
    if not held or rows < 2 * _LEAST_ROWS or any(len(part) != rows for part in held):
        return None
    first = _starts([part[:_FIRST] for part in held])
    if (first[1:] & first[:-1]).any():
        # A run of one row, as most tables have among the first already.
        return None
    places = np.flatnonzero(_starts(held))
    if len(places) < _LEAST_RUNS:
        return None
    times = int(np.gcd.reduce(np.diff(places, append=rows)))
    return times if times > 1 else None


def _starts(held: Sequence[NDArray[np.generic]]) -> NDArray[np.bool_]:
    """Whether a run of equal rows starts."""
    starts = np.zeros(len(held[0]), dtype=bool)
    starts[0] = True
    for part in held:
        starts[1:] |= _changes(part)
    return starts


def _changes(values: NDArray[np.generic]) -> NDArray[np.bool_]:
    """Whether a value differs from the one before it."""
    apart = values[1:] != values[:-1]
    if values.dtype.kind == "f":
        apart &= ~(np.isnan(values[1:]) & np.isnan(values[:-1]))
    return np.asarray(apart, dtype=bool)


def _parts(column: Column) -> list[NDArray[np.generic]]:
    """What has to repeat of a column; of lists their lengths, which are as many as the rows."""
    if column.indptr is not None:
        return [np.diff(column.indptr)]
    return [column.values] if column.missing is None else [column.values, column.missing]


def _period(held: Sequence[NDArray[np.generic]], rows: int) -> int | None:
    """After how many rows all columns repeat; None where they do not, or where an accident or a design may do it."""
    for times in range(_TIMES, 1, -1):
        period, left = divmod(rows, times)
        if left or period < _LEAST_ROWS:
            continue
        if all(_repeats(part, period) for part in held):
            return period if _is_no_design(held, period) else None
    return None


def _repeats(values: NDArray[np.generic], period: int) -> bool:
    first = values[: min(_FIRST, period)]
    if not _equal(first, values[period : period + len(first)]):
        return False
    return _equal(values[:-period], values[period:])


def _equal(one: NDArray[np.generic], other: NDArray[np.generic]) -> bool:
    return np.array_equal(one, other, equal_nan=one.dtype.kind == "f")


def _is_no_design(held: Sequence[NDArray[np.generic]], period: int) -> bool:
    """Whether rows of one block are in none of the orders in which people write rows down: alternating, or sorted."""
    codes = np.zeros(period, dtype=np.int64)
    for part in held:
        _, mine = np.unique(part[:period], return_inverse=True)
        _, codes = np.unique(codes * (int(mine.max()) + 1) + mine, return_inverse=True)
    if (codes[1:] != codes[:-1]).mean() < _RUNS:
        return False
    for step in range(1, min(_LEAST_ROWS, period // 2) + 1):
        if (codes[step:] == codes[:-step]).all():
            return False
    from scipy.special import gammaln

    sizes = np.bincount(codes)
    orders = gammaln(period + 1) - gammaln(sizes + 1.0).sum()
    return bool(orders / np.log(10.0) >= _ORDERS)
