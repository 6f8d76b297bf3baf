"""Sums over records for pairs of labels, each way against a loop, and where sums of floats would not be exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.kernels import cross
from biasamp.counts.kernels.cross import (
    by_listing,
    by_product,
    column_sums,
    held_by_both,
    indicator,
    marginal,
    row_sums,
    sum_at,
    sums_by,
)


def whole_of(count: Any) -> list[Any]:
    return count.tolist()


@pytest.mark.parametrize("soft_left", [False, True])
@pytest.mark.parametrize("soft_right", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_products(soft_left: bool, soft_right: bool, weights: str) -> None:
    rng = np.random.default_rng(0)
    n = 50
    left = rng.integers(0, 9, (n, 3)) / 8.0 if soft_left else rng.integers(0, 2, (n, 3)).astype(np.uint8)
    right = rng.integers(0, 9, (n, 2)) / 8.0 if soft_right else rng.integers(0, 2, (n, 2)).astype(np.uint8)
    own = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.integers(0, 9, n) / 4.0}[weights]
    w = np.ones(n) if own is None else own
    found = by_product(left, right, own)
    assert floats(found).tolist() == ((left * w[:, None]).T @ right).tolist()
    assert isinstance(found, Fixed) is (soft_left or soft_right or weights == "real")
    keys = rng.integers(0, 4, n)
    expected = np.zeros((5, 2))
    np.add.at(expected, keys, right * w[:, None])
    sums = sums_by(keys, 5, right, own)
    assert floats(sums).tolist() == expected.tolist()
    assert isinstance(sums, Fixed) is (soft_right or weights == "real")
    rows = rng.integers(0, n, 70)
    keys = rng.integers(0, 4, 70)
    expected = np.zeros((500, 2))
    np.add.at(expected, keys * 3, (right * w[:, None])[rows])
    assert floats(sums_by(keys * 3, 500, right, own, rows)).tolist() == expected.tolist()


def test_whole_weights_beyond_floats() -> None:
    left = right = np.array([[1], [1], [1]], dtype=np.uint8)
    for weights in ([1 << 53, 1, 1], [(1 << 53) - 3, 1, 1], [(1 << 53) - 2, 1, 1], [1 << 61, 1 << 61, 5]):
        assert by_product(left, right, np.array(weights)).tolist() == [[sum(weights)]]


def test_most_sums_are_of_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    keys, values = np.array([7, 2]), np.array([[3], [4]], dtype=np.uint8)
    for groups in (8, 9, 100):
        found = sums_by(keys, groups, values)
        assert found.shape == (groups, 1)
        assert found.sum() == 7
        assert (found[7, 0], found[2, 0]) == (3, 4)
    asked = []
    real = np.unique
    monkeypatch.setattr(np, "unique", lambda *a, **k: asked.append(1) or real(*a, **k))
    sums_by(keys, 8, values)
    assert not asked
    sums_by(keys, 9, values)
    assert asked


def listed(matrix: Any) -> Any:
    row, label = np.nonzero(matrix)
    return row, label


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_listed_labels(weights: str) -> None:
    rng = np.random.default_rng(1)
    left, right = (rng.random((30, 4)) < 0.4).astype(int), (rng.random((30, 6)) < 0.3).astype(int)
    left[[0, 29]], right[[3, 29]] = 0, 0
    own = {"none": None, "whole": rng.integers(0, 9, 30), "real": rng.integers(0, 9, 30) / 4.0}[weights]
    w = np.ones(30) if own is None else own
    assert (
        floats(by_listing(listed(left), listed(right), (4, 6), own)).tolist()
        == ((left * w[:, None]).T @ right).tolist()
    )
    assert floats(marginal(listed(left), 4, own)).tolist() == (left * w[:, None]).sum(axis=0).tolist()
    none = listed(left * 0)
    assert floats(by_listing(none, listed(right), (4, 6), own)).tolist() == np.zeros((4, 6)).tolist()
    assert floats(by_listing(listed(left), listed(right * 0), (4, 6), own)).tolist() == np.zeros((4, 6)).tolist()
    other = (rng.random((30, 4)) < 0.4).astype(int)
    row, label = held_by_both(listed(left), listed(other), 4)
    assert [tuple(place) for place in zip(row.tolist(), label.tolist(), strict=True)] == [
        tuple(place) for place in np.argwhere(left & other).tolist()
    ]
    assert indicator(listed(left), (30, 4)).toarray().tolist() == left.tolist()
    assert held_by_both(none, none, 0)[0].tolist() == []


def test_sums_at_places() -> None:
    places = np.array([5, 0, 5, 2])
    assert sum_at(places, (2, 3), None).tolist() == [[1, 0, 1], [0, 0, 2]]
    assert sum_at(places, (6,), np.array([1, 2, 4, 8])).tolist() == [2, 0, 8, 0, 0, 5]
    large = np.array([1 << 62, 1, 3, 1 << 60])
    assert sum_at(places, (6,), large).tolist() == [1, 0, 1 << 60, 0, 0, (1 << 62) + 3]
    real = sum_at(places, (2, 3), np.array([0.5, 0.25, 0.125, 3.0]))
    assert isinstance(real, Fixed)
    assert real.floats().tolist() == [[0.25, 0.0, 3.0], [0.0, 0.0, 0.625]]
    short = sum_at(places, (6,), np.array([0.5, 0.25, 0.125, 3.0], dtype=np.float32))
    assert floats(short).tolist() == [0.25, 0.0, 3.0, 0.0, 0.0, 0.625]
    fixed = Fixed(np.array([1, 2, 3, 4]), np.array([5, 6, 7, 8]), np.array([0, 0, 1, 0]))
    found = sum_at(places, (6,), fixed)
    assert isinstance(found, Fixed)
    assert (found.whole.tolist(), found.high.tolist(), found.low.tolist()) == (
        [2, 0, 4, 0, 0, 4],
        [6, 0, 8, 0, 0, 12],
        [0, 0, 0, 0, 0, 1],
    )


@pytest.mark.parametrize("count", [0, 1, 254, 255, 256, 509, 510, 511, 800])
@pytest.mark.parametrize("by_column", [False, True])
def test_columns_are_summed(count: int, by_column: bool) -> None:
    rows = np.random.default_rng(count).integers(0, 2, (count, 5)).astype(np.uint8)
    rows[:, 0] = 1
    held = np.asfortranarray(rows) if by_column else rows
    found = column_sums(held)
    assert found.dtype == np.int64
    assert found.tolist() == rows.sum(axis=0, dtype=int).tolist()


@pytest.mark.parametrize(
    ("groups", "kind"), [(3, "each"), (3, "each of several"), (3, "none"), (3, "several"), (1 << 16, "none")]
)
def test_rows_of_groups_are_summed(groups: int, kind: str) -> None:
    rng = np.random.default_rng(2)
    n, width = 20, 4
    held = np.zeros((n, 3), dtype=int)
    held[np.arange(n), rng.integers(0, 3, n)] = 1
    if kind == "none":
        held[[2, 3]] = 0
    if kind == "several":
        held[4], held[5] = 0, [1, 1, 0]
    truth, predicted = rng.integers(0, 2, (2, n, width)).astype(np.uint8)
    row, label = np.nonzero(held)
    # The last of the groups, so that there are as many as are said.
    label = np.where(label == 2, groups - 1, label)
    if groups > 3:
        found = row_sums((row, label), groups, truth, predicted, kind == "each")[[0, 1, groups - 1, groups]]
    else:
        found = row_sums((row, label), groups, truth, predicted, kind == "each")
    columns = np.concatenate([truth, np.ones((n, 1), dtype=int), predicted, truth & predicted], axis=1).astype(int)
    expected = np.concatenate([held.T @ columns, columns.sum(axis=0, keepdims=True)])
    assert found.tolist() == expected.tolist()


def test_everyone_is_looked_at_where_records_have_no_group(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each has one group, the groups' sums are those of everyone."""
    asked = []
    real = cross._sums
    monkeypatch.setattr(cross, "_sums", lambda truth, predicted: asked.append(len(truth)) or real(truth, predicted))
    one = np.ones((3, 2), dtype=np.uint8)
    row_sums((np.arange(3), np.array([0, 1, 1])), 2, one, one, True)
    assert asked == [1, 2]
    asked.clear()
    row_sums((np.arange(3), np.array([0, 1, 1])), 2, one, one, False)
    assert asked == [1, 2]
    asked.clear()
    row_sums((np.array([0, 2]), np.array([0, 1])), 2, one, one, True)
    assert asked == [1, 1, 3]
    asked.clear()
    row_sums((np.array([0, 0, 2]), np.array([0, 1, 1])), 2, one, one, False)
    assert asked == [1, 2, 3]
