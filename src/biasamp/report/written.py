"""How lists are made and figures are put into words, whatever they are shown on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from biasamp.auditing.audit_result import Audit
from biasamp.auditing.comparison_answer import figure_name
from biasamp.auditing.comparison_result import Comparison
from biasamp.auditing.document_types import Data, Entry
from biasamp.auditing.evidence import FALSE_DISCOVERIES, place_of
from biasamp.auditing.findings import side_of_zero
from biasamp.auditing.label_names import LONGEST, group_names
from biasamp.data import printable
from biasamp.results.interval import WITH_CHANCE, figure
from biasamp.results.metric_registry import short_name

# Okabe and Ito's orange and blue, which every common form of colour vision tells apart, and a grey.
MORE, LESS, UNSURE = "#e08a3c", "#4c9bd0", "#a9afb8"
_BESIDE = {"crossfit": "cross-fitted {}", "floor": "noise floor {}"}
# Stands by every table of intervals.
EACH_BY_ITSELF = (
    "Each interval holds for its figure by itself. Sentences are stricter: they count all figures of the audit that get a "
    "verdict, and all pairs."
)


def further_figures(entry: Entry, names: Iterable[str]) -> list[str]:
    """Some of the figures that go with a value, in words."""
    held: Mapping[str, Any] = entry
    return [_BESIDE[name].format(figure(held[name], name != "floor")) for name in names if held.get(name) is not None]


def attack_words(entry: Entry) -> list[str]:
    """How far both attackers are above one without input, and DPA of that where it is defined."""
    model, truth = entry.get("model_gain"), entry.get("dataset_gain")
    if model is None or truth is None:
        return []
    words = [f"above no input: model {figure(model)}, truth {figure(truth)}"]
    if entry["metric"] == "dpa" and min(model, truth) > 0 and entry.get("gain") is not None:
        words.append(f"quotient of these {figure(entry['gain'])}")
    return words


def difference_words(entry: Entry, data: Data) -> list[str]:
    """Of which outcome a parity figure is, between which groups, and what would be expected of equal ones."""
    outcome = entry.get("outcome")
    words = [printable(outcome, 28)] if outcome else []
    between, sizes = entry.get("between"), entry.get("sizes")
    if between and sizes:
        short = group_names(data, entry["attribute"])
        one, two = (
            f"{short.get(name) or printable(name, LONGEST)} ({size:,.0f})"
            for name, size in zip(between, sizes, strict=True)
        )
        words.append(f"{one} over {two}")
    if entry["metric"] == "mean_per_class_accuracy":
        words.append("mean over groups")
    if entry.get("expected") is not None:
        words.append(f"expected of equal groups {figure(entry['expected'], False)}")
    if entry.get("every_group") is not None:
        words.append(f"with small groups {figure(entry['every_group'], False)}")
    return words


def concluded(audit: Audit, entry: Entry) -> int | None:
    """What the findings conclude of a figure: +1, -1 or 0; by its interval where none speaks of it, as in 0.1."""
    where = place_of(entry)
    said = (found.figure for found in audit.findings if found.kind == "finding" and "verdict" in found.figure)
    return next((shown["verdict"] for shown in said if place_of(shown) == where), side_of_zero(*entry["interval"]))


class InventedLine(NamedTuple):
    """An invented label: how often it is predicted, and the two groups whose rates are farthest apart."""

    attribute: str
    direction: str
    label: str
    records: float
    groups: list[tuple[str, float | None]]
    difference: float | None
    low: float | None
    high: float | None
    q: float | None


def invented_lines(audit: Audit) -> list[InventedLine]:
    """The labels that only predictions have, each with its rates in the two groups that differ most."""
    lines = []
    for row in audit.document.get("invented", ()):
        rates = {group["group"]: group["rate"] for group in row["groups"]}
        groups = [(group, rates.get(group)) for group in row["between"] or ()]
        figures = row["difference"], row["low"], row["high"], row["q"]
        lines.append(InventedLine(row["attribute"], row["direction"], row["label"], row["count"], groups, *figures))
    return lines


def largest_pairs(pairs: Iterable[Any], most: int | None = None) -> list[Any]:
    """The pairs that change most, the largest change first."""
    return sorted(pairs, key=lambda pair: -abs(pair["amplification"] or 0.0))[:most]


def not_run_by_reason(audit: Audit) -> dict[str, list[str]]:
    """The metrics that were not computed, each once, by the reason."""
    reasons: dict[str, dict[str, None]] = {}
    for row in audit.not_run:
        reasons.setdefault(row["reason"], {})[row["metric"]] = None
    return {reason: list(names) for reason, names in reasons.items()}


def who_against_whom(result: Comparison) -> str:
    """The title of a comparison: the other models against the first."""
    first, *others = (printable(model, 30) for model in result.models)
    return f"{', '.join(others)} against {first}"


def pair_change_words(result: Comparison) -> str:
    """How many pairs changed of how many, and why others are missing; nothing where there are no pairs."""
    rows = [row for row in result.document.get("pairs", ()) if not row.get("mirror")]
    note = result.document.get("pairs_note", "")
    if not rows:
        return note
    count = f"{len(result.changed):,} of {len(rows):,} pairs changed"
    other = sorted({short_name(row["metric"]) for row in rows if row["metric"] != "directional"})
    beside = f", and of {', '.join(other)} how much more of it a task has" if other else ""
    words = (
        f"{count} (q < {FALSE_DISCOVERIES:g} over all of them, each fact once). A change is how much more often a label is predicted "
        f"than by {result.models[0]}{beside}; intervals are those of each pair by itself."
    )
    return f"{words} {note}".strip()


def seeds_and_records(result: Comparison) -> list[str]:
    """What differences of several runs rest on, in words, once for all of which the same is true; of one run of each, how many records would decide."""
    several = len(result.models) > 2
    alike: dict[str, list[str]] = {}
    needed = []
    for row in result.document["differences"]:
        title = " ".join(filter(None, (figure_name(row), row["models"][1] if several else "")))
        if "runs" in row:
            alike.setdefault(row["runs"]["words"], []).append(title)
        elif row.get("more_records"):
            needed.append(f"{printable(title, 200)} {row['more_records']:,}")
    out = [printable(f"{'; '.join(titles)}: {words}", 600) for words, titles in alike.items()]
    if needed:
        listed = "; ".join(needed)
        out.append(
            f"About so many records in all would decide differences of these sizes {WITH_CHANCE}: {listed}. One run of each says nothing of other seeds."
        )
    return out
