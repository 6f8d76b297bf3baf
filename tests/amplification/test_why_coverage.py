"""Short simulations of the parts of a change; ``python -m benchmarks why`` is the long study."""

from __future__ import annotations

import pytest
from benchmarks.why import Case, study, study_base

SAMPLES = 160
# 95% of 160 samples is sure to 3.4 points.
LEAST = 0.90


@pytest.mark.slow
@pytest.mark.parametrize(
    "case",
    [Case(500, lean=1.5), Case(800, tasks=4, lean=2.0, calibrated=False), Case(400, tasks=4, lean=1.0, train=True)],
    ids=["clear signs", "not calibrated", "train signs"],
)
def test_intervals_hold_where_signs_are_known(case: Case) -> None:
    found = study(case, SAMPLES)
    for part in ("score", "threshold", "value"):
        assert found[part] >= LEAST, part
    assert found["caution"] <= 0.05
    if case.train:
        assert found["inside"] >= LEAST
        assert found["caution inside"] == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [Case(500, lean=1.5), Case(500, tasks=20, lean=0.1), Case(400, tasks=4, lean=1.0, train=True)]
)
def test_a_calibrated_score_is_hardly_ever_called_amplifying_or_reducing(case: Case) -> None:
    # 5% of 160 samples, and two standard errors.
    assert study(case, SAMPLES, seed=1)["score called"] <= 0.085


@pytest.mark.slow
def test_signs_that_are_not_clear_are_cautioned_of() -> None:
    found = study(Case(500, tasks=20, lean=0.1), 60)
    assert found["caution"] >= 0.95
    assert found["caution inside"] == 1.0


@pytest.mark.slow
@pytest.mark.parametrize("size", [300, 2000])
def test_intervals_of_rates_and_mix_against_a_base_hold(size: int) -> None:
    found = study_base(Case(400, tasks=2, lean=1.0), SAMPLES, size=size)
    for part in ("value", "within", "mix"):
        assert found[part] >= LEAST, part
