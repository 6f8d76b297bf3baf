"""Thresholds within a limit of amplification, against every choice there is and against the time of sorting the scores.

``python -m benchmarks thresholds --cases 200 --records 1000000 --tasks 20``: on how many small cases no choice is better, by how much others are, beside
the gap that was printed; then the ratio of times.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import biasamp

from .every_threshold import held_against_all
from .timing import cpu_seconds

CASES, RECORDS, TASKS = 200, 1_000_000, 20
# How much scores lean to one group; the limit is low enough to cost accuracy.
LEAN, LIMIT = 0.4, -0.02


def scored(records: int, tasks: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Scores of tasks that one of two groups has more often, and that lean towards it."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=records)
    truth = (rng.random((records, tasks)) < 0.3 + 0.2 * group[:, None]).astype(np.uint8)
    return truth + rng.normal(size=(records, tasks)) + LEAN * group[:, None], np.array(["m", "f"])[group], truth


def against_all(cases: int) -> None:
    """Print how small cases come out against every choice of thresholds."""
    held = [held_against_all(seed) for seed in range(cases)]
    possible = [one for one in held if one.best is not None]
    solved = [one for one in possible if one.found is not None]
    same = sum(one.beyond == 0.0 for one in solved)
    none = sum(one.best is None and one.found is None for one in held)
    beyond = sum(one.beyond > one.found.gap + 1e-12 for one in solved)
    over = sum(
        max(one.amplification) > one.limit
        if one.limit_on == "task"
        else sum(one.amplification) > one.limit * len(one.amplification)
        for one in solved
    )
    print(
        f"{cases} small cases: {same} of {len(possible)} have the least cost there is, {none} of {cases - len(possible)} that have none say so"
    )
    print(f"  {over} are over their limit, {beyond} are further from the best than the printed gap")


def main(options: Sequence[str] = ()) -> None:
    """Print what brute force gives, times and ratios."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks thresholds")
    for name, usual in (("--cases", CASES), ("--records", RECORDS), ("--tasks", TASKS)):
        parser.add_argument(name, type=int, default=usual)
    given = parser.parse_args(options)
    records, tasks = given.records, given.tasks
    against_all(given.cases)
    if not records:
        return
    scores, group, truth = scored(records, tasks)
    sort = cpu_seconds(lambda: np.sort(scores, axis=0))
    order = cpu_seconds(lambda: np.argsort(scores, axis=0))
    print(f"{records:,} scores x {tasks} tasks: np.sort {sort:.2f} s, np.argsort {order:.2f} s of CPU")
    for more in ({}, {"limit_on": "task"}, {"by_group": True}):
        choose = partial(biasamp.choose_thresholds, scores, group, truth, limit=LIMIT, **more)  # type: ignore[arg-type]
        ours, found = cpu_seconds(choose, 2), choose()
        words = ", ".join(f"{name}={value!r}" for name, value in more.items()) or "limit on the mean"
        print(
            f"choose_thresholds, {words:<20} {ours:6.2f} s   {ours / sort:5.1f}x np.sort   {ours / order:5.1f}x np.argsort"
            f"   gap {found.gap:.1e}   accuracy {found.accuracy:.5f} of {found.without_limit['accuracy']:.5f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
