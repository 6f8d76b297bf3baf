"""How many records of each group score at or above 1,001 thresholds, with the outcome and without; the counts add up.

Scores themselves do not add up. Their counts between fixed thresholds do, and every figure at these thresholds follows
from them exactly.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, LabelSet
from biasamp.data.label import Mask

from .fixed import LIMB_BITS, Count, Fixed, add, floats, units_of
from .kernels.cross import sum_at
from .reliability import BINS, ReliabilityCounts
from .storage import Arrays, get_count, put_count

Index = NDArray[np.int64]

# The thresholds: 0, 0.001, ..., 1.
GRID: NDArray[np.float64] = np.arange(1001) / 1000.0
_STEPS = len(GRID) - 1
_EDGES = units_of(GRID)
_LIMB = (1 << LIMB_BITS) - 1
# Scores whose distances from their thresholds, each below a thousandth of ``2**52``, are sure to add up to less than ``2**64``.
MOST_STEPPED = 1 << 20
# Pairs of a given label and an outcome whose counts are kept; a table of more would not fit.
MOST_PAIRS = 2048


def place_on_grid(scores: NDArray[np.float64]) -> Index:
    """The last threshold of the grid that each score is at or above.

    >>> place_on_grid(np.array([0.0, 0.29, 0.5, 0.9999, 1.0])).tolist()
    [0, 290, 500, 999, 1000]
    """
    place = (scores * _STEPS).astype(np.int64)
    # A product may round up to a threshold; the comparison does not. Thresholds themselves have exact products.
    return place - (scores < GRID[place])


def by_threshold(scores: LabelSet) -> bool:
    """Whether thresholds decide: yes/no labels, or one 0/1 variable."""
    variables = scores.variables
    if all(variable.kind == "binary" for variable in variables):
        return True
    return len(variables) == 1 and set(variables[0].categories) == {"0", "1"}


@dataclass(frozen=True, eq=False, repr=False)
class ThresholdCounts:
    """Counts of every (given label, outcome, step of the grid, truth); the last given label is everyone.

    Attributes
    ----------
    held : counts of shape (given labels + 1, outcome labels, 1001, 2)
        Weights of the records whose score lies from a threshold to the next, without the outcome and with it.
    squared : counts of the same shape, optional
        Squared weights, where there are weights.
    """

    held: Count
    squared: Count | None = None

    def only(self, given: Mask, outcome: Mask) -> ThresholdCounts:
        """The counts of some of the labels."""
        keep = np.append(given, True)
        few = None if self.squared is None else self.squared[keep][:, outcome]
        return ThresholdCounts(self.held[keep][:, outcome], few)

    def above(self, label: int, power: int = 1) -> NDArray[np.float64]:
        """Weights (or squared ones) at or above each threshold and above all, of shape (given labels + 1, 1002, 2)."""
        counts = self.held if power == 1 or self.squared is None else self.squared
        part = counts[:, label]
        # Counts are summed as they are, so that no sum depends on the order of additions.
        summed = part.each(_from_above) if isinstance(part, Fixed) else _from_above(part)
        return floats(summed)

    def __add__(self, other: ThresholdCounts) -> ThresholdCounts:
        if not isinstance(other, ThresholdCounts):
            return NotImplemented
        squared = None
        if self.squared is not None and other.squared is not None:
            squared = add(self.squared, other.squared)
        return replace(self, held=add(self.held, other.held), squared=squared)

    def put(self, arrays: Arrays) -> None:
        """Put the counts among named arrays."""
        put_count(arrays, "thresholds//held", self.held)
        if self.squared is not None:
            put_count(arrays, "thresholds//squared", self.squared)

    @classmethod
    def get(cls, arrays: Arrays) -> ThresholdCounts | None:
        """The counts of named arrays, where there are any."""
        names = {name.split(".")[0] for name in arrays if name.startswith("thresholds//")}
        if not names:
            return None
        squared = get_count(arrays, "thresholds//squared") if "thresholds//squared" in names else None
        return cls(get_count(arrays, "thresholds//held"), squared)


def _from_above(part: Index) -> Index:
    out = np.zeros((part.shape[0], part.shape[1] + 1, part.shape[2]), dtype=np.int64)
    out[:, :-1] = part[:, ::-1].cumsum(axis=1)[:, ::-1]
    return out


def countable(given: LabelSet, scores: LabelSet) -> bool:
    """Whether scores are counted between thresholds: these decide, and pairs are not too many."""
    return binnable(given, scores) and by_threshold(scores)


def binnable(given: LabelSet, scores: LabelSet) -> bool:
    """Whether pairs are not too many for counts of each between thresholds."""
    return (given.width + 1) * scores.width <= MOST_PAIRS


def count_scores(evaluation: Evaluation) -> tuple[ThresholdCounts | None, ReliabilityCounts]:
    """Count records whose predictions are scores: between thresholds, where these decide, and whether they come true."""
    given, scores = evaluation.given, evaluation.predicted
    if not countable(given, scores):
        return None, ReliabilityCounts.of_records(evaluation)
    records, label = given.nonzero()
    each = given.exclusive and len(records) == len(given)
    if not each:
        records = np.concatenate([records, np.arange(len(given))])
        label = np.concatenate([label, np.full(len(given), given.width)])
    one, chances = evaluation.truth.rows(), scores.rows().astype(np.float64)
    known = _known(evaluation)
    if known is not None:
        chances = np.where(known, chances, 0.0)
    weights = None if evaluation.weights is None else evaluation.weights[records]
    lots: list[Any] = [weights]
    if weights is not None:
        lots.append(weights.astype(np.float64) ** 2)
    shape = given.width + 1, len(GRID) * 2
    found: list[list[Count]] = [[] for _ in lots]
    for k in range(scores.width):
        step = place_on_grid(chances[:, k]) * 2 + (one[:, k] > 0)
        places = label * shape[1] + step[records]
        there = slice(None) if known is None else known[records, k]
        for parts, weight in zip(found, lots, strict=True):
            parts.append(sum_at(places[there], shape, None if weight is None else weight[there]))
    tables = [_side_by_side(parts) for parts in found]
    if each:
        tables = [_with_everyone(table) for table in tables]
    return ThresholdCounts(*tables), ReliabilityCounts.of_records(evaluation)


def _known(evaluation: Evaluation) -> Mask | None:
    """Of which records truth and score of an outcome are known, of shape (records, outcome labels); None of all."""
    held = [present for side in (evaluation.truth, evaluation.predicted) if (present := side.present()) is not None]
    return np.logical_and.reduce(held) if held else None


@dataclass(frozen=True, eq=False)
class ScoreBins:
    """What :func:`count_scores` counts, for a loop in numba to fill.

    Attributes
    ----------
    steps : ndarray of int32 of shape (given labels + 1, outcome labels * 1001 * 2)
    sums : ndarray of shape (given labels + 1, outcome labels * 10, 2)
        Both limbs of scores in the bins of reliability.
    """

    steps: NDArray[np.int32]
    sums: Index

    @classmethod
    def zeros(cls, groups: int, width: int) -> ScoreBins:
        """Bins of nothing; ``groups`` is 0 where none are wanted."""
        steps = np.zeros((groups, width * len(GRID) * 2), dtype=np.int32)
        return cls(steps, np.zeros((groups, width * BINS, 2), dtype=np.int64))

    def nothing(self) -> tuple[NDArray[np.int32], Index]:
        """Empty counts and sums for :meth:`add`."""
        places = len(self.steps) * len(GRID)
        return np.zeros(2 * places, dtype=np.int32), np.zeros(places, dtype=np.int64)

    def add(self, place: int, steps: NDArray[np.int32], sums: Index) -> None:
        """Add records of one outcome, :data:`MOST_STEPPED` at most.

        Parameters
        ----------
        place : int
            Of the outcome.
        steps : ndarray of int32 of (given labels + 1, 1001, 2) counts
        sums : ndarray of (given labels + 1, 1001) sums of scores
            In units of ``2**-52``, modulo ``2**64``. A score is at least the threshold that its step begins with, and
            the rest is less than a thousandth: the rests of a step add up to less than ``2**64``, so that nothing is lost.
        """
        groups = len(self.steps)
        self.steps[:, place * 2 * len(GRID) : (place + 1) * 2 * len(GRID)] += steps.reshape(groups, 2 * len(GRID))
        n = steps.reshape(groups, len(GRID), 2).sum(axis=2, dtype=np.int64)
        rest = (sums.reshape(n.shape) - n * _EDGES).view(np.uint64)
        limbs = [
            n * (_EDGES >> LIMB_BITS) + (rest >> np.uint64(LIMB_BITS)).astype(np.int64),
            n * (_EDGES & _LIMB) + (rest & np.uint64(_LIMB)).astype(np.int64),
        ]
        for limb, part in enumerate(limbs):
            # The last step, a score of 1, belongs to the last bin.
            part[:, -2] += part[:, -1]
            binned = part[:, :-1].reshape(groups, BINS, _STEPS // BINS).sum(axis=2)
            self.sums[:, place * BINS : (place + 1) * BINS, limb] += binned

    def counts(self, everyone: bool) -> tuple[ThresholdCounts, ReliabilityCounts]:
        """The counts; ``everyone`` says whether the last row was filled, else it is the sum of the others."""
        groups, width = len(self.steps), self.sums.shape[1] // BINS
        counts = self.steps.astype(np.int64).reshape(groups, width, len(GRID), 2)
        if not everyone:
            counts[-1] = counts[:-1].sum(axis=0)
        # The last step, a score of 1, belongs to the last bin.
        mine = counts[:-1].copy()
        mine[:, :, -2] += mine[:, :, -1]
        binned = mine[:, :, :-1].reshape(groups - 1, width, BINS, _STEPS // BINS, 2).sum(axis=3)
        n, limbs = binned.sum(axis=-1), self.sums[:-1].reshape(groups - 1, width, BINS, 2)
        scores = Fixed(np.zeros_like(n), limbs[..., 0], limbs[..., 1])
        return ThresholdCounts(counts), ReliabilityCounts(n, binned[..., 1], scores, n)


def _side_by_side(parts: list[Count]) -> Count:
    """Tables of (given labels, steps and truth), one for each outcome, as one."""

    def stacked(tables: list[Index]) -> Index:
        return np.stack([table.reshape(len(table), len(GRID), 2) for table in tables], axis=1)

    whole = [part for part in parts if not isinstance(part, Fixed)]
    if len(whole) == len(parts):
        return stacked(whole)
    fixed = [part if isinstance(part, Fixed) else Fixed(part, part * 0, part * 0) for part in parts]
    return Fixed(*(stacked([getattr(part, limb) for part in fixed]) for limb in ("whole", "high", "low")))


def _with_everyone(table: Count) -> Count:
    """The table whose last row is the sum of the others."""
    if isinstance(table, Fixed):
        return table.each(lambda part: np.concatenate([part[:-1], part[:-1].sum(axis=0, keepdims=True)]))
    return np.concatenate([table[:-1], table[:-1].sum(axis=0, keepdims=True)])
