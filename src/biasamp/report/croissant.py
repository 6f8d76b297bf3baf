"""What an audit says of its data as Croissant metadata with the fields of its extension for responsible AI."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from biasamp.auditing.audit_result import UNNAMED, Audit
from biasamp.data import printable

_VERSIONS = ["http://mlcommons.org/croissant/1.0", "http://mlcommons.org/croissant/RAI/1.0"]
# The context that Croissant 1.0 asks for.
_CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    **{
        name: f"cr:{name}"
        for name in (
            *(
                "citeAs",
                "column",
                "equivalentProperty",
                "extract",
                "field",
                "fileProperty",
                "fileObject",
                "fileSet",
                "format",
            ),
            *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet", "references"),
            *("regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform"),
        )
    },
    "conformsTo": "dct:conformsTo",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
}
_LONGEST = 2000
_NAME = re.compile(r"[^\w\-. ]")


def rai_fields(audit: Audit) -> dict[str, list[str]]:
    """The fields of the extension that an audit can fill: biases, limitations, sensitive attributes, annotation."""
    document, data = audit.document, audit.document["data"]
    findings = document["findings"]
    groups = [f"{row['group']}: {row['records']:,} records" for row in data["groups"]]
    fields = {
        "rai:dataBiases": [row["text"] for row in findings if row["kind"] == "finding"]
        + [f"Records of groups: {'; '.join(groups)}"],
        "rai:dataLimitations": [row["text"] for row in findings if row["kind"] == "caution"],
        "rai:personalSensitiveInformation": [
            f"The protected attributes {', '.join(data['attributes'])} are columns of the data."
        ],
        "rai:dataAnnotationProtocol": [
            f"Labels of {name}: {source}" for name, source in data.get("label_sources", {}).items()
        ],
    }
    return {name: [printable(line, _LONGEST) for line in lines] for name, lines in fields.items() if lines}


def croissant(audit: Audit, *, name: str | None = None, metadata: Mapping[str, Any] | None = None) -> str:
    """Croissant JSON-LD of the audited data; what ``metadata`` says of them (license, url, ...) stands as it is."""
    title = name or ("audited data" if audit.source == UNNAMED else audit.source)
    data = audit.document["data"]
    document = {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "name": _NAME.sub("_", printable(title, 120)),
        "description": (
            f"{data['records']:,} records with the protected attributes {printable(', '.join(data['attributes']), 300)} and the tasks "
            f"{printable(data['tasks']['title'], 300)}; fingerprint {data['fingerprint']} (biasamp {audit.document['version']})."
        ),
        "conformsTo": _VERSIONS,
        **(metadata or {}),
        **rai_fields(audit),
    }
    return json.dumps(document, ensure_ascii=False, allow_nan=False, indent=1)
