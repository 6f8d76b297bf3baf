"""Exact sums as whole numbers of Python: any slices, large addends and small ones, carries and negative differences."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from biasamp.counts import fixed
from biasamp.counts.fixed import Fixed, add, as_fixed, concatenate, exact_sums, floats, limbs, subtract, total, units_of


def units(count: Fixed) -> list[int]:
    """Whole multiples of 2**-52."""
    parts = zip(count.whole.ravel().tolist(), count.high.ravel().tolist(), count.low.ravel().tolist(), strict=True)
    return [(whole << 52) + (high << 26) + low for whole, high, low in parts]


def rounded(value: float) -> int:
    """To the nearest multiple of 2**-52."""
    return round(Fraction(value) * 2**52)


VALUES = [0.0, 1.0, 1 / 3, 2.0**-52, 2.0**-53, 3 * 2.0**-53, 1 - 2.0**-53, 2.0**-26, 0.1]


def test_limbs_are_those_of_whole_multiples() -> None:
    whole, high, low = limbs(np.array(VALUES))
    assert whole is None
    assert [(int(h) << 26) + int(l) for h, l in zip(high, low, strict=True)] == [rounded(value) for value in VALUES]  # type: ignore[arg-type]
    large = [*VALUES, 1.5, 7.25, 1e6 + 1 / 3]
    whole, high, low = limbs(np.array(large))
    assert whole is not None
    assert [(int(w) << 52) + (int(h) << 26) + int(l) for w, h, l in zip(whole, high, low, strict=True)] == [
        rounded(value) for value in large
    ]  # type: ignore[arg-type]
    assert limbs(np.array([1.0]))[0] is None
    assert limbs(np.array([np.nextafter(1.0, 2.0)]))[0] is not None
    assert units_of(np.array(VALUES)).tolist() == [rounded(value) for value in VALUES]


@pytest.mark.parametrize("values", [VALUES, [5.5, 1 / 7, 1e5], [], [float(2**40), 0.5, float(2**40)]])
def test_sums_are_exact(values: list[float]) -> None:
    asked: list[tuple[int, int]] = []

    def reduce(part: Any, rows: slice) -> Any:
        asked.append((rows.start, rows.stop))
        assert len(part) == len(values[rows])
        return part.sum(keepdims=True)

    found = exact_sums(np.array(values), reduce)
    assert units(found) == [sum(rounded(value) for value in values)]
    for part in (found.whole, found.high, found.low):
        assert part.dtype == np.int64
    covered = sorted(set(asked))
    assert covered[0][0] == 0
    assert covered[-1][1] >= len(values)


def test_slices_keep_partial_sums_exact(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many addends as their largest one, or a limb of 26 bits, leaves room for."""
    starts: list[int] = []

    def reduce(part: Any, rows: slice) -> Any:
        starts.append(rows.start)
        return part.sum(keepdims=True)

    exact_sums(np.full(20, float(2**50)), reduce)
    assert sorted(set(starts)) == [0, 8, 16]
    starts.clear()
    exact_sums(np.full(5, float(2**53)), reduce)
    assert sorted(set(starts)) == [0, 1, 2, 3, 4]
    starts.clear()
    monkeypatch.setattr(fixed, "EXACT", float(1 << 29))
    found = exact_sums(np.full(20, 0.7), reduce)
    assert sorted(set(starts)) == [0, 8, 16]
    assert units(found) == [20 * rounded(0.7)]


def held(*numbers: tuple[int, int, int]) -> Fixed:
    return Fixed(*(np.array(part, dtype=np.int64) for part in zip(*numbers, strict=True)))


def test_counts_of_either_kind() -> None:
    one, two = held((1, 5, 7), (0, 1 << 25, 0)), held((2, 1, 1), (3, 0, 9))
    whole = np.array([4, 5])
    assert units(one + two) == [a + b for a, b in zip(units(one), units(two), strict=True)]
    assert units(one - two) == [a - b for a, b in zip(units(one), units(two), strict=True)]
    assert (
        units(one + whole)
        == units(whole + one)
        == units(add(one, whole))
        == units(add(whole, one))
        == [a + (b << 52) for a, b in zip(units(one), [4, 5], strict=True)]
    )
    assert (
        units(one - whole)
        == units(subtract(one, whole))
        == [a - (b << 52) for a, b in zip(units(one), [4, 5], strict=True)]
    )
    assert units(subtract(whole, one)) == [(b << 52) - a for a, b in zip(units(one), [4, 5], strict=True)]
    assert add(whole, whole).tolist() == [8, 10]
    assert subtract(whole, whole - 1).tolist() == [1, 1]
    assert units(as_fixed(whole)) == [4 << 52, 5 << 52]
    assert as_fixed(one) is one
    assert (one.shape, one.size) == ((2,), 2)
    assert units(one[1]) == units(one)[1:]
    assert units(Fixed.zeros((2, 3))) == [0] * 6
    assert Fixed.zeros((2, 3)).shape == (2, 3)
    both = concatenate([one, whole])
    assert units(both) == [*units(one), 4 << 52, 5 << 52]
    assert concatenate([whole, whole]).tolist() == [4, 5, 4, 5]
    rows = one.each(lambda part: part[:, None])
    assert concatenate([rows, whole[:, None]], axis=1).shape == (2, 2)
    assert units(total(one)) == [sum(units(one))]
    assert total(np.array([[1, 2], [3, 4]])).tolist() == [4, 6]


def test_sums_are_written_one_way_and_rounded_once() -> None:
    count = held((1, (1 << 26) * 3 + 5, (1 << 26) * 2 + 9), (0, -1, -1), (2, 0, -(1 << 60)))
    carried = count.carried()
    assert units(carried) == units(count)
    for part in (carried.high, carried.low):
        assert ((part >= 0) & (part < 1 << 26)).all()
    expected = [Fraction(unit, 2**52) for unit in units(count)]
    for found, exact in zip(count.floats().tolist(), expected, strict=True):
        assert abs(Fraction(found) - exact) <= abs(exact) * Fraction(1, 2**52)
    assert held((0, 1 << 25, 0)).floats().tolist() == [0.5]
    assert held((3, 0, 1)).floats().tolist() == [3.0 + 2.0**-51] or held((3, 0, 1)).floats().tolist() == [3.0]
    assert floats(np.array([3])).dtype == np.float64
    assert floats(held((1, 1 << 25, 0))).tolist() == [1.5]
