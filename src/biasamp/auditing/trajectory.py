"""``biasamp.trajectory``: a figure over windows, generations, checkpoints or bit widths."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.association.association_result import Association
from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.storage import is_counts, load_counts
from biasamp.data import printable
from biasamp.data.plain_arguments import level_of, listed, names_of, number
from biasamp.resampling.trend import ControlLimits, Slope
from biasamp.results.interval import figure, figure_with_interval, plain
from biasamp.results.metric_registry import METRICS, is_signed, range_of
from biasamp.results.renderers import render
from biasamp.results.table import Table, written

from .as_audit import FORMS, as_audit, is_audit
from .audit_result import Audit
from .trajectory_series import SHARE, Series, audit_series, share_series

Floats = NDArray[np.float64]
SCHEMA = 1
# Characters of a line that is printed.
_LINE = 4000
_FEW_STEPS = (
    "Fewer than five steps do not show how much steps vary by themselves: control limits then know of records alone, and are left more often "
    "than they should be where steps vary besides."
)
# What a slope may be called.
RISES, FALLS, UNDECIDED, SCATTERED = "rises", "falls", "undecided", "scattered"


@dataclass(frozen=True, eq=False)
class Trajectory:
    """Figures along steps.

    Attributes
    ----------
    document : dict
        ``steps``, ``figures`` (each with its points and its trend) and ``notes``, in plain values that JSON can hold.

    Examples
    --------
    >>> import biasamp
    >>> group = ["woman", "man"] * 40
    >>> hired, model = [0, 1, 1, 1] * 20, [0, 1] * 40
    >>> data = {"group": group, "hired": hired, "model": model}
    >>> def step(missed: int) -> biasamp.AuditCounts:
    ...     said = [0] * missed + model[missed:]
    ...     held = {**data, "model": said}
    ...     return biasamp.count(held, attributes="group", tasks="hired", task_predictions="model")
    ...
    >>> path = biasamp.trajectory({f"week {number}": step(number) for number in range(4)})
    >>> path.steps
    ('week 0', 'week 1', 'week 2', 'week 3')
    >>> len(path.trends)
    7
    """

    document: dict[str, Any]

    @property
    def steps(self) -> tuple[str, ...]:
        """The names of the steps."""
        return tuple(step["name"] for step in self.document["steps"])

    @property
    def notes(self) -> tuple[str, ...]:
        """What to know of all figures: pairing, and what was left out."""
        return tuple(self.document["notes"])

    @property
    def table(self) -> Table:
        """One row for each figure and step.

        Columns: attribute, metric, direction, label, step, at; value, low, high; the change against the first step and against the one
        before, each with its interval; the control limits, and whether the value is outside them (``left``).
        """
        return Table.from_rows(
            [{**_named(held), **point} for held in self.document["figures"] for point in held["points"]]
        )

    @property
    def trends(self) -> Table:
        """One row for each figure: slope, low, high, p, whether it is paired, its verdict and the first step outside limits."""
        return Table.from_rows([{**_named(held), **held["trend"]} for held in self.document["figures"]])

    def __str__(self) -> str:
        return "\n".join(printable(held["words"], _LINE) for held in self.document["figures"])

    def to_dict(self) -> dict[str, Any]:
        """The trajectory in plain Python values."""
        return self.document

    def to_json(self, path: str | Path | None = None) -> str:
        """The trajectory as JSON text, which is also written to ``path`` where one is given."""
        return written(json.dumps(self.document, allow_nan=False, ensure_ascii=False, indent=1), path)

    def to_frame(self, backend: str | None = None) -> Any:
        """The table as a dataframe."""
        return self.table.to_frame(backend)

    def to_html(self, path: str | Path) -> None:
        """Write the trajectory as one HTML file that needs nothing else: trends first, then each figure drawn."""
        render("trajectory page", self, path)

    def _repr_html_(self) -> str:
        return str(render("trajectory table", self))

    def plot(self) -> Any:
        """Every figure with its intervals, line and control limits as a matplotlib figure. Needs the extra ``plot``."""
        return render("trajectory figure", self.document)


def trajectory(
    steps: Mapping[str, Any],
    *,
    at: Sequence[float] | None = None,
    metrics: str | Sequence[str] | None = None,
    labels: str | Sequence[str] | None = None,
    level: float = 0.95,
) -> Trajectory:
    r"""How figures move along windows of time, generations, checkpoints or bit widths.

    For each figure: its value with its interval at each step, the change against the first step and the one before, the trend,
    and control limits with the first step that leaves them.

    The trend is the slope :math:`\sum_s c_s v_s` of least squares. Where all steps are of the same records the line counts them alike and
    the covariance of their values is known, from paired resamples or bags: what steps share drops out. Else steps count by the inverse of their
    variance. The interval speaks of other records, with the steps as they are. ``p`` also knows of steps: it is no smaller than that of an
    ordinary regression of the steps, with Student's t. What records decide and steps do not is called a change along these steps, not a trend. Verdicts are judged together (Holm).

    The control limits of a step are those of the mean of the steps before it that were within theirs. Where records explain all
    that steps vary by, all figures with all their steps stay inside with the chance ``level`` while nothing changes. What steps vary
    by besides is known from the distances of neighbours, with five steps or more, and widens the limits.

    Parameters
    ----------
    steps : mapping
        A name and an audit for each step, in order (else they are put in the order of where they are): what :func:`biasamp.audit` gave, the path of a saved one, counts or the
        path of saved counts. Or, for all of them, counts of associations (:func:`biasamp.count` with identities) or what
        :func:`biasamp.associate` gave: then the share of each identity's records that have a label is followed.
    at : sequence of float, optional
        Where the steps are. By default names that are numbers, years and months (``2026-01``) or dates say it; else steps are one apart.
    metrics : str or sequence of str, optional
        Which metrics of audits; all by default.
    labels : str or sequence of str, optional
        Which labels of associations; the 20 most frequent by default. Of an identity its share of all records is followed, too.
    level : float
        The confidence level of slopes, changes and limits. Intervals of audits' values have the level of the audit.

    Returns
    -------
    Trajectory
        ``.table``, ``.trends``, ``.plot()``, and in words as text.

    See Also
    --------
    compare : two models side by side.
    over_runs : the mean over runs that differ in their seed.

    Notes
    -----
    Simulated with 3 to 24 steps without a trend, ``p`` was below .05 in 1 to 6% of samples, whether records explain all scatter or steps vary
    besides by up to three standard errors, and some step was outside its limits in 1 to 6% with 5 to 24 steps: limits then have Student's quantiles, as what steps
    vary by is itself an estimate (``python -m benchmarks trajectories``). With fewer than five steps limits know of records alone, and the words and a note say so.

    Examples
    --------
    A model trained on its own output, generation after generation; the articles are the same ones.

    >>> import biasamp
    >>> rising = {}
    >>> for generation in range(1, 6):
    ...     leaning = ["right" if (7 * i) % 50 < 15 + 4 * generation else "left" for i in range(200)]
    ...     data = {"id": range(200), "says": [["model", side] for side in leaning]}
    ...     rising[str(generation)] = biasamp.count(data, identities=["model"], label="says", record="id", pairable=True)
    >>> found = biasamp.trajectory(rising, labels="right")
    >>> row = next(found.trends.rows())
    >>> round(row["slope"], 4), row["paired"], row["verdict"]
    (0.08, True, 'rises')
    """
    if not isinstance(steps, Mapping) or len(steps) < 2:
        raise ValueError("steps must be a mapping of at least two names to audits or counts, in order")
    level_of(level, "level")
    names = [str(name) for name in steps]
    if len(set(names)) < len(names):
        raise ValueError("steps has two names that read the same")
    places, unit = _positions(names, at)
    held = [_loaded(value, name) for name, value in zip(names, steps.values(), strict=True)]
    about: list[str] = []
    if not (np.all(np.diff(places) > 0.0) or np.all(np.diff(places) < 0.0)):
        order = np.argsort(places).tolist()
        places, names, held = places[order], [names[i] for i in order], [held[i] for i in order]
        about.append(
            f"Steps were not given in order: they are taken from {names[0]} to {names[-1]}, by where they are."
        )
    of_labels = [isinstance(value, AssociationCounts) for value in held]
    if any(of_labels) and not all(of_labels):
        raise TypeError("steps holds both audits and counts of associations; give one kind")
    chosen_labels = None if labels is None else names_of(labels, "labels", "labels")
    chosen = None if metrics is None else _metrics(metrics)
    if all(of_labels):
        if chosen is not None:
            raise ValueError("metrics= chooses figures of audits; counts of associations have shares: leave it out")
        series, notes = share_series(held, names, places, chosen_labels, level)
    else:
        if chosen_labels is not None:
            raise ValueError("labels= chooses labels of associations; steps are audits: leave it out")
        audits = [as_audit(value, name) for name, value in zip(names, held, strict=True)]
        series, notes = audit_series(audits, names, places, chosen)
        about += _copies(audits, names)
    if not series:
        raise ValueError("steps have no figure with an interval in common: nothing can be followed")
    return Trajectory(_document(series, [*about, *notes], names, places, unit, level))


def _loaded(value: Any, name: str) -> Any:
    """A step as an audit in some form, or as counts of associations."""
    if isinstance(value, Association):
        return value.values.counts
    if isinstance(value, (str, os.PathLike)) and is_counts(value):
        return load_counts(Path(value))
    if isinstance(value, AssociationCounts) or is_audit(value):
        return value
    raise TypeError(f"steps[{name!r}] is a {type(value).__name__}; {FORMS}, or counts of associations, is needed")


def _copies(audits: Sequence[Audit], names: Sequence[str]) -> list[str]:
    """Steps with the records and predictions of an earlier one, which may be the same file given twice."""
    first: dict[str, str] = {}
    out = []
    for audit, name in zip(audits, names, strict=True):
        mark = audit.document["data"].get("fingerprint")
        if mark is not None and mark in first:
            out.append(
                f"{first[mark]} and {name} have the same predictions for the same records: see whether one was given twice."
            )
        elif mark is not None:
            first[mark] = name
    return out


def _metrics(metrics: Any) -> list[str]:
    chosen = names_of(metrics, "metrics", "names of metrics")
    if not chosen:
        raise ValueError("metrics is empty: name at least one, or leave it out")
    for name in chosen:
        if name not in METRICS:
            raise ValueError(f"metrics has {name!r}, which is no metric; there are {', '.join(METRICS)}")
    return chosen


def _positions(names: list[str], at: Any) -> tuple[Floats, str]:
    """Where steps are, and what one unit of it is called."""
    if at is not None:
        found = [number(value, "at") for value in listed(at, "at", "numbers")]
        if len(found) != len(names) or len(set(found)) < len(found):
            raise ValueError(
                f"at has {len(found)} numbers for {len(names)} steps; one for each is needed, all different"
            )
        return np.array(found), "unit"
    readings: tuple[tuple[str, str, Any], ...] = (
        ("unit", r"[+-]?\d+(\.\d+)?", float),
        ("month", r"\d{4}-(0[1-9]|1[0-2])", lambda name: 12.0 * int(name[:4]) + int(name[5:])),
        ("day", r"\d{4}-\d{2}-\d{2}", lambda name: float(date.fromisoformat(name).toordinal())),
    )
    for unit, form, read in readings:
        if all(re.fullmatch(form, name) for name in names):
            try:
                found = [read(name) for name in names]
            except ValueError as error:
                raise ValueError(f"steps has a name that is no date: {error}") from None
            if len(set(found)) == len(found):
                return np.array(found), unit
    return np.arange(len(names), dtype=np.float64), "step"


def _document(
    series: list[Series], notes: list[str], names: list[str], places: Floats, unit: str, level: float
) -> dict[str, Any]:
    slopes = [held.steps.slope(level) for held in series]
    decided = _holm([slope.p for slope in slopes], 1.0 - level)
    by_records = _holm([slope.records_p for slope in slopes], 1.0 - level)
    verdicts = [_verdict(*held) for held in zip(slopes, decided, by_records, strict=True)]
    # All figures together are outside their limits by chance as seldom as one would be.
    limits = [held.steps.control(1.0 - (1.0 - level) / len(series)) for held in series]
    if not all(held.steps.tells_wander for held in series):
        notes = [*notes, _FEW_STEPS]
    from biasamp import __version__

    return {
        "schema": SCHEMA,
        "version": __version__,
        "level": level,
        "unit": unit,
        "steps": [{"name": name, "at": plain(place)} for name, place in zip(names, places, strict=True)],
        "figures": [
            _figure(held, slope, verdict, limit, names, unit, level)
            for held, slope, verdict, limit in zip(series, slopes, verdicts, limits, strict=True)
        ],
        "notes": list(dict.fromkeys(notes)),
    }


def _holm(p: list[float], alpha: float) -> list[bool]:
    """Which of several hypotheses are rejected, such that any wrong one is with the chance alpha at most."""
    known = [i for i, value in enumerate(p) if not np.isnan(value)]
    out = [False] * len(p)
    for rank, i in enumerate(sorted(known, key=lambda i: p[i])):
        if p[i] > alpha / (len(known) - rank):
            break
        out[i] = True
    return out


def _verdict(slope: Slope, sure: bool, by_records: bool) -> str:
    """What a slope may be called: a trend where other records and other steps would show it too."""
    if sure:
        return RISES if slope.value > 0.0 else FALLS
    return SCATTERED if by_records else UNDECIDED


def _figure(
    held: Series, slope: Slope, verdict: str, limits: ControlLimits, names: list[str], unit: str, level: float
) -> dict[str, Any]:
    """One figure: its points, its trend, and both in words."""
    points = []
    # No value is beyond the range of its figure, and no limit needs to be.
    least, most = (0.0, 1.0) if held.metric == SHARE else range_of(held.metric)
    limits = replace(limits, low=np.clip(limits.low, least, most), high=np.clip(limits.high, least, most))
    for step, place in enumerate(held.places.tolist()):
        point = {
            "step": names[place],
            "at": plain(held.steps.at[step]),
            "value": plain(held.steps.values[step]),
            "low": plain(held.low[step]),
            "high": plain(held.high[step]),
        }
        for kind, other in (("first", 0), ("before", step - 1)):
            change = held.steps.change(step, other, level) if step else None
            point[f"change_{kind}"] = None if change is None else plain(change.value)
            point[f"change_{kind}_low"] = None if change is None else plain(change.low)
            point[f"change_{kind}_high"] = None if change is None else plain(change.high)
        point["control_low"], point["control_high"] = plain(limits.low[step]), plain(limits.high[step])
        point["left"] = bool(limits.left[step])
        points.append(point)
    first = limits.first_left
    trend = {
        "slope": plain(slope.value),
        "low": plain(slope.low),
        "high": plain(slope.high),
        "p": plain(slope.p),
        "scatter": plain(slope.scatter),
        "paired": held.steps.paired,
        "steps": len(points),
        "verdict": verdict,
        "first_left": "" if first is None else names[int(held.places[first])],
    }
    return {
        "attribute": held.attribute,
        "metric": held.metric,
        "direction": held.direction,
        "label": held.label,
        "points": points,
        "trend": trend,
        "words": _words(held, slope, verdict, limits, points, unit),
    }


def _words(
    held: Series, slope: Slope, verdict: str, limits: ControlLimits, points: list[dict[str, Any]], unit: str
) -> str:
    size = f"{figure_with_interval(slope.value, slope.low, slope.high)} per {unit}"
    how = f"{'paired' if held.steps.paired else 'weighted'}, {len(points)} steps"
    scattered = f"changes by {size} along these steps ({how}), "
    if slope.scatter > 1.0:
        scattered += f"but they scatter about the line {slope.scatter:.1f} times as much as records explain: other steps may show no trend."
    else:
        scattered += "which are too few to show how much steps vary by themselves: other steps may show no trend."
    said = {
        RISES: f"rises by {size} ({how}).",
        FALLS: f"falls, by {size} ({how}).",
        UNDECIDED: f"no trend can be told: {size} ({how}).",
        SCATTERED: scattered,
    }[verdict]
    first = limits.first_left
    if first is None:
        left = "No step leaves its control limits."
    else:
        shown = [figure(end, is_signed(held.metric)) for end in (limits.low[first], limits.high[first])]
        between = f"{shown[0]} to {shown[1]}"
        which, value = printable(points[first]["step"], 40), figure(points[first]["value"], is_signed(held.metric))
        left = f"The first step outside its control limits, {between}, is {which} with {value}."
        if not held.steps.tells_wander:
            left = (
                f"{which} with {value} is further from the steps before it than records explain ({between}); "
                "how much steps vary by themselves is not known of so few."
            )
    return f"{printable(held.title, 100)}: {said} {left}"


def _named(held: Mapping[str, Any]) -> dict[str, Any]:
    return {name: held[name] for name in ("attribute", "metric", "direction", "label")}
