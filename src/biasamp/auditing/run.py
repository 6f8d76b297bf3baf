"""``biasamp.audit``: from a table to findings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import partial
from typing import Any, cast

from biasamp import __version__
from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.pair import NO_RECORD
from biasamp.counts.storage import is_counts
from biasamp.data.plain_arguments import MOST_DRAWS, level_of, names_of, whole_number
from biasamp.data.same_columns import refuse_same, refuse_train_of_data, same_index
from biasamp.data.spelling import in_utf8
from biasamp.engines import engine_for
from biasamp.engines.memory_budget import parse_memory
from biasamp.engines.progress import RowsBar
from biasamp.results.interval import Caution
from biasamp.results.metric_registry import requestable_names

from .audit_result import Audit
from .cautions import CAUTIONS
from .counting import StreamedData, count_memory, count_plan
from .document_types import SCHEMA, AttributeKind, AuditDocument, Data, Entry, Excluded, Missing, registry_of
from .findings import FINDINGS, Context
from .group_choice import GroupNames, ignored_groups, reference_groups
from .label_reader import AuditRecords
from .measuring import correct_pairs, discordance, measure, needed_counts, resampled
from .mirrors import mark_mirrors
from .plan import Plan, make_plan
from .settings import Measured, Settings
from .source import in_parts, read_audit_base, read_source
from .subject import Counted
from .unseen_labels import check_vocabulary, differing_inventions, invented_entries
from .why_findings import why, why_cautions


@in_utf8
def audit(
    data: Any,
    *,
    attributes: Any = None,
    tasks: Any = None,
    attribute_predictions: Any = None,
    task_predictions: Any = None,
    attribute_scores: Any = None,
    task_scores: Any = None,
    strata: Any = None,
    train: Any = None,
    base: Any = None,
    weights: Any = None,
    record: str | None = None,
    cluster: str | None = None,
    missing: str = "error",
    intersections: bool = False,
    unseen: str = "invented",
    metrics: Any = "auto",
    confidence: float = 0.95,
    resamples: int = 1000,
    min_group: int = 30,
    seed: int = 0,
    engine: Any = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
    positive: Any = None,
    reference: Any = None,
    ignore_groups: Any = (),
) -> Audit:
    """Measure how much a model amplifies the bias of its data, and say in words what was found.

    Parameters
    ----------
    data : path, dataframe, mapping of arrays or counts
        The records: a Parquet, CSV, Excel, Arrow or JSON-lines file (gzipped too) or a folder of them, any dataframe, or
        a mapping of column names to arrays; a Dask or Spark dataframe, which stays on its cluster and
        needs ``record``; or what :func:`biasamp.count` gave, which knows its columns. The files of a folder are
        read in the order of their names as one
        table, so that a folder gives what its files joined would give; records without ids are keyed by their row
        in it.
    attributes : str, list or mapping
        The protected attributes. A name, or each item of a list, is one attribute, measured by itself; a mapping
        ``{"gender": ["man", "woman"]}`` names an attribute that is spread over several yes/no columns.
    tasks : str or list of str
        One column is a variable whose every value is a label; several columns are yes/no labels.
    attribute_predictions, task_predictions : str, list or mapping, optional
        The model's predictions, by position or as a mapping from truth column to prediction column. T→A needs
        the former, A→T the latter, MALS both.
    attribute_scores, task_scores : str, list or mapping, optional
        The probabilities that predictions were decided from, by position or as a mapping; without predictions they are
        decided at 0.5, or for the likeliest class. Directional amplification is then split into the part of the
        scores and the part of the threshold: ``.why``.
    strata : str, optional
        A column of strata, such as a department: ``.why`` then also says what changes inside them.
    train : path, dataframe or mapping of arrays, optional
        Training records with the same truth columns; they decide the signs.
    base : path, dataframe or mapping, optional
        Another source of base rates: records with the same columns, or a table of ``attribute``, ``task`` and
        ``count``.
    weights : str or array-like, optional
        A column of weights, or the weights.
    record, cluster : str, optional
        A column of record ids, and one of clusters (several records of one person) that are resampled together.
    missing : {"error", "drop", "negative"}
        What to do about missing labels: refuse, leave the record out of the pairs concerned, or read it as not
        having the label.
    intersections : bool
        Whether to measure the crossing of all attributes as one more attribute.
    unseen : {"invented", "error"}
        Predicted values that neither truth nor train labels have. Likely mistakes are refused: a second spelling of a
        true value, any third value of a two-valued truth, values that most records have. Others are labels that the
        model invented: no pair of any mean, and listed in ``.invented`` with their rate in each group; or refused too.
    metrics : "auto" or list of str
        Which metrics: of directional, multi, mals, dpa, leakage and parity. ``"auto"`` runs what the columns
        allow; what was not run is listed with the reason.
    confidence : float
        The level of all intervals.
    resamples, seed : int
        How many resamples the intervals rest on, and their seed.
    min_group : int
        Groups with fewer records are flagged. The value of an amplification metric does not change by it; the largest
        difference of a rate between groups is that of groups whose rate rests on so many records (those who truly
        have the outcome, for a true positive rate). 0 lets every group decide it.
    engine : {"auto", "local", "dask", "spark"}, distributed.Client, SparkSession or Engine
        Where the counting is done. ``"auto"`` reads data into memory unless its files are large; the others count it
        part by part, and so may be larger than memory. The audit is the same, intervals included.
    threads : int, optional
        Threads of the local engine, or processes of a Dask cluster that is started here; by default all processors.
    memory : int or str, optional
        Budget of one process that counts part by part, such as ``"512MB"``.
    positive : optional
        The value of a task that rates of groups are of (selection, true and false positives, precision): one value,
        a list with one for each task, or a mapping from task to value. Without it that is 1, True or yes of
        two values; where neither is, both values have rates, and a caution says so.
    reference : str, list or mapping, optional
        The group of each attribute that others are held against in the table of groups, such as
        ``{"race": "Caucasian"}``: adds difference and ratio of every rate.
    ignore_groups : list or mapping, optional
        Groups that are in no comparison: not in differences between groups, nor in the mean over pairs of directional
        amplification, Multi and MALS. They stay in the table of groups, marked. A name is a label (``"race=Other"``) or
        a value (``"Other"``); crossings that hold an ignored group are ignored too. DPA and leakage are of
        all records.

    Returns
    -------
    Audit

    Examples
    --------
    >>> import biasamp
    >>> result = biasamp.audit(
    ...     {"gender": ["w", "m"] * 50, "paints": [1, 0] * 50, "said": [1, 0] * 40 + [0, 1] * 10},
    ...     attributes="gender",
    ...     tasks="paints",
    ...     task_predictions="said",
    ... )
    >>> [row["metric"] for row in result.metrics.rows()][:2]
    ['directional', 'multi']
    """
    level_of(confidence, "confidence")
    whole_number(resamples, "resamples", least=2, most=MOST_DRAWS)
    whole_number(min_group, "min_group")
    whole_number(seed, "seed")
    parse_memory(memory)
    settings = Settings(_metrics(metrics), confidence, resamples, seed, min_group, positive)
    chosen = GroupNames(reference, ignore_groups)
    roles = {
        "attributes": attributes,
        "tasks": tasks,
        "attribute_predictions": attribute_predictions,
        "task_predictions": task_predictions,
        "attribute_scores": attribute_scores,
        "task_scores": task_scores,
        "strata": strata,
        "train": train,
        "weights": weights,
        "record": record,
        "cluster": cluster,
        "missing": missing,
        "intersections": intersections,
        "unseen": unseen,
    }
    if isinstance(data, (str, os.PathLike)) and is_counts(data):
        data = AuditCounts.load(os.fspath(data))
    if isinstance(data, AssociationCounts):
        raise TypeError("data are counts of labels with identities: measure them with associate()")
    if isinstance(data, AuditCounts):
        given = {**roles, "missing": None if missing == "error" else missing, "intersections": intersections or None}
        check_vocabulary(data, None if given.pop("unseen") == "invented" else unseen)
        named = [name for name, value in given.items() if value is not None]
        if named:
            raise ValueError(f"data are counts, which say how they were made: leave {', '.join(named)} out")
        return from_counts(data, settings, base, chosen)
    if attributes is None or tasks is None:
        absent = "attributes" if attributes is None else "tasks"
        raise TypeError(f"{absent} is None: name the columns; only counts know theirs")
    plan = make_plan(**roles)
    refuse_train_of_data(data, train)
    needs = needed_counts(settings.metrics)
    if in_parts(data, engine):
        if weights is not None and not isinstance(weights, str):
            raise TypeError(
                f"weights must name a column with engine={engine!r}: data is counted part by part, and an array has none"
            )
        with RowsBar() as bar, engine_for(engine, data, threads=threads, memory=memory, progress=bar) as running:
            counts, again = count_plan(data, plan, train, running, needs=needs)
            return from_counts(counts, settings, base, chosen, again)
    columns = (
        {f"data[{name!r}]": values for name, values in data.items()} if isinstance(data, Mapping) else {"data": data}
    )
    same_index({**columns, "weights": weights})
    if isinstance(data, Mapping):
        for truth, predicted in plan.predicted_columns:
            refuse_same({"": None, f"data[{truth!r}]": data.get(truth), f"data[{predicted!r}]": data.get(predicted)})
    source = read_source(data, plan.columns)
    counts, held = count_memory(source, plan, train, weights, needs)
    return from_counts(counts, settings, base, chosen, held, weighted=weights is not None)


def from_counts(
    counts: AuditCounts,
    settings: Settings,
    base: Any,
    chosen: GroupNames,
    source: AuditRecords | StreamedData | None = None,
    weighted: bool = False,
) -> Audit:
    """The audit of counts; ``source`` is the data where it can be read again."""
    plan = Plan.from_dict(counts.plan)
    filled = [len(bags.numbers) for subject in counts.subjects for bags in subject.pairs.values()]
    if not any(filled):
        raise ValueError(NO_RECORD)
    if plan.cluster is not None and counts.records > 1 and filled[0] == 1:
        raise ValueError(
            f"cluster column {plan.cluster!r} has one value in all {counts.records:,} records: with fewer than two "
            "clusters there is no interval. Leave cluster out, or name the column that tells the clusters apart"
        )
    check_vocabulary(counts)
    weighted = weighted or plan.weights is not None
    read = read_audit_base(base, plan.groups, plan.task)
    ignored, unknown = ignored_groups(counts, chosen.ignored)
    references = reference_groups(counts, chosen.reference)
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
        "data": {**_data(counts, subjects, settings, rows, base is not None), **_chosen(subjects, measured, unknown)},
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
    invented = invented_entries(subjects, settings.confidence)
    if invented:
        document["invented"] = invented  # type: ignore[typeddict-item]
    mark_mirrors(document)
    context = Context(document, subjects, [source.name for source in counts.sources])
    rules = (*FINDINGS, why, differing_inventions, *CAUTIONS, why_cautions)
    found = [finding for rule in rules for finding in rule(context)]
    found.sort(key=lambda finding: -finding.weight)
    document["findings"] = [finding.to_dict() for finding in found]  # type: ignore[misc]
    owned = [
        (subject.attribute, result) for subject, part in zip(subjects, measured, strict=True) for result in part.results
    ]
    resample = partial(_resamples, owned, settings, counts.resampled_as)
    return Audit(document, name, results=tuple(result for _, result in owned), _resample=resample)


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
    }


def _data(
    counts: AuditCounts,
    subjects: list[Counted],
    settings: Settings,
    rows: list[dict[str, Any]],
    base: bool,
) -> Data:
    """What was audited; of the task labels, which may be many, those that listed pairs name."""
    plan = subjects[0].plan
    kinds: dict[str, AttributeKind] = {
        subject.attribute: "attribute" if subject.attribute in plan.groups else "crossing" for subject in subjects
    }
    tasks = subjects[0].sizes["T"][0]
    named = {
        pair["given"] if row["direction"] == "T->A" else pair["outcome"]
        for row in rows
        for pair in row.get("pairs", ())
    }
    return {
        "records": counts.records,
        "fingerprint": counts.fingerprint,
        "attributes": [subject.attribute for subject in subjects],
        "tasks": {"title": plan.task.title, "labels": len(tasks)},
        "groups": [
            {
                "attribute": subject.attribute,
                "group": str(label),
                "records": count,
                "small": count < settings.min_group and label not in subject.ignored,
                "kind": kinds[subject.attribute],
                "variable": label.variable,
                "category": label.category,
            }
            for subject in subjects
            for label, count in zip(subject.sizes["A"][0], subject.sizes["A"][1].tolist(), strict=True)
        ],
        "confidence": settings.confidence,
        "resamples": settings.resamples,
        "min_group": settings.min_group,
        "missing": cast("Missing", plan.missing),
        "missing_values": counts.missing_values,
        "roles": plan.roles,
        "train": plan.train,
        "base": base,
        "weighted": subjects[0].weighted,
        "kinds": kinds,
        "task_labels": [
            {"label": str(label), "variable": label.variable, "category": label.category}
            for label in tasks
            if str(label) in named
        ],
    }


def _chosen(subjects: list[Counted], measured: list[Measured], unknown: list[str]) -> Any:
    """What the caller chose, where it says more than the defaults: positive values, and groups."""
    chosen = {
        "positive": measured[0].positive,
        "positive_unknown": list(measured[0].unknown_positive),
        "reference": {subject.attribute: str(subject.reference) for subject in subjects if subject.reference},
        "ignored_groups": sorted(str(label) for subject in subjects for label in subject.ignored),
        "ignored_unknown": unknown,
        "soft_tasks": "A->T" in subjects[0].counts.pairs and subjects[0].counts.pairs["A->T"].soft,
    }
    return {name: value for name, value in chosen.items() if value}


def _metrics(metrics: Any) -> frozenset[str]:
    if isinstance(metrics, str) and metrics == "auto":
        return frozenset(requestable_names())
    names = names_of(metrics, "metrics", "names of metrics")
    strange = [name for name in names if name not in requestable_names()]
    if strange or not names:
        raise ValueError(f"metrics has {strange or 'nothing'}; take 'auto' or some of {', '.join(requestable_names())}")
    return frozenset(names)
