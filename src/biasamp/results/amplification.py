"""What the amplification metrics hand back."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .table import Table


@dataclass(frozen=True)
class Interval:
    """A confidence interval, with how it was made and what varies in it."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    varies: str = "sampling of records"

    def __iter__(self) -> Any:
        return iter((self.low, self.high))


IntervalMaker = Callable[[float, str, int, int], Interval]


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

    def confidence_interval(
        self, level: float = 0.95, method: str = "bootstrap", resamples: int = 1000, seed: int = 0
    ) -> Interval:
        """An interval for the value.

        Parameters
        ----------
        level : float
            The confidence level, strictly between 0 and 1.
        method : str
            How the interval is made; an unknown name is refused with the names that are known.
        resamples : int
            How many resamples a bootstrap draws.
        seed : int
            Makes the resamples reproducible.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
        if self._interval is None:
            raise ValueError("this result was made from counts alone and carries no resamples for an interval")
        return self._interval(level, method, resamples, seed)

    def to_dict(self) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold: null for what is undefined."""
        interval: list[float | None] = [None, None]
        if self._interval is not None:
            interval = [plain(bound) for bound in self.confidence_interval()]
        out: dict[str, Any] = {
            "metric": self.metric,
            "direction": self.direction,
            "value": plain(self.value),
            "interval": interval,
            "n": plain(self.n),
            "sign_source": self.sign_source,
            "base_source": self.base_source,
        }
        for name in ("crossfit", "clear_value", "variance", "floor"):
            number = getattr(self, name)
            if number is not None:
                out[name] = plain(number)
        out["pairs"] = [{key: plain(value) for key, value in row.items()} for row in self.pairs.rows()]
        out["excluded"] = [{key: plain(value) for key, value in row.items()} for row in self.excluded]
        out["cautions"] = list(self.cautions)
        return out

    def _repr_html_(self) -> str:
        from html import escape

        rows = sorted(self.pairs.rows(), key=lambda row: -abs(row["amplification"] or 0.0))[:20]
        head = "".join(f"<th>{name}</th>" for name in ("given", "outcome", "amplification", "low", "high", "support"))
        body = "".join(
            "<tr>"
            + "".join(f"<td>{escape(str(row[name]))}</td>" for name in ("given", "outcome"))
            + "".join(
                f"<td>{'' if row[name] is None else format(row[name], '+.4f')}</td>"
                for name in ("amplification", "low", "high")
            )
            + f"<td>{row['support']:g}</td></tr>"
            for row in rows
        )
        title = f"{escape(self.metric)} {escape(self.direction or '')}".strip()
        return f"<p><b>{title}</b> {self.value:+.4f}</p><table><tr>{head}</tr>{body}</table>"


def plain(value: Any) -> Any:
    """A value JSON can hold: null for NaN, ``"inf"`` and ``"-inf"`` for limits, Python numbers for numpy's."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
