"""How an audit was made: call or command line, settings, versions and time. Nothing else of a document depends on these."""

from __future__ import annotations

import os
import platform
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from biasamp import __version__
from biasamp.data import Declared, printable
from biasamp.data.binning import BINNED, QUANTILES

from .document_types import Provenance

# What the figures of an audit are computed with.
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "pyarrow")
_LONGEST = 2000
_SHOWN = 200
_COMMAND: ContextVar[str | None] = ContextVar("command line of an audit", default=None)


@contextmanager
def made_by_command(words: Sequence[str]) -> Iterator[None]:
    """While it lasts, audits are made by a command line of these words."""
    token = _COMMAND.set(printable(shlex.join(words), _LONGEST))
    try:
        yield
    finally:
        _COMMAND.reset(token)


def provenance_of(source: str, arguments: Mapping[str, Any], settings: Mapping[str, Any], engine: Any) -> Provenance:
    """Everything on how an audit was made that a reader needs to make it again.

    ``arguments`` are those of the call that are not the default, ``settings`` the same as plain values.
    """
    out: Provenance = {
        "source": source,
        "time": _now().isoformat(timespec="seconds"),
        "libraries": dict(_versions()),
        "settings": dict(settings),
    }
    command = _COMMAND.get()
    if command is not None:
        out["command"] = command
    else:
        out["call"] = _call(arguments)
    if not (isinstance(engine, str) and engine == "auto"):
        out["engine"] = engine if isinstance(engine, str) else type(engine).__name__
    return out


def _now() -> datetime:
    """The time; that of SOURCE_DATE_EPOCH where files are to be the same whenever they are made."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(fixed), UTC) if fixed.isdigit() else datetime.now(UTC)


@cache
def _versions() -> Mapping[str, str]:
    """The versions that this process has; their files are read once."""
    found = {"python": platform.python_version(), "biasamp": __version__}
    for name in _LIBRARIES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found


def _call(arguments: Mapping[str, Any]) -> str:
    """The call in Python, with what is no plain value by its type."""
    words = [f"{name}={_shown(value)}" for name, value in arguments.items() if name != "data"]
    return printable(f"biasamp.audit({', '.join(['data', *words])})", _LONGEST)


def _shown(value: Any) -> str:
    if isinstance(value, Declared) and value.kind in (BINNED, QUANTILES):
        numbers = ", ".join(value.categories or ())
        how = f"edges=[{numbers}]" if value.kind == BINNED else f"bins={numbers}"
        return f"biasamp.binned({_shown(value.data)}, {how})"
    if isinstance(value, Declared):
        extra = "" if value.categories is None else f", categories={list(value.categories)!r}"
        return f"biasamp.{value.kind}({_shown(value.data)}{extra})"
    if isinstance(value, Mapping):
        if len(value) > 20 or any(not isinstance(key, str) or _is_data(held) for key, held in value.items()):
            return f"<{type(value).__name__} of {len(value)}>"
        return "{" + ", ".join(f"{key!r}: {_shown(held)}" for key, held in value.items()) + "}"
    if isinstance(value, (str, int, float, bool, type(None))):
        return repr(value)[:_SHOWN]
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))[:_SHOWN]
    if (
        isinstance(value, (list, tuple))
        and len(value) <= 200
        and all(isinstance(one, (str, Declared)) for one in value)
    ):
        return f"[{', '.join(map(_shown, value))}]"
    return f"<{type(value).__name__}>"


def _is_data(value: Any) -> bool:
    return hasattr(value, "__len__") and not isinstance(value, (str, Declared, Mapping)) and len(value) > 50


def plain_choice(value: Any) -> Any:
    """A choice of values or groups as JSON can hold it: text, numbers, lists and mappings of these."""
    try:
        return _plain_choice(value)
    except RecursionError:
        return f"<{type(value).__name__}>"


def _plain_choice(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(name): _plain_choice(held) for name, held in value.items()}
    if isinstance(value, (str, bool, int, float, type(None))):
        return value
    if hasattr(value, "item") and not getattr(value, "shape", ()):
        return value.item()
    if isinstance(value, Iterable):
        return [_plain_choice(one) for one in value]
    return str(value)
