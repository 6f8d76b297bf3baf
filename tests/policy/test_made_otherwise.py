"""Whether a ready audit read its columns as a policy has them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

import biasamp
from biasamp.auditing.plan import Spec
from biasamp.policy.made_otherwise import _of_roles, _read_alike, made_apart, made_otherwise


@pytest.mark.parametrize(
    ("one", "two", "alike"),
    [
        (Spec(("g",)), Spec(("g",), "categorical"), True),
        (Spec(("g",)), Spec(("g",), "binary"), False),
        (Spec(("a", "b")), Spec(("a", "b"), "binary"), True),
        (Spec(("a", "b")), Spec(("a", "b"), "categorical"), False),
        (Spec(("g",), "categorical", ("x",)), Spec(("g",), "categorical", ("x", "y")), True),
        (Spec(("g",), "binned", ("25",)), Spec(("g",), "binned", ("25", "45")), False),
    ],
)
def test_one_column_is_a_variable_and_several_are_labels(one: Spec, two: Spec, alike: bool) -> None:
    assert _read_alike(one, two) is alike
    assert _read_alike(two, one) is alike


@pytest.mark.parametrize(
    ("asked", "apart"),
    [
        ({"attributes": "g"}, []),  # attributes are measured one by one: a policy may name some
        ({"attributes": ["g", "h"]}, []),
        ({"attributes": ["g", "x"]}, ["attributes"]),
        ({"attributes": "x"}, ["attributes"]),
        ({"tasks": "t"}, ["tasks"]),  # tasks are measured together
        ({"tasks": ["u", "t"]}, []),
        ({}, []),
    ],
)
def test_columns_of_an_audit_that_says_no_more_than_those(asked: dict[str, Any], apart: list[str]) -> None:
    data: Any = {"roles": {"attributes": ["g", "h"], "tasks": ["t", "u"]}}
    assert [role for role, _, _ in _of_roles(asked, data)] == apart


@pytest.mark.parametrize(
    ("held", "files", "apart"),
    [
        (("one", "two"), ("a.csv", "a.csv"), []),  # other words for the same file
        (("one", "one"), ("a.csv", "b.csv"), ["train"]),
        (("one", "two"), (None, "a.csv"), ["train"]),  # a file is not known: the words are all there is
        (("one", "one"), (None, None), []),
        ((None, "two"), ("a.csv", "b.csv"), ["train"]),
    ],
)
def test_train_records_are_those_of_the_same_file(held: Any, files: Any, apart: list[str]) -> None:
    data = {"tasks": {"title": "t"}, "base": None, "weighted": False, "missing": "error", "missing_values": 0}
    audits: Any = [
        SimpleNamespace(
            document={"data": {**data, "train": words}, "provenance": {"settings": {"train": file} if file else {}}}
        )
        for words, file in zip(held, files, strict=True)
    ]
    if all(files):
        plan = biasamp.count(
            {"g": ["a", "b"], "t": [0, 1], "p": [0, 1]}, attributes="g", tasks="t", task_predictions="p"
        ).plan
        for audit in audits:
            audit.document["provenance"]["settings"]["plan"] = plan
    assert [name for name, _, _ in made_apart(*audits)] == apart


@pytest.mark.parametrize(
    ("positive", "values", "apart"),
    [
        ("Yes", (0, 1), []),
        ("true", ("no", "yes"), []),
        ("YES", ("no", "yes"), []),
        ("no", ("no", "yes"), ["positive"]),
        (0, (0, 1), ["positive"]),
        (1.0, (0, 1), []),
    ],
)
def test_a_positive_value_in_another_spelling_is_the_one_that_was_read(
    positive: Any, values: tuple[Any, Any], apart: list[str]
) -> None:
    """An audit reads 'Yes' of a 0/1 column as 1, so that a policy that says so asks for the same audit."""
    no, yes = values
    data = {"g": ["a", "b"] * 40, "t": [yes, no, no, yes] * 20, "p": [yes, no, yes, yes] * 20}
    roles: Any = {"attributes": "g", "tasks": "t", "task_predictions": "p", "metrics": "directional", "resamples": 20}
    audit = biasamp.audit(data, **roles)
    policy = biasamp.Policy(limits=[{"metric": "directional", "max": 0.1}], data={"positive": positive})
    assert [name for name, _, _ in made_otherwise(policy, audit)] == apart
