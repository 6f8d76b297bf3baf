"""Thresholds for a purpose, against every choice there is."""

from __future__ import annotations

import itertools
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.least_cost import Options, least_cost


def _case(rng: np.random.Generator, tasks: int, groups: int, n: int) -> tuple[Any, Any, Any]:
    """Scores with ties, groups and truth; every group has records, every task both values."""
    given = np.concatenate([np.arange(groups), rng.integers(groups, size=n - groups)])
    truth = rng.integers(2, size=(n, tasks))
    truth[:2] = [[0], [1]]
    scores = np.round(truth * rng.random((n, tasks)) + rng.random((n, tasks)), 1)
    return scores, np.array(list("abcd"))[given], truth


def _leaning(seed: int, n: int) -> tuple[Any, Any, Any]:
    """One task that a group has more often, and scores that lean to it."""
    rng = np.random.default_rng(seed)
    group = rng.integers(2, size=n)
    truth = (rng.random(n) < 0.3 + 0.3 * group).astype(int)
    return truth + rng.normal(size=n) + group, np.array(["m", "f"])[group], truth


def _cuts(scores: Any) -> list[float]:
    """Every threshold that makes a difference."""
    return [*np.unique(scores), np.inf]


def _figures(predicted: Any, given: Any, truth: Any, costs: Any = (1, 1)) -> tuple[list[Fraction], int]:
    """Amplification of each task and the cost of all errors, in whole numbers and fractions, from the definition."""
    out, n = [], len(given)
    names = sorted(set(given))
    for k in range(truth.shape[1]):
        parts = []
        for name in names:
            mine = given == name
            joint = int((mine & (truth[:, k] == 1)).sum())
            sign = int(np.sign(n * joint - int(mine.sum()) * int(truth[:, k].sum())))
            parts.append(sign * Fraction(int(predicted[mine, k].sum()) - joint, int(mine.sum())))
        out.append(sum(parts, Fraction(0)) / len(names))
    wrong = ((predicted == 1) & (truth == 0)).sum() * costs[0] + ((predicted == 0) & (truth == 1)).sum() * costs[1]
    return out, int(wrong)


def _all_choices(scores: Any, given: Any, truth: Any, costs: Any, by_group: bool) -> list[list[tuple[Fraction, int]]]:
    """Amplification and cost of every choice of thresholds, task by task."""
    out = []
    for k in range(scores.shape[1]):
        names = sorted(set(given)) if by_group else [None]
        each = [_cuts(scores[:, k] if name is None else scores[given == name, k]) for name in names]
        found = []
        for cut in itertools.product(*each):
            least = np.full(len(given), cut[0])
            for name, value in zip(names, cut, strict=True):
                if name is not None:
                    least[given == name] = value
            predicted = (scores[:, [k]] >= least[:, None]).astype(int)
            amplification, cost = _figures(predicted, given, truth[:, [k]], costs)
            found.append((amplification[0], cost))
        out.append(found)
    return out


def _best(choices: list[list[tuple[Fraction, int]]], limit: Fraction, limit_on: str) -> int | None:
    """The least cost of all choices that keep the limit."""
    if limit_on == "task":
        each = [min((c for x, c in found if x <= limit), default=None) for found in choices]
        return None if None in each else sum(c for c in each if c is not None)
    # Of choices of a task with the same amplification only the least cost counts.
    distinct = []
    for found in choices:
        least: dict[Fraction, int] = {}
        for x, c in found:
            least[x] = min(c, least.get(x, c))
        distinct.append(list(least.items()))
    sums = {Fraction(0): 0}
    for found in distinct:
        grown: dict[Fraction, int] = {}
        for (x, c), (y, d) in itertools.product(sums.items(), found):
            grown[x + y] = min(c + d, grown.get(x + y, c + d))
        sums = grown
    return min((c for x, c in sums.items() if x <= limit * len(choices)), default=None)


@pytest.mark.parametrize("seed", range(200))
def test_no_other_choice_is_better(seed: int) -> None:
    rng = np.random.default_rng(seed)
    by_group, limit_on = bool(seed % 2), ("mean", "task")[seed // 2 % 2]
    tasks, groups = int(rng.integers(1, 4)), int(rng.integers(2, 4))
    scores, given, truth = _case(rng, tasks, groups, int(rng.integers(groups + 2, 13)))
    costs = (1, 1) if seed % 3 else (int(rng.integers(1, 4)), int(rng.integers(1, 4)))
    limit = Fraction(int(rng.integers(-2, 7)), 20)
    choices = _all_choices(scores, given, truth, costs, by_group)
    best = _best(choices, limit, limit_on)
    options = {"limit": float(limit), "limit_on": limit_on, "by_group": by_group, "cost": costs}
    if best is None:
        with pytest.raises(ValueError, match=r"limit is .*no thresholds bring"):
            biasamp.choose_thresholds(scores, given, truth, **options)
        return
    found = biasamp.choose_thresholds(scores, given, truth, **options)
    predicted = found.apply(scores, given if by_group else None)
    amplification, cost = _figures(predicted, given, truth, costs)
    assert cost == best
    assert found.gap == 0.0
    assert found.cost * predicted.size == pytest.approx(cost)
    assert found.amplification == pytest.approx(float(sum(amplification) / tasks), abs=1e-12)
    assert max(amplification) <= limit if limit_on == "task" else sum(amplification) <= limit * tasks
    assert found.validation.amplification.value == pytest.approx(found.amplification, abs=1e-12)
    assert found.accuracy == pytest.approx((predicted == truth).mean())
    free = sum(min(c for _, c in task) for task in choices)
    assert found.without_limit["cost"] * predicted.size == pytest.approx(free)


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
    scores, given, truth = _case(np.random.default_rng(6), 3, 3, 40)
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
    scores, given, truth = _case(np.random.default_rng(8), 2, 2, 200)
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
    scores, given, truth = _case(rng, 2, 2, 30)
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
    scores, given, truth = _case(np.random.default_rng(10), 2, 2, 80)
    found = biasamp.choose_thresholds(scores, given, truth, limit=[-0.1, 0.05], limit_on="task")
    for k, limit in enumerate((-0.1, 0.05)):
        alone = biasamp.choose_thresholds(scores[:, k], given, biasamp.binary(truth[:, k]), limit=limit)
        assert found.thresholds[k] == alone.threshold
        assert found.table["amplification"][k] <= limit + 1e-12
    assert set(found.frontier["task"]) == set(found.tasks)


def test_what_is_wrong_is_named() -> None:
    scores, given, truth = _case(np.random.default_rng(11), 2, 2, 30)
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
