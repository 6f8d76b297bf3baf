"""Every choice of thresholds of small cases, in whole numbers and fractions: what ``choose_thresholds`` is held against."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import biasamp


def case(rng: np.random.Generator, tasks: int, groups: int, n: int) -> tuple[Any, Any, Any]:
    """Scores with ties, groups and truth; every group has records, every task both values."""
    given = np.concatenate([np.arange(groups), rng.integers(groups, size=n - groups)])
    truth = rng.integers(2, size=(n, tasks))
    truth[:2] = [[0], [1]]
    scores = np.round(truth * rng.random((n, tasks)) + rng.random((n, tasks)), 1)
    return scores, np.array(list("abcd"))[given], truth


def cuts(scores: Any) -> list[float]:
    """Every threshold that makes a difference."""
    return [*np.unique(scores), np.inf]


def figures(predicted: Any, given: Any, truth: Any, costs: Any = (1, 1)) -> tuple[list[Fraction], int]:
    """Amplification of each task and the cost of all errors, in whole numbers and fractions, from the definition."""
    out, n = [], len(given)
    names = sorted(set(given))
    for k in range(truth.shape[1]):
        parts = []
        for name in names:
            mine = given == name
            joint = int((mine & (truth[:, k] == 1)).sum())
            sign = int(np.sign(n * joint - int(mine.sum()) * int(truth[:, k].sum())))
            parts.append(sign * Fraction(int(predicted[mine, k].sum()) - joint, int(mine.sum())))
        out.append(sum(parts, Fraction(0)) / len(names))
    wrong = ((predicted == 1) & (truth == 0)).sum() * costs[0] + ((predicted == 0) & (truth == 1)).sum() * costs[1]
    return out, int(wrong)


def all_choices(scores: Any, given: Any, truth: Any, costs: Any, by_group: bool) -> list[list[tuple[Fraction, int]]]:
    """Amplification and cost of every choice of thresholds, task by task."""
    out = []
    for k in range(scores.shape[1]):
        names = sorted(set(given)) if by_group else [None]
        each = [cuts(scores[:, k] if name is None else scores[given == name, k]) for name in names]
        found = []
        for cut in itertools.product(*each):
            least = np.full(len(given), cut[0])
            for name, value in zip(names, cut, strict=True):
                if name is not None:
                    least[given == name] = value
            predicted = (scores[:, [k]] >= least[:, None]).astype(int)
            amplification, cost = figures(predicted, given, truth[:, [k]], costs)
            found.append((amplification[0], cost))
        out.append(found)
    return out


def best(choices: list[list[tuple[Fraction, int]]], limit: Fraction, limit_on: str) -> int | None:
    """The least cost of all choices that keep the limit."""
    if limit_on == "task":
        each = [min((c for x, c in found if x <= limit), default=None) for found in choices]
        return None if None in each else sum(c for c in each if c is not None)
    # Of choices of a task with the same amplification only the least cost counts.
    distinct = []
    for found in choices:
        least: dict[Fraction, int] = {}
        for x, c in found:
            least[x] = min(c, least.get(x, c))
        distinct.append(list(least.items()))
    sums = {Fraction(0): 0}
    for found in distinct:
        grown: dict[Fraction, int] = {}
        for (x, c), (y, d) in itertools.product(sums.items(), found):
            grown[x + y] = min(c + d, grown.get(x + y, c + d))
        sums = grown
    return min((c for x, c in sums.items() if x <= limit * len(choices)), default=None)


@dataclass(frozen=True)
class Held:
    """A small case: the least cost there is within the limit, and what was found; None where nothing keeps it."""

    best: int | None
    found: Any
    cost: int = 0
    amplification: tuple[Fraction, ...] = ()
    limit: Fraction = Fraction(0)
    limit_on: str = "mean"
    free: int = 0
    predicted: Any = None
    truth: Any = None

    @property
    def beyond(self) -> float:
        """By how much the least cost per decision is below what was found; 0 where the best was found."""
        assert self.found is not None
        assert self.best is not None
        return (self.cost - self.best) / self.predicted.size


def held_against_all(seed: int) -> Held:
    """One random case, with its limit on the mean or on each task, for all groups or by group, and with costs."""
    rng = np.random.default_rng(seed)
    by_group, limit_on = bool(seed % 2), ("mean", "task")[seed // 2 % 2]
    tasks, groups = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    scores, given, truth = case(rng, tasks, groups, int(rng.integers(groups + 2, 13)))
    costs = (1, 1) if seed % 3 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    limit = Fraction(int(rng.integers(-2, 7)), 20)
    choices = all_choices(scores, given, truth, costs, by_group)
    least = best(choices, limit, limit_on)
    try:
        found = biasamp.choose_thresholds(
            scores, given, truth, limit=float(limit), limit_on=limit_on, by_group=by_group, cost=costs
        )
    except ValueError as error:
        if "no thresholds bring" not in str(error):
            raise
        return Held(least, None)
    predicted = found.apply(scores, given if by_group else None)
    amplification, cost = figures(predicted, given, truth, costs)
    free = sum(min(c for _, c in task) for task in choices)
    return Held(least, found, cost, tuple(amplification), limit, limit_on, free, predicted, truth)
