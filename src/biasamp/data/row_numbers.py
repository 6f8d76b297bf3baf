"""Where records stand, in words: rows as a person counts them in a table, or ids where the caller has named some."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .label import printable

_SHOWN = 5


class _Known(NamedTuple):
    """How the records that are being read stand in the whole."""

    before: int = 0  # records of the whole before the first of these
    column: str = ""  # the name of a column of ids
    id_of: Callable[[int], str | None] | None = None


_KNOWN: ContextVar[_Known] = ContextVar("known", default=_Known())  # noqa: B039  (it cannot be changed)


@contextmanager
def records_known(
    before: int = 0, column: str = "", id_of: Callable[[int], str | None] | None = None
) -> Iterator[None]:
    """While it lasts, messages name records by ids, or by rows of which there are some ``before`` the first."""
    held = _KNOWN.set(_Known(before, column, id_of))
    try:
        yield
    finally:
        _KNOWN.reset(held)


def row_numbers(places: Sequence[int] | NDArray[np.integer[Any]], many: int | None = None) -> str:
    """Records in words; ``places`` count from 0, and there are as ``many`` in all.

    >>> row_numbers([3])
    'row 4, counted from 1 without the header'
    >>> row_numbers([0, 5, 8, 9, 12], many=7)
    'rows 1, 6, 9, 10, 13, …, counted from 1 without the header'
    """
    before, column, id_of = _KNOWN.get()
    shown = [int(place) for place in places[:_SHOWN]]
    more = ", …" if (len(places) if many is None else many) > len(shown) else ""
    ids = [] if id_of is None else [id_of(place) for place in shown]
    if ids and None not in ids:
        return f"{printable(column, 40)} {', '.join(printable(str(one), 40) for one in ids)}{more}"
    rows = ", ".join(str(before + place + 1) for place in shown)
    return f"row{'s' if len(shown) > 1 else ''} {rows}{more}, counted from 1 without the header"
