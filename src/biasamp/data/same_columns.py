"""Arguments that must not be one column, and columns whose rows must be the same records."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from .columns import Columns, Declared, is_missing
from .label import printable
from .labelset import LabelSet
from .plain_arguments import same_file

TRAIN_OF_DATA = (
    "train is the data that are measured: directions from the same records are no better known than without it, and would "
    "pass for certain. Give the labels that the model was trained on, or leave train out"
)


TRAIN_OF_PREDICTIONS = (
    "train holds the predictions of the records that are measured: they say nothing of the labels that the model was "
    "trained on. Give those, or leave train out"
)


def same_index(sides: Mapping[str, Any]) -> None:
    """Refuse pandas objects whose rows are labelled differently: read by position, records would be mixed up."""
    first: tuple[str, Any] | None = None
    for name, data in sides.items():
        held = data.data if isinstance(data, Declared) else data
        if type(held).__module__.split(".")[0] != "pandas" or not hasattr(held, "index"):
            continue
        if first is None:
            first = name, held.index
        elif held.index is not first[1] and not held.index.equals(first[1]):
            if len(held.index) != len(first[1]):
                continue  # what differs in length is refused with its lengths
            pairs = enumerate(zip(first[1], held.index, strict=True))
            at = next(
                (i for i, (a, b) in pairs if is_missing(a) != is_missing(b) or (not is_missing(a) and a != b)), None
            )
            if at is None:
                continue  # the same labels in another type
            one, two = first[1][at], held.index[at]
            kinds = (f" ({type(x).__name__})" if str(one) == str(two) else "" for x in (one, two))
            raise ValueError(
                f"{first[0]} and {name} are pandas objects with different indexes: at position {at} the index is "
                f"{printable(str(one), 40)!r}{next(kinds)} in {first[0]} and {printable(str(two), 40)!r}{next(kinds)} in {name}. "
                "Bring them into one order (reindex), or, where their rows agree by position, say so with "
                ".reset_index(drop=True) or .to_numpy()"
            )


def refuse_same(sides: Mapping[str, Any]) -> None:
    """Refuse one column in two roles.

    ``sides`` are the groups, the truth and the predictions, by their names in messages; what is None is no column.
    Copies are not looked for: a model may be perfect, and its predictions are then a column of their own.
    """
    (group, given), (true, held), (said, predictions) = sides.items()
    for name, other in ((true, held), (said, predictions)):
        if is_same(given, other):
            raise ValueError(
                f"{group} and {name} are the same column: it goes with itself, whatever a model does. Give {name} another one"
            )
    if is_same(held, predictions):
        renamed = ", under another name" if _names(held) else ""
        raise ValueError(
            f"{true} and {said} are the same column: the truth would be compared with itself, and nothing would ever be "
            f"amplified. Give {said} what the model predicted; if the model really is perfect, a copy of {true}{renamed}"
        )


def refuse_train_of_data(data: Any, train: Any) -> None:
    """Refuse the evaluated data as train labels: their noise would pass for knowledge."""
    if train is not None and (train is data or same_file(data, train)):
        raise ValueError(TRAIN_OF_DATA)


def refuse_train_of_sides(sides: Mapping[str, Any], train: Any) -> None:
    """Refuse train labels that are the columns of the evaluated records, or their predictions."""
    given, truth, predictions = sides.values()
    if is_same(given, train[0]) and is_same(truth, train[1]):
        raise ValueError(TRAIN_OF_DATA)
    if is_same(predictions, train[1]):
        raise ValueError(TRAIN_OF_PREDICTIONS)


# What a column is for that must not be one of labels.
_OTHER_ROLES = {
    "weights": "records would count by what they say. Leave weights out, or give the weight of each record",
    "cluster": "clusters are records that belong together, such as those of one person. Leave cluster out, or give the column "
    "that tells them apart",
}


def refuse_labels_as(role: str, column: Any, labels: Mapping[str, Any]) -> None:
    """Refuse a column of labels as that of weights or of clusters."""
    for name, held in labels.items():
        if is_same(column, held):
            raise ValueError(f"{role} and {name} are the same column: {_OTHER_ROLES[role]}")


def is_same(one: Any, other: Any) -> bool:
    """Whether two arguments are one object, views of the same values, or columns of the same names and values."""
    one, other = (side.data if isinstance(side, Declared) else side for side in (one, other))
    if one is None or other is None or isinstance(one, (tuple, range, str, LabelSet, Columns)):
        return False  # constants may be one object by accident
    if one is other:
        return True
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        keys = ("data", "shape", "strides", "typestr")
        held = [[array.__array_interface__[key] for key in keys] for array in (one, other)]
        return one.size > 0 and held[0] == held[1]
    if type(one) is not type(other):
        return False
    if hasattr(one, "data_ptr"):  # tensors, of which sparse ones have no storage of their own
        if {str(x.layout) for x in (one, other)} != {"torch.strided"}:
            return False
        held = [[x.data_ptr(), x.shape, x.stride(), x.dtype, x.device] for x in (one, other)]
        return one.numel() > 0 and held[0] == held[1]
    names = _names(one)
    return bool(names) and names == _names(other) and hasattr(one, "equals") and bool(one.equals(other))


def _names(held: Any) -> list[str]:
    """The names of a series or of the columns of a frame, where all are text; nothing where there are none."""
    held = held.data if isinstance(held, Declared) else held
    if isinstance(held, np.ndarray) or type(held).__name__ == "LazyFrame":  # whose names would have to be worked out
        return []
    columns = getattr(held, "columns", None)
    named: list[Any] = [getattr(held, "name", None)] if columns is None or callable(columns) else list(columns)
    return named if all(isinstance(name, str) and name for name in named) else []
