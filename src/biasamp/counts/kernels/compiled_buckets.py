"""Compiled loops that bring rows of one bucket of keys together; imported only when numba is there."""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

_HALF = np.uint64(32)


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def places_by_bucket(keys: Any, many: Any, edges: Any, places: Any) -> None:
    """Where each row goes if those of one bucket stand together, in their order, and where each bucket begins and ends.

    The bucket of a key is its upper half, in ``many`` equal steps. ``edges`` has room for one number more than buckets.
    """
    steps = np.uint64(many)
    edges[:] = 0
    for i in range(len(keys)):
        edges[((keys[i] >> _HALF) * steps >> _HALF) + np.uint64(1)] += 1
    for bucket in range(many):
        edges[bucket + 1] += edges[bucket]
    free = edges.copy()
    for i in range(len(keys)):
        bucket = (keys[i] >> _HALF) * steps >> _HALF
        places[i] = free[bucket]
        free[bucket] += 1


@numba.njit(cache=True, nogil=True)  # type: ignore[untyped-decorator, unused-ignore]
def put(values: Any, places: Any, out: Any) -> None:
    """Write each value to its place."""
    for i in range(len(values)):
        out[np.uint64(places[i])] = values[i]
