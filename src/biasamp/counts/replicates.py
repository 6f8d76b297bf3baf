"""The pair counts of many resamples of the records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, LabelSet
from biasamp.data.keys import Keys

from .fixed import Count, Fixed, add, concatenate, limbs
from .joint import JointCounts
from .pair import PairCounts, drop_records
from .poisson import Drawing
from .scores import there, weighted_sums

# Weights of so many records at once: a block of them stays in cache for the matrix product.
_CHUNK = 2048
# Labels that overlap are laid out as one column a pair, up to so many columns; beyond, label by label.
_MOST_COLUMNS = 2048
# Where fewer of the columns than this are held, adding weights one by one beats a matrix product.
_WORTH_LISTING = 0.25


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
        cls,
        evaluation: Evaluation,
        resamples: int = 1000,
        seed: int = 0,
        *,
        both: bool = False,
        accelerate: bool | None = None,
    ) -> ReplicateCounts:
        """Count the pairs of an evaluation under each resample.

        Parameters
        ----------
        evaluation : Evaluation
            Labels in one label space; its keys decide the weights. A record with a missing label is left out
            of that pair alone, as in :class:`PairCounts`.
        resamples, seed : int
            How many resamples, and their seed.
        both : bool
            Whether to count ``C(g, o and o_hat)`` too, which only parity needs.
        accelerate : bool, optional
            Whether to use numba; by default where it is installed and pays.
        """
        evaluation = drop_records(evaluation)
        given, truth, predicted = evaluation.given, evaluation.truth, evaluation.predicted
        drawing = Drawing(resamples, seed, len(evaluation), accelerate)
        width = truth.width
        none: Count = np.zeros((resamples, given.width, width), dtype=np.int64)
        if given.missing or truth.missing or predicted.missing:
            arrays = _masked(evaluation, drawing, both)
        else:
            joint, right, left, n = _replicate(evaluation, drawing, both)
            arrays = {
                "n": n,
                "given": left,
                "truth": right[..., :width],
                "predicted": right[..., width : 2 * width],
                "joint_truth": joint[..., :width],
                "joint_predicted": joint[..., width : 2 * width],
                "joint_both": joint[..., 2 * width :] if both else none,
            }
        squared = np.array([len(evaluation)], dtype=np.int64)
        arrays.setdefault("joint_both", none)
        counts = PairCounts(given.labels, truth.labels, len(evaluation), squared=squared, **arrays)  # type: ignore[arg-type]
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

    def parts(self, size: int) -> Iterator[PairCounts]:
        """The counts of a few resamples at a time, so that formulas on them take little memory."""
        names = [field.name for field in fields(PairCounts) if field.name in _RESAMPLED]
        for start in range(0, self.resamples, size):
            some = slice(start, start + size)
            yield replace(self.counts, **{name: getattr(self.counts, name)[some] for name in names})


_RESAMPLED = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")


def _replicate(evaluation: Evaluation, drawing: Drawing, both: bool) -> tuple[Count, Count, Count, Count]:
    """Joint table, outcome marginals, given marginals and total of each resample."""
    given, truth, predicted, own = evaluation.given, evaluation.truth, evaluation.predicted, evaluation.weights
    columns = (3 if both else 2) * truth.width + 1
    soft = predicted.soft or (own is not None and own.dtype.kind == "f")
    joint = _zeros((drawing.resamples, given.width, columns), soft)
    marginal = _zeros((drawing.resamples, 1, columns), soft)
    units = evaluation.units
    for start in range(0, len(evaluation), _CHUNK):
        stop = min(start + _CHUNK, len(evaluation))
        one, held = truth.rows(start, stop), predicted.rows(start, stop)
        parts = [one, held] + ([one * held] if both else []) + [np.ones((stop - start, 1), dtype=one.dtype)]
        values = np.concatenate(parts, axis=1)
        if own is not None:
            values = values * own[start:stop, None]
        row, label = given.nonzero(start, stop)
        keys = units[start:stop]
        if len(row) == len(keys) and np.array_equal(row, np.arange(len(row))):
            # One label a record: sorted by it before weights are drawn, each label's records lie together.
            order = np.argsort(label, kind="stable")
            values, keys, label = values[order], keys[order], label[order]
        if drawing.compiled and not soft and own is None and values.mean() < _WORTH_LISTING:
            inner, outer = _held_sums(drawing.by_record(keys), values, row, label, given.width)
        else:
            inner, outer = _chunk_sums(drawing.weights(keys), values, row, label, given.width, soft)
        joint, marginal = add(joint, inner), add(marginal, outer)
    return joint[..., :-1], marginal[..., :-1], joint[..., -1:], marginal[..., -1:]


def _zeros(shape: tuple[int, ...], soft: bool) -> Count:
    return Fixed.zeros(shape) if soft else np.zeros(shape, dtype=np.int64)


def _held_sums(
    weights: NDArray[np.uint8], values: NDArray[Any], row: NDArray[np.int64], label: NDArray[np.int64], groups: int
) -> tuple[Count, Count]:
    """As :func:`_chunk_sums`, by adding weights for what each record holds."""
    from .kernels.compiled_draws import sums_of_held

    if len(row) == len(values) and np.array_equal(row, np.arange(len(row))):
        joint = sums_of_held(weights, row, label, values, groups)
        return joint, joint.sum(axis=1, keepdims=True, dtype=np.int64)
    everyone = np.arange(len(values))
    row, label = np.concatenate([row, everyone]), np.concatenate([label, np.full(len(values), groups)])
    total = sums_of_held(weights, row, label, values, groups + 1)
    return total[:, :groups], total[:, groups:]


def _chunk_sums(
    weights: NDArray[np.float32],
    values: NDArray[Any],
    row: NDArray[np.int64],
    label: NDArray[np.int64],
    groups: int,
    soft: bool,
) -> tuple[Count, Count]:
    if soft:
        wide = weights.astype(np.float64)
        columns = values.shape[1]
        nothing = np.zeros((len(weights), groups, columns), np.int64), np.zeros((len(weights), 1, columns), np.int64)
        sums = [
            nothing if limb is None else _products(wide, limb, row, label, groups)
            for limb in limbs(values.astype(np.float64))
        ]
        return Fixed(*(part[0] for part in sums)), Fixed(*(part[1] for part in sums))
    dtype = np.float32 if values.max(initial=0) <= 1 else np.float64
    return _products(weights.astype(dtype, copy=False), values.astype(dtype), row, label, groups)


def _products(
    weights: NDArray[Any], values: NDArray[Any], row: NDArray[np.int64], label: NDArray[np.int64], groups: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Weighted sums of the columns for every given label, and over all records."""
    resamples, columns = len(weights), values.shape[1]
    joint = np.zeros((resamples, groups, columns), dtype=np.int64)
    if len(row) == len(values) and np.array_equal(row, np.arange(len(row))) and (np.diff(label) >= 0).all():
        edges = np.searchsorted(label, np.arange(groups + 1))
        for g in np.flatnonzero(np.diff(edges)):
            mine = slice(edges[g], edges[g + 1])
            joint[:, g] = weights[:, mine] @ values[mine]
        return joint, joint.sum(axis=1, keepdims=True)
    if groups * columns <= _MOST_COLUMNS:
        held = np.zeros((len(values), groups), dtype=values.dtype)
        held[row, label] = 1
        outer = (held[:, :, None] * values[:, None, :]).reshape(len(values), groups * columns)
        whole = (weights @ np.concatenate([outer, values], axis=1)).astype(np.int64)
        return whole[:, : groups * columns].reshape(resamples, groups, columns), whole[:, None, groups * columns :]
    order = np.argsort(label, kind="stable")
    edges = np.searchsorted(label[order], np.arange(groups + 1))
    for g in np.flatnonzero(np.diff(edges)):
        chosen = row[order[edges[g] : edges[g + 1]]]
        joint[:, g] = weights[:, chosen] @ values[chosen]
    return joint, (weights @ values).astype(np.int64)[:, None, :]


def _masked(evaluation: Evaluation, drawing: Drawing, both: bool) -> dict[str, Count]:
    """Every pair has its own totals, over the records whose labels of that pair are known."""
    given, own = evaluation.given, evaluation.weights
    soft = evaluation.predicted.soft or (own is not None and own.dtype.kind == "f")
    width = evaluation.truth.width
    total: Count | None = None
    for start in range(0, len(evaluation), _CHUNK):
        stop = min(start + _CHUNK, len(evaluation))
        known = there(evaluation, start, stop).astype(np.uint8)
        one, held = evaluation.truth.rows(start, stop) * known, evaluation.predicted.rows(start, stop) * known
        present = given.present(start, stop)
        here = np.ones((stop - start, given.width), dtype=np.uint8) if present is None else present.astype(np.uint8)
        label = given.rows(start, stop) * here
        pairs = [(here, known), (label, known), (here, one), (here, held), (label, one), (label, held)]
        pairs += [(label, one * held)] if both else []
        weights = drawing.weights(evaluation.units[start:stop])
        tables = []
        for g in range(given.width):
            values = np.concatenate([left[:, g : g + 1] * right for left, right in pairs], axis=1)
            if own is not None:
                values = values * own[start:stop, None]
            tables.append(weighted_sums(weights, values.astype(np.float64) if soft else values))
        part = concatenate([table[:, None] for table in tables], axis=1)
        total = part if total is None else add(total, part)
    assert total is not None
    names = _RESAMPLED if both else _RESAMPLED[:-1]
    return {name: total[..., i * width : (i + 1) * width] for i, name in enumerate(names)}


def replicate_joints(
    tables: list[tuple[LabelSet, LabelSet]],
    units: Keys,
    weights: NDArray[Any] | None = None,
    resamples: int = 1000,
    seed: int = 0,
) -> list[JointCounts]:
    """Joint counts of several pairs of label sets of the same records under the same keyed resamples.

    The arrays of each have a leading axis of resamples. Records with a missing label are left out of that
    table, as in :class:`JointCounts`. Both sides may be soft.
    """
    drawing = Drawing(resamples, seed, len(units))
    sums: list[Count | None] = [None] * len(tables)
    known = [left.complete() & right.complete() for left, right in tables]
    real = weights is not None and weights.dtype.kind == "f"
    for start in range(0, len(units), _CHUNK):
        stop = min(start + _CHUNK, len(units))
        drawn = drawing.weights(units[start:stop])
        for i, (left, right) in enumerate(tables):
            a, t = left.rows(start, stop), right.rows(start, stop)
            joint = (a[:, :, None] * t[:, None, :]).reshape(stop - start, -1)
            values = np.concatenate([joint, a, t, np.ones((stop - start, 1), dtype=a.dtype)], axis=1)
            values = values * known[i][start:stop, None]
            if weights is not None:
                values = values * weights[start:stop, None]
            soft = real or left.soft or right.soft
            part = weighted_sums(drawn, values.astype(np.float64) if soft else values)
            before = sums[i]
            sums[i] = part if before is None else add(before, part)
    out = []
    for (left, right), total, mask in zip(tables, sums, known, strict=True):
        assert total is not None
        k, m = left.width, right.width
        table = _shaped(total[:, : k * m], (resamples, k, m))
        left_total = _shaped(total[:, k * m : k * m + k], (resamples, k, 1))
        right_total = _shaped(total[:, k * m + k : k * m + k + m], (resamples, 1, m))
        n = _shaped(total[:, -1:], (resamples, 1, 1))
        squared = np.array([int(mask.sum())], dtype=np.int64)
        out.append(JointCounts(left.labels, right.labels, int(mask.sum()), n, left_total, right_total, table, squared))
    return out


def _shaped(values: Count, shape: tuple[int, ...]) -> Count:
    if isinstance(values, Fixed):
        return Fixed(values.whole.reshape(shape), values.high.reshape(shape), values.low.reshape(shape))
    return values.reshape(shape)
