"""Naive Bayes by matrix products and in numba: one result to the bit, and that of plain sums."""

import numpy as np
import pytest
from sklearn.metrics import f1_score, roc_auc_score

from biasamp.predictability.naive_bayes import NaiveBayes, evidence_of, seen_together
from biasamp.predictability.sides import Labels, Numbers
from extras import needs


@pytest.fixture(params=["numpy", "numba"])
def accelerate(request):
    if request.param == "numba":
        needs("numba")
    return request.param == "numba"


def label_matrix(n=2600, width=13, seed=0):
    rng = np.random.default_rng(seed)
    codes = (rng.random((n, width)) < rng.random(width)).astype(np.uint8)
    return Labels(codes, (2,) * width, (True,) * width)


def classes(n=2600, seed=1):
    rng = np.random.default_rng(seed)
    return Labels(
        np.column_stack([rng.integers(0, 3, n), rng.integers(0, 2, n)]).astype(np.uint8), (3, 2), (False,) * 2
    )


def some_records(n=2600, seed=2):
    return np.sort(np.random.default_rng(seed).permutation(n)[: n // 2])


def test_labels_are_counted_with_classes(accelerate):
    read, target, records = label_matrix(), classes(), some_records()
    seen = seen_together(read, target, records, accelerate)
    expected = [
        [sum(int(read.codes[i, j]) for i in records if target.codes[i, v] == c) for j in range(read.width)]
        for v, size in enumerate(target.sizes)
        for c in range(size)
    ]
    assert seen.tolist() == np.array(expected).tolist()


def test_evidence_is_the_sum_of_weights(accelerate):
    read, records = label_matrix(), some_records()
    rng = np.random.default_rng(3)
    weight, constant = rng.normal(size=(4, read.width)), np.array([0.5, -2.0, -np.inf, 1.0])
    evidence = evidence_of(read, records, weight, constant, accelerate)
    expected = [[constant[c] + sum(weight[c] * read.codes[i]) for c in range(4)] for i in records]
    assert evidence == pytest.approx(np.array(expected), abs=1e-11)
    assert (evidence[:, 2] == -np.inf).all()


@pytest.mark.parametrize("width", [1, 13, 80, 300])
def test_numba_changes_no_bit(width):
    needs("numba")
    read, target, records = label_matrix(width=width), classes(), some_records()
    weight = np.random.default_rng(4).normal(scale=3, size=(5, width))
    seen = [seen_together(read, target, records, accelerate) for accelerate in (False, True)]
    assert (seen[0] == seen[1]).all()
    evidence = [evidence_of(read, records, weight, np.zeros(5), accelerate) for accelerate in (False, True)]
    assert evidence[0].tobytes() == evidence[1].tobytes()


def test_the_order_of_labels_changes_no_bit():
    read, target, records = label_matrix(), classes(), some_records()
    rest = np.setdiff1d(np.arange(len(read)), records)
    turned = Labels(read.codes[:, ::-1].copy(), read.sizes, read.yes_no)
    weight = np.random.default_rng(5).normal(size=(3, read.width))
    one = evidence_of(read, records, weight, np.ones(3))
    assert one.tobytes() == evidence_of(turned, records, weight[:, ::-1], np.ones(3)).tobytes()
    scores = [NaiveBayes().score(side, target, records, rest, "accuracy", 0) for side in (read, turned)]
    assert scores[0] == scores[1]


def chances_by_hand(read, target, learn, test, v, prior=True):
    """Of each record the chance of each class, up to a factor, as a product over the variables that are read, by Laplace's rule."""
    out = np.zeros((len(test), target.sizes[v]))
    for c in range(target.sizes[v]):
        held = [i for i in learn if target.codes[i, v] == c]
        for row, i in enumerate(test):
            chance = float(len(held)) if prior else float(len(held) > 0)
            for j, size in enumerate(read.sizes):
                same = sum(read.codes[k, j] == read.codes[i, j] for k in held)
                chance *= (same + 1) / (len(held) + size)
            out[row, c] = chance
    return out


def mixed(n=70, seed=0):
    """A variable, a label and a variable to read; a variable whose last class is only scored, and a label, to predict."""
    rng = np.random.default_rng(seed)
    target = np.column_stack([rng.integers(0, 3, n), rng.random(n) < 0.3]).astype(np.uint8)
    near = rng.random(n) < 0.4
    codes = np.column_stack(
        [np.where(near, target[:, 0], rng.integers(0, 3, n)), rng.random(n) < 0.4, rng.integers(0, 4, n)]
    )
    read = Labels(codes.astype(np.uint8), (3, 2, 4), (False, True, False))
    target[50:, 0][:3] = 3
    learn, test = np.arange(0, 50), np.arange(50, n)
    return read, Labels(target, (4, 2), (False, True)), learn, test


@pytest.mark.parametrize("quality", ["accuracy", "balanced_accuracy", "f1", "auc"])
@pytest.mark.parametrize("which", ["both", "labels"])
def test_scores_are_those_of_products_of_chances(quality, which):
    read, target, learn, test = mixed()
    if which == "labels":  # many labels at once
        pair = np.column_stack([target.codes[:, 1], target.codes[:, 0] > 0]).astype(np.uint8)
        target = Labels(pair, (2, 2), (True, True))
    expected = []
    for v, size in enumerate(target.sizes):
        chances = chances_by_hand(read, target, learn, test, v, prior=quality != "balanced_accuracy")
        y = target.codes[test, v]
        said = chances.argmax(axis=1)
        if quality == "accuracy":
            expected.append((said == y).mean())
        elif quality == "balanced_accuracy":
            expected.append(np.mean([(said[y == c] == c).mean() for c in np.unique(y)]))
        elif quality == "f1":
            average = "binary" if target.yes_no[v] else "macro"
            expected.append(f1_score(y, said, average=average, zero_division=0))
        else:
            share = chances / chances.sum(axis=1, keepdims=True)
            own = [1] if size == 2 else [c for c in range(size) if (y == c).any()]
            expected.append(np.mean([roc_auc_score(y == c, share[:, c]) for c in own]))
    found = NaiveBayes().score(read, target, learn, test, quality, 0)
    assert found == pytest.approx(np.mean(expected))
    if quality == "accuracy":
        assert NaiveBayes().score(read, target, learn, test, lambda y, said: (y == said).mean(), 0) == pytest.approx(
            found
        )


def test_chances_are_those_of_laplaces_rule():
    """A callable sees the answers: they turn where the chances by hand do, of a label and of a category."""
    seen = []

    def answers(target, said):
        seen.append(said.tolist())
        return 0.5

    # Class 0 has 3 records of which 1 has the label; class 1 has 5, of which 2: (1 + 1) / (3 + 2) * 3 < (2 + 1) / (5 + 2) * 5.
    target = Labels(np.array([0, 0, 0, 1, 1, 1, 1, 1, 0, 1], np.uint8)[:, None], (2,), (False,))
    label = Labels(np.array([1, 0, 0, 1, 1, 0, 0, 0, 1, 0], np.uint8)[:, None], (2,), (True,))
    learn, test = np.arange(8), np.array([8, 9])
    for read in (label, Labels(label.codes, (2,), (False,))):
        NaiveBayes().score(read, target, learn, test, answers, 0)
        chances = chances_by_hand(read, target, learn, test, 0)
        assert seen.pop() == chances.argmax(axis=1).tolist() == [1, 1]
    # All of class 0 and none of class 1 have it.
    told = Labels(np.array([1, 1, 1, 0, 0, 0, 0, 0, 1, 0], np.uint8)[:, None], (2,), (True,))
    NaiveBayes().score(told, target, learn, test, answers, 0)
    assert seen.pop() == [0, 1]


def test_classes_that_tie_are_answered_by_the_first():
    target = Labels(np.array([0, 0, 1, 1, 0, 0], np.uint8)[:, None], (2,), (True,))
    read = Labels(np.array([1, 0, 1, 0, 1, 0], np.uint8)[:, None], (2,), (True,))
    for quality in ("accuracy", "balanced_accuracy", lambda y, said: (y == said).mean()):
        assert NaiveBayes().score(read, target, np.arange(4), np.array([4, 5]), quality, 0) == 1.0


@pytest.mark.parametrize("quality", ["accuracy", "balanced_accuracy", lambda y, said: (y == said).mean()])
def test_a_class_that_was_never_seen_is_never_answered(quality):
    """Its one imagined record would else speak for it, where the label is rare in the other class."""
    target = Labels(np.array([0] * 20 + [0, 0], np.uint8)[:, None], (2,), (True,))
    read = Labels(np.array([0] * 20 + [1, 1], np.uint8)[:, None], (2,), (True,))
    assert NaiveBayes().score(read, target, np.arange(20), np.array([20, 21]), quality, 0) == 1.0


def test_numbers_are_refused():
    numbers = Numbers(np.zeros((4, 1)))
    labels = label_matrix(4, 1)
    for pair in ((numbers, labels), (labels, numbers), (numbers, numbers)):
        with pytest.raises(ValueError, match="naive_bayes needs labels on both sides"):
            NaiveBayes().score(*pair, np.arange(2), np.arange(2, 4), "accuracy", 0)


@pytest.mark.parametrize(
    "weights", [[[1e-3, 3e-3]], [[0.3, -0.7], [40.0, -2.0]], [[1e6, -1e6], [0.1, 0.2], [0.0, 0.0]]]
)
def test_evidence_is_as_fine_as_floats_are(accelerate, weights):
    read = Labels(np.array([[0, 0], [1, 0], [0, 1], [1, 1]], np.uint8), (2, 2), (True, True))
    weight = np.array(weights)
    constant = np.arange(len(weight)) - 0.25
    found = evidence_of(read, np.arange(4), weight, constant, accelerate)
    expected = read.codes @ weight.T + constant
    assert np.abs(found - expected).max() <= 2e-15 * max(1.0, np.abs(weight).sum(axis=1).max() + 3)


@pytest.mark.parametrize("many", [0, 1, 254, 255, 256, 510, 511, 1023, 1024, 1025, 2049])
def test_any_number_of_records_is_counted_and_weighed(accelerate, many):
    read, target = label_matrix(), classes()
    records = np.random.default_rng(many).permutation(2600)[:many]
    read.codes[:, 0] = 1
    seen = seen_together(read, target, records, accelerate)
    if many or accelerate:
        codes, own = read.codes[records].astype(int), target.codes[records]
        expected = [
            codes[own[:, v] == c].sum(axis=0).tolist() for v, size in enumerate(target.sizes) for c in range(size)
        ]
        assert seen.tolist() == expected
    evidence = evidence_of(read, records, np.eye(13)[:5], np.ones(5), accelerate)
    assert evidence.tolist() == (read.codes[records][:, :5] + 1.0).tolist()
