"""Sums of decisions and scores by cell: a row, such as a bag of a stratum, and a given label.

Rows are laid out as tables of (rows, given labels and everyone, outcome labels), or kept as the cells that they were
counted in, of which sums over rows are made without laying anything out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biasamp.data import LabelSet

from .fixed import LIMB_BITS, Fixed, subtract
from .threshold_counts import GRID, MOST_STEPPED, ScoreBins, place_on_grid

Index = NDArray[np.int64]
Floats = NDArray[np.float64]
Tables = dict[str, Any]

# What is summed: truth, decision and both, and scores of all records, of those with the label, and of those decided to have it.
SUMMED = ("truth", "held", "both", "scores", "scores_truth", "scores_held")
# Entries whose columns are copied at once where records have several: for fewer, the cells of an outcome would have to be
# brought into cache more often.
_COPIED = 1 << 18
# Outcomes that are copied at once where the labels of a record lie together: neighbours of one line of memory.
_TURNED = 4


@dataclass(frozen=True, eq=False)
class Entries:
    """Which records count under which labels: one of the given labels, or everyone.

    Attributes
    ----------
    records : ndarray of shape (entries,)
    label : ndarray of shape (entries,)
        The given label, or everyone after the last of them.
    labels : int
        How many given labels there are, with everyone where there are entries of it.
    everyone : bool
        Whether there are entries of everyone; where each record has one given label, their sums are those of labels.
    """

    records: Index
    label: Index
    labels: int
    everyone: bool

    @classmethod
    def of_records(cls, given: LabelSet) -> Entries:
        """The entries of records."""
        records, label = given.nonzero()
        if given.exclusive and len(records) == len(given):
            return cls(records, label, given.width, False)
        records = np.concatenate([records, np.arange(len(given))])
        label = np.concatenate([label, np.full(len(given), given.width)])
        return cls(records, label, given.width + 1, True)

    def cells(self, row: Index) -> Index:
        """The cell of every entry, ``row * labels + label``, where records are in these rows."""
        return (row[self.records] if self.everyone else row) * self.labels + self.label

    def parts(self) -> list[slice]:
        """Some entries after others: as many as bins can take."""
        many = len(self.label)
        return [slice(start, min(start + MOST_STEPPED, many)) for start in range(0, many, MOST_STEPPED)]


class Rows(Protocol):
    """Sums of rows."""

    @property
    def tables(self) -> Tables:
        """Counts of :data:`SUMMED`, each of shape (rows, given labels + 1, outcome labels)."""

    @property
    def changes(self) -> Floats:
        """How many more are decided to have a label than have it, of shape (rows, given labels, outcome labels)."""

    def by_place(self, place: Index, places: int) -> Tables:
        """Sums over the rows that have each of so many places."""


@dataclass(frozen=True, eq=False)
class LaidOut:
    """Rows as tables."""

    tables: Tables

    @property
    def changes(self) -> Floats:
        """How many more are decided to have a label than have it."""
        held, truth = (self.tables[name][:, :-1] for name in ("held", "truth"))
        return np.asarray(subtract(held, truth)).astype(np.float64)

    def by_place(self, place: Index, places: int) -> Tables:
        """Sums over the rows that have each of so many places."""
        return {name: summed_by(values, place, places) for name, values in self.tables.items()}


def summed_by(values: Any, place: Index, places: int) -> Any:
    """Sums over the rows of a table that have the same place; a table that is a single 0 throughout has no others."""
    if isinstance(values, Fixed):
        return values.each(lambda part: summed_by(part, place, places))
    out = np.zeros((places, *values.shape[1:]), dtype=np.int64)
    if len(place) and any(values.strides):
        if (place[1:] < place[:-1]).any():
            order = np.argsort(place, kind="stable")
            place, values = place[order], np.take(values, order, axis=0)
        first = np.flatnonzero(np.diff(place, prepend=-1))
        out[place[first]] = np.add.reduceat(values, first, axis=0)
    return out


@dataclass(frozen=True, eq=False)
class Cells:
    """Rows as they are counted in numba: the four kinds of every cell, apart for each outcome.

    Kinds are records and scores without truth and decision, with the decision, with the truth, and with both.

    Attributes
    ----------
    sums, counts : ndarray of shape (outcome labels, rows, labels, 4)
        Scores in units of ``2**-52``, and records.
    deep : ndarray of shape (outcome labels, rows, labels, 4, 2)
        Both limbs of what sums are beyond 64 bits; of no row where none is.
    everyone : bool
        Whether the last label is everyone; else everyone is the sum of the labels.
    """

    sums: Index
    counts: NDArray[Any]
    deep: Index
    everyone: bool

    @classmethod
    def nothing(cls, shape: tuple[int, int, int], everyone: bool, most: int) -> Cells:
        """Cells of nothing, of (outcome labels, rows, labels); ``most`` records will be in one at most."""
        from .kernels.compiled_scores import FITTING, KINDS

        wide = *shape, KINDS
        deep = wide if most > FITTING else (shape[0], 0, 0, KINDS)
        count = np.uint16 if most < 1 << 16 else np.int64
        return cls(np.zeros(wide, np.int64), np.zeros(wide, count), np.zeros((*deep, 2), np.int64), everyone)

    def __reduce__(self) -> tuple[Any, ...]:
        # Another machine may have no numba.
        return LaidOut, (self.tables,)

    @property
    def groups(self) -> int:
        """How many given labels there are."""
        return self.sums.shape[2] - self.everyone

    def of_outcome(self, place: int) -> tuple[Index, NDArray[Any], Index]:
        """Sums, counts and limbs of one outcome, each flat over cells and kinds."""
        return self.sums[place].reshape(-1), self.counts[place].reshape(-1), self.deep[place].reshape(-1, 2)

    @cached_property
    def tables(self) -> Tables:
        """The cells laid out."""
        rows = self.sums.shape[1]
        return self.by_place(np.arange(rows), rows)

    @cached_property
    def changes(self) -> Floats:
        """How many more are decided to have a label than have it."""
        from .kernels.compiled_scores import lay_out_changes

        out = np.empty((self.sums.shape[1], self.groups, len(self.sums)))
        lay_out_changes(self.counts, out)
        return out

    def by_place(self, place: Index, places: int) -> Tables:
        """Sums over the rows that have each of so many places."""
        from .kernels.compiled_scores import lay_out

        shape = 3, places, self.groups + 1, len(self.sums)
        whole, high, low = (np.zeros(shape, dtype=np.int64) for _ in range(3))
        lay_out(self.sums, self.counts, self.deep, place, whole, high, low)
        if not self.everyone:
            for table in (whole, high, low):
                np.sum(table[:, :, :-1], axis=2, out=table[:, :, -1])
        return tables_of(whole, high, low)


def tables_of(whole: Index, high: Index, low: Index) -> Tables:
    """Tables by name, of shape (3, rows, given labels + 1, outcome labels): counts, and both limbs of scores."""
    none = np.broadcast_to(np.int64(0), whole.shape[1:])
    scores = (Fixed(none, *limbs) for limbs in zip(high, low, strict=True))
    return dict(zip(SUMMED, (*whole, *scores), strict=True))


@dataclass(frozen=True, eq=False)
class Cut:
    """Rows that records fall into.

    Attributes
    ----------
    stratum : ndarray of shape (rows,)
    size : ndarray of shape (rows, labels)
        The entries of every cell.
    cell : ndarray of shape (entries,)
    """

    stratum: Index
    size: Index
    cell: NDArray[Any]

    @classmethod
    def of_entries(cls, entries: Entries, stratum: Index, row: Index) -> Cut:
        """The cells of entries whose records are in these rows."""
        cell = entries.cells(row)
        size = np.bincount(cell, minlength=len(stratum) * entries.labels).reshape(len(stratum), entries.labels)
        return cls(stratum, size, cell)

    @classmethod
    def compiled(
        cls, entries: Entries, codes: Index, strata: int, bag: Index, finest: int, bags: int
    ) -> tuple[Index, Cut]:
        """Which of ``strata`` times ``bags`` hold records, and the cut; of records with one entry each, in numba.

        ``bag`` is each record's bag of the ``finest`` cut; ``codes`` are empty where there is one stratum.
        """
        from .kernels.compiled_scores import number_cells

        labels = entries.labels
        many = strata * bags * labels
        size, cell = np.zeros(many, dtype=np.int64), np.empty(len(bag), dtype=_numbers_to(many))
        number_cells(codes, bag, entries.label, finest, bags, labels, size, cell)
        held = size.reshape(-1, labels)
        numbers = np.flatnonzero(held.any(axis=1))
        if len(numbers) < len(held):
            place = np.zeros(len(held), dtype=np.int64)
            place[numbers] = np.arange(len(numbers))
            cell = (place[:, None] * labels + np.arange(labels)).astype(cell.dtype).reshape(-1)[cell]
        return numbers, cls(numbers // bags, held[numbers], cell)

    def records(self, strata: int) -> Index:
        """How many records each stratum has, of records with one entry each."""
        return np.bincount(self.stratum, self.size.sum(axis=1), minlength=strata).astype(np.int64)

    def sizes(self, entries: Entries) -> Index:
        """How many records every row has of each given label and of everyone, of shape (rows, given labels + 1, 1)."""
        return (self.size if entries.everyone else with_everyone(self.size, 1))[:, :, None]


def _numbers_to(most: int) -> type[np.unsignedinteger[Any]]:
    """What numbers below ``most`` fit into: loops over numbers of half the size wait less for memory."""
    return np.uint16 if most <= 1 << 16 else np.uint32


def count_compiled(
    entries: Entries,
    cuts: Sequence[Cut],
    sides: Sequence[LabelSet],
    strata: int,
    bins: ScoreBins,
    bags: Cut | None = None,
) -> tuple[list[Cells], Index, NDArray[np.uint32]]:
    """Count records in numba, in one or two cuts and in bins in one loop.

    Parameters
    ----------
    entries : Entries
    cuts : sequence of Cut
        One or two.
    sides : sequence of LabelSet
        Truth, decisions and scores.
    strata : int
        How many strata the first cut has.
    bins : ScoreBins
        To be filled.
    bags : Cut, optional
        Of which records are counted, and scores are not summed.

    Returns
    -------
    cells : list of Cells
        Of every cut.
    squares : ndarray of shape (strata, labels, 2, outcome labels)
        Both limbs of sums of squared scores.
    decided : ndarray of shape (outcome labels, rows, labels, 4)
        Records of every cell of ``bags`` without truth and decision, with the decision, with the truth, and with both.
    """
    from .kernels.compiled_scores import KINDS, add_scores, number_layers, turn

    labels, width = entries.labels, sides[0].width
    most = max(int(cut.size.max(initial=0)) for cut in cuts)
    held = cuts if bags is None else [*cuts, bags]
    numbered = _numbers_to(max(strata * labels, *(cut.size.size for cut in held)))
    made = [Cells.nothing((width, len(cut.stratum), labels), entries.everyone, most) for cut in cuts]
    places = [cut.cell.astype(numbered, copy=False) for cut in held]
    of_cell = (cuts[0].stratum[:, None] * labels + np.arange(labels)).astype(numbered).reshape(-1)
    layer, label = np.empty(len(entries.label), dtype=numbered), entries.label.astype(numbered)
    number_layers(places[0], of_cell, layer)
    squares = np.zeros((width, strata * labels, 2), dtype=np.int64)
    rows = (0 if bags is None else len(bags.stratum)), labels, KINDS
    decided = np.zeros((width, *rows), dtype=np.uint32)
    bag = places[0][:0] if bags is None else places[-1]
    other = places[1] if len(cuts) > 1 else places[0][:0]
    for mine in entries.parts():
        steps = [bins.nothing() for _ in range(width)]
        for here, first, columns in _columns(entries, sides, mine, turn):
            where = [part[here] for part in (places[0], other, bag, label, layer)]
            for j, (one, said, score) in enumerate(zip(*columns, strict=True), first):
                cells = [cut.of_outcome(j) for cut in made]
                again = cells[1] if len(cuts) > 1 else [part[:0] for part in cells[0]]
                score = np.ascontiguousarray(score, dtype=np.float64)
                sums = *cells[0], *again, squares[j], *steps[j]
                add_scores(*where, one, said, score, GRID, *sums, decided[j].reshape(-1))
        for j, filled in enumerate(steps):
            bins.add(j, *filled)
    return made, np.moveaxis(squares.reshape(width, strata, labels, 2), 0, -1), decided


def _columns(
    entries: Entries, sides: Sequence[LabelSet], mine: slice, turn: Callable[[NDArray[Any], NDArray[Any]], None]
) -> Iterator[tuple[slice, int, list[list[NDArray[Any]]]]]:
    """Some entries, the first of some outcomes, and the columns of these; a few of either where columns have to be copied.

    ``turn`` copies a matrix whose rows lie together to one whose columns do.
    """
    if entries.everyone:
        whole = [side.columns() for side in sides]
        for here in _cut(mine, _COPIED):
            yield here, 0, [[column[entries.records[here]] for column in columns] for columns in whole]
        return
    # Where each record has one entry the entries are the records.
    rows = [None if side.by_column else side.matrix() for side in sides]
    if any(held is None and not side.by_column for held, side in zip(rows, sides, strict=True)):
        for here in _cut(mine, _COPIED):
            yield here, 0, [side.columns(here.start, here.stop) for side in sides]
        return
    ready = [side.columns(mine.start, mine.stop) if side.by_column else [] for side in sides]
    if all(held is None for held in rows):
        yield mine, 0, ready
        return
    # One copy after another has the same place: memory that is new has to be cleared first.
    copies = [None if held is None else np.empty((_TURNED, mine.stop - mine.start), dtype=held.dtype) for held in rows]
    for first in range(0, sides[0].width, _TURNED):
        some = slice(first, first + _TURNED)
        columns = []
        for held, copy, lot in zip(rows, copies, ready, strict=True):
            if held is None or copy is None:
                columns.append(lot[some])
            else:
                few = held[mine, some]
                turn(few, copy)
                columns.append(list(copy[: few.shape[1]]))
        yield mine, first, columns


def _cut(mine: slice, step: int) -> list[slice]:
    return [slice(start, min(start + step, mine.stop)) for start in range(mine.start, mine.stop, step)]


def count_plain(
    entries: Entries, cuts: Sequence[Cut], sides: Sequence[LabelSet], strata: int, bins: ScoreBins
) -> tuple[list[LaidOut], Index]:
    """As :func:`count_compiled` with numpy alone, and without ``bags``: the same sums."""
    labels, width = entries.labels, sides[0].width
    # Of every cut counts, and both limbs of scores, by cell and kind.
    kinds = [np.zeros((3, width, len(cut.stratum), labels, 4), dtype=np.int64) for cut in cuts]
    squares = np.zeros((strata * labels, 2, width), dtype=np.int64)
    of_cell = (cuts[0].stratum[:, None] * labels + np.arange(labels)).reshape(-1)
    for mine in entries.parts():
        steps = [bins.nothing() for _ in range(width)]
        for here, first, columns in _columns(entries, sides, mine, _turn):
            cells = [cut.cell[here].astype(np.int64) * 4 for cut in cuts]
            layer, label = of_cell[cuts[0].cell[here]], entries.label[here]
            # New memory for every outcome would take as long as the sums.
            place = np.empty(len(layer), dtype=np.int64)
            high, low, square = (np.empty(len(layer)) for _ in range(3))
            for j, (one, said, score) in enumerate(zip(*columns, strict=True), first):
                score = np.ascontiguousarray(score, dtype=np.float64)
                _limbs_of(score, high, low)
                for cell, sums in zip(cells, kinds, strict=True):
                    np.add(cell, 2 * one + said, out=place)
                    for part, weights in zip(sums[:, j], (None, high, low), strict=True):
                        part += _sums_at(place, weights, part.size).reshape(part.shape)
                if len(bins.steps):
                    _add_steps(label, one, score, (high, low), *steps[j])
                _limbs_of(np.multiply(score, score, out=square), high, low)
                for limb, weights in enumerate((high, low)):
                    squares[:, limb, j] += _sums_at(layer, weights, len(squares))
        for j, filled in enumerate(steps):
            bins.add(j, *filled)
    return [_laid_out(sums, entries.everyone) for sums in kinds], squares.reshape(strata, labels, 2, width)


def _laid_out(kinds: Index, everyone: bool) -> LaidOut:
    """Counts and both limbs of scores of every (outcome label, row, label, kind) as tables."""
    neither, held, true, both = np.moveaxis(kinds, -1, 0)
    three = [(true[0] + both[0], held[0] + both[0], both[0])]
    three += [(neither[k] + held[k] + true[k] + both[k], true[k] + both[k], held[k] + both[k]) for k in (1, 2)]
    tables = (np.stack([part if everyone else with_everyone(part, 2) for part in parts]) for parts in three)
    return LaidOut(tables_of(*(np.ascontiguousarray(np.moveaxis(table, 1, -1)) for table in tables)))


def _sums_at(place: Index, weights: Floats | None, places: int) -> Index:
    return np.bincount(place, weights, minlength=places).astype(np.int64, copy=False)


def _limbs_of(chances: Floats, high: Floats, low: Floats) -> None:
    """Both limbs of numbers in [0, 1], of which floats hold the sums of as many as are counted at once.

    They are those of :func:`~biasamp.counts.fixed.units_of`: with 1 added, a number is a multiple of ``2**-52``.
    """
    np.add(chances, 1.0, out=low)
    low -= 1.0
    low *= 1 << LIMB_BITS
    np.floor(low, out=high)
    low -= high
    low *= 1 << LIMB_BITS


def _add_steps(
    label: Index,
    one: NDArray[np.uint8],
    score: Floats,
    limbs: tuple[Floats, Floats],
    steps: NDArray[np.int32],
    sums: Index,
) -> None:
    """Add records to the steps of their given labels, as :meth:`ScoreBins.add` has them."""
    at = label * len(GRID) + place_on_grid(score)
    steps += _sums_at(2 * at + one, None, len(steps)).astype(np.int32)
    high, low = (_sums_at(at, limb, len(sums)) for limb in limbs)
    # Modulo 2**64.
    sums += (high << LIMB_BITS) + low


def _turn(rows: NDArray[Any], columns: NDArray[Any]) -> None:
    """As :func:`biasamp.counts.kernels.compiled_scores.turn`."""
    columns[: rows.shape[1]] = rows.T


def with_everyone(table: Index, axis: int) -> Index:
    """A table with the sum of the labels as the last of them."""
    return np.concatenate([table, table.sum(axis=axis, keepdims=True)], axis=axis)
