"""Thresholds for a wanted rate, and what a sweep hands back, field by field."""

from __future__ import annotations

import warnings
from dataclasses import replace
from math import inf, nextafter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp.amplification.calibrate import Sweep, read_scores
from biasamp.results import Table


def swept(seed: int, labels: int | None = None, **asked: Any) -> Sweep:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, 3, 70)
    truth = (rng.random(70 if labels is None else (70, labels)) < 0.4).astype(int)
    scores = np.round(np.clip(0.25 * truth + 0.75 * rng.random(truth.shape), 0, 1), 2)
    return biasamp.sweep(scores, group, truth, **asked)


def rows(table: Table) -> list[dict[str, Any]]:
    return list(table.rows())


def test_the_row_that_holds_at_a_threshold() -> None:
    """What is positive at a threshold is what is at or above it: the row of the next score."""
    made = swept(0)
    held = rows(made.curve)
    at = made.curve["threshold"]
    for threshold in (-inf, -5.0, 0.0, *at, *(at + 0.003), 7.0, inf):
        reached = [row for row in held if row["threshold"] >= threshold]
        assert made.at(threshold) == (reached[0] if reached else held[-1])
    for wrong in (float("nan"), [0.1, 0.2]):
        with pytest.raises(ValueError, match="one number is needed"):
            made.at(wrong)  # type: ignore[arg-type]


def test_the_row_nearest_to_a_rate() -> None:
    """Of two as near, the one with more positives, which comes first."""
    made = swept(1)
    held = rows(made.curve)
    for rate in (0.0, 0.123, 0.5, 0.77, 1.0):
        near = min(abs(row["rate"] - rate) for row in held)
        assert made.at_rate(rate) == next(row for row in held if abs(row["rate"] - rate) == near)
    for wrong in (-0.01, 1.01):
        with pytest.raises(ValueError, match="from 0 to 1"):
            made.at_rate(wrong)


@pytest.mark.parametrize("seed", range(8))
def test_marks(seed: int) -> None:
    made = swept(seed, threshold=0.3 + 0.05 * seed)
    held = rows(made.curve)
    marks = made.marks
    mixed = [row for row in held if 0 < row["rate"] < 1]
    least = min(abs(row["amplification"]) for row in mixed)
    zero = [row for row in mixed if abs(row["amplification"]) <= least + 1e-12]
    expected = {
        "used": {**made.at(0.3 + 0.05 * seed), "threshold": 0.3 + 0.05 * seed},
        "base_rate": made.at_rate(made.base_rate),
        "zero": min(zero, key=lambda row: abs(row["rate"] - made.base_rate)),
    }
    assert list(marks) == list(expected)
    for name, row in expected.items():
        (band,) = rows(made.band([row["threshold"]]))
        assert marks[name] == {**row, "low": band["low"], "high": band["high"]}


def test_marks_of_several_with_no_amplification() -> None:
    """Groups that are alike: all thresholds have none, and the one whose share of positives is the truth's is marked."""
    scores = np.repeat([0.1, 0.3, 0.5, 0.7, 0.9], 2)
    made = biasamp.sweep(scores, ["a", "b"] * 5, np.repeat([0, 0, 0, 1, 1], 2))
    assert (made.base_rate, made.marks["zero"]["rate"], made.marks["zero"]["threshold"]) == (0.4, 0.4, 0.7)
    assert replace(made, used=None).marks.keys() == {"base_rate", "zero"}


@pytest.mark.filterwarnings("ignore:scores are all")
def test_marks_where_all_scores_are_one() -> None:
    """At no threshold are some positive and some not: none is marked as that without amplification."""
    made = biasamp.sweep([0.5] * 8, ["a", "b"] * 4, [1, 1, 0, 0] * 2)
    assert list(made.marks) == ["used", "base_rate"]


@pytest.mark.parametrize("points", [1, 2, 5, 1000])
def test_the_document(points: int) -> None:
    made = swept(2)
    count = len(made.curve)
    wanted = min(points, count)
    places = [0] if wanted == 1 else sorted({round(k * (count - 1) / (wanted - 1)) for k in range(wanted)})
    held = made.to_dict(points)
    plain = made.curve.plain_rows()
    assert held == {
        "schema": 1,
        "integral": made.integral,
        "span": [0.0, 1.0],
        "base_rate": made.base_rate,
        "sign_source": "the evaluated labels",
        "n": 70,
        "thresholds": count,
        "curve": [plain[place] for place in places],
    }
    more = made.to_dict(points, groups=True)
    at = made.curve["threshold"][places]
    assert more == {
        **held,
        "groups": made.rates(at).plain_rows(),
        "band": made.band(at).plain_rows(),
        "agnostic": made.agnostic.plain_rows(),
        "marks": made.marks,
    }


def test_the_document_has_a_thousand_thresholds_at_most() -> None:
    rng = np.random.default_rng(3)
    made = biasamp.sweep(rng.random(1500), rng.integers(0, 2, 1500), rng.integers(0, 2, 1500))
    assert len(made.to_dict()["curve"]) == 1000
    assert len(made.steps()["threshold"]) in range(300, 304)
    for call in (made.to_dict, made.steps):
        with pytest.raises(ValueError, match="points"):
            call(0)
        with pytest.raises(TypeError, match="points"):
            call(2.5)  # type: ignore[arg-type]
    with pytest.raises((TypeError, ValueError), match="most_groups"):
        made.steps(most_groups=-1)
    with pytest.raises(TypeError, match="groups"):
        made.to_dict(groups="yes")  # type: ignore[arg-type]


@pytest.mark.parametrize("labels", [None, 2])
@pytest.mark.parametrize("points", [1, 4, 500])
def test_steps(labels: int | None, points: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Thresholds evenly ranked, and those that are marked; with a band only where that is cheap."""
    made = swept(4, labels)
    count = len(made.curve)
    wanted = min(points, count)
    at = made.curve["threshold"]
    places = {0} if wanted == 1 else {round(k * (count - 1) / (wanted - 1)) for k in range(wanted)}
    for row in made.marks.values():
        places.add(min(sum(at < row["threshold"]), count - 1))
    own = sorted(places)
    held = made.steps(points, 0.9, most_groups=2)
    for name in ("threshold", "rate", "amplification"):
        assert held[name] == made.curve[name][own].tolist()
    band = made.band(at[own], 0.9)
    assert (held["low"], held["high"]) == (band["low"].tolist(), band["high"].tolist())
    assert held["groups"] == made._known().group_steps(at[own], 2)
    assert held["groups_in_all"] == 3 * (labels or 1)
    assert made.steps(points)["low"] == made.band(at[own])["low"].tolist()
    assert len(made.steps(points)["groups"]) == 3 * (labels or 1)
    if labels:
        monkeypatch.setattr("biasamp.amplification.threshold_curves._CHEAP", 0)
        dear = made.steps(points)
        assert dear["low"] == dear["high"] == [None] * len(own)


def test_a_used_threshold_above_all_scores_is_the_last() -> None:
    made = swept(5, threshold=3.0)
    held = made.steps(1)
    assert held["threshold"][-1] == made.curve["threshold"][-1]
    assert made.marks["used"]["rate"] == 0.0


def test_levels() -> None:
    made = swept(6)
    for call in (made.rates, made.band):
        wide, near = call([0.5]), call([0.5], level=0.5)
        low = next(name for name in wide.columns if name.endswith("low"))
        assert (wide[low] < near[low]).all()
        assert call([0.5], 0.95)[low].tolist() == wide[low].tolist()
        with pytest.raises(ValueError, match="level"):
            call([0.5], level=0.0)
    found = made.confidence_interval(resamples=50)
    assert (found.level, found.low < made.integral < found.high) == (0.95, True)
    assert found.low == made.confidence_interval(0.95, "bootstrap", 50, 0).low
    assert made.confidence_interval().low == made.confidence_interval(0.95, "bootstrap", 1000, 0).low
    assert made.confidence_interval(0.5, resamples=50).low > found.low
    with pytest.raises(ValueError, match=r"level is 1\.5"):
        made.confidence_interval(1.5)


def test_a_sweep_without_records() -> None:
    bare = replace(swept(7), _interval=None, _curves=None)
    with pytest.raises(ValueError, match="carries no records for an interval"):
        bare.confidence_interval()
    for call in (bare.rates, bare.band, bare.steps):
        with pytest.raises(ValueError, match="carries no records"):
            call()


@pytest.mark.parametrize("wrong", [[], [[0.1]], [0.1, float("nan")], [inf]])
def test_thresholds_that_are_none(wrong: Any) -> None:
    with pytest.raises(ValueError, match="one or more finite numbers"):
        swept(8).rates(wrong)


def test_one_threshold_needs_no_list() -> None:
    made = swept(8)
    assert made.rates(0.5).plain_rows() == made.rates([0.5]).plain_rows()
    assert len(made.rates()) == 3 * len(made.curve)


def nearest(scores: Any, weights: Any, wanted: float) -> tuple[float, float]:
    """The threshold whose rate is nearest, the highest of several."""
    own = sorted({*scores.tolist(), nextafter(scores.max(), inf)}, reverse=True)
    rates = {at: float(weights[scores >= at].sum() / weights.sum()) for at in own}
    at = min(own, key=lambda at: round(abs(rates[at] - wanted), 12))
    return at, rates[at]


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.filterwarnings("ignore:scores are tied")
def test_the_nearest_rate(seed: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    scores = np.round(rng.normal(size=(30, 2)), seed % 3)
    weights = rng.integers(1, 6, 30) if weighted else np.ones(30)
    wanted = [(0.0, 0.25, 0.4, 1.0)[seed % 4], float(rng.random())]
    made = biasamp.calibrate(scores, rate=wanted, weights=weights if weighted else None)
    for k in range(2):
        assert (made.thresholds[k], made.rates[k]) == pytest.approx(nearest(scores[:, k], weights, wanted[k]))
        said = made.apply(scores)[:, k]
        assert (weights * said).sum() / weights.sum() == pytest.approx(made.rates[k])
    assert made.wanted.tolist() == wanted
    assert made.labels == ("0", "1")
    assert made.to_dict() == {
        "schema": 1,
        "labels": [
            {"label": str(k), "threshold": made.thresholds[k], "rate": made.rates[k], "wanted": wanted[k]}
            for k in range(2)
        ],
    }


def test_of_two_as_near_the_one_with_fewer_positives() -> None:
    assert biasamp.calibrate([0.9, 0.6, 0.4, 0.1], rate=0.375).threshold == 0.9
    none = biasamp.calibrate([0.9, 0.6, 0.4, 0.1], rate=0.125)
    assert (none.threshold, none.rates.tolist(), none.apply([0.9]).tolist()) == (nextafter(0.9, inf), [0.0], [0])


def test_ties_are_told_where_half_a_record_is_missed() -> None:
    def told(scores: list[float], rate: Any, **more: Any) -> str:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            biasamp.calibrate(scores, rate=rate, **more)
        return " ".join(str(one.message) for one in caught)

    # Of 4 records, half of one is 1/8.
    assert told([0.9, 0.5, 0.5, 0.1], 0.25 + 0.125) == ""
    assert told([0.9, 0.5, 0.5, 0.1], 0.25 + 0.13) == "scores are tied: the rate nearest to 0.38 is 0.25"
    assert told([0.9, 0.5, 0.5, 0.1], 0.5) == "scores are tied: the rate nearest to 0.5 is 0.25"
    # Half of the heaviest record, of weights.
    assert told([0.9, 0.5, 0.5, 0.1], 0.5, weights=[2, 1, 1, 4]) == ""
    assert told([0.9, 0.5, 0.5, 0.1], 0.375, weights=[5, 1, 1, 1]) == ""
    assert told([0.9, 0.5, 0.5, 0.1], 0.3, weights=[5, 1, 1, 1]) == ""
    assert told([0.5, 0.5, 0.1, 0.1], 0.25, weights=[1, 1, 1, 1]) == "scores are tied: the rate nearest to 0.25 is 0"
    frame = {"cat": [0.5] * 4, "dog": [0.4, 0.3, 0.2, 0.1], "fox": [0.5] * 4, "cow": [0.1] * 4}
    assert told(frame, 0.25) == "scores are tied: the rate of cat nearest to 0.25 is 0, and 2 more labels"  # type: ignore[arg-type]
    assert told({"dog": [1, 2, 3, 4], "fox": [1] * 4}, 0.25) == "scores are tied: the rate of fox nearest to 0.25 is 0"  # type: ignore[arg-type]


def test_predictions_need_the_layout() -> None:
    one = biasamp.calibrate([0.1, 0.4, 0.35, 0.8], rate=0.5)
    two = biasamp.calibrate([[0.1, 0.5], [0.7, 0.2]], rate=0.5)
    assert one.apply([[0.4], [0.39]]).tolist() == [[1], [0]]
    assert two.apply([[0.7, 0.5], [0.6, 0.4]]).tolist() == [[1, 1], [0, 0]]
    assert one.apply([0.4]).dtype == np.uint8
    with pytest.raises(ValueError, match="scores has 1 columns, but there are thresholds for 2 labels"):
        two.apply([0.1])
    with pytest.raises(ValueError, match="scores has 2 columns, but there are thresholds for 1 labels"):
        one.apply([[0.1, 0.2]])
    with pytest.raises(ValueError, match="scores has 0 dimensions"):
        one.apply(0.1)
    with pytest.raises(ValueError, match="scores has 3 dimensions"):
        one.apply(np.zeros((2, 2, 1)))
    with pytest.raises(ValueError, match="scores holds 2 missing values"):
        one.apply([0.1, float("nan"), float("nan")])
    with pytest.raises(ValueError, match="there are 2 labels"):
        _ = two.threshold


def test_rates_that_are_asked_for() -> None:
    scores = [[0.1, 0.5], [0.7, 0.2]]
    assert biasamp.calibrate(scores, rate=0.5).wanted.tolist() == [0.5, 0.5]
    assert biasamp.calibrate(scores, rate=[0.0, 1.0]).rates.tolist() == [0.0, 1.0]
    for wrong in ([0.5], [0.1, 0.2, 0.3], [[0.1, 0.2]]):
        with pytest.raises(ValueError, match="give one rate, or one for each of the 2 labels"):
            biasamp.calibrate(scores, rate=wrong)
    for part in (-0.1, 1.1, float("nan")):
        with pytest.raises(ValueError, match=f"rate holds {part}; a rate lies between 0 and 1"):
            biasamp.calibrate(scores, rate=[0.5, part])
    with pytest.raises(TypeError, match="a number between 0 and 1 is needed"):
        biasamp.calibrate(scores, rate="half")
    frame = pd.DataFrame(np.random.default_rng(0).random((4, 7)), columns=list("abcdefg"))
    with pytest.raises(
        ValueError,
        match=r"no entry for \['b', 'c', 'd', 'e', 'f'\]; scores has the columns \['a', 'b', 'c', 'd', 'e'\]",
    ):
        biasamp.calibrate(frame, rate={"a": 0.5})


def test_scores_are_read() -> None:
    for given, labels in (
        ([0.1, 0.2], ("score",)),
        ([[0.1], [0.2]], ("score",)),
        ([[0.1, 0.3], [0.2, 0.4]], ("0", "1")),
        (pd.DataFrame({"cat": [0.1, 0.2], "dog": [0.3, 0.4]}), ("cat", "dog")),
        (pd.Series([0.1, 0.2], name="cat"), ("cat",)),
        (pd.Series([0.1, 0.2]), ("score",)),
        ({"cat": [True, False], "dog": [3, 4]}, ("cat", "dog")),
    ):
        values, names = read_scores(given)
        assert names == labels
        assert values.shape == (2, len(labels))
        assert values.dtype == np.float64
    assert read_scores({"cat": [True, False], "dog": [3, 4]})[0].tolist() == [[1.0, 3.0], [0.0, 4.0]]
    for shape in ((0,), (3, 0), (2, 2, 2)):
        with pytest.raises(ValueError, match="one row per record and one column per label are needed"):
            read_scores(np.zeros(shape))
    with pytest.raises(TypeError, match=r"logits must be numbers, .*: rows have different lengths"):
        read_scores([[0.1, 0.2], [0.3]], "logits")
    with pytest.raises(TypeError, match="could not convert"):
        read_scores([["a"], ["b"]])
    with pytest.raises(TypeError, match="column 'word' holds text"):
        read_scores({"cat": [0.1, 0.2], "word": ["a", "b"]})
    missing = pd.DataFrame({"cat": [0.1, 0.2, 0.3], "dog": pd.array([1, None, 3], dtype="Int64")})
    with pytest.raises(ValueError, match=r"holds 1 values .* such as nan in column 'dog' \(row 2, counted"):
        read_scores(missing)
    with pytest.raises(ValueError, match=r"holds 2 values .* such as inf in column 1 \(row 1, counted"):
        read_scores([[0.0, inf], [-inf, 0.0]])
