"""Tables of rates and ratios in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from biasamp.amplification.impact_result import Impact
from biasamp.data import printable

from .impact_view import impact_title, impact_views
from .terminal_parts import name, plain_table


def show_impact(result: Impact, console: Console) -> None:
    """Print every table, the people it leaves out, and what to know of the figures."""
    console.print(Text(impact_title(result), style="bold"))
    for view in impact_views(result):
        figures = view.headings[1:]
        table = plain_table(view.headings, figures, figures, title=printable(view.title, 120))
        table.columns[0].overflow = "fold"
        for first, *cells in view.rows:
            table.add_row(name(first, 60), *(Text(cell) for cell in cells))
        console.print(table)
        console.print(Text(view.unknown, style="dim"))
    console.print(Text("\n" + " ".join(result.notes), style="dim"))
