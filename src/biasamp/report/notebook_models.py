"""Sweeps, chosen thresholds and trajectories in a notebook."""

from __future__ import annotations

from biasamp.amplification.calibrate import Sweep
from biasamp.amplification.threshold_choice import ThresholdChoice
from biasamp.auditing.trajectory import Trajectory
from biasamp.results.interval import figure, figure_with_interval

from .notebook import bar, shown, table
from .notebook_verdict import plain_table
from .trajectory_page import figure_title, trajectory_answer, trends_first

_ROWS = 20


def _paragraphs(titled: dict[str, str]) -> str:
    return "".join(f"<p><b>{shown(title)}.</b> {shown(words, 4000)}</p>" for title, words in titled.items())


def trajectory_table(result: Trajectory) -> str:
    """What moves, then the trends of all figures, those that are decided first."""
    figures = trends_first(result)
    sizes = [
        abs(value)
        for held in figures
        for value in (held["trend"][part] for part in ("slope", "low", "high"))
        if isinstance(value, float)
    ]
    largest = max(sizes, default=0.0)
    rows = [
        (
            shown(held["trend"]["verdict"]),
            shown(figure_title(held), 200),
            bar(held["trend"]["slope"], held["trend"]["low"], held["trend"]["high"], largest),
            *(figure(held["trend"][part]) for part in ("slope", "low", "high")),
            shown(held["trend"]["first_left"] or "none"),
        )
        for held in figures[:_ROWS]
    ]
    head = ("trend", "figure", "", f"slope per {shown(result.document['unit'])}", "low", "high", "first outside limits")
    more = f"<p>{_ROWS} of {len(figures)} figures</p>" if len(figures) > _ROWS else ""
    return f"<div>{_paragraphs(trajectory_answer(result))}{table(head, rows, 3)}{more}</div>"


def thresholds_table(result: ThresholdChoice) -> str:
    """The thresholds, then what the limit costs in words."""
    lines = "".join(f"<p>{shown(line, 1000)}</p>" for line in str(result).splitlines())
    return f"<div>{plain_table(result.table)}{lines}</div>"


def sweep_table(result: Sweep) -> str:
    """Amplification at the marked thresholds, and its mean over all."""
    rows = [
        (
            shown(mark),
            figure(row["threshold"], False),
            figure_with_interval(row["amplification"], row["low"], row["high"]),
            figure(row["rate"], False),
        )
        for mark, row in result.marks.items()
    ]
    words = (
        f"Mean over all thresholds: {figure(result.integral)}; {len(result.curve):,} thresholds, {result.n:,g} records."
    )
    return (
        f"<div>{table(('threshold', 'at', 'amplification', 'predicted rate'), rows, 1)}<p>{shown(words, 400)}</p></div>"
    )
