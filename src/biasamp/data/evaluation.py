"""One evaluation in one direction: what is given, what is true, what the model predicted."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import NDArray

from .blocks import Index, Mask
from .keys import Keys, row_keys
from .labelset import LabelSet

# Sums of weights are kept as multiples of 2**-52 in 64-bit integers, and so are sums of their squares.
LEAST_TOTAL = 2.0**-20
MOST_SQUARES = 2.0**62


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The labels of one direction, in one label space, with weights and keys.

    ``truth`` may be None where the metric does not need it.
    """

    given: LabelSet
    truth: LabelSet
    predicted: LabelSet
    weights: NDArray[Any] | None = None
    ids: Keys | None = None
    clusters: Keys | None = None

    def __len__(self) -> int:
        return len(self.given)

    @property
    def missing(self) -> bool:
        """Whether any label of any record is missing."""
        return bool(self.given.missing or self.truth.missing or self.predicted.missing)

    @property
    def keys(self) -> Keys:
        """A key for each record: of its id, else of its row."""
        return row_keys(0, len(self)) if self.ids is None else self.ids

    @property
    def units(self) -> Keys:
        """What is resampled as one: the record, or the cluster it belongs to."""
        return self.keys if self.clusters is None else self.clusters

    def owned(self) -> Evaluation:
        """The same records in arrays of their own, which nobody else can change in place."""
        return replace(
            self,
            given=self.given.owned(),
            truth=self.truth.owned(),
            predicted=self.predicted.owned(),
            weights=None if self.weights is None else self.weights.copy(),
        )

    def take(self, records: Mask | Index) -> Evaluation:
        """Some of the records, which keep their keys."""
        return replace(
            self,
            given=self.given.take(records),
            truth=self.truth.take(records),
            predicted=self.predicted.take(records),
            weights=None if self.weights is None else self.weights[records],
            ids=self.keys[records],
            clusters=None if self.clusters is None else self.clusters[records],
        )
