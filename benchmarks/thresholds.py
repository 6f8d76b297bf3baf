"""Thresholds within a limit of amplification, against the time of sorting the scores.

``python -m benchmarks thresholds --records 1000000 --tasks 20`` prints the ratio.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

import biasamp

from .timing import cpu_seconds

RECORDS, TASKS = 1_000_000, 20
# How much scores lean to one group; the limit is low enough to cost accuracy.
LEAN, LIMIT = 0.4, -0.02


def scored(records: int, tasks: int, seed: int = 0) -> tuple[Any, Any, Any]:
    """Scores of tasks that one of two groups has more often, and that lean towards it."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=records)
    truth = (rng.random((records, tasks)) < 0.3 + 0.2 * group[:, None]).astype(np.uint8)
    return truth + rng.normal(size=(records, tasks)) + LEAN * group[:, None], np.array(["m", "f"])[group], truth


def main(options: Sequence[str] = ()) -> None:
    """Print times and ratios."""
    records, tasks = (
        int(options[options.index(name) + 1]) if name in options else usual
        for name, usual in (("--records", RECORDS), ("--tasks", TASKS))
    )
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
