"""Counts against plain loops over records, for every kernel."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

import biasamp
from biasamp.counts.contingency import ContingencyTable
from biasamp.counts.joint import JointCounts, same_labels
from biasamp.counts.kernels.cross import column_sums
from biasamp.counts.pair import PairCounts
from biasamp.data import Evaluation, Label
from evaluations import bits, floats, make, random_evaluation, read
from extras import needs

TABLES = ("n", "given", "truth", "predicted", "joint_truth", "joint_predicted", "joint_both")


def by_hand(e: Evaluation) -> dict[str, Any]:
    """The seven tables by a product over whole matrices in extended precision."""
    w = np.ones(len(e)) if e.weights is None else e.weights
    g, t, p = (x.rows().astype(np.longdouble) for x in (e.given, e.truth, e.predicted))
    w = np.asarray(w, dtype=np.longdouble)[:, None]
    ones = np.ones((len(e), 1), dtype=np.longdouble)
    return {
        "n": (ones * w).T @ ones,
        "given": g.T @ w,
        "truth": w.T @ t,
        "predicted": w.T @ p,
        "joint_truth": (g * w).T @ t,
        "joint_predicted": (g * w).T @ p,
        "joint_both": (g * w).T @ (t * p),
    }


@pytest.mark.parametrize("weights", ["none", "whole", "real", "large"])
@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("width", [1, 5, 20])
def test_pair_counts(weights: str, soft: bool, overlapping: bool, width: int) -> None:
    e = random_evaluation(3, n=2500, groups=6, width=width, soft=soft, weights=weights, overlapping=overlapping)
    counts, expected = PairCounts.from_labels(e), by_hand(e)
    for name in TABLES:
        np.testing.assert_allclose(
            floats(getattr(counts, name)), expected[name].astype(float), rtol=1e-13, err_msg=name
        )
    np.testing.assert_allclose(
        floats(JointCounts.from_labels(e.given, e.predicted, e.weights).joint),
        expected["joint_predicted"].astype(float),
        rtol=1e-13,
    )


@pytest.mark.parametrize("weights", ["none", "whole", "real", "large"])
@pytest.mark.parametrize("soft", [False, True])
def test_moments(weights: str, soft: bool) -> None:
    """Sums of squared weights times powers of ``o_hat - o``, which standard errors need."""
    e = random_evaluation(3, n=500, soft=soft, weights=weights)
    w = np.ones(500) if e.weights is None else e.weights.astype(float)
    g, t, p = (x.rows().astype(float) for x in (e.given, e.truth, e.predicted))
    squares = (w**2)[:, None]
    for ours, power in zip(PairCounts.from_labels(e).moments(), (0, 1, 2), strict=True):
        np.testing.assert_allclose(ours, (g * squares).T @ (p - t) ** power, rtol=1e-11, atol=1e-9 * squares.max())


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_many_labels_are_listed(monkeypatch: pytest.MonkeyPatch, overlapping: bool, weights: str) -> None:
    """The sparse path gives what the matrix path gives."""
    e = random_evaluation(8, n=1500, groups=4, width=12, weights=weights, overlapping=overlapping)
    dense = PairCounts.from_labels(e), JointCounts.from_labels(e.given, e.truth, e.weights)
    monkeypatch.setattr("biasamp.counts.tables.WIDE", 2)
    listed = PairCounts.from_labels(e), JointCounts.from_labels(e.given, e.truth, e.weights)
    for one, other in zip(dense, listed, strict=True):
        assert bits(one) == bits(other)


@pytest.mark.parametrize("overlapping", [False, True])
def test_sparse_input_of_many_labels(overlapping: bool) -> None:
    """More labels than a matrix is laid out for, from a scipy.sparse matrix."""
    import scipy.sparse as sp

    rng = np.random.default_rng(0)
    n, width = 400, 700
    given = (rng.random((n, 3)) < 0.5).astype(np.uint8) if overlapping else rng.integers(0, 3, n)
    truth = sp.random(n, width, 0.01, "csr", rng=rng, data_rvs=np.ones)
    predicted = sp.random(n, width, 0.01, "csr", rng=rng, data_rvs=np.ones)
    sparse = PairCounts.from_labels(make(given, truth, predicted))
    dense = make(given, truth.toarray(), predicted.toarray())
    for name, expected in by_hand(dense).items():
        np.testing.assert_array_equal(floats(getattr(sparse, name)), expected.astype(float), err_msg=name)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("n", [1, 254, 255, 256, 700, 70_000])
def test_numba_agrees_with_numpy(overlapping: bool, n: int) -> None:
    """The 8-bit accumulators must be emptied before they wrap, whatever the number of records."""
    needs("numba")
    e = random_evaluation(2, n=n, groups=3, width=16, overlapping=overlapping)
    assert bits(PairCounts.from_labels(e, accelerate=True)) == bits(PairCounts.from_labels(e, accelerate=False))


def test_all_ones_do_not_wrap_8_bits() -> None:
    for count in (254, 255, 256, 511, 65_025, 65_026):
        ones = np.ones((count, 3), dtype=np.uint8)
        assert column_sums(ones).tolist() == [count] * 3
        e = make(np.zeros(count, dtype=int), np.ones((count, 16), dtype=bool), np.ones((count, 16), dtype=bool))
        for accelerate in (False, True):
            if accelerate:
                needs("numba")
            assert (PairCounts.from_labels(e, accelerate=accelerate).joint_both == count).all()


class TestMissing:
    """A record with a missing label is left out of that pair alone."""

    def test_missing_columns(self) -> None:
        truth = np.array([[1, np.nan], [1, 1], [0, 1], [np.nan, 0]])
        predicted = np.array([[1, 1], [np.nan, 1], [0, 0], [1, 1]])
        counts = PairCounts.from_labels(make(["a", "a", "a", "b"], truth, predicted))
        # Pair (a, 0): records 0 and 2; (a, 1): 1 and 2; (b, 0): none; (b, 1): 3.
        assert np.broadcast_to(floats(counts.given), (2, 2)).tolist() == [[2, 2], [0, 1]]
        assert floats(counts.joint_truth).tolist() == [[1, 2], [0, 0]]
        assert floats(counts.joint_predicted).tolist() == [[1, 1], [0, 1]]
        assert floats(counts.joint_both).tolist() == [[1, 1], [0, 0]]
        assert np.broadcast_to(floats(counts.n), (2, 2))[0].tolist() == [2, 3]

    def test_missing_columns_in_another_order(self) -> None:
        """Columns pair by name, and what is missing moves with them."""
        truth = pd.DataFrame({"cat": [1.0, 1.0, 0.0], "dog": [1.0, 0.0, 1.0]})
        predicted = pd.DataFrame({"dog": [1.0, 1.0, 1.0], "cat": [np.nan, 1.0, 1.0]})
        counts = PairCounts.from_labels(make(["a", "a", "a"], truth, predicted))
        assert np.broadcast_to(floats(counts.given), (1, 2)).tolist() == [[2, 3]]
        assert floats(counts.joint_predicted).tolist() == [[2, 3]]
        assert floats(counts.joint_both).tolist() == [[1, 2]]

    def test_missing_group_leaves_the_record_out(self) -> None:
        counts = PairCounts.from_labels(make(["a", None, "a"], np.array([[1], [1], [0]]), np.array([[1], [1], [1]])))
        assert floats(counts.n).item() == 2
        assert floats(counts.joint_predicted).item() == 2

    @pytest.mark.parametrize("soft", [False, True])
    def test_merging_with_missing(self, soft: bool) -> None:
        rng = np.random.default_rng(1)
        holes = lambda shape: np.where(rng.random(shape) < 0.2, np.nan, (rng.random(shape) < 0.5).astype(float))
        truth, predicted = holes((90, 3)), holes((90, 3))
        if soft:
            predicted = predicted * rng.random((90, 3))
        whole = make(holes((90, 2)), truth, predicted, rng.gamma(2.0, size=90))
        parts = PairCounts.from_labels(whole.take(np.arange(30))) + PairCounts.from_labels(
            whole.take(np.arange(30, 90))
        )
        assert bits(parts) == bits(PairCounts.from_labels(whole))


class TestContingency:
    @pytest.mark.parametrize("weights", ["none", "whole", "real"])
    def test_against_a_dictionary(self, weights: str) -> None:
        e = random_evaluation(4, n=300, width=3, weights=weights)
        table = ContingencyTable.from_labels({"given": e.given, "truth": e.truth}, e.weights)
        expected: Counter[Any] = Counter()
        for g, t, w in zip(
            e.given.rows(), e.truth.rows(), np.ones(300) if e.weights is None else e.weights, strict=True
        ):
            expected[tuple(g), tuple(t)] += w
        found = {}
        for cell, count in zip(table.cells, np.asarray(table.counts), strict=True):
            found[tuple(tuple(side.combinations[i]) for i, side in zip(cell, table.sides.values(), strict=True))] = (
                count
            )
        found = {key: float(value) for key, value in found.items()}
        assert found == pytest.approx(dict(expected))

    def test_many_labels_a_side(self) -> None:
        labels = np.eye(40, dtype=np.uint8)[np.arange(80) % 40]
        table = ContingencyTable.from_labels({"labels": read(labels)})
        assert len(table.cells) == 40
        assert (np.asarray(table.counts) == 2).all()

    def test_probabilities_are_refused(self) -> None:
        with pytest.raises(ValueError, match="predicted holds probabilities"):
            ContingencyTable.from_labels({"predicted": read(np.full((2, 2), 0.5), soft=True)})


def test_too_many_pairs_are_refused() -> None:
    with pytest.raises(ValueError, match=r"8,000 x 8,000 labels make 64,000,000 pairs.*identifier"):
        JointCounts.from_labels(read(np.arange(8000)), read(np.arange(8000)))


class TestWeights:
    """Whatever the scale of the weights, only their ratios matter; what cannot be summed exactly is refused."""

    @pytest.mark.parametrize("scale", [1e-5, 1e-3, 1.0, 1e3, 1e6, 1e7])
    def test_scale_changes_nothing(self, scale: float) -> None:
        rng = np.random.default_rng(0)
        given, truth, predicted = rng.integers(0, 2, 200), rng.integers(0, 2, (200, 3)), rng.random((200, 3))
        weights = rng.gamma(2.0, size=200)
        one = biasamp.directional(given, truth, predicted, weights=weights)
        other = biasamp.directional(given, truth, predicted, weights=weights * scale)
        assert other.value == pytest.approx(one.value, abs=1e-10)
        assert other.n == pytest.approx(one.n * scale, rel=1e-9)
        for name in ("delta", "sign_p", "low", "high"):
            np.testing.assert_allclose(other.pairs[name], one.pairs[name], atol=1e-7)

    def test_survey_weights_of_hundreds_of_thousands(self) -> None:
        """Sums of their squares exceed what two limbs of 26 bits would hold."""
        rng = np.random.default_rng(0)
        given, truth, predicted = rng.integers(0, 2, 3000), rng.integers(0, 2, (3000, 3)), rng.integers(0, 2, (3000, 3))
        weights = rng.integers(10_000, 1_500_000, 3000)
        whole = biasamp.directional(given, truth, predicted, weights=weights).pairs
        real = biasamp.directional(given, truth, predicted, weights=weights / 2**20).pairs
        for name in ("delta", "low", "high"):
            np.testing.assert_allclose(whole[name], real[name], atol=1e-9)

    @pytest.mark.parametrize("weight, word", [(1e-14, "small"), (1e12, "large"), (1e300, "large"), (2**60, "large")])
    def test_what_cannot_be_summed_exactly(self, weight: float, word: str) -> None:
        with pytest.raises(ValueError, match=rf"weights add up to .* too {word} .*only their ratios matter"):
            biasamp.directional([0, 1], [0, 1], [0, 1], weights=[weight, weight])


def test_labels_that_do_not_match_are_named() -> None:
    a, b, c = (Label("t", name) for name in "abc")
    with pytest.raises(ValueError, match=r"only in the first: \['t=a'\]; only in the second: \['t=c'\]"):
        same_labels((a, b), (b, c), "task")
    with pytest.raises(ValueError, match="the same labels in another order"):
        same_labels((a, b), (b, a), "task")
    same_labels((a, b), (a, b), "task")
