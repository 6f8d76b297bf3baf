"""Signed sums of blocks of outcome labels, of rows that stand for several records, and of some pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts import signed_sums
from biasamp.counts.bagging import MOST_BAGS, bag_of
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.signed_sums import Block, Pull, SecondLook, SignedSums, look_at
from biasamp.counts.tables import PAIR
from biasamp.data import Evaluation
from evaluations import make, random_evaluation

NONE = np.zeros(0, dtype=np.int64)


def pull(e: Evaluation, against_truth: bool = True, scale: float = 1.0) -> Pull:
    rng = np.random.default_rng(3)
    shape = (2, e.given.width, e.truth.width)
    return Pull(scale * rng.integers(-8, 9, shape) / 8.0, rng.integers(-8, 9, shape) / 8.0, against_truth)


def by_record(e: Evaluation, bag: Any, bags: int, asked: Pull) -> Any:
    g, t, p = (side.rows().astype(float) for side in (e.given, e.truth, e.predicted))
    known = np.ones(t.shape, dtype=bool)
    for labels in (e.truth, e.predicted):
        there = labels.present()
        known &= True if there is None else there
    w = np.ones(len(e)) if e.weights is None else e.weights
    out = np.zeros(bags)
    for i in range(len(e)):
        side = int(bag[i] >= bags // 2)
        change = p[i] - t[i] if asked.against_truth else p[i]
        out[bag[i]] += w[i] * (g[i][:, None] * asked.each[side] * (change - asked.centre[side]) * known[i]).sum()
    return out


@pytest.mark.parametrize("groups, width", [(2, 5), (6, 2), (3, 3)])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole"])
def test_sums_by_bag(groups: int, width: int, soft: bool, weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # 64 records at a time.
    monkeypatch.setattr(signed_sums, "_CELLS", 1)
    e = random_evaluation(1, 150, groups, width, soft=soft, weights=weights, overlapping=True)
    pulls = pull(e), pull(e, False), pull(e, scale=0.0)
    found = Block(e).look(SecondLook(pulls, NONE, NONE))
    bag = bag_of(e.units, MOST_BAGS)
    assert found.filled.tolist() == np.bincount(bag, minlength=MOST_BAGS).tolist()
    assert found.few is None
    assert found.sums.shape == (3, MOST_BAGS)
    for sums, asked in zip(found.sums, pulls, strict=True):
        np.testing.assert_allclose(sums / asked.steps, by_record(e, bag, MOST_BAGS, asked), atol=1e-8)
    # The largest influence that one group can have is 2**40 steps.
    largest = np.abs(pulls[0].each).sum(axis=-1).max()
    assert pulls[0].steps == 2.0**40 / largest
    assert pulls[2].steps == 1.0


def test_labels_in_several_blocks() -> None:
    e = random_evaluation(2, 120, 3, 6)
    asked = SecondLook((pull(e), pull(e, False)), np.array([0, 2]), np.array([1, 3, 4]))
    whole = look_at([Block(e)], asked)
    everyone = np.ones(3, dtype=bool)
    cuts = [np.arange(6) < 2, (np.arange(6) >= 2) & (np.arange(6) < 4), np.arange(6) >= 4]
    parts = look_at([Block(e.only(everyone, cut)) for cut in cuts], asked)
    assert parts.filled.tolist() == whole.filled.tolist()
    for one, two, own in zip(parts.sums, whole.sums, asked.pulls, strict=True):
        # Rounded to steps in each block.
        assert np.abs(one - two).max() <= 200
        assert own.steps > 1e9
    assert whole.few is not None
    assert parts.few is not None
    expected = BagCounts.from_labels(
        e.only(np.array([True, False, True]), np.array([False, True, False, True, True, False]))
    )
    for held in (whole.few, parts.few):
        assert held.bags == expected.bags
        for name in PAIR:
            assert floats(getattr(held.counts, name)).tolist() == floats(getattr(expected.counts, name)).tolist()
    nothing = look_at([], asked)
    assert (len(nothing.filled), len(nothing.sums), nothing.few) == (0, 0, None)
    assert Block(e).look(SecondLook(asked.pulls, NONE, np.array([1]))).few is None
    assert Block(e).look(SecondLook(asked.pulls, np.array([1]), NONE)).few is None


def test_sums_add_up() -> None:
    e = random_evaluation(3, 100, 2, 3)
    asked = SecondLook((pull(e),), np.array([0]), np.array([1]))
    halves = [Block(e.take(part)).look(asked) for part in (np.arange(100) < 40, np.arange(100) >= 40)]
    both, whole = halves[0] + halves[1], Block(e).look(asked)
    assert both.filled.tolist() == whole.filled.tolist()
    assert both.sums.tolist() == whole.sums.tolist()
    assert both.few is not None
    assert whole.few is not None
    assert floats(both.few.whole.joint_both).tolist() == floats(whole.few.whole.joint_both).tolist()
    bare = SignedSums(halves[1].filled, halves[1].sums, None)
    assert (halves[0] + bare).few is halves[0].few
    assert (bare + halves[0]).few is halves[0].few
    assert (bare + bare).few is None


def test_rows_that_stand_for_several_records() -> None:
    e = random_evaluation(4, 60, 2, 3, weights="whole")
    bag = np.arange(60) % 16
    block = Block(e, bag, 16)
    asked = SecondLook((pull(e),), np.array([1]), np.array([0, 2]))
    found = block.look(asked)
    np.testing.assert_allclose(found.sums[0] / asked.pulls[0].steps, by_record(e, bag, 16, asked.pulls[0]), atol=1e-8)
    assert found.filled.tolist() == np.bincount(bag, minlength=16).tolist()
    counts = block.pair_counts()
    plain = PairCounts.from_labels(e)
    for name in PAIR:
        assert floats(getattr(counts, name)).tolist() == floats(getattr(plain, name)).tolist()
    assert counts.records == int(e.weights.sum())  # type: ignore[union-attr]
    assert floats(Block(e).pair_counts().joint_both).tolist() == floats(plain.joint_both).tolist()
    fewer = block.counted(4)
    assert fewer.bags == 4
    assert floats(fewer.counts.n).ravel().tolist() == np.bincount(bag >> 2, e.weights, minlength=4).tolist()
    assert Block(e).counted(256).bags == 256


@pytest.mark.parametrize("side", ["truth", "predicted", "both"])
def test_gaps_count_for_nothing(side: str) -> None:
    rng = np.random.default_rng(5)
    truth, said = rng.integers(0, 2, (2, 80, 3)).astype(float)
    for values, name in ((truth, "truth"), (said, "predicted")):
        if side in (name, "both"):
            values[rng.random(values.shape) < 0.25] = np.nan
    e = make(rng.integers(0, 2, 80), truth, said)
    bag = bag_of(e.units, MOST_BAGS)
    asked = SecondLook((pull(e), pull(e, False)), np.array([0, 1]), np.array([0, 2]))
    found = Block(e).look(asked)
    for sums, own in zip(found.sums, asked.pulls, strict=True):
        np.testing.assert_allclose(sums / own.steps, by_record(e, bag, MOST_BAGS, own), atol=1e-8)
    assert found.few is not None
    expected = PairCounts.from_labels(e).only(np.ones(2, dtype=bool), np.array([True, False, True]))
    for name in PAIR:
        one, two = (floats(getattr(held, name)) for held in (found.few.whole, expected))
        np.testing.assert_array_equal(one, np.broadcast_to(two, one.shape))
