"""The audit's document: everything that was measured, in plain values, with findings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from biasamp import __version__
from biasamp.data import Label
from biasamp.results.interval import Caution

from .audit_result import Audit
from .document_types import (
    SCHEMA,
    AttributeKind,
    AuditDocument,
    Data,
    Entry,
    Excluded,
    Group,
    LabelFields,
    Missing,
    registry_of,
)
from .findings import find
from .margins import Audited
from .measuring import Measured, Settings, resampled
from .plan import Plan


@dataclass(frozen=True)
class Facts:
    """What an audit says of its data.

    ``units`` tells whether two audits' resamples are paired; ``provenance`` is what else is known of the call, such as
    the engine.
    """

    name: str
    records: int
    fingerprint: str
    units: str
    missing_values: int
    plan: Plan
    weighted: bool
    base: bool
    provenance: Mapping[str, Any] = field(default_factory=dict)


def build_document(
    facts: Facts, subjects: Sequence[Audited], measured: list[Measured], settings: Settings, min_group: int
) -> Audit:
    """The audit whose document holds all that was measured, with findings."""
    rows = [row for part in measured for row in part.entries]
    not_run = [row for part in measured for row in part.not_run]
    if not rows:
        reasons = "; ".join(dict.fromkeys(row["reason"] for row in not_run))
        raise ValueError(f"no metric could be computed: {reasons}")
    excluded = [
        {"attribute": row["attribute"], "metric": row["metric"], "direction": row["direction"], **left_out}
        for row in rows
        for left_out in row.pop("excluded", ())
    ]
    for row in rows:
        if "cautions" in row:
            row["caution_kinds"] = [Caution.kind_of(words) for words in row["cautions"]]
    entries = cast("list[Entry]", rows)
    document: AuditDocument = {
        "schema": SCHEMA,
        "version": __version__,
        "seed": settings.seed,
        "data": _data(facts, subjects, entries, settings, min_group),
        "metrics": entries,
        "findings": [],
        "excluded": cast("list[Excluded]", excluded),
        "not_run": not_run,  # type: ignore[typeddict-item]
        "registry": registry_of([*rows, *not_run]),
        "provenance": {"source": facts.name, **facts.provenance},  # type: ignore[typeddict-item]
    }
    sweeps = [row for part in measured for row in part.sweeps]
    if sweeps:
        document["sweep"] = sweeps  # type: ignore[typeddict-item]
    document["findings"] = [finding.to_dict() for finding in find(document, subjects)]  # type: ignore[misc]
    owned = [
        (subject.attribute, result) for subject, part in zip(subjects, measured, strict=True) for result in part.results
    ]

    def resamples() -> dict[str, Any]:
        drawn = [resampled(attribute, result, settings) for attribute, result in owned]
        return {
            "seed": settings.seed,
            "resamples": settings.resamples,
            "records": facts.units,
            "values": {name: values for part in drawn for name, values in part.items()},
        }

    return Audit(document, facts.name, results=tuple(result for _, result in owned), _resample=resamples)


def _data(facts: Facts, subjects: Sequence[Audited], entries: list[Entry], settings: Settings, min_group: int) -> Data:
    plan = facts.plan
    kinds: dict[str, AttributeKind] = {
        subject.attribute: "attribute" if subject.attribute in plan.groups else "crossing" for subject in subjects
    }
    return {
        "records": facts.records,
        "fingerprint": facts.fingerprint,
        "attributes": [subject.attribute for subject in subjects],
        "tasks": {"title": plan.task.title, "labels": len(subjects[0].sizes["T"][0])},
        "groups": [group for subject in subjects for group in _groups(subject, kinds[subject.attribute], min_group)],
        "confidence": settings.confidence,
        "resamples": settings.resamples,
        "min_group": min_group,
        "missing": cast("Missing", plan.missing),
        "missing_values": facts.missing_values,
        "roles": plan.roles,
        "train": plan.train,
        "base": facts.base,
        "weighted": facts.weighted,
        "kinds": kinds,
        "task_labels": _task_labels(subjects[0].sizes["T"][0], entries),
    }


def _groups(subject: Audited, kind: AttributeKind, min_group: int) -> list[Group]:
    labels, counts, _ = subject.sizes["A"]
    return [
        {
            "attribute": subject.attribute,
            "group": str(label),
            "records": count,
            "small": count < min_group,
            "kind": kind,
            "variable": label.variable,
            "category": label.category,
        }
        for label, count in zip(labels, counts.tolist(), strict=True)
    ]


def _task_labels(labels: tuple[Label, ...], entries: list[Entry]) -> list[LabelFields]:
    """The task labels that the listed pairs name: there may be many more than are listed."""
    named = {
        pair["given"] if entry["direction"] == "T->A" else pair["outcome"]
        for entry in entries
        for pair in entry.get("pairs", ())
    }
    return [
        {"label": str(label), "variable": label.variable, "category": label.category}
        for label in labels
        if str(label) in named
    ]
