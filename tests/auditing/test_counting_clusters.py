"""A million records on threads, on Dask and on Spark: the same counts and intervals to the bit, also when a worker dies."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import biasamp
from auditing_counts import same_counts
from biasamp.auditing.counting import count_plan
from biasamp.auditing.plan import make_plan
from biasamp.engines import engine_for
from cluster_kernels import Slowly
from clusters import executor_of
from extras import needs

pytestmark = pytest.mark.slow

N = 1_000_000
ROLES: dict[str, Any] = {
    "attributes": "gender",
    "tasks": ["t0", "t1", "t2"],
    "task_predictions": ["p0", "p1", "p2"],
    "attribute_predictions": "gender_pred",
}
METRICS = {"metrics": ["directional", "multi", "mals", "parity"], "resamples": 200}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A million records in three files of several row groups."""
    rng = np.random.default_rng(0)
    folder = tmp_path_factory.mktemp("million")
    names = pa.array(["man", "woman", "other"])
    first = 0
    for i, n in enumerate((500_000, 299_999, 200_001)):
        gender = rng.choice(3, n, p=[0.5, 0.45, 0.05])
        guess = np.where(rng.random(n) < 0.1, rng.integers(0, 3, n), gender)
        tasks = (rng.random((n, 3)) < 0.2 + 0.1 * gender[:, None]).astype(np.int8)
        said = np.where(rng.random((n, 3)) < 0.1, 1 - tasks, tasks).astype(np.int8)
        columns = {
            "id": np.arange(first, first + n)[::-1],
            "gender": pa.DictionaryArray.from_arrays(gender, names).cast(pa.string()),
            "gender_pred": pa.DictionaryArray.from_arrays(guess, names).cast(pa.string()),
        }
        columns |= {f"t{k}": tasks[:, k] for k in range(3)} | {f"p{k}": said[:, k] for k in range(3)}
        pq.write_table(pa.table(columns), folder / f"{i}.parquet", row_group_size=120_000)
        first += n
    return folder


@pytest.fixture(scope="module")
def by_row(folder: Path) -> Any:
    return biasamp.count(folder, **ROLES, threads=1)


@pytest.fixture(scope="module")
def by_id(folder: Path) -> Any:
    return biasamp.count(folder, **ROLES, record="id", threads=1)


@pytest.fixture(scope="module")
def expected(by_row: Any) -> str:
    return biasamp.audit(by_row, **METRICS).to_json()


@pytest.mark.parametrize(("threads", "rows"), [(1, 50_000), (2, 1 << 17), (2, 9_999)])
def test_threads_and_chunks(
    folder: Path, by_row: Any, expected: str, threads: int, rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("biasamp.engines.memory_budget._MOST_ROWS", rows)
    counts = biasamp.count(folder, **ROLES, threads=threads)
    same_counts(counts, by_row)
    assert biasamp.audit(counts, **METRICS).to_json() == expected


def test_dask(folder: Path, by_row: Any, expected: str, dask_client: Any) -> None:
    assert len(dask_client.scheduler_info(n_workers=-1)["workers"]) == 2
    counts = biasamp.count(folder, **ROLES, engine=dask_client)
    same_counts(counts, by_row)
    assert biasamp.audit(counts, **METRICS).to_json() == expected


def test_a_dask_dataframe(folder: Path, by_id: Any, dask_client: Any) -> None:
    dd = needs("dask.dataframe")
    frame = dd.read_parquet(folder)
    same_counts(biasamp.count(frame, **ROLES, record="id"), by_id)
    with pytest.raises(ValueError, match=r"record is None: rows of a Dask or Spark dataframe.*record="):
        biasamp.audit(frame, **ROLES)


def test_spark(folder: Path, by_row: Any, expected: str, spark: Any) -> None:
    counts = biasamp.count(folder, **ROLES, engine=spark)
    same_counts(counts, by_row)
    assert biasamp.audit(counts, **METRICS).to_json() == expected


def test_a_spark_dataframe(folder: Path, by_id: Any, spark: Any) -> None:
    frame = spark.read.parquet(str(folder)).repartition(7)
    same_counts(biasamp.count(frame, **ROLES, record="id"), by_id)
    with pytest.raises(ValueError, match=r"record is None: rows of a Dask or Spark dataframe.*record="):
        biasamp.count(frame, **ROLES)


@pytest.mark.parametrize("kind", ["dask", "spark"])
def test_an_audit_by_the_name_of_the_engine(kind: str, folder: Path, request: pytest.FixtureRequest) -> None:
    request.getfixturevalue({"dask": "dask_client", "spark": "spark"}[kind])
    file = folder / "2.parquet"
    expected = biasamp.audit(file, **ROLES, **METRICS, engine="local", threads=2)
    mine = biasamp.audit(file, **ROLES, **METRICS, engine=kind)
    assert mine.document["provenance"]["engine"] == kind
    assert {**mine.document, "provenance": None} == {**expected.document, "provenance": None}
    in_memory = biasamp.audit(file, **ROLES, **{**METRICS, "metrics": ["directional"]})
    assert [m["value"] for m in in_memory.document["metrics"]] == [
        m["value"] for m in mine.document["metrics"] if m["metric"] == "directional"
    ]


@pytest.mark.parametrize("kind", ["dask", "spark"])
def test_a_worker_that_dies_after_its_first_batch_changes_no_count(
    kind: str, folder: Path, by_row: Any, request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Any
) -> None:
    given = request.getfixturevalue({"dask": "dask_client", "spark": "spark"}[kind])
    log, killed = tmp_path / "workers.log", []
    plan = make_plan(*(ROLES[k] for k in ("attributes", "tasks", "attribute_predictions", "task_predictions")))

    def kill() -> None:
        """Kill the process that first says in the log that it has counted a batch."""
        for _ in range(1200):
            lines = log.read_text(encoding="utf-8").splitlines() if log.exists() else []
            if lines and lines[0].endswith("rows counted"):
                worker, parent = map(int, lines[0].split()[:2])
                os.kill(worker if kind == "dask" else executor_of(parent), signal.SIGKILL)
                killed.append(lines[0])
                return
            time.sleep(0.05)

    with engine_for(given) as engine:
        whole = engine.reduce

        def slowed(kernel: Any, parts: Any, merge: Any) -> Any:
            return whole(Slowly(kernel, str(log), 0.3), parts, merge)

        monkeypatch.setattr(engine, "reduce", slowed)
        killer = threading.Thread(target=kill)
        killer.start()
        counts, _ = count_plan(folder, plan, None, engine)
        killer.join()
    assert killed, "no worker was killed"
    same_counts(counts, by_row)
    said = [line for line in log.read_text(encoding="utf-8").splitlines() if line.endswith("rows counted")]
    assert len({line.split()[0] for line in said}) >= 2, "the work went on in another process"
