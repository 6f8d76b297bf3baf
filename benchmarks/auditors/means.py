"""How often 95% intervals of amplified mean differences hold the true value: rare groups, skewed outcomes, clusters, weights.

``python -m benchmarks.auditors.means 400`` draws so many samples a case.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

import biasamp

# Of the three groups: how far their means lie apart, in standard deviations, and what predictions add to each.
_MEANS, _SHIFTS = np.array([-0.5, 0.5, 1.0]), np.array([-0.05, 0.1, 0.2])


@dataclass(frozen=True)
class Case:
    """How records are drawn: how many, the share of the third group, and what their outcomes and errors are like."""

    n: int
    rare: float = 0.2
    skewed: bool = False
    clusters: bool = False
    weights: bool = False
    shifted: bool = True

    def __str__(self) -> str:
        words = [f"n {self.n:,}", f"a group of {self.rare:.0%}"]
        words += [name for name in ("skewed", "clusters", "weights") if getattr(self, name)]
        return ", ".join([*words, *([] if self.shifted else ["nothing amplified"])])


CASES = (
    Case(200),
    Case(200, shifted=False),
    Case(1000, rare=0.02),
    Case(1000, rare=0.02, shifted=False),
    Case(400, rare=0.02),
    Case(1000, skewed=True),
    Case(1000, rare=0.02, skewed=True),
    Case(400, rare=0.05, skewed=True),
    Case(1000, clusters=True),
    Case(1000, rare=0.02, clusters=True, skewed=True),
    Case(1000, weights=True),
    Case(1000, rare=0.02, weights=True, skewed=True),
)


def drawn(case: Case, n: int, rng: np.random.Generator) -> dict[str, Any]:
    """Records of a case. Five records of a cluster share half of the variance, of outcomes and of errors; weights are gamma."""
    share = np.array([(1 - case.rare) / 2, (1 - case.rare) / 2, case.rare])
    unit = np.arange(n) // 5 if case.clusters else np.arange(n)
    group = rng.choice(3, int(unit[-1]) + 1, p=share)[unit] if case.clusters else rng.choice(3, n, p=share)

    def noise() -> np.ndarray:
        held = rng.normal(size=n)
        if case.clusters:
            held = (held + rng.normal(size=int(unit[-1]) + 1)[unit]) / np.sqrt(2)
        # Of variance 1 and skewness 4 or so.
        return (np.exp(0.8 * held) - np.exp(0.32)) / np.sqrt(np.exp(1.28) - np.exp(0.64)) if case.skewed else held

    outcome = _MEANS[group] + noise()
    added = _SHIFTS[group] if case.shifted else np.zeros(n)
    predicted = outcome + added + 0.5 * noise()
    weights = rng.gamma(4.0, 0.25, n) if case.weights else None
    return {"groups": np.array(["a", "b", "c"])[group], "outcome": outcome, "predicted": predicted, "weights": weights,
            "cluster": unit if case.clusters else None}  # fmt: skip


def true_value(case: Case) -> float:
    """The value of all who might be drawn: signs by the means of groups, and what predictions add on average."""
    share = np.array([(1 - case.rare) / 2, (1 - case.rare) / 2, case.rare])
    sign = np.sign(_MEANS - share @ _MEANS)
    return float((sign * _SHIFTS).mean()) if case.shifted else 0.0


def coverage(case: Case, samples: int, seed: int = 0) -> float:
    """The share of samples whose interval holds the true value."""
    rng = np.random.default_rng([seed, case.n, int(100 * case.rare)])
    truth, held = true_value(case), 0
    for number in range(samples):
        made = biasamp.mean_amplification(**drawn(case, case.n, rng))
        low, high = made.confidence_interval(resamples=400, seed=number)
        held += low <= truth <= high
    return held / samples


def main(arguments: list[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    samples = int(given[0]) if given and given[0].isdigit() else 200
    found = []
    for case in CASES:
        found.append(coverage(case, samples))
        print(f"{case!s:60} {found[-1]:.3f}", flush=True)
    print(f"lowest {min(found):.3f}, highest {max(found):.3f} with {samples} samples a case")


if __name__ == "__main__":
    main()
