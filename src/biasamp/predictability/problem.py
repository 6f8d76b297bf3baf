"""The records of one measurement, ready for attackers: what is perturbed, and its other side."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.contingency import ContingencyTable
from biasamp.data import LabelSet, refuse_missing, same_length

from .cell_draws import draw
from .ordering import canonical
from .sides import Index, Labels, Numbers, Side, labels_from, labels_of_combinations, number_rows, one_variable

# Halves of fewer records could not hold both something to learn from and something to score.
_FEWEST = 4


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
    names: tuple[str, str, str] = ("given", "truth", "predicted")

    @cached_property
    def n(self) -> int:
        """How many records."""
        return int(self.counts.sum())

    @property
    def continuous(self) -> bool:
        """Whether truth and predictions are numbers rather than labels."""
        return isinstance(self.truth, Numbers)

    @property
    def soft(self) -> bool:
        """Whether the predictions are probabilities."""
        return isinstance(self.predicted, Labels) and self.predicted.chances is not None

    @property
    def discrete(self) -> bool:
        """Whether everything is labels."""
        return isinstance(self.other, Labels) and isinstance(self.truth, Labels)

    def take(self, records: NDArray[Any]) -> Problem:
        """Some of the records; only for problems whose cells are records."""
        return replace(
            self,
            other=self.other.take(records),
            truth=self.truth.take(records),
            predicted=self.predicted.take(records),
            counts=self.counts[records],
        )

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
        if not self.soft:
            return self
        assert isinstance(self.predicted, Labels)
        return replace(self, predicted=self.predicted.drawn(rng))


def problem_from_labels(
    other: LabelSet | NDArray[np.float64],
    truth: LabelSet | NDArray[np.float64],
    predicted: LabelSet | NDArray[np.float64],
    names: tuple[str, str, str] = ("given", "truth", "predicted"),
) -> Problem:
    """A problem from label sets (``truth`` and ``predicted`` aligned), or matrices of continuous columns."""
    given = dict(zip(names, (other, truth, predicted), strict=True))
    same_length(given)
    refuse_missing({name: s for name, s in given.items() if isinstance(s, LabelSet)})
    sides: list[Side] = [labels_from(s) if isinstance(s, LabelSet) else Numbers(s) for s in given.values()]
    return _problem(sides, np.ones(len(other), dtype=np.int64), names)


def problem_from_table(
    table: ContingencyTable, names: tuple[str, str, str] = ("given", "truth", "predicted")
) -> Problem:
    """A problem from a contingency table, which may be the sum of many.

    Raises
    ------
    ValueError
        When a side is absent, the weights are not whole numbers, or truth and predictions differ in labels.
    """
    absent = [name for name in names if name not in table.sides]
    if absent:
        raise ValueError(f"the table lacks {', '.join(absent)}; it has {', '.join(table.sides)}")
    counts = table.counts
    if counts.dtype.kind == "f":
        if not (counts == np.rint(counts)).all():
            raise ValueError("the table holds fractional weights; leakage and DPA draw whole records")
        counts = counts.astype(np.int64)
    if table.sides[names[1]].labels != table.sides[names[2]].labels:
        raise ValueError(f"{names[1]} and {names[2]} have different labels: align them before counting")
    order = list(table.sides)
    cells = table.cells[:, [order.index(name) for name in names]]
    there = counts > 0
    cells, counts = cells[there], counts[there]
    other = labels_of_combinations(table.sides[names[0]].labels, table.sides[names[0]].combinations)
    # Read truth and predictions as one side, so that they agree on what is a class.
    first = len(table.sides[names[1]].combinations)
    both = labels_of_combinations(
        table.sides[names[1]].labels,
        np.concatenate([table.sides[name].combinations for name in names[1:]]),
    )
    sides: list[Side] = [other.take(cells[:, 0]), both.take(cells[:, 1]), both.take(cells[:, 2] + first)]
    return _problem(sides, counts.astype(np.int64), names)


def _problem(sides: list[Side], counts: Index, names: tuple[str, str, str]) -> Problem:
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
    sides = [*one_variable(sides[0]), *one_variable(*sides[1:])]
    other, truth, predicted = sides
    if all(isinstance(side, Labels) and side.chances is None for side in sides):
        other, truth, predicted, counts = _merged(sides, counts)
    return Problem(*canonical(other, truth, predicted, counts), names=names)


def _merged(sides: list[Side], counts: Index) -> tuple[Side, Side, Side, Index]:
    """Records alike become one cell."""
    numbers = [side.combinations() for side in sides if isinstance(side, Labels)]
    place, cells = number_rows(np.column_stack([c for c, _ in numbers]), tuple(k for _, k in numbers))
    one = np.empty(cells, dtype=np.int64)
    one[place] = np.arange(len(place))
    if (counts == 1).all():
        total = np.bincount(place, minlength=cells)
    else:
        total = np.zeros(cells, dtype=np.int64)
        np.add.at(total, place, counts)
    return sides[0].take(one), sides[1].take(one), sides[2].take(one), total
