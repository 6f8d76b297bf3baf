"""Counting codes against loops over records, and against the other kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts import tables
from biasamp.counts.kernels import coded
from biasamp.counts.tables import pair_tables
from biasamp.data import Codes, Dense, Evaluation, LabelSet, Variable

CASES = range(12)


def variable(name: str, size: int) -> Variable:
    return Variable(name, "categorical", tuple(str(i) for i in range(size)))


def by_loop(place: Any, places: int, truth: Any, predicted: Any) -> Any:
    """Sums of rows of 0 and 1, one record after another."""
    width = truth.shape[1]
    out = np.zeros((places, 3 * width + 1), dtype=np.int64)
    for here, one, held in zip(place, truth, predicted, strict=True):
        out[here] += np.concatenate([one, [1], held, one * held]).astype(np.int64)
    return out


def one_hot(codes: Any, width: int) -> Any:
    out = np.zeros((len(codes), width), dtype=np.uint8)
    out[np.flatnonzero(codes >= 0), codes[codes >= 0]] = 1
    return out


@pytest.mark.parametrize("seed", CASES)
def test_codes_are_counted_as_records_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        monkeypatch.setattr(coded, "_AT_ONCE", 1)
    places, width, records = int(rng.integers(1, 9)), int(rng.integers(1, 5)), int(rng.integers(0, 200))
    least = -1 if seed % 2 else 0
    place = rng.integers(0, places, records)
    truth, said = (rng.integers(least, width, records) for _ in range(2))
    found = coded.pairs_of_codes(place, places, truth, said, width)
    assert (found == by_loop(place, places, one_hot(truth, width), one_hot(said, width))).all()


@pytest.mark.parametrize("seed", CASES)
def test_columns_are_counted_as_records_are(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    if seed % 3 == 0:
        monkeypatch.setattr(coded, "_AT_ONCE", 1)
    places, width, records = int(rng.integers(1, 9)), int(rng.integers(1, 6)), int(rng.integers(0, 200))
    place = rng.integers(0, places, records)
    truth, said = ((rng.random((width, records)) < 0.4).astype(np.uint8) for _ in range(2))
    found = coded.pairs_of_columns(place, places, truth, said)
    assert (found == by_loop(place, places, truth.T, said.T)).all()


@pytest.mark.parametrize("seed", CASES)
def test_given_columns_are_counted_as_records_are(seed: int) -> None:
    rng = np.random.default_rng(seed)
    bags, width, labels, records = (int(rng.integers(1, high)) for high in (6, 4, 5, 200))
    bag = rng.integers(0, bags, records)
    given = (rng.random((labels, records)) < 0.4).astype(np.uint8)
    truth, said = (rng.integers(-1 if seed % 2 else 0, width, records) for _ in range(2))
    found = coded.pairs_given_columns(bag, bags, given, truth, said, width)
    hot = one_hot(truth, width), one_hot(said, width)
    for label in range(labels):
        mine = given[label].astype(bool)
        assert (found[:, label] == by_loop(bag[mine], bags, *(rows[mine] for rows in hot))).all()
    assert (found[:, -1] == by_loop(bag, bags, *hot)).all()


@pytest.mark.parametrize("seed", CASES)
@pytest.mark.parametrize("kind", ["codes", "columns", "given columns"])
def test_tables_are_those_of_the_other_kernels(seed: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    records = 500
    sparse = bool(seed % 2)
    one = Codes((variable("a", 3),), rng.integers(-1 if sparse else 0, 3, records), sparse=sparse)
    names = tuple(Variable(f"t{i}", "binary") for i in range(5))
    sides: list[Any] = [Dense(names, (rng.random((5, records)) < 0.3).astype(np.uint8).T) for _ in range(2)]
    if kind != "columns":
        sides = [Codes((variable("t", 4),), rng.integers(0, 4, records)) for _ in range(2)]
    left: Any = Dense(names, (rng.random((5, records)) < 0.3).astype(np.uint8).T) if kind == "given columns" else one
    evaluation = Evaluation(*(LabelSet((block,)) for block in (left, *sides)))
    bag = rng.integers(0, 64, records)
    quick, agreeing = pair_tables(evaluation, bag, 64)
    monkeypatch.setattr(tables, "_by_code", lambda *_: None)
    slow, agreed = pair_tables(evaluation, bag, 64, False)
    assert (np.asarray(agreeing) == agreed).all()
    for name, table in slow.items():
        assert (quick[name] == table).all(), name
        assert quick[name].shape == table.shape


def test_columns_are_turned_both_ways() -> None:
    rows = np.random.default_rng(0).integers(0, 2, (2000, 7)).astype(np.uint8)
    columns = coded.by_label(rows)
    assert columns.flags.c_contiguous
    assert (columns == rows.T).all()
    assert coded.by_label(columns.T).base is not None
    names = tuple(Variable(f"t{i}", "binary") for i in range(7))
    block = Dense(names, columns.T)
    assert block.rows(0, 2000).flags.c_contiguous
    assert (block.rows(5, 900) == rows[5:900]).all()
