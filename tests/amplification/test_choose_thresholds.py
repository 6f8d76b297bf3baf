"""Thresholds for a purpose, against every choice there is."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from benchmarks.every_threshold import case, held_against_all

import biasamp
from biasamp.amplification.least_cost import Options, least_cost


def _leaning(seed: int, n: int) -> tuple[Any, Any, Any]:
    """One task that a group has more often, and scores that lean to it."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    truth = (rng.random(n) < 0.3 + 0.3 * group).astype(int)
    return truth + rng.normal(size=n) + group, np.array(["m", "f"])[group], truth


@pytest.mark.parametrize("seed", range(200))
def test_no_other_choice_is_better(seed: int) -> None:
    held = held_against_all(seed)
    if held.best is None or held.found is None:
        assert held.best is None
        assert held.found is None
        return
    found, tasks, amplification = held.found, held.truth.shape[1], held.amplification
    assert held.cost == held.best
    assert found.gap == 0.0
    assert found.cost * held.predicted.size == pytest.approx(held.cost)
    assert found.amplification == pytest.approx(float(sum(amplification) / tasks), abs=1e-12)
    assert max(amplification) <= held.limit if held.limit_on == "task" else sum(amplification) <= held.limit * tasks
    assert found.validation.amplification.value == pytest.approx(found.amplification, abs=1e-12)
    assert found.accuracy == pytest.approx((held.predicted == held.truth).mean())
    assert found.without_limit["cost"] * held.predicted.size == pytest.approx(held.free)


def test_a_choice_that_is_broken_off_says_how_much_it_may_miss() -> None:
    rng = np.random.default_rng(1)
    missed = 0
    for _ in range(300):
        sets = []
        for _ in range(int(rng.integers(2, 5))):
            size = int(rng.integers(1, 8))
            sets.append(Options.of(rng.random(size), rng.integers(0, 30, size).astype(float)))
        limit = float(rng.uniform(0.2, 0.7)) * len(sets)
        best, first = least_cost(sets, limit), least_cost(sets, limit, most_sums=0)
        assert (best is None) == (first is None)
        if best is None or first is None:
            continue
        sums = itertools.product(*(zip(s.amplification, s.cost, strict=True) for s in sets))
        true = min(sum(c for _, c in each) for each in sums if sum(x for x, _ in each) <= limit)
        assert (best.cost, best.gap) == (true, 0.0)
        assert first.bound <= true <= first.cost
        assert first.amplification <= limit + 1e-9
        missed += first.gap > 0
    assert missed > 20


def test_the_frontier_is_what_each_limit_gives() -> None:
    scores, given, truth = _leaning(5, 300)
    found = biasamp.choose_thresholds(scores, given, truth, limit=0.5)
    rows = list(found.frontier.rows())
    assert len(rows) > 3
    for row in rows:
        at = biasamp.choose_thresholds(scores, given, truth, limit=row["amplification"])
        assert at.accuracy == pytest.approx(row["accuracy"])
        assert at.threshold == row["threshold"]
    assert [row["accuracy"] for row in rows] == sorted(row["accuracy"] for row in rows)
    assert rows[-1]["accuracy"] == pytest.approx(found.without_limit["accuracy"])


@pytest.mark.parametrize("by_group", [False, True])
def test_corners_of_the_mean_are_what_their_limits_give(by_group: bool) -> None:
    scores, given, truth = case(np.random.default_rng(6), 3, 3, 40)
    found = biasamp.choose_thresholds(scores, given, truth, limit=0.5, by_group=by_group)
    assert set(found.frontier["task"]) == {""}
    for row in found.frontier.rows():
        at = biasamp.choose_thresholds(scores, given, truth, limit=row["amplification"], by_group=by_group)
        assert (at.accuracy, at.gap) == (pytest.approx(row["accuracy"]), 0.0)


def test_held_out_records_are_measured_as_directional_does() -> None:
    scores, given, truth = _leaning(7, 4000)
    scores, truth = (np.column_stack([values, values[::-1]]) for values in (scores, truth))
    half = slice(2000, None)
    other = scores[half], given[half], truth[half]
    found = biasamp.choose_thresholds(scores[:2000], given[:2000], truth[:2000], limit=0.0, held_out=other)
    assert found.held_out is not None
    predicted = found.apply(scores[half])
    expected = biasamp.directional(given[half], truth[half], predicted)
    bounds = expected.bounds()
    assert bounds is not None
    assert found.held_out.amplification.value == expected.value
    assert found.held_out.bound == bounds.high
    assert found.held_out.accuracy == pytest.approx((predicted == truth[half]).mean())
    assert found.amplification <= 0.0
    assert f"On held-out data accuracy {found.held_out.accuracy:.4f}" in str(found)
    assert found.to_dict()["held_out"]["bound"] == bounds.high


def test_signs_of_train_labels_decide_which_way_counts() -> None:
    scores, given, truth = case(np.random.default_rng(8), 2, 2, 200)
    swapped = np.where(given == "a", "b", "a")
    own = biasamp.choose_thresholds(scores, given, truth, limit=0.0, train=(given, truth))
    other = biasamp.choose_thresholds(scores, given, truth, limit=0.05, train=(swapped, truth))
    assert own.amplification <= 0.0
    assert own.thresholds.tolist() == biasamp.choose_thresholds(scores, given, truth, limit=0.0).thresholds.tolist()
    value = biasamp.directional(given, truth, other.apply(scores), train=(swapped, truth)).value
    assert other.amplification == pytest.approx(value, abs=1e-12)
    assert other.validation.amplification.value == value


def test_a_weight_is_as_many_records() -> None:
    rng = np.random.default_rng(9)
    scores, given, truth = case(rng, 2, 2, 30)
    weights = rng.integers(1, 4, size=30)
    for by_group in (False, True):
        one = biasamp.choose_thresholds(scores, given, truth, limit=0.01, by_group=by_group, weights=weights)
        many = biasamp.choose_thresholds(
            *(np.repeat(x, weights, axis=0) for x in (scores, given, truth)), limit=0.01, by_group=by_group
        )
        np.testing.assert_allclose(one.thresholds, many.thresholds)
        assert one.accuracy == pytest.approx(many.accuracy)
        for name in ("rate", "truth_rate", "accuracy", "amplification"):
            np.testing.assert_allclose(one.table[name], many.table[name], atol=1e-12)


def test_a_limit_of_its_own_for_each_task() -> None:
    scores, given, truth = case(np.random.default_rng(10), 2, 2, 80)
    found = biasamp.choose_thresholds(scores, given, truth, limit=[-0.1, 0.05], limit_on="task")
    for k, limit in enumerate((-0.1, 0.05)):
        alone = biasamp.choose_thresholds(scores[:, k], given, biasamp.binary(truth[:, k]), limit=limit)
        assert found.thresholds[k] == alone.threshold
        assert found.table["amplification"][k] <= limit + 1e-12
    assert set(found.frontier["task"]) == set(found.tasks)


def test_what_is_wrong_is_named() -> None:
    scores, given, truth = case(np.random.default_rng(11), 2, 2, 30)
    choose = biasamp.choose_thresholds
    with pytest.raises(ValueError, match=r"limit has shape \(2,\); one number is needed with limit_on='mean'"):
        choose(scores, given, truth, limit=[0.1, 0.2])
    with pytest.raises(ValueError, match="one group for each record"):
        choose(scores, truth[:, ::-1], truth, limit=0.1, by_group=True)
    with pytest.raises(TypeError, match="held_out must be a tuple"):
        choose(scores, given, truth, limit=0.1, held_out=scores)
    with pytest.raises(ValueError, match="held_out scores has 1 column"):
        choose(scores, given, truth, limit=0.1, held_out=(scores[:, 0], given, truth))
    with pytest.raises(ValueError, match=r"cost is \(0, 0\)"):
        choose(scores, given, truth, limit=0.1, cost=(0, 0))
    found = choose(scores, given, truth, limit=0.1, by_group=True)
    with pytest.raises(ValueError, match="given is missing"):
        found.apply(scores)
    with pytest.raises(ValueError, match="group 'c', which has no thresholds"):
        found.apply(scores, np.array(["c"] * 30))
    with pytest.raises(ValueError, match="4 thresholds"):
        _ = found.threshold


@pytest.mark.parametrize("seed", range(40))
def test_no_choice_costs_less_than_the_bound(seed: int) -> None:
    """Against every choice there is; costs of weighted records are no whole numbers, though some of them may be."""
    rng = np.random.default_rng(seed)
    tables = [(rng.normal(size=6), rng.random(6) * 3) for _ in range(3)]
    for _, costs in tables:
        costs[rng.integers(6)] = rng.integers(3)
    limit = float(sum(np.median(x) for x, _ in tables)) - 0.5
    allowed = [
        sum(costs[k] for (_, costs), k in zip(tables, choice, strict=True))
        for choice in itertools.product(range(6), repeat=3)
        if sum(x[k] for (x, _), k in zip(tables, choice, strict=True)) <= limit
    ]
    found = least_cost([Options.of(*table) for table in tables], limit, most_sums=0)
    assert (found is None) == (not allowed)
    if found is not None:
        assert found.bound <= min(allowed) + 1e-9
        assert found.cost >= min(allowed) - 1e-9


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"limit": [0.1, float("nan")], "limit_on": "task"}, r"limit\[1\] is nan; a finite number is needed"),
        ({"limit": [0.1], "limit_on": "task"}, r"limit has shape \(1,\); one number, or one for each of the 2 tasks"),
        ({"limit": 0.1, "threshold": [float("inf"), 0.5]}, r"threshold\[0\] is inf; a finite number is needed"),
    ],
)
def test_numbers_that_are_none_are_named_by_their_place(more: dict[str, Any], words: str) -> None:
    truth = np.array([[0, 1], [1, 0], [0, 0], [1, 1]])
    with pytest.raises(ValueError, match=words):
        biasamp.choose_thresholds(truth * 0.5 + 0.2, ["a", "a", "b", "b"], truth, **more)
