"""Tables of scores in parts: shuffled and added, some labels, saved, strata without records; which way they are counted."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts import score_tables, threshold_counts
from biasamp.counts.bagging import bag_of_record, shuffled_numbers
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.score_tables import ScoreTables, _in_order, fits
from biasamp.counts.tables import PAIR
from biasamp.data import Codes, Dense, Evaluation, LabelSet, Variable


def one_of(codes: Any, width: int) -> LabelSet:
    variable = Variable("a", "categorical", tuple(f"c{i}" for i in range(width)))
    return LabelSet((Codes((variable,), np.asarray(codes), True),))


def several(values: Any, there: Any = None) -> LabelSet:
    values = np.asarray(values)
    values = values if values.dtype.kind == "f" else values.astype(np.uint8)
    return LabelSet((Dense(tuple(Variable(f"t{i}", "binary") for i in range(values.shape[1])), values, there),))


def records(seed: int = 0, n: int = 90, overlapping: bool = False) -> tuple[Evaluation, LabelSet, Any]:
    rng = np.random.default_rng(seed)
    given = several(rng.integers(0, 2, (n, 2))) if overlapping else one_of(rng.integers(0, 2, n), 2)
    truth, said = rng.integers(0, 2, (2, n, 3))
    scores = several(rng.integers(0, 65, (n, 3)) / 64.0)
    # A stratum without records is in the middle, and one at the end.
    return Evaluation(given, several(truth), several(said)), scores, rng.choice([0, 2], n)


def by_record(e: Evaluation, mine: Any) -> dict[str, Any]:
    """Pair counts of some records."""
    g, t, p = (side.rows().astype(float)[mine] for side in (e.given, e.truth, e.predicted))
    joints = {"joint_truth": g.T @ t, "joint_predicted": g.T @ p, "joint_both": g.T @ (t * p)}
    margins = {
        "n": [[len(g)]],
        "given": g.sum(axis=0)[:, None],
        "truth": t.sum(axis=0)[None],
        "predicted": p.sum(axis=0)[None],
    }
    return {**margins, **joints}


def check(held: BagCounts, e: Evaluation, mine: Any, bag: Any) -> None:
    whole = by_record(e, mine)
    for name in PAIR:
        np.testing.assert_array_equal(floats(getattr(held.whole, name)), whole[name], err_msg=name)
    assert held.counts.records == held.whole.records == len(mine)
    assert held.numbers.tolist() == sorted(set(bag[mine].tolist()))
    for row, number in enumerate(held.numbers.tolist()):
        part = by_record(e, mine[bag[mine] == number])
        for name in PAIR:
            np.testing.assert_array_equal(floats(getattr(held.counts, name))[row], part[name], err_msg=name)
    agreeing = (e.truth.rows().astype(float) * e.predicted.rows())[mine].sum(axis=0)
    np.testing.assert_array_equal(floats(held.agreeing), agreeing)
    assert held.soft is e.predicted.soft
    # Squared differences, from which errors follow.
    t, p, g = (side.rows().astype(float)[mine] for side in (e.truth, e.predicted, e.given))
    for found, power in zip(held.whole.moments(), (0, 1, 2), strict=True):
        np.testing.assert_allclose(np.broadcast_to(found, (2, 3)), g.T @ (p - t) ** power, atol=1e-12)


BAGS = 16


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("turned", [None, 3])
def test_strata_and_all_records(overlapping: bool, accelerate: bool, turned: int | None) -> None:
    if accelerate:
        pytest.importorskip("numba")
    decided, scores, codes = records(1, overlapping=overlapping)
    tables, _ = ScoreTables.of_records(decided, scores, codes, 4, BAGS, accelerate)
    bag = bag_of_record(decided, BAGS)
    if turned is not None:
        tables = tables.shuffled(turned)
        moved, old = shuffled_numbers(np.arange(BAGS), BAGS, turned)
        place = np.empty(BAGS, dtype=int)
        place[old] = moved
        bag = place[bag]
    lots = [
        decided,
        Evaluation(decided.given, decided.truth, scores),
        Evaluation(decided.given, scores, decided.predicted),
    ]
    sizes = [int((codes == stratum).sum()) for stratum in range(4)]
    assert tables.records.tolist() == sizes
    every = tables.all_strata
    assert every.stratum.tolist() == np.repeat(np.arange(4), np.diff(every.edges)).tolist()
    for kind, lot in enumerate(lots):
        check(tables.everything[kind], lot, np.arange(90), bag)
        for stratum in (0, 2):
            mine = np.flatnonzero(codes == stratum)
            check(tables.stratum(stratum)[kind], lot, mine, bag)
            whole = by_record(lot, mine)
            for name in PAIR:
                np.testing.assert_array_equal(floats(getattr(every.kinds[kind], name))[stratum], whole[name])
        for stratum in (1, 3):
            assert tables.stratum(stratum)[kind].numbers.tolist() == []
            assert not floats(every.kinds[kind].n)[stratum].any()
    for stratum in (0, 2):
        rows = np.flatnonzero(every.stratum == stratum)
        mine = np.flatnonzero(codes == stratum)
        assert every.numbers[rows].tolist() == sorted(set(bag[mine].tolist()))
        for row, number in zip(rows, every.numbers[rows], strict=True):
            here = mine[bag[mine] == number]
            g, t, p = (side.rows().astype(float)[here] for side in (decided.given, decided.truth, decided.predicted))
            assert every.change[row].tolist() == (g.T @ (p - t)).tolist()
            assert every.size[row].tolist() == g.sum(axis=0).tolist()


def test_shuffled_twice_and_added() -> None:
    decided, scores, codes = records(2)
    tables, _ = ScoreTables.of_records(decided, scores, codes, 4, BAGS, False)
    twice = tables.shuffled(3).shuffled(8)
    settled = tables.shuffled(3)._settled.shuffled(8)._settled
    assert twice._settled.numbers.tolist() == settled.numbers.tolist()
    assert twice._settled.size.tolist() == settled.size.tolist()
    for name in twice.rows.tables:
        assert floats(twice._settled.rows.tables[name]).tolist() == floats(settled.rows.tables[name]).tolist()
    assert tables._settled is tables
    for one, two in ((tables.shuffled(3), tables), (tables, tables.shuffled(3)), (tables, tables)):
        both = one + two
        assert both.turned is None
        assert both.records.tolist() == (2 * tables.records).tolist()
        for kind in range(3):
            assert (
                floats(both.everything[kind].whole.joint_both).tolist()
                == (2 * floats(tables.everything[kind].whole.joint_both)).tolist()
            )
            first, second = (part.everything[kind] for part in (one, two))
            assert floats(both.everything[kind].counts.n).tolist() == floats((first + second).counts.n).tolist()
        assert floats(both.squares).tolist() == (2 * floats(tables.squares)).tolist()
    assert tables.__add__(3) is NotImplemented  # type: ignore[operator]


@pytest.mark.parametrize("turned", [False, True])
def test_some_labels_and_files(turned: bool) -> None:
    decided, scores, codes = records(3)
    tables, _ = ScoreTables.of_records(decided, scores, codes, 4, BAGS, False)
    tables = tables.shuffled(5) if turned else tables
    assert tables.only(np.array([True, True]), np.array([True] * 3)) is tables
    given, outcome = np.array([False, True]), np.array([True, False, True])
    few = tables.only(given, outcome)
    assert few.labels == (tables.labels[0][1:], (tables.labels[1][0], tables.labels[1][2]))
    for kind in range(3):
        expected = tables.everything[kind].only(given, outcome)
        for name in PAIR:
            assert (
                floats(getattr(few.everything[kind].counts, name)).tolist()
                == floats(getattr(expected.counts, name)).tolist()
            )
        assert floats(few.everything[kind].agreeing).tolist() == floats(expected.agreeing).tolist()
    assert floats(few.squares).tolist() == floats(tables.squares)[:, [1, 2]][:, :, [0, 2]].tolist()
    for one, all_labels in ((np.array([True, True]), outcome), (given, np.array([True] * 3))):
        assert tables.only(one, all_labels) is not tables
    arrays: dict[str, Any] = {}
    header = tables.put(arrays)
    assert header["strata"] == 4
    assert header["bags"] == BAGS
    back = ScoreTables.get(header, arrays)
    assert back.labels == tables.labels
    assert (back.strata, back.bags, back.turned) == (4, BAGS, None)
    assert back.records.tolist() == tables.records.tolist()
    for place in range(4):
        for one_kind, two_kind in zip(back.stratum(place), tables.stratum(place), strict=True):
            assert one_kind.numbers.tolist() == two_kind.numbers.tolist()
            for name in PAIR:
                assert (
                    floats(getattr(one_kind.counts, name)).tolist() == floats(getattr(two_kind.counts, name)).tolist()
                )
    assert isinstance(back.squares, Fixed)


def test_records_that_tables_are_for() -> None:
    decided, scores, _ = records()
    assert fits(decided, scores)
    there = np.ones((90, 3), dtype=bool)
    there[0, 0] = False
    assert not fits(Evaluation(decided.given, decided.truth, decided.predicted, np.ones(90)), scores)
    assert not fits(Evaluation(decided.given, several(decided.truth.rows(), there), decided.predicted), scores)
    assert not fits(decided, several(scores.rows(), there))
    for side in range(3):
        sides: list[LabelSet] = [decided.given, decided.truth, decided.predicted]
        sides[side] = several(np.full((90, sides[side].width), 0.5))
        assert not fits(Evaluation(*sides), scores)


def test_scores_that_are_decisions() -> None:
    decided, scores, codes = records()
    assert not ScoreTables.of_records(decided, scores, codes, 4, BAGS, False)[0].hard
    sure = several(decided.truth.rows() * 1.0)
    assert ScoreTables.of_records(decided, sure, codes, 4, BAGS, False)[0].hard
    one = decided.truth.rows() * 1.0
    one[3, 1] = 0.5
    assert not ScoreTables.of_records(decided, several(one), codes, 4, BAGS, False)[0].hard


def test_numba_counts_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A score costs four times what a label does."""
    decided, scores, codes = records()
    asked: list[tuple[int, Any]] = []
    monkeypatch.setattr(
        score_tables, "worth_compiling", lambda work, accelerate: asked.append((work, accelerate)) or False
    )
    ScoreTables.of_records(decided, scores, codes, 4, BAGS)
    assert asked == [(4 * 90 * 3, None)]


@pytest.mark.parametrize("overlapping", [False, True])
def test_scores_of_too_many_pairs_for_bins(overlapping: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """These have no thresholds, and their reliability is counted apart."""
    decided, scores, codes = records(4, overlapping=overlapping)
    tables, (thresholds, reliability) = ScoreTables.of_records(decided, scores, codes, 4, BAGS, False)
    assert thresholds is not None
    # Three given labels with everyone, times three outcomes.
    monkeypatch.setattr(threshold_counts, "MOST_PAIRS", 8)
    again, (none, apart) = ScoreTables.of_records(decided, scores, codes, 4, BAGS, False)
    assert none is None
    for name in ("n", "truth", "scores", "squared"):
        assert floats(getattr(apart, name)).tolist() == floats(getattr(reliability, name)).tolist()
    assert (
        floats(again.everything[1].whole.joint_both).tolist() == floats(tables.everything[1].whole.joint_both).tolist()
    )
    monkeypatch.setattr(threshold_counts, "MOST_PAIRS", 9)
    assert ScoreTables.of_records(decided, scores, codes, 4, BAGS, False)[1][0] is not None


def test_rows_in_another_order() -> None:
    values, order = np.arange(6).reshape(3, 2), np.array([2, 0, 1])
    assert _in_order(values, order).tolist() == [[4, 5], [0, 1], [2, 3]]
    zero = np.broadcast_to(np.int64(0), (3, 2))
    assert _in_order(zero, order) is zero
    fixed = _in_order(Fixed(zero, values, values), order)
    assert fixed.whole is zero
    assert fixed.high.tolist() == fixed.low.tolist() == [[4, 5], [0, 1], [2, 3]]
