"""The types of what ``compare`` found, schema 1: fields may be added, none renamed, removed or retyped."""

# Annotations are evaluated here, so that the types know which of their fields are required.

from typing import Literal, NotRequired, TypedDict

from .measurement_types import Figure, Measurement


class RunsBehind(TypedDict):
    """What a difference of several runs rests on.

    ``first`` and ``second`` are the values of the runs. ``by_seeds`` and ``by_records`` are variances of the difference of means, ``freedom``
    the degrees of freedom at which Student's t reaches as far as the interval (Cochran's). ``more_seeds`` is how many more runs of each model would decide a difference of this size with a chance of 80%, as a
    range, where null is no number; ``more_records`` how many records in all would, with the same chance. Both are there where it is not decided.
    """

    first: list[float]
    second: list[float]
    same_seeds: bool
    by_seeds: Figure
    by_records: Figure
    freedom: Figure
    more_seeds: NotRequired[list[int | None]]
    more_records: NotRequired[int | None]
    words: str


class ModelDifference(Measurement):
    """One figure of two models, the second less the first.

    ``first_interval`` and ``second_interval`` are those of both figures, of means over runs where there are several. ``p`` is that of no difference; with more than two models verdicts go by ``adjusted_p``, which counts all of them (Holm). ``more_records`` stands where one run of each decides nothing: how many records in all would decide a difference of this size;
    null where a thousand times as many would not, or where no direction is known.
    """

    models: list[str]
    first: float
    second: float
    difference: Figure
    low: Figure
    high: Figure
    paired: bool
    method: str
    verdict: str
    first_interval: NotRequired[list[Figure]]
    second_interval: NotRequired[list[Figure]]
    p: NotRequired[Figure]
    adjusted_p: NotRequired[Figure]
    more_records: NotRequired[int | None]
    runs: NotRequired[RunsBehind]


class PairDifference(Measurement):
    """The change of one pair in two models, the second less the first: how much more often it is predicted.

    ``sign`` says which way amplification goes, 0 where an audit does not know it. ``q`` counts all pairs of all models. A ``mirror`` says the same as another row.
    """

    models: list[str]
    given: str
    outcome: str
    sign: int
    first: Figure
    second: Figure
    difference: Figure
    low: Figure
    high: Figure
    p: Figure
    q: Figure
    support: float
    paired: bool
    mirror: NotRequired[bool]


class Ranking(Measurement):
    """The models from the least value to the largest.

    The order is ``stable`` where neighbours differ beyond seeds and records, all pairs of models counted (Holm). ``single_run`` is the share
    of choices of one run of each model that show the same order; null where each model has one run.
    """

    models: list[str]
    values: list[float]
    stable: bool
    single_run: Figure
    words: str


class Note(TypedDict):
    """What to know of all differences, in words, with the kind that code goes by."""

    kind: Literal["unpaired", "other-columns", "not-compared", "seeds"]
    text: str


class ModelCaution(TypedDict):
    """What to know before models are chosen: ``code`` is that of an audit's caution, or of how audits differ.

    ``models`` are those that it concerns; the weightiest come first.
    """

    code: str
    models: list[str]
    text: str
    weight: float


class ComparisonDocument(TypedDict):
    """What ``compare`` found."""

    schema: Literal[1]
    version: str
    models: list[str]
    level: float
    differences: list[ModelDifference]
    notes: list[str]
    noted: NotRequired[list[Note]]
    runs: NotRequired[dict[str, int]]
    rankings: NotRequired[list[Ranking]]
    pairs: NotRequired[list[PairDifference]]
    pairs_note: NotRequired[str]
    cautions: NotRequired[list[ModelCaution]]
