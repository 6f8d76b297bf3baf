"""One finding or caution of an audit, what orders them, what they look at and how they put figures into words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from biasamp.data import printable
from biasamp.results.metric_registry import direction_symbol, is_signed

from .document_types import AuditDocument, Entry, SweepEntry
from .subject import Counted


@dataclass(frozen=True)
class Finding:
    """One finding or caution, in words, with the figure it rests on.

    ``kind`` is ``"finding"`` or ``"caution"``; ``code`` names what it says; ``weight`` orders the list; ``metric``,
    ``attribute``, ``direction`` and ``label`` are what it is about, where it is about one of them.
    """

    kind: str
    code: str
    text: str
    weight: float
    figure: Mapping[str, Any] = field(default_factory=dict)
    metric: str | None = None
    attribute: str | None = None
    direction: str | None = None
    label: str | None = None

    def __str__(self) -> str:
        return self.text

    def to_dict(self) -> dict[str, Any]:
        """The finding in plain Python values."""
        return {one.name: getattr(self, one.name) for one in fields(self)} | {"figure": dict(self.figure)}


# Cautions come after all findings. What each adds orders them: first what suggests that the columns are wrong and all
# figures with them, then what changes how the figures are read, last what holds of most audits.
CAUTION = 40.0
URGENCY = {
    "disjoint": 9.95,
    "swapped": 9.9,
    "one-value": 9.85,
    "perfect": 9.8,
    "balanced": 9.5,
    "sensitive-prediction": 9.0,
    "disagreement": 8.5,
    "not-fairness": 8.0,
    "not-ground-truth": 7.5,
    "threshold": 7.0,
    "no-interval": 6.5,
    "small-groups": 6.5,
    "missing": 6.2,
    "over-zero": 6.0,
    "unclear-signs": 5.5,
    "base-choice": 5.0,
    "excluded": 4.0,
    "perceived": 3.0,
    "incomparable": 2.0,
}


def caution(code: str, text: str, about: Mapping[str, Any] | None = None, **shown: Any) -> Finding:
    """One caution; ``about`` names the metric, attribute, direction and label, and ``shown`` is its figure."""
    return Finding("caution", code, text, CAUTION + URGENCY[code], shown, **subject_of(about or {}))


def subject_of(about: Mapping[str, Any]) -> dict[str, Any]:
    """What a finding is about, of a mapping that may hold more."""
    return {name: about.get(name) for name in ("metric", "attribute", "direction", "label")}


@dataclass(frozen=True, eq=False)
class Context:
    """The audit's document and what it was made from."""

    document: AuditDocument
    subjects: Sequence[Counted]

    def entries(self, metric: str, direction: str | None = None) -> Iterator[Entry]:
        """The entries of a metric, in a direction where one is named."""
        for entry in self.document["metrics"]:
            if entry["metric"] == metric and direction in (None, entry["direction"]):
                yield entry

    def entry(self, metric: str, attribute: str, direction: str | None) -> Entry | None:
        """One entry, if it is there."""
        here = (entry for entry in self.entries(metric) if entry["attribute"] == attribute)
        return next((entry for entry in here if entry["direction"] == direction), None)

    def sweep(self, attribute: str, direction: str) -> SweepEntry | None:
        """The thresholds of one attribute and direction, where predictions are scores."""
        rows = (row for row in self.document.get("sweep", ()) if row["attribute"] == attribute)
        return next((row for row in rows if row["direction"] == direction), None)

    @property
    def attributes(self) -> list[Counted]:
        """The attributes themselves, without their crossing."""
        kinds = self.document["data"]["kinds"]
        return [subject for subject in self.subjects if kinds[subject.attribute] == "attribute"]


def number(value: float | None, signed: bool = True) -> str:
    """A figure to three digits after the point, or more where they would all be 0."""
    if value is None:
        return "undefined"
    digits = 3 if value == 0 or abs(value) >= 0.0005 else 5
    return f"{value:{'+' if signed else ''}.{digits}f}"


def value_with_interval(entry: Entry) -> str:
    """The value of an entry with its interval in brackets, where it has one."""
    signed = is_signed(entry["metric"])
    low, high = entry["interval"]
    bounds = "" if low is None or high is None else f" [{number(low, signed)}, {number(high, signed)}]"
    return number(entry["value"], signed) + bounds


def side_of_zero(low: float | None, high: float | None) -> int | None:
    """+1 or -1 where an interval lies on one side of 0, 0 where it covers 0, None without an interval."""
    if low is None or high is None:
        return None
    return 1 if low > 0 else -1 if high < 0 else 0


def side(entry: Entry) -> int | None:
    """On which side of 0 the interval of an entry lies; see :func:`side_of_zero`."""
    low, high = entry["interval"]
    return side_of_zero(low, high)


def figure(entry: Entry, **more: Any) -> dict[str, Any]:
    """The figure a finding rests on."""
    names = ("attribute", "metric", "direction", "value", "interval")
    return {**{name: entry[name] for name in names}, **more}  # type: ignore[literal-required]


def place(entry: Entry | SweepEntry, between: str = ", ") -> str:
    """The attribute and direction that a sentence begins with."""
    return between.join(filter(None, (printable(entry["attribute"], 40), direction_symbol(entry["direction"]))))
