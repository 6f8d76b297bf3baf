"""What the amplification metrics hand back."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from biasamp.data.plain_arguments import level_of, one_of, whole_number, yes_or_no
from biasamp.resampling.pair_bags import PairBags
from biasamp.results.flat import flat_entries
from biasamp.results.interval import Interval, plain
from biasamp.results.metric_registry import range_of
from biasamp.results.renderers import render
from biasamp.results.table import Table

from .figures_with_intervals import FiguresWithIntervals, IntervalMaker


class Estimate:
    """What a result computes when it is looked at; it keeps labels or counts of its own."""

    def pairs(self) -> Table:
        """One row for each pair."""
        raise NotImplementedError

    def cautions(self) -> tuple[str, ...]:
        """Where the interval covers less often than its level."""
        return ()

    def interval(self, of: str) -> IntervalMaker | None:
        """What makes the intervals of a figure; None where there is none."""
        return None

    def bounds(self, level: float) -> Interval | None:
        """How far the value may reach whatever the directions that the records do not tell; None where it has none."""
        return None

    @property
    def range(self) -> tuple[float, float] | None:
        """The least and the largest value, where they are not those of the metric whatever the labels."""
        return None

    @property
    def unknown(self) -> int | None:
        """How many pairs have a direction that the records do not tell; None where pairs have none."""
        return None

    @property
    def contradicted(self) -> tuple[int, int] | None:
        """Of the pairs with a clear sign both here and where signs come from, how many are opposite, and of how many."""
        return None

    def between_models(self) -> float:
        """The variance that records add to a difference of two models which no record shows to differ; else less."""
        return 0.0

    def pairs_by_bag(self) -> PairBags | None:
        """What every bag of records adds to the change of each pair; None where that is not known, or too much."""
        return None

    def figure(self, name: str) -> float | None:
        """A further figure: ``crossfit``, ``clear_value``, ``variance`` or ``floor``; None where it has none."""
        return None


@dataclass(frozen=True, eq=False)
class Amplification(FiguresWithIntervals):
    """One amplification metric in one direction.

    Attributes
    ----------
    metric : str
        ``"directional"``, ``"multi"`` or ``"mals"``.
    value : float
        The aggregate over all defined pairs. All that follows is computed when it is first looked at, but for
        what is excluded.
    pairs : Table
        One row for each pair: given, outcome, sign, sign_p, truth_rate, predicted_rate, delta, amplification, low,
        high, support, and whether the data can tell the sign (``clear``).
    excluded : tuple of dict
        Pairs that are undefined, with the reason and their counts.
    invented : Table
        Labels that only predictions have, which are no pair: one row for each and each given label, with its rate, the
        difference of the largest and the smallest rate, its interval, and the test's p- and q-value.
    n : float
        The total weight of the records (their number, without weights).
    direction : str or None
        ``"A->T"`` or ``"T->A"`` where the roles are known.
    sign_source : str
        Where the signs come from: train labels, the evaluated labels themselves, or another source.
    base_source : str or None
        What took the place of the evaluated truth, if anything did.
    crossfit : float or None
        Directional, without train labels: the value with signs from the other half of the records, which
        is unbiased without amplification, where the plug-in value is biased down. With amplification along
        associations that the records cannot tell, both are drawn to 0.
    clear_value : float or None
        Directional: the value over the pairs whose sign the data can tell.
    clear_interval : Interval or None
        The 95% bootstrap interval of ``clear_value``.
    unknown : int or None
        Directional: how many pairs have a direction that the data do not tell, which :meth:`bounds` counts with
        the worse sign.
    variance, floor : float or None
        Multi: the population variance of delta, and the value expected without amplification.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> result = biasamp.directional(group, hired, model)
    >>> round(result.value, 3), len(result.pairs), result.unknown
    (0.25, 4, 0)
    >>> interval = result.confidence_interval()
    >>> interval.low < result.value < interval.high
    True
    >>> result.to_dict()["metric"]
    'directional'
    """

    metric: str
    value: float
    n: float
    direction: str | None = None
    sign_source: str = ""
    base_source: str | None = None
    excluded: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    invented: Table = field(default_factory=lambda: Table({}), repr=False)
    _estimate: Estimate = field(default_factory=Estimate, repr=False)

    @cached_property
    def pairs(self) -> Table:
        """One row for each pair."""
        return self._estimate.pairs()

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Where the interval of the value covers less often than its level."""
        return self._estimate.cautions()

    @cached_property
    def crossfit(self) -> float | None:
        """The value with signs from the other half of the records."""
        return self._estimate.figure("crossfit")

    @cached_property
    def clear_value(self) -> float | None:
        """The value over the pairs whose sign the data can tell."""
        return self._estimate.figure("clear_value")

    @cached_property
    def clear_interval(self) -> Interval | None:
        """The 95% bootstrap interval of :attr:`clear_value`; other levels by ``confidence_interval``."""
        return None if self.interval_maker("clear_value") is None else self.quiet_interval(of="clear_value")

    @cached_property
    def unknown(self) -> int | None:
        """Directional: how many pairs have a direction that the data do not tell."""
        return self._estimate.unknown

    def bounds(self, level: float = 0.95) -> Interval | None:
        """Directional: how far amplification may reach, below and above; None for metrics without signs.

        A pair whose direction the evaluated records do not tell counts with the worse of its two signs. The upper
        bound is (the sum of sign times change over the clear pairs, plus the sum of the sizes of the others) over the
        number of pairs, plus 1.70 standard errors of that sum; the lower bound is its mirror image. A sign is clear when its
        p-value is below .01 over the number of signs that are free of each other. Pairs whose signs follow from one
        another (two groups, two values) turn together. With signs from train labels or another source all are
        known: the bounds are then the value and 1.70 standard errors either way.

        A model whose amplification is at a limit has its upper bound below that limit in at most 5% of samples.

        Parameters
        ----------
        level : float
            The one-sided level of each bound, strictly between 0.5 and 1.
        """
        level_of(level, "level", above=0.5)
        made = self._estimate.bounds(level)
        return None if made is None else made.within(*self._range)

    @property
    def _range(self) -> tuple[float, float]:
        """The least and the largest value that the figure can have."""
        return self._estimate.range or range_of(self.metric)

    @cached_property
    def variance(self) -> float | None:
        """Multi: the population variance of delta."""
        return self._estimate.figure("variance")

    @cached_property
    def floor(self) -> float | None:
        """Multi: the value expected without amplification."""
        return self._estimate.figure("floor")

    figures = ("value", "crossfit", "clear_value")

    def _made(self, of: str) -> IntervalMaker | None:
        return self._estimate.interval(of)

    def _no_interval(self, of: str) -> str:
        if of != "value":
            return f"this result has no {of}, so there is no interval for it"
        return super()._no_interval(of) + (f": {self.cautions[-1]}" if self.cautions else "")

    def pairs_by_bag(self) -> PairBags | None:
        """What every bag of records adds to the change of each pair, by which the pairs of two models are compared."""
        return self._estimate.pairs_by_bag()

    def between_models(self) -> float:
        """The variance that one more record of either kind adds to a difference of two models, in every pair."""
        return self._estimate.between_models()

    def to_dict(
        self,
        level: float = 0.95,
        resamples: int = 1000,
        seed: int = 0,
        most_pairs: int | None = None,
        *,
        method: str = "bootstrap",
        flat: bool = False,
    ) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold: null for what is undefined.

        Parameters
        ----------
        level, resamples, seed, method
            As for :meth:`confidence_interval`.
        most_pairs : int, optional
            List no more than so many pairs, those with the largest amplification; by default all.
        flat : bool
            Figures by name instead, as trackers take them: the value with its bounds and what goes beside it.
        """
        yes_or_no(flat, "flat")
        if most_pairs is not None:
            whole_number(most_pairs, "most_pairs")
        interval: list[float | None] = [None, None]
        made_by = ""
        cautions = self.cautions
        if self.interval_maker() is not None:
            made = self.quiet_interval(level, method, resamples, seed)
            interval, made_by, cautions = [plain(bound) for bound in made], made.method, made.cautions
        out: dict[str, Any] = {
            "metric": self.metric,
            "direction": self.direction,
            "value": plain(self.value),
            "interval": interval,
            "interval_method": made_by,
            "n": plain(self.n),
            "sign_source": self.sign_source,
            "base_source": self.base_source,
        }
        for name in ("crossfit", "clear_value", "variance", "floor"):
            number = getattr(self, name)
            if number is not None:
                out[name] = plain(number)
        if level > 0.5 and (bounds := self.bounds(level)) is not None:
            out["bounds"] = [plain(bound) for bound in bounds]
            out["unknown"] = self.unknown
            if self._estimate.contradicted is not None and not flat:
                out["contradicted"] = list(self._estimate.contradicted)
        if flat:
            return flat_entries([out])
        for of, name in (("crossfit", "crossfit_interval"), ("clear_value", "clear_interval")):
            if self.interval_maker(of) is not None:
                made = self.quiet_interval(level, method, resamples, seed, of=of)
                out[name] = [plain(bound) for bound in made]
        listed = self.pairs
        if most_pairs is not None and len(listed) > most_pairs:
            size = np.nan_to_num(np.abs(listed["amplification"]))
            listed = listed.take(np.sort(np.argsort(-size, kind="stable")[:most_pairs]))
        out["pairs"] = listed.plain_rows()
        out["excluded"] = [{key: plain(value) for key, value in row.items()} for row in self.excluded]
        out["cautions"] = list(cautions)
        return out

    def plot(self, kind: str = "bars") -> Any:
        """The pairs as a matplotlib figure: ``"bars"`` with intervals, or ``"heatmap"``. Needs the extra ``plot``."""
        return render("amplification figure", self, one_of(kind, "kind", ("bars", "heatmap")))

    def _repr_html_(self) -> str:
        return str(render("amplification table", self))
