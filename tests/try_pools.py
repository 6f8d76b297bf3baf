"""What the files for the judge of the audit in the browser are made with: a file, its columns, and pools of values."""

from __future__ import annotations

import io
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from mistakes.cases import RIGHT

Rng = np.random.Generator
ROLES: dict[str, Any] = {"attributes": ["gender"], "tasks": ["hired"], "task_predictions": ["said"]}


@dataclass(frozen=True)
class Made:
    """A file and the columns that are chosen of it."""

    name: str
    content: bytes
    roles: dict[str, Any] = field(default_factory=lambda: dict(ROLES))


def csv_text(columns: dict[str, Any], separator: str = ",", end: str = "\n", quote: str = "needed") -> str:
    """A table as CSV text; None is an empty field."""

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        bare = not any(mark in text for mark in (separator, '"', "\n", "\r"))
        if quote == "all" or (quote == "needed" and not bare):
            return '"' + text.replace('"', '""') + '"'
        return text

    rows = [list(columns), *zip(*columns.values(), strict=True)]
    return "".join(separator.join(map(cell, row)) + end for row in rows)


def right(n: int = 40) -> dict[str, Any]:
    """Columns that are measured."""
    return {
        "gender": RIGHT["gender"][:n].tolist(),
        "hired": RIGHT["hired"][:n].tolist(),
        "said": RIGHT["said"][:n].tolist(),
    }


def parquet(table: Any, **options: Any) -> bytes:
    """A table as the bytes of a Parquet file."""
    sink = io.BytesIO()
    pq.write_table(table, sink, **options)
    return sink.getvalue()


# Values that two or three categories of a column are drawn from: spelled alike, nearly alike, or otherwise.
POOLS: tuple[tuple[str, ...], ...] = (
    ("0", "1"),
    ("1", "0", "2"),
    ("0.0", "1.0"),
    ("0", "1.0"),
    ("1", "1.0", "0"),
    ("true", "false"),
    ("True", "False"),
    ("TRUE", "false"),
    ("tRUE", "false"),
    ("true", "0"),
    ("true", "1", "0"),
    ("yes", "no"),
    ("Y", "N"),
    ("t", "f"),
    ("01", "02"),
    ("01", "1"),
    ("00", "0"),
    ("007", "7", "8"),
    ("+1", "-1"),
    ("-1", "1"),
    (" 1", "0"),
    ("1 ", "0"),
    ("\t1", "0"),
    ("1\xa0", "0"),
    ("1e0", "0e0"),
    ("1E5", "2"),
    (".5", "1"),
    ("0.25", "0.75"),
    ("0.1", "1.5"),
    ("1.10", "1.1"),
    ("0x1F", "0"),
    ("0X1f", "31"),
    ("-0x1", "0"),
    ("-0", "0", "1"),
    ("-0.0", "0.0", "1"),
    ("1_000", "2"),
    ("9007199254740993", "9007199254740992"),
    ("9007199254740993.0", "1"),
    ("9223372036854775807", "-9223372036854775808"),
    ("9223372036854775808", "1"),
    ("18446744073709551616", "1"),
    ("inf", "1"),
    ("-inf", "inf", "0"),
    ("Infinity", "0"),
    ("Nan", "1", "0"),
    ("NAN", "1", "0"),
    ("nan(1)", "1", "0"),
    ("1e400", "1"),
    ("1e-400", "1"),
    ("1d", "2"),
    ("5.", "6."),
    ("2020-01-01", "2021-12-31"),
    (" 2020-01-01", "2021-12-31"),
    ("2020-02-30", "2020-02-28"),
    ("2020-1-1", "2021-1-1"),
    ("2020-01-01", "12:30"),
    ("12:30", "12:30:00", "13:45"),
    ("24:00", "12:00"),
    ("2020-01-01 12", "2020-01-01T13:30"),
    ("2020-01-01 12:30:59", "2020-01-01"),
    ("2020-01-01 12:30:59.5", "2020-01-01 12:30:59"),
    ("2020-01-01T12:30:59.123456789", "2020-01-01T12:30:59.1"),
    ("2020-01-01T12:30:59Z", "2020-01-02T12:30:59+02:00"),
    ("2020-01-01T12:30:59Z", "2020-01-02T12:30:59"),
    ("2020-01-01T12:30:59.5Z", "2020-01-02T12:30:59.25-0530"),
    ("20200101", "20210101"),
    ("NA", "1", "0"),
    ("", "a", "b"),
    ("nan", "a", "b"),
    ("null", "a", "b"),
    ("None", "a", "b"),
    ("NaT", "a", "b"),
    ("n/a", "a", "b"),
    ("N/A", "1", "0"),
    (" NA", "a", "b"),
    ("-", "a", "b"),
    ("+", "-"),
    ("?", "a", "b"),
    ("#N/A", "a", "b"),
    ("unknown", "a", "b"),
    ("99", "0", "1"),
    ("-9", "1", "2"),
    ("99", "98", "97"),
    ("a", "b"),
    ("a", "A", "b"),
    ("a", "b ", "b"),
    ("café", "cafe", "x"),
    ("cafe\u0301", "café", "x"),
    ("straße", "STRASSE", "x"),
    ("ſ", "s", "x"),
    ("İ", "i", "x"),
    ("ı", "i", "x"),
    ("ΌΣΟΣ", "όσος", "x"),
    ("ﬁn", "fin", "x"),
    ("hired", "\uff48\uff49\uff52\uff45\uff44", "x"),
    ("hi\u200bred", "hired", "x"),
    ("h\u0456red", "hired", "x"),
    ("hired\u202e", "x", "y"),
    ("not hired", "not_hired", "x"),
    ("not-hired", "not hired", "x"),
    ("[hired]", "hired", "x"),
    ("hired&nbsp;", "hired", "x"),
    ("R&amp;D", "R&D", "x"),
    ("&eacute;", "é", "x"),
    ("a&b", "a", "b"),
    ("a|b", "a", "b"),
    ("a;b", "b;a", "a"),
    ("a,b", "a", "b"),
    ("a, b", "b, a", "a", "b"),
    ("a/b", "a", "b"),
    ("a b", "a", "b"),
    ("['a']", "['b', 'a']"),
    ("[0.5, 1]", "(1, 2]"),
    ("(0, 10]", "(10, 20]"),
    ('{"a": 1}', '{"b": 2}'),
    ("M", "F", "male", "female"),
    ("M", "F"),
    ("F", "M", "N"),
    ("he/they", "she/they", "they"),
    ("x\ny", "x", "z"),
    ('x"y', "x", "z"),
    ("'x'", "x", "z"),
    ("=1+1", "@x"),
    ("<b>", "b", "c"),
    ("𝟙", "1", "0"),
    ("١", "٢"),
    ("😀", "\ufffd", "a"),
    ("\ue000", "\U00010000", "a"),
    ("Ω", "Ω", "x"),
    ("\x00", "a", "b"),
    ("\x1c1", "a", "b"),
    ("1.0", "yes"),
    ("Washington, DC", "Boston, MA"),
    ("1", "2", "3", "4"),
    ("10", "9", "8"),
    ("b", "a", "10", "9"),
)


def column(rng: Rng, n: int, pool: tuple[str, ...]) -> list[str]:
    places = [*range(len(pool)), *rng.integers(0, len(pool), max(n - len(pool), 0))]
    return [pool[int(i)] for i in rng.permutation(places)[:n]]
