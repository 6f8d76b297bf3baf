"""Combinations of labels by bag: against a dictionary, and however records are cut, joined into fewer bags or shuffled."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from biasamp.counts import contingency as cells_by_bag
from biasamp.counts.bagging import MOST_BAGS, bag_of
from biasamp.counts.contingency import (
    BAG,
    ContingencyTable,
    add_by_bag,
    bags_of_cells,
    bounded,
    count_by_bag,
    shuffle_bags,
)
from biasamp.data import Evaluation
from evaluations import bits, random_evaluation


def counted(e: Evaluation) -> ContingencyTable:
    return count_by_bag({"given": e.given, "truth": e.truth}, e.units)


def as_counter(table: ContingencyTable) -> Counter[Any]:
    """How many records of each bag hold which labels."""
    out: Counter[Any] = Counter()
    bag, _ = bags_of_cells(table)
    sides = [side for name, side in table.sides.items() if name != BAG]
    for cell, number, many in zip(table.cells.tolist(), bag.tolist(), np.asarray(table.counts).tolist(), strict=True):
        out[(number, *(tuple(side.combinations[i].tolist()) for side, i in zip(sides, cell, strict=False)))] += many
    return out


def by_loop(e: Evaluation, bags: int) -> Counter[Any]:
    bag = bag_of(e.units, bags)
    rows = zip(bag.tolist(), e.given.rows().tolist(), e.truth.rows().tolist(), strict=True)
    return Counter((number, tuple(g), tuple(t)) for number, g, t in rows)


@pytest.mark.parametrize("overlapping", [False, True])
def test_against_a_dictionary(overlapping: bool) -> None:
    e = random_evaluation(1, n=400, width=3, overlapping=overlapping)
    table = counted(e)
    assert bags_of_cells(table)[1] == MOST_BAGS
    assert as_counter(table) == by_loop(e, MOST_BAGS)
    without = ContingencyTable.from_labels({"given": e.given, "truth": e.truth})
    assert bits(table.without(BAG)) == bits(without)


@given(st.integers(1, 299), st.integers(0, 50))
def test_parts_add_up(cut: int, seed: int) -> None:
    e = random_evaluation(seed, n=300, width=3)
    order = np.random.default_rng(seed).permutation(300)
    parts = [counted(e.take(order[:cut])), counted(e.take(order[cut:]))]
    for one, two in (parts, parts[::-1]):
        total = add_by_bag(one, two)
        assert total is not None
        assert bits(total) == bits(counted(e))


@pytest.mark.parametrize("entries", [650, 500, 400, 300])
def test_too_many_entries_are_joined_into_the_bags_that_keys_give(
    entries: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    e = random_evaluation(3, n=800, groups=2, width=2)
    monkeypatch.setattr(cells_by_bag, "MOST_ENTRIES", entries)
    table = bounded(counted(e))
    if table is None:
        assert len(by_loop(e, 256)) > entries
        return
    _, bags = bags_of_cells(table)
    assert 256 <= bags < MOST_BAGS
    assert len(by_loop(e, bags)) <= entries < len(by_loop(e, 2 * bags))
    assert as_counter(table) == by_loop(e, bags)


def test_sums_of_tables_in_fewer_bags(monkeypatch: pytest.MonkeyPatch) -> None:
    """The order of additions does not show: what is joined early or late is joined in the end."""
    e = random_evaluation(4, n=900, groups=2, width=2)
    monkeypatch.setattr(cells_by_bag, "MOST_ENTRIES", 700)
    parts = [bounded(counted(e.take(np.arange(i, 900, 3)))) for i in range(3)]
    expected = bounded(counted(e))
    assert expected is not None
    for a, b, c in ((0, 1, 2), (2, 0, 1), (1, 2, 0)):
        total = add_by_bag(add_by_bag(parts[a], parts[b]), parts[c])
        assert total is not None
        assert bits(total) == bits(expected)
    assert add_by_bag(parts[0], None) is None
    assert add_by_bag(None, parts[0]) is None


def test_a_shuffle_moves_whole_bags_within_their_half() -> None:
    e = random_evaluation(5, n=300, width=2)
    table = counted(e)
    moved = shuffle_bags(table, 7)
    assert moved is not None
    before, after = as_counter(table), as_counter(moved)
    contents = [
        sorted(
            (number >= MOST_BAGS // 2, sorted((key[1:], many) for key, many in held.items() if key[0] == number))
            for number in {key[0] for key in held}
        )
        for held in (before, after)
    ]
    assert contents[0] == contents[1]
    assert before != after
    assert shuffle_bags(None, 7) is None


def test_bags_are_shuffled_as_those_of_pairs() -> None:
    """Both are of the same records, and pairs of labels sets are resampled beside single labels."""
    from biasamp.counts.bags import BagCounts

    e = random_evaluation(6, n=300, width=2)
    moved = shuffle_bags(counted(e), 11)
    assert moved is not None
    pairs = BagCounts.from_labels(e, MOST_BAGS).shuffled(11)
    assert sorted(set(bags_of_cells(moved)[0].tolist())) == pairs.numbers.tolist()
