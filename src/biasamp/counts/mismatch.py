"""In words, why two counts of audits do not add up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasamp.data import Label, Variable, printable

from .joint import JointCounts
from .storage import to_arrays

_SHOWN = 5


def differing(role: str, mine: Sequence[Variable], theirs: Sequence[Variable]) -> str:
    """How two label spaces differ, and what to do."""
    one = {label for variable in mine for label in variable.labels}
    two = {label for variable in theirs for label in variable.labels}

    def shown(labels: set[Label]) -> str:
        names = sorted(printable(str(label), 40) for label in labels)
        return (", ".join(names[:_SHOWN]) or "none") + (
            f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
        )

    if one == two:
        detail = "they have the same labels in another order or of another kind"
    else:
        detail = f"only the first have {shown(one - two)}; only the second have {shown(two - one)}"
    return (
        f"counts of different {role} labels do not add up: {detail}. Count again with the label space said outright, "
        "categorical(column, categories=[...]), or with labels= of the other counts"
    )


_ROLES = {
    "groups": "attributes",
    "task": "tasks",
    "group_predictions": "attribute_predictions",
    "task_prediction": "task_predictions",
}


def plan_columns(plan: Mapping[str, Any]) -> dict[str, Any]:
    """A plan without what columns were declared to be."""

    def plain(held: Any) -> Any:
        if isinstance(held, Mapping):
            return {name: plain(one) for name, one in held.items()}
        if isinstance(held, list) and len(held) == 3 and isinstance(held[0], list):
            return [held[0], None, None]
        return [plain(one) for one in held] if isinstance(held, list) else held

    return {name: plain(held) for name, held in plan.items()}


def _shown(held: Any) -> str:
    """A part of a plan, for people: the columns of a role, or a setting."""
    if isinstance(held, Mapping):
        return ", ".join(_shown(one) for one in held.values())
    if isinstance(held, list) and len(held) == 3 and isinstance(held[0], list):
        names, declared, categories = held
        text = ", ".join(printable(str(name), 40) for name in names)
        if declared is not None:
            text = f"{declared}({text}{'' if categories is None else f', categories={categories}'})"
        return text
    if isinstance(held, list):
        return ", ".join(_shown(one) for one in held) or "nothing"
    return "nothing" if held is None else printable(str(held), 60)


def same_joint(mine: JointCounts, theirs: JointCounts | None) -> bool:
    """Whether two joint counts are the same numbers."""
    if theirs is None:
        return False
    (_, one), (_, two) = to_arrays(mine), to_arrays(theirs)
    return one.keys() == two.keys() and all(np.array_equal(one[name], two[name]) for name in one)


def plans_apart(mine: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """What two plans say differently, by the arguments' names."""
    names = sorted(k for k in {*mine, *theirs} if mine.get(k) != theirs.get(k))
    return "; ".join(
        f"{_ROLES.get(name, name)} is {_shown(mine.get(name))} in the first, {_shown(theirs.get(name))} in the second"
        for name in names
    )
