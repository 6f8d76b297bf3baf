"""Cautions about the columns as they were given: likely mistakes of whoever started the audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Label, printable

from .audit_result import Finding
from .cautions import caution
from .context import Context

_SHOWN = 3


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
                9.85,
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
                9.95,
                direction=direction,
            )


def _shown(labels: tuple[Label, ...], sizes: NDArray[np.float64]) -> str:
    held = [label for label, size in zip(labels, sizes, strict=True) if size > 0]
    names = ", ".join(printable(label.category or "", 30) for label in held[:_SHOWN])
    return names + (f" and {len(held) - _SHOWN} more" if len(held) > _SHOWN else "")


MISTAKES: tuple[Callable[[Context], Iterator[Finding]], ...] = (one_value, disjoint)
