"""How often what scores promise comes true, group by group and in ten bins of the score; the counts add up."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation
from biasamp.data.label import Mask

from .fixed import Count, add, concatenate
from .kernels.cross import sum_at
from .storage import Arrays, get_count, put_count

Index = NDArray[np.int64]

# Bins of equal width.
BINS = 10
_NAMES = ("n", "truth", "scores", "squared")


@dataclass(frozen=True, eq=False, repr=False)
class ReliabilityCounts:
    """Counts of every (given label, outcome label, bin).

    Attributes
    ----------
    n, truth, scores, squared : counts of shape (given labels, outcome labels, bins)
        Weights of the records, of those that have the outcome, of the scores, and squared weights.
    """

    n: Count
    truth: Count
    scores: Count
    squared: Count

    @classmethod
    def of_records(cls, evaluation: Evaluation) -> ReliabilityCounts:
        """Count records whose predictions are scores."""
        row, label = evaluation.given.nonzero()
        one, score = evaluation.truth.rows(), evaluation.predicted.rows()
        weights = None if evaluation.weights is None else evaluation.weights[row]
        squares = None if weights is None else weights.astype(np.float64) ** 2
        shape = (evaluation.given.width, BINS)
        parts: dict[str, list[Count]] = {name: [] for name in _NAMES}
        for k in range(score.shape[1]):
            held = score[row, k]
            places = label * BINS + np.minimum((held * BINS).astype(np.int64), BINS - 1)
            true = one[row, k] > 0
            parts["n"].append(sum_at(places, shape, weights))
            parts["truth"].append(sum_at(places[true], shape, None if weights is None else weights[true]))
            parts["scores"].append(
                sum_at(places, shape, held.astype(np.float64) if weights is None else held * weights)
            )
            parts["squared"].append(sum_at(places, shape, squares))
        return cls(*(concatenate([_wide(part) for part in parts[name]], axis=1) for name in _NAMES))

    def only(self, given: Mask, outcome: Mask) -> ReliabilityCounts:
        """The counts of some of the labels."""
        return replace(self, **{name: getattr(self, name)[given][:, outcome] for name in _NAMES})

    def __add__(self, other: ReliabilityCounts) -> ReliabilityCounts:
        if not isinstance(other, ReliabilityCounts):
            return NotImplemented
        return ReliabilityCounts(*(add(getattr(self, name), getattr(other, name)) for name in _NAMES))

    def put(self, arrays: Arrays) -> None:
        """Put the counts among named arrays."""
        for name in _NAMES:
            put_count(arrays, f"reliability//{name}", getattr(self, name))

    @classmethod
    def get(cls, arrays: Arrays) -> ReliabilityCounts:
        """The counts of named arrays."""
        return cls(*(get_count(arrays, f"reliability//{name}") for name in _NAMES))


def _wide(part: Count) -> Count:
    """A table of (given labels, bins) with an axis for the outcome between them."""
    return part[:, None, :]
