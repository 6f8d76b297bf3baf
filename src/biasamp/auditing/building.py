"""The document of an audit, built from counts: what was measured, in words, and the resamples behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

from biasamp import __version__
from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.fixed import floats
from biasamp.counts.pair import NO_RECORD
from biasamp.data import Label
from biasamp.data.same_columns import TRAIN_OF_DATA, TRAIN_OF_PREDICTIONS
from biasamp.results.interval import Caution

from .amplification_findings import AMPLIFICATION
from .audit_result import Audit
from .bin_entries import NO_NUMBERS, is_cut, moved_by_bins
from .bin_types import BinEntry
from .cautions import CAUTIONS
from .counting import StreamedData
from .data_entry import chosen_of, data_of
from .document_types import AuditDocument, Entry, Excluded, registry_of
from .findings import Context
from .group_choice import GroupNames, ignored_groups, reference_groups
from .label_reader import AuditRecords
from .measurement_types import SCHEMA
from .measuring import correct_pairs, discordance, halves_by_bag, measure, pairs_by_bag, resampled
from .mirrors import mark_mirrors
from .plan import Plan
from .published_counts import withheld_labels, withheld_names
from .rate_findings import parity
from .settings import Settings
from .source import read_audit_base
from .subject import Counted
from .unseen_labels import check_vocabulary, differing_inventions, invented_entries
from .why_findings import why, why_cautions
from .withholding import of_all_records, redacted, withheld_groups

# Fewer records may have the same counts as train labels by chance.
_MANY = 100
# What gives the findings and cautions of an audit.
_RULES = (*AMPLIFICATION, parity, why, differing_inventions, *CAUTIONS, why_cautions, moved_by_bins)


def from_counts(
    counts: AuditCounts,
    settings: Settings,
    base: Any,
    chosen: GroupNames,
    source: AuditRecords | StreamedData | None = None,
    weighted: bool = False,
    bins: Sequence[BinEntry] | str = (),
    repeats: Mapping[str, int] | None = None,
) -> Audit:
    """The audit of counts; ``source`` is the data where it can be read again.

    ``bins`` says how values move with the bins of columns that were cut, or why that is not known. ``repeats`` says how rows repeat,
    where they do.
    """
    plan = Plan.from_dict(counts.plan)
    filled = [len(bags.numbers) for subject in counts.subjects for bags in subject.pairs.values()]
    if not any(filled):
        raise ValueError(NO_RECORD)
    if plan.cluster is not None and counts.records > 1 and filled[0] == 1:
        raise ValueError(
            f"cluster column {plan.cluster!r} has one value in all {counts.records:,} records: with fewer than two "
            "clusters there is no interval. Leave cluster out, or name the column that tells the clusters apart"
        )
    settings.labels.check(list(plan.groups), plan.columns)
    check_vocabulary(counts)
    _refuse_train_of_data(counts)
    weighted = weighted or plan.weights is not None
    read = read_audit_base(base, plan.groups, plan.task, plan.words)
    ignored, unknown = ignored_groups(counts, chosen.ignored)
    references = reference_groups(counts, chosen.reference)
    hidden: dict[str, frozenset[Label]] = {}
    limit = settings.suppress
    if counts.withheld is not None:
        if limit is not None:
            raise ValueError(
                f"data are counts with those below {counts.withheld['below']} withheld: leave suppress out"
            )
        limit = int(counts.withheld["below"])
    if limit is not None:
        hidden = withheld_labels(counts) if counts.withheld is not None else withheld_groups(counts, limit)
        ignored = {name: labels | hidden[name] for name, labels in ignored.items()}
        settings = replace(settings, suppress=limit, metrics=settings.metrics - of_all_records())
    subjects = [
        Counted(
            subject,
            counts.records,
            plan,
            read,
            source,
            number,
            weighted,
            ignored[subject.attribute],
            references.get(subject.attribute),
        )
        for number, subject in enumerate(counts.subjects)
    ]
    if read is not None:
        _check_base(subjects)
    measured = [measure(subject, settings) for subject in subjects]
    correct_pairs(measured)
    rows = [row for part in measured for row in part.entries]
    not_run = [row for part in measured for row in part.not_run]
    if is_cut(plan) and "directional" in settings.metrics and (isinstance(bins, str) or not bins):
        reason = f"how values move with bins was not measured: {bins or NO_NUMBERS}"
        not_run += [
            {"attribute": subject.attribute, "metric": "directional", "direction": None, "reason": reason}
            for subject in subjects
        ]
    if not rows:
        reasons = "; ".join(dict.fromkeys(row["reason"] for row in not_run))
        raise ValueError(f"no metric could be computed: {reasons}")
    excluded = [
        {**{key: row[key] for key in ("attribute", "metric", "direction")}, **left_out}
        for row in rows
        for left_out in row.pop("excluded", ())
    ]
    for row in rows:
        if "cautions" in row:
            row["caution_kinds"] = [Caution.kind_of(words) for words in row["cautions"]]
            row["cautions"] = [str(words) for words in row["cautions"]]  # a document holds plain text
    name = " + ".join(source.name for source in counts.sources) or "counts"
    document: AuditDocument = {
        "schema": SCHEMA,
        "version": __version__,
        "seed": settings.seed,
        "data": {
            **data_of(counts, subjects, settings, rows, base is not None),
            **chosen_of(subjects, measured, unknown, settings, repeats or {}),
        },
        "metrics": cast("list[Entry]", rows),
        "findings": [],
        "excluded": cast("list[Excluded]", excluded),
        "not_run": not_run,  # type: ignore[typeddict-item]
        "registry": registry_of([*rows, *not_run]),
        "provenance": {"source": name},
    }
    rates = [row for part in measured for row in part.rates]
    if rates:
        document["rates"] = rates  # type: ignore[typeddict-item]
    sweeps = [row for part in measured for row in part.sweeps]
    if sweeps:
        document["sweep"] = sweeps  # type: ignore[typeddict-item]
    why_rows = [row for part in measured for row in part.why]
    if why_rows:
        document["why"] = why_rows  # type: ignore[typeddict-item]
    wrong_labels = [row for part in measured for row in part.label_errors]
    if wrong_labels:
        document["label_errors"] = wrong_labels  # type: ignore[typeddict-item]
    if not isinstance(bins, str) and bins:
        document["bins"] = list(bins)
    invented = invented_entries(subjects, settings.confidence)
    if invented:
        document["invented"] = invented  # type: ignore[typeddict-item]
    mark_mirrors(document)
    context = Context(document, subjects, [source.name for source in counts.sources])
    found = [finding for rule in _RULES for finding in rule(context)]
    found.sort(key=lambda finding: -finding.weight)
    document["findings"] = [finding.to_dict() for finding in found]  # type: ignore[misc]
    if limit is not None:
        # Values of resamples, and what is kept by bag of records, are nearly the records themselves.
        shown = redacted(cast("dict[str, Any]", document), hidden, limit)
        if counts.withheld is not None:
            shown["data"]["withheld_groups"] = withheld_names(counts)
        return Audit(cast("AuditDocument", shown), name)
    owned = [
        (subject.attribute, result) for subject, part in zip(subjects, measured, strict=True) for result in part.results
    ]
    resample = partial(_resamples, owned, settings, counts.resampled_as)
    return Audit(document, name, results=tuple(result for _, result in owned), _resample=resample)


def _refuse_train_of_data(counts: AuditCounts) -> None:
    """Refuse train labels that are those of the records, or their predictions: as many of every pair is no chance."""
    alike = []
    for subject in counts.subjects:
        bags = subject.pairs.get("A->T")
        if subject.train is None or bags is None or counts.records < _MANY:
            return
        known, truth, said = map(floats, (subject.train.joint, bags.whole.joint_truth, bags.whole.joint_predicted))
        same = subject.train.records == counts.records and known.shape == truth.shape
        alike.append((same and (known == truth).all(), same and (known == said).all()))
    if all(copied for copied, _ in alike):
        raise ValueError(TRAIN_OF_DATA)
    if all(predicted for _, predicted in alike):
        raise ValueError(TRAIN_OF_PREDICTIONS)


def _check_base(subjects: list[Counted]) -> None:
    """Refuse a base that no attribute can be held against; one that fits some of several is used for these."""
    wrong: ValueError | None = None
    for subject in subjects:
        for direction in subject.counts.pairs if subject.attribute in subject.plan.groups else ():
            try:
                subject.base_source(direction)
            except ValueError as error:
                wrong = wrong or error
            else:
                return
    if wrong is not None:
        raise wrong


def _resamples(owned: list[tuple[str, Any]], settings: Settings, records: str) -> dict[str, Any]:
    """The values of the resamples of all results, by which two audits are compared."""
    drawn = [resampled(attribute, result, settings) for attribute, result in owned]
    values = {name: values for part in drawn for name, values in part.items()}
    unseen = {name: value for attribute, result in owned for name, value in discordance(attribute, result).items()}
    return {
        "seed": settings.seed,
        "resamples": settings.resamples,
        "records": records,
        "values": values,
        "unseen": unseen,
        "pairs": {name: held for attribute, result in owned for name, held in pairs_by_bag(attribute, result).items()},
        "halves": {
            name: held for attribute, result in owned for name, held in halves_by_bag(attribute, result).items()
        },
    }
