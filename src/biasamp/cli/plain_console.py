"""A terminal for tables and text whose encoding may lack the signs in them."""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from .standard_streams import is_utf8, plain_text


class PlainConsole(Console):
    """Prints signs that the encoding of its stream has, put in before columns are measured, so that they stay in line."""

    @property
    def has_all_signs(self) -> bool:
        """Whether the stream can show every character."""
        return is_utf8(self.encoding)

    def print(self, *objects: Any, **options: Any) -> None:
        """Print what rich can show."""
        super().print(*(objects if self.has_all_signs else map(self._plain, objects)), **options)

    def _plain(self, shown: Any) -> Any:
        """The same with signs that the encoding has; of what is not text, its parts."""
        if isinstance(shown, str):
            return plain_text(shown, self.encoding)
        if isinstance(shown, Text):
            shown.plain = plain_text(shown.plain, self.encoding)
        elif isinstance(shown, Group):
            shown.renderables[:] = [self._plain(part) for part in shown.renderables]
        elif isinstance(shown, (Padding, Panel)):
            shown.renderable = self._plain(shown.renderable)
        if isinstance(shown, (Table, Panel)) and shown.title is not None:
            shown.title = self._plain(shown.title)
        if isinstance(shown, Table):
            shown.caption = None if shown.caption is None else self._plain(shown.caption)
            for column in shown.columns:
                column.header = self._plain(column.header)
                column._cells[:] = [self._plain(cell) for cell in column._cells]
        return shown
