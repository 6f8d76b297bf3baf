"""The table of groups in a terminal: what most readers look for first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rich.console import Console
from rich.table import Table as RichTable
from rich.text import Text

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import GroupRow
from biasamp.auditing.label_names import group_names
from biasamp.data import printable

from .rates_view import (
    FEW,
    RATE_TITLES,
    RatesView,
    against_cells,
    few_said,
    marks,
    percent_cell,
    percent_digits,
    rate_titles,
    rates_notes,
    rates_of_row,
    rates_views,
    share_cell,
)
from .terminal_parts import plain_table

# Crossings have many groups; JSON and to_frame("groups") have all of them.
_MOST_ROWS = 12
# A width that every table fits into.
_UNBOUNDED = 10_000


def show_rates(audit: Audit, console: Console, kind: str) -> None:
    """Print the rates of every group of the attributes, or of the crossings."""
    views = list(rates_views(audit.document, kind))
    if not views:
        return
    data = audit.document["data"]
    few, digits, titles = data["min_group"], percent_digits(views), rate_titles(audit.document)
    for view in views:
        names = group_names(data, view.attribute)
        rows = sorted(view.rows, key=lambda row: -row["records"])[:_MOST_ROWS]
        # A digit more where there is room; where there is none, intervals under their rates, and the first rates alone.
        every = list(RATE_TITLES)
        choices = [(digits + 1, " ", every), (digits, " ", every), (digits, "\n", every), (digits, "\n", every[:3])]
        tables = (_rates(view, rows, names, titles, few, *choice) for choice in choices)
        console.print(_fitting(tables, console))
        if len(view.rows) > len(rows):
            words = f"the {_MOST_ROWS} largest of {len(view.rows):,} groups; --json has all"
            console.print(Text(words, style="dim"))
        if view.reference is not None:
            against = (
                _against(view, rows, names, titles, *choice)
                for choice in ((digits + 1, every), (digits, every), (digits, every[:3]))
            )
            console.print(_fitting(against, console))
    notes = []
    if kind == "attribute":
        notes = rates_notes(audit.document)
    if few_said(views, few):
        notes.append(f"{FEW} over fewer than {few} records: it decides no difference.")
    if notes:
        console.print(Text(" ".join(notes), style="dim"))


def _fitting(tables: Iterable[RichTable], console: Console) -> RichTable:
    """The first table that fits into the terminal, or the last."""
    unbounded = console.options.update(max_width=_UNBOUNDED)
    for table in tables:
        if console.measure(table, options=unbounded).maximum <= console.width:
            break
    return table


def _rates(
    view: RatesView,
    rows: Sequence[GroupRow],
    names: Mapping[str, str],
    headings: Mapping[str, str],
    few: int,
    digits: int,
    between: str,
    rates: Sequence[str],
) -> RichTable:
    whole = len(rates) == len(RATE_TITLES)
    figures = ("records", *(["share"] if whole else []), *(headings[rate] for rate in rates))
    table = plain_table(("group", *figures), figures, figures, title=f"Groups, {printable(view.title, 160)}")
    table.columns[0].overflow = "fold"
    for row in rows:
        table.add_row(
            Text(names[row["group"]] + marks(row), style="dim" if row["ignored"] else ""),
            f"{row['records']:,}",
            *([share_cell(row)] if whole else []),
            *(percent_cell(rate, digits, few, between=between) for rate in rates_of_row(row, rates)),
        )
    return table


def _against(
    view: RatesView,
    rows: Sequence[GroupRow],
    names: Mapping[str, str],
    headings: Mapping[str, str],
    digits: int,
    rates: Sequence[str],
) -> RichTable:
    title = f"Ratio to {names[view.reference or '']}, and difference in percentage points"
    titles = [headings[rate] for rate in rates]
    table = plain_table(("group", *titles), titles, titles, title=title)
    table.columns[0].overflow = "fold"
    for row in rows:
        if not row["reference"] and not row["ignored"]:
            cells = ("\n".join(against_cells(rate, digits)) for rate in rates_of_row(row, rates))
            table.add_row(Text(names[row["group"]]), *cells)
    return table
