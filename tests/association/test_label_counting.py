"""``associate`` gives the same counts on every engine, in every cutting of the data, in every order of its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasamp
from biasamp.association.label_counting import count_source
from biasamp.counts.long_table import LongCounter
from biasamp.data.label_source import label_source
from biasamp.engines.local import LocalEngine
from long_tables import COLUMNS, IDENTITIES, check, cut, folder_of, rows, slow_counts


@pytest.fixture(scope="module", params=["sorted", "grouped", "unsorted"])
def order(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return slow_counts(rows("sorted", True))


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("text", [True, False])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("part_rows", [1, 5_000, 1 << 21])
def test_threads_and_parts(
    order: str, text: bool, threads: int, part_rows: int, tmp_path: Path, expected: dict[str, Any]
) -> None:
    folder = folder_of(rows(order, text), tmp_path / "t")
    source = cut(label_source(folder, **COLUMNS), folder, part_rows)
    with LocalEngine(threads=threads, memory="1GB") as engine:
        counts, reading = count_source(source, IDENTITIES, engine=engine)
    assert reading.order == order
    assert reading.rows == expected["count"].sum()
    check(biasamp.associate(counts, IDENTITIES), expected)


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("rows_at_once", [100, 4096])
@pytest.mark.parametrize("kernel", ["numpy", "auto"])
def test_batches_and_kernels(order: str, rows_at_once: int, kernel: str, expected: dict[str, Any]) -> None:
    engine = LocalEngine(threads=2)
    engine.batch_rows = rows_at_once
    counts, _ = count_source(label_source(rows(order, True), **COLUMNS), IDENTITIES, engine=engine, kernel=kernel)
    check(biasamp.associate(counts, IDENTITIES), expected)


def test_a_small_budget_spills_to_many_files(monkeypatch: pytest.MonkeyPatch, expected: dict[str, Any]) -> None:
    from biasamp.engines import spill

    made: list[int] = []
    write = spill.Spill.write

    def noted(self: Any, batch: Any) -> None:
        made.append(self._many)
        write(self, batch)

    monkeypatch.setattr(spill.Spill, "write", noted)
    engine = LocalEngine(threads=2)
    engine.memory = 400_000
    counts, reading = count_source(label_source(rows("unsorted", True), **COLUMNS), IDENTITIES, engine=engine)
    assert made[0] > 10
    assert any("temporary" in note for note in reading.notes)
    check(biasamp.associate(counts, IDENTITIES), expected)


def test_duplicates_across_parts_are_counted_once_and_said_alike(tmp_path: Path) -> None:
    table = pa.table({"id": [1, 1, 2, 2, 2, 3], "tag": ["y0", "z", "y1", "z", "z", "z"]})
    for size in (1, 2, 3, 6):
        folder = folder_of(table, tmp_path / str(size), files=1, group=size)
        source = cut(label_source(folder, **COLUMNS), folder, size)
        with pytest.warns(UserWarning, match="1 of 6 rows name a label that their record has already"):
            counts, _ = count_source(source, ["y0", "y1"])
        assert counts.n == 3
        assert counts.count[counts.labels.index("z")] == 3


@pytest.mark.slow
@given(data=st.data())
def test_parts_merge_in_any_order(data: Any) -> None:
    """As trees of merges on clusters do."""
    table = rows("sorted", False).slice(0, 60)
    cuts = sorted(data.draw(st.lists(st.integers(0, 60), max_size=6)))
    parts = []
    for number, (start, stop) in enumerate(zip([0, *cuts], [*cuts, 60], strict=True)):
        counter = LongCounter(list(IDENTITIES.values()), kernel="numpy")
        counter.add(
            pa.array(table["id"][start:stop].to_pylist(), pa.int64()), table["tag"][start:stop].combine_chunks()
        )
        parts.append(counter.part(number))
    while len(parts) > 1:
        first = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
        second = parts.pop(data.draw(st.integers(0, len(parts) - 1)))
        parts.append(first + second)
    names, members = list(IDENTITIES), [tuple(group) for group in IDENTITIES.values()]
    found = parts[0].finished(names, members)
    whole = slow_counts(table)
    assert (found.n, list(found.labels)) == (whole["n"], whole["labels"])
    assert (found.identity_joint == whole["joint"]).all()
    assert (found.count == whole["count"]).all()


def test_truncated_files_are_named_and_nothing_is_counted(tmp_path: Path) -> None:
    folder = folder_of(rows("sorted", True), tmp_path / "t")
    victim = folder / "1.parquet"
    victim.write_bytes(victim.read_bytes()[:-500])
    with pytest.raises(ValueError, match=r"1\.parquet"):
        biasamp.associate(folder, IDENTITIES, **COLUMNS)


def test_data_that_is_read_here_alone_is_not_sent_to_a_cluster() -> None:
    engine = LocalEngine()
    engine.name = "dask"
    with pytest.raises(ValueError, match="this data \\(a matrix of 2 x 2\\) is read on this machine"):
        count_source(label_source(np.eye(2)), ["0", "1"], engine=engine)
