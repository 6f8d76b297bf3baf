"""Ratios to the highest rate, group by group against every candidate."""

from __future__ import annotations

from math import inf, sqrt

import numpy as np
import pytest
from scipy.stats import norm

from biasamp.amplification.group_rates import one_of_many
from biasamp.amplification.ratio_to_highest import _ratio_limits, ratios_to_highest


def wilson(rate: float, n: float, z: float) -> tuple[float, float]:
    middle, reach = rate + z * z / 2 / n, z * sqrt(rate * (1 - rate) / n + z * z / 4 / n / n)
    low, high = (middle - reach) / (1 + z * z / n), (middle + reach) / (1 + z * z / n)
    return (0.0 if rate == 0 else low), (1.0 if rate == 1 else high)


def ratio(one: tuple[float, float], two: tuple[float, float], level: float) -> tuple[float, float]:
    """Where ``p1 - R p2`` is as far from 0 as the Wilson limits of both reach, by bisection."""
    z = float(norm.ppf(0.5 + level / 2))
    (p1, n1), (p2, n2) = one, two
    (l1, u1), (l2, u2) = wilson(p1, n1, z), wilson(p2, n2, z)

    def beyond(r: float, upward: bool) -> bool:
        """Whether a ratio lies outside."""
        gap = p1 - r * p2
        reach = sqrt((u1 - p1) ** 2 + (r * (p2 - l2)) ** 2) if upward else sqrt((p1 - l1) ** 2 + (r * (u2 - p2)) ** 2)
        return -gap > reach if upward else gap > reach

    def solved(upward: bool) -> float:
        low, high = 0.0, 1e7
        if upward and not beyond(high, True):
            return inf
        if not upward and not beyond(0.0, False):
            return 0.0
        for _ in range(200):
            middle = (low + high) / 2
            if beyond(middle, upward) == upward:
                high = middle
            else:
                low = middle
        return (low + high) / 2

    return solved(False), solved(True)


def slow(selected: list[float], applicants: list[float], level: float) -> list[tuple[float, float, float, bool] | None]:
    there = [g for g, n in enumerate(applicants) if n > 0]
    rate = {g: selected[g] / applicants[g] for g in there}
    if not there or max(rate.values()) == 0:
        return [None] * len(applicants)
    highest = max(rate.values())
    candidates = []
    for g in there:
        beaten = any(
            one_of_many(rate[h], applicants[h], rate[g], applicants[g], 1 - 2 * 0.2 * (1 - level), len(there) - 1)[0]
            > 0
            for h in there
            if h != g
        )
        if rate[g] == highest or not beaten:
            candidates.append(g)
    out: list[tuple[float, float, float, bool] | None] = []
    for g in range(len(applicants)):
        if g not in there:
            out.append(None)
            continue
        ends = [
            ratio((rate[g], applicants[g]), (rate[h], applicants[h]), 1 - 0.8 * (1 - level))
            for h in candidates
            if h != g
        ]
        low, high = min([1.0, *(end[0] for end in ends)]), min(1.0, max([0.0, *(end[1] for end in ends)]))
        out.append((rate[g] / highest, low, 1.0 if g in candidates else high, g in candidates))
    return out


CASES = {
    "two": ([667, 555], [1390, 1181]),
    "beaten": ([60, 20, 45], [100, 100, 100]),
    "eight alike": ([10, 12, 9, 11, 14, 8, 10, 13], [50] * 8),
    "nobody of one": ([0, 30, 25], [40, 60, 60]),
    "all of one": ([40, 30, 5], [40, 60, 60]),
    "a small one": ([1, 300, 150], [1, 600, 600]),
    "nobody applied": ([0, 30, 10], [0, 60, 60]),
    "far apart": ([5, 480], [500, 500]),
    "alone": ([5, 0], [50, 0]),
    "nobody selected": ([0, 0], [50, 20]),
    "a tiny one that is the highest": ([2, 90, 10], [2, 100, 100]),
    "a tie": ([20, 20, 3], [40, 40, 40]),
}


@pytest.mark.parametrize("level", [0.8, 0.95])
@pytest.mark.parametrize("name", CASES)
def test_every_candidate_is_tried(name: str, level: float) -> None:
    selected, applicants = CASES[name]
    made = ratios_to_highest(np.array(selected, dtype=float), np.array(applicants, dtype=float), level)
    for g, expected in enumerate(slow(selected, applicants, level)):  # type: ignore[arg-type]
        found = made.value[g], made.low[g], made.high[g]
        if expected is None:
            assert np.isnan(found).all()
            assert not made.may_be_highest[g]
        else:
            assert found == pytest.approx(expected[:3], abs=1e-6)
            assert made.may_be_highest[g] == expected[3]


def test_the_level_that_is_not_named() -> None:
    selected, applicants = np.array([60.0, 20.0, 45.0]), np.array([100.0] * 3)
    made, said = ratios_to_highest(selected, applicants), ratios_to_highest(selected, applicants, 0.95)
    assert made.low.tolist() == said.low.tolist()


def test_limits_where_a_count_is_nought() -> None:
    """The ratio to a rate of nothing has no upper limit, that of nothing to it begins at 0."""
    least, most = _ratio_limits(np.array([0.0, 0.5]), np.array([20.0, 30.0]), 0.95)
    assert least[0].tolist() == [0.0, 0.0]
    assert most[:, 0].tolist() == [inf, inf]
    assert least[1, 0] == pytest.approx(ratio((0.5, 30.0), (0.0, 20.0), 0.95)[0])
    assert most[0, 1] == pytest.approx(ratio((0.0, 20.0), (0.5, 30.0), 0.95)[1])
