"""What a verdict says of a figure along earlier windows, word for word."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import biasamp
from biasamp.auditing.trajectory_series import Series
from biasamp.data import printable
from biasamp.policy import Check, Policy
from biasamp.policy.trend import _check, trend_checks
from biasamp.resampling.trend import Steps
from hand_audits import entry, hand_audit

PASS, FAIL, UNDECIDED = "pass", "fail", "not enough evidence"
LIMIT = {"metric": "directional", "max": 0.9}


def window(value: float, number: int = 0, *, title: str = "t", **more: Any) -> biasamp.Audit:
    """An audit of records of its own, with a value whose error is 0.01."""
    reach = 0.01 * float(stats.norm.ppf(0.975))
    held = entry(value=value, interval=[value - reach, value + reach], pairs=[], **more)
    return hand_audit(held, data={"records": 200 + number, "tasks": {"title": title, "labels": 2}})


def earlier(*values: float, **more: Any) -> list[biasamp.Audit]:
    return [window(value, number, **more) for number, value in enumerate(values)]


FOUR = (0.1, 0.12, 0.08, 0.11)


def told(now: biasamp.Audit, before: Any, *limits: Any) -> list[Check]:
    return list(trend_checks(Policy(limits=limits or [LIMIT]), now, before))


def rows(found: list[Check]) -> list[tuple[str, str, str]]:
    return [(check.rule, check.outcome, check.reason) for check in found]


@pytest.mark.parametrize("many", [0, 1, 3])
def test_too_few_audits(many: int) -> None:
    said = f"{many} earlier audits do not show how figures vary; 4 or more are needed"
    assert rows(told(window(0.1, 9), earlier(*FOUR[:many]))) == [("trend", UNDECIDED, said)]


def test_four_are_enough() -> None:
    (check,) = told(window(0.1, 9), earlier(*FOUR))
    assert (check.outcome, check.rule, check.metric, check.attribute, check.direction, check.against) == (
        PASS,
        "trend of directional",
        "directional",
        "g",
        "A->T",
        "trend",
    )
    assert check.limit.startswith("within +0.0")
    assert check.reason == f"+0.1000 {check.finding}"
    assert check.finding == f"is no worse than 4 earlier audits let expect, {check.limit.removeprefix('within ')}"
    assert (check.value, check.low, check.high) == (
        0.1,
        pytest.approx(0.1 - 0.0196, abs=1e-4),
        pytest.approx(0.1196, abs=1e-4),
    )
    (check,) = told(window(0.5, 9), earlier(*FOUR))
    assert check.outcome == FAIL
    assert check.reason == f"+0.5000 {check.finding}"
    assert check.finding == f"lies outside {check.limit.removeprefix('within ')}, where 4 earlier audits put it"


def test_all_figures_together_lie_outside_by_chance_as_seldom_as_one() -> None:
    """Two figures have 97.5% each: limits by Student's quantile with three degrees of freedom."""
    spread = np.array([-3.0, -1.0, 1.0, 3.0]) * 0.01
    error = np.sqrt(np.var(spread, ddof=1) * (1 + 1 / 4))
    ends = {}
    for many in (1, 2):
        held = []
        for number, moved in enumerate([*spread, 0.0]):
            values = [entry(attribute=a, value=0.4 + moved, interval=[0.4 + moved] * 2, pairs=[]) for a in "gh"[:many]]
            held.append(hand_audit(*values, data={"records": 200 + number, "attributes": list("gh")}))
        (check, *others) = told(held[-1], held[:-1])
        assert len(others) == many - 1
        ends[many] = float(check.limit.split()[-1])
    for many, high in ends.items():
        assert high == pytest.approx(0.4 + stats.t.ppf(1 - 0.025 / many, 3) * error, abs=2e-4)


def test_windows_that_show_nothing() -> None:
    now = window(0.1, 9)
    twice = [*earlier(*FOUR), window(0.12, 1)]
    assert rows(told(now, twice))[:-1] == [
        (
            "trend",
            UNDECIDED,
            "the earlier audits 2 and 5 have the same predictions of the same records: give each window once",
        )
    ]
    same = [*earlier(*FOUR), now]
    assert rows(told(now, same))[:-1] == [
        ("trend", UNDECIDED, "the earlier audit 5 has the predictions of this one: it does not show what was before")
    ]
    other = [*earlier(*FOUR), window(0.1, 7, title="u")]
    assert rows(told(now, other))[:-1] == [
        (
            "trend",
            UNDECIDED,
            "the earlier audit 5 is of other tasks (u) than this one (t): it does not show how these vary",
        )
    ]
    assert len(told(now, earlier(*FOUR))) == 1
    long = rows(told(now, [*earlier(*FOUR), window(0.1, 7, title="u" * 80)]))
    assert f"is of other tasks ({printable('u' * 80, 60)}) than this one (t)" in long[0][2]


def test_a_figure_that_windows_do_not_have() -> None:
    multi = {"metric": "multi", "max": 0.9}
    found = told(window(0.1, 9), earlier(*FOUR), LIMIT, multi)
    assert [check.rule for check in found] == ["trend of directional", "trend of multi"]
    assert (found[1].outcome, found[1].metric, found[1].against) == (UNDECIDED, "multi", "trend")
    assert found[1].reason == "earlier audits and this one do not have it with an interval"
    (check,) = told(window(0.1, 9), earlier(*FOUR), {**LIMIT, "attribute": "h"})
    assert check.reason == "earlier audits and this one do not have it with an interval"
    # Two limits on one metric are about one figure.
    assert len(told(window(0.1, 9), earlier(*FOUR), LIMIT, {**LIMIT, "max": 0.5})) == 1


def series(values: list[float], places: list[int], metric: str = "directional", direction: str = "A->T") -> Series:
    steps = Steps(np.array(places, dtype=float), np.array(values), np.zeros((len(values), len(values))), False)
    return Series("g", metric, direction, "", np.array(places), steps, steps.values - 1, steps.values + 1)


@pytest.mark.parametrize(
    ("places", "now", "reason"),
    [
        ([0, 1, 2, 3], 4, "this audit does not have it"),
        ([0, 1, 2, 4], 4, "3 earlier audits have it: too few"),
        ([0, 4], 4, "1 earlier audits have it: too few"),
        ([0, 1, 2, 3, 4], 4, None),
        ([1, 2, 3, 4, 5], 5, None),
    ],
)
def test_windows_that_have_the_figure(places: list[int], now: int, reason: str | None) -> None:
    check = _check(series([0.1, 0.2, 0.1, 0.2, 0.15][-len(places) :], places), now, 0.95)
    assert check.direction == "A->T"
    if reason is not None:
        assert (check.outcome, check.reason, check.value, check.limit) == (UNDECIDED, reason, None, "")
        return
    assert check.outcome == PASS
    assert "4 earlier audits" in check.reason


def test_limits_are_cut_where_no_figure_lies() -> None:
    wide = [0.0, 1.0, 0.0, 1.0, 0.5]
    assert _check(series(wide, [0, 1, 2, 3, 4]), 4, 0.95).limit == "within -1.0000 to +1.0000"
    assert _check(series(wide, [0, 1, 2, 3, 4], "multi", ""), 4, 0.95).limit == "within +0.0000 to +1.0000"


@pytest.mark.parametrize(("metric", "sign"), [("directional", 1.0), ("mean_per_class_accuracy", -1.0)])
def test_a_step_of_rounding_beyond_the_limit_passes(metric: str, sign: float) -> None:
    for beyond, outcome in ((1e-13, PASS), (1e-6, FAIL)):
        made = _check(series([0.5] * 4 + [0.5 + sign * beyond], [0, 1, 2, 3, 4], metric), 4, 0.95)
        assert made.outcome == outcome
