"""Leakage amplification: A is predicted from T, not T from A."""

import numpy as np
import pytest

from biasamp.predictability.attack import dpa, leakage


def columns(table):
    table = np.array(table)
    cells = np.repeat(np.arange(table.size), table.ravel())
    return cells // table.shape[1], cells % table.shape[1]


def test_the_attacker_predicts_a_from_t():
    A, T = columns([[30, 10, 5], [5, 10, 40]])
    _, T_pred = columns([[40, 5, 0], [0, 10, 45]])
    result = leakage(A, T, T_pred, equalize=None, evaluation="in_sample")
    # By hand: for each task the larger group; with T from A it would be 70 and 85 of 100.
    assert result.dataset == pytest.approx((30 + 10 + 40) / 100)
    assert result.model == pytest.approx((40 + 10 + 45) / 100)
    assert result.value == pytest.approx(0.15)
    assert dpa(A, T, T_pred, equalize=None, evaluation="in_sample").model == pytest.approx(0.85)


def null(n, seed, balanced=False):
    rng = np.random.default_rng([seed, 3])
    A = rng.integers(0, 2, n)
    T = (rng.random(n) < (0.5 if balanced else np.where(A == 1, 0.7, 0.35))).astype(int)
    return A, T, np.where(rng.random(n) < 0.2, 1 - T, T)


@pytest.mark.slow
@pytest.mark.parametrize("balanced", [False, True])
def test_symmetric_errors_give_zero_within_the_interval(balanced):
    results = [leakage(*null(300, s, balanced), seed=s) for s in range(200)]
    values = np.array([r.value for r in results])
    inside = [ci.low <= 0 <= ci.high for ci in (r.confidence_interval(resamples=200) for r in results)]
    assert abs(values.mean()) < 4 * values.std() / np.sqrt(200)
    assert np.mean(inside) >= 0.92


def many_labels(seed):
    rng = np.random.default_rng([seed, 9])
    A = rng.integers(0, 2, 500)
    tied = 0.15 * (rng.random(200) < 0.3)
    T = (rng.random((500, 200)) < 0.05 + 0.35 * rng.random(200) + tied * A[:, None]).astype(int)
    return A, T, np.where(rng.random((500, 200)) < 0.1, 1 - T, T)


@pytest.mark.slow
def test_two_hundred_labels_under_the_null():
    results = [leakage(*many_labels(s), trials=6) for s in range(8)]
    values = np.array([r.value for r in results])
    assert abs(values.mean()) < 4.5 * values.std() / np.sqrt(len(values))
    inside = [ci.low <= 0 <= ci.high for ci in (r.confidence_interval(resamples=20) for r in results)]
    assert np.mean(inside) >= 0.75
    assert results[0].attacker == "naive_bayes"
    assert "200 labels" in results[0].reason
    # And it is no attacker that knows nothing: the labels do tell the group.
    assert results[0].dataset_gain > 0.05


def test_planted_amplification_and_its_opposite():
    rng = np.random.default_rng(0)
    A = rng.integers(0, 2, 20_000)
    T = (rng.random(20_000) < np.where(A == 1, 0.65, 0.35)).astype(int)
    for toward, against, sign in ((0.35, 0.1, 1), (0.1, 0.35, -1)):
        wrong = rng.random(20_000) < np.where(A == T, against, toward)
        ci = leakage(A, T, np.where(wrong, 1 - T, T)).confidence_interval()
        assert min(sign * ci.low, sign * ci.high) > 0


def test_in_sample_many_labels_are_learnt_by_heart():
    A, T, T_pred = many_labels(0)
    by_heart = leakage(A, T, T_pred, attacker="lookup", evaluation="in_sample", trials=2)
    assert by_heart.model == 1.0
    assert leakage(A, T, T_pred, attacker="lookup", trials=4).model < 0.65


def test_gains_share_one_base():
    A, T, T_pred = null(500, 1)
    result = leakage(A, T, T_pred)
    assert result.gain == pytest.approx(result.value)
    assert result.model_gain - result.dataset_gain == pytest.approx(result.value)


def test_several_protected_attributes_are_averaged():
    rng = np.random.default_rng(2)
    T = rng.integers(0, 3, 400)
    groups = {
        "gender": np.where(T == 0, 1, rng.integers(0, 2, 400)),
        "age": rng.choice(["old", "young"], 400),
    }
    options = {"equalize": None, "evaluation": "in_sample"}
    whole = leakage(groups, T, T.copy(), **options).dataset
    parts = [leakage(groups[name], T, T.copy(), **options).dataset for name in groups]
    assert whole == pytest.approx(np.mean(parts))


@pytest.mark.slow
def test_continuous_tasks():
    rng = np.random.default_rng(1)
    A = rng.integers(0, 2, 600)
    T = A + rng.normal(size=600)
    worse = leakage(A, T, T + A, trials=10)
    assert worse.value > 0.1
    assert worse.quality == "accuracy"
    with pytest.raises(ValueError, match="T is continuous, so T_pred must be numbers"):
        leakage(A, T, np.array(["a", "b"] * 300))


def test_errors_name_the_arguments_of_leakage():
    with pytest.raises(ValueError, match="A is the same for all 10 records"):
        leakage([1] * 10, [0, 1] * 5, [0, 1] * 5)
    with pytest.raises(ValueError, match="T_pred has 8"):
        leakage([0, 1] * 5, [0, 1] * 5, [0, 1] * 4)
