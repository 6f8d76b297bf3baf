"""What is said of one figure against one limit, word for word, and Holm's correction on both sides of each of its steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import norm

from biasamp.policy.deciding import Decision, _chance_below, decide, failures_corrected
from biasamp.policy.figure import Figure
from biasamp.policy.limits import Limit

PASS, FAIL, UNDECIDED = "pass", "fail", "not enough evidence"
MOST = Limit(metric="directional", max=0.1)
ALONE = replace(MOST, on="value")
BETWEEN = Limit(metric="directional", min=-0.1, max=0.1)
LEVEL = 0.95
ALPHA = (1.0 - LEVEL) / 2.0
HELD = Figure("g", "A->T", 0.05, 0.02, 0.1)
BEYOND = Figure("g", "A->T", 0.3, 0.2, 0.4)
OVER = Figure("g", "A->T", 0.1, 0.05, 0.15)


@pytest.mark.parametrize(
    ("limit", "figure", "made"),
    [
        (MOST, replace(HELD, doubt="gone", needed=7), Decision(UNDECIDED, "", "gone", 7)),
        (MOST, Figure("g", None), Decision(UNDECIDED, "", "the value is undefined")),
        (MOST, replace(HELD, value=float("nan")), Decision(UNDECIDED, "", "the value is undefined")),
        (ALONE, HELD, Decision(PASS, "+0.0500", "lies within ≤ 0.1 (the value alone)")),
        (
            ALONE,
            replace(HELD, bounded=True, directions=(1, 2)),
            Decision(PASS, "+0.0500", "lies within ≤ 0.1 (the value alone, with signs as estimated)"),
        ),
        (ALONE, BEYOND, Decision(FAIL, "+0.3000", "lies beyond ≤ 0.1 (the value alone)")),
        (
            ALONE,
            replace(BEYOND, bounded=True),
            Decision(FAIL, "+0.3000", "lies beyond ≤ 0.1 (the value alone, with signs as estimated)"),
        ),
        *(
            (
                MOST,
                replace(HELD, **none),  # type: ignore[arg-type]
                Decision(UNDECIDED, "+0.0500", 'has no interval; on = "value" would judge the value alone'),
            )
            for none in ({"low": None}, {"high": None}, {"low": float("nan")}, {"low": None, "high": None})
        ),
        (MOST, HELD, Decision(PASS, "+0.0500 [+0.0200, +0.1000]", "lies within ≤ 0.1")),
        (
            MOST,
            replace(HELD, bounded=True),
            Decision(
                PASS,
                "+0.0500, bounds [+0.0200, +0.1000]",
                "lies within ≤ 0.1, with unknown directions at the worse sign",
            ),
        ),
        (
            MOST,
            replace(HELD, bounded=True, directions=(1, 1)),
            Decision(
                PASS,
                "+0.0500, bounds [+0.0200, +0.1000]",
                "lies within ≤ 0.1, with the unknown direction at the worse sign",
            ),
        ),
        (
            MOST,
            replace(HELD, bounded=True, directions=(1, 2)),
            Decision(
                PASS,
                "+0.0500, bounds [+0.0200, +0.1000]",
                "lies within ≤ 0.1, with 1 unknown of 2 directions at the worse sign",
            ),
        ),
        (MOST, BEYOND, Decision(FAIL, "+0.3000 [+0.2000, +0.4000]", "lies beyond ≤ 0.1")),
        (
            MOST,
            replace(BEYOND, bounded=True),
            Decision(FAIL, "+0.3000, bounds [+0.2000, +0.4000]", "lies beyond ≤ 0.1, whichever their signs"),
        ),
        (
            MOST,
            replace(BEYOND, fails=False),
            Decision(
                UNDECIDED,
                "+0.3000 [+0.2000, +0.4000]",
                "lies beyond ≤ 0.1, but groups count in it that the policy ignores",
            ),
        ),
        (
            MOST,
            replace(HELD, withheld="small", needed=9),
            Decision(UNDECIDED, "+0.0500 [+0.0200, +0.1000]", "small", 9),
        ),
        (MOST, replace(BEYOND, withheld="small"), Decision(FAIL, "+0.3000 [+0.2000, +0.4000]", "lies beyond ≤ 0.1")),
        (
            MOST,
            OVER,
            Decision(UNDECIDED, "+0.1000 [+0.0500, +0.1500]", "reaches over ≤ 0.1: more records would tell"),
        ),
        (
            MOST,
            replace(OVER, bounded=True, directions=(2, 1200)),
            Decision(
                UNDECIDED,
                "+0.1000, bounds [+0.0500, +0.1500]",
                "reaches over ≤ 0.1, with 2 unknown of 1,200 directions at the worse sign: more records would tell",
            ),
        ),
        (
            MOST,
            replace(OVER, value=0.12, low=0.06, high=0.18, records=1000),
            Decision(
                UNDECIDED,
                "+0.1200 [+0.0600, +0.1800]",
                "reaches over ≤ 0.1: about 19,000 records in all would decide with a chance of 80%, if the rates stay as they are",
                19_000,
            ),
        ),
        (
            BETWEEN,
            replace(HELD, low=-0.1),
            Decision(PASS, "+0.0500 [-0.1000, +0.1000]", "lies within ≥ -0.1 and ≤ 0.1"),
        ),
        (
            BETWEEN,
            Figure("g", None, -0.3, -0.4, -0.10001),
            Decision(FAIL, "-0.3000 [-0.4000, -0.1000]", "lies beyond ≥ -0.1 and ≤ 0.1"),
        ),
        (
            BETWEEN,
            Figure("g", None, 0.3, 0.10001, 0.4),
            Decision(FAIL, "+0.3000 [+0.1000, +0.4000]", "lies beyond ≥ -0.1 and ≤ 0.1"),
        ),
    ],
)
def test_outcome_figure_and_words(limit: Limit, figure: Figure, made: Decision) -> None:
    """Of 0.12 with an error of 0.0306: 0.02 below it lies the limit, (1.96 + 0.84) errors: 18.4 times the records."""
    assert decide(limit, figure) == made


@pytest.mark.parametrize(
    ("figure", "outcome"), [(replace(HELD, low=-0.1001), UNDECIDED), (replace(HELD, low=-0.1), PASS)]
)
def test_both_ends_count_where_a_limit_has_two(figure: Figure, outcome: str) -> None:
    assert decide(BETWEEN, figure).outcome == outcome


def with_chance(chance: float) -> Figure:
    """A pair that lies beyond its limit for certain, and whose direction is as unsure as said."""
    return Figure("g", "A->T", 0.3, 0.3, 0.3, sign_p=2.0 * chance)


def corrected(*chances: float, level: float = LEVEL) -> list[str]:
    figures = [with_chance(chance) for chance in chances]
    decisions = [decide(MOST, figure) for figure in figures]
    assert {decision.outcome for decision in decisions} == {FAIL}
    return [decision.outcome for decision in failures_corrected(MOST, figures, decisions, level)]


@pytest.mark.parametrize(
    ("chances", "outcomes"),
    [
        ((ALPHA / 2, ALPHA), (FAIL, FAIL)),  # on both steps
        ((ALPHA, ALPHA / 2), (FAIL, FAIL)),
        ((ALPHA / 2, ALPHA * 1.001), (FAIL, UNDECIDED)),
        ((ALPHA / 2 * 1.001, ALPHA * 0.6), (UNDECIDED, UNDECIDED)),  # the first that is left stops all after it
        ((ALPHA / 3, ALPHA / 2, ALPHA), (FAIL, FAIL, FAIL)),
        ((ALPHA / 3, ALPHA / 2 * 1.001, ALPHA), (FAIL, UNDECIDED, UNDECIDED)),
        ((ALPHA * 0.9,), (FAIL,)),
        ((ALPHA * 3,), (FAIL,)),  # one figure alone is not corrected
    ],
)
def test_the_steps_of_holm(chances: tuple[float, ...], outcomes: tuple[str, ...]) -> None:
    assert tuple(corrected(*chances)) == outcomes


def test_the_level_is_that_of_the_audit() -> None:
    assert corrected(0.02, 0.02, level=0.9) == [FAIL, FAIL]
    assert corrected(0.02, 0.02, level=0.95) == [UNDECIDED, UNDECIDED]


def test_what_is_corrected_says_so_and_the_others_stay() -> None:
    """Two that pass count among the four; the one that is beyond for certain fails."""
    figures = [HELD, with_chance(0.0), HELD, with_chance(0.3)]
    decisions = [decide(MOST, figure) for figure in figures]
    made = failures_corrected(MOST, figures, decisions, LEVEL)
    assert made[:3] == decisions[:3]
    assert made[3] == Decision(
        UNDECIDED, "+0.3000 [+0.3000, +0.3000]", "lies beyond ≤ 0.1 by itself, but one of 4 may by accident"
    )
    assert [decision.outcome for decision in decisions] == [PASS, FAIL, PASS, FAIL]
    assert failures_corrected(ALONE, figures, decisions, LEVEL) == decisions
    assert failures_corrected(MOST, [HELD, HELD], decisions[:1] * 2, LEVEL) == decisions[:1] * 2


@pytest.mark.parametrize(("value", "beyond"), [(0.3, 0.2), (-0.5, 0.4), (-0.12, 0.02), (0.12, 0.02)])
def test_the_chance_within_a_limit_that_has_two_ends(value: float, beyond: float) -> None:
    """A normal figure with an error of 0.01, so far beyond the nearer end of -0.1 to 0.1."""
    half = 0.01 * float(norm.ppf(0.975))
    figure = Figure("g", None, value, value - half, value + half)
    if beyond > half:
        assert _chance_below(BETWEEN, figure, LEVEL) == pytest.approx(norm.sf(beyond / 0.01), rel=1e-9)
    wide = replace(figure, low=value - 2 * half, high=value + 2 * half)
    assert _chance_below(BETWEEN, wide, LEVEL) == pytest.approx(norm.sf(beyond / 0.02), rel=1e-9)
    at_least = Limit(metric="mean_per_class_accuracy", min=0.6)
    low = Figure("g", None, 0.6 - beyond, 0.6 - beyond - half, 0.6 - beyond + half)
    assert _chance_below(at_least, low, LEVEL) == pytest.approx(norm.sf(beyond / 0.01), rel=1e-9)
    assert np.isclose(_chance_below(at_least, low, 0.9), norm.sf(beyond / 0.01 * norm.ppf(0.95) / norm.ppf(0.975)))
