"""Counts on disk: read back to the bit, and nothing but counts is read."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from biasamp.counts import ContingencyTable, JointCounts, PairCounts
from biasamp.counts.storage import write_arrays
from evaluations import bits, make, random_evaluation
from saved_counts import load, save

EVIL = ["a,b", '"quoted"', "line\nbreak", "=SUM(A1)", "../../etc/passwd", "été ☃", ""]


def counters(e: Any) -> list[Any]:
    out: list[Any] = [PairCounts.from_labels(e), JointCounts.from_labels(e.given, e.predicted, e.weights)]
    if not e.predicted.soft:
        out.append(ContingencyTable.from_labels({"given": e.given, "truth": e.truth}, e.weights))
    return out


@pytest.mark.parametrize("weights", ["none", "whole", "real", "large"])
@pytest.mark.parametrize("soft", [False, True])
def test_round_trip(tmp_path: Path, weights: str, soft: bool) -> None:
    e = random_evaluation(0, soft=soft, weights=weights)
    half = e.take(np.arange(100)), e.take(np.arange(100, 200))
    for whole, first, second in zip(counters(e), counters(half[0]), counters(half[1]), strict=True):
        path = tmp_path / "counts.parquet"
        save(whole, path)
        read = load(path)
        assert type(read) is type(whole)
        assert bits(read) == bits(whole)
        save(first, path)
        save(second, tmp_path / "other.parquet")
        assert bits(load(path) + load(tmp_path / "other.parquet")) == bits(whole)  # type: ignore[operator]


def test_names_from_strangers(tmp_path: Path) -> None:
    given = EVIL * 3
    truth = {name or "empty": np.arange(21) % (i + 2) == 0 for i, name in enumerate(EVIL)}
    counts = PairCounts.from_labels(make(given, truth, truth))
    save(counts, tmp_path / "x.parquet")
    assert load(tmp_path / "x.parquet").given_labels == counts.given_labels  # type: ignore[union-attr]
    assert bits(load(tmp_path / "x.parquet")) == bits(counts)


def test_counts_with_missing_labels(tmp_path: Path) -> None:
    truth = np.array([[1, np.nan], [1, 1], [0, 1], [np.nan, 0]])
    counts = PairCounts.from_labels(make(list("aaab"), truth, truth))
    save(counts, tmp_path / "x.parquet")
    assert bits(load(tmp_path / "x.parquet")) == bits(counts)


class TestRefused:
    def saved(self, folder: Path) -> Path:
        path = folder / "counts.parquet"
        save(PairCounts.from_labels(random_evaluation(0)), path)
        return path

    def test_a_pickle_is_not_opened(self, tmp_path: Path) -> None:
        class Bomb:
            def __reduce__(self) -> Any:
                return (Path.touch, (tmp_path / "ran",))

        path = tmp_path / "counts.parquet"
        path.write_bytes(pickle.dumps(Bomb()))
        with pytest.raises(ValueError, match="not a file of counts"):
            load(path)
        assert not (tmp_path / "ran").exists()

    def test_other_parquet(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"a": [1]}), tmp_path / "t.parquet")
        with pytest.raises(ValueError, match=r"t\.parquet is a Parquet file, but not one of counts"):
            load(tmp_path / "t.parquet")

    def test_no_file(self, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError, match="no file"):
            load(tmp_path / "nothing.parquet")

    def rewritten(self, path: Path, change: Any) -> None:
        table = pq.read_table(path)
        pq.write_table(change(table), path)

    def test_changed_numbers(self, tmp_path: Path) -> None:
        path = self.saved(tmp_path)

        def change(table: Any) -> Any:
            numbers = table["integers"].to_pylist()
            numbers[0][0] += 1
            column = pa.array(numbers, table["integers"].type)
            return table.set_column(table.schema.get_field_index("integers"), "integers", column)

        self.rewritten(path, change)
        with pytest.raises(ValueError, match="checksum"):
            load(path)

    def test_another_schema(self, tmp_path: Path) -> None:
        path = self.saved(tmp_path)
        self.rewritten(path, lambda t: t.replace_schema_metadata({b"biasamp": b'{"schema": 99}', b"checksum": b""}))
        with pytest.raises(ValueError, match="has schema 99; this version reads schema 1"):
            load(path)

    @pytest.mark.parametrize("header", [b"not json", b"[]", b"\xff\xfe"])
    def test_damaged_header(self, tmp_path: Path, header: bytes) -> None:
        path = self.saved(tmp_path)
        self.rewritten(path, lambda t: t.replace_schema_metadata({b"biasamp": header, b"checksum": b""}))
        with pytest.raises(ValueError, match=r"counts\.parquet"):
            load(path)

    @pytest.mark.parametrize("size", [0, 10, 500])
    def test_cut_short(self, tmp_path: Path, size: int) -> None:
        path = self.saved(tmp_path)
        path.write_bytes(path.read_bytes()[:size])
        with pytest.raises(ValueError, match=r"counts\.parquet"):
            load(path)

    def test_a_column_is_missing(self, tmp_path: Path) -> None:
        path = self.saved(tmp_path)
        self.rewritten(path, lambda t: t.drop_columns(["integers"]))
        with pytest.raises(ValueError, match=r"counts\.parquet"):
            load(path)

    def test_a_header_without_labels(self, tmp_path: Path) -> None:
        write_arrays(tmp_path / "counts.parquet", {"kind": "pairs", "records": 3}, {"n": np.array([1])})
        with pytest.raises(ValueError, match=r"counts\.parquet is damaged"):
            load(tmp_path / "counts.parquet")
        write_arrays(tmp_path / "counts.parquet", {}, {})
        with pytest.raises(ValueError, match=r"counts\.parquet is damaged"):
            load(tmp_path / "counts.parquet")

    def test_names_and_a_checksum_that_are_no_text(self, tmp_path: Path) -> None:
        path = self.saved(tmp_path)
        table = pq.read_table(path)
        broken = {**table.schema.metadata, b"checksum": b"\xe2\x28"}
        pq.write_table(table.replace_schema_metadata(broken), path)
        with pytest.raises(ValueError, match=r"counts\.parquet is damaged: its checksum does not agree"):
            load(path)
