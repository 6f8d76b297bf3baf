"""Holding an audit to a policy, rule by rule."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from biasamp.auditing.audit_of_runs import audit_of_runs
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.group_choice import meant_group
from biasamp.results.metric_registry import METRICS

from .baseline import check_baseline, compared, differences, held_against_itself, made_after, made_unlike, vanished
from .deciding import Decision, decide, failures_corrected
from .evidence import evidence_checks
from .figure import Figure
from .ignored import few_named, ignored_labels
from .limit_cautions import cautions_of
from .limit_figures import Held, figures_of
from .limits import Limit, PolicyError, companion_limit
from .made_otherwise import made_checks
from .several_runs import of_runs
from .trend import trend_checks
from .verdict import PASS, UNDECIDED, Check, Verdict

if TYPE_CHECKING:
    from .policy import Policy


def judge(
    policy: Policy, runs: Sequence[Audit], before: Sequence[Audit] | None, earlier: Sequence[Audit] | None = None
) -> Verdict:
    """The verdict on an audit, or on several runs, also against a baseline and against what earlier audits show."""
    audit = _one_audit(runs)
    baseline = None if before is None else _one_audit(before)
    check_baseline(policy, audit, baseline)
    ignored = ignored_labels(policy.ignore_groups, audit.document["data"])
    held = Held(audit, ignored, max(policy.min_group, 1), policy.min_records, len(runs))
    checks = [*evidence_checks(policy, audit), *made_checks(policy, runs), *_companions(policy, held)]
    notes = [*_unknown_groups(policy, audit), *_open_above(policy)]
    if held.left_out_groups:
        notes.append(f"Groups that are in no comparison, as the policy says: {few_named(held.left_out_groups)}.")
    if len(runs) > 1:
        checks += of_runs(runs)
        notes.append(
            f"Figures are means over {len(runs)} runs: limits are held by the training procedure, with seeds and records in the intervals."
        )
    comparison = None if before is None else compared(runs, before)
    itself = None if before is None else held_against_itself(runs, before)
    if baseline is not None:
        checks += vanished(policy, audit, baseline)
        checks += made_unlike(policy, audit, baseline)
        notes += made_after(audit, baseline)
        if comparison is None:
            reason = "it has no metric in common with this audit"
            checks.append(Check(rule="the baseline", outcome=UNDECIDED, reason=reason))
        else:
            notes += [note["text"] for note in comparison.document["noted"] if note["kind"] != "not-compared"]
    for place, limit in enumerate(policy.limits):
        assert isinstance(limit, Limit)
        line = policy.line("limit", place)
        if not limit.against:
            checks += _limited(limit, held, line, notes=notes)
        elif comparison is not None:
            opened = _open_check(limit, line)
            assert baseline is not None
            found = differences(limit, comparison, audit, baseline, policy)
            if itself is not None:  # before whatever else is doubtful of it
                found = [replace(figure, doubt=itself, needed=None) for figure in found]
            judged = [(figure, decide(limit, figure)) for figure in found]
            checks += [_closed(opened, limit, figure, decision, held) for figure, decision in judged]
    if earlier is not None:
        checks += trend_checks(policy, audit, earlier)
    return Verdict(tuple(checks), policy.source, audit.source, tuple(dict.fromkeys(notes)))


def _one_audit(runs: Sequence[Audit]) -> Audit:
    return runs[0] if len(runs) == 1 else audit_of_runs(runs)


def _unknown_groups(policy: Policy, audit: Audit) -> list[str]:
    there = {name for row in audit.document["data"]["groups"] for name in (row["group"], row.get("category"))}
    gone = [name for name in policy.ignore_groups if name not in there]
    groups: dict[str, list[str]] = {}
    for row in audit.document["data"]["groups"]:
        groups.setdefault(row["attribute"], []).append(row.get("category") or row["group"])
    for name in gone:
        meant = meant_group(name, groups)
        if meant is not None:
            problem = f"{name!r:.60} is no group of {audit.source}; {meant}"
            line = policy.line("evidence", "ignore_groups")
            raise PolicyError("ignore_groups", problem, line=line, source=policy.source)
    return [f"ignore_groups names what the audit does not have: {', '.join(gone)}."] if gone else []


def _open_above(policy: Policy) -> Iterator[str]:
    """Limits that keep a figure from falling where nothing keeps it from rising, which is what is worse."""
    limits = [limit for limit in policy.limits if isinstance(limit, Limit)]
    limits += [companion_limit(name, float(most)) for name, most in policy.companions.items() if most is not True]
    for limit in limits:
        if limit.max is not None or limit.facts.higher_is_better:
            continue
        closed = any(
            other.max is not None
            and other.metric == limit.metric
            and other.attribute in (None, limit.attribute)
            and other.direction in (None, limit.direction)
            for other in limits
        )
        if not closed:
            yield (
                f"{limit.title} {limit.bounds}: no limit has a max for it, so that no {limit.metric} is too large for this policy. "
                "If amplification was to be limited, give max."
            )


def _companions(policy: Policy, held: Held) -> Iterator[Check]:
    for metric, largest in policy.companions.items():
        line, rule = policy.line("companions", metric), f"companion {metric}"
        if largest is not True:
            yield from _limited(companion_limit(metric, float(largest)), held, line, rule=rule)
            continue
        entries = {e["attribute"]: e for e in held.audit.document["metrics"] if e["metric"] == metric}
        for attribute in held.audit.document["data"]["attributes"]:
            entry = entries.get(attribute)
            about: dict[str, Any] = {"metric": metric, "attribute": attribute, "direction": "A->T", "line": line}
            if entry is None or entry["value"] is None:
                why = _why_not(held.audit, metric, attribute)
                reason = f"the policy requires {metric} with amplification: {why}"
                yield Check(rule=rule, outcome=UNDECIDED, reason=reason, **about)
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
    same = {name: getattr(limit, name) for name in ("metric", "figure", "on", "against", "direction", "given")}
    same["outcome_label"] = limit.outcome
    return Check(
        rule=rule or limit.title,
        outcome=UNDECIDED,
        reason="",
        limit=limit.bounds,
        line=line,
        of_pairs=limit.of_pairs,
        **same,
    )


def _limited(
    limit: Limit, held: Held, line: int | None, rule: str | None = None, notes: list[str] | None = None
) -> list[Check]:
    opened = _open_check(limit, line, rule)
    document = held.audit.document
    attributes = document["data"]["attributes"]
    if limit.attribute is not None and limit.attribute not in attributes:
        reason = f"the audit has no attribute {limit.attribute!r}; it has {', '.join(attributes)}"
        return [replace(opened, reason=reason, attribute=limit.attribute)]
    figures: list[Figure] = []
    for attribute in attributes if limit.attribute is None else [limit.attribute]:
        about = (attribute, limit.metric)
        here = [entry for entry in document["metrics"] if (entry["attribute"], entry["metric"]) == about]
        here = [entry for entry in here if limit.direction in (None, entry["direction"])]
        found = [figure for entry in here for figure in figures_of(limit, entry, held)]
        figures += found
        if not here:
            why = _why_not(held.audit, limit.metric, attribute, limit.direction)
            figures.append(Figure(attribute, limit.direction).doubted(why))
        elif not found:
            figures.append(Figure(attribute, limit.direction).doubted(_nothing_named(limit, held)))
    level = document["data"]["confidence"]
    decisions = [decide(limit, figure) for figure in figures]
    if limit.of_pairs:
        decisions = failures_corrected(limit, figures, decisions, level)
        if len(figures) > 1 and notes is not None:
            notes.append(
                f"{limit.title}: {len(figures):,} facts are held to one limit, the two values of an outcome as one. All "
                "have to pass; which of them fail is corrected for their number (Holm)."
            )
    judged = zip(figures, decisions, strict=True)
    return _shown([_closed(opened, limit, figure, decision, held) for figure, decision in judged], limit)


def _nothing_named(limit: Limit, held: Held) -> str:
    missing = " → ".join(part for part in (limit.given, limit.outcome) if part)
    if not missing or {limit.given, limit.outcome} & held.ignored:
        return "every pair that the limit is about is of a group that the policy ignores"
    positive = held.audit.document["data"].get("positive", {})
    if limit.facts.by_outcome and held.variables.get(limit.outcome or "") in positive:
        shown = ", ".join(f"{task}={value}" for task, value in positive.items())
        return f"rates are those of {shown}; the other value of two says the same"
    return f"the audit has no {missing!r} of {limit.metric}: the label is gone, or spelled in another way"


def _closed(opened: Check, limit: Limit, figure: Figure, decision: Decision, held: Held) -> Check:
    return replace(
        opened,
        outcome=decision.outcome,
        reason=f"{decision.shown} {decision.words}".strip(),
        finding=decision.words,
        records_needed=decision.records_needed,
        cautions=cautions_of(limit, figure.attribute, figure.direction, held.audit, bool(held.left_out_groups)),
        attribute=figure.attribute,
        direction=figure.direction,
        value=figure.value,
        low=figure.low,
        high=figure.high,
        bounded=figure.bounded and limit.on != "value",
        given=figure.given or opened.given,
        outcome_label=figure.outcome_label or opened.outcome_label,
    )


def _shown(checks: list[Check], limit: Limit) -> list[Check]:
    """Of many pairs, those that do not pass, and one line for all that do, attribute by attribute."""
    if not limit.of_pairs:
        return checks
    out: list[Check] = []
    for place in dict.fromkeys((check.attribute, check.direction) for check in checks):
        here = [check for check in checks if (check.attribute, check.direction) == place]
        passed = [check for check in here if check.outcome == PASS]
        out += [check for check in here if check.outcome != PASS]
        if len(passed) < 2:
            out += passed
            continue
        other = "" if len(passed) == len(here) else "the other "
        reason = f"{other}{len(passed):,} of {len(here):,} pairs lie within the limit"
        no_figure: dict[str, Any] = dict.fromkeys(("given", "outcome_label", "value", "low", "high"))
        out.append(replace(passed[0], reason=reason, finding="", bounded=False, **no_figure))
    return out
