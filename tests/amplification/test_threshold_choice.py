"""What a choice of thresholds hands back, field by field, against loops over its records."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp.amplification.least_cost import Hulls
from biasamp.amplification.threshold_choice import ThresholdChoice

GROUPS = ("a", "b", "c")


def records(seed: int, tasks: int = 2, n: int = 60) -> tuple[Any, Any, Any]:
    rng = np.random.default_rng(seed)
    group = rng.choice(GROUPS, n)
    truth = (rng.random((n, tasks)) < 0.3 + 0.3 * (group == "a")[:, None]).astype(int)
    scores = np.round(np.clip(0.3 * truth + 0.2 * (group == "a")[:, None] + 0.5 * rng.random((n, tasks)), 0, 1), 2)
    return scores, group, truth


def chosen(seed: int = 1, tasks: int = 2, **asked: Any) -> ThresholdChoice:
    return biasamp.choose_thresholds(*records(seed, tasks), **{"limit": 0.05, **asked})


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("by_group", [False, True])
@pytest.mark.parametrize("cost", [(1.0, 1.0), (1.0, 3.0), (2.0, 0.5)])
def test_every_field_is_counted_by_hand(weighted: bool, by_group: bool, cost: tuple[float, float]) -> None:
    scores, group, truth = records(2)
    w = np.random.default_rng(3).integers(1, 5, 60) if weighted else np.ones(60)
    asked = {"weights": w} if weighted else {}
    made = biasamp.choose_thresholds(scores, group, truth, limit=0.05, by_group=by_group, cost=cost, **asked)
    least = made.thresholds if not by_group else made.thresholds.T[np.searchsorted(GROUPS, group)]
    said = (scores >= least).astype(int)
    np.testing.assert_array_equal(made.apply(scores, group), said)
    wrong = [(w[:, None] * ((said == 1) & (truth == 0))).sum(), (w[:, None] * ((said == 0) & (truth == 1))).sum()]
    decisions = 2 * w.sum()
    assert made.accuracy == pytest.approx(1 - sum(wrong) / decisions)
    assert made.cost == pytest.approx((cost[0] * wrong[0] + cost[1] * wrong[1]) / decisions)
    value = biasamp.directional(group, truth, said, **asked).value
    assert made.amplification == pytest.approx(value, abs=1e-12)
    assert made.amplification <= 0.05 + 1e-12
    assert made.objective == ("accuracy" if cost == (1.0, 1.0) else "cost")
    assert set(made.without_limit) == (
        {"accuracy", "cost", "amplification"} if cost == (1.0, 1.0) else {"cost", "amplification"}
    )
    free = biasamp.choose_thresholds(scores, group, truth, limit=9.0, by_group=by_group, cost=cost, **asked)
    assert made.without_limit["cost"] == pytest.approx(free.cost)
    assert made.without_limit["amplification"] == pytest.approx(free.amplification)
    if cost == (1.0, 1.0):
        assert made.without_limit["accuracy"] == pytest.approx(free.accuracy)
    assert made.validation.n == w.sum()
    assert (made.costs, made.by_group, made.limit_on, made.limit.tolist()) == (cost, by_group, "mean", [0.05])
    truths = biasamp.directional(group, truth, said, **asked).pairs
    sign = {(row["given"], row["outcome"]): row["sign"] for row in truths.rows()}
    rows = list(made.table.rows())
    assert len(rows) == (6 if by_group else 2)
    for row in rows:
        k = made.tasks.index(row["task"])
        lots = [row["group"]] if by_group else [str(g) for g in made.groups]
        mine = np.isin(group, lots)
        own = w[mine]
        moved = [
            sign[g, made.tasks[k]] * np.average(said[group == g, k] - truth[group == g, k], weights=w[group == g])
            for g in lots
        ]
        expected = (
            made.thresholds[k] if not by_group else made.thresholds[k, made.groups.index(row["group"])],
            np.average(said[mine, k], weights=own),
            np.average(truth[mine, k], weights=own),
            np.average(said[mine, k] == truth[mine, k], weights=own),
            np.mean(moved),
        )
        found = [row[name] for name in ("threshold", "rate", "truth_rate", "accuracy", "amplification")]
        assert found == pytest.approx(expected)


@pytest.mark.parametrize("points", [2, 3, 1000])
def test_the_document(points: int) -> None:
    made = chosen(held_out=records(4))
    held = made.to_dict(points)
    frontier = made.frontier.plain_rows()
    count = len(frontier)
    wanted = min(points, count)
    places = sorted({round(k * (count - 1) / (wanted - 1)) for k in range(wanted)})
    assert made.held_out is not None
    assert held == {
        "schema": 1,
        "limit": [0.05],
        "limit_on": "mean",
        "by_group": False,
        "objective": "accuracy",
        "costs": [1.0, 1.0],
        "amplification": made.amplification,
        "gap": made.gap,
        "used": [0.5, 0.5],
        "cautions": list(made.cautions),
        "without_limit": made.without_limit,
        "thresholds": made.table.plain_rows(),
        "frontier": [frontier[place] for place in places],
        "validation": made.validation.to_dict(),
        "held_out": made.held_out.to_dict(),
    }
    decided = made.validation
    assert decided.to_dict() == {
        "n": 60.0,
        "accuracy": decided.accuracy,
        "cost": decided.cost,
        "amplification": decided.amplification.value,
        "bound": decided.bound,
        "effects": decided.effects.plain_rows(),
    }
    assert len(chosen().to_dict()["frontier"]) == len(chosen().frontier)
    assert chosen().to_dict()["held_out"] is None
    for wrong in (1, 0):
        with pytest.raises(ValueError, match="points"):
            made.to_dict(wrong)


def test_frontiers() -> None:
    """By threshold where each task has one of its own to go by, else corners of hulls."""
    one = chosen(tasks=1)
    front, at = one._fronts[0][0], one._at[0][0]
    rows = list(one.frontier.rows())
    assert [row["threshold"] for row in rows] == at.tolist()
    assert [row["amplification"] for row in rows] == front.amplification.tolist()
    assert [row["accuracy"] for row in rows] == pytest.approx((1 - front.cost / 60).tolist())
    assert {row["task"] for row in rows} == {one.tasks[0]}
    each = chosen(limit_on="task", limit=0.2, cost=(1, 2))
    rows = list(each.frontier.rows())
    assert [row["task"] for row in rows] == [
        task for task, (front,) in zip(each.tasks, each._fronts, strict=True) for _ in front.cost
    ]
    assert [row["cost"] for row in rows] == pytest.approx([c / 60 for (front,) in each._fronts for c in front.cost])
    assert [row["threshold"] for row in rows] == [t for (cuts,) in each._at for t in cuts]
    groups = chosen(limit_on="task", limit=0.2, by_group=True)
    expected = [Hulls.of(sets) for sets in groups._fronts]
    rows = list(groups.frontier.rows())
    assert [row["amplification"] for row in rows] == [x for hull in expected for x in hull.amplification]
    assert [row["accuracy"] for row in rows] == pytest.approx([1 - c / 60 for hull in expected for c in hull.cost])
    assert "threshold" not in rows[0]
    mean = chosen()
    hull = Hulls.of([front for (front,) in mean._fronts])
    rows = list(mean.frontier.rows())
    assert [row["amplification"] for row in rows] == pytest.approx((hull.amplification / 2).tolist())
    assert [row["accuracy"] for row in rows] == pytest.approx((1 - hull.cost / 120).tolist())
    assert {row["task"] for row in rows} == {""}


def test_words() -> None:
    made = chosen()
    lines = str(made).split("\n")
    assert lines[0].startswith(f"Accuracy {made.accuracy:.4f} at amplification ")
    assert "(limit 0.05 on the mean over tasks); without a limit " in lines[0]
    assert lines[1] == "No thresholds within the limit are better."
    assert lines[2].startswith("Not measured on held-out data")
    assert lines[3:] == list(made.cautions)
    assert "(limit 0.05);" in str(chosen(tasks=1))
    assert "(limits 0.05 to 0.3 on each task);" in str(chosen(limit=[0.3, 0.05], limit_on="task"))
    assert "(limit 0.2 on each task);" in str(chosen(limit=[0.2, 0.2], limit_on="task"))
    assert str(chosen(cost=(1, 2))).startswith("Cost 0.")
    assert "are better by 0.25 at most, if at all." in str(replace(made, gap=0.25))
    held = chosen(held_out=records(4))
    assert held.held_out is not None
    assert f"On held-out data accuracy {held.held_out.accuracy:.4f} at amplification " in str(held)
    assert ", at most " in str(held)


def test_which_thresholds_are_in_use() -> None:
    """One half where scores are probabilities; else none, unless they are named."""
    scores, group, truth = records(5)
    choose = biasamp.choose_thresholds
    assert choose(scores, group, truth, limit=0.3).used.tolist() == [0.5, 0.5]  # type: ignore[union-attr]
    assert choose(scores * 2, group, truth, limit=0.3).used is None
    assert choose(scores - 0.5, group, truth, limit=0.3).used is None
    assert choose(scores * 2, group, truth, limit=0.3, threshold=0.7).used.tolist() == [0.7, 0.7]  # type: ignore[union-attr]
    assert choose(scores, group, truth, limit=0.3, threshold=[0.2, 0.4]).used.tolist() == [0.2, 0.4]  # type: ignore[union-attr]
    assert choose(scores * 2, group, truth, limit=0.3).to_dict()["used"] is None
    for wrong in ([0.1], [0.1, 0.2, 0.3]):
        with pytest.raises(ValueError, match="one for each of the 2 tasks"):
            choose(scores, group, truth, limit=0.3, threshold=wrong)
    with pytest.raises(ValueError, match=r"threshold\[1\] is nan; a finite number is needed"):
        choose(scores, group, truth, limit=0.3, threshold=[0.1, float("nan")])
    with pytest.raises((TypeError, ValueError), match="threshold"):
        choose(scores, group, truth, limit=0.3, threshold="half")
    before = choose(scores, group, truth, limit=0.3, threshold=[0.2, 0.4]).validation.effects
    said = (scores >= [0.2, 0.4]).astype(int)
    expected = biasamp.directional(group, truth, said).pairs
    for task in choose(scores, group, truth, limit=0.3).tasks:
        (row,) = [row for row in before.rows() if (row["task"], row["figure"]) == (task, "amplification")]
        mine = [pair["amplification"] for pair in expected.rows() if pair["outcome"] == task]
        assert row["before"] == pytest.approx(np.mean(mine))


def test_limits_and_costs() -> None:
    scores, group, truth = records(6)
    choose = biasamp.choose_thresholds
    assert chosen(limit=0.2, limit_on="task").limit.tolist() == [0.2, 0.2]
    with pytest.raises(
        ValueError, match=r"limit has shape \(3,\); one number, or one for each of the 2 tasks, is needed"
    ):
        choose(scores, group, truth, limit=[0.1, 0.2, 0.3], limit_on="task")
    with pytest.raises(ValueError, match=r"limit has shape \(1,\); one number is needed"):
        choose(scores, group, truth, limit=[0.1])
    with pytest.raises(ValueError, match=r"limit\[0\] is inf"):
        choose(scores, group, truth, limit=[float("inf"), 0.1], limit_on="task")
    with pytest.raises((TypeError, ValueError), match="limit"):
        choose(scores, group, truth, limit="none")
    for cost in ((-1, 1), (1, float("inf")), (1,), 3):
        with pytest.raises((TypeError, ValueError), match="cost"):
            choose(scores, group, truth, limit=0.1, cost=cost)  # type: ignore[arg-type]
    # An error of one kind alone may cost something.
    assert choose(scores, group, truth, limit=9.0, cost=(0, 1)).cost == 0.0
    assert choose(scores, group, truth, limit=9.0, cost=(1, 0)).cost == 0.0
    with pytest.raises((TypeError, ValueError), match="limit_on"):
        choose(scores, group, truth, limit=0.1, limit_on="all")
    with pytest.raises(TypeError, match="by_group"):
        choose(scores, group, truth, limit=0.1, by_group=1)  # type: ignore[arg-type]


def test_limits_that_nothing_keeps() -> None:
    scores, group, truth = records(7)
    lowest = {}
    for by_group in (False, True):
        for limit_on in ("mean", "task"):
            with pytest.raises(ValueError, match="no thresholds bring the") as caught:
                biasamp.choose_thresholds(scores, group, truth, limit=-2.0, limit_on=limit_on, by_group=by_group)
            words = str(caught.value)
            assert words.startswith("limit is -2, but")
            assert ("mean amplification below" in words) == (limit_on == "mean")
            assert ("by_group=True is allowed" in words) == (not by_group)
            lowest[by_group, limit_on] = float(words.split("below ")[1].split(":")[0])
    free = biasamp.choose_thresholds(scores, group, truth, limit=9.0)
    least = [front.amplification[0] for (front,) in free._fronts]
    assert lowest[False, "mean"] == pytest.approx(sum(least) / 2, rel=1e-3)
    assert lowest[False, "task"] == pytest.approx(least[0], rel=1e-3)
    with pytest.raises(ValueError, match="bring the amplification below"):
        chosen(tasks=1, limit=-2.0)


def test_decisions_on_other_records() -> None:
    made, groups, alone = chosen(), chosen(by_group=True), chosen(tasks=1)
    assert alone.apply([0.0, 1.0]).tolist() == [0, 1]
    assert alone.apply([[0.0], [1.0]]).tolist() == [[0], [1]]
    assert alone.apply([0.0]).dtype == np.uint8
    with pytest.raises(ValueError, match="scores has 1 columns, but there are thresholds for 2 tasks"):
        made.apply([0.1, 0.2])
    found = groups.apply([[0.5, 0.5]] * 3, ["c", "a", "b"])
    assert found.tolist() == (groups.thresholds.T[[2, 0, 1]] <= 0.5).astype(int).tolist()
    with pytest.raises(ValueError, match="lengths differ"):
        groups.apply([[0.5, 0.5]] * 3, ["c", "a"])
    with pytest.raises(ValueError, match="given has the group 'd', which has no thresholds; there are a, b, c"):
        groups.apply([[0.5, 0.5]] * 2, ["a", "d"])
    with pytest.raises(ValueError, match="given is a set of labels"):
        groups.apply([[0.5, 0.5]] * 2, [["a", "b"], ["a"]])
    with pytest.raises(ValueError, match="there are 2 thresholds"):
        _ = made.threshold


def test_held_out_records() -> None:
    scores, group, truth = records(8)
    made = chosen(held_out=(*records(9), np.arange(60) % 7 + 1))
    assert made.held_out is not None
    assert made.held_out.n == (np.arange(60) % 7 + 1).sum()
    other, told, real = records(9)
    said = made.apply(other)
    w = np.arange(60) % 7 + 1
    assert made.held_out.accuracy == pytest.approx(np.average((said == real).mean(axis=1), weights=w))
    assert made.held_out.amplification.value == biasamp.directional(told, real, said, weights=w).value
    by_group = chosen(by_group=True, held_out=records(9))
    assert by_group.held_out is not None
    assert by_group.held_out.accuracy == pytest.approx((by_group.apply(other, told) == real).mean())
    for wrong, words in (((scores, group), "of 2 items"), ((scores,) * 5, "of 5 items"), (scores, "found ndarray$")):
        with pytest.raises(TypeError, match=words):
            chosen(held_out=wrong)
    with pytest.raises(ValueError, match="held_out truth has the tasks"):
        chosen(held_out=(scores, group, [["x"] if row[0] else ["y"] for row in truth]))


def test_groups_without_records_have_no_threshold() -> None:
    scores, group, truth = records(10)
    declared = biasamp.categorical(group, categories=["a", "b", "c", "d"])
    with pytest.warns(UserWarning, match="no record has the given label 'd': its pairs are undefined"):
        made = biasamp.choose_thresholds(scores, declared, truth, limit=0.05, by_group=True)
    plain = biasamp.choose_thresholds(scores, group, truth, limit=0.05, by_group=True)
    assert made.thresholds[:, :3].tolist() == plain.thresholds.tolist()
    assert np.isnan(made.thresholds[:, 3]).all()
    assert made.table.plain_rows() == plain.table.plain_rows()
    assert made.amplification == plain.amplification


def test_train_labels_turn_the_signs_of_the_table() -> None:
    scores, group, truth = records(11)
    turned = np.where(group == "a", "b", np.where(group == "b", "a", "c"))
    made = biasamp.choose_thresholds(scores, group, truth, limit=0.3, train=(turned, truth), held_out=records(12))
    said = made.apply(scores)
    expected = biasamp.directional(group, truth, said, train=(turned, truth))
    assert made.amplification == pytest.approx(expected.value, abs=1e-12)
    assert made.validation.amplification.value == pytest.approx(expected.value, abs=1e-12)
    assert made.validation.bound == pytest.approx(expected.bounds().high)  # type: ignore[union-attr]
    other, told, real = records(12)
    assert made.held_out is not None
    held = biasamp.directional(told, real, made.apply(other), train=(turned, truth))
    assert made.held_out.amplification.value == pytest.approx(held.value)
