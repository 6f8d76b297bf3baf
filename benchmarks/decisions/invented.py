"""Intervals of labels that only the model has: the largest difference between groups of how often they are given."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import biasamp

from .cells import Coverage


@dataclass(frozen=True)
class Inventing:
    """Groups of equal size, of which the first gets the label "other" at one rate and the rest at another."""

    n: int
    groups: int = 2
    first: float = 0.1
    rest: float = 0.1
    weighted: bool = False

    @property
    def name(self) -> str:
        words = ", weights" if self.weighted else ""
        return f"invented label, {self.groups} groups, rates {self.first:g} and {self.rest:g}, n {self.n}{words}"


def study(case: Inventing, samples: int, seed: int = 0) -> tuple[Coverage, int]:
    """How often the interval holds the truth, and in how many samples groups are said to differ that do not."""
    out, said = Coverage(), Counter[bool]()
    for stream in np.random.SeedSequence(seed).spawn(samples):
        rng = np.random.default_rng(stream)
        group = rng.integers(0, case.groups, case.n)
        truth = rng.choice(list("xyz"), case.n)
        given = rng.random(case.n) < np.where(group == 0, case.first, case.rest)
        data = {"g": group.astype(str), "t": truth, "s": np.where(given, "other", truth)}
        options = {}
        if case.weighted:
            data["w"], options["weights"] = rng.exponential(1.0, case.n), "w"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            audit = biasamp.audit(
                data, attributes="g", tasks="t", task_predictions="s", metrics=["directional"], resamples=50, **options
            )
        for row in audit.document.get("invented", ()):
            if row["low"] is not None and row["high"] is not None:
                out.add([row["low"] <= abs(case.first - case.rest) <= row["high"]], False)
        differ = any(found.code == "invented" for found in audit.findings)
        said[differ and case.first == case.rest] += 1
    return out, said[True]


def cases() -> Iterator[Inventing]:
    """Groups that differ and that do not."""
    for n in (60, 500, 5000):
        yield Inventing(n)
        yield Inventing(n, 5)
        yield Inventing(n, 2, 0.15, 0.05)
    yield Inventing(1000, 3, 0.02, 0.0)
    yield Inventing(500, 2, 0.15, 0.05, weighted=True)
