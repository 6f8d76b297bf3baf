"""How often scores come true, bin by bin, against sums over every record."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts.fixed import floats
from biasamp.counts.reliability import ReliabilityCounts, bins_of
from biasamp.data import Dense, Evaluation, LabelSet, Variable

NAMES = ("n", "truth", "scores", "squared")


def several(values: Any, there: Any = None) -> LabelSet:
    values = np.asarray(values)
    values = values if values.dtype.kind == "f" else values.astype(np.uint8)
    return LabelSet((Dense(tuple(Variable(f"t{i}", "binary") for i in range(values.shape[1])), values, there),))


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("gaps", [False, True])
def test_sums_by_bin(weights: str, gaps: bool) -> None:
    rng = np.random.default_rng(0)
    n, width = 90, 3
    given, truth = rng.integers(0, 2, (n, 2)), rng.integers(0, 2, (n, width))
    score = np.where(
        rng.random((n, width)) < 0.2, rng.integers(0, 2, (n, width)), rng.integers(0, 65, (n, width)) / 64.0
    )
    there = rng.random((n, width)) < 0.7 if gaps else np.ones((n, width), dtype=bool)
    own = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.integers(0, 9, n) / 4.0}[weights]
    e = Evaluation(several(given), several(truth * there, there if gaps else None), several(score), own)
    made = ReliabilityCounts.of_records(e)
    w = np.ones(n) if own is None else own.astype(float)
    expected = {name: np.zeros((2, width, 10)) for name in NAMES}
    for g in range(2):
        for j in range(width):
            for i in np.flatnonzero(given[:, g] & there[:, j]):
                at = min(int(score[i, j] * 10), 9)
                values = {"n": w[i], "truth": w[i] * truth[i, j], "scores": w[i] * score[i, j], "squared": w[i] ** 2}
                for name, value in values.items():
                    expected[name][g, j, at] += value
    for name in NAMES:
        np.testing.assert_array_equal(floats(getattr(made, name)), expected[name], err_msg=name)
    both = made + made
    few = made.only(np.array([False, True]), np.array([True, False, True]))
    arrays: dict[str, Any] = {}
    made.put(arrays)
    back = ReliabilityCounts.get(arrays)
    for name in NAMES:
        assert floats(getattr(both, name)).tolist() == (2 * expected[name]).tolist()
        assert floats(getattr(few, name)).tolist() == expected[name][1:, [0, 2]].tolist()
        assert floats(getattr(back, name)).tolist() == expected[name].tolist()
    assert made.__add__(3) is NotImplemented  # type: ignore[operator]


def test_bins() -> None:
    edges = np.arange(10) / 10
    assert bins_of(edges).tolist() == list(range(10))
    assert bins_of(np.nextafter(edges[1:], 0)).tolist() == list(range(9))
    assert bins_of(np.array([1.0, np.nextafter(1.0, 0)])).tolist() == [9, 9]
