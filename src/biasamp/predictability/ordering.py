"""One order for classes, labels and records that does not depend on their names or on the order given.

Random draws follow the order of the cells. Were that the order of names, renaming a group would draw other
trials. So classes and labels are ordered by how their counts relate to all others: colours are refined by
the colours of the cells they occur in (as in the Weisfeiler-Leman test of graphs), added up without regard
to order. What still ties is interchangeable.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .sides import Index, Labels, Numbers, Side, narrow

Colours = NDArray[np.uint64]

_ROUNDS = 3
_ODD = np.uint64(0x9E3779B97F4A7C15)


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
    """The same records with classes, variables and records in the order of their colours."""
    base = mix(counts.astype(np.uint64))
    for salt, side in enumerate((other, truth, predicted)):
        if isinstance(side, Numbers):
            base = base + _salted(_of_numbers(side.values), 100 + salt)
        elif side.chances is not None:
            base = base + _salted(_of_numbers(np.sort(np.concatenate(side.chances, axis=1), axis=1)), 100 + salt)
    # Truth and predictions have one space of classes, so that one order is for both.
    together = [[(0, other)], [(1, truth), (2, predicted)]]
    groups = [[(salt, side) for salt, side in group if isinstance(side, Labels)] for group in together]
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
                for v in range(side.width):
                    if side.chances is None:
                        cell += _salted(own[v], salt)[side.codes[:, v]]
        weighed = mix(cell) * counts.astype(np.uint64)
        colours = [_refined(group, own, weighed, cell) for group, own in zip(groups, colours, strict=True)]
    sides = [other, truth, predicted]
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


def _of_numbers(values: NDArray[np.float64]) -> Colours:
    """A colour for each row of numbers; adding 0 turns -0 into 0."""
    bits = np.ascontiguousarray(values + 0.0).view(np.uint64)
    places = mix(np.arange(values.shape[1], dtype=np.uint64))
    return np.asarray(mix(bits ^ places).sum(axis=1, dtype=np.uint64))


def _refined(group: list[tuple[int, Labels]], colours: list[Colours], weighed: Colours, cell: Colours) -> list[Colours]:
    out = []
    for v, old in enumerate(colours):
        new = mix(old)
        for salt, side in group:
            if side.chances is None:
                total = np.zeros(len(old), dtype=np.uint64)
                np.add.at(total, side.codes[:, v], weighed)
                new = new + _salted(total, 10 + salt)
            else:
                bits = np.ascontiguousarray(side.chances[v]).view(np.uint64)
                new = new + _salted((mix(bits ^ mix(cell)[:, None])).sum(axis=0, dtype=np.uint64), 10 + salt)
        out.append(mix(new))
    return out


def _renumbered(side: Labels, variables: list[int], classes: list[Index]) -> Labels:
    codes = np.column_stack([np.argsort(classes[v])[side.codes[:, v]] for v in variables])
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
