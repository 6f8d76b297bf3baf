"""Files for the judge of the audit in the browser: CSV and Parquet, right ones and wrong ones, each made from a seed."""

from __future__ import annotations

import datetime
import io
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from mistakes.cases import CASES, RIGHT

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


def mistakes() -> Iterator[Made]:
    """The everyday mistakes, each as CSV and as Parquet."""
    for number, case in enumerate(CASES):
        roles = {**{key: value[0] for key, value in ROLES.items()}, **case.roles}
        strange = {*roles} - {*ROLES} or case.train is not None
        if strange or not all(isinstance(value, (str, list)) for value in roles.values()):
            continue
        chosen = {key: [value] if isinstance(value, str) else value for key, value in roles.items()}
        columns = {name: [_plain(value) for value in values] for name, values in case.columns.items()}
        if any(isinstance(value, (list, tuple, dict)) for values in columns.values() for value in values):
            continue
        if len({len(values) for values in columns.values()}) > 1:
            continue
        yield Made(f"mistake-{number}.csv", csv_text(columns).encode("utf-8", "surrogatepass"), chosen)
        try:
            table = pa.table(columns)
        except (pa.ArrowException, TypeError, UnicodeEncodeError):
            continue
        yield Made(f"mistake-{number}.parquet", parquet(table), chosen)


def _plain(value: Any) -> Any:
    """A value as Python has it; a missing one is None."""
    value = value.item() if isinstance(value, np.generic) else value
    return None if value is None or (value != value) else value


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


def _column(rng: Rng, n: int, pool: tuple[str, ...]) -> list[str]:
    places = [*range(len(pool)), *rng.integers(0, len(pool), max(n - len(pool), 0))]
    return [pool[int(i)] for i in rng.permutation(places)[:n]]


def pools() -> Iterator[Made]:
    """Every pool as a truth that is predicted in its own spelling, as groups, and against another pool."""
    rng = np.random.default_rng(21)
    n = 24
    for number, pool in enumerate(POOLS):
        plain = _column(rng, n, ("w", "m"))
        truth = _column(rng, n, pool)
        said = _column(rng, n, pool)
        yield Made(f"truth-{number}.csv", csv_text({"gender": plain, "hired": truth, "said": said}).encode())
        other = _column(rng, n, POOLS[(number + 1) % len(POOLS)])
        yield Made(f"other-{number}.csv", csv_text({"gender": plain, "hired": truth, "said": other}).encode())
        yield Made(
            f"groups-{number}.csv", csv_text({"gender": truth, "hired": [0, 1] * 12, "said": [1, 1, 0, 0] * 6}).encode()
        )
        if number % 3 == 0:
            columns = {"gender": plain, "a": truth, "b": [0, 1] * 12, "p": said, "q": [0, 0, 1, 1] * 6}
            several = {"attributes": ["gender"], "tasks": ["a", "b"], "task_predictions": ["p", "q"]}
            yield Made(f"several-{number}.csv", csv_text(columns).encode(), several)


def dialects() -> Iterator[Made]:
    """Ways in which tools write CSV."""
    table = right()
    rng = np.random.default_rng(22)
    for separator in (",", ";", "\t", "|"):
        for end in ("\n", "\r\n", "\r"):
            for quote in ("needed", "all"):
                text = csv_text(table, separator, end, quote)
                yield Made(f"way-{ord(separator)}-{len(end)}{ord(end[0])}-{quote}.csv", text.encode())
    text = csv_text(table)
    for encoding in ("utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"):
        named = csv_text({**table, "gender": ["frau é" if g == "woman" else "man" for g in table["gender"]]})
        lead = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}.get(encoding, b"")
        yield Made(f"encoded-{encoding}.csv", lead + named.encode(encoding))
    yield Made("tabs.tsv", csv_text(table, "\t").encode())
    yield Made("commas.tsv", text.encode())
    yield Made("noend.csv", text.rstrip("\n").encode())
    yield Made("blank-lines.csv", text.replace("\n", "\n\n").encode())
    yield Made("lead-lines.csv", ("\n\n" + text).encode())
    yield Made("blanks-at-end.csv", (text + " \n").encode())
    yield Made("no-rows.csv", b"gender,hired,said\n")
    yield Made("no-rows-no-end.csv", b"gender,hired,said")
    yield Made("empty.csv", b"")
    yield Made("line-break.csv", b"\n")
    yield Made("short-row.csv", (text + "man,1\n").encode())
    yield Made("long-row.csv", (text + "man,1,1,1\n").encode())
    yield Made("very-long-row.csv", (text + "man,1,1," + "x" * 300 + "\n").encode())
    yield Made("twice.csv", csv_text(table).replace("gender,hired,said", "gender,hired,hired", 1).encode())
    yield Made("twice-other.csv", csv_text({**table, "x": [1] * 40, "y": [2] * 40}).replace("x,y", "x,x", 1).encode())
    yield Made("no-name.csv", csv_text({**table, "": [1] * 40}).encode())
    yield Made("index.csv", csv_text({"": range(40), **table}).encode())
    yield Made("quoted-names.csv", csv_text(table, quote="all").replace('"gender"', '"gen""der"', 1).encode())
    yield Made(
        "odd-names.csv",
        csv_text({"gen,der": table["gender"], "hi\nred": table["hired"], "s'aid": table["said"]}).encode(),
        {"attributes": ["gen,der"], "tasks": ["hi\nred"], "task_predictions": ["s'aid"]},
    )
    yield Made("open-quote.csv", (text + 'man,1,"1').encode())
    yield Made("open-quote-early.csv", text.replace("\nman,", '\n"man,', 1).encode())
    yield Made("text-behind-quote.csv", text.replace("\nman,", '\n"m"an,').encode())
    yield Made("quote-within.csv", text.replace("\nman,", '\nm"an",').encode())
    yield Made("blank-before-quote.csv", text.replace("\nman,", '\n "man",').encode())
    yield Made("nulls.csv", text.replace("\nman,", "\nman\x00,").encode())
    yield Made("null-bytes.csv", b"\x00" * 300)
    yield Made("cp1252-elsewhere.csv", csv_text({**table, "x": ["é"] * 40}).encode("cp1252"))
    yield Made("cp1252-name.csv", csv_text({**table, "é": [1] * 40}).encode("cp1252"))
    yield Made("decimal-commas.csv", csv_text({**table, "said": ["0,5", "1"] * 20}, ";").encode())
    yield Made("decimal-commas-elsewhere.csv", csv_text({**table, "x": ["0,5", "1"] * 20}, ";").encode())
    yield Made("semicolons-ragged.csv", (csv_text(table, ";") + "man;1\n").encode())
    yield Made("one-column.csv", b"gender\nwoman\nman\n")
    yield Made("missing-column.csv", csv_text({"sex": table["gender"], "hired": [1] * 40, "said": [1] * 40}).encode())
    yield Made("parquet.csv", parquet(pa.table(table)))
    yield Made("gzipped.csv", b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03abc")
    yield Made("zip.csv", b"PK\x03\x04abc\n1\n")
    yield Made("control-z.csv", (text + "\x1a").encode())
    yield Made("all-missing.csv", csv_text({**table, "said": [None] * 40}).encode())
    yield Made("all-missing-truth.csv", csv_text({**table, "hired": ["NA"] * 40}).encode())
    yield Made("all-missing-groups.csv", csv_text({**table, "gender": ["nan"] * 40}).encode())
    for gaps in (1, 3, 7):
        columns = {
            name: [None if rng.random() < gaps / 40 else value for value in held] for name, held in table.items()
        }
        yield Made(f"gaps-{gaps}.csv", csv_text(columns).encode())
    for share in (5, 12, 40):
        ids = [f"id{i % share}" for i in range(40)]
        yield Made(f"ids-{share}.csv", csv_text({**table, "gender": ids}).encode())
        yield Made(f"ids-truth-{share}.csv", csv_text({**table, "hired": ids, "said": ids}).encode())
        numbers = [1_000_000_000 + i % share for i in range(40)]
        yield Made(f"numbers-{share}.csv", csv_text({**table, "gender": numbers}).encode())
        days = [str(datetime.date(2024, 1, 1) + datetime.timedelta(days=i % share)) for i in range(40)]
        yield Made(f"days-{share}.csv", csv_text({**table, "gender": days}).encode())
        yield Made(
            f"days-written-{share}.csv",
            csv_text({**table, "gender": [f"{1 + i % share} Jan 2024" for i in range(40)]}).encode(),
        )
    mails = [f"{chr(97 + i % 26)}{i}@x.org" for i in range(40)]
    yield Made("mails.csv", csv_text({**table, "gender": mails}).encode())
    yield Made("probabilities.csv", csv_text({**table, "said": [round(float(p), 2) for p in rng.random(40)]}).encode())
    yield Made(
        "probabilities-truth.csv", csv_text({**table, "hired": [round(float(p), 2) for p in rng.random(40)]}).encode()
    )
    yield Made("probabilities-groups.csv", csv_text({**table, "gender": [0.5, 0.25] * 20}).encode())
    yield Made("percent.csv", csv_text({**table, "said": [0.5, 1.5] * 20}).encode())
    yield Made("percent-of-words.csv", csv_text({**table, "hired": ["a", "b"] * 20, "said": [0.5, 0.25] * 20}).encode())
    yield Made("continuous.csv", csv_text({**table, "hired": [10.5, 3.0] * 20, "said": [9.5, 3.0] * 20}).encode())
    both = {"attributes": ["gender", "side"], "tasks": ["hired"], "task_predictions": ["said"]}
    yield Made("two-attributes.csv", csv_text({**table, "side": ["l", "r", "m", "l"] * 10}).encode(), both)
    yield from _sets(table, rng)
    yield from _invented(rng)


def _sets(table: dict[str, Any], rng: Rng) -> Iterator[Made]:
    """Several columns of tasks: yes/no labels, and what is none."""
    several = {"attributes": ["gender"], "tasks": ["a", "b"], "task_predictions": ["p", "q"]}
    zero_one: Callable[[], list[int]] = lambda: [int(x) for x in rng.integers(0, 2, 40)]
    base = {"gender": table["gender"], "a": zero_one(), "b": zero_one(), "p": zero_one(), "q": zero_one()}
    changes: dict[str, dict[str, Any]] = {
        "plain": {},
        "floats": {"a": [float(x) for x in zero_one()], "p": [float(x) for x in zero_one()]},
        "booleans": {"a": [bool(x) for x in zero_one()], "q": [bool(x) for x in zero_one()]},
        "two": {"a": [2, *zero_one()[1:]]},
        "two-said": {"q": [*zero_one()[:5], 2, *zero_one()[6:]]},
        "two-float": {"q": [0.5, 2.5, *zero_one()[2:]]},
        "minus": {"b": [-1, *zero_one()[1:]]},
        "fraction": {"b": [0.5, *zero_one()[1:]]},
        "fraction-said": {"q": [0.5, *zero_one()[1:]]},
        "words": {"a": ["x", "y"] * 20, "p": ["y", "x"] * 20},
        "words-said": {"p": ["y", "x"] * 20},
        "words-truth": {"a": ["x", "y"] * 20},
        "gap": {"a": [None, *zero_one()[1:]], "q": [*zero_one()[:39], None]},
        "gaps": {"a": [None, *zero_one()[1:]], "b": [*zero_one()[:39], None]},
        "all-missing": {"a": [None] * 40},
        "no-truth": {"a": [0] * 40},
        "days": {"a": ["2024-01-01", "2024-01-02"] * 20, "p": ["2024-01-01", "2024-01-02"] * 20},
    }
    for name, change in changes.items():
        yield Made(f"set-{name}.csv", csv_text({**base, **change}).encode(), several)
    yield Made("set-fewer.csv", csv_text(base).encode(), {**several, "task_predictions": ["p"]})
    yield Made("set-twice.csv", csv_text(base).encode(), {**several, "task_predictions": ["p", "p"]})
    yield Made("set-task-twice.csv", csv_text(base).encode(), {**several, "tasks": ["a", "a"]})
    yield Made("set-shared.csv", csv_text(base).encode(), {**several, "task_predictions": ["p", "a"]})
    yield Made("set-attribute.csv", csv_text(base).encode(), {**several, "attributes": ["a"]})
    yield Made("set-attributes-twice.csv", csv_text(base).encode(), {**several, "attributes": ["gender", "gender"]})
    yield Made("set-group-said.csv", csv_text(base).encode(), {**several, "task_predictions": ["p", "gender"]})


def _invented(rng: Rng) -> Iterator[Made]:
    """Truths of three and more values, and what a model says beside them."""
    gender = _column(rng, 60, ("w", "m"))
    three = _column(rng, 60, ("red", "green", "blue"))
    for number, strange in enumerate(("mauve", "Red", "RED ", "7", "unknown", "rot", "grün", "red|blue")):
        for often in (1, 20, 40):
            said = [strange if i < often else value for i, value in enumerate(three)]
            columns = {"gender": gender, "hired": three, "said": said}
            yield Made(f"invented-{number}-{often}.csv", csv_text(columns).encode())
    whole = [int(x) for x in rng.integers(0, 4, 60)]
    for number, said_of in enumerate((lambda x: x + 1, lambda x: x * 10, lambda x: 5 if x == 3 else x)):
        columns = {"gender": gender, "hired": whole, "said": [said_of(x) for x in whole]}
        yield Made(f"numbered-{number}.csv", csv_text(columns).encode())
    one = {"gender": gender, "hired": [1] * 60, "said": [0, 1] * 30}
    yield Made("one-value.csv", csv_text(one).encode())
    yield Made("one-word.csv", csv_text({**one, "hired": ["x"] * 60, "said": ["x"] * 60}).encode())
    yield Made("one-word-of-two.csv", csv_text({**one, "hired": ["x"] * 60, "said": ["x", "y"] * 30}).encode())
    yield Made("one-group.csv", csv_text({**one, "hired": [0, 1] * 30, "gender": ["w"] * 60}).encode())
    yield Made(
        "unknown-truth.csv",
        csv_text({**one, "hired": ["a", "b", "unknown"] * 20, "said": ["a", "b", "a"] * 20}).encode(),
    )
    yield Made(
        "unknown-both.csv",
        csv_text({**one, "hired": ["a", "b", "unknown"] * 20, "said": ["a", "unknown", "b"] * 20}).encode(),
    )


_CODECS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4")


def parquets() -> Iterator[Made]:
    """Types, codecs, encodings and layouts of Parquet files."""
    rng = np.random.default_rng(23)
    n = 60
    gender = pa.array(_column(rng, n, ("w", "m")))
    bits = [int(x) for x in rng.integers(0, 2, n)]
    said = [int(x) for x in rng.integers(0, 2, n)]
    base = {"gender": gender, "hired": pa.array(bits), "said": pa.array(said)}
    for codec in _CODECS:
        for version in ("1.0", "2.0"):
            made = parquet(pa.table(base), compression=codec, data_page_version=version)
            yield Made(f"codec-{codec}-{version}.parquet", made)
    yield Made("groups.parquet", parquet(pa.table(base), row_group_size=7))
    yield Made("small-pages.parquet", parquet(pa.table(base), data_page_size=1, write_batch_size=4))
    yield Made("plain.parquet", parquet(pa.table(base), use_dictionary=False))
    yield Made(
        "deltas.parquet",
        parquet(
            pa.table(base),
            use_dictionary=False,
            column_encoding={
                "gender": "DELTA_BYTE_ARRAY",
                "hired": "DELTA_BINARY_PACKED",
                "said": "DELTA_BINARY_PACKED",
            },
        ),
    )
    yield Made(
        "lengths.parquet",
        parquet(pa.table(base), use_dictionary=False, column_encoding={"gender": "DELTA_LENGTH_BYTE_ARRAY"}),
    )
    split = {**base, "hired": pa.array([float(x) for x in bits])}
    yield Made(
        "byte-streams.parquet",
        parquet(pa.table(split), use_dictionary=False, column_encoding={"hired": "BYTE_STREAM_SPLIT"}),
    )
    for kind in (
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
        "bool_",
    ):
        arrow = getattr(pa, kind)()
        truth = pa.array(np.array(bits, dtype=np.float16)) if kind == "float16" else pa.array(bits).cast(arrow)
        yield Made(f"type-{kind}.parquet", parquet(pa.table({**base, "hired": truth})))
        gaps = pa.array([None if i == 5 else x for i, x in enumerate(truth.to_pylist())], arrow)
        yield Made(f"gap-{kind}.parquet", parquet(pa.table({**base, "said": gaps})))
    moments = [datetime.datetime(2024, 1, 1 + x, 12, 30, 0, 500000 * x) for x in bits]
    big = [2**53 + 1 + x for x in bits]
    kinds: dict[str, Any] = {
        "large-text": pa.array(["a" if x else "b" for x in bits], pa.large_string()),
        "view": pa.array(["a" if x else "b" for x in bits], pa.string_view()),
        "dictionary": pa.array(["a" if x else "b" for x in bits]).dictionary_encode(),
        "dictionary-int": pa.array(bits).dictionary_encode(),
        "binary": pa.array([b"a" if x else b"b\xff" for x in bits]),
        "fixed": pa.array([b"ab" if x else b"cd" for x in bits], pa.binary(2)),
        "date": pa.array([m.date() for m in moments]),
        "date64": pa.array([m.date() for m in moments], pa.date64()),
        "time": pa.array([m.time() for m in moments]),
        "time-s": pa.array([m.time().replace(microsecond=0) for m in moments], pa.time32("s")),
        "time-ms": pa.array([m.time() for m in moments], pa.time32("ms")),
        "stamp-s": pa.array([m.replace(microsecond=0) for m in moments], pa.timestamp("s")),
        "stamp-ms": pa.array(moments, pa.timestamp("ms")),
        "stamp-us": pa.array(moments, pa.timestamp("us")),
        "stamp-ns": pa.array(moments, pa.timestamp("ns")),
        "stamp-utc": pa.array(moments, pa.timestamp("us", "UTC")),
        "early": pa.array([datetime.datetime(1905 + x, 1, 1, 1, 1, 1, 1) for x in bits], pa.timestamp("us")),
        "decimal": pa.array([Decimal("0.10") if x else Decimal("3.00") for x in bits], pa.decimal128(6, 2)),
        "decimal-whole": pa.array([Decimal(x) for x in bits], pa.decimal128(6, 0)),
        "decimal-long": pa.array([Decimal("1.5") if x else Decimal(2) for x in bits], pa.decimal128(30, 2)),
        "decimal-long-whole": pa.array([Decimal(x) for x in bits], pa.decimal128(30, 2)),
        "big": pa.array(big, pa.int64()),
        "big-float": pa.array([float(x) for x in big]),
        "unsigned": pa.array([2**64 - 1 - x for x in bits], pa.uint64()),
        "unsigned-32": pa.array([2**32 - 1 - x for x in bits], pa.uint32()),
        "nothing": pa.nulls(n),
        "text-of-null": pa.array([None] * n, pa.string()),
        "lists": pa.array([["a", "b"] if x else ["a"] for x in bits]),
        "numbers-in-lists": pa.array([[x, 1 - x] for x in bits]),
        "struct": pa.array([{"x": x} for x in bits]),
        "map": pa.array([[("k", x)] for x in bits], pa.map_(pa.string(), pa.int64())),
        "duration": pa.array([datetime.timedelta(days=x) for x in bits]),
        "nan": pa.array([float("nan") if i == 3 else float(x) for i, x in enumerate(bits)]),
        "minus-zero": pa.array([-0.0 if x else 1.0 for x in bits]),
        "inf": pa.array([float("inf") if x else 1.0 for x in bits]),
        "empty-text": pa.array(["" if x else "b" for x in bits]),
        "na-text": pa.array(["NA" if x else "b" for x in bits]),
        "numbers-as-text": pa.array(["1" if x else "0" for x in bits]),
        "floats-as-text": pa.array(["1.0" if x else "0.0" for x in bits]),
    }
    for name, held in kinds.items():
        yield Made(f"kind-{name}.parquet", parquet(pa.table({**base, "hired": held, "said": held})))
        yield Made(f"groups-{name}.parquet", parquet(pa.table({**base, "gender": held})))
    several = {"attributes": ["gender"], "tasks": ["a", "b"], "task_predictions": ["p", "q"]}
    for name in ("dictionary-int", "unsigned", "decimal-whole", "inf", "nan"):
        columns = {"gender": gender, "a": kinds[name], "b": bits, "p": said, "q": said}
        yield Made(f"set-{name}.parquet", parquet(pa.table(columns)), several)
    nested = pa.table(
        {
            "doc": pa.array(
                [{"gender": g, "deep": {"hired": x}} for g, x in zip(gender.to_pylist(), bits, strict=True)]
            ),
            "said": said,
        }
    )
    dotted = {"attributes": ["doc.gender"], "tasks": ["doc.deep.hired"], "task_predictions": ["said"]}
    yield Made("nested.parquet", parquet(nested), dotted)
    yield Made("nested-whole.parquet", parquet(nested), {**dotted, "attributes": ["doc"]})
    gone = pa.table(
        {
            "doc": pa.array([None if i == 4 else {"gender": g} for i, g in enumerate(gender.to_pylist())]),
            "hired": bits,
            "said": said,
        }
    )
    yield Made("nested-gap.parquet", parquet(gone), {**dotted, "tasks": ["hired"]})
    twice = pa.Table.from_arrays([gender, base["hired"], base["hired"]], names=["gender", "hired", "hired"])
    yield Made("twice.parquet", parquet(twice))
    yield Made("no-rows.parquet", parquet(pa.table(base).slice(0, 0)))
    whole = parquet(pa.table(base))
    yield Made("empty.parquet", b"")
    yield Made("text.parquet", b"gender,hired,said\nw,1,1\n")
    yield Made("zip.parquet", b"PK\x03\x04" + bytes(60))
    for cut in (3, 10, 40, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        yield Made(f"cut-{cut}.parquet", whole[:cut])
    for place in range(6, len(whole), max(1, len(whole) // 40)):
        yield Made(f"damaged-{place}.parquet", whole[:place] + bytes([whole[place] ^ 0x41]) + whole[place + 1 :])


_LETTERS = "abAB01.,-_ '\"|;/\t\u00a0\u200b\u0301éßſıİΣςаЕ½²﹣−–＋１٣ﬁ&[](){}<>?#%~😀\u202e\x1f\x85"
_CHANGES: tuple[Callable[[str], str], ...] = (
    str.upper,
    str.lower,
    str.title,
    str.swapcase,
    lambda text: text + " ",
    lambda text: " " + text,
    lambda text: text + "\u00a0",
    lambda text: text + "\u200b",
    lambda text: text.replace(" ", "_"),
    lambda text: text + ".0",
    lambda text: text + "0",
    lambda text: "0" + text,
    lambda text: f"[{text}]",
    lambda text: f"'{text}'",
    lambda text: f"&lt;{text}&gt;",
    lambda text: text.replace("e", "é"),
    lambda text: text + "\u0301",
    lambda text: text[:1],
    lambda text: text + "|x",
    lambda text: text + "/" + text,
    lambda text: text * 2,
    lambda text: unicodedata.normalize("NFD", text),
    lambda text: unicodedata.normalize("NFKC", text),
)


def _values(rng: Rng) -> list[str]:
    """Some values of one column: of a pool or two, or of odd characters."""
    if rng.random() < 0.25:
        odd = ["".join(rng.choice(list(_LETTERS), int(rng.integers(1, 6)))) for _ in range(int(rng.integers(2, 5)))]
        return list(dict.fromkeys(odd))
    held = [*POOLS[int(rng.integers(len(POOLS)))]]
    if rng.random() < 0.2:
        held += POOLS[int(rng.integers(len(POOLS)))]
    return list(dict.fromkeys(held))


def _changed(rng: Rng, values: list[str]) -> list[str]:
    """The same values, one of them at times in another spelling, or one more."""
    out = list(values)
    if rng.random() < 0.6:
        place = int(rng.integers(len(out)))
        new = _CHANGES[int(rng.integers(len(_CHANGES)))](out[place])
        if rng.random() < 0.5:
            out[place] = new
        else:
            out.append(new)
    return out


def fuzzed(seed: int, count: int) -> Iterator[Made]:
    """Tables of odd values in odd CSV, and as text in Parquet."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        n = int(rng.choice([3, 12, 30, 80]))
        truth = _values(rng)
        pools = {"gender": _values(rng), "hired": truth, "said": _changed(rng, truth)}
        columns: dict[str, list[Any]] = {}
        for name, values in pools.items():
            gaps = 0.05 if rng.random() < 0.15 else 0.0
            drawn = _column(rng, n, tuple(values))
            columns[name] = [None if rng.random() < gaps else value for value in drawn]
        roles = dict(ROLES)
        if rng.random() < 0.2:
            columns["other"] = _column(rng, n, ("0", "1"))
            columns["guess"] = _column(rng, n, tuple(_changed(rng, ["0", "1"])) if rng.random() < 0.3 else ("0", "1"))
            roles = {**roles, "tasks": ["hired", "other"], "task_predictions": ["said", "guess"]}
        if rng.random() < 0.2:
            yield Made(f"fuzz-{seed}-{number}.parquet", parquet(pa.table(columns)), roles)
            continue
        yield Made(f"fuzz-{seed}-{number}.csv", _odd_csv(rng, columns), roles)


def _odd_csv(rng: Rng, columns: dict[str, list[Any]]) -> bytes:
    """A table as CSV of some dialect; fields at random in quotes, and at times something wrong."""
    separator = str(rng.choice([",", ",", ",", ";", "\t", "|"]))
    end = str(rng.choice(["\n", "\n", "\r\n", "\r"]))
    wrong = rng.random() < 0.1
    quotes = float(rng.choice([0.0, 0.0, 0.3, 1.0]))

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        bare = not any(mark in text for mark in (separator, "\n", "\r")) and not text.startswith('"')
        if (bare and rng.random() >= quotes) or (wrong and rng.random() < 0.02):
            return text
        return '"' + text.replace('"', '""') + '"'

    rows = [separator.join(map(cell, row)) + end for row in [list(columns), *zip(*columns.values(), strict=True)]]
    if wrong:
        place = int(rng.integers(len(rows)))
        rows[place] = str(
            rng.choice([rows[place] + end, end, rows[place][:-3] + end, " " + rows[place], rows[place] * 2])
        )
    text = "".join(rows)
    if rng.random() < 0.3:
        text = text.removesuffix(end)
    encoding = str(rng.choice(["utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16"]))
    return text.encode(encoding, "surrogatepass")


def files(fuzz: int = 300) -> Iterator[Made]:
    """All files, and so many of odd values."""
    yield from mistakes()
    yield from pools()
    yield from dialects()
    yield from parquets()
    yield from fuzzed(1, fuzz)
