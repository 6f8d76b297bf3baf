"""What an experiment can have drawn: lines, with intervals where there are any, and heatmaps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from .internals import plain


@dataclass(frozen=True)
class Chart:
    """Lines to draw: each a name with its points.

    Attributes
    ----------
    title, x, y : str
        What the chart shows, and what its axes are.
    lines : mapping of str to sequence of (x, y)
        The points of each line, from left to right.
    intervals : mapping of str to sequence of (low, high)
        For lines that have them: an interval of every point.
    ticks : sequence of str
        Names for x = 0, 1, 2, ... where the axis has no numbers.
    joined : bool
        Whether points are joined; those of names without an order are not.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Sequence[tuple[float, float]]]
    intervals: Mapping[str, Sequence[tuple[float, float]]] = field(default_factory=dict)
    ticks: Sequence[str] = ()
    joined: bool = True

    def to_dict(self) -> dict[str, Any]:
        """The chart in plain values."""
        return {
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "lines": _plain_pairs(self.lines),
            "intervals": _plain_pairs(self.intervals),
            "ticks": list(self.ticks),
            "joined": self.joined,
        }


@dataclass(frozen=True)
class Heatmap:
    """A value for every pair of x and y, drawn in colours that are white at 0.

    Attributes
    ----------
    title, x, y : str
        What it shows, and what its axes are.
    xs, ys : sequence of float
        The places of columns and rows, ascending.
    values : sequence of sequence of float
        A row for each of ``ys``, a value in it for each of ``xs``.
    """

    title: str
    x: str
    y: str
    xs: Sequence[float]
    ys: Sequence[float]
    values: Sequence[Sequence[float]]

    def to_dict(self) -> dict[str, Any]:
        """The heatmap in plain values."""
        return {
            "title": self.title,
            "x": self.x,
            "y": self.y,
            "xs": [plain(x) for x in self.xs],
            "ys": [plain(y) for y in self.ys],
            "values": [[plain(value) for value in row] for row in self.values],
        }


def chart_of(held: Mapping[str, Any]) -> Chart | Heatmap:
    """A chart or a heatmap from its plain values."""

    def numbers(values: Sequence[Any]) -> list[float]:
        return [float("nan") if value is None else float(value) for value in values]

    def pairs(named: Mapping[str, Any]) -> dict[str, list[tuple[float, float]]]:
        return {name: [(a, b) for a, b in map(numbers, points)] for name, points in named.items()}

    title, x, y = held["title"], held["x"], held["y"]
    if "values" in held:
        return Heatmap(title, x, y, numbers(held["xs"]), numbers(held["ys"]), [numbers(row) for row in held["values"]])
    return Chart(title, x, y, pairs(held["lines"]), pairs(held["intervals"]), held["ticks"], held["joined"])


def _plain_pairs(named: Mapping[str, Sequence[tuple[float, float]]]) -> dict[str, Any]:
    return {name: [[plain(a), plain(b)] for a, b in pairs] for name, pairs in named.items()}
