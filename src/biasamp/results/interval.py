"""An interval of one figure, and numbers as JSON can hold them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Interval:
    """A confidence interval, with how it was made and what varies in it."""

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    varies: str = "sampling of records"
    standard_error: float | None = None
    cautions: tuple[str, ...] = ()

    def __iter__(self) -> Any:
        return iter((self.low, self.high))


def plain(value: Any) -> Any:
    """A value JSON can hold: null for NaN, ``"inf"`` and ``"-inf"`` for limits, Python numbers for numpy's."""
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value
