"""Calibrated thresholds and sweeps, against loops over every threshold."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasamp

tied = st.lists(st.integers(0, 6).map(lambda i: i / 7), min_size=1, max_size=30)


@given(tied, st.floats(0, 1))
def test_no_threshold_comes_nearer_to_the_rate(scores: list[float], rate: float) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        calibration = biasamp.calibrate(scores, rate=rate)
    given_rate = calibration.apply(scores).mean()
    assert given_rate == pytest.approx(calibration.rates[0])
    possible = [np.mean(np.array(scores) >= threshold) for threshold in [*scores, 2.0]]
    assert abs(given_rate - rate) == pytest.approx(min(abs(p - rate) for p in possible))


def test_the_papers_rule_without_ties() -> None:
    scores = np.random.default_rng(0).normal(size=200)
    calibration = biasamp.calibrate(scores, rate=0.13)
    assert calibration.threshold == np.sort(scores)[-26]
    assert calibration.apply(scores).sum() == 26


def test_each_label_has_its_rate() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    frame = pandas.DataFrame({"cat": rng.random(100), "dog": rng.random(100)})
    calibration = biasamp.calibrate(frame, rate={"dog": 0.3, "cat": 0.1})
    assert calibration.apply(frame).sum(axis=0).tolist() == [10, 30]
    assert calibration.table["label"].tolist() == ["cat", "dog"]
    with pytest.raises(ValueError, match="2 labels"):
        _ = calibration.threshold
    with pytest.raises(ValueError, match=r"no entry for \['dog'\]"):
        biasamp.calibrate(frame, rate={"cat": 0.1})


def test_calibration_of_bad_scores() -> None:
    with pytest.raises(
        ValueError, match=r"1 values that are missing or not finite, such as nan in column 0 \(row 2, counted"
    ):
        biasamp.calibrate([0.1, np.nan], rate=0.5)
    with pytest.raises(ValueError, match="a rate lies between 0 and 1"):
        biasamp.calibrate([0.1, 0.2], rate=1.5)
    with pytest.raises(TypeError, match="scores must be numbers"):
        biasamp.calibrate(["a", "b"], rate=0.5)
    with pytest.raises(ValueError, match="shape"):
        biasamp.calibrate([], rate=0.5)
    with pytest.warns(UserWarning, match="scores are tied: the rate nearest to 0.4 is 0"):
        constant = biasamp.calibrate([0.5] * 10, rate=0.4)
    assert constant.apply([0.5] * 10).sum() == 0
    with pytest.raises(ValueError, match="1 missing"):
        constant.apply([np.nan])


@pytest.mark.parametrize(
    "frame", [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda columns: pd.DataFrame(columns).astype("Float64")]
)
def test_scores_of_named_columns(frame: Any) -> None:
    columns = {"cat": [0.1, 0.4, 0.35, 0.8], "dog": [1.0, 2.0, 3.0, 4.0]}
    found = biasamp.calibrate(frame(columns), rate={"dog": 0.25, "cat": 0.5})
    assert found.labels == ("cat", "dog")
    assert found.thresholds.tolist() == [0.4, 4.0]
    with pytest.raises(
        ValueError, match=r"1 values that are missing or not finite, such as nan in column 'dog' \(row 2, counted"
    ):
        biasamp.calibrate(frame(columns | {"dog": [1.0, None, 3.0, 4.0]}), rate=0.5)
    with pytest.raises(TypeError, match="column 'dog' holds text"):
        biasamp.calibrate(pd.DataFrame(columns | {"dog": list("abcd")}), rate=0.5)


def case(seed: int, n: int = 60, ties: bool = True, tasks: int | None = None) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    groups = rng.integers(0, 3, n)
    shape: Any = n if tasks is None else (n, tasks)
    lean = groups if tasks is None else groups[:, None]
    truth = (rng.random(shape) < 0.2 + 0.2 * lean).astype(int)
    scores = np.clip(0.3 * truth + 0.7 * rng.random(shape), 0, 1)
    return np.round(scores, 1) if ties else scores, groups, truth


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("weighted", [False, True])
def test_every_threshold_as_if_measured_alone(seed: int, weighted: bool) -> None:
    scores, groups, truth = case(seed)
    weights = np.random.default_rng(seed).random(60) if weighted else None
    swept = biasamp.sweep(scores, groups, truth, weights=weights)
    assert len(swept.curve) == len(np.unique(scores)) + 1
    own = np.ones(60) if weights is None else weights
    for row in swept.curve.rows():
        said = (scores >= row["threshold"]).astype(int)
        alone = biasamp.directional(groups, biasamp.binary(truth), biasamp.binary(said), weights=weights)
        assert row["amplification"] == pytest.approx(alone.value, abs=1e-12)
        rates = [np.average(said[groups == g], weights=own[groups == g]) for g in range(3)]
        assert row["rate"] == pytest.approx(np.average(said, weights=own))
        assert row["parity"] == pytest.approx(max(rates) - min(rates), abs=1e-12)
        assert [row[f"rate of {g}"] for g in range(3)] == pytest.approx(rates)


def exact_integral(curve: Any, low: float, high: float) -> float:
    """The step function of the curve over [low, high]: threshold i holds from threshold i - 1 to it."""
    edges = np.clip(np.concatenate([[low], curve["threshold"][:-1], [high]]), low, high)
    return float((np.diff(edges) * curve["amplification"]).sum() / (high - low))


@pytest.mark.parametrize("tasks", [None, 4])
@pytest.mark.parametrize("ties", [True, False])
def test_the_integral_is_the_curves_and_the_soft_metric(tasks: int | None, ties: bool) -> None:
    scores, groups, truth = case(7, 30_000, ties, tasks)
    swept = biasamp.sweep(scores, groups, truth)
    assert swept.span == (0.0, 1.0)
    assert swept.integral == pytest.approx(exact_integral(swept.curve, 0.0, 1.0), abs=1e-9)
    soft = biasamp.directional(groups, truth, scores)
    assert swept.integral == pytest.approx(soft.value, abs=1e-9)
    mine, theirs = swept.confidence_interval(method="closed_form"), soft.quiet_interval(method="closed_form")
    assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high))


def test_several_labels_share_a_threshold() -> None:
    scores, groups, truth = case(8, 80, True, 3)
    swept = biasamp.sweep(scores, groups, truth)
    for row in swept.curve.rows():
        said = (scores >= row["threshold"]).astype(int)
        assert row["amplification"] == pytest.approx(biasamp.directional(groups, truth, said).value, abs=1e-12)
        assert row["rate"] == pytest.approx(said.mean())


def test_ranks_are_swept_over_their_range() -> None:
    scores, groups, truth = case(9, 500, False)
    swept, ranks = biasamp.sweep(scores, groups, truth), biasamp.sweep(10 * scores - 3, groups, truth)
    assert ranks.curve["amplification"] == pytest.approx(swept.curve["amplification"])
    assert ranks.span == (10 * scores.min() - 3, 10 * scores.max() - 3)
    assert ranks.integral == pytest.approx(exact_integral(ranks.curve, *ranks.span), abs=1e-9)
    narrow = biasamp.sweep(scores, groups, truth, span=(0.2, 0.6))
    assert narrow.integral == pytest.approx(exact_integral(narrow.curve, 0.2, 0.6), abs=1e-9)


def test_signs_from_train_labels() -> None:
    scores, groups, truth = case(10, 200)
    train = case(11, 200)[1:]
    swept = biasamp.sweep(scores, groups, truth, train=train)
    said = (scores >= 0.5).astype(int)
    alone = biasamp.directional(groups, truth, said, train=train)
    assert swept.at(0.5)["amplification"] == pytest.approx(alone.value, abs=1e-12)
    assert swept.sign_source == "the train labels"


def test_calibrated_rows() -> None:
    scores, groups, truth = case(12, 500, False)
    swept = biasamp.sweep(scores, groups, truth)
    threshold = biasamp.calibrate(scores, rate=swept.base_rate).threshold
    assert swept.at_rate(swept.base_rate) == swept.at(threshold)
    assert swept.at_rate(swept.base_rate)["rate"] == pytest.approx(truth.mean(), abs=1e-12)
    assert swept.at(5.0)["rate"] == 0.0
    assert len(swept.to_dict(points=20)["curve"]) == 20
    with pytest.raises(ValueError, match="rate is 3"):
        swept.at_rate(3)


def test_bad_sweeps() -> None:
    scores, groups, truth = case(13)
    with pytest.raises(ValueError, match="not finite"):
        biasamp.sweep(np.where(scores > 0.5, np.nan, scores), groups, truth)
    with pytest.raises(ValueError, match="lengths differ"):
        biasamp.sweep(scores[:-1], groups, truth)
    with pytest.raises(ValueError, match="scores has 1 column, but truth has the 3 labels"):
        biasamp.sweep(scores, truth, groups)
    with pytest.raises(ValueError, match="span is"):
        biasamp.sweep(scores, groups, truth, span=(1.0, 0.0))
    with pytest.raises(ValueError, match="level is 7"):
        biasamp.sweep(scores, groups, truth).confidence_interval(7)
    with pytest.warns(UserWarning, match="scores are all 3.0"):
        constant = biasamp.sweep(np.full(60, 3.0), groups, truth)
    assert constant.curve["rate"].tolist() == [1.0, 0.0]
    with pytest.warns(UserWarning, match="scores are all 0.3"):
        inside = biasamp.sweep(np.full(60, 0.3), groups, truth)
    assert inside.integral == pytest.approx(biasamp.directional(groups, truth, np.full(60, 0.3)).value)
    with pytest.warns(UserWarning, match="no record has the given label 'x'|left out of the mean"):
        biasamp.sweep(scores, biasamp.categorical(groups, categories=[0, 1, 2, "x"]), truth)


def test_the_steps_begin_and_end_where_the_curve_does() -> None:
    rng = np.random.default_rng(3)
    scores, groups, truth = rng.random(200).round(2), rng.integers(0, 2, 200), rng.integers(0, 2, 200)
    found = biasamp.sweep(scores, groups, truth)
    thresholds = sorted(found.curve["threshold"].tolist())
    steps = found.steps(points=5)["threshold"]
    assert (min(steps), max(steps)) == (thresholds[0], thresholds[-1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore:no record has the given label")
def test_several_labels_with_weights_and_an_empty_group(weighted: bool) -> None:
    """Every score is a threshold of all labels; a group without records is no part of the mean."""
    scores, groups, truth = case(14, 70, True, 3)
    weights = np.random.default_rng(1).integers(1, 6, 70) if weighted else None
    own = np.ones(70) if weights is None else weights
    declared = biasamp.categorical(groups, categories=[0, 1, 2, 9])
    swept = biasamp.sweep(scores, declared, truth, weights=weights)
    assert swept.curve["threshold"].tolist() == [*np.unique(scores), np.nextafter(scores.max(), np.inf)]
    assert list(swept.curve.columns) == ["threshold", "amplification", "rate"]
    for row in swept.curve.rows():
        said = (scores >= row["threshold"]).astype(int)
        alone = biasamp.directional(groups, truth, said, weights=weights)
        assert row["amplification"] == pytest.approx(alone.value, abs=1e-12)
        assert row["rate"] == pytest.approx(np.average(said.mean(axis=1), weights=own))
    assert swept.base_rate == pytest.approx(np.average(truth.mean(axis=1), weights=own))
    soft = biasamp.directional(groups, truth, scores, weights=weights)
    assert swept.integral == pytest.approx(soft.value, abs=1e-12)
    assert (swept.n, swept.span, swept.sign_source) == (70, (0.0, 1.0), "the evaluated labels")
    one = biasamp.sweep(scores[:, 0], declared, truth[:, 0], weights=weights)
    assert np.isnan(one.curve["rate of 9"]).all()
    assert one.base_rate == pytest.approx(np.average(truth[:, 0], weights=own))
    for row in one.curve.rows():
        rates = [np.average(scores[groups == g, 0] >= row["threshold"], weights=own[groups == g]) for g in range(3)]
        assert row["parity"] == pytest.approx(max(rates) - min(rates), abs=1e-12)


@pytest.mark.parametrize(
    ("move", "span", "used"),
    [(0.0, (0.0, 1.0), 0.5), (-0.01, None, None), (0.01, None, None)],
)
def test_scores_from_0_to_1_are_probabilities(move: float, span: Any, used: float | None) -> None:
    """The ends belong to them; a hair beyond, scores are ranks, swept over their own range."""
    scores, groups, truth = case(15)
    scores[:2] = [0.0, 1.0]
    swept = biasamp.sweep(scores + move, groups, truth)
    assert swept.span == (span or (float((scores + move).min()), float((scores + move).max())))
    assert swept.used == used
    assert biasamp.sweep(scores + move, groups, truth, threshold=0.25).used == 0.25
    assert biasamp.sweep(scores, groups, truth, span=(0, 0.9)).used is None
    assert biasamp.sweep(scores, groups, truth, span=(-1.0, 2.0)).span == (-1.0, 2.0)
    for wrong in ((0.5, 0.5), (0.0, float("inf")), (float("nan"), 1.0), (0.1,), 0.5):
        with pytest.raises((TypeError, ValueError), match="span"):
            biasamp.sweep(scores, groups, truth, span=wrong)  # type: ignore[arg-type]


def test_the_integral_of_scores_beyond_the_span() -> None:
    """A score above the span counts in all of it, one below in none."""
    scores, groups, truth = case(16, 80, False)
    for span in ((0.3, 0.5), (-0.5, 0.4), (0.6, 1.5), (-2.0, 3.0)):
        swept = biasamp.sweep(scores, groups, truth, span=span)
        share = np.clip((scores - span[0]) / (span[1] - span[0]), 0, 1)
        soft = biasamp.directional(groups, biasamp.binary(truth), biasamp.binary(share))
        assert swept.integral == pytest.approx(soft.value, abs=1e-12)
        mine, theirs = swept.confidence_interval(method="closed_form"), soft.quiet_interval(method="closed_form")
        assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high), abs=1e-6)


@pytest.mark.parametrize("score", [0.3, 3.0])
def test_one_score_for_all_is_told(score: float) -> None:
    _, groups, truth = case(17)
    words = "that of the one score for all" if score < 1 else "that of none"
    with pytest.warns(UserWarning, match=f"scores are all {score}: .* the integral is {words}"):
        swept = biasamp.sweep(np.full(60, score), groups, truth)
    assert swept.span == ((0.0, 1.0) if score < 1 else (3.0, 3.0))
    if score > 1:
        none = biasamp.directional(groups, biasamp.binary(truth), biasamp.binary(np.zeros(60)))
        assert swept.integral == pytest.approx(none.value)


def test_intervals_where_pairs_are_too_many_to_bag(monkeypatch: pytest.MonkeyPatch) -> None:
    """The records are looked at again."""
    from biasamp.amplification import sweep as module

    scores, groups, truth = case(18, 200, False)
    plain = biasamp.sweep(scores, groups, truth).confidence_interval(method="closed_form")
    monkeypatch.setattr(module, "bags_for", lambda pairs: 2)
    again = biasamp.sweep(scores, groups, truth).confidence_interval(method="closed_form")
    assert (again.low, again.high) == pytest.approx((plain.low, plain.high), abs=1e-9)
