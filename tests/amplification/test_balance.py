"""Balanced sets, against the constraints they are to meet."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import biasamp
from biasamp.amplification.balance import exactly_balanced, with_majority, within_ratio

RECORDS = st.lists(st.tuples(st.booleans(), st.booleans(), st.booleans()), min_size=1, max_size=60)


@given(RECORDS, st.integers(0, 3))
def test_exactly_balanced(records: list[tuple[bool, bool, bool]], seed: int) -> None:
    """Eq. 15, and as many records as pairs of a man and a woman with the same tasks can be made."""
    man = np.array([record[0] for record in records])
    objects = np.array([record[1:] for record in records])
    kept = exactly_balanced(objects, man, seed)
    assert sorted(set(kept.tolist())) == kept.tolist()
    assert (objects[kept][man[kept]].sum(axis=0) == objects[kept][~man[kept]].sum(axis=0)).all()
    assert man[kept].sum() == (~man[kept]).sum()
    cells = Counter(records)
    assert len(kept) == 2 * sum(
        min(cells[True, *rest], cells[False, *rest]) for rest in {record[1:] for record in records}
    )


@given(RECORDS, st.integers(0, 3), st.sampled_from([1.5, 2.0, 4.0]))
def test_within_ratio(records: list[tuple[bool, bool, bool]], seed: int, largest: float) -> None:
    """Eq. 16, or an error where a task is one gender's alone."""
    man = np.array([record[0] for record in records])
    objects = np.array([record[1:] for record in records])
    try:
        kept = within_ratio(objects, man, largest=largest, seed=seed)
    except ValueError:
        # Never a set in which both genders have each task as often.
        assert (objects[man].sum(axis=0) != objects[~man].sum(axis=0)).any()
        return
    for task in range(2):
        men, women = (int(objects[kept][side[kept], task].sum()) for side in (man, ~man))
        assert (men == women == 0) or 1 / largest < men / women < largest
    # Those without a task never stand in the way.
    assert set(np.flatnonzero(~objects.any(axis=1))) <= set(kept.tolist())


def test_within_ratio_leaves_out_no_more_than_it_must() -> None:
    # 10 men and 3 women: below twice as many are 5.
    kept = within_ratio([[True]] * 13, [True] * 10 + [False] * 3)
    assert (np.array(kept) < 10).sum() == 5
    assert within_ratio([[True]] * 5, [True] * 3 + [False] * 2).tolist() == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("of_men", [True, False])
def test_with_majority_by_hand(of_men: bool) -> None:
    rng = np.random.default_rng(0)
    task, man = rng.random((2, 1000)) < 0.5
    kept = with_majority(task, man, ratio=3.0, of_men=of_men, most=400)
    cells = Counter(zip(task[kept].tolist(), man[kept].tolist(), strict=True))
    # 400 records: 3/8, 3/8, 1/8 and 1/8 of them.
    assert cells == {(True, of_men): 150, (False, not of_men): 150, (True, not of_men): 50, (False, of_men): 50}


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: exactly_balanced([1, 0], [1, 0]), "shape"),
        (lambda: within_ratio([[1], [1]], [1, 1]), "2 men and 0 women"),
        (lambda: within_ratio([[1], [1]], [1, 0], largest=1.0), "above 1"),
        (lambda: with_majority([1, 0], [1, 0, 1], ratio=2, of_men=True), "shape"),
        (lambda: with_majority([1, 0], [1, 0], ratio=0.5, of_men=True), "1 or more"),
    ],
)
def test_bad_input(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


def test_balance_is_equations_15_and_16_on_any_labels() -> None:
    rng = np.random.default_rng(0)
    gender = np.where(rng.random(600) < 0.6, "m", "f")
    objects = [
        [name for k, name in enumerate("abc") if rng.random() < (0.5 if (g == "m") == (k == 0) else 0.2)]
        for g in gender
    ]

    def counts(rows: np.ndarray) -> dict[str, Counter[str]]:
        return {name: Counter(gender[i] for i in rows if name in objects[i]) for name in "abc"}

    kept = biasamp.balance(objects, gender, seed=1)
    assert all(found["m"] == found["f"] > 0 for found in counts(kept).values())
    near = biasamp.balance(objects, gender, ratio=2, seed=1)
    assert all(0.5 < found["m"] / found["f"] < 2 for found in counts(near).values())
    assert len(near) > len(kept)
    # Other containers of the same labels give the same rows; so does a Generator of the same seed.
    flags = np.array([[name in held for name in "abc"] for held in objects]).astype(int)
    columns = {name: flags[:, k] for k, name in enumerate("abc")}
    assert biasamp.balance(columns, gender.tolist(), seed=1).tolist() == kept.tolist()
    assert biasamp.balance(flags, gender, seed=np.random.default_rng(1)).tolist() == kept.tolist()
    # On the exactly balanced set a perfect model has no amplification, and tasks tell nothing of the group.
    task = flags[kept]
    assert biasamp.directional(gender[kept], task, task.copy()).value == 0


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: biasamp.balance([["a"], ["b"]], ["m"]), "tasks has 2 records and attribute 1"),
        (lambda: biasamp.balance([["a"]] * 3, ["x", "y", "z"]), "attribute has 3 groups"),
        (lambda: biasamp.balance([["a"]] * 2, ["m", "f"], ratio=1), "ratio is 1; it must be above 1"),
        (lambda: biasamp.balance([["a"], ["b"]], ["m", "f"], ratio=2), "the task a goes with one group alone"),
        (lambda: biasamp.balance([["a"], ["b"]], ["m", None]), "attribute has 1 missing"),
        (lambda: biasamp.balance(np.array([[0.2], [0.7]]), ["m", "f"]), "tasks takes 0/1 only"),
    ],
)
def test_balance_names_what_is_wrong(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]


def test_seeds_are_numbers_or_generators() -> None:
    """Seed 0 where none is named; the same seed draws the same records, another one others."""
    rng = np.random.default_rng(4)
    gender, tasks = rng.choice(["m", "f"], 300), (rng.random((300, 2)) < 0.4).astype(int)
    for asked in ({}, {"ratio": 1.2}):
        kept = biasamp.balance(tasks, gender, **asked).tolist()
        assert kept == biasamp.balance(tasks, gender, **asked, seed=0).tolist()
        assert kept != biasamp.balance(tasks, gender, **asked, seed=1).tolist()
        assert kept == biasamp.balance(tasks, gender, **asked, seed=np.random.default_rng(0)).tolist()
    first = gender == "m"
    assert exactly_balanced(tasks, first).tolist() == exactly_balanced(tasks, first, 0).tolist()
    assert within_ratio(tasks, first).tolist() == within_ratio(tasks, first, largest=2.0, seed=0).tolist()
    usual = with_majority(tasks[:, 0], first, ratio=2.0, of_men=True)
    assert usual.tolist() == with_majority(tasks[:, 0], first, ratio=2.0, of_men=True, most=None, seed=0).tolist()
    assert usual.tolist() != with_majority(tasks[:, 0], first, ratio=2.0, of_men=True, seed=1).tolist()
    for wrong in (-1, 1.5, "0"):
        with pytest.raises((TypeError, ValueError), match="seed"):
            biasamp.balance(tasks, gender, seed=wrong)  # type: ignore[arg-type]


def test_no_records_are_balanced() -> None:
    kept = exactly_balanced(np.zeros((0, 2)), np.zeros(0))
    assert (kept.tolist(), kept.dtype) == ([], np.int64)
    assert exactly_balanced([[1], [0]], [1, 1]).tolist() == []


@pytest.mark.parametrize(
    ("men", "women", "largest", "left"),
    [(8, 2, 2.0, 3), (10, 3, 2.0, 5), (4, 2, 2.0, 3), (3, 2, 2.0, 3), (9, 2, 2.5, 4), (4, 4, 1.01, 4), (9, 4, 1.5, 5)],
)
def test_as_many_are_left_as_stay_below_the_ratio(men: int, women: int, largest: float, left: int) -> None:
    """The same for either gender, and records without the task stay."""
    for first in (True, False):
        gender = np.array([first] * men + [not first] * women + [True, False])
        tasks = np.array([[True]] * (men + women) + [[False]] * 2)
        kept = within_ratio(tasks, gender, largest=largest, seed=3)
        counts = Counter((bool(gender[i]) == first) for i in kept if tasks[i, 0])
        assert counts == {True: left, False: women}
        assert kept[-2:].tolist() == [men + women, men + women + 1]
        assert np.array_equal(kept, np.sort(kept))


def test_the_worst_task_is_the_first() -> None:
    """The second task is further over; those it loses bring the first below the ratio as well."""
    tasks = np.array([[1, 1]] * 6 + [[1, 0]] * 1 + [[1, 0]] * 3 + [[0, 1]] * 1)
    gender = np.array([1] * 7 + [0] * 3 + [0])
    kept = within_ratio(tasks, gender, seed=0)
    assert [int(tasks[kept][gender[kept] == g, k].sum()) for k in range(2) for g in (1, 0)] == [2, 3, 1, 1]


def test_tasks_that_one_gender_loses_are_named() -> None:
    with pytest.raises(ValueError, match=r"objects: task 1 has 0 men and 3 women left, .* a ratio of 1\.5"):
        within_ratio([[1, 0], [1, 1], [0, 1], [0, 1]], [1, 0, 0, 0], largest=1.5)
    with pytest.raises(ValueError, match=r"largest must be above 1, found 0\.5"):
        within_ratio([[1]], [1], largest=0.5)
    with pytest.raises(ValueError, match=r"objects has shape \(2, 1\) and man \(3,\)"):
        within_ratio([[1], [1]], [1, 0, 1])


@pytest.mark.parametrize("of_men", [True, False])
@pytest.mark.parametrize(
    ("cells", "ratio", "most", "large", "small"),
    [
        ((8, 8, 8, 8), 1.0, None, 8, 8),
        ((8, 8, 8, 8), 2.0, None, 8, 4),
        ((9, 8, 8, 8), 2.5, None, 8, 3),
        ((30, 20, 4, 7), 3.0, None, 12, 4),
        ((30, 30, 30, 30), 2.0, 30, 10, 5),
        ((30, 30, 30, 30), 2.0, 29, 8, 4),
        ((30, 30, 30, 30), 1.0, 1000, 30, 30),
        ((5, 9, 3, 3), 1.7, None, 3, 2),
        ((0, 9, 3, 3), 1.0, None, 0, 0),
    ],
)
def test_majorities(
    of_men: bool, cells: tuple[int, int, int, int], ratio: float, most: int | None, large: int, small: int
) -> None:
    """``cells`` are men and women who go with the majority, and men and women who do not."""
    usual, man = np.repeat([True, True, False, False], cells), np.repeat([True, False, True, False], cells)
    task = (usual == man) if of_men else (usual != man)
    kept = with_majority(task, man, ratio=ratio, of_men=of_men, most=most, seed=2)
    counts = Counter(zip(usual[kept].tolist(), man[kept].tolist(), strict=True))
    assert [counts[u, m] for u in (True, False) for m in (True, False)] == [large, large, small, small]
    assert np.array_equal(kept, np.unique(kept))
    with pytest.raises(ValueError, match=r"task has shape \(2, 1\)"):
        with_majority([[1], [0]], [1, 0], ratio=1, of_men=of_men)  # type: ignore[list-item]


def test_ratios_that_balance_takes() -> None:
    tasks, gender = [["a"]] * 9 + [["b"]] * 3, ["m", "f", "m"] * 4
    kept = biasamp.balance(tasks, gender, ratio=1.5)
    assert Counter(gender[i] for i in kept if tasks[i] == ["a"]) == {"m": 4, "f": 3}
    for wrong in (0.5, -2.0):
        with pytest.raises(ValueError, match="it must be above 1"):
            biasamp.balance(tasks, gender, ratio=wrong)
    with pytest.raises((TypeError, ValueError), match="ratio"):
        biasamp.balance(tasks, gender, ratio=float("nan"))
    with pytest.raises(ValueError, match="tasks has 1 missing values"):
        biasamp.balance(np.array(["a", None, "b"], dtype=object), ["m", "f", "m"])
    with pytest.raises(ValueError, match=r"attribute has 2 groups: .*; two groups are balanced, one for each"):
        biasamp.balance([["a"], ["b"]], np.array([[1, 0], [1, 1]]))
    with pytest.raises(ValueError, match=r"the task a goes with one group alone, .* ratio of 2\.5"):
        biasamp.balance([["a", "b"], ["b"], ["b"]], ["m", "f", "m"], ratio=2.5)
    # A declared task that nobody has is in nobody's way.
    declared = biasamp.categorical(["a", "b"] * 4, categories=["a", "b", "c"])
    assert len(biasamp.balance(declared, ["m", "m", "f", "f"] * 2, ratio=2)) == 8


def test_tasks_that_nobody_has_are_not_blamed() -> None:
    with pytest.raises(ValueError, match="objects: task 1 has 0 men and 2 women left"):
        within_ratio([[0, 0], [0, 1], [0, 1]], [1, 0, 0])
    assert within_ratio([[0, 1], [0, 1]], [1, 0]).tolist() == [0, 1]
