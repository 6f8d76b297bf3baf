"""Itemsets: sets of labels that hold together, found among what records carry, never among all subsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Dense, LabelSet, Sparse, Variable

from .tables import worth_compiling

Itemset = tuple[int, ...]
Index = NDArray[np.int64]
Records = NDArray[np.int64]

# Flags of every label and record are held in memory up to so many; beyond, those of some records or one label.
_MOST_FLAGS = 1 << 28


def one_a_record(*sets: LabelSet) -> bool:
    """Whether no record has more than one label, so that every itemset is a single label."""
    for labels in sets:
        if labels.exclusive:
            continue
        row, _ = labels.nonzero()
        if len(row) and np.bincount(row).max() > 1:
            return False
    return True


def carried(labels: LabelSet, min_size: int, max_size: int | None, min_support: int) -> list[Itemset]:
    """The distinct label sets that at least ``min_support`` records carry exactly."""
    row, column = labels.nonzero()
    sizes = np.bincount(row, minlength=len(labels))
    starts = np.concatenate([[0], np.cumsum(sizes)])
    found: list[Itemset] = []
    for size in np.unique(sizes).tolist():
        if size < max(min_size, 1) or (max_size is not None and size > max_size):
            continue
        same = np.flatnonzero(sizes == size)
        rows = column[starts[same][:, None] + np.arange(size)]
        distinct, support = np.unique(rows, axis=0, return_counts=True)
        found.extend(tuple(items) for items in distinct[support >= min_support].tolist())
    return sorted(found)


def occurring(labels: LabelSet, min_size: int, max_size: int | None, min_support: int) -> list[Itemset]:
    """Every set of up to ``max_size`` labels that at least ``min_support`` records have among theirs.

    A set is extended only while enough records have it, so what does not occur is never looked at.
    """
    postings = _Postings(labels)
    found: list[Itemset] = []
    pending: list[tuple[Itemset, Records]] = [((), np.arange(len(labels)))]
    while pending:
        items, records = pending.pop()
        if max_size is not None and len(items) >= max_size:
            continue
        for label in range(items[-1] + 1 if items else 0, labels.width):
            mine = postings.among(records, label) if items else postings.records[label]
            if len(mine) >= max(min_support, 1):
                extended = (*items, label)
                if len(extended) >= min_size:
                    found.append(extended)
                pending.append((extended, mine))
    return sorted(found)


def support(labels: LabelSet, itemsets: Sequence[Itemset], accelerate: bool | None = None) -> Index:
    """How many records have all labels of each itemset; ``accelerate`` says whether to use numba."""
    out = np.zeros(len(itemsets), dtype=np.int64)
    for _, _, held in _walks(labels, itemsets, accelerate):
        out[held.numbers] += held.sizes
    return out


def named(labels: LabelSet, itemsets: Sequence[Itemset]) -> tuple[Variable, ...]:
    """Each itemset as a yes/no label."""
    own = labels.labels
    name = {i: str(own[i]) for i in {*chain.from_iterable(itemsets)}}.__getitem__
    return tuple([Variable(" & ".join(map(name, items)), "binary") for items in itemsets])


def expand(
    labels: LabelSet,
    itemsets: Sequence[Itemset],
    variables: tuple[Variable, ...] | None = None,
    accelerate: bool | None = None,
) -> LabelSet:
    """Labels that say of each record which itemsets it has; soft labels give the product of their chances.

    Parameters
    ----------
    variables : tuple of Variable, optional
        What :func:`named` gives, where it is known.
    accelerate : bool, optional
        Whether to use numba; by default where it is installed and pays.
    """
    variables = named(labels, itemsets) if variables is None else variables
    if labels.soft:
        values = labels.rows()
        product = np.ones((len(labels), len(itemsets)))
        for number, items in enumerate(itemsets):
            product[:, number] = values[:, list(items)].prod(axis=1)
        return LabelSet((Dense(variables, product),))
    single = [items[0] for items in itemsets if len(items) == 1]
    if len(single) == len(itemsets) and all(one < two for one, two in pairwise(single)):
        return LabelSet((_picked(labels, single, variables),))
    starts, found = [np.zeros(1, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for start, stop, held in _walks(labels, itemsets, accelerate):
        by_record, item = held.by_record(stop - start)
        starts.append(starts[-1][-1] + by_record[1:])
        found.append(item)
    return LabelSet((Sparse(variables, np.concatenate(starts), np.concatenate(found)),))


def _picked(labels: LabelSet, wanted: list[int], variables: tuple[Variable, ...]) -> Sparse:
    """Some labels, in their order, each as an itemset."""
    place = np.full(labels.width, -1, dtype=np.int64)
    place[wanted] = np.arange(len(wanted))
    row, label = labels.nonzero()
    item = place[label]
    held = np.flatnonzero(item >= 0)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row[held], minlength=len(labels)))])
    return Sparse(variables, indptr.astype(np.int64), item[held])


def _walks(labels: LabelSet, itemsets: Sequence[Itemset], accelerate: bool | None) -> Iterator[tuple[int, int, _Held]]:
    """Of one lot of records after another (start, stop) those that have each itemset."""
    if not itemsets:
        return
    order = _Prefixes.of(itemsets, np.bincount(labels.nonzero()[1], minlength=labels.width))
    step = max(1, _MOST_FLAGS // max(labels.width, 1))
    for start in range(0, len(labels), step):
        stop = min(start + step, len(labels))
        postings = _Postings(labels, start, stop)
        walk = _walk_compiled if worth_compiling(len(itemsets) * (stop - start), accelerate) else _walk
        yield start, stop, walk(postings, order)


@dataclass(frozen=True, eq=False)
class _Prefixes:
    """Itemsets in an order in which those that begin alike follow each other.

    The rarest label of an itemset comes first, so that few records are left to look at.

    Attributes
    ----------
    numbers : ndarray of shape (itemsets,)
        Which itemset comes first, second, ...
    items : ndarray of shape (itemsets, most labels)
        Their labels, in this order.
    sizes : ndarray of shape (itemsets,)
        How many labels each has.
    """

    numbers: Index
    items: Index
    sizes: Index

    @classmethod
    def of(cls, itemsets: Sequence[Itemset], held: Index) -> _Prefixes:
        """From how many records hold each label."""
        sizes = np.fromiter(map(len, itemsets), dtype=np.int64, count=len(itemsets))
        flat = np.fromiter(chain.from_iterable(itemsets), dtype=np.int64, count=int(sizes.sum()))
        owner = np.repeat(np.arange(len(sizes)), sizes)
        within = np.arange(len(flat)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        by_rank = np.argsort(held, kind="stable")
        rank = np.argsort(by_rank, kind="stable")
        # Big-endian bytes sort as their numbers do; what an itemset lacks comes after all labels.
        ranked = np.full((len(sizes), int(sizes.max())), len(held), dtype=">u4")
        ranked[owner, within] = rank[flat]
        ranked.sort(axis=1)
        numbers = np.argsort(ranked.view(np.dtype((np.void, 4 * ranked.shape[1])))[:, 0], kind="stable")
        return cls(numbers, np.append(by_rank, -1)[ranked[numbers].astype(np.int64)], sizes[numbers])


@dataclass(frozen=True, eq=False)
class _Held:
    """The records that have each itemset, in the order of a walk.

    Attributes
    ----------
    numbers : ndarray of shape (itemsets,)
        Which itemset was walked to first, second, ...
    sizes : ndarray of shape (itemsets,)
        How many records have each, in this order.
    records : ndarray
        Those records, one itemset after another, numbered from the start of their lot.
    compiled : bool
        Whether numba sorts them.
    """

    numbers: Index
    sizes: Index
    records: Records
    compiled: bool

    def by_record(self, many: int) -> tuple[Index, Index]:
        """The itemsets of each of so many records, ascending: those of record ``i`` lie from ``indptr[i]``."""
        ends = np.cumsum(self.sizes)
        place = np.empty_like(self.numbers)
        place[self.numbers] = np.arange(len(place))
        sizes, starts = self.sizes[place], (ends - self.sizes)[place]
        if self.compiled:
            from .kernels.compiled_walk import transposed

            return transposed(starts, sizes, self.records, many)
        # Records in the order of the itemsets' numbers, then sorted without moving those of one record.
        indptr = np.concatenate([[0], np.cumsum(sizes)])
        row = self.records[np.arange(indptr[-1]) + np.repeat(starts - indptr[:-1], sizes)]
        return _by_record(indptr, row, many)


def _walk(postings: _Postings, order: _Prefixes) -> _Held:
    """The records that have each itemset; those that begin alike share the work."""
    lists: list[Records] = []
    path: list[tuple[int, Records]] = []
    for row, size in zip(order.items.tolist(), order.sizes.tolist(), strict=True):
        shared = 0
        while shared < min(len(path), size) and path[shared][0] == row[shared]:
            shared += 1
        del path[shared:]
        for label in row[shared:size]:
            records = postings.among(path[-1][1], label) if path else postings.records[label]
            path.append((label, records))
        lists.append(path[-1][1])
    sizes = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    return _Held(order.numbers, sizes, np.concatenate(lists), False)


def _walk_compiled(postings: _Postings, order: _Prefixes) -> _Held:
    """As :func:`_walk`, in numba."""
    from .kernels.compiled_walk import walk

    edges = np.concatenate([[0], np.cumsum([len(records) for records in postings.records])])
    sizes, found = walk(order.items, order.sizes, np.concatenate(postings.records), edges, postings.flags)
    return _Held(order.numbers, sizes, found, True)


def _by_record(indptr: Index, records: Records, many: int) -> tuple[Index, Index]:
    """The itemsets of each record, ascending, from the records of each itemset."""
    from scipy.sparse import csc_array

    held = csc_array((np.ones(len(records), dtype=np.uint8), records, indptr), shape=(many, len(indptr) - 1)).tocsr()
    return held.indptr.astype(np.int64), held.indices.astype(np.int64)


class _Postings:
    """The records that have each label, and which of some records do."""

    def __init__(self, labels: LabelSet, start: int = 0, stop: int | None = None) -> None:
        held, column = labels.nonzero(start, stop)
        many = (len(labels) if stop is None else stop) - start
        order = np.argsort(column.astype(np.min_scalar_type(labels.width)), kind="stable")
        edges = np.searchsorted(column[order], np.arange(labels.width + 1))
        row = held[order]
        self.records = [row[edges[i] : edges[i + 1]] for i in range(labels.width)]
        self.flags: NDArray[np.bool_] | None = None
        if labels.width * many <= _MOST_FLAGS:
            self.flags = np.zeros((labels.width, many), dtype=bool)
            self.flags[column, held] = True
        self._scratch = np.zeros(many, dtype=bool)

    def among(self, records: Records, label: int) -> Records:
        """Those of the records that have the label."""
        if self.flags is not None:
            return records[self.flags[label][records]]
        others = self.records[label]
        self._scratch[others] = True
        both = records[self._scratch[records]]
        self._scratch[others] = False
        return both
