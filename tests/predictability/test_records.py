"""Trials on records: the same numbers as on tables, from any number of workers, and never in silence."""

from dataclasses import dataclass, replace

import joblib
import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import BernoulliNB, CategoricalNB
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import biasamp
from biasamp.data import align, label_set, read_columns
from biasamp.predictability import AttackerError, measure, problem_from_labels
from biasamp.predictability.attackers import Lookup, NaiveBayes, Trained, plain_score
from biasamp.predictability.lookup import LookupTables, best_score
from biasamp.predictability.problem import read_problem
from biasamp.predictability.records import RecordTrials
from biasamp.predictability.sides import Numbers

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


@dataclass(frozen=True)
class Watching:
    """An attacker that learns nothing, and keeps what it is given; its scores are its calls, counted."""

    calls: list
    name: str = "watching"

    def score(self, read, target, learn, test, quality, seed):
        self.calls.append((read, target, learn.tolist(), test.tolist(), quality, seed))
        return float(len(self.calls))


def watched(kind="dpa", n=41, problem=None, **options):
    attacker = Watching([])
    problem = problem_of(*planted(n)).records() if problem is None else problem
    return RecordTrials(problem, kind, attacker, "accuracy", workers=1, **options), attacker.calls


@pytest.mark.parametrize("kind", ["dpa", "leakage"])
@pytest.mark.parametrize("n", [40, 41])
def test_a_trial_scores_the_model_and_the_truth_by_each_rule_on_one_split(kind, n):
    trials, calls = watched(kind, n)
    scores = trials.trials(3, np.random.SeedSequence(0), RULES, "held_out")
    problem = trials.problem
    assert len(calls) == 3 * 4
    assert scores.model.tolist() == [1, 5, 9]
    assert [scores.dataset[rule].tolist() for rule in RULES] == [[2, 6, 10], [3, 7, 11], [4, 8, 12]]
    for trial in range(3):
        own = calls[4 * trial : 4 * trial + 4]
        learn, test = own[0][2:4]
        assert all(call[2:] == own[0][2:] for call in own)
        # The smaller half is learnt from, each in the order of the records.
        assert (len(learn), len(test)) == (n // 2, n - n // 2)
        assert sorted(learn + test) == list(range(n))
        assert (learn == sorted(learn), test == sorted(test)) == (True, True)
        versions = [call[1] if kind == "dpa" else call[0] for call in own]
        others = [call[0] if kind == "dpa" else call[1] for call in own]
        assert all((other.codes == problem.other.codes).all() for other in others)
        assert (versions[0].codes == problem.predicted.codes).all()
        wrong = (problem.predicted.codes != problem.truth.codes).sum()
        assert [(version.codes != problem.truth.codes).sum() for version in versions] == [wrong, wrong, wrong, 0]
        assert own[0][4] == "accuracy"
    # Another split, another perturbation and another seed for each trial.
    for kept in (2, 5):
        assert len({str(call[kept]) for call in calls[::4]}) == 3
    moved = [(call[1] if kind == "dpa" else call[0]).codes.tobytes() for call in calls[1::4]]
    assert len(set(moved)) == 3


def test_in_sample_all_records_are_learnt_from_and_scored():
    trials, calls = watched(n=30)
    trials.trials(2, np.random.SeedSequence(0), (None,), "in_sample")
    assert len(calls) == 4
    assert all(call[2] == call[3] == list(range(30)) for call in calls)


@pytest.mark.parametrize("evaluation", ["held_out", "in_sample"])
def test_a_half_is_measured_twice_and_both_ways(evaluation):
    trials, calls = watched(n=41)
    first, second = trials.halves(3, np.random.SeedSequence(0), "accuracy", evaluation)
    # Of each half two trials, of the model and of the truth, both ways: eight scores, in order.
    assert len(calls) == 3 * 2 * 2 * 2
    assert first.model.tolist() == [1.5, 9.5, 17.5]
    assert first.dataset["accuracy"].tolist() == [3.5, 11.5, 19.5]
    assert second.model.tolist() == [5.5, 13.5, 21.5]
    assert second.dataset["accuracy"].tolist() == [7.5, 15.5, 23.5]
    held = [call[1].codes.tobytes() for call in calls]
    for half in range(3):
        own = calls[8 * half : 8 * half + 8]
        # The same twenty records, of which the model says the same.
        assert {len(call[0]) for call in own} == {20}
        assert len({call[0].codes.tobytes() for call in own}) == 1
        assert len({held[8 * half + place] for place in (0, 1, 4, 5)}) == 1
        for one, other in zip(own[::2], own[1::2], strict=True):
            assert one[2:4] == other[3:1:-1]
            expected = (list(range(20)),) * 2 if evaluation == "in_sample" else None
            assert expected is None or tuple(one[2:4]) == expected
            assert sorted(one[2] + one[3]) == sorted([*range(20)] * (1 + (evaluation == "in_sample")))
        if evaluation == "held_out":
            assert own[0][2] != own[4][2]
    assert len({calls[8 * half][0].codes.tobytes() + held[8 * half] for half in range(3)}) == 3


def test_a_perturbation_of_all_records_is_split_twice():
    trials, calls = watched(n=41)
    first, second = trials.perturbed(3, np.random.SeedSequence(0), "accuracy", "held_out")
    # The truth alone, both ways.
    assert len(calls) == 3 * 2 * 2
    assert (first.tolist(), second.tolist()) == ([1.5, 5.5, 9.5], [3.5, 7.5, 11.5])
    for place in range(3):
        own = calls[4 * place : 4 * place + 4]
        assert len({call[1].codes.tobytes() for call in own}) == 1
        assert own[0][2:4] == own[1][3:1:-1]
        assert own[2][2:4] == own[3][3:1:-1]
        assert own[0][2] != own[2][2]
        assert len(own[0][2]) == 20
    assert len({call[1].codes.tobytes() for call in calls}) == 3


def test_plain_scores_come_beside_those_with_input():
    """The larger class of the records learnt from, both ways."""
    trials, calls = watched(n=40)
    first, _ = trials.halves(4, np.random.SeedSequence(0), None, "held_out")
    for half in range(4):
        plain = []
        for call in calls[8 * half : 8 * half + 2]:
            codes = call[1].codes[:, 0]
            larger = int(codes[call[2]].mean() > 0.5)
            plain.append((codes[call[3]] == larger).mean())
        assert first.model_plain[half] == pytest.approx(np.mean(plain))


def test_probabilities_are_drawn_anew_in_every_trial_and_once_for_a_perturbation():
    rng = np.random.default_rng(0)
    problem = read_problem(
        rng.integers(0, 2, 60), rng.integers(0, 2, 60), rng.random(60), ("given", "truth", "predicted")
    )
    trials, calls = watched(problem=problem)
    trials.trials(3, np.random.SeedSequence(0), (None,), "held_out")
    drawn = [call[1] for call in calls[::2]]
    assert all(side.chances is None for side in drawn)
    assert len({side.codes.tobytes() for side in drawn}) == 3
    calls.clear()
    trials.perturbed(3, np.random.SeedSequence(0), "accuracy", "held_out")
    assert len({call[1].codes.tobytes() for call in calls}) == 3
    for place in range(3):
        assert len({call[1].codes.tobytes() for call in calls[4 * place : 4 * place + 4]}) == 1


@pytest.mark.parametrize("count", [1, 2, 3, 5])
def test_progress_is_told_after_every_trial(count):
    told = []
    trials, calls = watched(progress=lambda done, of: told.append((done, of)))
    assert len(trials.trials(count, np.random.SeedSequence(0), (None,), "held_out")) == count
    assert told == [(done, count) for done in range(1, count + 1)]
    assert len(calls) == 2 * count


def test_long_work_is_shared_out(monkeypatch):
    """A minute and more; joblib's own setting and the caller's count before that."""
    trials, _ = watched()
    assert [replace(trials, workers=workers)._shares(1e9) for workers in (1, 2, 5)] == [1, 2, 5]
    alone = replace(trials, workers=None)
    assert [alone._shares(seconds) for seconds in (0.0, 59.9, 60.0, 1e9)] == [1, 1, -1, -1]
    with joblib.parallel_config(n_jobs=3):
        assert [alone._shares(seconds) for seconds in (0.0, 1e9)] == [3, 3]
    with joblib.parallel_config(n_jobs=1):
        assert alone._shares(0.0) == 1
    # The second trial tells how long those after it will take: 7 seconds for each of three.
    clock = iter([100.0, 107.0])
    asked = []
    monkeypatch.setattr("biasamp.predictability.records.time.perf_counter", lambda: next(clock))
    monkeypatch.setattr(RecordTrials, "_shares", lambda self, seconds: asked.append(seconds) or 1)
    alone.trials(5, np.random.SeedSequence(0), (None,), "held_out")
    assert asked == [21.0]


def test_two_trials_are_not_worth_asking_for_workers(monkeypatch):
    trials, calls = watched()
    monkeypatch.setattr(RecordTrials, "_shares", lambda self, seconds: 1 / 0)
    for count in (1, 2):
        replace(trials, workers=None).trials(count, np.random.SeedSequence(0), (None,), "held_out")
    assert len(calls) == 2 * 3
    # And a worker that is asked for is used for all that come after these.
    monkeypatch.undo()
    shared = []

    class Parallel:
        def __init__(self, n_jobs, return_as):
            shared.append((n_jobs, return_as))

        def __call__(self, tasks):
            tasks = list(tasks)
            shared.append(len(tasks))
            return (function(*arguments, **options) for function, arguments, options in tasks)

    monkeypatch.setattr("joblib.Parallel", Parallel)
    replace(trials, workers=2).trials(6, np.random.SeedSequence(0), (None,), "held_out")
    assert shared == [(2, "generator"), 4]


def test_splits_of_records_are_scored_both_ways():
    trials, calls = watched(n=12)
    bags = np.arange(12) % 4
    learn = np.array([[True, False, False, False], [False, True, True, False]])
    test = np.array([[False, True, True, False], [True, False, False, True]])
    dataset, model = trials.of_splits(bags, learn, test, None, np.random.SeedSequence(0))
    assert (model.tolist(), dataset.tolist()) == ([[1.5], [5.5]], [[3.5], [7.5]])
    codes = trials.problem.other.codes
    for split, first in enumerate((calls[0], calls[4])):
        chosen = np.concatenate([np.flatnonzero(part[split][bags]) for part in (learn, test)])
        assert (first[0].codes == codes[chosen]).all()
        many = int(learn[split][bags].sum())
        assert first[2] == list(range(many))
        assert first[3] == list(range(many, len(chosen)))
    for one, other in zip(calls[::2], calls[1::2], strict=True):
        assert one[2:4] == other[3:1:-1]


def test_a_callable_quality_is_the_mean_over_the_variables():
    rng = np.random.default_rng(1)
    other, pair = rng.integers(0, 2, 100), rng.integers(0, 2, (100, 2))
    problem = problem_of(other, pair, pair).records()
    learn, test = np.arange(0, 100, 2), np.arange(1, 100, 2)
    for attacker in (Lookup(), NaiveBayes()):
        own = attacker.score(problem.other, problem.truth, learn, test, lambda y, said: (y == said).mean(), 0)
        assert own == pytest.approx(attacker.score(problem.other, problem.truth, learn, test, "accuracy", 0))
    for quality in ("accuracy", "f1"):
        found = plain_score(problem.truth, learn, test, quality)
        counted = [np.bincount(column[learn], minlength=2)[None] for column in problem.truth.codes.T]
        scored = [np.bincount(column[test], minlength=2)[None] for column in problem.truth.codes.T]
        assert found == pytest.approx(
            np.mean([best_score(a, b, quality, label=True) for a, b in zip(counted, scored, strict=True)])
        )


def test_without_input_numbers_are_guessed_by_their_mean():
    values = np.array([[0.0, 10.0], [2.0, 30.0], [1.0, 25.0], [4.0, 15.0]])
    found = plain_score(Numbers(values), np.array([0, 1]), np.array([2, 3]), "inverse_rmse")
    # Means of 1 and 20: errors of 0 and 3, and of 5 and 5.
    assert found == pytest.approx(np.mean([1 / np.sqrt(4.5), 1 / 5]))
