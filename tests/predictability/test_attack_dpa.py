"""DPA: the paper's figures, the null, and what must not matter."""

import json

import numpy as np
import pytest

from biasamp.counts.contingency import ContingencyTable
from biasamp.data import Evaluation, align, binary, categorical, label_set, read_columns
from biasamp.predictability import AttackerError
from biasamp.predictability.attack import dpa, from_evaluation, from_table


def columns(table):
    """Two columns from counts by (row, column)."""
    table = np.array(table)
    cells = np.repeat(np.arange(table.size), table.ravel())
    return cells // table.shape[1], cells % table.shape[1]


# Table 2 of the DPA paper: (given, truth) and (given, predicted).
TABLE_2 = {
    "unbalanced T->A": ([[1229, 1402], [874, 1773]], [[1056, 1575], [1115, 1532]]),
    "unbalanced A->T": ([[1229, 874], [1402, 1773]], [[1165, 938], [1546, 1629]]),
    "balanced T->A": ([[874, 874], [874, 874]], [[1083, 665], [896, 852]]),
    "balanced A->T": ([[874, 874], [874, 874]], [[1145, 603], [948, 800]]),
}


@pytest.mark.parametrize(
    ("case", "published"),
    list(zip(TABLE_2, (-0.011, -0.036, 0.062, 0.090), strict=True)),
)
def test_table_2_without_equalization_in_sample(case, published):
    truth, predicted = TABLE_2[case]
    given, true = columns(truth)
    again, said = columns(predicted)
    assert (given == again).all()
    result = dpa(given, true, said, equalize=None, evaluation="in_sample")
    assert round(result.value, 3) == published
    # By hand: the largest count of each row.
    psi = [np.array(t).max(axis=1).sum() / np.array(t).sum() for t in (truth, predicted)]
    assert (result.dataset, result.model) == pytest.approx(tuple(psi))


def test_three_of_the_four_cells_are_base_rates_alone():
    gains = []
    for truth, predicted in TABLE_2.values():
        (given, true), (_, said) = columns(truth), columns(predicted)
        gains.append(dpa(given, true, said, equalize=None, evaluation="in_sample").model_gain)
    assert [gain > 1e-9 for gain in gains] == [False, True, False, False]


def test_gain_is_the_same_figure_of_the_gains():
    (given, true), (_, said) = (columns(t) for t in TABLE_2["unbalanced A->T"])
    result = dpa(given, true, said, equalize=None, evaluation="in_sample")
    # By hand: 1229 + 1773 - 2647 and 1165 + 1629 - 2711 right answers more than without input.
    assert result.dataset_gain == pytest.approx(355 / 5278)
    assert result.model_gain == pytest.approx(83 / 5278)
    assert result.gain == pytest.approx((83 - 355) / (83 + 355))


def test_hiring_is_unbiased_only_as_zero_gain():
    gender, hired = columns([[25, 75], [25, 25]])
    result = dpa(gender, hired, hired.copy(), evaluation="in_sample")
    assert result.dataset == pytest.approx(2 / 3)
    assert result.dataset_gain == pytest.approx(0, abs=1e-12)
    assert result.model_gain == pytest.approx(0, abs=1e-12)
    # The ratio of two gains of 0 is undefined, not 0.
    assert np.isnan(result.gain)
    assert result.to_dict()["gain"] is None
    assert any("without input" in caution for caution in result.cautions)


def planted(n, seed, toward=0.35, against=0.1):
    """Errors that follow the group's majority (amplification), or with rates swapped, go against it."""
    rng = np.random.default_rng(seed)
    given = rng.integers(0, 2, n)
    truth = (rng.random(n) < np.where(given == 1, 0.65, 0.35)).astype(int)
    wrong = rng.random(n) < np.where(given == truth, against, toward)
    return given, truth, np.where(wrong, 1 - truth, truth)


@pytest.mark.parametrize("equalize", ["accuracy", "confusion", None])
@pytest.mark.parametrize("evaluation", ["held_out", "in_sample"])
def test_flipping_planted_amplification_flips_the_sign(equalize, evaluation):
    options = {"equalize": equalize, "evaluation": evaluation}
    more = dpa(*planted(20_000, 0), **options)
    less = dpa(*planted(20_000, 0, toward=0.1, against=0.35), **options)
    assert more.confidence_interval().low > 0
    assert less.confidence_interval().high < 0


def test_with_two_classes_the_value_stays_within_a_third():
    given = np.repeat([0, 1], 200)
    truth = np.tile([0, 1], 200)
    assert dpa(given, truth, given.copy(), equalize=None, evaluation="in_sample").value == pytest.approx(1 / 3)


def null(n, seed, classes=2, error=0.2):
    rng = np.random.default_rng([seed, 12])
    given = rng.integers(0, 2, n)
    follow = rng.random(n) < 0.4
    truth = np.where(follow, given, rng.integers(0, classes, n))
    wrong = rng.random(n) < error
    return given, truth, np.where(wrong, (truth + rng.integers(1, classes, n)) % classes, truth)


def covered(results, resamples=200):
    values = np.array([result.value for result in results])
    inside = [ci.low <= 0 <= ci.high for ci in (result.confidence_interval(resamples=resamples) for result in results)]
    return values.mean(), values.std() / np.sqrt(len(values)), np.mean(inside)


@pytest.mark.parametrize("evaluation", ["held_out", "in_sample"])
@pytest.mark.slow
def test_symmetric_errors_give_zero_within_the_interval(evaluation):
    mean, error, inside = covered([dpa(*null(400, s), evaluation=evaluation, seed=s) for s in range(200)])
    assert abs(mean) < 4 * error
    assert inside >= 0.92


@pytest.mark.slow
@pytest.mark.parametrize("attacker", ["naive_bayes", "logistic"])
def test_symmetric_errors_give_zero_with_every_attacker(attacker):
    results = [dpa(*null(200, s), attacker=attacker, trials=3, seed=s) for s in range(8)]
    values = np.array([result.value for result in results])
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(len(values))
    intervals = [result.confidence_interval(resamples=8) for result in results[:4]]
    assert sum(ci.low <= 0 <= ci.high for ci in intervals) >= 3


def asymmetric(n, seed):
    """TPR 0.5, FPR 0.05, P(T) = 0.3, errors that know nothing of the group: the case of METRICS."""
    rng = np.random.default_rng(seed)
    given = rng.integers(0, 2, n)
    truth = (rng.random(n) < np.where(given == 1, 0.4, 0.2)).astype(int)
    return given, truth, (rng.random(n) < np.where(truth == 1, 0.5, 0.05)).astype(int)


def test_asymmetric_errors_need_the_confusion_table():
    results = [dpa(*asymmetric(2000, s), equalize="confusion", seed=s) for s in range(60)]
    mean, error, inside = covered(results)
    assert abs(mean) < 4 * error
    assert inside >= 0.9
    wrongly = dpa(*asymmetric(2000, 0))
    assert wrongly.value == pytest.approx(0.13, abs=0.02)
    assert wrongly.confidence_interval().low > 0
    assert wrongly.confusion_equalized == pytest.approx(results[0].value, abs=0.01)
    assert any("not symmetric" in caution for caution in wrongly.cautions)


@pytest.mark.slow
def test_a_set_of_labels_under_the_null():
    results = []
    for seed in range(10):
        rng = np.random.default_rng([seed, 5])
        given = rng.integers(0, 2, 500)
        truth = (rng.random((500, 200)) < 0.05 + 0.3 * rng.random(200) + 0.1 * given[:, None]).astype(int)
        predicted = np.where(rng.random((500, 200)) < 0.1, 1 - truth, truth)
        results.append(dpa(given, truth, predicted, trials=20))
    mean, error, inside = covered(results, 60)
    assert abs(mean) < 4.5 * error
    assert inside >= 0.8
    assert results[0].attacker == "lookup"


@pytest.mark.slow
def test_interval_covers_a_planted_value():
    """True value: the same procedure on half a million records, where it hardly varies."""
    true = dpa(*planted(500_000, 1)).value
    inside = 0
    for seed in range(100):
        ci = dpa(*planted(600, seed + 10)).confidence_interval()
        inside += ci.low <= true <= ci.high
    assert inside >= 90


def same(a, b):
    assert a.value == b.value
    assert a.trials["dataset"].tolist() == b.trials["dataset"].tolist()
    assert a.trials["model"].tolist() == b.trials["model"].tolist()
    assert a.confidence_interval(resamples=20) == b.confidence_interval(resamples=20)


@pytest.mark.parametrize("attacker", ["lookup", "naive_bayes"])
def test_names_and_order_change_nothing(attacker):
    given, truth, predicted = null(300, 3, classes=4)
    order = np.random.default_rng(0).permutation(300)
    names = np.array(["pear", "apple", "fig", "date"])
    groups = np.array(["zebra", "ant"])
    options = {"attacker": attacker, "trials": 10}
    same(
        dpa(given, truth, predicted, **options),
        dpa(groups[given][order], names[truth][order], names[predicted][order], **options),
    )


def test_order_of_labels_changes_nothing():
    rng = np.random.default_rng(0)
    given, truth = rng.integers(0, 2, (150, 3)), rng.integers(0, 2, (150, 6))
    predicted = np.where(rng.random((150, 6)) < 0.2, 1 - truth, truth)
    order, columns, groups = rng.permutation(150), rng.permutation(6), rng.permutation(3)
    same(
        dpa(given, truth, predicted, trials=10),
        dpa(given[order][:, groups], truth[order][:, columns], predicted[order][:, columns], trials=10),
    )


def test_the_seed_decides_and_seeds_differ():
    data = null(300, 1)
    assert dpa(*data, seed=4).value == dpa(*data, seed=4).value
    assert dpa(*data, seed=4).value != dpa(*data, seed=5).value
    a, b = (dpa(*data, seed=np.random.default_rng(1)).value for _ in range(2))
    assert a == b


def table_of(given, truth, predicted):
    sides = [label_set(read_columns(x, "x"), "x") for x in (given, truth, predicted)]
    true, said = align(sides[1:], ["truth", "predicted"])
    return ContingencyTable.from_labels({"given": sides[0], "truth": true, "predicted": said})


def test_merged_tables_are_the_whole():
    given, truth, predicted = null(1000, 2, classes=3)
    parts = [table_of(given[s], truth[s], predicted[s]) for s in (slice(0, 400), slice(400, 1000))]
    same(from_table(parts[0] + parts[1], "dpa"), dpa(given, truth, predicted))


def test_an_evaluation_with_whole_weights_counts_records_so_many_times():
    given, truth, predicted = null(200, 2)
    times = np.random.default_rng(0).integers(0, 4, 200)
    sides = [label_set(read_columns(x, "x"), "x") for x in (given, truth, predicted)]
    weighed = from_evaluation(Evaluation(*sides, times), "dpa", direction="A->T")
    same(weighed, dpa(*(np.repeat(x, times) for x in (given, truth, predicted))))
    assert weighed.direction == weighed.to_dict()["direction"] == "A->T"
    same(from_evaluation(Evaluation(*sides), "dpa"), dpa(given, truth, predicted))
    with pytest.raises(ValueError, match="not whole numbers"):
        from_evaluation(Evaluation(*sides, times + 0.5), "dpa")


def test_billions_of_records():
    small = table_of(*null(1000, 2))
    large = ContingencyTable(small.sides, small.cells, small.counts * 10_000_000)
    result = from_table(large, "dpa", evaluation="in_sample", equalize=None)
    expected = from_table(small, "dpa", evaluation="in_sample", equalize=None)
    assert result.n == 10_000_000_000
    assert result.value == pytest.approx(expected.value)
    held_out = from_table(large, "dpa")
    in_sample = from_table(large, "dpa", evaluation="in_sample")
    assert held_out.value == pytest.approx(in_sample.value, abs=1e-4)


def test_attackers_that_need_records_get_some_of_a_large_table():
    small = table_of(*planted(2000, 2))
    large = ContingencyTable(small.sides, small.cells, small.counts * 1_000_000)
    result = from_table(large, "dpa", attacker="naive_bayes", trials=2)
    assert "500,000 of the 2,000,000,000 records" in result.reason
    assert result.value == pytest.approx(from_table(large, "dpa").value, abs=0.01)


def test_probabilities_count_as_fractions():
    """Labels drawn from P(1) have the counts that P(1) adds up to."""
    given, truth, _ = null(4000, 0)
    chance = np.where(given == 1, 0.9, 0.2)
    result = dpa(given, truth, chance, equalize=None, evaluation="in_sample")
    expected = (0.9 * given.sum() + 0.8 * (1 - given).sum()) / 4000
    assert result.model == pytest.approx(expected, abs=0.002)
    assert "drawn as labels" in result.reason
    matrix = categorical(np.column_stack([1 - chance, chance]), categories=[0, 1])
    assert dpa(given, truth, matrix, equalize=None, evaluation="in_sample").model == pytest.approx(expected, abs=0.002)


def test_a_label_or_a_variable():
    given, truth, predicted = null(500, 4)
    as_label = dpa(given, binary(truth), binary(predicted), quality="f1")
    as_variable = dpa(given, truth, predicted, quality="f1")
    assert as_label.value != as_variable.value
    assert dpa(given, binary(truth), binary(predicted)).value == pytest.approx(
        dpa(given, truth, predicted).value, abs=0.02
    )


@pytest.mark.slow
def test_continuous_amplification_is_seen_and_its_absence_too():
    """Appendix B: A normal, T and its prediction polynomials of A with more and with less noise."""
    rng = np.random.default_rng(0)
    given = rng.normal(3, 2, 800)
    truth = (given + 2 * rng.normal(size=800)) ** 2
    predicted = (given + rng.normal(size=800)) ** 2
    result = dpa(given, truth, predicted, equalize=None, quality="inverse_rmse", trials=8)
    assert result.confidence_interval(resamples=8).low > 0
    # Of the best attacker, by simulation of the conditional spread of each polynomial.
    fine = rng.normal(3, 2, 4_000_000)
    psi = []
    for noise in (2, 1):
        spread = np.sqrt(4 * fine**2 * noise**2 + 2 * noise**4)
        psi.append(1 / np.sqrt(np.mean(spread**2)))
    assert result.value == pytest.approx((psi[1] - psi[0]) / (psi[1] + psi[0]), abs=0.05)
    noisy = [
        dpa(g, t, t + rng.normal(size=300), trials=5)
        for g in [rng.normal(size=300) for _ in range(8)]
        for t in [2 * g + rng.normal(size=300)]
    ]
    values = np.array([r.value for r in noisy])
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(8)
    assert noisy[0].quality == "inverse_rmse"
    assert noisy[0].attacker == "spline"


def test_json_holds_the_whole_result():
    result = dpa(*null(200, 0), trials=5)
    out = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert out["metric"] == "dpa"
    assert out["direction"] is None
    assert out["interval"] == list(result.confidence_interval())
    assert (out["n"], out["trials"], out["attacker"]) == (200, 5, "lookup")
    assert out["value"] == pytest.approx((out["model"] - out["dataset"]) / (out["model"] + out["dataset"]), abs=1e-12)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([0, 1] * 5, [1] * 10, [0, 1] * 5), "truth is the same for all 10 records"),
        (([1] * 10, [0, 1] * 5, [0, 1] * 5), "given is the same for all 10 records"),
        (([0, 1, 0], [0, 1, 1], [0, 1, 1]), "3 records are too few"),
        (([0, 1] * 5, [0, 1] * 5, [0, 1] * 4), "predicted has 8"),
        (([0, 1] * 5, [0, None] * 5, [0, 1] * 5), "truth has 5 records with missing"),
        (([], [], []), "given is empty"),
    ],
)
def test_bad_input_says_what_is_wrong(arguments, message):
    with pytest.raises(ValueError, match=message):
        dpa(*arguments)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"attacker": "nearest"}, "naive_bayes"),
        ({"quality": "recall"}, "balanced_accuracy"),
        ({"equalize": "f1"}, "'confusion' or None"),
        ({"evaluation": "cross"}, "one of 'held_out', 'in_sample'"),
        ({"trials": 0}, "whole number of 1 to"),
        ({"seed": -1}, "at least 0"),
    ],
)
def test_bad_options_say_what_there_is(options, message):
    with pytest.raises(ValueError, match=message):
        dpa(*null(50, 0), **options)


def test_attackers_that_are_none():
    from sklearn.linear_model import LinearRegression
    from sklearn.tree import DecisionTreeClassifier

    with pytest.raises(TypeError, match=r"DecisionTreeClassifier\(\)"):
        dpa(*null(50, 0), attacker=DecisionTreeClassifier)
    with pytest.raises(TypeError, match="scikit-learn estimator is needed"):
        dpa(*null(50, 0), attacker=len)
    with pytest.raises(TypeError, match="give a classifier"):
        dpa(*null(50, 0), attacker=LinearRegression())
    with pytest.raises(TypeError, match="give a regressor"):
        dpa(null(50, 0)[0], *np.random.default_rng(0).random((2, 50)), attacker=DecisionTreeClassifier())
    with pytest.raises(ValueError, match="continuous"):
        dpa(np.linspace(0.1, 0.9, 50), *null(50, 0)[1:], attacker="lookup")


def test_a_callable_quality_is_used_as_given():
    from sklearn.metrics import accuracy_score

    data = null(200, 6)
    by_name = dpa(*data, attacker="naive_bayes", trials=5)
    by_call = dpa(*data, attacker="naive_bayes", quality=accuracy_score, trials=5)
    assert by_call.value == pytest.approx(by_name.value)
    assert by_call.quality == "accuracy_score"
    with pytest.raises(AttackerError, match="trial 0"):
        # Passes the check on two classes, and is negative on what comes.
        dpa(*data, quality=lambda y, said: (y == said).mean() - (0.9 if 0 < (y == said).mean() < 1 else 0))
