"""Chosen thresholds on a terminal."""

from __future__ import annotations

import numpy as np
from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from biasamp.amplification.threshold_choice import ThresholdChoice
from biasamp.amplification.threshold_effects import effect_words, rise_of
from biasamp.data import printable
from biasamp.results.interval import figure

from .terminal_parts import bullets, name, plain_table

# Rows of groups that are shown.
_ROWS = 20
_FIGURES = {"threshold": "threshold", "rate": "predicted rate", "truth_rate": "true rate", "accuracy": "accuracy"}


def show_thresholds(result: ThresholdChoice, console: Console) -> None:
    """Print thresholds with what they do, what the limit costs, and what is known of held-out records."""
    named = ("task", "group") if result.by_group else ("task",)
    table = plain_table((*named, *_FIGURES.values(), "amplification"), (*_FIGURES.values(), "amplification"))
    for row in result.table.rows():
        cells = [figure(row[key], False) for key in _FIGURES]
        table.add_row(*(name(row[key]) for key in named), *cells, figure(row["amplification"]))
    console.print(table)
    console.print()
    lines = str(result).splitlines()
    for line in lines[: len(lines) - len(result.cautions)]:
        console.print(Text(printable(line, 2000)))
    console.print(_effects(result))
    console.print(bullets("Cautions", [printable(words, 2000) for words in result.cautions], "yellow"))
    console.print(Text("\nA score at or above its threshold is positive.", style="dim"))


def _effects(result: ThresholdChoice) -> RichTable:
    """Gaps and the largest pair of each task, at the threshold in use and at the chosen one; of many tasks those that change most."""
    held = {"": result.validation, **({} if result.held_out is None else {"held out: ": result.held_out})}
    parts = {title: list(decided.effects.rows()) for title, decided in held.items()}
    ends = ("after",) if result.used is None else ("before", "after")
    places = list(range(len(parts[""])))
    if len(parts[""]) > _ROWS:
        moved = sorted(places, key=lambda i: -np.nan_to_num(abs(rise_of(parts[""][i]))))
        places = sorted(moved[:_ROWS])
    columns = [f"{title}{end}" for title in parts for end in ends]
    table = plain_table(("task", "figure", *columns), fixed=("figure",), title="Groups, before and after")
    for i in places:
        first = parts[""][i]
        cells = [Text(effect_words(rows[i], end)) for rows in parts.values() for end in ends]
        table.add_row(name(first["task"], 24), first["figure"], *cells)
    used = sorted(set(() if result.used is None else result.used.tolist()))
    said = f"before: at {used[0]:g}" if len(used) == 1 else "before: at the thresholds in use" if used else ""
    more = f"{len(parts['']) - len(places)} more rows: --json" if len(places) < len(parts[""]) else ""
    table.caption = Text("; ".join(filter(None, (said, more))))
    table.caption_justify = "left"
    return table
