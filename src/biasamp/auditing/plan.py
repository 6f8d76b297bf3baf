"""Which columns an audit reads, and in which roles: all that counting needs to know."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import MISSING as MISSING_VALUE
from dataclasses import asdict, dataclass, fields, replace
from functools import cached_property
from math import isfinite
from typing import Any

from biasamp.data import Columns, Declared, printable
from biasamp.data.binning import BINNED, QUANTILES, cut, refuse_quantiles
from biasamp.data.plain_arguments import column_name, one_of, shown, yes_or_no
from biasamp.data.spelling import read_otherwise
from biasamp.data.vocabulary import UNSEEN

from .source import Source

MISSING = ("error", "drop", "negative")


@dataclass(frozen=True)
class Spec:
    """The columns of one label set, with the caller's word on what they are.

    ``categories`` are the values that are declared; of a column that is cut into bins they are its edges.
    """

    names: tuple[str, ...]
    declared: str | None = None
    categories: tuple[str, ...] | None = None

    @property
    def edges(self) -> tuple[float, ...] | None:
        """Where a column of numbers is cut into bins; None where it is not."""
        return tuple(map(float, self.categories or ())) if self.declared == BINNED else None

    @property
    def holds_classes(self) -> bool:
        """Whether the columns are probabilities of classes, one for each."""
        declared = self.declared == "categorical" and self.categories is not None
        return declared and len(self.names) == len(self.categories or ()) > 1

    @property
    def title(self) -> str:
        """What the set is called."""
        return ", ".join(self.names)

    def columns(self, source: Source) -> Columns:
        """These columns of some records."""
        held = [source.column(name) for name in self.names]
        if self.edges is not None:
            return cut(held[0], self.edges, self.title)
        if self.declared == QUANTILES:
            refuse_quantiles(self.title)
        return Columns(held, len(held) == 1, self.declared, self.categories)

    @classmethod
    def of(cls, value: Any, role: str) -> Spec:
        """Column names, or ``binary(...)``/``categorical(...)`` of them."""
        if isinstance(value, Declared):
            names = cls.of(value.data, role).names
            if value.kind in (BINNED, QUANTILES) and len(names) != 1:
                raise ValueError(f"{role} cuts {len(names)} columns into bins at once: name one column")
            return cls(names, value.kind, value.categories)
        if isinstance(value, str):
            return cls((value,))
        if isinstance(value, Sequence) and value and all(isinstance(name, str) for name in value):
            repeated = _first_repeated(value)
            if repeated is not None:
                raise ValueError(f"{role} names the column {repeated!r} twice")
            return cls(tuple(value))
        if isinstance(value, list) and any(isinstance(one, Declared) for one in value):
            raise ValueError(
                f"{role} lists a column that is declared among others: such a column is measured by itself"
            )
        raise TypeError(f"{role} must be a column name or a list of them, found {shown(value)}")


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
    unseen: str = "invented"
    group_scores: tuple[Spec | None, ...] = ()
    task_scores: Spec | None = None
    strata: Spec | None = None

    @property
    def labels(self) -> list[tuple[Spec, str]]:
        """Every set of columns that is read as labels, with the argument that named it."""
        held: list[tuple[Spec | None, str]] = [(self.task, "tasks"), (self.task_prediction, "task_predictions")]
        held += [(one, "attributes") for one in self.groups.values()]
        held += [(one, "attribute_predictions") for one in self.group_predictions]
        held += [(one, "attribute_scores") for one in self.group_scores]
        held += [(self.task_scores, "task_scores"), (self.strata, "strata")]
        return [(one, role) for one, role in held if one is not None]

    @property
    def of_train(self) -> Plan:
        """The plan by which train records are read, which have the truth alone."""
        unpredicted = (None,) * len(self.groups)
        unscored: dict[str, Any] = {"group_scores": (), "task_scores": None, "strata": None}
        return replace(
            self,
            group_predictions=unpredicted,
            task_prediction=None,
            weights=None,
            record=None,
            cluster=None,
            **unscored,
        )

    @property
    def columns(self) -> list[str]:
        """Every column that is needed, each once."""
        extra = [name for name in (self.weights, self.record, self.cluster) if name is not None]
        return list(dict.fromkeys([*self.label_columns, *extra]))

    @property
    def label_columns(self) -> list[str]:
        """Every column that is read as labels, each once."""
        return columns_of(*(one for one, _ in self.labels))

    @property
    def words(self) -> dict[str, frozenset[str]]:
        """Columns with declared values that text files must be read for as they are written, such as 1.10 and NA.

        Predictions of such a column are written as it is.
        """
        sides = [(self.task, self.task_prediction), *zip(self.groups.values(), self.group_predictions, strict=True)]
        held = [(truth.categories, one) for truth, said in sides for one in (truth, said) if one is not None]
        found: dict[str, frozenset[str]] = {}
        for categories, spec in held:
            values = frozenset() if spec.edges is not None else frozenset(spec.categories or categories or ())
            if any(read_otherwise(value) for value in values):
                found |= dict.fromkeys(spec.names, values)
        return found

    @property
    def truth_columns(self) -> list[str]:
        """Every column of attributes and tasks, and that of weights, each once: what no model says."""
        return [*columns_of(*self.groups.values(), self.task), *([self.weights] if self.weights is not None else [])]

    @property
    def predicted_columns(self) -> list[tuple[str, str]]:
        """Every column of truth with the one that predicts it."""
        sides = [(self.task, self.task_prediction), *zip(self.groups.values(), self.group_predictions, strict=True)]
        return [
            pair for truth, said in sides if said is not None for pair in zip(truth.names, said.names, strict=False)
        ]

    @property
    def roles(self) -> dict[str, list[str]]:
        """The columns of each role, for a report."""
        return {
            "attributes": columns_of(*self.groups.values()),
            "tasks": columns_of(self.task),
            "attribute_predictions": columns_of(*self.group_predictions),
            "task_predictions": columns_of(self.task_prediction),
            **{role: names for role, names in self._further_roles.items() if names},
        }

    @property
    def _further_roles(self) -> dict[str, list[str]]:
        return {
            "attribute_scores": columns_of(*self.group_scores),
            "task_scores": columns_of(self.task_scores),
            "strata": columns_of(self.strata),
        }

    @cached_property
    def described(self) -> Mapping[str, Any]:
        """What :meth:`to_dict` gives, made once for all batches."""
        return self.to_dict()

    def to_dict(self) -> dict[str, Any]:
        """The plan in plain values that JSON can hold."""
        groups = {name: _plain(one) for name, one in self.groups.items()}
        predictions = [_plain(one) for one in self.group_predictions]
        specs = {"task": _plain(self.task), "task_prediction": _plain(self.task_prediction)}
        # What was not given is left out, so that plans of counts that know nothing of it are the same.
        more: dict[str, Any] = {"task_scores": _plain(self.task_scores), "strata": _plain(self.strata)}
        if any(self.group_scores):
            more["group_scores"] = [_plain(one) for one in self.group_scores]
        held = {name: value for name, value in asdict(self).items() if name not in (*more, "group_scores")}
        more = {name: value for name, value in more.items() if value is not None}
        return {**held, **specs, "groups": groups, "group_predictions": predictions, **more}

    @classmethod
    def from_dict(cls, held: Mapping[str, Any]) -> Plan:
        """Read back what :meth:`to_dict` gave; what nothing can have given, as in a file by anybody, is refused."""
        known = {field.name: field.default is MISSING_VALUE for field in fields(cls)}
        if (
            not isinstance(held, Mapping)
            or {name for name, needed in known.items() if needed} - {*held}
            or {*held} - {*known}
        ):
            raise ValueError(f"plan is {shown(held)} that does not say which columns are read")
        if not isinstance(held["groups"], Mapping) or held["task"] is None:
            raise ValueError("plan has no attribute or no task")
        groups = {name: _spec(one, "groups") for name, one in held["groups"].items()}
        specs: dict[str, Any] = {"groups": groups}
        for name in ("task", "task_prediction", "task_scores", "strata"):
            if name in held:
                specs[name] = _spec(held[name], name)
        for name in ("group_predictions", "group_scores"):
            if name in held:
                specs[name] = _specs(held[name], name, len(groups))
        for name in ("weights", "record", "cluster"):
            column_name(held.get(name), f"plan.{name}")
        for name in ("intersections", "train"):
            yes_or_no(held.get(name, False), f"plan.{name}")
        one_of(held.get("missing", "error"), "plan.missing", MISSING)
        one_of(held.get("unseen", "invented"), "plan.unseen", UNSEEN)
        return cls(**{**held, **specs})


def make_plan(
    attributes: Any,
    tasks: Any,
    attribute_predictions: Any,
    task_predictions: Any,
    *,
    attribute_scores: Any = None,
    task_scores: Any = None,
    strata: Any = None,
    train: Any = None,
    weights: Any = None,
    missing: str = "error",
    intersections: bool = False,
    unseen: str = "invented",
    **keys: str | None,
) -> Plan:
    """The plan that the arguments of :func:`biasamp.audit` mean."""
    one_of(missing, "missing", MISSING)
    one_of(unseen, "unseen", UNSEEN)
    yes_or_no(intersections, "intersections")
    for name, key in keys.items():
        column_name(key, name)
    groups = attributes_of(attributes)
    task = Spec.of(tasks, "tasks")
    # A column goes with itself, whatever a model does.
    both = [name for group in groups.values() for name in group.names if name in task.names]
    if both:
        raise ValueError(
            f"attributes and tasks both name the column '{printable(both[0], 60)}': an attribute is held against "
            "another column, so name a task that differs from it"
        )
    group_predictions = predictions_of(attribute_predictions, list(groups.values()), "attribute_predictions")
    (task_prediction,) = predictions_of(task_predictions, [task], "task_predictions")
    group_scores = predictions_of(attribute_scores, list(groups.values()), "attribute_scores")
    (task_score,) = predictions_of(task_scores, [task], "task_scores")
    for truth, score in ((task, task_score), *zip(groups.values(), group_scores, strict=True)):
        if score is not None and truth.declared in (BINNED, QUANTILES):
            raise ValueError(
                f"{truth.title!r} is cut into bins, and {score.title!r} is a score of it: give predicted numbers, which are "
                "cut at the same edges, as predictions"
            )
    task_prediction = _cut_alike(task, task_prediction)
    group_predictions = [_cut_alike(*pair) for pair in zip(groups.values(), group_predictions, strict=True)]
    if task_prediction is None and task_score is None and not any(group_predictions) and not any(group_scores):
        raise ValueError(
            "neither task_predictions nor attribute_predictions is given: amplification compares predictions with "
            "truth. Without ground truth, use associate()"
        )
    if intersections and len(groups) < 2:
        raise ValueError("intersections=True crosses several attributes, but only one is given")
    _refuse_two_roles(
        {
            "attributes": columns_of(*groups.values()),
            "tasks": columns_of(task),
            "attribute_predictions": columns_of(*group_predictions),
            "task_predictions": columns_of(task_prediction),
            "task_scores": columns_of(task_score),
            "attribute_scores": columns_of(*group_scores),
        },
        {name: keys.get(name) for name in ("record", "cluster")}
        | {"weights": weights if isinstance(weights, str) else None},
    )
    return Plan(
        groups,
        task,
        tuple(group_predictions),
        task_prediction,
        weights if isinstance(weights, str) else None,
        **keys,
        missing=missing,
        intersections=bool(intersections),
        train=train is not None,
        unseen=unseen,
        group_scores=tuple(group_scores) if any(group_scores) else (),
        task_scores=task_score,
        strata=_strata(strata, groups, task, [task_prediction, *group_predictions, task_score, *group_scores]),
    )


def _cut_alike(truth: Spec, predicted: Spec | None) -> Spec | None:
    """Predictions of a column that is cut into bins, which are numbers too, as cut at the same edges."""
    if predicted is None or truth.declared not in (BINNED, QUANTILES):
        return predicted
    if predicted.declared not in (None, truth.declared) or predicted.categories not in (None, truth.categories):
        raise ValueError(f"{truth.title!r} and its predictions {predicted.title!r} must be cut at the same edges")
    return replace(predicted, declared=truth.declared, categories=truth.categories)


def _strata(strata: Any, groups: Mapping[str, Spec], task: Spec, others: Sequence[Spec | None]) -> Spec | None:
    """The column of strata, which has no other role."""
    if strata is None:
        return None
    held = Spec.of(strata, "strata")
    if len(held.names) != 1:
        raise ValueError(f"strata names {len(held.names)} columns; it takes one: cross them into one column first")
    roles = {"attributes": columns_of(*groups.values()), "tasks": columns_of(task), "predictions": columns_of(*others)}
    for role, names in roles.items():
        if held.names[0] in names:
            raise ValueError(
                f"strata and {role} both name the column '{printable(held.names[0], 60)}': inside a stratum it would never "
                "differ, so name another column"
            )
    return held


def _first_repeated(names: Sequence[str]) -> str | None:
    """The first name that stands in a list more than once."""
    times = Counter(names)
    return next((name for name in names if times[name] > 1), None)


_NO_LABELS = {
    "record": "ids are no labels",
    "weights": "weights are no labels",
    "cluster": "clusters are records that belong together, such as those of one person",
}


def _refuse_two_roles(labels: Mapping[str, Sequence[str]], others: Mapping[str, str | None]) -> None:
    """Refuse a column of predictions that is a column of truth, and a column of ids or weights that is read as labels."""
    wrong = {
        ("tasks", "task_predictions"): "the truth would be compared with itself, and nothing would ever be amplified",
        ("attributes", "attribute_predictions"): (
            "the truth would be compared with itself, and nothing would ever be amplified"
        ),
        ("attributes", "task_predictions"): "the groups themselves would be read as predictions of the task",
        ("tasks", "attribute_predictions"): "the tasks themselves would be read as predictions of the group",
        ("attribute_predictions", "task_predictions"): "one column cannot predict both",
        ("tasks", "task_scores"): "the truth would be its own score",
        ("attributes", "attribute_scores"): "the truth would be its own score",
        ("attributes", "task_scores"): "the groups themselves would be read as scores of the task",
        ("tasks", "attribute_scores"): "the tasks themselves would be read as scores of the group",
        ("task_predictions", "task_scores"): "predictions are what was decided, scores what it was decided from",
        (
            "attribute_predictions",
            "attribute_scores",
        ): "predictions are what was decided, scores what it was decided from",
    }
    for (first, second), why in wrong.items():
        there = set(labels[second])
        both = [name for name in labels[first] if name in there]
        if both:
            raise ValueError(
                f"{first} and {second} both name the column '{printable(both[0], 60)}': {why}. Name the column of the "
                "model's predictions"
            )
    for role, column in others.items():
        named = next((first for first, names in labels.items() if column in names), None)
        if column is not None and named is not None:
            raise ValueError(
                f"{role} and {named} both name the column '{printable(column, 60)}': "
                f"{_NO_LABELS[role]}, so name another column"
            )


def columns_of(*specs: Spec | None) -> list[str]:
    """The columns of some sets, each once."""
    return list(dict.fromkeys(name for one in specs if one is not None for name in one.names))


def _plain(one: Spec | None) -> Any:
    return one and [list(one.names), one.declared, None if one.categories is None else list(one.categories)]


def _spec(held: Any, name: str) -> Any:
    if held is None:
        return None
    if isinstance(held, (list, tuple)) and len(held) == 3:
        names, declared, categories = held
        texts = [
            *_texts(names),
            *([] if declared is None else [declared]),
            *([] if categories is None else _texts(categories)),
        ]
        if names and all(isinstance(text, str) for text in texts):
            made = Spec(tuple(names), declared, None if categories is None else tuple(categories))
            if made.edges is None or all(map(isfinite, made.edges)):
                return made
    raise ValueError(f"plan.{name} does not name columns")


def _texts(held: Any) -> Any:
    return held if isinstance(held, (list, tuple)) else [None]


def _specs(held: Any, name: str, many: int) -> tuple[Any, ...]:
    if not isinstance(held, (list, tuple)) or len(held) not in (0, many):
        raise ValueError(f"plan.{name} does not have one entry for each attribute")
    return tuple(_spec(one, name) for one in held)


def attributes_of(attributes: Any) -> dict[str, Spec]:
    """Each protected attribute by its name: one for a name, for each item of a list, or for each entry of a mapping."""
    if isinstance(attributes, Mapping):
        if not attributes:
            raise ValueError("attributes is an empty mapping: name at least one protected attribute")
        return {str(name): Spec.of(value, f"attributes[{name!r}]") for name, value in attributes.items()}
    if isinstance(attributes, (str, Declared)):
        attributes = [attributes]
    if not isinstance(attributes, Sequence) or not attributes:
        raise TypeError(f"attributes must be a column name, a list or a mapping of them, found {attributes!r:.100}")
    out: dict[str, Spec] = {}
    for one in [Spec.of(value, "attributes") for value in attributes]:
        if one.title in out:
            raise ValueError(f"attributes names {one.title!r} twice")
        out[one.title] = one
    return out


def predictions_of(predictions: Any, truths: Sequence[Spec], role: str) -> list[Spec | None]:
    """The predictions of each truth, by position or by a mapping from truth column to prediction column."""
    if predictions is None:
        return [None] * len(truths)
    if isinstance(predictions, Mapping):
        return _mapped(predictions, truths, role)
    if len(truths) == 1:
        listed = isinstance(predictions, Sequence) and not isinstance(predictions, str)
        repeated = _first_repeated([name for name in predictions if isinstance(name, str)]) if listed else None
        if repeated is not None:
            raise ValueError(f"{role} names {repeated!r} twice")
        if listed and len(predictions) != len(truths[0].names) and all(isinstance(name, str) for name in predictions):
            raise ValueError(
                f"{role} names {len(predictions)} columns ({', '.join(map(repr, predictions[:3]))}) and the truth "
                f"{len(truths[0].names)} ({', '.join(map(repr, truths[0].names[:3]))}): they pair by position. Probabilities of "
                "several classes are biasamp.categorical([...], categories=[...])"
            )
        return [Spec.of(predictions[0] if listed and len(predictions) == 1 else predictions, role)]
    if isinstance(predictions, (str, Declared)) or len(predictions) != len(truths):
        count = 1 if isinstance(predictions, (str, Declared)) else len(predictions)
        raise ValueError(f"{role} has {count} entries for {len(truths)} columns of truth: they pair by position")
    return [Spec.of(value, role) for value in predictions]


def _mapped(predictions: Mapping[Any, Any], truths: Sequence[Spec], role: str) -> list[Spec | None]:
    known = {name for truth in truths for name in (truth.title, *truth.names)}
    strange = [str(name) for name in predictions if str(name) not in known]
    if strange:
        raise ValueError(f"{role} maps {strange[0]!r}, which is no column of the truth ({', '.join(sorted(known))})")
    out: list[Spec | None] = []
    for truth in truths:
        if truth.title in predictions:
            out.append(Spec.of(predictions[truth.title], role))
        elif all(name in predictions for name in truth.names):
            out.append(Spec(tuple(Spec.of(predictions[name], role).names[0] for name in truth.names)))
        elif any(name in predictions for name in truth.names):
            missing = [name for name in truth.names if name not in predictions]
            raise ValueError(f"{role} has no prediction for {missing[0]!r}")
        else:
            out.append(None)
    return out
