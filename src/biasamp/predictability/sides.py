"""What an attacker reads or predicts: variables with classes, or continuous numbers.

A categorical column is one variable with a class for each category. A yes/no label is a variable with the
classes absent (0) and present (1); a set of labels is one such variable for each label.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Codes, Label, LabelSet

Index = NDArray[np.int64]
Values = NDArray[np.float64]
# Codes, number of classes, whether it is a yes/no label, and of probabilities the chance of each class.
_Variable = tuple[NDArray[Any], int, bool, Values | None]


@dataclass(frozen=True, eq=False)
class Labels:
    """Discrete variables of the records.

    Attributes
    ----------
    codes : ndarray of shape (records, variables)
        The class of each variable, in the smallest unsigned integers that hold it.
    sizes : tuple of int
        How many classes each variable has.
    yes_no : tuple of bool
        Whether a variable is the absence and presence of one label.
    chances : tuple of ndarray, optional
        For probabilities: of each variable a matrix with a column for each class; the codes then stand for
        nothing until :meth:`drawn` draws them.
    """

    codes: NDArray[Any]
    sizes: tuple[int, ...]
    yes_no: tuple[bool, ...]
    chances: tuple[Values, ...] | None = None

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def width(self) -> int:
        """How many variables."""
        return len(self.sizes)

    def take(self, records: NDArray[Any]) -> Labels:
        """Some of the records."""
        chances = None if self.chances is None else tuple(c[records] for c in self.chances)
        return replace(self, codes=self.codes[records], chances=chances)

    def drawn(self, rng: np.random.Generator) -> Labels:
        """Hard labels drawn from the probabilities, each record by itself."""
        if self.chances is None:
            return self
        columns = []
        for chance in self.chances:
            ladder = chance.cumsum(axis=1)
            level = rng.random(len(chance)) * ladder[:, -1]
            columns.append((level[:, None] >= ladder[:, :-1]).sum(axis=1))
        return replace(self, codes=narrow(np.column_stack(columns), self.sizes), chances=None)

    def indicators(self) -> Values:
        """One 0/1 column for each yes/no label, and one for each class of the other variables."""
        if all(self.yes_no):
            return self.codes.astype(np.float64)
        columns = [
            self.codes[:, [v]] == 1 if self.yes_no[v] else self.codes[:, [v]] == np.arange(size)
            for v, size in enumerate(self.sizes)
        ]
        return np.concatenate(columns, axis=1).astype(np.float64)

    def combinations(self) -> tuple[Index, int]:
        """Number the combinations of classes that occur: each record's number, and how many there are."""
        return number_rows(self.codes, self.sizes)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Continuous columns of the records."""

    values: Values

    def __len__(self) -> int:
        return len(self.values)

    @property
    def width(self) -> int:
        """How many columns."""
        return int(self.values.shape[1])

    def take(self, records: NDArray[Any]) -> Numbers:
        """Some of the records."""
        return Numbers(self.values[records])

    def indicators(self) -> Values:
        """The columns themselves: what an attacker reads."""
        return self.values


Side = Labels | Numbers


def narrow(codes: NDArray[Any], sizes: tuple[int, ...]) -> NDArray[Any]:
    """Codes in the smallest integers that hold them: a set of labels is then as small as its matrix."""
    return np.ascontiguousarray(codes, dtype=np.min_scalar_type(max(sizes) - 1))


def number_rows(codes: NDArray[Any], sizes: tuple[int, ...]) -> tuple[Index, int]:
    """Number distinct rows in lexicographic order."""
    room = math.prod(sizes)
    if room < 2**62:
        key = np.ravel_multi_index(tuple(codes.T.astype(np.int64)), sizes).astype(np.int64)
    else:
        width = np.uint8 if max(sizes) <= 256 else np.dtype(">u4")
        rows = np.ascontiguousarray(codes, dtype=width)
        _, place = np.unique(
            rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0], return_inverse=True
        )
        return place.astype(np.int64), int(place.max()) + 1
    if room <= 4 * len(key) + 1024:
        held = np.bincount(key, minlength=room) > 0
        if held.all():
            return key, room
        return (held.cumsum() - 1)[key], int(held.sum())
    _, place = np.unique(key, return_inverse=True)
    return place.astype(np.int64), int(place.max()) + 1


def _labels(variables: Iterable[_Variable]) -> Labels:
    codes, sizes, yes_no, chances = zip(*variables, strict=True)
    return Labels(narrow(np.column_stack(codes), sizes), sizes, yes_no, None if chances[0] is None else chances)


def labels_from(labels: LabelSet) -> Labels:
    """The variables of a label set; its missing values must have been refused before."""
    return _labels(_variables(labels))


def _variables(labels: LabelSet) -> Iterator[_Variable]:
    for block in labels.blocks:
        if isinstance(block, Codes):
            if not block.complete().all():
                raise ValueError("attackers need a category of every record, and some records have none")
            chances = block.rows(0, len(block)).astype(np.float64) if labels.soft else None
            yield block.codes, block.width, False, chances
            continue
        matrix = block.rows(0, len(block))
        start = 0
        for variable in block.variables:
            own = matrix[:, start : start + variable.width]
            start += variable.width
            if variable.kind == "categorical":
                yield own.argmax(axis=1), variable.width, False, own.astype(np.float64) if labels.soft else None
            elif labels.soft:
                yield from ((np.zeros(len(c), dtype=np.int64), 2, True, np.column_stack([1.0 - c, c])) for c in own.T)
            else:
                yield from ((column > 0, 2, True, None) for column in own.T)


def labels_of_combinations(names: tuple[Label, ...], combinations: NDArray[np.uint8]) -> Labels:
    """The variables of a contingency table's side.

    A table keeps names of labels, not how they were read: labels of one variable of which every combination
    holds exactly one are the classes of that variable, all others are yes/no labels.
    """
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if name.category is not None:
            groups.setdefault(name.variable, []).append(place)
    classes = {places[0]: places for places in groups.values() if (combinations[:, places].sum(axis=1) == 1).all()}
    inside = {place for places in classes.values() for place in places}
    variables: list[_Variable] = []
    for place in range(len(names)):
        if place in classes:
            variables.append((combinations[:, classes[place]].argmax(axis=1), len(classes[place]), False, None))
        elif place not in inside:
            variables.append((combinations[:, place], 2, True, None))
    return _labels(variables)


def one_variable(*sides: Side) -> tuple[Side, ...]:
    """Sides whose yes/no labels are one variable coded one-hot, as that variable; others as they are.

    Labels of which every record of every side has exactly one (probabilities: that add up to 1) are classes.
    Perturbed label by label, a record would come to have two of them, or none.
    """
    if not all(isinstance(side, Labels) and side.width > 1 and all(side.yes_no) for side in sides):
        return sides
    tables = [_shares(side) for side in sides if isinstance(side, Labels)]
    if not all((np.abs(table.sum(axis=1) - 1.0) < 1e-6).all() for table in tables):
        return sides
    # A class that no side ever has is none that a record could be moved to.
    there = np.any([(table > 0).any(axis=0) for table in tables], axis=0)
    size = (int(there.sum()),)
    out: list[Side] = []
    for side, table in zip(sides, tables, strict=True):
        kept = table[:, there]
        soft = isinstance(side, Labels) and side.chances is not None
        codes = np.zeros((len(kept), 1), dtype=np.int64) if soft else kept.argmax(axis=1)[:, None]
        chances = (kept.astype(np.float64),) if soft else None
        out.append(Labels(narrow(codes, size), size, (False,), chances))
    return tuple(out)


def _shares(side: Labels) -> NDArray[Any]:
    """Of each yes/no label, whether a record has it, or how probably."""
    if side.chances is None:
        return side.codes
    return np.column_stack([chance[:, 1] for chance in side.chances])
