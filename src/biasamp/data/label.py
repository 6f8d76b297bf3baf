"""What a label is called: a variable and a category, and one canonical spelling for each category."""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np


class Label(NamedTuple):
    """One binary label: a category of a variable, or a yes/no variable itself (``category=None``)."""

    variable: str
    category: str | None = None

    def __str__(self) -> str:
        if self.category is None:
            return self.variable
        return f"{self.variable}={self.category}" if self.variable else self.category


class Variable(NamedTuple):
    """One column as it was read.

    ``kind`` is ``"binary"`` (only value 1 is a label), ``"categorical"`` (every value is a label, one per
    record) or ``"multilabel"`` (a list of labels per record).
    """

    name: str
    kind: str
    categories: tuple[str, ...] = ()

    @property
    def labels(self) -> tuple[Label, ...]:
        """The labels this variable gives."""
        if self.kind == "binary":
            return (Label(self.name),)
        return tuple(Label(self.name, category) for category in self.categories)

    @property
    def width(self) -> int:
        """How many labels this variable gives."""
        return 1 if self.kind == "binary" else len(self.categories)


def canonical(value: Any) -> str:
    """Spell a category so that ``1``, ``1.0``, ``True`` and ``"1"`` are one category.

    >>> [canonical(value) for value in (1, 1.0, True, "1", 0.5, "woman")]
    ['1', '1', '1', '1', '0.5', 'woman']
    """
    if isinstance(value, str):
        return str(value)
    if isinstance(value, bytes):
        return value.decode("utf-8", "backslashreplace")
    if isinstance(value, (bool, np.bool_)):
        return "1" if value else "0"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        number = float(value)
        return str(int(number)) if number.is_integer() else repr(number)
    if isinstance(value, Iterable) and not hasattr(value, "isoformat"):
        raise TypeError(f"a category must be a single value, found {type(value).__name__}")
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def category_order(category: str) -> tuple[int, float, str]:
    """Sort key: numbers by value and before words, words by their characters."""
    try:
        number = float(category)
    except ValueError:
        return (1, 0.0, category)
    return (0, number, category) if math.isfinite(number) else (1, 0.0, category)


# Characters that would break a line, move the cursor or reorder text around them.
_LINE_BREAKERS = {"Cc", "Cf", "Cs", "Zl", "Zp"}


def printable(text: str, limit: int = 80) -> str:
    """Text from outside as one harmless line: control and direction marks escaped, long text cut.

    >>> printable("a\\nb")
    'a\\\\nb'
    """
    if len(text) > limit:
        text = text[: limit - 1] + "…"
    return "".join(
        repr(character)[1:-1] if unicodedata.category(character) in _LINE_BREAKERS else character for character in text
    )
