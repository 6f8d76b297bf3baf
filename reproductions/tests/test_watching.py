"""Whoever waits for experiments sees which one runs, what it does and how far it is."""

from __future__ import annotations

import io
import sys
from typing import Any

import pytest
from rich.console import Console

from biasamp_reproductions import watching
from biasamp_reproductions.experiment import Experiment
from biasamp_reproductions.internals import one_bar
from biasamp_reproductions.outcome import PRINTED, Outcome
from biasamp_reproductions.running import Done
from biasamp_reproductions.watching import Watch

LONG = Experiment("long", "t", "p", lambda setting: Outcome(PRINTED, "x", ()))
GOOD = Done(LONG, Outcome(PRINTED, "x", ()), "", 1.0)
BAD = Done(LONG, None, "", 2.0, "KeyError: \x1b[31mred\x1b[0m [bold]")


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        return self.now


def on(monkeypatch: pytest.MonkeyPatch, terminal: bool) -> io.StringIO:
    stream = io.StringIO()
    made: Any = Console(file=stream, force_terminal=terminal, width=100, markup=False, highlight=False)
    monkeypatch.setattr(watching, "console", lambda stderr: made)
    return stream


def test_a_bar_on_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "xterm")  # a dumb terminal shows no bar
    stream = on(monkeypatch, True)
    with Watch(2) as watch:
        watch.started(LONG)(3, 7, "seed 3")
        watch.bar.refresh()
        assert "1 of 2: long: seed 3" in stream.getvalue()
        assert "3/7" in stream.getvalue()
        watch.finished(GOOD)
        watch.started(LONG)
        watch.finished(BAD)
    shown = stream.getvalue()
    assert "1 of 2: long: done (1.0 s)" in shown
    # Text of an error is text: no colour of its own, no markup.
    assert "2 of 2: long: failed, KeyError: " in shown
    assert "[bold]" in shown
    assert "\x1b[31m" not in shown


def test_few_lines_elsewhere(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    on(monkeypatch, False)
    clock = Clock()
    monkeypatch.setattr(watching, "time", clock)
    with Watch(2) as watch:
        progress = watch.started(LONG)
        for done in range(1, 100):
            clock.now += 1.0
            progress(done, 99, "training")
        watch.finished(GOOD)
    told = capsys.readouterr()
    assert told.out == ""
    # 99 seconds: one line when it starts, one in 30 seconds, one at the end.
    assert told.err.splitlines() == [
        "1 of 2: long ...",
        "1 of 2: long: training: 30 of 99, 30 s",
        "1 of 2: long: training: 60 of 99, 60 s",
        "1 of 2: long: training: 90 of 99, 90 s",
        "1 of 2: long: done (1.0 s)",
    ]


def test_one_alone_needs_no_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    on(monkeypatch, False)
    with Watch(1) as watch:
        watch.started(LONG)(1, 2)
        watch.finished(GOOD)
    assert capsys.readouterr().err == ""


def test_no_bar_inside_a_bar(monkeypatch: pytest.MonkeyPatch) -> None:
    # Where the package keeps its own bars.
    progress: Any = sys.modules[one_bar.__module__]
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr("sys.stderr.isatty", lambda: True, raising=False)
    on(monkeypatch, True)
    with Watch(1):
        inner = progress.Bar("inner")
        inner(1, 2)
        assert inner._bar is None
    outer = progress.Bar("outer")
    outer(1, 2)
    assert outer._bar is not None
    outer.close()
