"""One figure against one limit, and many pairs: outcomes by hand, Holm's correction against that of statsmodels."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm
from statsmodels.stats.multitest import multipletests

from biasamp.policy.deciding import _chance_below, decide, failures_corrected
from biasamp.policy.figure import Figure
from biasamp.policy.limits import Limit

AT_MOST = Limit(metric="directional", max=0.1)
AT_LEAST = Limit(metric="mean_per_class_accuracy", min=0.6)
LEVEL = 0.95
HALF = float(norm.ppf(0.5 + LEVEL / 2))


def figure(value: float, error: float, **more: object) -> Figure:
    """A figure with a normal interval."""
    return replace(Figure("g", "A->T", value, value - HALF * error, value + HALF * error), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("limit", "low", "high", "outcome"),
    [
        (AT_MOST, 0.02, 0.1, "pass"),  # up to the limit, and with it
        (AT_MOST, 0.02, 0.1001, "not enough evidence"),
        (AT_MOST, 0.1, 0.2, "not enough evidence"),
        (AT_MOST, 0.1001, 0.2, "fail"),
        (AT_MOST, -0.9, -0.5, "pass"),
        (AT_LEAST, 0.6, 0.9, "pass"),
        (AT_LEAST, 0.5999, 0.9, "not enough evidence"),
        (AT_LEAST, 0.3, 0.6, "not enough evidence"),
        (AT_LEAST, 0.3, 0.5999, "fail"),
    ],
)
def test_an_interval_against_a_limit(limit: Limit, low: float, high: float, outcome: str) -> None:
    held = Figure("g", "A->T", (low + high) / 2, low, high)
    assert decide(limit, held).outcome == outcome
    # What is withheld may make it worse: it can fail, and not pass.
    kept = decide(limit, replace(held, withheld="a group is left out", needed=70))
    assert kept.outcome == ("fail" if outcome == "fail" else "not enough evidence")
    assert (kept.words, kept.records_needed) == ("a group is left out", 70) or outcome == "fail"
    # Groups that the policy ignores cannot make it fail.
    assert decide(limit, replace(held, fails=False)).outcome == (
        "not enough evidence" if outcome == "fail" else outcome
    )
    assert decide(limit, replace(held, doubt="too few", needed=9)).outcome == "not enough evidence"


def test_the_value_alone() -> None:
    limit = Limit(metric="directional", max=0.1, on="value")
    assert decide(limit, Figure("g", "A->T", 0.1, -1.0, 1.0)).outcome == "pass"
    assert decide(limit, Figure("g", "A->T", 0.11, -1.0, 1.0)).outcome == "fail"
    assert decide(limit, Figure("g", "A->T", 0.11)).outcome == "fail"
    assert decide(AT_MOST, Figure("g", "A->T", 0.05)).outcome == "not enough evidence"
    assert decide(AT_MOST, Figure("g", "A->T")).words == "the value is undefined"


@pytest.mark.parametrize(("limit", "sign"), [(AT_MOST, 1.0), (AT_LEAST, -1.0)])
def test_the_chance_of_lying_within_the_limit(limit: Limit, sign: float) -> None:
    """The one-sided p-value of a normal figure, or half that of its direction where that is less sure."""
    edge = limit.max if limit.max is not None else limit.min
    assert edge is not None
    for errors in (2.1, 2.5, 4.0):
        held = figure(edge + sign * errors * 0.01, 0.01)
        assert _chance_below(limit, held, LEVEL) == pytest.approx(norm.sf(errors), rel=1e-9)
        assert _chance_below(limit, replace(held, sign_p=0.3), LEVEL) == pytest.approx(0.15)
        assert _chance_below(limit, replace(held, sign_p=1e-9), LEVEL) == pytest.approx(norm.sf(errors), rel=1e-9)
    assert _chance_below(limit, Figure("g", None, edge + sign, edge + sign, edge + sign), LEVEL) == 0.0


@pytest.mark.slow
def test_many_pairs_are_corrected_as_by_holm() -> None:
    rng = np.random.default_rng(5)
    seen = set()
    for _ in range(24):
        many = int(rng.integers(2, 12))
        errors = np.where(rng.random(many) < 0.5, rng.uniform(2.0, 4.0, many), rng.uniform(-6.0, 1.5, many))
        figures = [figure(0.1 + 0.01 * held, 0.01) for held in errors]
        decisions = [decide(AT_MOST, held) for held in figures]
        made = failures_corrected(AT_MOST, figures, decisions, LEVEL)
        right, *_ = multipletests(norm.sf(errors), alpha=(1 - LEVEL) / 2, method="holm")
        failing = [held.outcome == "fail" for held in decisions]
        assert [held.outcome == "fail" for held in made] == [bool(r and f) for r, f in zip(right, failing, strict=True)]
        for before, after, fails in zip(decisions, made, failing, strict=True):
            seen.add((fails, after.outcome == before.outcome))
            if fails and after.outcome != "fail":
                assert f"one of {many:,} may by accident" in after.words
    assert seen == {(True, True), (True, False), (False, True)}


def test_one_figure_or_values_alone_need_no_correction() -> None:
    held = figure(0.1 + 0.01 * 2.0, 0.01)
    assert failures_corrected(AT_MOST, [held], [decide(AT_MOST, held)], LEVEL)[0].outcome == "fail"
    both = [decide(AT_MOST, held)] * 2
    assert [one.outcome for one in failures_corrected(AT_MOST, [held] * 2, both, LEVEL)] == ["not enough evidence"] * 2
    alone = Limit(metric="directional", max=0.1, on="value")
    assert [one.outcome for one in failures_corrected(alone, [held] * 2, both, LEVEL)] == ["fail"] * 2
