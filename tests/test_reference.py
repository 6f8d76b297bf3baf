"""Every public name, and every result that a public function gives, has a page of the reference with an example that runs."""

from __future__ import annotations

import inspect
import sys
import typing
from pathlib import Path
from typing import Any

import pytest

import biasamp

ROOT = Path(__file__).parent.parent
# Arguments that are handed on as they are: nobody looks into them.
HANDED_ON = {"Declared", "LabelSource"}


def pages() -> dict[str, Any]:
    """What has a page, by the name of the page."""
    sys.path.insert(0, str(ROOT / "docs" / "_extensions"))
    try:
        import public_names
    finally:
        sys.path.pop(0)
    return {name: public_names._found(name) for names in public_names.GROUPS.values() for name in names}


def results() -> set[type]:
    """The classes that public functions return."""
    found: set[type] = set()
    for name in biasamp.__all__:
        function = getattr(biasamp, name)
        if inspect.isfunction(function):
            given = typing.get_type_hints(function).get("return")
            found |= {
                one
                for one in typing.get_args(given) or (given,)
                if getattr(one, "__module__", "").startswith("biasamp")
            }
    return {one for one in found if isinstance(one, type)}


def test_every_public_name_and_result_has_a_page() -> None:
    held = pages()
    assert set(biasamp.__all__) - set(held) == {"__version__"}
    assert len(results()) > 20
    assert {one.__name__ for one in results() - set(held.values())} <= HANDED_ON


@pytest.mark.parametrize("name", list(pages()))
def test_every_page_has_an_example_that_runs(name: str) -> None:
    """Examples of docstrings are tests of their own (``--doctest-modules``); one that is skipped does not run."""
    words = inspect.getdoc(pages()[name]) or ""
    assert ">>> " in words
    assert "+SKIP" not in words


@pytest.mark.parametrize("name", [name for name, found in pages().items() if isinstance(found, type)])
def test_every_public_method_of_a_result_says_what_it_gives(name: str) -> None:
    found = pages()[name]
    silent = [
        member
        for member, held in inspect.getmembers(found)
        if not member.startswith("_") and (callable(held) or isinstance(held, property)) and not inspect.getdoc(held)
    ]
    assert silent == []
