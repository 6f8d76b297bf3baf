"""Pass, fail or not enough evidence: one figure against one limit, and many pairs against the same limit."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from biasamp.resampling.significance import normal_quantile

from .figure import Figure, is_number
from .limits import Limit
from .more_records import more_records
from .verdict import FAIL, PASS, UNDECIDED


@dataclass(frozen=True)
class Decision:
    """An outcome, the figure as it was judged, and what is said of it."""

    outcome: str
    shown: str
    words: str
    records_needed: int | None = None


def decide(limit: Limit, figure: Figure) -> Decision:
    """The outcome of one figure."""
    value, low, high = figure.value, figure.low, figure.high
    if figure.doubt is not None:
        return Decision(UNDECIDED, "", figure.doubt, figure.needed)
    if not is_number(value):
        return Decision(UNDECIDED, "", "the value is undefined")
    if limit.on == "value":
        low = high = value
        shown = f"{value:+.4f}"
    elif not (is_number(low) and is_number(high)):
        return Decision(UNDECIDED, f"{value:+.4f}", 'has no interval; on = "value" would judge the value alone')
    else:
        shown = f"{value:+.4f}{', bounds' if figure.bounded else ''} [{low:+.4f}, {high:+.4f}]"
    signs = f", with {_directions(figure)} at the worse sign" if figure.bounded else ""
    beyond = ", whichever their signs" if figure.bounded else ""
    if limit.on == "value":
        signs = beyond = " (the value alone, with signs as estimated)" if figure.bounded else " (the value alone)"
    outcome = _side(limit, low, high)
    if outcome != FAIL and figure.withheld is not None:
        return Decision(UNDECIDED, shown, figure.withheld, figure.needed)
    if outcome == PASS:
        return Decision(PASS, shown, f"lies within {limit.bounds}{signs}")
    if outcome == FAIL and figure.fails:
        return Decision(FAIL, shown, f"lies beyond {limit.bounds}{beyond}")
    if outcome == FAIL:
        return Decision(UNDECIDED, shown, f"lies beyond {limit.bounds}, but groups count in it that the policy ignores")
    needed, words = more_records(limit, figure)
    return Decision(UNDECIDED, shown, f"reaches over {limit.bounds}{signs}: {words}", needed)


def _directions(figure: Figure) -> str:
    if figure.directions is None:
        return "unknown directions"
    unknown, many = figure.directions
    return f"{unknown:,} unknown of {many:,} directions" if many > 1 else "the unknown direction"


def _ends(limit: Limit) -> tuple[float, float]:
    """Between which values a limit lets a figure lie."""
    return float("-inf") if limit.min is None else limit.min, float("inf") if limit.max is None else limit.max


def _side(limit: Limit, low: float, high: float) -> str:
    floor, ceiling = _ends(limit)
    if low > ceiling or high < floor:
        return FAIL
    return PASS if floor <= low and high <= ceiling else UNDECIDED


def failures_corrected(
    limit: Limit, figures: Sequence[Figure], decisions: Sequence[Decision], level: float
) -> list[Decision]:
    """The decisions on many pairs, of which those fail that lie beyond the limit after Holm's correction.

    All pairs have to pass, so the chance that a model at its limit passes does not grow with their number; the
    chance that one of many lies beyond it by accident does. A pair's direction has to be as sure as its size.
    """
    failing = [place for place, decision in enumerate(decisions) if decision.outcome == FAIL]
    if limit.on == "value" or len(figures) < 2 or not failing:
        return list(decisions)
    out = list(decisions)
    chances = {place: _chance_below(limit, figures[place], level) for place in failing}
    alpha = (1.0 - level) / 2.0
    stopped = False
    for rank, place in enumerate(sorted(failing, key=lambda place: chances[place])):
        stopped = stopped or chances[place] > alpha / (len(figures) - rank)
        if stopped:
            words = f"lies beyond {limit.bounds} by itself, but one of {len(figures):,} may by accident"
            out[place] = replace(out[place], outcome=UNDECIDED, words=words)
    return out


def _chance_below(limit: Limit, figure: Figure, level: float) -> float:
    """The one-sided p-value of lying within the limit, from the interval of the pair, and that of its direction."""
    from scipy.special import ndtr

    low, high = figure.low, figure.high
    assert low is not None
    assert high is not None
    error = (high - low) / (2.0 * normal_quantile(level))
    floor, ceiling = _ends(limit)
    beyond = max(low - ceiling, floor - high)
    distance = np.inf if error == 0 else (beyond + (high - low) / 2.0) / error
    sign = 0.0 if figure.sign_p is None else figure.sign_p / 2.0
    return max(float(ndtr(-distance)), sign)
