"""What has to be there before anything is judged: records, groups, intervals, and the data that the policy is about."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Data
from biasamp.auditing.evidence import unknown_directions

from .figure import is_number
from .ignored import few_named, ignored_labels
from .limit_figures import signs_known
from .limits import Limit
from .more_records import in_words, records_for
from .renamed import renamed_values
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
    yield from _groups(policy, data)
    yield from _associated(policy, audit)
    yield from _predictions(policy, audit)
    for row in audit.document["findings"]:
        # With labels of other records, one value here is a change against those; one group alone is said of the groups.
        nothing = row["code"] == "one-value" and row.get("attribute") is None and not (data["train"] or data["base"])
        if row["code"] in ("copied", "repeated", "swapped") or nothing:
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


def _predictions(policy: Policy, audit: Audit) -> Iterator[Check]:
    """Predictions that go against the truth, or have nothing to do with it, are a mistake before they are a model."""
    limits = [limit.direction for limit in policy.limits if isinstance(limit, Limit)]
    judged = {None, *limits, *(["A->T"] if policy.companions else [])}
    for row in audit.document["findings"]:
        if row["code"] in ("opposite", "unrelated") and (None in limits or row.get("direction") in judged):
            yield _evidence(policy, "predictions", False, row["text"], row.get("attribute"))
    for direction in ("A->T", "T->A"):
        if (None in limits or direction in judged) and _constant(audit, direction):
            what = "task" if direction == "A->T" else "attribute"
            reason = (
                f"every prediction of the {what} is the same, which says nothing of a model: see what is in the column"
            )
            yield _evidence(policy, "predictions", False, reason)
        if None in limits or direction in judged:
            for attribute, words in renamed_values(audit, direction):
                yield _evidence(policy, "predictions", False, words, attribute)


def _constant(audit: Audit, direction: str) -> bool:
    """Whether predictions are the same in every record: all or none, in every group, have each outcome.

    Scores that are the same have the same mean in every group.
    """
    rates: dict[tuple[str, str], set[float]] = {}
    for entry in audit.document["metrics"]:
        if entry["metric"] == "directional" and entry["direction"] == direction:
            for pair in entry["pairs"]:
                if is_number(pair["predicted_rate"]):
                    rates.setdefault((entry["attribute"], pair["outcome"]), set()).add(
                        round(pair["predicted_rate"], 12)
                    )
    for row in audit.document.get("rates", ()) if direction == "A->T" else ():
        rate = row["selection_rate"]["value"]
        if is_number(rate):
            rates.setdefault((row["attribute"], row["outcome"]), set()).add(round(rate, 12))
    soft = direction == "A->T" and audit.document["data"].get("soft_tasks", False)
    return bool(rates) and all(len(held) == 1 and (soft or held <= {0.0, 1.0}) for held in rates.values())


def _associated(policy: Policy, audit: Audit) -> Iterator[Check]:
    """Attributes that the policy says go together with tasks: groups of other rows go together with nothing, and pass every limit."""
    data = audit.document["data"]
    for name in policy.associated:
        if name not in data["attributes"]:
            there = ", ".join(data["attributes"])
            reason = f"the policy says that {name!r} goes together with tasks, and the audit has no such attribute; it has {there}"
            yield _evidence(policy, "associated", False, reason)
            continue
        held = [
            entry
            for entry in audit.document["metrics"]
            if (entry["metric"], entry["attribute"]) == ("directional", name)
        ]
        clear = 0
        for entry in held:
            unknown, many = unknown_directions(entry)
            # Directions of other records say nothing of these, but for those that are clear in both.
            clear += entry.get("contradicted", (0, 0))[1] if signs_known(audit, name) else many - unknown
        if not held:
            reason = f"the policy says that {name} goes together with tasks, and directional amplification, which would show it, was not measured"
        elif clear:
            continue
        else:
            reason = (
                f"{name} goes together with no task beyond chance, and the policy says that it does: are its groups those of these rows? "
                "If they are, these records are too few to show it"
            )
        yield _evidence(policy, "associated", False, reason, name)


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
            needed = records_for(least, min(small.values()), data["records"])
            reason = f"fewer than {least:,} records: {few_named(small)}{in_words(needed)}"
        elif yes_no and data["records"] - held[0]["records"] < least:
            reason = f"fewer than {least:,} records without {held[0]['group']}"
            alone = True
        else:
            reason = f"the smallest of {len(asked)} groups has {min(asked.values()):,} records"
        yield _evidence(policy, "min_group", not small and not alone, reason, attribute, needed)
