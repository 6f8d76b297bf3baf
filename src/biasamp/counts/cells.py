"""Sparse counts: cells by number, each once, in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]


def summed(keys: Index, values: Index) -> tuple[Index, Index]:
    """Distinct keys in order, with the sum of their values."""
    if not len(keys):
        return keys, values
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[starts], np.add.reduceat(values, starts)
