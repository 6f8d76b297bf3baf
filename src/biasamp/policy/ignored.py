"""Groups that a policy ignores: in an audit that was made without them, and in one that was not."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

import numpy as np

from biasamp.amplification.group_rates import Proportion
from biasamp.amplification.largest_difference import Deciding, largest_difference
from biasamp.amplification.parity import DIFFERENCES
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.document_types import Data, Entry, GroupRow
from biasamp.resampling.significance import normal_quantile

from .figure import Figure, is_number
from .more_records import in_words, records_for

# Groups that a reason names of many.
_NAMED = 5
# What stands between the values of a crossing.
_BETWEEN = " & "
AUDIT_WITHOUT = "the policy ignores {}, and the audit does not: audit with ignore_groups"


def ignored_labels(names: Iterable[str], data: Data) -> frozenset[str]:
    """The groups of an audit that some names mean: labels, values alone, and crossings that hold such a value."""
    asked = set(names)
    rows = [(row, row.get("category") or "") for row in data["groups"]]
    single = {value for row, value in rows if {row["group"], value} & asked and row.get("kind") != "crossing"}
    found = {row["group"] for row, value in rows if {row["group"], value} & asked}
    found |= {
        row["group"] for row, value in rows if row.get("kind") == "crossing" and set(value.split(_BETWEEN)) & single
    }
    return frozenset(found | asked)


def few_named(groups: Mapping[str, float]) -> str:
    """Groups with their sizes, the smallest first; of many, how many more there are."""
    shown = [f"{group} ({size:,.0f})" for group, size in sorted(groups.items(), key=lambda item: item[1])]
    more = f" and {len(shown) - _NAMED} more" if len(shown) > _NAMED else ""
    return ", ".join(shown[:_NAMED]) + more


def not_ignored(audit: Audit, ignored: frozenset[str], attribute: str) -> list[str]:
    """Groups of an attribute that the policy ignores and that count in the audit."""
    done = set(audit.document["data"].get("ignored_groups", ()))
    rows = audit.document["data"]["groups"]
    return [r["group"] for r in rows if r["attribute"] == attribute and r["records"] and r["group"] in ignored - done]


def without_groups(figure: Figure, entry: Entry, audit: Audit, ignored: frozenset[str], min_group: int) -> Figure:
    """The figure of an audit that counts groups which the policy ignores, or leaves out groups that count for the policy.

    Differences of rates are taken anew from the table of groups; means over pairs need another audit.
    """
    counted = not_ignored(audit, ignored, entry["attribute"])
    made_for = audit.document["data"]["min_group"]
    small_left_out = entry["metric"] in DIFFERENCES and made_for > min_group
    if not counted and not small_left_out:
        return figure
    found = None
    if entry["metric"] in DIFFERENCES:
        found = _largest(entry, audit, ignored, min_group, figure.outcome_label)
    elif "pairs" not in entry and "groups" not in entry:
        return figure  # attackers are of all records
    if found is None and counted:
        return figure.doubted(AUDIT_WITHOUT.format(", ".join(counted)))
    if found is None:
        return figure.doubted(
            f"groups of fewer than {made_for:,} records decide no difference of the audit, and those of {min_group:,} count for the "
            "policy: audit with its min_group"
        )
    value, low, high = found
    return replace(figure, value=value, low=low, high=high)


def _largest(
    entry: Entry, audit: Audit, ignored: frozenset[str], min_group: int, outcome: str | None
) -> tuple[float, float, float] | None:
    """The largest difference without some groups, of all outcomes or of one, where the document lists all rates."""
    rows = [row for row in audit.document.get("rates", ()) if row["attribute"] == entry["attribute"]]
    groups, outcomes = (list(dict.fromkeys(row[side] for row in rows)) for side in ("group", "outcome"))
    if not rows or len(outcomes) != len(entry.get("outcomes", ())) or len(rows) != len(groups) * len(outcomes):
        return None
    level = audit.document["data"]["confidence"]
    rate = DIFFERENCES[entry["metric"]]
    value, size, records = np.full((3, len(groups), len(outcomes)), np.nan)
    for row in rows:
        place = groups.index(row["group"]), outcomes.index(row["outcome"])
        value[place], size[place], records[place] = _size(row, rate, level)
    there = np.nan_to_num(size)
    made = Proportion(np.nan_to_num(value) * there, there, np.nan_to_num(records), there)
    kept = ~np.isin(groups, sorted(ignored))
    found = largest_difference(made, Deciding.of(made, min_group, kept), level)
    if found is None or (outcome is not None and outcome not in outcomes):
        return None
    if outcome is None:
        return found.value, found.low, found.high
    value_of, low, high = found.by_outcome[:, outcomes.index(outcome)].tolist()
    return None if np.isnan(value_of) else (value_of, low, high)


def _size(row: GroupRow, rate: str, level: float) -> tuple[float, float, float]:
    """A rate, the size that its interval goes by, and its records.

    Either end of Wilson's interval lies ``z`` standard errors, at its own rate, from the value: ``(p - end)**2 = z**2
    end (1 - end) / n``, which gives n back also where weights or clusters made it smaller than the records.
    """
    held = row[rate]  # type: ignore[literal-required]
    value, low, high = held["value"], held["low"], held["high"]
    if not (is_number(value) and is_number(low) and is_number(high)):
        return np.nan, 0.0, 0.0
    end = high if high - value > value - low else low
    return value, normal_quantile(level) ** 2 * end * (1.0 - end) / (value - end) ** 2, held["size"]


def groups_large_enough(
    figure: Figure, entry: Entry, audit: Audit, ignored: frozenset[str], min_group: int, outcome: str | None = None
) -> Figure:
    """A figure that cannot pass where the rate of some group rests on too few records for an outcome that it is about.

    Such a rate decides no difference, so that the largest of all outcomes is that of the others: one that is as far apart as can be
    would pass unseen.
    """
    if entry["metric"] not in DIFFERENCES:
        return figure
    small: dict[str, float] = {}
    for row in audit.document.get("rates", ()):
        asked = row["attribute"] == entry["attribute"] and outcome in (None, row["outcome"])
        size = row[DIFFERENCES[entry["metric"]]]["size"] or 0.0  # type: ignore[literal-required]
        if asked and row["group"] not in ignored and not row["ignored"] and size < min_group:
            small[row["group"]] = min(small.get(row["group"], size), size)
    if not small:
        return figure
    least = min(small.values())
    needed = figure.records and records_for(min_group, least, figure.records)
    words = f"fewer than {min_group:,} records that the rate is taken over: {few_named(small)}{in_words(needed)}"
    return figure.without_pass(words, needed)
