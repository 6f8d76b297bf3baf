"""Whether decisions follow scores: the best scores of as many records, and the words for what is off."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from biasamp.amplification.why_followed import followed, not_followed, not_followed_classes
from biasamp.counts.threshold_counts import GRID
from biasamp.data import Label
from biasamp.results.interval import Caution


def case(seed: int, rule: str) -> tuple[Any, Any, Any]:
    """Group, scores on the grid and decisions of two tasks."""
    rng = np.random.default_rng(seed)
    group = rng.choice(3, 80, p=[0.5, 0.4, 0.1])
    scores = np.round(rng.random((80, 2)), 2)
    said = {
        "threshold": scores >= 0.6,
        "by group": scores >= np.array([0.3, 0.7, 0.5])[group][:, None],
        "other": rng.random((80, 2)) < 0.4,
        "reversed": scores < 0.4,
        "nearly": (scores >= 0.5) ^ (rng.random((80, 2)) < 0.1),
        "all": np.ones((80, 2), dtype=bool),
        "alike": rng.random((80, 2)) < 0.4,
        "none": np.zeros((80, 2), dtype=bool),
    }[rule]
    return group, np.full((80, 2), 0.3) if rule == "alike" else scores, said


@pytest.mark.parametrize("rule", ["threshold", "by group", "other", "reversed", "nearly", "all", "alike", "none"])
@pytest.mark.parametrize("seed", range(3))
def test_decisions_against_the_best_scores(rule: str, seed: int) -> None:
    group, scores, said = case(seed, rule)
    step = np.round(scores * 1000).astype(int)
    held = np.zeros((4, 2, len(GRID), 2))
    for g, row, flags in zip(group, step, said, strict=True):
        for k in range(2):
            held[g, k, row[k], int(flags[k])] += 1
            held[3, k, row[k], int(flags[k])] += 1
    one = np.array([[(group == g).sum()] for g in range(3)], dtype=float)
    tables = [
        np.array([[part[group == g, k].sum() for k in range(2)] for g in range(3)], dtype=float)
        for part in (scores, said.astype(float), scores * said)
    ]
    margin: Any = SimpleNamespace(given=one, joint_truth=tables[0], joint_predicted=tables[1], joint_both=tables[2])
    share, records = followed(margin, SimpleNamespace(held=held))  # type: ignore[arg-type]
    for k in range(2):
        gained = most = apart = 0.0
        for g in range(3):
            mine = group == g
            n, many = mine.sum(), int(said[mine, k].sum())
            best = np.sort(GRID[step[mine, k]])[::-1][:many].sum()
            unrelated = many * scores[mine, k].mean()
            gained += scores[mine & said[:, k], k].sum() - unrelated
            most += best - unrelated
            apart += 2 * many * (n - many) / n
        if most <= 1e-9:
            assert np.isnan([share[k], records[k]]).all()
            continue
        assert share[k] == pytest.approx(max(-1.0, min(1.0, gained / most)))
        assert records[k] == pytest.approx((1 - share[k]) * apart)
    if rule in ("threshold", "by group"):
        assert share == pytest.approx([1.0, 1.0])
    assert np.isnan(share).any() == (rule in ("all", "alike", "none"))
    if rule == "reversed":
        assert (share < -0.5).all()


def told(share: list[float], records: list[float], category: str | None = None) -> tuple[Caution, ...]:
    labels = tuple(Label(f"task {i}", category) for i in range(len(share)))
    return not_followed(labels, np.array(share), np.array(records))


@pytest.mark.parametrize(
    ("share", "records", "kind", "words"),
    [
        (0.979, 5.0, "other-rule", "about 5 records are on the wrong side"),
        (0.979, 4.99, None, ""),
        (0.98, 50.0, None, ""),
        (0.3, 50.0, "other-rule", "gives the predictions beside them: about 50 records"),
        (0.299, 50.0, "other-scores", "have little to do with the scores beside them (+0.30;"),
        (-0.5, 50.0, "other-scores", "have little to do with the scores beside them (-0.50;"),
        (-0.501, 50.0, "other-scores", "run against the predictions beside them (-0.50;"),
        (float("nan"), 50.0, None, ""),
    ],
)
def test_what_is_said_of_a_task(share: float, records: float, kind: str | None, words: str) -> None:
    found = told([share], [records])
    assert len(found) == (kind is not None)
    if kind:
        assert (found[0].kind, words in found[0], " of task 0" in found[0]) == (kind, True, True)


def test_the_other_value_of_two_says_nothing_more() -> None:
    assert told([0.5], [50.0], "0") == ()
    assert len(told([0.5], [50.0], "1")) == 1
    unnamed = not_followed((Label("", "1"),), np.array([0.5]), np.array([50.0]))
    assert "no threshold on the scores, not even" in unnamed[0]


def test_of_many_tasks_three_are_named() -> None:
    """The worst first; the figures are the worst's."""
    assert "the scores of task 1 and task 0, not" in told([0.6, 0.5], [9.0, 8.0])[0]
    assert "about 8 records" in told([0.6, 0.5], [9.0, 8.0])[0]
    three = told([0.6, 0.5, 0.7], [9.0] * 3)[0]
    assert "of task 1, task 0 and task 2, not" in three
    four = told([0.6, 0.5, 0.7, 0.8], [9.0] * 4)[0]
    assert "of task 1, task 0, task 2 and 1 more, not" in four
    both = told([-0.9, 0.1, 0.5], [9.0] * 3)
    assert [held.kind for held in both] == ["other-scores", "other-scores", "other-rule"]
    assert ["run against" in both[0], "little to do" in both[1], "no threshold" in both[2]] == [True] * 3


@pytest.mark.parametrize(
    ("z", "words"),
    [
        (2.33, None),
        (2.32, "no higher scores than chance"),
        (-4.5, "no higher scores than chance"),
        (-4.51, "lower scores than others"),
        (9.0, None),
        (float("nan"), None),
    ],
)
def test_what_is_said_of_classes(z: float, words: str | None) -> None:
    found = not_followed_classes(z)
    assert len(found) == (words is not None)
    assert words is None or (words in found[0] and found[0].kind == "other-scores")
