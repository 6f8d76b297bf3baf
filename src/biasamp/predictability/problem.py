"""The records of one measurement, ready for attackers: what is perturbed, and its other side.

An argument of ``leakage`` and ``dpa`` is continuous when a float column of it holds values that are not whole
numbers. Predictions follow their truth: with continuous truth they are numbers; with labels as truth, fractions in
[0, 1] are probabilities. Predictions with fractions outside [0, 1] make a numeric truth continuous as well.
``biasamp.categorical(...)`` overrides: every value is then a class.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.contingency import ContingencyTable
from biasamp.data import (
    Column,
    Columns,
    LabelSet,
    NumberMatrix,
    label_set,
    read_columns,
    refuse_missing,
    same_length,
)
from biasamp.data.column_checks import RoleOf, check_columns_alone
from biasamp.data.row_numbers import row_numbers
from biasamp.data.same_columns import refuse_same, same_index
from biasamp.data.vocabulary import one_space

from .equalize import draw
from .sides import Index, Labels, Numbers, Side, Values, canonical, labels_from, labels_of_combinations, one_variable

# Halves of fewer records could not hold both something to learn from and something to score.
_FEWEST = 4

Names = tuple[str, str, str]
_NAMES = ("given", "truth", "predicted")


@dataclass(frozen=True, eq=False)
class Problem:
    """Records, or cells that stand for several records alike.

    ``other`` is what the attackers of DPA read (given) and those of leakage predict (A). ``truth`` is what
    equalization perturbs, ``predicted`` the model's word on it, in one space of classes.
    """

    other: Side
    truth: Side
    predicted: Side
    counts: Index

    @cached_property
    def n(self) -> int:
        """How many records."""
        return int(self.counts.sum())

    @property
    def soft(self) -> bool:
        """Whether the predictions are probabilities."""
        return isinstance(self.predicted, Labels) and self.predicted.chances is not None

    @property
    def never_wrong(self) -> bool:
        """Whether every record is predicted to have the labels that it has."""
        if self.labels is None or self.soft:
            return False
        _, truth, predicted = self.labels
        return bool(np.array_equal(truth.codes, predicted.codes))

    @property
    def labels(self) -> tuple[Labels, Labels, Labels] | None:
        """The three sides, where everything is labels."""
        other, truth, predicted = self.other, self.truth, self.predicted
        if isinstance(other, Labels) and isinstance(truth, Labels) and isinstance(predicted, Labels):
            return other, truth, predicted
        return None

    def target(self, kind: str) -> Side:
        """What the attackers of DPA or of leakage predict."""
        return self.truth if kind == "dpa" else self.other

    def take(self, records: NDArray[Any]) -> Problem:
        """Some of the records; only for problems whose cells are records."""
        other, truth, predicted = (side.take(records) for side in (self.other, self.truth, self.predicted))
        return Problem(other, truth, predicted, self.counts[records])

    def records(self) -> Problem:
        """One row for each record."""
        if (self.counts == 1).all():
            return self
        spread = self.take(np.repeat(np.arange(len(self.counts)), self.counts))
        return replace(spread, counts=np.ones(len(spread.counts), dtype=np.int64))

    def thinned(self, most: int, rng: np.random.Generator) -> Problem:
        """At most so many of the records, drawn at random, one row for each."""
        if self.n <= most:
            return self.records()
        kept = draw(self.counts[None], most, rng)[0]
        there = kept > 0
        return replace(self.take(there), counts=kept[there]).records()

    def hard(self, rng: np.random.Generator) -> Problem:
        """Probabilities replaced by labels drawn from them."""
        return replace(self, predicted=self.predicted.drawn(rng)) if isinstance(self.predicted, Labels) else self


def read_problem(other: Any, truth: Any, predicted: Any, names: Names) -> Problem:
    """A problem from the three arguments of a public function."""
    same_index(dict(zip(names, (other, truth, predicted), strict=True)))
    refuse_same(dict(zip(names, (other, truth, predicted), strict=True)))
    columns = {name: read_columns(data, name) for name, data in zip(names, (other, truth, predicted), strict=True)}
    for name, held in columns.items():
        if not len(held):
            raise ValueError(f"{name} is empty: at least one record is needed")
    same_length(columns)
    given, true, said = columns.values()
    left: LabelSet | Values = (
        _numbers(given, names[0], as_input=names[0] == "given")
        if _fractions(given)
        else _labels(given, names[0], "groups")
    )
    if _fractions(true) and _zero_one(said):
        raise ValueError(
            f"{names[1]} holds fractions, but {names[2]} 0 and 1 only: are truth and predictions swapped? Probabilities "
            "belong with the predictions"
        )
    # Of a 0/1 truth predictions are probabilities; what is no probability is then refused, as elsewhere.
    if _fractions(true) or (_numeric(true) and not _zero_one(true) and _fractions(said, outside=True)):
        if not _numeric(said):
            raise ValueError(f"{names[1]} is continuous, so {names[2]} must be numbers too")
        pair = _numbers(true, names[1]), _numbers(said, names[2])
        if pair[0].shape != pair[1].shape:
            raise ValueError(f"{names[1]} and {names[2]} have different numbers of columns: they must pair up")
        return problem_from_labels(left, *pair, names)
    truth_labels = _labels(true, names[1], "outcomes")
    said_labels = label_set(said, names[2], soft=True, like=truth_labels)
    check_columns_alone(said_labels, said, names[2], "predictions", like=truth_labels)
    refuse_missing({names[2]: said_labels})
    one, two, _ = one_space(truth_labels, said_labels, None, [*names[1:], ""])
    assert two is not None
    return problem_from_labels(left, one, two, names)


def problem_from_labels(
    other: LabelSet | Values,
    truth: LabelSet | Values,
    predicted: LabelSet | Values,
    names: Names = _NAMES,
    *,
    in_order: bool = False,
) -> Problem:
    """A problem from label sets (``truth`` and ``predicted`` aligned), or matrices of continuous columns."""
    given = dict(zip(names, (other, truth, predicted), strict=True))
    same_length(given)
    refuse_missing({name: s for name, s in given.items() if isinstance(s, LabelSet)})
    sides: list[Side] = [labels_from(s) if isinstance(s, LabelSet) else Numbers(s) for s in given.values()]
    return _problem(sides, np.ones(len(other), dtype=np.int64), names, in_order)


def problem_from_table(table: ContingencyTable, *, in_order: bool = False) -> Problem:
    """A problem from a contingency table, which may be the sum of many.

    With ``in_order`` there is a row for each cell of the table, and variables are in its order.
    """
    absent = [name for name in _NAMES if name not in table.sides]
    if absent:
        raise ValueError(f"the table misses {', '.join(absent)}; it has {', '.join(table.sides)}")
    counts = table.counts
    if counts.dtype.kind == "f":
        if not (counts == np.rint(counts)).all():
            raise ValueError("the table holds fractional weights; leakage and DPA draw whole records")
        counts = counts.astype(np.int64)
    given, truth, predicted = (table.sides[name] for name in _NAMES)
    if truth.labels != predicted.labels:
        raise ValueError("truth and predicted have different labels: align them before counting")
    order = list(table.sides)
    cells = table.cells[:, [order.index(name) for name in _NAMES]]
    there = counts > 0 if not in_order else np.ones(len(counts), dtype=bool)
    cells, counts = cells[there], counts[there]
    other = labels_of_combinations(given.labels, given.combinations)
    # Read truth and predictions as one side, so that they agree on what is a class.
    both = labels_of_combinations(truth.labels, np.concatenate([truth.combinations, predicted.combinations]))
    first = len(truth.combinations)
    sides: list[Side] = [other.take(cells[:, 0]), both.take(cells[:, 1]), both.take(cells[:, 2] + first)]
    return _problem(sides, counts.astype(np.int64), _NAMES, in_order)


def _problem(sides: list[Side], counts: Index, names: Names, in_order: bool) -> Problem:
    n = int(counts.sum())
    if n < _FEWEST:
        raise ValueError(f"{n} records are too few to learn from and to score: at least {_FEWEST} are needed")
    for name, side in zip(names[:2], sides[:2], strict=True):
        columns = side.codes if isinstance(side, Labels) else side.values
        if (columns == columns[:1]).all():
            raise ValueError(
                f"{name} is the same for all {n:,} records (one class only), so there is nothing to predict "
                "it from and nothing to predict from it"
            )
    other, truth, predicted = (*one_variable(sides[0]), *one_variable(*sides[1:]))
    return (
        Problem(other, truth, predicted, counts) if in_order else Problem(*canonical(other, truth, predicted, counts))
    )


def _labels(columns: Columns, name: str, side: RoleOf) -> LabelSet:
    labels = label_set(columns, name)
    check_columns_alone(labels, columns, name, side)
    refuse_missing({name: labels})
    if not labels.width:
        raise ValueError(f"{name} holds no label at all")
    return labels


def _apart(columns: Columns) -> list[Any]:
    return [one for item in columns.items for one in (item.columns() if isinstance(item, NumberMatrix) else [item])]


def _float_values(columns: Columns) -> list[Values]:
    if columns.declared == "categorical":
        return []
    return [
        item.values if item.missing is None else item.values[~item.missing]
        for item in _apart(columns)
        if isinstance(item, Column) and item.kind == "float"
    ]


def _fractions(columns: Columns, *, outside: bool = False) -> bool:
    """Whether a float column holds values that are not whole, and, with ``outside``, values that no probability has."""
    return any(
        bool((v != np.rint(v)).any()) and (not outside or bool(((v < 0) | (v > 1)).any()))
        for v in _float_values(columns)
    )


def _zero_one(columns: Columns) -> bool:
    """Whether all values are numbers, and 0 or 1."""
    return _numeric(columns) and all(
        bool(np.isin(item.values if item.missing is None else item.values[~item.missing], (0, 1)).all())
        for item in _apart(columns)
    )


def _numeric(columns: Columns) -> bool:
    return columns.declared is None and all(
        isinstance(item, Column) and item.kind in ("bool", "int", "float") for item in _apart(columns)
    )


def _numbers(columns: Columns, name: str, *, as_input: bool = False) -> Values:
    """Continuous columns as a matrix; a text column among inputs gives a 0/1 column for each category."""
    parts = []
    for item in _apart(columns):
        if isinstance(item, Column) and item.kind in ("bool", "int", "float"):
            if item.missing is not None and item.missing.any():
                at = int(np.flatnonzero(item.missing)[0])
                raise ValueError(
                    f"{name} has {int(item.missing.sum()):,} missing values ({row_numbers([at])}). Fill them in or "
                    "leave those records out."
                )
            parts.append(item.values.astype(np.float64)[:, None])
        elif as_input and isinstance(item, Column) and item.kind == "text":
            parts.append((item.values[:, None] == np.arange(len(item.categories))).astype(np.float64))
        else:
            raise ValueError(
                f"{name} mixes continuous columns with labels; give numbers alone, or labels alone (every "
                "value of a float column as a class: biasamp.categorical(...))"
            )
    out = np.concatenate(parts, axis=1)
    if not np.isfinite(out).all():
        raise ValueError(f"{name} holds infinite values; continuous columns must be finite")
    return out
