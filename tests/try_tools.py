"""Files as other tools write them, for the judge of the audit in the browser: odd names, many groups, several tasks, up to 2,500 records."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.csv as pc

from try_pools import Made, Rng, parquet

# Names that mean something to JavaScript, to a shell, to CSV or to a spreadsheet, and plain ones among them.
NAMES = (
    *(
        "__proto__",
        "constructor",
        "toString",
        "hasOwnProperty",
        "length",
        "0",
        "a,b",
        "a;b",
        'say "x"',
        " lead",
        "trail ",
    ),
    *(
        "naïve",
        "性别",
        "🙂",
        "x\ty",
        "line\nbreak",
        "<b>x</b>",
        "&amp;",
        "A",
        "a",
        "",
        "col=1",
        "--help",
        "-x",
        "*",
        "tag_*",
    ),
    *(
        "[x]",
        "$HOME",
        "`id`",
        "a.b",
        "a\\b",
        "'q'",
        "null",
        "NaN",
        "true",
        "x" * 200,
        "\u200b",
        "\ufeffx",
        "#",
        "@user",
    ),
    *(
        "gender",
        "age group",
        "hired",
        "hired_pred",
        "label",
        "model",
        "region",
        "outcome",
        "decision",
        "truth",
        "said",
        "y",
    ),
)
GROUPS: tuple[tuple[str, ...], ...] = (
    ("woman", "man"),
    ("F", "M", "X"),
    ("Black", "White", "Asian", "Hispanic", "Other"),
    (" White", " Black"),
    ("0", "1"),
    ("10", "9", "8", "100"),
    ("female", "male", "non-binary", "prefer not to say"),
    ("São Paulo", "Zürich", "Łódź"),
    ("North, East", "South; West"),
    ("__proto__", "hasOwnProperty", "x"),
    ("9007199254740993", "9007199254740994", "9007199254740995"),
    tuple(f"site {number}" for number in range(40)),
)
YES_NO: tuple[tuple[str, ...], ...] = (
    ("0", "1"),
    ("1.0", "0.0"),
    ("true", "false"),
    ("no", "yes"),
    ("Not hired", "Hired"),
    ("approve", "decline"),
    ("-1", "1"),
    ("<=50K", ">50K"),
    ("<script>alert(1)</script>", "<img src=x>"),
    ("9007199254740993", "9007199254740992"),
    ("A,B", 'q"q'),
    ("J", "N"),
)
CLASSES: tuple[tuple[str, ...], ...] = (
    ("cat", "dog", "bird"),
    ("1", "2", "3", "4"),
    ("low", "medium", "high"),
    ("r0", "r1", "r2", "r10"),
    ("0.0", "1.0", "2.0"),
)
_CODECS = ("none", "snappy", "gzip", "zstd", "brotli", "lz4")
_RECORDS = (1, 9, 40, 90, 200, 400, 1000, 2500)

Columns = dict[str, list[str | None]]


def _one(rng: Rng, held: Sequence[Any]) -> Any:
    return held[int(rng.integers(len(held)))]


def _drawn(rng: Rng) -> tuple[Columns, dict[str, Any]]:
    """Columns as text, and what each of them is."""
    records = int(_one(rng, _RECORDS))
    tasks, attributes = int(_one(rng, (1, 1, 1, 2, 3, 8))), int(_one(rng, (1, 1, 2)))
    names = [str(name) for name in rng.permutation(np.array(NAMES, dtype=object))][: attributes + 2 * tasks + 2]
    roles = {
        "attributes": names[:attributes],
        "tasks": names[attributes : attributes + tasks],
        "task_predictions": names[attributes + tasks : -2],
    }
    columns: Columns = {
        name: [_one(rng, ("", "x", "a, b", 'he said "no"', "2.5", "a\nb")) for _ in range(records)]
        for name in names[-2:]
    }
    group = np.zeros(records, dtype=np.int64)
    for name in roles["attributes"]:
        pool = _one(rng, GROUPS)
        group = rng.choice(len(pool), records, p=rng.dirichlet(np.full(len(pool), 5.0)))
        columns[name] = [pool[int(i)] for i in group]
    shared = _one(rng, YES_NO[:4])
    for task, said in zip(roles["tasks"], roles["task_predictions"], strict=True):
        pool = shared if tasks > 1 else _one(rng, CLASSES if rng.random() < 0.3 else YES_NO)
        lean, errs = float(_one(rng, (0.0, 0.05, 0.3))), float(_one(rng, (0.0, 0.02, 0.1, 0.3)))
        truth = rng.integers(0, len(pool), records)
        truth = np.where(rng.random(records) < lean, group % len(pool), truth)
        guess = np.where(rng.random(records) < errs, rng.integers(0, len(pool), records), truth)
        guess = np.where(rng.random(records) < lean * errs, group % len(pool), guess)
        spelled = [value.upper() for value in pool] if rng.random() < 0.06 else pool
        columns[task], columns[said] = [pool[int(i)] for i in truth], [spelled[int(i)] for i in guess]
    if rng.random() < 0.08:
        name = str(_one(rng, names[:-2]))
        columns[name] = [None if rng.random() < 0.03 else value for value in columns[name]]
    order = rng.permutation(np.array(list(columns), dtype=object))
    return {str(name): columns[str(name)] for name in order}, roles


def _csv(rng: Rng, columns: Columns) -> bytes:
    """The columns as the csv module, pandas, polars, Arrow or R write them."""
    separator, end = str(_one(rng, (",", ",", ";", "\t", "|"))), str(_one(rng, ("\n", "\r\n")))
    missing = str(_one(rng, ("", "", "NA", "null")))
    held = {name: [missing if value is None else value for value in values] for name, values in columns.items()}
    way = _one(rng, ("needed", "all", "pandas", "index", "polars", "arrow", "r"))
    out = io.StringIO()
    if way in ("pandas", "index"):
        frame = pd.DataFrame(dict(enumerate(held.values())))
        frame.columns = pd.Index(list(held))
        frame.to_csv(out, index=way == "index", sep=separator, lineterminator=end)
    elif way == "polars":
        out.write(pl.DataFrame(held).write_csv(separator=separator, line_terminator=end))
    elif way == "arrow":
        sink = io.BytesIO()
        pc.write_csv(pa.table(held), sink, pc.WriteOptions(delimiter=separator))
        out.write(sink.getvalue().decode())
    else:
        quoting = csv.QUOTE_MINIMAL if way == "needed" else csv.QUOTE_ALL
        writer = csv.writer(out, delimiter=separator, lineterminator=end, quoting=quoting)
        rows = zip(*held.values(), strict=True)
        # R has a column of row names, whose own name is empty.
        writer.writerow(["", *held] if way == "r" else held)
        writer.writerows(((i, *row) for i, row in enumerate(rows, 1)) if way == "r" else rows)
    text = out.getvalue()
    if rng.random() < 0.1:
        text = text.removesuffix(end)
    if rng.random() < 0.05:
        text = f"sep={separator}{end}{text}"
    encoding = str(_one(rng, ("utf-8", "utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252")))
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        return text.encode()


def _typed(rng: Rng, values: list[str | None]) -> pa.Array:
    """Values in one of the types that can hold them."""
    held = [value for value in values if value is not None]
    ways = ["text", "large", "view", "dictionary", "unused"]
    if all(value.removeprefix("-").isdigit() for value in held):
        ways += ["int64", "int64", "whole", "decimal", "dictionary of int64"]
    if set(held) <= {"0", "1", "true", "false"}:
        ways += ["bool", "bool", "int8", "float32"] if set(held) <= {"0", "1"} else ["bool", "bool"]
    way = str(_one(rng, ways))
    if way in ("text", "large", "view", "dictionary"):
        types = {"large": pa.large_string(), "view": pa.string_view()}
        made = pa.array(values, types.get(way, pa.string()))
        return made.dictionary_encode() if way == "dictionary" else made
    if way == "unused":  # a category that no record has
        known = [*dict.fromkeys(held), "never seen"]
        places = pa.array([None if value is None else known.index(value) for value in values], pa.int8())
        return pa.DictionaryArray.from_arrays(places, pa.array(known, pa.string()))
    if way == "bool":
        return pa.array([None if value is None else value in ("1", "true") for value in values], pa.bool_())
    if way == "decimal":
        return pa.array([None if value is None else Decimal(value) for value in values], pa.decimal128(20, 0))
    whole = [None if value is None else int(value) for value in values]
    if way == "dictionary of int64":
        return pa.array(whole, pa.int64()).dictionary_encode()
    if way in ("whole", "float32"):
        numbers = [None if value is None else float(value) for value in whole]
        return pa.array(numbers, pa.float64() if way == "whole" else pa.float32())
    return pa.array(whole, pa.int8() if way == "int8" else pa.int64())


def _parquet(rng: Rng, columns: Columns) -> bytes:
    """The columns as Arrow, pandas or polars write them."""
    arrays = [_typed(rng, values) for values in columns.values()]
    table = pa.Table.from_arrays(arrays, names=list(columns))
    codec = str(_one(rng, _CODECS))
    way = _one(rng, ("arrow", "arrow", "pandas", "polars"))
    sink = io.BytesIO()
    if way == "polars" and not any(pa.types.is_decimal(array.type) for array in arrays):
        frame = pl.DataFrame(pl.from_arrow(table))
        frame.write_parquet(sink, compression={"none": "uncompressed"}.get(codec, codec), row_group_size=500)  # type: ignore[arg-type]
        return sink.getvalue()
    if way == "pandas" and not any(pa.types.is_string_view(array.type) for array in arrays):
        table.to_pandas().to_parquet(sink, compression=None if codec in ("none", "lz4") else codec)
        return sink.getvalue()
    more = {
        "data_page_version": _one(rng, ("1.0", "2.0")),
        "use_dictionary": bool(rng.random() < 0.6),
        "row_group_size": int(_one(rng, (max(7, table.num_rows // 9), 10_000))),
        "data_page_size": int(_one(rng, (100, 1_000_000))),
        "store_schema": bool(rng.random() < 0.7),
        "write_page_checksum": bool(rng.random() < 0.3),
    }
    return parquet(table, compression=codec, **more)


def written_by_tools(seed: int, count: int) -> Iterator[Made]:
    """Tables of strangers."""
    for number in range(count):
        rng = np.random.default_rng([seed, number])
        columns, roles = _drawn(rng)
        if rng.random() < 0.5:
            yield Made(f"tool-{seed}-{number}.csv", _csv(rng, columns), roles)
        else:
            yield Made(f"tool-{seed}-{number}.parquet", _parquet(rng, columns), roles)
