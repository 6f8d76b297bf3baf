"""What a table of rates is made of: groups of which some are not known, decisions, scores, and how many each row is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .argument_columns import read_columns
from .arguments import read
from .column_checks import check_columns_alone
from .columns import Column, Columns, Declared
from .label import Codes, Index, printable
from .label_rules import label_set
from .plain_arguments import categories_of, numbers_of
from .row_numbers import row_numbers
from .spelling import says_missing, says_unknown, shown

# What forms offer instead of an answer; words for what is not known are in ``spelling``.
_NOT_SAID = frozenset(
    {
        *("notspecified", "notdisclosed", "undisclosed", "notstated", "notreported", "notprovided", "noanswer"),
        *("prefernottosay", "prefernottoanswer", "declinedtostate", "declinetostate", "declinetoanswer"),
        *("declined", "choosenottodisclose", "idonotwishtoanswer", "noresponse"),
    }
)
# A category of people is one of few.
MOST_GROUPS = 1000


@dataclass(frozen=True, eq=False)
class GroupColumn:
    """One attribute of people: a code for each row, -1 where it is not known, and the texts that said so."""

    name: str
    codes: Index
    categories: tuple[str, ...]
    unknown: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.codes)


def read_groups(groups: Any, unknown: Any = None) -> tuple[GroupColumn, ...]:
    """Each column of groups by itself; missing values and words for them are not known, or those that are named.

    Parameters
    ----------
    groups : array-like, frame or mapping
        One column, or several by name.
    unknown : list of str, optional
        The values that say that a group is not known. Without it those that read so, such as ``"Unknown"`` and ``"Prefer not
        to say"``; missing values are not known in either case.
    """
    named = None if unknown is None else set(categories_of(unknown, "unknown"))
    made = [_column(column, columns, named) for columns in _read(groups) for column in columns.apart()]
    names = [column.name for column in made]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        what = f"two columns named {printable(twice, 60)!r}" if twice else f"{len(names)} columns without names"
        raise ValueError(f"groups has {what}: give a mapping of names to columns, such as {{'sex': ..., 'race': ...}}")
    if named is not None:
        said = {text for column in made for text in column.unknown}
        strange = sorted(named - said)
        if strange:
            held = [text for column in made for text in column.categories]
            raise ValueError(
                f"unknown names {printable(strange[0], 40)!r}, which no column of groups has; they have {shown(held)}"
            )
    return tuple(made)


def _read(groups: Any) -> list[Columns]:
    """The columns of groups; those that the caller declared each by itself, with its word."""
    if not isinstance(groups, Mapping) or not any(isinstance(held, Declared) for held in groups.values()):
        return [read_columns(groups, "groups")]
    plain = {name: held.data if isinstance(held, Declared) else held for name, held in groups.items()}
    read_columns(plain, "groups")  # lengths and indices are looked at together
    read = {str(name): read_columns(held, f"groups[{name!r}]") for name, held in groups.items()}
    return [replace(held, items=[replace(item, name=name) for item in held.apart()]) for name, held in read.items()]


def _column(column: Column, columns: Columns, named: set[str] | None) -> GroupColumn:
    if column.kind == "list":
        raise ValueError(
            f"groups column {printable(column.name, 60)!r} holds lists of labels; one group per person is needed"
        )
    alone = Columns([column], True, columns.declared, columns.categories)
    labels = label_set(alone, "groups")
    (block,) = labels.blocks
    if not isinstance(block, Codes):  # a yes/no column: having the label and not having it are two groups
        raise ValueError("groups are yes/no labels; give one column of groups, or declare it categorical(...)")
    variable = block.variables[0]
    says = _not_known if named is None else named.__contains__
    unknown = tuple(text for text in variable.categories if says(text))
    kept = tuple(text for text in variable.categories if text not in unknown)
    place = {text: i for i, text in enumerate(kept)}
    moved = np.array([place.get(text, -1) for text in variable.categories] + [-1], dtype=np.int64)[block.codes]
    known = replace(block, variables=(variable._replace(categories=kept),), codes=moved)
    check_columns_alone(replace(labels, blocks=(known,)), alone, "groups", "groups")
    if len(kept) > MOST_GROUPS:
        raise ValueError(f"groups column {printable(column.name, 60)!r} has {len(kept):,} values; groups are few")
    return GroupColumn(column.name, moved, kept, unknown)


def _not_known(text: str) -> bool:
    """Whether a value says that it is not known."""
    plain = "".join(character for character in text.casefold() if character.isalnum())
    return says_missing(text) or says_unknown(text) or plain in _NOT_SAID


def read_decisions(decisions: Any) -> tuple[Index, tuple[str, ...], str]:
    """Two-valued decisions as codes into their values, and what they are called; nothing missing."""
    labels = read(decisions, "decisions", "outcomes")
    if len(labels.variables) != 1 or labels.variables[0].kind == "multilabel":
        raise ValueError(
            f"decisions has {len(labels.variables)} columns; one decision per person is needed: selected or not"
        )
    (block,) = labels.blocks
    variable = labels.variables[0]
    if isinstance(block, Codes):
        if len(variable.categories) == 1 and variable.categories[0] in ("0", "1"):  # nobody was selected, or everybody
            return block.codes + int(variable.categories[0]), ("0", "1"), variable.name
        return block.codes, variable.categories, variable.name
    return labels.rows()[:, 0].astype(np.int64), ("0", "1"), variable.name


def read_scores(scores: Any, count: int) -> NDArray[np.float64]:
    """One finite number per person."""
    values = numbers_of(scores, "scores")
    if values.ndim != 1 or len(values) != count:
        raise ValueError(f"scores has shape {values.shape}, but groups has {count:,} rows: one score per row")
    bad = ~np.isfinite(values)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"scores must be finite: there is {values[at]} ({row_numbers([at])}; {int(bad.sum()):,} such rows). Leave people without a score out"
        )
    return values


def read_counts(counts: Any, rows: int) -> NDArray[np.int64]:
    """How many people each row stands for: whole numbers, one by default."""
    if counts is None:
        return np.ones(rows, dtype=np.int64)
    values = numbers_of(counts, "counts")
    if values.ndim != 1 or len(values) != rows:
        raise ValueError(f"counts has shape {values.shape}, but groups has {rows:,} rows: one number per row")
    bad = ~(np.isfinite(values) & (values >= 0) & (values == np.rint(values)))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"counts must be whole numbers of people, 0 or more: there is {values[at]} ({row_numbers([at])})"
        )
    if not values.any():
        raise ValueError("counts are all 0: there is nobody")
    if values.sum() > 2**53:
        raise ValueError(f"counts add up to {values.sum():g} people, which is more than can be counted exactly")
    return values.astype(np.int64)
