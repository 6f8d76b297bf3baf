"""Show whoever waits for experiments which one runs, what it is doing, and how long it has taken."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Any

import click

from .experiment import Experiment, Progress
from .internals import console, one_bar, printable
from .running import Done

# Where lines are kept (a file, a build's log), at most one in so many seconds tells of one experiment.
_EVERY = 30.0


class Watch:
    """A bar on a terminal; plain lines, few of them, on any other standard error."""

    def __init__(self, total: int) -> None:
        self.total, self.place = total, 0
        self.stream = console(stderr=True)
        self.bar: Any = None
        self.task: Any = None
        self.alone = one_bar()

    def __enter__(self) -> Watch:
        self.alone.__enter__()
        if self.stream.is_terminal:
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

            self.bar = Progress(
                TextColumn("{task.description}", markup=False),
                BarColumn(),
                MofNCompleteColumn(),
                TimeElapsedColumn(),
                console=self.stream,
                transient=True,
            )
            self.bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.bar is not None:
            self.bar.stop()
        self.alone.__exit__(kind, error, trace)

    def started(self, experiment: Experiment) -> Progress:
        """Tell of an experiment, and give what its own progress goes to."""
        self.place += 1
        name = f"{self.place} of {self.total}: {experiment.name}" if self.total > 1 else experiment.name
        if self.bar is not None:
            if self.task is not None:
                self.bar.remove_task(self.task)
            self.task = self.bar.add_task(name, total=None)
            return self._on_bar(name)
        if self.total > 1:
            click.echo(f"{name} ...", file=sys.stderr)
        return self._as_lines(name)

    def finished(self, item: Done) -> None:
        """Tell what became of it."""
        if self.total == 1:
            return
        words = {"ran": "done", "failed": f"failed, {item.failed}", "not run": f"not run, it {item.blocked}"}[
            item.state
        ]
        line = printable(f"{self.place} of {self.total}: {item.experiment.name}: {words} ({item.seconds:.1f} s)", 1000)
        if self.bar is not None:
            self.stream.print(line)
        else:
            click.echo(line, file=sys.stderr)

    def _on_bar(self, name: str) -> Progress:
        def progress(done: int, total: int, doing: str = "") -> None:
            words = f"{name}: {printable(doing, 60)}" if doing else name
            self.bar.update(self.task, completed=done, total=total, description=words)

        return progress

    def _as_lines(self, name: str) -> Progress:
        start = last = time.perf_counter()

        def progress(done: int, total: int, doing: str = "") -> None:
            nonlocal last
            now = time.perf_counter()
            if now - last >= _EVERY:
                last = now
                words = f": {printable(doing, 60)}" if doing else ""
                click.echo(f"{name}{words}: {done} of {total}, {now - start:.0f} s", file=sys.stderr)

        return progress
