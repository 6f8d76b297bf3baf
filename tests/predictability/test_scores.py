"""Figures and standard errors by hand: what two measurements of a half share, and the noise of trials."""

import numpy as np
import pytest

from biasamp.predictability.scores import Scores, difference, normalized_difference, standard_errors


def scores(model, dataset, model_plain=None, dataset_plain=None, rule=None):
    model, dataset = np.array(model, dtype=float), np.array(dataset, dtype=float)
    plain = [np.zeros(len(model)) if x is None else np.array(x, dtype=float) for x in (model_plain, dataset_plain)]
    return Scores(model, plain[0], {rule: dataset}, {rule: plain[1]})


def test_rows_hold_pairs_of_scores_with_and_without_input():
    rows = np.arange(16.0).reshape(2, 8)
    read = Scores.from_rows(rows, ("accuracy", "confusion", None))
    assert len(read) == 2
    assert (read.model.tolist(), read.model_plain.tolist()) == ([0, 8], [1, 9])
    assert {rule: values.tolist() for rule, values in read.dataset.items()} == {
        "accuracy": [2, 10],
        "confusion": [4, 12],
        None: [6, 14],
    }
    assert {rule: values.tolist() for rule, values in read.dataset_plain.items()} == {
        "accuracy": [3, 11],
        "confusion": [5, 13],
        None: [7, 15],
    }


def test_the_difference_of_gains_is_trial_by_trial():
    held = scores([0.9, 0.7], [0.6, 0.8], [0.5, 0.4], [0.25, 0.5])
    # 0.4 - 0.35 and 0.3 - 0.3
    assert held.gain_difference(None) == pytest.approx([0.05, 0.0])


def test_figures():
    assert difference(0.5, 0.75) == 0.25
    assert normalized_difference(0.25, 0.75) == 0.5
    assert normalized_difference(np.array([0.0, 0.0, 0.1]), np.array([0.0, 0.2, 0.1])) == pytest.approx(
        [np.nan, 1.0, 0.0], nan_ok=True
    )


def test_halves_give_the_covariance_of_their_two_measurements():
    # Figures (model less dataset): 0.1, 0.3, 0.5 and 0.2, 0.2, 0.8; the mean of all is 0.35.
    halves = (
        scores([0.6, 0.8, 1.0], [0.5, 0.5, 0.5], [0.1, 0.1, 0.1]),
        scores([0.7, 0.7, 1.3], [0.5, 0.5, 0.5], [0.1, 0.2, 0.3]),
    )
    shared = ((-0.25) * (-0.15) + (-0.05) * (-0.15) + 0.15 * 0.45) / 2
    # Figures of trials: 0.1 and 0.3, whose variance is 0.02; four trials stand behind the figure.
    telling = scores([0.6, 0.8], [0.5, 0.5], [0.2, 0.1])
    # Differences of gains: 0, 0.2, 0.4 and 0.1, 0, 0.5, with a mean of 0.2; of trials -0.1 and 0.2.
    gains = ((-0.2) * (-0.1) + 0.0 * (-0.2) + 0.2 * 0.3) / 2
    value, gain = standard_errors("leakage", None, telling, 4, halves, None)
    assert value == pytest.approx(np.sqrt(shared + 0.02 / 4))
    assert gain == pytest.approx(np.sqrt(gains + 0.045 / 4))


def test_the_larger_of_records_and_errors_counts():
    still = scores([0.6, 0.6, 0.6], [0.5, 0.5, 0.5])
    telling = scores([0.6, 0.6], [0.5, 0.5])
    # Perturbed scores less their mean of 0.4: -0.2, 0, 0.2 and -0.1, 0.1, 0; the figure is the mean less each.
    perturbed = np.array([0.2, 0.4, 0.6]), np.array([0.3, 0.5, 0.4])
    value, gain = standard_errors("leakage", None, telling, 2, (still, still), perturbed)
    assert value == pytest.approx(np.sqrt((0.02 + 0.0 + 0.0) / 2))
    assert gain == 0.0
    moving = scores([0.1, 0.5, 0.9], [0.5, 0.5, 0.5])
    value, _ = standard_errors("leakage", None, telling, 2, (moving, moving), perturbed)
    assert value == pytest.approx(0.4)


def test_dpa_of_perturbations_is_that_of_their_mean_score():
    still, telling = scores([0.6, 0.6], [0.5, 0.5]), scores([0.6, 0.6], [0.5, 0.5])
    perturbed = np.array([0.2, 0.6]), np.array([0.2, 0.6])
    value, _ = standard_errors("dpa", None, telling, 2, (still, still), perturbed)
    # Figures with the mean of 0.4 as the dataset's: -0.2 / 0.6 and 0.2 / 1.0.
    assert value == pytest.approx(np.std([-1 / 3, 0.2], ddof=1))


def test_what_two_measurements_do_not_share_is_no_variance():
    """They go against each other, so that their covariance is below 0: nothing is left but trials."""
    halves = scores([0.6, 0.8], [0.5, 0.5]), scores([0.8, 0.6], [0.5, 0.5])
    telling = scores([0.5, 0.7], [0.5, 0.5])
    value, gain = standard_errors("leakage", None, telling, 1, halves, None)
    assert value == pytest.approx(np.sqrt(0.02))
    assert gain == pytest.approx(np.sqrt(0.02))


def test_one_half_alone_tells_no_variance_and_attackers_that_score_nothing_do_not_differ():
    one, telling = scores([0.0], [0.0]), scores([0.0, 0.0], [0.0, 0.0])
    assert standard_errors("dpa", None, telling, 1, (one, one), None) == (0.0, 0.0)
    other = scores([0.4], [0.2]), scores([0.6], [0.2])
    assert standard_errors("leakage", None, telling, 1, other, None) == (0.0, 0.0)
    apart = scores([0.4], [0.2]), scores([0.2], [0.4])
    assert standard_errors("leakage", None, telling, 1, apart, None) == (0.0, 0.0)
