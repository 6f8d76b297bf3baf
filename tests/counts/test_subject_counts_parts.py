"""The counts of one attribute: taken apart and put together again, added, and limits of what is kept."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts import subject_counts
from biasamp.counts.subject_counts import SubjectCounts, add_cells, subject_arrays, subject_of
from biasamp.counts.tables import PAIR
from evaluations import bits, floats

N = 60
rng = np.random.default_rng(0)
DATA: dict[str, Any] = {
    "g": rng.choice(["w", "m"], N).tolist(),
    "h": rng.choice(["w", "m"], N).tolist(),
    "t": rng.integers(0, 2, N).tolist(),
    "p": rng.integers(0, 2, N).tolist(),
    "s": (rng.integers(0, 65, N) / 64).tolist(),
    "w": rng.integers(1, 4, N).tolist(),
    "id": list(range(N)),
}
CASES: dict[str, dict[str, Any]] = {
    "hard": {},
    "both ways": {"attribute_predictions": "h"},
    "soft": {"task_predictions": "s"},
    "weighted": {"weights": "w", "attribute_predictions": "h"},
    "train": {"train": {"g": ["w", "m", "w"], "t": [0, 1, 1]}},
}


def subject(case: str, rows: Any = slice(None)) -> SubjectCounts:
    roles = {"attributes": "g", "tasks": "t", "task_predictions": "p", "record": "id", **CASES[case]}
    made: Any = biasamp.count({name: values[rows] for name, values in DATA.items()}, **roles)
    held: SubjectCounts = made.subjects[0]
    return held


def same(one: SubjectCounts, two: SubjectCounts) -> None:
    assert (one.attribute, one.A, one.T) == (two.attribute, two.A, two.T)
    assert {side: sizes.tolist() for side, sizes in one.sizes.items()} == {
        side: sizes.tolist() for side, sizes in two.sizes.items()
    }
    for kind in ("pairs", "cells", "by_bag"):
        mine, theirs = getattr(one, kind), getattr(two, kind)
        assert mine.keys() == theirs.keys()
        for way in mine:
            assert bits(mine[way]) == bits(theirs[way]), (kind, way)
    for name in ("mals", "train", "train_cells", "moments"):
        mine, theirs = getattr(one, name), getattr(two, name)
        assert (mine is None) is (theirs is None), name
        assert bits(mine) == bits(theirs), name
    assert one.why.keys() == two.why.keys()


@pytest.mark.parametrize("case", CASES)
def test_taken_apart_and_put_together(case: str) -> None:
    held = subject(case)
    header, arrays = subject_arrays(held)
    assert header["attribute"] == "g"
    assert header["moments"] == len(held.moments or ())
    assert header["cells"] == sorted(held.cells)
    same(subject_of(header, arrays), held)
    assert repr(held) == f"<counts of 'g': 2 groups x {len(held.sizes['T'])} tasks>"
    # Files of before had neither bags of combinations nor sums of squares.
    before = {name: part for name, part in header.items() if name not in ("by bag", "moments", "why")}
    old = subject_of(before, arrays)
    assert (dict(old.by_bag), old.moments, dict(old.why)) == ({}, None, {})
    bare = replace(held, cells=dict.fromkeys(held.cells), by_bag=dict.fromkeys(held.by_bag))
    same(subject_of(*subject_arrays(bare)), bare)


@pytest.mark.parametrize("case", CASES)
def test_sums(case: str) -> None:
    one, two, whole = subject(case, slice(0, 25)), subject(case, slice(25, N)), subject(case)
    both = one + two
    assert {side: sizes.tolist() for side, sizes in both.sizes.items()} == {
        side: sizes.tolist() for side, sizes in whole.sizes.items()
    }
    for way in whole.pairs:
        for name in (*PAIR, "squared"):
            assert (
                floats(getattr(both.pairs[way].whole, name)).tolist()
                == floats(getattr(whole.pairs[way].whole, name)).tolist()
            )
        assert bits(both.cells.get(way)) == bits(whole.cells.get(way))
        assert bits(both.by_bag.get(way)) == bits(whole.by_bag.get(way))
    assert bits(both.moments) == bits(whole.moments)
    assert (both.mals is None) is (whole.mals is None)
    if both.mals is not None and whole.mals is not None:
        for mine, theirs in zip(both.mals, whole.mals, strict=True):
            assert floats(mine.whole.joint).tolist() == floats(theirs.whole.joint).tolist()
    # Train labels are counted once.
    assert both.train is one.train
    assert both.train_cells is one.train_cells
    assert one.__add__(3) is NotImplemented  # type: ignore[operator]
    assert (replace(one, mals=None) + two).mals is None
    assert (one + replace(two, mals=None)).mals is None
    # Without combinations there are none by bag either.
    gone = one + replace(two, cells=dict.fromkeys(two.cells))
    assert all(table is None for table in (*gone.cells.values(), *gone.by_bag.values()))
    turned = whole.shuffled(4)
    for way in whole.pairs:
        assert turned.pairs[way].numbers.tolist() == whole.pairs[way].shuffled(4).numbers.tolist()
    assert bits(turned.cells) == bits(whole.cells)


def test_weights_that_are_too_large() -> None:
    held = subject("weighted")
    bags = held.pairs["A->T"]
    large = replace(bags, counts=replace(bags.counts, squared=np.array([1 << 62])))
    one = replace(held, pairs={**held.pairs, "A->T": large})
    assert (one + held).pairs["A->T"].counts.squared.tolist() != [0]
    with pytest.raises(
        ValueError, match="weights are too large to be summed exactly: multiply them all by one constant"
    ):
        _ = one + one


def test_combinations_that_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two = (subject("hard", part).cells["A->T"] for part in (slice(0, 25), slice(25, N)))
    both = add_cells(one, two)
    assert both is not None
    monkeypatch.setattr(subject_counts, "MOST_COMBINATIONS", len(both.cells))
    assert add_cells(one, two) is not None
    monkeypatch.setattr(subject_counts, "MOST_COMBINATIONS", len(both.cells) - 1)
    assert add_cells(one, two) is None
    assert add_cells(None, two) is None
    assert add_cells(one, None) is None
