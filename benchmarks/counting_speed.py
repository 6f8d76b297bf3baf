"""The speed of counting, auditing, thresholds and of starting up, each against what it cannot be quicker than.

``python -m benchmarks counting_speed`` prints the table of docs/speed.md; ``--rows 1000000`` takes smaller files, ``--growth``
prints how the cost grows, alone, and ``--table`` leaves the growth out. CPU time; both sides of a ratio are the least of equally many runs, in turn.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import biasamp
from biasamp.counts import PairCounts
from biasamp.counts.bagging import bag_of
from biasamp.data import Evaluation, align, label_set, read_columns
from biasamp.data.keys import record_keys

from .audit_counts import write
from .counts import simulated
from .timing import cpu_seconds, goal_row, keep_row, least_of

ROWS, COUNTED = 10_000_000, 4_000_000
REPEATS = 3
BAGS = 4096
MEGABYTE = 1 << 20
# The first run of a process loads what the second has: both are measured in a process of their own.
_FRESH = """
import json, sys, time
path, roles, what, plain, repeats = json.loads(sys.stdin.read())
if plain:
    sys.modules["numba"] = None
import biasamp
work = {"audit": biasamp.audit, "count": biasamp.count}[what]
work(path, **roles)
best = float("inf")
for _ in range(repeats):
    start = time.process_time()
    work(path, **roles)
    best = min(best, time.process_time() - start)
peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1]
loaded = [name for name in ("pandas", "numba") if sys.modules.get(name) is not None]
print(json.dumps({"cpu": best, "peak": int(peak) * 1024, "loaded": loaded}))
"""


def roles_of(tasks: int) -> dict[str, Any]:
    """The columns that :func:`benchmarks.audit_counts.write` writes."""
    truth, said = ([f"{kind}{i}" for i in range(tasks)] for kind in "tp")
    one = tasks == 1
    return {
        "attributes": "gender",
        "tasks": truth[0] if one else truth,
        "task_predictions": said[0] if one else said,
        "record": "id",
    }


def fresh(
    path: Path, roles: dict[str, Any], what: str = "count", plain: bool = False, repeats: int = 1
) -> dict[str, Any]:
    """Warm runs in a process of their own: the least CPU, highest memory and what was imported; ``plain`` hides numba."""
    command = [sys.executable, "-W", "ignore", "-c", _FRESH]
    given = json.dumps([str(path), roles, what, plain, repeats])
    done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
    return dict(json.loads(done.stdout))


def decode(path: Path) -> None:
    """All columns of a file, batch by batch."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        for _ in file.iter_batches(batch_size=1 << 17, use_threads=False):
            pass


def prototype(path: Path) -> Any:
    """What one would write by hand: bags times the eight cells of group, truth and prediction, counted in numpy."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    total = np.zeros(BAGS * 8, dtype=np.int64)
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=1 << 17, use_threads=False):
            group = pc.equal(batch.column("gender"), "woman").to_numpy(zero_copy_only=False).astype(np.int64)
            truth, said = (batch.column(name).to_numpy() for name in ("t0", "p0"))
            bag = bag_of(record_keys(batch.column("id").to_numpy()), BAGS)
            total += np.bincount(bag * 8 + group * 4 + truth * 2 + said, minlength=len(total))
    return total


def of_files(rows: int, counted: int, folder: Path) -> None:
    """Audits and counts of Parquet files."""
    path = folder / "audit.parquet"
    write(path, rows, 1)
    by_hand = cpu_seconds(lambda: prototype(path), REPEATS)
    measured = fresh(path, roles_of(1), "audit", repeats=REPEATS)
    more = (
        f"{measured['peak'] / MEGABYTE:.0f} MB, imported: {', '.join(measured['loaded']) or 'neither pandas nor numba'}"
    )
    size = f"{path.stat().st_size / MEGABYTE:.0f} MB"
    goal_row(
        f"audit, {rows:,} records x 1 task, {size}", measured["cpu"], "decoding and counting by hand", by_hand, 10, more
    )
    path.unlink()
    for tasks, most in ((1, 4), (20, 3)):
        path = folder / f"{tasks}.parquet"
        write(path, counted, tasks)
        # All sides in turn: what else the machine does should meet each.
        roles = {**roles_of(tasks), "threads": 1}
        found = [
            (cpu_seconds(partial(decode, path), 1), fresh(path, roles)["cpu"], fresh(path, roles, plain=True)["cpu"])
            for _ in range(REPEATS)
        ]
        limit, ours, plain = (min(side) for side in zip(*found, strict=True))
        goal_row(f"counting, {counted:,} records x {tasks} tasks", ours, "decoding", limit, most)
        goal_row(f"   the same without numba, {tasks} tasks", plain, "with it", ours, 3)
        path.unlink()


def of_arrays() -> None:
    """One value, and the interval of a sweep."""
    groups, truth, predicted = simulated(100_000)
    read = [label_set(read_columns(x, "x"), "x") for x in (groups, truth, predicted)]
    evaluation = Evaluation(read[0], *align(read[1:], ["truth", "predicted"]))
    value, counts = least_of(
        [lambda: biasamp.directional(groups, truth, predicted).value, lambda: PairCounts.from_labels(evaluation)], 40
    )
    goal_row(
        "directional(...).value, 100,000 x (2, 80)", value, "its counts", counts, 4e-3 / 1.7e-3, "(goal: 4 ms)", 4e-3
    )
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 1_000_000)
    scores = np.clip(0.4 + 0.2 * rng.standard_normal(len(group)) + 0.1 * group, 0.0, 1.0)
    label = (rng.random(len(group)) < scores).astype(np.uint8)
    result = biasamp.sweep(scores, group, label)
    sweep, interval = least_of(
        [lambda: biasamp.sweep(scores, group, label), result.confidence_interval],
        5,
    )
    goal_row("sweep(...).confidence_interval(), 1,000,000 scores", interval, "the sweep", sweep, 1)


def of_processes() -> None:
    """The whole process of the demo, with the modules compiled as an installed package has them."""
    with tempfile.TemporaryDirectory() as folder:
        settings = {**os.environ, "PYTHONPYCACHEPREFIX": folder}
        settings.pop("PYTHONDONTWRITEBYTECODE", None)
        imports = "import pyarrow.parquet, pyarrow.compute, rich.console, click, scipy.special"
        commands = [["-m", "biasamp", "demo", "--folder", str(Path(folder) / "demo")], ["-c", imports]]
        best = [float("inf")] * len(commands)
        for _ in range(REPEATS + 1):
            for place, command in enumerate(commands):
                before = os.times()
                subprocess.run([sys.executable, *command], env=settings, capture_output=True, check=True)
                after = os.times()
                took = after.children_user + after.children_system - before.children_user - before.children_system
                best[place] = min(best[place], took)
        _start_up(Path(folder), settings)
    ours, limit = best
    goal = 1.2
    goal_row(
        "biasamp demo, the whole process", ours, "importing its libraries", limit, goal / limit, "(goal: 1.2 s)", goal
    )


def _start_up(folder: Path, settings: dict[str, str]) -> None:
    """An audit of a small file in a process of its own, and which large libraries it imports."""
    path = folder / "small.parquet"
    write(path, 10_000, 1)
    code = (
        "import json, sys, time, biasamp\n"
        "biasamp.audit(sys.argv[1], **json.loads(sys.argv[2]))\n"
        "loaded = [name for name in ('pandas', 'numba') if name in sys.modules]\n"
        "print(json.dumps([time.process_time(), loaded]))\n"
    )
    limit = "import time, pyarrow.parquet, pyarrow.compute, scipy.special; print([time.process_time(), []])"
    best: list[float] = [float("inf")] * 2
    loaded: list[str] = []
    for _ in range(REPEATS + 1):
        for place, words in enumerate(([code, str(path), json.dumps(roles_of(1))], [limit])):
            command = [sys.executable, "-W", "ignore", "-c", *words]
            done = subprocess.run(command, env=settings, capture_output=True, text=True, check=True)
            took, names = json.loads(done.stdout)
            best[place], loaded = min(best[place], took), loaded + names
    job = "audit of a Parquet file of 10,000 records, the whole process"
    limits = {"importing its libraries": best[1]}
    print(keep_row(job, best[0], {}, limits, best[0] / best[1], "imports neither pandas nor numba", not loaded))


def of_why() -> None:
    """An audit with scores and strata against one without."""
    from .why import speed

    for tasks in (1, 20):
        speed(tasks)


def growth() -> None:
    """How the cost of an audit grows: the exponent between the smallest and the largest size of each kind."""
    rng = np.random.default_rng(0)

    def data(rows: int = 200_000, groups: int = 2, labels: int = 2, tasks: int = 1) -> dict[str, Any]:
        held: dict[str, Any] = {"group": rng.integers(0, groups, rows)}
        for i in range(tasks):
            truth = rng.integers(0, labels, rows)
            held |= {f"t{i}": truth, f"p{i}": np.where(rng.random(rows) < 0.1, rng.integers(0, labels, rows), truth)}
        return held

    def audit(held: dict[str, Any], resamples: int = 1000) -> Callable[[], Any]:
        tasks = sum(name.startswith("t") for name in held)
        names = [[f"{kind}{i}" for i in range(tasks)] for kind in "tp"]
        columns = {
            role: each[0] if tasks == 1 else each
            for role, each in zip(("tasks", "task_predictions"), names, strict=True)
        }
        return lambda: biasamp.audit(held, attributes="group", metrics=["directional"], resamples=resamples, **columns)

    kinds: dict[str, tuple[Sequence[int], Callable[[int], Callable[[], Any]]]] = {
        "rows": ((500_000, 1_000_000, 2_000_000, 4_000_000), lambda many: audit(data(rows=many))),
        "tasks (yes/no)": ((10, 20, 40, 80), lambda many: audit(data(tasks=many))),
        "groups": ((25, 50, 100, 200), lambda many: audit(data(groups=many))),
        "labels of one task": ((25, 50, 100, 200), lambda many: audit(data(labels=many))),
        "resamples": ((1000, 2000, 4000, 8000), lambda many: audit(data(tasks=20), many)),
    }
    for kind, (sizes, work) in kinds.items():
        costs = [cpu_seconds(work(size), REPEATS) for size in sizes]
        exponent = math.log(costs[-1] / costs[0]) / math.log(sizes[-1] / sizes[0])
        shown = ", ".join(f"{size:,}: {_shown(cost)}" for size, cost in zip(sizes, costs, strict=True))
        print(f"growth over {kind:<20} exponent {exponent:4.2f} (goal: at most 1)   {shown}", flush=True)
        limits = {f"at {sizes[0]:,}": costs[0]}
        keep_row(
            f"audit, {sizes[-1]:,} {kind}: exponent", costs[-1], {}, limits, exponent, "at most 1", exponent <= 1.0
        )


def _shown(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.0f} ms"


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks counting_speed")
    parser.add_argument("--rows", type=int, default=ROWS)
    parser.add_argument("--growth", action="store_true")
    parser.add_argument("--table", action="store_true")
    chosen = parser.parse_args(arguments or [])
    if not chosen.growth:
        with tempfile.TemporaryDirectory() as held:
            of_files(chosen.rows, min(chosen.rows, COUNTED), Path(held))
        of_arrays()
        of_processes()
        of_why()
    if not chosen.table:
        growth()


if __name__ == "__main__":
    main(sys.argv[1:])
