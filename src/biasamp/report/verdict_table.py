"""A verdict as a table in a terminal."""

from __future__ import annotations

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from biasamp.data import printable
from biasamp.policy import Verdict

from .terminal import figure, interval

_STYLES = {"pass": "green", "fail": "bold red", "not enough evidence": "bold yellow"}


def show_verdict(verdict: Verdict, console: Console) -> None:
    """Print each check with its reason, what does not pass first, and the outcome last, where eyes rest."""
    table = RichTable(header_style="bold", box=None, pad_edge=False)
    for heading in ("outcome", "what"):
        table.add_column(heading)
    for heading in ("value", "interval", "limit"):
        table.add_column(heading, justify="right")
    table.add_column("why")
    for check in sorted(verdict.checks, key=lambda check: ("fail", "not enough evidence", "pass").index(check.outcome)):
        measured = check.value is not None
        where = "" if check.line is None or check.outcome == "pass" else f" (policy line {check.line})"
        shown = printable(check.reason, 300).partition("] ")[2] if measured and "] " in check.reason else check.reason
        table.add_row(
            Text(check.outcome, style=_STYLES[check.outcome]),
            Text(printable(check.about, 60)),
            figure(check.value) if measured else "",
            interval(check.low, check.high),
            check.limit,
            Text(printable(shown, 300) + where),
        )
    console.print(table)
    for note in verdict.notes:
        console.print(Text(printable(note, 400), style="dim"))
    counts = {kind: sum(check.outcome == kind for check in verdict.checks) for kind in _STYLES}
    told = ", ".join(f"{count} {kind}" for kind, count in counts.items() if count)
    console.print(
        Text.assemble(
            "\n", (verdict.outcome.upper(), _STYLES[verdict.outcome]), f": {printable(verdict.data, 60)}, {told}"
        )
    )
