"""Samples: which pairs stand for others, cut products, and aggregates from bags and from a second look, option by option."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats
from biasamp.counts.signed_sums import Block
from biasamp.data.keys import record_keys
from biasamp.resampling import sample as sample_module
from biasamp.resampling.intervals import Intervals
from biasamp.resampling.sample import Added, Aggregates, Sample, unclear_pairs
from biasamp.resampling.statistics_of_bags import Crossed, FixedSigns, Linear, pull_of
from evaluations import bits, random_evaluation

CLEAR = 4.0 * np.sqrt(2.0)


def test_pairs_whose_sign_is_clear_are_left_out() -> None:
    """A statistic of 4 in half the records."""
    z = np.array([[0.0, CLEAR - 1e-9, CLEAR + 1e-9], [-CLEAR + 1e-9, -CLEAR - 1e-9, 1.0]])
    delta = np.array([[0.1, 0.1, 0.1], [0.1, 0.1, np.nan]])
    g, o, scale = unclear_pairs(delta, z)
    assert list(zip(g.tolist(), o.tolist(), strict=True)) == [(0, 0), (0, 1), (1, 0)]
    assert scale == 1.0


@pytest.mark.parametrize("turned", [False, True])
def test_labels_of_the_longer_side_stand_for_all(turned: bool) -> None:
    """Of 3,000 pairs every third label, so that a thousand are left."""
    z = np.zeros((2, 1500))
    g, o, scale = unclear_pairs((z if not turned else z.T) + 1.0, z if not turned else z.T)
    short, long = (o, g) if turned else (g, o)
    assert sorted(set(long.tolist())) == list(range(0, 1500, 3))
    assert sorted(set(short.tolist())) == [0, 1]
    assert scale == 3.0
    assert len(g) == 1000


def test_so_many_pairs_are_all_kept() -> None:
    for labels, kept, scale in ((500, 1000, 1.0), (501, 502, 1002 / 502)):
        z = np.zeros((2, labels))
        g, _, found = unclear_pairs(z, z)
        assert (len(g), found) == (kept, pytest.approx(scale))
    square = np.zeros((40, 40))
    g, o, scale = unclear_pairs(square, square)
    # As many of either: outcome labels are chosen from.
    assert sorted(set(o.tolist())) == list(range(0, 40, 2))
    assert len(set(g.tolist())) == 40
    assert scale == 2.0


def test_products_of_cut_numbers_do_not_round() -> None:
    """Numbers cut to 19 bits: as whole numbers multiplied without any rounding."""
    rng = np.random.default_rng(0)
    left, right = rng.normal(size=(50, 3)), 1e-7 * rng.normal(size=(50, 4))
    found = sample_module._exact_product(left, right)
    assert found == pytest.approx(left.T @ right, rel=1e-4, abs=1e-11)

    def cut(values: np.ndarray) -> tuple[Any, Fraction]:
        largest, bits = Fraction(float(np.abs(values).max())), Fraction(1)
        while largest * bits > 2**19:
            bits /= 2
        while largest * bits * 2 <= 2**19:
            bits *= 2
        return [[round(Fraction(float(v)) * bits) for v in row] for row in values], bits

    (a, first), (b, second) = cut(left), cut(right)
    for i in range(3):
        for j in range(4):
            exact = sum(a[row][i] * b[row][j] for row in range(50)) / (first * second)
            assert Fraction(float(found[i, j])) == exact
    own = sample_module._exact_product(left, left)
    assert (own == own.T).all()
    assert own.tolist() == sample_module._exact_product(left, left.copy()).tolist()
    for largest in (1.0, 4.0, 0.125, 3.0, -8.0):
        held = np.array([[largest], [0.0]])
        assert sample_module._exact_product(held, held).tolist() == [[largest**2]]
    nothing = np.zeros((5, 2))
    assert sample_module._exact_product(nothing, left[:5]).tolist() == np.zeros((2, 3)).tolist()


def aggregates(sample: Sample, base: Any = None, lent: bool = True) -> Aggregates:
    counts = sample.counts
    held, one = floats(counts.joint_predicted), floats(counts.joint_truth)
    delta = held / floats(counts.given) - (one / floats(counts.given) if base is None else base)
    rng = np.random.default_rng(3)
    signs = [rng.integers(-1, 2, delta.shape).astype(np.int8) for _ in range(5)]
    return Aggregates(
        sample,
        signs[0],
        (signs[1], signs[2]) if lent else None,
        delta,
        rng.normal(size=delta.shape),
        base=base,
        counted=rng.random(delta.shape) < 0.5,
        others=(signs[3], signs[4]),
    )


def few_bags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("biasamp.resampling.sample.bags_for", lambda pairs: 2)


@pytest.mark.parametrize("of_base", [False, True])
@pytest.mark.parametrize("lent", [False, True])
def test_every_aggregate_from_bags_and_from_a_second_look(
    of_base: bool, lent: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    e = random_evaluation(2, n=600, groups=2, width=4, weights="real")
    base = np.random.default_rng(1).random((2, 4)) if of_base else None
    usual = aggregates(Sample.of(e), base, lent)
    assert usual.sample.bags.resamplable
    few_bags(monkeypatch)
    late = aggregates(Sample.of(e), base, lent)
    names: list[tuple[str, Any]] = [("whole", lambda made: made.whole), ("some", lambda made: made.some)]
    names += [(f"other {number}", lambda made, number=number: made.other(number)) for number in (0, 1)]
    if lent and not of_base:
        names.append(("crossed", lambda made: made.crossed))
    values = set()
    for name, of in names:
        mine, theirs = of(late), of(usual)
        assert isinstance(mine, Linear)
        assert isinstance(theirs, Crossed if name == "crossed" else FixedSigns)
        assert mine.value == pytest.approx(theirs.value, abs=1e-12)
        assert mine.influence() == pytest.approx(theirs.influence(), abs=1e-9)
        assert mine.first_order
        values.add(round(mine.value, 12))
    assert len(values) == len(names)
    # By the definition of each, of all records.
    counts = usual.sample.counts
    given, held, one = (floats(part) for part in (counts.given, counts.joint_predicted, counts.joint_truth))
    change = held / given - (one / given if base is None else base)
    assert usual.whole.value == pytest.approx((usual.factor * change).mean())
    assert usual.counted is not None
    assert usual.some.value == pytest.approx((usual.factor * change)[usual.counted].mean())
    assert usual.other(1).value == pytest.approx((usual.others[1] * change).mean())


def test_the_upper_half_has_the_signs_that_the_lower_lends() -> None:
    made = aggregates(Sample.of(random_evaluation(2, n=600, groups=2, width=4)))
    assert made.sample.halves is not None
    assert made.lent is not None
    each = []
    for half, factor in zip(made.sample.halves, made.lent[::-1], strict=True):
        counts = half.counts
        given, held, one = (floats(part) for part in (counts.given, counts.joint_predicted, counts.joint_truth))
        each.append((factor * (held - one) / given).mean())
    assert made.crossed.value == pytest.approx(np.mean(each))
    # Bags of the upper half are the last ones.
    upper = made.sample.halves[0].bags.numbers
    assert (upper >= made.sample.bags.bags // 2).all()


def test_records_of_a_second_look_are_weighed_by_their_pulls(monkeypatch: pytest.MonkeyPatch) -> None:
    few_bags(monkeypatch)
    made = aggregates(Sample.of(random_evaluation(3, n=300, groups=2, width=3)))
    counts = made.sample.counts
    assert made.lent is not None
    assert made.sample.halves is not None
    upper, lower = (half.counts for half in made.sample.halves)
    expected = [
        pull_of((counts, counts), (made.factor, made.factor)),
        pull_of((counts, counts), (made.factor, made.factor), None, made.counted),
        pull_of((lower, upper), made.lent, share=0.5),
        *(pull_of((counts, counts), (signs, signs)) for signs in made.others),
    ]
    assert len(made.pulls) == len(expected)
    for mine, theirs in zip(made.pulls, expected, strict=True):
        assert mine.each.tolist() == theirs.each.tolist()
        assert mine.centre.tolist() == theirs.centre.tolist()


def test_noise_that_halves_share_from_unclear_pairs_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """By bags and by a second look, where pairs are left out; by no unclear pair at all."""
    e = random_evaluation(5, n=800, groups=3, width=5)

    def made() -> Aggregates:
        held = aggregates(Sample.of(e))
        z = held.z.copy()
        z[1, :], z[:, 2] = 50.0, -50.0
        delta = held.delta.copy()
        delta[0, 0] = np.nan
        return replace(held, z=z, delta=delta)

    usual = made()
    g, o, scale = unclear_pairs(usual.delta, usual.z)
    assert set(zip(g.tolist(), o.tolist(), strict=True)) == {(g, o) for g in (0, 2) for o in (0, 1, 3, 4)} - {(0, 0)}
    shared = sample_module.bag_crossfit_covariance(usual.sample.bags, usual.delta, usual.z, (g, o), False)
    assert scale == 1.0
    assert Added(usual)() == pytest.approx(shared / 14**2)
    assert Added(usual, own=True)() != pytest.approx(Added(usual)(), rel=0.01)
    clear = replace(usual, z=np.full((3, 5), 50.0))
    assert Added(clear)() == 0.0
    few_bags(monkeypatch)
    late = made()
    for own in (False, True):
        assert Added(late, own)() == pytest.approx(Added(usual, own)(), rel=1e-6)


def test_pairs_that_stand_for_others_count_as_often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sample_module, "_PAIRS", 5)
    made = aggregates(Sample.of(random_evaluation(5, n=400, groups=2, width=6)))
    g, o, scale = unclear_pairs(made.delta, made.z)
    assert scale == 12 / len(g)
    shared = sample_module.bag_crossfit_covariance(made.sample.bags, made.delta, made.z, (g, o), False)
    assert Added(made)() == pytest.approx(shared * scale / 12**2)


def test_a_second_look_needs_records_and_not_too_many_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    e = random_evaluation(4, groups=3, width=5)
    assert not Sample.of(e).looks_again
    two = BagCounts.from_labels(e, 2)
    assert not Sample(two).looks_again
    asked = []
    again = Sample(two, again=lambda look: asked.append(look) or "answer")  # type: ignore[arg-type, func-returns-value]
    assert again.looks_again
    assert again.has_intervals
    assert again.no_interval == ()
    held: Any = object()
    assert again.look(held) == "answer"  # type: ignore[comparison-overlap]
    assert asked == [held]
    few_bags(monkeypatch)
    for most, there in ((15, True), (14, False)):
        monkeypatch.setattr(sample_module, "_MOST_PULLED", most)
        assert Sample.of(e).looks_again == there
        assert Sample.of(e).has_intervals == there
    reason = replace(Sample.of(random_evaluation(4)), without="for a reason")
    assert (reason.has_intervals, reason.no_interval) == (False, ("for a reason",))


@pytest.mark.parametrize(("left", "right", "there"), [(2048, 2048, True), (2049, 2048, False), (1, 1 << 22, True)])
def test_four_million_pairs_are_pulled(left: int, right: int, there: bool) -> None:
    """2**22 of them; how many labels there are is all that is asked."""
    sample = Sample.of(random_evaluation(4))
    sample.__dict__["bags"] = SimpleNamespace(resamplable=False)
    sample.__dict__["counts"] = SimpleNamespace(given_labels=range(left), outcome_labels=range(right))
    assert sample.looks_again == there


def test_samples_of_blocks_side_by_side() -> None:
    """Blocks have the same records and some outcome labels each."""
    e = random_evaluation(6, width=4)
    from biasamp.counts.pair import PairCounts

    bags = BagCounts.from_labels(e, 4096)
    parts = Sample((Block(e), Block(e)))
    assert len(parts.counts.outcome_labels) == 8
    assert len(parts.bags.whole.outcome_labels) == 8
    assert parts.records == len(e)
    one = Sample((Block(e),))
    assert bits(one.counts) == bits(PairCounts.from_labels(e))
    assert bits(one.bags) == bits(bags)
    counted = Sample(bags)
    assert counted.bags is bags
    assert bits(counted.counts) == bits(bags.whole)


def test_a_kept_sample_is_of_its_records_as_they_were() -> None:
    e = random_evaluation(7)
    kept, direct = Sample.keeping(e), Sample.of(e)
    assert bits(kept.counts) == bits(direct.counts)
    assert bits(kept.bags) == bits(direct.bags)
    assert (kept.clustered, direct.clustered) == (False, False)
    grouped = replace(e, clusters=record_keys(np.arange(len(e)) // 2))
    assert Sample.keeping(grouped).clustered
    assert Sample.of(grouped).clustered
    assert bits(Sample.keeping(grouped).bags) == bits(Sample.of(grouped).bags)


def test_clusters_have_an_effect_where_bags_can_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    e = random_evaluation(8, n=60)
    grouped = replace(e, clusters=record_keys(np.arange(60) // 2))
    delta = np.zeros((3, 5))
    assert Sample.of(e).cluster_effect(delta, True) is None
    found = Sample.of(grouped).cluster_effect(delta, True)
    other = Sample.of(grouped).cluster_effect(delta, False)
    assert found is not None
    assert other is not None
    assert found.inflation.tolist() != other.inflation.tolist()
    assert Sample(BagCounts.from_labels(grouped, 2), True).cluster_effect(delta, True) is None
    for records, there in ((1, False), (2, True)):
        few = random_evaluation(8, n=records)
        held = Sample.of(replace(few, clusters=record_keys(np.arange(records))))
        assert (held.cluster_effect(np.zeros((few.given.width, 5)), True) is not None) == there


def test_intervals_of_a_sample_have_what_it_knows() -> None:
    sample = replace(Sample.of(random_evaluation(9)), clustered=True)
    made = aggregates(sample)
    added = Added(made)
    intervals = sample.intervals(made.whole, ("a caution",), added, 0.25)
    assert isinstance(intervals, Intervals)
    assert (intervals.statistic, intervals.clustered, intervals.cautions) == (made.whole, True, ("a caution",))
    assert (intervals.added, intervals.unseen) == (added, 0.25)
    plain = sample.intervals(made.whole, ())
    assert (plain.added, plain.unseen) == (None, 0.0)
