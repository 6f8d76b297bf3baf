"""Files for the judge of the audit in the browser: CSV and Parquet, right ones and wrong ones, each made from a seed."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from mistakes.cases import CASES
from try_arrow_types import arrow_types
from try_odd_tables import fuzzed
from try_parquets import parquets
from try_pools import POOLS, ROLES, Made, Rng, column, csv_text, parquet, right


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


def pools() -> Iterator[Made]:
    """Every pool as a truth that is predicted in its own spelling, as groups, and against another pool."""
    rng = np.random.default_rng(21)
    n = 24
    for number, pool in enumerate(POOLS):
        plain = column(rng, n, ("w", "m"))
        truth = column(rng, n, pool)
        said = column(rng, n, pool)
        yield Made(f"truth-{number}.csv", csv_text({"gender": plain, "hired": truth, "said": said}).encode())
        other = column(rng, n, POOLS[(number + 1) % len(POOLS)])
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
    huge = ["18446744073709551616", "1"] * 20
    nameless: dict[str, Any] = {"attributes": [""], "tasks": ["hired"], "task_predictions": ["said"]}
    yield Made("no-name-huge.csv", csv_text({**table, "": huge}).encode(), nameless)
    yield Made("no-name-group.csv", csv_text({**table, "": table["gender"]}).encode(), nameless)
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
    gender = column(rng, 60, ("w", "m"))
    three = column(rng, 60, ("red", "green", "blue"))
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


def files(fuzz: int = 300) -> Iterator[Made]:
    """All files, and so many of odd values."""
    yield from mistakes()
    yield from pools()
    yield from dialects()
    yield from parquets()
    yield from arrow_types()
    yield from fuzzed(1, fuzz)
