"""What findings and cautions look at, and how figures are put into words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .margins import Audited

# The others are never negative, and are written without a sign.
_SIGNED = ("directional", "mals", "dpa", "leakage")


@dataclass(frozen=True, eq=False)
class Context:
    """The audit's document and what it was made from."""

    document: dict[str, Any]
    subjects: Sequence[Audited]

    def entries(self, metric: str, direction: str | None = None) -> Iterator[dict[str, Any]]:
        """The entries of a metric, in a direction where one is named."""
        for entry in self.document["metrics"]:
            if entry["metric"] == metric and direction in (None, entry["direction"]):
                yield entry

    def entry(self, metric: str, attribute: str, direction: str | None) -> dict[str, Any] | None:
        """One entry, if it is there."""
        for entry in self.entries(metric):
            if entry["attribute"] == attribute and entry["direction"] == direction:
                return entry
        return None

    def sweep(self, attribute: str, direction: str) -> dict[str, Any] | None:
        """The thresholds of one attribute and direction, where predictions are scores."""
        for row in self.document.get("sweep", ()):
            if row["attribute"] == attribute and row["direction"] == direction:
                found: dict[str, Any] = row
                return found
        return None


def number(value: float | None, signed: bool = True) -> str:
    """A figure to three digits after the point, or more where they would all be 0."""
    if value is None:
        return "undefined"
    digits = 3 if value == 0 or abs(value) >= 0.0005 else 5
    return f"{value:{'+' if signed else ''}.{digits}f}"


def bounds(entry: dict[str, Any]) -> str:
    """The interval in brackets, or nothing where there is none."""
    low, high = entry["interval"]
    signed = entry["metric"] in _SIGNED
    return "" if low is None or high is None else f" [{number(low, signed)}, {number(high, signed)}]"


def side(entry: dict[str, Any]) -> int | None:
    """+1 or -1 where the interval lies on one side of 0, 0 where it covers 0, None without an interval."""
    low, high = entry["interval"]
    if low is None or high is None:
        return None
    return 1 if low > 0 else -1 if high < 0 else 0


def figure(entry: dict[str, Any], **more: Any) -> dict[str, Any]:
    """The figure a finding rests on."""
    return {
        "attribute": entry["attribute"],
        "metric": entry["metric"],
        "direction": entry["direction"],
        "value": entry["value"],
        "interval": entry["interval"],
        **more,
    }


def arrow(direction: str) -> str:
    """A direction in words that say what is given and what is predicted."""
    return "A→T" if direction == "A->T" else "T→A"
