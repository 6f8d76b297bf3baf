"""``biasamp.decompose``: how much of a value is the score, how much the threshold, and what happens inside strata."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from biasamp.counts.fixed import floats
from biasamp.counts.joint import JointCounts
from biasamp.counts.reliability import ReliabilityCounts
from biasamp.data.scores import USUAL, read_scored
from biasamp.resampling.intervals import Intervals, Seed
from biasamp.results.interval import NOTES, Caution, Interval, figure_with_interval, plain
from biasamp.results.renderers import render
from biasamp.results.table import Table

from .base import pairs_without_sign, read_base
from .bounds import bounds_of
from .invented import invented_of, warn_of
from .pair_table import pairs_without_given
from .reliability import reliability_table
from .why_cautions import cautions_of_strata, uncalibrated
from .why_parts import AMPLIFIES, PARTS, REDUCES, UNKNOWN, ScoreParts, verdict_of
from .why_strata import ORDERS, StrataParts

# One-sided level of the bounds that verdicts look at: 5% for both sides together.
_VERDICT_LEVEL = 0.975
_OF = (*PARTS, "inside", "within", "mix")


def decompose(
    given: Any,
    truth: Any,
    scores: Any,
    *,
    threshold: Any = USUAL,
    predicted: Any = None,
    strata: Any = None,
    train: Any = None,
    base: Any = None,
    weights: Any = None,
    cluster: Any = None,
) -> Decomposition:
    r"""Directional amplification as the part of the scores plus the part of the threshold, and inside strata.

    For scores :math:`S \in [0, 1]` and decisions :math:`\hat o` on the same records, per pair exactly

    .. math::
        P(\hat o | g) - P(o | g) = \underbrace{E[S | g] - P(o | g)}_{\text{score}}
        + \underbrace{P(\hat o | g) - E[S | g]}_{\text{threshold}}

    Both parts carry the pair's sign into the mean. With strata the change is the mean of the changes inside them,
    :math:`\sum_s P(s | g) [P(\hat o | g, s) - P(o | g, s)]`, shown by the sign of the whole and by the sign inside each
    stratum. The parts add up; none of them says why: a stratum can stand for the group.

    Parameters
    ----------
    given, truth : array-like
        As for :func:`biasamp.directional`.
    scores : array-like
        Probabilities in [0, 1]: P(1) of a 0/1 variable, one column per yes/no label, or class probabilities as
        ``biasamp.categorical(P, categories=[...])``.
    threshold : float, sequence or mapping
        A record is decided positive where its score is at or above it. One for all, one a task (in order or by name), or
        one a group, by its name. Of class probabilities the highest decides, the first label where they are tied.
    predicted : array-like, optional
        The decisions, where another rule than a threshold made them.
    strata : array-like, optional
        The stratum of each record, such as a department; several columns are crossed.
    train : tuple of array-like, optional
        ``(given, truth)`` or ``(given, truth, strata)`` of the training set, which then decides the signs.
    base : optional
        As for :func:`biasamp.directional`. With strata ``(given, truth, strata)``: the change is then also split into
        the part of the rates inside strata and the part of their mix (Kitagawa 1955), in both orders.
    weights, cluster : array-like, optional
        As for :func:`biasamp.directional`.

    Returns
    -------
    Decomposition

    See Also
    --------
    directional : the value alone.
    sweep : the value at every threshold.

    References
    ----------
    Plecko, D. and Bareinboim, E. (2024). Mind the Gap: A Causal Perspective on Bias Amplification in Prediction and
    Decision-Making. NeurIPS.

    Kitagawa, E. M. (1955). Components of a Difference Between Two Rates. Journal of the American Statistical
    Association 50, 1168-1194.

    Examples
    --------
    The scores of both groups are right on average. Deciding at 0.5 takes one group whole and the other not at all.

    >>> import biasamp
    >>> group = ["f"] * 10 + ["m"] * 10
    >>> hired = [1] * 6 + [0] * 4 + [1] * 4 + [0] * 6
    >>> parts = biasamp.decompose(group, hired, [0.6] * 10 + [0.4] * 10)
    >>> [round(part, 10) + 0.0 for part in (parts.value, parts.score, parts.threshold)]
    [0.4, 0.0, 0.4]
    """
    records = read_scored(
        given,
        truth,
        scores,
        threshold=threshold,
        predicted=predicted,
        strata=strata,
        train=train,
        base=base,
        weights=weights,
        cluster=cluster,
    )
    if records.strata is not None and base is not None and records.base_labels is None:
        raise ValueError(
            "base has no strata, so what changes against it inside strata is not known: give it as a tuple (given, truth, "
            "strata) of labels, or leave strata out"
        )
    counts = None if records.train is None else JointCounts.from_labels(*records.train)
    source = read_base(records.base, None, records.decided, counts)
    signed = source.signed(records.decided.given.width, records.decided.truth.width)
    labels = records.decided.given.labels, records.decided.truth.labels
    unsigned = pairs_without_sign(labels, signed, source.sign_source)
    warn_of(unsigned)
    parts = ScoreParts.of_records(records.only(*signed), source.only(*signed))
    decided = parts.decided
    if not decided.values.defined.any():
        raise ValueError("no pair is defined: no record has any of the given labels")
    inside = None if records.strata is None else StrataParts.of_records(records, decided, signed)
    reliability = ReliabilityCounts.of_records(records.only(*signed).scored)
    return Decomposition(
        decided.value,
        parts.scored.value,
        parts.margin.value,
        float(floats(decided.sample.counts.n).max()),
        records.rule,
        source.sign_source,
        source.rate_source,
        (*pairs_without_given(decided.sample.counts, decided.values), *unsigned),
        invented_of(records.decided, records.invented),
        _parts=parts,
        _strata=inside,
        _reliability=reliability,
        _hard=not records.scored.predicted.soft,
    )


@dataclass(frozen=True, eq=False)
class Decomposition:
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
        """The value inside strata by the signs there: the mean over pairs of ``sum_s P(s|g) y_s change_s``."""
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

    @cached_property
    def score_cautions(self) -> tuple[str, ...]:
        """Where scores are decisions already, or do not come true."""
        if self._hard:
            return (Caution("the scores are all 0 or 1: they are decisions already, and the threshold moves nothing"),)
        return () if self.reliability is None else uncalibrated(self.reliability)

    @cached_property
    def strata_cautions(self) -> tuple[str, ...]:
        """Where strata say little, are close to a group, or have other signs than the whole."""
        return () if self._strata is None else cautions_of_strata(self._strata)

    @cached_property
    def _makers(self) -> dict[str, Intervals | None]:
        return {}

    def _maker(self, of: str) -> Intervals | None:
        if of not in _OF:
            raise ValueError(f"of is {of!r}; use one of {', '.join(map(repr, _OF))}")
        if of not in self._makers:
            self._makers[of] = self._made(of)
        return self._makers[of]

    def _made(self, of: str) -> Intervals | None:
        if of in PARTS:
            return self._parts.part(of).interval("value")
        if self._strata is None:
            raise ValueError(f"there is no {of} without strata")
        if of == "inside":
            return self._strata.inside_interval()
        if self._strata.base is not None:
            return self._strata.within_interval(ORDERS[0], of)
        if of == "within":
            return self._parts.decided.interval("value")
        raise ValueError("without a base truth and decisions share their mix of strata: the mix is 0, not estimated")

    def confidence_interval(
        self,
        level: float = 0.95,
        method: str = "bootstrap",
        resamples: int = 1000,
        seed: Seed = 0,
        *,
        of: str = "value",
    ) -> Interval:
        """An interval for a figure, from the same resamples of bags for all.

        Parameters
        ----------
        level, method, resamples, seed
            As for :meth:`biasamp.amplification.result.Amplification.confidence_interval`.
        of : {"value", "score", "threshold", "inside", "within", "mix"}
        """
        made = self.quiet_interval(level, method, resamples, seed, of=of)
        warned = [words for words in made.cautions if Caution.kind_of(words) not in NOTES]
        if warned:
            warnings.warn(". Also, ".join(warned), UserWarning, stacklevel=2)
        return made

    def quiet_interval(
        self,
        level: float = 0.95,
        method: str = "bootstrap",
        resamples: int = 1000,
        seed: Seed = 0,
        *,
        of: str = "value",
    ) -> Interval:
        """The interval, with its cautions inside it only."""
        if not 0.0 < level < 1.0:
            raise ValueError(f"level is {level}; it must lie strictly between 0 and 1, such as 0.95")
        maker = self._maker(of)
        if maker is None:
            raise ValueError("this result carries no resamples for an interval")
        return maker(level, method, resamples, seed)

    def bounds(self, level: float = 0.95, *, of: str = "value") -> Interval | None:
        """How far a figure may reach whatever the directions that the records do not tell.

        As :meth:`biasamp.amplification.result.Amplification.bounds`, for ``of`` in value, score, threshold and inside.
        """
        if not 0.5 < level < 1.0:
            raise ValueError(f"level is {level}; a one-sided bound needs one strictly between 0.5 and 1, such as 0.95")
        if of in PARTS:
            return self._parts.part(of).bounds(level)
        if of != "inside" or self._strata is None:
            raise ValueError(
                f"there are no bounds of {of!r}" + ("" if of in _OF else f"; use one of {', '.join(PARTS)}")
            )
        made = self._strata.inside_worse()
        return None if made is None else bounds_of(*made, self._strata.unknown, level)

    @cached_property
    def verdicts(self) -> dict[str, str]:
        """What each figure may be called: amplifies, reduces, not told from 0, or no verdict where signs are not clear.

        Where all signs are known its 95% interval decides. Else its bounds do, which count every pair of unknown
        direction with the worse of its signs: chance in a sign is called neither amplifying nor reducing.
        """
        out = {}
        for of in self._shown:
            part = self._parts.part(of)
            known = part.source.signs is not None
            made = self._maker(of)
            interval = None if made is None or not known else made(0.95, "closed_form", 2, 0)
            out[of] = verdict_of(known, interval, None if known else part.bounds(_VERDICT_LEVEL), part.unknown)
        if self._strata is not None:
            out["inside"] = verdict_of(False, None, self.bounds(_VERDICT_LEVEL, of="inside"), self._strata.unknown)
        return out

    @cached_property
    def verdict(self) -> str:
        """The parts and what may be said of them, in words."""
        return " ".join(self._sentences())

    @property
    def _shown(self) -> tuple[str, ...]:
        """The parts that there are: without scores the value alone."""
        return PARTS if self._reliability is not None else PARTS[:1]

    def _sentences(self) -> list[str]:
        def shown(of: str) -> str:
            made = self._maker(of)
            low, high = (None, None) if made is None else self.quiet_interval(of=of)
            return figure_with_interval(getattr(self, of), low, high)

        told = self.verdicts
        verb = {AMPLIFIES: "amplifies", REDUCES: "reduces"}
        lead = verb.get(told["value"])
        said = [f"The decisions ({self.rule}): {shown('value')}" + (f", {lead}." if lead else ".")]
        for of, name in (("score", "The scores"), ("threshold", "Deciding on them")):
            if of not in self._shown:
                continue
            said.append(f"{name}: {shown(of)}, {_SAID[told[of]]}.")
        unknown = self.unknown
        if unknown:
            pairs = int(self._parts.decided.values.defined.sum())
            said.append(f"The records do not tell the direction of {unknown:,} of {pairs:,} pairs.")
        if self._strata is not None:
            value = f"Inside strata, by the signs there: {shown('inside')}"
            said.append(f"{value}, {_SAID[told['inside']]}.")
        if self._strata is not None and self._strata.base is not None:
            said.append(f"Against the base the rates inside strata are {shown('within')} and their mix {shown('mix')}.")
        return said

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
        shown = (*self._shown, *(_OF[3:] if self.orders is not None else ("inside",)))
        names = [of for of in shown if getattr(self, of) is not None]

        def entry(of: str) -> dict[str, Any]:
            value: dict[str, Any] = {"value": plain(getattr(self, of)), "interval": [None, None]}
            if self._maker(of) is not None:
                made = self.quiet_interval(level, resamples=resamples, seed=seed, of=of)
                value["interval"] = [plain(bound) for bound in made]
            if of in self.verdicts:
                value["verdict"] = self.verdicts[of]
            return value

        def rows(table: Table | None) -> list[dict[str, Any]] | None:
            return None if table is None else [{k: plain(v) for k, v in row.items()} for row in table.rows()]

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


_SAID = {
    AMPLIFIES: "which amplifies",
    REDUCES: "which reduces",
    UNKNOWN: "no verdict, as signs are not clear",
    "not told from 0": "which cannot be told from 0",
}
