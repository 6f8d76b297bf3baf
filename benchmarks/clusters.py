"""What clusters on this machine cost: CPU of all processes, workers and the Java machine included, of associations on a long
table: local threads, a Dask cluster of two processes, and Spark with two executors.

``python -m benchmarks clusters --rows 20000000`` for another size; ``--tasks`` for what a task costs: the same rows in more and
more tasks. A cluster is started and has counted once before.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import biasamp
from benchmarks.scale import write
from benchmarks.timing import keep_row

ROWS = 8_500_000
REPEATS = 3
# Tasks for each of two threads or cores, where the cost of a task is asked for.
TASKS = (1, 2, 3, 6, 12)


def cpu_of_tree() -> float:
    """CPU seconds of this process and of all that came from it, as far as they are alive."""
    ticks = os.sysconf("SC_CLK_TCK")
    spent: dict[int, tuple[int, float]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                # What stands before the last parenthesis is the name of the program, which may hold anything.
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            # Processes that have ended are in the sums of those that waited for them.
            spent[int(entry.name)] = int(fields[1]), sum(map(int, fields[11:15])) / ticks
    mine, size = {os.getpid()}, 0
    while len(mine) > size:
        size = len(mine)
        mine |= {process for process, (parent, _) in spent.items() if parent in mine}
    return sum(spent[process][1] for process in mine)


@contextmanager
def dask_cluster() -> Iterator[object]:
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": ":0"}
    with LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


@contextmanager
def spark_session() -> Iterator[object]:
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,1024]").config("spark.ui.enabled", "false")
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    try:
        yield session
    finally:
        session.stop()


def least_cpu(work: Callable[[], object]) -> tuple[float, float]:
    """The least CPU of some runs, and the least time on the clock, after one that is not counted."""
    work()
    best = [float("inf")] * 2
    for _ in range(REPEATS):
        wall, cpu = time.perf_counter(), cpu_of_tree()
        work()
        best = [min(best[0], cpu_of_tree() - cpu), min(best[1], time.perf_counter() - wall)]
    return best[0], best[1]


def show(what: str, found: tuple[float, float], local: float) -> None:
    keep_row(f"clusters: {what}", found[0], {}, {"local threads": local}, found[0] / local, "", None)
    print(f"| {what} | {found[0]:.2f} s | {found[0] / local:.1f} | {found[1]:.2f} s |", flush=True)


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="benchmarks clusters")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--tasks", action="store_true")
    chosen = parser.parse_args(arguments or [])
    rows = chosen.rows
    if not Path("/proc/self/stat").exists():
        sys.exit("what processes cost is read from /proc, which this system does not have")
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.parquet"
        identities = write(path, rows, True)

        def work(data: object, engine: object) -> Callable[[], object]:
            return lambda: biasamp.associate(data, identities, record="record", label="label", engine=engine)

        if chosen.tasks:
            if find_spec("distributed") is not None:
                with dask_cluster() as client:
                    by_tasks("biasamp.engines.dask", "_TASKS_PER_THREAD", work(path, client))
            if find_spec("pyspark") is not None:
                with spark_session() as session:
                    by_tasks("biasamp.engines.spark", "_TASKS_PER_CORE", work(path, session))
            return
        print(f"| {rows:,} rows of text, two identities | CPU | times local | clock |")
        print("|---|---:|---:|---:|")
        local = least_cpu(work(path, "local"))
        show("local threads", local, local[0])
        if find_spec("distributed") is not None:
            with dask_cluster() as client:
                show("Dask, two processes: the file", least_cpu(work(path, client)), local[0])
        if find_spec("pyspark") is not None:
            with spark_session() as session:
                show("Spark, two executors: the file", least_cpu(work(path, session)), local[0])
                frame = session.read.parquet(str(path))  # type: ignore[attr-defined]
                show("Spark, two executors: a dataframe", least_cpu(work(frame, "auto")), local[0])
                # What Spark takes to hand the same rows to Python, which does nothing with them.
                taken = least_cpu(lambda: frame.select("record", "label").mapInArrow(_nothing(), "n long").collect())
                show("... of which handing its rows to Python", taken, local[0])


def by_tasks(module: str, name: str, work: Callable[[], object]) -> None:
    """What the same rows cost in more and more tasks, and the slope: what one more task costs."""
    held = import_module(module)
    before, costs = getattr(held, name), []
    for each in TASKS:
        setattr(held, name, each)
        costs.append(least_cpu(work)[0])
    setattr(held, name, before)
    tasks = [2 * each for each in TASKS]
    slope = (costs[-1] - costs[0]) / (tasks[-1] - tasks[0])
    shown = ", ".join(f"{many} tasks {cost:.2f} s" for many, cost in zip(tasks, costs, strict=True))
    print(f"| {module.rsplit('.', 1)[-1]} | {shown} | {1e3 * slope:.0f} ms a task |", flush=True)


def _nothing() -> Callable[[Iterator[object]], Iterator[object]]:
    """What takes rows and does nothing; made here, so that it goes to workers as it is: they cannot import this module."""

    def taken(batches: Iterator[object]) -> Iterator[object]:
        for _ in batches:
            pass
        return iter(())

    return taken


if __name__ == "__main__":
    main(sys.argv[1:])
