"""One association metric as one record: every fact about it, and its formulas on counts.

Whatever computes, ranks, prints or draws an association metric reads its record, so a metric that is registered (see
:func:`biasamp.association.metrics.register`) is there in the results, the command line, the reports and the explorer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.results.interval import plain

Array = NDArray[np.float64]


class Counts(NamedTuple):
    """The four counts of each (x, y): records in all, with x, with y, and with both; floats of one shape."""

    n: Array
    x: Array
    y: Array
    xy: Array


class Slope(NamedTuple):
    """Partial derivatives of A(x, y) by p(x), p(y) and p(x, y), of one shape."""

    x: Array
    y: Array
    xy: Array


@dataclass(frozen=True, kw_only=True)
class AssociationMetric:
    """What an association metric A(x, y) between an identity x and a label y is.

    ``name`` is what code calls it, ``symbol`` what tables call it, ``title`` its full name, ``formula`` A(x, y) as text,
    ``low`` and ``high`` its range, whose limits may be infinite. ``independent`` is the value of A, as text, where x and
    y are independent; ``zero_null`` says whether the gap of two identities is then 0: where it is not, results show the
    gap under independence. ``words`` say what it tells somebody who reads a result.

    ``value`` computes A from :class:`Counts`: a limit is that limit, such as minus infinity; what is undefined (0/0) is
    NaN. ``slope`` takes n, p(x), p(y) and p(x, y) to a :class:`Slope`, on which intervals of gaps rest. ``closed_gap`` is
    A(x1, y) - A(x2, y) from the counts of x1 and of x2, where that keeps more digits than a difference. ``ratio`` says
    that gaps increase with ``C(x1,y)/C(x2,y)`` alone: labels are then ranked by this ratio, ties included. ``leans`` is
    1 where a positive gap leans to x1, -1 where it leans to x2. ``page_formula`` says that the explorer's page computes
    the metric from counts (web/src/explorer/formulas.ts); the figures of other metrics travel in its document.
    ``as_printed`` is the metric as its paper prints it, where the print differs from the definition in its own words.
    """

    name: str
    symbol: str
    title: str
    formula: str
    low: float
    high: float
    independent: str
    zero_null: bool
    words: str
    paper: str
    value: Callable[[Counts], Array]
    slope: Callable[[Array, Array, Array, Array], Slope]
    closed_gap: Callable[[Counts, Counts], Array] | None = None
    cautions: tuple[str, ...] = ()
    ratio: bool = False
    leans: int = 1
    page_formula: bool = False
    as_printed: AssociationMetric | None = None

    def __post_init__(self) -> None:
        texts = ("name", "symbol", "title", "formula", "independent", "words", "paper")
        missing = [part for part in texts if not getattr(self, part)]
        missing += [part for part in ("value", "slope") if not callable(getattr(self, part))]
        if missing:
            raise TypeError(f"the association metric {self.name!r} has no {', no '.join(missing)}")
        if not self.low < self.high:
            raise ValueError(f"the range of {self.name!r} is {self.low} to {self.high}; low must be below high")

    @property
    def bound(self) -> float:
        """The largest size of a gap; infinite where there is none."""
        return self.high - self.low

    def form(self, paper_literal: bool) -> AssociationMetric:
        """The metric as it is defined, or as printed."""
        return self.as_printed if paper_literal and self.as_printed is not None else self

    def gap(self, first: Counts, second: Counts) -> Array:
        """``A(x1, y) - A(x2, y)`` from counts that have been checked."""
        if self.closed_gap is not None:
            return self.closed_gap(first, second)
        return subtract(self.value(first), self.value(second))

    def facts(self, paper_literal: bool = False) -> dict[str, Any]:
        """Everything but the formulas on counts, as values that JSON can hold; ``as_printed`` is a formula as text."""
        form = self.form(paper_literal)
        hidden = ("value", "slope", "closed_gap", "as_printed")
        facts = {part.name: plain(getattr(form, part.name)) for part in fields(form) if part.name not in hidden}
        printed = None if self.as_printed is None else self.as_printed.formula
        return {**facts, "cautions": list(form.cautions), "as_printed": printed}


def times(metric: AssociationMetric, factor: float, formula: str) -> AssociationMetric:
    """The metric times a constant; the range stays, which is wide enough for a factor of size 1 or less."""
    return replace(
        metric,
        formula=formula,
        leans=metric.leans if factor > 0 else -metric.leans,
        # Adding 0 turns -0.0 into 0.0.
        value=lambda counts: 0.0 + factor * metric.value(counts),
        closed_gap=lambda first, second: 0.0 + factor * metric.gap(first, second),
        slope=lambda *at: Slope(*(factor * part for part in metric.slope(*at))),
    )


@np.errstate(invalid="ignore")
def subtract(a: Array, b: Array) -> Array:
    """``a - b``; two infinities of one sign have no difference: NaN."""
    return a - b


@np.errstate(divide="ignore", invalid="ignore")
def divide(a: Any, b: Any) -> Array:
    """``a / b``: infinite for b = 0, NaN where both are 0."""
    return np.asarray(a / b, dtype=np.float64)


@np.errstate(divide="ignore", invalid="ignore")
def log_ratio(a: Any, b: Any, difference: Any = None) -> Array:
    """``ln(a/b)`` for a, b >= 0, accurate also where a is close to b; ``difference`` is a - b where known better."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    relative = (a - b if difference is None else difference) / b
    return np.where(np.abs(relative) < 0.5, np.log1p(relative), np.log(a / b))
