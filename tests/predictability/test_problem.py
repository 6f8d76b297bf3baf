import numpy as np
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import biasamp
from biasamp.counts.contingency import ContingencyTable
from biasamp.data import align, label_set, read_columns
from biasamp.predictability import problem_from_labels, problem_from_table
from biasamp.predictability.problem import read_problem
from biasamp.predictability.sides import Labels, Numbers, canonical

NAMES = ("given", "truth", "predicted")


def read(*arguments):
    sides = [label_set(read_columns(x, "x"), "x") for x in arguments]
    return [sides[0], *align(sides[1:], ["truth", "predicted"])]


def table_of(sides):
    return ContingencyTable.from_labels(dict(zip(("given", "truth", "predicted"), sides, strict=True)))


def cells(problem):
    return (
        problem.other.codes.tolist(),
        problem.truth.codes.tolist(),
        problem.predicted.codes.tolist(),
        problem.counts.tolist(),
    )


@pytest.mark.parametrize(
    "arguments",
    [
        (["w", "m"] * 20, list("abca" * 10), list("abcd" * 10)),
        (
            np.eye(4, dtype=int)[np.arange(40) % 4],
            np.tile([[1, 0, 1], [0, 0, 1]], (20, 1)),
            np.ones((40, 3), int),
        ),
        ([["a", "b"], ["b"], [], ["c"]] * 10, [0, 1] * 20, [0, 0, 1, 1] * 10),
    ],
)
def test_records_and_their_table_are_one_problem(arguments):
    sides = read(*arguments)
    assert cells(problem_from_labels(*sides)) == cells(problem_from_table(table_of(sides)))


def test_records_alike_become_one_cell_and_come_apart_again():
    problem = problem_from_labels(*read([0, 1] * 10, [0, 1] * 10, [1, 1] * 10))
    assert problem.counts.tolist() == [10, 10]
    apart = problem.records()
    assert len(apart.counts) == 20
    assert cells(apart.take(np.arange(20))) == cells(apart)


def test_names_do_not_order_anything():
    rng = np.random.default_rng(0)
    codes = [c.reshape(-1, 1).astype(np.uint8) for c in np.indices((3, 5, 5))]
    counts = rng.integers(1, 50, 75)
    first = canonical(*(Labels(c, (s,), (False,)) for c, s in zip(codes, (3, 5, 5), strict=True)), counts)
    group, task, order = rng.permutation(3), rng.permutation(5), rng.permutation(75)
    renamed = [group[codes[0]], task[codes[1]], task[codes[2]]]
    second = canonical(
        *(Labels(c[order].astype(np.uint8), (s,), (False,)) for c, s in zip(renamed, (3, 5, 5), strict=True)),
        counts[order],
    )
    for a, b in zip(first[:3], second[:3], strict=True):
        assert (a.codes == b.codes).all()
    assert (first[3] == second[3]).all()


def test_order_of_continuous_records_does_not_matter():
    rng = np.random.default_rng(0)
    values = rng.normal(size=(3, 30, 2))
    order = rng.permutation(30)
    first = canonical(*(Numbers(v) for v in values), np.ones(30, dtype=np.int64))
    second = canonical(*(Numbers(v[order]) for v in values), np.ones(30, dtype=np.int64))
    assert all((a.values == b.values).all() for a, b in zip(first[:3], second[:3], strict=True))


def test_tables_that_do_not_fit_say_why():
    given, truth, predicted = read([0, 1] * 5, [0, 1] * 5, [1, 0] * 5)
    with pytest.raises(ValueError, match="the table misses predicted"):
        problem_from_table(ContingencyTable.from_labels({"given": given, "truth": truth}))
    weights = np.linspace(0.1, 1, 10)
    sides = {"given": given, "truth": truth, "predicted": predicted}
    with pytest.raises(ValueError, match="fractional weights"):
        problem_from_table(ContingencyTable.from_labels(sides, weights))
    with pytest.raises(ValueError, match="different labels"):
        problem_from_table(
            ContingencyTable.from_labels({**sides, "predicted": label_set(read_columns(list("ab" * 5), "x"), "x")})
        )


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("measure", [biasamp.dpa, biasamp.leakage])
@pytest.mark.parametrize("options", [{}, {"evaluation": "in_sample"}, {"attacker": "naive_bayes", "trials": 5}])
def test_one_hot_columns_are_the_variable_they_code(measure, options):
    rng = np.random.default_rng(3)
    given, truth = rng.integers(0, 3, 120), rng.integers(0, 4, 120)
    predicted = np.where(rng.random(120) < 0.3, rng.integers(0, 4, 120), truth)
    variable = measure(given, truth, predicted, **options)
    # The fifth class is one that no record has.
    columns = measure(np.eye(3, dtype=int)[given], *(np.eye(5, dtype=int)[x] for x in (truth, predicted)), **options)
    assert columns.to_dict() == variable.to_dict()


class Watching(RegressorMixin, BaseEstimator):
    """Keeps what it is shown."""

    seen: list = []

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, features, target):
        self.seen.append((features, target))
        return self

    def predict(self, features):
        return np.zeros(len(features))


@pytest.mark.parametrize("equalize", ["accuracy", "confusion"])
def test_attackers_see_one_hot_rows_as_wrong_as_the_model(equalize):
    rng = np.random.default_rng(4)
    who, truth = rng.permutation(97) + 0.5, rng.integers(0, 3, 97)
    predicted = np.where(rng.random(97) < 0.3, (truth + 1) % 3, truth)
    Watching.seen.clear()
    biasamp.leakage(
        who,
        np.eye(3, dtype=int)[truth],
        np.eye(3, dtype=int)[predicted],
        attacker=Watching(),
        equalize=equalize,
        evaluation="in_sample",
        trials=3,
    )
    wrong = []
    for features, target in Watching.seen:
        assert (features.sum(axis=1) == 1).all()
        # Records are told by their number, and columns by the class that most of their records have.
        true = truth[np.argsort(who)][np.argsort(np.argsort(target))]
        common = np.array([np.bincount(true[column == 1], minlength=3).argmax() for column in features.T])
        wrong.append(int((common[features.argmax(axis=1)] != true).sum()))
    assert set(wrong) == {0, int((truth != predicted).sum())}
    assert sum(w > 0 for w in wrong) == 3 * len(wrong) // 4


def test_labels_of_which_some_record_has_two_stay_labels():
    rng = np.random.default_rng(5)
    truth = np.eye(3, dtype=int)[rng.integers(0, 3, 60)]
    predicted = truth.copy()
    predicted[0] = [1, 1, 0]
    group = rng.integers(0, 2, 60)
    assert read_problem(group, truth, predicted, NAMES).truth.width == 3
    assert read_problem(group, truth, truth.copy(), NAMES).truth.width == 1


def test_probabilities_that_add_up_to_one_are_of_one_variable():
    rng = np.random.default_rng(6)
    truth = rng.integers(0, 3, 80)
    chances = rng.dirichlet([1, 1, 1], 80)
    problem = read_problem(rng.integers(0, 2, 80), np.eye(3, dtype=int)[truth], chances, NAMES)
    drawn = problem.hard(rng).predicted
    assert drawn.sizes == (3,)
    assert (drawn.indicators().sum(axis=1) == 1).all()
