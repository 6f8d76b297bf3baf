"""What bags of records keep of every pair: sums by loops over records, and plain values that come back the same."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts.bagging import bag_of
from biasamp.counts.bags import BagCounts
from biasamp.data.keys import row_keys
from biasamp.resampling import pair_bags
from biasamp.resampling.pair_bags import PairBags
from evaluations import make

N = 90
RNG = np.random.default_rng(6)
GROUP = RNG.integers(0, 3, N)
TRUTH = (RNG.random((N, 2)) < 0.4).astype(int)
SAID = np.where(RNG.random((N, 2)) < 0.3, 1 - TRUTH, TRUTH)
WEIGHTS = np.round(RNG.gamma(2.0, size=N), 3) + 0.1
SIGN = np.array([[1, -1], [0, 1], [-1, -1]], dtype=np.int8)
RATES = np.array([[0.2, 0.3], [0.4, 0.5], [0.6, 0.7]])


def made(weights: Any = None, rates: Any = None, bags: int = 4096) -> PairBags:
    found = PairBags.of(BagCounts.from_labels(make(GROUP, TRUTH, SAID, weights), bags), SIGN, rates)
    assert found is not None
    return found


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("rates", [None, RATES])
def test_sums_by_bag_are_those_of_their_records(weights: Any, rates: Any) -> None:
    found = made(weights, rates)
    w = np.ones(N) if weights is None else weights
    bag = bag_of(row_keys(0, N), 256)
    assert (found.moved.shape, found.size.shape) == ((256, 3, 2), (256, 3, 1))
    for g in range(3):
        there = g == GROUP
        sizes = np.bincount(bag[there], w[there], 256)
        assert found.size[:, g, 0] == pytest.approx(sizes)
        for o in range(2):
            change = SAID[:, o] - TRUTH[:, o] if rates is None else SAID[:, o]
            moved = np.bincount(bag[there], (w * change)[there], 256)
            assert found.moved[:, g, o] == pytest.approx(moved)
            mean = np.average(change[there], weights=w[there])
            against = 0.0 if rates is None else rates[g, o]
            assert found.delta[g, o] == pytest.approx(mean - against)
            assert found.against[g, o] == against
            assert found.total[g, o] == pytest.approx(w[there].sum())
            # How much a bag moves the change: what its records are apart from the mean.
            apart = np.bincount(bag[there], (w * (change - mean))[there], 256) / w[there].sum()
            assert found.influence()[:, g, o] == pytest.approx(apart, abs=1e-12)
            unit = (w**2).sum() / w.sum()
            assert found.unseen[g, o] == pytest.approx((unit / w[there].sum()) ** 2)
    assert found.unit == pytest.approx((w**2).sum() / w.sum())
    assert found.filled == len(set(bag.tolist()))
    assert found.sign.tolist() == SIGN.tolist()
    assert found.outcome == tuple(
        str(label) for label in BagCounts.from_labels(make(GROUP, TRUTH, SAID)).whole.outcome_labels
    )
    assert len(found.given) == 3


def test_a_group_without_records_moves_nothing() -> None:
    group = biasamp.categorical(GROUP, categories=[0, 1, 2, 3])
    counts = BagCounts.from_labels(make(group, TRUTH, SAID))
    found = PairBags.of(counts, np.ones((4, 2), dtype=np.int8))
    assert found is not None
    assert np.isnan(found.delta[3]).all()
    assert not np.isnan(found.delta[:3]).any()
    assert (found.influence()[:, 3] == 0.0).all()
    assert found.unseen[3].tolist() == np.nan_to_num(np.full(2, np.inf)).tolist()


def test_labels_that_some_records_lack_have_sizes_of_their_own() -> None:
    truth = TRUTH.astype(float)
    truth[::7, 1] = np.nan
    found = PairBags.of(BagCounts.from_labels(make(GROUP, truth, SAID)), SIGN)
    assert found is not None
    assert found.size.shape == (256, 3, 2)
    for g in range(3):
        there = (g == GROUP) & ~np.isnan(truth[:, 1])
        assert found.total[g].tolist() == [(g == GROUP).sum(), there.sum()]
    some = found.only(found.given[:2], found.outcome[1:])
    assert some.size.tolist() == found.size[:, :2, 1:].tolist()
    back = PairBags.from_dict(json.loads(json.dumps(found.to_dict())))
    assert back.size.tolist() == found.size.tolist()


@pytest.mark.parametrize(
    ("bags", "most", "kept"),
    [
        (4096, 256 * 6, 256),
        (4096, 256 * 6 - 1, 128),
        (4096, 128 * 6, 128),
        (4096, 64 * 6, 64),
        (4096, 64 * 6 - 1, None),  # fewer bags than errors can do with
        (256, 256 * 6, 256),
        (2, 256 * 6, None),  # halves alone
    ],
)
def test_as_many_bags_as_numbers_allow(bags: int, most: int, kept: int | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pair_bags, "MOST_NUMBERS", most)
    found = PairBags.of(BagCounts.from_labels(make(GROUP, TRUTH, SAID), bags), SIGN)
    if kept is None:
        assert found is None
        return
    assert found is not None
    assert len(found.moved) == len(found.size) == kept
    bag = bag_of(row_keys(0, N), kept)
    assert found.moved[:, 1, 0] == pytest.approx(np.bincount(bag, (GROUP == 1) * (SAID - TRUTH)[:, 0], kept))


@pytest.mark.parametrize("weights", [None, WEIGHTS])
@pytest.mark.parametrize("rates", [None, RATES])
def test_plain_values_come_back_the_same(weights: Any, rates: Any) -> None:
    found = made(weights, rates)
    held = found.to_dict()
    assert held["bags"] == 256
    assert (held["given"], held["outcome"]) == (list(found.given), list(found.outcome))
    assert held["sign"] == [1, -1, 0, 1, -1, -1]
    assert held["against"] == ([] if rates is None else RATES.ravel().tolist())
    assert held["moved"] == found.moved.ravel().tolist()
    # Whole numbers are integers.
    kinds = {type(value) for value in held["moved"]}
    assert kinds == ({int} if weights is None else {int, float})
    back = PairBags.from_dict(json.loads(json.dumps(held)))
    for name in ("moved", "size", "against", "sign"):
        mine, theirs = getattr(back, name), getattr(found, name)
        assert mine.dtype == theirs.dtype
        assert mine.tolist() == np.broadcast_to(theirs, mine.shape).tolist()
    assert (back.given, back.outcome, back.unit) == (found.given, found.outcome, found.unit)


def test_some_of_the_labels_in_an_order() -> None:
    found = made(WEIGHTS, RATES)
    assert found.only(list(found.given), list(found.outcome)) is found
    rows = [2, 0]
    some = found.only([found.given[row] for row in rows], found.outcome[1:])
    assert some.given == (found.given[2], found.given[0])
    assert some.outcome == found.outcome[1:]
    assert some.moved.tolist() == found.moved[:, rows, 1:].tolist()
    assert some.size.tolist() == found.size[:, rows].tolist()
    assert some.against.tolist() == RATES[rows, 1:].tolist()
    assert some.sign.tolist() == SIGN[rows, 1:].tolist()
    assert some.unit == found.unit
    turned = found.only(found.given, found.outcome[::-1])
    assert turned.delta == pytest.approx(found.delta[:, ::-1])


def test_a_record_weighs_one_by_default() -> None:
    ones = np.ones((64, 1, 1))
    found = PairBags(("g",), ("o",), ones, ones, np.zeros((1, 1)), np.ones((1, 1), dtype=np.int8))
    assert found.unit == 1.0
    assert found.unseen[0, 0] == pytest.approx(1 / 64**2)
    assert found.filled == 64
    assert found.delta[0, 0] == 1.0


def test_no_record_weighs_anything() -> None:
    counts = BagCounts.from_labels(make(GROUP, TRUTH, SAID, np.zeros(N)))
    found = PairBags.of(counts, SIGN)
    assert found is None or (found.unit == 1.0 and found.filled == 0)


@pytest.mark.parametrize(("labels", "kept"), [(64, 256), (65, 128)])
def test_audits_keep_131072_numbers_of_a_figure(labels: int, kept: int) -> None:
    """256 bags of 512 pairs are so many."""
    group = biasamp.categorical(np.arange(16) % 8, categories=list(range(8)))
    truth = (np.arange(16)[:, None] % 3 == np.arange(labels) % 3).astype(int)
    found = PairBags.of(BagCounts.from_labels(make(group, truth, truth), 4096), np.ones((8, labels), dtype=np.int8))
    assert found is not None
    assert len(found.moved) == kept
