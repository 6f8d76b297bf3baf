"""One option from each of several sets, at the least cost, with a limit on the sum of another figure.

A multiple-choice knapsack: options of a set are thresholds, the limited figure is amplification. Lagrange's relaxation is
solved exactly on the convex hulls; it bounds the least cost from below. Options that cannot be part of anything better
than what was found are dropped by that bound, and of the rest all sums are formed. Where these are too many the best that
was found is handed back, with the bound.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Index = NDArray[np.int64]

# Sums of rates carry rounding errors: a sum this much above a limit is at it.
ROUNDING = 1e-12
# More sums of options than this are not formed.
MOST_SUMS = 1 << 20


@dataclass(frozen=True, eq=False)
class Options:
    """The options of one set that no other one beats in both figures.

    Attributes
    ----------
    amplification : ndarray
        Rising.
    cost : ndarray
        Falling.
    place : ndarray of int
        Which option it was, before the others were left out.
    """

    amplification: Floats
    cost: Floats
    place: Index

    @classmethod
    def of(cls, amplification: Floats, cost: Floats) -> Options:
        """The options that count, of any number in any order.

        >>> import numpy as np
        >>> options = Options.of(np.array([0.3, 0.1, 0.2, 0.0]), np.array([1.0, 2.0, 2.0, 5.0]))
        >>> options.place.tolist()
        [3, 1, 0]
        """
        # Whatever counts lies between the least amplification and the least cost; that leaves most out unsorted.
        least = np.flatnonzero(cost == cost.min())
        most = amplification[least].min()
        lowest = np.flatnonzero(amplification == amplification.min())
        kept = np.flatnonzero((amplification <= most) & (cost <= cost[lowest].min()))
        x, c = amplification[kept], cost[kept]
        # Next to each other in the given order, often one option beats the other.
        better = np.ones(len(kept), dtype=bool)
        after = (x[1:] <= x[:-1]) & (c[1:] <= c[:-1])
        better[:-1] &= ~after
        better[1:] &= ~((x[:-1] <= x[1:]) & (c[:-1] <= c[1:]) & ~after)
        kept, x, c = kept[better], x[better], c[better]
        if len(x) > 1 and not (x[1:] > x[:-1]).all():
            order = np.lexsort((c, x))
            kept, x, c = kept[order], x[order], c[order]
        falls = np.ones(len(c), dtype=bool)
        falls[1:] = c[1:] < np.minimum.accumulate(c)[:-1]
        kept, x, c = kept[falls], x[falls], c[falls]
        # Of two that are apart by rounding alone the one that costs less counts.
        apart = np.append(np.diff(x) > ROUNDING, True)
        return cls(x[apart], c[apart], kept[apart])

    @cached_property
    def hull(self) -> Index:
        """The corners of the convex hull, seen from where both figures are low."""
        x, c = self.amplification, self.cost
        corners, open_spans = [0], [(0, len(x) - 1)]
        while open_spans:
            first, last = open_spans.pop()
            if last - first > 1:
                inner = slice(first + 1, last)
                below = (c[inner] - c[first]) * (x[last] - x[first]) - (c[last] - c[first]) * (x[inner] - x[first])
                corner = first + 1 + int(np.argmin(below))
                if below[corner - first - 1] < -1e-14 * (x[last] - x[first]) * (c[first] - c[last]):
                    open_spans += [(corner, last), (first, corner)]
                    continue
            if last > first:
                corners.append(last)
        return np.array(corners, dtype=np.int64)

    def at(self, place: int) -> tuple[float, float]:
        """Both figures of an option."""
        return float(self.amplification[place]), float(self.cost[place])


@dataclass(frozen=True, eq=False)
class Hulls:
    """The convex hull of all sums of options, one from each set.

    Attributes
    ----------
    amplification, cost : ndarray
        Its corners, from the least amplification to the least cost.
    step_set : ndarray of int
        In which set each step from corner to corner takes the next corner.
    """

    amplification: Floats
    cost: Floats
    step_set: Index

    @classmethod
    def of(cls, sets: Sequence[Options]) -> Hulls:
        """Of several sets: the steps of their hulls, the steepest first."""
        rise = [np.diff(held.amplification[held.hull]) for held in sets]
        fall = [np.diff(held.cost[held.hull]) for held in sets]
        slope = [np.maximum.accumulate(c / x) if len(x) else x for x, c in zip(rise, fall, strict=True)]
        order = np.argsort(np.concatenate(slope), kind="stable")
        start = np.array([held.at(0) for held in sets]).sum(axis=0)
        x, c = (
            first + np.concatenate([[0.0], np.cumsum(np.concatenate(steps)[order])])
            for first, steps in zip(start, (rise, fall), strict=True)
        )
        owner = np.repeat(np.arange(len(sets)), [len(steps) for steps in rise])
        return cls(x, c, owner[order])

    def corner(self, sets: Sequence[Options], number: int) -> list[int]:
        """The option of each set at a corner."""
        taken = np.bincount(self.step_set[:number], minlength=len(sets))
        return [int(held.hull[steps]) for held, steps in zip(sets, taken, strict=True)]


@dataclass(frozen=True, eq=False)
class LeastCost:
    """What was chosen.

    Attributes
    ----------
    options : tuple of int
        The option of each set, by its place in :class:`Options`.
    amplification, cost : float
        Their sums.
    bound : float
        No choice that keeps the limit costs less than this.
    """

    options: tuple[int, ...]
    amplification: float
    cost: float
    bound: float

    @property
    def gap(self) -> float:
        """How much less a better choice could cost, at most; 0 where there is none."""
        return max(self.cost - self.bound, 0.0)


def least_cost(sets: Sequence[Options], limit: float, most_sums: int = MOST_SUMS) -> LeastCost | None:
    """Choose an option of each set at the least cost whose amplifications add up to at most ``limit``; None if none can.

    >>> import numpy as np
    >>> sets = [Options.of(np.array([0.0, 1.0]), np.array([5.0, 1.0])), Options.of(np.array([0.0, 2.0]), np.array([6.0, 1.0]))]
    >>> chosen = least_cost(sets, 2.5)
    >>> chosen.options, chosen.cost, chosen.gap
    ((0, 1), 6.0, 0.0)
    """
    limit = limit + ROUNDING
    if len(sets) == 1:
        place = int(np.searchsorted(sets[0].amplification, limit, side="right")) - 1
        return None if place < 0 else LeastCost((place,), *sets[0].at(place), sets[0].at(place)[1])
    hulls = Hulls.of(sets)
    # The corner before the limit: the sums of its options are formed anew, since running sums round.
    number = int(np.searchsorted(hulls.amplification, limit, side="right")) - 1
    if number < 0:
        return None
    chosen = hulls.corner(sets, number)
    if number == len(hulls.amplification) - 1:
        return _made(sets, chosen, None)
    rise, fall = np.diff(hulls.amplification)[number], np.diff(hulls.cost)[number]
    price = float(-fall / rise)
    bound = sum(float((held.cost + price * held.amplification).min()) for held in sets) - price * limit
    whole = all((held.cost == np.rint(held.cost)).all() for held in sets)
    slack = ROUNDING * max(abs(bound), 1.0)
    if whole:
        bound = float(np.ceil(bound - 1e-6))
    chosen = _filled(sets, chosen, limit)
    made = _made(sets, chosen, bound)
    if made.gap <= slack:
        return _made(sets, chosen, None)
    found = _all_sums(sets, limit, price, made.cost - (1.0 if whole else 0.0) + slack, most_sums)
    if found is None:
        return made
    better = _made(sets, found, None) if found else None
    return better if better is not None and better.cost < made.cost else _made(sets, chosen, None)


def _made(sets: Sequence[Options], chosen: Sequence[int], bound: float | None) -> LeastCost:
    x, c = np.array([held.at(place) for held, place in zip(sets, chosen, strict=True)]).sum(axis=0)
    return LeastCost(tuple(chosen), float(x), float(c), float(c) if bound is None else min(bound, float(c)))


def _filled(sets: Sequence[Options], chosen: list[int], limit: float) -> list[int]:
    """A choice whose room below the limit is used, one set after another."""
    chosen = list(chosen)
    while True:
        room = limit - sum(held.at(place)[0] for held, place in zip(sets, chosen, strict=True))
        further = [
            max(int(np.searchsorted(held.amplification, held.at(place)[0] + room, side="right")) - 1, place)
            for held, place in zip(sets, chosen, strict=True)
        ]
        gains = [held.at(old)[1] - held.at(new)[1] for held, old, new in zip(sets, chosen, further, strict=True)]
        best = int(np.argmax(gains))
        if gains[best] <= 0.0:
            return chosen
        chosen[best] = further[best]


def _all_sums(sets: Sequence[Options], limit: float, price: float, wanted: float, most_sums: int) -> list[int] | None:
    """The best of all sums that cost at most ``wanted``; none is an empty list, and None says that they are too many.

    An option's reduced cost is what it costs at this price of amplification more than the best one of its set. Reduced
    costs of all sets add up, so that a sum with more of it than there is room for leads nowhere.
    """
    reduced = [held.cost + price * held.amplification for held in sets]
    least = [float(values.min()) for values in reduced]
    room = wanted - (sum(least) - price * limit)
    kept = [np.flatnonzero(values - low <= room) for values, low in zip(reduced, least, strict=True)]
    if any(not len(places) for places in kept):
        return []
    order = np.argsort([len(places) for places in kept], kind="stable")
    lowest = np.array([sets[i].amplification[kept[i]].min() for i in order])
    still = np.concatenate([np.cumsum(lowest[::-1])[::-1], [0.0]])
    x, c, r = np.zeros(1), np.zeros(1), np.zeros(1)
    steps: list[tuple[Index, Index]] = []
    for number, i in enumerate(order[:-1]):
        places = kept[i]
        if len(x) * len(places) > most_sums:
            return None
        held = sets[i]
        sums = ((x[:, None] + held.amplification[places]).ravel(), (c[:, None] + held.cost[places]).ravel())
        left = (r[:, None] + (reduced[i][places] - least[i])).ravel()
        there = np.flatnonzero((left <= room) & (sums[0] + still[number + 1] <= limit))
        if not len(there):
            return []
        best = Options.of(sums[0][there], sums[1][there])
        there = there[best.place]
        x, c, r = best.amplification, best.cost, left[there]
        steps.append((there // len(places), places[there % len(places)]))
    last = order[-1]
    held, places = sets[last], kept[last]
    fits = np.searchsorted(held.amplification[places], limit - x, side="right") - 1
    costs = np.where(fits >= 0, c + held.cost[places[fits]], np.inf)
    state = int(np.argmin(costs))
    if not np.isfinite(costs[state]):
        return []
    chosen = [0] * len(sets)
    chosen[last] = int(places[fits[state]])
    for (before, option), i in zip(reversed(steps), order[:-1][::-1], strict=True):
        chosen[i] = int(option[state])
        state = int(before[state])
    return chosen
