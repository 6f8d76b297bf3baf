"""Arguments of the public functions as labels in one label space; what is wrong is refused with the argument's name."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .argument_columns import read_columns, tensor_array
from .column_checks import RoleOf, check_columns_alone
from .columns import is_missing
from .keys import Keys, record_keys
from .label import Block, Dense, Variable, printable
from .label_rules import label_set, refuse_rounded
from .labelset import LEAST_TOTAL, MOST_SQUARES, Evaluation, LabelSet
from .plain_arguments import array_of, one_of, shown
from .row_numbers import row_numbers
from .same_columns import (
    refuse_labels_as,
    refuse_same,
    refuse_train_of_sides,
    same_index,
)
from .vocabulary import UNSEEN, one_space, true_labels

_HINT = 'Fill them in, leave those records out, or use audit(..., missing="drop").'
_PLACES_SHOWN = 5
# So few weights may be consecutive numbers by chance.
_FEW_RECORDS = 20


def read(data: Any, role: str, side: RoleOf = "other", *, soft: bool = False, like: LabelSet | None = None) -> LabelSet:
    """One argument as labels; labels that have been read already stay as they are.

    ``side`` is that of :func:`biasamp.data.column_checks.check_columns_alone`; what is read ``like`` a truth predicts it.
    """
    if isinstance(data, LabelSet):
        labels = data
    else:
        columns = read_columns(data, role)
        labels = label_set(columns, role, soft=soft, like=like)
        check_columns_alone(labels, columns, role, side if like is None else "predictions", like=like)
    refuse_missing({role: labels}, _HINT)
    if not labels.width and like is None:  # a model that never predicts a label still has the labels of the truth
        raise ValueError(f"{role} holds no label at all")
    return labels


def read_clusters(cluster: Any, count: int, labels: Mapping[str, Any]) -> Keys | None:
    """A key for each record's cluster: ids of any kind, none missing, not all the same, and none of the ``labels``."""
    if cluster is None:
        return None
    refuse_labels_as("cluster", cluster, labels)
    same_index({**labels, "cluster": cluster})
    try:
        ids = tensor_array(cluster) if hasattr(cluster, "detach") else array_of(cluster)
    except ValueError:
        raise TypeError(
            f"cluster is a {type(cluster).__name__} whose rows differ in length: one id per record"
        ) from None
    if ids.ndim != 1:
        raise ValueError(f"cluster has shape {ids.shape}, but there are {count:,} records: one cluster per record")
    if ids.dtype.kind == "f" and len(ids):
        refuse_rounded(ids, "cluster")
    if ids.ndim != 1 or len(ids) != count:
        raise ValueError(f"cluster has shape {ids.shape}, but there are {count:,} records: one cluster per record")
    missing = [i for i, value in enumerate(ids.tolist()) if is_missing(value)] if ids.dtype.kind in "Of" else []
    if missing:
        raise ValueError(f"cluster is missing for {len(missing):,} records ({row_numbers(missing)}): name them all")
    keys = record_keys(ids)
    if len(keys) and (keys == keys[0]).all():  # nothing says how another cluster would differ
        raise ValueError(
            "cluster has one distinct value: with fewer than two clusters there is no interval. Leave cluster out, "
            "or name the column that tells the clusters apart"
        )
    return keys


def read_train(train: Any, roles: tuple[str, str], argument: str = "train") -> tuple[LabelSet, LabelSet]:
    """A pair of train labels, such as ``(given, truth)``."""
    if not isinstance(train, (tuple, list)) or len(train) != 2:
        raise TypeError(
            f"{argument} must be a pair ({roles[0]}, {roles[1]}) of labels, found {type(train).__name__}"
            + (f" of {len(train)} items" if isinstance(train, (tuple, list)) else "")
        )
    same_index({f"{argument} {role}": side for role, side in zip(roles, train, strict=True)})
    left = read(train[0], f"{argument} {roles[0]}")
    right = read(train[1], f"{argument} {roles[1]}")
    same_length({f"{argument} {roles[0]}": left, f"{argument} {roles[1]}": right})
    return left, right


def read_evaluation(
    given: Any,
    truth: Any,
    predicted: Any,
    train: Any,
    weights: Any,
    *,
    unseen: str = "invented",
    apart: bool = True,
    cluster: Any = None,
    names: tuple[str, str, str] = ("given", "truth", "predicted"),
    weights_name: str = "weights",
    compared: bool = True,
) -> tuple[Evaluation, tuple[LabelSet, LabelSet] | None, LabelSet | None]:
    """The evaluated labels, where there are any the train labels in the same label space, and invented labels.

    The label space is that of the truth and of the train labels. Labels that only predictions have are apart: they are
    None where there are none. With ``apart=False`` the space is that of all of them, whatever their values. ``names`` and
    ``weights_name`` are what messages call the arguments. One group alone is warned of where groups are ``compared`` and no train labels
    say how others are.
    """
    one_of(unseen, "unseen", UNSEEN)
    sides = dict(zip(names, (given, truth, predicted), strict=True))
    groups, true, said = names
    same_index({**sides, weights_name: weights})
    g = read(given, groups, "groups")
    t = read(truth, true, "outcomes")
    p = read(predicted, said, soft=True, like=t)
    count = same_length({groups: g, true: t, said: p})
    w = weights_of(weights, count, weights_name)
    train_g, train_t = (None, None) if train is None else read_train(train, (groups, true))
    g, _, train_g = one_space(g, None, train_g, [groups, "", f"train {groups}"])
    t, placed, train_t = one_space(t, p, train_t, [true, said, f"train {true}"], unseen=unseen, checked=apart)
    assert placed is not None
    p, invented = placed, None
    real = labels_with_truth(t, train_t)
    if apart and not real.all():
        apart_from = ~real & (p.totals() > 0)
        invented = p.only(apart_from) if apart_from.any() else None
        t, p = t.only(real), p.only(real)
        train_t = None if train_t is None else train_t.only(real)
    refuse_same(sides)
    refuse_labels_as("weights", weights, sides)
    if train is not None:
        refuse_train_of_sides(sides, train)
    elif compared:
        warn_of_one_group(g, groups)
    known = None if train_g is None or train_t is None else (train_g, train_t)
    return Evaluation(g, t, p, w, clusters=read_clusters(cluster, count, sides)), known, invented


def warn_of_one_group(given: LabelSet, name: str) -> None:
    """Say that records are of one group: there is none to compare it with, and every association is 0 by definition."""
    kinds = [variable.kind for variable in given.variables]  # one yes/no label is compared with everybody without it
    if kinds == ["categorical"] and (held := given.totals() > 0).sum() == 1:
        only = given.labels[int(held.argmax())]
        warnings.warn(
            f"{name} has one group only, {printable(only.category or str(only), 40)!r}: there is none to compare it with, and what "
            "compares groups is 0 by definition. Give the records of all groups, or labels of other records (train, base) that "
            "have them",
            UserWarning,
            stacklevel=5,
        )


def one_value_words(truth: LabelSet, name: str) -> str | None:
    """What to say of a 0/1 truth that has one value in all records: nothing goes with a group, and every sign is 0."""
    kinds = [variable.kind for variable in truth.variables]
    if kinds != ["categorical"] or (truth.totals() > 0).sum() != 1:
        return None
    return (
        f"{name} has one value only: it goes with no group more than with others, and amplification is 0 by definition, whatever "
        "is predicted. Give records of both values, or train labels that have them"
    )


def warn_of_one_value(truth: LabelSet, name: str, *, stacklevel: int = 4) -> None:
    """Say that a 0/1 truth has one value in all records."""
    words = one_value_words(truth, name)
    if words is not None:
        warnings.warn(words, UserWarning, stacklevel=stacklevel)


def labels_with_truth(truth: LabelSet, train: LabelSet | None) -> NDArray[np.bool_]:
    """Which labels of a space records have in truth, here or in the train labels; yes/no labels are always there."""
    if all(variable.kind == "binary" for variable in truth.variables):
        return np.ones(truth.width, dtype=bool)
    return true_labels(truth.variables, truth.totals(), *([] if train is None else [train.totals()]))


def same_length(sets: Mapping[str, Any]) -> int:
    """Check that all arguments describe the same records; return how many."""
    sizes = {name: len(value) for name, value in sets.items() if value is not None}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} has {size:,}" for name, size in sizes.items())
        raise ValueError(f"lengths differ: {shown} records; every argument must describe the same records in order")
    widths = {len(value.variables) for value in sets.values() if isinstance(value, LabelSet)}
    if set(sizes.values()) == {1} and len(sizes) > 2 and len(widths) == 1 and max(widths) > 1:
        raise ValueError(
            f"{', '.join(sizes)} have one record of {max(widths):,} columns each: they look transposed. Records are rows: "
            "give arrays of one dimension, or .T"
        )
    return next(iter(sizes.values()))


def weights_of(weights: Any, count: int, name: str = "weights") -> NDArray[Any] | None:
    """Check weights; whole numbers become integers, so that counting stays exact."""
    if weights is None:
        return None
    if isinstance(weights, np.ma.MaskedArray) and np.ma.getmaskarray(weights).any():
        raise ValueError(
            f"{name} are masked in {int(np.ma.getmaskarray(weights).sum()):,} records: fill them in, 0 where a record is not to count"
        )
    try:
        values = tensor_array(weights) if hasattr(weights, "detach") else array_of(weights)
        if values.dtype.kind not in "biufO" or any(isinstance(one, (str, bytes)) for one in _objects(values)):
            raise TypeError
        if values.dtype.kind not in "biu":
            values = values.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        raise TypeError(f"{name} must be numbers, one per record: {_first_text(weights)}") from None
    if values.ndim != 1 or len(values) != count:
        raise ValueError(f"{name} has shape {values.shape}, but there are {count:,} records: one weight per record")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"{name} must be finite and not negative: there is {values[at]} ({row_numbers([at])})")
    if not values.any():
        raise ValueError(f"{name} are all 0: nothing would be counted")
    refuse_numbered(values, name)
    with np.errstate(over="ignore"):
        total, squares = float(values.sum(dtype=np.float64)), float((values.astype(np.float64) ** 2).sum())
    if not (total >= LEAST_TOTAL and squares <= MOST_SQUARES):
        raise ValueError(
            f"{name} add up to {total:g}, and their squares to {squares:g}: too {'small' if total < 1 else 'large'} "
            "to be summed exactly. Multiply them all by one constant; only their ratios matter"
        )
    if values.dtype.kind == "f" and (values == np.rint(values)).all() and values.max() < 2**31:
        values = values.astype(np.int64)
    return values if values.dtype.kind == "f" else values.astype(np.int64)


def _objects(values: NDArray[Any]) -> list[Any]:
    """The members of an array of Python objects, in which text may be."""
    return values.ravel().tolist() if values.dtype.kind == "O" else []


def refuse_numbered(values: NDArray[Any], name: str = "weights") -> None:
    """Refuse weights that are consecutive whole numbers, each once, in any order."""
    if len(values) <= _FEW_RECORDS or values.dtype.kind == "b":
        return
    if values.max() - values.min() != len(values) - 1 or (values != np.rint(values)).any():
        return
    if (np.diff(np.sort(values)) == 1).all():
        raise ValueError(
            f"{name} has the whole numbers from {int(values.min()):,} to {int(values.max()):,}, each once: it looks like ids or "
            f"row numbers. Give the weight of each record, or leave {name} out"
        )


def _first_text(values: Any) -> str:
    """What in some values is no number."""
    # An array of no dimension looks as if it could be gone through.
    held = list(values) if isinstance(values, Iterable) and getattr(values, "ndim", 1) != 0 else [values]
    for place, value in enumerate(held):
        try:
            if isinstance(value, np.complexfloating):
                raise TypeError
            float(value)
        except (TypeError, ValueError, OverflowError):
            word = shown(value) if isinstance(value, (list, tuple, Mapping)) else repr(printable(str(value), 40))
            return f"there is {word} ({row_numbers([place])})"
        if isinstance(value, (str, bytes)):
            text = value.decode(errors="replace") if isinstance(value, bytes) else str(value)
            return f"there is the text {printable(text, 40)!r} ({row_numbers([place])}); convert them first"
    return f"found {type(values).__name__}"


def refuse_missing(sets: Mapping[str, LabelSet | None], hint: str = "") -> None:
    """Raise when a label is missing, saying how many and where."""
    for name, labels in sets.items():
        if labels is None or not labels.missing:
            continue
        records = np.flatnonzero(~labels.complete())
        named = [v.name for block in labels.blocks if block.missing for v in _incomplete(block) if v.name]
        what = f" in {', '.join(printable(c, 40) for c in named[:_PLACES_SHOWN])}" if named else ""
        raise ValueError(
            f"{name} has {len(records):,} record{'s' if len(records) != 1 else ''} with missing {what_is_missing(name)}{what} "
            f"({row_numbers(records)}). {hint or 'Fill them in or leave those records out.'}"
        )


def what_is_missing(role: str) -> str:
    """What a missing value of a role is called."""
    return next((word for word in ("scores", "strata") if role.endswith(word)), "labels")


def _incomplete(block: Block) -> tuple[Variable, ...]:
    """The variables of a block that have missing values."""
    if isinstance(block, Dense) and block.there is not None and len(block.variables) == block.width:
        return tuple(block.variables[i] for i in np.flatnonzero(~block.there.all(axis=0)))
    return block.variables
