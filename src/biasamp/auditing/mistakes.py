"""Cautions about the columns as they were given: likely mistakes of whoever started the audit."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from biasamp.labels import Evaluation, LabelSet, printable
from biasamp.results.audit import Finding

from .cautions import caution
from .context import Context

_SHOWN = 3


def one_value(context: Context) -> Iterator[Finding]:
    """An attribute or a task with a single value has nothing to be associated with."""
    sides = [("attribute", subject.attribute, subject.A) for subject in context.subjects]
    sides.append(("task", context.document["data"]["tasks"]["title"], context.subjects[0].T))
    for role, title, labels in sides:
        if labels.exclusive and len(_held(labels)) == 1:
            only = str(labels.labels[_held(labels)[0]])
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
            evaluation = subject.evaluation(direction)
            if evaluation is None or (direction == "A->T" and subject is not context.subjects[0]):
                continue
            if not evaluation.truth.exclusive or _meet(evaluation):
                continue
            truth, said = (_shown(side) for side in (evaluation.truth, evaluation.predicted))
            yield caution(
                "disjoint",
                f"No {role} prediction is a value of the truth: the truth has {truth}, the predictions have {said}. Is this "
                "the column that was meant, and are its values spelled like those of the truth?",
                9.95,
                direction=direction,
            )


def _held(labels: LabelSet) -> list[int]:
    """The labels that at least one record has."""
    return [int(i) for i in np.unique(labels.nonzero()[1])]


def _meet(evaluation: Evaluation) -> bool:
    return bool(set(_held(evaluation.truth)) & set(_held(evaluation.predicted)))


def _shown(labels: LabelSet) -> str:
    held = _held(labels)
    names = ", ".join(printable(labels.labels[i].category or "", 30) for i in held[:_SHOWN])
    return names + (f" and {len(held) - _SHOWN} more" if len(held) > _SHOWN else "")


MISTAKES: tuple[Callable[[Context], Iterator[Finding]], ...] = (one_value, disjoint)
