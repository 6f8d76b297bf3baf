"""What has to be there before anything is judged: records, groups, intervals, and the data that the policy is about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Data
from biasamp.results.interval import rounded_up

from .ignored import few_named, ignored_labels
from .limits import Limit
from .verdict import PASS, UNDECIDED, Check

if TYPE_CHECKING:
    from .policy import Policy

# The level that intervals need unless the policy names another.
CONFIDENCE = 0.95


def evidence_checks(policy: Policy, audit: Audit) -> Iterator[Check]:
    """What the policy asks for, and what no verdict can do without."""
    data = audit.document["data"]
    if policy.min_records:
        reason = f"{data['records']:,} records; at least {policy.min_records:,} are needed"
        enough = data["records"] >= policy.min_records
        yield _evidence(policy, "min_records", enough, reason, needed=policy.min_records)
    yield from _intervals(policy, data)
    yield from _same_columns(policy, data)
    yield from _groups(policy, data)
    yield from _predictions(policy, audit)
    for row in audit.document["findings"]:
        # With labels of other records, one value here is a change against those; one group alone is said of the groups.
        nothing = row["code"] == "one-value" and row.get("attribute") is None and not (data["train"] or data["base"])
        if row["code"] == "copied" or nothing:
            yield _evidence(policy, "columns", False, row["text"], row.get("attribute"))
    if not policy.limits and all(largest is True for largest in policy.companions.values()):
        reason = "the policy has no limit: that something is measured is no reason to pass"
        yield _evidence(policy, "limit", False, reason)


def _evidence(
    policy: Policy, name: str, enough: bool, reason: str, attribute: str | None = None, needed: int | None = None
) -> Check:
    """Whether there is what an entry of [evidence] asks for."""
    return Check(
        rule=name,
        outcome=PASS if enough else UNDECIDED,
        reason=reason,
        attribute=attribute,
        line=policy.line("evidence", name),
        records_needed=None if enough else needed,
    )


def _intervals(policy: Policy, data: Data) -> Iterator[Check]:
    """Intervals of a lower level, or from hardly any resamples, are shorter than what they stand for."""
    needed = policy.level
    reason = f"intervals have the level {data['confidence']:g}; at least {needed:g} is needed"
    if policy.confidence is not None or data["confidence"] < needed:
        yield _evidence(policy, "confidence", data["confidence"] >= needed, reason)
    least = round(2.0 / (1.0 - data["confidence"]))
    if data["resamples"] < least:
        reason = (
            f"{data['resamples']:,} resamples have no tail at the level {data['confidence']:g}: take {least:,} or more"
        )
        yield _evidence(policy, "resamples", False, reason)


def _same_columns(policy: Policy, data: Data) -> Iterator[Check]:
    """A ready audit may be of other columns than those that the policy is about, or made in another way."""
    asked = policy.data
    for role in ("attributes", "tasks", "attribute_predictions", "task_predictions"):
        named, there = set(_names(asked.get(role, ()))), set(data["roles"].get(role, ()))
        if named and not (named <= there if role.startswith("attribute") else named == there):
            reason = f"the policy is about {_listed(named)}, and the audit about {_listed(there)}"
            yield _evidence(policy, role, False, reason)
    crossed = "crossing" in data.get("kinds", {}).values()
    had = {"train": data["train"], "base": data["base"], "weights": data["weighted"], "intersections": crossed}
    for role, used in had.items():
        if asked.get(role) and not used:
            yield _evidence(policy, role, False, f"the policy names {role}, and the audit was made without")
    if asked and data["missing_values"] and data["missing"] != asked.get("missing", "error"):
        reason = f"the policy reads missing labels as {asked.get('missing', 'error')!r}, the audit {data['missing']!r}"
        yield _evidence(policy, "missing", False, reason)


def _predictions(policy: Policy, audit: Audit) -> Iterator[Check]:
    """Predictions that go against the truth, or have nothing to do with it, are a mistake before they are a model."""
    limits = [limit.direction for limit in policy.limits if isinstance(limit, Limit)]
    judged = {None, *limits, *(["A->T"] if policy.companions else [])}
    for row in audit.document["findings"]:
        if row["code"] in ("opposite", "unrelated") and (None in limits or row.get("direction") in judged):
            yield _evidence(policy, "predictions", False, row["text"], row.get("attribute"))


def _names(value: Any) -> list[str]:
    """The columns that an argument names, however it holds them."""
    value = getattr(value, "data", value)  # binary(...) and categorical(...) hold theirs
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, Mapping) else value
    return [name for one in inner for name in _names(one)]


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def _groups(policy: Policy, data: Data) -> Iterator[Check]:
    ignored = ignored_labels(policy.ignore_groups, data)
    left_out = [name for name in data.get("ignored_groups", ()) if name not in ignored]
    if left_out:
        reason = f"the audit ignores {', '.join(left_out)}, and the policy does not: audit without ignore_groups"
        yield _evidence(policy, "ignore_groups", False, reason)
    there = {row["group"] for row in data["groups"] if row["records"]}
    for name in policy.groups:
        if name not in there:
            yield _evidence(policy, "groups", False, f"no record is of the group {name!r}, which the policy names")
    for attribute in data["attributes"]:
        held = [row for row in data["groups"] if row["attribute"] == attribute]
        asked = {row["group"]: row["records"] for row in held if row["group"] not in ignored}
        least = max(policy.min_group, 1)  # a group without any record is never evidence
        small = {group: n for group, n in asked.items() if n < least}
        # One yes/no label is compared with everybody without it.
        yes_no = len(held) == 1 and held[0].get("category", "") is None
        alone = sum(n > 0 for n in asked.values()) < (1 if yes_no else 2)
        needed = None
        if alone:
            left = "" if len(asked) == len(held) else " but those that the policy ignores"
            reason = f"one group alone: there is nothing to compare it with{left}"
        elif small:
            reason = f"fewer than {least:,} records: {few_named(small)}"
            if min(small.values()) > 0:
                needed = rounded_up(data["records"] * least / min(small.values()))
                reason += f"; about {needed:,} records in all would have as many, if the shares stay as they are"
        elif yes_no and data["records"] - min(asked.values()) < least:
            reason = f"fewer than {least:,} records without {held[0]['group']}"
            alone = True
        else:
            reason = f"the smallest of {len(asked)} groups has {min(asked.values()):,} records"
        yield _evidence(policy, "min_group", not small and not alone, reason, attribute, needed)
