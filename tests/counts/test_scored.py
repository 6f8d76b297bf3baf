"""Sums of scores by place against the sums of fractions that other kernels make."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts import pair, tables
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import Fixed
from biasamp.counts.pair import PairCounts
from biasamp.data import Codes, Dense, Evaluation, LabelSet, Variable


def same(one: Any, two: Any) -> bool:
    """Whether sums are the same to the bit."""
    if isinstance(one, tuple):
        return all(same(a, b) for a, b in zip(one, two, strict=True))
    if not isinstance(one, Fixed):
        return bool(np.array_equal(one, two))
    one, two = one.carried(), two.carried()
    return all(np.array_equal(getattr(one, limb), getattr(two, limb)) for limb in ("whole", "high", "low"))


@pytest.mark.parametrize("seed", range(12))
def test_scores_are_summed_to_the_bit(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(seed)
    records, groups, width = 30 + 90 * seed, 1 + seed % 4, 1 + seed % 3
    categories = tuple(str(i) for i in range(groups))
    given = Codes((Variable("a", "categorical", categories),), rng.integers(0, groups, records))
    names = tuple(Variable(f"t{i}", "binary") for i in range(width))
    scores = rng.random((records, width))
    scores[rng.random(scores.shape) < 0.2] = 1.0
    scores[rng.random(scores.shape) < 0.2] = 0.0
    truth = (rng.random(scores.shape) < scores).astype(np.uint8)
    blocks = given, Dense(names, truth), Dense(names, scores if seed % 2 else scores.round(2))
    evaluation = Evaluation(*(LabelSet((block,)) for block in blocks))
    quick, whole = BagCounts.from_labels(evaluation), PairCounts.from_labels(evaluation)
    for module in (tables, pair):
        monkeypatch.setattr(module, "scored_places", lambda *_: None)
    slow, all_slow = BagCounts.from_labels(evaluation), PairCounts.from_labels(evaluation)
    assert same(quick.agreeing, slow.agreeing)
    for one, two in ((quick.counts, slow.counts), (whole, all_slow), (quick.whole, all_slow)):
        for name in (*tables.PAIR, "squared", "spread"):
            assert same(getattr(one, name), getattr(two, name)), name
