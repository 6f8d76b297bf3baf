"""``biasamp.audit``: from a table to findings."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from inspect import signature
from typing import Any

from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.audit_counts import AuditCounts
from biasamp.counts.storage import is_counts
from biasamp.data.plain_arguments import names_of
from biasamp.data.repeated_records import repeats_of
from biasamp.data.same_columns import refuse_same, refuse_train_of_data, same_index
from biasamp.data.spelling import in_utf8
from biasamp.engines import engine_for
from biasamp.engines.memory_budget import check_limits, parse_memory
from biasamp.engines.progress import RowsBar
from biasamp.results.metric_registry import requestable_names

from .audit_result import Audit
from .bin_edges import with_edges
from .bin_entries import bins_moved
from .building import from_counts
from .continuous import KIND as CONTINUOUS
from .continuous import as_continuous, audit_of_means, is_continuous
from .counting import count_memory, count_plan
from .group_choice import GroupNames
from .label_provenance import read_label_provenance
from .measuring import needed_counts
from .plan import Plan, make_plan
from .provenance import plain_choice, provenance_of
from .settings import INTERVALS, Settings
from .source import Source, in_parts, read_source
from .unseen_labels import check_vocabulary


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
    provenance: Any = None,
    suppress: int | None = None,
    intervals: str = "bootstrap",
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
        One column is a variable whose every value is a label; several columns are yes/no labels. One column of numbers that are no labels,
        such as a salary, is continuous: means of groups are measured (:func:`biasamp.mean_amplification`). Fractions beyond 0 to 1 are
        read so; ``biasamp.continuous("age")`` says so of others.
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
        having the label. ``"drop"`` leaves out records without a score or a stratum too.
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
        Where the counting is done. ``"auto"`` reads data into memory unless files hold more than some ten million values, by
        their rows and columns; those, and what the others are given, are counted part by part, and so may be larger
        than memory. The audit is the same, intervals included.
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
    provenance : mapping or path, optional
        Where labels come from: for attributes and columns a sentence, ``{"gender": "perceived by annotators"}``, or a mapping with
        ``source`` and ``error``, how often labels of the attribute are wrong (see :func:`biasamp.label_errors`); or a TOML
        file with the same. The report states it, and ``label_errors`` of the document says how wrong labels would have to be
        for a conclusion to change.
    suppress : int, optional
        For publication: withhold groups with counts below this number, and those that would give them away. They are in no figure; DPA and leakage,
        which are of all records, are not measured, and neither are parts of scores and thresholds.
    intervals : {"bootstrap", "closed_form"}
        How the intervals of directional amplification, Multi and MALS are made: from resamples, or in closed form (Student's, on how much
        every bag of records moves the value, signs as they are), which draws nothing and is faster. In closed form DPA and leakage have
        no interval; all other intervals are the same either way.

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
    given_now = {name: value for name, value in locals().items() if value is not _defaults()[name]}
    check_limits(memory, threads)
    labels = read_label_provenance(provenance)
    settings = Settings(
        _metrics(metrics), confidence, resamples, seed, min_group, positive, labels, suppress, intervals
    )
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
        return _stated(
            from_counts(data, settings, base, chosen), given_now, Plan.from_dict(data.plan), settings, chosen
        )
    if attributes is None or tasks is None:
        absent = "attributes" if attributes is None else "tasks"
        raise TypeError(f"{absent} is None: name the columns; only counts know theirs")
    plan = make_plan(**roles)
    made, plan = measured(
        data,
        plan,
        settings,
        chosen,
        train=train,
        base=base,
        weights=weights,
        engine=engine,
        threads=threads,
        memory=memory,
    )
    return _stated(made, given_now, plan, settings, chosen, engine)


@cache
def _defaults() -> dict[str, Any]:
    """What the arguments of an audit are where the caller names none."""
    return {name: one.default for name, one in signature(audit).parameters.items()}


def measured(
    data: Any,
    plan: Plan,
    settings: Settings,
    chosen: GroupNames,
    *,
    train: Any = None,
    base: Any = None,
    weights: Any = None,
    engine: Any = "auto",
    threads: int | None = None,
    memory: int | str | None = None,
) -> tuple[Audit, Plan]:
    """The audit of data by a plan, and the plan with what the data decided: whether the task is continuous, where columns are cut.

    It is made in memory or part by part, or of counts, which have a plan of their own.
    """
    if isinstance(data, (str, os.PathLike)) and is_counts(data):
        data = AuditCounts.load(os.fspath(data))
    if isinstance(data, AuditCounts):
        return from_counts(data, settings, base, chosen), plan
    refuse_train_of_data(data, train)
    needs = needed_counts(settings.metrics)
    named = weights is None or isinstance(weights, str)
    # Weights that are no column of a file go with its rows in memory.
    together = not named and isinstance(data, (str, os.PathLike)) and isinstance(engine, str) and engine == "auto"
    if not together and in_parts(data, engine, plan.columns, parse_memory(memory)):
        if plan.task.declared == CONTINUOUS:
            raise ValueError(
                f"a continuous task is measured in memory, and the data are counted part by part (engine={engine!r}): audit a sample, "
                "or cut the task into classes"
            )
        if not named:
            raise TypeError(
                f"weights must name a column with engine={engine!r}: data is counted part by part, and an array has none"
            )
        with RowsBar() as bar, engine_for(engine, data, threads=threads, memory=memory, progress=bar) as running:
            counts, again = count_plan(data, plan, train, running, needs=needs)
            bins = bins_moved(plan, lambda: again.source, again.counted, settings, chosen, base)
            return from_counts(counts, settings, base, chosen, again, bins=bins), plan
    columns = (
        {f"data[{name!r}]": values for name, values in data.items()} if isinstance(data, Mapping) else {"data": data}
    )
    same_index({**columns, "weights": weights})
    if isinstance(data, Mapping):
        for truth, predicted in plan.predicted_columns:
            refuse_same({"": None, f"data[{truth!r}]": data.get(truth), f"data[{predicted!r}]": data.get(predicted)})
    source = read_source(data, plan.columns, words=plan.words)
    if is_continuous(plan, source):
        if settings.intervals != INTERVALS[0]:
            raise ValueError(
                f"intervals is {settings.intervals!r}, and the task is continuous: its intervals are made from resamples alone. Leave intervals out"
            )
        plan = as_continuous(plan)
        return audit_of_means(source, plan, settings, chosen, train, base, weights), plan
    plan = with_edges(plan, source)
    counts, held = count_memory(source, plan, train, weights, needs)
    in_memory = partial(_pairs_alone, source=source, train=train, weights=weights)
    bins = bins_moved(plan, lambda: source, in_memory, settings, chosen, base)
    repeats: dict[str, int] = {}
    if plan.record is None and plan.cluster is None and named:  # copies in one cluster make no interval shorter
        truths = [source.columns[name] for name in plan.truth_columns]
        repeats = repeats_of(source.columns.values(), truths, source.rows)
    return from_counts(counts, settings, base, chosen, held, weights is not None, bins, repeats), plan


def _pairs_alone(plan: Plan, source: Source, train: Any, weights: Any) -> AuditCounts:
    """The counts of pairs by another plan for the same records."""
    return count_memory(source, plan, train, weights, frozenset())[0]


def _stated(
    made: Audit, arguments: Mapping[str, Any], plan: Plan, settings: Settings, chosen: GroupNames, engine: Any = "auto"
) -> Audit:
    """The audit with how it was made."""
    asked = {
        "plan": plan.to_dict(),
        "metrics": sorted(settings.metrics),
        "confidence": settings.confidence,
        "resamples": settings.resamples,
        "min_group": settings.min_group,
        "positive": plain_choice(settings.positive),
        "reference": plain_choice(chosen.reference),
        "ignore_groups": plain_choice(chosen.ignored),
        "labels": settings.labels.plain,
        "suppress": settings.suppress,
        "intervals": settings.intervals,
    }
    # Of other records, the files that they are in.
    paths = {name: arguments.get(name) for name in ("train", "base")}
    asked |= {
        name: os.path.basename(os.fspath(path)) for name, path in paths.items() if isinstance(path, (str, os.PathLike))
    }
    how = provenance_of(made.document["provenance"]["source"], arguments, asked, engine)
    return replace(made, document={**made.document, "provenance": how})


def _metrics(metrics: Any) -> frozenset[str]:
    if isinstance(metrics, str) and metrics == "auto":
        return frozenset(requestable_names())
    names = names_of(metrics, "metrics", "names of metrics")
    strange = [name for name in names if name not in requestable_names()]
    if strange or not names:
        raise ValueError(f"metrics has {strange or 'nothing'}; take 'auto' or some of {', '.join(requestable_names())}")
    return frozenset(names)
