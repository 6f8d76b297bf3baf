"""Scores in order, and sums of those at or above each."""

from __future__ import annotations

from math import inf, nextafter

import numpy as np
import pytest

from biasamp.amplification import ranked_scores as module
from biasamp.amplification.ranked_scores import ascending, at_or_above, edges_of, thresholds_of


@pytest.mark.parametrize("worth", [0, 40, 41, 1 << 14])
@pytest.mark.parametrize("kind", ["ties", "wide", "negative", "one", "infinite", "huge"])
def test_the_order_is_stable(worth: int, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ties stay as they came, by buckets or not."""
    rng = np.random.default_rng(1)
    scores = {
        "ties": np.round(rng.random(40), 1),
        "wide": rng.normal(size=40) * 1e9,
        "negative": -rng.integers(0, 5, 40).astype(float),
        "one": np.full(40, 0.25),
        "infinite": np.r_[rng.random(38), inf, -inf],
        "huge": np.r_[rng.random(38), 1e308, -1e308],
    }[kind]
    monkeypatch.setattr(module, "_WORTH_BUCKETS", worth)
    with np.errstate(over="ignore", invalid="ignore"):
        order, ranked = ascending(scores.copy())
    assert order.tolist() == sorted(range(40), key=lambda i: (scores[i], i))
    assert ranked.tolist() == sorted(scores.tolist())


def test_many_scores_are_ordered_too() -> None:
    scores = np.round(np.random.default_rng(2).random(20_000), 3)
    before = scores.copy()
    order, ranked = ascending(scores)
    np.testing.assert_array_equal(order, np.argsort(scores, kind="stable"))
    np.testing.assert_array_equal(ranked, np.sort(scores))
    np.testing.assert_array_equal(scores, before)


@pytest.mark.parametrize("ranked", [[0.1, 0.1, 0.4, 0.7, 0.7], [0.1, 0.2, 0.3], [0.5], [0.5, 0.5]])
def test_sums_from_each_distinct_score_on(ranked: list[float]) -> None:
    held = np.array(ranked)
    edges, distinct = edges_of(held), sorted(set(ranked))
    assert edges.tolist() == [*(ranked.index(score) for score in distinct), len(ranked)]
    assert thresholds_of(held, edges).tolist() == [*distinct, nextafter(ranked[-1], inf)]
    weights = np.arange(1.0, len(ranked) + 1) / 4
    flags = np.arange(len(ranked)) % 2 == 0
    for values, kind in ((weights, "f"), (flags, "i")):
        found = at_or_above(values, edges)
        assert found.dtype.kind == kind
        assert found.tolist() == [sum(values[held >= at]) for at in [*distinct, inf]]
