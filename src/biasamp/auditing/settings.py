"""What all metrics of an audit are asked for with, and what they give."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from biasamp.data.plain_arguments import MOST_DRAWS, level_of, one_of, whole_number

from .label_provenance import LabelProvenance

# How the intervals of aggregates are made: from resamples, or from how much every bag of records moves them.
INTERVALS = ("bootstrap", "closed_form")


@dataclass(frozen=True)
class Settings:
    """What the caller chose, for all metrics alike."""

    metrics: frozenset[str]
    confidence: float
    resamples: int
    seed: int
    min_group: int = 30
    positive: Any = None
    labels: LabelProvenance = field(default_factory=LabelProvenance)
    suppress: int | None = None
    intervals: str = "bootstrap"

    def __post_init__(self) -> None:
        level_of(self.confidence, "confidence")
        whole_number(self.resamples, "resamples", least=2, most=MOST_DRAWS)
        whole_number(self.min_group, "min_group")
        whole_number(self.seed, "seed")
        if self.suppress is not None:
            whole_number(self.suppress, "suppress", least=2)
        one_of(self.intervals, "intervals", INTERVALS)


@dataclass
class Measured:
    """What one attribute gave."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    not_run: list[dict[str, Any]] = field(default_factory=list)
    sweeps: list[dict[str, Any]] = field(default_factory=list)
    rates: list[dict[str, Any]] = field(default_factory=list)
    why: list[dict[str, Any]] = field(default_factory=list)
    label_errors: list[dict[str, Any]] = field(default_factory=list)
    positive: dict[str, str] = field(default_factory=dict)
    unknown_positive: tuple[str, ...] = ()

    def skip(self, attribute: str, metric: str, direction: str | None, reason: str) -> None:
        """Note what was not computed, and why."""
        self.not_run.append({"attribute": attribute, "metric": metric, "direction": direction, "reason": reason})
