"""Replicate counts are the counts of the records weighed by hand."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from biasamp.counts.poisson import poisson_weights
from biasamp.counts.replicates import ReplicateCounts, replicate_joints
from biasamp.counts.scores import collapsed, collapsed_replicates, score_replicates

from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation
from biasamp.data.keys import record_keys
from evaluations import make, random_evaluation, read

TABLES = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")


def weighed(evaluation: Evaluation, weights: Any) -> PairCounts:
    own = 1 if evaluation.weights is None else evaluation.weights
    return PairCounts.from_labels(replace(evaluation, weights=weights.astype(np.int64) * own))


def check(evaluation: Evaluation, **options: Any) -> None:
    drawn = ReplicateCounts.from_labels(evaluation, 6, 11, both=True, **options)
    weights = poisson_weights(evaluation.units, 6, 11)
    for b in range(6):
        expected = weighed(evaluation, weights[b])
        for name in TABLES:
            mine, theirs = floats(getattr(drawn.counts, name)[b]), floats(getattr(expected, name))
            mine, theirs = np.broadcast_arrays(mine, theirs)
            assert mine == pytest.approx(theirs, rel=1e-12, abs=1e-9), name


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("overlapping", [False, True])
def test_every_resample_is_a_weighing(soft: bool, weights: str, overlapping: bool) -> None:
    check(random_evaluation(1, soft=soft, weights=weights, overlapping=overlapping))


def test_clusters_are_weighed_as_one() -> None:
    evaluation = random_evaluation(2)
    check(replace(evaluation, clusters=record_keys(np.arange(len(evaluation)) // 7)))


@pytest.mark.parametrize("soft", [False, True])
def test_a_record_with_a_missing_label_is_out_of_that_pair_alone(soft: bool) -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, (80, 3)).astype(float)
    predicted = rng.random((80, 3)) if soft else rng.integers(0, 2, (80, 3)).astype(float)
    truth[rng.random(truth.shape) < 0.1] = np.nan
    predicted[rng.random(truth.shape) < 0.1] = np.nan
    group = rng.integers(0, 2, (80, 2)).astype(float)
    check(make(rng.integers(0, 3, 80), truth, predicted))
    group[rng.random(group.shape) < 0.1] = np.nan
    evaluation = make(group, truth, predicted)
    check(evaluation)
    parts = [evaluation.take(np.arange(30)), evaluation.take(np.arange(30, 80))]
    summed = [ReplicateCounts.from_labels(part, 5, 2) for part in parts]
    together = summed[0] + summed[1]
    whole = ReplicateCounts.from_labels(evaluation, 5, 2)
    for name in TABLES:
        assert (floats(getattr(together.counts, name)) == floats(getattr(whole.counts, name))).all()


@pytest.mark.parametrize("soft", [False, True])
def test_order_and_batches_do_not_change_a_bit(soft: bool) -> None:
    evaluation = random_evaluation(3, n=5000, soft=soft, weights="real")
    evaluation = replace(evaluation, ids=evaluation.keys)
    order = np.random.default_rng(1).permutation(len(evaluation))
    whole = ReplicateCounts.from_labels(evaluation, 12, 4).counts
    moved = ReplicateCounts.from_labels(evaluation.take(order), 12, 4).counts
    factor = np.where(np.arange(whole.joint_truth[0].shape[1]) % 2, 1, -1) * np.ones((whole.joint_truth.shape[1], 1))
    factor = factor.astype(np.int8)
    for name in TABLES[:-1]:
        assert (floats(getattr(whole, name)) == floats(getattr(moved, name))).all()
    for one, two in zip(
        score_replicates(evaluation, factor, 12, 4),
        score_replicates(evaluation.take(order), factor, 12, 4),
        strict=True,
    ):
        assert (one == two).all()


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("overlapping", [False, True])
def test_scores_say_what_pair_counts_say(soft: bool, overlapping: bool) -> None:
    evaluation = random_evaluation(4, soft=soft, weights="real", overlapping=overlapping)
    counts = ReplicateCounts.from_labels(evaluation, 9, 5).counts
    rng = np.random.default_rng(6)
    factor = rng.integers(-1, 2, counts.joint_truth.shape[1:]).astype(np.int8)
    size, total = score_replicates(evaluation, factor, 9, 5)
    given = np.broadcast_to(floats(counts.given), counts.joint_truth.shape)[..., 0]
    assert size == pytest.approx(given)
    moved = factor * (floats(counts.joint_predicted) - floats(counts.joint_truth))
    assert total == pytest.approx(moved.sum(axis=2), abs=1e-9)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole"])
def test_compiled_counts_are_the_same(monkeypatch: pytest.MonkeyPatch, overlapping: bool, weights: str) -> None:
    pytest.importorskip("numba")
    import biasamp.counts.poisson as resampling

    evaluation = random_evaluation(9, n=3000, width=6, weights=weights, overlapping=overlapping)
    evaluation = replace(evaluation, truth=read((np.arange(18000) % 11 == 0).reshape(3000, 6).astype(int)))
    slow = ReplicateCounts.from_labels(evaluation, 10, 3, both=True, accelerate=False)
    fast = ReplicateCounts.from_labels(evaluation, 10, 3, both=True, accelerate=True)
    for name in TABLES:
        assert (floats(getattr(slow.counts, name)) == floats(getattr(fast.counts, name))).all()
    factor = np.random.default_rng(0).integers(-1, 2, slow.counts.joint_truth.shape[1:]).astype(np.int8)
    plain = score_replicates(evaluation, factor, 10, 3)
    monkeypatch.setattr(resampling, "_WORTH_COMPILING", 1)
    for one, two in zip(plain, score_replicates(evaluation, factor, 10, 3), strict=True):
        assert (one == two).all()


def test_collapsed_cells_by_hand() -> None:
    evaluation = make(
        ["f", "f", "m", "m", "m"], [[1, 0], [1, 0], [0, 0], [1, 1], [1, 1]], [[0, 1], [0, 1], [0, 0], [1, 1], [0, 0]]
    )
    factor = np.array([[-1, 1], [1, 1]], dtype=np.int8)
    cells = collapsed(evaluation, factor)
    assert cells is not None
    label, score, count = cells
    # Both women: -(0 - 1) + (1 - 0) = 2. Men: 0, 0 and -2.
    assert sorted(zip(label.tolist(), score.tolist(), count.tolist(), strict=True)) == [
        (0, 2, 2),
        (1, -2, 1),
        (1, 0, 2),
    ]
    size, total = collapsed_replicates(cells, 2, 500, 1)
    assert (size.sum(axis=1) == 5).all()
    assert (total[:, 0] == 2 * size[:, 0]).all()
    assert (total[:, 1] <= 0).all()


def test_what_does_not_collapse() -> None:
    factor = np.ones((3, 5), dtype=np.int8)
    assert collapsed(random_evaluation(1, soft=True), factor) is None
    assert collapsed(random_evaluation(1, weights="whole"), factor) is None
    assert collapsed(random_evaluation(1, overlapping=True), factor) is None
    evaluation = random_evaluation(1)
    assert collapsed(replace(evaluation, clusters=evaluation.keys), factor) is None


@pytest.mark.parametrize("soft", [False, True])
def test_joint_replicates_are_weighings(soft: bool) -> None:
    rng = np.random.default_rng(0)
    groups, tasks = read(rng.integers(0, 2, 60)), read(rng.integers(0, 2, (60, 3)))
    seen = read(rng.random((60, 3)) if soft else rng.integers(0, 2, (60, 3)), soft=True)
    keys = record_keys(np.arange(60))
    own = rng.random(60)
    drawn = replicate_joints([(groups, tasks), (groups, seen)], keys, own, 5, 8)
    weights = poisson_weights(keys, 5, 8)
    for table, (left, right) in zip(drawn, [(groups, tasks), (groups, seen)], strict=True):
        for b in range(5):
            expected = JointCounts.from_labels(left, right, weights[b] * own)
            for name in ("n", "left", "right", "joint"):
                assert floats(getattr(table, name)[b]) == pytest.approx(floats(getattr(expected, name)))
