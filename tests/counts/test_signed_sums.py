"""Signed sums: influences of records by a loop, the same to the bit however records are cut or ordered."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasamp.counts import signed_sums
from biasamp.counts.bagging import MOST_BAGS, bag_of
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.signed_sums import Block, Pull, SecondLook, look_at
from biasamp.data import Evaluation
from biasamp.data.keys import record_keys
from evaluations import bits, make, random_evaluation

NOTHING = np.zeros(0, dtype=np.int64)


def pulls(e: Evaluation) -> tuple[Pull, Pull]:
    """Any weights and centres, other ones for either half, against the truth and not."""
    rng = np.random.default_rng(0)
    shape = (2, e.given.width, e.truth.width)
    return tuple(Pull(rng.normal(size=shape) / 7, rng.normal(size=shape) / 3, way) for way in (True, False))  # type: ignore[return-value]


def by_loop(e: Evaluation, pull: Pull) -> np.ndarray:
    """``sum_o each (change - centre)`` over the labels that a record holds, summed over the records of every bag."""
    out = np.zeros(MOST_BAGS)
    bag = bag_of(e.units, MOST_BAGS)
    given, truth, said = (side.rows().astype(float) for side in (e.given, e.truth, e.predicted))
    known = np.ones(truth.shape, dtype=bool)
    for labels in (e.truth, e.predicted):
        present = labels.present()
        known &= True if present is None else present
    for i in range(len(e)):
        side = int(bag[i] >= MOST_BAGS // 2)
        for g in range(e.given.width):
            for o in range(e.truth.width):
                if given[i, g] and known[i, o]:
                    moved = said[i, o] - (truth[i, o] if pull.against_truth else 0.0)
                    weight = 1.0 if e.weights is None else e.weights[i]
                    out[bag[i]] += weight * pull.each[side, g, o] * (moved - pull.centre[side, g, o])
    return out


def holes(overlapping: bool) -> Evaluation:
    rng = np.random.default_rng(1)
    truth, said = ((rng.random((90, 3)) < 0.4).astype(float) for _ in range(2))
    truth[rng.random(truth.shape) < 0.2] = np.nan
    said[rng.random(truth.shape) < 0.1] = np.nan
    group = (rng.random((90, 2)) < 0.5).astype(float) if overlapping else rng.integers(0, 2, 90)
    return make(group, truth, said, rng.random(90))


CASES: dict[str, Any] = {
    "hard": lambda: random_evaluation(1),
    "soft": lambda: random_evaluation(2, soft=True),
    "weights": lambda: random_evaluation(3, weights="real"),
    "overlapping": lambda: random_evaluation(4, overlapping=True, soft=True, weights="whole"),
    "more groups than outcomes": lambda: random_evaluation(5, groups=6, width=2),
    "missing": lambda: holes(overlapping=False),
    "missing and overlapping": lambda: holes(overlapping=True),
}


@pytest.mark.parametrize("case", CASES)
def test_influences_by_a_loop_over_records(case: str) -> None:
    e = CASES[case]()
    asked = SecondLook(pulls(e), NOTHING, NOTHING)
    found = look_at((Block(e),), asked)
    assert found.few is None
    assert (found.filled == np.bincount(bag_of(e.units, MOST_BAGS), minlength=MOST_BAGS)).all()
    for number, pull in enumerate(asked.pulls):
        assert found.sums[number] / pull.steps == pytest.approx(by_loop(e, pull), abs=1e-9)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("case", CASES)
@settings(max_examples=25)
@given(cuts=st.lists(st.integers(1, 89), max_size=5), random=st.randoms(use_true_random=False))
def test_any_cut_in_any_order_adds_up_to_the_bit(case: str, cuts: list[int], random: Any) -> None:
    e = CASES[case]()
    asked = SecondLook(pulls(e), np.array([0, 1]), np.array([1]))
    order = list(range(len(e)))
    random.shuffle(order)
    edges = [0, *sorted(set(cuts)), len(e)]
    parts = [look_at((Block(e.take(np.array(order[a:b]))),), asked) for a, b in pairwise(edges)]
    assert bits(reduce(add, parts)) == bits(look_at((Block(e),), asked))


def test_chunks_do_not_show(monkeypatch: pytest.MonkeyPatch) -> None:
    e = random_evaluation(6, n=500, soft=True, weights="real", overlapping=True)
    asked = SecondLook(pulls(e), np.array([0, 2]), np.array([1, 3]))
    whole = bits(look_at((Block(e),), asked))
    monkeypatch.setattr(signed_sums, "_CELLS", 1)
    assert bits(look_at((Block(e),), asked)) == whole


@pytest.mark.parametrize("soft", [False, True])
def test_outcome_labels_may_come_in_several_blocks(soft: bool) -> None:
    """Rounding is by block, so that sums may differ by half a step for each record; counts do not differ."""
    e = random_evaluation(7, width=5, soft=soft, weights="real")
    asked = SecondLook(pulls(e), np.array([0, 1]), np.array([0, 1, 4]))
    truth, said = e.truth.rows(), e.predicted.rows()
    group = e.given.rows().argmax(axis=1)
    blocks = [Block(make(group, truth[:, part], said[:, part], e.weights)) for part in (slice(0, 2), slice(2, 5))]
    one, two = look_at((Block(e),), asked), look_at(blocks, asked)
    assert (one.filled == two.filled).all()
    assert np.abs(one.sums - two.sums).max() <= 2 * one.filled.max()
    assert one.few is not None
    assert two.few is not None
    for name in ("given", "joint_truth", "joint_predicted", "joint_both"):
        assert (floats(getattr(one.few.counts, name)) == floats(getattr(two.few.counts, name))).all()


@pytest.mark.parametrize("case", CASES)
def test_the_few_pairs_are_counted_as_among_all(case: str) -> None:
    e = CASES[case]()
    given, outcome = np.array([1]), np.array([0, e.truth.width - 1])
    found = look_at((Block(e),), SecondLook(pulls(e), given, outcome)).few
    assert found is not None
    whole = BagCounts.from_labels(e, found.bags).whole
    for name in ("n", "given", "truth", "joint_truth", "joint_predicted", "joint_both"):
        mine, theirs = floats(getattr(found.whole, name)), floats(getattr(whole, name))
        theirs = np.broadcast_to(theirs, whole.joint_truth.shape)[np.ix_(given, outcome)]
        assert (np.broadcast_to(mine, theirs.shape) == theirs).all(), name


def test_clusters_are_one_bag() -> None:
    e = replace(random_evaluation(8), clusters=record_keys(np.repeat(np.arange(50), 4)))
    found = look_at((Block(e),), SecondLook(pulls(e), NOTHING, NOTHING))
    assert (found.filled % 4 == 0).all()
    assert found.filled.sum() == 200


def test_cells_that_stand_for_records_have_their_sums() -> None:
    e = random_evaluation(9, n=400, width=2)
    asked = SecondLook(pulls(e), np.array([0, 1]), np.array([0, 1]))
    bag = bag_of(e.units, MOST_BAGS)
    held = np.column_stack([bag, *(side.rows() for side in (e.given, e.truth, e.predicted))])
    _, first, many = np.unique(held, axis=0, return_index=True, return_counts=True)
    cells = Block(replace(e.take(first), weights=many, ids=None), bag[first], MOST_BAGS)
    mine, theirs = look_at((cells,), asked), look_at((Block(e),), asked)
    assert np.abs(mine.sums - theirs.sums).max() <= theirs.filled.max()
    assert ((mine.filled > 0) == (theirs.filled > 0)).all()
