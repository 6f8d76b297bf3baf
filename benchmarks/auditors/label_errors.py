"""How often bounds for wrong labels of an attribute hold the value of the true labels, where errors are as stated.

``python -m benchmarks.auditors.label_errors 500`` draws so many samples a case. Errors are independent of task and prediction
given the true group; the truth is the value of the population.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

import biasamp


@dataclass(frozen=True)
class Case:
    """A population of groups, one yes/no task and its prediction, and the chance that a label of the group is wrong."""

    name: str
    groups: tuple[float, ...]
    rates: tuple[float, ...]
    hits: tuple[float, ...]
    false: tuple[float, ...]
    error: Any
    n: int

    @property
    def truth(self) -> float:
        """The directional value of the population's true groups."""
        share, rate = np.array(self.groups), np.array(self.rates)
        said = rate * np.array(self.hits) + (1 - rate) * np.array(self.false)
        sign = np.sign(share * rate - share * (share @ rate))
        return float((sign * (said - rate)).mean())


CASES = (
    Case("two groups, 5%", (0.5, 0.5), (0.3, 0.6), (0.9, 0.95), (0.05, 0.15), 0.05, 2000),
    Case("two groups, 20%, unequal", (0.2, 0.8), (0.3, 0.6), (0.8, 0.9), (0.1, 0.2), 0.2, 4000),
    Case("two groups, 10% and 2%", (0.4, 0.6), (0.5, 0.35), (0.95, 0.8), (0.1, 0.05), {"0": 0.1, "1": 0.02}, 1000),
    Case("three groups, 10%", (0.3, 0.3, 0.4), (0.2, 0.5, 0.7), (0.9, 0.9, 0.95), (0.02, 0.1, 0.2), 0.1, 2000),
    Case("no amplification", (0.5, 0.5), (0.3, 0.6), (0.9, 0.9), (3 / 70, 0.15), 0.1, 2000),
    Case("weak direction", (0.5, 0.5), (0.48, 0.52), (0.9, 0.95), (0.05, 0.15), 0.1, 1000),
    Case("rare errors", (0.5, 0.5), (0.3, 0.6), (1.0, 0.99), (0.0, 0.01), 0.05, 300),
)


def sample(case: Case, rng: np.random.Generator) -> tuple[list[str], list[int], list[int]]:
    """Recorded groups, truth and predictions."""
    group = rng.choice(len(case.groups), case.n, p=case.groups)
    truth = rng.random(case.n) < np.array(case.rates)[group]
    said = rng.random(case.n) < np.where(truth, np.array(case.hits)[group], np.array(case.false)[group])
    rates = (
        np.array([case.error[str(i)] for i in range(len(case.groups))])
        if isinstance(case.error, dict)
        else np.full(len(case.groups), case.error)
    )
    wrong = rng.random(case.n) < rates[group]
    shift = rng.integers(1, len(case.groups), case.n)
    recorded = np.where(wrong, (group + shift) % len(case.groups), group)
    return [str(i) for i in recorded], truth.astype(int).tolist(), said.astype(int).tolist()


def covered(case: Case, samples: int, seed: int = 0) -> tuple[float, float, float, float]:
    """Shares of samples whose bounds, worst case and recorded value's interval hold the truth; mean width of bounds."""
    rng = np.random.default_rng([seed, case.n])
    held = worst = plain = width = 0.0
    for number in range(samples):
        recorded, truth, said = sample(case, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                made = biasamp.label_errors(recorded, truth, said, case.error, resamples=200, seed=number)
            except ValueError:
                continue
            interval = biasamp.directional(recorded, truth, said).confidence_interval(resamples=200, seed=number)
        held += made.low <= case.truth <= made.high
        worst += made.worst[0] <= case.truth <= made.worst[1]
        plain += interval.low <= case.truth <= interval.high
        width += made.high - made.low
    return held / samples, worst / samples, plain / samples, width / samples


def main(arguments: list[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    samples = int(given[0]) if given and given[0].isdigit() else 100
    print(f"{'case':26} {'truth':>8} {'bounds':>7} {'worst':>7} {'recorded':>9} {'width':>7}")
    for case in CASES:
        held, worst, plain, width = covered(case, samples)
        print(f"{case.name:26} {case.truth:+8.4f} {held:7.3f} {worst:7.3f} {plain:9.3f} {width:7.4f}")


if __name__ == "__main__":
    main()
