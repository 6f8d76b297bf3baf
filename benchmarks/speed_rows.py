"""How rows of speed are measured and printed: ours, the rival's, the limit's, and the goal, in one run."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping

from benchmarks.timing import HEADING, cpu_seconds, keep_row

REPEATS = 3


def least(works: Mapping[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """The least CPU time of each work, all threads together; the works take turns, so that the machine's mood is shared."""
    best = dict.fromkeys(works, float("inf"))
    for _ in range(repeats):
        for name, work in works.items():
            best[name] = min(best[name], cpu_seconds(work, 1))
    return best


def process_seconds(code: str, *arguments: str) -> float:
    """CPU time of a Python process that runs some code, from its start to its end."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [sys.executable, "-W", "ignore", "-c", code, *arguments]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=compiled_once())
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def compiled_once() -> dict[str, str]:
    """The environment of a process that finds compiled modules, as those of an installed package are."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    return {**kept, "PYTHONPYCACHEPREFIX": os.path.join(tempfile.gettempdir(), "biasamp-benchmarks")}


def least_processes(codes: Mapping[str, tuple[str, ...]], repeats: int = REPEATS) -> dict[str, float]:
    """The least CPU time of each process, which take turns after one run that is not counted."""
    best = dict.fromkeys(codes, float("inf"))
    for turn in range(repeats + 1):
        for name, (code, *arguments) in codes.items():
            seconds = process_seconds(code, *arguments)
            if turn:
                best[name] = min(best[name], seconds)
    return best


def heading() -> None:
    """The names of the columns, as a table of Markdown."""
    print("\n".join(HEADING))


def speed_row(job: str, ours: float, rivals: Mapping[str, float], limits: Mapping[str, float], most: float) -> None:
    """One row: the ratio is against the fastest of the rivals, or of the limits where there is no rival."""
    ratio = ours / min((rivals or limits).values())
    print(keep_row(job, ours, rivals, limits, ratio, f"at most {most:g}", ratio <= most), flush=True)
