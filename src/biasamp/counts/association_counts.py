"""What association needs of the records: C(y), C(x,y) and C(x1,x2,y) for every label and identity."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from biasamp.data import printable
from biasamp.data.plain_arguments import mapping_or_none

from .known_records import KnownRecords
from .label_bags import BAG_OF_LABEL, LabelBags
from .shared_counts import SharedCounts, SharedTable, shared_of_patterns
from .storage import read_arrays, write_arrays

Index = NDArray[np.int64]

_KIND = "association"


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
    known : KnownRecords or None
        Which records were counted, where they have ids: sums of counts that share records are refused.
    bags : LabelBags or None
        The counts by bag of the records' ids, where they were asked for: they pair runs on the same records.

    Examples
    --------
    >>> import biasamp
    >>> monday = biasamp.count([["woman", "cup"], ["man", "car"]] * 20, identities=["woman", "man"])
    >>> tuesday = biasamp.count([["woman", "car"], ["man", "car"]] * 20, identities=["woman", "man"])
    >>> counts = monday + tuesday
    >>> counts.n, counts.labels
    (80, ('car', 'cup', 'man', 'woman'))
    >>> biasamp.associate(counts).identities
    ('woman', 'man')
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
    known: KnownRecords | None = None
    bags: LabelBags | None = None

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
        return self._sum(other, operator.add)

    def __iadd__(self, other: AssociationCounts) -> AssociationCounts:
        # A table of pairs may take others in, where this is one.
        return self._sum(other, operator.iadd)

    def _sum(self, other: AssociationCounts, add: Callable[[Any, Any], Any]) -> AssociationCounts:
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
        if self.known is not None and other.known is not None and self.known.shares(other.known):
            one, two = (", ".join(printable(source[0], 60) for source in c.sources[:5]) for c in (self, other))
            raise ValueError(
                f"'{two}' holds records that '{one}' has too, by their ids: counted twice they would weigh twice. Leave "
                "them out of one; where ids start again at each source, put the source's name before them"
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
            shared=add(self.shared, other.shared.moved(target)),
            sources=self.sources + other.sources,
            known=None if self.known is None or other.known is None else self.known + other.known,
            bags=None if self.bags is None or other.bags is None else self.bags + other.bags.moved(target),
        )

    def __radd__(self, other: Any) -> AssociationCounts:
        # ``sum`` begins with 0.
        return self if isinstance(other, int) and other == 0 else NotImplemented

    def take(self, order: Sequence[int]) -> AssociationCounts:
        """The counts of some labels, in an order."""
        place = np.array(order, dtype=np.int64)
        if np.array_equal(place, np.arange(len(self.labels))):
            return self
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
            bags=None if self.bags is None else self.bags.moved(target),
        )

    def sorted(self) -> AssociationCounts:
        """The same counts with the labels in the order of their keys, whatever order they were met in."""
        if all(map(operator.lt, self.labels, self.labels[1:])):
            return self
        return self.take(sorted(range(len(self.labels)), key=self.labels.__getitem__))

    def named(self, source: str) -> AssociationCounts:
        """The same counts, as those of a source."""
        import hashlib

        whole = self.sorted()
        digest = hashlib.sha256(repr((whole.labels, whole.identities, whole.members, whole.n)).encode())
        for array in (whole.count, whole.overlap, whole.identity_joint, whole.shared.keys, whole.shared.values):
            digest.update(np.ascontiguousarray(array, dtype="<i8").data)
        return replace(self, sources=((source, self.n, digest.hexdigest()[:32]),))

    def to_dict(self) -> dict[str, Any]:
        """What was counted, in plain values."""
        return {
            "schema": 1,
            "kind": _KIND,
            "records": self.n,
            "labels": len(self.labels),
            **({} if self.bags is None else {"pairable": True}),
            "identities": [
                {"identity": name, "labels": list(members), "records": int(count)}
                for name, members, count in zip(self.identities, self.members, self.identity_count, strict=True)
            ],
            "sources": [{"name": name, "records": n, "digest": digest} for name, n, digest in self.sources],
        }

    def save(self, path: str | Path, about: Mapping[str, Any] | None = None) -> None:
        """Write the counts to a Parquet file with a checksum; :meth:`load` reads them back.

        The file holds numbers and text. It holds no code and is read as none. ``about`` is what else it says, in plain values:
        :meth:`biasamp.association.association_result.Association.save` keeps there how a result was asked for.
        """
        mapping_or_none(about, "about")
        header = {
            "kind": _KIND,
            "labels": list(self.labels),
            "names": list(self.names),
            "identities": list(self.identities),
            "members": [list(group) for group in self.members],
            "n": self.n,
            "sources": [list(source) for source in self.sources],
            **({} if self.known is None else {"known": self.known.to_dict()}),
            **({} if about is None else {"result": dict(about)}),
        }
        arrays = {
            "count": self.count,
            "overlap": self.overlap,
            "identity_joint": self.identity_joint,
            "shared_keys": self.shared.keys,
            "shared_values": self.shared.values,
        }
        if self.bags is not None:
            arrays.update(bag_sizes=self.bags.sizes, bag_keys=self.bags.keys, bag_values=self.bags.values)
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
                # Version 0.1 had neither.
                KnownRecords.from_dict(header["known"]) if "known" in header else None,
                LabelBags(*(arrays[f"bag_{part}"] for part in ("sizes", "keys", "values")))
                if "bag_keys" in arrays
                else None,
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ValueError(f"{name} is damaged: it does not hold what counts consist of ({error})") from None
        from .forged import association_problems, refuse_forged

        refuse_forged(association_problems(counts), name)
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
    bagged: bool = False,
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
    bagged : bool
        Whether patterns hold the bag of their records, and labels those that say it.
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
    counts = AssociationCounts(
        keys,
        keys,
        tuple(identities),
        tuple(tuple(group) for group in members),
        int(records.sum()),
        count,
        (bits.T * records) @ bits,
        joint,
        shared_of_patterns(many, masks, pattern, label, values),
    )
    if not bagged:
        return counts
    own, column = np.nonzero(table)
    cells = (column, own, table[own, column])
    if rare is not None:
        cells = tuple(np.concatenate(pair) for pair in zip(cells, rare, strict=True))  # type: ignore[assignment]
    counts = replace(counts, bags=LabelBags.of_patterns(many, masks, records, cells, bits))
    return counts.take([i for i, name in enumerate(keys) if name not in BAG_OF_LABEL])


def from_pairs(
    labels: Sequence[str],
    members: Sequence[Sequence[str]],
    n: int,
    count: Index,
    overlap: Index,
    single: NDArray[np.int32],
    shared: SharedTable,
    more: tuple[Index, Index, Index],
) -> AssociationCounts:
    """Counts from records with each label, with each identity too, and with each pair of identities too.

    Parameters
    ----------
    n : int
        Records in all.
    count : ndarray of shape (labels,)
        C(y).
    overlap : ndarray of shape (identities, identities)
        C(x1, x2) where x1 is not after x2.
    single : ndarray of shape (some labels, identities)
        C(x, y) of some labels, in the rows of ``shared``.
    shared : SharedTable
        C(x1, x2, y) of some labels.
    more : tuple of ndarray
        The number of an identity or, after these, of a pair, label and records with both, where the label has no row there.
    """
    keys, many = tuple(labels), overlap.shape[0]
    there = shared.rows >= 0
    joint = np.zeros((len(labels), many), dtype=np.int64)
    joint[there] = single[shared.rows[there]]
    pairs: SharedCounts = shared
    column, label, values = more
    if len(column):
        single = column < many
        np.add.at(joint, (label[single], column[single]), values[single])
        first, second = np.triu_indices(many, 1)
        number = (first * many + second)[column[~single] - many]
        pairs = pairs + SharedCounts.of_cells(many, number, label[~single], values[~single])
    symmetric = np.triu(overlap) + np.triu(overlap, 1).T
    names, held = tuple(str(k) for k in range(many)), tuple(tuple(group) for group in members)
    return AssociationCounts(keys, keys, names, held, n, count, symmetric, joint, pairs)
