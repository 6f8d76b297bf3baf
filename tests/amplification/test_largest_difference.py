"""The largest difference of a rate: which groups decide, what equal groups show, and the lowest mean accuracy."""

from __future__ import annotations

from math import sqrt

import numpy as np
import pytest
from scipy.stats import norm
from scipy.stats import t as student

from biasamp.amplification import largest_difference as module
from biasamp.amplification.group_rates import Proportion, limits_of_many, newcombe
from biasamp.amplification.largest_difference import Deciding, largest_difference, lowest_mean_accuracy


def made_of(hits: list[list[float]], size: list[list[float]], records: list[list[float]] | None = None) -> Proportion:
    h, n = np.array(hits, dtype=float), np.array(size, dtype=float)
    return Proportion(h, n, n if records is None else np.array(records, dtype=float), n)


EVERY = np.ones(3, dtype=bool)


def test_which_groups_decide() -> None:
    """Of the size that is asked or more, where two of a kept group are; in an outcome without two, all that are there."""
    made = made_of([[1, 1, 1]] * 3, [[30, 30, 30], [29, 31, 0], [40, 5, 8]])
    decides = Deciding.of(made, 30, EVERY)
    assert decides.all.tolist() == [[True, True, False], [False, True, False], [True, False, False]]
    assert decides.each.tolist() == [[True, True, True], [False, True, False], [True, False, True]]
    kept = Deciding.of(made, 30, np.array([True, False, True]))
    assert kept.all.tolist() == [[True, False, False], [False] * 3, [True, False, False]]
    assert kept.each.tolist() == [[True, True, True], [False] * 3, [True, True, True]]
    none = Deciding.of(made, 100, EVERY)
    assert none.all.tolist() == none.each.tolist() == [[True] * 3, [True, True, False], [True] * 3]
    few = Deciding.of(made_of([[1], [1], [1]], [[50], [0], [0]]), 30, EVERY)
    assert not few.all.any()
    assert not few.each.any()
    weighted = made_of([[1], [1], [1]], [[50.0], [60.0], [70.0]], [[50.0], [29.9], [30.0]])
    assert Deciding.of(weighted, 30, EVERY).all.tolist() == [[True], [False], [True]]


def test_no_two_groups_have_no_difference() -> None:
    made = made_of([[1], [1], [0]], [[50], [0], [0]])
    assert largest_difference(made, Deciding.of(made, 30, EVERY), 0.95) is None


def test_two_groups_and_one_outcome() -> None:
    """A single difference is Newcombe's; its bounds are of its size, and not below 0."""
    made = made_of([[10], [25]], [[50], [60]])
    found = largest_difference(made, Deciding.of(made, 30, np.ones(2, dtype=bool)), 0.9)
    assert found is not None
    low, high = newcombe(25 / 60, 60, 10 / 50, 50, 0.9)
    assert (found.value, found.low, found.high) == pytest.approx((25 / 60 - 0.2, low, high))
    assert (found.outcome, found.higher, found.lower, found.compared) == (0, 1, 0, 1)
    np.testing.assert_allclose(found.by_outcome[:, 0], [found.value, low, high])
    near = made_of([[24], [25]], [[60], [60]])
    close = largest_difference(near, Deciding.of(near, 30, np.ones(2, dtype=bool)), 0.9)
    assert close is not None
    assert close.low == 0.0
    least, most = newcombe(25 / 60, 60, 24 / 60, 60, 0.9)
    assert close.high == pytest.approx(max(most, -least))
    far = made_of([[60], [0]], [[60], [60]])
    widest = largest_difference(far, Deciding.of(far, 30, np.ones(2, dtype=bool)), 0.9)
    assert widest is not None
    assert (widest.value, widest.high) == (1.0, 1.0)


def test_outcomes_of_their_own_count_and_all_together() -> None:
    """Three groups in one outcome and two in another: four differences in all, three and one by themselves."""
    made = made_of([[10, 9], [25, 20], [30, 5]], [[50, 40], [60, 50], [70, 10]])
    found = largest_difference(made, Deciding.of(made, 30, EVERY), 0.95)
    assert found is not None
    assert found.compared == 4

    def bound(o: int, g: int, h: int, many: int) -> tuple[float, float]:
        ends = []
        for i in (g, h):
            rate, n = made.value[i, o], made.size[i, o]
            ends.append((rate, *limits_of_many(rate, n, 0.95, many)))
        (p, p_low, p_high), (q, q_low, q_high) = ends
        low = p - q - sqrt((p - p_low) ** 2 + (q_high - q) ** 2)
        high = p - q + sqrt((p_high - p) ** 2 + (q - q_low) ** 2)
        return max(low, -high), max(high, -low)

    every = [bound(0, 0, 1, 4), bound(0, 0, 2, 4), bound(0, 1, 2, 4), bound(1, 0, 1, 4)]
    assert (found.low, found.high) == pytest.approx(
        (max(0.0, *(low for low, _ in every)), max(high for _, high in every))
    )
    first = [bound(0, g, h, 3) for g, h in ((0, 1), (0, 2), (1, 2))]
    assert found.by_outcome[1:, 0].tolist() == pytest.approx([max(e[0] for e in first), max(e[1] for e in first)])
    assert found.by_outcome[1:, 1].tolist() == pytest.approx([0.0, bound(1, 0, 1, 1)[1]])
    assert (found.outcome, found.higher, found.lower) == (0, 2, 0)


def test_clusters_widen_at_the_level_of_all() -> None:
    """Student's quantile goes with the level of each of several differences."""
    n, units = np.full((3, 1), 80.0), np.full((3, 1), 9.0)
    hits = np.array([[20.0], [30.0], [44.0]])
    made = Proportion(hits, n, n, n, units)
    found = largest_difference(made, Deciding.of(made, 30, EVERY), 0.9)
    each = 1 - 0.1 / 3
    size = 80 * (norm.ppf(0.5 + each / 2) / student.ppf(0.5 + each / 2, 8)) ** 2
    same = Proportion(hits / 80 * size, np.full((3, 1), size), n, np.full((3, 1), size))
    plain = largest_difference(same, Deciding.of(same, 0, EVERY), 0.9)
    assert found is not None
    assert plain is not None
    assert (found.low, found.high) == pytest.approx((plain.low, plain.high))


def test_what_equal_groups_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of one outcome of two groups: the mean size of a normal difference; groups that do not decide play no part."""
    made = made_of([[300], [300], [2]], [[1000], [500], [10]])
    found = largest_difference(made, Deciding.of(made, 30, EVERY), 0.95)
    assert found is not None
    rate = 600 / 1500
    # At the rate of both together, by their sizes.
    error = sqrt(rate * (1 - rate) * (1 / 1000 + 1 / 500))
    assert found.expected == pytest.approx(error * sqrt(2 / np.pi), rel=0.08)
    alone = made_of([[300], [300]], [[1000], [500]])
    same = largest_difference(alone, Deciding.of(alone, 30, np.ones(2, dtype=bool)), 0.95)
    assert same is not None
    assert same.expected == pytest.approx(found.expected, rel=0.1)
    # Fewer draws where there are many pairs, one at least.
    for most, rel in ((2 * 300, 0.2), (1, 2.0)):
        monkeypatch.setattr(module, "_MOST_DRAWN", most)
        fewer = largest_difference(alone, Deciding.of(alone, 30, np.ones(2, dtype=bool)), 0.95)
        assert fewer is not None
        assert fewer.expected != same.expected
        assert fewer.expected == pytest.approx(same.expected, rel=rel)
    # Nobody or everybody: nothing varies.
    sure = made_of([[0], [0]], [[100], [100]])
    none = largest_difference(sure, Deciding.of(sure, 30, np.ones(2, dtype=bool)), 0.95)
    assert none is not None
    assert none.expected == 0.0


def test_the_lowest_mean_accuracy() -> None:
    """Half of TPR and 1 - FPR, the mean over groups that have both; bounds by Agresti and Coull's middle over the size."""
    tpr = made_of([[18, 9], [30, 12], [2, 3]], [[20, 15], [40, 30], [4, 0]])
    fpr = made_of([[3, 1], [9, 6], [1, 1]], [[30, 20], [50, 40], [5, 5]])
    keep = np.array([True, True, False])
    for kept in (keep, EVERY):
        values, lowest, low, high = lowest_mean_accuracy(tpr, fpr, kept, 0.9)
        expected, ends = [], []
        z = norm.ppf(1 - 0.05 / 2)
        for o in range(2):
            groups = [g for g in range(3) if kept[g] and tpr.size[g, o] > 0]
            accuracy = [(tpr.value[g, o] + 1 - fpr.value[g, o]) / 2 for g in groups]
            variance = 0.0
            for g in groups:
                for held in (tpr, fpr):
                    middle = (held.hits[g, o] + 2) / (held.size[g, o] + 4)
                    variance += middle * (1 - middle) / held.size[g, o] / 4
            expected.append(sum(accuracy) / len(groups))
            reach = z * sqrt(variance) / len(groups)
            ends.append((expected[-1] - reach, expected[-1] + reach))
        assert values.tolist() == pytest.approx(expected)
        assert lowest == int(np.argmin(expected))
        assert (low, high) == pytest.approx((min(e[0] for e in ends), min(e[1] for e in ends)))
    none = made_of([[0], [0]], [[0], [0]])
    values, lowest, low, high = lowest_mean_accuracy(none, none, np.ones(2, dtype=bool), 0.9)
    assert np.isnan([values[0], low, high]).all()
    assert lowest == 0


def test_bounds_of_the_lowest_mean_accuracy_stay_between_0_and_1() -> None:
    tpr, fpr = made_of([[2]], [[2]]), made_of([[0]], [[2]])
    _, _, low, high = lowest_mean_accuracy(tpr, fpr, np.ones(1, dtype=bool), 0.99)
    assert (0.0 < low < 1.0, high) == (True, 1.0)
    _, _, low, high = lowest_mean_accuracy(fpr, tpr, np.ones(1, dtype=bool), 0.99)
    assert (low, 0.0 < high < 1.0) == (0.0, True)
