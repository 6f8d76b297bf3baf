"""How often a gate is wrong, on models whose amplification is known; ``python -m benchmarks decisions`` has more cases."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.policy import Policy

pytestmark = pytest.mark.slow

SAMPLES = 100
# 5% of 100 samples with its Monte Carlo error: 10 or more come by chance in 3%.
MOST = 9


def drawn(rng: np.random.Generator, tasks: int, n: int, lean: float, moved: float) -> dict[str, Any]:
    """Tasks at a rate of .3 that lean by ``lean`` to one of two groups; the model moves them by ``moved`` further."""
    group = rng.integers(0, 2, n)
    side = np.where((group[:, None] + np.arange(tasks)) % 2, 1.0, -1.0)
    rate = 0.3 + lean * side
    truth = rng.random((n, tasks)) < rate
    missed, gained = 0.03 + np.maximum(-moved * side, 0), 0.03 + np.maximum(moved * side, 0)
    flip = rng.random((n, tasks)) < np.where(truth, missed / rate, gained / (1 - rate))
    said = truth ^ flip
    columns = {f"t{k}": truth[:, k].astype(int) for k in range(tasks)}
    return {"g": group.astype(str), **columns, **{f"p{k}": said[:, k].astype(int) for k in range(tasks)}}


def outcomes(tasks: int, n: int, lean: float, moved: float, seed: int = 0, **limit: Any) -> Counter[str]:
    rng = np.random.default_rng(seed)
    policy = Policy(limits=[{"metric": "directional", **limit}], min_group=0)
    names = [[f"{side}{k}" for k in range(tasks)] for side in "tp"]
    roles = {"attributes": "g", "tasks": names[0], "task_predictions": names[1]}
    found: Counter[str] = Counter()
    for _ in range(SAMPLES):
        audit = biasamp.audit(drawn(rng, tasks, n, lean, moved), **roles, metrics=["directional"], resamples=50)
        found[policy.check(audit).outcome] += 1
    return found


@pytest.mark.parametrize("lean", [0.02, 0.15])
@pytest.mark.parametrize("tasks", [2, 20])
def test_a_model_at_its_limit_seldom_passes_and_seldom_fails(tasks: int, lean: float) -> None:
    found = outcomes(tasks, 1000, lean, 0.03, max=0.03)
    assert found["pass"] <= MOST
    assert found["fail"] <= MOST


def test_many_pairs_at_the_limit_seldom_fail() -> None:
    """Without a correction one of 40 pairs lies beyond it in most samples."""
    found = outcomes(20, 1000, 0.2, 0.05, pairs=True, max=0.05)
    assert found["fail"] <= MOST
    assert found["pass"] <= MOST


def test_clear_directions_are_decided() -> None:
    """The standard error is about .0033: the limits lie four of them away on either side."""
    assert outcomes(20, 1000, 0.2, 0.03, max=0.044)["pass"] >= 80
    assert outcomes(20, 1000, 0.2, 0.03, max=0.016)["fail"] >= 80
