"""``associate`` gives the same counts on every engine, in every cutting of the data, in every order of its rows."""

from __future__ import annotations

import json
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasamp
from biasamp.association.label_counting import CountLabels, count_source
from biasamp.counts.long_table import LongCounter
from biasamp.data.label_source import LabelPart, LabelSource, label_source
from biasamp.data.parts import split
from biasamp.engines import engine_for
from biasamp.engines.local import LocalEngine
from cluster_kernels import Slowly
from clusters import WORKER_PATH, executor_of
from extras import needs

RECORDS, ROWS = 4_000, 30_000
IDENTITIES = {"a": ["y0", "y3"], "b": ["y1"], "c": ["y2"]}
COLUMNS = {"record": "id", "label": "tag"}


def rows(order: str, text: bool) -> pa.Table:
    """Distinct rows of (record, label, score), in the order of their records, of other ids, or in none."""
    rng = np.random.default_rng(7)
    cells = np.unique(rng.integers(0, RECORDS, ROWS) * 200 + np.minimum(rng.geometric(0.05, ROWS) - 1, 199))
    record, label = np.divmod(cells, 200)
    if order == "grouped":
        place = rng.permutation(RECORDS)[record]
        by = np.argsort(place, kind="stable")
        record, label = record[by], label[by]
    if order == "unsorted":
        by = rng.permutation(len(record))
        record, label = record[by], label[by]
    score = rng.random(len(record))
    ids = pa.array([f"r{x:05d}" for x in record.tolist()]) if text else pa.array(record)
    return pa.table({"id": ids, "tag": pa.array([f"y{y}" for y in label.tolist()]), "p": score})


def slow_counts(table: pa.Table) -> dict[str, Any]:
    """n, C(y), C(x,y) and C(a,b,y), from one Python set a record."""
    sets: dict[Any, set[str]] = {}
    for record, label in zip(table["id"].to_pylist(), table["tag"].to_pylist(), strict=True):
        sets.setdefault(record, set()).add(label)
    labels = sorted({label for held in sets.values() for label in held})
    place = {label: i for i, label in enumerate(labels)}
    count = np.zeros(len(labels), int)
    joint, both = np.zeros((len(labels), 3), int), np.zeros(len(labels), int)
    for held in sets.values():
        own = [any(label in held for label in group) for group in IDENTITIES.values()]
        for label in held:
            count[place[label]] += 1
            joint[place[label]] += own
            both[place[label]] += own[0] and own[1]
    return {"n": len(sets), "labels": labels, "count": count, "joint": joint, "both": both}


def check(result: Any, expected: dict[str, Any]) -> None:
    assert result.n == expected["n"]
    assert list(result.labels) == expected["labels"]
    assert (result.count == expected["count"]).all()
    assert (result.joint == expected["joint"]).all()
    assert (result.values.counts.both(0, 1) == expected["both"]).all()


@pytest.fixture(scope="module", params=["sorted", "grouped", "unsorted"])
def order(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return slow_counts(rows("sorted", True))


def folder_of(table: pa.Table, folder: Path, files: int = 3, group: int = 1777) -> Path:
    """Files whose edges, and whose row groups' edges, fall inside records; one file has no rows."""
    folder.mkdir(exist_ok=True)
    for number, start in enumerate(range(0, len(table), -(-len(table) // files))):
        piece = table.slice(start, -(-len(table) // files))
        pq.write_table(piece, folder / f"{number}.parquet", row_group_size=group)
    pq.write_table(table.slice(0, 0), folder / "0b.parquet")
    return folder


def cut(source: LabelSource, folder: Path, part_rows: int) -> LabelSource:
    """The same files in smaller parts."""
    assert source.parts is not None
    plan = source.parts[0].plan
    parts = [LabelPart(p, plan) for p in split(sorted(folder.glob("*.parquet")), plan.columns, part_rows=part_rows)]
    return replace(source, parts=parts)


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


def test_tables_in_memory_travel_to_a_cluster_in_slices(dask_client: Any, expected: dict[str, Any]) -> None:
    table = rows("sorted", True)
    check(biasamp.associate(table, IDENTITIES, engine=dask_client, **COLUMNS), expected)


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


CLUSTERS = [("dask", "dask_client"), ("spark", "spark")]


@pytest.mark.parametrize(("kind", "fixture"), CLUSTERS)
@pytest.mark.parametrize(("how", "text"), [("sorted", True), ("unsorted", False)])
def test_clusters_read_files(
    how: str, kind: str, fixture: str, text: bool, tmp_path: Path, request: pytest.FixtureRequest, expected: Any
) -> None:
    client = request.getfixturevalue(fixture)
    folder = folder_of(rows(how, text), tmp_path / "t")
    result = biasamp.associate(folder, IDENTITIES, engine=client, **COLUMNS)
    check(result, expected)
    assert result.reading["order"] == how
    assert any(f"{kind}'s shuffle" in note for note in result.notes) == (how == "unsorted")


@pytest.mark.parametrize(("kind", "fixture"), CLUSTERS)
def test_dataframes_of_clusters_stay_there(
    kind: str, fixture: str, request: pytest.FixtureRequest, expected: Any, tmp_path: Path
) -> None:
    client = request.getfixturevalue(fixture)
    table = rows("unsorted" if kind == "dask" else "sorted", True)
    if kind == "dask":
        import dask.dataframe as dd

        frame = dd.from_pandas(table.to_pandas(), npartitions=4)
    else:
        pq.write_table(table, tmp_path / "t.parquet")
        frame = client.read.parquet(str(tmp_path / "t.parquet"))
    check(biasamp.associate(frame, IDENTITIES, **COLUMNS), expected)
    high = table.filter(pa.compute.greater_equal(table["p"], 0.5))
    scored = biasamp.associate(frame, IDENTITIES, score="p", threshold=0.5, **COLUMNS)
    assert scored.count.sum() == len(high)
    with pytest.raises(ValueError, match="no column 'tagg'"):
        biasamp.associate(frame, IDENTITIES, record="id", label="tagg")


@pytest.mark.parametrize(("kind", "fixture"), CLUSTERS)
def test_a_worker_killed_after_its_first_batch(
    kind: str, fixture: str, request: pytest.FixtureRequest, tmp_path: Path, expected: Any
) -> None:
    """The log shows the batch that the dead process counted, and its part counted anew by another."""
    client = request.getfixturevalue(fixture)
    folder, log = folder_of(rows("sorted", True), tmp_path / "t"), tmp_path / "log"
    source = cut(label_source(folder, **COLUMNS), folder, 2_000)
    victim: list[str] = []

    def kill() -> None:
        while not (log.exists() and "batch" in log.read_text()):
            time.sleep(0.01)
        worker, parent = log.read_text().split()[:2]
        victim.append(worker)
        os.kill(int(worker) if kind == "dask" else executor_of(int(parent)), signal.SIGKILL)

    killer = threading.Thread(target=kill, daemon=True)
    killer.start()
    members = [tuple(group) for group in IDENTITIES.values()]
    kernel = Slowly(CountLabels("long", members, None, "auto", 500), str(log), 0.05)
    with engine_for(client) as engine:
        total = engine.reduce(kernel, source.parts, operator.add)
    killer.join(60)
    check(biasamp.associate(total.finished(list(IDENTITIES), members), IDENTITIES), expected)
    lines = [line.split(maxsplit=2) for line in log.read_text().splitlines()]
    first = lines[0][2].split(":")[0]
    assert lines[0][0] == victim[0]
    assert "a batch of 500 rows counted" in lines[0][2]
    assert {number for number, _, said in lines if said.startswith(f"{first}:")} > {victim[0]}


def test_the_command_line_starts_a_dask_cluster_and_ends_it(tmp_path: Path, expected: dict[str, Any]) -> None:
    needs("distributed")
    folder = folder_of(rows("sorted", True), tmp_path / "t")
    code = "from biasamp.cli import main\nif __name__ == '__main__':\n    main()\n"
    (tmp_path / "run.py").write_text(code)
    options = ["--record", "id", "--label", "tag", "-i", "a=y0,y3", "-i", "b=y1", "-i", "c=y2", "--engine", "dask"]
    command = [sys.executable, str(tmp_path / "run.py"), "associate", str(folder), *options, "--threads", "2"]
    environment = {**os.environ, "PYTHONPATH": WORKER_PATH}
    done = subprocess.run([*command, "--json", "-"], capture_output=True, text=True, timeout=120, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert [label["count"] for label in found["labels"]] == expected["count"].tolist()
