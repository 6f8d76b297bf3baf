"""TOML of others, looked at before it is parsed: the standard parser keeps every beginning of a dotted key.

A key of 100,000 parts, a file of 200 kB, would take 40 GB that way.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

# Far beyond what a person writes.
LARGEST = 16 << 20
# Parts of one key. With the largest file this bounds what the parser takes to some hundred megabytes.
DEEPEST = 16
_PART = r"(?:[A-Za-z0-9_-]++|\"(?:[^\"\\\n]|\\.)*+\"|'[^'\n]*+')"
# Comments and texts in triple quotes, in which nothing is a key; else (the group) a chain of parts, or a plain value.
_TOKEN = re.compile(
    rf"#[^\n]*+|\"\"\"(?:[^\"\\]|\\.|\"(?!\"\"))*+\"\"\"|'''(?:[^']|'(?!''))*+'''|({_PART}(?:[ \t]*+\.[ \t]*+{_PART})*+)",
    re.DOTALL,
)
_PARTS = re.compile(_PART, re.DOTALL)


class TomlError(ValueError):
    """A file that is no TOML that can be read; ``line`` says where, if that is known."""

    def __init__(self, problem: str, line: int | None = None) -> None:
        super().__init__(problem)
        self.line = line


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """What a file of TOML says, and its text; a :class:`TomlError` says what is wrong with it."""
    with path.open("rb") as stream:
        raw = stream.read(LARGEST + 1)  # of a device, which has no end and says no size, no more than that
    if len(raw) > LARGEST:
        raise TomlError(f"it has more than {LARGEST >> 20} MB")
    try:
        text = raw.decode("utf-8-sig")  # some editors begin a file with a mark
    except UnicodeDecodeError:
        raise TomlError("it is not UTF-8 text") from None
    # As a file that is opened as text is read; the parser takes a lone carriage return for a mistake.
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    _check_keys(text)
    try:
        return tomllib.loads(text), text
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        raise TomlError(str(error), int(place[1]) if place else None) from None
    except RecursionError:
        raise TomlError("values are nested too deeply") from None
    except ValueError:
        raise TomlError("a number has too many digits") from None


def _check_keys(text: str) -> None:
    for found in _TOKEN.finditer(text):
        chain = found[1]
        if chain and chain.count(".") >= DEEPEST and len(_PARTS.findall(chain)) > DEEPEST:
            raise TomlError(f"a key has more than {DEEPEST} parts", text.count("\n", 0, found.start()) + 1)
