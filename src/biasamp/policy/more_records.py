"""How many records would decide, as a chance: what a sample of so many would show if the truth is where the estimate is.

An interval that reaches over the limit by its last digit is no promise that one of as many records would not: the estimate moves,
too. So the number given is the least with which four of five samples would decide.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from biasamp.results.interval import CHANCE, WITH_CHANCE, rounded_up

from .figure import Figure, is_number
from .limits import Limit

Floats = NDArray[np.float64]
# More records than so many times those at hand are not called a number that would decide.
_MOST = 1000.0
_STEP = 1.02
_SAMPLES = 2000


def more_records(limit: Limit, figure: Figure) -> tuple[int | None, str]:
    """About how many records in all would decide, and that in words."""
    if figure.lent:
        return None, "more of the records that lend the signs (train labels, or a base) would tell them"
    if figure.of_base:
        return None, (
            "more records here and in the base would tell; how many is not known, since rates of the base have an error of their own, "
            "which more records here do not make smaller"
        )
    if figure.records is None or not is_number(figure.low) or not is_number(figure.high):
        return None, "more seeds or records would tell" if figure.runs > 1 else "more records would tell"
    factor = _least(limit, figure)
    if factor is not None:
        needed = rounded_up(figure.records * factor)
        return needed, f"about {needed:,} records in all would decide {WITH_CHANCE}, if the rates stay as they are"
    if figure.unknown is not None and figure.unknown.still(_MOST) > 0:
        return None, "no number of records is in sight that would tell all directions; train labels would"
    return None, "the value is so near the limit that no number of records is in sight that would decide"


def records_for(least: float, held: float, records: float) -> int | None:
    """How many records in all would have at least ``least`` of those of which ``records`` have ``held``, with the same chance."""
    if not held > 0.0:
        return None
    share = min(held / records, 1.0)
    # The number among N records has the mean m = N share: least <= m - z sqrt(m (1 - share)).
    spread = _quantile(CHANCE) * np.sqrt(1.0 - share)
    root = (spread + np.sqrt(spread**2 + 4.0 * least)) / 2.0
    return rounded_up(float(root**2) / share)


def in_words(needed: int | None) -> str:
    """So many records would have as many, in words."""
    if needed is None:
        return ""
    return f"; about {needed:,} records in all would have as many {WITH_CHANCE}, if the shares stay as they are"


def chance(limit: Limit, figure: Figure, factor: float) -> float:
    """The chance that ``factor`` times as many records decide, if the truth is where the estimate is.

    Errors shrink with the root of the number of records, those that stand for errors which were not seen with that number. What comes from unknown directions stays until so many records tell
    them: the statistic of a direction grows with the same root, and varies by one.
    """
    value, low, high = figure.value, figure.low, figure.high
    assert is_number(value)
    assert is_number(low)
    assert is_number(high)
    root = float(np.sqrt(factor))
    unknown = figure.unknown
    middle, still, now = np.full(_SAMPLES, value), np.zeros(_SAMPLES), 0.0
    if unknown is not None:
        told = unknown.statistics * root + _normal(len(unknown.statistics) + 1)[:, 1:] >= unknown.needed
        middle = value - unknown.changes.sum() + told @ unknown.changes
        still, now = ~told @ unknown.sizes, unknown.still(1.0)
        value = value - float(unknown.changes.sum())
    below, above = max(value - now - low, 0.0), max(high - value - now, 0.0)
    least, most = limit.range
    # An end that is cut where no figure can lie says nothing of how far the error goes.
    below, above = max(below, above if low <= least else 0.0), max(above, below if high >= most else 0.0)
    # Errors that were not seen count in the ends as so many, however many records there are: their part shrinks faster.
    seen = 1.0 - figure.unseen
    error = (below + above) / 2.0 / figure.errors * np.sqrt(seen) / root
    found = middle + error * _normal(1)[:, 0]
    root = root / float(np.sqrt(seen + figure.unseen / factor))
    ceiling = np.inf if limit.max is None else limit.max
    floor = -np.inf if limit.min is None else limit.min
    lows, highs = found - still - below / root, found + still + above / root
    decided = (lows > ceiling) | (highs < floor) | ((floor <= lows) & (highs <= ceiling))
    # Ends are cut at the range of the figure, beyond which no limit lies.
    return float(decided.mean())


def _least(limit: Limit, figure: Figure) -> float | None:
    """The least factor that decides with that chance."""
    low = high = _STEP
    while chance(limit, figure, high) < CHANCE:
        low, high = high, high * 1.3
        if high >= _MOST:
            return None
    while high / low > _STEP:
        middle = float(np.sqrt(low * high))
        low, high = (low, middle) if chance(limit, figure, middle) >= CHANCE else (middle, high)
    return high


@cache
def _normal(columns: int) -> Floats:
    """Standard normal numbers, the first column in even steps of their chance."""
    from scipy.special import ndtri

    even = ndtri((np.arange(_SAMPLES) + 0.5) / _SAMPLES)[:, None]
    drawn = np.random.default_rng(0).standard_normal((_SAMPLES, columns - 1))
    return np.hstack([even, drawn])


def _quantile(chance: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(chance))
