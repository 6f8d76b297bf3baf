"""Fingerprints of sets of records, by their keys: they tell sets apart, add up, and let overlaps be noticed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from biasamp.data.keys import Keys, mix

# Keys that stand for all of a set of records.
_SAMPLED = 256


def least_keys(keys: Keys) -> tuple[int, ...]:
    """The smallest distinct keys, by which two sets of records that overlap are noticed: a sample of keys that adds up.

    >>> from biasamp.data.keys import row_keys
    >>> least_keys(row_keys(0, 1000)) == least_keys(np.array(least_keys(row_keys(0, 500)) + least_keys(row_keys(500, 500)), np.uint64))
    True
    """
    most = 4 * _SAMPLED
    if len(keys) > 4 * most:
        # Keys are spread evenly: a comparison leaves about twice as many as are wanted.
        low = keys[keys < np.uint64(((1 << 64) - 1) * 2 * most // len(keys))]
        keys = low if len(low) > most else keys
    few = np.sort(keys if len(keys) <= most else np.partition(keys, most)[:most])
    return tuple(few[np.append(True, few[1:] != few[:-1])[: len(few)]][:_SAMPLED].tolist())


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

    def __sub__(self, other: Fingerprint) -> Fingerprint:
        wrap = (1 << 64) - 1
        return Fingerprint(
            self.records - other.records, (self.total - other.total) & wrap, (self.mixed - other.mixed) & wrap
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
