"""Rows by bucket, with and without the compiled loops, against Python's own whole numbers and lists."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pyarrow as pa
import pytest

from biasamp.counts.kernels.long_tally import numba_installed
from biasamp.engines import spill


@pytest.mark.parametrize("loaded", [False, *([True] if numba_installed() else [])])
@pytest.mark.parametrize("many", [1, 7, 256])
@pytest.mark.parametrize("score", ["none", "float64", "float16", "missing", "text"])
def test_rows_of_a_bucket_stand_together_in_their_order(loaded, many, score, monkeypatch):
    monkeypatch.setattr(spill, "sys", SimpleNamespace(modules={"numba": None} if loaded else {}))
    rng = np.random.default_rng(many)
    keys = rng.integers(0, 1 << 63, 500).astype(np.uint64) * np.uint64(2) + rng.integers(0, 2, 500).astype(np.uint64)
    # The first and the last key of all.
    keys[[3, 9]] = 0, (1 << 64) - 1
    columns = {"key": pa.array(keys.view(np.int64)), "label": pa.array(rng.integers(-1, 40, 500).astype(np.int32))}
    numbers = np.round(rng.random(500), 3)
    if score != "none":
        columns["score"] = {
            "float64": pa.array(numbers),
            "float16": pa.array(numbers.astype(np.float16)),
            "missing": pa.array([None if x < 0.2 else x for x in numbers.tolist()]),
            "text": pa.array([f"{x}" for x in numbers.tolist()]),
        }[score]
    batch = pa.record_batch(columns)
    held, edges = spill.by_bucket(batch, keys, many)
    buckets: list[list[tuple[object, ...]]] = [[] for _ in range(many)]
    for key, *row in zip(keys.tolist(), *(batch.column(i).to_pylist() for i in range(batch.num_columns)), strict=True):
        buckets[(key >> 32) * many >> 32].append(tuple(row))
    assert held.schema == batch.schema
    assert list(np.diff(edges)) == [len(bucket) for bucket in buckets]
    rows = list(zip(*(held.column(i).to_pylist() for i in range(held.num_columns)), strict=True))
    assert rows == [row for bucket in buckets for row in bucket]
