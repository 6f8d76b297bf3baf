"""The error that a base adds, from its formula: strata, given labels and outcomes one by one."""

from __future__ import annotations

from itertools import product
from math import sqrt
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

from biasamp.amplification.base import Base
from biasamp.amplification.base_error import BaseError, mean_variance, pair_variance, widened
from biasamp.amplification.base_records import BaseRecords
from biasamp.counts.bags import BagCounts
from biasamp.counts.pair import PairCounts
from biasamp.data.arguments import read_evaluation


def counted(given: Any, truth: Any) -> PairCounts:
    read, _, _ = read_evaluation(given, truth, np.asarray(truth).copy(), None, None)
    return BagCounts.from_labels(read).whole


RNG = np.random.default_rng(0)
GROUP = RNG.choice(["a", "b", "c"], 90)
KINDS: dict[str, tuple[Any, Any, list[list[int]]]] = {
    # Which outcomes exclude each other.
    "values": (GROUP, RNG.choice(["x", "y", "z"], 90), [[0, 1, 2]]),
    "labels": (GROUP, RNG.integers(0, 2, (90, 3)), [[0], [1], [2]]),
    "shared groups": (RNG.integers(0, 2, (90, 3)), RNG.choice(["x", "y", "z"], 90), [[0, 1, 2]]),
    "all labels": (RNG.integers(0, 2, (90, 3)), RNG.integers(0, 2, (90, 3)), [[0], [1], [2]]),
}


def excess(rate: float, n: float) -> float:
    """A rate as if each label had been seen and missed twice more, less what the records show."""
    added = (n * rate + 2) / (n + 4)
    return max(added * (1 - added) / (n + 4) - rate * (1 - rate) / max(n, 1), 0.0)


def rates_of(kind: str, strata: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    size = rng.integers(2, 60, (strata, 3)).astype(float)
    rates = rng.dirichlet(np.ones(3), (strata, 3)) if len(KINDS[kind][2]) == 1 else rng.random((strata, 3, 3))
    rates[0, 1] = [1.0, 0.0, 0.0]
    return size, rates


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moves", [False, True])
@pytest.mark.parametrize("empty", [False, True])
def test_variance_of_counts(kind: str, moves: bool, empty: bool) -> None:
    given, truth, sets = KINDS[kind]
    size, rates = rates_of(kind, 2)
    if empty:
        size[1, 2], rates[1, 2] = 0.0, np.nan
    rng = np.random.default_rng(2)
    weight, signed = rng.random((2, 3)), rng.choice([-1.0, 0.0, 1.0], (2, 3, 3))
    moved = rng.normal(size=(2, 3)) if moves else None
    known = np.nan_to_num(rates)
    shares = size / size.sum(axis=0)
    each, extra = [], 0.0
    for g in range(3):
        variance = 0.0
        for s in range(2):
            error = 0.0
            for places in sets:
                f, r = signed[s, g, places], known[s, g, places]
                # Multinomial where outcomes exclude each other; errors of other labels go together.
                mean = float((f * r).sum())
                of_set = float((f**2 * r).sum()) - mean**2
                error += sqrt(max(of_set, 0.0) / max(size[s, g], 1.0))
            variance += (weight[s, g] * error) ** 2
            extra += sum((weight[s, g] * signed[s, g, o]) ** 2 * excess(known[s, g, o], size[s, g]) for o in range(3))
        if moved is not None:
            mean = float((shares[:, g] * moved[:, g]).sum())
            variance += float((shares[:, g] * (moved[:, g] - mean) ** 2).sum()) / size[:, g].sum()
        each.append(variance)
    # Given labels that a record may have several of err together.
    total = sum(each) if kind in ("values", "labels") else sum(map(sqrt, each)) ** 2
    made = BaseError(counted(given, truth), size, rates)
    assert made.variance(weight, signed, moved) == pytest.approx(total + extra)
    assert made.shares == pytest.approx(shares)
    alike = np.broadcast_to(signed[0], signed.shape)
    assert made.variance(weight, signed[0], moved) == pytest.approx(made.variance(weight, alike, moved))


def records_of(kind: str) -> tuple[BaseRecords, list[tuple[int, list[int], list[int]]]]:
    """A base of records in two strata, and for each its stratum, given labels and outcomes."""
    given, truth, _ = KINDS[kind]
    read, _, _ = read_evaluation(given, truth, np.asarray(truth).copy(), None, None)
    stratum = np.arange(90) % 2
    records = BaseRecords.of(read.given, read.truth, [stratum == s for s in range(2)])
    lots = [
        (int(s), np.flatnonzero(g).tolist(), np.flatnonzero(t).tolist())
        for s, g, t in zip(stratum, read.given.rows(), read.truth.rows(), strict=True)
    ]
    return records, lots


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("moves", [False, True])
def test_variance_of_records(kind: str, moves: bool) -> None:
    """Each record pulls the sum by what it moves in the rates of its groups, all of them added up before they are squared."""
    given, truth, _ = KINDS[kind]
    records, lots = records_of(kind)
    size, hits = np.zeros((2, 3)), np.zeros((2, 3, 3))
    for s, groups, outcomes in lots:
        for g in groups:
            size[s, g] += 1
            hits[s, g, outcomes] += 1
    rates = hits / size[..., None]
    rng = np.random.default_rng(3)
    weight, signed = rng.random((2, 3)), rng.choice([-1.0, 0.0, 1.0], (2, 3, 3))
    moved = rng.normal(size=(2, 3)) if moves else np.zeros((2, 3))
    shares = size / size.sum(axis=0)
    mean = (shares * moved).sum(axis=0)
    total = 0.0
    for s, groups, outcomes in lots:
        pull = 0.0
        for g in groups:
            for o in range(3):
                pull += weight[s, g] * signed[s, g, o] * ((o in outcomes) - rates[s, g, o]) / size[s, g]
            pull += (moved[s, g] - mean[g]) / size[:, g].sum()
        total += pull**2
    extra = sum(
        (weight[s, g] * signed[s, g, o]) ** 2 * excess(rates[s, g, o], size[s, g])
        for s, g, o in product(range(2), range(3), range(3))
    )
    made = BaseError(counted(given, truth), size, rates, records)
    assert made.variance(weight, signed, moved if moves else None) == pytest.approx(total + extra, rel=1e-8)


def test_parts_of_records() -> None:
    """One stratum, and some of the labels; records that lack a label are left out."""
    records, lots = records_of("labels")
    each, once = RNG.normal(size=(2, 3, 3)), RNG.normal(size=(2, 3))
    keep = np.array([True, False, True])
    few = sum(
        sum(once[1, 2 * i] + sum(each[1, 2 * i, o] for o in held if o != 1) for i in (0, 1) if 2 * i in groups) ** 2
        for s, groups, held in lots
        if s == 1
    )
    part = records[1].only(keep, keep)
    assert part.squares(each[1:, keep][:, :, keep], once[1:, keep]) == pytest.approx(few, rel=1e-8)
    joint = records[0].joint()
    assert joint.records == 45
    assert records[1].squares(np.zeros((1, 3, 3)), np.zeros((1, 3))) == 0.0


def test_many_records_are_looked_at_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    records, _ = records_of("all labels")
    each, once = RNG.normal(size=(2, 3, 3)), RNG.normal(size=(2, 3))
    whole = records.squares(each, once)
    monkeypatch.setattr("biasamp.amplification.base_records._ROWS", 7)
    assert records.squares(each, once) == pytest.approx(whole)


def test_error_of_every_rate() -> None:
    base = Base(rates=np.array([[0.2, 1.0], [np.nan, 0.5]]), records=np.array([[10.0, 10.0], [0.0, 4.0]]))
    expected = [[0.2 * 0.8 / 10 + excess(0.2, 10), excess(1.0, 10)], [excess(0.0, 0), 0.25 / 4 + excess(0.5, 4)]]
    np.testing.assert_allclose(pair_variance(base, (2, 2)), expected)
    assert excess(0.5, 4) == 0.0
    assert excess(1.0, 10) == pytest.approx((12 / 14) * (2 / 14) / 14)
    for exact in (Base(), Base(rates=base.rates), Base(records=base.records)):
        assert pair_variance(exact, (2, 2)).tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_error_of_the_mean() -> None:
    """Of the pairs that are counted; an exact base adds nothing, nor does a mean over no pair."""
    counts = counted(*KINDS["values"][:2])
    size, rates = rates_of("values", 1)
    base = Base(rates=rates[0], records=np.broadcast_to(size[0][:, None], (3, 3)))
    factor = np.array([[1, -1, 0], [1, 1, -1], [-1, 0, 1]], dtype=np.int8)
    mask = np.array([[True, True, True], [True, False, True], [True, True, False]])
    expected = BaseError(counts, size, rates).variance(np.ones((1, 3)), np.where(mask, factor, 0).astype(float)) / 7**2
    assert mean_variance(base, counts, factor, mask) == pytest.approx(expected)
    assert mean_variance(base, counts, factor, np.zeros((3, 3), dtype=bool)) == 0.0
    for exact in (Base(rates=base.rates), Base(records=base.records)):
        assert mean_variance(exact, counts, factor, mask) == 0.0


def test_intervals_with_the_error_of_a_base() -> None:
    base = Base(rates=np.array([[0.2, 0.6]]), records=np.array([[50.0, 30.0]]))
    delta, low, high = np.array([[0.1, -0.05]]), np.array([[0.02, -0.2]]), np.array([[0.2, 0.06]])
    p = np.array([[0.01, np.nan]])
    below, above, made = widened(base, delta, (low, high), p, 0.9)
    z, extra = norm.ppf(0.95), pair_variance(base, (1, 2))
    for k in range(2):
        d = delta[0, k]
        assert below[0, k] == pytest.approx(d - sqrt((d - low[0, k]) ** 2 + z * z * extra[0, k]))
        assert above[0, k] == pytest.approx(d + sqrt((high[0, k] - d) ** 2 + z * z * extra[0, k]))
    own = ((0.2 - 0.02) / (2 * z)) ** 2
    statistic = norm.isf(0.01 / 2) * sqrt(own / (own + extra[0, 0]))
    assert made[0, 0] == pytest.approx(2 * norm.sf(statistic))
    assert np.isnan(made[0, 1])
    same = widened(Base(rates=base.rates), delta, (low, high), p, 0.9)
    assert [part is held for part, held in zip(same, (low, high, p), strict=True)] == [True] * 3
