"""What an attacker reads or predicts: variables with classes, or continuous numbers.

A categorical column is one variable with a class for each category. A yes/no label is a variable with the
classes absent (0) and present (1); a set of labels is one such variable for each label.

Classes, labels and records have one order, which does not depend on their names or on the order given: random draws
follow the order of the cells. Were that the order of names, renaming a group would draw other
trials. So classes and labels are ordered by how their counts relate to all others: colours are refined by
the colours of the cells they occur in (as in the Weisfeiler-Leman test of graphs), added up without regard
to order. What still ties is interchangeable.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.kernels.cross import column_sums
from biasamp.data import Codes, Label, LabelSet

Index = NDArray[np.int64]
Values = NDArray[np.float64]
Colours = NDArray[np.uint64]
# Codes, number of classes, whether it is a yes/no label, and of probabilities the chance of each class.
_Variable = tuple[NDArray[Any], int, bool, Values | None]

_ROUNDS = 3
_ODD = np.uint64(0x9E3779B97F4A7C15)


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

    def indicators(self, dtype: Any = np.float64) -> NDArray[Any]:
        """One 0/1 column for each yes/no label, and one for each class of the other variables."""
        if all(self.yes_no):
            return self.codes.astype(dtype)
        columns = [
            self.codes[:, [v]] == 1 if self.yes_no[v] else self.codes[:, [v]] == np.arange(size)
            for v, size in enumerate(self.sizes)
        ]
        return np.concatenate(columns, axis=1).astype(dtype)

    @cached_property
    def holders(self) -> tuple[Index, ...]:
        """Of each variable the records that are not of its first class (of a label: that have it), in order."""
        place = np.flatnonzero(self.codes != 0)
        row = place // self.width
        variable = (place - row * self.width).astype(np.min_scalar_type(self.width))
        order = np.argsort(variable, kind="stable")
        return tuple(np.split(row[order], self.holding.cumsum()[:-1]))

    @cached_property
    def holding(self) -> Index:
        """Of each variable the number of its :attr:`holders`."""
        return column_sums((self.codes != 0).view(np.uint8))

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
        key = codes[:, 0] if len(sizes) == 1 else np.ravel_multi_index(tuple(codes.T.astype(np.int64)), sizes)
        key = key.astype(np.int64)
        if room <= 4 * len(key) + 1024:
            held = np.bincount(key, minlength=room) > 0
            return (key, room) if held.all() else ((held.cumsum() - 1)[key], int(held.sum()))
    else:
        rows = np.ascontiguousarray(codes, dtype=np.uint8 if max(sizes) <= 256 else np.dtype(">u4"))
        key = rows.view(np.dtype((np.void, rows.dtype.itemsize * rows.shape[1])))[:, 0]
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
    variables: list[_Variable] = []
    for places, one_of_them in _places(names, combinations):
        if one_of_them:
            variables.append((combinations[:, places].argmax(axis=1), len(places), False, None))
        else:
            variables.append((combinations[:, places[0]], 2, True, None))
    return _labels(variables)


def names_of_variables(names: tuple[Label, ...], combinations: NDArray[np.uint8]) -> list[str]:
    """What the variables of :func:`labels_of_combinations` are called."""
    return [
        names[places[0]].variable if one_of_them else str(names[places[0]])
        for places, one_of_them in _places(names, combinations)
    ]


def _places(names: tuple[Label, ...], combinations: NDArray[np.uint8]) -> list[tuple[list[int], bool]]:
    """The labels of each variable of a table's side, and whether each combination holds exactly one of them."""
    groups: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        if name.category is not None:
            groups.setdefault(name.variable, []).append(place)
    classes = {places[0]: places for places in groups.values() if (combinations[:, places].sum(axis=1) == 1).all()}
    inside = {place for places in classes.values() for place in places}
    return [
        (classes.get(place, [place]), place in classes)
        for place in range(len(names))
        if place in classes or place not in inside
    ]


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
    out: list[Side] = []
    for side, table in zip(sides, tables, strict=True):
        kept = table[:, there]
        soft = isinstance(side, Labels) and side.chances is not None
        out.append(_labels([(kept.argmax(axis=1), kept.shape[1], False, kept.astype(np.float64) if soft else None)]))
    return tuple(out)


def _shares(side: Labels) -> NDArray[Any]:
    """Of each yes/no label, whether a record has it, or how probably."""
    if side.chances is None:
        return side.codes
    return np.column_stack([chance[:, 1] for chance in side.chances])


def mix(values: Colours) -> Colours:
    """Scramble 64-bit numbers so that sums of them collide no more than by chance (splitmix64's finish)."""
    with np.errstate(over="ignore"):
        z = values + _ODD
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(z ^ (z >> np.uint64(31)))


def _salted(values: Colours, salt: int) -> Colours:
    return mix(values ^ mix(np.array([salt], dtype=np.uint64)))


def canonical(other: Side, truth: Side, predicted: Side, counts: Index) -> tuple[Side, Side, Side, Index]:
    """The same records with classes, variables and records in the order of their colours; labels alike in one cell."""
    sides = [other, truth, predicted]
    if all(isinstance(side, Labels) and side.chances is None for side in sides):
        sides, counts = _merged(sides, counts)
    base = mix(counts.astype(np.uint64))
    for salt, side in enumerate(sides):
        if isinstance(side, Numbers):
            base = base + _salted(_of_numbers(side.values), 100 + salt)
        elif side.chances is not None:
            base = base + _salted(_of_numbers(np.sort(np.concatenate(side.chances, axis=1), axis=1)), 100 + salt)
    # Truth and predictions have one space of classes, so that one order is for both.
    places = list(enumerate(sides))
    groups = [[(salt, side) for salt, side in group if isinstance(side, Labels)] for group in (places[:1], places[1:])]
    groups = [group for group in groups if group]
    heads = [group[0][1] for group in groups]
    colours = [
        [np.arange(size, dtype=np.uint64) * np.uint64(yes) for size, yes in zip(head.sizes, head.yes_no, strict=True)]
        for head in heads
    ]
    for _ in range(_ROUNDS):
        cell = base.copy()
        for group, own in zip(groups, colours, strict=True):
            for salt, side in group:
                if side.chances is None:
                    _add_colours(cell, side, [_salted(c, salt) for c in own])
        weighed = mix(cell) * counts.astype(np.uint64)
        colours = [_refined(group, own, weighed, cell) for group, own in zip(groups, colours, strict=True)]
    for group, head, own in zip(groups, heads, colours, strict=True):
        ranks = [int(mix(np.sort(c)).sum()) for c in own]
        variables = sorted(range(head.width), key=ranks.__getitem__)
        classes = [
            np.arange(len(c)) if yes else np.argsort(c, kind="stable") for c, yes in zip(own, head.yes_no, strict=True)
        ]
        for salt, side in group:
            sides[salt] = _renumbered(side, variables, classes)
    order = _record_order(sides)
    other, truth, predicted = (side.take(order) for side in sides)
    return other, truth, predicted, counts[order]


def _merged(sides: list[Side], counts: Index) -> tuple[list[Side], Index]:
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
    return [side.take(one) for side in sides], total


def _of_numbers(values: NDArray[np.float64]) -> Colours:
    """A colour for each row of numbers; adding 0 turns -0 into 0."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    places = mix(np.arange(values.shape[1], dtype=np.uint64))
    return np.asarray(mix(bits ^ places).sum(axis=1, dtype=np.uint64))


def _add_colours(cell: Colours, side: Labels, colours: list[Colours]) -> None:
    """Add to each record the colours of its classes."""
    for v, own in enumerate(colours):
        if len(own) == 2:  # of a label few records have, only these are looked at
            cell += own[0]
            cell[side.holders[v]] += own[1:] - own[:1]
        else:
            cell += own[side.codes[:, v]]


def _sums_by_class(side: Labels, variable: int, weighed: Colours) -> Colours:
    """The sums over the records of each class of a variable."""
    total = np.zeros(side.sizes[variable], dtype=np.uint64)
    if len(total) == 2:
        total[1] = weighed[side.holders[variable]].sum()
        total[:1] = weighed.sum() - total[1:]
    else:
        np.add.at(total, side.codes[:, variable], weighed)
    return total


def _refined(group: list[tuple[int, Labels]], colours: list[Colours], weighed: Colours, cell: Colours) -> list[Colours]:
    out = []
    for v, old in enumerate(colours):
        new = mix(old)
        for salt, side in group:
            if side.chances is None:
                new = new + _salted(_sums_by_class(side, v, weighed), 10 + salt)
            else:
                bits = np.ascontiguousarray(side.chances[v]).view(np.uint64)
                new = new + _salted((mix(bits ^ mix(cell)[:, None])).sum(axis=0, dtype=np.uint64), 10 + salt)
        out.append(mix(new))
    return out


def _renumbered(side: Labels, variables: list[int], classes: list[Index]) -> Labels:
    codes = side.codes[:, variables]
    for place, v in enumerate(variables):
        if not side.yes_no[v]:
            codes[:, place] = np.argsort(classes[v])[codes[:, place]]
    sizes, yes_no = tuple(side.sizes[v] for v in variables), tuple(side.yes_no[v] for v in variables)
    chances = None if side.chances is None else tuple(side.chances[v][:, classes[v]] for v in variables)
    return Labels(narrow(codes, sizes), sizes, yes_no, chances)


def _record_order(sides: list[Side]) -> Index:
    keys: list[NDArray[np.float64] | Index] = []
    for side in sides:
        if isinstance(side, Numbers):
            keys.extend(side.values.T)
        elif side.chances is not None:
            keys.extend(column for chance in side.chances for column in chance.T)
        else:
            keys.append(side.combinations()[0])
    return np.lexsort(keys[::-1])
