import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, RegressorMixin

import biasamp
from biasamp.counts.contingency import ContingencyTable
from biasamp.data import align, categorical, label_set, read_columns
from biasamp.predictability import problem_from_labels, problem_from_table
from biasamp.predictability.problem import Problem, read_problem
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


GROUP, TRUTH = [0, 1, 0, 1, 0, 1], [0, 1, 1, 0, 1, 0]
SHARE = np.array([0.5, 0.25, 0.75, 0.5, 0.25, 0.75])
FIVE = [1, 2, 3, 4, 5, 1]
MISSING = np.array([0.5, np.nan, 1.0, 2.0, 3.0, np.nan])


@pytest.mark.parametrize(
    ("arguments", "kinds"),
    [
        ((GROUP, TRUTH, TRUTH[::-1]), "hard hard hard"),
        ((GROUP, TRUTH, SHARE), "hard hard soft"),
        ((GROUP, FIVE, FIVE[::-1]), "hard hard hard"),
        # Whole numbers as floats are classes, as those of integers are, and so are fractions that are declared to be.
        ((GROUP, np.array(FIVE, dtype=float), np.array(FIVE[::-1], dtype=float)), "hard hard hard"),
        ((categorical(SHARE), categorical(SHARE + 1), categorical(SHARE[::-1] + 1)), "hard hard hard"),
        ((SHARE, TRUTH, TRUTH[::-1]), "numbers hard hard"),
        ((SHARE, TRUTH, SHARE / 2), "numbers hard soft"),
        ((np.column_stack([np.ones(6), SHARE]), TRUTH, TRUTH[::-1]), "numbers hard hard"),
        ((GROUP, SHARE, SHARE * 2), "hard numbers numbers"),
        ((GROUP, SHARE, FIVE), "hard numbers numbers"),
        # A truth of whole numbers is continuous where predictions have fractions that no probability has.
        ((GROUP, FIVE, SHARE * 3), "hard numbers numbers"),
        ((GROUP, FIVE, SHARE - 1), "hard numbers numbers"),
        ((GROUP, {"a": SHARE, "b": TRUTH}, {"a": SHARE * 2, "b": SHARE}), "hard numbers numbers"),
        ((GROUP, {"a": FIVE, "b": FIVE}, {"a": FIVE[::-1], "b": SHARE * 3}), "hard numbers numbers"),
    ],
)
def test_what_is_continuous_and_what_is_labels(arguments, kinds):
    problem = read_problem(*arguments, NAMES)
    sides = (problem.other, problem.truth, problem.predicted)
    found = ["numbers" if isinstance(side, Numbers) else "hard" if side.chances is None else "soft" for side in sides]
    assert " ".join(found) == kinds
    assert problem.soft == ("soft" in kinds)
    assert problem.n == 6
    assert (problem.labels is None) == ("numbers" in kinds)
    assert (problem.target("dpa"), problem.target("leakage")) == (problem.truth, problem.other)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((pd.Series(GROUP), pd.Series(TRUTH, index=[5, 4, 3, 2, 1, 0]), TRUTH), "different indexes"),
        ((SHARE, SHARE, FIVE), "given and truth are the same column"),
        ((GROUP, SHARE, TRUTH), "truth holds fractions, but predicted 0 and 1 only: are truth and predictions swapped"),
        ((GROUP, SHARE, [True, False] * 3), "truth holds fractions, but predicted 0 and 1 only"),
        ((GROUP, SHARE, np.array([0, 1, np.nan, 0, 1, 0])), "truth holds fractions, but predicted 0 and 1 only"),
        ((GROUP, FIVE, SHARE), "predicted holds fractions such as 0.5"),
        ((GROUP, FIVE, [1.0, 0.0, 0.5, 0.5, 0.5, 0.5]), "predicted holds fractions such as 0.5"),
        ((GROUP, TRUTH, SHARE * 3), "predicted holds 1.5"),
        ((GROUP, SHARE, list("ababab")), "truth is continuous, so predicted must be numbers too"),
        ((GROUP, SHARE, np.column_stack([SHARE, SHARE])), "truth and predicted have different numbers of columns"),
        ((GROUP, [0, 1, None, 0, 1, 0], TRUTH), "truth has 1 record with missing labels"),
        ((GROUP, TRUTH, [0, 1, None, 0, 1, 0]), "predicted has 1 record with missing labels"),
        (([None, 1, 0, 1, 0, 1], TRUTH, TRUTH[::-1]), "given has 1 record with missing labels"),
        (([[]] * 6, TRUTH, TRUTH[::-1]), "given holds no label at all"),
        (({"a": SHARE, "b": [["p"], ["q"], ["p"], [], [], []]}, TRUTH, TRUTH[::-1]), "given mixes continuous columns"),
        ((GROUP, {"a": SHARE, "b": list("ababab")}, {"a": SHARE * 2, "b": SHARE}), "truth mixes continuous columns"),
        ((np.array([0.5, np.inf, 1, 2, 3, 4]), TRUTH, TRUTH[::-1]), "given holds infinite values"),
        ((MISSING, TRUTH, TRUTH[::-1]), r"given has 2 missing values \(row 2,"),
        ((GROUP, MISSING, SHARE), r"truth has 2 missing values \(row 2,"),
        ((GROUP, SHARE, MISSING), r"predicted has 2 missing values \(row 2,"),
        ((GROUP, np.full(6, 0.5), SHARE), "truth is the same for all 6 records"),
        ((np.full((6, 2), 0.5), TRUTH, TRUTH[::-1]), "given is the same for all 6 records"),
        ((GROUP, TRUTH, TRUTH[:5]), "predicted has 5"),
        (([], TRUTH, TRUTH[::-1]), "given is empty"),
        ((GROUP[:3], TRUTH[:3], [0, 0, 1]), "3 records are too few to learn from and to score: at least 4"),
    ],
)
def test_what_is_no_problem_is_said_in_words(arguments, message):
    with pytest.raises(ValueError, match=message):
        read_problem(*arguments, NAMES)


def test_four_records_are_enough_and_predictions_may_be_all_alike():
    problem = read_problem(GROUP[:4], TRUTH[:4], [1, 1, 1, 1], NAMES)
    assert problem.n == 4
    assert len(set(problem.predicted.codes.ravel().tolist())) == 1
    # One column of several that never changes leaves something to predict.
    columns = read_problem({"a": [1] * 6, "b": GROUP}, TRUTH, TRUTH[::-1], NAMES)
    assert columns.other.width == 2


def test_a_category_beside_numbers_is_a_column_for_each_of_its_values_where_it_is_read():
    """What the attackers of DPA read may be mixed; what those of leakage predict may not."""
    mixed = {"a": np.array([0.5, 1, 2, 3, 4, 5]), "b": ["x", "y", "z", "x", "y", "z"], "c": [True, False] * 3}
    values = read_problem(mixed, TRUTH, TRUTH[::-1], NAMES).other.values
    assert values.tolist() == [
        [0.5, 1, 0, 0, 1],
        [1, 0, 1, 0, 0],
        [2, 0, 0, 1, 1],
        [3, 1, 0, 0, 0],
        [4, 0, 1, 0, 1],
        [5, 0, 0, 1, 0],
    ]
    with pytest.raises(ValueError, match="A mixes continuous columns with labels"):
        read_problem(mixed, TRUTH, TRUTH[::-1], ("A", "T", "T_pred"))
    alone = read_problem({"a": mixed["a"], "c": mixed["c"]}, TRUTH, TRUTH[::-1], ("A", "T", "T_pred")).other.values
    assert alone.tolist() == [[row[0], row[-1]] for row in values.tolist()]


def test_missing_values_are_no_fractions():
    """A column of whole numbers of which some are missing is one of labels that are missing, not a continuous one."""
    with pytest.raises(ValueError, match="truth has 1 record with missing labels"):
        read_problem(GROUP, np.array([0, 1, np.nan, 2, 1, 0]), FIVE, NAMES)
    with pytest.raises(ValueError, match="given has 1 record with missing labels"):
        read_problem(np.array([0, 1, np.nan, 2, 1, 0]), TRUTH, TRUTH[::-1], NAMES)
    with pytest.raises(ValueError, match="truth has 2 missing values"):
        read_problem(GROUP, MISSING, np.array([0, 1, 0, 2, 1, np.nan]), NAMES)


def test_a_problem_in_the_order_of_its_records_keeps_them_apart():
    sides = read(list("babbab"), list("yxyxyx"), list("xxxxyy"))
    held = problem_from_labels(*sides, in_order=True)
    assert held.counts.tolist() == [1] * 6
    assert held.other.codes[:, 0].tolist() == [1, 0, 1, 1, 0, 1]
    assert held.truth.codes[:, 0].tolist() == [1, 0, 1, 0, 1, 0]
    assert held.predicted.codes[:, 0].tolist() == [0, 0, 0, 0, 1, 1]
    assert len(problem_from_labels(*sides).counts) == 5


def counted(counts, order=("given", "truth", "predicted")):
    """A table of four cells: (a, x, x), (a, y, x), (b, x, y) and (b, y, y), with sides in any order."""
    sides = read(list("aabb"), list("xyxy"), list("xxyy"))
    held = dict(zip(NAMES, sides, strict=True))
    table = ContingencyTable.from_labels({name: held[name] for name in order})
    classes = [table.sides[name].combinations.argmax(axis=1) for name in order]
    found = {
        tuple(int(own[code]) for own, code in zip(classes, cell, strict=True)): place
        for place, cell in enumerate(table.cells.tolist())
    }
    own = {"given": [0, 0, 1, 1], "truth": [0, 1, 0, 1], "predicted": [0, 0, 1, 1]}
    places = [found[cell] for cell in zip(*(own[name] for name in order), strict=True)]
    values = np.zeros(4, dtype=np.asarray(counts).dtype)
    values[places] = counts
    return ContingencyTable(table.sides, table.cells, values)


@pytest.mark.parametrize("order", [NAMES, ("predicted", "given", "truth"), ("truth", "predicted", "given")])
def test_cells_of_a_table_by_the_names_of_its_sides(order):
    held = problem_from_table(counted([3, 1, 4, 2], order), in_order=True)
    rows = zip(held.other.codes[:, 0], held.truth.codes[:, 0], held.predicted.codes[:, 0], held.counts, strict=True)
    assert sorted(tuple(map(int, row)) for row in rows) == [(0, 0, 0, 3), (0, 1, 0, 1), (1, 0, 1, 4), (1, 1, 1, 2)]
    assert held.n == 10
    assert not held.never_wrong


def test_cells_without_records_are_kept_only_in_order():
    table = counted([3, 0, 1, 2])
    assert problem_from_table(table, in_order=True).counts.tolist() == table.counts.tolist()
    assert sorted(problem_from_table(table).counts.tolist()) == [1, 2, 3]
    assert sorted(problem_from_table(counted([1, 1, 1, 2])).counts.tolist()) == [1, 1, 1, 2]


def test_weights_that_are_whole_numbers_count_whatever_their_type():
    whole = problem_from_table(counted([3.0, 1.0, 4.0, 2.0]))
    assert whole.counts.dtype == np.int64
    assert cells(whole) == cells(problem_from_table(counted([3, 1, 4, 2])))
    with pytest.raises(ValueError, match="fractional weights"):
        problem_from_table(counted([3.0, 1.0, 4.5, 2.0]))
    with pytest.raises(ValueError, match="3 records are too few"):
        problem_from_table(counted([1, 1, 1, 0]))


def test_a_table_says_which_sides_it_misses():
    given, truth, _ = read(list("aabb"), list("xyxy"), list("xxyy"))
    with pytest.raises(ValueError, match="the table misses given, predicted; it has truth, who"):
        problem_from_table(ContingencyTable.from_labels({"truth": truth, "who": given}))


def test_a_model_that_is_never_wrong():
    assert read_problem(GROUP, TRUTH, list(TRUTH), NAMES).never_wrong
    assert not read_problem(GROUP, TRUTH, [1, *TRUTH[1:]], NAMES).never_wrong
    assert not read_problem(GROUP, TRUTH, np.where(np.array(TRUTH) == 1, 1.0, 0.5), NAMES).never_wrong
    # Numbers are not looked at.
    assert not read_problem(GROUP, SHARE, SHARE.copy(), NAMES).never_wrong


def three_cells(counts):
    codes = np.arange(3, dtype=np.uint8)[:, None]
    side = Labels(codes, (3,), (False,))
    return Problem(side, side, side, np.array(counts))


def test_cells_come_apart_into_records_and_some_of_them():
    problem = three_cells([2, 1, 3])
    apart = problem.records()
    assert apart.counts.tolist() == [1] * 6
    assert apart.other.codes[:, 0].tolist() == [0, 0, 1, 2, 2, 2]
    ones = three_cells([1, 1, 1])
    assert ones.records() is ones
    rng = np.random.default_rng(0)
    assert problem.thinned(6, rng).other.codes[:, 0].tolist() == [0, 0, 1, 2, 2, 2]
    seen = np.zeros(3)
    for _ in range(300):
        few = problem.thinned(5, rng)
        assert few.counts.tolist() == [1] * 5
        held = np.bincount(few.truth.codes[:, 0], minlength=3)
        assert (held <= [2, 1, 3]).all()
        seen += held
    # Five of six records, all alike.
    assert seen / 300 == pytest.approx([10 / 6, 5 / 6, 15 / 6], abs=0.12)
    one = {len(set(problem.thinned(1, rng).other.codes[:, 0].tolist())) for _ in range(20)}
    assert one == {1}


def test_hard_labels_and_numbers_have_nothing_to_draw():
    rng = np.random.default_rng(0)
    numbers = read_problem(GROUP, SHARE, SHARE * 2, NAMES)
    assert numbers.hard(rng) is numbers
    hard = read_problem(GROUP, TRUTH, TRUTH[::-1], NAMES)
    assert hard.hard(rng).predicted is hard.predicted
    soft = read_problem(GROUP, TRUTH, np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.5]), NAMES)
    drawn = {tuple(soft.hard(rng).predicted.codes[:, 0].tolist()) for _ in range(40)}
    assert len(drawn) == 2
    assert not soft.hard(rng).soft
