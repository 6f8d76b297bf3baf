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
