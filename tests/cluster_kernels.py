"""Kernels that tests send to workers of a cluster."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from biasamp.engines import counted


def total(part: Any) -> int:
    """The sum of a part's first column."""
    out = 0
    for batch in part.batches(rows=100):
        out += sum(batch.column(0).to_pylist())
        counted(part, batch.num_rows)
    return out


def add(a: Any, b: Any) -> Any:
    return a + b


def spread(part: Any) -> Iterator[Any]:
    yield from part.batches(["key"])


def groups(batches: Iterable[Any]) -> list[tuple[int, int]]:
    """Rows and distinct keys of what comes together."""
    keys = [key for batch in batches for key in batch.column(0).to_pylist()]
    return [(len(keys), len(set(keys)))]


def fail(part: Any) -> int:
    if part.number == 3:
        raise ValueError(f"{part.name} is damaged")
    return 0


class Slowly:
    """A kernel that logs to a file, and takes its time after every batch, so that its worker can be killed."""

    def __init__(self, kernel: Callable[[Any], Any], log: str, seconds: float) -> None:
        self.kernel, self.log, self.seconds = kernel, log, seconds

    def __call__(self, part: Any) -> Any:
        logger = logging.getLogger("biasamp.engines")
        handler = _Handler(self.log, self.seconds)
        level = logger.level
        logger.addHandler(handler)
        logger.setLevel(logging.INFO)
        try:
            return self.kernel(part)
        finally:
            logger.removeHandler(handler)
            logger.setLevel(level)


class _Handler(logging.Handler):
    def __init__(self, path: str, seconds: float) -> None:
        super().__init__(logging.INFO)
        self.path, self.seconds = path, seconds

    def emit(self, record: logging.LogRecord) -> None:
        # The worker's own process, and the process that would bring it down with it.
        with open(self.path, "a", encoding="utf-8") as file:
            file.write(f"{os.getpid()} {os.getppid()} {record.getMessage()}\n")
        time.sleep(self.seconds)
