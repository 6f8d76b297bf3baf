"""Wrong labels of an attribute: by hand, by simulation, and at worst by trying all."""

from __future__ import annotations

import sys
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.label_errors import _Problem, error_matrix
from biasamp.data import Label

sys.path.insert(0, str(Path(__file__).parents[2]))

GROUPS = (Label("g", "m"), Label("g", "w"))


def repeated(table: dict[tuple[str, int, int], int]) -> tuple[list[str], list[int], list[int]]:
    rows = [cell for cell, many in table.items() for _ in range(many)]
    return [g for g, _, _ in rows], [t for _, t, _ in rows], [p for _, _, p in rows]


def test_exact_counts_are_undone_exactly() -> None:
    """True counts go through the matrix in whole records; the corrected value is that of the true labels."""
    true = {("w", 1, 1): 30, ("w", 1, 0): 20, ("w", 0, 0): 50, ("m", 1, 1): 60, ("m", 0, 1): 20, ("m", 0, 0): 20}
    recorded: dict[tuple[str, int, int], int] = {}
    for (group, task, said), many in true.items():
        other = "m" if group == "w" else "w"
        for name, part in ((group, many * 9 // 10), (other, many // 10)):
            recorded[name, task, said] = recorded.get((name, task, said), 0) + part
    truth = biasamp.directional(*repeated(true)).value
    made = biasamp.label_errors(*repeated(recorded), 0.1, resamples=50)
    assert made.corrected == pytest.approx(truth, abs=1e-12)
    assert made.value == pytest.approx(biasamp.directional(*repeated(recorded)).value, abs=1e-12)
    assert abs(made.value) < abs(truth)


def test_exact_counts_of_the_other_direction() -> None:
    true = {("x", 1, 1): 50, ("x", 1, 0): 30, ("x", 0, 0): 20, ("y", 1, 1): 20, ("y", 0, 1): 30, ("y", 0, 0): 50}
    recorded: dict[tuple[str, int, int], int] = {}
    for (task, group, said), many in true.items():
        for name, part in ((group, many * 9 // 10), (1 - group, many // 10)):
            recorded[task, name, said] = recorded.get((task, name, said), 0) + part
    made = biasamp.label_errors(*repeated(recorded), 0.1, side="truth", resamples=50)
    assert made.corrected == pytest.approx(biasamp.directional(*repeated(true)).value, abs=1e-12)


def test_matrices() -> None:
    assert error_matrix({"w": 0.2}, GROUPS, "error").tolist() == [[1.0, 0.2], [0.0, 0.8]]
    three = (*GROUPS, Label("g", "n"))
    np.testing.assert_allclose(error_matrix(0.2, three, "error"), [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]])
    full = error_matrix({"g=w": {"m": 0.1, "n": 0.2}}, three, "error")
    np.testing.assert_allclose(full[:, 1], [0.1, 0.7, 0.2])


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (0.5, "say next to nothing"),
        (1.5, "from 0 to 1"),
        ({"woman": 0.1}, "which is no group"),
        ({"w": {"m": 0.7, "w": 0.1}, "m": {"w": 1.4}}, "from 0 to 1"),
        ("much", "error is 'much'"),
    ],
)
def test_errors_that_cannot_be_are_refused(error: Any, words: str) -> None:
    with pytest.raises((ValueError, TypeError), match=words):
        biasamp.label_errors(["w", "m"] * 20, [1, 0] * 20, [1, 0] * 20, error)


def test_rates_that_the_records_cannot_have_are_refused() -> None:
    """A group of 2% cannot be what 10% of the others would have been recorded as."""
    with pytest.raises(ValueError, match="fewer than 0 true members"):
        biasamp.label_errors(["w"] * 2 + ["m"] * 98, [1, 0] * 50, [1, 0] * 50, 0.1)


def test_the_worst_case_holds_every_way_of_being_wrong() -> None:
    """Ten records of two groups: every choice of one wrong label in each is tried, and none leaves the range."""
    rng = np.random.default_rng(3)
    for _ in range(10):
        group = np.array(["w"] * 5 + ["m"] * 5)
        truth = rng.integers(0, 2, 10)
        said = rng.integers(0, 2, 10)
        if len(set(truth)) < 2:
            continue
        made = biasamp.label_errors(group, truth, said, 0.2, resamples=20)
        # One of five true members of each group is recorded as the other.
        for women, men in ((a, b) for a in combinations(range(5), 1) for b in combinations(range(5, 10), 1)):
            true = group.copy()
            true[list(women)], true[list(men)] = "m", "w"
            value = biasamp.directional(true, truth, said).value
            assert made.worst[0] - 1e-12 <= value <= made.worst[1] + 1e-12


def test_the_worst_case_of_a_pair_is_reached() -> None:
    """All choices of records that leave a group and join it: the ends of the ranges are met by one of them."""
    rng = np.random.default_rng(4)
    for _ in range(40):
        sizes, (out, joined) = rng.integers(3, 6, 2), rng.integers(1, 4, 2)
        truth, said = ([rng.integers(0, 2, size) for size in sizes] for _ in range(2))
        problem = object.__new__(_Problem)
        counts = {"given": sizes, "truth": [sum(map(sum, truth))] * 2}
        counts |= {"joint_truth": [t.sum() for t in truth], "joint_predicted": [p.sum() for p in said]}
        problem.counts = {name: np.array(held, dtype=float)[:, None] for name, held in counts.items()}
        problem.both = np.array([[float((t & p).sum())] for t, p in zip(truth, said, strict=True)])
        low, high, joint_low, joint_high, size, _ = problem._worst_groups(np.array([[0.0, out], [joined, 0.0]]))
        changes, joints = [], []
        for left in combinations(range(sizes[0]), out):
            for new in combinations(range(sizes[1]), joined):
                stay = np.delete(np.arange(sizes[0]), left)
                t, p = (np.r_[held[0][stay], held[1][list(new)]] for held in (truth, said))
                changes.append((p - t).sum())
                joints.append(t.sum())
                assert size[0, 0] == len(t)
        assert (low[0, 0], high[0, 0]) == (min(changes), max(changes))
        assert (joint_low[0, 0], joint_high[0, 0]) == (min(joints), max(joints))


def test_how_wrong_labels_would_have_to_be() -> None:
    """A large effect that is sure stays so under random errors, and does not if they fall where it hurts."""
    table = {("w", 0, 0): 300, ("w", 1, 1): 60, ("w", 1, 0): 140, ("m", 1, 1): 300, ("m", 0, 0): 60, ("m", 0, 1): 140}
    made = biasamp.label_errors(*repeated(table), 0.02, resamples=200)
    assert made.concluded == 1
    assert made.tips_if_dependent is not None
    assert made.tips is None or made.tips > made.tips_if_dependent
    # The change of each group is .28: 140 of 500 of one kind must be other people's, about 14% of each group.
    assert 0.05 < made.tips_if_dependent < 0.3
    low, high = biasamp.label_errors(*repeated(table), made.tips_if_dependent, resamples=20).worst
    assert low <= 0 <= high
    nothing = biasamp.label_errors(["w", "m"] * 20, [1, 0] * 20, [1, 0] * 20, 0.02, resamples=50)
    assert (nothing.concluded, nothing.tips, nothing.tips_if_dependent) == (0, None, None)


@pytest.mark.slow(keep=1)
@pytest.mark.parametrize("case", range(7))
def test_bounds_hold_the_truth(case: int) -> None:
    """At least 92% where errors are as stated; ``python -m benchmarks.auditors.label_errors 500`` has more samples."""
    from benchmarks.auditors.label_errors import CASES, covered

    held, _, _, _ = covered(CASES[case], 60, seed=1)
    assert held >= 0.92 - 2 * (0.92 * 0.08 / 60) ** 0.5


def test_errors_are_of_groups_not_of_the_attribute() -> None:
    """The name of the attribute is that of no group; of an attribute of yes/no labels each name is one."""
    groups, truth, said = ["a", "b"] * 40, [1, 0, 0, 1] * 20, [1, 1, 0, 1] * 20
    with pytest.raises(ValueError, match="names 'sex', which is no group"):
        biasamp.label_errors({"sex": groups}, truth, said, error={"sex": 0.01}, resamples=10)
    held = biasamp.label_errors({"sex": groups}, truth, said, error={"a": 0.01}, resamples=10)
    also = biasamp.label_errors({"sex": groups}, truth, said, error={"sex=a": 0.01}, resamples=10)
    assert held.value == also.value


@pytest.mark.parametrize("side", ["predicted", "", None, 0])
def test_a_side_that_is_none_is_refused(side: Any) -> None:
    """It would be taken for the truth."""
    with pytest.raises((TypeError, ValueError), match="side"):
        biasamp.label_errors(["w", "m"] * 50, [1, 0] * 50, [1, 0, 0, 1] * 25, 0.1, side=side)
