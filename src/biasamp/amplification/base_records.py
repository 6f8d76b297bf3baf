"""Records of a base: which of their labels go together decides how far sums of base rates may be off."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.joint import JointCounts, drop_missing_records
from biasamp.data import LabelSet
from biasamp.data.label import Mask

Floats = NDArray[np.float64]

# Records that are looked at in one go.
_ROWS = 1 << 15
# Factors are cut to so many bits: sums of them over labels do not depend on their order.
_BITS = 36


@dataclass(frozen=True, eq=False)
class BaseRecords:
    """Given labels and outcomes of the records of a base in arrays of their own, a pair for each stratum."""

    strata: tuple[tuple[LabelSet, LabelSet], ...]

    @classmethod
    def of(cls, given: LabelSet, outcome: LabelSet, strata: Sequence[Mask] | None = None) -> BaseRecords:
        """Keep the complete records; ``strata`` says which are in each stratum, where there are any."""
        if strata is None:
            given, outcome, _ = drop_missing_records(given, outcome, None)
            return cls(((given.owned(), outcome.owned()),))
        complete = given.complete() & outcome.complete()
        return cls(tuple((given.take(mine & complete), outcome.take(mine & complete)) for mine in strata))

    def __getitem__(self, place: int) -> BaseRecords:
        """The records of one stratum."""
        return BaseRecords((self.strata[place],))

    def only(self, given: Mask, outcome: Mask) -> BaseRecords:
        """The same records with some of the labels."""
        return BaseRecords(tuple((left.only(given), right.only(outcome)) for left, right in self.strata))

    def joint(self) -> JointCounts:
        """The joint counts of all records."""
        assert len(self.strata) == 1
        return JointCounts.from_labels(*self.strata[0])

    def squares(self, each: Floats, once: Floats) -> float:
        """The sum over records of squares: of ``once`` and of ``each`` of its outcomes, added up over its given labels.

        Parameters
        ----------
        each : ndarray of shape (strata, given labels, outcome labels)
        once : ndarray of shape (strata, given labels)
        """
        largest = float(np.abs(each).max(initial=0.0))
        scale = 2.0 ** (_BITS - np.ceil(np.log2(largest))) if largest else 1.0
        factors = np.rint(each * scale)
        total = 0.0
        for (given, outcome), mine, own in zip(self.strata, factors, once * scale, strict=True):
            for start in range(0, len(given), _ROWS):
                held = outcome.rows(start, start + _ROWS) @ mine.T + own
                total += float((np.sum(held * given.rows(start, start + _ROWS), axis=1) ** 2).sum())
        return total / scale**2
