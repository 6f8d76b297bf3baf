"""What tables in a terminal are made of."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

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
