"""Cells of the suite's tables: shares over samples, with the limit that each is held to."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

# The least share of 95% intervals that hold the truth, and the most of one-sided bounds that miss it.
LEAST_COVERED, MOST_MISSED = 0.92, 0.05
# A share is called beyond its limit where so many standard errors lie between them: one cell of a hundred by chance.
ALLOWED = 2.33
# Audits without a caution are judged by themselves where they are so large a share.
_MANY = 0.2


@dataclass
class Coverage:
    """How often intervals of one figure of one case hold the truth: by audit, and of audits without a caution on it."""

    least: float = LEAST_COVERED
    shares: list[float] = field(default_factory=list)
    silent: list[float] = field(default_factory=list)

    def add(self, held: list[bool], cautioned: bool) -> None:
        if held:
            self.shares.append(float(np.mean(held)))
            if not cautioned:
                self.silent.append(self.shares[-1])

    @property
    def share(self) -> float:
        return float(np.mean(self.shares))

    @property
    def broken(self) -> bool:
        """Whether audits that say nothing of it miss the truth too often, beyond chance.

        Audits without a caution are held to the limit by themselves where they are many. Where they are few, chance made
        them: then their misses may be no more of all audits than the limit allows.
        """
        many = len(self.silent) >= _MANY * len(self.shares)
        misses = [1.0 - share for share in self.silent]
        count = len(self.silent) if many else len(self.shares)
        if not misses:
            return False
        # Several intervals of one audit vary less than one does.
        most = 1.0 - self.least
        spread = min(max(float(np.std(misses)), 0.02), float(np.sqrt(most * self.least)))
        return sum(misses) / count > most + ALLOWED * spread / np.sqrt(count)


def beyond(count: int, samples: int, most: float) -> bool:
    """Whether so many of the samples are more than a share of them that may be, beyond chance."""
    return bool(count / samples > most + ALLOWED * np.sqrt(most * (1 - most) / samples))
