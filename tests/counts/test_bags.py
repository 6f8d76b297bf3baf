"""Pair counts of bags of records: against counting one record at a time, and against the errors they must give."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from biasamp.counts.bagging import (
    addends,
    bag_of,
    bags_for,
    deal_out,
    exact_floats,
    fewer_bags,
    half_of,
    poisson_weights,
)
from biasamp.counts.bags import BagCounts, BagJoint
from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation, align, label_set, read_columns
from biasamp.data.keys import record_keys, row_keys
from evaluations import bits

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
    own = np.ones(len(records)) if records.weights is None else records.weights
    filled = np.unique(bag[own > 0])
    assert len(filled) > 200
    assert counted.numbers.tolist() == filled.tolist()
    for row in (0, 17, 130, len(filled) - 1):
        alone = PairCounts.from_labels(records.take(bag == filled[row]))
        part = replace(counted.counts, **{name: getattr(counted.counts, name)[row] for name in TABLES})
        same(part, alone)


@pytest.mark.parametrize("kind", KINDS)
def test_all_bags_together_are_the_pair_counts(kind: str) -> None:
    records = evaluation(kind)
    whole, expected = BagCounts.from_labels(records).whole, PairCounts.from_labels(records)
    same(whole, expected)
    assert (whole.spread is None) == (expected.spread is None)
    for a, b in zip(whole.spread or (), expected.spread or (), strict=True):
        assert (floats(a) == floats(b)).all()


@pytest.mark.slow(keep=1)
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
        assert total.numbers.tolist() == expected_here.numbers.tolist()
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
    joint = BagJoint.from_labels(records.given, one, records.units, 256)
    expected = JointCounts.from_labels(records.given, one)
    for name in ("n", "left", "right", "joint"):
        assert (floats(getattr(joint.whole, name)) == floats(getattr(expected, name))).all()


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
    weights = poisson_weights(row_keys(0, 256), 5, seed=3)[:, counted.numbers]
    assert (counted.weights(5, 3) == weights).all()
    drawn = counted.replicates(5, 3)
    for name in TABLES:
        values = floats(getattr(counted.counts, name))
        expected = np.stack([np.tensordot(weights[i].astype(float), values, axes=1) for i in range(5)])
        np.testing.assert_allclose(getattr(drawn, name), expected, rtol=1e-11, atol=1e-11)
    again = BagCounts.from_labels(records, 256).replicates(5, 3)
    assert all((getattr(drawn, name) == getattr(again, name)).all() for name in TABLES)


def test_cells_give_the_counts_of_their_records() -> None:
    """Cells that say how many records they hold, in which bag, count as those records do."""
    records = evaluation("hard", 5000)
    bag = bag_of(records.units, 256)
    held = np.column_stack([side.rows() for side in (records.given, records.truth, records.predicted)])
    cells, first, many = np.unique(np.column_stack([bag, held]), axis=0, return_index=True, return_counts=True)
    rows = replace(records.take(first), weights=many, ids=None)
    made = BagCounts.of_cells(rows, cells[:, 0].astype(np.int64), 256)
    expected = BagCounts.from_labels(records, 256)
    assert made.numbers.tolist() == expected.numbers.tolist()
    same(made.counts, expected.counts)
    assert made.whole.records == 5000
    assert made.whole.spread is None
    assert floats(made.counts.squared).item() == 5000


def test_cells_are_dealt_out_to_bags_like_records() -> None:
    counts = np.array([4000, 1, 250])
    cell, bag, dealt, bags = deal_out(counts)
    assert bags == 4096
    assert np.bincount(cell, dealt).tolist() == counts.tolist()
    assert (dealt > 0).all()
    # A cell of n records in as many bags: their squared sizes are those of a Poisson variable, 1 + n / bags.
    squares = (dealt[cell == 0] ** 2).sum() / 4000
    assert squares == pytest.approx(1 + 4000 / 4096, rel=0.1)
    again = deal_out(counts)
    assert all((one == two).all() for one, two in zip((cell, bag, dealt), again[:3], strict=True))


def test_saved_rows_come_back() -> None:
    """Counts are saved with a row for every bag; bags without records have no row when they are read."""
    for kind in KINDS:
        counted = BagCounts.from_labels(evaluation(kind, 40), 256)
        rows = counted.in_rows(np.arange(256))
        assert floats(rows.joint_truth).shape[0] == 256
        assert len(counted.numbers) < 60
        again = BagCounts.of_rows(256, rows, counted.agreeing, counted.soft)
        assert bits(again) == bits(counted)


@pytest.mark.parametrize("kind", ["hard", "all at once"])
def test_shuffled_bags_hold_the_same_counts_each_half_within_itself(kind: str) -> None:
    counted = BagCounts.from_labels(evaluation(kind), 256)
    moved = counted.shuffled(5)
    assert moved.numbers.tolist() == sorted(moved.numbers)
    assert moved.numbers.tolist() != counted.numbers.tolist()
    for one, two in zip((counted, *(counted.halves or ())), (moved, *(moved.halves or ())), strict=True):
        same(one.whole, two.whole)
        tables = [
            sorted(map(tuple, floats(bags.counts.joint_predicted).reshape(len(bags.numbers), -1)))
            for bags in (one, two)
        ]
        assert tables[0] == tables[1]
    assert bits(counted.shuffled(5)) == bits(moved)
    assert bits(counted.shuffled(6)) != bits(moved)


def test_fewer_bags_are_those_that_keys_give() -> None:
    keys = record_keys(np.arange(3000))
    for wanted in (4096, 1024, 256, 2):
        assert (fewer_bags(bag_of(keys, 4096), 4096, wanted) == bag_of(keys, wanted)).all()
    assert bag_of(keys, 256).max() < 256
    assert ((bag_of(keys, 256) >= 128) == half_of(keys)).all()


def test_clusters_fall_into_one_bag() -> None:
    records = replace(evaluation("hard", 60), clusters=record_keys(np.repeat(np.arange(20), 3)))
    assert (floats(BagCounts.from_labels(records, 4096).counts.n) % 3 == 0).all()


def test_fractions_are_cut_to_what_adds_up_without_rounding() -> None:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3000, 4)) * 1e3
    cut = addends(values, whole=False)
    assert cut == pytest.approx(values, abs=1e-6)
    weights = rng.integers(0, 8, (20, 3000)).astype(float)
    order = rng.permutation(3000)
    assert (weights @ cut == weights[:, order] @ cut[order]).all()
    whole = np.arange(12).reshape(3, 4)
    assert (exact_floats(whole) == whole).all()


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
