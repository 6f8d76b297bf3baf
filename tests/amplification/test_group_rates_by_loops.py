"""Rates of groups and the sizes that their intervals rest on, pair by pair."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, norm
from scipy.stats import t as student

from biasamp.amplification.group_rates import (
    RATES,
    Proportion,
    apart,
    between_groups,
    clopper_pearson,
    group_rates,
    limits_of_many,
    newcombe,
    over_groups,
    proportion,
    rate_figures,
    rate_parts,
    ratio_interval,
    share,
    wilson,
)
from biasamp.counts.bags import BagCounts
from biasamp.data.arguments import read_evaluation

NAN = float("nan")


def evaluation(seed: int, weighted: bool = False, soft: bool = False, n: int = 300, clusters: Any = None) -> Any:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n, p=[0.5, 0.4, 0.1])
    truth = (rng.random((n, 2)) < 0.3 + 0.2 * (group == "a")[:, None]).astype(int)
    said: Any = np.where(rng.random((n, 2)) < 0.25, 1 - truth, truth)
    if soft:
        said = np.clip(0.7 * said + 0.3 * rng.random((n, 2)), 0, 1)
    weights = np.round(rng.gamma(1.0, size=n) + 0.05, 3) if weighted else None
    read, _, _ = read_evaluation(group, truth, said, None, weights)
    if clusters is not None:
        from biasamp.data.arguments import read_clusters

        read = replace(read, clusters=read_clusters(clusters, n, {}))
    return read, group, truth, np.asarray(said, dtype=float), np.ones(n) if weights is None else weights


def hits_of(rate: str, truth: Any, said: Any) -> tuple[Any, Any]:
    """What each record adds above and below the line."""
    one = np.ones(len(truth))
    return {
        "selection_rate": (said, one),
        "true_positive_rate": (truth * said, truth),
        "false_positive_rate": ((1 - truth) * said, 1 - truth),
        "accuracy": (truth * said + (1 - truth) * (1 - said), one),
        "precision": (truth * said, said),
    }[rate]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("rate", RATES)
def test_rates_and_the_sizes_they_rest_on(rate: str, weighted: bool, soft: bool) -> None:
    """Kish's size of the group's records; soft predictions vary less or more than yes/no, whole ones never less."""
    read, group, truth, said, w = evaluation(3, weighted, soft)
    bags = BagCounts.from_labels(read)
    made = proportion(bags, rate)
    value = getattr(group_rates(bags.whole), rate)
    names = [str(label.category) for label in read.given.labels]
    alone, own, all_varied, all_expected = ({} for _ in range(4))
    for g, name in enumerate(names):
        mine = group == name
        unit = (w[mine] ** 2).sum() / w[mine].sum()
        for o in range(2):
            above, below = hits_of(rate, truth[mine, o], said[mine, o])
            hits, size = (w[mine] * above).sum(), (w[mine] * below).sum()
            assert (made.hits[g, o], made.size[g, o]) == pytest.approx((hits, size))
            assert value[g, o] == pytest.approx(hits / size)
            assert made.value[g, o] == pytest.approx(hits / size)
            alone[g, o] = size / unit
            # Records of a bag are summed before they are squared.
            drawn, sizes = (part[:, g, o] for part in rate_parts(bags.counts, rate))
            filled = int((sizes > 0).sum())
            varied = ((drawn - hits / size * sizes) ** 2).sum() * filled / (filled - 1) / unit**2
            middle = (hits / unit + 2.0) / (size / unit + 4.0)
            yes_no = middle * (1 - middle)
            # Two records of either kind keep a spread.
            all_varied[g, o], all_expected[g, o] = varied + 4 * yes_no, size / unit * yes_no + 4 * yes_no
            own[g, o] = all_varied[g, o] / all_expected[g, o]
    for (g, o), size in alone.items():
        assert made.records[g, o] == pytest.approx(size)
        if not (weighted or soft):
            assert made.effective[g, o] == size
            continue
        pooled = sum(all_varied[h, o] for h in range(3)) / sum(all_expected[h, o] for h in range(3))
        effect = max(own[g, o], pooled, 0.0 if soft else 1.0)
        assert made.effective[g, o] == pytest.approx(size / effect)
    assert made.units is None


def test_clusters_by_the_jackknife() -> None:
    """What the rate would be without each bag: a large cluster draws the rate to itself."""
    read, *_ = evaluation(5, n=120, clusters=np.repeat(np.arange(24), 5))
    bags = BagCounts.from_labels(read)
    made = proportion(bags, "selection_rate", True)
    drawn, sizes = rate_parts(bags.counts, "selection_rate")
    hits, size = made.hits, made.size
    expected = {}
    for g in range(3):
        for o in range(2):
            filled = int((sizes[:, g, o] > 0).sum())
            rate = hits[g, o] / size[g, o]
            varied = 0.0
            for d, s in zip(drawn[:, g, o], sizes[:, g, o], strict=True):
                rest = size[g, o] - s
                # How far the rate moves without the bag, in records.
                varied += (size[g, o] * (rate - (hits[g, o] - d) / rest)) ** 2 if rest > 0 else (d - rate * s) ** 2
            varied *= (filled - 1) / filled
            middle = (hits[g, o] + 2) / (size[g, o] + 4)
            yes_no = middle * (1 - middle)
            expected[g, o] = varied + 4 * yes_no, (size[g, o] + 4) * yes_no
            assert made.units is not None
            assert made.units[g, o] == filled
    for (g, o), (varied, of_yes_no) in expected.items():
        pooled = sum(expected[h, o][0] for h in range(3)) / sum(expected[h, o][1] for h in range(3))
        assert made.effective[g, o] == pytest.approx(size[g, o] / max(varied / of_yes_no, pooled, 1.0))
        assert made.records[g, o] == size[g, o]
    for level in (0.8, 0.95):
        wide = student.ppf(0.5 + level / 2, np.maximum(made.units - 1, 1))  # type: ignore[operator]
        expected_size = made.effective * (norm.ppf(0.5 + level / 2) / wide) ** 2
        np.testing.assert_allclose(made.sizes(level), expected_size)
        low, high = made.interval(level)
        again = wilson(made.value, expected_size, norm.ppf(0.5 + level / 2))
        np.testing.assert_allclose((low, high), again)


def test_few_clusters() -> None:
    """One cluster or two: Student's quantile of one degree of freedom."""
    one = np.full((1, 1), 50.0)
    for units in (1.0, 2.0):
        made = Proportion(0.3 * one, one, one, one, np.full((1, 1), units))
        expected = 50.0 * (norm.ppf(0.975) / student.ppf(0.975, 1)) ** 2
        assert made.sizes(0.95)[0, 0] == pytest.approx(expected)


def test_where_bags_tell_nothing() -> None:
    """Too few bags: sizes by Kish, and none where records come in clusters."""
    read, *_ = evaluation(6, weighted=True)
    bags = BagCounts.from_labels(read, bags=2)
    made = proportion(bags, "accuracy")
    np.testing.assert_array_equal(made.effective, made.records)
    assert made.units is None
    clustered = proportion(bags, "accuracy", True)
    assert np.isnan(clustered.effective).all()
    np.testing.assert_array_equal(clustered.records, made.records)


def test_shares() -> None:
    assert share(np.array([1.0, 0.0, 2.0]), np.array([4.0, 0.0, 2.0])).tolist() == pytest.approx(
        [0.25, NAN, 1.0], nan_ok=True
    )
    assert np.isnan(share(np.array([0.0]), np.array([-1e-18]))).all()


def test_between_and_over_groups() -> None:
    rates = np.array([[0.2, NAN, NAN], [0.5, 0.4, NAN], [0.4, 0.7, 0.3]])
    assert between_groups(rates).tolist() == pytest.approx([0.3, 0.3, NAN], nan_ok=True)
    assert over_groups(rates).tolist() == pytest.approx([1.1 / 3, 0.55, 0.3])
    assert np.isnan(over_groups(np.full((2, 1), NAN))).all()
    several = np.stack([rates, rates + 0.1])
    assert between_groups(several).shape == over_groups(several).shape == (2, 3)


def test_mean_per_class_accuracy() -> None:
    read, *_ = evaluation(2)
    found = group_rates(BagCounts.from_labels(read).whole)
    expected = (found.true_positive_rate + 1 - found.false_positive_rate) / 2
    np.testing.assert_allclose(found.mean_per_class_accuracy, expected)


def test_wilson_at_the_ends() -> None:
    """Of none and of all, one limit is exact; outside of 0 to 1 there is nothing."""
    z = norm.ppf(0.975)
    low, high = wilson(np.array([0.0, 1.0, NAN, 0.5]), np.array([10.0, 10.0, 10.0, 0.0]), z)
    assert (low[0], high[1]) == (0.0, 1.0)
    assert high[0] == pytest.approx(z * z / (10 + z * z))
    assert low[1] == pytest.approx(1 - z * z / (10 + z * z))
    assert np.isnan([low[2], high[2], low[3], high[3]]).all()


@pytest.mark.parametrize(
    ("hits", "size", "level"), [(3.0, 17.0, 0.9), (2.5, 9.75, 0.95), (0.0, 8.0, 0.95), (8.0, 8.0, 0.5)]
)
def test_clopper_pearson(hits: float, size: float, level: float) -> None:
    """Quantiles of beta distributions; sizes need not be whole."""
    low, high = clopper_pearson(hits / size, size, level)
    tail = (1 - level) / 2
    assert float(low) == pytest.approx(beta.ppf(tail, hits, size - hits + 1) if hits else 0.0)
    assert float(high) == pytest.approx(beta.ppf(1 - tail, hits + 1, size - hits) if size > hits else 1.0)
    hair = clopper_pearson(np.array([1.0 + 1e-15, -1e-17]), np.array([8.0, 8.0]), level)
    assert (hair[1][0], hair[0][1]) == (1.0, 0.0)


def test_limits_of_one_and_of_many() -> None:
    one = wilson(0.3, 40.0, norm.ppf(0.95))
    assert limits_of_many(0.3, 40.0, 0.9, 1) == pytest.approx(one)
    assert limits_of_many(0.3, 40.0, 0.9, 0) == pytest.approx(one)
    for many in (2, 10):
        expected = clopper_pearson(0.3, 40.0, 1 - 0.1 / many)
        np.testing.assert_allclose(limits_of_many(0.3, 40.0, 0.9, many), expected)


def test_limits_of_a_difference() -> None:
    low, high = apart(0.5, (0.4, 0.7), 0.3, (0.25, 0.32))
    assert low == pytest.approx(0.2 - sqrt(0.1**2 + 0.02**2))
    assert high == pytest.approx(0.2 + sqrt(0.2**2 + 0.05**2))


def test_ratios_at_the_ends() -> None:
    """The upper limit of a ratio to nothing is unknown; that of nothing is above 0."""
    low, high = ratio_interval(np.array([0.4, 0.0, 1.0]), 30.0, np.array([0.0, 0.5, 1.0]), 50.0, 0.95)
    assert np.isnan([low[0], high[0]]).all()
    assert low[1] == 0.0
    assert 0.0 < high[1] < 0.5
    assert low[2] < 1.0 < high[2]


def test_figures_of_a_table() -> None:
    """Differences and ratios are to the reference; of itself there are none."""
    rng = np.random.default_rng(7)
    size = rng.integers(20, 90, (3, 2)).astype(float)
    hits = rng.binomial(size.astype(int), 0.4).astype(float)
    made = Proportion(hits, size, size, size)
    plain = rate_figures(made, 0.9)
    assert set(plain) == {"value", "low", "high", "size"}
    found = rate_figures(made, 0.9, 1)
    low, high = made.interval(0.9)
    for name, part in (("value", hits / size), ("low", low), ("high", high), ("size", size)):
        np.testing.assert_allclose(found[name], part)
        np.testing.assert_allclose(plain[name], part)
    for g in range(3):
        for o in range(2):
            p, q, n, m = hits[g, o] / size[g, o], hits[1, o] / size[1, o], size[g, o], size[1, o]
            expected = {
                "difference": (p - q, *newcombe(p, n, q, m, 0.9)),
                "ratio": (p / q, *ratio_interval(p, n, q, m, 0.9)),
            }
            for name, parts in expected.items():
                told = [found[name + end][g, o] for end in ("", "_low", "_high")]
                assert told == pytest.approx([NAN] * 3 if g == 1 else [float(part) for part in parts], nan_ok=True)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("soft", [False, True])
def test_groups_that_nobody_has_change_no_rate(weighted: bool, soft: bool) -> None:
    """Rates and records of the others are as without them; theirs are unknown, of no records."""
    import biasamp

    _, group, truth, said, w = evaluation(8, weighted, soft)
    made = []
    for categories in (["a", "b", "c"], ["a", "b", "c", "d"]):
        given = biasamp.categorical(group, categories=categories)
        read, _, _ = read_evaluation(given, truth, said if soft else said.astype(int), None, w if weighted else None)
        made.append([proportion(BagCounts.from_labels(read), rate) for rate in RATES])
    for few, all_ in zip(*made, strict=True):
        for name in ("hits", "size", "records", "value"):
            np.testing.assert_allclose(getattr(all_, name)[:3], getattr(few, name))
        np.testing.assert_allclose(all_.effective[:3], few.effective, rtol=0.1)
        assert np.isnan(all_.value[3]).all()
        assert all_.records[3].tolist() == [0.0, 0.0]
        assert np.isnan(all_.interval(0.95)).any()
