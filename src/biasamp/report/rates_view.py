"""Which rows of the table of groups a reader is shown, and how its cells are written, whatever they are shown on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from biasamp.auditing.document_types import AuditDocument, GroupRow
from biasamp.auditing.evidence import counts_fractions
from biasamp.results.interval import rounded

# The rates in the order in which they are shown, with their headings.
RATE_TITLES = {
    "selection_rate": "selected",
    "false_positive_rate": "FPR",
    "true_positive_rate": "TPR",
    "accuracy": "accuracy",
    "precision": "precision",
}
# What takes the place of a heading where predictions are probabilities.
_MEAN_SCORE = {"selection_rate": "mean score"}
# What stands after a rate that rests on few records.
FEW = "*"
_MEANING = (
    "selected: predicted to have the outcome; FPR and TPR: selected among those who truly do not have it, and do; "
    "precision: truly have it, among the selected."
)
_MEANING_OF_FRACTIONS = (
    "Predictions are probabilities, counted as fractions, and no decisions: mean score: the mean probability of the outcome; "
    "FPR and TPR: that of those who truly do not have it, and do; accuracy: the mean probability of what is true; precision: the "
    "share of all probability that those have who truly have it. Rates of decisions are others."
)


def rate_titles(document: AuditDocument) -> dict[str, str]:
    """The headings of the rates, which are mean scores where predictions are probabilities."""
    return {**RATE_TITLES, **(_MEAN_SCORE if counts_fractions(document) else {})}


def rates_notes(document: AuditDocument) -> list[str]:
    """What intervals and rates are, a sentence each."""
    fractions, referred = counts_fractions(document), any(row["reference"] for row in document.get("rates", ()))
    of = "one mean each (Wilson's formula with fractions for counts)" if fractions else "one rate each (Wilson)"
    against = "; ratios by MOVER-R, and differences by Newcombe" if referred else ""
    level = f"{document['data']['confidence'] * 100:g}%"
    return [
        f"Intervals: {level}, of {of}{against}, not adjusted for their number.",
        _MEANING_OF_FRACTIONS if fractions else _MEANING,
    ]


@dataclass(frozen=True)
class RatesView:
    """The groups of one attribute for one outcome, ``places`` being those of the rows in the document.

    ``outcomes`` says of how many outcomes this one differs most between groups; 1 where it is the only one, or where
    all are shown. ``fractions`` where predictions are probabilities.
    """

    attribute: str
    outcome: str
    rows: Sequence[GroupRow]
    places: Sequence[int]
    outcomes: int = 1
    fractions: bool = False

    @property
    def title(self) -> str:
        """The attribute, and what its rates are of."""
        most = "" if self.outcomes == 1 else f", of {self.outcomes:,} outcomes the one whose groups differ most"
        return f"{self.attribute}: {'mean scores' if self.fractions else 'rates'} of {self.outcome} in percent{most}"

    @property
    def reference(self) -> str | None:
        """The group that others are held against."""
        return next((row["group"] for row in self.rows if row["reference"]), None)


def rates_views(document: AuditDocument, kind: str | None = None) -> Iterator[RatesView]:
    """What is shown of every attribute: the one outcome, both values where the positive one is not known, or the worst.

    ``kind`` asks for attributes or crossings alone.
    """
    rows, kinds, fractions = document.get("rates", []), document["data"].get("kinds", {}), counts_fractions(document)
    for attribute in document["data"]["attributes"]:
        if kind not in (None, kinds.get(attribute)):
            continue
        mine = [(i, row) for i, row in enumerate(rows) if row["attribute"] == attribute]
        listed = list(dict.fromkeys(row["outcome"] for _, row in mine))
        entries = [e for e in document["metrics"] if e["attribute"] == attribute and e.get("between")]
        many = max((len(entry.get("outcomes", ())) for entry in entries), default=len(listed))
        shown = listed
        if many > 1 and not (many == 2 and document["data"].get("positive_unknown")):
            worst = max(entries, key=lambda entry: entry["value"] or 0.0, default=None)
            outcome = None if worst is None else worst.get("outcome")
            shown = [outcome] if outcome in listed and outcome is not None else listed[:1]
        for outcome in shown:
            held = [(i, row) for i, row in mine if row["outcome"] == outcome]
            count = many if len(shown) < many else 1
            yield RatesView(attribute, outcome, [row for _, row in held], [i for i, _ in held], count, fractions)


def marks(row: GroupRow) -> str:
    """What is said after a group's name."""
    words = [word for word, said in (("ignored", row["ignored"]), ("reference", row["reference"])) if said]
    return f" ({', '.join(words)})" if words else ""


def percent_digits(views: Sequence[RatesView]) -> int:
    """Digits after the point where there is little room: none, unless intervals are narrower than a percent."""
    widths = [
        rate["high"] - rate["low"]
        for view in views
        for row in view.rows
        for rate in rates_of_row(row)
        if rate["low"] is not None and rate["high"] is not None and rate["value"] not in (None, 0, 1)
    ]
    return 1 if min(widths, default=1.0) < 0.01 else 0


def rates_of_row(row: GroupRow, rates: Sequence[str] = tuple(RATE_TITLES)) -> list[Any]:
    """Some rates of a row, all of them by default, in the order of their headings."""
    held: Mapping[str, Any] = row
    return [held[name] for name in rates]


def percent_cell(rate: Mapping[str, Any], digits: int, few: int, *, between: str = " ") -> str:
    """A rate in percent with its interval, marked where it rests on fewer records than ``few``."""
    if rate["value"] is None:
        return "—"
    value, limits = _number(100 * rate["value"], digits), _limits(rate, "low", "high", 100.0, digits)
    # The mark takes the place of the space.
    return f"{value}{FEW}{between.strip(' ')}{limits}" if rate["size"] < few else f"{value}{between}{limits}"


def against_cells(rate: Mapping[str, Any], digits: int) -> tuple[str, str]:
    """The ratio to the reference group, and the difference in percentage points, each with its interval."""
    if rate.get("difference") is None:
        return "—", "—"
    ratio = "—"
    if rate["ratio"] is not None:
        limits = _limits(rate, "ratio_low", "ratio_high", 1.0, digits + 1)
        ratio = f"{_number(rate['ratio'], digits + 1)} {limits}".strip()
    limits = _limits(rate, "difference_low", "difference_high", 100.0, digits)
    return ratio, f"{_number(100 * rate['difference'], digits, '+')} {limits}".strip()


def share_cell(row: GroupRow) -> str:
    """The share of all records that a group has, in percent."""
    return f"{_number(100 * row['share'], 1)}%"


def _number(value: float, digits: int, sign: str = "") -> str:
    # Adding 0 takes the sign from what is rounded to 0.
    return f"{rounded(value, digits) + 0.0:{sign}.{digits}f}"


def _limits(rate: Mapping[str, Any], low: str, high: str, scale: float, digits: int) -> str:
    if rate[low] is None or rate[high] is None:
        return ""
    return f"[{_number(scale * rate[low], digits)}, {_number(scale * rate[high], digits)}]"


def few_said(views: Sequence[RatesView], few: int) -> bool:
    """Whether any rate that is shown rests on few records."""
    return any(
        rate["size"] < few and rate["value"] is not None
        for view in views
        for row in view.rows
        for rate in rates_of_row(row)
    )
