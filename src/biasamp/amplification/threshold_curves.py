"""What thresholds do to groups: positive rate, TPR and FPR of each at every threshold, and means over all thresholds.

A record is positive where its score is at or above the threshold. Every figure is then a step function of the threshold
that changes at scores alone, so that its mean over thresholds is a finite sum, without a grid.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Label
from biasamp.resampling.significance import normal_quantile
from biasamp.results import Table, text

from .group_rates import between_groups, share, wilson

Floats = NDArray[np.float64]
Index = NDArray[np.int64]
Mask = NDArray[np.bool_]

# The figures whose means over all thresholds are taken, label by label.
AGNOSTIC = (
    "directional",
    "multi",
    "mals",
    "selection_rate_difference",
    "tpr_difference",
    "fpr_difference",
    "accuracy_difference",
)
# Thresholds of several labels at which a band is made where none are named.
_POINTS = 101
# Records whose scores are held against thresholds at once.
_ROWS = 1 << 16
# Thresholds whose figures are made at once.
_STEPS_AT_ONCE = 1 << 18
# Comparisons of a score with a threshold that take some seconds.
_CHEAP = 1 << 29


def _whole(values: Floats) -> list[float]:
    """Counts as JSON holds them: whole numbers without a point, sums of weights as they are."""
    if (values == np.rint(values)).all():
        return values.astype(np.int64).tolist()
    return [int(value) if float(value).is_integer() else float(value) for value in values]


@dataclass(frozen=True, eq=False)
class Hits:
    """Of one label, counts of every given label and last of everyone at some thresholds.

    Attributes
    ----------
    true, false : ndarray of shape (given labels and everyone, thresholds)
        Weights of the positive and of the negative records whose score is at or above the threshold.
    positive, negative : ndarray of shape (given labels and everyone, 1)
        Weights of all positive and of all negative records.
    """

    true: Floats
    false: Floats
    positive: Floats
    negative: Floats

    def some(self, steps: slice) -> Hits:
        """The counts at some of the thresholds."""
        return Hits(self.true[:, steps], self.false[:, steps], self.positive, self.negative)

    @property
    def size(self) -> Floats:
        """The weight of every given label."""
        return self.positive + self.negative

    @property
    def rate(self) -> Floats:
        """The share that is predicted positive."""
        return share(self.true + self.false, self.size)

    @property
    def tpr(self) -> Floats:
        """The share of positive records that is predicted positive."""
        return share(self.true, self.positive)

    @property
    def fpr(self) -> Floats:
        """The share of negative records that is predicted positive."""
        return share(self.false, self.negative)

    @property
    def accuracy(self) -> Floats:
        """The share that is predicted right."""
        return share(self.true + self.negative - self.false, self.size)


@dataclass(frozen=True, eq=False)
class Curves:
    """Scores of records with their groups and truth.

    Attributes
    ----------
    scores : ndarray of shape (records, labels)
    member : ndarray of shape (given labels, records)
    truth : ndarray of shape (labels, records)
    signs : ndarray of shape (given labels, labels)
    weights : ndarray of shape (records,), optional
    given, outcome : sequence of Label
    exclusive : bool
        Whether a record has one given label at most.
    """

    scores: Floats
    member: Mask
    truth: Mask
    signs: NDArray[np.int8]
    weights: Floats | None
    given: Sequence[Label]
    outcome: Sequence[Label]
    exclusive: bool

    @cached_property
    def _everyone(self) -> Mask:
        return np.concatenate([self.member, np.ones((1, self.member.shape[1]), dtype=bool)])

    def _sums(self, records: Mask, label: int, thresholds: Floats, power: int = 1) -> Floats:
        """The weights of some records whose score is at or above each threshold, and of all of them last."""
        held = self.scores[records, label]
        if self.weights is None:
            ranked = np.sort(held)
            sums: Floats = np.arange(len(ranked) + 1, dtype=np.float64)
        else:
            order = np.argsort(held, kind="stable")
            ranked = held[order]
            sums = np.concatenate([[0.0], np.cumsum(self.weights[records][order] ** power)])
        at = sums[-1] - sums[np.searchsorted(ranked, thresholds, side="left")]
        return np.append(at, sums[-1])

    def hits(self, label: int, thresholds: Floats, power: int = 1) -> Hits:
        """The counts of one label at some thresholds; with a power of 2, of squared weights."""
        one = self.truth[label]
        sides = [
            np.stack([self._sums(mine & side, label, thresholds, power) for mine in self._everyone])
            for side in (one, ~one)
        ]
        return Hits(*(side[:, :-1] for side in sides), *(side[:, -1:] for side in sides))

    @cached_property
    def _defined(self) -> Mask:
        whole = self.member if self.weights is None else self.member & (self.weights > 0)
        return np.asarray(whole.any(axis=1))

    def distinct(self, label: int | None = None) -> Floats:
        """Every distinct score, of one label or of all, and one threshold above all."""
        held = np.unique(self.scores if label is None else self.scores[:, label])
        return np.append(held, np.nextafter(held[-1], np.inf))

    def rates(self, thresholds: Floats | None = None, level: float = 0.95) -> Table:
        """Positive rate, TPR and FPR of each group at some thresholds, with Wilson's intervals at each of them."""
        rows: dict[str, list[Any]] = {name: [] for name in ("threshold", "outcome", "given", "n")}
        figures: dict[str, list[Floats]] = {}
        z = normal_quantile(level)
        for label, outcome in enumerate(self.outcome):
            at = self.distinct(label) if thresholds is None else thresholds
            held = self.hits(label, at)
            squared = held if self.weights is None else self.hits(label, at[:0], power=2)
            for g, given in enumerate(self.given):
                rows["threshold"].append(at)
                rows["outcome"].append(text([outcome] * len(at)))
                rows["given"].append(text([given] * len(at)))
                rows["n"].append(np.full(len(at), held.size[g, 0]))
                for name, of in (("rate", "size"), ("tpr", "positive"), ("fpr", "negative")):
                    value = getattr(held, name)[g]
                    many, square = float(getattr(held, of)[g, 0]), float(getattr(squared, of)[g, 0])
                    low, high = wilson(value, np.full(len(at), many**2 / square if square else 0.0), z)
                    for column, values in ((name, value), (f"{name}_low", low), (f"{name}_high", high)):
                        figures.setdefault(column, []).append(values)
        return Table({name: np.concatenate(values) for name, values in {**rows, **figures}.items()})

    def group_steps(self, thresholds: Floats, most: int) -> list[dict[str, Any]]:
        """What rates at some thresholds are made of, for each label and group: of the largest groups, ``most`` in all.

        ``true`` and ``false`` count the positive and negative records at or above each threshold; ``effective`` are the
        effective numbers of positive records, negative ones and both, which Wilson's intervals rest on.
        """
        sizes = self.member.sum(axis=1) if self.weights is None else self.member @ self.weights
        largest = np.argsort(-sizes, kind="stable")[:most]
        shown = sorted(int(g) for g in largest if sizes[g] > 0)
        out = []
        for label, outcome in enumerate(self.outcome[: max(1, most // max(1, len(shown)))]):
            held = self.hits(label, thresholds)
            squared = held if self.weights is None else self.hits(label, thresholds[:0], power=2)
            for g in shown:
                many = [float(side[g, 0]) for side in (held.positive, held.negative, held.size)]
                square = [float(side[g, 0]) for side in (squared.positive, squared.negative, squared.size)]
                effective = [m**2 / s if s else 0.0 for m, s in zip(many, square, strict=True)]
                out.append(
                    {
                        "given": str(self.given[g]),
                        "outcome": str(outcome),
                        "positive": many[0],
                        "negative": many[1],
                        "effective": effective,
                        "true": _whole(held.true[g]),
                        "false": _whole(held.false[g]),
                    }
                )
        return out

    def band_is_cheap(self, points: int) -> bool:
        """Whether a band at so many thresholds costs little beside the curve itself."""
        single = self.exclusive and self.scores.shape[1] == 1
        return single or self.scores.size * len(self.given) * points <= _CHEAP

    def band(self, thresholds: Floats | None = None, level: float = 0.95) -> Table:
        """Amplification at some thresholds with an interval at each of them, signs held fixed."""
        if thresholds is None:
            thresholds = self.distinct()
            if self.scores.shape[1] > 1 and len(thresholds) > _POINTS:
                thresholds = thresholds[np.linspace(0, len(thresholds) - 1, _POINTS).round().astype(np.int64)]
        single = self.exclusive and self.scores.shape[1] == 1
        value, error = self._by_group(thresholds) if single else self._by_record(thresholds)
        reach = normal_quantile(level) * error
        return Table({"threshold": thresholds, "amplification": value, "low": value - reach, "high": value + reach})

    def _by_group(self, thresholds: Floats, label: int = 0) -> tuple[Floats, Floats]:
        """One label and groups that exclude each other: the variance is the sum of those of groups.

        Where groups share records their errors are added up instead, which is the most that they can be together.
        """
        held = self.hits(label, thresholds)
        squared = held if self.weights is None else self.hits(label, thresholds, power=2)
        value, variance, together = (np.zeros(len(thresholds)) for _ in range(3))
        there = np.flatnonzero(self._defined)
        for g in there:
            size, sign = held.size[g, 0], float(self.signs[g, label])
            n = size**2 / squared.size[g, 0]
            change = (held.true[g] + held.false[g] - held.positive[g]) / size
            # One more error of either kind, as in the intervals of pairs.
            wrong = (squared.false[g] + squared.positive[g] - squared.true[g]) / squared.size[g, 0]
            spread = (n * wrong + 2.0) / (n + 2.0) - (n * change / (n + 2.0)) ** 2
            value += sign * change / len(there)
            own = sign**2 * np.maximum(spread, 0.0) / (n + 2.0) / len(there) ** 2
            variance, together = variance + own, together + np.sqrt(own)
        return value, np.sqrt(variance) if self.exclusive else together

    def _by_record(self, thresholds: Floats) -> tuple[Floats, Floats]:
        """Whatever the labels: from what every record moves."""
        weights = np.ones(len(self.scores)) if self.weights is None else self.weights
        there = np.flatnonzero(self._defined)
        size = self.member[there] @ weights
        pairs = len(there) * self.scores.shape[1]
        signs = self.signs[there].astype(np.float64)
        value, error = np.empty(len(thresholds)), np.empty(len(thresholds))
        for place, threshold in enumerate(thresholds):
            change = np.zeros((len(there), self.scores.shape[1]))
            for start in range(0, len(weights), _ROWS):
                rows = slice(start, start + _ROWS)
                moved = (self.scores[rows] >= threshold) - self.truth[:, rows].T.astype(np.float64)
                change += (self.member[there, rows] * weights[rows]) @ moved
            change /= size[:, None]
            square = 0.0
            centre = (signs * change).sum(axis=1)
            for start in range(0, len(weights), _ROWS):
                rows = slice(start, start + _ROWS)
                moved = (self.scores[rows] >= threshold) - self.truth[:, rows].T.astype(np.float64)
                pulled = (moved @ signs.T - centre) / size * self.member[there, rows].T
                square += float(((pulled.sum(axis=1) * weights[rows]) ** 2).sum())
            value[place] = float((signs * change).sum() / pairs)
            # One more error of either kind in each pair.
            kish = size**2 / (self.member[there] @ weights**2)
            square += float((signs**2 * (2.0 / (kish + 2.0) ** 2)[:, None]).sum())
            error[place] = np.sqrt(square) / pairs
        return value, error

    def agnostic(self, span: tuple[float, float]) -> Table:
        """Means over thresholds spread evenly over a span, label by label and over all of them.

        MALS is undefined above the highest score, where nobody is predicted positive: its mean is over the thresholds
        below. ``share`` is the share of the span that a mean is over.
        """
        rows: list[dict[str, Any]] = []
        for label, outcome in enumerate(self.outcome):
            rows += [{"metric": name, "outcome": str(outcome), **held} for name, held in self._means(label, span)]
        whole = []
        for name in AGNOSTIC[:3] if len(self.outcome) > 1 else ():
            mine = [row for row in rows if row["metric"] == name and row["value"] is not None]
            if mine:
                figures = {part: float(np.mean([row[part] for row in mine])) for part in ("value", "share")}
                whole.append({"metric": name, "outcome": "", **figures})
        return Table.from_rows([*whole, *rows])

    def _means(self, label: int, span: tuple[float, float]) -> list[tuple[str, dict[str, Any]]]:
        low, high = span
        held = np.unique(self.scores[:, label])
        at = np.append(held[(held > low) & (held < high)], high)
        width = np.diff(np.concatenate([[low], at])) / (high - low) if high > low else np.ones(1)
        hits = self.hits(label, at if high > low else np.array([low]))
        sums, shares = dict.fromkeys(AGNOSTIC, 0.0), dict.fromkeys(AGNOSTIC, 0.0)
        # Figures of millions of thresholds take much room: some at a time.
        for start in range(0, len(width), _STEPS_AT_ONCE):
            steps = slice(start, start + _STEPS_AT_ONCE)
            for name, figures in self.figures(hits.some(steps), label).items():
                each = self._steps(figures)
                there = ~np.isnan(each)
                shares[name] += float(width[steps][there].sum())
                sums[name] += float((width[steps][there] * each[there]).sum())
        return [
            (name, {"value": sums[name] / shares[name] if shares[name] > 0 else None, "share": shares[name]})
            for name in AGNOSTIC
        ]

    def _steps(self, values: Floats) -> Floats:
        """Figures on the steps that end at some thresholds: those at the thresholds, as nothing changes before them."""
        return values

    def _changes(self, hits: Hits) -> Floats:
        """What decisions change of the rate of every group that has records, at some thresholds."""
        change: Floats = (hits.rate - share(hits.positive, hits.size))[:-1][self._defined]
        return change

    def _signed(self, change: Floats, label: int) -> Floats:
        signs = self.signs[self._defined, label].astype(np.float64)[:, None]
        return np.asarray((signs * change).mean(axis=0))

    def directional(self, hits: Hits, label: int) -> Floats:
        """The directional value of one label at some thresholds."""
        return self._signed(self._changes(hits), label)

    def figures(self, hits: Hits, label: int) -> dict[str, Floats]:
        """The figures of one label at some thresholds; NaN where they are undefined."""
        change = self._changes(hits)
        with np.errstate(divide="ignore", invalid="ignore"):
            among = (hits.true + hits.false)[:-1] / (hits.true + hits.false)[-1]
            apart = among - hits.positive[:-1] / hits.positive[-1]
        above = len(self.given) * hits.positive[:-1] > hits.positive[-1] * (1.0 + 1e-12)
        mals = np.where(above, apart, 0.0).sum(axis=0)
        # Of nobody no rate is known; MALS is of one attribute.
        unknown = (hits.true + hits.false)[-1] <= 0
        return {
            "directional": self._signed(change, label),
            "multi": np.asarray(np.abs(change).mean(axis=0)),
            "mals": np.where(unknown | (not self.exclusive), np.nan, mals),
            "selection_rate_difference": between_groups(hits.rate[:-1]),
            "tpr_difference": between_groups(hits.tpr[:-1]),
            "fpr_difference": between_groups(hits.fpr[:-1]),
            "accuracy_difference": between_groups(hits.accuracy[:-1]),
        }
