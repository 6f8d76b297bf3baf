"""The audit of a continuous task, such as a salary or a score: means of groups instead of rates."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from biasamp import __version__
from biasamp.amplification.means import MeanAmplification, from_records, trained_sides
from biasamp.data import LabelSet, printable
from biasamp.data.arguments import weights_of
from biasamp.data.keys import Keys, row_keys
from biasamp.data.row_numbers import row_numbers
from biasamp.data.vocabulary import one_space
from biasamp.results.interval import plain
from biasamp.results.metric_registry import METRICS, requestable_names

from .audit_result import Audit
from .content import contents_of
from .document_types import AuditDocument, Entry, registry_of
from .evidence import place_of, verdicts
from .findings import AGGREGATE, DECIDED_AGGREGATE, caution, finding, number, place
from .group_choice import GroupNames
from .label_reader import crossing, read_labels
from .measurement_types import SCHEMA
from .plan import Plan
from .settings import Settings
from .source import Source, read_source

METRIC = "mean_difference"
KIND = "continuous"
_ONE_TASK = "a continuous task is audited by itself: name one column of tasks, and one of predictions"
_LABELS_ALONE = "the task is continuous: it has means, not labels. Cut it into classes to have this too; where it is cut moves the value"
_NOT_YET = {
    "base": "base rates are of labels; a continuous task has means",
    "strata": "strata of a continuous task are not measured",
    "task_scores": "scores are decided into labels; give predictions of a continuous task",
    "attribute_scores": "give predicted groups, not their scores, with a continuous task",
}


def is_continuous(plan: Plan, source: Source) -> bool:
    """Whether the task is a number and no label: the caller says so, or it has fractions that are no probabilities."""
    if plan.task.declared == KIND:
        return True
    if plan.task.declared is not None or len(plan.task.names) != 1 or plan.task.names[0] not in source.columns:
        return False
    column = source.column(plan.task.names[0])
    if column.kind != "float":
        return False
    values = column.values[np.isfinite(column.values)]
    return bool(len(values)) and bool((values != np.rint(values)).any()) and bool((np.abs(values) > 1.0).any())


def as_continuous(plan: Plan) -> Plan:
    """The plan, which says that its task is continuous."""
    return replace(plan, task=replace(plan.task, declared=KIND))


def audit_of_means(
    source: Source, plan: Plan, settings: Settings, chosen: GroupNames, train: Any, base: Any, weights: Any
) -> Audit:
    """The audit of records in memory whose task is continuous."""
    _refuse(plan, chosen, base)
    if settings.suppress is not None:
        raise ValueError(
            "suppress: means of a continuous task cannot be withheld by counts; leave small groups out first"
        )
    (task,) = plan.task.names
    held = None if train is None else read_source(train, plan.of_train.columns, "train")
    keys = row_keys(0, source.rows) if plan.record is None else source.ids(plan.record, "record")
    units = keys if plan.cluster is None else source.ids(plan.cluster, "cluster")
    given = source.numbers(weights, "weights") if isinstance(weights, str) else weights
    w = weights_of(given, source.rows)
    truth, there = _numbers(source, task, "tasks", plan.missing)
    said = None
    if plan.task_prediction is not None:
        (column,) = plan.task_prediction.names
        said, seen = _numbers(source, column, "task_predictions", plan.missing)
        there &= seen
    entries, results, groups, kinds = [], [], [], {}
    missing = int((~there).sum())
    for name, (labels, predicted, known) in _attributes(source, plan, held).items():
        crossed = name not in plan.groups
        kinds[name] = "crossing" if crossed else "attribute"
        keep = there & labels.complete() if plan.missing == "drop" else there
        missing += int((~labels.complete()).sum())
        sizes = labels.take(keep).totals()
        groups += _group_rows(name, labels, sizes, settings, kinds[name])
        trained = (
            None if held is None or known is None else trained_sides(labels, known, held.numbers(task, "train tasks"))
        )
        for direction in ("A->T", "T->A"):
            if (said if direction == "A->T" else predicted) is None:
                continue
            other = None if direction == "A->T" else predicted
            rows = keep if other is None else keep & other.complete()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)
                made = from_records(
                    labels.take(rows),
                    truth[rows],
                    truth[rows] if direction == "T->A" or said is None else said[rows],
                    None if other is None else other.take(rows),
                    trained,
                    None if w is None else w[rows],
                    units[rows],
                    settings.confidence,
                )
            results.append((name, made))
            entries.append(_entry(name, task, made, settings, held is not None))
    columns = {name: source.column(name) for name in plan.columns if name in source.columns}
    fingerprint = contents_of(columns, keys)[0]
    not_run = [
        {"attribute": name, "metric": metric, "direction": None, "reason": _LABELS_ALONE}
        for name in kinds
        for metric in requestable_names()
        if metric in settings.metrics and metric != METRICS[METRIC].described_by
    ]
    document: Any = {
        "schema": SCHEMA,
        "version": __version__,
        "seed": settings.seed,
        "data": {
            "records": source.rows,
            "fingerprint": f"{fingerprint:016x}",
            "attributes": list(kinds),
            "tasks": {"title": plan.task.title, "labels": 1},
            "groups": groups,
            "confidence": settings.confidence,
            "resamples": settings.resamples,
            "min_group": settings.min_group,
            "missing": plan.missing,
            "missing_values": missing,
            "roles": plan.roles,
            "train": plan.train,
            "base": False,
            "weighted": w is not None,
            "kinds": kinds,
            "task_labels": [],
            **({"label_sources": dict(settings.labels.sources)} if settings.labels.sources else {}),
        },
        "metrics": entries,
        "findings": [],
        "excluded": [],
        "not_run": not_run,
        "registry": registry_of([*entries, *not_run]),
        "provenance": {"source": source.name},
    }
    decided = verdicts(document)
    found = [*(_said(entry, task, decided.get(place_of(entry))) for entry in entries), *_cautions(entries, task)]
    document["findings"] = [one.to_dict() for one in sorted(found, key=lambda one: -one.weight)]
    resample = partial(_resamples, results, settings, keys)
    return Audit(
        cast("AuditDocument", document), source.name, results=tuple(made for _, made in results), _resample=resample
    )


def _refuse(plan: Plan, chosen: GroupNames, base: Any) -> None:
    """Refuse what is of labels alone."""
    if len(plan.task.names) != 1 or (plan.task_prediction is not None and len(plan.task_prediction.names) != 1):
        raise ValueError(_ONE_TASK)
    given = {
        "base": base,
        "strata": plan.strata,
        "task_scores": plan.task_scores,
        "attribute_scores": any(plan.group_scores) or None,
        "reference": chosen.reference,
        "ignore_groups": list(chosen.ignored) or None,
    }
    named = next((name for name, value in given.items() if value is not None), None)
    if named is not None:
        raise ValueError(
            f"{named}: {_NOT_YET.get(named, 'of a continuous task all groups are compared with the mean')}"
        )
    if plan.missing == "negative":
        raise ValueError("missing is 'negative': a number that is missing has no value; use 'drop'")


def _numbers(source: Source, name: str, role: str, missing: str) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """A column of numbers, and which records have one."""
    column = source.column(name)
    if column.kind not in ("bool", "int", "float"):
        raise TypeError(
            f"{role} column {name!r} holds {column.kind}, not numbers: a continuous task needs numbers on both sides"
        )
    values = column.values.astype(np.float64)
    there = np.isfinite(values) & ~column.gone
    if not there.all() and missing == "error":
        bad = np.flatnonzero(~there)
        raise ValueError(
            f"{role} column {name!r} has {int((~there).sum()):,} records without a finite number ({row_numbers(bad, len(bad))}). Fill them in, leave those "
            'records out, or use audit(..., missing="drop").'
        )
    if not there.any():
        raise ValueError(f"{role} column {name!r} has no finite number")
    return np.where(there, values, 0.0), there


Sides = tuple[LabelSet, LabelSet | None, LabelSet | None]


def _attributes(source: Source, plan: Plan, train: Source | None) -> Mapping[str, Sides]:
    """The groups of each attribute, their predictions and those of train records, in one label space; and of the crossing."""
    out: dict[str, Sides] = {}
    for (name, spec), said in zip(plan.groups.items(), plan.group_predictions, strict=True):
        labels = read_labels(source, spec, "attributes", plan.missing)
        predicted = (
            None if said is None else read_labels(source, said, "attribute_predictions", plan.missing, like=labels)
        )
        known = None if train is None else read_labels(train, spec, "train attributes", plan.missing, identifiers=True)
        names = ("attributes", "attribute_predictions", "train attributes")
        out[name] = one_space(labels, predicted, known, list(names), unseen=plan.unseen)
    if plan.intersections:
        sides = list(zip(*out.values(), strict=True))
        whole = [None if any(one is None for one in side) else crossing(list(side), list(out)) for side in sides]
        if whole[0] is not None:
            placed = one_space(
                whole[0], whole[1], whole[2], ["attributes", "attribute_predictions", "train attributes"], checked=False
            )
            out[" x ".join(out)] = placed
    return out


def _group_rows(name: str, labels: LabelSet, sizes: Any, settings: Settings, kind: str) -> list[dict[str, Any]]:
    return [
        {
            "attribute": name,
            "group": str(label),
            "records": int(count),
            "small": int(count) < settings.min_group,
            "kind": kind,
            "variable": label.variable,
            "category": label.category,
        }
        for label, count in zip(labels.labels, sizes.tolist(), strict=True)
    ]


def _entry(attribute: str, task: str, made: MeanAmplification, settings: Settings, trained: bool) -> Entry:
    low, high = made.confidence_interval(settings.confidence, settings.resamples, settings.seed)
    scaled = made.confidence_interval(settings.confidence, settings.resamples, settings.seed, of="standardised")
    pairs = [
        {
            "given": row["given"] if made.direction == "A->T" else task,
            "outcome": task if made.direction == "A->T" else row["given"],
            "sign": row["sign"],
            "sign_p": row["sign_p"],
            "truth_rate": row["true_mean"],
            "predicted_rate": row["predicted_mean"],
            **{name: row[name] for name in ("delta", "amplification", "low", "high", "support", "p", "q")},
            "known": bool(trained or row["sign_p"] < 0.01),
        }
        for row in made.groups.rows()
    ]
    return cast(
        "Entry",
        {
            "attribute": attribute,
            "metric": METRIC,
            "direction": made.direction,
            "value": plain(made.value),
            "interval": [plain(low), plain(high)],
            "n": plain(made.n),
            "interval_method": "bags of records",
            "sign_source": "the train labels" if trained else "the evaluated labels",
            "outcome": task,
            "standardised": plain(made.standardised),
            "standardised_interval": [plain(end) for end in scaled],
            "deviation": plain(made.deviation),
            "unknown": made.unclear,
            "pairs": pairs,
            "pairs_in_all": len(pairs),
        },
    )


def _said(entry: Any, task: str, verdict: int | None) -> Any:
    """What a figure says, in words."""
    low, high = entry["interval"]
    scaled = (
        f"{number(entry['standardised'])} standard deviations" if entry["standardised"] is not None else "no deviation"
    )
    shown = f"{number(entry['value'])} [{number(low)}, {number(high)}] in units of {printable(task, 40)} ({scaled})"
    words = {
        1: f"the model amplifies differences of means between groups, {shown}: groups above the mean are predicted higher, those below it lower, than is true.",
        -1: f"the model narrows differences of means between groups, {shown}.",
        0: f"whether the model widens or narrows differences of means between groups cannot be told from these records: {shown}.",
        None: f"the change of differences of means between groups is {shown}; there is no interval.",
    }[verdict]
    return finding(
        "amplification", f"{place(entry)}: {words}", DECIDED_AGGREGATE if verdict else AGGREGATE, entry, verdict=verdict
    )


def _cautions(entries: list[Entry], task: str) -> list[Any]:
    out = [
        caution(
            "not-fairness",
            "Zero amplification is not fairness: a model that repeats the differences of its data repeats their bias.",
        )
    ]
    if any(entry.get("unknown") for entry in entries):
        out.append(
            caution(
                "unclear-signs",
                f"Some groups lie on no clear side of the mean of {printable(task, 40)}: their changes count with either sign in the interval.",
            )
        )
    return out


def _resamples(results: list[tuple[str, MeanAmplification]], settings: Settings, keys: Keys) -> dict[str, Any]:
    """The values of resamples, by which two audits of the same records are compared."""
    from biasamp.counts.fingerprints import Fingerprint

    values = {
        f"{METRIC}/{made.direction}/{name}": [
            plain(float(value)) for value in made.resampled(settings.resamples, settings.seed)
        ]
        for name, made in results
    }
    return {
        "seed": settings.seed,
        "resamples": settings.resamples,
        "records": f"means {Fingerprint.of(keys)}",
        "values": values,
        "unseen": {},
        "pairs": {},
    }
