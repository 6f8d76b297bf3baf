"""What calibrating and sweeping thresholds hand back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.results.interval import Interval, plain
from biasamp.results.renderers import render
from biasamp.results.table import Table

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """A threshold for every label: what scores at or above it is positive.

    Attributes
    ----------
    thresholds : ndarray
        One a label.
    rates : ndarray
        The share of positives that each threshold gives on the scores it was calibrated on.
    wanted : ndarray
        The share that was asked for.
    labels : tuple of str
        What the columns of the scores are called.
    """

    thresholds: Floats
    rates: Floats
    wanted: Floats
    labels: tuple[str, ...]

    @property
    def threshold(self) -> float:
        """The threshold, where there is one label."""
        if len(self.thresholds) != 1:
            raise ValueError(f"there are {len(self.thresholds)} labels: .thresholds holds one threshold for each")
        return float(self.thresholds[0])

    @property
    def table(self) -> Table:
        """Label, threshold, rate and wanted rate, a row a label."""
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        return Table({"label": labels, "threshold": self.thresholds, "rate": self.rates, "wanted": self.wanted})

    def apply(self, scores: Any) -> NDArray[np.uint8]:
        """Predictions 0 and 1 from scores, in the layout of those it was calibrated on."""
        values = np.asarray(scores, dtype=np.float64)
        width = 1 if values.ndim == 1 else values.shape[1]
        if width != len(self.thresholds):
            raise ValueError(f"scores has {width} columns, but there are thresholds for {len(self.thresholds)} labels")
        if np.isnan(values).any():
            raise ValueError(f"scores holds {int(np.isnan(values).sum()):,} missing values: they have no prediction")
        return (values >= (self.thresholds if values.ndim > 1 else self.thresholds[0])).astype(np.uint8)

    def to_dict(self) -> dict[str, Any]:
        """The thresholds in plain Python values."""
        return {
            "schema": 1,
            "labels": [{key: plain(value) for key, value in row.items()} for row in self.table.rows()],
        }


@dataclass(frozen=True, eq=False)
class Sweep:
    """Amplification, parity and rates at every distinct threshold.

    Attributes
    ----------
    curve : Table
        A row a threshold, rising: ``threshold`` (what scores at or above it is positive), ``amplification``,
        ``rate`` (the share predicted positive) and, for one label, ``parity`` (the largest difference of that
        share between given labels) and ``rate of <given label>``.
    integral : float
        The mean amplification over thresholds spread evenly over ``span``. Where ``span`` is [0, 1] it is the
        metric of the soft scores.
    span : tuple of float
        The range of thresholds of the integral.
    base_rate : float
        The share of the truth that is positive.
    """

    curve: Table
    integral: float
    span: tuple[float, float]
    base_rate: float
    sign_source: str
    n: int
    _interval: Callable[[float, str, int, int], Interval] | None = field(default=None, repr=False)

    def at(self, threshold: float) -> dict[str, Any]:
        """The row of the curve that holds at a threshold."""
        place = int(np.searchsorted(self.curve["threshold"], threshold, side="left"))
        return self._row(min(place, len(self.curve) - 1))

    def at_rate(self, rate: float) -> dict[str, Any]:
        """The row of the curve whose share of positives is nearest to a rate."""
        if not 0.0 <= rate <= 1.0:
            raise ValueError(f"rate is {rate}; it is a share between 0 and 1")
        return self._row(int(np.argmin(np.abs(self.curve["rate"] - rate))))

    def confidence_interval(
        self, level: float = 0.95, method: str = "bootstrap", resamples: int = 1000, seed: int = 0
    ) -> Interval:
        """An interval for the integral."""
        if not 0.0 < level < 1.0:
            raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
        if self._interval is None:
            raise ValueError("this sweep carries no records for an interval")
        return self._interval(level, method, resamples, seed)

    def to_dict(self, points: int = 1000) -> dict[str, Any]:
        """The sweep in plain Python values, with up to ``points`` thresholds of the curve, evenly ranked."""
        count = len(self.curve)
        places = np.unique(np.linspace(0, count - 1, min(points, count)).round().astype(np.int64))
        return {
            "schema": 1,
            "integral": plain(self.integral),
            "span": list(self.span),
            "base_rate": plain(self.base_rate),
            "sign_source": self.sign_source,
            "n": self.n,
            "thresholds": count,
            "curve": [{k: plain(v) for k, v in row.items()} for row in self.curve.take(places).rows()],
        }

    def plot(self) -> Any:
        """The curve as a matplotlib figure, with the calibrated point marked. Needs the extra ``plot``."""
        return render("sweep figure", self.to_dict())

    def _row(self, place: int) -> dict[str, Any]:
        return {name: plain(values[place]) for name, values in self.curve.columns.items()}
