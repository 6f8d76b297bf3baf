"""The answer of an audit of a continuous task, in three sentences: means, where that of labels speaks of rates."""

from __future__ import annotations

from biasamp.data import printable
from biasamp.results.interval import rounded
from biasamp.results.metric_registry import METRICS, direction_symbol

from .document_types import AuditDocument, Entry
from .evidence import place_of, verdicts


def is_of_means(document: AuditDocument) -> bool:
    """Whether all figures of a document are of means."""
    known = (METRICS.get(entry["metric"]) for entry in document["metrics"])
    return all(metric is not None and metric.pairs_of == "mean" for metric in known)


def found_of_means(document: AuditDocument) -> tuple[str, str, str]:
    """What was found, how sure that is, and what to do next."""
    decided = verdicts(document)
    sides: dict[int, list[Entry]] = {1: [], -1: [], 0: []}
    for entry in document["metrics"]:
        sides[decided.get(place_of(entry)) or 0].append(entry)
    task = printable(document["data"]["tasks"]["title"], 60)
    said = [
        f"{words} by {', '.join(map(_shown, sides[side]))}"
        for side, words in ((1, f"widens differences of {task} between groups"), (-1, "narrows them"))
        if sides[side]
    ]
    found = (
        f"The model {' and '.join(said)}."
        if said
        else f"No change of differences of {task} between groups is told from chance."
    )
    level = f"{document['data']['confidence'] * 100:g}%"
    sure = "; ".join(f"{_where(entry)} {_interval(entry)}" for entry in document["metrics"])
    largest = max(
        ((pair, entry) for entry in sides[1] for pair in entry.get("pairs", ())),
        key=lambda held: abs(held[0]["amplification"] or 0.0),
        default=None,
    )
    if largest is None:
        after = "Nothing widens beyond chance; repeat the audit when the data or the model change."
    else:
        pair, entry = largest
        group = pair["given"] if entry["direction"] == "A->T" else pair["outcome"]
        after = (
            f"Look at {printable(group, 60)}, whose mean {task} is {_number(pair['truth_rate'])} in truth and {_number(pair['predicted_rate'])} in "
            "predictions."
        )
    return found, f"{level} intervals: {sure}. Verdicts count all figures.", after


def _where(entry: Entry) -> str:
    return f"{printable(entry['attribute'], 40)} {direction_symbol(entry['direction'])}"


def _number(value: float | None, signed: bool = False) -> str:
    if value is None:
        return "undefined"
    digits = 0 if abs(value) >= 1000 else 2 if abs(value) >= 1 else 4
    return f"{rounded(value, digits):{'+' if signed else ''},.{digits}f}"


def _shown(entry: Entry) -> str:
    scaled = entry.get("standardised")
    more = "" if scaled is None else f", {rounded(scaled, 3):+.3f} standard deviations"
    return f"{_where(entry)} ({_number(entry['value'], True)}{more})"


def _interval(entry: Entry) -> str:
    low, high = entry["interval"]
    return f"[{_number(low, True)}, {_number(high, True)}]"
