"""Counts of records that carry two identities, label by label, where there are any."""

from __future__ import annotations

import sys
import threading
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import summed

Index = NDArray[np.int64]

# A cell's key: the pair above these bits, the label in them.
_LABEL_BITS = 32
_LABEL = (1 << _LABEL_BITS) - 1
# Cells so many times fewer than others are not sorted with them.
_FEW = 64
# Only one thread at a time has cells of its own in a table.
_LOOKING_THROUGH = threading.Lock()
# Bytes of a table that is kept until its cells are asked for.
_KEPT_BYTES = 1 << 26


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
        if np.array_equal(target, np.arange(len(target))):
            return self
        label = target[self.label]
        if (label < 0).any():
            kept = label >= 0
            return SharedCounts(self.many, self.keys[kept], self.values[kept])._named(label[kept], target)
        return self._named(label, target)

    def _named(self, label: Index, target: Index) -> SharedCounts:
        """The same cells with other labels."""
        there = target[target >= 0]
        if (np.diff(there) > 0).all():
            # Labels that stay in their order leave the cells in theirs.
            return SharedCounts(self.many, (self.pair << _LABEL_BITS) | label, self.values)
        return SharedCounts.of_cells(self.many, self.pair, label, self.values)

    def sparse(self) -> SharedCounts:
        """The same counts as cells."""
        return self

    def kept(self) -> SharedCounts:
        """The same counts, to which nothing is added any more."""
        return self

    def __add__(self, other: SharedCounts) -> SharedCounts:
        if isinstance(other, SharedTable):
            return other + self
        few, many = sorted((self, other), key=lambda counts: len(counts.keys))
        if _FEW * len(few.keys) > len(many.keys):
            keys, values = (np.concatenate(pair) for pair in ((self.keys, other.keys), (self.values, other.values)))
            return SharedCounts(self.many, *summed(keys, values))
        # A few cells find their places among many, which need not be sorted again.
        place = np.searchsorted(many.keys, few.keys)
        new = many.keys[np.minimum(place, len(many.keys) - 1)] != few.keys if len(many.keys) else np.ones(0, dtype=bool)
        values = many.values.copy()
        values[place[~new]] += few.values[~new]
        keys, values = (
            np.insert(mine, place[new], theirs[new]) for mine, theirs in ((many.keys, few.keys), (values, few.values))
        )
        return SharedCounts(self.many, keys, values)


def pair_columns(many: int) -> Index:
    """The number of each pair of identities, after those of the identities themselves, which are on the diagonal."""
    columns = np.full((many, many), -1, dtype=np.int64)
    columns[np.diag_indices(many)] = np.arange(many)
    columns[np.triu_indices(many, 1)] = many + np.arange(many * (many - 1) // 2)
    return columns


class _CellsOfTable(SharedCounts):
    """Counts whose cells take a look at a whole table. What travels to other processes are cells."""

    @property
    def keys(self) -> Index:
        """The cells."""
        return self.sparse().keys

    @property
    def values(self) -> Index:
        """Their counts."""
        return self.sparse().values

    def __reduce__(self) -> Any:
        cells = self.sparse()
        return SharedCounts, (self.many, cells.keys, cells.values)


class SharedTable(_CellsOfTable):
    """The same counts as a table of all labels and pairs, while many labels and identities are still being counted.

    ``table`` has a column for each pair, in the order of :func:`pair_columns`, and no number above ``most``.
    ``rows`` has the row of each label, -1 where it has none; ``more`` are cells that are not in the table.
    """

    table: NDArray[Any]
    rows: Index
    most: int
    more: SharedCounts

    def __init__(
        self, many: int, table: NDArray[Any], rows: Index, most: int, more: SharedCounts | None = None
    ) -> None:
        cells = SharedCounts.none(many) if more is None else more
        for name, value in (("many", many), ("table", table), ("rows", rows), ("most", most), ("more", cells)):
            object.__setattr__(self, name, value)

    def moved(self, target: Index) -> SharedCounts:
        """As :meth:`SharedCounts.moved`; no two labels become one."""
        kept = np.flatnonzero(target[: len(self.rows)] >= 0)
        rows = np.full(int(target.max(initial=-1)) + 1, -1, dtype=np.int64)
        rows[target[kept]] = self.rows[kept]
        return SharedTable(self.many, self.table, rows, self.most, self.more.moved(target))

    def __add__(self, other: SharedCounts) -> SharedCounts:
        return self._sum(other, None)

    def __iadd__(self, other: SharedCounts) -> SharedCounts:
        return self._sum(other, self.table if self.table.flags.writeable else None)

    def _sum(self, other: SharedCounts, out: NDArray[Any] | None) -> SharedCounts:
        """The sum; ``out`` is the table that may hold it."""
        if not isinstance(other, SharedTable):
            return SharedTable(self.many, self.table, self.rows, self.most, self.more + other)
        labels = max(len(self.rows), len(other.rows))
        mine, theirs = (_padded(table.rows, labels) for table in (self, other))
        if self.table.shape == other.table.shape and ((mine == theirs) | (mine < 0) | (theirs < 0)).all():
            # The same labels have the same rows, as they do where threads share codes.
            rows = np.maximum(mine, theirs)
            if len(np.unique(rows[rows >= 0])) == (rows >= 0).sum():
                most = self.most + other.most
                kind = _kind(self.table, other.table, most)
                if out is None or out.dtype != kind:
                    out = np.zeros(self.table.shape, dtype=kind)
                # Rows that no label has may never have been touched.
                top = int(rows.max(initial=-1)) + 1
                np.add(self.table[:top], other.table[:top], out=out[:top], dtype=kind)
                return SharedTable(self.many, out, rows, most, self.more + other.more)
        return self.sparse() + other.sparse()

    def sparse(self) -> SharedCounts:
        """The same counts as cells."""
        row = self.rows[self.more.label] if len(self.more.keys) else np.zeros(0, dtype=np.int64)
        place = row, pair_columns(self.many).ravel()[self.more.pair] - self.many
        top = int((self.table[place] + self.more.values).max(initial=0))
        if (row < 0).any() or top > np.iinfo(self.table.dtype).max:
            return self._cells() + self.more
        # A few cells more are in the table while it is looked through: its memory need not be taken twice.
        values = self.more.values.astype(self.table.dtype)
        with _LOOKING_THROUGH:
            writeable = self.table.flags.writeable
            self.table.flags.writeable = True
            self.table[place] += values
            try:
                return self._cells()
            finally:
                self.table[place] -= values
                self.table.flags.writeable = writeable

    def kept(self) -> SharedCounts:
        """As long as nobody asks for cells, the table; it takes less time, and less room than most of its cells would."""
        if int((self.rows >= 0).sum()) * self.table[:1].nbytes > _KEPT_BYTES:
            return self.sparse()
        # What shares this table adds to another from now on.
        self.table.flags.writeable = False
        return CellsOnDemand(self)

    def _cells(self) -> SharedCounts:
        many, labels = self.many, np.flatnonzero(self.rows >= 0)
        first, second = np.triu_indices(many, 1)
        pairs = (first * many + second) << _LABEL_BITS
        if "numba" in sys.modules:
            from .kernels.long_pairs import cells_of, filled

            ends = np.cumsum(filled(self.table, self.rows[labels]), dtype=np.int64)
            keys, values = (np.empty(int(ends[-1]) if len(ends) else 0, dtype=np.int64) for _ in range(2))
            cells_of(self.table, self.rows[labels], labels, np.concatenate([[0], ends[:-1]]), pairs, keys, values)
            return SharedCounts(many, keys, values)
        flat = np.ascontiguousarray(self.table[self.rows[labels]].T).ravel()
        place = np.flatnonzero(flat)
        column = place // max(len(labels), 1)
        keys = pairs[column] | labels[place - column * len(labels)]
        return SharedCounts(many, keys, flat[place].astype(np.int64))


class CellsOnDemand(_CellsOfTable):
    """The cells of a table, which are made when they are asked for; then the table is let go."""

    _table: SharedTable | None
    _made: SharedCounts | None

    def __init__(self, table: SharedTable) -> None:
        for name, value in (("many", table.many), ("_table", table), ("_made", None)):
            object.__setattr__(self, name, value)

    def sparse(self) -> SharedCounts:
        """The same counts as cells."""
        # Two threads may ask at once, and both may make them: first there are cells, then there is no table.
        table, made = self._table, self._made
        if made is None:
            assert table is not None
            made = table.sparse()
            object.__setattr__(self, "_made", made)
            object.__setattr__(self, "_table", None)
        return made

    def moved(self, target: Index) -> SharedCounts:
        """As :meth:`SharedCounts.moved`."""
        return self.sparse().moved(target)

    def __add__(self, other: SharedCounts) -> SharedCounts:
        return self.sparse() + other


def _padded(rows: Index, labels: int) -> Index:
    return np.concatenate([rows, np.full(labels - len(rows), -1, dtype=np.int64)])


def _kind(one: NDArray[Any], two: NDArray[Any], most: int) -> np.dtype[Any]:
    """A type that has room for the sum of two tables, in which nothing is above ``most``."""
    kinds = [one.dtype, two.dtype, np.dtype(np.int32), np.dtype(np.int64)]
    return next(kind for kind in kinds if most <= np.iinfo(kind).max)


def shared_of_patterns(many: int, masks: Index, pattern: Index, label: Index, values: Index) -> SharedCounts:
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
