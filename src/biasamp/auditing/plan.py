"""Which columns an audit reads, and in which roles: all that counting needs to be told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from .roles import MISSING, Spec, attribute_specs, prediction_specs, refuse_overlap, spec

NO_PREDICTIONS = (
    "neither task_predictions nor attribute_predictions is given: amplification compares predictions with truth. "
    "Without ground truth, use associate()"
)


@dataclass(frozen=True)
class Plan:
    """The roles of columns, and what to do about missing labels."""

    groups: Mapping[str, Spec]
    task: Spec
    group_predictions: tuple[Spec | None, ...]
    task_prediction: Spec | None
    weights: str | None = None
    record: str | None = None
    cluster: str | None = None
    missing: str = "error"
    intersections: bool = False
    train: bool = False

    @property
    def labels(self) -> list[tuple[Spec, str]]:
        """Every set of columns that is read as labels, with the argument that named it."""
        held: list[tuple[Spec | None, str]] = [(self.task, "tasks"), (self.task_prediction, "task_predictions")]
        held += [(one, "attributes") for one in self.groups.values()]
        held += [(one, "attribute_predictions") for one in self.group_predictions]
        return [(one, role) for one, role in held if one is not None]

    @property
    def truths(self) -> list[tuple[Spec, str]]:
        """The columns that train records have too."""
        return [(self.task, "train tasks"), *((one, "train attributes") for one in self.groups.values())]

    @property
    def columns(self) -> list[str]:
        """Every column that is needed, each once."""
        names = [name for one, _ in self.labels for name in one.names]
        names += [name for name in (self.weights, self.record, self.cluster) if name is not None]
        return list(dict.fromkeys(names))

    @property
    def roles(self) -> dict[str, list[str]]:
        """The columns of each role, for a report."""
        return {
            "attributes": columns_of(*self.groups.values()),
            "tasks": columns_of(self.task),
            "attribute_predictions": columns_of(*self.group_predictions),
            "task_predictions": columns_of(self.task_prediction),
        }

    def to_dict(self) -> dict[str, Any]:
        """The plan in plain values that JSON can hold."""
        out = asdict(self)
        out["groups"] = {name: _plain(one) for name, one in self.groups.items()}
        out["group_predictions"] = [_plain(one) for one in self.group_predictions]
        out["task"], out["task_prediction"] = _plain(self.task), _plain(self.task_prediction)
        return out

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Plan:
        """Read back what :meth:`to_dict` gave."""
        made = dict(held)
        made["groups"] = {name: _spec(one) for name, one in held["groups"].items()}
        made["group_predictions"] = tuple(_spec(one) for one in held["group_predictions"])
        made["task"], made["task_prediction"] = _spec(held["task"]), _spec(held["task_prediction"])
        return cls(**made)


def make_plan(
    attributes: Any,
    tasks: Any,
    attribute_predictions: Any,
    task_predictions: Any,
    *,
    missing: str = "error",
    **more: Any,
) -> Plan:
    """The plan that the arguments of :func:`biasamp.audit` mean."""
    if missing not in MISSING:
        raise ValueError(f"missing is {missing!r}; take one of {', '.join(map(repr, MISSING))}")
    groups = attribute_specs(attributes)
    task = spec(tasks, "tasks")
    refuse_overlap(groups, task)
    group_predictions = prediction_specs(attribute_predictions, list(groups.values()), "attribute_predictions")
    (task_prediction,) = prediction_specs(task_predictions, [task], "task_predictions")
    if task_prediction is None and not any(group_predictions):
        raise ValueError(NO_PREDICTIONS)
    return Plan(groups, task, tuple(group_predictions), task_prediction, missing=missing, **more)


def columns_of(*specs: Spec | None) -> list[str]:
    """The columns of some sets, each once."""
    return list(dict.fromkeys(name for one in specs if one is not None for name in one.names))


def _plain(one: Spec | None) -> Any:
    if one is None:
        return None
    return [list(one.names), one.declared, None if one.categories is None else list(one.categories)]


def _spec(held: Any) -> Any:
    if held is None:
        return None
    names, declared, categories = held
    return Spec(tuple(names), declared, None if categories is None else tuple(categories))
