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
        return self.signed(np.sign(self.lean))

    def signed(self, signs: np.ndarray) -> float:
        """The value with signs from elsewhere."""
        return float((signs * self.delta).mean())

    @property
    def rates(self) -> dict[str, np.ndarray]:
        """The rates of groups that an audit's table has."""
        accuracy = self.truth * self.hit + (1 - self.truth) * (1 - self.false)
        precision = self.truth * self.hit / self.predicted
        names = ("selection_rate", "true_positive_rate", "false_positive_rate", "accuracy", "precision")
        return dict(zip(names, (self.predicted, self.hit, self.false, accuracy, precision), strict=True))

    @property
    def dpa(self) -> float:
        """The model's score and that of the truth with the model's confusion; NaN for a tie of unlike rates.

        There the best guesses are equally good, but attackers that learn from few records may differ.
        """
        total = self.share @ self.truth
        hit = self.share @ (self.truth * self.hit) / total
        false = self.share @ ((1 - self.truth) * self.false) / (1 - total)
        equalized = self.truth * hit + (1 - self.truth) * false
        model, data = (float((self.share @ np.maximum(p, 1 - p)).mean()) for p in (self.predicted, equalized))
        if abs(model - data) < NONE:
            return 0.0 if np.allclose(self.predicted, equalized, atol=NONE) else float("nan")
        return (model - data) / (model + data)

    def place(self, pair: dict[str, Any]) -> tuple[int, int]:
        return self.given.index(pair["given"]), self.outcome.index(pair["outcome"])


def _clean(values: np.ndarray) -> np.ndarray:
    return np.where(np.abs(values) < NONE, 0.0, values)


@dataclass(frozen=True)
class Records:
    """Groups and true tasks of a sample, the chance numbers that decide its predictions, and who each record is of."""

    group: np.ndarray
    truth: np.ndarray
    chance: np.ndarray
    person: np.ndarray


@dataclass(frozen=True)
class Case:
    """A population, and how it is sampled.

    ``lean`` is how far tasks lean to a group, ``moved`` how much further the model goes, ``kept`` whether its other
    errors keep every group's rates (else they depend on the truth alone), ``tied`` how far it follows the group where
    the data do not. With ``first_only`` the first group alone is moved, as many times further as there are groups;
    with ``one_task`` the first task alone.
    One task is a variable of two values, or with ``label`` a yes/no label.
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
    trained: bool = False
    first_only: bool = False
    one_task: bool = False
    label: bool = False
    metrics: tuple[str, ...] = ("directional", "multi", "dpa", "leakage", "parity")

    @property
    def variable(self) -> bool:
        return self.tasks == 1 and not self.label

    @property
    def labels(self) -> Side:
        """A→T of the population, every task a yes/no label."""
        groups, tasks = len(self.groups), self.tasks
        side = np.where(np.arange(groups) % 2, 1.0, -1.0)[:, None] * np.where(np.arange(tasks) % 2, 1.0, -1.0)
        truth = self.rate + self.lean * side
        push = (self.moved + self.tied) * side
        if self.first_only:
            push = push * np.array([groups, *[0] * (groups - 1)])[:, None]
        if self.one_task:
            push = push * (np.arange(tasks) == 0)
        if self.kept:
            missed, gained = self.errors * truth, self.errors * truth
        else:
            missed, gained = 2 * self.errors * truth, self.errors * (1 - truth)
        missed, gained = missed + np.maximum(-push, 0.0), gained + np.maximum(push, 0.0)
        hit, false = 1 - missed / truth, gained / (1 - truth)
        if self.soft:  # a score of the group alone, right on average
            hit = false = truth
        return Side(
            np.array(self.groups),
            truth,
            hit,
            false,
            [f"g={chr(97 + i)}" for i in range(groups)],
            [f"t{k}" for k in range(tasks)],
        )

    @property
    def side(self) -> Side:
        """A→T of the population, as an audit reads it."""
        return _as_variable(self.labels) if self.variable else self.labels

    @property
    def turned(self) -> Side:
        """T→A of a population with one task: a group is predicted again as it is distributed among those with the task."""
        side = self.side
        joint = side.share[:, None] * side.truth
        share = joint.sum(axis=0)
        truth = (joint / share).T
        hit = 1 - self.errors + self.errors * truth
        return Side(share, truth, hit, self.errors * truth, side.outcome, side.given)

    @property
    def sides(self) -> dict[str, Side]:
        return {"A->T": self.side, **({"T->A": self.turned} if self.both else {})}

    @property
    def mals(self) -> tuple[float, np.ndarray]:
        """MALS and the change of every pair of one task, whose group is predicted as in :attr:`turned`."""
        side, again = self.side, self.turned.truth
        groups = len(side.share)
        joint = side.share[:, None] * side.truth
        truly = side.truth[:, 1]
        predicted = np.zeros((groups, 2))
        for g in range(groups):
            for t, chance in enumerate((1 - truly[g], truly[g])):
                one = (side.hit if t else side.false)[g, 1]
                who = (1 - self.errors) * (np.arange(groups) == g) + self.errors * again[t]
                predicted += side.share[g] * chance * np.outer(who, (1 - one, one))
        share, share_hat = joint / joint.sum(axis=0), predicted / predicted.sum(axis=0)
        delta = _clean(share_hat - share)
        return float(((share > 1 / groups + NONE) * delta).sum() / 2), delta

    def records(self, rng: np.random.Generator) -> Records:
        truly = self.labels.truth
        people = max(self.n // self.cluster, 2)
        person = np.repeat(np.arange(people), self.cluster)
        of_people = rng.choice(len(self.groups), people, p=self.groups)
        while len(np.unique(of_people)) < len(self.groups):  # records of one group alone are refused
            of_people = rng.choice(len(self.groups), people, p=self.groups)
        g = of_people[person]
        truth = (self.chances(person, rng) < truly[g]).astype(int)
        return Records(g, truth, self.chances(person, rng), person)

    def chances(self, person: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        """Chance numbers of every record and task; records of one person mostly share them."""
        shape = (len(person), self.tasks)
        if self.cluster == 1:
            return rng.random(shape)
        own, shared = rng.random(shape), rng.random((person.max() + 1, self.tasks))[person]
        return np.where(rng.random(shape) < 0.7, shared, own)

    def predictions(self, drawn: Records, rng: np.random.Generator) -> np.ndarray:
        """What the model says of the records."""
        side, g = self.labels, drawn.group
        if self.soft:
            return rng.beta(4 * side.truth[g], 4 * (1 - side.truth[g]))
        made: np.ndarray = (drawn.chance < np.where(drawn.truth == 1, side.hit[g], side.false[g])).astype(int)
        return made

    def draw(self, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """A sample as columns, and the arguments of its audit."""
        drawn = self.records(rng)
        return self.columns(drawn, self.predictions(drawn, rng), rng)

    def columns(
        self, drawn: Records, said: np.ndarray, rng: np.random.Generator
    ) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        """Records and predictions as columns, and the arguments of their audit."""
        g, truth = drawn.group, drawn.truth
        letters = np.array(list("abcdefgh"))
        data: dict[str, np.ndarray] = {"g": letters[g]}
        names, predictions = [f"t{k}" for k in range(self.tasks)], [f"s{k}" for k in range(self.tasks)]
        data |= dict(zip(names, truth.T, strict=True)) | dict(zip(predictions, said.T, strict=True))
        options: dict[str, Any] = {"attributes": "g", "metrics": list(self.metrics)}
        options |= {"tasks": names, "task_predictions": predictions}
        if self.variable:
            options |= {"tasks": names[0], "task_predictions": predictions[0]}
        elif self.tasks == 1:
            import biasamp

            options |= {"tasks": biasamp.binary(names), "task_predictions": biasamp.binary(predictions)}
        if self.both:
            again = np.array([rng.choice(len(self.groups), p=self.turned.truth[t]) for t in truth[:, 0]])
            data["guess"] = np.where(rng.random(len(g)) < self.errors, letters[again], data["g"])
            options |= {"attribute_predictions": "guess", "metrics": [*self.metrics, "mals"]}
        if self.cluster > 1:
            data["person"], options["cluster"] = drawn.person, "person"
        if self.weighted:
            data["w"], options["weights"] = rng.exponential(1.0, len(g)), "w"
        if self.trained:
            other = self.records(rng)
            options["train"] = {"g": letters[other.group], **dict(zip(names, other.truth.T, strict=True))}
        return data, options


def _as_variable(side: Side) -> Side:
    """One task as a variable of two values."""

    def both(one: np.ndarray, zero: np.ndarray) -> np.ndarray:
        return np.concatenate([zero, one], axis=1)

    truth = both(side.truth, 1 - side.truth)
    hit, false = both(side.hit, 1 - side.false), both(side.false, 1 - side.hit)
    return replace(side, truth=truth, hit=hit, false=false, outcome=["t0=0", "t0=1"])


def leakage_of(case: Case) -> float:
    """What the best attacker gets from predictions less what it gets from truth with their confusion.

    NaN where that is nearly a tie, or scores make it unknown.
    """
    side = case.labels
    truth, hit, false = side.truth, side.hit, side.false
    total = side.share @ truth
    equal_hit, equal_false = side.share @ (truth * hit) / total, side.share @ ((1 - truth) * false) / (1 - total)
    model, data = truth * hit + (1 - truth) * false, truth * equal_hit + (1 - truth) * equal_false
    if case.soft:
        return float("nan")
    if np.allclose(model, data, atol=NONE):
        return 0.0
    if case.tasks == 1:
        best = [sum(float((side.share * part[:, 0]).max()) for part in (rates, 1 - rates)) for rates in (model, data)]
        return best[0] - best[1] if abs(best[0] - best[1]) > NONE else float("nan")
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
