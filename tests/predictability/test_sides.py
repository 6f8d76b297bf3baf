"""Sides: how labels are read as variables and classes, how records are numbered, and the one order that they have."""

from __future__ import annotations

import numpy as np
import pytest

from biasamp.data import Label, binary, categorical, label_set, read_columns
from biasamp.predictability.sides import (
    Labels,
    Numbers,
    canonical,
    labels_from,
    labels_of_combinations,
    mix,
    names_of_variables,
    narrow,
    number_rows,
    one_variable,
)


def read(data, soft=False, like=None):
    return labels_from(label_set(read_columns(data, "x"), "x", soft=soft, like=like))


def yes_no(matrix):
    matrix = np.asarray(matrix, dtype=np.uint8)
    return Labels(matrix, (2,) * matrix.shape[1], (True,) * matrix.shape[1])


def probable(*chances):
    """Yes/no labels that are told by their probabilities."""
    tables = tuple(np.column_stack([1 - np.array(c), np.array(c)]) for c in chances)
    return Labels(np.zeros((len(tables[0]), len(tables)), np.uint8), (2,) * len(tables), (True,) * len(tables), tables)


@pytest.mark.parametrize(
    "sizes",
    [
        (3,),
        (2, 3),
        (5, 1, 4),
        (300, 7),
        (40, 50, 60),
        (1000, 1000, 1000),
        (2,) * 61,
        (2,) * 62,
        (2,) * 63,
        (2,) * 70,
        (256,) * 9,
        (257,) * 9,
        (3, 70_000, *(2,) * 60),
    ],
)
@pytest.mark.parametrize("n", [1, 40])
def test_rows_are_numbered_in_lexicographic_order(sizes, n):
    rng = np.random.default_rng(len(sizes))
    codes = np.column_stack([rng.integers(0, min(size, 3), n) * max(1, (size - 1) // 2) for size in sizes])
    codes = np.concatenate([codes, codes[::2]]).astype(np.min_scalar_type(max(sizes) - 1))
    place, many = number_rows(codes, sizes)
    distinct, expected = np.unique(codes, axis=0, return_inverse=True)
    assert many == len(distinct)
    assert place.dtype == np.int64
    assert place.tolist() == expected.ravel().tolist()


def test_rows_that_differ_by_more_than_a_byte_holds_are_told_apart():
    codes = np.zeros((4, 9), dtype=np.uint16)
    codes[:, -1] = [256, 0, 255, 1]
    assert number_rows(codes, (257,) * 9)[0].tolist() == [3, 0, 2, 1]
    codes[:, -1] = [2, 0, 256, 1]
    assert number_rows(codes, (257,) * 9)[0].tolist() == [2, 0, 3, 1]
    codes = np.zeros((3, 70), dtype=np.uint16)
    codes[:, 0] = [256, 1, 0]
    assert number_rows(codes, (257, *(2,) * 69))[0].tolist() == [2, 1, 0]


def test_every_combination_or_some_of_them():
    assert [x if isinstance(x, int) else x.tolist() for x in number_rows(np.array([[1], [0], [2]]), (3,))] == [
        [1, 0, 2],
        3,
    ]
    place, many = number_rows(np.array([[3], [1], [3]]), (4,))
    assert (place.tolist(), many) == ([1, 0, 1], 2)


@pytest.mark.parametrize(
    ("size", "dtype"), [(1, "u1"), (2, "u1"), (256, "u1"), (257, "u2"), (65_536, "u2"), (65_537, "u4")]
)
def test_codes_are_as_small_as_their_classes_allow(size, dtype):
    made = narrow(np.array([[0, size - 1]]), (1, size))
    assert made.dtype == np.dtype(dtype)
    assert made.tolist() == [[0, size - 1]]


def test_columns_are_variables_with_classes_and_labels_absent_or_present():
    side = read({"kind": ["b", "a", "c"], "flag": binary([1, 0, 1])})
    assert (side.sizes, side.yes_no) == ((3, 2), (False, True))
    assert side.codes.tolist() == [[1, 1], [0, 0], [2, 1]]
    assert side.chances is None
    assert (side.width, len(side)) == (2, 3)
    assert side.indicators().tolist() == [[0, 1, 0, 1], [1, 0, 0, 0], [0, 0, 1, 1]]
    assert side.indicators(np.float32).dtype == np.float32
    several = read([["p", "q"], [], ["q"]])
    assert (several.sizes, several.yes_no) == ((2, 2), (True, True))
    assert several.codes.tolist() == several.indicators().tolist() == [[1, 1], [0, 0], [0, 1]]
    one = read(list("xyx"))
    assert (one.sizes, one.yes_no, one.codes.tolist()) == ((2,), (False,), [[0], [1], [0]])
    assert one.indicators().tolist() == [[1, 0], [0, 1], [1, 0]]


def test_probabilities_are_chances_of_classes():
    truth = label_set(read_columns([[0, 1], [1, 0]], "x"), "x")
    side = read(np.array([[0.25, 1.0], [0.5, 0.0]]), soft=True, like=truth)
    assert (side.sizes, side.yes_no) == ((2, 2), (True, True))
    assert [chance.tolist() for chance in side.chances] == [[[0.75, 0.25], [0.5, 0.5]], [[0.0, 1.0], [1.0, 0.0]]]
    shares = categorical(np.array([[0.5, 0.25, 0.25], [0.0, 0.125, 0.875]]), categories=["a", "b", "c"])
    variable = read(shares, soft=True)
    assert (variable.sizes, variable.yes_no) == ((3,), (False,))
    assert [chance.tolist() for chance in variable.chances] == [[[0.5, 0.25, 0.25], [0.0, 0.125, 0.875]]]


def test_some_of_the_records():
    side = probable([0.0, 0.5, 1.0], [0.25, 0.75, 0.5])
    taken = side.take(np.array([2, 0]))
    assert [chance[:, 1].tolist() for chance in taken.chances] == [[1.0, 0.0], [0.5, 0.25]]
    assert len(taken) == 2
    hard = Labels(np.array([[1, 4], [0, 2]], np.uint8), (2, 5), (True, False)).take(np.array([1]))
    assert (hard.codes.tolist(), hard.sizes, hard.yes_no, hard.chances) == ([[0, 2]], (2, 5), (True, False), None)
    numbers = Numbers(np.array([[1.0, 2.0], [3.0, 4.0]]))
    assert (len(numbers), numbers.width) == (2, 2)
    assert numbers.take(np.array([1])).values.tolist() == [[3.0, 4.0]]
    assert numbers.indicators() is numbers.values
    assert Numbers(np.zeros((5, 3))).width == 3


def test_labels_are_drawn_with_their_chances():
    rng = np.random.default_rng(0)
    n = 20_000
    # Shares of any total: a class of chance 0 is never drawn, whether first, last or in between.
    certain = np.eye(3)[np.arange(n) % 3]
    odd = np.tile([[1.0, 0.0, 3.0, 4.0]], (n, 1))
    side = Labels(np.zeros((n, 2), np.uint8), (3, 4), (False, False), (certain, odd))
    drawn = side.drawn(rng)
    assert drawn.chances is None
    assert (drawn.codes[:, 0] == np.arange(n) % 3).all()
    seen = np.bincount(drawn.codes[:, 1], minlength=4)
    assert seen[1] == 0
    assert np.abs(seen / n - [1 / 8, 0, 3 / 8, 1 / 2]).max() < 0.015
    assert len(set(map(tuple, zip(drawn.codes[:50, 1].tolist(), strict=True)))) == 3
    assert drawn.drawn(rng) is drawn
    assert (drawn.codes.dtype, drawn.sizes, drawn.yes_no) == (np.uint8, (3, 4), (False, False))
    first = Labels(np.zeros((n, 1), np.uint8), (2,), (True,), (np.tile([0.0, 1.0], (n, 1)),))
    assert (first.drawn(rng).codes == 1).all()


@pytest.mark.parametrize("width", [1, 3, 255, 256, 300])
def test_holders_are_the_records_that_have_a_label(width):
    codes = (np.random.default_rng(width).random((50, width)) < 0.2).astype(np.uint8)
    codes[:, -1] *= 2
    side = Labels(codes, (3,) * width, (False,) * width)
    assert side.holding.tolist() == (codes > 0).sum(axis=0).tolist()
    assert [held.tolist() for held in side.holders] == [np.flatnonzero(column).tolist() for column in codes.T]


# Names of a table's side, with combinations of which `colour` has one each, `size` has none in one of them, and `old` is alone.
NAMES = (
    Label("size", "small"),
    Label("colour", "red"),
    Label("old"),
    Label("colour", "blue"),
    Label("size", "large"),
    Label("colour", "green"),
)
COMBINATIONS = np.array([[1, 0, 1, 1, 0, 0], [0, 1, 0, 0, 1, 0], [0, 0, 1, 0, 0, 1]], dtype=np.uint8)


def test_labels_of_one_variable_of_which_each_combination_has_one_are_its_classes():
    side = labels_of_combinations(NAMES, COMBINATIONS)
    assert names_of_variables(NAMES, COMBINATIONS) == ["size=small", "colour", "old", "size=large"]
    assert (side.sizes, side.yes_no) == ((2, 3, 2, 2), (True, False, True, True))
    # Classes in the order of the labels: red, blue, green.
    assert side.codes.tolist() == [[1, 1, 1, 0], [0, 0, 0, 1], [0, 2, 1, 0]]
    whole = labels_of_combinations(NAMES, COMBINATIONS[:2])
    assert names_of_variables(NAMES, COMBINATIONS[:2]) == ["size", "colour", "old"]
    assert (whole.sizes, whole.codes.tolist()) == ((2, 3, 2), [[0, 1, 1], [1, 0, 0]])
    twice = COMBINATIONS.copy()
    twice[0, 1] = 1
    assert names_of_variables(NAMES, twice[:2]) == ["size", "colour=red", "old", "colour=blue", "colour=green"]


def test_one_hot_labels_are_one_variable_without_the_classes_that_no_side_has():
    truth = yes_no([[1, 0, 0, 0], [0, 0, 1, 0], [1, 0, 0, 0]])
    said = yes_no([[0, 0, 1, 0], [0, 0, 0, 1], [1, 0, 0, 0]])
    one, two = one_variable(truth, said)
    assert (one.sizes, two.sizes, one.yes_no, two.yes_no) == ((3,), (3,), (False,), (False,))
    assert (one.codes.tolist(), two.codes.tolist()) == ([[0], [1], [0]], [[1], [2], [0]])
    assert one.chances is two.chances is None
    (alone,) = one_variable(truth)
    assert (alone.sizes, alone.codes.tolist()) == ((2,), [[0], [1], [0]])


def test_probabilities_that_add_up_to_one_are_one_variable():
    truth = yes_no([[1, 0], [0, 1]])
    said = probable([0.25, 1.0], [0.75, 0.0])
    one, two = one_variable(truth, said)
    assert (one.chances, one.sizes, two.sizes) == (None, (2,), (2,))
    assert one.codes.tolist() == [[0], [1]]
    assert [chance.tolist() for chance in two.chances] == [[[0.25, 0.75], [1.0, 0.0]]]
    near = probable([0.25, 1.0], [0.75 + 5e-7, 0.0])
    assert one_variable(truth, near)[1].width == 1
    far = probable([0.25, 1.0], [0.75 + 5e-6, 0.0])
    assert one_variable(truth, far) == (truth, far)


@pytest.mark.parametrize(
    "other",
    [
        yes_no([[1, 1], [0, 1]]),
        yes_no([[0, 0], [0, 1]]),
        yes_no([[1], [1]]),
        Numbers(np.array([[1.0, 0.0], [0.0, 1.0]])),
        Labels(np.array([[1, 0], [0, 1]], np.uint8), (2, 2), (True, False)),
        Labels(np.array([[1, 0], [0, 1]], np.uint8), (2, 2), (False, False)),
    ],
)
def test_sides_stay_where_one_of_them_is_not_one_hot(other):
    hot = yes_no([[1, 0], [0, 1]])
    assert one_variable(hot, other) == (hot, other)
    assert one_variable(other, hot) == (other, hot)
    assert one_variable(other) == (other,)


def test_scrambled_numbers_are_those_of_splitmix64():
    """The first outputs of the generator with seed 0, as its author publishes them."""
    steps = np.arange(3, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    assert [hex(value) for value in mix(steps).tolist()] == [
        "0xe220a8397b1dcdaf",
        "0x6e789e6aa1b965f4",
        "0x6c45d188009454f",
    ]


def random_sides(rng, n=120):
    other = Labels(
        np.column_stack([rng.integers(0, 3, n), rng.integers(0, 2, n)]).astype(np.uint8), (3, 2), (False, True)
    )
    codes = np.column_stack([rng.integers(0, 4, n), rng.integers(0, 2, n), rng.integers(0, 2, n)]).astype(np.uint8)
    said = np.where(rng.random((n, 3)) < 0.2, codes[rng.permutation(n)], codes)
    return other, *(Labels(x, (4, 2, 2), (False, True, True)) for x in (codes, said))


def renamed(rng, sides, counts):
    """The same records in another order, with variables in another order and classes under other numbers."""
    order = rng.permutation(len(counts))
    other, *pair = sides

    def moved(side, variables, classes):
        codes = np.column_stack([classes[v][side.codes[:, v]] for v in variables]).astype(np.uint8)
        chances = (
            None
            if side.chances is None
            else tuple(side.chances[v][:, np.argsort(classes[v])][order] for v in variables)
        )
        return Labels(
            codes[order], tuple(side.sizes[v] for v in variables), tuple(side.yes_no[v] for v in variables), chances
        )

    out = []
    for group in ([other], pair):
        head = group[0]
        if isinstance(head, Numbers):
            out += [side.take(order) for side in group]
            continue
        variables = rng.permutation(head.width)
        classes = [np.arange(2) if yes else rng.permutation(k) for k, yes in zip(head.sizes, head.yes_no, strict=True)]
        out += [moved(side, variables, classes) for side in group]
    return out, counts[order]


def same(first, second):
    for a, b in zip(first[:3], second[:3], strict=True):
        if isinstance(a, Numbers):
            assert (a.values == b.values).all()
            continue
        assert (a.sizes, a.yes_no) == (b.sizes, b.yes_no)
        if a.chances is None:
            assert (a.codes == b.codes).all()
        else:
            assert all((x == y).all() for x, y in zip(a.chances, b.chances, strict=True))
    assert (first[3] == second[3]).all()


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", ["labels", "counted", "soft", "numbers"])
def test_names_and_orders_of_labels_of_all_kinds_change_nothing(kind, seed):
    rng = np.random.default_rng(seed)
    sides, counts = list(random_sides(rng)), np.ones(120, dtype=np.int64)
    if kind == "counted":
        counts = rng.integers(1, 9, 120)
    if kind == "numbers":
        sides[0] = Numbers(rng.normal(size=(120, 2)))
    if kind == "soft":
        said = sides[2]
        chances = tuple(rng.dirichlet(np.ones(size), 120) for size in said.sizes)
        sides[2] = Labels(np.zeros_like(said.codes), said.sizes, said.yes_no, chances)
    first = canonical(*sides, counts)
    moved, turned = renamed(rng, sides, counts)
    same(first, canonical(*moved, turned))
    assert first[3].sum() == counts.sum()
    if kind in ("labels", "counted"):
        assert set(map(len, first[:3])) == {len(first[3])}
        cells = np.column_stack([side.codes for side in first[:3]])
        # Each cell once, in lexicographic order.
        assert (np.unique(cells, axis=0) == cells).all()
        wrong = [
            int((counted * (a.codes != b.codes).any(axis=1)).sum()) for _, a, b, counted in (first, (*sides, counts))
        ]
        assert wrong[0] == wrong[1]


def test_records_alike_are_one_cell_with_their_sum():
    side = yes_no([[0], [1], [0], [1]])
    for counts, expected in (
        ([1, 1, 1, 1], [2, 2]),
        ([1, 5, 3, 7], [4, 12]),
        ([1, 1, 1, 2], [2, 3]),
        ([2, 2, 2, 2], [4, 4]),
    ):
        *sides, total = canonical(side, side, side, np.array(counts))
        assert total.tolist() == expected
        assert [one.codes.tolist() for one in sides] == [[[0], [1]]] * 3


def test_absence_stays_absence():
    """A label has no order of classes to be found: absent is 0 and present 1, whichever is the more frequent."""
    for many in (1, 9):
        truth = yes_no([[1]] * many + [[0]] * (10 - many))
        said = yes_no([[1]] * 10)
        other = Labels((np.arange(10) % 2)[:, None].astype(np.uint8), (2,), (False,))
        _, one, two, counts = canonical(other, truth, said, np.ones(10, dtype=np.int64))
        assert int(counts[one.codes[:, 0] == 1].sum()) == many
        assert (two.codes == 1).all()


# What the records below come to.
SIZES = [(3, 2), (2, 4, 2), (2, 4, 2)]
HARD = [
    [0, 0, 0, 1, 1, 1, 0, 1],
    [0, 0, 0, 2, 0, 0, 2, 1],
    [0, 1, 0, 0, 0, 0, 2, 0],
    [0, 1, 1, 3, 0, 1, 1, 0],
    [1, 0, 0, 0, 0, 0, 0, 0],
    [1, 0, 1, 3, 0, 1, 1, 1],
    [1, 1, 0, 2, 1, 0, 2, 1],
    [1, 1, 1, 1, 0, 1, 0, 0],
    [2, 0, 0, 2, 0, 0, 2, 0],
    [2, 0, 1, 1, 0, 1, 1, 0],
    [2, 1, 0, 0, 0, 1, 0, 1],
    [2, 1, 1, 3, 1, 1, 1, 1],
]
COUNTS = [3, 1, 4, 2, 1, 3, 2, 4, 3, 1, 2, 4]
SOFT = [
    [0, 0, 1, 0, 0],
    [0, 0, 3, 1, 0],
    [0, 1, 0, 0, 0],
    [0, 1, 2, 1, 1],
    [1, 0, 0, 0, 0],
    [1, 0, 2, 1, 0],
    [1, 1, 1, 0, 1],
    [1, 1, 3, 1, 0],
    [2, 0, 1, 0, 0],
    [2, 0, 3, 0, 1],
    [2, 1, 0, 0, 0],
    [2, 1, 2, 1, 0],
]
CHANCES = [
    [
        [7, 5, 4, 2],
        [4, 3, 6, 5],
        [2, 4, 5, 7],
        [6, 2, 7, 3],
        [6, 2, 7, 3],
        [3, 7, 2, 6],
        [4, 3, 6, 5],
        [1, 1, 1, 1],
        [1, 1, 1, 1],
        [5, 6, 3, 4],
        [3, 7, 2, 6],
        [7, 5, 4, 2],
    ],
    [[7, 2], [5, 6], [6, 4], [4, 1], [4, 1], [2, 5], [5, 6], [3, 3], [3, 3], [1, 7], [2, 5], [7, 2]],
    [[6, 1], [4, 5], [5, 3], [3, 7], [3, 7], [1, 4], [4, 5], [2, 2], [2, 2], [7, 6], [1, 4], [6, 1]],
]
NUMBERS = [[0, -8], [0, -4], [0, 0], [1, -9], [1, -5], [1, -1], [2, -10], [2, -6], [2, -2], [3, -11], [3, -7], [3, -3]]
BESIDE = [
    [3, 1, 0],
    [0, 0, 0],
    [2, 0, 0],
    [1, 1, 0],
    [0, 0, 0],
    [2, 0, 1],
    [1, 1, 0],
    [3, 0, 1],
    [2, 0, 0],
    [1, 1, 1],
    [3, 1, 0],
    [0, 0, 0],
]
READ = [[0, 0], [0, 0], [0, 1], [0, 1], [0, 2], [0, 2], [1, 0], [1, 0], [1, 1], [1, 1], [1, 2], [1, 2]]
FIRST = [4, 10, 8, 2, 0, 6, 1, 7, 5, 11, 9, 3]


def order_of(found):
    """The codes of all sides, record by record."""
    return np.column_stack([side.codes for side in found]).tolist()


@pytest.fixture
def twelve():
    """Twelve records: a variable and a label to read, and a variable and two labels to predict, hard and as probabilities."""
    i = np.arange(12)
    other = Labels(np.column_stack([i % 3, i % 2]).astype(np.uint8), (3, 2), (False, True))
    truth = Labels(np.column_stack([i // 3, i % 5 == 1, i > 6]).astype(np.uint8), (4, 2, 2), (False, True, True))
    said = Labels(np.column_stack([i // 4, i % 5 < 2, i > 4]).astype(np.uint8), (4, 2, 2), (False, True, True))
    shares = [(1 + (i[:, None] * (np.arange(k) + 2) + v) % 7) / 8 for v, k in enumerate((4, 2, 2))]
    soft = Labels(np.zeros((12, 3), np.uint8), (4, 2, 2), (False, True, True), tuple(shares))
    return other, truth, said, soft


def test_records_keep_their_order_from_release_to_release(twelve):
    """Draws follow it: were it another one, the same seed would give other trials."""
    other, truth, said, _ = twelve
    *sides, counts = canonical(other, truth, said, np.arange(12) % 4 + 1)
    assert [side.sizes for side in sides] == SIZES
    assert order_of(sides) == HARD
    assert counts.tolist() == COUNTS


def test_records_with_probabilities_and_numbers_keep_their_order_too(twelve):
    other, truth, _, soft = twelve
    ones = np.ones(12, dtype=np.int64)
    one, two, three, _ = canonical(other, truth, soft, ones)
    assert order_of((one, two)) == SOFT
    assert [(8 * chance).astype(int).tolist() for chance in three.chances] == CHANCES
    numbers = Numbers(np.column_stack([np.arange(12) * 5 % 4, -np.arange(12)]) / 4)
    one, two, three, _ = canonical(numbers, truth, soft, ones)
    assert (4 * one.values).tolist() == NUMBERS
    assert order_of((two,)) == BESIDE
    one, two, three, _ = canonical(other, numbers, numbers.take(np.arange(12)[::-1]), ones)
    assert order_of((one,)) == READ
    assert (-4 * two.values[:, 1]).tolist() == FIRST
    # Zeros of either sign are one number.
    negative = Numbers(np.where(numbers.values == 0, -0.0, numbers.values))
    assert (
        canonical(other, negative, negative, ones)[0].codes == canonical(other, numbers, numbers, ones)[0].codes
    ).all()
