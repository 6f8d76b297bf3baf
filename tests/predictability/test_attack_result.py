import json
import pickle

import numpy as np
import pytest

from biasamp.predictability.attack import dpa
from biasamp.predictability.attack_result import Predictability
from biasamp.results.interval import Interval
from biasamp.results.table import Table


@pytest.fixture(scope="module")
def result():
    rng = np.random.default_rng(0)
    given = rng.integers(0, 2, 200)
    truth = np.where(rng.random(200) < 0.6, given, rng.integers(0, 2, 200))
    return dpa(given, truth, np.where(rng.random(200) < 0.2, 1 - truth, truth), trials=20)


def test_the_interval_is_wider_at_a_higher_level_and_asks_the_same_question_twice(result):
    first, again = result.confidence_interval(), result.confidence_interval()
    assert first == again
    wide = result.confidence_interval(level=0.99)
    assert wide.low < first.low < result.value < first.high < wide.high
    assert "records" in first.varies
    assert first.high - result.value == pytest.approx(1.959964 * first.standard_error, rel=1e-6)


def test_the_interval_is_more_than_the_noise_of_trials(result):
    of_trials = result.trials["value"].std(ddof=1) / np.sqrt(20)
    assert result.confidence_interval().standard_error > 2 * of_trials


def test_another_seed_gives_another_but_similar_interval(result):
    ours, other = result.confidence_interval(), result.confidence_interval(seed=5)
    assert ours != other
    assert ours.standard_error == pytest.approx(other.standard_error, rel=0.3)


def test_the_difference_of_gains_has_an_interval_too(result):
    low, high = result.confidence_interval(of="gain_difference")
    assert low < result.model_gain - result.dataset_gain < high


def test_few_trials_know_that_they_are_few():
    rng = np.random.default_rng(1)
    given, truth = rng.integers(0, 2, (2, 60))
    predicted = np.where(rng.random(60) < 0.2, 1 - truth, truth)
    one, many = (dpa(given, truth, predicted, trials=t).confidence_interval() for t in (1, 400))
    assert one.standard_error > 1.2 * many.standard_error


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"level": 1.0}, "between 0 and 1"),
        ({"of": "gain"}, "gain_difference"),
        ({"resamples": 1}, "whole number of 2 to"),
    ],
)
def test_bad_questions_are_refused(result, options, word):
    with pytest.raises(ValueError, match=word):
        result.confidence_interval(**options)


def test_trials_are_a_table(result):
    assert len(result.trials) == 20
    assert result.trials["model"].mean() == pytest.approx(result.model)
    assert result.trials.to_frame("pyarrow").num_rows == 20


def test_a_result_can_be_sent_elsewhere(result):
    again = pickle.loads(pickle.dumps(result))
    assert again.value == result.value
    assert again.confidence_interval() == result.confidence_interval()


def test_what_strangers_wrote_is_no_markup():
    empty = Table({"trial": np.arange(0)})
    figures = dict.fromkeys(["value", "dataset", "model", "gain", "dataset_gain", "model_gain", "unequalized"], 0.5)
    odd = Predictability(
        metric="dpa",
        **figures,
        trials=empty,
        accuracy_equalized=0.5,
        confusion_equalized=float("nan"),
        n=1,
        attacker="<script>",
        reason="<b>because</b>",
        quality="accuracy",
        equalize=None,
        evaluation="held_out",
    )
    html = odd._repr_html_()
    assert "<script>" not in html
    assert "<b>because" not in html
    out = json.loads(json.dumps(odd.to_dict(), allow_nan=False))
    assert out["confusion_equalized"] is None
    assert out["interval"] == [None, None]
    with pytest.raises(ValueError, match="nothing to make an interval from"):
        odd.confidence_interval()


def made(metric="dpa", dataset_gain=0.25, model_gain=0.5, interval=None, **options):
    figures = {"value": 0.125, "dataset": 0.5, "model": 0.75, "gain": 1 / 3, "unequalized": 0.0625}
    figures |= {"accuracy_equalized": -0.25, "confusion_equalized": -0.5}
    words = {"attacker": "lookup", "reason": "why", "quality": "f1", "equalize": None, "evaluation": "in_sample"}
    gains = {"dataset_gain": dataset_gain, "model_gain": model_gain}
    trials = Table({"trial": np.arange(3)})
    return Predictability(metric=metric, **figures, **gains, trials=trials, n=9, **words, _interval=interval, **options)


@pytest.mark.parametrize(
    ("metric", "gains", "there"),
    [
        ("dpa", (0.25, 0.5), True),
        ("dpa", (0.0, 0.5), False),
        ("dpa", (0.25, 0.0), False),
        ("dpa", (-0.25, 0.5), False),
        ("dpa", (-0.25, -0.5), False),
        ("leakage", (0.25, 0.5), False),
        ("leakage", (-0.25, 0.5), False),
    ],
)
def test_a_quotient_is_there_where_both_attackers_gain(metric, gains, there):
    held = made(metric, *gains)
    assert held.quotient == (1 / 3 if there else None)
    assert ("quotient of the two</td><td>0.3333" in held._repr_html_()) == there


def test_a_page_has_all_figures():
    html = made(direction="A->T")._repr_html_()
    assert html.startswith("<p><b>dpa A-&gt;T</b> +0.1250</p>")
    rows = {
        "dataset": "0.5000",
        "model": "0.7500",
        "dataset, above no input": "0.2500",
        "model, above no input": "0.5000",
        "value, not equalized": "0.0625",
        "value, accuracy equalized": "-0.2500",
        "value, confusion equalized": "-0.5000",
    }
    for name, value in rows.items():
        assert f"<tr><td>{name}</td><td>{value}</td></tr>" in html
    assert "attacker lookup: why" in html
    assert "<b>leakage</b>" in made("leakage")._repr_html_()


def asked():
    """An interval that tells what it was asked for, and what was."""
    seen = []

    def interval(level, of, resamples, seed):
        seen.append((level, of, resamples, seed))
        return Interval(-1.0, np.nan, level, cautions=("careful",))

    return seen, interval


def test_what_an_interval_is_asked():
    seen, interval = asked()
    held = made(interval=interval, cautions=("first",))
    assert held.confidence_interval().level == 0.95
    held.confidence_interval(0.5, "gain_difference", 2, 0)
    held.confidence_interval(resamples=1_000_000, seed=7)
    out = held.to_dict()
    held.to_dict(0.8, 5)
    assert seen == [
        (0.95, "value", None, None),
        (0.5, "gain_difference", 2, 0),
        (0.95, "value", 1_000_000, 7),
        (0.95, "value", None, None),
        (0.8, "value", 5, None),
    ]
    assert out["interval"] == [-1.0, None]
    assert out["cautions"] == ["first", "careful"]
    assert out["trials"] == 3
    assert made().to_dict()["cautions"] == []


@pytest.mark.parametrize(
    "options",
    [
        {"level": 0.0},
        {"level": 1.0},
        {"level": "high"},
        {"of": "gain"},
        {"of": None},
        {"of": ["value"]},
        {"resamples": 1},
        {"resamples": 2.5},
        {"resamples": 1_000_001},
        {"seed": -1},
        {"seed": 1.5},
    ],
)
def test_questions_that_are_none_reach_no_resample(options):
    seen, interval = asked()
    with pytest.raises((ValueError, TypeError)):
        made(interval=interval).confidence_interval(**options)
    assert seen == []


def test_a_document_holds_every_figure_and_a_flat_one_numbers_alone():
    out = made(direction="T->A").to_dict()
    assert out == {
        "metric": "dpa",
        "direction": "T->A",
        "value": 0.125,
        "interval": [None, None],
        "n": 9,
        "dataset": 0.5,
        "model": 0.75,
        "gain": 1 / 3,
        "dataset_gain": 0.25,
        "model_gain": 0.5,
        "unequalized": 0.0625,
        "accuracy_equalized": -0.25,
        "confusion_equalized": -0.5,
        "attacker": "lookup",
        "reason": "why",
        "quality": "f1",
        "equalize": None,
        "evaluation": "in_sample",
        "trials": 3,
        "cautions": [],
    }
    flat = made(direction="T->A").to_dict(flat=True)
    assert flat["dpa_T-to-A"] == 0.125
    assert all(isinstance(value, float) for value in flat.values())
    with pytest.raises((ValueError, TypeError), match="flat"):
        made().to_dict(flat="yes")


def test_what_makes_intervals_is_no_part_of_what_is_shown():
    assert "_interval" not in repr(made(interval=lambda *_: None))
    assert "_on_bags" not in repr(made())
    assert made(_on_bags=lambda: "halves").paired_halves() == "halves"
