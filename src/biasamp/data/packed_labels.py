"""Labels that are kept for later: yes/no labels as bits, an eighth of their size, until somebody asks for them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .label import Block, Dense
from .labelset import Evaluation, LabelSet


@dataclass(frozen=True, eq=False)
class _PackedBlock:
    """A block of yes/no labels whose values are bits, or another block in arrays of its own."""

    block: Block
    bits: NDArray[np.uint8] | None = None
    shape: tuple[int, ...] = ()
    order: Any = "C"

    @classmethod
    def of(cls, block: Block) -> _PackedBlock:
        if not isinstance(block, Dense) or block.values.dtype != np.uint8:
            return cls(LabelSet((block,)).owned().blocks[0])
        order = "F" if block.values.flags.f_contiguous else "C"
        there = None if block.there is None else block.there.copy()
        empty = replace(block, values=block.values[:0, :0], there=there)
        return cls(empty, np.packbits(block.values.reshape(-1, order=order)), block.values.shape, order)

    def unpacked(self) -> Block:
        if self.bits is None:
            return self.block
        flat = np.unpackbits(self.bits, count=int(np.prod(self.shape)))
        return replace(self.block, values=flat.reshape(self.shape, order=self.order))  # type: ignore[call-arg]


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
        self._sides = [[_PackedBlock.of(block) for block in side.blocks] for side in sides]
        self._more = [
            None if held is None else held.copy() for held in (evaluation.weights, evaluation.ids, evaluation.clusters)
        ]

    @cached_property
    def evaluation(self) -> Evaluation:
        """The records."""
        sides = [LabelSet(tuple(block.unpacked() for block in side)) for side in self._sides]
        self._sides = []
        return Evaluation(*sides, *self._more)  # type: ignore[arg-type]
