"""A progress bar on a terminal or in a notebook, once work has taken a while."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from importlib import import_module
from typing import Any

# What is done sooner than this, in seconds, needs no bar.
_PATIENCE = 2.0
# A line of a notebook is written anew at most so often, in seconds.
_NOTEBOOK_PAUSE = 0.2
# Whether a bar of larger work is shown, beside which a second one would only garble the terminal.
_outer: ContextVar[bool] = ContextVar("outer", default=False)


@contextmanager
def one_bar() -> Iterator[None]:
    """While this lasts, smaller work shows no bar of its own."""
    before = _outer.set(True)
    try:
        yield
    finally:
        _outer.reset(before)


class _NotebookBar:
    """What rich's bar does, as one line of a notebook that is written over and goes away; no widget is needed."""

    def __init__(self, display: Any, html: Any) -> None:
        self._html, self._title, self._last = html, "", 0.0
        self._handle = display(html(""), display_id=True)

    def add_task(self, title: str, total: int | None, rows: str = "") -> int:
        self._title = title
        return 0

    def reset(self, task: int, description: str, rows: str = "") -> None:
        self._title = description

    def update(self, task: int, completed: int, total: int | None, rows: str = "") -> None:
        now = time.perf_counter()
        if now - self._last < _NOTEBOOK_PAUSE and completed != total:
            return
        self._last = now
        ends = "" if total is None else f' value="{completed}" max="{max(total, 1)}"'
        words = escape(rows or (f"{completed:,}" if total is None else f"{completed:,} of {total:,}"))
        self._handle.update(self._html(f"<div>{escape(self._title)} <progress{ends}></progress> {words}</div>"))

    def stop(self) -> None:
        self._handle.update(self._html(""))


def _notebook() -> Any:
    """The display of a notebook that runs this; None elsewhere."""
    ipython = sys.modules.get("IPython")
    shell = None if ipython is None else ipython.get_ipython()
    # A terminal's IPython has no kernel, and shows no HTML.
    if shell is None or not hasattr(shell, "kernel"):
        return None
    return import_module("IPython.display")


def _started(*columns: Any) -> Any:
    notebook = _notebook()
    if notebook is not None:
        return _NotebookBar(notebook.display, notebook.HTML)
    from rich.console import Console
    from rich.progress import Progress

    # A bar is as wide as the terminal is: the library takes any digits in these variables for a size.
    others = {name: held for name, held in os.environ.items() if name not in ("COLUMNS", "LINES")}
    bar = Progress(*columns, console=Console(stderr=True, _environ=others), transient=True)
    bar.start()
    return bar


def _on_terminal() -> bool:
    """Whether standard error is a terminal; it may be closed, or missing where there is no console at all."""
    return sys.stderr is not None and not sys.stderr.closed and sys.stderr.isatty()


class Bar:
    """Called with how much is done, shows it where somebody may be waiting: on a terminal or in a notebook, after a while."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._start = time.perf_counter()
        self._quiet = _outer.get() or not (_on_terminal() or _notebook() is not None)
        self._bar: Any = None
        self._task: Any = None

    def _silent(self) -> bool:
        return self._quiet or (self._bar is None and time.perf_counter() - self._start < _PATIENCE)

    def __call__(self, done: int, total: int | None) -> None:
        """Say that so much of the total is done."""
        if self._silent():
            return
        if self._bar is None:
            self._bar = _started()
            self._task = self._bar.add_task(self.title, total=total)
        self._bar.update(self._task, completed=done, total=total)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.stop()
            self._bar = None


class RowsBar(Bar):
    """Called from any thread with how many rows are done, shows them with their rate and the time left; a context.

    On a terminal, after a while, on stderr, or in a notebook; nothing elsewhere.
    """

    def __init__(self, title: str = "rows counted") -> None:
        super().__init__(title)
        self._pass = self._start

    def begin(self, title: str) -> None:
        """Begin another pass over the rows."""
        self.title, self._pass = title, time.perf_counter()
        if self._bar is not None:
            self._bar.reset(self._task, description=title, rows="")

    def __call__(self, done: int, total: int | None) -> None:
        """Say that so many rows are done."""
        if self._silent():
            return
        if self._bar is None:
            from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

            rows = TextColumn("{task.fields[rows]}")
            self._bar = _started(TextColumn("{task.description}"), BarColumn(), rows, TimeRemainingColumn())
            self._task = self._bar.add_task(self.title, total=total, rows="")
        whole = "" if total is None else f" of {total:,}"
        rate = done / max(time.perf_counter() - self._pass, 1e-9) / 1e6
        text = f"{done:,}{whole} rows, {rate:.2f} million/s"
        self._bar.update(self._task, completed=done, total=total, rows=text)

    def __enter__(self) -> RowsBar:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
