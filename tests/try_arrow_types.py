"""Parquet files for the judge of the audit in the browser: types that Arrow keeps in a note beside the file's own, and their bounds."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Iterator
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from try_pools import ROLES, Made, parquet

_RECORDS = 64
_MILLENNIA = 253_402_300_800  # seconds to the year 10000
_YEAR_0 = -62_167_219_200


def _kinds() -> Iterator[tuple[str, Any, Callable[[int], Any]]]:
    """A type, and the value that a small number becomes."""
    for unit in ("s", "ms", "us", "ns"):
        yield f"duration-{unit}", pa.duration(unit), lambda x: x * 90_061
        yield f"duration-before-{unit}", pa.duration(unit), lambda x: -5_003 * x
        yield f"duration-long-{unit}", pa.duration(unit), lambda x: 2**62 + x
        yield f"moment-{unit}", pa.timestamp(unit), lambda x: -90_061 * x
        yield f"moment-zone-{unit}", pa.timestamp(unit, "America/New_York"), lambda x: 90_061 * x
        yield f"moment-ahead-{unit}", pa.timestamp(unit, "+05:30"), lambda x: 90_061 * x
    yield "moment-early", pa.timestamp("us", "America/New_York"), lambda x: -3 * 10**15 + x
    yield "moment-year-12", pa.timestamp("s", "America/New_York"), lambda x: _YEAR_0 + 12 * 31_556_952 + x
    yield "moment-year-10000", pa.timestamp("ms"), lambda x: _MILLENNIA * 1000 + x
    yield "moment-year-0", pa.timestamp("us"), lambda x: _YEAR_0 * 10**6 - x
    yield "moment-beyond", pa.timestamp("ms"), lambda x: 2**61 + x
    yield "moment-edge", pa.timestamp("ms", "+05:30"), lambda x: (_MILLENNIA - 60 * x) * 1000 - 1
    yield "moment-mars", pa.timestamp("us", "Mars/Olympus"), lambda x: x
    for unit, kind in (("s", pa.time32), ("ms", pa.time32), ("us", pa.time64), ("ns", pa.time64)):
        day = {"s": 86_400, "ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}[unit]
        yield f"time-{unit}", kind(unit), lambda x: 61 * x
        yield f"time-late-{unit}", kind(unit), lambda x, day=day: day - 2 + x
    yield "date-before", pa.date32(), lambda x: -40_000 * x
    yield "date-beyond", pa.date32(), lambda x: 2**30 + x
    for digits, scale in ((5, 2), (15, 15), (16, 3), (38, 10)):
        yield f"decimal-{digits}", pa.decimal128(digits, scale), lambda x, s=scale: Decimal(x).scaleb(-s)
    yield "decimal-50", pa.decimal256(50, 2), lambda x: Decimal(x) / 4
    yield "bytes-view", pa.binary_view(), lambda x: bytes([65 + x % 60])
    yield "bytes-3", pa.binary(3), lambda x: bytes([65 + x % 60, 66, 67])
    yield "uuid", pa.uuid(), lambda x: uuid.UUID(int=x).bytes
    yield "json", pa.json_(), lambda x: json.dumps({"a": x})
    yield "list", pa.list_(pa.string()), lambda x: [f"v{x}", "b"]
    yield "list-view", pa.list_view(pa.string()), lambda x: [f"v{x}", "b"]
    yield "list-fixed", pa.list_(pa.string(), 2), lambda x: [f"v{x}", "b"]
    yield "list-empty", pa.list_(pa.string()), lambda x: [f"v{x}", ""]
    yield "list-spelled", pa.list_(pa.string()), lambda x: [f"v{x}", "b", "B"]
    yield "list-gap", pa.list_(pa.string()), lambda x: [f"v{x}", None] if x else ["b"]
    yield "list-fractions", pa.list_(pa.float64()), lambda x: [x / 4, 0.0]
    yield "list-rows", pa.list_(pa.int64()), lambda x: [x % 2, 1]
    yield "list-numbers", pa.list_(pa.int64()), lambda x: [x, x + 1, 7][: 1 + x % 3]
    yield "list-decimals", pa.list_(pa.decimal128(5, 2)), lambda x: [Decimal(x) / 4, Decimal(0)]
    yield "list-durations", pa.list_(pa.duration("s")), lambda x: [x, 1]
    yield "list-list", pa.list_(pa.list_(pa.string())), lambda x: [[f"v{x}"]]
    yield "list-fields", pa.list_(pa.struct([("a", pa.int64())])), lambda x: [{"a": x}]
    yield "list-maps", pa.list_(pa.map_(pa.string(), pa.int64())), lambda x: [[("k", x)]]
    yield "map", pa.map_(pa.string(), pa.duration("s")), lambda x: [("k", x)]


def arrow_types() -> Iterator[Made]:
    """Each type as groups, as a truth that is predicted, with a gap, as a field of a column, and without Arrow's note."""
    rng = np.random.default_rng(18)
    bits, few = rng.integers(0, 2, _RECORDS).tolist(), rng.integers(0, 4, _RECORDS).tolist()
    base = {"gender": rng.choice(["w", "m"], _RECORDS).tolist(), "hired": bits, "said": rng.permutation(bits).tolist()}
    inner = {**ROLES, "attributes": ["doc.x"]}
    for name, kind, made in _kinds():
        two, four, each = (pa.array([made(x) for x in numbers], kind) for numbers in (bits, few, range(_RECORDS)))
        gap = pa.array([None if i == 3 else made(x) for i, x in enumerate(bits)], kind)
        yield Made(f"two-{name}.parquet", parquet(pa.table({**base, "gender": two})))
        yield Made(f"four-{name}.parquet", parquet(pa.table({**base, "gender": four})))
        yield Made(f"each-{name}.parquet", parquet(pa.table({**base, "gender": each})))
        yield Made(f"gap-{name}.parquet", parquet(pa.table({**base, "gender": gap})))
        yield Made(f"said-{name}.parquet", parquet(pa.table({**base, "hired": two, "said": two})))
        yield Made(f"other-{name}.parquet", parquet(pa.table({**base, "hired": four})))
        yield Made(f"unnoted-{name}.parquet", parquet(pa.table({**base, "gender": four}), store_schema=False))
        field = pa.StructArray.from_arrays([four, pa.array(bits)], names=["x", "y"])
        yield Made(f"field-{name}.parquet", parquet(pa.table({**base, "doc": field})), inner)
    for name in ("duration", "moment-zone-us"):
        kind = pa.duration("us") if name == "duration" else pa.timestamp("us", "America/New_York")
        coded = pa.array([90_061 * x for x in few], kind).dictionary_encode()
        yield Made(f"coded-{name}.parquet", parquet(pa.table({**base, "gender": coded})))
