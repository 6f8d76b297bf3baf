"""Bootstraps agree with scipy's on few records and with the closed form on many."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest
from scipy import stats

import biasamp
from biasamp.resampling.intervals import bca_interval, percentile_interval


def sample(n: int, seed: int = 0, tasks: int = 4) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    groups = (rng.random(n) < 0.4).astype(int)
    truth = (rng.random((n, tasks)) < 0.25 + 0.3 * groups[:, None]).astype(int)
    predicted = np.where(rng.random(truth.shape) < 0.15, 1 - truth, truth)
    return groups, truth, predicted


def by_hand(groups: Any, truth: Any, predicted: Any, signs: np.ndarray) -> float:
    """The value with fixed signs, in plain numpy."""
    moved = [predicted[groups == g].mean(axis=0) - truth[groups == g].mean(axis=0) for g in (0, 1)]
    return float((signs * np.array(moved)).mean())


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_few_records_as_scipy(method: str) -> None:
    groups, truth, predicted = sample(120, 5)
    signs = np.array([[-1] * 4, [1] * 4])
    theirs = stats.bootstrap(
        (np.arange(120),),
        lambda rows: by_hand(groups[rows], truth[rows], predicted[rows], signs),
        n_resamples=6000,
        vectorized=False,
        method="BCa" if method == "bca" else "percentile",
        random_state=np.random.default_rng(0),
    )
    result = biasamp.directional(groups, truth, predicted, direction=signs)
    ours = result.confidence_interval(method="bca" if method == "bca" else "bootstrap", resamples=6000)
    assert result.value == pytest.approx(by_hand(groups, truth, predicted, signs))
    width = theirs.confidence_interval.high - theirs.confidence_interval.low
    assert ours.low == pytest.approx(theirs.confidence_interval.low, abs=0.06 * width)
    assert ours.high == pytest.approx(theirs.confidence_interval.high, abs=0.06 * width)


G, T, P = sample(12_000, 1)
SOFT = np.clip(0.8 * P + 0.2 * np.random.default_rng(2).random(P.shape), 0, 1)
SEEN = np.where(np.random.default_rng(3).random(len(G)) < 0.1, 1 - G, G)
REAL = np.random.default_rng(4).gamma(2.0, size=len(G))
PEOPLE = np.repeat(np.arange(len(G) // 4), 4)
LARGE = {
    "A->T": lambda: biasamp.directional(G, T, P),
    "T->A": lambda: biasamp.directional(T, G, SEEN),
    "train": lambda: biasamp.directional(G, T, P, train=(G.copy(), T.copy())),
    "base": lambda: biasamp.directional(G, T, P, base=(G[::2], T[::2])),
    "cross-fitted": lambda: biasamp.directional(G, T, P, signs="crossfit"),
    "soft": lambda: biasamp.directional(G, T, SOFT),
    "weights": lambda: biasamp.directional(G, T, P, weights=REAL),
    "clusters": lambda: biasamp.directional(G[PEOPLE], T[PEOPLE], P[PEOPLE], cluster=PEOPLE),
    "mals": lambda: biasamp.mals(G, T, SEEN, P),
    "mals with train": lambda: biasamp.mals(None, None, SEEN, P, train=(G, T)),
    "mals with clusters": lambda: biasamp.mals(G, T, SEEN, P, cluster=PEOPLE),
    "multi": lambda: biasamp.multi(G, T, P, itemsets="subsets", max_size=2),
}


@pytest.mark.parametrize("name", LARGE)
def test_many_records_as_the_closed_form(name: str) -> None:
    """Within 10%: an sd of 800 resamples is itself sure to 2.5%."""
    result = LARGE[name]()
    values = result.interval_maker().values(800, 1)
    closed = result.confidence_interval(method="closed_form").standard_error
    assert values.std() == pytest.approx(closed, rel=0.1)
    assert values.mean() == pytest.approx(result.value, abs=0.2 * closed)


@pytest.mark.parametrize("weights", [None, REAL])
def test_errors_of_bags_are_those_of_records(weights: Any) -> None:
    """4,096 bags of about three records each: a sum of squares over bags is off by about 2%."""
    result = biasamp.directional(G, T, P, weights=weights, train=(G.copy(), T.copy()))
    own = np.ones(len(G)) if weights is None else weights
    signs = np.array([[-1] * 4, [1] * 4])
    influence = np.zeros(len(G))
    for g in (0, 1):
        there = own * (g == G)
        moved = (P - T) - there @ (P - T) / there.sum()
        influence += there * (signs[g] * moved).sum(axis=1) / there.sum() / 8
    expected = np.sqrt((influence**2).sum())
    assert result.confidence_interval(method="closed_form").standard_error == pytest.approx(expected, rel=0.06)
    assert result.interval_maker().values(2000, 3).std() == pytest.approx(expected, rel=0.08)


def test_a_seed_gives_the_same_interval_and_another_one_another() -> None:
    result = biasamp.directional(G, T, SOFT)
    again = biasamp.directional(G, T, SOFT)
    assert result.confidence_interval(seed=4) == again.confidence_interval(seed=4)
    assert result.confidence_interval(seed=4) != again.confidence_interval(seed=5)


def test_bca_undoes_a_known_bias_and_skew() -> None:
    """For the mean of an exponential, BCa moves to the right of the percentile interval, as scipy's does."""
    rng = np.random.default_rng(0)
    data = rng.exponential(size=40)
    draws = rng.choice(data, (20_000, 40)).mean(axis=1)
    influence = (data - data.mean()) / 40
    mine = bca_interval(data.mean(), draws, influence, 0.95)
    theirs = stats.bootstrap((data,), np.mean, n_resamples=20_000, random_state=np.random.default_rng(1))
    assert mine == pytest.approx(tuple(theirs.confidence_interval), abs=0.02)
    assert mine[0] > percentile_interval(draws, 0.95)[0]


def test_resamples_without_a_value_are_told() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = biasamp.directional(biasamp.binary([1, 1, 0, 0, 0]), [1, 0, 1, 0, 1], [1, 1, 1, 0, 0])
    assert any("resamples hold no defined pair" in caution for caution in result.quiet_interval().cautions)
    assert percentile_interval(np.array([np.nan, np.nan]), 0.9) == pytest.approx((np.nan, np.nan), nan_ok=True)
