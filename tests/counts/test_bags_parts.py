"""Counts by bag: rows of bags that hold nothing, halves, resamples by hand, sums and what is told."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp.counts import bags as bags_module
from biasamp.counts.bagging import bag_of, bag_weights, shuffled_numbers
from biasamp.counts.bags import BagCounts, BagJoint, filled_rows, rows_at
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.tables import JOINT, PAIR
from evaluations import make, random_evaluation


def test_rows_that_weigh_nothing_are_left_out() -> None:
    numbers = np.array([1, 4, 6])
    n = np.array([2, 0, 3]).reshape(3, 1, 1)
    arrays = {"n": n, "given": np.arange(6).reshape(3, 2, 1)}
    kept, held = filled_rows(numbers, arrays)
    assert kept.tolist() == [1, 6]
    assert held["n"].ravel().tolist() == [2, 3]
    assert held["given"].tolist() == [[[0], [1]], [[4], [5]]]
    full = {"n": n + 1}
    assert filled_rows(numbers, full)[1] is full
    wide = {"n": np.array([[[0, 1]], [[0, 0]], [[1, 0]]])}
    assert filled_rows(numbers, wide)[0].tolist() == [1, 6]


def test_rows_at_their_places() -> None:
    values = np.array([[1, 2], [3, 4]])
    assert rows_at(values, np.array([0, 2]), 4).tolist() == [[1, 2], [0, 0], [3, 4], [0, 0]]
    assert rows_at(values, np.array([0, 1]), 2) is values
    fixed = rows_at(Fixed(values, values + 1, values + 2), np.array([1, 2]), 3)
    assert isinstance(fixed, Fixed)
    assert (fixed.whole.tolist(), fixed.low.tolist()) == ([[0, 0], [1, 2], [3, 4]], [[0, 0], [3, 4], [5, 6]])


@pytest.mark.parametrize("weights", ["none", "whole"])
def test_counts_by_bag(weights: str) -> None:
    e = random_evaluation(1, 60, 2, 3, weights=weights)
    held, bag = BagCounts.from_labels(e, 256), bag_of(e.units, 256)
    w = np.ones(60) if e.weights is None else e.weights
    assert held.numbers.tolist() == [number for number in range(256) if w[bag == number].sum()]
    assert floats(held.counts.n).ravel().tolist() == [w[bag == number].sum() for number in held.numbers]
    assert repr(held) == "<BagCounts of 60 records in 256 bags>"
    assert held.resamplable
    assert not BagCounts.from_labels(e, 128).resamplable
    assert BagCounts.from_labels(e).bags == 4096
    rows = held.in_rows(np.arange(256))
    back = BagCounts.of_rows(256, rows, held.agreeing, held.soft)
    assert back.numbers.tolist() == held.numbers.tolist()
    for name in PAIR:
        assert floats(getattr(back.counts, name)).tolist() == floats(getattr(held.counts, name)).tolist()
        assert floats(getattr(held.laid_out().counts, name)).tolist() == floats(getattr(held.counts, name)).tolist()
    moved, order = shuffled_numbers(held.numbers, 256, 9)
    turned = held.shuffled(9)
    assert turned.numbers.tolist() == moved.tolist()
    assert floats(turned.counts.joint_truth).tolist() == floats(held.counts.joint_truth)[order].tolist()
    # The upper half comes first.
    assert held.halves is not None
    first, second = held.halves
    assert (first.numbers >= 128).all()
    assert (second.numbers < 128).all()
    for name in PAIR:
        both = floats(getattr(first.whole, name)) + floats(getattr(second.whole, name))
        assert both.tolist() == floats(getattr(held.whole, name)).tolist()
    assert BagCounts.from_labels(e.take(np.flatnonzero(bag < 128)), 256).halves is None
    assert BagCounts.from_labels(e.take(np.flatnonzero(bag >= 128)), 256).halves is None
    bare = make([0], [[1]], [[1]])
    assert BagCounts.from_labels(bare, 256).halves is None


@pytest.mark.parametrize("block", [1 << 20, 6 * 3, 1])
def test_resamples_by_hand(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bags_module, "_BLOCK", block)
    e = random_evaluation(2, 80, 2, 3)
    held = BagCounts.from_labels(e, 256)
    weights = bag_weights(held.numbers, 256, 7, 5).astype(float)
    assert held.weights(7, 5).tolist() == weights.tolist()
    made = held.replicates(7, 5)
    sizes = [len(part.joint_both) for part in held.resampled(7, 5)]
    assert sizes == {1 << 20: [7], 18: [3, 3, 1], 1: [1] * 7}[block]
    for name in PAIR:
        expected = np.einsum("rb,bij->rij", weights, floats(getattr(held.counts, name)))
        assert np.asarray(getattr(made, name)).tolist() == expected.tolist()
    some = held.replicates(7, 5, ("n",))
    assert np.asarray(some.n).tolist() == np.asarray(made.n).tolist()
    assert np.asarray(some.given).tolist() == np.asarray(held.whole.given).tolist()
    joint = BagJoint.of_truth(held)
    drawn = joint.resampled(7, 5)
    for name in JOINT:
        expected = np.einsum("rb,bij->rij", weights, floats(getattr(joint.counts, name)))
        assert np.asarray(getattr(drawn, name)).tolist() == expected.tolist()


def test_sums_and_labels() -> None:
    e = random_evaluation(3, 70, 2, 3, weights="whole")
    parts = [e.take(part) for part in (np.arange(70) < 20, np.arange(70) >= 20)]
    whole = BagCounts.from_labels(e, 256)
    both = BagCounts.from_labels(parts[0], 256) + BagCounts.from_labels(parts[1], 256)
    assert both.numbers.tolist() == whole.numbers.tolist()
    for name in (*PAIR, "squared"):
        assert floats(getattr(both.counts, name)).tolist() == floats(getattr(whole.counts, name)).tolist()
    for one, two in zip(both.whole.moments(), whole.whole.moments(), strict=True):
        assert one.tolist() == two.tolist()
    assert floats(both.agreeing).tolist() == floats(whole.agreeing).tolist()
    with pytest.raises(ValueError, match="counts of 256 and of 512 bags do not add up"):
        _ = whole + BagCounts.from_labels(e, 512)
    assert whole.__add__(3) is NotImplemented  # type: ignore[operator]
    soft = BagCounts.from_labels(random_evaluation(3, 70, 2, 3, soft=True), 256)
    assert (whole + soft).soft
    assert (soft + whole).soft
    assert not both.soft
    everyone = np.ones(2, dtype=bool)
    assert whole.only(everyone, np.ones(3, dtype=bool)) is whole
    masks = [np.array([True, False, False]), np.array([False, True, True])]
    side = BagCounts.side_by_side([whole.only(everyone, mask) for mask in masks])
    for name in PAIR:
        assert floats(getattr(side.counts, name)).tolist() == floats(getattr(whole.counts, name)).tolist()
    assert floats(side.agreeing).tolist() == floats(whole.agreeing).tolist()
    joint = BagJoint.from_labels(e.given, e.truth, e.units, 256, e.weights)
    truth = BagJoint.of_truth(whole)
    assert joint.numbers.tolist() == truth.numbers.tolist()
    added = BagJoint.from_labels(
        parts[0].given, parts[0].truth, parts[0].units, 256, parts[0].weights
    ) + BagJoint.from_labels(parts[1].given, parts[1].truth, parts[1].units, 256, parts[1].weights)
    back = BagJoint.of_rows(joint.in_rows(np.arange(256)))
    for name in (*JOINT, "squared"):
        for other in (truth, added, back):
            assert floats(getattr(other.counts, name)).tolist() == floats(getattr(joint.counts, name)).tolist()
    assert joint.only(everyone, np.ones(3, dtype=bool)) is joint
    few = joint.only(np.array([True, False]), masks[1])
    assert floats(few.counts.joint).tolist() == floats(joint.counts.joint)[:, :1, 1:].tolist()
    assert joint.__add__(3) is NotImplemented  # type: ignore[operator]
