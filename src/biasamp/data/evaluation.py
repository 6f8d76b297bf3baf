"""One evaluation in one direction: what is given, what is true, what the model predicted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blocks import Block, Dense, Index, Mask
from .keys import Keys, row_keys
from .label import Variable, printable
from .labelset import LabelSet

_PLACES_SHOWN = 5
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
    def keys(self) -> Keys:
        """A key for each record: of its id, else of its row."""
        return row_keys(0, len(self)) if self.ids is None else self.ids

    @property
    def units(self) -> Keys:
        """What is resampled as one: the record, or the cluster it belongs to."""
        return self.keys if self.clusters is None else self.clusters

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


def same_length(sets: Mapping[str, Any]) -> int:
    """Check that all arguments describe the same records; return how many."""
    sizes = {name: len(value) for name, value in sets.items() if value is not None}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} has {size:,}" for name, size in sizes.items())
        raise ValueError(f"lengths differ: {shown} records; every argument must describe the same records in order")
    return next(iter(sizes.values()))


def weights_of(weights: Any, count: int) -> NDArray[Any] | None:
    """Check weights; whole numbers become integers, so that counting stays exact."""
    if weights is None:
        return None
    if hasattr(weights, "detach"):
        weights = weights.detach().cpu()
        if weights.is_floating_point():  # numpy does not know every float of a tensor
            weights = weights.double()
    try:
        values = np.asarray(weights)
        if values.dtype.kind not in "biu":
            values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"weights must be numbers, one per record: {error}") from None
    if values.ndim != 1 or len(values) != count:
        raise ValueError(f"weights has shape {values.shape}, but there are {count:,} records: one weight per record")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"weights must be finite and not negative: record {at} has {values[at]}")
    if not values.any():
        raise ValueError("weights are all 0: nothing would be counted")
    with np.errstate(over="ignore"):
        total, squares = float(values.sum(dtype=np.float64)), float((values.astype(np.float64) ** 2).sum())
    if not (total >= LEAST_TOTAL and squares <= MOST_SQUARES):
        raise ValueError(
            f"weights add up to {total:g}, and their squares to {squares:g}: too {'small' if total < 1 else 'large'} "
            "to be summed exactly. Multiply them all by one constant; only their ratios matter"
        )
    if values.dtype.kind == "f" and (values == np.rint(values)).all() and values.max() < 2**31:
        values = values.astype(np.int64)
    return values if values.dtype.kind == "f" else values.astype(np.int64)


def refuse_missing(sets: Mapping[str, LabelSet | None], hint: str = "") -> None:
    """Raise when a label is missing, saying how many and where."""
    for name, labels in sets.items():
        if labels is None or not labels.missing:
            continue
        records = np.flatnonzero(~labels.complete())
        named = [v.name for block in labels.blocks if block.missing for v in _lacking(block) if v.name]
        where = ", ".join(str(r) for r in records[:_PLACES_SHOWN]) + (", …" if len(records) > _PLACES_SHOWN else "")
        what = f" in {', '.join(printable(c, 40) for c in named[:_PLACES_SHOWN])}" if named else ""
        raise ValueError(
            f"{name} has {len(records):,} record{'s' if len(records) != 1 else ''} with missing labels{what} "
            f"(record {where}). {hint or 'Fill them in or leave those records out.'}"
        )


def _lacking(block: Block) -> tuple[Variable, ...]:
    """The variables of a block that have missing values."""
    if isinstance(block, Dense) and block.there is not None and len(block.variables) == block.width:
        return tuple(block.variables[i] for i in np.flatnonzero(~block.there.all(axis=0)))
    return block.variables
