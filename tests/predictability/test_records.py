"""Trials on records: the same numbers as on tables, from any number of workers, and never in silence."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import biasamp
from biasamp.data import align, label_set, read_columns
from biasamp.predictability import AttackerError, measure, problem_from_labels
from biasamp.predictability.attackers import Lookup, NaiveBayes, Trained
from biasamp.predictability.lookup import LookupTables
from biasamp.predictability.records import RecordTrials

RULES = ("accuracy", "confusion", None)


def problem_of(other, truth, predicted):
    sides = [label_set(read_columns(x, "x"), "x") for x in (other, truth, predicted)]
    return problem_from_labels(sides[0], *align(sides[1:], ["truth", "predicted"]))


def planted(n=300, seed=0):
    rng = np.random.default_rng(seed)
    other = rng.integers(0, 2, n)
    truth = (rng.random(n) < np.where(other == 1, 0.7, 0.3)).astype(int)
    return other, truth, np.where(rng.random(n) < 0.2, 1 - truth, truth)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("evaluation", ["held_out", "in_sample"])
@pytest.mark.parametrize("kind", ["dpa", "leakage"])
def test_lookup_on_records_is_lookup_on_tables(kind, evaluation):
    problem = problem_of(*planted(101))
    seed = np.random.SeedSequence(0)
    tables = LookupTables.fit(problem, kind, "accuracy").trials(4000, seed, RULES, evaluation)
    records = RecordTrials(problem.records(), kind, Lookup(), "accuracy").trials(1000, seed, RULES, evaluation)
    pairs = [(tables.model, records.model)] + [(tables.dataset[r], records.dataset[r]) for r in RULES]
    for a, b in pairs:
        assert a.mean() == pytest.approx(b.mean(), abs=5 * b.std() / np.sqrt(1000) + 1e-12)
        assert a.std() == pytest.approx(b.std(), rel=0.12, abs=1e-12)


def test_two_variables_of_different_sizes_are_scored_one_by_one():
    rng = np.random.default_rng(1)
    other = rng.integers(0, 2, 400)
    columns = {"a": rng.choice(list("xyz"), 400), "b": rng.choice(list("uv"), 400)}
    whole = measure(problem_of(other, columns, columns), "dpa", attacker="lookup", evaluation="in_sample")
    parts = [
        measure(problem_of(other, values, values), "dpa", attacker="lookup", evaluation="in_sample").scores.model[0]
        for values in columns.values()
    ]
    assert whole.scores.model[0] == pytest.approx(np.mean(parts))


def test_naive_bayes_is_scikit_learns_on_labels():
    rng = np.random.default_rng(0)
    target = rng.integers(0, 3, 240)
    read = (rng.random((240, 6)) < 0.3 + 0.2 * (target[:, None] == np.arange(6) % 3)).astype(int)
    problem = problem_of(target, read, read)
    learn, test = np.arange(0, 240, 2), np.arange(1, 240, 2)
    order = RecordTrials(problem.records(), "leakage", NaiveBayes(), "accuracy").problem
    x, y = order.truth.codes, order.other.codes[:, 0]
    expected = BernoulliNB(alpha=1.0).fit(x[learn], y[learn]).score(x[test], y[test])
    assert NaiveBayes().score(order.truth, order.other, learn, test, "accuracy", 0) == pytest.approx(expected)


def test_naive_bayes_is_scikit_learns_on_categories():
    rng = np.random.default_rng(0)
    target = rng.integers(0, 2, 300)
    columns = {name: rng.choice(list("pqrs"), 300) for name in "ab"}
    order = problem_of(target, columns, columns).records()
    x, y = order.truth.codes, order.other.codes[:, 0]
    learn, test = np.arange(0, 300, 2), np.arange(1, 300, 2)
    expected = CategoricalNB(alpha=1.0, min_categories=4).fit(x[learn], y[learn]).score(x[test], y[test])
    assert NaiveBayes().score(order.truth, order.other, learn, test, "accuracy", 0) == pytest.approx(expected)


class Remembering(ClassifierMixin, BaseEstimator):
    """Fails when it is fitted a second time."""

    fits = 0

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        if hasattr(self, "memory_"):
            raise RuntimeError("fitted before")
        self.memory_ = np.bincount(y).argmax()
        type(self).fits += 1
        type(self).seeds.append(self.random_state)
        return self

    def predict(self, X):
        return np.full(len(X), self.memory_)


def test_every_trial_has_a_fresh_attacker_with_its_own_seed():
    Remembering.fits, Remembering.seeds = 0, []
    fitted = Remembering().fit(None, np.array([1]))
    measure(problem_of(*planted()), "dpa", attacker=fitted, trials=5, workers=1)
    # One fit here; in each trial one on predictions and one for each rule of equalization.
    assert Remembering.fits == 1 + 5 * 4
    assert len(set(Remembering.seeds[1:])) == 5


def test_seeds_reach_every_part_of_an_attacker():
    from sklearn.pipeline import make_pipeline

    inner = DecisionTreeClassifier(random_state=0)
    fresh = Trained(make_pipeline(inner), "tree")._fresh(77)
    assert fresh.get_params()["decisiontreeclassifier__random_state"] == 77
    assert inner.random_state == 0


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_workers_do_not_change_the_scores():
    problem = problem_of(*planted(120))
    attacker = DecisionTreeClassifier(splitter="random")
    one, two = (measure(problem, "leakage", attacker=attacker, trials=6, workers=workers).scores for workers in (1, 2))
    assert one.model.tolist() == two.model.tolist()
    assert one.dataset["accuracy"].tolist() == two.dataset["accuracy"].tolist()


class FailsLater(ClassifierMixin, BaseEstimator):
    """Fails in the third trial, which is the ninth fit or later."""

    fits = 0

    def fit(self, X, y):
        type(self).fits += 1
        if type(self).fits > 8:
            raise ZeroDivisionError("out of luck")
        return self

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_a_failing_attacker_names_the_trial_and_nothing_is_averaged():
    FailsLater.fits = 0
    with pytest.raises(AttackerError, match=r"FailsLater failed in trial 2 on the model side: out of luck"):
        measure(problem_of(*planted()), "dpa", attacker=FailsLater(), trials=10, workers=1)


def test_a_half_of_one_class_names_the_trial():
    truth = np.r_[np.zeros(39, dtype=int), 1]
    other = np.arange(40) % 2
    with pytest.raises(AttackerError, match=r"logistic failed in trial \d+ on the \w+ side: .* one class"):
        measure(problem_of(other, truth, truth), "dpa", attacker="logistic", trials=20, workers=1)


def test_an_undefined_quality_names_the_trial():
    truth = np.r_[np.zeros(39, dtype=int), 1]
    other = np.arange(40) % 2
    with pytest.raises(AttackerError, match=r"quality of attacker lookup is nan in trial \d+"):
        measure(problem_of(other, truth, truth), "dpa", attacker="lookup", quality="auc", trials=20)


class Inventive(ClassifierMixin, BaseEstimator):
    def fit(self, X, y):
        return self

    def predict_proba(self, X):
        return np.full((len(X), 2), np.nan)

    def predict(self, X):
        return np.zeros(len(X), dtype=int)


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(AttackerError, match="not finite"):
        measure(problem_of(*planted()), "dpa", attacker=Inventive(), quality="auc", trials=2, workers=1)


def test_decision_functions_rank_too():
    from sklearn.svm import LinearSVC

    problem = problem_of(*planted(300))
    options = {"quality": "auc", "trials": 4, "workers": 1}
    by_margin, by_chance = (
        measure(problem, "leakage", attacker=a, **options).scores.model for a in (LinearSVC(), LogisticRegression())
    )
    assert by_margin == pytest.approx(by_chance)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("quality", ["accuracy", "balanced_accuracy", "f1", "auc"])
def test_on_one_binary_input_all_good_attackers_score_alike(quality):
    problem = problem_of(*planted(600))
    scores = [
        measure(problem, "leakage", attacker=a, quality=quality, trials=8, workers=1).scores.model.mean()
        for a in ("naive_bayes", LogisticRegression(), DecisionTreeClassifier())
    ]
    assert scores == pytest.approx([scores[0]] * 3, abs=1e-12)


class OneShort:
    """Leaves all predictions but the first away."""

    def predict(self, features):
        return super().predict(features)[:1]


class InAColumn:
    """Gives predictions as a matrix of one column."""

    def predict(self, features):
        return super().predict(features)[:, None]


@pytest.mark.parametrize("tree", [DecisionTreeClassifier, DecisionTreeRegressor])
def test_predictions_are_taken_one_a_record(tree):
    other, truth, predicted = planted()
    if tree is DecisionTreeRegressor:
        noise = np.random.default_rng(1).standard_normal((2, 300)) / 10
        truth, predicted = truth + noise[0], predicted + noise[1]
    column, short = (type(f"{mixin.__name__}Tree", (mixin, tree), {}) for mixin in (InAColumn, OneShort))
    plain = biasamp.dpa(other, truth, predicted, attacker=tree(), trials=3)
    assert biasamp.dpa(other, truth, predicted, attacker=column(), trials=3).value == plain.value
    with pytest.raises(AttackerError, match=r"trial 0 .*: its predictions have the shape \(1,\); one for each of 150"):
        biasamp.dpa(other, truth, predicted, attacker=short(), trials=3)
