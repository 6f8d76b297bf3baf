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
from .fixed import Count, Fixed, add, as_fixed, subtract, total
from .pair import PairCounts
from .reliability import ReliabilityCounts
from .score_cells import (
    SUMMED,
    Cut,
    Entries,
    LaidOut,
    Rows,
    Tables,
    count_compiled,
    count_plain,
    summed_by,
    with_everyone,
)
from .storage import Arrays, get_count, put_count
from .tables import PAIR, SCORES_COST, worth_compiling
from .threshold_counts import ScoreBins, ThresholdCounts, binnable, count_scores, countable

Index = NDArray[np.int64]
Floats = NDArray[np.float64]
Scores = tuple[ThresholdCounts | None, ReliabilityCounts]


def fits(evaluation: Evaluation, scores: LabelSet) -> bool:
    """Whether records are of the kind that these tables are for: no weights, nothing missing, groups and decisions hard."""
    soft = any(side.soft for side in (evaluation.given, evaluation.truth, evaluation.predicted))
    return evaluation.weights is None and not evaluation.missing and not scores.missing and not soft


@dataclass(frozen=True, eq=False)
class Strata:
    """Pair counts of all strata at once.

    Attributes
    ----------
    edges : ndarray of shape (strata + 1,)
        Where the rows of every stratum begin, and where the last ends.
    kinds : tuple of PairCounts
        Of decisions, of scores, and of decisions against scores, with strata as their leading axis.
    numbers : ndarray of shape (rows,)
        The bag of every row, ascending in each stratum.
    change : ndarray of shape (rows, given labels, outcome labels)
        How many more records are decided to have a label than have it.
    size : ndarray of shape (rows, given labels)
        Records of each given label.
    """

    edges: Index
    kinds: tuple[PairCounts, PairCounts, PairCounts]
    numbers: Index
    change: Floats
    size: Floats

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
    size : ndarray of shape (rows, given labels + 1, 1)
        How many records there are.
    rows : Rows
        How many of them have each label, are decided to have it, and both; sums of scores, of scores where the truth
        holds, and of scores where the decision does.
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
    size: Index
    rows: Rows
    squares: Fixed
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
    ) -> tuple[ScoreTables, Scores]:
        """Count records whose predictions are decisions, ``codes`` is the stratum of each; and the scores by bin."""
        (made,), binned, _ = cls.of_cuts(evaluation, scores, [(codes, strata, bags)], accelerate)
        return made, binned

    @classmethod
    def of_cuts(
        cls,
        evaluation: Evaluation,
        scores: LabelSet,
        cuts: Sequence[tuple[Index, int, int]],
        accelerate: bool | None = None,
        *,
        decided: int | None = None,
    ) -> tuple[list[ScoreTables], Scores, BagCounts | None]:
        """As :meth:`of_records` for one cut or two, each with the stratum of every record, how many there are, and bags.

        The second cut, where there is one, has a single stratum. Besides, the pair counts of decisions in ``decided``
        bags, where they are made in the same loop; else None.
        """
        given, width = evaluation.given, evaluation.truth.width
        entries = Entries.of_records(given)
        sides = evaluation.truth, evaluation.predicted, scores
        compiled = worth_compiling(SCORES_COST * len(evaluation) * width, accelerate)
        # Fewer bags follow from more.
        finest = max(decided or 0, *(bags for _, _, bags in cuts))
        finest_bag = bag_of_record(evaluation, finest)

        def cut_into(codes: Index, strata: int, bags: int) -> tuple[Index, Cut]:
            if compiled and not entries.everyone:
                return Cut.compiled(entries, codes, strata, finest_bag, finest, bags)
            bag = bag_of_record(evaluation, bags)
            number, row = occupied(codes * bags + bag if len(codes) else bag, strata * bags)
            return number, Cut.of_entries(entries, number // bags, row)

        made = [cut_into(codes, strata, bags) for codes, strata, bags in cuts]
        counted = [cut for _, cut in made]
        bins = ScoreBins.zeros(given.width + 1 if binnable(given, scores) else 0, width)
        many = cuts[0][1]
        of_cuts: Sequence[Rows]
        pairs = None
        if compiled:
            alone, in_bags = None, np.zeros(0, dtype=np.int64)
            if decided is not None and not entries.everyone:
                in_bags, alone = cut_into(cuts[0][0][:0], 1, decided)
            of_cuts, squares, kinds = count_compiled(entries, counted, sides, many, bins, alone)
            if decided is not None and alone is not None:
                pairs = BagCounts.of_kinds(evaluation, decided, in_bags, kinds, alone.size)
        else:
            of_cuts, squares = count_plain(entries, counted, sides, many, bins)
        tables = []
        for place, (codes, strata, bags) in enumerate(cuts):
            number, cut = made[place]
            squared = squares if len(squares) == strata else squares.sum(axis=0, keepdims=True)
            if not entries.everyone:
                squared = with_everyone(squared, 1)
            exact = Fixed(np.zeros_like(squared[:, :, 0]), squared[:, :, 0], squared[:, :, 1])
            labels = given.labels, evaluation.truth.labels
            records = np.bincount(codes, minlength=strata) if entries.everyone else cut.records(strata)
            tables.append(cls(labels, strata, bags, number, records, cut.sizes(entries), of_cuts[place], exact))
        if not len(bins.steps):
            return tables, count_scores(replace(evaluation, predicted=scores)), pairs
        thresholds, reliability = bins.counts(entries.everyone)
        return tables, (thresholds if countable(given, scores) else None, reliability), pairs

    @property
    def hard(self) -> bool:
        """Whether all scores are 0 or 1: they are then their own squares."""
        plain, squared = (as_fixed(total(part)[-1]).floats() for part in (self._totals["scores"], self.squares))
        return bool((plain == squared).all())

    def __add__(self, other: ScoreTables) -> ScoreTables:
        if not isinstance(other, ScoreTables):
            return NotImplemented
        if self.turned is not None or other.turned is not None:
            return self._settled + other._settled
        numbers = np.union1d(self.numbers, other.numbers)
        mine, theirs = (np.searchsorted(numbers, part.numbers) for part in (self, other))

        def added(one: Count, two: Count) -> Any:
            return add(rows_at(one, mine, len(numbers)), rows_at(two, theirs, len(numbers)))

        tables = {name: added(values, other.rows.tables[name]) for name, values in self.rows.tables.items()}
        size = added(self.size, other.size)
        records, squares = self.records + other.records, self.squares + other.squares
        return replace(self, numbers=numbers, records=records, size=size, rows=LaidOut(tables), squares=squares)

    def shuffled(self, seed: int) -> ScoreTables:
        """The same sums with the bags of every stratum in another order, which rows are brought into where it matters."""
        moved, old = shuffled_numbers(np.arange(self.bags), self.bags, seed)
        place = np.empty(self.bags, dtype=np.int64)
        place[old] = moved
        return replace(self, turned=place if self.turned is None else place[self.turned])

    @cached_property
    def _bag(self) -> Index:
        """The bag of every row."""
        own = self.numbers % self.bags
        return own if self.turned is None else self.turned[own]

    @cached_property
    def _settled(self) -> ScoreTables:
        """The same sums, their rows in the order of their bags."""
        if self.turned is None:
            return self
        numbers = self.numbers - self.numbers % self.bags + self._bag
        order = np.argsort(numbers)
        tables = {name: _in_order(values, order) for name, values in self.rows.tables.items()}
        return replace(self, numbers=numbers[order], turned=None, size=self.size[order], rows=LaidOut(tables))

    def only(self, given: Mask, outcome: Mask) -> ScoreTables:
        """The sums of some of the labels."""
        if given.all() and outcome.all():
            return self
        keep = np.append(given, True)
        rows = LaidOut({name: values[:, keep][:, :, outcome] for name, values in self.rows.tables.items()})
        labels = tuple(
            tuple(label for label, held in zip(side, mask.tolist(), strict=True) if held)
            for side, mask in zip(self.labels, (given, outcome), strict=True)
        )
        squares = self.squares[:, keep][:, :, outcome]
        return replace(self, labels=(labels[0], labels[1]), size=self.size[:, keep], rows=rows, squares=squares)

    @cached_property
    def _edges(self) -> Index:
        """Where the rows of every stratum begin, and where the last ends."""
        return np.searchsorted(self.numbers, np.arange(self.strata + 1) * self.bags)

    def _sums(self, place: Index, places: int) -> Tables:
        """The sums of all rows of each of so many places."""
        return {"size": summed_by(self.size, place, places), **self.rows.by_place(place, places)}

    @cached_property
    def _totals(self) -> Tables:
        """The sums of every stratum, all bags together; made at once, as there are many strata."""
        return self._sums(self.numbers // self.bags, self.strata)

    def stratum(self, place: int) -> tuple[BagCounts, BagCounts, BagCounts]:
        """Pair counts of one stratum: of decisions, of scores, and of decisions against scores."""
        if self.turned is not None:
            return self._settled.stratum(place)
        rows = slice(int(self._edges[place]), int(self._edges[place + 1]))
        held = {name: values[rows] for name, values in {"size": self.size, **self.rows.tables}.items()}
        totals = {name: values[place] for name, values in self._totals.items()}
        wholes = self._wholes(totals, self.records[place], self.squares[place])
        return self._in_bags(held, wholes, self.numbers[rows] - place * self.bags)

    @cached_property
    def all_strata(self) -> Strata:
        """Pair counts of every stratum at once."""
        kinds = self._wholes(self._totals, self.records, self.squares)
        numbers, change, size = self._bag, self.rows.changes, self.size[:, :-1, 0].astype(np.float64)
        if self.turned is not None:
            order = np.argsort(self.numbers - self.numbers % self.bags + numbers)
            numbers, change, size = numbers[order], change[order], size[order]
        return Strata(self._edges, kinds, numbers, change, size)

    @cached_property
    def everything(self) -> tuple[BagCounts, BagCounts, BagCounts]:
        """Pair counts of all strata together."""
        if self.strata == 1 and self.turned is None:
            return self.stratum(0)
        numbers, place = np.unique(self._bag, return_inverse=True)
        held = self._sums(place.reshape(-1), len(numbers))
        totals = {name: total(values) for name, values in held.items()}
        return self._in_bags(held, self._wholes(totals, self.records.sum(), total(self.squares)), numbers)

    def _wholes(self, totals: Tables, records: Any, squares: Count) -> tuple[PairCounts, PairCounts, PairCounts]:
        """Pair counts of totals: of decisions, of scores, and of decisions against scores; strata may be a leading axis."""
        count = np.array([int(records)]) if not np.ndim(records) else records[:, None, None]
        groups = {name: values[..., :-1, :] for name, values in totals.items()}
        size = as_fixed(add(groups["size"], np.zeros(groups["truth"].shape, dtype=np.int64)))

        def spread(kind: tuple[str, str, str], squared: Count, plain: Count) -> tuple[Count, Count, Count]:
            # Of a yes/no label the square is the label itself.
            one, said, both = (groups[name] for name in kind)
            crossed = as_fixed(both)
            return size, as_fixed(subtract(said, one)), as_fixed(add(squared, plain)) - crossed - crossed

        squared = squares[..., :-1, :]
        spreads = None, spread(_KINDS[1], squared, groups["truth"]), spread(_KINDS[2], squared, groups["held"])
        many = int(records.sum())
        first, second, third = (
            PairCounts(*self.labels, many, **_pair_tables(totals, *kind), squared=count, spread=apart)
            for kind, apart in zip(_KINDS, spreads, strict=True)
        )
        return first, second, third

    def _in_bags(
        self, held: Tables, wholes: tuple[PairCounts, PairCounts, PairCounts], numbers: Index
    ) -> tuple[BagCounts, BagCounts, BagCounts]:
        """Pair counts of tables by bag, whose sums over bags are known."""
        made = []
        for kind, whole in zip(_KINDS, wholes, strict=True):
            counts = replace(whole, **_pair_tables(held, *kind))
            agreeing = total(held[kind[2]])[-1]
            soft = isinstance(held[kind[1]], Fixed)
            made.append(BagCounts(self.bags, numbers, counts, agreeing, soft).with_whole(whole))
        return made[0], made[1], made[2]

    def put(self, arrays: Arrays) -> dict[str, Any]:
        """Put the sums among named arrays, and say what they do not."""
        if self.turned is not None:
            return self._settled.put(arrays)
        for name, values in {"size": self.size, **self.rows.tables, "squares": self.squares}.items():
            put_count(arrays, f"tables//{name}", values)
        arrays["tables//numbers"], arrays["tables//records"] = self.numbers, self.records
        sides = [[[label.variable, label.category] for label in side] for side in self.labels]
        return {"labels": sides, "strata": self.strata, "bags": self.bags}

    @classmethod
    def get(cls, header: dict[str, Any], arrays: Arrays) -> ScoreTables:
        """What :meth:`put` put."""
        sides = [tuple(Label(variable or "", category) for variable, category in side) for side in header["labels"]]
        numbers, records = arrays["tables//numbers"], arrays["tables//records"]
        size: Any = get_count(arrays, "tables//size")
        squares = as_fixed(get_count(arrays, "tables//squares"))
        rows = LaidOut({name: get_count(arrays, f"tables//{name}") for name in SUMMED})
        return cls((sides[0], sides[1]), header["strata"], header["bags"], numbers, records, size, rows, squares)


# Truth, predictions and both, of decisions, of scores, and of decisions against scores.
_KINDS = (("truth", "held", "both"), ("truth", "scores", "scores_truth"), ("scores", "held", "scores_held"))


def _pair_tables(tables: Tables, one: str, said: str, both: str) -> Tables:
    """The tables of pair counts whose truth, prediction and both these are."""
    n, given = tables["size"][..., -1:, :], tables["size"][..., :-1, :]
    margins = n, given, tables[one][..., -1:, :], tables[said][..., -1:, :]
    return dict(zip(PAIR, (*margins, *(tables[name][..., :-1, :] for name in (one, said, both))), strict=True))


def _in_order(values: Any, order: Index) -> Any:
    """The rows of a table in another order; one that is a single 0 throughout stays as it is."""
    if isinstance(values, Fixed):
        return values.each(lambda part: _in_order(part, order))
    return np.take(values, order, axis=0) if any(values.strides) else values
