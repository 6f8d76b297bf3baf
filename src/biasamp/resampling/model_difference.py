"""Two models side by side: is one's figure different from the other's, beyond what sampling explains?"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from .intervals import percentile_interval

Floats = NDArray[np.float64]

UNDECIDED = "the data cannot tell them apart"
SAME = "they are the same on every resample"


@dataclass(frozen=True)
class Difference:
    """The second model's figure minus the first one's.

    Attributes
    ----------
    value, low, high, level : float
        The difference and its interval.
    paired : bool
        Whether both models were resampled on the same records, so that what they share drops out.
    standard_error : float
        Of the difference.
    verdict : str
        In plain words; :data:`UNDECIDED` where the interval holds 0.
    method : str
        How the interval was made, with why it is unpaired where it is.
    """

    value: float
    low: float
    high: float
    level: float
    paired: bool
    standard_error: float
    verdict: str
    method: str

    @property
    def decided(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low > 0.0 or self.high < 0.0


def compare_values(
    first: float,
    second: float,
    first_values: Floats,
    second_values: Floats,
    *,
    unpaired: str | None = None,
    unseen: float = 0.0,
    fewest: float = 0.0,
    apart: float | None = None,
    level: float = 0.95,
    names: tuple[str, str] = ("the first", "the second"),
    more: str = "amplifies more",
    less: str = "amplifies less",
) -> Difference:
    """The difference of one figure between two models, from the values of their resamples.

    ``first`` and ``second`` are the figures on the data, ``first_values`` and ``second_values``, of shape (resamples,),
    those of keyed resamples. ``unpaired`` says why these are not of the same records and seed; without it value ``i``
    of both comes from the same resample, and differences are taken one by one. ``unseen`` is the variance that records
    add in which the models differ and that were not seen: four records that differ, all one way, are too few to decide
    by. ``fewest`` are the records of the smallest group, which the interval of two models that never differ goes by:
    ``1 - (alpha / 2) ** (1 / n)`` either way. Without both there is none. ``apart`` is the standard error of the difference of models that have nothing
    in common: resamples of a figure at the end of its range, such as a mean of sizes that are all 0, may not move though the figure does. ``more`` and ``less`` say in the verdict what a higher and a lower figure of the second model mean.

    Unpaired resamples may still share their random numbers, where records without an id have the same row
    numbers in both. Their differences are therefore taken against resamples half the list away, which are
    independent, and the variances add up.

    Examples
    --------
    >>> import numpy as np
    >>> shared = np.random.default_rng(0).normal(size=2000)
    >>> compare_values(0.0, 0.1, 0.0 + shared, 0.1 + shared).verdict
    'the second amplifies more than the first'
    >>> compare_values(0.0, 0.1, 0.0 + shared, 0.1 + shared, unpaired="the records differ").verdict
    'the data cannot tell them apart'
    """
    from scipy.special import ndtri

    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
    if unpaired is None and len(first_values) != len(second_values):
        unpaired = f"{len(first_values):,} resamples of one and {len(second_values):,} of the other"
    if unpaired is None:
        moved = second_values - first_values
        method = "paired bootstrap percentile"
    else:
        count = min(len(first_values), len(second_values))
        moved = np.roll(second_values[:count], count // 2) - first_values[:count]
        method = f"unpaired bootstrap percentile ({unpaired})"
    # One resample with a value is no interval.
    low, high, error = float("nan"), float("nan"), float("nan")
    if (~np.isnan(moved)).sum() > 1:
        low, high = percentile_interval(moved, level)
        error = float(np.nanstd(moved, ddof=1))
    same = error == 0.0 and low == high == second - first == 0.0
    # Where differences are all the same, either figure is moved if the other is.
    still = error == 0.0 and not np.nanstd(first_values) > 0.0
    if (unseen or fewest) and error == 0.0:
        # No resample moves the difference: only records that were not seen can. Models that agree in all n records may
        # differ in a share of others which n records miss with the chance that the interval allows.
        quantile = float(ndtri(0.5 + level / 2.0))
        missed = 1.0 - ((1.0 - level) / 2.0) ** (1.0 / fewest) if fewest else 0.0
        reach = max(quantile * float(np.sqrt(unseen)), missed)
        if still and apart is not None and quantile * apart > reach:
            same, reach, method = False, quantile * apart, "of the intervals of both: no resample moves the figures"
        error = reach / quantile
        low, high = second - first - reach, second - first + reach
    elif unpaired is None and unseen:
        stretch = float(np.sqrt(1.0 + unseen / error**2))
        error *= stretch
        # Resamples of few records lean away from 0, where the truth does not: the normal ends hold, too.
        value, reach = second - first, float(ndtri(0.5 + level / 2.0)) * error
        low = min(value + stretch * (low - value), value - reach)
        high = max(value + stretch * (high - value), value + reach)
    if error == 0.0:
        low = high = float("nan")
        method += "; no resample moves the difference, so that there is no interval"
    made = _difference(second - first, low, high, level, unpaired is None, error, names, (more, less), method)
    return replace(made, verdict=SAME) if same else made


def compare_extremes(
    first: float,
    second: float,
    first_interval: tuple[float, float],
    second_interval: tuple[float, float],
    correlation: float = 0.0,
    *,
    biases: tuple[float, float] = (0.0, 0.0),
    unpaired: str | None = None,
    level: float = 0.95,
    names: tuple[str, str] = ("the first", "the second"),
    more: str = "amplifies more",
    less: str = "amplifies less",
) -> Difference:
    r"""The difference of figures that are each the largest of several, where another one is the largest in each model.

    The largest of several is drawn up by chance, and the more so the less they differ: resamples of the two that came
    out largest know nothing of it. The intervals of both figures, of one level, do; with distances :math:`a` of the
    second's lower and :math:`b` of the first's upper end, the difference reaches down by
    :math:`\sqrt{a^2 + b^2 - 2 r a b}` (MOVER), and up likewise. How far each may have been drawn up (``biases``) is no
    matter of chance: that part of a distance is added as it is, and the rest by the rule.

    References
    ----------
    Zou, G. (2007). Toward using confidence intervals to compare correlations. Psychological Methods 12, 399-413.

    Examples
    --------
    >>> made = compare_extremes(0.10, 0.25, (0.0, 0.22), (0.12, 0.37))
    >>> round(made.low, 4), round(made.high, 4)
    (-0.0269, 0.3062)
    """
    below, above = second - second_interval[0], second_interval[1] - second
    under, over = first - first_interval[0], first_interval[1] - first
    value = second - first
    drawn_up = [min(max(bias, 0.0), reach) for bias, reach in zip(biases, (under, below), strict=True)]
    under, below = under - drawn_up[0], below - drawn_up[1]
    low = value - drawn_up[1] - np.sqrt(max(below**2 + over**2 - 2.0 * correlation * below * over, 0.0))
    high = value + drawn_up[0] + np.sqrt(max(above**2 + under**2 - 2.0 * correlation * above * under, 0.0))
    method = "of the intervals of both (MOVER), as each was selected of several"
    if unpaired is not None:
        method = f"unpaired ({unpaired}), {method}"
    from scipy.special import ndtri

    error = float((high - low) / (2.0 * ndtri(0.5 + level / 2.0)))
    return _difference(value, float(low), float(high), level, unpaired is None, error, names, (more, less), method)


def compare_errors(
    first: float,
    second: float,
    first_error: float,
    second_error: float,
    *,
    paired_error: float | None = None,
    halves: int = 0,
    fewest: float = 0.0,
    unpaired: str | None = None,
    level: float = 0.95,
    names: tuple[str, str] = ("the first", "the second"),
    more: str = "amplifies more",
    less: str = "amplifies less",
) -> Difference:
    """As :func:`compare_values` where only standard errors are known: by the normal approximation.

    ``paired_error`` is that of the difference, from so many ``halves`` of records that both models were measured on; it is 0 where none of
    them told the models apart. Without it the two are unpaired.
    """
    from scipy.special import stdtrit

    if not 0.0 < level < 1.0:
        raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
    quantile = _normal(level)
    error, method = float(np.hypot(first_error, second_error)), "unpaired closed form (no resamples)"
    if unpaired is not None:
        method = f"unpaired closed form ({unpaired})"
    if paired_error is not None:
        error, method = paired_error, f"paired, of {halves:,} halves of the records"
        quantile = float(stdtrit(max(halves - 1, 1), 0.5 + level / 2.0))
    value = second - first
    same = error == 0.0 and value == 0.0
    if same and fewest:
        error = (1.0 - ((1.0 - level) / 2.0) ** (1.0 / fewest)) / quantile
    reach = quantile * error if error > 0.0 else float("nan")
    made = _difference(
        value, value - reach, value + reach, level, paired_error is not None, error, names, (more, less), method
    )
    return replace(made, verdict=SAME) if same else made


def _normal(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(0.5 + level / 2.0))


def _difference(
    value: float,
    low: float,
    high: float,
    level: float,
    paired: bool,
    error: float,
    names: tuple[str, str],
    words: tuple[str, str],
    method: str,
) -> Difference:
    if np.isnan(low) or np.isnan(high):
        verdict = "the difference is undefined: too few resamples hold a value"
    elif low > 0.0 or high < 0.0:
        verdict = f"{names[1]} {words[0] if low > 0.0 else words[1]} than {names[0]}"
    else:
        verdict = UNDECIDED
    return Difference(value, low, high, level, paired, error, verdict, method)
