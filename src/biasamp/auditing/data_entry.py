"""What an audit says of the data it was made of: records, groups, roles, and what the caller chose."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from biasamp.counts.audit_counts import AuditCounts

from .document_types import AttributeKind, Data, Missing
from .settings import INTERVALS, Measured, Settings
from .subject import Counted


def data_of(
    counts: AuditCounts,
    subjects: list[Counted],
    settings: Settings,
    rows: list[dict[str, Any]],
    base: bool,
) -> Data:
    """What was audited; of the task labels, which may be many, those that listed pairs name."""
    plan = subjects[0].plan
    kinds: dict[str, AttributeKind] = {
        subject.attribute: "attribute" if subject.attribute in plan.groups else "crossing" for subject in subjects
    }
    tasks = subjects[0].sizes["T"][0]
    named = {
        pair["given"] if row["direction"] == "T->A" else pair["outcome"]
        for row in rows
        for pair in row.get("pairs", ())
    }
    return {
        "records": counts.records,
        "fingerprint": counts.fingerprint,
        "attributes": [subject.attribute for subject in subjects],
        "tasks": {"title": plan.task.title, "labels": len(tasks)},
        "groups": [
            {
                "attribute": subject.attribute,
                "group": str(label),
                "records": count,
                "small": count < settings.min_group and label not in subject.ignored,
                "kind": kinds[subject.attribute],
                "variable": label.variable,
                "category": label.category,
            }
            for subject in subjects
            for label, count in zip(subject.sizes["A"][0], subject.sizes["A"][1].tolist(), strict=True)
        ],
        "confidence": settings.confidence,
        "resamples": settings.resamples,
        "min_group": settings.min_group,
        "missing": cast("Missing", plan.missing),
        "missing_values": counts.missing_values,
        "roles": plan.roles,
        "train": plan.train,
        "base": base,
        "weighted": subjects[0].weighted,
        "kinds": kinds,
        "task_labels": [
            {"label": str(label), "variable": label.variable, "category": label.category}
            for label in tasks
            if str(label) in named
        ],
    }


def chosen_of(
    subjects: list[Counted],
    measured: list[Measured],
    unknown: list[str],
    settings: Settings,
    repeats: Mapping[str, int],
) -> Any:
    """What the caller chose, where it says more than the defaults (positive values, and groups), and rows that repeat."""
    chosen = {
        "positive": measured[0].positive,
        "positive_unknown": list(measured[0].unknown_positive),
        "reference": {subject.attribute: str(subject.reference) for subject in subjects if subject.reference},
        "ignored_groups": sorted(str(label) for subject in subjects for label in subject.ignored),
        "ignored_unknown": unknown,
        "label_sources": dict(settings.labels.sources),
        "intervals": None if settings.intervals == INTERVALS[0] else settings.intervals,
        "soft_tasks": "A->T" in subjects[0].counts.pairs and subjects[0].counts.pairs["A->T"].soft,
        **repeats,
    }
    return {name: value for name, value in chosen.items() if value}
