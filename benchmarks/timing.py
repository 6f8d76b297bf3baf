from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least CPU time of a few runs, all threads together."""
    best = float("inf")
    for _ in range(repeats):
        start = time.process_time()
        work()
        best = min(best, time.process_time() - start)
    return best


def row(what: str, ours: float, rival: str, theirs: float, wanted: str = "") -> None:
    """Print one comparison."""
    print(
        f"{what:<58} {ours * 1e3:>9.2f} ms   {theirs / ours:>8.1f}x faster than {rival}{'  ' + wanted if wanted else ''}"
    )
