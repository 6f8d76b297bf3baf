"""The one loop over metrics: all that the counts of a protected attribute allow, as entries of the audit's document."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.amplification import directional, mals, multi
from biasamp.amplification.base import Base, pairs_without_sign
from biasamp.amplification.mals_sample import MalsSample
from biasamp.amplification.parity import Parity
from biasamp.amplification.positive import choose_outcomes
from biasamp.amplification.result import Amplification
from biasamp.counts.bagging import deal_out
from biasamp.counts.bags import BagCounts
from biasamp.counts.contingency import ContingencyTable, bags_of_cells
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.joint import some_moments
from biasamp.counts.pair import drop_records
from biasamp.counts.signed_sums import Block
from biasamp.counts.subject_counts import MOST_COMBINATIONS, labels_in
from biasamp.data import Evaluation, LabelSet
from biasamp.predictability import attack
from biasamp.predictability.attack_result import Predictability
from biasamp.resampling.significance import q_values
from biasamp.results.interval import plain
from biasamp.results.metric_registry import DIRECTIONS

from .counted_thresholds import counted_entry, scores_counted
from .group_choice import IGNORED
from .label_error_entries import measure_label_errors
from .parity_entries import measure_parity
from .settings import Measured, Settings
from .subject import Counted, records_of, within
from .threshold_notes import decided_value, threshold_entry
from .why_entries import measure_why

# A document lists so many pairs of itemsets; the aggregate is over all of them.
MOST_PAIRS = 1000
# Attackers that read one variable are a table and cost nothing; those that read sets of labels learn anew on every
# half of the records that an interval is made from.
FEW_HALVES = 30
_NEEDED = {"A->T": "task_predictions", "T->A": "attribute_predictions"}
_NO_CLUSTERS = "attackers are scored record by record, which says nothing of clusters: there is no interval"
_NO_CLOSED_FORM = (
    "attackers are scored on halves of the records that are drawn at random: in closed form there is no interval"
)
_NO_CLUSTERS_OF_CELLS = "combinations of labels do not tell clusters apart: there is no interval"
# So many scores beside decisions are swept at every threshold; sorting more takes longer than the audit.
MOST_SWEPT = 1 << 17
_NO_SCORES = (
    "thresholds need the scores themselves, which these counts do not hold: count with task_scores or attribute_scores "
    "for 1,001 thresholds, or see sweep() and calibrate()"
)


def measure(subject: Counted, settings: Settings) -> Measured:
    """Compute every metric that was asked for and that the counts allow."""
    outcomes = choose_outcomes(subject.true_tasks, settings.positive, subject.invented_tasks)
    out = Measured(positive=dict(outcomes.positive))
    for direction in DIRECTIONS:
        for metric in DIRECTED:
            _run(subject, metric, direction, settings, out)
        if "directional" in settings.metrics and direction in subject.counts.pairs:
            _scores(subject, direction, settings, out)
            measure_why(subject, direction, settings, out)
            measure_label_errors(subject, direction, settings, out)
    for metric in UNDIRECTED:
        _run(subject, metric, None, settings, out)
    if "parity" in settings.metrics:
        measure_parity(subject, outcomes, settings, out)
    return out


def _run(subject: Counted, metric: str, direction: str | None, settings: Settings, out: Measured) -> None:
    """Run one metric: what it refuses is listed as not run, with its reason; what it warns of is in its result."""
    if metric not in settings.metrics:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        try:
            if direction is None:
                result = UNDIRECTED[metric](subject, settings)
            elif direction in subject.counts.pairs:
                result = DIRECTED[metric](subject, direction, settings)
            else:
                raise ValueError(f"{direction} needs {_NEEDED[direction]}, which were not given")
            made = entry(subject, result, settings)
        except ValueError as error:
            out.skip(subject.attribute, metric, direction, str(error))
            return
    out.results.append(result)
    out.entries.append(made)


def directional_of(subject: Counted, direction: str, settings: Settings) -> Any:
    """Directional amplification of the pairs that have a sign; those without are among the excluded."""
    source = subject.base_source(direction)
    labels = [
        side.only(keep).labels for side, keep in zip(subject.sides(direction), subject.kept(direction), strict=True)
    ]
    signed = source.signed(*map(len, labels))
    unsigned = pairs_without_sign(labels, signed, source.sign_source)
    sample = subject.sample(direction, signed)
    result = directional.from_sample(sample, source.only(*signed), direction=direction, level=settings.confidence)
    return replace(result, excluded=(*result.excluded, *unsigned))


def _multi(subject: Counted, direction: str, settings: Settings) -> Any:
    given, outcome = subject.sides(direction)
    bags = subject.counts.pairs[direction]
    options: dict[str, Any] = {"direction": direction, "level": settings.confidence}
    if given.exclusive and outcome.exclusive:
        return multi.from_sample(subject.sample(direction), subject.train(direction), **options)
    _refuse_withheld("Multi of sets of labels", "combinations of labels", settings)
    cells, by_bag = subject.counts.cells[direction], subject.counts.by_bag.get(direction)
    options["clustered"] = subject.clustered
    train_known = subject.counts.train is None or subject.counts.train_cells is not None
    # A record that lacks a label is in no combination, but it is in the pairs of its other labels.
    complete = cells is not None and int(cells.counts.sum()) == subject.records
    if subject.data is None and cells is not None and floats(bags.whole.n).max() > cells.counts.sum():
        raise ValueError("Multi of sets of labels needs the records where labels are missing: audit them in memory")
    if by_bag is not None and train_known and (complete or subject.data is None):
        bag, many = bags_of_cells(by_bag)
        block = Block(_cells_as_records(subject, by_bag, direction), bag, many)
        return multi.from_records(block, _train_cells(subject, direction), **options)
    if subject.data is not None and (not complete or subject.clustered or subject.weighted or not train_known):
        records = subject.data.records
        train = records.train(subject.number, direction)
        kept = subject.kept(direction)
        known = None if train is None else (train[0].only(kept[0]), train[1].only(kept[1]), None)
        block = Block(drop_records(records.evaluation(subject.number, direction).only(*kept)))
        return multi.from_records(block, known, **options)
    if subject.weighted:
        raise ValueError("Multi of sets of labels needs the records where they have weights: audit them in memory")
    if cells is None or not train_known:
        raise ValueError(f"Multi of sets of labels {_why_no_cells(bags)}")
    if subject.clustered:
        options["without"] = _NO_CLUSTERS_OF_CELLS
    whole = _cells_as_records(subject, cells, direction)
    assert whole.weights is not None
    rows, bag, dealt, many = deal_out(whole.weights)
    block = Block(replace(whole.take(rows), weights=dealt), bag, many)
    return multi.from_records(block, _train_cells(subject, direction), **options)


def _refuse_withheld(title: str, counted: str, settings: Settings) -> None:
    """What rests on other counts than those that suppression looks at is not measured with it."""
    if settings.suppress is not None:
        raise ValueError(
            f"{title} counts {counted}, whose small counts suppress does not look for: it is not published"
        )


def _cells_as_records(subject: Counted, table: ContingencyTable, direction: str) -> Evaluation:
    """The cells of a table as records that weigh as much as they hold, with the labels that have truth."""
    given, outcome = (side.variables for side in subject.sides(direction))
    one, two, three = records_of(table, given, outcome, outcome)
    return Evaluation(one, two, three, table.counts).only(*subject.kept(direction))


def _train_cells(subject: Counted, direction: str) -> tuple[LabelSet, LabelSet, NDArray[Any]] | None:
    table = subject.counts.train_cells
    if table is None:
        return None
    A, T = records_of(table, subject.counts.A, subject.counts.T)
    A, T = (side.only(keep) for side, keep in zip((A, T), subject.kept("A->T"), strict=True))
    return (A, T, table.counts) if direction == "A->T" else (T, A, table.counts)


def _why_no_cells(bags: BagCounts) -> str:
    """Why the combinations of labels are not known."""
    if isinstance(bags.counts.joint_predicted, Fixed):
        return (
            "needs the records where predictions are probabilities or weights are fractions: counts do not hold their "
            "combinations. Audit a sample of the records in memory"
        )
    return (
        f"needs combinations of labels, and there are more than the {MOST_COMBINATIONS:,} that counts keep: name fewer "
        "tasks, or audit a sample of the records in memory"
    )


def _leakage(subject: Counted, settings: Settings) -> Any:
    if "A->T" not in subject.counts.pairs:
        raise ValueError(f"leakage (A->T) needs {_NEEDED['A->T']}, which were not given")
    return _attacked("leakage", subject, "A->T", settings)


def _attacked(metric: str, subject: Counted, direction: str, settings: Settings) -> Any:
    """DPA of one direction, or leakage, which has none but needs the same labels as A->T."""
    given, outcome = subject.sides(direction)
    options: dict[str, Any] = {
        "direction": None if metric == "leakage" else direction,
        "equalize": "confusion",
        "seed": settings.seed,
    }
    table = subject.counts.cells[direction]
    # Attackers learn from records that have every label, where others were read as having none.
    if table is not None:
        by_bag = subject.counts.by_bag.get(direction)
        options["by_bag"] = None if by_bag is None else _complete_cells(by_bag, given, outcome)
        return attack.from_table(_complete_cells(table, given, outcome), metric, **options)
    if subject.data is not None:
        records = subject.data.records.evaluation(subject.number, direction)
        keep = np.logical_and.reduce([x.complete() for x in (records.given, records.truth, records.predicted)])
        return attack.from_evaluation(records if keep.all() else records.take(keep), metric, **options)
    name = "DPA" if metric == "dpa" else metric
    raise ValueError(f"{name} {_why_no_cells(subject.counts.pairs[direction])}")


def _complete_cells(table: ContingencyTable, given: LabelSet, outcome: LabelSet) -> ContingencyTable:
    """The cells whose records have every label."""
    sides = records_of(table, given.variables, outcome.variables, outcome.variables)
    keep = np.logical_and.reduce([labels.complete() for labels in sides])
    return table if keep.all() else replace(table, cells=table.cells[keep], counts=table.counts[keep], exact=None)


def _mals(subject: Counted, settings: Settings) -> Any:
    if subject.counts.mals is None:
        if len(subject.counts.pairs) == len(DIRECTIONS):
            raise ValueError(
                "MALS needs predictions of both sides together, which counts that were made to be shared do not hold"
            )
        side = _NEEDED["A->T" if "T->A" in subject.counts.pairs else "T->A"]
        raise ValueError(f"MALS needs predictions of both sides; {side} were not given")
    _refuse_withheld("MALS", "predicted groups with predicted tasks", settings)
    kept = subject.with_truth("A->T")
    train = None if subject.counts.train is None else subject.counts.train.only(*kept)
    groups = [side.only(keep).labels for side, keep in zip(subject.sides("A->T"), kept, strict=True)]
    signed = Base(sign_counts=train).signed(*map(len, groups))
    unsigned = pairs_without_sign(groups, signed, "the train labels")
    # Groups and tasks are those of the labels that indicators come from.
    kept = within(kept[0], signed[0]), within(kept[1], signed[1])
    predicted, truth = (held.only(*kept) for held in subject.counts.mals)
    moments = some_moments(subject.counts.moments, *kept)
    labels = truth.whole if train is None else train.only(*signed)
    source = "the evaluated labels" if train is None else "the train labels"
    sample = MalsSample(predicted, truth if train is None else None, None, None, subject.clustered, moments)
    if not sample.has_bags and subject.data is not None:
        sample = subject.data.records.mals_sample(subject.number, train is None, kept)
    compared = subject.compared[kept[0]] if subject.ignored else None
    result = mals.from_counts(labels, predicted.whole, source, sample, settings.confidence, compared)
    return replace(result, excluded=(*result.excluded, *unsigned))


def _scores(subject: Counted, direction: str, settings: Settings, out: Measured) -> None:
    """Where there are scores: amplification over thresholds, and, where predictions are scores, of their decisions."""
    soft = subject.counts.pairs[direction].soft
    apart = direction in subject.counts.why and subject.counts.why[direction].scored
    if not soft and not apart:
        return
    made = (
        [row for row in out.entries if (row["metric"], row["direction"]) == ("directional", direction)] if soft else []
    )
    for row in made:
        row["decided"] = None
    counted = 0 if soft else scores_counted(subject, direction)
    try:
        if subject.data is None:
            raise ValueError(_NO_SCORES)
        records = None if counted > MOST_SWEPT else subject.data.records
    except ValueError as error:
        if not counted:
            out.skip(subject.attribute, "sweep", direction, str(error))
            return
        records = None
    if records is None:
        _add_sweep(subject, direction, counted_entry(subject, direction, settings.confidence), out)
        return
    held = records.evaluation(subject.number, direction) if soft else records.scored(subject.number, direction)
    if counted and held.missing and not (held.given.exclusive and held.truth.exclusive):
        # A record that lacks one label is in the pairs of the others: counts know which, a sort of all scores does not.
        _add_sweep(subject, direction, counted_entry(subject, direction, settings.confidence), out)
        return
    train = records.train(subject.number, direction)
    source, kept = subject.base_source(direction), subject.kept(direction)
    signed = source.signed(*(int(side.sum()) for side in kept))
    kept = within(kept[0], signed[0]), within(kept[1], signed[1])
    known = None if train is None else (train[0].only(kept[0]), train[1].only(kept[1]))
    source = source.only(*signed)
    for row in made:
        row["decided"] = decided_value(held, source, kept)
    try:
        decided = None if soft else records.decided(subject.number, direction)
        if decided is not None:
            decided = decided.only(kept[1])
        if held.missing:
            # No threshold places a record that lacks a label.
            there = np.logical_and.reduce([side.complete() for side in (held.given, held.truth, held.predicted)])
            held, decided = held.take(there), None if decided is None else decided.take(there)
        swept = threshold_entry(held.only(*kept), source, known, decided, settings.confidence)
        _add_sweep(subject, direction, swept, out)
    except ValueError as error:
        out.skip(subject.attribute, "sweep", direction, str(error))


def _add_sweep(subject: Counted, direction: str, swept: dict[str, Any] | None, out: Measured) -> None:
    if swept is not None:
        out.sweeps.append({"attribute": subject.attribute, "direction": direction, **swept})


def correct_pairs(measured: Sequence[Measured]) -> None:
    """Make the q-values of listed pairs those over all pairs of the audit.

    The pairs of one metric are one family, whatever their attribute and direction and whether they are listed; those of
    another metric are the same changes looked at otherwise. Equal p-values have equal q-values.
    """
    held: dict[str, list[NDArray[np.float64]]] = {}
    for part in measured:
        for result in part.results:
            if isinstance(result, Amplification):
                held.setdefault(result.metric, []).append(result.pairs["p"])
    for metric, values in held.items():
        p = np.concatenate(values)
        of_p = dict(zip(p.tolist(), q_values(p).tolist(), strict=True))
        for entry in (entry for part in measured for entry in part.entries if entry["metric"] == metric):
            for pair in entry["pairs"]:
                pair["q"] = of_p.get(pair["p"])


# What measures each metric: of each direction that has predictions, and once for all; parity is several metrics.
_Directed = Callable[[Counted, str, Settings], Any]
DIRECTED: dict[str, _Directed] = {"directional": directional_of, "multi": _multi, "dpa": partial(_attacked, "dpa")}
UNDIRECTED: dict[str, Callable[[Counted, Settings], Any]] = {"leakage": _leakage, "mals": _mals}

# The counts, other than those of pairs, that a metric is computed from.
_COUNTS = {"directional": "why", "multi": "itemsets", "dpa": "cells", "leakage": "cells", "mals": "mals"}


def needed_counts(metrics: frozenset[str]) -> frozenset[str]:
    """Which counts some metrics need."""
    return frozenset(_COUNTS[metric] for metric in metrics if metric in _COUNTS)


def resampled(attribute: str, result: Any, settings: Settings) -> dict[str, list[float | None]]:
    """The values of a result's keyed resamples under the names of its metrics, where it has any."""
    if isinstance(result, Parity):
        drawn = {} if result._draw is None else result._draw(settings.resamples, settings.seed)
        return {
            name_of(attribute, name, result.direction): [plain(value) for value in values]
            for name, values in drawn.items()
        }
    maker = None if isinstance(result, Predictability) else result.interval_maker()
    if maker is None:
        return {}
    values = maker.values(settings.resamples, settings.seed)
    return {name_of(attribute, result.metric, result.direction): [plain(value) for value in values]}


def discordance(attribute: str, result: Any) -> dict[str, float | None]:
    """The variance that records add to a difference of two models which differ in none that was seen, by name."""
    if isinstance(result, Parity):
        return {name_of(attribute, name, result.direction): plain(part) for name, part in result._unseen.items()}
    if isinstance(result, Predictability) or result.interval_maker() is None:
        return {}
    return {name_of(attribute, result.metric, result.direction): plain(result.between_models())}


def pairs_by_bag(attribute: str, result: Any) -> dict[str, Any]:
    """What every bag of records adds to the change of each pair, by name, where it is known."""
    made = result.pairs_by_bag() if isinstance(result, Amplification) else None
    return {} if made is None else {name_of(attribute, result.metric, result.direction): made.to_dict()}


def halves_by_bag(attribute: str, result: Any) -> dict[str, Any]:
    """What attackers find on halves of the records, by name, where it is known."""
    made = result.paired_halves() if isinstance(result, Predictability) else None
    return {} if made is None else {name_of(attribute, result.metric, result.direction): made.to_dict()}


def name_of(attribute: str, metric: str, direction: str | None) -> str:
    """What the resamples of a metric are saved under."""
    return "/".join((metric, direction or "", attribute))


def entry(subject: Counted, result: Any, settings: Settings) -> dict[str, Any]:
    """One result as an entry of the document, with its interval."""
    if isinstance(result, Predictability):
        if subject.clustered or settings.intervals == "closed_form":
            why = _NO_CLUSTERS if subject.clustered else _NO_CLOSED_FORM
            result = replace(result, _interval=None, cautions=(*result.cautions, why))
        halves = None if result.attacker == "lookup" else FEW_HALVES
        return {"attribute": subject.attribute, **result.to_dict(level=settings.confidence, resamples=halves)}
    shown = result.to_dict(
        level=settings.confidence,
        resamples=settings.resamples,
        seed=settings.seed,
        most_pairs=MOST_PAIRS,
        method=settings.intervals,
    )
    shown["excluded"] = [*shown["excluded"], *_ignored_pairs(subject, result)]
    return {"attribute": subject.attribute, **shown, "pairs_in_all": len(result.pairs), **_label_sets(subject, result)}


def _label_sets(subject: Counted, result: Any) -> dict[str, Any]:
    """Over how many sets of labels Multi averages, and how many records carry the middle one; of outcomes where it can."""
    if result.metric != "multi":
        return {}
    given, outcome = subject.sides(result.direction)
    if given.exclusive and outcome.exclusive:
        return {}
    counts = result._estimate.sample.counts
    support = floats(counts.given).max(axis=1) if outcome.exclusive else floats(counts.truth).max(axis=0)
    return {"label_sets": len(support), "label_set_support": plain(float(np.median(support)))}


def _ignored_pairs(subject: Counted, result: Any) -> list[dict[str, Any]]:
    """The pairs of ignored groups, which are in no aggregate."""
    groups = [str(label) for label in labels_in(subject.counts.A) if label in subject.ignored]
    tasks = [str(label) for label in labels_in(subject.counts.T)]
    pairs = [(group, task) for group in groups for task in tasks]
    if result.direction == "T->A":
        pairs = [(task, group) for group, task in pairs]
    return [{"given": given, "outcome": outcome, "reason": IGNORED, "ignored": True} for given, outcome in pairs]
