"""A verdict as a table in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.text import Text

from biasamp.data import printable
from biasamp.policy import Verdict
from biasamp.results.figure_text import figure, interval

from .terminal import plain_table

_STYLES = {"pass": "green", "fail": "bold red", "not enough evidence": "bold yellow"}


def show_verdict(verdict: Verdict, console: Console) -> None:
    """Print each check with its reason, what does not pass first, and the outcome last, where eyes rest."""
    table = plain_table(("outcome", "what"), ("value", "interval", "limit"))
    table.add_column("why")
    for check in verdict.worst_first:
        measured = check.value is not None
        where = "" if check.line is None or check.outcome == "pass" else f" (policy line {check.line})"
        table.add_row(
            Text(check.outcome, style=_STYLES[check.outcome]),
            Text(printable(check.about, 60)),
            figure(check.value) if measured else "",
            interval(check.low, check.high),
            check.limit,
            Text(printable(check.finding or check.reason, 300) + where),
        )
    console.print(table)
    for note in verdict.notes:
        console.print(Text(printable(note, 400), style="dim"))
    console.print(
        Text.assemble(
            "\n",
            (verdict.outcome.upper(), _STYLES[verdict.outcome]),
            f": {printable(verdict.data, 60)}, {verdict.tally}",
        )
    )
