"""How often the bounds of directional amplification are wrong at the limit, and what they cost away from it.

``python -m benchmarks.bound 300`` draws 300 samples for each case: models whose amplification is exactly the limit, which
a gate must pass in at most 5% of samples (the upper bound is then below the truth), and models without amplification,
which it should pass. ``wrong`` and ``passed`` are for others to reuse.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import biasamp

from .coverage import Population, population

LIMIT = 0.02


@dataclass(frozen=True)
class Case:
    """A model whose true amplification is ``value``.

    ``lean`` is how far tasks lean from group to group; ``errors`` the share of positives that the model also misses, and
    gives to others; with ``few`` only the first group is moved, twice as far. ``one`` is a variable of two values.
    """

    size: int
    tasks: int
    lean: float
    value: float
    groups: tuple[float, ...] = (0.5, 0.5)
    errors: float = 0.1
    few: bool = False
    one: bool = False

    @property
    def population(self) -> Population:
        made = population(self.size, self.tasks, 0.3, self.lean, self.value, self.groups, self.errors)
        if not self.few:
            return made
        still = population(self.size, self.tasks, 0.3, self.lean, 0.0, self.groups, self.errors)
        times = float(len(self.groups))
        moved = population(self.size, self.tasks, 0.3, self.lean, times * self.value, self.groups, self.errors)
        hit, false = still.hit.copy(), still.false.copy()
        hit[0], false[0] = moved.hit[0], moved.false[0]
        return Population(made.groups, made.truth, hit, false, self.size)

    def bounds(self, rng: np.random.Generator) -> tuple[float, float]:
        """The bounds of one sample."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            g, truth, predicted = self.population.draw(rng)
            if self.one:
                truth, predicted = truth[:, 0], predicted[:, 0]
            made = biasamp.directional(g, truth, predicted).bounds()
        return made.low, made.high

    def __str__(self) -> str:
        kind = "one variable" if self.one else f"{self.tasks} tasks"
        moved = ", one group moved" if self.few else ""
        return (
            f"n={self.size}, {kind}, lean {self.lean}, smallest group {min(self.groups):.0%}, errors {self.errors:.0%}"
            f"{moved}, truth {self.value}"
        )


def at_the_limit() -> Iterator[Case]:
    """Models at the limit."""
    for tasks in (1, 20, 80):
        for size in (200, 500, 1000, 5000):
            for lean in (0.01, 0.05, 0.15):
                for groups in ((0.5, 0.5), (0.02, 0.98)):
                    for errors in (0.0, 0.1):
                        yield Case(size, tasks, lean, LIMIT, groups, errors)
    for size in (200, 500, 1000):
        for groups in ((0.5, 0.5), (0.02, 0.98)):
            yield Case(size, 1, 0.15, LIMIT, groups, 0.0, few=True)
            yield Case(size, 1, 0.15, LIMIT, groups, 0.0, few=True, one=True)
            yield Case(size, 1, 0.05, LIMIT, groups, 0.1, one=True)
        yield Case(size, 5, 0.1, LIMIT, (0.5, 0.3, 0.2))
        yield Case(size, 5, 0.02, LIMIT, (0.5, 0.3, 0.2))


def without_amplification() -> Iterator[Case]:
    """Models without amplification."""
    for tasks in (1, 20, 80):
        for size in (500, 1000, 5000):
            for lean in (0.0, 0.02, 0.15):
                yield Case(size, tasks, lean, 0.0)


def shares(case: Case, samples: int, seed: int = 0, limit: float = LIMIT) -> tuple[float, float, float]:
    """In how many samples the upper bound is at or below the limit, below the truth, and the lower bound above it."""
    found = [case.bounds(np.random.default_rng(stream)) for stream in np.random.SeedSequence(seed).spawn(samples)]
    low, high = np.array(found).T
    return float((high <= limit).mean()), float((high < case.value).mean()), float((low > case.value).mean())


def main(samples: int) -> None:
    for title, cases in (("at the limit", at_the_limit()), ("without amplification", without_amplification())):
        print(f"\n{title}: passes, upper bound below the truth, lower bound above it", flush=True)
        for case in cases:
            passed, under, over = shares(case, samples)
            print(f"{passed:6.1%} {under:6.1%} {over:6.1%}  {case}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 300)
