"""Pairs that say the same: what one of two outcomes gains in a group, the other loses there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from .document_types import AuditDocument, Data, Pair

# Rates of the two outcomes add up to 1 but for rounding.
_CLOSE = 1e-9

P = TypeVar("P", bound=Pair)


def mark_mirrors(document: AuditDocument) -> None:
    """Mark one of every two pairs that are each other's mirror image: that of the value which is not positive, or the first."""
    data = document["data"]
    variables, negative = variables_of(data), negative_labels(data)
    for entry in document["metrics"]:
        together: dict[tuple[str, str], list[Pair]] = {}
        for pair in entry.get("pairs", ()):
            if pair["outcome"] in variables:
                together.setdefault((pair["given"], variables[pair["outcome"]]), []).append(pair)
        for both in together.values():
            if len(both) == 2 and _mirrored(*both):
                one, other = sorted(both, key=lambda pair: pair["outcome"])
                (one if other["outcome"] not in negative else other)["mirror"] = True
    _mark_parts(document)


def _mark_parts(document: AuditDocument) -> None:
    """Mark the pairs of parts as those of the directional value are marked."""
    marked = {
        (entry["attribute"], entry["direction"], pair["given"], pair["outcome"])
        for entry in document["metrics"]
        if entry["metric"] == "directional"
        for pair in entry.get("pairs", ())
        if pair.get("mirror")
    }
    for why in document.get("why", ()):
        for part in why.get("pairs", ()):
            if (why["attribute"], why["direction"], part["given"], part["outcome"]) in marked:
                part["mirror"] = True


def each_once(pairs: Iterable[P]) -> list[P]:
    """The pairs without mirror images."""
    return [pair for pair in pairs if not pair.get("mirror")]


def variables_of(data: Data) -> dict[str, str]:
    """The variable of each label, as far as the document says."""
    tasks = {row["label"]: row["variable"] for row in data.get("task_labels", ())}
    return tasks | {row["group"]: row["variable"] for row in data["groups"] if "variable" in row}


def negative_labels(data: Data) -> set[str]:
    """The labels of tasks whose positive value is another."""
    known = data.get("positive", {})
    return {
        row["label"]
        for row in data.get("task_labels", ())
        if row["variable"] in known and row["category"] != known[row["variable"]]
    }


def _mirrored(one: Pair, other: Pair) -> bool:
    changes, rates = (one["delta"], other["delta"]), (one["truth_rate"], other["truth_rate"])
    if one["support"] != other["support"] or None in changes or None in rates:
        return False
    return abs(sum(changes)) < _CLOSE and abs(sum(rates) - 1.0) < _CLOSE  # type: ignore[arg-type]
