"""What the halves share: the same however records are cut into parts, and in little memory."""

from __future__ import annotations

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest

import biasamp
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation
from biasamp.data.arguments import read_evaluation
from biasamp.resampling import closed_form, shared_noise


def chance(n: int, labels: int, clustered: bool) -> tuple[Evaluation, PairCounts, np.ndarray]:
    rng = np.random.default_rng(0)
    truth, predicted = ((rng.random((n, labels)) < 0.3).astype(int) for _ in range(2))
    records, _ = read_evaluation(rng.integers(0, 3, n), truth, predicted, None, rng.random(n))
    if clustered:
        records = replace(records, clusters=rng.integers(0, n // 5, n).astype(np.uint64))
    counts = PairCounts.from_labels(records)
    delta = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / floats(counts.given)
    return records, counts, delta


@pytest.mark.parametrize("clustered", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_parts_add_up(monkeypatch: pytest.MonkeyPatch, clustered: bool, own: bool) -> None:
    records, counts, delta = chance(400, 4, clustered)
    z = np.random.default_rng(1).normal(size=delta.shape)
    whole = shared_noise.crossfit_covariance(records, counts, delta, z, own)
    monkeypatch.setattr(shared_noise, "_CHUNK", 7)
    assert whole > 0
    assert shared_noise.crossfit_covariance(records, counts, delta, z, own) == pytest.approx(whole, rel=1e-12)


def test_equals_the_sum_over_records() -> None:
    records, counts, delta = chance(60, 2, clustered=False)
    z = np.full(delta.shape, 0.5)
    held = records.given.rows().astype(float)
    moved = records.predicted.rows().astype(float) - records.truth.rows()
    weights = np.asarray(records.weights)
    pairs = [(g, o) for g in range(delta.shape[0]) for o in range(delta.shape[1])]
    noise = [
        [weights[i] * held[i, g] * (moved[i, o] - delta[g, o]) / (weights @ held[:, g]) for i in range(60)]
        for g, o in pairs
    ]
    # 2 phi(0) Cov(delta_k, delta_l) / sd(delta_l), squared with its transpose.
    matrix = [[np.sqrt(2 / np.pi) * np.dot(one, two) / np.sqrt(np.dot(two, two)) for two in noise] for one in noise]
    expected = sum(matrix[k][m] * matrix[m][k] for k in range(len(pairs)) for m in range(len(pairs))) / len(pairs) ** 2
    assert shared_noise.crossfit_covariance(records, counts, delta, z, own=True) == pytest.approx(expected, rel=1e-12)


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("towards", ["tasks", "groups"])
def test_interval_of_many_itemsets_needs_little_memory(towards: str) -> None:
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
    assert peak < 120e6  # records times itemsets would be 128 MB, pairs times pairs 200


def test_influence_of_many_given_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    records, counts, delta = chance(200, 4, clustered=False)
    factor = np.sign(delta).astype(np.int8)
    product = closed_form.directional_influence(records, counts, factor)
    monkeypatch.setattr(closed_form, "WIDE", 0)
    np.testing.assert_allclose(closed_form.directional_influence(records, counts, factor), product, atol=1e-15)
