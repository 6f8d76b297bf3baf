"""Rows of a wide table or matrix as the labels that each record has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]


class MatrixRows(NamedTuple):
    """Some rows of a dense or sparse matrix, and the names of its columns."""

    keys: list[str]
    rows: Any


def wide_labels(batch: Any, threshold: float | Mapping[str, float] | None) -> tuple[list[str], Index, Index]:
    """The names of the columns, how many labels each record has, and their columns, record by record.

    Without a threshold values must be 0 or 1; with one, a value that reaches it is a label.
    """
    if isinstance(batch, MatrixRows):
        keys, rows = batch
        if hasattr(rows, "tocsr"):
            return keys, *_sparse(rows, keys, threshold)
        return keys, *_dense(np.asarray(rows), keys, threshold)
    keys = [str(name) for name in batch.schema.names]
    columns = []
    for name, column in zip(keys, batch.columns, strict=True):
        if column.null_count:
            raise ValueError(
                f"the column {name!r} has {column.null_count} missing values; 0 or 1 is needed for every record"
            )
        columns.append(column.to_numpy(zero_copy_only=False))
    return keys, *_dense(np.column_stack(columns), keys, threshold)


def _limits(keys: list[str], threshold: float | Mapping[str, float]) -> NDArray[np.float64]:
    if not isinstance(threshold, Mapping):
        return np.full(len(keys), float(threshold))
    missing = [key for key in keys if key not in threshold]
    if missing:
        raise ValueError(f"threshold names no value for the column {missing[0]!r}; every column needs one")
    return np.array([threshold[key] for key in keys], dtype=np.float64)


def _dense(values: NDArray[Any], keys: list[str], threshold: Any) -> tuple[Index, Index]:
    if values.dtype.kind not in "biuf":
        raise TypeError(f"the matrix of labels holds {values.dtype} values; 0 and 1, or scores, are needed")
    if threshold is None:
        if values.dtype.kind != "b" and not ((values == 0) | (values == 1)).all():
            row, column = np.argwhere(~((values == 0) | (values == 1)))[0]
            raise ValueError(
                f"the column {keys[column]!r} holds {values[row, column]!s} (row {row} of its batch); 0 and 1 are "
                "needed, or scores with threshold="
            )
        held = values != 0
    else:
        if np.isnan(values).any() if values.dtype.kind == "f" else False:
            raise ValueError("the matrix of scores has missing values; a score is needed for every record")
        held = values >= _limits(keys, threshold)
    row, column = np.nonzero(held)
    return np.bincount(row, minlength=len(values)), column.astype(np.int64)


def _sparse(rows: Any, keys: list[str], threshold: Any) -> tuple[Index, Index]:
    rows = rows.copy()
    rows.sum_duplicates()
    if threshold is None:
        if not ((rows.data == 0) | (rows.data == 1)).all():
            strange = rows.data[(rows.data != 0) & (rows.data != 1)][0]
            raise ValueError(f"the sparse matrix holds {strange!s}; 0 and 1 are needed, or scores with threshold=")
        held = rows.data != 0
    else:
        limits = _limits(keys, threshold)
        if (limits <= 0).any():
            raise ValueError("threshold must be above 0 for a sparse matrix, whose unstored values are 0")
        held = rows.data >= limits[rows.indices]
    row = np.repeat(np.arange(rows.shape[0]), np.diff(rows.indptr))[held]
    return np.bincount(row, minlength=rows.shape[0]), rows.indices[held].astype(np.int64)
