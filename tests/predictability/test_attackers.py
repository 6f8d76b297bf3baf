import numpy as np
import pytest

from biasamp.data import align, label_set, read_columns
from biasamp.predictability import measure, problem_from_labels


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
