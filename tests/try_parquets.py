"""Parquet files for the judge of the audit in the browser: types, codecs, encodings and damage."""

from __future__ import annotations

import datetime
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from try_pools import Made, column, parquet

_CODECS = ("none", "snappy", "gzip", "brotli", "zstd", "lz4")


def parquets() -> Iterator[Made]:
    """Types, codecs, encodings and layouts of Parquet files."""
    rng = np.random.default_rng(23)
    n = 60
    gender = pa.array(column(rng, n, ("w", "m")))
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
    marked = {"\ufeffgender": gender, "gender": pa.array(column(rng, n, ("x", "y"))), "\ufeff": bits, "said": said}
    roles = {"attributes": ["\ufeffgender"], "tasks": ["\ufeff"], "task_predictions": ["said"]}
    yield Made("marked-names.parquet", parquet(pa.table(marked)), roles)
    nameless = {
        "gender": gender,
        "hired": bits,
        "": pa.array(["yes" if x else "no" for x in said]),
        "b": bits,
        "q": said,
    }
    roles = {"attributes": ["gender"], "tasks": ["hired", "b"], "task_predictions": ["", "q"]}
    yield Made("nameless.parquet", parquet(pa.table(nameless)), roles)
    twice = pa.Table.from_arrays([gender, base["hired"], base["hired"]], names=["gender", "hired", "hired"])
    yield Made("twice.parquet", parquet(twice))
    yield Made("no-rows.parquet", parquet(pa.table(base).slice(0, 0)))
    whole = parquet(pa.table(base))
    yield Made("empty.parquet", b"")
    yield Made("text.parquet", b"gender,hired,said\nw,1,1\n")
    yield Made("zip.parquet", b"PK\x03\x04" + bytes(60))
    for cut in (3, 10, 40, len(whole) // 2, len(whole) - 9, len(whole) - 1):
        yield Made(f"cut-{cut}.parquet", whole[:cut])
    packed = parquet(pa.table(base), compression="gzip", store_schema=False)
    second = parquet(pa.table(base), compression="zstd", data_page_version="2.0", row_group_size=20)
    for name, raw, flipped in (("", whole, 0x41), ("gzip-", packed, 0x20), ("v2-", second, 0x02)):
        for place in range(6, len(raw), max(1, len(raw) // 40)):
            damaged = raw[:place] + bytes([raw[place] ^ flipped]) + raw[place + 1 :]
            yield Made(f"damaged-{name}{place}.parquet", damaged)
    # A header of a page with a list of two thousand million items: it must not be waited for.
    start = whole.index(b"\x15\x04\x15")
    yield Made("damaged-endless.parquet", whole[:start] + b"\x19\xf5\xff\xff\xff\xff\x07" + whole[start + 7 :])
