"""How often labels occur and are predicted: what the cautions look at, whatever an audit was made from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.data import Label

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Margins:
    """Totals of the outcome labels of one direction, over all records."""

    labels: tuple[Label, ...]
    exclusive: bool
    n: float
    truth: Floats
    predicted: Floats
    agreeing: Floats

    @classmethod
    def of_counts(cls, counts: PairCounts, agreeing: Floats, exclusive: bool) -> Margins:
        """From pair counts, and how often truth and prediction agree that a label holds."""
        truth, held = (floats(x).max(axis=0) for x in (counts.truth, counts.predicted))
        return cls(counts.outcome_labels, exclusive, float(floats(counts.n).max()), truth, held, agreeing)


class Audited(Protocol):
    """One protected attribute of an audit, as findings see it."""

    @property
    def attribute(self) -> str:
        """Its name."""

    @property
    def records(self) -> int:
        """How many records there are."""

    @property
    def predicts_attribute(self) -> bool:
        """Whether the model predicts the attribute."""

    @property
    def sizes(self) -> Mapping[str, tuple[tuple[Label, ...], NDArray[np.int64], bool]]:
        """Of ``"A"`` and ``"T"``: the labels, how many records have each, and whether a record has one at most."""

    def margins(self, direction: str) -> Margins | None:
        """Totals of the outcome labels; None where its predictions are not there."""
