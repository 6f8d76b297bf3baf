"""Within what earlier audits show: the figures that a policy limits, held to their control limits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.same_predictions import copies, same_predictions
from biasamp.auditing.trajectory import trajectory
from biasamp.results.metric_registry import METRICS

from .limits import Limit
from .verdict import FAIL, PASS, UNDECIDED, Check

if TYPE_CHECKING:
    from .policy import Policy

# Fewer audits than this do not show how much a figure varies by itself: limits of records alone would fail models that vary as ever.
FEWEST = 4
_NOW = "this audit"


def trend_checks(policy: Policy, audit: Audit, earlier: Sequence[Audit]) -> Iterator[Check]:
    """A check for each figure that a limit of the policy is about: it fails outside its control limits on the worse side."""
    limits = [limit for limit in policy.limits if isinstance(limit, Limit)]
    if len(earlier) < FEWEST:
        reason = f"{len(earlier)} earlier audits do not show how figures vary; {FEWEST} or more are needed"
        yield Check(rule="trend", outcome=UNDECIDED, reason=reason)
        return
    yield from _windows_once(audit, earlier)
    metrics = list(dict.fromkeys(limit.metric for limit in limits))
    steps = {f"audit {number}": held for number, held in enumerate(earlier, start=1)}
    try:
        figures = trajectory({**steps, _NOW: audit}, metrics=metrics).document["figures"]
    except ValueError as error:
        yield Check(rule="trend", outcome=UNDECIDED, reason=str(error))
        return
    for metric in metrics:
        wanted = [limit for limit in limits if limit.metric == metric]
        mine = [held for held in figures if held["metric"] == metric and _about(wanted, held)]
        if not mine:
            reason = "earlier audits and this one do not have it with an interval"
            yield Check(rule=f"trend of {metric}", outcome=UNDECIDED, reason=reason, metric=metric, against="trend")
        yield from (_check(held) for held in mine)


def _windows_once(audit: Audit, earlier: Sequence[Audit]) -> Iterator[Check]:
    """Checks without a pass where a window is there twice, or is the one that is judged."""
    for before, place in copies(earlier):
        reason = f"the earlier audits {before + 1} and {place + 1} have the same predictions of the same records: give each window once"
        yield Check(rule="trend", outcome=UNDECIDED, reason=reason)
    for number, held in enumerate(earlier, start=1):
        if same_predictions(held, audit):
            reason = f"the earlier audit {number} has the predictions of this one: it does not show what was before"
            yield Check(rule="trend", outcome=UNDECIDED, reason=reason)


def _about(limits: list[Limit], held: dict[str, Any]) -> bool:
    """Whether one of some limits is about a figure."""
    return any(
        limit.attribute in (None, held["attribute"]) and limit.direction in (None, held["direction"])
        for limit in limits
    )


def _check(held: dict[str, Any]) -> Check:
    point = held["points"][-1]
    about: dict[str, Any] = {
        "rule": f"trend of {held['metric']}",
        "metric": held["metric"],
        "attribute": held["attribute"],
        "direction": held["direction"] or None,
        "against": "trend",
    }
    known = sum(step["step"] != _NOW for step in held["points"])
    if point["step"] != _NOW or known < FEWEST:
        reason = "this audit does not have it" if point["step"] != _NOW else f"{known} earlier audits have it: too few"
        return Check(outcome=UNDECIDED, reason=reason, **about)
    low, high, value = point["control_low"], point["control_high"], point["value"]
    within = f"{low:+.4f} to {high:+.4f}"
    about |= {"limit": f"within {within}", "value": value, "low": point["low"], "high": point["high"]}
    worse = value < low if METRICS[held["metric"]].higher_is_better else value > high
    if point["left"] and worse:
        words = f"lies outside {within}, where {known} earlier audits put it"
        return Check(outcome=FAIL, reason=f"{value:+.4f} {words}", finding=words, **about)
    words = f"is no worse than {known} earlier audits let expect, {within}"
    return Check(outcome=PASS, reason=f"{value:+.4f} {words}", finding=words, **about)
