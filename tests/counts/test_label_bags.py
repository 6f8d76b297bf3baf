"""Counts by bag of records' ids, held against a slow count of every record, in whatever order and parts it comes."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import biasamp
from biasamp.association.label_counting import count_source
from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.known_records import KnownRecords
from biasamp.counts.label_bags import BAG_LABELS, BAGS, label_bags_of
from biasamp.counts.label_counter import Pairing
from biasamp.counts.long_columns import keys_of
from biasamp.counts.long_table import LongCounter
from biasamp.data.label_source import label_source
from biasamp.engines.local import LocalEngine
from extras import needs

IDENTITIES = {"man": ["man", "boy"], "woman": ["woman"]}
PAIRED = Pairing(ids=True, bags=True)


def records(seed, size=400, first=0):
    rng = np.random.default_rng(seed)
    labels = ["man", "boy", "woman", *(f"y{i}" for i in range(12))]
    chance = np.array([0.3, 0.1, 0.4, *rng.uniform(0.01, 0.4, 12)])
    return {first + i: [name for name, p in zip(labels, chance, strict=True) if rng.random() < p] for i in range(size)}


def long_table(held, ids, shuffle=None):
    rows = [(record, label) for record, labels in held.items() for label in labels or [None]]
    if shuffle is not None:
        rows = [rows[i] for i in np.random.default_rng(shuffle).permutation(len(rows))]
    spelled = pa.array([f"id-{record:05d}" if ids == "text" else record for record, _ in rows])
    return pa.table({"record": spelled, "label": pa.array([label for _, label in rows], pa.string())})


def slow_bags(held, ids):
    """Every cell from a loop over records."""
    names = [f"id-{record:05d}" if ids == "text" else record for record in held]
    bags = label_bags_of(keys_of(pa.array(names)))
    sizes = np.zeros((BAGS, 3), dtype=int)
    cells = {}
    for bag, labels in zip(bags.tolist(), held.values(), strict=True):
        parts = [0, *(1 + k for k, group in enumerate(IDENTITIES.values()) if set(group) & set(labels))]
        for part in parts:
            sizes[bag, part] += 1
            for label in labels:
                cells[label, bag, part] = cells.get((label, bag, part), 0) + 1
    return sizes, cells


def cells_of(counts: AssociationCounts):
    label, bag, part = counts.bags.cells
    names = [counts.labels[i] for i in label.tolist()]
    return dict(zip(zip(names, bag.tolist(), part.tolist(), strict=True), counts.bags.values.tolist(), strict=True))


def counted(table, kernel="auto", threads=1, rows=1 << 16):
    engine = LocalEngine(threads=threads)
    engine.batch_rows = rows
    source = label_source(table, record="record", label="label")
    return count_source(source, IDENTITIES, engine=engine, kernel=kernel, pairing=PAIRED)


@pytest.mark.parametrize("ids", ["integers", "text"])
@pytest.mark.parametrize("kernel", ["numpy", "numba"])
@pytest.mark.parametrize("shuffle", [None, 3])
def test_cells_are_those_of_a_slow_count(ids, kernel, shuffle):
    if kernel == "numba":
        needs("numba")
    held = records(1)
    counts, reading = counted(long_table(held, ids, shuffle), kernel, rows=97)
    sizes, cells = slow_bags(held, ids)
    assert (counts.bags.sizes == sizes).all()
    assert cells_of(counts) == cells
    assert not set(counts.labels) & set(BAG_LABELS)
    assert reading.duplicates == 0
    plain, _ = count_source(label_source(long_table(held, ids), record="record", label="label"), IDENTITIES)
    assert counts.labels == plain.labels
    assert (counts.identity_joint == plain.identity_joint).all()
    assert (counts.count == plain.count).all()
    names = [f"id-{record:05d}" if ids == "text" else record for record in held]
    assert counts.known == KnownRecords.of(keys_of(pa.array(names)))


@pytest.mark.parametrize("ids", ["integers", "text"])
def test_a_record_that_two_parts_share_is_known_once(ids):
    held = records(2, 60)
    table = long_table(held, ids)
    members = list(IDENTITIES.values())
    whole = None
    # A record is counted when the last part with a row of it is there, in whatever order parts are added.
    cuts = [0, 11, 12, 13, 90, len(table)]
    for number in (4, 0, 2, 1, 3):
        counter = LongCounter(members, pairing=PAIRED)
        part = table.slice(cuts[number], cuts[number + 1] - cuts[number])
        for batch in part.to_batches():
            counter.add(batch["record"], batch["label"])
        made = counter.part(number)
        whole = made if whole is None else whole + made
    counts = whole.finished(list(IDENTITIES), members)
    sizes, cells = slow_bags(held, ids)
    assert (counts.bags.sizes == sizes).all()
    assert cells_of(counts) == cells
    assert whole.duplicates == 0
    names = [f"id-{record:05d}" if ids == "text" else record for record in held]
    assert counts.known == KnownRecords.of(keys_of(pa.array(names)))


def test_sums_of_counts_are_the_counts_of_the_whole(tmp_path):
    first, second = records(3, 200), records(4, 300, first=200)
    make = {"identities": IDENTITIES, "record": "record", "label": "label", "pairable": True}
    both = sum(biasamp.count(long_table(part, "integers"), **make) for part in (first, second))
    both.save(tmp_path / "both.parquet")
    for held in (both, AssociationCounts.load(tmp_path / "both.parquet")):
        sizes, cells = slow_bags({**first, **second}, "integers")
        assert (held.bags.sizes == sizes).all()
        assert cells_of(held) == cells
        assert held.known == biasamp.count(long_table({**first, **second}, "integers"), **make).known
        assert held.to_dict()["pairable"]


@pytest.mark.parametrize("pairable", [False, True])
def test_overlapping_counts_are_noticed_by_ids(pairable):
    make = {"identities": IDENTITIES, "record": "record", "label": "label", "pairable": pairable}
    one = biasamp.count(long_table(records(5, 300), "integers"), **make)
    some = biasamp.count(long_table(records(6, 300, first=280), "integers"), **make)
    with pytest.raises(ValueError, match="too, by their ids"):
        one + some
    other = biasamp.count(long_table(records(6, 300, first=300), "integers"), **make)
    assert (one + other).n == 600


def test_bags_need_ids_and_identities():
    with pytest.raises(ValueError, match="pairable=True needs ids"):
        biasamp.associate([["man"], ["woman"]], ["man", "woman"], pairable=True)
    with pytest.raises(TypeError, match="pairable=True belongs to identities="):
        biasamp.count({"g": ["w"], "t": [1], "p": [1]}, attributes="g", tasks="t", task_predictions="p", pairable=True)
    counts = biasamp.count([["man"], ["woman"]], identities=["man", "woman"])
    with pytest.raises(ValueError, match="these counts were made without it"):
        biasamp.associate(counts, pairable=True)
    with pytest.raises(ValueError, match="1 to 55 identities are counted where runs are to be paired"):
        LongCounter([[str(k)] for k in range(56)], pairing=PAIRED)
