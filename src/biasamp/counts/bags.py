"""Pair counts of bags of records: the one statistic that values, halves and resamples all follow from.

A record falls into one of a few thousand bags by its key. Counts of bags add up over batches, files and machines as
all counts do, and resampling whole bags is resampling records to first order: bags are random groups of records, so
that the squared sums of their influences have the mean that those of single records have, with a relative spread of
``sqrt(2 / bags)``. A resample then costs a product of small matrices, however many records there are, and need not
be thought of when counting.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Dense, Evaluation, LabelSet
from biasamp.data.keys import Keys, mix, row_keys

from .fixed import Count, Fixed, add, concatenate, floats, limbs
from .joint import WIDE, same_labels, squared_weights
from .kernels import sparse
from .pair import PairCounts, drop_records, pair_spread, present_rows, whole_spread
from .poisson import Drawing, half_of

Index = NDArray[np.int64]
Floats = NDArray[np.float64]

# So many bags where they fit: errors estimated from them are off by about one percent.
MOST_BAGS = 4096
# Fewer bags than this say too little of an error; then only the two halves of the records are told apart.
FEWEST_BAGS = 256
HALVES = 2
# Cells of one table (bags x pairs), at most.
_MOST_CELLS = 1 << 22
# Records whose columns are laid out at once.
CHUNK = 1 << 14
# Resampled counts that formulas see at a time; they make a dozen temporary arrays.
_BLOCK = 1 << 20
_BAG = np.uint64(0x2545F4914F6CDD1D)
_DEALING = 0x5EED_0F_BA65
_RESAMPLED = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")


def bags_for(pairs: int) -> int:
    """How many bags the counts of so many pairs are kept for: the most that fit, or just the two halves.

    >>> bags_for(160), bags_for(4096), bags_for(1_000_000)
    (4096, 1024, 2)
    """
    bags = MOST_BAGS
    while bags * pairs > _MOST_CELLS:
        bags //= 2
    return bags if bags >= FEWEST_BAGS else HALVES


def bag_of(units: Keys, bags: int) -> Index:
    """The bag of each record; bags of the lower half hold one half of the records, the rest the other."""
    half = half_of(units).astype(np.int64) * (bags // 2)
    if bags == HALVES:
        return half
    bits = np.uint64(65 - bags.bit_length() + 1)
    return half + (mix(units ^ _BAG) >> bits).astype(np.int64)


def bag_weights(numbers: Index, bags: int, resamples: int, seed: int) -> NDArray[np.float64]:
    """Poisson weights of shape (resamples, bags), which depend on the seed and the bag's number alone."""
    return Drawing(resamples, seed, bags).weights(row_keys(0, bags)[numbers]).astype(np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class BagCounts:
    """Pair counts of one direction, bag by bag; they add up over records.

    Attributes
    ----------
    bags : int
        Into how many bags the records fall.
    counts : PairCounts
        Its arrays have a leading axis of bags, but for ``spread`` and ``squared``, which are of all records.
    agreeing : counts of shape (outcome labels,)
        ``C(o and o_hat)`` over all records, whatever their given labels.
    soft : bool
        Whether any prediction is a probability.
    numbers : ndarray, optional
        Which bags these are; all by default.
    """

    bags: int
    counts: PairCounts
    agreeing: Count
    soft: bool = False
    numbers: Index | None = None

    @classmethod
    def from_labels(
        cls, evaluation: Evaluation, bags: int | None = None, *, accelerate: bool | None = None
    ) -> BagCounts:
        """Count the pairs of an evaluation, whose keys decide the bags.

        Parameters
        ----------
        evaluation : Evaluation
            Labels in one label space.
        bags : int, optional
            How many bags; by default as many as fit.
        accelerate : bool, optional
            Whether to use numba; by default where it is installed.
        """
        evaluation = drop_records(evaluation)
        given, truth, predicted, weights = (
            evaluation.given,
            evaluation.truth,
            evaluation.predicted,
            evaluation.weights,
        )
        bags = bags or bags_for(given.width * truth.width)
        bag = bag_of(evaluation.units, bags)
        plain = not predicted.soft and weights is None
        masked = bool(given.missing or truth.missing or predicted.missing)
        if masked:
            arrays, agreeing = _masked(evaluation, bag, bags)
        else:
            arrays, agreeing = _named(_tables(evaluation, bag, bags, accelerate), truth.width)
        counts = PairCounts(
            given.labels,
            truth.labels,
            len(evaluation),
            squared=squared_weights(weights, len(evaluation)),
            spread=None if plain and not masked else pair_spread(evaluation),
            **arrays,
        )
        return cls(bags, counts, agreeing, predicted.soft)

    @classmethod
    def from_cells(
        cls, given: LabelSet, truth: LabelSet, predicted: LabelSet, counts: Index, bags: int | None = None
    ) -> BagCounts:
        """Counts of cells that stand for several records alike, which are dealt out to the bags at random.

        Records of a cell do not differ in anything but their keys, so that any dealing is as good as that by keys;
        it is the same for the same cells.
        """
        bags = bags or bags_for(given.width * truth.width)
        while bags > HALVES and np.minimum(counts, bags).sum() > _MOST_CELLS:
            bags = bags // 2 if bags > FEWEST_BAGS else HALVES
        rng = np.random.default_rng(np.random.SeedSequence(_DEALING))
        cell, bag, dealt = [], [], []
        step = max(1, _MOST_CELLS // bags)
        for start in range(0, len(counts), step):
            drawn = rng.multinomial(counts[start : start + step], np.full(bags, 1.0 / bags))
            row, column = np.nonzero(drawn)
            cell.append(row + start)
            bag.append(column)
            dealt.append(drawn[row, column])
        rows = np.concatenate(cell)
        evaluation = Evaluation(given.take(rows), truth.take(rows), predicted.take(rows), np.concatenate(dealt))
        arrays, agreeing = _named(_tables(evaluation, np.concatenate(bag), bags, False), truth.width)
        n = int(counts.sum())
        return cls(
            bags, PairCounts(given.labels, truth.labels, n, squared=np.array([n], dtype=np.int64), **arrays), agreeing
        )

    @cached_property
    def whole(self) -> PairCounts:
        """The counts of all these bags together."""
        arrays: dict[str, Any] = {name: total(getattr(self.counts, name)) for name in _RESAMPLED}
        return replace(self.counts, **arrays)

    @property
    def halves(self) -> tuple[BagCounts, BagCounts] | None:
        """The two halves of the records, in the order in which signs are lent; None where one has no pair."""
        middle = self.bags // 2
        first, second = self._some(np.arange(middle, self.bags)), self._some(np.arange(middle))
        if all(floats(part.whole.given).any() for part in (first, second)):
            return first, second
        return None

    def _some(self, numbers: Index) -> BagCounts:
        arrays = {name: getattr(self.counts, name)[numbers] for name in _RESAMPLED}
        return replace(self, counts=replace(self.counts, **arrays, spread=None), numbers=numbers)

    @property
    def resamplable(self) -> bool:
        """Whether there are enough bags to resample."""
        return self.bags >= FEWEST_BAGS

    def resampled(self, resamples: int, seed: int) -> Iterator[PairCounts]:
        """The counts of a few resamples at a time, with a leading axis of resamples."""
        numbers = np.arange(self.bags) if self.numbers is None else self.numbers
        weights = bag_weights(numbers, self.bags, resamples, seed)
        size = int(np.prod(self.counts.joint_truth.shape[1:]))
        step = max(1, _BLOCK // max(size, 1))
        columns = {name: exact_floats(getattr(self.counts, name)) for name in _RESAMPLED}
        for start in range(0, resamples, step):
            drawn = weights[start : start + step]
            arrays: dict[str, Any] = {
                name: (drawn @ values.reshape(len(values), -1)).reshape(-1, *values.shape[1:])
                for name, values in columns.items()
            }
            yield replace(self.counts, **arrays, spread=None)

    def replicates(self, resamples: int, seed: int) -> PairCounts:
        """The counts of all resamples at once."""
        parts = list(self.resampled(resamples, seed))
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in _RESAMPLED}
        return replace(parts[0], **arrays)

    def shuffled(self, seed: int) -> BagCounts:
        """The same counts with the bags in another order."""
        order = shuffled_bags(self.bags, seed)
        arrays: dict[str, Any] = {name: getattr(self.counts, name)[order] for name in _RESAMPLED}
        return replace(self, counts=replace(self.counts, **arrays))

    def __repr__(self) -> str:
        return f"<BagCounts of {self.counts.records:,} records in {self.bags:,} bags>"

    def __add__(self, other: BagCounts) -> BagCounts:
        if not isinstance(other, BagCounts):
            return NotImplemented
        same_labels(self.counts.given_labels, other.counts.given_labels, "given")
        same_labels(self.counts.outcome_labels, other.counts.outcome_labels, "outcome")
        if self.bags != other.bags or self.numbers is not None or other.numbers is not None:
            raise ValueError(f"counts of {self.bags} and of {other.bags} bags do not add up")
        mine, theirs = self.counts, other.counts
        if mine.spread is not None or theirs.spread is not None:
            mine, theirs = (replace(part.counts, spread=whole_spread(part.whole)) for part in (self, other))
        return BagCounts(self.bags, mine + theirs, add(self.agreeing, other.agreeing), self.soft or other.soft)


def shuffled_bags(bags: int, seed: int) -> Index:
    """The bags in another order, each half within itself."""
    rng = np.random.default_rng(np.random.SeedSequence([_DEALING, seed]))
    half = bags // 2
    return np.concatenate([rng.permutation(half), half + rng.permutation(half)])


def total(values: Count) -> Count:
    """Counts summed over the leading axis."""
    if isinstance(values, Fixed):
        return Fixed(*(part.sum(axis=0) for part in (values.whole, values.high, values.low)))
    return values.sum(axis=0)


def exact_floats(values: Count) -> Floats:
    """Counts as floats that products with small whole weights add up without rounding.

    Fractions are cut to as many bits as leave room for their sums: a product of matrices then gives the same to the
    bit in whatever order a machine adds.
    """
    if not isinstance(values, Fixed):
        return values.astype(np.float64)
    real = values.floats()
    largest = max(float(np.abs(real).sum(axis=0).max(initial=0.0)), 1.0)
    scale = 2.0 ** (48 - int(np.ceil(np.log2(largest))))
    return np.rint(real * scale) / scale


def sums_by(keys: Index, groups: int, values: NDArray[Any]) -> Count:
    """Sum the rows of ``values`` over the records of each key, exactly: whole numbers, or fractions in limbs."""
    from scipy.sparse import csr_array

    used, place = np.unique(keys, return_inverse=True)
    ones = np.ones(len(keys), dtype=np.float64)

    def summed(columns: NDArray[Any]) -> NDArray[np.int64]:
        out = np.zeros((groups, columns.shape[1]), dtype=np.int64)
        indicator = csr_array((ones, (place.reshape(-1), np.arange(len(keys)))), shape=(len(used), len(keys)))
        out[used] = (indicator @ columns.astype(np.float64)).astype(np.int64)
        return out

    if values.dtype.kind == "f":
        nothing = np.zeros((groups, values.shape[1]), dtype=np.int64)
        return Fixed(*(nothing if limb is None else summed(limb) for limb in limbs(values)))
    return summed(values)


def weighted(values: NDArray[Any], weights: NDArray[Any] | None, start: int, stop: int) -> NDArray[Any]:
    """The values of some records, times their weights where there are any."""
    return values if weights is None else values * weights[start:stop, None]


def held_in_bags(labels: LabelSet, bag: Index, start: int, stop: int, groups: int) -> tuple[Index, Index]:
    """Row and (bag, label) of every label held, and for every record a last label that all hold."""
    row, label = labels.nonzero(start, stop)
    here = bag[start:stop] * groups
    rows = np.concatenate([row, np.arange(stop - start)])
    return rows, np.concatenate([here[row] + label, here + groups - 1])


_Tables = tuple[Count, Count]


def _tables(evaluation: Evaluation, bag: Index, bags: int, accelerate: bool | None) -> _Tables:
    """Tables (bags, given labels and everyone, columns): of truth and one, and of predictions and both."""
    hard = not evaluation.predicted.soft
    if evaluation.truth.width > WIDE and hard:
        return _listed(evaluation, bag, bags)
    if hard and evaluation.weights is None and (find_spec("numba") is not None if accelerate is None else accelerate):
        return compiled_tables(evaluation, bag, bags)
    return _summed(evaluation, bag, bags)


def _summed(evaluation: Evaluation, bag: Index, bags: int) -> _Tables:
    """As matrix products, whatever the labels."""
    groups, width = evaluation.given.width + 1, evaluation.truth.width
    tables: list[Count | None] = [None, None]
    for start in range(0, len(evaluation), CHUNK):
        stop = min(start + CHUNK, len(evaluation))
        one, held = evaluation.truth.rows(start, stop), evaluation.predicted.rows(start, stop)
        rows, keys = held_in_bags(evaluation.given, bag, start, stop, groups)
        for i, columns in enumerate(([one, np.ones((stop - start, 1), dtype=one.dtype)], [held, one * held])):
            values = weighted(np.concatenate(columns, axis=1), evaluation.weights, start, stop)
            part, before = sums_by(keys, bags * groups, values[rows]), tables[i]
            tables[i] = part if before is None else add(before, part)
    return shaped(tables[0], bags, groups, width + 1), shaped(tables[1], bags, groups, 2 * width)


def compiled_tables(evaluation: Evaluation, bag: Index, bags: int) -> _Tables:
    """As :func:`_summed` for hard unweighted labels, in numba."""
    from .kernels.bagged import add_laid_out, add_listed

    given, groups, width = evaluation.given, evaluation.given.width + 1, evaluation.truth.width
    table = np.zeros((bags, groups, 3 * width + 1), dtype=np.int64)
    step = 1 << 17
    for start in range(0, len(evaluation), step):
        stop = min(start + step, len(evaluation))
        mine = bag[start:stop]
        # Records of one bag together, so that its counts stay in cache.
        order = np.argsort(mine.astype(np.uint16), kind="stable")
        one = np.ascontiguousarray(evaluation.truth.rows(start, stop))
        held = np.ascontiguousarray(evaluation.predicted.rows(start, stop))
        if len(given.blocks) == 1 and isinstance(given.blocks[0], Dense):
            add_laid_out(order, mine, np.ascontiguousarray(given.rows(start, stop)), one, held, table)
        else:
            row, label = given.nonzero(start, stop)
            ends = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=stop - start))])
            add_listed(order, mine, ends, label, one, held, table)
    return table[..., : width + 1], table[..., width + 1 :]


def _listed(evaluation: Evaluation, bag: Index, bags: int) -> _Tables:
    """As :func:`_summed` for many outcome labels of which a record has few."""
    groups, width = evaluation.given.width + 1, evaluation.truth.width
    shape = (bags * groups, width)
    table: Count | None = None
    for start in range(0, len(evaluation), 1 << 17):
        stop = min(start + (1 << 17), len(evaluation))
        weights = None if evaluation.weights is None else evaluation.weights[start:stop]
        rows, keys = held_in_bags(evaluation.given, bag, start, stop, groups)
        order = np.argsort(rows, kind="stable")
        left = rows[order], keys[order]
        one, held = evaluation.truth.nonzero(start, stop), evaluation.predicted.nonzero(start, stop)
        parts = [sparse.cross(left, side, shape, weights) for side in (one, held, sparse.both(one, held, width))]
        parts.insert(1, sparse.marginal(left, shape[0], weights)[:, None])
        part = concatenate(parts, axis=1)
        table = part if table is None else add(table, part)
    whole = shaped(table, bags, groups, 3 * width + 1)
    return whole[..., : width + 1], whole[..., width + 1 :]


def shaped(table: Count | None, *shape: int) -> Count:
    """Counts in another shape; zeros where nothing was counted."""
    if table is None:
        return np.zeros(shape, dtype=np.int64)
    if isinstance(table, Fixed):
        return Fixed(*(part.reshape(shape) for part in (table.whole, table.high, table.low)))
    return table.reshape(shape)


def _named(tables: _Tables, width: int) -> tuple[dict[str, Any], Count]:
    """The arrays of pair counts, and how often truth and prediction agree that a label holds."""
    true, said = tables
    arrays = {
        "n": true[:, -1:, -1:],
        "given": true[:, :-1, -1:],
        "truth": true[:, -1:, :-1],
        "predicted": said[:, -1:, :width],
        "joint_truth": true[:, :-1, :-1],
        "joint_predicted": said[:, :-1, :width],
        "joint_both": said[:, :-1, width:],
    }
    return arrays, total(said[:, -1, width:])


def _masked(evaluation: Evaluation, bag: Index, bags: int) -> tuple[dict[str, Any], Count]:
    """Records with a missing label are left out of that pair alone, so every pair has its own totals."""
    groups, width = evaluation.given.width, evaluation.truth.width
    sums: dict[tuple[int, int], Count] = {}
    agreeing: Count = np.zeros(width, dtype=np.int64)
    for start in range(0, len(evaluation), CHUNK):
        stop = min(start + CHUNK, len(evaluation))
        given, one, held, here, there = present_rows(evaluation, start, stop)
        for j, columns in enumerate(([there, one], [held, one * held])):
            values = weighted(np.concatenate(columns, axis=1), evaluation.weights, start, stop)
            for i, side in enumerate((here, given)):
                row, label = np.nonzero(side)
                part = sums_by(bag[start:stop][row] * groups + label, bags * groups, values[row])
                sums[i, j] = add(sums[i, j], part) if (i, j) in sums else part
            if j:
                agreeing = add(agreeing, total(sums_by(np.zeros(len(values), np.int64), 1, values[:, width:])))
    known, known_said, true, said = (
        shaped(sums.get(place), bags, groups, 2 * width) for place in ((0, 0), (0, 1), (1, 0), (1, 1))
    )
    arrays = {
        "n": known[..., :width],
        "given": true[..., :width],
        "truth": known[..., width:],
        "predicted": known_said[..., :width],
        "joint_truth": true[..., width:],
        "joint_predicted": said[..., :width],
        "joint_both": said[..., width:],
    }
    return arrays, agreeing
