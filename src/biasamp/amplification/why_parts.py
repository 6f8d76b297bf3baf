"""The part of the scores and the part of the threshold in a directional value, with the machinery of the value itself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from biasamp.counts.pair import PairCounts
from biasamp.data.scores import Scored
from biasamp.resampling.intervals import Intervals
from biasamp.resampling.sample import Sample
from biasamp.resampling.statistics_of_bags import Difference
from biasamp.results import Table
from biasamp.results.interval import Interval

from .base import Base
from .bounds import WorseSigns, worse_signs
from .directional import Directional
from .pair_table import PairValues

# The parts of a value, in the order in which they are shown.
PARTS = ("value", "score", "threshold")
# Beyond which no part lies: each is a mean of differences of shares.
RANGE = (-1.0, 1.0)
# Verdicts on a figure: what its bounds say of it.
AMPLIFIES, REDUCES, UNTOLD, UNKNOWN = "amplifies", "reduces", "not told from 0", "no verdict"


@dataclass(frozen=True, eq=False)
class Margin(Directional):
    """What decisions add to the scores: decisions in the place of predictions, scores in the place of the truth.

    Signs are those of the decided value: scores say nothing of the direction of a pair.
    """

    decided: Directional = field(kw_only=True)
    scored: Directional = field(kw_only=True)

    def signs(self, counts: PairCounts) -> NDArray[np.int8]:
        """The signs of the decided value."""
        return self.decided.values.sign

    @cached_property
    def values(self) -> PairValues:
        """What every pair of the decided value contributes: a base may lack a group, which decisions and scores have."""
        own, there = super().values, self.decided.values.defined
        rates = {
            name: np.where(there, getattr(own, name), np.nan)
            for name in ("truth_rate", "predicted_rate", "delta", "amplification")
        }
        return replace(own, **rates, defined=own.defined & there)

    @cached_property
    def sign_p(self) -> NDArray[np.float64]:
        """How sure each sign is."""
        return self.decided.sign_p

    @cached_property
    def worse(self) -> WorseSigns:
        """The signs of the bounds."""
        if self.source.told:
            return super().worse
        decided = self.decided
        return worse_signs(decided.sample.counts, self.factor, self.values.delta, decided.cluster_sign_p)

    @property
    def lends_signs(self) -> bool:
        """There is no cross-fitted part: halves of scores lend no signs."""
        return False

    def cautions(self) -> tuple[str, ...]:
        """Where the interval covers less often than its level: as that of the value."""
        return self.decided.cautions()

    def interval(self, of: str) -> Intervals | None:
        """The resamples of the value less those of the score's part."""
        value, score = self.decided.interval("value"), self.scored.interval("value")
        if of != "value" or value is None or score is None:
            return None
        moved = Difference(value, score)
        return self.sample.intervals(moved, self.cautions(), None, self.unseen_variance(self.factor))


@dataclass(frozen=True, eq=False)
class ScoreParts:
    """A directional value as the sum of the part of the scores and the part of the threshold.

    Attributes
    ----------
    decided, scored : Directional
        The value of the decisions, and that of the scores as soft predictions.
    margin : Margin
        Decisions against scores.
    """

    decided: Directional
    scored: Directional
    margin: Margin

    @classmethod
    def of_samples(cls, samples: Sequence[Sample], source: Base, level: float = 0.95) -> ScoreParts:
        """The parts of three samples of the same records: decisions, scores, and decisions against scores."""
        decided, scored, margin = samples
        value, score = (Directional(sample, source, level=level) for sample in (decided, scored))
        against = replace(source, rates=None, rate_source=None, records=None, labels=None)
        return cls(value, score, Margin(margin, against, level=level, decided=value, scored=score))

    @classmethod
    def of_records(cls, records: Scored, source: Base, level: float = 0.95) -> ScoreParts:
        """The parts of records in memory, of which a copy is kept."""
        held = [Sample.of(side.owned()) for side in (records.decided, records.scored, records.margin)]
        return cls.of_samples(held, source, level)

    def part(self, of: str) -> Directional:
        """The estimate of a part by its name."""
        return {"value": self.decided, "score": self.scored, "threshold": self.margin}[of]

    def pairs(self) -> Table:
        """One row for each pair, with its parts."""
        whole, score, threshold = (self.part(of).pairs() for of in PARTS)
        columns = {name: whole[name] for name in ("given", "outcome", "sign", "sign_p", "clear", "known", "support")}
        columns["truth_rate"], columns["score_rate"] = whole["truth_rate"], score["predicted_rate"]
        columns |= {name: whole[name] for name in ("predicted_rate", "delta", "amplification", "low", "high", "p", "q")}
        for name, table in (("score", score), ("threshold", threshold)):
            columns[f"{name}_delta"], columns[name] = table["delta"], table["amplification"]
            columns |= {f"{name}_{column}": table[column] for column in ("low", "high", "p", "q")}
        return Table(columns)


def verdict_of(known: bool, interval: Interval | None, bounds: Interval | None, unknown: int) -> str:
    """What a figure may be called, from its interval where all signs are known, else from its bounds.

    Bounds count a pair of unknown direction with the worse of its signs, so that chance in a sign is never called
    amplifying or reducing.
    """
    held = interval if known else bounds
    if held is None or not (np.isfinite(held.low) and np.isfinite(held.high)):
        return UNKNOWN
    if held.low > 0:
        return AMPLIFIES
    if held.high < 0:
        return REDUCES
    return UNKNOWN if unknown and not known else UNTOLD
