"""Bags and weights as they are defined, in whole numbers of Python: counts of other days and machines must meet the same."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from biasamp.counts import bagging
from biasamp.counts.bagging import (
    addends,
    bag_of,
    bag_of_record,
    bag_weights,
    bags_for,
    deal_out,
    exact_floats,
    exact_product,
    fewer_bags,
    half_of,
    occupied,
    poisson_weights,
    shuffled_numbers,
    thresholds,
    weighted_sums,
)
from biasamp.counts.fixed import Fixed
from biasamp.data.keys import row_keys

ALL = (1 << 64) - 1
KEYS = row_keys(0, 300)


def mixed(value: int) -> int:
    """The finalizer of SplitMix64."""
    z = (value + 0x9E3779B97F4A7C15) & ALL
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 & ALL
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB & ALL
    return z ^ (z >> 31)


def half_by_hand(key: int, seed: int = 0) -> int:
    return mixed(key ^ mixed(mixed(seed % (1 << 64)) ^ 0x5851F42D4C957F2D)) >> 63


def bag_by_hand(key: int, bags: int) -> int:
    """The half decides the highest bit of a bag's number, another hash all others."""
    low = bags.bit_length() - 2
    return half_by_hand(key) << low | mixed(key ^ 0x2545F4914F6CDD1D) >> (64 - low)


def weights_by_hand(keys: list[int], resamples: int, seed: int) -> list[list[int]]:
    """A hash for every four resamples gives each of them 16 bits, the lowest first."""
    steps = thresholds()
    out = []
    for resample in range(resamples):
        stream = mixed((mixed(seed % (1 << 64)) + resample // 4 + 1) & ALL)
        draws = [mixed(key ^ stream) >> 16 * (resample % 4) & 0xFFFF for key in keys]
        out.append([sum(draw >= step for step in steps) for draw in draws])
    return out


def test_thresholds_are_tails_of_the_distribution() -> None:
    found = [(1 << 16) - step for step in thresholds()]
    tails = []
    for k in range(1, 30):
        tail = 1.0 - sum(math.exp(-1) / math.factorial(i) for i in range(k))
        if tail * (1 << 16) >= 0.5:
            tails.append(round(tail * (1 << 16)))
    assert len(found) == len(tails) == 8
    assert found[1:] == tails[1:]
    assert abs(found[0] - tails[0]) <= 3
    # The mean is the sum of the tails.
    assert sum(found) == 1 << 16


@pytest.mark.parametrize("seed", [0, 7, (1 << 64) + 7, -3])
def test_weights_are_those_of_whole_numbers(seed: int) -> None:
    expected = weights_by_hand(KEYS.tolist(), 11, seed)
    found = poisson_weights(KEYS, 11, seed)
    assert found.dtype == np.uint8
    assert found.tolist() == expected
    assert poisson_weights(KEYS, 3, seed, first=8).tolist() == expected[8:]
    assert poisson_weights(KEYS, 8, seed).shape == (8, 300)
    assert poisson_weights(KEYS[:0], 5, seed).shape == (5, 0)


def unmixed(value: int) -> int:
    """The number that :func:`mixed` makes this one of."""

    def unshifted(z: int, by: int) -> int:
        out = z
        for _ in range(64 // by):
            out = z ^ out >> by
        return out

    z = unshifted(value, 31) * pow(0x94D049BB133111EB, -1, 1 << 64) & ALL
    z = unshifted(z, 27) * pow(0xBF58476D1CE4E5B9, -1, 1 << 64) & ALL
    return (unshifted(z, 30) - 0x9E3779B97F4A7C15) & ALL


def test_a_draw_at_a_threshold_is_worth_it() -> None:
    stream = mixed((mixed(9) + 1) & ALL)
    steps = [step + more for step in thresholds() for more in (-1, 0)]
    keys = np.array([unmixed(step << 16) ^ stream for step in steps], dtype=np.uint64)
    first, second = poisson_weights(keys, 2, 9).tolist()
    assert first == [0] * 16
    assert second == [place // 2 + place % 2 for place in range(16)]


def test_weights_of_bags_are_those_of_their_numbers() -> None:
    numbers = np.array([0, 3, 17, 255])
    found = bag_weights(numbers, 256, 6, 5)
    assert found.dtype == np.float32
    assert not found.flags.writeable
    assert found.tolist() == weights_by_hand(row_keys(0, 256)[numbers].tolist(), 6, 5)


@pytest.mark.parametrize("seed", [0, 1, -1, 1 << 64])
def test_halves_are_those_of_whole_numbers(seed: int) -> None:
    assert half_of(KEYS, seed).tolist() == [bool(half_by_hand(key, seed)) for key in KEYS.tolist()]


@pytest.mark.parametrize("bags", [2, 4, 256, 4096])
@pytest.mark.parametrize("remembered", [1 << 18, 299])
def test_bags_are_those_of_whole_numbers(bags: int, remembered: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bagging, "_REMEMBERED", remembered)
    monkeypatch.setattr(bagging, "_MIXED", 77)
    found = bag_of(KEYS, bags)
    expected = [bag_by_hand(key, bags) if bags > 2 else half_by_hand(key) for key in KEYS.tolist()]
    assert found.dtype == np.int64
    assert found.tolist() == expected


def test_bags_of_the_last_keys_are_remembered(monkeypatch: pytest.MonkeyPatch) -> None:
    first = bag_of(KEYS, 256)
    assert bag_of(KEYS, 256) is first
    assert not first.flags.writeable
    assert bag_of(KEYS, 4) is not first
    assert bag_of(KEYS, 4).max() == 3
    others = KEYS[::-1].copy()
    assert bag_of(others, 4).tolist() == bag_of(KEYS, 4)[::-1].tolist()
    monkeypatch.setattr(bagging, "_REMEMBERED", 300)
    assert bag_of(KEYS, 8) is bag_of(KEYS, 8)
    monkeypatch.setattr(bagging, "_REMEMBERED", 299)
    assert bag_of(KEYS, 16) is not bag_of(KEYS, 16)


def test_bags_of_records_follow_from_the_most_that_were_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bagging, "_MIXED", 77)
    asked = []
    real = bagging.bag_of
    monkeypatch.setattr(bagging, "bag_of", lambda units, bags: asked.append(bags) or real(units, bags))
    evaluation: Any = SimpleNamespace(units=KEYS)
    for bags in (256, 4, 256, 4096, 256, 2, 4096):
        assert bag_of_record(evaluation, bags).tolist() == real(KEYS, bags).tolist()
    assert asked == [256, 4096]


@pytest.mark.parametrize("bags, wanted", [(4096, 4096), (4096, 256), (256, 4), (256, 2), (8, 4), (4, 2), (2, 2)])
def test_fewer_bags_are_those_of_a_coarser_cut(bags: int, wanted: int) -> None:
    assert fewer_bags(bag_of(KEYS, bags), bags, wanted).tolist() == bag_of(KEYS, wanted).tolist()


def test_as_many_bags_as_fit() -> None:
    expected = {0: 4096, 1: 4096, 1024: 4096, 1025: 2048, 2048: 2048, 2049: 1024, 16_384: 256, 16_385: 2, 1 << 40: 2}
    assert {pairs: bags_for(pairs) for pairs in expected} == expected


def test_occupied_bags() -> None:
    bag = np.array([5, 1, 5, 3, 1])
    numbers, place = occupied(bag, 7)
    assert numbers.tolist() == [1, 3, 5]
    assert place.tolist() == [2, 0, 2, 1, 0]
    numbers, place = occupied(np.array([2, 0, 1, 1]), 3)
    assert numbers.tolist() == [0, 1, 2]
    assert place.tolist() == [2, 0, 1, 1]
    numbers, place = occupied(np.array([2, 1, 1]), 3)
    assert numbers.tolist() == [1, 2]
    assert place.tolist() == [1, 0, 0]
    numbers, place = occupied(np.array([0, 1]), 3)
    assert numbers.tolist() == [0, 1]


@pytest.mark.parametrize("small", [1 << 28, 10])
@pytest.mark.parametrize("one_thread", [1 << 18, 64, 1])
def test_products_are_exact_however_they_are_cut(small: int, one_thread: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bagging, "_SMALL_PRODUCT", small)
    monkeypatch.setattr(bagging, "_ONE_THREAD", one_thread)
    rng = np.random.default_rng(0)
    for rows, inner, columns in ((1, 1, 1), (33, 7, 2), (70, 5, 3), (2, 100, 3), (3, 0, 2), (0, 4, 2), (4, 3, 0)):
        left, right = rng.integers(0, 9, (rows, inner)), rng.integers(-500, 500, (inner, columns))
        for kind in (np.float32, np.float64):
            found = exact_product(left.astype(np.float32), right.astype(kind))
            assert found.dtype == np.float64
            assert found.tolist() == (left @ right).tolist()
    # Numbers that only the type of the second matrix holds.
    large = np.array([[float(2**40 + 1)]])
    assert exact_product(np.array([[3]], dtype=np.uint8), large).tolist() == [[3.0 * (2**40 + 1)]]


def test_sums_with_weights_keep_their_shape() -> None:
    weights = np.array([[1, 2, 0], [3, 0, 1]], dtype=np.float32)
    values = np.arange(12.0).reshape(3, 2, 2)
    assert weighted_sums(weights, values).tolist() == np.einsum("rb,bij->rij", weights, values).tolist()
    assert weighted_sums(weights, values[:, 0, 0]).tolist() == [8.0, 8.0]


@pytest.mark.parametrize("most", [1 << 22, 4096, 3])
def test_cells_are_dealt_out_alike(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bagging, "MOST_CELLS", most)
    counts = np.array([5, 0, 900, 1, 7000, 40, 3, 12])
    cell, bag, dealt, bags = deal_out(counts)
    # Cells of more records than bags take up every bag.
    assert bags == {1 << 22: 4096, 4096: 2048, 3: 256}[most]
    rng = np.random.default_rng(np.random.SeedSequence(0x5EED0FBA65))
    expected = [
        (place, b, n)
        for place, count in enumerate(counts)
        for b, n in enumerate(rng.multinomial(count, np.full(bags, 1 / bags)))
        if n
    ]
    assert list(zip(cell.tolist(), bag.tolist(), dealt.tolist(), strict=True)) == expected


def test_as_many_bags_are_dealt_to_as_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    def bags(counts: list[int]) -> int:
        return deal_out(np.array(counts))[3]

    # A cell of 4,096 records or more has as many entries as there are bags.
    monkeypatch.setattr(bagging, "MOST_CELLS", 4096)
    assert bags([4096]) == 4096
    assert bags([9000]) == 4096
    assert bags([4096, 1]) == 2048
    assert bags([9000, 9000, 1]) == 1024
    monkeypatch.setattr(bagging, "MOST_CELLS", 512)
    assert bags([9000]) == 512
    assert bags([9000, 1]) == 256
    assert bags([9000] * 9) == 256


@pytest.mark.parametrize("seed", [0, 5])
def test_bags_are_shuffled_within_their_halves(seed: int) -> None:
    rng = np.random.default_rng(np.random.SeedSequence([0x5EED0FBA65, seed]))
    lower, upper = rng.permutation(8), rng.permutation(8)
    # The bag that stands at a place of the new order gets this place as its number.
    new = {int(old): place for place, old in enumerate(lower)} | {
        8 + int(old): 8 + place for place, old in enumerate(upper)
    }
    numbers = np.array([1, 2, 7, 8, 12, 15])
    moved, rows = shuffled_numbers(numbers, 16, seed)
    assert moved.tolist() == sorted(new[number] for number in numbers.tolist())
    assert [new[number] for number in numbers[rows].tolist()] == moved.tolist()
    assert (moved < 8).sum() == 3


def test_whole_numbers_are_as_short_as_their_sums() -> None:
    short = addends(np.array([[1 << 20], [(1 << 20) - 1]]), whole=True)
    assert short.dtype == np.float32
    assert short.tolist() == [[float(1 << 20)], [float((1 << 20) - 1)]]
    # Eight times the largest sum is 2**24.
    assert addends(np.array([[1 << 20], [1 << 20]]), whole=True).dtype == np.float64
    assert addends(np.array([[-(1 << 20)], [1 << 20]]), whole=True).dtype == np.float64
    assert addends(np.array([[1 << 20, 0], [0, 1 << 20]]), whole=True).dtype == np.float32
    assert addends(np.zeros((0, 2)), whole=True).dtype == np.float32
    assert addends(np.zeros((0, 2)), whole=True).shape == (0, 2)


def test_fractions_are_cut_to_bits_that_leave_room() -> None:
    third = 1.0 / 3.0

    def cut(value: float, bits: int) -> float:
        return round(value * 2**bits) / 2**bits

    assert addends(np.array([[third], [third]]), whole=False).tolist() == [[cut(third, 48)]] * 2
    # Sums of 5 / 3 and of 5 need one bit, and three.
    assert addends(np.full((5, 1), third), whole=False).tolist() == [[cut(third, 47)]] * 5
    assert addends(np.full((15, 1), -third), whole=False).tolist() == [[cut(-third, 45)]] * 15
    assert addends(np.array([[third, 0.0], [0.0, third]]), whole=False).tolist() == [
        [cut(third, 48), 0.0],
        [0.0, cut(third, 48)],
    ]
    assert addends(np.zeros((0, 2)), whole=False).shape == (0, 2)


def test_counts_as_floats() -> None:
    whole = exact_floats(np.array([[3], [4]]))
    assert whole.dtype == np.float32
    assert whole.tolist() == [[3.0], [4.0]]
    fraction = Fixed(np.array([[2], [0]]), np.array([[1 << 25], [0]]), np.array([[0], [1 << 25]]))
    found = exact_floats(fraction)
    assert found.dtype == np.float64
    assert found.tolist() == [[2.5], [2.0**-27]]
