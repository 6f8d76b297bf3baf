"""Each option of counting labels, every note and every refusal, on data that stand here."""

from __future__ import annotations

import logging
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import biasamp
from biasamp.association import label_counting
from biasamp.association.label_counting import (
    CountLabels,
    CountSpread,
    Reading,
    SpreadLabels,
    WholeSource,
    add_whole,
    count_source,
    identity_members,
)
from biasamp.counts.label_counter import Pairing, label_codes
from biasamp.counts.long_columns import LabelCodes
from biasamp.counts.long_table import LongCounter
from biasamp.data.label_source import Batch, LabelSource, label_source
from biasamp.engines.local import LocalEngine

MEMBERS = [("a", "b"), ("c",)]
ROWS = [
    (1, "a", 0.9),
    (1, "y", 0.4),
    (2, "b", 0.8),
    (2, "z", 0.7),
    (3, "c", 0.2),
    (3, "y", 0.9),
    (4, "y", 0.1),
    (5, "a", 0.6),
]


class Few:
    """A part of rows, which says how many rows it was asked for at a time."""

    def __init__(
        self, rows: list[tuple[Any, str, float]], number: int = 0, whole: bool = False, score: bool = True
    ) -> None:
        self.held, self.number, self.name, self.whole_numbers = rows, number, f"part {number}", whole
        self.score, self.asked, self.rows = score, list[int](), len(rows)

    def batches(self, rows: int) -> Any:
        self.asked.append(rows)
        for start in range(0, len(self.held), rows):
            record, label, score = zip(*self.held[start : start + rows], strict=True)
            yield Batch(pa.array(record), pa.array(label), pa.array(score) if self.score else None)


def source_of(rows: Any = ROWS, **options: Any) -> LabelSource:
    record, label, score = zip(*rows, strict=True)
    table = pa.table({"id": pa.array(record), "tag": pa.array(label), "p": score})
    options = {"record": "id", "label": "tag", **options}
    return label_source(table, **options)


def joint_of(counts: Any) -> dict[str, tuple[int, ...]]:
    return {
        label: (int(count), *joint)
        for label, count, joint in zip(counts.labels, counts.count, counts.identity_joint.tolist(), strict=True)
    }


EXPECTED = {"a": (2, 2, 0), "b": (1, 1, 0), "c": (1, 0, 1), "y": (3, 1, 1), "z": (1, 1, 0)}
# Of the rows that score .5 or more; record 4 has no label left.
HIGH = {"a": (2, 2, 0), "b": (1, 1, 0), "y": (1, 0, 0), "z": (1, 1, 0)}


def test_rows_are_asked_for_so_many_at_a_time() -> None:
    for whole, asked in ((False, 3), (True, 24)):
        part = Few(ROWS, whole=whole)
        counted = CountLabels("long", MEMBERS, None, "numpy", 3)(part)
        assert part.asked == [asked]
        assert joint_of(counted.finished(["x", "c"], MEMBERS)) == EXPECTED


def test_each_batch_that_is_counted_is_said(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="biasamp.engines"):
        CountLabels("long", MEMBERS, None, "numpy", 3)(Few(ROWS))
    said = [f"part 0: a batch of {rows} rows counted" for rows in (3, 3, 2)]
    assert [record.getMessage() for record in caplog.records] == said
    caplog.clear()
    with caplog.at_level(logging.INFO, logger="biasamp.engines"):
        list(SpreadLabels(None, 5)(Few(ROWS)))
    assert [record.getMessage() for record in caplog.records] == [
        f"part 0: a batch of {rows} rows counted" for rows in (5, 3)
    ]


@pytest.mark.parametrize("most", [0, 1, 2, 3, 4, 1000])
def test_counts_are_taken_before_there_are_too_many(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(label_counting, "_MOST_ROWS", most)
    parts = [Few(ROWS[:2], 0), Few(ROWS[2:4], 1), Few(ROWS[4:], 2)]
    kernel = CountLabels("long", MEMBERS, None, "numpy", 100)
    made: list[Any] = []
    monkeypatch.setattr(
        CountLabels, "_counter", lambda self, make=CountLabels._counter: made.append(make(self)) or made[-1]
    )
    (part,) = kernel.together(parts)
    assert joint_of(part.finished(["x", "c"], MEMBERS)) == EXPECTED
    assert part.rows == 8
    # Counts are taken where more rows than that were met.
    assert len(made) == {0: 3, 1: 3, 2: 2, 3: 2, 4: 1, 1000: 1}[most]
    assert all(counter.codes is made[0].codes for counter in made)


def test_no_parts_have_no_counts() -> None:
    assert CountLabels("long", MEMBERS, None, "numpy", 3).together([]) == []


def test_a_kernel_travels_with_all_that_it_says() -> None:
    kernel = CountLabels("long", MEMBERS, {"y": 0.5}, "numpy", 7, True, Pairing(True, True), 4096)
    kernel(Few(ROWS))
    again = pickle.loads(pickle.dumps(kernel))
    assert again == kernel
    assert (again.shape, again.threshold, again.kernel, again.rows) == ("long", {"y": 0.5}, "numpy", 7)
    assert (again.keep_keys, again.pairing, again.shared_bytes) == (True, Pairing(True, True), 4096)
    assert kernel.known
    assert not again.known
    usual = CountLabels("wide", MEMBERS, None, "numba", 5)
    assert (usual.keep_keys, usual.pairing, usual.shared_bytes) == (False, Pairing(False, False), 0)
    spread = CountSpread(MEMBERS, 0.5, "numpy")
    assert (spread.pairing, spread.shared_bytes, spread.codes) == (Pairing(False, False), 0, None)
    assert (SpreadLabels(None, 5).kernel, SpreadLabels(None, 5).codes) == ("auto", None)


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("threshold", [None, 0.5, {"a": 0.65, "c": 0.1}])
def test_rows_that_are_spread_are_gathered_by_record(coded: bool, threshold: Any) -> None:
    """Two parts, of which each has some rows of every record, are brought together by key."""
    parts = [Few(ROWS[::2], 0), Few(ROWS[1::2], 1)]
    codes = label_codes(MEMBERS, Pairing(False, False), "numpy") if coded else None
    batches = [batch for part in parts for batch in SpreadLabels(threshold, 3, "numpy", codes)(part)]
    names = ["key", "label"] if threshold is None else ["key", "label", "score"]
    assert all(batch.schema.names == names for batch in batches)
    assert all(batch.column(0).type == pa.int64() for batch in batches)
    gather = CountSpread(MEMBERS, threshold, "numpy", Pairing(False, False), 0, codes)
    counted = gather(batches).finished(["x", "c"], MEMBERS)
    direct = CountLabels("long", MEMBERS, threshold, "numpy", 99)(Few(ROWS)).finished(["x", "c"], MEMBERS)
    assert joint_of(counted) == joint_of(direct)
    assert counted.n == direct.n == 5
    if threshold is None:
        assert joint_of(counted) == EXPECTED


def test_labels_with_codes_of_a_batch_alone_are_spread_as_text() -> None:
    class Coded(Few):
        def batches(self, rows: int) -> Any:
            for batch in super().batches(rows):
                yield batch._replace(label=batch.label.dictionary_encode())

    batches = list(SpreadLabels(None, 4, "numpy")(Coded(ROWS)))
    assert all(batch.column(1).type == pa.string() for batch in batches)
    assert joint_of(CountSpread(MEMBERS, None, "numpy")(batches).finished(["x", "c"], MEMBERS)) == EXPECTED


def test_several_groups_of_records_are_counted_together() -> None:
    groups = [list(SpreadLabels(None, 9, "numpy")(Few(rows))) for rows in (ROWS[:4], ROWS[4:])]
    (part,) = CountSpread(MEMBERS, None, "numpy").together(groups)
    assert joint_of(part.finished(["x", "c"], MEMBERS)) == EXPECTED


def test_thresholds_need_scores() -> None:
    said = "threshold= needs score=: name the column that holds the scores"
    bare = Few(ROWS, score=False)
    with pytest.raises(ValueError, match=said):
        CountLabels("long", MEMBERS, 0.5, "numpy", 9)(bare)
    with pytest.raises(ValueError, match=said):
        list(SpreadLabels(0.5, 9)(bare))
    assert list(SpreadLabels(None, 9)(bare))
    counter = LongCounter(MEMBERS, kernel="numpy")
    lists = pa.array([["a", "y"], ["c"]])
    with pytest.raises(ValueError, match="threshold= needs score=: lists of labels carry no scores"):
        add_whole(counter, Batch(None, lists, None), "lists", 0.5)
    with pytest.raises(ValueError, match="score= is not read with lists of labels without record="):
        add_whole(counter, Batch(None, lists, pa.array([1.0, 2.0])), "lists", None)


def test_whole_records_are_counted_as_lists_and_as_columns() -> None:
    lists = LongCounter(MEMBERS, kernel="numpy")
    add_whole(lists, Batch(None, pa.array([["a", "y"], ["y"], [], ["c", "a"]]), None), "lists", None)
    wide = LongCounter(MEMBERS, kernel="numpy")
    columns = {"a": [1, 0, 0, 1], "c": [0, 0, 0, 1], "y": [1, 1, 0, 0]}
    add_whole(wide, Batch(None, pa.record_batch(columns), None), "wide", None)
    scored = LongCounter(MEMBERS, kernel="numpy")
    matrix = np.array([[0.9, 0.1, 0.5], [0.0, 0.2, 0.6], [0.1, 0.1, 0.1], [0.5, 0.8, 0.4]])
    add_whole(scored, Batch(None, (["a", "c", "y"], matrix), None), "wide", 0.5)
    for counter in (lists, wide, scored):
        found = counter.part(0).finished(["x", "c"], MEMBERS)
        assert found.n == 4
        assert joint_of(found) == {"a": (2, 2, 1), "c": (1, 1, 1), "y": (2, 1, 0)}


def test_a_source_that_is_read_here_is_one_part() -> None:
    part = WholeSource("here", lambda: iter([1, 2, 3]))
    assert (part.name, part.number, part.rows) == ("here", 0, None)
    assert list(part.batches(1)) == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "names", "members"),
    [
        (["a", "b"], ("a", "b"), (("a",), ("b",))),
        ({"x": "a", "y": ["b", "c", "b"]}, ("x", "y"), (("a",), ("b", "c"))),
        ({1: 5, "y": [7]}, ("1", "y"), (("5",), ("7",))),
        ([1, 2], ("1", "2"), (("1",), ("2",))),
        # By the name, where one label alone has it; a key goes before a name.
        (["Ant", "Bee"], ("Ant", "Bee"), (("/m/1",), ("/m/2",))),
        (["/m/3", "Cat"], ("/m/3", "Cat"), (("/m/3",), ("/m/3",))),
        (["/m/4"], ("/m/4",), (("/m/4",),)),
    ],
)
def test_identities_are_named_and_made_up_of_labels(given: Any, names: Any, members: Any) -> None:
    known = {"/m/1": "Ant", "/m/2": "Bee", "/m/3": "Cat", "/m/4": "Dog", "/m/5": "Dog", "/m/6": "/m/4"}
    assert identity_members(given, known) == (names, members)


def test_identities_that_are_no_lists_of_labels() -> None:
    known = {f"/m/{k}": "Dog" for k in range(9)}
    for given, error, said in (
        ("a", TypeError, "identities is the text 'a'; a list of labels, or a mapping"),
        (["a", "b", "a"], ValueError, r"identities names a label twice: \['a', 'b', 'a'\]"),
        ([], ValueError, "identities is empty; at least one"),
        ({}, ValueError, "identities is empty; at least one"),
        ({"x": []}, ValueError, r"identities\['x'\] is empty; it needs at least one label"),
        (["Dog"], ValueError, "9 labels are named 'Dog'; give the key of one: /m/0, /m/1, /m/2, /m/3, /m/4, /m/5$"),
        (5, TypeError, "identities"),
    ):
        with pytest.raises(error, match=said):
            identity_members(given, known)


def test_what_was_met_while_reading_is_told() -> None:
    counts, reading = count_source(source_of(score="p"), {"x": ["a", "b"], "c": "c"})
    assert joint_of(counts) == EXPECTED
    assert reading == Reading(
        8, "sorted", 0, 0, ("score= is given without threshold=: every row counts, whatever its score",)
    )
    counts, reading = count_source(source_of(score="p"), ["a"], threshold=0.5)
    assert joint_of(counts) == {label: (held[0], 2 if label == "a" else 0) for label, held in HIGH.items()}
    assert reading == Reading(8, "sorted", 0, 3, ("3 of 8 rows score below the threshold and were left out",))
    counts, reading = count_source(source_of(), ["a"])
    assert reading == Reading(8, "sorted", 0, 0, ())


def test_thresholds_of_labels_that_no_record_has() -> None:
    _, reading = count_source(source_of(score="p"), ["a"], threshold={"a": 0.5, "q0": 0.1, "z": 0.9})
    notes = [note for note in reading.notes if note.startswith("threshold: ")]
    assert notes == ["threshold: no record has 'q0', 'z', or none with so high a score (2 of the 3 labels it names)"]
    for many, shown in ((5, "'q0', 'q1', 'q2', 'q3', 'q4', or none"), (6, "'q0', 'q1', 'q2', 'q3', 'q4', …, or none")):
        limits = {f"q{k}": 0.5 for k in range(many)}
        _, reading = count_source(source_of(score="p"), ["a"], threshold=limits)
        assert (
            reading.notes[-1]
            == f"threshold: no record has {shown} with so high a score ({many} of the {many} labels it names)"
        )
    _, reading = count_source(source_of(score="p"), ["a"], threshold={"a": 0.5})
    assert not any(note.startswith("threshold") for note in reading.notes)


def test_rows_that_repeat_are_counted_once_and_said() -> None:
    rows = [*ROWS[:2], (1, "y", 0.5), *ROWS[2:]]
    with pytest.warns(
        UserWarning, match=r"^1 of 9 rows name a label that their record has already: each was counted once$"
    ):
        counts, reading = count_source(source_of(rows), ["a"])
    assert reading.duplicates == 1
    assert len(reading.notes) == 1
    assert counts.count.tolist() == [held[0] for held in EXPECTED.values()]
    # Words of texts may repeat.
    counts, reading = count_source(replace(source_of(rows), from_text=True), ["a", "nobody"], absent=True)
    assert (reading.duplicates, reading.notes) == (1, ())


def test_the_order_that_rows_come_in() -> None:
    by = {"sorted": [0, 1, 2, 3, 4, 5, 6, 7], "grouped": [6, 4, 5, 0, 1, 7, 2, 3], "unsorted": [0, 2, 4, 6, 1, 3, 5, 7]}
    for order, places in by.items():
        counts, reading = count_source(source_of([ROWS[k] for k in places]), {"x": ["a", "b"], "c": ["c"]})
        assert joint_of(counts) == EXPECTED, order
        assert counts.n == 5
        assert reading.order == order
        if order == "sorted":
            assert reading.notes == ()
        elif order == "grouped":
            (note,) = reading.notes
            assert note.startswith(
                "records do not come in ascending order, but the rows of each stand together: counted in one pass, with 8 "
                "bytes per record to make sure ("
            )
            assert note.endswith(" s lost on finding out)")
        else:
            (note,) = reading.notes
            assert note.startswith(
                "rows are not sorted by record: 8 rows were brought together by record in memory or files of a temporary directory"
            )
            assert note.endswith("; sort the table by record to count it in one pass")
    _, reading = count_source(label_source([["a", "y"], ["y"]]), ["a"])
    assert (reading.order, reading.notes) == ("grouped", ())


@pytest.mark.parametrize(("memory", "order"), [(16 * 8, "grouped"), (16 * 8 - 1, "unsorted")])
def test_keys_of_records_are_held_where_there_is_memory(
    memory: int, order: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sixteen bytes for each of eight rows."""
    source = source_of([ROWS[k] for k in (6, 4, 5, 0, 1, 7, 2, 3)])
    engine = LocalEngine(threads=1, memory="1GB")
    fits = label_counting._keys_fit
    seen: list[bool] = []

    def noted(parts: Any, own: Any) -> bool:
        held, own.memory = own.memory, memory
        seen.append(fits(parts, own))
        own.memory = held
        return seen[-1]

    monkeypatch.setattr(label_counting, "_keys_fit", noted)
    with engine:
        counts, reading = count_source(source, {"x": ["a", "b"], "c": ["c"]}, engine=engine)
    assert reading.order == order
    assert seen == [order == "grouped"]
    assert joint_of(counts) == EXPECTED


def test_keys_are_held_here_and_not_where_a_cluster_is_driven() -> None:
    engine = LocalEngine(threads=1)
    unknown = WholeSource("here", None)
    assert label_counting._keys_fit([unknown], engine)
    engine.name = "dask"
    assert not label_counting._keys_fit([unknown], engine)


def test_a_thread_has_a_share_of_memory_for_its_table(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[CountLabels] = []
    monkeypatch.setattr(
        label_counting, "_counted", lambda *given, own=label_counting._counted: made.append(given[2]) or own(*given)
    )
    engine = LocalEngine(threads=2, memory="1GB")
    engine.memory = 4_000
    with engine:
        count_source(source_of(), ["a"], engine=engine)
        engine.memory = 1 << 40
        count_source(source_of(), ["a"], engine=engine, kernel="numpy", pairing=Pairing(True, True))
    assert [kernel.shared_bytes for kernel in made] == [500, 1 << 28]
    assert made[1].kernel == "numpy"
    assert made[1].pairing == Pairing(True, True)
    assert made[0].rows == engine.batch_rows
    assert {kernel.shape for kernel in made} == {"long"}
    with LocalEngine(threads=1) as one:
        count_source(label_source([["a"], ["b"]]), ["a"], engine=one, pairing=Pairing(True, False))
    # Without ids nothing is kept of them.
    assert (made[2].shape, made[2].pairing) == ("lists", Pairing(False, False))


def test_data_that_cannot_be_counted_so() -> None:
    lists = label_source([["a"], ["b"]])
    with pytest.raises(ValueError, match=r"pairable=True needs ids, .* has none\. Give a long table"):
        count_source(lists, ["a"], pairing=Pairing(True, True))
    counts, _ = count_source(source_of(), ["a"], pairing=Pairing(True, True))
    assert counts.bags is not None
    empty = source_of([(1, "a", 0.5)])
    empty = replace(empty, parts=None, batches=lambda: iter(()))
    with pytest.raises(ValueError, match=r"data has no rows .*: at least one record is needed"):
        count_source(empty, ["a"])


def refused(identities: Any, source: LabelSource | None = None, **options: Any) -> str:
    with pytest.raises(ValueError, match="identities or strata: no record has the label") as error:
        count_source(source or source_of(), identities, **options)
    return str(error.value).removeprefix("identities or strata: no record has the label ")


def test_identities_that_no_record_has_are_refused() -> None:
    assert refused(["quux"]) == "'quux'; the data holds 5 labels, such as 'a', 'b', 'c', 'y', 'z'"
    assert refused({"quux": "quux"}).startswith("'quux'; the data")
    assert refused({"who": "quux"}).startswith("'quux' of the identity 'who'; the data")
    many = [f"quux{k}" for k in range(7)]
    assert refused({"who": many}).startswith(
        "'quux0', 'quux1', 'quux2', 'quux3', 'quux4' of the identity 'who'; the data"
    )
    assert refused({"quux": ["quux", "other"]}).startswith("'quux', 'other' of the identity 'quux'; ")
    with_score = refused(["quux"], source_of(score="p"), threshold=0.5)
    assert with_score.startswith("'quux' with a score that reaches the threshold; the data holds 4 labels")
    assert refused(["quux"], source_of(score="p"), threshold=0.0).startswith("'quux'; the data")
    words = source_of([(1, "wolf", 1), (2, "manor", 1), (3, "mango", 1), (4, "manna", 1), (5, "x" * 201, 1)])
    assert refused(["mano"], words) == "'mano'; did you mean 'manor' or 'mango' or 'manna'?"
    assert refused(["Wolff"], words) == "'Wolff'; did you mean 'wolf'?"
    assert "did you mean" not in refused(["x" * 200], words)
    long = source_of([(1, "x" * 200, 1)])
    assert "did you mean 'xxx" in refused(["x" * 199 + "y"], long)
    nothing = source_of([(1, None, 0.5)])
    assert refused(["quux"], nothing) == "'quux'; the data holds no label at all"


def test_identities_are_known_by_their_names() -> None:
    named = replace(source_of(), names={"a": "Ant", "y": "Yak", "q": "Quail", "b": "b"})
    assert refused(["q"], named).startswith("'Quail' (q); the data holds 5 labels, such as 'Ant', 'b', 'c', 'Yak', 'z'")
    assert refused(["Quail"], named).startswith("'Quail' (q); the data holds")
    assert refused({"who": ["q", "nix"]}, named).startswith("'Quail' (q), 'nix' of the identity 'who'; ")
    # A class with a description is no slip of the pen.
    assert "did you mean" not in refused(["q"], replace(named, names={"q": "Antt", "a": "Ant"}))
    assert refused(["Antt"], named) == "'Antt'; did you mean 'Ant'?"


def test_labels_of_an_identity_that_no_record_has_are_said() -> None:
    _, reading = count_source(source_of(), {"x": ["a", "nix", "zz"], "c": "c"})
    assert reading.notes == ("identity 'x': no record has the label 'nix', 'zz'; did you mean 'z'?",)
    _, reading = count_source(source_of(), {"x": ["a", "nix"], "c": ["c", "quux"]})
    assert reading.notes == (
        "identity 'x': no record has the label 'nix'",
        "identity 'c': no record has the label 'quux'",
    )
    counts, reading = count_source(source_of(), ["a", "quux"], absent=True)
    assert counts.identity_count.tolist() == [2, 0]
    assert reading.notes == ("identity 'quux': no record has the label 'quux'",)


def test_codes_are_made_once_for_the_threads_of_a_process() -> None:
    kernel = CountLabels("long", MEMBERS, None, "numpy", 9)
    first = kernel._counter()
    assert kernel._counter().codes is first.codes is kernel.known["codes"]
    assert isinstance(first.codes, LabelCodes)


def test_lists_are_counted_by_either_kernel() -> None:
    rng = np.random.default_rng(0)
    records = [[f"y{k}" for k in np.flatnonzero(rng.random(8) < 0.4)] for _ in range(200)]
    counts = [count_source(label_source(records), ["y0", "y1"], kernel=kernel)[0] for kernel in ("numpy", "auto")]
    assert joint_of(counts[0]) == joint_of(counts[1])
    assert biasamp.associate(counts[0]).to_dict() == biasamp.associate(counts[1]).to_dict()


def test_as_many_rows_are_counted_at_once_as_31_bits_hold() -> None:
    assert 1 << 29 < label_counting._MOST_ROWS < (1 << 31) - (1 << 29)


def test_rows_are_brought_together_by_codes_that_threads_share(monkeypatch: pytest.MonkeyPatch) -> None:
    source = source_of([ROWS[k] for k in (0, 2, 4, 6, 1, 3, 5, 7)])
    asked: list[tuple[Any, ...]] = []
    regroup = LocalEngine.regroup
    monkeypatch.setattr(LocalEngine, "regroup", lambda self, *given: asked.append(given) or regroup(self, *given))
    choose = label_counting.kernel_for
    monkeypatch.setattr(label_counting, "kernel_for", lambda *given: asked.append(given) or choose(*given))
    counts, _ = count_source(source, {"x": ["a", "b"], "c": ["c"]}, pairing=Pairing(True, True))
    assert joint_of(counts) == EXPECTED
    rows, (spread, parts, gather, _) = asked
    assert rows == (8, True, 2)
    assert len(parts) == 1
    assert spread.codes is gather.codes is not None
    assert spread.rows > 0
    assert gather.pairing == Pairing(True, True)
    assert gather.shared_bytes > 0
    assert gather.kernel == spread.kernel == choose(8, True, 2)


def test_an_engine_that_says_no_threads_has_all_its_memory_for_one() -> None:
    class Bare:
        name, memory, batch_rows = "local", 4_000, 100

        def reduce(self, kernel: Any, parts: Any, merge: Any) -> Any:
            asked.append(kernel.shared_bytes)
            return kernel.together(parts)[0]

    asked: list[int] = []
    counts, _ = count_source(source_of(), ["a"], engine=Bare())  # type: ignore[arg-type]
    assert counts.n == 5
    assert asked == [1000]
