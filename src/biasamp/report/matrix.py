"""All figures of an audit at a glance: attributes by metrics, each with what is concluded of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from biasamp.auditing.answer_facts import concluded_of
from biasamp.auditing.document_types import AuditDocument
from biasamp.auditing.evidence import place_of
from biasamp.results.metric_registry import METRICS, is_signed, short_name

# What stands after a figure, by what is concluded of it, and what that means.
VERDICT_SIGNS: dict[int | None, str] = {1: "▲", -1: "▼", 0: "◇", None: ""}
SIGNS_MEAN = "▲ amplifies or differs, ▼ weakens, ◇ not beyond chance"


@dataclass(frozen=True)
class Cell:
    """A figure, where it stands among the metrics of the document, and what is concluded of it; None where nobody judges it."""

    place: int
    value: float | None
    low: float | None
    high: float | None
    signed: bool
    verdict: int | None


@dataclass(frozen=True)
class Matrix:
    """Rows by attribute and direction, with the cells of each by metric; ``short`` are the headings."""

    metrics: list[str]
    short: dict[str, str]
    rows: list[tuple[tuple[str, str | None], dict[str, Cell]]]


def matrix_of(document: AuditDocument) -> Matrix:
    """The matrix of an audit's document: what has no direction stands with the first direction of its attribute."""
    concluded = concluded_of(document)
    rows: dict[tuple[str, str | None], dict[str, Cell]] = {}
    for attribute in document["data"]["attributes"]:
        own = [(i, entry) for i, entry in enumerate(document["metrics"]) if entry["attribute"] == attribute]
        directions: Sequence[str | None] = sorted({entry["direction"] for _, entry in own if entry["direction"]})
        for direction in directions or [None]:
            rows[attribute, direction] = {}
        first = attribute, (directions or [None])[0]
        for i, entry in own:
            key = (attribute, entry["direction"]) if entry["direction"] else first
            metric = METRICS.get(entry["metric"])
            judged = metric is not None and metric.judged
            low, high = entry["interval"]
            verdict = concluded.get(place_of(entry), 0) if judged else None
            rows[key][entry["metric"]] = Cell(i, entry["value"], low, high, is_signed(entry["metric"]), verdict)
    found = dict.fromkeys(name for cells in rows.values() for name in cells)
    metrics = sorted(found, key=_rank)
    return Matrix(
        metrics, {name: short_name(name).replace(" difference", " gap") for name in metrics}, list(rows.items())
    )


def _rank(name: str) -> int:
    """What answers the question that an audit asks comes first, then differences between groups, then what is judged."""
    metric = METRICS.get(name)
    if metric is None:
        return 4
    return 0 if metric.judged and metric.pairs_oriented else 1 if metric.gap else 2 if metric.judged else 3
