"""What errors that were not seen add, pair by pair and for sums of pairs, by hand."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts.bags import BagCounts
from biasamp.counts.pair import PairCounts
from biasamp.resampling import unseen_errors
from biasamp.resampling.significance import ClusterEffect
from biasamp.resampling.unseen_errors import Unseen, aggregate_excess, aggregate_variance, alternating, complementary
from evaluations import make

RNG = np.random.default_rng(8)
GROUP = RNG.integers(0, 2, 80)
TRUTH = (RNG.random((80, 3)) < 0.4).astype(int)
SAID = np.where(RNG.random((80, 3)) < [0.3, 0.02, 0.0], 1 - TRUTH, TRUTH)
SOFT = np.round(0.9 * SAID + 0.1 * RNG.random((80, 3)), 3)
WEIGHTS = RNG.gamma(2.0, size=80)
KINDS: dict[str, tuple[Any, Any]] = {"hard": (SAID, None), "soft": (SOFT, None), "weights": (SAID, WEIGHTS)}
PAIRS = [(g, o) for g in (0, 1) for o in range(3)]


def counted(said: Any, weights: Any = None) -> PairCounts:
    return PairCounts.from_labels(make(GROUP, TRUTH, said, weights))


def clusters(unseen: float, inflation: float = 9.0) -> ClusterEffect:
    return ClusterEffect(*(np.full((2, 3), number) for number in (inflation, 5.0, unseen)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("inflation", [None, 2.5])
@pytest.mark.parametrize("against_truth", [True, False])
def test_excess_of_pairs(kind: str, inflation: float | None, against_truth: bool) -> None:
    said, weights = KINDS[kind]
    effect = None if inflation is None else clusters(inflation)
    found = unseen_errors.pair_excess(counted(said, weights), effect, against_truth)
    apart = unseen_errors.discordance_excess(counted(said, weights), effect)
    assert found.shape == (2, 3)
    for g, o in PAIRS:
        there = g == GROUP
        w = np.ones(there.sum()) if weights is None else weights[there]
        size = w.sum() ** 2 / (w**2).sum() / (inflation or 1.0)
        if against_truth:
            moved = said[there, o] - TRUTH[there, o]
            d, s = w @ moved / w.sum(), w**2 @ moved**2 / (w**2).sum()
            more = ((size * s + 2) / (size + 2) - (size * d / (size + 2)) ** 2) / (size + 2)
            plain = (s - d * d) / size
        else:
            rate = w @ said[there, o] / w.sum()
            centre = (size * rate + 2) / (size + 4)
            more, plain = centre * (1 - centre) / (size + 4), rate * (1 - rate) / size
        assert found[g, o] == pytest.approx(max(more - plain, 0.0), rel=1e-9, abs=1e-16)
        assert apart[g, o] == pytest.approx(2 / (size + 2) ** 2, rel=1e-9)
    if against_truth and kind == "hard":
        sizes = np.array([(g == GROUP).sum() for g in (0, 1)]) / (inflation or 1.0)
        assert found[:, 2] == pytest.approx(2 / (sizes + 2) ** 2)


def test_a_group_without_records_adds_nothing() -> None:
    group = biasamp.categorical(np.array([0, 0, 1]), categories=[0, 1, 2])
    counts = PairCounts.from_labels(make(group, [[1], [0], [1]], [[1], [0], [1]]))
    for found in (unseen_errors.pair_excess(counts), unseen_errors.discordance_excess(counts)):
        assert found[:, 0] == pytest.approx([2 / 16, 2 / 9, 0.0])
    assert unseen_errors.pair_excess(counts, against_truth=False)[2, 0] == 0.0


def classes(truth: Any, said: Any, group: Any = None, weights: Any = None) -> PairCounts:
    """Counts of one variable of three values."""
    held = [biasamp.categorical(np.array(side), categories=["a", "b", "c"]) for side in (truth, said)]
    return PairCounts.from_labels(
        make(np.array(group if group is not None else [0, 1] * (len(truth) // 2)), *held, weights)
    )


ABC = ["a", "b", "c", "a", "c", "b"]


def test_values_of_one_variable_exclude_each_other() -> None:
    counts = classes(ABC, ABC[::-1])
    (places,) = unseen_errors.exclusive_sets(counts)
    assert places.tolist() == [0, 1, 2]
    assert unseen_errors.exclusive_sets(counted(SAID)) == []
    assert unseen_errors.possible_sets(counted(SAID)) == []


@pytest.mark.parametrize("side", ["joint_truth", "joint_predicted"])
@pytest.mark.parametrize(("short", "exclusive"), [(0.0, True), (0.9e-6, True), (1.1e-6, False), (-1.1e-6, False)])
def test_chances_of_classes_add_up_but_for_rounding(side: str, short: float, exclusive: bool) -> None:
    """Both in truth and in what is predicted."""
    from dataclasses import replace

    counts = classes(ABC, ABC[::-1])
    held = np.asarray(getattr(counts, side), dtype=float).copy()
    held[1, 2] -= 3 * short  # three records of each group
    changed = replace(counts, **{side: held})
    assert len(unseen_errors.exclusive_sets(changed)) == exclusive
    ((places, adds_up),) = unseen_errors.possible_sets(changed)
    assert places.tolist() == [0, 1, 2]
    assert bool(adds_up) == exclusive


def test_a_variable_of_one_value_is_no_set() -> None:
    one = biasamp.categorical(np.array(["a"] * 4), categories=["a"])
    assert unseen_errors.possible_sets(PairCounts.from_labels(make([0, 1, 0, 1], one, one))) == []


def test_a_variable_of_two_values_is_a_set_also_where_a_group_has_no_records() -> None:
    group = biasamp.categorical(np.array([0, 0, 1, 1]), categories=[0, 1, 2])
    two = biasamp.categorical(np.array(["a", "b", "b", "a"]), categories=["a", "b"])
    (places,) = unseen_errors.exclusive_sets(PairCounts.from_labels(make(group, two, two)))
    assert places.tolist() == [0, 1]


@pytest.mark.parametrize("missing", [False, True])
def test_sets_stand_beside_labels_that_some_records_lack(missing: bool) -> None:
    """Each set is held against the records that have its labels."""
    flag = np.array([0.0, 1.0, 1.0, 0.0, 1.0, 0.0])
    if missing:
        flag[[0, 3, 4]] = np.nan
    held = {"flag": flag, "kind": np.array(ABC)}
    counts = PairCounts.from_labels(make([0, 1, 0, 1, 0, 1], held, held))
    assert (counts.given.shape[-1] > 1) == missing
    (places,) = unseen_errors.exclusive_sets(counts)
    assert [counts.outcome_labels[place].variable for place in places] == ["kind"] * 3


def test_two_groups_that_share_all_records_are_complementary() -> None:
    assert bool(complementary(counted(SAID)))
    three = np.arange(80) % 3
    assert not complementary(PairCounts.from_labels(make(three, TRUTH, SAID)))
    assert complementary(PairCounts.from_labels(make(three, TRUTH, SAID))).shape == ()
    one_hot = np.column_stack([GROUP, 1 - GROUP])
    assert bool(complementary(PairCounts.from_labels(make(one_hot, TRUTH, SAID))))
    for row in ([0, 0], [1, 1]):
        changed = one_hot.copy()
        changed[3] = row
        for truth in (TRUTH, np.where(np.arange(80)[:, None] == 3, 0, TRUTH)):
            assert not bool(complementary(PairCounts.from_labels(make(changed, truth, SAID))))


def test_complementary_in_each_bag() -> None:
    one_hot = np.column_stack([GROUP, 1 - GROUP])
    one_hot[3] = [1, 1]
    bags = BagCounts.from_labels(make(one_hot, TRUTH, SAID), 16)
    found = complementary(bags.counts)
    assert found.shape == (len(bags.numbers),)
    assert (~found).sum() == 1
    three = BagCounts.from_labels(make(np.arange(80) % 3, TRUTH, SAID), 16)
    assert complementary(three.counts).tolist() == [False] * len(three.numbers)


def test_a_record_that_lacks_a_label_may_be_the_one_of_no_group() -> None:
    """The two groups are not complementary for the labels that it has."""
    one_hot = np.column_stack([GROUP, 1 - GROUP])
    one_hot[3] = [0, 0]
    truth = TRUTH.astype(float)
    truth[3, 0] = np.nan
    assert not bool(complementary(PairCounts.from_labels(make(one_hot, truth, SAID))))
    # One record of both groups and one of none: as many as there are, but not the same.
    one_hot[4] = [1, 1]
    truth = TRUTH.copy()
    truth[3], truth[4] = [0, 0, 1], [0, 0, 0]
    assert not bool(complementary(PairCounts.from_labels(make(one_hot, truth, SAID))))
    truth[4] = truth[3]
    assert bool(complementary(PairCounts.from_labels(make(one_hot, truth, SAID))))


def test_signs_of_pairs_without_one_alternate() -> None:
    assert alternating((3, 2), []).tolist() == [[1, 1], [-1, -1], [1, 1]]
    sets = [np.array([1, 2, 4])]
    assert alternating((2, 5), sets).tolist() == [[1, 1, -1, 1, 1], [-1, -1, 1, -1, -1]]
    assert alternating((7, 2, 5), sets).tolist() == alternating((2, 5), sets).tolist()
    assert alternating((2, 5), sets).dtype == np.int8


def test_shares_of_groups_that_overlap() -> None:
    one_hot = np.array([[1, 0], [1, 1], [0, 1], [1, 0]])
    held = [[1], [0], [1], [1]]
    counts = PairCounts.from_labels(make(one_hot, held, held))
    assert unseen_errors.overlap(counts) == pytest.approx([0.75, 0.5])
    # Each record has one at most.
    assert unseen_errors.overlap(PairCounts.from_labels(make([0, 0, 1, 1], held, held))).tolist() == [0.0, 0.0]
    one_hot[1] = [0, 0]
    assert unseen_errors.overlap(PairCounts.from_labels(make(one_hot, held, held))).tolist() == [0.0, 0.0]


def test_shares_of_groups_are_of_the_most_records_that_a_label_has() -> None:
    one_hot = np.array([[1, 0], [1, 1], [0, 1], [1, 0]])
    held = np.array([[1.0, 1.0], [0.0, np.nan], [1.0, np.nan], [1.0, 1.0]])
    counts = PairCounts.from_labels(make(one_hot, held, held))
    assert unseen_errors.overlap(counts) == pytest.approx([0.75, 0.5])


def test_shares_and_sets_of_strata_are_those_of_each_alone() -> None:
    one_hot = (np.random.default_rng(2).random((60, 2)) < 0.6).astype(int)
    kind = np.array(ABC * 10)
    bags = BagCounts.from_labels(make(one_hot, kind, kind[::-1].copy()), 8)
    shares = unseen_errors.overlap(bags.counts)
    ((places, adds_up),) = unseen_errors.possible_sets(bags.counts)
    assert places.tolist() == [0, 1, 2]
    assert adds_up.tolist() == [True] * len(bags.numbers)
    assert shares.shape == (len(bags.numbers), 2)
    from biasamp.counts.bagging import bag_of
    from biasamp.data.keys import row_keys

    bag = bag_of(row_keys(0, 60), 8)
    for row, number in enumerate(bags.numbers):
        mine = one_hot[bag == number]
        several = mine.sum() > len(mine)
        assert shares[row] == pytest.approx(mine.mean(axis=0) if several else np.zeros(2))


def test_rounding_of_weights_is_no_overlap() -> None:
    from dataclasses import replace

    counts = PairCounts.from_labels(make([0, 0, 1, 1], [[1], [0], [1], [1]], [[1], [0], [1], [1]]))
    for more, shares in ((3.9e-6, [0.0, 0.0]), (4.1e-6, [0.5, 0.5])):
        held = np.asarray(counts.given, dtype=float) + np.array([more, 0.0]).reshape(2, 1)
        assert unseen_errors.overlap(replace(counts, given=held)) == pytest.approx(shares, abs=1e-5)


EXCESS = np.array([[0.01, 0.04, 0.09, 0.16], [0.25, 0.36, 0.49, 0.64]])
FACTOR = np.array([[1, -1, 0, 1], [-1, 1, 1, -1]])


def test_excess_of_a_sum_of_pairs_that_are_apart() -> None:
    expected = float((FACTOR**2 * EXCESS).sum())
    assert aggregate_excess(EXCESS, FACTOR, [], np.zeros(2)) == pytest.approx(expected)


def test_excess_of_values_that_exclude_each_other() -> None:
    """Two values by the distance of their factors, more by that of the outermost; the others by themselves."""
    two = aggregate_excess(EXCESS, FACTOR, [np.array([0, 1])], np.zeros(2))
    assert two == pytest.approx(4 * 0.04 + 4 * 0.36 + 0.16 + 0.49 + 0.64)
    alike = aggregate_excess(EXCESS, np.abs(FACTOR), [np.array([0, 1])], np.zeros(2))
    assert alike == pytest.approx(0.16 + 0.49 + 0.64)
    three = aggregate_excess(EXCESS, FACTOR, [np.array([0, 2, 3])], np.zeros(2))
    assert three == pytest.approx(1 * 0.16 + 0.04 + 4 * 0.64 + 0.36)
    both = aggregate_excess(EXCESS, FACTOR, [np.array([0, 1]), np.array([2, 3])], np.zeros(2))
    assert both == pytest.approx(4 * 0.04 + 1 * 0.16 + 4 * 0.36 + 4 * 0.64)


def test_excess_of_groups_that_overlap() -> None:
    """Within its share an error moves the outcome in all groups that a record has."""
    shares = np.array([0.3, 0.5])
    root = FACTOR * np.sqrt(EXCESS)
    apart = (0.7 * root[0] ** 2 + 0.5 * root[1] ** 2).sum()
    together = ((np.sqrt(0.3) * root[0] + np.sqrt(0.5) * root[1]) ** 2).sum()
    assert aggregate_excess(EXCESS, FACTOR, [], shares) == pytest.approx(apart + together)


@pytest.mark.parametrize("sets", [[], [np.array([1, 2])], [np.array([0, 1, 3])], [np.array([0, 1]), np.array([2, 3])]])
def test_excess_of_strata_is_that_of_each_alone_to_the_bit(sets: list[np.ndarray]) -> None:
    rng = np.random.default_rng(0)
    excess, factor = rng.random((9, 5, 4)), rng.integers(-1, 2, (9, 5, 4))
    shares = rng.random((9, 5))
    found = aggregate_excess(excess, factor, sets, shares)
    alone = [aggregate_excess(excess[i], factor[i], sets, shares[i]) for i in range(9)]
    assert found.shape == (9,)
    assert found.tolist() == [float(one) for one in alone]


def test_variance_of_a_mean_over_the_counted_pairs() -> None:
    counting = np.array([[True, True, True, False], [True, False, True, True]])
    expected = (0.01 + 0.04 + 0.25 + 0.49 + 0.64) / 36
    assert aggregate_variance(EXCESS, FACTOR, counting, False, [], np.zeros(2)) == pytest.approx(expected)
    # A pair whose factor the records do not tell counts with some sign.
    free = aggregate_variance(EXCESS, FACTOR, counting, True, [], np.zeros(2))
    assert free == pytest.approx(expected + 0.09 / 36)
    assert aggregate_variance(EXCESS, FACTOR, np.zeros((2, 4), dtype=bool), True, [], np.zeros(2)) == 0.0
    # Within a set that sign is opposite to its neighbour's.
    sets = [np.array([2, 3])]
    nothing = np.zeros((2, 4), dtype=int)
    every = np.ones((2, 4), dtype=bool)
    expected = (0.01 + 0.04 + 4 * 0.16 + 0.25 + 0.36 + 4 * 0.64) / 64
    assert aggregate_variance(EXCESS, nothing, every, True, sets, np.zeros(2)) == pytest.approx(expected)
    assert aggregate_variance(EXCESS, nothing, every, False, sets, np.zeros(2)) == 0.0


def test_a_mean_over_one_pair() -> None:
    one = np.array([[False, True, False, False], [False] * 4])
    assert aggregate_variance(EXCESS, FACTOR, one, False, [], np.zeros(2)) == pytest.approx(0.04)
    counts = PairCounts.from_labels(make([0, 0], [[0], [1]], [[1], [0]]))
    nothing = np.zeros((1, 1), dtype=np.int8)
    excess = unseen_errors.pair_excess(counts)[0, 0]
    assert Unseen(counts).of_sizes(nothing) == pytest.approx(excess + 2 / 4)


SIGNS = np.array([[1, -1, 0], [-1, 1, 1]], dtype=np.int8)
EVERY = np.ones((2, 3), dtype=bool)


@pytest.mark.parametrize("effect", [None, clusters(2.5)])
def test_what_a_sample_adds_to_a_mean(effect: ClusterEffect | None) -> None:
    counts = counted(SAID)
    for against_truth in (True, False):
        excess = unseen_errors.pair_excess(counts, effect, against_truth)
        made = Unseen(counts, effect, against_truth)
        assert made.variance(SIGNS, EVERY, free=False) == pytest.approx((SIGNS**2 * excess).sum() / 36)
        assert made.variance(SIGNS, EVERY, free=True) == pytest.approx(excess.sum() / 36)
    apart = unseen_errors.discordance_excess(counts, effect)
    some = EVERY.copy()
    some[0, 0] = False
    assert Unseen(counts, effect).between_models(SIGNS, some) == pytest.approx((apart.sum() - apart[0, 0]) / 25)


def test_sets_and_overlaps_of_a_sample_are_its_own() -> None:
    """Three values of one variable, in groups of which one record has both."""
    group = np.array([[1, 0], [0, 1], [1, 1], [1, 0], [0, 1], [1, 0]])
    counts = classes(ABC, ABC, group)
    made = Unseen(counts)
    excess = [2 / (4 + 2) ** 2, 2 / (3 + 2) ** 2]
    factor = np.array([[1, -1, 0], [1, 0, 0]], dtype=np.int8)
    one, two = 2 * np.sqrt(excess[0]), 1 * np.sqrt(excess[1])
    expected = (1 - 4 / 6) * one**2 + (1 - 3 / 6) * two**2 + (np.sqrt(4 / 6) * one + np.sqrt(3 / 6) * two) ** 2
    assert made.variance(factor, EVERY, free=False) == pytest.approx(expected / 36)
    # Free: pairs without a sign get alternating ones: the third of the second group is opposite to the first.
    two_free = 2 * np.sqrt(excess[1])
    free = (1 - 4 / 6) * one**2 + (1 - 3 / 6) * two_free**2 + (np.sqrt(4 / 6) * one + np.sqrt(3 / 6) * two_free) ** 2
    assert made.between_models(factor, EVERY) == pytest.approx(free / 36)


def test_strata_are_samples_of_their_own() -> None:
    """Bags of hard records are counts with a leading axis: each as by itself."""
    bags = BagCounts.from_labels(make(GROUP, TRUTH, SAID), 16)
    rows = len(bags.numbers)
    signs = np.random.default_rng(1).integers(-1, 2, (rows, 2, 3)).astype(np.int8)
    every = np.ones((rows, 2, 3), dtype=bool)
    strata = np.array([4, 1, 2])
    for free in (False, True):
        found = Unseen(bags.counts).variances(signs, every, free, [], strata)
        for place, stratum in enumerate(strata):
            alone = Unseen(bags.counts).counts.only(np.ones(2, dtype=bool), np.ones(3, dtype=bool))
            excess = unseen_errors.pair_excess(alone)[stratum]
            expected = aggregate_variance(excess, signs[stratum], every[stratum], free, [], np.zeros(2))
            assert found[place] == expected


@pytest.mark.parametrize("effect", [None, clusters(2.5, 3.5)])
def test_changes_that_cancel_add_their_own_variance_to_a_mean_of_sizes(effect: ClusterEffect | None) -> None:
    """One record gains what another loses: a change of 0 has no sign to move along, but it varies."""
    truth, said = TRUTH.copy(), TRUTH.copy()
    first = np.flatnonzero(GROUP == 0)
    truth[first[:2], 0], said[first[:2], 0] = [0, 1], [1, 0]
    counts = PairCounts.from_labels(make(GROUP, truth, said))
    made = Unseen(counts, effect)
    n = len(first)
    inflation = 1.0 if effect is None else 3.5
    expected = made.variance(np.zeros((2, 3), dtype=np.int8), EVERY, free=True) + inflation * 2 / n**2 / 36
    assert made.of_sizes(np.zeros((2, 3), dtype=np.int8)) == pytest.approx(expected, rel=1e-9)
    lean = np.zeros((2, 3), dtype=np.int8)
    lean[0, 0] = 1
    assert made.of_sizes(lean) == pytest.approx(made.variance(lean, EVERY, free=True), rel=1e-12)


def test_changes_that_cancel_count_twice_where_values_exclude_each_other() -> None:
    counts = classes([*ABC, "a", "b"], [*ABC, "b", "a"], [0, 1, 0, 1, 0, 1, 0, 0])
    nothing = np.zeros((2, 3), dtype=np.int8)
    # Of five records of the first group one gains "a" and one loses it, and so with "b": 2 / 25 each, twice.
    expected = Unseen(counts).variance(nothing, EVERY, free=True) + 2 * (2 * 2 / 25) / 36
    assert Unseen(counts).of_sizes(nothing) == pytest.approx(expected, rel=1e-9)


def test_means_of_sizes_leave_out_groups_without_records() -> None:
    group = biasamp.categorical(np.array([0, 0, 1]), categories=[0, 1, 2])
    truth, said = [[0], [1], [1]], [[1], [0], [1]]
    counts = PairCounts.from_labels(make(group, truth, said))
    nothing = np.zeros((3, 1), dtype=np.int8)
    excess = unseen_errors.pair_excess(counts)[:, 0]
    # The two groups that have records; the change of the first is 0 by 1 - 1 of two.
    assert Unseen(counts).of_sizes(nothing) == pytest.approx((excess.sum() + 2 / 4) / 4)


def test_neighbours_of_a_set_are_opposite() -> None:
    signs = alternating((1, 4), [np.arange(4)])[0].tolist()
    assert all(one == -two for one, two in pairwise(signs))
