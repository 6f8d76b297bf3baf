"""Means of ratios, their influences, and figures less one another, in numbers that are written down."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from biasamp.counts.bagging import poisson_weights
from biasamp.counts.bags import BagCounts
from biasamp.data.keys import row_keys
from biasamp.resampling.statistics_of_bags import (
    Crossed,
    Difference,
    FixedSigns,
    Known,
    Ratios,
    Redrawn,
    fixed_sign_value,
    influence_on_ratios,
    pull_of,
    residuals,
)
from evaluations import make, random_evaluation

MOVED = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, 0.0], [-1.0, 3.0, 0.0], [2.0, 0.0, 0.0]])
SIZE = np.array([[2.0, 4.0, 0.0], [1.0, 2.0, 0.0], [3.0, 3.0, 0.0], [4.0, 1.0, 0.0]])
PAIRS = np.array([2.0, 1.0, 5.0])
AGAINST = np.array([0.05, 0.2, 9.0])


class Bags:
    """Bags of which only the weights are asked for."""

    def __init__(self, weights: Any) -> None:
        self.drawn = np.asarray(weights, dtype=np.float32)

    def weights(self, resamples: int, seed: int) -> Any:
        assert (resamples, seed) == (len(self.drawn), 3)
        return self.drawn


def mean(weights: np.ndarray, against: Any, of_all: float | None) -> float:
    """A column whose size is 0 adds nothing and does not count."""
    total, count = 0.0, 0.0
    for column in range(3):
        moved, size = weights @ MOVED[:, column], weights @ SIZE[:, column]
        if size > 0:
            total += moved / size - np.broadcast_to(against, 3)[column]
            count += PAIRS[column]
    return total / (count if of_all is None else of_all)


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("against", [0.0, AGAINST])
@pytest.mark.parametrize("of_all", [None, 8.0])
def test_a_mean_of_ratios(whole: bool, against: Any, of_all: float | None) -> None:
    weights = np.array([[1, 1, 1, 1], [0, 3, 1, 2], [2, 0, 0, 0], [0, 0, 0, 1]])
    bags: Any = Bags(weights)
    made = Ratios(bags, MOVED, SIZE, PAIRS, against, whole, of_all)
    assert made.value == pytest.approx(mean(weights[0].astype(float), against, of_all))
    assert made.replicates(4, 3) == pytest.approx([mean(row.astype(float), against, of_all) for row in weights])
    influence = made.influence()
    for row in range(4):
        step = 1e-6 * (np.arange(4) == row)
        slope = (mean(1.0 + step, against, of_all) - mean(1.0 - step, against, of_all)) / 2e-6
        assert influence[row] == pytest.approx(slope, abs=1e-8)
    assert not made.first_order
    assert Ratios(bags, MOVED, SIZE, PAIRS).value == pytest.approx(mean(np.ones(4), 0.0, None))


def test_a_mean_of_no_ratio_is_undefined_and_moves_by_nothing() -> None:
    bags: Any = Bags([[1, 1]])
    nothing = np.zeros((2, 1))
    assert np.isnan(Ratios(bags, nothing, nothing, np.ones(1)).value)
    assert influence_on_ratios(nothing, nothing, (np.zeros(1), np.zeros(1)), np.ones(1)).tolist() == [0.0, 0.0]
    # Half a pair in all: no less than one is divided by.
    half = influence_on_ratios(MOVED[:, :1], SIZE[:, :1], (np.array([2.0]), np.array([10.0])), np.array([0.5]))
    assert half == pytest.approx((MOVED[:, 0] - SIZE[:, 0] * 0.2) / 10)


def test_influences_of_strata_are_those_of_each_alone() -> None:
    strata = np.array([1, 0, 1, 1])
    totals = tuple(np.array([part[strata == s].sum(axis=0) for s in (0, 1)]) for part in (MOVED, SIZE))
    found = influence_on_ratios(MOVED, SIZE, totals, PAIRS, None, strata)  # type: ignore[arg-type]
    for s in (0, 1):
        mine = strata == s
        alone = influence_on_ratios(MOVED[mine], SIZE[mine], (totals[0][s], totals[1][s]), PAIRS)
        assert found[mine] == pytest.approx(alone)
    assert (found != 0).any()


def test_bags_of_one_ratio_move_nothing_though_it_is_rounded() -> None:
    size = np.array([3.0, 7.0, 11.0, 0.1])[:, None]
    moved = size * (1.0 / 3.0)
    found = influence_on_ratios(moved, size, (moved.sum(axis=0), size.sum(axis=0)), np.ones(1))
    assert found.tolist() == [0.0] * 4
    # A little more than rounding moves it.
    moved[1] *= 1.0 + 1e-10
    found = influence_on_ratios(moved, size, (moved.sum(axis=0), size.sum(axis=0)), np.ones(1))
    assert found[1] > 0.0 > found[0]


@dataclass(eq=False)
class Written:
    value: float
    moves: Any
    drawn: Any = ()
    first_order: bool = False

    def influence(self) -> Any:
        return np.asarray(self.moves)

    def replicates(self, resamples: int, seed: int) -> Any:
        assert (resamples, seed) == (2, 7)
        return np.asarray(self.drawn)


def test_a_figure_less_another() -> None:
    one = Written(0.5, [0.1, -0.1, 0.2], [0.4, 0.6])
    two = Written(0.2, [0.3, 0.0, -0.1], [0.1, 0.5])
    made = Difference(one, two)
    assert made.value == pytest.approx(0.3)
    assert made.influence() == pytest.approx([-0.2, -0.1, 0.3])
    assert made.replicates(2, 7) == pytest.approx([0.3, 0.1])
    for first, second in ((False, False), (True, False), (False, True)):
        made = Difference(Written(0.0, [0.0], (), first), Written(0.0, [0.0], (), second))
        assert made.first_order == (first or second)


def test_a_figure_less_itself_is_moved_by_nothing_though_it_is_rounded() -> None:
    moves = np.array([0.1, -0.3, 0.7])
    for apart, left in ((1e-13, False), (1e-11, True)):
        found = Difference(Written(0.0, moves), Written(0.0, moves * (1.0 + apart))).influence()
        assert found.shape == (3,)
        assert found.any() == left
    # Either figure may be the one that is moved.
    assert Difference(Written(0.0, moves), Written(0.0, np.zeros(3))).influence().tolist() == moves.tolist()
    assert Difference(Written(0.0, np.zeros(3)), Written(0.0, moves)).influence().tolist() == (-moves).tolist()


def test_a_figure_of_known_influences_is_not_resampled() -> None:
    made = Known(0.3, np.array([0.1, -0.1]))
    assert made.first_order
    assert made.influence().tolist() == [0.1, -0.1]
    with pytest.raises(NotImplementedError, match="only closed-form intervals"):
        made.replicates(10, 0)


def test_halves_are_in_the_order_of_bags() -> None:
    upper, lower = Written(0.5, [0.2, 0.4], [0.1, 0.3]), Written(0.1, [0.6], [0.5, 0.9])
    made = Crossed(upper, lower)
    assert made.value == pytest.approx(0.3)
    assert made.influence() == pytest.approx([0.3, 0.1, 0.2])
    assert made.replicates(2, 7) == pytest.approx([0.3, 0.6])
    assert not made.first_order


def test_figures_of_counts_are_resampled_as_they_are() -> None:
    bags = BagCounts.from_labels(random_evaluation(1, n=30), 256)
    fixed = FixedSigns(bags, np.ones((3, 5), dtype=np.int8))
    assert not fixed.first_order
    assert not Redrawn(fixed, bags, lambda counts: fixed_sign_value(counts, fixed.factor)).first_order
    redrawn = Redrawn(fixed, bags, lambda counts: fixed_sign_value(counts, fixed.factor))
    assert redrawn.replicates(5, 2) == pytest.approx(fixed.replicates(5, 2), abs=1e-12)


def test_bags_are_weighed_by_their_numbers() -> None:
    bags = BagCounts.from_labels(random_evaluation(1, n=30), 256)
    expected = poisson_weights(row_keys(0, 256), 5, 2)[:, bags.numbers]
    assert bags.weights(5, 2).tolist() == expected.tolist()


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("against_truth", [False, True])
def test_residuals_of_bags(soft: bool, against_truth: bool) -> None:
    e = random_evaluation(2, n=80, soft=soft)
    bags = BagCounts.from_labels(e, 256)
    moved, size = residuals(bags, against_truth)
    given, truth, said = (side.rows().astype(float) for side in (e.given, e.truth, e.predicted))
    from biasamp.counts.bagging import bag_of

    bag = bag_of(e.units, 256)
    for row, number in enumerate(bags.numbers):
        mine = bag == number
        change = said[mine] - truth[mine] if against_truth else said[mine]
        assert moved[row] == pytest.approx(given[mine].T @ change, abs=1e-12)
        assert size[row] == pytest.approx(np.broadcast_to(given[mine].sum(axis=0)[:, None], size[row].shape))
    assert moved.dtype == np.float64


def test_a_pull_is_what_a_record_weighs_in_a_mean() -> None:
    """By hand: two groups of 3 and 2 records, of which the second label of the first group does not count."""
    group, truth = [0, 0, 0, 1, 1], [[1, 0], [0, 0], [1, 1], [0, 1], [1, 1]]
    said = [[1, 1], [1, 0], [1, 1], [1, 1], [0, 0]]
    counts = BagCounts.from_labels(make(group, truth, said)).whole
    factor = np.array([[1, -1], [-1, 1]], dtype=np.int8)
    other = np.array([[1, 1], [1, 0]], dtype=np.int8)
    counted = np.array([[True, False], [True, True]])
    pull = pull_of((counts, counts), (factor, other), None, counted, share=0.5)
    assert pull.against_truth
    assert pull.each[0] == pytest.approx(0.5 * np.array([[1 / 3, 0], [-1 / 2, 1 / 2]]) / 3)
    assert pull.each[1] == pytest.approx(0.5 * np.array([[1 / 3, 0], [1 / 2, 0]]) / 3)
    for side in (0, 1):
        assert pull.centre[side] == pytest.approx(np.array([[1 / 3, 1 / 3], [0.0, -1 / 2]]))
    of_base = pull_of((counts, counts), (factor, factor), np.full((2, 2), 0.3))
    assert not of_base.against_truth
    assert of_base.each[0] == pytest.approx(np.array([[1 / 3, -1 / 3], [-1 / 2, 1 / 2]]) / 4)
    assert of_base.centre[0] == pytest.approx(np.array([[1.0, 2 / 3], [1 / 2, 1 / 2]]))


def test_a_pull_of_no_pair_at_all() -> None:
    import biasamp

    group = biasamp.categorical(np.array([0, 0]), categories=[0, 1])
    counts = BagCounts.from_labels(make(group, [[1], [0]], [[0], [0]])).whole
    factor = np.ones((2, 1), dtype=np.int8)
    pull = pull_of((counts, counts), (factor, factor), None, np.zeros((2, 1), dtype=bool))
    assert pull.each.tolist() == np.zeros((2, 2, 1)).tolist()
    assert pull.centre[0].tolist() == [[-0.5], [0.0]]
    alone = pull_of((counts, counts), (factor, factor))
    assert alone.each[0].tolist() == [[0.5], [0.0]]
    assert np.isnan(fixed_sign_value(counts, factor, None, np.array([[False], [True]])))
