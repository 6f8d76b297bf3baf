"""What counters of long tables share: the tally, the codes of labels, what makes up identities, and thresholds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from biasamp.data.arrow_numbers import is_number, numpy_of

from .association_counts import AssociationCounts, from_pairs, from_patterns
from .kernels.long_tally import Index, NumpyTally, new_tally
from .known_records import KnownRecords
from .label_bags import BAG_LABELS, BAG_SHIFT, label_bags_of
from .long_columns import Keys, LabelCodes
from .long_part import Labels
from .shared_counts import SharedTable

Codes = NDArray[np.int32]

# A record's identities are the bits of one whole number.
MOST_IDENTITIES = 63


class Pairing(NamedTuple):
    """What is kept of records' ids: which they are, and in which bag each is counted; bags need ids."""

    ids: bool = False
    bags: bool = False


UNPAIRED = Pairing()


def label_codes(members: Sequence[Sequence[str]], pairing: Pairing, kernel: str) -> LabelCodes:
    """Codes for the labels of a table, of which the identities' and the bags' come first."""
    reserved = [label for group in members for label in group]
    return LabelCodes([*reserved, *(BAG_LABELS if pairing.bags else ())], compiled=kernel == "numba")


class Counter:
    """What counters of long tables share: the tally, the codes of labels, and what makes up identities."""

    def __init__(
        self,
        members: Sequence[Sequence[str]],
        threshold: float | Mapping[str, float] | None,
        kernel: str,
        pairing: Pairing,
        codes: LabelCodes | None = None,
        shared_bytes: int = 0,
    ) -> None:
        self.members = members
        self.pairing = pairing
        _refuse_many(len(members), pairing.bags)
        self.tally = new_tally(kernel, len(members), bagged=pairing.bags, shared_bytes=shared_bytes)
        self.compiled = not isinstance(self.tally, NumpyTally)
        self.codes = label_codes(members, pairing, "numba" if self.compiled else "numpy") if codes is None else codes
        self.masks = _masks(members, self.codes.places, pairing.bags)
        self.known: KnownRecords | None = KnownRecords.of(joined([], np.uint64)) if pairing.ids else None
        self._heads: list[Keys] = []
        self.threshold = _Threshold(threshold, self.codes)

    def _counts(self) -> AssociationCounts:
        """The counts of all runs but those that were cut off."""
        tally, names = self.tally, list(self.codes.labels)
        tally.settle()
        rare = tally.rare()
        if tally.by_pair:
            rows = np.full(len(names), -1, dtype=np.int64)
            place = tally.shared_places()
            rows[: len(place)] = place[: len(names)]
            most = int(np.triu(tally.overlap, 1).max(initial=0))
            table = SharedTable(len(self.members), tally.shared, rows, most)
            count = _as_long(tally.count, len(names))
            return from_pairs(
                names, self.members, int(tally.records[0]), count, tally.overlap, tally.single, table, rare
            )
        return from_patterns(
            names,
            [str(k) for k in range(len(self.members))],
            self.members,
            np.array(tally.masks, dtype=np.int64),
            np.asarray(tally.records),
            _as_long(tally.table, len(names)),
            rare,
            self.pairing.bags,
        )

    def _cut(self) -> tuple[Labels, ...]:
        """The labels of the first and the last run of a stretch, as far as there are two, which the tally forgets."""
        names = self.codes.labels
        return tuple(tuple(names[code] for code in run.tolist()) for run in self.tally.cut())

    def _with_bags(self, starts: NDArray[np.bool_], codes: Codes, heads: Keys) -> tuple[NDArray[np.bool_], Codes]:
        """The rows, with one more where each run begins that says the bag of its record; ``heads`` has their keys."""
        self._heads.append(heads)
        if not self.pairing.bags:
            return starts, codes
        at = np.flatnonzero(starts)
        longer = np.zeros(len(codes) + len(at), dtype=bool)
        longer[at + np.arange(len(at))] = True
        said = self.codes.places[BAG_LABELS[0]] + label_bags_of(heads)
        return longer, np.insert(codes, at, said.astype(np.int32))

    def _settle_heads(self) -> None:
        """Add the records met since to those that are known."""
        if self.known is not None and self._heads:
            self.known = self.known + KnownRecords.of(joined(self._heads, np.uint64))
        self._heads = []


def joined(parts: list[NDArray[Any]], kind: Any) -> NDArray[Any]:
    """Arrays one after another; an empty one of that kind where there are none."""
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=kind)


def _as_long(array: NDArray[Any], length: int) -> NDArray[Any]:
    """The first rows of an array, or with rows of zeros at its end."""
    if len(array) >= length:
        return array[:length]
    out = np.zeros((length, *array.shape[1:]), dtype=array.dtype)
    out[: len(array)] = array
    return out


def _refuse_many(many: int, bags: bool) -> None:
    most = BAG_SHIFT if bags else MOST_IDENTITIES
    if not 1 <= many <= most:
        why = " where runs are to be paired" if bags else ""
        raise ValueError(f"identities names {many}; 1 to {most} identities are counted{why}")


def _masks(members: Sequence[Sequence[str]], codes: Mapping[str, int], bags: bool) -> Index:
    """The bits that each label adds to its record's pattern: of the identities it makes up, or of the bag it says."""
    own = {label for group in members for label in group}
    masks = np.zeros(len(own) + (len(BAG_LABELS) if bags else 0), dtype=np.int64)
    for bit, group in enumerate(members):
        for label in group:
            masks[codes[label]] |= 1 << bit
    for bag, label in enumerate(BAG_LABELS if bags else ()):
        masks[codes[label]] = bag << BAG_SHIFT
    return masks


class _Threshold:
    """Which rows score high enough."""

    def __init__(self, threshold: float | Mapping[str, float] | None, codes: LabelCodes) -> None:
        self.below = 0
        self.given = threshold is not None
        self._threshold = threshold
        self._codes = codes
        self._of_label = np.zeros(0)

    def apply(self, codes: Codes, score: Any) -> Codes:
        if self._threshold is None or score is None:
            return codes
        if not is_number(score.type):
            raise TypeError(f"the score column holds {score.type} values; numbers are needed")
        values = numpy_of(score.cast("float64") if score.null_count else score, np.nan)
        if isinstance(self._threshold, Mapping):
            known = len(self._of_label)
            if len(self._codes) > known:
                more = [self._threshold.get(label, -np.inf) for label in self._codes.labels[known:]]
                self._of_label = np.concatenate([self._of_label, np.array(more, dtype=np.float64)])
            least = np.where(codes >= 0, self._of_label[codes], -np.inf)
            # A label without a threshold of its own keeps its rows, those without a score too.
            low = ~(values >= least) & (least > -np.inf)
        else:
            low = ~(values >= self._threshold)
        low &= codes >= 0
        self.below += int(low.sum())
        return np.where(low, np.int32(-1), codes) if low.any() else codes
