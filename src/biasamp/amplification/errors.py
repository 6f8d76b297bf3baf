"""``biasamp.classify_errors``: which of a model's errors amplify, and in which direction (2021 paper, Fig. 1)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.joint import JointCounts
from biasamp.counts.tables import chunks
from biasamp.data import LabelSet, same_length
from biasamp.data.arguments import read, read_train
from biasamp.data.same_columns import refuse_same, same_index
from biasamp.data.vocabulary import one_space
from biasamp.results import Table, text

from .signs import association_signs


@dataclass(frozen=True, eq=False)
class ErrorClasses:
    """How many records err, and how many of their errors amplify.

    Attributes
    ----------
    counts : dict
        ``"A->T amplifying"``: task errors along the association of the record's group with the task;
        ``"T->A amplifying"``: attribute errors along it; ``"neither"``: errors of either kind that are not.
    task_errors, attribute_errors : int
        Records with a wrong task, and with a wrong attribute.
    records : int
        Records looked at.
    table : Table
        The same by kind of error and true labels.

    Examples
    --------
    >>> import biasamp
    >>> group, paints = ["w"] * 40 + ["m"] * 40, [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> found = biasamp.classify_errors(group, paints, T_pred=[1] * 40 + [0] * 40)
    >>> found.task_errors, found.records, found.counts["A->T amplifying"]
    (20, 80, 20)
    """

    counts: dict[str, int]
    task_errors: int
    attribute_errors: int
    records: int
    table: Table


def classify_errors(A: Any, T: Any, A_pred: Any = None, T_pred: Any = None, *, train: Any = None) -> ErrorClasses:
    """Class each record's errors as in Fig. 1 of Wang & Russakovsky (2021).

    A wrong task amplifies A→T when it moves the record along the association of its group: it gains tasks
    that the group is associated with or loses others, on balance. A wrong attribute amplifies T→A
    likewise. What does neither is counted as such.

    Parameters
    ----------
    A, T : array-like
        True groups and tasks.
    A_pred, T_pred : array-like, optional
        Hard predictions; either may be left out.
    train : pair of array-like, optional
        ``(A, T)`` of the training set, which then decides the associations.

    Examples
    --------
    Women paint more in the data; the model makes a man who paints a non-painter.

    >>> import biasamp
    >>> A = ["w"] * 40 + ["m"] * 40
    >>> T = [1] * 30 + [0] * 10 + [1] * 10 + [0] * 30
    >>> wrong = T.copy()
    >>> wrong[40] = 0
    >>> biasamp.classify_errors(A, T, T_pred=wrong).counts
    {'A->T amplifying': 1, 'T->A amplifying': 0, 'neither': 0}
    """
    if A_pred is None and T_pred is None:
        raise ValueError("A_pred and T_pred are both None: give the predictions whose errors are to be classed")
    same_index({"A": A, "T": T, "A_pred": A_pred, "T_pred": T_pred})
    refuse_same({"A": A, "T": T, "T_pred": T_pred})
    refuse_same({"T": T, "A": A, "A_pred": A_pred})
    a, t = read(A, "A", "groups"), read(T, "T", "outcomes")
    a_pred = None if A_pred is None else read(A_pred, "A_pred", soft=True, like=a)
    t_pred = None if T_pred is None else read(T_pred, "T_pred", soft=True, like=t)
    same_length({"A": a, "T": t, "A_pred": a_pred, "T_pred": t_pred})
    for name, labels in (("A_pred", a_pred), ("T_pred", t_pred)):
        if labels is not None and labels.soft:
            raise ValueError(f"{name} holds probabilities: an error needs hard predictions, so threshold them first")
    train_a, train_t = (None, None) if train is None else read_train(train, ("A", "T"))
    a, a_pred, train_a = one_space(a, a_pred, train_a, ["A", "A_pred", "train A"])
    t, t_pred, train_t = one_space(t, t_pred, train_t, ["T", "T_pred", "train T"])
    known = (a, t) if train_a is None or train_t is None else (train_a, train_t)
    signs = association_signs(JointCounts.from_labels(*known))
    rows: list[tuple[str, str, str, bool, int]] = []
    task = _classed("task", a, [t, t_pred], signs, a, t, rows) if t_pred is not None else (0, 0)
    attribute = _classed("attribute", t, [a, a_pred], signs.T, a, t, rows) if a_pred is not None else (0, 0)
    table = Table(
        {
            "error": text([row[0] for row in rows]),
            "A": text([row[1] for row in rows]),
            "T": text([row[2] for row in rows]),
            "amplifies": np.array([row[3] for row in rows], dtype=bool),
            "count": np.array([row[4] for row in rows], dtype=np.int64),
        }
    )
    counts = {
        "A->T amplifying": task[1],
        "T->A amplifying": attribute[1],
        "neither": task[0] - task[1] + attribute[0] - attribute[1],
    }
    return ErrorClasses(counts, task[0], attribute[0], len(a), table)


def _classed(
    kind: str,
    given: LabelSet,
    outcome: list[LabelSet],
    signs: NDArray[np.int8],
    a: LabelSet,
    t: LabelSet,
    rows: list[tuple[str, str, str, bool, int]],
) -> tuple[int, int]:
    """How many records err in one kind of label and how many of these errors amplify; adds to the rows."""
    found: dict[tuple[str, str, bool], int] = {}
    for start, stop in chunks(len(given), given.width + 2 * outcome[0].width):
        change = outcome[1].rows(start, stop).astype(np.int64) - outcome[0].rows(start, stop)
        wrong = np.flatnonzero(change.any(axis=1))
        along = ((given.rows(start, stop).astype(np.int64) @ signs) * change).sum(axis=1)
        a_rows, t_rows = a.rows(start, stop), t.rows(start, stop)
        for i in wrong.tolist():
            key = (_names(a, a_rows[i]), _names(t, t_rows[i]), bool(along[i] > 0))
            found[key] = found.get(key, 0) + 1
    rows.extend((kind, *key, count) for key, count in sorted(found.items()))
    return sum(found.values()), sum(count for key, count in found.items() if key[2])


def _names(labels: LabelSet, row: NDArray[np.uint8]) -> str:
    return ", ".join(str(labels.labels[i]) for i in np.flatnonzero(row)) or "none"
