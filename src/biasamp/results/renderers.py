"""The renderers of results by name: ``report`` fills this registry, results look their renderers up in it.

Results import nothing of what shows them, so that holding a number never costs a browser page or a figure.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import biasamp

_RENDERERS: dict[str, Callable[..., Any]] = {}


def register(renderers: Mapping[str, Callable[..., Any]]) -> None:
    """Add renderers, each under a name such as ``"audit page"``."""
    _RENDERERS.update(renderers)


def render(name: str, /, *arguments: Any, **options: Any) -> Any:
    """Call a renderer with a result; all of them are loaded when the first is asked for."""
    if name not in _RENDERERS:
        biasamp.load_renderers()
    if name not in _RENDERERS:
        raise KeyError(f"no renderer {name!r}; there are {', '.join(sorted(_RENDERERS))}")
    return _RENDERERS[name](*arguments, **options)
