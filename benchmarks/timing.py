"""How jobs are timed, and the rows that a run of all of them ends with."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

# Every row of speed that was measured in this process, as a row of Markdown.
KEPT: list[str] = []
HEADING = ("| job | ours | rival | limit | ratio | goal | note |", "|---|---:|---|---|---:|---|---|")


def keep_row(
    job: str,
    ours: float,
    rivals: Mapping[str, float],
    limits: Mapping[str, float],
    ratio: float | None,
    goal: str,
    met: bool | None,
) -> str:
    """A row of Markdown: ours, the rivals' and the limits' times, the ratio, and the goal; it is kept for :data:`KEPT`.

    ``met`` is None where there is no goal.
    """
    shown = [", ".join(f"{name} {_time(seconds)}" for name, seconds in held.items()) for held in (rivals, limits)]
    against = "" if ratio is None else f"{ratio:.2f}"
    verdict = "" if met is None else "met" if met else "not met"
    row = f"| {job} | {_time(ours)} | {shown[0]} | {shown[1]} | {against} | {goal} | {verdict} |"
    KEPT.append(row)
    return row


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


def goal_row(
    what: str, ours: float, against: str, theirs: float, most: float, more: str = "", seconds: float | None = None
) -> None:
    """Print one job against a rival or a limit: our time, theirs, the ratio, and the ratio that is wanted at most.

    Where ``seconds`` are wanted at most, they are the goal.
    """
    ratio = ours / theirs
    met = ratio <= most if seconds is None else ours <= seconds
    goal = f"at most {most:g}" if seconds is None else f"at most {_time(seconds)}"
    keep_row(what.strip(), ours, {}, {against: theirs}, ratio, goal, met)
    verdict = "met" if met else "NOT MET"
    print(
        f"{what:<52} {_time(ours):>9}   {against} {_time(theirs):>9}   {ratio:5.2f}x (goal: at most {most:g}x, {verdict})"
        f"{'  ' + more if more else ''}",
        flush=True,
    )


def _time(seconds: float) -> str:
    return f"{seconds:.2f} s" if seconds >= 0.1 else f"{1e3 * seconds:.2f} ms"
