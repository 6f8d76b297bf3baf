"""The bag of each record, and the Poisson weights of bags: both depend only on keys, and weights on a seed.

A bootstrap weighs each record with a Poisson(1) draw. Here the draw is a function of the seed, the number of
the resample and the record's key, so any batching, engine or machine draws the same weights, and two models'
resamples of the same records are paired.
"""

from __future__ import annotations

import math
import threading
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Evaluation
from biasamp.data.keys import Keys, mix, row_keys

from .fixed import Count, Fixed

Index = NDArray[np.int64]
Floats = NDArray[np.float64]

# Draws of 16 bits: four from one hash.
_LEVELS = 1 << 16
PER_HASH = 4
# So many bags where they fit: errors estimated from them are off by about one percent.
MOST_BAGS = 4096
# Fewer bags than this say too little of an error; then only the two halves of the records are kept apart.
FEWEST_BAGS = 256
HALVES = 2
# Cells of one table (bags x pairs), at most.
MOST_CELLS = 1 << 22
# The largest weight that a bag is drawn with.
_MOST_DRAWN = 8
# Multiplications that libraries of linear algebra do in one thread, and those of products that are cut into such.
_ONE_THREAD, _SMALL_PRODUCT = 1 << 18, 1 << 28
# Rows of such a part: of fewer, the other matrix would be read too often.
_TALL = 32
_BAG = np.uint64(0x2545F4914F6CDD1D)
_DEALING = 0x5EED_0F_BA65
_last = threading.local()
# Bags of so many records are remembered; those of more would be a burden.
_REMEMBERED = 1 << 18
# Keys that are mixed at once: what is made of them on the way stays in cache.
_MIXED = 1 << 15


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

    There is a key for each record, or for the cluster it belongs to. ``first`` is the number of the first resample, a
    multiple of four, to draw them in parts.

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


def bags_for(pairs: int) -> int:
    """How many bags the counts of so many pairs are kept for: the most that fit, or just the two halves.

    >>> bags_for(160), bags_for(4096), bags_for(1_000_000)
    (4096, 1024, 2)
    """
    bags = MOST_BAGS
    while bags * pairs > MOST_CELLS:
        bags //= 2
    return bags if bags >= FEWEST_BAGS else HALVES


def bag_of(units: Keys, bags: int) -> Index:
    """The bag of each record; bags of the lower half hold one half of the records, the rest the other.

    Several tables are counted of a batch one after another: its bags are remembered, in each thread.
    """
    if len(units) > _REMEMBERED:
        out = np.empty(len(units), dtype=np.int64)
        for start in range(0, len(units), _MIXED):
            out[start : start + _MIXED] = _bags_of(units[start : start + _MIXED], bags)
        return out
    known: tuple[Keys, int, Index] | None = getattr(_last, "bags", None)
    if known is None or known[0] is not units or known[1] != bags:
        known = units, bags, _bags_of(units, bags)
        known[2].flags.writeable = False
        _last.bags = known
    return known[2]


def _bags_of(units: Keys, bags: int) -> Index:
    half = half_of(units).astype(np.int64) * (bags // 2)
    if bags == HALVES:
        return half
    bits = np.uint64(65 - bags.bit_length() + 1)
    return half + (mix(units ^ _BAG) >> bits).astype(np.int64)


def bag_of_record(evaluation: Evaluation, bags: int) -> Index:
    """The bag of each record of an evaluation, which keeps the most that it was asked for: fewer follow from them."""
    known: tuple[int, Index] | None = evaluation.__dict__.get("_bags")
    if known is None or known[0] < bags:
        known = evaluation.__dict__["_bags"] = bags, bag_of(evaluation.units, bags)
    if known[0] == bags:
        return known[1]
    out = np.empty(len(known[1]), dtype=np.int64)
    for start in range(0, len(out), _MIXED):
        out[start : start + _MIXED] = fewer_bags(known[1][start : start + _MIXED], known[0], bags)
    return out


def fewer_bags(numbers: Index, bags: int, wanted: int) -> Index:
    """The numbers of bags in a coarser cut: the bags that :func:`bag_of` gives for ``wanted`` bags.

    >>> from biasamp.data.keys import row_keys
    >>> keys = row_keys(0, 1000)
    >>> bool((fewer_bags(bag_of(keys, 4096), 4096, 256) == bag_of(keys, 256)).all())
    True
    """
    # Both are powers of two: the highest digits stay, of which the first says the half.
    return numbers >> (bags // wanted).bit_length() - 1


def occupied(bag: Index, bags: int) -> tuple[Index, Index]:
    """Which bags hold records, ascending, and for each record the place of its bag among them."""
    numbers = np.flatnonzero(np.bincount(bag, minlength=bags))
    if len(numbers) == bags:
        return numbers, bag
    place = np.zeros(bags, dtype=np.int64)
    place[numbers] = np.arange(len(numbers))
    return numbers, place[bag]


def bag_weights(numbers: Index, bags: int, resamples: int, seed: int) -> NDArray[np.float32]:
    """Poisson weights of shape (resamples, len(numbers)), which depend on the seed and each bag's number alone."""
    return _weights(numbers.tobytes(), bags, resamples, seed)


@lru_cache(maxsize=4)
def _weights(numbers: bytes, bags: int, resamples: int, seed: int) -> NDArray[np.float32]:
    """As :func:`bag_weights`; all figures of an audit are resampled with the same weights."""
    keys = row_keys(0, bags)[np.frombuffer(numbers, dtype=np.int64)]
    weights = poisson_weights(keys, resamples, seed).astype(np.float32)
    weights.setflags(write=False)
    return weights


def exact_product(left: NDArray[Any], right: NDArray[Any]) -> Floats:
    """``left @ right`` in the type of ``right``, of numbers whose sums are exact in whatever order they are made.

    Products that are not large are cut into such as one thread computes: waking others for so little costs more than it
    saves, as they then wait for more in a loop.

    >>> import numpy as np
    >>> exact_product(np.ones((2, 100_000)), np.ones((100_000, 3))).tolist()
    [[100000.0, 100000.0, 100000.0], [100000.0, 100000.0, 100000.0]]
    """
    (rows, inner), columns = left.shape, right.shape[1]
    if rows * inner * columns > _SMALL_PRODUCT:
        return np.asarray(left.astype(right.dtype, copy=False) @ right, dtype=np.float64)
    out = np.zeros((rows, columns))
    tall = max(_TALL, _ONE_THREAD // max(inner * columns, 1))
    deep = max(1, _ONE_THREAD // max(min(tall, rows) * columns, 1))
    for first in range(0, rows, tall):
        mine = slice(first, first + tall)
        for start in range(0, inner, deep):
            part = slice(start, start + deep)
            out[mine] += left[mine, part].astype(right.dtype, copy=False) @ right[part]
    return out


def weighted_sums(weights: NDArray[np.float32], values: NDArray[Any]) -> Floats:
    """``weights @ values`` without rounding, where :func:`addends` made the values.

    Parameters
    ----------
    weights : ndarray of shape (resamples, rows)
        Whole numbers up to 8.
    values : ndarray of shape (rows, ...)
        float32 where all sums are whole numbers below ``2**24``, else float64.

    Returns
    -------
    ndarray of shape (resamples, ...)
    """
    columns = values.reshape(len(values), math.prod(values.shape[1:]))
    return exact_product(weights, columns).reshape(len(weights), *values.shape[1:])


def deal_out(counts: Index) -> tuple[Index, Index, Index, int]:
    """Cells that stand for several records alike, dealt out to bags at random.

    Records of a cell do not differ in anything but their keys, so that any dealing is as good as that by keys; it is
    the same for the same cells.

    Returns
    -------
    cell, bag, dealt : ndarray of shape (entries,)
        A cell, a bag, and how many records of the cell it holds.
    bags : int
    """
    bags = MOST_BAGS
    while bags > FEWEST_BAGS and np.minimum(counts, bags).sum() > MOST_CELLS:
        bags //= 2
    rng = np.random.default_rng(np.random.SeedSequence(_DEALING))
    cell, bag, dealt = [], [], []
    step = max(1, MOST_CELLS // bags)
    for start in range(0, len(counts), step):
        drawn = rng.multinomial(counts[start : start + step], np.full(bags, 1.0 / bags))
        row, column = np.nonzero(drawn)
        cell.append(row + start)
        bag.append(column)
        dealt.append(drawn[row, column])
    return np.concatenate(cell), np.concatenate(bag), np.concatenate(dealt), bags


def shuffled_numbers(numbers: Index, bags: int, seed: int) -> tuple[Index, Index]:
    """The new numbers of bags in another order, each half within itself, ascending, and the row of each of them."""
    rng = np.random.default_rng(np.random.SeedSequence([_DEALING, seed]))
    half = bags // 2
    order = np.concatenate([rng.permutation(half), half + rng.permutation(half)])
    place = np.empty(bags, dtype=np.int64)
    place[order] = np.arange(bags)
    moved = place[numbers]
    rows = np.argsort(moved)
    return moved[rows], rows


def exact_floats(values: Count) -> NDArray[Any]:
    """Counts of shape (rows, ...) as floats that products with small whole weights add up without rounding."""
    return addends(values.floats(), whole=False) if isinstance(values, Fixed) else addends(values, whole=True)


def addends(values: NDArray[Any], whole: bool) -> NDArray[Any]:
    """Numbers of shape (rows, ...) as floats whose weighted sums over rows are exact.

    Whole numbers are float32 where their sums stay below ``2**24``. Fractions are cut to as many bits as leave room
    for their sums: a product of matrices then gives the same to the bit in whatever order a machine adds.
    """
    largest = max(float(np.abs(values).sum(axis=0).max(initial=0.0)), 1.0)
    if whole:
        return values.astype(np.float32 if _MOST_DRAWN * largest < 1 << 24 else np.float64)
    scale = 2.0 ** (48 - int(np.ceil(np.log2(largest))))
    return np.asarray(np.rint(values * scale) / scale)
