"""Cautions about the columns as they were given: likely mistakes of whoever started the audit."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Label, printable

from .context import Context
from .finding import Finding, caution

_SHOWN = 3
_PREDICTED = re.compile(r"pred|_hat|^hat_|score|prob(?!lem)|logit|output|guess", re.I)


def one_value(context: Context) -> Iterator[Finding]:
    """An attribute or a task with a single value has nothing to be associated with."""
    sides = [("attribute", subject.attribute, subject.sizes["A"]) for subject in context.subjects]
    sides.append(("task", context.document["data"]["tasks"]["title"], context.subjects[0].sizes["T"]))
    for role, title, (labels, sizes, exclusive) in sides:
        if exclusive and int((sizes > 0).sum()) == 1:
            only = str(labels[int(np.argmax(sizes))])
            yield caution(
                "one-value",
                f"The {role} {printable(title, 40)} has one value only, {printable(only, 40)}: without a second one there is "
                "nothing to compare, and amplification is 0 by definition.",
                {"attribute": title if role == "attribute" else None, "label": only},
                label=only,
            )


def disjoint(context: Context) -> Iterator[Finding]:
    """Predictions that never name a category of the truth."""
    for subject in context.subjects:
        for direction, role in (("A->T", "task"), ("T->A", "attribute")):
            if direction == "A->T" and subject is not context.subjects[0]:
                continue
            margins = subject.margins(direction)
            if margins is None or not margins.exclusive or ((margins.truth > 0) & (margins.predicted > 0)).any():
                continue
            truth, said = (_shown(margins.labels, side) for side in (margins.truth, margins.predicted))
            yield caution(
                "disjoint",
                f"No {role} prediction is a value of the truth: the truth has {truth}, the predictions have {said}. Is this "
                "the column that was meant, and are its values spelled like those of the truth?",
                {"attribute": subject.attribute if direction == "T->A" else None, "direction": direction},
                direction=direction,
            )


def _shown(labels: tuple[Label, ...], sizes: NDArray[np.float64]) -> str:
    held = [label for label, size in zip(labels, sizes, strict=True) if size > 0]
    names = ", ".join(printable(label.category or "", 30) for label in held[:_SHOWN])
    return names + (f" and {len(held) - _SHOWN} more" if len(held) > _SHOWN else "")


def perfect(context: Context) -> Iterator[Finding]:
    """Predictions that equal the truth."""
    for direction, what in (("A->T", "Task"), ("T->A", "Attribute")):
        entries = list(context.entries("multi", direction))
        if entries and all(entry["value"] == 0 and entry.get("floor") == 0 for entry in entries):
            yield caution(
                "perfect",
                f"{what} predictions equal the truth in every record, so amplification is 0 by definition. Is the column of "
                "predictions a copy of the truth?",
                {"direction": direction},
                direction=direction,
            )


def swapped(context: Context) -> Iterator[Finding]:
    """Column names that suggest that truth and predictions were swapped."""
    roles = context.document["data"]["roles"]
    for truth, predicted in (("tasks", "task_predictions"), ("attributes", "attribute_predictions")):
        if not roles[predicted]:
            continue
        if any(_PREDICTED.search(n) for n in roles[truth]) and not any(_PREDICTED.search(n) for n in roles[predicted]):
            yield caution(
                "swapped",
                f"{truth} names {', '.join(printable(n, 40) for n in roles[truth][:3])} and {predicted} names "
                f"{', '.join(printable(n, 40) for n in roles[predicted][:3])}: are truth and predictions swapped?",
            )


MISTAKES: tuple[Callable[[Context], Iterator[Finding]], ...] = (one_value, disjoint, perfect, swapped)
