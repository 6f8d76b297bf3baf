import json
import pickle

import numpy as np
import pytest

from biasamp.predictability.attack import dpa
from biasamp.predictability.attack_result import Predictability
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
