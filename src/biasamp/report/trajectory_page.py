"""Figures along steps as one HTML file: trends first, then each figure drawn with its steps."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasamp import __version__
from biasamp.auditing.label_names import short_names
from biasamp.auditing.trajectory import FALLS, RISES, Trajectory
from biasamp.data import printable
from biasamp.data.saving import save_text
from biasamp.resampling.trend import FEWEST_CHANGES
from biasamp.results.metric_registry import direction_symbol, is_signed, short_name

from .page import page


def trends_first(result: Trajectory) -> list[dict[str, Any]]:
    """The figures: those that leave their limits or have a trend first, the surest of them before others."""

    def place(held: dict[str, Any]) -> tuple[bool, bool, float]:
        trend = held["trend"]
        p = trend["p"]
        return not trend["first_left"], trend["verdict"] not in (RISES, FALLS), p if isinstance(p, float) else 1.0

    return sorted(result.document["figures"], key=place)


def figure_title(held: dict[str, Any]) -> str:
    """Which figure is followed."""
    if held["label"]:
        return f"{held['metric']} of {printable(held['label'], 80)} among {printable(held['attribute'], 80)}"
    parts = (held["attribute"], short_name(held["metric"]), direction_symbol(held["direction"]))
    return " ".join(printable(part, 80) for part in parts if part)


def trajectory_answer(result: Trajectory) -> dict[str, str]:
    """What moves, what left its limits, and where to look."""
    figures = trends_first(result)
    moves = [held for held in figures if held["trend"]["verdict"] in (RISES, FALLS)]
    left = [held for held in figures if held["trend"]["first_left"]]
    steps = len(result.steps)
    found = (
        " ".join(printable(held["words"], 500) for held in moves[:2])
        if moves
        else f"Of {len(figures)} figures none has a trend over {steps} steps that can be told."
    )
    if len(moves) > 2:
        found += f" {len(moves) - 2} more figures have a trend."
    paired = sum(held["trend"]["paired"] for held in figures)
    sure = (
        f"{len(moves)} of {len(figures)} trends are decided at {result.document['level']:.0%}, all figures counted; "
        f"{'all' if paired == len(figures) else paired if paired else 'none'} of them compare the same records step by step."
    )
    if left:
        first = left[0]["trend"]
        why = (
            "the first step outside the control limits of"
            if first["steps"] > FEWEST_CHANGES
            else "it is further from the steps before it than records explain in"
        )
        step = f"Look at {printable(first['first_left'], 60)}: {why} {figure_title(left[0])}."
    else:
        step = "No step leaves its control limits: go on measuring."
    return {"Found": found, "How sure": sure, "Next": step}


def trajectory_document(result: Trajectory) -> dict[str, Any]:
    """What the page of a trajectory shows."""
    figures = [
        {**held, "title": figure_title(held), "signed": is_signed(held["metric"])} for held in trends_first(result)
    ]
    return {
        "kind": "trajectory",
        "source": f"{printable(result.steps[0], 60)} to {printable(result.steps[-1], 60)}",
        "version": __version__,
        "answer": trajectory_answer(result),
        "names": short_names(result.steps, 30),
        "trajectory": {**result.document, "figures": figures},
    }


def write_trajectory(result: Trajectory, path: str | Path) -> None:
    """Write the page of a trajectory as a single self-contained HTML file."""
    document = trajectory_document(result)
    words = [*document["answer"].values(), *(held["words"] for held in trends_first(result)), *result.notes]
    save_text(path, page(f"biasamp trajectory: {document['source']}", document, words=words))
