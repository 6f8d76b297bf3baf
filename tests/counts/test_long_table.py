"""Counts of long tables against sets of Python objects, in every order, batching and kernel."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from biasamp.counts import ContingencyTable, long_table, shared_counts
from biasamp.counts.association_counts import AssociationCounts
from biasamp.counts.kernels import long_tally
from biasamp.counts.kernels.long_tally import numba_installed, repeated
from biasamp.counts.long_columns import TABLE, LabelCodes, Unordered, _text_changes, keys_of
from biasamp.counts.long_part import Scattered
from biasamp.counts.long_table import LongCounter
from biasamp.counts.scattered_table import ScatteredCounter
from biasamp.counts.shared_counts import SharedCounts
from biasamp.data import label_set, read_columns
from biasamp.data.keys import mix, record_keys
from saved_counts import save

KERNELS = ["numpy", *(["numba"] if numba_installed() else [])]
MEMBERS = [["a", "aa"], ["b"], ["c"]]
NAMES = ["A", "B", "C"]


def slow(rows, threshold=None):
    """C(y), C(x1,x2), C(x1,x2,y) and n from one set of labels a record."""
    sets: dict[object, set[str]] = {}
    for record, label in rows:
        held = sets.setdefault(record, set())
        if label is not None:
            held.add(label)
    has = lambda held, group: any(label in held for label in group)
    labels = sorted({label for held in sets.values() for label in held})
    count = [sum(y in held for held in sets.values()) for y in labels]
    overlap = [[sum(has(h, g) and has(h, k) for h in sets.values()) for k in MEMBERS] for g in MEMBERS]
    joint = [
        [[sum(y in h and has(h, g) and has(h, k) for h in sets.values()) for k in MEMBERS] for g in MEMBERS]
        for y in labels
    ]
    return labels, len(sets), count, overlap, joint


def check(counts: AssociationCounts, rows):
    labels, n, count, overlap, joint = slow(rows)
    assert counts.n == n
    assert list(counts.labels) == labels
    assert counts.count.tolist() == count
    assert counts.overlap.tolist() == overlap
    assert counts.joint.tolist() == joint


def join(parts, identities, members):
    """Parts put together in the order given; a record in parts that are no neighbours is found out."""
    numbered = [
        replace(part, edges=tuple(replace(edge, start=number, stop=number + 1) for edge in part.edges))
        for number, part in enumerate(part for part in parts if part.runs)
    ]
    return reduce(add, numbered).finished(identities, members)


def batches(rows, edges):
    cuts = [0, *sorted(edge % (len(rows) + 1) for edge in edges), len(rows)]
    return [rows[a:b] for a, b in pairwise(cuts)]


def arrays(rows, text=True):
    record = pa.array([f"r{r:03d}" if text else r for r, _ in rows], type=pa.string() if text else pa.int64())
    return record, pa.array([y for _, y in rows], type=pa.string())


a_row = st.tuples(st.integers(0, 9), st.sampled_from(["a", "aa", "b", "c", "d", "e", "f", None]))


@pytest.mark.parametrize("kernel", KERNELS)
@settings(deadline=None)
@given(
    rows=st.lists(a_row, min_size=1, max_size=40), edges=st.lists(st.integers(0, 40), max_size=4), text=st.booleans()
)
def test_sorted_rows_in_any_batches(kernel, rows, edges, text):
    rows = sorted(rows, key=lambda row: row[0])
    counter = LongCounter(MEMBERS, kernel=kernel)
    for part in batches(rows, edges):
        counter.add(*arrays(part, text))
    part = counter.part()
    check(join([part], NAMES, MEMBERS), rows)
    named = [row for row in rows if row[1] is not None]
    assert part.duplicates == len(named) - len(set(named))


@pytest.mark.parametrize("kernel", KERNELS)
@settings(deadline=None)
@given(rows=st.lists(a_row, min_size=1, max_size=40), edges=st.lists(st.integers(0, 40), max_size=4))
def test_parts_counted_apart_join_to_the_whole(kernel, rows, edges):
    rows = sorted(rows, key=lambda row: row[0])
    parts = []
    for piece in batches(rows, edges):
        counter = LongCounter(MEMBERS, kernel=kernel)
        counter.add(*arrays(piece))
        parts.append(counter.part())
    check(join(parts, NAMES, MEMBERS), rows)


@settings(deadline=None)
@given(
    rows=st.lists(a_row, min_size=1, max_size=40), edges=st.lists(st.integers(0, 40), max_size=4), text=st.booleans()
)
def test_rows_in_any_order(rows, edges, text):
    counter = ScatteredCounter(MEMBERS)
    for part in batches(rows, edges):
        counter.add(*arrays(part, text))
    check(join([counter.part()], NAMES, MEMBERS), rows)


def test_grouped_rows_need_keys_and_scattered_rows_are_found_out():
    grouped = [(5, "a"), (5, "d"), (1, "b"), (1, "d"), (3, "c")]
    with pytest.raises(Unordered):
        LongCounter(MEMBERS).add(*arrays(grouped))
    counter = LongCounter(MEMBERS, keep_keys=True)
    for row in grouped:
        counter.add(*arrays([row]))
    check(join([counter.part()], NAMES, MEMBERS), grouped)
    counter = LongCounter(MEMBERS, keep_keys=True)
    counter.add(*arrays([*grouped, (5, "e")]))
    with pytest.raises(Scattered):
        counter.part()


def test_parts_in_another_order_join_when_their_records_are_apart():
    pieces = [[(4, "a"), (5, "d")], [(1, "b"), (2, "d")]]
    parts = []
    for piece in pieces:
        counter = LongCounter(MEMBERS)
        counter.add(*arrays(piece))
        parts.append(counter.part())
    check(join(parts, NAMES, MEMBERS), [*pieces[0], *pieces[1]])
    counter = LongCounter(MEMBERS)
    counter.add(*arrays([(0, "a"), (4, "d")]))
    with pytest.raises(Scattered):
        join([*parts, counter.part()], NAMES, MEMBERS)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("kernel", KERNELS)
def test_large_batches_cross_slices_and_many_patterns(kernel):
    rng = np.random.default_rng(1)
    members = [[str(k)] for k in range(10)]
    record = np.sort(rng.integers(0, 30_000, 200_000))
    label = rng.integers(0, 500, 200_000)
    counter = LongCounter(members, kernel=kernel)
    for start in range(0, len(record), 90_000):
        counter.add(pa.array(record[start : start + 90_000]), pa.array(label[start : start + 90_000]))
    part = counter.part()
    counts = join([part], [str(k) for k in range(10)], members)
    matrix = np.zeros((30_000, 500), dtype=np.int64)
    matrix[record, label] = 1
    order = [int(y) for y in counts.labels]
    assert counts.n == len(np.unique(record))
    assert counts.count.tolist() == matrix.sum(axis=0)[order].tolist()
    held = matrix[:, :10]
    assert counts.overlap.tolist() == (held.T @ held).tolist()
    together = (held[:, :, None] * held[:, None, :]).reshape(len(held), -1).astype(np.float32)
    expected = (matrix.T.astype(np.float32) @ together).reshape(500, 10, 10)[order]
    assert (counts.joint == expected).all()
    assert part.duplicates == len(record) - matrix.sum()


@given(
    rows=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 6)), max_size=60),
    together=st.sampled_from([1, 7, 1 << 15]),
)
def test_repeated_rows_are_found(rows, together):
    rows = sorted(rows, key=lambda row: row[0])
    run = np.array([r for r, _ in rows], dtype=np.int64)
    label = np.array([y for _, y in rows], dtype=np.int32)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(long_tally, "_HASHED", together)
        found = repeated(run, label, 7)
    kept = rows if found is None else [row for row, again in zip(rows, found, strict=True) if not again]
    assert len(kept) == len(set(rows))
    assert set(kept) == set(rows)


def test_threshold_for_all_and_per_label():
    record = pa.array([1, 1, 2, 2, 3])
    label = pa.array(["a", "d", "b", "d", "d"])
    score = pa.array([0.9, 0.4, 0.5, None, 0.6])
    for threshold, kept in [
        (0.5, [(1, "a"), (1, None), (2, "b"), (2, None), (3, "d")]),
        ({"d": 0.3}, [(1, "a"), (1, "d"), (2, "b"), (2, None), (3, "d")]),
    ]:
        counter = LongCounter(MEMBERS, threshold=threshold)
        counter.add(record, label, score)
        check(join([counter.part()], NAMES, MEMBERS), kept)


def test_dictionaries_that_change_between_batches():
    counter = LongCounter(MEMBERS)
    counter.add(pa.array([1, 1]), pa.array(["a", "d"]).dictionary_encode())
    counter.add(pa.array([1, 2]), pa.array(["e", "d"]).dictionary_encode())
    check(join([counter.part()], NAMES, MEMBERS), [(1, "a"), (1, "d"), (1, "e"), (2, "d")])


def test_counts_add_up_and_survive_a_file(tmp_path):
    halves = [[(1, "a"), (1, "d"), (2, "b")], [(3, "e"), (3, "a"), (4, "d\n\u2603" * 2000)]]
    counts = []
    for rows in halves:
        counter = LongCounter(MEMBERS)
        counter.add(*arrays(rows))
        counts.append(join([counter.part()], NAMES, MEMBERS))
    whole = counts[0] + counts[1]
    check(whole.sorted(), [*halves[0], *halves[1]])
    whole.save(tmp_path / "counts.parquet")
    back = AssociationCounts.load(tmp_path / "counts.parquet")
    check(back.sorted(), [*halves[0], *halves[1]])
    assert (back.identities, back.members) == (whole.identities, whole.members)
    with pytest.raises(ValueError, match="different identities"):
        _ = whole + AssociationCounts(
            ("a",),
            ("a",),
            ("A",),
            (("a",),),
            1,
            *(np.ones(shape, int) for shape in (1, (1, 1), (1, 1))),
            SharedCounts.none(1),
        )


def test_other_files_are_no_counts(tmp_path):
    (tmp_path / "text.parquet").write_text("hello")
    with pytest.raises(ValueError, match=r"text\.parquet is not a file of counts"):
        AssociationCounts.load(tmp_path / "text.parquet")
    pq.write_table(pa.table({"n": [1]}), tmp_path / "other.parquet")
    with pytest.raises(ValueError, match=r"other\.parquet is a Parquet file, but not one of counts"):
        AssociationCounts.load(tmp_path / "other.parquet")
    table = ContingencyTable.from_labels({"g": label_set(read_columns([0, 1], "g"), "g")})
    save(table, tmp_path / "table.parquet")
    with pytest.raises(ValueError, match="another kind"):
        AssociationCounts.load(tmp_path / "table.parquet")


def test_null_records_and_too_many_identities_are_refused():
    with pytest.raises(ValueError, match="record column has 1 empty"):
        LongCounter(MEMBERS).add(pa.array([1, None]), pa.array(["a", "b"]))
    with pytest.raises(ValueError, match="1 to 63"):
        LongCounter([[str(k)] for k in range(64)])


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("cuts", [(), (70_000,), (1, 2, 50_000)])
def test_sixty_three_identities_in_thousands_of_patterns(kernel, cuts):
    """Against products of a matrix; most patterns have no column of the table."""
    rng = np.random.default_rng(2)
    many, labels, records = 63, 300, 12_000
    record = np.sort(rng.integers(0, records, 100_000))
    label = np.minimum(rng.geometric(0.02, len(record)) - 1, labels - 1)
    members = [[str(k)] for k in range(many)]
    parts = []
    for start, stop in pairwise([0, *cuts, len(record)]):
        counter = LongCounter(members, kernel=kernel)
        counter.add(pa.array(record[start:stop]), pa.array(label[start:stop]))
        parts.append(counter.part())
    counts = join(parts, [f"x{k}" for k in range(many)], members)
    matrix = np.zeros((records, labels), dtype=np.float64)
    matrix[record, label] = 1
    order = [int(y) for y in counts.labels]
    held = matrix[:, :many]
    assert len(np.unique(held, axis=0)) > 2000
    assert counts.identity_joint.tolist() == (matrix.T @ held)[order].tolist()
    assert counts.overlap.tolist() == (held.T @ held).tolist()
    for first, second in ((0, 1), (7, 3), (40, 62), (5, 5)):
        assert counts.both(first, second).tolist() == (matrix.T @ (held[:, first] * held[:, second]))[order].tolist()
    summed = (held.sum(axis=1) * (held.sum(axis=1) - 1) / 2) @ matrix
    assert counts.shared.values.sum() == summed.sum()


def test_many_identities_of_many_labels_stay_small(tmp_path):
    """50 identities and 20,000 labels: a table of all three would take 400 MB."""
    rng = np.random.default_rng(3)
    rows = 400_000
    record = np.sort(rng.integers(0, 50_000, rows))
    label = np.concatenate([rng.integers(50, 20_000, rows - 60_000), rng.integers(0, 50, 60_000)])[
        rng.permutation(rows)
    ]
    members = [[str(k)] for k in range(50)]
    counter = LongCounter(members)
    counter.add(pa.array(record), pa.array(label))
    counts = join([counter.part()], [f"x{k}" for k in range(50)], members)
    held = sum(
        array.nbytes for array in (counts.count, counts.identity_joint, counts.shared.keys, counts.shared.values)
    )
    assert held < 30e6
    assert counts.overlapping
    counts.save(tmp_path / "c.parquet")
    assert (tmp_path / "c.parquet").stat().st_size < 10e6
    back = AssociationCounts.load(tmp_path / "c.parquet")
    assert (back.both(1, 2) == counts.both(1, 2)).all()


@given(st.lists(st.text(max_size=30), min_size=1, max_size=20), st.integers(0, 3))
def test_keys_of_texts_are_the_same_with_and_without_numba(texts, skipped):
    column = pa.array(["skipped"] * skipped + texts)[skipped:]
    plain = [int(mix(record_keys([text]))[0]) for text in texts]
    assert keys_of(column).tolist() == plain
    assert keys_of(column.dictionary_encode()).tolist() == plain


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("labels", ["numbers", "text"])
@pytest.mark.parametrize("shared_bytes", [0, 4 * 36 * 20])
@pytest.mark.parametrize("many", [1, 2, 6, 8])
def test_parts_counted_together_equal_a_count_by_hand(kernel, labels, shared_bytes, many):
    """Rows that repeat, records that go on in the next part, labels beyond the table, few identities and many."""
    rng = np.random.default_rng(many)
    rows = 3000
    record = np.sort(rng.integers(0, 400, rows))
    label = np.minimum(rng.geometric(0.08, rows), 90)
    spelled = [str(x) for x in label] if labels == "text" else label
    members = [[str(k + 1)] if k else ["1", "70"] for k in range(many)]
    counter = LongCounter(members, kernel=kernel, shared_bytes=shared_bytes)
    for number, (start, stop) in enumerate(pairwise([0, 5, 900, 901, 2500, rows])):
        for at in range(start, stop, 400):
            end = min(at + 400, stop)
            counter.add(pa.array(record[at:end]), pa.array(spelled[at:end]))
        counter.end(number)
    part = counter.counted()
    counts = part.finished([f"x{k}" for k in range(many)], members)
    sets = {}
    for r, y in zip(record.tolist(), label.tolist(), strict=True):
        sets.setdefault(r, set()).add(str(y))
    assert part.duplicates == rows - sum(map(len, sets.values()))
    assert counts.n == len(sets)
    for i, y in enumerate(counts.labels):
        mine = [s for s in sets.values() if y in s]
        has = np.array([[bool(s & set(group)) for group in members] for s in mine], dtype=int)
        assert counts.count[i] == len(mine)
        assert counts.identity_joint[i].tolist() == has.sum(axis=0).tolist()
        assert counts.joint[i].tolist() == (has.T @ has).tolist()
    everyone = np.array([[bool(s & set(group)) for group in members] for s in sets.values()], dtype=int)
    assert counts.overlap.tolist() == (everyone.T @ everyone).tolist()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("at_once", [7, 1 << 17])
def test_numbers_that_are_no_table_go_the_longer_way_in_the_middle_of_a_part(kernel, at_once, monkeypatch):
    monkeypatch.setattr(long_table, "_ROWS", at_once)
    record = np.repeat(np.arange(60), 5)
    label = np.tile(np.arange(5), 60)
    label[150], label[152] = -3, 1 << 40
    counter = LongCounter([["0"], ["1"]], kernel=kernel)
    counter.add(pa.array(record[:100]), pa.array(label[:100]))
    counter.add(pa.array(record[100:]), pa.array(label[100:]))
    counts = counter.part().finished(["a", "b"], [["0"], ["1"]])
    assert counts.n == 60
    held = dict(zip(counts.labels, counts.count.tolist(), strict=True))
    assert held == {"0": 59, "1": 60, "2": 59, "3": 60, "4": 60, "-3": 1, str(1 << 40): 1}


def test_reserved_labels_are_whole_numbers_only_as_these_are_spelled():
    codes = LabelCodes(["7", "07", "٣", "a", str(TABLE)])
    assert codes.whole_numbers == {7: 0}
    numbers = np.array([3, 7, 12])
    assert [codes.labels[code] for code in codes.encode(pa.array(numbers))] == ["3", "7", "12"]
    assert codes.encode(pa.array(["7", "07", "3"])).tolist() == [0, 1, codes.places["3"]]
    # What came as text first has its code as a number too.
    assert codes.encode(pa.array(["40"])).tolist() == codes.encode(pa.array([40])).tolist()
    assert len(codes) == len(set(codes.labels))


def test_the_order_of_keys_is_right_where_their_low_bits_agree():
    from biasamp.counts.scattered_table import grouped

    rng = np.random.default_rng(0)
    few = rng.integers(0, 3, 500).astype(np.uint64)
    keys = (few << np.uint64(60)) | rng.integers(0, 4, 500).astype(np.uint64)
    codes = np.arange(500, dtype=np.int32)
    for compiled in (False, *([True] if numba_installed() else [])):
        starts, order, heads = grouped(keys, codes, compiled)
        groups = np.split(order, np.flatnonzero(starts)[1:])
        assert sorted(map(sorted, groups)) == sorted(sorted(np.flatnonzero(keys == key)) for key in np.unique(keys))
        assert [int(keys[group[0]]) for group in groups] == heads.tolist()


def _by_hand(record, label, identities):
    """C(y), C(x1, x2) and C(x1, x2, y) where the identities are the first labels, by a matrix of records and labels."""
    matrix = np.zeros((record.max() + 1, label.max() + 1))
    matrix[record, label] = 1
    held = matrix[:, :identities]
    return (
        matrix.sum(axis=0),
        held.T @ held,
        np.einsum("ry,rp->yp", matrix, (held[:, :, None] * held[:, None, :]).reshape(len(held), -1)),
    )


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("text", [False, True])
@pytest.mark.parametrize("shared_bytes", [0, 1 << 14, 100])
def test_rows_of_many_identities_are_kept_and_counted_several_times(kernel, text, shared_bytes):
    rng = np.random.default_rng(3)
    record, label = np.sort(rng.integers(0, 400, 12_000)), rng.zipf(1.3, 12_000).clip(1, 300) - 1
    members = [[str(k)] for k in range(12)]
    counter = LongCounter(members, kernel=kernel, shared_bytes=shared_bytes)
    # The labels of the first batch are few, so that there must be room for more later.
    for rows in (slice(0, 1000), slice(1000, 4000), slice(4000, None)):
        shown = label[rows] if rows.start else label[rows] % 40
        label[rows] = shown
        counter.add(pa.array(record[rows]), pa.array(shown.astype(str) if text else shown))
        if kernel == "numba" and rows.start == 1000:
            # So few blocks that the third batch fills them more than once.
            kept = counter.tally._room.kept
            counter.tally._settle_pairs()
            few = kept._replace(links=kept.links[: 2 * len(kept.heads) + 12])
            counter.tally._room = counter.tally._room._replace(kept=few)
    counts = join([counter.part()], [str(k) for k in range(12)], members)
    count, overlap, joint = _by_hand(record, label, 12)
    order = [int(y) for y in counts.labels]
    assert (counts.count == count[order]).all()
    assert (counts.overlap == overlap).all()
    assert (counts.joint.reshape(len(order), -1) == joint[order]).all()


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("kept_bytes", [0, 1 << 26])
def test_cells_that_are_asked_for_late_are_those_of_when_the_counts_were_made(kernel, kept_bytes, monkeypatch):
    monkeypatch.setattr(shared_counts, "_KEPT_BYTES", kept_bytes)
    rng = np.random.default_rng(5)
    record, label = np.sort(rng.integers(0, 300, 4000)), rng.integers(0, 40, 4000)
    members, codes, parts = [[str(k)] for k in range(9)], None, []
    # The middle of a record, which the first part has in its first and last rows alone.
    for number, rows in enumerate((slice(0, 2001), slice(2001, 4000))):
        counter = LongCounter(members, kernel=kernel, codes=codes)
        codes = counter.codes
        counter.add(pa.array(record[rows]), pa.array(label[rows]))
        parts.append(counter.part(number))
    names = [str(k) for k in range(9)]
    first, again = (parts[0].finished(names, members) for _ in range(2))
    both = parts[0]
    both += parts[1]
    whole = both.finished(names, members)
    with ThreadPoolExecutor(4) as pool:
        late = list(pool.map(lambda counts: counts.joint.tolist(), [first] * 4 + [whole] * 4 + [again]))
    for counts, stop, seen in ((first, 2001, late[:4] + late[8:]), (whole, 4000, late[4:8])):
        count, overlap, joint = _by_hand(record[:stop], label[:stop], 9)
        order = [int(y) for y in counts.labels]
        assert (counts.count == count[order]).all()
        assert (counts.overlap == overlap).all()
        assert all(one == joint[order].reshape(-1, 9, 9).tolist() for one in seen)
        assert (pickle.loads(pickle.dumps(counts)).joint == counts.joint).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_pairs_in_more_records_than_small_numbers_hold(kernel):
    many, members = 70_000, [[str(k)] for k in range(7)]
    parts = []
    for start in (0, many):
        counter = LongCounter(members, kernel=kernel)
        record = np.repeat(np.arange(start, start + many), 3)
        counter.add(pa.array(record), pa.array(np.tile([0, 1, 9], many)))
        parts.append(counter.part())
    alone = [join([part], list("abcdefg"), members) for part in parts]
    whole = join(parts, list("abcdefg"), members)
    for counts, records in ((alone[0], many), (alone[1], many), (whole, 2 * many)):
        assert counts.both(0, 1).tolist() == [records] * 3
        assert counts.overlap[:2, :2].tolist() == [[records] * 2] * 2


@pytest.mark.parametrize("kernel", KERNELS)
def test_adding_leaves_its_parts_as_they_are_and_adding_to_one_gives_the_same(kernel):
    rng = np.random.default_rng(5)
    members, names = [[str(k)] for k in range(9)], list("abcdefghi")
    parts = []
    for number in range(2):
        counter = LongCounter(members, kernel=kernel)
        record = np.sort(rng.integers(0, 50, 600)) + 50 * number
        counter.add(pa.array(record), pa.array(rng.integers(0, 30, 600)))
        parts.append(counter.part(number))
    first, second = ((parts[0] + parts[1]).finished(names, members) for _ in range(2))
    total = parts[0]
    total += parts[1]
    for counts in (second, total.finished(names, members)):
        assert (counts.joint == first.joint).all()
        assert (counts.count == first.count).all()


def test_where_a_column_of_text_names_another_record():
    """By its values, whether they are stored as text or as codes."""
    column = pa.array(["a", "a", "b", "a", "a", "c"])
    for stored in (column, column.dictionary_encode()):
        assert _text_changes(stored).tolist() == [False, True, True, False, True]
