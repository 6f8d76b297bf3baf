"""What a Spark task does with its batches, without Spark."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from biasamp.engines import spark


@pytest.mark.parametrize("sizes", [[], [0], [1], [10_000] * 20, [70_000, 1, 0, 65_536], [3, 0, 4, 0], [200_000]])
def test_batches_are_put_together_in_their_order(sizes: list[int]) -> None:
    ends = np.cumsum([0, *sizes])
    numbers = pa.array(np.arange(ends[-1]))
    words = pa.array([f"label {i % 7}" for i in range(int(ends[-1]))])
    given = [pa.record_batch({"n": numbers[a:b], "w": words[a:b]}) for a, b in pairwise(ends)]
    found = list(spark._larger(iter(given)))
    assert all(isinstance(batch, pa.RecordBatch) for batch in found)
    # None is empty, none but one that came so is larger than what is put together, and no two neighbours would have fitted.
    made = [batch.num_rows for batch in found]
    assert all(made)
    assert all(rows <= spark._BATCH_ROWS or rows in sizes for rows in made)
    assert all(one + other > spark._BATCH_ROWS for one, other in pairwise(made))
    assert sum(made) == sum(sizes)
    if found:
        whole = pa.Table.from_batches(found)
        assert whole["n"].to_pylist() == numbers.to_pylist()
        assert whole["w"].to_pylist() == words.to_pylist()


def test_large_rows_are_put_together_up_to_some_bytes() -> None:
    text = "x" * (spark._BATCH_BYTES // 4)
    given = [pa.record_batch({"w": pa.array([text])}) for _ in range(8)]
    assert max(batch.nbytes for batch in spark._larger(iter(given))) <= spark._BATCH_BYTES
    assert sum(batch.num_rows for batch in spark._larger(iter(given))) == 8
