"""Populations whose truth is known in every figure, and samples of them as an audit takes them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Zero but for rounding.
NONE = 1e-9
_DRAWN = 200_000


@dataclass(frozen=True)
class Side:
    """One direction of a population: shares of what is given, rates of every outcome in it, TPR and FPR in it."""

    share: np.ndarray
    truth: np.ndarray
    hit: np.ndarray
    false: np.ndarray
    given: list[str]
    outcome: list[str]

    @property
    def predicted(self) -> np.ndarray:
        return self.truth * self.hit + (1 - self.truth) * self.false

    @property
    def delta(self) -> np.ndarray:
        return _clean(self.predicted - self.truth)

    @property
    def lean(self) -> np.ndarray:
        return _clean(self.truth - self.share @ self.truth)

    @property
    def directional(self) -> float:
        return float((np.sign(self.lean) * self.delta).mean())

    @property
    def dpa(self) -> float:
        """The sign of the model's score less that of the truth with the model's confusion; NaN for a tie of unlike rates.

        There the best guesses are equally good, but attackers that learn from few records may differ.
        """
        total = self.share @ self.truth
        hit = self.share @ (self.truth * self.hit) / total
        false = self.share @ ((1 - self.truth) * self.false) / (1 - total)
        equalized = self.truth * hit + (1 - self.truth) * false
        model, data = (float((self.share @ np.maximum(p, 1 - p)).mean()) for p in (self.predicted, equalized))
        if abs(model - data) < NONE:
            return 0.0 if np.allclose(self.predicted, equalized, atol=NONE) else float("nan")
        return model - data

    def place(self, pair: dict[str, Any]) -> tuple[int, int]:
        return self.given.index(pair["given"]), self.outcome.index(pair["outcome"])


def _clean(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) < NONE, 0.0, values)


@dataclass(frozen=True)
class Case:
    """A population, and how it is sampled.

    ``lean`` is how far tasks lean to a group, ``moved`` how much further the model goes, ``kept`` whether its other
    errors keep every group's rates (else they depend on the truth alone), ``tied`` how far it follows the group where
    the data do not.
    """

    name: str
    n: int
    tasks: int = 1
    lean: float = 0.0
    moved: float = 0.0
    tied: float = 0.0
    kept: bool = True
    rate: float = 0.3
    errors: float = 0.1
    groups: tuple[float, ...] = (0.5, 0.5)
    cluster: int = 1
    weighted: bool = False
    soft: bool = False
    both: bool = False
    metrics: tuple[str, ...] = ("directional", "multi", "dpa", "leakage", "parity")

    @property
    def side(self) -> Side:
        """A→T of the population."""
        groups, tasks = len(self.groups), self.tasks
        side = np.where(np.arange(groups) % 2, 1.0, -1.0)[:, None] * np.where(np.arange(tasks) % 2, 1.0, -1.0)
        truth = self.rate + self.lean * side
        push = (self.moved + self.tied) * side
        if self.kept:
            missed, gained = self.errors * truth, self.errors * truth
        else:
            missed, gained = 2 * self.errors * truth, self.errors * (1 - truth)
        missed, gained = missed + np.maximum(-push, 0.0), gained + np.maximum(push, 0.0)
        made = Side(
            np.array(self.groups),
            truth,
            1 - missed / truth,
            gained / (1 - truth),
            [f"g={chr(97 + i)}" for i in range(groups)],
            [f"t{k}" for k in range(tasks)],
        )
        return _as_variable(made) if tasks == 1 else made

    @property
    def turned(self) -> Side:
        """T→A of a population with one task: a group is predicted again as it is distributed among those with the task."""
        side = self.side
        joint = side.share[:, None] * side.truth
        share = joint.sum(axis=0)
        truth = (joint / share).T
        hit = 1 - self.errors + self.errors * truth
        return Side(share, truth, hit, self.errors * truth, side.outcome, side.given)

    def draw(self, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """A sample as columns, and the arguments of its audit."""
        made = self.side
        place = slice(1, None, 2) if self.tasks == 1 else slice(None)
        truth_rate, hit, false = (part[:, place] for part in (made.truth, made.hit, made.false))
        people = max(self.n // self.cluster, 2)
        g = np.repeat(rng.choice(len(self.groups), people, p=self.groups), self.cluster)
        shape = (len(g), self.tasks)

        def chances() -> np.ndarray:
            own, shared = rng.random(shape), np.repeat(rng.random((people, shape[1])), self.cluster, axis=0)
            return np.where(rng.random(shape) < 0.7, shared, own) if self.cluster > 1 else own

        truth = (chances() < truth_rate[g]).astype(int)
        said: np.ndarray = (chances() < np.where(truth == 1, hit[g], false[g])).astype(int)
        if self.soft:  # a score of the group alone, right on average
            said = rng.beta(4 * truth_rate[g], 4 * (1 - truth_rate[g]))
        data: dict[str, np.ndarray] = {"g": np.array([chr(97 + i) for i in g])}
        data |= {f"t{k}": truth[:, k] for k in range(self.tasks)} | {f"s{k}": said[:, k] for k in range(self.tasks)}
        names, predictions = [f"t{k}" for k in range(self.tasks)], [f"s{k}" for k in range(self.tasks)]
        options: dict[str, Any] = {"tasks": names, "task_predictions": predictions, "metrics": list(self.metrics)}
        if self.tasks == 1:
            options |= {"tasks": names[0], "task_predictions": predictions[0]}
        if self.both:
            again = np.array([rng.choice(len(self.groups), p=self.turned.truth[t]) for t in truth[:, 0]])
            data["guess"] = np.where(rng.random(len(g)) < self.errors, np.array(list("abcdefgh"))[again], data["g"])
            options |= {"attribute_predictions": "guess", "metrics": [*self.metrics, "mals"]}
        if self.cluster > 1:
            data["person"], options["cluster"] = np.repeat(np.arange(people), self.cluster), "person"
        if self.weighted:
            data["w"], options["weights"] = rng.exponential(1.0, len(g)), "w"
        return data, options


def _as_variable(side: Side) -> Side:
    """One task as a variable of two values."""

    def both(one: np.ndarray, zero: np.ndarray) -> np.ndarray:
        return np.concatenate([zero, one], axis=1)

    truth = both(side.truth, 1 - side.truth)
    hit, false = both(side.hit, 1 - side.false), both(side.false, 1 - side.hit)
    return replace(side, truth=truth, hit=hit, false=false, outcome=["t0=0", "t0=1"])


def leakage_of(case: Case) -> float:
    """The sign of what the best attacker gets from predictions less what it gets from truth with their confusion."""
    side = case.side
    place = slice(1, None, 2) if case.tasks == 1 else slice(None)
    truth, hit, false = side.truth[:, place], side.hit[:, place], side.false[:, place]
    total = side.share @ truth
    equal_hit, equal_false = side.share @ (truth * hit) / total, side.share @ ((1 - truth) * false) / (1 - total)
    model, data = truth * hit + (1 - truth) * false, truth * equal_hit + (1 - truth) * equal_false
    if np.allclose(model, data, atol=NONE):
        return 0.0
    rng = np.random.default_rng(0)
    g, drawn = rng.choice(len(side.share), _DRAWN, p=side.share), rng.random((_DRAWN, truth.shape[1]))
    right = []
    for rates in (model, data):
        labels = drawn < rates[g]
        chance = np.log(side.share) + labels @ np.log(rates).T + ~labels @ np.log(1 - rates).T
        right.append(chance.argmax(axis=1) == g)
    apart = right[0].astype(float) - right[1]
    # Nearly a tie: no sentence is called false.
    return float(apart.mean()) if abs(apart.mean()) > 3 * apart.std() / np.sqrt(_DRAWN) else float("nan")
