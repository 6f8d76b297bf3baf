"""Evaluations for tests of counts, and what it means that two counts are the same."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np

from biasamp.counts.bags import BagCounts, BagJoint
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.counts.signed_sums import SignedSums
from biasamp.data import Evaluation, LabelSet, align, label_set, read_columns


def read(data: Any, soft: bool = False, like: LabelSet | None = None) -> LabelSet:
    return label_set(read_columns(data, "data"), "data", soft=soft, like=like)


def make(given: Any, truth: Any, predicted: Any, weights: Any = None, ids: Any = None) -> Evaluation:
    """An evaluation of anything a user may hold."""
    t = read(truth)
    t, p = align([t, read(predicted, True, t)], ["truth", "predicted"])
    return Evaluation(read(given), t, p, None if weights is None else np.asarray(weights), ids)


def random_evaluation(
    seed: int,
    n: int = 200,
    groups: int = 3,
    width: int = 5,
    *,
    soft: bool = False,
    weights: str = "none",
    overlapping: bool = False,
) -> Evaluation:
    """Random labels, hard or soft, with no, whole or real weights."""
    rng = np.random.default_rng([5, seed])
    given = (rng.random((n, groups)) < 0.4).astype(np.uint8) if overlapping else rng.integers(0, groups, n)
    truth = (rng.random((n, width)) < 0.3).astype(np.uint8)
    predicted = rng.random((n, width)) if soft else (rng.random((n, width)) < 0.3).astype(np.uint8)
    w = {
        "none": None,
        "whole": rng.integers(0, 5, n),
        "real": rng.gamma(2.0, size=n),
        "large": 1e5 * rng.gamma(2.0, size=n),
    }
    return make(given, truth, predicted, w[weights])


def bits(count: Any) -> list[Any]:
    """Everything a count holds, in a form that is equal only when every bit is."""
    if isinstance(count, Fixed):
        return [count.shape, count.floats().tobytes()]
    if isinstance(count, np.ndarray):
        return [count.shape, count.dtype.str, count.tobytes()]
    if isinstance(count, ContingencyTable):
        sides = [(k, s.labels, s.combinations.tobytes()) for k, s in count.sides.items()]
        return [sides, *bits(count.cells), *bits(count.counts)]
    if isinstance(count, (PairCounts, JointCounts, BagCounts, BagJoint, SignedSums)):
        return [bits(getattr(count, field.name)) for field in fields(count)]
    if isinstance(count, tuple):
        return [bits(part) for part in count]
    return [count]


__all__ = ["bits", "floats", "make", "random_evaluation", "read"]
