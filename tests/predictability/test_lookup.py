"""The lookup against every function there is, scored by scikit-learn."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

from biasamp.predictability.lookup import _auc, answers, best_score, no_input


def records(table):
    """Inputs and classes, one of each a record."""
    classes = table.shape[1]
    cells = np.repeat(np.arange(table.size), table.ravel())
    return cells // classes, cells % classes


def exhaustive(table, score):
    x, y = records(table)
    functions = itertools.product(range(table.shape[1]), repeat=table.shape[0])
    return max(score(y, np.array(f)[x]) for f in functions)


def tables(inputs, classes, low=0):
    size = inputs * classes
    return st.lists(st.integers(low, 9), min_size=size, max_size=size).map(
        lambda values: np.array(values).reshape(inputs, classes)
    )


@settings(max_examples=60, deadline=None)
@given(st.one_of(tables(3, 2), tables(2, 3), tables(4, 2), tables(3, 3)))
def test_best_accuracy_over_all_functions(table):
    if not table.sum():
        return
    best = exhaustive(table, lambda y, said: (y == said).mean())
    assert best_score(table, table) == pytest.approx(best, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(st.one_of(tables(3, 2, low=1), tables(2, 3, low=1), tables(3, 3, low=1)))
def test_best_balanced_accuracy_over_all_functions(table):
    best = exhaustive(table, balanced_accuracy_score)
    assert best_score(table, table, "balanced_accuracy") == pytest.approx(best, abs=1e-12)


@settings(max_examples=20, deadline=None)
@given(tables(4, 2))
def test_best_f1_of_a_label_over_all_functions(table):
    if not table[:, 1].sum():
        return
    best = exhaustive(table, lambda y, said: f1_score(y, said, zero_division=0))
    assert best_score(table, table, "f1", label=True) == pytest.approx(best, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(tables(3, 3, low=1))
def test_best_mean_f1_over_all_functions(table):
    best = exhaustive(table, lambda y, said: f1_score(y, said, average="macro", zero_division=0))
    assert best_score(table, table, "f1") == pytest.approx(best, abs=1e-12)


def test_mean_f1_beyond_exhaustive_search_is_near_the_best_known():
    rng = np.random.default_rng(3)
    # 2^13 functions: more than are tried one by one, few enough for the test to try them all.
    table = rng.integers(0, 20, size=(13, 2))
    x, y = records(table)
    best = 0.0
    for bits in range(2**13):
        yes = (bits >> np.arange(13)) & 1 == 1
        hit, said = table[yes, 1].sum(), table[yes].sum()
        miss = table[~yes, 0].sum()
        first = 2 * hit / max(said + table[:, 1].sum(), 1)
        second = 2 * miss / max(table.sum() - said + table[:, 0].sum(), 1)
        best = max(best, 0.5 * (first + second))
    found = float(best_score(table, table, "f1"))
    assert found == pytest.approx(f1_score(y, answers(table, "f1")[x], average="macro"))
    assert best - 0.01 < found <= best + 1e-12


@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(tables(3, 2, low=1))
def test_best_auc_over_all_rankings(table):
    x, y = records(table)
    best = max(roc_auc_score(y, np.array(rank)[x]) for rank in itertools.product(range(3), repeat=3))
    assert best_score(table, table, "auc") == pytest.approx(best, abs=1e-12)


def test_auc_of_many_inputs_and_classes_is_that_of_scikit_learn():
    rng = np.random.default_rng(0)
    table = rng.integers(0, 5, size=(90, 3))
    x, y = records(table)
    chance = (table / np.maximum(table.sum(axis=1, keepdims=True), 1))[x]
    expected = np.mean([roc_auc_score(y == c, chance[:, c]) for c in range(3)])
    assert best_score(table, table, "auc") == pytest.approx(expected)


def test_held_out_scores_are_those_of_the_function_learnt():
    learn = np.array([[5, 1], [0, 0], [2, 2]])
    test = np.array([[3, 4], [1, 6], [0, 5]])
    # Input 0 answers class 0; input 1 was never seen, and class 0 is the commoner; input 2 ties: class 0.
    assert best_score(learn, test) == pytest.approx((3 + 1 + 0) / 19)


def test_tables_are_scored_one_by_one():
    rng = np.random.default_rng(1)
    stack = rng.integers(0, 9, size=(6, 3, 2))
    alone = [float(best_score(a, a, "f1", label=True)) for a in stack]
    assert best_score(stack, stack, "f1", label=True) == pytest.approx(alone)


def test_without_input_accuracy_is_the_largest_share():
    table = np.array([[25, 75], [25, 25]])
    plain = no_input(table)
    assert best_score(plain, plain) == pytest.approx(100 / 150)
    # The hiring example of the DPA paper: who applies tells nothing that the larger class does not.
    assert best_score(table, table) == pytest.approx(100 / 150)


def test_a_class_of_one_record_weighs_as_much_as_any_other():
    """Balanced accuracy of the first input: all of class 0 is there, and half of class 1."""
    assert answers(np.array([[1, 9], [0, 9]]), "balanced_accuracy").tolist() == [0, 1]


def test_an_input_that_was_never_seen_has_the_rate_of_all() -> None:
    """One class in four among the 8 records of the first input, none of the second: both rank alike, so that the AUC is a half."""
    train = np.array([[[6, 2], [0, 0]]])
    test = np.array([[[3, 1], [1, 2]]])
    assert _auc(train, test).tolist() == [0.5]
    # With a record of its own the second input ranks above the first: 3 * 2 of 4 * 3 pairs in order, and the ties count a half.
    seen = _auc(np.array([[[6, 2], [0, 1]]]), test)
    assert seen.tolist() == [(3 * 2 + (3 * 1 + 1 * 2) / 2) / 12]


def test_an_input_that_was_never_seen_is_answered_by_the_rate_of_all_for_f1() -> None:
    """It ranks by the share of yes in all records: below the inputs that are answered no, or between those answered yes."""
    # Yes to the first: 2 * 9 of 10 + 10. To the second as well: 2 * 10 of 30 + 10. A third of all are yes: above the second.
    assert answers(np.array([[1, 9], [19, 1], [0, 0]]), "f1", label=True).tolist() == [1, 0, 1]
    # Yes to the first: 2 * 9 of 10 + 17, to two: 2 * 17 of 48 + 17. An eighth of all are yes: below the second.
    assert answers(np.array([[1, 9], [30, 8], [0, 0], [100, 0]]), "f1", label=True).tolist() == [1, 0, 0, 0]


def learnt(train, quality, label):
    """The answer to each input, by the words of the documents: ties and inputs never seen are answered by the commoner class."""
    overall = train.sum(axis=0)
    if quality == "balanced_accuracy":
        return [max(range(len(overall)), key=lambda c: (row[c] / overall[c] if overall[c] else 0, -c)) for row in train]
    if quality == "accuracy":
        return [max(range(len(overall)), key=lambda c: (row[c], overall[c], -c)) for row in train]
    return answers(train, quality, label=label).tolist()  # held against all functions above


def scored(train, test, quality, label):
    """The score of one table, record by record, by scikit-learn."""
    x, y = records(test)
    if quality == "auc":
        overall = train.sum(axis=0) / train.sum()
        chance = np.array([row / row.sum() if row.sum() else overall for row in train])[x]
        own = [1] if test.shape[1] == 2 else range(test.shape[1])
        each = [roc_auc_score(y == c, chance[:, c]) for c in own if 0 < (y == c).sum() < len(y)]
        return np.mean(each) if each else np.nan
    said = np.array(learnt(train, quality, label))[x]
    if quality == "accuracy":
        return (said == y).mean()
    if quality == "balanced_accuracy":
        return np.mean([(said[y == c] == c).mean() for c in np.unique(y)])
    return f1_score(y, said, zero_division=0) if label else f1_score(y, said, average="macro", zero_division=0)


@pytest.mark.parametrize(
    ("quality", "label", "classes"),
    [
        *(
            (quality, False, classes)
            for quality in ("accuracy", "balanced_accuracy", "f1", "auc")
            for classes in (2, 3)
        ),
        ("f1", True, 2),
        ("auc", True, 2),
    ],
)
def test_every_table_of_a_stack_is_learnt_and_scored_by_itself(quality, label, classes):
    rng = np.random.default_rng(classes)
    train, test = rng.integers(0, 4, size=(2, 2, 5, 4, classes))
    train[..., 1, :] = 0  # an input that is never seen
    train[0, 1, 2] = [2] * classes  # one that ties
    test[1, 2, :, 0] = 0  # a class that is not scored
    test[1, 3, :, 1:] = 0  # one that is scored alone
    found = best_score(train, test, quality, label=label)
    assert found.shape == (2, 5)
    assert found.dtype == np.float64
    expected = [
        [scored(a, b, quality, label) for a, b in zip(*pair, strict=True)] for pair in zip(train, test, strict=True)
    ]
    assert found == pytest.approx(np.array(expected), nan_ok=True)
    if quality != "auc":
        said = answers(train, quality, label=label)
        assert said.shape == (2, 5, 4)
        assert said.tolist() == [[learnt(table, quality, label) for table in row] for row in train]


def test_tables_of_probabilities_tie_as_counts_do():
    # The second class is the commoner one, which decides ties and inputs never seen, and nothing else.
    table = np.array([[0.16, 0.14], [0.1, 0.1], [0.0, 0.0], [0.2, 0.3]])
    assert answers(table, "accuracy").tolist() == [0, 1, 1, 1]
    assert answers(table[:, ::-1], "accuracy").tolist() == [1, 0, 0, 0]
    assert best_score(table, table) == pytest.approx(0.16 + 0.1 + 0.3)
    assert answers(table, "f1", label=True).tolist() == [1, 1, 1, 1]
    # Yes to the first: 2 * 0.3 of 0.3 + 0.5; to the third as well: 2 * 0.4 of 0.5 + 0.5; the last changes nothing.
    shares = np.array([[0.0, 0.3], [0.4, 0.1], [0.1, 0.1], [0.0, 0.0]])
    assert answers(shares, "f1", label=True).tolist() == [1, 0, 1, 1]
    assert _auc(table, table) == pytest.approx(_auc(1000 * table, 1000 * table))


def test_one_record_more_wins_over_any_majority():
    table = np.array([[2, 1], [0, 500], [500, 499], [3, 3]])
    assert answers(table, "accuracy").tolist() == [0, 1, 0, 1]
    assert answers(table[:, ::-1], "accuracy").tolist() == [1, 0, 1, 0]
    assert answers(np.zeros((2, 3), dtype=np.int64), "accuracy").tolist() == [0, 0]


def test_without_input_every_table_of_a_stack_has_one_row():
    stack = np.arange(24).reshape(2, 3, 4)
    plain = no_input(stack)
    assert plain.shape == (2, 1, 4)
    assert plain.tolist() == [[[12, 15, 18, 21]], [[48, 51, 54, 57]]]


def test_a_label_that_no_record_has_is_answered_yes_where_that_costs_nothing():
    """All prefixes have an F1 of 0: the longest one is taken, and nothing is divided by 0."""
    assert answers(np.array([[3, 0], [4, 0]]), "f1", label=True).tolist() == [1, 1]
    assert best_score(np.array([[3, 0], [4, 0]]), np.array([[3, 0], [4, 0]]), "f1", label=True) == 0.0
    # A label of every record: all inputs are answered yes.
    assert best_score(np.array([[0, 3], [0, 0]]), np.array([[0, 2], [1, 1]]), "f1", label=True) == pytest.approx(6 / 7)
    assert answers(np.zeros((2, 3, 2), dtype=np.int64), "f1", label=True).tolist() == [[1, 1, 1]] * 2
    # One record in all.
    assert answers(np.array([[0, 0], [0, 1], [0, 0]]), "f1", label=True).tolist() == [1, 1, 1]
    assert answers(np.array([[0, 0], [1, 0], [0, 0]]), "f1", label=True).tolist() == [1, 1, 1]


def test_an_input_with_one_record_is_seen():
    """Its rate is that of its one record, not that of all."""
    assert answers(np.array([[9, 1], [0, 1]]), "f1", label=True).tolist() == [0, 1]
    assert answers(np.array([[1, 9], [1, 0]]), "f1", label=True).tolist() == [1, 0]
    train = np.array([[9, 1], [0, 1]])
    assert best_score(train, np.array([[1, 0], [0, 1]]), "auc") == 1.0


def test_mean_f1_of_many_functions_is_no_worse_for_any_other_answer_to_one_input():
    rng = np.random.default_rng(5)
    stack = rng.integers(0, 12, size=(6, 13, 2)) * rng.integers(0, 2, size=(6, 13, 1))
    found = answers(stack, "f1")
    scores = best_score(stack, stack, "f1")
    for table, said, score in zip(stack, found, scores, strict=True):
        x, y = records(table)
        assert score == pytest.approx(f1_score(y, said[x], average="macro", zero_division=0))
        assert answers(table, "f1").tolist() == said.tolist()
        for place in range(13):
            other = said.copy()
            other[place] = 1 - other[place]
            assert f1_score(y, other[x], average="macro", zero_division=0) <= score + 1e-12


def test_auc_is_undefined_where_all_scored_records_are_of_one_class():
    train = np.array([[3, 1, 2], [1, 4, 2]])
    alone = np.array([[0, 2, 0], [0, 1, 0]])
    assert np.isnan(best_score(train, alone, "auc"))
    two = np.array([[2, 1, 0], [1, 3, 0]])
    # The third class, of which nothing is scored, has no part in the mean.
    chance = train / train.sum(axis=1, keepdims=True)
    x, y = records(two)
    expected = np.mean([roc_auc_score(y == c, chance[x, c]) for c in (0, 1)])
    assert best_score(np.stack([train, train]), np.stack([alone, two]), "auc") == pytest.approx(
        [np.nan, expected], nan_ok=True
    )


def test_mean_f1_is_exact_for_as_many_functions_as_4096():
    """Twelve inputs of two classes, where no change of one answer leads to the best function."""
    table = np.zeros((12, 2), dtype=np.int64)
    table[:7] = [[8, 6], [1, 2], [0, 2], [10, 8], [12, 6], [6, 6], [5, 4]]
    yes = (np.arange(2**7)[:, None] >> np.arange(7)) & 1
    hit, said, miss = yes @ table[:7, 1], yes @ table[:7].sum(axis=1), (1 - yes) @ table[:7, 0]
    no = table.sum() - said
    best = (hit / (said + table[:, 1].sum()) + miss / (no + table[:, 0].sum())).max()
    assert best_score(table, table, "f1") == pytest.approx(best, abs=1e-12)
    assert best_score(table[:7], table[:7], "f1") == pytest.approx(best, abs=1e-12)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("quality", ["accuracy", "balanced_accuracy", "f1", "auc"])
def test_tables_of_any_sum_are_learnt_from_alike(quality, scale):
    """Shares, or as many records a thousand times, with an input that was never seen."""
    train = np.array([[9, 1], [30, 8], [0, 0], [100, 5], [1, 2]])
    test = np.array([[3, 4], [5, 2], [6, 1], [2, 2], [1, 3]])
    small = train * scale
    assert best_score(small, test, quality, label=True) == pytest.approx(best_score(train, test, quality, label=True))
    if quality != "auc":
        assert answers(small, quality, label=True).tolist() == answers(train, quality, label=True).tolist()
