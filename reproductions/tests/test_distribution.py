"""What the two distributions say of one another."""

from __future__ import annotations

import ast
import tomllib
from importlib import import_module
from pathlib import Path
from typing import Any

import biasamp
from biasamp.cli.cmd_reproduce import GROUP
from biasamp_reproductions import internals

HERE = Path(__file__).parents[1]
PACKAGE = HERE / "src" / "biasamp_reproductions"


def project(folder: Path) -> Any:
    return tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def test_the_extra_is_the_list_of_its_dependencies() -> None:
    own, whole = project(HERE)["optional-dependencies"], project(HERE.parent)["optional-dependencies"]
    assert own["experiments"] == whole["experiments"]


def test_the_entry_point_is_there() -> None:
    (place,) = project(HERE)["entry-points"][GROUP].values()
    module, _, name = place.partition(":")
    assert callable(getattr(import_module(module), name))


def test_what_is_taken_from_inside_is_used_told_and_not_public() -> None:
    used = {
        alias.name
        for path in PACKAGE.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "internals"
        for alias in node.names
    }
    assert used == set(internals.__all__)
    assert [name for name in used if f"``{name}``" not in str(internals.__doc__)] == []
    assert [name for name in used if getattr(biasamp, name, None) is getattr(internals, name)] == []
