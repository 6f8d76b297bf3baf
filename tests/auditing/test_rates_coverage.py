"""Short simulations of the intervals of rates of groups; ``python -m benchmarks parity_coverage`` is the long study."""

from __future__ import annotations

import pytest
from benchmarks.parity_coverage import Case, compared, covered

SAMPLES = 60
# A share of 92% in 60 samples falls below this in one of a thousand runs; the seed is fixed.
LEAST = 0.8


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [
        Case(400, 2, 20),
        Case(400, 3, 1, shift=0.2),
        Case(1000, 3, 5, small=0.02, min_group=30),
        Case(400, 2, 5, kind="weights"),
        Case(400, 2, 5, kind="soft"),
        Case(400, 2, 5, kind="clusters"),
    ],
    ids=str,
)
def test_intervals_hold_the_truth(case: Case) -> None:
    shares = covered(case, SAMPLES)
    assert set(shares) > {"tpr_difference", "mean_per_class_accuracy", "one rate", "difference", "ratio"}
    assert all(share >= LEAST for share in shares.values()), shares


@pytest.mark.slow
def test_models_that_do_not_differ_are_seldom_said_to() -> None:
    hold, wrong = compared(Case(400, 2, 10), 0.0, 40)
    assert hold >= LEAST
    assert wrong <= 0.15
