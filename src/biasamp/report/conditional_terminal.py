"""Gaps within strata on a terminal."""

from __future__ import annotations

import math

from rich.console import Console
from rich.text import Text

from biasamp.association.conditional import ConditionalGaps
from biasamp.data import printable
from biasamp.results.interval import figure, interval

from .terminal_parts import name, plain_table

_LISTED = 5


def show_conditional(result: ConditionalGaps, console: Console, *, metric: str, top: int) -> None:
    """Print the labels that lean most once strata are held fixed, and the strata that compare nothing."""
    strata = ", ".join(f"{printable(stratum.name, 30)} ({stratum.n:,})" for stratum in result.strata)
    rows = [row for row in result.table.rows() if row[metric] is not None and math.isfinite(row[metric])]
    rows.sort(key=lambda row: -abs(row[metric]))
    figures = ("gap", "interval", "strata", "q")
    table = plain_table(("label", "leans to", *figures), figures, title=f"Within strata, by {metric}: {strata}")
    for row in rows[:top]:
        towards = row["x1"] if row[metric] > 0 else row["x2"]
        bounds = interval(row[f"{metric}_low"], row[f"{metric}_high"])
        q = "" if row["q"] is None else f"{row['q']:.2g}"
        table.add_row(name(row["name"]), name(towards), figure(row[metric]), bounds, str(row[f"{metric}_strata"]), q)
    if top:
        console.print(table)
    empty = [row for row in result.undefined if row["label"] is None]
    for row in empty[:_LISTED]:
        console.print(
            Text(f"{printable(row['stratum'], 40)} compares nothing: {printable(row['why'], 80)}", style="dim")
        )
