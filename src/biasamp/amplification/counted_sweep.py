"""A sweep over thresholds from counts: at 1,001 fixed ones, where the scores themselves are gone or too many."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.threshold_counts import GRID, ThresholdCounts
from biasamp.data import Label
from biasamp.data.scores import USUAL
from biasamp.resampling.significance import normal_quantile
from biasamp.results import Table

from .calibrate import Sweep
from .threshold_curves import Curves, Floats, Hits

Signs = NDArray[np.int8]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class CountedCurves(Curves):
    """As :class:`Curves`, from counts between thresholds of a grid.

    Every given label stands as one record that weighs what the label does, and the scores are the thresholds of the
    grid: figures at these are exact, those at others are of the next threshold of the grid.
    """

    counts: ThresholdCounts
    _above: dict[tuple[int, int], Floats] = field(default_factory=dict)
    _last: dict[Any, Any] = field(default_factory=dict)

    @classmethod
    def of_counts(
        cls, counts: ThresholdCounts, signs: Signs, given: Sequence[Label], outcome: Sequence[Label], exclusive: bool
    ) -> CountedCurves:
        """The curves of counts, whose labels are these."""
        size = counts.above(0)[:-1, 0].sum(axis=-1)
        grid = np.repeat(GRID[:, None], len(outcome), axis=1)
        one = np.eye(len(given), dtype=bool)
        truth = np.zeros((len(outcome), len(given)), dtype=bool)
        return cls(grid, one, truth, signs, size, given, outcome, exclusive, counts)

    def used(self, decided: Floats) -> float | None:
        """The threshold of the grid at which as many records of every group are positive as were decided to be.

        ``decided`` is of shape (given labels, outcome labels). 0.5 where it is among them, else the highest; None where
        no threshold of the grid gives these decisions.
        """
        held = [self.hits(label, GRID) for label in range(len(self.outcome))]
        positive: Floats = np.stack([(part.true + part.false)[:-1] for part in held])
        same: Mask = np.asarray(np.isclose(positive, decided.T[:, :, None]).all(axis=(0, 1)))
        if same[np.searchsorted(GRID, USUAL)]:
            return USUAL
        return float(GRID[same][-1]) if same.any() else None

    def hits(self, label: int, thresholds: Floats, power: int = 1) -> Hits:
        """The counts of one label at some thresholds; with a power of 2, of squared weights."""
        key = label, power
        if key not in self._above:
            self._above[key] = self.counts.above(label, power)
        if self._last.get("thresholds") is not thresholds:
            # The figures of one label after another are made, several of each at the same thresholds.
            self._last.clear()
            self._last.update(thresholds=thresholds, places=_places(thresholds))
        if key not in self._last:
            above = self._above[key]
            at = above[:, self._last["places"]]
            self._last[key] = Hits(at[..., 1], at[..., 0], above[:, :1, 1], above[:, :1, 0])
        held: Hits = self._last[key]
        return held

    @cached_property
    def _grid(self) -> Floats:
        return super().distinct()

    def distinct(self, label: int | None = None) -> Floats:
        """The grid, and one threshold above all: of one label or of all."""
        return self._grid

    def band_is_cheap(self, points: int) -> bool:
        """A band follows from the counts that the curve does."""
        return True

    def band(self, thresholds: Floats | None = None, level: float = 0.95) -> Table:
        """Amplification at some thresholds with an interval at each of them, signs held fixed.

        What the scores of several labels, or groups that share records, have in common is not counted. Their errors are
        then added up as if they all went together, which is the most that they can be: the band is too wide, never too
        narrow.
        """
        thresholds = self.distinct() if thresholds is None else thresholds
        each = [self._by_group(thresholds, label) for label in range(len(self.outcome))]
        value, error = (np.mean(part, axis=0) for part in zip(*each, strict=True))
        reach = normal_quantile(level) * error
        return Table({"threshold": thresholds, "amplification": value, "low": value - reach, "high": value + reach})

    def amplification(self, thresholds: Floats) -> Floats:
        """The mean over pairs at some thresholds, which hold for all labels."""
        each = [self.directional(self.hits(label, thresholds), label) for label in range(len(self.outcome))]
        return np.asarray(np.mean(each, axis=0))

    def at(self, thresholds: Floats) -> float:
        """The directional value where every label has its own threshold."""
        places = range(len(self.outcome))
        each = [self.directional(self.hits(k, thresholds[k : k + 1]), k)[0] for k in places]
        return float(np.mean(each))

    def calibrated(self) -> tuple[Floats, Floats, Floats]:
        """Of every label the threshold of the grid whose rate is nearest to the base rate, its rate, and the base rate.

        Of two as near, the one with fewer positives.
        """
        at = self.distinct()
        found = []
        for label in range(len(self.outcome)):
            held = self.hits(label, at)
            wanted = held.positive[-1, 0] / held.size[-1, 0]
            rate = held.rate[-1]
            place = len(at) - 1 - int(np.argmin(np.abs(rate - wanted)[::-1]))
            found.append((at[place], rate[place], wanted))
        thresholds, rates, base = zip(*found, strict=True)
        return np.array(thresholds), np.array(rates), np.array(base)

    def _steps(self, values: Floats) -> Floats:
        """Between two thresholds a figure lies somewhere between those at them: their mean stands for it."""
        return np.concatenate([values[:1], (values[1:] + values[:-1]) / 2.0])


def _places(thresholds: Floats) -> Index | slice:
    """The places of thresholds in the grid, a slice of all of them."""
    places = np.searchsorted(GRID, thresholds, side="left")
    return slice(len(places)) if np.array_equal(places, np.arange(len(places))) else places


def counted_sweep(
    curves: CountedCurves, integral: float, sign_source: str, n: int, used: float | None = USUAL
) -> Sweep:
    """The sweep that counts give.

    Parameters
    ----------
    curves : CountedCurves
    integral : float
        The metric of the scores as soft predictions, which is the mean over all thresholds.
    sign_source : str
    n : int
        How many records were counted.
    used : float, optional
        The threshold that decisions were made at, where it is known.
    """
    at = curves.distinct()
    held = [curves.hits(label, at) for label in range(len(curves.outcome))]
    columns: dict[str, Any] = {
        "threshold": at,
        "amplification": curves.amplification(at),
        "rate": np.mean([part.rate[-1] for part in held], axis=0),
    }
    if len(held) == 1:
        rates = held[0].rate[:-1]
        known = rates[~np.isnan(rates[:, 0])]
        columns["parity"] = known.max(axis=0) - known.min(axis=0)
        columns |= {f"rate of {label}": rate for label, rate in zip(curves.given, rates, strict=True)}
    base = float(np.mean([part.positive[-1, 0] / part.size[-1, 0] for part in held]))
    return Sweep(Table(columns), integral, (0.0, 1.0), base, sign_source, n, None, used, curves)
