"""Pair counts of bags of records: the one statistic that values, halves and resamples all follow from.

A record falls into one of a few thousand bags by its key. Counts of bags add up over batches, files and machines as
all counts do, and resampling whole bags is resampling records to first order: bags are random groups of records, so
that the squared sums of their influences have the mean that those of single records have, with a relative spread of
``sqrt(2 / bags)``. A resample then costs a product of small matrices, however many records there are.

Only bags that hold records have rows, so that sixty records cost sixty rows and not thousands.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation
from biasamp.data.keys import Keys, mix, row_keys

from .bag_tables import pair_tables_of_bags
from .fixed import Count, Fixed, add, concatenate, floats, total
from .joint import same_labels, squared_weights
from .pair import PairCounts, drop_records, pair_spread, whole_spread
from .poisson import half_of, poisson_weights

Index = NDArray[np.int64]
Floats = NDArray[np.float64]

# So many bags where they fit: errors estimated from them are off by about one percent.
MOST_BAGS = 4096
# Fewer bags than this say too little of an error; then only the two halves of the records are told apart.
FEWEST_BAGS = 256
HALVES = 2
# Cells of one table (bags x pairs), at most.
MOST_CELLS = 1 << 22
# Resampled counts that formulas see at a time; they make a dozen temporary arrays.
_BLOCK = 1 << 20
# The largest weight that a bag is drawn with.
_MOST_DRAWN = 8
_BAG = np.uint64(0x2545F4914F6CDD1D)
_DEALING = 0x5EED_0F_BA65
RESAMPLED = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")


def bags_for(pairs: int) -> int:
    """How many bags the counts of so many pairs are kept for: the most that fit, or just the two halves.

    >>> bags_for(160), bags_for(4096), bags_for(1_000_000)
    (4096, 1024, 2)
    """
    bags = MOST_BAGS
    while bags * pairs > MOST_CELLS:
        bags //= 2
    return bags if bags >= FEWEST_BAGS else HALVES


def bag_of(units: Keys, bags: int) -> Index:
    """The bag of each record; bags of the lower half hold one half of the records, the rest the other."""
    half = half_of(units).astype(np.int64) * (bags // 2)
    if bags == HALVES:
        return half
    bits = np.uint64(65 - bags.bit_length() + 1)
    return half + (mix(units ^ _BAG) >> bits).astype(np.int64)


def fewer_bags(numbers: Index, bags: int, wanted: int) -> Index:
    """The numbers of bags in a coarser cut: the bags that :func:`bag_of` gives for ``wanted`` bags.

    >>> from biasamp.data.keys import row_keys
    >>> keys = row_keys(0, 1000)
    >>> bool((fewer_bags(bag_of(keys, 4096), 4096, 256) == bag_of(keys, 256)).all())
    True
    """
    upper = numbers >= bags // 2
    shift = (bags // wanted).bit_length() - 1
    return ((numbers - upper * (bags // 2)) >> shift) + upper * (wanted // 2)


def occupied(bag: Index, bags: int) -> tuple[Index, Index]:
    """Which bags hold records, ascending, and for each record the place of its bag among them."""
    numbers = np.flatnonzero(np.bincount(bag, minlength=bags))
    place = np.zeros(bags, dtype=np.int64)
    place[numbers] = np.arange(len(numbers))
    return numbers, place[bag]


def filled_rows(numbers: Index, arrays: dict[str, Any]) -> tuple[Index, dict[str, Any]]:
    """The rows of bags that weigh anything: not those of records without weight, or without any known label."""
    filled = floats(arrays["n"]).any(axis=(1, 2))
    if filled.all():
        return numbers, arrays
    return numbers[filled], {name: values[filled] for name, values in arrays.items()}


def rows_at(values: Count, places: Index, size: int) -> Count:
    """``values`` as the rows ``places`` of ``size`` rows; the others are 0."""
    if isinstance(values, Fixed):
        return Fixed(*(rows_at(part, places, size) for part in (values.whole, values.high, values.low)))  # type: ignore[arg-type]
    if len(places) == size:
        return values
    out = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    out[places] = values
    return out


def bag_weights(numbers: Index, bags: int, resamples: int, seed: int) -> NDArray[np.float32]:
    """Poisson weights of shape (resamples, len(numbers)), which depend on the seed and each bag's number alone."""
    return _weights(numbers.tobytes(), bags, resamples, seed)


@lru_cache(maxsize=4)
def _weights(numbers: bytes, bags: int, resamples: int, seed: int) -> NDArray[np.float32]:
    """As :func:`bag_weights`; all figures of an audit are resampled with the same weights."""
    keys = row_keys(0, bags)[np.frombuffer(numbers, dtype=np.int64)]
    weights = poisson_weights(keys, resamples, seed).astype(np.float32)
    weights.setflags(write=False)
    return weights


def weighted_sums(weights: NDArray[np.float32], values: NDArray[Any]) -> Floats:
    """``weights @ values`` without rounding, where :func:`addends` made the values.

    Parameters
    ----------
    weights : ndarray of shape (resamples, rows)
        Whole numbers up to 8.
    values : ndarray of shape (rows, columns)
        float32 where all sums are whole numbers below ``2**24``, else float64.

    Returns
    -------
    ndarray of shape (resamples, columns)
    """
    return np.asarray(weights.astype(values.dtype, copy=False) @ values, dtype=np.float64)


@dataclass(frozen=True, eq=False, repr=False)
class BagCounts:
    """Pair counts of one direction, bag by bag; they add up over records.

    Attributes
    ----------
    bags : int
        Into how many bags the records fall.
    numbers : ndarray of shape (rows,)
        Which bags hold records, ascending.
    counts : PairCounts
        Its arrays have a leading axis of ``rows``, but for ``spread`` and ``squared``, which are of all records.
    agreeing : counts of shape (outcome labels,)
        ``C(o and o_hat)`` over all records, whatever their given labels.
    soft : bool
        Whether any prediction is a probability.
    """

    bags: int
    numbers: Index
    counts: PairCounts
    agreeing: Count
    soft: bool = False

    @classmethod
    def from_labels(
        cls,
        evaluation: Evaluation,
        bags: int | None = None,
        *,
        bag: Index | None = None,
        accelerate: bool | None = None,
    ) -> BagCounts:
        """Count the pairs of an evaluation, whose keys decide the bags.

        Parameters
        ----------
        evaluation : Evaluation
            Labels in one label space.
        bags : int, optional
            How many bags; by default as many as fit.
        bag : ndarray, optional
            The bag of each record where it is known already; then no label may be missing.
        accelerate : bool, optional
            Whether to use numba; by default where it is installed and pays.
        """
        bags = bags or bags_for(evaluation.given.width * evaluation.truth.width)
        if bag is None:
            evaluation = drop_records(evaluation)
            bag = bag_of(evaluation.units, bags)
        numbers, place = occupied(bag, bags)
        arrays, agreeing = pair_tables_of_bags(evaluation, place, len(numbers), accelerate)
        numbers, arrays = filled_rows(numbers, arrays)
        soft, weights = evaluation.predicted.soft, evaluation.weights
        whole = soft or weights is not None or evaluation.missing
        counts = PairCounts(
            evaluation.given.labels,
            evaluation.truth.labels,
            len(evaluation),
            squared=squared_weights(weights, len(evaluation)),
            spread=pair_spread(evaluation) if whole else None,
            **arrays,
        )
        return cls(bags, numbers, counts, agreeing, soft)

    @classmethod
    def of_cells(cls, evaluation: Evaluation, bag: Index, bags: int) -> BagCounts:
        """Counts of cells whose weights say how many records each of them holds, all of them in its ``bag``."""
        counted = cls.from_labels(evaluation, bags, bag=bag, accelerate=False)
        assert evaluation.weights is not None
        n = int(evaluation.weights.sum())
        return replace(
            counted, counts=replace(counted.counts, records=n, squared=np.array([n], dtype=np.int64), spread=None)
        )

    @classmethod
    def of_rows(cls, bags: int, counts: PairCounts, agreeing: Count, soft: bool) -> BagCounts:
        """Counts with a row for every bag, as they are saved."""
        arrays = {name: getattr(counts, name) for name in RESAMPLED}
        numbers, filled = filled_rows(np.arange(bags), arrays)
        return cls(bags, numbers, replace(counts, **filled), agreeing, soft)

    @classmethod
    def side_by_side(cls, parts: Sequence[BagCounts]) -> BagCounts:
        """The counts of the same records and given labels for several lots of outcome labels."""
        if len(parts) == 1:
            return parts[0]
        agreeing = concatenate([part.agreeing for part in parts])
        counts = PairCounts.side_by_side([part.counts for part in parts], [part.whole for part in parts])
        return replace(parts[0], counts=counts, agreeing=agreeing)

    @cached_property
    def whole(self) -> PairCounts:
        """The counts of all these bags together."""
        arrays: dict[str, Any] = {name: total(getattr(self.counts, name)) for name in RESAMPLED}
        return replace(self.counts, **arrays)

    @cached_property
    def halves(self) -> tuple[BagCounts, BagCounts] | None:
        """The two halves of the records, in the order in which signs are lent; None where one has no pair."""
        upper = self.numbers >= self.bags // 2
        first, second = self._some(upper), self._some(~upper)
        if all(floats(part.whole.given).any() for part in (first, second)):
            return first, second
        return None

    def _some(self, rows: NDArray[np.bool_]) -> BagCounts:
        arrays = {name: getattr(self.counts, name)[rows] for name in RESAMPLED}
        return replace(self, counts=replace(self.counts, **arrays, spread=None), numbers=self.numbers[rows])

    @property
    def resamplable(self) -> bool:
        """Whether there are enough bags to resample."""
        return self.bags >= FEWEST_BAGS

    def weights(self, resamples: int, seed: int) -> NDArray[np.float32]:
        """The weight of every bag in every resample, of shape (resamples, rows)."""
        return bag_weights(self.numbers, self.bags, resamples, seed)

    def resampled(self, resamples: int, seed: int, names: Sequence[str] = RESAMPLED) -> Iterator[PairCounts]:
        """The named counts of a few resamples at a time, with a leading axis of resamples; the others are of all."""
        weights = self.weights(resamples, seed)
        size = int(np.prod(self.counts.joint_truth.shape[1:]))
        step = max(1, _BLOCK // max(size, 1))
        columns = {name: exact_floats(getattr(self.counts, name)) for name in names}
        for start in range(0, resamples, step):
            drawn = weights[start : start + step]
            arrays: dict[str, Any] = {
                name: weighted_sums(drawn, values.reshape(len(values), -1)).reshape(-1, *values.shape[1:])
                for name, values in columns.items()
            }
            yield replace(self.whole, **arrays, spread=None)

    def replicates(self, resamples: int, seed: int, names: Sequence[str] = RESAMPLED) -> PairCounts:
        """The named counts of all resamples at once."""
        parts = list(self.resampled(resamples, seed, names))
        arrays: dict[str, Any] = {name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
        return replace(parts[0], **arrays)

    def shuffled(self, seed: int) -> BagCounts:
        """The same counts with the bags in another order."""
        numbers, rows = shuffled_numbers(self.numbers, self.bags, seed)
        arrays: dict[str, Any] = {name: getattr(self.counts, name)[rows] for name in RESAMPLED}
        return replace(self, numbers=numbers, counts=replace(self.counts, **arrays))

    def __repr__(self) -> str:
        return f"<BagCounts of {self.counts.records:,} records in {self.bags:,} bags>"

    def __add__(self, other: BagCounts) -> BagCounts:
        if not isinstance(other, BagCounts):
            return NotImplemented
        same_labels(self.counts.given_labels, other.counts.given_labels, "given")
        same_labels(self.counts.outcome_labels, other.counts.outcome_labels, "outcome")
        if self.bags != other.bags:
            raise ValueError(f"counts of {self.bags} and of {other.bags} bags do not add up")
        numbers = np.union1d(self.numbers, other.numbers)
        mine, theirs = (part.in_rows(numbers) for part in (self, other))
        if mine.spread is not None or theirs.spread is not None:
            mine, theirs = (
                replace(mine, spread=whole_spread(self.whole)),
                replace(theirs, spread=whole_spread(other.whole)),
            )
        return BagCounts(self.bags, numbers, mine + theirs, add(self.agreeing, other.agreeing), self.soft or other.soft)

    def in_rows(self, numbers: Index) -> PairCounts:
        """The counts with a row for each of these bags, among them all that hold records."""
        places = np.searchsorted(numbers, self.numbers)
        arrays: dict[str, Any] = {name: rows_at(getattr(self.counts, name), places, len(numbers)) for name in RESAMPLED}
        return replace(self.counts, **arrays)


def deal_out(counts: Index) -> tuple[Index, Index, Index, int]:
    """Cells that stand for several records alike, dealt out to bags at random.

    Records of a cell do not differ in anything but their keys, so that any dealing is as good as that by keys; it is
    the same for the same cells.

    Returns
    -------
    cell, bag, dealt : ndarray of shape (entries,)
        A cell, a bag, and how many records of the cell it holds.
    bags : int
    """
    bags = MOST_BAGS
    while bags > FEWEST_BAGS and np.minimum(counts, bags).sum() > MOST_CELLS:
        bags //= 2
    rng = np.random.default_rng(np.random.SeedSequence(_DEALING))
    cell, bag, dealt = [], [], []
    step = max(1, MOST_CELLS // bags)
    for start in range(0, len(counts), step):
        drawn = rng.multinomial(counts[start : start + step], np.full(bags, 1.0 / bags))
        row, column = np.nonzero(drawn)
        cell.append(row + start)
        bag.append(column)
        dealt.append(drawn[row, column])
    return np.concatenate(cell), np.concatenate(bag), np.concatenate(dealt), bags


def shuffled_numbers(numbers: Index, bags: int, seed: int) -> tuple[Index, Index]:
    """The new numbers of bags in another order, each half within itself, ascending, and the row of each of them."""
    rng = np.random.default_rng(np.random.SeedSequence([_DEALING, seed]))
    half = bags // 2
    order = np.concatenate([rng.permutation(half), half + rng.permutation(half)])
    place = np.empty(bags, dtype=np.int64)
    place[order] = np.arange(bags)
    moved = place[numbers]
    rows = np.argsort(moved)
    return moved[rows], rows


def exact_floats(values: Count) -> NDArray[Any]:
    """Counts of shape (rows, ...) as floats that products with small whole weights add up without rounding."""
    return addends(values.floats(), whole=False) if isinstance(values, Fixed) else addends(values, whole=True)


def addends(values: NDArray[Any], whole: bool) -> NDArray[Any]:
    """Numbers of shape (rows, ...) as floats whose weighted sums over rows are exact.

    Whole numbers are float32 where their sums stay below ``2**24``. Fractions are cut to as many bits as leave room
    for their sums: a product of matrices then gives the same to the bit in whatever order a machine adds.
    """
    largest = max(float(np.abs(values).sum(axis=0).max(initial=0.0)), 1.0)
    if whole:
        return values.astype(np.float32 if _MOST_DRAWN * largest < 1 << 24 else np.float64)
    scale = 2.0 ** (48 - int(np.ceil(np.log2(largest))))
    return np.asarray(np.rint(values * scale) / scale)
