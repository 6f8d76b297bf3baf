"""Buffers of Arrow arrays as numpy arrays: equal to pyarrow's own way, without its imports."""

from __future__ import annotations

import subprocess
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from biasamp.data.arrow_numbers import arrow_of, arrow_text, float_of, null_mask, numpy_of

TYPES = [pa.int8(), pa.uint16(), pa.int64(), pa.uint64(), pa.float16(), pa.float32(), pa.float64(), pa.bool_()]


@pytest.mark.parametrize("kind", TYPES, ids=str)
@pytest.mark.parametrize("nulls", [False, True])
def test_values_are_those_of_pyarrow(kind: pa.DataType, nulls: bool) -> None:
    rng = np.random.default_rng(0)
    for n in (0, 1, 7, 8, 65):
        drawn = rng.integers(0, 2, n + 9)
        values = drawn.astype(np.float16) if pa.types.is_float16(kind) else drawn.tolist()
        whole = pa.array(values, mask=rng.random(n + 9) < 0.3 if nulls else None, from_pandas=False)
        whole = whole.cast(kind) if whole.type != kind else whole
        for start in (0, 3, 8):
            part = whole.slice(start, n)
            right = np.array([0 if value is None else value for value in part.to_pylist()])
            found = numpy_of(part, 0)
            assert found.tolist() == right.tolist()
            assert found.dtype == (bool if pa.types.is_boolean(kind) else kind.to_pandas_dtype())
            assert null_mask(part).tolist() == part.is_null().to_pylist()
            back = arrow_of(found, null_mask(part))
            assert back.type == kind
            assert back.to_pylist() == part.to_pylist()
            back.validate(full=True)


def test_chunks_and_text() -> None:
    chunks = pa.chunked_array([pa.array([1, 2]), pa.array([], pa.int64()), pa.array([None, 4])])
    assert numpy_of(chunks, -1).tolist() == [1, 2, -1, 4]
    assert null_mask(chunks).tolist() == [False, False, True, False]
    assert numpy_of(pa.chunked_array([], pa.int32())).dtype == np.int32
    words = ["", "é", "a" * 1000, "\n"]
    for kind in (pa.string(), pa.large_string()):
        made = arrow_text(words, kind)
        made.validate(full=True)
        assert (made.type, made.to_pylist()) == (kind, words)
    with pytest.raises(ValueError, match="1 values are missing"):
        numpy_of(pa.array([None, 1]))
    with pytest.raises(TypeError, match="no numbers"):
        numpy_of(pa.array(["a"]))


def test_files_are_audited_and_associated_without_pandas(tmp_path: Path) -> None:
    """Nor is numba loaded for so little work."""
    rows = {"g": ["w", "m"] * 40, "t": [1, 0, None, 1] * 20, "p": [1, 0, 1, 1] * 20, "l": [["a"], ["b", "w"]] * 40}
    pq.write_table(pa.table({**rows, "i": list(range(80))}), tmp_path / "x.parquet")
    (tmp_path / "x.csv").write_text(
        "g,t,p\n" + "\n".join(f"{'wm'[i % 2]},{i // 2 % 2},{i // 3 % 2}" for i in range(80)) + "\n"
    )
    code = f"""
import sys, biasamp
roles = dict(attributes="g", tasks="t", task_predictions="p", missing="drop", metrics=["directional"])
biasamp.audit({str(tmp_path / "x.parquet")!r}, **roles)
biasamp.audit({str(tmp_path / "x.csv")!r}, **roles)
biasamp.associate({str(tmp_path / "x.parquet")!r}, ["a", "b"], label="l", record="i")
print(*(name for name in ("pandas", "numba") if name in sys.modules))
"""
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stderr, ended.stdout) == (0, "", "\n")


@pytest.mark.parametrize(
    "kind", [pa.decimal32(9, 2), pa.decimal64(15, 4), pa.decimal128(15, 15), pa.decimal256(15, 1)], ids=str
)
def test_decimals_become_the_floats_nearest_to_them(kind: pa.DataType) -> None:
    digits = np.random.default_rng(1).integers(-(10**kind.precision) + 1, 10**kind.precision, 500).tolist()
    values = [None, *(Decimal(one).scaleb(-kind.scale) for one in [0, -1, 35, 41, *digits])]
    for start in (0, 1, 7):
        held = pa.array(values, kind)[start:]
        right = [0.0 if value is None else float(value) for value in values[start:]]
        assert float_of(held).tolist() == right
    assert float_of(pa.array([], kind)).tolist() == []
