"""``biasamp.audit``: from a table to findings."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from biasamp import __version__
from biasamp.counts.resampling import Fingerprint
from biasamp.labels import Column, Columns, LabelSet, align, canonical, label_set, weights_of
from biasamp.labels.keys import Keys, row_keys
from biasamp.results.audit import SCHEMA, Audit

from .base import read_audit_base
from .findings import find
from .margins import Audited
from .measure import Measured, Settings, Subject, measure, resampled
from .roles import MISSING, Spec, attribute_specs, crossing, prediction_specs, read_labels, refuse_overlap, spec
from .source import Source, read_source

METRIC_NAMES = ("directional", "multi", "mals", "dpa", "leakage", "parity")
_ENGINES = ("auto", "local")


def audit(
    data: Any,
    *,
    attributes: Any,
    tasks: Any,
    attribute_predictions: Any = None,
    task_predictions: Any = None,
    train: Any = None,
    base: Any = None,
    weights: Any = None,
    record: str | None = None,
    cluster: str | None = None,
    missing: str = "error",
    intersections: bool = False,
    metrics: Any = "auto",
    confidence: float = 0.95,
    resamples: int = 1000,
    min_group: int = 30,
    seed: int = 0,
    engine: str = "auto",
) -> Audit:
    """Measure how much a model amplifies the bias of its data, and say in words what was found.

    Parameters
    ----------
    data : path, dataframe or mapping of arrays
        The records: a Parquet, CSV, Arrow or JSON-lines file (gzipped too) or a folder of them, any dataframe, or
        a mapping of column names to arrays. The files of a folder are read in the order of their names as one
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
    metrics : "auto" or list of str
        Which metrics: of directional, multi, mals, dpa, leakage and parity. ``"auto"`` runs what the columns
        allow; what was not run is listed with the reason.
    confidence : float
        The level of all intervals.
    resamples, seed : int
        How many resamples the intervals rest on, and their seed.
    min_group : int
        Groups with fewer records are flagged; no value changes.
    engine : {"auto", "local"}
        Where the counting is done.

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
    if missing not in MISSING:
        raise ValueError(f"missing is {missing!r}; take one of {', '.join(map(repr, MISSING))}")
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is {confidence}; it must lie strictly between 0 and 1, such as 0.95")
    if resamples < 2:
        raise ValueError(f"resamples is {resamples}; at least 2 are needed")
    if engine not in _ENGINES:
        raise ValueError(f"engine is {engine!r}; take one of {', '.join(map(repr, _ENGINES))}")
    wanted = _metrics(metrics)
    groups = attribute_specs(attributes)
    task = spec(tasks, "tasks")
    refuse_overlap(groups, task)
    group_predictions = prediction_specs(attribute_predictions, list(groups.values()), "attribute_predictions")
    (task_prediction,) = prediction_specs(task_predictions, [task], "task_predictions")
    if task_prediction is None and not any(group_predictions):
        raise ValueError(
            "neither task_predictions nor attribute_predictions is given: amplification compares predictions with "
            "truth. Without ground truth, use associate()"
        )
    source = read_source(data, _columns(groups, task, group_predictions, task_prediction, weights, record, cluster))
    subjects = _Reader(source, missing, train, base, weights, record, cluster).subjects(
        groups, task, group_predictions, task_prediction, intersections
    )
    settings = Settings(wanted, confidence, resamples, seed, cluster is not None)
    measured = [measure(subject, settings) for subject in subjects]
    roles = {
        "attributes": _columns(groups),
        "tasks": _columns(task),
        "attribute_predictions": _columns(group_predictions),
        "task_predictions": _columns(task_prediction),
    }
    return _gather(source, subjects, measured, settings, task, missing, min_group, train, base, roles)


def _metrics(metrics: Any) -> frozenset[str]:
    if metrics == "auto":
        return frozenset(METRIC_NAMES)
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    strange = [name for name in names if name not in METRIC_NAMES]
    if strange or not names:
        raise ValueError(f"metrics has {strange or 'nothing'}; take 'auto' or some of {', '.join(METRIC_NAMES)}")
    return frozenset(names)


def _columns(*parts: Any) -> list[str]:
    """Every column that is needed, each once."""
    names: list[str] = []
    for part in parts:
        if isinstance(part, Spec):
            names.extend(part.names)
        elif isinstance(part, str):
            names.append(part)
        elif isinstance(part, dict):
            names.extend(_columns(*part.values()))
        elif isinstance(part, list) and all(item is None or isinstance(item, Spec) for item in part):
            names.extend(_columns(*part))
    return list(dict.fromkeys(names))


class _Reader:
    """Reads the columns of each role into labels."""

    def __init__(
        self, source: Source, missing: str, train: Any, base: Any, weights: Any, record: str | None, cluster: str | None
    ) -> None:
        self.source, self.missing, self.train, self.base = source, missing, train, base
        values = source.numbers(weights, "weights") if isinstance(weights, str) else weights
        self.weights = weights_of(values, source.rows)
        self.ids = None if record is None else _unique(source.ids(record, "record"), record)
        self.clusters = None if cluster is None else _several(source.ids(cluster, "cluster"), cluster)
        # Sums of fractions depend on the order of their addends: records with ids are put in that of their keys.
        self.order = None if self.ids is None else np.argsort(self.ids)
        if self.order is not None:
            self.weights, self.ids, self.clusters = (
                None if values is None else values[self.order] for values in (self.weights, self.ids, self.clusters)
            )

    def subjects(
        self,
        groups: dict[str, Spec],
        task: Spec,
        group_predictions: Sequence[Spec | None],
        task_prediction: Spec | None,
        intersections: bool,
    ) -> list[Subject]:
        """One subject an attribute, and one for their crossing."""
        train = None
        if self.train is not None:
            train = read_source(self.train, _columns(groups, task), "train")
        base = read_audit_base(self.base, groups, task)
        T = self._read(task, "tasks")
        T_pred = self._read(task_prediction, "task_predictions", soft=True, like=T)
        T_train = self._read_train(train, task, "tasks")
        T, T_pred, T_train = _one_space(T, T_pred, T_train, ("tasks", "task_predictions", "train tasks"))
        out = []
        for (name, spec_), predictions in zip(groups.items(), group_predictions, strict=True):
            A = self._read(spec_, "attributes")
            A_pred = self._read(predictions, "attribute_predictions", soft=True, like=A)
            A_train = self._read_train(train, spec_, "attributes")
            A, A_pred, A_train = _one_space(
                A, A_pred, A_train, ("attributes", "attribute_predictions", "train attributes")
            )
            bases = {d: base.argument(spec_, task, d) for d in ("A->T", "T->A")} if base is not None else {}
            out.append(
                Subject(name, A, T, A_pred, T_pred, A_train, T_train, bases, self.weights, self.ids, self.clusters)
            )
        if intersections:
            out.append(self._crossed(out))
        return out

    def _crossed(self, subjects: list[Subject]) -> Subject:
        if len(subjects) < 2:
            raise ValueError("intersections=True crosses several attributes, but only one is given")
        names = [subject.attribute for subject in subjects]
        A = crossing([s.A for s in subjects], names)
        hard = [s.A_pred for s in subjects if s.A_pred is not None and not s.A_pred.soft]
        A_pred = crossing(hard, names) if len(hard) == len(subjects) else None
        known = [s.A_train for s in subjects if s.A_train is not None]
        A_train = crossing(known, names) if len(known) == len(subjects) else None
        A, A_pred, A_train = _one_space(A, A_pred, A_train, ("attributes", "attribute_predictions", "train attributes"))
        first = subjects[0]
        return Subject(" x ".join(names), A, first.T, A_pred, first.T_pred, A_train, first.T_train, {}, *self._beside())

    def _beside(self) -> tuple[Any, Keys | None, Keys | None]:
        return self.weights, self.ids, self.clusters

    def _read(self, spec_: Spec | None, role: str, soft: bool = False, like: LabelSet | None = None) -> Any:
        if spec_ is None:
            return None
        labels = read_labels(self.source, spec_, role, self.missing, soft=soft, like=like)
        return labels if self.order is None else labels.take(self.order)

    def _read_train(self, train: Source | None, spec_: Spec, role: str) -> LabelSet | None:
        if train is None:
            return None
        columns = [train.column(name) for name in spec_.names]
        labels = label_set(Columns(columns, len(columns) == 1, spec_.declared, spec_.categories), f"train {role}")
        if labels.missing and self.missing == "error":
            return read_labels(train, spec_, f"train {role}", self.missing)
        return labels.without_missing() if self.missing == "negative" else labels


def _several(clusters: Keys, column: str) -> Keys:
    if len(clusters) > 1 and (clusters == clusters[0]).all():
        raise ValueError(
            f"cluster column {column!r} has one value in all {len(clusters):,} records: with fewer than two clusters "
            "there is no interval. Leave cluster out, or name the column that tells the clusters apart"
        )
    return clusters


def _unique(ids: Keys, column: str) -> Keys:
    distinct = len(np.unique(ids))
    if distinct < len(ids):
        raise ValueError(
            f"record column {column!r} has {len(ids) - distinct:,} repeated ids: a record has one row. Rows that belong "
            "together without being the same record go into cluster="
        )
    return ids


def _one_space(truth: Any, predicted: Any, train: Any, names: tuple[str, str, str]) -> tuple[Any, Any, Any]:
    sets = [(s, name) for s, name in zip((truth, predicted, train), names, strict=True) if s is not None]
    placed = iter(align([s for s, _ in sets], [name for _, name in sets]))
    return tuple(None if s is None else next(placed) for s in (truth, predicted, train))  # type: ignore[return-value]


def _gather(
    source: Source,
    subjects: list[Subject],
    measured: list[Measured],
    settings: Settings,
    task: Spec,
    missing: str,
    min_group: int,
    train: Any,
    base: Any,
    roles: dict[str, list[str]],
) -> Audit:
    entries = [entry for part in measured for entry in part.entries]
    not_run = [row for part in measured for row in part.not_run]
    if not entries:
        reasons = "; ".join(dict.fromkeys(row["reason"] for row in not_run))
        raise ValueError(f"no metric could be computed: {reasons}")
    excluded = [
        {"attribute": entry["attribute"], "metric": entry["metric"], "direction": entry["direction"], **row}
        for entry in entries
        for row in entry.pop("excluded", ())
    ]
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "version": __version__,
        "seed": settings.seed,
        "data": {
            "records": source.rows,
            "fingerprint": _fingerprint(source),
            "attributes": [subject.attribute for subject in subjects],
            "tasks": {"title": task.title, "labels": subjects[0].T.width},
            "groups": _groups(subjects, min_group),
            "confidence": settings.confidence,
            "resamples": settings.resamples,
            "min_group": min_group,
            "missing": missing,
            "missing_values": sum(_gaps(source.columns[name]) for name in source.columns),
            "roles": roles,
            "train": train is not None,
            "base": base is not None,
            "weighted": subjects[0].weights is not None,
        },
        "metrics": entries,
        "findings": [],
        "excluded": excluded,
        "not_run": not_run,
    }
    sweeps = [row for part in measured for row in part.sweeps]
    if sweeps:
        document["sweep"] = sweeps
    document["findings"] = [finding.to_dict() for finding in find(document, subjects)]
    owned = [
        (subject.attribute, result) for subject, part in zip(subjects, measured, strict=True) for result in part.results
    ]

    def resamples() -> dict[str, Any]:
        drawn = [resampled(attribute, result, settings) for attribute, result in owned]
        return {
            "seed": settings.seed,
            "resamples": settings.resamples,
            "records": str(Fingerprint.of(_units(subjects[0]))),
            "values": {name: values for part in drawn for name, values in part.items()},
        }

    return Audit(document, source.name, results=tuple(result for _, result in owned), _resample=resamples)


def _units(subject: Subject) -> Keys:
    """The keys of what is resampled as one."""
    if subject.clusters is not None:
        return subject.clusters
    return row_keys(0, len(subject.A)) if subject.ids is None else subject.ids


def _gaps(column: Column) -> int:
    if column.kind == "text":
        return int((column.values < 0).sum())
    return 0 if column.missing is None else int(column.missing.sum())


def _groups(subjects: Sequence[Audited], min_group: int) -> list[dict[str, Any]]:
    return [
        {"attribute": subject.attribute, "group": str(label), "records": count, "small": count < min_group}
        for subject in subjects
        for label, count in zip(subject.sizes["A"][0], subject.sizes["A"][1].tolist(), strict=True)
    ]


def _fingerprint(source: Source) -> str:
    """A short digest of the columns that were read, so that two reports can be told to be of the same data."""
    digest = hashlib.sha256()
    for name in sorted(source.columns):
        column = _as_numbers(source.columns[name])
        digest.update(repr((name, column.categories)).encode())
        values = column.values.astype(np.int64 if column.kind in ("text", "list") else np.float64)
        if column.missing is not None and column.indptr is None:
            values[column.missing] = 0
        digest.update(values.tobytes())
        if column.indptr is not None:
            digest.update(column.indptr.tobytes())
        if column.missing is not None:
            digest.update(np.packbits(column.missing).tobytes())
    return digest.hexdigest()[:16]


def _as_numbers(column: Column) -> Column:
    """Categories that are all spelled as numbers, as those numbers: they are the same labels."""
    if column.kind != "text":
        return column
    try:
        numbers = np.array([float(category) for category in column.categories] + [0.0])
    except ValueError:
        return column
    if tuple(canonical(number) for number in numbers[:-1] if np.isfinite(number)) != column.categories:
        return column
    missing = column.values < 0
    return Column(column.name, "float", numbers[column.values], missing if missing.any() else None)
