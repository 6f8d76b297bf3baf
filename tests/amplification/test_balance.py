"""Balanced sets, against the constraints they are to meet."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

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
