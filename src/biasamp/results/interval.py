"""An interval of one figure, and figures as JSON can hold them and as people read them: to four digits."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

# The chance with which so many records or runs as are called enough decide, and that in words: an interval that just decides where
# the estimate is would do so in half of the samples only, as the estimate moves too.
CHANCE = 0.8
WITH_CHANCE = f"with a chance of {CHANCE:.0%}"
# Numbers from here on have no digits after the point.
_WHOLE = 2.0**53


class Caution(str):
    """A caution in words, with the kind that code goes by."""

    kind: str

    def __new__(cls, words: str, kind: str = "interval") -> Caution:
        """Words with their kind."""
        made = super().__new__(cls, words)
        made.kind = kind
        return made

    @staticmethod
    def kind_of(words: str) -> str:
        """The kind of a caution; plain words are of the common kind."""
        return words.kind if isinstance(words, Caution) else "interval"


# The kind of caution where signs come from records that cannot tell them.
UNCLEAR_SIGNS = "unclear-signs"
# The kind of caution where rates of groups rest on few clusters.
FEW_CLUSTERS = "few-clusters"
# The kind where clusters are fewer than FEWEST_CLUSTERS: by Student's distribution one-sided bounds at 95% then miss in 6.4%
# (nine clusters) to 17% (two) of samples, and no limit is judged by them.
TOO_FEW_CLUSTERS = "too-few-clusters"
FEWEST_CLUSTERS = 10
# The kind of caution where no attacker gains anything: the value is 0 in most samples, whatever the mean over samples is.
NO_GAIN = "no-gain"
# Kinds that say how a figure was made, and not that its interval covers less often than its level: an interval that
# was cut, a choice of sizes that does not apply to labels of which a record has one, errors that only one rule of
# equalization makes up for, and groups that are too small to be in a difference.
CUT, ONE_LABEL, ASYMMETRIC, LEFT_OUT = "cut", "one-label", "asymmetric-errors", "left-out"
NOTES = frozenset({CUT, ONE_LABEL, ASYMMETRIC, LEFT_OUT})
# The kind of caution where no resample moves a figure, so that there is no interval.
NO_WIDTH = "no-width"


@dataclass(frozen=True)
class Interval:
    """A confidence interval, with how it was made and what varies in it.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> interval = biasamp.directional(group, hired, model).confidence_interval()
    >>> interval.level, interval.low < interval.high
    (0.95, True)
    >>> interval.method, interval.varies
    ('bootstrap percentile, widened for errors not seen', 'sampling of records')
    """

    low: float
    high: float
    level: float = 0.95
    method: str = ""
    varies: str = "sampling of records"
    standard_error: float | None = None
    cautions: tuple[str, ...] = ()

    def __iter__(self) -> Any:
        return iter((self.low, self.high))

    def within(self, least: float, most: float) -> Interval:
        """The interval cut at the range of its figure; a note says where it was cut.

        >>> cut = Interval(-0.1, 0.4).within(0.0, 1.0)
        >>> cut.low, cut.high, cut.cautions
        (0.0, 0.4, ('the interval reached below 0 and is cut there: the figure is never less',))
        """
        notes: tuple[str, ...] = ()
        if self.low < least:
            notes += (Caution(f"the interval reached below {least:g} and is cut there: the figure is never less", CUT),)
        if self.high > most:
            notes += (Caution(f"the interval reached above {most:g} and is cut there: the figure is never more", CUT),)
        if not notes:
            return self
        low, high = (float(min(max(end, least), most)) for end in (self.low, self.high))
        return replace(self, low=low, high=high, cautions=(*self.cautions, *notes))


def plain(value: Any) -> Any:
    """A value JSON can hold: null for NaN, ``"inf"`` and ``"-inf"`` for limits, Python numbers for numpy's."""
    if isinstance(value, (str, bool, int)) or value is None:
        return value
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else ("inf" if value > 0 else "-inf")
    return value


def rounded(value: float, digits: int) -> float:
    """A number to some digits after the point, halves away from 0, as the pages round.

    >>> rounded(56.25, 1), round(56.25, 1)
    (56.3, 56.2)
    """
    if not math.isfinite(value) or abs(value) >= _WHOLE:
        return value
    return float(Decimal(value).quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))


def rounded_up(number: float) -> int:
    """A number to two digits, not below it.

    >>> rounded_up(3341)
    3400
    """
    size = 10 ** max(len(str(math.ceil(number))) - 2, 0)
    return int(-(-number // size) * size)


def figure(value: float | None, signed: bool = True, undefined: str = "—") -> str:
    """A number to four digits after the point, with a plus sign where the sign says something."""
    if value is None or value != value:
        return undefined
    return f"{rounded(float(value), 4):{'+' if signed else ''}.4f}"


def interval(low: float | None, high: float | None, signed: bool = True) -> str:
    """An interval in brackets, or nothing where there is none."""
    return "" if low is None or high is None else f"[{figure(low, signed)}, {figure(high, signed)}]"


def figure_with_interval(value: float | None, low: float | None, high: float | None) -> str:
    """A number with its interval, where it has one."""
    return f"{figure(value, undefined='undefined')} {interval(low, high)}".strip()
