"""How a policy's plain values become the arguments of an audit."""

from __future__ import annotations

from typing import Any

import pytest

from biasamp.data import Declared
from biasamp.policy.reading import audit_arguments


def plain(value: Any) -> Any:
    if isinstance(value, Declared):
        return value.kind, value.data, value.categories
    return [plain(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("held", "made"),
    [
        ({}, {}),
        ({"attributes": "g", "seed": 3}, {"attributes": "g", "seed": 3}),
        ({"tasks": "t", "binary": ["tasks"]}, {"tasks": ("binary", "t", None)}),
        ({"tasks": ["t", "u"], "binary": ["tasks"]}, {"tasks": ("binary", ["t", "u"], None)}),
        (
            {"attributes": ["g", "h"], "binary": ["attributes"]},
            {"attributes": [("binary", "g", None), ("binary", "h", None)]},
        ),
        ({"attributes": "g", "categorical": ["attributes"]}, {"attributes": ("categorical", "g", None)}),
        ({"tasks": "t", "categorical": ["tasks"]}, {"tasks": ("categorical", "t", None)}),
        ({"tasks": "t", "categories": {"tasks": ["a", "b"]}}, {"tasks": ("categorical", "t", ("a", "b"))}),
        (
            {"attributes": ["g", "h"], "tasks": "t", "categories": {"attributes": ["a", "b"]}},
            {"attributes": [("categorical", "g", ("a", "b")), ("categorical", "h", ("a", "b"))], "tasks": "t"},
        ),
        ({"tasks": "t", "binary": ["attributes"]}, {"tasks": "t"}),
        ({"attributes": "age", "bins": {"age": [25]}}, {"attributes": ("binned", "age", ("25",))}),
        (
            {"attributes": ["age", "g"], "bins": {"age": [25]}, "categorical": ["attributes"]},
            {"attributes": [("binned", "age", ("25",)), ("categorical", "g", None)]},
        ),
        (
            {"attributes": "age", "bins": {"age": [25]}, "categorical": ["attributes"]},
            {"attributes": ("binned", "age", ("25",))},
        ),
    ],
)
def test_roles_are_declared_and_columns_cut(held: dict[str, Any], made: dict[str, Any]) -> None:
    kept = dict(held.items())
    assert {name: plain(value) for name, value in audit_arguments(held).items()} == made
    assert held == kept
