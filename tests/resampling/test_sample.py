"""Samples: counted late and once, and the same figures from counts by bag and from a second look at the records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import PairCounts
from biasamp.counts.signed_sums import Block
from biasamp.data.keys import record_keys
from biasamp.resampling.sample import Added, Aggregates, Sample
from biasamp.resampling.statistics_of_bags import FixedSigns, Linear
from evaluations import bits, make, random_evaluation


def few_bags(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if pairs were too many to be counted by bag."""
    monkeypatch.setattr("biasamp.resampling.sample.bags_for", lambda pairs: 2)


def aggregates(sample: Sample) -> Aggregates:
    counts = sample.counts
    delta = (floats(counts.joint_predicted) - floats(counts.joint_truth)) / floats(counts.given)
    rng = np.random.default_rng(3)
    signs = [rng.integers(-1, 2, delta.shape).astype(np.int8) for _ in range(3)]
    counted = rng.random(delta.shape) < 0.5
    return Aggregates(sample, signs[0], (signs[1], signs[2]), delta, rng.normal(size=delta.shape), counted=counted)


def test_counts_need_no_bags(monkeypatch: pytest.MonkeyPatch) -> None:
    e = random_evaluation(1)
    monkeypatch.setattr(BagCounts, "from_labels", None)
    assert bits(Sample.of(e).counts) == bits(PairCounts.from_labels(e))
    assert Sample.of(e).records == len(e)


def test_bags_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = []
    real = BagCounts.from_labels.__func__  # type: ignore[attr-defined]

    def spied(cls: Any, *given: Any, **more: Any) -> Any:
        calls.append(given)
        return real(cls, *given, **more)

    monkeypatch.setattr(BagCounts, "from_labels", classmethod(spied))
    result = biasamp.directional(np.arange(300) % 2, np.arange(300) % 3 == 0, np.arange(300) % 5 == 0)
    assert result.value is not None
    assert not calls
    result.quiet_interval()
    assert result.crossfit is not None
    result.quiet_interval(of="crossfit")
    result.quiet_interval(0.8, "bca", seed=4)
    assert len(calls) == 1


@pytest.mark.parametrize("weights", ["none", "real"])
@pytest.mark.parametrize("soft", [False, True])
def test_a_second_look_gives_the_errors_of_counts_by_bag(
    soft: bool, weights: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    e = random_evaluation(2, n=2000, groups=2, width=4, soft=soft, weights=weights)
    usual = aggregates(Sample.of(e))
    for name in ("whole", "some"):
        assert isinstance(getattr(usual, name), FixedSigns)
    few_bags(monkeypatch)
    late = aggregates(Sample.of(e))
    assert late.sample.bags.bags == 2
    assert late.sample.looks_again
    assert late.sample.has_intervals
    for name in ("whole", "some", "crossed"):
        mine, theirs = getattr(late, name), getattr(usual, name)
        assert isinstance(mine, Linear)
        assert mine.value == pytest.approx(theirs.value, abs=1e-12)
        assert mine.influence() == pytest.approx(theirs.influence(), abs=1e-9)
        assert mine.replicates(400, 1).std() == pytest.approx(theirs.replicates(400, 1).std(), rel=0.05)
    for own in (False, True):
        assert Added(late, own)() == pytest.approx(Added(usual, own)(), rel=1e-6)


def test_records_are_looked_at_once_more_for_all_figures(monkeypatch: pytest.MonkeyPatch) -> None:
    few_bags(monkeypatch)
    looks = []
    look = Block.look
    monkeypatch.setattr(Block, "look", lambda self, *given: looks.append(given) or look(self, *given))
    made = aggregates(Sample.of(random_evaluation(3)))
    for figure in (made.whole, made.some, made.crossed):
        figure.influence()
        figure.replicates(10, 0)
    Added(made)()
    assert len(looks) == 1


def test_why_there_is_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    e = random_evaluation(4)
    assert Sample.of(e).no_interval == ()
    assert replace(Sample.of(e), without="for the test").no_interval == ("for the test",)
    # Counts that were saved or added up cannot be read again.
    saved = Sample(BagCounts.from_labels(e, 2))
    assert not saved.has_intervals
    assert "so many pairs" in saved.no_interval[0]
    monkeypatch.setattr("biasamp.resampling.sample._MOST_PULLED", 3)
    few_bags(monkeypatch)
    assert "so many pairs" in Sample.of(e).no_interval[0]


def test_halves_are_samples_of_their_own() -> None:
    e = random_evaluation(5)
    sample = Sample.of(e)
    assert sample.halves is not None
    upper, lower = sample.halves
    total = np.asarray(upper.counts.joint_truth) + np.asarray(lower.counts.joint_truth)
    assert (total == np.asarray(sample.counts.joint_truth)).all()
    assert Sample.of(make([0], [[1]], [[1]])).halves is None


def test_the_design_effect_is_that_of_a_loop_over_clusters() -> None:
    """With few clusters no two share a bag, so that bags are clusters."""
    rng = np.random.default_rng(1)
    people = rng.integers(0, 30, 200)
    groups, truth = rng.integers(0, 2, 200), rng.integers(0, 2, (200, 2))
    predicted = np.where(rng.random(truth.shape) < 0.3 * (people % 3)[:, None] / 2, 1 - truth, truth)
    sample = Sample.of(replace(make(groups, truth, predicted), clusters=record_keys(people)))
    assert len(sample.bags.numbers) == 30
    delta = np.array([(predicted - truth)[groups == g].mean(axis=0) for g in (0, 1)])
    effect = sample.cluster_effect(delta, True)
    assert effect is not None
    for g in (0, 1):
        for o in (0, 1):
            rest = (groups == g) * ((predicted - truth)[:, o] - delta[g, o])
            together = sum(rest[people == person].sum() ** 2 for person in range(30))
            assert effect.inflation[g, o] == pytest.approx(max(together / (rest**2).sum(), 1.0))
            assert effect.freedom[g, o] == len(set(people[groups == g])) - 1
    assert replace(sample, clustered=False).cluster_effect(delta, True) is None
