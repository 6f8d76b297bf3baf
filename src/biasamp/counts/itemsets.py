"""Itemsets: sets of labels that hold together, found among what records carry, never among all subsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from biasamp.data import Dense, LabelSet, Sparse, Variable

Itemset = tuple[int, ...]
Records = NDArray[np.int64]

# Flags of every label and record are held in memory up to so many; beyond, one label's at a time.
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


def holders(labels: LabelSet, itemsets: Sequence[Itemset]) -> Iterator[tuple[int, Records]]:
    """For each itemset (by its number, in any order) the records that have all its labels.

    The rarest label of an itemset comes first, so that few records are left to look at, and itemsets that
    begin alike share the work.
    """
    postings = _Postings(labels)
    rank = np.argsort(np.argsort([len(p) for p in postings.records], kind="stable"), kind="stable")
    ordered = sorted((tuple(sorted(items, key=lambda i: rank[i])), number) for number, items in enumerate(itemsets))
    path: list[tuple[int, Records]] = []
    for items, number in ordered:
        shared = 0
        while shared < min(len(path), len(items)) and path[shared][0] == items[shared]:
            shared += 1
        del path[shared:]
        for label in items[shared:]:
            records = postings.among(path[-1][1], label) if path else postings.records[label]
            path.append((label, records))
        yield number, path[-1][1]


def expand(labels: LabelSet, itemsets: Sequence[Itemset]) -> LabelSet:
    """Labels that say of each record which itemsets it has; soft labels give the product of their chances."""
    variables = tuple(Variable(itemset_name(labels, items), "binary") for items in itemsets)
    if labels.soft:
        values = labels.rows()
        product = np.ones((len(labels), len(itemsets)))
        for number, items in enumerate(itemsets):
            product[:, number] = values[:, list(items)].prod(axis=1)
        return LabelSet((Dense(variables, product),))
    lists: list[Records] = [np.zeros(0, dtype=np.int64)] * len(itemsets)
    for number, records in holders(labels, itemsets):
        lists[number] = records
    row = np.concatenate([*lists, np.zeros(0, dtype=np.int64)])
    item = np.repeat(np.arange(len(itemsets)), [len(records) for records in lists])
    order = np.argsort(row, kind="stable")
    indptr = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=len(labels)))])
    return LabelSet((Sparse(variables, indptr.astype(np.int64), item[order]),))


def itemset_name(labels: LabelSet, items: Itemset) -> str:
    """How an itemset is shown."""
    return " & ".join(str(labels.labels[i]) for i in items)


class _Postings:
    """The records that have each label, and which of some records do."""

    def __init__(self, labels: LabelSet) -> None:
        held, column = labels.nonzero()
        order = np.argsort(column, kind="stable")
        edges = np.searchsorted(column[order], np.arange(labels.width + 1))
        row = held[order]
        self.records = [row[edges[i] : edges[i + 1]] for i in range(labels.width)]
        self._held: NDArray[np.bool_] | None = None
        if labels.width * len(labels) <= _MOST_FLAGS:
            self._held = np.zeros((labels.width, len(labels)), dtype=bool)
            self._held[column, held] = True
        self._scratch = np.zeros(len(labels), dtype=bool)

    def among(self, records: Records, label: int) -> Records:
        """Those of the records that have the label."""
        if self._held is not None:
            return records[self._held[label][records]]
        others = self.records[label]
        self._scratch[others] = True
        both = records[self._scratch[records]]
        self._scratch[others] = False
        return both
