"""Long tables: which records were counted, in which bag, and lists of labels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from biasamp.counts.kernels.long_tally import numba_installed
from biasamp.counts.known_records import KnownRecords
from biasamp.counts.label_bags import BAGS, label_bags_of
from biasamp.counts.label_counter import Pairing
from biasamp.counts.long_columns import LabelCodes, keys_of
from biasamp.counts.long_table import LongCounter, flatten, rows_of
from biasamp.counts.scattered_table import ScatteredCounter
from biasamp.data.keys import record_keys

KERNELS = ["numpy", *(["numba"] if numba_installed() else [])]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("numbers", [True, False])
@pytest.mark.parametrize("cuts", [[], [2], [3, 4, 5]])
def test_which_records_were_counted(kernel: str, numbers: bool, cuts: list[int]) -> None:
    """Whichever way rows go, in however many batches: a record that goes on in the next is one."""
    ids = np.array([1, 1, 2, 4, 4, 9])
    labels = np.array([0, 7, 1, 0, 1, 3])
    column = pa.array(labels) if numbers else pa.array(labels.astype(str))
    counter = LongCounter([["0"], ["1"]], kernel=kernel, pairing=Pairing(ids=True))
    for start, stop in zip([0, *cuts], [*cuts, 6], strict=True):
        counter.add(pa.array(ids)[start:stop], column[start:stop])
    part = counter.part()
    assert part.known == KnownRecords.of(record_keys(np.array([1, 2, 4, 9])))
    assert part.rows == 6
    counts = part.finished(["x", "y"], [["0"], ["1"]])
    assert counts.known == part.known
    assert (counts.n, counts.overlap.tolist()) == (4, [[2, 1], [1, 2]])
    assert LongCounter([["0"]], kernel=kernel).part().known is None
    empty = LongCounter([["0"]], kernel=kernel, pairing=Pairing(ids=True)).part()
    assert empty.known == KnownRecords.of(np.zeros(0, dtype=np.uint64))


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("scattered", [False, True])
def test_every_record_is_in_its_bag(kernel: str, scattered: bool) -> None:
    rng = np.random.default_rng(0)
    ids = np.repeat(np.arange(60), 3)
    labels = rng.integers(0, 6, 180).astype(str)
    order = rng.permutation(180) if scattered else np.arange(180)
    kind = ScatteredCounter if scattered else LongCounter
    counter = kind([["0"], ["1"]], kernel=kernel, pairing=Pairing(ids=True, bags=True))
    counter.add(pa.array(ids[order]), pa.array(labels[order]))
    part = counter.part()
    counts = part.finished(["x", "y"], [["0"], ["1"]])
    assert counts.bags is not None
    bag = label_bags_of(keys_of(pa.array(np.arange(60))))
    sets = [set(labels[ids == record]) for record in range(60)]
    sizes = np.zeros((BAGS, 3), dtype=int)
    for one, mine in zip(sets, bag, strict=True):
        sizes[mine] += [1, "0" in one, "1" in one]
    assert counts.bags.sizes.tolist() == sizes.tolist()
    assert counts.labels == tuple(sorted(set(labels)))
    assert counts.count.tolist() == [sum(label in one for one in sets) for label in counts.labels]
    assert part.rows == 180
    assert part.duplicates == 180 - sum(map(len, sets))
    assert part.known == KnownRecords.of(record_keys(np.arange(60)))


def test_lists_are_rows() -> None:
    starts, out = rows_of(np.array([2, 0, 1, 0]), np.array([5, 6, 7], dtype=np.int32))
    assert starts.tolist() == [True, False, True, True, True]
    assert out.tolist() == [5, 6, -1, 7, -1]
    starts, out = rows_of(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int32))
    assert len(starts) == len(out) == 0
    codes = LabelCodes()
    starts, out = flatten(pa.array([["a", "b"], None, [], ["b"]]), codes)
    assert starts.tolist() == [True, False, True, True, True]
    assert [None if code < 0 else codes.labels[code] for code in out.tolist()] == ["a", "b", None, None, "b"]


@pytest.mark.parametrize("kernel", KERNELS)
def test_lists_are_counted(kernel: str) -> None:
    counter = LongCounter([["a"], ["b"]], kernel=kernel)
    counter.add_lists(pa.array([["a", "b", "a"], [], ["b"]]))
    counter.add_lists(pa.array([["a", "x"]]))
    part = counter.part()
    assert (part.rows, part.duplicates, part.below) == (6, 1, 0)
    # Whole records: none goes on elsewhere.
    assert all(edge.last is None for edge in part.edges)
    counts = part.finished(["A", "B"], [["a"], ["b"]])
    assert (counts.n, counts.count.tolist(), counts.overlap.tolist()) == (4, [2, 2, 1], [[2, 1], [1, 2]])
