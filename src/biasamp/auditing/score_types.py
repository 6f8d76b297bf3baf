"""The types of what scores and strata say in an audit's document: curves over thresholds, and the parts of a value."""

# Annotations are evaluated here, so that the types know which of their fields are required.

from typing import Literal, NotRequired, TypedDict

from .measurement_types import Direction, Figure, Threshold


class UsualThreshold(TypedDict):
    """What the threshold gives that classifiers use by default; ``rate_p`` tests each rate against its base rate."""

    threshold: float
    amplification: Figure
    rates: NotRequired[list[float]]
    rate_p: NotRequired[list[float]]


class CalibratedThreshold(TypedDict):
    """What thresholds give at which each label is predicted as often as it occurs."""

    threshold: Threshold
    amplification: Figure
    rate: Figure


class LabelThreshold(TypedDict):
    """One label's own calibrated threshold."""

    label: str
    threshold: Threshold
    rate: Figure
    base_rate: Figure


class ThresholdMark(TypedDict):
    """The curve at a marked threshold, with the interval of amplification there."""

    threshold: Threshold
    amplification: Figure
    low: Figure
    high: Figure
    rate: Figure


class GroupSteps(TypedDict):
    """Of one group and outcome, the positive and negative records, and those of them at or above each threshold.

    ``effective`` are the effective numbers of positive records, of negative ones and of both.
    """

    given: str
    outcome: str
    positive: float
    negative: float
    effective: list[float]
    true: list[float]
    false: list[float]


class Steps(TypedDict):
    """Figures at some thresholds, a column each; a figure holds from its threshold down to the score below it.

    ``low`` and ``high`` are the interval of amplification, null where it was not computed. ``groups_in_all`` is how many
    pairs of group and outcome there are.
    """

    threshold: list[float]
    rate: list[Figure]
    amplification: list[Figure]
    low: list[Figure]
    high: list[Figure]
    groups: list[GroupSteps]
    groups_in_all: int


class SweepEntry(TypedDict):
    """Amplification over thresholds; ``curve`` rises in ``threshold`` and has ``amplification`` and ``rate``.

    ``grid`` stands where figures come from counts, at so many fixed thresholds from 0 to 1 instead of at every score.
    ``marks`` are the thresholds that the decisions were made at (``used``, where one threshold makes them), that keeps the
    base rate (``base_rate``) and where amplification is nearest to 0 (``zero``).
    """

    attribute: str
    direction: Direction
    outcome: str | None
    integral: Figure
    span: list[float]
    base_rate: Figure
    curve: list[dict[str, Threshold]]
    usual: UsualThreshold
    calibrated: CalibratedThreshold
    labels: list[LabelThreshold]
    sign_source: NotRequired[str]
    n: NotRequired[float]
    thresholds: NotRequired[int]
    grid: NotRequired[int]
    marks: NotRequired[dict[str, ThresholdMark]]
    steps: NotRequired[Steps]


class WhyPart(TypedDict):
    """A part of a directional value with its interval; ``verdict`` is what it may be called."""

    value: Figure
    interval: list[Figure]
    verdict: Literal["amplifies", "reduces", "not told from 0", "no verdict"] | None


class WhyPair(TypedDict):
    """The parts of one pair: ``amplification`` is ``score`` plus ``threshold``, each with its own interval."""

    given: str
    outcome: str
    sign: Literal[-1, 0, 1]
    known: bool
    support: float
    truth_rate: Figure
    score_rate: Figure
    predicted_rate: Figure
    amplification: Figure
    low: Figure
    high: Figure
    score: Figure
    score_low: Figure
    score_high: Figure
    threshold: Figure
    threshold_low: Figure
    threshold_high: Figure
    mirror: NotRequired[bool]


class Reliability(TypedDict):
    """Whether the scores of an outcome come true in a group: ``error`` is over ten bins, ``expected`` by chance."""

    given: str
    outcome: str
    n: float
    score: Figure
    rate: Figure
    error: Figure
    expected: Figure
    p: Figure
    q: Figure


class StratumRow(TypedDict):
    """The value inside a stratum, by the signs there and by those of the whole.

    ``unclear`` of its ``pairs`` have a direction that its records do not tell: ``p`` and ``q`` count these with the worse of
    their signs, ``low`` and ``high`` hold the signs fixed. ``reversed`` have a direction, beyond chance, that is not that of
    the whole. ``score`` and ``threshold`` are null where there are no scores.
    """

    stratum: str
    n: float
    share: float
    smallest_group: float
    value: Figure
    low: Figure
    high: Figure
    score: Figure
    threshold: Figure
    by_sign_of_whole: Figure
    p: Figure
    q: Figure
    pairs: int
    unclear: int
    reversed: int


class WhyCaution(TypedDict):
    """A caution of the parts, with its kind."""

    kind: str
    text: str


class WhyEntry(TypedDict):
    """The parts of a directional value: ``value``, with scores also ``score`` and ``threshold``, with strata ``inside``.

    ``unknown`` pairs have a direction that the records do not tell. ``rule`` says how decisions were made. ``pairs`` stand
    where there are scores: those that change most, of ``pairs_in_all``.
    """

    attribute: str
    direction: Direction
    rule: str
    sign_source: str
    scored: bool
    unknown: int
    parts: dict[str, WhyPart]
    cautions: list[WhyCaution]
    pairs: NotRequired[list[WhyPair]]
    pairs_in_all: NotRequired[int]
    reliability: NotRequired[list[Reliability]]
    strata_column: NotRequired[str]
    strata: NotRequired[list[StratumRow]]
