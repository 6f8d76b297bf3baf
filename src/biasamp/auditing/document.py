"""The audit's document: everything that was measured, in plain values, with findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from biasamp import __version__

from .audit_result import SCHEMA, Audit
from .findings import find
from .margins import Audited
from .metrics_of import Measured, Settings, resampled
from .plan import Plan


@dataclass(frozen=True)
class Facts:
    """What an audit says of its data; ``units`` tells whether two audits' resamples are paired."""

    name: str
    records: int
    fingerprint: str
    units: str
    missing_values: int
    plan: Plan
    weighted: bool
    base: bool


def build_document(
    facts: Facts, subjects: Sequence[Audited], measured: list[Measured], settings: Settings, min_group: int
) -> Audit:
    """One document of all that was measured, with findings."""
    plan = facts.plan
    entries = [entry for part in measured for entry in part.entries]
    not_run = [row for part in measured for row in part.not_run]
    if not entries:
        reasons = "; ".join(dict.fromkeys(row["reason"] for row in not_run))
        raise ValueError(f"no metric could be computed: {reasons}")
    excluded = [
        {"attribute": entry["attribute"], "metric": entry["metric"], "direction": entry["direction"], **row}
        for entry in entries
        for row in entry.pop("excluded", ())
    ]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": __version__,
        "seed": settings.seed,
        "data": {
            "records": facts.records,
            "fingerprint": facts.fingerprint,
            "attributes": [subject.attribute for subject in subjects],
            "tasks": {"title": plan.task.title, "labels": len(subjects[0].sizes["T"][0])},
            "groups": _groups(subjects, min_group),
            "confidence": settings.confidence,
            "resamples": settings.resamples,
            "min_group": min_group,
            "missing": plan.missing,
            "missing_values": facts.missing_values,
            "roles": plan.roles,
            "train": plan.train,
            "base": facts.base,
            "weighted": facts.weighted,
        },
        "metrics": entries,
        "findings": [],
        "excluded": excluded,
        "not_run": not_run,
    }
    sweeps = [row for part in measured for row in part.sweeps]
    if sweeps:
        document["sweep"] = sweeps
    document["findings"] = [finding.to_dict() for finding in find(document, subjects)]
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


def _groups(subjects: Sequence[Audited], min_group: int) -> list[dict[str, Any]]:
    return [
        {"attribute": subject.attribute, "group": str(label), "records": count, "small": count < min_group}
        for subject in subjects
        for label, count in zip(subject.sizes["A"][0], subject.sizes["A"][1].tolist(), strict=True)
    ]
