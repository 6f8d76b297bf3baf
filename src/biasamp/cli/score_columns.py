"""Columns of a file for commands that read scores: names, numbers, groups and outcomes."""

from __future__ import annotations

from typing import Any

from biasamp.auditing.label_reader import read_labels
from biasamp.auditing.plan import Spec
from biasamp.auditing.source import read_source
from biasamp.data import LabelSet, refuse_missing

from .role_options import split_names


def listed_names(text: str, option: str) -> list[str]:
    """Column names, comma separated, always as a list."""
    names = split_names(text, option)
    return [names] if isinstance(names, str) else list(names)


def numbers(data: str, names: list[str], role: str) -> list[Any]:
    """Columns of numbers of a file."""
    source = read_source(data, names)
    return [source.numbers(name, role) for name in names]


def named_numbers(data: str, names: list[str], role: str) -> dict[str, Any]:
    """Columns of numbers of a file by their names, for functions that speak of them."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{role} names the column {twice[0]!r} twice")
    return dict(zip(names, numbers(data, names, role), strict=True))


def groups_and_outcomes(data: str, attributes: list[str], tasks: list[str], role: str) -> tuple[LabelSet, LabelSet]:
    """Groups and outcomes of a file; ``role`` stands before their names in messages, such as ``"train "``."""
    source = read_source(data, [*attributes, *tasks])
    out = []
    for names, argument in ((attributes, "attributes"), (tasks, "tasks")):
        labels = read_labels(source, Spec.of(names, argument), f"{role}{argument}", "drop")
        refuse_missing({f"{role}{argument}": labels}, "Fill them in, or leave those records out of the file.")
        out.append(labels)
    return out[0], out[1]
