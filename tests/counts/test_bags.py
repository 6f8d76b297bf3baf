"""Pair counts of bags of records: against counting one record at a time, and against the errors they must give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from biasamp.counts.bagging import half_of, poisson_weights
from biasamp.counts.bags import BagCounts, bag_joint, bag_of, bags_for, resampled_joint, whole_joint
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation, align, label_set, read_columns
from biasamp.data.keys import row_keys

TABLES = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")
KINDS = ("hard", "soft", "real weights", "whole weights", "missing", "lists", "all at once")


def read(values: Any, soft: bool = False) -> Any:
    return label_set(read_columns(values, "x"), "x", soft=soft)


def evaluation(kind: str, n: int = 600, width: int = 4, seed: int = 0) -> Evaluation:
    rng = np.random.default_rng(seed)
    truth = (rng.random((n, width)) < 0.3).astype(float)
    said: Any = np.where(rng.random((n, width)) < 0.2, 1 - truth, truth)
    weights = None
    if kind in ("soft", "all at once"):
        said = 0.8 * said + 0.2 * rng.random((n, width))
    if kind in ("missing", "all at once"):
        truth = np.where(rng.random((n, width)) < 0.1, np.nan, truth)
    if kind in ("real weights", "all at once"):
        weights = rng.random(n) * 3
    if kind == "whole weights":
        weights = rng.integers(0, 5, n)
    given = read(rng.choice(["a", "b", "c"], n))
    if kind == "lists":
        given = read([[x for x in "abc" if rng.random() < 0.5] for _ in range(n)])
    one, two = align([read(truth), read(said, soft=True)], ["truth", "predicted"])
    return Evaluation(given, one, two, weights, row_keys(0, n))


def same(mine: Any, theirs: Any) -> None:
    for name in TABLES:
        a, b = floats(getattr(mine, name)), floats(getattr(theirs, name))
        assert (a == np.broadcast_to(b, np.broadcast_shapes(a.shape, b.shape))).all(), name


@pytest.mark.parametrize("accelerate", [False, None])
@pytest.mark.parametrize("kind", KINDS)
def test_every_bag_counts_its_own_records(kind: str, accelerate: bool | None) -> None:
    records = evaluation(kind)
    counted = BagCounts.from_labels(records, 256, accelerate=accelerate)
    bag = bag_of(records.units, 256)
    filled = np.unique(bag)
    assert len(filled) > 200
    for number in filled[[0, 17, 130, -1]]:
        mine = bag == number
        alone = PairCounts.from_labels(records.take(mine))
        part = replace(counted.counts, **{name: getattr(counted.counts, name)[number] for name in TABLES})
        same(part, alone)


@pytest.mark.parametrize("kind", KINDS)
def test_all_bags_together_are_the_pair_counts(kind: str) -> None:
    records = evaluation(kind)
    whole, expected = BagCounts.from_labels(records).whole, PairCounts.from_labels(records)
    same(whole, expected)
    assert (whole.spread is None) == (expected.spread is None)
    for a, b in zip(whole.spread or (), expected.spread or (), strict=True):
        assert (floats(a) == floats(b)).all()


@pytest.mark.parametrize("kind", KINDS)
def test_batches_add_up_to_the_bit(kind: str) -> None:
    records = evaluation(kind)
    expected = BagCounts.from_labels(records, 256)
    for step in (1, 7, 250):
        parts = [
            BagCounts.from_labels(records.take(np.arange(start, min(start + step, 600))), 256)
            for start in range(0, 600, step)
        ]
        if step == 1:
            parts = parts[:50]
            expected_here = BagCounts.from_labels(records.take(np.arange(50)), 256)
        else:
            expected_here = expected
        total = parts[-1]
        for part in parts[-2::-1]:
            total = total + part
        same(total.counts, expected_here.counts)
        assert (floats(total.agreeing) == floats(expected_here.agreeing)).all()
        for a, b in zip(total.counts.spread or (), expected_here.counts.spread or (), strict=True):
            assert (floats(a) == floats(b)).all()


def test_many_outcome_labels_are_listed() -> None:
    rng = np.random.default_rng(0)
    lists = [[f"l{i}" for i in rng.choice(900, 3, replace=False)] for _ in range(400)]
    said = [[f"l{i}" for i in rng.choice(900, 3, replace=False)] for _ in range(400)]
    one, two = align([read(lists), read(said)], ["truth", "predicted"])
    assert one.width > 512
    records = Evaluation(read(rng.choice(["a", "b"], 400)), one, two)
    counted = BagCounts.from_labels(records)
    same(counted.whole, PairCounts.from_labels(records))
    joint = bag_joint(records.given, one, records.units, 256)
    expected = JointCounts.from_labels(records.given, one)
    for name in ("n", "left", "right", "joint"):
        assert (floats(getattr(whole_joint(joint), name)) == floats(getattr(expected, name))).all()


def test_the_halves_are_those_of_records() -> None:
    records = evaluation("hard")
    halves = BagCounts.from_labels(records).halves
    assert halves is not None
    mask = half_of(records.units)
    for part, mine in zip(halves, (mask, ~mask), strict=True):
        same(part.whole, PairCounts.from_labels(records.take(mine)))


@pytest.mark.parametrize("kind", ["hard", "all at once"])
def test_a_resample_weighs_whole_bags(kind: str) -> None:
    records = evaluation(kind)
    counted = BagCounts.from_labels(records, 256)
    weights = poisson_weights(row_keys(0, 256), 5, seed=3)
    drawn = counted.replicates(5, 3)
    for name in TABLES:
        values = floats(getattr(counted.counts, name))
        expected = np.stack([np.tensordot(weights[i].astype(float), values, axes=1) for i in range(5)])
        np.testing.assert_allclose(getattr(drawn, name), expected, rtol=1e-11, atol=1e-11)
    again = BagCounts.from_labels(records, 256).replicates(5, 3)
    assert all((getattr(drawn, name) == getattr(again, name)).all() for name in TABLES)


def test_joint_counts_of_bags_may_be_soft_on_both_sides() -> None:
    rng = np.random.default_rng(1)
    left, right = rng.random((300, 2)), rng.random((300, 3))
    units, weights = row_keys(0, 300), rng.random(300)
    joint = bag_joint(read(left, soft=True), read(right, soft=True), units, 256, weights)
    expected = np.einsum("n,na,nt->at", weights, left, right)
    np.testing.assert_allclose(floats(whole_joint(joint).joint), expected, rtol=1e-12)
    drawn = resampled_joint(joint, 4, 0)
    own = poisson_weights(row_keys(0, 256), 4, seed=0)[:, bag_of(units, 256)]
    np.testing.assert_allclose(drawn.joint, np.einsum("bn,n,na,nt->bat", own, weights, left, right), rtol=1e-9)


def test_cells_give_the_counts_of_their_records() -> None:
    rng = np.random.default_rng(2)
    n = 5000
    g, t = rng.integers(0, 2, n), rng.integers(0, 2, n)
    p = np.where(rng.random(n) < 0.2, 1 - t, t)
    expected = PairCounts.from_labels(Evaluation(read(g), read(t), read(p)))
    cells, counts = np.unique(np.column_stack([g, t, p]), axis=0, return_counts=True)
    made = BagCounts.from_cells(*(read(cells[:, i]) for i in range(3)), counts)
    same(made.whole, expected)
    assert made.whole.records == n
    again = BagCounts.from_cells(*(read(cells[:, i]) for i in range(3)), counts)
    assert (made.counts.joint_both == again.counts.joint_both).all()


def test_bags_fit_in_memory() -> None:
    assert bags_for(1) == 4096
    for pairs in (100, 5000, 16_000, 10**6):
        bags = bags_for(pairs)
        assert bags == 2 or (bags >= 256 and bags * pairs <= 1 << 22)


def test_errors_of_bags_are_those_of_records() -> None:
    """The spread of a mean over resampled bags, against the textbook error of the mean."""
    rng = np.random.default_rng(5)
    n = 40_000
    t = rng.random(n) < 0.3
    p = np.where(rng.random(n) < 0.2, ~t, t)
    one, two = align([read(t.astype(int)), read(p.astype(int))], ["truth", "predicted"])
    counted = BagCounts.from_labels(Evaluation(read(np.zeros(n, int)), one, two))
    drawn = counted.replicates(2000, 0)
    means = (drawn.joint_predicted[:, 0, 1] - drawn.joint_truth[:, 0, 1]) / drawn.given[:, 0, 0]
    change = p.astype(float) - t
    expected = change.std() / np.sqrt(n)
    assert means.std() == pytest.approx(expected, rel=0.06)


def test_other_labels_do_not_add_up() -> None:
    a = BagCounts.from_labels(evaluation("hard"))
    b = BagCounts.from_labels(evaluation("hard", width=3))
    with pytest.raises(ValueError, match="outcome labels"):
        a + b
    with pytest.raises(ValueError, match="bags"):
        BagCounts.from_labels(evaluation("hard"), 256) + a
