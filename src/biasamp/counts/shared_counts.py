"""Counts of records that carry two identities, label by label, where there are any."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .cells import summed

Index = NDArray[np.int64]

# A cell's key: the pair above these bits, the label in them.
_LABEL_BITS = 32
_LABEL = (1 << _LABEL_BITS) - 1


@dataclass(frozen=True, eq=False)
class SharedCounts:
    """Counts of cells (pair of identities, label) that are not 0, in the order of their keys.

    A pair ``first < second`` of ``many`` identities has the number ``first * many + second``.
    """

    many: int
    keys: Index
    values: Index

    @classmethod
    def none(cls, many: int) -> SharedCounts:
        """No record with two identities."""
        return cls(many, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @classmethod
    def of_cells(cls, many: int, pair: Index, label: Index, values: Index) -> SharedCounts:
        """From cells in any order; those that are named twice are added up."""
        return cls(many, *summed((pair << _LABEL_BITS) | label, values))

    @property
    def pair(self) -> Index:
        """The pair of each cell."""
        return self.keys >> _LABEL_BITS

    @property
    def label(self) -> Index:
        """The label of each cell."""
        return self.keys & _LABEL

    def of_pair(self, first: int, second: int, labels: int) -> Index:
        """C(x1, x2, y) of every label."""
        first, second = min(first, second), max(first, second)
        low = (first * self.many + second) << _LABEL_BITS
        a, b = np.searchsorted(self.keys, [low, low + _LABEL])
        out = np.zeros(labels, dtype=np.int64)
        out[self.keys[a:b] & _LABEL] = self.values[a:b]
        return out

    def moved(self, target: Index) -> SharedCounts:
        """The same counts where label i is now label ``target[i]``; a target below 0 leaves it out."""
        label = target[self.label]
        kept = label >= 0
        return SharedCounts.of_cells(self.many, self.pair[kept], label[kept], self.values[kept])

    def __add__(self, other: SharedCounts) -> SharedCounts:
        return SharedCounts(
            self.many,
            *summed(np.concatenate([self.keys, other.keys]), np.concatenate([self.values, other.values])),
        )


def shared_of_patterns(many: int, masks: Index, pattern: Index, label: Index, values: Index) -> SharedCounts:
    """From counts of (set of identities, label).

    Parameters
    ----------
    masks : ndarray of shape (patterns,)
        The sets: bit k stands for identity k.
    pattern, label, values : ndarray of shape (cells,)
        How many records with the set ``masks[pattern]`` have the label.
    """
    bits = ((masks[:, None] >> np.arange(many)) & 1).astype(bool)
    size = bits.sum(axis=1)
    most = int(size.max(initial=0))
    # The identities of each set, one after another, as far as there are any.
    held = np.zeros((len(masks), most), dtype=np.int64)
    row, column = np.nonzero(bits)
    held[row, np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)] = column
    pairs: list[Index] = []
    labels: list[Index] = []
    sums: list[Index] = []
    for second in range(1, most):
        here = size[pattern] > second
        at, own, count = pattern[here], label[here], values[here]
        for first in range(second):
            pairs.append(held[at, first] * many + held[at, second])
            labels.append(own)
            sums.append(count)
    if not pairs:
        return SharedCounts.none(many)
    return SharedCounts.of_cells(many, np.concatenate(pairs), np.concatenate(labels), np.concatenate(sums))
