"""Holding an audit to a policy, rule by rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biasamp.auditing import compare
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.comparison import Comparison
from biasamp.auditing.document_types import Data, Group
from biasamp.results.metric_registry import METRICS

from .limited_figures import Figure, figures_of
from .limits import Limit, companion_limit
from .policy_error import PolicyError
from .verdict import FAIL, PASS, UNDECIDED, Check, Verdict

if TYPE_CHECKING:
    from .policy import Policy

# What the models of a comparison are called; the baseline is the one that the other is held against.
_BEFORE, _NOW = "baseline", "this model"


def judge(policy: Policy, audit: Audit, baseline: Audit | None) -> Verdict:
    """The verdict on an audit."""
    checks = [*_support(policy, audit), *_companions(policy, audit)]
    notes: list[str] = []
    limits = [limit for limit in policy.limits if isinstance(limit, Limit)]
    comparison = None
    if any(limit.against for limit in limits):
        comparison = _compared(policy, audit, baseline)
        if comparison is None:
            checks.append(_not_decided("the baseline", "it has no metric in common with this audit"))
        else:
            notes += [note["text"] for note in comparison.document["noted"] if note["kind"] != "not-compared"]
        if baseline is not None:
            checks += _vanished(policy, audit, baseline)
    for place, limit in enumerate(limits):
        line = policy.line("limit", place)
        if limit.against:
            if comparison is not None:
                checks += _against(limit, comparison, audit, policy.paired, line)
        else:
            checks += _limited(limit, audit, line, ignored=policy.ignore_groups)
    if any(limit.pairs for limit in limits):
        notes.append("Intervals of pairs are not widened for their number: of many, some reach over a limit by chance.")
    return Verdict(tuple(checks), policy.source, audit.source, tuple(dict.fromkeys(notes)))


def _not_decided(rule: str, reason: str, **more: Any) -> Check:
    return Check(rule=rule, outcome=UNDECIDED, reason=reason, **more)


def _support(policy: Policy, audit: Audit) -> Iterator[Check]:
    data = audit.document["data"]
    if policy.min_records:
        reason = f"{data['records']:,} records; at least {policy.min_records:,} are needed"
        yield _evidence(policy, "min_records", data["records"] >= policy.min_records, reason)
    if policy.confidence is not None:
        reason = f"intervals have the level {data['confidence']:g}; at least {policy.confidence:g} is needed"
        yield _evidence(policy, "confidence", data["confidence"] >= policy.confidence, reason)
    yield from _groups(policy, data)


def _evidence(policy: Policy, key: str, enough: bool, reason: str, attribute: str | None = None) -> Check:
    """Whether there is what an entry of [evidence] asks for."""
    line = policy.line("evidence", key)
    return Check(rule=key, outcome=PASS if enough else UNDECIDED, reason=reason, attribute=attribute, line=line)


def _groups(policy: Policy, data: Data) -> Iterator[Check]:
    there = {row["group"] for row in data["groups"] if row["records"]}
    for name in policy.groups:
        if name not in there:
            yield _evidence(policy, "groups", False, f"no record is of the group {name!r}, which the policy names")
    for attribute in data["attributes"]:
        held = [row for row in data["groups"] if row["attribute"] == attribute]
        asked = {row["group"]: row["records"] for row in held if row["group"] not in policy.ignore_groups}
        least = max(policy.min_group, 1)  # a group without any record is never evidence
        small = [f"{group} ({n:,})" for group, n in asked.items() if n < least]
        alone = sum(row["records"] > 0 for row in held) < 2 and not _yes_no(held)
        if small:
            reason = f"fewer than {least:,} records: {', '.join(small)}"
        elif alone:
            reason = "one group alone: there is nothing to compare it with"
        else:
            reason = f"the smallest of {len(asked)} groups has {min(asked.values(), default=0):,} records"
        yield _evidence(policy, "min_group", not small and not alone, reason, attribute)


def _yes_no(groups: list[Group]) -> bool:
    """Whether the attribute is one yes/no label, whose other side is everybody without it."""
    return len(groups) == 1 and groups[0].get("category", "") is None


def _companions(policy: Policy, audit: Audit) -> Iterator[Check]:
    for metric, largest in policy.companions.items():
        line, rule = policy.line("companions", metric), f"companion {metric}"
        if largest is not True:
            yield from _limited(companion_limit(metric, float(largest)), audit, line, rule=rule)
            continue
        entries = {e["attribute"]: e for e in audit.document["metrics"] if e["metric"] == metric}
        for attribute in audit.document["data"]["attributes"]:
            entry = entries.get(attribute)
            about: dict[str, Any] = {"metric": metric, "attribute": attribute, "direction": "A->T", "line": line}
            if entry is None or entry["value"] is None:
                reason = f"the policy requires {metric} beside amplification: {_why_not(audit, metric, attribute)}"
                yield _not_decided(rule, reason, **about)
            else:
                value, (low, high) = entry["value"], entry["interval"]
                reason = f"measured: {value:.4f}"
                yield Check(rule=rule, outcome=PASS, reason=reason, value=value, low=low, high=high, **about)


def _why_not(audit: Audit, metric: str, attribute: str | None, direction: str | None = None) -> str:
    for row in audit.not_run:
        named = row["metric"] in (metric, METRICS[metric].described_by) and attribute in (None, row["attribute"])
        if named and direction in (None, row["direction"]):
            return f"not run, {row['reason']}"
    return "the audit did not measure it"


def _open_check(limit: Limit, line: int | None, rule: str | None = None) -> Check:
    """The check of a limit before any figure was looked at."""
    return Check(
        rule=rule or limit.title,
        outcome=UNDECIDED,
        reason="",
        limit=limit.bounds,
        metric=limit.metric,
        figure=limit.figure,
        against=limit.against,
        direction=limit.direction,
        given=limit.given,
        outcome_label=limit.outcome,
        line=line,
    )


def _limited(
    limit: Limit, audit: Audit, line: int | None, rule: str | None = None, ignored: Sequence[str] = ()
) -> list[Check]:
    undecided = _open_check(limit, line, rule)
    attributes = audit.document["data"]["attributes"]
    if limit.attribute is not None and limit.attribute not in attributes:
        reason = f"the audit has no attribute {limit.attribute!r}; it has {', '.join(attributes)}"
        return [replace(undecided, reason=reason, attribute=limit.attribute)]
    out: list[Check] = []
    for attribute in attributes if limit.attribute is None else [limit.attribute]:
        entries = [entry for entry in audit.document["metrics"] if entry["attribute"] == attribute]
        here = [entry for entry in entries if entry["metric"] == limit.metric]
        here = [entry for entry in here if limit.direction in (None, entry["direction"])]
        found = [list(figures_of(limit, entry, audit, ignored)) for entry in here]
        for figures in found:
            out += _shown([_judged(limit, figure, undecided) for figure in figures], limit)
        if not here:
            reason = _why_not(audit, limit.metric, attribute, limit.direction)
            out.append(replace(undecided, reason=reason, attribute=attribute))
        elif not any(found):
            wanted = " → ".join(part for part in (limit.given, limit.outcome) if part)
            reason = f"the audit has no {wanted!r} of {limit.metric}: the label is gone, or spelled in another way"
            out.append(replace(undecided, reason=reason, attribute=attribute))
    return out


def _shown(checks: list[Check], limit: Limit) -> list[Check]:
    """Of many pairs, those that do not pass, and one line for all that do."""
    passed = [check for check in checks if check.outcome == PASS]
    if not limit.of_pairs or len(passed) < 2:
        return checks
    reason = f"{len(passed):,} of {len(checks):,} pairs lie within the limit"
    no_figure: dict[str, Any] = dict.fromkeys(("given", "outcome_label", "value", "low", "high"))
    together = replace(passed[0], reason=reason, finding="", **no_figure)
    return [*(check for check in checks if check.outcome != PASS), together]


def _judged(limit: Limit, figure: Figure, undecided: Check) -> Check:
    outcome, shown, words = _decide(limit, figure)
    about = {name: value for name, value in figure._asdict().items() if name != "doubt"}
    return replace(undecided, outcome=outcome, reason=f"{shown} {words}".strip(), finding=words, **about)


def _decide(limit: Limit, figure: Figure) -> tuple[str, str, str]:
    """The outcome for one figure, the figure where it was judged, and what is said of it."""
    value, low, high = figure.value, figure.low, figure.high
    if figure.doubt is not None:
        return UNDECIDED, "", figure.doubt
    if value is None:
        return UNDECIDED, "", "the value is undefined"
    if limit.on == "value":
        low = high = value
        shown = f"{value:+.4f}"
    elif low is None or high is None:
        return UNDECIDED, f"{value:+.4f}", 'has no interval; on = "value" would judge the value alone'
    else:
        shown = f"{value:+.4f} [{low:+.4f}, {high:+.4f}]"
    floor = float("-inf") if limit.min is None else limit.min
    ceiling = float("inf") if limit.max is None else limit.max
    if low > ceiling or high < floor:
        return FAIL, shown, f"lies beyond {limit.bounds}"
    if floor <= low and high <= ceiling:
        return PASS, shown, f"lies within {limit.bounds}"
    return UNDECIDED, shown, f"reaches over {limit.bounds}: more records would tell"


def _compared(policy: Policy, audit: Audit, baseline: Audit | None) -> Comparison | None:
    if baseline is None:
        raise PolicyError(
            "baseline",
            "a limit is against the baseline, but there is none: name a saved audit under [baseline], or give one",
            line=next((policy.line("limit", i) for i, limit in enumerate(policy.limits) if limit.against), None),  # type: ignore[union-attr]
            source=policy.source,
        )
    level = audit.document["data"]["confidence"]
    try:
        return compare({_BEFORE: baseline, _NOW: audit}, level=level)
    except ValueError:
        return None


def _vanished(policy: Policy, audit: Audit, baseline: Audit) -> Iterator[Check]:
    """Groups and attributes that the baseline has and this audit has not."""
    line = policy.line("baseline")
    now = {row["group"] for row in audit.document["data"]["groups"] if row["records"]}
    gone = [
        row["group"]
        for row in baseline.document["data"]["groups"]
        if row["records"] and row["group"] not in now and row["group"] not in policy.ignore_groups
    ]
    if gone:
        yield _not_decided(
            "groups of the baseline", f"the baseline has groups that are gone: {', '.join(gone)}", line=line
        )
    lost = sorted(_outcomes(baseline) - _outcomes(audit))
    if lost:
        reason = f"the baseline has outcomes that are gone, so that values are over other pairs: {', '.join(lost[:10])}"
        yield _not_decided("outcomes of the baseline", reason, line=line)


def _outcomes(audit: Audit) -> set[str]:
    """The task labels that the directional values of an audit are over, where all of them are listed."""
    return {
        pair["outcome"]
        for entry in audit.document["metrics"]
        if entry["metric"] == "directional"
        and entry["direction"] == "A->T"
        and len(entry["pairs"]) == entry["pairs_in_all"]
        for pair in entry["pairs"]
    }


def _against(limit: Limit, comparison: Comparison, audit: Audit, paired: bool, line: int | None) -> list[Check]:
    undecided = _open_check(limit, line)
    rows = [row for row in comparison.document["differences"] if row["metric"] == limit.metric]
    rows = [row for row in rows if limit.direction in (None, row["direction"])]
    rows = [row for row in rows if limit.attribute in (None, row["attribute"])]
    doubt = "the difference is not paired: audit both models on the same records with the same seed and save()"
    if not any(note["kind"] == "unpaired" for note in comparison.document["noted"]):
        doubt = f"{limit.metric} has no resamples to pair; [baseline] paired = false accepts an unpaired interval"
    out = []
    for row in rows:
        figure = Figure(row["attribute"], row["direction"], row["difference"], row["low"], row["high"])
        figure = figure._replace(doubt=doubt) if paired and not row["paired"] else figure
        out.append(_judged(limit, figure, undecided))
    compared = {row["attribute"] for row in rows}
    for attribute in audit.document["data"]["attributes"] if limit.attribute is None else [limit.attribute]:
        if attribute not in compared:
            reason = "it cannot be compared: this audit or the baseline lacks it"
            out.append(replace(undecided, reason=reason, attribute=attribute))
    return out
