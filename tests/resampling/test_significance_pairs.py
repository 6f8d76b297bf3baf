"""Intervals and tests of single pairs, against enumeration, scipy and loops."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy import stats

import biasamp
from biasamp.counts.pair import PairCounts
from biasamp.resampling.intervals import pair_errors
from biasamp.resampling.significance import binomial_mid_p, delta_p, pair_intervals
from evaluations import make


def table(gained: int, lost: int, same: int) -> PairCounts:
    truth = [0] * gained + [1] * lost + [0] * same
    said = [1] * gained + [0] * lost + [0] * same
    return PairCounts.from_labels(make(["g"] * len(truth), [[t] for t in truth], [[s] for s in said]))


@pytest.mark.slow(keep=5)
@pytest.mark.parametrize("size", [5, 12, 30])
@pytest.mark.parametrize("rates", [(0.05, 0.05), (0.2, 0.1), (0.02, 0.0), (0.3, 0.3)])
def test_coverage_by_enumeration(size: int, rates: tuple[float, float]) -> None:
    """Every outcome of a small group with its chance: no simulation, no luck."""
    up, down = rates
    covered = 0.0
    for gained in range(size + 1):
        for lost in range(size - gained + 1):
            rest = size - gained - lost
            chance = comb(size, gained) * comb(size - gained, lost) * up**gained * down**lost * (1 - up - down) ** rest
            low, high = pair_intervals(table(gained, lost, rest))
            covered += chance * bool(low[0, 0] <= up - down <= high[0, 0])
    assert covered >= 0.93


def test_bonett_and_price_by_hand() -> None:
    # 3 gained, 1 lost of 20: (3 - 1) / 22, and the root of ((3 + 1 + 2) / 22 - that squared) / 22.
    low, high = pair_intervals(table(3, 1, 16))
    centre = 2 / 22
    reach = stats.norm.ppf(0.975) * np.sqrt((6 / 22 - centre**2) / 22)
    assert (low[0, 0], high[0, 0]) == pytest.approx((centre - reach, centre + reach))


@pytest.mark.parametrize(("gained", "lost"), [(0, 0), (3, 0), (5, 5), (8, 1), (40, 60)])
def test_mcnemar_exact_p(gained: int, lost: int) -> None:
    expected = stats.binomtest(gained, gained + lost).pvalue if gained + lost else 1.0
    assert delta_p(table(gained, lost, 7))[0, 0] == pytest.approx(expected)
    assert delta_p(table(lost, gained, 7))[0, 0] == pytest.approx(expected)


@pytest.mark.parametrize("ones", [np.ones(300), np.ones(300, dtype=int), np.ones(300, dtype=bool)])
def test_weights_of_one_change_no_p_value(ones: np.ndarray) -> None:
    rng = np.random.default_rng(6)
    groups, truth = rng.integers(0, 2, 300), rng.integers(0, 2, (300, 4))
    said = np.where(rng.random(truth.shape) < 0.1, 1, truth)
    plain = biasamp.directional(groups, truth, said)
    weighted = biasamp.directional(groups, truth, said, weights=ones)
    for name in ("p", "q", "sign_p", "low", "high"):
        assert weighted.pairs[name].tolist() == plain.pairs[name].tolist()
    assert weighted.bounds() == plain.bounds()
    assert weighted.quiet_interval() == plain.quiet_interval()
    changed = np.ones(300)
    changed[np.flatnonzero((said != truth).any(axis=1))[0]] = 2.0
    assert biasamp.directional(groups, truth, said, weights=changed).pairs["p"].tolist() != plain.pairs["p"].tolist()


@pytest.mark.parametrize("chance", [0.1, 0.5, 0.83])
def test_binomial_mid_p_is_twice_the_smaller_tail(chance: float) -> None:
    k = np.arange(13.0)
    lower = stats.binom.cdf(k, 12, chance) - 0.5 * stats.binom.pmf(k, 12, chance)
    expected = np.minimum(1.0, 2 * np.minimum(lower, 1 - lower))
    assert binomial_mid_p(k, np.full(13, 12.0), np.array(chance)) == pytest.approx(expected)


def test_soft_predictions_are_tested_by_their_mean() -> None:
    rng = np.random.default_rng(0)
    truth, score = rng.integers(0, 2, 400), rng.random(400)
    counts = PairCounts.from_labels(make(["g"] * 400, truth[:, None], score[:, None]))
    moved = score - truth
    z = moved.sum() / np.sqrt((moved**2).sum())
    assert delta_p(counts)[0, 0] == pytest.approx(2 * stats.norm.sf(abs(z)))
    assert pair_errors(counts)[0, 0] == pytest.approx(moved.std() / 20)


def test_clusters_widen_pairs() -> None:
    rng = np.random.default_rng(2)
    people = np.repeat(np.arange(60), 10)
    groups = np.repeat(rng.integers(0, 2, 60), 10)
    truth = (rng.random((600, 2)) < 0.3 + 0.3 * groups[:, None]).astype(int)
    wrong = np.repeat(rng.random((60, 2)) < 0.3, 10, axis=0)
    predicted = np.where(wrong, 1, truth)
    plain = biasamp.directional(groups, truth, predicted).pairs
    wide = biasamp.directional(groups, truth, predicted, cluster=people).pairs
    assert ((wide["high"] - wide["low"]) > 1.5 * (plain["high"] - plain["low"])).all()
    assert (wide["p"] >= plain["p"]).all()


def test_q_values_are_benjamini_hochberg_over_the_pairs() -> None:
    rng = np.random.default_rng(3)
    groups, truth = rng.integers(0, 2, 500), rng.integers(0, 2, (500, 6))
    predicted = np.where(rng.random(truth.shape) < np.linspace(0, 0.3, 6), 1, truth)
    pairs = biasamp.directional(groups, truth, predicted).pairs
    assert pairs["q"] == pytest.approx(stats.false_discovery_control(pairs["p"]))


def test_intervals_of_mals_pairs_cover() -> None:
    rng = np.random.default_rng(4)
    held = runs = 0
    for _ in range(300):
        groups = (rng.random(150) < 0.5).astype(int)
        tasks = (rng.random((150, 1)) < 0.2 + 0.4 * groups[:, None]).astype(int)
        said = np.where(rng.random(tasks.shape) < 0.1, 1 - tasks, tasks)
        rows = biasamp.mals(groups, tasks, groups, said).pairs
        # P(t|0) = .2, P(t|1) = .6; P(t_hat|g) = .1 + .8 P(t|g).
        expected = 0.58 / (0.26 + 0.58) - 0.6 / 0.8
        told = np.flatnonzero((rows["given"] == "1") & (rows["sign"] == 1))
        for i in told:
            held += bool(rows["low"][i] <= expected <= rows["high"][i])
            runs += 1
    assert runs >= 290
    assert 0.92 <= held / runs <= 0.98


@pytest.mark.parametrize("train", [False, True])
def test_clusters_of_one_change_nothing_for_mals_and_shared_ones_widen(train: bool) -> None:
    rng = np.random.default_rng(5)
    people = np.repeat(np.arange(50), 8)
    groups = np.repeat(rng.integers(0, 2, 50), 8)
    tasks = np.repeat((rng.random((50, 2)) < 0.3 + 0.4 * groups[::8, None]).astype(int), 8, axis=0)
    said = np.where(np.repeat(rng.random((50, 2)) < 0.2, 8, axis=0), 1 - tasks, tasks)
    labels = (None, None) if train else (groups, tasks)
    options = {"train": (groups, tasks)} if train else {}
    plain = biasamp.mals(*labels, groups, said, **options).pairs
    alone = biasamp.mals(*labels, groups, said, cluster=np.arange(400), **options).pairs
    wide = biasamp.mals(*labels, groups, said, cluster=people, **options).pairs
    told = plain["sign"] == 1  # a pair that MALS does not count has amplification 0, fixed
    assert told.any()
    # The same records in other bags, of which some are shared by two records.
    assert alone["low"][told] == pytest.approx(plain["low"][told], abs=0.1 * (plain["high"] - plain["low"]).max())
    ratio = (wide["high"] - wide["low"])[told] / (plain["high"] - plain["low"])[told]
    # Eight records that say the same are worth one: the error grows by about the root of 8, less what is added.
    assert (ratio > 2.0).all()
    assert (ratio < 1.1 * np.sqrt(8)).all()


@pytest.mark.parametrize("errors", [0, 1, 2])
def test_few_errors_of_clusters_are_as_wide_as_those_of_single_records(errors: int) -> None:
    """Every person five times, all alike: nothing more is known than from each once, also where nobody errs."""
    truth = np.tile([[0], [1]], (30, 1))
    said = truth.copy()
    said[: 2 * errors : 2] = 1
    group, person = np.ones((60, 1), dtype=int), np.repeat(np.arange(60), 5)
    direction = np.ones((1, 1))
    once = biasamp.directional(group, truth, said, direction=direction).pairs
    again = biasamp.directional(group[person], truth[person], said[person], direction=direction, cluster=person).pairs
    wide, clustered = (float(pairs["high"][0] - pairs["low"][0]) for pairs in (once, again))
    # Student's quantile at 59 degrees of freedom takes the place of the normal one.
    assert clustered / wide == pytest.approx(stats.t.ppf(0.975, 59) / stats.norm.ppf(0.975), rel=0.03)
