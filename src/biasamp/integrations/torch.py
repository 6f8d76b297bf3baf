"""Bias amplification as a torchmetrics metric, for training loops on one machine or many."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torchmetrics import Metric

from biasamp.amplification.base import Base
from biasamp.amplification.directional import directional_pairs
from biasamp.amplification.pair_table import PairValues, mean_over_pairs
from biasamp.amplification.signs import association_signs
from biasamp.counts.fixed import Count, Fixed, floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Label
from biasamp.data.column_checks import are_identifiers
from biasamp.data.plain_arguments import number
from biasamp.data.same_columns import refuse_same

_DIRECTIONS = ("A->T", "T->A", "both")
_TASKS = ("binary", "multiclass", "multilabel")
# What is summed for each direction, in whole numbers, so that any order of summation gives the same.
_STATES = ("given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")
_SOFT = ("predicted", "joint_predicted", "joint_both")
# An addend is a multiple of 2**-52 in two limbs of 26 bits, as in the counts of the library: sums of whole numbers
# are exact, so that neither batching nor the order of processes changes a bit of them.
_LIMBS = 2
_LIMB = float(1 << 26)
# Class probabilities that a model rounds to half precision add up to 1 to about this.
_SUM_TOLERANCE = 1e-2


@dataclass(frozen=True)
class _Side:
    """What one side of the metric is: classes of which a record has one, or yes/no labels."""

    name: str
    width: int
    exclusive: bool

    @property
    def labels(self) -> tuple[Label, ...]:
        return tuple(Label(self.name, str(i)) for i in range(self.width))


class BiasAmplification(Metric):  # type: ignore[misc]
    r"""Directional bias amplification over batches.

    .. math:: \frac{1}{|G||O|} \sum_{g, o} y_{go} \, [P(\hat o | g) - P(o | g)], \quad
        y_{go} = \operatorname{sign}[P(g, o) - P(g) P(o)]

    The state is counts, which add up: any batching and any number of processes gives the value of all records at
    once, also where a batch or a process has no record of some group. A group or class that never occurs is in no pair.

    Parameters
    ----------
    task : {"multilabel", "multiclass", "binary"}
        What is predicted: a matrix of yes/no labels, of which value 1 counts, or one class per record. Both classes of a
        binary task count.
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
        Probabilities at or above it are positive; None counts them as fractions, as :func:`biasamp.directional` and
        :func:`biasamp.audit` do with probabilities: by default the same scores give another value there, and an audit
        shows both. :attr:`counted_as` says which it is. Of several classes the most likely is predicted, or with None each its fraction.
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
        if threshold is not None:
            number(threshold, "threshold", least=0.0, most=1.0)
        self.threshold, self.logits = threshold, logits
        self._one_batch = False
        self._tasks = _task_side(task, num_labels, num_classes)
        self._groups = _Side(
            "groups", _number("num_groups", num_groups, 1 if overlapping_groups else 2), not overlapping_groups
        )
        self._directions = ("A->T", "T->A") if direction == "both" else (direction,)
        for which in self._directions:
            given, outcome = self._sides(which)
            shapes = {"given": (given.width,), "truth": (outcome.width,), "predicted": (outcome.width,)}
            for name in _STATES:
                shape: tuple[int, ...] = shapes.get(name, (given.width, outcome.width))
                if threshold is None and name in _SOFT:
                    shape = (_LIMBS, *shape)
                self.add_state(_state(which, name), torch.zeros(shape, dtype=torch.int64), dist_reduce_fx="sum")
        self.add_state("n", torch.zeros((), dtype=torch.int64), dist_reduce_fx="sum")
        self._train = {which: self._train_counts(train, which) for which in self._directions}

    def _sides(self, direction: str) -> tuple[_Side, _Side]:
        return (self._groups, self._tasks) if direction == "A->T" else (self._tasks, self._groups)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Count a batch and give its value; a batch may have few records of many groups."""
        self._one_batch = True
        try:
            return super().forward(*args, **kwargs)
        finally:
            self._one_batch = False

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
        tasks, members = _one_hot(target, self._tasks, "target"), _one_hot(groups, self._groups, "groups")
        records = len(tasks)
        if len(members) != records:
            raise ValueError(f"groups has {len(members)} records, but target has {records}")
        counted = []
        for which in self._directions:
            name, values = ("preds", preds) if which == "A->T" else ("group_preds", group_preds)
            given, truth = (members, tasks) if which == "A->T" else (tasks, members)
            if values is None:
                raise ValueError(f"{name} is None, but direction {which} needs it")
            predicted = _decisions(values, self._sides(which)[1], name, self.threshold, self.logits)
            if len(predicted) != records:
                raise ValueError(f"{name} has {len(predicted)} records, but target has {records}")
            counted.append((which, given.to(truth.device), truth, predicted.to(truth.device)))
        refuse_same({"groups": groups, "target": target, "preds": preds})
        refuse_same({"target": target, "groups": groups, "group_preds": group_preds})
        # Everything is checked before anything is added: a refused batch leaves the state as it was.
        for part in counted:
            self._add(*part)
        self.n += records

    def _add(self, which: str, given: Tensor, truth: Tensor, predicted: Tensor) -> None:
        everyone = torch.ones((len(given), 1), dtype=torch.int64, device=given.device)
        parts = {
            "given": given.sum(0),
            "truth": truth.sum(0),
            "predicted": self._sums(everyone, predicted)[..., 0, :],
            "joint_truth": _product(given, truth),
            "joint_predicted": self._sums(given, predicted),
            "joint_both": self._sums(given, truth * predicted),
        }
        for name, part in parts.items():
            state = getattr(self, _state(which, name))
            state += part.to(state.device)

    def _sums(self, left: Tensor, right: Tensor) -> Tensor:
        """Counts of decisions, or the limbs of sums of fractions between 0 and 1."""
        if self.threshold is not None:
            return _product(left, right)
        rest = right.to(torch.float64) * _LIMB
        high = rest.floor()
        return torch.stack([_product(left, limb) for limb in (high, ((rest - high) * _LIMB).round())])

    def compute(self) -> Tensor | dict[str, Tensor]:
        """The value, or one for each direction; NaN where no record has been counted."""
        values = {}
        if not self._one_batch:
            self._refuse_identifiers()
        for which in self._directions:
            pairs = self._pairs(self._kept_counts(which), which)
            value = float(mean_over_pairs(pairs.amplification, pairs.defined))
            value = float("nan") if self._one_group(which) else value
            self._warn_of_one_value(which)
            values[which] = torch.tensor(value, dtype=torch.float64, device=self.n.device)
        return values if self.direction == "both" else values[self.direction]

    def _one_group(self, which: str) -> bool:
        """Whether all records are of one group, which a warning says; a batch may be so without one."""
        given, held = self._sides(which)[0], getattr(self, _state(which, "given"))
        if self._one_batch or self._train[which] is not None or not given.exclusive or int((held > 0).sum()) != 1:
            return False
        warnings.warn(
            f"{'groups' if which == 'A->T' else 'target'} has one value only: there is none to compare it with, and the value is NaN",
            UserWarning,
            stacklevel=3,
        )
        return True

    def _warn_of_one_value(self, which: str) -> None:
        """Say that all records have one class in truth, so that the value is 0 whatever is predicted; a batch may be so."""
        truth, held = self._sides(which)[1], getattr(self, _state(which, "truth"))
        if self._one_batch or self._train[which] is not None or not truth.exclusive or int((held > 0).sum()) != 1:
            return
        warnings.warn(
            f"{'target' if which == 'A->T' else 'groups'} has one value only: it goes with no group more than with others, and "
            "amplification is 0 by definition, whatever is predicted",
            UserWarning,
            stacklevel=3,
        )

    @property
    def counted_as(self) -> str:
        """What float predictions count as: ``"decisions at 0.5"``, or another threshold, or ``"fractions"``.

        :func:`biasamp.audit` and :func:`biasamp.directional` count probabilities as fractions by default; an audit shows what decisions would give beside it.
        """
        return "fractions" if self.threshold is None else f"decisions at {self.threshold:g}"

    def _refuse_identifiers(self) -> None:
        """Refuse groups or classes that are ids: nearly as many as records."""
        which = self._directions[0]
        for name, side in (("groups", self._groups), ("target", self._tasks)):
            held = getattr(self, _state(which, "given" if side is self._sides(which)[0] else "truth"))
            many, records = int((held > 0).sum()), int(self.n)
            if side.exclusive and are_identifiers(many, records, group=name == "groups"):
                raise ValueError(
                    f"{name} holds {many:,} different values in {records:,} records: it looks like an identifier or a "
                    "measurement. Give another tensor, group its values first, or compute from more records"
                )

    def _counts(self, which: str) -> PairCounts:
        """What the formula needs of the counts; soft predictions have no standard error in them."""
        given, outcome = self._sides(which)
        n = np.full((1, 1), int(self.n), dtype=np.int64)
        held = {name: self._count(which, name) for name in _STATES}
        held["given"] = held["given"][:, None]
        held["truth"], held["predicted"] = held["truth"][None, :], held["predicted"][None, :]
        return PairCounts(given.labels, outcome.labels, int(self.n), n, squared=n, spread=None, **held)

    def _kept_counts(self, which: str) -> PairCounts:
        """The counts of the labels that make pairs."""
        counts = self._counts(which)
        return counts.only(*self._kept(counts, which))

    def _count(self, which: str, name: str) -> Count:
        values = getattr(self, _state(which, name)).detach().cpu().numpy()
        if self.threshold is not None or name not in _SOFT:
            return values
        return Fixed(np.zeros_like(values[0]), values[0], values[1])

    def pairs(self, direction: str | None = None) -> list[dict[str, Any]]:
        """Every pair that is defined: given, outcome, sign, truth_rate, predicted_rate, delta and amplification."""
        if direction is None and self.direction == "both":
            raise ValueError("direction is None, but this metric counts both: name 'A->T' or 'T->A'")
        which = _choice("direction", direction or self.direction, self._directions)
        counts = self._kept_counts(which)
        values = self._pairs(counts, which)
        names = ("sign", "truth_rate", "predicted_rate", "delta", "amplification")
        rows = []
        for i, j in np.argwhere(values.defined).tolist():
            pair = {"given": str(counts.given_labels[i]), "outcome": str(counts.outcome_labels[j])}
            rows.append({**pair, **{name: getattr(values, name)[i, j].item() for name in names}})
        return rows

    def plot(self, val: Any = None, ax: Any = None) -> Any:
        """Plot what ``compute`` or ``forward`` gave (by default the value now), or a list of that; needs matplotlib."""
        return self._plot(val, ax)

    def _pairs(self, counts: PairCounts, which: str) -> PairValues:
        train = self._train[which]
        signs_from = counts.truth_joint if train is None else train.only(*self._kept(self._counts(which), which))
        return directional_pairs(counts, association_signs(signs_from))

    def _kept(self, counts: PairCounts, which: str) -> tuple[Any, Any]:
        """Which labels of the declared ones make pairs: a group or a task that the training set lacks has no sign."""
        given, outcome = Base(sign_counts=self._train[which]).signed(*counts.joint_truth.shape)
        if self._sides(which)[1].exclusive and self._train[which] is None and counts.truth.shape[-1] != 2:
            # A class that nobody has has no truth to be amplified, even where it is predicted.
            outcome = floats(counts.truth)[0] > 0
        return given, outcome

    def set_dtype(self, dst_type: Any) -> BiasAmplification:
        """Counts stay whole numbers, whatever precision a model is trained in."""
        return self

    def _train_counts(self, train: Sequence[Tensor] | None, which: str) -> JointCounts | None:
        if train is None:
            return None
        if not isinstance(train, (tuple, list)) or len(train) != 2:
            raise TypeError("train must be a pair (groups, target) of the training set")
        known = _one_hot(train[0], self._groups, "train groups"), _one_hot(train[1], self._tasks, "train target")
        if len(known[0]) != len(known[1]):
            raise ValueError(f"train groups has {len(known[0])} records, but train target has {len(known[1])}")
        given, outcome = known if which == "A->T" else known[::-1]
        labels = [side.labels for side in self._sides(which)]
        n = np.full((1, 1), len(given), dtype=np.int64)
        left, right = given.sum(0).cpu().numpy()[:, None], outcome.sum(0).cpu().numpy()[None, :]
        joint = _product(given, outcome).cpu().numpy()
        return JointCounts(labels[0], labels[1], len(given), n, left, right, joint, n)


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


def _task_side(task: str, num_labels: int | None, num_classes: int | None) -> _Side:
    _choice("task", task, _TASKS)
    if task == "multilabel":
        if num_classes is not None:
            raise ValueError("num_classes is for multiclass tasks; a multilabel task has num_labels")
        return _Side("tasks", _number("num_labels", num_labels, 1), False)
    if num_labels is not None:
        raise ValueError(f"num_labels is for multilabel tasks; a {task} task has classes")
    if task == "binary":
        if num_classes not in (None, 2):
            raise ValueError(f"num_classes is {num_classes}; a binary task has 2")
        return _Side("tasks", 2, True)
    return _Side("tasks", _number("num_classes", num_classes, 2), True)


def _one_hot(values: Tensor, side: _Side, name: str) -> Tensor:
    """True labels as a 0/1 matrix of whole numbers."""
    _tensor(values, name)
    if values.is_floating_point():
        if not bool((values == values.round()).all()):
            raise ValueError(f"{name} holds fractions; true labels are whole numbers")
    elif values.is_complex():
        raise TypeError(f"{name} is a tensor of {values.dtype}; labels are numbers or bool")
    if values.ndim != (1 if side.exclusive else 2) or (not side.exclusive and values.shape[1] != side.width):
        needed = "(records,)" if side.exclusive else f"(records, {side.width})"
        raise ValueError(f"{name} has shape {tuple(values.shape)}; {needed} is needed")
    values = values.to(torch.int64)
    highest = side.width - 1 if side.exclusive else 1
    wrong = values[(values < 0) | (values > highest)]
    if len(wrong):
        raise ValueError(f"{name} holds {int(wrong[0])}; labels lie between 0 and {highest}")
    if not side.exclusive:
        return values
    return (values[:, None] == torch.arange(side.width, device=values.device)).to(torch.int64)


def _decisions(values: Tensor, side: _Side, name: str, threshold: float | None, logits: bool) -> Tensor:
    """Predictions as a matrix: whole numbers, or fractions in float64 where there is no threshold."""
    _tensor(values, name)
    if not values.is_floating_point():
        return _one_hot(values, side, name)
    values = values.detach().to(torch.float64)
    one_column = side.exclusive and values.ndim == 1
    if one_column and side.width != 2:
        raise ValueError(
            f"{name} has shape {tuple(values.shape)}; of {side.width} classes (records, {side.width}) is needed"
        )
    if not one_column and (values.ndim != 2 or values.shape[1] != side.width):
        column = side.exclusive and side.width == 2 and values.ndim == 2 and values.shape[1] == 1
        needed = f"(records,) is needed: {name}.squeeze(1)" if column else f"(records, {side.width}) is needed"
        raise ValueError(f"{name} has shape {tuple(values.shape)}; {needed}")
    several = side.exclusive and not one_column
    if logits:
        if bool(values.isnan().any()):
            raise ValueError(f"{name} holds NaN")
        values = values.softmax(-1) if several else values.sigmoid()
    wrong = values[~((values >= 0) & (values <= 1))]
    if len(wrong):
        raise ValueError(
            f"{name} holds {wrong[0].item():g}; probabilities lie between 0 and 1. Logits need logits=True"
        )
    if several:
        if threshold is not None:
            return _one_hot(values.argmax(-1), side, name)
        sums = values.sum(-1)
        off = (sums - 1).abs()
        if bool((off > _SUM_TOLERANCE).any()):
            raise ValueError(f"{name} holds class probabilities that add up to {sums[off.argmax()].item():g}")
        return values
    if threshold is not None:
        positive = (values >= threshold).to(torch.int64)
        return _one_hot(positive, side, name) if one_column else positive
    return torch.stack([1 - values, values], -1) if one_column else values


def _tensor(values: object, name: str) -> None:
    if not isinstance(values, Tensor):
        raise TypeError(f"{name} is a {type(values).__name__}; a tensor is needed")
