"""The change inside strata, and against a base what the mix of strata adds.

``change(g, o) = sum_s P(s | g) change(g, o | s)``: what a model changes in all records is the mean of what it changes in
strata. It is shown by the sign of the whole and by the sign inside each stratum, which may differ.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats, total
from biasamp.counts.joint import JointCounts
from biasamp.counts.strata import all_strata
from biasamp.counts.why_counts import WhyCounts
from biasamp.data import LabelSet
from biasamp.data.scores import Scored, Strata
from biasamp.resampling.intervals import Intervals, small_cautions
from biasamp.resampling.sample import Sample
from biasamp.resampling.significance import q_values
from biasamp.resampling.statistics_of_bags import Difference, FixedSigns, Ratios, Statistic, residuals
from biasamp.results import Table, text
from biasamp.results.interval import UNCLEAR_SIGNS, Caution

from .base import Base
from .bounds import CLEAR_OF_ALL, ERRORS_MORE, standard_errors
from .directional import Directional
from .signs import association_p_of, association_signs
from .why_parts import PARTS, ScoreParts

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

# The level of bounds whose distance in standard errors p-values go by.
_LEVEL = 0.975
# The two orders of Kitagawa: rates change at the base's mix and then the mix changes, or the other way round.
ORDERS = ("rates first", "mix first")


@dataclass(frozen=True, eq=False)
class BaseStrata:
    """Rates and mix of strata in another source, which are taken as known.

    Attributes
    ----------
    size : ndarray of shape (strata, given labels)
        ``C(g, s)`` of the base.
    rates : ndarray of shape (strata, given labels, outcome labels)
        ``P(o | g, s)`` of the base; NaN where it has no record.
    joint : tuple of JointCounts
        The counts of each stratum.
    """

    size: Floats
    rates: Floats
    joint: tuple[JointCounts, ...]

    @classmethod
    def of_labels(cls, given: LabelSet, truth: LabelSet, strata: Strata) -> BaseStrata:
        """Count the labels of a base."""
        joint = joint_of_strata(given, truth, strata)
        size = np.stack([floats(held.left)[:, 0] for held in joint])
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.stack([floats(held.joint) / floats(held.left) for held in joint])
        return cls(size, rates, joint)


def joint_of_strata(given: LabelSet, truth: LabelSet, strata: Strata) -> tuple[JointCounts, ...]:
    """The joint counts of two label sets in every stratum; those of a stratum without records are 0."""
    out = []
    for place in range(len(strata.names)):
        mine = strata.codes == place
        weights = None if mine.any() else np.zeros(1, dtype=np.int64)
        if not mine.any():
            mine = np.arange(len(strata)) == 0
        out.append(JointCounts.from_labels(given.take(mine), truth.take(mine), weights))
    return tuple(out)


@dataclass(frozen=True, eq=False)
class StrataParts:
    """The parts of every stratum.

    Attributes
    ----------
    names : tuple of str
        The strata.
    whole : Directional
        The value of all records.
    each : tuple of ScoreParts
        The value inside each stratum and its parts.
    base : BaseStrata, optional
        What rates and mix are compared with.
    scored : bool
        Whether there are scores; without them a value has no parts.
    """

    names: tuple[str, ...]
    whole: Directional
    each: tuple[ScoreParts, ...]
    base: BaseStrata | None = None
    scored: bool = True

    @classmethod
    def of_counts(
        cls,
        names: tuple[str, ...],
        whole: Directional,
        counts: Sequence[tuple[BagCounts, BagCounts, BagCounts]],
        train: Sequence[JointCounts] | None = None,
        base: BaseStrata | None = None,
        level: float = 0.95,
        scored: bool = True,
    ) -> StrataParts:
        """The parts of counts of decisions, scores and both against each other, stratum by stratum."""
        clustered = whole.sample.clustered
        each = []
        # All strata at once: exact tests are slow one by one.
        sign_p = association_p_of([held[0].whole.truth_joint for held in counts])
        for place, held in enumerate(counts):
            source = Base(sign_p=sign_p[place])
            if train is not None:
                source = Base(association_signs(train[place]), "the train labels", train[place])
            if base is not None:
                joint = base.joint[place]
                known = source if train is not None else Base(association_signs(joint), "the base", joint)
                rates = base.rates[place]
                source = Base(known.signs, known.sign_source, known.sign_counts, None, rates, whole.source.rate_source)
            each.append(ScoreParts.of_samples([Sample(bags, clustered) for bags in held], source, level))
        return cls(names, whole, tuple(each), base, scored)

    @classmethod
    def of_records(
        cls, records: Scored, whole: Directional, keep: tuple[NDArray[np.bool_], NDArray[np.bool_]]
    ) -> StrataParts:
        """The parts of records in memory; ``keep`` says which labels have a sign."""
        strata = records.strata
        assert strata is not None
        scores = records.scored.predicted.only(keep[1])
        counts = WhyCounts.of_records(records.decided.only(*keep), scores, strata.names, strata.codes)
        train = base = None
        if records.train_strata is not None:
            assert records.train is not None
            given, truth = (side.only(mine) for side, mine in zip(records.train, keep, strict=True))
            train = joint_of_strata(given, truth, records.train_strata)
        if records.base_labels is not None:
            given, truth, layers = records.base_labels
            base = BaseStrata.of_labels(given.only(keep[0]), truth.only(keep[1]), layers)
        return cls.of_counts(strata.names, whole, counts.triples, train, base)

    @property
    def decided(self) -> list[Directional]:
        """The value inside each stratum."""
        return [parts.decided for parts in self.each]

    @cached_property
    def _bags(self) -> list[BagCounts]:
        return [estimate.sample.bags for estimate in self.decided]

    @cached_property
    def together(self) -> BagCounts:
        """The counts of all strata, in the bags of strata."""
        return all_strata(self._bags)

    @cached_property
    def sizes(self) -> Floats:
        """``C(g, s)`` of every pair, of shape (strata, given labels, outcome labels)."""
        shape = self.whole.values.delta.shape
        return np.stack([np.broadcast_to(floats(bags.whole.given), shape) for bags in self._bags])

    @property
    def has_intervals(self) -> bool:
        """Whether there are bags to resample."""
        return self.together.resamplable and self.whole.sample.has_intervals

    def _rows(self, values: Sequence[Floats]) -> Floats:
        """One array by bag for each stratum, added up over strata in the rows of :attr:`together`."""
        out = np.zeros((len(self.together.numbers), *values[0].shape[1:]))
        for bags, mine in zip(self._bags, values, strict=True):
            out[np.searchsorted(self.together.numbers, bags.numbers)] += mine
        return out

    def _ratios(self, moved: Floats) -> Ratios:
        """The mean over pairs of sums over bags, each over ``C(g)``."""
        defined = self.whole.values.defined
        moved = np.where(defined, moved, 0.0)
        size = floats(self.together.counts.given)
        if size.shape[-1] == 1:
            # All outcomes of a group are over the same records: their sum is one column.
            return Ratios(self.together, moved.sum(axis=-1), size[..., 0], defined.sum(axis=-1).astype(np.float64))
        rows = len(moved)
        size = np.broadcast_to(size, moved.shape).reshape(rows, -1)
        return Ratios(self.together, moved.reshape(rows, -1), size, defined.reshape(-1).astype(np.float64))

    def inside(self, signs: Sequence[Signs] | None = None) -> Ratios:
        """``sum_s P(s | g) y_s(g, o) change(g, o | s)``, the mean over pairs, with the signs inside or some others."""
        signs = [estimate.factor for estimate in self.decided] if signs is None else signs
        return self._ratios(self._rows([factor * lot for factor, lot in zip(signs, self._changes, strict=True)]))

    @cached_property
    def _changes(self) -> list[Floats]:
        """What decisions change in every bag of each stratum, of shape (bags, given labels, outcome labels)."""
        changes = []
        for bags, estimate in zip(self._bags, self.decided, strict=True):
            rates = estimate.source.rates
            lot, size = residuals(bags, rates is None)
            if rates is not None:
                # A stratum that the base lacks is no change of rates.
                lot = np.where(np.isnan(rates), 0.0, lot - size * np.nan_to_num(rates))
            changes.append(lot)
        return changes

    @property
    def inside_value(self) -> float:
        """The mean over pairs of the change inside strata, by the signs inside."""
        return self.inside().value

    @cached_property
    def unknown(self) -> int:
        """How many pairs of a stratum have a direction that its records do not tell."""
        return sum(estimate.unknown for estimate in self.decided)

    @property
    def defined(self) -> int:
        """How many pairs of a stratum are defined."""
        return sum(int(estimate.values.defined.sum()) for estimate in self.decided)

    def _unseen(self) -> float:
        whole = self.whole
        return whole.unseen_variance(whole.factor)

    def inside_interval(self) -> Intervals | None:
        """What makes the intervals of the value by the signs inside."""
        if not self.has_intervals:
            return None
        cautions = small_cautions(self.whole.sample.counts)
        if self.unknown:
            words = (
                f"the records cannot tell the direction inside strata of {self.unknown:,} of {self.defined:,} pairs: with "
                "signs from the same records the value is biased down, and its interval covers less often than its level"
            )
            cautions += (Caution(words, UNCLEAR_SIGNS),)
        return self.whole.sample.intervals(self.inside(), cautions, None, self._unseen())

    def inside_worse(self) -> tuple[Intervals, Intervals] | None:
        """What makes the intervals of the value inside strata with the worse signs, upward and downward."""
        if not self.has_intervals:
            return None
        unseen = ERRORS_MORE * self._unseen()
        made = []
        for way in ("up", "down"):
            signs = [getattr(estimate.worse, way) for estimate in self.decided]
            made.append(self.whole.sample.intervals(self.inside(signs), (), None, unseen))
        return made[0], made[1]

    def kitagawa(self, order: str) -> Statistic:
        """The part of the rates in a change against the base; the rest is the part of the mix.

        With ``w`` the share of a stratum in a group and ``r`` its rate, 0 in the base and 1 here, it is
        ``sum_s w0 (r1 - r0)`` where rates change first and ``sum_s w1 (r1 - r0)`` where the mix does. A stratum that is
        empty on one side has no change of rates, and is all mix.
        """
        assert self.base is not None
        factor = self.whole.factor
        if order == "mix first":
            return self.inside([factor] * len(self.names))
        base = self.base
        pairs = float(self.whole.values.defined.sum())
        shares = base.size / np.maximum(base.size.sum(axis=0), np.finfo(float).tiny)
        moved, sizes, against = [], [], []
        for place, bags in enumerate(self._bags):
            lot, size = residuals(bags, against_truth=False)
            each = np.where(self.whole.values.defined, factor * shares[place][:, None], 0.0)
            known = ~np.isnan(base.rates[place])
            each = np.where(known, each, 0.0)
            rows = np.searchsorted(self.together.numbers, bags.numbers)
            wide = np.zeros((2, len(self.together.numbers), each.size))
            wide[0, rows], wide[1, rows] = (each * lot).reshape(len(lot), each.size), size.reshape(len(lot), each.size)
            moved.append(wide[0])
            sizes.append(wide[1])
            against.append((each * np.nan_to_num(base.rates[place])).reshape(-1))
        columns = [np.concatenate(part, axis=-1) for part in (moved, sizes, against)]
        return Ratios(self.together, columns[0], columns[1], np.ones(columns[2].shape), columns[2], of_all=pairs)

    @property
    def total(self) -> Statistic:
        """The value of all records, in the bags of strata."""
        return FixedSigns(self.together, self.whole.factor, self.whole.source.rates)

    def within_interval(self, order: str, of: str) -> Intervals | None:
        """What makes the intervals of the part of the rates or of the mix."""
        if not self.has_intervals:
            return None
        made = self.kitagawa(order)
        moved = made if of == "within" else Difference(self.total, made)
        unseen = self._unseen() if of == "within" else 0.0
        return self.whole.sample.intervals(moved, self.whole.cautions(), None, unseen)

    @cached_property
    def reversed(self) -> NDArray[np.bool_]:
        """Which pairs of which stratum have a sign inside, beyond chance, that is not that of the whole."""
        shape = (len(self.names), *self.whole.values.delta.shape)
        if not bool((~self.whole.worse.unknown).any()):
            return np.zeros(shape, dtype=bool)
        inside = np.stack([np.broadcast_to(estimate.values.sign, shape[1:]) for estimate in self.decided])
        p = np.stack([np.broadcast_to(estimate.cluster_sign_p, shape[1:]) for estimate in self.decided])
        known = np.stack(
            [estimate.source.signs is not None and estimate.source.sign_counts is None for estimate in self.decided]
        )
        sure = known[:, None, None] | (p < CLEAR_OF_ALL / max(self.defined, 1))
        whole = np.where(self.whole.worse.unknown, 0, self.whole.values.sign)
        return np.asarray(sure & (inside * whole < 0) & (self.sizes > 0))

    def table(self, level: float = 0.95) -> Table:
        """One row for each stratum."""
        shares = self.sizes[:, :, 0]
        everyone = [float(floats(total(bags.counts.n)).max()) for bags in self._bags]
        figures = [_figures(parts, self.whole.factor, level, self.scored) for parts in self.each]
        p = np.array([figure["p"] for figure in figures])
        columns = {
            "stratum": text(self.names),
            "n": np.array(everyone),
            "share": np.array(everyone) / max(sum(everyone), np.finfo(float).tiny),
            "smallest_group": shares.min(axis=1),
            **{name: np.array([figure[name] for figure in figures]) for name in figures[0]},
            "q": q_values(p),
            "reversed": self.reversed.sum(axis=(1, 2)),
        }
        return Table(columns)

    def pair_table(self) -> Table:
        """One row for each stratum and pair."""
        tables = [parts.pairs() for parts in self.each]
        first = np.concatenate([np.full(len(table), place) for place, table in enumerate(tables)])
        columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0].columns}
        defined = np.stack([estimate.values.defined for estimate in self.decided])
        share = self.sizes / np.maximum(self.sizes.sum(axis=0), np.finfo(float).tiny)
        whole = np.broadcast_to(self.whole.values.sign, defined.shape)
        columns |= {name: q_values(columns[name[:-1] + "p"]) for name in ("q", "score_q", "threshold_q")}
        extra = {"share": share[defined], "sign_of_whole": whole[defined], "reversed": self.reversed[defined]}
        return Table({"stratum": text(self.names)[first], **columns, **extra})


def _figures(parts: ScoreParts, factor: Signs, level: float, scored: bool) -> dict[str, float]:
    """The figures of a stratum: NaN where it has no pair, and of parts where there are no scores."""
    estimate = parts.decided
    names = ("value", "low", "high", "score", "threshold", "by_sign_of_whole", "p")
    out = dict.fromkeys(names, float("nan")) | {"pairs": 0, "unclear": 0}
    values = estimate.values
    if not values.defined.any():
        return out
    for of in PARTS if scored else PARTS[:1]:
        out[of] = parts.part(of).value
    out["by_sign_of_whole"] = float(
        np.where(values.defined, factor * np.nan_to_num(values.delta), 0.0).sum() / values.defined.sum()
    )
    out["pairs"], out["unclear"] = int(values.defined.sum()), estimate.unknown
    if estimate.sample.has_intervals and estimate.sample.records > 1:
        made = _signed_mean(estimate, estimate.factor)
        out["low"], out["high"] = made(level, "closed_form", 2, 0)
        bounds = [replace(made, unseen=ERRORS_MORE * made.unseen)] * 2
        if estimate.unknown:
            bounds = [_signed_mean(estimate, signs, ERRORS_MORE) for signs in (estimate.worse.up, estimate.worse.down)]
        out["p"] = bounds_p(bounds[0], bounds[1])
    return out


def _signed_mean(estimate: Directional, signs: Signs, errors: float = 1.0) -> Intervals:
    """What makes the intervals of the mean of ``signs * delta``; ``errors`` is how much unseen errors count."""
    mean = FixedSigns(estimate.sample.bags, signs, estimate.source.rates)
    return estimate.sample.intervals(mean, (), None, errors * estimate.unseen_variance(signs))


def bounds_p(up: Intervals, down: Intervals) -> float:
    """The two-sided p-value of a value of 0 that its bounds give: pairs of unknown direction count with the worse sign."""
    from scipy.special import ndtr, ndtri

    scale = standard_errors(_LEVEL) / float(ndtri(_LEVEL))
    tails = []
    for centre, error in ((down.value, down.standard_error()), (-up.value, up.standard_error())):
        tails.append(float(ndtr(-centre / (scale * error))) if error > 0 else 0.5)
    return min(1.0, 2.0 * min(tails))
