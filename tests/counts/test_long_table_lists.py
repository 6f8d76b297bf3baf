"""Long tables: which records were counted, in which bag, and lists of labels."""

from __future__ import annotations

from typing import Any

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


@pytest.mark.skipif(not numba_installed(), reason="numba is not installed")
class TestInOneGo:
    """Rows of whole numbers are counted in one go, up to the first that cannot be."""

    def counted(self, ids: Any, labels: Any, score: Any = None, **options: Any) -> tuple[int, LongCounter]:
        counter = LongCounter([["0"], ["1"]], kernel="numba", **options)
        return counter._integers(pa.array(ids), pa.array(labels), score), counter

    def test_rows_of_whole_numbers(self) -> None:
        many, counter = self.counted([1, 1, 2], [0, 5, 1])
        assert many == counter.rows == 3
        assert counter.tally.own_codes
        assert (counter.runs.first, counter.runs.last) == (1, 2)
        assert counter._integers(pa.array([2, 7]), pa.array([900, 0]), None) == 2
        assert (counter.rows, counter.runs.first, counter.runs.last) == (5, 1, 7)
        counts = counter.part().finished(["x", "y"], [["0"], ["1"]])
        assert (counts.n, counts.labels, counts.count.tolist()) == (3, ("0", "1", "5", "900"), [2, 1, 1, 1])
        # Scores that nobody asks about are in nobody's way.
        score = pa.array([0.1, 0.2, 0.3])
        assert self.counted([1, 1, 2], [0, 5, 1], score)[0] == 3
        assert self.counted([1, 1, 2], [0, 5, 1], None, threshold=0.5)[0] == 3
        assert self.counted([1, 1, 2], [0, 5, 1], None, pairing=Pairing(ids=True))[0] == 3

    def test_rows_of_which_more_must_be_known(self) -> None:
        score = pa.array([0.1, 0.2, 0.3])
        assert self.counted([1, 1, 2], [0, 5, 1], score, threshold=0.15)[0] == 0
        assert self.counted([1, 1, 2], [0, 5, 1], keep_keys=True)[0] == 0
        assert self.counted([1, 1, 2], [0, 5, 1], pairing=Pairing(ids=True, bags=True))[0] == 0
        assert self.counted(np.array([1, 1, 2], dtype=np.uint64), [0, 5, 1])[0] == 0
        assert self.counted([1, None, 2], [0, 5, 1])[0] == 0
        assert self.counted([1, 1, 2], [0, None, 1])[0] == 0
        assert self.counted(["1", "1", "2"], [0, 5, 1])[0] == 0
        assert self.counted([1, 1, 2], ["0", "5", "1"])[0] == 0
        plain = LongCounter([["0"]], kernel="numpy")
        assert plain._integers(pa.array([1]), pa.array([0]), None) == 0

    def test_up_to_a_row_that_is_in_the_way(self) -> None:
        for labels, many in (([0, 5, -1, 0], 2), ([-1, 5, 0, 0], 0), ([-3, -2, -1, -1], 0)):
            found, counter = self.counted([1, 1, 2, 3], labels)
            assert found == counter.rows == many
        top = 1 << 22
        assert self.counted([1, 2], [0, top - 1])[0] == 2
        assert self.counted([1, 2], [0, top])[0] == 0
        # An id that falls.
        found, counter = self.counted([1, 4, 3, 5], [0, 1, 2, 0])
        assert (found, counter.runs.last) == (2, 4)
        # Once a row was in the way all that follow go the longer way, and the counts are the same.
        counter = LongCounter([["0"], ["1"]], kernel="numba")
        counter.add(pa.array([1, 1, 2]), pa.array([0, -5, 1]))
        assert not counter.tally.own_codes
        counter.add(pa.array([2, 3]), pa.array([0, 1]))
        assert not counter.tally.own_codes
        counts = counter.part().finished(["x", "y"], [["0"], ["1"]])
        assert (counts.n, dict(zip(counts.labels, counts.count.tolist(), strict=True))) == (
            3,
            {"-5": 1, "0": 2, "1": 2},
        )
        assert counts.overlap.tolist() == [[2, 1], [1, 2]]


@pytest.mark.parametrize("kernel", KERNELS)
def test_ends_of_a_stretch(kernel: str) -> None:
    """The first and the last record may go on elsewhere; records of lists do not."""
    for text in (False, True):
        counter = LongCounter([["0"], ["1"]], kernel=kernel)
        label = np.array([0, 5, 1, 7])
        counter.add(pa.array([3, 3, 4, 9]), pa.array(label.astype(str) if text else label))
        (edge,) = counter.part(6).edges
        assert (edge.start, edge.stop, edge.first_record, edge.last_record) == (6, 7, 3, 9)
        assert edge.first is not None
        assert sorted(edge.first) == ["0", "5"]
        assert edge.last == ("7",)
        assert edge.spans == ((3, 9),)
        assert edge.keys is None
        one = LongCounter([["0"], ["1"]], kernel=kernel)
        one.add(pa.array([3, 3]), pa.array(["0", "5"] if text else [0, 5]))
        (edge,) = one.part().edges
        assert edge.first is None
        assert edge.last is not None
        assert sorted(edge.last) == ["0", "5"]
    fallen = LongCounter([["0"]], kernel=kernel, keep_keys=True)
    fallen.add(pa.array([5, 4]), pa.array(["0", "1"]))
    (edge,) = fallen.part().edges
    assert edge.spans is None
    assert edge.keys is not None
    assert edge.keys.tolist() == record_keys(np.array([5, 4])).tolist()
    two = LongCounter([["0"]], kernel=kernel)
    two.add(pa.array([1]), pa.array([0]))
    two.end(0)
    two.add(pa.array([1]), pa.array([4]))
    two.end(1)
    (edge,) = two.counted().edges
    assert (edge.start, edge.stop) == (0, 2)
    counts = two.counted().finished(["x"], [["0"]])
    assert (counts.n, counts.count.tolist()) == (1, [1, 1])
