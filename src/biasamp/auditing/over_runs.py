"""``biasamp.over_runs``: what a metric is over several training runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasamp.amplification.result import Amplification
from biasamp.results import Table, text
from biasamp.results.interval import Interval, plain

_METHODS = ("student", "normal")


@dataclass(frozen=True, eq=False)
class Runs:
    """The mean of a figure over runs that differ in their seed.

    Attributes
    ----------
    metric : str
        What was measured.
    values : tuple of float
        The value of every run.
    value : float
        Their mean.
    seed_variance : float
        How much runs vary: the sample variance of the values. It says nothing of other test records.
    sampling_variance : float or None
        How much one run's value would vary with other test records: the mean of the runs' squared
        closed-form errors; None where results carry none.
    pairs : Table or None
        Every pair's mean amplification over the runs with its Student interval, where all runs have it.
    """

    metric: str
    values: tuple[float, ...]
    seed_variance: float
    sampling_variance: float | None = None
    direction: str | None = None
    pairs: Table | None = None

    @property
    def value(self) -> float:
        """The mean over the runs."""
        return float(np.mean(self.values))

    def confidence_interval(self, level: float = 0.95, method: str = "student") -> Interval:
        r"""An interval for the mean over seeds, on the same test records.

        Parameters
        ----------
        level : float
            The confidence level.
        method : {"student", "normal"}
            ``"student"``: Student's t at one degree of freedom less than there are runs. ``"normal"``:
            :math:`1.96\,s / \sqrt n`, as papers often print it: with five runs it is 1.4 times narrower at
            95% and covers 88% of the time.
        """
        if not 0.0 < level < 1.0:
            raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
        if method not in _METHODS:
            raise ValueError(f"method is {method!r}; use one of {', '.join(map(repr, _METHODS))}")
        count = len(self.values)
        error = float(np.sqrt(self.seed_variance / count))
        reach = quantile(level, count if method == "student" else None) * error
        name = f"Student's t over {count} runs" if method == "student" else f"normal over {count} runs"
        return Interval(self.value - reach, self.value + reach, level, name, "training seed", error)

    def to_dict(self) -> dict[str, Any]:
        """The figures in plain Python values."""
        interval = self.confidence_interval()
        return {
            "metric": self.metric,
            "direction": self.direction,
            "value": plain(self.value),
            "interval": [plain(interval.low), plain(interval.high)],
            "varies": interval.varies,
            "values": [plain(value) for value in self.values],
            "seed_variance": plain(self.seed_variance),
            "sampling_variance": plain(self.sampling_variance),
        }


def quantile(level: float, count: int | None) -> float:
    """Student's two-sided quantile for a mean of ``count`` values, or the normal one."""
    from scipy.special import ndtri, stdtrit

    tail = 0.5 + level / 2.0
    return float(ndtri(tail) if count is None else stdtrit(count - 1, tail))


def over_runs(results: Sequence[Any]) -> Runs:
    """The mean and its interval over runs of the same model with different seeds.

    Fairness figures move with the seed of training as well as with the sample of test records. The interval
    over runs speaks of the seed alone, for the test records as they are; each result's own
    ``confidence_interval`` speaks of the records alone, for the run as it is.

    Parameters
    ----------
    results : sequence
        One result a run, all of the same metric and direction (from :func:`biasamp.directional`,
        :func:`biasamp.multi`, :func:`biasamp.mals`, or any object with a ``value``), or plain numbers. At
        least two.

    Returns
    -------
    Runs
        With ``.value``, ``.confidence_interval(level, method="student")``, ``.seed_variance`` and
        ``.sampling_variance``.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML. Sec. 5.2.

    Examples
    --------
    >>> import biasamp
    >>> runs = biasamp.over_runs([0.10, 0.12, 0.11, 0.13, 0.09])
    >>> interval = runs.confidence_interval()
    >>> round(runs.value, 4), round(interval.low, 4), round(interval.high, 4), interval.varies
    (0.11, 0.0904, 0.1296, 'training seed')
    """
    if isinstance(results, (str, bytes)) or not hasattr(results, "__iter__"):
        raise TypeError(f"results must be a sequence of results, one a run, found {type(results).__name__}")
    runs = list(results)
    if len(runs) < 2:
        raise ValueError(f"results holds {len(runs)} run: how runs vary needs at least two")
    kinds = {(getattr(run, "metric", "value"), getattr(run, "direction", None)) for run in runs}
    if len(kinds) > 1:
        found = ", ".join(sorted(f"{metric} {direction or ''}".strip() for metric, direction in kinds))
        raise ValueError(f"results are of different metrics or directions: {found}; give runs of one")
    values = tuple(_value(run, place) for place, run in enumerate(runs))
    (metric, direction) = kinds.pop()
    return Runs(str(metric), values, float(np.var(values, ddof=1)), _sampling_variance(runs), direction, _pairs(runs))


def _value(run: Any, place: int) -> float:
    try:
        value = float(getattr(run, "value", run))
    except (TypeError, ValueError):
        raise TypeError(f"results[{place}] is {type(run).__name__}: neither a result nor a number") from None
    if not np.isfinite(value):
        raise ValueError(f"results[{place}] has the value {value}: leave out runs without one, and say so")
    return value


def _sampling_variance(runs: list[Any]) -> float | None:
    """The mean squared closed-form error of the runs, where each has one."""
    if not all(isinstance(run, Amplification) and run.interval_maker() is not None for run in runs):
        return None
    errors = [run.quiet_interval(method="closed_form").standard_error for run in runs]
    return None if None in errors else float(np.mean([error**2 for error in errors]))


def _pairs(runs: list[Any]) -> Table | None:
    """Every pair over the runs."""
    if not all(isinstance(run, Amplification) for run in runs):
        return None
    names = [list(zip(run.pairs["given"], run.pairs["outcome"], strict=True)) for run in runs]
    if any(name != names[0] for name in names[1:]):
        return None
    amplification = np.stack([run.pairs["amplification"] for run in runs])
    mean = amplification.mean(axis=0)
    reach = quantile(0.95, len(runs)) * amplification.std(axis=0, ddof=1) / np.sqrt(len(runs))
    named = {"given": text([given for given, _ in names[0]]), "outcome": text([outcome for _, outcome in names[0]])}
    return Table({**named, "amplification": mean, "low": mean - reach, "high": mean + reach})
