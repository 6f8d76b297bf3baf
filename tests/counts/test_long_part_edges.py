"""Parts of a long table that meet: records that go on, stretches in any order, spans, keys and what is scattered."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from biasamp.counts import long_part
from biasamp.counts.label_counter import Pairing
from biasamp.counts.long_part import Edge, LongPart, Scattered, _contracted, _keys_of_ids, _pair, _scattered
from biasamp.counts.long_table import LongCounter
from biasamp.data.keys import mix, record_keys

MEMBERS = [["a"], ["b"]]


def part(rows: list[tuple[Any, str | None]], number: int, **options: Any) -> LongPart:
    counter = LongCounter(MEMBERS, kernel="numpy", **options)
    if rows:
        counter.add(pa.array([record for record, _ in rows]), pa.array([label for _, label in rows], pa.string()))
    return counter.part(number)


def check(counts: Any, rows: list[tuple[Any, str | None]]) -> None:
    sets: dict[Any, set[str]] = {}
    for record, label in rows:
        sets.setdefault(record, set()).update([] if label is None else [label])
    assert counts.n == len(sets)
    labels = sorted({label for held in sets.values() for label in held})
    assert list(counts.labels) == labels
    for place, label in enumerate(labels):
        mine = [held for held in sets.values() if label in held]
        assert counts.count[place] == len(mine)
        assert counts.joint[place].tolist() == [
            [sum(x in held and y in held for held in mine) for y in "ab"] for x in "ab"
        ]


PIECES: list[list[tuple[Any, str | None]]] = [
    [(1, "a"), (1, "x"), (2, "b")],
    [(2, "x"), (2, "b")],
    [],
    [(2, "a"), (3, None)],
    [(3, "x")],
    [(4, "a"), (4, "b"), (5, "x"), (6, None)],
]


@pytest.mark.parametrize("settled", [False, True])
@pytest.mark.parametrize("spelled", [int, "r{}".format])
def test_parts_meet_in_any_order(settled: bool, spelled: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A record of three parts and more, an empty part between, and parts that are not neighbours yet."""
    if settled:
        monkeypatch.setattr(long_part, "_MOST_CLOSED", 1)
    pieces = [[(spelled(record), label) for record, label in rows] for rows in PIECES]
    rows = [row for piece in pieces for row in piece]
    for order in list(permutations(range(6)))[::37]:
        parts = [part(pieces[number], number, pairing=Pairing(ids=True)) for number in order]
        whole = parts[0]
        for other in parts[1:]:
            whole = whole + other
        assert len(whole.edges) == 1
        assert (whole.edges[0].start, whole.edges[0].stop) == (0, 6)
        assert whole.rows == len(rows)
        # Record 2 names b again.
        assert whole.duplicates == 1
        assert whole.runs
        assert whole.ordered
        if settled:
            assert len(whole.closed) == 0
        counts = whole.finished(["A", "B"], MEMBERS, {"x": "the x"})
        check(counts, rows)
        assert counts.identities == ("A", "B")
        assert counts.names == tuple("the x" if label == "x" else label for label in counts.labels)
        assert whole.known is not None
        assert whole.known.keys.records == 6


def test_a_part_without_records() -> None:
    empty = part([], 0)
    assert not empty.runs
    assert empty.rows == 0
    assert empty.ordered
    assert empty.finished(["A", "B"], MEMBERS).n == 0
    assert part([(1, None)], 0).runs
    assert part([(1, None), (2, None), (3, None)], 0).finished(["A", "B"], MEMBERS).n == 3


def test_records_that_come_back_in_another_part() -> None:
    one, two, three = (part(rows, number) for number, rows in enumerate(([(1, "a"), (3, "x")], [(4, "b")], [(3, "a")])))
    with pytest.raises(Scattered):
        (one + two + three).finished(["A", "B"], MEMBERS)
    assert not (one + two + three).ordered
    # Parts that fall, but whose records are apart.
    high, low = part([(8, "a"), (9, "b")], 0), part([(1, "x"), (2, "b")], 1)
    both = high + low
    assert not both.ordered
    check(both.finished(["A", "B"], MEMBERS), [(8, "a"), (9, "b"), (1, "x"), (2, "b")])
    touching = part([(8, "a"), (9, "b")], 0) + part([(1, "x"), (8, "b")], 1)
    with pytest.raises(Scattered):
        touching.finished(["A", "B"], MEMBERS)
    kept = [
        part(rows, number, keep_keys=True)
        for number, rows in enumerate(([(5, "a"), (1, "b")], [(1, "x"), (4, "a")], [(2, "b")]))
    ]
    whole = kept[0] + kept[1] + kept[2]
    check(whole.finished(["A", "B"], MEMBERS), [(5, "a"), (1, "b"), (1, "x"), (4, "a"), (2, "b")])
    assert whole.edges[0].keys is not None
    assert len(whole.edges[0].keys) == 4
    again = kept[0] + kept[1] + part([(5, "b")], 2, keep_keys=True)
    with pytest.raises(Scattered):
        again.finished(["A", "B"], MEMBERS)


def test_two_stretches() -> None:
    left = Edge(0, 2, ("p",), ("q", "r"), 1, 5, ((1, 5),), np.array([1, 5], dtype=np.uint64))
    right = Edge(2, 3, ("r", "s"), ("t",), 5, 9, ((5, 9),), np.array([5, 9], dtype=np.uint64))
    edge, whole, again = _pair(left, right)
    assert (edge.start, edge.stop, edge.first, edge.last) == (0, 3, ("p",), ("t",))
    assert (edge.first_record, edge.last_record, edge.spans) == (1, 9, ((1, 9),))
    assert edge.keys is not None
    assert edge.keys.tolist() == [1, 5, 9]
    assert whole == [("q", "r", "s")]
    assert again == 1
    # Other records: both are whole.
    apart = Edge(2, 3, ("r", "s"), ("t",), 6, 9, ((6, 9),), np.array([6, 9], dtype=np.uint64))
    edge, whole, again = _pair(left, apart)
    assert whole == [("q", "r"), ("r", "s")]
    assert again == 0
    assert edge.keys is not None
    assert edge.keys.tolist() == [1, 5, 6, 9]
    assert edge.spans == ((1, 9),)
    # A fall begins a span.
    below = Edge(2, 3, ("r",), ("t",), 2, 9, ((2, 3), (4, 9)))
    edge, _, _ = _pair(left, below)
    assert edge.spans == ((1, 5), (2, 3), (4, 9))
    assert edge.keys is None
    rising = Edge(2, 3, ("r",), ("t",), 6, 3, ((6, 7), (2, 3)))
    assert _pair(left, rising)[0].spans == ((1, 7), (2, 3))
    assert _pair(left, Edge(2, 3, None, ("t",), 6, 6, None))[0].spans is None
    # One record each: nothing is whole yet, or all is one.
    one, two = Edge(0, 1, None, ("p",), 1, 1, ((1, 1),)), Edge(1, 2, None, ("q",), 2, 2, ((2, 2),))
    edge, whole, _ = _pair(one, two)
    assert (edge.first, edge.last, whole) == (("p",), ("q",), [])
    same = Edge(1, 2, None, ("q", "p"), 1, 1, ((1, 1),))
    edge, whole, again = _pair(one, same)
    assert (edge.first, edge.last, whole, again) == (None, ("p", "q"), [], 1)
    # Stretches without rows.
    none = Edge(1, 4)
    edge, whole, again = _pair(one, none)
    assert (edge.start, edge.stop, edge.last, whole, again) == (0, 4, ("p",), [], 0)
    edge, whole, again = _pair(Edge(-3, 0), one)
    assert (edge.start, edge.stop, edge.last, whole, again) == (-3, 1, ("p",), [], 0)


def test_neighbours_are_put_together() -> None:
    edges = [
        Edge(0, 1, None, ("p",), 1, 1, ((1, 1),)),
        Edge(1, 2, None, ("p", "q"), 1, 1, ((1, 1),)),
        Edge(3, 4, None, ("r",), 1, 1),
    ]
    out, closed, again, met = _contracted(edges)
    assert [(edge.start, edge.stop) for edge in out] == [(0, 2), (3, 4)]
    assert closed == []
    assert again == 1
    assert met == [1]
    assert _contracted([])[0] == []
    assert _keys_of_ids([]).tolist() == []
    keys = _keys_of_ids([5, "x"]).tolist()
    assert keys == [*record_keys(np.array([5])).tolist(), *mix(record_keys(["x"])).tolist()]


def test_what_is_scattered() -> None:
    def edge(spans: Any, keys: Any = None) -> Edge:
        return Edge(0, 1, None, ("p",), 1, 1, spans, None if keys is None else np.array(keys, dtype=np.uint64))

    assert not _scattered(edge(()))
    assert not _scattered(edge(((1, 5),)))
    assert not _scattered(edge(((6, 9), (1, 5))))
    assert _scattered(edge(((5, 9), (1, 5))))
    assert _scattered(edge(((1, 9), (2, 3))))
    assert not _scattered(edge((("b", "c"), ("a", "a"))))
    # Ids of two kinds have no order; keys tell.
    assert _scattered(edge(((1, 2), ("a", "b"))))
    assert not _scattered(edge(((1, 2), ("a", "b")), [1, 2, 3]))
    assert _scattered(edge(None))
    assert not _scattered(edge(None, [1, 2]))
    assert _scattered(edge(None, [1, 2, 1]))
    assert _scattered(edge(((5, 9), (1, 5)), [1, 1]))
    assert not _scattered(edge(((5, 9), (1, 5)), [1, 2]))


def test_closed_records_are_counted_when_they_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(long_part, "_MOST_CLOSED", 2)
    parts = [part([(number, "a"), (number, "x")], number) for number in range(5)]
    whole = parts[0] + parts[1]
    assert (whole.closed, whole.counts.n) == ((), 0)
    whole = whole + parts[2]
    assert len(whole.closed) == 1
    whole = whole + parts[3]
    assert (whole.closed, whole.counts.n) == ((), 2)
    assert whole._settled() is whole
    check((whole + parts[4]).finished(["A", "B"], MEMBERS), [(number, label) for number in range(5) for label in "ax"])


def test_parts_that_ascend() -> None:
    falling, rising = part([(5, "a"), (1, "b")], 0, keep_keys=True), part([(9, "a"), (10, "b")], 2, keep_keys=True)
    assert rising.ordered
    assert not falling.ordered
    # Of two stretches nobody knows how they go together, and one that falls is enough.
    for one, two in ((falling, rising), (rising, falling), (part([(1, "a")], 0), part([(2, "a")], 2))):
        assert len((one + two).edges) == 2
        assert not (one + two).ordered
    assert (part([(1, "a")], 0) + part([(2, "a")], 1)).ordered
