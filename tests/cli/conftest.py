"""Running the command line, in this process or as a process of its own."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from typing import NamedTuple

import pytest


class Ran(NamedTuple):
    """What a command left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Ran]:
    """Run a command in this process; any exception but an exit is a failure, as it would be a traceback."""
    from biasamp.cli import main

    def call(*arguments: object) -> Ran:
        monkeypatch.setattr(sys, "argv", ["biasamp", *map(str, arguments)])
        code = 0
        try:
            main()
        except SystemExit as stop:
            code = int(stop.code or 0)
        return Ran(code, *capsys.readouterr())

    return call


@pytest.fixture
def process() -> Callable[..., Ran]:
    """Run a command as a process of its own."""

    def call(*arguments: object, **options: object) -> Ran:
        command = [sys.executable, "-c", "from biasamp.cli import main; main()", *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, **options)  # type: ignore[call-overload]
        return Ran(done.returncode, done.stdout, done.stderr)

    return call
