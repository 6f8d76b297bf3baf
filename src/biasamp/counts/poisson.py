"""Poisson weights that depend only on the seed and a record's key.

A bootstrap weighs each record with a Poisson(1) draw. Here the draw is a function of the seed, the number of
the resample and the record's key, so any batching, engine or machine draws the same weights, and two models'
resamples of the same records are paired.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec

import numpy as np
from numpy.typing import NDArray

from biasamp.data.keys import Keys, mix

# Draws of 16 bits: four from one hash.
_LEVELS = 1 << 16
PER_HASH = 4
# Below so many weights in all, loading the compiler would take longer than the draws.
_WORTH_COMPILING = 1 << 24


# Who is told, as ``(records done, records in all)``, while weights are drawn.
_LISTENER: ContextVar[Callable[[int, int], None] | None] = ContextVar("listener", default=None)


@contextmanager
def told(listener: Callable[[int, int], None]) -> Iterator[None]:
    """Within this context ``listener(done, in_all)`` is called as records are resampled.

    >>> from biasamp.data.keys import row_keys
    >>> with told(lambda done, in_all: print(done, "of", in_all)):
    ...     weights = Drawing(8, 0, records=10).weights(row_keys(0, 5))
    5 of 10
    """
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


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


@cache
def _compiler() -> bool:
    return find_spec("numba") is not None


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


@dataclass(frozen=True)
class Drawing:
    """Draws the weights of chunk after chunk.

    Parameters
    ----------
    resamples, seed : int
        How many resamples, and their seed.
    records : int
        How many records there are in all, which decides whether compiled code is worth loading.
    accelerate : bool, optional
        Whether to use numba; by default where it is installed and pays.
    """

    resamples: int
    seed: int
    records: int
    accelerate: bool | None = None
    _done: list[int] = field(default_factory=lambda: [0], repr=False)

    @property
    def compiled(self) -> bool:
        """Whether draws are made by compiled code."""
        if self.accelerate is not None:
            return self.accelerate
        return self.records * self.resamples >= _WORTH_COMPILING and _compiler()

    def by_record(self, keys: Keys) -> NDArray[np.uint8]:
        """Weights of shape (records of this chunk, resamples)."""
        self._tell(len(keys))
        if not self.compiled:
            return np.ascontiguousarray(poisson_weights(keys, self.resamples, self.seed).T)
        from .kernels.compiled_draws import fill

        out = np.empty((len(keys), self.resamples), dtype=np.uint8)
        steps = np.array(thresholds(), dtype=np.uint16)
        fill(np.ascontiguousarray(keys), _streams(self.resamples, self.seed, 0), steps, out)
        return out

    def weights(self, keys: Keys) -> NDArray[np.float32]:
        """Weights of shape (resamples, records of this chunk), as floats for a matrix product."""
        if self.compiled:
            return self.by_record(keys).astype(np.float32).T
        self._tell(len(keys))
        return poisson_weights(keys, self.resamples, self.seed).astype(np.float32)

    def _tell(self, count: int) -> None:
        self._done[0] += count
        listener = _LISTENER.get()
        if listener is not None:
            listener(self._done[0], self.records)


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


# Keys that stand for all of a set of records.
_SAMPLED = 256


def least_keys(keys: Keys) -> tuple[int, ...]:
    """The smallest distinct keys, by which two sets of records that overlap are told: a sample of keys that adds up.

    >>> from biasamp.data.keys import row_keys
    >>> least_keys(row_keys(0, 1000)) == least_keys(np.array(least_keys(row_keys(0, 500)) + least_keys(row_keys(500, 500)), np.uint64))
    True
    """
    few = keys if len(keys) <= 4 * _SAMPLED else np.partition(keys, 4 * _SAMPLED)[: 4 * _SAMPLED]
    return tuple(np.unique(few)[:_SAMPLED].tolist())


@dataclass(frozen=True)
class Fingerprint:
    """Which records were counted, in a few numbers that add up over batches in any order.

    Two sets of records with the same fingerprint hold the same keys, short of a collision in 128 bits.

    Examples
    --------
    >>> from biasamp.data.keys import row_keys
    >>> whole = Fingerprint.of(row_keys(0, 10))
    >>> whole == Fingerprint.of(row_keys(4, 6)) + Fingerprint.of(row_keys(0, 4))
    True
    >>> whole == Fingerprint.of(row_keys(1, 10))
    False
    """

    records: int
    total: int
    mixed: int

    @classmethod
    def of(cls, keys: Keys) -> Fingerprint:
        """The fingerprint of some records' keys."""
        with np.errstate(over="ignore"):
            total = int(keys.sum(dtype=np.uint64))
            mixed = int(mix(keys ^ np.uint64(0xD6E8FEB86659FD93)).sum(dtype=np.uint64))
        return cls(len(keys), total, mixed)

    def __add__(self, other: Fingerprint) -> Fingerprint:
        wrap = (1 << 64) - 1
        return Fingerprint(
            self.records + other.records, (self.total + other.total) & wrap, (self.mixed + other.mixed) & wrap
        )

    def __str__(self) -> str:
        return f"{self.records}-{self.total:016x}-{self.mixed:016x}"

    @classmethod
    def parse(cls, text: str) -> Fingerprint:
        """Read back what ``str`` wrote."""
        try:
            records, total, mixed = text.split("-")
            return cls(int(records), int(total, 16), int(mixed, 16))
        except ValueError:
            raise ValueError(f"not a fingerprint of records: {text[:80]!r}") from None
