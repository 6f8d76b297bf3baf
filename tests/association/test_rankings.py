"""Ranks, kept orders and the tables that compare rankings, against loops over labels."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.association.rankings import competition_ranks, kept_order

NAN = float("nan")
# y00 is too rare.
RANKED = [f"y{j:02d}" for j in range(1, 25)]


def test_equal_values_share_the_better_rank() -> None:
    values = np.array([2.0, 5.0, NAN, 5.0, -np.inf, np.inf, 2.0, 9.0])
    ranked = np.array([True] * 7 + [False])
    np.testing.assert_array_equal(competition_ranks(values, ranked), [4, 2, NAN, 2, 6, 1, 4, NAN])
    assert np.isnan(competition_ranks(values, np.zeros(8, dtype=bool))).all()
    assert competition_ranks(np.zeros(0), np.zeros(0, dtype=bool)).tolist() == []
    assert competition_ranks(np.array([7.0]), np.array([True])).tolist() == [1]


def slow_order(a: Any, b: Any) -> float:
    there = [(x, y) for x, y in zip(a, b, strict=True) if not (np.isnan(x) or np.isnan(y))]
    same = [np.sign(x - u) == np.sign(y - v) for (x, y), (u, v) in combinations(there, 2)]
    return float(np.mean(same)) if same else NAN


@pytest.mark.parametrize("many", [0, 1, 2, 3, 10, 63, 64, 65, 130, 257])
@pytest.mark.parametrize("kinds", [2, 6, 1000])
def test_order_that_is_kept_is_counted_pair_by_pair(many: int, kinds: int) -> None:
    rng = np.random.default_rng(many + kinds)
    a, b = rng.integers(0, kinds, (2, many)).astype(float)
    assert kept_order(a, b) == pytest.approx(slow_order(a, b), rel=1e-15, nan_ok=True)
    assert kept_order(a, -a) == pytest.approx(slow_order(a, -a), rel=1e-15, nan_ok=True)
    a[::5], b[2::7] = NAN, NAN
    assert kept_order(a, b) == pytest.approx(slow_order(a, b), rel=1e-15, nan_ok=True)


def test_orders_of_one_and_of_equal_items() -> None:
    assert np.isnan(kept_order(np.array([1.0]), np.array([2.0])))
    assert np.isnan(kept_order(np.array([1.0, NAN]), np.array([2.0, 3.0])))
    assert kept_order(np.array([1.0, 2.0]), np.array([5.0, 6.0])) == 1
    assert kept_order(np.array([1.0, 2.0]), np.array([6.0, 5.0])) == 0
    assert kept_order(np.ones(100), np.ones(100)) == 1
    assert kept_order(np.ones(4), np.arange(4.0)) == 0
    assert kept_order(np.array([1.0, 1.0, 2.0]), np.array([1.0, 1.0, 2.0])) == 1
    assert kept_order(np.arange(200.0), np.arange(200.0)) == 1


@pytest.fixture(scope="module")
def result() -> biasamp.Association:
    rng = np.random.default_rng(3)
    records = [
        [who, *(f"y{j:02d}" for j in range(25) if rng.random() < (j + 1) / 40 * (1.5 if who == "mwo"[j % 3] else 1.0))]
        for who in "mwo"
        for _ in range(90)
    ]
    return biasamp.associate(
        records, {"men": "m", "women": "w", "others": "o"}, metrics=["dp", "npmi_xy", "pmi", "llr"]
    )


DIRECTIONS = [{}, {"toward": "women"}, {"toward": "women", "against": "men"}, {"toward": "men", "against": "others"}]


@pytest.mark.parametrize("how", DIRECTIONS)
@pytest.mark.parametrize("k", [0, 1, 7, 100])
def test_how_common_the_labels_on_top_are(result: biasamp.Association, how: dict[str, str], k: int) -> None:
    rows = list(result.top_counts(k, **how).rows())
    names = ["C(y)", "C(men,y)", "C(women,y)", "C(others,y)"]
    assert [(row["metric"], row["count"]) for row in rows] == [(m, name) for m in result.metrics for name in names]
    for row in rows:
        top = [result.labels.index(label) for label in result.top(row["metric"], k, **how)["label"]]
        held = result.count[top] if row["count"] == "C(y)" else result.joint[top, names.index(row["count"]) - 1]
        assert row["labels"] == len(held) == min(k, 24)
        for name in ("min", "max", "mean", "std"):
            if k:
                assert row[name] == pytest.approx(float(getattr(np, name)(held)), rel=1e-12)
            else:
                assert row[name] is None


@pytest.mark.parametrize("how", DIRECTIONS)
@pytest.mark.parametrize("k", [1, 6])
def test_how_far_metrics_agree(result: biasamp.Association, how: dict[str, str], k: int) -> None:
    rows = list(result.agreement(k, **how).rows())
    assert [(row["metric_a"], row["metric_b"]) for row in rows] == list(combinations(result.metrics, 2))
    contrast, sign = result.gap_toward(how.get("toward"), how.get("against"))
    for row in rows:
        pair = row["metric_a"], row["metric_b"]
        tops = [set(result.top(metric, k, **how)["label"].tolist()) for metric in pair]
        assert row["shared"] == len(tops[0] & tops[1])
        gaps = [sign * result.values.gaps(metric, contrast) for metric in pair]
        # These are ranked by their ratio, of which equal gaps are rounded.
        gaps = [np.round(gap, 12) if m in ("pmi", "llr") else gap for m, gap in zip(pair, gaps, strict=True)]
        shared = [result.labels.index(label) for label in sorted(tops[0] & tops[1])]
        ranked = [result.labels.index(label) for label in RANKED]
        for name, among in (("order_shared", shared), ("order", ranked)):
            wanted = slow_order(gaps[0][among], gaps[1][among])
            assert (NAN if row[name] is None else row[name]) == pytest.approx(wanted, nan_ok=True), (pair, name)


def test_agreement_has_no_row_for_one_metric() -> None:
    alone = biasamp.associate([["m", "y"], ["w", "z"]] * 9, ["m", "w"], metrics="dp")
    table = alone.agreement()
    assert len(table) == 0
    assert list(table.columns) == ["metric_a", "metric_b", "shared", "order_shared", "order"]


@pytest.mark.parametrize("how", DIRECTIONS)
def test_ranks_under_two_metrics(result: biasamp.Association, how: dict[str, str]) -> None:
    found = result.rank_changes("dp", "llr", **how)
    ranks = [
        dict(zip(top["label"], top["rank"], strict=True)) for top in (result.top(m, 99, **how) for m in ("dp", "llr"))
    ]
    assert found["label"].tolist() == [f"y{j:02d}" for j in range(1, 25)]
    assert found["name"].tolist() == found["label"].tolist()
    for row in found.rows():
        assert row["count"] == result.count[result.labels.index(row["label"])]
        assert row["rank_a"] == ranks[0][row["label"]]
        assert row["rank_b"] == ranks[1][row["label"]]
        assert row["change"] == row["rank_b"] - row["rank_a"]
    assert found["change"].any()
    for pair, name in ((("dq", "dp"), "metric_a"), (("dp", "sdc"), "metric_b")):
        with pytest.raises(ValueError, match=f"{name} is '(dq|sdc)'; this result holds dp, npmi_xy, pmi, llr"):
            result.rank_changes(*pair)
