"""Labels that are kept for later: yes/no labels as bits, an eighth of their size, until somebody asks for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from .label import Block, Dense
from .labelset import Evaluation, LabelSet


@dataclass(frozen=True, eq=False)
class _Bits:
    """A block of yes/no labels whose values are bits, in the order in which they lie in memory."""

    empty: Dense
    bits: NDArray[np.uint8]
    shape: tuple[int, int]
    by_label: bool

    @classmethod
    def of(cls, block: Dense) -> _Bits:
        by_label = block.values.flags.f_contiguous
        flat = (block.values.T if by_label else block.values).reshape(-1)
        there = None if block.there is None else block.there.copy()
        empty = replace(block, values=block.values[:0, :0], there=there)
        return cls(empty, np.packbits(flat), (block.values.shape[0], block.values.shape[1]), by_label)

    def unpacked(self) -> Dense:
        records, labels = self.shape
        flat = np.unpackbits(self.bits, count=records * labels)
        values = flat.reshape(labels, records).T if self.by_label else flat.reshape(records, labels)
        return replace(self.empty, values=values)


def _packed(block: Block) -> Block | _Bits:
    """A block as bits, or in arrays of its own where it is not of yes/no labels."""
    if isinstance(block, Dense) and block.values.dtype == np.uint8:
        return _Bits.of(block)
    return LabelSet((block,)).owned().blocks[0]


class PackedEvaluation:
    """The records of an evaluation in arrays of their own, which nobody else can change in place.

    >>> from biasamp.data import label_set, read_columns
    >>> read = lambda values: label_set(read_columns(values, "x"), "x")
    >>> truth = np.array([[1, 0], [0, 1]], dtype=np.uint8)
    >>> kept = PackedEvaluation(Evaluation(read(["a", "b"]), read(truth), read(truth)))
    >>> truth[:] = 0
    >>> kept.evaluation.truth.rows().tolist()
    [[1, 0], [0, 1]]
    """

    def __init__(self, evaluation: Evaluation) -> None:
        sides = evaluation.given, evaluation.truth, evaluation.predicted
        self._sides = [[_packed(block) for block in side.blocks] for side in sides]
        self._more = [
            None if held is None else held.copy() for held in (evaluation.weights, evaluation.ids, evaluation.clusters)
        ]

    @cached_property
    def evaluation(self) -> Evaluation:
        """The records."""
        given, truth, predicted = (
            LabelSet(tuple(block.unpacked() if isinstance(block, _Bits) else block for block in side))
            for side in self._sides
        )
        self._sides = []
        return Evaluation(given, truth, predicted, *self._more)
