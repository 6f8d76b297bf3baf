"""Every row of ``movement`` against the gap and rank of a label of such counts, worked out one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import biasamp
from biasamp import movement
from biasamp.association.gaps import association_gap

PEOPLE = ["m", "w", "o"]
# Whole numbers of men, women, others, of whom 'm' and 'w' overlap.
SIZES = {"m": 80, "w": 60, "o": 50}


def drawn(people: list[str], **options: Any) -> biasamp.Association:
    rng = np.random.default_rng(4)
    records = []
    for place in range(200):
        who = [name for k, name in enumerate(people) if 40 * k <= place < 40 * k + SIZES[name]]
        rates = [0.1 + 0.03 * j + (0.25 if (j % 3) < len(people) and people[j % 3] in who else 0) for j in range(12)]
        records.append([*who, *(f"y{j}" for j, rate in enumerate(rates) if rng.random() < rate)])
    return biasamp.associate(records, people, **options)


@pytest.fixture(scope="module")
def two() -> biasamp.Association:
    return drawn(["m", "w"])


def check(result: biasamp.Association, x1: str, x2: str, how: dict[str, Any], grid: list[tuple[float, float]]) -> None:
    """Compare with a loop over metrics, starting counts and steps."""
    shares, joint = how.get("shares", (0.6, 0.3)), how.get("moving") == "joint"
    literal = result.settings["paper_literal"]
    sizes = [int(result.identity_count[result.identities.index(x)]) for x in (x1, x2)]
    order = result.identities.index(x1), result.identities.index(x2)
    sign = 1 if order[0] < order[1] else -1
    contrast = order if sign > 0 else order[::-1]
    ranked = result.why_not(contrast) == ""
    rows = iter(movement(result, **how).rows())
    for metric in result.metrics:
        turn = -1 if literal and metric.startswith("npmi") else 1
        others = sign * result.values.gaps(metric, contrast)[ranked]
        for start, step in grid:
            count = start if joint else start * step
            a, b = shares[0] * start * step, shares[1] * count
            outside = max(sizes[0] + count - a, sizes[1] + count - b) > result.n
            if count <= 0 or a < 0 or a > count or a > sizes[0] or b > sizes[1] or outside:
                continue
            row = next(rows)
            assert row["metric"] == metric
            assert (row["start"], row["count"], row["joint_1"], row["joint_2"]) == pytest.approx((start, count, a, b))
            gap = float(association_gap(metric, result.n, *sizes, count, a, b, paper_literal=literal))
            assert row["gap"] == pytest.approx(gap, rel=1e-12)
            assert row["rank"] == 1 + sum(turn * other > turn * gap for other in others)
            assert row["of"] == ranked.sum() + 1
    assert next(rows, None) is None


STEPS = [0.5, 0.8, 0.9, 1.0, 1.1, 1.25, 2.0]


def test_counts_and_steps_where_none_are_given(two: biasamp.Association) -> None:
    check(two, "m", "w", {}, [(start, step) for start in (10, 100, 1000, 10_000, 100_000) for step in STEPS])


@pytest.mark.parametrize("moving", ["count", "joint"])
@pytest.mark.parametrize("names", [("m", "w"), ("w", "m")])
@pytest.mark.parametrize("literal", [False, True])
def test_rows_are_those_of_a_loop(moving: str, names: tuple[str, str], literal: bool) -> None:
    result = drawn(["m", "w"], paper_literal=literal)
    how = {"counts": [4, 40, 25.0, 150], "steps": [0.5, 1.0, 1.6, 4.0], "shares": (0.35, 0.2), "moving": moving}
    grid = [(start, step) for start in how["counts"] for step in how["steps"]]
    check(result, *names, {**how, "toward": names[0]}, grid)
    check(result, *names, {**how, "toward": names[0], "against": names[1]}, grid)


def test_of_three_identities_the_first_other_one_is_compared() -> None:
    result = drawn(PEOPLE)
    how = {"counts": [30], "steps": [0.5, 1.0], "shares": (0.3, 0.25)}
    grid = [(30, 0.5), (30, 1.0)]
    check(result, "m", "w", how, grid)
    check(result, "w", "m", {**how, "toward": "w"}, grid)
    check(result, "o", "m", {**how, "toward": "o"}, grid)
    check(result, "o", "w", {**how, "toward": "o", "against": "w"}, grid)


def test_counts_just_fit_or_just_do_not(two: biasamp.Association) -> None:
    """80 of 200 records have 'm', 60 'w'."""

    def left(counts: list[float], shares: tuple[float, float], **how: Any) -> list[float]:
        found = movement(two, counts=counts, steps=[1.0], shares=shares, **how)
        return found["start"][found["metric"] == "dp"].tolist()

    # As many records with y and 'm' as with 'm'; as many with y and 'w' as with 'w'.
    assert left([80, 81, 79, 0, -5], (1.0, 0.5)) == [80, 79]
    assert left([60, 61], (0.5, 1.0)) == [60]
    # Records without 'm' are 120, without 'w' 140.
    assert left([150, 151], (0.2, 0.2)) == [150]
    assert left([175, 176], (0.4, 0.2)) == [175]
    # All of the label's records may have the identity.
    found = movement(two, counts=[40], steps=[0.0, 2.0, 2.5, -1.0], shares=(0.5, 0.25), moving="joint")
    assert found["joint_1"][found["metric"] == "dp"].tolist() == [0, 40]


def test_starting_counts_stand_as_they_were_given(two: biasamp.Association) -> None:
    for counts, kind in (([20, 40], "i"), ([20.0, 40.5], "f"), (np.array([7], dtype=np.uint8), "u")):
        found = movement(two, counts=counts, steps=[1.0], shares=(0.3, 0.2))
        assert found["start"].dtype.kind == kind
        assert sorted(set(found["start"].tolist())) == list(counts)
    assert list(found.columns) == ["metric", "start", "count", "joint_1", "joint_2", "gap", "rank", "of"]
    assert movement(two, counts=[True], steps=[5.0], shares=(0.3, 0.2))["start"].dtype.kind == "f"


def test_ties_share_the_better_rank() -> None:
    """A made-up label with the counts of one that there is ranks with it."""
    result = drawn(["m", "w"], metrics=["dp", "pmi"])
    at = result.labels.index("y5")
    count, joint = int(result.count[at]), result.joint[at]
    shares = tuple(float(held) / count for held in joint)
    found = movement(result, counts=[count], steps=[1.0], shares=shares)  # type: ignore[arg-type]
    assert found["joint_1"][0] == joint[0]
    assert found["rank"][0] == result.ranks("dp")[at]


@pytest.mark.parametrize(
    ("options", "error", "said"),
    [
        ({"shares": (0.5, 0.0)}, ValueError, "two shares above 0 and at most 1 are needed"),
        ({"shares": (0.5, 1.5)}, ValueError, "shares"),
        ({"shares": (0.5,)}, TypeError, "shares is"),
        ({"moving": "both"}, ValueError, "moving is 'both'; use one of 'count', 'joint'"),
        ({"counts": [[1, 2]]}, ValueError, "counts must be a list of finite numbers"),
        ({"counts": 5}, ValueError, "counts must be a list"),
        ({"steps": [1.0, np.inf]}, ValueError, "steps must be a list of finite numbers"),
        ({"steps": ["a"]}, TypeError, "steps is"),
        ({"toward": "x"}, ValueError, "toward is 'x'; the identities are 'm', 'w'"),
        ({"against": "m"}, ValueError, "toward and against are both 'm'"),
    ],
)
def test_what_cannot_be_moved(two: biasamp.Association, options: dict[str, Any], error: Any, said: str) -> None:
    with pytest.raises(error, match=said):
        movement(two, **options)


def test_results_of_other_kinds_are_refused() -> None:
    with pytest.raises(TypeError, match=r"result is .*; what biasamp.associate gives is needed"):
        movement({"n": 5})  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="one identity has no gap"):
        movement(biasamp.associate([["m", "y"], ["y"]] * 5, ["m"]))


def test_starting_counts_go_through_orders_of_magnitude(two: biasamp.Association) -> None:
    """As if each record stood for ten thousand."""
    counts = two.values.counts
    whole = {name: getattr(counts, name) * 10_000 for name in ("n", "count", "overlap", "identity_joint")}
    large = biasamp.associate(replace(counts, **whole), metrics="dp")
    found = movement(large)
    assert sorted(set(found["start"].tolist())) == [10, 100, 1_000, 10_000, 100_000]
    assert found["count"].tolist() == pytest.approx([10**k * step for k in range(1, 6) for step in STEPS])
    assert (found["joint_1"] / found["count"]).tolist() == pytest.approx([0.6] * 35)
    assert (found["joint_2"] / found["count"]).tolist() == pytest.approx([0.3] * 35)
