"""What a policy names and an audit was made without, or with something else: field by field, in both words."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import biasamp
from biasamp.auditing.plan import make_plan
from biasamp.data import printable
from biasamp.policy import Policy, PolicyError
from biasamp.policy.made_otherwise import made_apart, made_checks, made_otherwise
from hand_audits import group, hand_audit

LIMIT = {"metric": "directional", "max": 0.1}
ROLES: dict[str, Any] = {"attributes": "g", "tasks": "t", "attribute_predictions": None, "task_predictions": "p"}


def with_plan(data: Any = None, settings: Any = None, **roles: Any) -> biasamp.Audit:
    """An audit that says how it was made."""
    made = make_plan(**{**ROLES, **roles})
    held = {"plan": made.to_dict(), "metrics": ["directional"], "train": None, "base": None, **(settings or {})}
    return hand_audit(data=data, provenance={"settings": held})


def otherwise(audit: biasamp.Audit, **asked: Any) -> list[tuple[str, str, str]]:
    return list(made_otherwise(Policy(limits=[LIMIT], data=asked), audit))


def two() -> biasamp.Audit:
    return with_plan(attributes=["g", "h"], tasks=["t", "u"], task_predictions=["p", "q"])


@pytest.mark.parametrize(
    ("asked", "apart"),
    [
        ({}, []),
        ({"attributes": "g"}, []),  # one of those that were measured
        ({"attributes": ["h", "g"]}, []),
        ({"attributes": ["g", "x"]}, [("attributes", "g, x", "g, h")]),
        ({"attributes": "x"}, [("attributes", "x", "g, h")]),
        ({"tasks": ["u", "t"]}, []),
        ({"tasks": "t"}, [("tasks", "t", "t, u")]),
        ({"tasks": ["t", "u", "v"]}, [("tasks", "t, u, v", "t, u")]),
        ({"tasks": ["t", "u"], "task_predictions": ["p", "q"]}, []),
        ({"tasks": ["u", "t"], "task_predictions": ["q", "p"]}, []),
        (
            {"tasks": ["u", "t"], "task_predictions": ["p", "q"]},
            [("task_predictions", "t by q, u by p", "t by p, u by q")],
        ),
        ({"tasks": "u", "task_predictions": "q"}, [("tasks", "u", "t, u"), ("task_predictions", "q", "p, q")]),
        (
            {"tasks": ["t", "u"], "task_predictions": ["q", "p"]},
            [("task_predictions", "t by q, u by p", "t by p, u by q")],
        ),
        ({"tasks": ["t", "u"], "task_predictions": ["p", "r"]}, [("task_predictions", "p, r", "p, q")]),
        ({"task_predictions": {"t": "p", "u": "q"}}, []),
        ({"task_scores": ["p", "q"]}, [("task_scores", "p, q", "none")]),
        ({"attributes": "g", "attribute_predictions": "a"}, [("attribute_predictions", "a", "none")]),
        ({"attributes": "g", "attribute_scores": "a"}, [("attribute_scores", "a", "none")]),
    ],
)
def test_columns(asked: dict[str, Any], apart: Any) -> None:
    assert otherwise(two(), **asked) == apart


@pytest.mark.parametrize("role", ["attribute_predictions", "attribute_scores"])
def test_predictions_of_attributes(role: str) -> None:
    audit = with_plan(attributes=["g", "h"], **{role: ["a", "b"]})
    assert otherwise(audit, **{role: ["a", "b"]}) == []
    assert otherwise(audit, attributes=["g", "h"], **{role: ["a", "b"]}) == []
    assert otherwise(audit, attributes="g", **{role: "a"}) == []
    assert otherwise(audit, attributes="h", **{role: "b"}) == []
    assert otherwise(audit, attributes=["h", "g"], **{role: ["b", "a"]}) == []
    assert otherwise(audit, attributes="h", **{role: "a"}) == [(role, "a", "b")]
    assert otherwise(audit, **{role: ["b", "a"]}) == [(role, "g by b, h by a", "g by a, h by b")]
    other = "attribute_scores" if role == "attribute_predictions" else "attribute_predictions"
    assert otherwise(audit, attributes="g", **{other: "a"}) == [(other, "a", "none")]


def test_scores_of_tasks() -> None:
    audit = with_plan(task_predictions=None, task_scores="s")
    assert otherwise(audit, task_scores="s") == []
    assert otherwise(audit, task_scores="z") == [("task_scores", "z", "s")]
    assert otherwise(audit, task_predictions="s") == [("task_predictions", "s", "none")]


def test_probabilities_of_classes_are_of_the_whole_task() -> None:
    classes = biasamp.categorical(["p0", "p1"], categories=["0", "1"])
    audit = with_plan(task_predictions=classes)
    assert otherwise(audit, task_predictions=classes) == []
    assert otherwise(audit, task_predictions="p") == [("task_predictions", "p", "p0, p1")]


def test_a_mistake_of_the_policy_names_its_data() -> None:
    policy = Policy(limits=[LIMIT], data={"tasks": ["t", "t"]}, source="p.toml", lines={("data",): 7})
    with pytest.raises(PolicyError, match="names the column 't' twice") as caught:
        list(made_otherwise(policy, two()))
    assert (caught.value.key, caught.value.line, caught.value.source) == ("data", 7, "p.toml")


AGES: dict[str, Any] = {"attributes": biasamp.binned("age", edges=[25, 45])}


@pytest.mark.parametrize(
    ("made", "asked", "apart"),
    [
        # One column is a variable unless it is said to be yes/no, and several are labels.
        ({}, {"tasks": "t", "categorical": ["tasks"]}, []),
        ({}, {"tasks": "t", "binary": ["tasks"]}, [("binary", "t binary", "t as it is")]),
        ({"tasks": biasamp.binary("t")}, {"tasks": "t", "binary": ["tasks"]}, []),
        (
            {"tasks": biasamp.binary("t")},
            {"tasks": "t", "categorical": ["tasks"]},
            [("categorical", "t categorical", "t binary")],
        ),
        ({"tasks": biasamp.binary("t")}, {"tasks": "t"}, []),  # the policy does not say
        (
            {"tasks": ["t", "u"], "task_predictions": ["p", "q"]},
            {"tasks": ["t", "u"], "binary": ["tasks"]},
            [],
        ),
        ({}, {"attributes": "g", "binary": ["attributes"]}, [("binary", "g binary", "g as it is")]),
        ({}, {"attributes": "g", "categorical": ["attributes"]}, []),
        # Values.
        (
            {"tasks": biasamp.categorical("t", categories=["a", "b"])},
            {"tasks": "t", "categories": {"tasks": ["b", "a"]}},
            [],
        ),
        (
            {"tasks": biasamp.categorical("t", categories=["a", "b"])},
            {"tasks": "t", "categories": {"tasks": ["a", "b", "c"]}},
            [("categories", "t categorical (a, b, c)", "t categorical (a, b)")],
        ),
        ({}, {"tasks": "t", "categories": {"tasks": ["a"]}}, [("categories", "t categorical (a)", "t as it is")]),
        # Bins.
        (AGES, {"attributes": "age", "bins": {"age": [25, 45]}}, []),
        (
            AGES,
            {"attributes": "age", "bins": {"age": [25]}},
            [("bins", "age edges (25)", "age edges (25, 45)")],
        ),
        (AGES, {"attributes": "age", "bins": {"age": 4}}, []),  # four, of which ties leave three
        (AGES, {"attributes": "age", "bins": {"age": 3}}, []),
        (
            AGES,
            {"attributes": "age", "bins": {"age": 2}},
            [("bins", "age so many bins (2)", "age edges (25, 45)")],
        ),
        (
            {"attributes": "age"},
            {"attributes": "age", "bins": {"age": 2}},
            [("bins", "age so many bins (2)", "age as it is")],
        ),
        (
            AGES,
            {"attributes": "age", "categorical": ["attributes"]},
            [("categorical", "age categorical", "age edges (25, 45)")],
        ),
        (AGES, {"attributes": "age"}, []),
    ],
)
def test_what_columns_are_read_as(made: Any, asked: Any, apart: Any) -> None:
    assert otherwise(with_plan(**made), **asked) == apart


def test_of_many_values_eight_are_shown() -> None:
    made = with_plan(tasks=biasamp.categorical("t", categories=[str(k) for k in range(10)]))
    ((field, asked, found),) = otherwise(made, tasks="t", categories={"tasks": ["a"]})
    assert (field, asked) == ("categories", "t categorical (a)")
    assert found == "t categorical (0, 1, 2, 3, 4, 5, 6, 7)"


def test_several_attributes_are_looked_at_one_by_one() -> None:
    made = with_plan(attributes=["g", "h"])
    assert otherwise(made, attributes=["g", "h"], binary=["attributes"]) == [
        ("binary", "g binary", "g as it is"),
        ("binary", "h binary", "h as it is"),
    ]


@pytest.mark.parametrize("name", ["weights", "record", "cluster"])
def test_columns_of_numbers_and_ids(name: str) -> None:
    weighted = {"weighted": name == "weights"}
    audit = with_plan(weighted, **{name: "c"})
    assert otherwise(audit, **{name: "c"}) == []
    assert otherwise(audit) == []
    assert otherwise(audit, **{name: "d"}) == [(name, "'d'", "'c'")]
    assert otherwise(with_plan(), **{name: "d"}) == [(name, "'d'", "none")]  # weights are said once


def test_strata_crossings_and_values_that_are_new() -> None:
    audit = with_plan(attributes=["g", "h"], strata="s", intersections=True, unseen="error")
    assert otherwise(audit, strata="s", intersections=True, unseen="error") == []
    assert otherwise(audit) == []
    assert otherwise(audit, strata="z") == [("strata", "'z'", "s")]
    assert otherwise(with_plan(), strata="z") == [("strata", "'z'", "none")]
    assert otherwise(audit, intersections=False) == [("intersections", "False", "True")]
    assert otherwise(with_plan(), intersections=True) == [("intersections", "True", "False")]
    assert otherwise(audit, unseen="invented") == [("unseen", "'invented'", "'error'")]


# Audits that say no more than their columns.


@pytest.mark.parametrize(
    ("asked", "data", "apart"),
    [
        ({}, {}, []),
        ({"attributes": "g", "tasks": "t", "task_predictions": "p"}, {}, []),
        ({"attributes": ["x", "g"]}, {}, [("attributes", "g, x", "g")]),
        ({"tasks": "u"}, {}, [("tasks", "u", "t")]),
        ({"task_predictions": ["p", "q"]}, {}, [("task_predictions", "p, q", "p")]),
        ({"task_predictions": {"t": "p"}}, {}, []),
        ({"attribute_predictions": "a"}, {}, [("attribute_predictions", "a", "none")]),
        ({"attribute_predictions": "a"}, {"roles": {"attribute_predictions": ["a", "b"]}}, []),
        ({"attribute_scores": "a"}, {}, [("attribute_scores", "a", "none")]),
        ({"task_scores": "s"}, {"roles": {"task_scores": ["s", "r"]}}, [("task_scores", "s", "r, s")]),
        ({"strata": "s"}, {}, [("strata", "s", "none")]),
        ({"strata": "s"}, {"roles": {"strata": ["s"]}}, []),
        ({"intersections": True}, {}, [("intersections", "True", "False")]),
        ({"intersections": True}, {"kinds": {"g": "attribute", "g x h": "crossing"}}, []),
        ({"intersections": True}, {"kinds": ...}, [("intersections", "True", "False")]),
        ({"intersections": False}, {}, []),
        ({"cluster": "c"}, {}, [("cluster", "'c'", "something that it does not say")]),
        ({"binary": ["tasks"]}, {}, [("binary", "['tasks']", "something that it does not say")]),
        ({"binary": []}, {}, []),
    ],
)
def test_an_audit_that_says_no_more_than_its_columns(asked: Any, data: Any, apart: Any) -> None:
    assert otherwise(hand_audit(data=data), **asked) == apart


# Other records, weights and missing labels.


@pytest.mark.parametrize("name", ["train", "base"])
def test_labels_of_other_records(name: str) -> None:
    used = {name: True}
    file = f"some/{name}.csv"
    assert otherwise(hand_audit(), **{name: file}) == [(name, f"'{file}'", "none")]
    assert otherwise(hand_audit(), **{name: Path(file)}) == [(name, f"'{file}'", "none")]
    assert otherwise(hand_audit(), **{name: {"g": [], "t": []}}) == [(name, "{'g': [], 't': []}", "none")]
    assert otherwise(hand_audit(), **{name: object()}) == [(name, "a object", "none")]
    assert otherwise(hand_audit(data=used), **{name: file}) == []  # which file is not known
    same, other = (with_plan(used, settings={name: f"{which}.csv"}) for which in (name, "other"))
    assert otherwise(same, **{name: file}) == []
    assert otherwise(same) == []
    assert otherwise(same, **{name: {"g": []}}) == []
    assert otherwise(other, **{name: file}) == [(name, f"'{file}'", "'other.csv'")]
    assert otherwise(other, **{name: Path(file)}) == [(name, f"'{file}'", "'other.csv'")]


def test_weights_that_were_not_used() -> None:
    assert otherwise(hand_audit(), weights="w") == [("weights", "'w'", "none")]
    assert otherwise(hand_audit(data={"weighted": True}), weights="w") == []


@pytest.mark.parametrize(
    ("asked", "missing", "values", "apart"),
    [
        ({}, "drop", 9, []),  # a policy that names nothing
        ({"tasks": "t"}, "drop", 9, [("missing", "'error'", "'drop'")]),
        ({"tasks": "t"}, "drop", 0, []),
        ({"missing": "drop"}, "drop", 9, []),
        ({"missing": "error"}, "drop", 0, [("missing", "'error'", "'drop'")]),
        ({"missing": "negative"}, "error", 0, [("missing", "'negative'", "'error'")]),
        ({"missing": "error"}, "error", 0, []),
    ],
)
def test_missing_labels(asked: Any, missing: str, values: int, apart: Any) -> None:
    assert otherwise(hand_audit(data={"missing": missing, "missing_values": values}), **asked) == apart


def test_metrics_resamples_and_seed() -> None:
    audit = with_plan(settings={"metrics": ["directional", "multi"]})
    assert otherwise(audit, metrics="multi", resamples=200, seed=0) == []
    assert otherwise(audit, metrics=["multi", "directional"], resamples=1) == []
    assert otherwise(audit, metrics=["multi", "dpa"]) == [("metrics", "multi, dpa", "directional, multi")]
    ((field, asked, found),) = otherwise(audit, metrics="auto")
    assert (field, found) == ("metrics", "directional, multi")
    assert {"directional", "multi", "parity", "dpa", "leakage"} <= set(asked.split(", "))
    assert otherwise(hand_audit(), metrics="dpa") == []  # what it was asked for is not known
    assert otherwise(hand_audit(data={"resamples": 0})) == []
    assert otherwise(audit, resamples=201) == [("resamples", "201", "200")]
    many = with_plan({"resamples": 1000})
    assert otherwise(many, resamples=2000) == [("resamples", "2,000", "1,000")]
    assert otherwise(audit, seed=3) == [("seed", "3", "0")]


# Positive values and reference groups.


@pytest.mark.parametrize(
    ("asked", "had", "apart"),
    [
        (None, {"t": "1"}, False),
        ("1", {"t": "1"}, False),
        (1, {"t": "1"}, False),
        ("0", {"t": "1"}, True),
        ("t=1", {"t": "1"}, False),
        ("T=Yes", {"t": "yes"}, False),
        ({"t": "1"}, {"t": "1"}, False),
        ({"t": "0"}, {"t": "1"}, True),
        ({"u": "1"}, {"t": "1"}, False),  # a yes/no column has no other than 1
        ({"u": "0"}, {"t": "1"}, True),
        (["1"], {"t": "1"}, False),
        (["0"], {"t": "1"}, True),
        (["1", "1"], {"t": "1"}, False),
        (["1", "0"], {"t": "1"}, True),
        ("yes", {}, False),
        ("true", {}, False),
        ("no", {}, True),
    ],
)
def test_the_positive_value(asked: Any, had: dict[str, str], apart: bool) -> None:
    shown = asked if isinstance(asked, str) else None
    found = otherwise(hand_audit(data={"positive": had}), positive=asked)
    said = ", ".join(f"{task}={value}" for task, value in had.items()) or "none"
    assert found == ([("positive", repr(shown if shown is not None else asked), said)] if apart else [])


def test_positive_values_of_several_tasks_stand_in_their_order() -> None:
    data = {"roles": {"attributes": ["g"], "tasks": ["t", "u"]}, "positive": {"t": "a", "u": "b"}}
    assert otherwise(hand_audit(data=data), positive=["a", "b"]) == []
    assert otherwise(hand_audit(data=data), positive=["b", "a"]) == [("positive", "['b', 'a']", "t=a, u=b")]
    # The order is that of the policy, where it names the same tasks.
    for tasks, values, right in (
        (["u", "t"], ["b", "a"], True),
        (["u", "t"], ["a", "b"], False),
        (["t", "u"], ["a", "b"], True),
        (["t", "u"], ["b", "a"], False),
    ):
        found = otherwise(hand_audit(data=data), tasks=tasks, positive=values)
        assert found == ([] if right else [("positive", repr(values), "t=a, u=b")])
    # Of as many values as there are tasks each is of its own; of another number each is of any.
    assert otherwise(hand_audit(data=data), positive=["a", "b", "a"]) == []
    assert otherwise(hand_audit(data=data), positive="b") == []
    assert otherwise(hand_audit(data=data), positive={"u": "a"}) == [("positive", "{'u': 'a'}", "t=a, u=b")]


@pytest.mark.parametrize(
    ("asked", "apart"),
    [
        (None, False),
        ("w", False),
        ("g=w", False),
        ("m", True),
        ("g=m", True),
        ("old", False),
        (["w", "old"], False),
        (["w", "young"], True),
        ({"g": "w"}, False),
        ({"g": "g=w", "a": "old"}, False),
        ({"g": "old"}, True),
        ({"a": "w"}, True),
        (("w",), False),
    ],
)
def test_the_reference_group(asked: Any, apart: bool) -> None:
    groups = [group("w"), group("m"), group("old", attribute="a"), group("young", attribute="a")]
    audit = hand_audit(data={"groups": groups, "reference": {"g": "g=w", "a": "a=old"}})
    assert otherwise(audit, reference=asked) == ([("reference", repr(asked), "g=w, a=old")] if apart else [])
    if asked is not None:
        bare = hand_audit(data={"groups": groups})
        assert otherwise(bare, reference=asked) == [("reference", repr(asked), "none")]


# In a verdict.


def test_each_difference_is_said_once_with_its_line() -> None:
    lines: dict[tuple[str | int, ...], int] = {("data",): 1, ("data", "tasks"): 3, ("data", "seed"): 4}
    policy = Policy(limits=[LIMIT], data={"tasks": "u", "seed": 5}, lines=lines)
    audits = [hand_audit(source="one.csv"), hand_audit(source="one.csv"), hand_audit(source="two.csv")]
    alone = list(made_checks(policy, audits[:1]))
    ending = "audit again as the policy says, or mend its [data]"
    assert [check.reason for check in alone] == [
        f"the policy is about u, and the audit about t: {ending}",
        f"the policy has seed = 5, and the audit was made with 0: {ending}",
    ]
    assert [(check.rule, check.outcome, check.line) for check in alone] == [
        ("tasks", "not enough evidence", 3),
        ("seed", "not enough evidence", 4),
    ]
    several = list(made_checks(policy, audits))
    assert [(check.rule, check.reason.partition(", and ")[2].split(" ")[0]) for check in several] == [
        ("tasks", "one.csv"),
        ("seed", "one.csv"),
        ("tasks", "two.csv"),
        ("seed", "two.csv"),
    ]
    (check,) = made_checks(Policy(limits=[LIMIT], data={"task_scores": "s"}), audits[:1])
    assert check.reason.startswith("the policy is about s, and the audit about none")


def test_long_names_are_cut() -> None:
    long = "n" * 300
    one, two = hand_audit(source=long), hand_audit(data={"tasks": {"title": long, "labels": 2}})
    (check, _) = made_checks(Policy(limits=[LIMIT], data={"tasks": "u"}), [one, hand_audit()])
    assert f", and {printable(long, 60)} about t: " in check.reason
    assert apart({}, two) == [("tasks", "t", printable(long, 60))]
    assert otherwise(hand_audit(), weights=long) == [("weights", printable(repr(long), 200), "none")]


# Two audits.


def apart(one: Any = None, two: Any = None) -> list[tuple[str, str, str]]:
    first, second = (made if isinstance(made, biasamp.Audit) else hand_audit(data=made) for made in (one, two))
    return list(made_apart(first, second))


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        ({}, {}, []),
        ({"tasks": {"title": "u", "labels": 2}}, {}, [("tasks", "u", "t")]),
        ({"train": True}, {}, [("train", "True", "False")]),
        ({}, {"base": True}, [("base", "False", "True")]),
        ({"train": True}, {"train": True}, []),
        ({"weighted": True}, {}, [("weights", "True", "False")]),
        ({"missing": "drop"}, {}, []),  # nothing is missing
        ({"missing": "drop", "missing_values": 2}, {}, [("missing", "'drop'", "'error'")]),
        ({"missing": "drop"}, {"missing_values": 2}, [("missing", "'drop'", "'error'")]),
        ({"missing_values": 2}, {"missing_values": 3}, []),
        ({"positive": {"t": "1"}}, {"positive": {"t": "0"}}, [("positive", "{'t': '1'}", "{'t': '0'}")]),
        ({"positive": {"t": "1"}}, {"positive": {"u": "0"}}, []),
        ({"positive": {"t": "1", "u": "0"}}, {"positive": {"t": "1"}}, []),
        (
            {"positive": {"t": "1", "u": "0"}},
            {"positive": {"t": "1", "u": "1"}},
            [("positive", "{'t': '1', 'u': '0'}", "{'t': '1', 'u': '1'}")],
        ),
        ({"positive": {"t": "1"}}, {}, []),
        ({"ignored_groups": ["g=x"]}, {}, [("ignored_groups", "['g=x']", "()")]),
        ({"ignored_groups": ["g=x"]}, {"ignored_groups": ["g=x"]}, []),
        ({"ignored_groups": []}, {}, []),
    ],
)
def test_two_audits(one: Mapping[str, Any], two: Mapping[str, Any], found: Any) -> None:
    assert apart(one, two) == found


@pytest.mark.parametrize(
    ("one", "two", "found"),
    [
        ({}, {}, []),
        ({"weights": "w"}, {"weights": "v"}, [("weights", "'w'", "'v'")]),
        ({"weights": "w"}, {"weights": "w"}, []),
        ({"cluster": "c"}, {"cluster": "d"}, [("cluster", "'c'", "'d'")]),
        ({"cluster": "c"}, {}, [("cluster", "'c'", "None")]),
        ({"tasks": biasamp.binary("t")}, {}, [("columns", "t binary", "t as it is")]),
        ({"attributes": biasamp.binary("g")}, {}, [("columns", "g binary", "g as it is")]),
        ({"attributes": biasamp.categorical("g")}, {}, []),
        ({"attributes": ["g", "h"]}, {"attributes": ["g", "k"]}, []),
        ({"attributes": {"sex": biasamp.binary("g")}}, {"attributes": {"sex": "h"}}, []),  # other columns
        ({"task_predictions": "p"}, {"task_predictions": "q"}, []),  # another model
        (
            {"attributes": biasamp.binned("age", edges=[25])},
            {"attributes": biasamp.binned("age", edges=[30])},
            [("columns", "age edges (25)", "age edges (30)")],
        ),
    ],
)
def test_two_plans(one: Any, two: Any, found: Any) -> None:
    data = {"weighted": "weights" in one and "weights" in two}
    assert apart(with_plan(data, **one), with_plan(data, **two)) == found
    assert apart(with_plan(data, **one), hand_audit(data=data)) == []


def test_weights_that_one_audit_lacks_are_said_once() -> None:
    one, two = with_plan({"weighted": True}, weights="w"), with_plan()
    assert apart(one, two) == [("weights", "True", "False")]
