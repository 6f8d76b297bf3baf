import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from biasamp.data import align, label_set, read_columns
from biasamp.predictability import measure, problem_from_labels
from biasamp.predictability.attackers import Lookup, NaiveBayes, Trained, choose
from biasamp.predictability.sides import Labels, Numbers


def measured(other, truth, predicted, kind, **options):
    sides = [
        x if isinstance(x, np.ndarray) and x.dtype.kind == "f" else label_set(read_columns(x, "x"), "x")
        for x in (other, truth, predicted)
    ]
    pair = sides[1:] if isinstance(sides[1], np.ndarray) else align(sides[1:], ["truth", "predicted"])
    return measure(problem_from_labels(sides[0], *pair), kind, trials=2, **options)


@pytest.fixture
def rng():
    return np.random.default_rng(0)


def test_one_variable_is_looked_up(rng):
    groups, tasks = rng.integers(0, 2, 300), rng.integers(0, 60, 300)
    for kind in ("dpa", "leakage"):
        found = measured(groups, tasks, tasks, kind)
        assert found.attacker == "lookup"
        assert "one variable" in found.reason


def test_few_combinations_are_looked_up_and_many_weighed(rng):
    groups = rng.integers(0, 2, 2000)
    few, many = rng.integers(0, 2, (2000, 3)), rng.integers(0, 2, (2000, 30))
    found = measured(groups, few, few, "leakage")
    assert found.attacker == "lookup"
    assert "8 combinations" in found.reason
    found = measured(groups, many, many, "leakage")
    assert found.attacker == "naive_bayes"
    assert "100.0% of the 2,000 records" in found.reason
    assert measured(many, groups, groups, "dpa").attacker == "naive_bayes"
    # A set of labels as what is predicted is no reason: the attacker reads two groups.
    assert measured(groups, many, many, "dpa").attacker == "lookup"


def test_perturbed_labels_occur_in_more_combinations(rng):
    """Twelve labels that always agree make two combinations, but not once they are perturbed one by one."""
    groups = rng.integers(0, 2, 400)
    truth = np.repeat(rng.integers(0, 2, (400, 1)), 12, axis=1)
    wrong = np.where(rng.random((400, 1)) < 0.3, 1 - truth, truth)
    assert measured(groups, truth, wrong, "leakage").attacker == "naive_bayes"
    assert measured(groups, truth, wrong, "leakage", equalize=None).attacker == "lookup"


def test_continuous_data_get_a_curve(rng):
    values = rng.normal(size=(200, 2))
    found = measured(rng.integers(0, 2, 200), values, values + 0.1, "leakage")
    assert (found.attacker, found.quality) == ("spline", "accuracy")
    assert "continuous" in found.reason


def test_a_curve_finds_a_bent_relation(rng):
    """T = A^2 tells nothing about the sign of A to a straight line, and everything about its size."""
    given = rng.uniform(-2, 2, size=(600, 1))
    bent = given**2 + 0.1 * rng.normal(size=(600, 1))
    found = measured(given, bent, bent, "dpa", equalize=None)
    assert found.scores.model.mean() > 0.8 / 0.1 * 0.5
    assert found.scores.model_plain.mean() < 1.0


def split(n):
    return np.arange(0, n, 2), np.arange(1, n, 2)


def classes(codes, size, yes_no=False):
    codes = np.asarray(codes, dtype=np.uint8).reshape(len(codes), -1)
    return Labels(codes, (size,) * codes.shape[1], (yes_no,) * codes.shape[1])


@pytest.mark.parametrize("pair", [("numbers", "labels"), ("labels", "numbers"), ("numbers", "numbers")])
def test_numbers_are_not_looked_up(pair):
    sides = {"numbers": Numbers(np.zeros((4, 1))), "labels": classes([0, 1, 0, 1], 2)}
    with pytest.raises(ValueError, match="the lookup attacker needs labels on both sides"):
        Lookup().score(*(sides[name] for name in pair), *split(4), "accuracy", 0)


def test_a_lookup_of_variables_answers_each_combination_by_its_commonest_class():
    """Two variables with three and two classes are predicted from two labels, in combinations of which one was never seen."""
    read = classes([[0, 0], [0, 0], [0, 0], [0, 1], [0, 1], [1, 1]], 2, yes_no=True)
    target = Labels(np.array([[2, 0], [2, 1], [1, 1], [0, 0], [1, 1], [2, 1]], np.uint8), (3, 2), (False, False))
    learn, test = np.array([0, 1, 2, 3]), np.array([0, 2, 4, 5])
    # (0, 0) is answered 2 and 1, (0, 1) 0 and 0, and (1, 1), never seen, by the commoner class 2; of the second both are as common.
    expected = np.mean([[1, 0, 0, 1], [0, 1, 0, 0]])
    assert Lookup().score(read, target, learn, test, "accuracy", 0) == pytest.approx(expected)
    assert Lookup().score(read, target, learn, test, lambda y, said: (y == said).mean(), 0) == pytest.approx(expected)


def test_a_label_that_no_learnt_record_has_is_said_to_be_absent():
    """Of several labels; of one alone there is nothing to learn."""
    read = Numbers(np.arange(8.0)[:, None])
    rare = np.array([[0, 0], [1, 0], [0, 0], [1, 0], [1, 0], [0, 1], [1, 0], [0, 0]])
    learn, test = np.array([0, 1, 2, 3]), np.array([4, 5, 6, 7])
    tree = Trained(DecisionTreeClassifier(), "tree")
    first = tree.score(read, classes(rare[:, :1], 2, yes_no=True), learn, test, "accuracy", 0)
    assert tree.score(read, classes(rare, 2, yes_no=True), learn, test, "accuracy", 0) == pytest.approx(
        (first + 3 / 4) / 2
    )
    # Without any chance to rank by, its AUC is a half.
    first = tree.score(read, classes(rare[:, :1], 2, yes_no=True), learn, test, "auc", 0)
    assert tree.score(read, classes(rare, 2, yes_no=True), learn, test, "auc", 0) == pytest.approx((first + 0.5) / 2)
    with pytest.raises(ValueError, match="the 4 records learnt from are all of one class; attacker='lookup'"):
        tree.score(read, classes(rare[:, 1:], 2, yes_no=True), learn, test, "accuracy", 0)
    # A label that every learnt record has is said to be there.
    every = 1 - rare[:, ::-1]
    found = tree.score(read, classes(every, 2, yes_no=True), learn, test, "accuracy", 0)
    other = tree.score(read, classes(every[:, 1:], 2, yes_no=True), learn, test, "accuracy", 0)
    assert found == pytest.approx((3 / 4 + other) / 2)


class Saying(ClassifierMixin, BaseEstimator):
    """Says what it is told to, whatever it is shown."""

    def __init__(self, said=None, chances=None):
        self.said, self.chances = said, chances

    def fit(self, features, target):
        self.classes_ = np.unique(target)
        return self

    def predict(self, features):
        return np.asarray(self.said)

    def predict_proba(self, features):
        return np.asarray(self.chances)


class Deciding(ClassifierMixin, BaseEstimator):
    """Ranks records by a number, without chances."""

    def fit(self, features, target):
        return self

    def predict(self, features):
        return np.zeros(len(features), dtype=int)

    def decision_function(self, features):
        return features[:, 0]


def test_answers_are_among_the_classes_that_were_learnt():
    read, target = Numbers(np.zeros((6, 1))), classes([0, 2, 0, 2, 0, 1], 3)
    learn, test = np.arange(4), np.array([4, 5])

    def score(*said):
        return Trained(Saying(list(said)), "saying").score(read, target, learn, test, "accuracy", 0)

    assert (score(0, 2), score(2, 0), score(2, 2)) == (0.5, 0.0, 0.0)
    for said in ((0, 1), (1, 1), (3, 0)):
        with pytest.raises(ValueError, match="its predictions are not among the classes it learnt"):
            score(*said)
    with pytest.raises(ValueError, match=r"have the shape \(3,\); one for each of 2 records"):
        score(0, 0, 0)
    assert Trained(Saying([[0], [2]]), "saying").score(read, target, learn, test, "accuracy", 0) == 0.5
    with pytest.raises(ValueError, match=r"have the shape \(2, 2\)"):
        Trained(Saying([[0, 0], [2, 2]]), "saying").score(read, target, learn, test, "accuracy", 0)


def test_chances_are_those_of_the_classes_that_were_learnt():
    """Classes 0 and 2 of three: the class that was not learnt has a chance of 0 for every record."""
    read, target = Numbers(np.zeros((8, 1))), classes([0, 2, 0, 2, 0, 1, 2, 2], 3)
    learn, test = np.arange(4), np.arange(4, 8)
    chances = np.array([[0.9, 0.1], [0.5, 0.5], [0.6, 0.4], [0.2, 0.8]])
    found = Trained(Saying([0] * 4, chances), "saying").score(read, target, learn, test, "auc", 0)
    # Of class 0 all three pairs are in order, of class 1 all tie, of class 2 three of four are.
    assert found == pytest.approx((1 + 0.5 + 3 / 4) / 3)
    for bad in (np.nan, np.inf):
        with pytest.raises(ValueError, match="its predictions are not finite"):
            Trained(Saying([0] * 4, [*chances[:3], [bad, 0.0]]), "saying").score(read, target, learn, test, "auc", 0)


def test_a_decision_function_ranks_two_classes():
    values = Numbers(np.array([[0.0], [1.0], [2.0], [3.0], [5.0], [4.0], [6.0], [7.0]]))
    learn, test = np.arange(4), np.arange(4, 8)
    deciding = Trained(Deciding(), "deciding")
    two = classes([0, 1, 0, 1, 0, 1, 1, 0], 2)
    # Of the second class: 4 and 6 against 5 and 7.
    assert deciding.score(values, two, learn, test, "auc", 0) == 0.25
    # Classes 0 and 2 of three: of the first the lower ranks above.
    some = classes([0, 2, 0, 2, 0, 2, 2, 0], 3)
    assert deciding.score(values, some, learn, test, "auc", 0) == pytest.approx((0.25 + 0.25) / 2)
    with pytest.raises(ValueError, match="quality 'auc' needs predict_proba, or decision_function of two classes"):
        deciding.score(values, classes([0, 1, 2, 1, 0, 1, 1, 0], 3), learn, test, "auc", 0)
    with pytest.raises(ValueError, match="quality 'auc' needs predict_proba"):
        Trained(DecisionTreeRegressor(), "tree").score(values, two, learn, test, "auc", 0)


@pytest.mark.parametrize(("seed", "own"), [(5, 5), (2**31 - 1, 2**31 - 1), (2**31, 0), (2**32 - 1, 2**31 - 1)])
def test_attackers_are_seeded_within_what_they_take(seed, own):
    fresh = Trained(DecisionTreeClassifier(max_depth=3), "tree")._fresh(seed)
    assert fresh.get_params()["random_state"] == own
    assert fresh.get_params()["max_depth"] == 3
    pair = make_pipeline(StandardScaler(), LogisticRegression(random_state=1))
    params = Trained(pair, "pair")._fresh(seed).get_params()
    assert params["logisticregression__random_state"] == own
    assert pair.get_params()["logisticregression__random_state"] == 1
    plain = make_pipeline(StandardScaler())
    assert Trained(plain, "plain")._fresh(seed).get_params().keys() == plain.get_params().keys()


def test_every_variable_has_a_seed_of_its_own():
    seeds = []

    class Seeded(Saying):
        def __init__(self, random_state=None):
            super().__init__([0, 0])
            self.random_state = random_state

        def fit(self, features, target):
            seeds.append(self.random_state)
            return self

    target = classes([[0, 1], [1, 0], [0, 1], [1, 0]], 2)
    for seed in (0, 0, 1):
        Trained(Seeded(), "seeded").score(
            Numbers(np.zeros((4, 1))), target, np.arange(2), np.arange(2, 4), "accuracy", seed
        )
    assert seeds[:2] == seeds[2:4]
    assert len(set(seeds)) == 4


def test_numbers_are_predicted_column_by_column():
    read = Numbers(np.arange(8.0)[:, None])
    target = Numbers(np.column_stack([np.arange(8.0), [0, 0, 0, 0, 1, 1, 1, 1]]))
    tree = Trained(DecisionTreeRegressor(), "tree")
    # The nearest learnt record: off by 1 in the first column, and right in the second, where that has no bound.
    found = tree.score(read, target, np.arange(0, 8, 2), np.array([1, 5]), "inverse_rmse", 0)
    assert found == float("inf")

    def errors(target, answer):
        return float(np.abs(target - answer).sum())

    assert tree.score(read, target, np.arange(0, 8, 2), np.array([1, 3, 5]), errors, 0) == pytest.approx((3 + 0) / 2)


def labels_seen(counts):
    """Two labels that are read, in four combinations that occur so often."""
    pairs = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    read = np.repeat(pairs, counts, axis=0)
    return read, np.arange(len(read)) % 2


@pytest.mark.parametrize(
    ("counts", "attacker", "share"),
    [
        ((91, 5, 5, 4), "lookup", "3.8%"),  # 4 of 105
        ((92, 5, 5, 5), "lookup", "0.0%"),
        ((76, 0, 0, 4), "lookup", "5.0%"),  # 4 of 80
        ((75, 0, 0, 4), "naive_bayes", "5.1%"),  # 4 of 79
        ((60, 5, 4, 4), "naive_bayes", "11.0%"),  # 8 of 73
    ],
)
def test_a_lookup_does_where_few_records_have_a_rare_combination(counts, attacker, share):
    """Rare is one seen fewer than five times, and few are no more than a twentieth."""
    read, target = labels_seen(counts)
    problem = problem_from_labels(*sides_of(read, target, target))
    found, reason = choose("auto", problem, "dpa", None, np.random.default_rng(0))
    assert found.name == attacker
    occur = sum(count > 0 for count in counts)
    assert f"the 2 labels that are read occur in {occur} combinations, and" in reason
    assert f"{share} of the" in reason
    if attacker == "naive_bayes":
        assert f"{share} of the {sum(counts)} records have one seen fewer than 5 times" in reason
    # Read by an attacker of leakage as truth and as prediction, the rarer of the two counts.
    often = np.array([[0, 0], [1, 1]])[target]
    for truth, said in ((read, often), (often, read)):
        turned = problem_from_labels(*sides_of(target, truth, said))
        chosen, words = choose("auto", turned, "leakage", None, np.random.default_rng(0))
        assert chosen.name == attacker
        assert share in words


def test_of_a_large_table_some_records_are_looked_at(monkeypatch):
    read, target = labels_seen((300, 20, 20, 20))
    problem = problem_from_labels(*sides_of(target, read, read))
    assert choose("auto", problem, "leakage", None, np.random.default_rng(0))[0].name == "lookup"
    monkeypatch.setattr("biasamp.predictability.attackers._LOOK_AT", 30)
    assert choose("auto", problem, "leakage", None, np.random.default_rng(0))[0].name == "naive_bayes"
    # What is read for DPA is not perturbed, so that all of it is looked at.
    assert (
        choose("auto", problem_from_labels(*sides_of(read, target, target)), "dpa", None, np.random.default_rng(0))[
            0
        ].name
        == "lookup"
    )


def test_one_variable_is_looked_up_whatever_the_other_side_is(rng):
    groups, many = rng.integers(0, 2, 300), rng.integers(0, 2, (300, 20))
    assert measured(many, groups, groups, "leakage").attacker == "lookup"
    assert measured(groups, many, many, "dpa").attacker == "lookup"
    found = choose("auto", problem_from_labels(*sides_of(groups, many[:, 0], many[:, 1])), "leakage", "accuracy", rng)
    assert (found[0].name, found[1][:31]) == ("lookup", "the attackers read one variable")


def sides_of(other, truth, predicted):
    sides = [label_set(read_columns(x, "x"), "x") for x in (other, truth, predicted)]
    return sides[0], *align(sides[1:], ["truth", "predicted"])


def test_attackers_by_name(rng):
    labels = problem_from_labels(*sides_of(*rng.integers(0, 2, (3, 40))))
    numbers = problem_from_labels(*(rng.normal(size=(40, 1)) for _ in range(3)))
    mixed = problem_from_labels(
        sides_of(*rng.integers(0, 2, (3, 40)))[0], *(rng.normal(size=(40, 1)) for _ in range(2))
    )

    def named(name, problem, kind="dpa"):
        return choose(name, problem, kind, None, np.random.default_rng(0))

    assert named("lookup", labels) == (Lookup(), "the caller chose it")
    assert named("naive_bayes", labels) == (NaiveBayes(), "the caller chose it")
    logistic, reason = named("logistic", labels)
    assert (logistic.name, type(logistic.estimator).__name__, reason) == (
        "logistic",
        "LogisticRegression",
        "the caller chose it",
    )
    # Leakage predicts the labels from the numbers, DPA the numbers from the labels.
    assert named("logistic", mixed, "leakage")[0].name == "logistic"
    for problem in (mixed, numbers):
        with pytest.raises(
            ValueError, match="attacker 'logistic' predicts labels, but what it is to predict is continuous"
        ):
            named("logistic", problem)
    for name in ("lookup", "naive_bayes"):
        for problem in (mixed, numbers):
            with pytest.raises(ValueError, match=f"attacker '{name}' needs labels, but the data are continuous"):
                named(name, problem)
    with pytest.raises(
        ValueError, match="attacker 'tree' is not known; take one of auto, lookup, naive_bayes, logistic, mlp"
    ):
        named("tree", labels)
    tree = DecisionTreeClassifier()
    assert named(tree, labels) == (Trained(tree, "DecisionTreeClassifier"), "the caller chose it")
    assert named(tree, mixed, "leakage")[0].name == "DecisionTreeClassifier"
    assert named(DecisionTreeRegressor(), numbers)[0].name == "DecisionTreeRegressor"
    with pytest.raises(TypeError, match="is a regressor"):
        named(DecisionTreeRegressor(), labels)
    with pytest.raises(TypeError, match="is a classifier"):
        named(tree, numbers)


@pytest.mark.parametrize("missing", ["fit", "predict", "get_params"])
def test_an_estimator_has_all_that_is_asked_of_it(missing, rng):
    problem = problem_from_labels(*sides_of(*rng.integers(0, 2, (3, 40))))
    methods = {name: lambda self, *args: self for name in ("fit", "predict", "get_params") if name != missing}
    with pytest.raises(TypeError, match="attacker is a Partial; a name"):
        choose(type("Partial", (), methods)(), problem, "dpa", None, rng)
    with pytest.raises(TypeError, match=r"attacker is the class Partial; give an instance, as Partial\(\)"):
        choose(type("Partial", (), methods), problem, "dpa", None, rng)


def test_curves_are_drawn_through_columns_of_more_than_ten_values(rng):
    """Others go into the sum as they are."""
    values = np.column_stack([rng.permutation(40), np.arange(40) % 10, np.arange(40) % 11, np.arange(40) % 2]).astype(
        float
    )
    numbers = problem_from_labels(values, values[:, :1] / 2, values[:, :1] / 3)
    found, reason = choose("auto", numbers, "dpa", None, rng)
    assert found.name == "spline"
    assert "splines" in reason
    split, last = (step for _, step in found.estimator.fit(values, values[:, 0]).steps)
    assert [list(columns) for _, _, columns in split.transformers_] == [[0, 2], [1, 3]]
    # Eight knots make ten cubic splines of each of the two columns.
    assert split.transform(values).shape == (40, 2 * 10 + 2)
    assert type(last).__name__ == "Ridge"
    assert last.alpha == 1e-3
    labels = problem_from_labels(sides_of(*rng.integers(0, 2, (3, 40)))[0], values[:, :1] / 2, values[:, :1] / 3)
    found, _ = choose("auto", labels, "leakage", None, rng)
    assert type(found.estimator.steps[-1][1]).__name__ == "LogisticRegression"
