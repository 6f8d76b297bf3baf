"""One option of each set at the least cost, held against trying all of them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from biasamp.amplification.least_cost import MOST_SUMS, ROUNDING, Hulls, LeastCost, Options, least_cost


def frontier(x: list[float], c: list[float]) -> list[tuple[float, float]]:
    """Pairs of figures that no other pair beats in one without being worse in the other."""
    pairs = sorted(set(zip(x, c, strict=True)))
    return [p for p in pairs if not any(q != p and q[0] <= p[0] and q[1] <= p[1] for q in pairs)]


def corners(points: list[tuple[float, float]]) -> list[tuple[float, float]]:
    """The convex hull of a frontier: no corner lies on or above the line of two others around it."""
    return [
        (x, c)
        for x, c in points
        if not any(
            a[0] < x < b[0] and (c - a[1]) * (b[0] - a[0]) >= (b[1] - a[1]) * (x - a[0])
            for a, b in product(points, points)
        )
    ]


def drawn(seed: int, sets: int, whole: bool = True, size: int = 7) -> list[Options]:
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(sets):
        n = int(rng.integers(1, size + 1))
        cost = rng.integers(0, 30, n).astype(float) if whole else np.round(30 * rng.random(n), 3)
        out.append(Options.of(rng.integers(-12, 12, n).astype(float), cost))
    return out


@pytest.mark.parametrize("seed", range(60))
def test_options_are_the_frontier(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, most = int(rng.integers(1, 40)), int(rng.choice([3, 8, 40]))
    x, c = rng.integers(0, most, n).astype(float), rng.integers(0, most, n).astype(float)
    if seed % 3 == 0:
        x = np.sort(x)
    made = Options.of(x, c)
    assert list(zip(made.amplification, made.cost, strict=True)) == frontier(x.tolist(), c.tolist())
    np.testing.assert_array_equal(x[made.place], made.amplification)
    np.testing.assert_array_equal(c[made.place], made.cost)
    found = [(float(a), float(b)) for a, b in zip(made.amplification[made.hull], made.cost[made.hull], strict=True)]
    assert found == corners(frontier(x.tolist(), c.tolist()))
    assert made.at(0) == (made.amplification[0], made.cost[0])


def test_options_apart_by_rounding() -> None:
    """The cheaper of two whose amplification is the same but for rounding."""
    made = Options.of(np.array([0.1, 0.1 + 1e-13, 0.1 + 3e-12, 0.4]), np.array([9.0, 8.0, 7.0, 1.0]))
    assert made.place.tolist() == [1, 2, 3]
    last = Options.of(np.array([0.1, 0.4, 0.4 + 1e-13]), np.array([9.0, 8.0, 7.0]))
    assert last.place.tolist() == [0, 2]
    assert ROUNDING == 1e-12


def test_nearly_straight_frontiers_have_no_corners_within() -> None:
    """Points that rounding puts a hair below a line."""
    x = np.linspace(0.1, 0.7, 7)
    c = 3.0 - 0.7 * x
    assert Options.of(x, c).hull.tolist() == [0, 6]
    below = c - np.array([0, 0, 0, 1e-6, 0, 0, 0])
    assert Options.of(x, below).hull.tolist() == [0, 3, 6]


@pytest.mark.parametrize("seed", range(25))
def test_hulls_are_those_of_all_sums(seed: int) -> None:
    sets = drawn(seed, 2 + seed % 2)
    sums = [tuple(np.sum(pair, axis=0)) for pair in product(*(zip(s.amplification, s.cost, strict=True) for s in sets))]
    hull = corners(frontier([float(x) for x, _ in sums], [float(c) for _, c in sums]))
    made = Hulls.of(sets)
    steps = list(zip(made.amplification.tolist(), made.cost.tolist(), strict=True))
    assert set(hull) <= set(steps)
    assert steps[0] == hull[0]
    assert steps[-1] == hull[-1]
    # Steps in between, of two sets that fall alike, lie on the hull.
    assert np.interp(made.amplification, *zip(*hull, strict=True)) == pytest.approx(made.cost)
    for number, step in enumerate(steps):
        taken = made.corner(sets, number)
        assert np.sum([held.at(place) for held, place in zip(sets, taken, strict=True)], axis=0).tolist() == list(step)
        assert all(place in held.hull for held, place in zip(sets, taken, strict=True))


def best(sets: list[Options], limit: float) -> float | None:
    """The least cost, by trying all."""
    fitting = [
        sum(float(held.cost[i]) for held, i in zip(sets, chosen, strict=True))
        for chosen in product(*(range(len(held.cost)) for held in sets))
        if sum(float(held.amplification[i]) for held, i in zip(sets, chosen, strict=True)) <= limit + 1e-9
    ]
    return min(fitting) if fitting else None


def relaxed(sets: list[Options], limit: float) -> float:
    """The least cost where options may be mixed: on the line between two corners."""
    hulls = Hulls.of(sets)
    return float(np.interp(limit, hulls.amplification, hulls.cost))


def check(made: LeastCost, sets: list[Options], limit: float) -> None:
    x, c = np.sum([held.at(i) for held, i in zip(sets, made.options, strict=True)], axis=0)
    assert (made.amplification, made.cost) == (pytest.approx(x), pytest.approx(c))
    assert made.amplification <= limit + 1e-9


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("seed", range(60))
def test_the_least_cost_is_that_of_trying_all(seed: int, whole: bool) -> None:
    sets = drawn(seed, 1 + seed % 4, whole)
    low = sum(held.amplification[0] for held in sets)
    high = sum(held.amplification[-1] for held in sets)
    for limit in (low - 1, low, *np.linspace(low, high, 5)[1:-1].round(), high - 1, high, high + 3):
        made, known = least_cost(sets, float(limit)), best(sets, limit)
        if known is None:
            assert made is None
            continue
        assert made is not None
        check(made, sets, limit)
        assert made.cost == pytest.approx(known, abs=1e-9)
        assert made.gap == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize("whole", [True, False])
def test_where_sums_are_too_many_there_is_a_bound(whole: bool) -> None:
    """The best of what is at hand, and how much less a better choice could cost, at most."""
    gaps = 0
    for seed in range(80):
        sets = drawn(seed, 3, whole, 20)
        low = sum(held.amplification[0] for held in sets)
        high = sum(held.amplification[-1] for held in sets)
        limit = float(round(low + 0.4 * (high - low)))
        made, known = least_cost(sets, limit, most_sums=1), best(sets, limit)
        assert made is not None
        assert known is not None
        check(made, sets, limit)
        assert made.bound <= known + 1e-9 <= made.cost + 2e-9
        if made.gap == 0.0:
            continue
        gaps += 1
        assert made.gap == made.cost - made.bound
        bound = relaxed(sets, limit)
        assert made.bound == pytest.approx(np.ceil(bound - 1e-6) if whole else bound, abs=1e-6)
        # No set could go further by itself for less.
        room = limit - made.amplification
        for held, place in zip(sets, made.options, strict=True):
            assert not (held.amplification[place + 1 :] <= held.amplification[place] + room).any()
    assert gaps > 3


def test_how_many_sums_are_formed() -> None:
    """As many as are allowed; with one less there is a bound only."""
    rng = np.random.default_rng(1)
    sets = []
    for _ in range(3):
        x = np.sort(rng.random(12))
        sets.append(Options.of(x, 1.0 - x + 0.02 * rng.random(12)))
    limit = 1.4321
    known = best(sets, limit)
    assert known is not None
    exact = [least_cost(sets, limit, most_sums=many) for many in range(1, 200)]
    assert all(made is not None for made in exact)
    gaps = [made.gap for made in exact if made is not None]
    enough = next(i for i, gap in enumerate(gaps) if gap == 0.0)
    assert 0 < enough < 198
    assert all(gap > 0 for gap in gaps[:enough])
    assert not any(gaps[enough:])
    assert exact[enough].cost == pytest.approx(known)  # type: ignore[union-attr]
    assert MOST_SUMS == 2**20


def test_a_limit_that_rounding_passes() -> None:
    """Ten times .1 is not 1 in floating point; it is at the limit all the same."""
    one = Options.of(np.array([0.0, 0.1]), np.array([5.0, 1.0]))
    made = least_cost([one] * 3, 0.3)
    assert made is not None
    assert (made.options, made.cost) == ((1, 1, 1), 3.0)
    alone = least_cost([Options.of(np.array([0.0, 0.1 + 0.2]), np.array([5.0, 1.0]))], 0.3)
    assert alone is not None
    assert (alone.options, alone.amplification, alone.cost, alone.bound) == ((1,), 0.1 + 0.2, 1.0, 1.0)
    assert least_cost([one], -0.1) is None
    assert least_cost([one], 0.1 - 1e-9).options == (0,)  # type: ignore[union-attr]
    assert least_cost([one, one], 0.1 - 1e-9).options == (0, 0)  # type: ignore[union-attr]


def test_how_much_less_a_better_choice_could_cost() -> None:
    assert LeastCost((0,), 1.0, 5.0, 3.5).gap == 1.5
    assert LeastCost((0,), 1.0, 5.0, 5.5).gap == 0.0


@pytest.mark.parametrize("shift", [-5.0, 0.0, 300.0])
def test_hulls_do_not_depend_on_where_the_figures_lie(shift: float) -> None:
    """Nor do points a hair off a line, which rounding may put on either side."""
    x, c = np.array([0.0, 1.0, 2.0, 3.0, 4.0]), np.array([9.0, 5.0, 3.0, 2.0, 1.5])
    for points in (c, 9.0 - 2.0 * x, np.array([9.0, 7.0, 5.0, 2.9, 1.0])):
        plain, moved = Options.of(x, points), Options.of(x + shift, points + 2.0 * abs(shift))
        assert plain.hull.tolist() == moved.hull.tolist()
    assert Options.of(x + shift, 9.0 - 2.0 * x).hull.tolist() == [0, 4]
    assert Options.of(x + shift, c).hull.tolist() == [0, 1, 2, 3, 4]
