"""Counts of parts add up to the counts of the whole, to the bit, however the records are cut or ordered."""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import add
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasamp.counts.bags import BagCounts, BagJoint
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation
from evaluations import bits, make, random_evaluation, read


def pairs(e: Evaluation) -> PairCounts:
    return PairCounts.from_labels(e)


def joint(e: Evaluation) -> JointCounts:
    return JointCounts.from_labels(e.given, e.predicted, e.weights)


def bags(e: Evaluation) -> BagCounts:
    return BagCounts.from_labels(e, 256)


def bag_joint(e: Evaluation) -> BagJoint:
    return BagJoint.from_labels(e.given, e.predicted, e.units, 256, e.weights)


def table(e: Evaluation) -> ContingencyTable:
    return ContingencyTable.from_labels({"given": e.given, "truth": e.truth, "predicted": e.predicted}, e.weights)


COUNTERS: list[Any] = [pairs, joint, bags, bag_joint, table]
kinds = st.tuples(st.booleans(), st.sampled_from(["none", "whole", "real", "large"]), st.booleans())


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("count", COUNTERS)
@given(st.integers(0, 1000), kinds, st.lists(st.integers(1, 199), max_size=6), st.randoms(use_true_random=False))
def test_any_split_in_any_order(count: Any, seed: int, kind: Any, cuts: list[int], random: Any) -> None:
    soft, weights, overlapping = kind
    if count is table and soft:
        soft = False  # a contingency table is of hard labels only
    whole = random_evaluation(seed, soft=soft, weights=weights, overlapping=overlapping)
    edges = [0, *sorted(set(cuts)), len(whole)]
    parts = [whole.take(np.arange(a, b)) for a, b in pairwise(edges)]
    random.shuffle(parts)
    assert bits(reduce(add, (count(part) for part in parts))) == bits(count(whole))


@pytest.mark.parametrize("count", COUNTERS)
@pytest.mark.parametrize("weights", ["none", "real", "large"])
@pytest.mark.parametrize("soft", [False, True])
def test_permuted_records_with_their_keys(count: Any, weights: str, soft: bool) -> None:
    if count is table and soft:
        pytest.skip("a contingency table is of hard labels only")
    whole = random_evaluation(1, n=3000, soft=soft, weights=weights)
    shuffled = whole.take(np.random.default_rng(0).permutation(len(whole)))
    assert bits(count(shuffled)) == bits(count(whole))


@pytest.mark.parametrize("count", COUNTERS)
def test_adding_is_associative_and_commutative(count: Any) -> None:
    a, b, c = (count(random_evaluation(seed, soft=count is not table, weights="real")) for seed in (1, 2, 3))
    assert bits((a + b) + c) == bits(a + (b + c))
    assert bits(a + b) == bits(b + a)


def test_batches_longer_than_a_chunk() -> None:
    """Chunk borders of the kernels fall in different places in the whole and in the parts."""
    for options in ({}, {"soft": True}, {"weights": "real"}, {"weights": "large", "soft": True}):
        whole = random_evaluation(9, n=70_001, width=20, **options)  # type: ignore[arg-type]
        parts = [whole.take(np.arange(0, 66_000)), whole.take(np.arange(66_000, len(whole)))]
        assert bits(pairs(parts[0]) + pairs(parts[1])) == bits(pairs(whole))


def test_soft_and_hard_batches_mix() -> None:
    """One batch's probabilities happen to be 0 and 1: it is counted as hard and must still merge."""
    rng = np.random.default_rng(0)
    given, truth = rng.integers(0, 2, 100), rng.integers(0, 2, (100, 2))
    predicted = np.concatenate([rng.integers(0, 2, (50, 2)).astype(float), rng.random((50, 2))])
    first = make(given[:50], truth[:50], predicted[:50])
    second = make(given[50:], truth[50:], predicted[50:])
    assert bits(pairs(first) + pairs(second)) == bits(pairs(make(given, truth, predicted)))


@pytest.mark.parametrize("count", COUNTERS)
def test_different_labels_do_not_add_up(count: Any) -> None:
    with pytest.raises(ValueError, match="do not add up"):
        count(random_evaluation(1, width=3)) + count(random_evaluation(1, width=4))
    with pytest.raises(TypeError):
        count(random_evaluation(1)) + 1


def test_other_numbers_of_bags_do_not_add_up() -> None:
    e = random_evaluation(0)
    with pytest.raises(ValueError, match="counts of 256 and of 512 bags do not add up"):
        BagCounts.from_labels(e, 256) + BagCounts.from_labels(e, 512)
    with pytest.raises(ValueError, match="counts of 256 and of 512 bags do not add up"):
        bag_joint(e) + BagJoint.from_labels(e.given, e.predicted, e.units, 512)


def test_tables_with_sides_in_another_order_do_not_mix_them_up() -> None:
    labels = {"given": read([0, 0, 1]), "truth": read([0, 1, 1])}
    swapped = {"truth": labels["truth"], "given": labels["given"]}
    with pytest.raises(ValueError, match="do not add up"):
        ContingencyTable.from_labels(labels) + ContingencyTable.from_labels(swapped)
