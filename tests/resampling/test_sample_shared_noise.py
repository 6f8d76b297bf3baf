"""What the halves share: by loops over bags, from all unclear pairs or some, and in little memory."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

import biasamp
from biasamp.counts.bagging import MOST_CELLS, bag_of
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.data import Evaluation
from biasamp.data.arguments import read_evaluation
from biasamp.resampling.sample import bag_crossfit_covariance, unclear_pairs

BAGS = 256


def chance(n: int, labels: int) -> tuple[Evaluation, BagCounts, np.ndarray]:
    rng = np.random.default_rng(0)
    truth, predicted = ((rng.random((n, labels)) < 0.3).astype(int) for _ in range(2))
    records, _, _ = read_evaluation(rng.integers(0, 3, n), truth, predicted, None, rng.random(n))
    bags = BagCounts.from_labels(records, BAGS)
    counts = bags.whole
    return records, bags, (floats(counts.joint_predicted) - floats(counts.joint_truth)) / floats(counts.given)


def associations(records: Evaluation, weights: np.ndarray) -> np.ndarray:
    """``P(g, o) - P(g) P(o)`` of every pair, by matrices of records."""
    given, truth = records.given.rows().astype(float), records.truth.rows().astype(float)
    own = weights * records.weights / (weights @ records.weights)
    return (given * own[:, None]).T @ truth - np.outer(own @ given, own @ truth)


def changes(records: Evaluation, weights: np.ndarray) -> np.ndarray:
    """``P(o_hat | g) - P(o | g)`` of every pair."""
    given = records.given.rows() * (weights * records.weights)[:, None]
    moved = records.predicted.rows().astype(float) - records.truth.rows()
    return given.T @ moved / given.sum(axis=0)[:, None]


@pytest.mark.parametrize("own", [False, True])
def test_equals_the_sum_over_pairs_of_pairs(own: bool) -> None:
    """``2 phi(z) Cov(delta_k, a_l) / sd(a_l)``, squared with its transpose; covariances from numeric derivatives."""
    records, bags, delta = chance(60, 2)
    z = np.random.default_rng(2).normal(size=delta.shape) * 3
    bag, step = bag_of(records.units, BAGS), 1e-6
    noise, lean = [], []
    for number in bags.numbers:
        more, less = (1.0 + side * step * (bag == number) for side in (1, -1))
        noise.append((changes(records, more) - changes(records, less)).ravel() / (2 * step))
        sign = changes if own else associations
        lean.append((sign(records, more) - sign(records, less)).ravel() / (2 * step))
    one, two = np.array(noise), np.array(lean)
    half = np.maximum(np.abs(z).ravel() / np.sqrt(2) - 1, 0)
    matrix = (one.T @ two) / np.sqrt((two**2).sum(axis=0)) * 2 * np.exp(-(half**2) / 2) / np.sqrt(2 * np.pi)
    expected = (matrix * matrix.T).sum()
    pairs = tuple(np.indices(delta.shape).reshape(2, -1))
    assert bag_crossfit_covariance(bags, delta, z, pairs, own) == pytest.approx(expected, rel=1e-3)  # type: ignore[arg-type]
    assert expected > 0


def test_some_pairs_stand_for_very_many() -> None:
    z = np.zeros((3, 2000))
    delta = np.zeros(z.shape)
    delta[0, :10] = np.nan
    z[1] = 50.0
    g, o, scale = unclear_pairs(delta, z)
    unclear = 2 * 2000 - 10
    assert len(g) == len(o) <= 1000
    assert len(g) * scale == pytest.approx(unclear)
    assert set(g) == {0, 2}
    assert not np.isnan(delta[g, o]).any()
    g, o, scale = unclear_pairs(delta[:, :100], z[:, :100])
    assert (len(g), scale) == (190, 1.0)


@pytest.mark.slow(keep=1)
@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("towards", ["tasks", "groups"])
def test_interval_of_many_itemsets_needs_as_much_memory_as_a_few_tables_of_bags(towards: str) -> None:
    rng = np.random.default_rng(0)
    n = 4000
    groups = rng.integers(0, 2, n)
    tasks = (rng.random((n, 30)) < 0.2).astype(int)
    seen = np.where(rng.random(n) < 0.1, 1 - groups, groups)
    found = np.where(rng.random(tasks.shape) < 0.05, 1 - tasks, tasks)
    result = biasamp.multi(groups, tasks, found) if towards == "tasks" else biasamp.multi(tasks, groups, seen)
    assert len(result.pairs) > 5000
    tracemalloc.start()
    interval = result.confidence_interval(method="closed_form")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert interval.low < result.value < interval.high
    assert peak < 12 * 8 * MOST_CELLS
