"""One limit: what is wrong with it, key by key and word for word, and what it is called."""

from __future__ import annotations

import math
from typing import Any

import pytest

from biasamp.policy.limits import Limit, PolicyError, companion_limit, near

DIRECTIONAL = {"metric": "directional", "max": 0.1}
MULTI = {"metric": "multi", "max": 0.1}
PARITY = {"metric": "tpr_difference", "max": 0.1}
ACCURACY = {"metric": "mean_per_class_accuracy", "min": 0.6}
DPA = {"metric": "dpa", "max": 0.1}
PAIRS = {**DIRECTIONAL, "pairs": True}
AGAINST = {**DIRECTIONAL, "against": "baseline"}


def problem(limit: dict[str, Any]) -> tuple[str, str] | None:
    """What is wrong, with its key."""
    try:
        Limit(**limit)
    except PolicyError as error:
        return error.key, error.problem
    return None


@pytest.mark.parametrize(
    "limit",
    [
        DIRECTIONAL,
        {"metric": "directional", "min": -0.1},
        {"metric": "directional", "min": 0.0},
        {"metric": "directional", "min": 0.1, "max": 0.1},
        {"metric": "directional", "max": -1.0},
        {"metric": "directional", "max": 0.999},
        {"metric": "directional", "min": -0.999},
        {**DIRECTIONAL, "max": 0},
        {**DIRECTIONAL, "direction": "A->T"},
        {**DIRECTIONAL, "direction": "T->A", "attribute": "g", "on": "value"},
        {**DIRECTIONAL, "figure": "crossfit"},
        {**DIRECTIONAL, "figure": "crossfit", "on": "value"},
        {**MULTI, "figure": "over_floor"},
        {**MULTI, "figure": "over_floor", "max": 0.0, "min": -0.999},
        {**MULTI, "max": 0.0},
        {**MULTI, "pairs": True, "max": -0.5},
        PAIRS,
        {**PAIRS, "min_support": 30},
        {**PAIRS, "min_support": 0},
        {**DIRECTIONAL, "given": "g=w", "min_support": 1.5},
        {**DIRECTIONAL, "outcome": "t=1", "min_support": 30},
        {**PARITY, "outcome": "t=1"},
        {**PARITY, "direction": "A->T"},
        ACCURACY,
        {**ACCURACY, "max": 0.9},
        {**ACCURACY, "min": 1.0},
        {**ACCURACY, "outcome": "t=1"},
        {**DPA, "direction": "A->T"},
        AGAINST,
        {**AGAINST, "max": 1.5},
        {**MULTI, "against": "baseline", "max": -0.5},
        {"metric": "mals", "max": 1e6},
        {"metric": "mals", "max": 0.1, "given": "g=w"},
        {"metric": "mean_difference", "max": 1e300},
    ],
)
def test_limits_with_which_nothing_is_wrong(limit: dict[str, Any]) -> None:
    assert problem(limit) is None


RANGES = {
    "directional": "directional lies between -1 and 1",
    "multi": "multi lies between 0 and 1",
    "against": "the difference of two models in directional lies between -2 and 2",
    "floor": "multi lies between -1 and 1",
}
PAIRED = "directional, mean_difference, multi, mals have"


@pytest.mark.parametrize(
    ("limit", "found"),
    [
        # Metrics, choices.
        (
            {"metric": "directionl", "max": 0.1},
            [("metric", "there is no metric 'directionl'; did you mean 'directional'?")],
        ),
        (
            {**DIRECTIONAL, "on": "bounds"},
            [("on", "'bounds' is not one of 'bound', 'value'")],
        ),
        ({**DIRECTIONAL, "against": "x"}, [("against", "'x' is not one of 'baseline'")]),
        (
            {**DIRECTIONAL, "direction": "x"},
            [
                ("direction", "'x' is not one of 'A->T', 'T->A'"),
                ("direction", "directional compares predictions of the tasks, which is A->T"),
            ],
        ),
        (
            {**MULTI, "figure": "crossfit"},
            [("figure", "'crossfit' is for directional, not for multi")],
        ),
        ({**DIRECTIONAL, "figure": "over_floor"}, [("figure", "'over_floor' is for multi, not for directional")]),
        (
            {**PARITY, "direction": "T->A"},
            [("direction", "tpr_difference compares predictions of the tasks, which is A->T")],
        ),
        (
            {"metric": "mals", "max": 0.1, "direction": "A->T"},
            [("direction", "mals has no direction: leave the key out")],
        ),
        # Kinds.
        *(({**DIRECTIONAL, key: 3}, [(key, "text is needed, found 3")]) for key in ("attribute", "given", "outcome")),
        ({**PAIRS, "pairs": 1}, [("pairs", "true or false is needed, found 1")]),
        ({**PAIRS, "min_support": -1}, [("min_support", "-1 is below 0")]),
        ({**PAIRS, "min_support": -0.5}, [("min_support", "-0.5 is below 0")]),
        # Pairs and outcomes.
        ({**DPA, "pairs": True}, [("pairs", f"dpa has no value for each pair; {PAIRED}")]),
        ({**DPA, "given": "g=w"}, [("given", f"dpa has no value for each pair; {PAIRED}")]),
        ({**DPA, "given": "g=w", "pairs": True}, [("given", f"dpa has no value for each pair; {PAIRED}")]),
        ({**PARITY, "given": "g=w"}, [("given", f"tpr_difference has no value for each pair; {PAIRED}")]),
        ({**DPA, "outcome": "t=1"}, [("outcome", "dpa has no value for each outcome")]),
        ({**PAIRS, "figure": "crossfit"}, [("figure", "'crossfit' is a figure of the aggregate, not of pairs")]),
        (
            {**DIRECTIONAL, "outcome": "t=1", "figure": "crossfit"},
            [("figure", "'crossfit' is a figure of the aggregate, not of pairs")],
        ),
        *(
            (
                {**AGAINST, **more},
                [("against", "a baseline is compared by aggregates: leave out given, outcome and pairs")],
            )
            for more in ({"pairs": True}, {"given": "g=w"}, {"outcome": "t=1"})
        ),
        (
            {**PARITY, "against": "baseline", "outcome": "t=1"},
            [("against", "a baseline is compared by aggregates: leave out given, outcome and pairs")],
        ),
        (
            {**AGAINST, "figure": "crossfit"},
            [("figure", "'crossfit' cannot be compared with a baseline: leave it out")],
        ),
        (
            {**AGAINST, "on": "value"},
            [("on", "a baseline is compared by the interval of the difference: leave the key out")],
        ),
        (
            {**DIRECTIONAL, "min_support": 5},
            [("min_support", "it counts the records of pairs: add pairs = true, or use evidence.min_group")],
        ),
        (
            {**PARITY, "outcome": "t=1", "min_support": 5},
            [("min_support", "it counts the records of pairs: add pairs = true, or use evidence.min_group")],
        ),
        # Ranges.
        (
            {"metric": "directional"},
            [("max", "neither max nor min is given: a limit without a limit passes everything")],
        ),
        ({**DIRECTIONAL, "min": 0.2}, [("min", "min 0.2 is above max 0.1: nothing can pass")]),
        (
            {"metric": "mean_per_class_accuracy", "max": 0.9},
            [
                (
                    "max",
                    "more mean_per_class_accuracy is better, and a limit with max alone passes only what is worse: give min",
                )
            ],
        ),
        (
            {"metric": "directional", "min": 0.1},
            [("min", "less directional is better, and a limit with min alone passes only what is worse: give max")],
        ),
        ({**DIRECTIONAL, "max": 1.0}, [("max", f"everything passes 1: {RANGES['directional']}")]),
        ({**DIRECTIONAL, "max": 1.5}, [("max", f"everything passes 1.5: {RANGES['directional']}")]),
        ({**DIRECTIONAL, "max": -1.1}, [("max", f"nothing can pass -1.1: {RANGES['directional']}")]),
        ({**MULTI, "max": -0.01}, [("max", f"nothing can pass -0.01: {RANGES['multi']}")]),
        ({"metric": "directional", "min": -1.0}, [("min", f"everything passes -1: {RANGES['directional']}")]),
        ({"metric": "directional", "min": -1.5}, [("min", f"everything passes -1.5: {RANGES['directional']}")]),
        ({**MULTI, "min": 0.0}, [("min", f"everything passes 0: {RANGES['multi']}")]),
        (
            {"metric": "mean_per_class_accuracy", "min": 1.01},
            [("min", "nothing can pass 1.01: mean_per_class_accuracy lies between 0 and 1")],
        ),
        ({**AGAINST, "max": 2.0}, [("max", f"everything passes 2: {RANGES['against']}")]),
        ({**AGAINST, "max": -2.1}, [("max", f"nothing can pass -2.1: {RANGES['against']}")]),
        ({**MULTI, "figure": "over_floor", "max": 1.0}, [("max", f"everything passes 1: {RANGES['floor']}")]),
        ({**MULTI, "pairs": True, "max": -1.1}, [("max", f"nothing can pass -1.1: {RANGES['floor']}")]),
        (
            {**MULTI, "against": "baseline", "max": -1.1},
            [("max", "nothing can pass -1.1: the difference of two models in multi lies between -1 and 1")],
        ),
    ],
)
def test_what_is_wrong_with_a_limit(limit: dict[str, Any], found: list[tuple[str, str]]) -> None:
    assert problem(limit) == found[0]


@pytest.mark.parametrize("key", ["max", "min", "min_support"])
@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (True, "a number is needed, found True"),
        ("0.1", "a number is needed, found '0.1'"),
        (math.inf, "inf is no limit: give a finite number"),
        (-math.inf, "-inf is no limit: give a finite number"),
        (math.nan, "nan is no limit: give a finite number"),
        (10**400, "so large a number is no limit: give a finite number"),
    ],
)
def test_numbers_of_a_limit(key: str, value: Any, problem: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Limit(**{**PAIRS, "max": 0.1, "min": -0.1, key: value})
    assert (caught.value.key, caught.value.problem) == (key, problem)


@pytest.mark.parametrize("key", ["metric", "direction", "attribute", "given", "outcome", "on", "figure", "against"])
def test_texts_of_a_limit(key: str) -> None:
    with pytest.raises(PolicyError) as caught:
        Limit(**{**DIRECTIONAL, key: 3})
    assert (caught.value.key, caught.value.problem) == (key, "text is needed, found 3")


def test_the_largest_number_is_one() -> None:
    assert Limit(metric="mals", max=1.7976931348623157e308).max is not None


@pytest.mark.parametrize(
    ("limit", "title", "bounds", "of_pairs"),
    [
        (DIRECTIONAL, "directional", "≤ 0.1", False),
        ({**DIRECTIONAL, "direction": "A->T", "attribute": "g"}, "g directional A->T", "≤ 0.1", False),
        ({**DIRECTIONAL, "min": -0.1}, "directional", "≥ -0.1 and ≤ 0.1", False),
        (ACCURACY, "mean_per_class_accuracy", "≥ 0.6", False),
        (PAIRS, "directional every label → every outcome", "≤ 0.1", True),
        ({**DIRECTIONAL, "given": "g=w"}, "directional g=w → every outcome", "≤ 0.1", True),
        ({**DIRECTIONAL, "outcome": "t=1"}, "directional every label → t=1", "≤ 0.1", True),
        ({**DIRECTIONAL, "given": "g=w", "outcome": "t=1"}, "directional g=w → t=1", "≤ 0.1", True),
        ({**PARITY, "outcome": "t=1"}, "tpr_difference of t=1", "≤ 0.1", False),
        ({**MULTI, "figure": "over_floor"}, "multi (over_floor)", "≤ 0.1", False),
        (AGAINST, "directional against the baseline", "≤ 0.1", False),
    ],
)
def test_what_a_limit_is_called(limit: dict[str, Any], title: str, bounds: str, of_pairs: bool) -> None:
    made = Limit(**limit)
    assert (made.title, made.bounds, made.of_pairs) == (title, bounds, of_pairs)


@pytest.mark.parametrize(
    ("limit", "reach"),
    [
        (DIRECTIONAL, (-1.0, 1.0)),
        (MULTI, (0.0, 1.0)),
        ({**MULTI, "pairs": True}, (-1.0, 1.0)),
        ({**MULTI, "figure": "over_floor"}, (-1.0, 1.0)),
        (AGAINST, (-2.0, 2.0)),
        ({**ACCURACY, "against": "baseline", "min": -0.1}, (-1.0, 1.0)),
        ({"metric": "mals", "max": 0.1}, (-math.inf, math.inf)),
    ],
)
def test_between_which_values_a_figure_lies(limit: dict[str, Any], reach: tuple[float, float]) -> None:
    assert Limit(**limit).range == reach


def test_companions_are_limits() -> None:
    assert companion_limit("tpr_difference", 0.1) == Limit(metric="tpr_difference", max=0.1)
    assert companion_limit("mean_per_class_accuracy", 0.6) == Limit(metric="mean_per_class_accuracy", min=0.6)


def test_what_a_limit_is_where_nothing_is_said() -> None:
    made = Limit(metric="directional", max=0.1)
    assert (made.on, made.figure, made.pairs, made.min_support) == ("bound", "value", False, 0.0)
    assert (made.direction, made.attribute, made.given, made.outcome, made.against) == (None,) * 5


@pytest.mark.parametrize(
    ("source", "line", "text"),
    [
        (None, None, "max: wrong"),
        ("p.toml", None, "p.toml: max: wrong"),
        ("p.toml", 3, "p.toml, line 3: max: wrong"),
        (None, 3, "line 3: max: wrong"),
    ],
)
def test_where_a_mistake_stands(source: str | None, line: int | None, text: str) -> None:
    error = PolicyError("max", "wrong", line=line, source=source)
    assert str(error) == text
    assert (error.key, error.problem, error.line, error.source) == ("max", "wrong", line, source)


def test_the_nearest_name_is_offered() -> None:
    assert near("mx", ("max", "min")) == "; did you mean 'max'?"
    assert near("zzz", ("max", "min")) == "; there are max, min"
    assert near(3, ("max", "min")) == "; there are max, min"
