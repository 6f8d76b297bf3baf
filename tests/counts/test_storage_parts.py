"""Saved arrays: every shape and kind, sums in limbs, which files are counts, and what is said of others."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
from biasamp.counts.fixed import Fixed
from biasamp.counts.storage import from_arrays, get_count, is_counts, load_counts, put_count, read_arrays, write_arrays

ARRAYS: dict[str, Any] = {
    "whole": np.array([[1, -2], [3, 1 << 62]]),
    "small": np.array([1, 255], dtype=np.uint8),
    "real": np.array([[[0.5, np.nan]], [[-1.25, np.inf]]]),
    "short": np.array([0.5], dtype=np.float32),
    "none": np.zeros((3, 0), dtype=np.int64),
    "one": np.array(7),
}


def test_arrays_of_every_shape(tmp_path: Path) -> None:
    write_arrays(tmp_path / "a.parquet", {"kind": "x", "held": [1, None]}, ARRAYS)
    header, arrays = read_arrays(tmp_path / "a.parquet")
    assert header == {"kind": "x", "held": [1, None], "schema": 1}
    assert list(arrays) == list(ARRAYS)
    for name, array in ARRAYS.items():
        assert arrays[name].shape == array.shape
        assert arrays[name].dtype == (np.float64 if array.dtype.kind == "f" else np.int64)
        np.testing.assert_array_equal(arrays[name], array)
    assert is_counts(tmp_path / "a.parquet")
    assert is_counts(str(tmp_path / "a.parquet"))


def test_which_files_are_counts(tmp_path: Path) -> None:
    pq.write_table(pa.table({"n": [1]}), tmp_path / "other.parquet")
    (tmp_path / "text.parquet").write_text("PAR1 and no more")
    (tmp_path / "text.csv").write_text("a,b")
    for name in ("other.parquet", "text.parquet", "text.csv", "absent.parquet", ""):
        assert not is_counts(tmp_path / name)
    assert not is_counts(3)
    assert not is_counts(None)


def test_counts_of_either_kind(tmp_path: Path) -> None:
    audit = biasamp.count({"g": ["a", "b"], "t": [0, 1], "p": [1, 1]}, attributes="g", tasks="t", task_predictions="p")
    audit.save(tmp_path / "a.parquet")
    assert isinstance(load_counts(tmp_path / "a.parquet"), biasamp.AuditCounts)
    biasamp.count([["a"], ["b"]], identities=["a", "b"]).save(tmp_path / "b.parquet")
    assert isinstance(load_counts(tmp_path / "b.parquet"), biasamp.AssociationCounts)
    write_arrays(tmp_path / "c.parquet", {"kind": "other"}, ARRAYS)
    with pytest.raises(ValueError, match=r"c\.parquet holds 'other', not the counts of an audit or of associations"):
        load_counts(tmp_path / "c.parquet")
    with pytest.raises(ValueError, match="counts of the unknown kind 'other'"):
        from_arrays({"kind": "other"}, {})


def test_sums_are_put_as_limbs() -> None:
    arrays: dict[str, Any] = {}
    put_count(arrays, "n", np.array([3]))
    put_count(arrays, "s", Fixed(np.array([1]), np.array([(1 << 26) + 2]), np.array([-1])))
    # With limbs of 26 bits each.
    assert {name: array.tolist() for name, array in arrays.items()} == {
        "n": [3],
        "s.whole": [2],
        "s.high": [1],
        "s.low": [(1 << 26) - 1],
    }
    back = get_count(arrays, "s")
    assert isinstance(back, Fixed)
    assert (back.whole.tolist(), back.high.tolist(), back.low.tolist()) == ([2], [1], [(1 << 26) - 1])
    assert get_count(arrays, "n") is arrays["n"]
