"""A comparison of models as one HTML file: verdicts first, then the pairs that changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from biasamp import __version__
from biasamp.auditing.comparison_answer import changed_by_evidence, decided, pair_names, verdicts_first
from biasamp.auditing.comparison_result import Comparison
from biasamp.data.saving import save_text
from biasamp.results.metric_registry import is_signed, short_name

from .page import page
from .written import pair_change_words, seeds_and_records, who_against_whom


def comparison_document(result: Comparison) -> dict[str, Any]:
    """What the page of a comparison shows: rows in the order in which they are read, with what is concluded of each."""
    level = result.document["level"]
    rows = verdicts_first(result.document)
    changed = changed_by_evidence(result.document)
    metrics = {row["metric"] for row in rows} | {row["metric"] for row in changed}
    return {
        "kind": "comparison",
        "source": who_against_whom(result),
        "version": __version__,
        "answer": result.answer.titled,
        "comparison": {
            "models": list(result.models),
            "level": level,
            "differences": [{**row, "decided": decided(row, level)} for row in rows],
            "pairs": changed,
            "orders": result.orders,
            "runs": seeds_and_records(result),
            "cautions": list(result.cautions),
            "notes": list(result.notes),
        },
        "names": pair_names(result.document),
        "pair_words": pair_change_words(result),
        "metrics": {metric: {"short": short_name(metric), "signed": is_signed(metric)} for metric in sorted(metrics)},
    }


def write_comparison(result: Comparison, path: str | Path) -> None:
    """Write the page of a comparison as a single self-contained HTML file."""
    document = comparison_document(result)
    words = [*document["answer"].values(), *(row["verdict"] for row in document["comparison"]["differences"])]
    save_text(
        path, page(f"biasamp compare: {document['source']}", document, words=[*words, *result.cautions, *result.notes])
    )
