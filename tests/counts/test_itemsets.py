"""Itemsets of records: by numpy and in numba, whole or in lots, the records that a plain look finds."""

import numpy as np
import pytest

from biasamp.counts import itemsets as module
from biasamp.counts.itemsets import carried, expand, named, support
from biasamp.data import label_set, read_columns
from extras import needs


@pytest.fixture(params=["numpy", "numba"])
def accelerate(request):
    if request.param == "numba":
        needs("numba")
    return request.param == "numba"


def labels(n=400, width=9, seed=0):
    rng = np.random.default_rng(seed)
    return label_set(read_columns((rng.random((n, width)) < rng.uniform(0.05, 0.6, width)).astype(int), "x"), "x")


def holds(values, items):
    return [bool(all(row[i] for i in items)) for row in values]


@pytest.mark.parametrize("lot", [1 << 28, 9 * 64])
def test_every_record_has_the_itemsets_whose_labels_it_has(accelerate, lot, monkeypatch):
    monkeypatch.setattr(module, "_MOST_FLAGS", lot)
    source, other = labels(), labels(seed=1)
    found = [*reversed(carried(source, 1, None, 1)), (0, 1, 2, 3, 4, 5, 6, 7, 8)]
    expected = np.array([holds(other.rows(), items) for items in found]).T
    expanded = expand(other, found, accelerate=accelerate)
    assert (expanded.rows() == expected).all()
    assert support(other, found, accelerate).tolist() == expected.sum(axis=0).tolist()
    # Of each record the itemsets ascend, as blocks of lists promise.
    row, item = expanded.nonzero()
    assert (np.diff(row * len(found) + item) > 0).all()


def test_labels_taken_one_by_one_keep_their_records_and_names():
    held = labels()
    picked = expand(held, [(1,), (4,), (7,)])
    assert (picked.rows() == held.rows()[:, [1, 4, 7]]).all()
    turned = expand(held, [(7,), (1,)])
    assert (turned.rows() == held.rows()[:, [7, 1]]).all()
    assert [label.variable for label in turned.labels] == [str(held.labels[7]), str(held.labels[1])]


def test_names_are_those_of_the_labels():
    held = labels(width=3)
    assert [variable.name for variable in named(held, [(0, 2)])] == [f"{held.labels[0]} & {held.labels[2]}"]


def test_no_itemset_is_none_of_any_record():
    assert expand(labels(), []).rows().shape == (400, 0)
