"""Itemsets: sets of labels that hold together, found among what records carry, never among all subsets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from biasamp.labels import Dense, LabelSet, Sparse, Variable

Itemset = tuple[int, ...]
Records = NDArray[np.int64]


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
    postings = _postings(labels)
    held = np.zeros(len(labels), dtype=bool)
    found: list[Itemset] = []
    pending: list[tuple[Itemset, Records]] = [((), np.arange(len(labels)))]
    while pending:
        items, records = pending.pop()
        if max_size is not None and len(items) >= max_size:
            continue
        for label in range(items[-1] + 1 if items else 0, labels.width):
            mine = _among(records, postings[label], held) if items else postings[label]
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
    postings = _postings(labels)
    rank = np.argsort(np.argsort([len(p) for p in postings], kind="stable"), kind="stable")
    ordered = sorted((tuple(sorted(items, key=lambda i: rank[i])), number) for number, items in enumerate(itemsets))
    held = np.zeros(len(labels), dtype=bool)
    path: list[tuple[int, Records]] = []
    for items, number in ordered:
        shared = 0
        while shared < min(len(path), len(items)) and path[shared][0] == items[shared]:
            shared += 1
        del path[shared:]
        for label in items[shared:]:
            records = _among(path[-1][1], postings[label], held) if path else postings[label]
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


def _postings(labels: LabelSet) -> list[Records]:
    """The records that have each label."""
    row, column = labels.nonzero()
    order = np.argsort(column, kind="stable")
    edges = np.searchsorted(column[order], np.arange(labels.width + 1))
    row = row[order]
    return [row[edges[i] : edges[i + 1]] for i in range(labels.width)]


def _among(records: Records, others: Records, held: NDArray[np.bool_]) -> Records:
    """Those records that are among the others too; ``held`` is scratch space, all False before and after."""
    held[others] = True
    both = records[held[records]]
    held[others] = False
    return both
