"""Multi by hand: its floor by walks, its variance, its itemsets, and intervals that hold the value."""

from __future__ import annotations

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import biasamp
from biasamp.amplification import multi as module
from biasamp.amplification.multi import Choice, SizeIntervals
from biasamp.counts.bags import BagCounts
from biasamp.data.arguments import read_evaluation
from biasamp.results.interval import Interval


def records(seed: int = 1, n: int = 120) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b"], n)
    truth = (rng.random((n, 3)) < 0.4 + 0.2 * (group == "a")[:, None]).astype(int)
    return group, truth, np.where(rng.random((n, 3)) < 0.2, 1 - truth, truth)


def label_sets(rows: Any) -> list[frozenset[int]]:
    return [frozenset(np.flatnonzero(row).tolist()) for row in rows]


def walk(steps: int) -> float:
    """The mean distance of all walks of so many fair steps."""
    return float(np.mean([abs(sum(way)) for way in product((-1, 1), repeat=steps)])) if steps else 0.0


def test_the_floor_is_the_mean_of_all_walks() -> None:
    """Each wrong prediction gains the label or loses it alike."""
    wrong = {("a", 0): 0, ("a", 1): 1, ("b", 0): 4, ("b", 1): 7}
    group = np.repeat(["a", "b"], [20, 30])
    truth = np.tile([[0, 1], [1, 0]], (25, 1))
    said = truth.copy()
    for (g, k), many in wrong.items():
        rows = np.flatnonzero(group == g)[:many]
        said[rows, k] ^= 1
    read, _, _ = read_evaluation(group, truth, said, None, None)
    expected = np.mean([walk(many) / (20 if g == "a" else 30) for (g, _), many in wrong.items()])
    assert module.multi_floor(BagCounts.from_labels(read).whole) == pytest.approx(expected)


def test_the_floor_of_uneven_steps() -> None:
    """With weights, or of soft predictions, that of a normal sum of the same squares."""
    group, truth, said = records()
    weights = np.random.default_rng(2).random(120) + 0.1
    read, _, _ = read_evaluation(group, truth, said, None, weights)
    steps = {
        (g, k): sqrt(2 / np.pi * ((weights * (said[:, k] != truth[:, k]))[group == g] ** 2).sum())
        / weights[group == g].sum()
        for g in "ab"
        for k in range(3)
    }
    assert module.multi_floor(BagCounts.from_labels(read).whole) == pytest.approx(np.mean(list(steps.values())))


@pytest.mark.parametrize("itemsets", ["records", "subsets"])
@pytest.mark.parametrize("soft", [False, True])
def test_sets_of_labels(itemsets: str, soft: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Value, variance and rows of every group and set; products of soft labels are laid out a few at a time."""
    monkeypatch.setattr(module, "_SOFT_BLOCK", 2)
    group, truth, said = records(3)
    predicted = np.clip(0.7 * said + 0.1, 0, 1) if soft else said
    options: dict[str, Any] = {"itemsets": itemsets, "min_size": 2, "max_size": 3, "min_support": 4}
    made = biasamp.multi(group, truth, predicted, **options)
    own = label_sets(truth)
    every = {frozenset(i for i, flag in enumerate(way) if flag) for way in product((0, 1), repeat=3)}
    kept = set()
    for items in every:
        carried = sum(held == items if itemsets == "records" else items <= held for held in own)
        if 2 <= len(items) <= 3 and carried >= 4:
            kept.add(items)
    rows = {(row["given"], row["outcome"]): row for row in made.pairs.rows()}
    deltas = []
    for items in kept:
        name = " & ".join(str(i) for i in sorted(items))
        one = truth[:, sorted(items)].all(axis=1)
        chance = predicted[:, sorted(items)].prod(axis=1)
        for g in "ab":
            mine = group == g
            row = rows.pop((g, name))
            delta = chance[mine].mean() - one[mine].mean()
            deltas.append(delta)
            assert (row["delta"], row["amplification"]) == pytest.approx((delta, abs(delta)))
            assert 0 <= row["low"] <= abs(delta) + 1e-12 <= row["high"] + 2e-12
    assert not rows
    assert made.value == pytest.approx(np.mean(np.abs(deltas)))
    assert made.variance == pytest.approx(np.var(deltas))
    assert made.cautions[0].startswith("min_size=2 does not apply to given: a record has one label there")
    assert not any("min_size" in words for words in biasamp.multi(group, truth, predicted).cautions)


def test_sets_of_train_labels() -> None:
    """A set needs its support in both: exactly so in train, among the labels of these records."""
    group, truth, said = records(4)
    other = records(5)[:2]
    counts = {items: sum(held == items for held in label_sets(other[1])) for items in set(label_sets(other[1]))}
    among = {items: sum(items <= held for held in label_sets(truth)) for items in counts}
    for least in (1, 9, 14):
        kept = {items for items in counts if len(items) >= 2 and counts[items] >= least and among[items] >= least}
        names = {" & ".join(str(i) for i in sorted(items)) for items in kept}
        options: dict[str, Any] = {"train": other, "min_size": 2, "min_support": least}
        if not kept:
            with pytest.raises(ValueError, match=f"none has min_support={least} in both"):
                biasamp.multi(group, truth, said, **options)
            continue
        made = biasamp.multi(group, truth, said, **options)
        assert {row["outcome"] for row in made.pairs.rows()} == names
        assert made.sign_source == "the train labels"
    with pytest.raises(ValueError, match="no itemset of truth is left: 0 of 4 labels or more occur"):
        biasamp.multi(group, truth, said, min_size=4)


def test_both_sides_may_have_one_label() -> None:
    group, _, _ = records()
    truth = np.array(["x", "y", "z"])[np.arange(120) % 3]
    made = biasamp.multi(group, truth, np.roll(truth, 1), min_size=2)
    assert "does not apply to given and truth" in made.cautions[0]
    assert Choice("subsets", 2).min_support == 1


def test_wrong_choices() -> None:
    group, truth, said = records()
    for wrong in ({"min_size": 0}, {"min_support": 0}, {"max_size": 0}, {"itemsets": "all"}, {"min_size": 1.5}):
        with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
            biasamp.multi(group, truth, said, **wrong)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="max_size is 1, below min_size 2: no itemset would be left"):
        biasamp.multi(group, truth, said, min_size=2, max_size=1)
    assert biasamp.multi(group, truth, said, min_size=2, max_size=2).value > 0


def test_rows_are_of_sizes() -> None:
    """Bounds of the size of each change: down to 0 where it may be none; the test is that of the change."""
    group, truth, said = records(6)
    said[group == "a", 0] = 1
    rows = list(biasamp.multi(group, truth, said).pairs.rows())
    singles = {(row["given"], row["outcome"]): row for row in rows}
    plain = biasamp.directional(group, truth, said)
    for own in plain.pairs.rows():
        mine = truth[:, int(own["outcome"])][group == own["given"]]
        assert own["truth_rate"] == pytest.approx(mine.mean())
    from biasamp.resampling.significance import delta_p, pair_intervals

    result = biasamp.multi(group, truth, said)
    counts = result._estimate.sample.counts  # type: ignore[attr-defined]
    low, high = pair_intervals(counts, 0.95)
    p = delta_p(counts)
    touched = {True: 0, False: 0}
    for g, label in enumerate(counts.given_labels):
        for o, outcome in enumerate(counts.outcome_labels):
            row = singles[str(label), str(outcome)]
            ends = sorted([abs(low[g, o]), abs(high[g, o])])
            crosses = low[g, o] <= 0 <= high[g, o]
            touched[bool(crosses)] += 1
            assert (row["low"], row["high"]) == pytest.approx((0.0 if crosses else ends[0], ends[1]))
            assert row["p"] == pytest.approx(p[g, o])
    assert min(touched.values()) > 0


class Fixed:
    """Intervals that are what they are."""

    def __init__(self, value: float, low: float, high: float) -> None:
        self.value, self.ends, self.cautions = value, (low, high), ("careful",)

    def __call__(self, level: float, method: str, resamples: int, seed: Any) -> Interval:
        return Interval(*self.ends, level, method)

    def values(self, resamples: int, seed: int) -> tuple[int, int]:
        return resamples, seed


def test_intervals_hold_the_value() -> None:
    """From the cross-fitted lower bound to the upper one of the signs as they are, and the value between them."""
    upper: Any = Fixed(0.3, 0.25, 0.35)
    for lower, low in ((Fixed(0.2, 0.1, 0.3), 0.1), (Fixed(0.4, 0.32, 0.5), 0.3), (None, -np.inf)):
        made = SizeIntervals(upper, lower)  # type: ignore[arg-type]
        found = made(0.9, "closed_form", 2, 0)
        assert (found.low, found.high, found.level) == (low, 0.35, 0.9)
    high: Any = Fixed(0.3, 0.2, 0.28)
    assert SizeIntervals(high, None)(0.9, "closed_form", 2, 0).high == 0.3
    assert SizeIntervals(upper, None).cautions == ("careful",)
    assert SizeIntervals(upper, None).values() == (1000, 0)


def test_the_interval_is_of_what_records_move() -> None:
    """Signs of the changes held fixed; the upper end is a normal one."""
    group, truth, said = records(7, 400)
    said[group == "a"] |= (np.random.default_rng(1).random((int((group == "a").sum()), 3)) < 0.3).astype(int)
    said[group == "b"] &= (np.random.default_rng(2).random((int((group == "b").sum()), 3)) < 0.7).astype(int)
    names = {row["outcome"] for row in biasamp.multi(group, truth, said, itemsets="subsets", max_size=1).pairs.rows()}
    made = biasamp.multi(group, truth, said, itemsets="subsets", max_size=1)
    influence = np.zeros(400)
    for g in "ab":
        mine = group == g
        for name in names:
            change = (said - truth)[mine, int(name)]
            influence[mine] += np.sign(change.mean()) * (change - change.mean()) / mine.sum() / 6
    upper = made.interval_maker("value").upper  # type: ignore[union-attr]
    error = sqrt((influence**2).sum() + upper.unseen)
    found = made.quiet_interval(method="closed_form")
    assert found.high == pytest.approx(made.value + norm.ppf(0.975) * error, abs=0.001)
    assert found.low < made.value
