"""Whether a ready audit read its columns as a policy has them."""

from __future__ import annotations

from typing import Any

import pytest

from biasamp.auditing.plan import Spec
from biasamp.policy.made_otherwise import _of_roles, _read_alike


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
