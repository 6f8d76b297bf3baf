"""Values that only the model has where one of the truth is missing: likely the same value by another name.

An audit measures such values apart, as inventions. A gate that passed on the pairs that are left would pass on a mistake where
they are none: of ``remand`` for ``remanded`` every record is wrong, in all groups alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.plan import Plan
from biasamp.data import printable
from biasamp.data.spelling import folded

Floats = NDArray[np.float64]

# Values of fewer records, of all, move no figure by much.
_OFTEN = 0.01
# Two values are likely one, mistyped, where their letters are more alike than this, of 1.
_ALIKE = 0.8
# Of the new value's records, as many have to be missing from the other one; the other may have so many times as many, in every group.
_PART, _TIMES = 0.5, 2.0
# A value of fewer records may be one that a model never gives.
_LEAST = 30
_ROUNDING = 1e-6


class _Value(NamedTuple):
    """A value of the truth: the label, the value itself, and in how many records of each group it is true and is predicted."""

    label: str
    category: str
    true: Floats
    said: Floats


def renamed_values(audit: Audit, direction: str) -> Iterator[tuple[str | None, str]]:
    """In words which values of the model's are likely values of the truth, with the attribute where that is predicted.

    Nothing where the policy, or whoever made the audit, declared the values, or where records have several of them.
    """
    document = cast("dict[str, Any]", audit.document)  # audits of 0.1 have no list of inventions
    rows: dict[tuple[str, str], list[Any]] = defaultdict(list)
    for row in document.get("invented", ()):
        if row["direction"] == direction and row.get("category") is not None:
            rows[row["attribute"], row["variable"]].append(row)
    # Tasks are predicted alike whichever attribute they are held against.
    chosen = dict(list(rows.items())[:1] if direction == "A->T" else rows)
    for (attribute, variable), invented in chosen.items():
        held = _values(invented, attribute, variable, audit)
        new = [row for row in invented if row["category"] not in _declared(document, attribute, direction)]
        words = next(filter(None, (_likely(row, held) for row in sorted(new, key=lambda row: -row["count"]))), None)
        if words is not None:
            yield (None if direction == "A->T" else attribute), words


def _declared(document: dict[str, Any], attribute: str, direction: str) -> tuple[str, ...]:
    settings = document.get("provenance", {}).get("settings")
    if not settings:
        return ()
    plan = Plan.from_dict(settings["plan"])
    spec = plan.task if direction == "A->T" else plan.groups.get(attribute)
    return () if spec is None else spec.categories or ()


def _values(invented: Sequence[Any], attribute: str, variable: str, audit: Audit) -> list[_Value]:
    """The values of the truth, where each record has one of them and all pairs are listed."""
    data, direction = audit.document["data"], invented[0]["direction"]
    labels: Any = data.get("task_labels", ()) if direction == "A->T" else data["groups"]
    named = {row.get("label", row.get("group")): row for row in labels if row.get("variable") == variable}
    groups = [row["group"] for row in invented[0]["groups"]]
    for entry in audit.document["metrics"]:
        pairs: Any = [pair for pair in entry.get("pairs", ()) if pair.get("outcome") in named]
        here = (entry["attribute"], entry["direction"]) == (attribute, direction)
        if not here or not pairs or len(entry["pairs"]) != entry.get("pairs_in_all"):
            continue
        cells = {(pair["outcome"], pair["given"]): pair for pair in pairs}
        if any((label, group) not in cells for label in named for group in groups):
            return []
        sides = ("truth_rate", "predicted_rate")
        counts = [
            [
                np.array([cells[label, group][side] * cells[label, group]["support"] for group in groups])
                for side in sides
            ]
            for label in named
        ]
        out = [_Value(label, named[label]["category"], *sums) for label, sums in zip(named, counts, strict=True)]
        new = np.sum([[group["count"] for group in row["groups"]] for row in invented], axis=0)
        whole = np.sum([value.true for value in out], axis=0), np.sum([value.said for value in out], axis=0) + new
        return out if np.allclose(*whole, rtol=_ROUNDING) else []
    return []


def _likely(row: Any, held: Sequence[_Value]) -> str | None:
    """Which value of the truth an invented one likely is."""
    if row["count"] < _OFTEN * sum(group["records"] for group in row["groups"]):
        return None
    mine = np.array([group["count"] for group in row["groups"]])
    for value in held:
        true, said = value.true.sum(), value.said.sum()
        within = ((mine <= _TIMES * value.true) & (value.true <= _TIMES * mine)).all()
        stands_in = said == 0 and true >= _LEAST and within
        if true - said >= _PART * row["count"] and (stands_in or _alike(row["category"], value.category)):
            one, other = printable(row["label"], 40), printable(value.label, 40)
            return (
                f"The model gives {one}, which the truth never has, for {row['count']:,.0f} records, and {other} for {said:,.0f}, "
                f"though {true:,.0f} have it: are they one value? Spell it alike in both columns; where they are two, "
                "name all values (categories)"
            )
    return None


def _alike(one: str, other: str) -> bool:
    """Whether one value may be the other with a slip of the pen, or with words around it; numbers are other numbers."""
    short, long = sorted((folded(one), folded(other)), key=len)
    if not short or (one + other).isdecimal():
        return False
    around = len(short) > 2 and short in long
    return around or SequenceMatcher(None, short, long).ratio() > _ALIKE
