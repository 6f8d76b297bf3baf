"""Arguments of the public functions become labels in one label space."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import read_columns
from .columns import is_missing
from .evaluation import Evaluation, refuse_missing, same_length, weights_of
from .keys import Keys, record_keys
from .label_rules import label_set
from .labelset import LabelSet, align

_HINT = 'Fill them in, leave those records out, or use audit(..., missing="drop").'


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
    if hasattr(cluster, "detach"):
        cluster = cluster.detach().cpu()
    ids = np.asarray(cluster)
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
