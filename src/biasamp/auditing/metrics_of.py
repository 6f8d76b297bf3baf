"""All metrics of one protected attribute, as plain entries of the audit's document."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification import directional, mals, multi, parity
from biasamp.amplification.base import Base, read_base
from biasamp.amplification.parity_intervals import DIFFERENCES, accuracy_interval, difference_interval, resampled_rates
from biasamp.amplification.parity_result import Parity
from biasamp.counts.joint import JointCounts
from biasamp.counts.pair import PairCounts
from biasamp.counts.replicates import ReplicateCounts
from biasamp.data import Evaluation, Label, LabelSet
from biasamp.data.keys import Keys
from biasamp.predictability import attack
from biasamp.predictability.attack_result import Predictability
from biasamp.resampling.intervals import MOST_WEIGHTS
from biasamp.results.interval import plain

from .margins import Audited, Margins
from .threshold_notes import threshold_entries

# A document lists so many pairs of itemsets; the aggregate is over all of them.
MOST_PAIRS = 1000
# Attackers that read one variable are a table and cost nothing; those that read sets of labels are trained anew
# in every trial.
TRIALS, FEW_TRIALS, FEW_HALVES = 100, 10, 30
NO_PARITY = "parity compares task predictions, which were not given"
_NO_CLUSTERS = "attackers are scored record by record, which says nothing of clusters: there is no interval"


@dataclass(frozen=True, eq=False)
class Subject:
    """One protected attribute with the tasks, in one label space each."""

    attribute: str
    A: LabelSet
    T: LabelSet
    A_pred: LabelSet | None
    T_pred: LabelSet | None
    A_train: LabelSet | None = None
    T_train: LabelSet | None = None
    base: Mapping[str, Any] = field(default_factory=dict)
    weights: NDArray[Any] | None = None
    ids: Keys | None = None
    clusters: Keys | None = None

    @property
    def records(self) -> int:
        """How many records there are."""
        return len(self.A)

    @property
    def predicts_attribute(self) -> bool:
        """Whether the model predicts the attribute."""
        return self.A_pred is not None

    @cached_property
    def sizes(self) -> dict[str, tuple[tuple[Label, ...], NDArray[np.int64], bool]]:
        """Of both sides: the labels, how many records have each, and whether a record has one at most."""
        return {
            side: (labels.labels, np.bincount(labels.nonzero()[1], minlength=labels.width), labels.exclusive)
            for side, labels in (("A", self.A), ("T", self.T))
        }

    def margins(self, direction: str) -> Margins | None:
        """Totals of the outcome labels; None where its predictions are not there."""
        evaluation = self.evaluation(direction)
        return None if evaluation is None else Margins.of_records(evaluation)

    def evaluation(self, direction: str) -> Evaluation | None:
        """The labels of one direction, or None where its predictions are not there."""
        if direction == "A->T":
            sides = (self.A, self.T, self.T_pred)
        else:
            sides = (self.T, self.A, self.A_pred)
        if sides[2] is None:
            return None
        return Evaluation(sides[0], sides[1], sides[2], self.weights, self.ids, self.clusters)

    def train(self, direction: str) -> tuple[LabelSet, LabelSet] | None:
        """Train labels as (given, truth)."""
        if self.A_train is None or self.T_train is None:
            return None
        return (self.A_train, self.T_train) if direction == "A->T" else (self.T_train, self.A_train)


@dataclass(frozen=True)
class Settings:
    """What the caller chose, for all metrics alike."""

    metrics: frozenset[str]
    confidence: float
    resamples: int
    seed: int
    clustered: bool = False


@dataclass
class Measured:
    """What one attribute gave."""

    entries: list[dict[str, Any]] = field(default_factory=list)
    results: list[Any] = field(default_factory=list)
    not_run: list[dict[str, Any]] = field(default_factory=list)
    sweeps: list[dict[str, Any]] = field(default_factory=list)

    def skip(self, attribute: str, metric: str, direction: str | None, reason: str) -> None:
        """Note what was not computed, and why."""
        self.not_run.append({"attribute": attribute, "metric": metric, "direction": direction, "reason": reason})


def measure(subject: Subject, settings: Settings) -> Measured:
    """Compute every metric that was asked for and that the columns allow."""
    out = Measured()
    for direction in ("A->T", "T->A"):
        for metric in ("directional", "multi"):
            if metric in settings.metrics:
                _directed(subject, metric, direction, settings, out)
        evaluation = subject.evaluation(direction)
        if "directional" in settings.metrics and evaluation is not None:
            out.sweeps += threshold_entries(
                evaluation, _source(subject, direction), subject.attribute, direction, subject.train(direction)
            )
        if "dpa" in settings.metrics:
            _predictability(subject, "dpa", direction, settings, out)
    if "leakage" in settings.metrics:
        _predictability(subject, "leakage", "A->T", settings, out)
    if "mals" in settings.metrics:
        _mals(subject, settings, out)
    if "parity" in settings.metrics:
        _parity(subject, settings, out)
    return out


def lacking(direction: str) -> str:
    """What a direction needs that was not given."""
    wanted = "task_predictions" if direction == "A->T" else "attribute_predictions"
    return f"{direction} needs {wanted}, which were not given"


def run(
    subject: Audited, metric: str, direction: str | None, settings: Settings, out: Measured, make: Callable[[], Any]
) -> None:
    """Run one metric: what it refuses is listed as not run, with its reason; what it warns of is in its result."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            result = make()
            made = entry(subject.attribute, result, settings)
        except ValueError as error:
            out.skip(subject.attribute, metric, direction, str(error))
            return
    out.results.append(result)
    out.entries.append(made)


def _directed(subject: Subject, metric: str, direction: str, settings: Settings, out: Measured) -> None:
    evaluation = subject.evaluation(direction)
    if evaluation is None:
        out.skip(subject.attribute, metric, direction, lacking(direction))
        return

    def make() -> Any:
        if metric == "directional":
            source = _source(subject, direction)
            return directional.from_evaluation(evaluation, source, direction=direction, level=settings.confidence)
        return multi.from_evaluation(
            evaluation, subject.train(direction), direction=direction, level=settings.confidence
        )

    run(subject, metric, direction, settings, out, make)


def _source(subject: Subject, direction: str) -> Base:
    evaluation = subject.evaluation(direction)
    assert evaluation is not None
    train = subject.train(direction)
    joint = None if train is None else JointCounts.from_labels(*train)
    return read_base(subject.base.get(direction), None, evaluation, joint)


def _predictability(subject: Subject, metric: str, direction: str, settings: Settings, out: Measured) -> None:
    """DPA of one direction, or leakage, which has none but needs the same labels as A->T."""
    stated = None if metric == "leakage" else direction
    evaluation = subject.evaluation(direction)
    if evaluation is None:
        out.skip(subject.attribute, metric, stated, lacking(direction).replace("A->T", f"{metric} (A->T)"))
        return
    sides = [evaluation.given, evaluation.truth, evaluation.predicted]
    keep = np.logical_and.reduce([labels.complete() for labels in sides])
    if not keep.all():
        evaluation = evaluation.take(keep)
    kept = evaluation
    read = evaluation.truth if metric == "leakage" else evaluation.given
    trials = TRIALS if len(read.variables) == 1 and read.variables[0].kind != "multilabel" else FEW_TRIALS

    def make() -> Any:
        return attack.from_evaluation(
            kept, metric, direction=stated, equalize="confusion", trials=trials, seed=settings.seed
        )

    run(subject, metric, stated, settings, out, make)


def _mals(subject: Subject, settings: Settings, out: Measured) -> None:
    if subject.A_pred is None or subject.T_pred is None:
        lacking = "attribute_predictions" if subject.A_pred is None else "task_predictions"
        out.skip(subject.attribute, "mals", None, f"MALS needs predictions of both sides; {lacking} were not given")
        return
    sides = [subject.A, subject.T, subject.A_pred, subject.T_pred]
    beside: list[Any] = [subject.weights, subject.ids, subject.clusters]
    if any(labels.missing for labels in sides):
        # Both of its terms are about the same records: one that lacks any label is in neither.
        keep = np.logical_and.reduce([labels.complete() for labels in sides])
        sides = [labels.take(keep) for labels in sides]
        beside = [None if values is None else values[keep] for values in beside]
    A, T, A_pred, T_pred = sides

    def make() -> Any:
        predictions = JointCounts.from_labels(A_pred, T_pred, beside[0])
        if subject.A_train is not None and subject.T_train is not None:
            labels = JointCounts.from_labels(subject.A_train, subject.T_train)
            records = mals.MalsRecords((A_pred, T_pred), None, *beside)
            return mals.from_counts(labels, predictions, "the train labels", records, settings.confidence)
        labels = JointCounts.from_labels(A, T, beside[0])
        records = mals.MalsRecords((A_pred, T_pred), (A, T), *beside)
        return mals.from_counts(labels, predictions, "the evaluated labels", records, settings.confidence)

    run(subject, "mals", None, settings, out, make)


def _parity(subject: Subject, settings: Settings, out: Measured) -> None:
    """Parity companions of A->T."""
    evaluation = subject.evaluation("A->T")
    if evaluation is None:
        out.skip(subject.attribute, "parity", "A->T", NO_PARITY)
        return
    counts = PairCounts.from_labels(evaluation)
    plainly = evaluation.given.exclusive and counts.spread is None and evaluation.clusters is None
    few = len(evaluation) * settings.resamples <= MOST_WEIGHTS
    drawn = None
    if not plainly and few:
        drawn = ReplicateCounts.from_labels(evaluation, settings.resamples, settings.seed, both=True).counts
    draw = partial(resampled_rates, evaluation) if few else None
    parity_entries(subject.attribute, counts, plainly, drawn, draw, settings, out)


def parity_entries(
    attribute: str,
    counts: PairCounts,
    plainly: bool,
    drawn: PairCounts | None,
    draw: Callable[..., Any] | None,
    settings: Settings,
    out: Measured,
) -> None:
    """One entry for each of the four companions.

    ``plainly`` says that intervals follow from the counts; else they follow from the resampled counts ``drawn``.
    ``draw`` draws resampled figures where two audits are compared.
    """
    result = parity.from_counts(counts, "A->T")
    worst_of: dict[str, int] = {}
    groups: dict[str, tuple[int, int]] = {}
    for name in (*DIFFERENCES, "mean_per_class_accuracy"):
        values = result.table[name]
        if np.isnan(values).all():
            out.skip(attribute, name, "A->T", "no two groups have this rate")
            continue
        made: dict[str, Any] = {"attribute": attribute, "metric": name, "direction": "A->T"}
        # The worst outcome stands for all: the largest difference, or the least accuracy.
        if name == "mean_per_class_accuracy":
            worst = int(np.nanargmin(values))
            interval = accuracy_interval(counts, worst, settings.confidence, drawn)
            between = None
        else:
            worst = int(np.nanargmax(values))
            apart = difference_interval(counts, DIFFERENCES[name], worst, settings.confidence, drawn)
            interval = (apart.low, apart.high)
            groups[name] = apart.higher, apart.lower
            between = [str(counts.given_labels[apart.higher]), str(counts.given_labels[apart.lower])]
        worst_of[name] = worst
        made.update(
            value=plain(values[worst]),
            interval=[plain(bound) for bound in interval] if plainly or drawn is not None else [None, None],
            n=plain(result.n),
            outcome=result.table["outcome"][worst],
            between=between,
            outcomes=[{k: plain(row[k]) for k in ("outcome", name)} for row in result.table.rows()],
        )
        if name == "mean_per_class_accuracy":
            made["groups"] = [{k: plain(v) for k, v in row.items()} for row in result.groups.rows()]
            made["excluded"] = list(result.excluded)
        out.entries.append(made)
    drawing = None if draw is None or not worst_of else partial(draw, worst_of, groups)
    out.results.append(replace(result, _draw=drawing))


def resampled(attribute: str, result: Any, settings: Settings) -> dict[str, list[float | None]]:
    """The values of a result's keyed resamples under the names of its metrics, where it has any."""
    if isinstance(result, Parity):
        if result._draw is None:
            return {}
        drawn = result._draw(settings.resamples, settings.seed)
        return {name_of(attribute, name, result.direction): _plainly(values) for name, values in drawn.items()}
    maker: Any = getattr(result, "_interval", None)
    if maker is None or not hasattr(maker, "values"):
        return {}
    try:
        values = maker.values(settings.resamples, settings.seed)
    except ValueError:  # so many pairs that their resamples do not fit in memory
        return {}
    return {name_of(attribute, result.metric, result.direction): _plainly(values)}


def _plainly(values: NDArray[np.float64]) -> list[float | None]:
    return [plain(value) for value in values]


def name_of(attribute: str, metric: str, direction: str | None) -> str:
    """What the resamples of a metric are saved under."""
    return "/".join((metric, direction or "", attribute))


def entry(attribute: str, result: Any, settings: Settings) -> dict[str, Any]:
    """One result as an entry of the document, with its interval."""
    if isinstance(result, Predictability):
        if settings.clustered:
            result = replace(result, _interval=None, cautions=(*result.cautions, _NO_CLUSTERS))
        halves = FEW_HALVES if len(result.trials) <= FEW_TRIALS else None
        return {"attribute": attribute, **result.to_dict(level=settings.confidence, resamples=halves)}
    made: dict[str, Any] = {
        "attribute": attribute,
        **result.to_dict(
            level=settings.confidence, resamples=settings.resamples, seed=settings.seed, most_pairs=MOST_PAIRS
        ),
    }
    made["pairs_in_all"] = len(result.pairs)
    return made
