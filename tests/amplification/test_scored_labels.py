"""Scores with their labels: which column is of which label, signs, sizes, and what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.scored_labels import read_scored_labels, total


def records(seed: int = 1, n: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = rng.choice(["a", "b", "c"], n)
    truth = (rng.random((n, 2)) < 0.3 + 0.3 * (group == "a")[:, None]).astype(int)
    return np.round(rng.random((n, 2)), 2), group, truth


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("tasks", [1, 2])
@pytest.mark.parametrize("trained", [False, True])
def test_what_is_read(weighted: bool, tasks: int, trained: bool) -> None:
    scores, group, truth = records()
    scores, truth = scores[:, :tasks], truth[:, :tasks]
    w = np.random.default_rng(2).integers(1, 5, 60) if weighted else np.ones(60)
    asked: dict[str, Any] = {"weights": w} if weighted else {}
    known, w_known = (group, truth), w
    if trained:
        other = records(5)
        known, w_known = (other[1], other[2][:, :tasks]), np.ones(60)
        asked["train"] = known
    held = read_scored_labels(scores, group, truth, **asked)
    assert held.scores.tolist() == scores.tolist()
    assert (held.groups, held.tasks) == (("a", "b", "c"), tuple(str(k) for k in range(tasks)))
    assert held.columns.tolist() == list(range(tasks))
    for g, name in enumerate("abc"):
        mine = group == name
        assert held.member[g].tolist() == mine.tolist()
        assert held.size[g] == w[mine].sum()
        for k in range(tasks):
            flag = truth[:, k] == 1
            assert held.flags[k].tolist() == flag.tolist()
            assert held.hits[g, k] == w[mine & flag].sum()
            theirs, one = known[0] == name, known[1][:, k] == 1
            apart = w_known.sum() * w_known[theirs & one].sum() - w_known[theirs].sum() * w_known[one].sum()
            assert held.signs[g, k] == np.sign(apart)
    assert (held.weights is None, held.train is None) == (not weighted, not trained)


def test_total_weights() -> None:
    flags = np.array([True, False, True])
    assert total(flags, None) == 2.0
    assert total(flags, np.array([0.5, 4.0, 0.25])) == 0.75


def test_one_column_is_of_the_positive_value() -> None:
    scores, group, truth = records()
    held = read_scored_labels(scores[:, 0], group, truth[:, 0])
    assert (held.columns.tolist(), held.tasks) == ([1], ("1",))
    assert held.flags[0].tolist() == (truth[:, 0] == 1).tolist()
    both = read_scored_labels(scores, group, truth[:, 0])
    assert both.columns.tolist() == [0, 1]
    named = read_scored_labels(scores, group, np.array(["x", "y"])[truth[:, 0]])
    assert named.tasks == ("x", "y")
    overlapping = read_scored_labels(scores[:, 0], truth, truth[:, 0])
    assert overlapping.member.tolist() == truth.T.astype(bool).tolist()


@pytest.mark.filterwarnings("ignore")
def test_what_is_refused() -> None:
    scores, group, truth = records()
    with pytest.raises(ValueError, match=r"scores has 1 column, but truth has the 2 labels x, y: give"):
        read_scored_labels(scores[:, 0], group, np.array(["x", "y"])[truth[:, 0]])
    many = np.array([f"v{i}" for i in range(6)])[np.arange(60) % 6]
    with pytest.raises(
        ValueError,
        match=r"held_out scores has 2 columns, but held_out truth has the 6 labels v0, v1, v2, v3, v4, …: give",
    ):
        read_scored_labels(scores, group, many, called="held_out ")
    with pytest.raises(ValueError, match=r"the 5 labels v0, v1, v2, v3, v4: give"):
        read_scored_labels(scores, group, np.array([f"v{i}" for i in range(5)])[np.arange(60) % 5])


def test_groups_that_nobody_has() -> None:
    scores, group, truth = records()
    for categories, words in (
        (["a", "b", "c", "d"], "'d': its pairs"),
        (["a", "b", "c", "d", "e", "f"], "'d', nor 2 more: its pairs"),
    ):
        with pytest.warns(UserWarning, match=f"no record has the given label {words} are undefined"):
            held = read_scored_labels(scores, biasamp.categorical(group, categories=categories), truth)
        assert held.size[3:].tolist() == [0.0] * (len(categories) - 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        read_scored_labels(scores, group, truth)
    with pytest.raises(ValueError, match="no pair is defined: no record has any of the given labels"):
        read_scored_labels(scores, np.zeros((60, 2), dtype=int), truth)
