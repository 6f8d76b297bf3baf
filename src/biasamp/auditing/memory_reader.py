"""The columns of each role as labels, for data that is in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from biasamp.data import Column, Columns, LabelSet, align, label_set, weights_of
from biasamp.data.keys import Keys, row_keys

from .audit_base import read_audit_base
from .metrics_of import Subject
from .plan import columns_of
from .roles import Spec, crossing, read_labels
from .source import Source, read_source


class Reader:
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

    def keys(self, record: str | None) -> Keys:
        """The key of each record, in the order of the data."""
        return row_keys(0, self.source.rows) if record is None else self.source.ids(record, "record")

    def subjects(
        self,
        groups: Mapping[str, Spec],
        task: Spec,
        group_predictions: Sequence[Spec | None],
        task_prediction: Spec | None,
        intersections: bool,
    ) -> list[Subject]:
        """One subject an attribute, and one for their crossing."""
        train = None
        if self.train is not None:
            train = read_source(self.train, columns_of(*groups.values(), task), "train")
        base = read_audit_base(self.base, groups, task)
        T = self.read(task, "tasks")
        T_pred = self.read(task_prediction, "task_predictions", soft=True, like=T)
        T_train = self._read_train(train, task, "tasks")
        T, T_pred, T_train = _one_space(T, T_pred, T_train, ("tasks", "task_predictions", "train tasks"))
        out = []
        for (name, spec_), predictions in zip(groups.items(), group_predictions, strict=True):
            A = self.read(spec_, "attributes")
            A_pred = self.read(predictions, "attribute_predictions", soft=True, like=A)
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

    def read(self, spec_: Spec | None, role: str, soft: bool = False, like: LabelSet | None = None) -> Any:
        """The labels of some columns; None for none."""
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


def gaps(column: Column) -> int:
    """How many values of a column are missing."""
    if column.kind == "text":
        return int((column.values < 0).sum())
    return 0 if column.missing is None else int(column.missing.sum())
