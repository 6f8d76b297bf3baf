"""Trials on tables against trials on records, written here once more and slowly."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import ks_2samp

from biasamp.data import align, label_set, read_columns
from biasamp.predictability import problem_from_labels
from biasamp.predictability.attackers import Lookup
from biasamp.predictability.lookup import LookupTables, best_score
from biasamp.predictability.problem import read_problem
from biasamp.predictability.records import RecordTrials


def problem_of(other, truth, predicted):
    sides = [label_set(read_columns(x, "x"), "x") for x in (other, truth, predicted)]
    return problem_from_labels(sides[0], *align(sides[1:], ["truth", "predicted"]))


def slow_lookup(x, y, learn, test):
    """Accuracy of the commonest answer to each input, of those the commonest of all, without arrays."""
    overall = Counter(y[learn].tolist())
    constant = max(overall, key=overall.get)
    seen = {}
    for i in learn:
        seen.setdefault(x[i], Counter())[y[i]] += 1
    right = 0
    for i in test:
        counts = seen.get(x[i])
        if counts is None:
            right += y[i] == constant
            continue
        most = max(counts.values())
        right += y[i] == max((c for c, k in counts.items() if k == most), key=overall.get)
    return right / len(test)


def slow_trial(other, truth, predicted, classes, kind, evaluation, rng):
    n = len(truth)
    moved = truth.copy()
    chosen = rng.choice(n, size=int((truth != predicted).sum()), replace=False)
    for i in chosen:
        moved[i] = rng.choice([c for c in range(classes) if c != truth[i]])
    order = rng.permutation(n)
    learn, test = (order[: n // 2], order[n // 2 :]) if evaluation == "held_out" else (order, order)
    out = []
    for version in (moved, predicted):
        x, y = (other, version) if kind == "dpa" else (version, other)
        out.append(slow_lookup(x, y, learn, test))
    return out


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("evaluation", ["held_out", "in_sample"])
@pytest.mark.parametrize("kind", ["dpa", "leakage"])
def test_trials_on_tables_have_the_distribution_of_trials_on_records(kind, evaluation, classes):
    rng = np.random.default_rng(8)
    n = 61
    other = rng.integers(0, 2, n)
    truth = np.where(rng.random(n) < 0.5, other, rng.integers(0, classes, n))
    predicted = np.where(rng.random(n) < 0.3, rng.integers(0, classes, n), truth)
    tables = LookupTables.fit(problem_of(other, truth, predicted), kind, "accuracy")
    scores = tables.trials(4000, np.random.SeedSequence(1), ("accuracy",), evaluation)
    slow = np.array([slow_trial(other, truth, predicted, classes, kind, evaluation, rng) for _ in range(1500)])
    for fast, one in ((scores.dataset["accuracy"], slow[:, 0]), (scores.model, slow[:, 1])):
        assert fast.mean() == pytest.approx(one.mean(), abs=4 * one.std() / np.sqrt(1100) + 1e-12)
        assert ks_2samp(fast.round(9), one.round(9)).pvalue > 1e-3
    if slow[:, 1].std() > 0:  # the two sides share their split
        both = np.corrcoef(slow.T)[0, 1]
        assert np.corrcoef(scores.dataset["accuracy"], scores.model)[0, 1] == pytest.approx(both, abs=0.1)


def test_labels_of_a_set_are_split_together():
    """Two labels that are copies of each other must get copies of the scores, trial by trial."""
    rng = np.random.default_rng(0)
    other, label = rng.integers(0, 2, 80), rng.integers(0, 2, 80)
    twice = np.column_stack([label, label])
    seed = np.random.SeedSequence(3)
    one = LookupTables.fit(problem_of(other, label[:, None], label[:, None]), "dpa", "accuracy")
    two = LookupTables.fit(problem_of(other, twice, twice), "dpa", "accuracy")
    spread = [t.trials(3000, seed, (None,), "held_out").model.std() for t in (one, two)]
    # Split apart, the mean of two would vary by a factor of 0.71.
    assert spread[1] == pytest.approx(spread[0], rel=0.06)


def test_matrix_products_count_as_one_by_one():
    rng = np.random.default_rng(2)
    other, truth, predicted = rng.integers(0, 3, 300), *rng.integers(0, 2, (2, 300, 5))
    tables = LookupTables.fit(problem_of(other, truth, predicted), "dpa", "accuracy")
    counted = tables._count(tables.problem.counts[None])
    expected = set()
    for v in range(5):
        table = np.zeros((3, 2, 2), dtype=int)
        np.add.at(table, (other, truth[:, v], predicted[:, v]), 1)
        expected.add(tuple(sorted(map(tuple, table.reshape(3, 4).tolist()))))
    found = {tuple(sorted(map(tuple, t.reshape(3, 4).tolist()))) for t in counted}
    assert found == expected


def test_what_no_small_table_holds_is_left_to_records():
    rng = np.random.default_rng(0)
    other, many = rng.integers(0, 2, 400), rng.integers(0, 50, 400)
    assert LookupTables.fit(problem_of(other, many, many), "dpa", "accuracy") is None
    sets = rng.integers(0, 2, (400, 3))
    assert LookupTables.fit(problem_of(other, sets, sets), "leakage", "accuracy") is None
    assert LookupTables.fit(problem_of(other, other, other), "dpa", max) is None


def held(scores, rules):
    """All scores as a matrix: model and truth by each rule, with and without input."""
    parts = [scores.model, scores.model_plain]
    for rule in rules:
        parts += [scores.dataset[rule], scores.dataset_plain[rule]]
    return np.column_stack(parts)


def some_problem(kind, n=61, classes=2, width=1, seed=8):
    rng = np.random.default_rng(seed)
    other = rng.integers(0, 3, n)
    truth = np.where(rng.random((width, n)) < 0.5, other % classes, rng.integers(0, classes, (width, n))).T
    said = np.where(rng.random((n, width)) < 0.3, rng.integers(0, classes, (n, width)), truth)
    if width == 1:
        truth, said = truth[:, 0], said[:, 0]
    return problem_of(other, truth, said)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("evaluation", ["held_out", "in_sample"])
@pytest.mark.parametrize("kind", ["dpa", "leakage"])
def test_halves_and_perturbations_on_tables_are_those_on_records(kind, evaluation, classes):
    """What a half shares between its two trials, and a perturbation between its two splits, in mean, spread and covariance."""
    problem = some_problem(kind, classes=classes)
    tables = LookupTables.fit(problem, kind, "accuracy")
    records = RecordTrials(problem.records(), kind, Lookup(), "accuracy", workers=1)
    seed, rule = np.random.SeedSequence(2), "accuracy"
    many, few = 3000, 250
    fast = [held(part, (rule,)) for part in tables.halves(many, seed, rule, evaluation)]
    slow = [held(part, (rule,)) for part in records.halves(few, seed, rule, evaluation)]
    fast.append(np.column_stack(tables.perturbed(many, seed, rule, evaluation)))
    slow.append(np.column_stack(records.perturbed(few, seed, rule, evaluation)))
    for one, two in zip(fast, slow, strict=True):
        assert len(one) == many
        spread = two.std(axis=0)
        assert (np.abs(one.mean(axis=0) - two.mean(axis=0)) < 5 * spread / np.sqrt(few * 0.9) + 1e-12).all()
        assert one.std(axis=0) == pytest.approx(spread, rel=0.25, abs=1e-12)
    for both in (fast, slow):
        if evaluation == "in_sample":
            # Without a split the two trials of a half differ by their perturbation alone, and two splits of one by nothing.
            assert both[0][:, :2] == pytest.approx(both[1][:, :2], abs=1e-12)
            assert both[2][:, 0] == pytest.approx(both[2][:, 1], abs=1e-12)
    shared = [[np.cov(a, b)[0, 1] for a, b in zip(both[0].T, both[1].T, strict=True)] for both in (fast, slow)]
    scale = slow[0].var(axis=0)
    assert (np.abs(np.subtract(*shared)) < 0.35 * scale + 1e-12).all()


@pytest.mark.parametrize("kind", ["dpa", "leakage"])
@pytest.mark.parametrize("n", [41, 42])
def test_the_smaller_half_is_learnt_from(kind, n):
    """Scores are shares of the larger half of the records, and those of halves, scored both ways, means of two shares."""
    tables = LookupTables.fit(some_problem(kind, n=n), kind, "accuracy")
    scored = held(tables.trials(200, np.random.SeedSequence(0), ("accuracy", None), "held_out"), ("accuracy", None))
    of = n - n // 2
    assert scored * of == pytest.approx(np.rint(scored * of), abs=1e-9)
    assert ((scored >= 0) & (scored <= 1)).all()
    half = n // 2
    for part in tables.halves(200, np.random.SeedSequence(0), None, "held_out"):
        both = 2 * (half // 2) * (half - half // 2)
        assert held(part, (None,)) * both == pytest.approx(np.rint(held(part, (None,)) * both), abs=1e-9)
    for part in tables.halves(50, np.random.SeedSequence(0), None, "in_sample"):
        assert held(part, (None,)) * half == pytest.approx(np.rint(held(part, (None,)) * half), abs=1e-9)


@pytest.mark.parametrize("width", [1, 3])
def test_in_sample_and_not_equalized_there_is_nothing_to_draw(width):
    """The largest count of each row of the table of all records, over the variables."""
    rng = np.random.default_rng(width)
    other, truth, said = rng.integers(0, 3, 90), *rng.integers(0, 2, (2, 90, width))
    tables = LookupTables.fit(problem_of(other, truth, said), "dpa", "accuracy")
    found = held(tables.trials(7, np.random.SeedSequence(0), (None,), "in_sample"), (None,))
    assert found.shape == (7, 4)
    expected = []
    for version in (said, truth):
        counted = [
            [[int(((other == o) & (column == c)).sum()) for c in (0, 1)] for o in range(3)] for column in version.T
        ]
        expected.append(np.mean([sum(max(row) for row in table) / 90 for table in counted]))
        expected.append(np.mean([max(np.sum(table, axis=0)) / 90 for table in counted]))
    assert found == pytest.approx(np.tile(expected, (7, 1)))
    perturbed = tables.perturbed(5, np.random.SeedSequence(0), None, "in_sample")
    assert np.column_stack(perturbed) == pytest.approx(np.full((5, 2), expected[2]))


@pytest.mark.parametrize("at_once", [1, 150, 400, 1 << 23])
def test_trials_that_do_not_fit_at_once_follow_each_other(monkeypatch, at_once):
    monkeypatch.setattr("biasamp.predictability.lookup._AT_ONCE", at_once)
    tables = LookupTables.fit(some_problem("dpa"), "dpa", "accuracy")
    seed = np.random.SeedSequence(1)
    assert held(tables.trials(7, seed, ("accuracy",), "held_out"), ("accuracy",)).shape == (7, 4)
    first, second = tables.halves(7, seed, "accuracy", "held_out")
    assert len(first) == len(second) == 7
    assert [len(part) for part in tables.perturbed(7, seed, "accuracy", "held_out")] == [7, 7]
    exact = tables.trials(7, seed, (None,), "in_sample")
    assert len(set(exact.model.tolist())) == 1


@pytest.mark.parametrize("rows", [1, 7, 1 << 13])
def test_matrix_products_of_parts_of_the_records_add_up(monkeypatch, rows):
    monkeypatch.setattr("biasamp.predictability.lookup._ROWS", rows)
    rng = np.random.default_rng(4)
    other, truth, said = rng.integers(0, 2, 60), *rng.integers(0, 2, (2, 60, 3))
    problem = problem_of(other, truth, said)
    found = LookupTables.fit(problem, "dpa", "accuracy").trials(1, np.random.SeedSequence(0), (None,), "in_sample")
    for version, score in ((said, found.model[0]), (truth, found.dataset[None][0])):
        expected = [
            sum(max(((other == o) & (column == c)).sum() for c in (0, 1)) for o in (0, 1)) / 60 for column in version.T
        ]
        assert score == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("n", [(1 << 24) - 1, 1 << 24, (1 << 24) + 1, (1 << 24) + 3, (1 << 25) + 3])
def test_counts_of_millions_are_exact(n):
    """One record more or less among millions, of two labels, which are counted together."""
    few = problem_of([0, 0, 1, 1], [[0, 1], [1, 0], [1, 1], [0, 0]], [[0, 1], [1, 1], [1, 1], [0, 0]])
    counts = np.array([n - 3, 1, 1, 1])
    problem = replace(few, counts=counts)
    found = LookupTables.fit(problem, "dpa", "accuracy").trials(1, np.random.SeedSequence(0), (None,), "in_sample")
    other, truth = problem.other.codes[:, 0], problem.truth.codes
    expected = []
    for v in range(2):
        table = np.zeros((2, 2), dtype=np.int64)
        np.add.at(table, (other, truth[:, v]), counts)
        expected.append(table.max(axis=1).sum() / n)
    assert found.dataset[None][0] == np.mean(expected)


def test_which_problems_tables_hold():
    """As many classes as 16 and cells as 1024, all variables with as many classes, and one variable to read for leakage."""

    def fits(others, classes, kind="dpa"):
        cells = np.indices((others, classes)).reshape(2, -1)
        return LookupTables.fit(problem_of(cells[0], cells[1], cells[1]), kind, "accuracy") is not None

    assert [fits(2, classes) for classes in (2, 15, 16, 17)] == [True, True, True, False]
    assert [fits(others, 16) for others in (4, 5)] == [True, False]
    assert [fits(others, 2) for others in (255, 256, 257)] == [True, True, False]
    assert [fits(others, 5) for others in (40, 41)] == [True, False]
    assert [fits(others, 2, "leakage") for others in (256, 257)] == [True, False]
    rng = np.random.default_rng(0)
    other, labels = rng.integers(0, 2, 200), rng.integers(0, 2, (200, 2))
    assert LookupTables.fit(problem_of(other, labels, labels), "dpa", "accuracy") is not None
    assert LookupTables.fit(problem_of(other, labels, labels), "leakage", "accuracy") is None
    assert LookupTables.fit(problem_of(labels, other, other), "leakage", "f1") is not None
    mixed = {"a": rng.choice(list("xyz"), 200), "b": rng.choice(list("uv"), 200)}
    assert LookupTables.fit(problem_of(other, mixed, mixed), "dpa", "accuracy") is None
    alike = {"a": rng.choice(list("xyz"), 200), "b": rng.choice(list("uvw"), 200)}
    assert LookupTables.fit(problem_of(other, alike, alike), "dpa", "accuracy") is not None


def test_probabilities_and_numbers_are_left_to_records():
    rng = np.random.default_rng(0)
    other, truth = rng.integers(0, 2, (2, 40))
    soft = read_problem(other, truth, rng.random(40), ("given", "truth", "predicted"))
    assert soft.soft
    assert LookupTables.fit(soft, "dpa", "accuracy") is None
    numbers = read_problem(other, rng.random(40), rng.random(40), ("given", "truth", "predicted"))
    for kind in ("dpa", "leakage"):
        assert LookupTables.fit(numbers, kind, "accuracy") is None


@pytest.mark.parametrize(
    ("kind", "quality"), [("dpa", "f1"), ("leakage", "f1"), ("dpa", "accuracy"), ("leakage", "accuracy")]
)
def test_labels_and_classes_are_scored_each_in_its_way(kind, quality):
    """The F1 of a label is that of its presence, and of two classes the mean of both; of several the mean over them is taken."""
    rng = np.random.default_rng(6)
    other, truth = rng.integers(0, 2, (100, 3)), (rng.random(100) < 0.3).astype(int)
    group = rng.integers(0, 2, 100)
    if kind == "dpa":
        read, target = group, np.column_stack([truth, rng.random(100) < 0.7 * group]).astype(int)
        problem = problem_of(read, target, target)
    else:
        read, target = truth, other
        problem = problem_of(target, read, read)
    found = LookupTables.fit(problem, kind, quality).trials(1, np.random.SeedSequence(0), (None,), "in_sample")
    expected = []
    for column in target.T:
        table = np.array([[((read == o) & (column == c)).sum() for c in (0, 1)] for o in (0, 1)])
        expected.append([best_score(t, t, quality, label=True) for t in (table, table.sum(axis=0, keepdims=True))])
    score, plain = np.mean(expected, axis=0)
    assert (found.model[0], found.model_plain[0]) == pytest.approx((score, plain))
    assert (found.dataset[None][0], found.dataset_plain[None][0]) == pytest.approx((score, plain))
