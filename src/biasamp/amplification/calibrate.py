"""``biasamp.calibrate``: thresholds that make the predicted rate what it should be; also what a sweep hands back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Column, printable, read_columns, weights_of
from biasamp.data.columns import NumberMatrix
from biasamp.data.plain_arguments import array_of, level_of, number, numbers_of, shown, text_of, whole_number, yes_or_no
from biasamp.data.row_numbers import row_numbers
from biasamp.data.same_columns import same_index
from biasamp.results.interval import Interval, plain
from biasamp.results.renderers import render
from biasamp.results.table import Table, plain_values

from .threshold_curves import Curves

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Calibration:
    """A threshold for every label: what scores at or above it is positive.

    Attributes
    ----------
    thresholds : ndarray
        One per label.
    rates : ndarray
        The share of positives that each threshold gives on the scores it was calibrated on.
    wanted : ndarray
        The share that was asked for.
    labels : tuple of str
        What the columns of the scores are called.

    Examples
    --------
    >>> import biasamp
    >>> found = biasamp.calibrate([0.9, 0.6, 0.4, 0.1], rate=0.25)
    >>> found.threshold, found.rates.tolist()
    (0.9, [0.25])
    >>> found.apply([0.95, 0.2]).tolist()
    [1, 0]
    """

    thresholds: Floats
    rates: Floats
    wanted: Floats
    labels: tuple[str, ...]

    @property
    def threshold(self) -> float:
        """The threshold, where there is one label."""
        if len(self.thresholds) != 1:
            raise ValueError(f"there are {len(self.thresholds)} labels: .thresholds holds one threshold for each")
        return float(self.thresholds[0])

    @property
    def table(self) -> Table:
        """Label, threshold, rate and wanted rate, one row per label."""
        labels = np.empty(len(self.labels), dtype=object)
        labels[:] = self.labels
        return Table({"label": labels, "threshold": self.thresholds, "rate": self.rates, "wanted": self.wanted})

    def apply(self, scores: Any) -> NDArray[np.uint8]:
        """Predictions 0 and 1 from scores, in the layout of those it was calibrated on."""
        values = numbers_of(scores, "scores")
        if values.ndim not in (1, 2):
            raise ValueError(
                f"scores has {values.ndim} dimensions; one number per record is needed, or one column per label"
            )
        width = 1 if values.ndim == 1 else values.shape[1]
        if width != len(self.thresholds):
            raise ValueError(f"scores has {width} columns, but there are thresholds for {len(self.thresholds)} labels")
        if np.isnan(values).any():
            raise ValueError(f"scores holds {int(np.isnan(values).sum()):,} missing values: they have no prediction")
        return (values >= (self.thresholds if values.ndim > 1 else self.thresholds[0])).astype(np.uint8)

    def to_dict(self) -> dict[str, Any]:
        """The thresholds in plain Python values."""
        return {
            "schema": 1,
            "labels": self.table.plain_rows(),
        }


@dataclass(frozen=True, eq=False)
class Sweep:
    """Amplification, parity and rates at every distinct threshold.

    Attributes
    ----------
    curve : Table
        One row per threshold, rising: ``threshold`` (what scores at or above it is positive), ``amplification``,
        ``rate`` (the share predicted positive) and, for one label, ``parity`` (the largest difference of that
        share between given labels) and ``rate of <given label>``.
    integral : float
        The mean amplification over thresholds spread evenly over ``span``. Where ``span`` is [0, 1] it is the
        metric of the soft scores.
    span : tuple of float
        The range of thresholds of the integral.
    base_rate : float
        The share of the truth that is positive.
    used : float or None
        The threshold that the model decides at, where it is known.

    Examples
    --------
    >>> import biasamp
    >>> group, truth = ["a"] * 4 + ["b"] * 4, [1, 1, 0, 0, 1, 0, 0, 0]
    >>> result = biasamp.sweep([0.9, 0.8, 0.6, 0.2, 0.7, 0.4, 0.3, 0.1], group, truth)
    >>> result.base_rate, len(result.curve)
    (0.375, 9)
    >>> result.at(0.5)
    {'threshold': 0.6, 'amplification': 0.125, 'rate': 0.5, 'parity': 0.5, 'rate of a': 0.75, 'rate of b': 0.25}
    >>> sorted(result.marks)
    ['base_rate', 'used', 'zero']
    """

    curve: Table
    integral: float
    span: tuple[float, float]
    base_rate: float
    sign_source: str
    n: int
    _interval: Callable[[float, str, int, int], Interval] | None = field(default=None, repr=False)
    used: float | None = None
    _curves: Curves | None = field(default=None, repr=False)

    def at(self, threshold: float) -> dict[str, Any]:
        """The row of the curve that holds at a threshold."""
        wanted = numbers_of(threshold, "threshold")  # infinity is a threshold too
        if wanted.ndim or np.isnan(wanted):
            raise ValueError(f"threshold is {shown(threshold)}; one number is needed")
        place = int(np.searchsorted(self.curve["threshold"], threshold, side="left"))
        return self._row(min(place, len(self.curve) - 1))

    def at_rate(self, rate: float) -> dict[str, Any]:
        """The row of the curve whose share of positives is nearest to a rate."""
        rate = number(rate, "rate", least=0.0, most=1.0)
        return self._row(int(np.argmin(np.abs(self.curve["rate"] - rate))))

    def rates(self, thresholds: Any = None, level: float = 0.95) -> Table:
        """Positive rate, TPR and FPR of each group at some thresholds, by default at every distinct score.

        One row for each label, group and threshold. The bands are Wilson's intervals, each at its own threshold; with
        weights at the effective number of records.
        """
        return self._known().rates(_thresholds(thresholds), level_of(level, "level"))

    def band(self, thresholds: Any = None, level: float = 0.95) -> Table:
        """Amplification at some thresholds with an interval at each, signs held fixed.

        By default at every distinct score of one label, and at 101 of them, evenly ranked, of several labels.
        """
        return self._known().band(_thresholds(thresholds), level_of(level, "level"))

    @cached_property
    def agnostic(self) -> Table:
        """Means over all thresholds of the span, which ask for no threshold: exact sums over the steps.

        Directional amplification, Multi (of single labels), MALS (groups as given, the labels that scores are of), and
        the differences of selection rate, TPR, FPR and accuracy between groups, for each label; of the first three also
        over all labels (outcome ``""``). ``share`` is the share of the span where a figure is defined.
        """
        return self._known().agnostic(self.span)

    @cached_property
    def marks(self) -> dict[str, dict[str, Any]]:
        """The curve at three thresholds, each with the interval of amplification there.

        ``used``: the threshold that the model decides at. ``base_rate``: the one whose share of positives is nearest to
        that of the truth. ``zero``: the one where amplification is nearest to 0 among those at which some are positive
        and some not, of several the one with the share of positives nearest to that of the truth.
        """
        out = {} if self.used is None else {"used": {**self.at(self.used), "threshold": self.used}}
        out["base_rate"] = self.at_rate(self.base_rate)
        rate, size = self.curve["rate"], np.abs(self.curve["amplification"])
        mixed = np.flatnonzero((rate > 0) & (rate < 1))
        if len(mixed):
            nearest = mixed[size[mixed] <= size[mixed].min() + 1e-12]
            out["zero"] = self._row(int(nearest[np.argmin(np.abs(rate[nearest] - self.base_rate))]))
        found = self.band([row["threshold"] for row in out.values()])
        for row, low, high in zip(out.values(), found["low"], found["high"], strict=True):
            row["low"], row["high"] = plain(low), plain(high)
        return out

    def _known(self) -> Curves:
        if self._curves is None:
            raise ValueError("this sweep carries no records")
        return self._curves

    def confidence_interval(
        self, level: float = 0.95, method: str = "bootstrap", resamples: int = 1000, seed: int = 0
    ) -> Interval:
        """An interval for the integral."""
        level_of(level, "level")
        if self._interval is None:
            raise ValueError("this sweep carries no records for an interval")
        return self._interval(level, method, resamples, seed)

    def to_dict(self, points: int = 1000, *, groups: bool = False) -> dict[str, Any]:
        """The sweep in plain Python values, with up to ``points`` thresholds of the curve, evenly ranked.

        With ``groups`` also the rates of groups and the band of amplification at these thresholds, the marked
        thresholds and the means over all thresholds.
        """
        count = len(self.curve)
        points = min(whole_number(points, "points", least=1), count)
        places = np.unique(np.linspace(0, count - 1, points).round().astype(np.int64))
        at = self.curve["threshold"][places]
        more: dict[str, Any] = {}
        if yes_or_no(groups, "groups"):
            tables = {"groups": self.rates(at), "band": self.band(at), "agnostic": self.agnostic}
            more = {name: held.plain_rows() for name, held in tables.items()}
            more["marks"] = self.marks
        return {
            "schema": 1,
            "integral": plain(self.integral),
            "span": list(self.span),
            "base_rate": plain(self.base_rate),
            "sign_source": self.sign_source,
            "n": self.n,
            "thresholds": count,
            "curve": self.curve.take(places).plain_rows(),
            **more,
        }

    def steps(self, points: int = 300, level: float = 0.95, *, most_groups: int = 60) -> dict[str, Any]:
        """What a page with a slider draws: columns at up to ``points`` thresholds, evenly ranked, and at the marked ones.

        Every figure holds at its own threshold exactly, and so down to the score below it; between listed thresholds
        there may be others, of which ``Sweep.curve`` has all. ``groups`` counts true and false positives of each label
        and group, of at most ``most_groups``. ``low`` and ``high`` are null where a band would cost too much.
        """
        known, count = self._known(), len(self.curve)
        points = min(whole_number(points, "points", least=1), count)
        whole_number(most_groups, "most_groups")
        marked = [int(np.searchsorted(self.curve["threshold"], row["threshold"])) for row in self.marks.values()]
        even = np.linspace(0, count - 1, points).round().astype(np.int64)
        places = np.unique(np.minimum(np.concatenate([even, np.array(marked, dtype=np.int64)]), count - 1))
        at = self.curve["threshold"][places]
        low = high = np.full(len(at), np.nan)
        if known.band_is_cheap(len(at)):
            found = self.band(at, level)
            low, high = found["low"], found["high"]
        columns = {name: self.curve[name][places] for name in ("threshold", "rate", "amplification")}
        columns |= {"low": low, "high": high}
        return {
            **{name: plain_values(values) for name, values in columns.items()},
            "groups": known.group_steps(at, most_groups),
            "groups_in_all": len(known.given) * len(known.outcome),
        }

    def to_html(self, path: str | Path, *, source: str = "scores", level: float = 0.95) -> None:
        """Write a page with a slider that shows every figure at the chosen threshold: one file, with all inside it.

        Parameters
        ----------
        path : str or Path
        source : str
            What the data are called.
        level : float
            The level of the intervals.
        """
        text_of(source, "source")
        render("sweep page", self, path, source=source, level=level_of(level, "level"))

    def _repr_html_(self) -> str:
        return str(render("sweep table", self))

    def plot(self) -> Any:
        """The curve as a matplotlib figure, with its band, the rates of groups and the marked thresholds.

        Needs the extra ``plot``.
        """
        return render("sweep figure", self.to_dict(groups=self._curves is not None))

    def _row(self, place: int) -> dict[str, Any]:
        return {name: plain(values[place]) for name, values in self.curve.columns.items()}


def _thresholds(thresholds: Any) -> Floats | None:
    """Thresholds that a caller names: finite numbers."""
    if thresholds is None:
        return None
    try:
        values = np.atleast_1d(array_of(thresholds, np.float64))
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"thresholds is {shown(thresholds)}; numbers are needed") from None
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise ValueError("thresholds must be one or more finite numbers")
    return values


def calibrate(scores: Any, *, rate: Any, weights: Any = None) -> Calibration:
    r"""The threshold of every label that makes its predicted rate the wanted one.

    A threshold off the base rate alone shows as amplification: the 2021 paper's model went from 0.040 to 0.001
    when its thresholds were calibrated. Of ``N`` scores the ``N * rate`` highest are to be positive; where
    scores are tied across that edge, the threshold is the one whose rate is nearest.

    Parameters
    ----------
    scores : array-like of shape (records,) or (records, labels)
        Scores of a validation set, higher for more likely; any real numbers.
    rate : float, array-like or mapping
        The wanted share of positives, such as the train rate: one for all labels, one per label, or by column
        name.
    weights : array-like, optional
        One weight per record; rates are then shares of the weights.

    Returns
    -------
    Calibration
        ``.thresholds``, the ``.rates`` they give, and ``.apply(scores)``.

    See Also
    --------
    sweep : amplification at every threshold.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML. Sec. 3.3: one threshold for the gender, in
    place of 0.5, takes most of MALS away; and Sec. 5.3.

    Examples
    --------
    >>> import biasamp
    >>> calibration = biasamp.calibrate([0.1, 0.4, 0.35, 0.8], rate=0.5)
    >>> calibration.threshold, calibration.apply([0.1, 0.4, 0.35, 0.8]).tolist()
    (0.4, [0, 1, 0, 1])
    """
    same_index({"scores": scores, "weights": weights})
    values, labels = read_scores(scores)
    wanted = _rates(rate, labels)
    held = weights_of(weights, len(values))
    own = None if held is None else held.astype(np.float64)
    found = [_threshold(values[:, i], wanted[i], own) for i in range(len(labels))]
    thresholds, rates = np.array([f[0] for f in found]), np.array([f[1] for f in found])
    # Half a record is as near as any count can come.
    half = 0.5 / len(values) if own is None else 0.5 * float(own.max()) / float(own.sum())
    off = np.flatnonzero(np.abs(rates - wanted) > half + 1e-12)
    if len(off):
        i = int(off[0])
        name = f" of {printable(labels[i], 40)}" if len(labels) > 1 else ""
        more = f", and {len(off) - 1} more labels" if len(off) > 1 else ""
        warnings.warn(
            f"scores are tied: the rate{name} nearest to {wanted[i]:.4g} is {rates[i]:.4g}{more}",
            UserWarning,
            stacklevel=2,
        )
    return Calibration(thresholds, rates, wanted, labels)


def read_scores(scores: Any, argument: str = "scores") -> tuple[Floats, tuple[str, ...]]:
    """Scores as a matrix with one column per label, finite, with the names of the columns."""
    names: Sequence[str] | None = None
    if hasattr(scores, "detach"):
        scores = scores.detach().cpu()
    elif hasattr(scores, "toarray"):
        scores = scores.toarray()
    elif not isinstance(scores, (np.ndarray, list, tuple)):
        names, scores = _named_scores(scores, argument)
    try:
        values = np.asarray(scores, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        ragged = isinstance(error, ValueError) and "inhomogeneous" in str(error)
        why = "rows have different lengths" if ragged else str(error)
        raise TypeError(f"{argument} must be numbers, one row per record and one column per label: {why}") from None
    if values.ndim == 1:
        values = values[:, None]
    if values.ndim != 2 or not values.size:
        raise ValueError(f"{argument} has shape {values.shape}; one row per record and one column per label are needed")
    bad = ~np.isfinite(values)
    if bad.any():
        row, column = (int(place[0]) for place in np.nonzero(bad))
        named = column if names is None else repr(printable(names[column], 40))
        raise ValueError(
            f"{argument} holds {int(bad.sum()):,} values that are missing or not finite, such as "
            f"{values[row, column]} in column {named} ({row_numbers([row])}): no threshold can place them. Fill them in or "
            "leave those records out"
        )
    width = values.shape[1]
    if names is not None and len(names) == width:
        return values, tuple(str(name) for name in names)
    return values, ("score",) if width == 1 else tuple(str(i) for i in range(width))


def _named_scores(scores: Any, argument: str) -> tuple[tuple[str, ...], Floats]:
    """The columns of a frame, an Arrow table or a mapping, with their names."""
    read = read_columns(scores, argument)
    columns = [
        column
        for item in read.items
        for column in ([item] if isinstance(item, Column) else item.columns() if isinstance(item, NumberMatrix) else [])
    ]
    for column in columns:
        if column.kind not in ("bool", "int", "float"):
            raise TypeError(
                f"{argument} must be numbers, but column {printable(column.name, 40)!r} holds {column.kind}"
            )
    values = [
        np.where(False if column.missing is None else column.missing, np.nan, column.values) for column in columns
    ]
    names = tuple(column.name or "score" for column in columns)
    return names, np.column_stack(values).astype(np.float64)


def _rates(rate: Any, labels: tuple[str, ...]) -> Floats:
    if isinstance(rate, Mapping):
        missing = [label for label in labels if label not in rate]
        if missing:
            raise ValueError(f"rate has no entry for {missing[:5]}; scores has the columns {list(labels)[:5]}")
        rate = [rate[label] for label in labels]
    try:
        wanted = array_of(rate, np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"rate is {shown(rate)}; a number between 0 and 1 is needed, or one per label") from None
    if wanted.ndim == 0:
        wanted = np.full(len(labels), float(wanted))
    if wanted.shape != (len(labels),):
        raise ValueError(f"rate has shape {wanted.shape}; give one rate, or one for each of the {len(labels)} labels")
    if not ((wanted >= 0) & (wanted <= 1)).all():
        raise ValueError(f"rate holds {wanted[~((wanted >= 0) & (wanted <= 1))][0]}; a rate lies between 0 and 1")
    return wanted


def _threshold(scores: Floats, wanted: float, weights: Floats | None = None) -> tuple[float, float]:
    """The threshold whose rate is nearest; of two as near, the one with fewer positives."""
    order = None if weights is None else np.argsort(-scores, kind="stable")
    ranked = np.sort(scores)[::-1] if order is None else scores[order]
    count = len(ranked)
    # Where the k highest are apart from the rest: none of them, before each drop, all.
    edges = np.concatenate([[0], np.flatnonzero(ranked[1:] < ranked[:-1]) + 1, [count]])
    if weights is None or order is None:
        rates = edges / count
    else:
        sums = np.concatenate([[0.0], np.cumsum(weights[order])])[edges]
        rates = sums / sums[-1]
    place = int(np.argmin(np.abs(rates - wanted)))
    best = int(edges[place])
    threshold = float(np.nextafter(ranked[0], np.inf)) if best == 0 else float(ranked[best - 1])
    return threshold, float(rates[place])
