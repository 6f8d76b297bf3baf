"""Association counts by hand: sums in any label space, some labels, refusals word by word, digests and files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.counts.association_counts import AssociationCounts, _united, from_pairs, from_patterns
from biasamp.counts.known_records import KnownRecords
from biasamp.counts.label_bags import BAG_LABELS, BAG_SHIFT, BAGS
from biasamp.counts.shared_counts import SharedTable, pair_columns
from biasamp.data.keys import row_keys

# Some parts hold labels of one identity only, which is said.
pytestmark = pytest.mark.filterwarnings("ignore:identity")

MEMBERS = (("a", "aa"), ("b",))
SETS = [["a", "b", "x"], ["aa", "x"], ["b", "y"], [], ["x", "y"], ["a", "b"], ["a", "aa", "x"]]


def count(sets: list[list[str]], **options: Any) -> AssociationCounts:
    made: AssociationCounts = biasamp.count(sets, identities={"A": ["a", "aa"], "B": ["b"]}, **options)
    return made


def by_hand(sets: list[list[str]], labels: tuple[str, ...]) -> dict[str, Any]:
    has = np.array([[bool(set(group) & set(held)) for group in MEMBERS] for held in sets], dtype=int)
    holds = np.array([[label in held for label in labels] for held in sets], dtype=int)
    return {
        "n": len(sets),
        "count": holds.sum(axis=0).tolist(),
        "overlap": (has.T @ has).tolist(),
        "joint": np.einsum("ny,na,nb->yab", holds, has, has).tolist(),
    }


def check(counts: AssociationCounts, sets: list[list[str]]) -> None:
    expected = by_hand(sets, counts.labels)
    assert counts.n == counts.records == expected["n"]
    assert counts.count.tolist() == expected["count"]
    assert counts.overlap.tolist() == expected["overlap"]
    assert counts.identity_count.tolist() == [expected["overlap"][k][k] for k in range(2)]
    assert counts.joint.tolist() == expected["joint"]
    assert counts.identity_joint.tolist() == [[cell[0][0], cell[1][1]] for cell in expected["joint"]]
    for first in range(2):
        for second in range(2):
            assert counts.both(first, second).tolist() == [cell[first][second] for cell in expected["joint"]]
    assert counts.overlapping is (expected["overlap"][0][1] > 0)


def test_counts() -> None:
    check(count(SETS), SETS)
    check(count([["a"], ["b"]]), [["a"], ["b"]])
    assert repr(count(SETS)) == "<AssociationCounts of 7 records: 5 labels with A, B>"


def test_sums_in_another_label_space() -> None:
    parts = SETS[:3], SETS[3:5], SETS[5:]
    counts = [count(part) for part in parts]
    check(counts[0] + counts[1], SETS[:5])
    check(counts[1] + counts[0], SETS[3:5] + SETS[:3])
    check(counts[2] + counts[1] + counts[0], SETS[5:] + SETS[3:5] + SETS[:3])
    # Labels of the first, then the new ones; the first stays as it is.
    both = counts[1] + counts[0]
    assert both.labels == ("x", "y", *(label for label in counts[0].labels if label not in ("x", "y")))
    check(counts[1], SETS[3:5])
    assert both.names == both.labels
    assert both.sorted().labels == tuple(sorted(both.labels))
    check(both.sorted(), SETS[3:5] + SETS[:3])
    ordered = both.sorted()
    assert ordered.sorted() is ordered
    total = counts[0]
    total += counts[1]
    check(total, SETS[:5])
    assert sum(counts[1:], counts[0]).n == 7
    assert sum(counts).n == 7
    assert counts[0].__radd__(1) is NotImplemented
    assert counts[0].__add__(3) is NotImplemented  # type: ignore[operator]
    assert [name for name, _, _ in both.sources] == [
        source[0] for part in (counts[1], counts[0]) for source in part.sources
    ]


def test_some_labels_in_an_order() -> None:
    counts = count(SETS)
    few = counts.take([3, 0])
    assert few.labels == few.names == (counts.labels[3], counts.labels[0])
    check(few, SETS)
    assert counts.take(range(5)) is counts
    named = replace(counts, names=tuple(f"the {label}" for label in counts.labels))
    assert named.take([3, 0]).names == (f"the {counts.labels[3]}", f"the {counts.labels[0]}")
    assert (named + count([["new"]])).names == (*named.names, "new")
    bags = count([*SETS], record=None)
    assert bags.take([1]).bags is None


def test_two_label_spaces() -> None:
    def united(mine: str, theirs: str) -> tuple[list[int], list[int]]:
        new, target = _united(tuple(mine), tuple(theirs))
        return list(new), target.tolist()

    assert united("abc", "abc") == ([], [0, 1, 2])
    assert united("abc", "ab") == ([], [0, 1])
    assert united("ab", "abcd") == ([2, 3], [0, 1, 2, 3])
    assert united("abc", "cxa") == ([1], [2, 3, 0])
    assert united("ab", "xyb") == ([0, 1], [2, 3, 1])
    assert united("", "xy") == ([0, 1], [0, 1])


def test_refusals() -> None:
    counts = count(SETS)
    other = biasamp.count(SETS, identities={"A": ["a"], "B": ["b"]})
    with pytest.raises(
        ValueError, match=r"association counts of different identities do not add up: \['A', 'B'\] with labels"
    ):
        _ = counts + other
    with pytest.raises(ValueError, match=r"different identities"):
        _ = counts + replace(counts, identities=("A", "C"))
    one, two = counts.named("monday"), counts.named("tuesday")
    with pytest.raises(
        ValueError,
        match="'tuesday' and 'monday' hold the same counts of 7 records: counted twice they would weigh twice",
    ):
        _ = one + two
    assert (one + count(SETS[:3]).named("tuesday")).n == 10
    known = [KnownRecords.of(row_keys(start, 4)) for start in (0, 3, 4)]
    first, second, third = (
        replace(count(SETS[place : place + 4]).named(name), known=held)
        for place, (name, held) in enumerate(zip(("one", "two", "three"), known, strict=True))
    )
    with pytest.raises(ValueError, match="'two' holds records that 'one' has too, by their ids"):
        _ = first + second
    both = first + third
    assert both.known == KnownRecords.of(row_keys(0, 8))
    assert (first + replace(third, known=None)).known is None
    assert (replace(first, known=None) + third).known is None


def test_the_digest_is_of_all_that_was_counted() -> None:
    counts = count(SETS)

    def digest(made: AssociationCounts) -> str:
        return made.named("x").sources[0][2]

    own = digest(counts)
    assert len(own) == 32
    assert counts.named("x").sources[0][:2] == ("x", 7)
    assert digest(counts.take([4, 3, 2, 1, 0])) == own
    assert digest(counts.named("y")) == own
    shared = counts.shared.sparse()
    for other in (
        replace(counts, n=8),
        replace(counts, labels=("a", "aa", "b", "x", "z")),
        replace(counts, identities=("A", "C")),
        replace(counts, members=(("a",), ("b",))),
        replace(counts, count=counts.count + 1),
        replace(counts, overlap=counts.overlap + 1),
        replace(counts, identity_joint=counts.identity_joint + 1),
        replace(counts, shared=replace(shared, values=shared.values + 1)),
        replace(counts, shared=replace(shared, keys=shared.keys + 1)),
    ):
        assert digest(other) != own


def test_what_was_counted_in_plain_values() -> None:
    counts = count(SETS).named("all")
    held = counts.to_dict()
    assert held == {
        "schema": 1,
        "kind": "association",
        "records": 7,
        "labels": 5,
        "identities": [
            {"identity": "A", "labels": ["a", "aa"], "records": 4},
            {"identity": "B", "labels": ["b"], "records": 3},
        ],
        "sources": [{"name": "all", "records": 7, "digest": counts.sources[0][2]}],
    }
    data = {"id": list(range(7)), "tags": SETS}
    paired = biasamp.count(data, identities=["a", "b"], label="tags", record="id", pairable=True)
    assert paired.to_dict()["pairable"] is True


@pytest.mark.parametrize("pairable", [False, True])
def test_files(pairable: bool, tmp_path: Path) -> None:
    data = {"id": list(range(7)), "tags": SETS}
    counts = biasamp.count(
        data, identities={"A": ["a", "aa"], "B": ["b"]}, label="tags", record="id", pairable=pairable
    )
    counts.save(tmp_path / "c.parquet", about={"asked": 1})
    back = AssociationCounts.load(tmp_path / "c.parquet")
    check(back, SETS)
    for name in ("labels", "names", "identities", "members", "n", "sources", "known"):
        assert getattr(back, name) == getattr(counts, name)
    assert (back.bags is None) is (not pairable)
    if pairable:
        assert back.bags is not None
        for part in ("sizes", "keys", "values"):
            assert getattr(back.bags, part).tolist() == getattr(counts.bags, part).tolist()
    from biasamp.counts.storage import read_arrays, write_arrays

    header, arrays = read_arrays(tmp_path / "c.parquet")
    assert header["result"] == {"asked": 1}
    plain = {name: held for name, held in header.items() if name not in ("schema", "known")}
    write_arrays(tmp_path / "d.parquet", plain, arrays)
    assert AssociationCounts.load(tmp_path / "d.parquet").known is None
    del plain["n"]
    write_arrays(tmp_path / "d.parquet", plain, arrays)
    with pytest.raises(ValueError, match=r"d\.parquet is damaged: it does not hold what counts consist of \('n'\)"):
        AssociationCounts.load(tmp_path / "d.parquet")
    write_arrays(tmp_path / "d.parquet", {**plain, "kind": "audit"}, arrays)
    with pytest.raises(ValueError, match=r"d\.parquet holds counts of another kind \('audit'\), not of associations"):
        AssociationCounts.load(tmp_path / "d.parquet")
    with pytest.raises(TypeError, match="about"):
        counts.save(tmp_path / "e.parquet", about=3)


@pytest.mark.parametrize("rare", [False, True])
@pytest.mark.parametrize("bagged", [False, True])
def test_counts_of_patterns(rare: bool, bagged: bool) -> None:
    """From a table of labels and patterns, of which some may be cells."""
    labels = ("a", "aa", "b", "x", "y", *(BAG_LABELS if bagged else ()))
    rng = np.random.default_rng(0)
    bags = rng.integers(0, BAGS, len(SETS))
    of_set = [sum(1 << k for k, group in enumerate(MEMBERS) if set(group) & set(held)) for held in SETS]
    full = [mask | (int(bag) << BAG_SHIFT if bagged else 0) for mask, bag in zip(of_set, bags, strict=True)]
    masks = sorted(set(full))
    held = [[*one, *([BAG_LABELS[bag]] if bagged else [])] for one, bag in zip(SETS, bags, strict=True)]
    table = np.zeros((len(labels), len(masks)), dtype=np.int64)
    for one, mask in zip(held, full, strict=True):
        for label in one:
            table[labels.index(label), masks.index(mask)] += 1
    records = np.array([full.count(mask) for mask in masks])
    cells = None
    if rare:
        half = len(masks) // 2
        own, pattern = np.nonzero(table[:, half:])
        cells = (pattern + half, own, table[:, half:][own, pattern])
        table = table[:, :half]
    counts = from_patterns(labels, ["A", "B"], MEMBERS, np.array(masks), records, table, cells, bagged)
    check(counts, SETS)
    assert counts.labels == ("a", "aa", "b", "x", "y")
    assert (counts.bags is not None) is bagged
    if counts.bags is not None:
        sizes = np.zeros((BAGS, 3), dtype=int)
        expected: dict[tuple[str, int, int], int] = {}
        for one, mask, bag in zip(SETS, of_set, bags.tolist(), strict=True):
            parts = [0, *(1 + k for k in range(2) if mask >> k & 1)]
            sizes[bag, parts] += 1
            for label in one:
                for part in parts:
                    expected[label, bag, part] = expected.get((label, bag, part), 0) + 1
        assert counts.bags.sizes.tolist() == sizes.tolist()
        label, bag, part = (side.tolist() for side in counts.bags.cells)
        names = [counts.labels[place] for place in label]
        assert dict(zip(zip(names, bag, part, strict=True), counts.bags.values.tolist(), strict=True)) == expected


def test_counts_of_pairs() -> None:
    """From tables of some labels, and cells of identities and pairs for the others."""
    labels = ("a", "aa", "b", "x", "y")
    expected = by_hand(SETS, labels)
    joint = np.array(expected["joint"])
    rows = np.array([1, -1, 0, -1, 2])
    columns = pair_columns(2)
    single, table = np.zeros((3, 2), dtype=np.int32), np.zeros((3, 1), dtype=np.uint16)
    more: list[tuple[int, int, int]] = []
    for label, row in enumerate(rows.tolist()):
        if row >= 0:
            single[row], table[row, 0] = np.diagonal(joint[label]), joint[label, 0, 1]
            continue
        cells = [(0, joint[label, 0, 0]), (1, joint[label, 1, 1]), (int(columns[0, 1]), joint[label, 0, 1])]
        more += [(column, label, int(value)) for column, value in cells if value]
    shared = SharedTable(2, table, rows, int(table.max()))
    column, label, value = (np.array(side) for side in zip(*more, strict=True))
    overlap = np.triu(np.array(expected["overlap"]))
    counts = from_pairs(
        labels, MEMBERS, 7, np.array(expected["count"]), overlap, single, shared, (column, label, value)
    )
    check(counts, SETS)
    assert counts.members == MEMBERS
    assert counts.identities == ("0", "1")
    none = np.zeros(0, dtype=np.int64)
    alone = from_pairs(labels, MEMBERS, 7, np.array(expected["count"]), overlap, single, shared, (none, none, none))
    assert alone.shared is shared
    assert alone.identity_joint[1].tolist() == [0, 0]
