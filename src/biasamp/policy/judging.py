"""Holding an audit to a policy, rule by rule: which figures of the audit a limit is about, and what is said of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from biasamp.auditing import compare
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.comparison import Comparison
from biasamp.auditing.document_types import Data, Entry, Excluded
from biasamp.results.metric_registry import METRICS

from .limits import Limit, PolicyError, companion_limit
from .verdict import FAIL, PASS, UNDECIDED, Check, Verdict

if TYPE_CHECKING:
    from .policy import Policy

# What the models of a comparison are called; the baseline is the one that the other is held against.
_BEFORE, _NOW = "baseline", "this model"


class Figure(NamedTuple):
    """One figure with its interval; ``doubt`` says why it cannot be judged, where it cannot."""

    attribute: str
    direction: str | None
    value: float | None
    low: float | None
    high: float | None
    given: str | None = None
    outcome_label: str | None = None
    doubt: str | None = None


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
        # One yes/no label is compared with everybody without it.
        yes_no = len(held) == 1 and held[0].get("category", "") is None
        alone = sum(row["records"] > 0 for row in held) < 2 and not yes_no
        if small:
            reason = f"fewer than {least:,} records: {', '.join(small)}"
        elif alone:
            reason = "one group alone: there is nothing to compare it with"
        else:
            reason = f"the smallest of {len(asked)} groups has {min(asked.values(), default=0):,} records"
        yield _evidence(policy, "min_group", not small and not alone, reason, attribute)


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
                reason = f"the policy requires {metric} with amplification: {_why_not(audit, metric, attribute)}"
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
    same = {name: getattr(limit, name) for name in ("metric", "figure", "against", "direction", "given")}
    same["outcome_label"] = limit.outcome
    return Check(rule=rule or limit.title, outcome=UNDECIDED, reason="", limit=limit.bounds, line=line, **same)


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
        about = (attribute, limit.metric)
        here = [entry for entry in audit.document["metrics"] if (entry["attribute"], entry["metric"]) == about]
        here = [entry for entry in here if limit.direction in (None, entry["direction"])]
        found = [list(_figures_of(limit, entry, audit, ignored)) for entry in here]
        for figures in found:
            out += _shown([_judged(limit, figure, undecided) for figure in figures], limit)
        if not here:
            reason = _why_not(audit, limit.metric, attribute, limit.direction)
            out.append(replace(undecided, reason=reason, attribute=attribute))
        elif not any(found):
            missing = " → ".join(part for part in (limit.given, limit.outcome) if part)
            reason = f"the audit has no {missing!r} of {limit.metric}: the label is gone, or spelled in another way"
            out.append(replace(undecided, reason=reason, attribute=attribute))
    return out


def _key(entry: Entry | Excluded) -> tuple[str, str, str]:
    """What tells one metric of an audit from another."""
    return entry["attribute"], entry["metric"], entry["direction"] or ""


def _figures_of(limit: Limit, entry: Entry, audit: Audit, ignored: Sequence[str] = ()) -> Iterator[Figure]:
    """What a limit holds of one metric: its aggregate, its outcomes or its pairs; ``ignored`` groups may be gone."""
    if limit.of_pairs:
        yield from _pairs(limit, entry, audit, ignored)
    elif limit.outcome is not None and limit.facts.by_outcome:
        yield from _of_outcome(limit, entry)
    else:
        yield _aggregate(limit, entry, audit, ignored)


def _aggregate(limit: Limit, entry: Entry, audit: Audit, ignored: Sequence[str]) -> Figure:
    value, (low, high) = entry["value"], entry["interval"]
    doubt = _emptied(entry, audit, ignored)
    if limit.figure == "crossfit":
        value = entry.get("crossfit")
        low, high = entry.get("crossfit_interval", (None, None))
        if value is None:
            doubt = "there is no cross-fitted value: with train labels the value itself is not biased by the signs"
    elif limit.figure == "over_floor":
        floor = entry.get("floor")
        if floor is None:
            doubt = "there is no noise floor"
        else:
            value, low, high = (None if x is None else x - floor for x in (value, low, high))
    return Figure(entry["attribute"], entry["direction"], value, low, high, doubt=doubt)


def _emptied(entry: Entry, audit: Audit, ignored: Sequence[str]) -> str | None:
    """Groups without a record have left the aggregate: it is about other pairs than it seems."""
    if entry["direction"] == "T->A" or "pairs" not in entry:
        return None
    rows = [row for row in audit.document["excluded"] if _key(row) == _key(entry) and "given" in row]
    gone = {row["given"] for row in rows if row.get("given_count", row.get("support", 1)) == 0} - set(ignored)
    return f"no record is of {', '.join(sorted(gone))}: the value is over the other groups only" if gone else None


def _of_outcome(limit: Limit, entry: Entry) -> Iterator[Figure]:
    """A parity difference of one outcome; only the worst outcome has an interval."""
    for row in entry["outcomes"]:
        if row["outcome"] == limit.outcome:
            low, high = entry["interval"] if row["outcome"] == entry["outcome"] else (None, None)
            value = cast("float | None", row[limit.metric])
            yield Figure(entry["attribute"], entry["direction"], value, low, high, outcome_label=limit.outcome)


def _pairs(limit: Limit, entry: Entry, audit: Audit, ignored: Sequence[str]) -> Iterator[Figure]:
    attribute, direction = entry["attribute"], entry["direction"]
    listed = False
    for pair in entry["pairs"]:
        if limit.given in (None, pair["given"]) and limit.outcome in (None, pair["outcome"]):
            listed = True
            low, high, doubt = pair["low"], pair["high"], None
            if pair["support"] < limit.min_support:
                doubt = f"the pair rests on {pair['support']:,.0f} records; {limit.min_support:,.0f} are needed"
            elif not pair["clear"] and limit.facts.pairs_oriented and low is not None and high is not None:
                # The data cannot tell which way the pair leans, so neither which way amplification would be.
                low, high = min(low, -high), max(high, -low)
            yield Figure(attribute, direction, pair["amplification"], low, high, pair["given"], pair["outcome"], doubt)
    for row in audit.document["excluded"]:
        if _key(row) != _key(entry) or "given" not in row or "outcome" not in row or row["given"] in ignored:
            continue
        if limit.given in (None, row["given"]) and limit.outcome in (None, row["outcome"]):
            doubt = f"the pair is undefined: {row['reason']}"
            yield Figure(attribute, direction, None, None, None, row["given"], row["outcome"], doubt)
    unlisted = entry.get("pairs_in_all", 0) - len(entry["pairs"])
    one_pair = limit.given is not None and limit.outcome is not None
    if unlisted > 0 and not (one_pair and listed):
        doubt = f"{unlisted:,} pairs are not in the audit's document, which lists those that change most"
        yield Figure(attribute, direction, None, None, None, limit.given, limit.outcome, doubt)


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
        problem = "a limit is against the baseline, but there is none: name a saved audit under [baseline], or give one"
        line = next((policy.line("limit", i) for i, limit in enumerate(policy.limits) if limit.against), None)  # type: ignore[union-attr]
        raise PolicyError("baseline", problem, line=line, source=policy.source)
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
        reason = f"the baseline has groups that are gone: {', '.join(gone)}"
        yield _not_decided("groups of the baseline", reason, line=line)
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
