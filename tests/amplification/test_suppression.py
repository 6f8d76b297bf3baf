"""Withheld rows, against every table that has the published sums."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from biasamp.amplification import suppression as module
from biasamp.amplification.suppression import PublishedRow, _Attack, _further_row, _lines, rows_to_withhold


def margin(name: str, *groups: tuple[str, int, int]) -> list[PublishedRow]:
    return [PublishedRow((name,), (group,), applicants, selected) for group, applicants, selected in groups]


TOTAL = PublishedRow((), (), 150, 58)
RACE = margin("race", ("a", 40, 3), ("b", 50, 25), ("c", 60, 30))


def test_counts_of_a_row() -> None:
    """Selected and not selected, or the cells that are named."""
    assert PublishedRow((), (), 150, 58).counts == (58, 92)
    assert PublishedRow((), (), 150, 58, (3, 4, 5)).counts == (3, 4, 5)


@pytest.mark.parametrize(
    ("row", "gone"),
    [
        ((0, 0), False),
        ((40, 0), False),
        ((40, 40), False),
        ((40, 1), True),
        ((40, 9), True),
        ((40, 10), False),
        ((40, 30), False),
        ((40, 31), True),
        ((40, 39), True),
        ((9, 0), True),
        ((10, 0), False),
        ((1, 0), True),
    ],
)
def test_small_counts_are_withheld(row: tuple[int, int], gone: bool) -> None:
    """From 1 to 9, of those who applied, who were selected and who were not; 0 tells of nobody."""
    assert rows_to_withhold([PublishedRow(("race",), ("a",), *row)], 10) == [gone]


def test_small_cells_are_withheld() -> None:
    rows = [
        PublishedRow(("race",), (name,), 100, 50, cells) for name, cells in (("a", (30, 30, 40)), ("b", (90, 1, 9)))
    ]
    assert rows_to_withhold(rows, 10) == [False, True]
    assert rows_to_withhold(rows, 1) == [False, False]


def test_a_second_row_goes_with_a_small_one() -> None:
    """The total less all others would tell it: the smallest of the rest goes too."""
    assert rows_to_withhold([TOTAL, *RACE], 10) == [False, True, True, False]
    assert rows_to_withhold(RACE, 10) == [True, False, False]
    assert rows_to_withhold([TOTAL, *RACE], 3) == [False] * 4
    assert rows_to_withhold([TOTAL, *RACE], 4) == [False, True, True, False]


def test_rows_that_go_for_another_reason() -> None:
    """They are withheld, and others with them, so that they cannot be computed."""
    rows = [TOTAL, *margin("race", ("a", 40, 13), ("b", 50, 20), ("c", 60, 25))]
    assert rows_to_withhold(rows, 10) == [False] * 4
    # People of no known race may be as many: nobody can tell the 25 of the last.
    assert rows_to_withhold(rows, 10, [3]) == [False, False, False, True]
    none = [TOTAL, *margin("race", ("a", 40, 0), ("b", 50, 28), ("c", 60, 30))]
    assert rows_to_withhold(none, 10) == [False] * 4
    assert rows_to_withhold(none, 10, [1]) == [False, True, True, False]
    assert rows_to_withhold(rows[1:], 10, {2}) == [False, False, True]


def test_where_nothing_else_can_go() -> None:
    """A single group is the total: the total goes too, and that is the end."""
    assert rows_to_withhold([PublishedRow((), (), 20, 3), *margin("race", ("a", 20, 3))], 10) == [True, True]
    assert rows_to_withhold([], 10) == []


def test_rows_of_the_unknown() -> None:
    """Those of whom the attribute is not known are a row of its table."""
    rows = [TOTAL, *RACE[:2], PublishedRow(("race",), None, 60, 30)]
    assert rows_to_withhold(rows, 10) == [False, True, True, False]


CELLS = list(product(["x", "y", None], ["u", "v", None]))
# All tables of up to three people in a cell.
TABLES = np.array(np.meshgrid(*[np.arange(4)] * 9, indexing="ij"), dtype=np.int8).reshape(9, -1)


def sums(row: PublishedRow) -> np.ndarray:
    """What a row would say of each table; people may be of no known group."""
    names = dict(zip(row.attributes, row.groups or (), strict=True))
    inside = [names.get("one", a) == a and names.get("two", b) == b for a, b in CELLS]
    return np.asarray(TABLES[inside].sum(axis=0))


@pytest.mark.parametrize("gone", [(1,), (1, 2), (5, 6), (5, 8), (5, 6, 7, 8), (1, 5, 6), (5,), (3, 4, 5, 7)])
def test_what_can_be_computed(gone: tuple[int, ...]) -> None:
    """The range of every withheld row over all tables that have the sums that stay."""
    selected, rest = np.array([[1, 0], [1, 1]]), np.array([[0, 1], [1, 0]])
    rows = [PublishedRow((), (), int((selected + rest).sum()), int(selected.sum()))]
    for axis, name, groups in ((1, "one", "xy"), (0, "two", "uv")):
        for i, group in enumerate(groups):
            s, r = (int(part.sum(axis=axis)[i]) for part in (selected, rest))
            rows.append(PublishedRow((name,), (group,), s + r, s))
    for (i, a), (j, b) in product(enumerate("xy"), enumerate("uv")):
        s, r = int(selected[i, j]), int(rest[i, j])
        rows.append(PublishedRow(("one", "two"), (a, b), s + r, s))
    withheld = np.isin(np.arange(len(rows)), gone)
    told = [sums(row) for row in rows]
    attack = _Attack(rows)
    for place in gone:
        found = []
        for kind in range(2):
            possible = np.all([told[i] == row.counts[kind] for i, row in enumerate(rows) if not withheld[i]], axis=0)
            found.append(int(np.ptp(told[place][possible])))
        assert attack.range_of(place, withheld) == pytest.approx(min(found), abs=1e-5)


def test_what_no_sum_bounds() -> None:
    """Without any published sum a count may be any number."""
    attack = _Attack(RACE)
    assert attack.range_of(0, np.array([True, False, False])) == np.inf
    assert attack.range_of(0, np.ones(3, dtype=bool)) == np.inf


def test_the_lines_of_a_row() -> None:
    """Its table, and before it the parts of crossings that make up each of its groups."""
    rows = [TOTAL, *RACE, *margin("sex", ("f", 70, 30), ("m", 80, 28))]
    rows += [PublishedRow(("race", "sex"), (race, sex), 20, 10) for race in "abc" for sex in "fm"]
    assert _lines(rows, 0) == []
    assert _lines(rows, 2) == [[8, 9], [1, 2, 3]]
    assert _lines(rows, 4) == [[6, 8, 10], [4, 5]]
    assert _lines(rows, 6) == [[6, 8, 10], [6, 7], list(range(6, 12))]
    assert _lines(rows[:4], 1) == [[1, 2, 3]]


def test_which_row_goes_next() -> None:
    """The smallest of a sum of which too little is gone; then of any sum; then groups over it, totals, and whatever is left."""
    rows = [TOTAL, *RACE, *margin("sex", ("f", 70, 30), ("m", 80, 28))]

    def further(place: int, gone: list[int], limit: int = 10, held: list[PublishedRow] = rows) -> int | None:
        return _further_row(held, place, np.isin(np.arange(len(held)), gone), limit)

    assert further(1, [1]) == 2
    assert further(1, [1, 2]) == 3
    assert further(1, [1, 2, 3]) == 0
    assert further(1, [0, 1, 2, 3]) == 4
    assert further(1, list(range(6))) is None
    empty = [TOTAL, *margin("race", ("a", 40, 3), ("b", 0, 0), ("c", 60, 30))]
    assert further(1, [1], held=empty) == 3
    crossed = [*rows, *(PublishedRow(("race", "sex"), (race, sex), 20, 10) for race in "abc" for sex in "fm")]
    small = [*crossed[:6], *(PublishedRow(("race", "sex"), row.groups, 20 + i, 3) for i, row in enumerate(crossed[6:]))]
    assert further(6, [6], held=small) == 8
    assert further(6, [6, 8, 10], held=small) == 7
    # What is gone of the column is little, and there is more of it to go.
    assert further(6, [6, 8], 10, small) == 10
    # So much of it is gone that the row is next.
    assert further(6, [6, 8], 6, small) == 7
    assert further(6, list(range(6, 12)), held=small) == 1
    assert further(6, [1, *range(6, 12)], held=small) == 4
    assert further(6, [1, 4, *range(6, 12)], held=small) == 0


def test_crossings_that_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three groups of one and two of another, each with the unknown: twelve crossings."""
    rows = [*RACE, *margin("sex", ("f", 70, 30), ("m", 80, 28))]
    monkeypatch.setattr(module, "_MOST_CELLS", 12)
    assert len(_Attack(rows).cells) == 12
    monkeypatch.setattr(module, "_MOST_CELLS", 11)
    with pytest.raises(ValueError, match="the groups make 12 crossings, more than the 11 that can be checked"):
        _Attack(rows)


def test_crossings_without_a_row_have_nobody() -> None:
    rows = [*RACE[:2], *margin("sex", ("f", 70, 30), ("m", 20, 8))]
    rows += [PublishedRow(("race", "sex"), (race, sex), 20, 10) for race, sex in ("af", "bf", "bm")]
    cells = [tuple(cell.values()) for cell in _Attack(rows).cells]
    assert ("a", "m") not in cells
    assert {("a", "f"), ("b", "f"), ("b", "m"), ("a", None), (None, "f"), (None, None)} <= set(cells)
    assert len(cells) == 8
