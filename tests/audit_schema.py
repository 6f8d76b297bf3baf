"""The JSON schema of an audit's document, generated from its types: ``make schema`` writes it.

What types cannot say (bounds, lengths, the names of metrics) is added from their bounds and from the registry.
"""

from __future__ import annotations

import json
from inspect import cleandoc
from pathlib import Path
from typing import Any

import msgspec

from biasamp.auditing.document_types import BOUNDS, AuditDocument
from biasamp.auditing.measurement_types import SCHEMA
from biasamp.results.metric_registry import audited_names

SCHEMA_FILE = Path(__file__).parents[1] / "src" / "biasamp" / "report" / "audit.schema.json"
# A figure of a finding may be anything.
_OPEN = {"FindingFields": {"figure": {"additionalProperties": True}}}


def _shorter(part: Any) -> Any:
    """The same schema, with alternatives of plain types as one list of types."""
    if isinstance(part, list):
        return [_shorter(item) for item in part]
    if not isinstance(part, dict):
        return part
    if list(part) == ["anyOf"] and all(list(option) == ["type"] for option in part["anyOf"]):
        return {"type": [option["type"] for option in part["anyOf"]]}
    # Not every version of Python takes the indentation out of docstrings.
    return {
        key: cleandoc(item) if key == "description" and isinstance(item, str) else _shorter(item)
        for key, item in part.items()
    }


def audit_schema() -> dict[str, Any]:
    """The schema as it has to be committed."""
    made = _shorter(msgspec.json.schema(AuditDocument))
    parts: dict[str, Any] = made["$defs"]
    for table in (BOUNDS, _OPEN):
        for part, fields in table.items():
            for field, bounds in fields.items():
                parts[part]["properties"][field].update(bounds)
    # The page goes by what the document's registry says of a metric, whatever its name.
    parts["Entry"]["properties"]["metric"].update({"enum": list(audited_names()), "tsType": "string"})
    whole = parts.pop("AuditDocument")
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **whole,
        "description": f"biasamp audit, schema {SCHEMA}: {whole['description']}",
        "$defs": dict(sorted(parts.items())),
    }


def schema_text() -> str:
    """The text of the committed file."""
    return json.dumps(audit_schema(), indent=1, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    SCHEMA_FILE.write_text(schema_text(), encoding="utf-8")
