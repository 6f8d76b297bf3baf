"""What a result is made of, from hand-made trials, and when it carries a caution."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest

from biasamp.counts.contingency import ContingencyTable, count_by_bag
from biasamp.data import Evaluation, label_set, read_columns
from biasamp.data.keys import row_keys
from biasamp.predictability import AttackerError, attack
from biasamp.predictability.measure import Measurement
from biasamp.predictability.problem import problem_from_table
from biasamp.predictability.scores import Scores
from biasamp.results.interval import ASYMMETRIC, NO_GAIN


def labels(values):
    return label_set(read_columns(values, "x"), "x")


def table_of(given, truth, said):
    sets = {"given": labels(given), "truth": labels(truth), "predicted": labels(said)}
    return ContingencyTable.from_labels(sets), count_by_bag(sets, row_keys(0, len(sets["given"])))


def planted(n=60, seed=0):
    rng = np.random.default_rng(seed)
    given = rng.integers(0, 2, n)
    truth = (rng.random(n) < 0.3 + 0.4 * given).astype(int)
    return given, truth, np.where(rng.random(n) < 0.2, 1 - truth, truth)


def told(monkeypatch, kind, rule="accuracy", model=(0.8, 0.6), plain=(0.5, 0.5), **versions):
    """A result of scores that are told, by rule: with and without input."""
    held = {
        "accuracy": ((0.5, 0.6), (0.5, 0.5)),
        "confusion": ((0.5, 0.6), (0.5, 0.5)),
        "none": ((0.7, 0.7), (0.4, 0.4)),
    }
    held |= versions
    arrays = {
        None if name == "none" else name: [np.array(part, dtype=float) for part in pair] for name, pair in held.items()
    }
    scores = Scores(
        np.array(model, dtype=float),
        np.array(plain, dtype=float),
        {name: pair[0] for name, pair in arrays.items()},
        {name: pair[1] for name, pair in arrays.items()},
    )
    made = Measurement(kind, 77, scores, rule, "held_out", "f1", "lookup", "because", None, 5, ())  # type: ignore[arg-type]
    module: Any = sys.modules["biasamp.predictability.attack"]
    monkeypatch.setattr(module, "measure", lambda problem, kind, **options: made)
    problem = problem_from_table(table_of(*planted())[0])
    return attack.from_problem(problem, kind, direction="A->T")


def test_a_result_holds_means_over_trials_and_each_trial(monkeypatch):
    result = told(monkeypatch, "leakage")
    assert (result.metric, result.n, result.attacker, result.reason) == ("leakage", 77, "lookup", "because")
    assert (result.quality, result.equalize, result.evaluation, result.direction) == (
        "f1",
        "accuracy",
        "held_out",
        "A->T",
    )
    assert (result.dataset, result.model, result.value) == pytest.approx((0.55, 0.7, 0.15))
    assert (result.dataset_gain, result.model_gain, result.gain) == pytest.approx((0.05, 0.2, 0.15))
    assert (result.unequalized, result.accuracy_equalized, result.confusion_equalized) == pytest.approx(
        (0.0, 0.15, 0.15)
    )
    columns = {name: values.tolist() for name, values in result.trials.columns.items()}
    assert list(columns) == ["trial", "dataset", "model", "value", "dataset_gain", "model_gain"]
    assert columns["trial"] == [0, 1]
    assert (columns["dataset"], columns["model"]) == ([0.5, 0.6], [0.8, 0.6])
    assert columns["value"] == pytest.approx([0.3, 0.0])
    assert columns["dataset_gain"] == pytest.approx([0.0, 0.1])
    assert columns["model_gain"] == pytest.approx([0.3, 0.1])
    assert result.paired_halves() is None
    ratio = told(monkeypatch, "dpa", rule=None)
    assert ratio.value == ratio.unequalized == pytest.approx(0.0)
    assert ratio.accuracy_equalized == pytest.approx(0.15 / 1.25)
    assert ratio.gain == pytest.approx((0.2 - 0.3) / 0.5)
    assert ratio.trials["value"].tolist() == pytest.approx([0.1 / 1.5, -0.1 / 1.3])


def test_a_gain_below_0_counts_as_0_in_a_quotient_alone(monkeypatch):
    below = {"accuracy": ((0.5, 0.5), (0.6, 0.6))}
    result = told(monkeypatch, "dpa", **below)
    assert (result.dataset_gain, result.model_gain) == pytest.approx((-0.1, 0.2))
    assert result.gain == 1.0
    assert told(monkeypatch, "leakage", **below).gain == pytest.approx(0.3)
    # The model's, and both: then there is no quotient.
    assert told(monkeypatch, "dpa", model=(0.3, 0.3)).gain == -1.0
    assert np.isnan(told(monkeypatch, "dpa", model=(0.3, 0.3), **below).gain)
    # Rounding is no gain.
    rounding = {"accuracy": ((0.5 + 5e-13, 0.5 + 5e-13), (0.5, 0.5))}
    assert told(monkeypatch, "dpa", **rounding).gain == 1.0
    small = {"accuracy": ((0.5 + 1e-9, 0.5 + 1e-9), (0.5, 0.5))}
    assert 0.9 < told(monkeypatch, "dpa", **small).gain < 1.0


def kinds(result):
    return [caution.kind for caution in result.cautions]


def test_rules_that_differ_for_certain_and_visibly_are_told_apart(monkeypatch):
    def by(accuracy, confusion, kind="leakage"):
        pairs = {"accuracy": (accuracy, [0.5] * len(accuracy)), "confusion": (confusion, [0.5] * len(accuracy))}
        none = ([0.7] * len(accuracy), [0.4] * len(accuracy))
        return told(monkeypatch, kind, model=[0.8] * len(accuracy), plain=[0.5] * len(accuracy), none=none, **pairs)

    # Apart by 0.02 in every trial; a difference of 0.004 nobody sees.
    assert kinds(by([0.6, 0.6], [0.62, 0.62])) == [ASYMMETRIC]
    assert kinds(by([0.62, 0.62], [0.6, 0.6])) == [ASYMMETRIC]
    assert kinds(by([0.6, 0.6], [0.604, 0.604])) == []
    assert kinds(by([0.6, 0.6], [0.606, 0.606])) == [ASYMMETRIC]
    assert kinds(by([0.6, 0.6], [0.6, 0.6])) == []
    # By 0.1 and a standard error of 0.02 that is certain, by 0.07 it is not.
    assert kinds(by([0.6, 0.6], [0.68, 0.72])) == [ASYMMETRIC]
    assert kinds(by([0.6, 0.6], [0.65, 0.69])) == []
    # Of three trials, 0.1, 0.1 and 0.04, the standard error is 0.02: 0.08 are just four of it.
    assert kinds(by([0.6] * 3, [0.7, 0.7, 0.645])) == [ASYMMETRIC]
    assert kinds(by([0.6] * 3, [0.7, 0.7, 0.635])) == []
    # One trial has no error that could be told.
    assert kinds(by([0.6], [0.62])) == [ASYMMETRIC]
    words = by([0.6, 0.6], [0.62, 0.62]).cautions[0]
    assert "equalizing its accuracy gives +0.2000, its whole confusion table +0.1800" in words


def test_attackers_that_gain_nothing_are_told(monkeypatch):
    nothing = {"accuracy": ((0.5, 0.5), (0.5, 0.5)), "confusion": ((0.5, 0.5), (0.5, 0.5))}
    for kind in ("dpa", "leakage"):
        assert kinds(told(monkeypatch, kind, model=(0.5, 0.5), **nothing)) == [NO_GAIN]
        assert kinds(told(monkeypatch, kind, model=(0.4, 0.4), **nothing)) == [NO_GAIN]
        assert kinds(told(monkeypatch, kind, model=(0.5 + 5e-13, 0.5 + 5e-13), **nothing)) == [NO_GAIN]
        assert kinds(told(monkeypatch, kind, model=(0.5 + 1e-9, 0.5 + 1e-9), **nothing)) == []
        # One of both is enough.
        assert kinds(told(monkeypatch, kind, model=(0.7, 0.7), **nothing)) == []
        assert kinds(told(monkeypatch, kind, model=(0.5, 0.5))) == []


@pytest.mark.parametrize("function", [attack.dpa, attack.leakage])
def test_without_a_number_or_a_seed_a_hundred_trials_are_run_with_seed_0(function):
    data = planted()
    result = function(*data)
    assert len(result.trials) == 100
    again = function(*data, trials=100, seed=0)
    assert result.trials["model"].tolist() == again.trials["model"].tolist()
    assert result.trials["model"].tolist() != function(*data, seed=1).trials["model"].tolist()


@pytest.mark.parametrize("fails", [False, True])
def test_the_bar_goes_away_whatever_happens(monkeypatch, fails):
    closed = []

    class Bar:
        def __init__(self, title):
            assert title == "attackers"

        def __call__(self, done, of):
            if fails:
                raise AttackerError("no")

        def close(self):
            closed.append(True)

    module: Any = sys.modules["biasamp.predictability.attack"]
    monkeypatch.setattr(module, "Bar", Bar)
    if fails:
        with pytest.raises(AttackerError):
            attack.dpa(*planted(), attacker="naive_bayes", trials=2)
    else:
        attack.dpa(*planted(), attacker="naive_bayes", trials=2)
    assert closed == [True]


def test_halves_know_the_names_of_what_is_predicted():
    rng = np.random.default_rng(0)
    groups = {"sex": rng.choice(["f", "m"], 80), "old": rng.choice(["no", "yes"], 80)}
    task, said = rng.choice(["x", "y"], (2, 80))
    _, by_bag = table_of(groups, task, said)
    table = table_of(groups, task, said)[0]
    halves = attack.from_table(table, "leakage", by_bag=by_bag, trials=2).paired_halves()
    assert halves.labels == ("sex", "old")
    # Of one task there is nothing to tell apart.
    assert attack.from_table(table, "dpa", by_bag=by_bag, trials=2).paired_halves().labels == ()
    tasks, answers = rng.integers(0, 2, (2, 80, 3))
    table, by_bag = table_of(groups["sex"], tasks, answers)
    found = attack.from_table(table, "dpa", by_bag=by_bag, trials=2).paired_halves()
    assert found.labels == tuple(str(label) for label in table.sides["truth"].labels)
    # Labels of which every record has one are a variable, unless a prediction has two of them, or none.
    whole = np.column_stack([tasks[:, 0], 1 - tasks[:, 0]])
    table, by_bag = table_of(groups["sex"], whole, np.column_stack([answers[:, 0], answers[:, 1]]))
    assert len(attack.from_table(table, "dpa", by_bag=by_bag, trials=2).paired_halves().labels) == 2
    table, by_bag = table_of(groups["sex"], whole, whole[::-1])
    assert attack.from_table(table, "dpa", by_bag=by_bag, trials=2).paired_halves().labels == ()


def test_halves_of_an_evaluation_and_of_its_table_are_of_the_same_records():
    given, truth, said = planted(200)
    sets = [labels(x) for x in (given, truth, said)]
    by_records = attack.from_evaluation(Evaluation(*sets), "dpa", equalize=None).paired_halves()
    table, by_bag = table_of(given, truth, said)
    by_table = attack.from_table(table, "dpa", by_bag=by_bag, equalize=None).paired_halves()
    assert by_records.figures == pytest.approx(by_table.figures)
    assert (
        attack.from_evaluation(Evaluation(*sets, np.ones(200, dtype=np.int64)), "dpa", trials=2).paired_halves() is None
    )
