"""The columns of each role as labels, for data that is in memory."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from biasamp.data import Column, Columns, LabelSet, align, label_set, weights_of

from .plan import Plan, columns_of
from .roles import Spec, crossing, read_labels
from .source import Source, read_source
from .subject import AuditRecords, Subject


class Reader:
    """Reads the columns of each role into labels."""

    def __init__(
        self,
        source: Source,
        missing: str,
        train: Any = None,
        weights: Any = None,
        record: str | None = None,
        cluster: str | None = None,
    ) -> None:
        self.source, self.missing, self.train = source, missing, train
        values = source.numbers(weights, "weights") if isinstance(weights, str) else weights
        self.weights = weights_of(values, source.rows)
        self.ids = None if record is None else source.ids(record, "record")
        self.clusters = None if cluster is None else source.ids(cluster, "cluster")

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
            out.append(Subject(name, A, T, A_pred, T_pred, A_train, T_train))
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
        return Subject(" x ".join(names), A, first.T, A_pred, first.T_pred, A_train, first.T_train)

    def records(self, plan: Plan) -> AuditRecords:
        """All records in memory, as labels."""
        subjects = self.subjects(
            plan.groups, plan.task, plan.group_predictions, plan.task_prediction, plan.intersections
        )
        return AuditRecords(subjects, self.weights, self.ids, self.clusters)

    def read(self, spec_: Spec | None, role: str, soft: bool = False, like: LabelSet | None = None) -> Any:
        """The labels of some columns; None for none."""
        if spec_ is None:
            return None
        return read_labels(self.source, spec_, role, self.missing, soft=soft, like=like)

    def _read_train(self, train: Source | None, spec_: Spec, role: str) -> LabelSet | None:
        if train is None:
            return None
        columns = [train.column(name) for name in spec_.names]
        labels = label_set(Columns(columns, len(columns) == 1, spec_.declared, spec_.categories), f"train {role}")
        if labels.missing and self.missing == "error":
            return read_labels(train, spec_, f"train {role}", self.missing)
        return labels.without_missing() if self.missing == "negative" else labels


def _one_space(truth: Any, predicted: Any, train: Any, names: tuple[str, str, str]) -> tuple[Any, Any, Any]:
    sets = [(s, name) for s, name in zip((truth, predicted, train), names, strict=True) if s is not None]
    placed = iter(align([s for s, _ in sets], [name for _, name in sets]))
    return tuple(None if s is None else next(placed) for s in (truth, predicted, train))  # type: ignore[return-value]


def gaps(column: Column) -> int:
    """How many values of a column are missing."""
    if column.kind == "text":
        return int((column.values < 0).sum())
    return 0 if column.missing is None else int(column.missing.sum())
