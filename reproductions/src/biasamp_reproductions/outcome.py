"""What one experiment gave: what it ran on, its rows, its charts, and what was left out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .chart import Chart, Heatmap
from .rows import Row

REAL = "Real files"
STAND_IN = "Stand-in"
PRINTED = "The paper's own numbers"


@dataclass(frozen=True)
class Outcome:
    """What one experiment gave.

    Attributes
    ----------
    kind : str
        Whether it ran on real files, on a stand-in, or on the paper's own numbers.
    source : str
        Which files, or what the stand-in is.
    rows : tuple of Row
    charts : tuple of Chart or Heatmap
    left_out : tuple of str
        What could not be run here, and what it needs.
    """

    kind: str
    source: str
    rows: tuple[Row, ...]
    charts: tuple[Chart | Heatmap, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def first_line(self) -> str:
        """What it ran on, which is the first thing to know."""
        return f"{self.kind}: {self.source}"

    @property
    def agreed(self) -> int:
        """How many published figures and claims come out."""
        return sum(row.agrees is True for row in self.rows)

    @property
    def reached(self) -> int:
        """How many differ, and a run that gives the published figure is shown."""
        return sum(row.reached for row in self.rows)

    @property
    def moved(self) -> int:
        """How many differ, and a run is shown that changes the figure without reaching the published one."""
        return sum(row.moved for row in self.rows)

    @property
    def left_open(self) -> int:
        """How many differ, and lie inside what runs over the paper's open choices give."""
        return sum(row.left_open for row in self.rows)

    @property
    def out_of_reach(self) -> int:
        """How many differ, and lie outside all that such runs give."""
        return sum(row.out_of_reach for row in self.rows)

    @property
    def not_seen(self) -> int:
        """How many claims do not show on a stand-in, which is not the data that the paper speaks of."""
        return sum(row.unexplained and row.in_words for row in self.rows) if self.kind == STAND_IN else 0

    @property
    def unexplained(self) -> int:
        """How many differ otherwise, and nothing is known of why."""
        return sum(row.unexplained for row in self.rows) - self.not_seen

    def to_dict(self) -> dict[str, Any]:
        """The outcome in plain values."""
        return {
            "kind": self.kind,
            "source": self.source,
            "agreed": self.agreed,
            "reached": self.reached,
            "moved": self.moved,
            "left_open": self.left_open,
            "out_of_reach": self.out_of_reach,
            "not_seen": self.not_seen,
            "unexplained": self.unexplained,
            "rows": [row.to_dict() for row in self.rows],
            "charts": [chart.to_dict() for chart in self.charts],
            "left_out": list(self.left_out),
        }
