"""Loops over bytes in numba, each against a few lines of Python."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp.data.keys import mix
from extras import needs

needs("numba")

from biasamp.counts.kernels import compiled_bags  # noqa: E402

ALL = (1 << 64) - 1


@pytest.mark.parametrize("bags", [0, 3])
@pytest.mark.parametrize("many", [0, 1, 255, 256, 300, 700])
def test_records_are_added_to_their_bags(bags: int, many: int) -> None:
    """More records than a byte counts, of one bag or of several that come one after another."""
    rng = np.random.default_rng(many)
    records, width, groups = 40, 3, 2
    truth, said = rng.integers(0, 2, (2, records, width)).astype(np.uint8)
    truth[:, 0] = said[:, 0] = 1
    rows, labels = rng.integers(0, records, many), rng.integers(0, groups, many)
    bag = np.sort(rng.choice([0, 2], many)) if bags else np.zeros(0, dtype=np.int64)
    table = np.full((max(bags, 1), groups, 3 * width + 1), 5, dtype=np.int64)
    compiled_bags.add_to_bags(rows, labels, bag, truth, said, table)
    columns = np.concatenate([truth, np.ones((records, 1), dtype=int), said, truth & said], axis=1).astype(int)
    expected = np.full(table.shape, 5)
    np.add.at(expected, (bag if bags else np.zeros(many, dtype=int), labels), columns[rows])
    assert table.tolist() == expected.tolist()


def digest(one: int, hashed: int) -> int:
    total = (one ^ hashed) * 0xD1342543DE82EF95 & ALL
    return total ^ total >> 29


@pytest.mark.parametrize("both", [False, True])
def test_digests_of_bytes(both: bool) -> None:
    rng = np.random.default_rng(0)
    one, two = rng.integers(0, 1 << 62, (2, 9)).astype(np.uint64)
    table = rng.integers(0, 1 << 62, 256).astype(np.uint64)
    values = np.array([0, 1, 255, 7, 7, 0, 3, 200, 1], dtype=np.uint8)
    expected = [
        [digest(key, int(table[value])) for key, value in zip(side.tolist(), values, strict=True)]
        for side in (one, two)
    ]
    second = expected[1] if both else two.tolist()
    compiled_bags.mix_bytes(one, two, values, table, both)
    assert one.tolist() == expected[0]
    assert two.tolist() == second


@pytest.mark.parametrize("both", [False, True])
def test_digests_of_numbers(both: bool) -> None:
    """Of their bits; the zero below 0 is the zero."""
    rng = np.random.default_rng(1)
    values = np.array([0.0, -0.0, 1.5, -2.25, np.inf, 1e-300])
    one, two = rng.integers(0, 1 << 62, (2, 6)).astype(np.uint64)
    name = np.uint64(12345)
    bits = np.abs(values[:2]).view(np.uint64).tolist() + values[2:].view(np.uint64).tolist()
    hashed = [int(key) ^ 12345 for key in mix(np.array(bits, dtype=np.uint64))]
    expected = [[digest(key, own) for key, own in zip(side.tolist(), hashed, strict=True)] for side in (one, two)]
    second = expected[1] if both else two.tolist()
    compiled_bags.mix_floats(one, two, values, name, both)
    assert one.tolist() == expected[0]
    assert two.tolist() == second
