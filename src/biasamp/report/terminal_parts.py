"""What tables in a terminal are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rich.console import Group
from rich.padding import Padding
from rich.table import Table as RichTable
from rich.text import Text

from biasamp.data import printable


def name(text: str, limit: int = 32) -> Text:
    """A label or column name as plain text."""
    return Text(printable(text, limit))


def plain_table(
    headings: Iterable[str], right: Iterable[str] = (), fixed: Iterable[str] = (), *, title: str = "", **options: Any
) -> RichTable:
    """A table without lines; some of its columns stand to the right, and some are never wrapped."""
    options.setdefault("box", None)
    if title:
        options.update(title=Text(f"\n{title}", style="bold"), title_justify="left")
    table = RichTable(header_style="bold", pad_edge=False, **options)
    right, fixed = set(right), set(fixed)
    for heading in headings:
        table.add_column(Text(heading), justify="right" if heading in right else "left", no_wrap=heading in fixed)
    return table


def titled(title: str, words: str) -> RichTable:
    """A title with what it is of beside it."""
    rows = RichTable.grid(padding=(0, 1))
    rows.add_column(width=9, style="bold")
    rows.add_column()
    rows.add_row(title, Text(printable(words, 4000)))
    return rows


def bullets(title: str, lines: list[str], style: str) -> Group:
    """Lines under a title; nothing where there are none."""
    if not lines:
        return Group()
    rows = RichTable.grid(padding=(0, 1))
    rows.add_column(width=1)
    rows.add_column()
    for line in lines:
        rows.add_row("•", Text(line))
    return Group(Text(f"\n{title}", style=style), Padding(rows, (0, 0, 0, 1)))
