"""Findings on rates: the largest differences between groups, in words."""

from __future__ import annotations

from collections.abc import Iterator

from biasamp.data import printable
from biasamp.results.metric_registry import METRICS, audited_metrics

from .document_types import AuditDocument, Entry
from .evidence import counts_fractions
from .findings import ERROR_RATES, Context, Finding, finding, value_with_interval

# What differences of rates are of where predictions count as fractions.
_MEAN_SCORES = {
    "tpr_difference": "mean scores of those who truly have the outcome",
    "fpr_difference": "mean scores of those who truly do not have the outcome",
    "accuracy_difference": "mean scores of what is true",
}


def parity(context: Context) -> Iterator[Finding]:
    """The largest differences of rates between the groups of each attribute, in one sentence."""
    # True positive rates come first: they say who is not given what is theirs.
    gaps = sorted((metric for metric in audited_metrics() if metric.gap), key=lambda m: m.name != "tpr_difference")
    for attribute in context.document["data"]["attributes"]:
        held = [(metric.name, context.entry(metric.name, attribute, "A->T")) for metric in gaps]
        found = [(gap_of(context, name), entry) for name, entry in held if entry is not None]
        if not found:
            continue
        text = f"{printable(attribute, 40)}: between groups, {'; '.join(gap_words(context, *one) for one in found)}."
        decided = [entry for _, entry in found if context.verdict(entry)]
        about = (decided or [entry for _, entry in found])[0]
        weight = ERROR_RATES + max((entry["value"] or 0.0 for entry in decided), default=0.0)
        yield finding("parity", text, weight, about, decided=[entry["metric"] for entry in decided])


def gap_of(context: Context, metric: str) -> str:
    """What a largest difference is of, in words."""
    return gap_title(context.document, metric)


def gap_title(document: AuditDocument, metric: str) -> str:
    """What a largest difference is of, in words."""
    gap = METRICS[metric].gap
    return _MEAN_SCORES.get(metric, gap) if counts_fractions(document) else gap


def gap_words(context: Context, gap: str, entry: Entry) -> str:
    """What a difference between groups is, in words: between which two, and where it is not decided that it may be chance."""
    shown = value_with_interval(entry)
    outcome = context.name(entry.get("outcome") or "")
    names, sizes = entry.get("between") or (), entry.get("sizes") or ()
    unit = "records by weight" if context.document["data"]["weighted"] else "records"
    groups = [f"{context.name(name)} ({size:,.0f} {unit})" for name, size in zip(names, sizes, strict=False)]
    apart = f" between {' and '.join(groups)}" if groups else ""
    if context.verdict(entry):
        return f"{gap} differ by {shown}{apart} ({outcome})"
    if entry["value"] == 0:
        return f"no difference in {gap} is seen ({shown})"
    because = "without an interval it concludes nothing"
    if context.verdict(entry) == 0:
        counted = f"with all {len(context.verdicts)} figures counted " if (entry["interval"][0] or 0.0) > 0 else ""
        because = f"{counted}chance may explain it"
    return f"the largest difference in {gap} seen is {shown}{apart} ({outcome}), and {because}"
