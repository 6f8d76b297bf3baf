"""How often 95% intervals of ratios to the highest rate hold the true ratio: 2 to 8 groups, any number tied for the best.

``python -m benchmarks.auditors.ratios 2000`` draws so many samples a case.
"""

from __future__ import annotations

import sys

import numpy as np

from biasamp.amplification.ratio_to_highest import ratios_to_highest

# The size of groups (times 0.5 to 3) and the highest rate.
SIZES = ((60, 0.05), (50, 0.3), (200, 0.5), (1000, 0.1), (400, 0.9))


def covered(groups: int, tied: int, size: int, rate: float, samples: int, seed: int = 0) -> np.ndarray:
    """The share of samples in which each group's interval holds its true ratio."""
    rng = np.random.default_rng([seed, groups, tied, size])
    rates = np.r_[np.full(tied, rate), rate * rng.uniform(0.3, 0.95, groups - tied)]
    sizes = np.rint(size * rng.uniform(0.5, 3, groups))
    truth, hits, seen = rates / rates.max(), np.zeros(groups), 0
    for _ in range(samples):
        made = ratios_to_highest(rng.binomial(sizes.astype(int), rates).astype(float), sizes)
        if np.isnan(made.value).all():
            continue
        seen += 1
        hits += (made.low <= truth + 1e-12) & (truth <= made.high + 1e-12)
    return hits / seen


def main(arguments: list[str] | None = None) -> None:
    given = sys.argv[1:] if arguments is None else arguments
    samples = int(given[0]) if given and given[0].isdigit() else 300
    print("groups  tied  least coverage over groups and sizes")
    lowest = 1.0
    for groups in range(2, 9):
        for tied in range(1, groups + 1):
            least = min(covered(groups, tied, *case, samples).min() for case in SIZES)
            lowest = min(lowest, least)
            print(f"{groups:6} {tied:5}  {least:.3f}")
    print(f"lowest {lowest:.3f} with {samples} samples a case")


if __name__ == "__main__":
    main()
