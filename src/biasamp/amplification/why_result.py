"""What ``biasamp.decompose`` hands back: the parts of a value, and what happens inside strata."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from biasamp.counts.reliability import ReliabilityCounts
from biasamp.counts.threshold_counts import ThresholdCounts
from biasamp.data.plain_arguments import level_of, shown, yes_or_no
from biasamp.results.interval import Caution, Interval, plain
from biasamp.results.renderers import render
from biasamp.results.table import Table

from .bounds import bounds_of
from .figures_with_intervals import FiguresWithIntervals, IntervalMaker
from .reliability import reliability_table
from .why_cautions import cautions_of_strata, uncalibrated
from .why_followed import followed, not_followed
from .why_parts import PARTS, RANGE, ScoreParts, verdict_of
from .why_strata import ORDERS, StrataParts
from .why_words import sentences

# One-sided level of the bounds that verdicts look at: 5% for both sides together.
_VERDICT_LEVEL = 0.975


@dataclass(frozen=True, eq=False)
class Decomposition(FiguresWithIntervals):
    """A directional value and its parts.

    Attributes
    ----------
    value, score, threshold : float
        The value of the decisions, the part of the scores and the part of the threshold: ``value = score + threshold``.
    n : float
        The total weight of the records.
    rule : str
        How decisions follow from scores, in words.
    sign_source : str
        Where the signs come from.
    base_source : str or None
        What took the place of the evaluated truth, if anything did.
    excluded : tuple of dict
        Pairs that are undefined or have no sign, with the reason.
    invented : Table
        Labels that only decisions have, as in :class:`biasamp.amplification.result.Amplification`.

    Examples
    --------
    >>> import biasamp
    >>> group = ["a"] * 40 + ["b"] * 40
    >>> truth = [1] * 20 + [0] * 20 + [1] * 10 + [0] * 30
    >>> parts = biasamp.decompose(group, truth, [0.5] * 40 + [0.25] * 40)
    >>> parts.value, parts.score, parts.threshold
    (0.375, 0.0, 0.375)
    >>> parts.rule
    'a score of 0.5 or more'
    >>> len(parts.pairs)
    4
    """

    value: float
    score: float
    threshold: float
    n: float
    rule: str
    sign_source: str
    base_source: str | None
    excluded: tuple[dict[str, Any], ...] = field(default=(), repr=False)
    invented: Table = field(default_factory=lambda: Table({}), repr=False)
    _parts: ScoreParts = field(kw_only=True, repr=False)
    _strata: StrataParts | None = field(default=None, kw_only=True, repr=False)
    _reliability: ReliabilityCounts | None = field(default=None, kw_only=True, repr=False)
    _hard: bool = field(default=False, kw_only=True, repr=False)
    _thresholds: ThresholdCounts | None = field(default=None, kw_only=True, repr=False)

    @cached_property
    def pairs(self) -> Table:
        """One row for each pair: sign, rates of truth, scores and decisions, and each part with its interval."""
        return self._parts.pairs()

    @cached_property
    def strata(self) -> Table | None:
        """One row for each stratum; None without strata.

        ``value`` is by the signs inside the stratum, with its interval (those signs held fixed), ``by_sign_of_whole`` by
        the signs of all records. ``p`` tests that the value is 0 whatever the signs that the stratum's records do not
        tell (``unclear`` of its ``pairs``), ``q`` is over strata. ``reversed`` counts the pairs whose sign inside is
        beyond chance not that of the whole.
        """
        return None if self._strata is None else self._strata.table()

    @cached_property
    def strata_pairs(self) -> Table | None:
        """One row for each stratum and pair, as in :attr:`pairs`; None without strata."""
        return None if self._strata is None else self._strata.pair_table()

    @cached_property
    def reliability(self) -> Table | None:
        """One row for each group and outcome: whether scores come true, over ten bins of the score.

        See :func:`biasamp.amplification.reliability.reliability_table`; None where there are no scores.
        """
        if self._reliability is None:
            return None
        sample = self._parts.decided.sample
        labels = sample.counts.given_labels, sample.counts.outcome_labels
        return reliability_table(self._reliability, *labels, clustered=sample.clustered)

    @cached_property
    def inside(self) -> float | None:
        """The value inside strata by the signs there: the mean over pairs of ``sum_s P(s|g) y_s change_s``.

        Each group counts by its own shares of strata, as in the change of all records: where groups are spread over strata
        in different ways this is no mean of the rows of :attr:`strata`.
        """
        return None if self._strata is None else self._strata.inside_value

    @cached_property
    def within(self) -> float | None:
        """The part of the rates inside strata, at the base's mix; without a base all of the value is that."""
        if self._strata is None:
            return None
        return self.value if self._strata.base is None else self._strata.kitagawa(ORDERS[0]).value

    @cached_property
    def mix(self) -> float | None:
        """The part of the mix of strata against the base; 0 without a base, as truth and decisions share their mix."""
        return None if self.within is None else self.value - self.within

    @cached_property
    def orders(self) -> Table | None:
        """Against a base with strata: the parts of the rates and of the mix in both orders."""
        strata = self._strata
        if strata is None or strata.base is None:
            return None
        within = [strata.kitagawa(order).value for order in ORDERS]
        rows = [
            {"order": order, "within": part, "mix": self.value - part, "value": self.value}
            for order, part in zip(ORDERS, within, strict=True)
        ]
        return Table.from_rows(rows)

    @cached_property
    def cautions(self) -> tuple[str, ...]:
        """Where intervals cover less often than their level, and where strata say little or are close to a group."""
        return (*self._parts.decided.cautions(), *self.score_cautions, *self.strata_cautions)

    @property
    def unknown(self) -> int:
        """How many pairs have a direction that the records do not tell."""
        return self._parts.decided.unknown

    @property
    def defined(self) -> int:
        """How many pairs are defined."""
        return int(self._parts.decided.values.defined.sum())

    @cached_property
    def score_cautions(self) -> tuple[str, ...]:
        """Where scores are decisions already, do not come true, or are not what was decided on."""
        other: tuple[str, ...] = ()
        if self._thresholds is not None:
            margin = self._parts.margin.sample.counts
            other = not_followed(margin.outcome_labels, *followed(margin, self._thresholds))
        if self._hard:
            hard = "the scores are all 0 or 1: they are decisions already"
            return (Caution(hard if other else f"{hard}, and the threshold moves nothing"), *other)
        return other if self.reliability is None else (*other, *uncalibrated(self.reliability))

    @cached_property
    def strata_cautions(self) -> tuple[str, ...]:
        """Where strata say little, are close to a group, or have other signs than the whole."""
        return () if self._strata is None else cautions_of_strata(self._strata)

    figures = (*PARTS, "inside", "within", "mix")

    @property
    def _range(self) -> tuple[float, float]:
        """Each part is a mean of differences of shares."""
        return RANGE

    def _made(self, of: str) -> IntervalMaker | None:
        if of in PARTS:
            return self._parts.part(of).interval("value")
        if self._strata is None:
            raise ValueError(f"there is no {of} without strata")
        if of == "inside":
            return self._strata.inside_interval()
        if self._strata.base is not None:
            return self._strata.against_base_interval(of)
        if of == "within":
            return self._parts.decided.interval("value")
        raise ValueError("without a base truth and decisions share their mix of strata: the mix is 0, not estimated")

    def bounds(self, level: float = 0.95, *, of: str = "value") -> Interval | None:
        """How far a figure may reach whatever the directions that the records do not tell.

        As :meth:`biasamp.amplification.result.Amplification.bounds`, for ``of`` in value, score, threshold and inside.
        """
        level_of(level, "level", above=0.5)
        if not isinstance(of, str):
            raise TypeError(f"of is {shown(of)}; use one of {', '.join(PARTS)}")
        if of in PARTS:
            held = self._parts.part(of).bounds(level)
            return None if held is None else held.within(*self._range)
        if of == "inside" and self._strata is None:
            raise ValueError("there is no inside without strata")
        if of != "inside" or self._strata is None:
            raise ValueError(
                f"there are no bounds of {of!r}" + ("" if of in self.figures else f"; use one of {', '.join(PARTS)}")
            )
        made = self._strata.inside_worse()
        return None if made is None else bounds_of(*made, self._strata.unknown, level).within(*self._range)

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """What each figure may be called: amplifies, reduces, not told from 0, or no verdict where signs are not clear.

        Where all signs are known its 95% interval decides. Else its bounds do, which count every pair of unknown
        direction with the worse of its signs: chance in a sign is called neither amplifying nor reducing.
        """
        out = {}
        for of in self.shown:
            part = self._parts.part(of)
            known = part.source.told
            made = self.interval_maker(of)
            interval = None if made is None or not known else made(0.95, "closed_form", 2, 0)
            out[of] = verdict_of(known, interval, None if known else part.bounds(_VERDICT_LEVEL), part.unknown)
        if self._strata is not None:
            out["inside"] = verdict_of(False, None, self.bounds(_VERDICT_LEVEL, of="inside"), self._strata.unknown)
        return out

    @cached_property
    def verdict(self) -> str:
        """The parts and what may be said of them, in words."""
        return " ".join(sentences(self))

    @property
    def shown(self) -> tuple[str, ...]:
        """The parts that there are: without scores the value alone."""
        return PARTS if self._reliability is not None else PARTS[:1]

    def to_dict(
        self, level: float = 0.95, resamples: int = 1000, seed: int = 0, *, pairs: bool = True
    ) -> dict[str, Any]:
        """The result in plain Python values that JSON can hold: null for what is undefined.

        Parameters
        ----------
        level, resamples, seed
            As for :meth:`confidence_interval`.
        pairs : bool
            Whether to list the pairs, of all records and of every stratum.
        """
        yes_or_no(pairs, "pairs")
        shown = (*self.shown, *(self.figures[3:] if self.orders is not None else ("inside",)))
        names = [of for of in shown if getattr(self, of) is not None]

        def entry(of: str) -> dict[str, Any]:
            value: dict[str, Any] = {"value": plain(getattr(self, of)), "interval": [None, None]}
            if self.interval_maker(of) is not None:
                made = self.quiet_interval(level, resamples=resamples, seed=seed, of=of)
                value["interval"] = [plain(bound) for bound in made]
            if of in self.verdicts:
                value["verdict"] = self.verdicts[of]
            return value

        def rows(table: Table | None) -> list[dict[str, Any]] | None:
            return None if table is None else table.plain_rows()

        return {
            "metric": "decompose",
            "n": plain(self.n),
            "rule": self.rule,
            "sign_source": self.sign_source,
            "base_source": self.base_source,
            "parts": {of: entry(of) for of in names},
            "verdict": self.verdict if pairs else None,
            "pairs": rows(self.pairs) if pairs else None,
            "reliability": rows(self.reliability),
            "strata": rows(self.strata),
            "strata_pairs": rows(self.strata_pairs) if pairs else None,
            "orders": rows(self.orders),
            "excluded": [{key: plain(value) for key, value in row.items()} for row in self.excluded],
            "cautions": list(self.cautions),
        }

    def plot(self) -> Any:
        """The parts, and strata where there are any, as a matplotlib figure. Needs the extra ``plot``."""
        return render("decomposition figure", self)

    def _repr_html_(self) -> str:
        return str(render("decomposition table", self))
