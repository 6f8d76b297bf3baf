"""What ``biasamp.choose_thresholds`` hands back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import LabelSet, Variable
from biasamp.data.arguments import read, same_length
from biasamp.data.label import Dense
from biasamp.data.plain_arguments import whole_number
from biasamp.results.interval import figure, plain
from biasamp.results.renderers import render
from biasamp.results.table import Table, text

from .calibrate import read_scores
from .directional import directional
from .least_cost import Hulls, Options
from .result import Amplification
from .scored_labels import ScoredLabels
from .threshold_effects import cautions_of, cautions_of_signs, effects_table, figures_of

Floats = NDArray[np.float64]
Costs = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Decided:
    """What thresholds do to some records.

    Attributes
    ----------
    accuracy : float
        The share of right decisions, over all records and tasks.
    cost : float
        The mean cost of a decision.
    n : float
        The total weight of the records.
    amplification : Amplification
        As :func:`biasamp.directional` measures the decisions.
    bound : float or None
        How far amplification may reach, at a one-sided level of 95%: the upper end of ``amplification.bounds()``.
    """

    accuracy: float
    cost: float
    n: float
    _given: LabelSet = field(repr=False)
    _truth: LabelSet = field(repr=False)
    _predicted: LabelSet = field(repr=False)
    _train: tuple[LabelSet, LabelSet] | None = field(repr=False)
    _weights: NDArray[Any] | None = field(repr=False)
    _used: LabelSet | None = field(default=None, repr=False)

    @classmethod
    def of(
        cls, held: ScoredLabels, predicted: NDArray[np.uint8], costs: Costs, used: NDArray[np.bool_] | None = None
    ) -> Decided:
        """Of records and the decisions on them, of shape (records, tasks); ``used`` are those that are made today."""
        weight = None if held.weights is None else held.weights.astype(np.float64)
        everyone = float(len(predicted)) if weight is None else float(weight.sum())
        wrong = np.zeros(2)
        for k, flag in enumerate(held.flags):
            positive = predicted[:, k].astype(bool)
            for kind, missed in enumerate((positive & ~flag, flag & ~positive)):
                wrong[kind] += np.count_nonzero(missed) if weight is None else weight[missed].sum()
        decisions = everyone * len(held.flags)
        variables = tuple(Variable(name, "binary") for name in held.tasks)

        def yes_no(values: NDArray[Any]) -> LabelSet:
            return LabelSet((Dense(variables, np.ascontiguousarray(values, dtype=np.uint8)),))

        train = None
        if held.train is not None:
            given, outcome = held.train
            train = given.owned(), yes_no(outcome.rows()[:, held.columns])
        return cls(
            (decisions - float(wrong.sum())) / decisions,
            float(wrong @ np.array(costs)) / decisions,
            everyone,
            held.given.owned(),
            yes_no(held.flags.T),
            yes_no(predicted),
            train,
            None if held.weights is None else held.weights.copy(),
            None if used is None else yes_no(used),
        )

    @cached_property
    def effects(self) -> Table:
        """Each task's amplification, TPR gap, FPR gap, selection gap and largest pair, at the threshold in use and at those chosen.

        Columns: task, figure, ``before`` and ``after``, each with the groups that it is of: the highest and the lowest rate, or the group of
        the pair. Gaps are those between groups with 30 records of the rate's own kind, where two have them; the
        largest pair is how much more often the task is predicted than true in the group where that is most. ``before`` is NaN where no threshold is in use.
        """

        def figures(predicted: LabelSet, found: Amplification) -> list[dict[str, Any]]:
            return figures_of(found, self._given, self._truth, predicted, self._weights)

        before = None
        if self._used is not None:
            found = directional(self._given, self._truth, self._used, train=self._train, weights=self._weights)
            before = figures(self._used, found)
        return effects_table(before, figures(self._predicted, self.amplification))

    @cached_property
    def amplification(self) -> Amplification:
        """Amplification of the decisions, with its pairs, interval and bounds."""
        return directional(self._given, self._truth, self._predicted, train=self._train, weights=self._weights)

    @cached_property
    def bound(self) -> float | None:
        """How far amplification may reach."""
        bounds = self.amplification.bounds()
        return None if bounds is None else float(bounds.high)

    def to_dict(self) -> dict[str, Any]:
        """The figures in plain Python values."""
        return {
            "n": plain(self.n),
            "accuracy": plain(self.accuracy),
            "cost": plain(self.cost),
            "amplification": plain(self.amplification.value),
            "bound": plain(self.bound),
            "effects": _plain_rows(self.effects),
        }


@dataclass(frozen=True, eq=False)
class ThresholdChoice:
    """Thresholds with the least cost whose amplification stays below a limit.

    Attributes
    ----------
    thresholds : ndarray of shape (tasks,) or (tasks, groups)
        What scores at or above its threshold is positive.
    tasks, groups : tuple of str
    by_group : bool
        Whether every group has thresholds of its own.
    limit : ndarray of shape (1,) or (tasks,)
        What the mean over tasks, or each task, was to stay below.
    limit_on : {"mean", "task"}
    costs : pair of float
        Of a false positive and of a false negative.
    accuracy, cost, amplification : float
        Of the records that thresholds were chosen on: the share of right decisions, the mean cost of a decision, and
        the mean amplification over tasks. They flatter, since thresholds were fitted to these records.
    gap : float
        The mean cost of a decision that thresholds within the limit could save over these, at most; 0 where these are
        the best ones.
    without_limit : dict
        Accuracy, cost and amplification of the best thresholds that heed no limit.
    table : Table
        One row for each task, or task and group: threshold, rate, truth rate, accuracy and amplification.
    validation, held_out : Decided
        The figures with the bound of amplification: of the records that thresholds were chosen on, and of others,
        where there are any, which alone tell how thresholds will do. ``.effects`` of each shows gaps between groups and the largest pair,
        before and after.
    used : ndarray of shape (tasks,) or None
        The thresholds that are in use, which ``.effects`` start from.

    Examples
    --------
    >>> import biasamp
    >>> group, truth = ["a"] * 4 + ["b"] * 4, [1, 1, 0, 0, 1, 0, 0, 0]
    >>> chosen = biasamp.choose_thresholds([0.9, 0.8, 0.6, 0.2, 0.7, 0.4, 0.3, 0.1], group, truth, limit=0.1)
    >>> chosen.threshold, chosen.accuracy
    (0.7, 1.0)
    >>> chosen.apply([0.75, 0.5]).tolist()
    [1, 0]
    """

    thresholds: Floats
    tasks: tuple[str, ...]
    groups: tuple[str, ...]
    by_group: bool
    limit: Floats
    limit_on: str
    costs: Costs
    amplification: float
    gap: float
    without_limit: dict[str, float]
    table: Table
    validation: Decided
    held_out: Decided | None
    used: Floats | None
    _fronts: tuple[tuple[Options, ...], ...] = field(repr=False)
    _at: tuple[tuple[Floats, ...], ...] = field(repr=False)

    @property
    def accuracy(self) -> float:
        """The share of right decisions on the records that thresholds were chosen on."""
        return self.validation.accuracy

    @property
    def cost(self) -> float:
        """The mean cost of a decision on the records that thresholds were chosen on."""
        return self.validation.cost

    @property
    def objective(self) -> str:
        """What was made best: ``"accuracy"``, or ``"cost"`` where errors of both kinds do not cost 1."""
        return "accuracy" if self.costs == (1.0, 1.0) else "cost"

    @property
    def threshold(self) -> float:
        """The threshold, where there is one."""
        if self.thresholds.size != 1:
            raise ValueError(f"there are {self.thresholds.size} thresholds: .thresholds holds all of them")
        return float(self.thresholds.flat[0])

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """What gets worse by these thresholds, pairs that cancel in the mean, and pairs of unknown direction: of the records at hand."""
        held = None if self.held_out is None else self.held_out.effects
        limits = np.broadcast_to(self.limit, len(self.tasks)).tolist()
        return (
            *cautions_of(self.validation.effects, held),
            *cautions_of_signs(self.validation.amplification, dict(zip(self.tasks, limits, strict=True))),
        )

    @cached_property
    def frontier(self) -> Table:
        """The least amplification and the best objective that go together, from one end to the other.

        Of one threshold per task and a limit on each task (or one task): every choice that no other one beats in both, with its
        threshold. Else the corners of the convex hull: each is the best choice for its own amplification. With a
        limit on each task one frontier for each of them, else that of the mean (task ``""``).
        """
        scale = self.validation.n
        rows: list[tuple[str, Floats, Floats, Floats]] = []
        if not self.by_group and (self.limit_on == "task" or len(self.tasks) == 1):
            for task, (held,), (at,) in zip(self.tasks, self._fronts, self._at, strict=True):
                rows.append((task, held.amplification, held.cost / scale, at))
        elif self.limit_on == "task":
            for task, sets in zip(self.tasks, self._fronts, strict=True):
                hulls = Hulls.of(sets)
                rows.append((task, hulls.amplification, hulls.cost / scale, np.empty(0)))
        else:
            hulls, count = Hulls.of([held for sets in self._fronts for held in sets]), len(self.tasks)
            rows.append(("", hulls.amplification / count, hulls.cost / (scale * count), np.empty(0)))
        cost = np.concatenate([row[2] for row in rows])
        columns: dict[str, NDArray[Any]] = {
            "task": text([row[0] for row in rows for _ in row[1]]),
            "amplification": np.concatenate([row[1] for row in rows]),
            self.objective: 1.0 - cost if self.objective == "accuracy" else cost,
        }
        at = np.concatenate([row[3] for row in rows])
        return Table({**columns, "threshold": at} if len(at) else columns)

    def apply(self, scores: Any, given: Any = None) -> NDArray[np.uint8]:
        """Decisions 0 and 1 from scores, in the layout of those that thresholds were chosen on.

        Parameters
        ----------
        scores : array-like of shape (records,) or (records, tasks)
        given : array-like, optional
            The group of each record, where groups have thresholds of their own.
        """
        values, _ = read_scores(scores)
        if values.shape[1] != len(self.tasks):
            raise ValueError(
                f"scores has {values.shape[1]} columns, but there are thresholds for {len(self.tasks)} tasks"
            )
        if not self.by_group:
            out = values >= self.thresholds
        elif given is None:
            raise ValueError("given is missing: thresholds differ by group, so that the group of each record is needed")
        else:
            labels = read(given, "given", "groups")
            same_length({"scores": values, "given": labels})
            out = values >= self.thresholds.T[group_places(labels, self.groups, "given")]
        decided = out.astype(np.uint8)
        return decided[:, 0] if np.ndim(scores) == 1 else decided

    def __str__(self) -> str:
        name, signed = self.objective, figure(self.amplification)
        limits = sorted({float(value) for value in self.limit})
        words = f"limit {limits[0]:g}" if len(limits) == 1 else f"limits {limits[0]:g} to {limits[-1]:g}"
        words += (
            "" if len(self.tasks) == 1 else " on the mean over tasks" if self.limit_on == "mean" else " on each task"
        )
        free = self.without_limit
        lines = [
            f"{name.capitalize()} {_figure(getattr(self, name))} at amplification {signed} ({words}); without a limit "
            f"{_figure(free[name])} at {figure(free['amplification'])}.",
            "No thresholds within the limit are better."
            if self.gap == 0.0
            else f"Thresholds within the limit are better by {self.gap:.2g} at most, if at all.",
        ]
        if self.held_out is None:
            lines.append(
                "Not measured on held-out data, and fitting flatters: hold out other records, and give them too."
            )
        else:
            held = self.held_out
            bound = "" if held.bound is None else f", at most {figure(held.bound)} (95%)"
            lines.append(
                f"On held-out data {name} {_figure(getattr(held, name))} at amplification "
                f"{figure(held.amplification.value)}{bound}."
            )
        lines += self.cautions
        return "\n".join(lines)

    def to_dict(self, points: int = 1000) -> dict[str, Any]:
        """The choice in plain Python values, with up to ``points`` rows of the frontier, evenly ranked."""
        count = len(self.frontier)
        points = min(whole_number(points, "points", least=2), count)
        places = np.unique(np.linspace(0, count - 1, points).round().astype(np.int64))
        return {
            "schema": 1,
            "limit": [plain(value) for value in self.limit],
            "limit_on": self.limit_on,
            "by_group": self.by_group,
            "objective": self.objective,
            "costs": list(self.costs),
            "amplification": plain(self.amplification),
            "gap": plain(self.gap),
            "used": None if self.used is None else [plain(value) for value in self.used],
            "cautions": list(self.cautions),
            "without_limit": {name: plain(value) for name, value in self.without_limit.items()},
            "thresholds": _plain_rows(self.table),
            "frontier": _plain_rows(self.frontier.take(places)),
            "validation": self.validation.to_dict(),
            "held_out": None if self.held_out is None else self.held_out.to_dict(),
        }

    def _repr_html_(self) -> str:
        return str(render("threshold table", self))

    def plot(self) -> Any:
        """The frontier as a matplotlib figure, with the choice, the limit and held-out data. Needs the extra ``plot``."""
        return render("threshold frontier", self.to_dict())


def group_places(labels: LabelSet, groups: Sequence[str], argument: str) -> NDArray[np.int64]:
    """The place of each record's group among those that have thresholds."""
    if not labels.exclusive:
        raise ValueError(f"{argument} is a set of labels; thresholds by group need one group for each record")
    known = {name: place for place, name in enumerate(groups)}
    _, code = labels.nonzero()
    names = [str(label) for label in labels.labels]
    strange = [names[i] for i in np.unique(code) if names[i] not in known]
    if strange:
        raise ValueError(
            f"{argument} has the group {strange[0]!r}, which has no thresholds; there are {', '.join(groups)}"
        )
    return np.array([known.get(name, -1) for name in names], dtype=np.int64)[code]


def _figure(value: float) -> str:
    return figure(value, False)


def _plain_rows(table: Table) -> list[dict[str, Any]]:
    return table.plain_rows()
