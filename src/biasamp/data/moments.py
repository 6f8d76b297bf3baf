"""Dates, times of day, moments and durations of Arrow as text, each spelled as Python's ``datetime`` does.

They are spelled from the whole numbers that are stored: Python's own values have no nanoseconds, and Arrow makes those of pandas of
them where pandas is installed, so that one file would be read in two ways. Durations have no limit; years are 1 to 9999.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta, tzinfo
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .arrow_numbers import numpy_of
from .columns import Column, compact
from .label import printable

_DAY = 86_400
_UNITS = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}
_NANOSECONDS = 10**9
_FIRST = date(1970, 1, 1).toordinal()


def is_moment(kind: Any) -> bool:
    """Whether an Arrow type is of dates, times, moments or durations; spans of months and days are none."""
    return bool(pa.types.is_temporal(kind) and not pa.types.is_interval(kind))


def moment_column(name: str, data: Any) -> Column:
    """An Arrow array of dates, times, moments or durations as a column of text.

    >>> moment_column("wait", pa.array([90_000, None, 1], pa.duration("s"))).categories
    ('0:00:01', '1 day, 1:00:00')
    >>> moment_column("at", pa.array([1], pa.time64("ns"))).categories
    ('00:00:00.000000001',)
    """
    coded = pc.dictionary_encode(data)
    codes = numpy_of(coded.indices.cast(pa.int64()), -1)
    kind = data.type
    stored = coded.dictionary.view(pa.int32() if kind.bit_width == 32 else pa.int64()).to_pylist()
    spell = _speller(name, kind)
    codes, categories = compact(codes, [spell(value) for value in stored])
    return Column(name, "text", codes, None, categories)


def _speller(name: str, kind: Any) -> Callable[[int], str]:
    if pa.types.is_date(kind):
        unit = 1 if pa.types.is_date32(kind) else _DAY * _UNITS["ms"]
        return lambda stored: _date(name, stored // unit)
    unit = _UNITS[kind.unit]
    if pa.types.is_time(kind):
        return lambda stored: _time(*divmod(stored, unit), unit)
    if pa.types.is_duration(kind):
        return lambda stored: _duration(*divmod(stored, unit), unit)
    zone = None if kind.tz is None else _zone(name, kind.tz)
    return lambda stored: _moment(name, *divmod(stored, unit), unit, zone)


def _fraction(parts: int, unit: int) -> str:
    """Parts of a second: microseconds as ``isoformat`` writes them, nanoseconds where there are any."""
    nanoseconds = parts * (_NANOSECONDS // unit)
    if not nanoseconds:
        return ""
    return f".{nanoseconds:09}" if nanoseconds % 1000 else f".{nanoseconds // 1000:06}"


def _date(name: str, days: int) -> str:
    try:
        return date.fromordinal(_FIRST + days).isoformat()
    except (ValueError, OverflowError):
        raise _no_date(name, days) from None


def _time(seconds: int, parts: int, unit: int) -> str:
    return f"{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}{_fraction(parts, unit)}"


def _duration(seconds: int, parts: int, unit: int) -> str:
    days, seconds = divmod(seconds, _DAY)
    whole = f"{days} day{'' if abs(days) == 1 else 's'}, " if days else ""
    return f"{whole}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}{_fraction(parts, unit)}"


def _moment(name: str, seconds: int, parts: int, unit: int, zone: tzinfo | None) -> str:
    try:
        moment = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
        moment = moment.replace(tzinfo=None) if zone is None else moment.astimezone(zone)
    except (ValueError, OverflowError):
        raise _no_date(name, seconds // _DAY) from None
    text = moment.isoformat()
    # Date and time have 19 characters; what follows is by how much the zone is ahead.
    return f"{text[:19]}{_fraction(parts, unit)}{text[19:]}"


def _zone(name: str, zone: str) -> tzinfo:
    try:
        return pa.lib.string_to_tzinfo(zone)
    except (pa.ArrowException, ValueError, KeyError, OSError):
        raise ValueError(
            f"column {printable(name, 60)!r} holds times of the zone {printable(zone, 60)!r}, which is not known here: write them in UTC"
        ) from None


def _no_date(name: str, days: int) -> ValueError:
    return ValueError(
        f"column {printable(name, 60)!r} holds a date {abs(days):,} days {'before' if days < 0 else 'after'} 1970-01-01, outside of the "
        "years 1 to 9999: mend it, or leave the field empty"
    )
