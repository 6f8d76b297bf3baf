"""Tables of pairs against sums over every record and pair: every form of labels, every way to count, and where one way ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from biasamp.counts import tables
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.kernels import coded
from biasamp.counts.tables import (
    JOINT,
    PAIR,
    WIDE,
    add_up,
    chunks,
    joint_tables,
    pair_tables,
    pair_tables_of_kinds,
    present_rows,
    scored_places,
    worth_compiling,
)
from biasamp.data import Codes, Dense, Evaluation, LabelSet, Variable
from biasamp.data.label import Sparse
from extras import needs

# Whole numbers, and numbers of few binary digits, whose sums and products floats hold exactly.
WEIGHTS = ("none", "whole", "real")


def yes_no(width: int) -> tuple[Variable, ...]:
    return tuple(Variable(f"t{i}", "binary") for i in range(width))


def categories(width: int) -> tuple[Variable, ...]:
    return (Variable("a", "categorical", tuple(f"c{i}" for i in range(width))),)


def one_of(codes: Any, width: int, sparse: bool = True) -> LabelSet:
    return LabelSet((Codes(categories(width), np.asarray(codes, dtype=np.int64), sparse),))


def several(rows: Any, by_column: bool = False, there: Any = None, soft: bool = False) -> LabelSet:
    rows = np.asarray(rows, dtype=np.float64 if soft else np.uint8)
    return LabelSet(
        (Dense(yes_no(rows.shape[1]), (np.asfortranarray if by_column else np.ascontiguousarray)(rows), there),)
    )


def lists(rows: Any) -> LabelSet:
    rows = np.asarray(rows)
    variables = (Variable("t", "multilabel", tuple(f"c{i}" for i in range(rows.shape[1]))),)
    return LabelSet((Sparse(variables, np.concatenate([[0], np.cumsum(rows.sum(axis=1))]), np.nonzero(rows)[1]),))


def of_form(rng: np.random.Generator, form: str, n: int, width: int) -> LabelSet:
    rows = rng.random((n, width)) < 0.4
    if form == "codes":
        return one_of(rng.integers(0, width, n), width)
    if form == "codes or none":
        return one_of(rng.integers(-1, width, n), width)
    if form == "chances":
        return several(rng.integers(0, 65, (n, width)) / 64.0, soft=True)
    if form == "lists":
        return lists(rows)
    if form == "two blocks":
        return LabelSet((*one_of(rng.integers(-1, 2, n), 2).blocks, *several(rows[:, 2:]).blocks))
    return several(rows, by_column=form == "columns")


def weights_of(rng: np.random.Generator, kind: str, n: int) -> Any:
    return {"none": None, "whole": rng.integers(0, 5, n), "real": rng.integers(0, 33, n) / 8.0}[kind]


def by_record(e: Evaluation, bag: Any, bags: int) -> tuple[dict[str, Any], Any]:
    """The tables and how often truth and prediction agree, from every record and pair; one with a gap does not count."""
    n, groups, width = len(e), e.given.width, e.truth.width
    g, t, p = (side.rows().astype(float) for side in (e.given, e.truth, e.predicted))
    known = [
        np.ones(side.shape, bool) if x.present() is None else x.present()
        for x, side in zip((e.given, e.truth, e.predicted), (g, t, p), strict=True)
    ]
    there = known[1] & known[2]
    mine = (
        np.eye(bags)[np.zeros(n, dtype=int) if bag is None else bag]
        * (np.ones(n) if e.weights is None else e.weights)[:, None]
    )
    pairs = known[0][:, :, None] & there[:, None, :]
    g, t, p = (np.broadcast_to(x, (n, groups, width)) for x in (g[:, :, None], t[:, None, :], p[:, None, :]))
    values = {"n": np.ones_like(g), "given": g, "truth": t, "predicted": p}
    values |= {"joint_truth": g * t, "joint_predicted": g * p, "joint_both": g * t * p}
    agreeing = (mine.sum(axis=1)[:, None] * t[:, 0] * p[:, 0] * there).sum(axis=0)
    return {name: np.einsum("nb,ngw->bgw", mine, value * pairs) for name, value in values.items()}, agreeing


def same(e: Evaluation, bag: Any = None, bags: int = 1, **options: Any) -> dict[str, Any]:
    """Assert that tables are those of records, and return them."""
    (arrays, agreeing), (expected, agree) = pair_tables(e, bag, bags, **options), by_record(e, bag, bags)
    groups, width = e.given.width, e.truth.width
    assert tuple(arrays) == PAIR
    for name, table in arrays.items():
        if not e.missing:
            margins = {"n": (1, 1), "given": (groups, 1), "truth": (1, width), "predicted": (1, width)}
            assert table.shape == (bags, *margins.get(name, (groups, width))), name
        exact = floats(table)
        np.testing.assert_array_equal(np.broadcast_to(exact, expected[name].shape), expected[name], err_msg=name)
        whole = not (e.predicted.soft or e.given.soft or (e.weights is not None and e.weights.dtype.kind == "f"))
        if whole:
            assert table.dtype == np.int64
    np.testing.assert_array_equal(floats(agreeing), agree)
    return arrays


class Taken(Exception):
    """Says which way was taken."""


def way(monkeypatch: pytest.MonkeyPatch, run: Any) -> str:
    """By which way something is counted; nothing is counted."""

    def says(name: str) -> Any:
        def taken(*_: Any, **__: Any) -> Any:
            raise Taken(name)

        return taken

    with monkeypatch.context() as patch:
        for name in ("_listed", "_compiled", "_added", "_products", "_masked"):
            patch.setattr(tables, name, says(name))
        for name in ("pairs_of_codes", "pairs_of_columns", "pairs_given_columns"):
            patch.setattr(coded, name, says(name))
        patch.setattr(tables.scored, "scored_pairs", says("scored_pairs"))
        with pytest.raises(Taken) as told:
            run()
    return str(told.value)


GIVEN = ("codes", "codes or none", "rows", "columns", "lists", "chances", "two blocks")
OUTCOMES = (
    ("codes", "codes"),
    ("codes or none", "codes or none"),
    ("codes", "codes or none"),
    ("columns", "columns"),
    ("rows", "columns"),
    ("lists", "rows"),
    ("rows", "chances"),
    ("columns", "codes"),
)


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("weights", WEIGHTS)
def test_every_form_of_labels(given: str, weights: str) -> None:
    rng = np.random.default_rng(0)
    for truth, predicted in OUTCOMES:
        n = 40
        e = Evaluation(
            of_form(rng, given, n, 3),
            of_form(rng, truth, n, 4),
            of_form(rng, predicted, n, 4),
            weights_of(rng, weights, n),
        )
        same(e)
        same(e, rng.integers(0, 5, n), 5)
        # The last bag, and one in between, without records.
        same(e, rng.choice([0, 2], n), 4)


# Limits that are moved so that few records are counted as many are.
WAYS: dict[str, dict[str, Any]] = {
    "listed, a column for each key": {"WIDE": 1},
    "listed, key by key": {"WIDE": 1, "_FEW_COLUMNS": 0},
    "rare": {"_RARE": 0},
    "no codes": {"_MOST_CODED": 0},
    "rows added": {"_MOST_CODED": 0, "_WORTH_ADDING": 1},
}


@pytest.mark.parametrize("limits", WAYS)
@pytest.mark.parametrize("given", ["codes", "codes or none", "rows", "columns"])
def test_every_way_to_count(limits: str, given: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in WAYS[limits].items():
        monkeypatch.setattr(tables, name, value)
    # Not by codes of given columns either.
    monkeypatch.setattr(coded, "worth_coding", lambda *_: False)
    rng = np.random.default_rng(1)
    for truth, predicted in (
        ("codes", "codes or none"),
        ("columns", "columns"),
        ("rows", "lists"),
        ("rows", "chances"),
    ):
        for weights in WEIGHTS:
            n = 30
            e = Evaluation(
                of_form(rng, given, n, 3),
                of_form(rng, truth, n, 4),
                of_form(rng, predicted, n, 4),
                weights_of(rng, weights, n),
            )
            same(e)
            same(e, rng.integers(0, 5, n), 5)


@pytest.mark.parametrize("listed", [False, True])
def test_every_way_to_count_in_numba(listed: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    needs("numba")
    if listed:
        monkeypatch.setattr(tables, "WIDE", 1)
    monkeypatch.setattr(tables, "_MOST_CODED", 0)
    rng = np.random.default_rng(2)
    for given in ("codes", "codes or none", "rows", "columns", "lists"):
        for truth, predicted in (("codes", "codes"), ("columns", "columns"), ("rows", "lists")):
            e = Evaluation(of_form(rng, given, 50, 3), of_form(rng, truth, 50, 4), of_form(rng, predicted, 50, 4))
            same(e, accelerate=True)
            same(e, rng.integers(0, 5, 50), 5, accelerate=True)


@pytest.mark.parametrize("given", ["each in the middle", "each", "none", "two after none"])
@pytest.mark.parametrize("way_taken", ["numba", "numba listed", "rows added", "products", "listed", "bags"])
def test_records_are_cut(given: str, way_taken: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Several parts of records, of which some have one given label each, some none and some two."""
    if way_taken.startswith("numba"):
        needs("numba")
    for name in ("_PRODUCT", "_BAGGED", "_LISTED"):
        monkeypatch.setattr(tables, name, 256)
    monkeypatch.setattr(tables, "_MOST_CODED", 0)
    if "listed" in way_taken:
        monkeypatch.setattr(tables, "WIDE", 1)
    if way_taken == "rows added":
        monkeypatch.setattr(tables, "_WORTH_ADDING", 1)
    rng = np.random.default_rng(3)
    n = 900
    rows = np.eye(3, dtype=np.uint8)[rng.integers(0, 3, n)]
    if given == "each in the middle":
        rows[:256], rows[512:] = rng.integers(0, 2, (256, 3)), rng.integers(0, 2, (n - 512, 3))
    if given == "none":
        rows[[3, 511, 899]] = 0
    if given == "two after none":
        # As many labels as records, of which one has none and another has two.
        rows[10], rows[11] = 0, [1, 1, 0]
    outcome = several(rng.random((n, 4)) < 0.4), several(rng.random((n, 4)) < 0.4)
    e = Evaluation(several(rows), *outcome)
    same(e, accelerate=way_taken.startswith("numba"))
    same(e, rng.integers(0, 6, n), 6, accelerate=way_taken.startswith("numba"))
    e = Evaluation(several(rows), outcome[0], of_form(rng, "chances", n, 4), rng.integers(0, 9, n) / 4.0)
    same(e)
    same(e, rng.integers(0, 6, n), 6)
    # One variable; some have no label of it.
    e = Evaluation(one_of(np.where(rows.any(axis=1), rows.argmax(axis=1), -1), 3), *outcome)
    same(e, accelerate=way_taken.startswith("numba"))
    same(e, rng.integers(0, 6, n), 6, accelerate=way_taken.startswith("numba"))


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("soft", [False, True])
def test_gaps_leave_a_record_out_of_its_pairs(weights: str, soft: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("_PRODUCT", "_BAGGED"):
        monkeypatch.setattr(tables, name, 256)
    rng = np.random.default_rng(4)
    n = 300
    for gaps in ((True, False, False), (False, True, False), (False, False, True), (True, True, True)):
        sides = []
        for place, width in enumerate((2, 3, 3)):
            chances = rng.integers(0, 9, (n, width)) / 8.0
            rows = chances if soft and place == 2 else rng.integers(0, 2, (n, width))
            there = rng.random((n, width)) < 0.8 if gaps[place] else None
            sides.append(several(rows, there=there, soft=soft and place == 2))
        e = Evaluation(*sides, weights_of(rng, weights, n))
        arrays = same(e)
        assert all(floats(table).shape == (1, 2, 3) for table in arrays.values())
        same(e, rng.integers(0, 4, n), 4)
    given, truth, predicted, here, there = present_rows(e, 5, 9)
    known = e.truth.present(5, 9) & e.predicted.present(5, 9)
    np.testing.assert_array_equal(here, e.given.present(5, 9))
    np.testing.assert_array_equal(there, known)
    np.testing.assert_array_equal(given, e.given.rows(5, 9) * e.given.present(5, 9))
    np.testing.assert_array_equal(truth, e.truth.rows(5, 9) * known)
    np.testing.assert_array_equal(predicted, e.predicted.rows(5, 9) * known)
    assert here.dtype == there.dtype == np.uint8


@pytest.mark.parametrize("weights", WEIGHTS)
@pytest.mark.parametrize("left", GIVEN)
def test_joint_counts(weights: str, left: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    n = 40
    for right in ("codes", "rows", "columns", "lists", "chances"):
        one, two, own = of_form(rng, left, n, 3), of_form(rng, right, n, 4), weights_of(rng, weights, n)
        w = np.ones(n) if own is None else own
        a, b = one.rows().astype(float), two.rows().astype(float)
        for bag, bags in ((None, 1), (rng.integers(0, 4, n), 5)):
            mine = np.eye(bags)[np.zeros(n, dtype=int) if bag is None else bag] * w[:, None]
            expected = (
                mine.sum(axis=0)[:, None, None],
                (mine.T @ a)[:, :, None],
                (mine.T @ b)[:, None, :],
                np.einsum("rb,rg,rw->bgw", mine, a, b),
            )
            for wide in (WIDE, 1):
                monkeypatch.setattr(tables, "WIDE", wide)
                found = joint_tables(one, two, own, bag, bags)
                assert tuple(found) == JOINT
                for name, value in zip(JOINT, expected, strict=True):
                    assert floats(found[name]).shape == value.shape
                    np.testing.assert_array_equal(floats(found[name]), value, err_msg=name)


def test_whole_weights_beyond_what_floats_hold() -> None:
    """Sums of large whole weights are exact, however wide labels are."""
    weights = np.array([2**52, 2**52 - 1, 1, 2**53 + 1, 3], dtype=np.int64)
    rows = np.array([[1, 0], [1, 1], [1, 0], [0, 1], [1, 1]])
    for total in (slice(0, 2), slice(0, 3), slice(0, 5)):
        own = weights[total]
        for wide in (1, 600):
            held = np.zeros((len(own), wide), dtype=np.uint8)
            held[:, 0] = 1
            arrays, agreeing = pair_tables(Evaluation(several(rows[total]), several(held), several(held), own))
            for name in ("joint_truth", "joint_predicted", "joint_both"):
                expected = [
                    sum(w for w, r in zip(own.tolist(), rows[total, g].tolist(), strict=True) if r) for g in range(2)
                ]
                assert [int(cell) for cell in arrays[name][0, :, 0]] == expected
                assert not arrays[name][0, :, 1:].any()
            assert int(arrays["n"].item()) == sum(own.tolist())
            assert [int(cell) for cell in np.atleast_1d(agreeing)] == [sum(own.tolist()), *[0] * (wide - 1)]


def test_counts_of_a_bag_lie_together_or_not() -> None:
    rng = np.random.default_rng(6)
    e = Evaluation(*(one_of(rng.integers(0, 3, 50), 3) for _ in range(3)))
    bag = rng.integers(0, 4, 50)
    near = same(e, bag, 4)["joint_truth"].strides
    assert near[2] == 8
    assert near[0] > near[1] > near[2]
    far = same(e, bag, 4, by_row=False)["joint_truth"].strides
    assert far[0] == 8
    assert same(e, bag, 4, by_row=True)["joint_truth"].strides == near


def test_tables_of_kinds_are_those_of_their_records() -> None:
    rng = np.random.default_rng(7)
    n, bags, groups, width = 200, 5, 3, 4
    given, bag = rng.integers(0, groups, n), rng.integers(0, bags, n)
    truth, predicted = rng.integers(0, 2, (2, n, width))
    kinds = np.zeros((width, bags, groups, 4), dtype=np.uint32)
    size = np.zeros((bags, groups), dtype=np.int64)
    for i in range(n):
        size[bag[i], given[i]] += 1
        for j in range(width):
            kinds[j, bag[i], given[i], 2 * truth[i, j] + predicted[i, j]] += 1
    arrays, agreeing = pair_tables_of_kinds(kinds, size)
    expected, agree = by_record(Evaluation(one_of(given, groups), several(truth), several(predicted)), bag, bags)
    assert tuple(arrays) == PAIR
    for name, table in arrays.items():
        assert table.dtype == np.int64
        np.testing.assert_array_equal(np.broadcast_to(table, expected[name].shape), expected[name])
    np.testing.assert_array_equal(agreeing, agree)


def test_chunks_cover_all_records_once() -> None:
    assert chunks(0) == [(0, 0)]
    assert chunks(1) == [(0, 1)]
    assert chunks(1024) == [(0, 1024)]
    assert chunks(1025) == [(0, 1024), (1024, 1025)]
    assert chunks(2500) == [(0, 1024), (1024, 2048), (2048, 2500)]
    assert chunks(600, 1, 300) == [(0, 300), (300, 600)]
    # Never fewer than 256, however wide; and as many fewer as records are wider than a cache.
    assert chunks(600, 1, 10) == [(0, 256), (256, 512), (512, 600)]
    assert chunks(600, 1 << 30) == [(0, 256), (256, 512), (512, 600)]
    assert chunks(1000, 1 << 12) == [(0, 512), (512, 1000)]
    assert chunks(1000, 0, 1 << 30) == [(0, 1000)]


def test_parts_are_added_one_by_one() -> None:
    parts = [[np.array([1, 2]), np.array([5])], [np.array([10, 20]), np.array([50])], [np.array([0, 1]), np.array([2])]]
    one, two = add_up(parts)
    assert one.tolist() == [11, 23]
    assert two.tolist() == [57]
    (sole,) = add_up([[np.array([4])]])
    assert sole.tolist() == [4]
    assert add_up([]) == []


class TestWays:
    """What is counted in which way, on both sides of every limit."""

    def test_numba_is_used_where_it_pays_and_is_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        assert worth_compiling(0, True)
        assert not worth_compiling(1 << 40, False)
        monkeypatch.setattr(tables, "find_spec", lambda name: name if name == "numba" else None)
        assert worth_compiling(1 << 21, None)
        assert not worth_compiling((1 << 21) - 1, None)
        monkeypatch.setattr(tables, "find_spec", lambda _: None)
        assert not worth_compiling(1 << 40, None)

    def test_codes_are_counted_as_codes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(0)
        codes = [one_of(rng.integers(0, 3, 20), 3) for _ in range(3)]
        bag = rng.integers(0, 2, 20)
        assert way(monkeypatch, lambda: pair_tables(Evaluation(*codes))) == "pairs_of_codes"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(*codes), bag, 2)) == "pairs_of_codes"
        columns = [several(rng.integers(0, 2, (20, 3)), by_column=True) for _ in range(3)]
        held = Evaluation(codes[0], *columns[1:])
        assert way(monkeypatch, lambda: pair_tables(held, bag, 2)) == "pairs_of_columns"
        # Without bags a product of matrices is quicker, and adding rows where they are wide.
        assert way(monkeypatch, lambda: pair_tables(held)) == "_products"
        mixed = Evaluation(codes[0], columns[1], several(rng.integers(0, 2, (20, 3))))
        assert way(monkeypatch, lambda: pair_tables(mixed, bag, 2)) == "_products"
        given = Evaluation(columns[0], *codes[1:])
        assert way(monkeypatch, lambda: pair_tables(given, bag, 2)) == "pairs_given_columns"
        assert way(monkeypatch, lambda: pair_tables(given)) == "_products"
        half = Evaluation(columns[0], codes[1], columns[2])
        assert way(monkeypatch, lambda: pair_tables(half, bag, 2)) == "_products"
        rows = Evaluation(several(rng.integers(0, 2, (20, 3))), *codes[1:])
        assert way(monkeypatch, lambda: pair_tables(rows, bag, 2)) == "_products"
        weighted = Evaluation(*codes, np.ones(20))
        assert way(monkeypatch, lambda: pair_tables(weighted, bag, 2)) == "_products"
        assert way(monkeypatch, lambda: joint_tables(codes[0], codes[1], None, bag, 2)) == "_products"

    def test_so_many_places_are_counted_by_codes(self, monkeypatch: pytest.MonkeyPatch) -> None:
        codes, three = one_of([0, 1], 2), one_of([0, 1], 3)
        bag = np.array([0, 1])
        # Three given labels with everyone, times four.
        most = (1 << 23) // 12
        held = Evaluation(codes, three, three)
        assert way(monkeypatch, lambda: pair_tables(held, bag, most)) == "pairs_of_codes"
        assert way(monkeypatch, lambda: pair_tables(held, bag, most + 1)) == "_products"
        # Two outcomes take a place less, many not more.
        two = Evaluation(codes, codes, codes)
        assert way(monkeypatch, lambda: pair_tables(two, bag, most + 1)) == "pairs_of_codes"
        assert way(monkeypatch, lambda: pair_tables(two, bag, (1 << 23) // 9 + 1)) == "_products"
        ten = Evaluation(codes, *(one_of([0, 1], 10) for _ in range(2)))
        assert way(monkeypatch, lambda: pair_tables(ten, bag, most)) == "pairs_of_codes"
        exact = Evaluation(one_of([0, 0], 1), three, three)
        assert way(monkeypatch, lambda: pair_tables(exact, bag, 1 << 20)) == "pairs_of_codes"
        assert way(monkeypatch, lambda: pair_tables(exact, bag, (1 << 20) + 1)) == "_products"
        columns = several([[0, 1], [1, 0]], by_column=True)
        given = Evaluation(columns, three, three)
        assert way(monkeypatch, lambda: pair_tables(given, bag, (1 << 16) // 16)) == "pairs_given_columns"
        assert way(monkeypatch, lambda: pair_tables(given, bag, (1 << 16) // 16 + 1)) == "_products"

    def test_scores_of_records_of_one_label_each(self, monkeypatch: pytest.MonkeyPatch) -> None:
        given, truth, scores = (
            one_of([0, 1, 1], 2),
            several([[0], [1], [1]]),
            several([[0.5], [0.25], [1.0]], soft=True),
        )
        held, bag = Evaluation(given, truth, scores), np.array([0, 1, 1])
        assert way(monkeypatch, lambda: pair_tables(held)) == "scored_pairs"
        assert way(monkeypatch, lambda: pair_tables(held, bag, (1 << 16) // 4)) == "scored_pairs"
        assert way(monkeypatch, lambda: pair_tables(held, bag, (1 << 16) // 4 + 1)) == "_products"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(given, truth, scores, np.ones(3)))) == "_products"
        assert way(monkeypatch, lambda: joint_tables(given, scores)) == "_products"

    def test_places_of_scores(self, monkeypatch: pytest.MonkeyPatch) -> None:
        given, truth, scores = (
            one_of([0, 1, 1], 2),
            several([[0], [1], [1]]),
            several([[0.5], [0.25], [1.0]], soft=True),
        )
        assert scored_places(given, truth, scores).tolist() == [0, 1, 1]  # type: ignore[union-attr]
        assert scored_places(one_of([0, -1, 1], 2), truth, scores) is None
        assert scored_places(several([[0], [1], [1]]), truth, scores) is None
        assert scored_places(given, scores, scores) is None
        assert scored_places(given, truth, truth) is None
        gap = np.array([[True], [False], [True]])
        assert scored_places(given, several([[0], [1], [1]], there=gap), scores) is None
        assert scored_places(given, truth, several([[0.5], [0.0], [1.0]], there=gap, soft=True)) is None
        nothing = np.arange(0)
        assert scored_places(given.take(nothing), truth.take(nothing), scores.take(nothing)) is None
        monkeypatch.setattr(tables.scored, "fits", lambda records: records < 3)
        assert scored_places(given, truth, scores) is None

    def test_rows_are_added_where_they_are_wide_and_few(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(1)

        def rows(width: int) -> list[LabelSet]:
            return [several(rng.integers(0, 2, (20, width))) for _ in range(2)]

        few, many = several(rng.integers(0, 2, (20, 4))), several(np.ones((20, 5)))
        assert way(monkeypatch, lambda: pair_tables(Evaluation(few, *rows(16)))) == "_added"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(few, *rows(15)))) == "_products"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(many, *rows(16)))) == "_products"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(few, *rows(16), np.ones(20)))) == "_products"
        assert way(monkeypatch, lambda: joint_tables(few, rows(16)[0])) == "_products"

    def test_few_labels_are_held(self) -> None:
        few_held, n = tables._few_held, 5000
        assert few_held(several(np.ones((8, 4))))
        assert not few_held(several(np.ones((8, 5))))
        assert few_held(one_of(np.arange(40) % 9, 9))
        rows = np.zeros((40, 9))
        rows[:, :4] = 1
        assert few_held(several(rows))
        rows[0, 4] = 1
        assert not few_held(several(rows))
        # The first 4,096 tell.
        rows = np.zeros((n, 9))
        rows[:4096, :4] = 1
        rows[4096:] = 1
        assert few_held(several(rows))
        rows[4095, 4] = 1
        assert not few_held(several(rows))

    def test_labels_are_rarely_held(self) -> None:
        rarely_held, n = tables._rarely_held, 5000
        rows = np.zeros((40, 64))
        rows[:, :2] = 1
        assert rarely_held(several(rows))
        rows[3, 2] = 1
        assert not rarely_held(several(rows))
        rows = np.zeros((n, 32))
        rows[:4096, 0] = 1
        rows[4096:] = 1
        assert rarely_held(several(rows))
        rows[4095, 1] = 1
        assert not rarely_held(several(rows))

    def test_labels_are_listed_where_they_are_rare_or_very_many(self, monkeypatch: pytest.MonkeyPatch) -> None:
        rng = np.random.default_rng(2)
        rare, common = several(np.eye(64)), several(np.tile([1, 1, 1, *[0] * 61], (64, 1)))
        given, bag = several(rng.integers(0, 2, (64, 2))), rng.integers(0, 3, 64)
        assert way(monkeypatch, lambda: pair_tables(Evaluation(given, rare, rare), bag, 3)) == "_listed"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(given, rare, common), bag, 3)) == "_products"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(given, common, rare), bag, 3)) == "_products"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(given, rare, rare))) == "_added"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(given, rare, rare), bag, 3, True)) == "_compiled"
        soft = several(np.eye(64) * 0.5, soft=True)
        assert way(monkeypatch, lambda: pair_tables(Evaluation(given, rare, soft), bag, 3)) == "_products"
        assert way(monkeypatch, lambda: pair_tables(Evaluation(soft, rare, rare), bag, 3)) == "_products"

        def wide(width: int) -> LabelSet:
            return several(np.ones((3, width)))

        group = several([[0], [1], [1]])
        for accelerate, narrow in ((None, "_added"), (True, "_compiled")):
            for labels, taken in ((512, narrow), (513, "_listed")):
                held = Evaluation(group, wide(labels), wide(labels))
                assert way(monkeypatch, lambda held=held, by=accelerate: pair_tables(held, accelerate=by)) == taken
        held = Evaluation(wide(512), group, group)
        assert way(monkeypatch, lambda: pair_tables(held)) == "_products"
        held = Evaluation(wide(513), group, group)
        assert way(monkeypatch, lambda: pair_tables(held)) == "_listed"
        soft = Evaluation(group, wide(WIDE + 1), several(np.full((3, WIDE + 1), 0.5), soft=True))
        assert way(monkeypatch, lambda: pair_tables(soft)) == "_products"

    def test_a_few_keys_are_columns(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Up to 32 keys, where sums of whole weights are exact in floats; in numba where there are no weights."""
        asked: list[str] = []
        for name in ("_in_columns", "_in_loops"):
            real = getattr(tables, name)

            def spy(*given: Any, name: str = name, real: Any = real) -> Any:
                asked.append(name)
                return real(*given)

            monkeypatch.setattr(tables, name, spy)
        monkeypatch.setattr(tables, "WIDE", 2)
        rng = np.random.default_rng(3)
        group, rows, bag = one_of(rng.integers(0, 1, 9), 1), several(rng.integers(0, 2, (9, 4))), rng.integers(0, 16, 9)

        def taken(bags: int, weights: Any = None, accelerate: bool = False, left: LabelSet = group) -> str:
            asked.clear()
            same(Evaluation(left, rows, rows, weights), bag % bags, bags, accelerate=accelerate)
            return asked[0] if asked else "listed"

        assert taken(16) == "_in_columns"
        # 11 bags of two groups and everyone.
        assert taken(11, left=one_of(rng.integers(0, 2, 9), 2)) == "listed"
        assert taken(2, np.arange(9)) == "_in_columns"
        assert taken(2, np.arange(9) / 2.0) == "listed"
        large = np.zeros(9, dtype=np.int64)
        large[0] = 1 << 53
        assert taken(2, large) == "listed"
        large[0] -= 1
        assert taken(2, large) == "_in_columns"
        needs("numba")
        # In numba these are listed only where a side is wider than a matrix is laid out for.
        assert taken(16, None, True) == "_in_loops"
        assert taken(17, None, True) == "listed"
        assert taken(2, np.arange(9), True) == "_in_columns"


def test_sums_of_fractions_are_fixed() -> None:
    """Chances give sums that do not depend on their order, whole counts do not."""
    given, truth, scores = one_of([0, 1, 1], 2), several([[0], [1], [1]]), several([[0.5], [0.25], [1.0]], soft=True)
    arrays, agreeing = pair_tables(Evaluation(given, truth, scores))
    assert isinstance(arrays["joint_predicted"], Fixed)
    assert isinstance(agreeing, Fixed)
    assert arrays["joint_truth"].dtype == np.int64
    assert floats(agreeing).tolist() == [1.25]
    assert floats(arrays["joint_predicted"])[0].tolist() == [[0.5], [1.25]]


def test_columns_of_several_blocks_are_all_counted() -> None:
    """Each block's columns lie together, those of all do not."""
    rng = np.random.default_rng(9)
    n, bag = 40, np.arange(40) % 3
    parts = [several(rng.integers(0, 2, (n, 2)), by_column=True).blocks[0] for _ in range(4)]
    both = LabelSet(tuple(parts[:2])), LabelSet(tuple(parts[2:]))
    given, codes = one_of(rng.integers(0, 2, n), 2), one_of(rng.integers(0, 4, n), 4)
    same(Evaluation(given, *both), bag, 3)
    same(Evaluation(both[0], codes, codes), bag, 3)
    same(Evaluation(LabelSet((*given.blocks, *parts[0:1])), codes, codes), bag, 3)
