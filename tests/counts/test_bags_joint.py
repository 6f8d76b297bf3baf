"""Joint counts of two label sets by bag, against sums over records."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts.bagging import bag_of, poisson_weights
from biasamp.counts.bags import BagCounts, BagJoint
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.data.keys import row_keys
from evaluations import bits, make, random_evaluation, read

UNITS = row_keys(0, 300)
PARTS = ("n", "left", "right", "joint")


def sides(soft: bool) -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    left, right = rng.random((300, 2)), rng.random((300, 3))
    return (left, right) if soft else ((left < 0.5).astype(int), (right < 0.3).astype(int))


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_every_bag_and_every_resample_by_a_loop(soft: bool, weighted: bool) -> None:
    left, right = sides(soft)
    weights = np.random.default_rng(2).random(300) if weighted else None
    own = np.ones(300) if weights is None else weights
    counted = BagJoint.from_labels(read(left, soft=True), read(right, soft=True), UNITS, 256, weights)
    bag = bag_of(UNITS, 256)
    assert counted.numbers.tolist() == sorted(set(bag.tolist()))
    for row in (0, 40, len(counted.numbers) - 1):
        mine = bag == counted.numbers[row]
        expected = np.einsum("n,na,nt->at", own[mine], left[mine], right[mine])
        assert floats(counted.counts.joint)[row] == pytest.approx(expected, rel=1e-12)
        assert floats(counted.counts.left)[row, :, 0] == pytest.approx(own[mine] @ left[mine], rel=1e-12)
        assert floats(counted.counts.right)[row, 0] == pytest.approx(own[mine] @ right[mine], rel=1e-12)
        assert floats(counted.counts.n)[row].item() == pytest.approx(own[mine].sum())
    drawn = counted.resampled(4, 0)
    each = poisson_weights(row_keys(0, 256), 4, seed=0)[:, bag]
    assert drawn.joint == pytest.approx(np.einsum("bn,n,na,nt->bat", each, own, left, right), rel=1e-9)
    assert drawn.n.ravel() == pytest.approx(each @ own, rel=1e-9)


@pytest.mark.parametrize("soft", [False, True])
def test_all_bags_together_are_the_joint_counts(soft: bool) -> None:
    left, right = (read(side, soft=True) for side in sides(soft))
    whole, expected = BagJoint.from_labels(left, right, UNITS, 256).whole, JointCounts.from_labels(left, right)
    for name in PARTS:
        assert floats(getattr(whole, name)) == pytest.approx(floats(getattr(expected, name)), rel=1e-12)


def test_the_truth_of_pair_counts_is_a_joint_count() -> None:
    left, right = sides(soft=False)
    records = make(left, right, right)
    mine = BagJoint.of_truth(BagCounts.from_labels(records, 256))
    theirs = BagJoint.from_labels(records.given, records.truth, records.units, 256)
    assert mine.numbers.tolist() == theirs.numbers.tolist()
    for name in PARTS:
        assert (getattr(mine.counts, name) == getattr(theirs.counts, name)).all()


def test_saved_rows_come_back_and_a_shuffle_keeps_the_whole() -> None:
    left, right = (read(side, soft=True) for side in sides(soft=True))
    counted = BagJoint.from_labels(left, right, UNITS, 4096)
    assert len(counted.numbers) <= 300
    assert bits(BagJoint.of_rows(counted.in_rows(np.arange(4096)))) == bits(counted)
    moved = counted.shuffled(3)
    for name in PARTS:
        assert (floats(getattr(moved.whole, name)) == floats(getattr(counted.whole, name))).all()
    upper = [floats(bags.counts.joint)[bags.numbers >= 2048].sum(axis=0) for bags in (counted, moved)]
    assert upper[0] == pytest.approx(upper[1], rel=1e-12)


def test_some_labels_of_either_side_are_those_counts() -> None:
    """Of all labels of one side and some of the other, as well as of some of both."""
    held = BagJoint.of_truth(BagCounts.from_labels(random_evaluation(1, n=200), 64))
    left, right = (np.ones(size, dtype=bool) for size in held.counts.joint.shape[-2:])
    for cut_left, cut_right in ((False, True), (True, False), (True, True), (False, False)):
        mine, theirs = left.copy(), right.copy()
        mine[0], theirs[0] = not cut_left, not cut_right
        found = held.only(mine, theirs).counts.joint
        np.testing.assert_array_equal(found, held.counts.joint[:, mine][:, :, theirs])
