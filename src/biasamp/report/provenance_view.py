"""How an audit was made, and what wrong labels would do to it, in words: for Markdown, the terminal and the page."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from biasamp.auditing.document_types import AuditDocument
from biasamp.auditing.label_error_types import LabelErrorEntry
from biasamp.data import printable
from biasamp.results.interval import figure, interval
from biasamp.results.metric_registry import direction_symbol

from .markdown_text import escaped


def made_rows(document: AuditDocument) -> list[tuple[str, str]]:
    """What a reader needs to make the audit again, as title and text."""
    how = document.get("provenance", {})
    libraries = how.get("libraries", {})
    rows = [
        ("data", how.get("source", "")),
        ("fingerprint of the data", document["data"]["fingerprint"]),
        ("biasamp", str(document["version"])),
        ("seed", str(document["seed"])),
        ("time", how.get("time", "")),
        ("command line", how.get("command", "")),
        ("call", how.get("call", "")),
        ("versions", ", ".join(f"{name} {version}" for name, version in libraries.items() if name != "biasamp")),
    ]
    stated = [
        (f"labels of {printable(name, 60)}", source)
        for name, source in document["data"].get("label_sources", {}).items()
    ]
    data = document["data"]
    hidden = ", ".join(data.get("withheld_groups", ())) or "none"
    withheld = (
        [(f"groups withheld, with counts below {data['withheld_below']} or next to them", hidden)]
        if "withheld_below" in data
        else []
    )
    return [(title, text) for title, text in [*rows, *stated, *withheld] if text]


def provenance_rows(document: AuditDocument, under: str) -> list[str]:
    """The section on how an audit was made, in Markdown."""
    rows = [f"- {escaped(title, 120)}: {escaped(text, 2000)}" for title, text in made_rows(document)]
    return [f"{under} How this was made", "", *rows, ""]


def label_error_words(document: AuditDocument) -> Iterator[str]:
    """Of every directional value of whose labels something is stated: what wrong labels do to it, a sentence or two."""
    for entry in document.get("label_errors", ()):
        where = f"{printable(entry['attribute'], 40)} {direction_symbol(entry['direction'])}"
        yield f"{where}: {_corrected(entry)}{_tips(entry)}"


def _corrected(entry: LabelErrorEntry) -> str:
    if entry["corrected"] is None:
        return f"{figure(entry['value'])} as recorded. "
    low, high = entry["interval"]
    return (
        f"{figure(entry['value'])} as recorded; {figure(entry['corrected'])} {interval(low, high)} if labels are wrong as often as stated, whatever "
        f"the task and the prediction; {interval(*_ends(entry['worst']))} if as many errors fall where they hurt most. "
    )


def _ends(pair: list[Any]) -> tuple[Any, Any]:
    return pair[0], pair[1]


def _tips(entry: LabelErrorEntry) -> str:
    if not entry["concluded"]:
        return "Nothing is concluded from these records, with or without errors of labels."
    more = "above" if entry["concluded"] > 0 else "below"
    return (
        f"That it lies {more} 0 {_until(entry['tips'], entry['tried'])} wrong at random, and "
        f"{_until(entry['tips_if_dependent'], entry['tried'])} wrong where it hurts most."
    )


def _until(tips: float | None, tried: float | None) -> str:
    if tips is None:
        return f"still stands with {_percent(tried)} of the labels (the most that was tried)"
    return f"no longer stands once {_percent(tips)} of the labels are"


def _percent(rate: float | None) -> str:
    return "—" if rate is None else f"{100 * rate:.3g}%"


def label_error_rows(document: AuditDocument, under: str) -> list[str]:
    """The section on wrong labels, in Markdown; nothing where nothing is stated."""
    words = [f"- {escaped(line, 1000)}" for line in label_error_words(document)]
    return ["", f"{under} If labels are wrong", "", *words] if words else []
