"""Named binary labels of the records, how such sets are brought into one label space, and the sets of an evaluation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .keys import Keys, row_keys
from .label import Apart, Block, Codes, Dense, Index, Label, Mask, Matrix, Sparse, Variable, category_order, labels_of
from .ways_out import way_out

# Sums of weights are kept as multiples of 2**-52 in 64-bit integers, and so are sums of their squares.
LEAST_TOTAL = 2.0**-20
MOST_SQUARES = 2.0**62


@dataclass(frozen=True, eq=False)
class LabelSet:
    """The labels of ``len(self)`` records, stored in one or more blocks side by side."""

    blocks: tuple[Block, ...]

    def __len__(self) -> int:
        return len(self.blocks[0])

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The columns as they were read."""
        return tuple(variable for block in self.blocks for variable in block.variables)

    @cached_property
    def labels(self) -> tuple[Label, ...]:
        """The labels, in the order of the columns of :meth:`rows`."""
        return labels_of(self.variables)

    @cached_property
    def width(self) -> int:
        """How many labels."""
        return sum(block.width for block in self.blocks)

    @property
    def soft(self) -> bool:
        """Whether any label is a probability."""
        return any(block.soft for block in self.blocks)

    @property
    def exclusive(self) -> bool:
        """Whether this is one variable, so that a record has one label at most."""
        return len(self.variables) == 1 and self.variables[0].kind != "multilabel"

    @cached_property
    def missing(self) -> int:
        """How many values are missing."""
        return sum(block.missing for block in self.blocks)

    def owned(self) -> LabelSet:
        """The same labels in arrays of their own, which nobody else can change in place."""
        return LabelSet(tuple(block.owned() for block in self.blocks))

    def rows(self, start: int = 0, stop: int | None = None) -> Matrix:
        """Records start to stop as a matrix: uint8 for 0/1, float64 when any label is soft."""
        stop = len(self) if stop is None else stop
        parts = [block.rows(start, stop) for block in self.blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def matrix(self) -> Matrix | None:
        """The records as the matrix that they are held in, or None where they are held in another form."""
        (block, *more) = self.blocks
        return block.values if isinstance(block, Dense) and not more else None

    @property
    def by_column(self) -> bool:
        """Whether :meth:`columns` turns nothing from rows to columns."""
        return all(block.by_column for block in self.blocks)

    def columns(self, start: int = 0, stop: int | None = None) -> list[NDArray[Any]]:
        """Records start to stop of each label, which lie together in memory: uint8 for 0/1, float64 for probabilities."""
        stop = len(self) if stop is None else stop
        return [column for block in self.blocks for column in block.columns(start, stop)]

    def present(self, start: int = 0, stop: int | None = None) -> Mask | None:
        """Which values are there, as a matrix; None when all are."""
        stop = len(self) if stop is None else stop
        parts = [block.present(start, stop) for block in self.blocks]
        if all(part is None for part in parts):
            return None
        count = min(stop, len(self)) - start
        widths = [block.width for block in self.blocks]
        return np.hstack([np.ones((count, w), bool) if p is None else p for w, p in zip(widths, parts, strict=True)])

    def complete(self) -> Mask:
        """Which records have no missing value."""
        return np.logical_and.reduce([block.complete() for block in self.blocks])

    def nonzero(self, start: int = 0, stop: int | None = None) -> tuple[Index, Index]:
        """Row (from 0) and label of every label that a record has, sorted by row, then label."""
        stop = len(self) if stop is None else stop
        if len(self.blocks) == 1:
            return self.blocks[0].nonzero(start, stop)
        held = [block.nonzero(start, stop) for block in self.blocks]
        first = np.cumsum([0, *(block.width for block in self.blocks)])[:-1]
        row = np.concatenate([row for row, _ in held])
        column = np.concatenate([column + offset for (_, column), offset in zip(held, first, strict=True)])
        order = np.lexsort((column, row))
        return row[order], column[order]

    def take(self, records: Mask | Index) -> LabelSet:
        """The labels of some of the records."""
        return LabelSet(tuple(block.take(records) for block in self.blocks))

    def only(self, keep: Mask) -> LabelSet:
        """The same records with some of the labels."""
        if keep.all():
            return self
        ends = np.cumsum([block.width for block in self.blocks])
        parts = zip(self.blocks, np.split(keep, ends[:-1]), strict=True)
        return LabelSet(tuple(block.only(mine) for block, mine in parts if mine.any()))

    def totals(self) -> NDArray[Any]:
        """How many records have each label; probabilities count as fractions."""
        return np.concatenate([block.totals() for block in self.blocks])

    def without_missing(self) -> LabelSet:
        """Missing values read as holding no label, missing lists as empty."""

        def filled(block: Block) -> Block:
            if isinstance(block, Apart):
                return block
            return replace(block, sparse=True) if isinstance(block, Codes) else replace(block, there=None)

        return LabelSet(tuple(filled(block) for block in self.blocks))

    def where(self, there: Mask) -> LabelSet:
        """The same labels, missing where ``there``, which is of shape (records, labels), is not."""
        ends = np.cumsum([block.width for block in self.blocks])
        parts = zip(self.blocks, np.split(there, ends[:-1], axis=1), strict=True)
        return LabelSet(tuple(_where(block, mine) for block, mine in parts))

    def into(self, variables: tuple[Variable, ...]) -> LabelSet:
        """The same records in another label space, whose variables pair with these by position."""
        if variables == self.variables:
            return self
        blocks: list[Block] = []
        position = 0
        for block in self.blocks:
            mine = block.variables
            theirs = variables[position : position + len(mine)]
            position += len(mine)
            if all(a[1:] == b[1:] for a, b in zip(mine, theirs, strict=True)):
                # The same labels under other names.
                blocks.append(replace(block, variables=theirs))
                continue
            place = {label: i for i, label in enumerate(labels_of(theirs))}
            renamed = labels_of(tuple(a._replace(name=b.name) for a, b in zip(mine, theirs, strict=True)))
            blocks.append(block.moved(theirs, np.array([place[label] for label in renamed], dtype=np.int64)))
        return LabelSet(tuple(blocks))


def _where(block: Block, there: Mask) -> Block:
    """A block whose values are missing where they are not ``there``; a category or a list is there as a whole."""
    if isinstance(block, Apart):
        block = Dense(block.variables, block.rows(0, len(block)))
    if isinstance(block, Dense):
        return replace(block, there=there if block.there is None else block.there & there)
    whole = np.logical_and.reduce(there, axis=1)
    if isinstance(block, Codes) and not block.sparse:
        return replace(block, codes=np.where(whole, block.codes, -1))
    if isinstance(block, Codes):
        held = block.codes >= 0
        return Sparse(block.variables, np.concatenate([[0], np.cumsum(held)]), block.codes[held], whole)
    return replace(block, there=whole if block.there is None else block.there & whole)


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The labels of one direction, in one label space, with weights and keys; a metric may need no ``truth`` (None)."""

    given: LabelSet
    truth: LabelSet
    predicted: LabelSet
    weights: NDArray[Any] | None = None
    ids: Keys | None = None
    clusters: Keys | None = None

    def __len__(self) -> int:
        return len(self.given)

    @property
    def missing(self) -> bool:
        """Whether any label of any record is missing."""
        return bool(self.given.missing or self.truth.missing or self.predicted.missing)

    @property
    def keys(self) -> Keys:
        """A key for each record: of its id, else of its row."""
        return row_keys(0, len(self)) if self.ids is None else self.ids

    @property
    def units(self) -> Keys:
        """What is resampled as one: the record, or the cluster it belongs to."""
        return self.keys if self.clusters is None else self.clusters

    def owned(self) -> Evaluation:
        """The same records in arrays of their own, which nobody else can change in place."""
        given, truth, predicted = self.given.owned(), self.truth.owned(), self.predicted.owned()
        weights = None if self.weights is None else self.weights.copy()
        return replace(self, given=given, truth=truth, predicted=predicted, weights=weights)

    def only(self, given: Mask, outcome: Mask) -> Evaluation:
        """The same records with some of the given labels and some of the outcomes."""
        truth, predicted = self.truth.only(outcome), self.predicted.only(outcome)
        return replace(self, given=self.given.only(given), truth=truth, predicted=predicted)

    def take(self, records: Mask | Index) -> Evaluation:
        """Some of the records, which keep their keys."""
        given, truth, predicted = (side.take(records) for side in (self.given, self.truth, self.predicted))
        weights = None if self.weights is None else self.weights[records]
        clusters = None if self.clusters is None else self.clusters[records]
        return Evaluation(given, truth, predicted, weights, self.keys[records], clusters)


def join(variables: Sequence[Variable]) -> Variable:
    """One variable that has every category of several, under the first one's name.

    Categories are in their usual order, or in the one that the caller declared, with what it does not name at the end.
    """
    first = variables[0]
    if first.kind == "binary":
        return first
    categories = sorted({c for variable in variables for c in variable.categories}, key=category_order)
    declared = next((v.categories for v in variables if v.kind == "categorical" and has_own_order(v.categories)), ())
    return first._replace(categories=(*declared, *(c for c in categories if c not in set(declared))))


def has_own_order(categories: Sequence[str]) -> bool:
    """Whether categories are in another order than the usual one, as only a caller's word makes them.

    >>> has_own_order(("low", "middle", "high")), has_own_order(("2", "10"))
    (True, False)
    """
    return list(categories) != sorted(categories, key=category_order)


def align(sets: Sequence[LabelSet], names: Sequence[str]) -> list[LabelSet]:
    """Bring label sets into one label space, the first one's names leading.

    Yes/no columns of the same names pair by name, whatever their order; all others pair by position, unless
    their names say that the positions are wrong.
    Within a variable the categories are united: what may be united is decided before (``vocabulary``).
    """
    first = sets[0]
    if _yes_no(first.variables) and all(other.variables == first.variables for other in sets[1:]):
        return list(sets)
    placed = [first]
    for other, name in zip(sets[1:], names[1:], strict=True):
        mine, theirs = first.variables, other.variables
        if len(mine) != len(theirs):
            raise ValueError(f"{name} has {_columns(theirs)}, but {names[0]} has {_columns(mine)}: they must pair up")
        wrong = [(a, b) for a, b in zip(mine, theirs, strict=True) if a.kind != b.kind]
        if wrong:
            a, b = wrong[0]
            raise ValueError(
                f"{_titled(names[0], a)} was read as {a.kind} and {_titled(name, b)} as {b.kind}: {way_out('kinds')}"
            )
        placed.append(_by_name(other, mine))
        _refuse_crossed(mine, placed[-1].variables, names[0], name)
    target = tuple(join(column) for column in zip(*(s.variables for s in placed), strict=True))
    return [s.into(target) for s in placed]


def _yes_no(variables: tuple[Variable, ...]) -> bool:
    return all(variable.kind == "binary" for variable in variables)


def _titled(role: str, variable: Variable) -> str:
    return f"{role} column {variable.name!r}" if variable.name else role


def _columns(variables: Sequence[Variable]) -> str:
    return f"{len(variables)} column{'s' if len(variables) != 1 else ''}"


def _refuse_crossed(mine: Sequence[Variable], theirs: Sequence[Variable], first: str, name: str) -> None:
    """A name that both sides use at different places says that pairing by position would be wrong."""
    place = {variable.name: i for i, variable in enumerate(mine)}
    for i, variable in enumerate(theirs):
        other = place.get(variable.name, i)
        if other != i and mine[i].name != variable.name:
            raise ValueError(
                f"{name} has the column {variable.name!r} in place {i + 1}, {first} in place {other + 1}: only "
                "yes/no columns whose names all agree may come in another order; bring them into the same one"
            )


def _by_name(other: LabelSet, mine: tuple[Variable, ...]) -> LabelSet:
    """Reorder yes/no columns when both sides use the same names in another order."""
    names = [variable.name for variable in mine]
    theirs = [variable.name for variable in other.variables]
    same = names != theirs and sorted(names) == sorted(theirs) and len(set(names)) == len(names)
    if not same or not _yes_no((*mine, *other.variables)):
        return other
    (block,) = other.blocks  # yes/no columns are always stored in one block
    place = {name: i for i, name in enumerate(names)}
    return LabelSet((block.moved(mine, np.array([place[name] for name in theirs], dtype=np.int64)),))
