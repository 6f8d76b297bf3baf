"""What workers say while they count: a line a batch and a line a part, and how far they are."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any

logger = logging.getLogger("biasamp.engines")

_here = threading.local()


def counted(part: Any, rows: int) -> None:
    """Say that a batch of a part has been counted. Kernels call this after each batch."""
    logger.info("%s: a batch of %d rows counted", part.name, rows)
    listener = getattr(_here, "listener", None)
    if listener is not None:
        listener(rows)


def done(part: Any) -> None:
    """Say that a part is done."""
    logger.info("%s: done", part.name)


def listen(listener: Callable[[int], None] | None) -> None:
    """Tell a function the rows of each batch that this thread counts from now on."""
    _here.listener = listener
