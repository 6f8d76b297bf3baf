"""Sums of decisions and scores by cell against sums over every record: compiled or not, in every form and in parts."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from biasamp.counts import score_cells
from biasamp.counts.fixed import Fixed, floats
from biasamp.counts.kernels.long_tally import numba_installed
from biasamp.counts.score_cells import (
    SUMMED,
    Cells,
    Cut,
    Entries,
    LaidOut,
    _add_steps,
    _limbs_of,
    count_compiled,
    count_plain,
    summed_by,
    with_everyone,
)
from biasamp.counts.threshold_counts import GRID, ScoreBins
from biasamp.data import Codes, Dense, LabelSet, Variable

WAYS = ["plain", *(["compiled"] if numba_installed() else [])]


def one_of(codes: Any, width: int) -> LabelSet:
    variable = Variable("a", "categorical", tuple(f"c{i}" for i in range(width)))
    return LabelSet((Codes((variable,), np.asarray(codes, dtype=np.int64), True),))


def matrix(values: Any, by_column: bool = False) -> LabelSet:
    names = tuple(Variable(f"t{i}", "binary") for i in range(np.shape(values)[1]))
    return LabelSet((Dense(names, (np.asfortranarray if by_column else np.ascontiguousarray)(values)),))


def chances(rng: np.random.Generator, shape: tuple[int, int]) -> Any:
    """Numbers whose sums and squares floats hold exactly, with 0, 1 and thresholds among them."""
    values = rng.integers(0, (1 << 12) + 1, shape) / float(1 << 12)
    return np.where(rng.random(shape) < 0.2, rng.integers(0, 9, shape) / 8.0, values)


def expected_tables(given: LabelSet, sides: list[Any], row: Any, rows: int) -> dict[str, Any]:
    member = np.column_stack([given.rows(), np.ones(len(given))]).astype(float)
    truth, held, score = (np.asarray(side, dtype=float) for side in sides)
    values = {"truth": truth, "held": held, "both": truth * held}
    values |= {"scores": score, "scores_truth": score * truth, "scores_held": score * held}
    mine = np.eye(rows)[row]
    return {name: np.einsum("nr,ng,nj->rgj", mine, member, value) for name, value in values.items()}


def check(held: Any, expected: dict[str, Any]) -> None:
    tables = held.tables
    assert tuple(tables) == SUMMED
    for name, value in expected.items():
        np.testing.assert_array_equal(floats(tables[name]), value, err_msg=name)
        assert isinstance(tables[name], Fixed) is name.startswith("scores")
    changes = held.changes
    assert changes.dtype == np.float64
    np.testing.assert_array_equal(changes, (expected["held"] - expected["truth"])[:, :-1])


def run(
    way: str, given: LabelSet, sides: list[LabelSet], cuts: list[tuple[Any, int, Any]], strata: int, wanted: Any = None
) -> tuple[Any, ...]:
    """Counts in cuts, each of the row of every record, how many rows, and the stratum of each row; and the bins."""
    entries = Entries.of_records(given)
    made = [Cut.of_entries(entries, stratum, row) for row, _, stratum in cuts]
    bins = ScoreBins.zeros(given.width + 1, sides[0].width)
    if way == "plain":
        return entries, bins, *count_plain(entries, made, sides, strata, bins), None
    bags = None if wanted is None else Cut.of_entries(entries, np.zeros(wanted[1], dtype=np.int64), wanted[0])
    return entries, bins, *count_compiled(entries, made, sides, strata, bins, bags)


def check_squares(squares: Any, entries: Any, given: LabelSet, score: Any, stratum: Any, strata: int) -> None:
    member = given.rows().astype(float)
    if entries.everyone:
        member = np.column_stack([member, np.ones(len(member))])
    expected = np.einsum("ns,ng,nj->sgj", np.eye(strata)[stratum], member, score**2)
    assert squares.shape == (strata, entries.labels, 2, score.shape[1])
    found = squares[:, :, 0] / float(1 << 26) + squares[:, :, 1] / float(1 << 52)
    np.testing.assert_array_equal(found, expected)


def check_bins(bins: Any, entries: Any, given: LabelSet, truth: Any, score: Any) -> None:
    thresholds, reliability = bins.counts(entries.everyone)
    member = np.column_stack([given.rows(), np.ones(len(given))]).astype(int)
    step = (np.searchsorted(GRID, score, side="right") - 1).astype(int)
    expected = np.zeros((member.shape[1], score.shape[1], 1001, 2), dtype=int)
    binned = {name: np.zeros((member.shape[1] - 1, score.shape[1], 10)) for name in ("n", "truth", "scores")}
    for g in range(member.shape[1]):
        mine = np.flatnonzero(member[:, g])
        for j in range(score.shape[1]):
            np.add.at(expected[g, j], (step[mine, j], truth[mine, j]), 1)
            if g < member.shape[1] - 1:
                at = np.minimum(step[mine, j] // 100, 9)
                np.add.at(binned["n"][g, j], at, 1)
                np.add.at(binned["truth"][g, j], at, truth[mine, j])
                np.add.at(binned["scores"][g, j], at, score[mine, j])
    np.testing.assert_array_equal(thresholds.held, expected)
    assert thresholds.squared is None
    for name, value in binned.items():
        np.testing.assert_array_equal(floats(getattr(reliability, name)), value, err_msg=name)
    np.testing.assert_array_equal(floats(reliability.squared), binned["n"])


FORMS = {
    "columns": (True, True, True),
    "rows": (False, False, False),
    "columns of the truth": (True, False, False),
    "columns of scores": (False, False, True),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("form", [*FORMS, "several blocks"])
@pytest.mark.parametrize("kind", ["each", "none", "several"])
def test_sums_are_those_of_records(way: str, form: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Parts of parts: columns are copied some records and some outcomes at a time.
    monkeypatch.setattr(score_cells, "_COPIED", 90)
    monkeypatch.setattr(score_cells, "MOST_STEPPED", 200)
    rng = np.random.default_rng(len(form))
    n, width = 330, 6
    given = {
        "each": one_of(rng.integers(0, 3, n), 3),
        "none": one_of(rng.integers(-1, 3, n), 3),
        "several": matrix(rng.integers(0, 2, (n, 3)).astype(np.uint8)),
    }[kind]
    truth, held = rng.integers(0, 2, (2, n, width)).astype(np.uint8)
    score = chances(rng, (n, width))
    sides = [matrix(values, by) for values, by in zip((truth, held, score), FORMS.get(form, (True,) * 3), strict=True)]
    if form == "several blocks":
        lot = matrix(truth[:, :2]).blocks[0], matrix(truth[:, 2:]).blocks[0]
        sides = [LabelSet(lot), *sides[1:]]
    row, stratum = rng.integers(0, 5, n), np.array([0, 0, 1, 2, 2])
    other = rng.integers(0, 4, n)
    for cuts in ([(row, 5, stratum)], [(row, 5, stratum), (other, 4, np.zeros(4, dtype=np.int64))]):
        entries, bins, made, squares, _ = run(way, given, sides, cuts, 3)
        assert entries.everyone is (kind != "each")
        for cut, cells in zip(cuts, made, strict=True):
            expected = expected_tables(given, [truth, held, score], *cut[:2])
            check(cells, expected)
            place = np.array([3, 1, 3, 0, 1])[: cut[1]]
            for name, table in cells.by_place(place, 5).items():
                sums = np.zeros((5, *expected[name].shape[1:]))
                np.add.at(sums, place, expected[name])
                np.testing.assert_array_equal(floats(table), sums, err_msg=name)
            check(pickle.loads(pickle.dumps(cells)), expected)
        check_squares(squares, entries, given, score, stratum[row], 3)
        check_bins(bins, entries, given, truth, score)


@pytest.mark.skipif(not numba_installed(), reason="numba is not installed")
@pytest.mark.parametrize("deep", [False, True])
def test_records_of_bags_are_counted_besides(deep: bool) -> None:
    """Of cells of few records in the same loop, of cells of more than 512 in a loop of its own."""
    rng = np.random.default_rng(1)
    n, width = 1400, 2
    group = rng.integers(0, 2, n)
    truth, held = rng.integers(0, 2, (2, n, width)).astype(np.uint8)
    score = chances(rng, (n, width))
    score[: n // 2] = 1.0
    sides = [matrix(truth), matrix(held), matrix(score)]
    row, bag = (group * 0 if deep else np.arange(n) % 8), rng.integers(0, 3, n)
    rows = 1 if deep else 8
    cuts = [(row, rows, np.zeros(rows, dtype=np.int64))]
    entries, bins, (made,), squares, decided = run("compiled", one_of(group, 2), sides, cuts, 1, (bag, 3))
    assert made.deep.shape[1] == (rows if deep else 0)
    check(made, expected_tables(one_of(group, 2), [truth, held, score], row, rows))
    check_squares(squares, entries, one_of(group, 2), score, group * 0, 1)
    check_bins(bins, entries, one_of(group, 2), truth, score)
    expected = np.zeros((width, 3, 2, 4), dtype=int)
    for j in range(width):
        np.add.at(expected[j], (bag, group, 2 * truth[:, j] + held[:, j]), 1)
    assert decided.dtype == np.uint32
    np.testing.assert_array_equal(decided, expected)
    *_, nothing = run("compiled", one_of(group, 2), sides, cuts, 1)
    assert nothing.shape == (width, 0, 2, 4)


@pytest.mark.skipif(not numba_installed(), reason="numba is not installed")
def test_more_records_than_are_looked_at_together() -> None:
    rng = np.random.default_rng(2)
    n = (1 << 13) + 70
    group = rng.integers(0, 2, n)
    truth, held = rng.integers(0, 2, (2, n, 1)).astype(np.uint8)
    score = chances(rng, (n, 1))
    row = rng.integers(0, 40, n)
    for bins in (True, False):
        entries = Entries.of_records(one_of(group, 2))
        cut = Cut.of_entries(entries, np.arange(40) % 2, row)
        held_bins = ScoreBins.zeros(3 if bins else 0, 1)
        sides = [matrix(truth), matrix(held), matrix(score)]
        (made,), squares, _ = count_compiled(entries, [cut], sides, 2, held_bins)
        check(made, expected_tables(one_of(group, 2), [truth, held, score], row, 40))
        check_squares(squares, entries, one_of(group, 2), score, row % 2, 2)
        if bins:
            check_bins(held_bins, entries, one_of(group, 2), truth, score)
        (plain,), plain_squares = count_plain(entries, [cut], sides, 2, ScoreBins.zeros(3 if bins else 0, 1))
        np.testing.assert_array_equal(plain_squares, squares)
        check(plain, expected_tables(one_of(group, 2), [truth, held, score], row, 40))


def test_entries_of_records() -> None:
    each = Entries.of_records(one_of([1, 0, 1], 2))
    assert (each.records.tolist(), each.label.tolist(), each.labels, each.everyone) == ([0, 1, 2], [1, 0, 1], 2, False)
    assert each.cells(np.array([5, 0, 2])).tolist() == [11, 0, 5]
    some = Entries.of_records(one_of([1, -1, 0], 2))
    assert (some.records.tolist(), some.label.tolist()) == ([0, 2, 0, 1, 2], [1, 0, 2, 2, 2])
    assert (some.labels, some.everyone) == (3, True)
    assert some.cells(np.array([5, 0, 2])).tolist() == [16, 6, 17, 2, 8]
    # One label each, of labels that others could have besides.
    several = Entries.of_records(matrix(np.array([[1, 0], [0, 1]], dtype=np.uint8)))
    assert several.everyone
    assert several.label.tolist() == [0, 1, 2, 2]


def test_entries_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(score_cells, "MOST_STEPPED", 4)
    for many, expected in ((3, [(0, 3)]), (4, [(0, 4)]), (5, [(0, 4), (4, 5)]), (9, [(0, 4), (4, 8), (8, 9)]), (0, [])):
        parts = Entries(np.arange(many), np.zeros(many, dtype=np.int64), 1, False).parts()
        assert [(part.start, part.stop) for part in parts] == expected


def test_sums_over_rows_of_one_place() -> None:
    values = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])
    assert summed_by(values, np.array([0, 0, 2, 3]), 5).tolist() == [[4, 6], [0, 0], [5, 6], [7, 8], [0, 0]]
    assert summed_by(values, np.array([2, 0, 2, 0]), 3).tolist() == [[10, 12], [0, 0], [6, 8]]
    assert summed_by(values[:0], np.zeros(0, dtype=np.int64), 2).tolist() == [[0, 0], [0, 0]]
    zero = np.broadcast_to(np.int64(0), (4, 2))
    assert summed_by(zero, np.array([2, 0, 2, 0]), 3).tolist() == [[0, 0]] * 3
    fixed = summed_by(Fixed(values, values * 0, values), np.array([1, 0, 1, 0]), 2)
    assert fixed.whole.tolist() == fixed.low.tolist() == [[10, 12], [6, 8]]
    assert not fixed.high.any()


def test_cuts_of_records() -> None:
    entries = Entries.of_records(one_of([1, 0, 1, 1], 2))
    cut = Cut.of_entries(entries, np.array([0, 1, 1]), np.array([0, 2, 2, 2]))
    assert cut.cell.tolist() == [1, 4, 5, 5]
    assert cut.size.tolist() == [[0, 1], [0, 0], [1, 2]]
    assert cut.records(3).tolist() == [1, 3, 0]
    assert cut.records(3).dtype == np.int64
    assert cut.sizes(entries).tolist() == [[[0], [1], [1]], [[0], [0], [0]], [[1], [2], [3]]]
    some = Entries.of_records(one_of([1, -1], 2))
    cut = Cut.of_entries(some, np.array([0]), np.array([0, 0]))
    assert cut.sizes(some).tolist() == [[[0], [1], [2]]]


@pytest.mark.skipif(not numba_installed(), reason="numba is not installed")
@pytest.mark.parametrize("bags, finest", [(4, 4), (4, 16), (2, 16), (8, 8)])
@pytest.mark.parametrize("strata", [1, 3])
def test_compiled_cuts_are_those_of_numpy(bags: int, finest: int, strata: int) -> None:
    from biasamp.counts.bagging import bag_of, fewer_bags, occupied
    from biasamp.data.keys import row_keys

    rng = np.random.default_rng(bags)
    for n in (7, 400):
        fine = bag_of(row_keys(0, n), finest)
        codes = rng.integers(0, strata, n)
        entries = Entries.of_records(one_of(rng.integers(0, 3, n), 3))
        numbers, row = occupied(codes * bags + fewer_bags(fine, finest, bags), strata * bags)
        expected = Cut.of_entries(entries, numbers // bags, row)
        given = codes if strata > 1 else codes[:0]
        found_numbers, found = Cut.compiled(entries, given, strata, fine, finest, bags)
        assert found_numbers.tolist() == numbers.tolist()
        assert found.stratum.tolist() == expected.stratum.tolist()
        assert found.size.tolist() == expected.size.tolist()
        assert found.cell.tolist() == expected.cell.tolist()
        assert found.cell.dtype == np.uint16


def test_numbers_are_as_short_as_they_can_be() -> None:
    assert score_cells._numbers_to(1 << 16) is np.uint16
    assert score_cells._numbers_to((1 << 16) + 1) is np.uint32


@pytest.mark.skipif(not numba_installed(), reason="numba is not installed")
def test_cells_have_room_for_the_records_of_the_largest() -> None:
    small, large = (Cells.nothing((2, 3, 4), False, most) for most in (512, 513))
    assert small.sums.shape == small.counts.shape == (2, 3, 4, 4)
    assert small.deep.shape == (2, 0, 0, 4, 2)
    assert large.deep.shape == (2, 3, 4, 4, 2)
    assert Cells.nothing((2, 3, 4), False, (1 << 16) - 1).counts.dtype == np.uint16
    assert Cells.nothing((2, 3, 4), False, 1 << 16).counts.dtype == np.int64
    assert small.groups == 4
    assert Cells.nothing((2, 3, 4), True, 1).groups == 3


def test_limbs_of_numbers() -> None:
    """A whole number of 2**-26, and what is left in 2**-52; the nearest ones."""
    values = np.array([0.0, 1.0, 0.5, 2.0**-52, 3 * 2.0**-27, 1.0 - 2.0**-53, 1 / 3])
    high, low = np.empty(len(values)), np.empty(len(values))
    _limbs_of(values, high, low)
    units = [round(value * 2**52) for value in values.tolist()]
    assert high.tolist() == [unit >> 26 for unit in units]
    assert low.tolist() == [unit & (1 << 26) - 1 for unit in units]


def test_steps_of_records() -> None:
    steps, sums = np.zeros(2 * 2 * 1001, dtype=np.int32), np.zeros(2 * 1001, dtype=np.int64)
    score, one = np.array([0.25, 1.0, 0.25, 0.0]), np.array([1, 0, 1, 1], dtype=np.uint8)
    high, low = np.empty(4), np.empty(4)
    _limbs_of(score, high, low)
    label = np.array([1, 0, 1, 0])
    for _ in range(2):
        _add_steps(label, one, score, (high, low), steps, sums)
    found = {int(place): int(steps[place]) for place in np.flatnonzero(steps)}
    assert found == {2 * (1001 + 250) + 1: 4, 2 * 1000: 2, 1: 2}
    assert {int(place): int(sums[place]) for place in np.flatnonzero(sums)} == {1001 + 250: 1 << 52, 1000: 1 << 53}


def test_everyone_is_the_sum_of_labels() -> None:
    table = np.arange(12).reshape(2, 3, 2)
    assert with_everyone(table, 1)[:, -1].tolist() == table.sum(axis=1).tolist()
    assert with_everyone(table, 1)[:, :-1].tolist() == table.tolist()
    assert with_everyone(table, 2)[..., -1].tolist() == table.sum(axis=2).tolist()


def test_changes_of_laid_out_rows() -> None:
    held, truth = np.array([[[5], [9]]]), np.array([[[7], [1]]])
    assert LaidOut({"held": held, "truth": truth}).changes.tolist() == [[[-2.0]]]
