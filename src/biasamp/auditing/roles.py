"""Which columns play which role, and the labels they give."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from biasamp.data import Codes, Columns, Declared, LabelSet, Variable, label_set, printable, refuse_missing

from .source import Source

MISSING = ("error", "drop", "negative")
# A column with more categories than this, most of them of a single record, is no label.
_MANY_CATEGORIES = 1000
HINT = 'missing="drop" leaves such a record out of the pairs concerned, missing="negative" reads it as not having the label.'


@dataclass(frozen=True)
class Spec:
    """The columns of one label set, with the caller's word on what they are."""

    names: tuple[str, ...]
    declared: str | None = None
    categories: tuple[str, ...] | None = None

    @property
    def title(self) -> str:
        """What the set is called."""
        return ", ".join(self.names)


def spec(value: Any, role: str) -> Spec:
    """Column names, or ``binary(...)``/``categorical(...)`` of them."""
    if isinstance(value, Declared):
        inner = spec(value.data, role)
        return Spec(inner.names, value.kind, value.categories)
    if isinstance(value, str):
        return Spec((value,))
    if isinstance(value, Sequence) and value and all(isinstance(name, str) for name in value):
        repeated = [name for i, name in enumerate(value) if name in value[:i]]
        if repeated:
            raise ValueError(f"{role} names the column {repeated[0]!r} twice")
        return Spec(tuple(value))
    raise TypeError(f"{role} must be a column name or a list of them, found {value!r:.100}")


def attribute_specs(attributes: Any) -> dict[str, Spec]:
    """Each protected attribute by its name: one for a name, for each item of a list, or for each entry of a mapping."""
    if isinstance(attributes, Mapping):
        if not attributes:
            raise ValueError("attributes is an empty mapping: name at least one protected attribute")
        return {str(name): spec(value, f"attributes[{name!r}]") for name, value in attributes.items()}
    if isinstance(attributes, (str, Declared)):
        attributes = [attributes]
    if not isinstance(attributes, Sequence) or not attributes:
        raise TypeError(f"attributes must be a column name, a list or a mapping of them, found {attributes!r:.100}")
    specs = [spec(value, "attributes") for value in attributes]
    out: dict[str, Spec] = {}
    for one in specs:
        if one.title in out:
            raise ValueError(f"attributes names {one.title!r} twice")
        out[one.title] = one
    return out


def refuse_overlap(groups: Mapping[str, Spec], task: Spec) -> None:
    """Refuse a column that is both an attribute and a task: it goes with itself, whatever a model does."""
    for group in groups.values():
        both = [name for name in group.names if name in task.names]
        if both:
            raise ValueError(
                f"attributes and tasks both name the column '{printable(both[0], 60)}': an attribute is held against "
                "another column, so name a task that differs from it"
            )


def prediction_specs(predictions: Any, truths: Sequence[Spec], role: str) -> list[Spec | None]:
    """The predictions of each truth, by position or by a mapping from truth column to prediction column."""
    if predictions is None:
        return [None] * len(truths)
    if isinstance(predictions, Mapping):
        return _mapped(predictions, truths, role)
    if len(truths) == 1:
        nested = isinstance(predictions, Sequence) and not isinstance(predictions, str) and len(predictions) == 1
        return [spec(predictions[0] if nested else predictions, role)]
    if isinstance(predictions, (str, Declared)) or len(predictions) != len(truths):
        count = 1 if isinstance(predictions, (str, Declared)) else len(predictions)
        raise ValueError(f"{role} has {count} entries for {len(truths)} columns of truth: they pair by position")
    return [spec(value, role) for value in predictions]


def _mapped(predictions: Mapping[Any, Any], truths: Sequence[Spec], role: str) -> list[Spec | None]:
    known = {name for truth in truths for name in (truth.title, *truth.names)}
    strange = [str(name) for name in predictions if str(name) not in known]
    if strange:
        raise ValueError(f"{role} maps {strange[0]!r}, which is no column of the truth ({', '.join(sorted(known))})")
    out: list[Spec | None] = []
    for truth in truths:
        if truth.title in predictions:
            out.append(spec(predictions[truth.title], role))
        elif all(name in predictions for name in truth.names):
            out.append(Spec(tuple(spec(predictions[name], role).names[0] for name in truth.names)))
        elif any(name in predictions for name in truth.names):
            lacking = [name for name in truth.names if name not in predictions]
            raise ValueError(f"{role} has no prediction for {lacking[0]!r}")
        else:
            out.append(None)
    return out


def read_labels(
    source: Source, spec: Spec, role: str, missing: str, *, soft: bool = False, like: Any = None
) -> LabelSet:
    """The labels of some columns, under the policy for missing ones."""
    single = len(spec.names) == 1
    columns = Columns([source.column(name) for name in spec.names], single, spec.declared, spec.categories)
    labels = label_set(columns, role, soft=soft, like=like)
    if not labels.width:
        raise ValueError(f"{role} column {spec.title!r} holds no label: every value is missing")
    _refuse_identifiers(labels, role)
    if missing == "error":
        refuse_missing({role: labels}, HINT)
    elif missing == "negative":
        labels = labels.without_missing()
    return labels


def _refuse_identifiers(labels: LabelSet, role: str) -> None:
    """Refuse a variable that has a value of its own for nearly every record."""
    for variable in labels.variables:
        many = len(variable.categories)
        if variable.kind == "categorical" and many > _MANY_CATEGORIES and 2 * many > len(labels):
            raise ValueError(
                f"{role} column '{printable(variable.name, 60)}' holds {many:,} different values in {len(labels):,} "
                "records: it looks like an identifier or a measurement, not like groups. Name another column, or group "
                "its values first"
            )


def crossing(sets: Sequence[LabelSet], names: Sequence[str], categories: Sequence[str] | None = None) -> LabelSet:
    """The crossing of variables: one category for every combination that occurs, such as ``woman & Black``.

    With ``categories`` the combinations are these, whichever occur here.
    """
    codes, texts = [], []
    for labels in sets:
        block = labels.blocks[0]
        if not isinstance(block, Codes):
            raise ValueError("intersections cross attributes of one category a record; yes/no sets have none")
        codes.append(block.codes)
        texts.append(block.variables[0].categories)
    distinct, place = np.unique(np.column_stack(codes), axis=0, return_inverse=True)
    joined = [
        None if min(row) < 0 else " & ".join(texts[i][code] for i, code in enumerate(row)) for row in distinct.tolist()
    ]
    known = sorted({text for text in joined if text is not None}) if categories is None else list(categories)
    number = {text: i for i, text in enumerate(known)}
    target = np.array([-1 if text is None else number[text] for text in joined], dtype=np.int64)
    sparse = all(isinstance(labels.blocks[0], Codes) and labels.blocks[0].sparse for labels in sets)
    variable = Variable(" x ".join(names), "categorical", tuple(known))
    return LabelSet((Codes((variable,), target[place.reshape(-1)], sparse),))
