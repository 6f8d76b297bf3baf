"""Patterns of column names on the command line, such as ``'obj_*'``, as the names of a file's columns that they match."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from biasamp.counts.storage import is_counts
from biasamp.data import printable
from biasamp.data.files import open_files
from biasamp.data.formats import find_format

from .role_options import split_names

# Options that list columns, and the one whose columns theirs are paired with.
_LISTS = (
    *("attributes", "tasks", "attribute_predictions", "task_predictions", "attribute_scores", "task_scores"),
    *("scores", "truth"),
)
_PARTNERS = {
    **{f"{role}_{what}": f"{role}s" for role in ("attribute", "task") for what in ("predictions", "scores")},
    "truth": "scores",
}
# Options that list columns behind the name of a model, and the same.
_MODELS = {"models": "tasks", "attribute_models": "attributes"}
# Options that name one column each, which no pattern matches.
_SINGLE = ("weights", "record", "cluster", "strata", "label", "score")
_SHOWN = 5


@dataclass(frozen=True)
class _Pattern:
    """A pattern of an option; of several models each is an option of its own."""

    option: str
    text: str
    flag: str

    @property
    def letters(self) -> int:
        """How many characters of a name the pattern says itself: of two that match, the one with more is meant."""
        return len(self.text) - self.text.count("*")

    def stars(self, name: str) -> tuple[str, ...] | None:
        """What the stars stand for in a name, or None where it does not match."""
        found = re.fullmatch("(.*?)".join(map(re.escape, self.text.split("*"))), name, re.DOTALL)
        return None if found is None else found.groups()


def expand_patterns(params: dict[str, Any], data: str, flags: Mapping[str, str]) -> None:
    """Put names of columns in the place of patterns, in the parameters of a command whose records are at ``data``.

    ``flags`` are the parameters as the user knows them. Names come in the order of the file. Where an option and its partner (tasks and their predictions) both have patterns,
    the first of one goes with the first of the other, and columns are paired by what the stars stand for.
    """
    texts = {name: params[name] for name in _LISTS if isinstance(params.get(name), str)}
    for name in _MODELS:
        texts |= {f"{name} {place}": text.partition("=")[2] for place, text in enumerate(params.get(name) or ())}
    texts = {name: text for name, text in texts.items() if text}
    holds_records = Path(data).is_dir() or (find_format(Path(data)) is not None and not is_counts(data))
    if not any("*" in text for text in texts.values()) or not holds_records:
        return
    shown = {name: flags[name.partition(" ")[0]] for name in texts}
    listed = {name: _names(text, shown[name]) for name, text in texts.items()}
    files = open_files(data)
    there = files.column_names()
    patterns = [
        _Pattern(option, text, shown[option])
        for option, names in listed.items()
        for text in names
        if "*" in text and text not in there and "=" not in text
    ]
    if not patterns:
        return
    plain = {text for names in listed.values() for text in names if text in there}
    named = plain | {params[name] for name in _SINGLE if isinstance(params.get(name), str)}
    matched = _matched(patterns, [name for name in there if name not in named], files.name)
    for option in {one.option for one in patterns}:
        partner = _partner(option, listed)
        own = [one for one in patterns if one.option == option]
        others = [one for one in patterns if one.option == partner]
        if others and len(own) != len(others):
            raise click.UsageError(
                f"{shown[option]} has {len(own)} patterns and {shown[partner]} {len(others)}: the first of one goes with the "
                "first of the other"
            )
        for one, other in zip(own, others, strict=False):
            matched[one] = _paired(matched[one], matched[other], one, other)
    for option, names in listed.items():
        if any(one.option == option for one in patterns):
            each = (matched.get(_Pattern(option, text, shown[option]), {(): text}).values() for text in names)
            _put(params, option, _joined(list(dict.fromkeys(name for held in each for name in held))))


def _put(params: dict[str, Any], option: str, text: str) -> None:
    """Put names in the place of those of an option or, behind the name of a model, of one of its values."""
    name, _, place = option.partition(" ")
    if not place:
        params[option] = text
        return
    values = list(params[name])
    values[int(place)] = f"{values[int(place)].partition('=')[0]}={text}"
    params[name] = tuple(values)


def _partner(option: str, listed: Mapping[str, Any]) -> str:
    """The option whose columns those of another go with; nothing where there is none."""
    if option.partition(" ")[0] in _MODELS:
        return _MODELS[option.partition(" ")[0]]
    if option == "scores" and "truth" not in listed and "tasks" in listed:
        return "tasks"
    return "" if option == "truth" and "scores" not in listed else _PARTNERS.get(option, "")


def _matched(
    patterns: Sequence[_Pattern], names: Sequence[str], source: str
) -> dict[_Pattern, dict[tuple[str, ...], str]]:
    """The columns of each pattern by what its stars stand for; of several that match, those that say most of the name."""
    found: dict[_Pattern, dict[tuple[str, ...], str]] = {one: {} for one in patterns}
    for name in names:
        held = {one: stars for one in patterns if (stars := one.stars(name)) is not None}
        most = max((one.letters for one in held), default=0)
        for one, stars in held.items():
            if one.letters == most:
                found[one][stars] = name
    for one, columns in found.items():
        if not columns:
            shown = ", ".join(repr(printable(name, 40)) for name in names[:8])
            raise click.UsageError(
                f"{one.flag} {one.text!r} matches no column of {source}; left are {shown or 'none'}"
                + (f" and {len(names) - 8} more" if len(names) > 8 else "")
            )
    return found


def _paired(
    own: Mapping[tuple[str, ...], str], others: Mapping[tuple[str, ...], str], one: _Pattern, other: _Pattern
) -> dict[tuple[str, ...], str]:
    """Columns in the order of those that they go with."""
    odd = [name for stars, name in own.items() if stars not in others]
    missing = [name for stars, name in others.items() if stars not in own]
    if odd or missing:
        words = [f"{_shown(odd)} of {one.flag} {one.text!r}"] if odd else []
        words += [f"{_shown(missing)} of {other.flag} {other.text!r}"] if missing else []
        raise click.UsageError(
            f"columns pair by what the star stands for, and these have no partner: {'; '.join(words)}"
        )
    return {stars: own[stars] for stars in others}


def _shown(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(repr(printable(name, 40)) for name in names[:_SHOWN]) + more


def _names(text: str, flag: str) -> list[str]:
    found = split_names(text, flag)
    return [found] if isinstance(found, str) else list(found)


def _joined(names: Sequence[str]) -> str:
    """Names as one text that :func:`~biasamp.cli.role_options.split_names` takes apart again."""
    out = io.StringIO()
    csv.writer(out, quoting=csv.QUOTE_ALL, lineterminator="").writerow(names)
    return out.getvalue()
