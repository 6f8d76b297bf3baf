"""Counts between thresholds: every field, gaps, weights, labels that decide, and what is saved."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.threshold_counts import (
    GRID,
    MOST_PAIRS,
    ScoreBins,
    ThresholdCounts,
    _from_above,
    binnable,
    by_threshold,
    count_scores,
    countable,
    place_on_grid,
)
from biasamp.data import Codes, Dense, Evaluation, LabelSet, Variable


def one_of(codes: Any, width: int) -> LabelSet:
    variable = Variable("a", "categorical", tuple(f"c{i}" for i in range(width)))
    return LabelSet((Codes((variable,), np.asarray(codes), True),))


def several(values: Any, there: Any = None) -> LabelSet:
    values = np.asarray(values)
    values = values if values.dtype.kind == "f" else values.astype(np.uint8)
    return LabelSet((Dense(tuple(Variable(f"t{i}", "binary") for i in range(values.shape[1])), values, there),))


@pytest.mark.parametrize("given", ["each", "none", "several"])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("gaps", ["none", "truth", "scores", "both"])
def test_counts_are_those_of_records(given: str, weights: str, gaps: str) -> None:
    rng = np.random.default_rng(0)
    n, width = 80, 3
    groups = {
        "each": one_of(rng.integers(0, 2, n), 2),
        "none": one_of(rng.integers(-1, 2, n), 2),
        "several": several(rng.integers(0, 2, (n, 2))),
    }[given]
    truth = rng.integers(0, 2, (n, width))
    score = np.where(
        rng.random((n, width)) < 0.5, rng.integers(0, 6, (n, width)) / 5, rng.integers(0, 257, (n, width)) / 256
    )
    there = rng.random((2, n, width)) < 0.8
    known = np.ones((n, width), dtype=bool)
    sides = []
    for place, (name, values) in enumerate((("truth", truth), ("scores", score))):
        mask = there[place] if gaps in (name, "both") else None
        known &= True if mask is None else mask
        sides.append(several(values if mask is None else values * mask, mask))
    own = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.integers(0, 9, n) / 8.0}[weights]
    counts, _ = count_scores(Evaluation(groups, *sides, own))
    assert counts is not None
    w = np.ones(n) if own is None else own.astype(float)
    member = np.column_stack([groups.rows(), np.ones(n)]).astype(bool)
    step = np.searchsorted(GRID, score, side="right") - 1
    held, squared = (np.zeros((3, width, 1001, 2)) for _ in range(2))
    for g in range(3):
        for j in range(width):
            mine = np.flatnonzero(member[:, g] & known[:, j])
            np.add.at(held[g, j], (step[mine, j], truth[mine, j]), w[mine])
            np.add.at(squared[g, j], (step[mine, j], truth[mine, j]), w[mine] ** 2)
    np.testing.assert_array_equal(floats(counts.held), held)
    assert isinstance(counts.held, Fixed) is (weights == "real")
    if own is None:
        assert counts.squared is None
    else:
        assert counts.squared is not None
        np.testing.assert_array_equal(floats(counts.squared), squared)
    for label in range(width):
        for power, table in ((1, held), (2, held if own is None else squared)):
            above = counts.above(label, power)
            assert above.shape == (3, 1002, 2)
            np.testing.assert_array_equal(above[:, :-1], table[:, label, ::-1].cumsum(axis=1)[:, ::-1])
            assert not above[:, -1].any()
        np.testing.assert_array_equal(counts.above(label), counts.above(label, 1))


def some(seed: int, squared: bool = True) -> ThresholdCounts:
    rng = np.random.default_rng(seed)
    return ThresholdCounts(*(rng.integers(0, 9, (3, 2, 1001, 2)) for _ in range(1 + squared)))


def test_counts_add_up_and_are_saved() -> None:
    one, two = some(1), some(2)
    both = one + two
    assert both.held.tolist() == (one.held + two.held).tolist()
    assert both.squared.tolist() == (one.squared + two.squared).tolist()  # type: ignore[union-attr, operator]
    assert (one + some(3, False)).squared is None
    assert (some(3, False) + one).squared is None
    assert one.__add__(3) is NotImplemented  # type: ignore[operator]
    for counts in (one, some(3, False)):
        arrays: dict[str, Any] = {"other": np.zeros(1)}
        assert ThresholdCounts.get(arrays) is None
        counts.put(arrays)
        again = ThresholdCounts.get(arrays)
        assert again is not None
        assert floats(again.held).tolist() == counts.held.tolist()
        assert (again.squared is None) is (counts.squared is None)
        if again.squared is not None:
            assert floats(again.squared).tolist() == counts.squared.tolist()  # type: ignore[union-attr]
    few = one.only(np.array([False, True]), np.array([True, False]))
    assert few.held.tolist() == one.held[[1, 2]][:, [0]].tolist()
    assert few.squared.tolist() == one.squared[[1, 2]][:, [0]].tolist()  # type: ignore[union-attr, index]
    assert some(3, False).only(np.array([False, True]), np.array([True, False])).squared is None


def test_sums_from_above() -> None:
    part = np.array([[[1, 10], [2, 20], [4, 40]]])
    assert _from_above(part).tolist() == [[[7, 70], [6, 60], [4, 40], [0, 0]]]


def test_labels_that_thresholds_decide() -> None:
    def columns(*variables: Variable) -> LabelSet:
        width = sum(1 if variable.kind == "binary" else len(variable.categories) for variable in variables)
        return LabelSet((Dense(variables, np.full((1, width), 0.5)),))

    binary = Variable("a", "binary"), Variable("b", "binary")
    zero_one = Variable("a", "categorical", ("0", "1"))
    assert by_threshold(columns(*binary))
    assert by_threshold(columns(binary[0]))
    assert by_threshold(columns(zero_one))
    assert by_threshold(columns(zero_one._replace(categories=("1", "0"))))
    assert not by_threshold(columns(zero_one._replace(categories=("0", "1", "2"))))
    assert not by_threshold(columns(zero_one._replace(categories=("x", "y"))))
    assert not by_threshold(columns(zero_one, zero_one._replace(name="b")))
    assert not by_threshold(columns(binary[0], zero_one))


def test_pairs_that_are_not_too_many() -> None:
    """Given labels and everyone, times outcomes."""
    assert MOST_PAIRS == 2048
    scores = several(np.full((1, 128), 0.5))
    assert binnable(one_of([0], 15), scores)
    assert not binnable(one_of([0], 16), scores)
    assert countable(one_of([0], 15), scores)
    assert not countable(one_of([0], 16), scores)
    classes = LabelSet((Dense((Variable("a", "categorical", ("x", "y")),), np.full((1, 2), 0.5)),))
    assert binnable(one_of([0], 2), classes)
    assert not countable(one_of([0], 2), classes)


def test_places_on_the_grid() -> None:
    assert len(GRID) == 1001
    assert GRID[[0, 1, 290, 1000]].tolist() == [0.0, 0.001, 0.29, 1.0]
    score = np.random.default_rng(5).random(5000)
    expected = np.searchsorted(GRID, score, side="right") - 1
    assert place_on_grid(score).tolist() == expected.tolist()


def test_bins_are_filled_outcome_by_outcome() -> None:
    bins = ScoreBins.zeros(3, 2)
    steps, sums = bins.nothing()
    assert (steps.shape, sums.shape) == ((3 * 1001 * 2,), (3 * 1001,))
    assert (steps.dtype, sums.dtype) == (np.int32, np.int64)
    at = np.array([0 * 1001 + 99, 0 * 1001 + 100, 1 * 1001 + 999, 1 * 1001 + 1000])
    score = np.array([0.0995, 0.1005, 0.9995, 1.0])
    units = np.rint(score * 2**52).astype(np.int64)
    steps[2 * at + 1] = [2, 1, 1, 3]
    steps[2 * at] = [0, 4, 0, 1]
    sums[at] = units * [2, 5, 1, 4]
    bins.add(1, steps, sums)
    thresholds, reliability = bins.counts(everyone=False)
    assert thresholds.held.shape == (3, 2, 1001, 2)
    assert thresholds.held.dtype == np.int64
    assert not thresholds.held[:, 0].any()
    assert thresholds.held[0, 1, [99, 100]].tolist() == [[0, 2], [4, 1]]
    assert thresholds.held[1, 1, [999, 1000]].tolist() == [[0, 1], [1, 3]]
    # Everyone is the sum of the labels.
    assert thresholds.held[2].tolist() == thresholds.held[:2].sum(axis=0).tolist()
    assert floats(reliability.n)[:, 1].tolist() == [[2, 5, *[0] * 8], [*[0] * 9, 5]]
    assert floats(reliability.truth)[:, 1].tolist() == [[2, 1, *[0] * 8], [*[0] * 9, 4]]
    assert floats(reliability.squared)[:, 1].tolist() == floats(reliability.n)[:, 1].tolist()
    assert not floats(reliability.n)[:, 0].any()
    exact = [[int(2 * units[0]), int(5 * units[1]), *[0] * 8], [*[0] * 9, int(units[2] + 4 * units[3])]]
    found = reliability.scores
    assert isinstance(found, Fixed)
    assert ((found.high[:, 1].astype(object) << 26) + found.low[:, 1]).tolist() == exact
    # Everyone is what was filled, where records may have no label.
    alone, _ = bins.counts(everyone=True)
    assert not alone.held[2].any()
    assert ScoreBins.zeros(0, 2).nothing()[0].shape == (0,)
