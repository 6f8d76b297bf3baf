"""Association counts of long tables whose rows are in any order: they are brought together by record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .kernels.long_tally import Index
from .label_counter import UNPAIRED, Codes, Counter, Pairing, joined
from .long_columns import Keys, LabelCodes, keys_of, plain_records
from .long_part import LongPart

# Rows in any order are sorted in so many shares, by the last bits of their record's key, to spare memory.
_SHARES = 8
_SORTED_AT_ONCE = 1 << 18


class ScatteredCounter(Counter):
    """Counts rows in any order: all are kept, as 12 bytes each, and sorted. Records are known by 64-bit keys.

    Parameters as in :class:`~biasamp.counts.long_table.LongCounter`.
    """

    def __init__(
        self,
        members: Sequence[Sequence[str]],
        *,
        threshold: float | Mapping[str, float] | None = None,
        kernel: str = "auto",
        pairing: Pairing = UNPAIRED,
        codes: LabelCodes | None = None,
        shared_bytes: int = 0,
    ) -> None:
        super().__init__(members, threshold, kernel, pairing, codes, shared_bytes)
        self.rows = 0
        self._records: list[Keys] = []
        self._labels: list[Codes] = []

    def add(self, record: Any, label: Any, score: Any = None) -> None:
        """Keep one batch; as :meth:`~biasamp.counts.long_table.LongCounter.add`."""
        self.add_keys(keys_of(plain_records(record)), label, score)

    def add_keys(self, keys: Keys, label: Any, score: Any = None) -> None:
        """Keep one batch of rows whose records are given by their keys."""
        self.add_codes(keys, self.codes.encode(label), score)

    def add_codes(self, keys: Keys, codes: Codes, score: Any = None) -> None:
        """Keep one batch of rows whose records are given by their keys and labels by their codes."""
        if len(keys):
            self._records.append(keys)
            self._labels.append(self.threshold.apply(codes, score))

    def part(self) -> LongPart:
        """Sort and count, one share of the records after another."""
        self.count()
        return self.counted()

    def count(self) -> None:
        """Count the rows that were kept, and keep none of them."""
        tally = self.tally
        tally.widen(len(self.codes))
        many = _SHARES if sum(map(len, self._records)) > _SORTED_AT_ONCE else 1
        for share in range(many):
            if many == 1:
                keys, codes = joined(self._records, np.uint64), joined(self._labels, np.int32)
            else:
                mine = [keys & np.uint64(many - 1) == share for keys in self._records]
                keys = joined([part[own] for part, own in zip(self._records, mine, strict=True)], np.uint64)
                codes = joined([part[own] for part, own in zip(self._labels, mine, strict=True)], np.int32)
            starts, codes, heads = grouped(keys, codes, self.compiled)
            self.rows += len(keys)
            if self.pairing.ids:
                starts, codes = self._with_bags(starts, codes, heads)
            tally.add(starts, codes, self.masks)
        self._records, self._labels = [], []
        self._settle_heads()

    def counted(self) -> LongPart:
        """What has been counted."""
        ends = self._cut()
        return LongPart(self._counts(), (), ends, self.rows, self.tally.duplicates, self.threshold.below, self.known)


def grouped(keys: Keys, codes: Codes, compiled: bool) -> tuple[NDArray[np.bool_], Codes, Keys]:
    """Codes with those of one key together: where each key begins, the codes, and the keys."""
    starts = np.zeros(len(keys), dtype=bool)
    if compiled:
        from .kernels.long_compiled import bring_together

        slots = np.full(1 << (3 * len(keys) // 2 + 1).bit_length(), -1, dtype=np.int32)
        heads, out = np.empty_like(keys), np.empty_like(codes)
        run, place = (np.empty(len(keys), dtype=np.int32) for _ in range(2))
        many = bring_together(keys, codes, slots, heads, run, place, starts, out)
        return starts, out, heads[:many]
    order = _together(keys)
    keys = keys[order]
    starts[:1] = True
    starts[1:] = keys[1:] != keys[:-1]
    return starts, codes[order], keys[starts]


def _together(keys: Keys) -> Index:
    """An order of rows that brings equal keys together.

    The lowest bits of a key with the number of its row below them are sorted as one whole number, several times quicker
    than the order of the keys themselves is found. Where different keys have these bits in common that is done after all.
    """
    bits = max(1, len(keys).bit_length())
    packed = np.sort((keys << np.uint64(bits)) | np.arange(len(keys), dtype=np.uint64))
    order = (packed & np.uint64((1 << bits) - 1)).astype(np.int64)
    same = packed[1:] >> np.uint64(bits) == packed[:-1] >> np.uint64(bits)
    found = keys[order]
    return np.argsort(keys) if (same & (found[1:] != found[:-1])).any() else order
