"""What intervals accept, refuse and say of themselves."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np
import pytest

import biasamp
import biasamp.resampling.intervals as intervals

RNG = np.random.default_rng(0)
G = RNG.integers(0, 2, 400)
T = (RNG.random((400, 3)) < 0.2 + 0.5 * G[:, None]).astype(int)
P = np.where(RNG.random(T.shape) < 0.1, 1 - T, T)
METRICS: dict[str, Any] = {
    "directional": lambda **k: biasamp.directional(G, T, P, **k),
    "multi": lambda **k: biasamp.multi(G, T, P, **k),
    "mals": lambda **k: biasamp.mals(G, T, G, P, **k),
}


@pytest.mark.parametrize("name", METRICS)
def test_every_metric_has_every_method(name: str) -> None:
    result = METRICS[name]()
    made = {method: result.confidence_interval(method=method) for method in intervals.METHODS}
    for interval in made.values():
        assert interval.low <= result.value <= interval.high
        assert interval.varies == "sampling of records"
        assert interval.standard_error > 0
    assert made["auto"] == made["bootstrap"]
    widened = ", widened for errors not seen"
    assert made["bootstrap"].method == "bootstrap percentile" + widened
    assert made["bca"].method == "bootstrap BCa" + widened
    assert made["closed_form"].method == "closed form" + widened
    wide = result.confidence_interval(0.99)
    assert wide.low <= made["bootstrap"].low
    assert wide.high >= made["bootstrap"].high


@pytest.mark.parametrize("name", METRICS)
@pytest.mark.parametrize("level", [0.0, 1.0, -1.0, 95, float("nan")])
def test_a_level_outside_0_and_1_is_refused(name: str, level: float) -> None:
    with pytest.raises(ValueError, match=r"level is .*strictly between 0 and 1"):
        METRICS[name]().confidence_interval(level)


def test_unknown_methods_and_figures_are_refused() -> None:
    result = METRICS["directional"]()
    with pytest.raises(ValueError, match="method is 'magic'; use one of 'auto', 'bootstrap', 'bca', 'closed_form'"):
        result.confidence_interval(method="magic")
    with pytest.raises(ValueError, match="resamples is 1"):
        result.confidence_interval(resamples=1)
    with pytest.raises(ValueError, match="of is 'other'"):
        result.confidence_interval(of="other")
    with pytest.raises(ValueError, match="no crossfit"):
        METRICS["mals"]().confidence_interval(of="crossfit")


@pytest.mark.parametrize("name", METRICS)
def test_one_cluster_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="fewer than two clusters"):
        METRICS[name](cluster=["a"] * 400)


@pytest.mark.parametrize("name", METRICS)
def test_clusters_are_resampled(name: str) -> None:
    result = METRICS[name](cluster=np.arange(400) // 4)
    assert result.confidence_interval().varies == "sampling of clusters"
    alone = METRICS[name](cluster=np.arange(400)).confidence_interval(method="closed_form")
    # Clusters of one: the same records in other bags, of which a few are shared by two records.
    assert alone.standard_error == pytest.approx(
        METRICS[name]().confidence_interval(method="closed_form").standard_error, rel=0.1
    )


def test_bad_clusters_are_refused() -> None:
    with pytest.raises(ValueError, match="one cluster per record"):
        METRICS["directional"](cluster=[1, 2])
    with pytest.raises(ValueError, match=r"missing for 1 records \(row 1, counted from 1"):
        METRICS["directional"](cluster=np.array([np.nan, *range(399)]))


def test_few_clusters_warn() -> None:
    with pytest.warns(UserWarning, match=r"few of about 5 clusters \(about 4 degrees"):
        METRICS["directional"](cluster=np.arange(400) % 5).confidence_interval()


def test_very_many_records_are_resampled_too() -> None:
    many = np.tile(np.arange(400), 750)
    result = biasamp.directional(G[many], T[many], P[many], weights=np.random.default_rng(1).random(len(many)) + 0.5)
    assert result.n > 250_000
    assert result.confidence_interval().method.startswith("bootstrap percentile")


@pytest.mark.parametrize("name", ["directional", "multi"])
def test_so_many_pairs_that_bags_do_not_fit_are_resampled_to_first_order(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    exact = {method: METRICS[name]().confidence_interval(method=method) for method in intervals.METHODS}
    monkeypatch.setattr("biasamp.resampling.sample.bags_for", lambda pairs: 2)
    result = METRICS[name]()
    for method, expected in exact.items():
        made = result.confidence_interval(method=method)
        assert ("to first order" in made.method) == (method != "closed_form")
        width = expected.high - expected.low
        assert (made.low, made.high) == pytest.approx((expected.low, expected.high), abs=0.1 * width)
        assert made.standard_error == pytest.approx(expected.standard_error, rel=1e-6)


def test_soft_itemsets_in_blocks_have_the_interval_of_one_block(monkeypatch: pytest.MonkeyPatch) -> None:
    import biasamp.amplification.multi as multi

    soft = np.clip(0.8 * P + 0.2 * np.random.default_rng(1).random(P.shape), 0, 1)
    whole = biasamp.multi(G, T, soft).confidence_interval(method="closed_form")
    monkeypatch.setattr(multi, "_SOFT_BLOCK", 2)
    parts = biasamp.multi(G, T, soft).confidence_interval(method="closed_form")
    assert parts.high == pytest.approx(whole.high, abs=1e-6)
    assert parts.low == pytest.approx(whole.low, rel=0.2)


def test_an_empty_group_is_left_out_and_told() -> None:
    group = biasamp.categorical(G, categories=[0, 1, 2])
    with pytest.warns(UserWarning, match="3 of 9 pairs are undefined"):
        result = biasamp.directional(group, T, P)
    plain = METRICS["directional"]()
    assert result.value == pytest.approx(plain.value)
    mine, theirs = result.confidence_interval(method="closed_form"), plain.confidence_interval(method="closed_form")
    assert (mine.low, mine.high) == pytest.approx((theirs.low, theirs.high))


def test_the_aggregate_without_unclear_pairs_has_an_interval() -> None:
    tasks = np.column_stack([T, RNG.integers(0, 2, 400)])
    said = np.column_stack([P, tasks[:, -1]])
    result = biasamp.directional(G, tasks, said)
    assert not result.pairs["clear"].all()
    interval = result.confidence_interval(of="clear_value", method="closed_form")
    clear = METRICS["directional"]()
    assert result.clear_value == pytest.approx(clear.value)
    expected = clear.confidence_interval(method="closed_form")
    assert (interval.low, interval.high) == pytest.approx((expected.low, expected.high))


@pytest.mark.parametrize("method", intervals.METHODS)
def test_no_error_seen_is_not_certainty(method: str) -> None:
    """By hand: one more error of either kind, ``2 / (n + 2)**2`` for each of two groups and three tasks."""
    interval = biasamp.directional(G, T, T.copy()).confidence_interval(method=method)
    sizes = np.repeat([(G == 0).sum(), (G == 1).sum()], 3)
    error = np.sqrt((2.0 / (sizes + 2.0) ** 2).sum()) / 6
    assert interval.standard_error == pytest.approx(error)
    assert (interval.low, interval.high) == pytest.approx((-1.959964 * error, 1.959964 * error))
    assert "no record moves the value" in interval.method


def test_one_record_has_no_interval() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = biasamp.directional(["a"], [1], [1])
        interval = result.confidence_interval()
    assert np.isnan(interval.low)
    assert result.to_dict()["interval"] == [None, None]


def test_a_seed_may_be_a_generator() -> None:
    """It is drawn from once for every interval: the same generator gives the same intervals in the same order."""
    result = METRICS["directional"]()
    one, two = np.random.default_rng(5), np.random.default_rng(5)
    first, second = (result.confidence_interval(resamples=200, seed=one) for _ in range(2))
    assert first != second
    again = METRICS["directional"]()
    assert [again.confidence_interval(resamples=200, seed=two) for _ in range(2)] == [first, second]
    number = int(np.random.default_rng(5).integers(1 << 63))
    assert result.confidence_interval(resamples=200, seed=number) == first
    both = METRICS["multi"]().confidence_interval(resamples=200, seed=np.random.default_rng(5))
    assert both == METRICS["multi"]().confidence_interval(resamples=200, seed=number)


def test_plug_in_signs_near_independence_warn_and_crossfit_is_beside() -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, (400, 10))
    said = np.where(rng.random(truth.shape) < 0.3, 1 - truth, truth)
    result = biasamp.directional(G, truth, said)
    assert any("cannot tell the direction" in caution for caution in result.cautions)
    with pytest.warns(UserWarning, match="cannot tell the direction of 20 of 20 pairs"):
        result.confidence_interval()
    interval = result.confidence_interval(of="crossfit")
    assert interval.low <= result.crossfit <= interval.high
    document = result.to_dict()
    assert document["crossfit_interval"] == [interval.low, interval.high]


class TestPairsWithoutASign:
    """Every pair has an interval, those that do not count too."""

    given = [0, 0, 1, 1] * 10
    truth = biasamp.binary([0, 1, 0, 1] * 10)
    predicted = biasamp.binary([1, 1, 0, 1] * 10)

    def test_a_tie_may_go_either_way(self) -> None:
        tied = list(biasamp.directional(self.given, self.truth, self.predicted).pairs.rows())
        turned = list(biasamp.directional(self.given, self.truth, self.predicted, ties="negative").pairs.rows())
        for row, negative in zip(tied, turned, strict=True):
            reach = max(abs(negative["low"]), abs(negative["high"]))
            assert (row["sign"], row["amplification"]) == (0, 0.0)
            assert (row["low"], row["high"]) == (-reach, reach)

    def test_a_tie_of_the_train_labels_may_go_either_way_too(self) -> None:
        train = (copy.copy(self.given), copy.copy(self.truth))
        tied = biasamp.directional(self.given, self.truth, self.predicted).pairs.rows()
        lent = biasamp.directional(self.given, self.truth, self.predicted, train=train).pairs.rows()
        for row, own in zip(lent, tied, strict=True):
            assert (row["sign"], row["low"], row["high"]) == (0, own["low"], own["high"])

    def test_mals_pairs_below_the_share_of_a_group(self) -> None:
        groups = np.repeat(["w", "m"], [60, 40])
        tasks, said = (biasamp.binary(np.repeat([1, 0, 1, 0], [40, 20, 10, 30])) for _ in range(2))
        by_group = {row["given"]: row for row in biasamp.mals(groups, tasks, groups, said).pairs.rows()}
        assert (by_group["m"]["sign"], by_group["m"]["low"], by_group["m"]["high"]) == (0, 0.0, 0.0)
        assert by_group["w"]["low"] < 0.0 < by_group["w"]["high"]


def test_the_variance_of_signs_by_hand() -> None:
    """A sign without evidence (p = 1) is wrong in half of the cases: 2 * 1/2 * 1/2 * (delta^2 - error^2) / error^2."""
    found = intervals.sign_variance(np.array([1.0]), np.array([0.3]), np.array([0.1]))
    assert found == pytest.approx(0.5 * (0.09 - 0.01) / 0.01)
    # p = 0.05 on all records is z = 1.96, 1.386 on half of them: wrong with chance 0.08289.
    wrong = 0.0828909
    found = intervals.sign_variance(np.array([0.05]), np.array([0.3]), np.array([0.1]))
    assert found == pytest.approx(2 * wrong * (1 - wrong) * 8, rel=1e-4)
    assert intervals.sign_variance(np.array([0.05]), np.array([0.01]), np.array([0.1])) == 0.0


def test_the_bias_of_signs_at_chance_by_hand() -> None:
    """A sign at chance (z = 0) costs the whole of delta; with half of its noise shared also phi(0) standard errors."""
    one = np.array([[1.0]])
    assert intervals.sign_bias(one, np.array([[0.0]]), np.array([[0.02]])) == pytest.approx(1 / np.sqrt(2 * np.pi))
    assert intervals.sign_bias(one, np.array([[0.04]]), np.array([[0.02]])) == pytest.approx(2 + 1 / np.sqrt(2 * np.pi))
    # One that is sure costs nothing.
    assert intervals.sign_bias(np.array([[1e-200]]), np.array([[0.04]]), np.array([[0.02]])) == pytest.approx(
        0.0, abs=1e-12
    )


def test_freedom_of_a_variance_of_which_a_part_is_known() -> None:
    """Satterthwaite: of S + U, where S has f degrees of freedom and U is no estimate, f (S + U)^2 / S^2."""
    rng = np.random.default_rng(2)
    groups, truth = rng.integers(0, 2, 60), rng.integers(0, 2, 60)
    maker = biasamp.directional(groups, truth, np.where(np.arange(60) < 5, 1 - truth, truth)).interval_maker()
    assert maker.unseen > 0
    known = intervals.degrees_of_freedom(maker.influence())
    square = float((maker.influence() ** 2).sum())
    assert maker._square == pytest.approx(square)
    assert maker._freedom() == pytest.approx(known * (square + maker.unseen) ** 2 / square**2)
