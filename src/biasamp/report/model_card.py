"""An audit as a Hugging Face model card: ``model-index`` in the front matter, and the section on bias under it."""

from __future__ import annotations

import json
from typing import Any

from biasamp.auditing.audit_result import UNNAMED, Audit
from biasamp.data import printable
from biasamp.results.metric_registry import METRICS, direction_symbol

from .markdown import audit_section
from .markdown_text import escaped

# The Hub has no task of this kind.
_TASK = "other"


def model_card(audit: Audit, *, name: str, dataset: str | None = None, level: int = 2) -> str:
    """The card as Markdown with YAML front matter."""
    index = json.dumps(model_index(audit, name=name, dataset=dataset), ensure_ascii=True, allow_nan=False)
    # JSON is YAML, and its escapes leave no text of a stranger that YAML could read otherwise.
    front = ["---", f"model-index: {index}", "tags:", "- bias", "- fairness", "---"]
    return "\n".join([*front, "", f"# {escaped(name, 120)}", "", audit_section(audit, level=level)])


def model_index(audit: Audit, *, name: str, dataset: str | None = None) -> list[dict[str, Any]]:
    """Every figure that has a value, as the Hub's metadata has results; intervals are in ``args``."""
    document, data = audit.document, audit.document["data"]
    title = dataset or ("evaluation data" if audit.source == UNNAMED else audit.source)
    metrics = []
    for entry in document["metrics"]:
        if entry["value"] is None:
            continue
        known = METRICS.get(entry["metric"])
        low, high = entry["interval"]
        metrics.append(
            {
                "type": printable(entry["metric"], 60),
                "value": entry["value"],
                "name": " ".join(
                    word
                    for word in (
                        known.title if known else printable(entry["metric"], 60),
                        direction_symbol(entry["direction"]),
                        "of",
                        printable(entry["attribute"], 60),
                    )
                    if word
                ),
                "args": {
                    "attribute": printable(entry["attribute"], 60),
                    "direction": entry["direction"],
                    "low": low,
                    "high": high,
                    "level": data["confidence"],
                    "records": data["records"],
                    "seed": document["seed"],
                    "biasamp": str(document["version"]),
                },
            }
        )
    if not metrics:
        raise ValueError("the audit has no figure with a value: there is nothing to put into a model-index")
    return [
        {
            "name": printable(name, 120),
            "results": [
                {
                    "task": {"type": _TASK, "name": f"bias amplification, {printable(data['tasks']['title'], 120)}"},
                    "dataset": {
                        "type": printable(title, 120),
                        "name": printable(title, 120),
                        "revision": data["fingerprint"],
                    },
                    "metrics": metrics,
                }
            ],
        }
    ]
