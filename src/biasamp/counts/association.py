"""What association needs of the records: C(y), C(x,y) and C(x1,x2,y) for every label and identity."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

Index = NDArray[np.int64]

_FORMAT = "biasamp association counts 1"


@dataclass(frozen=True, eq=False)
class AssociationCounts:
    """Counts of every label with every identity; they add up over records.

    Attributes
    ----------
    labels : tuple of str
        The key of each label; it is what labels are told apart by.
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
    joint : ndarray of shape (labels, identities, identities)
        C(x1, x2, y); C(x, y) on the diagonal.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    identities: tuple[str, ...]
    members: tuple[tuple[str, ...], ...]
    n: int
    count: Index
    overlap: Index
    joint: Index

    @property
    def identity_count(self) -> Index:
        """C(x) of each identity."""
        return np.diagonal(self.overlap)

    @property
    def identity_joint(self) -> Index:
        """C(x, y), one row a label and one column an identity."""
        return np.diagonal(self.joint, axis1=1, axis2=2)

    @property
    def overlapping(self) -> bool:
        """Whether some record has two identities."""
        return bool(self.overlap.sum() > np.trace(self.overlap))

    def __add__(self, other: AssociationCounts) -> AssociationCounts:
        if not isinstance(other, AssociationCounts):
            return NotImplemented
        if (self.identities, self.members) != (other.identities, other.members):
            raise ValueError(
                f"association counts of different identities do not add up: {list(self.identities)} with "
                f"labels {list(self.members)}, and {list(other.identities)} with labels {list(other.members)}"
            )
        place = {label: i for i, label in enumerate(self.labels)}
        new = [i for i, label in enumerate(other.labels) if label not in place]
        for i in new:
            place[other.labels[i]] = len(place)
        target = np.array([place[label] for label in other.labels], dtype=np.int64)
        width = len(place)
        count = np.zeros(width, dtype=np.int64)
        joint = np.zeros((width, *self.joint.shape[1:]), dtype=np.int64)
        count[: len(self.labels)] = self.count
        joint[: len(self.labels)] = self.joint
        count[target] += other.count
        joint[target] += other.joint
        return replace(
            self,
            labels=self.labels + tuple(other.labels[i] for i in new),
            names=self.names + tuple(other.names[i] for i in new),
            n=self.n + other.n,
            count=count,
            overlap=self.overlap + other.overlap,
            joint=joint,
        )

    def sorted(self) -> AssociationCounts:
        """The same counts with the labels in the order of their keys, whatever order they were met in."""
        order = sorted(range(len(self.labels)), key=self.labels.__getitem__)
        return replace(
            self,
            labels=tuple(self.labels[i] for i in order),
            names=tuple(self.names[i] for i in order),
            count=self.count[order],
            joint=self.joint[order],
        )

    def save(self, path: str | Path) -> None:
        """Write the counts to a file; :meth:`load` reads them back.

        The file is a numpy archive of numbers and UTF-8 bytes. It holds no code and is read as none.
        """
        arrays: dict[str, Any] = {
            "format": _pack([_FORMAT])[0],
            "n": np.array(self.n, dtype=np.int64),
            "count": self.count,
            "overlap": self.overlap,
            "joint": self.joint,
            "members_size": np.array([len(labels) for labels in self.members], dtype=np.int64),
        }
        texts = {
            "labels": self.labels,
            "names": self.names,
            "identities": self.identities,
            "members": [label for labels in self.members for label in labels],
        }
        for name, words in texts.items():
            arrays[name], arrays[f"{name}_end"] = _pack(words)
        buffer = io.BytesIO()
        np.savez_compressed(buffer, **arrays)
        Path(path).write_bytes(buffer.getvalue())

    @classmethod
    def load(cls, path: str | Path) -> AssociationCounts:
        """Read counts that :meth:`save` wrote."""
        try:
            with np.load(Path(path), allow_pickle=False) as archive:
                stored = {name: archive[name] for name in archive.files}
            if stored["format"].tobytes().decode() != _FORMAT:
                raise ValueError("another format")
            words = {name: _unpack(stored, name) for name in ("labels", "names", "identities", "members")}
            sizes = stored["members_size"].tolist()
        except (ValueError, KeyError, EOFError, UnicodeDecodeError) as error:
            raise ValueError(f"{str(path)!r} holds no association counts: {error}") from None
        edges = np.cumsum([0, *sizes]).tolist()
        members = tuple(words["members"][a:b] for a, b in pairwise(edges))
        counts = cls(
            words["labels"],
            words["names"],
            words["identities"],
            members,
            int(stored["n"]),
            stored["count"],
            stored["overlap"],
            stored["joint"],
        )
        width, many = len(counts.labels), len(counts.identities)
        if counts.joint.shape != (width, many, many) or counts.count.shape != (width,):
            raise ValueError(f"{str(path)!r} holds association counts whose parts do not fit each other")
        return counts


def from_patterns(
    labels: Sequence[str],
    identities: Sequence[str],
    members: Sequence[Sequence[str]],
    masks: Index,
    records: Index,
    table: Index,
    names: Sequence[str] | None = None,
) -> AssociationCounts:
    """Counts from how many records, and how many of each label's, carry each set of identities.

    Parameters
    ----------
    masks : ndarray of shape (patterns,)
        The sets of identities that occur: bit k stands for identity k.
    records : ndarray of shape (patterns,)
        Records of each pattern.
    table : ndarray of shape (labels, patterns)
        Records with the label of each pattern.
    """
    bits = (masks[:, None] >> np.arange(len(identities))) & 1
    together = bits[:, :, None] * bits[:, None, :]
    flat = together.reshape(len(masks), -1)
    many = len(identities)
    return AssociationCounts(
        tuple(labels),
        tuple(labels if names is None else names),
        tuple(identities),
        tuple(tuple(group) for group in members),
        int(records.sum()),
        table.sum(axis=1),
        (records @ flat).reshape(many, many),
        (table @ flat).reshape(-1, many, many),
    )


def _pack(words: Sequence[str]) -> tuple[NDArray[np.uint8], Index]:
    """Texts as bytes end to end: a numpy text array would take the longest word's room for every word."""
    encoded = [word.encode("utf-8", "surrogatepass") for word in words]
    ends = np.cumsum([len(word) for word in encoded], dtype=np.int64)
    return np.frombuffer(b"".join(encoded), dtype=np.uint8), ends


def _unpack(stored: dict[str, NDArray[Any]], name: str) -> tuple[str, ...]:
    data, ends = stored[name].tobytes(), stored[f"{name}_end"].tolist()
    return (
        tuple(data[a:b].decode("utf-8", "surrogatepass") for a, b in zip([0, *ends[:-1]], ends, strict=bool(ends)))
        if ends
        else ()
    )
