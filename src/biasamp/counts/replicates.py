"""The pair counts of many resamples of the records."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.labels import Evaluation, LabelSet

from .fixed import Count, Fixed, add, limbs
from .pair import PairCounts
from .resampling import poisson_weights

# Weights of so many records at once: a block of them stays in cache for the matrix product.
_CHUNK = 2048
# Labels that overlap are laid out as one column a pair, up to so many columns; beyond, label by label.
_MOST_COLUMNS = 2048


@dataclass(frozen=True, eq=False)
class ReplicateCounts:
    """Pair counts under ``resamples`` Poisson weightings of the records; they add up over records.

    ``counts`` is a :class:`PairCounts` whose arrays have a leading axis of resamples, so that the formulas
    of the metrics give one value a resample.
    """

    seed: int
    resamples: int
    counts: PairCounts

    @classmethod
    def from_labels(
        cls, evaluation: Evaluation, resamples: int = 1000, seed: int = 0, *, both: bool = False
    ) -> ReplicateCounts:
        """Count the pairs of an evaluation under each resample.

        Parameters
        ----------
        evaluation : Evaluation
            Labels without missing values, in one label space; its keys decide the weights.
        resamples, seed : int
            How many resamples, and their seed.
        both : bool
            Whether to count ``C(g, o and o_hat)`` too, which only parity needs.
        """
        given, truth, predicted = evaluation.given, evaluation.truth, evaluation.predicted
        width = truth.width
        sides = [truth, predicted]
        joint, right, left, n = _replicate(given, sides, evaluation, resamples, seed, both)
        empty: Count = np.zeros((resamples, given.width, width), dtype=np.int64)
        counts = PairCounts(
            given.labels,
            truth.labels,
            len(evaluation),
            n=n,
            given=left,
            truth=right[..., :width],
            predicted=right[..., width : 2 * width],
            joint_truth=joint[..., :width],
            joint_predicted=joint[..., width : 2 * width],
            joint_both=joint[..., 2 * width :] if both else empty,
            squared=np.array([len(evaluation)], dtype=np.int64),
        )
        return cls(seed, resamples, counts)

    def __add__(self, other: ReplicateCounts) -> ReplicateCounts:
        if not isinstance(other, ReplicateCounts):
            return NotImplemented
        if (self.seed, self.resamples) != (other.seed, other.resamples):
            raise ValueError(
                f"replicate counts of different resamples do not add up: seed {self.seed} and {self.resamples} "
                f"resamples against seed {other.seed} and {other.resamples}"
            )
        return replace(self, counts=self.counts + other.counts)


def _replicate(
    given: LabelSet, sides: list[LabelSet], evaluation: Evaluation, resamples: int, seed: int, both: bool
) -> tuple[Count, Count, Count, Count]:
    """Joint table, outcome marginals, given marginals and total of each resample."""
    width = sides[0].width
    columns = (3 if both else 2) * width + 1
    soft = sides[1].soft or (evaluation.weights is not None and evaluation.weights.dtype.kind == "f")
    joint = _zeros((resamples, given.width, columns), soft)
    marginal = _zeros((resamples, 1, columns), soft)
    units = evaluation.units
    for start in range(0, len(evaluation), _CHUNK):
        stop = min(start + _CHUNK, len(evaluation))
        one, held = sides[0].rows(start, stop), sides[1].rows(start, stop)
        parts = [one, held] + ([one * held] if both else []) + [np.ones((stop - start, 1), dtype=one.dtype)]
        values = np.concatenate(parts, axis=1)
        if evaluation.weights is not None:
            values = values * evaluation.weights[start:stop, None]
        row, label = given.nonzero(start, stop)
        weights = poisson_weights(units[start:stop], resamples, seed)
        joint, marginal = _add_chunk(joint, marginal, weights, values, row, label, given)
    return joint[..., :-1], marginal[..., :-1], joint[..., -1:], marginal[..., -1:]


def _zeros(shape: tuple[int, ...], soft: bool) -> Count:
    return Fixed.zeros(shape) if soft else np.zeros(shape, dtype=np.int64)


def _add_chunk(
    joint: Count,
    marginal: Count,
    weights: NDArray[np.uint8],
    values: NDArray[Any],
    row: NDArray[np.int64],
    label: NDArray[np.int64],
    given: LabelSet,
) -> tuple[Count, Count]:
    """Add one chunk: its records sorted by given label, a matrix product for each."""
    if isinstance(joint, Fixed) and isinstance(marginal, Fixed):
        nothing = np.zeros(joint.shape, np.int64), np.zeros(marginal.shape, np.int64)
        products = [
            nothing if limb is None else _products(weights, limb, row, label, given.width, np.float64)
            for limb in limbs(values.astype(np.float64))
        ]
        return joint + Fixed(*(part[0] for part in products)), marginal + Fixed(*(part[1] for part in products))
    exact = np.float32 if values.max(initial=0) <= 1 else np.float64
    inner, outer = _products(weights, values, row, label, given.width, exact)
    return add(joint, inner), add(marginal, outer)


def _products(
    weights: NDArray[np.uint8],
    values: NDArray[Any],
    row: NDArray[np.int64],
    label: NDArray[np.int64],
    groups: int,
    dtype: Any,
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    resamples, columns = len(weights), values.shape[1]
    joint = np.zeros((resamples, groups, columns), dtype=np.int64)
    values = values.astype(dtype)
    order = np.argsort(label, kind="stable")
    edges = np.searchsorted(label[order], np.arange(groups + 1))
    exclusive = len(row) == values.shape[0] and np.array_equal(row, np.arange(len(row)))
    if exclusive:  # one label a record: sort once, and the marginals are the sums
        weights, values, row = weights[:, order], values[order], np.arange(len(row))
        order = row
    floating = weights.astype(dtype)
    if not exclusive and groups * columns <= _MOST_COLUMNS:
        held = np.zeros((values.shape[0], groups), dtype=dtype)
        held[row, label] = 1
        outer = (held[:, :, None] * values[:, None, :]).reshape(values.shape[0], groups * columns)
        both = floating @ np.concatenate([outer, values], axis=1)
        whole = both.astype(np.int64)
        joint = whole[:, : groups * columns].reshape(resamples, groups, columns)
        return joint, whole[:, None, groups * columns :]
    for g in range(groups):
        if edges[g] == edges[g + 1]:
            continue
        if exclusive:
            mine = slice(edges[g], edges[g + 1])
            joint[:, g] = floating[:, mine] @ values[mine]
        else:
            chosen = row[order[edges[g] : edges[g + 1]]]
            joint[:, g] = floating[:, chosen] @ values[chosen]
    if exclusive:
        return joint, joint.sum(axis=1, keepdims=True)
    return joint, (floating @ values).astype(np.int64)[:, None, :]
