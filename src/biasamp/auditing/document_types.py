"""The types of an audit's document, schema 1: fields may be added to it, none renamed, removed or retyped.

The JSON schema (``report/audit.schema.json``) and the page's types (``web/src/audit.ts``) are generated from here by
``make schema``. A field that is ``NotRequired`` stands where it applies, or was added after version 0.1.
"""

# Annotations are evaluated here, so that the types know which of their fields are required.

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from biasamp.results.metric_registry import METRICS

SCHEMA: Literal[1] = 1

Direction = Literal["A->T", "T->A"]
# A figure is null where it is undefined; a threshold may also lie beyond every score.
Figure = float | None
Threshold = float | Literal["inf", "-inf"] | None
Missing = Literal["error", "drop", "negative"]
AttributeKind = Literal["attribute", "crossing"]


class LabelFields(TypedDict):
    """A label as it is displayed, and the variable and category that it is; no category for a yes/no variable."""

    label: str
    variable: str
    category: str | None


class Group(TypedDict):
    """One group of one attribute; ``small`` where it has fewer records than ``min_group``."""

    attribute: str
    group: str
    records: int
    small: bool
    kind: NotRequired[AttributeKind]
    variable: NotRequired[str]
    category: NotRequired[str | None]


class Tasks(TypedDict):
    """The tasks together: their title, and how many labels there are."""

    title: str
    labels: int


class Data(TypedDict):
    """What was audited, and how.

    ``kinds`` tells crossings from attributes; ``task_labels`` are the task labels that listed pairs name.
    ``positive`` is the value of each task that rates are of, ``positive_unknown`` the two-valued tasks where it is not
    known; ``reference`` the group of each attribute that others are held against; ``ignored_groups`` are in no
    comparison, and ``ignored_unknown`` names that were to be ignored and that no group goes by. ``soft_tasks`` stands where
    task predictions are probabilities, which count as fractions: rates of groups are then mean scores.
    """

    records: int
    fingerprint: str
    attributes: list[str]
    tasks: Tasks
    groups: list[Group]
    confidence: float
    resamples: int
    min_group: int
    missing: Missing
    missing_values: int
    roles: dict[str, list[str]]
    train: bool
    base: bool
    weighted: bool
    kinds: NotRequired[dict[str, AttributeKind]]
    task_labels: NotRequired[list[LabelFields]]
    positive: NotRequired[dict[str, str]]
    positive_unknown: NotRequired[list[str]]
    reference: NotRequired[dict[str, str]]
    ignored_groups: NotRequired[list[str]]
    ignored_unknown: NotRequired[list[str]]
    soft_tasks: NotRequired[bool]


class Rate(TypedDict):
    """A rate of a group over ``size`` records, with Wilson's interval; difference and ratio are to a reference group."""

    value: Figure
    low: Figure
    high: Figure
    size: float
    difference: NotRequired[Figure]
    difference_low: NotRequired[Figure]
    difference_high: NotRequired[Figure]
    ratio: NotRequired[Figure]
    ratio_low: NotRequired[Figure]
    ratio_high: NotRequired[Figure]


class GroupRow(TypedDict):
    """The rates of one group for one outcome; ``ignored`` groups are in no comparison."""

    attribute: str
    group: str
    outcome: str
    records: int
    share: float
    ignored: bool
    reference: bool
    selection_rate: Rate
    true_positive_rate: Rate
    false_positive_rate: Rate
    accuracy: Rate
    precision: Rate


class Pair(TypedDict):
    """One pair of a given label and an outcome.

    ``clear`` where its own test tells the sign, ``known`` where it does with all pairs of the entry counted. ``mirror``
    where the pair of the variable's other value says the same.
    """

    given: str
    outcome: str
    sign: Literal[-1, 0, 1]
    sign_p: Figure
    truth_rate: Figure
    predicted_rate: Figure
    delta: Figure
    amplification: Figure
    low: Figure
    high: Figure
    support: float
    clear: NotRequired[bool]
    p: NotRequired[Figure]
    q: NotRequired[Figure]
    known: NotRequired[bool]
    wrong_group: NotRequired[bool]
    mirror: NotRequired[bool]


class Measurement(TypedDict):
    """Which metric of which attribute in which direction."""

    attribute: str
    metric: str
    direction: Direction | None


class Entry(Measurement):
    """One metric of one attribute in one direction, with what stands beside it.

    ``bounds`` are how far a directional value may reach when the ``unknown`` pairs, whose direction the records do not
    tell, have their worse sign; each is one-sided at the audit's confidence. ``contradicted``: of the pairs whose sign is
    clear both in these records and in those that lend it, how many are opposite, and of how many.
    A largest difference of a rate names the two groups it is ``between`` and the ``sizes`` it rests on; ``expected`` is
    its mean over samples where all groups are equal, ``every_group`` its value with groups that are too small to decide.
    ``label_sets`` is over how many sets of labels Multi averages, where records have several, and ``label_set_support`` the
    median number of records that carry one.
    ``decided`` stands where predictions are probabilities: what the value is of the decisions they make, at 0.5 or for
    the likeliest class; null where the scores of single records are not at hand.
    """

    value: Figure
    interval: list[Figure]
    n: float
    interval_method: NotRequired[str]
    sign_source: NotRequired[str]
    base_source: NotRequired[str | None]
    crossfit: NotRequired[Figure]
    crossfit_interval: NotRequired[list[Figure]]
    clear_value: NotRequired[Figure]
    clear_interval: NotRequired[list[Figure]]
    bounds: NotRequired[list[Figure]]
    unknown: NotRequired[int]
    contradicted: NotRequired[list[int]]
    decided: NotRequired[Figure]
    variance: NotRequired[Figure]
    floor: NotRequired[Figure]
    pairs: NotRequired[list[Pair]]
    pairs_in_all: NotRequired[int]
    label_sets: NotRequired[int]
    label_set_support: NotRequired[Figure]
    dataset: NotRequired[Figure]
    model: NotRequired[Figure]
    gain: NotRequired[Figure]
    dataset_gain: NotRequired[Figure]
    model_gain: NotRequired[Figure]
    unequalized: NotRequired[Figure]
    accuracy_equalized: NotRequired[Figure]
    confusion_equalized: NotRequired[Figure]
    attacker: NotRequired[str]
    reason: NotRequired[str]
    quality: NotRequired[str]
    equalize: NotRequired[str | None]
    evaluation: NotRequired[str]
    trials: NotRequired[int]
    outcome: NotRequired[str | None]
    between: NotRequired[list[str] | None]
    sizes: NotRequired[list[float]]
    expected: NotRequired[Figure]
    every_group: NotRequired[Figure]
    outcomes: NotRequired[list[dict[str, str | Figure]]]
    groups: NotRequired[list[dict[str, str | Figure]]]
    cautions: NotRequired[list[str]]
    caution_kinds: NotRequired[list[str]]


class FindingFields(TypedDict):
    """One finding or caution; ``code`` names what it says, the last four fields what it is about."""

    kind: Literal["finding", "caution"]
    code: str
    text: str
    weight: float
    figure: dict[str, Any]
    metric: NotRequired[str | None]
    attribute: NotRequired[str | None]
    direction: NotRequired[Direction | None]
    label: NotRequired[str | None]


class Excluded(Measurement):
    """A figure that is undefined, with the reason and the counts it would rest on.

    ``lacking`` is the label that those records lack which decide the sign, where that is why.
    """

    given: str
    outcome: str
    reason: str
    lacking: NotRequired[str]
    rate: NotRequired[str]
    ignored: NotRequired[bool]
    support: NotRequired[float]
    given_count: NotRequired[float]
    outcome_count: NotRequired[float]
    joint_count: NotRequired[float]


class InventedGroup(TypedDict):
    """How often one group gets an invented label."""

    group: str
    count: float
    records: float
    rate: Figure


class Invented(TypedDict):
    """A label that only predictions have; ``low``, ``high``, ``p`` and ``q`` are of the largest difference of groups."""

    attribute: str
    direction: Direction
    variable: str
    label: str
    category: str | None
    count: float
    rate: Figure
    groups: list[InventedGroup]
    between: list[str] | None
    difference: Figure
    low: Figure
    high: Figure
    p: Figure
    q: Figure


class NotRun(Measurement):
    """A metric that was not computed, and why."""

    reason: str


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


class RunsBehind(TypedDict):
    """What a difference of several runs rests on.

    ``first`` and ``second`` are the values of the runs. ``by_seeds`` and ``by_records`` are variances of the difference of means, ``freedom``
    Satterthwaite's degrees of freedom. ``more_seeds`` is how many more runs of each model would decide a difference of this size, as a
    range, where null is no number; ``more_records`` how many records in all would. Both are there where it is not decided.
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

    ``p`` is that of no difference; with more than two models verdicts go by ``adjusted_p``, which counts all of them (Holm).
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
    p: NotRequired[Figure]
    adjusted_p: NotRequired[Figure]
    runs: NotRequired[RunsBehind]


class PairDifference(Measurement):
    """The change of one pair in two models, the second less the first: how much more often it is predicted.

    ``sign`` says which way amplification goes. ``q`` counts all pairs of all models. A ``mirror`` says the same as another row.
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


class MetricFacts(TypedDict):
    """What the registry says of a metric."""

    title: str
    short: str
    signed: bool
    directed: bool
    paired: bool
    pairs_shown: bool
    range: list[Threshold]
    meaning: str
    paper: str
    cautions: str
    described_by: str


class Provenance(TypedDict, total=False):
    """All that depends on place, time or call: two audits of the same data may differ here and nowhere else."""

    source: str
    engine: str
    threads: int
    time: str
    command: str
    libraries: dict[str, str]


class AuditDocument(TypedDict):
    """Everything that an audit found; in a file with a checksum of every field and of every metric's entry."""

    schema: Literal[1]
    version: str
    seed: int
    data: Data
    metrics: list[Entry]
    findings: list[FindingFields]
    excluded: list[Excluded]
    not_run: list[NotRun]
    rates: NotRequired[list[GroupRow]]
    sweep: NotRequired[list[SweepEntry]]
    why: NotRequired[list[WhyEntry]]
    invented: NotRequired[list[Invented]]
    compare: NotRequired[ComparisonDocument]
    registry: NotRequired[dict[str, MetricFacts]]
    provenance: NotRequired[Provenance]
    checksum: NotRequired[dict[str, str]]


class SavedPairs(TypedDict):
    """The change of every pair by bag of records: ``moved`` over ``size``, less ``against`` where that is not empty.

    Numbers are in the order of bags, given labels and outcomes; ``size`` has one for all outcomes, or one for each.
    """

    given: list[str]
    outcome: list[str]
    bags: int
    moved: list[float]
    size: list[float]
    against: list[float]
    sign: list[int]
    unit: float


class SavedHalves(TypedDict):
    """Figures of attackers on random halves of the records, two for each half: of all labels, then of each.

    ``values`` are the figures of the labels on all records, ``noise`` the variances of all and of each by trials. ``figures`` are in the order of
    measurements, halves and labels.
    """

    labels: list[str]
    values: list[Figure]
    noise: list[Figure]
    halves: int
    figures: list[float]


class Resamples(TypedDict, total=False):
    """The values of each metric's resamples, with what tells whether those of two audits go together.

    ``unseen`` are variances that records add in which two models differ and that were not seen.
    """

    seed: int
    resamples: int
    records: str
    values: dict[str, list[Figure]]
    unseen: dict[str, Figure]
    pairs: dict[str, SavedPairs]
    halves: dict[str, SavedHalves]


class SavedAudit(AuditDocument):
    """An audit's document as a file has it; version 0.1 put the name of the data beside it."""

    resamples: NotRequired[Resamples]
    source: NotRequired[str]


_TWO = {"minItems": 2, "maxItems": 2}
# What types cannot say, in the words of JSON schema: by type and field.
BOUNDS: dict[str, dict[str, dict[str, Any]]] = {
    "AuditDocument": {"metrics": {"minItems": 1}},
    "Data": {
        "records": {"minimum": 1},
        "attributes": {"minItems": 1},
        "confidence": {"exclusiveMinimum": 0, "exclusiveMaximum": 1},
        "missing_values": {"minimum": 0},
    },
    "Tasks": {"labels": {"minimum": 1}},
    "Group": {"records": {"minimum": 0}},
    "Entry": {"interval": _TWO, "crossfit_interval": _TWO},
    "SweepEntry": {"span": _TWO},
    "ModelDifference": {"models": _TWO},
    "MetricFacts": {"range": _TWO},
    "FindingFields": {"text": {"minLength": 1}},
    "NotRun": {"reason": {"minLength": 1}},
}


def registry_of(metrics: Sequence[Mapping[str, Any]]) -> dict[str, MetricFacts]:
    """What the registry says of the metrics of a document; those of another version are left out."""
    known = {entry["metric"]: METRICS.get(entry["metric"]) for entry in metrics}
    return {name: metric.facts() for name, metric in known.items() if metric and metric.audited}  # type: ignore[misc]


def with_added_fields(document: dict[str, Any]) -> dict[str, Any]:
    """A document of version 0.1 with the fields that were added since, as far as they follow from it.

    There, a group that goes by the name of a column is a yes/no label, and a crossing is the last attribute, named
    after all others.
    """
    data: Mapping[str, Any] = document["data"]
    if "kinds" in data:
        return document
    *others, last = data["attributes"]
    crossed = len(others) > 1 and last == " x ".join(others)
    kinds = {name: "crossing" if crossed and name == last else "attribute" for name in data["attributes"]}
    groups = [{**row, "kind": kinds[row["attribute"]]} for row in data["groups"]]
    for row in groups:
        if row["group"] in data["roles"].get("attributes", ()):
            row.update(variable=row["group"], category=None)
    added = {
        "data": {**data, "groups": groups, "kinds": kinds},
        "registry": registry_of([*document["metrics"], *document["not_run"]]),
    }
    return {**document, **added}
