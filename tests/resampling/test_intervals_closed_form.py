"""Influences are derivatives: what a little more of a record does to the value; and the errors they give."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

import biasamp
from biasamp.counts.bagging import MOST_BAGS, bag_of
from biasamp.data.keys import row_keys
from biasamp.resampling.intervals import degrees_of_freedom, standard_error, student_interval

STEP = 1e-6


def quietly(call: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return call()


def data(n: int = 40) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(0)
    groups = rng.integers(0, 3, n)
    tasks = (rng.random((n, 3)) < 0.3 + 0.2 * (groups[:, None] == np.arange(3))).astype(int)
    return {
        "groups": groups,
        "tasks": tasks,
        "hard": np.where(rng.random((n, 3)) < 0.2, 1 - tasks, tasks),
        "soft": np.clip(tasks * 0.6 + 0.4 * rng.random((n, 3)), 0, 1),
        "seen": np.where(rng.random(n) < 0.2, rng.integers(0, 3, n), groups),
        "weights": rng.random(n) + 0.5,
    }


D = data()
CASES = {
    "hard": lambda w: biasamp.directional(D["groups"], D["tasks"], D["hard"], weights=w),
    "soft": lambda w: biasamp.directional(D["groups"], D["tasks"], D["soft"], weights=w),
    "overlapping given": lambda w: biasamp.directional(D["tasks"], D["groups"], D["seen"], weights=w),
    "train": lambda w: biasamp.directional(
        D["groups"], D["tasks"], D["hard"], weights=w, train=(D["groups"][::-1], D["tasks"])
    ),
    "base": lambda w: biasamp.directional(
        D["groups"], D["tasks"], D["soft"], weights=w, base=(D["groups"][::-1], D["tasks"])
    ),
    "negative ties": lambda w: biasamp.directional(D["groups"], D["tasks"], D["hard"], weights=w, ties="negative"),
    "cross-fitted": lambda w: biasamp.directional(D["groups"], D["tasks"], D["hard"], weights=w, signs="crossfit"),
    "mals": lambda w: biasamp.mals(D["groups"], D["tasks"], D["seen"], D["hard"], weights=w),
    "soft mals": lambda w: biasamp.mals(D["groups"], D["tasks"], D["seen"], D["soft"], weights=w),
    "mals with train": lambda w: biasamp.mals(
        None, None, D["seen"], D["hard"], weights=w, train=(D["groups"], D["tasks"])
    ),
    "multi": lambda w: biasamp.multi(D["groups"], D["tasks"], D["hard"], weights=w),
}


@pytest.mark.parametrize("name", CASES)
def test_influences_are_derivatives_by_a_records_weight(name: str) -> None:
    weights = D["weights"]
    result = quietly(lambda: CASES[name](weights))
    maker = result.interval_maker()
    # So few records have a bag each, and rows are in the order of bags.
    bag = bag_of(row_keys(0, len(weights)), MOST_BAGS)
    assert len(np.unique(bag)) == len(weights)
    influence = np.empty(len(weights))
    influence[np.argsort(bag)] = (maker.upper if name == "multi" else maker).influence()
    assert influence.sum() == pytest.approx(0.0, abs=1e-12)
    for i in range(0, len(weights), 5):
        more, less = weights.copy(), weights.copy()
        more[i] += STEP
        less[i] -= STEP
        slope = quietly(lambda m=more, k=less: CASES[name](m).value - CASES[name](k).value) / (2 * STEP)
        assert influence[i] == pytest.approx(slope * weights[i], abs=1e-8)


def test_a_mean_has_students_interval() -> None:
    """With one given label of all records the value is a mean, and the interval is the textbook's."""
    rng = np.random.default_rng(1)
    truth, score = rng.integers(0, 2, 50), rng.random(50)
    result = biasamp.directional(
        biasamp.binary(np.ones((50, 1))), biasamp.binary(truth), score[:, None], direction=np.array([[1]])
    )
    interval = result.confidence_interval(method="closed_form")
    expected = stats.ttest_1samp(score - truth, 0.0)
    change = score - truth
    square, mean = (change**2).mean(), change.mean()
    adjusted = ((50 * square + 2) / 52 - (50 * mean / 52) ** 2) / 52
    plain = stats.sem(change) ** 2
    expected_error = np.sqrt(plain * (1 + (adjusted / (change.var() / 50) - 1)))
    assert interval.standard_error == pytest.approx(expected_error)
    by_hand = change.mean() - stats.t.ppf(0.975, 49) * expected_error
    assert interval.low == pytest.approx(by_hand, rel=0.02)
    assert interval.low < expected.confidence_interval().low


def test_degrees_of_freedom() -> None:
    rng = np.random.default_rng(2)
    assert degrees_of_freedom(rng.normal(size=5000)) == pytest.approx(4999, rel=0.1)
    rare = np.zeros(1000)
    rare[:10] = 1.0
    assert degrees_of_freedom(rare - rare.mean()) == pytest.approx(20, rel=0.05)
    assert degrees_of_freedom(np.zeros(5)) == 0.0
    assert student_interval(0.5, 0.1, 4.0, 0.95) == pytest.approx(stats.t.interval(0.95, 4, 0.5, 0.1))
    assert student_interval(0.5, 0.1, np.inf, 0.95) == pytest.approx(stats.norm.interval(0.95, 0.5, 0.1))


def test_influences_of_a_cluster_are_summed_before_squaring() -> None:
    """Ten clusters of four: each is a bag, and its influence is the sum of its records'."""
    people = np.arange(40) // 4
    alone, together = (
        quietly(lambda c=cluster: biasamp.directional(D["groups"], D["tasks"], D["hard"], cluster=c))
        for cluster in (None, people)
    )
    bag = bag_of(row_keys(0, 40), MOST_BAGS)
    influence = np.empty(40)
    influence[np.argsort(bag)] = alone.interval_maker().influence()
    summed = np.bincount(people, influence)
    made = together.interval_maker().influence()
    assert np.sort(made) == pytest.approx(np.sort(summed), abs=1e-14)
    error = quietly(lambda: together.confidence_interval(method="closed_form")).standard_error
    seen = np.sqrt((summed**2).sum() * 10 / 9)
    assert error > seen
    # Clusters of four, each the worth of one error: about 2 / 10**2 for a pair of all records, and less for nine pairs.
    assert error**2 - seen**2 < 2 / 10
    assert standard_error(np.array([0.0, 2.0, 0.0])) == pytest.approx(2.0 * np.sqrt(3 / 2))
