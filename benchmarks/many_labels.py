"""Leakage, DPA, Multi and the whole audit of 100,000 records with 80 yes/no labels: ours, a rival or a limit, the ratio, the goal.

``python -m benchmarks many_labels`` prints one table. Both sides of a ratio are the least CPU time of equally many runs, compilers
loaded. The run without options starts two processes of one thread each, ``--with-numba`` and ``--without-numba``, which takes numba
away first, and prints how much slower that is.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

RECORDS, TASKS = 100_000, 80
# Without numba a job may take so many times as long.
MOST_WITHOUT = 3.0


@dataclass(frozen=True)
class Job:
    """One row: the goal in seconds, and the rival's name and work, which is done as often as ours."""

    name: str
    work: Callable[[], object]
    goal: float | None = None
    rival: str = ""
    theirs: Callable[[], object] | None = None


def jobs(rivals: bool) -> list[Job]:
    """What is measured; a trial as version 0.1 made it is a rival a tenth as long as ten trials of ours."""
    import numpy as np

    import biasamp
    from benchmarks.counts import simulated
    from benchmarks.predictability import former_trial
    from biasamp.predictability.problem import read_problem

    groups, truth, predicted = data = simulated(RECORDS, TASKS)
    columns: dict[str, Any] = {"group": groups}
    columns |= {f"t{k}": truth[:, k] for k in range(TASKS)} | {f"p{k}": predicted[:, k] for k in range(TASKS)}
    names = [[f"{letter}{k}" for k in range(TASKS)] for letter in "tp"]
    problem = read_problem(*data, ("given", "truth", "predicted"))
    rng = np.random.default_rng(0)
    pairs = _package(groups, truth, predicted) if rivals else None
    return [
        Job(
            "leakage, 10 trials",
            lambda: biasamp.leakage(*data, trials=10),
            3.0,
            "10 trials as version 0.1 made them",
            lambda: [former_trial(problem, rng) for _ in range(10)],
        ),
        Job("leakage, 100 trials", lambda: biasamp.leakage(*data, trials=100), 15.0),
        Job("DPA on sets, 100 trials, with interval", lambda: biasamp.dpa(*data).confidence_interval(), 3.0),
        Job(
            "Multi, 78,389 itemsets that records carry, with interval",
            lambda: biasamp.multi(*data).confidence_interval(),
            2.0,
        ),
        Job(
            "Multi of all pairs of labels, value alone",
            lambda: biasamp.multi(*data, itemsets="subsets", max_size=2).value,
            None,
            "bias-amplification 0.2.1",
            pairs,
        ),
        Job(
            "audit, all metrics, 100 trials of leakage",
            lambda: biasamp.audit(columns, attributes="group", tasks=names[0], task_predictions=names[1]),
            25.0,
        ),
    ]


def _package(groups: Any, truth: Any, predicted: Any) -> Callable[[], object] | None:
    """Multi of single labels and pairs by the package of DPA's authors, which goes through all combinations; where it is installed."""
    try:
        import torch
        from bias_amplification.metrics.CoOccurMetrics import MDBA  # type: ignore[import-not-found]
    except ImportError:
        return None
    sides = [torch.eye(2)[torch.as_tensor(groups)], *(torch.as_tensor(x).float() for x in (truth, predicted))]
    metric = MDBA(max_attr_size=2)
    return lambda: metric.computeBiasAmp(*sides)


def measure(repeats: int, rivals: bool) -> dict[str, list[float | None]]:
    """Seconds of ours and of the rival, by job."""
    import biasamp
    from benchmarks.counts import simulated
    from benchmarks.timing import cpu_seconds

    biasamp.leakage(*simulated(RECORDS, TASKS), trials=1)
    biasamp.multi(*simulated(RECORDS, TASKS))
    out: dict[str, list[float | None]] = {}
    for job in jobs(rivals):
        theirs = cpu_seconds(job.theirs, repeats) if rivals and job.theirs is not None else None
        out[job.name] = [cpu_seconds(job.work, repeats), theirs]
        print(f"measured: {job.name}", file=sys.stderr, flush=True)
    return out


def _in_one_thread(option: str, repeats: int) -> dict[str, list[float | None]]:
    """What a process of its own measures: how many threads numpy takes is settled when it is imported."""
    command = [sys.executable, "-m", "benchmarks", "many_labels", option, "--repeats", str(repeats)]
    settings = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True, env=settings)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def main(options: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks many_labels")
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--without-numba", action="store_true")
    parser.add_argument("--with-numba", action="store_true")
    asked = parser.parse_args(options)
    if asked.without_numba or asked.with_numba:
        if asked.without_numba:
            # What find_spec and import see of a package that is not installed.
            sys.modules["numba"] = None  # type: ignore[assignment]
        print(json.dumps(measure(asked.repeats, rivals=asked.with_numba)))
        return
    plain, found = (_in_one_thread(option, asked.repeats) for option in ("--without-numba", "--with-numba"))
    from benchmarks.timing import keep_row

    print("| 100,000 records x 80 labels | ours, s | rival | rival, s | rival / ours | goal | without numba, s |")
    print("|---|---|---|---|---|---|---|")
    for job in jobs(rivals=False):
        ours, theirs = found[job.name]
        assert ours is not None
        without = plain[job.name][0]
        rivals = {} if theirs is None else {str(job.rival): theirs}
        goal = "–" if job.goal is None else f"at most {job.goal:g} s"
        ratio = None if theirs is None else ours / theirs
        keep_row(job.name, ours, rivals, {}, ratio, goal, None if job.goal is None else ours <= job.goal)
        beyond = without / ours
        keep_row(
            f"{job.name}, without numba", without, {"with it": ours}, {}, beyond, "at most 3", beyond <= MOST_WITHOUT
        )
        met = "" if job.goal is None else f"{job.goal:g} s: {'met' if ours <= job.goal else 'not met'}"
        beside = [job.rival, f"{theirs:.2f}", f"{theirs / ours:.1f}"] if theirs is not None else ["–", "–", "–"]
        kept = f"{without:.2f} ({without / ours:.1f}x{'' if without <= MOST_WITHOUT * ours else ', more than 3'})"
        print(f"| {job.name} | {ours:.2f} | {' | '.join(beside)} | {met or '–'} | {kept} |", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
