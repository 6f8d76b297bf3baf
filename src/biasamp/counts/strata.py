"""Pair counts of every stratum by bag: they add up over records as those of all records do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation

from .bagging import bags_for
from .bags import BagCounts

Index = NDArray[np.int64]


def count_strata(evaluation: Evaluation, codes: Index, strata: int, bags: int | None = None) -> tuple[BagCounts, ...]:
    """The pair counts of the records of each stratum, by bag.

    Parameters
    ----------
    evaluation : Evaluation
        All records.
    codes : ndarray of shape (records,)
        The stratum of each record; records below 0 are in none.
    strata : int
        How many strata there are, whether records have them or not.
    bags : int, optional
        How many bags; by default as many as fit for all strata together.
    """
    bags = bags or bags_for(max(strata, 1) * evaluation.given.width * evaluation.truth.width)
    order = np.argsort(codes, kind="stable")
    edges = np.searchsorted(codes[order], np.arange(strata + 1))
    return tuple(BagCounts.from_labels(evaluation.take(order[edges[s] : edges[s + 1]]), bags) for s in range(strata))


def all_strata(held: Sequence[BagCounts]) -> BagCounts:
    """The counts of all strata together."""
    return reduce(add, held)
