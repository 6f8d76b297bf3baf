"""``associate`` on Dask and Spark gives the counts of one set a record, also when a worker dies."""

from __future__ import annotations

import json
import operator
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
from biasamp.association.label_counting import CountLabels
from biasamp.data.label_source import label_source
from biasamp.engines import engine_for
from cluster_kernels import Slowly
from clusters import WORKER_PATH, executor_of
from extras import needs
from long_tables import COLUMNS, IDENTITIES, check, cut, folder_of, rows, slow_counts

CLUSTERS = [("dask", "dask_client"), ("spark", "spark")]


@pytest.fixture(scope="module")
def expected() -> dict[str, Any]:
    return slow_counts(rows("sorted", True))


def test_tables_in_memory_travel_to_a_cluster_in_slices(dask_client: Any, expected: dict[str, Any]) -> None:
    table = rows("sorted", True)
    check(biasamp.associate(table, IDENTITIES, engine=dask_client, **COLUMNS), expected)


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
