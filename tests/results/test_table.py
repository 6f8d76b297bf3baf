"""What users hold: plain numbers, tables for every library, and nothing that breaks JSON or HTML."""

from __future__ import annotations

import dataclasses
import json
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from biasamp import directional, mals, multi
from biasamp.results import Table

rng = np.random.default_rng(0)
A, T, P = rng.integers(0, 2, 400), rng.integers(0, 2, (400, 3)), rng.integers(0, 2, (400, 3))
COLUMNS = [
    "given",
    "outcome",
    "sign",
    "sign_p",
    "truth_rate",
    "predicted_rate",
    "delta",
    "amplification",
    "low",
    "high",
    "support",
]


@pytest.mark.parametrize("metric", [directional, multi, lambda *x: mals(x[0], x[1], x[0], x[2])])
def test_to_dict_is_json(metric: object) -> None:
    result = metric(A, T, P)  # type: ignore[operator]
    listed = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert listed["value"] == result.value
    assert listed["n"] == 400
    assert [row["delta"] for row in listed["pairs"]] == result.pairs["delta"].tolist()
    assert {"metric", "direction", "value", "interval", "n", "pairs", "excluded"} <= listed.keys()
    low, high = listed["interval"]
    assert low is None or low <= high


@pytest.mark.parametrize("metric", [directional, multi, lambda *x: mals(x[0], x[1], x[0], x[2])])
def test_pairs(metric: object) -> None:
    pairs = metric(A, T, P).pairs  # type: ignore[operator]
    assert set(COLUMNS) <= set(pairs.columns)
    for backend, kind in (("pandas", pd.DataFrame), ("polars", pl.DataFrame), ("pyarrow", pa.Table)):
        frame = pairs.to_frame(backend)
        assert isinstance(frame, kind)
        assert list(frame["delta"].to_pylist() if backend == "pyarrow" else frame["delta"]) == pairs["delta"].tolist()
    with pytest.raises(ValueError, match="backend is 'excel'; use one of"):
        pairs.to_frame("excel")
    with pytest.raises(KeyError, match="no column 'lift'; there are given"):
        pairs["lift"]


def test_results_are_frozen() -> None:
    result = directional(A, T, P)
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.value = 0.0  # type: ignore[misc]


def test_html_escapes_labels() -> None:
    evil = ["<script>alert(1)</script>", '"><img src=x>']
    html = directional(
        [evil[i % 2] for i in range(8)], [0, 1, 0, 0, 1, 1, 0, 1], [1, 1, 0, 0, 1, 1, 0, 1]
    )._repr_html_()
    assert "<script>" not in html
    assert "<img" not in html
    assert "&lt;script&gt;" in html


@pytest.mark.parametrize("metric", [directional, multi])
def test_intervals_are_reproducible_and_hold_the_estimate(metric: object) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        result = metric(A, T, P)  # type: ignore[operator]
        one, same = (result.confidence_interval(resamples=200, seed=5) for _ in range(2))
        assert (one.low, one.high) == (same.low, same.high)
        wide = result.confidence_interval(0.99, resamples=200, seed=5)
        assert wide.low <= one.low < one.high <= wide.high


class TestTable:
    def test_missing_numbers_are_none_and_null(self) -> None:
        table = Table({"x": np.array([1.0, np.nan]), "s": np.array(["a", "b"], dtype=object)})
        assert list(table.rows()) == [{"x": 1.0, "s": "a"}, {"x": None, "s": "b"}]
        assert table.to_arrow()["x"].null_count == 1

    def test_lengths(self) -> None:
        with pytest.raises(ValueError, match="different lengths"):
            Table({"x": np.zeros(2), "y": np.zeros(3)})

    def test_empty(self) -> None:
        assert len(Table({})) == 0
        assert list(Table({"x": np.zeros(0)}).rows()) == []
