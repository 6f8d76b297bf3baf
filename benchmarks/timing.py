from __future__ import annotations

import time
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], repeats: int = 3) -> float:
    """The least CPU time of a few runs, all threads together."""
    return least_of([work], repeats)[0]


def least_of(works: list[Callable[[], object]], repeats: int = 3) -> list[float]:
    """The least CPU time of several jobs, each run equally often, in turn: what else the machine does meets all alike."""
    best = [float("inf")] * len(works)
    for _ in range(repeats):
        for place, work in enumerate(works):
            start = time.process_time()
            work()
            best[place] = min(best[place], time.process_time() - start)
    return best


def row(what: str, ours: float, rival: str, theirs: float, wanted: str = "") -> None:
    """Print one comparison."""
    print(
        f"{what:<58} {ours * 1e3:>9.2f} ms   {theirs / ours:>8.1f}x faster than {rival}{'  ' + wanted if wanted else ''}"
    )


def goal_row(what: str, ours: float, against: str, theirs: float, most: float, more: str = "") -> None:
    """Print one job against a rival or a limit: our time, theirs, the ratio, and the ratio that is wanted at most."""
    ratio = ours / theirs
    verdict = "met" if ratio <= most else "NOT MET"
    print(
        f"{what:<52} {_time(ours):>9}   {against} {_time(theirs):>9}   {ratio:5.2f}x (goal: at most {most:g}x, {verdict})"
        f"{'  ' + more if more else ''}",
        flush=True,
    )


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.2f} ms"
