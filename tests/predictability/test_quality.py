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

from biasamp.predictability.quality import check_quality, from_confusion, label_score, number_score, rank_auc


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


# Counts of (class, answer) of two models, four classes each: the fourth is neither there nor answered, the third of the
# second model is answered alone.
CONFUSIONS = np.array(
    [
        [
            [[6, 2, 0, 0], [1, 3, 0, 0], [0, 1, 4, 0], [0, 0, 0, 0]],
            [[1, 0, 1, 0], [0, 5, 2, 0], [0, 0, 0, 0], [0, 0, 0, 0]],
        ],
        [
            [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]],
            [[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 2, 0]],
        ],
    ]
)


@pytest.mark.parametrize(
    ("quality", "expected"),
    [
        ("accuracy", [[13 / 17, 6 / 9], [1, 0]]),
        # Over the classes that records have: three, two, four and four.
        ("balanced_accuracy", [[(6 / 8 + 3 / 4 + 4 / 5) / 3, (1 / 2 + 5 / 7) / 2], [1, 0]]),
        # Over the classes that records have or are answered: a class that is only answered counts as 0.
        ("f1", [[(12 / 15 + 6 / 10 + 8 / 9) / 3, (2 / 3 + 10 / 12 + 0) / 3], [1, 0]]),
    ],
)
def test_qualities_of_a_stack_of_confusions(quality, expected):
    found = from_confusion(CONFUSIONS, quality)
    assert found.dtype == np.float64
    assert found == pytest.approx(np.array(expected))


def test_f1_of_a_label_is_that_of_its_presence():
    confusion = np.array([[[8, 2], [1, 3]], [[5, 0], [0, 0]], [[0, 0], [0, 2]]])
    # Without a positive record or answer it is 0, and nothing is divided by 0.
    assert from_confusion(confusion, "f1", label=True) == pytest.approx([6 / 9, 0, 1])
    assert from_confusion(confusion, "f1") == pytest.approx([(16 / 19 + 6 / 9) / 2, 1, 1])


@pytest.mark.parametrize("inputs", [3, 64, 65, 70])
def test_rank_auc_by_hand_with_few_and_with_many_inputs(inputs):
    """Positives at 1 and 2, negatives at 0 and 1: three of four pairs in order, and one tie. Inputs without records are nothing."""
    score = np.tile(np.arange(float(inputs)), (2, 1, 1))
    positive, negative = np.zeros((2, 2, 1, inputs), dtype=np.int64)
    positive[0, 0, 1:3] = negative[0, 0, :2] = 1
    positive[1, 0, :3], negative[1, 0, :3] = [3, 1, 0], [1, 0, 2]
    found = rank_auc(score, positive, negative)
    assert found.shape == (2, 1)
    # Of the second 3 * 1 ties, 3 * 2 pairs out of order, 1 * 1 in order, and 1 * 2 out of it: of 12.
    assert found[:, 0] == pytest.approx([(3 + 0.5) / 4, (1.5 + 1) / 12])


@pytest.mark.parametrize("inputs", [4, 80])
def test_rank_auc_of_one_kind_alone_is_undefined(inputs):
    score = np.tile(np.linspace(0, 1, inputs), (3, 1))
    some, none = np.ones((3, inputs), dtype=np.int64), np.zeros((3, inputs), dtype=np.int64)
    assert np.isnan(rank_auc(score, some, none)).all()
    assert np.isnan(rank_auc(score, none, some)).all()
    one = none.copy()
    one[:, 0] = 1
    # One pair: a positive at the lowest score and a negative at the highest.
    assert rank_auc(score, one, one[:, ::-1]).tolist() == [0.0] * 3
    assert rank_auc(score, one[:, ::-1], one).tolist() == [1.0] * 3


def test_auc_of_records_is_that_of_the_second_class_of_two_and_the_mean_of_more():
    target = np.array([0, 0, 1, 1])
    # Columns that do not add up to 1, so that they rank apart: the first would give another figure.
    chances = np.array([[0.9, 0.1], [0.1, 0.6], [0.2, 0.4], [0.3, 0.8]])
    assert label_score("auc", target, target, chances, label=False) == 0.75
    three = np.array([0, 0, 1, 1, 2, 2])
    ranks = np.array([[2, 0, 0], [1, 0, 0], [3, 1, 0], [0, 1, 0], [0, 0, 1], [0, 1, 0]], dtype=float)
    # Of the first class 6 of 8 pairs, of the second 3 of 4 that are negative below and a tie for each, of the third 1 of 2.
    expected = np.mean([roc_auc_score(three == c, ranks[:, c]) for c in range(3)])
    assert expected == pytest.approx((6 / 8 + 7 / 8 + 3 / 4) / 3)
    assert label_score("auc", three, three, ranks, label=False) == pytest.approx(expected)


def test_auc_leaves_out_classes_that_no_record_or_every_record_has():
    target = np.array([0, 0, 1, 1])
    chances = np.array([[0.9, 0.1, 0.0], [0.1, 0.6, 0.3], [0.2, 0.4, 0.4], [0.3, 0.8, 0.1]])
    each = [roc_auc_score(target == c, chances[:, c]) for c in (0, 1)]
    assert label_score("auc", target, target, chances, label=False) == pytest.approx(np.mean(each))
    assert np.isnan(label_score("auc", np.ones(4), np.ones(4), chances[:, :2], label=True))


def test_scores_of_records_know_classes_that_are_only_true_or_only_answered():
    target, answer = np.array([0, 0, 3, 3]), np.array([0, 1, 1, 3])
    assert label_score("accuracy", target, answer, None, label=False) == 0.5
    assert label_score("accuracy", answer, target, None, label=False) == 0.5
    assert label_score("balanced_accuracy", target, answer, None, label=False) == 0.5
    assert label_score("f1", target, answer, None, label=False) == pytest.approx((2 / 3 + 0 + 2 / 3) / 3)
    # A class that is never answered, and one that no record has.
    low, high = np.array([0, 1, 1]), np.array([0, 1, 3])
    assert label_score("accuracy", high, low, None, label=False) == pytest.approx(2 / 3)
    assert label_score("f1", high, low, None, label=False) == pytest.approx((1 + 2 / 3 + 0) / 3)
    assert label_score("f1", low, high, None, label=False) == pytest.approx((1 + 2 / 3 + 0) / 3)
    # Records that all lack a label, and answers that say so.
    assert label_score("f1", np.zeros(3), np.zeros(3), None, label=True) == 0.0
    assert label_score("accuracy", np.zeros(3), np.zeros(3), None, label=True) == 1.0
    assert label_score("f1", np.array([0, 1, 1]), np.array([0, 1, 0]), None, label=True) == pytest.approx(2 / 3)


def test_a_callable_gets_classes_as_whole_numbers_and_numbers_as_they_are():
    seen = []

    def quality(target, answer):
        seen.append((target, answer))
        return 0.25

    assert label_score(quality, np.array([1, 0], dtype=np.uint8), np.array([True, True]), None, label=True) == 0.25
    assert number_score(quality, np.array([0.5]), np.array([1.5])) == 0.25
    (target, answer), (number, said) = seen
    assert (target.tolist(), answer.tolist()) == ([1, 0], [1, 1])
    assert target.dtype == answer.dtype == np.int64
    assert (number.tolist(), said.tolist()) == ([0.5], [1.5])


def test_numbers_without_an_error_have_no_bound():
    assert number_score("inverse_rmse", np.array([1.0, 2.0]), np.array([1.0, 2.0])) == float("inf")
    assert number_score("inverse_rmse", np.array([1.0, 2.0]), np.array([2.0, 3.0])) == 1.0
    assert number_score("inverse_rmse", np.array([1.0, -2.0]), np.array([1.5, -2.5])) == pytest.approx(2.0)


@pytest.mark.parametrize("name", ["accuracy", "balanced_accuracy", "f1", "auc"])
def test_names_of_qualities_of_labels(name):
    assert check_quality(name, continuous=False) == name


@pytest.mark.parametrize("name", ["accuracy", "inverse_rmse"])
def test_of_numbers_there_is_one_quality(name):
    assert check_quality(name, continuous=True) == "inverse_rmse"


def giving(high, low):
    """A quality that gives one score where anything is right, and another where nothing is."""
    return lambda y, said: high if (np.abs(y - said) < 0.5).any() else low


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize(("high", "low"), [(1.0, 0.0), (1000.0, 1.0), (2.0, 0.002)])
def test_a_thousandth_of_the_best_score_is_as_good_as_0(high, low, continuous):
    quality = giving(high, low)
    assert check_quality(quality, continuous=continuous) is quality


@pytest.mark.parametrize("continuous", [False, True])
@pytest.mark.parametrize(
    ("high", "low", "word"),
    [
        (1000.0, 1.01, "0 must be the worst"),
        (0.5, 0.0006, "0 must be the worst"),
        (1.0, -1e-9, "0 must be the worst"),
        (1.0, float("nan"), "0 must be the worst"),
        (float("inf"), 0.0, "0 must be the worst"),
        (1.0, 2.0, "less is better"),
        (0.0, 0.0, "less is better"),
    ],
)
def test_scores_of_callables_that_are_refused(high, low, word, continuous):
    with pytest.raises(ValueError, match=word):
        check_quality(giving(high, low), continuous=continuous)


def tried(continuous):
    """What a callable is tried on: target and answers, first those that are right."""
    seen = []

    def watching(target, answer):
        seen.append((target.copy(), answer.copy()))
        return 2.0 - len(seen)

    check_quality(watching, continuous=continuous)
    return seen


def test_callables_of_labels_are_tried_on_both_classes():
    (target, right), (_, wrong) = tried(False)
    assert target.tolist() == right.tolist() == [0, 1] * 32
    assert set(wrong.tolist()) <= {0, 1}

    def no_agreement(target, answer):
        assert set(answer.tolist()) == {0, 1}
        return float((target == answer).mean())

    assert check_quality(no_agreement, continuous=False) is no_agreement


def test_callables_of_numbers_are_tried_on_answers_that_are_near_and_far():
    (target, near), (_, far) = tried(True)
    assert len(target) == 64
    assert (target.min(), target.max()) == (-1.0, 1.0)
    # Near, but nowhere exact: an inverse of the error has a value.
    assert np.abs(near - target).min() > 0
    assert np.abs(near - target).max() < 1.001e-3
    assert (far > 9e5).all()
    assert np.ptp(far - target) > 0
