"""How often what scores promise comes true, group by group and in ten bins of the score; the counts add up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

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
_EDGES = np.arange(BINS) / BINS
_NAMES = ("n", "truth", "scores", "squared")


def bins_of(scores: NDArray[Any]) -> Index:
    """The bin of each score; one of 1 is in the last.

    >>> bins_of(np.array([0.0, 0.1, 0.2999, 0.3, 1.0])).tolist()
    [0, 1, 2, 3, 9]
    """
    return np.minimum(np.searchsorted(_EDGES, scores, side="right") - 1, BINS - 1)


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
        rows, labels = evaluation.given.nonzero()
        one, score = evaluation.truth.rows(), evaluation.predicted.rows()
        known = evaluation.truth.present(0, len(one))
        weights = None if evaluation.weights is None else evaluation.weights
        shape = (evaluation.given.width, BINS)
        parts: dict[str, list[Count]] = {name: [] for name in _NAMES}
        for k in range(score.shape[1]):
            # A record whose truth is not known says nothing of the score.
            there = slice(None) if known is None else known[rows, k]
            row, label = rows[there], labels[there]
            held, true = score[row, k], one[row, k] > 0
            own = None if weights is None else weights[row]
            squares = None if own is None else own.astype(np.float64) ** 2
            places = label * BINS + bins_of(held)
            parts["n"].append(sum_at(places, shape, own))
            parts["truth"].append(sum_at(places[true], shape, None if own is None else own[true]))
            parts["scores"].append(sum_at(places, shape, held.astype(np.float64) if own is None else held * own))
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
