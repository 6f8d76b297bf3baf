"""Random evaluations of every kind of input, each in two forms: as a user holds it and as the reference reads it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

import biasamp
import reference

KINDS = ("variable", "numbers", "set", "lists")
SOFT_KINDS = {"numbers": "chance of one", "variable": "class matrix", "set": "probabilities"}


@dataclass
class Side:
    """Labels of one argument: what the user passes, and one mapping a record for the reference."""

    data: Any
    records: list[dict[str, Fraction]]
    labels: set[str]
    kind: str = ""


@dataclass
class Case:
    given: Side
    truth: Side
    predicted: Side
    train: tuple[Side, Side] | None
    weights: list[Any] | None

    @property
    def given_labels(self) -> list[str]:
        return sorted(self.given.labels | (self.train[0].labels if self.train else set()))

    @property
    def outcome_labels(self) -> list[str]:
        """Those that truth or train labels have: what only the model has is no outcome."""
        extra = self.train[1].labels if self.train else set()
        both = {"0", "1"} if self.truth.kind == "numbers" else set()
        return sorted(self.truth.labels | extra | both)

    @property
    def refused(self) -> bool:
        """Whether train labels or predictions are in another vocabulary than the truth."""
        train = self.train_records or (None, None)
        given, truth = self.given, self.truth
        return reference.refuses(given.kind, given.records, None, train[0]) or reference.refuses(
            truth.kind, truth.records, self.predicted.records, train[1]
        )

    @property
    def exact_weights(self) -> list[Fraction] | None:
        return None if self.weights is None else [Fraction(w) for w in self.weights]

    @property
    def train_data(self) -> Any:
        return None if self.train is None else (self.train[0].data, self.train[1].data)

    @property
    def train_records(self) -> Any:
        return None if self.train is None else (self.train[0].records, self.train[1].records)


def random_case(seed: int) -> Case:
    """Small records, so that empty groups, ties, unseen categories and perfect predictions are common."""
    rng = np.random.default_rng([20210718, seed])
    n = int(rng.integers(1, 25))
    given_kind, truth_kind = rng.choice(KINDS), rng.choice(KINDS)
    width = int(rng.integers(1, 4)), int(rng.integers(1, 5))
    given = side(rng, n, given_kind, width[0])
    truth = side(rng, n, truth_kind, width[1])
    if rng.random() < 0.1:
        predicted = replace(truth, data=truth.data.copy())  # perfect, in a column of its own
    elif rng.random() < 0.4 and truth_kind in SOFT_KINDS:
        predicted = side(rng, n, SOFT_KINDS[truth_kind], width[1])
    else:
        # A wider variable: the model may predict categories that the truth does not have.
        predicted = side(rng, n, truth_kind, width[1] + int(truth_kind in ("variable", "lists")))
    train = None
    if rng.random() < 0.5:
        m = int(rng.integers(1, 25))
        wider = int(given_kind == "variable"), int(truth_kind == "variable")
        train = (
            side(rng, m, given_kind, width[0] + wider[0]),
            side(rng, m, truth_kind, width[1] + wider[1]),
        )
    weights: list[Any] | None = None
    kind = rng.choice(["none", "none", "whole", "real"])
    if kind == "whole":
        weights = rng.integers(0, 4, n).tolist()
    elif kind == "real":
        weights = (rng.integers(0, 20, n) / 8).tolist()
    if weights is not None and not any(weights):
        weights[0] = 1
    return Case(given, truth, predicted, train, weights)


def side(rng: np.random.Generator, n: int, kind: str, width: int) -> Side:
    return replace(_MAKERS[kind](rng, n, width), kind=kind)


def _letters(width: int) -> list[str]:
    return list("abcdefgh"[:width])


def _variable(rng: np.random.Generator, n: int, width: int) -> Side:
    values = [str(v) for v in rng.choice(_letters(width + 1), n)]
    return Side(values, [{value: Fraction(1)} for value in values], set(values))


def _numbers(rng: np.random.Generator, n: int, width: int) -> Side:
    values = rng.integers(0, 2, n)
    return Side(values, [{str(v): Fraction(1)} for v in values], {str(v) for v in values})


def _set(rng: np.random.Generator, n: int, width: int) -> Side:
    values = (rng.random((n, width)) < rng.choice([0.2, 0.5, 0.8])).astype(np.uint8)
    records = [{str(j): Fraction(int(v)) for j, v in enumerate(row)} for row in values]
    return Side(values, records, {str(j) for j in range(width)})


def _lists(rng: np.random.Generator, n: int, width: int) -> Side:
    names = _letters(width + 1)
    held = [[name for name in names if rng.random() < 0.4] for _ in range(n)]
    held[0] = held[0] or ["a"]
    return Side(held, [{name: Fraction(1) for name in items} for items in held], {x for items in held for x in items})


def _chance_of_one(rng: np.random.Generator, n: int, width: int) -> Side:
    values = rng.integers(0, 17, n) / 16
    records = [{"0": 1 - Fraction(v), "1": Fraction(v)} for v in values]
    observed = {"0", "1"} if (values % 1).any() else {str(int(v)) for v in values}
    return Side(values, records, observed)


def _class_matrix(rng: np.random.Generator, n: int, width: int) -> Side:
    names = _letters(width + 1)
    ends = np.sort(rng.integers(0, 17, (n, width)), axis=1)
    values = np.diff(np.column_stack([np.zeros(n), ends, np.full(n, 16)])) / 16
    records = [{name: Fraction(v) for name, v in zip(names, row, strict=True)} for row in values]
    return Side(biasamp.categorical(values, categories=names), records, set(names))


def _probabilities(rng: np.random.Generator, n: int, width: int) -> Side:
    values = rng.integers(0, 17, (n, width)) / 16
    records = [{str(j): Fraction(v) for j, v in enumerate(row)} for row in values]
    return Side(values, records, {str(j) for j in range(width)})


_MAKERS: dict[str, Callable[[np.random.Generator, int, int], Side]] = {
    "variable": _variable,
    "numbers": _numbers,
    "set": _set,
    "lists": _lists,
    "chance of one": _chance_of_one,
    "class matrix": _class_matrix,
    "probabilities": _probabilities,
}
