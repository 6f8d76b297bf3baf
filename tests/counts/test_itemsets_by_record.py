"""Itemsets against sets of labels a record: by size, by support, in lots of records, with flags and without."""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest

from biasamp.counts import itemsets
from biasamp.counts.itemsets import carried, expand, named, occurring, one_a_record, support
from biasamp.counts.kernels.long_tally import numba_installed
from biasamp.data import Codes, Dense, LabelSet, Variable
from biasamp.data.label import Sparse


def several(rows: Any) -> LabelSet:
    rows = np.asarray(rows)
    names = tuple(Variable(f"t{i}", "binary") for i in range(rows.shape[1]))
    return LabelSet((Dense(names, rows if rows.dtype.kind == "f" else rows.astype(np.uint8)),))


def one_of(codes: Any) -> LabelSet:
    return LabelSet((Codes((Variable("a", "categorical", ("x", "y", "z")),), np.asarray(codes), True),))


def some(seed: int, n: int = 60, width: int = 6) -> tuple[LabelSet, list[set[int]]]:
    rng = np.random.default_rng(seed)
    rows = rng.random((n, width)) < np.linspace(0.1, 0.7, width)
    return several(rows), [set(np.flatnonzero(row).tolist()) for row in rows]


def test_whether_records_have_one_label_at_most() -> None:
    one, none, two = several([[1, 0], [0, 1]]), several([[0, 0], [0, 1]]), several([[1, 0], [1, 1]])
    assert one_a_record(one)
    assert one_a_record(none)
    assert one_a_record(several([[0, 0]]))
    assert not one_a_record(two)
    assert one_a_record(one_of([0, -1]))
    assert one_a_record(one_of([0, 1]), one)
    assert not one_a_record(one_of([0, 1]), two)
    assert not one_a_record(one, two)
    assert one_a_record()
    lists = LabelSet((Sparse((Variable("t", "multilabel", ("x", "y")),), np.array([0, 2]), np.array([0, 1])),))
    assert not one_a_record(lists)


@pytest.mark.parametrize(
    "least, most, enough",
    [(1, None, 1), (2, None, 1), (1, 2, 1), (2, 2, 2), (0, 3, 3), (1, 1, 1), (3, None, 2), (1, 0, 1)],
)
def test_sets_that_records_carry(least: int, most: int | None, enough: int) -> None:
    labels, held = some(0, 80, 4)
    sets = [tuple(sorted(one)) for one in held]
    expected = sorted(
        one
        for one in set(sets)
        if len(one) >= max(least, 1) and (most is None or len(one) <= most) and sets.count(one) >= enough
    )
    assert carried(labels, least, most, enough) == expected


@pytest.mark.parametrize("flags", [1 << 28, 0])
@pytest.mark.parametrize(
    "least, most, enough", [(1, None, 1), (2, 3, 1), (1, 2, 5), (2, 2, 20), (0, None, 0), (3, 3, 2), (1, 0, 1)]
)
def test_sets_that_records_have(
    flags: int, least: int, most: int | None, enough: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(itemsets, "_MOST_FLAGS", flags)
    labels, held = some(1, 50, 5)
    expected = []
    for items in chain.from_iterable(combinations(range(5), size) for size in range(1, 6)):
        times = sum(set(items) <= one for one in held)
        if len(items) >= least and (most is None or len(items) <= most) and times >= max(enough, 1):
            expected.append(items)
    assert occurring(labels, least, most, enough) == sorted(expected)


WAYS = [False, *([True] if numba_installed() else [])]
SETS: list[tuple[int, ...]] = [(0, 1), (2,), (0, 1, 3), (4, 5), (0,), (1, 3), (0, 1, 2, 3, 4, 5), (2, 4), (5,), (1, 2)]


@pytest.mark.parametrize("compiled", WAYS)
@pytest.mark.parametrize("flags", [1 << 28, 6 * 25, 6 * 59, 3])
def test_records_that_have_each_set(compiled: bool, flags: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """All at once, in lots of 25 records, of 59 and one, and one by one, without flags."""
    if compiled and flags < 6:
        pytest.skip("compiled loops look at flags")
    monkeypatch.setattr(itemsets, "_MOST_FLAGS", flags)
    for seed in (2, 3):
        labels, held = some(seed)
        expected = np.array([[set(items) <= one for items in SETS] for one in held])
        assert support(labels, SETS, accelerate=compiled).tolist() == expected.sum(axis=0).tolist()
        made = expand(labels, SETS, accelerate=compiled)
        assert made.rows().astype(bool).tolist() == expected.tolist()
        assert len(made) == len(held)
        assert made.variables == named(labels, SETS)
        row, item = made.nonzero()
        assert list(zip(row.tolist(), item.tolist(), strict=True)) == [
            tuple(place) for place in np.argwhere(expected).tolist()
        ]
        own = tuple(Variable(f"v{i}", "binary") for i in range(len(SETS)))
        assert expand(labels, SETS, own, compiled).variables == own
    assert support(labels, [], accelerate=compiled).tolist() == []


@pytest.mark.parametrize("compiled", WAYS)
def test_many_sets_of_many_records(compiled: bool) -> None:
    """More than the room that is made at first."""
    labels, held = some(4, 3000, 7)
    sets = [items for size in (1, 2, 3) for items in combinations(range(7), size)]
    expected = np.array([[set(items) <= one for items in sets] for one in held])
    assert support(labels, sets, accelerate=compiled).tolist() == expected.sum(axis=0).tolist()
    assert expand(labels, sets, accelerate=compiled).rows().astype(bool).tolist() == expected.tolist()


def test_labels_of_sets_have_names() -> None:
    labels = several([[1, 0, 1]])
    assert [variable.name for variable in named(labels, [(0, 2), (1,)])] == ["t0 & t2", "t1"]
    assert all(variable.kind == "binary" for variable in named(labels, [(0,)]))
    assert named(labels, []) == ()


def test_single_labels_are_picked() -> None:
    labels, _ = some(5)
    rows = labels.rows()
    for wanted in ([0, 2, 5], [1], [0, 1, 2, 3, 4, 5], [4, 2], [3, 3]):
        made = expand(labels, [(label,) for label in wanted], accelerate=False)
        assert made.rows().tolist() == rows[:, wanted].tolist()


def test_chances_of_sets_are_products() -> None:
    rng = np.random.default_rng(6)
    values = rng.integers(0, 9, (20, 3)) / 8.0
    made = expand(several(values), [(0, 1), (2,), (0, 1, 2)])
    assert (
        made.rows().tolist()
        == np.column_stack([values[:, 0] * values[:, 1], values[:, 2], values.prod(axis=1)]).tolist()
    )
    assert made.soft


def test_compiled_or_not_by_how_much_there_is_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    monkeypatch.setattr(itemsets, "worth_compiling", lambda work, accelerate: asked.append(work) or False)
    monkeypatch.setattr(itemsets, "_MOST_FLAGS", 6 * 25)
    labels, _ = some(2)
    support(labels, SETS)
    assert asked == [250, 250, 100]


@pytest.mark.parametrize("flags", [1 << 28, 0])
def test_records_of_labels(flags: int, monkeypatch: pytest.MonkeyPatch) -> None:
    labels, held = some(7)
    monkeypatch.setattr(itemsets, "_MOST_FLAGS", flags)
    postings = itemsets._Postings(labels)
    assert (postings.flags is None) is (flags == 0)
    for label in range(6):
        mine = [i for i, one in enumerate(held) if label in one]
        assert postings.records[label].tolist() == mine
        among = np.array([0, 3, 10, 59])
        for _ in range(2):
            assert postings.among(among, label).tolist() == [i for i in among.tolist() if i in mine]
    part = itemsets._Postings(labels, 10, 30)
    assert part.records[5].tolist() == [i - 10 for i, one in enumerate(held) if 5 in one and 10 <= i < 30]
    # Flags for as many as there is room.
    monkeypatch.setattr(itemsets, "_MOST_FLAGS", 6 * 60)
    assert itemsets._Postings(labels).flags is not None
    monkeypatch.setattr(itemsets, "_MOST_FLAGS", 6 * 60 - 1)
    assert itemsets._Postings(labels).flags is None
