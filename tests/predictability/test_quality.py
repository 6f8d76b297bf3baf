import numpy as np
import pytest
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    cohen_kappa_score,
    f1_score,
    log_loss,
    roc_auc_score,
)

from biasamp.predictability.quality import check_quality, label_score, number_score, rank_auc


@pytest.fixture
def predictions():
    rng = np.random.default_rng(0)
    return rng.integers(0, 3, 200), rng.integers(0, 3, 200)


def test_qualities_are_those_of_scikit_learn(predictions):
    y, said = predictions
    assert label_score("accuracy", y, said, None, label=False) == pytest.approx(accuracy_score(y, said))
    assert label_score("balanced_accuracy", y, said, None, label=False) == pytest.approx(
        balanced_accuracy_score(y, said)
    )
    assert label_score("f1", y, said, None, label=False) == pytest.approx(f1_score(y, said, average="macro"))
    yes, told = y == 0, said == 0
    assert label_score("f1", yes, told, None, label=True) == pytest.approx(f1_score(yes, told))


def test_small_codes_do_not_overflow():
    y = np.arange(200, dtype=np.uint8)
    assert label_score("accuracy", y, y[::-1].copy(), None, label=False) == 0.0


def test_inverse_rmse():
    assert number_score("inverse_rmse", np.array([0.0, 0.0]), np.array([3.0, 4.0])) == pytest.approx(1 / np.sqrt(12.5))


@pytest.mark.parametrize("good", [accuracy_score, balanced_accuracy_score, f1_score])
def test_callables_with_zero_as_the_worst_pass(good):
    assert check_quality(good, continuous=False) is good


def cross_entropy(y, said):
    return log_loss(y, said)


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (cross_entropy, "less is better"),
        (cohen_kappa_score, "0 must be the worst"),
        (lambda y, said: 1 + accuracy_score(y, said), "0 must be the worst"),
        (lambda y, said: float("nan"), "0 must be the worst"),
        (lambda y, said: 0.5, "less is better"),
    ],
)
def test_callables_that_break_the_rule_are_refused(bad, word):
    with pytest.raises(ValueError, match=word):
        check_quality(bad, continuous=False)


def test_a_callable_that_fails_is_named():
    def broken(y, said):
        raise KeyError("no")

    with pytest.raises(ValueError, match=r"quality broken failed on perfect predictions: KeyError"):
        check_quality(broken, continuous=False)


def test_losses_of_numbers_are_refused_and_inverses_pass():
    with pytest.raises(ValueError, match="less is better"):
        check_quality(lambda y, said: np.mean((y - said) ** 2), continuous=True)
    check_quality(lambda y, said: 1 / np.mean(np.abs(y - said)), continuous=True)


def test_names_that_do_not_fit_say_what_does():
    with pytest.raises(ValueError, match="balanced_accuracy"):
        check_quality("acuracy", continuous=False)
    with pytest.raises(ValueError, match="inverse_rmse"):
        check_quality("f1", continuous=True)
    with pytest.raises(ValueError, match="compares numbers"):
        check_quality("inverse_rmse", continuous=False)
    with pytest.raises(TypeError, match="found int"):
        check_quality(3, continuous=False)


@pytest.mark.parametrize("inputs", [5, 400])
def test_rank_auc_is_that_of_the_records(inputs):
    """For few inputs by pairs, for many by ranks; ties count half."""
    rng = np.random.default_rng(inputs)
    score = rng.integers(0, 6, (2, inputs)) / 5
    positive, negative = rng.integers(0, 4, (2, 2, inputs))
    found = rank_auc(score, positive, negative)
    for row in range(2):
        records = np.repeat(score[row], positive[row]), np.repeat(score[row], negative[row])
        truth = [1] * len(records[0]) + [0] * len(records[1])
        assert found[row] == pytest.approx(roc_auc_score(truth, np.concatenate(records)), abs=1e-12)
