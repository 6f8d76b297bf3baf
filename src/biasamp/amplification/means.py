"""``biasamp.mean_amplification``: how much a model amplifies differences of means between groups, for salaries and scores."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bagging import MOST_BAGS, bag_of, occupied
from biasamp.data import LabelSet
from biasamp.data.arguments import read, read_clusters, refuse_missing, same_length, weights_of
from biasamp.data.keys import Keys, row_keys
from biasamp.data.plain_arguments import level_of, numbers_of, one_of, whole_number
from biasamp.data.row_numbers import row_numbers
from biasamp.data.same_columns import is_same, same_index
from biasamp.data.vocabulary import one_space
from biasamp.resampling.significance import q_values
from biasamp.results import Table, text
from biasamp.results.interval import Interval, plain

from .mean_sums import Floats, Sums

FIGURES = ("value", "standardised")


@dataclass(frozen=True, eq=False)
class MeanAmplification:
    """The result of :func:`mean_amplification`.

    Attributes
    ----------
    value : float
        The mean over groups of sign times change, in units of the outcome.
    standardised : float
        The same over the standard deviation of the true outcome.
    groups : Table
        One row per group: given, support, true_mean, predicted_mean, delta, sign, sign_p, amplification with low and high, p and q, and
        standardised.
    direction : str
        ``"A->T"`` or ``"T->A"``.
    deviation : float
        The standard deviation of the true outcome.

    Examples
    --------
    >>> import biasamp
    >>> wage, guess = [30.0, 50.0, 34.0, 54.0], [29.0, 52.0, 33.0, 54.0]
    >>> result = biasamp.mean_amplification(["w", "m"] * 2, wage, predicted=guess)
    >>> result.value, result.groups["delta"].tolist()
    (1.0, [1.0, -1.0])
    """

    groups: Table
    direction: str
    n: float
    deviation: float
    level: float
    _sums: Sums = field(repr=False)
    _trained: Floats | None = field(default=None, repr=False)

    @cached_property
    def value(self) -> float:
        """The mean over groups of sign times change."""
        return float(np.nanmean(self.groups["amplification"])) if len(self.groups) else np.nan

    @property
    def standardised(self) -> float:
        """The value over the standard deviation of the outcome."""
        return self.value / self.deviation if self.deviation > 0 else np.nan

    @property
    def unclear(self) -> int:
        """How many groups lie on no clear side of the mean."""
        return int((~self._sums.clear(self._trained)).sum())

    def confidence_interval(
        self, level: float = 0.95, resamples: int = 1000, seed: int = 0, *, of: str = "value"
    ) -> Interval:
        """An interval by resampling bags of records; groups on no clear side of the mean count with either sign.

        Rare groups and skewed outcomes widen it: ``python -m benchmarks.auditors.means`` has how often it holds the true value.

        Parameters
        ----------
        level : float
        resamples, seed : int
        of : {"value", "standardised"}
        """
        level_of(level, "level")
        whole_number(resamples, "resamples", least=2)
        whole_number(seed, "seed")
        one_of(of, "of", FIGURES)
        low, high, error = self._sums.interval(level, resamples, seed, self._trained)
        scale = self.deviation if of == "standardised" else 1.0
        method = "bags of records, either sign where it is not clear"
        return Interval(low / scale, high / scale, level, method, standard_error=error / scale)

    def resampled(self, resamples: int, seed: int) -> Floats:
        """The value of every keyed resample, signs as they are."""
        return self._sums.drawn(resamples, seed, self._trained)

    def to_dict(self) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold."""
        low, high = self.confidence_interval(self.level)
        return {
            "metric": "mean_difference",
            "direction": self.direction,
            "value": plain(self.value),
            "interval": [plain(low), plain(high)],
            "standardised": plain(self.standardised),
            "deviation": plain(self.deviation),
            "n": plain(self.n),
            "groups": self.groups.plain_rows(),
        }


def mean_amplification(
    groups: Any,
    outcome: Any,
    *,
    predicted: Any = None,
    predicted_groups: Any = None,
    train: Any = None,
    weights: Any = None,
    cluster: Any = None,
    level: float = 0.95,
) -> MeanAmplification:
    r"""How much a model widens or narrows differences of means between groups.

    .. math::
        \frac{1}{|A|} \sum_g \operatorname{sign}(\bar y_g - \bar y)\,(\bar{\hat y}_g - \bar y_g)

    A group that truly earns more than the mean and is predicted to earn more still is amplified. Of a 0/1 outcome this is
    directional amplification of a yes/no label. In the other direction, T→A, the model predicts the group: then
    :math:`\bar{\hat y}_g` is the mean true outcome of those who are predicted to be of the group.

    Parameters
    ----------
    groups : array-like
        The true group of each record.
    outcome : array-like of float
        The true outcome.
    predicted : array-like of float, optional
        The predicted outcome, for A→T.
    predicted_groups : array-like, optional
        The predicted groups, for T→A. One of the two is needed.
    train : pair (groups, outcome), optional
        Training records; they decide the signs.
    weights, cluster : array-like, optional
        A weight for each record, and the cluster it belongs to.
    level : float
        The level of the intervals of groups.

    Returns
    -------
    MeanAmplification
        ``value`` in units of the outcome, ``standardised`` over its standard deviation, and a table of groups.

    See Also
    --------
    directional : the same for labels.

    References
    ----------
    Wang, A. and Russakovsky, O. (2021). Directional Bias Amplification. ICML; of means instead of rates.

    Examples
    --------
    >>> import biasamp
    >>> made = biasamp.mean_amplification(["w", "m"] * 2, [30.0, 50.0, 34.0, 54.0], predicted=[29.0, 52.0, 33.0, 54.0])
    >>> made.value, round(made.standardised, 3)
    (1.0, 0.098)
    """
    level_of(level, "level")
    if (predicted is None) == (predicted_groups is None):
        what = (
            "neither predicted nor predicted_groups is"
            if predicted is None
            else "both predicted and predicted_groups are"
        )
        raise TypeError(f"{what} given: A->T needs predicted outcomes, T->A predicted groups")
    sides = {"groups": groups, "outcome": outcome, "predicted": predicted, "predicted_groups": predicted_groups}
    same_index({**sides, "weights": weights})
    for name, other in (("predicted", predicted), ("groups", groups)):
        if is_same(outcome, other):
            raise ValueError(f"outcome and {name} are the same column: give {name} another one")
    given = read(groups, "groups", "groups")
    truth = finite_numbers(outcome, "outcome", len(given))
    count = len(given)
    w = weights_of(weights, count)
    said = truth if predicted is None else finite_numbers(predicted, "predicted", count)
    placed = None
    if predicted_groups is not None:
        theirs = read(predicted_groups, "predicted_groups", soft=True, like=given)
        same_length({"groups": given, "predicted_groups": theirs})
        given, placed, _ = one_space(given, theirs, None, ["groups", "predicted_groups", ""])
    clusters = read_clusters(cluster, count, {"groups": groups, "outcome": outcome})
    return from_records(
        given,
        truth,
        said,
        placed,
        _signs_of(train, given),
        w,
        row_keys(0, count) if clusters is None else clusters,
        level,
    )


def finite_numbers(values: Any, name: str, count: int) -> Floats:
    """One finite number per record."""
    found = numbers_of(values, name)
    if found.ndim != 1 or len(found) != count:
        raise ValueError(f"{name} has shape {found.shape}, but groups has {count:,} records: one number per record")
    bad = ~np.isfinite(found)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(
            f"{name} must be finite: there is {found[at]} ({row_numbers([at])}; {int(bad.sum()):,} such records). Fill them in or leave those records out"
        )
    return found


def _signs_of(train: Any, given: LabelSet) -> Floats | None:
    if train is None:
        return None
    if not isinstance(train, (tuple, list)) or len(train) != 2:
        raise TypeError("train must be a pair (groups, outcome)")
    theirs = read(train[0], "train groups")
    return trained_sides(given, theirs, finite_numbers(train[1], "train outcome", len(theirs)))


def trained_sides(given: LabelSet, theirs: LabelSet, outcome: Floats) -> Floats:
    """How far the groups of training records lie from their mean; 0 for a group that they lack."""
    refuse_missing({"train groups": theirs})
    rows = theirs.rows().astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        means = rows.T @ (outcome - outcome.mean()) / rows.sum(axis=0)
    known = dict(zip(theirs.labels, np.nan_to_num(means).tolist(), strict=True))
    return np.array([known.get(label, 0.0) for label in given.labels])


def from_records(
    given: LabelSet,
    truth: Floats,
    said: Floats,
    predicted_groups: LabelSet | None,
    trained: Floats | None,
    weights: NDArray[Any] | None,
    units: Keys,
    level: float = 0.95,
) -> MeanAmplification:
    """The result for records that have been read; ``units`` are what is resampled as one."""
    w = np.ones(len(truth)) if weights is None else weights.astype(np.float64)
    centre = float(np.average(truth, weights=w))
    y, z = truth - centre, said - centre
    rows = given.rows().astype(np.float64) * w[:, None]
    theirs = rows if predicted_groups is None else predicted_groups.rows().astype(np.float64) * w[:, None]
    numbers, place = occupied(bag_of(units, MOST_BAGS), MOST_BAGS)

    def by_bag(values: Floats) -> Floats:
        out = np.zeros((len(numbers), values.shape[1]))
        np.add.at(out, place, values)
        return out

    sums = Sums(
        numbers,
        by_bag(rows),
        by_bag(rows * y[:, None]),
        by_bag(theirs),
        by_bag(theirs * z[:, None]),
        by_bag(w[:, None])[:, 0],
        by_bag((w * y)[:, None])[:, 0],
    )
    true, predicted, _ = sums.means()
    sign = sums.sides(trained)
    low, high, p = sums.each(level)
    deviation = float(np.sqrt(np.average(y**2, weights=w)))
    change = predicted - true
    ends = np.sort(np.stack([sign * low, sign * high]), axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        scaled = sign * change / deviation if deviation > 0 else np.full(len(change), np.nan)
    table = Table(
        {
            "given": text(given.labels),
            "support": sums.size.sum(axis=0),
            "true_mean": true + centre,
            "predicted_mean": predicted + centre,
            "delta": change,
            "sign": sign.astype(np.int64),
            "sign_p": sums.side_p(),
            "amplification": sign * change,
            "low": ends[0],
            "high": ends[1],
            "p": p,
            "q": q_values(p),
            "standardised": scaled,
        }
    )
    direction = "A->T" if predicted_groups is None else "T->A"
    return MeanAmplification(table, direction, float(w.sum()), deviation, level, sums, trained)
