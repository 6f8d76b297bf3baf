"""What association needs of the records: C(y), C(x,y) and C(x1,x2,y) for every label and identity."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import printable

from .storage import read_arrays, write_arrays

Index = NDArray[np.int64]

_KIND = "association"
# A cell's key: the pair above these bits, the label in them.
_LABEL_BITS = 32
_LABEL = (1 << _LABEL_BITS) - 1


@dataclass(frozen=True, eq=False)
class SharedCounts:
    """Counts of cells (pair of identities, label) that are not 0, in the order of their keys.

    A pair ``first < second`` of ``many`` identities has the number ``first * many + second``.
    """

    many: int
    keys: Index
    values: Index

    @classmethod
    def none(cls, many: int) -> SharedCounts:
        """No record with two identities."""
        return cls(many, np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))

    @classmethod
    def of_cells(cls, many: int, pair: Index, label: Index, values: Index) -> SharedCounts:
        """From cells in any order; those that are named twice are added up."""
        return cls(many, *summed((pair << _LABEL_BITS) | label, values))

    @property
    def pair(self) -> Index:
        """The pair of each cell."""
        return self.keys >> _LABEL_BITS

    @property
    def label(self) -> Index:
        """The label of each cell."""
        return self.keys & _LABEL

    def of_pair(self, first: int, second: int, labels: int) -> Index:
        """C(x1, x2, y) of every label."""
        first, second = min(first, second), max(first, second)
        low = (first * self.many + second) << _LABEL_BITS
        a, b = np.searchsorted(self.keys, [low, low + _LABEL])
        out = np.zeros(labels, dtype=np.int64)
        out[self.keys[a:b] & _LABEL] = self.values[a:b]
        return out

    def moved(self, target: Index) -> SharedCounts:
        """The same counts where label i is now label ``target[i]``; a target below 0 leaves it out."""
        label = target[self.label]
        kept = label >= 0
        return SharedCounts.of_cells(self.many, self.pair[kept], label[kept], self.values[kept])

    def __add__(self, other: SharedCounts) -> SharedCounts:
        return SharedCounts(
            self.many,
            *summed(np.concatenate([self.keys, other.keys]), np.concatenate([self.values, other.values])),
        )


def summed(keys: Index, values: Index) -> tuple[Index, Index]:
    """Distinct keys in order, with the sum of their values."""
    if not len(keys):
        return keys, values
    order = np.argsort(keys, kind="stable")
    keys, values = keys[order], values[order]
    starts = np.flatnonzero(np.concatenate([[True], keys[1:] != keys[:-1]]))
    return keys[starts], np.add.reduceat(values, starts)


def _shared_of_patterns(many: int, masks: Index, pattern: Index, label: Index, values: Index) -> SharedCounts:
    """From counts of (set of identities, label).

    Parameters
    ----------
    masks : ndarray of shape (patterns,)
        The sets: bit k stands for identity k.
    pattern, label, values : ndarray of shape (cells,)
        How many records with the set ``masks[pattern]`` have the label.
    """
    bits = ((masks[:, None] >> np.arange(many)) & 1).astype(bool)
    size = bits.sum(axis=1)
    most = int(size.max(initial=0))
    # The identities of each set, one after another, as far as there are any.
    held = np.zeros((len(masks), most), dtype=np.int64)
    row, column = np.nonzero(bits)
    held[row, np.arange(len(row)) - np.repeat(np.cumsum(size) - size, size)] = column
    pairs: list[Index] = []
    labels: list[Index] = []
    sums: list[Index] = []
    for second in range(1, most):
        here = size[pattern] > second
        at, own, count = pattern[here], label[here], values[here]
        for first in range(second):
            pairs.append(held[at, first] * many + held[at, second])
            labels.append(own)
            sums.append(count)
    if not pairs:
        return SharedCounts.none(many)
    return SharedCounts.of_cells(many, np.concatenate(pairs), np.concatenate(labels), np.concatenate(sums))


@dataclass(frozen=True, eq=False, repr=False)
class AssociationCounts:
    """Counts of every label with every identity; they add up over records.

    Attributes
    ----------
    labels : tuple of str
        The key of each label; labels with different keys are different labels.
    names : tuple of str
        What to show for each label; the key where it has no other name.
    identities : tuple of str
        The names of the identities.
    members : tuple of tuple of str
        The labels that make up each identity: a record has the identity when it has one of them.
    n : int
        Records in all.
    count : ndarray of shape (labels,)
        C(y).
    overlap : ndarray of shape (identities, identities)
        C(x1, x2); C(x) on the diagonal.
    identity_joint : ndarray of shape (labels, identities)
        C(x, y).
    shared : SharedCounts
        C(x1, x2, y) where it is not 0.
    sources : tuple of (str, int, str)
        What was counted: names, records, and digests of their counts, by which the same source is known again.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    identities: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    n: int
    count: Index
    overlap: Index
    identity_joint: Index
    shared: SharedCounts
    sources: tuple[tuple[str, int, str], ...] = ()

    @property
    def records(self) -> int:
        """How many records were counted."""
        return self.n

    @property
    def identity_count(self) -> Index:
        """C(x) of each identity."""
        return np.diagonal(self.overlap)

    def both(self, first: int, second: int) -> Index:
        """C(x1, x2, y) of every label for two identities, C(x, y) where they are one."""
        if first == second:
            return self.identity_joint[:, first]
        return self.shared.of_pair(first, second, len(self.labels))

    @property
    def joint(self) -> Index:
        """C(x1, x2, y) as one array of shape (labels, identities, identities), which for many identities is large."""
        many = len(self.identities)
        out = np.zeros((len(self.labels), many, many), dtype=np.int64)
        out[:, np.arange(many), np.arange(many)] = self.identity_joint
        first, second = np.divmod(self.shared.pair, many)
        out[self.shared.label, first, second] = self.shared.values
        out[self.shared.label, second, first] = self.shared.values
        return out

    @property
    def overlapping(self) -> bool:
        """Whether some record has two identities."""
        return bool(self.overlap.sum() > np.trace(self.overlap))

    def __repr__(self) -> str:
        names = ", ".join(printable(name, 40) for name in self.identities[:5])
        return f"<AssociationCounts of {self.n:,} records: {len(self.labels):,} labels with {names}>"

    def __add__(self, other: AssociationCounts) -> AssociationCounts:
        if not isinstance(other, AssociationCounts):
            return NotImplemented
        if (self.identities, self.members) != (other.identities, other.members):
            raise ValueError(
                f"association counts of different identities do not add up: {list(self.identities)} with "
                f"labels {list(self.members)}, and {list(other.identities)} with labels {list(other.members)}"
            )
        known = {digest: (name, records) for name, records, digest in self.sources}
        for name, records, digest in other.sources:
            if digest in known:
                raise ValueError(
                    f"'{printable(name, 60)}' and '{printable(known[digest][0], 60)}' hold the same counts of "
                    f"{records:,} records: counted twice they would weigh twice. Leave one of them out"
                )
        new, target = _united(self.labels, other.labels)
        width = len(self.labels) + len(new)
        count = np.zeros(width, dtype=np.int64)
        joint = np.zeros((width, len(self.identities)), dtype=np.int64)
        count[: len(self.labels)] = self.count
        joint[: len(self.labels)] = self.identity_joint
        count[target] += other.count
        joint[target] += other.identity_joint
        labels = self.labels + tuple(other.labels[i] for i in new)
        same = self.names is self.labels and other.names is other.labels
        return replace(
            self,
            labels=labels,
            names=labels if same else self.names + tuple(other.names[i] for i in new),
            n=self.n + other.n,
            count=count,
            overlap=self.overlap + other.overlap,
            identity_joint=joint,
            shared=self.shared + other.shared.moved(target),
            sources=self.sources + other.sources,
        )

    def __radd__(self, other: Any) -> AssociationCounts:
        # ``sum`` begins with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def take(self, order: Sequence[int]) -> AssociationCounts:
        """The counts of some labels, in an order."""
        place = np.array(order, dtype=np.int64)
        target = np.full(len(self.labels), -1, dtype=np.int64)
        target[place] = np.arange(len(place))
        labels = tuple(map(self.labels.__getitem__, order))
        return replace(
            self,
            labels=labels,
            names=labels if self.names is self.labels else tuple(map(self.names.__getitem__, order)),
            count=self.count[place],
            identity_joint=self.identity_joint[place],
            shared=self.shared.moved(target),
        )

    def sorted(self) -> AssociationCounts:
        """The same counts with the labels in the order of their keys, whatever order they were met in."""
        return self.take(sorted(range(len(self.labels)), key=self.labels.__getitem__))

    def named(self, source: str) -> AssociationCounts:
        """The same counts, as those of a source."""
        import hashlib

        whole = self.sorted()
        digest = hashlib.sha256(repr((whole.labels, whole.identities, whole.members, whole.n)).encode())
        for array in (whole.count, whole.overlap, whole.identity_joint, whole.shared.keys, whole.shared.values):
            digest.update(np.ascontiguousarray(array).astype("<i8").tobytes())
        return replace(self, sources=((source, self.n, digest.hexdigest()[:32]),))

    def to_dict(self) -> dict[str, Any]:
        """What was counted, in plain values."""
        return {
            "schema": 1,
            "kind": _KIND,
            "records": self.n,
            "labels": len(self.labels),
            "identities": [
                {"identity": name, "labels": list(members), "records": int(count)}
                for name, members, count in zip(self.identities, self.members, self.identity_count, strict=True)
            ],
            "sources": [{"name": name, "records": n, "digest": digest} for name, n, digest in self.sources],
        }

    def save(self, path: str | Path) -> None:
        """Write the counts to a Parquet file with a checksum; :meth:`load` reads them back.

        The file holds numbers and text. It holds no code and is read as none.
        """
        header = {
            "kind": _KIND,
            "labels": list(self.labels),
            "names": list(self.names),
            "identities": list(self.identities),
            "members": [list(group) for group in self.members],
            "n": self.n,
            "sources": [list(source) for source in self.sources],
        }
        arrays = {
            "count": self.count,
            "overlap": self.overlap,
            "identity_joint": self.identity_joint,
            "shared_keys": self.shared.keys,
            "shared_values": self.shared.values,
        }
        write_arrays(path, header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> AssociationCounts:
        """Read counts that :meth:`save` wrote; a damaged or foreign file is refused."""
        header, arrays = read_arrays(path)
        name = Path(path).name
        if header.get("kind") != _KIND:
            raise ValueError(f"{name} holds counts of another kind ({header.get('kind')!r}), not of associations")
        try:
            many = len(header["identities"])
            counts = cls(
                tuple(header["labels"]),
                tuple(header["names"]),
                tuple(header["identities"]),
                tuple(tuple(group) for group in header["members"]),
                int(header["n"]),
                arrays["count"],
                arrays["overlap"],
                arrays["identity_joint"],
                SharedCounts(many, arrays["shared_keys"], arrays["shared_values"]),
                tuple((str(name), int(records), str(digest)) for name, records, digest in header["sources"]),
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"{name} is damaged: it does not hold what counts consist of ({error})") from None
        width = len(counts.labels)
        if (counts.count.shape, counts.identity_joint.shape, counts.overlap.shape, len(counts.names)) != (
            (width,), (width, many), (many, many), width,
        ):  # fmt: skip
            raise ValueError(f"{name} holds association counts whose parts do not fit each other")
        return counts


def _united(mine: tuple[str, ...], theirs: tuple[str, ...]) -> tuple[Sequence[int], Index]:
    """Which of their labels are new, and the place of each of theirs when the new ones follow mine."""
    both = min(len(mine), len(theirs))
    if mine[:both] == theirs[:both]:
        return range(both, len(theirs)), np.arange(len(theirs))
    place = dict(zip(mine, range(len(mine)), strict=True))
    new = [i for i, label in enumerate(theirs) if label not in place]
    for i in new:
        place[theirs[i]] = len(place)
    return new, np.fromiter(map(place.__getitem__, theirs), dtype=np.int64, count=len(theirs))


def from_patterns(
    labels: Sequence[str],
    identities: Sequence[str],
    members: Sequence[Sequence[str]],
    masks: Index,
    records: Index,
    table: Index,
    rare: tuple[Index, Index, Index] | None = None,
) -> AssociationCounts:
    """Counts from how many records, and how many of each label's, carry each set of identities.

    Parameters
    ----------
    masks : ndarray of shape (patterns,)
        The sets of identities that occur: bit k stands for identity k.
    records : ndarray of shape (patterns,)
        Records of each pattern.
    table : ndarray of shape (labels, some patterns)
        Records with the label of each of the first patterns.
    rare : tuple of ndarray, optional
        Pattern, label and records with both, where the pattern is not in the table.
    """
    keys = tuple(labels)
    many = len(identities)
    bits = (masks[:, None] >> np.arange(many)) & 1
    count = table.sum(axis=1)
    joint = table @ bits[: table.shape[1]]
    # Where no record has two identities there is no pair to look for.
    dense = np.flatnonzero(bits[: table.shape[1]].sum(axis=1) > 1)
    label, column = np.nonzero(table[:, dense])
    pattern, values = dense[column], table[:, dense][label, column]
    if rare is not None and len(rare[0]):
        at, own, more = rare
        np.add.at(count, own, more)
        for k in range(many):
            here = bits[at, k] == 1
            np.add.at(joint[:, k], own[here], more[here])
        pattern, label, values = (np.concatenate(pair) for pair in ((pattern, at), (label, own), (values, more)))
    return AssociationCounts(
        keys,
        keys,
        tuple(identities),
        tuple(tuple(group) for group in members),
        int(records.sum()),
        count,
        (bits.T * records) @ bits,
        joint,
        _shared_of_patterns(many, masks, pattern, label, values),
    )
