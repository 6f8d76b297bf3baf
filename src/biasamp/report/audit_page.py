"""An audit as one HTML file that opens from disk and reads like a paper's results page."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from biasamp.association.metrics import usual_metric
from biasamp.auditing.audit_result import Audit
from biasamp.auditing.caution_topics import cautions_by_topic, first_cautions
from biasamp.auditing.label_names import group_names, label_names
from biasamp.data.saving import save_text
from biasamp.resampling.significance import normal_quantile
from biasamp.results.interval import plain
from biasamp.results.metric_registry import METRICS

from .matrix import matrix_of
from .page import page
from .provenance_view import label_error_words
from .rates_view import rate_titles, rates_notes

# How many labels a top list has.
_TOP = 15


def report_document(audit: Audit, *, association: Any = None, view: str | None = None) -> dict[str, Any]:
    """What the report page shows: the audit's own document, how labels are called, what metrics mean, and top lists.

    ``view`` is ``"why"`` for a page that is about the parts of values alone.
    """
    document, data = audit.document, audit.document["data"]
    names = {METRICS[entry["metric"]].described_by for entry in document["metrics"] if entry["metric"] in METRICS}
    if association is not None:
        names.add("association")
    methods = [
        {name: list(value) if isinstance(value, tuple) else plain(value) for name, value in asdict(metric).items()}
        for metric in METRICS.values()
        if metric.name in names
    ]
    return {
        "kind": "report",
        "source": audit.source,
        "audit": document,
        "wrong_labels": list(label_error_words(document)),
        "names": label_names(data),
        "group_names": {attribute: group_names(data, attribute) for attribute in data["attributes"]},
        "rate_titles": rate_titles(document),
        "rate_notes": rates_notes(document),
        "answer": audit.answer.titled,
        "matrix": _matrix(audit),
        "cautions": {
            "first": first_cautions(document["findings"]),
            "topics": [{"topic": topic, "places": held} for topic, held in cautions_by_topic(document).items()],
        },
        "quantile": normal_quantile(data["confidence"]),
        "methods": methods,
        "association": None if association is None else _tops(association),
        **({} if view is None else {"view": view}),
    }


def write_html(audit: Audit, path: str | Path, *, association: Any = None, view: str | None = None) -> None:
    """Write an audit's report as a single self-contained HTML file: script, style and figures are inside it.

    With the associations of the same model's labels, the report shows their top lists too.
    """
    words = [*audit.answer.titled.values(), *(finding.text for finding in audit.findings)]
    shown = report_document(audit, association=association, view=view)
    save_text(path, page(f"biasamp: {audit.source}", shown, words=words))


def _matrix(audit: Audit) -> dict[str, Any]:
    """Attributes by metrics: where the entry of each cell stands, and what is concluded of it."""
    held = matrix_of(audit.document)
    rows = [
        {
            "attribute": attribute,
            "direction": direction,
            "cells": {metric: {"place": cell.place, "verdict": cell.verdict} for metric, cell in cells.items()},
        }
        for (attribute, direction), cells in held.rows
    ]
    return {"metrics": held.metrics, "short": held.short, "rows": rows}


def _tops(association: Any) -> list[dict[str, Any]]:
    metric = usual_metric(association.metrics)
    return [
        {
            "metric": metric,
            "toward": identity,
            "identities": list(association.identities),
            "n": plain(association.n),
            "rows": [
                {name: plain(value) for name, value in row.items()}
                for row in association.top(metric, _TOP, toward=identity).rows()
            ],
        }
        for identity in association.identities
    ]
