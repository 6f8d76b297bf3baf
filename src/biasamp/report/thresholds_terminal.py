"""Chosen thresholds on a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from biasamp.amplification.threshold_choice import ThresholdChoice
from biasamp.results.interval import figure

from .terminal_parts import name, plain_table

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
    for line in str(result).splitlines():
        console.print(Text(line))
    console.print(Text("\nA score at or above its threshold is positive.", style="dim"))
