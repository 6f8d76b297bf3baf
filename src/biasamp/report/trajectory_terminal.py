"""Figures along steps on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from biasamp.auditing.trajectory import Trajectory
from biasamp.data import printable
from biasamp.results.interval import figure, interval
from biasamp.results.metric_registry import is_signed

from .terminal_parts import name, plain_table


def show_trajectory(result: Trajectory, console: Console) -> None:
    """Print every figure with its changes and limits, its trend in words, and what to know of all of them."""
    numbers = ("value", "interval", "against the first", "against the one before", "control limits")
    for held in result.document["figures"]:
        table = plain_table(("step", *numbers, ""), numbers)
        signed = is_signed(held["metric"])
        for point in held["points"]:
            changes = [
                "" if point[f"change_{kind}"] is None else _change(point, f"change_{kind}")
                for kind in ("first", "before")
            ]
            limits = (
                "" if point["control_low"] is None else interval(point["control_low"], point["control_high"], signed)
            )
            table.add_row(
                name(point["step"]),
                figure(point["value"], signed),
                interval(point["low"], point["high"], signed),
                *changes,
                limits,
                Text("outside", style="bold") if point["left"] else "",
            )
        console.print(Text(printable(held["words"], 600), style="bold"))
        console.print(table)
        console.print()
    for note in result.notes:
        console.print(Text(printable(note, 600), style="dim"))


def _change(point: dict[str, float], key: str) -> str:
    return f"{figure(point[key])} {interval(point[f'{key}_low'], point[f'{key}_high'])}"
