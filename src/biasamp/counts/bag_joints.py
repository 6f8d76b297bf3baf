"""Joint counts of two label sets, bag by bag: what MALS needs."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, LabelSet
from biasamp.data.keys import Keys

from .bags import (
    CHUNK,
    BagCounts,
    Index,
    bag_of,
    bag_weights,
    compiled_tables,
    exact_floats,
    held_in_bags,
    shaped,
    shuffled_bags,
    sums_by,
    total,
    weighted,
)
from .fixed import Count, add, concatenate, floats
from .joint import WIDE, JointCounts, squared_weights
from .kernels import sparse


def _joint_of(left: LabelSet, right: LabelSet, table: Count, weights: NDArray[Any] | None) -> JointCounts:
    """Joint counts from a table (bags, left labels and everyone, right labels and one)."""
    return JointCounts(
        left.labels,
        right.labels,
        len(left),
        n=table[:, -1:, -1:],
        left=table[:, :-1, -1:],
        right=table[:, -1:, :-1],
        joint=table[:, :-1, :-1],
        squared=squared_weights(weights, len(left)),
    )


def truth_joint(bags: BagCounts) -> JointCounts:
    """The joint counts of given and truth, bag by bag."""
    counts = bags.counts
    return JointCounts(
        counts.given_labels,
        counts.outcome_labels,
        counts.records,
        counts.n,
        counts.given,
        counts.truth,
        counts.joint_truth,
        counts.squared,
    )


def shuffled_joint(bags: JointCounts, seed: int) -> JointCounts:
    """The same joint counts with the bags in another order."""
    order = shuffled_bags(bags.n.shape[0], seed)
    arrays: dict[str, Any] = {name: getattr(bags, name)[order] for name in ("n", "left", "right", "joint")}
    return replace(bags, **arrays)


def whole_joint(bags: JointCounts) -> JointCounts:
    """The joint counts of all bags together."""
    arrays: dict[str, Any] = {name: total(getattr(bags, name)) for name in ("n", "left", "right", "joint")}
    return replace(bags, **arrays)


def resampled_joint(bags: JointCounts, resamples: int, seed: int) -> JointCounts:
    """The joint counts of every resample of the bags, with a leading axis of resamples."""
    count = len(floats(bags.n))
    weights = bag_weights(np.arange(count), count, resamples, seed)
    arrays: dict[str, Any] = {}
    for name in ("n", "left", "right", "joint"):
        values = exact_floats(getattr(bags, name))
        arrays[name] = (weights @ values.reshape(count, -1)).reshape(-1, *values.shape[1:])
    return replace(bags, **arrays)


def bag_joint(
    left: LabelSet, right: LabelSet, units: Keys, bags: int, weights: NDArray[Any] | None = None
) -> JointCounts:
    """Joint counts of two label sets, hard or soft, with a leading axis of bags; records without missing labels."""
    bag = bag_of(units, bags)
    width, other = left.width, right.width
    hard = not (left.soft or right.soft)
    if other > WIDE and hard:
        return _listed_joint(left, right, bag, bags, weights)
    if hard and weights is None and find_spec("numba") is not None:
        true, _ = compiled_tables(Evaluation(left, right, right), bag, bags)
        return _joint_of(left, right, true, weights)
    table: Count | None = None
    step = max(256, min(CHUNK, (1 << 22) // max(width * other, 1)))
    for start in range(0, len(left), step):
        stop = min(start + step, len(left))
        a, t = left.rows(start, stop), right.rows(start, stop)
        ones = np.ones((stop - start, 1), dtype=a.dtype)
        joint = (a[:, :, None] * t[:, None, :]).reshape(stop - start, -1)
        values = weighted(np.concatenate([joint, a, t, ones], axis=1), weights, start, stop)
        part = sums_by(bag[start:stop], bags, values)
        table = part if table is None else add(table, part)
    cells = width * other
    whole = shaped(table, bags, cells + width + other + 1)
    return JointCounts(
        left.labels,
        right.labels,
        len(left),
        n=shaped(whole[:, -1:], bags, 1, 1),
        left=shaped(whole[:, cells : cells + width], bags, width, 1),
        right=shaped(whole[:, cells + width : -1], bags, 1, other),
        joint=shaped(whole[:, :cells], bags, width, other),
        squared=squared_weights(weights, len(left)),
    )


def _listed_joint(left: LabelSet, right: LabelSet, bag: Index, bags: int, weights: NDArray[Any] | None) -> JointCounts:
    """As :func:`bag_joint` for many right labels of which a record has few."""
    groups = left.width + 1
    joint: Count | None = None
    size: Count | None = None
    for start in range(0, len(left), 1 << 17):
        stop = min(start + (1 << 17), len(left))
        own = None if weights is None else weights[start:stop]
        rows, keys = held_in_bags(left, bag, start, stop, groups)
        order = np.argsort(rows, kind="stable")
        mine = rows[order], keys[order]
        part = sparse.cross(mine, right.nonzero(start, stop), (bags * groups, right.width), own)
        many = sparse.marginal(mine, bags * groups, own)
        joint = part if joint is None else add(joint, part)
        size = many if size is None else add(size, many)
    parts = [shaped(joint, bags, groups, right.width), shaped(size, bags, groups, 1)]
    return _joint_of(left, right, concatenate(parts, axis=-1), weights)
