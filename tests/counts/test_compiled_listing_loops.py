"""Listed labels are added to the totals of their keys."""

from __future__ import annotations

import numpy as np
import pytest

from extras import needs

needs("numba")

from biasamp.counts.kernels.compiled_listing import add_listed  # noqa: E402


@pytest.mark.parametrize("width", [1, 4])
def test_totals_of_keys(width: int) -> None:
    rng = np.random.default_rng(width)
    columns, one, two = rng.random((50, 3)) < 0.5, rng.random((50, width)) < 0.4, rng.random((50, width)) < 0.4
    one[[0, 5, 49]], two[[0, 6, 49]], columns[7] = False, False, False
    table = np.full((3 * width + 1, 3), 2, dtype=np.int64)
    add_listed(columns, *np.nonzero(one), *np.nonzero(two), table)
    held = np.concatenate([one, np.ones((50, 1), dtype=bool), two, one & two], axis=1).astype(int)
    assert table.tolist() == (held.T @ columns.astype(int) + 2).tolist()
