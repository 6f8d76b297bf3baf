"""Rates of groups and their intervals, held against Fairlearn, statsmodels and the defining equations."""

from __future__ import annotations

import csv
import math
import os
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fairlearn.metrics import MetricFrame, false_positive_rate, selection_rate, true_positive_rate
from scipy.special import ndtri
from scipy.stats import binom, binomtest
from sklearn.metrics import accuracy_score, precision_score

import biasamp
from biasamp.amplification.group_rates import (
    Proportion,
    clopper_pearson,
    newcombe,
    one_of_many,
    ratio_interval,
    wilson,
)
from biasamp.amplification.largest_difference import Deciding, largest_difference

RATES = {
    "selection_rate": selection_rate,
    "true_positive_rate": true_positive_rate,
    "false_positive_rate": false_positive_rate,
    "accuracy": accuracy_score,
    "precision": precision_score,
}
DIFFERENCES = {
    "fpr_difference": "false_positive_rate",
    "tpr_difference": "true_positive_rate",
    "accuracy_difference": "accuracy",
}


def compas() -> dict[str, Any]:
    path = Path(os.environ["BIASAMP_DATA"]) / "compas_two_years.csv"
    rows = list(csv.DictReader(path.read_text(encoding="utf-8").splitlines()))
    return {
        "race": [row["race"] for row in rows],
        "sex": [row["sex"] for row in rows],
        "recid": [int(row["two_year_recid"]) for row in rows],
        "high": [int(int(row["decile_score"]) >= 5) for row in rows],
    }


def fairlearn(data: dict[str, Any], features: list[str], keep: np.ndarray | None = None) -> MetricFrame:
    taken = slice(None) if keep is None else keep
    return MetricFrame(
        metrics=RATES,
        y_true=np.array(data["recid"])[taken],
        y_pred=np.array(data["high"])[taken],
        sensitive_features={name: np.array(data[name])[taken] for name in features},
    )


@pytest.mark.data
@pytest.mark.filterwarnings("ignore:Precision is ill-defined")
@pytest.mark.parametrize("features", [["race"], ["sex"], ["race", "sex"]])
def test_compas_is_fairlearns(features: list[str]) -> None:
    """Every rate of every group, and with every group deciding the differences too; one race has no error rates."""
    data = compas()
    made = biasamp.audit(
        data,
        attributes=["race", "sex"],
        tasks="recid",
        task_predictions="high",
        intersections=True,
        metrics=["parity"],
        min_group=0,
        resamples=20,
    )
    frame = fairlearn(data, features)
    attribute = " x ".join(features)
    rows = [row for row in made.document["rates"] if row["attribute"] == attribute]
    assert len(rows) == len(frame.by_group.dropna(how="all"))
    for row in rows:
        values = row["group"].removeprefix(f"{attribute}=").split(" & ")
        theirs = frame.by_group.loc[tuple(values) if len(values) > 1 else values[0]]
        for name in RATES:
            if row[name]["value"] is None:
                assert theirs[name] == 0  # Fairlearn's word for a rate of nobody
            else:
                assert row[name]["value"] == pytest.approx(theirs[name], abs=1e-12)
    for entry in made.document["metrics"]:
        if entry["attribute"] == attribute and entry["metric"] in DIFFERENCES:
            difference = frame.difference(method="between_groups")[DIFFERENCES[entry["metric"]]]
            assert entry["value"] == pytest.approx(difference, abs=1e-12)


@pytest.mark.data
def test_small_groups_do_not_decide() -> None:
    """Of 18 Native Americans 8 did not recidivate, of 32 Asians 23: their false positive rates rest on too little."""
    data = compas()
    made = biasamp.audit(data, attributes="race", tasks="recid", task_predictions="high", metrics=["parity"])
    (entry,) = [e for e in made.document["metrics"] if e["metric"] == "fpr_difference"]
    large = ~np.isin(data["race"], ["Native American", "Asian"])
    among = fairlearn(data, ["race"], large).difference(method="between_groups")["false_positive_rate"]
    every = fairlearn(data, ["race"]).difference(method="between_groups")["false_positive_rate"]
    assert entry["value"] == pytest.approx(among, abs=1e-12)
    assert entry["every_group"] == pytest.approx(every, abs=1e-12)
    assert entry["between"] == ["race=African-American", "race=Other"]
    assert entry["sizes"] == [1795, 244]


@pytest.mark.data
def test_compas_in_its_own_terms() -> None:
    """ProPublica: at decile 5 or more, 44.85% and 23.45% of those who did not recidivate were called risky."""
    made = biasamp.audit(
        compas(), attributes="race", tasks="recid", task_predictions="high", reference="Caucasian", metrics=["parity"]
    )
    rows = {row["group"]: row for row in made.document["rates"]}
    black, white = (rows[f"race={name}"]["false_positive_rate"] for name in ("African-American", "Caucasian"))
    assert (round(black["value"], 4), round(white["value"], 4)) == (0.4485, 0.2345)
    for rate in (black, white):
        centre, z = rate["value"], float(ndtri(0.975))
        # Wilson's limits solve |rate - p| = z sqrt(p (1 - p) / n).
        for bound in (rate["low"], rate["high"]):
            assert abs(centre - bound) == pytest.approx(z * np.sqrt(bound * (1 - bound) / rate["size"]), rel=1e-9)
    assert black["ratio"] == pytest.approx(black["value"] / white["value"])
    assert white.get("ratio") is None
    frame = made.to_frame("groups", "pandas")
    assert frame.set_index("group").loc["race=African-American", "false_positive_rate"] == black["value"]


def test_ratio_limits_solve_their_equation() -> None:
    """MOVER-R: at its limits, p1 - R p2 is as far from 0 as the Wilson limits of both, taken together, reach."""
    p1, n1, p2, n2, z = 0.8, 70.0, 0.6, 80.0, float(ndtri(0.975))
    (low1, high1), (low2, high2) = wilson(p1, n1, z), wilson(p2, n2, z)
    low, high = ratio_interval(p1, n1, p2, n2, 0.95)
    assert (p1 - low * p2) ** 2 == pytest.approx((p1 - low1) ** 2 + (low * (high2 - p2)) ** 2)
    assert (high * p2 - p1) ** 2 == pytest.approx((high1 - p1) ** 2 + (high * (p2 - low2)) ** 2)
    low, high = ratio_interval(0.0, n1, p2, n2, 0.95)
    assert (low, high > 0) == (0.0, True)
    assert np.isnan(ratio_interval(p1, n1, 0.0, n2, 0.95)).all()


def slow_largest(hits: np.ndarray, size: np.ndarray, level: float) -> tuple[float, float, float]:
    """The largest difference with its bounds, pair by pair."""
    pairs = [(g, h, o) for o in range(hits.shape[1]) for g, h in combinations(range(len(hits)), 2)]
    each = 1 - (1 - level) / len(pairs)
    value = low = high = 0.0
    for g, h, o in pairs:
        p, q = hits[g, o] / size[g, o], hits[h, o] / size[h, o]
        one, two = (binomtest(int(hits[i, o]), int(size[i, o])).proportion_ci(each, method="exact") for i in (g, h))
        a = p - q - math.hypot(p - one.low, two.high - q)
        b = p - q + math.hypot(one.high - p, q - two.low)
        value, low, high = max(value, abs(p - q)), max(low, a, -b), max(high, b, -a)
    return value, low, high


def test_the_largest_difference_is_that_of_every_pair() -> None:
    rng = np.random.default_rng(5)
    size = rng.integers(40, 400, (4, 6)).astype(float)
    hits = rng.binomial(size.astype(int), rng.random((4, 6))).astype(float)
    made = Proportion(hits, size, size, size)
    found = largest_difference(made, Deciding.of(made, 30, np.ones(4, dtype=bool)), 0.95)
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx(slow_largest(hits, size, 0.95))
    assert found.compared == 36
    rate = hits / size
    assert found.value == pytest.approx(rate[found.higher, found.outcome] - rate[found.lower, found.outcome])
    alone = [slow_largest(hits[:, [o]], size[:, [o]], 0.95) for o in range(6)]
    np.testing.assert_allclose(found.by_outcome.T, alone)


def test_small_groups_decide_nothing_and_equal_ones_are_two() -> None:
    """Every outcome has other groups that decide; in the last one all rates are equal."""
    rng = np.random.default_rng(6)
    size = rng.choice([5.0, 60.0, 300.0], (5, 8))
    hits = rng.binomial(size.astype(int), rng.random((5, 8))).astype(float)
    size[:, 7], hits[:, 7] = 100.0, 40.0
    size[0] = hits[0] = 0.0
    made = Proportion(hits, size, size, size)
    decides = Deciding.of(made, 30, np.array([True, True, True, False, True]))
    counted = (size >= 30) & np.array([True, True, True, False, True])[:, None]
    found = largest_difference(made, decides, 0.95)
    assert found is not None
    several = [o for o in range(8) if counted[:, o].sum() >= 2]
    assert len(several) in range(3, 8)
    for o in several:
        h, n = hits[counted[:, o], o], size[counted[:, o], o]
        if len(n) == 2:  # a single difference: Newcombe's
            top, bottom = int(np.argmax(h / n)), int(np.argmin(h / n))
            low, high = newcombe(h[top] / n[top], n[top], h[bottom] / n[bottom], n[bottom], 0.95)
            expected = h[top] / n[top] - h[bottom] / n[bottom], max(low, 0.0), high
        else:
            expected = slow_largest(h[:, None], n[:, None], 0.95)
        np.testing.assert_allclose(found.by_outcome[:, o], expected)
    assert {int(counted[:, o].sum()) for o in several} >= {2, 3}
    rate = hits[:, several] / np.where(counted, size, np.nan)[:, several]
    assert found.value == pytest.approx(np.nanmax(np.nanmax(rate, axis=0) - np.nanmin(rate, axis=0)))
    even = Proportion(hits[:, 7:], size[:, 7:], size[:, 7:], size[:, 7:])
    tied = largest_difference(even, Deciding.of(even, 30, np.ones(5, dtype=bool)), 0.95)
    assert tied is not None
    assert (tied.value, tied.low, tied.higher, tied.lower) == (0.0, 0.0, 1, 2)


@pytest.mark.parametrize("hits", [0, 1, 7, 39, 40])
def test_exact_limits_are_those_of_scipy(hits: int) -> None:
    low, high = clopper_pearson(hits / 40, 40, 0.99)
    known = binomtest(hits, 40).proportion_ci(0.99, method="exact")
    assert (low, high) == pytest.approx((known.low, known.high))
    assert np.isnan(clopper_pearson(0.5, 0.0, 0.95)).all()


@pytest.mark.slow(keep=2)
@pytest.mark.parametrize("compared", [2, 20, 80])
@pytest.mark.parametrize("rate", [0.02, 0.1, 0.3])
@pytest.mark.parametrize("sizes", [(40, 2000), (100, 5000), (35, 35), (250, 250)])
def test_one_of_many_differences_covers(compared: int, rate: float, sizes: tuple[int, int]) -> None:
    """All samples of two equal groups with their chances: the share in which one of so many differences is not 0."""
    hits = [np.arange(size + 1) for size in sizes]
    chance = np.outer(*(binom.pmf(x, size, rate) for x, size in zip(hits, sizes, strict=True)))
    p, q = np.meshgrid(hits[0] / sizes[0], hits[1] / sizes[1], indexing="ij")
    low, high = one_of_many(p, float(sizes[0]), q, float(sizes[1]), 0.95, compared)
    missed = chance[(low > 0) | (high < 0)].sum()
    assert (1 - missed) ** compared >= 0.95


def test_a_single_difference_is_newcombes() -> None:
    assert one_of_many(0.8, 70, 0.6, 80, 0.95, 1) == newcombe(0.8, 70, 0.6, 80, 0.95)


@pytest.mark.parametrize(("groups", "outcomes"), [(2, 1), (3, 1), (3, 10)])
def test_the_value_expected_of_equal_groups(groups: int, outcomes: int) -> None:
    """Binomial draws of the same sizes have that mean."""
    rng = np.random.default_rng(groups)
    size = np.full((groups, outcomes), 200.0)
    drawn = rng.binomial(200, 0.3, (2000, groups, outcomes)) / 200.0
    mean = float((drawn.max(axis=1) - drawn.min(axis=1)).max(axis=1).mean())
    made = Proportion(0.3 * size, size, size, size)
    found = largest_difference(made, Deciding.of(made, 30, np.ones(groups, dtype=bool)), 0.95)
    assert found is not None
    assert found.expected == pytest.approx(mean, rel=0.05)


def test_weights_of_one_kind_change_nothing_and_uneven_ones_widen() -> None:
    rng = np.random.default_rng(1)
    group, truth = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    predicted = np.where(rng.random(2000) < 0.3, 1 - truth, truth)
    alone = biasamp.parity(group, truth, predicted).groups
    even = biasamp.parity(group, truth, predicted, weights=np.full(2000, 2.0)).groups
    uneven = biasamp.parity(group, truth, predicted, weights=rng.gamma(0.5, size=2000)).groups
    widths = [t["true_positive_rate_high"] - t["true_positive_rate_low"] for t in (alone, even, uneven)]
    assert widths[1] == pytest.approx(widths[0], rel=0.06)
    # Gamma weights of shape .5 leave a third of the records, by Kish.
    assert (widths[2] / widths[0]) == pytest.approx(np.sqrt(3.0), rel=0.2)


def test_clusters_widen_by_their_size() -> None:
    """Records that come four times say no more than once."""
    rng = np.random.default_rng(2)
    base = {"g": rng.integers(0, 2, 500), "t": rng.integers(0, 2, 500)}
    base["p"] = np.where(rng.random(500) < 0.3, 1 - base["t"], base["t"])
    asked: dict[str, Any] = {
        "attributes": "g",
        "tasks": "t",
        "task_predictions": "p",
        "metrics": ["parity"],
        "resamples": 20,
    }
    once = biasamp.audit(base, **asked)
    four = {name: np.repeat(values, 4) for name, values in base.items()} | {"who": np.repeat(np.arange(500), 4)}
    clustered = biasamp.audit(four, cluster="who", **asked)
    for one, other in zip(once.document["rates"], clustered.document["rates"], strict=True):
        for name in ("true_positive_rate", "accuracy"):
            assert one[name]["value"] == other[name]["value"]
            widths = [rate["high"] - rate["low"] for rate in (one[name], other[name])]
            assert widths[1] == pytest.approx(widths[0], rel=0.12)
