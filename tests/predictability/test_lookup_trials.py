"""Trials on tables against trials on records, written here once more and slowly."""

from collections import Counter

import numpy as np
import pytest
from scipy.stats import ks_2samp

from biasamp.data import align, label_set, read_columns
from biasamp.predictability import problem_from_labels
from biasamp.predictability.lookup import LookupTables


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
