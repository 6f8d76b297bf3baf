"""Sums of decisions and scores by stratum and bag: those of pair counts of every stratum, compiled or not, cut or not."""

from __future__ import annotations

import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from biasamp.counts import score_cells
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.score_tables import ScoreTables
from biasamp.counts.strata import count_strata
from biasamp.counts.tables import PAIR
from biasamp.data import Dense, LabelSet
from biasamp.data.scores import read_scored

BAGS = 512


def records(n: int = 700, overlapping: bool = False, seed: int = 0) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    given = rng.integers(2, size=(n, 2)) if overlapping else rng.choice(["a", "b", "c"], n)
    truth = rng.integers(2, size=(n, 3))
    scores = np.where(rng.random((n, 3)) < 0.2, np.round(rng.random((n, 3)), 1), rng.random((n, 3)))
    held = read_scored(given, truth, scores)
    return held.decided, held.scored.predicted, rng.integers(4, size=n)


def same(mine: Any, theirs: Any, exact: bool = True) -> None:
    assert mine.bags == theirs.bags
    np.testing.assert_array_equal(mine.numbers, theirs.numbers)
    for name in PAIR:
        one, two = (floats(getattr(held.counts, name)) for held in (mine, theirs))
        np.testing.assert_array_equal(one, np.broadcast_to(two, one.shape)) if exact else np.testing.assert_allclose(
            one, two
        )
    for one, two in zip(mine.whole.moments(), theirs.whole.moments(), strict=True):
        np.testing.assert_allclose(one, two, atol=1e-11)
    np.testing.assert_allclose(floats(mine.agreeing), floats(theirs.agreeing), atol=1e-12)


@pytest.mark.parametrize("overlapping", [False, True])
def test_strata_are_those_of_pair_counts(overlapping: bool) -> None:
    decided, scores, codes = records(overlapping=overlapping)
    tables, _ = ScoreTables.of_records(decided, scores, codes, 5, BAGS)
    lots = [decided, replace(decided, predicted=scores), replace(decided, truth=scores)]
    for kind, lot in enumerate(lots):
        for place, theirs in enumerate(count_strata(lot, codes, 5, BAGS)):
            same(tables.stratum(place)[kind], theirs)
        (whole,) = count_strata(lot, np.zeros(len(codes), dtype=np.int64), 1, BAGS)
        same(tables.everything[kind], whole)


def test_compiled_sums_are_the_same_to_the_bit() -> None:
    pytest.importorskip("numba")
    decided, scores, codes = records(seed=1)
    plain, _ = ScoreTables.of_records(decided, scores, codes, 4, BAGS, accelerate=False)
    quick, _ = ScoreTables.of_records(decided, scores, codes, 4, BAGS, accelerate=True)
    for place in range(4):
        for one, two in zip(plain.stratum(place), quick.stratum(place), strict=True):
            same(one, two)


@pytest.mark.parametrize("overlapping", [False, True])
def test_two_cuts_at_once_are_one_and_another(overlapping: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numba")
    # Rows are turned to columns a few at a time.
    monkeypatch.setattr(score_cells, "_COPIED", 150)
    decided, scores, codes = records(overlapping=overlapping, seed=4)
    cuts = [(codes, 4, BAGS), (codes * 0, 1, 2 * BAGS)]
    both, _, pairs = ScoreTables.of_cuts(decided, scores, cuts, accelerate=True, decided=4 * BAGS)
    assert (pairs is None) is overlapping
    if pairs is not None:
        theirs = BagCounts.from_labels(decided, 4 * BAGS, by_row=False)
        assert pairs.counts.records == theirs.counts.records
        assert pairs.soft == theirs.soft
        same(pairs, theirs)
        same(pairs.laid_out(), theirs.laid_out())
    for made, cut in zip(both, cuts, strict=True):
        alone, _ = ScoreTables.of_records(decided, scores, *cut, accelerate=False)
        sent = pickle.loads(pickle.dumps(made))
        np.testing.assert_array_equal(made.all_strata.change, alone.all_strata.change)
        for place in range(cut[1]):
            for one, two, three in zip(*(held.stratum(place) for held in (made, alone, sent)), strict=True):
                same(one, two)
                same(three, two)


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("accelerate", [False, True])
def test_sums_of_many_records_in_one_cell(overlapping: bool, accelerate: bool) -> None:
    if accelerate:
        pytest.importorskip("numba")
    # More of them than fit into 64 bits at once.
    decided, scores, codes = records(5000, overlapping)
    ones = LabelSet((Dense(scores.variables, np.ones((5000, 3))),))
    tables, (_, reliability) = ScoreTables.of_records(decided, ones, codes * 0, 1, 2, accelerate=accelerate)
    np.testing.assert_array_equal(floats(reliability.scores), floats(reliability.n))
    scored = tables.rows.tables["scores"]
    np.testing.assert_array_equal(floats(scored[:, -1]).sum(axis=0), [5000.0] * 3)
    np.testing.assert_array_equal(floats(tables.squares[0, -1]), [5000.0] * 3)
    np.testing.assert_array_equal(floats(scored), np.broadcast_to(floats(tables.size), scored.shape))


def test_parts_add_up_and_bags_shuffle() -> None:
    decided, scores, codes = records(seed=2)
    whole, _ = ScoreTables.of_records(decided, scores, codes, 4, BAGS)
    decided = replace(decided, ids=decided.keys)
    halves = []
    for rows in (np.arange(300), np.arange(300, 700)):
        halves.append(ScoreTables.of_records(decided.take(rows), scores.take(rows), codes[rows], 4, BAGS)[0])
    both = halves[0] + halves[1]
    for place in range(4):
        for one, two, turned in zip(
            both.stratum(place), whole.stratum(place), whole.shuffled(7).stratum(place), strict=True
        ):
            same(one, two)
            same(turned, two.shuffled(7))
    given, outcome = np.array([True, False, True]), np.array([False, True, True])
    for one, two in zip(whole.only(given, outcome).stratum(1), whole.stratum(1), strict=True):
        same(one, two.only(given, outcome))


def test_scores_of_0_and_1_are_known() -> None:
    decided, scores, codes = records(seed=3)
    assert not ScoreTables.of_records(decided, scores, codes, 4, BAGS)[0].hard
    assert ScoreTables.of_records(decided, decided.predicted, codes, 4, BAGS)[0].hard
