"""Parquet files that hold far more than their bytes: refused in memory, read few rows at a time in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
from biasamp.data import parquet_sizes
from biasamp.data.files import open_files
from biasamp.data.parts import read_table, split
from biasamp.data.unzipping import VARIABLE
from table_files import write

ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "task_predictions": "p"}


def bomb(path: Path, *, rows: int = 3_000_000) -> Path:
    """Millions of rows in some kilobytes: one value in each column, which is stored once."""
    half = rows // 2
    codes = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int8)), ["woman"])
    with pq.ParquetWriter(path, pa.schema({"g": codes.type, "t": pa.int64(), "p": pa.int64()})) as writer:
        flat = pa.array(np.arange(rows) < half).cast(pa.int64())
        writer.write_table(pa.table({"g": codes, "t": flat, "p": flat}))
    return path


def long_text(path: Path, *, size: int, rows: int) -> Path:
    """Long texts that are stored once and stand in every row."""
    texts = pa.DictionaryArray.from_arrays(pa.array(np.arange(rows) % 2, pa.int8()), ["a" * size, "b" * size])
    table = pa.table({"g": texts, "t": np.arange(rows) % 2, "p": np.arange(rows) % 2})
    # Without Arrow's schema: the column is plain text to whoever reads it.
    pq.write_table(table, path, dictionary_pagesize_limit=1 << 30, store_schema=False)
    return path


def test_numbers_that_decode_to_more_than_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = bomb(tmp_path / "x.parquet")
    assert path.stat().st_size < 100_000
    monkeypatch.setenv(VARIABLE, "20MB")
    with pytest.raises(
        ValueError,
        match=r"x\.parquet holds 60 MB once it is decoded, and 20 MB is the limit .* read it part by part with "
        r"engine='local', or raise the limit: BIASAMP_MAX_UNZIPPED=20GB",
    ):
        read_table(open_files(path), ["g", "t", "p"])
    # Columns that are not asked for are not counted, and parts are read as ever.
    assert read_table(open_files(path), ["g"]).num_rows == 3_000_000
    assert sum(len(batch) for part in split(open_files(path), ["t", "p"]) for batch in part.batches()) == 3_000_000
    monkeypatch.setenv(VARIABLE, "100MB")
    assert read_table(open_files(path), ["g", "t", "p"]).num_rows == 3_000_000


@pytest.mark.parametrize("name", ["x.parquet", "x.parquet.gz"])
def test_texts_that_decode_to_more_than_the_limit(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    long_text(tmp_path / "x.parquet", size=2_000, rows=20_000)
    if name.endswith("gz"):
        import gzip

        (tmp_path / name).write_bytes(gzip.compress((tmp_path / "x.parquet").read_bytes()))
        (tmp_path / "x.parquet").unlink()
    path = tmp_path / name
    assert path.stat().st_size < 200_000
    monkeypatch.setenv(VARIABLE, "5MB")
    most = 0
    seen = parquet_sizes._few_rows

    def watched(*given: Any) -> Any:
        nonlocal most
        for batch in seen(*given):
            most = max(most, batch.nbytes)
            yield batch

    monkeypatch.setattr(parquet_sizes, "_few_rows", watched)
    with pytest.raises(ValueError, match=r"holds more than 5 MB once it is decoded"):
        read_table(open_files(path), ["g", "t"])
    parts = split(open_files(path), ["g", "t"])
    read = [batch for part in parts for batch in part.batches()]
    assert sum(map(len, read)) == 20_000
    assert 0 < most <= 5 * 10**6
    assert pa.Table.from_batches(read)["g"].unique().to_pylist() == ["a" * 2_000, "b" * 2_000]


@pytest.mark.parametrize("limit", [None, "1MB", "2MB", "3MB"])
def test_values_are_the_same_whatever_the_limit(
    limit: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(0)
    n = 5_000
    table = pa.table(
        {
            "id": [f"record {i}" for i in range(n)],
            "g": rng.choice(["woman", "man"], n),
            "x": rng.random(n),
            "empty": pa.nulls(n, pa.string()),
        }
    )
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=2_000)
    if limit is not None:
        monkeypatch.setenv(VARIABLE, limit)
    files = open_files(tmp_path / "x.parquet")
    assert read_table(files, table.column_names).equals(table)
    parts = split(files, table.column_names, part_rows=1)
    assert len(parts) == 3
    assert pa.Table.from_batches(batch for part in parts for batch in part.batches()).equals(table)
    # Rows of one batch at most, also where texts are long.
    assert max(len(batch) for part in parts for batch in part.batches(rows=100)) <= 100


@pytest.mark.parametrize(
    ("rows", "sizes"),
    [
        (1_000, [1_000, 1_000, 500]),
        (1_500, [1_000, 1_000, 500]),
        (900, [900, 900, 700]),
        (2_000, [2_000, 500]),
        (5_000, [2_500]),
    ],
)
def test_batches_begin_with_a_row_group_unless_that_makes_them_small(
    rows: int, sizes: list[int], tmp_path: Path
) -> None:
    table = pa.table({"record": np.arange(2_500), "label": np.arange(2_500) % 7})
    pq.write_table(table, tmp_path / "x.parquet", row_group_size=1_000)
    batches = list(split(open_files(tmp_path / "x.parquet"), table.column_names)[0].batches(rows=rows))
    assert [len(batch) for batch in batches] == sizes
    assert pa.Table.from_batches(batches).equals(table)


def test_lists_of_many_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = pa.table({"labels": pa.array([[1] * 400_000, [2]]), "g": ["a", "b"]})
    write(table, tmp_path / "x.parquet")
    monkeypatch.setenv(VARIABLE, "1MB")
    files = open_files(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"holds 3\.2 MB once it is decoded"):
        read_table(files, ["labels"])
    with pytest.raises(ValueError, match=r"holds 3\.2 MB once it is decoded"):
        list(split(files, ["labels"])[0].batches())


def test_saved_counts_have_the_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    data = {"g": ["a", "b"] * 500, "t": [0, 1] * 500, "p": [1, 1] * 500}
    biasamp.count(data, **ROLES).save(tmp_path / "c.parquet")
    monkeypatch.setenv(VARIABLE, "1KB")
    with pytest.raises(ValueError, match=r"c\.parquet holds .* once it is decoded, and 1 KB is the limit"):
        biasamp.audit(tmp_path / "c.parquet")
