"""Arguments of ``leakage`` and ``dpa``: labels as everywhere, or continuous columns.

An argument is continuous when a float column of it holds values that are not whole numbers. Predictions
follow their truth: with continuous truth they are numbers; with labels as truth, fractions in [0, 1] are
probabilities. Predictions with fractions outside [0, 1] make a numeric truth continuous as well.
``biasamp.categorical(...)`` overrides: every value is then a class.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import (
    Column,
    Columns,
    LabelSet,
    NumberMatrix,
    align,
    label_set,
    read_columns,
    refuse_missing,
    same_length,
)

from .problem import Problem, problem_from_labels

Values = NDArray[np.float64]


def read_problem(other: Any, truth: Any, predicted: Any, names: tuple[str, str, str]) -> Problem:
    """A problem from the three arguments of a public function."""
    columns = {name: read_columns(data, name) for name, data in zip(names, (other, truth, predicted), strict=True)}
    for name, held in columns.items():
        if not len(held):
            raise ValueError(f"{name} is empty: at least one record is needed")
    same_length(columns)
    given, true, said = columns.values()
    left: LabelSet | Values = (
        _numbers(given, names[0], as_input=names[0] == "given") if _fractions(given) else _labels(given, names[0])
    )
    if _fractions(true) or (_numeric(true) and _outside(said)):
        if not _numeric(said):
            raise ValueError(f"{names[1]} is continuous, so {names[2]} must be numbers too")
        pair = _numbers(true, names[1]), _numbers(said, names[2])
        if pair[0].shape != pair[1].shape:
            raise ValueError(f"{names[1]} and {names[2]} have different numbers of columns: they must pair up")
        return problem_from_labels(left, *pair, names)
    truth_labels = _labels(true, names[1])
    said_labels = label_set(said, names[2], soft=True, like=truth_labels)
    refuse_missing({names[2]: said_labels})
    one, two = align([truth_labels, said_labels], names[1:])
    return problem_from_labels(left, one, two, names)


def _labels(columns: Columns, name: str) -> LabelSet:
    labels = label_set(columns, name)
    refuse_missing({name: labels})
    if not labels.width:
        raise ValueError(f"{name} holds no label at all")
    return labels


def _apart(columns: Columns) -> list[Any]:
    out: list[Any] = []
    for item in columns.items:
        out.extend(item.columns() if isinstance(item, NumberMatrix) else [item])
    return out


def _float_values(columns: Columns) -> list[Values]:
    if columns.declared == "categorical":
        return []
    return [
        item.values if item.missing is None else item.values[~item.missing]
        for item in _apart(columns)
        if isinstance(item, Column) and item.kind == "float"
    ]


def _fractions(columns: Columns) -> bool:
    """Whether a float column holds values that are not whole."""
    return any(bool((values != np.rint(values)).any()) for values in _float_values(columns))


def _outside(columns: Columns) -> bool:
    """Whether a column holds fractions, and values that no probability has."""
    return any(bool((v != np.rint(v)).any()) and bool(((v < 0) | (v > 1)).any()) for v in _float_values(columns))


def _numeric(columns: Columns) -> bool:
    return columns.declared is None and all(
        isinstance(item, Column) and item.kind in ("bool", "int", "float") for item in _apart(columns)
    )


def _numbers(columns: Columns, name: str, *, as_input: bool = False) -> Values:
    """Continuous columns as a matrix; a text column among inputs gives a 0/1 column for each category."""
    parts = []
    for item in _apart(columns):
        if isinstance(item, Column) and item.kind in ("bool", "int", "float"):
            if item.missing is not None and item.missing.any():
                at = int(np.flatnonzero(item.missing)[0])
                raise ValueError(
                    f"{name} has {int(item.missing.sum()):,} missing values (record {at}). Fill them in or "
                    "leave those records out."
                )
            parts.append(item.values.astype(np.float64)[:, None])
        elif as_input and isinstance(item, Column) and item.kind == "text":
            parts.append((item.values[:, None] == np.arange(len(item.categories))).astype(np.float64))
        else:
            raise ValueError(
                f"{name} mixes continuous columns with labels; give numbers alone, or labels alone (every "
                "value of a float column as a class: biasamp.categorical(...))"
            )
    out = np.concatenate(parts, axis=1)
    if not np.isfinite(out).all():
        raise ValueError(f"{name} holds infinite values; continuous columns must be finite")
    return out
