"""Figures of bags: values and resamples by plain loops that weigh bags, influences as derivatives."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from biasamp.counts.bagging import bag_of, poisson_weights
from biasamp.counts.bags import BagCounts
from biasamp.counts.pair import PairCounts
from biasamp.counts.signed_sums import Block, SecondLook, look_at
from biasamp.data import Evaluation
from biasamp.data.keys import row_keys
from biasamp.resampling.statistics_of_bags import Crossed, FixedSigns, Linear, Redrawn, fixed_sign_value, pull_of
from evaluations import make, random_evaluation

BAGS, STEP = 256, 1e-6


def holes() -> Evaluation:
    rng = np.random.default_rng(1)
    truth, said = ((rng.random((300, 3)) < 0.4).astype(float) for _ in range(2))
    truth[rng.random(truth.shape) < 0.2] = np.nan
    return make(rng.integers(0, 2, 300), truth, said, rng.random(300))


CASES: dict[str, Any] = {
    "hard": lambda: random_evaluation(1, n=300),
    "soft": lambda: random_evaluation(2, n=300, soft=True, weights="real"),
    "overlapping": lambda: random_evaluation(3, n=300, overlapping=True, weights="whole"),
    "missing": holes,
}


def signs(e: Evaluation) -> np.ndarray:
    return np.random.default_rng(5).integers(-1, 2, (e.given.width, e.truth.width)).astype(np.int8)


def value_of(e: Evaluation, factor: np.ndarray, weights: np.ndarray, base: Any = None, counted: Any = None) -> float:
    """The mean of ``factor * delta`` over the pairs that are defined, one pair and one record at a time."""
    given, truth, said = (side.rows().astype(float) for side in (e.given, e.truth, e.predicted))
    known = e.truth.present()
    own = np.ones(len(e)) if e.weights is None else e.weights.astype(float)
    total, pairs = 0.0, 0
    for g in range(e.given.width):
        for o in range(e.truth.width):
            there = given[:, g] * weights * own * (1.0 if known is None else known[:, o])
            if not there.sum() or (counted is not None and not counted[g, o]):
                continue
            before = there @ np.nan_to_num(truth[:, o]) / there.sum() if base is None else base[g, o]
            total += factor[g, o] * (there @ said[:, o] / there.sum() - before)
            pairs += 1
    return total / pairs if pairs else float("nan")


def variants(e: Evaluation) -> dict[str, dict[str, Any]]:
    rng = np.random.default_rng(6)
    shape = (e.given.width, e.truth.width)
    counted = rng.random(shape) < 0.6
    return {"all": {}, "base": {"base": rng.random(shape)}, "some": {"counted": counted}}


@pytest.mark.parametrize("variant", ["all", "base", "some"])
@pytest.mark.parametrize("case", CASES)
class TestFixedSigns:
    def made(self, case: str, variant: str) -> tuple[Evaluation, FixedSigns, dict[str, Any]]:
        e = CASES[case]()
        options = variants(e)[variant]
        return e, FixedSigns(BagCounts.from_labels(e, BAGS), signs(e), **options), options

    def test_value(self, case: str, variant: str) -> None:
        e, figure, options = self.made(case, variant)
        assert figure.value == pytest.approx(value_of(e, signs(e), np.ones(len(e)), **options), abs=1e-12)

    def test_influences_are_derivatives_by_the_weight_of_a_bag(self, case: str, variant: str) -> None:
        e, figure, options = self.made(case, variant)
        bag, influence = bag_of(e.units, BAGS), figure.influence()
        assert len(influence) == len(figure.bags.numbers)
        assert influence.sum() == pytest.approx(0.0, abs=1e-12)
        for row in range(0, len(influence), 25):
            mine = bag == figure.bags.numbers[row]
            more, less = (value_of(e, signs(e), 1.0 + step * mine, **options) for step in (STEP, -STEP))
            assert influence[row] == pytest.approx((more - less) / (2 * STEP), abs=1e-8)

    def test_resamples_weigh_bags(self, case: str, variant: str) -> None:
        e, figure, options = self.made(case, variant)
        drawn = figure.replicates(6, 9)
        weights = poisson_weights(row_keys(0, BAGS), 6, 9)[:, bag_of(e.units, BAGS)]
        expected = [value_of(e, signs(e), weights[b].astype(float), **options) for b in range(6)]
        assert drawn == pytest.approx(expected, abs=1e-10)


def test_a_resample_without_any_defined_pair_has_no_value() -> None:
    e = make([0] * 3, [[1], [0], [1]], [[0], [0], [1]])
    figure = FixedSigns(BagCounts.from_labels(e, BAGS), np.ones((1, 1), dtype=np.int8))
    drawn = figure.replicates(400, 0)
    weights = poisson_weights(row_keys(0, BAGS), 400, 0)[:, bag_of(e.units, BAGS)]
    assert np.isnan(drawn).any()
    assert (np.isnan(drawn) == (weights.sum(axis=1) == 0)).all()


@pytest.mark.parametrize("case", CASES)
def test_crossed_is_the_mean_of_both_halves_with_the_signs_of_the_other(case: str) -> None:
    e = CASES[case]()
    halves = BagCounts.from_labels(e, BAGS).halves
    assert halves is not None
    one, two = signs(e), -signs(e)[::-1]
    crossed = Crossed(FixedSigns(halves[0], one), FixedSigns(halves[1], two))
    bag = bag_of(e.units, BAGS)
    upper = bag >= BAGS // 2

    def value(weights: np.ndarray) -> float:
        return 0.5 * (value_of(e, one, weights * upper) + value_of(e, two, weights * ~upper))

    assert crossed.value == pytest.approx(value(np.ones(len(e))), abs=1e-12)
    numbers = BagCounts.from_labels(e, BAGS).numbers
    influence = crossed.influence()
    assert len(influence) == len(numbers)
    for row in (0, 7, len(numbers) - 8, len(numbers) - 1):
        mine = bag == numbers[row]
        slope = (value(1.0 + STEP * mine) - value(1.0 - STEP * mine)) / (2 * STEP)
        assert influence[row] == pytest.approx(slope, abs=1e-8)
    weights = poisson_weights(row_keys(0, BAGS), 4, 2)[:, bag].astype(float)
    assert crossed.replicates(4, 2) == pytest.approx([value(row) for row in weights], abs=1e-10)


def test_redrawn_decides_signs_anew_in_every_resample() -> None:
    e = CASES["hard"]()
    bags = BagCounts.from_labels(e, BAGS)

    def size(counts: PairCounts) -> np.ndarray:
        """A figure whose signs are those of delta itself."""
        factor = np.sign(np.asarray(counts.joint_predicted) - np.asarray(counts.joint_truth)).astype(np.int8)
        return fixed_sign_value(counts, factor)

    fixed = FixedSigns(bags, signs(e))
    redrawn = Redrawn(fixed, bags, size)
    assert redrawn.value == fixed.value
    assert (redrawn.influence() == fixed.influence()).all()
    weights = poisson_weights(row_keys(0, BAGS), 5, 1)[:, bag_of(e.units, BAGS)]
    expected = []
    for row in weights:
        sums = [
            [
                value_of(e, np.ones((3, 5)), row.astype(float), counted=np.arange(15).reshape(3, 5) == 5 * g + o)
                for o in range(5)
            ]
            for g in range(3)
        ]
        expected.append(np.abs(sums).mean())
    assert redrawn.replicates(5, 1) == pytest.approx(expected, abs=1e-12)


class TestLinear:
    """What a second look at the records gives, where pairs are too many to be counted by bag."""

    def made(self, case: str, variant: str) -> tuple[FixedSigns, Linear]:
        e = CASES[case]()
        options = variants(e)[variant]
        bags = BagCounts.from_labels(e, 4096)
        pull = pull_of((bags.whole, bags.whole), (signs(e), signs(e)), options.get("base"), options.get("counted"))
        nothing = np.zeros(0, dtype=np.int64)
        found = look_at((Block(e),), SecondLook((pull,), nothing, nothing))
        figure = FixedSigns(bags, signs(e), **options)
        return figure, Linear(figure.value, pull, 0, lambda: found)

    @pytest.mark.parametrize("variant", ["all", "base", "some"])
    @pytest.mark.parametrize("case", CASES)
    def test_influences_are_those_of_fixed_signs(self, case: str, variant: str) -> None:
        figure, linear = self.made(case, variant)
        # A second look also has bags of records that weigh nothing or lack every label; nothing moves with them.
        mine, theirs = np.zeros(4096), np.zeros(4096)
        mine[np.flatnonzero(linear.sums().filled)] = linear.influence()
        theirs[figure.bags.numbers] = figure.influence()
        assert mine == pytest.approx(theirs, abs=1e-9)

    @pytest.mark.parametrize("case", ["hard", "soft", "missing"])
    def test_resamples_are_those_of_fixed_signs_to_first_order(self, case: str) -> None:
        figure, linear = self.made(case, "all")
        mine, theirs = linear.replicates(1000, 3), figure.replicates(1000, 3)
        # By their definition: the influences of bags, each as often as the bag was drawn.
        weights = poisson_weights(row_keys(0, 4096), 1000, 3)[:, figure.bags.numbers]
        assert mine == pytest.approx(figure.value + (weights - 1.0) @ figure.influence(), abs=1e-8)
        assert np.corrcoef(mine, theirs)[0, 1] > 0.99
        assert mine.std() == pytest.approx(theirs.std(), rel=0.05)


def test_many_records_make_the_first_order_exact() -> None:
    """What the first order leaves out shrinks with the number of records, faster than the error itself."""
    apart = []
    for n in (200, 3200):
        e = replace(random_evaluation(4, n=n, groups=2, width=3))
        bags = BagCounts.from_labels(e, 4096)
        figure = FixedSigns(bags, signs(e))
        weights = poisson_weights(row_keys(0, 4096), 300, 3)[:, bags.numbers]
        first = figure.value + (weights - 1.0) @ figure.influence()
        apart.append(np.abs(first - figure.replicates(300, 3)).mean() / first.std())
    assert apart[1] < apart[0] / 2.5
