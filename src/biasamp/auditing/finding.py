"""One finding or caution of an audit, and what orders them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any


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


# What a finding weighs; the size of its effect, at most 1, is added. The answer to what was asked comes first, and an
# interval on one side of 0 before one that decides nothing.
AGGREGATE, DECIDED_AGGREGATE = 100.0, 110.0
# Then the pairs behind it; that they contradict the aggregate is said before they are listed.
PAIRS, OPPOSITE_PAIRS = 80.0, 85.0
# Then other views of the same data: sizes of changes and attackers, which may decide; MALS, which mixes directions;
# error rates, which are not about amplification.
OTHER_METRIC, DECIDED_OTHER, MIXED_DIRECTIONS, ERROR_RATES = 60.0, 65.0, 55.0, 50.0
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
