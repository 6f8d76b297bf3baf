"""Weights are Poisson(1) draws that depend on nothing but the seed, the resample and the record's key."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasamp.counts.bagging import half_of, poisson_weights, thresholds
from biasamp.data.keys import record_keys, row_keys


def test_the_draws_are_poisson_to_16_bits() -> None:
    steps = np.array(thresholds())
    worth = np.searchsorted(steps, np.arange(1 << 16), side="right")
    assert worth.mean() == 1.0
    for k in range(6):
        assert (worth == k).mean() == pytest.approx(math.exp(-1) / math.factorial(k), abs=3e-5)


def test_weights_have_mean_1_and_variance_1_and_resamples_are_independent() -> None:
    weights = poisson_weights(row_keys(0, 20_000), 40, 3).astype(float)
    assert weights.mean() == pytest.approx(1.0, abs=0.005)
    assert weights.var() == pytest.approx(1.0, abs=0.02)
    between = np.corrcoef(weights)[np.triu_indices(40, 1)]
    assert np.abs(between).max() < 5 / math.sqrt(20_000)
    neighbours = np.corrcoef(weights[:, :-1].ravel(), weights[:, 1:].ravel())[0, 1]
    assert abs(neighbours) < 0.01


@given(st.integers(-5, 1 << 70), st.integers(1, 30))
def test_parts_and_order_do_not_matter(seed: int, resamples: int) -> None:
    keys = record_keys(np.arange(50))
    whole = poisson_weights(keys, resamples, seed)
    order = np.random.default_rng(0).permutation(50)
    assert (poisson_weights(keys[order], resamples, seed) == whole[:, order]).all()
    assert (poisson_weights(keys, 8, seed, first=4) == poisson_weights(keys, 12, seed)[4:]).all()


def test_halves_are_halves_and_other_seeds_give_others() -> None:
    keys = row_keys(0, 10_000)
    half = half_of(keys)
    assert half.mean() == pytest.approx(0.5, abs=0.02)
    assert (half == half_of(keys, 1)).mean() == pytest.approx(0.5, abs=0.02)
    assert (half_of(keys[::-1]) == half[::-1]).all()


def test_neighbouring_seeds_are_unrelated() -> None:
    n = 20_000
    rows = np.concatenate([poisson_weights(row_keys(0, n), 8, seed=seed).astype(float) for seed in (0, 1)])
    assert np.abs(np.corrcoef(rows)[np.triu_indices(16, 1)]).max() < 4.5 / math.sqrt(n)
