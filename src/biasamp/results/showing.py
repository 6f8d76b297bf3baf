"""How results are shown: by rooms further along, which are found by name when they are asked for.

Results import nothing of what shows them, so that holding a number never costs a browser page or a figure.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import Any


def shown_by(place: str, name: str) -> Callable[..., Any]:
    """A function of another room, such as ``shown_by("report.audit_page", "write_html")``."""
    function: Callable[..., Any] = getattr(import_module(f"biasamp.{place}"), name)
    return function
