"""Dates, times, moments and durations as text: Python's own ``datetime`` spells them too, where it has them."""

from __future__ import annotations

import subprocess
import sys
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasamp.data.frames import arrow_column
from biasamp.data.moments import moment_column


def spelled(values: list[Any], kind: Any) -> list[str | None]:
    column = moment_column("x", pa.array(values, kind))
    return [None if code < 0 else column.categories[code] for code in column.values]


@given(st.lists(st.timedeltas(), min_size=1))
def test_durations_as_python_writes_them(values: list[timedelta]) -> None:
    stored = [value // timedelta(microseconds=1) for value in values]
    held = [(one, value) for one, value in zip(stored, values, strict=True) if abs(one) < 2**63]
    assert spelled([one for one, _ in held], pa.duration("us")) == [str(value) for _, value in held]


@given(st.lists(st.dates(), min_size=1), st.lists(st.times(), min_size=1))
def test_dates_and_times_as_python_writes_them(days: list[date], times: list[time]) -> None:
    assert spelled(days, pa.date32()) == spelled(days, pa.date64()) == [day.isoformat() for day in days]
    assert spelled(times, pa.time64("us")) == [one.isoformat() for one in times]


@given(
    st.lists(st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1)), min_size=1),
    st.sampled_from(["UTC", "America/New_York", "Asia/Kathmandu"]),
)
def test_moments_as_python_writes_them(moments: list[datetime], zone: str) -> None:
    for unit in ("us", "ns"):
        assert spelled(moments, pa.timestamp(unit)) == [one.isoformat() for one in moments]
        there = [one.replace(tzinfo=UTC) for one in moments]
        assert spelled(there, pa.timestamp(unit, zone)) == [one.astimezone(ZoneInfo(zone)).isoformat() for one in there]


def test_nanoseconds_are_kept() -> None:
    """By hand; Python's own values would be one and the same."""
    assert spelled([1, 1001, 2000, None], pa.time64("ns")) == [
        "00:00:00.000000001",
        "00:00:00.000001001",
        "00:00:00.000002",
        None,
    ]
    assert spelled([1, -1], pa.duration("ns")) == ["0:00:00.000000001", "-1 day, 23:59:59.999999999"]
    assert spelled([1], pa.timestamp("ns", "+05:30")) == ["1970-01-01T05:30:00.000000001+05:30"]


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([0, 2**30], pa.date32()),
        ([0, 2**61], pa.timestamp("ms")),
        ([-62_135_596_801], pa.timestamp("s")),
        ([253_402_300_799], pa.timestamp("s", "+05:30")),
    ],
)
def test_years_that_no_date_has_are_refused_by_name(values: list[int], kind: Any) -> None:
    with pytest.raises(
        ValueError, match=r"^column 'born' holds a date [0-9,]+ days (before|after) 1970-01-01, outside"
    ):
        arrow_column("born", pa.array(values, kind))


def test_a_strange_zone_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match=r"^column 'at' holds times of the zone 'Mars/Olympus', which is not known"):
        arrow_column("at", pa.array([0], pa.timestamp("us", "Mars/Olympus")))


def test_spans_of_months_are_refused() -> None:
    with pytest.raises(TypeError, match="column 'x' holds month_day_nano_interval values"):
        arrow_column("x", pa.array([(1, 2, 3)], pa.month_day_nano_interval()))


def test_pandas_is_not_asked(tmp_path: Path) -> None:
    """Where it is there, Arrow gives its values for nanoseconds, which are spelled otherwise; else it refuses them."""
    kinds = {"d": pa.duration("ns"), "m": pa.timestamp("ns"), "t": pa.time64("ns")}
    pq.write_table(pa.table({name: pa.array([61], kind) for name, kind in kinds.items()}), tmp_path / "x.parquet")
    code = (
        "import sys\n"
        "from biasamp.auditing.source import read_source\n"
        f"source = read_source({str(tmp_path / 'x.parquet')!r}, ['d', 'm', 't'])\n"
        "print(*(source.column(name).categories[0] for name in 'dmt'), 'pandas' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0:00:00.000000061", "1970-01-01T00:00:00.000000061", "00:00:00.000000061", "False"]
