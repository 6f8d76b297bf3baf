"""Counts of strata: how many bags, with scores and without, gaps that take records out together, sums and files."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts import why_counts
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.strata import all_strata, count_strata
from biasamp.counts.tables import PAIR
from biasamp.counts.why_counts import WhyCounts, bags_of_strata, count_parts
from biasamp.data import Codes, Dense, Evaluation, LabelSet, Variable


def one_of(codes: Any, width: int) -> LabelSet:
    variable = Variable("a", "categorical", tuple(f"c{i}" for i in range(width)))
    return LabelSet((Codes((variable,), np.asarray(codes), True),))


def several(values: Any, there: Any = None) -> LabelSet:
    values = np.asarray(values)
    values = values if values.dtype.kind == "f" else values.astype(np.uint8)
    return LabelSet((Dense(tuple(Variable(f"t{i}", "binary") for i in range(values.shape[1])), values, there),))


def records(seed: int = 0, n: int = 80, weights: bool = False) -> tuple[Evaluation, LabelSet, Any]:
    rng = np.random.default_rng(seed)
    truth, said = rng.integers(0, 2, (2, n, 2))
    own = rng.integers(1, 4, n) if weights else None
    e = Evaluation(one_of(rng.integers(0, 2, n), 2), several(truth), several(said), own)
    return e, several(rng.integers(0, 65, (n, 2)) / 64.0), rng.choice([0, 2], n)


def same(one: BagCounts, two: BagCounts) -> None:
    assert one.bags == two.bags
    assert one.numbers.tolist() == two.numbers.tolist()
    for name in PAIR:
        first, second = (floats(getattr(held.counts, name)) for held in (one, two))
        np.testing.assert_array_equal(first, np.broadcast_to(second, first.shape), err_msg=name)
    np.testing.assert_array_equal(floats(one.agreeing), floats(two.agreeing))
    for first, second in zip(one.whole.moments(), two.whole.moments(), strict=True):
        np.testing.assert_allclose(np.broadcast_to(first, second.shape), second, atol=1e-12)


def all_same(one: Any, two: Any) -> None:
    for first, second in zip(one, two, strict=True):
        same(first, second)


NAMES = ("low", "middle", "high")


def lots(e: Evaluation, scores: LabelSet) -> list[Evaluation]:
    return [e, Evaluation(e.given, e.truth, scores, e.weights), Evaluation(e.given, scores, e.predicted, e.weights)]


def test_so_many_bags() -> None:
    """A quarter of what all records have, fewer where rows are many, and at least 256 or the two halves."""
    assert bags_of_strata(1, 4) == 4096
    assert bags_of_strata(1, 256) == 4096
    assert bags_of_strata(1, 257) == 2048
    assert bags_of_strata(6, 4) == 4096
    assert bags_of_strata(7, 4) == 2048
    assert bags_of_strata(12, 4) == 2048
    assert bags_of_strata(13, 4) == 1024
    assert bags_of_strata(96, 4) == 256
    assert bags_of_strata(97, 4) == 256
    assert bags_of_strata(1000, 4) == 256
    assert bags_of_strata(1, 4096) == 256
    assert bags_of_strata(1, 4097) == 2


@pytest.mark.parametrize("weights", [False, True])
def test_every_stratum(weights: bool) -> None:
    e, scores, codes = records(weights=weights)
    made = WhyCounts.of_records(e, scores, NAMES, codes)
    # Weighted records have lots, others tables; the figures are those of each stratum alone.
    assert (made.tables is None) is weights
    assert made.scored
    assert made.stratified
    assert not made.hard
    expected = [count_strata(lot, codes, 3, 4096) for lot in lots(e, scores)]
    for place in range(3):
        all_same(made.triples[place], [held[place] for held in expected])
    all_same(made.whole, [all_strata(held) for held in expected])
    assert made.reliability is not None
    assert made.thresholds is not None
    turned = made.shuffled(3)
    all_same(turned.triples[0], [held[0].shuffled(3) for held in expected])
    keep = np.array([False, True]), np.array([True, False])
    few = made.only(*keep)
    all_same(few.triples[2], [held[2].only(*keep) for held in expected])
    assert few.reliability is not None
    assert floats(few.reliability.n).tolist() == floats(made.reliability.n)[1:, :1].tolist()
    assert few.thresholds is not None
    assert floats(few.thresholds.held).tolist() == floats(made.thresholds.held)[1:, :1].tolist()
    header, arrays = made.to_arrays()
    back = WhyCounts.from_arrays(header, arrays)
    assert back.strata == NAMES
    assert (back.tables is None) is weights
    for place in range(3):
        all_same(back.triples[place], made.triples[place])
    assert back.reliability is not None
    assert floats(back.reliability.scores).tolist() == floats(made.reliability.scores).tolist()
    assert back.thresholds is not None
    assert floats(back.thresholds.held).tolist() == floats(made.thresholds.held).tolist()


def test_without_scores_decisions_stand_for_all() -> None:
    e, _, codes = records(1)
    made = WhyCounts.of_records(e, None, NAMES, codes)
    expected = count_strata(e, codes, 3, 4096)
    assert not made.scored
    assert not made.hard
    assert made.tables is made.reliability is made.thresholds is None
    for place in range(3):
        assert made.triples[place][0] is made.triples[place][1] is made.triples[place][2]
        same(made.triples[place][0], expected[place])
    same(made.whole[2], all_strata(expected))
    back = WhyCounts.from_arrays(*made.to_arrays())
    assert not back.scored
    assert back.reliability is back.thresholds is None
    same(back.triples[2][0], expected[2])
    plain = WhyCounts.of_records(e, None)
    assert plain.strata == ("",)
    assert not plain.stratified
    same(plain.triples[0][0], BagCounts.from_labels(e, 4096))


@pytest.mark.parametrize("weights", [False, True])
def test_scores_of_0_and_1(weights: bool) -> None:
    e, scores, codes = records(2, weights=weights)
    assert not WhyCounts.of_records(e, scores, NAMES, codes).hard
    sure = e.truth if weights else several(e.truth.rows() * 1.0)
    assert WhyCounts.of_records(e, sure, NAMES, codes).hard


def test_sums() -> None:
    e, scores, codes = records(3)
    parts = np.arange(80) < 30, np.arange(80) >= 30
    keyed = [e.take(part) for part in parts]
    counts = [
        WhyCounts.of_records(one, scores.take(part), NAMES, codes[part]) for one, part in zip(keyed, parts, strict=True)
    ]
    whole = WhyCounts.of_records(e, scores, NAMES, codes)
    both = counts[0] + counts[1]
    for place in range(3):
        all_same(both.triples[place], whole.triples[place])
    assert floats(both.reliability.n).tolist() == floats(whole.reliability.n).tolist()  # type: ignore[union-attr]
    assert floats(both.thresholds.held).tolist() == floats(whole.thresholds.held).tolist()  # type: ignore[union-attr]
    # Tables and lots make lots.
    laid = WhyCounts(NAMES, tuple(counts[0].triples), None, counts[0].reliability, counts[0].thresholds)
    for mixed in (laid + counts[1], counts[1] + laid):
        assert mixed.tables is None
        for place in range(3):
            all_same(mixed.triples[place], whole.triples[place])
        assert floats(mixed.reliability.n).tolist() == floats(whole.reliability.n).tolist()  # type: ignore[union-attr]
    assert (laid + WhyCounts(NAMES, laid.lots)).reliability is None
    assert (laid + WhyCounts(NAMES, laid.lots)).thresholds is None
    assert (WhyCounts(NAMES, laid.lots) + laid).reliability is None
    with pytest.raises(ValueError, match="counts of different strata or scores do not add up"):
        _ = whole + WhyCounts.of_records(e, scores, ("a", "b", "c"), codes)
    with pytest.raises(ValueError, match="counts of different strata or scores do not add up"):
        _ = whole + WhyCounts.of_records(e, None, NAMES, codes)
    assert whole.__add__(3) is NotImplemented  # type: ignore[operator]


@pytest.mark.parametrize("side", ["truth", "predicted", "scores"])
def test_gaps_take_records_out_of_all_three(side: str) -> None:
    e, scores, codes = records(4)
    there = np.random.default_rng(5).random((80, 2)) < 0.7
    there[:5] = False
    sides = {"truth": e.truth, "predicted": e.predicted, "scores": scores}
    sides[side] = several(sides[side].rows() * there, there)
    made = WhyCounts.of_records(Evaluation(e.given, sides["truth"], sides["predicted"]), sides["scores"], NAMES, codes)
    assert made.tables is None
    all_gone = {name: several(labels.rows() * there, there) for name, labels in sides.items()}
    known = np.flatnonzero(there.any(axis=1))
    held = Evaluation(e.given, all_gone["truth"], all_gone["predicted"]).take(known)
    expected = [
        count_strata(lot, codes[known], 3, 4096)
        for lot in (
            held,
            *[
                Evaluation(held.given, *pair, None, held.ids)
                for pair in (
                    (held.truth, all_gone["scores"].take(known)),
                    (all_gone["scores"].take(known), held.predicted),
                )
            ],
        )
    ]
    for place in (0, 2):
        for one, held_lots in zip(made.triples[place], expected, strict=True):
            two = held_lots[place]
            assert one.numbers.tolist() == two.numbers.tolist()
            for name in PAIR:
                np.testing.assert_array_equal(floats(getattr(one.counts, name)), floats(getattr(two.counts, name)))


def test_pairs_in_the_same_look() -> None:
    e, scores, codes = records(6)
    for given_scores in (scores, None):
        made, pairs = WhyCounts.with_pairs(e, given_scores, NAMES, codes, holes=False, bags=1024)
        same(pairs, BagCounts.from_labels(e, 1024))
        all_same(made.triples[0], WhyCounts.of_records(e, given_scores, NAMES, codes).triples[0])
    # Where other parts may have holes, several labels are counted into lots.
    assert WhyCounts.of_records(e, scores, NAMES, codes, holes=True).tables is None
    one = Evaluation(e.given, one_of(np.zeros(80, dtype=int), 2), one_of(np.ones(80, dtype=int), 2))
    assert WhyCounts.of_records(one, several(np.full((80, 2), 0.5)), NAMES, codes, holes=True).tables is not None
    assert WhyCounts.of_records(e, scores, NAMES, codes, holes=False).tables is not None


def test_three_counts_of_all_records(monkeypatch: pytest.MonkeyPatch) -> None:
    e, scores, codes = records(7)
    expected = [BagCounts.from_labels(lot, 4096) for lot in lots(e, scores)]
    for strata, mine in (((), None), (NAMES, codes)):
        found = count_parts(e, scores, strata, mine)
        assert found is not None
        triple, inside, thresholds, reliability = found
        all_same(triple, expected)
        assert thresholds is not None
        assert floats(reliability.n).sum() == 160
        assert (inside is None) is (mine is None)
        if inside is not None:
            all_same(inside.triples[2], WhyCounts.of_records(e, scores, NAMES, codes).triples[2])
            assert inside.thresholds is thresholds
            assert inside.reliability is reliability
    assert count_parts(e, e.truth) is None
    weighted, scores, _ = records(7, weights=True)
    assert count_parts(weighted, scores) is None
    monkeypatch.setattr(why_counts, "bags_for", lambda pairs: 2 if pairs == 4 else 4096)
    assert count_parts(e, scores) is None


def test_strata_of_records() -> None:
    e, _, codes = records(8)
    codes = codes.copy()
    codes[:7] = -1
    held = count_strata(e, codes, 4, 512)
    assert len(held) == 4
    assert [part.counts.records for part in held] == [int((codes == place).sum()) for place in range(4)]
    for place in (0, 2):
        same(held[place], BagCounts.from_labels(e.take(np.flatnonzero(codes == place)), 512))
    assert count_strata(e, codes, 1)[0].bags == 4096
    # As many bags as fit for all strata together.
    assert count_strata(e, codes, 512)[0].bags == 2048
    assert count_strata(e, codes, 0) == ()
    assert all_strata(held).counts.records == 73
