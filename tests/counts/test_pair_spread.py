"""Pair counts: squared weights and differences, labels side by side and some of them, gaps; and joint counts alike."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts import joint
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.joint import (
    JointCounts,
    add_moments,
    count_moments,
    refuse_too_many,
    some_moments,
    some_of,
    squared_weights,
)
from biasamp.counts.pair import PairCounts, drop_records, outcome_masks, pair_spread, whole_spread
from biasamp.counts.tables import JOINT, PAIR
from biasamp.data import Codes, Dense, Evaluation, Label, LabelSet, Variable


def one_of(codes: Any, width: int, sparse: bool = True) -> LabelSet:
    variable = Variable("a", "categorical", tuple(f"c{i}" for i in range(width)))
    return LabelSet((Codes((variable,), np.asarray(codes), sparse),))


def several(values: Any, there: Any = None) -> LabelSet:
    values = np.asarray(values)
    values = values if values.dtype.kind == "f" else values.astype(np.uint8)
    return LabelSet((Dense(tuple(Variable(f"t{i}", "binary") for i in range(values.shape[1])), values, there),))


def records(seed: int, soft: bool, weights: str, given: str = "each", gaps: bool = False, n: int = 60) -> Evaluation:
    rng = np.random.default_rng(seed)
    groups = one_of(rng.integers(0, 2, n), 2) if given == "each" else several(rng.integers(0, 2, (n, 2)))
    there = rng.random((n, 3)) < 0.8 if gaps else None
    truth = rng.integers(0, 2, (n, 3)) * (1 if there is None else there)
    said = rng.integers(0, 9, (n, 3)) / 8.0 if soft else rng.integers(0, 2, (n, 3))
    own = {
        "none": None,
        "whole": rng.integers(0, 4, n),
        "real": rng.integers(0, 9, n) / 4.0,
        "zero one": rng.integers(0, 2, n),
    }[weights]
    return Evaluation(groups, several(truth, there), several(said), own)


def moments_of(e: Evaluation) -> list[Any]:
    g, t, p = (side.rows().astype(float) for side in (e.given, e.truth, e.predicted))
    there = e.truth.present()
    known = np.ones(t.shape) if there is None else there.astype(float)
    w = np.ones(len(e)) if e.weights is None else e.weights.astype(float)
    return [(g * (w**2)[:, None]).T @ ((p - t) ** power * known) for power in (0, 1, 2)]


@pytest.mark.parametrize("soft", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole", "real", "zero one"])
@pytest.mark.parametrize("given", ["each", "several"])
@pytest.mark.parametrize("gaps", [False, True])
def test_squared_weights_and_differences(soft: bool, weights: str, given: str, gaps: bool) -> None:
    e = records(0, soft, weights, given, gaps)
    counts, expected = PairCounts.from_labels(e), moments_of(e)
    for found, value in zip(counts.moments(), expected, strict=True):
        np.testing.assert_array_equal(np.broadcast_to(found, value.shape), value)
    for found, value in zip(whole_spread(counts), expected, strict=True):
        np.testing.assert_array_equal(np.broadcast_to(floats(found), value.shape), value)
        assert isinstance(found, Fixed)
    for found, value in zip(pair_spread(e), expected, strict=True):
        np.testing.assert_array_equal(np.broadcast_to(floats(found), value.shape), value)
    uneven = soft or gaps or weights != "none"
    assert (counts.spread is not None) is uneven
    own = np.ones(60) if e.weights is None else e.weights
    assert floats(counts.squared).tolist() == [float((own.astype(float) ** 2).sum())]
    assert counts.unweighted is (not soft and weights in ("none", "zero one"))
    # Parts add up, those without a spread of their own too.
    halves = [PairCounts.from_labels(e.take(np.arange(60) % 2 == i)) for i in range(2)]
    both = halves[0] + halves[1]
    for found, value in zip(both.moments(), expected, strict=True):
        np.testing.assert_array_equal(np.broadcast_to(found, value.shape), value)
    plain = PairCounts.from_labels(records(5, False, "none", given))
    for mixed in (counts + plain, plain + counts):
        for found, one, two in zip(mixed.moments(), counts.moments(), plain.moments(), strict=True):
            np.testing.assert_array_equal(np.broadcast_to(found, (2, 3)), np.broadcast_to(one + two, (2, 3)))
        assert mixed.records == 120
    assert counts.__add__(3) is NotImplemented  # type: ignore[operator]


@pytest.mark.parametrize("soft", [False, True])
def test_some_labels_and_labels_side_by_side(soft: bool) -> None:
    e = records(1, soft, "whole" if soft else "none")
    counts = PairCounts.from_labels(e)
    given, outcome = np.array([True, False]), np.array([True, False, True])
    few = counts.only(given, outcome)
    alone = PairCounts.from_labels(e.only(given, outcome))
    assert (few.given_labels, few.outcome_labels) == (alone.given_labels, alone.outcome_labels)
    for name in (*PAIR, "squared"):
        assert floats(getattr(few, name)).tolist() == floats(getattr(alone, name)).tolist()
    for one, two in zip(few.moments(), alone.moments(), strict=True):
        assert one.tolist() == two.tolist()
    everyone = np.ones(2, dtype=bool)
    assert counts.only(everyone, np.ones(3, dtype=bool)) is counts
    assert counts.only(everyone, outcome).outcome_labels == few.outcome_labels
    assert counts.only(given, np.ones(3, dtype=bool)).given_labels == few.given_labels
    lots = [counts.only(everyone, np.array(mask)) for mask in ([True, False, False], [False, True, True])]
    both = PairCounts.side_by_side(lots)
    assert both.outcome_labels == counts.outcome_labels
    for name in PAIR:
        assert floats(getattr(both, name)).tolist() == floats(getattr(counts, name)).tolist()
    for one, two in zip(both.moments(), counts.moments(), strict=True):
        assert one.tolist() == two.tolist()
    assert (both.spread is None) is (not soft)
    every, some = outcome_masks(counts, np.array([2, 0]))
    assert (every.tolist(), some.tolist()) == ([True, True], [True, False, True])
    joined = counts.truth_joint
    for name, of in zip(JOINT, ("n", "given", "truth", "joint_truth"), strict=True):
        assert getattr(joined, name) is getattr(counts, of)
    assert (joined.records, joined.left_labels, joined.right_labels) == (60, counts.given_labels, counts.outcome_labels)


def test_records_whose_one_variable_is_missing_are_left_out() -> None:
    e = Evaluation(
        one_of([0, -1, 1], 2, False),
        several([[1, 0], [1, 1], [0, 1]]),
        several([[1, 0], [1, 1], [0, 1]]),
        np.array([5, 6, 7]),
    )
    left = drop_records(e)
    assert len(left) == 2
    assert left.weights is not None
    assert left.weights.tolist() == [5, 7]
    whole = Evaluation(one_of([0, -1, 1], 2), e.truth, e.predicted)
    assert drop_records(whole) is whole
    gaps = Evaluation(
        one_of([0, 1, 1], 2), several([[1, 0], [1, 1], [0, 1]], np.array([[True, False]] * 3)), e.predicted
    )
    assert drop_records(gaps) is gaps
    one = several([[1], [1], [0]], np.array([[True], [False], [True]]))
    full = several([[1], [1], [0]])
    assert len(drop_records(Evaluation(one_of([0, 1, 1], 2), one, full))) == 2
    assert len(drop_records(Evaluation(one_of([0, 1, 1], 2), full, one))) == 2


def test_joint_counts() -> None:
    rng = np.random.default_rng(2)
    n = 40
    left, right, own = one_of(rng.integers(0, 2, n), 2), several(rng.integers(0, 2, (n, 3))), rng.integers(0, 4, n)
    counts = JointCounts.from_labels(left, right, own)
    halves = [
        JointCounts.from_labels(left.take(part), right.take(part), own[part])
        for part in (np.arange(n) < 13, np.arange(n) >= 13)
    ]
    both = halves[0] + halves[1]
    for name in (*JOINT, "squared"):
        assert np.asarray(getattr(both, name)).tolist() == np.asarray(getattr(counts, name)).tolist()
    assert both.records == counts.records == n
    assert counts.__add__(3) is NotImplemented  # type: ignore[operator]
    few = counts.only(np.array([False, True]), np.array([True, False, True]))
    assert (few.left_labels, len(few.right_labels)) == (counts.left_labels[1:], 2)
    assert np.asarray(few.joint).tolist() == np.asarray(counts.joint)[1:, [0, 2]].tolist()
    assert counts.only(np.ones(2, dtype=bool), np.ones(3, dtype=bool)) is counts
    total, squares = own.sum(), (own**2).sum()
    np.testing.assert_allclose(counts.effective, [[total**2 / squares]])
    alike = JointCounts.from_labels(left, right)
    np.testing.assert_array_equal(alike.effective, [[n]])
    gone = JointCounts.from_labels(
        one_of([0, -1, 1], 2, False), several([[1], [1], [0]], np.array([[True], [True], [False]])), np.array([3, 4, 5])
    )
    assert (gone.records, np.asarray(gone.n).item()) == (1, 3)
    assert JointCounts.from_labels(one_of([0, -1], 2, False), several([[1], [1]])).records == 1


def test_squared_weights() -> None:
    assert squared_weights(None, 7).tolist() == [7]
    assert squared_weights(np.array([1 << 31, 3]), 2).tolist() == [(1 << 62) + 9]
    real = squared_weights(np.array([0.5, 1.5]), 2)
    assert isinstance(real, Fixed)
    assert real.floats().tolist() == [2.5]


def test_tables_that_nobody_can_read(monkeypatch: pytest.MonkeyPatch) -> None:
    labels = tuple(Label(str(i)) for i in range(6))
    monkeypatch.setattr(joint, "MOST_CELLS", 24)
    refuse_too_many(labels, labels[:4])
    with pytest.raises(ValueError, match="6 x 5 labels make 30 pairs, more than the 24 that are counted"):
        refuse_too_many(labels, labels[:5])


def test_arrays_of_some_labels() -> None:
    left, right = np.array([True, False]), np.array([False, True, True])
    values = np.arange(6).reshape(2, 3)
    assert some_of(values, left, right).tolist() == [[1, 2]]
    assert some_of(values[:1], left, right).tolist() == [[1, 2]]
    assert some_of(values[:, :1], left, right).tolist() == [[0]]
    assert some_of(values[:1, :1], left, right).tolist() == [[0]]


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_moments_of_both_sides(weights: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    n = 50
    A, T = one_of(rng.integers(0, 2, n), 2), several(rng.integers(0, 2, (n, 3)))
    A_pred, T_pred = several(rng.integers(0, 9, (n, 2)) / 8.0), several(rng.integers(0, 9, (n, 3)) / 8.0)
    own = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.integers(0, 9, n) / 4.0}[weights]
    squares = np.ones(n) if own is None else own.astype(float) ** 2
    a, t, a_hat, t_hat = (side.rows().astype(float) for side in (A, T, A_pred, T_pred))
    one = np.ones((n, 1))
    sides = [(left, t_hat * t_hat) for left in (one, a_hat, a_hat**2)]
    sides += [(left, t * t) for left in (one, a, a**2)]
    sides += [(left, t_hat * t) for left in (one, a_hat, a, a_hat * a)]
    found = count_moments(A, T, A_pred, T_pred, own)
    assert found is not None
    assert len(found) == 10
    for moment, (left, right) in zip(found, sides, strict=True):
        np.testing.assert_array_equal(floats(moment), (left * squares[:, None]).T @ right)
    few = some_moments(found, np.array([True, False]), np.array([False, True, True]))
    assert few is not None
    assert floats(few[1]).tolist() == floats(found[1])[:1, 1:].tolist()
    assert floats(few[0]).tolist() == floats(found[0])[:, 1:].tolist()
    twice = add_moments(found, found)
    assert twice is not None
    assert [floats(moment).tolist() for moment in twice] == [(2 * floats(moment)).tolist() for moment in found]
    assert add_moments(None, found) is None
    assert add_moments(found, None) is None
    assert some_moments(None, np.array([True]), np.array([True])) is None
    for wide, known in ((3, True), (2, False)):
        monkeypatch.setattr(joint, "WIDE", wide)
        assert (count_moments(A, T, A_pred, T_pred, own) is not None) is known
    assert count_moments(T, A, T_pred, A_pred, own) is None
