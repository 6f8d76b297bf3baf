"""Naive Bayes by matrix products and in numba: one result to the bit, and that of plain sums."""

import numpy as np
import pytest

from biasamp.predictability.naive_bayes import NaiveBayes, evidence_of, seen_together
from biasamp.predictability.sides import Labels
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
