"""A progress bar on a terminal, once work has taken a while."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

# What is done sooner than this, in seconds, needs no bar.
_PATIENCE = 2.0
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


@dataclass
class Bar:
    """Told how much is done, shows it where somebody may be waiting: on a terminal, after a while."""

    title: str
    start: float = field(default_factory=time.perf_counter)
    bar: Any = None
    task: Any = None

    def __call__(self, done: int, total: int) -> None:
        """Say that so much of the total is done."""
        if self.bar is None:
            if _outer.get() or not sys.stderr.isatty() or time.perf_counter() - self.start < _PATIENCE:
                return
            from rich.console import Console
            from rich.progress import Progress

            self.bar = Progress(console=Console(stderr=True), transient=True)
            self.bar.start()
            self.task = self.bar.add_task(self.title, total=total)
        self.bar.update(self.task, completed=done, total=total)

    def close(self) -> None:
        """Take the bar away."""
        if self.bar is not None:
            self.bar.stop()
            self.bar = None


class RowsBar:
    """Told from any thread how many rows are done, shows them with their rate and the time left; a context.

    On a terminal, after a while, on stderr; nothing elsewhere.
    """

    def __init__(self, title: str = "rows counted") -> None:
        self.title = title
        self._start = self._pass = time.perf_counter()
        self._quiet = _outer.get() or not sys.stderr.isatty()
        self._bar: Any = None
        self._task: Any = None

    def begin(self, title: str) -> None:
        """Begin another pass over the rows."""
        self.title, self._pass = title, time.perf_counter()
        if self._bar is not None:
            self._bar.reset(self._task, description=title, rows="")

    def __call__(self, done: int, total: int | None) -> None:
        """Say that so many rows are done."""
        now = time.perf_counter()
        if self._quiet or (self._bar is None and now - self._start < _PATIENCE):
            return
        spent = now - self._pass
        if self._bar is None:
            from rich.console import Console
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            self._bar = Progress(
                TextColumn("{task.description}"),
                BarColumn(),
                TextColumn("{task.fields[rows]}"),
                TimeRemainingColumn(),
                console=Console(stderr=True),
                transient=True,
            )
            self._task = self._bar.add_task(self.title, total=total, rows="")
            self._bar.start()
        whole = "" if total is None else f" of {total:,}"
        rows = f"{done:,}{whole} rows, {done / max(spent, 1e-9) / 1e6:.2f} million/s"
        self._bar.update(self._task, completed=done, total=total, rows=rows)

    def __enter__(self) -> RowsBar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.stop()
            self._bar = None
