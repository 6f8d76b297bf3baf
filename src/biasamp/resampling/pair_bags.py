"""The change of every pair by bag of records: what pairs the pairs of two models, from what an audit saves.

Two models on the same records have what one record adds in the same bag. Sums over bags of what both add then know how the
models go together, pair by pair, whole clusters included.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import fewer_bags
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.results.interval import plain

from .statistics_of_bags import residuals

Floats = NDArray[np.float64]

# As many bags as errors need, and as few as they can do with.
BAGS, FEWEST = 256, 64
# Numbers that an audit keeps of the pairs of one figure.
MOST_NUMBERS = 1 << 17


@dataclass(frozen=True, eq=False)
class PairBags:
    r"""What every bag adds to the change of each pair, :math:`\sum m / \sum s - a`.

    Attributes
    ----------
    given, outcome : tuple of str
        The labels.
    moved, size : ndarray of shape (bags, given, outcome) and (bags, given, 1 or outcome)
    against : ndarray of shape (given, outcome)
        What is taken from each ratio.
    sign : ndarray of shape (given, outcome)
        Which way amplification goes; 0 where there is no direction.
    unit : float
        What one record weighs.
    """

    given: tuple[str, ...]
    outcome: tuple[str, ...]
    moved: Floats
    size: Floats
    against: Floats
    sign: NDArray[np.int8]
    unit: float = 1.0

    @classmethod
    def of(cls, bags: BagCounts, sign: NDArray[np.int8], rates: Floats | None = None) -> PairBags | None:
        """The changes of counts by bag; None where they are too many to be kept."""
        counts = bags.whole
        pairs = len(counts.given_labels) * len(counts.outcome_labels)
        wanted = min(BAGS, bags.bags)
        while wanted * pairs > MOST_NUMBERS:
            wanted //= 2
        if not bags.resamplable or wanted < FEWEST:
            return None
        moved, size = residuals(bags, rates is None)
        size = size[..., :1] if bags.counts.given.shape[-1] == 1 else size
        numbers = fewer_bags(bags.numbers, bags.bags, wanted)
        n = float(floats(counts.n).max())
        return cls(
            tuple(str(label) for label in counts.given_labels),
            tuple(str(label) for label in counts.outcome_labels),
            _summed(moved, numbers, wanted),
            _summed(size, numbers, wanted),
            np.broadcast_to(0.0 if rates is None else rates, moved.shape[1:]),
            np.broadcast_to(sign, moved.shape[1:]),
            float(floats(counts.squared).max()) / n if n else 1.0,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values: the labels, and all numbers in the order of the arrays."""
        return {
            "given": list(self.given),
            "outcome": list(self.outcome),
            "bags": len(self.moved),
            "moved": _numbers(self.moved),
            "size": _numbers(self.size),
            "against": _numbers(self.against) if self.against.any() else [],
            "sign": [int(sign) for sign in self.sign.ravel()],
            "unit": plain(self.unit),
        }

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> PairBags:
        """What :meth:`to_dict` wrote."""
        given, outcome, bags = tuple(held["given"]), tuple(held["outcome"]), int(held["bags"])
        shape = (len(given), len(outcome))
        size = np.array(held["size"], dtype=np.float64).reshape(bags, len(given), -1)
        against = np.array(held["against"] or [0.0] * (shape[0] * shape[1]), dtype=np.float64)
        return cls(
            given,
            outcome,
            np.array(held["moved"], dtype=np.float64).reshape(bags, *shape),
            size,
            against.reshape(shape),
            np.array(held["sign"], dtype=np.int8).reshape(shape),
            float(held["unit"]),
        )

    def only(self, given: Sequence[str], outcome: Sequence[str]) -> PairBags:
        """The pairs of some of the labels, in an order."""
        if (self.given, self.outcome) == (tuple(given), tuple(outcome)):
            return self
        rows, columns = [self.given.index(g) for g in given], [self.outcome.index(o) for o in outcome]
        size = self.size[:, rows]
        return PairBags(
            tuple(given),
            tuple(outcome),
            self.moved[:, rows][:, :, columns],
            size if size.shape[2] == 1 else size[:, :, columns],
            self.against[np.ix_(rows, columns)],
            self.sign[np.ix_(rows, columns)],
            self.unit,
        )

    @property
    def filled(self) -> int:
        """How many bags hold records."""
        return int((self.size.sum(axis=(1, 2)) > 0).sum())

    @cached_property
    def total(self) -> Floats:
        """The size of every pair."""
        return np.broadcast_to(self.size.sum(axis=0), self.sign.shape)

    @cached_property
    def delta(self) -> Floats:
        """The change of every pair; NaN where no record has the given label."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.asarray(self.moved.sum(axis=0) / self.total - self.against)

    def influence(self) -> Floats:
        """How much every bag moves each change, of shape (bags, given, outcome)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            pulled = (self.moved - self.size * (self.delta + self.against)) / self.total
        return np.nan_to_num(pulled)

    @property
    def unseen(self) -> Floats:
        """The variance of one record more either way, which a change has though no record showed it (Bonett and Price)."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.nan_to_num((self.unit / self.total) ** 2)


def _summed(values: Floats, numbers: NDArray[np.int64], bags: int) -> Floats:
    out = np.zeros((bags, *values.shape[1:]))
    np.add.at(out, numbers, values)
    return out


def _numbers(values: Floats) -> list[Any]:
    """Numbers in a list; whole ones as integers, which are shorter."""
    flat = values.ravel()
    return [int(value) if value == int(value) else float(value) for value in flat.tolist()]
