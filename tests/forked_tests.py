"""Runs tests in forks of a process that has imported the libraries they use, so that a run starts at once.

``python tests/forked_tests.py`` in the tree that is tested takes a line of JSON for each run (the tests, the processor's seconds
and the seconds of the clock that they may take) and answers with one (how pytest ended, less than 0 for a signal, and what it
printed). The package and its tests are imported in the fork: they may be other ones at each run.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib import import_module
from typing import Any

import pytest

# What takes long to import, where it is there. None of them is about the code that is tested.
_LIBRARIES = (
    *("numpy", "scipy.stats", "scipy.special", "scipy.optimize", "scipy.sparse", "pandas", "polars", "narwhals"),
    *("pyarrow.parquet", "pyarrow.feather", "pyarrow.csv", "pyarrow.dataset", "pyarrow.compute", "pyarrow.json"),
    *("hypothesis.strategies", "hypothesis.extra.numpy", "click.testing", "rich.console", "rich.table", "numba"),
    *("jsonschema", "msgspec", "unittest.mock", "xml.etree.ElementTree"),
)
_OPTIONS = (
    "-x",
    "-q",
    "--no-header",
    "--tb=no",
    "--assert=plain",
    "-p",
    "no:cacheprovider",
    "-p",
    "no:cov",
    "-p",
    "no:xdist",
)
_POLL = 0.01


def _child(tests: Sequence[str], seconds: int, said: Any) -> None:
    os.setsid()
    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for number in (1, 2):
        os.dup2(said.fileno(), number)
    code = 3
    try:
        code = int(pytest.main([*_OPTIONS, *tests]))
        sys.stdout.flush()
    finally:
        os._exit(code)


def _run(tests: Sequence[str], seconds: int, longest: float) -> dict[str, Any]:
    with tempfile.TemporaryFile() as said:
        child = os.fork()
        if child == 0:
            _child(tests, seconds, said)
        ends, ended = time.monotonic() + longest, 0
        try:
            while not ended and time.monotonic() < ends:
                ended, status = os.waitpid(child, os.WNOHANG)
                if not ended:
                    time.sleep(_POLL)
        finally:  # also of what the tests left running
            with suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
        if not ended:
            _, status = os.waitpid(child, 0)
        said.seek(0)
        return {"code": os.waitstatus_to_exitcode(status), "said": said.read().decode(errors="replace")}


def main() -> None:
    """Answer each line until there are no more."""
    for name in _LIBRARIES:
        with suppress(ImportError):
            import_module(name)
    for line in sys.stdin:
        print(json.dumps(_run(**json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
