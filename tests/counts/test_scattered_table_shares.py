"""Rows in any order: sorted in shares, each record once."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from biasamp.counts.kernels.long_tally import numba_installed
from biasamp.counts.scattered_table import ScatteredCounter

KERNELS = ["numpy", *(["numba"] if numba_installed() else [])]


@pytest.mark.parametrize("kernel", KERNELS)
def test_scattered_rows_are_sorted_in_shares(kernel: str, monkeypatch: pytest.MonkeyPatch) -> None:
    from biasamp.counts import scattered_table

    monkeypatch.setattr(scattered_table, "_SORTED_AT_ONCE", 200)
    rng = np.random.default_rng(1)
    for rows in (200, 201, 900):
        ids, labels = rng.integers(0, 70, rows), rng.integers(0, 5, rows)
        counter = ScatteredCounter([["0"], ["1"]], kernel=kernel)
        for start in range(0, rows, 111):
            counter.add(pa.array(ids[start : start + 111]), pa.array(labels[start : start + 111]))
        counter.add(pa.array(ids[:0]), pa.array(labels[:0]))
        part = counter.part()
        counts = part.finished(["x", "y"], [["0"], ["1"]])
        sets = [set(labels[ids == record].tolist()) for record in np.unique(ids)]
        assert counts.n == len(sets)
        assert counts.count.tolist() == [sum(int(label) in one for one in sets) for label in counts.labels]
        assert counts.overlap.tolist() == [[sum({x, y} <= one for one in sets) for y in (0, 1)] for x in (0, 1)]
        assert part.duplicates == rows - sum(map(len, sets))
        assert part.rows == rows
