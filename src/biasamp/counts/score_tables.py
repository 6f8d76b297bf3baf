"""Sums of decisions and scores by stratum and bag, of records without weights: one table for all strata.

The moments of errors follow from sums of scores, of their squares, and of scores where the truth or the decision holds:
``sum (S - o)**2 = sum S**2 - 2 sum S o + sum o``, exactly, as all of them are sums of whole multiples of ``2**-52``.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, Label, LabelSet
from biasamp.data.label import Mask

from .bagging import bag_of, occupied, shuffled_numbers
from .bags import BagCounts, rows_at
from .fixed import Count, Fixed, add, as_fixed, subtract, total
from .kernels.cross import sums_by
from .pair import PairCounts
from .reliability import BINS, ReliabilityCounts
from .storage import Arrays, get_count, put_count
from .tables import worth_compiling

Index = NDArray[np.int64]

_TABLES = ("size", "truth", "held", "both", "scores", "scores_truth", "scores_held")
# Records whose columns are laid out at once where they are not counted in numba.
_ROWS = 1 << 14
# Records whose sums of limbs floats hold exactly.
_MOST_COMPILED = 1 << 26


def fits(evaluation: Evaluation, scores: LabelSet) -> bool:
    """Whether records are of the kind that these tables are for: no weights, nothing missing, groups and decisions hard."""
    soft = any(side.soft for side in (evaluation.given, evaluation.truth, evaluation.predicted))
    return evaluation.weights is None and not evaluation.missing and not scores.missing and not soft


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

    @classmethod
    def of_records(
        cls,
        evaluation: Evaluation,
        scores: LabelSet,
        codes: Index,
        strata: int,
        bags: int,
        accelerate: bool | None = None,
    ) -> tuple[ScoreTables, ReliabilityCounts]:
        """Count records whose predictions are decisions, and how far scores come true; ``codes`` is the stratum of each."""
        numbers, row = occupied(codes * bags + bag_of(evaluation.units, bags), strata * bags)
        given, width = evaluation.given, evaluation.truth.width
        single = given.exclusive and len(given.nonzero()[0]) == len(evaluation)
        if single and len(evaluation) < _MOST_COMPILED and worth_compiling(len(evaluation) * width, accelerate):
            made, reliability = _compiled(evaluation, scores, codes, strata, row, len(numbers))
        else:
            made = _summed(evaluation, scores, codes, strata, row, len(numbers))
            reliability = ReliabilityCounts.of_records(replace(evaluation, predicted=scores))
        records = np.bincount(codes, minlength=strata)
        return cls((given.labels, evaluation.truth.labels), strata, bags, numbers, records, *made), reliability

    @property
    def hard(self) -> bool:
        """Whether all scores are 0 or 1: they are then their own squares."""
        plain, squared = (as_fixed(total(part)[-1]).floats() for part in (self.scores, self.squares))
        return bool((plain == squared).all())

    def __add__(self, other: ScoreTables) -> ScoreTables:
        if not isinstance(other, ScoreTables):
            return NotImplemented
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
        """The same sums with the bags of every stratum in another order."""
        moved, old = shuffled_numbers(np.arange(self.bags), self.bags, seed)
        place = np.empty(self.bags, dtype=np.int64)
        place[old] = moved
        numbers = self.numbers - self.numbers % self.bags + place[self.numbers % self.bags]
        order = np.argsort(numbers)
        return replace(self, numbers=numbers[order], **{name: getattr(self, name)[order] for name in _TABLES})

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

    def stratum(self, place: int) -> tuple[BagCounts, BagCounts, BagCounts]:
        """Pair counts of one stratum: of decisions, of scores, and of decisions against scores."""
        first, last = np.searchsorted(self.numbers, [place * self.bags, (place + 1) * self.bags])
        rows = slice(int(first), int(last))
        held = {name: getattr(self, name)[rows] for name in _TABLES}
        return self._pair_counts(
            held, self.numbers[rows] - place * self.bags, int(self.records[place]), self.squares[place]
        )

    def everything(self) -> tuple[BagCounts, BagCounts, BagCounts]:
        """Pair counts of all strata together."""
        numbers, row = np.unique(self.numbers % self.bags, return_inverse=True)
        order = np.argsort(row.reshape(-1), kind="stable")
        edges = np.searchsorted(row.reshape(-1)[order], np.arange(len(numbers)))

        def summed(values: Count) -> Count:
            if isinstance(values, Fixed):
                return values.each(lambda part: np.add.reduceat(part[order], edges, axis=0))
            return np.add.reduceat(values[order], edges, axis=0)

        held = {name: summed(getattr(self, name)) for name in _TABLES}
        return self._pair_counts(held, numbers, int(self.records.sum()), total(self.squares))

    def _pair_counts(
        self, held: dict[str, Any], numbers: Index, records: int, squares: Count
    ) -> tuple[BagCounts, BagCounts, BagCounts]:
        n, given = held["size"][:, -1:], held["size"][:, :-1]
        count = np.array([records], dtype=np.int64)

        def made(one: str, said: str, both: str, spread: Any) -> BagCounts:
            true, predicted = held[one][:, -1:], held[said][:, -1:]
            joint, joint_said, joint_both = (held[name][:, :-1] for name in (one, said, both))
            tables = n, given, true, predicted, joint, joint_said, joint_both
            counts = PairCounts(*self.labels, records, *tables, count, spread)
            return BagCounts(self.bags, numbers, counts, total(held[both][:, -1]), isinstance(held[said], Fixed))

        totals = {name: total(values[:, :-1]) for name, values in held.items()}
        size = as_fixed(add(totals["size"], np.zeros(totals["truth"].shape, dtype=np.int64)))

        def spread(one: str, said: str, both: str, squared: Count, plain: Count) -> tuple[Count, Count, Count]:
            # Of a yes/no label the square is the label itself.
            crossed = as_fixed(totals[both])
            second = as_fixed(add(squared, plain)) - crossed - crossed
            return size, as_fixed(subtract(totals[said], totals[one])), second

        squared = squares[:-1]
        return (
            made("truth", "held", "both", None),
            made(
                "truth", "scores", "scores_truth", spread("truth", "scores", "scores_truth", squared, totals["truth"])
            ),
            made("scores", "held", "scores_held", spread("scores", "held", "scores_held", squared, totals["held"])),
        )

    def put(self, arrays: Arrays) -> dict[str, Any]:
        """Put the sums among named arrays, and say what they do not."""
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


def _compiled(
    evaluation: Evaluation, scores: LabelSet, codes: Index, strata: int, row: Index, rows: int
) -> tuple[tuple[Count, ...], ReliabilityCounts]:
    """The tables in numba, of records that have one given label each."""
    from .kernels.compiled_scores import add_scores

    groups, width = evaluation.given.width, evaluation.truth.width
    label = evaluation.given.nonzero()[1]
    cell = row * (groups + 1) + label
    # Sums of whole numbers below 2**53, which floats hold: limbs of at most 2**26, of fewer than 2**27 records.
    whole, high, low = (np.zeros((rows * (groups + 1), 3 * width)) for _ in range(3))
    squares = np.zeros((strata * (groups + 1), 2 * width))
    one, said = (np.ascontiguousarray(side.rows()) for side in (evaluation.truth, evaluation.predicted))
    held = np.ascontiguousarray(scores.rows(), dtype=np.float64)
    bins = np.zeros((groups, width, BINS, 4))
    layer, order = codes * (groups + 1) + label, np.argsort(cell, kind="stable")
    add_scores(order, cell, layer, label, one, said, held, whole, high, low, squares, bins)
    size = np.bincount(cell, minlength=rows * (groups + 1)).reshape(rows, groups + 1, 1)
    shape = rows, groups + 1, 3 * width
    tables = [part.astype(np.int64).reshape(shape) for part in (whole, high, low)]
    layers = squares.astype(np.int64).reshape(strata, groups + 1, 2 * width)
    for table in (size, *tables, layers):
        table[:, -1] = table[:, :-1].sum(axis=1)
    cuts = [slice(k * width, (k + 1) * width) for k in range(3)]
    ints = [tables[0][:, :, cut] for cut in cuts]
    none = np.zeros((rows, groups + 1, width), dtype=np.int64)
    sums = [Fixed(none, tables[1][:, :, cut], tables[2][:, :, cut]) for cut in cuts]
    few = layers[:, :, :width], layers[:, :, width:]
    first, true, *limbs = (bins[..., k].astype(np.int64) for k in range(4))
    reliability = ReliabilityCounts(first, true, Fixed(np.zeros_like(first), *limbs), first)
    return (size, *ints, *sums, Fixed(np.zeros_like(few[0]), *few)), reliability


def _summed(
    evaluation: Evaluation, scores: LabelSet, codes: Index, strata: int, row: Index, rows: int
) -> tuple[Count, ...]:
    """The tables by sums of columns."""
    given, width = evaluation.given, evaluation.truth.width
    groups = given.width + 1
    found: list[Count] = []
    for start in range(0, max(len(evaluation), 1), _ROWS):
        stop = min(start + _ROWS, len(evaluation))
        entry, label = given.nonzero(start, stop)
        entry = np.concatenate([entry, np.arange(stop - start)])
        label = np.concatenate([label, np.full(stop - start, given.width)])
        keys = row[start:stop][entry] * groups + label
        one, said = (side.rows(start, stop) for side in (evaluation.truth, evaluation.predicted))
        held = scores.rows(start, stop).astype(np.float64)
        whole = np.concatenate([np.ones((stop - start, 1), dtype=np.uint8), one, said, one & said], axis=1)
        soft = np.concatenate([held, held * one, held * said], axis=1)
        layers = codes[start:stop][entry] * groups + label
        parts = [
            sums_by(keys, rows * groups, whole, None, entry),
            sums_by(keys, rows * groups, soft, None, entry),
            sums_by(layers, strata * groups, held * held, None, entry),
        ]
        found = parts if not found else [add(a, b) for a, b in zip(found, parts, strict=True)]
    first = _shaped(found[0], rows, groups, 3 * width + 1)
    second = _shaped(found[1], rows, groups, 3 * width)
    ints = [first[:, :, 1 + k * width : 1 + (k + 1) * width] for k in range(3)]
    sums = [second[:, :, k * width : (k + 1) * width] for k in range(3)]
    return (first[:, :, :1], *ints, *sums, _shaped(found[2], strata, groups, width))


def _shaped(values: Count, *shape: int) -> Count:
    if isinstance(values, Fixed):
        return values.each(lambda part: part.reshape(shape))
    return values.reshape(shape)
