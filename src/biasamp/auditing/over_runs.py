"""``biasamp.over_runs``: what a metric is over several training runs."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from biasamp.amplification.result import Amplification
from biasamp.data.plain_arguments import level_of, listed, one_of, shown, text_or_none
from biasamp.results import Table, text
from biasamp.results.interval import Interval, plain
from biasamp.results.metric_registry import range_of

from .as_audit import as_audit, is_audit
from .audit_result import Audit
from .comparison_models import refuse_same_run
from .document_types import Entry
from .record_covariance import standard_error
from .same_columns import other_tasks
from .same_predictions import copies

_METHODS = ("student", "normal")
# What differs from run to run unless it is said otherwise.
TRAINING_SEED = "training seed"


@dataclass(frozen=True, eq=False)
class Runs:
    """The mean of a figure over runs that differ in their seed, or in another source of variance.

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
    varies : str
        What differs from run to run, which is what ``seed_variance`` and the interval speak of.
    copies : int
        How many runs have the predictions of another: they say nothing of how seeds move a model, and make its
        figures look surer than they are. Known of audits alone.

    Examples
    --------
    >>> import biasamp
    >>> runs = biasamp.over_runs([0.10, 0.12, 0.11, 0.13, 0.09])
    >>> round(runs.value, 4), round(runs.seed_variance, 6)
    (0.11, 0.00025)
    >>> runs.confidence_interval().varies
    'training seed'
    """

    metric: str
    values: tuple[float, ...]
    seed_variance: float
    sampling_variance: float | None = None
    direction: str | None = None
    pairs: Table | None = None
    varies: str = TRAINING_SEED
    copies: int = 0

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
        level_of(level, "level")
        one_of(method, "method", _METHODS)
        count = len(self.values)
        error = float(np.sqrt(self.seed_variance / count))
        reach = quantile(level, count if method == "student" else None) * error
        name = f"Student's t over {count} runs" if method == "student" else f"normal over {count} runs"
        made = Interval(self.value - reach, self.value + reach, level, name, self.varies, error)
        return made.within(*range_of(self.metric))

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
            **({"copies": self.copies} if self.copies else {}),
        }


def quantile(level: float, count: int | None) -> float:
    """Student's two-sided quantile for a mean of ``count`` values, or the normal one."""
    from scipy.special import ndtri, stdtrit

    tail = 0.5 + level / 2.0
    return float(ndtri(tail) if count is None else stdtrit(count - 1, tail))


def over_runs(
    results: Sequence[Any],
    *,
    metric: str | None = None,
    direction: str | None = None,
    attribute: str | None = None,
    varies: str = TRAINING_SEED,
) -> Runs:
    """The mean and its interval over runs of the same model with different seeds.

    Fairness figures move with the seed of training as well as with the sample of test records. The interval
    over runs speaks of the seed alone, for the test records as they are; each result's own
    ``confidence_interval`` speaks of the records alone, for the run as it is.

    Parameters
    ----------
    results : sequence
        One result a run, all of the same metric and direction (from :func:`biasamp.directional`,
        :func:`biasamp.multi`, :func:`biasamp.mals`, or any object with a ``value``), or plain numbers; or one audit
        a run, in any form: what :func:`biasamp.audit` gave, the path of a saved one, counts, or the path of
        saved counts. At least two. One run that is given twice is refused; of runs with the same predictions a
        warning says so.
    metric, direction, attribute : str, optional
        Which figure of audits, where they have several.
    varies : str
        What differs from run to run, as the interval is to say it: ``"training seed"``, or another source of variance such as
        ``"train-test split"``, for runs whose records were split anew. Such an interval speaks of that source alone.

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
    >>> biasamp.over_runs([0.10, 0.15], varies="train-test split").confidence_interval().varies
    'train-test split'
    """
    runs = listed(results, "results", "results, one per run,")
    if len(runs) < 2:
        raise ValueError(f"results holds {'one run' if runs else 'no run'}: how runs vary needs at least two")
    chosen = {"metric": metric, "direction": direction, "attribute": attribute}
    for name, value in chosen.items():
        text_or_none(value, name)
    if not isinstance(varies, str) or not varies:
        raise TypeError(f"varies is {shown(varies)}; text is needed, such as {TRAINING_SEED!r} or 'train-test split'")
    refuse_same_run(runs, "results")
    if any(is_audit(run) for run in runs):
        of_audits = _of_audits(runs, {name: value for name, value in chosen.items() if value is not None})
        return replace(of_audits, varies=varies)
    named = next((name for name, value in chosen.items() if value is not None), None)
    if named is not None:
        raise TypeError(f"{named}= chooses a figure of audits; the results are no audits, but a figure each")
    kinds = {(getattr(run, "metric", "value"), getattr(run, "direction", None)) for run in runs}
    if len(kinds) > 1:
        found = ", ".join(sorted(f"{metric} {direction or ''}".strip() for metric, direction in kinds))
        raise ValueError(f"results are of different metrics or directions: {found}; give runs of one")
    values = tuple(_value(run, place) for place, run in enumerate(runs))
    (metric, direction) = kinds.pop()
    return Runs(
        str(metric),
        values,
        float(np.var(values, ddof=1)),
        _sampling_variance(runs),
        direction,
        _pairs(runs, str(metric)),
        varies,
    )


def _of_audits(runs: list[Any], chosen: dict[str, str]) -> Runs:
    """A figure of audits over the runs."""
    audits = [as_audit(run, f"results[{place}]") for place, run in enumerate(runs)]
    other = other_tasks(audits)
    if other is not None:
        place, words = other
        raise ValueError(
            f"results[0] and results[{place}] are audits of other tasks, {words}: a mean over them is of no one thing. Give audits of the same tasks"
        )
    twice = copies(audits)
    if len(audits) - len(twice) < 2:
        raise ValueError(
            f"the {len(audits)} results have the same predictions: copies of one run do not show how runs vary. Give the audits of "
            "different training runs"
        )
    if twice:
        before, place = twice[0]
        warnings.warn(
            f"{len(twice)} of {len(audits)} runs have the predictions of another (results[{before}] and results[{place}] are the first): copies "
            "of one run say nothing of how runs vary, and make the interval too short",
            UserWarning,
            stacklevel=3,
        )
    entries = [_entry(audit, place, chosen) for place, audit in enumerate(audits)]
    keys = {(entry["attribute"], entry["metric"], entry["direction"]) for entry in entries}
    if len(keys) > 1:
        raise ValueError(f"results are audits of different figures: {_listed(keys)}; name one with metric=")
    (_, metric, direction) = keys.pop()
    values = tuple(_value(np.nan if e["value"] is None else e["value"], place) for place, e in enumerate(entries))
    errors = [standard_error(entry, audit) for entry, audit in zip(entries, audits, strict=True)]
    known = [error**2 for error in errors if error is not None]
    sampling = float(np.mean(known)) if len(known) == len(errors) else None
    return Runs(
        metric,
        values,
        float(np.var(values, ddof=1)),
        sampling,
        direction,
        _pairs([_PairsOf(e) for e in entries], metric),
        copies=len(twice),
    )


def _entry(audit: Audit, place: int, chosen: dict[str, str]) -> Entry:
    """The one figure of an audit that was chosen."""
    entries = audit.document["metrics"]
    held = [entry for entry in entries if all(entry.get(name) == value for name, value in chosen.items())]
    if len(held) == 1:
        return held[0]
    asked = " ".join(f"{name}={value!r}" for name, value in chosen.items()) or "no choice"
    there = _listed({(entry["attribute"], entry["metric"], entry["direction"]) for entry in held or entries})
    raise ValueError(
        f"results[{place}] is an audit with {len(held)} figures for {asked}; choose one with metric=, direction= and "
        f"attribute= among {there}"
    )


def _listed(keys: Iterable[tuple[str, str, str | None]]) -> str:
    return ", ".join(sorted(" ".join(filter(None, key)) for key in keys))


class _PairsOf:
    """The pairs of an audit's figure, where it has any."""

    def __init__(self, entry: Entry) -> None:
        self.pairs = Table.from_rows(entry.get("pairs", []))


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


def _pairs(runs: list[Any], metric: str) -> Table | None:
    """Every pair over the runs; a pair is a difference of two rates, or its size."""
    if not all(isinstance(run, (Amplification, _PairsOf)) and "amplification" in run.pairs.columns for run in runs):
        return None
    names = [list(zip(run.pairs["given"], run.pairs["outcome"], strict=True)) for run in runs]
    if any(name != names[0] for name in names[1:]):
        return None
    amplification = np.stack([run.pairs["amplification"] for run in runs])
    mean = amplification.mean(axis=0)
    reach = quantile(0.95, len(runs)) * amplification.std(axis=0, ddof=1) / np.sqrt(len(runs))
    least, most = np.clip(range_of(metric), -1.0, 1.0)
    low, high = np.clip(mean - reach, least, most), np.clip(mean + reach, least, most)
    named = {"given": text([given for given, _ in names[0]]), "outcome": text([outcome for _, outcome in names[0]])}
    return Table({**named, "amplification": mean, "low": low, "high": high})
