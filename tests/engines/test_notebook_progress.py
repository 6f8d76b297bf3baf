"""Progress in a notebook: one line that is written over, and goes away."""

from __future__ import annotations

import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from biasamp.engines import progress


class Handle:
    def __init__(self) -> None:
        self.shown: list[str] = []

    def update(self, held: str) -> None:
        self.shown.append(held)


@pytest.fixture
def handle(monkeypatch: pytest.MonkeyPatch) -> Handle:
    """A notebook as IPython has it: a shell with a kernel, and a display that can be written over."""
    held = Handle()
    shell: Any = SimpleNamespace(kernel=object())
    ipython, display = ModuleType("IPython"), ModuleType("IPython.display")
    ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
    display.HTML = str  # type: ignore[attr-defined]
    display.display = lambda first, display_id: held  # type: ignore[attr-defined]
    ipython.display = display  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "IPython", ipython)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    monkeypatch.setattr(progress, "_NOTEBOOK_PAUSE", 0.0)
    return held


def test_a_notebook_shows_progress_and_takes_it_away(handle: Handle) -> None:
    with progress.RowsBar() as bar:
        bar(500, 1000)
        bar.begin("<b>second pass</b>")
        bar(1000, 1000)
    assert 'value="500" max="1000"' in handle.shown[0]
    assert "500 of 1,000 rows" in handle.shown[0]
    assert "&lt;b&gt;second pass&lt;/b&gt;" in handle.shown[1]
    assert handle.shown[-1] == ""


def test_bars_without_rows_and_without_an_end(handle: Handle) -> None:
    bar = progress.Bar("trials")
    bar(3, 10)
    bar(4, None)
    bar.close()
    assert "3 of 10" in handle.shown[0]
    assert "<progress></progress> 4" in handle.shown[1]


def test_short_work_and_terminals_of_ipython_show_none(handle: Handle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "_PATIENCE", 60.0)
    with progress.RowsBar() as bar:
        bar(1, 2)
    assert handle.shown == []
    sys.modules["IPython"].get_ipython = lambda: SimpleNamespace()  # type: ignore[attr-defined]
    monkeypatch.setattr(progress, "_PATIENCE", 0.0)
    with progress.RowsBar() as bar:
        bar(1, 2)
    assert handle.shown == []
