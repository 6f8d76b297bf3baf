"""Which gaps changed between two runs: of two models on the same records, or of one on others."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.label_bags import BAGS, LabelBags
from biasamp.data.plain_arguments import level_of, one_of, path_of
from biasamp.resampling.significance import METHODS, q_values
from biasamp.results.table import Table, text

from .associate import associate
from .association_metric import Array, Slope
from .association_result import Association
from .contrasts import Contrast
from .metrics import metric_form
from .values import Moments, contrast_weights

_RECORDS = ("auto", "independent")
# Labels whose sums over bags are held at once.
_AT_ONCE = 4096
_NOTES = {
    "paired": "Both runs were counted by the ids of their records: intervals know which records they share.",
    "independent": "The runs are of different records, as their ids or records='independent' say.",
    "unknown": "Which records the runs share is not known: intervals hold whatever they share, and are up to 1.4 times "
    "wider than those of independent samples. Where the records have ids, associate(..., record=, pairable=True) of both "
    "runs pairs them; records='independent' says that no record is in both.",
}


@dataclass(frozen=True, eq=False, repr=False)
class AssociationChange(Table):
    """A table of changes, and on what its intervals rest.

    Attributes
    ----------
    sharing : {"paired", "independent", "unknown"}
        What is known of the records that the runs share.

    Examples
    --------
    >>> import biasamp
    >>> old = biasamp.associate([["woman", "cup"], ["man", "car"], ["man", "cup"]] * 40, ["woman", "man"])
    >>> new = biasamp.associate([["woman", "cup"], ["man", "car"]] * 60, ["woman", "man"])
    >>> change = biasamp.association_change(old, new)
    >>> change.sharing
    'unknown'
    >>> sorted(set(change.table["label"].tolist()))
    ['car', 'cup', 'man', 'woman']
    """

    sharing: str = "unknown"

    @property
    def table(self) -> Table:
        """The columns alone."""
        return Table(self.columns)

    @property
    def note(self) -> str:
        """On what the intervals rest, in words."""
        return _NOTES[self.sharing]

    def to_dict(self) -> dict[str, Any]:
        """The table in plain Python values that JSON can hold."""
        rows = self.plain_rows()
        return {"sharing": self.sharing, "note": self.note, "labels": rows}


def association_change(
    old: Association | AssociationCounts | str | os.PathLike[str],
    new: Association | AssociationCounts | str | os.PathLike[str],
    metric: str = "npmi_xy",
    *,
    toward: str | None = None,
    against: str | None = None,
    level: float = 0.95,
    correction: str = "bh",
    records: str = "auto",
) -> AssociationChange:
    r"""How each label's gap changed from one run to another.

    The change is ``G_new(y|x1,x2) - G_old(y|x1,x2)``. Interval and test are those of the counts with half a record
    added to each cell of every two-by-two table, so that they hold where a label was met never or a few times:

    .. math:: \tilde G_{new} - \tilde G_{old} \pm z \cdot se,

    stretched to the change itself where that lies outside. The standard error is, by the delta method, the larger of
    that with the shares of each run and that with the shares of both together; it is

    - where both runs were counted by the ids of their records (``pairable=True``) and share some, that of the sums over
      bags of ids of what each record adds to the difference, and half a record more for each run and identity;
    - for samples of different records ``sqrt(se_old**2 + se_new**2)``;
    - where it is not known what the runs share, ``se_old + se_new``, which no dependence exceeds.

    Parameters
    ----------
    old, new : Association, AssociationCounts or path
        What :func:`biasamp.associate` gave, or counts (:func:`biasamp.count` with identities) or the file of saved ones, which are
        measured with the defaults; with the same identities, zero policy and form of the metrics.
    metric : str
    toward, against : str, optional
        The identities compared; a positive change leans more to ``toward`` than before.
    level : float
        Nominal coverage of the interval.
    correction : {"bh", "by"}
    records : {"auto", "independent"}
        ``"independent"`` says that no record is in both runs; otherwise ids say it, where both runs have them.

    Returns
    -------
    AssociationChange
        A table of one row per label of either run, the largest changes first: label, name, count_old, count_new, gap_old,
        gap_new, change, low, high, p and q of no change, ``paired`` (whether the runs were paired), ``ranked`` (ranked
        in both). Numbers that one side does not have are NaN. Tests are made of labels ranked in both. ``.sharing`` and
        ``.note`` say what the intervals rest on.

    Notes
    -----
    ``python -m benchmarks association_change`` prints the coverage of the intervals, how often p is below .05 under no change and
    how often 500 labels without change have one with q below .05, for all ten metrics, counts of 0 to 5, 5 to 30 and hundreds,
    runs on the same records and on others. Below ten co-occurrences the intervals are wider than need be.

    References
    ----------
    J. J. Gart, "Alternative analyses of contingency tables", JRSS B 28, 1966 (half a record in each cell);
    D. G. Bonett, R. M. Price, "Adjusted Wald confidence interval for a difference of binomial proportions based on
    paired data", JEBS 37, 2012.

    Examples
    --------
    >>> from biasamp.association.associate import associate
    >>> a = [["man", "bike"]] * 30 + [["man"]] * 70 + [["woman", "bike"]] * 10 + [["woman"]] * 90
    >>> b = [["man", "bike"]] * 20 + [["man"]] * 80 + [["woman", "bike"]] * 20 + [["woman"]] * 80
    >>> runs = associate(a, ["man", "woman"]), associate(b, ["man", "woman"])
    >>> row = next(association_change(*runs, "dp", records="independent").rows())
    >>> row["label"], round(row["change"], 3), round(row["low"], 3), round(row["high"], 3)
    ('bike', -0.2, -0.354, -0.042)
    >>> change = association_change(*runs, "dp")
    >>> change.sharing, round(float(change["low"][0]), 3), round(float(change["high"][0]), 3)
    ('unknown', -0.418, 0.022)
    """
    from scipy.special import erfc, ndtri

    old, new = _measured(old, "old"), _measured(new, "new")
    _refuse(old, new, level, records)
    one_of(correction, "correction", METHODS)
    for run in (old, new):
        run.checked(metric)
    contrast, sign = new.gap_toward(toward, against)
    literal = bool(new.settings["paper_literal"])
    labels = list(dict.fromkeys([*old.labels, *new.labels]))
    names = {**dict(zip(old.labels, old.names, strict=True)), **dict(zip(new.labels, new.names, strict=True))}
    places = [_places(run, labels) for run in (old, new)]
    both = np.flatnonzero((places[0] >= 0) & (places[1] >= 0))

    def of_run(which: int, values: NDArray[Any], gone: Any = np.nan) -> NDArray[Any]:
        there = places[which] >= 0
        # A run without any label has no value to point at.
        return np.where(there, values[places[which]], gone) if there.any() else np.full(there.shape, gone)

    runs = tuple(run.values.at_least_half.of_labels(place[both]) for run, place in zip((old, new), places, strict=True))
    sharing = _sharing(old, new, records)
    errors = _Errors(runs, metric, contrast, literal)
    if sharing == "paired":
        bags = tuple(
            run.values.counts.bags.moved(_targets(place, both, len(run.labels)))  # type: ignore[union-attr]
            for run, place in zip((old, new), places, strict=True)
        )
        found = errors.paired(bags)
    else:
        found = errors.unpaired(independent=sharing == "independent")
    error, centre = np.full((2, len(labels)), np.nan)
    error[both] = found
    gaps = [run.gaps(metric, contrast, paper_literal=literal) for run in runs]
    with np.errstate(invalid="ignore"):
        centre[both] = sign * (gaps[1] - gaps[0])
        gap_old, gap_new = (sign * of_run(i, run.values.gaps(metric, contrast)) for i, run in enumerate((old, new)))
        change = gap_new - gap_old
        reach = float(ndtri(0.5 + level / 2)) * error
        # A gap has this bound, and the difference of two twice that.
        most = 2.0 * metric_form(metric, literal).bound
        low = np.maximum(np.fmin(centre - reach, change), -most)
        high = np.minimum(np.fmax(centre + reach, change), most)
    known = ~np.isnan(change)
    ranked = of_run(0, old.ranked(contrast), False) & of_run(1, new.ranked(contrast), False)
    tested = ranked & known & (error > 0)
    p = np.full(len(labels), np.nan)
    p[tested] = erfc(np.abs(centre[tested]) / error[tested] / np.sqrt(2.0))
    columns: dict[str, NDArray[Any]] = {
        "label": text(labels),
        "name": text([names[label] for label in labels]),
        "count_old": of_run(0, old.count, 0),
        "count_new": of_run(1, new.count, 0),
        "gap_old": gap_old,
        "gap_new": gap_new,
        "change": change,
        "low": np.where(known, low, np.nan),
        "high": np.where(known, high, np.nan),
        "p": p,
        "q": q_values(p, correction),
        "paired": np.full(len(labels), sharing == "paired"),
        "ranked": ranked,
    }
    # What is not known comes last.
    order = np.lexsort((-np.abs(change), ~ranked))
    return AssociationChange(Table(columns).take(order).columns, sharing)


def _measured(given: Any, which: str) -> Association:
    """The associations that something holds; counts are measured with the defaults."""
    if isinstance(given, Association):
        return given
    if isinstance(given, (str, os.PathLike)):
        given = AssociationCounts.load(path_of(given))
    if not isinstance(given, AssociationCounts):
        raise TypeError(
            f"{which} is a {type(given).__name__}; what biasamp.associate gives is needed, or counts of associations, or the path "
            "of saved ones"
        )
    return associate(given)


def _refuse(old: Association, new: Association, level: float, records: str) -> None:
    """Raise for runs that cannot be compared."""
    level_of(level, "level")
    one_of(records, "records", _RECORDS)
    if old.identities != new.identities:
        raise ValueError(
            f"old compares {', '.join(old.identities)} and new {', '.join(new.identities)}; the same identities, in the "
            "same order, are needed"
        )
    for name in ("zero", "alpha", "paper_literal"):
        if old.settings[name] != new.settings[name]:
            raise ValueError(
                f"old was made with {name}={old.settings[name]!r}, new with {new.settings[name]!r}; values differ in kind"
            )


def _places(run: Association, labels: list[str]) -> NDArray[np.int64]:
    """Where a run has each label; -1 where it does not."""
    place = {label: i for i, label in enumerate(run.labels)}
    return np.array([place.get(label, -1) for label in labels], dtype=np.int64)


def _targets(place: NDArray[np.int64], both: NDArray[np.int64], many: int) -> NDArray[np.int64]:
    """The number of each of a run's labels among those that both runs have; -1 where the other lacks it."""
    target = np.full(many, -1, dtype=np.int64)
    target[place[both]] = np.arange(len(both))
    return target


def _sharing(old: Association, new: Association, records: str) -> str:
    """What is known of the records that two runs share."""
    one, two = old.values.counts, new.values.counts
    by_ids = one.known is not None and two.known is not None
    shared = one.known is not None and two.known is not None and one.known.shares(two.known)
    if records == "independent":
        if shared:
            raise ValueError(
                "records='independent' says that no record is in both runs, but by their ids some are: leave it out"
            )
        return "independent"
    if by_ids and not shared:
        return "independent"
    return "paired" if shared and one.bags is not None and two.bags is not None else "unknown"


class _Errors:
    """Standard errors of the change of every label that two runs have, by the delta method.

    Each is the larger of two: with the shares and slopes of each run, and with those of both runs taken together, as they
    are where nothing changed. The first alone is too small where a run has all records of a label with one identity
    (tau_b, t_test), the second where a run has none of them (the logarithms).
    """

    def __init__(self, runs: tuple[Moments, ...], metric: str, contrast: Contrast, literal: bool) -> None:
        self.runs, self.metric, self.literal = runs, metric, literal
        self.weights = contrast_weights(contrast, len(runs[0].size))
        self.pooled = runs[0] + runs[1]

    def unpaired(self, independent: bool) -> Array:
        """Of different records, or whatever the runs share: no dependence makes it larger than the sum of two errors."""
        own = [run.variance(self.metric, self.weights, paper_literal=self.literal) for run in self.runs]
        pooled = self.pooled.variance(self.metric, self.weights, paper_literal=self.literal)
        out = np.zeros(len(pooled))
        for pair in (own, [pooled * self.pooled.n / run.n for run in self.runs]):
            errors = [np.sqrt(np.maximum(variance, 0.0)) for variance in pair]
            out = np.maximum(out, np.hypot(*errors) if independent else sum(errors))
        return out

    def paired(self, bags: tuple[LabelBags, ...]) -> Array:
        """From what the runs have in each bag of records."""
        identities = np.arange(len(self.weights))
        own, pooled = (
            [at.slopes(self.metric, identities, paper_literal=self.literal) for at in moments]
            for moments in (self.runs, (self.pooled, self.pooled))
        )
        out = np.zeros(len(self.pooled.count))
        for start in range(0, len(out), _AT_ONCE):
            labels = np.arange(start, min(start + _AT_ONCE, len(out)))
            parts = [self._paired_variance(bags, slopes, labels) for slopes in (own, pooled)]
            out[labels] = np.sqrt(np.maximum(*parts))
        return out

    def _paired_variance(self, bags: tuple[LabelBags, ...], slopes: list[Slope], labels: NDArray[np.int64]) -> Array:
        sums, half = np.zeros((len(labels), BAGS)), np.zeros(len(labels))
        for run, held, slope, sign in zip(self.runs, bags, slopes, (-1.0, 1.0), strict=True):
            by_x, by_y, by_xy = (part[labels] * self.weights / run.n for part in slope)
            of_records = np.hstack([np.zeros((len(labels), 1)), by_x])
            of_label = np.hstack([by_y.sum(axis=1, keepdims=True), by_xy])
            sums += sign * held.linear(labels, of_records, of_label)
            # Half a record with the label and each identity, as the counts have more.
            half += 0.5 * (by_xy**2).sum(axis=1)
        return (sums**2).sum(axis=1) * BAGS / (BAGS - 1) + half
