"""Scores beside the labels they are of: what every choice of thresholds starts from."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.joint import JointCounts
from biasamp.data import LabelSet, same_length, weights_of
from biasamp.data.arguments import read, read_train, warn_of_one_value
from biasamp.data.same_columns import refuse_same, same_index
from biasamp.data.vocabulary import one_space

from .calibrate import read_scores
from .signs import association_signs, compare_products

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class ScoredLabels:
    """Records with groups, outcomes and a score for each outcome.

    Attributes
    ----------
    scores : ndarray of shape (records, tasks)
    given, outcome : LabelSet
    columns : ndarray of shape (tasks,)
        The label of the outcome that each column of the scores is for.
    member : ndarray of bool, of shape (groups, records)
    flags : ndarray of bool, of shape (tasks, records)
        The truth of each task.
    signs : ndarray of shape (groups, tasks)
        Which way group and task are associated.
    size : ndarray of shape (groups,)
        The weight of each group.
    hits : ndarray of shape (groups, tasks)
        The weight of the records that have both.
    weights : ndarray of shape (records,), optional
    train : pair of LabelSet, optional
        Groups and outcomes of the records that signs come from, in the same label spaces.
    """

    scores: Floats
    given: LabelSet
    outcome: LabelSet
    columns: NDArray[np.int64]
    member: Flags
    flags: Flags
    signs: NDArray[np.int8]
    size: Floats
    hits: Floats
    weights: NDArray[Any] | None
    train: tuple[LabelSet, LabelSet] | None = None

    @property
    def groups(self) -> tuple[str, ...]:
        """What the groups are called."""
        return tuple(str(label) for label in self.given.labels)

    @property
    def tasks(self) -> tuple[str, ...]:
        """What the labels are called that scores are of."""
        return tuple(str(self.outcome.labels[place]) for place in self.columns)


def read_scored_labels(
    scores: Any, given: Any, truth: Any, *, train: Any = None, weights: Any = None, called: str = ""
) -> ScoredLabels:
    """Read the arguments of :func:`biasamp.sweep`; whatever is wrong is refused here.

    Messages call the arguments by their names after the words ``called``, such as ``"held_out "``.
    """
    names = {"scores": f"{called}scores", "given": f"{called}given", "truth": f"{called}truth"}
    same_index({names["scores"]: scores, names["given"]: given, names["truth"]: truth, "weights": weights})
    refuse_same({names["given"]: given, names["truth"]: truth, names["scores"]: scores})
    values, _ = read_scores(scores, names["scores"])
    held, outcome = read(given, names["given"], "groups"), read(truth, names["truth"], "outcomes")
    count = same_length({names["scores"]: values, names["given"]: held, names["truth"]: outcome})
    own = weights_of(weights, count)
    signs_from = lent = None
    if train is not None:
        train_given, train_truth = read_train(train, ("given", "truth"))
        held, _, placed_given = one_space(held, None, train_given, [names["given"], "", "train given"])
        outcome, _, placed_truth = one_space(outcome, None, train_truth, [names["truth"], "", "train truth"])
        assert placed_given is not None
        assert placed_truth is not None
        lent = placed_given, placed_truth
        signs_from = JointCounts.from_labels(*lent)
    else:
        warn_of_one_value(outcome, names["truth"])
    columns = _positive(outcome, values.shape[1], names)
    flags, member = _by_label(outcome, columns), _by_label(held, np.arange(held.width))
    whole = None if own is None else own.astype(np.float64)
    if signs_from is not None or own is not None or len(columns) > 1:
        signs = association_signs(signs_from or JointCounts.from_labels(held, outcome, own))[:, columns]
    else:
        signs = _signs(member, flags[0])
    size = np.array([total(mine, whole) for mine in member])
    _warn_of_empty(held, size)
    hits = np.array([[total(mine & flag, whole) for flag in flags] for mine in member])
    signs = np.broadcast_to(signs, (held.width, len(columns)))
    return ScoredLabels(values, held, outcome, columns, member, flags, signs, size, hits, own, lent)


def _by_label(labels: LabelSet, wanted: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which records hold each of the wanted labels, one row per label."""
    if labels.exclusive:
        row, code = labels.nonzero()
        if len(row) == len(labels):
            return np.stack([code == place for place in wanted])
    return np.ascontiguousarray(labels.rows()[:, wanted].T).astype(bool)


def total(flags: NDArray[np.bool_], weights: Floats | None) -> float:
    """The weight of the records that are flagged."""
    return float(np.count_nonzero(flags) if weights is None else weights[flags].sum())


def _signs(member: NDArray[np.bool_], positive: NDArray[np.bool_]) -> NDArray[np.int8]:
    """The signs of one label's associations, from as many passes as there are given labels."""
    joint = np.array([[np.count_nonzero(mine & positive)] for mine in member], dtype=np.int64)
    left = np.array([[np.count_nonzero(mine)] for mine in member], dtype=np.int64)
    right = np.array([[np.count_nonzero(positive)]], dtype=np.int64)
    return compare_products(np.array([[len(positive)]], dtype=np.int64), joint, left, right)


def _positive(outcome: LabelSet, width: int, names: dict[str, str]) -> NDArray[np.int64]:
    """The labels of the truth that the columns of the scores are for."""
    labels = outcome.labels
    if len(labels) == width:
        return np.arange(width)
    if width == 1 and outcome.exclusive and {label.category for label in labels} <= {"0", "1"}:
        place = [i for i, label in enumerate(labels) if label.category == "1"]
        if place:
            return np.array(place)
        raise ValueError(f"{names['truth']} holds no 1: no record is positive, so that all thresholds are alike")
    raise ValueError(
        f"{names['scores']} has {width} column{'s' if width != 1 else ''}, but {names['truth']} has the {len(labels)} labels "
        f"{', '.join(str(label) for label in labels[:5])}{', …' if len(labels) > 5 else ''}: give a score for each, or "
        "say which one is meant with biasamp.binary(...)"
    )


def _warn_of_empty(held: LabelSet, size: Floats) -> None:
    empty = [str(held.labels[i]) for i in np.flatnonzero(size == 0)]
    if len(empty) == held.width:
        raise ValueError("no pair is defined: no record has any of the given labels")
    if empty:
        warnings.warn(
            f"no record has the given label {empty[0]!r}"
            + (f", nor {len(empty) - 1} more" if len(empty) > 1 else "")
            + ": its pairs are undefined and left out of the mean",
            UserWarning,
            stacklevel=4,
        )
