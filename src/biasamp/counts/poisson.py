"""Poisson weights that depend only on the seed and a record's key.

A bootstrap weighs each record with a Poisson(1) draw. Here the draw is a function of the seed, the number of
the resample and the record's key, so any batching, engine or machine draws the same weights, and two models'
resamples of the same records are paired.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np
from numpy.typing import NDArray

from biasamp.data.keys import Keys, mix

# Draws of 16 bits: four from one hash.
_LEVELS = 1 << 16
PER_HASH = 4


@cache
def thresholds() -> tuple[int, ...]:
    """A draw is worth k when it is at least the k-th threshold; the mean over all draws is exactly 1."""
    tail, chance, steps = 1.0 - math.exp(-1.0), math.exp(-1.0), []
    k = 1
    while tail * _LEVELS >= 0.5:
        steps.append(round(tail * _LEVELS))
        chance /= k
        tail -= chance
        k += 1
    # The mean is the sum of the tails: move what rounding left over to the largest tail.
    steps[0] += _LEVELS - sum(steps)
    return tuple(_LEVELS - step for step in steps)


def poisson_weights(keys: Keys, resamples: int, seed: int, first: int = 0) -> NDArray[np.uint8]:
    """Weights of shape (resamples, records), the same for the same key whatever the other records.

    Parameters
    ----------
    keys : ndarray of uint64
        A key for each record, or for the cluster it belongs to.
    resamples : int
        How many resamples.
    seed : int
        Any integer.
    first : int
        The number of the first resample, a multiple of four, to draw them in parts.

    Examples
    --------
    >>> import numpy as np
    >>> from biasamp.data.keys import row_keys
    >>> weights = poisson_weights(row_keys(0, 1000), 8, seed=0)
    >>> weights.shape, bool(abs(weights.mean() - 1) < 0.05)
    ((8, 1000), True)
    """
    streams = _streams(resamples, seed, first)
    draws = np.empty((len(streams), PER_HASH, len(keys)), dtype=np.uint16)
    for i in range(len(streams)):
        # Bytes in a fixed order, so that every machine draws the same.
        words = mix(keys ^ streams[i]).astype("<u8", copy=False).view("<u2").reshape(len(keys), PER_HASH)
        draws[i] = words.T
    flat = draws.reshape(len(streams) * PER_HASH, len(keys))[:resamples]
    weights: NDArray[np.uint8] = (flat >= thresholds()[0]).view(np.uint8)
    for threshold in thresholds()[1:]:
        weights += flat >= threshold
    return weights


def _streams(resamples: int, seed: int, first: int) -> Keys:
    """A number for every four resamples, which the keys are mixed with."""
    start = first // PER_HASH
    hashes = -(-resamples // PER_HASH)
    stream = mix(np.array([seed % (1 << 64)], dtype=np.uint64))
    numbers: Keys = np.arange(start + 1, start + 1 + hashes, dtype=np.uint64)
    return mix(stream + numbers)


def half_of(keys: Keys, seed: int = 0) -> NDArray[np.bool_]:
    """Which of two random halves each record is in, decided by its key."""
    stream = mix(mix(np.array([seed % (1 << 64)], dtype=np.uint64)) ^ np.uint64(0x5851F42D4C957F2D))
    halves: NDArray[np.bool_] = (mix(keys ^ stream) >> np.uint64(63)).astype(bool)
    return halves
