"""How labels are called in sentences and tables: crossings by their values, and none cut until two are the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from biasamp.data import printable

from .document_types import Data

# Longer names are cut, if they can still be told apart.
LONGEST = 40
# What joins the values of a crossing in a label, and in words.
_JOINED, _SPOKEN = " & ", ", "
# Where a name that is cut in the middle keeps its end, this is the share of it that the end has.
_END = 0.4


def short_names(names: Iterable[str], limit: int = LONGEST) -> dict[str, str]:
    """Names on one line and of about ``limit`` characters, of which no two are the same.

    Those that would be the same without their end keep it; those that still would be get longer, and at last a number.

    >>> list(short_names(["a long name", "a long one"], 8).values())
    ['a lo…ame', 'a lo…one']
    """
    distinct = list(dict.fromkeys(names))
    out: dict[str, str] = {}
    left = distinct
    for cut, times in ((printable, 1), (_middle_cut, 1), (_middle_cut, 2), (_middle_cut, 4)):
        made = {name: cut(name, times * limit) for name in left}
        often = Counter(made.values()) + Counter(out.values())
        out |= {name: short for name, short in made.items() if often[short] == 1}
        left = [name for name in left if name not in out]
    out |= {name: f"{printable(name, limit)} ({number})" for number, name in enumerate(left, start=1)}
    return {name: out[name] for name in distinct}


def _middle_cut(name: str, limit: int) -> str:
    if len(name) <= limit:
        return printable(name, limit)
    end = int(_END * limit)
    return printable(f"{name[: limit - 1 - end]}…{name[-end:]}", limit)


def group_names(data: Data, attribute: str) -> dict[str, str]:
    """What each group of an attribute is called where the attribute is named already: by its value, where it has one."""
    rows = [row for row in data["groups"] if row["attribute"] == attribute]
    names = {row["group"]: row.get("category") or row["group"] for row in rows}
    return _short(_spoken(names) if _crossed(data, attribute) else names)


def label_names(data: Data) -> dict[str, str]:
    """What groups and listed task labels are called in a sentence: crossings by their values, others by their label."""
    out = _short({row["label"]: row["label"] for row in data.get("task_labels", ())})
    for attribute in data["attributes"]:
        if _crossed(data, attribute):
            out |= group_names(data, attribute)
        else:
            out |= _short({row["group"]: row["group"] for row in data["groups"] if row["attribute"] == attribute})
    return out


def _crossed(data: Data, attribute: str) -> bool:
    return data.get("kinds", {}).get(attribute) == "crossing"


def _spoken(names: dict[str, str]) -> dict[str, str]:
    """Crossed values joined by commas, unless a value that has the sign itself makes two the same."""
    spoken = {group: name.replace(_JOINED, _SPOKEN) for group, name in names.items()}
    return spoken if len(set(spoken.values())) == len(spoken) else names


def _short(names: dict[str, str]) -> dict[str, str]:
    short = short_names(names.values())
    return {label: short[name] for label, name in names.items()}
