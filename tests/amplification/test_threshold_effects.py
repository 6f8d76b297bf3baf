"""Gaps and pairs before and after other thresholds: counted record by record, and cautions that are true of the records at hand."""

from __future__ import annotations

import json
from itertools import permutations
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.threshold_effects import WORTHWHILE

GROUPS = ("a", "b", "c")


def drawn(seed: int, n: int = 900, tasks: int = 2, groups: int = 3) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = rng.integers(0, groups, n)
    truth = (rng.random((n, tasks)) < (0.25 + 0.15 * group)[:, None]).astype(int)
    lean = rng.uniform(-0.3, 0.3, (groups, tasks))[group]
    scores = np.clip(0.3 + 0.35 * truth + lean + 0.15 * rng.normal(size=truth.shape), 0, 1)
    return scores, np.array(GROUPS)[group], truth


def by_hand(group: Any, truth: Any, said: Any, weights: Any) -> dict[str, tuple[float, tuple[str, ...]]]:
    """The gaps of one task and its largest pair, one group after another."""

    def rate(name: str, of: Any) -> float:
        mine = (group == name) & of
        return float((said * weights)[mine].sum() / weights[mine].sum())

    out = {}
    every = np.ones(len(group), bool)
    for title, of in (("TPR gap", truth == 1), ("FPR gap", truth == 0), ("selection gap", every)):
        gaps = {(high, low): rate(high, of) - rate(low, of) for high, low in permutations(np.unique(group), 2)}
        best = max(gaps, key=lambda pair: gaps[pair])
        out[title] = gaps[best], tuple(map(str, best))
    moved = {
        name: float(((said - truth) * weights)[group == name].sum() / weights[group == name].sum()) for name in GROUPS
    }
    most = max(moved, key=lambda name: abs(moved[name]))
    out["largest pair"] = moved[most], (most, "")
    return out


@pytest.mark.parametrize("weighted", [False, True])
def test_effects_are_those_counted_by_hand(weighted: bool) -> None:
    data, other = drawn(1), drawn(2)
    weights = np.random.default_rng(5).integers(1, 4, len(data[1])) if weighted else None
    given = {"weights": weights, "held_out": (*other, *((weights,) if weighted else ()))}
    choice = biasamp.choose_thresholds(*data, limit=0.02, threshold=[0.4, 0.6], **given)
    assert choice.held_out is not None
    for (scores, group, truth), decided in ((data, choice.validation), (other, choice.held_out)):
        rows = {(row["task"], row["figure"]): row for row in decided.effects.rows()}
        assert len(rows) == 2 * 5
        own = np.ones(len(group)) if weights is None else weights.astype(float)
        for k, task in enumerate(choice.tasks):
            for when, least in (("before", (0.4, 0.6)[k]), ("after", choice.thresholds[k])):
                held = by_hand(group, truth[:, k], (scores[:, k] >= least).astype(int), own)
                for figure, (value, names) in held.items():
                    row = rows[task, figure]
                    assert row[when] == pytest.approx(value, abs=1e-12)
                    assert (row[f"{when}_highest"], row[f"{when}_lowest"]) == names
        mean = np.mean([rows[task, "amplification"]["after"] for task in choice.tasks])
        assert mean == pytest.approx(decided.amplification.value, abs=1e-12)


def test_cautions_name_what_gets_worse_and_nothing_else() -> None:
    said = 0
    for seed in range(30):
        choice = biasamp.choose_thresholds(*drawn(seed), limit=0.05)
        rows = list(choice.validation.effects.rows())
        for figure in ("TPR gap", "FPR gap", "selection gap", "largest pair"):
            rises = {r["task"]: abs(r["after"]) - abs(r["before"]) for r in rows if r["figure"] == figure}
            warned = [words for words in choice.cautions if words.startswith(f"The {figure}")]
            assert len(warned) == (max(rises.values()) > WORTHWHILE)
            for words in warned:
                said += 1
                task = max(rises, key=lambda task: rises[task])
                assert words.startswith(f"The {figure} of {task} gets worse by these thresholds: from ")
                mean = next(r for r in rows if r["figure"] == "amplification" and r["task"] == task)
                assert ("though its mean amplification falls" in words) == (mean["after"] < mean["before"])
                assert words.endswith("So it does in 1 of 1 other tasks.") == (min(rises.values()) > WORTHWHILE)
    assert said > 10


def test_pairs_that_cancel_in_the_mean_are_said() -> None:
    # Two groups are predicted to have more than they have, one way and the other: the mean of both is 0.
    group = np.repeat(["a", "b"], 500)
    truth = np.concatenate([np.repeat([1, 0], [350, 150]), np.repeat([1, 0], [150, 350])])
    scores = np.concatenate([np.repeat([0.9, 0.2], [450, 50]), np.repeat([0.9, 0.2], [250, 250])])
    choice = biasamp.choose_thresholds(scores, group, truth, limit=0.0)
    assert choice.threshold == 0.9
    assert choice.amplification == pytest.approx(0.0)
    (words,) = choice.cautions
    assert words.startswith(
        "1 of 2 pairs of known direction is amplified by more than the limit, most of all a by +0.2000 (limit 0)"
    )
    assert words in str(choice)
    # With the same groups the other way round nothing is above the limit.
    assert biasamp.choose_thresholds(scores, group, truth, limit=0.3).cautions == ()


def test_unknown_directions_are_said_and_training_labels_tell_them() -> None:
    rng = np.random.default_rng(0)
    group, truth = rng.choice(["a", "b"], 200), rng.integers(0, 2, 200)
    scores = rng.random(200)
    choice = biasamp.choose_thresholds(scores, group, truth, limit=0.5)
    assert any("not known for 2 of 2 pairs" in words for words in choice.cautions)
    many = rng.choice(["a", "b"], 4000)
    train = many, (rng.random(4000) < np.where(many == "a", 0.7, 0.3)).astype(int)
    told = biasamp.choose_thresholds(scores, group, truth, limit=0.5, train=train)
    assert not any("not known" in words for words in told.cautions)


def test_scores_that_are_no_probabilities_have_no_before() -> None:
    scores, group, truth = drawn(3, tasks=1)
    choice = biasamp.choose_thresholds(10 * scores, group, truth, limit=0.1)
    assert choice.used is None
    assert np.isnan(choice.validation.effects["before"]).all()
    assert not any("gets worse" in words for words in choice.cautions)
    given = biasamp.choose_thresholds(10 * scores, group, truth, limit=0.1, threshold=5)
    plain = biasamp.choose_thresholds(scores, group, truth, limit=0.1)
    assert given.validation.effects["before"] == pytest.approx(plain.validation.effects["before"])
    assert given.used is not None
    assert given.used.tolist() == [5.0]
    held = json.loads(json.dumps(choice.to_dict(), allow_nan=False))
    assert held["used"] is None
    assert held["validation"]["effects"][1]["figure"] == "TPR gap"
    assert held["validation"]["effects"][1]["before"] is None


def test_rates_that_are_equal_name_no_groups() -> None:
    scores, group, truth = drawn(6)
    choice = biasamp.choose_thresholds(scores, group, truth, limit=0.05, threshold=0.0)
    rows = {(row["task"], row["figure"]): row for row in choice.validation.effects.rows()}
    for name in ("TPR gap", "FPR gap", "selection gap"):
        row = rows[choice.tasks[0], name]
        assert (row["before"], row["before_highest"], row["before_lowest"]) == (0.0, "", "")
        assert row["after_highest"] != row["after_lowest"]


def test_small_groups_do_not_decide_a_gap() -> None:
    group = np.repeat(["a", "b", "c"], [200, 200, 2])
    truth = np.tile([1, 0], 201)
    scores = np.where(group == "c", 1.0, np.where(np.arange(402) % 4 < 2, 0.9, 0.1))
    rows = {
        row["figure"]: row for row in biasamp.choose_thresholds(scores, group, truth, limit=1).validation.effects.rows()
    }
    assert "c" not in (rows["FPR gap"]["after_highest"], rows["FPR gap"]["after_lowest"])


@pytest.mark.parametrize("wrong", [[0.5], "a", [0.5, float("nan")], float("inf")])
def test_wrong_thresholds_are_refused(wrong: Any) -> None:
    with pytest.raises((TypeError, ValueError), match="threshold"):
        biasamp.choose_thresholds(*drawn(1), limit=0.1, threshold=wrong)
