"""A base of records is a sample: its own error is in the intervals, held against bases that are drawn again and again."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp import directional
from biasamp.amplification.base_records import BaseRecords
from biasamp.data import LabelSet
from biasamp.data.arguments import read_train
from biasamp.results.interval import Interval

RATES = np.array([[0.55, 0.3, 0.15], [0.2, 0.3, 0.5]])
PREDICTED = np.array([[0.6, 0.3, 0.1], [0.2, 0.25, 0.55]])
NAMES = np.array(["a", "b", "c"])


def drawn(rng: np.random.Generator, n: int, rates: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Groups of two, and an outcome of three that they have at ``rates``."""
    group = rng.integers(0, 2, n)
    outcome = (rng.random(n)[:, None] > rates.cumsum(axis=1)[group][:, :-1]).sum(axis=1)
    return np.array(["m", "w"])[group], NAMES[outcome]


def encoded(values: np.ndarray) -> LabelSet:
    """Labels as they are read."""
    return read_train((values, np.arange(len(values)) % 2), ("given", "truth"), "train")[0]


def width(interval: Interval | None) -> float:
    assert interval is not None
    return interval.high - interval.low


def test_the_error_of_a_base_is_that_of_bases_drawn_again() -> None:
    rng = np.random.default_rng(1)
    group, predicted = drawn(rng, 4_000, PREDICTED)
    signs = drawn(rng, 20_000, RATES)
    bases = [drawn(rng, 1_000, RATES) for _ in range(400)]
    values = [directional(group, None, predicted, train=signs, base=base).value for base in bases]
    with_error = directional(group, None, predicted, train=signs, base=bases[0])
    # Rates as probabilities are exact, so that what is wider is the error of the base.
    exact = directional(group, None, predicted, train=signs, base={"conditional": RATES, "given": [0.5, 0.5]})
    of_base = np.sqrt(width(with_error.confidence_interval()) ** 2 - width(exact.confidence_interval()) ** 2) / (
        2 * 1.96
    )
    assert of_base == pytest.approx(np.std(values), rel=0.15)


def test_pairs_have_the_error_of_their_base_rates() -> None:
    rng = np.random.default_rng(2)
    group, predicted = drawn(rng, 4_000, PREDICTED)
    base = drawn(rng, 500, RATES)
    known = directional(group, None, predicted, base=base)
    rates = {(g, o): np.mean(base[1][base[0] == g] == o) for g in "mw" for o in "abc"}
    exact = directional(
        group,
        None,
        predicted,
        base={"conditional": [[rates[g, o] for o in "abc"] for g in "mw"], "given": [0.5, 0.5]},
    )
    for row, other in zip(known.pairs.rows(), exact.pairs.rows(), strict=True):
        n, rate = np.sum(base[0] == row["given"]), rates[row["given"], row["outcome"]]
        own, both = ((r["high"] - r["low"]) / (2 * 1.96) for r in (other, row))
        assert both**2 - own**2 == pytest.approx(rate * (1 - rate) / n, rel=0.1)
        assert row["p"] >= other["p"]


def test_counts_of_a_base_are_records_of_it() -> None:
    rng = np.random.default_rng(3)
    group, predicted = drawn(rng, 2_000, PREDICTED)
    base = drawn(rng, 300, RATES)
    joint = np.array([[np.sum((base[0] == g) & (base[1] == o)) for o in "abc"] for g in "mw"])
    of_records, of_counts = (directional(group, None, predicted, base=one) for one in (base, joint))
    of_shares = directional(group, None, predicted, base=joint / joint.sum())
    assert tuple(of_records.quiet_interval()) == pytest.approx(tuple(of_counts.quiet_interval()), rel=1e-9)
    assert width(of_shares.confidence_interval()) < 0.7 * width(of_counts.quiet_interval())


def several(rng: np.random.Generator, n: int, moved: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """Groups of two, and six yes/no labels that mostly go together; the second group has them more often."""
    group = rng.integers(0, 2, n)
    common = rng.random(n)
    own = np.where(rng.random((n, 6)) < 0.7, common[:, None], rng.random((n, 6)))
    return group, (own < 0.3 + (0.3 + moved) * group[:, None]).astype(int)


def test_labels_of_a_base_that_go_together_err_together() -> None:
    rng = np.random.default_rng(5)
    group, predicted = several(rng, 5_000, 0.05)
    signs = several(rng, 20_000)
    bases = [several(rng, 500) for _ in range(400)]
    values = [directional(group, None, predicted, train=signs, base=base).value for base in bases]
    share = {"conditional": [[0.3] * 6, [0.6] * 6], "given": [0.5, 0.5], "outcome": [0.45] * 6}
    exact = directional(group, None, predicted, train=signs, base=share)
    with_error = [directional(group, None, predicted, train=signs, base=base) for base in bases[:20]]
    wide = np.mean([width(found.confidence_interval()) ** 2 for found in with_error])
    of_base = np.sqrt(wide - width(exact.confidence_interval()) ** 2) / (2 * 1.96)
    assert of_base == pytest.approx(np.std(values), rel=0.15)
    # Were labels independent the error would be no more than this.
    alone = np.sqrt((0.3 * 0.7 + 0.6 * 0.4) / 250 / 6) / 2
    assert of_base > 1.5 * alone


def test_squares_of_records_are_those_of_a_loop() -> None:
    rng = np.random.default_rng(6)
    group, stratum = rng.integers(0, 3, 200), rng.integers(0, 2, 200)
    labels = rng.integers(0, 2, (200, 4))
    given, outcome = (encoded(held) for held in (group, labels))
    records = BaseRecords.of(given, outcome, [stratum == s for s in range(2)])
    each, once = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 3))
    slow = sum(
        (once[s, g] + sum(each[s, g, o] for o in range(4) if row[o])) ** 2
        for g, s, row in zip(group, stratum, labels, strict=True)
    )
    assert records.squares(each, once) == pytest.approx(slow, rel=1e-9)


def test_directions_that_a_base_does_not_tell_get_no_verdict() -> None:
    """Rates that chance has put apart seem to be drawn together by any model: signs and rates are of the same records."""
    rng = np.random.default_rng(7)
    group, base_group = rng.integers(0, 2, 5_000), rng.integers(0, 2, 400)
    predicted, truth = (rng.random((n, 8)) < 0.4 for n in (5_000, 400))
    base = base_group, truth.astype(int)
    found = directional(group, None, predicted.astype(int), base=base)
    assert found.value < -0.005
    assert any(
        "the records of the base cannot tell the direction" in words for words in found.quiet_interval().cautions
    )
    bounds = found.bounds()
    assert bounds is not None
    assert bounds.low < 0 < bounds.high
    known = directional(group, None, predicted.astype(int), base=base, train=several_weak(rng))
    assert not any("of the base" in words for words in known.quiet_interval().cautions)


def several_weak(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    group = rng.integers(0, 2, 50_000)
    return group, (rng.random((50_000, 8)) < 0.4 + 0.02 * group[:, None]).astype(int)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("size", [200, 2_000])
def test_intervals_with_a_sampled_base_hold_the_true_value(size: int) -> None:
    """Of 200 samples of a model that changes nothing, at most 9% of the intervals at 95% are without 0: 3 errors of 5%."""
    rng = np.random.default_rng(size)
    missed, signs = 0, drawn(rng, 20_000, RATES)
    for _ in range(200):
        group, predicted = drawn(rng, 2_000, RATES)
        # Signs are given, as those of a sample would lean with its errors.
        base = drawn(rng, size, RATES)
        found = directional(group, None, predicted, base=base, train=signs).confidence_interval()
        assert found is not None
        missed += not found.low <= 0.0 <= found.high
    assert missed <= 0.09 * 200
