"""Bias amplification as a torchmetrics metric, for training loops on one machine or many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric

from biasamp.amplification.directional import directional_pairs
from biasamp.amplification.pair_table import PairValues, mean_over_pairs
from biasamp.amplification.signs import association_signs
from biasamp.counts.fixed import Count, Fixed, floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts

from .tensors import LIMBS, Side, decisions, limbs, one_hot

_DIRECTIONS = ("A->T", "T->A", "both")
_TASKS = ("binary", "multiclass", "multilabel")
# What is summed for each direction, in whole numbers, so that any order of summation gives the same.
_STATES = ("given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")
_SOFT = ("predicted", "joint_predicted", "joint_both")


class BiasAmplification(Metric):  # type: ignore[misc]
    r"""Directional bias amplification over batches.

    .. math:: \frac{1}{|G||O|} \sum_{g, o} y_{go} \, [P(\hat o | g) - P(o | g)], \quad
        y_{go} = \operatorname{sign}[P(g, o) - P(g) P(o)]

    The state is counts, which add up: any batching and any number of processes gives the value of all records at
    once, also where a batch or a process has no record of some group. A group or class that never occurs is in no pair.

    Parameters
    ----------
    task : {"multilabel", "multiclass", "binary"}
        What is predicted: a matrix of yes/no labels, or one class a record. Both classes of a yes/no task count.
    num_groups : int
        How many groups there are; ``groups`` is a number from 0 for each record.
    overlapping_groups : bool
        A record may be of several groups or none: ``groups`` is then a 0/1 matrix.
    num_labels, num_classes : int, optional
        How many labels a multilabel task has, or classes a multiclass one.
    direction : {"A->T", "T->A", "both"}
        A→T holds predictions of the task against the groups; T→A predictions of the group against the tasks and needs
        ``group_preds``. The two are not comparable.
    threshold : float or None
        Probabilities at or above it are positive; None counts them as fractions. Of several classes the most likely
        is predicted, or with None each its fraction.
    logits : bool
        Whether float predictions are logits. Nothing is guessed from the values of a batch.
    train : pair of tensors, optional
        ``(groups, target)`` of the training set, which then decides the signs.
    **kwargs
        Those of ``torchmetrics.Metric``; any other is an error.

    See Also
    --------
    biasamp.directional : the same value with intervals and cautions.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML.

    Examples
    --------
    >>> import torch
    >>> from biasamp.integrations.torch import BiasAmplification
    >>> metric = BiasAmplification(task="binary", num_groups=2)
    >>> groups = torch.tensor([0] * 90 + [1] * 30)
    >>> target = torch.tensor([0] * 60 + [1] * 30 + [0] * 10 + [1] * 20)
    >>> preds = torch.tensor([0] * 90 + [1] * 30)
    >>> for part in torch.arange(120).split(32):
    ...     metric.update(preds[part], target[part], groups[part])
    >>> round(metric.compute().item(), 4)
    0.3333
    """

    is_differentiable = False
    higher_is_better = False
    full_state_update = False
    plot_lower_bound = -1.0
    plot_upper_bound = 1.0

    def __init__(
        self,
        *,
        task: str,
        num_groups: int,
        num_labels: int | None = None,
        num_classes: int | None = None,
        overlapping_groups: bool = False,
        direction: str = "A->T",
        threshold: float | None = 0.5,
        logits: bool = False,
        train: Sequence[Tensor] | None = None,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        self.direction = _choice("direction", direction, _DIRECTIONS)
        if threshold is not None and not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is {threshold}; it must lie between 0 and 1, or be None for fractions")
        self.threshold, self.logits = threshold, logits
        self._tasks = _task_side(task, num_labels, num_classes)
        self._groups = Side("groups", _number("num_groups", num_groups, 1), not overlapping_groups)
        self._directions = ("A->T", "T->A") if direction == "both" else (direction,)
        for which in self._directions:
            given, outcome = self._sides(which)
            shapes = {"given": (given.width,), "truth": (outcome.width,), "predicted": (outcome.width,)}
            for name in _STATES:
                shape: tuple[int, ...] = shapes.get(name, (given.width, outcome.width))
                if threshold is None and name in _SOFT:
                    shape = (LIMBS, *shape)
                self.add_state(_state(which, name), torch.zeros(shape, dtype=torch.int64), dist_reduce_fx="sum")
        self.add_state("n", torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")
        self._signs = {which: self._train_signs(train, which) for which in self._directions}

    def _sides(self, direction: str) -> tuple[Side, Side]:
        return (self._groups, self._tasks) if direction == "A->T" else (self._tasks, self._groups)

    def update(self, preds: Tensor | None, target: Tensor, groups: Tensor, group_preds: Tensor | None = None) -> None:
        """Count a batch.

        Parameters
        ----------
        preds : Tensor or None
            Predictions of the task, hard or as probabilities or logits; T→A alone does not look at them.
        target : Tensor
            True labels of the task.
        groups : Tensor
            The true groups, as numbers or as a 0/1 matrix.
        group_preds : Tensor, optional
            Predicted groups, for T→A.
        """
        truth = {"A->T": one_hot(target, self._tasks, "target"), "T->A": one_hot(groups, self._groups, "groups")}
        given = {"A->T": truth["T->A"], "T->A": truth["A->T"]}
        said = {"A->T": (preds, self._tasks, "preds"), "T->A": (group_preds, self._groups, "group_preds")}
        records = len(truth["A->T"])
        if len(truth["T->A"]) != records:
            raise ValueError(f"groups has {len(truth['T->A'])} records, but target has {records}")
        counted = []
        for which in self._directions:
            values, side, name = said[which]
            if values is None:
                raise ValueError(f"{name} is None, but direction {which} needs it")
            like = truth[which]
            predicted = decisions(values, side, name, self.threshold, self.logits)
            if len(predicted) != records:
                raise ValueError(f"{name} has {len(predicted)} records, but target has {records}")
            counted.append((which, given[which], like, predicted.to(like.device)))
        # Everything is checked before anything is added: a refused batch leaves the state as it was.
        for which, held, true, predicted in counted:
            self._add(which, held.to(true.device), true, predicted)
        self.n += records

    def _add(self, which: str, given: Tensor, truth: Tensor, predicted: Tensor) -> None:
        everyone = torch.ones((len(given), 1), dtype=torch.int64, device=given.device)
        both = truth * predicted
        parts = {
            "given": given.sum(0),
            "truth": truth.sum(0),
            "predicted": self._sums(everyone, predicted)[..., 0, :],
            "joint_truth": _product(given, truth),
            "joint_predicted": self._sums(given, predicted),
            "joint_both": self._sums(given, both),
        }
        for name, part in parts.items():
            state = getattr(self, _state(which, name))
            state += part.to(state.device)

    def _sums(self, left: Tensor, right: Tensor) -> Tensor:
        """Counts of decisions, or the limbs of sums of fractions."""
        if self.threshold is not None:
            return _product(left, right)
        return torch.stack([_product(left, limb) for limb in limbs(right.to(torch.float64))])

    def compute(self) -> Tensor | dict[str, Tensor]:
        """The value, or one for each direction; NaN where no record has been counted."""
        values = {}
        for which in self._directions:
            pairs = self._pairs(self._counts(which), which)
            value = float(mean_over_pairs(pairs.amplification, pairs.defined))
            values[which] = torch.tensor(value, dtype=torch.float64, device=self.n.device)
        return values if self.direction == "both" else values[self.direction]

    def _counts(self, which: str) -> PairCounts:
        """What the formula needs of the counts; soft predictions have no standard error in them."""
        given, outcome = self._sides(which)
        held = {name: self._count(which, name) for name in _STATES}
        n = np.full((1, 1), int(self.n), dtype=np.int64)
        return PairCounts(
            given_labels=given.labels,
            outcome_labels=outcome.labels,
            records=int(self.n),
            n=n,
            given=held["given"][:, None],
            truth=held["truth"][None, :],
            predicted=held["predicted"][None, :],
            joint_truth=held["joint_truth"],
            joint_predicted=held["joint_predicted"],
            joint_both=held["joint_both"],
            squared=n,
        )

    def _count(self, which: str, name: str) -> Count:
        values = getattr(self, _state(which, name)).detach().cpu().numpy()
        if self.threshold is not None or name not in _SOFT:
            return values
        return Fixed(np.zeros_like(values[0]), values[0], values[1])

    def pairs(self, direction: str | None = None) -> list[dict[str, Any]]:
        """Every pair that is defined: given, outcome, sign, truth_rate, predicted_rate, delta and amplification."""
        which = self._one_direction(direction)
        counts = self._counts(which)
        values = self._pairs(counts, which)
        names = ("sign", "truth_rate", "predicted_rate", "delta", "amplification")
        return [
            {
                "given": str(counts.given_labels[i]),
                "outcome": str(counts.outcome_labels[j]),
                **{name: getattr(values, name)[i, j].item() for name in names},
            }
            for i, j in np.argwhere(values.defined).tolist()
        ]

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot one value, or several such as one an epoch; needs matplotlib.

        Parameters
        ----------
        val : optional
            What ``compute`` or ``forward`` gave, or a list of that; by default the value now.
        ax : matplotlib axis, optional
        """
        return self._plot(val, ax)

    def _one_direction(self, direction: str | None) -> str:
        if direction is None and self.direction == "both":
            raise ValueError("direction is None, but this metric counts both: name 'A->T' or 'T->A'")
        return _choice("direction", direction or self.direction, self._directions)

    def _pairs(self, counts: PairCounts, which: str) -> PairValues:
        signs = self._signs[which]
        pairs = directional_pairs(counts, association_signs(counts.truth_joint) if signs is None else signs)
        if not self._sides(which)[1].exclusive:
            return pairs
        # A class that is neither true nor predicted of anybody is no label, as where labels come from the data.
        seen = (floats(counts.truth) > 0) | (floats(counts.predicted) > 0)
        return replace(pairs, defined=pairs.defined & seen)

    def set_dtype(self, dst_type: Any) -> BiasAmplification:
        """Counts stay whole numbers, whatever precision a model is trained in."""
        return self

    def _train_signs(self, train: Sequence[Tensor] | None, which: str) -> Any:
        if train is None:
            return None
        if not isinstance(train, (tuple, list)) or len(train) != 2:
            raise TypeError("train must be a pair (groups, target) of the training set")
        known = one_hot(train[0], self._groups, "train groups"), one_hot(train[1], self._tasks, "train target")
        if len(known[0]) != len(known[1]):
            raise ValueError(f"train groups has {len(known[0])} records, but train target has {len(known[1])}")
        given, outcome = known if which == "A->T" else known[::-1]
        labels = [side.labels for side in self._sides(which)]
        n = np.full((1, 1), len(given), dtype=np.int64)
        left, right = given.sum(0).cpu().numpy()[:, None], outcome.sum(0).cpu().numpy()[None, :]
        joint = _product(given, outcome).cpu().numpy()
        return association_signs(JointCounts(labels[0], labels[1], len(given), n, left, right, joint, n))


def _state(direction: str, name: str) -> str:
    return f"{direction[0]}_{name}".lower()


def _product(left: Tensor, right: Tensor) -> Tensor:
    """Counts of pairs, multiplied in float64: integers have no matrix product on a GPU.

    Sums of whole numbers are exact there up to 2**53, which limbs of 26 bits reach in batches of 2**27 records.
    """
    return (left.to(torch.float64).T @ right.to(torch.float64)).to(torch.int64)


def _choice(name: str, value: str, choices: Sequence[str]) -> str:
    if value not in choices:
        raise ValueError(f"{name} is {value!r}; take one of {', '.join(map(repr, choices))}")
    return value


def _number(name: str, value: Any, least: int) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} is {value!r}; a whole number of at least {least} is needed")
    return value


def _task_side(task: str, num_labels: int | None, num_classes: int | None) -> Side:
    _choice("task", task, _TASKS)
    if task == "multilabel":
        if num_classes is not None:
            raise ValueError("num_classes is for multiclass tasks; a multilabel task has num_labels")
        return Side("tasks", _number("num_labels", num_labels, 1), False)
    if num_labels is not None:
        raise ValueError(f"num_labels is for multilabel tasks; a {task} task has classes")
    if task == "binary":
        if num_classes not in (None, 2):
            raise ValueError(f"num_classes is {num_classes}; a binary task has 2")
        return Side("tasks", 2, True)
    return Side("tasks", _number("num_classes", num_classes, 2), True)
