"""Counts between 1,001 thresholds: those of a loop over records, compiled or not, cut or not, saved or not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from biasamp.counts.fixed import floats
from biasamp.counts.reliability import BINS
from biasamp.counts.score_tables import ScoreTables
from biasamp.counts.threshold_counts import GRID, MOST_STEPPED, ScoreBins, ThresholdCounts, count_scores, place_on_grid
from biasamp.data.scores import read_scored


def records(n: int = 500, overlapping: bool = False, weights: str = "none", seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    given = rng.integers(2, size=(n, 2)) if overlapping else rng.choice(["a", "b", "c"], n)
    truth = rng.integers(2, size=(n, 2))
    on_grid = rng.integers(0, 1001, (n, 2)) / 1000
    near = np.clip(np.nextafter(on_grid, rng.choice([-1.0, 2.0], (n, 2))), 0, 1)
    scores = np.where(rng.random((n, 2)) < 0.3, on_grid, np.where(rng.random((n, 2)) < 0.5, near, rng.random((n, 2))))
    own = {"none": None, "whole": rng.integers(0, 4, n), "real": rng.random(n)}[weights]
    return read_scored(given, truth, scores, weights=own).scored


def test_a_threshold_is_the_start_of_its_step() -> None:
    np.testing.assert_array_equal(place_on_grid(GRID), np.arange(1001))
    below = np.nextafter(GRID[1:], 0.0)
    np.testing.assert_array_equal(place_on_grid(below), np.arange(1000))


@pytest.mark.parametrize("overlapping", [False, True])
@pytest.mark.parametrize("weights", ["none", "whole", "real"])
def test_counts_are_those_of_a_loop(overlapping: bool, weights: str) -> None:
    held = records(overlapping=overlapping, weights=weights)
    counts, _ = count_scores(held)
    assert counts is not None
    own = np.ones(len(held)) if held.weights is None else held.weights.astype(float)
    member = np.column_stack([held.given.rows(), np.ones(len(held))]).astype(bool)
    one, scores = held.truth.rows(), held.predicted.rows()
    for label in range(2):
        above, squared = counts.above(label), counts.above(label, power=2)
        for k in (0, 1, 290, 500, 777, 1000):
            for g in range(member.shape[1]):
                for truth in (0, 1):
                    mine = member[:, g] & (scores[:, label] >= GRID[k]) & (one[:, label] == truth)
                    assert above[g, k, truth] == pytest.approx(own[mine].sum(), abs=1e-9)
                    assert squared[g, k, truth] == pytest.approx((own[mine] ** 2).sum(), abs=1e-9)
        assert not above[:, 1001].any()


def test_compiled_counts_are_the_same() -> None:
    pytest.importorskip("numba")
    for overlapping in (False, True):
        held = records(overlapping=overlapping, seed=1)
        plain = count_scores(held)
        decided = replace(held, predicted=held.truth)
        strata = np.arange(len(held)) % 7
        _, compiled = ScoreTables.of_records(decided, held.predicted, strata, 7, 64, accelerate=True)
        assert plain[0] is not None
        assert compiled[0] is not None
        np.testing.assert_array_equal(floats(plain[0].held), floats(compiled[0].held))
        for name in ("n", "truth", "scores", "squared"):
            one, two = (floats(getattr(found[1], name)) for found in (plain, compiled))
            np.testing.assert_array_equal(one, two)
            assert one.shape[-1] == BINS


def test_parts_add_up_and_are_saved() -> None:
    for weights in ("none", "real"):
        held = records(weights=weights, seed=2)
        whole, _ = count_scores(held)
        assert whole is not None
        held = replace(held, ids=held.keys)
        parts = [count_scores(held.take(rows))[0] for rows in (np.arange(200), np.arange(200, 500))]
        both = parts[0] + parts[1]  # type: ignore[operator]
        arrays: dict[str, Any] = {}
        both.put(arrays)
        again = ThresholdCounts.get(arrays)
        assert again is not None
        np.testing.assert_array_equal(floats(again.held), floats(whole.held))
        for label in range(2):
            np.testing.assert_array_equal(again.above(label, 2), whole.above(label, 2))
    few = whole.only(np.array([True, False, True]), np.array([False, True]))
    np.testing.assert_array_equal(floats(few.held), floats(whole.held)[[0, 2, 3]][:, [1]])


def test_classes_have_no_thresholds() -> None:
    import biasamp

    rng = np.random.default_rng(3)
    chances = rng.dirichlet([1, 1, 1], 50)
    held = read_scored(
        rng.choice(["a", "b"], 50),
        rng.choice(["x", "y", "z"], 50),
        biasamp.categorical(chances, categories=list("xyz")),
    ).scored
    counts, reliability = count_scores(held)
    assert counts is None
    assert floats(reliability.n).sum() == 150


def test_records_whose_truth_is_missing_say_nothing_of_scores() -> None:
    from biasamp.counts.reliability import ReliabilityCounts
    from biasamp.data import Dense, LabelSet

    held = records(seed=4)
    there = np.ones((500, 2), dtype=bool)
    there[:100, 0] = False
    truth = LabelSet((Dense(held.truth.variables, held.truth.rows() * there, there),))
    gone = ReliabilityCounts.of_records(replace(held, truth=truth))
    kept = ReliabilityCounts.of_records(held.take(np.arange(100, 500)))
    np.testing.assert_array_equal(floats(gone.n)[:, 0], floats(kept.n)[:, 0])
    np.testing.assert_array_equal(floats(gone.truth)[:, 0], floats(kept.truth)[:, 0])


def test_sums_of_steps_are_known_modulo_two_to_the_64() -> None:
    # Scores just below the end of a step, as many as may be added at once: their sum is far beyond 64 bits.
    score = np.nextafter(0.7, 0.0)
    n, unit = MOST_STEPPED, int(score * 2**52)
    bins = ScoreBins.zeros(2, 1)
    steps, sums = bins.nothing()
    steps[2 * 699 + 1], sums[699] = n, np.uint64(n * unit % 2**64).view(np.int64)
    steps[2 * (1001 + 1000)], sums[1001 + 1000] = 3, 3 << 52
    bins.add(0, steps, sums)
    bins.add(0, steps, sums)
    thresholds, _ = bins.counts(everyone=True)
    assert thresholds.held[0, 0, 699, 1] == 2 * n
    found = [[int(high) * 2**26 + int(low) for high, low in row] for row in bins.sums.tolist()]
    assert found == [[0] * 6 + [2 * n * unit] + [0] * 3, [0] * 9 + [6 << 52]]
