"""The types of an audit's document, schema 1: fields may be added to it, none renamed, removed or retyped.

The JSON schema (``report/audit.schema.json``) and the page's types (``web/src/audit.ts``) are generated from here by
``make schema``. A field that is ``NotRequired`` stands where it applies, or was added after version 0.1.
"""

# Annotations are evaluated here, so that the types know which of their fields are required.

from collections.abc import Mapping, Sequence
from typing import Any, Literal, NotRequired, TypedDict

from biasamp.results.metric_registry import METRICS

from .bin_types import BinEntry
from .comparison_types import ComparisonDocument
from .label_error_types import LabelErrorEntry
from .measurement_types import Direction, Figure, Measurement, Threshold
from .score_types import SweepEntry, WhyEntry

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
    task predictions are probabilities, which count as fractions: rates of groups are then mean scores. ``label_sources`` is where
    labels come from, as the caller stated it. ``intervals`` stands where those of aggregates are not from resamples. ``withheld_groups`` are in no figure, since counts below ``withheld_below`` are not published.
    ``repeated`` is after how many rows the whole table repeats, row for row, ``in_succession`` how many times each row stands in
    succession, and ``repeated_truth`` after how many rows attributes and tasks repeat, with other predictions.
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
    label_sources: NotRequired[dict[str, str]]
    withheld_groups: NotRequired[list[str]]
    withheld_below: NotRequired[int]
    intervals: NotRequired[Literal["closed_form"]]
    repeated: NotRequired[int]
    in_succession: NotRequired[int]
    repeated_truth: NotRequired[int]


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


class Entry(Measurement):
    """One metric of one attribute in one direction, with what stands beside it.

    ``bounds`` are how far a directional value may reach when the ``unknown`` pairs, whose direction the records do not
    tell, have their worse sign; each is one-sided at the audit's confidence. ``contradicted``: of the pairs whose sign is
    clear both in these records and in those that lend it, how many are opposite, and of how many.
    A largest difference of a rate names the two groups it is ``between`` and the ``sizes`` it rests on; ``expected`` is
    its mean over samples where all groups are equal, ``every_group`` its value with groups that are too small to decide;
    ``left_out`` are the groups that decide in no outcome, with the most records that their rate is taken over, and those that have too
    few in some outcomes, with the fewest; of these ``left_out_outcomes`` has in how many.
    ``label_sets`` is over how many sets of labels Multi averages, where records have several, and ``label_set_support`` the
    median number of records that carry one.
    ``decided`` stands where predictions are probabilities: what the value is of the decisions they make, at 0.5 or for
    the likeliest class; null where the scores of single records are not at hand.
    Of a continuous task (``mean_difference``) value and pairs are in its units, rates of pairs are means, and ``standardised`` is the value over the
    ``deviation`` of the true task.
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
    standardised: NotRequired[Figure]
    standardised_interval: NotRequired[list[Figure]]
    deviation: NotRequired[Figure]
    outcome: NotRequired[str | None]
    between: NotRequired[list[str] | None]
    sizes: NotRequired[list[float]]
    expected: NotRequired[Figure]
    every_group: NotRequired[Figure]
    left_out: NotRequired[dict[str, float]]
    left_out_outcomes: NotRequired[dict[str, int]]
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
    """All that depends on place, time or call: two audits of the same data may differ here and nowhere else.

    ``command`` is the command line, or ``call`` the call in Python, that made the audit; ``settings`` are what ``verify`` needs to make it again.
    """

    source: str
    engine: str
    threads: int
    time: str
    command: str
    call: str
    libraries: dict[str, str]
    settings: dict[str, Any]


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
    label_errors: NotRequired[list[LabelErrorEntry]]
    bins: NotRequired[list[BinEntry]]
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
