"""What the amplification metrics hand back."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from biasamp.results.flat import flat_entries
from biasamp.results.interval import Interval, IntervalMaker, plain
from biasamp.results.renderers import render
from biasamp.results.table import Table


@dataclass(frozen=True, eq=False)
class Amplification:
    """One amplification metric in one direction.

    Attributes
    ----------
    metric : str
        ``"directional"``, ``"multi"`` or ``"mals"``.
    value : float
        The aggregate over all defined pairs.
    pairs : Table
        One row a pair: given, outcome, sign, sign_p, truth_rate, predicted_rate, delta, amplification, low,
        high, support, and whether the data can tell the sign (``clear``).
    excluded : tuple of dict
        Pairs that are undefined, with the reason and their counts.
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
        is unbiased where the plug-in value is biased down.
    clear_value : float or None
        Directional: the value over the pairs whose sign the data can tell.
    variance, floor : float or None
        Multi: the population variance of delta, and the value expected without amplification.
    """

    metric: str
    value: float
    pairs: Table
    excluded: tuple[dict[str, Any], ...]
    n: float
    direction: str | None = None
    sign_source: str = ""
    base_source: str | None = None
    crossfit: float | None = None
    clear_value: float | None = None
    variance: float | None = None
    floor: float | None = None
    cautions: tuple[str, ...] = ()
    _interval: IntervalMaker | None = field(default=None, repr=False)
    _beside: Mapping[str, IntervalMaker] = field(default_factory=dict, repr=False)

    def confidence_interval(
        self,
        level: float = 0.95,
        method: str = "bootstrap",
        resamples: int = 1000,
        seed: int = 0,
        *,
        of: str = "value",
    ) -> Interval:
        """An interval for the value.

        A warning says where the interval covers less often than its level: signs that the data cannot tell,
        tiny groups, few records or clusters that carry all the variation.

        Parameters
        ----------
        level : float
            The confidence level, strictly between 0 and 1.
        method : {"bootstrap", "auto", "bca", "closed_form"}
            ``"bootstrap"`` (and ``"auto"``) is the percentile bootstrap on counts, or the closed form where
            resampling would be slow, which ``.method`` of the interval then says. ``"bca"`` is Efron's
            bias-corrected and accelerated bootstrap. ``"closed_form"`` is Student's interval on the influences
            of the records, with the signs held fixed.
        resamples : int
            How many resamples a bootstrap draws.
        seed : int
            Makes the resamples reproducible.
        of : {"value", "crossfit", "clear_value"}
            Which of the result's figures the interval is for.
        """
        interval = self._quiet_interval(level, method, resamples, seed, of)
        if interval.cautions:
            warnings.warn(". Also, ".join(interval.cautions), UserWarning, stacklevel=2)
        return interval

    def _quiet_interval(
        self, level: float = 0.95, method: str = "bootstrap", resamples: int = 1000, seed: int = 0, of: str = "value"
    ) -> Interval:
        """The interval, with its cautions inside it only."""
        if not 0.0 < level < 1.0:
            raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
        if of not in ("value", "crossfit", "clear_value"):
            raise ValueError(f"of is {of!r}; use 'value', 'crossfit' or 'clear_value'")
        maker = self._interval if of == "value" else self._beside.get(of)
        if maker is None and of != "value":
            raise ValueError(f"this result has no {of}, so there is no interval for it")
        if maker is None:
            raise ValueError("this result was made from counts alone and carries no resamples for an interval")
        return maker(level, method, resamples, seed)

    def to_dict(
        self,
        level: float = 0.95,
        resamples: int = 1000,
        seed: int = 0,
        most_pairs: int | None = None,
        *,
        flat: bool = False,
    ) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold: null for what is undefined.

        Parameters
        ----------
        level, resamples, seed
            As for :meth:`confidence_interval`.
        most_pairs : int, optional
            List no more than so many pairs, those with the largest amplification; by default all.
        flat : bool
            Figures by name instead, as trackers take them: the value with its bounds and what goes beside it.
        """
        interval: list[float | None] = [None, None]
        method = ""
        cautions = self.cautions
        if self._interval is not None:
            made = self._quiet_interval(level, resamples=resamples, seed=seed)
            interval, method, cautions = [plain(bound) for bound in made], made.method, made.cautions
        out: dict[str, Any] = {
            "metric": self.metric,
            "direction": self.direction,
            "value": plain(self.value),
            "interval": interval,
            "interval_method": method,
            "n": plain(self.n),
            "sign_source": self.sign_source,
            "base_source": self.base_source,
        }
        for name in ("crossfit", "clear_value", "variance", "floor"):
            number = getattr(self, name)
            if number is not None:
                out[name] = plain(number)
        if flat:
            return flat_entries([out])
        if "crossfit" in self._beside:
            out["crossfit_interval"] = [
                plain(bound) for bound in self._quiet_interval(level, resamples=resamples, seed=seed, of="crossfit")
            ]
        listed = self.pairs
        if most_pairs is not None and len(listed) > most_pairs:
            size = np.nan_to_num(np.abs(listed["amplification"]))
            listed = listed.take(np.sort(np.argsort(-size, kind="stable")[:most_pairs]))
        out["pairs"] = [{key: plain(value) for key, value in row.items()} for row in listed.rows()]
        out["excluded"] = [{key: plain(value) for key, value in row.items()} for row in self.excluded]
        out["cautions"] = list(cautions)
        return out

    def plot(self, kind: str = "bars") -> Any:
        """The pairs as a matplotlib figure: ``"bars"`` with intervals, or ``"heatmap"``. Needs the extra ``plot``."""
        return render("amplification figure", self, kind)

    def _repr_html_(self) -> str:
        return str(render("amplification table", self))
