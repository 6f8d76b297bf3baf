"""Without amplification the cross-fitted value is 0 on average, the plug-in value is not, and Multi meets its floor.

Five hundred simulated sets of 1000 records: 20 tasks independent of two groups, and a model whose errors do not
depend on the group, so that nothing is amplified.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp import directional, multi

pytestmark = pytest.mark.slow

SETS, RECORDS, TASKS = 500, 1000, 20
# P(task), and the model's true and false positive rates: more misses than false alarms, for either group.
RATE, TPR, FPR = 0.3, 0.5, 0.05


def draw(rng: Any, tpr: float, fpr: float) -> tuple[Any, Any, Any]:
    group = rng.integers(0, 2, RECORDS)
    truth = (rng.random((RECORDS, TASKS)) < RATE).astype(np.uint8)
    return group, truth, (rng.random((RECORDS, TASKS)) < np.where(truth, tpr, fpr)).astype(np.uint8)


@pytest.fixture(scope="module")
def values() -> dict[str, Any]:
    """Plug-in, cross-fitted and train-signed values of every simulated set."""
    out: dict[str, list[Any]] = {"plugin": [], "crossfit": [], "trained": []}
    for seed in np.random.SeedSequence(2021).spawn(SETS):
        rng = np.random.default_rng(seed)
        group, truth, predicted = draw(rng, TPR, FPR)
        result = directional(group, truth, predicted)
        out["plugin"].append(result.value)
        out["crossfit"].append(result.crossfit)
        out["trained"].append(directional(group, truth, predicted, train=draw(rng, TPR, FPR)[:2]).value)
    return {name: np.array(numbers) for name, numbers in out.items()}


def in_errors(numbers: Any, centre: float = 0.0) -> float:
    """How many standard errors the mean is from the centre."""
    return float((numbers.mean() - centre) / (numbers.std(ddof=1) / np.sqrt(len(numbers))))


def test_crossfitted_signs_are_unbiased(values: dict[str, Any]) -> None:
    assert abs(in_errors(values["crossfit"])) < 3


def test_signs_of_train_labels_are_unbiased(values: dict[str, Any]) -> None:
    assert abs(in_errors(values["trained"])) < 3


def test_plugin_signs_are_biased_down(values: dict[str, Any]) -> None:
    """A group's truth is above or below the other's by chance, and the model takes back 1 - (TPR - FPR) of it."""
    chance = np.sqrt(2 / np.pi) * np.sqrt(RATE * (1 - RATE) / RECORDS)
    expected = -(1 - (TPR - FPR)) * chance
    assert expected == pytest.approx(-0.0064, abs=5e-5)
    assert in_errors(values["plugin"]) < -30
    assert abs(in_errors(values["plugin"], expected)) < 4


@pytest.mark.parametrize("tpr", [0.9, 0.5])
def test_multi_meets_its_floor(tpr: float) -> None:
    """A model that gains as many labels as it loses: Multi is above 0, and on average what the floor says."""
    fpr = RATE * (1 - tpr) / (1 - RATE)
    differences, floors = [], []
    for seed in np.random.SeedSequence(2023).spawn(150):
        result = multi(*draw(np.random.default_rng(seed), tpr, fpr), itemsets="subsets", max_size=1)
        assert result.floor is not None
        differences.append(result.value - result.floor)
        floors.append(result.floor)
    assert abs(in_errors(np.array(differences))) < 3
    # The normal approximation of the same walk, to a few percent.
    wrong = 2 * RATE * (1 - tpr)
    assert np.mean(floors) == pytest.approx(np.sqrt(2 / np.pi * wrong / (RECORDS / 2)), rel=0.02)


def test_floor_of_small_groups_is_the_walk_itself() -> None:
    """E|delta| of m fair steps by listing all of their outcomes."""
    from itertools import product

    for m in (1, 2, 3, 6):
        walk = np.mean([abs(sum(steps)) for steps in product((-1, 1), repeat=m)])
        truth = np.array([i % 2 for i in range(m)] + [1, 0])[:, None]
        predicted = truth.copy()
        predicted[:m] = 1 - predicted[:m]
        result = multi(np.zeros(m + 2, dtype=int), truth, predicted)
        assert result.floor == pytest.approx(walk / (m + 2))
