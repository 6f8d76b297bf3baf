"""Rows of one bucket are brought together in their order."""

from __future__ import annotations

import numpy as np
import pytest

from extras import needs

needs("numba")

from biasamp.counts.kernels import compiled_buckets  # noqa: E402


@pytest.mark.parametrize("many", [1, 3, 8, 100])
def test_rows_of_a_bucket_stand_together(many: int) -> None:
    rng = np.random.default_rng(many)
    keys = rng.integers(0, (1 << 63) - 1, 60).astype(np.uint64) << np.uint64(1)
    keys[:3] = 0, (1 << 64) - 1, 1 << 63
    edges, places = np.full(many + 1, 9, dtype=np.int64), np.zeros(60, dtype=np.int64)
    compiled_buckets.places_by_bucket(keys, many, edges, places)
    bucket = [(key >> 32) * many >> 32 for key in keys.tolist()]
    order = sorted(range(60), key=lambda row: bucket[row])
    assert places[order].tolist() == list(range(60))
    assert edges.tolist() == [sum(own < place for own in bucket) for place in range(many + 1)]
    out = np.zeros(60, dtype=np.uint64)
    compiled_buckets.put(keys, places, out)
    assert out.tolist() == keys[order].tolist()
