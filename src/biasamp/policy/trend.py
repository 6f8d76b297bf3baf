"""Within what earlier audits show: the figures that a policy limits, held to what these let expect of one more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.same_predictions import copies, same_predictions
from biasamp.auditing.trajectory_series import Series, audit_series
from biasamp.data import printable
from biasamp.resampling.trend import FALSE_ALARM, ROUNDING
from biasamp.results.interval import plain
from biasamp.results.metric_registry import METRICS, range_of

from .limits import Limit
from .verdict import FAIL, PASS, UNDECIDED, Check

if TYPE_CHECKING:
    from .policy import Policy

# Fewer audits than this do not show how much a figure varies by itself: limits of records alone would fail models that vary as ever.
FEWEST = 4


def trend_checks(policy: Policy, audit: Audit, earlier: Sequence[Audit]) -> Iterator[Check]:
    """A check for each figure that a limit of the policy is about: it fails where it is worse than those before it let expect."""
    limits = [limit for limit in policy.limits if isinstance(limit, Limit)]
    if len(earlier) < FEWEST:
        reason = f"{len(earlier)} earlier audits do not show how figures vary; {FEWEST} or more are needed"
        yield Check(rule="trend", outcome=UNDECIDED, reason=reason)
        return
    yield from _of_windows(audit, earlier)
    metrics = list(dict.fromkeys(limit.metric for limit in limits))
    audits = [*earlier, audit]
    found, _ = audit_series(audits, [audit.source for audit in audits], np.arange(float(len(audits))), metrics)
    judged = {metric: [one for one in found if one.metric == metric and _about(limits, one)] for metric in metrics}
    # All figures together lie outside by chance as seldom as one would.
    level = 1.0 - FALSE_ALARM / max(sum(map(len, judged.values())), 1)
    for metric, mine in judged.items():
        if not mine:
            reason = "earlier audits and this one do not have it with an interval"
            yield Check(rule=f"trend of {metric}", outcome=UNDECIDED, reason=reason, metric=metric, against="trend")
        yield from (_check(one, len(earlier), level) for one in mine)


def _of_windows(audit: Audit, earlier: Sequence[Audit]) -> Iterator[Check]:
    """Checks without a pass where a window is there twice, is the one that is judged, or is of other tasks."""
    for before, place in copies(earlier):
        reason = f"the earlier audits {before + 1} and {place + 1} have the same predictions of the same records: give each window once"
        yield Check(rule="trend", outcome=UNDECIDED, reason=reason)
    for number, held in enumerate(earlier, start=1):
        titles = [printable(one.document["data"]["tasks"]["title"], 60) for one in (held, audit)]
        if titles[0] != titles[1]:
            reason = f"the earlier audit {number} is of other tasks ({titles[0]}) than this one ({titles[1]}): it does not show how these vary"
            yield Check(rule="trend", outcome=UNDECIDED, reason=reason)
        if same_predictions(held, audit):
            reason = f"the earlier audit {number} has the predictions of this one: it does not show what was before"
            yield Check(rule="trend", outcome=UNDECIDED, reason=reason)


def _about(limits: list[Limit], held: Series) -> bool:
    """Whether one of some limits is about a figure."""
    return any(
        limit.metric == held.metric
        and limit.attribute in (None, held.attribute)
        and limit.direction in (None, held.direction)
        for limit in limits
    )


def _check(held: Series, now: int, level: float) -> Check:
    """Whether the step ``now`` is worse than those before it let expect."""
    about: dict[str, Any] = {
        "rule": f"trend of {held.metric}",
        "metric": held.metric,
        "attribute": held.attribute,
        "direction": held.direction or None,
        "against": "trend",
    }
    there = now in held.places
    known = int((held.places < now).sum())
    if not there or known < FEWEST:
        reason = f"{known} earlier audits have it: too few" if there else "this audit does not have it"
        return Check(outcome=UNDECIDED, reason=reason, **about)
    value = float(held.steps.values[-1])
    low, high = np.clip(held.steps.newest(level), *range_of(held.metric)).tolist()
    within = f"{low:+.4f} to {high:+.4f}"
    about |= {"limit": f"within {within}", "value": value, "low": plain(held.low[-1]), "high": plain(held.high[-1])}
    if value < low - ROUNDING if METRICS[held.metric].higher_is_better else value > high + ROUNDING:
        words = f"lies outside {within}, where {known} earlier audits put it"
        return Check(outcome=FAIL, reason=f"{value:+.4f} {words}", finding=words, **about)
    words = f"is no worse than {known} earlier audits let expect, {within}"
    return Check(outcome=PASS, reason=f"{value:+.4f} {words}", finding=words, **about)
