"""Wrong values for every argument of every public function are answered with the argument's name, or with a result."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import biasamp
import wrong_arguments
from wrong_arguments import INNER, METHODS, Wrong, calls, cases, complaint


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return calls(tmp_path_factory.mktemp("made"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Text is taken for the name of a file by whatever writes one."""
    monkeypatch.chdir(tmp_path)
    with np.errstate(all="ignore"):
        yield


@pytest.mark.filterwarnings("ignore")
def test_every_public_name_is_called(made: Any) -> None:
    called = {name.split(".")[0].split(" ")[0] for name in made}
    assert {name for name in biasamp.__all__ if callable(getattr(biasamp, name))} <= called
    methods = {name.rpartition(".")[2] for name in METHODS} | {"load", "check", "audit"}
    for name, (function, given) in made.items():
        kind = type(function(**given))
        own = {name: held for name, held in vars(kind).items() if inspect.isfunction(held) and name[0] != "_"}
        taking = {
            name
            for name, held in own.items()
            if held.__module__.startswith("biasamp") and len(inspect.signature(held).parameters) > 1
        }
        assert taking <= methods | INNER, name
        assert set(given) <= set(inspect.signature(wrong_arguments.SIGNED.get(name, function)).parameters)


@pytest.mark.slow(keep=5)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "function", [*biasamp.__all__[1:], "Policy.load", "Policy.check", "associate a file", "count labels", *METHODS]
)
def test_wrong_values_are_answered_with_the_name(made: Any, function: str) -> None:
    found: dict[Wrong, str] = {}
    for wrong in cases({function: made[function]}):
        said = complaint(made, wrong)
        if said is not None:
            found[wrong] = said
    assert found == {}
