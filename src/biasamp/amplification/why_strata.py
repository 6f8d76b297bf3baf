"""The change inside strata, and against a base what the mix of strata adds.

``change(g, o) = sum_s P(s | g) change(g, o | s)``: what a model changes in all records is the mean of what it changes in
strata. It is shown by the sign of the whole and by the sign inside each stratum, which may differ.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.why_counts import WhyCounts
from biasamp.data import LabelSet
from biasamp.data.scores import Scored, Strata
from biasamp.resampling.intervals import Intervals, small_cautions, standard_errors_of
from biasamp.resampling.sample import Sample
from biasamp.resampling.significance import q_values
from biasamp.resampling.statistics_of_bags import Difference, FixedSigns, Known, Ratios, Statistic, residuals
from biasamp.results import Table, text
from biasamp.results.interval import UNCLEAR_SIGNS, Caution

from .base import Base
from .base_error import BaseError
from .base_records import BaseRecords
from .bounds import CLEAR_OF_ALL, ERRORS_MORE, bounds_p
from .directional import Directional
from .signs import association_p_of, association_signs
from .why_inside import AtOnce, Inside, OneByOne, own_shares
from .why_parts import PARTS, RANGE, ScoreParts

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]

# The two orders of Kitagawa: rates change at the base's mix and then the mix changes, or the other way round.
ORDERS = ("rates first", "mix first")


@dataclass(frozen=True, eq=False)
class BaseStrata:
    """Rates and mix of strata in another source.

    Attributes
    ----------
    size : ndarray of shape (strata, given labels)
        ``C(g, s)`` of the base.
    rates : ndarray of shape (strata, given labels, outcome labels)
        ``P(o | g, s)`` of the base; NaN where it has no record.
    joint : tuple of JointCounts
        The counts of each stratum.
    labels : BaseRecords
        The records.
    """

    size: Floats
    rates: Floats
    joint: tuple[JointCounts, ...]
    labels: BaseRecords

    @classmethod
    def of_labels(cls, given: LabelSet, truth: LabelSet, strata: Strata) -> BaseStrata:
        """Count the labels of a base."""
        joint = joint_of_strata(given, truth, strata)
        labels = BaseRecords.of(given, truth, [strata.codes == place for place in range(len(strata.names))])
        size = np.stack([floats(held.left)[:, 0] for held in joint])
        with np.errstate(divide="ignore", invalid="ignore"):
            rates = np.stack([floats(held.joint) / floats(held.left) for held in joint])
        return cls(size, rates, joint, labels)


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
    counts : WhyCounts
        The counts of every stratum.
    train : tuple of JointCounts, optional
        The counts of train labels in every stratum, which then decide the signs there.
    base : BaseStrata, optional
        What rates and mix are compared with.
    level : float
        The level of intervals.
    """

    names: tuple[str, ...]
    whole: Directional
    counts: WhyCounts
    train: tuple[JointCounts, ...] | None = None
    base: BaseStrata | None = None
    level: float = 0.95

    @classmethod
    def of_records(
        cls,
        records: Scored,
        whole: Directional,
        keep: tuple[NDArray[np.bool_], NDArray[np.bool_]],
        counts: WhyCounts | None = None,
    ) -> StrataParts:
        """The parts of records in memory; ``keep`` says which labels have a sign, ``counts`` are theirs where they are known."""
        strata = records.strata
        assert strata is not None
        if counts is None:
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
        return cls(strata.names, whole, counts, train, base)

    @cached_property
    def each(self) -> tuple[ScoreParts, ...]:
        """The value inside each stratum and its parts."""
        clustered = self.whole.sample.clustered
        counts = self.counts.triples
        each = []
        # All strata at once: exact tests are slow one by one.
        sign_p = association_p_of([held[0].whole.truth_joint for held in counts])
        for place, held in enumerate(counts):
            source = Base(sign_p=sign_p[place])
            if self.train is not None:
                source = Base(association_signs(self.train[place]), "the train labels", self.train[place])
            if self.base is not None:
                joint = self.base.joint[place]
                known = source if self.train is not None else Base(association_signs(joint), "the base", joint)
                rates = self.base.rates[place]
                source = replace(
                    known,
                    rates=rates,
                    rate_source=self.whole.source.rate_source,
                    records=np.broadcast_to(self.base.size[place][:, None], rates.shape),
                    labels=self.base.labels[place],
                    own_signs=self.train is None,
                )
            each.append(ScoreParts.of_samples([Sample(bags, clustered) for bags in held], source, self.level))
        return tuple(each)

    @cached_property
    def inside(self) -> Inside:
        """What is estimated inside strata."""
        if self.counts.tables is None or self.train or self.base is not None or self.whole.sample.clustered:
            return OneByOne(self.each)
        return AtOnce(self.counts.tables)

    @property
    def sizes(self) -> Floats:
        """``C(g, s)`` of every pair, of shape (strata, given labels, outcome labels)."""
        return self.inside.sizes

    @property
    def has_intervals(self) -> bool:
        """Whether there are bags to resample."""
        return self.inside.together.resamplable and self.whole.sample.has_intervals

    def moved(self, signs: Signs | None = None) -> Ratios:
        """``sum_s P(s | g) y_s(g, o) change(g, o | s)``, the mean over pairs, with the signs inside or some others."""
        return self.inside.moved(self.inside.factor if signs is None else signs, self.whole.values.defined)

    @cached_property
    def inside_value(self) -> float:
        """The mean over pairs of the change inside strata, by the signs inside."""
        return self.moved().value

    @cached_property
    def unknown(self) -> int:
        """How many pairs of a stratum have a direction that its records do not tell."""
        return int(self.inside.worse.unknown.sum())

    @property
    def defined(self) -> int:
        """How many pairs of a stratum are defined."""
        return int(self.inside.values.defined.sum())

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
        added = self._unseen() + self._base_error(self.inside.factor)
        return self.whole.sample.intervals(self.moved(), cautions, None, added)

    def inside_worse(self) -> tuple[Intervals, Intervals] | None:
        """What makes the intervals of the value inside strata with the worse signs, upward and downward."""
        if not self.has_intervals:
            return None
        unseen = ERRORS_MORE * self._unseen()
        made = []
        worse = self.inside.worse_in_sum
        for signs in (worse.up, worse.down):
            added = unseen + self._base_error(signs)
            made.append(self.whole.sample.intervals(self.moved(signs), (), None, added))
        return made[0], made[1]

    @cached_property
    def _error_of_base(self) -> BaseError | None:
        base = self.base
        return None if base is None else BaseError(self.whole.sample.counts, base.size, base.rates, base.labels)

    def _base_error(self, signs: Signs) -> float:
        """What the error of base rates adds to the variance of :meth:`moved`, whose mix is that of the evaluated records."""
        if self._error_of_base is None:
            return 0.0
        shares = self.sizes[..., 0] / np.maximum(self.sizes[..., 0].sum(axis=0), np.finfo(float).tiny)
        return self._error_of_base.variance(shares, self._counted(signs)) / self._pairs**2

    def _counted(self, signs: Signs) -> Floats:
        return np.where(self.whole.values.defined, signs, 0).astype(np.float64)

    @property
    def _pairs(self) -> float:
        return float(self.whole.values.defined.sum())

    def _error_against_base(self, of: str) -> float:
        """What the error of a base adds to the variance of the part of the rates, or of the mix, where rates change first."""
        error, signed = self._error_of_base, self._counted(self.whole.factor)
        assert error is not None
        here = self.inside.values.predicted_rate
        empty, nothing = np.isnan(here), np.zeros(error.size.shape)
        if of == "within":
            weight, rate = np.where(empty[..., 0], nothing, error.shares), np.where(empty, 0.0, here - error.rates)
        else:
            # A stratum without evaluated records is all mix, at the rates of the base.
            weight, rate = np.where(empty[..., 0], error.shares, nothing), np.where(empty, error.rates, here)
        moved = (signed * np.nan_to_num(rate)).sum(axis=-1)
        return error.variance(weight, signed, moved) / self._pairs**2

    def kitagawa(self, order: str) -> Statistic:
        """The part of the rates in a change against the base; the rest is the part of the mix.

        With ``w`` the share of a stratum in a group and ``r`` its rate, 0 in the base and 1 here, it is
        ``sum_s w0 (r1 - r0)`` where rates change first and ``sum_s w1 (r1 - r0)`` where the mix does. A stratum that is
        empty on one side has no change of rates, and is all mix.
        """
        assert self.base is not None
        factor = self.whole.factor
        if order == "mix first":
            return self.moved(np.broadcast_to(factor, self.inside.factor.shape))
        base = self.base
        assert self._error_of_base is not None
        shares = self._error_of_base.shares
        moved, sizes, against = [], [], []
        together = self.inside.together
        for place, (bags, _, _) in enumerate(self.counts.triples):
            lot, size = residuals(bags, against_truth=False)
            each = np.where(self.whole.values.defined, factor * shares[place][:, None], 0.0)
            known = ~np.isnan(base.rates[place])
            each = np.where(known, each, 0.0)
            rows = np.searchsorted(together.numbers, bags.numbers)
            wide = np.zeros((2, len(together.numbers), each.size))
            wide[0, rows], wide[1, rows] = (each * lot).reshape(len(lot), each.size), size.reshape(len(lot), each.size)
            moved.append(wide[0])
            sizes.append(wide[1])
            against.append((each * np.nan_to_num(base.rates[place])).reshape(-1))
        columns = [np.concatenate(part, axis=-1) for part in (moved, sizes, against)]
        return Ratios(together, columns[0], columns[1], np.ones(columns[2].shape), columns[2], of_all=self._pairs)

    @property
    def total(self) -> Statistic:
        """The value of all records, in the bags of strata."""
        return FixedSigns(self.inside.together, self.whole.factor, self.whole.source.rates)

    def against_base_interval(self, of: str) -> Intervals | None:
        """What makes the intervals of the part of the rates or of the mix, where rates change first."""
        if not self.has_intervals:
            return None
        made = self.kitagawa(ORDERS[0])
        moved = made if of == "within" else Difference(self.total, made)
        added = self._error_against_base(of) + (self._unseen() if of == "within" else 0.0)
        return self.whole.sample.intervals(moved, self.whole.cautions(), None, added)

    @cached_property
    def reversed(self) -> NDArray[np.bool_]:
        """Which pairs of which stratum have a sign inside, beyond chance, that is not that of the whole."""
        inside = self.inside
        if not bool((~self.whole.worse.unknown).any()):
            return np.zeros(inside.sizes.shape, dtype=bool)
        sure = inside.told[:, None, None] | (inside.sign_p < CLEAR_OF_ALL / max(self.defined, 1))
        whole = np.where(self.whole.worse.unknown, 0, self.whole.values.sign)
        return np.asarray(sure & (inside.values.sign * whole < 0) & (self.sizes > 0))

    def table(self, level: float = 0.95) -> Table:
        """One row for each stratum."""
        shares = self.sizes[:, :, 0]
        everyone = self.inside.weight
        figures = self._figures(level)
        columns = {
            "stratum": text(self.names),
            "n": everyone,
            "share": everyone / max(sum(everyone.tolist()), np.finfo(float).tiny),
            "smallest_group": shares.min(axis=1),
            **figures,
            "q": q_values(figures["p"]),
            "reversed": self.reversed.sum(axis=(1, 2)),
        }
        return Table(columns)

    def _figures(self, level: float) -> dict[str, NDArray[Any]]:
        """The figures of strata: NaN where one has no pair, and of parts where there are no scores."""
        inside = self.inside
        values, defined = inside.values, inside.values.defined
        pairs = defined.sum(axis=(1, 2))
        nothing = np.full(len(pairs), np.nan)
        moved = np.where(defined, self.whole.factor * np.nan_to_num(values.delta), 0.0).sum(axis=(1, 2))
        with np.errstate(divide="ignore", invalid="ignore"):
            by_sign = np.where(pairs > 0, moved / pairs, np.nan)
        parts = {of: inside.part(of) if self.counts.scored or of == PARTS[0] else nothing for of in PARTS}
        low, high, p = self._tests(level, (pairs > 0) & (inside.records > 1)) if self.has_bags else (nothing,) * 3
        return {
            "value": np.where(pairs > 0, parts["value"], np.nan),
            "low": low,
            "high": high,
            "score": np.where(pairs > 0, parts["score"], np.nan),
            "threshold": np.where(pairs > 0, parts["threshold"], np.nan),
            "by_sign_of_whole": by_sign,
            "p": p,
            "pairs": pairs,
            "unclear": inside.worse.unknown.sum(axis=(1, 2)),
        }

    @property
    def has_bags(self) -> bool:
        """Whether there are bags of every stratum to resample."""
        return self.inside.together.resamplable

    def _tests(self, level: float, there: NDArray[np.bool_]) -> tuple[Floats, Floats, Floats]:
        """Both ends of the interval of each stratum's value, and the p-value of 0; NaN for strata that are not ``there``."""
        inside = self.inside
        worse = inside.worse
        unclear = np.asarray(worse.unknown.any(axis=(1, 2)))
        lots = [inside.factor, worse.up, worse.down] if unclear.any() else [inside.factor]
        clustered = self.whole.sample.clustered
        low, high, p = (np.full(len(there), np.nan) for _ in range(3))
        influences = [inside.influences(lot) for lot in lots]
        unseen, of_base = ([of(lot) for lot in lots] for of in (inside.unseen, inside.base_error))
        values = inside.mean(lots[0])
        for place in np.flatnonzero(there).tolist():
            more = float(unseen[0][place] + of_base[0][place])
            own = Intervals(Known(float(values[place]), influences[0][place]), clustered, unseen=more)
            low[place], high[place] = own(level, "closed_form", 2, 0).within(*RANGE)
        bounds = [
            (inside.mean(lot), standard_errors_of(moved, ERRORS_MORE * each + error))
            for lot, moved, each, error in zip(lots, influences, unseen, of_base, strict=True)
        ]
        own_bounds, (up, down) = bounds[0], (bounds[1:] or [bounds[0]] * 2)
        # Where all signs are known, both bounds are those of the value.
        one, two = (
            [np.where(unclear, far, near) for far, near in zip(side, own_bounds, strict=True)] for side in (up, down)
        )
        p[there] = bounds_p((one[0], one[1]), (two[0], two[1]))[there]
        return low, high, p

    def pair_table(self) -> Table:
        """One row for each stratum and pair."""
        tables = [parts.pairs() for parts in self.each]
        first = np.concatenate([np.full(len(table), place) for place, table in enumerate(tables)])
        columns = {name: np.concatenate([table[name] for table in tables]) for name in tables[0].columns}
        defined = self.inside.values.defined
        share = own_shares(self.sizes)
        whole = np.broadcast_to(self.whole.values.sign, defined.shape)
        columns |= {name: q_values(columns[name[:-1] + "p"]) for name in ("q", "score_q", "threshold_q")}
        extra: dict[str, NDArray[Any]] = {
            "share": share[defined],
            "sign_of_whole": whole[defined],
            "reversed": self.reversed[defined],
        }
        return Table({"stratum": text(self.names)[first], **columns, **extra})
