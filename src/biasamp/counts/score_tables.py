"""Sums of decisions and scores by stratum and bag, of records without weights: one table for all strata.

The moments of errors follow from sums of scores, of their squares, and of scores where the truth or the decision holds:
``sum (S - o)**2 = sum S**2 - 2 sum S o + sum o``, exactly, as all of them are sums of whole multiples of ``2**-52``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, Label, LabelSet
from biasamp.data.label import Mask

from .bagging import bag_of_record, occupied, shuffled_numbers
from .bags import BagCounts, rows_at
from .fixed import LIMB_BITS, Count, Fixed, add, as_fixed, subtract, total, units_of
from .pair import PairCounts
from .reliability import ReliabilityCounts
from .storage import Arrays, get_count, put_count
from .tables import SCORES_COST, worth_compiling
from .threshold_counts import GRID, ScoreBins, ThresholdCounts, count_scores, countable

Index = NDArray[np.int64]

_TABLES = ("size", "truth", "held", "both", "scores", "scores_truth", "scores_held")
# Entries whose columns are laid out at once where they are not counted in numba.
_ROWS = 1 << 14
# Entries whose columns are copied at once where records have several.
_PART = 1 << 16
# Outcomes whose sums are laid out at once: those of a row fill a line of cache.
_AT_ONCE = 8
# Scores of at most 2**52 units whose sum is sure to fit into 64 bits.
_MOST = 1024


def fits(evaluation: Evaluation, scores: LabelSet) -> bool:
    """Whether records are of the kind that these tables are for: no weights, nothing missing, groups and decisions hard."""
    soft = any(side.soft for side in (evaluation.given, evaluation.truth, evaluation.predicted))
    return evaluation.weights is None and not evaluation.missing and not scores.missing and not soft


@dataclass(frozen=True, eq=False)
class Entries:
    """Which records count in which cells: a row of records, and one of the given labels or everyone.

    Attributes
    ----------
    records : ndarray of shape (entries,)
    label, cell : ndarray of shape (entries,)
        The given label, or everyone after the last of them, and the cell: ``row * labels + label``.
    labels : int
        How many given labels there are, with everyone where there are entries of it.
    everyone : bool
        Whether there are entries of everyone; where each record has one given label, their sums are those of labels.
    """

    records: Index
    label: Index
    cell: Index
    labels: int
    everyone: bool

    @classmethod
    def of_records(cls, given: LabelSet, row: Index) -> Entries:
        """The entries of records in their rows."""
        records, label = given.nonzero()
        each = given.exclusive and len(records) == len(given)
        labels = given.width
        if not each:
            labels = given.width + 1
            records = np.concatenate([records, np.arange(len(given))])
            label = np.concatenate([label, np.full(len(given), given.width)])
        return cls(records, label, (row if each else row[records]) * labels + label, labels, not each)

    def parts(self) -> list[slice]:
        """All entries where each record has one; else some after others, so that copies of their columns are small."""
        step = _PART if self.everyone else max(len(self.cell), 1)
        return [slice(start, start + step) for start in range(0, len(self.cell), step)]

    def by_cell(self) -> tuple[Index, Index]:
        """Records and cells of the entries, those of a cell together."""
        # Only small numbers are sorted in linear time.
        small = self.cell.max(initial=0) < 1 << 16
        order = np.argsort(self.cell.astype(np.uint16) if small else self.cell, kind="stable")
        return self.records[order], self.cell[order]


@dataclass(frozen=True, eq=False)
class Strata:
    """Pair counts of all strata at once.

    Attributes
    ----------
    edges : ndarray of shape (strata + 1,)
        Where the rows of every stratum begin, and where the last ends.
    kinds : tuple of BagCounts
        Of decisions, of scores, and of decisions against scores: rows are bags of strata, and ``whole`` has strata as
        its leading axis.
    numbers : ndarray of shape (rows,)
        The bag of every row, ascending in each stratum.
    order : ndarray of shape (rows,), optional
        Which rows of the counts these are, where they are in another order.
    """

    edges: Index
    kinds: tuple[BagCounts, BagCounts, BagCounts]
    numbers: Index
    order: Index | None = None

    def in_order(self, rows: NDArray[Any]) -> NDArray[Any]:
        """What is known of every row of the counts, in the order of :attr:`numbers`."""
        return rows if self.order is None else rows[self.order]

    @cached_property
    def stratum(self) -> Index:
        """The stratum of every row."""
        return np.repeat(np.arange(len(self.edges) - 1), np.diff(self.edges))


@dataclass(frozen=True, eq=False, repr=False)
class ScoreTables:
    """Sums of every (stratum and bag, given label, outcome label); the last given label is everyone.

    Attributes
    ----------
    labels : pair of tuple of Label
        Given labels and outcome labels.
    strata, bags : int
    numbers : ndarray of shape (rows,)
        Which cells hold records, ascending: ``stratum * bags + bag``.
    records : ndarray of shape (strata,)
    size, truth, held, both : ndarray of shape (rows, given labels + 1, outcome labels or 1)
        How many records there are, have the label, are decided to have it, and both.
    scores, scores_truth, scores_held : Fixed of the same shape
        Sums of scores, of scores where the truth holds, and of scores where the decision does.
    squares : Fixed of shape (strata, given labels + 1, outcome labels)
        Sums of squared scores.
    turned : ndarray of shape (bags,), optional
        What number each bag has where it is not that of ``numbers``.
    """

    labels: tuple[tuple[Label, ...], tuple[Label, ...]]
    strata: int
    bags: int
    numbers: Index
    records: Index
    size: Count
    truth: Count
    held: Count
    both: Count
    scores: Count
    scores_truth: Count
    scores_held: Count
    squares: Count
    turned: Index | None = field(default=None, kw_only=True)

    @classmethod
    def of_records(
        cls,
        evaluation: Evaluation,
        scores: LabelSet,
        codes: Index,
        strata: int,
        bags: int,
        accelerate: bool | None = None,
    ) -> tuple[ScoreTables, tuple[ThresholdCounts | None, ReliabilityCounts]]:
        """Count records whose predictions are decisions, ``codes`` is the stratum of each; and the scores by bin."""
        numbers, row = occupied(codes * bags + bag_of_record(evaluation, bags), strata * bags)
        given, width = evaluation.given, evaluation.truth.width
        groups = given.width + 1
        entries = Entries.of_records(given, row)
        size = np.bincount(entries.cell, minlength=len(numbers) * entries.labels)
        compiled = worth_compiling(SCORES_COST * len(evaluation) * width, accelerate)
        bins = ScoreBins.zeros(groups if compiled and countable(given, scores) else 0, width)
        sides = evaluation.truth, evaluation.predicted, scores
        tables = Sums.zeros(numbers // bags, strata, groups, width)
        if compiled:
            tables.add_compiled(entries, sides, int(size.max(initial=0)), bins)
        else:
            tables.add_rows(entries, sides)
        size = size.reshape(len(numbers), entries.labels, 1)
        if not entries.everyone:
            size = np.concatenate([size, size.sum(axis=1, keepdims=True)], axis=1)
        none = np.broadcast_to(np.int64(0), (len(numbers), groups, width))
        sums = [Fixed(none, *limbs) for limbs in zip(tables.high, tables.low, strict=True)]
        squares = tables.squares
        squared = Fixed(np.zeros((strata, groups, width), dtype=np.int64), squares[:, :, 0], squares[:, :, 1])
        records = np.bincount(codes, minlength=strata)
        labels = given.labels, evaluation.truth.labels
        held: tuple[Count, ...] = (size, *tables.whole, *sums, squared)
        made = cls(labels, strata, bags, numbers, records, *held)
        return made, bins.counts(entries.everyone) if len(bins.steps) else count_scores(
            replace(evaluation, predicted=scores)
        )

    @property
    def hard(self) -> bool:
        """Whether all scores are 0 or 1: they are then their own squares."""
        plain, squared = (as_fixed(total(part)[-1]).floats() for part in (self.scores, self.squares))
        return bool((plain == squared).all())

    def __add__(self, other: ScoreTables) -> ScoreTables:
        if not isinstance(other, ScoreTables):
            return NotImplemented
        if self.turned is not None or other.turned is not None:
            return self._settled + other._settled
        numbers = np.union1d(self.numbers, other.numbers)
        mine, theirs = (np.searchsorted(numbers, part.numbers) for part in (self, other))
        summed: dict[str, Any] = {
            name: add(
                rows_at(getattr(self, name), mine, len(numbers)), rows_at(getattr(other, name), theirs, len(numbers))
            )
            for name in _TABLES
        }
        squares = add(self.squares, other.squares)
        return replace(self, numbers=numbers, records=self.records + other.records, squares=squares, **summed)

    def shuffled(self, seed: int) -> ScoreTables:
        """The same sums with the bags of every stratum in another order, which rows are brought into where it matters."""
        moved, old = shuffled_numbers(np.arange(self.bags), self.bags, seed)
        place = np.empty(self.bags, dtype=np.int64)
        place[old] = moved
        return replace(self, turned=place if self.turned is None else place[self.turned])

    @cached_property
    def _order(self) -> tuple[Index, Index | None]:
        """The numbers of rows in the order of their bags, and the row of each; None where rows are in it."""
        if self.turned is None:
            return self.numbers, None
        numbers = self.numbers - self.numbers % self.bags + self.turned[self.numbers % self.bags]
        order = np.argsort(numbers)
        return numbers[order], order

    @cached_property
    def _settled(self) -> ScoreTables:
        """The same sums, their rows in the order of their bags."""
        numbers, order = self._order
        if order is None:
            return self
        rows: dict[str, Any] = {name: _rows_in_order(getattr(self, name), order) for name in _TABLES}
        return replace(self, numbers=numbers, turned=None, **rows)

    def only(self, given: Mask, outcome: Mask) -> ScoreTables:
        """The sums of some of the labels."""
        if given.all() and outcome.all():
            return self
        keep = np.append(given, True)
        changed: dict[str, Any] = {name: getattr(self, name)[:, keep][:, :, outcome] for name in _TABLES[1:]}
        labels = tuple(
            tuple(label for label, held in zip(side, mask.tolist(), strict=True) if held)
            for side, mask in zip(self.labels, (given, outcome), strict=True)
        )
        squares = self.squares[:, keep][:, :, outcome]
        return replace(self, labels=(labels[0], labels[1]), size=self.size[:, keep], squares=squares, **changed)

    @cached_property
    def _edges(self) -> Index:
        """Where the rows of every stratum begin, and where the last ends."""
        return np.searchsorted(self.numbers, np.arange(self.strata + 1) * self.bags)

    @property
    def _full(self) -> bool:
        """Whether every bag of every stratum holds records."""
        return len(self.numbers) == self.strata * self.bags

    @cached_property
    def _totals(self) -> dict[str, Any]:
        """The sums of every stratum, all bags together; made at once, as there are many strata."""
        first, filled = self._edges[:-1], np.diff(self._edges) > 0

        def summed(values: Any) -> Any:
            if isinstance(values, Fixed):
                return values.each(summed)
            if any(values.strides) and self._full:
                return values.reshape(self.strata, self.bags, *values.shape[1:]).sum(axis=1)
            out = np.zeros((self.strata, *values.shape[1:]), dtype=np.int64)
            if any(values.strides) and filled.any():
                out[filled] = np.add.reduceat(values, first[filled], axis=0)
            return out

        return {name: summed(getattr(self, name)) for name in _TABLES}

    def stratum(self, place: int) -> tuple[BagCounts, BagCounts, BagCounts]:
        """Pair counts of one stratum: of decisions, of scores, and of decisions against scores."""
        if self.turned is not None:
            return self._settled.stratum(place)
        rows = slice(int(self._edges[place]), int(self._edges[place + 1]))
        held, totals = (
            {name: values[at] for name, values in lot.items()}
            for lot, at in (({name: getattr(self, name) for name in _TABLES}, rows), (self._totals, place))
        )
        numbers = self.numbers[rows] - place * self.bags
        return self._pair_counts(held, totals, numbers, self.records[place], self.squares[place])

    @cached_property
    def all_strata(self) -> Strata:
        """Pair counts of every stratum at once."""
        held = {name: getattr(self, name) for name in _TABLES}
        numbers, order = self._order
        kinds = self._pair_counts(held, self._totals, self.numbers % self.bags, self.records, self.squares)
        return Strata(self._edges, kinds, numbers % self.bags, order)

    @cached_property
    def everything(self) -> tuple[BagCounts, BagCounts, BagCounts]:
        """Pair counts of all strata together."""
        numbers, row = np.unique(self.numbers % self.bags, return_inverse=True)
        order = np.argsort(row.reshape(-1), kind="stable")
        edges = np.searchsorted(row.reshape(-1)[order], np.arange(len(numbers)))
        turned = np.arange(len(numbers)) if self.turned is None else np.argsort(self.turned[numbers])
        numbers = numbers if self.turned is None else self.turned[numbers][turned]

        def summed(values: Any) -> Any:
            if isinstance(values, Fixed):
                return values.each(summed)
            if not any(values.strides):
                return np.broadcast_to(values[:1], (len(edges), *values.shape[1:]))
            if self._full:
                return values.reshape(self.strata, self.bags, *values.shape[1:]).sum(axis=0)[turned]
            return np.add.reduceat(_rows_in_order(values, order), edges, axis=0)[turned]

        held = {name: summed(getattr(self, name)) for name in _TABLES}
        totals = {name: total(values) for name, values in held.items()}
        return self._pair_counts(held, totals, numbers, self.records.sum(), total(self.squares))

    def _pair_counts(
        self, held: dict[str, Any], totals: dict[str, Any], numbers: Index, records: Any, squares: Count
    ) -> tuple[BagCounts, BagCounts, BagCounts]:
        """Pair counts of tables by bag, whose sums over bags are the totals; strata may be a leading axis of these."""
        many = int(records.sum())
        count = np.array([many]) if not np.ndim(records) else records[:, None, None]

        def made(one: str, said: str, both: str, spread: Any) -> BagCounts:
            lots = []
            for lot in (held, totals):
                n, given = lot["size"][..., -1:, :], lot["size"][..., :-1, :]
                true, predicted = (lot[name][..., -1:, :] for name in (one, said))
                joint, joint_said, joint_both = (lot[name][..., :-1, :] for name in (one, said, both))
                tables = n, given, true, predicted, joint, joint_said, joint_both
                lots.append(PairCounts(*self.labels, many, *tables, count, spread))
            soft = isinstance(held[said], Fixed)
            return BagCounts(self.bags, numbers, lots[0], totals[both][..., -1, :], soft).with_whole(lots[1])

        groups = {name: values[..., :-1, :] for name, values in totals.items()}
        size = as_fixed(add(groups["size"], np.zeros(groups["truth"].shape, dtype=np.int64)))

        def spread(one: str, said: str, both: str, squared: Count, plain: Count) -> tuple[Count, Count, Count]:
            # Of a yes/no label the square is the label itself.
            crossed = as_fixed(groups[both])
            second = as_fixed(add(squared, plain)) - crossed - crossed
            return size, as_fixed(subtract(groups[said], groups[one])), second

        squared = squares[..., :-1, :]
        return (
            made("truth", "held", "both", None),
            made(
                "truth", "scores", "scores_truth", spread("truth", "scores", "scores_truth", squared, groups["truth"])
            ),
            made("scores", "held", "scores_held", spread("scores", "held", "scores_held", squared, groups["held"])),
        )

    def put(self, arrays: Arrays) -> dict[str, Any]:
        """Put the sums among named arrays, and say what they do not."""
        if self.turned is not None:
            return self._settled.put(arrays)
        for name in (*_TABLES, "squares"):
            put_count(arrays, f"tables//{name}", getattr(self, name))
        arrays["tables//numbers"], arrays["tables//records"] = self.numbers, self.records
        sides = [[[label.variable, label.category] for label in side] for side in self.labels]
        return {"labels": sides, "strata": self.strata, "bags": self.bags}

    @classmethod
    def get(cls, header: dict[str, Any], arrays: Arrays) -> ScoreTables:
        """What :meth:`put` put."""
        sides = [tuple(Label(variable or "", category) for variable, category in side) for side in header["labels"]]
        numbers, records = arrays["tables//numbers"], arrays["tables//records"]
        held = (get_count(arrays, f"tables//{name}") for name in (*_TABLES, "squares"))
        return cls((sides[0], sides[1]), header["strata"], header["bags"], numbers, records, *held)


def _rows_in_order(values: Any, order: Index) -> Any:
    """The rows of a table in another order; one that is a single 0 throughout stays as it is."""
    if isinstance(values, Fixed):
        return values.each(lambda part: _rows_in_order(part, order))
    return np.take(values, order, axis=0) if any(values.strides) else values


@dataclass(frozen=True, eq=False)
class Sums:
    """The tables of records while they are counted.

    Attributes
    ----------
    stratum : ndarray of shape (rows,)
    whole : ndarray of shape (3, rows, given labels + 1, outcome labels)
        How many records have the label, are decided to have it, and both.
    high, low : ndarray of the same shape
        The limbs of sums of scores, of scores where the truth holds, and of scores where the decision does.
    squares : ndarray of shape (strata, given labels + 1, 2, outcome labels)
        Both limbs of sums of squared scores.
    """

    stratum: Index
    whole: Index
    high: Index
    low: Index
    squares: Index

    @classmethod
    def zeros(cls, stratum: Index, strata: int, groups: int, width: int) -> Sums:
        """Sums of nothing."""
        whole, high, low = (np.zeros((3, len(stratum), groups, width), dtype=np.int64) for _ in range(3))
        return cls(stratum, whole, high, low, np.zeros((strata, groups, 2, width), dtype=np.int64))

    def add_compiled(self, entries: Entries, sides: Sequence[LabelSet], most: int, bins: ScoreBins) -> None:
        """Add records in numba, one outcome after another, and to the bins in the same loop; a cell has ``most`` records."""
        from .kernels.compiled_scores import COARSE, FITTING, KINDS, STEPS, add_scores, lay_out

        truth, held, scores = (side.columns() for side in sides)
        labels, rows, width = entries.labels, self.whole.shape[1], self.whole.shape[-1]
        layers = len(self.squares) * labels
        small = np.uint16 if layers < 1 << 16 else np.uint32
        layer = (self.stratum[:, None] * labels + np.arange(labels)).astype(small).reshape(-1)[entries.cell]
        cell, label = entries.cell.astype(np.uint32), entries.label.astype(small)
        outcomes = min(width, _AT_ONCE)
        shape = outcomes, rows * labels * KINDS
        sums, counts = np.zeros(shape, dtype=np.int64), np.zeros(shape, np.uint16 if most < 1 << 16 else np.int64)
        deep = np.zeros((outcomes, shape[1] if most > FITTING else 0, 2), dtype=np.int64)
        for first in range(0, width, _AT_ONCE):
            several = range(first, min(first + _AT_ONCE, width))
            if first:
                sums[:], counts[:], deep[:] = 0, 0, 0
            for place, j in enumerate(several):
                steps = np.zeros((len(bins.steps), 2 * (STEPS + 1)), dtype=np.int32)
                binned = np.zeros((len(bins.sums) * COARSE, 2), dtype=np.int64)
                squares = np.zeros((layers, 2), dtype=np.int64)
                columns = truth[j], held[j], np.ascontiguousarray(scores[j], dtype=np.float64)
                cells = sums[place], counts[place], deep[place]
                for mine in entries.parts():
                    # Where each record has one entry the entries are the records.
                    lot = (column[entries.records[mine]] for column in columns) if entries.everyone else columns
                    add_scores(cell[mine], label[mine], layer[mine], *lot, GRID, *cells, squares, steps, binned)
                bins.put(j, steps, binned.reshape(len(bins.sums), COARSE, 2))
                self.squares[:, :labels, :, j] = squares.reshape(-1, labels, 2)
            lot = (table[: len(several)] for table in (sums, counts, deep))
            lay_out(*lot, labels, first, self.whole, self.high, self.low)
        if not entries.everyone:
            self.squares[:, -1] = self.squares[:, :-1].sum(axis=1)

    def add_rows(self, entries: Entries, sides: Sequence[LabelSet]) -> None:
        """Add records by sums of neighbouring rows: the same sums."""
        one, said, chances = (side.rows() for side in sides)
        labels, width = entries.labels, self.whole.shape[-1]
        tables = [np.zeros((3, self.whole.shape[1] * labels, width), dtype=np.int64) for _ in range(3)]
        squares = np.zeros((len(self.squares) * labels, 2, width), dtype=np.int64)
        records, cells = entries.by_cell()
        for start in range(0, len(records), _ROWS):
            mine, cell = (part[start : start + _ROWS] for part in (records, cells))
            true, held, chance = one[mine], said[mine], chances[mine].astype(np.float64)
            unit = units_of(chance)
            first = np.flatnonzero(np.diff(cell, prepend=-1))
            places = cell[first]
            # Sums of more scores might not fit into 64 bits: they are cut, and what was cut is added up in limbs.
            cuts = np.union1d(first, np.arange(0, len(cell), _MOST))
            again = np.searchsorted(cuts, first)
            for part, flags in enumerate((true, held, true & held)):
                tables[0][part, places] += np.add.reduceat(flags, first, axis=0, dtype=np.int64)
            for part, addend in enumerate((unit, unit * true, unit * held)):
                for table, limb in zip(tables[1:], _limb_sums(addend, cuts), strict=True):
                    table[part, places] += np.add.reduceat(limb, again, axis=0)
            layer = self.stratum[cell[cuts] // labels] * labels + cell[cuts] % labels
            for place, found in enumerate(_limb_sums(units_of(chance * chance), cuts)):
                np.add.at(squares[:, place], layer, found)
        for table, found in zip((self.whole, self.high, self.low), tables, strict=True):
            table[:, :, :labels] = found.reshape(3, -1, labels, width)
        self.squares[:, :labels] = squares.reshape(-1, labels, 2, width)
        if not entries.everyone:
            for table in (*self.whole, *self.high, *self.low, self.squares):
                table[:, -1] = table[:, :-1].sum(axis=1)


def _limb_sums(units: Index, cuts: Index) -> tuple[Index, Index]:
    found = np.add.reduceat(units, cuts, axis=0)
    return found >> LIMB_BITS, found & ((1 << LIMB_BITS) - 1)
