"""Arguments of the public functions become labels in one label space; what cannot be used is refused here."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arrays import read_columns, tensor_array
from .blocks import Block, Dense
from .columns import is_missing
from .keys import Keys, record_keys
from .label import Variable, printable
from .label_rules import label_set
from .labelset import LEAST_TOTAL, MOST_SQUARES, Evaluation, LabelSet, align

_HINT = 'Fill them in, leave those records out, or use audit(..., missing="drop").'
_PLACES_SHOWN = 5


def read(data: Any, role: str, *, soft: bool = False, like: LabelSet | None = None) -> LabelSet:
    """One argument as labels; labels that have been read already stay as they are."""
    labels = data if isinstance(data, LabelSet) else label_set(read_columns(data, role), role, soft=soft, like=like)
    refuse_missing({role: labels}, _HINT)
    if not labels.width and like is None:  # a model that never predicts a label still has the labels of the truth
        raise ValueError(f"{role} holds no label at all")
    return labels


def read_clusters(cluster: Any, count: int) -> Keys | None:
    """A key for each record's cluster: ids of any kind, none missing, not all the same."""
    if cluster is None:
        return None
    ids = tensor_array(cluster) if hasattr(cluster, "detach") else np.asarray(cluster)
    if ids.ndim != 1 or len(ids) != count:
        raise ValueError(f"cluster has shape {ids.shape}, but there are {count:,} records: one cluster per record")
    missing = [i for i, value in enumerate(ids.tolist()) if is_missing(value)] if ids.dtype.kind in "Of" else []
    if missing:
        raise ValueError(f"cluster is missing for {len(missing):,} records, such as record {missing[0]}: name them all")
    keys = record_keys(ids)
    refuse_one_cluster(keys)
    return keys


def read_train(train: Any, roles: tuple[str, str], argument: str = "train") -> tuple[LabelSet, LabelSet]:
    """A pair of train labels, such as ``(given, truth)``."""
    if not isinstance(train, (tuple, list)) or len(train) != 2:
        raise TypeError(
            f"{argument} must be a pair ({roles[0]}, {roles[1]}) of labels, found {type(train).__name__}"
            + (f" of {len(train)} items" if isinstance(train, (tuple, list)) else "")
        )
    left = read(train[0], f"{argument} {roles[0]}")
    right = read(train[1], f"{argument} {roles[1]}")
    same_length({f"{argument} {roles[0]}": left, f"{argument} {roles[1]}": right})
    return left, right


def read_evaluation(
    given: Any, truth: Any, predicted: Any, train: Any, weights: Any
) -> tuple[Evaluation, tuple[LabelSet, LabelSet] | None]:
    """The evaluated labels and, where there are any, the train labels in the same label space."""
    g = read(given, "given")
    t = read(truth, "truth")
    p = read(predicted, "predicted", soft=True, like=t)
    count = same_length({"given": g, "truth": t, "predicted": p})
    w = weights_of(weights, count)
    if train is None:
        t, p = align([t, p], ["truth", "predicted"])
        return Evaluation(g, t, p, w), None
    train_g, train_t = read_train(train, ("given", "truth"))
    g, train_g = align([g, train_g], ["given", "train given"])
    t, p, train_t = align([t, p, train_t], ["truth", "predicted", "train truth"])
    return Evaluation(g, t, p, w), (train_g, train_t)


def refuse_one_cluster(clusters: Keys) -> None:
    """Raise where all records are in one cluster: nothing says how another cluster would differ."""
    if len(clusters) and (clusters == clusters[0]).all():
        raise ValueError(
            "cluster has one distinct value: with fewer than two clusters there is no interval. Leave cluster out, "
            "or name the column that tells the clusters apart"
        )


def same_length(sets: Mapping[str, Any]) -> int:
    """Check that all arguments describe the same records; return how many."""
    sizes = {name: len(value) for name, value in sets.items() if value is not None}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"{name} has {size:,}" for name, size in sizes.items())
        raise ValueError(f"lengths differ: {shown} records; every argument must describe the same records in order")
    return next(iter(sizes.values()))


def weights_of(weights: Any, count: int) -> NDArray[Any] | None:
    """Check weights; whole numbers become integers, so that counting stays exact."""
    if weights is None:
        return None
    try:
        values = tensor_array(weights) if hasattr(weights, "detach") else np.asarray(weights)
        if values.dtype.kind not in "biu":
            values = values.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise TypeError(f"weights must be numbers, one per record: {error}") from None
    if values.ndim != 1 or len(values) != count:
        raise ValueError(f"weights has shape {values.shape}, but there are {count:,} records: one weight per record")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise ValueError(f"weights must be finite and not negative: record {at} has {values[at]}")
    if not values.any():
        raise ValueError("weights are all 0: nothing would be counted")
    with np.errstate(over="ignore"):
        total, squares = float(values.sum(dtype=np.float64)), float((values.astype(np.float64) ** 2).sum())
    if not (total >= LEAST_TOTAL and squares <= MOST_SQUARES):
        raise ValueError(
            f"weights add up to {total:g}, and their squares to {squares:g}: too {'small' if total < 1 else 'large'} "
            "to be summed exactly. Multiply them all by one constant; only their ratios matter"
        )
    if values.dtype.kind == "f" and (values == np.rint(values)).all() and values.max() < 2**31:
        values = values.astype(np.int64)
    return values if values.dtype.kind == "f" else values.astype(np.int64)


def refuse_missing(sets: Mapping[str, LabelSet | None], hint: str = "") -> None:
    """Raise when a label is missing, saying how many and where."""
    for name, labels in sets.items():
        if labels is None or not labels.missing:
            continue
        records = np.flatnonzero(~labels.complete())
        named = [v.name for block in labels.blocks if block.missing for v in _incomplete(block) if v.name]
        where = ", ".join(str(r) for r in records[:_PLACES_SHOWN]) + (", …" if len(records) > _PLACES_SHOWN else "")
        what = f" in {', '.join(printable(c, 40) for c in named[:_PLACES_SHOWN])}" if named else ""
        raise ValueError(
            f"{name} has {len(records):,} record{'s' if len(records) != 1 else ''} with missing labels{what} "
            f"(record {where}). {hint or 'Fill them in or leave those records out.'}"
        )


def _incomplete(block: Block) -> tuple[Variable, ...]:
    """The variables of a block that have missing values."""
    if isinstance(block, Dense) and block.there is not None and len(block.variables) == block.width:
        return tuple(block.variables[i] for i in np.flatnonzero(~block.there.all(axis=0)))
    return block.variables
