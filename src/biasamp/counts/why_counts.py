"""The counts that the parts of a change follow from, stratum by stratum: decisions, scores, and both against each other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation, LabelSet
from biasamp.data.label import Mask

from .bagging import FEWEST_BAGS, HALVES, bags_for
from .bags import BagCounts
from .reliability import ReliabilityCounts
from .score_tables import ScoreTables, fits
from .storage import Arrays, from_arrays, get_count, put_count, to_arrays
from .strata import all_strata, count_strata
from .threshold_counts import ThresholdCounts, count_scores

Index = NDArray[np.int64]

# What is counted: decisions against the truth, scores against the truth, decisions against scores.
KINDS = ("decided", "scored", "margin")
Stratum = tuple[BagCounts, ...]
# Tables of strata are so many times smaller than those of all records, in bags: they are many.
_FEWER = 4
# Rows of such a table, where as many bags of every stratum as say enough of an error do not need more.
_MOST_ROWS = 24_576


def bags_of_strata(strata: int, pairs: int) -> int:
    """Into how many bags the records of every stratum fall.

    >>> bags_of_strata(6, 4), bags_of_strata(50, 4), bags_of_strata(1000, 4), bags_of_strata(1000, 40)
    (4096, 256, 256, 2)
    """
    bags = bags_for(_FEWER * strata * pairs)
    while bags > FEWEST_BAGS and bags * strata > _MOST_ROWS:
        bags //= 2
    return bags


Triple = tuple[BagCounts, BagCounts, BagCounts]


def count_parts(
    decided: Evaluation, scores: LabelSet, strata: tuple[str, ...] = (), codes: Index | None = None
) -> tuple[Triple, WhyCounts | None, ThresholdCounts | None, ReliabilityCounts] | None:
    """The three counts of all records in as many bags as fit, and the counts of strata, in one look at the records.

    None where records are not of the kind that :class:`ScoreTables` are for, or of too many pairs for bags.
    """
    bags = bags_for(decided.given.width * decided.truth.width)
    if bags == HALVES or not scores.soft or not fits(decided, scores):
        return None
    cuts = [(np.zeros(len(decided), dtype=np.int64), 1, bags)]
    if codes is not None:
        cuts.insert(0, (codes, len(strata), bags_of_strata(len(strata), decided.given.width * decided.truth.width)))
    tables, (thresholds, reliability), _ = ScoreTables.of_cuts(decided, scores, cuts)
    inside = None if codes is None else WhyCounts(strata, (), tables[0], reliability, thresholds)
    return tables[-1].everything, inside, thresholds, reliability


@dataclass(frozen=True, eq=False, repr=False)
class WhyCounts:
    """Pair counts by bag of every stratum; they add up over records.

    Attributes
    ----------
    strata : tuple of str
        The strata; one without a name where there are none.
    lots : tuple of tuple of BagCounts
        Of every stratum the counts of :data:`KINDS`, or of the first of them where there are no scores.
    tables : ScoreTables, optional
        Instead of ``lots`` the sums of records without weights that have scores.
    reliability : ReliabilityCounts, optional
        Of the scores.
    thresholds : ThresholdCounts, optional
        Of the scores, where thresholds decide and there are not too many pairs.
    """

    strata: tuple[str, ...]
    lots: tuple[Stratum, ...] = ()
    tables: ScoreTables | None = None
    reliability: ReliabilityCounts | None = None
    thresholds: ThresholdCounts | None = None

    @classmethod
    def of_records(
        cls,
        decided: Evaluation,
        scores: LabelSet | None,
        strata: tuple[str, ...] = (),
        codes: Index | None = None,
        *,
        holes: bool = False,
    ) -> WhyCounts:
        """Count records, whose keys decide the bags; with ``holes`` some may lack a label, here or in other parts of the data."""
        return cls._of_records(decided, scores, strata, codes, holes)[0]

    @classmethod
    def with_pairs(
        cls,
        decided: Evaluation,
        scores: LabelSet | None,
        strata: tuple[str, ...] = (),
        codes: Index | None = None,
        *,
        holes: bool,
        bags: int,
    ) -> tuple[WhyCounts, BagCounts]:
        """As :meth:`of_records`, and the pair counts of decisions in so many bags: in one look at the records where that can be."""
        made, pairs = cls._of_records(decided, scores, strata, codes, holes, bags)
        return made, BagCounts.from_labels(decided, bags, by_row=False) if pairs is None else pairs

    @classmethod
    def _of_records(
        cls,
        decided: Evaluation,
        scores: LabelSet | None,
        strata: tuple[str, ...],
        codes: Index | None,
        holes: bool,
        pairs: int | None = None,
    ) -> tuple[WhyCounts, BagCounts | None]:
        names = strata or ("",)
        codes = np.zeros(len(decided), dtype=np.int64) if codes is None else codes
        bags = bags_of_strata(len(names), decided.given.width * decided.truth.width)
        if scores is not None and (decided.missing or scores.missing):
            # These are of fewer records than the pairs.
            decided, scores, codes = _of_the_same_records(decided, scores, codes)
            pairs = None
        # Tables have no holes. Where other parts may have some, none is counted into tables: all are then rounded alike.
        uneven = holes and not (decided.given.exclusive and decided.truth.exclusive)
        if scores is not None and not uneven and fits(decided, scores):
            cut = codes, len(names), bags
            (tables,), (thresholds, reliability), made = ScoreTables.of_cuts(decided, scores, [cut], decided=pairs)
            return cls(names, (), tables, reliability, thresholds), made
        lots = [decided]
        if scores is not None:
            lots += [replace(decided, predicted=scores), replace(decided, truth=scores)]
        held = zip(*(count_strata(lot, codes, len(names), bags) for lot in lots), strict=True)
        if scores is None:
            return cls(names, tuple(held)), None
        thresholds, reliability = count_scores(lots[1])
        return cls(names, tuple(held), None, reliability, thresholds), None

    @property
    def scored(self) -> bool:
        """Whether there are scores."""
        return self.tables is not None or len(self.lots[0]) > 1

    @property
    def hard(self) -> bool:
        """Whether there are scores, and all of them are 0 or 1."""
        if self.tables is not None:
            return self.tables.hard
        return self.scored and not any(stratum[1].soft for stratum in self.lots)

    @property
    def stratified(self) -> bool:
        """Whether there are strata."""
        return self.strata != ("",)

    def _changed(self, change: Callable[[Any], Any]) -> WhyCounts:
        lots = tuple(tuple(change(bags) for bags in stratum) for stratum in self.lots)
        return replace(self, lots=lots, tables=None if self.tables is None else change(self.tables))

    def shuffled(self, seed: int) -> WhyCounts:
        """The same counts with the bags in another order."""
        return self._changed(lambda held: held.shuffled(seed))

    def only(self, given: Mask, outcome: Mask) -> WhyCounts:
        """The counts of some of the labels."""
        few: dict[str, Any] = {
            name: None if held is None else held.only(given, outcome)
            for name, held in (("reliability", self.reliability), ("thresholds", self.thresholds))
        }
        return replace(self._changed(lambda held: held.only(given, outcome)), **few)

    @property
    def triples(self) -> list[Triple]:
        """Of every stratum the three counts; without scores the decisions stand for all."""
        if self.tables is not None:
            return [self.tables.stratum(place) for place in range(len(self.strata))]
        return [(held[0], held[-2], held[-1]) if len(held) > 1 else (held[0],) * 3 for held in self.lots]

    @property
    def whole(self) -> Triple:
        """The three counts of all records."""
        if self.tables is not None:
            return self.tables.everything
        first, second, third = zip(*self.triples, strict=True)
        return all_strata(first), all_strata(second), all_strata(third)

    def __add__(self, other: WhyCounts) -> WhyCounts:
        if not isinstance(other, WhyCounts):
            return NotImplemented
        if self.strata != other.strata or self.scored != other.scored:
            raise ValueError("counts of different strata or scores do not add up")
        if (self.tables is None) != (other.tables is None):
            one, two = (replace(part, lots=tuple(part.triples), tables=None) for part in (self, other))
            return one + two
        scores = thresholds = None
        if self.reliability is not None and other.reliability is not None:
            scores = self.reliability + other.reliability
        if self.thresholds is not None and other.thresholds is not None:
            thresholds = self.thresholds + other.thresholds
        if self.tables is not None and other.tables is not None:
            return WhyCounts(self.strata, (), self.tables + other.tables, scores, thresholds)
        pairs = zip(self.lots, other.lots, strict=True)
        lots = tuple(tuple(a + b for a, b in zip(*pair, strict=True)) for pair in pairs)
        return WhyCounts(self.strata, lots, None, scores, thresholds)

    def to_arrays(self) -> tuple[dict[str, Any], Arrays]:
        """A header and named arrays; only bags that hold records have rows."""
        arrays: Arrays = {}
        header: dict[str, Any] = {"strata": list(self.strata), "parts": {}}
        if self.tables is not None:
            header["tables"] = self.tables.put(arrays)
        for place, stratum in enumerate(self.lots):
            for kind, bags in zip(KINDS, stratum, strict=False):
                name = f"{place}/{kind}"
                held, mine = to_arrays(bags.counts)
                header["parts"][name] = [held, bags.bags, bags.soft]
                arrays.update({f"{name}//{key}": array for key, array in mine.items()})
                arrays[f"{name}//numbers"] = bags.numbers
                put_count(arrays, f"{name}//agreeing", bags.agreeing)
        if self.reliability is not None:
            self.reliability.put(arrays)
        if self.thresholds is not None:
            self.thresholds.put(arrays)
        return header, arrays

    @classmethod
    def from_arrays(cls, header: dict[str, Any], arrays: Arrays) -> WhyCounts:
        """What :meth:`to_arrays` took apart."""
        strata = tuple(header["strata"])
        if "tables" in header:
            tables = ScoreTables.get(header["tables"], arrays)
            return cls(strata, (), tables, ReliabilityCounts.get(arrays), ThresholdCounts.get(arrays))
        by_name: dict[str, Arrays] = {}
        for key, array in arrays.items():
            name, part = key.split("//", 1)
            by_name.setdefault(name, {})[part] = array
        lots = []
        for place in range(len(strata)):
            stratum = []
            for kind in KINDS:
                name = f"{place}/{kind}"
                if name in header["parts"]:
                    held, bags, soft = header["parts"][name]
                    mine = by_name[name]
                    numbers, agreeing = mine.pop("numbers"), get_count(mine, "agreeing")
                    stratum.append(BagCounts(bags, numbers, from_arrays(held, mine), agreeing, bool(soft)))
            lots.append(tuple(stratum))
        reliability = ReliabilityCounts.get(arrays) if len(lots[0]) > 1 else None
        return cls(strata, tuple(lots), None, reliability, ThresholdCounts.get(arrays))


def _of_the_same_records(decided: Evaluation, scores: LabelSet, codes: Index) -> tuple[Evaluation, LabelSet, Index]:
    """Truth, decisions and scores of an outcome missing together: parts add up over the same records only.

    What a record lacks of one outcome takes it out of the pairs of that outcome alone.
    """
    outcomes = decided.truth, decided.predicted, scores
    there = np.logical_and.reduce([_there(labels) for labels in outcomes])
    keep = there.any(axis=1) & _there(decided.given).any(axis=1)
    truth, predicted, scores = (labels.where(there).take(keep) for labels in outcomes)
    return replace(decided.take(keep), truth=truth, predicted=predicted), scores, codes[keep]


def _there(labels: LabelSet) -> NDArray[np.bool_]:
    """Which labels of which records are known, of shape (records, labels)."""
    present = labels.present()
    return np.ones((len(labels), labels.width), dtype=bool) if present is None else present
