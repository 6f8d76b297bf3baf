"""Columns of a file for commands that read scores: names, numbers, groups and outcomes."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from biasamp.auditing.label_reader import read_labels
from biasamp.auditing.plan import Spec
from biasamp.auditing.source import Source, read_source
from biasamp.auditing.survey import missing_values
from biasamp.data import LabelSet, printable
from biasamp.data.row_numbers import row_numbers

from .role_options import choice_option, split_names


def listed_names(text: str, option: str) -> list[str]:
    """Column names, comma separated, always as a list."""
    names = split_names(text, option)
    return [names] if isinstance(names, str) else list(names)


def missing_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """What is done about records that lack a score, a label or a weight."""
    words = "Records that lack a score, a label or a weight: stop, or leave them out."
    return choice_option("--missing", ["error", "drop"], words)(command)


def records_of(path: str, names: list[str], missing: str, role: str = "") -> Source:
    """The columns of a file; with ``"drop"`` of the records that lack none of them, and it is said how many do."""
    source = read_source(path, names)
    gone = {name: held for name in names if (held := missing_values(source.column(name))) is not None and held.any()}
    if not gone:
        return source
    lacking = np.logical_or.reduce(list(gone.values()))
    many, columns = f"{int(lacking.sum()):,}", ", ".join(printable(name, 40) for name in gone)
    if missing == "error":
        raise ValueError(
            f"{role}{columns}: {many} records have missing values ({row_numbers(np.flatnonzero(lacking))}). Fill them in, or "
            "leave those records out with --missing drop"
        )
    if lacking.all():
        raise ValueError(f"{role}{columns}: every record has a missing value, so that none is left")
    warnings.warn(
        f"{many} of {source.rows:,} {role}records are left out: they lack a value of {columns}.",
        UserWarning,
        stacklevel=2,
    )
    return source.take(~lacking)


def numbers(source: Source, names: list[str], role: str) -> list[Any]:
    """Columns of numbers."""
    return [source.numbers(name, role) for name in names]


def named_numbers(source: Source, names: list[str], role: str) -> dict[str, Any]:
    """Columns of numbers by their names, for functions that speak of them."""
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise ValueError(f"{role} names the column {twice[0]!r} twice")
    return dict(zip(names, numbers(source, names, role), strict=True))


def groups_and_outcomes(
    source: Source, attributes: list[str], tasks: list[str], role: str
) -> tuple[LabelSet, LabelSet]:
    """Groups and outcomes; ``role`` stands before their names in messages, such as ``"train "``."""
    given, truth = (
        read_labels(source, Spec.of(names, argument), f"{role}{argument}", "drop")
        for names, argument in ((attributes, "attributes"), (tasks, "tasks"))
    )
    return given, truth


def train_labels(path: str, attributes: list[str], tasks: list[str], missing: str) -> tuple[LabelSet, LabelSet]:
    """Groups and outcomes of a file of training records."""
    source = records_of(path, [*attributes, *tasks], missing, "train ")
    return groups_and_outcomes(source, attributes, tasks, "train ")
