"""What is estimated inside every stratum: of all strata at once where their counts are whole, else one by one.

Both forms give the same figures. Arrays have strata as their leading axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from operator import attrgetter
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.bags import BagCounts
from biasamp.counts.fixed import floats, total
from biasamp.counts.pair import PairCounts
from biasamp.counts.score_tables import ScoreTables
from biasamp.counts.strata import all_strata
from biasamp.resampling.statistics_of_bags import (
    FixedSigns,
    Ratios,
    fixed_sign_value,
    influence_on_ratios,
    residuals,
)
from biasamp.resampling.unseen_errors import Unseen, complementary, possible_sets

from .bounds import WorseSigns, worse_signs, worse_signs_of_all
from .directional import directional_pairs
from .pair_table import PairValues, mean_over_pairs
from .signs import association_p, association_signs
from .why_parts import PARTS, ScoreParts

Floats = NDArray[np.float64]
Signs = NDArray[np.int8]
Mask = NDArray[np.bool_]
Index = NDArray[np.int64]


class Inside(Protocol):
    """The directional value inside every stratum."""

    @property
    def values(self) -> PairValues:
        """What every pair contributes."""

    @property
    def factor(self) -> Signs:
        """What delta of every pair is multiplied with."""

    @property
    def worse(self) -> WorseSigns:
        """The signs of the bounds."""

    @property
    def worse_in_sum(self) -> WorseSigns:
        """The signs of the bounds of :meth:`moved`, in which each given label counts by its own shares of strata."""

    @property
    def sign_p(self) -> Floats:
        """How sure each sign is."""

    @property
    def told(self) -> Mask:
        """Of which strata the signs are given, not estimated, of shape (strata,)."""

    @property
    def sizes(self) -> Floats:
        """``C(g, s)`` of every pair."""

    @property
    def weight(self) -> Floats:
        """The weight of the records, of shape (strata,)."""

    @property
    def records(self) -> Index:
        """How many records there are, of shape (strata,)."""

    @property
    def together(self) -> BagCounts:
        """The counts of all strata, in the bags of strata."""

    def part(self, of: str) -> Floats:
        """The value of a part by its name, of shape (strata,)."""

    def mean(self, signs: Signs) -> Floats:
        """The mean of ``signs * delta``, of shape (strata,)."""

    def influences(self, signs: Signs) -> Sequence[Floats]:
        """How much every bag of each stratum moves that mean."""

    def unseen(self, signs: Signs) -> Floats:
        """What errors that were not seen add to its variance, of shape (strata,)."""

    def base_error(self, signs: Signs) -> Floats:
        """What the error of base rates adds to it, of shape (strata,)."""

    def moved(self, signs: Signs, whole: Mask) -> Ratios:
        """``sum_s P(s | g) signs change(g, o | s)``, the mean over the pairs that are defined in the ``whole``."""


def own_shares(sizes: Floats) -> Floats:
    """``P(s | g)`` of every pair, by which a stratum's change counts in the change of all records; 0 of no records."""
    return np.asarray(sizes / np.maximum(sizes.sum(axis=0), np.finfo(float).tiny))


@dataclass(frozen=True, eq=False)
class OneByOne:
    """Strata of any counts.

    Attributes
    ----------
    each : tuple of ScoreParts
        The value inside each stratum and its parts.
    """

    each: tuple[ScoreParts, ...]

    @cached_property
    def bags(self) -> list[BagCounts]:
        """The counts of each stratum."""
        return [parts.decided.sample.bags for parts in self.each]

    def _stacked(self, of: Callable[[Any], Any]) -> Any:
        shape = self.each[0].decided.values.delta.shape
        return np.stack([np.broadcast_to(of(parts.decided), shape) for parts in self.each])

    @cached_property
    def values(self) -> PairValues:
        """What every pair contributes."""
        names = PairValues.__dataclass_fields__
        return PairValues(*(self._stacked(attrgetter(f"values.{name}")) for name in names))

    @cached_property
    def factor(self) -> Signs:
        """What delta of every pair is multiplied with."""
        return np.asarray(self._stacked(lambda one: one.factor))

    @cached_property
    def worse(self) -> WorseSigns:
        """The signs of the bounds."""
        names = WorseSigns.__dataclass_fields__
        return WorseSigns(*(self._stacked(attrgetter(f"worse.{name}")) for name in names))

    @cached_property
    def worse_in_sum(self) -> WorseSigns:
        """The signs of the bounds of :meth:`moved`."""
        moved, unknown = self.values.delta * own_shares(self.sizes), self.worse.unknown
        each = [
            worse_signs(parts.decided.sample.counts, *signs)
            for parts, *signs in zip(self.each, self.factor, moved, np.where(unknown, 1.0, 0.0), strict=True)
        ]
        names = WorseSigns.__dataclass_fields__
        return WorseSigns(*(np.stack([getattr(one, name) for one in each]) for name in names))

    @cached_property
    def sign_p(self) -> Floats:
        """How sure each sign is."""
        return np.asarray(self._stacked(lambda one: one.cluster_sign_p))

    @cached_property
    def told(self) -> Mask:
        """Of which strata the signs are given, not estimated."""
        sources = [parts.decided.source for parts in self.each]
        return np.array([source.signs is not None and source.sign_counts is None for source in sources])

    @cached_property
    def sizes(self) -> Floats:
        """``C(g, s)`` of every pair."""
        return np.asarray(self._stacked(lambda one: floats(one.sample.bags.whole.given)))

    @cached_property
    def weight(self) -> Floats:
        """The weight of the records."""
        return np.array([float(floats(total(bags.counts.n)).max()) for bags in self.bags])

    @cached_property
    def records(self) -> Index:
        """How many records there are."""
        return np.array([parts.decided.sample.records for parts in self.each])

    @cached_property
    def together(self) -> BagCounts:
        """The counts of all strata, in the bags of strata."""
        return all_strata(self.bags)

    def part(self, of: str) -> Floats:
        """The value of a part by its name."""
        return np.array([parts.part(of).value for parts in self.each])

    def _means(self, signs: Signs) -> Iterator[FixedSigns]:
        for parts, own in zip(self.each, signs, strict=True):
            yield FixedSigns(parts.decided.sample.bags, own, parts.decided.source.rates)

    def mean(self, signs: Signs) -> Floats:
        """The mean of ``signs * delta``."""
        return np.array([one.value for one in self._means(signs)])

    def influences(self, signs: Signs) -> Sequence[Floats]:
        """How much every bag of each stratum moves that mean."""
        return [one.influence() for one in self._means(signs)]

    def unseen(self, signs: Signs) -> Floats:
        """What errors that were not seen add to its variance."""
        return np.array([parts.decided.unseen_variance(own) for parts, own in zip(self.each, signs, strict=True)])

    def base_error(self, signs: Signs) -> Floats:
        """What the error of base rates adds to it."""
        return np.array([parts.decided.base_error(own) for parts, own in zip(self.each, signs, strict=True)])

    @cached_property
    def _changes(self) -> list[Floats]:
        """What decisions change in every bag of each stratum, of shape (bags, given labels, outcome labels)."""
        changes = []
        for parts in self.each:
            rates = parts.decided.source.rates
            lot, size = residuals(parts.decided.sample.bags, rates is None)
            if rates is not None:
                # A stratum that the base lacks is no change of rates.
                lot = np.where(np.isnan(rates), 0.0, lot - size * np.nan_to_num(rates))
            changes.append(lot)
        return changes

    def moved(self, signs: Signs, whole: Mask) -> Ratios:
        """The mean over pairs of the changes inside strata, with these signs."""
        numbers = self.together.numbers
        moved = np.zeros((len(numbers), *self._changes[0].shape[1:]))
        for bags, own, lot in zip(self.bags, signs, self._changes, strict=True):
            moved[np.searchsorted(numbers, bags.numbers)] += own * lot
        moved = np.where(whole, moved, 0.0)
        size = floats(self.together.counts.given)
        if size.shape[-1] == 1:
            # All outcomes of a group are over the same records: their sum is one column.
            return Ratios(self.together, moved.sum(axis=-1), size[..., 0], whole.sum(axis=-1).astype(np.float64))
        rows = len(moved)
        size = np.broadcast_to(size, moved.shape).reshape(rows, -1)
        return Ratios(self.together, moved.reshape(rows, -1), size, whole.reshape(-1).astype(np.float64))


@dataclass(frozen=True, eq=False)
class AtOnce:
    """Strata of records without weights or clusters, whose signs are their own.

    Attributes
    ----------
    tables : ScoreTables
        Sums of decisions are whole numbers, which add up to the same in any order.
    """

    tables: ScoreTables

    @cached_property
    def _counts(self) -> tuple[PairCounts, PairCounts, PairCounts]:
        return self.tables.all_strata.kinds

    @cached_property
    def values(self) -> PairValues:
        """What every pair contributes."""
        counts = self._counts[0]
        return directional_pairs(counts, association_signs(counts.truth_joint))

    @property
    def factor(self) -> Signs:
        """What delta of every pair is multiplied with."""
        return self.values.sign

    @cached_property
    def sign_p(self) -> Floats:
        """How sure each sign is."""
        return association_p(self._counts[0].truth_joint)

    @cached_property
    def told(self) -> Mask:
        """Signs are estimated."""
        return np.zeros(len(self.records), dtype=bool)

    @cached_property
    def sizes(self) -> Floats:
        """``C(g, s)`` of every pair."""
        return np.broadcast_to(floats(self._counts[0].given), self.values.delta.shape)

    @cached_property
    def weight(self) -> Floats:
        """The weight of the records."""
        return self.records.astype(np.float64)

    @property
    def records(self) -> Index:
        """How many records there are."""
        return self.tables.records

    @property
    def together(self) -> BagCounts:
        """The counts of all strata, in the bags of strata."""
        return self.tables.everything[0]

    def part(self, of: str) -> Floats:
        """The value of a part by its name."""
        signs = self.values.sign
        pairs = self.values if of == PARTS[0] else directional_pairs(self._counts[PARTS.index(of)], signs)
        return mean_over_pairs(pairs.amplification, pairs.defined)

    def mean(self, signs: Signs) -> Floats:
        """The mean of ``signs * delta``."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return fixed_sign_value(self._counts[0], signs)

    def influences(self, signs: Signs) -> Sequence[Floats]:
        """How much every bag of each stratum moves that mean."""
        strata = self.tables.all_strata
        moved, size = strata.change, strata.size
        counts = self._counts[0]
        change = floats(counts.joint_predicted) - floats(counts.joint_truth)
        totals = (signs * change).sum(axis=-1), floats(counts.given)[..., 0]
        pairs = np.full(moved.shape[1], float(moved.shape[2]))
        pulled = np.einsum("rgo,rgo->rg", signs[strata.stratum], moved)
        found = influence_on_ratios(pulled, size, totals, pairs, strata=strata.stratum)
        edges = strata.edges.tolist()
        return [found[start:stop] for start, stop in pairwise(edges)]

    @cached_property
    def _alike(self) -> list[tuple[Index, bool, list[Index]]]:
        """Strata whose labels exclude each other in the same way: which, whether groups do, and sets of outcomes that do."""
        counts = self._counts[0]
        sets = possible_sets(counts)
        ways = np.stack([complementary(counts), *(adds_up for _, adds_up in sets)], axis=1)
        several, way = np.unique(ways, axis=0, return_inverse=True)
        out = []
        for number, (opposite, *known) in enumerate(several.tolist()):
            mine = [places for (places, _), adds_up in zip(sets, known, strict=True) if adds_up]
            out.append((np.flatnonzero(way.reshape(-1) == number), bool(opposite), mine))
        return out

    @cached_property
    def worse(self) -> WorseSigns:
        """The signs of the bounds."""
        return self._worse(self.values.delta)

    @cached_property
    def worse_in_sum(self) -> WorseSigns:
        """The signs of the bounds of :meth:`moved`."""
        return self._worse(self.values.delta * own_shares(self.sizes))

    def _worse(self, moved: Floats) -> WorseSigns:
        """The signs with which these changes add up to the most and to the least."""
        up, down = (np.zeros(moved.shape, dtype=np.int8) for _ in range(2))
        unknown = np.zeros(moved.shape, dtype=bool)
        for mine, opposite, sets in self._alike:
            held = worse_signs_of_all(opposite, sets, self.factor[mine], moved[mine], self.sign_p[mine])
            up[mine], down[mine], unknown[mine] = held.up, held.down, held.unknown
        return WorseSigns(up, down, unknown)

    @cached_property
    def _errors(self) -> Unseen:
        return Unseen(self._counts[0])

    def unseen(self, signs: Signs) -> Floats:
        """What errors that were not seen add to its variance."""
        out = np.zeros(len(self.records))
        for mine, _, sets in self._alike:
            out[mine] = self._errors.variances(signs, self.values.defined, True, sets, mine)
        return out

    def base_error(self, signs: Signs) -> Floats:
        """There is no base."""
        return np.zeros(len(self.records))

    def moved(self, signs: Signs, whole: Mask) -> Ratios:
        """The mean over pairs of the changes inside strata, with these signs."""
        strata, bags = self.tables.all_strata, self.together
        counting = np.where(whole, signs, 0)
        # Changes of decisions are whole numbers: the order in which they are added does not matter.
        pulled = np.einsum("rgo,rgo->rg", counting[strata.stratum], strata.change)
        groups = pulled.shape[1]
        place = np.searchsorted(bags.numbers, strata.numbers)[:, None] * groups + np.arange(groups)
        many = len(bags.numbers) * groups
        moved: Floats = np.bincount(place.ravel(), pulled.ravel(), minlength=many).astype(np.float64)
        size = floats(bags.counts.given)[..., 0]
        return Ratios(bags, moved.reshape(-1, groups), size, whole.sum(axis=-1).astype(np.float64))
