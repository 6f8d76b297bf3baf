"""Combinations counted as numbers against a loop over records."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from biasamp.counts import numbered_cells
from biasamp.counts.bagging import bag_of
from biasamp.counts.contingency import BAG, ContingencyTable, bags_of_cells, count_by_bag
from biasamp.data import Codes, Dense, LabelSet, Variable
from biasamp.data.keys import row_keys


def sides_of(seed: int, records: int) -> dict[str, LabelSet]:
    rng = np.random.default_rng(seed)
    names = tuple(Variable(f"t{i}", "binary") for i in range(1 + seed % 19))
    values = (rng.random((len(names), records)) < 0.4).astype(np.uint8)
    codes = Codes((Variable("a", "categorical", ("x", "y", "z")),), rng.integers(-(seed % 2), 3, records), sparse=True)
    rows = values.T if seed % 3 else np.ascontiguousarray(values.T)
    return {"given": LabelSet((codes,)), "truth": LabelSet((Dense(names, rows),))}


def by_loop(sets: dict[str, LabelSet], weights: Any) -> Counter[tuple[bytes, ...]]:
    out: Counter[tuple[bytes, ...]] = Counter()
    for row in range(len(next(iter(sets.values())))):
        out[tuple(labels.rows(row, row + 1).tobytes() for labels in sets.values())] += int(weights[row])
    return out


def of_table(table: ContingencyTable) -> Counter[tuple[bytes, ...]]:
    return Counter(
        {
            tuple(side.combinations[place].tobytes() for side, place in zip(table.sides.values(), cell, strict=True)): n
            for cell, n in zip(table.cells.tolist(), table.counts.tolist(), strict=True)
        }
    )


@pytest.mark.parametrize("seed", range(24))
@pytest.mark.parametrize("tabled", [False, True])
def test_combinations_are_those_of_records(seed: int, tabled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    if not tabled:
        monkeypatch.setattr(numbered_cells, "_tabled", lambda _: 0)
    records = 1 + 37 * seed
    sets = sides_of(seed, records)
    weights = None if seed % 4 else np.random.default_rng(seed).integers(0, 3, records)
    table = ContingencyTable.from_labels(sets, weights)
    assert of_table(table) == by_loop(sets, np.ones(records) if weights is None else weights)
    for place, side in enumerate(table.sides.values()):
        rows = [row.tobytes() for row in np.packbits(side.combinations, axis=1)]
        assert rows == sorted(set(rows))
        assert sorted(set(table.cells[:, place].tolist())) == list(range(len(rows)))
    assert table.cells.tolist() == sorted(table.cells.tolist())


@pytest.mark.parametrize("seed", range(6))
def test_parts_add_up_to_the_whole(seed: int) -> None:
    sets = sides_of(seed, 400)
    halves = [{name: labels.take(np.arange(400) % 2 == i) for name, labels in sets.items()} for i in range(2)]
    whole, total = (
        ContingencyTable.from_labels(sets),
        sum(map(ContingencyTable.from_labels, halves[1:]), ContingencyTable.from_labels(halves[0])),
    )
    assert total.cells.tolist() == whole.cells.tolist()
    assert total.counts.tolist() == whole.counts.tolist()


def test_bags_of_fewer_digits_are_those_of_fewer_bags() -> None:
    sets, keys = sides_of(1, 600), row_keys(0, 600)
    table = count_by_bag(sets, keys, width=8)
    numbers, bags = bags_of_cells(table)
    assert bags == 256
    found = np.bincount(numbers, table.counts, minlength=256)
    assert (found == np.bincount(bag_of(keys, 256), minlength=256)).all()
    assert of_table(table.without(BAG)) == of_table(ContingencyTable.from_labels(sets))
