"""One Dask cluster and one Spark cluster of real processes for a whole test run.

Tests that use them stand in files named ``test_*clusters.py``, which run in one process (see the conftest.py beside
tests), so that no more than one of each is started.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from extras import needs

# What worker processes must be able to import: the package, and the kernels of tests.
WORKER_PATH = os.pathsep.join(str(Path(__file__).resolve().parent.parent / name) for name in ("src", "tests"))


@pytest.fixture(scope="session")
def dask_client() -> Iterator[Any]:
    """A client of a cluster of two worker processes."""
    distributed = needs("distributed")
    needs("dask.dataframe")
    before = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = WORKER_PATH
    with (
        warnings.catch_warnings(),
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0", silence_logs=50
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client
    _restore("PYTHONPATH", before)


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session of a cluster of two executors, each a Java process with Python workers."""
    needs("pyspark")
    from pyspark.sql import SparkSession

    folder = tmp_path_factory.mktemp("spark")
    set_here = {
        "PYSPARK_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        "SPARK_WORKER_DIR": str(folder / "work"),
    }
    before = {name: os.environ.get(name) for name in set_here}
    os.environ.update(set_here)
    settings = {
        "spark.ui.enabled": "false",
        # For seconds of work it does not pay to compile well.
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.executor.extraJavaOptions": "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC",
        "spark.sql.codegen.wholeStage": "false",
        "spark.sql.adaptive.enabled": "false",
        "spark.driver.host": "127.0.0.1",
        "spark.executorEnv.PYTHONPATH": WORKER_PATH,
        "spark.executorEnv.OMP_NUM_THREADS": "1",
        "spark.executor.memory": "1g",
        "spark.sql.shuffle.partitions": "4",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        # A lost executor is noticed by its connection; what it has counted is counted again.
        "spark.task.maxFailures": "4",
    }
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").appName("biasamp tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
    for name, value in before.items():
        _restore(name, value)


def _restore(name: str, value: str | None) -> None:
    if value is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = value


def executor_of(process: int) -> int:
    """The Java process above a Python worker of Spark."""
    while "java" not in Path(f"/proc/{process}/cmdline").read_text():
        stat = Path(f"/proc/{process}/stat").read_text()
        process = int(stat.rpartition(")")[2].split()[1])
    return process
